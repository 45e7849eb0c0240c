//! `instrument report`: what a newcomer wants to know of profiles: which program, when, how long, whether everything was recorded and adds
//! up, and where the time went. Profiles without contexts have a table of counts instead.
//!
//! The results go to stdout, remarks about the files to stderr.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::time::{Duration, UNIX_EPOCH};

use crate::counts::{self, Report};
use crate::exit::{Exit, usage};
use crate::lookup::{self, Methods};
use crate::recording::Recording;
use crate::subject::{self, ProfileFile, Subject};
use crate::talk::Talk;
use crate::view::{self, Print};
use anyhow::Result;
use instrument_analysis::arcs::Arcs;
use instrument_analysis::correction::Correction;
use instrument_analysis::invariants::{self, Checked};
use instrument_analysis::report::text::{percent, quantity};
use instrument_analysis::report::{Options, Sort, xprof};
use instrument_analysis::thread_time::ThreadTime;
use instrument_analysis::uncertainty::accompanies;
use instrument_analysis::{Kind, Window};
use instrument_names::printable::printable;
use instrument_trace::{NO_MIN, Pause, Profile, ThreadKind};

/// Methods that are printed unless --top says otherwise.
const TOP: usize = 20;
/// Of the program's own methods.
const OWN_TOP: usize = 12;

/// Of thread time, if it is not known which part was waiting.
const WAITS_UNKNOWN: &str = ", waits included: none were recorded";
/// Of running time: what else is in it.
const WAITS_NOT_SEEN: &str = "; waits inside calls into libraries count as running";

/// Print what profiles tell: which program, how long, where the time went, and whether everything adds up
///
/// Profiles of counts give a table of counts. The law: entries = exits + unwinds + orphans + lost + open, for every method and context.
/// Exit code 1 if it is broken. Texts of others (events, folded stacks, call trees) are reported on as well.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    subject: subject::Opts,
    /// Print the table of counts, whatever was recorded
    #[arg(long)]
    counts: bool,
    #[command(flatten)]
    table: counts::Opts,
    /// The program's own methods, which get a table of their own before that of all methods [default: of a Spring Boot archive, the
    /// package of its Start-Class]
    #[arg(long, value_name = "PATTERN")]
    own: Vec<String>,
    /// Columns to print in; 0: as many as it takes [default: those of the terminal]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Print everything as one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the table of counts as CSV
    #[arg(long)]
    csv: bool,
}

/// Prints the report to standard output. A violated law or invariant is exit code 1.
///
/// # Errors
/// A file that cannot be read or understood.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let subject = Subject::read(&opts.subject, false, talk)?;
    let counts = counts::gather(&subject.profiles, &opts.table, opts.subject.splits_threads());
    let arcs = Arcs::new(&subject.model);
    let checked = invariants::check(&subject.model, &arcs);
    let wants_table = opts.counts || opts.csv || opts.table.threads || opts.table.allocations;
    if subject.profiles.is_empty() && wants_table {
        return Err(usage("only profiles have counts"));
    }
    let own = Own::new(opts, &subject, talk)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let holds = (subject.profiles.is_empty() || counts.law.holds) && checked.violations.is_empty();
    if opts.json {
        document(&mut out, opts, &subject, own.as_ref(), &arcs, &counts, &checked)?;
    } else if opts.csv {
        counts.csv(&opts.table, &mut out)?;
        talk.note(format_args!("{}", counts.law.line()));
    } else if wants_table
        || (!subject.profiles.is_empty() && !subject.profiles.iter().any(ProfileFile::has_trees))
    {
        counts.tables(&opts.table, &mut out)?;
        counts.law.print(&mut out)?;
    } else {
        if let Some(line) = subject.model.correction.line() {
            writeln!(out, "{line}\n")?;
        }
        for file in &subject.profiles {
            about(&mut out, file)?;
        }
        totals(&mut out, &subject, &arcs, Part::First)?;
        if !subject.profiles.is_empty() && !counts.law.holds {
            law(&mut out, &counts)?;
        }
        for file in &subject.profiles {
            regions(&mut out, file)?;
        }
        if let Some(own) = &own {
            writeln!(out, "\nthe program's own methods: {}", printable(&own.patterns.join(" ")))?;
            own.write(&mut out, opts, &subject, &arcs)?;
            writeln!(out, "\nall methods")?;
        } else {
            writeln!(out)?;
        }
        print(opts).with(None, &Methods::default(), |options| {
            xprof::write(&mut out, &subject.model, &arcs, options)
        })?;
        writeln!(out)?;
        for file in &subject.profiles {
            recorded(&mut out, file, &subject)?;
        }
        summary(&mut out, &subject, &arcs, &counts, &checked)?;
    }
    out.flush()?;
    view::say(&checked, talk);
    let exit = if holds { Exit::Done } else { Exit::Negative };
    Ok(lookup::say(&subject.warnings, subject.strict, exit, talk))
}

