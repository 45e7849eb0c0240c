//! `instrument run --twice`: a run in which nothing is rewritten and stacks are sampled, before the one that is recorded. The profiles of the second one
//! get the times of the first one.

use crate::commands::run::agent::Agent;
use crate::commands::run::cannot_start;
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_analysis::twice::{Runs, combine, pairs};
use instrument_control::run::PROCESSES;
use instrument_messages::Listener;
use instrument_processes::kept_input::KeptInput;
use instrument_processes::launch::{Ended, command, exit_code, signals, temporary_file, wait};
use instrument_processes::profiles::{Recorded, profiles_since};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;
use tempfile::TempDir;

/// What the first run left.
pub(super) struct First {
    input: KeptInput,
    profiles: Vec<PathBuf>,
    code: u8,
    /// Somebody asked for its end: there is to be no second run.
    pub(super) was_asked: bool,
    /// Where its profiles are.
    _directory: TempDir,
}

impl First {
    /// Runs the command with nothing rewritten. Its output goes nowhere; its errors are shown. `beside`: a folder that is written to anyhow.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn run(
        agent: &Agent,
        words: &[OsString],
        no_children: bool,
        beside: &Path,
        talk: &Talk,
    ) -> Result<First> {
        let directory = tempfile::tempdir().or_else(|_| {
            std::fs::create_dir_all(beside)?;
            tempfile::tempdir_in(beside)
        });
        let directory = directory.context("a folder for the first run")?;
        let argument = agent.agentpath(&Agent::stacks_alone(directory.path(), Some("off"))?);
        let processes = temporary_file(directory.path()).context("a file for the ids of processes")?;
        let (mut command, is_java) = command(words, &argument, no_children)?;
        command.env(PROCESSES, processes.path()).stdout(Stdio::null());
        let mut input = KeptInput::new(beside)?;
        command.stdin(input.stdio()?);
        talk.note(format_args!(
            "first run: nothing is rewritten, stacks are sampled; its output is left out"
        ));
        let (started, signals) = (SystemTime::now(), signals()?);
        let mut child = command.spawn().map_err(|error| cannot_start(&words[0], error))?;
        input.feed(child.stdin.take());
        let pid = child.id();
        let Ended { status, was_asked } = wait(child, signals)?;
        let recorded = Recorded::read(processes.path(), is_java.then_some(pid));
        let profiles = profiles_since(directory.path(), started, &recorded);
        let code = exit_code(status);
        Ok(First { input, profiles, code, was_asked, _directory: directory })
    }

    /// The exit code, as a shell has it.
    pub(super) fn code(&self) -> u8 {
        self.code
    }

    /// Gives a command the input that the first run had.
    ///
    /// # Errors
    /// It cannot be read again.
    pub(super) fn give(&mut self, command: &mut Command) -> Result<()> {
        command.stdin(self.input.stdio()?);
        Ok(())
    }

    /// Feeds the process of that command.
    pub(super) fn feed(&self, child: &mut std::process::Child) {
        self.input.feed(child.stdin.take());
    }

    /// Puts the times into the profiles of the second run, which ended with this exit code.
    pub(super) fn combine(&self, profiles: &[PathBuf], code: u8, talk: &Talk) {
        if self.code != code {
            talk.warn(format_args!(
                "the first run ended with exit code {}, the second one with {code}: times and counts may be of different work",
                self.code
            ));
        }
        let (pairs, unreadable) = pairs(&self.profiles, profiles);
        for error in unreadable {
            talk.warn(format_args!("{:#}", anyhow::Error::from(error)));
        }
        for (counts, stacks) in pairs {
            let path = counts.display();
            let Some(stacks) = stacks else {
                talk.warn(format_args!(
                    "{path}: the first run had no process of this program; the times are those of the recorded run"
                ));
                continue;
            };
            give_times(&counts, &stacks, Runs::Two, talk);
        }
    }
}

/// Gives a profile the times of another one, of what ran while nothing was rewritten.
pub(crate) fn give_times(counts: &Path, stacks: &Path, runs: Runs, talk: &Talk) {
    match combine(counts, stacks, runs) {
        Ok(account) if !account.is_alike() => talk.warn(format_args!(
            "{}: the program took {:.2} s of CPU time outside of probes while calls were counted, and {:.2} s while stacks were sampled: \
             times are not divided by calls",
            counts.display(),
            account.outside_ns as f64 / 1e9,
            account.bare_ns as f64 / 1e9
        )),
        Ok(_) => {}
        Err(error) => talk.warn(format_args!("{:#}", anyhow::Error::from(error))),
    }
}
