//! xprof: a flat profile, the concise one. Every consumer with its calls, its base, and the cum that it drives.

use std::io::Write;

use serde_json::{Value, json};

use super::columns::{Columns, Figures};
use super::document::Document;
use super::rows::Rows;
use super::{Error, Format, Options, Sort, machine};
use crate::arcs::{Arcs, FunctionId};
use crate::model::{Arcflow, Kind};

/// Writes the report.
///
/// # Errors
/// A resource that the model does not have, or the output failed.
pub fn write(out: &mut dyn Write, model: &Arcflow, arcs: &Arcs, options: &Options<'_>) -> Result<(), Error> {
    let shown = options.resources(model)?;
    let rows = Rows::new(model, arcs, options, shown.first().copied(), options.sort.unwrap_or(Sort::Base));
    match options.format {
        Format::Text => text(out, model, arcs, options, &shown, &rows),
        Format::Json => Ok(printed(model, arcs, &shown, rows).print(out)?),
        Format::Csv => table(out, model, arcs, &shown, &rows),
    }
}

/// The same as JSON has it.
///
/// # Errors
/// A resource that the model does not have.
pub fn document(model: &Arcflow, arcs: &Arcs, options: &Options<'_>) -> Result<Value, Error> {
    let shown = options.resources(model)?;
    let rows = Rows::new(model, arcs, options, shown.first().copied(), options.sort.unwrap_or(Sort::Base));
    Ok(printed(model, arcs, &shown, rows).into_value())
}

fn text(
    out: &mut dyn Write,
    model: &Arcflow,
    arcs: &Arcs,
    options: &Options<'_>,
    shown: &[usize],
    rows: &Rows,
) -> Result<(), Error> {
    let calls = rows.ids.iter().map(|&id| arcs.function(id).calls).max().unwrap_or(0);
    let mut columns = Columns::new(model, options, shown, arcs.total(), calls, 0);
    if options.sort.unwrap_or(Sort::Base) == Sort::Base {
        columns.draw_base();
    }
    if !columns.heading().is_empty() {
        writeln!(out, "{}", columns.heading())?;
    }
    columns.header(out)?;
    for &id in &rows.ids {
        let function = arcs.function(id);
        let runs = function.kind != Kind::Process;
        let figures =
            Figures { calls: function.calls, runs, base: arcs.self_base(id), cum: arcs.self_cum(id) };
        columns.line(out, figures, 0, model.name(function.consumer))?;
    }
    if let Some(unmet) = &rows.unmet {
        writeln!(out, "{unmet}")?;
    }
    let left_out = rows.left_out(options);
    if !left_out.is_empty() {
        writeln!(out, "not shown: {left_out}")?;
    }
    Ok(())
}

fn printed<'a>(model: &'a Arcflow, arcs: &'a Arcs, shown: &[usize], rows: Rows) -> Document<'a> {
    let mut document = Document::new("xprof", model, shown, arcs.total());
    let members = machine::Members::new(model, shown);
    let left = rows.left();
    let row = move |id: FunctionId| {
        let function = arcs.function(id);
        let mut row = serde_json::Map::new();
        row.insert("function".into(), json!(model.name(function.consumer)));
        row.insert("kind".into(), json!(function.kind.word()));
        machine::origin(model, model.name(function.consumer), Some(&mut row));
        row.insert("calls".into(), json!(function.calls));
        row.insert("contexts".into(), json!(function.contexts));
        members.put(arcs.self_base(id), arcs.self_cum(id), &mut row);
        Value::Object(row)
    };
    document.rows("rows", rows.ids.into_iter().map(row));
    document.left_out(left);
    document
}

fn table(
    out: &mut dyn Write,
    model: &Arcflow,
    arcs: &Arcs,
    shown: &[usize],
    rows: &Rows,
) -> Result<(), Error> {
    writeln!(out, "function,kind,calls{}", machine::csv_header(model, shown))?;
    records(out, model, arcs, shown, rows, "")
}

/// The rows of the table alone, with these fields before the others.
pub(crate) fn rows(
    out: &mut dyn Write,
    model: &Arcflow,
    arcs: &Arcs,
    options: &Options<'_>,
    before: &[&str],
) -> Result<(), Error> {
    let shown = options.resources(model)?;
    let rows = Rows::new(model, arcs, options, shown.first().copied(), options.sort.unwrap_or(Sort::Base));
    let before: String = before.iter().map(|text| machine::field(text) + ",").collect();
    records(out, model, arcs, &shown, &rows, &before)
}

fn records(
    out: &mut dyn Write,
    model: &Arcflow,
    arcs: &Arcs,
    shown: &[usize],
    rows: &Rows,
    before: &str,
) -> Result<(), Error> {
    for &id in &rows.ids {
        let function = arcs.function(id);
        let name = machine::field(model.name(function.consumer));
        let figures = machine::csv_figures(shown, arcs.self_base(id), arcs.self_cum(id));
        writeln!(out, "{before}{name},{},{}{figures}", function.kind.word(), function.calls)?;
    }
    Ok(())
}
