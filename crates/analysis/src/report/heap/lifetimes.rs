//! How long objects lived: how many collections they outlived, over all and row by row.

use std::io::{self, Write};

use super::label;
use super::rows::{left_out, mean, time};
use crate::heap::table::Table;
use crate::report::Options;
use crate::report::aligned::Aligned;
use crate::text::percent;

/// Columns of the longest bar.
const BAR: u64 = 40;

pub(super) fn text(out: &mut dyn Write, table: &Table, options: &Options<'_>) -> io::Result<()> {
    if !table.is_followed {
        return writeln!(out, "no lifetimes: objects were counted, and not followed");
    }
    histogram(out, table)?;
    writeln!(out)?;
    let headers = ["died", "live", "outlived", "p50", "p90", "p99", "max", "lived", "p50", "p90", "max"];
    let name = match table.rows.first() {
        Some((row, _)) if !row.methods.is_empty() => "class in method",
        _ => "class",
    };
    let mut aligned = Aligned::new(headers.map(str::to_owned).to_vec(), name);
    let top = options.top.unwrap_or(usize::MAX);
    for (row, f) in table.rows.iter().take(top) {
        let count = |share: f64| f.outlived.quantile(share).map_or_else(|| "-".to_owned(), |n| n.to_string());
        let ns = |share: f64| time(f.ns.quantile(share).map(|ns| ns as f64));
        let died = f.died() > 0;
        let cells = vec![
            f.died().to_string(),
            f.live.to_string(),
            mean(f.outlived.mean()),
            count(0.5),
            count(0.9),
            count(0.99),
            if died { f.outlived.most().to_string() } else { "-".into() },
            time(f.ns.mean()),
            ns(0.5),
            ns(0.9),
            time(f.ns.mean().map(|_| f.ns.most() as f64)),
        ];
        aligned.row(cells, &label(row));
    }
    aligned.print_as(out, options)?;
    left_out(out, table, top)
}

/// Objects by the collections that they outlived; each line is twice as wide as the one before.
fn histogram(out: &mut dyn Write, table: &Table) -> io::Result<()> {
    let total = &table.total;
    let mut lines: Vec<(String, u64)> = vec![("0".into(), total.outlived.between(0, 1))];
    let mut from = 1;
    while from <= total.outlived.most() {
        let to = 2 * from;
        let range = if to - 1 == from { from.to_string() } else { format!("{from}-{}", to - 1) };
        lines.push((range, total.outlived.between(from, to)));
        from = to;
    }
    lines.push(("live".into(), total.live));
    let most = lines.iter().map(|(_, objects)| *objects).max().unwrap_or(0).max(1);
    let mut aligned = Aligned::new(vec!["outlived".into(), "objects".into(), "%".into()], "");
    for (range, objects) in lines {
        let bar = (u128::from(objects) * u128::from(BAR)).div_ceil(u128::from(most)) as usize;
        aligned.row(
            vec![range, objects.to_string(), percent(objects as f64, total.objects as f64)],
            &"#".repeat(bar),
        );
    }
    aligned.print(out, None)
}
