//! Whether all is in a profile that was to be recorded, else a verdict would be false; and under which conditions.

use instrument_trace::{Mode, Profile};

use super::conditions::{Conditions, Refusal};

/// Why the figures of a profile are not those of a whole run, if so. `is_live`: its process still writes.
///
/// # Errors
/// The first reason.
pub fn complete(profile: &Profile, is_live: bool) -> Result<(), Refusal> {
    if is_live {
        return Err(Refusal::Live);
    }
    if profile.shutdown_clock == 0 {
        return Err(Refusal::Killed);
    }
    lossless(profile)?;
    match profile.imbalances().len() {
        0 => Ok(()),
        methods => Err(Refusal::Unbalanced(methods)),
    }
}

/// Why events may be missing in a profile, if so. Its process may go on: what other threads do at this moment is not
/// looked at.
///
/// # Errors
/// The first reason.
pub fn lossless(profile: &Profile) -> Result<(), Refusal> {
    if let Some(damage) = profile.damage.first() {
        return Err(Refusal::Damaged(damage.to_string()));
    }
    if profile.is_cut {
        return Err(Refusal::Damaged("its end is missing".into()));
    }
    if let Some(kind) = profile.skipped.keys().next() {
        return Err(Refusal::Damaged(format!(
            "regions of the unknown kind {kind}; a later version wrote it"
        )));
    }
    let dropped = profile.threads.iter().fold(profile.dropped, |sum, t| sum.saturating_add(t.dropped));
    if dropped > 0 {
        return Err(Refusal::Dropped(dropped));
    }
    if let Some(thread) = profile.threads.iter().find(|thread| thread.stopped || thread.in_transition) {
        return Err(Refusal::Stopped(thread.name.clone()));
    }
    if profile.window_clock != 0 {
        return Err(Refusal::Part("figures were reset, or it is the difference of two snapshots"));
    }
    if profile.copies.values().any(|copy| copy.mode() == Some(Mode::Samples)) {
        return Err(Refusal::NoCalls);
    }
    if !profile.pauses.is_empty() {
        return Err(Refusal::Part("recording paused"));
    }
    if !profile.selection_changes.is_empty() {
        return Err(Refusal::Part(
            "methods were excluded or included, or roots added or removed, while it ran",
        ));
    }
    Ok(())
}

/// The conditions of a profile.
pub fn conditions(profile: &Profile) -> Conditions {
    let property = |key: &str| {
        profile.copies.values().find_map(|copy| copy.properties.get(key)).cloned().unwrap_or_default()
    };
    let is_counts = profile.copies.values().any(|copy| copy.mode() == Some(Mode::Counts));
    let version = property("java.version");
    let version = version.strip_prefix("1.").unwrap_or(&version);
    let java = version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    Conditions {
        record: if is_counts { "counts" } else { "tree" }.into(),
        java: java.into(),
        selection: property("selection"),
    }
}

#[cfg(test)]
mod tests {
    use instrument_testing::{Script, Writer};
    use instrument_trace::{Change, Pause, SelectionChange, Thread};

    use super::*;

    #[test]
    fn a_run_that_is_not_whole_is_refused_with_the_reason() {
        let whole = || Profile { shutdown_clock: 9, ..Profile::default() };
        assert_eq!(complete(&whole(), false), Ok(()));
        assert_eq!(complete(&whole(), true), Err(Refusal::Live));
        let of = |change: &dyn Fn(&mut Profile)| {
            let mut profile = whole();
            change(&mut profile);
            complete(&profile, false).unwrap_err()
        };
        assert_eq!(of(&|p| p.shutdown_clock = 0), Refusal::Killed);
        assert_eq!(of(&|p| p.dropped = 3), Refusal::Dropped(3));
        assert!(matches!(of(&|p| p.is_cut = true), Refusal::Damaged(_)));
        assert!(matches!(of(&|p| p.window_clock = 1), Refusal::Part(_)));
        let properties = [("record".to_owned(), "samples".to_owned())].into();
        let copy = instrument_trace::Copy { properties, ..Default::default() };
        assert_eq!(of(&|p| _ = p.copies.insert(1, copy.clone())), Refusal::NoCalls);
        for (version, java) in [("1.8.0_402", "8"), ("17.0.9", "17"), ("25-ea", "25")] {
            let properties = [("java.version".to_owned(), version.to_owned())].into();
            let copy = instrument_trace::Copy { properties, ..Default::default() };
            assert_eq!(conditions(&Profile { copies: [(1, copy)].into(), ..whole() }).java, java);
        }
        // Of a thread.
        let mut writer = Writer::new();
        writer.tree("worker", &Script::new(1000).call(7, |s| s.wait(3)));
        let recorded = Profile::parse(&writer.finish()).unwrap();
        let thread = |change: &dyn Fn(&mut Thread)| {
            of(&|p| {
                p.threads.clone_from(&recorded.threads);
                change(&mut p.threads[0]);
            })
        };
        assert_eq!(thread(&|t| t.stopped = true), Refusal::Stopped("worker".into()));
        assert_eq!(thread(&|t| t.in_transition = true), Refusal::Stopped("worker".into()));
        assert_eq!(thread(&|t| t.dropped = 4), Refusal::Dropped(4));
        assert_eq!(thread(&|t| t.tree.as_mut().unwrap().nodes[0].entries += 1), Refusal::Unbalanced(1));
        assert_eq!(of(&|p| p.pauses.push(Pause { start: 1, end: 2 })), Refusal::Part("recording paused"));
        let excluded = SelectionChange {
            copy: 1,
            clock: 5,
            change: Change::Excluded,
            ids: vec![7],
            patterns: Vec::new(),
        };
        assert!(matches!(of(&|p| p.selection_changes.push(excluded.clone())), Refusal::Part(_)));
        for (record, expected) in [("counts", "counts"), ("tree", "tree"), ("trace", "tree")] {
            let properties = [("record".to_owned(), record.to_owned())].into();
            let copy = instrument_trace::Copy { properties, ..Default::default() };
            assert_eq!(conditions(&Profile { copies: [(1, copy)].into(), ..whole() }).record, expected);
        }
        // Of a part the process may go on, but nothing may be missing.
        assert_eq!(lossless(&Profile::default()), Ok(()));
        assert_eq!(lossless(&Profile { dropped: 3, ..Profile::default() }), Err(Refusal::Dropped(3)));
    }
}
