//! What several runs of one build have in common, and what moves among them.
//!
//! A figure of a method is judged if it was the same in all runs, in each of its contexts: where contexts of it moved,
//! an equal sum is chance. It is what the method did in its settled contexts ([`Unsettled`]): below a caller that
//! moves, equal figures may be chance. One of a context is judged if the calls of all its callers were the same, too.
//! Of contexts only as many levels are kept as make [`MOST_CONTEXTS`] lines, since a baseline is to be read; methods
//! are all kept.

use std::collections::{BTreeMap, BTreeSet};

use super::conditions::{Conditions, Refusal};
use super::explain::explain;
use super::figure::{Figure, Range, Ranges, fixed, widen};
use super::joined::Joined;
use super::run::{Run, is_method};
use super::unsettled::Unsettled;
use crate::hash::HashMap;
use instrument_names::signature::parts;

pub use super::joined::{Context, Method};

/// Contexts that a baseline keeps, unless asked otherwise.
pub const MOST_CONTEXTS: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Baseline {
    /// How many runs it comes from.
    pub runs: u64,
    /// Their conditions; `java` has all their versions.
    pub conditions: Conditions,
    /// Methods that were called, by name.
    pub methods: BTreeMap<String, Method>,
    /// Methods that were instrumented and never called; without parameters: none of this name was; `pkg.Class.*`: none
    /// of the class.
    pub never: BTreeSet<String>,
    /// Contexts in the order of their paths; the first is the root. What lies below one whose calls move is not there.
    pub contexts: Vec<Context>,
    /// Contexts of more levels than this are not there; `None`: all are.
    pub levels: Option<usize>,
    /// Contexts that are not judged.
    pub unsettled: Unsettled,
    /// Calls of all methods, those that are not judged included.
    pub all_calls: u64,
}

impl Baseline {
    /// Learns from runs of one build; keeps at most so many contexts.
    ///
    /// # Errors
    /// Runs under different conditions, with the label of the one that differs; but several versions of Java are
    /// allowed.
    pub fn learn(runs: &[Run], most_contexts: usize) -> Result<Baseline, Box<(String, Refusal)>> {
        Baseline::learn_more(runs, most_contexts, &Unsettled::default())
    }

    /// The same where some contexts are known to be unsettled.
    ///
    /// # Errors
    /// Those of [`Baseline::learn`].
    pub fn learn_more(
        runs: &[Run],
        most_contexts: usize,
        known: &Unsettled,
    ) -> Result<Baseline, Box<(String, Refusal)>> {
        let Some(first) = runs.first() else { return Ok(Baseline::default()) };
        let mut versions = BTreeSet::new();
        for run in runs {
            versions.insert(run.conditions.java.as_str());
            let java = first.conditions.java.clone();
            let same_java = Conditions { java, ..run.conditions.clone() };
            same_java
                .comparable(&first.conditions, &first.label)
                .map_err(|refusal| Box::new((run.label.clone(), refusal)))?;
        }
        let java = versions.into_iter().collect::<Vec<_>>().join(" ");
        let mut methods: BTreeMap<String, Method> = BTreeMap::new();
        let of_runs: Vec<_> = runs.iter().map(Run::methods).collect();
        for name in of_runs.iter().flat_map(BTreeMap::keys).collect::<BTreeSet<_>>() {
            let mut figures = of_runs.iter().map(|run| fixed(&run.get(name).copied().unwrap_or_default()));
            let mut ranges = figures.next().unwrap_or_default();
            figures.for_each(|figures| widen(&mut ranges, &figures));
            methods.insert((*name).to_owned(), Method { ranges, reason: None });
        }
        let all_calls = methods.values().map(|method| method.ranges[0].max).sum();
        let joined = Joined::new(runs);
        let mut unsettled = Unsettled::default();
        if first.has_contexts() {
            let settled;
            (unsettled, settled) = Unsettled::learn(&joined, known);
            judge_by_contexts(&joined, &settled, &mut methods);
        }
        explain(runs, &joined, &mut methods);
        let (contexts, levels) = if first.has_contexts() {
            kept(&joined, most_contexts)
        } else {
            (vec![joined.contexts[0].clone()], Some(0))
        };
        let conditions = Conditions { java, ..first.conditions.clone() };
        let never = never(runs, &methods);
        let runs = runs.len() as u64;
        Ok(Baseline { runs, conditions, methods, never, contexts, levels, unsettled, all_calls })
    }