fn print(opts: &Opts) -> Print {
    Print { top: Some(opts.table.top.unwrap_or(TOP)), width: opts.width, ..Print::default() }
}

/// The program's own methods among those of the libraries that are recorded as well: by cum, for their work is done by what they call.
struct Own {
    patterns: Vec<String>,
    methods: Methods,
}

impl Own {
    /// None: it is not known which they are, or there is none.
    fn new(opts: &Opts, subject: &Subject, talk: &Talk) -> Result<Option<Own>> {
        let mut patterns = opts.own.clone();
        if patterns.is_empty() {
            let start = subject.profiles.iter().filter_map(|file| file.property("start-class"));
            let packages = start.filter_map(|class| class.rsplit_once('.'));
            patterns = packages.map(|(package, _)| format!("{package}.**")).collect();
            patterns.sort();
            patterns.dedup();
        }
        let methods = Methods::new("--own", &patterns, &lookup::method_names(&subject.model))?;
        if !opts.own.is_empty() {
            lookup::say(&methods.warnings, false, Exit::Done, talk);
        }
        let is_there = !methods.is_empty() && !methods.fit_nothing();
        Ok(is_there.then_some(Own { patterns, methods }))
    }

    fn write(&self, out: &mut dyn Write, opts: &Opts, subject: &Subject, arcs: &Arcs) -> Result<()> {
        // Classes that were generated for the program's have `$$` in their names.
        let is_generated = |name: &str| name.split('(').next().is_some_and(|name| name.contains("$$"));
        let select =
            |kind: Kind, name: &str| kind == Kind::Method && self.methods.fits(name) && !is_generated(name);
        print(opts).with(None, &Methods::default(), |options| {
            let top = Some(opts.table.top.unwrap_or(OWN_TOP));
            let (sort, select) = (Some(Sort::Cum), Some(&select as _));
            xprof::write(out, &subject.model, arcs, &Options { top, sort, select, prune: 0.0, ..*options })
        })
    }
}

/// A line of the summary.
pub(crate) fn fact(out: &mut dyn Write, name: &str, value: &str) -> Result<()> {
    Ok(writeln!(out, "{name:<11} {}", printable(value))?)
}

fn program(out: &mut dyn Write, file: &ProfileFile) -> Result<()> {
    let command = file.property("command").unwrap_or("unknown");
    fact(out, "program", &format!("{command} (pid {})", file.profile.pid))
}

/// The clock at the last that a profile tells of.
fn end_clock(profile: &Profile) -> u64 {
    let last = profile.threads.iter().map(|t| t.last_event.max(t.end)).max().unwrap_or(0);
    last.max(profile.beat_clock).max(profile.shutdown_clock)
}

/// Percent of the calls that were timed, if not all of them were.
fn timed_share(profile: &Profile) -> Option<f64> {
    let trees = profile.threads.iter().filter_map(|thread| thread.tree.as_ref()).filter(|tree| tree.sampled);
    let calls = trees.flat_map(|tree| &tree.nodes).filter(|node| node.consumer.method().is_some());
    let (timed, all) =
        calls.fold((0, 0), |(timed, all), node| (timed + node.timed, all + node.closes.total()));
    (all > 0).then(|| 100.0 * timed as f64 / all as f64)
}

