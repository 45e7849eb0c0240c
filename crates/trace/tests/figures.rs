//! What single fields and parts mean: facts of a process, the head of a file, sums of nodes, parts of long records.

use instrument_testing::{Life, Script, ThreadFacts, Writer};
use instrument_trace::{
    Beside, Calibration, Closes, CpuCost, Head, Phase, Profile, Tree, TreeConsumer, TreeNode, Wait, WaitKind,
};

#[test]
fn a_calibration_is_its_properties() {
    let mut writer = Writer::new();
    for (i, key) in [
        "inner",
        "outer",
        "spread",
        "rounds",
        "rounds.least",
        "clock",
        "inner.untimed",
        "outer.untimed",
        "call",
        "outer.untimed.long",
        "call.long",
        "allocation",
        "start.inner",
        "start.outer",
        "start.spread",
        "start.rounds",
        "end.inner",
        "end.outer",
        "end.spread",
        "end.rounds",
        "cpu.inner",
        "cpu.outer",
    ]
    .into_iter()
    .enumerate()
    {
        writer.property(&format!("calibration.{key}"), 1u64 << i);
    }
    let profile = Profile::parse(&writer.finish()).unwrap();
    let found = profile.copies[&1].calibration().unwrap();
    let [little, most] =
        [Beside { call: 256.0, cost: 64.0 + 128.0 }, Beside { call: 1024.0, cost: 64.0 + 512.0 }];
    let start = Phase { inner: 4096.0, outer: 8192.0, spread: 16384.0, rounds: 32768 };
    let end = Phase { inner: 65536.0, outer: 131_072.0, spread: 262_144.0, rounds: 524_288 };
    let expected = Calibration {
        inner: 1.0,
        outer: 2.0,
        spread: 4.0,
        rounds: Some(8),
        least_rounds: Some(16),
        clock: Some(32.0),
        inner_untimed: Some(64.0),
        outer_untimed: Some(128.0),
        // What was not measured lies in the middle.
        beside: Some([little, Beside { call: 640.0, cost: 384.0 }, most]),
        allocation: Some(2048.0),
        start: Some(start),
        end: Some(end),
        cpu: Some(CpuCost { inner: 1_048_576.0, outer: 2_097_152.0 }),
    };
    assert_eq!(found, expected);
    assert_eq!(found.phases().collect::<Vec<_>>(), [start, end]);
    assert!(!found.is_sufficient());
    assert!(Calibration { rounds: Some(16), ..found }.is_sufficient());
}

#[test]
fn a_running_method_is_named_by_its_link() {
    let mut writer = Writer::new();
    writer.property("running.3", 70).property("region.2", "Shop.price:7-9");
    let profile = Profile::parse(&writer.finish()).unwrap();
    let copy = &profile.copies[&1];
    assert_eq!((copy.running_method(3), copy.running_method(2)), (Some(70), None));
    assert_eq!((copy.region_name(2), copy.region_name(3)), (Some("Shop.price:7-9"), None));
}

#[test]
fn the_head_is_that_of_the_file() {
    let mut writer = Writer::new();
    for (at, value) in [(16, 0x1111), (24, 0x2222), (32, 0x3333), (40, 0x4444), (88, 0)] {
        writer.word(at, value);
    }
    writer.clocks(1, 0x5555);
    let mut data = writer.finish();
    let length = u64::from_le_bytes(data[40..48].try_into().unwrap());
    let head = Head::read(&data).unwrap();
    let progress = (true, 0x5555, length);
    assert_eq!(head, Head { nonce: 0x1111, pid: 0x2222, start_ms: 0x3333, progress });
    assert!(head.has_ended());
    let profile = Profile::parse(&data).unwrap();
    let clocks = (profile.start_clock, profile.beat_clock, profile.shutdown_clock);
    assert_eq!(
        (profile.nonce, profile.pid, profile.start_ms, clocks),
        (0x1111, 0x2222, 0x3333, (1000, 1, 0x5555))
    );
    data[80..88].fill(0);
    data[88] = 1;
    let snapshot = Head::read(&data).unwrap();
    assert!(!snapshot.has_ended() && snapshot.progress == (false, 0, length));
    assert_eq!(Head::read(&data[..95].to_vec()), None);
    data[0] = 0;
    assert_eq!(Head::read(&data), None);
}

fn node(consumer: u32, parent: u32, by: u64) -> TreeNode {
    TreeNode {
        entries: by,
        closes: Closes { exits: 2 * by, unwinds: 3 * by, aborted: 5 * by, unclosed: 7 * by },
        unmatched: 11 * by,
        open: 13 * by,
        ns: 17 * by,
        min: 19 * by,
        max: 23 * by,
        sum_squares: 29.0 * by as f64,
        timed: 31 * by,
        cpu_ns: 37 * by,
        variance: 41.0 * by as f64,
        open_ns: 43 * by,
        bytecodes: 47 * by,
        ..TreeNode::new(TreeConsumer::Method(consumer), parent)
    }
}

#[test]
fn all_figures_of_a_context_are_added() {
    let mut sum = node(7, 0, 1);
    sum.add(&node(7, 0, 100));
    assert_eq!(sum, TreeNode { min: 19, max: 2300, ..node(7, 0, 101) });
}

