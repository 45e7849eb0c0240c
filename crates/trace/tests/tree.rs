//! The reader over trees, traces, links and timings, whole and cut.

use std::fs;
use std::path::{Path, PathBuf};

use instrument_testing::{Recorded, Script, ThreadFacts, Writer};
use instrument_trace::{
    Calibration, CpuCost, Event, Frame, Link, LinkKind, Method, Mode, Passage, Phase, Profile, RegionTiming,
    Source, ThreadKind, TreeConsumer,
};

/// Everything that a tree can have: constructors that fail, frames that are unclosed, unmatched events, links, open frames.
fn script() -> Script {
    Script::new(5000)
        .enter(1)
        .times(3, |s| s.call(2, |s| s.wait(20).call(3, |s| s.wait(5).make(1, 24))))
        .construct(4)
        .wait(7)
        .caught(1)
        .construct(4)
        .super_returned(4)
        .unwind(4)
        .enter_link(9)
        .call(2, |s| s.wait(100).make(2, 0).make_link(3))
        .leave_link(9)
        .pause(50)
        .enter(6)
        .wait(1)
        .exit(77)
        .enter(2)
        .enter(3)
        .wait(9)
        .exit(2)
        .construct(5)
        .wait(4)
}

fn timing() -> RegionTiming {
    let last = (7..=10).map(|k| Passage { clock: 5000 + k, ns: k }).collect();
    let figures = RegionTiming { copy: 1, thread: 1, number: 2, passages: 10, ns: 55, ..Default::default() };
    RegionTiming { min: 1, max: 10, left_otherwise: 1, last, ..figures }
}

fn links() -> Vec<Link> {
    let link = Link { copy: 1, number: 9, kind: LinkKind::HandOver, thread: 1, node: 2, clock: 0 };
    vec![link, Link { number: 3, kind: LinkKind::Start, thread: 2, node: 0, clock: 5123, ..link }]
}

fn writer(mode: &str) -> Writer {
    let mut writer = Writer::new();
    writer.property("record", mode).property("region.2", "a.B#c").clocks(6000, 7000);
    writer.property("calibration.inner", "10.5").property("calibration.outer", "30");
    writer.class_names(&[(1, "java.lang.Object"), (2, "[I")]);
    writer
}

fn tree_file() -> Vec<u8> {
    fill_tree_file(writer("tree"))
}

/// The same, as it is written since version 2: pieces of 3 nodes.
fn tree_file_in_pieces() -> Vec<u8> {
    let mut writer = writer("tree");
    writer.in_pieces(3);
    fill_tree_file(writer)
}

fn fill_tree_file(mut writer: Writer) -> Vec<u8> {
    writer.tree("main", &script());
    writer.tree("worker", &Script::new(5100).call(8, |s| s.wait(3)));
    writer.ended(2, &Script::new(5200).call(8, |s| s.wait(4).call(3, |s| s)).enter(8).record());
    writer.links(&links()).region_timing(&timing());
    writer.finish()
}

fn trace_file() -> Vec<u8> {
    let mut writer = writer("trace");
    writer.trace("main", &script(), 8);
    writer.trace("worker", &Script::new(5100).call(8, |s| s.wait(1 << 35)), 8);
    writer.links(&links());
    writer.finish()
}

fn pinned(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles").join(name)
}

/// The pinned files are those of the writer; `BLESS=1` writes them anew.
#[test]
fn pinned_files_are_up_to_date() {
    for (name, data) in [
        ("v1-tree.iprof", tree_file()),
        ("v1-trace.iprof", trace_file()),
        ("v2-tree.iprof", tree_file_in_pieces()),
    ] {
        if std::env::var_os("BLESS").is_some() {
            fs::write(pinned(name), &data).unwrap();
        }
        assert!(fs::read(pinned(name)).unwrap() == data, "{name} is not what the writer writes");
    }
}

#[test]
fn a_tree_is_read() {
    for data in [tree_file(), tree_file_in_pieces()] {
        check_tree(&Profile::parse(&data).unwrap());
    }
}

