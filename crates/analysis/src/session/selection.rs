//! Methods that were not recorded for the whole time: `instrument ctl PID exclude`, or a budget, excluded them while the program ran.

use std::collections::BTreeMap;

use super::names::Names;
use crate::text::quantity;
use instrument_names::signature::brief;
use instrument_trace::{Change, Profile};

/// Methods that are named.
const NAMED: usize = 3;
/// Changes of roots that are named.
const NAMED_ROOTS: usize = 6;

/// The time in which a method was not recorded, in ns since the start of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Gap {
    /// From then on calls may be missing.
    pub from_ns: u64,
    /// From then on none is; nothing: it was not recorded again.
    pub to_ns: Option<u64>,
}

/// A method that was not recorded for the whole time.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Partial {
    /// Its name, with its descriptor.
    pub method: String,
    /// When it was not recorded, in order.
    pub gaps: Vec<Gap>,
}

/// The methods of a profile that were not recorded for the whole time, those first that were excluded first.
pub fn partial(profile: &Profile, names: &Names) -> Vec<Partial> {
    let mut found = BTreeMap::<(u32, u32), Vec<Gap>>::new();
    for change in &profile.selection_changes {
        let at = change.clock.saturating_sub(profile.start_clock);
        let excluded = match change.change {
            Change::Excluded => true,
            Change::Included => false,
            Change::RootsAdded | Change::RootsRemoved => continue,
        };
        for &id in &change.ids {
            let gaps = found.entry((change.copy, id)).or_default();
            match gaps.last_mut().filter(|gap| gap.to_ns.is_none()) {
                Some(open) if !excluded => open.to_ns = Some(at),
                None if excluded => gaps.push(Gap { from_ns: at, to_ns: None }),
                _ => {}
            }
        }
    }
    let named = |((copy, id), gaps)| Partial { method: names.method(copy, id), gaps };
    let mut found: Vec<Partial> = found.into_iter().filter(|(_, gaps)| !gaps.is_empty()).map(named).collect();
    found.sort_by(|a, b| (a.gaps[0].from_ns, &a.method).cmp(&(b.gaps[0].from_ns, &b.method)));
    found
}

/// The same in a sentence; nothing if every method was recorded for the whole time, as far as the profile knows.
pub fn remark(profile: &Profile, names: &Names) -> Option<String> {
    let found = partial(profile, names);
    let later = later(profile, &found);
    let Some(first) = found.first() else { return Some(later).filter(|text| !text.is_empty()) };
    let since = quantity(first.gaps[0].from_ns as f64, "ns");
    let named: Vec<String> = found.iter().take(NAMED).map(said).collect();
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    let count = found.len();
    let (methods, were) = if count == 1 { ("method", "was") } else { ("methods", "were") };
    Some(format!(
        "{count} {methods} {were} excluded while the program ran, from {since} after its start on: calls are missing of {}{more}; their time is charged to their callers{}{later}",
        named.join(", "),
        if later.is_empty() { "" } else { "; " }
    ))
}

