use super::*;
use crate::replay;
use instrument_testing::{Script, Writer};
use instrument_trace::{Event, Profile, TreeNode};
use proptest::prelude::*;

const ROOM: Share = Share { sums: 1 << 20, boxes: 1 << 20 };

fn with_blocks(data: &Vec<u8>, thread: &Thread, share: Share, block: u64) -> Index {
    Index::build(data, thread, share, (block, LARGE), &|_| ()).unwrap().0
}

fn trace(script: &Script, events_per_piece: usize) -> (Vec<u8>, Thread) {
    let mut writer = Writer::new();
    writer.trace("main", script, events_per_piece);
    let data = writer.finish();
    let mut profile = Profile::parse(&data).unwrap();
    (data, profile.threads.remove(0))
}

/// Events in any order, most of the closes fitting; without those whose time nobody knows.
fn script() -> impl Strategy<Value = Script> {
    let id = || 0..5u32;
    let event = prop_oneof![
        8 => id().prop_map(Event::Entry),
        8 => id().prop_map(Event::Exit),
        3 => id().prop_map(Event::ConstructorEntry),
        3 => id().prop_map(Event::SuperReturned),
        2 => id().prop_map(Event::Unwind),
        1 => (0..4u32).prop_map(Event::Gone),
        1 => id().prop_map(Event::LinkEntered),
        1 => (1..90u64).prop_map(Event::Pause),
    ];
    prop::collection::vec((event, 0..40u64, any::<bool>()), 0..300).prop_map(|steps| {
        let mut open = Vec::new();
        steps.into_iter().fold(Script::new(1000), |script, (mut event, ns, fits)| {
            match &mut event {
                Event::Entry(id) | Event::ConstructorEntry(id) => open.push(*id),
                Event::Exit(id) | Event::Unwind(id) if fits => *id = open.pop().unwrap_or(*id),
                Event::SuperReturned(id) if fits => *id = open.last().copied().unwrap_or(*id),
                _ => {}
            }
            script.wait(ns).event(event)
        })
    })
}

