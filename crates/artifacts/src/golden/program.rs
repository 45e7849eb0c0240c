//! Programs that a case starts: within a time limit, with what they print kept within bounds.

use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The longest output that is read, in bytes.
const MOST_OUTPUT: u64 = 16 << 20;
/// How often it is looked whether a program has ended.
const PATIENCE: Duration = Duration::from_millis(5);

/// How a program ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ended {
    /// The last lines of what it said, for messages.
    pub(super) fn last_words(&self) -> String {
        let lines: Vec<&str> = self.stdout.lines().chain(self.stderr.lines()).collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

/// Runs a program to its end.
///
/// # Errors
/// It cannot be started, does not end in time, or prints too much; it is killed then, with what it has started.
pub(super) fn run(command: &mut Command, limit: Duration) -> Result<Ended> {
    let name = command.get_program().to_string_lossy().into_owned();
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(err.try_clone()?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn().with_context(|| format!("cannot start {name}"))?;
    let end = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let length = |file: &File| file.metadata().map_or(0, |metadata| metadata.len());
        if Instant::now() >= end || length(&out).max(length(&err)) > MOST_OUTPUT {
            let in_time = Instant::now() < end;
            kill(&mut child);
            if in_time {
                bail!("{name} printed more than {} MiB, and was killed", MOST_OUTPUT >> 20);
            }
            bail!("{name} did not end within {} s, and was killed (`seconds` in case.toml)", limit.as_secs());
        }
        std::thread::sleep(PATIENCE);
    };
    let (stdout, stderr) = (text(&mut out)?, text(&mut err)?);
    Ok(Ended { status, stdout, stderr })
}

/// Kills a child with all of its process group.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn text(file: &mut File) -> Result<String> {
    let length = file.metadata()?.len();
    ensure!(length <= MOST_OUTPUT, "more than {} MiB were printed", MOST_OUTPUT >> 20);
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
