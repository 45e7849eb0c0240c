//! The Java runtime on real virtual machines: programs call the probes in the shapes that are injected, and the profile
//! must say exactly what they did.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::runtime_support::{MODES, Run, build, classes, for_each_clock, for_each_jvm, jvms, parse};
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::each;
use instrument_trace::{Closes, Method, Profile, ThreadKind};

fn method(entries: u64, exits: u64, unwinds: u64, aborted: u64) -> Method {
    Method { entries, closes: Closes { exits, unwinds, aborted, unclosed: 0 }, ..Method::default() }
}

/// Counts of all threads together.
fn total(profile: &Profile) -> BTreeMap<u32, Method> {
    let mut sum = BTreeMap::<u32, Method>::new();
    for thread in &profile.threads {
        for (&id, method) in &thread.methods {
            sum.entry(id).or_default().add(method);
        }
    }
    sum
}

fn recorded(profile: &Profile) -> u64 {
    total(profile).values().map(|m| m.entries + m.closes.total()).sum()
}

fn assert_balanced(profile: &Profile) {
    assert_eq!(profile.damage, []);
    assert_eq!(profile.imbalances(), []);
    for thread in &profile.threads {
        assert!(!thread.stopped && thread.dropped == 0, "{}: {} dropped", thread.name, thread.dropped);
    }
    for (id, method) in total(profile) {
        assert_eq!((method.closes.unclosed, method.unmatched), (0, 0), "method {id}: {method:?}");
    }
}

#[test]
fn calls_returns_and_exceptions() {
    for_each_clock(|jvm| {
        let profile = Run::new(jvm, &["calls"]).ok().profile();
        assert_balanced(&profile);
        assert_eq!(profile.in_flight(), 0);
        let expected = [
            (1, method(1000, 1000, 0, 0)),
            (2, method(2000, 1000, 1000, 0)),
            (3, method(2000, 1000, 1000, 0)),
            (4, method(1000, 1000, 0, 0)),
            (5, method(1000, 0, 1000, 0)),
            (6, method(1, 1, 0, 0)),
        ];
        assert_eq!(total(&profile), expected.into());
    });
}

#[test]
fn constructors_whose_super_throws() {
    for_each_clock(|jvm| {
        let profile = Run::new(jvm, &["constructors"]).ok().profile();
        assert_balanced(&profile);
        let expected = [
            (10, method(1600, 1090, 0, 510)),
            (11, method(1600, 1090, 510, 0)),
            (12, method(1000, 500, 0, 500)),
            (13, method(100, 0, 90, 10)),
            (14, method(1, 1, 0, 0)),
        ];
        assert_eq!(total(&profile), expected.into());
    });
}

/// Nobody instrumented lies beneath: 10,000 failed constructors, each two aborted, but never many more than 64 pending.
#[test]
fn aborted_constructors_in_a_pool_do_not_pile_up() {
    for_each_jvm(|jvm| {
        let profile = Run::new(jvm, &["pool", "20000"]).ok().profile();
        assert_balanced(&profile);
        let sum = total(&profile);
        assert_eq!((sum[&12].entries, sum[&12].closes.exits), (20_000, 10_000));
        assert_eq!(sum[&12].closes.aborted + sum[&12].open, 10_000);
        assert_eq!(sum[&10].entries, 30_000);
        assert!(profile.threads.iter().all(|t| t.stack.len() <= 70));
    });
}

#[test]
fn stack_overflow_loses_nothing() {
    let newest = jvms().last().unwrap().version;
    for_each_clock(|jvm| {
        for flags in [&["-Xss512k"][..], &["-Xint", "-Xss512k"], &["-XX:TieredStopAtLevel=1", "-Xss512k"]] {
            let times = if flags.len() == 1 { "40" } else { "20" };
            // With the interpreter or C1 alone it takes long.
            if flags.len() > 1 && jvm.version != newest && !Corpus::full() {
                continue;
            }
            let run = Run::new(jvm, &["overflow", times, "pclbs"]).jvm_args(flags).ok();
            let profile = run.profile();
            assert_balanced(&profile);
            let sum = total(&profile);
            for line in run.stdout.lines().filter(|l| l.starts_with('2')) {
                let (id, calls) = line.split_once(' ').unwrap();
                let method = sum[&id.parse().unwrap()];
                assert_eq!(method.entries.to_string(), calls, "{flags:?} method {id}");
                assert_eq!(method.open, 0, "{flags:?} method {id}");
                assert!(method.entries > 1000, "the stack did not overflow");
            }
        }
    });
}

