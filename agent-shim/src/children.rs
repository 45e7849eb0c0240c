//! Virtual machines that the program starts itself: `instrument run` says by environment variables what those are to be started with, and
//! wants to know which processes were recorded.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;

/// What every virtual machine takes options from.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";
/// What that variable is to hold for processes that this one starts; empty: it is to be removed. Set by `instrument run`.
const FOR_CHILDREN: &str = "INSTRUMENT_RUN_TOOL_OPTIONS";
/// A file that gets a line with the id of each process that is recorded. Set by `instrument run`.
const PROCESSES: &str = "INSTRUMENT_RUN_PROCESSES";

/// The virtual machine starts, and has read its options: what it starts from here on gets those that `instrument run` wants.
///
/// # Safety
/// No other thread of the process uses its environment: to be called from `Agent_OnLoad`.
pub(crate) unsafe fn prepare() {
    if let Some(options) = std::env::var_os(FOR_CHILDREN) {
        // SAFETY: see above.
        unsafe { set(options) }
    }
    if let Some(path) = std::env::var_os(PROCESSES)
        && let Ok(mut file) = OpenOptions::new().append(true).open(path)
    {
        // The run may have ended; then nobody asks.
        let _ = file.write_all(format!("{}\n", std::process::id()).as_bytes());
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
