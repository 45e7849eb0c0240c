//! latency: how long the calls of each method took, as percentiles; and what the slowest ones did that a typical one did not.

use std::io::Write;

use instrument_names::printable::printable;
use serde_json::{Value, json};

use super::aligned::Aligned;
use super::labels::Labels;
use super::{Error, Format, Options, Sort, machine, xtree};
use crate::latency::{Call, CallTree, Durations, Histogram, Latency};
use crate::model::{Arcflow, Kind};
use crate::text::quantity;
use crate::timeline::Timeline;

/// Shares of the calls, with their names.
pub(super) const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
/// Calls that a method has at least, unless it is requested by its name: of fewer the longest says as much.
const FEWEST: u64 = 20;
/// Rows of text, unless a number is requested.
const ROWS: usize = 20;
/// Differences to a typical call that are printed.
const DIFFERENCES: usize = 5;

/// A method of the report.
pub type Row<'a> = (&'a str, &'a Durations);

/// The methods that the options choose, in their order: by default by what the slowest percent of the calls took beyond the median.
pub fn rows<'a>(latency: &'a Latency, options: &Options<'_>) -> Vec<Row<'a>> {
    let least = if options.select.is_some() || latency.chosen { 1 } else { FEWEST };
    let wanted = |(name, durations): &(&String, &Durations)| {
        options.wants(Kind::Method, name)
            && durations.ended() + if least == 1 { durations.open + durations.unknown } else { 0 } >= least
    };
    let rows = latency.methods.iter().filter(wanted);
    let key = |durations: &Durations| match options.sort {
        Some(Sort::Name) => 0.0,
        Some(Sort::Calls) => durations.ended() as f64,
        Some(Sort::Base | Sort::Cum) => (durations.returned.sum() + durations.failed.sum()) as f64,
        None => durations.tail(),
    };
    let mut rows: Vec<(f64, Row<'a>)> =
        rows.map(|(name, durations)| (key(durations), (name.as_str(), durations))).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.0.cmp(b.1.0)));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Writes the rows of `latency`, and what the slowest calls of the first one did that are given. `model`: what knows the names of the methods.
