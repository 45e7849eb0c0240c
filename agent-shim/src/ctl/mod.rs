//! Requests to the running program: `instrument ctl PID ..` asks, a thread of ours answers, over a Unix socket that only the user of the
//! process (and root) can use.
//! The protocol is on the page of [`instrument_control::ctl`].

pub(crate) mod answer;
mod classes;
mod heap_dump;
mod latency;
mod methods;
mod objects;
mod pause;
mod place;
mod regions;
mod roots;
mod selection;
mod server;
mod snapshot;
mod threads;
mod waits;

use crate::jvmti::{AgentThread, Capability, Environment, Jni, Jvmti};
use crate::options::Requests;
use crate::recording::armed;
use crate::talk::{contained, say};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use methods::Methods;
use place::Place;
use server::{Answering, Server};

/// Who answers during the recording that goes on.
static OF_RECORDING: Slot = Mutex::new(None);
/// Who answers as long as the program runs, if it is armed.
static FOR_GOOD: Slot = Mutex::new(None);
/// Found once: they are the same for every recording.
static METHODS: OnceLock<Methods> = OnceLock::new();

static ANSWERING: OnceLock<Answering> = OnceLock::new();

type Slot = Mutex<Option<Arc<Server>>>;

fn lock(slot: &Slot) -> MutexGuard<'_, Option<Arc<Server>>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on this answers requests.
pub(crate) fn answer_with(answering: Answering) {
    let _ = ANSWERING.set(answering);
}

/// Asks for what answers need and costs the program nothing. What the virtual machine does not grant is missing from answers.
pub(crate) fn prepare(jvmti: Jvmti<'_>) {
    use Capability::{
        GetBytecodes, GetCurrentContendedMonitor, GetLineNumbers, GetMonitorInfo, GetOwnedMonitorInfo,
        GetSourceFileName, GetThreadCpuTime, TagObjects,
    };
    let free = [
        TagObjects,
        GetMonitorInfo,
        GetBytecodes,
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

/// Begins to answer, once the virtual machine is initialised, for as long as the recording goes on.
pub(crate) fn start(jvmti: Jvmti<'_>, jni: Jni<'_>, wanted: &Requests) {
    let is_answered = || lock(&FOR_GOOD).is_some() && armed::get().is_some_and(|armed| armed.ctl == *wanted);
    if !is_answered() {
        start_server(jvmti, jni, wanted, &OF_RECORDING, serve_recording);
    }
}

/// The same, for as long as the program runs.
pub(crate) fn start_for_good(jvmti: Jvmti<'_>, jni: Jni<'_>, wanted: &Requests) {
    start_server(jvmti, jni, wanted, &FOR_GOOD, serve_for_good);
}

fn start_server(jvmti: Jvmti<'_>, jni: Jni<'_>, wanted: &Requests, slot: &Slot, main: AgentThread) {
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
        let answering = *ANSWERING.get().ok_or("the agent was not called")?;
        let thread = methods.thread(jni).ok_or("there is no thread for it")?;
        let is_for_good = std::ptr::eq(slot, &FOR_GOOD);
        *lock(slot) = Some(Arc::new(Server::new(place, methods, answering, is_for_good)));
        jvmti.run_agent_thread(&thread, main).map_err(|error| error.to_string())
    };
    if let Err::<(), String>(reason) = begin() {
        say(format_args!("requests to this program are not answered: {reason}"));
        stop_server(slot);
    }
}

/// The virtual machine is about to end: a request that is being answered has a moment, then the socket is gone.
pub(crate) fn stop() {
    stop_server(&OF_RECORDING);
    stop_server(&FOR_GOOD);
}

/// The recording has ended, and nobody has asked for that.
pub(crate) fn stop_recording() {
    stop_server(&OF_RECORDING);
}

fn stop_server(slot: &Slot) {
    let server = lock(slot).take();
    if let Some(server) = server {
        server.stop();
    }
}

/// # Safety
/// Called by the virtual machine, as the main function of a thread.
unsafe extern "system" fn serve_recording(jvmti: Environment, jni: Environment, _: *mut c_void) {
    contained("the answering of requests", || {
        // SAFETY: the environments are valid as long as this thread runs.
        let (jvmti, jni) = unsafe { (Jvmti::new(jvmti), Jni::new(jni)) };
        let server = lock(&OF_RECORDING).clone();
        if let Some(server) = server {
            server.serve(jvmti, jni);
            // Its socket is closed when nobody has it any more.
            let mut slot = lock(&OF_RECORDING);
            if slot.as_ref().is_some_and(|there| Arc::ptr_eq(there, &server)) {
                *slot = None;
            }
        }
    });
}

/// # Safety
/// As of [`serve_recording`].
unsafe extern "system" fn serve_for_good(jvmti: Environment, jni: Environment, _: *mut c_void) {
    contained("the answering of requests", || {
        // SAFETY: as of `serve_recording`.
        let (jvmti, jni) = unsafe { (Jvmti::new(jvmti), Jni::new(jni)) };
        let server = lock(&FOR_GOOD).clone();
        if let Some(server) = server {
            server.serve(jvmti, jni);
        }
    });
}
