//! Times from samples of the threads' CPU time: what the samples of a thread stand for, and where that goes in the model.
//!
//! A thread's CPU time, or the time of its life where that is sampled, is spread over its samples. Those of contexts are the running time of these; those that met no recorded call are that of
//! the thread itself; those that met the recorder are `probes`, and no running time. What is known without saying where it was spent
//! is a row below the thread: [`UNKNOWN`], and [`KERNEL`] where samples meet threads only in user code.
//!
//! Waiting are calls of methods that block, as the clock timed them, less what ran within: a thread that runs does not wait.

use instrument_trace::{Profile, Thread, Tree};

use super::running::silent;
use crate::model::{Arcflow, Kind, NodeId};

/// Samples of which it is not known what they met.
pub(crate) const UNKNOWN: &str = "(not attributed)";
/// CPU time outside of user code, where samples meet only that.
pub(crate) const KERNEL: &str = "(kernel)";

/// Indices of the resources. Where another event than CPU time was sampled, each figure in ns is a number of such events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) running: usize,
    pub(super) waiting: Option<usize>,
    /// Numbers of samples, of what `running` has.
    pub(super) samples: usize,
    /// ns of CPU time in probes.
    pub(super) probes: usize,
    /// What `running` may be off by beside the chance of samples: of base, and of cum.
    pub(super) noise: (usize, usize),
}

/// Whether the times of a profile are samples.
pub(crate) fn are_in(profile: &Profile) -> bool {
    profile.threads.iter().any(|thread| match &thread.tree {
        Some(tree) => tree.has_samples,
        None => thread.samples.is_some(),
    })
}

/// The samples of a thread's contexts or, where they are counted, of its methods.
pub(crate) fn of_contexts(thread: &Thread) -> u64 {
    let of_nodes = thread.tree.iter().flat_map(|tree| &tree.nodes).map(|node| node.samples);
    // Those of a tree may have been added up by method, too.
    let methods = if thread.tree.is_some() { None } else { Some(&thread.methods) };
    let of_methods = methods.into_iter().flat_map(|methods| methods.values()).map(|method| method.samples);
    of_nodes.chain(of_methods).fold(0, u64::saturating_add)
}

/// Gives out whole ns so that a sum of samples has what it stands for: no rounding adds up.
struct Worth {
    each: f64,
    samples: u64,
    given: f64,
}

impl Worth {
    fn take(&mut self, samples: u64) -> f64 {
        self.samples = self.samples.saturating_add(samples);
        let all = (self.samples as f64 * self.each).round();
        let ns = all - self.given;
        self.given = all;
        ns
    }
}

/// ns that one sample of a thread stands for. Of a thread that was killed before its CPU time was noted the period is what is known.
pub(crate) fn worth(thread: &Thread, profile: &Profile) -> f64 {
    let all = of_contexts(thread).saturating_add(thread.samples.map_or(0, |samples| samples.outside()));
    let period_ns = period(profile);
    let Some(samples) = thread.samples.filter(|samples| samples.cpu_ns > 0) else { return period_ns };
    let mean = samples.cpu_ns as f64 / all.max(1) as f64;
    if samples.user_only && samples.period_ns > 0 { mean.min(samples.period_ns as f64) } else { mean }
}

/// The period of a profile, for threads that do not say theirs.
fn period(profile: &Profile) -> f64 {
    let of_threads = profile.threads.iter().filter_map(|thread| thread.samples);
    let known = of_threads.map(|samples| samples.period_ns).find(|&ns| ns > 0);
    let property = || profile.copies.values().find_map(|copy| copy.number("samples.period"));
    known.or_else(property).unwrap_or(0) as f64
}

/// The time of calls that were timed, of each context by itself: without that of such calls within.
fn timed(tree: &Tree) -> Vec<f64> {
    let mut own: Vec<f64> = tree.nodes.iter().map(|node| (node.ns + node.open_ns) as f64).collect();
    // What timed calls took beneath each context that was not timed itself.
    let mut beneath = vec![0.0; own.len()];
    for (i, node) in tree.nodes.iter().enumerate().rev() {
        let whole = if own[i] > 0.0 { own[i] } else { beneath[i] };
        own[i] = (own[i] - beneath[i]).max(0.0);
        if let Some(parent) = (node.parent as usize).checked_sub(1) {
            beneath[parent] += whole;
        }
    }
    own
}