#[test]
fn unmatched_and_unclosed_calls_are_reported() {
    for_each_jvm(|jvm| {
        let profile = Run::new(jvm, &["misfits"]).ok().profile();
        let sum = total(&profile);
        assert_eq!(profile.imbalances(), []);
        assert_eq!(sum[&60], Method { unmatched: 1, ..Method::default() });
        assert_eq!((sum[&61].closes.exits, sum[&61].unmatched), (1, 1));
        assert_eq!((sum[&62].closes.unclosed, sum[&62].unmatched), (1, 1));
        assert_eq!((sum[&63].open, sum[&63].unmatched), (1, 1));
    });
}

#[test]
fn killed_at_any_moment() {
    let jvms = jvms();
    let mut entries = Vec::new();
    // Of each way three, one of them under the agent.
    let rounds = if Corpus::full() { 60 } else { 18 };
    for round in 0..rounds {
        let jvm = &jvms[round as usize % jvms.len()];
        let jvm = jvm.recording(MODES[round as usize / jvms.len() % MODES.len()]);
        // Every third round of each under the agent.
        let agent = round as usize / jvms.len() / MODES.len() % 3 == 2;
        let jvm = &if agent { jvm.under_the_agent() } else { jvm };
        let mut run = Run::new(jvm, &["work", "60"]).start();
        run.wait_for("running");
        std::thread::sleep(Duration::from_millis(37 * round % 400));
        run.kill();
        let profile = run.profile();
        assert_eq!(profile.damage, []);
        assert_eq!(profile.imbalances(), [], "round {round}");
        assert!(profile.in_flight() <= profile.threads.len());
        entries.push(total(&profile).values().map(|m| m.entries).sum::<u64>());
    }
    assert!(entries.iter().max() > Some(&100_000), "{entries:?}");
}

#[test]
fn every_way_out_leaves_everything() {
    for_each_clock(|jvm| {
        for (how, calls) in [("exit", 1000), ("halt", 1000), ("hook", 2000)] {
            let run = Run::new(jvm, &["end", how]).wait();
            assert_eq!(run.code, Some(3), "{how}: {}", run.stderr);
            let profile = run.profile();
            assert_balanced(&profile);
            let sum = total(&profile);
            assert_eq!(sum[&1], method(calls, calls, 0, 0), "{how}");
            // Neither exit() nor halt() returns.
            assert_eq!((sum[&30].entries, sum[&30].open), (1, 1), "{how}");
        }
    });
}

#[test]
fn threads_keep_their_names_and_counts() {
    for_each_clock(|jvm| {
        let profile = Run::new(jvm, &["threads", "100", "10", "together"]).ok().profile();
        assert_balanced(&profile);
        assert_eq!(profile.threads.len(), 100);
        for i in 0..100 {
            let name = format!("worker-{i}");
            assert!(profile.threads.iter().any(|t| t.name == name), "{name}");
        }
        for thread in &profile.threads {
            assert_eq!(thread.methods[&1], method(10, 10, 0, 0));
            assert_eq!(thread.methods[&4], method(10, 10, 0, 0));
        }
    });
}

#[test]
fn regions_of_ended_threads_are_used_again() {
    for_each_clock(|jvm| {
        let run = Run::new(jvm, &["threads", "5000", "10"]).ok();
        let profile = run.profile();
        assert_balanced(&profile);
        let sum = total(&profile);
        assert_eq!(sum[&1], method(50_000, 50_000, 0, 0));
        assert_eq!(sum[&2], method(50_000, 25_000, 25_000, 0));
        if jvm.record == Some("trace") {
            // Events stay where they are.
            return;
        }
        let ended = profile.threads.iter().find_map(|t| match t.kind {
            ThreadKind::Ended(n) => Some(n),
            ThreadKind::Thread => None,
        });
        assert!(ended > Some(4000), "{ended:?}");
        assert!(run.profile_len() < 2 << 20, "{} bytes", run.profile_len());
    });
}

