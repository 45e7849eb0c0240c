//! Budgets: limits of exact figures, written by people.
//!
//! ```toml
//! [[budget]]
//! method = "**.Connection#prepareStatement"   # whose figures: any pattern of methods
//! under = "com.acme.OrderService#list"        # only what happens below this method; else everywhere
//! calls = "<= 1"                              # or: allocations, bytes, bytecodes, remote
//! per = "call"                                # for each call of `under`, on average; else for the whole run
//! ```
//!
//! Limits are `<= N`, `< N`, `== N`, `>= N` or `> N`. What a task of a pool does is below the method that handed the
//! task over.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use instrument_names::pattern::Pattern;
use serde::Deserialize;

use super::figure::{Figure, Figures, Range, add};
use super::outcome::Finding;
use super::run::{Run, is_method};

/// A limit of a figure.
#[derive(Debug, Clone)]
pub struct Budget {
    pub method: Pattern,
    /// Below whom.
    pub under: Option<Pattern>,
    /// For each call of `under`.
    pub per_call: bool,
    /// Which figures, and what they may be.
    pub limits: Vec<(Figure, Limit)>,
}

impl PartialEq for Budget {
    fn eq(&self, other: &Budget) -> bool {
        let text = |budget: &Budget| {
            let under = budget.under.as_ref().map(|under| under.text().to_owned());
            (budget.method.text().to_owned(), under, budget.per_call, budget.limits.clone())
        };
        text(self) == text(other)
    }
}

/// What a figure may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    comparison: Comparison,
    value: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AtMost,
    Below,
    Equal,
    AtLeast,
    Above,
}

const COMPARISONS: [(&str, Comparison); 5] = [
    ("<=", Comparison::AtMost),
    ("==", Comparison::Equal),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Below),
    (">", Comparison::Above),
];

impl Limit {
    fn parse(text: &str) -> Option<Limit> {
        let (word, comparison) = COMPARISONS.iter().find(|(word, _)| text.trim().starts_with(word))?;
        let value = text.trim()[word.len()..].trim().replace('_', "").parse().ok()?;
        Some(Limit { comparison: *comparison, value })
    }

    /// Whether a figure that was counted in so many calls is allowed; for a whole run in 1.
    pub fn allows(self, figure: u64, calls: u64) -> bool {
        let (figure, limit) = (u128::from(figure), u128::from(self.value) * u128::from(calls));
        match self.comparison {
            Comparison::AtMost => figure <= limit,
            Comparison::Below => figure < limit,
            Comparison::Equal => figure == limit,
            Comparison::AtLeast => figure >= limit,
            Comparison::Above => figure > limit,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = COMPARISONS.iter().find(|(_, comparison)| *comparison == self.comparison);
        write!(f, "{} {}", word.map_or("", |(word, _)| word), self.value)
    }
}

/// Why a text holds no budgets.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not what budgets look like.
    #[error("budgets: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("budget {number}: {reason}")]
    Pattern {
        /// Which budget, from 1.
        number: usize,
        reason: String,
    },
    #[error("budget {number}: `{text}` is no limit; write one like `<= 10`, or `== 0`")]
    Limit {
        /// Which budget, from 1.
        number: usize,
        text: String,
    },
    /// Nothing is limited, or `per` means nothing.
    #[error("budget {number}: {reason}")]
    Meaningless {
        /// Which budget, from 1.
        number: usize,
        reason: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    budget: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    method: String,
    under: Option<String>,
    per: Option<String>,
    calls: Option<String>,
    allocations: Option<String>,
    bytes: Option<String>,
    bytecodes: Option<String>,
    remote: Option<String>,
}

/// Reads budgets.
///
/// # Errors
/// Says which budget, and what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Budget>, Error> {
    let text: Text = toml::from_str(text)?;
    text.budget.into_iter().enumerate().map(|(i, written)| one(i + 1, written)).collect()
}

