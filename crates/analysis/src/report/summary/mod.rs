//! The summary of profiles: which program, when, how long, whether everything was recorded and adds up, and where the time went.

pub(super) mod recording;
pub(super) mod regions;
pub(crate) mod sampler;
pub(crate) mod twice;

use std::collections::BTreeSet;
use std::io::Write;

use serde_json::Value;

use super::counts::{self, Report};
use super::{Error, Format, Options, Sort, columns, xprof};
use crate::arcs::Arcs;
use crate::correction::{self, Correction};
use crate::invariants::{self, Checked};
use crate::model::{Kind, Window};
use crate::session::bursts::Recorded;
use crate::session::file::end_clock;
use crate::session::own::Own;
use crate::session::{self, ProfileFile, Session};
use crate::text::{date, percent, quantity, shown};
use crate::thread_time::{RUNNING, ThreadTime, WALL, counts_calls, is_sampled};
use crate::uncertainty::accompanies;
use instrument_names::printable::printable;
use instrument_trace::{LinkKind, Profile, ThreadKind};
use recording::Recording;

/// Methods that are printed unless asked for otherwise.
const TOP: usize = 20;
/// Of the program's own methods.
const OWN_TOP: usize = 12;

/// Columns for the name of a fact.
const NAME_WIDTH: usize = 11;

/// Of thread time, if it is not known which part was waiting.
const WAITS_UNKNOWN: &str = ", waits included: none were recorded";
/// Of running time: what else is in it.
const NOT_COUNTED: &str = "not counted: stacks were sampled, and nothing was rewritten";
const WAITS_NOT_SEEN: &str = "; waits inside calls into libraries count as running";

/// Of running time, if it is more than the processors had.
const STOOD_STILL: &str =
    "threads waited for a processor, a carrier thread, or the recorder; the profile does not say where";

/// What is known of a session before anything is printed: everything that the summary says, and the checks.
pub struct Summary<'a> {
    session: &'a Session,
    arcs: Arcs,
    /// Counts, and whether they balance.
    pub counts: Report,
    /// The equations between the figures.
    pub checked: Checked,
    own: Own,
}