#[test]
fn virtual_threads() {
    for jvm in jvms().iter().filter(|j| j.version >= 21) {
        let run = Run::new(jvm, &["virtual", "100000", "3"]).ok();
        let profile = run.profile();
        assert_balanced(&profile);
        assert_eq!(total(&profile)[&1], method(400_000, 400_000, 0, 0));
        assert!(run.profile_len() < 32 << 20, "{} bytes", run.profile_len());
        for jvm in [jvm.recording("trace"), jvm.recording("trace").under_the_agent()] {
            let run = Run::new(&jvm, &["virtual", "10000", "3"]).ok();
            let profile = run.profile();
            assert_balanced(&profile);
            assert_eq!(total(&profile)[&1], method(40_000, 40_000, 0, 0));
            assert_eq!(profile.threads.len(), 10_000);
        }
    }
}

#[test]
fn methods_of_the_program_are_not_called() {
    for_each_jvm(|jvm| {
        let run = Run::new(jvm, &["hostile"]).ok();
        assert!(run.stdout.contains("called 0\n"), "{}", run.stdout);
        assert_eq!(total(&run.profile())[&1], method(1000, 1000, 0, 0));
    });
}

#[test]
fn an_interrupted_thread_is_recorded_and_stays_interrupted() {
    for_each_clock(|jvm| {
        let run = Run::new(jvm, &["interrupted"]).ok();
        assert!(run.stdout.contains("interrupted true\n"), "{}", run.stdout);
        let profile = run.profile();
        assert_balanced(&profile);
        assert_eq!(total(&profile).len(), 5000);
    });
}

#[test]
fn many_methods_and_deep_stacks() {
    for_each_jvm(|jvm| {
        let profile = Run::new(jvm, &["nest", "70000"]).ok().profile();
        assert_balanced(&profile);
        let sum = total(&profile);
        assert_eq!(sum.len(), 70_000);
        assert!(sum.values().all(|m| *m == method(1, 1, 0, 0)));
        let profile = Run::new(jvm, &["deep", "3000"]).ok().profile();
        assert_balanced(&profile);
        assert_eq!(total(&profile).len(), 3001);
    });
}

#[test]
fn out_of_memory_never_reaches_the_program() {
    for_each_clock(|jvm| {
        let flags = ["-Xmx32m", "-XX:+UseSerialGC"];
        let run = Run::new(jvm, &["memory"]).jvm_args(&flags).ok();
        assert!(run.stdout.contains("survived 20000\n"), "{}", run.stdout);
        let profile = run.profile();
        assert_eq!(profile.damage, []);
        assert_eq!(profile.imbalances(), []);
        // Recorded or dropped: 20,000 + 1,000 + 1 calls, and each handler probe after the recording stopped.
        let dropped = profile.threads[0].dropped;
        assert!(recorded(&profile) + dropped >= 2 * 21_001, "{} and {dropped}", recorded(&profile));
        assert_eq!(profile.threads[0].stopped, dropped > 0);
    });
}

#[test]
fn a_limit_stops_recording_and_counts() {
    for_each_jvm(|jvm| {
        let run = Run::new(jvm, &["nest", "20000"]).jvm_args(&["-Dinstrument.limit=300k"]).ok();
        let profile = run.profile();
        assert_eq!(profile.imbalances(), []);
        assert!(recorded(&profile) > 1000);
        assert_eq!(recorded(&profile) + profile.threads[0].dropped, 40_000);
        assert!(profile.threads[0].stopped);
        assert!(run.profile_len() <= 300 << 10);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains("is incomplete from here on: the limit"), "{}", run.stderr);
    });
}

#[test]
fn traces_have_a_limit_unless_it_is_off() {
    let jvm = &jvms()[0];
    for (record, limit, expected) in [
        ("trace", "", Some("4294967296")),
        ("trace", "off", None),
        ("trace", "5g", Some("5368709120")),
        ("tree", "", None),
    ] {
        let limit = format!("-Dinstrument.limit={limit}");
        let profile = Run::new(&jvm.recording(record), &["nest", "1"]).jvm_args(&[&limit]).ok().profile();
        let found = profile.copies.values().find_map(|copy| copy.properties.get("limit.bytes"));
        assert_eq!(found.map(String::as_str), expected, "{record}, {limit}");
        assert_eq!(recorded(&profile), 2);
    }
}

