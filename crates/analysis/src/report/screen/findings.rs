//! A line for each kind of trouble that the profile tells of; nothing where there is none.

mod locks;
mod values;

use super::Screen;
use super::methods::charged;
use crate::arcs::FunctionId;
use crate::hash::HashMap;
use crate::heap::leaks::HeldBy;
use crate::heap::query::leaks;
use crate::model::Consumer;
use crate::report::Error;
use crate::text::{grouped, in_brief, quantity};
use crate::thread_time::ThreadTime;
use instrument_names::signature::java_class;

/// Waiting that is worth a line: so many ns, in all threads.
const LEAST_WAIT: f64 = 100e6;

/// A kind of trouble, and a sentence on it.
pub(super) struct Finding {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// The statement, request, file or method that it is of, if it is of one.
    pub(super) of: Option<Consumer>,
}

/// All of them, what helps most first.
pub(super) fn all(screen: &Screen<'_>) -> Result<Vec<Finding>, Error> {
    let mut found = values::growing(screen);
    found.extend(values::longest(screen, &found));
    found.extend(values::absent(screen));
    let locks = locks::longest(screen);
    found.extend(waits(screen, locks.is_some()));
    found.extend(locks);
    found.extend(suspects(screen)?);
    found.extend(errors(screen));
    Ok(found)
}

/// Which of the program's own methods waits longest, and in what.
fn waits(screen: &Screen<'_>, has_locks: bool) -> Option<Finding> {
    let (model, waiting) = (screen.model, ThreadTime::of(screen.model)?.waiting);
    let charges = charged(screen);
    let (&own, sum) =
        charges.iter().max_by(|a, b| a.1[waiting].total_cmp(&b.1[waiting]).then(b.0.cmp(a.0)))?;
    let mut within: HashMap<Consumer, f64> = HashMap::default();
    for (id, nearest) in model.ids().zip(&screen.nearest) {
        if nearest.is_some_and(|nearest| screen.arcs.of(nearest) == own) {
            *within.entry(model.node(id).consumer).or_default() += model.base(id)[waiting];
        }
    }
    let (inner, _) = within.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let itself = inner == screen.arcs.function(own).consumer;
    if sum[waiting] < LEAST_WAIT || itself && has_locks {
        return None;
    }
    let place = if itself { String::new() } else { format!(", mostly in {}", in_brief(model.name(inner))) };
    let calls = screen.arcs.function(own).calls;
    let calls = match calls {
        0 => String::new(),
        1 => " in 1 call".to_owned(),
        calls => format!(" in {} calls", grouped(calls)),
    };
    let text = format!("{} waits {}{calls}{place}", screen.brief(own), quantity(sum[waiting], "ns"));
    Some(Finding { name: "waits", text, of: Some(screen.arcs.function(own).consumer) })
}

/// The largest leak.
fn suspects(screen: &Screen<'_>) -> Result<Option<Finding>, Error> {
    let Some(found) = leaks(&screen.session.profiles).map_err(std::io::Error::other)? else {
        return Ok(None);
    };
    let Some(first) = found.suspects.first() else { return Ok(None) };
    let growth: u64 =
        found.suspects.iter().filter(|part| part.leak == first.leak).map(|part| part.growth()).sum();
    let class = java_class(&first.class).into_owned();
    let class = class.rsplit('.').next().unwrap_or(&class).to_owned();
    let made =
        first.context.first().map_or_else(String::new, |method| format!(" made in {}", in_brief(method)));
    let held = first.holders.iter().find_map(|held| match &held.by {
        HeldBy::Path(steps) => steps.first(),
        _ => None,
    });
    let held = held.map_or_else(String::new, |step| {
        let (word, name) = step.rsplit_once(' ').unwrap_or(("", step));
        format!(", held by {} {}", word, in_brief(name)).replace("  ", " ")
    });
    let others = match found.leaks() {
        0 | 1 => String::new(),
        leaks => format!("; {} others", leaks - 1),
    };
    let text = format!(
        "{class} objects{made} become more and more: +{} in {} collections{held}{others}; heap --leaks shows why",
        quantity(growth as f64, "bytes"),
        first.collections
    );
    Ok(Some(Finding { name: "leaks", text, of: None }))
}

/// The method that exceptions leave most often.
fn errors(screen: &Screen<'_>) -> Option<Finding> {
    let (model, arcs) = (screen.model, screen.arcs);
    let unwinds = model.resource("unwinds")?;
    let is_own = |id: &FunctionId| {
        let function = arcs.function(*id);
        screen.own.fits(function.kind, model.name(function.consumer))
    };
    let of = |id: FunctionId| arcs.self_base(id)[unwinds];
    let failed: Vec<FunctionId> = arcs.ids().filter(is_own).filter(|&id| of(id) > 0.0).collect();
    let most = failed.iter().copied().max_by(|&a, &b| of(a).total_cmp(&of(b)).then(b.cmp(&a)))?;
    let calls = grouped(arcs.function(most).calls);
    let others = match failed.len() {
        1 => String::new(),
        2 => "; so were calls of 1 other method".to_owned(),
        count => format!("; so were calls of {} other methods", count - 1),
    };
    let text = format!(
        "{} of {calls} calls of {} were ended by an exception{others}",
        grouped(of(most) as u64),
        screen.brief(most)
    );
    Some(Finding { name: "errors", text, of: Some(arcs.function(most).consumer) })
}
