//! What the ids in a profile stand for.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::hash::HashMap;
use crate::origin::Origin;
use instrument_names::id_map::{self, IdMap, gz};
use instrument_names::mutf8;
use instrument_names::signature::java_class;
use instrument_trace::{Damage, Profile, beyond};

/// What an id stands for.
struct Meaning {
    name: String,
    /// It is for calls of the method that are recorded where they are made.
    is_call: bool,
    /// Such a call may block its thread.
    blocks: bool,
    origin: Origin,
}

/// By method id.
type Ids = HashMap<u32, Meaning>;

/// In front of the name of such calls, if the method itself is in the same profile: what is called was rewritten, too.
const CALL: &str = "call ";

/// Method access flags (JVMS 4.6).
const ACC_BRIDGE: u32 = 0x0040;
const ACC_SYNTHETIC: u32 = 0x1000;

/// The largest id map that is read from a profile, in bytes.
const LARGEST_MAP: usize = 1 << 30;

/// The name of a method, `pkg.Class.method(desc)`, by those of a class file.
pub fn method_name(class: &[u8], name: &[u8], descriptor: &[u8]) -> String {
    let class = mutf8::escape(class).replace('/', ".");
    // What is in a class without a name has none: it is no method of a class, but something else that has figures.
    let dot = if class.is_empty() { "" } else { "." };
    format!("{class}{dot}{}{}", mutf8::escape(name), mutf8::escape(descriptor))
}

/// Reads an id map as it is in a profile: gzip data. Names are those of [`method_name`].
fn parse_ids(data: &[u8]) -> Result<Ids, String> {
    let text = gz::decompress(data, LARGEST_MAP).map_err(|error| error.to_string())?;
    let map = IdMap::parse(&text).map_err(|error| error.to_string())?;
    let name = |entry: id_map::Entry<'_>| {
        let name = method_name(entry.class, entry.method.name, entry.method.descriptor);
        let flag = |bit: u32| entry.method.flags & bit != 0;
        let origin = Origin {
            file: entry.source.map(mutf8::escape).unwrap_or_default(),
            line: entry.method.line,
            is_bridge: flag(ACC_BRIDGE),
            is_synthetic: flag(ACC_SYNTHETIC),
        };
        let (is_call, blocks) = (entry.method.is_library_call(), entry.method.is_blocking_call());
        (entry.id, Meaning { name, is_call, blocks, origin })
    };
    Ok(map.iter().map(name).collect())
}

/// Id maps as they are in a profile, by copy of the runtime.
type Written = BTreeMap<u32, Vec<Vec<u8>>>;

/// What the id maps of a profile say. Profiles of one build have the same.
#[derive(Debug, Default)]
pub(crate) struct IdMaps {
    by_id: HashMap<(u32, u32), String>,
    origins: HashMap<String, Origin>,
    /// Ids, by copy, of calls that may block their thread.
    blocking: HashSet<(u32, u32)>,
    remarks: Vec<String>,
}

/// The id maps of a profile, and what they say.
#[derive(Debug)]
struct Read {
    written: Written,
    maps: Arc<IdMaps>,
}

/// The id maps that were read last, for the profiles of the same builds that come next.
#[derive(Debug, Clone, Default)]
pub struct KnownIdMaps(Arc<Mutex<Vec<Read>>>);

/// So many are kept: those of the builds that are read at a time.
const KEPT: usize = 4;

impl KnownIdMaps {
    fn of(&self, profile: &Profile) -> Arc<IdMaps> {
        let is_same = |Read { written, .. }: &&Read| {
            let mut copies = profile.copies.iter();
            written.len() == copies.len()
                && copies.all(|(copy, data)| written.get(copy) == Some(&data.id_maps))
        };
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all().iter().find(is_same) {
            return known.maps.clone();
        }
        // Not while others wait.
        let new = Arc::new(IdMaps::read(profile));
        let mut all = all();
        if let Some(known) = all.iter().find(is_same) {
            return known.maps.clone();
        }
        if all.len() >= KEPT {
            all.remove(0);
        }
        let written = profile.copies.iter().map(|(&copy, data)| (copy, data.id_maps.clone()));
        all.push(Read { written: written.collect(), maps: new.clone() });
        new
    }
}

/// Method names of one profile, by copy of the runtime and id.
#[derive(Default)]
pub struct Names {
    maps: Arc<IdMaps>,
    classes: HashMap<(u32, u32), String>,
    /// Added to names made from an id, where several files could mean different methods.
    suffix: String,
    /// What could not be read, or means two things.
    pub remarks: Vec<String>,
}

