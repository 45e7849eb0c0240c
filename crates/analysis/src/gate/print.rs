//! The outcome of a check: text for people, Markdown for a pull request, JSON for programs, JUnit XML for a build
//! server.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use instrument_names::markdown;
use instrument_names::printable::printable;
use instrument_names::signature::{brief, parts};
use serde_json::json;

use super::figure::Figure;
use super::outcome::{Finding, Outcome, Remark};
use super::run::is_method;
use crate::junit::{self, Case, Suite};
use crate::text::{grouped, plural};

/// How an outcome is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For a pull request.
    Markdown,
    /// One document.
    Json,
    /// JUnit XML: what fails is a test case that fails.
    Junit,
}

/// Remarks of each kind in texts.
const REMARKS: usize = 5;
/// Methods of a path in texts; of longer ones the outermost are left out.
const PATH: usize = 12;

/// Short names, as `OrderService#list`: with parameters where two methods would have one name, and packages where that
/// is not enough.
pub(super) struct Labels {
    labels: BTreeMap<String, String>,
    /// How a name is quoted in a sentence.
    quote: fn(&str) -> String,
}

impl Labels {
    pub(super) fn new(outcome: &Outcome, format: Format) -> Labels {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for finding in &outcome.findings {
            names.insert(&finding.method);
            names.extend(finding.place.as_deref());
            names.extend(finding.from.iter().map(|(name, _)| name.as_str()));
            names.extend(finding.path.iter().map(String::as_str));
            names.extend(finding.growth.iter().map(|growth| growth.with.as_str()));
        }
        let remarks = [&outcome.smaller, &outcome.beyond, &outcome.ordering, &outcome.unsteady].into_iter();
        names.extend(remarks.flat_map(|(remarks, _)| remarks).map(|remark| remark.method.as_str()));
        let mut labels: BTreeMap<String, String> = BTreeMap::new();
        for form in [short, with_parameters, whole] {
            let open: Vec<&str> = names.iter().copied().filter(|name| !labels.contains_key(*name)).collect();
            let mut count: BTreeMap<String, usize> = BTreeMap::new();
            names.iter().for_each(|name| *count.entry(form(name)).or_default() += 1);
            for name in open {
                let label = form(name);
                if count[&label] == 1 {
                    labels.insert(name.to_owned(), label);
                }
            }
        }
        let quote = match format {
            Format::Markdown => markdown::code,
            _ => |name: &str| format!("`{}`", printable(name)),
        };
        Labels { labels, quote }
    }

    pub(super) fn of<'n>(&'n self, name: &'n str) -> Cow<'n, str> {
        printable(self.labels.get(name).map_or(name, String::as_str))
    }

    fn quoted(&self, name: &str) -> String {
        (self.quote)(self.labels.get(name).map_or(name, String::as_str))
    }
}

/// `com.acme.Shop.price(I)V` as `Shop#price`.
fn short(name: &str) -> String {
    let (class, method, _) = parts(name);
    if !is_method(name) || method.is_empty() {
        return name.to_owned();
    }
    let class = class.rsplit('.').next().unwrap_or(class);
    let call = if name.starts_with("call ") && !class.starts_with("call ") { "call " } else { "" };
    if class.is_empty() { method.to_owned() } else { format!("{call}{class}#{method}") }
}

fn with_parameters(name: &str) -> String {
    match brief(name).as_deref().and_then(|brief| brief.split_once('(')) {
        Some((_, parameters)) if is_method(name) => format!("{}({parameters}", short(name)),
        _ => name.to_owned(),
    }
}

fn whole(name: &str) -> String {
    name.to_owned()
}

fn number(range: super::figure::Range) -> String {
    match range.value() {
        Some(value) => grouped(value),
        None => format!("{} to {}", grouped(range.min), grouped(range.max)),
    }
}

/// `<= 1` as `at most 1 is`.
fn in_words(limit: &str) -> String {
    let (comparison, value) = limit.split_once(' ').unwrap_or(("", limit));
    let verb = if value.split(' ').next() == Some("1") { "is" } else { "are" };
    let word = match comparison {
        "<=" => "at most",
        "<" => "fewer than",
        "==" => "exactly",
        ">=" => "at least",
        _ => "more than",
    };
    format!("{word} {value} {verb}")
}

