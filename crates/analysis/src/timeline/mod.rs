//! When everything happened: threads of processes as rows on one axis, with their calls (of traces), waits,
//! collections, and who started whom; and what a row did in a window of time.
//!
//! Moments are ns since the origin, the first start of the processes. Times are as measured: of a single call nobody
//! knows what recording it cost.
//!
//! | | |
//! |---|---|
//! | [`Timeline`] | made once of profiles; of each trace it has an index ([`crate::trace_index`]) |
//! | [`Timeline::model`] | what rows did in a window, as a model: reports print it |
//! | [`document`] | the same for a page: an overview, pictures of windows |
//! | [`moment`] | moments as people write them |

mod document;
mod model;
pub mod moment;

use std::sync::Arc;

use instrument_trace::{LinkKind, Profile, ThreadKind, WaitKind};
use rayon::prelude::*;

use crate::hash::HashMap;
use crate::load::{ends, thread_rows};
use crate::merge::{Offsets, processes};
use crate::session::{Error, ProfileFile, Request, Session, thread_filter};
use crate::trace_index::{Index, Share, share};
use crate::waits;

pub use document::{Question, Room, document, picture};
use model::Names;

/// The resource of windows: thread time as measured, the cost of recording included.
pub const RESOURCE: &str = "wall-raw";
/// Why it is not known what threads did when, and what to do about it.
pub const NO_TRACE: &str = "no calls of such threads are in a trace, so it is not known what was called when; `instrument run --record trace` \
     records one, and `instrument threads --list` prints how long threads were there";
/// Waits that are kept of all threads; of more the longest ones.
const MOST_WAITS: usize = 200_000;
/// Arrows that are kept.
const MOST_ARROWS: usize = 100_000;
/// What threads did, and when.
pub struct Timeline {
    /// The processes, in the order of the files.
    pub processes: Vec<Process>,
    /// The threads, those of one process together.
    pub rows: Vec<Row>,
    /// Who started or handed over to whom.
    pub arrows: Vec<Arrow>,
    /// Arrows that there was no room for.
    pub more_arrows: u64,
    /// Waits that there was no room for: the shortest ones.
    pub more_waits: u64,
    /// The last moment that is known, and one ns more: a window up to it has everything.
    pub end: u64,
}

/// A process of a timeline.
pub struct Process {
    /// What it is called.
    pub label: String,
    /// When it was started.
    pub start: u64,
    /// Its first moment that is known: the origin of a timeline of it alone.
    pub first: u64,
    /// Collections of its garbage collector, from and to.
    pub collections: Vec<(u64, u64)>,
    /// When its recording was paused, from and to.
    pub pauses: Vec<(u64, u64)>,
    /// ns by which its moments may be off against the others', either way; none: not known, or there are no others.
    pub uncertainty: Option<u64>,
    /// Since when its figures count: when they were reset, or 0.
    pub counts_from: u64,
    /// Its clock at the origin.
    origin: i128,
}

/// A thread of a timeline.
pub struct Row {
    pub process: usize,
    /// By which it is told apart from the others of the process.
    pub name: String,
    /// When it began, and the last moment at which it is known to have been there.
    pub begin: u64,
    /// See `begin`.
    pub end: u64,
    /// Whether its end was seen.
    pub has_ended: bool,
    /// Its waits, the first one first.
    pub waits: Vec<Wait>,
    /// The thread of the profile, by index; none: it recorded nothing but waits.
    thread: Option<usize>,
    /// Of its trace.
    index: Option<Arc<Index>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// From and to; a wait without an end reaches to the last moment that is known.
    pub from: u64,
    /// See `from`.
    pub to: u64,
    /// For a monitor that another thread had; else by `Object.wait`.
    pub is_contended: bool,
    /// Its end was seen.
    pub has_ended: bool,
    /// Copy and number of the class of the object.
    class: (u32, u32),
}

/// Work on behalf of another thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrow {
    /// Row and moment at which it was requested.
    pub from: (usize, u64),
    /// Row and moment at which it began.
    pub to: (usize, u64),
    /// A thread was started; else a task was handed over.
    pub is_start: bool,
    /// It is known when it was requested: else that is taken to be when it began.
    pub is_known: bool,
}

