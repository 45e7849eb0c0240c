//! What the process gets: a library that it can read, and a file with the options, in which it answers.

use crate::agent_library;
use crate::attach::{self, LONGEST_ARGUMENT};
use crate::jvm::{Process, path_inside};
use crate::profiles::Replaced;
use crate::rights::{Folder, with_rights_of};
use anyhow::{Context, Result, anyhow, bail};
use instrument_control::answer::{Attached, parse_answer, read};
use instrument_control::attach::from_file;
use rustix::fs::{AtFlags, Mode, OFlags, open, unlinkat};
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The beginning of the name of the file with the options.
const PREFIX: &str = ".instrument-attach-";
/// After this time a file that nobody has locked is abandoned: it is locked as soon as it is made.
const ABANDONED: Duration = Duration::from_secs(60);

/// Everything that is needed, in its place. The agent removes the file's name when it has opened it; else it goes when this is dropped.
pub struct HandOver<'a> {
    process: &'a Process,
    /// As the process sees it.
    library: PathBuf,
    options: OptionsFile<'a>,
}

impl<'a> HandOver<'a> {
    /// Puts the library and the options where the process can read them.
    ///
    /// # Errors
    /// Nothing can be written where it looks.
    pub fn new(process: &'a Process, library: &Path, options: &str) -> Result<HandOver<'a>> {
        // Whose it is decides what can be done; the protocol says it with the reason.
        let library = match path_inside(process, library) {
            Some(path) => path,
            None if process.is_ours() => copy(process, library)?,
            None => library.to_owned(),
        };
        let options = in_a_folder_of(process, |folder| OptionsFile::new(process, folder, options))?;
        Ok(HandOver { process, library, options })
    }

    /// Has the process load the agent. What it answers; the path of the profile is as the process sees it. A recording that is tied to us ends
    /// when this is dropped.
    ///
    /// # Errors
    /// The reason why nothing is recorded.
    pub fn attach(&self, limit: Duration) -> Result<Attached> {
        let pid = self.process.pid;
        let text = |path: &Path| {
            path.to_str().map(str::to_owned).with_context(|| format!("{}: not UTF-8", path.display()))
        };
        let (library, options) = (text(&self.library)?, from_file(&text(&self.options.inside())?));
        for argument in [&library, &options] {
            if argument.len() > LONGEST_ARGUMENT {
                bail!("{argument}: the attach protocol takes no path of more than {LONGEST_ARGUMENT} bytes");
            }
        }
        let code = attach::load(self.process, &library, &options, limit)?;
        let mut answer = Vec::new();
        let mut file = &self.options.file;
        let _ = file.rewind().and_then(|()| file.read_to_end(&mut answer));
        match parse_answer(&answer).and_then(read::<Attached>) {
            Ok(attached) => Ok(attached),
            Err(reason) if !reason.starts_with("the answer is not complete") => {
                Err(anyhow!("process {pid} is not recorded: {reason}"))
            }
            Err(_) => bail!(
                "process {pid} has loaded the agent, which did not start (code {code}); the standard error of the program may say why"
            ),
        }
    }
}

/// Makes something in the first folder of a process where that can be done.
///
/// # Errors
/// Nothing can be written where it looks.
pub(crate) fn in_a_folder_of<T>(process: &Process, make: impl Fn(Folder) -> Result<T>) -> Result<T> {
    let places = [
        |process| Folder::of(process, Path::new("/tmp")).map(Some),
        |process| Folder::working_directory(process),
    ];
    let mut reasons = Vec::new();
    for place in places {
        match place(process).and_then(|folder| folder.map(&make).transpose()) {
            Ok(Some(made)) => return Ok(made),
            Ok(None) => {}
            Err(error) => reasons.push(format!("{error:#}")),
        }
    }
    bail!(
        "process {}: no file can be made where it could read it, in /tmp or its working directory: {}",
        process.pid,
        reasons.join("; ")
    )
}

/// The file with the options, which the user of the process can read and nobody else.
struct OptionsFile<'a> {
    process: &'a Process,
    folder: Folder,
    name: String,
    file: File,
}

