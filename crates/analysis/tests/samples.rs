//! Times from samples: every figure of small programs is known.

use instrument_analysis::arcs::Arcs;
use instrument_analysis::load::{Loaded, Options, Process, load};
use instrument_analysis::thread_time::ThreadTime;
use instrument_analysis::uncertainty::{Uncertainty, wilson};
use instrument_analysis::{Arcflow, NodeId, invariants, window};
use instrument_testing::{Script, Writer};
use instrument_trace::{Profile, ThreadSamples};

use crate::common::models::contexts;

const MS: u64 = 1_000_000;

fn loaded(files: &[Vec<u8>]) -> Loaded {
    let mut profiles: Vec<_> = files.iter().map(|data| Profile::parse(data).unwrap()).collect();
    let names = |_: u32, id: u32| format!("m{id}");
    let blocks = |_: u32, id: u32| id == 9;
    let process = |(profile, name): (_, &str)| Process {
        blocks: Some(&blocks),
        ..Process::new(profile, name.to_owned(), &names)
    };
    let mut processes: Vec<_> = profiles.iter_mut().zip(["p", "q"]).map(process).collect();
    let loaded = load(&mut processes, &Options::default());
    let checked = invariants::check(&loaded.model, &Arcs::new(&loaded.model));
    assert_eq!(checked.violations, []);
    loaded
}

fn model(data: Vec<u8>) -> Arcflow {
    loaded(&[data]).model
}

fn at(model: &Arcflow, path: &str, resource: &str) -> f64 {
    contexts(model, resource)[path].1
}

/// m1 runs for 30 samples and calls m2, 50 of them, and m9, which blocks for 40 ms and runs for 2 samples within.
fn program() -> Script {
    let script = Script::new(1000).samples(3).enter(1).samples(30).call(2, |s| s.samples(50));
    script.call(9, |s| s.wait(40 * MS).samples(2)).exit(1)
}

fn of_thread(cpu_ms: u64) -> ThreadSamples {
    ThreadSamples {
        period_ns: MS,
        cpu_ns: cpu_ms * MS,
        in_probes: 100,
        unattributed: 15,
        in_vm: 7,
        ..ThreadSamples::default()
    }
}

fn written(samples: &ThreadSamples) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.samples("main", &program(), &[9], samples);
    writer.finish()
}

#[test]
fn the_cpu_time_of_a_thread_is_spread_over_its_samples() {
    // 200 samples in 400 ms: each stands for 2 ms, whatever was requested.
    let model = model(written(&of_thread(400)));
    let names: Vec<_> = model.resources().iter().map(|resource| resource.name.as_str()).collect();
    assert_eq!(names[..4], ["running", "waiting", "samples", "probes"]);
    assert!(names.iter().all(|name| !name.starts_with("wall")), "{names:?}");
    let running = |path: &str| at(&model, path, "running") / MS as f64;
    assert_eq!(running("p main"), 6.0);
    assert_eq!(running("p main m1"), 60.0);
    assert_eq!(running("p main m1 m2"), 100.0);
    assert_eq!(running("p main m1 m9"), 4.0);
    assert_eq!(running("p main (not attributed)"), 30.0);
    assert_eq!(at(&model, "p main", "probes"), 200e6);
    assert_eq!(at(&model, "p main m1", "samples"), 30.0);
    // What ran within was no wait.
    assert_eq!(at(&model, "p main m1 m9", "waiting"), 36e6);
    let cum = model.cum();
    assert_eq!(cum[0] + cum[3], 400e6, "the CPU time of the thread");
    assert_eq!(ThreadTime::of(&model), Some(ThreadTime { whole: None, running: 0, waiting: 1 }));
}

