use super::*;
use instrument_testing::{Script, Writer};
use instrument_trace::ThreadKind;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// A profile of two threads in a folder; written some time ago by a process that has ended.
struct Fixture {
    folder: tempfile::TempDir,
    path: PathBuf,
    cache: Cache,
}

/// What was read: the profile, its indexes, why they were not kept, and how many bytes of traces were read.
struct Read {
    profile: Profile,
    indexes: Indexes,
    failed: Option<String>,
    bytes: u64,
}

fn data(rounds: u32) -> Vec<u8> {
    let mut writer = Writer::new();
    let round = |s: Script| {
        let s = s.call(1, |s| s.wait(3).call(2, |s| s.wait(400)).make(7, 16)).pause(9).make_link(5);
        s.construct(4).wait(1).unwind(4).enter_link(6).wait(2).leave_link(6)
    };
    let script = Script::new(1000).enter(3).times(rounds, round).exit(9);
    writer.trace("main", &script, 40);
    writer.trace("other", &Script::new(5000).times(30, |s| s.call(1, |s| s.wait(70))), 7);
    writer.clocks(90_000, 91_000);
    writer.finish()
}

fn age(path: &Path, seconds: u64) {
    let file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let (path, cache) = (folder.path().join("a.iprof"), Cache::new(folder.path().join("deep/kept")));
        fs::write(&path, data(200)).unwrap();
        age(&path, 60);
        Fixture { folder, path, cache }
    }

    fn read_as(&self, reading: Reading<'_>, is_live: bool) -> Read {
        let source = File::open(&self.path).unwrap();
        let mut profile = Profile::open(&source).unwrap();
        let (indexes, failed) = super::read(&source, &mut profile, 1, is_live, reading).unwrap();
        Read { profile, indexes, failed, bytes: 0 }
    }

    fn read_with(&self, cache: Option<&Cache>, is_live: bool) -> Read {
        let bytes = AtomicU64::new(0);
        let advance = |read| {
            bytes.fetch_add(read, Ordering::Relaxed);
        };
        let reading = Reading { cache, index: Some(&advance) };
        let read = self.read_as(reading, is_live);
        Read { bytes: bytes.into_inner(), ..read }
    }

    fn read(&self) -> Read {
        self.read_with(Some(&self.cache), false)
    }

    fn kept(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.cache.folder()).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

/// The same figures, and the same answers to windows and pictures of any width.
fn same(fixture: &Fixture, one: &Read, other: &Read) {
    assert_eq!(one.profile.threads, other.profile.threads);
    assert_eq!(one.profile.damage, other.profile.damage);
    assert_eq!(one.profile.links, other.profile.links);
    assert_eq!(one.indexes.len(), 2);
    let source = File::open(&fixture.path).unwrap();
    for thread in &one.profile.threads {
        assert_eq!(thread.kind, ThreadKind::Thread);
        let of = |read: &Read| Arc::clone(&read.indexes[&(thread.copy, thread.ordinal)]);
        let [a, b] = [of(one), of(other)];
        assert_eq!((a.calls, &a.made, &a.entered), (b.calls, &b.made, &b.entered));
        for (from, width) in (0..100).flat_map(|n| [(900 + n * 997, 1 << (n % 20)), (n, 200_000)]) {
            let window = (from, from + width);
            let [x, y] = [&a, &b].map(|index| index.window(&source, thread, window).unwrap());
            assert_eq!(x, y);
            for resolution in [1, 300, 5000] {
                let [x, y] =
                    [&a, &b].map(|index| index.picture(&source, thread, window, resolution).unwrap());
                assert_eq!(x, y);
            }
        }
    }
}