/// What a profile says of its process.
fn about(out: &mut dyn Write, file: &ProfileFile) -> Result<()> {
    let profile = &file.profile;
    program(out, file)?;
    let words = ["java.vm.name", "java.version", "os", "host"].map(|key| file.property(key));
    let words: Vec<_> = words.into_iter().flatten().collect();
    if !words.is_empty() {
        fact(out, "on", &words.join(", "))?;
    }
    let start = UNIX_EPOCH.checked_add(Duration::from_millis(profile.start_ms));
    let when = start.map_or_else(String::new, |start| humantime::format_rfc3339_seconds(start).to_string());
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

/// What it says of its recording.
fn recorded(out: &mut dyn Write, file: &ProfileFile, subject: &Subject) -> Result<()> {
    let profile = &file.profile;
    if subject.profiles.len() > 1 {
        program(out, file)?;
    }
    let mut how = file.property("record").unwrap_or("unknown").to_owned();
    if let Some(timing) = file.property("timing") {
        how += &format!(", timing {timing}");
        if let Some(share) = timed_share(profile) {
            how += &format!(" ({share:.1} % of the calls)");
        }
    }
    if let Some(cost) = profile.calibration().filter(|_| subject.model.correction == Correction::Applied) {
        how += &format!(", {:.1} + {:.1} ns a call taken out", cost.inner, cost.outer);
    }
    if let Some(clock) = file.property("clock") {
        how += &format!(", clock {clock}");
        if let Some(error) = file.property("clock.error") {
            how += &format!(" within {error} ppm");
        }
        if let Some(drift) = file.property("clock.drift").and_then(|ns| ns.parse::<i64>().ok()) {
            how += &format!(", {} off at the end", quantity(drift.unsigned_abs() as f64, "ns"));
        }
    }
    fact(out, "recorded", &how)?;
    if !profile.pauses.is_empty() {
        // One that did not end goes on to the end.
        let end = end_clock(profile);
        let length = |pause: &Pause| if pause.end == 0 { end } else { pause.end }.saturating_sub(pause.start);
        let sum = profile.pauses.iter().map(length).fold(0u64, u64::saturating_add);
        let pauses = profile.pauses.len();
        let pauses = if pauses == 1 { "one pause".to_owned() } else { format!("{pauses} pauses") };
        fact(out, "paused", &format!("{} in {pauses}", quantity(sum as f64, "ns")))?;
    }
    let threads = profile.threads.iter().filter(|t| t.kind == ThreadKind::Thread).count();
    let ended = file.ended_threads();
    let mut all = (threads as u64).saturating_add(ended).to_string();
    if ended > 0 {
        all += &format!(
            "; {ended} of them had ended and are added up by pool: --keep-threads was {}, and 16 for virtual threads",
            file.property("limit.threads").unwrap_or("256")
        );
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
fn totals(out: &mut dyn Write, subject: &Subject, arcs: &Arcs, part: Part) -> Result<()> {
    let model = &subject.model;
    let time = ThreadTime::of(model);
    for (r, resource) in model.resources().iter().enumerate() {
        let is_first = r == 0 || time.is_some_and(|time| [time.running, time.waiting].contains(&r));
        let is_told = is_first == (part == Part::First) && (r == 0 || arcs.total()[r] != 0.0);
        if is_told && !accompanies(resource) {
            let total = quantity(arcs.total()[r], &resource.unit);
            let whole = time.map_or(0.0, |time| arcs.total()[time.whole]);
            let share = percent(arcs.total()[r], whole);
            match resource.name.as_str() {
                name if time.is_some_and(|time| time.running == r) => {
                    fact(out, name, &format!("{total}, {share} % of thread time{WAITS_NOT_SEEN}"))?;
                }
                name if time.is_some_and(|time| time.waiting == r) => {
                    let hint = format!("`instrument xprof --resource {name}` shows where");
                    fact(out, name, &format!("{total}, {share} % of thread time; {hint}"))?;
                }
                name if !subject.profiles.is_empty() && (name == "wall" || r == 0 && name == "wall-raw") => {
                    let unknown = if time.is_some() { "" } else { WAITS_UNKNOWN };
                    let label = if name == "wall" { "thread time" } else { name };
                    fact(out, label, &format!("{total} over all threads{unknown}"))?;
                }
                name => fact(out, name, &total)?,
            }
        }
    }
    Ok(())
}

/// Whether the counts add up, and which do not.
fn law(out: &mut dyn Write, counts: &Report) -> Result<()> {
    writeln!(out, "{}", counts.law.line())?;
    counts.law.violations(out)
}

/// What was counted, what that cost, and whether it adds up.
fn summary(
    out: &mut dyn Write,
    subject: &Subject,
    arcs: &Arcs,
    counts: &Report,
    checked: &Checked,
) -> Result<()> {
    let model = &subject.model;
    let methods = arcs.functions().iter().filter(|f| f.kind == Kind::Method).count();
    let contexts = model.nodes().iter().filter(|node| node.kind == Kind::Method);
    let (contexts, calls) = contexts.fold((0u64, 0u64), |(c, n), node| (c + 1, n.saturating_add(node.n)));
    fact(
        out,
        &model.occurrences,
        &format!("{calls} in {contexts} contexts of {methods} {}", model.consumers),
    )?;
    totals(out, subject, arcs, Part::Rest)?;
    let measured = model.resource("wall-raw").map_or(0.0, |r| arcs.total()[r]);
    Recording::of(subject, arcs).print(out, measured)?;
    if !subject.profiles.is_empty() && counts.law.holds {
        law(out, counts)?;
    }
    writeln!(out, "{}", view::line(checked))?;
    Ok(())
}

/// Timings of code regions, over all threads.
fn regions(out: &mut dyn Write, file: &ProfileFile) -> Result<()> {
    let mut sums: BTreeMap<String, (u64, u64, u64, u64, u64)> = BTreeMap::new();
    for timing in &file.profile.regions {
        let copy = file.profile.copies.get(&timing.copy);
        let name = copy.and_then(|copy| copy.region_name(timing.number));
        let name = name.map_or_else(|| format!("region {}", timing.number), str::to_owned);
        let sum = sums.entry(name).or_insert((0, 0, NO_MIN, 0, 0));
        sum.0 = sum.0.saturating_add(timing.passages);
        sum.1 = sum.1.saturating_add(timing.ns);
        sum.2 = sum.2.min(timing.min);
        sum.3 = sum.3.max(timing.max);
        sum.4 = sum.4.saturating_add(timing.left_otherwise);
    }
    if !sums.is_empty() {
        writeln!(
            out,
            "\n{:>10}  {:>8}  {:>8}  {:>8}  {:>8}  region",
            "passages", "total", "min", "max", "average"
        )?;
    }
    for (name, (passages, ns, min, max, otherwise)) in sums {
        let time = |ns: u64| quantity(ns as f64, "ns");
        let average = ns.checked_div(passages).map_or_else(|| "-".into(), time);
        let min = if min == NO_MIN { "-".into() } else { time(min) };
        let left = if otherwise > 0 { format!(" (left otherwise {otherwise} times)") } else { String::new() };
        let name = printable(&name);
        let (total, max) = (time(ns), time(max));
        writeln!(out, "{passages:>10}  {total:>8}  {min:>8}  {max:>8}  {average:>8}  {name}{left}")?;
    }
    Ok(())
}

/// Everything: files, counts, law, invariants, and the flat profile.
fn document(
    out: &mut dyn Write,
    opts: &Opts,
    subject: &Subject,
    own: Option<&Own>,
    arcs: &Arcs,
    counts: &Report,
    checked: &Checked,
) -> Result<()> {
    let mut document = serde_json::to_value(counts)?;
    let violations: Vec<_> = checked.violations.iter().map(ToString::to_string).collect();
    document["invariants"] = serde_json::json!({
        "hold": violations.is_empty(),
        "consumers": checked.consumers,
        "equations": checked.equations,
        "violations": violations,
    });
    document["recording"] = serde_json::to_value(Recording::of(subject, arcs))?;
    document["overhead_ns"] = serde_json::json!(subject.overhead.round() as u64);
    if let Some(correction) = subject.model.correction.json() {
        document["correction"] = correction;
    }
    if let Some(own) = own {
        document["own"] = serde_json::json!(own.patterns);
    }
    let mut profile = Vec::new();
    let print = Print { json: true, top: opts.table.top, ..Print::default() };
    print.with(None, &Methods::default(), |options: &Options<'_>| {
        xprof::write(&mut profile, &subject.model, arcs, options)
    })?;
    document["xprof"] = serde_json::from_slice(&profile)?;
    serde_json::to_writer_pretty(&mut *out, &document)?;
    Ok(writeln!(out)?)
}
