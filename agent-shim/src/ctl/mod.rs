//! Requests to the running program: `instrument ctl PID ..` asks, a thread of ours answers, over a Unix socket that only the user of the
//! process (and root) can use.
//!
//! # Where
//! [`place`]: `PID.sock` in `$XDG_RUNTIME_DIR/instrument` if that directory is the user's, else in `/tmp/instrument-UID`; mode 0700, the
//! socket 0600. Option `ctl=PATH` puts it elsewhere, `ctl=off` nowhere.
//!
//! # Protocol, version 1
//! A client connects, sends one line, a JSON object, and gets one line, a JSON object; then the connection is closed. A line has at most
//! 64 KiB and 5 seconds to come. Requests are answered one at a time.
//!
//! ```text
//! {"v":1,"request":"thread","id":1}
//! {"v":1,"ok":{"id":1,"name":"main","state":"RUNNABLE",..}}
//! {"v":1,"error":"no thread has the id 7"}
//! ```
//!
//! | request | members | answer |
//! |---|---|---|
//! | `status` | | the process, its virtual machine, what is recorded and where |
//! | `threads` | `stacks`: frames of each, 0: none | `threads`: platform threads, all at one moment |
//! | `thread` | `id`, or `name` if it is the only one | one of them, with its stack |
//! | `classes` | `pattern`; `instances`: count them | `classes` |
//! | `class` | `name`, or `id` of the object | `classes`: all of this name, with fields and methods, and their ids in the profile |
//! | `object` | `id` | class, size, monitor; `made`: ordinal of the thread, number of the context in the profile and its methods, if `heap=objects` follows it |
//! | `monitors` | | `monitors`: those that a thread has (`only_contended`: it is not told which) or waits to enter; before Java 23 also those that one waits in |
//! | `monitor` | `id` of the object | who has it, who waits |
//! | `snapshot` | `file`, an absolute path | the profile is copied there as it is at one moment |
//! | `reset` | | the figures of the profile count from now on: readers take from them what it is now, of which a snapshot is put beside it (`.reset`) |
//! | `heap-dump` | `file`, an absolute path | the heap is written there as HPROF |
//! | `pause`, `resume` | | recording stands still, or goes on |
//! | `gc` | | garbage is collected |
//!
//! The id of a thread is Java's. Ids of other objects are their tags in the environment of the agent: those that it gave them before, or one
//! above 2^40 that they get when an answer names them. What is unknown is left out.

mod answer;
mod classes;
mod heap_dump;
mod objects;
mod place;
mod request;
mod server;
mod snapshot;
mod threads;

use crate::jvmti::{Capability, Environment, Jni, Jvmti};
use crate::options::Requests;
use crate::talk::{contained, say};
use std::ffi::c_void;
use std::sync::OnceLock;

use place::Place;
use server::Server;

static SERVER: OnceLock<Server> = OnceLock::new();

/// Asks for what answers need and costs the program nothing. What the virtual machine does not grant is missing from answers.
pub(crate) fn prepare(jvmti: Jvmti<'_>) {
    use Capability::{
        GetCurrentContendedMonitor, GetLineNumbers, GetMonitorInfo, GetOwnedMonitorInfo, GetSourceFileName,
        GetThreadCpuTime, TagObjects,
    };
    let free = [
        TagObjects,
        GetMonitorInfo,
        GetSourceFileName,
        GetLineNumbers,
        GetThreadCpuTime,
        GetCurrentContendedMonitor,
    ];
    for capability in free {
        let _ = jvmti.add_capabilities(&[capability]);
    }
    // Before 16 it turns off the escape analysis of the compiler.
    if jvmti.feature_version() >= 16 {
        let _ = jvmti.add_capabilities(&[GetOwnedMonitorInfo]);
    }
}

/// Begins to answer, once the virtual machine is initialised.
pub(crate) fn start(jvmti: Jvmti<'_>, jni: Jni<'_>, wanted: &Requests) {
    let begin = || {
        let place = match wanted {
            Requests::Off => return Ok(()),
            Requests::Usual => Place::usual()?,
            Requests::At(path) => Place::at(path.clone())?,
        };
        let methods = server::Methods::find(jni).ok_or("the runtime cannot be called")?;
        let thread = methods.thread(jni).ok_or("there is no thread for it")?;
        SERVER.set(Server::new(place, methods)).map_err(|_| "requests are answered already")?;
        jvmti.run_agent_thread(&thread, main).map_err(|error| error.to_string())
    };
    if let Err::<(), String>(reason) = begin() {
        say(format_args!("requests to this program are not answered: {reason}"));
        stop();
    }
}

/// The virtual machine is about to end: a request that is being answered has a moment, then the socket is gone.
pub(crate) fn stop() {
    if let Some(server) = SERVER.get() {
        server.stop();
    }
}

/// # Safety
/// Called by the virtual machine, as the main function of a thread.
unsafe extern "system" fn main(jvmti: Environment, jni: Environment, _: *mut c_void) {
    contained("the answering of requests", || {
        // SAFETY: the environments are valid as long as this thread runs.
        let (jvmti, jni) = unsafe { (Jvmti::new(jvmti), Jni::new(jni)) };
        if let Some(server) = SERVER.get() {
            server.serve(jvmti, jni);
        }
    });
}
