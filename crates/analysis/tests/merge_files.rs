//! Processes that call each other, as files: which are read, what they are called, and what is made of them.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::common::machines::{BASE, HOUR, Machine, call, chain};
use crate::parquet::{int, rows, written};
use instrument_analysis::export::chrome::Chrome;
use instrument_analysis::merge::offsets::Placed;
use instrument_analysis::merge::processes::{Processes, offsets, otlp, remote};
use instrument_analysis::merge::waterfalls::Bounds;
use instrument_analysis::merge::{Party, View};
use instrument_analysis::session::{Error, ProfileFile, Request};
use instrument_analysis::trace_index::Cache;
use instrument_names::snapshot::of_reset;
use instrument_testing::{Script, ThreadFacts, Writer};
use instrument_trace::Profile;
use instrument_trace::RemoteCallKind::{Made, Served};

/// Files of a folder of their own, and the request for them in this order.
struct Files {
    folder: tempfile::TempDir,
    request: Request,
}

impl Files {
    fn of(contents: &[(&str, Vec<u8>)]) -> Files {
        let mut files = Files { folder: tempfile::tempdir().unwrap(), request: Request::default() };
        contents.iter().for_each(|(name, content)| files.add(name, content));
        files
    }

    fn add(&mut self, name: &str, content: &[u8]) {
        std::fs::write(self.path(name), content).unwrap();
        self.request.files.push(self.path(name));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn open(&self) -> Processes {
        Processes::open(&self.request).unwrap_or_else(|error| panic!("{}", error.chain()))
    }

    /// Names of files in messages without their folder.
    fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }

    fn messages(&self, processes: &Processes) -> Vec<String> {
        processes.messages.iter().map(|message| self.short(&message.text)).collect()
    }

    fn error(&self) -> String {
        let Err(error) = Processes::open(&self.request) else { panic!("it is opened") };
        self.short(&error.chain())
    }
}

fn three() -> Files {
    let machines = chain();
    let names = ["a.iprof", "b.iprof", "c.iprof"];
    let all: Vec<_> = names
        .into_iter()
        .zip(machines.iter().zip(1..).map(|(machine, number)| machine.file(number)))
        .collect();
    Files::of(&all)
}

#[test]
fn each_process_is_read_once() {
    let mut files = three();
    let processes = files.open();
    assert_eq!(processes.labels, ["process (pid 71)", "process (pid 72)", "process (pid 73)"]);
    assert_eq!((processes.numbers.all_matched(), processes.copies.len()), (6, 0));
    assert_eq!(files.messages(&processes), Vec::<String>::new());
    // A copy of the second one, which comes first.
    let b = std::fs::read(files.path("b.iprof")).unwrap();
    files.add("copy.iprof", &b);
    let processes = files.open();
    assert_eq!((processes.files.len(), processes.numbers.all_matched()), (3, 6));
    let [(left_out, fuller)] = &processes.copies[..] else { panic!("{:?}", processes.copies) };
    let names = [left_out, fuller].map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    assert!(names == ["copy.iprof", "b.iprof"] || names == ["b.iprof", "copy.iprof"], "{names:?}");
    let expected = format!("{}: of the same process as {}, which has no less; left out", names[0], names[1]);
    assert_eq!(files.messages(&processes), [expected]);
    // Either name is the one process.
    let at = |name: &str| {
        processes.position(&files.request, &files.path(name)).map_err(|error| files.short(&error.chain()))
    };
    let of_copy = processes.files.iter().position(|file| &file.path == fuller);
    assert_eq!((at("b.iprof").ok(), at("copy.iprof").ok()), (of_copy, of_copy));
    let c = processes.files.iter().position(|file| file.path == files.path("c.iprof"));
    assert_eq!(at("c.iprof").ok(), c);
    let of_name = |name: &str| {
        processes.position(&files.request, std::path::Path::new(name)).map_err(|error| error.to_string())
    };
    assert_eq!(of_name("process (pid 72)"), Ok(1));
    let choices = "the processes are process (pid 71), process (pid 72), process (pid 73)";
    assert_eq!(
        of_name("process"),
        Err(format!("--process process: several processes have this name; {choices}"))
    );
    let expected = format!("--process d: neither a process nor a profile that was given; {choices}");
    assert_eq!(of_name("d"), Err(expected));
}

#[test]
fn names_that_are_the_same_have_the_number_of_their_file() {
    let machine = |number: u64, start_ms| {
        let mut data = Machine { start_ms, ..Machine::default() }.file(number);
        data[24..32].copy_from_slice(&7u64.to_le_bytes());
        data
    };
    let files = Files::of(&[
        ("a.iprof", machine(1, 5)),
        ("b.iprof", Machine::default().file(2)),
        ("c.iprof", machine(3, 6)),
    ]);
    let labels = files.open().labels;
    assert_eq!(labels, ["process (pid 7) (file 1)", "process (pid 72)", "process (pid 7) (file 3)"]);
}

