//! Which number a method has: the next one, in the order of loading; or the one that a shared file says.
//!
//! The numbers that are given in the order of loading begin at [`FIRST`]. Below are those of jars that were rewritten before: their
//! classes call the same copy of the recorder, and no number may mean two methods.
//!
//! The shared file is locked while a class is numbered, not longer, so that several virtual machines and builds may use it at the same
//! time. What is new is in the file before the class can run.

use instrument_rewriter::id_map::{HEADER, IdMap, gz};
use rustix::fs::{FlockOperation, flock};
use std::collections::HashSet;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The first id that is given without a shared file.
pub(crate) const FIRST: u32 = 1 << 20;

/// Numbers classes, and knows what of the map the profile has.
#[derive(Debug, Default)]
pub(crate) struct MethodIds {
    file: Option<(PathBuf, File)>,
    written: HashSet<u32>,
}

impl MethodIds {
    /// With the shared file, if there is one, and the map to begin with.
    ///
    /// # Errors
    /// A file that cannot be used, or that is no id map.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<(MethodIds, IdMap)> {
        let Some(path) = path else { return Ok((MethodIds::default(), IdMap::starting_at(FIRST))) };
        let file = loop {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
            if !file.metadata()?.is_file() {
                return Err(io::Error::other("not a regular file"));
            }
            flock(&file, FlockOperation::LockExclusive)?;
            // Who held the lock may have removed the file that it had created.
            if path.metadata().is_ok_and(|named| same_file(&file, &named)) {
                break file;
            }
        };
        let lock = Lock(&file);
        let mut map = IdMap::new();
        read_more(&file, &mut map)?;
        if map.valid_len() == 0 {
            // From now on nobody takes it for unused.
            file.set_len(0)?;
            file.write_all_at(HEADER.as_bytes(), 0)?;
            read_more(&file, &mut map)?;
        }
        drop(lock);
        Ok((MethodIds { file: Some((path.to_owned(), file)), written: HashSet::new() }, map))
    }

    /// Calls `number`, which takes ids from the map, while nobody else gives any.
    ///
    /// # Errors
    /// The shared file cannot be read or written; then the ids must not be used.
    pub(crate) fn number<M>(
        &self,
        owner: &mut M,
        map: impl Fn(&mut M) -> &mut IdMap,
        number: impl FnOnce(&mut M),
    ) -> io::Result<()> {
        let Some((path, file)) = &self.file else {
            number(owner);
            return Ok(());
        };
        let named = |error: io::Error| io::Error::other(format!("{}: {error}", path.display()));
        let _lock = Lock::of(file).map_err(named)?;
        read_more(file, map(owner)).map_err(named)?;
        number(owner);
        let map = map(owner);
        let mut new = Vec::new();
        map.write_new(&mut new);
        if new.is_empty() {
            return Ok(());
        }
        let end = map.valid_len() as u64;
        if map.torn_len() > 0 {
            file.set_len(end).map_err(named)?;
        }
        file.write_all_at(&new, end).map_err(named)?;
        map.parse_more(&new).map_err(|error| named(io::Error::other(error.to_string())))
    }

    /// The part of the map that the profile does not have yet, as a gzip file; none, if it has all of `used` (which are sorted).
    pub(crate) fn piece(&mut self, used: Vec<u32>, map: &IdMap) -> Option<Vec<u8>> {
        let new: Vec<u32> = used.into_iter().filter(|id| self.written.insert(*id)).collect();
        if new.is_empty() {
            return None;
        }
        let mut text = Vec::new();
        map.write_part(new, &mut text);
        Some(gz::store(&text))
    }
}

fn same_file(file: &File, named: &Metadata) -> bool {
    file.metadata().is_ok_and(|open| (open.dev(), open.ino()) == (named.dev(), named.ino()))
}

/// Reads what others have appended.
fn read_more(file: &File, map: &mut IdMap) -> io::Result<()> {
    let known = map.valid_len() as u64;
    let length = file.metadata()?.len();
    if length < known {
        return Err(io::Error::other("it was cut while it was in use"));
    }
    if length == known {
        return Ok(());
    }
    let mut text = vec![0; (length - known) as usize];
    file.read_exact_at(&mut text, known)?;
    map.parse_more(&text).map_err(|error| io::Error::other(error.to_string()))
}

/// A lock on the file, as the command line's: whoever dies gives it back.
struct Lock<'a>(&'a File);

impl Lock<'_> {
    fn of(file: &File) -> io::Result<Lock<'_>> {
        flock(file, FlockOperation::LockExclusive)?;
        Ok(Lock(file))
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_rewriter::id_map::MethodInfo;

    fn assign(map: &mut IdMap, class: &str) -> u32 {
        let class = map.begin_class(class.as_bytes(), None).unwrap();
        let run = MethodInfo { name: b"run", descriptor: b"()V", line: 0, flags: 1, fingerprint: 0 };
        map.assign(class, &run).unwrap()
    }

    fn number(ids: &MethodIds, map: &mut IdMap, class: &str) -> u32 {
        let mut id = 0;
        ids.number(map, |map| map, |map| id = assign(map, class)).unwrap();
        id
    }

    #[test]
    fn alone_they_begin_far_above_those_of_rewritten_jars() {
        let (mut ids, mut map) = MethodIds::open(None).unwrap();
        assert_eq!((number(&ids, &mut map, "A"), number(&ids, &mut map, "B")), (FIRST, FIRST + 1));
        assert_eq!(number(&ids, &mut map, "A"), FIRST);
        let piece = ids.piece(vec![FIRST, FIRST + 1], &map).unwrap();
        let read = IdMap::parse(&gz::decompress(&piece, 1 << 20).unwrap()).unwrap();
        assert_eq!(read.find(b"B", b"run", b"()V"), Some(FIRST + 1));
        assert!(ids.piece(vec![FIRST], &map).is_none());
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
        one.file.as_ref().unwrap().1.write_all_at(b"class X", torn).unwrap();
        assert_eq!(number(&one, &mut first, "C"), 3);
        assert_eq!(number(&two, &mut second, "A"), 1);
        assert_eq!(number(&two, &mut second, "D"), 4);
        let read = IdMap::parse(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((read.len(), read.torn_len()), (4, 0));
        for (class, id) in [("A", 1), ("B", 2), ("C", 3), ("D", 4)] {
            assert_eq!(read.find(class.as_bytes(), b"run", b"()V"), Some(id));
        }
        std::fs::write(&path, "").unwrap();
        assert!(two.number(&mut second, |map| map, |_| {}).is_err());
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
