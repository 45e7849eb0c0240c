//! Why a figure moves among runs of one build, as far as that can be known from what was recorded.
//!
//! A method may move because its callers do: then it *follows* one of them. Where it moves although its caller does
//! not, the cause is looked for in its path, its name and its threads; the first that fits is said:
//!
//! | reason | what speaks for it |
//! |---|---|
//! | class initialisation | it is below a class initialiser, or the loading of a class |
//! | garbage collection | `finalize`, `Cleaner`, `Reference`, or a thread of the collector's |
//! | timers | a thread or a method of a timer or schedule, or calls that read the clock or sleep, beside it |
//! | threads | it runs in several threads, or in another one than most of the program |
//! | hashing | `hashCode`, `equals`, `compareTo` or what is called after hashing, itself or beside it, as in tables whose hash codes differ from run to run |
//! | unknown | none of these |

use std::collections::BTreeMap;

use super::figure::Figure;
use super::joined::{Joined, Method};
use super::reason::Reason;
use super::run::{Run, is_method, is_once};

const COLLECTOR: [&str; 6] =
    [".finalize(", "Cleaner", "ReferenceQueue", "Reference Handler", "Finalizer", "WeakHashMap"];
const CLOCK: [&str; 9] = [
    "Timer",
    "Scheduled",
    "schedule",
    "Timeout",
    ".currentTimeMillis(",
    ".nanoTime(",
    ".sleep(",
    "Instant.now(",
    "Clock.",
];
const HASHING: [&str; 7] = ["hash", "Hash", ".equals(", ".compareTo(", ".compare(", "Bucket", "Symbols"];

/// Says of each method that moves why.
pub(super) fn explain(runs: &[Run], joined: &Joined, methods: &mut BTreeMap<String, Method>) {
    let contexts = &joined.contexts;
    let moves = |i: usize| contexts[i].ranges.iter().any(|range| range.value().is_none());
    let calls_move = |i: usize| i != 0 && contexts[i].ranges[0].value().is_none();
    // Of each context the outermost one, itself or above, from which on calls move without a break.
    let mut origins: Vec<usize> = Vec::with_capacity(contexts.len());
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); contexts.len()];
    for (i, context) in contexts.iter().enumerate() {
        let follows = i != 0 && calls_move(context.parent) && is_method(&contexts[context.parent].name);
        origins.push(if follows { origins[context.parent] } else { i });
        if i != 0 {
            children[context.parent].push(i);
        }
    }
    let mut own: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut led: BTreeMap<&str, BTreeMap<usize, u64>> = BTreeMap::new();
    for (i, context) in contexts.iter().enumerate().skip(1).filter(|(i, _)| moves(*i)) {
        if origins[i] == i {
            own.entry(&context.name).or_default().push(i);
        } else {
            *led.entry(&context.name).or_default().entry(origins[i]).or_default() += context.ranges[0].max;
        }
    }
    // Of a method the innermost caller that moves, in the first of its contexts that has one.
    let mut above: BTreeMap<&str, &str> = BTreeMap::new();
    let mut moving: Vec<Option<&str>> = vec![None];
    for (i, context) in contexts.iter().enumerate().skip(1) {
        let own = (calls_move(i) && is_method(&context.name)).then_some(context.name.as_str());
        if let Some(caller) = moving[context.parent] {
            above.entry(&context.name).or_insert(caller);
        }
        moving.push(own.or(moving[context.parent]));
    }
    let threads = Threads::new(runs);
    let names: Vec<String> = methods
        .iter()
        .filter(|(_, method)| method.ranges.iter().any(|range| range.value().is_none()))
        .map(|(name, _)| name.clone())
        .collect();
    for name in names {
        let reason = match (own.get(&*name), led.get(&*name)) {
            (Some(places), _) => {
                let found = places.iter().map(|&i| of_context(joined, i, &children, &threads));
                found.reduce(|a, b| if a == Reason::Unknown { b } else { a }).unwrap_or(Reason::Unknown)
            }
            (None, Some(origins)) => {
                let largest = origins.iter().max_by_key(|(i, calls)| (**calls, std::cmp::Reverse(**i)));
                largest.map_or(Reason::Unknown, |(&i, _)| Reason::Follows(contexts[i].name.clone()))
            }
            // None of its contexts moved, but it is not known whether they may.
            (None, None) => {
                above.get(&*name).map_or(Reason::Unknown, |caller| Reason::Follows((*caller).to_owned()))
            }
        };
        if let Some(method) = methods.get_mut(&name) {
            method.reason = Some(reason);
        }
    }
}

fn of_context(joined: &Joined, place: usize, children: &[Vec<usize>], threads: &Threads<'_>) -> Reason {
    let contexts = &joined.contexts;
    let path: Vec<&str> = std::iter::successors(Some(place), |&at| Some(contexts[at].parent))
        .take_while(|&at| at != 0)
        .map(|at| contexts[at].name.as_str())
        .collect();
    let name = path[0];
    let runs_in = threads.of(name);
    let has = |words: &[&str], text: &str| words.iter().any(|word| text.contains(word));
    let beside = children[contexts[place].parent].iter().map(|&i| contexts[i].name.as_str());
    let below = children[place].iter().map(|&i| contexts[i].name.as_str());
    if path.iter().any(|name| is_once(name)) {
        Reason::ClassInitialisation
    } else if path.iter().any(|name| has(&COLLECTOR, name)) || runs_in.iter().any(|t| has(&COLLECTOR, t)) {
        Reason::GarbageCollection
    } else if path.iter().any(|name| has(&CLOCK, name))
        || runs_in.iter().any(|t| has(&CLOCK, t))
        || beside.chain(below).any(|name| has(&CLOCK, name))
    {
        Reason::Timers
    } else if threads.are_several(name) {
        Reason::Threads
    } else if path.iter().take(3).any(|name| has(&HASHING, name))
        || children[place].iter().any(|&i| has(&HASHING, &contexts[i].name))
        || children[contexts[place].parent].iter().any(|&i| i != place && has(&HASHING, &contexts[i].name))
    {
        Reason::Hashing
    } else {
        Reason::Unknown
    }
}

/// Which threads each method runs in, over all runs.
struct Threads<'a> {
    of: BTreeMap<&'a str, Vec<&'a str>>,
    /// The thread with the most calls.
    first: &'a str,
}

impl<'a> Threads<'a> {
    fn new(runs: &'a [Run]) -> Threads<'a> {
        let mut of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut methods: BTreeMap<&str, usize> = BTreeMap::new();
        for run in runs {
            for (name, threads) in run.names.iter().zip(&run.threads) {
                for thread in threads.iter().filter_map(|&thread| run.thread_names.get(thread)) {
                    *methods.entry(thread).or_default() += 1;
                    let known = of.entry(name).or_default();
                    if !known.contains(&&**thread) {
                        known.push(thread);
                    }
                }
            }
        }
        let first = methods.into_iter().max_by_key(|(_, methods)| *methods).map_or("", |(name, _)| name);
        Threads { of, first }
    }

    fn of(&self, method: &str) -> &[&'a str] {
        self.of.get(method).map_or(&[], Vec::as_slice)
    }

    fn are_several(&self, method: &str) -> bool {
        // Of two, one is not the first.
        self.of(method).iter().any(|thread| *thread != self.first || thread.contains('*'))
    }
}

/// The figures of a method that move.
pub(super) fn moving(method: &Method) -> impl Iterator<Item = Figure> + '_ {
    Figure::ALL.into_iter().filter(|&figure| method.ranges[figure as usize].value().is_none())
}

#[cfg(test)]
mod tests;
