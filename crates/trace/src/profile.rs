//! A profile, as threads and what goes with them.

use std::collections::BTreeMap;

use crate::bytes::Bytes;
use crate::calibration::Calibration;
use crate::error::{Damage, Error};
use crate::facts::{Copy, Mode};
use crate::format::REMOTE_CALL;
use crate::heap::{Collection, ObjectPiece};
use crate::holder::HolderSearch;
use crate::java_thread::JavaThread;
use crate::link::Link;
use crate::pause::Pause;
use crate::reader::{self, Parts};
use crate::region_timing::RegionTiming;
use crate::remote::{Connection, RemoteCall, RemoteCalls};
use crate::selection::SelectionChange;
use crate::source::Source;
use crate::thread::Thread;
use crate::wait::WaitPiece;
use crate::worst_call::WorstCall;

/// One profile file. Clocks are ns, 0 where they are unknown.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// Process id, as the process saw it; 0: unknown.
    pub pid: u64,
    /// A random number: two files of one process have the same; 0: unknown.
    pub nonce: u64,
    /// Bytes that the recorder has used; the file may be longer, or cut.
    pub length: u64,
    /// The file ends before the place at which its next block would begin.
    pub is_cut: bool,
    /// Start of recording, in ms since 1970-01-01 UTC.
    pub start_ms: u64,
    /// Start of recording, by the clock: the moment of [`Profile::start_ms`].
    pub start_clock: u64,
    /// The clock at the last beat.
    pub beat_clock: u64,
    /// The clock when the virtual machine began to shut down.
    pub shutdown_clock: u64,
    /// The clock from which on the figures count, where an earlier snapshot was taken from them; 0: from the start.
    pub window_clock: u64,
    /// Events dropped by threads that have no region.
    pub dropped: u64,
    /// Copies of the runtime, by their numbers.
    pub copies: BTreeMap<u32, Copy>,
    /// Threads in the order of their first events, and what is left of ended ones.
    pub threads: Vec<Thread>,
    /// Links, in the order of the file.
    pub links: Vec<Link>,
    /// Timings of code regions, by copy, region and thread.
    pub regions: Vec<RegionTiming>,
    /// Garbage collections, by copy and number.
    pub collections: Vec<Collection>,
    /// Where the biographies of objects are, by copy and number: [`Profile::for_each_object`].
    pub objects: Vec<ObjectPiece>,
    /// Connections of remote method invocation, by copy and number.
    pub connections: Vec<Connection>,
    /// Where the records of remote calls are, in the order of the file.
    pub remote_calls: Vec<RemoteCalls>,
    /// Threads of the virtual machine, by copy and number.
    pub java_threads: Vec<JavaThread>,
    /// Where waits are, in the order of the file: [`Profile::for_each_wait`].
    pub waits: Vec<WaitPiece>,
    /// When recording was paused, in the order of the file.
    pub pauses: Vec<Pause>,
    /// Searches for who holds objects that may leak, in the order of the file.
    pub holder_searches: Vec<HolderSearch>,
    /// Methods that were excluded, or included again, while the program ran; in the order in which that happened.
    pub selection_changes: Vec<SelectionChange>,
    /// Calls that took longest of their methods, in the order of the file.
    pub worst_calls: Vec<WorstCall>,
    /// Calls of methods that were drawn at random, in the order of the file.
    pub drawn_calls: Vec<WorstCall>,
    /// Region kinds that this reader does not know, and how many of each it skipped.
    pub skipped: BTreeMap<u32, u32>,
    /// What could not be read.
    pub damage: Vec<Damage>,
}

impl Profile {
    /// Whether it is known that the recording of one of its copies ended before its process did.
    pub fn has_ended(&self) -> bool {
        self.copies.values().any(|copy| copy.properties.contains_key("recording.ended"))
    }

    /// What its samples of stacks are of, such as `cycles`; `None`: CPU time. Then [`ThreadSamples::period_ns`](crate::ThreadSamples) and
    /// `cpu_ns` count such events.
    pub fn sampled_event(&self) -> Option<&str> {
        self.copies.values().find_map(crate::Copy::sampled_event)
    }

