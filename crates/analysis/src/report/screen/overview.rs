//! The same for the landing page of the viewer: sentences as the terminal has them, methods by their place among the functions of the page.

use super::methods::{charged, heading, sorted};
use super::{Screen, elapsed, findings, path, ran, threads, trust};
use crate::arcs::FunctionId;
use crate::report::Error;
use crate::report::summary::Summary;
use instrument_names::signature::value_kind;
use serde_json::{Value, json};

/// Methods that are listed.
const TOP: usize = 10;

/// What the landing page is made of; null: texts of other tools say nothing of a program.
///
/// # Errors
/// What was recorded beside calls cannot be read.
pub fn overview(summary: &Summary<'_>) -> Result<Value, Error> {
    let screen = Screen::new(summary);
    let (session, model, arcs) = (screen.session, screen.model, screen.arcs);
    if session.profiles.is_empty() {
        return Ok(Value::Null);
    }
    let programs: Vec<_> = session
        .profiles
        .iter()
        .map(|file| {
            json!({
                "line": file.line(),
                "ran": ran(file),
                "elapsed_ns": elapsed(file),
                "threads": threads(file),
                "is_live": file.is_live,
            })
        })
        .collect();
    let charges = charged(&screen);
    let methods: Vec<_> =
        sorted(&screen, &charges).iter().take(TOP).map(|(id, sum)| json!([id.0, sum])).collect();
    let all = || (0..arcs.functions().len() as u32).map(FunctionId);
    let name = |id: FunctionId| model.name(arcs.function(id).consumer);
    let own: Vec<u32> =
        all().filter(|&id| screen.own.fits(arcs.function(id).kind, name(id))).map(|id| id.0).collect();
    let values: Vec<u32> = all().filter(|&id| value_kind(name(id)).is_some()).map(|id| id.0).collect();
    let found: Vec<_> = findings::all(&screen)?
        .iter()
        .map(|found| json!({"kind": found.name, "text": found.text, "of": found.of.map(|of| model.name(of))}))
        .collect();
    Ok(json!({
        "programs": programs,
        "trust": trust::line(&screen, summary),
        "wrong": trust::wrong(&screen, summary)?,
        "own_is": heading(&screen, &charges),
        "own": own,
        "values": values,
        "methods": methods,
        "hottest": path::hottest(&screen),
        "findings": found,
    }))
}
