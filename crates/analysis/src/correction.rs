//! Whether times are without the cost of the probes; and if they are not, why.
//!
//! A correction that cannot be trusted is refused for all processes of a model: a sum of corrected and uncorrected times is neither.
//! Then the time as measured stands under its own name, `wall-raw`, and every report begins with the reason.
//!
//! | cause | |
//! |---|---|
//! | `not-calibrated` | the profile has no calibration: it was switched off, or the program ended or was killed before |
//! | `too-few-rounds` | fewer undisturbed rounds than the recorder needs |
//! | `scattered-rounds` | the rounds differ by more than [`MOST_SPREAD`] of the cost |
//! | `clock` | the clock of the recording and the virtual machine's were apart by more than [`MOST_DRIFT`] of the run |
//! | `bytecodes` | executed instructions were counted, in the middle of calls: no calibration knows how often |
//! | `lines` | so were executions of lines |
//! | `implausible` | calls took less time, probes included, than their probes should have cost |

use crate::calibration::{Calls, overhead};
use crate::in_place;
use crate::text::quantity;
use instrument_names::printable::printable;
use instrument_names::selection::Selection;
use instrument_trace::{Calibration, Profile, Thread, Tree, TreeNode};
use serde_json::{Value, json};

/// Half the distance of the quartiles of the calibration's rounds, as a part of the cost of a call's probes. Rounds are times of the same
/// loop: on an idle machine they differ by 1 %, and by less than 10 % beside other work.
pub const MOST_SPREAD: f64 = 0.25;
/// How much more a call's probes may have cost in the calibration than a call with its probes took in the program. Above 1 since processors
/// overlap work differently from loop to loop. Where only some calls are timed, that holds for all calls together.
pub const MOST_EXCESS: f64 = 1.25;
/// What recording cost, as a part of the time that was measured. A program of tiny calls may truly come near 1; beyond it nothing is left.
pub const MOST_OVERHEAD: f64 = 1.0;
/// How far the clock of the recording may be from the virtual machine's in the end, as a part of the run. What was set wrong is some millionths.
pub const MOST_DRIFT: f64 = 0.01;
/// The same in ns, for short runs: the thread may be interrupted between the two readings.
const LEAST_DRIFT: f64 = 1e7;
/// Calls that a context needs before their time is evidence: fewer may have run in the shadow of one interruption.
pub const EVIDENCE: f64 = 1000.0;

/// The cause of a refusal where probes should have cost more than there was time.
pub const IMPLAUSIBLE: &str = "implausible";

/// Whether the times of a model are corrected.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Correction {
    /// There is nothing to correct: the input is a text of others, or has no times.
    #[default]
    None,
    /// Times are without the cost of the probes.
    Applied,
    /// Times are as measured.
    Refused(Refusal),
}

/// Why times are not corrected.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// One of the table above.
    pub cause: &'static str,
    /// The process whose calibration is not good enough.
    pub process: String,
    /// The same with its figures, in words.
    pub reason: String,
}

impl Correction {
    /// What a report says first; nothing if times are corrected or need no correction.
    pub fn line(&self) -> Option<String> {
        let Correction::Refused(Refusal { process, reason, .. }) = self else { return None };
        Some(printable(&format!(
            "TIMES ARE NOT CORRECTED for the cost of recording: {process}: {reason}. wall-raw is the time as measured, the cost of recording included"
        )).into_owned())
    }

    /// The same for programs; nothing for inputs that need no correction.
    pub fn json(&self) -> Option<Value> {
        match self {
            Correction::None => None,
            Correction::Applied => Some(json!({"state": "applied"})),
            Correction::Refused(Refusal { cause, process, reason }) => {
                Some(json!({"state": "refused", "cause": cause, "process": process, "reason": reason}))
            }
        }
    }

    /// Of two models that are added up.
    pub(crate) fn with(&self, other: &Correction) -> Correction {
        match (self, other) {
            (Correction::Refused(_), _) | (_, Correction::None) => self.clone(),
            _ => other.clone(),
        }
    }
}

fn counts_lines(profile: &Profile) -> bool {
    let selections = profile.copies.values().filter_map(|copy| copy.properties.get("selection"));
    let counts = |text: &String| Selection::parse(text).values(Selection::TRANSFORM).any(|of| of == "lines");
    selections.into_iter().any(counts)
}

/// What was counted beside calls, by instructions among those of the program: a word for it, and what to say.
pub(crate) fn counted(profile: &Profile, tree: &Tree) -> Option<(&'static str, &'static str)> {
    if tree.nodes.iter().any(|node| node.bytecodes > 0) {
        return Some(("bytecodes", "executed instructions were counted"));
    }
    counts_lines(profile).then_some(("lines", "executions of lines were counted"))
}

/// Why the times of a profile cannot be corrected; nothing if they can.
pub(crate) fn refusal(profile: &Profile, process: &str) -> Option<Refusal> {
    // Where only some calls are timed, the time of one context is an estimate, and no evidence.
    let is_sampled =
        profile.copies.values().any(|copy| copy.properties.get("timing").is_some_and(|how| how != "all"));
    let found = profile.threads.iter().find_map(|thread| {
        let tree = thread.tree.as_ref().filter(|tree| !tree.nodes.is_empty())?;
        if let Some((cause, what)) = counted(profile, tree) {
            return Some((cause, format!("{what}, and how long that took is not known")));
        }
        match cost(profile, thread) {
            None => Some((
                "not-calibrated",
                "the profile has no calibration: it was switched off, or the program was killed before it; let it end by itself, or run for 10 s".into(),
            )),
            Some(cost) => {
                insufficient(&cost).or_else(|| if is_sampled { None } else { implausible(&cost, tree) })
            }
        }
    });
    let most = if is_sampled { MOST_EXCESS } else { MOST_OVERHEAD };
    let clock = wrong_clock(profile).map(|reason| ("clock", reason));
    let (cause, reason) = clock.or(found).or_else(|| too_much(profile, most))?;
    Some(Refusal { cause, process: process.to_owned(), reason })
}

