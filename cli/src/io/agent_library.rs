//! The agent's library, which this program may carry.

use crate::io::cache_folder;
use anyhow::Result;
use instrument_processes::agent_library;
use std::path::PathBuf;

/// The library that this program was built with, if it carries one (see `build.rs`).
const CARRIED: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/carried_agent.rs"));

/// The library's absolute path; `given` is what the user says.
///
/// # Errors
/// It is nowhere; the carried one has no folder that it can be put into.
pub(crate) fn find(given: Option<PathBuf>) -> Result<PathBuf> {
    agent_library::find(given, CARRIED, cache_folder::of_user())
}
