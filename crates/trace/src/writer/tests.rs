use super::*;
use crate::{Closes, ContextDurations, LinkKind, Profile, SampleSource, ThreadKind, TreeConsumer, TreeNode};
use std::io::Cursor;

fn node(consumer: TreeConsumer, parent: u32, n: u64) -> TreeNode {
    TreeNode {
        entries: n + 6,
        closes: Closes { exits: n, unwinds: 1, aborted: 2, unclosed: 3 },
        unmatched: 4,
        open: 0,
        ns: 10 * n,
        min: n,
        max: 9 * n,
        sum_squares: n as f64 * 0.5,
        cpu_ns: 7 * n,
        open_ns: 5,
        bytecodes: n % 3,
        ..TreeNode::new(consumer, parent)
    }
}

fn tree() -> Tree {
    let tree = Tree {
        cpu: true,
        nodes: vec![
            node(TreeConsumer::Method(4), 0, 100),
            node(TreeConsumer::Link(1), 0, 50),
            node(TreeConsumer::Method(4), 1, 90),
            node(TreeConsumer::Deeper, 0, 0),
            node(TreeConsumer::Method(9), 4, 8),
        ],
        ..Tree::default()
    };
    let mut kept = ContextDurations { threshold: Some(50), over: 2, ..ContextDurations::default() };
    (0..40).for_each(|n| kept.returned.add(3 << n));
    kept.failed.add(0);
    let open = ContextDurations::default();
    let durations = BTreeMap::from([(3, kept), (5, open)]);
    Tree { durations, durations_left_out: 4, recursive: 6, ..tree }
}

#[test]
fn sums_are_read_as_they_were_written() {
    let tree = tree();
    let made = [(3, 11, 800), (0, 1, 16)];
    let made = made.map(|(node, count, bytes)| TreeAllocation { node, class: 1, count, bytes });
    let sampled = TreeNode { timed: 3, variance: 2.5, cpu_ns: 0, ..node(TreeConsumer::Method(4), 0, 7) };
    let estimated = Tree { sampled: true, nodes: vec![sampled], ..Tree::default() };
    let met = TreeNode { timed: 3, samples: 70, cpu_ns: 0, ..node(TreeConsumer::Method(4), 0, 7) };
    let sampled = Tree { has_samples: true, nodes: vec![met], ..Tree::default() };
    let samples = ThreadSamples {
        period_ns: 1_000_000,
        source: SampleSource::Timer,
        user_only: true,
        signal_taken: true,
        squares: 95,
        cpu_ns: 90_000_000,
        in_probes: 11,
        in_no_call: 7,
        unattributed: 2,
        in_vm: 5,
        handler_ns: 1234,
    };
    let methods = BTreeMap::from([(4, tree.nodes[0].counts()), (9, tree.nodes[4].counts())]);
    let of_methods = [Allocation { method: Some(9), class: 1, count: 5 }];
    let link = Link { copy: 1, number: 1, kind: LinkKind::HandOver, thread: 1, node: 3, clock: 0 };
    let properties = BTreeMap::from([("name".to_owned(), "a\\b\nc".to_owned())]);

    let mut writer = Writer::new(Cursor::new(Vec::new())).unwrap();
    writer.properties(&properties).unwrap();
    writer.class_names(&[(1, "A"), (2, "[Ljava.lang.String;")]).unwrap();
    let name = "pool-*";
    assert_eq!(writer.sum(name, 12, Sum::Tree(&tree, &made)).unwrap(), 1);
    assert_eq!(writer.sum(&"x".repeat(96), 1, Sum::Tree(&estimated, &[])).unwrap(), 2);
    assert_eq!(writer.sum("", 2, Sum::Counts(&methods, &of_methods)).unwrap(), 3);
    assert_eq!(writer.sum("s", 2, Sum::Tree(&sampled, &[])).unwrap(), 4);
    writer.samples(4, &samples).unwrap();
    assert!(writer.sum(&"x".repeat(97), 1, Sum::Counts(&methods, &[])).is_err());
    writer.links(&[link]).unwrap();
    let met: BTreeMap<_, _> = methods.iter().map(|(&id, of)| (id, Method { samples: 40, ..*of })).collect();
    assert_eq!(writer.sum("counts", 2, Sum::Counts(&met, &[])).unwrap(), 5);
    writer.samples(5, &samples).unwrap();
    let about = About { nonce: 5, start_ms: 6, dropped: 7, has_ended: true };
    let file = writer.finish(&about).unwrap().into_inner();

    let profile = Profile::parse(&file).unwrap();
    assert!(profile.damage.is_empty() && !profile.is_cut, "{:?}", profile.damage);
    assert_eq!((profile.nonce, profile.start_ms, profile.dropped, profile.pid), (5, 6, 7, 0));
    assert!(profile.shutdown_clock != 0);
    assert_eq!(profile.copies[&1].properties, properties);
    assert_eq!(profile.copies[&1].class_names[&2], "[Ljava.lang.String;");
    assert_eq!(profile.links, [link]);
    let [first, second, third, fourth, fifth] = &profile.threads[..] else { panic!("{:?}", profile.threads) };
    assert_eq!((&*first.name, first.kind), (name, ThreadKind::Ended(12)));
    assert_eq!((first.tree.as_ref(), &first.tree_allocations[..]), (Some(&tree), &made[..]));
    assert_eq!((second.name.len(), second.tree.as_ref()), (96, Some(&estimated)));
    assert_eq!((&third.methods, &third.allocations[..]), (&methods, &of_methods[..]));
    assert!(third.tree.is_none());
    assert_eq!((fourth.tree.as_ref(), fourth.samples), (Some(&sampled), Some(samples)));
    // Exits are what their balance leaves.
    let whole = |of: &Method| {
        let exits = (of.balance() + i128::from(of.closes.exits)) as u64;
        Method { closes: Closes { exits, ..of.closes }, ..*of }
    };
    let met: BTreeMap<_, _> = met.iter().map(|(&id, of)| (id, whole(of))).collect();
    assert_eq!((&fifth.methods, fifth.samples), (&met, Some(samples)));
    assert!(Profile::parse(&file[..file.len() / 2]).is_ok_and(|profile| profile.is_cut));
}