impl<'a> Summary<'a> {
    /// `own`: patterns of the program's own methods; none: those of the archive that was run, if it says.
    ///
    /// # Errors
    /// A pattern that cannot be read.
    pub fn new(
        session: &'a Session,
        counts: &counts::Request,
        own: &[String],
    ) -> Result<Summary<'a>, session::Error> {
        let arcs = Arcs::new(&session.model);
        let checked = invariants::check(&session.model, &arcs);
        let counts = counts::gather(session, counts);
        let own = Own::new(own, &session.own_classes, &session.model, &session.profiles)?;
        Ok(Summary { session, arcs, counts, checked, own })
    }

    /// Whether the counts balance and the equations hold, as far as there are any.
    pub fn holds(&self) -> bool {
        (self.session.profiles.is_empty() || self.counts.balance.holds) && self.checked.violations.is_empty()
    }

    /// Patterns of the program's own methods that fit nothing.
    pub fn warnings(&self) -> &[String] {
        self.own.warnings()
    }

    /// What the first screen is made of.
    pub(super) fn parts(&self) -> (&Session, &Arcs, &Own) {
        (self.session, &self.arcs, &self.own)
    }

    /// Writes it as text. `top`: methods of each table.
    ///
    /// # Errors
    /// The output failed.
    pub fn write(&self, out: &mut dyn Write, top: Option<usize>, options: &Options<'_>) -> Result<(), Error> {
        let Summary { session, arcs, counts, checked, own } = self;
        let Session { model, profiles, .. } = session;
        if let Some(line) = model.correction.line() {
            writeln!(out, "{line}\n")?;
        }
        for file in profiles {
            about(out, file)?;
        }
        totals(out, session, arcs, Part::First)?;
        if !profiles.is_empty() && !counts.balance.holds {
            balance(out, counts)?;
        }
        for file in profiles {
            regions::write(out, file)?;
        }
        if own.is_there() {
            writeln!(out, "\nthe program's own methods: {}", printable(&own.patterns.join(" ")))?;
            let options = Options { top: Some(top.unwrap_or(OWN_TOP)), ..*options };
            own_methods(out, own, session, arcs, &options)?;
            writeln!(out, "\nall methods")?;
        } else {
            writeln!(out)?;
        }
        xprof::write(out, model, arcs, &Options { top: Some(top.unwrap_or(TOP)), ..*options })?;
        writeln!(out)?;
        for file in profiles {
            recorded(out, file, session)?;
        }
        summary(out, session, arcs, counts, checked)
    }

    /// Names and values as text has them, without its tables; what is no name and value has no name.
    ///
    /// # Errors
    /// None that is expected: writing into memory fails.
    pub fn facts(&self) -> Result<Vec<(String, String)>, Error> {
        let Summary { session, arcs, counts, checked, .. } = self;
        let mut text = Vec::new();
        for file in &session.profiles {
            about(&mut text, file)?;
        }
        totals(&mut text, session, arcs, Part::First)?;
        for file in &session.profiles {
            recorded(&mut text, file, session)?;
        }
        summary(&mut text, session, arcs, counts, checked)?;
        let line = |line: &str| {
            let split = line.split_at_checked(NAME_WIDTH).filter(|(_, value)| value.starts_with(' '));
            let (name, value) = split.unwrap_or(("", line));
            (name.trim().to_owned(), value.trim().to_owned())
        };
        Ok(String::from_utf8_lossy(&text).lines().map(line).collect())
    }

    /// Writes what profiles of counts have beside these: times of code regions, and what the programs ran and was left out, a line for each reason.
    /// Nothing, if there is none.
    ///
    /// # Errors
    /// The output failed.
    pub fn beside_counts(&self, out: &mut dyn Write) -> Result<(), Error> {
        for file in &self.session.profiles {
            sampler::write(out, file)?;
            regions::write(out, file)?;
        }
        Recording::of(self.session, &self.arcs).print_left_out(out)
    }

    /// Everything as one document: files, counts, their balance, invariants, code regions, and the flat profile.
    ///
    /// # Errors
    /// None that is expected: all of it can be a value.
    pub fn document(&self, top: Option<usize>) -> Result<Value, Error> {
        let Summary { session, arcs, counts, checked, own } = self;
        let mut document = serde_json::to_value(counts)?;
        let violations: Vec<_> = checked.violations.iter().map(ToString::to_string).collect();
        document["invariants"] = serde_json::json!({
            "hold": violations.is_empty(),
            "consumers": checked.consumers,
            "equations": checked.equations,
            "violations": violations,
        });
        document["recording"] = serde_json::to_value(Recording::of(session, arcs))?;
        let samplers = sampler::Sampler::all(session);
        if !samplers.is_empty() {
            document["samplers"] = serde_json::to_value(samplers)?;
        }
        let twice = twice::documents(session);
        if !twice.is_empty() {
            document["twice"] = serde_json::to_value(twice)?;
        }
        let regions: Vec<_> = session.profiles.iter().flat_map(regions::sums).collect();
        document["regions"] = serde_json::to_value(regions)?;
        document["overhead_ns"] = serde_json::json!(session.overhead.round() as u64);
        if let Some(correction) = session.model.correction.json() {
            document["correction"] = correction;
        }
        if let Some(there) = processor_time(session) {
            document["processor_time_ns"] = serde_json::json!(there.round() as u64);
        }
        if own.is_there() {
            document["own"] = serde_json::json!(own.patterns);
        }
        let options = Options { format: Format::Json, top, ..Options::default() };
        document["xprof"] = xprof::document(&session.model, arcs, &options)?;
        Ok(document)
    }
}

/// The table of the program's own methods: by cum, for their work is done by what they call.
fn own_methods(
    out: &mut dyn Write,
    own: &Own,
    session: &Session,
    arcs: &Arcs,
    options: &Options<'_>,
) -> Result<(), Error> {
    let select = |kind: Kind, name: &str| own.fits(kind, name);
    let (sort, select) = (Some(Sort::Cum), Some(&select as _));
    xprof::write(out, &session.model, arcs, &Options { sort, select, prune: 0.0, ..*options })
}

/// A line of the summary.
pub(crate) fn fact(out: &mut dyn Write, name: &str, value: &str) -> Result<(), Error> {
    Ok(writeln!(out, "{name:<NAME_WIDTH$} {}", printable(value))?)
}

fn program(out: &mut dyn Write, file: &ProfileFile) -> Result<(), Error> {
    fact(out, "program", &file.line())
}

/// The time of all processors while the programs ran, in ns; none: a profile does not say.
fn processor_time(session: &Session) -> Option<f64> {
    let of = |file: &ProfileFile| {
        let elapsed = end_clock(&file.profile).checked_sub(file.profile.start_clock)?;
        let window = file.window().map_or(elapsed, |window| window.length);
        Some(file.property("processors")?.parse::<u32>().ok()? as f64 * window as f64)
    };
    session.profiles.iter().map(of).sum()
}

/// Percent of the calls that were timed, if not all of them were.
fn timed_share(profile: &Profile) -> Option<f64> {
    let trees = profile.threads.iter().filter_map(|thread| thread.tree.as_ref()).filter(|tree| tree.sampled);
    let calls = trees.flat_map(|tree| &tree.nodes).filter(|node| node.consumer.method().is_some());
    let (timed, all) =
        calls.fold((0, 0), |(timed, all), node| (timed + node.timed, all + node.closes.total()));
    (all > 0).then(|| 100.0 * timed as f64 / all as f64)
}