fn one(number: usize, written: Written) -> Result<Budget, Error> {
    let pattern = |text: &str| {
        Pattern::of_methods(text).map_err(|error| Error::Pattern { number, reason: error.to_string() })
    };
    let texts = [&written.calls, &written.allocations, &written.bytes, &written.bytecodes, &written.remote];
    let mut limits = Vec::new();
    for (figure, text) in Figure::ALL.into_iter().zip(texts) {
        let Some(text) = text else { continue };
        let limit = Limit::parse(text).ok_or_else(|| Error::Limit { number, text: text.clone() })?;
        limits.push((figure, limit));
    }
    let meaningless = |reason| Err(Error::Meaningless { number, reason });
    if limits.is_empty() {
        return meaningless("it limits nothing; add one of calls, allocations, bytes, bytecodes, remote");
    }
    let per_call = match written.per.as_deref() {
        None | Some("run") => false,
        Some("call") if written.under.is_some() => true,
        Some("call") => return meaningless("per = \"call\" needs `under`: of which method?"),
        Some(_) => return meaningless("`per` is \"call\" or \"run\""),
    };
    let under = written.under.as_deref().map(pattern).transpose()?;
    Ok(Budget { method: pattern(&written.method)?, under, per_call, limits })
}

/// What a budget is about, in one run.
#[derive(Debug, Clone, Default)]
pub struct Spent {
    pub figures: Figures,
    /// Calls of `under`.
    pub calls: u64,
    /// The contexts that the figures come from.
    pub contexts: Vec<usize>,
    /// Outermost contexts of `under` above them.
    pub under: Vec<usize>,
}

/// `(task of Shop.list()V)` as `Shop.list()V`.
fn handed_over_by(name: &str) -> Option<&str> {
    let inside = name.strip_prefix('(')?.strip_suffix(')')?;
    ["task of ", "started thread of "].iter().find_map(|start| inside.strip_prefix(start))
}

impl Budget {
    /// The limits of a budget that are not kept.
    pub(super) fn exceeded(&self, runs: &[Run]) -> Vec<Finding> {
        let spent: Vec<_> = runs.iter().map(|run| self.spent(run)).collect();
        let mut findings = Vec::new();
        for &(figure, limit) in &self.limits {
            let f = figure as usize;
            let calls = |spent: &Spent| if self.per_call { spent.calls } else { 1 };
            let Some(worst) = spent.iter().position(|spent| !limit.allows(spent.figures[f], calls(spent)))
            else {
                continue;
            };
            let (run, of) = (&runs[worst], &spent[worst]);
            let now = spent
                .iter()
                .map(|spent| Range::fixed(spent.figures[f]))
                .reduce(Range::with)
                .unwrap_or_default();
            let value = |i: usize| run.nodes[i].figures[f];
            let most = of.contexts.iter().copied().max_by_key(|&i| (value(i), std::cmp::Reverse(i)));
            let spending = || of.contexts.iter().copied().filter(|&i| value(i) > 0);
            // Of one method it is its callers that count, of several the methods themselves.
            let several = spending().map(|i| run.nodes[i].name).collect::<BTreeSet<_>>().len() > 1;
            let mut from: BTreeMap<&str, u64> = BTreeMap::new();
            for i in spending() {
                *from.entry(run.name(if several { i } else { run.nodes[i].parent })).or_default() += value(i);
            }
            // Without `under`, what all of it lies below.
            let common = self.under.is_none().then(|| run.common(&of.contexts, figure)).flatten();
            let is_place = |name: &str| of.under.iter().chain(&common).any(|&top| run.name(top) == name);
            let from = from.into_iter().filter(|(name, more)| *more > 0 && !is_place(name));
            let mut from: Vec<_> = from.map(|(name, more)| (name.to_owned(), more)).collect();
            from.sort_by_key(|(name, more)| (std::cmp::Reverse(*more), name.clone()));
            let place = common.or(of.under.first().copied()).map_or(self.place(), |top| run.name(top));
            let method = match (several, figure) {
                (false, _) => most.map_or(self.method.text(), |i| run.name(i)),
                (true, Figure::Calls) => self.method.text(),
                (true, _) => place,
            };
            let per = if self.per_call { " a call" } else { "" };
            findings.push(Finding {
                place: (self.under.is_some() || common.is_some()).then(|| place.to_owned()),
                place_calls: of.calls,
                allowed: Some(format!("{limit}{per}")),
                from,
                path: most.map(|i| run.path(i)).unwrap_or_default(),
                ..Finding::new(figure, method, None, now)
            });
        }
        findings
    }