/// What a finding says in one sentence, names in backticks.
pub(super) fn sentence(finding: &Finding, labels: &Labels) -> String {
    let name = |name: &str| labels.quoted(name);
    let method = name(&finding.method);
    let now = number(finding.now);
    let was = match (&finding.allowed, finding.before) {
        (Some(allowed), _) => format!("; {} allowed", in_words(allowed)),
        (None, before) => format!(", was {}", grouped(before.unwrap_or(0))),
    };
    let adverb = if finding.allowed.is_some() { "" } else { "now " };
    let times = if now == "1" { "once".to_owned() } else { format!("{now} times") };
    let mut text = match (finding.figure, &finding.place) {
        (Figure::Calls, Some(place)) => format!("{} {adverb}calls {method} {times}{was}", name(place)),
        (Figure::Calls, None) => format!("{method} is {adverb}called {times}{was}"),
        (figure, place) => {
            let what = match figure {
                Figure::Allocations => "objects",
                Figure::Bytes => "bytes of objects",
                Figure::Remote => "remote calls",
                Figure::Bytecodes => "bytecodes",
                Figure::Calls => "calls",
            };
            let verb = match figure {
                Figure::Bytecodes => "executes",
                _ => "makes",
            };
            let within = match place {
                Some(place) if *place != finding.method => format!(" below {}", name(place)),
                _ => String::new(),
            };
            format!("{method}{within} {adverb}{verb} {now} {what}{was}")
        }
    };
    let more = if finding.allowed.is_some() { "" } else { "more " };
    for (i, (caller, count)) in finding.from.iter().take(2).enumerate() {
        let caller = if caller.is_empty() { "the program's start".to_owned() } else { name(caller) };
        let start = if i == 0 { "; " } else { ", " };
        let count = grouped(*count);
        let come = if i == 0 { if count == "1" { "comes " } else { "come " } } else { "" };
        text += &format!("{start}{count} {}{come}from {caller}", if i == 0 { more } else { "" });
    }
    text
}

/// What calls grow with.
fn growth(finding: &Finding, labels: &Labels) -> Option<String> {
    let growth = finding.growth.as_ref()?;
    let (with, calls) = (labels.quoted(&growth.with), grouped(growth.calls));
    let figure = if finding.figure == Figure::Calls { "calls" } else { finding.figure.word() };
    Some(if growth.quadratic {
        format!("quadratic: {figure} grow with the square of the {calls} calls of {with}")
    } else if growth.caller && !growth.in_loop && finding.place.as_deref() == Some(&growth.with) {
        format!("{figure} grow with the calls of {with}: {} for each of {calls}", grouped(growth.each))
    } else {
        format!("N+1: {figure} grow with the calls of {with}: {} for each of {calls}", grouped(growth.each))
    })
}

fn path(finding: &Finding, labels: &Labels) -> Option<String> {
    let left_out = finding.path.len().saturating_sub(PATH);
    let start = if left_out > 0 { ".. > " } else { "" };
    let names: Vec<_> = finding.path[left_out..].iter().map(|name| labels.of(name)).collect();
    (finding.path.len() > 1).then(|| format!("{start}{}", names.join(" > ")))
}

/// What stands below a sentence.
pub(super) fn details(finding: &Finding, labels: &Labels) -> Vec<String> {
    let mut lines: Vec<String> = growth(finding, labels).into_iter().collect();
    lines.extend(path(finding, labels).map(|path| format!("in {path}")));
    match finding.consequences {
        0 => {}
        1 => lines.push("1 method below it is called more often, too".into()),
        n => lines.push(format!("{} methods below it are called more often, too", grouped(n as u64))),
    }
    lines
}

/// What was judged, in a sentence.
fn judged(outcome: &Outcome) -> String {
    let mut parts = Vec::new();
    if outcome.runs.1 > 0 {
        let (stable, all) = outcome.stable_calls;
        // Rounded down: all is all.
        let share = if all == 0 { 100.0 } else { (stable as f64 / all as f64 * 10_000.0).floor() / 100.0 };
        parts.push(format!(
            "{} of {} judged, with {share} % of the calls; learned from {}",
            plural(outcome.methods.0, "method"),
            grouped((outcome.methods.0 + outcome.methods.1) as u64),
            plural(outcome.runs.1 as usize, "run")
        ));
    }
    if outcome.budgets > 0 {
        parts.push(format!("{} checked", plural(outcome.budgets, "budget")));
    }
    if outcome.new_methods > 0 {
        parts.push(format!("{} not in the baseline", plural(outcome.new_methods, "method")));
    }
    parts.join("; ")
}

fn remarks(outcome: &Outcome, labels: &Labels) -> Vec<String> {
    let mut lines = Vec::new();
    let kinds = [
        (&outcome.beyond, "moved before (not judged) and went far beyond it now"),
        (
            &outcome.ordering,
            "of comparisons or what they call grew by no more than the order of a table explains; not judged",
        ),
        (&outcome.unsteady, "did not move before, and differ among the runs that were checked; not judged"),
        (&outcome.smaller, "became smaller; `instrument gate bless` keeps them so"),
    ];
    for ((remarks, count), text) in kinds {
        if *count == 0 {
            continue;
        }
        lines.push(format!("{} {text}:", plural(*count, "figure")));
        for Remark { method, figure, before, now } in remarks.iter().take(REMARKS) {
            let (before, now) = (number(*before), number(*now));
            lines.push(format!(
                "    {} {}: {before} before, {now} now",
                labels.quoted(method),
                figure.word()
            ));
        }
        if *count > REMARKS {
            lines.push(format!("    and {} more", grouped((*count - REMARKS) as u64)));
        }
    }
    lines
}

