//! Frames of stacks by what a recording has of them.

use crate::hash::HashMap;
use instrument_names::id_map::{IdMap, MAX_ID, MethodInfo, gz};
use instrument_trace::Profile;

/// The class of rows of stacks that are no methods, such as walks that failed.
const NO_METHOD: &[u8] = b"(stacks)";
/// The largest id map that is read from a profile, in bytes.
const LARGEST_MAP: usize = 1 << 30;

/// Class, name and descriptor of a method.
type Named = (Vec<u8>, Vec<u8>, Vec<u8>);

/// What a recording has of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// The method, by its id there.
    Method(u32),
    /// Calls of it that recorded methods make themselves.
    Call(u32),
    /// Nothing: it belongs to its caller.
    None,
}

/// Frames by the ids that the stacks have.
pub(super) struct Frames {
    by_id: HashMap<u32, Frame>,
    /// Ids that the recording does not have.
    new: IdMap,
}

impl Frames {
    /// `copy`: of the runtime, whose methods the recording has.
    pub(super) fn new(recorded: &Profile, copy: u32, sampled: &Profile) -> Frames {
        let mut known: HashMap<Named, Frame> = HashMap::default();
        let mut last = 0;
        for entry in maps(recorded, Some(copy)).iter().flat_map(IdMap::iter) {
            let (method, id) = (entry.method, entry.id);
            last = last.max(id);
            let key = (entry.class.to_vec(), method.name.to_vec(), method.descriptor.to_vec());
            // A method that was rewritten is recorded wherever it is called.
            if method.is_library_call() {
                known.entry(key).or_insert(Frame::Call(id));
            } else {
                known.insert(key, Frame::Method(id));
            }
        }
        let mut new = IdMap::starting_at(last.saturating_add(1).min(MAX_ID));
        let mut by_id = HashMap::default();
        for entry in maps(sampled, None).iter().flat_map(IdMap::iter) {
            let MethodInfo { name, descriptor, .. } = entry.method;
            let frame = if entry.class == NO_METHOD {
                let id = new.begin_class(NO_METHOD, None).and_then(|class| new.assign(class, &entry.method));
                id.map_or(Frame::None, Frame::Method)
            } else {
                let key = (entry.class.to_vec(), name.to_vec(), descriptor.to_vec());
                known.get(&key).copied().unwrap_or(Frame::None)
            };
            by_id.insert(entry.id, frame);
        }
        Frames { by_id, new }
    }

    /// What the recording has of a frame.
    pub(super) fn of(&self, id: u32) -> Frame {
        self.by_id.get(&id).copied().unwrap_or(Frame::None)
    }

    /// The text of the ids that the recording does not have; none: there are none.
    pub(super) fn new_ids(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        self.new.write_all(&mut text);
        (!self.new.is_empty()).then_some(text)
    }
}

/// The id maps of a profile. What cannot be read has no names, as in every report.
fn maps(profile: &Profile, copy: Option<u32>) -> Vec<IdMap> {
    let copies = profile.copies.iter().filter(|(number, _)| copy.is_none_or(|copy| copy == **number));
    let data = copies.flat_map(|(_, copy)| &copy.id_maps);
    let texts = data.filter_map(|data| gz::decompress(data, LARGEST_MAP).ok());
    texts.filter_map(|text| IdMap::parse(&text).ok()).collect()
}