    /// Whether it allows nothing at all.
    pub fn is_of_nothing(&self) -> bool {
        self.limits.iter().all(|(_, limit)| limit.allows(0, 1) && !limit.allows(1, 1))
    }

    /// What was spent of it in a run.
    pub fn spent(&self, run: &Run) -> Spent {
        let fits = |pattern: &Pattern, name: &str| match handed_over_by(name) {
            Some(method) => pattern.matches_name(method),
            None => is_method(name) && pattern.matches_name(name),
        };
        // By index of the name: whether it is the method, and whether it is `under`.
        let of_name: Vec<(bool, bool)> = (run.names.iter())
            .map(|name| {
                let under = self.under.as_ref().is_some_and(|under| fits(under, name));
                (is_method(name) && self.method.matches_name(name), under)
            })
            .collect();
        let mut spent = Spent::default();
        // The outermost context of `under`, itself or above; the root stands for everywhere.
        let everywhere = self.under.is_none().then_some(0);
        let mut within: Vec<Option<usize>> = vec![everywhere];
        for (i, node) in run.nodes.iter().enumerate().skip(1) {
            let above = within[node.parent];
            let (is_method, is_under) = of_name[node.name];
            within.push(above.or(is_under.then_some(i)));
            if is_under && !run.name(i).starts_with('(') {
                spent.calls += node.figures[0];
            }
            if let Some(top) = above.filter(|_| is_method) {
                add(&mut spent.figures, &node.figures);
                spent.contexts.push(i);
                if top != 0 && !spent.under.contains(&top) {
                    spent.under.push(top);
                }
            }
        }
        spent
    }

