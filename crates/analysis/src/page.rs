//! The model as a page shows it: one compact document, which holds every figure that a report prints of it, and is small enough to be mailed.
//!
//! ```text
//! u32 LE        length of the header
//! header        JSON: the totals, the consumers with their figures, the arcs between them, the calls of methods, the sections, the columns
//! columns       one after the other, each with one value for every context; a parent's number is lower than its children's
//! ```
//!
//! | column | |
//! |---|---|
//! | `parent` | how much lower the number of the caller's context is; 0 for the root |
//! | `function` | its consumer: the number of the row in `functions` |
//! | `calls` | how often the context was met |
//! | the name of a resource | base: what the context consumed itself |
//! | the same and ` error`, ` total error` | what its base and its cum may be off by; those of a part are those of the whole (`error_of`) |
//! | the same and ` verdict` | of a comparison: whether base differs from the side before (0 equal, 1 within the errors or not known, 2 differs), and cum, four times that |
//! | the same and ` hidden` | what cannot be told from nothing: 1 for its base, 2 for its cum, 3 for both |
//!
//! | encoding | |
//! |---|---|
//! | `unsigned`, `signed` | whole numbers in 7 bits a byte, lowest first, the highest bit says that more follow; signed ones with the sign in the lowest bit |
//! | `signed-from` | the same of what the value is more than the sum of other columns |
//! | `float` | IEEE 754 numbers, all first bytes before all second ones |
//!
//! cum is not in it: who adds up the bases from the last context to the first, as [`Arcflow::cum`] does, has the same figures to the last bit.

mod columns;
mod sections;

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::arcs::{ArcId, Arcs, FunctionId};
use crate::load::CallTimes;
use crate::model::{Arcflow, Kind, NodeId};
use crate::report::diff::Sides;
use crate::report::labels::Labels;
use crate::report::{Format, Options, machine, stats};
use crate::thread_time::{ThreadTime, whole_of};
use crate::uncertainty::{Uncertainty, accompanies};

use columns::Columns;
pub use sections::Sections;

/// Stands for contexts that there is no room for.
const LEFT_OUT: &str = "(left out)";

/// What a page says beside the model.
#[derive(Debug, Clone, Default, Serialize)]
pub struct About {
    /// The programs.
    pub title: String,
    /// The files that the figures are from, as a command line names them.
    pub files: Vec<String>,
    /// Names and values, in the order in which a report prints them.
    pub facts: Vec<(String, String)>,
    /// What wants attention: warnings, as a report has them.
    pub warnings: Vec<String>,
    /// The program that made the page, with its version.
    pub generator: String,
    /// Whoever asks for the page again gets newer figures: it comes from a server, and a program goes on.
    pub is_live: bool,
    /// Whoever asks where the page came from gets the code of methods.
    pub has_code: bool,
    /// Snapshots from which on the figures count, as a command line names them (`--since`).
    pub since: Vec<String>,
    /// Patterns of the only methods that are there, as a command line names them (`--own`); none: all are.
    pub own: Vec<String>,
}

/// A document that is not written yet.
pub struct Page {
    header: Value,
    columns: Vec<u8>,
    left_out: Option<LeftOut>,
    /// The resources of the model that it has.
    shown: Vec<usize>,
}

/// Contexts that a page has no room for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LeftOut {
    /// How many. Those that one context led to are one context below it, `(left out)`, so that no figure of the others changes.
    pub contexts: u64,
    /// None of them consumed more than this share of the whole, with all below it.
    pub share: f64,
}

impl Page {
    /// Of a model and of its single calls, which may be empty. Of more than `most` contexts those that consumed least are left out.
    ///
    /// # Errors
    /// None that is expected: a report into memory fails.
    pub fn new(
        about: &About,
        model: &Arcflow,
        calls: &HashMap<String, CallTimes>,
        most: usize,
    ) -> io::Result<Page> {
        Page::made(about, model, calls, most, None)
    }

    /// Of a comparison: the figures are those of the side after, and the header says which are those of the side before.
    ///
    /// # Errors
    /// As of [`Page::new`].
    pub fn of_sides(about: &About, sides: &Sides) -> io::Result<Page> {
        Page::made(about, &sides.model, &HashMap::new(), usize::MAX, Some(sides))
    }

