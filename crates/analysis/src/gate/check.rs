//! Runs against a baseline and budgets: what grew, and where.
//!
//! A figure of a method grew if it was the same in all runs that the baseline was learned from, and is larger in all
//! that are checked now, in the contexts that are judged (`unsettled`), and by more than the order of tables explains
//! (`ordering`). A method that was not there before is no finding itself: programs may get new methods. One that was
//! there and never called is, and so are new `values` of a caller that has more of them than before. Where a method
//! moves as a whole, a context of it that never moved is judged alone, and grew if it did by more than the method ever
//! moved.
//!
//! Many figures grow together, since what is called more often calls more itself. A *cause* is a context that grew
//! below callers that did not grow; what lies below it is its consequence. A finding puts causes together that lie
//! below one *place*: the nearest of the three callers above it that was called as often as before, and had the method
//! below it before; else the nearest that was called as often as before. What one method does in several such places is
//! told of that method.

use std::collections::{BTreeMap, BTreeSet};

use super::baseline::{Baseline, Method};
use super::budget::Budget;
use super::conditions::Refusal;
use super::figure::{Figure, Figures, Range, Ranges};
use super::growth;
use super::ordering::Ordering;
use super::outcome::{Finding, Outcome, Remark};
use super::run::{Run, is_method};
use super::search::{Grown, Search};
use super::values;

/// Callers above a cause among which its place is looked for.
const NEAR: usize = 3;
/// Methods that are listed of each kind that is no finding.
const LISTED: usize = 20;

/// Whether a run can be compared with a baseline, which is called `of`.
///
/// # Errors
/// Why not.
pub fn comparable(baseline: &Baseline, run: &Run, of: &str) -> Result<(), Refusal> {
    run.conditions.comparable(&baseline.conditions, of)?;
    let methods = run.methods();
    if !methods.keys().any(|name| baseline.methods.contains_key(*name)) {
        let (this, other) =
            (format!("{} methods", methods.len()), format!("{} others", baseline.methods.len()));
        let cure = "this is another program, or was instrumented in other packages";
        return Err(Refusal::Conditions { what: "the program", this, other, of: of.to_owned(), cure });
    }
    if !run.conditions.selection.is_empty() {
        return Ok(());
    }
    for figure in &Figure::ALL[1..] {
        let was = baseline.methods.values().any(|method| method.ranges[*figure as usize].max > 0);
        let is = methods.values().any(|figures| figures[*figure as usize] > 0);
        if was != is {
            let word =
                |recorded: bool| if recorded { "recorded".to_owned() } else { "not recorded".to_owned() };
            let cure = "instrument both with the same transforms, or learn the baseline again";
            let (this, other, of) = (word(is), word(was), of.to_owned());
            return Err(Refusal::Conditions { what: figure.word(), this, other, of, cure });
        }
    }
    Ok(())
}

/// Whether a run has everything that budgets limit.
///
/// # Errors
/// What was not counted in it.
pub fn counted(budgets: &[Budget], run: &Run) -> Result<(), Refusal> {
    budgets.iter().flat_map(|budget| &budget.limits).try_for_each(|(figure, _)| run.counts(*figure))
}

/// Judges runs of one build, which must be [`comparable`].
pub fn check(baseline: Option<&Baseline>, budgets: &[Budget], runs: &[Run]) -> Outcome {
    let mut outcome = Outcome { budgets: budgets.len(), ..Outcome::default() };
    let Some(first) = runs.first() else { return outcome };
    outcome.runs = (runs.len(), baseline.map_or(0, |baseline| baseline.runs));
    if let Some(baseline) = baseline {
        let mut settled: Vec<_> = runs.iter().map(|run| baseline.unsettled.of(run)).collect();
        let grown = totals(baseline, runs, &settled, &mut outcome);
        Search::new(baseline, first, settled.swap_remove(0), &runs[1..], grown)
            .findings(&mut outcome.findings);
    }
    for budget in budgets {
        outcome.findings.extend(budget.exceeded(runs));
    }
    outcome
}

