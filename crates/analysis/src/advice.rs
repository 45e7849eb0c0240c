//! What the next recording of a program can leave out so that recording takes a given part of its running time at most.
//!
//! 1. What recording took is known by method: its calls, each with the cost that reports take out ([`crate::calibration`], [`crate::in_place`]). Where
//!    times are samples, it is known what all probes took, and each call has the same part of it.
//! 2. Methods that can be left out are ordered by that cost, times the part of their measured own time that it was. So those come first
//!    that cost most and about which the least is known: a method that takes longer than its probes comes late.
//! 3. They are left out in this order until the rest is within the budget; those that turn out not to be needed come back.
//! 4. A method without probes is a part of its caller: its contexts are merged into those above, and its own time is charged there.
//!
//! Never left out are methods that nobody recorded has called: all the work of a thread or of a root is below them. Nor those that a
//! pattern cannot name, such as the calls of a library.

use std::collections::{BTreeMap, HashSet};

use crate::arcs::{Arcs, FunctionId};
use crate::correction::{self, Correction};
use crate::hash::HashMap;
use crate::model::{Arcflow, Consumer, Kind, Node};
use crate::session::Session;
use crate::thread_time::{RUNNING, ThreadTime, is_sampled};
use instrument_names::pattern::Pattern;
use instrument_names::signature::brief;

/// How many calls a recording has, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Recording {
    /// Methods that are recorded and were called.
    pub methods: u64,
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
    /// Recording took most of the time, and how much of it is not known: the calibration says more than there was, or nearly all of it. Nine
    /// tenths are assumed.
    pub is_estimate: bool,
}

/// The part of the time that is the program's where recording took nearly all of it. The next recording will show how much it is.
const LEFT: f64 = 0.1;

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
    /// Without recording, where that is known.
    running_ns: f64,
    /// Recording included; waiting is not.
    measured_ns: f64,
    /// Processor time of the process, where it is known. What threads waited for a processor while others had it is no running time.
    cpu_ns: Option<f64>,
    methods: BTreeMap<String, Share>,
    /// The calibration says that recording took more than there was: what calls cost is estimated.
    is_estimate: bool,
    /// Times are samples: what recording took is known by itself.
    is_sampled: bool,
}

/// A method's part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Share {
    calls: f64,
    /// What recording them took.
    recording_ns: f64,
    /// Its own time, without that where it is known.
    own_ns: f64,
}

/// What came between two moments.
struct Window {
    running_ns: f64,
    methods: BTreeMap<String, Share>,
    /// Recording took most of the time, and how much of it is not known.
    is_estimate: bool,
}

impl Spent {
    /// Asks a session. Where the calibration says that recording took more than there was, it is known that recording took most of the
    /// time, and not how much: all but [`LEFT`] is taken for it, the same for each call. `cpu_ns`: the processor time of the process, of
    /// which the time of its methods can be no more than a part.
    ///
    /// # Errors
    /// No times were recorded, or there is another reason why they cannot be corrected.
    pub fn of(session: &Session, arcs: &Arcs, cpu_ns: Option<f64>) -> Result<Spent, NoCost> {
        let model = &session.model;
        if let (true, Some(running), Some(probes)) =
            (is_sampled(model), model.resource(RUNNING), model.resource("probes"))
        {
            return Ok(Spent::of_samples(session, arcs, [running, probes]));
        }
        let is_estimate = matches!(&model.correction,
            Correction::Refused(refusal) if refusal.cause == correction::IMPLAUSIBLE);
        let (own, raw, waiting) = (own(model, is_estimate)?, raw(model)?, ThreadTime::of(model));
        let total = arcs.total();
        let measured_ns = (total[raw] - waiting.map_or(0.0, |time| total[time.waiting])).max(0.0);
        let share = |id: FunctionId| {
            let name = model.name(arcs.function(id).consumer);
            let calls = session.calls.get(name)?;
            let (recording_ns, own_ns) = (calls.recording_ns, arcs.self_base(id)[own]);
            Some((name.to_owned(), Share { calls: calls.calls as f64, recording_ns, own_ns }))
        };
        let mut methods: BTreeMap<_, _> = arcs.ids().filter_map(share).collect();
        if is_estimate {
            let calls: f64 = methods.values().map(|share| share.calls).sum();
            let each = (1.0 - LEFT) * measured_ns.min(cpu_ns.unwrap_or(f64::INFINITY)) / calls.max(1.0);
            for share in methods.values_mut() {
                share.recording_ns = share.calls * each;
            }
        }
        let running_ns = total[own];
        Ok(Spent { running_ns, measured_ns, cpu_ns, methods, is_estimate, is_sampled: false })
    }

    /// Of samples: running time is without that of the probes.
    fn of_samples(session: &Session, arcs: &Arcs, [running, probes]: [usize; 2]) -> Spent {
        let methods = || arcs.ids().filter(|&id| arcs.function(id).kind == Kind::Method);
        let calls: f64 = methods().map(|id| arcs.function(id).calls as f64).sum();
        let each = arcs.total()[probes] / calls.max(1.0);
        let share = |id: FunctionId| {
            let function = arcs.function(id);
            let (calls, own_ns) = (function.calls as f64, arcs.self_base(id)[running]);
            let share = Share { calls, recording_ns: calls * each, own_ns };
            (session.model.name(function.consumer).to_owned(), share)
        };
        let running_ns = arcs.total()[running];
        let measured_ns = running_ns + arcs.total()[probes];
        let methods = methods().map(share).collect();
        Spent { running_ns, measured_ns, cpu_ns: None, methods, is_estimate: false, is_sampled: true }
    }