    fn made(
        about: &About,
        model: &Arcflow,
        calls: &HashMap<String, CallTimes>,
        most: usize,
        sides: Option<&Sides>,
    ) -> io::Result<Page> {
        let arcs = Arcs::new(model);
        let shown: Vec<usize> =
            (0..model.resources().len()).filter(|&r| !accompanies(&model.resources()[r])).collect();
        let (pruned, left_out) = pruned(model, &shown, most);
        let shrunk = pruned.as_ref().unwrap_or(model);
        let mut columns = Columns::default();
        columns.contexts(shrunk, &arcs, model);
        columns.figures(shrunk, &shown);
        let difference = sides.map(|sides| {
            for (pair, verdicts) in sides.pairs.iter().zip(&sides.contexts) {
                let name = format!("{} verdict", model.resources()[pair[0]].name);
                columns.unsigned(&name, verdicts.iter().map(|&verdict| u64::from(verdict)));
            }
            json!({"runs": sides.runs, "pairs": sides.pairs, "verdicts": sides.functions})
        });
        let nothing = vec![0.0; model.resources().len()];
        let header = json!({
            "format": 1,
            "about": about,
            "consumers": model.consumers,
            "occurrences": model.occurrences,
            "resources": shown.iter().map(|&r| {
                let resource = &model.resources()[r];
                let mut row = json!({"name": resource.name, "unit": resource.unit});
                if let Some(whole) = whole_of(model, &resource.name) {
                    row["error_of"] = json!(whole);
                }
                // What no sample met is less than this.
                if let Some(bound) = Uncertainty::of(model, r).bound(&nothing) {
                    row["unmet"] = json!(bound);
                }
                row
            }).collect::<Value>(),
            "first": first(model, &shown),
            "total": machine::list(arcs.total(), &shown),
            "correction": model.correction.json(),
            "refusal": model.correction.line(),
            "window": model.window.map(|window| json!({"begin_ns": window.begin, "ns": window.length})),
            "left_out": left_out,
            "difference": difference,
            "functions": functions(model, &arcs, &shown),
            "arcs": arcs_of(&arcs, &shown),
            "stats": statistics(model, calls)?,
            "contexts": shrunk.nodes().len(),
            "columns": columns.plan,
        });
        Ok(Page { header, columns: columns.bytes, left_out, shown })
    }

    /// Adds what it shows beside contexts.
    #[must_use]
    pub fn with(mut self, sections: &Sections) -> Page {
        self.header["sections"] = json!(sections);
        self.header["sections"]["left_out"] = json!(sections.left_out());
        self
    }

    /// Adds what the landing page shows: [`crate::report::screen::overview`].
    #[must_use]
    pub fn with_overview(mut self, mut overview: Value) -> Page {
        // Figures of methods are of the resources that the page has.
        if let Some(methods) = overview.get_mut("methods").and_then(Value::as_array_mut) {
            for row in methods {
                row[1] = self.shown.iter().map(|&r| row[1][r].clone()).collect();
            }
        }
        self.header["overview"] = overview;
        self
    }

    /// What it has no room for.
    pub fn left_out(&self) -> Option<LeftOut> {
        self.left_out
    }

    /// Writes the document.
    ///
    /// # Errors
    /// The output failed.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let header = serde_json::to_vec(&self.header)?;
        out.write_all(&(header.len() as u32).to_le_bytes())?;
        out.write_all(&header)?;
        out.write_all(&self.columns)
    }
}

/// The resource that reports show first: running time, if that is known.
fn first(model: &Arcflow, shown: &[usize]) -> usize {
    let running = ThreadTime::of(model).map(|time| time.running);
    shown.iter().position(|&r| Some(r) == running).unwrap_or(0)
}

