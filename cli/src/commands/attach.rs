//! `instrument attach PID`: brings the agent into a program that runs, and records it from then on.
//!
//! 1. Resolve the settings as `run` does, find the process, and put the library where that can read it ([`hand_over`]).
//! 2. Write the options into a file there, and have the virtual machine load the library ([`crate::io::attach`]).
//! 3. Read the agent's answer from that file: where the profile is, or why there is none.

mod hand_over;

use crate::commands::run::{agent_options, file_name, find_library, recording};
use crate::io::exit::{Exit, usage};
use crate::io::jvm::{self, Kind};
use crate::io::talk::Talk;
use crate::options::settings::{self, Settings};
use anyhow::{Context, Result};
use hand_over::HandOver;
use instrument_control::keys;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Record a program that runs already
///
/// It needs no preparation and no JDK: any Java 11 to 25 of the same user, or of anybody if you are root. Without a PID the programs that
/// it can attach to are listed.
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// Where the profile goes: a file, or a directory
    #[arg(short, long, value_name = "PATH", env = "INSTRUMENT_OUT", hide_env_values = true)]
    out: Option<PathBuf>,

    /// Name of the process in reports and of the profile [default: the program's name]
    #[arg(long, value_name = "NAME", env = "INSTRUMENT_NAME", hide_env_values = true, value_parser = file_name)]
    name: Option<String>,

    /// Write the rewritten classes to this directory
    #[arg(hide_short_help = true, long, value_name = "DIRECTORY")]
    dump: Option<PathBuf>,

    /// Path of the agent's library, if it is neither beside this program nor in ../lib
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE",
        env = "INSTRUMENT_AGENT",
        hide_env_values = true
    )]
    agent: Option<PathBuf>,

    /// Seconds that the program may take to load the agent
    #[arg(hide_short_help = true, long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,

    #[command(flatten)]
    recording: recording::Opts,

    #[command(flatten)]
    settings: settings::Opts,

    /// Its process id; or its main class or jar, if no other program has that name
    #[arg(value_name = "PID|NAME", help_heading = "Arguments")]
    target: Option<String>,
}

pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    let Some(target) = &opts.target else { return list(talk) };
    let settings = Settings::resolve(opts.settings, talk)?;
    if !settings.subclasses_of.is_empty() {
        return Err(usage(
            "--subclasses-of needs all classes at once: instrument the archive with it, then start the result with java",
        ));
    }
    opts.recording.check(&settings)?;
    if opts.recording.is_early() {
        return Err(usage("--early is about the start of a program; this one runs already"));
    }
    let library = find_library(opts.agent)?;
    let process = jvm::find(target)?;
    let mut recording = opts.recording.options()?;
    recording.extend(opts.name.map(|name| (keys::NAME, name)));
    // In a container our working directory means nothing.
    let elsewhere = process.has_own_root().then(|| Path::new("/tmp/"));
    let out = opts.out.as_deref().or(elsewhere);
    let options = agent_options(&settings, out, opts.dump.as_deref(), recording)?;

    let hand_over = HandOver::new(&process, &library, &options)?;
    let profile = hand_over.attach(Duration::from_secs(opts.timeout))?;
    let (pid, program) = (process.pid, process.program().unwrap_or("?"));
    talk.note(format_args!("process {pid} ({program}) is recorded: {}", profile.display()));
    Ok(Exit::Done)
}

/// The programs that it can attach to.
fn list(talk: &Talk) -> Result<Exit> {
    let found = jvm::all();
    if found.is_empty() {
        talk.note(format_args!("no Java program of this user runs"));
        return Ok(Exit::Negative);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    for process in &found {
        let kind = if process.kind() == Kind::OpenJ9 { "  (OpenJ9: not by attach)" } else { "" };
        writeln!(out, "{:>8}  {}{kind}", process.pid, process.program().unwrap_or("?"))?;
    }
    out.flush().context("standard output")?;
    Ok(Exit::Done)
}
