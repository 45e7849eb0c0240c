//! advise: what the next recording can leave out, so that it keeps a budget: see [`crate::advice`].

use std::io::Write;

use super::aligned::Aligned;
use super::summary::fact;
use super::{Error, Format, Options, machine};
use crate::advice::{Advice, Recording};
use crate::text::{grouped, percent, plural, quantity};

/// Writes the report. Of the options only format, top and width matter; top is about text.
///
/// # Errors
/// The output failed.
pub fn write(out: &mut dyn Write, advice: &Advice, options: &Options<'_>) -> Result<(), Error> {
    match options.format {
        Format::Text => text(out, advice, options),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, advice)?;
            Ok(writeln!(out)?)
        }
        Format::Csv => {
            writeln!(out, "pattern,calls,recording_ns,own_ns")?;
            for one in &advice.leave_out {
                let figures = [one.recording_ns, one.own_ns].map(|ns| machine::number(ns.round()));
                let [recording, own] = figures;
                writeln!(out, "{},{},{recording},{own}", machine::field(&one.pattern), one.calls)?;
            }
            Ok(())
        }
    }
}

fn text(out: &mut dyn Write, advice: &Advice, options: &Options<'_>) -> Result<(), Error> {
    let Advice { recorded, next, leave_out, budget_percent, running_ns, .. } = advice;
    let time = |ns: f64| quantity(ns, "ns");
    fact(out, "recorded", &calls(recorded))?;
    let took = |recording: &Recording| {
        format!("{}, {:.1} % of the running time", time(recording.recording_ns), recording.percent)
    };
    let recording = if advice.is_estimate {
        format!("most of the time (how much is not known); {} is assumed", time(recorded.recording_ns))
    } else {
        format!("about {} of {}", took(recorded), time(*running_ns))
    };
    fact(out, "", &format!("recording took {recording}"))?;
    fact(out, "budget", &format!("{budget_percent} %: {}", time(running_ns * budget_percent / 100.0)))?;
    if leave_out.is_empty() {
        let why = if advice.is_within {
            "nothing: recording is within the budget"
        } else {
            "nothing: no method that can be left out is left"
        };
        return fact(out, "leave out", why);
    }
    let left_out: u64 = leave_out.iter().map(|one| one.calls).sum();
    let own = leave_out.iter().map(|one| one.own_ns).sum::<f64>().min(*running_ns);
    let share = percent(left_out as f64, recorded.calls as f64);
    let methods = plural(leave_out.len(), "method");
    fact(out, "leave out", &format!("{methods} with {} calls, {share} % of all", grouped(left_out)))?;
    let share = percent(own, *running_ns);
    fact(out, "", &format!("their own time, {}, {share} %, is charged to their callers then", time(own)))?;
    fact(out, "next", &calls(next))?;
    fact(out, "", &format!("recording will take about {}", took(next)))?;
    if !advice.is_within {
        fact(out, "", "that is more than the budget: what is left cannot be left out")?;
    }
    writeln!(out)?;
    let headers = ["recording", "calls", "own time"].map(str::to_owned);
    let mut table = Aligned::new(headers.to_vec(), "method");
    let shown = options.top.unwrap_or(usize::MAX);
    for one in leave_out.iter().take(shown) {
        table.row(vec![time(one.recording_ns), grouped(one.calls), time(one.own_ns)], &one.pattern);
    }
    table.print_as(out, options)?;
    match leave_out.len().saturating_sub(shown) {
        0 => Ok(()),
        more => Ok(writeln!(out, "not shown: {}", plural(more, "method"))?),
    }
}

fn calls(recording: &Recording) -> String {
    let Recording { methods, calls, contexts, .. } = recording;
    let [calls, methods, contexts] = [calls, methods, contexts].map(|&number| grouped(number));
    format!("{calls} calls of {methods} methods in {contexts} contexts")
}