/// Writes an outcome; `name`: of the gate.
///
/// # Errors
/// The output fails.
pub fn write(out: &mut dyn Write, outcome: &Outcome, name: &str, format: Format) -> io::Result<()> {
    let labels = Labels::new(outcome, format);
    match format {
        Format::Text => text(out, outcome, &labels),
        Format::Markdown => in_markdown(out, outcome, name, &labels),
        Format::Json => json(out, outcome, name, &labels),
        Format::Junit => junit(out, outcome, name, &labels),
    }
}

fn text(out: &mut dyn Write, outcome: &Outcome, labels: &Labels) -> io::Result<()> {
    for finding in &outcome.findings {
        writeln!(out, "{}", sentence(finding, labels))?;
        details(finding, labels).iter().try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    remarks(outcome, labels).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let verdict = match outcome.findings.len() {
        0 => "passed".to_owned(),
        n => format!("failed: {}", plural(n, "finding")),
    };
    writeln!(out, "{verdict} ({})", judged(outcome))
}

fn in_markdown(out: &mut dyn Write, outcome: &Outcome, name: &str, labels: &Labels) -> io::Result<()> {
    match outcome.findings.len() {
        0 => writeln!(out, "### Gate {} passed\n", markdown::code(name))?,
        n => writeln!(out, "### Gate {} failed: {}\n", markdown::code(name), plural(n, "finding"))?,
    }
    for finding in &outcome.findings {
        writeln!(out, "- **{}**", sentence(finding, labels))?;
        details(finding, labels).iter().try_for_each(|line| match line.strip_prefix("in ") {
            Some(path) => writeln!(out, "  - in {}", markdown::code(path)),
            None => writeln!(out, "  - {line}"),
        })?;
    }
    let remarks = remarks(outcome, labels);
    if !remarks.is_empty() {
        writeln!(out, "\n<details><summary>Not judged, or smaller</summary>\n")?;
        for line in remarks {
            match line.strip_prefix("    ") {
                Some(line) => writeln!(out, "  - {line}")?,
                None => writeln!(out, "- {line}")?,
            }
        }
        writeln!(out, "\n</details>")?;
    }
    writeln!(out, "\n{}", judged(outcome))
}

fn json(out: &mut dyn Write, outcome: &Outcome, name: &str, labels: &Labels) -> io::Result<()> {
    let findings: Vec<_> = outcome
        .findings
        .iter()
        .map(|finding| {
            let mut value = json!(finding);
            value["sentence"] = sentence(finding, labels).into();
            value["details"] = details(finding, labels).into();
            value
        })
        .collect();
    let list = |(remarks, count): &(Vec<Remark>, usize)| json!({"count": count, "largest": remarks});
    let document = json!({
        "gate": name,
        "passed": outcome.passes(),
        "findings": findings,
        "smaller": list(&outcome.smaller),
        "beyond": list(&outcome.beyond),
        "ordering": list(&outcome.ordering),
        "unsteady": list(&outcome.unsteady),
        "methods": {"judged": outcome.methods.0, "moving": outcome.methods.1, "new": outcome.new_methods},
        "calls": {"judged": outcome.stable_calls.0, "all": outcome.stable_calls.1},
        "runs": {"checked": outcome.runs.0, "learned": outcome.runs.1},
        "budgets": outcome.budgets,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn junit(out: &mut dyn Write, outcome: &Outcome, name: &str, labels: &Labels) -> io::Result<()> {
    let case = |title: String, outcome| Case { class_name: name.to_owned(), name: title, outcome };
    let mut cases = Vec::new();
    if outcome.findings.is_empty() {
        cases.push(case("no exact figure grew".to_owned(), junit::Outcome::Passed));
    }
    for finding in &outcome.findings {
        let place = finding.place.as_deref().unwrap_or(&finding.method);
        let title =
            format!("{}: {} of {}", labels.of(place), finding.figure.word(), labels.of(&finding.method));
        let message = sentence(finding, labels);
        let text = format!("{message}\n{}", details(finding, labels).join("\n"));
        cases.push(case(title, junit::Outcome::Failed { message, text }));
    }
    junit::write(out, &Suite { name: "instrument gate".to_owned(), cases })
}
