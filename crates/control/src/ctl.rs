//! Requests to the running program: `instrument ctl PID ..` asks, a thread of the agent answers, over a Unix socket that only the user of
//! the process (and root) can use.
//!
//! # Where
//! `PID.sock` in `$XDG_RUNTIME_DIR/instrument` if that directory is the user's, else in `/tmp/instrument-UID`; mode 0700, the socket 0600.
//! Option `ctl=PATH` puts it elsewhere, `ctl=off` nowhere.
//!
//! # Protocol, version 1
//! A client connects, sends one line, a JSON object, and gets one line, a JSON object; then the connection is closed. A line has at most
//! 1 MiB and 5 seconds to come. Requests are answered one at a time.
//!
//! ```text
//! {"v":1,"request":"thread","id":1}
//! {"v":1,"ok":{"id":1,"name":"main","state":"RUNNABLE",..}}
//! {"v":1,"error":"no thread has the id 7"}
//! ```
//!
//! Answers are those of [`answer`](crate::answer).
//!
//! | request | members | answer |
//! |---|---|---|
//! | `status` | | the process, its virtual machine, what is recorded and where |
//! | `threads` | `stacks`: frames of each, 0: none | `threads`: platform threads, all at one moment; `waits_cut`: the search for what they wait for ended after 200 ms or 4,096 objects |
//! | `thread` | `id`, or `name` if it is the only one | one of them, with its stack |
//! | `classes` | `pattern`; `instances`: count them | `classes` |
//! | `class` | `name`, or `id` of the object | `classes`: all of this name, with fields and methods: ids in the profile, length and CRC-32 of the code that the virtual machine has now |
//! | `object` | `id` | class, size, monitor; `made`: ordinal of the thread, number of the context in the profile and its methods, if `heap=objects` follows it |
//! | `monitors` | | `monitors`: those that a thread has (`only_contended`: the virtual machine does not say which) or waits to enter; before Java 23 also those that one waits in; `waits_cut` as of `threads` |
//! | `monitor` | `id` of the object | who has it, who waits |
//! | `snapshot` | `file`, an absolute path | the profile is copied there as it is at one moment |
//! | `reset` | | the figures of the profile count from now on: readers take from them what it is now, of which a snapshot is put beside it ([`of_reset`](instrument_names::snapshot::of_reset)) |
//! | `heap-dump` | `file`, an absolute path | the heap is written there as HPROF |
//! | `pause`, `resume` | of `pause`: `bare` | recording pauses, or resumes. With `bare` the `classes` that are rewritten have their own bytes until it resumes, when they have the new ones again; `refused` stay as they are, `ns` is what that took |
//! | `exclude`, `include` | `methods`, patterns | the methods that fit lose their probes, or get those back that they lost so: how many `methods` of how many `classes`, what of them is a root and stays (`roots`), `ns` |
//! | `root`, `remove` | `methods`, patterns | with `subgraph=on`, these are roots from now on, or are no longer: the `roots` now, what is rewritten of the program (`subgraph`, as of [`attach`](crate::attach)), how many classes have their own bytes again (`restored`), patterns that nothing fitted so far (`unmatched`), `ns` that the classes took |
//! | `region` | `regions`; `remove` | these code regions are timed from now on, or with `remove` no more: the `regions` that are timed now, how many `classes` were rewritten for it, `faults`: which of them are not timed, with the reason, `ns` that the classes took |
//! | `latency` | `methods`: patterns, each with a threshold behind it or without, as of the option | the durations of calls of these methods are kept from now on, as well as those of others: how many `methods` fit that are recorded so far, all `patterns` from now on. No class is rewritten |
//! | `start` | `options` of the agent as of [`keys`](crate::keys), else those that the program was armed with | recording begins, in a program that is armed: the answer is that of [`attach`](crate::attach) |
//! | `stop` | | recording ends: `classes` have their own bytes again, `refused` have not, `ns` is what that took; the `profile` is complete, and nobody answers any more unless the program is armed |
//! | `gc` | | garbage is collected |
//!
//! The id of a thread is Java's. Ids of other objects are their tags in the environment of the agent: those that it gave them before, or one
//! above 2^40 that they get when an answer names them. What is unknown is left out.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What both ends speak.
pub const VERSION: u64 = 1;
/// Bytes of the longest request.
pub const MAX_REQUEST: usize = 1 << 20;
/// The longest time that a request may take to come.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// A request, without its version.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "request", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    Status {},
    Threads {
        #[serde(default)]
        stacks: usize,
    },
    Thread {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    Classes {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
        #[serde(default)]
        instances: bool,
    },
    Class {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<i64>,
    },
    Object {
        id: i64,
    },
    Monitors {},
    Monitor {
        id: i64,
    },
    Snapshot {
        file: PathBuf,
    },
    Reset {},
    HeapDump {
        file: PathBuf,
    },
    Pause {
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        bare: bool,
    },
    Resume {},
    Exclude {
        methods: Vec<String>,
    },
    Include {
        methods: Vec<String>,
    },
    Root {
        methods: Vec<String>,
    },
    Remove {
        methods: Vec<String>,
    },
    Region {
        regions: Vec<String>,
        #[serde(default)]
        remove: bool,
    },
    Latency {
        methods: Vec<String>,
    },
    Start {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<String>,
    },
    Stop {},
    Gc {},
}

