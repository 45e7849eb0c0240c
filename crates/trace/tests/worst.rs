//! The calls that took longest, as they are in a file.

use instrument_testing::{Script, Writer};
use instrument_trace::{Profile, WorstCall};

const WORST_CALL: u32 = 28;

fn call() -> WorstCall {
    let did = Script::new(0).call(1, |s| s.samples(3).times(2, |s| s.call(2, |s| s.call(3, |s| s))));
    let tree = did.record_samples(&[]).tree;
    WorstCall {
        copy: 1,
        thread: 7,
        id: 1,
        ns: 70,
        end: 900,
        has_failed: true,
        is_part: false,
        is_drawn: false,
        tree,
    }
}

#[test]
fn worst_calls_are_read_as_they_were_written() {
    let call = call();
    let mut writer = Writer::new();
    writer.worst_call(&WorstCall { is_drawn: true, ..call.clone() });
    writer.worst_call(&call).worst_call(&WorstCall { is_part: true, has_failed: false, ..call.clone() });
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!(profile.damage, []);
    let facts = |of: &WorstCall| (of.thread, of.id, of.ns, of.end, of.has_failed, of.is_part);
    let read: Vec<_> = profile.worst_calls.iter().map(facts).collect();
    assert_eq!(read, [(7, 1, 70, 900, true, false), (7, 1, 70, 900, false, true)]);
    assert_eq!(profile.drawn_calls.iter().map(facts).collect::<Vec<_>>(), [(7, 1, 70, 900, true, false)]);
    let nodes = |of: &WorstCall| {
        let figures =
            of.tree.nodes.iter().map(|n| (n.consumer, n.parent, n.entries, n.closes.exits, n.samples));
        figures.collect::<Vec<_>>()
    };
    assert_eq!(nodes(&profile.worst_calls[0]), nodes(&call));
    assert_eq!(nodes(&call)[2].1, 2);
}

#[test]
fn a_worst_call_that_makes_no_sense_is_damage() {
    let node = |caller: u64, id: u64| [caller << 32 | id, 1, 1, 0, 0];
    let of = |method: u64, count: u64, nodes: &[[u64; 5]]| {
        let mut writer = Writer::new();
        let body: Vec<u8> = nodes.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
        writer.region(WORST_CALL, 1, &[method, 5, 6, count], &body);
        let profile = Profile::parse(&writer.finish()).unwrap();
        (profile.worst_calls.len(), profile.damage.len())
    };
    assert_eq!(of(2, 2, &[node(0, 2), node(1, 3)]), (1, 0));
    // No method; no node, or more than there is room for; callers that are not in front; a second top; no consumer.
    assert_eq!(of(0, 1, &[node(0, 2)]), (0, 1));
    assert_eq!(of(2, 0, &[node(0, 2)]), (0, 1));
    assert_eq!(of(2, 100, &[node(0, 2)]), (0, 1));
    assert_eq!(of(2, 2, &[node(0, 2), node(2, 3)]), (0, 1));
    assert_eq!(of(2, 2, &[node(0, 2), node(0, 3)]), (0, 1));
    assert_eq!(of(2, 2, &[node(0, 2), node(1, 0)]), (0, 1));
}
