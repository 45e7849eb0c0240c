//! What fuzzing of the replay runs, and what must hold for any bytes.

use instrument_analysis::replay;
use instrument_trace::Profile;

/// Reads `data` and replays its traces. Returns whether there was one with a call.
///
/// # Panics
/// If calls do not balance, or more calls were found than there are events.
pub(crate) fn replay(data: &[u8]) -> bool {
    let Ok(mut profile) = Profile::parse(data) else { return false };
    let traces = profile.threads.iter().map(|t| !t.pieces.is_empty() && t.tree.is_none());
    let traces = traces.collect::<Vec<_>>();
    replay::profile(&data, &mut profile).expect("memory does not fail");
    let (mut entries, mut unmatched) = (0, 0);
    for thread in
        profile.threads.iter_mut().zip(traces).filter_map(|(thread, is_trace)| is_trace.then_some(thread))
    {
        thread.measure_open(thread.last_event);
        let tree = thread.tree.as_ref().expect("a replayed trace has a tree");
        for (node, number) in tree.nodes.iter().zip(1..) {
            assert_eq!(node.counts().balance(), 0, "{node:?}");
            assert!(node.parent < number && (node.min <= node.max || node.ns == 0));
            assert!(node.max <= node.ns && node.ns <= thread.last_event.saturating_mul(node.entries));
            entries += node.entries;
            unmatched += node.unmatched;
        }
        assert_eq!(tree.nodes.iter().map(|node| node.open).sum::<u64>(), thread.stack.len() as u64);
    }
    assert!(entries + unmatched <= data.len() as u64 / 8, "{entries} calls");
    entries > 0
}
