//! Two runs of a program in one profile: the counts of one that was recorded, and the times of one in which nothing was rewritten and whole stacks were
//! sampled. They may be parts of one run.
//!
//! 1. each frame of the stacks becomes the method that the recording has under the same name, or a new one if its class would have been recorded
//!    and was not loaded in that run, or none ([`frames`]);
//! 2. the trees of the stacks become trees of these methods alone: what a frame that is left out took is charged to the innermost caller that is
//!    left in ([`project`]);
//! 3. these take the place of the recorded run's own samples but for those of probes, as sums of no thread, so that they stand in the rows of the threads of the same
//!    names. What the two runs have in common and what not is in properties ([`Account`]).

mod account;
mod frames;
mod project;

pub use account::{Account, Runs};

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::load::samples;
use crate::session::file::maps;
use frames::Frames;
use instrument_names::id_map::gz;
use instrument_names::program;
use instrument_trace::{Profile, Sum, Writer};
use project::Outermost;

/// Why two runs cannot become one profile.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A profile cannot be read.
    #[error("{}", .0.display())]
    Read(PathBuf, #[source] instrument_trace::Error),
    /// The file with the counts cannot be opened or written.
    #[error("{}", .0.display())]
    Write(PathBuf, #[source] io::Error),
    /// One of them has not what is needed.
    #[error("{}: {reason}", path.display())]
    Unfit {
        /// The profile.
        path: PathBuf,
        reason: &'static str,
    },
}

/// Gives the recorded run at `counts` the times of the run at `stacks`.
///
/// # Errors
/// A file that cannot be read or written, that has no samples, or whose program still writes to it. Then the first one is as it was.
pub fn combine(counts: &Path, stacks: &Path, runs: Runs) -> Result<Account, Error> {
    let (recorded, sampled) = (open(counts)?, open(stacks)?);
    let unfit = |path: &Path, reason| Error::Unfit { path: path.to_owned(), reason };
    if !are_samples(&recorded) {
        return Err(unfit(
            counts,
            "its times are no samples, and those of another run cannot take their place",
        ));
    }
    if sampled.threads.iter().all(|thread| thread.tree.is_none()) || !are_samples(&sampled) {
        return Err(unfit(stacks, "no stack was sampled: the times of the recorded run stay"));
    }
    let copy = recorded.threads.iter().find(|thread| thread.tree.is_some()).map_or(1, |thread| thread.copy);
    let frames = Frames::new(&recorded, copy, &sampled);
    let mut account = Account::of(&recorded, runs);
    let outermost = (runs == Runs::PartsOfOne).then(|| Outermost::of(&recorded));
    let all = &recorded.threads;
    let thread = |copy, ordinal| all.iter().find(|thread| (thread.copy, thread.ordinal) == (copy, ordinal));
    let worth = |copy, ordinal| thread(copy, ordinal).map_or(0.0, |thread| samples::worth(thread, &recorded));
    let failed = |error| Error::Write(counts.to_owned(), error);
    let file = File::options().read(true).write(true).open(counts).map_err(failed)?;
    let mut writer = Writer::replacing_samples(file, copy, worth).map_err(failed)?;
    for thread in &sampled.threads {
        let (tree, of_thread) = project::thread(thread, &frames, outermost.as_ref());
        account.add(&tree, &of_thread);
        let ordinal = writer.sum(&thread.name, 0, Sum::Tree(&tree, &[])).map_err(failed)?;
        writer.samples(ordinal, &of_thread).map_err(failed)?;
    }
    if let Some(text) = frames.new_ids() {
        writer.id_map(&gz::store(&text)).map_err(failed)?;
    }
    account.compare();
    let properties: BTreeMap<String, String> = account.properties().collect();
    writer.properties(&properties).map_err(failed)?;
    writer.replace().map_err(failed)?;
    Ok(account)
}

/// Reads a profile that is complete.
fn open(path: &Path) -> Result<Profile, Error> {
    let file = File::open(path).map_err(|error| Error::Write(path.to_owned(), error))?;
    let profile = Profile::open(&file).map_err(|error| Error::Read(path.to_owned(), error))?;
    if !profile.has_ended() && maps(profile.pid, path) {
        let reason = "its program still runs: the times of the recorded run stay";
        return Err(Error::Unfit { path: path.to_owned(), reason });
    }
    Ok(profile)
}

fn are_samples(profile: &Profile) -> bool {
    profile.threads.iter().filter_map(|thread| thread.tree.as_ref()).all(|tree| tree.has_samples)
}

/// Profiles of a second run, each with its partner of the first one.
pub type Pairs = Vec<(PathBuf, Option<PathBuf>)>;

/// Pairs the profiles of two runs: of each of the second run the one of the first run whose process had the same command, or else ran the same program (the
/// commands of JVMs that a build starts for its tests have the time in them), in the order in which they began. Those that have no partner
/// stand alone. Beside them, why profiles of either run are left out.
pub fn pairs(first: &[PathBuf], second: &[PathBuf]) -> (Pairs, Vec<Error>) {
    let mut errors = Vec::new();
    let mut known = processes(first, &mut errors);
    let second = processes(second, &mut errors);
    let mut found: Pairs = second.iter().map(|process| (process.path.clone(), None)).collect();
    let same: [fn(&Process, &Process) -> bool; 2] = [
        |one, other| one.command == other.command,
        |one, other| !one.program.is_empty() && one.program == other.program,
    ];
    for is_same in same {
        for (process, (_, partner)) in second.iter().zip(&mut found) {
            if partner.is_none() {
                let at = known.iter().position(|one| is_same(one, process));
                *partner = at.map(|at| known.remove(at).path);
            }
        }
    }
    (found, errors)
}

/// The process of a profile.
struct Process {
    path: PathBuf,
    command: String,
    /// The word that names its program.
    program: String,
    start_ms: u64,
}

/// In the order in which they began.
fn processes(paths: &[PathBuf], errors: &mut Vec<Error>) -> Vec<Process> {
    let mut processes = Vec::new();
    for path in paths {
        match Process::of(path) {
            Ok(process) => processes.push(process),
            Err(error) => errors.push(error),
        }
    }
    processes.sort_by_key(|process| process.start_ms);
    processes
}

impl Process {
    fn of(path: &Path) -> Result<Process, Error> {
        let file = File::open(path).map_err(|error| Error::Write(path.to_owned(), error))?;
        let profile = Profile::open_facts(&file).map_err(|error| Error::Read(path.to_owned(), error))?;
        let property = |key: &str| profile.copies.values().find_map(|copy| copy.properties.get(key)).cloned();
        let command = property("command").unwrap_or_default();
        let directory = property("directory").unwrap_or_default();
        let program = program::word(&command, &directory).unwrap_or_default().to_owned();
        Ok(Process { path: path.to_owned(), command, program, start_ms: profile.start_ms })
    }
}
