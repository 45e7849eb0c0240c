//! The agent's library: where it is, and how one that the binary carries gets a file.
//!
//! 1. A path that the user gives.
//! 2. Beside this program, or in the `lib/instrument` or `lib` beside its folder: a build of the workspace, an unpacked archive, an
//!    installed package.
//! 3. Carried by this program (`cargo install`, see `cli/build.rs`): put into a folder of the user, under a name that says what is in it.

use anyhow::{Context, Result, anyhow, bail};
use rustix::fs::{Mode, OFlags, StatVfsMountFlags, open, statvfs};
use rustix::io::Errno;
use rustix::process::getuid;
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

const LIBRARY: &str =
    if cfg!(target_os = "macos") { "libinstrument_agent.dylib" } else { "libinstrument_agent.so" };

/// What the names of all copies of the library begin with.
pub const STEM: &str = "libinstrument_agent";

/// The library's absolute path; `given` is what the user says, `carried` the library that this program was built with, and `cache` the user's
/// folder for what can be made anew.
///
/// # Errors
/// It is nowhere; the carried one has no folder that it can be put into.
pub fn find(given: Option<PathBuf>, carried: Option<&[u8]>, cache: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(path) = given {
        let path = path.canonicalize().with_context(|| path.display().to_string())?;
        return for_option(path, &folders(cache));
    }
    let program = std::env::current_exe()?.canonicalize()?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let places = [".", "../lib/instrument", "../lib"].map(|place| folder.join(place).join(LIBRARY));
    match (places.iter().find(|path| path.is_file()), carried) {
        (Some(path), _) => for_option(path.canonicalize()?, &folders(cache)),
        (None, Some(bytes)) => unpack(bytes, &folders(cache)),
        (None, None) => Err(anyhow!(
            "{LIBRARY} is neither in {0} nor in {0}/../lib/instrument, and this binary carries none; `cargo build --release` in the sources \
             makes it, and --agent (or INSTRUMENT_AGENT) says where it is",
            folder.display()
        )),
    }
}

/// A library that `-agentpath` can name: for the virtual machine the path ends at the first `=`, so one with another is copied into one of the
/// folders.
fn for_option(path: PathBuf, folders: &[PathBuf]) -> Result<PathBuf> {
    if !path.as_os_str().as_encoded_bytes().contains(&b'=') {
        return Ok(path);
    }
    let folders: Vec<PathBuf> = folders
        .iter()
        .filter(|folder| !folder.as_os_str().as_encoded_bytes().contains(&b'='))
        .cloned()
        .collect();
    let named = || path.display().to_string();
    let copied = fs::read(&path).map_err(anyhow::Error::from).and_then(|bytes| unpack(&bytes, &folders));
    copied.with_context(|| format!("{}: java cannot load a library whose path holds `=`", named()))
}

/// The name of a copy, which says what is in it, behind further words.
pub fn file_name(words: &str, bytes: &[u8]) -> String {
    let hash: String = Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{STEM}{words}-{hash}.so")
}

/// Puts the library to `path`, at once and for good; one that is there already is taken if it is the same and nobody but `uid`, who puts it
/// there, can write it.
///
/// # Errors
/// Something else is there; the file cannot be written.
pub fn place(bytes: &[u8], path: &Path, uid: u32) -> Result<()> {
    let named = |path: &Path| path.display().to_string();
    // What the name means may change at any time: everything is asked of the open file.
    match open(path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => {
            let (mut file, mut there) = (File::from(file), Vec::new());
            let about = file.metadata().with_context(|| named(path))?;
            let is_ours = about.is_file() && about.uid() == uid && about.mode() & 0o022 == 0;
            if is_ours {
                file.read_to_end(&mut there).with_context(|| named(path))?;
            }
            if there != bytes {
                bail!("{}: this is not the agent that was put there; remove it", named(path));
            }
            Ok(())
        }
        Err(Errno::LOOP) => bail!("{}: this is not the agent that was put there; remove it", named(path)),
        Err(Errno::NOENT) => {
            let folder = path.parent().unwrap_or(Path::new("/"));
            let mut file = NamedTempFile::new_in(folder).with_context(|| named(folder))?;
            file.write_all(bytes).with_context(|| named(path))?;
            file.as_file().set_permissions(Permissions::from_mode(0o755))?;
            file.persist(path).with_context(|| named(path))?;
            Ok(())
        }
        Err(error) => Err(error).with_context(|| named(path)),
    }
}