#[test]
fn samples_are_replaced_and_everything_else_stays() {
    let node = |id, samples| TreeNode { entries: 9, samples, ..TreeNode::new(TreeConsumer::Method(id), 0) };
    let tree = Tree { has_samples: true, nodes: vec![node(4, 70), node(5, 0)], ..Tree::default() };
    let of_thread = ThreadSamples {
        period_ns: 1000,
        cpu_ns: 97_000,
        in_probes: 20,
        in_no_call: 7,
        ..ThreadSamples::default()
    };
    let path = std::env::temp_dir().join(format!("replaced-{}.iprof", std::process::id()));
    let mut writer = Writer::new(File::create(&path).unwrap()).unwrap();
    writer.sum("main", 1, Sum::Tree(&tree, &[])).unwrap();
    writer.samples(1, &of_thread).unwrap();
    writer.finish(&About { nonce: 5, has_ended: true, ..About::default() }).unwrap();

    let open = || File::options().read(true).write(true).open(&path).unwrap();
    let other = TreeNode { entries: 0, ..node(5, 33) };
    let other = Tree { nodes: vec![other], ..tree.clone() };
    let mut writer = Writer::replacing_samples(open(), 1, |_, _| 1000.0).unwrap();
    assert_eq!(writer.sum("main", 0, Sum::Tree(&other, &[])).unwrap(), 2);
    writer.samples(2, &ThreadSamples { in_probes: 0, ..of_thread }).unwrap();
    writer.properties(&BTreeMap::from([("a".to_owned(), "b".to_owned())])).unwrap();
    let before = Profile::open(&open()).unwrap();
    assert_eq!(
        (before.threads.len(), before.threads[0].samples),
        (1, Some(of_thread)),
        "nothing is half done"
    );
    writer.replace().unwrap();

    let profile = Profile::open(&open()).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(profile.damage.is_empty() && !profile.is_cut, "{:?}", profile.damage);
    let [first, second] = &profile.threads[..] else { panic!("{:?}", profile.threads) };
    let figures =
        |tree: &Tree| tree.nodes.iter().map(|node| (node.entries, node.samples)).collect::<Vec<_>>();
    assert_eq!(figures(first.tree.as_ref().unwrap()), [(9, 0), (9, 0)]);
    let of_probes = ThreadSamples { cpu_ns: 20_000, in_no_call: 0, ..of_thread };
    assert_eq!((first.samples, first.kind), (Some(of_probes), ThreadKind::Ended(1)), "the probes stay");
    assert_eq!(figures(second.tree.as_ref().unwrap()), [(0, 33)]);
    assert_eq!((second.samples.unwrap().cpu_ns, second.kind), (97_000, ThreadKind::Ended(0)));
    assert_eq!(profile.copies[&1].properties["a"], "b");
    assert!(Writer::replacing_samples(File::open("/dev/null").unwrap(), 1, |_, _| 0.0).is_err());
}
