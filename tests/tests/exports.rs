//! Exports, as readers understand them that are not ours.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use instrument_analysis::input;
use instrument_analysis::model::{Arcflow, Kind, NodeId};
use instrument_tests::machine::{Jdk, Run, java_source, root};
use instrument_tests::readers::{self, Rows};
use instrument_tests::subject::{self, call};

/// The example of seed 001.
fn ac_test() -> PathBuf {
    root().join("crates/analysis/tests/data/AC_test.events")
}

/// Two processes, four threads, recursion, odd names, several metrics; times are whole µs.
fn busy(directory: &Path) -> PathBuf {
    const NAMES: [&str; 7] = [
        "shop.Shop.main([Ljava/lang/String;)V",
        "shop.Item.<init>(Ljava/lang/String;I)V",
        "shop.Item.<clinit>()V",
        "größe & ürün",
        "#17",
        "recurse",
        "shop.Cart$1.lambda$total$0 'x'",
    ];
    let mut text = String::from("metrics: wall ns, cpu ns, allocations, bytes\n");
    // A multiplicative generator: the same bytes on every machine.
    let mut seed = 17u64;
    let mut next = |limit: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % limit
    };
    for (process, thread) in [("shop", "main"), ("shop", "pool-1 <worker>"), ("shop", "C2"), ("bank", "main")]
    {
        writeln!(text, "process: {process}\n@ {thread}").unwrap();
        let mut meters = [next(1000) * 1000, 0, 0, 0];
        let mut open = vec![NAMES[0]];
        writeln!(text, "{} 0 0 0 > {}", meters[0], NAMES[0]).unwrap();
        for step in 0..2000 {
            let wall = 1000 * next(50);
            let passed = [wall, wall / 2000 * 1000, next(3), 8 * next(20)];
            meters.iter_mut().zip(passed).for_each(|(meter, passed)| *meter += passed);
            write!(text, "{} {} {} {} ", meters[0], meters[1], meters[2], meters[3]).unwrap();
            if open.len() < 12 && next(2) == 0 && step < 1900 {
                open.push(NAMES[next(7) as usize]);
                writeln!(text, "> {}", open[open.len() - 1]).unwrap();
            } else {
                writeln!(text, "< {}", open.pop().unwrap()).unwrap();
                if open.is_empty() {
                    open.push(NAMES[0]);
                    writeln!(text, "{} {} {} {} > {}", meters[0], meters[1], meters[2], meters[3], NAMES[0])
                        .unwrap();
                }
            }
        }
        while let Some(name) = open.pop() {
            writeln!(text, "{} {} {} {} < {name}", meters[0], meters[1], meters[2], meters[3]).unwrap();
        }
    }
    let path = directory.join("busy.events");
    fs::write(&path, text).unwrap();
    path
}

/// Figures of each context by `process/thread/frame/frame..`: n, base of each resource, cum of each resource.
struct Contexts {
    rows: BTreeMap<String, (f64, Vec<f64>, Vec<f64>)>,
}

impl Contexts {
    /// `by_number`: processes and threads are numbered, in their order.
    fn of(path: &Path, by_number: bool) -> Contexts {
        let input = input::read(&fs::read(path).unwrap()[..]).unwrap();
        assert_eq!(input.remarks, input::Remarks::default());
        let model: Arcflow = input.model;
        let (cum, width) = (model.cum(), model.resources().len());
        let mut places = vec![String::new()];
        let mut threads: Vec<Vec<String>> = vec![Vec::new()];
        let mut rows = BTreeMap::new();
        for (i, node) in model.nodes().iter().enumerate().skip(1) {
            let above = &places[node.parent.0 as usize];
            let name = model.name(node.consumer);
            let place = match node.kind {
                Kind::Process if by_number => {
                    threads.push(Vec::new());
                    (threads.len() - 2).to_string()
                }
                Kind::Process => name.to_owned(),
                Kind::Thread => {
                    let process =
                        if above.is_empty() { if by_number { "0" } else { "process" } } else { above };
                    let known = threads.last_mut().unwrap();
                    known.push(name.to_owned());
                    let number = (known.len() - 1).to_string();
                    format!("{process}/{}", if by_number { &number } else { name })
                }
                _ => format!("{above}/{name}"),
            };
            if !matches!(node.kind, Kind::Process | Kind::Thread) {
                let base = model.base(NodeId(i as u32)).to_vec();
                rows.insert(place.clone(), (node.n as f64, base, cum[i * width..][..width].to_vec()));
            }
            places.push(place);
        }
        Contexts { rows }
    }

