//! The folder that profiles are shipped to. A file is there under the SHA-256 of its bytes, so whoever ships the same
//! bytes writes the same file, and any number of hosts need no lock.
//!
//! A name appears only when its bytes are there: they are written under another name, brought to the disk, read back,
//! and renamed. A run that is killed leaves at most that other name behind, which a later run removes.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use tempfile::Builder;

use instrument_messages::usage;

/// The end of a name under which bytes are written.
const PART: &str = ".part";
/// What another host has left for so long is nobody's any more.
const STALE: Duration = Duration::from_secs(24 * 3600);
/// Bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// The SHA-256 of the bytes of a file, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content {
    digest: [u8; 32],
    /// Bytes.
    pub(super) length: u64,
}

/// What became of bytes that were shipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    /// They were copied.
    Copied,
    /// They were there already.
    There,
}

/// Why bytes could not be shipped.
pub(super) enum Failure {
    /// The source gave other bytes than before.
    Changed,
    /// The source or the folder failed.
    Failed(anyhow::Error),
}

/// The folder.
pub(super) struct Store {
    root: PathBuf,
    host: String,
    device: Option<u64>,
}

impl Content {
    /// Reads a file from its start to its end.
    pub(super) fn of(file: &mut File) -> io::Result<Content> {
        copy(file, &mut io::sink())
    }

    fn hex(&self) -> String {
        self.digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Copies a file, and tells what was copied.
fn copy(from: &mut File, to: &mut dyn Write) -> io::Result<Content> {
    from.seek(SeekFrom::Start(0))?;
    let (mut hash, mut length, mut piece) = (Sha256::new(), 0, vec![0; PIECE]);
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&piece[..read]);
        to.write_all(&piece[..read])?;
        length += read as u64;
    }
    Ok(Content { digest: hash.finalize().into(), length })
}

impl Store {
    /// Opens the folder, and removes what runs that were killed have left in it.
    ///
    /// # Errors
    /// There is no such folder: the mount may be missing, and its place must not be filled instead.
    pub(super) fn open(root: &Path) -> Result<Store> {
        let shown = root.display();
        if !root.is_dir() {
            return Err(usage(format!(
                "--to {shown}: no folder; it has to be there, so that nothing is written in its place when a mount is missing"
            )));
        }
        let root = root.canonicalize().with_context(|| format!("--to {shown}"))?;
        let store = Store { device: device(&root), root, host: host() };
        store.clean().with_context(|| format!("cannot read {shown}"))?;
        Ok(store)
    }

    /// Checks that the folder is where it was: when a mount has gone, its place must not be filled instead.
    ///
    /// # Errors
    /// It is on another file system, or not there.
    pub(super) fn check(&self) -> Result<()> {
        if device(&self.root) != self.device {
            bail!("{}: the file system that was here is gone", self.root.display());
        }
        Ok(())
    }

    /// Whether a directory is this folder.
    pub(super) fn is(&self, directory: &Path) -> bool {
        directory.canonicalize().is_ok_and(|path| path == self.root)
    }

    /// Ships the bytes of a file, which are known already. `day`: the folder, which follows from the bytes. `surely`:
    /// bytes that are there are read and compared, and not only counted.
    pub(super) fn put(
        &self,
        source: &mut File,
        content: &Content,
        day: &str,
        surely: bool,
    ) -> Result<Put, Failure> {
        let folder = self.root.join(day);
        let name = format!("{}.iprof", content.hex());
        let of_target = |what: &str| format!("cannot {what} {}", folder.join(&name).display());
        let made = fs::create_dir(&folder);
        if made.is_ok() {
            sync_directory(&self.root);
        }
        let day = Day::open(&folder).map_err(|error| {
            // What it could not be made for, unless something is there.
            let error =
                made.err().filter(|made| made.kind() != io::ErrorKind::AlreadyExists).unwrap_or(error);
            let context = format!("cannot make {}", folder.display());
            Failure::Failed(anyhow::Error::new(error).context(context))
        })?;
        let target = day.path.join(&name);
        if self.has(&target, content, surely).with_context(|| of_target("read")).map_err(Failure::Failed)? {
            return Ok(Put::There);
        }
        self.write(source, &target, content).map_err(|failure| match failure {
            Failure::Failed(error) => Failure::Failed(error.context(of_target("write"))),
            changed @ Failure::Changed => changed,
        })?;
        sync_directory(&day.path);
        Ok(Put::Copied)
    }