impl Timeline {
    /// Of profiles; traces are read once. `offsets`: how their clocks compare; none: they have one clock.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn new(
        files: &[ProfileFile],
        labels: &[String],
        offsets: Option<&Offsets>,
        wanted: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<Timeline, Error> {
        let ahead = |file: usize| offsets.and_then(|all| all.all.get(file)).map_or(0, |of| i128::from(of.ns));
        let starts = files.iter().enumerate().map(|(n, file)| i128::from(first(&file.profile)) - ahead(n));
        let origin = starts.min().unwrap_or_default();
        let traces = files.iter().flat_map(|file| &file.profile.threads).filter(|t| !t.pieces.is_empty());
        let share = share(traces.count());
        let mut timeline = Timeline {
            processes: Vec::new(),
            rows: Vec::new(),
            arrows: Vec::new(),
            more_arrows: 0,
            more_waits: 0,
            end: 0,
        };
        for (number, file) in files.iter().enumerate() {
            let profile = &file.profile;
            let origin = origin + ahead(number);
            let since = |clock: u64| since(clock, origin);
            let collections = profile.collections.iter().filter(|one| one.end != 0);
            let last = waits::end(file.source(), profile).map_err(Error::profile(&file.path))?;
            let pauses = profile.pauses.iter();
            let until = |end: u64| if end == 0 { last } else { end };
            let uncertainty = offsets.and_then(|all| all.all.get(number)?.uncertainty);
            timeline.processes.push(Process {
                label: labels.get(number).cloned().unwrap_or_else(|| file.label()),
                start: since(profile.start_clock),
                first: since(first(profile)),
                collections: collections.map(|one| (since(one.start), since(one.end))).collect(),
                pauses: pauses.map(|pause| (since(pause.start), since(until(pause.end)))).collect(),
                uncertainty,
                counts_from: if profile.window_clock == 0 { 0 } else { since(profile.window_clock) },
                origin,
            });
            let from = timeline.rows.len();
            timeline.add_threads(file, number, share, wanted)?;
            timeline.add_waits(file, number, from, last, wanted)?;
            timeline.add_arrows(profile, number, from);
            timeline.end = timeline.end.max(since(last) + 1);
        }
        timeline.end = timeline.rows.iter().map(|row| row.end + 1).fold(timeline.end, u64::max);
        Ok(timeline)
    }

