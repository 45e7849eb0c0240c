//! What the next recording of a program can leave out so that recording takes a given part of its running time at most.
//!
//! 1. What recording took is known by method: its calls, each with the cost that the calibration found ([`crate::calibration`]).
//! 2. Methods that can be left out are ordered by that cost, times the part of their measured own time that it was. So those come first
//!    that cost most and about which the least is known: a method that takes longer than its probes comes late.
//! 3. They are left out in this order until the rest is within the budget; those that turn out not to be needed come back.
//! 4. A method without probes is a part of its caller: its contexts are merged into those above, and its own time is charged there.
//!
//! Never left out are methods that nobody recorded has called: all the work of a thread or of a root is below them. Nor those that a
//! pattern cannot name, such as the calls of a library.

use std::collections::HashSet;

use crate::arcs::{Arcs, FunctionId};
use crate::correction::Correction;
use crate::load::CallTimes;
use crate::model::{Arcflow, Consumer, HashMap, Kind, Node};
use crate::session::Session;
use crate::thread_time::ThreadTime;
use instrument_names::pattern::Pattern;
use instrument_names::signature::brief;

/// How many calls a recording has, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Recording {
    /// Methods that are recorded and were called.
    pub methods: u64,
    /// Calls of them.
    pub calls: u64,
    /// Contexts: paths of methods, threads told apart as in the reports.
    pub contexts: u64,
    /// What recording took, in ns.
    pub recording_ns: f64,
    /// The same in percent of the program's running time.
    pub percent: f64,
}

/// A method that is left out.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LeftOut {
    /// Its name, with its descriptor.
    pub method: String,
    /// A pattern for `--exclude` that fits this method only.
    pub pattern: String,
    /// Its calls.
    pub calls: u64,
    /// What recording them took, in ns.
    pub recording_ns: f64,
    /// Its own time without that, in ns: charged to its callers from then on.
    pub own_ns: f64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Advice {
    /// What recording may take, in percent of the running time.
    pub budget_percent: f64,
    /// The program's running time without the cost of recording, in ns.
    pub running_ns: f64,
    /// The recording that was read.
    pub recorded: Recording,
    /// The next one, if the program does the same again.
    pub next: Recording,
    /// Methods to leave out, those that cost most first.
    pub leave_out: Vec<LeftOut>,
    /// The budget is kept.
    pub is_within: bool,
}

/// The profile does not tell what recording took.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not known what recording took: {0}")]
pub struct NoCost(String);

struct Candidate {
    function: FunctionId,
    method: LeftOut,
}

impl Candidate {
    /// See step 2 of the module.
    fn weight(&self) -> f64 {
        let LeftOut { recording_ns, own_ns, .. } = self.method;
        recording_ns * recording_ns / (recording_ns + own_ns)
    }
}

/// What a program and its recording had taken at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spent {
    running_ns: f64,
    /// By method: what recording its calls took, and its own time without that.
    methods: HashMap<String, (f64, f64)>,
}

impl Spent {
    /// Asks a session.
    ///
    /// # Errors
    /// No times were recorded, or they cannot be corrected.
    pub fn of(session: &Session, arcs: &Arcs) -> Result<Spent, NoCost> {
        let model = &session.model;
        let running = running(model)?;
        let mut methods = HashMap::default();
        for id in arcs.ids() {
            let name = model.name(arcs.function(id).consumer);
            if let Some(calls) = session.calls.get(name) {
                methods.insert(name.to_owned(), (calls.recording_ns, arcs.self_base(id)[running]));
            }
        }
        Ok(Spent { running_ns: arcs.total()[running], methods })
    }

    fn method(&self, name: &str) -> (f64, f64) {
        self.methods.get(name).copied().unwrap_or_default()
    }
}

impl Advice {
    /// Asks a session. `budget_percent`: what recording may take, in percent of the running time.
    ///
    /// # Errors
    /// No times were recorded, or they cannot be corrected.
    pub fn of(session: &Session, arcs: &Arcs, budget_percent: f64) -> Result<Advice, NoCost> {
        Advice::since(session, arcs, budget_percent, &Spent::default())
    }

    /// The same by what a program that goes on has done since an earlier moment. Times are of that time; calls and contexts are all.
    ///
    /// # Errors
    /// No times were recorded, or they cannot be corrected.
    pub fn since(
        session: &Session,
        arcs: &Arcs,
        budget_percent: f64,
        earlier: &Spent,
    ) -> Result<Advice, NoCost> {
        let model = &session.model;
        let running = running(model)?;
        let running_ns = (arcs.total()[running] - earlier.running_ns).max(0.0);
        let spent = |(name, calls): (&String, &CallTimes)| calls.recording_ns - earlier.method(name).0;
        let all: f64 = session.calls.iter().map(spent).sum::<f64>().max(0.0);
        let recording = |methods, calls, contexts, recording_ns| Recording {
            methods,
            calls,
            contexts,
            recording_ns,
            percent: if running_ns > 0.0 { 100.0 * recording_ns / running_ns } else { 0.0 },
        };
        let budget = running_ns * budget_percent / 100.0;
        let (chosen, rest) = choose(candidates(session, arcs, running, earlier), all, budget);
        let left_out: HashSet<Consumer> =
            chosen.iter().map(|one| arcs.function(one.function).consumer).collect();
        let methods = || arcs.functions().iter().filter(|function| function.kind == Kind::Method);
        let kept = || methods().filter(|function| !left_out.contains(&function.consumer));
        let recorded = recording(
            methods().count() as u64,
            methods().map(|function| function.calls).sum(),
            contexts(model, &HashSet::new()),
            all,
        );
        let next = recording(
            kept().count() as u64,
            kept().map(|function| function.calls).sum(),
            contexts(model, &left_out),
            rest,
        );
        let leave_out = chosen.into_iter().map(|one| one.method).collect();
        let is_within = rest <= budget;
        Ok(Advice { budget_percent, running_ns, recorded, next, leave_out, is_within })
    }
}