fn check_tree(profile: &Profile) {
    assert_eq!(profile.damage, []);
    assert_eq!((profile.start_clock, profile.beat_clock, profile.shutdown_clock), (1000, 6000, 7000));
    assert_eq!(profile.mode(), Some(Mode::Tree));
    let calibration = Calibration { inner: 10.5, outer: 30.0, ..Calibration::default() };
    assert_eq!(profile.calibration(), Some(calibration));
    assert_eq!(profile.links, links());
    assert_eq!(profile.regions, [timing()]);
    assert_eq!(profile.copies[&1].region_name(2), Some("a.B#c"));

    let [ended, main, worker] = &profile.threads[..] else { panic!("three threads") };
    let Recorded { tree, stack, allocations, last_event, pause, .. } = script().record();
    assert_eq!(main.tree.as_ref(), Some(&tree));
    assert_eq!((&main.stack, main.last_event, main.pause), (&stack, last_event, pause));
    assert_eq!(main.tree_allocations, allocations);
    assert_eq!(
        main.allocations.iter().map(|a| (a.method, a.count)).collect::<Vec<_>>(),
        [(Some(2), 1), (Some(3), 3)]
    );
    assert_eq!((worker.start, worker.methods[&8].entries), (5100, 1));
    assert_eq!((ended.kind, ended.methods[&8].entries, ended.methods[&8].open), (ThreadKind::Ended(2), 2, 1));
    assert_eq!((profile.imbalances(), profile.in_flight()), (vec![], 0));
}

/// Each phase of the calibration by itself, and whether there were rounds enough.
#[test]
fn a_calibration_is_read() {
    let calibration = |properties: &[(&str, &str)]| {
        let mut writer = Writer::new();
        for (key, value) in properties {
            writer.property(&format!("calibration.{key}"), value);
        }
        Profile::parse(&writer.finish()).unwrap().calibration()
    };
    assert_eq!(calibration(&[("inner", "10")]), None);
    let start =
        [("start.inner", "11"), ("start.outer", "31"), ("start.spread", "2.5"), ("start.rounds", "7")];
    let figures = [("inner", "10"), ("outer", "30"), ("rounds", "19"), ("rounds.least", "20")];
    let cpu = [("cpu.inner", "200"), ("cpu.outer", "300.5"), ("end.inner", "9"), ("end.outer", "NaN")];
    let all = calibration(&[start, figures, cpu].concat()).unwrap();
    assert_eq!(all.start, Some(Phase { inner: 11.0, outer: 31.0, spread: 2.5, rounds: 7 }));
    assert_eq!(all.end, None, "an incomplete phase is none");
    assert_eq!(all.phases().count(), 1);
    assert_eq!(all.cpu, Some(CpuCost { inner: 200.0, outer: 300.5 }));
    assert_eq!((all.rounds, all.least_rounds, all.is_sufficient()), (Some(19), Some(20), false));
    let sufficient = |more: &[(&str, &str)]| {
        calibration(&[&[("inner", "10"), ("outer", "30")], more].concat()).unwrap().is_sufficient()
    };
    assert!(sufficient(&[("rounds", "19"), ("rounds.least", "19")]));
    assert!(sufficient(&[]) && !sufficient(&[("rounds", "1")]), "older files");
}

/// Contexts keep apart what methods add up, and links have contexts of their own.
#[test]
fn contexts_add_up_to_methods() {
    let profile = Profile::parse(&tree_file()).unwrap();
    let main = &profile.threads[1];
    let tree = main.tree.as_ref().unwrap();
    let contexts = tree.nodes.iter().filter(|n| n.consumer == TreeConsumer::Method(2)).collect::<Vec<_>>();
    assert_eq!(
        contexts.iter().map(|n| (n.entries, n.ns, n.min, n.max)).collect::<Vec<_>>(),
        [(3, 75, 25, 25), (1, 100, 100, 100), (1, 9, 9, 9)]
    );
    assert_eq!(main.methods[&2].entries, 5);
    assert_eq!(main.methods[&77], Method { unmatched: 1, ..Method::default() });
    let link = tree.nodes.iter().find(|n| n.consumer == TreeConsumer::Link(9)).unwrap();
    assert_eq!((link.entries, link.closes.exits, link.ns), (1, 1, 100));
    assert!(!main.methods.contains_key(&9));
}