/// A file system that is really full: zeros are written before a block is mapped, so there is no bus error.
#[test]
fn a_full_file_system_stops_recording_and_counts() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().display().to_string();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "none", &target]).output();
    if !mount.is_ok_and(|m| m.status.success()) {
        eprintln!("skipped: no right to mount");
        return;
    }
    let out = format!("-Dinstrument.out={target}/");
    let run = Run::new(&jvms()[0], &["nest", "20000"]).jvm_args(&[&out]).wait();
    let file = std::fs::read_dir(dir.path()).unwrap().next().map(|e| e.unwrap().path());
    let data = file.map(|f| std::fs::read(f).unwrap());
    let umount = Command::new("umount").arg(&target).status();
    assert!(umount.is_ok_and(|s| s.success()));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
    let profile = parse(&data.unwrap());
    assert_eq!(recorded(&profile) + profile.threads[0].dropped, 40_000);
    assert_eq!(profile.imbalances(), []);
}

#[test]
fn the_file_is_private_new_and_never_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    std::fs::write(&victim, "untouched").unwrap();
    let planted = dir.path().join("p.iprof");
    symlink(&victim, &planted).unwrap();
    symlink(dir.path().join("nowhere"), dir.path().join("p-2.iprof")).unwrap();
    let out = format!("-Dinstrument.out={}", planted.display());
    Run::new(&jvms()[0], &["calls"]).jvm_args(&[&out]).ok();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "untouched");
    assert!(!dir.path().join("nowhere").exists());
    let written = dir.path().join("p-3.iprof");
    let metadata = std::fs::symlink_metadata(&written).unwrap();
    assert!(metadata.is_file());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!(metadata.nlink(), 1);
    assert_eq!(total(&parse(&std::fs::read(&written).unwrap())).len(), 6);
}

#[test]
fn a_run_replaces_the_profile_of_one_that_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.iprof");
    let out = format!("-Dinstrument.out={}", path.display());
    let nonce = || parse(&std::fs::read(&path).unwrap()).nonce;
    let files = || std::fs::read_dir(dir.path()).unwrap().count();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..2 {
        Run::new(&jvms()[0], &["calls"]).jvm_args(&[&out]).ok();
        assert!(seen.insert(nonce()), "it is the profile of the run before");
        assert_eq!(files(), 1);
    }
    // One that was killed may be one that still runs.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[80..88].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    Run::new(&jvms()[0], &["calls"]).jvm_args(&[&out]).ok();
    assert!(seen.contains(&nonce()));
    assert_eq!(files(), 2);
    // Of the same `instrument run`.
    std::fs::remove_file(dir.path().join("s-2.iprof")).unwrap();
    bytes[80] = 1;
    std::fs::write(&path, &bytes).unwrap();
    Run::new(&jvms()[0], &["calls"]).jvm_args(&[&out]).env("INSTRUMENT_RUN_PROCESSES", "/dev/null").ok();
    assert_eq!(files(), 2);
}

#[test]
fn where_no_file_can_be_the_program_runs_on() {
    for_each_jvm(|jvm| {
        for out in ["/proc/", "no/such/directory/p.iprof"] {
            let run = Run::new(jvm, &["calls"]).jvm_args(&[&format!("-Dinstrument.out={out}")]).ok();
            assert_eq!(run.stdout, "done\n");
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
            assert!(run.stderr.starts_with("instrument: cannot create the profile"), "{}", run.stderr);
        }
    });
}

#[test]
fn settings() {
    let jvm = &jvms()[0];
    let run = Run::new(jvm, &["calls"]).jvm_args(&["-Dinstrument.record=off"]).ok();
    assert_eq!(run.profiles(), 0);
    let run = Run::new(jvm, &["calls"]).env("INSTRUMENT_RECORD", "off").ok();
    assert_eq!(run.profiles(), 0);
    // The property comes before the environment.
    let run = Run::new(jvm, &["calls"])
        .env("INSTRUMENT_RECORD", "off")
        .jvm_args(&["-Dinstrument.record=counts", "-Dinstrument.name=app"])
        .ok();
    assert_eq!((run.profiles(), run.stderr.as_str()), (1, ""));
    assert!(run.profile_path().file_name().unwrap().to_str().unwrap().starts_with("app-"));
    let run = Run::new(jvm, &["calls"]).jvm_args(&["-Dinstrument.record=everything"]).ok();
    assert_eq!(
        run.stderr,
        "instrument: unknown instrument.record=everything (tree, trace, counts or off; under the agent samples, too); recording a tree\n"
    );
    assert_eq!(run.profiles(), 1);
}

