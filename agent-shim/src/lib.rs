//! The agent: a thin JVMTI library that rewrites classes as they load.
//!
//! ```text
//! java -agentpath:libinstrument_agent.so=out=/tmp/,include=com.acme.** -jar app.jar
//! ```
//!
//! 1. [`Agent_OnLoad`] reads the [options], puts the Java runtime on the boot path (class data sharing stays on), and waits.
//! 2. When the virtual machine is initialised, the load hook is turned on, and classes of the JDK that are loaded already are sent
//!    through it again, if the user asked for them.
//! 3. Every class that the rules and the filter let through is numbered and rewritten as `instrument rewrite` does it: same
//!    class, same options, same ids, same bytes. The part of the id map that is new goes to the recorder before the class can run.
//!
//! With `early=on` classes are rewritten from the first one on: [`early`]. With `armed` none is before somebody asks for it: [`armed`].
//!
//! Whatever is wrong is said on standard error, and the program runs on, as if there were no agent. The recorder is the Java one; what
//! else the virtual machine tells has modules beside [`load_hook`]: threads and their waits are [`monitors`]; requests of users to the
//! running program are `ctl`.

#![cfg(unix)]
#![deny(unsafe_op_in_unsafe_fn)]

mod armed;
mod attendance;
mod attended;
mod beginning;
mod callbacks;
mod children;
mod class_loaders;
mod class_rules;
mod clock;
#[cfg(target_os = "linux")]
mod ctl;
mod early;
mod environments;
mod heap;
mod heap_dump;
mod in_hook;
mod jvmti;
mod live;
mod load_event;
mod load_hook;
mod mappings;
mod method_ids;
mod monitors;
mod native_methods;
mod options;
mod other_agents;
mod own_probes;
mod place_on_stack;
mod recorder;
mod report;
mod retransform;
mod running;
mod runtime_classes;
#[cfg(target_os = "linux")]
mod sampling;
mod sessions;
mod start;
mod subgraph;
mod talk;
mod unrewritten;

use beginning::Beginning;
use class_loaders::ClassLoaders;
use clock::Pair;
use early::Early;
use heap_dump::AtEnd;
use instrument_control::answer::{Answer, Attached, answer_line};
use instrument_control::word::Owners;
use jvmti::{Jni, Jvmti};
use load_hook::LoadHook;
use options::Requests;
use other_agents::OtherAgents;
use recorder::Recorder;
use sessions::Current;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::OnceLock;
use talk::{contained, say};

/// What lasts from the start on.
struct Agent {
    hook: LoadHook,
    /// Classes are rewritten before the virtual machine is initialised.
    early: Option<Early>,
    /// Threads and their waits are recorded.
    threads: Option<Owners>,
    /// Requests to the program are answered.
    ctl: Requests,
    /// What a recording of a program that runs may do.
    limits: options::Limits,
    /// What the user has told the agent.
    told: String,
    /// What the recorder is told: lines of KEY=VALUE.
    settings: String,
    /// What the recorder's own clock begins with; none: it takes the virtual machine's.
    clock: Option<Pair>,
    /// Stacks are sampled, and nothing else is recorded.
    #[cfg(target_os = "linux")]
    stacks: Option<sampling::stacks::Wanted>,
    /// A dump of the heap that is to be written at the end.
    heap_dump: Option<AtEnd>,
    /// Set when the virtual machine is initialised.
    live: OnceLock<&'static Live>,
}

/// What can be had only of a virtual machine that is initialised.
struct Live {
    recorder: Recorder,
    loaders: ClassLoaders,
    /// None: nothing can be known of them.
    other_agents: Option<OtherAgents>,
}

static AGENT: Current = Current::none();

thread_local! {
    /// Set while this thread is inside the hook: what it loads there is none of the program's business.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside the load hook.
fn is_loading() -> bool {
    INSIDE.get()
}

/// The virtual machine starts with the agent (`-agentpath`).
///
/// # Safety
/// Called by the virtual machine, as the JVMTI specification says.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut c_void, options: *const c_char, _: *mut c_void) -> c_int {
    contained("the start of the agent", || {
        // SAFETY: these are what the virtual machine passed in.
        let options = unsafe { text(options) };
        // SAFETY: the virtual machine has one thread so far.
        unsafe { children::prepare() };
        if options == "help" {
            // As the agents of the JDK do: there is no program to run.
            let _ = std::io::Write::write_all(
                &mut std::io::stdout(),
                instrument_control::keys::help().as_bytes(),
            );
            std::process::exit(0);
        }
        if let Err(reason) = environments::of_recordings(vm)
            .and_then(|jvmti| start::start(jvmti, None, &options, Beginning::Start))
        {
            say(format_args!("{reason}; the program runs as it is"));
        }
    });
    JNI_OK
}

