//! What the ids in a profile stand for.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashSet};

use crate::model::HashMap;
use crate::origin::Origin;
use instrument_names::id_map::{self, IdMap, gz};
use instrument_names::mutf8;
use instrument_names::signature::java_class;
use instrument_trace::Profile;

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

/// Method names of one profile, by copy of the runtime and id.
#[derive(Default)]
pub struct Names {
    by_id: HashMap<(u32, u32), String>,
    origins: HashMap<String, Origin>,
    classes: HashMap<(u32, u32), String>,
    /// Ids, by copy, of calls that may block their thread.
    blocking: HashSet<(u32, u32)>,
    /// Added to names made from an id, where several files could mean different methods.
    suffix: String,
    /// What could not be read, or means two things.
    pub remarks: Vec<String>,
}

impl Names {
    /// `number`: of the file, from 0, if there are several.
    pub fn new(profile: &Profile, number: usize, several: bool) -> Names {
        let suffix = if several { format!(" (file {})", number + 1) } else { String::new() };
        let mut names = Names { suffix, ..Names::default() };
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
            let classes = data.class_names.iter().map(|(&number, name)| ((copy, number), name.clone()));
            names.classes.extend(classes);
        }
        names
    }

    /// `pkg.Class.method(desc)`, or `#17`.
    pub fn method(&self, copy: u32, id: u32) -> String {
        match self.by_id.get(&(copy, id)) {
            Some(name) if !name.starts_with('#') => name.clone(),
            _ if copy > 1 => format!("#{id} (copy {copy}){}", self.suffix),
            _ => format!("#{id}{}", self.suffix),
        }
    }

    /// Where the methods come from, by name.
    pub fn origins(&self) -> impl Iterator<Item = (String, Origin)> {
        self.origins.iter().map(|(name, origin)| (name.clone(), origin.clone()))
    }

    /// Where a method comes from, by name.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.origins.get(name)
    }

    /// Whether calls that may block were looked for, so that it is known which time is waiting.
    pub fn knows_waits(&self) -> bool {
        !self.blocking.is_empty()
    }

    /// Whether an id is of calls that may block their thread.
    pub fn blocks(&self, copy: u32, id: u32) -> bool {
        self.blocking.contains(&(copy, id))
    }

    /// As `Class.getName()` gives it.
    pub fn class(&self, copy: u32, number: u32) -> String {
        self.classes.get(&(copy, number)).cloned().unwrap_or_else(|| format!("class #{number}"))
    }

    /// The names of all methods.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.by_id.values().map(String::as_str)
    }

    /// The names of all classes of objects, as Java writes them.
    pub fn classes(&self) -> impl Iterator<Item = String> {
        self.classes.values().map(|name| java_class(name).into_owned())
    }
}
