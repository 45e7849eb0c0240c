//! What threads waited for, as parts of a timeline: `contended com.acme.Foo #12`, `waiting com.acme.Foo #12`.
//!
//! Waits of all threads are mixed in the file. They are read for some threads at a time, as many as fit into a limit;
//! of each thread they are in order.

use super::error::{Error, since};
use super::timeline::{Thread, Timeline};
use crate::hash::HashMap;
use crate::load::thread_rows;
use crate::waits::{self, plain_name};
use instrument_trace::{Profile, Source, ThreadKind, Wait, WaitKind};
use std::collections::HashSet;

/// Name of a class by copy and number.
pub type ClassNames<'a> = &'a (dyn Fn(u32, u32) -> String + 'a);

/// Waits that are in memory at once, but for those of a single thread.
const AT_ONCE: u64 = 1 << 21;

/// A wait.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) is_contended: bool,
    pub(super) copy: u32,
    pub(super) class: u32,
    pub(super) monitor: u32,
}

/// The waits of a profile, thread by thread.
pub(super) struct Spans<'a, S> {
    source: &'a S,
    profile: &'a Profile,
    classes: Option<ClassNames<'a>>,
    /// How many there are, by copy and number of the thread.
    counts: HashMap<(u32, u32), u64>,
    /// Numbers of the threads that have recorded something, by copy and ordinal.
    recorded: HashMap<(u32, u32), u32>,
    /// All threads, in the order in which they are requested, and how many of them are, or were, in memory.
    order: Vec<(u32, u32)>,
    taken: usize,
    loaded: HashMap<(u32, u32), Vec<Span>>,
    /// The clock at the end of those that did not end.
    end: u64,
}

impl<'a, S: Source> Spans<'a, S> {
    /// Nobody waited.
    pub(super) fn none(source: &'a S, profile: &'a Profile) -> Self {
        Spans {
            source,
            profile,
            classes: None,
            counts: HashMap::default(),
            recorded: HashMap::default(),
            order: Vec::new(),
            taken: 0,
            loaded: HashMap::default(),
            end: 0,
        }
    }

    pub(super) fn new(source: &'a S, profile: &'a Profile, classes: ClassNames<'a>) -> Result<Self, Error> {
        let mut spans = Spans { classes: Some(classes), ..Spans::none(source, profile) };
        spans.end = waits::end(source, profile)?;
        let counts = &mut spans.counts;
        profile.for_each_wait(source, |wait| *counts.entry((wait.copy, wait.thread)).or_default() += 1)?;
        let java = profile.java_threads.iter().filter(|thread| thread.ordinal != 0);
        spans.recorded = java.map(|thread| ((thread.copy, thread.ordinal), thread.number)).collect();
        let threads = profile.threads.iter().filter(|thread| thread.kind == ThreadKind::Thread);
        let first = threads.filter_map(|t| Some((t.copy, *spans.recorded.get(&(t.copy, t.ordinal))?)));
        spans.order = first.filter(|number| spans.counts.contains_key(number)).collect();
        let known: HashSet<_> = spans.order.iter().copied().collect();
        let mut others: Vec<_> =
            spans.counts.keys().filter(|number| !known.contains(number)).copied().collect();
        others.sort_unstable();
        spans.order.extend(others);
        Ok(spans)
    }

    /// Those of a thread that has recorded something.
    pub(super) fn of_recorded(&mut self, thread: &instrument_trace::Thread) -> Result<Vec<Span>, Error> {
        match self.recorded.get(&(thread.copy, thread.ordinal)) {
            Some(&number) if thread.kind == ThreadKind::Thread => self.take((thread.copy, number)),
            _ => Ok(Vec::new()),
        }
    }

