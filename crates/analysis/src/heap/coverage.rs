//! What of the heap a profile holds, and what it does not: the agent writes it into the profile; code that was
//! rewritten without an agent says nothing, for it sees the same always.

use instrument_trace::Profile;

use super::Process;

/// Two sentences for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coverage {
    pub recorded: String,
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

/// Which part of the allocated bytes a profile has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Percent of the bytes that were allocated while objects were recorded.
    pub percent: f64,
    /// It lies between these two in 95 of 100 runs.
    pub between: (f64, f64),
}

/// Below as many samples the figure says nothing.
const FEWEST_SAMPLES: f64 = 20.0;

/// The share of the allocated bytes that is recorded; none: it is not known.
pub fn share(process: &Process<'_>) -> Option<Share> {
    let profile = process.profile;
    let number = |key: &str| -> Option<f64> {
        profile.copies.values().find_map(|copy| copy.properties.get(key))?.parse().ok()
    };
    let (allocated, error) = (number("heap.allocated")?, number("heap.allocated.error")?);
    // The estimate is about the whole run, and each sample adds its weight to the error.
    if profile.window_clock != 0 || error <= 0.0 || (allocated / error).powi(2) < FEWEST_SAMPLES {
        return None;
    }
    let recorded: u64 = match process.biographies {
        Some(biographies) => biographies.groups.iter().map(|(_, figures)| figures.bytes).sum(),
        None if profile
            .threads
            .iter()
            .all(|thread| thread.tree.is_some() || thread.allocations.is_empty()) =>
        {
            profile.threads.iter().flat_map(|thread| &thread.tree_allocations).map(|made| made.bytes).sum()
        }
        None => return None,
    };
    let of = |allocated: f64| (100.0 * recorded as f64 / allocated).min(100.0);
    let wide = 1.96 * error;
    Some(Share { percent: of(allocated), between: (of(allocated + wide), of((allocated - wide).max(1.0))) })
}
