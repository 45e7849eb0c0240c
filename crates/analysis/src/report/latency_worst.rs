//! latency --worst: what the longest calls of a method did that the others did not.
//!
//! 1. A sentence: what the longest calls and the others took, and the largest difference.
//! 2. The differences, the largest first: of a call of each side.
//! 3. The tree of the longest calls, beside a typical call, or an average one of the others.

use std::io::Write;

use instrument_names::printable::printable;

mod beside;
mod document;

use super::aligned::Aligned;
use super::labels::Labels;
use super::{Error, Format, Options};
use crate::latency::{Bad, Did, Worst};
use crate::model::{Arcflow, Kind};
use crate::text::quantity;
use beside::{Beside, LEAST, Part, SAMPLED, differences, mean};

/// Differences that are printed.
const DIFFERENCES: usize = 8;
/// Contexts of a tree that are printed, unless a number is asked for.
const CONTEXTS: usize = 30;
/// With fewer samples than these in all of the longest calls their running times are a guess.
const FEW_SAMPLES: u64 = 5;

/// What a part of a call is called.
fn label(part: Part<'_>, labels: &Labels) -> String {
    match part {
        None => "(neither seen to run, nor in a call that is known to wait)".to_owned(),
        Some((name, Some(caller))) => format!("{} in {}", labels.of(name), labels.of(caller)),
        Some((name, None)) => labels.of(name).into_owned(),
    }
}

fn time(ns: f64) -> String {
    quantity(ns, "ns")
}

/// Writes the worst calls of the methods that the options choose, with the trees of so many of each. `model`: what knows the names of the methods.
///
/// # Errors
/// The output failed.
pub fn write(
    out: &mut dyn Write,
    worst: &[Worst],
    trees: usize,
    model: &Arcflow,
    options: &Options<'_>,
) -> Result<(), Error> {
    let labels = Labels::new(model, options);
    let mut chosen = worst.iter().filter(|of| options.wants(Kind::Method, &of.method)).peekable();
    match options.format {
        Format::Json => return document::write(out, chosen, trees),
        Format::Csv => return document::table(out, chosen, trees),
        Format::Text => {}
    }
    if chosen.peek().is_none() {
        writeln!(out, "no call of such a method has ended that --latency names")?;
    }
    for (number, of) in chosen.enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let beside = Beside::new(of);
        method(out, of, &beside, &labels, options)?;
        for bad in of.calls.iter().take(trees) {
            tree(out, &beside, bad, &labels, options)?;
        }
    }
    Ok(())
}

fn method(
    out: &mut dyn Write,
    of: &Worst,
    beside: &Beside<'_>,
    labels: &Labels,
    options: &Options<'_>,
) -> Result<(), Error> {
    let (kept, mean, name) = (of.calls.len(), mean(of), labels.of(&of.method));
    let least = of.calls.last().map_or(0, |call| call.ns);
    let most = of.calls.first().map_or(0, |call| call.ns);
    let others = match of.rest_ended.0 {
        _ if beside.is_typical => format!("; a typical one took {}", time(beside.mean)),
        0 => String::new(),
        1 => format!("; the other one took {}", time(beside.mean)),
        rest => format!("; the other {rest} took {} on average", time(beside.mean)),
    };
    match kept {
        1 => writeln!(out, "{name}: its longest call took {}{others}", time(most as f64))?,
        _ => writeln!(
            out,
            "{name}: its {kept} longest calls took {} to {}, {} on average{others}",
            time(least as f64),
            time(most as f64),
            time(mean),
        )?,
    }
    let differences = differences(of, beside);
    let others = beside.word();
    // Where nobody knows the time to be says nothing, unless there is nothing else.
    match differences.iter().find(|row| row.part.is_some()).or(differences.first()) {
        Some(first) => {
            let (here, all, there) = (time(first.here), time(mean), time(first.others));
            let (verb, label) = (first.verb, label(first.part, labels));
            // Of a few calls there are few samples.
            let about = if verb == SAMPLED { "about " } else { "" };
            let of_those = if beside.is_typical && verb != SAMPLED { "a typical one" } else { "the others" };
            let calls = first.calls.map_or_else(String::new, |(here, there)| {
                format!(" (calls: {}, {others} {})", count(here), count(there))
            });
            writeln!(out, "{about}{here} of {all} {verb} {label}; {there} in {of_those}{calls}\n")?;
        }
        None => writeln!(out, "they took longer in nothing that makes a hundredth of them\n")?,
    }
    let headers = ["more", "here", "calls", others, "calls", ""].map(str::to_owned).to_vec();
    let mut table = Aligned::new(headers, "what a call took longer for, by itself, on average").with_text(1);
    for row in differences.iter().take(DIFFERENCES) {
        let calls = row.calls.map_or(("-".to_owned(), "-".to_owned()), |(a, b)| (count(a), count(b)));
        let cells = vec![
            format!("+{}", time(row.ns())),
            time(row.here),
            calls.0,
            if row.verb == SAMPLED && others != beside.word_of_running() {
                format!("{} ({})", time(row.others), beside.word_of_running())
            } else {
                time(row.others)
            },
            calls.1,
            row.verb.to_owned(),
        ];
        table.exact(cells, &label(row.part, labels));
    }
    if !differences.is_empty() {
        table.print_as(out, options)?;
    }
    compared(out, of, beside)?;
    remarks(out, of)
}

