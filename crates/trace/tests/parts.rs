//! Parts of a profile at their ends: regions that are exactly full, words that are damaged, nodes in pieces, sums that are written.

use instrument_testing::{Life, Script, ThreadFacts, Writer};
use instrument_trace::{
    About, Change, LineKey, Mode, Object, Pause, Profile, SearchEnd, Sum, ThreadKind, Tree, TreeConsumer,
    TreeNode,
};
use std::io::{Cursor, Seek, SeekFrom, Write};

const THREAD: u32 = 1;
const CLASS_NAMES: u32 = 5;
const TREE: u32 = 8;
const PAUSES: u32 = 20;
const TREE_NODES: u32 = 21;
const SELECTION_CHANGES: u32 = 24;
const LINES: u32 = 25;
const SAMPLED: u64 = 1;
const IN_PIECES: u64 = 4;
const ESTIMATED: u64 = 8;
const NO_HEAD: u64 = u64::MAX;

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words32(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn parse(writer: Writer) -> Profile {
    Profile::parse(&writer.finish()).unwrap()
}

#[test]
fn properties_have_a_meaning() {
    for (text, mode) in [
        ("counts", Some(Mode::Counts)),
        ("tree", Some(Mode::Tree)),
        ("trace", Some(Mode::Trace)),
        ("other", None),
    ] {
        let mut writer = Writer::new();
        writer.property("record", text).property("boundary.3", "checkout");
        let profile = parse(writer);
        let copy = &profile.copies[&1];
        assert_eq!(
            (copy.mode(), copy.boundary_name(3), copy.boundary_name(4)),
            (mode, Some("checkout"), None)
        );
        assert!(!profile.has_ended());
    }
    let mut writer = Writer::new();
    writer.property("recording.ended", 5);
    assert!(parse(writer).has_ended());
}

#[test]
fn contexts_fill_their_region() {
    let mut writer = Writer::new();
    let mut none = Writer::new();
    none.property("a", "b");
    assert!(parse(none).copies[&1].contexts.is_empty());
    // Eight of them are a region; the next one follows at once.
    let eight: Vec<(u32, Option<u32>)> = (0..8).map(|number| (number, Some(number))).collect();
    writer.contexts(1, &eight);
    writer.property("a", "b");
    let profile = parse(writer);
    let contexts = &profile.copies[&1].contexts;
    assert_eq!((contexts.len(), contexts.is_empty(), profile.damage.len()), (8, false, 0));
    // Two callers that are behind: the first one's place is told.
    let mut writer = Writer::new();
    writer.contexts(1, &[(0, Some(1)), (7, Some(2)), (1, Some(3)), (9, Some(4))]);
    let profile = parse(writer);
    let [damage] = &profile.damage[..] else { panic!("{:?}", profile.damage) };
    // The file's header, that of the block, and of the region.
    let first = 4096 + 64 + 64 + 8;
    assert_eq!((damage.offset, damage.structure), (first, "context"));
    assert_eq!(
        damage.to_string(),
        "context at offset 0x1088: 2 contexts have callers that are not in front of them"
    );
}

#[test]
fn pauses_and_collections_fill_their_region() {
    let mut writer = Writer::new();
    writer.region(PAUSES, 0, &[], &bytes(&[1, 2, 3, 4, 5, 6, 7, 8]));
    writer.collections(1, &[(10, 11), (12, 13), (14, 15), (16, 17)]);
    writer.property("a", "b");
    let profile = parse(writer);
    assert_eq!(profile.damage, []);
    let pauses: Vec<_> = profile.pauses.iter().map(|Pause { start, end }| (*start, *end)).collect();
    assert_eq!(pauses, [(1, 2), (3, 4), (5, 6), (7, 8)]);
    assert_eq!(profile.collections.len(), 4);
}

#[test]
fn a_search_for_holders_says_how_it_ended() {
    for (word, end) in [(0, SearchEnd::Whole), (1, SearchEnd::Time), (2, SearchEnd::Objects)] {
        let mut writer = Writer::new();
        writer.holders(&words32(&[word, 70, 0x9000_0001, 3]));
        let profile = parse(writer);
        let [search] = &profile.holder_searches[..] else { panic!("{:?}", profile.damage) };
        assert_eq!((search.end, search.objects, search.ns), (end, 70, 0x3_9000_0001));
    }
}

#[test]
fn lines_and_changes_are_read() {
    let mut writer = Writer::new();
    let data = [words32(&[7, 1, 2, 0]), bytes(&[5, 6])].concat();
    writer.region(LINES, 0, &[data.len() as u64], &data);
    let clock = [0x9000_0001, 3];
    writer.selection_change(&words32(&[clock[0], clock[1], 2, 1, 9]));
    let profile = parse(writer);
    assert_eq!(profile.copies[&1].lines[&LineKey { method: 7, check: 1 }], [5, 6]);
    let [change] = &profile.selection_changes[..] else { panic!("{:?}", profile.damage) };
    assert_eq!((change.change, change.clock, &change.ids[..]), (Change::Included, 0x3_9000_0001, &[9][..]));
    // A record that is cut off.
    let mut writer = Writer::new();
    writer.region(LINES, 0, &[data.len() as u64 - 1], &data);
    assert_eq!(parse(writer).damage.len(), 1);
}

#[test]
fn data_may_fill_its_region_and_not_more() {
    let ids: Vec<u32> = (0..12).collect();
    let data = words32(&[&[7, 0, 1, 12], &ids[..]].concat());
    assert_eq!(data.len(), 64);
    for (length, is_read) in [(64, true), (65, false), (1 << 40, false)] {
        let mut writer = Writer::new();
        writer.region(SELECTION_CHANGES, 0, &[length], &data);
        let profile = parse(writer);
        assert_eq!(
            (profile.selection_changes.len(), profile.damage.is_empty()),
            (usize::from(is_read), is_read)
        );
        if !is_read {
            assert_eq!(profile.damage[0].reason, "it is cut off");
        }
    }
}

#[test]
fn a_class_name_may_fill_its_region() {
    let text = "a".repeat(64);
    for (length, is_read) in [(55u32, true), (56, true), (57, false), (64, false), (71, false)] {
        let mut writer = Writer::new();
        writer.region(CLASS_NAMES, 0, &[], &[&words32(&[3, length])[..], &text.as_bytes()[..56]].concat());
        writer.property("a", "b");
        let profile = parse(writer);
        let name = profile.copies[&1].class_names.get(&3).map(String::len);
        assert_eq!(
            (name, profile.damage.is_empty()),
            (is_read.then_some(length as usize), is_read),
            "{length}"
        );
    }
}

#[test]
fn threads_have_names_of_any_length_and_regions_of_one() {
    let mut writer = Writer::new();
    writer.region(THREAD, 1, &[], &[0; 128]);
    let profile = parse(writer);
    assert_eq!((profile.threads.len(), profile.damage.len()), (0, 1));
    let name = "abcdefgh".repeat(40);
    let mut writer = Writer::new();
    writer.recorded(&name, &ThreadFacts::default(), &Script::new(1000).call(1, |s| s.wait(1)).record());
    let profile = parse(writer);
    assert!(profile.threads[0].name.starts_with(&name[..128]), "{}", profile.threads[0].name);
}

/// A thread that was being added to the sum of those that ended.
#[test]
fn a_thread_is_folded_into_the_sum_that_it_names() {
    let recorded = |calls| Script::new(1000).times(calls, |s| s.call(5, |s| s.wait(10))).record();
    let file = |into: u64| {
        let mut writer = Writer::new();
        writer.ended(3, &recorded(2));
        let tree = recorded(3);
        let at = writer.tree_region(1, &tree.tree, &[], 1030);
        let thread = writer.thread("main", &ThreadFacts { flags: 4, ..ThreadFacts::default() }, at, 0);
        writer.word(thread + 224, into);
        parse(writer)
    };
    // Sums have the number 0 here; and 9 is none.
    let profile = file(0);
    assert_eq!(profile.threads.len(), 1, "{:?}", profile.damage);
    assert!(matches!(profile.threads[0].kind, ThreadKind::Ended(_)));
    assert_eq!(profile.threads[0].methods[&5].entries, 5);
    let profile = file(9);
    let left: Vec<_> = profile.threads.iter().map(|of| (of.methods[&5].entries, of.in_transition)).collect();
    assert_eq!(left, [(2, false), (3, true)]);
}

/// A node of a sampled tree: id, calls, ns, squares, and the words 12 to 15: timed, covered, head, variance.
fn sampled(id: u64, calls: u64, ns: u64, squares: f64, words: [u64; 4]) -> [u64; 16] {
    let [timed, covered, head, variance] = words;
    [id + 1, calls, calls, ns, 1, 500, squares.to_bits(), 0, 0, 0, 0, 0, timed, covered, head, variance]
}

/// A profile of threads with trees, by the flags and nodes of each.
fn profile_of(all: &[(u64, &[[u64; 16]])]) -> Profile {
    let mut writer = Writer::new();
    writer.word(8, 4 | 4096 << 32);
    for (owner, (flags, nodes)) in (1..).zip(all) {
        let at = writer.region(TREE, owner, &[0, *flags], &bytes(nodes.as_flattened()));
        writer.thread("main", &ThreadFacts::default(), at, 0);
    }
    parse(writer)
}

/// Their trees; nothing is damaged.
fn trees(all: &[(u64, &[[u64; 16]])]) -> Vec<Vec<TreeNode>> {
    let profile = profile_of(all);
    assert_eq!(profile.damage, []);
    profile.threads.into_iter().map(|of| of.tree.expect("a tree").nodes).collect()
}

#[test]
fn contexts_without_times_are_told_from_those_that_have_none_to_give() {
    // 5 calls of 10 ns; one without a timed call, but not without a head: its ns are what they are; and one that gets the mean.
    let nodes = [
        sampled(1, 5, 50, 500.0, [1, 5, !10, 0]),
        sampled(1, 3, 7, 0.0, [0, 0, 0, 0]),
        sampled(1, 3, 0, 0.0, [0, 0, NO_HEAD, 0]),
    ];
    let ns: Vec<u64> = trees(&[(SAMPLED, &nodes)])[0].iter().map(|node| node.ns).collect();
    assert_eq!(ns, [50, 7, 30]);
}

#[test]
fn what_was_estimated_before_counts_where_it_was_timed() {
    let mut known = sampled(1, 5, 50, 500.0, [0; 4]);
    known[7] = 5;
    let untimed = sampled(1, 4, 400, 40_000.0, [0; 4]);
    let missing = [sampled(1, 3, 0, 0.0, [0, 0, NO_HEAD, 0])];
    let all = trees(&[(ESTIMATED, &[known, untimed]), (SAMPLED, &missing)]);
    assert_eq!((all[0][0].timed, all[0][1].timed, all[1][0].ns), (5, 0, 30));
}

#[test]
fn calls_since_the_last_timed_one_spread_as_those_behind_the_head() {
    // The head: 16 calls of 100 ns. Then 2 timed calls of 20 and 30 ns, which stand for 10 each; 4 more have ended.
    let squares = 16.0 * 1e4 + 10.0 * (400.0 + 900.0);
    let node = trees(&[(SAMPLED, &[sampled(1, 40, 500, squares, [18, 36, 1600, 90f64.to_bits()])])])[0][0];
    // The variance of those 20: 650 - 25^2.
    let spread = 25.0;
    assert!((node.variance - (90.0 + spread * 4.0 * (1.0 + 4.0 / 18.0))).abs() < 0.01, "{node:?}");
    assert!((node.sum_squares - (squares + 4.0 * (625.0 + spread))).abs() < 0.01, "{node:?}");
    // A head of 0 ns is a head: 16 of 20 calls are in it, and the other 4 took 40 ns.
    let node = trees(&[(SAMPLED, &[sampled(1, 24, 40, 400.0, [1, 20, 0, 0])])])[0][0];
    assert_eq!(node.ns, 80);
}

#[test]
fn words_that_lie_elsewhere_are_found_there() {
    const FOLLOWERS: u64 = 16;
    let mut node = sampled(1, 9, 50, 0.0, [1, 12, 50, 0]);
    // What a recorder keeps for itself; 3 calls are unclosed, 2 events unmatched; the squares.
    (node[6], node[7]) = (u64::MAX, u64::MAX);
    (node[10], node[11]) = (2 << 32 | 3, 500f64.to_bits());
    for flags in [0, SAMPLED] {
        let node = trees(&[(FOLLOWERS | flags, &[node])])[0][0];
        assert_eq!((node.closes.unclosed, node.unmatched, node.sum_squares), (3, 2, 500.0), "{flags}");
    }
    let mut sums = node;
    (sums[7], sums[13]) = (4, 90f64.to_bits());
    let sums = trees(&[(FOLLOWERS | ESTIMATED, &[sums])])[0][0];
    assert_eq!((sums.timed, sums.variance, sums.unmatched, sums.sum_squares), (4, 90.0, 2, 500.0));
}

#[test]
fn sums_of_squares_that_are_none_count_as_none_and_are_damage() {
    for (squares, expected) in [(-1.0, 0.0), (f64::INFINITY, 0.0), (f64::NAN, 0.0), (2.5, 2.5)] {
        let profile = profile_of(&[(0, &[sampled(1, 1, 1, squares, [0; 4])])]);
        let node = profile.threads[0].tree.as_ref().expect("a tree").nodes[0];
        assert_eq!(
            (node.sum_squares, profile.damage.len()),
            (expected, usize::from(expected == 0.0)),
            "{squares}"
        );
    }
}

#[test]
fn nodes_whose_callers_are_behind_are_told_by_the_first() {
    let mut nodes = [sampled(1, 1, 1, 1.0, [0; 4]); 4];
    nodes[1][0] |= 9 << 32;
    nodes[3][0] |= 4 << 32;
    let mut writer = Writer::new();
    let at = writer.region(TREE, 1, &[0, 0], &bytes(nodes.as_flattened()));
    writer.thread("main", &ThreadFacts::default(), at, 0);
    let profile = parse(writer);
    let [damage] = &profile.damage[..] else { panic!("{:?}", profile.damage) };
    assert_eq!(damage.offset, at + 64 + 128);
    assert_eq!(damage.reason, "2 nodes have callers that are not in front of them");
}

#[test]
fn a_shadow_stack_ends_where_its_region_does_and_where_it_says() {
    let node = sampled(1, 1, 1, 1.0, [0; 4]);
    // One frame of node 1; behind it the node, which is no frame.
    let of = |words: u64| {
        let mut writer = Writer::new();
        let body = bytes(&[&[1 | 2 << 32, 500][..], &node].concat());
        let at = writer.region(TREE, 1, &[words, 0], &body);
        writer.thread("main", &ThreadFacts::default(), at, 0);
        parse(writer)
    };
    let profile = of(2);
    assert_eq!((profile.threads[0].stack.len(), profile.damage.len()), (1, 0), "{:?}", profile.damage);
    // The region has room for 24 words.
    for (words, is_cut) in [(24, false), (25, true), (190, true)] {
        let reasons: Vec<_> = of(words).damage.into_iter().map(|damage| damage.reason).collect();
        assert_eq!(
            reasons.contains(&"the shadow stack is cut off".to_owned()),
            is_cut,
            "{words}: {reasons:?}"
        );
    }
}

#[test]
fn a_piece_has_no_nodes_behind_its_last() {
    let node = |caller: u64| {
        let mut node = sampled(1, 1, 1, 1.0, [0; 4]);
        node[0] |= caller << 32;
        node
    };
    // Numbers go by 2: the second piece has the node 1000 alone.
    for (caller, is_wild) in [(1000, false), (1002, true), (1004, true)] {
        let mut writer = Writer::new();
        writer.word(8, 4 | 4096 << 32);
        let tree = writer.region(TREE, 1, &[0, IN_PIECES], &[]);
        let pieces = [(100u64, vec![node(0)]), (1000, vec![node(0)]), (2000, vec![node(0), node(caller)])];
        let mut leads = tree + 32;
        for (first, nodes) in pieces {
            let at = writer.region(TREE_NODES, 1, &[first], &bytes(nodes.as_flattened()));
            writer.word(leads, at);
            leads = at + 24;
        }
        writer.thread("main", &ThreadFacts::default(), tree, 0);
        let profile = parse(writer);
        let nodes = &profile.threads[0].tree.as_ref().unwrap().nodes;
        assert_eq!((nodes.len(), nodes[3].parent), (4, if is_wild { 0 } else { 2 }), "{caller}");
        assert_eq!(profile.damage.len(), usize::from(is_wild), "{:?}", profile.damage);
    }
}

#[test]
fn a_file_may_end_inside_the_header_of_a_block() {
    let mut writer = Writer::new();
    writer.property("a", "b");
    let whole = writer.finish();
    let inside = |length: usize| {
        let mut data = whole.clone();
        data.resize(length, 0);
        let profile = Profile::parse(&data).unwrap();
        profile.damage.iter().any(|damage| damage.reason == "the file ends inside its header")
    };
    let end = whole.len();
    assert_eq!([end, end + 8, end + 63, end + 64, end + 4096].map(inside), [false, true, true, false, false]);
    // Without a block there is nothing that could be cut off.
    assert!(!inside(4096 + 32) && !inside(4096));
}

#[test]
fn objects_have_numbers_that_need_all_their_bits() {
    let clock = 0x3_9000_0001;
    let life = Life { class: 1, bytes: 8 << 30, clock, ..Life::default() };
    let mut writer = Writer::new();
    writer.objects(1, &[life]);
    let data = writer.finish();
    let mut found: Vec<Object> = Vec::new();
    Profile::parse(&data).unwrap().for_each_object(&data, |object| found.push(*object)).unwrap();
    assert_eq!((found[0].bytes, found[0].clock), (8 << 30, clock));
}

#[test]
fn a_profile_is_read_from_a_file() {
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).times(3, |s| s.call(5, |s| s.wait(10))));
    let path =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("parts-{}.iprof", std::process::id()));
    let mut file =
        std::fs::File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    file.write_all(&writer.finish()).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    std::fs::remove_file(&path).unwrap();
    let profile = Profile::open(&file).unwrap();
    assert_eq!((profile.threads[0].methods[&5].entries, profile.damage.len()), (3, 0));
}

