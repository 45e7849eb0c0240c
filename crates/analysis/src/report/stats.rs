//! stats: the calls of each method (seed 000, table 1): number, total, shortest, longest, average and standard deviation, over all
//! contexts. Times are as measured, callees included; a call within a call of the same method counts for itself, as in JaViz.
//!
//! Shortest, longest and deviation are of calls that ended and were timed. The total has open calls, too, so far as they came. Where the
//! probes were calibrated, `exact` is the average without their cost. Where it is known when threads waited, `waiting` is how much of the
//! total was that, and rows are sorted by the rest. Where times are samples, the total is the running time, callees included, and the average that of
//! a call; shortest, longest and deviation are of the calls that were timed, and `timed` says how many these are. An input without times of single calls has total and
//! average of its first resource.

use std::collections::HashMap;
use std::io::Write;

use serde_json::{Value, json};

use super::aligned::Aligned;
use super::document::Document;
use super::labels::Labels;
use super::{Error, Format, Options, Sort, machine};
use crate::correction::Correction;
use crate::load::CallTimes;
use crate::model::{Arcflow, Kind, NodeId};
use crate::text::below;
use crate::text::quantity;
use crate::thread_time::{RUNNING, ThreadTime, counts_calls, is_sampled};
use crate::uncertainty::Uncertainty;

/// Headers, which are keys as well.
const FIGURES: [&str; 8] = ["total", "min", "max", "average", "deviation", "exact", "error", "waiting"];
/// Where `waiting` is in them.
const WAITING: usize = FIGURES.len() - 1;

struct Row<'a> {
    name: &'a str,
    calls: u64,
    ended: u64,
    /// Calls that were timed, where times are samples.
    timed: Option<u64>,
    /// What the total is less than, if no sample met it.
    bound: Option<f64>,
    figures: [Option<f64>; FIGURES.len()],
}

/// Writes the report. `calls` are empty if single calls are not known.
///
/// # Errors
/// A resource that the model does not have, or the output failed.
pub fn write(
    out: &mut dyn Write,
    model: &Arcflow,
    calls: &HashMap<String, CallTimes>,
    options: &Options<'_>,
) -> Result<(), Error> {
    let (mut rows, unit) = rows(model, calls, options)?;
    let all = rows.len();
    rows.truncate(options.top.unwrap_or(usize::MAX));
    match options.format {
        Format::Text => text(out, model, &rows, all, unit, options),
        Format::Json => Ok(printed(model, rows, unit).print(out)?),
        Format::Csv => table(out, &rows),
    }
}

/// The same as JSON has it.
///
/// # Errors
/// A resource that the model does not have.
pub fn document(
    model: &Arcflow,
    calls: &HashMap<String, CallTimes>,
    options: &Options<'_>,
) -> Result<Value, Error> {
    let (mut rows, unit) = rows(model, calls, options)?;
    rows.truncate(options.top.unwrap_or(usize::MAX));
    Ok(printed(model, rows, unit).into_value())
}

/// The rows in their order, and the unit of their figures.
fn rows<'a>(
    model: &'a Arcflow,
    calls: &'a HashMap<String, CallTimes>,
    options: &Options<'_>,
) -> Result<(Vec<Row<'a>>, &'a str), Error> {
    let is_corrected = model.correction == Correction::Applied;
    let (mut rows, unit) = if is_sampled(model) {
        (of_samples(model, calls), "ns")
    } else if calls.is_empty() {
        let shown = options.resources(model)?;
        let unit = shown.first().map_or("", |&r| model.resources()[r].unit.as_str());
        (of_model(model, shown.first().copied()), unit)
    } else {
        let waiting = waiting(model);
        let rows = calls.iter().map(|(name, times)| of_calls(name, times, is_corrected, waiting.as_ref()));
        (rows.collect(), "ns")
    };
    rows.retain(|row: &Row<'_>| options.wants(Kind::Method, row.name));
    let key = |row: &Row<'_>| match options.sort {
        Some(Sort::Name) => 0.0,
        Some(Sort::Calls) => row.calls as f64,
        // Of figures that are not known (counts have no times) calls decide.
        _ => row.figures[0].map_or(-1.0 / (1.0 + row.calls as f64), |total| {
            // Running time of samples holds no waits.
            let waiting = row.figures[WAITING].filter(|_| row.timed.is_none());
            (total - waiting.unwrap_or(0.0)).max(0.0)
        }),
    };
    rows.sort_by(|a, b| key(b).total_cmp(&key(a)).then_with(|| a.name.cmp(b.name)));
    Ok((rows, unit))
}