/// What it was compared with.
fn compared(out: &mut dyn Write, of: &Worst, beside: &Beside<'_>) -> Result<(), Error> {
    let Some(typical) = &of.typical else { return Ok(()) };
    let (from, to) = typical.range;
    write!(
        out,
        "typical: the average of {} calls that took {} to {}; of {} calls drawn at random those between p40 and p60",
        typical.did.calls(),
        time(from as f64),
        time(to as f64),
        typical.drawn
    )?;
    let is_sampled = !beside.did.is_timed();
    writeln!(out, "{}", if is_sampled { "; of what runs, of all other calls" } else { "" })?;
    Ok(())
}

/// What is to be known of the figures.
fn remarks(out: &mut dyn Write, of: &Worst) -> Result<(), Error> {
    let parts = of.calls.iter().filter(|call| call.is_part).count();
    if parts > 0 {
        writeln!(
            out,
            "calls of which not everything is known that they did: {parts} (past a limit of depth or contexts, no room, or open when `ctl latency` came)"
        )?;
    }
    let samples = |did: &Did| did.contexts().iter().map(|context| context.samples).sum::<u64>();
    let here: u64 = of.calls.iter().map(|call| samples(&call.did)).sum();
    if (1..FEW_SAMPLES).contains(&here) {
        let s = if here == 1 { "" } else { "s" };
        writeln!(out, "the running times of these calls come from {here} sample{s} alone")?;
    }
    if of.calls.first().is_some_and(|call| call.ns < of.longest) {
        writeln!(out, "the longest call took {}, and what it did is not known", time(of.longest as f64))?;
    }
    if !of.is_exact {
        writeln!(
            out,
            "these calls did more than the figures of all calls have: some had begun before figures were reset"
        )?;
    }
    Ok(())
}

/// An average number of calls.
fn count(calls: f64) -> String {
    match calls {
        _ if calls.fract() == 0.0 => format!("{calls}"),
        _ if calls < 0.005 => "<0.01".to_owned(),
        _ => format!("{calls:.2}"),
    }
}

fn tree(
    out: &mut dyn Write,
    beside: &Beside<'_>,
    bad: &Bad,
    labels: &Labels,
    options: &Options<'_>,
) -> Result<(), Error> {
    let failed = if bad.has_failed { ", and ended with an exception" } else { "" };
    write!(
        out,
        "\na call took {}{failed}; it ended {} after the start",
        time(bad.ns as f64),
        time(bad.end as f64)
    )?;
    match &*bad.thread {
        "" => writeln!(out)?,
        thread => writeln!(out, ", in thread {}", printable(thread))?,
    }
    let (cum, contexts, average) = (bad.did.cum(), bad.did.contexts(), beside.contexts(bad));
    // What takes time, or is called more often than elsewhere, with all that leads there.
    let mut is_notable: Vec<bool> = (contexts.iter().enumerate())
        .map(|(index, context)| {
            let takes_time = cum[index].sum() >= LEAST * bad.ns as f64;
            takes_time || context.calls as f64 >= 2.0 * average[index].calls + 2.0
        })
        .collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); contexts.len()];
    for (index, context) in contexts.iter().enumerate().skip(1).rev() {
        is_notable[context.caller] |= is_notable[index];
        if is_notable[index] {
            children[context.caller].push(index);
        }
    }
    let most = options.top.unwrap_or(CONTEXTS);
    let runs = if bad.did.is_timed() { "passes" } else { "runs" };
    let others = beside.word();
    let headers =
        ["calls", others, "waits", others, runs, beside.word_of_running()].map(str::to_owned).to_vec();
    let mut table = Aligned::new(headers, "function, with what it called");
    // Contexts to come, with their depths.
    let (mut rows, mut next) = (0, vec![(0, 0)]);
    while let Some((index, depth)) = next.pop() {
        if rows == most || options.depth.is_some_and(|deepest| depth >= deepest) {
            continue;
        }
        rows += 1;
        let cells = vec![
            contexts[index].calls.to_string(),
            count(average[index].calls),
            time(cum[index].waiting),
            time(average[index].waiting),
            time(cum[index].running),
            time(average[index].running),
        ];
        table.exact(cells, &format!("{}{}", "  ".repeat(depth), labels.of(&contexts[index].name)));
        let below = &mut children[index];
        below.sort_by(|a, b| cum[*a].sum().total_cmp(&cum[*b].sum()).then_with(|| b.cmp(a)));
        next.extend(below.iter().map(|below| (*below, depth + 1)));
    }
    let left_out = contexts.len() - rows;
    table.print_as(out, options)?;
    if left_out > 0 {
        let s = if left_out == 1 { "" } else { "s" };
        writeln!(
            out,
            "left out: {left_out} context{s} with less than a hundredth of it and not called more often than in the calls beside it, or past the first {most}"
        )?;
    }
    Ok(())
}
