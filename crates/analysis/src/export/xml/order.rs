//! Events of very many records in the order of time, with bounded memory.
//!
//! Records lie nearly in the order of their beginnings, but nobody promises it, and their ends lie anywhere. So
//!
//! 1. every piece of the file is cut into chunks, and each is read once to find the first and the last event of either
//!    end;
//! 2. the [`BATCH`] earliest events that were not returned yet are gathered in a heap, from chunks in the order of
//!    their first events, until there is none left whose first event is earlier than the last of a full heap;
//! 3. they are returned in order; from 2 again, until there are none.
//!
//! Where records are nearly in order each chunk is read once more for each end. In the worst case all are read for
//! every batch.

use std::collections::BinaryHeap;

use instrument_trace::{Error, ObjectPiece, Profile, Source, WaitKind, WaitPiece};

use super::phases::{Moment, Phases};

/// Events in memory.
const BATCH: usize = 1 << 20;
/// Records of a chunk.
const CHUNK: u64 = 1 << 14;

/// An event of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TimedEvent {
    pub(super) moment: Moment,
    pub(super) event: Event,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Made { class: u32, thread: u32, bytes: u64 },
    Gone { bytes: u64 },
    Wait(Waited),
    Waited(Waited),
}

/// Details of one end of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waited {
    pub(super) contended: bool,
    pub(super) thread: u32,
    pub(super) monitor: u32,
    pub(super) class: u32,
    pub(super) owner: u32,
    /// ms at the beginning, ns at the end.
    pub(super) timeout: u64,
}

/// Which end of its records a chunk stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Birth,
    Death,
}

#[derive(Debug, Clone, Copy)]
enum Records {
    Objects(ObjectPiece),
    /// With the number of the first one.
    Waits(WaitPiece, u64),
}

struct Chunk {
    records: Records,
    end: End,
    first: Moment,
    last: Moment,
}

/// The events of the objects and waits of one copy of the runtime.
pub(super) struct Ordered<'a, S> {
    source: &'a S,
    phases: &'a Phases,
    chunks: Vec<Chunk>,
    batch: usize,
    /// The last event that was returned.
    written: Option<Moment>,
}

