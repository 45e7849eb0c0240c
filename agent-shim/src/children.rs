//! What `instrument run` and the agent say to each other: `run`, by environment variables, what virtual machines that the program starts itself are
//! to be started with; the agent, in a file, which processes were recorded, and which patterns nothing fitted.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::OnceLock;

/// What every virtual machine takes options from.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";
/// What that variable is to hold for processes that this one starts; empty: it is to be removed. Set by `instrument run`.
const FOR_CHILDREN: &str = "INSTRUMENT_RUN_TOOL_OPTIONS";
/// A file that gets a line with the id of each process that is recorded, and those of [`ended`]. Set by `instrument run`.
const PROCESSES: &str = "INSTRUMENT_RUN_PROCESSES";
static FILE: OnceLock<OsString> = OnceLock::new();

/// The virtual machine starts, and has read its options: what it starts from here on gets those that `instrument run` wants.
///
/// # Safety
/// No other thread of the process uses its environment: to be called from `Agent_OnLoad`.
pub(crate) unsafe fn prepare() {
    if let Some(options) = std::env::var_os(FOR_CHILDREN) {
        // SAFETY: see above.
        unsafe { set(options) }
    }
    if let Some(path) = std::env::var_os(PROCESSES) {
        let _ = FILE.set(path);
        write(&format!("{}\n", std::process::id()));
    }
}

/// The virtual machine ends: tells `instrument run` which patterns of which options no class and no method has fitted.
pub(crate) fn ended(unmatched: &[(&str, String)]) {
    let process = std::process::id();
    let lines = unmatched.iter().map(|(option, pattern)| format!("{process} unmatched {option} {pattern}\n"));
    write(&(lines.collect::<String>() + &format!("{process} ended\n")));
}

/// In one piece: other processes write there, too. The run may have ended; then nobody asks.
fn write(lines: &str) {
    if let Some(path) = FILE.get()
        && let Ok(mut file) = OpenOptions::new().append(true).open(path)
    {
        let _ = file.write_all(lines.as_bytes());
    }
}

/// # Safety
/// As of [`prepare`].
unsafe fn set(options: OsString) {
    // SAFETY: see above.
    unsafe {
        match options.is_empty() {
            true => std::env::remove_var(TOOL_OPTIONS),
            false => std::env::set_var(TOOL_OPTIONS, options),
        }
    }
}
