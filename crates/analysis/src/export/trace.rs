//! What really happened, from the traces of a profile to a timeline.
//!
//! Times are counted from an origin that the caller chooses, so that processes of one machine share an axis. Calls that
//! had not ended end with the last event of their thread. A constructor frame that was found to be aborted late, when
//! others lay above it already, stays until those end: a timeline has no other place for it.

pub use super::error::Error;
use super::error::since;
use super::remote::{self, Calls, Remote};
use super::spans::{ClassNames, Span, Spans};
use super::timeline::{Details, Flow, Thread, Timeline};
use crate::load::place::{boundary, running};
use crate::load::{MethodNames, thread_rows};
use crate::replay::{CallEnd, Visitor, replay};
use instrument_trace::{LinkKind, Profile, Source, TreeConsumer};
use std::collections::HashMap;

/// A profile whose events are told.
pub struct Trace<'a, S> {
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
    /// Remote calls, `process` being the number of the party: then those are told as well.
    pub remote: Option<&'a Remote<'a, S>>,
}

/// The clock at the beginning of a profile's events; none if it has no traces.
pub fn origin(profile: &Profile) -> Option<u64> {
    profile.threads.iter().flat_map(|thread| &thread.pieces).map(|piece| piece.clock).min()
}

impl<S: Source> Trace<'_, S> {
    /// Tells the events of the threads that are wanted by name, from the clock `origin` on. The timeline is not
    /// finished.
    ///
    /// # Errors
    /// Those of the source and of the timeline.
    pub fn add_events(
        &self,
        origin: i128,
        wanted: &dyn Fn(&str) -> bool,
        timeline: &mut dyn Timeline,
    ) -> Result<(), Error> {
        let mut spans = match self.classes {
            Some(classes) => Spans::new(self.source, self.profile, classes)?,
            None => Spans::none(self.source, self.profile),
        };
        let mut remote = self.remote.map(|remote| remote.of_party(self.process)).transpose()?;
        let (process, process_name) = (self.process, self.process_name);
        let links = link_kinds(self.profile);
        for (thread, name) in self.profile.threads.iter().zip(thread_rows::single(self.profile)) {
            let waits = spans.of_recorded(thread)?;
            let calls = remote.as_mut().map(|remote| remote.of_recorded(thread)).unwrap_or_default();
            if !wanted(&name) || thread.pieces.is_empty() && waits.is_empty() && calls.is_empty() {
                continue;
            }
            timeline.thread(Thread { process, process_name, name: &name })?;
            let known = &|consumer| frame_name(self.profile, self.methods, &links, thread.copy, consumer);
            let mut feed = Feed::new(&mut *timeline, known, origin);
            let label = |span: &Span| spans.label(span);
            (feed.waits, feed.label) = (waits.into_iter().peekable(), &label);
            (feed.calls, feed.describe) =
                (calls.into_iter().peekable(), remote.as_ref().map(|remote| remote as &dyn Describe));
            let replayed = replay(self.source, thread, &mut feed)?;
            feed.end(replayed.last_event)?;
        }
        for (name, calls) in remote.as_ref().map(Calls::others).unwrap_or_default() {
            if wanted(&name) {
                timeline.thread(Thread { process, process_name, name: &name })?;
                let mut feed = Feed::new(&mut *timeline, &|_| String::new(), origin);
                (feed.calls, feed.describe) =
                    (calls.into_iter().peekable(), remote.as_ref().map(|remote| remote as &dyn Describe));
                feed.end(0)?;
            }
        }
        spans.add_others(process, process_name, origin, wanted, timeline)
    }
}

/// Kinds of the links of a profile, by copy and number.
pub(crate) fn link_kinds(profile: &Profile) -> HashMap<(u32, u32), LinkKind> {
    profile.links.iter().map(|link| ((link.copy, link.number), link.kind)).collect()
}

/// What a frame of a thread is called.
pub(crate) fn frame_name(
    profile: &Profile,
    methods: MethodNames<'_>,
    links: &HashMap<(u32, u32), LinkKind>,
    copy: u32,
    consumer: TreeConsumer,
) -> String {
    match consumer {
        TreeConsumer::Method(id) => methods(copy, id),
        TreeConsumer::Deeper => "(deeper)".into(),
        TreeConsumer::Link(number) => match links.get(&(copy, number)) {
            Some(LinkKind::Start) => "(started thread)".into(),
            Some(LinkKind::Served) => "(remote call)".into(),
            Some(LinkKind::Boundary) => boundary(profile, copy, number),
            Some(LinkKind::Running) => running(profile, methods, copy, number),
            Some(kind) => kind.machine_work().unwrap_or("(task)").into(),
            None => "(task)".into(),
        },
    }
}

