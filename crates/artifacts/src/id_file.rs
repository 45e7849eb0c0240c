//! The shared file of method ids: locked while it is used, only ever appended to, and on disk before any output that
//! uses it.

use anyhow::{Context, Result, anyhow};
use instrument_messages::Listener;
use instrument_names::id_map::file::{append, lock_within, open_locked};
use instrument_names::id_map::{IdMap, read_text};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An open, locked file of ids. The lock ends with the value; if the file was created for it and nothing came of the
/// run, the file is removed again.
#[derive(Debug)]
pub struct IdFile {
    path: PathBuf,
    file: File,
    /// Whether there is something to lose: it had content, or has been written.
    keep: bool,
}

impl IdFile {
    /// Opens or creates the file, waits for its lock, and reads it.
    pub fn open(path: &Path, listener: &dyn Listener) -> Result<(IdFile, IdMap)> {
        let name = || path.display().to_string();
        let locked = open_locked(path, |file| {
            if !lock_within(file, Duration::ZERO)? {
                listener.note(format_args!("waiting for {}, which another process has locked", name()));
                file.lock()?;
            }
            Ok(true)
        });
        let file = locked.with_context(name)?.context("not locked")?;
        let text = read_text(&file).with_context(name)?;
        let id_file = IdFile { path: path.to_owned(), file, keep: !text.is_empty() };
        let map =
            IdMap::parse(&text).map_err(|error| anyhow!("{}:{}: {}", name(), error.line, error.kind))?;
        if map.torn_len() > 0 {
            listener.warn(format_args!(
                "{}: the last line is torn ({} bytes), as after a crash; it is dropped",
                name(),
                map.torn_len()
            ));
        }
        Ok((id_file, map))
    }

    /// Appends what is new in `map`, over a torn line if there is one, and waits until it is on disk.
    pub fn append(&mut self, map: &IdMap) -> Result<()> {
        let mut new = Vec::new();
        map.write_new(&mut new);
        if new.is_empty() && map.torn_len() == 0 {
            return Ok(());
        }
        self.keep = true;
        let write = || {
            append(&self.file, map.valid_len() as u64, &new)?;
            self.file.sync_all()
        };
        write().with_context(|| self.path.display().to_string())
    }
}

impl Drop for IdFile {
    fn drop(&mut self) {
        if !self.keep {
            // Still locked: nobody else can have written to it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_names::id_map::MethodInfo;
    use std::fs::OpenOptions;
    use std::io::Write;

    struct Nobody;

    impl Listener for Nobody {
        fn error(&self, _: std::fmt::Arguments<'_>) {}
        fn warn(&self, _: std::fmt::Arguments<'_>) {}
        fn caution(&self, _: std::fmt::Arguments<'_>) {}
        fn note(&self, _: std::fmt::Arguments<'_>) {}
        fn detail(&self, _: std::fmt::Arguments<'_>) {}
        fn wants_details(&self) -> bool {
            false
        }
    }

    fn assign(map: &mut IdMap, class: &str) -> u32 {
        let class = map.begin_class(class.as_bytes(), None).unwrap();
        let run = MethodInfo { name: b"run", descriptor: b"()V", line: 0, flags: 1, fingerprint: 0 };
        map.assign(class, &run).unwrap()
    }

    #[test]
    fn ids_last_over_runs_and_a_torn_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ids");
        {
            let (mut file, mut map) = IdFile::open(&path, &Nobody).unwrap();
            assert_eq!(assign(&mut map, "A"), 1);
            file.append(&map).unwrap();
        }
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"class B").unwrap();
        {
            let (mut file, mut map) = IdFile::open(&path, &Nobody).unwrap();
            assert_eq!((assign(&mut map, "A"), assign(&mut map, "C")), (1, 2));
            file.append(&map).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "instrument ids 1\nclass A -\n1 run ()V 0 1 0000000000000000\nclass C -\n2 run ()V 0 1 0000000000000000\n"
        );
    }

    #[test]
    fn an_unused_id_file_is_removed_and_a_foreign_file_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ids");
        drop(IdFile::open(&path, &Nobody).unwrap());
        assert!(!path.exists());
        std::fs::write(&path, "something else\n").unwrap();
        let error = IdFile::open(&path, &Nobody).unwrap_err().to_string();
        assert!(error.contains("ids:1: not an id map"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "something else\n");
    }

    #[test]
    fn the_length_that_a_file_claims_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ids");
        std::fs::write(&path, instrument_names::id_map::HEADER).unwrap();
        OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
        let error = format!("{:#}", IdFile::open(&path, &Nobody).unwrap_err());
        assert!(error.ends_with("ids: not an id map: a line is too long"), "{error}");
    }

    #[test]
    fn many_writers_never_clash() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ids");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for n in 0..25 {
                        let (mut file, mut map) = IdFile::open(path, &Nobody).unwrap();
                        if n % 5 == 4 {
                            continue;
                        }
                        assign(&mut map, &format!("T{thread}N{n}"));
                        assign(&mut map, "Shared");
                        file.append(&map).unwrap();
                    }
                });
            }
        });
        let map = IdMap::parse(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(map.len(), 4 * 20 + 1);
        assert!(map.iter().map(|entry| entry.id).eq(1..=81));
    }
}