/// Where the carried library may go: the user's cache, or else a folder of the user below that for temporary files.
fn folders(cache: Option<PathBuf>) -> Vec<PathBuf> {
    let temporary = std::env::temp_dir().join(format!("instrument-{}", getuid().as_raw()));
    cache.into_iter().chain([temporary]).collect()
}

/// The library as a file in the first of the folders that can be written and executed from.
fn unpack(bytes: &[u8], folders: &[PathBuf]) -> Result<PathBuf> {
    let mut reasons = Vec::new();
    for folder in folders {
        let path = folder.join(file_name("", bytes));
        match private(folder).and_then(|()| place(bytes, &path, getuid().as_raw())) {
            Ok(()) => return Ok(path),
            Err(error) => reasons.push(format!("{error:#}")),
        }
    }
    bail!(
        "the agent needs a file, and there is no folder for it: {}; set XDG_CACHE_HOME to a folder that can be \
         written and executed from",
        reasons.join("; ")
    )
}

/// Makes sure of a folder that is the user's own, and from which libraries can be loaded.
fn private(folder: &Path) -> Result<()> {
    let named = || folder.display().to_string();
    DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(named)?;
    let there = fs::symlink_metadata(folder).with_context(named)?;
    if !there.is_dir() || there.uid() != getuid().as_raw() || there.mode() & 0o022 != 0 {
        bail!("{}: not a folder that only you can write to", folder.display());
    }
    if statvfs(folder).with_context(named)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        bail!("{}: on a file system that is mounted noexec", folder.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_java_would_cut_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let [odd, cache] = ["a=b", "cache"].map(|name| folder.path().join(name));
        fs::create_dir(&odd).unwrap();
        fs::write(odd.join(LIBRARY), "library").unwrap();
        let found = for_option(odd.join(LIBRARY), &[odd.clone(), cache.clone()]).unwrap();
        assert_eq!((found.parent(), fs::read(&found).unwrap()), (Some(&*cache), b"library".to_vec()));
        assert_eq!(for_option(cache.clone(), std::slice::from_ref(&odd)).unwrap(), cache);
        let error = for_option(odd.join(LIBRARY), &[odd]).unwrap_err();
        assert!(
            format!("{error:#}").contains("java cannot load a library whose path holds `=`"),
            "{error:#}"
        );
    }

    #[test]
    fn a_placed_library_is_taken_again_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file_name("", b"library"));
        for _ in 0..2 {
            place(b"library", &path, getuid().as_raw()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"library");
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o755);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        let refused = |why: &str| {
            let error = place(b"library", &path, getuid().as_raw()).expect_err(why).to_string();
            assert!(error.contains("this is not the agent that was put there; remove it"), "{why}: {error}");
        };
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        refused("others can write it");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        fs::write(&path, "librarx").unwrap();
        refused("it is another one");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        refused("it is a link");
    }

    #[test]
    fn the_carried_library_goes_into_the_first_folder_that_will_do() {
        let folder = tempfile::tempdir().unwrap();
        let (nowhere, good) = (PathBuf::from("/proc/instrument"), folder.path().join("cache/instrument"));
        let path = unpack(b"library", &[nowhere.clone(), good.clone()]).unwrap();
        assert_eq!(path.parent(), Some(&*good));
        assert!(path.file_name().unwrap().to_str().unwrap().starts_with(STEM), "{}", path.display());
        let error = unpack(b"library", &[nowhere]).expect_err("/proc takes no folders").to_string();
        assert!(error.contains("/proc/instrument: ") && error.contains("set XDG_CACHE_HOME"), "{error}");
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        private(&inner).unwrap();
        assert_eq!(fs::metadata(&inner).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&inner, Permissions::from_mode(0o777)).unwrap();
        assert!(private(&inner).is_err());
    }
}