/// The resource that a budget is a part of.
fn running(model: &Arcflow) -> Result<usize, NoCost> {
    if let Correction::Refused(refusal) = &model.correction {
        return Err(NoCost(format!("{}: {}", refusal.process, refusal.reason)));
    }
    let time = ThreadTime::of(model).map(|time| time.running).or_else(|| model.resource("wall"));
    let time = time.filter(|_| model.correction == Correction::Applied);
    time.ok_or_else(|| {
        NoCost("no times were recorded; record once with --record tree, the default".to_owned())
    })
}

/// Methods that can be left out.
fn candidates(session: &Session, arcs: &Arcs, running: usize, earlier: &Spent) -> Vec<Candidate> {
    let model = &session.model;
    let mut by_brief = HashMap::<String, u32>::default();
    for name in session.calls.keys() {
        *by_brief.entry(brief(name).unwrap_or_default()).or_default() += 1;
    }
    let candidate = |id: FunctionId| {
        let function = arcs.function(id);
        let name = model.name(function.consumer);
        let (recording_before, own_before) = earlier.method(name);
        let recording_ns = session.calls.get(name)?.recording_ns - recording_before;
        if recording_ns <= 0.0 {
            return None;
        }
        if function.kind != Kind::Method || is_outermost(arcs, id) || model.origins.get(name).is_none() {
            return None;
        }
        // Methods that differ in nothing but what they return are told apart by their descriptors.
        let pattern = brief(name).filter(|brief| by_brief.get(brief) == Some(&1));
        let pattern = pattern.unwrap_or_else(|| name.to_owned());
        Pattern::list(&pattern).ok().filter(|list| matches!(&list[..], [one] if one.matches_name(name)))?;
        let method = LeftOut {
            method: name.to_owned(),
            pattern,
            calls: function.calls,
            recording_ns,
            own_ns: (arcs.self_base(id)[running] - own_before).max(0.0),
        };
        Some(Candidate { function: id, method })
    };
    arcs.ids().filter_map(candidate).collect()
}

/// Whether it was called by no recorded method.
fn is_outermost(arcs: &Arcs, id: FunctionId) -> bool {
    let is_method = |parent: FunctionId| arcs.function(parent).kind == Kind::Method;
    !arcs.parents(id).iter().any(|&arc| is_method(arcs.arc(arc).parent))
}

/// Steps 2 and 3 of the module: those that are left out, and what recording the rest takes.
fn choose(mut candidates: Vec<Candidate>, all: f64, budget: f64) -> (Vec<Candidate>, f64) {
    let order = |a: &Candidate, b: &Candidate| a.method.method.cmp(&b.method.method);
    candidates.sort_by(|a, b| b.weight().total_cmp(&a.weight()).then_with(|| order(a, b)));
    let mut rest = all;
    let mut chosen = Vec::new();
    for candidate in candidates {
        if rest <= budget {
            break;
        }
        rest -= candidate.method.recording_ns;
        chosen.push(candidate);
    }
    let cost = |one: &Candidate| one.method.recording_ns;
    chosen.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then_with(|| order(a, b)));
    // The cheapest come back first: so the fewest are left out.
    let mut needed = chosen.len();
    while needed > 0 && rest + cost(&chosen[needed - 1]) <= budget {
        needed -= 1;
        rest += cost(&chosen[needed]);
    }
    chosen.truncate(needed);
    (chosen, rest.max(0.0))
}

/// Contexts of methods, if some are a part of their callers.
fn contexts(model: &Arcflow, left_out: &HashSet<Consumer>) -> u64 {
    let mut known = HashMap::<(u32, Kind, Consumer), u32>::default();
    let mut places = vec![0; model.nodes().len()];
    let mut methods = 0;
    for (i, Node { parent, consumer, kind, .. }) in model.nodes().iter().enumerate().skip(1) {
        let above = places[parent.0 as usize];
        places[i] = if *kind == Kind::Method && left_out.contains(consumer) {
            above
        } else {
            let next = known.len() as u32 + 1;
            *known.entry((above, *kind, *consumer)).or_insert_with(|| {
                methods += u64::from(*kind == Kind::Method);
                next
            })
        };
    }
    methods
}
