//! `instrument ctl PID REQUEST`: asks a program that runs with the agent, over its private socket.
//!
//! The protocol is on the page of the agent's module `ctl`. Here: which process is meant and where its socket is ([`place`]), and answers as
//! text for people ([`text`]) or as they came (`--json`).

mod place;
mod text;

use crate::exit::{Exit, usage};
use crate::talk::Talk;
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use std::io::{BufWriter, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What this and the agent speak.
const VERSION: u64 = 1;
/// Long enough for a copy of a large profile.
const PATIENCE: Duration = Duration::from_secs(600);
/// The largest answer that is read.
const LARGEST: u64 = 1 << 30;

/// Ask a running program: threads, monitors, classes, objects; heap dump, pause, resume, snapshot
///
/// The program runs with the agent: `instrument run -- java ..`, or java -agentpath:.. Only its own user, and root, may ask. Without a PID
/// the programs that can be asked are listed.
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
        /// Its id
        id: i64,
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
    /// Write what can be reached on the heap as HPROF, for VisualVM or Eclipse MAT
    ///
    /// With `--heap objects` each object's stack trace is the context that made it.
    HeapDump {
        /// Where to
        file: PathBuf,
    },
    /// Let recording stand still
    Pause,
    /// Let recording go on
    Resume,
    /// Collect garbage
    Gc,
}

impl Request {
    /// As it is sent.
    fn line(&self) -> Result<Value> {
        let mut line = match self {
            Request::Status => json!({ "request": "status" }),
            Request::Threads { stacks: true, depth } => json!({ "request": "threads", "stacks": depth }),
            Request::Threads { .. } => json!({ "request": "threads" }),
            Request::Thread { id } => json!({ "request": "thread", "id": id }),
            Request::Classes { pattern, instances, .. } => {
                json!({ "request": "classes", "pattern": pattern, "instances": instances })
            }
            Request::Class { name } => match name.parse::<i64>() {
                Ok(id) => json!({ "request": "class", "id": id }),
                Err(_) => json!({ "request": "class", "name": name }),
            },
            Request::Object { id } => json!({ "request": "object", "id": id }),
            Request::Monitors => json!({ "request": "monitors" }),
            Request::Monitor { id } => json!({ "request": "monitor", "id": id }),
            Request::Snapshot { file } => json!({ "request": "snapshot", "file": absolute(file)? }),
            Request::HeapDump { file } => json!({ "request": "heap-dump", "file": absolute(file)? }),
            Request::Pause => json!({ "request": "pause" }),
            Request::Resume => json!({ "request": "resume" }),
            Request::Gc => json!({ "request": "gc" }),
        };
        line["v"] = VERSION.into();
        Ok(line)
    }
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let done = match (&opts.target, &opts.request) {
        (None, None) => list(opts.json, &mut out, talk)?,
        (None, Some(_)) => {
            return Err(usage("which process? `instrument ctl` lists those that can be asked"));
        }
        (Some(target), request) => {
            let request = request.as_ref().unwrap_or(&Request::Status);
            let mut answer = ask(place::connect(target)?, &request.line()?)
                .with_context(|| format!("process {target}"))?;
            if let Request::Classes { top: Some(top), .. } = request
                && let Some(classes) = answer["classes"].as_array_mut()
            {
                classes.truncate(*top);
            }
            if opts.json {
                serde_json::to_writer_pretty(&mut out, &answer)?;
                writeln!(out)?;
            } else {
                text::print(&mut out, request, &answer)?;
            }
            Exit::Done
        }
    };
    out.flush()?;
    Ok(done)
}

/// The programs of this user that can be asked.
fn list(json: bool, out: &mut dyn Write, talk: &Talk) -> Result<Exit> {
    let mut programs = Vec::new();
    for path in place::sockets() {
        match place::open(&path).and_then(|stream| ask(stream, &Request::Status.line()?)) {
            Ok(status) => programs.push(status),
            Err(error) => talk.detail(format_args!("{}: {error:#}", path.display())),
        }
    }
    programs.sort_by_key(|status| status["pid"].as_u64());
    if json {
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

/// Sends a request and gives the answer.
fn ask(mut stream: UnixStream, line: &Value) -> Result<Value> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // Who does not want to hear us may have said why.
    let sent = stream.write_all(format!("{line}\n").as_bytes());
    let mut reply = Vec::new();
    let read = stream.take(LARGEST).read_to_end(&mut reply);
    if reply.is_empty() {
        sent?;
        read.context("no answer")?;
        bail!("no answer");
    }
    let mut reply: Value = serde_json::from_slice(&reply).context("the answer is not complete")?;
    if let Some(reason) = reply["error"].as_str() {
        bail!("{reason}");
    }
    match reply["v"].as_u64() {
        Some(VERSION) => Ok(reply["ok"].take()),
        _ => Err(anyhow!("the agent of that program speaks another version of the protocol")),
    }
}

/// The program may be in another directory.
fn absolute(file: &Path) -> Result<String> {
    let path = std::path::absolute(file).with_context(|| file.display().to_string())?;
    path.into_os_string().into_string().map_err(|_| usage("the path of a file must be UTF-8"))
}

/// The last component of a path.
fn stem(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()
}