    fn add_threads(
        &mut self,
        file: &ProfileFile,
        process: usize,
        share: Share,
        wanted: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<(), Error> {
        let profile = &file.profile;
        let (origin, source) = (self.processes[process].origin, file.source());
        let indexes = file.indexes();
        let ends = ends::ends(profile);
        let names = thread_rows::single(profile);
        let threads: Vec<_> = profile.threads.iter().zip(names).zip(ends).enumerate().collect();
        let rows = threads.into_par_iter().filter(|(_, ((thread, name), _))| {
            thread.kind == ThreadKind::Thread && thread.start != 0 && wanted(name)
        });
        let row = |(at, ((thread, name), end)): (usize, ((&instrument_trace::Thread, String), ends::End))| {
            let has_trace = !thread.pieces.is_empty();
            let index = match indexes.get(&(thread.copy, thread.ordinal)) {
                Some(known) => Some(Arc::clone(known)),
                None => has_trace.then(|| Index::new(source, thread, share).map(Arc::new)).transpose()?,
            };
            let begin = since(thread.start, origin);
            let last = end.open.max(thread.last_event);
            Ok(Row {
                process,
                name,
                begin,
                end: since(last, origin).max(begin),
                has_ended: thread.end != 0,
                waits: Vec::new(),
                thread: Some(at),
                index,
            })
        };
        let rows: Result<Vec<_>, instrument_trace::Error> = rows.map(row).collect();
        let mut rows = rows.map_err(Error::profile(&file.path))?;
        rows.sort_by_key(|row| row.begin);
        self.rows.extend(rows);
        Ok(())
    }

    /// Waits, and rows of threads that recorded nothing else.
    fn add_waits(
        &mut self,
        file: &ProfileFile,
        process: usize,
        from: usize,
        last: u64,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let profile = &file.profile;
        if profile.waits.is_empty() {
            return Ok(());
        }
        let origin = self.processes[process].origin;
        let names = waits::names(profile);
        let by_name: HashMap<String, usize> =
            self.rows[from..].iter().enumerate().map(|(at, row)| (row.name.clone(), from + at)).collect();
        let mut by_name = by_name;
        let mut kept: Vec<(usize, Wait)> = Vec::new();
        let mut more = 0;
        let mut visit = |wait: &instrument_trace::Wait| {
            let is_contended = match wait.kind {
                WaitKind::Contended => true,
                WaitKind::Waiting => false,
                WaitKind::Other(_) => return,
            };
            let name = names.get(&(wait.copy, wait.thread)).map_or(waits::UNKNOWN_THREAD, String::as_str);
            if !wanted(name) {
                return;
            }
            let end = waits::until(profile, wait, last).max(wait.start);
            let (begin, to) = (since(wait.start, origin), since(end, origin));
            let row = match by_name.get(name) {
                Some(&row) => row,
                None => {
                    let java = profile.java_thread(wait.copy, wait.thread);
                    let start = java.map_or(0, |thread| thread.start);
                    let ended = java.map_or(0, |thread| thread.end);
                    self.rows.push(Row {
                        process,
                        name: name.to_owned(),
                        begin: if start == 0 { begin } else { since(start, origin) },
                        end: if ended == 0 { to } else { since(ended, origin) },
                        has_ended: ended != 0,
                        waits: Vec::new(),
                        thread: None,
                        index: None,
                    });
                    by_name.insert(name.to_owned(), self.rows.len() - 1);
                    self.rows.len() - 1
                }
            };
            self.rows[row].end = self.rows[row].end.max(to);
            let class = (wait.copy, wait.class);
            kept.push((row, Wait { from: begin, to, is_contended, has_ended: wait.end != 0, class }));
            if kept.len() >= 2 * MOST_WAITS {
                more += shortest_out(&mut kept);
            }
        };
        profile.for_each_wait(file.source(), &mut visit).map_err(Error::profile(&file.path))?;
        more += shortest_out(&mut kept);
        self.more_waits += more;
        kept.into_iter().for_each(|(row, wait)| self.rows[row].waits.push(wait));
        self.rows[from..].iter_mut().for_each(|row| row.waits.sort_by_key(|wait| wait.from));
        Ok(())
    }

    fn add_arrows(&mut self, profile: &Profile, process: usize, from: usize) {
        let origin = self.processes[process].origin;
        let kinds: HashMap<_, _> =
            profile.links.iter().map(|link| ((link.copy, link.number), link)).collect();
        let mut rows: HashMap<(u32, u32), usize> = HashMap::default();
        let mut made: HashMap<(u32, u32), (usize, u64)> = HashMap::default();
        for (at, row) in self.rows.iter().enumerate().skip(from) {
            let Some(thread) = row.thread.and_then(|thread| profile.threads.get(thread)) else { continue };
            rows.insert((thread.copy, thread.ordinal), at);
            for link in row.index.iter().flat_map(|index| &index.made) {
                made.insert((link.copy, link.link), (at, link.clock));
            }
        }
        let mut arrows = Vec::new();
        let mut add = |copy: u32, link: u32, to: usize, at: u64| {
            let Some(known) = kinds.get(&(copy, link)) else { return };
            let is_start = known.kind == LinkKind::Start;
            if !is_start && known.kind != LinkKind::HandOver {
                return;
            }
            let maker = rows.get(&(copy, known.thread)).map(|&row| (row, known.clock));
            let Some((row, clock)) = made.get(&(copy, link)).copied().or(maker) else { return };
            // A link that many share is of no one moment; a thread begins soon after it was started.
            let is_known = clock != 0;
            if row != to && (is_known || is_start) {
                let began = since(at, origin);
                let asked = if is_known { since(clock, origin) } else { began };
                arrows.push(Arrow { from: (row, asked), to: (to, began), is_start, is_known });
            }
        };
        for (at, row) in self.rows.iter().enumerate().skip(from) {
            let Some(thread) = row.thread.and_then(|thread| profile.threads.get(thread)) else { continue };
            let entered = row.index.as_ref().map_or(&[][..], |index| &index.entered);
            entered.iter().for_each(|&(link, clock)| add(thread.copy, link, at, clock));
            if thread.link != 0 && !entered.iter().any(|&(link, _)| link == thread.link) {
                add(thread.copy, thread.link, at, thread.start);
            }
        }
        let room = MOST_ARROWS.saturating_sub(self.arrows.len());
        self.more_arrows += arrows.len().saturating_sub(room) as u64;
        self.arrows.extend(arrows.into_iter().take(room));
    }

    /// Of a session.
    ///
    /// # Errors
    /// A profile that cannot be read; none of them has a trace.
    pub fn of_session(session: &Session, request: &Request) -> Result<Timeline, Error> {
        let labels: Vec<_> = session.profiles.iter().map(ProfileFile::label).collect();
        let offsets = processes::offsets(&session.profiles)?;
        Timeline::new(&session.profiles, &labels, offsets.as_ref(), &thread_filter(&request.threads))
    }

    /// Since when figures count, of the processes that were not reset, or were first.
    pub fn counts_from(&self) -> u64 {
        self.processes.iter().map(|process| process.counts_from).min().unwrap_or(0)
    }

    /// The rows whose single calls are known.
    ///
    /// # Errors
    /// There are none.
    pub fn traced(&self, session: &Session) -> Result<Vec<usize>, Error> {
        let rows: Vec<_> = (0..self.rows.len()).filter(|&row| self.has_calls(row)).collect();
        if rows.is_empty() {
            let mut names: Vec<_> =
                session.profiles.iter().map(|file| file.path.display().to_string()).collect();
            if names.is_empty() {
                names.push("no profile (*.iprof) was given".to_owned());
            }
            return Err(Error::Request(format!("{}: {NO_TRACE}", names.join(" "))));
        }
        Ok(rows)
    }

    /// Whether the single calls of a row are known.
    pub fn has_calls(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|row| row.index.is_some())
    }

