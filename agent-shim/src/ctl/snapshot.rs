//! A copy of the profile as it is at one moment.
//!
//! Threads write to the file all the time. It is copied while the virtual machine lets no Java code run, so the copy is as the profile
//! of a process that was killed then, which readers accept at any moment. It is written beside its place and renamed.

use super::answer::reason;
use super::server::Asked;
use instrument_control::answer::Copied;
use instrument_names::snapshot::of_reset;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The word of the header by which a snapshot is told from its profile.
const IS_SNAPSHOT: u64 = 88;

impl Asked<'_> {
    /// Readers of the profile count from now on: they take from it what this snapshot beside it has.
    pub(super) fn reset(self) -> Result<Copied, String> {
        let from = self.profile()?;
        self.copy(&from, &of_reset(&from))
    }

    pub(super) fn snapshot(self, to: &Path) -> Result<Copied, String> {
        let from = self.profile()?;
        let answer = self.copy(&from, to)?;
        // What the profile counts from, its snapshot counts from as well.
        let (marker, copy) = (of_reset(&from), of_reset(to));
        let _ = fs::remove_file(&copy);
        if let Ok(mut marker) = File::open(&marker) {
            let copied = create(&copy).and_then(|mut copy| io::copy(&mut marker, &mut copy));
            copied.map_err(|error| format!("{}: {error}", copy.display()))?;
        }
        Ok(answer)
    }

    /// Where the profile is.
    pub(super) fn profile(self) -> Result<PathBuf, String> {
        let profile = self.recording()?.remove("file");
        Ok(PathBuf::from(profile.ok_or("nothing has been recorded so far, so there is no profile")?))
    }

    fn copy(self, from: &Path, to: &Path) -> Result<Copied, String> {
        let (Some(folder), Some(name), true) = (to.parent(), to.file_name(), to.is_absolute()) else {
            return Err("a snapshot needs the absolute path of a file".to_owned());
        };
        let named = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        let mut source = File::open(from).map_err(|error| named(from, error))?;
        let itself = source.metadata().map_err(|error| named(from, error))?;
        if let Ok(there) = fs::metadata(to) {
            if !there.is_file() {
                return Err(format!("{}: it is not a file", to.display()));
            }
            if (there.dev(), there.ino()) == (itself.dev(), itself.ino()) {
                return Err(format!("{}: that is the profile itself", to.display()));
            }
        }
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}", std::process::id()));
        let beside = folder.join(beside);
        let _ = fs::remove_file(&beside);
        let mut copy = create(&beside).map_err(|error| named(&beside, error))?;
        // The clock of the copy's end.
        self.jni.call(&self.methods.beat, &[]);
        let mut copied = Err(io::Error::other("the virtual machine did not stop"));
        let mut stopped = 0;
        let stood = self.jvmti.at_standstill(|| {
            let start = Instant::now();
            copied = io::copy(&mut source, &mut copy);
            stopped = start.elapsed().as_nanos() as u64;
        });
        let finish = stood.map_err(reason).and_then(|()| {
            let bytes = copied.map_err(|error| named(&beside, error))?;
            copy.write_all_at(&1u64.to_le_bytes(), IS_SNAPSHOT).map_err(|error| named(&beside, error))?;
            fs::rename(&beside, to).map_err(|error| named(to, error))?;
            Ok(Copied { file: to.to_owned(), bytes, stopped_ns: stopped })
        });
        if finish.is_err() {
            let _ = fs::remove_file(&beside);
        }
        finish
    }
}

/// A new file that only its user may read, as the profile is.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