#[test]
fn what_cannot_be_read_is_left_out_or_an_error() {
    let mut files = three();
    // A head that says it is of a version that nobody knows.
    let mut unreadable = std::fs::read(files.path("a.iprof")).unwrap();
    unreadable[8..12].copy_from_slice(&9999u32.to_le_bytes());
    files.add("later.iprof", &unreadable);
    let processes = files.open();
    assert_eq!((processes.files.len(), processes.numbers.all_matched()), (3, 6));
    let [message] = &files.messages(&processes)[..] else { panic!("{:?}", files.messages(&processes)) };
    assert!(message.contains("later.iprof") && message.ends_with("; left out"), "{message}");
    let error = processes.position(&files.request, &files.path("later.iprof")).err().unwrap();
    assert_eq!(files.short(&error.chain()), "--process later.iprof: left out, for it cannot be read");

    let alone = Files::of(&[("later.iprof", unreadable.clone())]);
    assert!(!alone.error().contains("left out"), "{}", alone.error());
    assert!(!matches!(Processes::open(&alone.request), Err(Error::NoneReadable(_))));
    let both = Files::of(&[("later.iprof", unreadable.clone()), ("other.iprof", unreadable)]);
    let Err(Error::NoneReadable(messages)) = Processes::open(&both.request) else {
        panic!("{}", both.error())
    };
    assert_eq!(messages.len(), 2);

    files.request.files = vec![files.path("missing.iprof")];
    assert!(matches!(Processes::open(&files.request), Err(Error::Open(..))));
    files.add("text.txt", b"calls 5");
    files.request.files.remove(0);
    files.request.files.insert(0, files.path("b.iprof"));
    assert!(matches!(Processes::open(&files.request), Err(Error::Request(_))), "{}", files.error());
    assert!(files.error().contains("text.txt"), "{}", files.error());
}

#[test]
fn remote_calls_are_known_from_the_start_only() {
    let mut files = three();
    files.request.since = vec![files.path("a.iprof")];
    assert!(
        files.error().starts_with("--since: remote calls are known from the start only"),
        "{}",
        files.error()
    );
    files.request.since = vec![PathBuf::from("start")];
    assert_eq!(files.open().numbers.all_matched(), 6);
}

#[test]
fn no_remote_call_is_said() {
    let machine = |number| Machine { threads: vec![("main", None)], ..Machine::default() }.file(number);
    let files = Files::of(&[("a.iprof", machine(1)), ("b.iprof", machine(2))]);
    let none = "no remote calls: they are recorded with `instrument run --remote rmi,http,grpc,jms`";
    assert_eq!(files.messages(&files.open()), [none]);
    // One side is enough to say something else.
    for kind in [Made, Served] {
        let calls = vec![call(kind, 1, if kind == Made { 1 } else { 2 }, 1, [10, 20, 30, 40])];
        let one = Machine { threads: vec![("main", None)], calls, ..Machine::default() };
        let files = Files::of(&[("a.iprof", one.file(1)), ("b.iprof", machine(2))]);
        assert_eq!(files.messages(&files.open()), Vec::<String>::new(), "{kind:?}");
    }
    let profiles = opened(&files);
    assert!(remote(&profiles, BOUNDS).unwrap().is_none());
    let messages = otlp(&profiles, &mut Vec::new()).unwrap();
    assert_eq!(messages[0].text, none);
}