/// Calls that were open when the recording began.
pub(super) fn ran_already(file: &ProfileFile) -> Option<String> {
    let profile = &file.profile;
    let running = profile.links.iter().filter(|link| link.kind == LinkKind::Running);
    let running = running.filter_map(|link| {
        let method = profile.copies.get(&link.copy)?.running_method(link.number)?;
        Some(shown(&file.names.method(link.copy, method)).into_owned())
    });
    let running: BTreeSet<String> = running.collect();
    let names = running.into_iter().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("{names}; what these calls did before is not recorded"))
}

/// More running time than there was.
pub(super) fn over_processors(session: &Session, arcs: &Arcs) -> Option<String> {
    let time = ThreadTime::of(&session.model).filter(|time| time.whole.is_some())?;
    let there = processor_time(session).filter(|there| arcs.total()[time.running] > *there)?;
    let there = quantity(there, &session.model.resources()[time.running].unit);
    Some(format!("more than the {there} of all processors: {STOOD_STILL}"))
}

/// What a profile says of its process.
fn about(out: &mut dyn Write, file: &ProfileFile) -> Result<(), Error> {
    let profile = &file.profile;
    program(out, file)?;
    let words = ["java.vm.name", "java.version", "os", "host"].map(|key| file.property(key));
    let words: Vec<_> = words.into_iter().flatten().collect();
    if !words.is_empty() {
        fact(out, "on", &words.join(", "))?;
    }
    let when = date(profile.start_ms).unwrap_or_default();
    let end = end_clock(profile);
    fact(out, "when", &when)?;
    if profile.start_clock > 0 && end > profile.start_clock {
        let how = match (file.is_live, profile.shutdown_clock) {
            (true, _) => " so far",
            (_, 0) => " to its last event; it did not shut down",
            _ => "",
        };
        let elapsed = quantity((end - profile.start_clock) as f64, "ns");
        fact(out, "elapsed", &format!("{elapsed}{how}"))?;
    }
    if let Some(text) = ran_already(file) {
        fact(out, "ran already", &text)?;
    }
    if let Some(Window { begin, length }) = file.window() {
        let time = |ns: u64| quantity(ns as f64, "ns");
        let window =
            format!("{} from {} after the start: all figures below are of it", time(length), time(begin));
        fact(out, "window", &window)?;
    }
    match file.dropped() {
        0 => Ok(()),
        events => fact(out, "dropped", &format!("{events} events: figures are too small by these")),
    }
}

/// When recording was off.
pub(super) fn interruptions(file: &ProfileFile) -> Option<(&'static str, String)> {
    match file.recorded()? {
        recorded @ Recorded { bursts: Some(bursts), .. } => {
            let [on, elapsed] = [recorded.on(), recorded.elapsed].map(|ns| quantity(ns as f64, "ns"));
            let bursts = printable(bursts);
            let text =
                format!("{bursts}: recording was on for {on} of {elapsed}; counts and times are of that");
            Some(("bursts", text))
        }
        Recorded { paused, pauses, .. } => {
            let pauses = if pauses == 1 { "one pause".to_owned() } else { format!("{pauses} pauses") };
            Some(("paused", format!("{} in {pauses}", quantity(paused as f64, "ns"))))
        }
    }
}

/// What it says of its recording.
fn recorded(out: &mut dyn Write, file: &ProfileFile, session: &Session) -> Result<(), Error> {
    let profile = &file.profile;
    if session.profiles.len() > 1 {
        program(out, file)?;
    }
    let mut how = file.property("record").unwrap_or("unknown").to_owned();
    if let Some(timing) = file.property("timing") {
        how += &format!(", timing {timing}");
        if let Some(share) = timed_share(profile) {
            how += &format!(" ({share:.1} % of the calls)");
        }
    }
    if let Some(cost) = profile.calibration().filter(|_| session.model.correction == Correction::Applied) {
        how += &format!(", {:.1} + {:.1} ns a call taken out", cost.inner, cost.outer);
    }
    if let Some(clock) = file.property("clock") {
        how += &format!(", clock {clock}");
        if let Some(error) = file.property("clock.error") {
            how += &format!(" within {error} ppm");
        }
        if let Some(drift) = correction::drift(profile) {
            how += &format!(", {} off at the end", quantity(drift.unsigned_abs() as f64, "ns"));
        }
    }
    fact(out, "recorded", &how)?;
    twice::write(out, file)?;
    sampler::write(out, file)?;
    if let Some((name, text)) = interruptions(file) {
        fact(out, name, &text)?;
    }
    let threads = profile.threads.iter().filter(|t| t.kind == ThreadKind::Thread).count();
    let ended = file.ended_threads();
    let mut all = (threads as u64).saturating_add(ended).to_string();
    if ended > 0 {
        all += &match file.property("record") {
            Some("samples") => "; those whose names differ in a number only are added up".to_owned(),
            _ => format!(
                "; {ended} of them had ended and are added up by pool: --keep-threads was {}, and 16 for virtual threads",
                file.property("limit.threads").unwrap_or("256")
            ),
        };
    }
    fact(out, "threads", &all)?;
    fact(out, "dropped", &format!("{} events", file.dropped()))
}