impl Request {
    /// The line that is sent, without its end.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        let mut line = serde_json::to_value(self)?;
        line["v"] = VERSION.into();
        Ok(line.to_string())
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Why it is no request of this version, in a sentence.
    pub fn parse(line: &[u8]) -> Result<Request, String> {
        let mut request: Value =
            serde_json::from_slice(line).map_err(|error| format!("not a request: {error}"))?;
        let object = request.as_object_mut().ok_or("not a request: not an object")?;
        match object.remove("v").as_ref().and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => return Err(format!("version {other} of the protocol; this is version {VERSION}")),
            None => return Err("not a request: it has no version `v`".to_owned()),
        }
        serde_json::from_value(request).map_err(|error| error.to_string())
    }
}

/// The directory of sockets in the runtime directory of a user (`$XDG_RUNTIME_DIR`, `/run/user/UID`).
pub fn directory_in(runtime: &Path) -> PathBuf {
    runtime.join("instrument")
}

/// The directory of sockets of a user who has no runtime directory.
pub fn directory_of_user(uid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/instrument-{uid}"))
}

/// The name of the socket of a process in one of these directories.
pub fn socket_name(process: u32) -> String {
    format!("{process}.sock")
}

/// The process that a socket in one of these directories belongs to; none if it is no such socket.
pub fn process_of(socket: &Path) -> Option<u32> {
    socket.file_name()?.to_str()?.strip_suffix(".sock")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_names_and_only_their_own_members() {
        let parse = |text: &str| Request::parse(text.as_bytes());
        assert_eq!(parse(r#"{"v":1,"request":"threads","stacks":3}"#), Ok(Request::Threads { stacks: 3 }));
        assert_eq!(parse(r#"{"v":1,"request":"gc"}"#), Ok(Request::Gc {}));
        for (text, reason) in [
            (r#"{"v":1,"request":"dump"}"#, "unknown variant `dump`"),
            (r#"{"v":1,"request":"monitor"}"#, "missing field `id`"),
            (r#"{"v":1,"request":"gc","now":1}"#, "unknown field `now`"),
            (r#"{"v":1,"id":1}"#, "missing field `request`"),
            (r#"{"v":2,"request":"gc"}"#, "version 2 of the protocol"),
            (r#"{"request":"gc"}"#, "no version"),
            ("[]", "not an object"),
            ("x", "not a request"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn what_one_end_writes_the_other_reads() {
        for request in [
            Request::Status {},
            Request::Thread { id: None, name: Some("a \"b\"\n".to_owned()) },
            Request::Classes { pattern: None, instances: true },
            Request::HeapDump { file: "/tmp/x".into() },
            Request::Root { methods: vec!["a.B.f(int,int)".to_owned()] },
            Request::Remove { methods: vec!["a.B#f".to_owned()] },
            Request::Start { options: None },
            Request::Start { options: Some("out=/tmp/,root=a.B.f(int,int)".to_owned()) },
        ] {
            let line = request.line().unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(Request::parse(line.as_bytes()), Ok(request));
        }
    }

    #[test]
    fn sockets_have_the_number_of_their_process() {
        assert_eq!(process_of(&directory_in(Path::new("/run/user/7")).join(socket_name(12))), Some(12));
        assert_eq!(process_of(&directory_of_user(7).join("12.sock-13")), None);
    }
}
