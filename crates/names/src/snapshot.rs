//! `instrument ctl PID reset`: the agent puts a snapshot beside the profile, and reports take its figures away.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the snapshot of the last reset of a profile is: `PROFILE.reset`.
pub fn of_reset(profile: &Path) -> PathBuf {
    let mut name = OsString::from(profile);
    name.push(".reset");
    PathBuf::from(name)
}
