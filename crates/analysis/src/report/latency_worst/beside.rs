//! What stands beside the longest calls, and what these took longer for.

use crate::latency::{Bad, Did, Own, Worst};
use std::collections::{BTreeMap, HashMap};

/// What is known from samples.
pub(super) const SAMPLED: &str = "runs in";
/// What has a smaller part of a call is left out.
pub(super) const LEAST: f64 = 0.01;

/// What the longest calls are compared with: typical calls or, where there are none, all others.
pub(super) struct Beside<'a> {
    /// What these did: calls and waits are theirs.
    pub(super) did: &'a Did,
    /// What calls did whose running time is known better: of few calls there are few samples.
    pub(super) ran: &'a Did,
    /// How long one of them took on average, in ns.
    pub(super) mean: f64,
    pub(super) is_typical: bool,
}

/// A context of a call beside, with what it called: times in ns.
#[derive(Default)]
pub(super) struct Average {
    pub(super) calls: f64,
    pub(super) waiting: f64,
    pub(super) running: f64,
}

/// A part of a call: a method, or a call that blocks and the method that makes it. None: nobody knows in what.
pub(super) type Part<'a> = Option<(&'a str, Option<&'a str>)>;

/// What a call of the two sides took in one thing, on average.
pub(super) struct Difference<'a> {
    pub(super) verb: &'static str,
    pub(super) part: Part<'a>,
    pub(super) here: f64,
    pub(super) others: f64,
    pub(super) calls: Option<(f64, f64)>,
}

impl Difference<'_> {
    pub(super) fn ns(&self) -> f64 {
        self.here - self.others
    }
}

impl<'a> Beside<'a> {
    /// What it is called.
    pub(super) fn word(&self) -> &'static str {
        if self.is_typical { "typical" } else { "others" }
    }

    pub(super) fn new(of: &'a Worst) -> Beside<'a> {
        let (ended, ns) = of.rest_ended;
        match &of.typical {
            Some(typical) => Beside {
                did: &typical.did,
                ran: if typical.did.is_timed() { &typical.did } else { &of.rest },
                mean: typical.ns as f64 / typical.did.calls().max(1) as f64,
                is_typical: true,
            },
            None => Beside {
                did: &of.rest,
                ran: &of.rest,
                mean: ns as f64 / ended.max(1) as f64,
                is_typical: false,
            },
        }
    }

    /// What the calls are called whose running time it is.
    pub(super) fn word_of_running(&self) -> &'static str {
        if self.did.is_timed() { self.word() } else { "others" }
    }

    /// Calls of the method in one and in the other, at least 1.
    fn calls(&self) -> (f64, f64) {
        (self.did.calls().max(1) as f64, self.ran.calls().max(1) as f64)
    }

    /// What each context of a call is beside, of a call on average.
    pub(super) fn contexts(&self, bad: &Bad) -> Vec<Average> {
        let (all, all_ran) = self.calls();
        let (did, ran) = (self.did.cum(), self.ran.cum());
        let places = places(self.did, bad).into_iter().zip(places(self.ran, bad));
        let average = |(at, ran_at): (Option<usize>, Option<usize>)| Average {
            calls: at.map_or(0.0, |at| self.did.contexts()[at].calls as f64 / all),
            waiting: at.map_or(0.0, |at| did[at].waiting / all),
            running: ran_at.map_or(0.0, |at| ran[at].running / all_ran),
        };
        places.map(average).collect()
    }

    /// By name and who calls it, of a call on average: what it took itself, and calls.
    fn parts(&self) -> HashMap<(&'a str, Option<&'a str>), (Own, f64)> {
        let (all, all_ran) = self.calls();
        let mut parts = HashMap::new();
        for (key, (own, calls)) in self.did.parts() {
            let own = Own { waiting: own.waiting / all, running: 0.0 };
            parts.insert(key, (own, calls as f64 / all));
        }
        for (key, (own, _)) in self.ran.parts() {
            let part: &mut (Own, f64) = parts.entry(key).or_default();
            part.0.running = own.running / all_ran;
        }
        parts
    }
}

/// Where the contexts of a call are in what others did.
fn places(others: &Did, bad: &Bad) -> Vec<Option<usize>> {
    let mut places: Vec<Option<usize>> = Vec::new();
    for (index, context) in bad.did.contexts().iter().enumerate() {
        let place = match index {
            0 => (others.calls() > 0).then_some(0),
            _ => places[context.caller].and_then(|caller| others.find(caller, &context.name)),
        };
        places.push(place);
    }
    places
}

/// How long one of the longest calls took on average, in ns.
pub(super) fn mean(of: &Worst) -> f64 {
    of.calls.iter().map(|call| call.ns as f64).sum::<f64>() / of.calls.len().max(1) as f64
}

/// What a call of the worst ones took longer for than one beside them, the most first.
pub(super) fn differences<'a>(of: &'a Worst, beside: &Beside<'a>) -> Vec<Difference<'a>> {
    let (kept, mean) = (of.calls.len() as f64, mean(of));
    let others = beside.parts();
    let mut here = BTreeMap::<_, (Own, u64)>::new();
    for call in &of.calls {
        for (key, (own, calls)) in call.did.parts() {
            let sum = here.entry(key).or_default();
            sum.0.waiting += own.waiting;
            sum.0.running += own.running;
            sum.1 += calls;
        }
    }
    let runs = if of.rest.is_timed() { "passes in" } else { SAMPLED };
    let mut rows = Vec::new();
    let mut known = 0.0;
    for (key, (own, calls)) in here {
        let (own_others, calls_others) = others.get(&key).copied().unwrap_or_default();
        let calls = Some((calls as f64 / kept, calls_others));
        // A method that does not block itself waits to enter a monitor.
        let waits = if key.1.is_some() { "waits for" } else { "waits in" };
        for (verb, here, others) in
            [(waits, own.waiting, own_others.waiting), (runs, own.running, own_others.running)]
        {
            known += here / kept;
            rows.push(Difference { verb, part: Some(key), here: here / kept, others, calls });
        }
    }
    let known_others: f64 = others.values().map(|(own, _)| own.sum()).sum();
    rows.push(Difference {
        verb: "passes",
        part: None,
        here: (mean - known).max(0.0),
        others: (beside.mean - known_others).max(0.0),
        calls: None,
    });
    rows.retain(|row| row.here > 0.0 && row.ns() >= LEAST * mean);
    rows.sort_by(|a, b| b.ns().total_cmp(&a.ns()).then_with(|| a.part.cmp(&b.part)));
    rows
}
