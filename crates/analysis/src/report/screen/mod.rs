//! The first screen of `report`: what ran and how long, how far it is to be trusted, the program's own methods, the hottest path, and a
//! line for each kind of trouble that was recorded. A reader needs to know no word of this tool; everything else is in the summary.

mod findings;
mod methods;
mod overview;
mod path;
mod trust;

pub use overview::overview;

use std::io::Write;

use super::summary::recording::Recording;
use super::summary::{Summary, interruptions, over_processors, ran_already, regions};
use super::{Error, Options};
use crate::arcs::{Arcs, Function, FunctionId};
use crate::model::{Arcflow, Kind, NodeId};
use crate::session::own::Own;
use crate::session::{ProfileFile, Session};
use crate::text::{date, grouped, in_brief, percent, quantity, without_middle};
use crate::thread_time::ThreadTime;
use instrument_names::printable::printable;

/// Columns, unless the terminal has others.
const WIDTH: usize = 100;
/// Columns for the name of a fact.
const NAME_WIDTH: usize = 11;
/// Methods that are printed unless asked for otherwise.
const TOP: usize = 10;
/// Methods in the log of a build: with what they are, their header and what is left out, ten lines.
pub const BRIEF: usize = 7;
/// So many times the own methods that are called are worth a recording of these alone.
const LIBRARIES: usize = 5;
/// Programs that are named.
const PROGRAMS: usize = 5;

/// What the screen is written from.
struct Screen<'a> {
    session: &'a Session,
    model: &'a Arcflow,
    arcs: &'a Arcs,
    own: &'a Own,
    /// For each context the nearest of the program's own.
    nearest: Vec<Option<NodeId>>,
    width: Option<usize>,
}

/// Writes it. `top`: methods. Texts of other tools have the whole summary: they say nothing of a program.
///
/// # Errors
/// The output failed; what was recorded beside calls cannot be read.
pub fn write(
    out: &mut dyn Write,
    summary: &Summary<'_>,
    top: Option<usize>,
    options: &Options<'_>,
) -> Result<(), Error> {
    let (session, ..) = summary.parts();
    if session.profiles.is_empty() {
        return summary.write(out, top, options);
    }
    let model = &session.model;
    let screen = Screen { width: options.width.or(Some(WIDTH)), ..Screen::new(summary) };
    if let Some(line) = model.correction.line() {
        writeln!(out, "{line}\n")?;
    }
    screen.programs(out)?;
    trust::write(&screen, out, summary)?;
    writeln!(out)?;
    methods::write(&screen, out, top.unwrap_or(TOP), options)?;
    for file in &session.profiles {
        regions::write(out, file)?;
    }
    writeln!(out)?;
    if let Some(path) = path::hottest(&screen) {
        screen.paragraph(out, "hottest", &path)?;
    }
    for finding in findings::all(&screen)? {
        screen.paragraph(out, finding.name, &finding.text)?;
    }
    let left_out = Recording::of(session, screen.arcs).left_out_in_brief();
    if !left_out.is_empty() {
        screen.paragraph(out, "left out", &format!("{}; report -v says why", left_out.join(", ")))?;
    }
    if let Some(text) = screen.narrower() {
        screen.paragraph(out, "faster", &text)?;
    }
    screen.more(out)
}

/// Writes the table of the program's own methods, and nothing else. `top`: as of [`write`].
///
/// # Errors
/// The output failed.
pub fn methods_alone(
    out: &mut dyn Write,
    summary: &Summary<'_>,
    top: Option<usize>,
    options: &Options<'_>,
) -> Result<(), Error> {
    let screen = Screen { width: options.width.or(Some(WIDTH)), ..Screen::new(summary) };
    methods::write(&screen, out, top.unwrap_or(TOP), options)
}