    fn trace<'a>(
        &self,
        files: &'a [ProfileFile],
        row: &'a Row,
    ) -> Option<(&'a ProfileFile, &'a instrument_trace::Thread, &'a Index)> {
        let file = files.get(row.process)?;
        Some((file, file.profile.threads.get(row.thread?)?, row.index.as_deref()?))
    }

    /// The thread of a row, with the profile that has it; none: the row has no trace.
    pub(crate) fn thread<'a>(
        &self,
        files: &'a [ProfileFile],
        row: usize,
    ) -> Option<(&'a ProfileFile, &'a instrument_trace::Thread)> {
        let row = self.rows.get(row).filter(|row| row.index.is_some())?;
        let file = files.get(row.process)?;
        Some((file, file.profile.threads.get(row.thread?)?))
    }

    /// The moment of a clock of a row.
    pub(crate) fn moment(&self, row: usize, clock: u64) -> u64 {
        self.rows.get(row).map_or(0, |row| since(clock, self.processes[row.process].origin))
    }

    /// A moment on the clock of a row.
    fn clock(&self, row: &Row, moment: u64) -> u64 {
        let clock = self.processes[row.process].origin + i128::from(moment);
        u64::try_from(clock.max(0)).unwrap_or(u64::MAX)
    }
}

/// Leaves the shortest waits out if there are too many; how many these were.
fn shortest_out(waits: &mut Vec<(usize, Wait)>) -> u64 {
    let more = waits.len().saturating_sub(MOST_WAITS);
    if more > 0 {
        waits.sort_by_key(|(_, wait)| std::cmp::Reverse(wait.to - wait.from));
        waits.truncate(MOST_WAITS);
    }
    more as u64
}

/// The clock at the beginning, as far as it is known.
fn first(profile: &Profile) -> u64 {
    let threads = profile.threads.iter().filter(|thread| thread.kind == ThreadKind::Thread);
    let known = threads.map(|thread| thread.start).chain([profile.start_clock]).filter(|&clock| clock != 0);
    known.min().unwrap_or_default()
}

/// A moment, counted from an origin on the same clock.
fn since(clock: u64, origin: i128) -> u64 {
    u64::try_from((i128::from(clock) - origin).max(0)).unwrap_or(u64::MAX)
}