#[test]
fn a_tree_takes_another_one_in() {
    let tree =
        |sampled, cpu, nodes: &[TreeNode]| Tree { sampled, cpu, nodes: nodes.to_vec(), ..Tree::default() };
    let before = [node(1, 0, 1), node(2, 1, 2)];
    let mut all = tree(false, true, &before);
    let numbers = all.absorb(&tree(true, false, &[node(1, 0, 10), node(3, 1, 20), node(2, 2, 30)]));
    assert!(all.sampled && all.cpu);
    assert_eq!(&numbers[1..], [1, 3, 4]);
    assert_eq!(all.nodes[0].entries, 11);
    // A node that is new gets its figures from nothing, where nothing was the shortest.
    let parents = all.nodes.iter().map(|node| (node.consumer, node.parent, node.entries)).collect::<Vec<_>>();
    let method = TreeConsumer::Method;
    assert_eq!(parents, [(method(1), 0, 11), (method(2), 1, 2), (method(3), 1, 20), (method(2), 3, 30)]);
    let mut none = tree(false, false, &before);
    none.absorb(&tree(false, false, &[]));
    assert_eq!(none, tree(false, false, &before));
}

#[test]
fn parts_of_objects_and_waits_begin_where_they_are_asked_to() {
    let lives: Vec<Life> = (1..=300).map(|i| Life { class: 1, bytes: 8 * i, ..Life::default() }).collect();
    let wait = |i: u32| Wait {
        copy: 1,
        kind: WaitKind::Waiting,
        thread: 1,
        start: u64::from(i),
        end: u64::from(i) + 1,
        monitor: 1,
        class: 1,
        context: 1,
        owner: 0,
        timeout: 0,
        timed_out: false,
    };
    let mut writer = Writer::new();
    writer.objects(1, &lives).waits(&(1..=300).map(wait).collect::<Vec<_>>());
    let data = writer.finish();
    let profile = Profile::parse(&data).unwrap();
    for (from, count, expected) in
        [(0, 2, 1..3), (100, 3, 101..104), (298, 9, 299..301), (300, 1, 0..0), (400, 1, 0..0)]
    {
        let (mut objects, mut waits) = (Vec::new(), Vec::new());
        let piece = profile.objects[0].part(from, count);
        piece.for_each(&data, |object| objects.push((object.number, object.bytes / 8))).unwrap();
        profile.waits[0]
            .part(from, count)
            .for_each(&data, &mut |wait: &Wait| waits.push(wait.start))
            .unwrap();
        let expected: Vec<u64> = expected.collect();
        assert_eq!(objects, expected.iter().map(|&i| (i, i)).collect::<Vec<_>>(), "{from} {count}");
        assert_eq!(waits, expected, "{from} {count}");
    }
}

#[test]
fn a_thread_says_how_it_was_left() {
    let mut writer = Writer::new();
    for flags in [0, 1, 2] {
        let facts = ThreadFacts { flags, dropped: 10 + flags, ..ThreadFacts::default() };
        writer.recorded("main", &facts, &Script::new(1000).call(1, |s| s.wait(1)).record());
    }
    let profile = Profile::parse(&writer.finish()).unwrap();
    let left: Vec<_> = profile.threads.iter().map(|of| (of.stopped, of.in_transition)).collect();
    assert_eq!(left, [(false, false), (true, false), (false, true)]);
    assert_eq!(profile.threads.iter().map(|of| of.dropped).collect::<Vec<_>>(), [10, 11, 12]);
}

#[test]
fn allocations_end_with_their_region() {
    let mut writer = Writer::new();
    // As many as fill it; a region follows.
    let body: Vec<u8> =
        (1..=4u64).flat_map(|i| [(i + 1) << 32 | 7, 100 * i]).flat_map(u64::to_le_bytes).collect();
    let allocations = writer.region(4, 1, &[], &body);
    writer.thread("main", &ThreadFacts::default(), 0, allocations);
    let profile = Profile::parse(&writer.finish()).unwrap();
    let found: Vec<_> =
        profile.threads[0].allocations.iter().map(|of| (of.method, of.class, of.count)).collect();
    assert_eq!(found, [(Some(1), 7, 100), (Some(2), 7, 200), (Some(3), 7, 300), (Some(4), 7, 400)]);
}

#[test]
fn a_piece_of_a_trace_begins_at_its_clock() {
    let mut writer = Writer::new();
    let calls = Script::new(1000).times(6, |s| s.call(1, |s| s.wait(100)));
    writer.trace("main", &calls, 4);
    let profile = Profile::parse(&writer.finish()).unwrap();
    let pieces = &profile.threads[0].pieces;
    assert_eq!(pieces.iter().map(|piece| piece.number).collect::<Vec<_>>(), [1, 2, 3]);
    // Two calls in each.
    assert_eq!(pieces.iter().map(|piece| piece.clock).collect::<Vec<_>>(), [1000, 1200, 1400]);
}

#[test]
fn a_class_name_that_ends_behind_its_region_is_damage() {
    let mut writer = Writer::new();
    writer.class_names(&[(1, "a.B"), (2, "a.C")]);
    let whole = writer.finish();
    let at = whole.windows(3).position(|name| name == b"a.C").unwrap();
    for (length, is_damaged) in [(3u32, false), (200, true), (u32::MAX, true)] {
        let mut data = whole.clone();
        data[at - 4..at].copy_from_slice(&length.to_le_bytes());
        let profile = Profile::parse(&data).unwrap();
        assert_eq!(!profile.damage.is_empty(), is_damaged, "{length}: {:?}", profile.damage);
        assert_eq!(profile.copies[&1].class_names.contains_key(&2), !is_damaged);
        assert_eq!(profile.copies[&1].class_names[&1], "a.B");
    }
}
