//! Which number a method has: the next one, in the order of loading; or the one that a shared file says.
//!
//! The numbers that are given in the order of loading begin at [`FIRST`]. Below are those of jars that were rewritten before: their
//! classes call the same copy of the recorder, and no number may mean two methods.
//!
//! The shared file is locked while a class is numbered, not longer, so that several virtual machines and builds may use it at the same
//! time. What is new is in the file before the class can run. The program must not stand still because another process keeps the lock:
//! after [`AT_START`], or [`AT_CLASS`], the agent says so, and methods that are not in the map yet are numbered as without a file.

use crate::talk::say;
use instrument_names::id_map::file::{append, lock_within, open_locked};
use instrument_names::id_map::{HEADER, IdMap, gz, read_text};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The first id that is given without a shared file.
pub(crate) const FIRST: u32 = 1 << 20;
/// The longest time that the start of the program waits for the lock of the shared file: a build that uses it may take a while.
const AT_START: Duration = Duration::from_secs(10);
/// The longest time that a class that loads waits for the lock. Other virtual machines keep it while they number one class.
const AT_CLASS: Duration = Duration::from_secs(2);

/// Numbers classes, one after the other, and knows what of the map the profile has.
#[derive(Debug, Default)]
pub(crate) struct MethodIds(Mutex<Shared>);

#[derive(Debug, Default)]
struct Shared {
    file: Option<SharedFile>,
    /// The ids that the profile has.
    written: HashSet<u32>,
}

#[derive(Debug)]
struct SharedFile {
    path: PathBuf,
    file: File,
    /// How many bytes of it are in the map.
    known: u64,
}

/// The right to number a class, which one thread has at a time, and the lock of the file. The file is read, written and waited for in
/// [`MethodIds::turn`] and [`append`](Turn::append); the map needs not be locked meanwhile.
pub(crate) struct Turn<'a> {
    shared: MutexGuard<'a, Shared>,
    /// What others have appended to the file, or what is to be appended.
    text: Vec<u8>,
    /// The file was given up in this turn.
    alone: bool,
}

impl MethodIds {
    /// With the shared file, if there is one and its lock can be had, and the map to begin with.
    ///
    /// # Errors
    /// A file that cannot be used, or that is no id map.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<(MethodIds, IdMap)> {
        let alone = || Ok((MethodIds::default(), IdMap::starting_at(FIRST)));
        let Some(path) = path else { return alone() };
        let start = Instant::now();
        let locked = open_locked(path, |file| lock_within(file, AT_START.saturating_sub(start.elapsed())));
        let Some(file) = locked? else {
            say_locked(path, AT_START);
            return alone();
        };
        let map = begin(&file);
        unlock(&file);
        let map = map?;
        let file = SharedFile { path: path.to_owned(), file, known: map.valid_len() as u64 };
        Ok((MethodIds(Mutex::new(Shared { file: Some(file), written: HashSet::new() })), map))
    }

    /// Whether there is a shared file.
    pub(crate) fn is_shared(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).file.is_some()
    }

    /// Waits for its turn, and for the lock of the file, and reads what others have appended.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn turn(&self) -> io::Result<Turn<'_>> {
        let shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turn = Turn { shared, text: Vec::new(), alone: false };
        let Some(SharedFile { path, file, known }) = &turn.shared.file else { return Ok(turn) };
        let named = |error: io::Error| name(path, &error);
        if lock_within(file, AT_CLASS).map_err(named)? {
            turn.text = read_from(file, *known).map_err(named)?;
        } else {
            say_locked(path, AT_CLASS);
            turn.shared.file = None;
            turn.alone = true;
        }
        Ok(turn)
    }
}

impl Turn<'_> {
    /// Takes in what others have appended; before any id is given.
    ///
    /// # Errors
    /// It is no part of an id map.
    pub(crate) fn read(&mut self, map: &mut IdMap) -> io::Result<()> {
        if self.alone {
            map.go_on_at(FIRST);
        }
        let text = std::mem::take(&mut self.text);
        self.parse(map, &text)
    }

    /// Takes what is new in the map; when all ids were given.
    pub(crate) fn take(&mut self, map: &IdMap) {
        if self.shared.file.is_some() {
            map.write_new(&mut self.text);
        }
    }

    /// Appends to the file what is new, over an incomplete line if it ends with one.
    ///
    /// # Errors
    /// The file cannot be written; then the ids must not be used.
    pub(crate) fn append(&mut self) -> io::Result<()> {
        let Some(SharedFile { path, file, known }) = &self.shared.file else { return Ok(()) };
        if self.text.is_empty() {
            return Ok(());
        }
        append(file, *known, &self.text).map_err(|error| name(path, &error))
    }

    /// Tells the map that what is new has been written. The part of the map that the profile does not have yet, as a gzip file; none, if
    /// it has all of `used` (which are sorted).
    ///
    /// # Errors
    /// What was written is no part of an id map.
    pub(crate) fn finish(mut self, used: Vec<u32>, map: &mut IdMap) -> io::Result<Option<Vec<u8>>> {
        let text = std::mem::take(&mut self.text);
        self.parse(map, &text)?;
        let new: Vec<u32> = used.into_iter().filter(|id| self.shared.written.insert(*id)).collect();
        if new.is_empty() {
            return Ok(None);
        }
        let mut text = Vec::new();
        map.write_part(new, &mut text);
        Ok(Some(gz::store(&text)))
    }

    fn parse(&mut self, map: &mut IdMap, text: &[u8]) -> io::Result<()> {
        let Some(SharedFile { path, known, .. }) = &mut self.shared.file else { return Ok(()) };
        if !text.is_empty() {
            parse(map, text).map_err(|error| name(path, &error))?;
            *known = map.valid_len() as u64;
        }
        Ok(())
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared.file {
            unlock(&shared.file);
        }
    }
}

