//! What the summary says of a recording whose times are samples: what made them, what they met, and what the probes took.

use std::io::Write;

use super::fact;
use crate::correction;
use crate::load::samples;
use crate::model::Arcflow;
use crate::report::Error;
use crate::session::{ProfileFile, Session};
use crate::text::{grouped, percent, quantity};
use crate::thread_time::{RUNNING, WALL, is_sampled};
use instrument_trace::{SampleSource, ThreadSamples};
use serde::Serialize;

/// What the samples of a profile, or of several, met.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Sampler {
    source: &'static str,
    /// What was sampled, if it was not CPU time: `wall` is time.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    /// In user code only, where an event was sampled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    user_only: bool,
    /// ns between two, as was asked for, where time was sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    period_ns: Option<u64>,
    /// How often the event occurred between two.
    #[serde(skip_serializing_if = "Option::is_none")]
    period_events: Option<u64>,
    samples: u64,
    /// Those that met a context.
    in_contexts: u64,
    /// Of these, those in the virtual machine's own code.
    in_vm: u64,
    /// Those that met no recorded call.
    in_no_call: u64,
    /// Those that met a probe.
    in_probes: u64,
    /// Those of which it is not known what they met.
    not_attributed: u64,
    /// Of these, those for which the sampler had no room.
    no_room: u64,
    /// CPU time of the sampler itself, ns.
    handler_ns: u64,
    /// Threads that had no timer, or no counter of the event: nothing is known of them.
    threads_untimed: u64,
    /// Threads that no sample met, and that had something of what was sampled.
    threads_without: u64,
    /// Their time, ns, where that was sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_ns: Option<u64>,
    /// How often the event occurred in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_events: Option<u64>,
    /// Threads whose signal another handler had at the end: their times are not known.
    threads_lost: u64,
    /// What was counted beside calls, whose cost is in the times of the program: bytecodes or lines.
    counted: Option<&'static str>,
}

impl Sampler {
    /// Of a profile whose times are samples.
    fn of(file: &ProfileFile) -> Option<Sampler> {
        if !samples::are_in(&file.profile) {
            return None;
        }
        let (mut sum, mut of, mut sources) = (ThreadSamples::default(), Sampler::default(), Vec::new());
        let mut without = 0;
        for thread in &file.profile.threads {
            let samples = thread.samples.unwrap_or_default();
            let in_contexts = samples::of_contexts(thread);
            of.in_contexts += in_contexts;
            if in_contexts + samples.outside() == 0 && samples.cpu_ns > 0 {
                of.threads_without += 1;
                without += samples.cpu_ns;
            }
            of.threads_lost += u64::from(samples.signal_taken);
            if samples.period_ns > 0 && !sources.contains(&samples.source) {
                sources.push(samples.source);
            }
            sum.add(&samples);
        }
        of.counted = counted(file).map(|(word, _)| word);
        let copies = || file.profile.copies.values();
        of.threads_untimed = copies().filter_map(|copy| copy.number::<u64>("samples.without")).sum::<u64>();
        of.no_room = copies().filter_map(|copy| copy.number::<u64>("samples.lost")).sum();
        of.user_only = copies().any(|copy| copy.number("samples.user-only") == Some(true));
        let event = file.profile.sampled_event().map(str::to_owned);
        let is_time = event.as_deref().is_none_or(|event| event == WALL);
        Some(Sampler {
            source: match &sources[..] {
                [one] => word(*one),
                [] => "unknown",
                _ => "several",
            },
            without_ns: is_time.then_some(without),
            without_events: (!is_time).then_some(without),
            period_ns: is_time.then_some(sum.period_ns),
            period_events: (!is_time).then_some(sum.period_ns),
            event,
            samples: of.in_contexts + sum.outside(),
            in_vm: sum.in_vm,
            in_no_call: sum.in_no_call,
            in_probes: sum.in_probes,
            not_attributed: sum.unattributed,
            handler_ns: sum.handler_ns,
            ..of
        })
    }

    /// Of every profile of a session that has samples.
    pub(crate) fn all(session: &Session) -> Vec<Sampler> {
        session.profiles.iter().filter_map(Sampler::of).collect()
    }
}

/// That events of some threads are in no figure, if so: nobody knows how many.
pub(crate) fn not_counted(file: &ProfileFile) -> Option<String> {
    let sampler = Sampler::of(file).filter(|sampler| sampler.threads_untimed > 0)?;
    let event = sampler.event.filter(|event| event != WALL)?;
    Some(format!(
        "{event} of {} threads were NOT counted: figures are too small by these",
        sampler.threads_untimed
    ))
}