/// The model without those that consumed least of every resource, with all below them, if there are more contexts than `most`.
fn pruned(model: &Arcflow, shown: &[usize], most: usize) -> (Option<Arcflow>, Option<LeftOut>) {
    let (width, all) = (model.resources().len(), model.nodes().len());
    if all <= most.max(1) {
        return (None, None);
    }
    let cum = model.cum();
    let weight = |i: usize| {
        let share = |&r: &usize| if cum[r] > 0.0 { cum[i * width + r] / cum[r] } else { 0.0 };
        shown.iter().map(share).fold(0.0, f64::max)
    };
    let weights: Vec<f64> = (0..all).map(weight).collect();
    // Those that consumed most come first, and callers before those they led to: who is left in has all its callers.
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_unstable_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let mut is_small = vec![false; all];
    order[most.max(1)..].iter().for_each(|&i| is_small[i] = true);
    let share = weights[order[most.max(1)]];
    let (part, contexts) = without(model, |i| is_small[i]);
    (Some(part), Some(LeftOut { contexts, share }))
}

/// The model with the contexts that are `small`, and all below them, as one below each context that led to some. How many these were.
fn without(model: &Arcflow, small: impl Fn(usize) -> bool) -> (Arcflow, u64) {
    let mut part = model.emptied();
    // The new place of each context, and whether it is one of those.
    let mut places = vec![(Arcflow::ROOT, false); model.nodes().len()];
    let mut contexts = 0;
    for (i, node) in model.nodes().iter().enumerate() {
        let (above, is_left_out) = places[node.parent.0 as usize];
        let place = if i == 0 {
            Arcflow::ROOT
        } else if is_left_out {
            above
        } else {
            let is_small = small(i);
            let name = if is_small { LEFT_OUT } else { model.name(node.consumer) };
            let consumer = part.consumer(name);
            part.child(above, if is_small { Kind::Deeper } else { node.kind }, consumer)
        };
        let is_small = is_left_out || i > 0 && small(i);
        places[i] = (place, is_small);
        contexts += u64::from(is_small);
        if !is_left_out {
            part.meet(place, node.n);
        }
        part.add_base(place, model.base(NodeId(i as u32)));
    }
    (part, contexts)
}

fn functions(model: &Arcflow, arcs: &Arcs, shown: &[usize]) -> Value {
    let labels = Labels::new(model, &Options::default());
    let members = machine::Members::new(model, shown);
    let row = |id: FunctionId| {
        let function = arcs.function(id);
        let name = model.name(function.consumer);
        let mut row = Map::new();
        row.insert("name".into(), json!(name));
        let label = labels.of(name);
        if label != name {
            row.insert("label".into(), json!(label));
        }
        row.insert("kind".into(), json!(function.kind.word()));
        row.insert("calls".into(), json!(function.calls));
        row.insert("contexts".into(), json!(function.contexts));
        members.put(arcs.self_base(id), arcs.self_cum(id), &mut row);
        machine::origin(model, name, Some(&mut row));
        Value::Object(row)
    };
    let known = (0..arcs.functions().len() as u32).map(|i| row(FunctionId(i)));
    known.chain([json!({"name": LEFT_OUT, "kind": Kind::Deeper.word(), "calls": 0, "contexts": 0})]).collect()
}

/// Caller, callee, calls; what the callee consumed itself over the arc, then what of its cum belongs to it and to its caller.
fn arcs_of(arcs: &Arcs, shown: &[usize]) -> Value {
    let all = (0..arcs.functions().len() as u32).flat_map(|i| arcs.children(FunctionId(i)));
    let row = |&id: &ArcId| {
        let arc = arcs.arc(id);
        json!([
            arc.parent.0,
            arc.child.0,
            arc.calls,
            machine::list(arcs.base(id), shown),
            machine::list(arcs.parent_cum(id), shown),
            machine::list(arcs.child_cum(id), shown)
        ])
    };
    all.map(row).collect()
}

/// The rows of `stats`.
fn statistics(model: &Arcflow, calls: &HashMap<String, CallTimes>) -> io::Result<Value> {
    let options = Options { format: Format::Json, ..Options::default() };
    let mut document = stats::document(model, calls, &options).map_err(io::Error::other)?;
    Ok(document["rows"].take())
}

#[cfg(test)]
mod tests;
