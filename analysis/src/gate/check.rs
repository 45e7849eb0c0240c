//! Runs against a baseline and budgets: what grew, and where.
//!
//! A figure of a method grew if it was the same in all runs that the baseline was learned from, and is larger in all that are checked now. A method
//! that was not there before is no finding itself: programs may get new methods. One that was there and never called is. Where a method moves as a whole, a context of it that never
//! moved is judged alone, and grew if it did by more than the method ever moved.
//!
//! Many figures grow together, since what is called more often calls more itself. A *cause* is a context that grew below callers that did not
//! grow; what lies below it is its consequence. A finding puts causes together that lie below one *place*: the nearest of the three callers above it that was
//! called as often as before, and had the method below it before; else the nearest that was called as often as before. What one method does
//! in several such places is told of that method.

use std::collections::{BTreeMap, BTreeSet};

use super::baseline::{Baseline, Method};
use super::budget::Budget;
use super::conditions::Refusal;
use super::figure::{Figure, Figures, Range, Ranges};
use super::growth;
use super::outcome::{Finding, Outcome, Remark};
use super::run::{Run, is_method};
use super::search::{Grown, Search};

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
        let grown = totals(baseline, runs, &mut outcome);
        Search::new(baseline, first, &runs[1..], grown).findings(&mut outcome.findings);
    }
    for budget in budgets {
        outcome.findings.extend(budget.exceeded(runs));
    }
    outcome
}

/// A context that is a cause, and its place.
type Placed = (usize, Option<usize>);

