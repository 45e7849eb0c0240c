//! `instrument ship`: finished profiles from a host to a folder that many hosts write into.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::Result;
use instrument_fleet::ship::{Options, Shipper};
use instrument_messages::{Listener, usage};

/// A signal is answered after no more than this.
const SOON: Duration = Duration::from_millis(100);

/// Copy finished profiles from this host into a folder, each once, whoever else writes there
///
/// A profile is stored as DAY/SHA256.iprof, by the day on which recording began (UTC) and its bytes: what is there is not copied again, and
/// any number of hosts can write into one folder, such as a network file system or a mounted object store. A name appears when its bytes are
/// on the disk and were read back. Run it again after anything: what is missing is copied. A profile is finished when its program has ended
/// it, or was killed and has changed nothing for a while. What is still written is left for later; what is not whole is left and named, with
/// exit code 1.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    /// Folders, with all below them, or profiles
    #[arg(required = true, value_name = "DIR|FILE")]
    inputs: Vec<PathBuf>,
    /// The folder to copy to; it has to be there
    #[arg(long, value_name = "PATH")]
    to: PathBuf,
    /// Go on until a signal ends it: look again and again; on SIGTERM or SIGINT once more, and end
    #[arg(long)]
    watch: bool,
    /// --watch: time between two looks
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration, requires = "watch")]
    interval: Duration,
    /// For how long a profile that nobody ended must not have changed
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = humantime::parse_duration)]
    settled: Duration,
    /// Remove profiles that their programs have ended, once their copies were read back; those of killed programs stay
    #[arg(long)]
    delete: bool,
}

/// Ships until there is nothing left to ship; with `--watch` until a signal comes.
///
/// # Errors
/// No folder to write to; without `--watch` one that cannot be written to.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    if let Some(missing) = opts.inputs.iter().find(|path| !path.exists()) {
        return Err(usage(format!("{}: neither a folder nor a profile", missing.display())));
    }
    if opts.interval.is_zero() {
        return Err(usage("--interval: the time between two looks must be more than 0"));
    }
    let is_ending = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    if opts.watch {
        use signal_hook::consts::{SIGINT, SIGTERM};
        for signal in [SIGINT, SIGTERM] {
            // The second one ends us.
            signal_hook::flag::register_conditional_default(signal, is_ending.clone())?;
            signal_hook::flag::register(signal, is_ending.clone())?;
        }
    }
    let options = Options {
        inputs: opts.inputs.clone(),
        settled: opts.settled,
        delete: opts.delete,
        watch: opts.watch,
    };
    let mut shipper = Shipper::new(options, &opts.to, talk)?;
    if !opts.watch {
        shipper.look()?;
        let tally = shipper.tally();
        talk.note(format_args!("{}", tally.line()));
        return Ok(if tally.left > 0 { Exit::Negative } else { Exit::Done });
    }
    loop {
        let is_last = is_ending.load(SeqCst);
        let before = shipper.tally().copied + shipper.tally().there;
        if let Err(error) = shipper.look() {
            if is_last {
                return Err(error);
            }
            let every = humantime::format_duration(opts.interval);
            talk.warn(format_args!("{error:#}; trying again in {every}"));
        }
        if is_last {
            talk.note(format_args!("{}", shipper.tally().line()));
            return Ok(Exit::Done);
        }
        if shipper.tally().copied + shipper.tally().there > before {
            talk.detail(format_args!("{}", shipper.tally().line()));
        }
        let start = Instant::now();
        while start.elapsed() < opts.interval && !is_ending.load(SeqCst) {
            std::thread::sleep(SOON.min(opts.interval));
        }
    }
}