impl<'a> OptionsFile<'a> {
    fn new(process: &'a Process, folder: Folder, options: &str) -> Result<OptionsFile<'a>> {
        let make = || {
            remove_abandoned(&folder.path("."), ABANDONED);
            let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder.path("."))?;
            let (file, path) = file.keep()?;
            let name = path.file_name().and_then(|name| name.to_str()).context("a file has a name")?;
            Ok((name.to_owned(), file))
        };
        let (name, file) =
            with_rights_of(process, make).with_context(|| folder.inside().display().to_string())?;
        let made = OptionsFile { process, folder, name, file };
        // As long as we wait: where the file system has no locks, the agent can take none either.
        let _ = made.file.lock();
        (&made.file).write_all(options.as_bytes())?;
        Ok(made)
    }

    /// As the process sees it.
    fn inside(&self) -> PathBuf {
        self.folder.inside().join(&self.name)
    }
}

impl Drop for OptionsFile<'_> {
    fn drop(&mut self) {
        let _ = with_rights_of(self.process, || Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?));
    }
}

/// Removes files with options that nobody waits for any more: of an attach that was killed before the agent had opened its file. They are older
/// than `age`, and nobody has them locked.
fn remove_abandoned(folder: &Path, age: Duration) {
    let is_abandoned = |path: &Path| -> std::io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(path, flags, Mode::empty())?);
        let is_old = file.metadata()?.modified()?.elapsed().is_ok_and(|since| since >= age);
        Ok(is_old && file.metadata()?.is_file() && file.try_lock().is_ok())
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        // What cannot be removed does no harm but take room.
        if is_named && is_abandoned(&entry.path()).unwrap_or(false) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The profile of an earlier recording, out of the way of the one that a process is to write.
pub struct Earlier<'a> {
    process: &'a Process,
    /// Its path leads through it.
    _folder: Folder,
    replaced: Replaced,
}

impl<'a> Earlier<'a> {
    /// Moves what is at `out`, as the process sees it, aside; none: nothing is there, or a folder, or nothing that we could reach.
    ///
    /// # Errors
    /// As of [`Replaced::new`].
    pub fn move_aside(process: &'a Process, out: &Path) -> Result<Option<Earlier<'a>>> {
        let (Some(folder), Some(name)) = (out.parent(), out.file_name().and_then(|name| name.to_str()))
        else {
            return Ok(None);
        };
        // Where it is no folder, the recorder says so.
        let Ok(folder) = Folder::of(process, folder) else { return Ok(None) };
        let replaced = with_rights_of(process, || Replaced::called(&folder.path(name), out))?;
        Ok(replaced.map(|replaced| Earlier { process, _folder: folder, replaced }))
    }

    /// Removes it if there is a new one, and else puts it back.
    pub fn settle(self, is_recorded: bool) {
        let Earlier { process, _folder, replaced } = self;
        // What cannot be done here does no harm but take room.
        let _ = with_rights_of(process, || {
            if is_recorded {
                replaced.remove()
            } else {
                replaced.restore()
            }
            Ok(())
        });
    }
}

/// Copies the library into the `/tmp` of the process, under a name that says what is in it. It stays: the virtual machine takes a library
/// of another name for another agent.
fn copy(process: &Process, library: &Path) -> Result<PathBuf> {
    let bytes = fs::read(library).with_context(|| library.display().to_string())?;
    let name = agent_library::file_name(&format!("-{}", process.uid), &bytes);
    let folder = Folder::of(process, Path::new("/tmp"))?;
    with_rights_of(process, || agent_library::place(&bytes, &folder.path(&name), process.uid))
        .with_context(|| format!("the agent cannot be put into the /tmp of process {}", process.pid))?;
    Ok(folder.inside().join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_waits_for_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(format!("{PREFIX}{name}"));
        let [left, waited, link] = ["left", "waited", "link"].map(at);
        fs::write(&left, "options").unwrap();
        let held = File::create(&waited).unwrap();
        held.lock().unwrap();
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        remove_abandoned(folder.path(), ABANDONED);
        assert!(left.exists(), "it may be about to be locked");
        remove_abandoned(folder.path(), Duration::ZERO);
        let there = [&left, &waited, &link, &other].map(|path| path.symlink_metadata().is_ok());
        assert_eq!(there, [false, true, true, true]);
    }
}
