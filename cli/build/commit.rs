// The commit that sources come from; for `build.rs` and for a test.

use std::path::Path;
use std::process::Command;

/// What git puts into `commit.txt` of an archive that it makes (`.gitattributes`); in a work tree it is this.
const IN_ARCHIVES: &str = "$Format:";

/// The commit of the workspace in `folder` and its date, such as `77bd49641cda of 2026-11-28`: what an archive of git says, or else git
/// itself. Not that of a repository that the sources merely lie in.
pub(crate) fn commit(folder: &Path) -> Option<String> {
    let archived = std::fs::read_to_string(folder.join("cli/build/commit.txt")).unwrap_or_default();
    if !archived.is_empty() && !archived.starts_with(IN_ARCHIVES) {
        return described(&archived);
    }
    let top = git(folder, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != folder.canonicalize().ok()? {
        return None;
    }
    let commit = described(&git(folder, &["log", "-1", "--format=%H %cs"])?)?;
    let is_changed = !git(folder, &["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if is_changed { format!("{commit}, with changes") } else { commit })
}

/// What git tracks at the top of its work tree, and where it notes that another commit is checked out: when these change, the commit may.
pub(crate) fn watched(folder: &Path) -> Vec<String> {
    let names = git(folder, &["ls-tree", "--name-only", "HEAD"]).unwrap_or_default();
    let log = git(folder, &["rev-parse", "--git-path", "logs/HEAD"]);
    let path = |name: &str| folder.join(name).display().to_string();
    names.lines().chain(log.as_deref()).map(path).collect()
}

/// A hash of full length and a date.
fn described(text: &str) -> Option<String> {
    let (hash, date) = text.trim().split_once(' ')?;
    Some(format!("{} of {date}", hash.get(..12)?))
}

/// What git says, if it is there and the folder is its own.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
