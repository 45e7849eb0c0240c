//! Where what was read of traces is kept.

use std::path::PathBuf;

use crate::io::cache_folder;
use instrument_analysis::trace_index::Cache;

/// Where it is kept.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    /// Folder that keeps what was read of traces, so that each is read once [default: ~/.cache/instrument/traces]
    ///
    /// The default is below XDG_CACHE_HOME, if that is set. A folder takes 2 GiB at most; what was not used for longest is removed.
    #[arg(hide_short_help = true, long, value_name = "DIR", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,
    /// Read traces anew, and keep nothing of them
    #[arg(hide_short_help = true, long)]
    no_cache: bool,
}

impl Opts {
    /// The folder; none: nothing is kept.
    pub(crate) fn folder(&self) -> Option<Cache> {
        if self.no_cache {
            return None;
        }
        let folder = self.cache.clone().or_else(|| Some(cache_folder::of_user()?.join("traces")));
        folder.map(Cache::new)
    }
}