///
/// # Errors
/// The output failed.
pub fn write(
    out: &mut dyn Write,
    rows: &[Row<'_>],
    timeline: &Timeline,
    (model, latency): (&Arcflow, &Latency),
    slowest: &Slowest<'_>,
    options: &Options<'_>,
) -> Result<(), Error> {
    let most = match (options.top, options.format) {
        (Some(top), _) => top,
        (None, Format::Text) => ROWS,
        (None, _) => usize::MAX,
    };
    let (printed, left_out) = (&rows[..most.min(rows.len())], latency.left_out);
    match options.format {
        Format::Text => {
            text(out, (printed, rows.len()), latency, &Labels::new(model, options), options)?;
            if left_out > 0 {
                writeln!(out, "without {left_out} calls whose durations found no room")?;
            }
            let options = Options { select: None, top: None, sort: None, ..*options };
            let mut calls = slowest.calls.iter();
            calls.try_for_each(|call| {
                write_slow(out, call, slowest.typical.as_ref(), timeline, model, &options)
            })
        }
        Format::Json => document(out, printed, timeline, left_out, slowest),
        Format::Csv => table(out, printed),
    }
}

fn text(
    out: &mut dyn Write,
    (rows, all): (&[Row<'_>], usize),
    latency: &Latency,
    labels: &Labels,
    options: &Options<'_>,
) -> Result<(), Error> {
    if all == 0 {
        match options.select {
            Some(_) => writeln!(out, "no method that fits has durations of calls")?,
            None if latency.chosen => writeln!(out, "no call of a method that --latency names has ended")?,
            None => writeln!(out, "no method has {FEWEST} calls; --method NAME prints one that has fewer")?,
        }
        return Ok(());
    }
    let has_over = rows.iter().any(|(_, of)| of.over.is_some());
    let headers = ["calls", "errors"].into_iter().chain(QUANTILES.map(|(name, _)| name)).chain(["max"]);
    let headers = headers.chain(has_over.then_some("over"));
    let mut table = Aligned::new(headers.map(str::to_owned).collect(), "function");
    for (name, durations) in rows {
        let all = durations.all();
        let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| quantity(ns, "ns"));
        let mut cells = vec![durations.ended().to_string(), durations.failed.count().to_string()];
        cells.extend(QUANTILES.map(|(_, q)| time(all.quantile(q))));
        cells.push(time(all.range().map(|(_, most)| most as f64)));
        if has_over {
            let over = |(threshold, calls)| format!("{calls} > {}", quantity(threshold as f64, "ns"));
            cells.push(durations.over.map_or_else(|| "-".to_owned(), over));
        }
        table.row(cells, &labels.of(name));
    }
    table.print_as(out, options)?;
    let (open, unknown) =
        rows.iter().fold((0, 0), |(open, unknown), (_, of)| (open + of.open, unknown + of.unknown));
    if open > 0 {
        let calls = if open == 1 { "call" } else { "calls" };
        writeln!(out, "without {open} {calls} that had not ended")?;
    }
    // Those that found no room have a line of their own.
    let unknown = unknown.saturating_sub(latency.left_out);
    if unknown > 0 {
        let calls = if unknown == 1 { "call" } else { "calls" };
        writeln!(out, "without {unknown} {calls} whose duration is not known")?;
    }
    if all > rows.len() {
        writeln!(out, "not shown: {} past the first {}", all - rows.len(), rows.len())?;
    }
    Ok(())
}

fn document(
    out: &mut dyn Write,
    rows: &[Row<'_>],
    timeline: &Timeline,
    left_out: u64,
    slowest: &Slowest<'_>,
) -> Result<(), Error> {
    write!(out, "{{\"report\":\"latency\",\"unit\":\"ns\",\"scale\":6,\"left_out\":{left_out},\"rows\":[")?;
    for (i, (name, durations)) in rows.iter().enumerate() {
        let mut calls: Vec<Value> = durations.slowest.iter().map(|call| slow(call, timeline)).collect();
        for (value, slow) in calls.iter_mut().zip(slowest.calls.iter().filter(|_| i == 0)) {
            did(value, slow, slowest.typical.as_ref());
        }
        let mut row = json!({
            "function": name,
            "open": durations.open,
            "end_not_seen": durations.unknown,
            "returned": histogram(&durations.returned),
            "failed": histogram(&durations.failed),
            "slowest": calls,
        });
        if let Some((threshold, calls)) = durations.over {
            (row["threshold"], row["over"]) = (json!(threshold), json!(calls));
        }
        write!(out, "{}\n{row}", if i > 0 { "," } else { "" })?;
    }
    writeln!(out, "\n]}}")?;
    Ok(())
}

fn slow(call: &Call, timeline: &Timeline) -> Value {
    let mut value = json!({"ns": call.ns, "from": call.from, "to": call.to, "error": call.has_failed});
    if let Some(row) = timeline.rows.get(call.row) {
        value["thread"] = json!(row.name);
        value["process"] = json!(timeline.processes.get(row.process).map(|process| &process.label));
    }
    value
}

/// What a call did, beside a typical one.
fn did(value: &mut Value, slow: &Slow<'_>, typical: Option<&CallTree>) {
    let Some(tree) = &slow.tree else { return };
    value["waited"] = json!(tree.waited);
    if let Some(typical) = typical {
        value["typical"] = json!({"ns": typical.call.ns, "waited": typical.waited});
        let difference = |row: crate::latency::Difference| {
            let (ns, calls) = (row.ns, row.calls);
            let (here, typical) = (machine::number(ns.0), machine::number(ns.1));
            json!({"function": row.name, "ns": here, "typical_ns": typical, "calls": calls.0, "typical_calls": calls.1})
        };
        value["differences"] = tree.more_than(typical).into_iter().map(difference).collect();
    }
    let mut places = std::collections::HashMap::new();
    let mut contexts: Vec<Value> = Vec::new();
    let of = &tree.tree;
    for id in of.ids().skip(1) {
        let node = of.node(id);
        places.insert(id, contexts.len());
        contexts.push(json!({
            "function": of.name(node.consumer),
            "caller": places.get(&node.parent),
            "calls": node.n,
            "ns": machine::number(of.base(id)[0]),
        }));
    }
    value["contexts"] = contexts.into();
}

fn histogram(of: &Histogram) -> Value {
    let mut value =
        json!({"calls": of.count(), "sum": machine::number(of.sum() as f64), "zeros": of.zeros()});
    if let Some((least, most)) = of.range() {
        value["min"] = json!(least);
        value["max"] = json!(most);
    }
    for (name, q) in QUANTILES {
        value[name] = of.quantile(q).map_or(Value::Null, |ns| machine::number(ns.round()));
    }
    value["buckets"] = of.buckets().map(|(bucket, count)| json!([bucket, count])).collect();
    value
}

fn table(out: &mut dyn Write, rows: &[Row<'_>]) -> Result<(), Error> {
    write!(out, "function,calls,errors,open,end_not_seen")?;
    QUANTILES.iter().try_for_each(|(name, _)| write!(out, ",{name}"))?;
    writeln!(out, ",max,threshold,over")?;
    for (name, durations) in rows {
        let all = durations.all();
        let (errors, open, unknown) = (durations.failed.count(), durations.open, durations.unknown);
        write!(out, "{},{},{errors},{open},{unknown}", machine::field(name), durations.ended())?;
        for (_, q) in QUANTILES {
            let ns = all.quantile(q).map_or_else(String::new, |ns| machine::number(ns.round()).to_string());
            write!(out, ",{ns}")?;
        }
        write!(out, ",{}", all.range().map_or_else(String::new, |(_, most)| most.to_string()))?;
        let over = durations.over.map_or_else(|| ",".to_owned(), |(ns, calls)| format!("{ns},{calls}"));
        writeln!(out, ",{over}")?;
    }
    Ok(())
}

/// Slow calls of a method, and what a typical one did; none: there are too few.
#[derive(Default)]
pub struct Slowest<'a> {
    pub calls: Vec<Slow<'a>>,
    pub typical: Option<CallTree>,
}

/// What is written of a slow call.
pub struct Slow<'a> {
    /// The name of the method.
    pub method: &'a str,
    pub call: Call,
    /// What it did; none: the trace does not tell, as of what lies below the deepest context.
    pub tree: Option<CallTree>,
}

/// Writes what a slow call of a method did: what took longer than in a typical one, and its tree. `model`: [`Latency::model`].
///
/// # Errors
/// The output failed.
fn write_slow(
    out: &mut dyn Write,
    slow: &Slow<'_>,
    typical: Option<&CallTree>,
    timeline: &Timeline,
    model: &Arcflow,
    options: &Options<'_>,
) -> Result<(), Error> {
    let time = |ns: f64| quantity(ns, "ns");
    let (call, labels) = (slow.call, Labels::new(model, options));
    let failed = if call.has_failed { ", and ended with an exception" } else { "" };
    write!(out, "\n{} took {}{failed}", labels.of(slow.method), time(call.ns as f64))?;
    if let Some(waited) = slow.tree.as_ref().map(|tree| tree.waited).filter(|&waited| waited > 0) {
        write!(out, ", {} of it waiting", time(waited as f64))?;
    }
    let row = timeline.rows.get(call.row);
    let thread = row.map_or("", |row| row.name.as_str());
    write!(out, "; {} after the start, in thread {}", time(call.from as f64), printable(thread))?;
    let process = row.and_then(|row| timeline.processes.get(row.process));
    match process.filter(|_| timeline.processes.len() > 1) {
        Some(process) => writeln!(out, " of {}", printable(&process.label))?,
        None => writeln!(out)?,
    }
    let Some(tree) = &slow.tree else {
        writeln!(out, "what it did is not known: it is below the deepest context, or took no time")?;
        return Ok(());
    };
    if let Some(typical) = typical {
        compare(out, tree, typical, &labels, options)?;
    }
    writeln!(out, "\nwhat it did:")?;
    xtree::write(out, &tree.tree, options)
}

/// Writes what took longer than in a typical call.
fn compare(
    out: &mut dyn Write,
    slow: &CallTree,
    typical: &CallTree,
    labels: &Labels,
    options: &Options<'_>,
) -> Result<(), Error> {
    let time = |ns: f64| quantity(ns, "ns");
    let is_known = slow.waited > 0 || typical.waited > 0;
    let waited =
        if is_known { format!(", {} of it waiting", time(typical.waited as f64)) } else { String::new() };
    let took = time(typical.call.ns as f64);
    writeln!(out, "a typical call takes {took}{waited}; what took longer here, without what it called:")?;
    let more = slow.more_than(typical);
    if more.is_empty() {
        writeln!(out, "  nothing took 1 % of it")?;
        return Ok(());
    }
    let headers = ["more", "here", "calls", "typical", "calls"].map(str::to_owned).to_vec();
    let mut table = Aligned::new(headers, "function");
    for row in more.iter().take(DIFFERENCES) {
        let cells = vec![
            format!("+{}", time(row.ns.0 - row.ns.1)),
            time(row.ns.0),
            row.calls.0.to_string(),
            time(row.ns.1),
            row.calls.1.to_string(),
        ];
        table.row(cells, &labels.of(&row.name));
    }
    Ok(table.print_as(out, options)?)
}
