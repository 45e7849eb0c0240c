//! Rows of classes, sites or contexts with their figures.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{Section, label};
use crate::heap::histogram::Histogram;
use crate::heap::object_lifetimes::Figures;
use crate::heap::table::{By, Row, Table};
use crate::report::aligned::Aligned;
use crate::report::machine::{field, number};
use crate::report::{Error, Options};
use crate::text::{percent, quantity};

/// A mean number of collections.
pub(super) fn mean(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.1}"))
}

/// A time, if there is one.
pub(super) fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".to_owned(), |ns| quantity(ns.round(), "ns"))
}

pub(super) fn text(
    out: &mut dyn Write,
    table: &Table,
    section: Section,
    options: &Options<'_>,
) -> io::Result<()> {
    let is_live = section == Section::Live;
    if is_live && !table.is_followed {
        return writeln!(out, "what is live is not known: objects were counted, and not followed");
    }
    let size = |bytes: u64| quantity(bytes as f64, "bytes");
    let share = |f: &Figures| match (is_live, table.has_bytes) {
        (true, _) => percent(f.live_bytes as f64, table.total.live_bytes as f64),
        (false, true) => percent(f.bytes as f64, table.total.bytes as f64),
        (false, false) => percent(f.objects as f64, table.total.objects as f64),
    };
    let mut headers = vec!["objects"];
    if table.has_bytes {
        headers.push("bytes");
    }
    if !is_live {
        headers.push("%");
    }
    if table.is_followed {
        headers.extend(["live", "live bytes"]);
    }
    if is_live {
        headers.push("%");
    } else if table.is_followed {
        headers.extend(["outlived", "lived"]);
    }
    let name = match table.rows.first() {
        Some((row, _)) if !row.methods.is_empty() => "class in method",
        _ => "class",
    };
    let mut aligned = Aligned::new(headers.into_iter().map(str::to_owned).collect(), name);
    let top = options.top.unwrap_or(usize::MAX);
    for (row, figures) in table.rows.iter().take(top) {
        let mut cells = vec![figures.objects.to_string()];
        if table.has_bytes {
            cells.push(size(figures.bytes));
        }
        if !is_live {
            cells.push(share(figures));
        }
        if table.is_followed {
            cells.extend([figures.live.to_string(), size(figures.live_bytes)]);
        }
        if is_live {
            cells.push(share(figures));
        } else if table.is_followed {
            cells.extend([mean(figures.outlived.mean()), time(figures.ns.mean())]);
        }
        aligned.row(cells, &label(row));
    }
    aligned.print_as(out, options)?;
    left_out(out, table, top)
}

/// Says what was not printed.
pub(super) fn left_out(out: &mut dyn Write, table: &Table, top: usize) -> io::Result<()> {
    let left = table.rows.get(top..).unwrap_or_default();
    if left.is_empty() {
        return Ok(());
    }
    let objects: u64 = left.iter().map(|(_, figures)| figures.objects).sum();
    let bytes: u64 = left.iter().map(|(_, figures)| figures.bytes).sum();
    let size = if table.has_bytes { format!(", {}", quantity(bytes as f64, "bytes")) } else { String::new() };
    writeln!(out, "not shown: {} past the first {top}: {objects} objects{size}", left.len())
}

/// How long, as an object: mean, shares and the longest.
fn lengths(histogram: &Histogram) -> Value {
    let Some(mean) = histogram.mean() else { return Value::Null };
    let share = |share| histogram.quantile(share);
    json!({"mean": number(mean), "p50": share(0.5), "p90": share(0.9), "p99": share(0.99), "max": histogram.most()})
}

/// The figures as an object; `None`: of all.
pub(super) fn object(row: Option<&Row>, figures: &Figures, table: &Table) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.into(), value);
    if let Some(row) = row {
        put("class", json!(row.class));
        if !row.methods.is_empty() {
            put("methods", json!(row.methods));
        }
    }
    put("objects", json!(figures.objects));
    if table.has_bytes {
        put("bytes", json!(figures.bytes));
    }
    if table.is_followed {
        put("live", json!(figures.live));
        put("live_bytes", json!(figures.live_bytes));
        put("died", json!(figures.died()));
        put("outlived", lengths(&figures.outlived));
        put("lived_ns", lengths(&figures.ns));
    }
    Value::Object(object)
}

pub(super) fn csv(out: &mut dyn Write, table: &Table, by: By, options: &Options<'_>) -> Result<(), Error> {
    let place = match by {
        By::Class => "",
        By::Site => ",method",
        By::Context => ",context",
    };
    writeln!(
        out,
        "class{place},objects,bytes,live,live_bytes,died,outlived_mean,outlived_p50,outlived_p90,outlived_max,lived_ns_mean,\
         lived_ns_p50,lived_ns_p90,lived_ns_max"
    )?;
    let known = |known: bool, value: u64| if known { value.to_string() } else { String::new() };
    for (row, f) in table.rows.iter().take(options.top.unwrap_or(usize::MAX)) {
        let mut cells = vec![field(&row.class)];
        if by != By::Class {
            cells.push(field(&row.methods.join(" < ")));
        }
        cells.push(f.objects.to_string());
        cells.push(known(table.has_bytes, f.bytes));
        cells.extend([f.live, f.live_bytes, f.died()].map(|value| known(table.is_followed, value)));
        for histogram in [&f.outlived, &f.ns] {
            let text = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
            cells.push(histogram.mean().map_or_else(String::new, |mean| number(mean).to_string()));
            cells.push(text(histogram.quantile(0.5)));
            cells.push(text(histogram.quantile(0.9)));
            cells.push(text(histogram.mean().map(|_| histogram.most())));
        }
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}
