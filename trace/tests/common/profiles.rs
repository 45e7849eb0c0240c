//! What fuzzing of the profile reader runs, and what must hold for any bytes.

use instrument_trace::Profile;

/// Reads `data`. Returns whether it is a profile.
///
/// # Panics
/// If more was read than is there.
pub(crate) fn read(data: &[u8]) -> bool {
    let Ok(profile) = Profile::parse(data) else { return false };
    let words = data.len() / 8;
    assert!(profile.threads.len() * 256 <= data.len(), "{} threads", profile.threads.len());
    let (mut frames, mut methods, mut allocations) = (0, 0, 0);
    for thread in &profile.threads {
        frames += thread.stack.len();
        methods += thread.methods.len();
        allocations += thread.allocations.len();
        assert!(thread.stack.iter().all(|frame| thread.methods.contains_key(&frame.id)));
    }
    assert!(frames <= words && methods <= words && allocations * 2 <= words, "more figures than words");
    assert!(profile.damage.len() <= data.len() / 16, "{} damages", profile.damage.len());
    let (imbalances, in_flight) = (profile.imbalances(), profile.in_flight());
    assert!(in_flight <= profile.threads.len() && imbalances.len() + in_flight <= methods);
    for copy in profile.copies.values() {
        assert!(copy.id_maps.iter().map(Vec::len).sum::<usize>() <= data.len());
        // What is not UTF-8 becomes up to three bytes for each.
        assert!(copy.class_names.values().map(String::len).sum::<usize>() <= 3 * data.len());
    }
    true
}
