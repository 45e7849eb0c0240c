//! What of the heap a profile holds, and what it does not: the agent writes it into the profile; code that was rewritten without an agent
//! says nothing, for it sees the same always.

use instrument_trace::Profile;

/// Two sentences for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coverage {
    /// What is recorded.
    pub recorded: String,
    /// What is not.
    pub not_seen: String,
}

/// What code without an agent records.
const REWRITTEN: [&str; 2] = [
    "objects, arrays and clones that the rewritten classes make",
    "what all other classes make, those of the JDK among them, by reflection, deserialisation and native code, too; their share is unknown: \
     instrument run --heap counts --heap-all records every allocation",
];

/// The coverage of a profile; none: an agent recorded it that did not say.
pub fn of(profile: &Profile) -> Option<Coverage> {
    let property = |key: &str| profile.copies.values().find_map(|copy| copy.properties.get(key));
    let missed = property("heap.missed")
        .map(|objects| format!("; {objects} objects made while hardly any stack was left"));
    match (property("heap.recorded"), property("heap.not-seen")) {
        (Some(recorded), Some(not_seen)) => Some(Coverage {
            recorded: recorded.clone(),
            not_seen: not_seen.clone() + &missed.unwrap_or_default(),
        }),
        _ if !profile.collections.is_empty() || !profile.objects.is_empty() => None,
        _ => {
            let [recorded, not_seen] = REWRITTEN.map(str::to_owned);
            Some(Coverage { recorded, not_seen })
        }
    }
}

/// Those of several profiles, each once.
pub fn of_all<'a>(profiles: impl IntoIterator<Item = &'a Profile>) -> Vec<Coverage> {
    let mut all: Vec<Coverage> = profiles.into_iter().filter_map(of).collect();
    all.sort();
    all.dedup();
    all
}