    /// Writes bytes beside their place, reads them back, and gives them their name. What fails leaves nothing, which on
    /// a full disk gives the room back.
    fn write(&self, source: &mut File, target: &Path, content: &Content) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::Failed(error.into());
        let prefix = format!(".{}.{}.{}.", &content.hex()[..16], self.host, std::process::id());
        let mut builder = Builder::new();
        let builder = builder.prefix(&prefix).suffix(PART);
        // Names of threads and command lines are in it: who may not read the profile may not read its copy.
        let builder = builder.permissions(source.metadata().map_err(failed)?.permissions());
        let mut part = builder.tempfile_in(target.parent().unwrap_or(&self.root)).map_err(failed)?;
        if copy(source, part.as_file_mut()).map_err(failed)? != *content {
            return Err(Failure::Changed);
        }
        part.as_file().sync_all().map_err(failed)?;
        // Closed: some network file systems have it only then.
        let part = part.into_temp_path();
        let mut back = File::open(&part).map_err(failed)?;
        forget(&back);
        if Content::of(&mut back).map_err(failed)? != *content {
            return Err(Failure::Failed(anyhow::anyhow!("what was written is not what is read back")));
        }
        part.persist(target).map_err(|error| {
            let why = "the folder has to be on a file system that renames files";
            Failure::Failed(anyhow::Error::new(error.error).context(why))
        })
    }

    fn has(&self, target: &Path, content: &Content, surely: bool) -> io::Result<bool> {
        let about = match fs::symlink_metadata(target) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        // Something else has cut it, or a link is in its place: it is written anew.
        if !about.is_file() || about.len() != content.length {
            return Ok(false);
        }
        Ok(!surely || Content::of(&mut File::open(target)?)? == *content)
    }

    /// Removes what runs of this host left that were killed, and what is left of others for a day. Who still writes to
    /// it finds it gone and writes it again: nothing is lost by that.
    fn clean(&self) -> io::Result<()> {
        for folder in fs::read_dir(&self.root)? {
            let folder = folder?;
            if !is_day(&folder.file_name().to_string_lossy()) {
                continue;
            }
            let Ok(day) = Day::open(&folder.path()) else { continue };
            for entry in fs::read_dir(&day.path)? {
                let entry = entry?;
                let name = entry.file_name();
                let Some(writer) = name.to_str().and_then(writer) else { continue };
                let age = entry
                    .metadata()
                    .and_then(|about| about.modified())
                    .map(|modified| SystemTime::now().duration_since(modified).unwrap_or_default());
                let is_ours = writer.0 == self.host;
                if (is_ours && !is_alive(writer.1)) || age.is_ok_and(|age| age > STALE) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        Ok(())
    }
}

/// The folder of a day, open. Others write here as well: a link that one of them has put in its place is not followed,
/// whenever that is.
struct Day {
    /// Leads to this folder and no other.
    path: PathBuf,
    #[cfg(target_os = "linux")]
    _open: std::os::fd::OwnedFd,
}

impl Day {
    #[cfg(target_os = "linux")]
    fn open(path: &Path) -> io::Result<Day> {
        use rustix::fs::{Mode, OFlags, open};
        use std::os::fd::AsRawFd;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = open(path, flags, Mode::empty())?;
        Ok(Day { path: format!("/proc/self/fd/{}", folder.as_raw_fd()).into(), _open: folder })
    }

    #[cfg(not(target_os = "linux"))]
    fn open(path: &Path) -> io::Result<Day> {
        if !fs::symlink_metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Day { path: path.to_owned() })
    }
}

