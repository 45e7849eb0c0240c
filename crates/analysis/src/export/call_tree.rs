//! Call trees as JSON, in the form that [`input::call_tree`](crate::input::call_tree) reads: nothing is lost.

use super::walk::{Step, Tree};
use crate::model::Arcflow;
use std::io::{self, Write};

/// How many contexts deep the tree nests.
pub fn depth(model: &Arcflow) -> usize {
    let mut depths = vec![0; model.nodes().len()];
    for (i, node) in model.nodes().iter().enumerate().skip(1) {
        depths[i] = depths[node.parent.0 as usize] + 1;
    }
    depths.into_iter().max().unwrap_or(0)
}

/// Writes a whole model.
///
/// # Errors
/// Those of `out`.
pub fn write(model: &Arcflow, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Named<'a> {
        name: &'a str,
        unit: &'a str,
    }
    let resources: Vec<_> =
        model.resources().iter().map(|r| Named { name: &r.name, unit: &r.unit }).collect();
    write!(out, "{{\"resources\":")?;
    serde_json::to_writer(&mut *out, &resources)?;
    write!(out, ",\"consumers\":")?;
    serde_json::to_writer(&mut *out, &model.consumers)?;
    write!(out, ",\"occurrences\":")?;
    serde_json::to_writer(&mut *out, &model.occurrences)?;
    write!(out, ",\"tree\":")?;
    let tree = Tree::new(model);
    let mut first = true;
    for step in tree.walk() {
        match step {
            Step::Enter(id) => {
                let node = model.node(id);
                write!(out, "{}\n{{\"name\":", if first { "" } else { "," })?;
                serde_json::to_writer(&mut *out, tree.name(id))?;
                if let Some((file, line)) = model.origins.path(tree.name(id)) {
                    write!(out, ",\"file\":")?;
                    serde_json::to_writer(&mut *out, &file)?;
                    write!(out, ",\"line\":{line}")?;
                }
                write!(out, ",\"kind\":\"{}\",\"n\":{},\"base\":[", node.kind.word(), node.n)?;
                for (i, value) in model.base(id).iter().enumerate() {
                    write!(out, "{}{value}", if i > 0 { "," } else { "" })?;
                }
                write!(out, "],\"children\":[")?;
                first = true;
            }
            Step::Leave(_) => {
                write!(out, "]}}")?;
                first = false;
            }
        }
    }
    writeln!(out, "}}")
}
