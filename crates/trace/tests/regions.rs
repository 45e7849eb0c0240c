//! The reader over regions that are laid out word by word: times of sampled trees, figures at the ends of regions, media that are interrupted.

use std::cell::Cell;
use std::io;

use instrument_testing::{ThreadFacts, Writer};
use instrument_trace::{Event, LinkKind, Passage, Profile, RegionTiming, Source, TreeNode, Wait, WaitKind};

const COUNTS: u32 = 3;
const ALLOCATIONS: u32 = 4;
const TREE: u32 = 8;
const TRACE: u32 = 10;
const REGION_TIMINGS: u32 = 12;
const PAUSES: u32 = 20;
const SAMPLED: u64 = 1;
const HEADER: u64 = 64;
/// A node that has no head, none of its calls being timed.
const NO_HEAD: u64 = u64::MAX;

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A node of a sampled tree: id, entries and exits, ns, squares, and the words 12 to 15: timed, covered, head, variance.
fn sampled(id: u64, calls: u64, ns: u64, squares: f64, words: [u64; 4]) -> [u64; 16] {
    let [timed, covered, head, variance] = words;
    let (min, max) = (1, 500);
    [id + 1, calls, calls, ns, min, max, squares.to_bits(), 0, 0, 0, 0, 0, timed, covered, head, variance]
}

/// The nodes of a sampled tree of a file of some version, and the profile.
fn read_sampled(version: u64, nodes: &[[u64; 16]]) -> (Vec<TreeNode>, Profile) {
    let mut writer = Writer::new();
    writer.word(8, version | 4096 << 32);
    let at = writer.region(TREE, 1, &[0, SAMPLED], &bytes(nodes.as_flattened()));
    writer.thread("main", &ThreadFacts::default(), at, 0);
    let profile = Profile::parse(&writer.finish()).unwrap();
    (profile.threads[0].tree.clone().expect("a tree").nodes, profile)
}

#[test]
fn a_context_of_which_no_call_was_timed_has_the_times_of_the_others() {
    // Two calls of 10 ns each were the first to be timed, each of a context with 5 calls.
    let known = |first: u64| sampled(1, 5, 50, 5.0 * 100.0, [1, 5, !first, 0]);
    let (nodes, profile) =
        read_sampled(4, &[known(10), known(10), sampled(1, 3, 0, 0.0, [0, 0, NO_HEAD, 0])]);
    assert_eq!(profile.damage, []);
    assert_eq!(
        nodes.iter().map(|n| (n.entries, n.ns, n.timed)).collect::<Vec<_>>(),
        [(5, 50, 1), (5, 50, 1), (3, 30, 0)]
    );
    assert!(profile.threads[0].tree.as_ref().unwrap().sampled);
    // One that is open has no call that ended, and another without times but with a head has had no call at all.
    let (nodes, _) = read_sampled(
        4,
        &[known(10), sampled(1, 0, 0, 0.0, [0, 0, NO_HEAD, 0]), sampled(1, 0, 0, 0.0, [0; 4])],
    );
    assert_eq!(nodes.iter().map(|n| n.ns).collect::<Vec<_>>(), [50, 0, 0]);
}

#[test]
fn the_last_call_of_a_head_stands_for_those_behind_it() {
    // 16 calls of 100 ns, all of them in the head; 4 more calls have ended since.
    let squares = 16.0 * 100.0 * 100.0;
    let (nodes, _) = read_sampled(4, &[sampled(1, 20, 0, squares, [16, 16, 1600, 0])]);
    assert_eq!((nodes[0].ns, nodes[0].variance), (2000, 0.0));
    assert_eq!(nodes[0].sum_squares, squares + 4.0 * 100.0 * 100.0);
    // Calls that differ: of 0 and 200 ns, which is a variance of 10,000 for each of the 4, and their mean's.
    let (nodes, _) = read_sampled(4, &[sampled(1, 20, 0, 2.0 * squares, [16, 16, 1600, 0])]);
    assert_eq!((nodes[0].ns, nodes[0].variance), (2000, 1e4 * 4.0 * (1.0 + 4.0 / 16.0)));
}

#[test]
fn sampled_times_of_the_first_versions_are_not_read() {
    for (version, readable) in [(2, false), (3, true), (4, true)] {
        let (nodes, profile) = read_sampled(version, &[sampled(1, 5, 500, 5e4, [5, 5, 0, 0])]);
        assert_eq!((profile.damage.is_empty(), nodes[0].ns != 0), (readable, readable), "{version}");
        assert_eq!((nodes[0].entries, nodes[0].closes.exits), (5, 5), "counts are the same in all of them");
    }
}