    /// Those of a thread; they are given once.
    fn take(&mut self, thread: (u32, u32)) -> Result<Vec<Span>, Error> {
        if !self.counts.contains_key(&thread) {
            return Ok(Vec::new());
        }
        if let Some(spans) = self.loaded.remove(&thread) {
            return Ok(spans);
        }
        let mut room = AT_ONCE;
        self.loaded.clear();
        while let Some(next) = self.order.get(self.taken) {
            let count = self.counts[next];
            if count > room && !self.loaded.is_empty() {
                break;
            }
            room = room.saturating_sub(count);
            self.loaded.insert(*next, Vec::with_capacity(count as usize));
            self.taken += 1;
        }
        let (profile, loaded, end) = (self.profile, &mut self.loaded, self.end);
        profile.for_each_wait(self.source, |wait| {
            if let Some(spans) = loaded.get_mut(&(wait.copy, wait.thread)) {
                spans.extend(span(profile, wait, end));
            }
        })?;
        self.loaded.values_mut().for_each(|spans| spans.sort_by_key(|span| span.start));
        Ok(self.loaded.remove(&thread).unwrap_or_default())
    }

    pub(super) fn label(&self, span: &Span) -> String {
        let class = self.classes.map(|classes| classes(span.copy, span.class)).unwrap_or_default();
        let word = if span.is_contended { "contended" } else { "waiting" };
        if span.monitor == 0 {
            format!("{word} {class}")
        } else {
            format!("{word} {class} #{}", span.monitor)
        }
    }

    /// Tells the waits of all threads that were not requested, each thread with its name.
    pub(super) fn add_others(
        &mut self,
        process: usize,
        process_name: &str,
        origin: i128,
        wanted: &dyn Fn(&str) -> bool,
        timeline: &mut dyn Timeline,
    ) -> Result<(), Error> {
        let recorded = self.profile.threads.iter().filter(|thread| thread.kind == ThreadKind::Thread);
        let recorded: HashSet<_> = recorded.map(|thread| (thread.copy, thread.ordinal)).collect();
        for (copy, number) in self.order.clone() {
            let java = self.profile.java_thread(copy, number);
            let has_region = java.is_some_and(|t| t.ordinal != 0 && recorded.contains(&(copy, t.ordinal)));
            let name = java.map_or(waits::UNKNOWN_THREAD, plain_name);
            if !has_region && wanted(name) {
                let spans = self.take((copy, number))?;
                timeline.thread(Thread { process, process_name, name })?;
                self.add(&spans, origin, timeline)?;
            }
        }
        Ok(())
    }

    fn add(&self, spans: &[Span], origin: i128, timeline: &mut dyn Timeline) -> Result<(), Error> {
        let mut now = 0;
        for span in spans {
            let start = span.start.max(now);
            now = span.end.max(start);
            timeline.enter(&self.label(span), since(start, origin))?;
            timeline.leave(since(now, origin))?;
        }
        Ok(())
    }
}

fn span(profile: &Profile, wait: &Wait, end: u64) -> Option<Span> {
    let is_contended = match wait.kind {
        WaitKind::Contended => true,
        WaitKind::Waiting => false,
        WaitKind::Other(_) => return None,
    };
    let (copy, class, monitor) = (wait.copy, wait.class, wait.monitor);
    let end = waits::until(profile, wait, end);
    Some(Span { start: wait.start, end, is_contended, copy, class, monitor })
}

/// Tells nothing but what threads waited for, of a profile that has no other timeline: counts, or a tree. The timeline
/// is not finished.
///
/// # Errors
/// Those of the source and of the timeline.
pub fn add_waits<S: Source>(
    (source, profile): (&S, &Profile),
    classes: ClassNames<'_>,
    (process, process_name): (usize, &str),
    origin: i128,
    wanted: &dyn Fn(&str) -> bool,
    timeline: &mut dyn Timeline,
) -> Result<(), Error> {
    let mut spans = Spans::new(source, profile, classes)?;
    for (thread, name) in profile.threads.iter().zip(thread_rows::single(profile)) {
        let waits = spans.of_recorded(thread)?;
        if !waits.is_empty() && wanted(&name) {
            timeline.thread(Thread { process, process_name, name: &name })?;
            spans.add(&waits, origin, timeline)?;
        }
    }
    spans.add_others(process, process_name, origin, wanted, timeline)
}