    /// The text of `under`, or `the program`.
    pub fn place(&self) -> &str {
        self.under.as_ref().map_or("the program", Pattern::text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::samples::run;

    fn read(text: &str) -> Budget {
        parse(&format!("[[budget]]\n{text}")).unwrap().remove(0)
    }

    #[test]
    fn what_is_spent_is_what_happens_below() {
        let run = run(&[
            ("a.M.main", 1, 0),
            ("a.M.main > a.O.list", 3, 0),
            ("a.M.main > a.O.list > a.C.prepare", 3, 2),
            ("a.M.main > a.O.list > a.P.price > a.C.prepare", 50, 1),
            ("a.M.main > a.O.list > a.O.list > a.C.prepare", 1, 0),
            ("a.M.main > a.C.prepare", 7, 0),
            ("(task of a.O.list()V)", 9, 0),
            ("(task of a.O.list()V) > a.T.run > a.C.prepare", 5, 0),
        ]);
        let of = |text: &str| {
            let budget = read(text);
            let spent = budget.spent(&run);
            let calls = if budget.per_call { spent.calls } else { 1 };
            let allowed =
                budget.limits.iter().all(|(f, limit)| limit.allows(spent.figures[*f as usize], calls));
            (spent.figures[0], spent.figures[1], allowed)
        };
        assert_eq!(of("method = '**.C#prepare'\ncalls = '<= 66'"), (66, 3, true));
        assert_eq!(of("method = '**.C#prepare'\nunder = 'a.O#list'\ncalls = '< 59'"), (59, 3, false));
        assert_eq!(of("method = 'a.C'\nunder = 'a.O#list'\nper = 'call'\ncalls = '<= 20'"), (59, 3, true));
        assert_eq!(
            of("method = 'a.C'\nunder = 'a.P#price'\nallocations = '== 1'\ncalls = '>= 50'"),
            (50, 1, true)
        );
        assert_eq!(of("method = 'a.C'\nunder = 'a.Nobody#x'\ncalls = '<= 1'"), (0, 0, true));
        // 59 in 3 calls, which the tasks are none of: those of `list` itself are one place.
        let per_call = |limit: &str| {
            read(&format!("method = 'a.C'\nunder = 'a.O#list'\nper = 'call'\ncalls = '{limit}'"))
        };
        let spent = per_call("<= 1").spent(&run);
        assert_eq!(
            (spent.calls, spent.under.iter().map(|&i| run.path(i).len()).collect::<Vec<_>>()),
            (3, vec![1, 2])
        );
        let runs = [run];
        assert_eq!(per_call("<= 1_000").exceeded(&runs), []);
        assert_eq!(per_call("<= 20").exceeded(&runs), []);
        assert_eq!(per_call("<= 19").exceeded(&runs)[0].allowed.as_deref(), Some("<= 19 a call"));
    }

    #[test]
    fn a_limit_per_call_is_that_of_the_quotient_and_not_of_a_whole_number() {
        let allows = |limit: &str| {
            let limit = Limit::parse(limit).unwrap();
            [9, 10, 11, 19, 20].map(|figure| limit.allows(figure, 10))
        };
        assert_eq!(allows("<= 1"), [true, true, false, false, false]);
        assert_eq!(allows("< 1"), [true, false, false, false, false]);
        assert_eq!(allows("== 1"), [false, true, false, false, false]);
        assert_eq!(allows(">= 1"), [false, true, true, true, true]);
        assert_eq!(allows("> 1"), [false, false, true, true, true]);
    }

    #[test]
    fn a_finding_names_who_did_it() {
        let run = [run(&[
            ("a.M.main > a.O.list > a.C.prepare", 1, 2),
            ("a.M.main > a.O.list > a.P.price > a.C.prepare", 50, 1),
            ("a.M.main > a.O.list > a.P.price", 50, 4),
        ])];
        let found = |text: &str| read(text).exceeded(&run).remove(0);
        let calls = found("method = '**.C#prepare'\ncalls = '<= 1'");
        assert_eq!(calls.place.as_deref(), Some("a.O.list()V"));
        assert_eq!(
            (calls.method.as_str(), calls.from),
            ("a.C.prepare()V", vec![("a.P.price()V".into(), 50)])
        );
        let runs = [run[0].clone(), run[0].clone()];
        assert_eq!(
            read("method = 'a.P#price'\ncalls = '<= 1'").exceeded(&runs)[0].place.as_deref(),
            Some("a.O.list()V")
        );
        // Of several methods, what each has.
        let made = found("method = '**'\nallocations = '<= 1'");
        assert_eq!(made.method, "a.O.list()V");
        assert_eq!(made.from, [("a.P.price()V".to_owned(), 4), ("a.C.prepare()V".to_owned(), 3)]);
        assert!(read("method = 'a.B'\ncalls = '== 0'\nbytes = '< 1'").is_of_nothing());
        assert!(!read("method = 'a.B'\ncalls = '<= 0'\nbytes = '< 2'").is_of_nothing());
    }

    #[test]
    fn a_budget_that_means_nothing_is_an_error() {
        for (text, reason) in [
            ("method = 'a.B#c'", "it limits nothing"),
            ("method = 'a.B#c'\ncalls = 'few'", "`few` is no limit"),
            ("method = 'a.B#c'\ncalls = '<= -1'", "is no limit"),
            ("method = 'a.B#c'\ncalls = '<= 1'\nper = 'call'", "needs `under`"),
            ("method = 'a.B#c'\ncalls = '<= 1'\nunter = 'x'", "unknown field `unter`"),
        ] {
            let error = parse(&format!("[[budget]]\n{text}\n")).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert_eq!(parse("# nothing").unwrap(), []);
    }
}
