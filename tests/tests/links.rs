//! Work that is caused in one context and done in another, roots, and code regions: rewritten programs on real virtual
//! machines, and what their profiles say.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use instrument_names::id_map::IdMap;
use instrument_rewriter::class_file::mutf8;
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::subject;
use instrument_trace::{Event, LinkKind, Profile, Thread, ThreadKind, Tree, TreeConsumer};
use tempfile::TempDir;

/// A program of `tests/java`, rewritten with some options.
struct Program {
    name: &'static str,
    dir: TempDir,
    ids: IdMap,
    jdks: Vec<Jdk>,
}

/// One run, and what it left behind.
struct Ran {
    profile: Profile,
    data: Vec<u8>,
    stdout: String,
    stderr: String,
}

impl Program {
    /// `Linked`.
    fn new(options: &[&str]) -> Program {
        Program::of("Linked", options)
    }

    fn of(name: &'static str, options: &[&str]) -> Program {
        let dir = tempfile::tempdir().unwrap();
        let classes = dir.path().join("classes");
        fs::create_dir(&classes).unwrap();
        Jdk::all().unwrap()[0].compile_into(&[java_source(&format!("{name}.java"))], &classes).unwrap();
        Program::compiled(name, dir, options)
    }

    /// The classes are in `classes` of the directory.
    fn compiled(name: &'static str, dir: TempDir, options: &[&str]) -> Program {
        let jdks = Jdk::all().unwrap();
        let (classes, ids) = (dir.path().join("classes"), dir.path().join("ids"));
        let shared = format!("--ids={}", ids.display());
        let options: Vec<&str> = options.iter().copied().chain([shared.as_str()]).collect();
        subject::rewrite(&classes, &dir.path().join("rewritten"), &options).unwrap();
        let ids = IdMap::parse(&fs::read(ids).unwrap()).unwrap();
        Program { name, dir, ids, jdks }
    }

    fn run(&self, jdk: &Jdk, flags: &[&str], arguments: &[&str]) -> Ran {
        let out: PathBuf = self.dir.path().join("run.iprof");
        let _ = fs::remove_file(&out);
        let mut java = jdk.brief_java();
        java.arg(format!("-Dinstrument.out={}", out.display())).args(flags);
        java.arg("-cp").arg(self.dir.path().join("rewritten")).arg(self.name).args(arguments);
        let done = java.run_quietly().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
        assert!(stdout.ends_with("done\n"), "{stdout}{stderr}");
        let data = fs::read(&out).unwrap();
        let profile = Profile::parse(&data).unwrap();
        assert_eq!(profile.damage, []);
        assert_eq!(profile.imbalances(), []);
        Ran { profile, data, stdout, stderr }
    }

    fn each_jdk(&self, test: impl Fn(&Jdk)) {
        self.jdks.iter().for_each(test);
    }

    fn name(&self, id: u32) -> String {
        mutf8::escape(self.ids.lookup(id).unwrap_or_else(|| panic!("no method {id}")).method.name)
    }

    /// The methods from the outermost one to a node, a link as `[where it was made]`.
    fn path(&self, profile: &Profile, tree: &Tree, node: u32) -> String {
        let mut steps = Vec::new();
        let mut at = node;
        while let Some(context) = tree.node(at) {
            steps.push(match context.consumer {
                TreeConsumer::Method(id) => self.name(id),
                TreeConsumer::Link(number) => format!("[{}]", self.origin(profile, number)),
                TreeConsumer::Deeper => "..".to_owned(),
            });
            at = context.parent;
        }
        steps.reverse();
        steps.join(" > ")
    }

    /// The context that made a link.
    fn origin(&self, profile: &Profile, number: u32) -> String {
        let link = profile.links.iter().find(|link| link.number == number);
        let link = link.unwrap_or_else(|| panic!("no link {number} in {:?}", profile.links));
        let maker = profile.threads.iter().find(|thread| thread.ordinal == link.thread);
        let tree = maker.and_then(|thread| thread.tree.as_ref()).unwrap_or_else(|| panic!("{link:?}"));
        self.path(profile, tree, link.node)
    }

