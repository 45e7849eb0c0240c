//! Reports of what happened since a snapshot: `--since SNAPSHOT`, and what `instrument ctl PID reset` left beside the profile.

use std::path::PathBuf;

use super::error::Error;
use super::file::ProfileFile;
use crate::window::{self, Mismatch};
use instrument_names::snapshot::of_reset;

/// With `--since`: everything, also after a reset.
const START: &str = "start";

/// Whether `--since` asks for everything, resets left out.
pub fn is_everything(snapshots: &[PathBuf]) -> bool {
    snapshots == [PathBuf::from(START)]
}

/// Whether the process of a profile was reset.
///
/// # Errors
/// What the reset left beside the profile cannot be read.
pub fn was_reset(file: &ProfileFile) -> Result<bool, Error> {
    let path = of_reset(&file.path);
    if !path.exists() {
        return Ok(false);
    }
    let snapshot = ProfileFile::open(&path, 0, false)?.profile;
    // One of an older process of this name says nothing.
    Ok(!matches!(window::since(&mut file.profile.clone(), snapshot), Err(Mismatch::OtherProcess)))
}

/// Takes from every profile what the snapshot of its process has: one of those given, or that of its last reset.
///
/// # Errors
/// A snapshot that cannot be read, or belongs to none of the profiles.
pub fn cut(profiles: &mut [ProfileFile], snapshots: &[PathBuf]) -> Result<(), Error> {
    if is_everything(snapshots) {
        return Ok(());
    }
    for path in snapshots {
        let name = path.display();
        let snapshot = ProfileFile::open(path, 0, false);
        let snapshot = snapshot
            .map_err(|source| Error::Of { what: format!("--since {name}"), source: Box::new(source) })?
            .profile;
        let mut mismatch = Mismatch::OtherProcess;
        let mut is_used = false;
        for file in profiles.iter_mut() {
            match window::since(&mut file.profile, snapshot.clone()) {
                Ok(()) => is_used = true,
                Err(Mismatch::Later) => mismatch = Mismatch::Later,
                Err(Mismatch::OtherProcess) => {}
            }
        }
        if !is_used {
            return Err(Error::Request(format!("--since {name}: {mismatch}")));
        }
    }
    for file in profiles.iter_mut().filter(|file| file.profile.window_clock == 0) {
        let path = of_reset(&file.path);
        if path.exists() {
            let snapshot = ProfileFile::open(&path, 0, false)?.profile;
            // One of an older process of this name says nothing.
            let _ = window::since(&mut file.profile, snapshot);
        }
    }
    // Objects are known one by one; which of them are of the window is not.
    for file in profiles.iter_mut().filter(|file| file.profile.window_clock != 0) {
        file.leave_lifetimes_out();
    }
    Ok(())
}
