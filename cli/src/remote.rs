//! Remote calls of several profiles: matched, compared, exported.

use std::fs::File;
use std::io::Write;

use crate::subject::ProfileFile;
use crate::talk::Talk;
use anyhow::{Context, Result};
use instrument_analysis::export::otlp;
use instrument_analysis::export::remote::Remote;
use instrument_analysis::export::spans::ClassNames;
use instrument_analysis::export::timeline::Timeline;
use instrument_analysis::export::trace::Trace;
use instrument_analysis::merge::offsets::Placed;
use instrument_analysis::merge::{Matching, Nesting, Numbers, Offsets, Party, match_calls};

/// Profiles of different processes, and what their calls are read from.
pub(crate) struct Recordings<'a> {
    files: &'a [ProfileFile],
    sources: &'a [File],
    names: Vec<String>,
}

/// The same with their calls matched.
pub(crate) struct Matched<'a> {
    pub(crate) parties: Vec<Party<'a, File>>,
    pub(crate) matching: Matching,
    pub(crate) numbers: Numbers,
}

impl<'a> Recordings<'a> {
    /// Profiles with their [`sources`].
    pub(crate) fn new(files: &'a [ProfileFile], sources: &'a [File]) -> Recordings<'a> {
        Recordings { files, sources, names: labels(files) }
    }

    /// Matches their calls, and says so if there is none.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub(crate) fn matched(&self, talk: &Talk) -> Result<Matched<'a>> {
        let parties = parties(self.files, self.sources);
        let matching = match_calls(&parties)?;
        let numbers = Numbers::of(&matching);
        if numbers.made.iter().chain(&numbers.served).all(|&calls| calls == 0) {
            talk.warn(format_args!(
                "no remote calls: they are recorded with `instrument run --transform method-events,rmi`"
            ));
        }
        Ok(Matched { parties, matching, numbers })
    }

    /// Writes all calls as OpenTelemetry spans, at the times of `root`.
    ///
    /// # Errors
    /// A profile or an output that fails, options that make no sense.
    pub(crate) fn otlp(
        &self,
        matched: &Matched<'_>,
        root: Option<usize>,
        internals: bool,
        (out, talk): (&mut dyn Write, &Talk),
    ) -> Result<()> {
        let programs: Vec<_> = self.files.iter().map(ProfileFile::program).collect();
        matched.with(&self.names, root, talk, |remote| Ok(otlp::write(remote, &programs, internals, out)?))
    }

    /// Tells a timeline all calls and, where there are traces, everything else, by the clock of `root`.
    ///
    /// # Errors
    /// A profile or a timeline that fails.
    pub(crate) fn tell(
        &self,
        matched: &Matched<'_>,
        root: Option<usize>,
        wanted: &dyn Fn(&str) -> bool,
        (timeline, talk): (&mut dyn Timeline, &Talk),
    ) -> Result<()> {
        matched.with(&self.names, root, talk, |remote| {
            let origin = remote.origin();
            timeline.time_of_day(remote.offsets.time_of_day(origin))?;
            for (process, (file, source)) in self.files.iter().zip(self.sources).enumerate() {
                let methods = |copy, id| file.names.method(copy, id);
                let classes = |copy, number| file.names.class(copy, number);
                let trace = Trace {
                    source,
                    profile: &file.profile,
                    process,
                    process_name: &self.names[process],
                    methods: &methods,
                    classes: Some(&classes as ClassNames<'_>),
                    remote: Some(remote),
                };
                let told = trace.tell(remote.on_clock(process, origin), wanted, timeline);
                told.with_context(|| file.path.display().to_string())?;
            }
            Ok(timeline.finish()?)
        })
    }
}

impl Matched<'_> {
    /// The clocks of all, compared with that of `root`.
    pub(crate) fn offsets(&self, root: Option<usize>) -> Result<Offsets> {
        Ok(Offsets::new(&self.parties, &self.matching, root.unwrap_or_default())?)
    }

    fn with(
        &self,
        names: &[String],
        root: Option<usize>,
        talk: &Talk,
        write: impl FnOnce(&Remote<'_, File>) -> Result<()>,
    ) -> Result<()> {
        let offsets = &self.offsets(root)?;
        for (offset, name) in offsets.all.iter().zip(names) {
            if offset.is_drifting {
                talk.note(format_args!("note: {name}: its clock drifts; times fit best near one call"));
            } else if offset.placed == Placed::Start {
                talk.note(format_args!("note: {name}: no call tells its clock; placed by the time of day"));
            }
        }
        let nesting = &Nesting::new(&self.parties, &self.matching)?;
        let (parties, matching) = (&self.parties[..], &self.matching);
        write(&Remote { parties, names, matching, nesting, offsets })
    }
}

/// What the calls of profiles are read from, several times: of a process that still writes, a copy that stays as it is.
///
/// # Errors
/// A profile that cannot be read.
pub(crate) fn sources(files: &[ProfileFile]) -> Result<Vec<File>> {
    let source = |file: &ProfileFile| {
        let name = || file.path.display().to_string();
        let mut source = File::open(&file.path).with_context(name)?;
        if file.is_live {
            let mut copy = tempfile::tempfile().context("a copy of a profile that is being written")?;
            std::io::copy(&mut source, &mut copy).with_context(name)?;
            return Ok(copy);
        }
        Ok(source)
    };
    files.iter().map(source).collect()
}

/// Profiles with their sources.
pub(crate) fn parties<'a>(files: &'a [ProfileFile], sources: &'a [File]) -> Vec<Party<'a, File>> {
    files.iter().zip(sources).map(|(file, source)| Party { profile: &file.profile, source }).collect()
}

/// What the processes are called: no two the same.
pub(crate) fn labels(files: &[ProfileFile]) -> Vec<String> {
    let plain: Vec<_> = files.iter().map(ProfileFile::label).collect();
    let unique = plain.iter().enumerate().map(|(at, label)| {
        let is_twice = plain.iter().filter(|other| *other == label).count() > 1;
        if is_twice { format!("{label} (file {})", at + 1) } else { label.clone() }
    });
    unique.collect()
}