    /// Entries of every context of a thread.
    fn contexts(&self, profile: &Profile, thread: &Thread) -> BTreeMap<String, u64> {
        let tree = thread.tree.as_ref().unwrap();
        let numbers = 1..=tree.nodes.len() as u32;
        numbers.map(|n| (self.path(profile, tree, n), tree.node(n).unwrap().entries)).collect()
    }

    /// Entries of a method below links in all threads, by the origin of the innermost link.
    fn entries_by_origin(&self, profile: &Profile, method: &str) -> BTreeMap<String, u64> {
        let mut entries = BTreeMap::new();
        for (path, count) in profile.threads.iter().flat_map(|thread| self.contexts(profile, thread)) {
            if let Some((_, (origin, below))) =
                path.rsplit_once('[').map(|(above, p)| (above, p.split_once(']').unwrap()))
                && below.ends_with(&format!(" > {method}"))
            {
                *entries.entry(origin.to_owned()).or_default() += count;
            }
        }
        entries
    }

    /// Entries of a method in all threads.
    fn entries(&self, profile: &Profile, method: &str) -> u64 {
        let methods = profile.threads.iter().flat_map(|thread| &thread.methods);
        methods.filter(|(id, _)| self.name(**id) == method).map(|(_, method)| method.entries).sum()
    }
}

fn thread<'a>(profile: &'a Profile, name: &str) -> &'a Thread {
    let found = profile.threads.iter().find(|thread| thread.name == name);
    found.unwrap_or_else(|| panic!("no thread {name}"))
}

#[test]
fn a_thread_knows_the_context_that_started_it() {
    let program = Program::new(&[]);
    program.each_jdk(|jdk| {
        let Ran { profile, .. } = program.run(jdk, &[], &["threads"]);
        let origin = |name| program.origin(&profile, thread(&profile, name).link);
        assert_eq!(origin("a"), "main > startAll");
        assert_eq!(origin("b"), "main > startAll");
        assert_eq!(origin("eager"), "main > startAll > start", "the last start() counts");
        assert_eq!(thread(&profile, "main").link, 0);
        assert!(profile.links.iter().all(|link| link.kind == LinkKind::Start && link.clock == 0));
        assert_eq!(profile.links.len(), 2, "one for each context");
    });
}

#[test]
fn a_task_runs_under_the_context_that_handed_it_over() {
    let program = Program::new(&["--transform=method-events,hand-over"]);
    program.each_jdk(|jdk| {
        let Ran { profile, stdout, .. } = program.run(jdk, &[], &["tasks"]);
        assert_eq!(stdout, "as ever\n2\ndone\n");
        let contexts = program.contexts(&profile, thread(&profile, "pool"));
        let [submit, chain] = ["main > tasks > submit", "main > tasks > chain"].map(|at| format!("[{at}]"));
        let expected = [
            (submit.clone(), 4),
            (format!("{submit} > failing"), 1),
            (format!("{submit} > task"), 3),
            (format!("{submit} > task > work"), 3),
            (chain.clone(), 2),
            (format!("{chain} > task"), 1),
            (format!("{chain} > task > work"), 1),
            (format!("{chain} > lambda$chain$0"), 1),
        ];
        for (context, entries) in expected {
            assert_eq!(contexts.get(&context), Some(&entries), "{context} in {contexts:#?}");
        }
        assert!(profile.links.iter().all(|link| link.kind == LinkKind::HandOver));
        // Without a recording of contexts nothing is wrapped.
        assert_eq!(program.run(jdk, &["-Dinstrument.record=counts"], &["tasks"]).profile.links, []);
        let off = program.run(jdk, &["-Dinstrument.record=trace"], &["tasks"]);
        trace_of_tasks(&program, &off);
    });
}

fn counts(expected: &[(&str, u64)]) -> BTreeMap<String, u64> {
    expected.iter().map(|(origin, count)| ((*origin).to_owned(), *count)).collect()
}

