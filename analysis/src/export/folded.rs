//! Folded stacks, as flamegraph.pl, inferno, speedscope and [`input::folded`](crate::input::folded) read them: one line for
//! each context that consumed something itself.
//!
//! The format knows one figure, so it is asked for. A process is a first frame, unless there is only one. A name cannot hold `;` or a line end there: `,` and a blank stand for
//! them. Threads are first frames in brackets.

use super::Figure;
use super::walk::{Step, Tree};
use crate::model::{Arcflow, Kind};
use std::io::{self, Write};

/// Writes one figure of each context.
///
/// # Errors
/// Those of `out`.
pub fn write(model: &Arcflow, figure: Figure, out: &mut dyn Write) -> io::Result<()> {
    let tree = Tree::new(model);
    // A process that is the only one says nothing, and its name may change from run to run.
    let mut processes = model.ids().filter(|&id| model.node(id).kind == Kind::Process);
    let only = processes.next().filter(|&id| processes.next().is_none() && figure.of(model, id) == 0.0);
    let mut stack = String::new();
    let mut ends = Vec::new();
    for step in tree.walk() {
        let id = match step {
            Step::Enter(id) => id,
            Step::Leave(_) => {
                ends.pop();
                stack.truncate(ends.last().copied().unwrap_or(0));
                continue;
            }
        };
        if id != Arcflow::ROOT && Some(id) != only {
            let separator = if stack.is_empty() { "" } else { ";" };
            let name = tree.name(id).replace(';', ",").replace(['\n', '\r'], " ");
            match model.node(id).kind {
                Kind::Thread => stack.extend([separator, "[", &name, "]"]),
                _ => stack.extend([separator, &name]),
            }
        }
        ends.push(stack.len());
        let value = figure.of(model, id);
        if value > 0.0 && !stack.is_empty() {
            writeln!(out, "{stack} {value}")?;
        }
    }
    Ok(())
}
