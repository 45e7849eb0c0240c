//! A run from its profile.

use std::path::Path;

use super::run::{Refusal, Run, complete, conditions};
use crate::load::{self, Process};
use crate::session::{Error, ProfileFile};

/// Reads a run; or says why it cannot be judged.
///
/// # Errors
/// A file that cannot be read, or is no profile.
pub fn open(path: &Path) -> Result<Result<Run, Refusal>, Error> {
    let mut file = ProfileFile::open(path, 0, false)?;
    if let Err(refusal) = complete(&file.profile, file.is_live) {
        return Ok(Err(refusal));
    }
    let (label, conditions) = (path.display().to_string(), conditions(&file.profile));
    let names = &file.names;
    let name = |copy: u32, id: u32| names.method(copy, id);
    let mut process = [Process::new(&mut file.profile, label.clone(), &name)];
    let loaded = load::load(&mut process, &load::Options::default());
    let run = Run::new(label, conditions, &loaded.model);
    Ok(run.map(|run| run.with_instrumented(names.methods())))
}