/// Which totals are printed: the first screen has the times that everybody wants, the end of the report the others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    First,
    Rest,
}

/// How much there is of each resource.
fn totals(out: &mut dyn Write, session: &Session, arcs: &Arcs, part: Part) -> Result<(), Error> {
    let model = &session.model;
    let time = ThreadTime::of(model);
    for (r, resource) in model.resources().iter().enumerate() {
        let is_first = r == 0 || time.is_some_and(|time| [time.running, time.waiting].contains(&r));
        let is_told = is_first == (part == Part::First) && (r == 0 || arcs.total()[r] != 0.0);
        // What the samples met is told with what made them, and what probes took with the overhead.
        let is_of_sampler =
            model.sampled_resource().is_some() && ["samples", "probes"].contains(&resource.name.as_str());
        if is_told && !is_of_sampler && !accompanies(resource) {
            let total = match time {
                // The error of the whole is hardly one of the waits: they are long.
                Some(time) if time.waiting == r => quantity(arcs.total()[r], &resource.unit),
                _ => columns::total(model, arcs.total(), r),
            };
            let whole = time.and_then(|time| time.whole).map_or(0.0, |whole| arcs.total()[whole]);
            let share = percent(arcs.total()[r], whole);
            match resource.name.as_str() {
                name if is_sampled(model) && name == RUNNING => {
                    fact(out, name, &format!("{total} of CPU time, without that of the probes"))?;
                }
                name if time.is_some_and(|time| time.waiting == r) && is_sampled(model) => {
                    let hint = format!("`instrument xprof --resource {name}` shows where");
                    fact(out, name, &format!("{total} in calls that block; {hint}"))?;
                }
                name if time.is_some_and(|time| time.running == r) => {
                    fact(out, name, &format!("{total}, {share} % of thread time{WAITS_NOT_SEEN}"))?;
                    if let Some(text) = over_processors(session, arcs) {
                        fact(out, "", &text)?;
                    }
                }
                name if time.is_some_and(|time| time.waiting == r) => {
                    let hint = format!("`instrument xprof --resource {name}` shows where");
                    fact(out, name, &format!("{total}, {share} % of thread time; {hint}"))?;
                }
                name if !session.profiles.is_empty() && (name == WALL || r == 0 && name == "wall-raw") => {
                    let waits = match time {
                        None if model.sampled_resource() == Some(r) => ", whether they ran or waited",
                        None => WAITS_UNKNOWN,
                        Some(_) => "",
                    };
                    let label = if name == WALL { "thread time" } else { name };
                    fact(out, label, &format!("{total} over all threads{waits}"))?;
                }
                name => fact(out, name, &total)?,
            }
        }
    }
    Ok(())
}

/// Whether the counts add up, and which do not.
fn balance(out: &mut dyn Write, counts: &Report) -> Result<(), Error> {
    writeln!(out, "{}", counts.balance.line())?;
    counts.balance.violations(out)
}

/// What was counted, what that cost, and whether it adds up.
fn summary(
    out: &mut dyn Write,
    session: &Session,
    arcs: &Arcs,
    counts: &Report,
    checked: &Checked,
) -> Result<(), Error> {
    let model = &session.model;
    let methods = arcs.functions().iter().filter(|f| f.kind == Kind::Method).count();
    let contexts = model.nodes().iter().filter(|node| node.kind == Kind::Method);
    let (contexts, calls) = contexts.fold((0u64, 0u64), |(c, n), node| (c + 1, n.saturating_add(node.n)));
    let is_counted = counts_calls(model);
    let contexts = format!("{contexts} contexts of {methods} {}", model.consumers);
    if is_counted {
        fact(out, &model.occurrences, &format!("{calls} in {contexts}"))?;
    } else {
        fact(out, &model.occurrences, NOT_COUNTED)?;
        fact(out, "stacks", &contexts)?;
    }
    totals(out, session, arcs, Part::Rest)?;
    let measured = model.resource("wall-raw").map_or(0.0, |r| arcs.total()[r]);
    Recording::of(session, arcs).print(out, measured)?;
    if !session.profiles.is_empty() && counts.balance.holds && is_counted {
        balance(out, counts)?;
    }
    if !checked.violations.is_empty() || !session.is_damaged() {
        writeln!(out, "{}", checked.line())?;
    }
    Ok(())
}