/// By the classes that are loaded. What Java warns of is not used; each way gives the same counts.
#[test]
fn the_fastest_access_to_the_profile_that_needs_no_warning_is_used() {
    const FLAGS: [&[&str]; 3] = [
        &[],
        &["--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED"],
        &["--sun-misc-unsafe-memory-access=allow"],
    ];
    for jvm in jvms() {
        let ways = if jvm.version < 24 {
            vec![vec!["UnsupportedWords"]]
        } else {
            vec![vec!["BufferWords", "LaterThreadIds"], vec!["InternalWords"], vec!["UnsupportedWords"]]
        };
        for (flags, expected) in FLAGS.iter().zip(ways) {
            for record in MODES {
                let run = Run::new(&jvm.recording(record), &["threads", "20", "10", "together"]);
                let run = run.jvm_args(flags).jvm_args(&["-Xlog:class+load:stdout"]).wait();
                assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{flags:?}");
                let mut loaded = vec!["BufferWords", "InternalWords", "LaterThreadIds", "UnsupportedWords"];
                loaded.retain(|class| run.stdout.contains(&format!(" instrument.runtime.{class} ")));
                assert_eq!(loaded, expected, "Java {}, {flags:?}", jvm.version);
                let profile = run.profile();
                assert_balanced(&profile);
                for id in [1, 4] {
                    assert_eq!(total(&profile)[&id], method(200, 200, 0, 0), "{flags:?}");
                }
            }
        }
    }
}

/// Two copies of the runtime, one file; what the loaders' own probes do inside the runtime is ignored.
#[test]
fn copies_of_the_runtime_share_one_file() {
    for_each_jvm(|jvm| {
        let run = Run::new(jvm, &[]).main("Loaders", &[&classes().display().to_string()]).ok();
        assert_eq!(run.stderr, "");
        let profile = run.profile();
        assert_eq!(profile.copies.len(), 2);
        assert_eq!(profile.imbalances(), []);
        assert_eq!(profile.threads.len(), 2);
        for (thread, calls) in profile.threads.iter().zip([1000, 2000]) {
            assert_eq!((thread.name.as_str(), thread.ordinal), ("main", 1));
            assert_eq!(thread.methods[&1], method(calls, calls, 0, 0));
            assert!(!thread.methods.contains_key(&77), "a probe inside the runtime was recorded");
        }
    });
}

/// A server that deploys a program again and again, each time with a copy of the runtime: no closed loader is kept, what its copy has recorded is
/// complete, and the virtual machine ends without a class that was not there before, whose loader may be closed.
#[test]
fn copies_of_the_runtime_go_with_their_loaders() {
    let ways = [
        ("tree", "-Dinstrument.snapshot=1", 200),
        ("trace", "-Dinstrument.burst=off", 20),
        ("counts", "-Dinstrument.limit=1g", 20),
    ];
    for (jvm, (record, flags, times)) in each(&jvms(), &ways) {
        let (from, count) = (classes().display().to_string(), times.to_string());
        let run = Run::new(&jvm.recording(record), &[]).main("Redeploy", &[&from, &count, "5"]);
        let run = run.jvm_args(&["-Xlog:class+load:stdout", flags]).wait();
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "Java {}, {record}", jvm.version);
        let (_, end) = run.stdout.split_once("0 left, 5 stay, 1 threads\n").expect("some are left");
        let loaded: Vec<_> = end.lines().filter(|line| line.contains(" instrument.runtime.")).collect();
        assert_eq!(loaded, [""; 0], "Java {}, {record}", jvm.version);
        let profile = run.profile();
        assert_eq!((profile.copies.len(), profile.imbalances()), (times, vec![]));
        assert!(profile.shutdown_clock > 0);
        assert_eq!(total(&profile)[&1], method(1001 * times as u64, 1001 * times as u64, 0, 0));
        let lines = profile.copies.values().flat_map(|copy| copy.lines.values().flatten());
        assert_eq!(lines.sum::<u64>(), times as u64);
    }
}