/// Has a file read from the disk and not from memory, as far as the system can.
fn forget(file: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// A rename lasts when its directory is on disk. Some file systems cannot do that; then there is no more to do.
fn sync_directory(path: &Path) {
    let _ = File::open(path).and_then(|directory| directory.sync_all());
}

/// Host and process that write under this name.
fn writer(name: &str) -> Option<(&str, u32)> {
    let (_, rest) = name.strip_prefix('.')?.strip_suffix(PART)?.split_once('.')?;
    let (rest, _random) = rest.rsplit_once('.')?;
    let (host, pid) = rest.rsplit_once('.')?;
    Some((host, pid.parse().ok()?))
}

fn is_day(name: &str) -> bool {
    name.len() == 10
        && name
            .bytes()
            .enumerate()
            .all(|(i, c)| if i == 4 || i == 7 { c == b'-' } else { c.is_ascii_digit() })
}

fn is_alive(pid: u32) -> bool {
    #[cfg(unix)]
    {
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        // Another user's process may not be asked, but is there.
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        let _ = pid;
        true
    }
}

/// The file system on which a folder is; none: there is no such folder, or this is no Unix.
fn device(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    return fs::metadata(folder).ok().map(|about| std::os::unix::fs::MetadataExt::dev(&about));
    #[cfg(not(unix))]
    return folder.metadata().ok().map(|_| 0);
}

/// The name of this machine, for names of files.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::env::var("HOSTNAME"));
    let name: String = name
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .take(64)
        .collect();
    if name.is_empty() { "host".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_say_who_writes_them() {
        assert_eq!(writer(".0123456789abcdef.node-7.4711.Xy1z.part"), Some(("node-7", 4711)));
        for name in [".x.part", "0123.node.1.r.part", ".0123.node.x.r.part", ".0123.node.1.r.tmp"] {
            assert_eq!(writer(name), None, "{name}");
        }
        assert!(is_day("2026-11-24") && !is_day("2026-11-2x") && !is_day("20261124"));
        assert!(is_alive(std::process::id()) && !is_alive(0) && !is_alive(u32::MAX));
    }

    #[test]
    fn what_killed_runs_have_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let day = folder.path().join("2026-11-24");
        fs::create_dir(&day).unwrap();
        let host = host();
        let (dead, alive) = (i32::MAX, std::process::id());
        let ours = day.join(format!(".0123456789abcdef.{host}.{dead}.r.part"));
        let running = day.join(format!(".0123456789abcdef.{host}.{alive}.r.part"));
        let other = day.join(".0123456789abcdef.elsewhere-9.1.r.part");
        let old = day.join(".fedcba9876543210.elsewhere-9.1.r.part");
        for path in [&ours, &running, &other, &old] {
            fs::write(path, "x").unwrap();
        }
        File::options().write(true).open(&old).unwrap().set_modified(SystemTime::now() - 2 * STALE).unwrap();
        Store::open(folder.path()).unwrap();
        assert_eq!([&ours, &running, &other, &old].map(|path| path.exists()), [false, true, true, false]);
    }

    #[test]
    #[cfg(unix)]
    fn a_link_in_the_place_of_a_day_is_not_followed() {
        let [folder, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let part = elsewhere.path().join(format!(".0123456789abcdef.{}.{}.r.part", host(), i32::MAX));
        fs::write(&part, "theirs").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("2026-11-24")).unwrap();
        let mut source = tempfile::tempfile().unwrap();
        source.write_all(b"bytes").unwrap();
        let content = Content::of(&mut source).unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert!(matches!(store.put(&mut source, &content, "2026-11-24", false), Err(Failure::Failed(_))));
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1, "nothing is made or removed there");
        // Nor is one in the place of a profile taken for it.
        let day = folder.path().join("2026-11-25");
        fs::create_dir(&day).unwrap();
        fs::write(elsewhere.path().join("5"), "other").unwrap();
        let there = day.join(format!("{}.iprof", content.hex()));
        std::os::unix::fs::symlink(elsewhere.path().join("5"), &there).unwrap();
        assert!(matches!(store.put(&mut source, &content, "2026-11-25", false), Ok(Put::Copied)));
        assert!(there.symlink_metadata().unwrap().is_file() && fs::read(&there).unwrap() == b"bytes");
    }

    #[test]
    fn bytes_that_change_meanwhile_leave_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source");
        fs::write(&path, "before").unwrap();
        let mut source = File::open(&path).unwrap();
        let content = Content::of(&mut source).unwrap();
        fs::write(&path, "after!").unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert!(matches!(store.put(&mut source, &content, "2026-11-24", false), Err(Failure::Changed)));
        assert_eq!(fs::read_dir(folder.path().join("2026-11-24")).unwrap().count(), 0);
        let content = Content::of(&mut source).unwrap();
        let put = |surely| store.put(&mut File::open(&path).unwrap(), &content, "2026-11-24", surely).ok();
        assert_eq!([put(false), put(true)], [Some(Put::Copied), Some(Put::There)]);
        let there = folder.path().join("2026-11-24").join(format!("{}.iprof", content.hex()));
        fs::write(&there, "AFTER!").unwrap();
        assert_eq!(
            [put(false), put(true), put(true)],
            [Some(Put::There), Some(Put::Copied), Some(Put::There)]
        );
        fs::write(&there, "aft").unwrap();
        assert_eq!(put(false), Some(Put::Copied), "a file that is cut is written anew");
        assert_eq!(fs::read(&there).unwrap(), b"after!");
    }
}