/// Calls and ns of every context with all below it.
fn totals(index: &Index, part: &Part) -> Vec<(u64, u64)> {
    let mut all = vec![(0, 0); index.contexts.len()];
    for sum in &part.sums {
        let of = &mut all[sum.node as usize];
        *of = (of.0 + sum.calls, of.1 + sum.ns);
    }
    for node in (1..all.len()).rev() {
        let above = index.contexts.parent(node as u32) as usize;
        all[above].1 += all[node].1;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// All of the time is what the tree of the trace has, as measured.
    #[test]
    fn the_whole_is_the_tree(script in script(), per_piece in 1..40usize) {
        let (data, thread) = trace(&script, per_piece);
        let index = with_blocks(&data, &thread, ROOM, 1);
        let whole = index.window(&data, &thread, (0, u64::MAX)).unwrap();
        prop_assert_eq!(&whole.open, &[]);
        let found = totals(&index, &whole);
        let tree = replay::tree(&data, &thread).unwrap();
        prop_assert_eq!(tree.nodes.len() + 1, found.len());
        let known = |node: &TreeNode| (node.entries, node.ns + node.open_ns);
        prop_assert_eq!(tree.nodes.iter().map(known).collect::<Vec<_>>(), &found[1..]);
    }

    /// However the trace is cut into blocks, and whatever was joined for want of room: a window is what its parts are.
    #[test]
    fn a_window_is_the_same_for_all_blocks(script in script(), per_piece in 1..20usize, at in prop::array::uniform2(0..6000u64)) {
        let (data, thread) = trace(&script, per_piece);
        let mut at = at.map(|at| 900 + at);
        at.sort_unstable();
        let [from, to] = at;
        let single = with_blocks(&data, &thread, ROOM, u64::MAX);
        prop_assert!(single.blocks.len() <= 1);
        let expected = single.all_parts(&data, &thread, &at).unwrap().swap_remove(1);
        for share in [ROOM, Share { sums: 20, boxes: 4 }] {
            let index = with_blocks(&data, &thread, share, 1);
            let window = index.window(&data, &thread, (from, to)).unwrap();
            if from < to {
                prop_assert_eq!(&window.sums, &expected.sums);
                prop_assert_eq!(&window.open, &expected.open);
            }
            // Before, within and behind are the whole.
            let mut all = index.window(&data, &thread, (0, from)).unwrap();
            all.then(&window.sums);
            all.then(&index.window(&data, &thread, (to, u64::MAX)).unwrap().sums);
            prop_assert_eq!(all, index.window(&data, &thread, (0, u64::MAX)).unwrap());
        }
    }

    /// A picture has every call of its window, single where it is long enough.
    #[test]
    fn a_picture_has_all_calls(script in script(), per_piece in 1..20usize, at in prop::array::uniform2(0..6000u64), resolution in 1..400u64) {
        let (data, thread) = trace(&script, per_piece);
        let [from, to] = [900 + at[0].min(at[1]), 901 + at[0].max(at[1])];
        let calls = calls(&data, &thread);
        let index = with_blocks(&data, &thread, ROOM, 1);
        let picture = index.picture(&data, &thread, (from, to), resolution).unwrap();
        for &(depth, start, end) in &calls {
            // One that touches a border of the window may be in it or not.
            if end > from && start < to && start < end {
                let boxes = picture.boxes.iter().filter(|run| run.depth == depth && run.start <= start && run.end >= end);
                let boxes: Vec<_> = boxes.collect();
                prop_assert_eq!(boxes.len(), 1, "{} {} {} {:?}", depth, start, end, &picture);
                prop_assert!(end - start < picture.resolution || boxes[0].calls == 1, "{:?}", boxes);
            }
        }
        let drawn: u64 = picture.boxes.iter().map(|run| run.calls).sum();
        prop_assert!(drawn <= calls.len() as u64);
    }
}

/// Depth, beginning and end of every call, told one by one.
fn calls(data: &Vec<u8>, thread: &Thread) -> Vec<(u32, u64, u64)> {
    struct All(Vec<(u32, u64, u64)>);
    impl Visitor for All {
        type Call = u64;
        fn enter(&mut self, _: TreeConsumer, _: bool, _: Option<&u64>, _: usize, at: u64) -> u64 {
            at
        }
        fn leave(&mut self, start: u64, _: TreeConsumer, _: CallEnd, depth: usize, at: u64) {
            self.0.push((depth as u32, start, at));
        }
    }
    let mut all = All(Vec::new());
    let replayed = replay::replay(data, thread, &mut all).unwrap();
    let end = replayed.last_event;
    let open = replayed.open.iter().zip(0..).map(|(open, depth)| (depth, open.call, end));
    all.0.extend(open);
    all.0
}

/// By hand: a call that begins before the window and ends in it, one within it, and a pause.
#[test]
fn a_window_cuts_calls_at_both_ends() {
    let script =
        Script::new(1000).enter(1).wait(100).call(2, |s| s.wait(50)).wait(10).pause(30).wait(5).exit(1);
    let (data, thread) = trace(&script, 2);
    let index = with_blocks(&data, &thread, ROOM, 1);
    let sums = |from: u64, to: u64| {
        let part = index.window(&data, &thread, (from, to)).unwrap();
        let sums = part.sums.iter().map(|sum| (sum.node, sum.calls, sum.ns)).collect::<Vec<_>>();
        (part.open, sums)
    };
    // 1 from 1000, 2 from 1100 to 1150, then a pause, which has no clock of its own, up to 1180; the end at 1195.
    assert_eq!(sums(1000, 1100), (vec![], vec![(1, 1, 100)]));
    assert_eq!(sums(1050, 1120), (vec![(1, 1)], vec![(1, 0, 50), (2, 1, 20)]));
    assert_eq!(sums(1120, 1150), (vec![(1, 1), (2, 1)], vec![(2, 0, 30)]));
    assert_eq!(sums(1150, 1170), (vec![(1, 1), (2, 1)], vec![]));
    assert_eq!(sums(1170, 1193), (vec![(1, 1)], vec![(1, 0, 13)]));
    assert_eq!(sums(1195, 1195), (vec![], vec![]));
    assert_eq!(sums(1300, 1200), (vec![], vec![]));
}

/// However long the trace is, the index has its bound, and a window is the same.
#[test]
fn what_has_no_room_makes_blocks_longer() {
    let script = Script::new(1).times(5000, |s| s.call(1, |s| s.wait(3).call(2, |s| s.wait(4))).wait(2));
    let (data, thread) = trace(&script, 100);
    let [wide, narrow] = [ROOM, Share { sums: 50, boxes: 200 }].map(|share| {
        let index = with_blocks(&data, &thread, share, 1);
        let sums: usize = index.blocks.iter().map(|block| block.sums.len() + block.open.len()).sum();
        assert!(sums <= share.sums && index.blocks.len() > 1, "{sums}");
        index
    });
    assert!(narrow.blocks.len() < wide.blocks.len() / 3);
    assert!(narrow.levels.finest() > wide.levels.finest());
    for window in [(0, u64::MAX), (1000, 1001), (777, 33_333)] {
        let [one, other] = [&wide, &narrow].map(|index| index.window(&data, &thread, window).unwrap());
        assert_eq!(one, other);
    }
    assert_eq!(wide.calls, 10_000);
}
