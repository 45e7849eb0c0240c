//! `instrument export`: profiles, events, folded stacks and call trees, as other tools read them.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::formats::Export;
use crate::options::session;
use crate::options::settings::words;
use anyhow::Result;
use clap::Args;
use instrument_analysis::export::format::{Format, Recorded};
use instrument_analysis::session::Request;
use std::path::PathBuf;

/// Write what was recorded in the formats of other tools
///
/// Formats that show one figure take --resource; pprof, tau and call-tree hold all of them, xml events of the heap and of
/// threads one by one (its schema is analysis/schema/trace.xsd), otlp remote calls. Traces are written to chrome,
/// perfetto, firefox and speedscope with every call at its time; everything else, and --resource, is laid out there context by
/// context, and marked as such. What several programs did for each other is written by `instrument merge --format`.
///
/// For example: instrument export --format speedscope app-4711.iprof -o app.speedscope.json
#[derive(Debug, Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    session: session::Opts,

    /// What to write
    #[arg(short, long, visible_alias = "to", value_parser = words::<Format>(), value_name = "FORMAT")]
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
    let export = Export {
        format: opts.format,
        output: opts.output.as_deref(),
        resource: opts.resource.as_deref(),
        flat: opts.flat,
    };
    export.check()?;
    // TAU's first routine is the thread: it has what the thread did in no recorded method.
    let request = Request { lifetimes: opts.format == Format::Tau, ..opts.session.request() };
    let session = session::read(&request, talk)?;
    export.write(&Recorded { session: &session, request: &request }, talk)
}