fn totals(baseline: &Baseline, runs: &[Run], outcome: &mut Outcome) -> Grown {
    let mut grown = Grown::new();
    let of_runs: Vec<BTreeMap<&str, Figures>> = runs.iter().map(Run::methods).collect();
    let (mut smaller, mut beyond, mut unsteady) = (Vec::new(), Vec::new(), Vec::new());
    // What was there and not called was called 0 times.
    let called: BTreeSet<&str> = of_runs.iter().flat_map(BTreeMap::keys).copied().collect();
    let never = Method { ranges: Ranges::default(), reason: None };
    let woken = called
        .iter()
        .filter(|name| !baseline.methods.contains_key(**name) && baseline.was_never_called(name));
    let woken = woken.map(|name| (*name, &never));
    for (name, method) in baseline.methods.iter().map(|(name, method)| (name.as_str(), method)).chain(woken) {
        for figure in Figure::ALL {
            let f = figure as usize;
            let mut values =
                of_runs.iter().map(|run| Range::fixed(run.get(name).map_or(0, |figures| figures[f])));
            let now = values.next().unwrap_or_default();
            let now = values.fold(now, Range::with);
            let before = method.ranges[f];
            let remark = || Remark { method: name.to_owned(), figure, before, now };
            match before.value() {
                None if now.min > before.max.saturating_mul(2) => beyond.push(remark()),
                None => {}
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
    (outcome.smaller, outcome.beyond, outcome.unsteady) =
        (largest(smaller), largest(beyond), largest(unsteady));
    let moving = baseline.methods.values().filter(|method| method.ranges[0].value().is_none()).count();
    outcome.methods = (baseline.methods.len() - moving, moving);
    outcome.stable_calls = baseline.stable_calls();
    let is_new = |name: &&&str| !baseline.methods.contains_key(**name) && !baseline.was_never_called(name);
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
                    .filter(|&i| self.run.name(i) == method)
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
        let known: Option<u64> = if figure == Figure::Calls {
            places.iter().map(|&place| self.before_below(place, method, figure)).sum()
        } else {
            None
        };
        let (before, now) = match known.filter(|_| !places.is_empty()) {
            Some(before) => (before, places.iter().map(|&place| below(place)).sum()),
            // Of the contexts themselves it is known.
            None => causes.iter().fold((0, 0), |(before, now), (i, _)| {
                (before + self.before(*i, figure).unwrap_or(0), now + self.now(*i, figure))
            }),
        };
        let mut from: BTreeMap<&str, u64> = BTreeMap::new();
        for &(cause, place) in causes {
            let caller = self.run.nodes[cause].parent;
            if figure == Figure::Calls && Some(caller) != place {
                *from.entry(self.run.name(caller)).or_default() += more(cause);
            }
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
            ..Finding::new(figure, method, Some(before), Range::fixed(now))
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
mod tests {
    use super::super::print::{Format, write};
    use super::super::run::samples::run;
    use super::*;

    /// What is said of a run after a baseline was learned from others.
    fn said(before: &[&[(&str, u64, u64)]], after: &[(&str, u64, u64)]) -> Vec<String> {
        let runs: Vec<_> = before.iter().map(|contexts| run(contexts)).collect();
        let baseline = Baseline::learn(&runs, 1000).unwrap();
        for run in &runs {
            let outcome = check(Some(&baseline), &[], std::slice::from_ref(run));
            assert!(outcome.passes(), "what was learned passes: {outcome:?}");
        }
        let outcome = check(Some(&baseline), &[], &[run(after)]);
        let mut text = Vec::new();
        write(&mut text, &outcome, "app", Format::Text).unwrap();
        String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
    }

    const ORDERS: [(&str, u64, u64); 6] = [
        ("a.Main.main", 1, 0),
        ("a.Main.main > a.OrderService.list", 1, 0),
        ("a.Main.main > a.OrderService.list > a.Connection.prepareStatement", 1, 1),
        ("a.Main.main > a.OrderService.list > a.Connection.prepareStatement > a.Sql.parse", 1, 4),
        ("a.Main.main > a.OrderService.list > a.Item.price", 50, 0),
        ("a.Main.main > a.OrderService.list > a.Item.price > a.Money.of", 50, 50),
    ];

    /// The contexts with others added or in place of those of the same path.
    fn with<'a>(more: &[(&'a str, u64, u64)]) -> Vec<(&'a str, u64, u64)> {
        let mut contexts = ORDERS.to_vec();
        contexts.retain(|(path, ..)| more.iter().all(|(other, ..)| other != path));
        contexts.extend(more);
        contexts
    }

    #[test]
    fn the_guilty_context_comes_first() {
        let after = with(&[
            ("a.Main.main > a.OrderService.list > a.Item.price > a.Connection.prepareStatement", 50, 50),
            (
                "a.Main.main > a.OrderService.list > a.Item.price > a.Connection.prepareStatement > a.Sql.parse",
                50,
                200,
            ),
        ]);
        assert_eq!(
            said(&[&ORDERS, &ORDERS, &ORDERS], &after),
            [
                "`OrderService#list` now calls `Connection#prepareStatement` 51 times, was 1; 50 more come from `Item#price`",
                "    N+1: calls grow with the calls of `Item#price`: 1 for each of 50",
                "    in Main#main > OrderService#list > Item#price > Connection#prepareStatement",
                "    1 method below it is called more often, too",
                "failed: 1 finding (6 methods of 6 judged, with 100 % of the calls; learned from 3 runs)",
            ]
        );
    }

    #[test]
    fn a_cache_that_is_gone_a_square_and_objects() {
        let after = with(&[("a.Main.main > a.OrderService.list > a.Item.price > a.Sql.parse", 50, 0)]);
        let lines = said(&[&ORDERS, &ORDERS], &after);
        assert_eq!(
            lines[0],
            "`OrderService#list` now calls `Sql#parse` 51 times, was 1; 50 more come from `Item#price`"
        );
        let after = with(&[("a.Main.main > a.OrderService.list > a.Item.price > a.Money.of", 1225, 50)]);
        let lines = said(&[&ORDERS, &ORDERS], &after);
        assert_eq!(lines[0], "`Item#price` now calls `Money#of` 1,225 times, was 50");
        assert_eq!(lines[1], "    quadratic: calls grow with the square of the 50 calls of `Item#price`");
        let after = with(&[("a.Main.main > a.OrderService.list > a.Item.price", 50, 150)]);
        let lines = said(&[&ORDERS, &ORDERS], &after);
        assert_eq!(lines[0], "`Item#price` now makes 150 objects, was 0");
        assert_eq!(lines[1], "    allocations grow with the calls of `Item#price`: 3 for each of 50");
    }

    #[test]
    fn a_method_that_was_there_and_not_called_is_a_finding() {
        let learned = run(&ORDERS).with_instrumented(["a.Item.format()V", "a.Main.help()V"].into_iter());
        let baseline = Baseline::learn(&[learned.clone(), learned], 1000).unwrap();
        let after = with(&[
            ("a.Main.main > a.OrderService.list > a.Item.price > a.Item.format", 50, 0),
            ("a.Main.main > a.OrderService.list > a.Item.price > a.Item.written", 50, 0),
        ]);
        let outcome = check(Some(&baseline), &[], &[run(&after)]);
        let [finding] = &outcome.findings[..] else { panic!("{outcome:?}") };
        assert_eq!(
            (finding.method.as_str(), finding.before, finding.now.min),
            ("a.Item.format()V", Some(0), 50)
        );
        assert_eq!(outcome.new_methods, 1);
    }

    #[test]
    fn what_is_new_or_called_less_or_called_elsewhere_is_no_finding() {
        let mut after = ORDERS.to_vec();
        after.push(("a.Main.main > a.New.thing", 1000, 5));
        after[4].1 = 40;
        after[5] = ("a.Main.main > a.New.thing > a.Money.of", 50, 50);
        let lines = said(&[&ORDERS, &ORDERS], &after);
        assert_eq!(lines[0], "1 figure became smaller; `instrument gate bless` keeps them so:");
        assert_eq!(lines[1], "    `Item#price` calls: 50 before, 40 now");
        assert!(
            lines[2].starts_with("passed (") && lines[2].contains("1 method not in the baseline"),
            "{lines:?}"
        );
    }

    #[test]
    fn what_moved_is_not_judged_but_contexts_that_did_not_are() {
        let pool = |n: u64| {
            let mut contexts = ORDERS.to_vec();
            contexts.push(("a.Pool.run", n, 0));
            contexts.push(("a.Pool.run > a.Pool.take", 2 * n, 0));
            contexts.push(("a.Main.main > a.Pool.take", 1, 0));
            contexts
        };
        let lines = said(&[&pool(3), &pool(5), &pool(4)], &pool(5));
        assert!(lines[0].starts_with("passed (6 methods of 8"), "{lines:?}");
        // Far beyond what it was: said, not judged.
        let lines = said(&[&pool(3), &pool(5)], &pool(100));
        assert_eq!(lines[0], "2 figures moved before (not judged) and went far beyond it now:");
        assert!(lines.last().unwrap().starts_with("passed"), "{lines:?}");
        let mut after = pool(4);
        after.last_mut().unwrap().1 = 60;
        let lines = said(&[&pool(3), &pool(5)], &after);
        assert_eq!(lines[0], "`Main#main` now calls `Pool#take` 60 times, was 1");
        // By no more than it moves anyway.
        after.last_mut().unwrap().1 = 4;
        assert!(said(&[&pool(3), &pool(5)], &after)[0].starts_with("passed"));
    }

    #[test]
    fn an_equal_sum_of_contexts_that_move_is_chance() {
        let values = |cached: u64, read: u64, fixed: u64| {
            let mut contexts = ORDERS.to_vec();
            contexts.push(("a.Main.main > a.Cache.get", 9, 0));
            contexts.push(("a.Main.main > a.Cache.get > a.Value.kind", cached, 0));
            contexts.push(("a.Main.main > a.Value.kind", read, 0));
            contexts.push(("a.Main.main > a.OrderService.list > a.Value.kind", fixed, 0));
            contexts
        };
        let learned = [&values(0, 3, 2)[..], &values(2, 1, 2), &values(3, 0, 2)];
        // Always 5 in all, and never again by right.
        for after in [values(3, 1, 2), values(3, 3, 2)] {
            let lines = said(&learned, &after);
            assert!(lines[0].starts_with("passed (7 methods of 8"), "{lines:?}");
        }
        let lines = said(&learned, &values(3, 30, 2));
        assert_eq!(lines[0], "1 figure moved before (not judged) and went far beyond it now:");
        // The context that stood still is judged alone, by more than the others move together.
        let lines = said(&learned, &values(1, 2, 50));
        assert_eq!(lines[0], "`OrderService#list` now calls `Value#kind` 50 times, was 2");
    }

    #[test]
    fn of_several_runs_all_must_have_grown() {
        let baseline = Baseline::learn(&[run(&ORDERS), run(&ORDERS)], 1000).unwrap();
        let grown = with(&[("a.Main.main > a.OrderService.list", 2, 0)]);
        let outcome = check(Some(&baseline), &[], &[run(&grown), run(&ORDERS)]);
        assert_eq!((outcome.findings.len(), outcome.unsteady.1), (0, 1));
        let outcome = check(Some(&baseline), &[], &[run(&grown), run(&grown)]);
        assert_eq!((outcome.findings.len(), outcome.unsteady.1), (1, 0));
    }

    #[test]
    fn contexts_that_were_left_out_are_said_without_a_place_that_is_not_known() {
        let baseline = Baseline::learn(&[run(&ORDERS), run(&ORDERS)], 3).unwrap();
        assert_eq!(baseline.levels, Some(2));
        let after = with(&[("a.Main.main > a.OrderService.list > a.Item.price > a.Sql.parse", 50, 0)]);
        let outcome = check(Some(&baseline), &[], &[run(&after)]);
        let [finding] = &outcome.findings[..] else { panic!("{outcome:?}") };
        assert_eq!(
            (finding.place.as_deref(), finding.before, finding.now),
            (None, Some(1), Range::fixed(51))
        );
        assert_eq!(finding.path.len(), 4);
    }

    #[test]
    fn budgets_are_checked_with_and_without_a_baseline() {
        let budget = "[[budget]]\nmethod = 'a.Money#of'\nunder = 'a.OrderService#list'\ncalls = '<= 10'\n";
        let budgets = super::super::budget::parse(budget).unwrap();
        let outcome = check(None, &budgets, &[run(&ORDERS)]);
        for (format, part) in [
            (
                Format::Text,
                "`OrderService#list` calls `Money#of` 50 times; at most 10 are allowed; 50 come from `Item#price`\n",
            ),
            (Format::Markdown, "- **`OrderService#list` calls `Money#of` 50 times; at most 10 are allowed;"),
            (
                Format::Junit,
                "<failure message=\"`OrderService#list` calls `Money#of` 50 times; at most 10 are allowed;",
            ),
            (
                Format::Json,
                "\"sentence\": \"`OrderService#list` calls `Money#of` 50 times; at most 10 are allowed;",
            ),
        ] {
            let mut text = Vec::new();
            write(&mut text, &outcome, "app", format).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn blessing_takes_new_figures_and_keeps_what_moves() {
        let moving = |n: u64| with(&[("a.Main.main > a.Pool.take", n, 0)]);
        let mut baseline = Baseline::learn(&[run(&moving(3)), run(&moving(4))], 1000).unwrap();
        let mut after = moving(9);
        after[1].1 = 2;
        assert!(!check(Some(&baseline), &[], &[run(&after)]).passes());
        baseline.bless(Baseline::learn(&[run(&after)], 1000).unwrap());
        assert!(check(Some(&baseline), &[], &[run(&after)]).passes());
        assert_eq!(baseline.methods["a.Pool.take()V"].ranges[0], Range { min: 3, max: 9 });
        after[1].1 = 3;
        assert!(!check(Some(&baseline), &[], &[run(&after)]).passes());
    }
}
