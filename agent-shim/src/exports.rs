//! The functions that the virtual machine calls by their names (JVMTI, Agent Start-Up and Agent Shutdown).

use crate::events::callbacks::CALLBACKS;
use crate::events::environments;
use crate::jvmti::{Jni, Jvmti};
use crate::recording::beginning::Beginning;
use crate::recording::{children, record, start};
use crate::talk::{contained, say};
use instrument_control::answer::{Answer, answer_line};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;

const JNI_OK: c_int = 0;

/// The environment of all recordings, with what it calls, and what answers requests.
fn environment(vm: *mut c_void) -> Result<Jvmti<'static>, String> {
    let jvmti = environments::of_recordings(vm)?;
    jvmti.set_callbacks(&CALLBACKS).map_err(|error| error.to_string())?;
    #[cfg(target_os = "linux")]
    crate::ctl::answer_with(crate::ctl::answer::answer);
    Ok(jvmti)
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
        if let Err(reason) =
            environment(vm).and_then(|jvmti| start::start(jvmti, None, &options, Beginning::Start))
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
            let (jvmti, jni) = (environment(vm)?, jni.ok_or("no JNI")?);
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