#[test]
fn what_was_kept_answers_as_what_was_read() {
    let fixture = Fixture::new();
    let first = fixture.read();
    assert!(first.bytes > 10_000 && first.failed.is_none(), "{} {:?}", first.bytes, first.failed);
    let kept = fixture.kept();
    assert_eq!(kept.len(), 1, "{kept:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&kept[0]).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let again = fixture.read();
    assert_eq!(again.bytes, 0, "nothing of the traces is read");
    same(&fixture, &first, &again);
    let none = fixture.read_with(None, false);
    assert_eq!(none.bytes, first.bytes);
    same(&fixture, &none, &again);
    // A report asks for no index, and finds its trees there.
    let report = fixture.read_as(Reading { cache: Some(&fixture.cache), index: None }, false);
    assert!(report.indexes.is_empty());
    assert_eq!(report.profile.threads, again.profile.threads);
    assert_eq!(report.profile.links, again.profile.links);
    assert_eq!(fixture.kept(), kept);
    // And the trees are those of a replay without an index.
    let source = File::open(&fixture.path).unwrap();
    let mut plain = Profile::open(&source).unwrap();
    replay::profile(&source, &mut plain).unwrap();
    assert_eq!(plain.threads, again.profile.threads);
    assert_eq!(plain.damage, again.profile.damage);
}

#[test]
fn an_index_is_added_to_trees_that_a_report_kept() {
    let fixture = Fixture::new();
    let trees = Reading { cache: Some(&fixture.cache), index: None };
    let report = fixture.read_as(trees, false);
    let kept = fixture.kept();
    let length = || fs::metadata(&kept[0]).unwrap().len();
    let of_trees = length();
    let first = fixture.read();
    assert!(first.bytes > 0 && length() > of_trees);
    assert_eq!(fixture.kept(), kept);
    assert_eq!(report.profile.threads, first.profile.threads);
    same(&fixture, &first, &fixture.read());
    let with_index = length();
    fixture.read_as(trees, false);
    assert_eq!(length(), with_index, "a report takes nothing away");
}

#[test]
fn what_is_damaged_short_or_foreign_is_made_anew() {
    let fixture = Fixture::new();
    let first = fixture.read();
    let path = fixture.kept().remove(0);
    let good = fs::read(&path).unwrap();
    let mut wrong = vec![Vec::new(), b"not an index".to_vec(), good[..good.len() - 1].to_vec()];
    wrong.push([&good[..], b"x"].concat());
    // Magic, version, checksum, key, length; and all over what is behind.
    let header = 0..56;
    for (number, at) in header.chain((56..good.len()).step_by(good.len() / 150)).enumerate() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (number % 8);
        wrong.extend([bytes, good[..at].to_vec()]);
    }
    for bytes in wrong {
        fs::write(&path, bytes).unwrap();
        let read = fixture.read();
        assert_eq!(read.bytes, first.bytes);
        assert_eq!(fs::read(&path).unwrap(), good);
    }
    same(&fixture, &first, &fixture.read());
}

/// A checksum may fit by chance.
#[test]
fn no_bytes_make_it_panic() {
    let fixture = Fixture::new();
    fixture.read();
    let good = fs::read(fixture.kept().remove(0)).unwrap();
    let source = File::open(&fixture.path).unwrap();
    let profile = Profile::open(&source).unwrap();
    let body = &good[56..];
    assert!(kept::read(body, &profile, true).is_some());
    for at in (0..body.len()).step_by(17) {
        assert!(kept::read(&body[..at], &profile, true).is_none());
        for flip in [1, 0x80, 0xff] {
            let mut bytes = body.to_vec();
            bytes[at] ^= flip;
            let _ = kept::read(&bytes, &profile, true);
        }
    }
}

#[test]
fn a_trace_that_changed_is_read() {
    let fixture = Fixture::new();
    let first = fixture.read();
    let good = data(200);
    // Of another time; then with one bit of the beginning changed, and longer, at the old time.
    age(&fixture.path, 50);
    assert_eq!(fixture.read().bytes, first.bytes);
    assert_eq!(fixture.read().bytes, 0);
    let time = fs::metadata(&fixture.path).unwrap().modified().unwrap();
    let mut other = good.clone();
    other[72] ^= 1;
    for bytes in [other, [&good[..], &[0; 8]].concat()] {
        fs::write(&fixture.path, bytes).unwrap();
        fs::OpenOptions::new().append(true).open(&fixture.path).unwrap().set_modified(time).unwrap();
        assert_eq!(fixture.read().bytes, first.bytes);
    }
    fs::write(&fixture.path, data(300)).unwrap();
    age(&fixture.path, 60);
    assert!(fixture.read().bytes > first.bytes);
}