    /// What a reader should find, of the contexts for which there is something.
    fn expected(&self, figures: impl Fn(f64, &[f64], &[f64]) -> Option<Vec<f64>>) -> Rows {
        let row = |(path, (n, base, cum)): (&String, &(f64, Vec<f64>, Vec<f64>))| {
            Some((path.clone(), figures(*n, base, cum)?))
        };
        self.rows.iter().filter_map(row).collect()
    }
}

fn export(input: &Path, output: &Path, options: &[&str]) -> PathBuf {
    call().unwrap().arg("export").arg(input).arg("-o").arg(output).args(options).run_quietly().unwrap();
    output.to_owned()
}

fn assert_same(found: &Rows, expected: &Rows) {
    assert!(!expected.is_empty());
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (path, expected) in expected {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs();
        let found = &found[path];
        let same = found.len() == expected.len() && found.iter().zip(expected).all(close);
        assert!(same, "{path}: {found:?}, not {expected:?}");
    }
}

/// Runs a check on both inputs, each with what a unit of its first metric is in µs.
fn on_both(check: impl Fn(&Path, &Path, f64)) {
    let directory = tempfile::tempdir().unwrap();
    check(&ac_test(), directory.path(), 1e6);
    check(&busy(directory.path()), directory.path(), 1e-3);
}

#[test]
fn speedscope_is_valid_by_its_schema() {
    let schema = readers::speedscope_schema().unwrap();
    on_both(|input, directory, _| {
        let file = export(input, &directory.join("x.speedscope.json"), &["--format", "speedscope"]);
        let found =
            readers::read_with("speedscope_file.py", &file, &[("SCHEMA", schema.as_os_str())]).unwrap();
        let figures = |_, base: &[f64], cum: &[f64]| (cum[0] > 0.0).then(|| vec![base[0], cum[0]]);
        assert_same(&found, &Contexts::of(input, false).expected(figures));
    });
}

#[test]
fn chrome_trace_events_nest() {
    on_both(|input, directory, us| {
        let file = export(input, &directory.join("x.json"), &["--format", "chrome"]);
        let found = readers::read("chrome_trace.cjs", &file).unwrap();
        let figures = |_, _: &[f64], cum: &[f64]| (cum[0] > 0.0).then(|| vec![1.0, cum[0] * us]);
        assert_same(&found, &Contexts::of(input, false).expected(figures));
    });
}

#[test]
fn perfetto_reads_its_messages() {
    on_both(|input, directory, us| {
        let file = export(input, &directory.join("x.pftrace"), &["--format", "perfetto"]);
        let found = readers::read("perfetto_trace.py", &file).unwrap();
        let figures = |_, _: &[f64], cum: &[f64]| (cum[0] > 0.0).then(|| vec![1.0, cum[0] * us * 1e3]);
        assert_same(&found, &Contexts::of(input, false).expected(figures));
    });
}

#[test]
fn pprof_holds_every_figure() {
    on_both(|input, directory, us| {
        let file = export(input, &directory.join("x.pb.gz"), &["--format", "pprof"]);
        let found = readers::read("pprof_profile.cjs", &file).unwrap();
        let figures = |n, base: &[f64], _: &[f64]| {
            let times = if base.len() == 1 { 1 } else { 2 };
            let whole = |(i, value)| if i < times { value * us * 1e3 } else { value };
            Some(std::iter::once(n).chain(base.iter().copied().enumerate().map(whole)).collect())
        };
        assert_same(&found, &Contexts::of(input, false).expected(figures));
    });
}

