//! Folded stacks, as flamegraph.pl, inferno, speedscope and [`input::folded`](crate::input::folded) read them: one line
//! for each context that consumed something itself.
//!
//! The format knows one figure, so it is requested. A process is a first frame, unless there is only one; threads are
//! in brackets. A name cannot hold `;` or a line end there: descriptors become types, `Shop.price(java.lang.String)`;
//! else `,` stands for `;`. What controls a terminal is escaped ([`printable`]).

use super::Figure;
use super::size;
use super::walk::{Step, Tree};
use crate::model::{Arcflow, Kind};
use instrument_names::printable::printable;
use instrument_names::signature::readable;
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
            let name = tree.name(id);
            let name = readable(name).unwrap_or_else(|| name.to_owned());
            let name = printable(&name).replace(';', ",");
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

/// About how many bytes [`write`] writes.
pub fn size(model: &Arcflow, figure: Figure) -> u64 {
    let frame = |name: &str| 1 + readable(name).map_or(name.len(), |name| name.len());
    size::stacks(model, |id| figure.of(model, id) > 0.0, frame, size::FIGURE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input;

    fn written(text: &str) -> String {
        let mut bytes = Vec::new();
        write(&input::read(text.as_bytes()).unwrap().model, Figure::Base(0), &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn names_keep_out_of_the_format() {
        let text = "process: shop\n@ main\n0 > Shop.price(Ljava/lang/String;)V\n1 > a;b\n3 < a;b\n";
        let expected = "[main];Shop.price(java.lang.String) 1\n[main];Shop.price(java.lang.String);a,b 2\n";
        assert_eq!(written(text), expected);
    }

    #[test]
    fn several_processes_are_distinguished() {
        let text = "process: shop\n@ main\n0 > a\n1 < a\nprocess: bank\n@ main\n0 > a\n2 < a\n";
        assert_eq!(written(text), "shop;[main];a 1\nbank;[main];a 2\n");
    }
}
