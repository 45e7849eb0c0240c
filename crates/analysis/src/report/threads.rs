//! threads: one profile for each thread (seed 003). Each begins with a top-level routine of the thread's name; what a thread did in
//! no recorded method is that routine's base, so its cum is the thread's life.

use std::io::Write;

use instrument_names::printable::printable;
use serde_json::json;

use super::thread_list::names;
use super::{Error, Format, Options, machine, xprof};
use crate::arcs::Arcs;
use crate::model::{Arcflow, Kind, NodeId};

/// Writes the report.
///
/// # Errors
/// A resource that the model does not have, or the output failed.
pub fn write(out: &mut dyn Write, model: &Arcflow, options: &Options<'_>) -> Result<(), Error> {
    let shown = options.resources(model)?;
    let cum = model.cum();
    let width = model.resources().len();
    let children = model.children();
    let is_thread = |&i: &u32| model.nodes()[i as usize].kind == Kind::Thread;
    let mut threads: Vec<_> = (0..model.nodes().len() as u32).filter(is_thread).map(NodeId).collect();
    let figure =
        |id: NodeId| shown.first().map_or(model.node(id).n as f64, |&r| cum[id.0 as usize * width + r]);
    threads.sort_by(|&a, &b| figure(b).total_cmp(&figure(a)).then(a.cmp(&b)));
    match options.format {
        Format::Text if threads.is_empty() => writeln!(out, "no threads")?,
        Format::Text => {}
        Format::Json => write!(out, "{{\"report\":\"threads\",\"threads\":[")?,
        Format::Csv => {
            writeln!(out, "process,thread,function,kind,calls{}", machine::csv_header(model, &shown))?;
        }
    }
    for (i, &thread) in threads.iter().enumerate() {
        let part = model.beneath(thread, &children);
        let arcs = Arcs::new(&part);
        let (process, name) = names(model, thread);
        match options.format {
            Format::Text => {
                if i > 0 {
                    writeln!(out)?;
                }
                let of = if process.is_empty() { String::new() } else { format!(" of {process}") };
                writeln!(out, "thread {}{}", printable(name), printable(&of))?;
                xprof::write(out, &part, &arcs, options)?;
            }
            Format::Json => {
                let opening = json!({"process": process, "thread": name}).to_string();
                write!(
                    out,
                    "{}\n{},\"profile\":",
                    if i > 0 { "," } else { "" },
                    &opening[..opening.len() - 1]
                )?;
                xprof::write(out, &part, &arcs, options)?;
                write!(out, "}}")?;
            }
            Format::Csv => xprof::rows(out, &part, &arcs, options, &[process, name])?,
        }
    }
    if options.format == Format::Json {
        writeln!(out, "\n]}}")?;
    }
    Ok(())
}