#[test]
fn opentelemetry_reads_its_profiles() {
    on_both(|input, directory, us| {
        let file = export(input, &directory.join("x.otlp"), &["--format", "otlp-profiles-v1development"]);
        let found = readers::read("otlp_profiles.py", &file).unwrap();
        let figures = |n, base: &[f64], _: &[f64]| {
            let times = if base.len() == 1 { 1 } else { 2 };
            let whole = |(i, value)| if i < times { value * us * 1e3 } else { value };
            Some(std::iter::once(n).chain(base.iter().copied().enumerate().map(whole)).collect::<Vec<_>>())
        };
        let expected = Contexts::of(input, false).expected(figures);
        // A figure that no context has is not there.
        let has = |i: usize| expected.values().any(|row| row[i] != 0.0);
        let columns: Vec<usize> = (0..expected.values().next().unwrap().len()).filter(|&i| has(i)).collect();
        let kept = |row: &Vec<f64>| columns.iter().map(|&i| row[i]).collect();
        assert_same(&found, &expected.iter().map(|(path, row)| (path.clone(), kept(row))).collect());
    });
}

/// Where there is Go, its tool has to print the figures of the paper: B has 3 s of its own and 9 s with what it calls.
#[test]
#[ignore = "INSTRUMENT_CORPUS_FULL=1 ./x test runs it: its compiler builds pprof in 40 s, and another reader checks every figure"]
fn go_prints_the_example() {
    let directory = tempfile::tempdir().unwrap();
    let file = export(&ac_test(), &directory.path().join("x.pb.gz"), &["--format", "pprof"]);
    let mut go = Command::new("go");
    go.args(["tool", "pprof", "-top"]).arg(&file).env("PPROF_TMPDIR", directory.path());
    if Command::new("go").arg("version").capture().is_err() {
        eprintln!("no Go on this machine: pprof_holds_every_figure has to do");
        return;
    }
    let said = String::from_utf8(go.run_quietly().unwrap().stdout).unwrap();
    let words: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(words.contains(&vec!["3s", "30.00%", "30.00%", "9s", "90.00%", "B"]), "{said}");
    assert!(words.contains(&vec!["0", "0%", "100%", "3s", "30.00%", "X"]), "{said}");
}

#[test]
fn tau_is_read_by_hatchet() {
    on_both(|input, directory, us| {
        let tau = export(input, &directory.join("tau"), &["--format", "tau"]);
        let found = readers::read("tau_profile.py", &tau).unwrap();
        // Hatchet sorts the metrics' directories by how the file system gives them; each has the same calls.
        let contexts = Contexts::of(input, true);
        let metrics = contexts.rows.values().next().unwrap().1.len();
        let matches = |metric: usize| {
            let scale = if metrics == 1 || metric < 2 { us } else { 1.0 };
            let figures =
                |n, base: &[f64], cum: &[f64]| Some(vec![n, base[metric] * scale, cum[metric] * scale]);
            let expected = contexts.expected(figures);
            found.keys().eq(expected.keys())
                && found
                    .iter()
                    .all(|(path, row)| row.iter().zip(&expected[path]).all(|(a, b)| (a - b).abs() <= 1e-6))
        };
        assert_eq!((0..metrics).filter(|&metric| matches(metric)).count(), 1, "{} contexts", found.len());
    });
}

