//! The reader over waits and Java threads, whole, cut and damaged.

use std::fs;
use std::path::Path;

use instrument_testing::Writer;
use instrument_trace::{JavaThread, Profile, Wait, WaitKind};

fn wait(i: u32) -> Wait {
    Wait {
        copy: 1,
        kind: if i.is_multiple_of(2) { WaitKind::Contended } else { WaitKind::Waiting },
        thread: 1 + i % 3,
        start: u64::from(i) << 33,
        end: if i.is_multiple_of(7) { 0 } else { (u64::from(i) << 33) + 5 },
        monitor: i % 5,
        class: 1,
        context: i % 4,
        owner: i % 2,
        timeout: u64::from(i) << 40,
        timed_out: i.is_multiple_of(3),
    }
}

fn threads() -> Vec<JavaThread> {
    let thread = |number: u32, name: &str| JavaThread {
        copy: 1,
        number,
        ordinal: number - 1,
        start: 10 * u64::from(number),
        end: 1000,
        starter: number / 2,
        daemon: number == 2,
        virtual_thread: number == 3,
        name: name.into(),
        group: "main".into(),
        group_parent: "system".into(),
    };
    vec![thread(1, "main"), thread(2, ""), thread(3, "Größe \u{1f9f5}"), thread(70, "late")]
}

/// More waits than are read at once, in two regions.
fn file() -> Vec<u8> {
    let waits = (1..=20_000).map(wait).collect::<Vec<_>>();
    let mut writer = Writer::new();
    writer.java_threads(&threads()[2..]);
    writer.waits(&waits[..15_000]).waits(&waits[15_000..]);
    writer.java_threads(&threads()[..2]);
    writer.finish()
}

fn waits(profile: &Profile, data: &[u8]) -> Vec<Wait> {
    let mut waits = Vec::new();
    profile.for_each_wait(&data.to_vec(), |wait| waits.push(*wait)).unwrap();
    waits
}

#[test]
fn waits_and_threads_are_read() {
    let data = file();
    let profile = Profile::parse(&data).unwrap();
    assert_eq!((&profile.damage[..], profile.skipped.len()), (&[][..], 0));
    assert!(waits(&profile, &data).into_iter().eq((1..=20_000).map(wait)));
    assert_eq!(profile.java_threads, threads(), "by number");
    assert_eq!(profile.java_thread(1, 70).map(|thread| thread.name.as_str()), Some("late"));
    assert_eq!((profile.java_thread(1, 4), profile.java_thread(2, 1)), (None, None));
}

/// Whatever is left of a file, what is read from it is what the whole has.
#[test]
fn cut_anywhere() {
    let data = file();
    let used = data.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    let whole = (1..=20_000).map(wait).collect::<Vec<_>>();
    let mut seen = 0;
    // Every byte near the ends, now and then one in between.
    for length in (4096..6500).chain((6500..used).step_by(9973)).chain(used - 1200..used + 64) {
        let cut = &data[..length];
        let profile = Profile::parse(cut).unwrap();
        assert!(length < 4096 + 64 || !profile.damage.is_empty(), "cut at {length} unnoticed");
        let waits = waits(&profile, cut);
        assert!(whole.starts_with(&waits), "cut at {length}");
        assert!(profile.java_threads.iter().all(|thread| threads().contains(thread)), "cut at {length}");
        seen += waits.len() + profile.java_threads.len();
    }
    assert!(seen > 1_000_000, "the cuts never left anything: {seen}");
}

#[test]
fn what_was_not_finished_is_left_out() {
    let mut data = file();
    let at = |data: &[u8], kind: u64| {
        (4160..data.len()).step_by(64).find(|&at| data[at..at + 8] == kind.to_le_bytes()).unwrap()
    };
    let (first_wait, first_thread) = (at(&data, 16) + 64, at(&data, 17) + 64);
    // No kind yet; a kind of the future; no number yet; lengths that lead out of the record.
    data[first_wait..first_wait + 4].fill(0);
    data[first_wait + 64] = 9;
    data[first_thread..first_thread + 8].fill(0);
    data[first_thread + 256 + 32..][..6].fill(0xff);
    let profile = Profile::parse(&data).unwrap();
    let waits = waits(&profile, &data);
    assert_eq!((waits.len(), waits[0].kind), (19_999, WaitKind::Other(9)));
    let numbers = profile.java_threads.iter().map(|thread| thread.number).collect::<Vec<_>>();
    assert_eq!(numbers, [1, 2, 70]);
    let late = profile.java_thread(1, 70).unwrap();
    assert_eq!((late.name.len(), late.group.as_str()), (216, ""));
}

#[test]
fn a_number_that_comes_twice_is_one_thread() {
    let mut writer = Writer::new();
    writer.java_threads(&threads()).java_threads(&threads()[..1]);
    assert_eq!(Profile::parse(&writer.finish()).unwrap().java_threads, threads());
}

/// A small file, for the fuzzing of the reader; `BLESS=1` writes it anew.
#[test]
fn the_pinned_file_is_up_to_date() {
    let mut writer = Writer::new();
    writer.property("record", "tree").class_names(&[(1, "java.lang.Object")]);
    writer.contexts(1, &[(0, Some(1)), (1, Some(2)), (1, None)]);
    writer.java_threads(&threads()).waits(&(1..=20).map(wait).collect::<Vec<_>>());
    let data = writer.finish();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles/v1-waits.iprof");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &data).unwrap();
    }
    assert!(fs::read(&path).unwrap() == data, "v1-waits.iprof is not what the writer writes");
}
