//! `instrument export`: profiles, events, folded stacks and call trees, as other tools read them.

use crate::exit::{Exit, usage};
use crate::formats::{Exportable, Format, Wanted};
use crate::remote::{Recordings, parties, sources};
use crate::subject::{self, ProfileFile, Subject};
use crate::talk::Talk;
use anyhow::{Context, Result};
use clap::Args;
use instrument_analysis::Arcflow;
use instrument_analysis::export::timeline::Timeline;
use instrument_analysis::export::trace::{self, Trace};
use instrument_analysis::export::{spans, xml};
use instrument_analysis::merge::fuller_copies;
use instrument_analysis::merge::view::client;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// Write what was recorded in the formats of other tools
///
/// Formats that show one figure take --resource; pprof, tau and call-tree hold all of them, xml events of the heap and of
/// threads one by one (its schema is analysis/schema/trace.xsd), otlp remote calls. Traces are written to chrome,
/// perfetto, firefox and speedscope with every call at its time; everything else, and --resource, is laid out there context by
/// context, and marked as such. What several programs did for each other is written by `instrument merge --to`.
///
/// For example: instrument export --format speedscope app-4711.iprof -o app.speedscope.json
#[derive(Debug, Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    subject: subject::Opts,

    /// What to write
    #[arg(short, long, visible_alias = "to", value_enum, value_name = "FORMAT")]
    format: Format,

    /// Where to write it: a file, or for tau a directory; standard output if it is not given
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Figure to show where there is room for one: a resource such as `wall`, or what is counted, such as `calls`
    #[arg(long, value_name = "NAME")]
    resource: Option<String>,

    /// tau: leave out the rows of contexts
    #[arg(long)]
    flat: bool,
}

/// Writes the export.
///
/// # Errors
/// An input that cannot be read, an output that cannot be written, options that make no sense.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let wanted = Wanted {
        format: opts.format,
        output: opts.output.as_deref(),
        resource: opts.resource.as_deref(),
        flat: opts.flat,
    };
    wanted.check()?;
    // TAU's first routine is the thread: it has what the thread did in no recorded method.
    let subject = Subject::read(&opts.subject, opts.format == Format::Tau, talk)?;
    wanted.write(&Export { subject: &subject, opts: &opts.subject, talk }, talk)
}

struct Export<'a> {
    subject: &'a Subject,
    opts: &'a subject::Opts,
    talk: &'a Talk,
}

impl Export<'_> {
    /// Whether nothing but profiles was read.
    fn is_profiles(&self) -> bool {
        self.subject.profiles.len() == self.opts.files.len()
    }
}

impl Exportable for Export<'_> {
    fn model(&self) -> &Arcflow {
        &self.subject.model
    }

    /// Whether everything that was read are traces.
    fn is_timed(&self, _: Format) -> bool {
        let is_timed = |file: &ProfileFile| trace::origin(&file.profile).is_some() && file.window().is_none();
        self.is_profiles() && self.subject.profiles.iter().all(is_timed)
    }

    /// Tells the timeline what really happened.
    fn tell(&self, timeline: &mut dyn Timeline) -> Result<()> {
        let wanted = subject::thread_filter(self.opts);
        let origin = self.subject.profiles.iter().filter_map(|file| trace::origin(&file.profile)).min();
        for (process, file) in self.subject.profiles.iter().enumerate() {
            let name = || file.path.display().to_string();
            let source = File::open(&file.path).with_context(name)?;
            let methods = |copy, id| file.names.method(copy, id);
            let (profile, process_name) = (&file.profile, &file.label());
            let classes = |copy, number| file.names.class(copy, number);
            let classes = Some(&classes as spans::ClassNames<'_>);
            let (source, methods) = (&source, &methods);
            let trace = Trace { source, profile, process, process_name, methods, classes, remote: None };
            trace.tell(origin.unwrap_or_default().into(), &wanted, timeline).with_context(name)?;
        }
        Ok(timeline.finish()?)
    }

    /// Tells the timeline when threads waited.
    fn tell_some(&self, processes: usize, timeline: &mut dyn Timeline) -> Result<()> {
        let wanted = subject::thread_filter(self.opts);
        let recorded = || self.subject.profiles.iter().filter(|file| file.waits.is_some());
        let origin = recorded().map(|file| file.profile.start_clock).min().unwrap_or_default();
        for (process, file) in (processes..).zip(recorded()) {
            let name = || file.path.display().to_string();
            let source = File::open(&file.path).with_context(name)?;
            let classes = |copy, number| file.names.class(copy, number);
            let process_name =
                format!("{} (pid {}, what threads waited for)", file.program(), file.profile.pid);
            let (source, process) = ((&source, &file.profile), (process, process_name.as_str()));
            spans::tell(source, &classes, process, origin.into(), &wanted, timeline).with_context(name)?;
        }
        Ok(())
    }

    fn xml(&self, out: &mut dyn Write) -> Result<()> {
        if !self.is_profiles() {
            return Err(usage(
                "--format xml: only profiles have events of objects, collections, threads and monitors",
            ));
        }
        let mut sources = Vec::new();
        for file in &self.subject.profiles {
            let source = File::open(&file.path).with_context(|| file.path.display().to_string())?;
            let classes = move |copy: u32, number: u32| file.names.class(copy, number);
            sources.push((file, source, file.program(), classes));
        }
        let processes: Vec<_> = sources
            .iter()
            .map(|(file, source, name, classes)| xml::Process {
                source,
                profile: &file.profile,
                name,
                host: file.property("host"),
                classes,
            })
            .collect();
        Ok(xml::write(&processes, out)?)
    }

    fn otlp(&self, out: &mut dyn Write) -> Result<()> {
        if !self.is_profiles() {
            return Err(usage("--format otlp: only profiles have remote calls"));
        }
        if !self.opts.thread.is_empty() {
            return Err(usage("--thread: a call is told with all that it is part of"));
        }
        let files = &self.subject.profiles;
        let sources = sources(files)?;
        let copies = fuller_copies(&parties(files, &sources))?;
        if let Some((copy, _)) = files.iter().zip(copies).find(|(_, fuller)| fuller.is_some()) {
            return Err(usage(format!("{}: another one is of the same process", copy.path.display())));
        }
        let recordings = Recordings::new(files, &sources);
        let matched = recordings.matched(self.talk)?;
        recordings.otlp(&matched, client(&matched.numbers), false, (out, self.talk))
    }
}
