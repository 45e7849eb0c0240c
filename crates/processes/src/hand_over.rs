//! What the process gets: a library that it can read, and a file with the options, in which it answers.

use crate::agent_library;
use crate::attach::{self, LONGEST_ARGUMENT};
use crate::jvm::{Process, directory_inside, path_inside};
use anyhow::{Context, Result, anyhow, bail};
use instrument_control::answer::{Attached, parse_answer, read};
use instrument_control::attach::from_file;
use rustix::process::getuid;
use std::fs;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Everything that is needed, in its place. The agent removes the file's name when it has opened it; else it goes when this is dropped.
pub struct HandOver<'a> {
    process: &'a Process,
    /// As the process sees it.
    library: PathBuf,
    file: NamedTempFile,
    /// As the process sees it.
    file_inside: PathBuf,
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
        let inside = |folder: &Path| {
            (process.root().join(folder.strip_prefix("/").unwrap_or(folder)), folder.to_owned())
        };
        let places = [Some(PathBuf::from("/tmp")), directory_inside(process)];
        let mut reason = None;
        for (ours, its) in places.iter().flatten().map(|folder| inside(folder)) {
            match tempfile::Builder::new().prefix(".instrument-attach-").tempfile_in(&ours) {
                Ok(mut file) => {
                    file.write_all(options.as_bytes())?;
                    file.flush()?;
                    own(process, file.path());
                    let name = file.path().file_name().context("a file has a name")?;
                    let file_inside = its.join(name);
                    return Ok(HandOver { process, library, file, file_inside });
                }
                Err(error) => reason = Some(error),
            }
        }
        let reason = reason.map(|error| error.to_string()).unwrap_or_default();
        bail!(
            "process {}: no file can be made where it could read it, in /tmp or its working directory: {reason}",
            process.pid
        )
    }

    /// Has the process load the agent. What it answers; the path of the profile is as the process sees it.
    ///
    /// # Errors
    /// The reason why nothing is recorded.
    pub fn attach(self, limit: Duration) -> Result<Attached> {
        let pid = self.process.pid;
        let text = |path: &Path| {
            path.to_str().map(str::to_owned).with_context(|| format!("{}: not UTF-8", path.display()))
        };
        let (library, options) = (text(&self.library)?, from_file(&text(&self.file_inside)?));
        for argument in [&library, &options] {
            if argument.len() > LONGEST_ARGUMENT {
                bail!("{argument}: the attach protocol takes no path of more than {LONGEST_ARGUMENT} bytes");
            }
        }
        let code = attach::load(self.process, &library, &options, limit)?;
        let mut answer = Vec::new();
        let mut file = self.file.as_file();
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

/// Gives a file to the user of the process, if we may.
fn own(process: &Process, file: &Path) {
    if getuid().as_raw() != process.uid {
        let _ = chown(file, Some(process.uid), Some(process.gid));
    }
}

/// Copies the library into the `/tmp` of the process, under a name that says what is in it. It stays: the virtual machine takes a library
/// of another name for another agent.
fn copy(process: &Process, library: &Path) -> Result<PathBuf> {
    let bytes = fs::read(library).with_context(|| library.display().to_string())?;
    let user = format!("-{}", getuid().as_raw());
    let inside = Path::new("/tmp").join(agent_library::file_name(&user, &bytes));
    agent_library::place(&bytes, &process.root().join(inside.strip_prefix("/").unwrap_or(&inside)))?;
    Ok(inside)
}
