//! Statements, requests and files: the one that takes longest, and the one that is sent again and again within one call.

use std::collections::BTreeMap;

use super::Finding;
use crate::arcs::FunctionId;
use crate::model::Consumer;
use crate::report::screen::Screen;
use crate::text::{grouped, quantity};
use instrument_names::signature::value_kind;

/// Calls of a value for each call of a method that are worth a line, and such calls in all.
const LEAST_EACH: f64 = 5.0;
const LEAST_CALLS: u64 = 20;

/// A kind of values.
struct Of {
    /// What the name of each begins with.
    name: &'static str,
    /// The word for them.
    word: &'static str,
    /// What asks for them, as the selection of a profile has it.
    asked: &'static str,
    /// What was not called, where there are none.
    absent: &'static str,
}

const KINDS: [Of; 3] = [
    Of {
        name: "SQL ",
        word: "statements",
        asked: "transform=jdbc",
        absent: "ran one through the interfaces of java.sql",
    },
    Of { name: "HTTP ", word: "requests", asked: "transform=http", absent: "made or served one over HTTP" },
    Of { name: "FILE ", word: "files", asked: "transform=files", absent: "opened, copied or deleted one" },
];

/// A value within calls of one of the program's own methods.
struct Pair {
    value: Consumer,
    caller: Option<FunctionId>,
    calls: u64,
    /// Calls of the value for each of the method.
    each: f64,
}

/// The values with all the program's own methods above them; `nearest`: with the nearest only.
fn pairs(screen: &Screen<'_>, nearest: bool) -> Vec<Pair> {
    let (model, arcs) = (screen.model, screen.arcs);
    let mut sums: BTreeMap<(Consumer, Option<FunctionId>), u64> = BTreeMap::new();
    for (id, node) in model.ids().zip(model.nodes()) {
        if node.n == 0 || value_kind(model.name(node.consumer)).is_none() {
            continue;
        }
        let mut met = Vec::new();
        let mut at = screen.nearest[id.0 as usize];
        while let Some(own) = at {
            let function = arcs.of(own);
            if !met.contains(&function) {
                met.push(function);
            }
            at = screen.nearest[model.node(own).parent.0 as usize].filter(|_| !nearest);
        }
        if met.is_empty() && nearest {
            *sums.entry((node.consumer, None)).or_default() += node.n;
        }
        for function in met {
            *sums.entry((node.consumer, Some(function))).or_default() += node.n;
        }
    }
    let each = |caller: Option<FunctionId>, calls: u64| {
        let of = caller.map_or(0, |caller| arcs.function(caller).calls);
        if of > 0 { calls as f64 / of as f64 } else { 0.0 }
    };
    let pair = |((value, caller), calls)| Pair { value, caller, calls, each: each(caller, calls) };
    sums.into_iter().map(pair).collect()
}

/// What one call of a method sends again and again (N+1).
pub(super) fn growing(screen: &Screen<'_>) -> Vec<Finding> {
    let all = pairs(screen, false);
    let many = all.iter().filter(|pair| pair.each >= LEAST_EACH && pair.calls >= LEAST_CALLS);
    // Of the methods above a value the one whose calls have fewest: the loop is in it.
    let mut by_value: BTreeMap<Consumer, &Pair> = BTreeMap::new();
    for pair in many {
        let of = by_value.entry(pair.value).or_insert(pair);
        if pair.each < of.each {
            *of = pair;
        }
    }
    let most = by_value.values().max_by(|a, b| a.calls.cmp(&b.calls).then(b.value.cmp(&a.value)));
    most.map(|pair| finding("N+1", screen, pair)).into_iter().collect()
}

/// The kinds that were requested and that nothing was recorded of: an empty answer is one.
pub(super) fn absent(screen: &Screen<'_>) -> Vec<Finding> {
    let files = &screen.session.profiles;
    let was_asked = |kind: &Of| {
        let selections = files.iter().filter_map(|file| file.property("selection"));
        selections.flat_map(str::split_whitespace).any(|word| word == kind.asked)
    };
    let is_there = |kind: &Of| {
        let model = screen.model;
        model.nodes().iter().any(|node| value_kind(model.name(node.consumer)) == Some(kind.name))
    };
    let absent = KINDS.iter().filter(|kind| was_asked(kind) && !is_there(kind));
    let text = |kind: &Of| format!("none: no rewritten code {}", kind.absent);
    absent.map(|kind| Finding { name: kind.word, text: text(kind), of: None }).collect()
}

/// Of each kind the value that took longest, unless `said` has it.
pub(super) fn longest(screen: &Screen<'_>, said: &[Finding]) -> Vec<Finding> {
    let all = pairs(screen, true);
    let name = |pair: &Pair| screen.model.name(pair.value);
    let mut found = Vec::new();
    for Of { name: kind, word, .. } in KINDS {
        let of_kind = all.iter().filter(|pair| value_kind(name(pair)) == Some(kind));
        let time = |pair: &Pair| average(screen, pair).map_or(0.0, |each| each * pair.calls as f64);
        let most = of_kind.max_by(|a, b| {
            time(a).total_cmp(&time(b)).then(a.calls.cmp(&b.calls)).then(b.value.cmp(&a.value))
        });
        let Some(most) = most else { continue };
        if !said.iter().any(|of| of.of == Some(most.value)) {
            found.push(finding(word, screen, most));
        }
    }
    found
}

fn finding(name: &'static str, screen: &Screen<'_>, pair: &Pair) -> Finding {
    Finding { name, text: sentence(screen, pair), of: Some(pair.value) }
}

/// ns of a call, by the clock.
fn average(screen: &Screen<'_>, pair: &Pair) -> Option<f64> {
    screen.session.calls.get(screen.model.name(pair.value))?.average().filter(|&ns| ns > 0.0)
}

/// `SQL select ..: 240 calls, 2.1 s in all, 8.8 ms each; 20 per call of OrderService.list`
fn sentence(screen: &Screen<'_>, pair: &Pair) -> String {
    let calls = if pair.calls == 1 { "1 call".to_owned() } else { format!("{} calls", grouped(pair.calls)) };
    let time = average(screen, pair).map_or_else(String::new, |ns| {
        let [all, each] = [ns * pair.calls as f64, ns].map(|ns| quantity(ns.round(), "ns"));
        format!(", {all} in all, {each} each")
    });
    let caller = match pair.caller.map(|caller| screen.brief(caller)) {
        None => String::new(),
        Some(caller) if pair.each >= 1.5 => {
            format!("; {} per call of {caller}", quantity((10.0 * pair.each).round() / 10.0, ""))
        }
        Some(caller) => format!("; from {caller}"),
    };
    // A long statement says what it is by its beginning.
    const MOST: usize = 120;
    let name = screen.model.name(pair.value);
    let name = match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}..", &name[..end]),
        None => name.to_owned(),
    };
    format!("{name}: {calls}{time}{caller}")
}
