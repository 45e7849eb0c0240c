//! `instrument view`: profiles in a browser, as one file that can be mailed, or from a server that only this machine reaches.

mod moments;
mod page;
mod server;

use std::path::{Path, PathBuf};

use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use crate::options::session;
use anyhow::Result;
use instrument_analysis::Kind;
use instrument_analysis::page::{About, Page, Sections};
use instrument_analysis::report::counts;
use instrument_analysis::report::diff::Sides;
use instrument_analysis::report::summary::Summary;
use instrument_analysis::report::text::quantity;
use instrument_analysis::session::{Request, Session};
use instrument_analysis::timeline::{Room, Timeline};
use instrument_artifacts::outputs::Outputs;
use instrument_messages::{Listener, usage};
use instrument_processes::recorded;

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
    /// Write one HTML file, to be opened, mailed, or kept beside a build
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the address, and open no browser
    #[arg(long, conflicts_with = "html")]
    no_open: bool,
    /// Port of the server; 0: any that is free
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "html")]
    port: u16,
    /// Archives, directories and class files of the program as they were before they were rewritten: the page shows the bytecode of a method
    #[arg(long, value_name = "PATH", conflicts_with = "html")]
    class_path: Option<std::ffi::OsString>,
    /// Show at most N contexts; the page says how many were left out
    #[arg(long, value_name = "N", default_value_t = CONTEXTS)]
    contexts: usize,
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
        server::serve(&opts, talk)?;
        return Ok(Exit::Done);
    };
    let request = opts.session.request();
    let session = opts.session.read_indexed(talk)?;
    let timeline = Timeline::of_session(&session, &request)?;
    let sections = Sections::of_session(&session, &request, &timeline, Room::FILE)?;
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
    let text = page_of(session, sections, request, contexts, Served::No, talk)?;
    save(path, &text, talk)
}

/// Writes the page of a comparison of runs before and after. `warnings`: of those of all runs.
///
/// # Errors
/// The output failed.
pub(crate) fn write_sides(
    path: &Path,
    sides: &Sides,
    files: [&[String]; 2],
    warnings: Vec<String>,
    talk: &Talk,
) -> Result<()> {
    let names = files.map(|files| files.join(" "));
    let about = About {
        title: names.join(" \u{2192} "),
        files: files.concat(),
        facts: ["before", "after"].map(str::to_owned).into_iter().zip(names).collect(),
        warnings,
        generator: generator(),
        is_live: false,
        has_code: false,
        since: Vec::new(),
    };
    let text = page::html(&about.title, &Page::of_sides(&about, sides)?, false)?;
    save(path, &text, talk)
}

fn save(path: &Path, text: &str, talk: &Talk) -> Result<()> {
    let mut outputs = Outputs::default();
    outputs.file(path, None, text.as_bytes())?;
    outputs.commit()?;
    talk.note(format_args!("page: {}, {}", path.display(), quantity(text.len() as f64, "bytes")));
    Ok(())
}

fn generator() -> String {
    format!("instrument {}", env!("CARGO_PKG_VERSION"))
}

impl Opts {
    fn page(&self, session: &Session, timeline: &Timeline, talk: &Talk) -> Result<String> {
        let request = self.session.request();
        let sections = Sections::of_session(session, &request, timeline, Room::SERVED)?;
        let has_code = self.class_path.is_some();
        page_of(session, &sections, &request, self.contexts, Served::Yes { has_code }, talk)
    }
}

/// Whether a page comes from a server, which answers questions.
enum Served {
    No,
    /// `has_code`: also questions for the code of methods.
    Yes {
        has_code: bool,
    },
}

fn page_of(
    session: &Session,
    sections: &Sections,
    request: &Request,
    contexts: usize,
    served: Served,
    talk: &Talk,
) -> Result<String> {
    let (is_served, has_code) = match served {
        Served::No => (false, false),
        Served::Yes { has_code } => (true, has_code),
    };
    let names = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let files = names(&request.files);
    if !session.model.nodes().iter().any(|node| node.kind == Kind::Method) {
        let why = session.warnings.join("; ");
        return Err(usage(format!("{}: there is no context to show: {why}", files.join(" "))));
    }
    let about = About {
        title: title(session),
        files,
        facts: Summary::new(session, &counts::Request::default(), &[])?.facts()?,
        warnings: warnings(session),
        generator: generator(),
        is_live: is_served && session.profiles.iter().any(|profile| profile.is_live),
        has_code,
        since: names(&request.since),
    };
    let document = Page::new(&about, &session.model, &session.calls, contexts)?.with(sections);
    let left_out = sections.left_out();
    if !left_out.is_empty() {
        talk.note(format_args!("left out of the page: {}", left_out.join(", ")));
    }
    if let Some(left_out) = document.left_out() {
        talk.note(format_args!("{} small contexts are left out of the page", left_out.contexts));
    }
    page::html(&about.title, &document, is_served)
}

/// What a report says beside its figures, for whoever has the page and not the terminal.
pub(crate) fn warnings(session: &Session) -> Vec<String> {
    let of_files = session.messages.iter().filter(|message| message.is_warning);
    session.warnings.iter().cloned().chain(of_files.map(|message| message.text.clone())).collect()
}

/// The programs, or the files if these are not known.
fn title(session: &Session) -> String {
    let processes = session.model.nodes().iter().filter(|node| node.kind == Kind::Process);
    let names: Vec<_> = processes.map(|node| session.model.name(node.consumer)).collect();
    let commands: Vec<_> = session.profiles.iter().filter_map(|file| file.property("command")).collect();
    match (&names[..], &commands[..]) {
        ([], []) => "profile".to_owned(),
        ([], commands) => commands.join(", "),
        (names, _) => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_analysis::session::Request;
    use instrument_analysis::session::message::Message;

    #[test]
    fn the_page_warns_of_what_the_terminal_was_warned_of() {
        let mut writer = instrument_trace::testing::Writer::new();
        // Excluded: one pattern, no method.
        writer.selection_change(&[&[0; 8][..], &1u32.to_le_bytes(), &[0; 4], b"a.**"].concat());
        let file = tempfile::NamedTempFile::with_suffix(".iprof").unwrap();
        std::fs::write(file.path(), writer.finish()).unwrap();
        let request = Request { files: vec![file.path().to_owned()], ..Request::default() };
        let mut session = Session::read(&request).unwrap();
        session.messages.push(Message::note("an explanation".to_owned()));
        let warnings = warnings(&session);
        assert!(
            warnings.iter().any(|text| text.contains("methods that fit a.** and were loaded later")),
            "{warnings:?}"
        );
        assert!(warnings.contains(&session.warnings[0]), "{warnings:?}");
        assert!(!warnings.contains(&"an explanation".to_owned()));
    }
}
