//! What really happened, from the traces of a profile to a timeline.
//!
//! Times are counted from an origin that the caller chooses, so that processes of one machine share an axis. Calls that had
//! not ended end with the last event of their thread. A constructor frame that was found to be an orphan late, when others
//! lay above it already, stays until those end: a timeline has no other place for it.

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
        for (thread, name) in self.profile.threads.iter().zip(thread_names(self.profile)) {
            if thread.pieces.is_empty() || !wanted(&name) {
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
                failed: None,
            };
            let replayed = replay(self.source, thread, &mut feed)?;
            feed.end(replayed.last_event);
            if let Some(error) = feed.failed {
                return Err(error.into());
            }
        }
        Ok(())
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
    /// A replay cannot be stopped.
    failed: Option<io::Error>,
}

impl Feed<'_> {
    fn note(&mut self, result: io::Result<()>) {
        if let (Err(error), None) = (result, &self.failed) {
            self.failed = Some(error);
        }
    }

    fn pop(&mut self, at: u64) {
        self.frames.pop();
        if self.failed.is_none() {
            let left = self.timeline.leave(at.saturating_sub(self.origin));
            self.note(left);
        }
    }

    fn end(&mut self, at: u64) {
        while !self.frames.is_empty() {
            self.pop(at);
        }
    }
}

impl Visitor for Feed<'_> {
    type Call = ();

    fn enter(&mut self, consumer: TreeConsumer, _: bool, _: Option<&()>, _: usize, at: u64) {
        self.frames.push(true);
        if self.failed.is_some() {
            return;
        }
        let name = self.names.entry(consumer).or_insert_with(|| (self.known)(consumer));
        let entered = self.timeline.enter(name, at.saturating_sub(self.origin));
        self.note(entered);
    }

    fn leave(&mut self, (): (), _: TreeConsumer, _: How, depth: usize, at: u64) {
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
    use crate::export::timeline::tests::Notes;

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
        assert_eq!(notes.0, " 0>1 10>2 20>3 40>4 50< 60< 60< 70>5 80< 80<");
    }
}