/// A context that is a cause, and its place.
type Placed = (usize, Option<usize>);

/// What grew as a whole; `settled`: of each run, which of its contexts are judged.
fn totals(baseline: &Baseline, runs: &[Run], settled: &[Vec<bool>], outcome: &mut Outcome) -> Grown {
    let mut grown = Grown::new();
    let of_runs: Vec<BTreeMap<&str, Figures>> = runs.iter().map(Run::methods).collect();
    let judged: Vec<_> = runs.iter().zip(settled).map(|(run, is)| run.methods_in(|i| is[i])).collect();
    let margins = Ordering::of(&runs[0]).margins(|i| settled[0][i]);
    let (mut smaller, mut beyond, mut unsteady, mut ordered) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // What was there and not called was called 0 times.
    let called: BTreeSet<&str> = of_runs.iter().flat_map(BTreeMap::keys).copied().collect();
    let never = Method { ranges: Ranges::default(), reason: None };
    let woken = called
        .iter()
        .filter(|name| !baseline.methods.contains_key(**name) && baseline.was_never_called(name));
    // So were values that came beside those that there were.
    let values = values::judged(baseline, &runs[0]);
    let woken = woken.chain(&values).map(|name| (*name, &never));
    for (name, method) in baseline.methods.iter().map(|(name, method)| (name.as_str(), method)).chain(woken) {
        let margin = margins.get(name).copied().unwrap_or_default();
        for figure in Figure::ALL {
            let f = figure as usize;
            let before = method.ranges[f];
            let counted = if before.value().is_some() { &judged } else { &of_runs };
            let mut values =
                counted.iter().map(|run| Range::fixed(run.get(name).map_or(0, |figures| figures[f])));
            let now = values.next().unwrap_or_default();
            let now = values.fold(now, Range::with);
            let remark = || Remark { method: name.to_owned(), figure, before, now };
            match before.value() {
                None if now.min > before.max.saturating_mul(2) => beyond.push(remark()),
                None => {}
                Some(value) if now.min > value && now.min - value <= margin[f] => ordered.push(remark()),
                Some(value) if now.min > value => {
                    grown.insert((name.to_owned(), figure), (value, now));
                }
                Some(value) if now.max < value => smaller.push(remark()),
                Some(_) if now.value().is_none() => unsteady.push(remark()),
                Some(_) => {}
            }
        }
    }
    let largest = |mut remarks: Vec<Remark>| {
        remarks.sort_by_key(|r| {
            (r.figure, std::cmp::Reverse(r.before.max.abs_diff(r.now.max)), r.method.clone())
        });
        let count = remarks.len();
        remarks.truncate(LISTED);
        (remarks, count)
    };
    (outcome.smaller, outcome.beyond) = (largest(smaller), largest(beyond));
    (outcome.unsteady, outcome.ordering) = (largest(unsteady), largest(ordered));
    let moving = baseline.methods.values().filter(|method| method.ranges[0].value().is_none()).count();
    outcome.methods = (baseline.methods.len() - moving, moving);
    outcome.stable_calls = baseline.stable_calls();
    let is_new = |name: &&&str| {
        !baseline.methods.contains_key(**name) && !baseline.was_never_called(name) && !values.contains(**name)
    };
    outcome.new_methods = called.iter().filter(is_new).count();
    grown
}