#[test]
fn every_event_is_read_as_it_is_written() {
    for kind in 1..=15u64 {
        // Of one kind the number is not used.
        let number = if kind == 8 { 0 } else { 5 };
        let word = kind << 60 | number << 34 | 72;
        let (event, ns) = Event::decode(word);
        assert!(!matches!(event, Event::Unknown(_)), "{kind}");
        assert_eq!(event.encode(ns), Some(word), "{event:?}");
    }
    assert_eq!(Event::decode(7), (Event::Unknown(7), 0));
    assert_eq!(Event::decode(15 << 60 | 9), (Event::Later(9), 0));
    // What has no room is no event.
    assert_eq!(
        [Event::Entry(1 << 26).encode(0), Event::Exit(1).encode(1 << 34), Event::Pause(1 << 60).encode(0)],
        [None; 3]
    );
    assert_eq!(
        [
            Event::Surplus(1, 0).encode(1),
            Event::Made { class: 1, bytes: 8 }.encode(1),
            Event::Pause(1).encode(1)
        ],
        [None; 3]
    );
}

#[test]
fn the_virtual_machines_work_has_names() {
    let named =
        [(LinkKind::ClassLoading, "(class loading)"), (LinkKind::DynamicLinking, "(invokedynamic linking)")];
    for (kind, name) in named {
        assert_eq!(kind.machine_work(), Some(name));
    }
    for kind in
        [LinkKind::Start, LinkKind::HandOver, LinkKind::RemoteCall, LinkKind::Served, LinkKind::Other(9)]
    {
        assert_eq!(kind.machine_work(), None);
    }
}

#[test]
fn timings_without_room_for_passages_have_their_sums() {
    let timing = RegionTiming {
        copy: 1,
        thread: 1,
        number: 2,
        passages: 10,
        ns: 55,
        min: 1,
        max: 10,
        ..Default::default()
    };
    let mut writer = Writer::new();
    writer.region(REGION_TIMINGS, 1, &[2, 10, 55, 1, 10, 0], &[]);
    // As many passages as the ring has places, and one more.
    writer.region(REGION_TIMINGS, 1, &[3, 4, 10, 1, 4, 0], &bytes(&[101, 1, 102, 2, 103, 3, 104, 4]));
    writer.region(REGION_TIMINGS, 1, &[4, 5, 15, 1, 5, 0], &bytes(&[105, 5, 102, 2, 103, 3, 104, 4]));
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!(profile.damage, []);
    assert_eq!(profile.regions[0], timing);
    let passages = |numbers: std::ops::RangeInclusive<u64>| -> Vec<_> {
        numbers.map(|k| Passage { clock: 100 + k, ns: k }).collect()
    };
    assert_eq!((&profile.regions[1].last, &profile.regions[2].last), (&passages(1..=4), &passages(2..=5)));
}

#[test]
fn pauses_end_with_the_first_that_did_not_begin() {
    let mut writer = Writer::new();
    writer.region(PAUSES, 0, &[], &bytes(&[10, 20, 30, 0, 0, 0, 50, 60]));
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!(profile.pauses.iter().map(|p| (p.start, p.end)).collect::<Vec<_>>(), [(10, 20), (30, 0)]);
}

/// A region of counts: the words of its shadow stack, then records of 8 words.
fn counts(stack: &[u64], records: &[[u64; 8]]) -> Profile {
    let mut writer = Writer::new();
    let body = [stack, records.as_flattened()].concat();
    let at = writer.region(COUNTS, 1, &[stack.len() as u64], &bytes(&body));
    writer.thread("main", &ThreadFacts::default(), at, 0);
    Profile::parse(&writer.finish()).unwrap()
}

