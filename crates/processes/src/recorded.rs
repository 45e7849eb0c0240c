//! The profile that a program is being recorded into.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use instrument_analysis::session::is_profile;
use instrument_messages::usage;

/// A file as it is; of the id of a process the profile that it writes: the one that it has mapped.
///
/// # Errors
/// There is neither such a file nor such a process; the process is another user's, or is not recorded.
pub fn profile(target: &Path) -> Result<PathBuf> {
    let Some(pid) = target.to_str().and_then(|text| text.parse::<u32>().ok()) else {
        return Ok(target.to_owned());
    };
    if target.exists() {
        return Ok(target.to_owned());
    }
    of_process(pid)
}

fn of_process(pid: u32) -> Result<PathBuf> {
    // It may have recorded before, into other files.
    if let Ok(Some(path)) = crate::ctl::profile(&pid.to_string()) {
        return Ok(crate::jvm::path_outside(&crate::jvm::Process::of(pid)?, &path));
    }
    let folder = PathBuf::from(format!("/proc/{pid}"));
    if !folder.exists() {
        return Err(usage(format!("there is neither a file nor a process {pid}")));
    }
    let maps = fs::read_to_string(folder.join("maps")).map_err(|error| {
        usage(format!("process {pid} cannot be read: {error}; it belongs to another user"))
    })?;
    let mut found: Vec<PathBuf> = Vec::new();
    for path in maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..]))) {
        // In a container the path is another one from here.
        let inside = folder.join("root").join(path.strip_prefix("/").unwrap_or(path));
        let path = if path.exists() { path.to_owned() } else { inside };
        if path.extension().is_some_and(|e| e == "iprof") && !found.contains(&path) && is_profile(&path) {
            found.push(path);
        }
    }
    found.pop().ok_or_else(|| {
        usage(format!("process {pid} is not recorded; `instrument attach {pid}` records it from now on"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_a_file() {
        assert_eq!(profile(Path::new("app.iprof")).unwrap(), Path::new("app.iprof"));
    }

    #[test]
    fn a_process_without_a_profile_is_named_with_its_cure() {
        let pid = std::process::id();
        let error = profile(Path::new(&pid.to_string())).unwrap_err().to_string();
        assert!(error.contains(&format!("instrument attach {pid}")), "{error}");
        let error = profile(Path::new("4294967295")).unwrap_err().to_string();
        assert_eq!(error, "there is neither a file nor a process 4294967295");
    }
}