impl IdMaps {
    fn read(profile: &Profile) -> IdMaps {
        let mut names = IdMaps::default();
        for (&copy, data) in &profile.copies {
            let mut clashes = BTreeSet::new();
            let maps: Vec<Result<Ids, String>> = data.id_maps.iter().map(|map| parse_ids(map)).collect();
            // Nothing is called by a name that it has itself, if nothing is recorded where it is called.
            let all = || maps.iter().flatten().flat_map(Ids::values);
            let calls: HashSet<&str> = all().filter(|id| id.is_call).map(|id| &*id.name).collect();
            let both: HashSet<String> = all()
                .filter(|id| !id.is_call && !calls.is_empty() && calls.contains(&*id.name))
                .map(|id| id.name.clone())
                .collect();
            for map in maps {
                match map {
                    Ok(ids) => {
                        for (id, Meaning { name, is_call, blocks, origin }) in ids {
                            let name =
                                if is_call && both.contains(&name) { format!("{CALL}{name}") } else { name };
                            if blocks {
                                names.blocking.insert((copy, id));
                            }
                            if !is_call && !names.origins.contains_key(&name) {
                                names.origins.insert(name.clone(), origin);
                            }
                            match names.by_id.entry((copy, id)) {
                                Entry::Vacant(new) => drop(new.insert(name)),
                                // Which of the two it was cannot be told.
                                Entry::Occupied(mut known) if *known.get() != name => {
                                    clashes.insert(id);
                                    known.insert(format!("#{id}"));
                                    names.blocking.remove(&(copy, id));
                                }
                                Entry::Occupied(_) => {}
                            }
                        }
                    }
                    Err(e) => names.remarks.push(format!("an id map cannot be read: {e}")),
                }
            }
            if let Some(id) = clashes.first() {
                let text = "ids have two meanings (such as {id}); instrument modules that run together with one --ids FILE";
                names.remarks.push(format!("{} {}", clashes.len(), text.replace("{id}", &id.to_string())));
            }
        }
        names
    }

    /// The names of all methods.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &str> {
        self.by_id.values().map(String::as_str)
    }
}

impl Names {
    /// `number`: of the file, from 0, if there are several.
    pub fn new(profile: &Profile, number: usize, several: bool) -> Names {
        Names::of(profile, number, several, Arc::new(IdMaps::read(profile)))
    }

    /// The same; id maps that are known are not read.
    pub(crate) fn known(profile: &Profile, number: usize, several: bool, known: &KnownIdMaps) -> Names {
        Names::of(profile, number, several, known.of(profile))
    }

    fn of(profile: &Profile, number: usize, several: bool, maps: Arc<IdMaps>) -> Names {
        let suffix = if several { format!(" (file {})", number + 1) } else { String::new() };
        let mut classes = HashMap::default();
        for (&copy, data) in &profile.copies {
            classes.extend(data.class_names.iter().map(|(&number, name)| ((copy, number), name.clone())));
        }
        Names { remarks: maps.remarks.clone(), maps, classes, suffix }
    }

    /// What is wrong with ids that no id map can have: they are given one after the other.
    pub(crate) fn unknown(&self, profile: &Profile) -> Vec<Damage> {
        let mut last: HashMap<u32, u32> = HashMap::default();
        for &(copy, id) in self.maps.by_id.keys() {
            let of_copy = last.entry(copy).or_default();
            *of_copy = id.max(*of_copy);
        }
        let unknown = profile.threads.iter().flat_map(|thread| {
            let last = last.get(&thread.copy);
            let ids = thread.methods.keys().copied();
            let ids = ids.chain(thread.allocations.iter().filter_map(|made| made.method));
            ids.filter(move |&id| last.is_some_and(|&last| beyond(last, id)))
        });
        let unknown: BTreeSet<u32> = unknown.collect();
        let Some(first) = unknown.first() else { return Vec::new() };
        let reason = format!("{} ids are of no method, such as {first}", unknown.len());
        vec![Damage { offset: 0, structure: "figures", reason }]
    }

    /// What the id maps say, which other profiles may share.
    pub(crate) fn id_maps(&self) -> &Arc<IdMaps> {
        &self.maps
    }

    /// `pkg.Class.method(desc)`, or `#17`.
    pub fn method(&self, copy: u32, id: u32) -> String {
        match self.maps.by_id.get(&(copy, id)) {
            Some(name) if !name.starts_with('#') => name.clone(),
            _ if copy > 1 => format!("#{id} (copy {copy}){}", self.suffix),
            _ => format!("#{id}{}", self.suffix),
        }
    }

    /// Where the methods come from, by name.
    pub fn origins(&self) -> impl Iterator<Item = (String, Origin)> {
        self.maps.origins.iter().map(|(name, origin)| (name.clone(), origin.clone()))
    }

    /// Where a method comes from, by name.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.maps.origins.get(name)
    }

    /// Whether calls that may block were looked for, so that it is known which time is waiting.
    pub fn knows_waits(&self) -> bool {
        !self.maps.blocking.is_empty()
    }

    /// Whether an id is of calls that may block their thread.
    pub fn blocks(&self, copy: u32, id: u32) -> bool {
        self.maps.blocking.contains(&(copy, id))
    }

    /// As `Class.getName()` gives it.
    pub fn class(&self, copy: u32, number: u32) -> String {
        self.classes.get(&(copy, number)).cloned().unwrap_or_else(|| format!("class #{number}"))
    }

    /// The names of all methods.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.maps.methods()
    }

    /// The names of all classes of objects, as Java writes them.
    pub fn classes(&self) -> impl Iterator<Item = String> {
        self.classes.values().map(|name| java_class(name).into_owned())
    }
}