#[test]
fn what_is_read_of_traces_is_kept() {
    let mut files = three();
    // Not one that may still be written.
    for path in &files.request.files {
        let file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
    let kept = files.path("kept");
    files.request.cache = Some(Cache::new(kept.clone()));
    assert_eq!(files.messages(&files.open()), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 3);
}

/// A profile whose process was reset: its remote calls are known from the start only, and have to be asked for so.
#[test]
fn a_reset_has_to_be_looked_past() {
    let mut files = three();
    let data = std::fs::read(files.path("b.iprof")).unwrap();
    std::fs::write(of_reset(&files.path("b.iprof")), data).unwrap();
    let error = files.error();
    assert!(error.starts_with("b.iprof: its process was reset by `instrument ctl 72 reset`"), "{error}");
    files.request.since = vec![PathBuf::from("start")];
    assert_eq!(files.open().numbers.all_matched(), 6);
}

#[test]
fn a_dataset_has_the_calls_between_its_processes() {
    let files = three();
    let folder = tempfile::tempdir().unwrap();
    written(&files.request.files, &[], folder.path());
    let columns =
        ["made", "served", "matched", "failed", "client_ns", "client_max_ns", "server_ns", "server_max_ns"];
    let mut figures: Vec<_> = rows(folder.path(), "remote_calls")
        .iter()
        .map(|row| columns.map(|column| int(row, column).unwrap()))
        .collect();
    figures.sort_unstable();
    let expected = [[3, 3, 3, 0, 12_300, 4100, 6300, 2100], [3, 3, 3, 0, 24_000, 8000, 18_300, 6100]];
    assert_eq!(figures, expected);
}

const BOUNDS: Bounds = Bounds { outermost: 2, within: 10 };

/// Each by itself, so that copies are there as well.
fn opened(files: &Files) -> Vec<ProfileFile> {
    let alone = |path: &PathBuf| Request { files: vec![path.clone()], ..Request::default() };
    let all = files.request.files.iter().map(|path| Processes::open(&alone(path)).ok().unwrap());
    all.flat_map(|processes| processes.files).collect()
}

#[test]
fn remote_calls_of_opened_profiles_are_found() {
    let mut files = three();
    let found = remote(&opened(&files), BOUNDS).unwrap().expect("calls");
    assert_eq!((found.outermost, found.waterfalls.len(), found.services.links.len()), (3, 2, 2));
    assert_eq!(found.labels, ["process (pid 71)", "process (pid 72)", "process (pid 73)"]);
    let mut spans = Vec::new();
    assert_eq!(otlp(&opened(&files), &mut spans).unwrap().len(), 0);
    let text = String::from_utf8(spans).unwrap();
    assert_eq!(text.matches("\"spanId\"").count(), 12, "two for each of six calls");
    // Two profiles of one process: nobody can say which is meant.
    let copy = std::fs::read(files.path("b.iprof")).unwrap();
    files.add("copy.iprof", &copy);
    let profiles = opened(&files);
    assert!(remote(&profiles, BOUNDS).unwrap().is_none());
    assert!(offsets(&profiles).unwrap().is_none());
    let error = otlp(&profiles, &mut Vec::new()).err().unwrap();
    assert!(error.chain().ends_with(": another one is of the same process"), "{}", error.chain());
}

#[test]
fn clocks_of_one_machine_are_one_clock() {
    let with_calls = |number| {
        let calls = vec![call(Made, 1, 1, 1, [10, 20, 30, 40])];
        Machine { threads: vec![("main", None)], calls, ..Machine::default() }.file(number)
    };
    let without = |number: u64, host: &str| {
        let mut writer = Writer::new();
        writer.word(16, number).property("host", host);
        writer.tree("main", &Script::new(1000).call(1, |s| s.wait(5)));
        writer.finish()
    };
    let of = |first: Vec<u8>, second: Vec<u8>| {
        let files = Files::of(&[("a.iprof", first), ("b.iprof", second)]);
        offsets(&opened(&files)).unwrap().map(|offsets| offsets.all.len())
    };
    // A machine of `with_calls` is `here`.
    assert_eq!(of(without(1, "here"), without(2, "here")), None);
    assert_eq!(of(with_calls(1), without(2, "here")), Some(2));
    assert_eq!(of(without(2, "here"), with_calls(1)), Some(2));
    assert_eq!(of(without(1, "here"), without(2, "moon")), Some(2));
    let alone = Files::of(&[("a.iprof", with_calls(1))]);
    assert!(offsets(&opened(&alone)).unwrap().is_none());
}

#[test]
fn the_tree_of_files_has_their_calls() {
    let mut files = three();
    files.request.contexts = true;
    let mut processes = files.open();
    let (session, stages) = processes.tree(&files.request, &View::default(), true).unwrap();
    assert_eq!(stages.len(), 2);
    let model = &session.model;
    let remote_calls = model.cum()[model.resource("remote-calls").unwrap()];
    assert_eq!(remote_calls, 6.0);
    // Methods 1 of the first and 2 of the second, three calls each; remote methods three each.
    let named = |name: &str| {
        let names: Vec<_> = model.nodes().iter().map(|node| model.name(node.consumer)).collect();
        let at = names.iter().position(|is| is.contains(name)).unwrap_or_else(|| panic!("{names:?}"));
        let counts = session.contexts[at].counts;
        (counts.entries, counts.closes.exits)
    };
    assert_eq!(named("remote sell(I)V"), (3, 3));
    let all: u64 = session.contexts.iter().map(|of| of.counts.entries).sum();
    assert_eq!(all, 3 + 3 + 6, "{:?}", session.contexts);
    assert!(!session.calls.is_empty());
    let (session, _) = processes.tree(&files.request, &View::default(), false).unwrap();
    assert!(session.calls.is_empty());
    // The calls are those of threads, which have no time of their own.
    let messages: Vec<_> = session.messages.iter().map(|message| message.text.as_str()).collect();
    let [message] = messages[..] else { panic!("{messages:?}") };
    assert!(message.starts_with("note: 4 contexts have less time than the remote calls"), "{message}");
}

#[test]
fn a_timeline_of_files_says_which_clocks_do_not_fit() {
    let mut machines = chain();
    // Nobody calls this one, and its day is the same.
    machines.push(Machine {
        threads: vec![("lone", Some(Script::new(BASE).call(1, |s| s.wait(500))))],
        ahead: HOUR as i64,
        start_ms: 1_700_000_000_000,
        ..Machine::default()
    });
    let all: Vec<_> = ["a", "b", "c", "d"]
        .into_iter()
        .zip(machines.iter().zip(1..).map(|(machine, number)| machine.file(number)))
        .collect();
    let files = Files::of(&all);
    let processes = files.open();
    let placed = processes.calls().offsets(None).unwrap();
    assert_eq!(placed.all.iter().filter(|offset| offset.placed == Placed::Start).count(), 1);
    let lone =
        "note: process (pid 74): clock offset unknown, as no call was matched; aligned by the time of day";
    let mut out = Vec::new();
    let mut chrome = Chrome::new(&mut out);
    let messages = processes.calls().write_events(None, &|_| true, &mut chrome).unwrap();
    assert_eq!(messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), [lone]);
    let text = String::from_utf8(out).unwrap();
    for label in &processes.labels {
        assert!(text.contains(label), "{label}: {text}");
    }
    let mut spans = Vec::new();
    let messages = processes.calls().otlp(None, false, &mut spans).unwrap();
    assert_eq!(messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), [lone]);
}