#[test]
fn a_trace_that_may_grow_is_not_kept() {
    let fixture = Fixture::new();
    assert!(fixture.read_with(Some(&fixture.cache), true).bytes > 0);
    assert_eq!(fixture.kept(), Vec::<PathBuf>::new());
    let kept_after = |seconds: u64| {
        age(&fixture.path, seconds);
        assert!(fixture.read().failed.is_none());
        !fixture.kept().is_empty()
    };
    assert!(!kept_after(0), "written just now");
    // It was killed, or goes on where that cannot be seen.
    let killed = [&data(200)[..80], &[0; 8], &data(200)[88..]].concat();
    fs::write(&fixture.path, killed).unwrap();
    assert!(!kept_after(30));
    assert!(kept_after(70));
}

#[test]
fn a_folder_has_a_bound() {
    let mut fixture = Fixture::new();
    fixture.read();
    let first = fixture.kept().remove(0);
    let length = fs::metadata(&first).unwrap().len();
    age(&first, 5);
    fixture.cache = Cache::with_room(fixture.cache.folder().to_owned(), 2 * length + length / 2);
    let stranger = fixture.cache.folder().join("notes.txt");
    fs::write(&stranger, "mine").unwrap();
    let left = fixture.cache.folder().join("trace-x.part");
    fs::write(&left, "").unwrap();
    age(&left, 2 * 24 * 3600);
    for seconds in [59, 58] {
        age(&fixture.path, seconds);
        fixture.read();
    }
    let kept = fixture.kept();
    assert!(!kept.contains(&first) && !kept.contains(&left) && kept.contains(&stranger), "{kept:?}");
    assert_eq!(kept.len(), 3);
    // What alone has no room is not kept.
    fixture.cache = Cache::with_room(fixture.folder.path().join("small"), length / 2);
    assert!(fixture.read().failed.is_none());
    assert_eq!(fixture.kept(), Vec::<PathBuf>::new());
}

#[test]
fn a_folder_that_cannot_be_made_is_no_error() {
    let mut fixture = Fixture::new();
    let first = fixture.read();
    fixture.cache = Cache::new(fixture.path.join("below a file"));
    let read = fixture.read();
    assert!(read.failed.as_ref().is_some_and(|why| why.contains("below a file: ")), "{:?}", read.failed);
    same(&fixture, &first, &read);
}

/// Levels of detail that a thread of their own makes are the same.
#[test]
fn a_large_trace_is_indexed_by_two_threads() {
    let fixture = Fixture::new();
    let script = Script::new(7).times(5000, |s| s.call(1, |s| s.wait(30).call(2, |s| s.wait(500))));
    let mut writer = Writer::new();
    writer.trace("main", &script, 100);
    fs::write(&fixture.path, writer.finish()).unwrap();
    let source = File::open(&fixture.path).unwrap();
    let thread = Profile::open(&source).unwrap().threads.remove(0);
    let [one, two] = [1 << 40, 0]
        .map(|large| Index::build(&source, &thread, share(1), (1 << 14, large), &|_| ()).unwrap().0);
    for (from, width) in (0..50).map(|n| (n * 50_000, 1 << (n % 22))) {
        let window = (from, from + width);
        let [x, y] = [&one, &two].map(|index| index.window(&source, &thread, window).unwrap());
        assert_eq!(x, y);
        for resolution in [256, 1000, 70_000] {
            let [x, y] =
                [&one, &two].map(|index| index.picture(&source, &thread, window, resolution).unwrap());
            assert_eq!(x, y);
        }
    }
}