/// The agent is loaded into a virtual machine that runs.
///
/// # Safety
/// Called by the virtual machine, as the JVMTI specification says.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut c_void,
    options: *const c_char,
    _: *mut c_void,
) -> c_int {
    contained("the start of the agent", || {
        // SAFETY:
        // - These are what the virtual machine passed in.
        // - The thread is attached for as long as this call lasts.
        let (jni, text) = unsafe { (Jni::of(vm), text(options)) };
        let attach = |options: &str, asked: Option<&File>| {
            let (jvmti, jni) = (environments::of_recordings(vm)?, jni.ok_or("no JNI")?);
            record(jvmti, jni, options, Beginning::Attach, asked).map(Answer::Attached)
        };
        match instrument_control::attach::file_of(&text) {
            Some(file) => handed_over(file, attach),
            None => {
                if let Err(reason) = attach(&text, None) {
                    say(format_args!("{reason}; the program runs on as it is"));
                }
            }
        }
    });
    // Also where nothing is recorded: of anything else some versions of HotSpot (25) unload the library, and call its VMDeath all the same.
    JNI_OK
}

/// Begins a recording in a virtual machine that runs. `asked`: the file that whoever asked for it keeps locked as long as it waits.
///
/// # Errors
/// Why there is none. The program is as it was before.
fn record(
    jvmti: Jvmti<'static>,
    jni: Jni<'_>,
    options: &str,
    beginning: Beginning,
    asked: Option<&File>,
) -> Result<Attached, String> {
    let _one_at_a_time = sessions::changing();
    start::start(jvmti, Some(jni), options, beginning)?;
    let agent = AGENT.get().ok_or("the recording is switched off: record=off")?;
    let begun = || {
        let standstill = live::go_live(agent, jvmti, jni, beginning, asked)?;
        let profile = profile(agent, jni).ok_or("it did not begin")?;
        if asked.is_some_and(attendance::is_gone) {
            return Err("whoever asked for it did not wait until it began".to_owned());
        }
        Ok((standstill, profile))
    };
    let begun = begun();
    if begun.is_err() {
        sessions::stop(jvmti, jni, &AGENT);
        #[cfg(target_os = "linux")]
        ctl::stop_recording();
    }
    let (standstill, profile) = begun?;
    let subgraph = agent.hook.subgraph().map(subgraph::Subgraph::answer);
    Ok(Attached { profile, unmatched: agent.hook.unfitted(), subgraph, standstill })
}

/// Where the profile is; none: there is none.
fn profile(agent: &Agent, jni: Jni<'_>) -> Option<String> {
    agent.live.get()?.recorder.profile(jni)
}

const JNI_OK: c_int = 0;

/// Attaches with the options that a file has, and writes into it what came of that. Its name goes as soon as it is open: who handed it over
/// holds it open as well, and may be killed before it could remove it.
fn handed_over(path: &Path, attach: impl FnOnce(&str, Option<&File>) -> Result<Answer, String>) {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(path);
    let written = opened.and_then(|mut file| {
        let _ = std::fs::remove_file(path);
        let mut options = String::new();
        let read = file.read_to_string(&mut options).map_err(|error| error.to_string());
        let answer = answer_line(read.and_then(|_| attach(&options, Some(&file))));
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(answer.as_bytes())
    });
    if let Err(error) = written {
        say(format_args!("{}: {error}", path.display()));
    }
}

/// The library is about to go; nothing of it has to be given back.
///
/// # Safety
/// Called by the virtual machine, as the JVMTI specification says.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnUnload(_: *mut c_void) {}

/// # Safety
/// `options` is a C string or null.
unsafe fn text(options: *const c_char) -> String {
    if options.is_null() {
        return String::new();
    }
    // SAFETY: see above.
    unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned()
}
