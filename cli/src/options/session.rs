//! Which profiles a report is about, and what of them: the options of [`Request`].

use std::path::PathBuf;

use crate::io::progress::Progress;
use crate::io::talk::Talk;
use crate::options::cache;
use anyhow::Result;
use instrument_analysis::Kind;
use instrument_analysis::model::Group;
use instrument_analysis::session::{Request, Session, own};

/// What the commands read that have no use for what others recorded.
pub(crate) const PROFILES: &str = "Profiles (`*.iprof`)";

/// How to read.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    /// Profiles (`*.iprof`), or of others: JFR, pprof, folded stacks, events, call trees
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Only threads, or pools of threads, of these names; `*` and `?` are wildcards
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Vec<String>,
    /// Leave out a level of the tree, and add up what was on it
    ///
    /// With `methods` a row is a class, with `classes` a package. What a class calls within itself is part of it: its calls are those from
    /// outside.
    #[arg(long, value_enum, value_name = "LEVEL,..", value_delimiter = ',')]
    pub(crate) collapse: Vec<Level>,
    /// Only what happened since this snapshot of the process; `start`: everything, also before a reset
    ///
    /// `instrument ctl PID snapshot` makes a snapshot, and `instrument ctl PID reset` lets figures count anew.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) since: Vec<PathBuf>,
    /// Show each thread of a pool, not the pool as one
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) split: Vec<Split>,
    /// Show started threads and tasks below the context that started them
    #[arg(long)]
    pub(crate) links: bool,
    /// Exit with code 3 if a pattern fits nothing
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) cache: cache::Opts,
}

/// A level of consumers above methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Level {
    /// Threads
    Threads,
    /// Processes
    Processes,
    /// Methods: a class is a row
    Methods,
    /// Classes: a package is a row
    Classes,
}

/// A level of consumers that is told apart only when this is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Split {
    /// Threads
    Threads,
}

impl Opts {
    /// The request that the options make.
    pub(crate) fn request(&self) -> Request {
        let kind = |level: &Level| match level {
            Level::Threads => Some(Kind::Thread),
            Level::Processes => Some(Kind::Process),
            Level::Methods | Level::Classes => None,
        };
        let has = |level| self.collapse.contains(&level);
        let group = if has(Level::Classes) {
            Some(Group::Package)
        } else {
            has(Level::Methods).then_some(Group::Class)
        };
        Request {
            files: self.files.clone(),
            threads: self.thread.clone(),
            collapse: self.collapse.iter().filter_map(kind).collect(),
            group,
            since: self.since.clone(),
            split_threads: self.split.contains(&Split::Threads),
            links: self.links,
            lifetimes: false,
            contexts: false,
            own: None,
            own_classes: own::Classes::default(),
            cache: self.cache.folder(),
            id_maps: None,
        }
    }

    /// Reads the files, and says what is to be said of them.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub(crate) fn read(&self, talk: &Talk) -> Result<Session> {
        read(&self.request(), talk)
    }

    /// The same with indexes of traces, for a timeline, of a request that was made of them; shows how far that is.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub(crate) fn read_indexed_as(&self, request: &Request, talk: &Talk) -> Result<Session> {
        let sizes = request.files.iter().filter_map(|path| Some(path.metadata().ok()?.len()));
        let progress = Progress::new(sizes.sum(), talk);
        let session = Session::read_indexed(request, &|bytes| progress.advance(bytes, "reading the trace"))?;
        drop(progress);
        talk.messages(&session.messages);
        Ok(session)
    }
}

/// Reads files, and says what is to be said of them.
///
/// # Errors
/// A file that cannot be read or understood.
pub(crate) fn read(request: &Request, talk: &Talk) -> Result<Session> {
    let session = Session::read(request)?;
    talk.messages(&session.messages);
    Ok(session)
}
