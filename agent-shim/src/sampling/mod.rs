//! Where the CPU time of threads goes: a timer in each thread's CPU time sends the thread a signal, and the handler adds one to a word of the
//! thread's current context in the profile, unless the processor is in a probe.
//!
//! 1. The recorder calls [`begin`] in each thread that it records, with the places of two things in the profile: the thread's region of
//!    samples, whose first word is the *mark* that probes write (current node, and whether a probe runs), and the nodes.
//! 2. [`timers`] gives the thread a perf event or a POSIX timer, which sends a signal to that thread alone.
//! 3. [`handler`] decides where the processor was: in compiled code by its address ([`code`]), elsewhere by the mark.
//!    Where methods are counted ([`counts`]) there is no mark: the current method is on top of the shadow stack, and the compiler tells which
//!    instructions are a probe's ([`inlined`]).
//! 4. A virtual thread is met on its carrier: [`virtual_threads`].
//! 5. When a thread ends, its CPU time is noted, and its [`sampled::Sampled`] is free for another one.
//!
//! No stack is walked, nothing is allocated or locked in the handler, and it writes only to pages that the recorder has written to before.

mod code;
mod counts;
mod handler;
mod inlined;
mod perf;
mod sampled;
mod signals;
pub(crate) mod stacks;
mod threads;
mod timers;
mod virtual_threads;
mod words;

use crate::jvmti::{Callbacks, Capability, Environment, Event, Jni, Jvmti};
use crate::talk::{contained, say};
use std::ffi::c_void;
use std::sync::OnceLock;
use threads::{Figures, Place};
use words::Words;

const SAMPLES: &str = "instrument/runtime/Samples";

static CALLBACKS: Callbacks = Callbacks {
    thread_end: Some(thread_end),
    virtual_thread_end: Some(virtual_threads::ended),
    compiled_method_load: Some(code::loaded),
    compiled_method_unload: Some(code::unloaded),
    ..Callbacks::NONE
};

/// The sampler's environment.
static ENVIRONMENT: OnceLock<Jvmti<'static>> = OnceLock::new();

/// Why there is no sampler, or what the profile says of it.
static SAMPLER: OnceLock<Result<String, String>> = OnceLock::new();

/// Prepares the sampler, once in the life of a process, and registers what the recorder calls. `environment` makes one that only the sampler
/// uses. Lines for the profile; none: there is no sampler, and why was said.
pub(crate) fn prepare(
    jni: Jni<'_>,
    environment: fn() -> Result<Jvmti<'static>, String>,
) -> Option<&'static str> {
    let sampler = SAMPLER.get_or_init(|| {
        signals::claim(handler::on_sample)?;
        handler::prepare();
        let source = timers::prepare();
        let jvmti = environment()?;
        let events = || {
            jvmti.set_callbacks(&CALLBACKS)?;
            jvmti.enable(Event::ThreadEnd)
        };
        events().map_err(|error| format!("the end of threads cannot be seen: {error}"))?;
        if !jni.register_sampler(SAMPLES, begin, pause, end) {
            return Err("the runtime cannot be called".to_owned());
        }
        // Before 21 there is none to ask for.
        let _ = jvmti.add_capabilities(&[Capability::SupportVirtualThreads]);
        let _ = ENVIRONMENT.set(jvmti);
        // Without it the marks decide alone.
        let by_address = jvmti
            .add_capabilities(&[Capability::GenerateCompiledMethodLoadEvents])
            .and_then(|()| jvmti.enable(Event::CompiledMethodLoad))
            .and_then(|()| jvmti.enable(Event::CompiledMethodUnload))
            .is_ok();
        let probes = if by_address { "address" } else { "mark" };
        Ok(format!(
            "samples.source={source}\nsamples.period={}\nsamples.probes={probes}\n",
            timers::USUAL_PERIOD
        ))
    });
    match sampler {
        Ok(lines) => Some(lines),
        Err(reason) => {
            say(format_args!("times are not taken from samples: {reason}"));
            None
        }
    }
}

/// The virtual machine ends: the CPU time of every thread is noted, and no sample comes any more.
pub(crate) fn finish() {
    // The kernel closes them when the process is gone: the program does not wait for it.
    std::mem::forget(threads::end_all());
}

/// `static native void instrument.runtime.Samples.begin(long region, long figures, long before, boolean isCounts, boolean isVirtual)`, called by the thread that is
/// to be sampled. `before`: the region of counts that has moved to `figures`, or 0.
pub(super) extern "system" fn begin(
    _: Environment,
    _: *mut c_void,
    region: i64,
    figures: i64,
    before: i64,
    is_counts: u8,
    is_virtual: u8,
) {
    contained("the sampling of a thread", || {
        let figures = match is_counts {
            0 => Figures::Tree(figures as usize),
            _ => Figures::Counts(figures as usize),
        };
        let place = Place::new(region as usize, figures);
        if let (Figures::Counts(region), true) = (figures, before != 0) {
            threads::leave();
            counts::carry(Words(before as usize), Words(region));
        }
        match ENVIRONMENT.get() {
            Some(jvmti) if is_virtual != 0 => {
                // The samples of the carrier are its own again.
                if !virtual_threads::begin(*jvmti, place) {
                    threads::go_to(None);
                }
            }
            _ if is_virtual != 0 => threads::go_to(None),
            _ => threads::begin(place),
        }
    });
}

/// `static native void instrument.runtime.Samples.pause(boolean)`.
pub(super) extern "system" fn pause(_: Environment, _: *mut c_void, on: u8) {
    handler::pause(on != 0);
}

/// `static native void instrument.runtime.Samples.end()`.
pub(super) extern "system" fn end(_: Environment, _: *mut c_void) {
    contained("the end of sampling", || drop(threads::end_all()));
}

/// # Safety
/// Called by the virtual machine, in the thread that ends.
unsafe extern "system" fn thread_end(_: Environment, _: Environment, _: *mut c_void) {
    contained("the end of a thread", threads::end);
}

/// Whether a method is the recorder's, in a callback without a JNI environment.
fn is_ours(jvmti: Environment, method: *mut c_void) -> bool {
    // SAFETY: the environment and the method are those that the virtual machine passed to the callback that goes on.
    let class = unsafe { Jvmti::new(jvmti).declaring_class_of_event(method) };
    class.is_some_and(|class| class.starts_with(b"Linstrument/runtime/"))
}