/// By name of a method: how much of its calls was waiting, callees included; a call within a call of the same method counts for itself.
fn waiting(model: &Arcflow) -> Option<HashMap<&str, f64>> {
    let waiting = ThreadTime::of(model)?.waiting;
    let (cum, width) = (model.cum(), model.resources().len());
    let mut sums = HashMap::new();
    for (i, node) in model.nodes().iter().enumerate().filter(|(_, node)| node.kind == Kind::Method) {
        *sums.entry(model.name(node.consumer)).or_default() += cum[i * width + waiting];
    }
    Some(sums)
}

/// Rows of running time. Where single calls are not known none was timed.
fn of_samples<'a>(model: &'a Arcflow, calls: &'a HashMap<String, CallTimes>) -> Vec<Row<'a>> {
    let Some(r) = model.resource(RUNNING) else { return Vec::new() };
    let (cum, width) = (model.cum(), model.resources().len());
    // A call within a call of the same method counts for itself, as in every row of this table.
    let mut sums: HashMap<&str, (u64, Vec<f64>)> = HashMap::new();
    for (i, node) in model.nodes().iter().enumerate().filter(|(_, node)| node.kind == Kind::Method) {
        let (calls, sum) = sums.entry(model.name(node.consumer)).or_insert_with(|| (0, vec![0.0; width]));
        *calls = calls.saturating_add(node.n);
        sum.iter_mut().zip(&cum[i * width..][..width]).for_each(|(sum, value)| *sum += value);
    }
    let (uncertain, waiting) = (Uncertainty::of(model, r), waiting(model));
    let averages = !model.has_other_times;
    let row = |name: &'a str, met: u64, sum: Option<&Vec<f64>>, known: &CallTimes| {
        let timed = |value: f64| (known.timed > 0 && value.is_finite()).then_some(value);
        let total = sum.map(|sum| sum[r]);
        Row {
            name,
            calls: met,
            ended: known.ended,
            timed: Some(known.timed),
            bound: sum.and_then(|sum| uncertain.bound(sum)),
            figures: [
                total,
                timed(known.min),
                timed(known.max),
                total.filter(|&total| averages && met > 0 && total > 0.0).map(|total| total / met as f64),
                known.deviation().filter(|_| known.timed > 0),
                None,
                // Calls within calls may add up to more than all there is: then it is no share, and has no interval.
                sum.and_then(|sum| uncertain.cum(sum))
                    .map(|error| error.total())
                    .filter(|&error| error >= 0.0),
                sum.and(waiting.as_ref()).map(|waiting| waiting.get(name).copied().unwrap_or(0.0)),
            ],
        }
    };
    if calls.is_empty() {
        let none = CallTimes::default();
        return sums.iter().map(|(name, (met, sum))| row(name, *met, Some(sum), &none)).collect();
    }
    // Some are not in a merged tree: their times are not known here.
    let of_model = |name: &str| sums.get(name).map(|(_, sum)| sum);
    calls.iter().map(|(name, known)| row(name, known.calls, of_model(name), known)).collect()
}

fn of_calls<'a>(
    name: &'a str,
    times: &CallTimes,
    is_corrected: bool,
    waiting: Option<&HashMap<&str, f64>>,
) -> Row<'a> {
    let has_times = times.ended_ns + times.open_ns > 0.0 || times.timed > 0;
    let total = has_times.then_some(times.ended_ns + times.open_ns);
    let timed = |value: f64| (times.timed > 0 && value.is_finite()).then_some(value);
    let exact = (is_corrected && times.calls > 0).then(|| times.exact_ns / times.calls as f64);
    let error = (times.variance > 0.0).then(|| times.variance.sqrt());
    let average = times.average().filter(|_| has_times);
    let deviation = times.deviation().filter(|_| has_times);
    let (min, max) = (timed(times.min), timed(times.max));
    // Of the calls of a head only their sum is known.
    let max = max.filter(|_| min.is_some());
    let deviation = deviation.filter(|_| min.is_some());
    Row {
        name,
        calls: times.calls,
        ended: times.ended,
        timed: None,
        bound: None,
        figures: [
            total,
            min,
            max,
            average,
            deviation,
            exact,
            error,
            waiting.filter(|_| has_times).map(|waiting| waiting.get(name).copied().unwrap_or(0.0)),
        ],
    }
}