/// ns that the clock of the recording was ahead of the virtual machine's in the end, if that is known.
pub(crate) fn drift(profile: &Profile) -> Option<i64> {
    profile.copies.values().find_map(|copy| copy.properties.get("clock.drift")?.parse().ok())
}

/// That no time can be true, because the clock was wrong or was changed; nothing if it was right.
pub(crate) fn wrong_clock(profile: &Profile) -> Option<String> {
    let drift = drift(profile)?;
    let ran = profile.shutdown_clock.saturating_sub(profile.start_clock) as f64;
    let apart = drift.unsigned_abs() as f64;
    (apart > (MOST_DRIFT * ran).max(LEAST_DRIFT)).then(|| {
        let [apart, ran] = [apart, ran].map(|ns| quantity(ns, "ns"));
        format!(
            "its clock was {apart} off at the end of {ran}: one of the two clocks was changed, or is not the machine's; the agent's option clock=monotonic takes the virtual machine's"
        )
    })
}

/// What recording a thread cost: as its copy of the runtime found, or another one in the same process.
pub(crate) fn cost(profile: &Profile, thread: &Thread) -> Option<Calibration> {
    let copy = profile.copies.get(&thread.copy);
    copy.and_then(|copy| copy.calibration()).or_else(|| profile.calibration())
}

fn insufficient(cost: &Calibration) -> Option<(&'static str, String)> {
    let pair = cost.inner + cost.outer;
    if !cost.is_sufficient() {
        let least = cost.least_rounds.unwrap_or(instrument_trace::LEAST_ROUNDS);
        let rounds = match cost.rounds.unwrap_or(0) {
            0 => "no undisturbed round".to_owned(),
            1 => "1 undisturbed round".to_owned(),
            rounds => format!("{rounds} undisturbed rounds"),
        };
        return Some((
            "too-few-rounds",
            format!(
                "its calibration has {rounds} and needs {least}; a longer run, an idle machine or a larger instrument.calibrate gives it more"
            ),
        ));
    }
    (cost.spread > MOST_SPREAD * pair).then(|| {
        let reason = format!(
            "the rounds of its calibration differ by {:.0} ns, the probes of a call cost {pair:.0} ns",
            cost.spread
        );
        ("scattered-rounds", reason)
    })
}

/// A context that took less than its probes should have cost: whatever the program itself did, it took more than nothing.
fn implausible(cost: &Calibration, tree: &Tree) -> Option<(&'static str, String)> {
    let pair = cost.inner + cost.outer;
    let parent = |i: usize| (tree.nodes[i].parent as usize).checked_sub(1);
    let past_limits = tree.past_limits();
    let mut beneath = vec![0.0; tree.nodes.len()];
    for (i, node) in tree.nodes.iter().enumerate().rev() {
        if let Some(parent) = parent(i) {
            beneath[parent] += beneath[i] + timed(node);
        }
    }
    let worst = tree
        .nodes
        .iter()
        .enumerate()
        .filter(|(i, node)| !past_limits[*i] && node.consumer.method().is_some())
        .filter_map(|(i, node)| {
            let (own, beneath) = (timed(node), beneath[i]);
            let least = own * cost.inner + beneath * pair;
            let took = (node.ns + node.open_ns) as f64;
            (own + beneath >= EVIDENCE).then(|| (least / took.max(1.0), least, took, own + beneath))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (share, least, took, calls) = worst;
    (share > MOST_EXCESS).then(|| {
        let (least, took) = (least / calls, took / calls);
        let reason = format!("its calibration says that probes take {least:.0} ns a call, but {calls:.0} calls took {took:.0} ns each with their probes");
        (IMPLAUSIBLE, reason)
    })
}

/// Calls that ended by a return or an exception.
fn timed(node: &TreeNode) -> f64 {
    if node.consumer.method().is_some() { (node.closes.exits + node.closes.unwinds) as f64 } else { 0.0 }
}

/// All calls together; `most` of what was measured.
fn too_much(profile: &Profile, most: f64) -> Option<(&'static str, String)> {
    let (mut recording, mut measured) = (0.0, 0.0);
    for thread in &profile.threads {
        let (Some(tree), Some(cost)) = (&thread.tree, cost(profile, thread)) else { continue };
        // What is taken out, which depends on the program's calls where some are not timed.
        let cost = if tree.sampled { in_place::bounded(cost, tree) } else { cost };
        for node in &tree.nodes {
            let calls = timed(node);
            let read = if tree.sampled { calls.min(node.timed as f64) } else { calls };
            recording += overhead(&cost, Calls { timed: read, untimed: calls - read }, 0.0);
            if node.parent == 0 {
                measured += (node.ns + node.open_ns) as f64 + timed(node) * cost.outer;
            }
        }
    }
    (recording > most * measured && measured > 0.0).then(|| {
        let percent = 100.0 * recording / measured;
        (
            IMPLAUSIBLE,
            format!("its calibration says that recording took {percent:.0} % of the time that was measured"),
        )
    })
}
