//! Executed instructions: by node of a tree, by method of counts, and in files that are damaged or cut.

use instrument_testing::{Script, ThreadFacts, Writer};
use instrument_trace::{Profile, TreeNode};

/// Kinds of regions.
const COUNTS: u32 = 3;
const BYTECODES: u32 = 23;
/// Of a thread: where the file offset of its bytecodes is.
const AT: u64 = 56;

fn tree_file(in_pieces: bool) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.property("record", "tree");
    if in_pieces {
        writer.in_pieces(3);
    }
    let script = Script::new(5000)
        .call(1, |s| s.times(2, |s| s.call(2, |s| s.call(3, |s| s))).call(3, |s| s))
        .call(2, |s| s);
    let mut recorded = script.record();
    for (node, count) in recorded.tree.nodes.iter_mut().zip(100..) {
        // One context has executed nothing.
        node.bytecodes = if count == 102 { 0 } else { count };
    }
    writer.recorded("main", &ThreadFacts::default(), &recorded);
    writer.ended(2, &recorded);
    writer.finish()
}

fn bytecodes(nodes: &[TreeNode]) -> Vec<u64> {
    nodes.iter().map(|node| node.bytecodes).collect()
}

#[test]
fn they_belong_to_contexts_and_add_up_by_method() {
    for in_pieces in [false, true] {
        let profile = Profile::parse(&tree_file(in_pieces)).unwrap();
        assert_eq!((&profile.damage[..], profile.threads.len()), (&[][..], 2));
        for thread in &profile.threads {
            // 1, 1 > 2, 1 > 2 > 3, 1 > 3, 2
            assert_eq!(
                bytecodes(&thread.tree.as_ref().unwrap().nodes),
                [100, 101, 0, 103, 104],
                "{in_pieces}"
            );
            let methods: Vec<u64> = thread.methods.values().map(|method| method.bytecodes).collect();
            assert_eq!(methods, [100, 101 + 104, 103]);
        }
    }
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn in_counts_they_belong_to_methods_and_to_no_others() {
    let mut writer = Writer::new();
    writer.property("record", "counts");
    // No frames; the methods 6 and 8.
    let records = [7, 2, 2, 0, 0, 0, 0, 0, 9, 1, 1, 0, 0, 0, 0, 0];
    let counts = writer.region(COUNTS, 1, &[0], &words(&records));
    // Unused, method 8, a method that was never entered, a key that is none, method 6.
    let table = [0, 77, 9, 5000, 20, 3, u64::MAX, 4, 7, 1 << 40];
    let table = writer.region(BYTECODES, 1, &[], &words(&table));
    let thread = writer.thread("main", &ThreadFacts::default(), counts, 0);
    writer.word(thread + AT, table);
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!(profile.damage, []);
    let methods = &profile.threads[0].methods;
    let found: Vec<_> = methods.iter().map(|(id, method)| (*id, method.bytecodes)).collect();
    assert_eq!(found, [(6, 1 << 40), (8, 5000)]);
}

#[test]
fn a_place_that_holds_something_else_is_damage() {
    let mut writer = Writer::new();
    let counts = writer.region(COUNTS, 1, &[0], &words(&[7, 2, 2, 0, 0, 0, 0, 0]));
    let thread = writer.thread("main", &ThreadFacts::default(), counts, 0);
    writer.word(thread + AT, counts + 8);
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert!(profile.damage.iter().any(|damage| damage.structure == "bytecodes"), "{:?}", profile.damage);
    assert_eq!(profile.threads[0].methods[&6].entries, 2);
    let data = tree_file(true);
    for length in (0..data.len()).step_by(7) {
        // Any cut is read, or refused.
        let _ = Profile::parse(&data[..length]).map(|profile| profile.threads.len());
    }
}