#[test]
fn records_end_with_their_region() {
    let stack = [8 << 32, 1 << 63 | 9 << 32, 0, 9 << 32, 0, 0, 0, 0];
    let record = |id: u64| [id + 1, 6, 1, 2, 1, 1, 4, 0];
    let unused = [6, 0, 0, 0, 0, 0, 0, 0];
    let profile = counts(&stack, &[record(7), unused, record(8), [0; 8], record(9)]);
    assert_eq!(profile.damage, []);
    let main = &profile.threads[0];
    assert_eq!(main.stack.iter().map(|f| (f.id, f.pending)).collect::<Vec<_>>(), [(7, false), (8, true)]);
    assert_eq!(
        main.methods.keys().copied().collect::<Vec<_>>(),
        [7, 8],
        "a record of nothing but 0 is the end, and one without counts is of no call"
    );
    assert_eq!(
        (
            main.methods[&8].entries,
            main.methods[&8].closes.total(),
            main.methods[&8].unmatched,
            main.methods[&8].open
        ),
        (6, 5, 4, 1)
    );
    // The stack may be all that there is room for, but no more than that.
    assert_eq!(counts(&stack, &[]).damage, []);
    let mut writer = Writer::new();
    let at = writer.region(COUNTS, 1, &[9], &bytes(&stack));
    writer.thread("main", &ThreadFacts::default(), at, 0);
    assert_eq!(Profile::parse(&writer.finish()).unwrap().damage[0].reason, "the shadow stack is cut off");
    // Half a record is named where it is.
    let profile = counts(&stack[..4], &[record(7), record(8)]);
    assert_eq!(
        profile.damage.iter().map(|d| (d.structure, d.reason.as_str())).collect::<Vec<_>>(),
        [("record", "it is cut off")]
    );
    // No method has such an id.
    let wrong = counts(&stack, &[[0x8000_0000, 1, 1, 0, 0, 0, 0, 0]]);
    assert_eq!(
        (wrong.damage[0].structure, wrong.damage[0].reason.as_str()),
        ("record", "method id 2147483647")
    );
}

#[test]
fn allocations_name_the_method_that_made_them() {
    let mut writer = Writer::new();
    let at = writer.region(ALLOCATIONS, 1, &[], &bytes(&[4 << 32 | 1, 10, 2, 20, 0, 0, 3, 30]));
    writer.thread("main", &ThreadFacts::default(), 0, at);
    let profile = Profile::parse(&writer.finish()).unwrap();
    let made =
        profile.threads[0].allocations.iter().map(|a| (a.method, a.class, a.count)).collect::<Vec<_>>();
    assert_eq!(made, [(Some(3), 1, 10), (None, 2, 20)]);
}