/// Open frames are timed up to a moment of the reader's choice, without what the recorder took.
#[test]
fn open_frames_are_measured() {
    let mut thread = Profile::parse(&tree_file()).unwrap().threads.remove(1);
    let before = thread.tree.clone().unwrap();
    assert!(before.nodes.iter().all(|n| n.open_ns == 0));
    thread.measure_open(thread.last_event);
    let script = script();
    // From 5000 to the last event, which is 4 before the end, less the pause of 50.
    assert_eq!(thread.tree.unwrap().nodes[0].open_ns, script.now - 4 - 5000 - 50);
}

#[test]
fn a_trace_is_located() {
    let data = trace_file();
    let profile = Profile::parse(&data).unwrap();
    assert_eq!((&profile.damage[..], profile.mode()), (&[][..], Some(Mode::Trace)));
    let [main, worker] = &profile.threads[..] else { panic!("two threads") };
    assert!(main.pieces.len() > 3 && main.pieces.is_sorted_by_key(|p| (p.number, p.clock)));
    assert_eq!(main.pieces[0].clock, 5000);
    let mut word = [0; 8];
    assert_eq!(data.read_at(main.pieces[0].offset, &mut word).unwrap(), 8);
    assert_eq!(Event::decode(u64::from_le_bytes(word)), (Event::Entry(1), 0));
    assert_eq!((worker.pieces.len(), worker.pieces[0].length), (1, 64));
    assert!(main.methods.is_empty() && main.tree.is_none());
}

#[test]
fn a_file_is_read_as_memory_is() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("source.iprof");
    for data in [tree_file(), trace_file()] {
        fs::write(&path, &data).unwrap();
        let profile = Profile::open(&fs::File::open(&path).unwrap()).unwrap();
        let same = Profile::parse(&data).unwrap();
        assert_eq!(
            (profile.threads, profile.links, profile.regions),
            (same.threads, same.links, same.regions)
        );
    }
}

struct Failing;

impl Source for Failing {
    fn size(&self) -> std::io::Result<u64> {
        Ok(1 << 20)
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        if offset >= 8192 {
            return Err(std::io::Error::other("a bad sector"));
        }
        let mut header = Writer::new().finish();
        header[4104..4112].copy_from_slice(&8192u64.to_le_bytes());
        header.as_slice().read_at(offset, buffer)
    }
}

#[test]
fn a_failing_medium_is_an_error() {
    let error = Profile::open(&Failing).unwrap_err();
    assert_eq!(error.to_string(), "the profile cannot be read: a bad sector");
}

/// Whatever is left of a file, its figures are never more than those of the whole, and what is missing is said.
#[test]
fn cut_at_every_byte() {
    for data in [tree_file(), tree_file_in_pieces(), trace_file()] {
        let whole = Profile::parse(&data).unwrap();
        let end = data.iter().rposition(|&b| b != 0).unwrap() + 1;
        let mut seen = 0;
        for length in 4096..data.len() {
            let profile = Profile::parse(&data[..length]).unwrap();
            for thread in &profile.threads {
                let full = whole.threads.iter().find(|t| t.ordinal == thread.ordinal).unwrap();
                assert!(full.pieces.starts_with(&thread.pieces[..thread.pieces.len().saturating_sub(1)]));
                for (id, method) in &thread.methods {
                    assert!(method.entries <= full.methods[id].entries, "cut at {length}");
                    seen += 1;
                }
                if let (Some(tree), Some(full)) = (&thread.tree, &full.tree) {
                    assert_eq!(tree.nodes, full.nodes[..tree.nodes.len()], "cut at {length}");
                }
                seen += thread.pieces.len();
            }
            assert!(length < 4096 + 64 || length >= end || !profile.damage.is_empty(), "{length} unnoticed");
        }
        assert!(seen > 1000, "the cuts never left anything");
    }
}

