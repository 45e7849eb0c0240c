//! What calls of a method did, by name and caller: of one call, of several, or of all but some.

use std::collections::HashMap;

use instrument_trace::{Profile, Tree, TreeConsumer};

use crate::load::place::link_text;
use crate::session::ProfileFile;

/// A context below the method.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// Its name.
    pub name: String,
    /// Index of its caller, which is in front of it; the method itself has its own.
    pub caller: usize,
    /// Calls.
    pub calls: u64,
    /// Calls that returned.
    pub returned: u64,
    /// ns of the calls that were timed, callees included.
    pub timed_ns: u64,
    /// Samples of the context itself.
    pub samples: u64,
    /// ns that these stand for.
    pub running: f64,
    /// ns for which it waited to enter monitors, where that was recorded.
    pub contended: u64,
    /// Its calls may block their thread.
    pub blocks: bool,
}

/// What calls did. The first context is the method.
#[derive(Debug, Clone, Default)]
pub struct Did {
    contexts: Vec<Context>,
    numbers: HashMap<(usize, String), usize>,
    /// All calls were timed.
    is_timed: bool,
}

/// What a context took itself, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Own {
    /// In calls that block, by the clock.
    pub waiting: f64,
    /// By samples; where all calls are timed, what passed in it, by the clock.
    pub running: f64,
}

impl Own {
    /// Both.
    pub fn sum(self) -> f64 {
        self.waiting + self.running
    }
}

/// What the ids of a copy stand for, and its samples.
pub(super) struct Meaning<'a> {
    pub(super) file: &'a ProfileFile,
    pub(super) copy: u32,
    /// ns that a sample stands for.
    pub(super) worth: f64,
}

impl Meaning<'_> {
    fn name(&self, consumer: TreeConsumer) -> String {
        match consumer {
            TreeConsumer::Method(id) => self.file.names.method(self.copy, id),
            TreeConsumer::Deeper => "(deeper)".into(),
            TreeConsumer::Link(number) => link_text(&self.file.profile, self.copy, number),
        }
    }

    fn blocks(&self, consumer: TreeConsumer) -> bool {
        consumer.method().is_some_and(|id| self.file.names.blocks(self.copy, id))
    }
}

/// Whether all calls of a profile are timed.
pub(super) fn is_timed(profile: &Profile) -> bool {
    let mut trees = profile.threads.iter().filter_map(|thread| thread.tree.as_ref());
    trees.all(|tree| !tree.sampled && !tree.has_samples)
}

impl Did {
    /// Nothing so far.
    pub(super) fn new(is_timed: bool) -> Did {
        Did { is_timed, ..Did::default() }
    }

    /// The method and what it called, callers first.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// Calls of the method.
    pub fn calls(&self) -> u64 {
        self.contexts.first().map_or(0, |context| context.calls)
    }

    /// Whether running time is all that passed, by the clock.
    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// The context of a name below a caller.
    pub fn find(&self, caller: usize, name: &str) -> Option<usize> {
        self.numbers.get(&(caller, name.to_owned())).copied()
    }

    /// Adds what is below these contexts of a tree, by index; one below another is part of it.
    pub(super) fn add(&mut self, tree: &Tree, is_top: impl Fn(usize) -> bool, meaning: &Meaning<'_>) {
        let mut names: HashMap<TreeConsumer, (String, bool)> = HashMap::new();
        let mut places: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
        for (index, node) in tree.nodes.iter().enumerate() {
            let above = (node.parent as usize).checked_sub(1).and_then(|parent| places[parent]);
            if above.is_none() && !is_top(index) {
                places.push(None);
                continue;
            }
            let of = names.entry(node.consumer);
            let (name, blocks) =
                of.or_insert_with(|| (meaning.name(node.consumer), meaning.blocks(node.consumer)));
            let place = self.place(above, name, *blocks);
            let context = &mut self.contexts[place];
            context.calls = context.calls.saturating_add(node.entries);
            context.returned = context.returned.saturating_add(node.closes.exits);
            context.timed_ns = context.timed_ns.saturating_add(node.ns);
            context.samples = context.samples.saturating_add(node.samples);
            context.running += node.samples as f64 * meaning.worth;
            places.push(Some(place));
        }
    }

    fn place(&mut self, above: Option<usize>, name: &str, blocks: bool) -> usize {
        let next = self.contexts.len();
        // All tops are one, whatever the number of their contexts.
        let caller = above.unwrap_or(0);
        let place = match above {
            None => 0,
            Some(caller) => *self.numbers.entry((caller, name.to_owned())).or_insert(next),
        };
        if place == next {
            let none = Context {
                name: name.to_owned(),
                caller,
                calls: 0,
                returned: 0,
                timed_ns: 0,
                samples: 0,
                running: 0.0,
                contended: 0,
                blocks,
            };
            self.contexts.push(none);
        }
        place
    }