/// A trace is told call by call; what others count and measure then is the same whichever way it is written.
#[test]
fn traces_are_timelines() {
    let directory = tempfile::tempdir().unwrap();
    let schema = readers::speedscope_schema().unwrap();
    let trace = root().join("crates/trace/tests/profiles/v1-trace.iprof");
    let write = |format: &str| export(&trace, &directory.path().join(format), &["--format", format]);
    let chrome = readers::read("chrome_trace.cjs", &write("chrome")).unwrap();
    let perfetto = readers::read("perfetto_trace.py", &write("perfetto")).unwrap();
    let environment = [("SCHEMA", schema.as_os_str())];
    let speedscope = readers::read_with("speedscope_file.py", &write("speedscope"), &environment).unwrap();

    // Calls are those of the model, in which a task also tells who handed it over, and unmatched events have a place.
    let model = Contexts::of(&write("call-tree"), false);
    let calls = model.expected(|n, _, _| (n > 0.0).then(|| vec![n]));
    let calls: Rows =
        calls.into_iter().map(|(path, n)| (path.replace("(task of #2)", "(task)"), n)).collect();
    let column = |rows: &Rows, i: usize| -> Rows {
        rows.iter().map(|(path, row)| (path.clone(), vec![row[i]])).collect()
    };
    assert_same(&column(&perfetto, 0), &calls);
    let ns = column(&perfetto, 1);
    // TracerBench nests by time, and cannot tell what begins when another ends: it has to agree on each method.
    let by_method = |rows: &Rows, scale: f64| {
        let mut methods = Rows::new();
        for (path, row) in rows {
            let method = methods.entry(path.rsplit('/').next().unwrap().to_owned()).or_insert(vec![0.0; 2]);
            *method = vec![method[0] + row[0], method[1] + (row[1] * scale).round()];
        }
        methods
    };
    assert_same(&by_method(&chrome, 1e3), &by_method(&perfetto, 1.0));
    let total = |(path, row): (&String, &Vec<f64>)| (path.clone(), vec![row[1]]);
    let passed: Rows =
        ns.iter().filter(|(_, ns)| ns[0] > 0.0).map(|(path, ns)| (path.clone(), ns.clone())).collect();
    assert_same(&speedscope.iter().filter(|(_, row)| row[1] > 0.0).map(total).collect(), &passed);
    // Three calls of 5 ns each.
    let leaf = ns.iter().find(|(path, _)| path.ends_with("/main/#1/#2/#3")).unwrap();
    assert_eq!(leaf.1, &[15.0]);
}

/// A program on a real virtual machine, traced: perfetto sees every call, and the model counts them.
#[test]
fn a_run_is_a_timeline() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("classes")).unwrap();
    let jdk = &Jdk::all().unwrap()[0];
    jdk.compile_into(&[java_source("Exported.java")], &at("classes")).unwrap();
    subject::rewrite::<&str>(&at("classes"), &at("rewritten"), &[]).unwrap();
    let profile = at("run.iprof");
    let mut java = jdk.brief_java();
    java.args(["-Dinstrument.record=trace", &format!("-Dinstrument.out={}", profile.display())]);
    let done = java.arg("-cp").arg(at("rewritten")).arg("Exported").run_quietly().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "875 made\n");

    let trace =
        readers::read("perfetto_trace.py", &export(&profile, &at("x.pftrace"), &["-f", "perfetto"])).unwrap();
    let model = Contexts::of(&export(&profile, &at("x.json"), &["-f", "call-tree"]), false);
    let calls = model.expected(|n, _, _| (n > 0.0).then(|| vec![n]));
    let first = |rows: &Rows| rows.iter().map(|(path, row)| (path.clone(), vec![row[0]])).collect();
    assert_same(&first(&trace), &calls);
    // These say when it was recorded as well, which the scripts compare with the clock.
    for (script, format) in
        [("pprof_profile.cjs", "pprof"), ("otlp_profiles.py", "otlp-profiles-v1development")]
    {
        assert_same(
            &first(&readers::read(script, &export(&profile, &at("x.pb"), &["-f", format])).unwrap()),
            &calls,
        );
    }
    let of = |thread: &str, end: &str| -> f64 {
        let fits = |(path, _): &(&String, &Vec<f64>)| path.contains(thread) && path.ends_with(end);
        trace.iter().filter(fits).map(|(_, row)| row[0]).sum()
    };
    assert_eq!(of("/main/", "make(I)I"), 1000.0);
    assert_eq!(of("/main/", "Exported$Base.<init>(I)V"), 1000.0);
    assert_eq!(of("/worker/", "fibonacci(I)I"), 465.0);
}

#[test]
fn exports_are_the_same_bytes_every_time() {
    on_both(|input, directory, _| {
        for format in [
            "folded",
            "speedscope",
            "firefox",
            "chrome",
            "perfetto",
            "pprof",
            "otlp-profiles-v1development",
            "call-tree",
        ] {
            let write =
                |name: &str| fs::read(export(input, &directory.join(name), &["--format", format])).unwrap();
            assert_eq!(write("one"), write("two"), "{format}");
        }
    });
}
