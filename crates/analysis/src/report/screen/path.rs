//! The hottest path: where most of the time goes, call by call, until it spreads.

use super::{Screen, share};
use crate::model::{Arcflow, Kind, NodeId};
use crate::session::own::Own;
use crate::text::in_brief;

/// A callee is on the path if it has so much of what its caller has.
const LEAST: f64 = 0.5;
/// Methods of a path that are named at its beginning and at its end.
const FIRST: usize = 1;
const LAST: usize = 4;

/// The path and its share, in words; none: there is no time, or it spreads at once.
pub(super) fn hottest(screen: &Screen<'_>) -> Option<String> {
    let (model, r) = (screen.model, screen.resource()?);
    let (cum, children, width) = (model.cum(), model.children(), model.resources().len());
    let of = |id: NodeId| cum[id.0 as usize * width + r];
    let mut path = Vec::new();
    let mut at = Arcflow::ROOT;
    loop {
        let next = children.of(at).iter().copied().max_by(|&a, &b| of(a).total_cmp(&of(b)));
        let Some(next) = next.filter(|&next| of(next) > 0.0 && of(next) >= LEAST * of(at)) else { break };
        // Threads are many, and each has a little: the hottest of them is where the path begins.
        path.push(next);
        at = next;
    }
    let methods: Vec<NodeId> = path
        .iter()
        .copied()
        .filter(|&id| !matches!(model.node(id).kind, Kind::Process | Kind::Thread))
        .collect();
    // The outermost of calls by itself has what all of them have.
    let end = model.node(*methods.last()?).consumer;
    let last = *methods.iter().rev().take_while(|&&id| model.node(id).consumer == end).last()?;
    let whole = screen.arcs.total()[r];
    let what = &model.resources()[r].name;
    let names = named(model, screen.own, &methods);
    Some(format!("{} ({} of {what})", names, share(of(last), whole)))
}

/// The program's own methods, and what the path ends in: `Main.main > .. 3 more > Shop.list > SQL select ..`.
fn named(model: &Arcflow, own: &Own, methods: &[NodeId]) -> String {
    let name = |id: &NodeId| model.name(model.node(*id).consumer);
    let is_own = |id: &&NodeId| own.fits(model.node(**id).kind, name(id));
    let last = methods.len() - 1;
    let mut kept: Vec<&NodeId> = methods[..last].iter().filter(is_own).collect();
    kept.push(&methods[last]);
    // A method that calls itself is there once.
    kept.dedup_by_key(|id| model.node(**id).consumer);
    let left = kept.len().saturating_sub(FIRST + LAST);
    let mut words: Vec<String> = Vec::new();
    for (i, id) in kept.iter().enumerate() {
        if left > 1 && i >= FIRST && i < FIRST + left {
            if i == FIRST {
                words.push(format!("\u{2026} {left} more"));
            }
            continue;
        }
        words.push(in_brief(name(id)));
    }
    words.join(" > ")
}
