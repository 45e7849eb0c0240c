//! Moments from which on a live page shows what happened: copies of the profiles as they were then, beside each other in a folder that is
//! removed when the server ends.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use instrument_analysis::session::Session;
use tempfile::TempDir;

/// How many are kept; the oldest one goes first. Each is as large as the profiles.
const MOST: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct Moments {
    kept: Vec<Moment>,
    last: u32,
}

#[derive(Debug)]
struct Moment {
    number: u32,
    folder: TempDir,
    files: Vec<PathBuf>,
}

impl Moments {
    /// Keeps what the programs of a session have done up to now. Its number, from 1.
    ///
    /// # Errors
    /// There is no room for a copy, or a profile is gone.
    pub(crate) fn add(&mut self, session: &Session) -> Result<u32> {
        let folder = tempfile::Builder::new().prefix("instrument-view-").tempdir()?;
        let mut files = Vec::new();
        for (i, profile) in session.profiles.iter().filter(|profile| profile.is_live).enumerate() {
            let to = folder.path().join(format!("since-{i}.iprof"));
            fs::copy(&profile.path, &to)
                .with_context(|| format!("cannot copy {}", profile.path.display()))?;
            files.push(to);
        }
        if self.kept.len() == MOST {
            self.kept.remove(0);
        }
        self.last += 1;
        self.kept.push(Moment { number: self.last, folder, files });
        Ok(self.last)
    }

    /// The copies of a moment; none: it is not kept.
    pub(crate) fn files(&self, number: u32) -> Option<Vec<PathBuf>> {
        let moment = self.kept.iter().find(|moment| moment.number == number)?;
        debug_assert!(moment.files.iter().all(|file| file.starts_with(moment.folder.path())));
        Some(moment.files.clone())
    }
}