/// A node of which only a part is in the file is none, and is named; so is the end of a region that is no whole node.
#[test]
fn a_tree_that_is_cut_inside_a_node_has_the_nodes_before() {
    const NODE: usize = 128;
    let script = Script::new(1000).call(1, |s| s.wait(5).call(2, |s| s.wait(5).call(3, |s| s.wait(5))));
    let mut writer = Writer::new();
    // The tree is the last region that is there.
    let thread = writer.thread("main", &ThreadFacts::default(), 0, 0);
    let tree = writer.tree_region(1, &script.record().tree, &[], 1015);
    writer.word(thread + 16, tree);
    let data = writer.finish();
    let whole = Profile::parse(&data).unwrap();
    assert_eq!(whole.damage, []);
    let nodes = &whole.threads[0].tree.as_ref().unwrap().nodes;
    // The consumer of the third: its id + 1, called by node 2; then one entry.
    let third = [2u64 << 32 | 4, 1].map(u64::to_le_bytes).concat();
    let at = data.windows(16).position(|word| word == third).expect("the third node");
    for length in at + 8..at + NODE {
        let cut = Profile::parse(&data[..length]).unwrap();
        let read = &cut.threads[0].tree.as_ref().unwrap().nodes;
        assert_eq!(read[..], nodes[..2], "cut at {}", length - at);
        let named =
            cut.damage.iter().any(|damage| damage.structure == "node" && damage.reason == "it is cut off");
        assert!(named, "cut at {}: {:?}", length - at, cut.damage);
    }
    // Cut where it begins, nothing of it is there.
    let cut = Profile::parse(&data[..at]).unwrap();
    assert_eq!(cut.threads[0].tree.as_ref().unwrap().nodes[..], nodes[..2]);
}

/// The node on top may be one entry behind its frame; any other node, or any other difference, is a violation.
#[test]
fn one_event_in_flight_in_a_tree() {
    let recorded = Script::new(1).enter(1).enter(2).wait(1).exit(2).enter(2).record();
    let count = |change: fn(&mut Recorded)| {
        let mut recorded = recorded.clone();
        change(&mut recorded);
        let mut writer = Writer::new();
        writer.recorded("main", &ThreadFacts::default(), &recorded);
        let profile = Profile::parse(&writer.finish()).unwrap();
        assert_eq!(profile.damage, []);
        (profile.in_flight(), profile.imbalances().len())
    };
    assert_eq!(count(|_| {}), (0, 0));
    assert_eq!(count(|r| r.tree.nodes[1].entries -= 1), (1, 0));
    assert_eq!(count(|r| r.tree.nodes[1].closes.exits += 1), (1, 0));
    assert_eq!(count(|r| r.tree.nodes[1].entries -= 2), (0, 1));
    assert_eq!(count(|r| r.tree.nodes[0].entries -= 1), (0, 1));
    // One too many here, one too few there: the method's sum hides it, the contexts do not.
    let two = |r: &mut Recorded| {
        r.tree.nodes.push(instrument_trace::TreeNode::new(TreeConsumer::Method(2), 2));
        r.tree.nodes[2].entries = 1;
        r.tree.nodes[1].entries -= 1;
    };
    assert_eq!(count(two), (1, 1));
}

/// Pieces that lead to each other, or to nothing, end the tree; so does a number that is none.
#[test]
fn a_chain_of_pieces_that_is_wrong_is_damage() {
    let data = tree_file_in_pieces();
    let whole = Profile::parse(&data).unwrap();
    let at = |offset: u64| u64::from_le_bytes(data[offset as usize..][..8].try_into().unwrap());
    let regions = (4096 + 64..data.len() as u64).step_by(64);
    let pieces = regions.filter(|&r| data[r as usize..][..4] == 21u32.to_le_bytes() && at(r + 24) != 0);
    let pieces = pieces.collect::<Vec<_>>();
    assert!(pieces.len() > 2);
    for (word, value) in [(24, pieces[0]), (24, 4096), (24, u64::MAX), (16, 0), (16, u64::MAX)] {
        let mut wrong = data.clone();
        wrong[(pieces[1] + word) as usize..][..8].copy_from_slice(&value.to_le_bytes());
        let profile = Profile::parse(&wrong).unwrap();
        let nodes = |profile: &Profile| profile.threads[1].tree.as_ref().unwrap().nodes.len();
        assert!(!profile.damage.is_empty() && nodes(&profile) < nodes(&whole), "{word}: {value:x}");
    }
}

