//! How fast profiles become reports: `cargo bench -p instrument-analysis --bench reports`.
//!
//! Each step is timed five times; the best is printed.

use std::io::sink;
use std::slice;
use std::time::{Duration, Instant};

use instrument_analysis::arcs::Arcs;
use instrument_analysis::load::{self, Loaded, Process};
use instrument_analysis::report::{Format, Options, diff, stats, xarc, xprof, xtree};
use instrument_analysis::{Arcflow, Kind, NodeId, Resource, invariants, replay};
use instrument_testing::{Recorded, Script, ThreadFacts, Writer};
use instrument_trace::Profile;

fn main() {
    javiz(1000);
    javiz(20);
    million();
    deep();
}

fn best<T>(what: &str, mut run: impl FnMut() -> T) -> T {
    let mut fastest = Duration::MAX;
    let mut result = None;
    for _ in 0..5 {
        let start = Instant::now();
        result = Some(run());
        fastest = fastest.min(start.elapsed());
    }
    println!("{:>10.1} ms  {what}", fastest.as_secs_f64() * 1e3);
    result.expect("a result")
}

/// The size of the program that JaViz was measured with: 130 methods, 521,410 calls (seed 000).
fn javiz(rarer: u64) {
    const METHODS: u64 = 130;
    const CALLS: u64 = 521_410;
    let (mut script, mut stack, mut seed, mut calls) = (Script::new(1000), Vec::new(), 1u64, 0);
    while calls < CALLS || !stack.is_empty() {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let random = seed >> 33;
        script = script.wait(20 + random % 50);
        if calls < CALLS && (stack.is_empty() || (stack.len() < 30 && random % 5 > 1)) {
            // Most calls are the usual ones: programs reach a steady state.
            let callee = if (random >> 8) % rarer == 0 { (random >> 20) % 6 } else { 0 };
            let id = ((stack.last().unwrap_or(&0) * 7 + 1 + callee) % METHODS) as u32;
            stack.push(u64::from(id));
            script = script.enter(id);
            calls += 1;
        } else {
            let id = stack.pop().expect("an open frame");
            script = script.exit(id as u32);
        }
    }
    let (mut tree, mut trace) = (Writer::new(), Writer::new());
    trace.trace("main", &script, 100_000);
    let trace = trace.finish();
    let mut profile = Profile::parse(&trace).expect("a profile");
    replay::profile(&trace.as_slice(), &mut profile).expect("a trace");
    let recorded = Recorded { tree: profile.threads[0].tree.take().expect("a tree"), ..Recorded::default() };
    let contexts = recorded.tree.nodes.len();
    tree.recorded("main", &ThreadFacts::default(), &recorded);
    for (data, kind) in [(tree.finish(), "tree"), (trace, "trace")] {
        let what =
            format!("{METHODS} methods, {CALLS} calls, {contexts} contexts, {kind}: read, stats, xtree");
        best(&what, || {
            let loaded = read(&data);
            let calls: u64 = loaded.calls.values().map(|c| c.calls).sum();
            assert_eq!((loaded.calls.len() as u64 <= METHODS, calls), (true, CALLS));
            stats::write(&mut sink(), &loaded.model, &loaded.calls, &Options::default()).expect("a sink");
            xtree::write(&mut sink(), &loaded.model, &Options::default()).expect("a sink");
            loaded.model.nodes().len()
        });
    }
}

fn read(data: &[u8]) -> Loaded {
    let mut profile = Profile::parse(data).expect("a profile");
    replay::profile(&data, &mut profile).expect("a trace");
    let names = |_: u32, id: u32| format!("com.acme.Shop{}.method{id}(I)V", id % 20);
    let mut processes = [Process::new(&mut profile, "p".into(), &names)];
    load::load(&mut processes, &load::Options::default())
}

fn wall() -> Vec<Resource> {
    vec![Resource { name: "wall".into(), unit: "ns".into() }]
}

/// A tree of a million contexts of 5,000 methods.
fn million() {
    let build = |seed: u64| {
        let mut model = Arcflow::new(wall());
        let consumers: Vec<_> = (0..5000)
            .map(|i| model.consumer(&format!("com.acme.shop.Class{}.method{i}(I)V", i % 300)))
            .collect();
        let mut random = seed;
        while model.nodes().len() < 1_000_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Few contexts have many callees.
            let reach = (model.nodes().len() as u64).min(1 << (random >> 60));
            let parent = NodeId(((random >> 20) % reach.max(model.nodes().len() as u64 / 4).max(1)) as u32);
            let node = model.child(parent, Kind::Method, consumers[(random >> 40) as usize % 5000]);
            model.meet(node, 1 + (random >> 50));
            model.base_mut(node)[0] += (random >> 44) as f64;
        }
        model
    };
    let model = best("a million contexts: model", || build(1));
    let arcs = best("  consumers and arcs", || Arcs::new(&model));
    best("  invariants", || assert_eq!(invariants::check(&model, &arcs).violations, []));
    let all = Options::default();
    let pruned = Options { prune: 0.001, ..all };
    best("  xprof", || xprof::write(&mut sink(), &model, &arcs, &all).expect("a sink"));
    best("  xarc", || xarc::write(&mut sink(), &model, &arcs, &all).expect("a sink"));
    best("  xtree, pruned at 0.1 %", || xtree::write(&mut sink(), &model, &pruned).expect("a sink"));
    best("  xtree, the 1000 largest", || {
        xtree::write(&mut sink(), &model, &Options { top: Some(1000), ..all }).expect("a sink")
    });
    best("  xtree, all", || xtree::write(&mut sink(), &model, &all).expect("a sink"));
    let json = Options { format: Format::Json, ..all };
    best("  xtree, all as JSON", || xtree::write(&mut sink(), &model, &json).expect("a sink"));
    let other = build(2);
    let first = Options { top: Some(20), ..all };
    best("  diff", || {
        diff::write(&mut sink(), slice::from_ref(&model), slice::from_ref(&other), &first).expect("a sink")
    });
}

/// Recursion of 200,000 levels: nothing may be quadratic in depth.
fn deep() {
    let mut model = Arcflow::new(wall());
    let f = model.consumer("f");
    let mut at = Arcflow::ROOT;
    for _ in 0..200_000 {
        at = model.child(at, Kind::Method, f);
        model.meet(at, 1);
        model.base_mut(at)[0] += 1.0;
    }
    best("200,000 levels of recursion: arcs and xtree", || {
        assert_eq!(invariants::check(&model, &Arcs::new(&model)).violations, []);
        xtree::write(&mut sink(), &model, &Options::default()).expect("a sink");
    });
}
