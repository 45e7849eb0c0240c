//! What the ids in a profile stand for.

use std::collections::{BTreeSet, HashMap, HashSet};

use anyhow::Result;
use instrument_analysis::origin::Origin;
use instrument_names::mutf8;
use instrument_names::signature::java_class;
use instrument_rewriter::id_map::{Entry, IdMap, gz};
use instrument_trace::Profile;

/// By method id: the name, whether it is for calls of the method that are recorded where they are made, and where it comes from.
type Ids = HashMap<u32, (String, bool, Origin)>;

/// In front of the name of such calls, if the method itself is in the same profile: what is called was rewritten, too.
const CALL: &str = "call ";

/// Method access flags (JVMS 4.6).
const ACC_BRIDGE: u32 = 0x0040;
const ACC_SYNTHETIC: u32 = 0x1000;

/// The largest id map that is read from a profile, in bytes.
const LARGEST_MAP: usize = 1 << 30;

/// Reads an id map as it is in a profile: gzip data. Names are `pkg.Class.method(desc)`.
fn parse_ids(data: &[u8]) -> Result<Ids> {
    let map = IdMap::parse(&gz::decompress(data, LARGEST_MAP)?)?;
    let name = |entry: Entry<'_>| {
        let class = mutf8::escape(entry.class).replace('/', ".");
        let (name, descriptor) = (mutf8::escape(entry.method.name), mutf8::escape(entry.method.descriptor));
        let flag = |bit: u32| entry.method.flags & bit != 0;
        let origin = Origin {
            file: entry.source.map(mutf8::escape).unwrap_or_default(),
            line: entry.method.line,
            is_bridge: flag(ACC_BRIDGE),
            is_synthetic: flag(ACC_SYNTHETIC),
        };
        (entry.id, (format!("{class}.{name}{descriptor}"), entry.method.is_library_call(), origin))
    };
    Ok(map.iter().map(name).collect())
}

/// Method names of one profile, by copy of the runtime and id.
pub(crate) struct Names {
    by_id: HashMap<(u32, u32), String>,
    origins: HashMap<String, Origin>,
    classes: HashMap<(u32, u32), String>,
    /// Added to names made from an id, where several files could mean different methods.
    suffix: String,
    /// What could not be read, or means two things.
    pub(crate) remarks: Vec<String>,
}

impl Names {
    /// `number`: of the file, from 0, if there are several.
    pub(crate) fn new(profile: &Profile, number: usize, several: bool) -> Names {
        let suffix = if several { format!(" (file {})", number + 1) } else { String::new() };
        let mut names = Names {
            by_id: HashMap::new(),
            origins: HashMap::new(),
            classes: HashMap::new(),
            suffix,
            remarks: Vec::new(),
        };
        for (&copy, data) in &profile.copies {
            let mut clashes = BTreeSet::new();
            let maps: Vec<Result<Ids>> = data.id_maps.iter().map(|map| parse_ids(map)).collect();
            // Nothing is called by a name that it has itself, if nothing is recorded where it is called.
            let all = || maps.iter().flatten().flat_map(Ids::values);
            let calls: HashSet<&str> = all().filter(|name| name.1).map(|name| &*name.0).collect();
            let both: HashSet<&str> = all()
                .filter(|name| !name.1)
                .map(|name| &*name.0)
                .filter(|name| calls.contains(name))
                .collect();
            for map in &maps {
                match map {
                    Ok(ids) => {
                        for (&id, (name, is_call, origin)) in ids {
                            let mark = if *is_call && both.contains(&**name) { CALL } else { "" };
                            let name = format!("{mark}{name}");
                            if !is_call {
                                names.origins.entry(name.clone()).or_insert_with(|| origin.clone());
                            }
                            let known = names.by_id.entry((copy, id)).or_insert_with(|| name.clone());
                            if *known != name {
                                // Which of the two it was cannot be told.
                                clashes.insert(id);
                                *known = format!("#{id}");
                            }
                        }
                    }
                    Err(e) => names.remarks.push(format!("an id map cannot be read: {e:#}")),
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
    pub(crate) fn method(&self, copy: u32, id: u32) -> String {
        match self.by_id.get(&(copy, id)) {
            Some(name) if !name.starts_with('#') => name.clone(),
            _ if copy > 1 => format!("#{id} (copy {copy}){}", self.suffix),
            _ => format!("#{id}{}", self.suffix),
        }
    }

    /// Where the methods come from, by name.
    pub(crate) fn origins(&self) -> impl Iterator<Item = (String, Origin)> {
        self.origins.iter().map(|(name, origin)| (name.clone(), origin.clone()))
    }

    /// As `Class.getName()` gives it.
    pub(crate) fn class(&self, copy: u32, number: u32) -> String {
        self.classes.get(&(copy, number)).cloned().unwrap_or_else(|| format!("class #{number}"))
    }

    /// The names of all methods.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &str> {
        self.by_id.values().map(String::as_str)
    }

    /// The names of all classes of objects, as Java writes them.
    pub(crate) fn classes(&self) -> impl Iterator<Item = String> {
        self.classes.values().map(|name| java_class(name).into_owned())
    }
}
