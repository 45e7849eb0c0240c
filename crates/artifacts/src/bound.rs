//! What is bound to the bytes of an archive and lies beside it. What lies inside, signatures and hashes of modules, is
//! the [`engine`](crate::engine)'s.

use crate::input::Job;
use std::ffi::OsStr;
use std::path::Path;

/// Checksums and signatures of a file are called like the file and one of these.
const CHECKSUMS: [&str; 6] = ["md5", "sha1", "sha256", "sha512", "asc", "sigstore.json"];
/// Archives of loaded classes: class data sharing, and the caches of Java 24 and later.
const CLASS_ARCHIVES: [&str; 2] = ["jsa", "aot"];

/// What does not fit the outputs any more, a sentence for each file.
pub(super) fn remarks(jobs: &[Job]) -> Vec<String> {
    let mut remarks: Vec<String> = jobs.iter().flat_map(checksums).collect();
    let mut folders: Vec<&Path> =
        jobs.iter().flat_map(|job| [&job.input, &job.output]).filter_map(|path| path.parent()).collect();
    folders.sort();
    folders.dedup();
    remarks.extend(folders.into_iter().flat_map(class_archives));
    remarks
}

fn checksums(job: &Job) -> impl Iterator<Item = String> {
    let of = |extension: &str| {
        let mut name = job.output.clone().into_os_string();
        name.push(".");
        name.push(extension);
        name
    };
    let found = CHECKSUMS.iter().map(move |extension| of(extension)).filter(|name| Path::new(name).is_file());
    found.map(|name| {
        format!(
            "{}: if it was made before, of other bytes, it does not fit what was written: make it again, or remove it",
            name.display()
        )
    })
}

fn class_archives(folder: &Path) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let is_archive = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str);
        extension.is_some_and(|extension| CLASS_ARCHIVES.contains(&extension))
    };
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = entries.filter(|path| is_archive(path)).collect();
    found.sort();
    let say = |path: std::path::PathBuf| {
        format!(
            "{}: if it holds classes of what was rewritten (-XX:SharedArchiveFile, -XX:AOTCache), Java does not take them from it any more; make it again",
            path.strip_prefix(".").unwrap_or(&path).display()
        )
    };
    found.into_iter().map(say).collect()
}