/// When roots were added and removed, in a sentence; nothing if they stayed the same.
pub fn roots_remark(profile: &Profile) -> Option<String> {
    let mut said = Vec::new();
    for change in &profile.selection_changes {
        let done = match change.change {
            Change::RootsAdded => "added",
            Change::RootsRemoved => "removed",
            Change::Excluded | Change::Included => continue,
        };
        let at = quantity(change.clock.saturating_sub(profile.start_clock) as f64, "ns");
        said.extend(change.patterns.iter().map(|root| format!("{root} ({done} {at})")));
    }
    let more = match said.len().saturating_sub(NAMED_ROOTS) {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    said.truncate(NAMED_ROOTS);
    (!said.is_empty()).then(|| {
        format!(
            "roots were added or removed while the program ran, at these times after its start: {}{more}; what is beneath them is counted from when they were added until they were removed",
            said.join(", ")
        )
    })
}

/// Patterns hold for classes that were loaded later, too, and nobody knows what they kept from being recorded. Nothing if each names one
/// method that is known.
fn later(profile: &Profile, found: &[Partial]) -> String {
    let mut excluded: Vec<&str> = Vec::new();
    for change in &profile.selection_changes {
        // An inclusion may take back a part of an exclusion: then it is named all the same.
        for pattern in change.patterns.iter().filter(|_| change.change == Change::Excluded) {
            let is_known = |one: &Partial| {
                brief(&one.method).is_some_and(|name| name == *pattern) || one.method == *pattern
            };
            if !found.iter().any(is_known) && !excluded.contains(&pattern.as_str()) {
                excluded.push(pattern);
            }
        }
    }
    match excluded[..] {
        [] => String::new(),
        [first] => format!("methods that fit {first} and were loaded later are not recorded"),
        [first, ..] => format!(
            "methods that fit {first}, or {} more patterns, and were loaded later are not recorded",
            excluded.len() - 1
        ),
    }
}

/// A method, and until when it was recorded.
fn said(one: &Partial) -> String {
    let name = brief(&one.method).unwrap_or_else(|| one.method.clone());
    let gap = |gap: &Gap| {
        let from = quantity(gap.from_ns as f64, "ns");
        match gap.to_ns {
            Some(to) => format!("{from} to {}", quantity(to as f64, "ns")),
            None => format!("from {from}"),
        }
    };
    format!("{name} ({})", one.gaps.iter().map(gap).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_trace::SelectionChange;

    fn profile(changes: &[(u64, bool, &[u32])]) -> Profile {
        let change = |&(clock, excluded, ids): &(u64, bool, &[u32])| SelectionChange {
            copy: 1,
            clock,
            change: if excluded { Change::Excluded } else { Change::Included },
            ids: ids.to_vec(),
            patterns: Vec::new(),
        };
        let selection_changes = changes.iter().map(change).collect();
        Profile { start_clock: 1_000, selection_changes, ..Profile::default() }
    }

    fn found(changes: &[(u64, bool, &[u32])]) -> Vec<Partial> {
        let profile = profile(changes);
        partial(&profile, &Names::new(&profile, 0, false))
    }

    fn one(method: &str, gaps: &[(u64, Option<u64>)]) -> Partial {
        let gaps = gaps.iter().map(|&(from_ns, to_ns)| Gap { from_ns, to_ns }).collect();
        Partial { method: method.to_owned(), gaps }
    }

    #[test]
    fn a_method_may_be_excluded_and_included_more_than_once() {
        assert_eq!(found(&[]), []);
        assert_eq!(
            found(&[(3_000, true, &[5, 7]), (4_000, false, &[5]), (5_000, true, &[3, 5])]),
            [
                one("#5", &[(2_000, Some(3_000)), (4_000, None)]),
                one("#7", &[(2_000, None)]),
                one("#3", &[(4_000, None)])
            ]
        );
        assert_eq!(found(&[(3_000, false, &[5])]), [], "it was never excluded");
    }

    #[test]
    fn the_remark_names_the_first_and_counts_the_others() {
        let whole = profile(&[]);
        assert_eq!(remark(&whole, &Names::new(&whole, 0, false)), None);
        let profile = profile(&[(2_001_000, true, &[1, 2, 3, 4, 5])]);
        let remark = remark(&profile, &Names::new(&profile, 0, false)).unwrap();
        assert!(remark.starts_with("5 methods were excluded"), "{remark}");
        assert!(remark.contains("#1 (from 2.000 ms), #2") && remark.contains("and 2 more"), "{remark}");
        assert!(!remark.contains("later"), "{remark}");
    }

    #[test]
    fn changes_of_roots_are_said_with_their_times_and_exclude_nothing() {
        let mut profile = profile(&[(3_000, true, &[1]), (4_001_000, true, &[2])]);
        assert_eq!(roots_remark(&profile), None);
        for (one, change) in
            profile.selection_changes.iter_mut().zip([Change::RootsAdded, Change::RootsRemoved])
        {
            one.change = change;
            one.patterns = vec!["A.f".to_owned()];
        }
        assert_eq!(remark(&profile, &Names::new(&profile, 0, false)), None);
        let remark = roots_remark(&profile).unwrap();
        assert!(remark.contains("A.f (added 2.000 us), A.f (removed 4.000 ms);"), "{remark}");
    }

    #[test]
    fn what_a_pattern_keeps_from_being_recorded_later_is_said() {
        let remark_of = |ids: &[u32], patterns: &[&str]| {
            let mut profile = profile(&[(3_000, true, ids)]);
            profile.selection_changes[0].patterns = patterns.iter().map(|&text| text.to_owned()).collect();
            remark(&profile, &Names::new(&profile, 0, false))
        };
        assert_eq!(remark_of(&[], &[]), None);
        assert_eq!(
            remark_of(&[], &["a.**"]).as_deref(),
            Some("methods that fit a.** and were loaded later are not recorded")
        );
        let both = remark_of(&[5], &["a.**", "b.C"]).unwrap();
        assert!(
            both.ends_with(
                "; methods that fit a.**, or 1 more patterns, and were loaded later are not recorded"
            ),
            "{both}"
        );
        assert!(!remark_of(&[5], &["#5"]).unwrap().contains("later"), "the only method that it names");
    }
}