/// What tells of a remote call more than its times.
trait Describe {
    /// None: there is no such call.
    fn slice(&self, span: &remote::Span) -> Result<Option<remote::Slice>, Error>;
}

impl<S: Source> Describe for Calls<'_, S> {
    fn slice(&self, span: &remote::Span) -> Result<Option<remote::Slice>, Error> {
        self.slice(span)
    }
}

/// A frame of the timeline.
struct Frame {
    /// Whether it is still there in what was recorded. The topmost is.
    is_open: bool,
    /// The end of a remote call, and the arrow that comes back to it; none: a method.
    call: Option<(u64, Option<Flow>)>,
}

/// Tells one thread: the frames of a trace, and between them what it waited for and its remote calls. What does not
/// nest is cut, or ends together with what lies above it.
struct Feed<'a> {
    timeline: &'a mut dyn Timeline,
    known: &'a dyn Fn(TreeConsumer) -> String,
    names: HashMap<TreeConsumer, String>,
    origin: i128,
    /// The frames of the timeline, outermost first.
    frames: Vec<Frame>,
    /// How many of them are methods that are open.
    methods: usize,
    /// Indices of the remote calls among them that are open.
    open_calls: Vec<usize>,
    /// What the thread waited for, in order.
    waits: std::iter::Peekable<std::vec::IntoIter<Span>>,
    label: &'a dyn Fn(&Span) -> String,
    /// Its remote calls, in order.
    calls: std::iter::Peekable<std::vec::IntoIter<remote::Span>>,
    describe: Option<&'a dyn Describe>,
    /// The clock at what was told last.
    now: u64,
    /// A replay cannot be stopped.
    failed: Option<Error>,
}

/// What is told next between the events of a trace.
enum Next {
    Leave,
    Enter,
    Wait,
}

impl<'a> Feed<'a> {
    fn new(
        timeline: &'a mut dyn Timeline,
        known: &'a dyn Fn(TreeConsumer) -> String,
        origin: i128,
    ) -> Feed<'a> {
        Feed {
            timeline,
            known,
            names: HashMap::new(),
            origin,
            frames: Vec::new(),
            methods: 0,
            open_calls: Vec::new(),
            waits: Vec::new().into_iter().peekable(),
            label: &|_| String::new(),
            calls: Vec::new().into_iter().peekable(),
            describe: None,
            now: 0,
            failed: None,
        }
    }

    /// Moves on to a moment, unless it is past.
    fn at(&mut self, at: u64) -> u64 {
        self.now = self.now.max(at);
        since(self.now, self.origin)
    }

    fn note(&mut self, result: Result<(), impl Into<Error>>) {
        if let (Err(error), None) = (result, &self.failed) {
            self.failed = Some(error.into());
        }
    }

    /// The end of the innermost remote call.
    fn call_end(&self) -> Option<u64> {
        let (end, _) = self.frames[*self.open_calls.last()?].call?;
        Some(end)
    }

    /// Tells what began or ended up to a moment: remote calls, and waits, in which a thread does nothing else.
    fn until(&mut self, at: u64) {
        loop {
            let leave = self.call_end().map(|end| (end, Next::Leave));
            let enter = self.calls.peek().map(|span| (span.begin, Next::Enter));
            let wait = self.waits.peek().map(|span| (span.start, Next::Wait));
            // The first of those that are at the same time.
            let next = [leave, enter, wait].into_iter().flatten().min_by_key(|(time, _)| *time);
            match next {
                Some((time, next)) if time <= at => match next {
                    Next::Leave => self.leave_call(time),
                    Next::Enter => self.enter_call(),
                    Next::Wait => self.wait(at),
                },
                _ => return,
            }
        }
    }

    fn wait(&mut self, until: u64) {
        let Some(span) = self.waits.next() else { return };
        let begun = self.calls.peek().map_or(u64::MAX, |call| call.begin);
        let end = span.end.min(until).min(begun).min(self.call_end().unwrap_or(u64::MAX));
        let from = self.at(span.start);
        let to = self.at(end);
        if self.failed.is_none() {
            let told = self.timeline.enter(&(self.label)(&span), from);
            let told = told.and_then(|()| self.timeline.leave(to));
            self.note(told);
        }
    }

    fn enter_call(&mut self) {
        let (Some(span), Some(describe), None) = (self.calls.next(), self.describe, &self.failed) else {
            return;
        };
        match describe.slice(&span) {
            Ok(Some(slice)) => {
                let from = self.at(span.begin);
                let end = span.end.min(self.call_end().unwrap_or(u64::MAX)).max(self.now);
                let clock = |flow: Flow| Flow { at: since(flow.at, self.origin).max(from), ..flow };
                let flows: Vec<_> = slice.flows.into_iter().map(clock).collect();
                let back = slice.back.map(clock);
                self.open_calls.push(self.frames.len());
                self.frames.push(Frame { is_open: true, call: Some((end, back)) });
                let details = Details { args: &slice.args, flows: &flows };
                let entered = self.timeline.enter_with(&slice.name, from, &details);
                self.note(entered);
            }
            Ok(None) => {}
            Err(error) => self.failed = Some(error),
        }
    }

    fn leave_call(&mut self, at: u64) {
        let Some(index) = self.open_calls.last().copied() else { return };
        if index + 1 == self.frames.len() {
            self.pop(at);
            self.pop_gone(at);
        } else {
            // It ends with what lies above it.
            self.open_calls.pop();
            self.frames[index].is_open = false;
            self.at(at);
        }
    }

    fn pop(&mut self, at: u64) {
        let Some(frame) = self.frames.pop() else { return };
        match frame.call {
            None => self.methods -= usize::from(frame.is_open),
            Some(_) if frame.is_open => drop(self.open_calls.pop()),
            Some(_) => {}
        }
        let at = self.at(at);
        if self.failed.is_none() {
            let left = match frame.call {
                Some((_, Some(back))) => {
                    self.timeline.leave_with(at, &[Flow { at: back.at.min(at), ..back }])
                }
                _ => self.timeline.leave(at),
            };
            self.note(left);
        }
    }

    fn pop_gone(&mut self, at: u64) {
        while self.frames.last().is_some_and(|frame| !frame.is_open) {
            self.pop(at);
        }
    }

    fn end(mut self, at: u64) -> Result<(), Error> {
        self.until(u64::MAX);
        while !self.frames.is_empty() {
            self.pop(at);
        }
        self.failed.map_or(Ok(()), Err)
    }
}

