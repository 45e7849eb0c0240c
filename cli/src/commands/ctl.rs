//! `instrument ctl PID REQUEST`: asks a program that runs with the agent, over its private socket.
//!
//! Answers are printed as text for people, or as they came (`--json`).

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::{Context, Result, anyhow};
use instrument_control::answer::{self, Answer, Selected};
use instrument_control::ctl;
use instrument_messages::{Listener, usage};
use instrument_names::printable::printable;
use instrument_processes::ctl::{answer_of, changes, programs, subgraph, text};
use instrument_processes::profiles::unmatched as nothing_fitted;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Ask a running program: threads, monitors, classes, objects; heap dump, pause, resume, snapshot
///
/// The program runs with the agent: `instrument run -- java ..`, or java -agentpath:.. Only its own user, and root, may ask. Without a PID
/// the programs that can be asked are listed; a program that is stopped or too busy is listed with "does not answer".
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = false)]
pub(crate) struct Opts {
    /// Its process id; or the path of its socket, if the agent was given one
    #[arg(value_name = "PID")]
    target: Option<String>,

    /// Print the answer as JSON
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    request: Option<Request>,
}

#[derive(Debug, clap::Subcommand)]
enum Request {
    /// The process, what is recorded, and where
    Status,
    /// All threads: state, CPU time, the monitors they have and wait for
    Threads {
        /// Their stacks, too
        #[arg(long)]
        stacks: bool,
        /// Frames of a stack
        #[arg(long, value_name = "N", default_value_t = 100, requires = "stacks")]
        depth: usize,
    },
    /// One thread, with its stack
    Thread {
        /// Its id, or its name if no other thread has it
        #[arg(value_name = "ID|NAME")]
        thread: String,
    },
    /// The classes that are loaded
    Classes {
        /// Only those: `com.acme.**`
        pattern: Option<String>,
        /// Count their objects on the heap, reachable or not; `gc` before it leaves the reachable
        #[arg(long)]
        instances: bool,
        /// Print only the first N
        #[arg(long, value_name = "N")]
        top: Option<usize>,
    },
    /// A class: loader, status, fields, methods and their ids in the profile
    Class {
        /// Its name, or its id
        name: String,
    },
    /// An object: class, size, who has its monitor
    Object {
        /// The id that another answer gave
        id: i64,
    },
    /// The monitors that threads have or wait for
    Monitors,
    /// One monitor
    Monitor {
        /// The id that another answer gave
        id: i64,
    },
    /// Copy the profile as it is at this moment
    Snapshot {
        /// Where to
        file: PathBuf,
    },
    /// Let the figures count from now on, so that start-up does not bury what comes
    ///
    /// Nothing is lost: a snapshot is put beside the profile, as PROFILE.reset, and reports take its figures away. `--since start` shows
    /// everything.
    Reset,
    /// Write what can be reached on the heap as HPROF, for VisualVM or Eclipse MAT
    ///
    /// With `--heap objects` each object's stack trace is the context that made it.
    HeapDump {
        /// Where to
        file: PathBuf,
    },
    /// Pause recording
    Pause {
        /// Classes have their own code until recording resumes: a call costs nothing meanwhile
        ///
        /// The program stands still when it pauses and when it resumes, and is slower for a while after each, since the virtual machine
        /// compiles anew what has changed. Without --bare a call in a pause costs some nanoseconds, as one that is recorded does.
        #[arg(long)]
        bare: bool,
    },
    /// Resume recording
    Resume,
    /// Exclude methods from now on: they get their own code back
    ///
    /// Their calls are no longer counted, and their time is charged to their callers. The profile says which, and since when. Roots stay.
    Exclude {
        /// As for --exclude of `run`: com.acme.**, Shop#price, Shop.price(int)
        #[arg(required = true, value_name = "PATTERN")]
        methods: Vec<String>,
    },
    /// Record methods again that `exclude` has excluded
    Include {
        /// Methods of which this takes the exclusion back
        #[arg(required = true, value_name = "PATTERN")]
        methods: Vec<String>,
    },
    /// Add roots: what they call is rewritten and recorded from now on
    ///
    /// For a recording with --subgraph. Reports say since when each of them is a root.
    Root {
        /// As for --root of `attach`: 'com.acme.Shop.order(int)', 'Shop#order'
        #[arg(required = true, value_name = "METHOD")]
        methods: Vec<String>,
    },
    /// Remove roots: classes that only they needed get their own code back
    ///
    /// For a recording with --subgraph. What was recorded stays in the profile, and calls that are open beneath them run out.
    Remove {
        /// Roots, as they were given; `status` names them
        #[arg(required = true, value_name = "METHOD")]
        methods: Vec<String>,
    },
    /// Time code regions from now on, or no more
    ///
    /// Their classes are rewritten in one go. What was timed stays in the profile. Not for a recording with --subgraph.
    Region {
        /// As for --region of `run`: com.acme.Shop:12-17, 'com.acme.Shop#sell'; with --remove as they were given
        #[arg(required = true, value_name = "REGION")]
        regions: Vec<String>,
        /// Time them no more
        #[arg(long)]
        remove: bool,
    },
    /// Record the duration of each call of these methods, from now on
    ///
    /// As `run --latency` does from the start. Methods that had it before go on, with the threshold that they have. No class is rewritten;
    /// it holds for methods that are loaded later, too. `instrument latency PID` prints the percentiles.
    Latency {
        /// As for --latency of `run`: 'Shop#sell', 'com.acme.Shop#sell:50ms'
        #[arg(required = true, value_name = "PATTERN[:THRESHOLD]")]
        methods: Vec<String>,
    },
    /// Begin a recording of a program that is armed, with the options that it was armed with
    ///
    /// `instrument run --armed` arms a program. `instrument attach PID` begins a recording with other options.
    Start,
    /// End recording: the profile is complete, and the classes have their own code again
    ///
    /// The program runs on as if the agent had never been there; `instrument attach` may record it again.
    Stop,
    /// Collect garbage
    Gc,
}