#[test]
fn wild_callers_and_frames_are_damage() {
    let recorded = Script::new(1).enter(1).enter(2).wait(1).record();
    let read = |change: fn(&mut Recorded)| {
        let mut recorded = recorded.clone();
        change(&mut recorded);
        let mut writer = Writer::new();
        writer.recorded("main", &ThreadFacts::default(), &recorded);
        Profile::parse(&writer.finish()).unwrap()
    };
    let profile = read(|r| r.tree.nodes[0].parent = 2);
    assert_eq!(profile.damage[0].reason, "1 nodes have callers that are not in front of them");
    assert_eq!(profile.threads[0].tree.as_ref().unwrap().nodes[0].parent, 0);
    let profile = read(|r| {
        r.tree.nodes.pop();
        r.tree.nodes[0].parent = 1;
    });
    assert_eq!(profile.damage.len(), 2, "{:?}", profile.damage);
    assert_eq!(profile.threads[0].stack[1], Frame { id: 2, node: 0, since: 1, ..Frame::default() });
    assert_eq!(profile.threads[0].methods[&2].open, 1);
}

/// A thread that was being folded: what is left of it is added to the ended ones, context by context, and a move that had
/// begun is finished.
#[test]
fn a_fold_that_was_interrupted_is_finished() {
    let sum = Script::new(1).enter(7).wait(2).exit(7).enter(1).wait(30).exit(1).record();
    let mut ending =
        Script::new(1).enter(1).wait(10).call(2, |s| s.wait(4)).exit(1).enter(1).wait(5).enter(2);
    ending = ending.wait(1).make(3, 16);
    let mut part = ending.record();
    // Method 1: its first words have been moved, and its min.
    let (entries, exits) = (part.tree.nodes[0].entries, part.tree.nodes[0].closes.exits);
    (part.tree.nodes[0].entries, part.tree.nodes[0].closes.exits, part.tree.nodes[0].min) = (0, 0, 0);
    let mut sum_now = sum.clone();
    sum_now.tree.nodes[1].entries += entries;
    sum_now.tree.nodes[1].min = 14;
    let mut writer = Writer::new();
    let facts = ThreadFacts { flags: 4, pause: 3, ..ThreadFacts::default() };
    writer.recorded("ending", &facts, &part);
    let ended = writer.ended(1, &sum_now);
    let tree = writer.get(ended + 16);
    // The move of exits had begun: value and target are in the journal, neither is in its place.
    let target = tree + 64 + 8 * writer.get(tree + 16) + 128 + 16;
    assert_eq!(writer.get(target), 1);
    let source = 4096 + 64 + 64 + 8 * writer.get(4096 + 64 + 16) + 16;
    for (i, word) in [1, target, 1 + exits, source].into_iter().enumerate() {
        writer.word(ended + 64 + 8 * i as u64, word);
    }
    writer.word(source, 99);
    writer.links(&[Link { copy: 1, number: 1, kind: LinkKind::Start, thread: 1, node: 2, clock: 0 }]);

    let profile = Profile::parse(&writer.finish()).unwrap();
    assert_eq!(profile.damage, []);
    let [all] = &profile.threads[..] else { panic!("one thread") };
    let nodes = &all.tree.as_ref().unwrap().nodes;
    let figures = |at: usize| {
        let n = &nodes[at];
        (n.consumer, n.parent, n.entries, n.closes.exits, n.open, n.ns, n.min, n.max, n.open_ns)
    };
    assert_eq!(figures(0), (TreeConsumer::Method(7), 0, 1, 1, 0, 2, 2, 2, 0));
    assert_eq!(figures(1), (TreeConsumer::Method(1), 0, 3, 2, 1, 44, 14, 30, 5));
    assert_eq!(figures(2), (TreeConsumer::Method(2), 2, 2, 1, 1, 4, 4, 4, 0));
    assert_eq!((all.pause, all.tree_allocations[0].node), (3, 3));
    assert_eq!((profile.links[0].thread, profile.links[0].node), (0, 3));
    assert_eq!((profile.imbalances(), profile.in_flight()), (vec![], 0));
}
