//! Requests to the running program: `instrument ctl PID ..` asks, a thread of ours answers, over a Unix socket that only the user of the
//! process (and root) can use.
//! The protocol is on the page of [`instrument_control::ctl`].

mod answer;
mod classes;
mod heap_dump;
mod methods;
mod objects;
mod place;
mod selection;
mod server;
mod snapshot;
mod threads;

use crate::jvmti::{Capability, Environment, Jni, Jvmti};
use crate::options::Requests;
use crate::talk::{contained, say};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use methods::Methods;
use place::Place;
use server::Server;

/// Who answers during the recording that goes on.
static SERVER: Mutex<Option<Arc<Server>>> = Mutex::new(None);
/// Found once: they are the same for every recording.
static METHODS: OnceLock<Methods> = OnceLock::new();

fn server() -> MutexGuard<'static, Option<Arc<Server>>> {
    SERVER.lock().unwrap_or_else(PoisonError::into_inner)
}

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
        let methods = match METHODS.get() {
            Some(methods) => methods,
            None => {
                let found = Methods::find(jni).ok_or("the runtime cannot be called")?;
                METHODS.get_or_init(|| found)
            }
        };
        let thread = methods.thread(jni).ok_or("there is no thread for it")?;
        *server() = Some(Arc::new(Server::new(place, methods)));
        jvmti.run_agent_thread(&thread, main).map_err(|error| error.to_string())
    };
    if let Err::<(), String>(reason) = begin() {
        say(format_args!("requests to this program are not answered: {reason}"));
        stop();
    }
}

/// The virtual machine is about to end: a request that is being answered has a moment, then the socket is gone.
pub(crate) fn stop() {
    let server = server().take();
    if let Some(server) = server {
        server.stop();
    }
}

/// # Safety
/// Called by the virtual machine, as the main function of a thread.
unsafe extern "system" fn main(jvmti: Environment, jni: Environment, _: *mut c_void) {
    contained("the answering of requests", || {
        // SAFETY: the environments are valid as long as this thread runs.
        let (jvmti, jni) = unsafe { (Jvmti::new(jvmti), Jni::new(jni)) };
        let server = server().clone();
        if let Some(server) = server {
            server.serve(jvmti, jni);
        }
    });
}
