//! Frames of stacks by what a recording has of them.

use std::collections::HashSet;

use crate::hash::HashMap;
use instrument_names::id_map::{IdMap, MAX_ID, MethodInfo, gz};
use instrument_names::jdk;
use instrument_names::pattern::Pattern;
use instrument_names::selection::Selection;
use instrument_trace::Profile;

/// The class of rows of stacks that are no methods, such as walks that failed.
const NO_METHOD: &[u8] = b"(stacks)";
/// The launcher of Spring Boot archives is recorded only if somebody asks for it.
const LAUNCHER: &[u8] = b"org/springframework/boot/loader/";
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
        let (mut last, mut classes) = (0, HashSet::new());
        let rules = Rules::of(recorded);
        for entry in maps(recorded, Some(copy)).iter().flat_map(IdMap::iter) {
            let (method, id) = (entry.method, entry.id);
            last = last.max(id);
            if !method.is_library_call() {
                classes.insert(entry.class.to_vec());
            }
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
            let key = (entry.class.to_vec(), name.to_vec(), descriptor.to_vec());
            let is_new = || !classes.contains(entry.class) && rules.record(entry.class, &entry.method);
            let frame = match known.get(&key) {
                Some(frame) => *frame,
                None if entry.class == NO_METHOD || is_new() => {
                    let id =
                        new.begin_class(entry.class, None).and_then(|class| new.assign(class, &entry.method));
                    id.map_or(Frame::None, Frame::Method)
                }
                None => Frame::None,
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

/// What a recording has of classes, as far as names tell it.
struct Rules {
    include: Vec<Pattern>,
    /// Those of `include` that ask for classes of the JDK: they do not begin with a wildcard.
    of_the_jdk: Vec<Pattern>,
    exclude: Vec<Pattern>,
    /// Which classes are recorded is not told by names alone.
    are_others: bool,
}

impl Rules {
    fn of(recorded: &Profile) -> Rules {
        let line = recorded.copies.values().find_map(|copy| copy.properties.get("selection"));
        let selection = line.map(|line| Selection::parse(line));
        let values = |key: &str| -> Vec<String> {
            selection.iter().flat_map(|selection| selection.values(key)).map(str::to_owned).collect()
        };
        let patterns =
            |key: &str| values(key).iter().flat_map(|text| Pattern::list(text)).flatten().collect();
        let include: Vec<Pattern> = patterns("include");
        let named = |pattern: &&Pattern| !pattern.text().starts_with(['*', '?']);
        Rules {
            of_the_jdk: include.iter().filter(named).cloned().collect(),
            include,
            exclude: [patterns("exclude"), patterns("no-rewrite")].concat(),
            are_others: selection.is_none() || !values(Selection::SUBCLASSES_OF).is_empty(),
        }
    }

    /// Whether a method of a class that was not loaded would be recorded. Native methods have no probes, and what the JDK makes while the program runs has no name
    /// that anybody gave it.
    fn record(&self, class: &[u8], method: &MethodInfo<'_>) -> bool {
        const NATIVE: u32 = 0x100;
        let matches = |patterns: &[Pattern]| {
            patterns.iter().any(|pattern| pattern.matches(class, method.name, method.descriptor))
        };
        // The recorder has none of its own.
        let is_included = match class.starts_with(b"instrument/runtime/") {
            true => false,
            false if jdk::has(class) => matches(&self.of_the_jdk),
            false if self.include.is_empty() => !class.starts_with(LAUNCHER),
            false => matches(&self.include),
        };
        let can_be = !self.are_others && !jdk::is_generated(class) && method.flags & NATIVE == 0;
        can_be && is_included && !matches(&self.exclude)
    }
}

/// The id maps of a profile. What cannot be read has no names, as in every report.
fn maps(profile: &Profile, copy: Option<u32>) -> Vec<IdMap> {
    let copies = profile.copies.iter().filter(|(number, _)| copy.is_none_or(|copy| copy == **number));
    let data = copies.flat_map(|(_, copy)| &copy.id_maps);
    let texts = data.filter_map(|data| gz::decompress(data, LARGEST_MAP).ok());
    texts.filter_map(|text| IdMap::parse(&text).ok()).collect()
}
