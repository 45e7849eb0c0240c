//! The profile that is meant by what the user names: a file, or the id of a process that is recorded.

use anyhow::Result;
use std::path::{Path, PathBuf};

/// A file as it is; of the id of a process the profile that it writes, where programs that run can be looked at.
///
/// # Errors
/// There is neither such a file nor such a process; the process is not recorded.
pub(crate) fn profile(target: &Path) -> Result<PathBuf> {
    #[cfg(processes)]
    return instrument_processes::recorded::profile(target);
    #[cfg(not(processes))]
    Ok(target.to_owned())
}