/// A copy of the same process that was taken at another moment, or lost something, gives way; in whatever order they stand.
#[test]
fn the_fuller_copy_is_kept() {
    let file = |calls: u32, threads: u32, beat: u64, damaged: bool| {
        let mut writer = Writer::new();
        writer.word(16, 77).word(24, 7).clocks(beat, 0);
        for _ in 0..threads {
            writer.tree("main", &Script::new(1000).times(calls, |s| s.call(1, |s| s.wait(5))));
        }
        // A caller that is not in front of its context.
        if damaged {
            writer.contexts(1, &[(9, Some(1))]);
        }
        writer.finish()
    };
    let kept = |first: &[u8], second: &[u8]| {
        let files = Files::of(&[("a.iprof", first.to_vec()), ("b.iprof", second.to_vec())]);
        let processes = files.open();
        assert_eq!((processes.files.len(), processes.copies.len()), (1, 1));
        processes.files[0].path == files.path("a.iprof")
    };
    let whole = file(5, 2, 2000, false);
    let less = [
        ("damaged, with more calls", file(9, 2, 2000, true)),
        ("fewer calls", file(4, 2, 2000, false)),
        ("fewer threads, each with more", file(6, 1, 2000, false)),
        ("earlier", file(5, 2, 1999, false)),
    ];
    for (what, less) in &less {
        assert!(kept(&whole, less), "{what}");
        assert!(!kept(less, &whole), "{what}");
    }
    // Of two that are the same it is the first.
    assert!(kept(&whole, &whole));
}

#[test]
fn a_profile_that_lost_something_is_incomplete() {
    let of = |change: &dyn Fn(&mut Writer), facts: ThreadFacts| {
        let mut writer = Writer::new();
        writer.recorded("main", &facts, &Script::new(1000).call(1, |s| s.wait(5)).record());
        change(&mut writer);
        let data = writer.finish();
        let profile = Profile::parse(&data).unwrap();
        Party { profile: &profile, source: &data }.is_incomplete()
    };
    let nothing: &dyn Fn(&mut Writer) = &|_| ();
    assert!(!of(nothing, ThreadFacts::default()));
    assert!(of(nothing, ThreadFacts { flags: 1, ..ThreadFacts::default() }), "stopped");
    assert!(of(nothing, ThreadFacts { dropped: 1, ..ThreadFacts::default() }), "events of a thread");
    assert!(
        of(
            &|writer| {
                writer.word(48, 1);
            },
            ThreadFacts::default()
        ),
        "events of no thread"
    );
    assert!(
        of(
            &|writer| {
                writer.contexts(1, &[(9, Some(1))]);
            },
            ThreadFacts::default()
        ),
        "damaged"
    );
}