impl<'a, S: Source> Ordered<'a, S> {
    pub(super) fn new(source: &'a S, profile: &Profile, phases: &'a Phases) -> Result<Ordered<'a, S>, Error> {
        let mut ordered = Ordered { source, phases, chunks: Vec::new(), batch: BATCH, written: None };
        for piece in profile.objects.iter().filter(|piece| piece.copy == phases.copy) {
            for from in (0..piece.count).step_by(CHUNK as usize) {
                ordered.chunk(Records::Objects(piece.part(from, CHUNK)))?;
            }
        }
        let mut number = 1;
        for piece in profile.waits.iter().filter(|piece| piece.copy == phases.copy) {
            for from in (0..piece.count).step_by(CHUNK as usize) {
                ordered.chunk(Records::Waits(piece.part(from, CHUNK), number + from))?;
            }
            number += piece.count;
        }
        ordered.chunks.sort_by_key(|chunk| chunk.first);
        Ok(ordered)
    }

    fn chunk(&mut self, records: Records) -> Result<(), Error> {
        for end in [End::Birth, End::Death] {
            let mut span: Option<(Moment, Moment)> = None;
            self.read(&records, end, |event| {
                let (first, last) = span.get_or_insert((event.moment, event.moment));
                (*first, *last) = ((*first).min(event.moment), (*last).max(event.moment));
            })?;
            if let Some((first, last)) = span {
                self.chunks.push(Chunk { records, end, first, last });
            }
        }
        Ok(())
    }

    /// The next events, in order; empty: there are no more.
    pub(super) fn next(&mut self) -> Result<Vec<TimedEvent>, Error> {
        let mut heap: BinaryHeap<TimedEvent> = BinaryHeap::new();
        let written = self.written;
        self.chunks.retain(|chunk| written.is_none_or(|written| chunk.last > written));
        for chunk in &self.chunks {
            if heap.len() == self.batch && heap.peek().is_some_and(|last| chunk.first > last.moment) {
                break;
            }
            self.read(&chunk.records, chunk.end, |event| {
                if written.is_some_and(|written| event.moment <= written) {
                    return;
                }
                if heap.len() < self.batch {
                    heap.push(event);
                } else if let Some(mut last) = heap.peek_mut()
                    && event < *last
                {
                    *last = event;
                }
            })?;
        }
        let batch = heap.into_sorted_vec();
        self.written = batch.last().map(|event| event.moment).or(written);
        Ok(batch)
    }

    fn read(&self, records: &Records, end: End, mut visit: impl FnMut(TimedEvent)) -> Result<(), Error> {
        match records {
            Records::Objects(piece) => piece.for_each(self.source, |object| match end {
                End::Birth => {
                    let (class, thread, bytes) = (object.class, object.thread, object.bytes);
                    let moment = self.phases.birth(object);
                    visit(TimedEvent { moment, event: Event::Made { class, thread, bytes } });
                }
                End::Death => {
                    if let Some(moment) = self.phases.death(object) {
                        visit(TimedEvent { moment, event: Event::Gone { bytes: object.bytes } });
                    }
                }
            }),
            Records::Waits(piece, first) => {
                let mut number = *first;
                piece.for_each(self.source, &mut |wait| {
                    number += 1;
                    let contended = match wait.kind {
                        WaitKind::Contended => true,
                        WaitKind::Waiting => false,
                        WaitKind::Other(_) => return,
                    };
                    let waited = Waited {
                        contended,
                        thread: wait.thread,
                        monitor: wait.monitor,
                        class: wait.class,
                        owner: wait.owner,
                        timeout: wait.timeout,
                    };
                    match end {
                        End::Birth => {
                            let moment = self.phases.moment(wait.start, Phases::WAIT, number);
                            visit(TimedEvent { moment, event: Event::Wait(waited) });
                        }
                        End::Death if wait.end != 0 => {
                            let until = wait.end.max(wait.start);
                            let moment = self.phases.moment(until, Phases::WAITED, number);
                            let waited = Waited { timeout: until - wait.start, ..waited };
                            visit(TimedEvent { moment, event: Event::Waited(waited) });
                        }
                        End::Death => {}
                    }
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_testing::{Life, Writer};

    /// Lives in any order, in batches much smaller than they are many: each once, in order.
    #[test]
    fn any_order_is_put_right_in_little_memory() {
        let mut seed = 1u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let mut writer = Writer::new();
        writer.collections(1, &(1..=20).map(|k| (k * 1000, k * 1000 + 100)).collect::<Vec<_>>());
        let lives = (0..40_000).map(|_| {
            let clock = random(30_000);
            let born = random(22) as u32;
            let gone = (random(3) > 0).then(|| random(25) as u32);
            Life { class: 1, bytes: 8, born, gone, clock, ..Life::default() }
        });
        let lives = lives.collect::<Vec<_>>();
        writer.objects(1, &lives);
        let data = writer.finish();
        let profile = Profile::parse(&data).unwrap();
        let phases = Phases::new(&profile, 1);
        let mut ordered = Ordered::new(&data, &profile, &phases).unwrap();
        ordered.batch = 1000;
        let mut all: Vec<TimedEvent> = Vec::new();
        loop {
            let batch = ordered.next().unwrap();
            if batch.is_empty() {
                break;
            }
            assert!(batch.len() <= 1000);
            all.extend(batch);
        }
        assert!(all.is_sorted() && all.iter().all(|event| event.moment.phase <= 20));
        let died = lives.iter().filter(|life| life.gone.is_some()).count();
        assert_eq!(all.len(), lives.len() + died);
        // Every object is made before it is gone, whatever the file says.
        let mut made = vec![false; lives.len() + 1];
        for event in &all {
            let number = event.moment.number as usize;
            assert_eq!(
                std::mem::replace(&mut made[number], true),
                matches!(event.event, Event::Gone { .. }),
                "{event:?}"
            );
        }
        assert!(all.windows(2).all(|pair| pair[0].moment.clock <= pair[1].moment.clock));
    }
}
