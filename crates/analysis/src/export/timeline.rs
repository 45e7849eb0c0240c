//! What happened when, thread by thread: what a trace gives, and what chrome, perfetto, firefox and speedscope show.
//!
//! A [`Timeline`] is fed: by the replay of a trace with what really happened, or by [`lay_out`] with a model's totals.

use super::Figure;
use super::walk::{Step, Tree};
use crate::model::{Arcflow, Resource};
use std::io;

/// A thread of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread<'a> {
    /// Number of its process, from 0.
    pub process: usize,
    /// Name of its process, the same for all its threads; may be empty.
    pub process_name: &'a str,
    /// Its own name.
    pub name: &'a str,
}

/// What is known of a frame beside its name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Details<'a> {
    /// Names and values.
    pub args: &'a [(&'static str, String)],
    /// Arrows that begin or end in it.
    pub flows: &'a [Flow],
}

/// An end of an arrow from one frame to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Number of the arrow: both of its ends have it.
    pub id: u64,
    /// Whether it begins here.
    pub is_start: bool,
    /// When, in ns, while the frame is there.
    pub at: u64,
}

/// Something that takes the events of a timeline, and writes them.
///
/// Threads come one after the other. Within one, times do not decrease, and every frame that is entered is left again.
pub trait Timeline {
    /// The time of day at 0, in ns since 1970; before anything else, if it is known.
    ///
    /// # Errors
    /// Those of writing.
    fn time_of_day(&mut self, _unix_ns: u64) -> io::Result<()> {
        Ok(())
    }

    /// The events that follow are of this thread; each thread comes once.
    ///
    /// # Errors
    /// Those of writing.
    fn thread(&mut self, thread: Thread<'_>) -> io::Result<()>;

    /// A frame begins, at a time in ns.
    ///
    /// # Errors
    /// Those of writing.
    fn enter(&mut self, name: &str, at: u64) -> io::Result<()>;

    /// The innermost frame ends, at a time in ns.
    ///
    /// # Errors
    /// Those of writing.
    fn leave(&mut self, at: u64) -> io::Result<()>;

    /// A frame begins of which more is known than its name.
    ///
    /// # Errors
    /// Those of writing.
    fn enter_with(&mut self, name: &str, at: u64, _details: &Details<'_>) -> io::Result<()> {
        self.enter(name, at)
    }

    /// The innermost frame ends, and with it arrows that were not known when it began.
    ///
    /// # Errors
    /// Those of writing.
    fn leave_with(&mut self, at: u64, _flows: &[Flow]) -> io::Result<()> {
        self.leave(at)
    }

    /// There is no more.
    ///
    /// # Errors
    /// Those of writing.
    fn finish(&mut self) -> io::Result<()>;
}

/// What the time axis of a timeline shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Time, ns.
    Time,
    /// Bytes, each as long as 1 µs.
    Bytes,
    /// A number of things, each as long as 1 µs.
    Count,
}

/// ns for each unit on an axis other than time: its tools show µs.
pub(super) const NS_PER_THING: f64 = 1000.0;

impl Axis {
    /// The axis of a resource, and how many ns one of its units is there.
    pub fn of(resource: &Resource) -> (Axis, f64) {
        match ns_per_unit(&resource.unit) {
            Some(ns) => (Axis::Time, ns),
            None if resource.unit == "bytes" || resource.name == "bytes" => (Axis::Bytes, NS_PER_THING),
            None => (Axis::Count, NS_PER_THING),
        }
    }
}

/// What a unit of time is in ns; none if it is not of time.
pub(crate) fn ns_per_unit(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "us" | "µs" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}

/// Lays one figure of a model out as if it were a timeline: below its caller each context has one frame, as long as
/// what it and all below it consumed, its own part first. The process names say that it is not a real one; contexts
/// that consumed nothing are left out.
///
/// # Errors
/// Those of the timeline.
pub fn lay_out(model: &Arcflow, figure: Figure, timeline: &mut dyn Timeline) -> io::Result<()> {
    lay_out_threads(model, figure, timeline)?;
    timeline.finish()
}