#[test]
fn every_way_to_hand_over_a_task_is_linked() {
    let program = Program::of("HandedOver", &["--transform=method-events,hand-over"]);
    program.each_jdk(|jdk| {
        let Ran { profile, stdout, .. } = program.run(jdk, &[], &[]);
        let expected = "0 1 2 failed 4 \n1 iterator\n0 1 2 failed 4 5 \n0\nnull\nnull\ntrue\ntrue\ntrue\n3\n1done\n0 1 \n\
                        0 1 2 \n1\ntrue\ntrue\n24\ndone\n";
        assert_eq!(stdout, expected);
        let expected = [
            ("main > invokeAll", 5),
            ("main > invokeAllTimed", 6),
            ("main > invokeAny", 2),
            ("main > fixedRate", 7),
            ("main > fixedDelay", 8),
            ("main > manyVariables", 2),
            ("main > ownExecutor", 1),
            ("main > ownService", 7),
            ("main > ownScheduler", 5),
            ("main > complete > continuations", 5),
        ];
        assert_eq!(program.entries_by_origin(&profile, "task"), counts(&expected));
        assert_eq!(program.entries(&profile, "task"), 48);
        // Two more: what the program's executor hands on, and the task that completes the future.
        assert_eq!(profile.links.len(), expected.len() + 2);
        assert!(profile.links.iter().all(|link| link.kind == LinkKind::HandOver));
        // In a trace every task has its own: periodic ones one for all their runs, those of the program's own service two.
        let trace = program.run(jdk, &["-Dinstrument.record=trace"], &[]);
        assert_eq!(trace.profile.links.len(), 5 + 6 + 2 + 1 + 1 + 1 + 1 + 2 * 7 + 2 + 5 + 1);
    });
}