    /// Reads a profile. The events of traces stay where they are, see [`Thread::pieces`]; memory is bounded by the size of
    /// the rest.
    ///
    /// # Errors
    /// When the source fails; and when the file header is missing, cut, or of another version; whatever follows it may be
    /// cut or wrong.
    pub fn open(source: &impl Source) -> Result<Profile, Error> {
        reader::read(source, Parts::All)
    }

    /// Reads what a profile tells of its process: properties, links, where remote calls are. It has no thread, and no id map.
    ///
    /// # Errors
    /// As those of [`Profile::open`].
    pub fn open_facts(source: &impl Source) -> Result<Profile, Error> {
        reader::read(source, Parts::Facts)
    }

    /// Reads a profile that is in memory: [`Profile::open`].
    ///
    /// # Errors
    /// Only when the file header is missing, cut, or of another version.
    pub fn parse(data: &[u8]) -> Result<Profile, Error> {
        reader::read(&data, Parts::All)
    }

    /// Hands over every remote call, in the order of the file; there may be millions, and none is kept. `source` is what the profile
    /// was read from.
    ///
    /// # Errors
    /// When the source fails; what was read before has been handed over.
    pub fn visit_remote_calls(
        &self,
        source: &impl Source,
        mut visit: impl FnMut(&RemoteCall),
    ) -> Result<(), Error> {
        self.visit_placed_remote_calls(source, |_, call| visit(call))
    }

    /// The same with the place of each, for [`Profile::remote_calls_at`].
    ///
    /// # Errors
    /// When the source fails; what was read before has been handed over.
    pub fn visit_placed_remote_calls(
        &self,
        source: &impl Source,
        mut visit: impl FnMut(u64, &RemoteCall),
    ) -> Result<(), Error> {
        let bytes = Bytes::new(source)?;
        for part in &self.remote_calls {
            for at in (0..part.length / REMOTE_CALL).map(|i| part.offset + i * REMOTE_CALL) {
                let words = bytes.words(at);
                if let Some(call) = RemoteCall::decode(part.copy, &words) {
                    visit(at, &call);
                }
            }
        }
        bytes.error().map_or(Ok(()), |error| Err(error.into()))
    }

    /// Reads remote calls once more, one by one, by their places. Calls that lie near each other are read together.
    ///
    /// # Errors
    /// When the source fails.
    pub fn remote_calls_at<'a>(&'a self, source: &'a dyn Source) -> Result<RemoteCallsAt<'a>, Error> {
        Ok(RemoteCallsAt { parts: &self.remote_calls, bytes: Bytes::new(source)? })
    }

    /// What was recorded, by the first copy of the runtime that tells.
    pub fn mode(&self) -> Option<Mode> {
        self.copies.values().find_map(Copy::mode)
    }

    /// What recording cost, by the first copy of the runtime that tells.
    pub fn calibration(&self) -> Option<Calibration> {
        self.copies.values().find_map(Copy::calibration)
    }
}

/// Remote calls by their places: see [`Profile::remote_calls_at`].
pub struct RemoteCallsAt<'a> {
    parts: &'a [RemoteCalls],
    bytes: Bytes<'a>,
}

impl RemoteCallsAt<'_> {
    /// The call of a place; none if there is no call.
    ///
    /// # Errors
    /// When the source fails.
    pub fn get(&self, place: u64) -> Result<Option<RemoteCall>, Error> {
        let after = self.parts.partition_point(|part| part.offset <= place);
        let part = after.checked_sub(1).map(|at| self.parts[at]);
        let is_in = |part: &RemoteCalls| {
            let within = place - part.offset;
            within.is_multiple_of(REMOTE_CALL) && within < part.length / REMOTE_CALL * REMOTE_CALL
        };
        let call =
            part.filter(is_in).and_then(|part| RemoteCall::decode(part.copy, &self.bytes.words(place)));
        self.bytes.error().map_or(Ok(call), |error| Err(error.into()))
    }
}