/// The same without the end: more threads may follow. Returns the number of processes.
///
/// # Errors
/// Those of the timeline.
pub fn lay_out_threads(model: &Arcflow, figure: Figure, timeline: &mut dyn Timeline) -> io::Result<usize> {
    let mut processes = 0;
    let own: Vec<f64> = model.ids().map(|id| figure.of(model, id).max(0.0)).collect();
    let mut cum = own.clone();
    for i in (1..cum.len()).rev() {
        cum[model.nodes()[i].parent.0 as usize] += cum[i];
    }
    let resource = figure.resource(model);
    let (_, scale) = Axis::of(&resource);
    let tree = Tree::new(model);
    for track in tree.tracks() {
        let process = if track.process_name.is_empty() { "process" } else { track.process_name };
        let process_name = format!("{process} (totals of {}, laid out by context)", resource.name);
        processes = processes.max(track.process + 1);
        timeline.thread(Thread { process: track.process, process_name: &process_name, name: track.name })?;
        let mut at = 0.0;
        for step in tree.walk_track(track) {
            match step {
                Step::Enter(id) | Step::Leave(id) if id == track.root || cum[id.0 as usize] == 0.0 => {}
                Step::Enter(id) => {
                    timeline.enter(tree.name(id), (at * scale).round() as u64)?;
                    at += own[id.0 as usize];
                }
                Step::Leave(_) => timeline.leave((at * scale).round() as u64)?,
            }
        }
    }
    Ok(processes)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::input;
    use crate::notes::Notes;

    /// A call of another thread, with arrows there and back.
    pub(in super::super) fn a_remote_call(timeline: &mut dyn Timeline) -> io::Result<()> {
        let flow = |id, is_start, at| Flow { id, is_start, at };
        timeline.time_of_day(1_700_000_000_000_000_000)?;
        timeline.thread(Thread { process: 0, process_name: "shop", name: "main" })?;
        let args = [("object", "[1, 2]".to_owned()), ("peer", "\"a\":1".to_owned())];
        timeline.enter_with("call f", 1_000, &Details { args: &args, flows: &[flow(1, true, 1_000)] })?;
        timeline.leave_with(9_000, &[flow(2, false, 8_500)])?;
        timeline.thread(Thread { process: 1, process_name: "bank", name: "rmi" })?;
        let flows = [flow(1, false, 3_000), flow(2, true, 6_500)];
        timeline.enter_with("serve f", 3_000, &Details { args: &[], flows: &flows })?;
        timeline.leave(7_000)?;
        timeline.finish()
    }

    /// A real timeline of two threads for the tests of what takes one.
    pub(in super::super) fn two_threads(timeline: &mut dyn Timeline) -> io::Result<()> {
        timeline.thread(Thread { process: 0, process_name: "shop", name: "main" })?;
        timeline.enter("a", 1_000)?;
        timeline.enter("b\"<", 1_500)?;
        timeline.leave(4_000)?;
        timeline.enter("b\"<", 4_000)?;
        timeline.leave(4_001)?;
        timeline.leave(9_000)?;
        timeline.thread(Thread { process: 0, process_name: "shop", name: "worker" })?;
        timeline.enter("a", 2_000)?;
        timeline.leave(3_000_000)?;
        timeline.finish()
    }

    #[test]
    fn totals_are_laid_out_one_after_the_other() {
        let text =
            "metrics: wall us\nprocess: p\n@ t\n0 > a\n1 > b\n3 < b\n4 > c\n4 < c\n5 > b\n6 < b\n6.5 < a\n";
        let model = input::read(text.as_bytes()).unwrap().model;
        let mut notes = Notes::default();
        lay_out(&model, Figure::Base(0), &mut notes).unwrap();
        let expected = "[0 p (totals of wall, laid out by context)/t] 0>a 3500>b 6500< 6500< end";
        assert_eq!(notes.0, expected);
        notes.0.clear();
        lay_out(&model, Figure::Occurrences, &mut notes).unwrap();
        let expected =
            "[0 p (totals of calls, laid out by context)/t] 0>a 1000>b 3000< 3000>c 4000< 4000< end";
        assert_eq!(notes.0, expected);
    }
}
