//! What the page shows of a session, or of two sides.

use crate::html::html;
use anyhow::Result;
use instrument_analysis::Kind;
use instrument_analysis::page::{About, Page, Sections};
use instrument_analysis::report::counts;
use instrument_analysis::report::diff::Sides;
use instrument_analysis::report::screen;
use instrument_analysis::report::summary::Summary;
use instrument_analysis::session::message::Weight;
use instrument_analysis::session::{Request, Session};
use instrument_messages::{Listener, usage};
use std::path::PathBuf;

/// The page of a comparison of runs before and after. `warnings`: of those of all runs.
///
/// # Errors
/// It is too large to be packed.
pub fn of_sides(sides: &Sides, files: [&[String]; 2], warnings: Vec<String>) -> Result<String> {
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
        own: Vec::new(),
    };
    html(&about.title, &Page::of_sides(&about, sides)?, false)
}

fn generator() -> String {
    format!("instrument {}", env!("CARGO_PKG_VERSION"))
}

/// Whether a page comes from a server, which answers questions.
#[derive(Debug, Clone, Copy)]
pub enum Served {
    /// It is a file.
    No,
    /// `has_code`: also questions for the code of methods.
    Yes {
        /// There is a class path.
        has_code: bool,
    },
}

/// The page of a session that was read for this request, with so many contexts at most.
///
/// # Errors
/// There is nothing to show, or it is too large to be packed.
pub fn of_session(
    session: &Session,
    sections: &Sections,
    request: &Request,
    contexts: usize,
    served: Served,
    listener: &dyn Listener,
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
    let given: Vec<String> =
        request.own.iter().flatten().filter(|pattern| *pattern != "auto").cloned().collect();
    let summary = Summary::new(session, &counts::Request::default(), &given)?;
    let mut facts = summary.facts()?;
    let own = request.own.clone().map(|own| if own.is_empty() { vec!["auto".to_owned()] } else { own });
    if let Some(own) = &own {
        facts.push(("only own code".to_owned(), own.join(" ")));
    }
    let own = own.unwrap_or_default();
    let about = About {
        title: title(session),
        files,
        facts,
        warnings: warnings(session),
        generator: generator(),
        is_live: is_served && session.profiles.iter().any(|profile| profile.is_live),
        has_code,
        since: names(&request.since),
        own,
    };
    let document = Page::new(&about, &session.model, &session.calls, contexts)?
        .with(sections)
        .with_overview(screen::overview(&summary)?);
    let left_out = sections.left_out();
    if !left_out.is_empty() {
        listener.note(format_args!("left out of the page: {}", left_out.join(", ")));
    }
    if let Some(left_out) = document.left_out() {
        listener.note(format_args!("{} small contexts are left out of the page", left_out.contexts));
    }
    html(&about.title, &document, is_served)
}

/// What a report says beside its figures, for whoever has the page and not the terminal.
pub fn warnings(session: &Session) -> Vec<String> {
    let of_files = session.messages.iter().filter(|message| message.weight == Weight::Warning);
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
        let mut writer = instrument_testing::Writer::new();
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
