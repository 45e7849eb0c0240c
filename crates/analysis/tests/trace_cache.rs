//! Every answer about a trace is the same without a cache, with an empty one, and with what was kept in it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use instrument_analysis::arcs::Arcs;
use instrument_analysis::invariants;
use instrument_analysis::page::Sections;
use instrument_analysis::report::summary::Summary;
use instrument_analysis::report::{Format, Options, counts, stats, threads, xarc, xprof, xtree};
use instrument_analysis::session::{Request, Session};
use instrument_analysis::timeline::{Question, Room, Timeline};
use instrument_analysis::trace_index::Cache;
use instrument_testing::{Script, Writer};

/// A profile of two threads, long ago: calls, constructors, exceptions, objects, a hand-over, and calls that are open in the end.
fn profile(path: &Path) {
    let round = |s: Script| {
        let s = s.call(1, |s| s.wait(3).call(2, |s| s.wait(400).call(1, |s| s.wait(20))).make(7, 16));
        s.pause(9).make_link(5).construct(4).wait(1).unwind(4).call(3, |s| s.wait(900))
    };
    let main = Script::new(1000).enter(3).times(400, round).exit(9).enter(2).wait(7);
    let other = Script::new(5000).times(300, |s| s.enter_link(6).call(1, |s| s.wait(70)).leave_link(6));
    let mut writer = Writer::new();
    writer.property("record", "trace").trace("main", &main, 40);
    writer.trace("other", &other, 7);
    writer.clocks(900_000, 901_000);
    fs::write(path, writer.finish()).unwrap();
    let file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
}

/// Everything that reports print of a session, which must be right.
fn reports(session: &Session) -> String {
    assert_eq!(invariants::check(&session.model, &Arcs::new(&session.model)).violations, []);
    printed(session)
}

/// Everything that reports print of a session.
pub(crate) fn printed(session: &Session) -> String {
    let mut out = Vec::new();
    let arcs = Arcs::new(&session.model);
    for format in [Format::Json, Format::Csv, Format::Text] {
        let options = Options { format, ..Options::default() };
        xtree::write(&mut out, &session.model, &options).unwrap();
        xprof::write(&mut out, &session.model, &arcs, &options).unwrap();
        xarc::write(&mut out, &session.model, &arcs, &options).unwrap();
        stats::write(&mut out, &session.model, &session.calls, &options).unwrap();
        threads::write(&mut out, &session.model, &options).unwrap();
    }
    let checked = invariants::check(&session.model, &arcs);
    writeln!(out, "{} {}", checked.consumers, checked.equations).unwrap();
    let summary = Summary::new(session, &counts::Request::default(), &[]).unwrap();
    writeln!(out, "{:#}", summary.document(None).unwrap()).unwrap();
    summary.write(&mut out, None, &Options::default()).unwrap();
    let texts = session.messages.iter().map(|message| &message.text).chain(&session.warnings);
    texts.for_each(|text| writeln!(out, "{text}").unwrap());
    String::from_utf8(out).unwrap()
}

/// Windows and pictures of many widths, and the page.
fn windows(session: &Session, request: &Request) -> String {
    let timeline = Timeline::of_session(session, request).unwrap();
    let rows = timeline.traced(session).unwrap();
    assert_eq!(rows.len(), 2);
    let mut out = Vec::new();
    for (from, width) in (0..60).flat_map(|n| [(n * 9973, 1u64 << (n % 20)), (n, 1 << 40)]) {
        for pixels in [None, Some(300)] {
            let question = Question { window: (from, from + width), rows: rows.clone(), pixels };
            writeln!(out, "{}", question.answer(&timeline, &session.profiles).unwrap()).unwrap();
        }
    }
    let sections = Sections::of_session(session, request, &timeline, Room::FILE).unwrap();
    writeln!(out, "{}", serde_json::to_string(&sections).unwrap()).unwrap();
    String::from_utf8(out).unwrap()
}

fn length(cache: &Path) -> u64 {
    let entries = fs::read_dir(cache).into_iter().flatten();
    entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn every_answer_is_the_same_with_and_without_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let (path, kept) = (folder.path().join("a.iprof"), folder.path().join("kept"));
    profile(&path);
    let none = Request { files: vec![path.clone()], ..Request::default() };
    let cached = Request { cache: Some(Cache::new(kept.clone())), ..none.clone() };
    let all: [fn(Request) -> Request; 4] = [
        |request| request,
        |request| Request { threads: vec!["other".into()], ..request },
        |request| Request { links: true, contexts: true, ..request },
        |request| Request { split_threads: true, lifetimes: true, ..request },
    ];
    let answers = |of: &Request| all.map(|with| reports(&Session::read(&with(of.clone())).unwrap()));
    let expected = answers(&none);
    // With an empty cache; with trees in it; when the index is made; and with both.
    assert_eq!(length(&kept), 0);
    assert_eq!(reports(&Session::read(&cached).unwrap()), expected[0]);
    let trees = length(&kept);
    assert!(trees > 0);
    assert_eq!(answers(&cached), expected);
    assert_eq!(length(&kept), trees);
    let indexed = |request: &Request| {
        let bytes = std::sync::atomic::AtomicU64::new(0);
        let advance = |read| {
            bytes.fetch_add(read, std::sync::atomic::Ordering::Relaxed);
        };
        let session = Session::read_indexed(request, &advance).unwrap();
        (reports(&session) + &windows(&session, request), bytes.into_inner())
    };
    let (uncached, read) = indexed(&none);
    assert!(read > 0);
    assert_eq!(indexed(&cached), (uncached.clone(), read));
    assert!(length(&kept) > trees);
    assert_eq!(indexed(&cached), (uncached, 0), "nothing of the trace was read");
    assert_eq!(answers(&cached), expected);
}

#[test]
fn a_trace_that_cannot_be_kept_is_reported_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.iprof");
    profile(&path);
    let none = Request { files: vec![path.clone(), path.clone()], ..Request::default() };
    let cached = Request { cache: Some(Cache::new(path.join("below"))), ..none.clone() };
    let [one, other] = [&none, &cached].map(|request| Session::read(request).unwrap());
    assert_eq!(reports(&one).lines().count() + 1, reports(&other).lines().count());
    let said = other.messages.iter().filter(|message| message.text.contains("--no-cache"));
    assert_eq!(said.count(), 1, "once, though there are two");
}