#[test]
fn what_two_threads_point_to_belongs_to_the_first() {
    let mut writer = Writer::new();
    let at = writer.region(COUNTS, 1, &[0], &bytes(&[8, 1, 1, 0, 0, 0, 0, 0]));
    writer.thread("first", &ThreadFacts::default(), at, 0);
    writer.thread("second", &ThreadFacts::default(), at, 0);
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!(profile.threads.iter().map(|t| t.methods.len()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(profile.damage[0].reason, format!("the region at {at:#x} has another owner"));
}

#[test]
fn pieces_of_threads_that_are_not_there_are_named_by_the_first() {
    let mut writer = Writer::new();
    let orphan = writer.region(TRACE, 5, &[1, 1000], &bytes(&[1 << 60]));
    writer.region(TRACE, 5, &[2, 1000], &bytes(&[1 << 60]));
    let profile = Profile::parse(&writer.finish()).unwrap();
    let damage = &profile.damage[0];
    assert_eq!((damage.offset, damage.reason.as_str()), (orphan, "the threads of 2 pieces are not there"));
}

/// It gives one byte at a time, and every other call is interrupted.
struct Interrupted {
    data: Vec<u8>,
    calls: Cell<usize>,
}

impl Source for Interrupted {
    fn size(&self) -> io::Result<u64> {
        self.data.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() % 2 == 1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let some = buffer.len().min(100);
        self.data.read_at(offset, &mut buffer[..some])
    }
}

#[test]
fn an_interrupted_source_is_read_to_its_end() {
    let mut writer = Writer::new();
    writer.property("record", "counts").class_names(&[(1, "java.lang.Object")]);
    let data = writer.finish();
    let source = Interrupted { data: data.clone(), calls: Cell::new(0) };
    let mut all = vec![0; data.len() + 10];
    assert_eq!(source.fill_at(0, &mut all).unwrap(), data.len());
    assert!(all.starts_with(&data));
    let profile = Profile::open(&source).unwrap();
    assert_eq!(
        (profile.copies[&1].properties["record"].as_str(), profile.copies[&1].class_names.len()),
        ("counts", 1)
    );
}

#[test]
fn a_part_of_the_waits_has_these_waits() {
    let wait = |k: u32| Wait {
        copy: 1,
        kind: WaitKind::Contended,
        thread: k,
        start: u64::from(k),
        end: u64::from(k) + 1,
        monitor: 1,
        class: 1,
        context: 0,
        owner: 0,
        timeout: 0,
        timed_out: false,
    };
    let all = (1..=10).map(wait).collect::<Vec<_>>();
    let mut writer = Writer::new();
    writer.waits(&all);
    let data = writer.finish();
    let profile = Profile::parse(&data).unwrap();
    let piece = profile.waits[0];
    assert_eq!((piece.count, piece.offset % HEADER), (10, 0));
    for (from, count, expected) in
        [(0, 3, 0..3), (3, 4, 3..7), (8, 9, 8..10), (10, 1, 10..10), (99, 1, 10..10)]
    {
        let mut part = Vec::new();
        piece.part(from, count).for_each(&data, &mut |wait| part.push(*wait)).unwrap();
        assert_eq!(part, all[expected], "{from}, {count}");
    }
}

/// A thread of which all calls that returned are counted together: its shadow stack, how many returned, and its records.
fn returning(stack: &[u64], returns: u64, records: &[[u64; 8]]) -> Profile {
    let mut writer = Writer::new();
    let mut body = stack.to_vec();
    body.resize(8, 0);
    body.extend(records.as_flattened());
    let at = writer.region(COUNTS, 1, &[8, 1, returns], &bytes(&body));
    writer.thread("main", &ThreadFacts::default(), at, 0);
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!(profile.damage, []);
    profile
}

fn exits(profile: &Profile) -> Vec<u64> {
    profile.threads[0].methods.values().map(|method| method.closes.exits).collect()
}

#[test]
fn calls_that_returned_are_those_that_neither_ended_in_another_way_nor_are_open() {
    // Entries, exits, unwinds, aborted, unclosed, unmatched, open.
    let records = [[6, 20, 0, 1, 2, 3, 100, 4], [8, 7, 0, 0, 0, 0, 0, 0]];
    let profile = returning(&[8 << 32, 6 << 32], 15, &records);
    assert_eq!(exits(&profile), [9, 6]);
    assert_eq!((profile.in_flight(), profile.imbalances()), (0, vec![]));
}

#[test]
fn an_event_that_was_being_written_is_one_of_the_topmost_frame() {
    // The frame is there, its entry not yet counted; or its end is counted, and it is still there.
    let profile = returning(&[8 << 32, 6 << 32], 15, &[[6, 10, 0, 0, 0, 0, 0, 0], [8, 6, 0, 0, 0, 0, 0, 0]]);
    assert_eq!(exits(&profile), [10, 5]);
    assert_eq!((profile.in_flight(), profile.imbalances()), (1, vec![]));
    // The first call of its method.
    let profile = returning(&[8 << 32, 6 << 32], 5, &[[6, 0, 0, 0, 0, 0, 0, 0], [8, 6, 0, 0, 0, 0, 0, 0]]);
    assert_eq!(exits(&profile), [0, 5]);
    assert_eq!((profile.in_flight(), profile.imbalances()), (1, vec![]));
}

#[test]
fn more_or_fewer_calls_that_returned_than_the_methods_have_are_a_violation() {
    let records = [[6, 10, 0, 0, 0, 0, 0, 0], [8, 6, 0, 0, 0, 0, 0, 0]];
    for (stack, returns, excess) in
        [(&[][..], 15, -1), (&[], 17, 1), (&[6 << 32], 17, 2), (&[6 << 32], 14, -1)]
    {
        let profile = returning(stack, returns, &records);
        assert_eq!(profile.threads[0].excess_exits, excess);
        let [imbalance] = profile.imbalances()[..] else { panic!("{:?}", profile.imbalances()) };
        assert_eq!((imbalance.consumer, imbalance.method.entries), (None, 16));
        assert_eq!((imbalance.method.closes.exits, profile.in_flight()), (returns, 0));
    }
}

/// The figures of a thread are moved to those of its pool one by one: only together do they say what returned.
#[test]
fn calls_that_returned_of_a_thread_that_is_being_added_to_others_are_known_together() {
    const ENDED: u32 = 2;
    const FOLDING: u64 = 4;
    let mut writer = Writer::new();
    // All entries have been moved, the calls that unwound and those that returned have not.
    let sum = writer.region(COUNTS, 0, &[0, 1, 4], &bytes(&[6, 15, 0, 1, 0, 0, 0, 0]));
    writer.region(ENDED, 0, &[sum], &bytes(&[0; 24]));
    let part = writer.region(COUNTS, 1, &[0, 1, 8], &bytes(&[6, 0, 0, 2, 0, 0, 0, 0]));
    writer.region(1, 1, &[part, 0, 0, FOLDING], &bytes(&[0; 24]));
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!((&profile.damage[..], profile.threads.len(), exits(&profile)), (&[][..], 1, vec![12]));
    assert_eq!(profile.imbalances(), []);
}