    /// A wait of so many ns to enter a monitor, in the context of these names, or the nearest one to it.
    pub(super) fn wait(&mut self, path: &[String], ns: u64) {
        let mut place = 0;
        for name in path {
            let Some(below) = self.find(place, name) else { break };
            place = below;
        }
        if let Some(context) = self.contexts.get_mut(place) {
            context.contended = context.contended.saturating_add(ns);
        }
    }

    /// Takes away what other calls did. False: they have something that is not here.
    pub(super) fn subtract(&mut self, other: &Did) -> bool {
        let mut places: Vec<Option<usize>> = Vec::new();
        let mut is_all = true;
        for (index, context) in other.contexts.iter().enumerate() {
            let place = match index {
                0 => (!self.contexts.is_empty()).then_some(0),
                _ => places[context.caller].and_then(|caller| self.find(caller, &context.name)),
            };
            places.push(place);
            let Some(of) = place.map(|place| &mut self.contexts[place]) else {
                is_all = false;
                continue;
            };
            for (here, there) in [
                (&mut of.calls, context.calls),
                (&mut of.returned, context.returned),
                (&mut of.timed_ns, context.timed_ns),
                (&mut of.samples, context.samples),
                (&mut of.contended, context.contended),
            ] {
                is_all &= *here >= there;
                *here = here.saturating_sub(there);
            }
            // Without samples nothing is left but what rounding leaves.
            of.running = if of.samples == 0 { 0.0 } else { (of.running - context.running).max(0.0) };
        }
        is_all
    }

    /// A call of so many ns did this. A sample may stand for more than the call took, or one within it that was timed: what runs is made to fit, in
    /// these calls and around them.
    pub(super) fn limit_running(&mut self, ns: u64) {
        if self.is_timed {
            return;
        }
        // The timed call that each context is in, by index; the method is that of all others. Of each how much may run, and does.
        let mut within: Vec<usize> = Vec::with_capacity(self.contexts.len());
        let mut room = vec![(0.0, 0.0); self.contexts.len()];
        for (index, context) in self.contexts.iter().enumerate() {
            let mut of = within.get(context.caller).copied().unwrap_or_default();
            if index == 0 {
                room[0].0 = ns as f64;
            } else if of == 0 && context.timed_ns > 0 {
                of = index;
                room[of].0 = context.timed_ns as f64;
                room[0].0 -= context.timed_ns as f64;
            }
            room[of].1 += context.running;
            within.push(of);
        }
        for (context, of) in self.contexts.iter_mut().zip(within) {
            let (most, ran) = room[of];
            if ran > most {
                context.running *= most.max(0.0) / ran;
            }
        }
    }

    /// What each context took itself.
    pub fn own(&self) -> Vec<Own> {
        let mut own = vec![Own::default(); self.contexts.len()];
        // What timed calls took beneath each context, and what ran there beside them.
        let mut beneath = vec![(0.0, 0.0); own.len()];
        for (index, context) in self.contexts.iter().enumerate().rev() {
            let (timed, ran) = beneath[index];
            let passed = (context.timed_ns as f64 - timed).max(0.0);
            let contended = context.contended as f64;
            own[index] = match (context.blocks, self.is_timed) {
                (true, true) => Own { waiting: passed, running: 0.0 },
                (false, true) => {
                    Own { waiting: contended.min(passed), running: (passed - contended).max(0.0) }
                }
                (true, false) => {
                    let waiting = (passed - context.running - ran).max(contended);
                    Own { waiting, running: context.running }
                }
                (false, false) => Own { waiting: contended, running: context.running },
            };
            if index > 0 {
                let above = &mut beneath[context.caller];
                if context.timed_ns > 0 {
                    above.0 += context.timed_ns as f64;
                } else {
                    *above = (above.0 + timed, above.1 + ran + context.running);
                }
            }
        }
        own
    }

    /// What each context took with all below it.
    pub fn cum(&self) -> Vec<Own> {
        let mut cum = self.own();
        for index in (1..cum.len()).rev() {
            let (of, caller) = (cum[index], self.contexts[index].caller);
            cum[caller] =
                Own { waiting: cum[caller].waiting + of.waiting, running: cum[caller].running + of.running };
        }
        cum
    }

