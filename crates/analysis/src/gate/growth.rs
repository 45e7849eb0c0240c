//! What the number of calls grows with: the calls of another method that were as many before.
//!
//! One run has one size, so this is read off the figures: 50 calls more where a method beside it, or the caller, is
//! called 50 times grow with those calls; 2,500 or 1,225 (50 * 49 / 2) grow with their square. Small numbers fit by
//! chance, so nothing is said below [`LEAST`].

use instrument_names::signature::value_kind;
use serde::Serialize;

use super::figure::Figure;
use super::run::is_method;
use super::search::Search;

/// The least number of calls that something is said to grow with.
const LEAST: u64 = 3;

/// What calls grow with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Growth {
    /// With the calls of this method.
    pub with: String,
    /// How many these are.
    pub calls: u64,
    /// How many come with each of these calls.
    pub each: u64,
    /// They grow with the square, or half of it, and not in proportion.
    pub quadratic: bool,
    /// The method is the one that makes the calls; else it stands beside.
    pub caller: bool,
    /// What it calls is the text of a statement, an address or a file, and it is called in a loop itself.
    pub in_loop: bool,
}

/// What a figure of a context that grew grows with, if anything.
pub(super) fn of(search: &Search<'_>, cause: usize, place: Option<usize>, figure: Figure) -> Option<Growth> {
    let (run, now) = (search.run, search.now(cause, figure));
    let before = search.before(cause, figure)?;
    let times = |at: usize| search.now(at, Figure::Calls);
    let in_loop = |at: usize| {
        let is_caller = |above: &usize| is_method(run.name(*above)) && !run.name(*above).contains("lambda$");
        let above = run.chain(at).skip(1).find(is_caller);
        above.is_none_or(|above| times(at) > times(above))
    };
    let growth = |at: usize, each: u64, quadratic: bool, caller: bool| Growth {
        with: run.name(at).to_owned(),
        calls: search.now(at, Figure::Calls),
        each,
        quadratic,
        caller,
        in_loop: caller && !quadratic && value_kind(run.name(cause)).is_some() && in_loop(at),
    };
    let caller = if figure == Figure::Calls { run.nodes[cause].parent } else { cause };
    let is_many = |calls: u64| calls >= LEAST && calls > before;
    // Calls of the caller's caller: what happens once for each is no loop.
    let rounds = place.map_or(1, times).max(1);
    let beside: Vec<usize> = (1..run.nodes.len())
        .filter(|&i| run.nodes[i].parent == caller && is_method(run.name(i)))
        .filter(|&i| search.is_as_before(i) && times(i) >= LEAST && times(i) > times(caller))
        .collect();
    let fits = |n: u64| now == n || now - before == n;
    if let Some(&at) = beside.iter().find(|&&i| is_many(times(i)) && fits(times(i))) {
        return Some(growth(at, 1, false, false));
    }
    let is_loop = caller != 0 && is_method(run.name(caller)) && is_many(times(caller));
    if is_loop && now % times(caller) == 0 && (times(caller) > rounds || now / times(caller) <= rounds) {
        return Some(growth(caller, now / times(caller), false, true));
    }
    let square = |n: u64| {
        let n = u128::from(n);
        [n * n, n * (n - 1), n * (n - 1) / 2, n * (n + 1) / 2]
            .iter()
            .any(|&s| [now, now - before].map(u128::from).contains(&s))
    };
    let first = beside.into_iter().find(|&i| times(i) > LEAST && square(times(i)));
    if let Some(at) = first {
        return Some(growth(at, 0, true, false));
    }
    let above = run.chain(caller).find(|&i| is_method(run.name(i)) && times(i) > LEAST && square(times(i)));
    above.map(|at| growth(at, 0, true, true))
}

#[cfg(test)]
mod tests;