    /// What came since an earlier moment. What a call costs is better known now than it was then.
    fn since(&self, earlier: &Spent) -> Window {
        let mut methods = self.methods.clone();
        for (name, share) in &mut methods {
            let before = earlier.methods.get(name).copied().unwrap_or_default();
            let part = if share.calls > 0.0 { 1.0 - before.calls / share.calls } else { 0.0 };
            let recording_ns = share.recording_ns * part.max(0.0);
            // What recording took is still in it.
            let more_ns = if self.is_estimate { recording_ns } else { 0.0 };
            let own_ns = (share.own_ns - before.own_ns - more_ns).max(0.0);
            *share = Share { calls: share.calls - before.calls, recording_ns, own_ns };
        }
        if self.is_sampled {
            let running_ns = (self.running_ns - earlier.running_ns).max(0.0);
            return Window { running_ns, methods, is_estimate: false };
        }
        let cpu_ns = self.cpu_ns.zip(earlier.cpu_ns).map_or(f64::INFINITY, |(now, before)| now - before);
        let all = (self.measured_ns - earlier.measured_ns).min(cpu_ns).max(0.0);
        let recording_ns = recording_ns(&methods);
        // Something of the time is the program's, whatever its calls cost.
        let is_estimate = self.is_estimate || recording_ns > (1.0 - LEFT) * all;
        // From the beginning on it is what reports print. Later a correction of all that was before would be in the difference.
        let is_all = earlier.methods.is_empty() && !is_estimate;
        let left = if is_all { self.running_ns } else { all - recording_ns };
        let running_ns = left.max(LEFT * all);
        Window { running_ns, methods, is_estimate }
    }
}

fn recording_ns(methods: &BTreeMap<String, Share>) -> f64 {
    methods.values().map(|share| share.recording_ns).sum()
}

impl Advice {
    /// Asks a session. `budget_percent`: what recording may take, in percent of the running time.
    ///
    /// # Errors
    /// No times were recorded, or they cannot be corrected.
    pub fn of(session: &Session, arcs: &Arcs, budget_percent: f64) -> Result<Advice, NoCost> {
        running(&session.model)?;
        let now = Spent::of(session, arcs, None)?;
        let (recording, measured) = (recording_ns(&now.methods), now.measured_ns);
        if !now.is_sampled && recording > (1.0 - LEFT) * measured {
            let percent = if measured > 0.0 { 100.0 * recording / measured } else { 0.0 };
            return Err(NoCost(format!(
                "its calibration says that recording took {percent:.0} % of the time that was measured, so nearly nothing is left of it"
            )));
        }
        Ok(Advice::between(session, arcs, budget_percent, &Spent::default(), &now))
    }

    /// The same by what a program that goes on has done since an earlier moment. Times are of that time; calls and contexts are all.
    pub fn between(
        session: &Session,
        arcs: &Arcs,
        budget_percent: f64,
        earlier: &Spent,
        now: &Spent,
    ) -> Advice {
        let model = &session.model;
        let Window { running_ns, methods: spent, is_estimate } = now.since(earlier);
        let all = recording_ns(&spent);
        let recording = |methods, calls, contexts, recording_ns| Recording {
            methods,
            calls,
            contexts,
            recording_ns,
            percent: if running_ns > 0.0 { 100.0 * recording_ns / running_ns } else { 0.0 },
        };
        let budget = running_ns * budget_percent / 100.0;
        let (chosen, rest) = choose(candidates(session, arcs, &spent), all, budget);
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
        Advice { budget_percent, running_ns, recorded, next, leave_out, is_within, is_estimate }
    }
}

/// The resource that a budget is a part of.
fn running(model: &Arcflow) -> Result<usize, NoCost> {
    if let Correction::Refused(refusal) = &model.correction {
        return Err(NoCost(format!("{}: {}", refusal.process, refusal.reason)));
    }
    if is_sampled(model) {
        return model.resource(RUNNING).ok_or_else(no_times);
    }
    let time = ThreadTime::of(model).map(|time| time.running).or_else(|| model.resource("wall"));
    time.filter(|_| model.correction == Correction::Applied).ok_or_else(no_times)
}

/// The resource that a method's own time is read from: without the cost of recording, or as measured.
fn own(model: &Arcflow, as_measured: bool) -> Result<usize, NoCost> {
    if as_measured { raw(model) } else { running(model) }
}

/// The time as measured.
fn raw(model: &Arcflow) -> Result<usize, NoCost> {
    model.resource("wall-raw").ok_or_else(no_times)
}

fn no_times() -> NoCost {
    NoCost("no times were recorded; record once with --record tree, the default".to_owned())
}

/// Methods that can be left out.
fn candidates(session: &Session, arcs: &Arcs, spent: &BTreeMap<String, Share>) -> Vec<Candidate> {
    let model = &session.model;
    let mut by_brief = HashMap::<String, u32>::default();
    for name in session.calls.keys() {
        *by_brief.entry(brief(name).unwrap_or_default()).or_default() += 1;
    }
    let candidate = |id: FunctionId| {
        let function = arcs.function(id);
        let name = model.name(function.consumer);
        let Share { recording_ns, own_ns, .. } = *spent.get(name)?;
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
        let method =
            LeftOut { method: name.to_owned(), pattern, calls: function.calls, recording_ns, own_ns };
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
