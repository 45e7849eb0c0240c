//! latency --worst: what the longest calls of a method did that the others did not.
//!
//! 1. A sentence: what the longest calls and the others took, and the largest difference.
//! 2. The differences, the largest first: of a call of each side.
//! 3. The tree of the longest calls, beside an average call of the others.

use std::io::Write;

use instrument_names::printable::printable;

use super::aligned::Aligned;
use super::labels::Labels;
use super::{Error, Options};
use crate::latency::{Bad, Own, Worst};
use crate::model::{Arcflow, Kind};
use crate::text::quantity;

/// Differences that are printed.
const DIFFERENCES: usize = 8;
/// Contexts of a tree that are printed, unless a number is asked for.
const CONTEXTS: usize = 30;
/// What is known from samples.
const SAMPLED: &str = "runs in";
/// What has a smaller part of a call is left out.
const LEAST: f64 = 0.01;

/// What calls of the two sides took in one thing, on average.
struct Difference<'a> {
    verb: &'static str,
    /// None: nobody knows in what.
    name: Option<(&'a str, Option<&'a str>)>,
    here: f64,
    others: f64,
    calls: Option<(f64, f64)>,
}

impl Difference<'_> {
    fn ns(&self) -> f64 {
        self.here - self.others
    }

    fn label(&self, labels: &Labels) -> String {
        match self.name {
            None => "(neither seen to run, nor in a call that is known to wait)".to_owned(),
            Some((name, Some(caller))) => format!("{} in {}", labels.of(name), labels.of(caller)),
            Some((name, None)) => labels.of(name).into_owned(),
        }
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
    if chosen.peek().is_none() {
        writeln!(out, "no call of such a method has ended that --latency names")?;
    }
    for (number, of) in chosen.enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        method(out, of, &labels, options)?;
        for bad in of.calls.iter().take(trees) {
            tree(out, of, bad, &labels, options)?;
        }
    }
    Ok(())
}

fn method(out: &mut dyn Write, of: &Worst, labels: &Labels, options: &Options<'_>) -> Result<(), Error> {
    let kept = of.calls.len() as f64;
    let (name, (rest, ns)) = (labels.of(&of.method), of.rest_ended);
    let mean = of.calls.iter().map(|call| call.ns as f64).sum::<f64>() / kept;
    let typical = ns as f64 / rest.max(1) as f64;
    let least = of.calls.last().map_or(0, |call| call.ns);
    let most = of.calls.first().map_or(0, |call| call.ns);
    let others = match rest {
        0 => String::new(),
        1 => format!("; the other one took {}", time(typical)),
        _ => format!("; the other {rest} took {} on average", time(typical)),
    };
    match of.calls.len() {
        1 => writeln!(out, "{name}: its longest call took {}{others}", time(most as f64))?,
        _ => writeln!(
            out,
            "{name}: its {kept} longest calls took {} to {}, {} on average{others}",
            time(least as f64),
            time(most as f64),
            time(mean),
        )?,
    }
    let differences = differences(of, (mean, typical));
    // Where nobody knows the time to be says nothing, unless there is nothing else.
    match differences.iter().find(|row| row.name.is_some()).or(differences.first()) {
        Some(first) => {
            let (here, all, others) = (time(first.here), time(mean), time(first.others));
            let (verb, label) = (first.verb, first.label(labels));
            // Of a few calls there are few samples.
            let about = if verb == SAMPLED { "about " } else { "" };
            let calls = first
                .calls
                .map(|(here, others)| format!(" (calls: {}, others {})", count(here), count(others)));
            writeln!(
                out,
                "{about}{here} of {all} {verb} {label}; {others} in the others{}\n",
                calls.unwrap_or_default()
            )?;
        }
        None => writeln!(out, "they took longer in nothing that makes a hundredth of them\n")?,
    }
    let headers = ["more", "here", "calls", "others", "calls", ""].map(str::to_owned).to_vec();
    let mut table = Aligned::new(headers, "what a call took longer for, by itself, on average").with_text(1);
    for row in differences.iter().take(DIFFERENCES) {
        let calls = row.calls.map_or(("-".to_owned(), "-".to_owned()), |(a, b)| (count(a), count(b)));
        let cells = vec![
            format!("+{}", time(row.ns())),
            time(row.here),
            calls.0,
            time(row.others),
            calls.1,
            row.verb.to_owned(),
        ];
        table.exact(cells, &row.label(labels));
    }
    if !differences.is_empty() {
        table.print_as(out, options)?;
    }
    remarks(out, of)
}