/// The same samples, of another event.
#[test]
fn an_event_has_a_resource_of_its_name() {
    let mut writer = Writer::new();
    writer.samples("main", &program(), &[9], &of_thread(400));
    writer.property("samples.event", "cache-misses");
    let model = model(writer.finish());
    let resource = &model.resources()[0];
    assert_eq!((resource.name.as_str(), resource.unit.as_str()), ("cache-misses", ""));
    assert_eq!(model.resource("running"), None);
    assert_eq!(ThreadTime::of(&model), None);
    assert_eq!(at(&model, "p main m1", "cache-misses"), 60e6);
    let (node, total) = (model.base(NodeId(0)).len(), model.cum());
    assert_eq!(total[..node][0] + total[..node][model.resource("probes").unwrap()], 400e6);
    // 30 of 200 samples: Wilson's interval, as that of times.
    let m1 = model.ids().find(|&id| model.name(model.node(id).consumer) == "m1").unwrap();
    let error = Uncertainty::of(&model, 0).base(model.base(m1)).unwrap().total();
    let [low, high] = wilson(30.0, 200.0);
    assert!((error - (high - low) / 2.0 * 400e6).abs() < 1.0, "{error}");
}

#[test]
fn methods_that_are_counted_have_the_samples_of_their_thread() {
    let mut profile = Profile::parse(&written(&of_thread(400))).unwrap();
    let main = &mut profile.threads[0];
    main.tree = None;
    let names = |_: u32, id: u32| format!("m{id}");
    let model = load(&mut [Process::new(&mut profile, "p".to_owned(), &names)], &Options::default()).model;
    let running = |path: &str| at(&model, path, "running") / MS as f64;
    let figures = ["p main", "p main m1", "p main m2", "p main m9", "p main (not attributed)"].map(running);
    assert_eq!(figures, [6.0, 60.0, 100.0, 4.0, 30.0]);
    assert_eq!((at(&model, "p main", "probes"), at(&model, "p main m2", "samples")), (200e6, 50.0));
    assert!(["bytes", "waiting"].iter().all(|name| model.resource(name).is_none()));
}

#[test]
fn whole_ns_add_up() {
    let model = model(written(&ThreadSamples { cpu_ns: 1_000_003, ..of_thread(0) }));
    let cum = model.cum();
    assert_eq!(cum[0] + cum[3], 1_000_003.0);
    assert!(model.ids().all(|id| model.base(id)[0].fract() == 0.0));
}

#[test]
fn what_user_code_does_not_take_is_the_kernels() {
    let samples = ThreadSamples { user_only: true, ..of_thread(400) };
    let model = self::model(written(&samples));
    assert_eq!(at(&model, "p main m1 m2", "running"), 50e6, "no more than the period");
    assert_eq!(at(&model, "p main (kernel)", "running"), 200e6);
    // 200 samples are off by 1.96 times their root.
    let noise = at(&model, "p main (kernel)", "running noise");
    assert_eq!(noise, (1.96 * 200f64.sqrt() * 1e6).round());
    // Where samples are worth less than the period there is none.
    let model = self::model(written(&ThreadSamples { cpu_ns: 100 * MS, ..samples }));
    assert!(!contexts(&model, "running").contains_key("p main (kernel)"));
    assert_eq!(at(&model, "p main m1 m2", "running"), 25e6);
}

#[test]
fn where_the_signal_was_taken_no_context_has_a_time() {
    let model = model(written(&ThreadSamples { signal_taken: true, ..of_thread(400) }));
    assert_eq!(at(&model, "p main (not attributed)", "running"), 400e6);
    for path in ["p main", "p main m1", "p main m1 m2", "p main m1 m9"] {
        assert_eq!((at(&model, path, "running"), at(&model, path, "samples")), (0.0, 0.0), "{path}");
    }
    assert_eq!(at(&model, "p main", "probes"), 0.0);
}

#[test]
fn cpu_time_without_a_sample_is_not_lost() {
    let mut writer = Writer::new();
    writer.samples("main", &program(), &[9], &of_thread(400));
    let samples = ThreadSamples { period_ns: MS, cpu_ns: 700_000, ..ThreadSamples::default() };
    writer.samples("short", &Script::new(1000).call(1, |s| s), &[9], &samples);
    let model = model(writer.finish());
    assert_eq!(at(&model, "p short", "running"), 700_000.0);
    assert_eq!(at(&model, "p short", "running noise"), 700_000.0);
    assert_eq!(at(&model, "p short m1", "running"), 0.0);
}

#[test]
fn a_thread_that_was_killed_before_its_cpu_time_was_noted_has_its_period() {
    let model = model(written(&of_thread(0)));
    assert_eq!(at(&model, "p main m1 m2", "running"), 50e6);
}