fn of_model(model: &Arcflow, resource: Option<usize>) -> Vec<Row<'_>> {
    let cum = model.cum();
    let width = model.resources().len();
    let mut sums: HashMap<_, (u64, f64)> = HashMap::new();
    for (i, node) in model.nodes().iter().enumerate().filter(|(_, node)| node.kind == Kind::Method) {
        let sum = sums.entry(node.consumer).or_default();
        sum.0 = sum.0.saturating_add(node.n);
        sum.1 += resource.map_or(0.0, |r| cum[NodeId(i as u32).0 as usize * width + r]);
    }
    let row = |(consumer, (calls, total)): (_, (u64, f64))| {
        let average = (calls > 0).then(|| total / calls as f64);
        let total = resource.map(|_| total);
        let average = average.filter(|_| resource.is_some());
        Row {
            name: model.name(consumer),
            calls,
            ended: calls,
            timed: None,
            bound: None,
            figures: [total, None, None, average, None, None, None, None],
        }
    };
    sums.into_iter().map(row).collect()
}

fn text(
    out: &mut dyn Write,
    model: &Arcflow,
    rows: &[Row<'_>],
    all: usize,
    unit: &str,
    options: &Options<'_>,
) -> Result<(), Error> {
    // A column that nobody has a figure for is not printed.
    let known: Vec<usize> =
        (0..FIGURES.len()).filter(|&i| rows.iter().any(|row| row.figures[i].is_some())).collect();
    let has_samples = is_sampled(model);
    let timed = has_samples.then_some("timed");
    let headers = std::iter::once("calls").chain(known.iter().map(|&i| FIGURES[i])).chain(timed);
    let mut table = Aligned::new(headers.map(str::to_owned).collect(), "function");
    let labels = Labels::new(model, options);
    for row in rows {
        let calls = if counts_calls(model) { row.calls.to_string() } else { "-".to_owned() };
        let mut cells = vec![calls];
        cells.extend(known.iter().map(|&i| {
            // An average of whole ns is no whole number.
            let figure = row.figures[i].map(|value| if value >= 100.0 { value.round() } else { value });
            if let (0, Some(bound)) = (i, row.bound) {
                return below(bound, unit);
            }
            figure.map_or_else(|| "-".to_owned(), |value| quantity(value, unit))
        }));
        cells.extend(row.timed.map(|timed| match timed {
            0 => "not timed".to_owned(),
            timed => format!("of {timed} timed"),
        }));
        table.row(cells, &labels.of(row.name));
    }
    table.print_as(out, options)?;
    let mut nodes = model.nodes().iter();
    if rows.is_empty()
        && nodes.any(|of| of.kind == Kind::Link && options.wants(of.kind, model.name(of.consumer)))
    {
        writeln!(out, "links have no calls of their own: xprof, xtree and xarc have them")?;
    }
    if all > rows.len() {
        writeln!(out, "not shown: {} past the first {}", all - rows.len(), rows.len())?;
    }
    Ok(())
}

fn printed<'a>(model: &'a Arcflow, rows: Vec<Row<'a>>, unit: &str) -> Document<'a> {
    let mut document = Document::default();
    document.put("report", "stats");
    document.put("unit", unit);
    document.correction(&model.correction);
    let value = |row: Row<'a>| {
        let mut value = json!({"function": row.name, "calls": row.calls, "ended": row.ended});
        machine::origin(model, row.name, value.as_object_mut());
        for (key, figure) in FIGURES.iter().zip(row.figures) {
            value[*key] = figure.map_or(Value::Null, machine::number);
        }
        if let Some(timed) = row.timed {
            value["timed"] = json!(timed);
        }
        if let Some(bound) = row.bound {
            value["total_below"] = machine::number(bound.round());
        }
        value
    };
    document.rows("rows", rows.into_iter().map(value));
    document
}

fn table(out: &mut dyn Write, rows: &[Row<'_>]) -> Result<(), Error> {
    writeln!(out, "function,calls,ended,{}", FIGURES.join(","))?;
    for row in rows {
        write!(out, "{},{},{}", machine::field(row.name), row.calls, row.ended)?;
        for figure in row.figures {
            let text = figure.map_or_else(String::new, |value| machine::number(value).to_string());
            write!(out, ",{text}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