/// Where a thread stands.
pub(super) struct Place<'a> {
    pub(super) thread: NodeId,
    /// The samples of each context, and where it stands: as many as the tree has, in its order, if there is one.
    pub(super) contexts: &'a [(u64, NodeId)],
    pub(super) blocks: Option<&'a dyn Fn(u32) -> bool>,
}

/// Adds the times of a thread. Gives the ns of its probes.
pub(super) fn add(
    model: &mut Arcflow,
    columns: &Columns,
    profile: &Profile,
    thread: &Thread,
    place: &Place<'_>,
) -> f64 {
    let of_thread = thread.samples.unwrap_or_default();
    let all = of_contexts(thread).saturating_add(of_thread.outside());
    // Samples are missing, and nobody knows which: where the time went is not known.
    let is_lost = of_thread.signal_taken;
    let [in_no_call, in_probes, unattributed] = match is_lost {
        true => [0, 0, all],
        false => [of_thread.in_no_call, of_thread.in_probes, of_thread.unattributed],
    };
    let mut worth = Worth { each: worth(thread, profile), samples: 0, given: 0.0 };
    // Where samples count for several, fewer that count for one say as much.
    let as_much = all as f64 / of_thread.squares.max(all).max(1) as f64;
    let told = |samples: u64| if samples > 0 { (samples as f64 * as_much).round().max(1.0) } else { 0.0 };
    let mut add = |model: &mut Arcflow, at: NodeId, samples: u64, column: usize| {
        let ns = worth.take(samples);
        let base = model.base_mut(at);
        base[column] += ns;
        base[columns.samples] += if column == columns.running { told(samples) } else { 0.0 };
        ns
    };
    let running: Vec<f64> = (place.contexts.iter())
        .map(|&(samples, at)| add(model, at, if is_lost { 0 } else { samples }, columns.running))
        .collect();
    add(model, place.thread, in_no_call, columns.running);
    let probes = add(model, place.thread, in_probes, columns.probes);
    if unattributed > 0 {
        let at = row(model, place.thread, UNKNOWN);
        add(model, at, unattributed, columns.running);
    }
    let left = (of_thread.cpu_ns as f64 - worth.given).max(0.0);
    if left > 0.0 {
        // Of a thread that no sample met it is not known where it was; of the kernel's time how long samples say that the rest was.
        let (at, error) = if all == 0 {
            (place.thread, left)
        } else {
            (row(model, place.thread, KERNEL), (1.96 * (all as f64).sqrt() * worth.each).min(left))
        };
        let base = model.base_mut(at);
        base[columns.running] += left;
        base[columns.noise.0] += error.round();
        base[columns.noise.1] += error.round();
    }
    if let (Some(waiting), Some(tree)) = (columns.waiting, &thread.tree) {
        wait(model, waiting, tree, place, &running);
    }
    probes
}

/// Adds the time of calls that block, less what ran in each and in what it called, down to the next call that was timed.
fn wait(model: &mut Arcflow, waiting: usize, tree: &Tree, place: &Place<'_>, running: &[f64]) {
    let Some(blocks) = place.blocks else { return };
    let (timed, silent) = (timed(tree), silent(tree));
    let mut ran = running.to_vec();
    for (i, node) in tree.nodes.iter().enumerate().rev() {
        let is_timed = node.ns > 0 || node.open_ns > 0;
        if is_timed && !silent[i] && node.consumer.method().is_some_and(blocks) {
            model.base_mut(place.contexts[i].1)[waiting] += (timed[i] - ran[i]).max(0.0);
        }
        if let Some(parent) = (node.parent as usize).checked_sub(1).filter(|_| !is_timed) {
            ran[parent] += ran[i];
        }
    }
}

/// A row below a thread that is no method.
fn row(model: &mut Arcflow, thread: NodeId, name: &str) -> NodeId {
    let consumer = model.consumer(name);
    model.child(thread, Kind::Link, consumer)
}