#[test]
fn calls_that_block_are_timed_without_those_within() {
    let mut writer = Writer::new();
    // m9 calls m1, which runs for one sample of 1 ms and calls m9 again.
    let inner = |s: Script| s.samples(1).call(9, |s| s.wait(10 * MS));
    let script = Script::new(1).call(9, |s| s.wait(5 * MS).call(1, inner).wait(7 * MS));
    let samples = ThreadSamples { period_ns: MS, cpu_ns: MS, ..ThreadSamples::default() };
    writer.samples("main", &script, &[9], &samples);
    let loaded = loaded(&[writer.finish()]);
    assert_eq!(at(&loaded.model, "p main m9", "waiting"), 11e6);
    assert_eq!(at(&loaded.model, "p main m9 m1 m9", "waiting"), 10e6);
    let calls = &loaded.calls["m9"];
    assert_eq!((calls.calls, calls.timed, calls.min, calls.max), (2, 2, 10e6, 22e6));
    assert_eq!((calls.average(), calls.deviation()), (Some(16e6), Some(6e6)));
    let calls = &loaded.calls["m1"];
    assert_eq!((calls.calls, calls.timed, calls.average(), calls.deviation()), (1, 0, None, None));
}

#[test]
fn the_error_of_a_time_is_that_of_its_own_number_of_samples() {
    let model = model(written(&of_thread(400)));
    // Those in probes, too: what is a share of the CPU time.
    let (all, cum) = (200.0, model.cum());
    let running = Uncertainty::of(&model, 0);
    let figures = |of: &str| {
        let id = model.ids().find(|&id| model.name(model.node(id).consumer) == of).unwrap();
        let width = model.resources().len();
        (model.base(id), &cum[id.0 as usize * width..][..width])
    };
    let half = |met: f64| {
        let [low, high] = wilson(met, all);
        (high - low) / 2.0 * 400e6
    };
    let near = |error: f64, expected: f64| assert!((error - expected).abs() < 1.0, "{error} {expected}");
    let (base, with_callees) = figures("m1");
    near(running.base(base).unwrap().total(), half(30.0));
    near(running.cum(with_callees).unwrap().total(), half(82.0));
    // Of few samples the error is all of it, and still no doubt that it ran.
    let error = running.base(figures("m9").0).unwrap();
    assert!(error.total() > 4e6 && !error.hides(4e6));
    assert_eq!(running.bound(base), None);
    // The process itself does nothing.
    near(running.bound(figures("p").0).unwrap(), wilson(0.0, all)[1] * 400e6);
    assert_eq!(running.base(figures("p").0), None);
}

#[test]
fn a_process_without_samples_beside_one_with_them_has_no_running_time() {
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).call(1, |s| s.wait(500)));
    let loaded = loaded(&[written(&of_thread(400)), writer.finish()]);
    let model = &loaded.model;
    assert_eq!((at(model, "q main m1", "wall-raw"), at(model, "q main m1", "running")), (500.0, 0.0));
    assert_eq!((at(model, "p main m1", "wall-raw"), at(model, "p main m1", "running")), (0.0, 60e6));
    let said = "q was recorded without samples: it has no part in running time and its bounds (<); what was timed is in wall or wall-raw";
    assert_eq!(loaded.remarks, [said]);
    assert_eq!(model.name(model.node(NodeId(1)).consumer), "p");
}

#[test]
fn what_happened_since_a_snapshot_has_its_own_samples() {
    let at = |times: u32, cpu_ms: u64, probes: u64| {
        let script = Script::new(1000).call(1, |s| s.times(times, |s| s.call(2, |s| s.samples(20))));
        let samples = ThreadSamples { in_probes: probes, unattributed: 0, ..of_thread(cpu_ms) };
        let mut writer = Writer::new();
        writer.samples("main", &script, &[9], &samples);
        Profile::parse(&writer.finish()).unwrap()
    };
    let mut later = at(5, 150, 50);
    window::since(&mut later, at(2, 60, 20)).unwrap();
    let thread = &later.threads[0];
    assert_eq!(thread.tree.as_ref().unwrap().nodes[1].samples, 60);
    let samples = thread.samples.unwrap();
    assert_eq!((samples.cpu_ns, samples.in_probes, samples.period_ns), (90 * MS, 30, MS));
}
