//! How long single calls took: the distribution of the durations of each method, its slowest calls, and what these did.
//!
//! From traces, where every call has its times, and from the histograms that the recorder keeps of chosen methods in trees. Durations are as measured: what the recorder adds to a call and to those below it is in them. A
//! call within a call of the same method is part of it, and has no duration of its own.
//!
//! | | |
//! |---|---|
//! | [`Latency`] | the methods of a session |
//! | [`Histogram`] | durations by size |
//! | [`CallTree`] | what one call did, from a trace |
//! | [`Worst`] | what the longest calls did, and all others, from trees |

mod call_tree;
mod calls;
mod contended;
mod did;
mod trees;
mod typical;
mod worst;

use std::collections::BTreeMap;

use instrument_trace::{Error as TraceError, Thread, bucket};
use rayon::prelude::*;

use crate::model::{Arcflow, Kind, Resource};
use crate::replay;
use crate::session::names::Names;
use crate::session::{Error, ProfileFile};
use crate::timeline::{RESOURCE, Timeline};

pub use call_tree::{CallTree, Difference};
pub use did::{Context, Did, Own};
pub use instrument_trace::Histogram;
pub use typical::Typical;
pub use worst::{Bad, MOST_WORST, Worst};

/// Slowest calls that are kept of a method.
pub const MOST_SLOWEST: usize = 10;

/// A call that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Its row in the timeline.
    pub row: usize,
    /// The moments between which it was open.
    pub from: u64,
    /// See `from`.
    pub to: u64,
    /// How long it took, without the time that the recorder took for itself.
    pub ns: u64,
    /// It ended with an exception.
    pub has_failed: bool,
}

/// The durations of the calls of a method.
#[derive(Debug, Clone, Default)]
pub struct Durations {
    /// Of calls that returned.
    pub returned: Histogram,
    /// Of calls that ended with an exception.
    pub failed: Histogram,
    /// A threshold that was given when it was recorded, in ns, and the calls that took longer; none: there was none, or several.
    pub over: Option<(u64, u64)>,
    /// Calls that had not ended.
    pub open: u64,
    /// Calls whose end was not seen, or which were counted only: past the limits of depth and of contexts.
    pub unknown: u64,
    /// The slowest calls, the slowest first; at most [`MOST_SLOWEST`].
    pub slowest: Vec<Call>,
    /// For each bucket of those that returned its first call.
    examples: BTreeMap<i32, Call>,
}

impl Durations {
    fn add(&mut self, call: Call) {
        if call.has_failed {
            self.failed.add(call.ns);
        } else {
            self.returned.add(call.ns);
            if call.ns > 0 {
                self.examples.entry(bucket(call.ns)).or_insert(call);
            }
        }
        self.add_slowest(call);
    }

    fn add_slowest(&mut self, call: Call) {
        let key = |call: &Call| (std::cmp::Reverse(call.ns), call.row, call.from);
        let at = self.slowest.partition_point(|other| key(other) <= key(&call));
        if at < MOST_SLOWEST {
            self.slowest.insert(at, call);
            self.slowest.truncate(MOST_SLOWEST);
        }
    }

    /// Adds the calls of rows that come later.
    fn merge(&mut self, other: Durations) {
        self.over = match (self.over, other.over) {
            _ if other.ended() == 0 => self.over,
            (_, over) if self.ended() == 0 => over,
            (Some((own, calls)), Some((threshold, more))) if own == threshold => Some((own, calls + more)),
            _ => None,
        };
        self.returned.merge(&other.returned);
        self.failed.merge(&other.failed);
        self.open += other.open;
        self.unknown += other.unknown;
        other.slowest.into_iter().for_each(|call| self.add_slowest(call));
        for (bucket, call) in other.examples {
            self.examples.entry(bucket).or_insert(call);
        }
    }

    /// Calls that have a duration.
    pub fn ended(&self) -> u64 {
        self.returned.count() + self.failed.count()
    }

    /// Durations of all calls that ended.
    pub fn all(&self) -> Histogram {
        let mut all = self.returned.clone();
        all.merge(&self.failed);
        all
    }

    /// A call that took as long as the median of those that returned.
    pub fn typical(&self) -> Option<Call> {
        self.examples.get(&self.returned.bucket_at(0.5)?).copied()
    }

    /// What the slowest percent of the calls took beyond the median, in ns: what there is to gain.
    pub fn tail(&self) -> f64 {
        let all = self.all();
        all.quantile(0.5).map_or(0.0, |median| all.tail(0.01, median))
    }
}

/// How long the calls of methods took.
#[derive(Debug, Default)]
pub struct Latency {
    /// By the name of the method; those of all threads and processes together.
    pub methods: BTreeMap<String, Durations>,
    /// These methods were chosen when they were recorded.
    pub chosen: bool,
    /// Calls of them whose durations found no room.
    pub left_out: u64,
}

impl Latency {
    /// Of the rows of a timeline that have a trace.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn of(timeline: &Timeline, files: &[ProfileFile], rows: &[usize]) -> Result<Latency, Error> {
        let threads: Vec<_> = rows
            .iter()
            .filter_map(|&row| timeline.thread(files, row).map(|(file, thread)| (row, file, thread)))
            .collect();
        let of_row = |(row, (names, after), source, thread): (usize, (&Names, u64), _, &Thread)| {
            let name = |id| names.method(thread.copy, id);
            let moment = |clock| timeline.moment(row, clock);
            let mut collector = calls::Collector::new(row, moment, &name, after);
            replay::replay(source, thread, &mut collector)?;
            Ok(collector.finish().collect::<Vec<_>>())
        };
        let mut latency = Latency::default();
        // Of thousands of threads few are in memory at a time.
        for some in threads.chunks(2 * rayon::current_num_threads()) {
            let sources: Vec<_> = some
                .iter()
                .map(|&(row, file, thread)| {
                    (row, (&file.names, file.profile.window_clock), file.source(), thread)
                })
                .collect();
            let found: Vec<Result<_, TraceError>> = sources.into_par_iter().map(of_row).collect();
            for ((_, file, _), found) in some.iter().zip(found) {
                for (name, durations) in found.map_err(Error::profile(&file.path))? {
                    latency.methods.entry(name).or_default().merge(durations);
                }
            }
        }
        Ok(latency)
    }

    /// Adds the calls of other threads.
    pub fn merge(&mut self, other: Latency) {
        for (name, durations) in other.methods {
            self.methods.entry(name).or_default().merge(durations);
        }
        self.chosen &= other.chosen;
        self.left_out += other.left_out;
    }

    /// The methods with their calls, as a model: for what looks methods up and prints their names.
    pub fn model(&self, files: &[ProfileFile]) -> Arcflow {
        let mut model = Arcflow::new(vec![Resource { name: RESOURCE.into(), unit: "ns".into() }]);
        for (name, durations) in &self.methods {
            let consumer = model.consumer(name);
            let node = model.child(Arcflow::ROOT, Kind::Method, consumer);
            model.meet(node, durations.ended() + durations.open + durations.unknown);
        }
        let origins = files.iter().flat_map(|file| file.names.origins());
        model.origins = model.origins_of(origins);
        model
    }
}