impl Request {
    /// As it is sent.
    fn sent(&self) -> Result<ctl::Request> {
        let or_id = |word: &str| match word.parse::<i64>() {
            Ok(id) => (Some(id), None),
            Err(_) => (None, Some(word.to_owned())),
        };
        Ok(match self {
            Request::Status => ctl::Request::Status {},
            Request::Threads { stacks, depth } => {
                ctl::Request::Threads { stacks: if *stacks { *depth } else { 0 } }
            }
            Request::Thread { thread } => {
                let (id, name) = or_id(thread);
                ctl::Request::Thread { id, name }
            }
            Request::Classes { pattern, instances, .. } => {
                ctl::Request::Classes { pattern: pattern.clone(), instances: *instances }
            }
            Request::Class { name } => {
                let (id, name) = or_id(name);
                ctl::Request::Class { id, name }
            }
            Request::Object { id } => ctl::Request::Object { id: *id },
            Request::Monitors => ctl::Request::Monitors {},
            Request::Monitor { id } => ctl::Request::Monitor { id: *id },
            Request::Snapshot { file } => ctl::Request::Snapshot { file: absolute(file)? },
            Request::Reset => ctl::Request::Reset {},
            Request::HeapDump { file } => ctl::Request::HeapDump { file: absolute(file)? },
            Request::Pause { bare } => ctl::Request::Pause { bare: *bare },
            Request::Resume => ctl::Request::Resume {},
            Request::Exclude { methods } => ctl::Request::Exclude { methods: methods.clone() },
            Request::Include { methods } => ctl::Request::Include { methods: methods.clone() },
            Request::Root { methods } => ctl::Request::Root { methods: methods.clone() },
            Request::Remove { methods } => ctl::Request::Remove { methods: methods.clone() },
            Request::Region { regions, remove } => {
                ctl::Request::Region { regions: regions.clone(), remove: *remove }
            }
            Request::Latency { methods } => ctl::Request::Latency { methods: methods.clone() },
            Request::Start => ctl::Request::Start { options: None },
            Request::Stop => ctl::Request::Stop {},
            Request::Gc => ctl::Request::Gc {},
        })
    }
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let done = match (&opts.target, &opts.request) {
        (None, None) => list(opts.json, &mut out, talk)?,
        (None, Some(_)) => {
            return Err(usage("which process? `instrument ctl` lists those that run with the agent"));
        }
        (Some(target), request) => {
            let request = request.as_ref().unwrap_or(&Request::Status);
            let sent = request.sent()?;
            let mut answer = answer_of(target, &sent)?;
            if let (Request::Classes { top: Some(top), .. }, Answer::Classes(found)) = (request, &mut answer)
            {
                found.classes.truncate(*top);
            }
            if opts.json {
                let answer = answer.to_json().map_err(|reason| anyhow!("{reason}"))?;
                serde_json::to_writer_pretty(&mut out, &answer)?;
                writeln!(out)?;
            } else {
                text::print(&mut out, &sent, &answer)?;
            }
            if let Answer::Selected(Selected { methods: 0, roots: 0, .. }) = &answer {
                talk.warn(format_args!("{}", changes::nothing_selected(&sent)));
                return Ok(Exit::Negative);
            }
            if matches!(&answer, Answer::Kept(kept) if kept.methods == 0) {
                talk.warn(format_args!("{}", changes::NONE_KEPT));
                return Ok(Exit::Negative);
            }
            if let Answer::Timed(timed) = &answer {
                for (region, fault) in &timed.faults {
                    talk.warn(format_args!("{}: {}", printable(region), printable(fault)));
                }
                if !timed.faults.is_empty() {
                    return Ok(Exit::Negative);
                }
            }
            let (unmatched, profile) = match &answer {
                Answer::Stopped(stopped) => (&*stopped.unmatched, stopped.profile.as_ref()),
                Answer::Attached(attached) => (&*attached.unmatched, Some(&attached.profile)),
                Answer::Rooted(rooted) => {
                    if !opts.json {
                        out.flush()?;
                        subgraph::say(&rooted.subgraph, talk);
                    }
                    (&*rooted.unmatched, None)
                }
                _ => (&[][..], None),
            };
            let profile: Vec<PathBuf> = profile.into_iter().map(PathBuf::from).collect();
            for warning in nothing_fitted(unmatched, &profile) {
                talk.warn(format_args!("{warning}"));
            }
            Exit::Done
        }
    };
    out.flush()?;
    Ok(done)
}

/// The programs of this user that can be asked, each with its status or, if it does not answer, with the reason.
fn list(json: bool, out: &mut dyn Write, talk: &Talk) -> Result<Exit> {
    let programs = programs(talk);
    if json {
        let programs = answer::known(&programs).map_err(|reason| anyhow!("{reason}"))?;
        serde_json::to_writer_pretty(&mut *out, &programs)?;
        writeln!(out)?;
    } else if programs.is_empty() {
        talk.note(format_args!(
            "no program of this user runs with the agent; `instrument run -- java ..` starts one"
        ));
    } else {
        text::programs(out, &programs)?;
    }
    Ok(if programs.is_empty() { Exit::Negative } else { Exit::Done })
}

/// The program may be in another directory.
fn absolute(file: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(file).with_context(|| file.display().to_string())?;
    match path.to_str() {
        Some(_) => Ok(path),
        None => Err(usage("the path of a file must be UTF-8")),
    }
}