impl Search<'_> {
    fn findings(self, findings: &mut Vec<Finding>) {
        // Contexts below a cause.
        let mut below = vec![false; self.run.nodes.len()];
        let mut causes: Vec<(usize, Figure)> = Vec::new();
        for i in 1..self.run.nodes.len() {
            below[i] = below[self.run.nodes[i].parent];
            if below[i] || !is_method(self.run.name(i)) {
                continue;
            }
            if self.grew(i, Figure::Calls) {
                causes.push((i, Figure::Calls));
                below[i] = true;
            } else if self.is_as_before(i) {
                // Bytes grow with allocations.
                let other = Figure::ALL[1..].iter().find(|figure| self.grew(i, **figure));
                causes.extend(other.map(|figure| (i, *figure)));
            }
        }
        let mut groups: BTreeMap<(Option<&str>, &str, Figure), Vec<Placed>> = BTreeMap::new();
        let mut places: Vec<Option<usize>> =
            causes.iter().map(|&(i, figure)| self.place(i, figure)).collect();
        self.join_callers(&causes, &mut places);
        for (&(cause, figure), &place) in causes.iter().zip(&places) {
            let name = place.map(|place| self.run.name(place));
            groups.entry((name, self.run.name(cause), figure)).or_default().push((cause, place));
        }
        let subtree = subtrees(self.run);
        let mut found: Vec<Finding> =
            groups.iter().map(|((_, _, figure), causes)| self.finding(*figure, causes, &subtree)).collect();
        found.sort_by_key(|f| (std::cmp::Reverse(f.weight), f.method.clone()));
        // What grew and is neither cause nor consequence: it is not known where.
        let mut explained: BTreeSet<(&str, Figure)> = BTreeSet::new();
        for i in (1..self.run.nodes.len()).filter(|&i| below[i]) {
            explained.extend(Figure::ALL.map(|figure| (self.run.name(i), figure)));
        }
        for &(cause, figure) in &causes {
            let from = figure as usize;
            explained.extend(Figure::ALL[from..].iter().map(|figure| (self.run.name(cause), *figure)));
        }
        let consequences: BTreeSet<_> = self
            .grown
            .keys()
            .filter(|(name, figure)| explained.contains(&(name.as_str(), *figure)))
            .collect();
        let mut unexplained: Vec<Finding> = self
            .grown
            .iter()
            .filter(|(key, _)| !consequences.contains(key))
            .map(|((method, figure), &(before, now))| {
                let most = (1..self.run.nodes.len())
                    .filter(|&i| self.run.name(i) == method && self.settled[i])
                    .max_by_key(|&i| (self.now(i, *figure), std::cmp::Reverse(i)));
                Finding {
                    path: most.map(|i| self.run.path(i)).unwrap_or_default(),
                    weight: now.min - before,
                    ..Finding::new(*figure, method, Some(before), now)
                }
            })
            .collect();
        unexplained.sort_by_key(|f| (f.figure, std::cmp::Reverse(f.weight), f.method.clone()));
        found.extend(unexplained);
        findings.extend(found);
    }

    /// The place of a cause.
    fn place(&self, cause: usize, figure: Figure) -> Option<usize> {
        let method = self.run.name(cause);
        let itself = (figure != Figure::Calls).then_some(cause);
        if itself.is_some() {
            return itself;
        }
        let callers = self.run.chain(cause).skip(1).filter(|&at| is_method(self.run.name(at)));
        let near: Vec<usize> = callers.take(NEAR).filter(|&at| self.is_as_before(at)).collect();
        let had = near.iter().find(|&&at| self.before_below(at, method, figure).is_some_and(|n| n > 0));
        had.or(near.first()).copied()
    }

    /// What one method does in several places is told of that method.
    fn join_callers(&self, causes: &[(usize, Figure)], places: &mut [Option<usize>]) {
        let caller = |cause: usize| self.run.nodes[cause].parent;
        let key =
            |&(cause, figure): &(usize, Figure)| (self.run.name(caller(cause)), self.run.name(cause), figure);
        let mut of: BTreeMap<_, BTreeSet<Option<&str>>> = BTreeMap::new();
        for (cause, place) in causes.iter().zip(places.iter()) {
            of.entry(key(cause)).or_default().insert(place.map(|place| self.run.name(place)));
        }
        for (cause, place) in causes.iter().zip(places) {
            let caller = caller(cause.0);
            let is_place = caller != 0 && is_method(self.run.name(caller)) && self.is_as_before(caller);
            if cause.1 == Figure::Calls && is_place && of[&key(cause)].len() > 1 {
                *place = Some(caller);
            }
        }
    }

    fn finding(&self, figure: Figure, causes: &[Placed], subtree: &[usize]) -> Finding {
        let more = |cause: usize| self.more(cause, figure).unwrap_or(0);
        let (largest, place) =
            *causes.iter().max_by_key(|(i, _)| (more(*i), std::cmp::Reverse(*i))).unwrap_or(&(0, None));
        let method = self.run.name(largest);
        let places: BTreeSet<usize> = causes.iter().filter_map(|(_, place)| *place).collect();
        let below = |top: usize| {
            let inside =
                (top..subtree[top]).filter(|&i| self.run.name(i) == method && (i != top || top == largest));
            inside.map(|i| self.now(i, figure)).sum::<u64>()
        };
        // A place may be below another one, where methods call themselves.
        let is_outermost = |place: &&usize| !self.run.chain(**place).skip(1).any(|at| places.contains(&at));
        let outermost: Vec<usize> = places.iter().filter(is_outermost).copied().collect();
        let known: Option<u64> = if figure == Figure::Calls {
            outermost.iter().map(|&place| self.before_below(place, method, figure)).sum()
        } else {
            None
        };
        let as_a_whole = self.grown.get(&(method.to_owned(), figure)).filter(|_| places.is_empty());
        let (before, now) = match (known.filter(|_| !places.is_empty()), as_a_whole) {
            (Some(before), _) => (before, Range::fixed(outermost.iter().map(|&place| below(place)).sum())),
            (None, Some(whole)) => *whole,
            // Of the contexts themselves it is known.
            (None, None) => {
                let (before, now) = causes.iter().fold((0, 0), |(before, now), (i, _)| {
                    (before + self.before(*i, figure).unwrap_or(0), now + self.now(*i, figure))
                });
                (before, Range::fixed(now))
            }
        };
        let mut from: BTreeMap<&str, u64> = BTreeMap::new();
        for &(cause, place) in causes {
            let caller = self.run.nodes[cause].parent;
            if figure == Figure::Calls && Some(caller) != place {
                *from.entry(self.run.name(caller)).or_default() += more(cause);
            }
        }
        if places.is_empty() {
            // Calls that were made elsewhere before are not more.
            from.retain(|caller, more| {
                *more = self.more_of_caller(caller, method).unwrap_or(*more);
                *more > 0
            });
        }
        let mut from: Vec<_> = from.into_iter().map(|(name, more)| (name.to_owned(), more)).collect();
        from.sort_by_key(|(name, more)| (std::cmp::Reverse(*more), name.clone()));
        let calls = |i: usize| (i..subtree[i]).map(|i| self.now(i, Figure::Calls)).sum::<u64>();
        let mut consequences = BTreeSet::new();
        for &(cause, _) in causes.iter().filter(|_| figure == Figure::Calls) {
            let inside = (cause + 1..subtree[cause]).map(|i| self.run.name(i));
            consequences
                .extend(inside.filter(|name| self.grown.contains_key(&((*name).to_owned(), Figure::Calls))));
        }
        consequences.remove(method);
        let weight = causes.iter().map(|(i, _)| match figure {
            // What one call of it does now, times the calls that came.
            Figure::Calls => (calls(*i) as f64 * more(*i) as f64 / self.now(*i, figure).max(1) as f64) as u64,
            _ => more(*i),
        });
        Finding {
            place: place.map(|place| self.run.name(place).to_owned()),
            place_calls: places.iter().map(|&place| self.now(place, Figure::Calls)).sum(),
            from,
            path: self.run.path(largest),
            growth: growth::of(self, largest, place, figure),
            consequences: consequences.len(),
            weight: weight.sum(),
            ..Finding::new(figure, method, Some(before), now)
        }
    }
}

/// Of each context of a run that is in the order of paths, the index behind the last one below it.
fn subtrees(run: &Run) -> Vec<usize> {
    let mut ends: Vec<usize> = (1..=run.nodes.len()).collect();
    for i in (1..run.nodes.len()).rev() {
        let parent = run.nodes[i].parent;
        ends[parent] = ends[parent].max(ends[i]);
    }
    ends
}

#[cfg(test)]
mod tests;