    /// What is the same wherever it is called: methods, and calls that block by the method that makes them; with their calls.
    pub fn parts(&self) -> HashMap<(&str, Option<&str>), (Own, u64)> {
        let mut parts: HashMap<(&str, Option<&str>), (Own, u64)> = HashMap::new();
        for (own, context) in self.own().into_iter().zip(&self.contexts) {
            let caller = context.blocks.then(|| self.contexts[context.caller].name.as_str());
            let part = parts.entry((&context.name, caller)).or_default();
            part.0.waiting += own.waiting;
            part.0.running += own.running;
            part.1 += context.calls;
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The method calls `lock`, which blocks and calls back, and `work`, which locks as well: callers, calls, timed ns, samples of 1 ms.
    fn did(is_timed: bool) -> Did {
        let mut did = Did::new(is_timed);
        for (above, name, calls, timed_ns, samples, blocks) in [
            (None, "serve", 1, 10_000_000, 1, false),
            (Some(0), "lock", 2, 6_000_000, 1, true),
            (Some(1), "back", 2, 0, 1, false),
            (Some(0), "work", 3, if is_timed { 3_000_000 } else { 0 }, 2, false),
            (Some(3), "lock", 1, 1_000_000, 0, true),
        ] {
            let place = did.place(above, name, blocks);
            let context = &mut did.contexts[place];
            (context.calls, context.returned) = (calls, calls);
            (context.timed_ns, context.samples, context.running) = (timed_ns, samples, samples as f64 * 1e6);
        }
        did
    }

    /// In ms.
    fn own(did: &Did) -> Vec<(f64, f64)> {
        did.own().iter().map(|own| (own.waiting / 1e6, own.running / 1e6)).collect()
    }

    #[test]
    fn a_wait_is_what_was_timed_less_what_ran_within() {
        let mut sampled = did(false);
        assert_eq!(own(&sampled), [(0.0, 1.0), (4.0, 1.0), (0.0, 1.0), (0.0, 2.0), (1.0, 0.0)]);
        let cum = sampled.cum()[0];
        assert_eq!((cum.waiting, cum.running, cum.sum()), (5e6, 5e6, 10e6));
        // Monitors: of a method that does not block all of it, of one that does no more than is known; of a context that is not there the nearest.
        sampled.wait(&["work".to_owned()], 2_000_000);
        sampled.wait(&["lock".to_owned(), "gone".to_owned()], 3_000_000);
        assert_eq!(own(&sampled)[1..4], [(4.0, 1.0), (0.0, 1.0), (2.0, 2.0)]);
        let mut timed = did(true);
        timed.wait(&["work".to_owned()], 500_000);
        assert_eq!(own(&timed), [(0.0, 1.0), (6.0, 0.0), (0.0, 0.0), (0.5, 1.5), (1.0, 0.0)]);
    }

    #[test]
    fn what_runs_is_no_more_than_there_is_time_for() {
        let mut fits = did(false);
        fits.limit_running(10_000_000);
        assert_eq!(own(&fits), own(&did(false)));
        let mut short = did(false);
        short.contexts[2].running = 9e6;
        short.limit_running(8_500_000);
        // The calls that block took 7 ms, and in the first of them both contexts ran.
        assert_eq!(own(&short), [(0.0, 0.5), (0.0, 0.6), (0.0, 5.4), (0.0, 1.0), (1.0, 0.0)]);
        assert_eq!(short.cum()[0].sum(), 8_500_000.0);
        let mut timed = did(true);
        timed.limit_running(1);
        assert_eq!(own(&timed), own(&did(true)), "the clock is no estimate");
    }

    #[test]
    fn no_samples_leave_no_time() {
        let (mut rest, mut part) = (did(false), did(false));
        rest.contexts[0].running = 0.1 + 0.2;
        part.contexts[0].running = 0.3;
        assert!(rest.subtract(&part));
        assert_eq!(rest.contexts()[0].running, 0.0);
    }

    #[test]
    fn what_blocks_is_told_apart_by_who_calls_it() {
        let did = did(false);
        let parts = did.parts();
        assert_eq!(parts.len(), 5);
        assert_eq!(parts[&("lock", Some("work"))].0, Own { waiting: 1e6, running: 0.0 });
        assert_eq!(parts[&("lock", Some("serve"))].1, 2);
        assert_eq!(parts[&("work", None)].1, 3);
    }

    #[test]
    fn what_is_taken_away_has_to_be_there() {
        let one = did(false);
        let mut rest = did(false);
        assert!(rest.subtract(&one));
        assert!(rest.contexts().iter().all(|of| (of.calls, of.timed_ns, of.samples) == (0, 0, 0)));
        assert!(!rest.subtract(&one), "it has less");
        let mut more = did(false);
        more.place(Some(0), "other", false);
        assert!(!did(false).subtract(&more), "it has no such context");
        assert_eq!((one.find(3, "lock"), one.find(2, "lock"), one.calls()), (Some(4), None, 1));
    }
}
