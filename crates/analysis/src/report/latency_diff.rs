//! What `diff` says of how long calls took: percentiles of two sides, where their durations were kept.

use std::io::Write;

use super::aligned::Aligned;
use super::labels::Labels;
use super::{Error, Options, machine};
use crate::latency::Latency;
use crate::model::{Arcflow, Kind};
use crate::text::quantity;
use instrument_trace::Histogram;
use serde_json::{Value, json};

/// The percentiles that are compared.
const QUANTILES: [(&str, f64); 2] = [("p50", 0.5), ("p99", 0.99)];

/// The methods that both sides have and the options choose, with all of their calls.
fn rows<'a>(
    [before, after]: [&'a Latency; 2],
    options: &Options<'_>,
) -> Vec<(&'a str, Histogram, Histogram)> {
    let both = before.methods.iter().filter_map(|(name, of)| Some((name, of, after.methods.get(name)?)));
    let rows = both.filter(|(name, ..)| options.wants(Kind::Method, name));
    rows.map(|(name, was, is)| (name.as_str(), was.all(), is.all())).collect()
}

/// The same as JSON has it, with the intervals of 95 % and p90 and p99.9.
pub fn document(sides: [&Latency; 2], options: &Options<'_>) -> Value {
    let percentile = |of: &Histogram, q: f64| {
        let (low, high) = of.interval(q)?;
        let figures = [of.quantile(q)?, low, high].map(|ns| machine::number(ns.round()));
        Some(json!({"ns": figures[0], "low": figures[1], "high": figures[2]}))
    };
    let row = |(name, was, is): (&str, Histogram, Histogram)| {
        let mut row = json!({"function": name, "calls": [was.count(), is.count()]});
        for (name, q) in super::latency::QUANTILES {
            row[name] = json!({
                "before": percentile(&was, q),
                "after": percentile(&is, q),
                "differs": differ(&was, &is, q),
            });
        }
        row
    };
    rows(sides, options).into_iter().map(row).collect()
}

/// Whether a percentile differs by more than chance. None: one side has too few calls for it.
fn differ(was: &Histogram, is: &Histogram, q: f64) -> Option<bool> {
    let ((low, high), (from, to)) = (was.interval(q)?, is.interval(q)?);
    Some(high < from || to < low)
}

/// Writes the percentiles of the methods that both sides have; nothing if there is none. `model`: that of a side.
///
/// # Errors
/// The output failed.
pub fn write(
    out: &mut dyn Write,
    sides: [&Latency; 2],
    model: &Arcflow,
    options: &Options<'_>,
) -> Result<(), Error> {
    let rows = rows(sides, options);
    if rows.is_empty() {
        return Ok(());
    }
    let headers = QUANTILES
        .iter()
        .flat_map(|(name, _)| [format!("{name} before"), "after".to_owned(), "change".to_owned()]);
    let labels = Labels::new(model, options);
    let mut table = Aligned::new(headers.collect(), "function");
    for (name, was, is) in rows {
        let cells = QUANTILES.iter().flat_map(|&(_, q)| cells(&was, &is, q));
        table.row(cells.collect(), &labels.of(name));
    }
    writeln!(out, "\nhow long calls took; a change is printed if the intervals of 95 % do not meet:")?;
    Ok(table.print_as(out, options)?)
}

/// A percentile before and after, and by how much it changed if that is more than chance.
fn cells(was: &Histogram, is: &Histogram, q: f64) -> [String; 3] {
    let time = |of: &Histogram| of.quantile(q).map_or_else(|| "-".to_owned(), |ns| quantity(ns, "ns"));
    let change = || {
        let (before, after) = (was.quantile(q)?, is.quantile(q)?);
        differ(was, is, q)?.then(|| format!("{:+.1} %", (after / before - 1.0) * 100.0))
    };
    [time(was), time(is), change().unwrap_or_else(|| "-".to_owned())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_what_chance_does_not_explain() {
        let spread =
            |n: u64, by: u64| -> Histogram { (0..n).map(|i| 100_000 + (i * 7919 % n) * by / n).collect() };
        let (was, same, slower) = (spread(5000, 50_000), spread(4000, 50_000), spread(5000, 80_000));
        assert_eq!(cells(&was, &same, 0.5)[2], "-");
        assert_eq!(cells(&was, &same, 0.99)[2], "-");
        let change = cells(&was, &slower, 0.99)[2].clone();
        let percent: f64 = change.trim_end_matches(" %").parse().unwrap();
        // 150 us became 180 us, within a bucket of each.
        assert!((percent - 20.0).abs() < 2.0, "{change}");
        assert_eq!(cells(&Histogram::from_iter([5]), &was, 0.99), ["-", "150.0 us", "-"].map(str::to_owned));
    }
}
