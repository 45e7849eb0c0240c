//! The table of code regions.

use std::collections::BTreeMap;
use std::io::Write;

use crate::report::Error;
use crate::session::ProfileFile;
use crate::text::quantity;
use instrument_names::printable::printable;
use instrument_trace::NO_MIN;

/// Timings of code regions, over all threads.
pub(super) fn write(out: &mut dyn Write, file: &ProfileFile) -> Result<(), Error> {
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
        let left = if otherwise > 0 {
            format!(" ({otherwise} ended by an exception, or their end was not seen)")
        } else {
            String::new()
        };
        let name = printable(&name);
        let (total, max) = (time(ns), time(max));
        writeln!(out, "{passages:>10}  {total:>8}  {min:>8}  {max:>8}  {average:>8}  {name}{left}")?;
    }
    Ok(())
}