impl Visitor for Feed<'_> {
    type Call = ();

    fn enter(&mut self, consumer: TreeConsumer, _: bool, _: Option<&()>, _: usize, at: u64) {
        self.until(at);
        let at = self.at(at);
        self.frames.push(Frame { is_open: true, call: None });
        self.methods += 1;
        if self.failed.is_some() {
            return;
        }
        let name = self.names.entry(consumer).or_insert_with(|| (self.known)(consumer));
        let entered = self.timeline.enter(name, at);
        self.note(entered);
    }

    fn leave(&mut self, (): (), _: TreeConsumer, _: CallEnd, depth: usize, at: u64) {
        self.until(at);
        let is_top = depth + 1 == self.methods;
        let is_method = |frame: &Frame| frame.is_open && frame.call.is_none();
        let index = if is_top {
            self.frames.iter().rposition(is_method)
        } else {
            let mut methods = self.frames.iter().enumerate().filter(|(_, frame)| is_method(frame));
            methods.nth(depth).map(|(index, _)| index)
        };
        let Some(index) = index else { return };
        if is_top {
            // Remote calls of a method end with it.
            while self.frames.len() > index {
                self.pop(at);
            }
            self.pop_gone(at);
        } else {
            self.frames[index].is_open = false;
            self.methods -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::Notes;

    #[test]
    fn a_frame_that_goes_late_ends_with_those_above_it() {
        let mut notes = Notes::default();
        let known = &|consumer: TreeConsumer| format!("{}", consumer.method().unwrap());
        let mut feed = Feed::new(&mut notes, known, 100);
        let waits = [(145, 148), (171, 190)].map(|(start, end)| Span { start, end, ..Span::default() });
        let label = |_: &Span| "wait".into();
        (feed.waits, feed.label) = (Vec::from(waits).into_iter().peekable(), &label);
        let method = TreeConsumer::Method;
        for (id, depth, at) in [(1, 0, 100), (2, 1, 110), (3, 2, 120)] {
            feed.enter(method(id), false, None, depth, at);
        }
        feed.leave((), method(2), CallEnd::Aborted, 1, 130);
        feed.enter(method(4), false, None, 2, 140);
        feed.leave((), method(4), CallEnd::Exit, 2, 150);
        feed.leave((), method(3), CallEnd::Exit, 1, 160);
        feed.enter(method(5), false, None, 1, 170);
        feed.end(180).unwrap();
        assert_eq!(notes.0, " 0>1 10>2 20>3 40>4 45>wait 48< 50< 60< 60< 70>5 71>wait 90< 90< 90<");
    }
}