/// Methods that the JDK calls on threads and file systems are the program's where it overrides them: the recorder calls none of a file system, and what
/// those of a thread throw harms nobody's recording.
#[test]
fn what_a_program_overrides_ends_no_recording() {
    for (jvm, (record, calls)) in each(&jvms(), &[("trace", 300_000), ("tree", 1000)]) {
        for system in ["-Dusual=true", "-Djava.nio.file.spi.DefaultFileSystemProvider=Overrides$Provider"] {
            let run = Run::new(&jvm.recording(record), &[&calls.to_string()]).class("Overrides");
            let run = run.jvm_args(&[system]).ok();
            let asked = run.stdout.strip_prefix("asked ").and_then(|rest| rest.strip_suffix("\ndone\n"));
            // The JDK opens its module image once, for whoever looks for a resource first.
            let most = if system == "-Dusual=true" { 0 } else { 20 };
            assert!(asked.and_then(|n| n.parse().ok()).is_some_and(|n: u32| n <= most), "{}", run.stdout);
            assert_eq!(run.stderr, "", "Java {}, {record}, {system}", jvm.version);
            let profile = run.profile();
            assert_eq!((profile.dropped, profile.imbalances()), (0, vec![]));
            assert_eq!(total(&profile)[&1], method(3 * calls, 3 * calls, 0, 0));
            let mode = std::fs::metadata(run.profile_path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}

#[test]
fn classes_are_reproducible() {
    let again = tempfile::tempdir().unwrap();
    build(again.path());
    let read = |dir: &Path| {
        let files = walkdir::WalkDir::new(dir).into_iter().map(|e| e.unwrap());
        let files = files.filter(|e| e.file_type().is_file());
        files
            .map(|e| (e.path().strip_prefix(dir).unwrap().to_owned(), std::fs::read(e.path()).unwrap()))
            .collect::<BTreeMap<_, _>>()
    };
    let mut first = read(&classes());
    let classes = read(again.path());
    assert!(classes.len() > 10);
    // Programs of the tests lie beside them.
    first.retain(|path, _| classes.contains_key(path));
    assert_eq!(classes, first);
    // Major version 52: Java 8.
    assert!(classes.values().all(|c| c[6..8] == [0, 52]));
}

/// Without permissions of its own the runtime can write neither a profile nor to the real standard error.
#[test]
fn a_security_manager_that_refuses_the_profile_is_named() {
    // Java 24 has none any more.
    for jvm in jvms().into_iter().filter(|jvm| jvm.version < 24) {
        for record in MODES {
            let run =
                Run::new(&jvm.recording(record), &["calls"]).jvm_args(&["-Djava.security.manager"]).ok();
            assert_eq!(run.profiles(), 0);
            // Its properties are hidden as well, so the mode is the default one.
            for part in [
                "instrument: cannot create the profile, nothing is recorded: ",
                "AllPermission",
                "`instrument run`",
            ] {
                assert!(run.stderr.contains(part), "Java {}, {record}: {}", jvm.version, run.stderr);
            }
        }
    }
}

/// Thread.stop may come between two steps of a probe: the call is unclosed, or its end is finished, and the counts balance.
#[test]
fn a_probe_that_is_cut_off_by_thread_stop_counts_the_call_once() {
    for (jvm, record) in each(&jvms(), &["tree", "counts", "trace"]) {
        let profile = Run::new(&jvm.recording(record), &["cut"]).ok().profile();
        let at = format!("{record}, Java {}", jvm.version);
        assert_eq!((&profile.damage[..], profile.imbalances()), (&[][..], vec![]), "{at}");
        let unclosed =
            Method { closes: Closes { exits: 3, unclosed: 1, ..Closes::default() }, ..method(4, 0, 0, 0) };
        let expected =
            [(1, method(1, 1, 0, 0)), (2, unclosed), (3, method(4, 4, 0, 0)), (4, method(1, 1, 0, 0))];
        assert_eq!(total(&profile), expected.into(), "{at}");
    }
}