#[test]
fn tasks_of_virtual_threads_are_linked() {
    let all = Jdk::all().unwrap();
    let Some(jdk) = all.iter().find(|jdk| jdk.version == 25) else {
        println!("not checked: no JDK 25 among {all:?}");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let classes = dir.path().join("classes");
    let mut javac = jdk.tool("javac");
    javac.args(["--release", "25", "--enable-preview", "-nowarn", "-d"]).arg(&classes);
    assert!(javac.arg(java_source("VirtualTasks.java")).run_quietly().unwrap().status.success());
    // The class depends on preview features.
    assert_eq!(fs::read(classes.join("VirtualTasks.class")).unwrap()[4..6], [0xff, 0xff]);
    let program =
        Program::compiled("VirtualTasks", dir, &["--transform=method-events,hand-over,thread-links"]);
    let Ran { profile, stdout, .. } = program.run(jdk, &["--enable-preview"], &[]);
    assert_eq!(stdout, "2\ndone\n");
    let by_origin = program.entries_by_origin(&profile, "task");
    let expected = counts(&[("main > executor", 3 + 4), ("main > threads", 2), ("main > scope", 3)]);
    assert_eq!(by_origin, expected);
    // The thread as a whole is linked where it is started: its task is its outermost frame.
    assert_eq!(program.entries(&profile, "task"), 7 + 2 + 3 + 1);
    let started = profile.links.iter().filter(|link| link.kind == LinkKind::Start);
    assert_eq!(
        started.map(|link| program.origin(&profile, link.number)).collect::<Vec<_>>(),
        ["main > unstarted"]
    );
}

#[test]
fn a_program_sees_no_difference_in_its_tasks() {
    let program = Program::new(&["--transform=method-events,hand-over,thread-links"]);
    program.each_jdk(|jdk| {
        let Ran { profile, stdout, .. } = program.run(jdk, &[], &["seen"]);
        let expected = "named\nnamed\nrank 0\nrank 1\nrank 2\nrank 3\nnull\nnone\n2\ndone\n";
        assert_eq!(stdout, expected);
        let contexts = program.contexts(&profile, thread(&profile, "main"));
        let linked: Vec<_> =
            contexts.keys().filter(|path| path.contains('[') && path.ends_with("work")).collect();
        // Both run at once, one executor deep and two, under a link from where the task was handed over first.
        assert!(linked.iter().all(|path| path.ends_with(" > [main > seen] > run > work")), "{linked:#?}");
        let mut depths: Vec<_> = linked.iter().map(|path| path.matches("lambda$seen$").count()).collect();
        depths.sort_unstable();
        assert_eq!(depths, [1, 2], "{linked:#?}");
    });
}

/// In a trace every task has its own link, made in one thread and entered in another.
fn trace_of_tasks(program: &Program, ran: &Ran) {
    let events = |name: &str| -> Vec<Event> {
        let pieces = thread(&ran.profile, name).pieces.iter();
        let words = pieces
            .flat_map(|piece| ran.data[piece.offset as usize..][..piece.length as usize].chunks_exact(8));
        let words = words.map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        words.filter(|word| *word != 0).map(|word| Event::decode(word).0).collect()
    };
    let (main, pool) = (events("main"), events("pool"));
    let made: Vec<u32> =
        main.iter().filter_map(|e| if let Event::LinkMade(n) = e { Some(*n) } else { None }).collect();
    let entered: Vec<u32> =
        pool.iter().filter_map(|e| if let Event::LinkEntered(n) = e { Some(*n) } else { None }).collect();
    assert_eq!(made.len(), 6, "{main:?}");
    assert_eq!(entered, made);
    let first = pool.iter().position(|event| matches!(event, Event::LinkEntered(_))).unwrap();
    assert!(matches!(pool[first + 1], Event::Entry(id) if program.name(id) == "task"), "{pool:?}");
    assert!(ran.profile.links.iter().all(|link| link.clock != 0 && link.node == 0));
}

#[test]
fn many_threads_need_few_links() {
    let program = Program::new(&[]);
    program.each_jdk(|jdk| {
        let Ran { profile, .. } = program.run(jdk, &[], &["storm", "3000"]);
        assert_eq!(program.entries(&profile, "work"), 3000);
        assert_eq!(profile.links.len(), 1);
        assert_eq!(program.origin(&profile, 1), "main > storm");

        // Every thread starts the next one and ends.
        let Ran { profile, .. } = program.run(jdk, &[], &["relay", "3000"]);
        assert_eq!(program.entries(&profile, "work"), 3000);
        assert!((200..800).contains(&profile.links.len()), "{} links", profile.links.len());
        let mut origins = BTreeMap::<String, u32>::new();
        for thread in profile.threads.iter().filter(|thread| thread.kind == ThreadKind::Thread) {
            assert_eq!(thread.link == 0, thread.name == "main", "{}", thread.name);
            if thread.link != 0 {
                *origins.entry(program.origin(&profile, thread.link)).or_default() += 1;
            }
        }
        let chained = origins.remove("run").unwrap();
        assert!(chained >= 200 && origins.keys().all(|origin| origin == "main > relay"), "{origins:?}");
    });
}

#[test]
fn roots_restrict_a_recording_to_what_they_cause() {
    let program = Program::new(&["--root=Linked#root"]);
    program.each_jdk(|jdk| {
        for record in ["counts", "tree", "trace"] {
            let flag = format!("-Dinstrument.record={record}");
            let Ran { profile, .. } = program.run(jdk, &[&flag], &["roots"]);
            assert_eq!(profile.copies[&1].properties["roots"], "Linked#root");
            let names: Vec<&str> = profile.threads.iter().map(|thread| thread.name.as_str()).collect();
            let inside = names.iter().filter(|name| **name == "inside").count();
            // Counts have no links, so what a root starts is not known.
            assert_eq!(inside, if record == "counts" { 0 } else { 2 }, "{names:?}");
            assert!(!names.contains(&"outside"), "{names:?}");
            if record == "tree" {
                let contexts = program.contexts(&profile, thread(&profile, "main"));
                let outermost: Vec<_> = contexts.keys().filter(|path| !path.contains('>')).collect();
                assert_eq!(outermost, ["root"], "{contexts:?}");
                assert_eq!(contexts["root > work"], 2);
                let contexts = program.contexts(&profile, thread(&profile, "inside"));
                assert_eq!(contexts["run > work"], 1);
            }
        }
        let none = program.run(jdk, &["-Dinstrument.roots=No#such,Linked#r?ot()V"], &["roots"]);
        assert!(none.stderr.contains("no instrumented method matches the root No#such"), "{}", none.stderr);
        assert_eq!(program.entries(&none.profile, "root"), 2);
        let forms =
            "-Dinstrument.roots=Linked.root(): void [static] (Linked.java:7), L*.nothing(int, long[])";
        let printed = program.run(jdk, &[forms], &["roots"]);
        assert_eq!(program.entries(&printed.profile, "root"), 2);
        let said = "no instrumented method matches the root L*.nothing(int, long[])";
        assert!(printed.stderr.contains(said), "{}", printed.stderr);
    });
}

#[test]
fn regions_are_timed_alone_and_together_with_everything() {
    let source = fs::read_to_string(java_source("Linked.java")).unwrap();
    let line = 1 + source.lines().position(|line| line.ends_with("// the body")).unwrap();
    let body = format!("--region=Linked:{line}");
    let whole = "--region=Linked#timed";
    // 1 to 600: every fourth returns at once, every fifth of the others throws.
    let (mut returned, mut thrown, mut passages) = (0, 0, 0);
    for n in 1..=600 {
        match (n % 4, n % 5) {
            (0, _) => returned += 1,
            (_, 0) => thrown += 1,
            _ => (returned, passages) = (returned + 1, passages + n),
        }
    }
    for transforms in [&[][..], &["--transform=method-events,thread-links,hand-over,allocation"]] {
        for (region, ended, left) in [(whole, returned, thrown), (body.as_str(), passages, 0)] {
            let options: Vec<&str> = transforms.iter().copied().chain([region]).collect();
            let program = Program::new(&options);
            program.each_jdk(|jdk| {
                let Ran { profile, .. } = program.run(jdk, &[], &["regions", "600"]);
                let sum = |of: fn(&instrument_trace::RegionTiming) -> u64| -> u64 {
                    profile.regions.iter().map(of).sum()
                };
                assert_eq!((sum(|r| r.passages), sum(|r| r.left_otherwise)), (ended, left), "{region}");
                assert!(profile.regions.len() < 600, "ended threads are summed up");
                let name = region.trim_start_matches("--region=");
                for region in &profile.regions {
                    assert_eq!(profile.copies[&1].region_name(region.number), Some(name));
                    assert!(region.passages == 0 || region.min <= region.max && region.max <= region.ns);
                    let last: u64 = region.last.iter().map(|passage| passage.ns).sum();
                    let kept = region.passages <= region.last.len() as u64;
                    assert!(region.thread == 0 || !kept || last == region.ns, "{region:?}");
                }
                let recorded = profile.threads.iter().any(|thread| !thread.methods.is_empty());
                assert_eq!(recorded, !transforms.is_empty());
            });
        }
    }
}

#[test]
fn a_region_that_is_nowhere_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    Jdk::all().unwrap()[0].compile_into(&[java_source("Linked.java")], dir.path()).unwrap();
    let out = dir.path().join("out");
    for (option, reason) in [
        ("--region=Linked#gone", "region Linked#gone: there is no such code"),
        ("--region=Gone#main", "region Gone#main: there is no class Gone that is instrumented"),
        ("--region=Linked:100000", "lines are numbers from 1 to 65535"),
    ] {
        let mut rewrite = subject::call().unwrap();
        rewrite.arg(dir.path().join("Linked.class")).arg("-o").arg(&out).arg(option);
        let done = rewrite.capture().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(!done.status.success() && said.contains(reason), "{option}: {said}");
        assert!(!out.exists());
    }
}
