//! Replayed traces against what a tree recorder would have written, and what a visitor is told.

use instrument_analysis::replay::{self, CallEnd, Key, Limits, Start, Visitor};
use instrument_testing::{Recorded, Script, Writer};
use instrument_trace::{Closes, Event, Link, LinkKind, Profile, Thread, TreeConsumer};
use proptest::prelude::*;

fn trace(script: &Script, events_per_piece: usize) -> (Vec<u8>, Thread) {
    let mut writer = Writer::new();
    writer.trace("main", script, events_per_piece);
    let data = writer.finish();
    let mut profile = Profile::parse(&data).unwrap();
    assert_eq!(profile.damage, []);
    (data, profile.threads.remove(0))
}

fn same_as_recorded(script: &Script, events_per_piece: usize, limits: &Limits) {
    let (data, mut thread) = trace(script, events_per_piece);
    let found = replay::thread(&data, &mut thread, limits).unwrap();
    assert_eq!(found.damage, []);
    let recorded = script.record_limited(limits.depth, limits.contexts);
    let Recorded { tree, stack, allocations, last_event, pause, dropped, links, .. } = recorded;
    assert_eq!(thread.tree.as_ref(), Some(&tree));
    assert_eq!((&thread.stack, &thread.tree_allocations), (&stack, &allocations));
    assert_eq!((thread.last_event, thread.pause, thread.dropped), (last_event, pause, dropped));
    assert_eq!(thread.methods, tree.methods());
    assert!(tree.nodes.iter().all(|node| node.counts().balance() == 0));
    for made in &found.links {
        let first = links.iter().find(|(link, ..)| *link == made.link).unwrap();
        assert_eq!((made.node, made.clock), (first.1, first.2));
    }
}

fn event() -> impl Strategy<Value = Event> {
    let id = || 0..6u32;
    prop_oneof![
        8 => id().prop_map(Event::Entry),
        8 => id().prop_map(Event::Exit),
        3 => id().prop_map(Event::ConstructorEntry),
        3 => id().prop_map(Event::SuperReturned),
        2 => id().prop_map(Event::Unwind),
        2 => id().prop_map(Event::Caught),
        2 => (1..4u32, 0..100u64).prop_map(|(class, words)| Event::Made { class, bytes: 8 * words }),
        1 => (0..4u64, 0..3u32).prop_map(|(frames, above)| Event::Surplus(frames, above)),
        1 => (0..4u32).prop_map(Event::Gone),
        1 => id().prop_map(Event::LinkEntered),
        1 => id().prop_map(Event::LinkLeft),
        1 => id().prop_map(Event::LinkMade),
        1 => (1..500u64).prop_map(Event::Pause),
        1 => (1..9u64).prop_map(Event::Dropped),
    ]
}

