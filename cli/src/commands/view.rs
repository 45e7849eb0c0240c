//! `instrument view`: profiles in a browser, as one file that can be mailed, or from a server that only this machine reaches.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::io::exit::{Exit, with_warnings};
use crate::io::recorded;
use crate::io::talk::Talk;
use crate::options::{own, session};
use anyhow::{Context, Result};
use instrument_analysis::page::Sections;
use instrument_analysis::report::text::quantity;
use instrument_analysis::session::{Request, Session};
use instrument_analysis::timeline::{Room, Timeline};
use instrument_artifacts::outputs::Outputs;
use instrument_live::page::{self, Served};
use instrument_live::server::{Server, serve};
use instrument_messages::Listener;

/// Contexts that a page shows: a million of them is a file of about 8 MiB.
pub(crate) const CONTEXTS: usize = 1_000_000;

/// Show profiles in a browser: tree, flame graph, methods, threads, heap, monitors, remote calls, timeline
///
/// The id of a process stands for the profile that it is recorded into; the page can refresh itself while the program runs.
///
/// Without --html, a server on the loopback address hands the page to the browser that it opens. Its address has a secret word; nobody else can
/// read the page. Ctrl-C ends it. With --html, the page is one file that needs no server and no network.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  instrument view app-4711.iprof\n  instrument view --html app.html app-4711.iprof"
)]
pub(crate) struct Opts {
    #[command(flatten)]
    session: session::Opts,
    #[command(flatten)]
    own: own::Opts,
    #[command(flatten)]
    own_classes: own::ClassesOpts,
    /// Write one HTML file, to be opened, mailed, or kept beside a build
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the address, and open no browser
    #[arg(long, conflicts_with = "html", overrides_with = "no_open")]
    no_open: bool,
    /// Port of the server; 0: any that is free
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "html", overrides_with = "port")]
    port: u16,
    /// Archives, directories and class files of the program as they were before they were rewritten: the page shows the bytecode of a method
    #[arg(long, value_name = "PATH", conflicts_with = "html")]
    class_path: Option<std::ffi::OsString>,
    /// Show at most N contexts; the page says how many were left out
    #[arg(long, value_name = "N", default_value_t = CONTEXTS)]
    contexts: usize,
}

impl Opts {
    /// The port on which it serves a page, if it does; 0: any.
    #[cfg(processes)]
    pub(crate) fn serves(&self) -> Option<u16> {
        self.html.is_none().then_some(self.port)
    }

    fn request(&self) -> Result<Request> {
        let own_classes = self.own_classes.read()?;
        Ok(Request { own: self.own.patterns(), own_classes, ..self.session.request() })
    }
}

/// Writes the page, or serves it until it is interrupted.
///
/// # Errors
/// A file that cannot be read or understood; a profile without contexts; an output or a port that cannot be had.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let mut opts = opts.clone();
    for file in &mut opts.session.files {
        *file = recorded::profile(file)?;
    }
    let Some(path) = &opts.html else {
        serve_page(&opts, talk)?;
        return Ok(Exit::Done);
    };
    let request = opts.request()?;
    let reading = talk.step(format_args!("reading the profile"));
    let session = opts.session.read_indexed_as(&request, talk)?;
    drop(reading);
    let making = talk.step(format_args!("making the page"));
    let timeline = Timeline::of_session(&session, &request)?;
    let sections = Sections::of_session(&session, &request, &timeline, Room::FILE)?;
    drop(making);
    write(path, &session, &sections, &request, opts.contexts, talk)?;
    Ok(with_warnings(&session.warnings, opts.session.strict, Exit::Done, talk))
}

/// Writes the page of a session that was read for this request.
///
/// # Errors
/// There is nothing to show; the output failed.
pub(crate) fn write(
    path: &Path,
    session: &Session,
    sections: &Sections,
    request: &Request,
    contexts: usize,
    talk: &Talk,
) -> Result<()> {
    let packing = talk.step(format_args!("packing the page"));
    let text = page::of_session(session, sections, request, contexts, Served::No, talk)?;
    drop(packing);
    save(path, &text, talk)
}

/// Writes a page, and says so.
///
/// # Errors
/// The output failed.
pub(crate) fn save(path: &Path, text: &str, talk: &Talk) -> Result<()> {
    let mut outputs = Outputs::default();
    outputs.file(path, None, text.as_bytes())?;
    outputs.commit()?;
    talk.note(format_args!("page: {}, {}", path.display(), quantity(text.len() as f64, "bytes")));
    Ok(())
}

/// Serves the page until it is interrupted, and has a browser show it.
fn serve_page(opts: &Opts, talk: &Talk) -> Result<()> {
    let (talk, cache) = (*talk, opts.session.clone());
    let server = Server {
        request: opts.request()?,
        read: Box::new(move |request| cache.read_indexed_as(request, &talk)),
        contexts: opts.contexts,
        class_path: opts.class_path.clone(),
        port: opts.port,
    };
    serve(server, Arc::new(talk), |url| {
        writeln!(std::io::stdout(), "{url}").context("the address cannot be printed")?;
        talk.note(format_args!("Ctrl-C ends the server"));
        if !opts.no_open && open::that_detached(url).is_err() {
            talk.warn(format_args!("no browser could be started: open the address above"));
        }
        Ok(())
    })
}
