//! What really happened, from the traces of a profile to a timeline.
//!
//! Times are counted from an origin that the caller chooses, so that processes of one machine share an axis. Calls that had
//! not ended end with the last event of their thread. A constructor frame that was found to be an orphan late, when others
//! lay above it already, stays until those end: a timeline has no other place for it.

use super::spans::{ClassNames, Span, Spans};
use super::timeline::{Thread, Timeline};
use crate::load::{MethodNames, thread_names};
use crate::replay::{How, Visitor, replay};
use instrument_trace::{LinkKind, Profile, Source, TreeConsumer};
use std::collections::HashMap;
use std::io;

/// A profile whose events are told.
pub struct Trace<'a, S> {
    /// Where it is.
    pub source: &'a S,
    /// What is known of it.
    pub profile: &'a Profile,
    /// Number of its process, from 0.
    pub process: usize,
    /// Name of its process.
    pub process_name: &'a str,
    /// Names of its methods.
    pub methods: MethodNames<'a>,
    /// Names of its classes: then what threads waited for is told as well.
    pub classes: Option<ClassNames<'a>>,
}

/// Why a trace cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] instrument_trace::Error),
    /// The timeline cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The clock at the beginning of a profile's events; none if it has no traces.
pub fn origin(profile: &Profile) -> Option<u64> {
    profile.threads.iter().flat_map(|thread| &thread.pieces).map(|piece| piece.clock).min()
}

impl<S: Source> Trace<'_, S> {
    /// Tells the events of the threads that are wanted by name, from the clock `origin` on. The timeline is not finished.
    ///
    /// # Errors
    /// Those of the source and of the timeline.
    pub fn tell(
        &self,
        origin: u64,
        wanted: &dyn Fn(&str) -> bool,
        timeline: &mut dyn Timeline,
    ) -> Result<(), Error> {
        let mut spans = match self.classes {
            Some(classes) => Spans::new(self.source, self.profile, classes)?,
            None => Spans::none(self.source, self.profile),
        };
        for (thread, name) in self.profile.threads.iter().zip(thread_names(self.profile)) {
            let waits = spans.of_recorded(thread)?;
            if !wanted(&name) || thread.pieces.is_empty() && waits.is_empty() {
                continue;
            }
            let (process, process_name) = (self.process, self.process_name);
            timeline.thread(Thread { process, process_name, name: &name })?;
            let known = &|consumer| self.name(thread.copy, consumer);
            let mut feed = Feed {
                timeline: &mut *timeline,
                known,
                names: HashMap::new(),
                origin,
                frames: Vec::new(),
                gone: 0,
                waits: waits.into_iter().peekable(),
                label: &|span| spans.label(span),
                now: 0,
                failed: None,
            };
            let replayed = replay(self.source, thread, &mut feed)?;
            feed.end(replayed.last_event);
            if let Some(error) = feed.failed {
                return Err(error.into());
            }
        }
        let (process, process_name) = (self.process, self.process_name);
        spans.tell_others(process, process_name, origin, wanted, timeline)
    }

    fn name(&self, copy: u32, consumer: TreeConsumer) -> String {
        match consumer {
            TreeConsumer::Method(id) => (self.methods)(copy, id),
            TreeConsumer::Deeper => "(deeper)".into(),
            TreeConsumer::Link(number) => {
                let mut links = self.profile.links.iter();
                let link = links.find(|link| (link.copy, link.number) == (copy, number));
                match link.map(|link| link.kind) {
                    Some(LinkKind::Start) => "(started thread)".into(),
                    Some(LinkKind::Served) => "(remote call)".into(),
                    _ => "(task)".into(),
                }
            }
        }
    }
}

