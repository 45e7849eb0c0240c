//! The agent's side of [`instrument_control::run`]: what virtual machines that the program starts itself are to be started with, and the lines
//! for `instrument run`.

use instrument_control::run::{FOR_CHILDREN, Line, PROCESSES, RuleOutcome, TOOL_OPTIONS};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::OnceLock;

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
        write(&[Line::Started(std::process::id())]);
    }
}

/// The virtual machine ends: tells `instrument run` which patterns of which options no class and no method has fitted.
pub(crate) fn ended(unmatched: &[(&str, String)]) {
    let process = std::process::id();
    let unmatched = unmatched.iter().map(|(option, pattern)| Line::Unmatched { process, option, pattern });
    write(&unmatched.chain([Line::Ended(process)]).collect::<Vec<_>>());
}

/// The recording ends: tells `instrument run` what became of the rules of `--probes`.
pub(crate) fn probes(outcomes: &[RuleOutcome]) {
    let process = std::process::id();
    let texts: Vec<String> = outcomes.iter().filter_map(|one| serde_json::to_string(one).ok()).collect();
    write(&texts.iter().map(|outcome| Line::Probe { process, outcome }).collect::<Vec<_>>());
}

/// In one piece: other processes write there, too. The run may have ended; then nobody asks.
fn write(lines: &[Line<'_>]) {
    if let Some(path) = FILE.get()
        && let Ok(mut file) = OpenOptions::new().append(true).open(path)
    {
        let _ = file.write_all(lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
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