    /// Takes over what `new` learned, which knew what was unsettled ([`Baseline::learn_more`]), as what is right from
    /// now on. What moved goes on moving: one run cannot show that it does not.
    pub fn bless(&mut self, new: Baseline) {
        let old = std::mem::replace(self, new);
        for (name, method) in old.methods {
            let moves = (0..Figure::ALL.len()).filter(|&i| method.ranges[i].value().is_none());
            for i in moves {
                let now = self
                    .methods
                    .entry(name.clone())
                    .or_insert_with(|| Method { ranges: Ranges::default(), reason: None });
                now.ranges[i] = now.ranges[i].with(method.ranges[i]);
                now.reason = now.reason.take().or_else(|| method.reason.clone());
            }
        }
        // Contexts that moved, with what lies below.
        let places = self.places();
        let mut moving = vec![None; self.contexts.len()];
        let mut found: Vec<Option<usize>> = Vec::with_capacity(old.contexts.len());
        for (i, context) in old.contexts.iter().enumerate() {
            let place = if i == 0 {
                Some(0)
            } else {
                found[context.parent].and_then(|parent| places.get(&(parent, &*context.name)).copied())
            };
            if let Some(place) = place {
                moving[place] = Some(context.ranges);
            }
            found.push(place);
        }
        drop(places);
        for (context, old) in self.contexts.iter_mut().zip(&moving) {
            let Some(old) = old else { continue };
            for (range, old) in context.ranges.iter_mut().zip(old).filter(|(_, old)| old.value().is_none()) {
                *range = range.with(*old);
            }
        }
        self.contexts = without_what_moves(&self.contexts);
        self.runs += old.runs;
    }

    /// Whether a method was there and was not called.
    pub fn was_never_called(&self, method: &str) -> bool {
        let names = [method, without_parameters(method), &all_of_class(method)];
        names.iter().any(|name| self.never.contains(*name))
    }

    /// Contexts by their caller's index and their name.
    pub fn places(&self) -> HashMap<(usize, &str), usize> {
        let contexts = self.contexts.iter().enumerate().skip(1);
        contexts.map(|(i, context)| ((context.parent, context.name.as_str()), i)).collect()
    }

    /// Calls that are judged, and of all methods, as they were learned.
    pub fn stable_calls(&self) -> (u64, u64) {
        let calls = self.methods.values().map(|method| method.ranges[0]);
        let (stable, most) = calls
            .fold((0, 0), |(stable, most), range| (stable + range.value().unwrap_or(0), most + range.max));
        (stable, self.all_calls.max(most))
    }
}

/// How many methods moved in one of these runs only: without it, they would be judged. As many others as that, divided
/// by the number of runs, are to be expected to move for the first time in the next run (the estimate of Good and
/// Turing). 0 of fewer than 3 runs.
pub fn moved_once(runs: &[Run]) -> usize {
    if runs.len() < 3 {
        return 0;
    }
    let of_runs: Vec<_> = runs.iter().map(Run::methods).collect();
    let names: BTreeSet<&str> = of_runs.iter().flat_map(BTreeMap::keys).copied().collect();
    let once = |name: &&&str| {
        let values: Vec<_> = of_runs.iter().map(|run| run.get(**name).copied().unwrap_or_default()).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let most = sorted[sorted.len() / 2];
        values.iter().filter(|value| **value != most).count() == 1
    };
    names.iter().filter(once).count()
}

/// What the contexts of a method say of its figures.
#[derive(Default)]
struct InContexts {
    /// What the least figures of all its contexts make together, and what the largest make.
    sum: Ranges,
    settled: Ranges,
    /// Contexts that are not settled.
    unsettled: u64,
}

/// Takes of methods whose sum was the same in all runs what may be chance:
///
/// 1. Where contexts of it moved, they made up for each other: the sum may be what the least figures of all make
///    together, or the largest.
/// 2. Where contexts are unsettled, only the others count.
/// 3. Where all are, the method moves: each of them may have a call more or less.
fn judge_by_contexts(joined: &Joined, settled: &[bool], methods: &mut BTreeMap<String, Method>) {
    let mut found: BTreeMap<&str, InContexts> = BTreeMap::new();
    for (context, is_settled) in joined.contexts.iter().zip(settled).skip(1) {
        let found = found.entry(&context.name).or_default();
        add(&mut found.sum, &context.ranges);
        if *is_settled {
            add(&mut found.settled, &context.ranges);
        } else {
            found.unsettled += 1;
        }
    }
    for (name, InContexts { sum, settled, unsettled }) in found {
        let Some(method) = methods.get_mut(name) else { continue };
        for (f, range) in method.ranges.iter_mut().enumerate() {
            let Some(value) = range.value() else { continue };
            if sum[f].value().is_none() {
                *range = range.with(sum[f]);
            } else if settled[0].max > 0 {
                *range = settled[f];
            } else if value > 0 {
                *range = Range { min: value.saturating_sub(unsettled), max: value.saturating_add(unsettled) };
            }
        }
    }
}