/// What is to be known of the figures.
fn remarks(out: &mut dyn Write, of: &Worst) -> Result<(), Error> {
    let parts = of.calls.iter().filter(|call| call.is_part).count();
    if parts > 0 {
        writeln!(
            out,
            "of {parts} of these calls not all is known that they did: limits of depth or contexts, or no room"
        )?;
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

/// What a call of the worst ones took longer for than one of the others, the most first.
fn differences<'a>(of: &'a Worst, (mean, typical): (f64, f64)) -> Vec<Difference<'a>> {
    let (kept, rest) = (of.calls.len() as f64, of.rest.calls().max(1) as f64);
    let others = of.rest.parts();
    // Names live as long as the calls do.
    let mut here = std::collections::BTreeMap::<_, (Own, u64)>::new();
    for call in &of.calls {
        for (key, (own, calls)) in call.did.parts() {
            let sum = here.entry(key).or_default();
            sum.0.waiting += own.waiting;
            sum.0.running += own.running;
            sum.1 += calls;
        }
    }
    let runs = if of.rest.is_timed() { "passes in" } else { SAMPLED };
    let mut rows = Vec::new();
    let mut known = 0.0;
    for (key, (own, calls)) in here {
        let (own_others, calls_others) = others.get(&key).copied().unwrap_or_default();
        let calls = Some((calls as f64 / kept, calls_others as f64 / rest));
        // A method that does not block itself waits to enter a monitor.
        let waits = if key.1.is_some() { "waits for" } else { "waits in" };
        for (verb, here, there) in
            [(waits, own.waiting, own_others.waiting), (runs, own.running, own_others.running)]
        {
            known += here / kept;
            rows.push(Difference { verb, name: Some(key), here: here / kept, others: there / rest, calls });
        }
    }
    let known_others = of.rest.own().iter().map(|own| own.sum()).sum::<f64>() / rest;
    rows.push(Difference {
        verb: "passes",
        name: None,
        here: (mean - known).max(0.0),
        others: (typical - known_others).max(0.0),
        calls: None,
    });
    rows.retain(|row| row.here > 0.0 && row.ns() >= LEAST * mean);
    rows.sort_by(|a, b| b.ns().total_cmp(&a.ns()).then_with(|| a.name.cmp(&b.name)));
    rows
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
    of: &Worst,
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
    let others = of.rest.calls().max(1) as f64;
    let (cum, rest, contexts) = (bad.did.cum(), of.rest.cum(), bad.did.contexts());
    let places = places(of, bad);
    let typical = |index: usize| places[index].map_or(0.0, |at| of.rest.contexts()[at].calls as f64 / others);
    // What takes time, or is called more often than elsewhere, with all that leads there.
    let mut is_notable: Vec<bool> = (contexts.iter().enumerate())
        .map(|(index, context)| {
            let takes_time = cum[index].sum() >= LEAST * bad.ns as f64;
            takes_time || context.calls as f64 >= 2.0 * typical(index) + 2.0
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
    let headers = ["calls", "others", "waits", "others", runs, "others"].map(str::to_owned).to_vec();
    let mut table = Aligned::new(headers, "function, with what it called");
    // Contexts to come, with their depths.
    let (mut rows, mut next) = (0, vec![(0, 0)]);
    while let Some((index, depth)) = next.pop() {
        if rows == most || options.depth.is_some_and(|deepest| depth >= deepest) {
            continue;
        }
        rows += 1;
        let of_others = places[index].map(|at| rest[at]).unwrap_or_default();
        let cells = vec![
            contexts[index].calls.to_string(),
            count(typical(index)),
            time(cum[index].waiting),
            time(of_others.waiting / others),
            time(cum[index].running),
            time(of_others.running / others),
        ];
        table.exact(cells, &format!("{}{}", "  ".repeat(depth), labels.of(&contexts[index].name)));
        let below = &mut children[index];
        below.sort_by(|a, b| cum[*a].sum().total_cmp(&cum[*b].sum()).then_with(|| b.cmp(a)));
        next.extend(below.iter().map(|below| (*below, depth + 1)));
    }
    let left_out = contexts.len() - rows;
    table.print_as(out, options)?;
    if left_out > 0 {
        writeln!(
            out,
            "left out: {left_out} contexts with less than a hundredth of it, called as often as elsewhere, or past the first {most}"
        )?;
    }
    Ok(())
}

/// Where the contexts of a call are in the rest.
fn places(of: &Worst, bad: &Bad) -> Vec<Option<usize>> {
    let mut places: Vec<Option<usize>> = Vec::new();
    for (index, context) in bad.did.contexts().iter().enumerate() {
        let place = match index {
            0 => (of.rest.calls() > 0).then_some(0),
            _ => places[context.caller].and_then(|caller| of.rest.find(caller, &context.name)),
        };
        places.push(place);
    }
    places
}
