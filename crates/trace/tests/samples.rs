//! Trees with samples.

use instrument_testing::{Recorded, Script, ThreadFacts, Writer};
use instrument_trace::{NO_MIN, Profile, SampleSource, ThreadKind, ThreadSamples, TreeConsumer};

fn of_thread() -> ThreadSamples {
    ThreadSamples {
        period_ns: 1_000_000,
        source: SampleSource::Perf,
        user_only: true,
        signal_taken: true,
        squares: 95,
        cpu_ns: 50_000_000,
        in_probes: 20,
        in_no_call: 3,
        unattributed: 1,
        in_vm: 4,
        handler_ns: 900,
    }
}

/// Method 1 calls 2, which is met 15 times, and 3, which blocks: for 70 ns, then for 10, then still.
fn script() -> Script {
    let call = |script: Script, ns: u64| script.call(3, |s| s.wait(ns));
    let script = Script::new(1000).samples(2).enter(1).samples(7).call(2, |s| s.wait(500).samples(15));
    call(call(script, 70).samples(1), 10).enter(3).samples(4).wait(25)
}

#[test]
fn samples_and_the_times_of_calls_that_block_are_read() {
    for pieces in [0, 2] {
        let mut writer = Writer::new();
        if pieces > 0 {
            writer.in_pieces(pieces);
        }
        writer.samples("main", &script(), &[3], &of_thread());
        let profile = Profile::parse(&writer.finish()).unwrap();
        assert_eq!(profile.damage, []);
        let thread = &profile.threads[0];
        assert_eq!(thread.samples, Some(ThreadSamples { in_no_call: 5, ..of_thread() }));
        assert_eq!(thread.samples.unwrap().outside(), 20 + 5 + 1);
        let tree = thread.tree.as_ref().unwrap();
        assert!(tree.has_samples && !tree.sampled && !tree.cpu);
        let nodes = tree.nodes.iter();
        let nodes = nodes.map(|n| (n.consumer.method().unwrap(), n.entries, n.samples, n.timed, n.ns));
        assert_eq!(nodes.collect::<Vec<_>>(), [(1, 1, 8, 0, 0), (2, 1, 15, 0, 0), (3, 3, 4, 2, 80)]);
        let blocks = &tree.nodes[2];
        assert_eq!((blocks.min, blocks.max, blocks.sum_squares), (10, 70, 5000.0));
        assert_eq!((tree.nodes[1].min, tree.nodes[1].max, tree.nodes[1].cpu_ns), (NO_MIN, 0, 0));
        // Only the frame of the call that blocks has a clock.
        let since: Vec<_> = thread.stack.iter().map(|frame| frame.since).collect();
        assert_eq!(since, [0, 1580]);
        let mut thread = thread.clone();
        thread.measure_open(1600);
        let open: Vec<_> = thread.tree.unwrap().nodes.iter().map(|node| node.open_ns).collect();
        assert_eq!(open, [0, 0, 20]);
        assert_eq!((profile.imbalances(), profile.in_flight()), (vec![], 0));
    }
}

/// Recorders guess which node is entered next by two words of a node; what was there lies elsewhere.
#[test]
fn words_that_lie_elsewhere_are_found() {
    let mut writer = Writer::new();
    writer.samples("main", &script(), &[3], &of_thread());
    let mut data = writer.finish();
    let word = |data: &[u8], at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
    let tree = (4096 + 64..data.len()).step_by(64).find(|&at| word(&data, at) as u32 == 8).unwrap();
    let first = tree + 64 + 8 * word(&data, tree + 16) as usize;
    let mut put = |at: usize, value: u64| data[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(tree + 24, 32 | 16);
    for node in 0..3 {
        // Followers, followers, unclosed and unmatched, squares.
        for (at, value) in [(48, 7 << 14), (56, 9 << 39), (80, 5 << 32 | 2), (88, f64::to_bits(81.0))] {
            put(first + 128 * node + at, value);
        }
    }
    let profile = Profile::parse(&data).unwrap();
    let nodes = &profile.threads[0].tree.as_ref().unwrap().nodes;
    assert!(nodes.iter().all(|n| (n.closes.unclosed, n.unmatched, n.sum_squares) == (2, 5, 81.0)));
    assert_eq!(nodes.iter().map(|n| (n.samples, n.timed)).collect::<Vec<_>>(), [(8, 0), (15, 0), (4, 2)]);
}

#[test]
fn a_thread_that_was_being_folded_brings_its_samples() {
    let mut writer = Writer::new();
    let facts = ThreadFacts { flags: 4, ..ThreadFacts::default() };
    let recorded = script().record_samples(&[3]);
    writer.recorded("worker", &facts, &recorded);
    writer.thread_samples(1, &of_thread());
    let sum = Script::new(1).call(2, |s| s.samples(30)).record_samples(&[]);
    writer.ended(2, &sum);
    writer.thread_samples(0, &ThreadSamples { cpu_ns: 7, in_vm: 0, ..of_thread() });
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!(profile.damage, []);
    let [all] = &profile.threads[..] else { panic!("one thread") };
    assert_eq!(all.kind, ThreadKind::Ended(2));
    let samples = all.samples.unwrap();
    assert_eq!((samples.cpu_ns, samples.in_probes, samples.in_vm), (50_000_007, 40, 4));
    assert_eq!((samples.period_ns, samples.source), (1_000_000, SampleSource::Perf));
    let nodes = &all.tree.as_ref().unwrap().nodes;
    assert_eq!(nodes.iter().map(|node| (node.samples, node.timed)).sum_pair(), (30 + 8 + 15 + 4, 2));
    assert_eq!(nodes[3].open_ns, 0, "it ended with its last event");
}

trait SumPair {
    fn sum_pair(self) -> (u64, u64);
}

impl<I: Iterator<Item = (u64, u64)>> SumPair for I {
    fn sum_pair(self) -> (u64, u64) {
        self.fold((0, 0), |(a, b), (x, y)| (a + x, b + y))
    }
}

#[test]
fn samples_that_are_cut_off_or_of_nobody_are_damage() {
    let mut writer = Writer::new();
    writer.thread_samples(9, &of_thread());
    writer.thread_samples(8, &ThreadSamples { source: SampleSource::Timer, ..ThreadSamples::default() });
    let profile = Profile::parse(&writer.finish()).unwrap();
    let [damage] = &profile.damage[..] else { panic!("{:?}", profile.damage) };
    assert_eq!(
        (damage.structure, &*damage.reason),
        ("thread samples", "the threads of 1 regions are not there")
    );

    let mut writer = Writer::new();
    writer.region(26, 1, &[], &[]);
    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!(
        (profile.damage[0].structure, &*profile.damage[0].reason),
        ("thread samples", "it is cut off")
    );
}

#[test]
fn trees_with_samples_add_up() {
    let one = |n: u64| Script::new(1).call(1, |s| s.samples(n).call(3, |s| s.wait(n))).record_samples(&[3]);
    let Recorded { mut tree, .. } = one(5);
    tree.absorb(&one(6).tree);
    assert!(tree.has_samples);
    assert_eq!(tree.nodes[0].consumer, TreeConsumer::Method(1));
    assert_eq!((tree.nodes[0].samples, tree.nodes[1].timed, tree.nodes[1].ns), (11, 2, 11));
}