/// Events in any order; most of the closes are made to fit.
fn script() -> impl Strategy<Value = Script> {
    prop::collection::vec((event(), 0..40u64, any::<bool>()), 0..400).prop_map(|steps| {
        let mut open = Vec::new();
        steps.into_iter().fold(Script::new(1000), |script, (mut event, ns, fits)| {
            match &mut event {
                Event::Entry(id) | Event::ConstructorEntry(id) => open.push(*id),
                Event::Exit(id) | Event::Unwind(id) if fits => *id = open.pop().unwrap_or(*id),
                Event::SuperReturned(id) | Event::Caught(id) if fits => {
                    *id = open.last().copied().unwrap_or(*id);
                }
                _ => {}
            }
            script.wait(ns).event(event)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_replayed_trace_is_the_recorded_tree(
        script in script(), piece in 1..70usize, depth in 1..30usize, contexts in 1..60usize,
    ) {
        same_as_recorded(&script, piece, &Limits::default());
        same_as_recorded(&script, piece, &Limits { depth, ..Limits::default() });
        same_as_recorded(&script, piece, &Limits { contexts, ..Limits::default() });
    }

    /// Whoever keeps a stack by what a visitor is told has the one that is left in the end.
    #[test]
    fn a_visitor_sees_a_stack(script in script()) {
        let (data, thread) = trace(&script, 16);
        let mut told = Told::default();
        let replayed = replay::replay(&data, &thread, &mut told).unwrap();
        let recorded = script.record();
        let open = replayed.open.iter().map(|open| (open.consumer, open.call));
        prop_assert_eq!(open.collect::<Vec<_>>(), told.stack);
        prop_assert_eq!(replayed.open.len(), recorded.stack.len());
        prop_assert_eq!(told.ended + replayed.open.len(), told.begun);
        prop_assert!(told.clocks.is_sorted());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(80) })]

    /// Whoever knows the clock and the open calls at the beginning of a piece is told the same from there on.
    #[test]
    fn a_part_of_a_trace_is_told_as_in_the_whole(script in script(), piece in 4..40usize) {
        let (data, thread) = trace(&script, piece);
        let mut whole = Log::default();
        replay::replay(&data, &thread, &mut whole).unwrap();
        prop_assert_eq!(whole.pieces.len(), thread.pieces.len());
        for (from, Begin { told, clock, open }) in whole.pieces.iter().enumerate() {
            let start = Start { pieces: from..thread.pieces.len(), clock: *clock, open: open.clone() };
            let mut part = Log::default();
            let replayed = replay::replay_part(&data, &thread, start, &mut part).unwrap();
            prop_assert_eq!(replayed.damage, vec![]);
            prop_assert_eq!(&part.told[..], &whole.told[*told..]);
        }
    }
}

#[derive(Default)]
struct Told {
    stack: Vec<(TreeConsumer, usize)>,
    begun: usize,
    ended: usize,
    clocks: Vec<u64>,
}

impl Visitor for Told {
    type Call = usize;

    fn enter(&mut self, of: TreeConsumer, _: bool, caller: Option<&usize>, depth: usize, at: u64) -> usize {
        assert_eq!(depth, self.stack.len());
        assert_eq!(caller.copied(), self.stack.last().map(|(_, number)| *number));
        self.begun += 1;
        self.clocks.push(at);
        self.stack.push((of, self.begun));
        self.begun
    }

    fn leave(&mut self, call: usize, consumer: TreeConsumer, how: CallEnd, depth: usize, at: u64) {
        assert!(depth == self.stack.len() - 1 || how == CallEnd::Surplus);
        assert_eq!(self.stack.remove(depth), (consumer, call));
        self.ended += 1;
        self.clocks.push(at);
    }
}

/// All that a visitor is told, and of each piece how much was told before it, the clock and the open calls.
#[derive(Default)]
struct Log {
    told: Vec<(TreeConsumer, Option<CallEnd>, bool, usize, u64)>,
    pieces: Vec<Begin>,
}

/// Where a piece begins.
struct Begin {
    told: usize,
    clock: u64,
    open: Vec<(Key, ())>,
}

impl Visitor for Log {
    type Call = ();

    fn enter(&mut self, of: TreeConsumer, pending: bool, _: Option<&()>, depth: usize, at: u64) {
        self.told.push((of, None, pending, depth, at));
    }

    fn leave(&mut self, (): (), of: TreeConsumer, how: CallEnd, depth: usize, at: u64) {
        self.told.push((of, Some(how), false, depth, at));
    }

    fn piece(&mut self, _: usize, at: u64, open: &mut dyn Iterator<Item = (Key, &())>) {
        let open = open.map(|(key, &call)| (key, call)).collect();
        self.pieces.push(Begin { told: self.told.len(), clock: at, open });
    }
}

#[test]
fn a_visitor_is_told_what_begins_and_how_it_ends() {
    use TreeConsumer::{Link, Method};
    let script = Script::new(1000).enter(1).wait(1).construct(2).wait(2).construct(3).wait(4).enter_link(4);
    let script =
        script.wait(8).super_returned(3).wait(16).event(Event::Surplus(1, 0)).wait(32).unwind(3).exit(1);
    let (data, thread) = trace(&script, 64);
    let mut log = Log::default();
    replay::replay(&data, &thread, &mut log).unwrap();
    let expected = [
        (Method(1), None, false, 0, 1000),
        (Method(2), None, true, 1, 1001),
        (Method(3), None, true, 2, 1003),
        (Link(4), None, false, 3, 1007),
        (Link(4), Some(CallEnd::Unclosed), false, 3, 1015),
        // When it threw is not known: the clock is that of the event before.
        (Method(2), Some(CallEnd::Surplus), false, 1, 1015),
        (Method(3), Some(CallEnd::Unwind), false, 1, 1063),
        (Method(1), Some(CallEnd::Exit), false, 0, 1063),
    ];
    assert_eq!(log.told, expected);
}

#[test]
fn a_part_may_begin_anywhere_and_the_whole_begins_with_the_first_piece() {
    let (data, mut thread) = trace(&Script::new(1).times(40, |s| s.call(1, |s| s.wait(1))), 8);
    let told = |thread: &Thread, pieces: std::ops::Range<usize>| {
        let mut log = Log::default();
        let start = Start { pieces, clock: 0, open: vec![] };
        let damage = replay::replay_part(&data, thread, start, &mut log).unwrap().damage;
        (log.told.len(), damage.into_iter().map(|damage| damage.reason).collect::<Vec<_>>())
    };
    assert_eq!((told(&thread, 0..10), told(&thread, 3..5)), ((80, vec![]), (16, vec![])));
    thread.pieces.drain(..2);
    let missing = "2 pieces of thread \"main\" are missing".to_owned();
    assert_eq!((told(&thread, 0..8), told(&thread, 1..8)), ((64, vec![missing]), (56, vec![])));
}

#[test]
fn calls_that_find_no_room_are_counted_by_method() {
    let script = Script::new(1).call(1, |s| s.wait(1).call(2, |s| s.wait(2)).call(2, |s| s)).call(1, |s| s);
    let limits = Limits { contexts: 0, ..Limits::default() };
    same_as_recorded(&script, 64, &limits);
    let (data, mut thread) = trace(&script, 64);
    replay::thread(&data, &mut thread, &limits).unwrap();
    let nodes = thread.tree.iter().flat_map(|tree| &tree.nodes);
    let nodes: Vec<_> = nodes.map(|node| (node.consumer, node.parent, node.entries, node.ns)).collect();
    use TreeConsumer::{Deeper, Method};
    assert_eq!(nodes, [(Deeper, 0, 0, 0), (Method(1), 1, 2, 0), (Method(2), 1, 2, 0)]);
}

/// Pieces that are read in several parts, one behind the other.
#[test]
fn long_pieces_are_read_to_their_end() {
    let script = Script::new(1).times(50_000, |s| s.call(1, |s| s.wait(1)));
    same_as_recorded(&script, 40_000, &Limits::default());
}

#[test]
fn what_is_beyond_the_limits_of_objects_and_links_is_dropped() {
    let script = Script::new(1000).call(1, |s| s.make(1, 8).make(2, 16).make(3, 32).make(1, 64));
    let script = script.make_link(5).wait(10).make_link(6).wait(10).make_link(7).make_link(5);
    let of = |allocations, links| {
        let (data, mut thread) = trace(&script, 64);
        let limits = Limits { allocations, links, ..Limits::default() };
        let found = replay::thread(&data, &mut thread, &limits).unwrap();
        let made = thread.tree_allocations.iter().map(|made| (made.node, made.class, made.count, made.bytes));
        let links = found.links.iter().map(|made| (made.link, made.clock));
        (made.collect::<Vec<_>>(), links.collect::<Vec<_>>(), thread.dropped)
    };
    let (made, links) = ([(1, 1, 2, 72), (1, 2, 1, 16), (1, 3, 1, 32)], [(5, 1000), (6, 1010), (7, 1020)]);
    assert_eq!(of(3, 3), (made.to_vec(), links.to_vec(), 0));
    assert_eq!(of(2, 2), (made[..2].to_vec(), links[..2].to_vec(), 2));
    assert_eq!(of(1, 1), (made[..1].to_vec(), links[..1].to_vec(), 4));
}

/// Times are exact: seed 001's appendix, with a wait that does not fit into an event.
#[test]
fn times_are_exact() {
    let long = 1 << 40;
    let script =
        Script::new(7).call(1, |s| s.wait(3).call(2, |s| s.wait(long)).call(2, |s| s.wait(5)).wait(1));
    let (data, thread) = trace(&script, 64);
    let tree = replay::tree(&data, &thread).unwrap();
    let figures = tree.nodes.iter().map(|n| (n.entries, n.ns, n.min, n.max)).collect::<Vec<_>>();
    assert_eq!(figures, [(1, long + 9, long + 9, long + 9), (2, long + 5, 5, long)]);
    // 2^80 + 25 rounded once.
    assert_eq!(tree.nodes[1].sum_squares, (1u128 << 80) as f64);
}

#[test]
fn open_calls_count_up_to_the_last_event() {
    let script = Script::new(1000).enter(1).wait(10).enter(2).wait(5).pause(100).call(3, |s| s.wait(7));
    let (data, thread) = trace(&script, 64);
    let tree = replay::tree(&data, &thread).unwrap();
    assert_eq!(
        tree.nodes.iter().map(|n| (n.open, n.ns, n.open_ns)).collect::<Vec<_>>(),
        [(1, 0, 22), (1, 0, 12), (0, 7, 0)]
    );
}

#[test]
fn open_constructors_are_pending_until_super_has_returned() {
    let script = Script::new(1).enter(1).construct(2).construct(3).super_returned(3).enter_link(4);
    let (data, mut thread) = trace(&script, 64);
    replay::thread(&data, &mut thread, &Limits::default()).unwrap();
    let stack: Vec<_> = thread.stack.iter().map(|frame| (frame.id, frame.pending, frame.link)).collect();
    assert_eq!(stack, [(1, false, false), (2, true, false), (3, false, false), (4, false, true)]);
}

/// What an unwind closes on its way has its own columns: the balance of calls would hide a frame in the wrong one.
#[test]
fn an_unwind_closes_what_is_above_it_as_unclosed_or_aborted() {
    let script = Script::new(1000).enter(1).enter(2).construct(3).enter(4).wait(5).unwind(1);
    for events_per_piece in [1, 64] {
        let (data, thread) = trace(&script, events_per_piece);
        let tree = replay::tree(&data, &thread).unwrap();
        let found: Vec<_> = tree
            .nodes
            .iter()
            .map(|node| {
                let Closes { exits, unwinds, aborted, unclosed } = node.closes;
                (node.consumer.method().unwrap(), [exits, unwinds, aborted, unclosed], node.open, node.ns)
            })
            .collect();
        let expected = [
            (1, [0, 1, 0, 0], 0, 5),
            (2, [0, 0, 0, 1], 0, 5),
            (3, [0, 0, 1, 0], 0, 5),
            (4, [0, 0, 0, 1], 0, 5),
        ];
        assert_eq!(found, expected, "{events_per_piece} events in a piece");
        assert!(tree.nodes.iter().all(|node| node.counts().balance() == 0));
    }
}

#[test]
fn a_profile_is_replayed_once_and_its_links_get_contexts() {
    let mut writer = Writer::new();
    let main =
        writer.trace("main", &Script::new(1).call(1, |s| s.call(2, |s| s.make_link(5)).make_link(6)), 4);
    let worker = writer.trace("worker", &Script::new(1).enter_link(5).call(3, |s| s).leave_link(5), 4);
    let link = Link { copy: 1, number: 5, kind: LinkKind::Start, thread: main, node: 0, clock: 0 };
    let known = Link { number: 6, node: 77, ..link };
    let of_another = Link { number: 6, thread: worker, ..link };
    writer.links(&[link, known, of_another]);
    let data = writer.finish();
    let mut profile = Profile::parse(&data).unwrap();
    replay::profile(&data, &mut profile).unwrap();
    assert_eq!(profile.links.iter().map(|link| link.node).collect::<Vec<_>>(), [2, 77, 0]);
    assert_eq!(profile.threads[0].methods[&2].entries, 1);
    assert_eq!((profile.imbalances(), profile.in_flight()), (vec![], 0));
    let once = profile.clone();
    replay::profile(&data, &mut profile).unwrap();
    assert_eq!((profile.threads, profile.damage), (once.threads, once.damage));
}

#[test]
fn what_is_wrong_with_a_trace_is_said() {
    let script = Script::new(1).times(40, |s| s.call(1, |s| s.wait(1)));
    let mut writer = Writer::new();
    writer.trace("main", &script, 8);
    let mut data = writer.finish();
    let regions = (4096..data.len()).step_by(64).filter(|&at| data[at..at + 8] == [10, 0, 0, 0, 1, 0, 0, 0]);
    let regions = regions.collect::<Vec<_>>();
    data[regions[2]] = 0;
    data[regions[4] + 24..regions[4] + 32].fill(0);
    data[regions[5] + 64 + 7] = 0x00;
    let mut profile = Profile::parse(&data).unwrap();
    replay::profile(&data, &mut profile).unwrap();
    let reasons = profile.damage.iter().map(|damage| damage.reason.as_str()).collect::<Vec<_>>();
    assert_eq!(
        reasons,
        [
            "1 pieces of thread \"main\" are missing",
            "the clock goes back 1 times in thread \"main\"",
            "1 events of thread \"main\" are of unknown kinds"
        ]
    );
    assert_eq!(profile.threads[0].methods[&1].entries, 35);
    assert_eq!(profile.imbalances(), []);
}

/// A stack too deep ends the reading of its thread; unmatched events on a deep one take no time.
#[test]
fn depth_is_bounded() {
    let deep = Script::new(1).times(3000, |s| s.enter(1));
    let unmatched = deep.times(3000, |s| s.exit(2).super_returned(1).caught(3));
    // What fits is found still, wherever it is.
    let mixed = unmatched.enter(4).construct(5).construct(6).wait(1).super_returned(5).enter(7).caught(5);
    let mixed =
        mixed.construct(8).event(Event::Surplus(1, 0)).caught(8).enter_link(2).enter(1).exit(4).caught(1);
    // Whether they are pending or not.
    let mixed = mixed.construct(9).enter(7).caught(9).super_returned(9).enter(7).caught(9).super_returned(9);
    same_as_recorded(&mixed.leave_link(2).unwind(1), 1 << 12, &Limits::default());

    // 5 million entries, from one piece that stands in the file once and is in the list many times.
    let (data, mut thread) = trace(&Script::new(1).times(50_000, |s| s.enter(1)), 50_000);
    thread.pieces = (1..=100).map(|number| instrument_trace::Piece { number, ..thread.pieces[0] }).collect();
    let found = replay::thread(&data, &mut thread, &Limits::default()).unwrap();
    assert!(found.damage[0].reason.starts_with("more than 4194304 frames are open"), "{:?}", found.damage);
    assert_eq!((thread.stack.len(), thread.methods[&1].open), (1 << 22, 1 << 22));
    assert_eq!(thread.tree.unwrap().nodes.len(), 10_002);
}

#[test]
fn a_cut_trace_is_replayed_as_far_as_it_goes() {
    let script = Script::new(1).times(20, |s| s.call(1, |s| s.wait(1).construct(2).caught(1)));
    let mut writer = Writer::new();
    writer.trace("main", &script, 7);
    let data = writer.finish();
    let mut most = 0;
    for length in 4096..data.len() {
        let mut profile = Profile::parse(&data[..length]).unwrap();
        replay::profile(&&data[..length], &mut profile).unwrap();
        assert_eq!(profile.imbalances(), []);
        let entries = profile.threads.first().and_then(|t| Some(t.methods.get(&1)?.entries)).unwrap_or(0);
        assert!(entries >= most, "cut at {length}");
        most = entries;
    }
    assert_eq!(most, 20);
}