/// Reads the map of a file that is locked; a file without one gets the header.
fn begin(file: &File) -> io::Result<IdMap> {
    let mut map = IdMap::new();
    parse(&mut map, &read_from(file, 0)?)?;
    if map.valid_len() == 0 {
        // From now on nobody takes it for unused.
        file.set_len(0)?;
        file.write_all_at(HEADER.as_bytes(), 0)?;
        parse(&mut map, HEADER.as_bytes())?;
    }
    Ok(map)
}

fn parse(map: &mut IdMap, text: &[u8]) -> io::Result<()> {
    map.parse_more(text).map_err(|error| io::Error::other(error.to_string()))
}

fn name(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}

/// The text of the file from `known` on.
fn read_from(file: &File, known: u64) -> io::Result<Vec<u8>> {
    match file.metadata()?.len() {
        length if length < known => Err(io::Error::other("it was cut while it was in use")),
        length if length == known => Ok(Vec::new()),
        _ => read_text(At { file, offset: known }),
    }
}

/// A file as it is read from an offset on, whatever else reads it.
struct At<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

fn unlock(file: &File) {
    let _ = file.unlock();
}

fn say_locked(path: &Path, waited: Duration) {
    let (path, waited) = (path.display(), waited.as_secs());
    say(format_args!(
        "ids={path}: another process has kept this file locked for {waited} s (`lslocks` names it); methods that are new get ids of this run \
         alone, which are not written to the file"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_names::id_map::MethodInfo;
    use std::fs::OpenOptions;

    fn assign(map: &mut IdMap, class: &str) -> u32 {
        let class = map.begin_class(class.as_bytes(), None).unwrap();
        let run = MethodInfo { name: b"run", descriptor: b"()V", line: 0, flags: 1, fingerprint: 0 };
        map.assign(class, &run).unwrap()
    }

    fn piece(ids: &MethodIds, map: &mut IdMap, class: &str) -> io::Result<(u32, Option<Vec<u8>>)> {
        let mut turn = ids.turn()?;
        turn.read(map)?;
        let id = assign(map, class);
        turn.take(map);
        turn.append()?;
        Ok((id, turn.finish(vec![id], map)?))
    }

    fn number(ids: &MethodIds, map: &mut IdMap, class: &str) -> u32 {
        piece(ids, map, class).unwrap().0
    }

    #[test]
    fn alone_they_begin_far_above_those_of_rewritten_jars() {
        let (ids, mut map) = MethodIds::open(None).unwrap();
        assert_eq!(number(&ids, &mut map, "A"), FIRST);
        let (id, new) = piece(&ids, &mut map, "B").unwrap();
        let read = IdMap::parse(&gz::decompress(&new.unwrap(), 1 << 20).unwrap()).unwrap();
        assert_eq!((id, read.find(b"B", b"run", b"()V")), (FIRST + 1, Some(FIRST + 1)));
        assert_eq!(piece(&ids, &mut map, "A").unwrap(), (FIRST, None));
    }

    #[test]
    fn two_processes_share_a_file_that_may_end_in_a_torn_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ids");
        let (one, mut first) = MethodIds::open(Some(&path)).unwrap();
        let (two, mut second) = MethodIds::open(Some(&path)).unwrap();
        assert_eq!(number(&one, &mut first, "A"), 1);
        assert_eq!(number(&two, &mut second, "B"), 2);
        let torn = std::fs::read(&path).unwrap().len() as u64;
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(b"class X", torn).unwrap();
        assert_eq!(number(&one, &mut first, "C"), 3);
        assert_eq!(number(&two, &mut second, "A"), 1);
        assert_eq!(number(&two, &mut second, "D"), 4);
        let read = IdMap::parse(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((read.len(), read.torn_len()), (4, 0));
        for (class, id) in [("A", 1), ("B", 2), ("C", 3), ("D", 4)] {
            assert_eq!(read.find(class.as_bytes(), b"run", b"()V"), Some(id));
        }
        std::fs::write(&path, "").unwrap();
        assert!(piece(&two, &mut second, "E").is_err());
    }

    #[test]
    fn a_file_that_stays_locked_is_given_up_and_no_number_means_two_methods() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ids");
        let (one, mut first) = MethodIds::open(Some(&path)).unwrap();
        assert_eq!(number(&one, &mut first, "A"), 1);
        let other = File::open(&path).unwrap();
        assert!(lock_within(&other, Duration::ZERO).unwrap());
        let text = std::fs::read(&path).unwrap();
        assert_eq!((number(&one, &mut first, "B"), number(&one, &mut first, "A")), (FIRST, 1));
        let (late, mut map) = MethodIds::open(Some(&path)).unwrap();
        assert_eq!(number(&late, &mut map, "A"), FIRST);
        unlock(&other);
        assert_eq!(number(&one, &mut first, "C"), FIRST + 1);
        assert_eq!(std::fs::read(&path).unwrap(), text);
    }

    #[test]
    fn the_length_that_a_file_claims_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ids");
        let (ids, mut map) = MethodIds::open(Some(&path)).unwrap();
        OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
        for error in [
            piece(&ids, &mut map, "A").unwrap_err().to_string(),
            MethodIds::open(Some(&path)).unwrap_err().to_string(),
        ] {
            assert!(error.ends_with("not an id map: a line is too long"), "{error}");
        }
    }

    #[test]
    fn something_else_is_not_touched() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ids");
        std::fs::write(&path, "something else\n").unwrap();
        let error = MethodIds::open(Some(&path)).unwrap_err().to_string();
        assert!(error.contains("not an id map"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"something else\n");
        assert!(MethodIds::open(Some(directory.path())).is_err());
    }
}