/// What was counted by instructions among those of the program.
fn counted(file: &ProfileFile) -> Option<(&'static str, &'static str)> {
    let trees = file.profile.threads.iter().filter_map(|thread| thread.tree.as_ref());
    trees.filter_map(|tree| correction::counted(&file.profile, tree)).next()
}

fn word(source: SampleSource) -> &'static str {
    match source {
        SampleSource::Perf => "perf",
        SampleSource::Timer => "timer",
        SampleSource::Thread => "thread",
        SampleSource::Other(_) => "unknown",
    }
}

/// The same for people.
fn words(source: &str) -> &str {
    match source {
        "perf" => "perf events of the software clock",
        "timer" => "a timer on the CPU clock of each thread, which has the tick of the kernel",
        "thread" => "a thread of the recorder that looks at the others",
        "several" => "several sources",
        _ => "an unknown source",
    }
}

/// Prints what made the samples of a profile, and what they met.
pub(super) fn write(out: &mut dyn Write, file: &ProfileFile) -> Result<(), Error> {
    let Some(sampler) = Sampler::of(file) else { return Ok(()) };
    let Sampler { samples, in_contexts, in_vm, in_no_call, in_probes, not_attributed, .. } = sampler;
    let period = quantity(sampler.period_ns.unwrap_or_default() as f64, "ns");
    let made = match sampler.event.as_deref() {
        None => format!("by {}; one every {period} of CPU time", words(sampler.source)),
        Some(WALL) => {
            let waiting = "by looks at it where it waits, which do not wake it";
            format!(
                "one stack each {period} of a thread: by {} where it runs, {waiting}",
                words(sampler.source)
            )
        }
        Some(event) => {
            let part = if sampler.user_only { ", in user code only" } else { "" };
            format!(
                "one stack each {} {event} of a thread (perf_event_open){part}",
                grouped(sampler.period_events.unwrap_or_default())
            )
        }
    };
    fact(out, "sampled", &made)?;
    let part = |count: u64| format!("{} ({} %)", grouped(count), percent(count as f64, samples as f64));
    let mut met = format!("{}: {} in recorded calls", grouped(samples), part(in_contexts));
    if in_vm > 0 {
        met += &format!(", of which {} in the virtual machine's own code", grouped(in_vm));
    }
    met += &format!(", {} in probes, {} in no recorded call", part(in_probes), part(in_no_call));
    met += &format!(", {} could not be attributed", part(not_attributed));
    if sampler.no_room > 0 {
        met += &format!(", of which {} came too fast for the sampler", grouped(sampler.no_room));
    }
    fact(out, "samples", &met)?;
    if sampler.threads_without > 0 {
        let had = match sampler.event.as_deref() {
            None | Some(WALL) => {
                let time = if sampler.event.is_none() { "of CPU time" } else { "of time" };
                format!("{} {time}", quantity(sampler.without_ns.unwrap_or_default() as f64, "ns"))
            }
            Some(event) => format!("{} {event}", grouped(sampler.without_events.unwrap_or_default())),
        };
        let text = format!("threads without a sample: {}, which had {had}", sampler.threads_without);
        fact(out, "", &text)?;
    }
    if sampler.threads_untimed > 0 {
        let text = format!(
            "threads that could not be sampled: {}; there were too few descriptors (ulimit -n) or signals (ulimit -i), or they block signals",
            sampler.threads_untimed
        );
        fact(out, "", &text)?;
    }
    if sampler.threads_lost > 0 {
        let text = format!(
            "another library took the sampler's signal: of {} threads it is not known where their time went",
            sampler.threads_lost
        );
        fact(out, "", &text)?;
    }
    if let Some((_, what)) = counted(file) {
        fact(out, "", &format!("{what}; how long that took is not known, and is in these times"))?;
    }
    if sampler.handler_ns > 0 {
        let time = quantity(sampler.handler_ns as f64, "ns");
        fact(out, "", &format!("the sampler itself took {time} of CPU time, which is in no figure"))?;
    }
    Ok(())
}

/// What probes took of the CPU time of the program and of themselves, in percent; none: times are not samples.
pub(crate) fn probes_percent(model: &Arcflow) -> Option<f64> {
    let (running, probes) = (model.resource(RUNNING)?, model.resource("probes")?);
    let sum = |r: usize| model.ids().map(|id| model.base(id)[r]).sum::<f64>();
    let (running, probes) = (sum(running), sum(probes));
    (is_sampled(model) && running + probes > 0.0).then(|| 100.0 * probes / (running + probes))
}