impl<'a> Screen<'a> {
    fn new(summary: &'a Summary<'_>) -> Screen<'a> {
        let (session, arcs, own) = summary.parts();
        let model = &session.model;
        Screen { session, model, arcs, own, nearest: own.nearest(model), width: None }
    }

    /// Columns for a fact.
    fn room(&self) -> usize {
        self.width.map_or(usize::MAX, |width| width.saturating_sub(NAME_WIDTH + 1).max(20))
    }

    /// A fact, whose lines are no longer than the screen is wide.
    fn paragraph(&self, out: &mut dyn Write, name: &str, text: &str) -> Result<(), Error> {
        let text = printable(text);
        let room = self.room();
        for (i, line) in wrapped(&text, room).into_iter().enumerate() {
            writeln!(out, "{:<NAME_WIDTH$} {line}", if i == 0 { name } else { "" })?;
        }
        Ok(())
    }

    fn programs(&self, out: &mut dyn Write) -> Result<(), Error> {
        let files = &self.session.profiles;
        for file in files.iter().take(PROGRAMS) {
            let room = self.room();
            self.paragraph(out, "program", &without_middle(&file.line(), room))?;
            self.paragraph(out, "ran", &ran(file))?;
            if let Some(text) = ran_already(file) {
                self.paragraph(out, "ran already", &text)?;
            }
            if let Some((name, text)) = interruptions(file) {
                self.paragraph(out, name, &text)?;
            }
            if let Some(window) = file.window() {
                let [length, begin] = [window.length, window.begin].map(|ns| quantity(ns as f64, "ns"));
                let text = format!("{length} from {begin} after the start: all figures below are of it");
                self.paragraph(out, "window", &text)?;
            }
        }
        if let Some(more) = files.len().checked_sub(PROGRAMS).filter(|&more| more > 0) {
            self.paragraph(out, "", &format!("and {more} programs more"))?;
        }
        if let Some(times) = self.times() {
            self.paragraph(out, if self.are_times() { "time" } else { "counted" }, &times)?;
        }
        if let Some(text) = over_processors(self.session, self.arcs) {
            self.paragraph(out, "", &text)?;
        }
        Ok(())
    }

    /// How long all threads together ran and waited.
    fn times(&self) -> Option<String> {
        let total = self.arcs.total();
        let of = |r: usize| quantity(total[r], &self.model.resources()[r].unit);
        match ThreadTime::of(self.model) {
            Some(time) => {
                let waiting = (total[time.waiting] > 0.0).then(|| format!(", waiting {}", of(time.waiting)));
                Some(format!(
                    "running {}{}, all threads together",
                    of(time.running),
                    waiting.unwrap_or_default()
                ))
            }
            None => self.resource().map(|r| {
                let name = &self.model.resources()[r].name;
                let waits = match self.are_times() {
                    true if self.model.sampled_resource() == Some(r) => ", whether they ran or waited",
                    true => "; when they waited was not recorded",
                    false => "",
                };
                format!("{name} {}, all threads together{waits}", of(r))
            }),
        }
    }

    /// Whether the figures are times, and not events that were sampled.
    fn are_times(&self) -> bool {
        self.resource().is_none_or(|r| {
            self.model.resources()[r].unit == "ns" || self.model.sampled_resource() != Some(r)
        })
    }

    /// The resource of the times, if there is one: running time, or what is first.
    fn resource(&self) -> Option<usize> {
        let running = ThreadTime::of(self.model).map(|time| time.running);
        running.or((!self.model.resources().is_empty()).then_some(0))
    }

    /// A method as a sentence has it: class and name.
    fn brief(&self, function: FunctionId) -> String {
        in_brief(self.model.name(self.arcs.function(function).consumer))
    }

    /// How to record the program's own code only, where libraries are most of what was recorded.
    fn narrower(&self) -> Option<String> {
        let methods = self.arcs.functions().iter().filter(|function| function.kind == Kind::Method);
        let is_own = |function: &&Function| self.own.fits(function.kind, self.model.name(function.consumer));
        let (all, own) = (methods.clone().count(), methods.filter(is_own).count());
        let is_known = !self.own.patterns.is_empty() && own > 0;
        let patterns = self.own.patterns.iter().map(|pattern| format!("--include '{pattern}'"));
        (is_known && all >= LIBRARIES * own).then(|| {
            let patterns: Vec<_> = patterns.collect();
            format!("{} records own code only, and costs less", patterns.join(" "))
        })
    }

    /// Which commands show more.
    fn more(&self, out: &mut dyn Write) -> Result<(), Error> {
        let file = match &self.session.profiles[..] {
            [file] => file.path.display().to_string(),
            _ => "FILE..".to_owned(),
        };
        let text = format!(
            "instrument xtree {file}: who called whom; xprof: all methods; view: in a browser; report -v: how it was recorded"
        );
        self.paragraph(out, "more", &text)
    }
}

/// ns from the start of a program to its end, or to the last that is known of it.
fn elapsed(file: &ProfileFile) -> Option<u64> {
    let start = file.profile.start_clock;
    let end = crate::session::file::end_clock(&file.profile);
    (start > 0 && end > start).then(|| end - start)
}

/// Threads of a program, those that ended too.
pub(crate) fn threads(file: &ProfileFile) -> u64 {
    let threads = file.profile.threads.iter().filter(|t| t.kind == instrument_trace::ThreadKind::Thread);
    (threads.count() as u64).saturating_add(file.ended_threads())
}

/// How long a program ran, and when.
fn ran(file: &ProfileFile) -> String {
    let profile = &file.profile;
    let elapsed = elapsed(file).map_or_else(|| "unknown".to_owned(), |ns| quantity(ns as f64, "ns"));
    let how = match (file.is_live, profile.shutdown_clock) {
        (true, _) => " so far",
        (_, 0) => " to its last event; IT DID NOT SHUT DOWN",
        _ => "",
    };
    let start = date(profile.start_ms).map_or_else(String::new, |date| format!(" from {date}"));
    let java = file.property("java.version").map_or_else(String::new, |java| format!(" on Java {java}"));
    let threads = threads(file);
    let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{} threads", grouped(threads)) };
    format!("{elapsed}{how}{start}{java}, {threads}")
}

/// The text in lines of at most `room` characters, cut at blanks; a word may be longer.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        let length = line.chars().count();
        if length > 0 && length + 1 + word.chars().count() > room {
            lines.push(without_middle(word, room));
        } else {
            if length > 0 {
                line.push(' ');
            }
            *line += &without_middle(word, room);
        }
    }
    lines
}

/// `40 %`, or `0.4 %`; what is more than nothing is never `0 %`.
fn share(value: f64, whole: f64) -> String {
    format!("{} %", percent(value, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_have_lines_that_fit() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one", 7), ["one"]);
        assert_eq!(wrapped("a abcdefghijk", 6), ["a", "ab\u{2026}ijk"]);
    }
}