#[test]
fn sums_are_written_in_blocks_that_end_with_nothing() {
    let tree = Tree { nodes: vec![TreeNode::new(TreeConsumer::Method(5), 0)], ..Tree::default() };
    let about = About { nonce: 7, start_ms: 8, dropped: 9, has_ended: true };
    for length in (0..4096 + 128).step_by(64) {
        let mut writer = instrument_trace::Writer::new(Cursor::new(Vec::new())).unwrap();
        writer.id_map(&vec![b'x'; length]).unwrap();
        writer.sum("all", 3, Sum::Tree(&tree, &[])).unwrap();
        let data = writer.finish(&about).unwrap().into_inner();
        assert!(
            data.len().is_multiple_of(4096) && data.len() < length + 4 * 4096,
            "{length}: {}",
            data.len()
        );
        assert!(data[data.len() - 64..].iter().all(|byte| *byte == 0), "{length}");
        assert_eq!(u32::from_le_bytes(data[12..16].try_into().unwrap()), 4096);
        let profile = Profile::parse(&data).unwrap();
        assert_eq!(profile.damage, []);
        assert_eq!(profile.copies[&1].id_maps, [vec![b'x'; length]]);
        assert_eq!((profile.threads.len(), profile.nonce, profile.start_ms), (1, 7, 8));
    }
}