fn add(sum: &mut Ranges, ranges: &Ranges) {
    for (sum, range) in sum.iter_mut().zip(ranges) {
        sum.min = sum.min.saturating_add(range.min);
        sum.max = sum.max.saturating_add(range.max);
    }
}

/// `pkg.Class.method(..)` as `pkg.Class.method`.
fn without_parameters(method: &str) -> &str {
    method.split('(').next().unwrap_or(method)
}

/// `pkg.Class.method(..)` as `pkg.Class.*`.
fn all_of_class(method: &str) -> String {
    format!("{}.*", parts(method).0)
}

/// What was instrumented and never called: by class where that is all of it, and without parameters where no method of
/// the name was.
fn never(runs: &[Run], methods: &BTreeMap<String, Method>) -> BTreeSet<String> {
    let used: BTreeSet<String> = methods.keys().map(|name| all_of_class(name)).collect();
    let called: BTreeSet<&str> = methods.keys().map(|name| without_parameters(name)).collect();
    let all: BTreeSet<&String> = runs.iter().flat_map(|run| &run.instrumented).collect();
    let uncalled = all.into_iter().filter(|name| !methods.contains_key(*name));
    let named = uncalled.map(|name| {
        let class = all_of_class(name);
        let head = without_parameters(name);
        if !used.contains(&class) {
            class
        } else if called.contains(head) {
            name.clone()
        } else {
            head.to_owned()
        }
    });
    named.collect()
}

/// The contexts that a baseline keeps, and the levels that it keeps if not all.
fn kept(joined: &Joined, most: usize) -> (Vec<Context>, Option<usize>) {
    let contexts = without_what_moves(&joined.contexts);
    let mut levels = vec![0usize; contexts.len()];
    let mut of_level: Vec<usize> = vec![0];
    for i in 1..contexts.len() {
        levels[i] = levels[contexts[i].parent] + 1;
        of_level.resize(of_level.len().max(levels[i] + 1), 0);
        of_level[levels[i]] += 1;
    }
    let mut sum = 0;
    let fits = of_level.iter().take_while(|&&count| {
        sum += count;
        sum <= most
    });
    let deepest = fits.count().saturating_sub(1);
    let is_cut = deepest + 1 < of_level.len();
    let keep = |i: usize| levels[i] <= deepest;
    (ordered(&contexts, keep), is_cut.then_some(deepest))
}

/// Without what lies below contexts whose calls move.
fn without_what_moves(contexts: &[Context]) -> Vec<Context> {
    let mut stays = vec![true; contexts.len()];
    for i in 1..contexts.len() {
        let parent = contexts[i].parent;
        let moves = contexts[parent].ranges[0].value().is_none();
        // How often the machine's own work was met tells nothing; what it called does.
        stays[i] = stays[parent] && (!moves || !is_method(&contexts[parent].name));
    }
    ordered(contexts, |i| stays[i])
}

/// The contexts that are to be kept (with a context its callers), in the order of their paths.
fn ordered(contexts: &[Context], keep: impl Fn(usize) -> bool) -> Vec<Context> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); contexts.len()];
    for i in (1..contexts.len()).filter(|&i| keep(i)) {
        children[contexts[i].parent].push(i);
    }
    let mut out = vec![contexts[0].clone()];
    let mut stack = vec![(0, 0)];
    while let Some((i, place)) = stack.pop() {
        if i != 0 {
            out.push(Context { parent: place, ..contexts[i].clone() });
        }
        let at = out.len() - 1;
        let below = &mut children[i];
        below.sort_by(|&a, &b| contexts[b].name.cmp(&contexts[a].name));
        stack.extend(below.iter().map(|&child| (child, at)));
    }
    out
}

#[cfg(test)]
mod tests;
