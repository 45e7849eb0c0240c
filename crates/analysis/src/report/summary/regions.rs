//! The table of code regions.

use std::collections::BTreeMap;
use std::io::Write;

use crate::report::Error;
use crate::session::ProfileFile;
use crate::text::quantity;
use instrument_names::printable::printable;
use instrument_trace::NO_MIN;
use serde::Serialize;

/// Timings of a code region, over all threads.
#[derive(Debug, Default, Serialize)]
pub(super) struct Sum {
    name: String,
    /// Those that ended by themselves.
    passages: u64,
    ns: u64,
    /// Null: there is no passage.
    min_ns: Option<u64>,
    max_ns: u64,
    /// Those that an exception ended, or whose end was not seen.
    left_otherwise: u64,
}

/// The regions of a profile, by name.
pub(super) fn sums(file: &ProfileFile) -> Vec<Sum> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for timing in &file.profile.regions {
        let copy = file.profile.copies.get(&timing.copy);
        let name = copy.and_then(|copy| copy.region_name(timing.number));
        let name = name.map_or_else(|| format!("region {}", timing.number), str::to_owned);
        let sum = sums.entry(name.clone()).or_insert_with(|| Sum { name, ..Sum::default() });
        sum.passages = sum.passages.saturating_add(timing.passages);
        sum.ns = sum.ns.saturating_add(timing.ns);
        let min = Some(timing.min).filter(|&min| min != NO_MIN);
        sum.min_ns = sum.min_ns.into_iter().chain(min).min();
        sum.max_ns = sum.max_ns.max(timing.max);
        sum.left_otherwise = sum.left_otherwise.saturating_add(timing.left_otherwise);
    }
    sums.into_values().collect()
}

/// The table.
pub(in crate::report) fn write(out: &mut dyn Write, file: &ProfileFile) -> Result<(), Error> {
    let sums = sums(file);
    if !sums.is_empty() {
        writeln!(
            out,
            "\n{:>10}  {:>8}  {:>8}  {:>8}  {:>8}  region",
            "passages", "total", "min", "max", "average"
        )?;
    }
    for Sum { name, passages, ns, min_ns, max_ns, left_otherwise } in sums {
        let time = |ns: u64| quantity(ns as f64, "ns");
        let or_none = |time: Option<String>| time.unwrap_or_else(|| "-".into());
        let average = or_none(ns.checked_div(passages).map(time));
        let min = or_none(min_ns.map(time));
        let left = if left_otherwise > 0 {
            format!(" ({left_otherwise} ended by an exception, or their end was not seen)")
        } else {
            String::new()
        };
        let name = printable(&name);
        let (total, max) = (time(ns), time(max_ns));
        writeln!(out, "{passages:>10}  {total:>8}  {min:>8}  {max:>8}  {average:>8}  {name}{left}")?;
    }
    Ok(())
}
