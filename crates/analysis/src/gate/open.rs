//! A run from its profile.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::conditions::Refusal;
use super::run::Run;
use super::whole::{complete, conditions, lossless};
use crate::load::{self, Process};
use crate::session::{Error, ProfileFile};
use crate::stable_name::stable;

/// How often a profile that is written meanwhile is read, until what other threads do is not in the way.
const ATTEMPTS: usize = 10;
/// Between two of these.
const PAUSE: Duration = Duration::from_millis(20);

/// Reads a run, or of it what lies within a boundary of this name; or says why it cannot be judged.
///
/// A boundary may be judged while the process goes on: what it has done is written when it is left.
///
/// # Errors
/// A file that cannot be read, or is no profile.
pub fn open(path: &Path, boundary: Option<&str>) -> Result<Result<Run, Refusal>, Error> {
    let mut attempt = 1;
    loop {
        let mut file = ProfileFile::open(path, 0, false)?;
        let sound = match boundary {
            Some(_) => lossless(&file.profile),
            None => complete(&file.profile, file.is_live),
        };
        if let Err(refusal) = sound {
            if boundary.is_some() && file.is_live && attempt < ATTEMPTS {
                attempt += 1;
                std::thread::sleep(PAUSE);
                continue;
            }
            return Ok(Err(refusal));
        }
        let (label, conditions) = (path.display().to_string(), conditions(&file.profile));
        let names = &file.names;
        let name = |copy: u32, id: u32| names.method(copy, id);
        let mut process = [Process::new(&mut file.profile, label.clone(), &name)];
        // What other threads do for a boundary stands below it.
        let options = load::Options { links: boundary.is_some(), ..load::Options::default() };
        let loaded = load::load(&mut process, &options);
        let part = boundary.map(load::place::boundary_name);
        let run = Run::of_part(label, conditions, &loaded.model, part.as_deref());
        return Ok(run.map(|run| run.with_instrumented(names.methods())));
    }
}

/// Where methods begin in the sources, by their stable names: the path of the file below its root, and the first line,
/// 0 if that is not known. Of several methods with one name (lambdas of one method) it is the first.
///
/// # Errors
/// A file that cannot be read, or is no profile.
pub fn lines(profiles: &[PathBuf]) -> Result<HashMap<String, (String, u32)>, Error> {
    let mut lines: HashMap<String, (String, u32)> = HashMap::new();
    for path in profiles {
        let file = ProfileFile::open(path, 0, false)?;
        for (name, origin) in file.names.origins() {
            let Some(found) = origin.path(&name) else { continue };
            let line = lines.entry(stable(&name).into_owned()).or_insert_with(|| found.clone());
            // 0 is a line that is not known.
            let key = |line: &(String, u32)| (line.0.clone(), line.1.wrapping_sub(1));
            if key(&found) < key(line) {
                *line = found;
            }
        }
    }
    Ok(lines)
}
