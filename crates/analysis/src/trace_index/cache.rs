//! A folder in which it is kept what is known of traces. It has a bound; what was not used for longest is removed.
//!
//! A file begins with what it is ([`MAGIC`]), the version of its form, a checksum of all behind the key, the key, and
//! its length. One that does not fit in any of these is not used, and replaced.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flate2::Crc;
use instrument_trace::Profile;

use super::kept::{self, Keeping, Known};
use super::key::Key;
use super::words::Out;

const PREFIX: &str = "trace-";
const SUFFIX: &str = ".index";
/// Of a file that is being written.
const UNFINISHED: &str = ".part";
const MAGIC: [u8; 8] = *b"\x89IINDEX\n";
/// Of the form of the file.
const VERSION: u32 = 1;
/// Magic, version, checksum, key, length.
const HEADER: usize = 56;
/// Bytes that a folder may have.
const ROOM: u64 = 2 << 30;
/// A file that is being written for longer was left by a process that was killed.
const LEFT: Duration = Duration::from_secs(24 * 3600);

/// A folder of what is known of traces.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    room: u64,
}

impl Cache {
    /// In a folder, which is made when something is written; it may take 2 GiB there.
    pub fn new(folder: PathBuf) -> Cache {
        Cache { folder, room: ROOM }
    }

    /// The same with room for so many bytes.
    #[cfg(test)]
    pub(super) fn with_room(folder: PathBuf, room: u64) -> Cache {
        Cache { folder, room }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{PREFIX}{}{SUFFIX}", key.digits()))
    }

    /// What is known of the traces of a profile; none: nothing, not enough, or the file is not what was written.
    pub(super) fn read(&self, key: &Key, profile: &Profile, wants_index: bool) -> Option<Vec<Known>> {
        let mut file = File::open(self.file(key)).ok()?;
        let length = file.metadata().ok()?.len().checked_sub(HEADER as u64)?;
        if length > self.room {
            return None;
        }
        let mut header = [0; HEADER];
        file.read_exact(&mut header).ok()?;
        let mut body = Vec::with_capacity(usize::try_from(length).ok()?);
        (&file).take(length).read_to_end(&mut body).ok()?;
        let mut sum = Crc::new();
        sum.update(&body);
        if header[..] != header_of(sum.sum(), key, length) || body.len() as u64 != length {
            return None;
        }
        let known = kept::read(&body, profile, wants_index)?;
        // For the order in which files are removed; a folder that cannot be written to removes none.
        let _ = file.set_modified(SystemTime::now());
        Some(known)
    }

    /// Keeps what is known.
    ///
    /// # Errors
    /// The folder cannot be made or written to, or there is no room.
    pub(super) fn write(&self, key: &Key, known: &[Keeping<'_>]) -> io::Result<()> {
        create_private(&self.folder)?;
        let mut file =
            tempfile::Builder::new().prefix(PREFIX).suffix(UNFINISHED).tempfile_in(&self.folder)?;
        file.write_all(&[0; HEADER])?;
        let mut out = Out::new(file.as_file_mut());
        kept::write(&mut out, known);
        let (length, sum) = out.finish()?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&header_of(sum, key, length))?;
        if length > self.room {
            return Ok(());
        }
        file.persist(self.file(key)).map_err(|error| error.error)?;
        self.remove_oldest()
    }

    fn remove_oldest(&self) -> io::Result<()> {
        let now = SystemTime::now();
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
            // Another process may have removed it meanwhile.
            let Ok(about) = entry.metadata() else { continue };
            let used = about.modified()?;
            let is_left = || now.duration_since(used).is_ok_and(|since| since > LEFT);
            if name.ends_with(SUFFIX) {
                files.push((used, about.len(), entry.path()));
            } else if name.ends_with(UNFINISHED) && is_left() {
                let _ = fs::remove_file(entry.path());
            }
        }
        files.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
        let mut taken = 0u64;
        for (_, length, path) in files {
            taken = taken.saturating_add(length);
            if taken > self.room {
                match fs::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

fn header_of(sum: u32, key: &Key, length: u64) -> Vec<u8> {
    let parts: [&[u8]; 5] =
        [&MAGIC, &VERSION.to_le_bytes(), &sum.to_le_bytes(), &key.0, &length.to_le_bytes()];
    parts.concat()
}

/// A folder that only its owner can read, if it has to be made.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