/// Tells one thread.
struct Feed<'a> {
    timeline: &'a mut dyn Timeline,
    known: &'a dyn Fn(TreeConsumer) -> String,
    names: HashMap<TreeConsumer, String>,
    origin: u64,
    /// The frames of the timeline, outermost first: whether they are still open in the trace. The topmost is.
    frames: Vec<bool>,
    /// How many are not.
    gone: usize,
    /// What the thread waited for, in order.
    waits: std::iter::Peekable<std::vec::IntoIter<Span>>,
    label: &'a dyn Fn(&Span) -> String,
    /// The clock at what was told last.
    now: u64,
    /// A replay cannot be stopped.
    failed: Option<io::Error>,
}

impl Feed<'_> {
    fn note(&mut self, result: io::Result<()>) {
        if let (Err(error), None) = (result, &self.failed) {
            self.failed = Some(error);
        }
    }

    /// Tells the waits that began before a moment. A thread does nothing while it waits.
    fn wait_until(&mut self, at: u64) {
        while let Some(span) = self.waits.next_if(|span| span.start <= at) {
            let start = span.start.max(self.now);
            self.now = span.end.min(at).max(start);
            if self.failed.is_none() {
                let told = self.timeline.enter(&(self.label)(&span), start.saturating_sub(self.origin));
                let told = told.and_then(|()| self.timeline.leave(self.now.saturating_sub(self.origin)));
                self.note(told);
            }
        }
    }

    fn pop(&mut self, at: u64) {
        self.frames.pop();
        self.now = self.now.max(at);
        if self.failed.is_none() {
            let left = self.timeline.leave(at.saturating_sub(self.origin));
            self.note(left);
        }
    }

    fn end(&mut self, at: u64) {
        self.wait_until(u64::MAX);
        let at = at.max(self.now);
        while !self.frames.is_empty() {
            self.pop(at);
        }
    }
}

impl Visitor for Feed<'_> {
    type Call = ();

    fn enter(&mut self, consumer: TreeConsumer, _: bool, _: Option<&()>, _: usize, at: u64) {
        self.wait_until(at);
        self.now = self.now.max(at);
        self.frames.push(true);
        if self.failed.is_some() {
            return;
        }
        let name = self.names.entry(consumer).or_insert_with(|| (self.known)(consumer));
        let entered = self.timeline.enter(name, at.saturating_sub(self.origin));
        self.note(entered);
    }

    fn leave(&mut self, (): (), _: TreeConsumer, _: How, depth: usize, at: u64) {
        self.wait_until(at);
        if depth + 1 == self.frames.len() - self.gone {
            self.pop(at);
            while self.frames.last() == Some(&false) {
                self.gone -= 1;
                self.pop(at);
            }
            return;
        }
        // The frame lies beneath others.
        let mut open = self.frames.iter_mut().filter(|open| **open);
        if let Some(open) = open.nth(depth) {
            *open = false;
            self.gone += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Notes;

    #[test]
    fn a_frame_that_goes_late_ends_with_those_above_it() {
        let mut notes = Notes::default();
        let known = &|consumer: TreeConsumer| format!("{}", consumer.method().unwrap());
        let mut feed = Feed {
            timeline: &mut notes,
            known,
            names: HashMap::new(),
            origin: 100,
            frames: Vec::new(),
            gone: 0,
            waits: vec![
                Span { start: 145, end: 148, ..Span::default() },
                Span { start: 171, end: 190, ..Span::default() },
            ]
            .into_iter()
            .peekable(),
            label: &|_| "wait".into(),
            now: 0,
            failed: None,
        };
        let method = TreeConsumer::Method;
        for (id, depth, at) in [(1, 0, 100), (2, 1, 110), (3, 2, 120)] {
            feed.enter(method(id), false, None, depth, at);
        }
        feed.leave((), method(2), How::Orphan, 1, 130);
        feed.enter(method(4), false, None, 2, 140);
        feed.leave((), method(4), How::Exit, 2, 150);
        feed.leave((), method(3), How::Exit, 1, 160);
        feed.enter(method(5), false, None, 1, 170);
        feed.end(180);
        assert_eq!(notes.0, " 0>1 10>2 20>3 40>4 45>wait 48< 50< 60< 60< 70>5 71>wait 90< 90< 90<");
    }
}
