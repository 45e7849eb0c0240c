//! The sums over the contexts of each method of a process, so that a question about methods need not read every
//! context.
//!
//! What is nested is a part of the total of a context above it, and in no sum of totals: as reports have it
//! ([`crate::arcs`]).

use super::figures::{ENDS, Figure, Process, whole};
use super::inputs::Input;
use super::known::{OfContexts, is_context};
use super::schema::{METHOD_VALUES, VALUES};
use super::{Files, Folder, Rows};
use crate::context_key::ContextKey;
use crate::model::{Consumer, KINDS, Kind, NodeId};
use crate::session::Error;
use crate::uncertainty::accompanies;

/// A method, link, thread or process.
struct Sum {
    kind: Kind,
    consumer: Consumer,
    method: Option<ContextKey>,
    contexts: u64,
    calls: u64,
    ends: [u64; ENDS.len()],
    /// By figure, those that are whole.
    whole: Vec<i64>,
    /// The others.
    real: Vec<f64>,
}

/// Adds the rows of a process. `methods`: those of its contexts.
///
/// # Errors
/// A figure that is not whole, a file that cannot be written.
pub(super) fn rows<F: Folder>(
    process: &Process,
    input: &Input,
    methods: &OfContexts,
    figures: &[Figure],
    rows: &mut Rows<F::File>,
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    let (model, sums) =
        (&process.session.model, sums(process, methods, figures).map_err(|of| input.cannot_hold(of))?);
    let at = |name: &str| METHOD_VALUES.position(name).expect("a column of the table");
    let mut left = &sums[..];
    while !left.is_empty() {
        let (some, others) = left.split_at(left.len().min(rows.room()));
        left = others;
        let process_key = rows.batch.key(ContextKey(input.key));
        let kinds: Vec<_> = some.iter().map(|of| rows.batch.text(of.kind.word())).collect();
        let keys: Vec<_> = some.iter().map(|of| of.method.map(|key| rows.batch.key(key))).collect();
        let thread = |of: &Sum| (of.kind == Kind::Thread).then(|| rows.batch.text(model.name(of.consumer)));
        let threads: Vec<_> = some.iter().map(thread).collect();
        rows.push_block(some.len(), files, |block| {
            block.all_known(at("process"), process_key);
            block.known(at("kind"), kinds.into_iter().map(Some));
            block.known(at("method"), keys.into_iter());
            block.known(at("thread"), threads.into_iter());
            block.counts(at("contexts"), some.iter().map(|of| of.contexts));
            block.counts(at("calls"), some.iter().map(|of| of.calls));
            for (i, (column, _)) in ENDS.iter().enumerate() {
                block.counts(at(column), some.iter().map(|of| of.ends[i]));
            }
            for (i, &(r, column, _)) in figures.iter().enumerate() {
                let column = at(VALUES.columns[column].name);
                if accompanies(&model.resources()[r]) {
                    block.reals(column, some.iter().map(|of| Some(of.real[i])));
                } else {
                    block.ints(column, some.iter().map(|of| Some(of.whole[i])));
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The sums, in the order in which the model has the first context of each; or a figure that is not whole.
fn sums(process: &Process, methods: &OfContexts, figures: &[Figure]) -> Result<Vec<Sum>, f64> {
    let Process { session, through, cum, .. } = process;
    let (model, width) = (&session.model, session.model.resources().len());
    let is_whole: Vec<bool> = figures.iter().map(|&(r, ..)| !accompanies(&model.resources()[r])).collect();
    // Of each consumer, by its kind: which sum, from 1; 0: none yet.
    let mut places = vec![0; model.names().count() * KINDS];
    let mut sums: Vec<Sum> = Vec::new();
    for (i, node) in model.nodes().iter().enumerate().skip(1) {
        let place = &mut places[node.consumer.0 as usize * KINDS + node.kind as usize];
        if *place == 0 {
            *place = sums.len() + 1;
            sums.push(Sum {
                kind: node.kind,
                consumer: node.consumer,
                method: methods.key(i),
                contexts: 0,
                calls: 0,
                ends: [0; ENDS.len()],
                whole: vec![0; figures.len()],
                real: vec![0.0; figures.len()],
            });
        }
        let sum = &mut sums[*place - 1];
        sum.contexts += 1;
        sum.calls = sum.calls.saturating_add(node.n);
        if let Some(calls) = session.contexts.get(i) {
            for (sum, (_, end)) in sum.ends.iter_mut().zip(ENDS) {
                *sum = sum.saturating_add(end(calls));
            }
        }
        let is_nested = is_context(node.kind) && through[i].is_some();
        let base = model.base(NodeId(i as u32));
        for (at, &(r, _, is_total)) in figures.iter().enumerate() {
            if is_total && is_nested {
                continue;
            }
            let value = if is_total { cum[i * width + r] } else { base[r] };
            if is_whole[at] {
                sum.whole[at] = sum.whole[at].saturating_add(whole(value).ok_or(value)?);
            } else {
                sum.real[at] += value;
            }
        }
    }
    Ok(sums)
}
