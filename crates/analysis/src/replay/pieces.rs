//! Reads the pieces of a trace, one after another.

use instrument_trace::{Damage, Error, Source, Thread, TreeConsumer};

use super::calls::{Calls, Key, Stop, Visitor};
use std::ops::Range;

/// Bytes that are read at once.
const BUFFER: usize = 256 * 1024;

/// Frames that a stack may have; a Java stack of 1 MB has some ten thousand.
const DEEPEST: usize = 1 << 22;

/// A trace that has been replayed.
#[derive(Debug)]
pub struct Replayed<C> {
    /// Calls that are open, outermost first.
    pub open: Vec<Open<C>>,
    /// Clock at the last event; 0: there is none.
    pub last_event: u64,
    /// ns that the recorder took for itself.
    pub pause: u64,
    /// Events that were not recorded.
    pub dropped: u64,
    /// What is wrong with the trace.
    pub damage: Vec<Damage>,
}

/// A call that had not ended.
#[derive(Debug)]
pub struct Open<C> {
    /// Whose call it is.
    pub consumer: TreeConsumer,
    /// A constructor whose super() has not returned.
    pub pending: bool,
    /// What the visitor gave.
    pub call: C,
}

/// Where a replay begins.
#[derive(Debug)]
pub struct Start<C> {
    /// The pieces that are replayed, by their index.
    pub pieces: Range<usize>,
    /// The clock before the first of them.
    pub clock: u64,
    /// The calls that are open there, as [`Visitor::piece`] has told them.
    pub open: Vec<(Key, C)>,
}

/// Tells the visitor what a thread did, from the pieces of its trace.
///
/// # Errors
/// When the source fails. What is wrong with the trace itself is told in [`Replayed::damage`].
pub fn replay<V: Visitor>(
    source: &impl Source,
    thread: &Thread,
    visitor: &mut V,
) -> Result<Replayed<V::Call>, Error> {
    let start = Start { pieces: 0..thread.pieces.len(), clock: 0, open: Vec::new() };
    replay_part(source, thread, start, visitor)
}

/// The same of some pieces.
///
/// # Errors
/// When the source fails.
pub fn replay_part<V: Visitor>(
    source: &impl Source,
    thread: &Thread,
    start: Start<V::Call>,
    visitor: &mut V,
) -> Result<Replayed<V::Call>, Error> {
    let mut damage = Vec::new();
    let mut note = |offset: u64, reason: String| {
        damage.push(Damage { offset, structure: "trace", reason });
    };
    let mut calls = Calls::new(visitor, DEEPEST);
    calls.clock = start.clock;
    calls.resume(start.open);
    let pieces = thread.pieces.get(start.pieces.clone()).unwrap_or_default();
    let longest = pieces.iter().map(|piece| piece.length as usize).max().unwrap_or(0);
    let mut buffer = vec![0; BUFFER.min(longest)];
    let first = if start.pieces.start == 0 { 1 } else { pieces.first().map_or(1, |piece| piece.number) };
    let (mut missing, mut expected) = (0u64, first);
    let mut backwards = 0u64;
    let mut first_wrong = None;
    'pieces: for (index, piece) in start.pieces.zip(pieces) {
        if piece.number != expected {
            missing += u64::from(piece.number.saturating_sub(expected)).max(1);
            first_wrong.get_or_insert(piece.offset);
        }
        expected = piece.number.saturating_add(1);
        if piece.clock < calls.clock {
            backwards += 1;
            first_wrong.get_or_insert(piece.offset);
        }
        calls.clock = calls.clock.max(piece.clock);
        calls.begin_piece(index);
        let mut at = 0;
        while at < piece.length as usize {
            let part = BUFFER.min(piece.length as usize - at);
            let filled = source.fill_at(piece.offset + at as u64, &mut buffer[..part])?;
            match calls.read(&buffer[..filled]) {
                Ok(()) => {}
                Err(Stop::End) => break,
                Err(Stop::TooDeep) => {
                    note(piece.offset, format!("more than {DEEPEST} frames are open; the rest is not read"));
                    break 'pieces;
                }
            }
            at += part;
        }
    }
    let first_wrong = first_wrong.unwrap_or_default();
    if missing > 0 {
        note(first_wrong, format!("{missing} pieces of thread {:?} are missing", thread.name));
    }
    if backwards > 0 {
        note(first_wrong, format!("the clock goes back {backwards} times in thread {:?}", thread.name));
    }
    if calls.unknown > 0 {
        let first = thread.pieces.first().map_or(0, |piece| piece.offset);
        note(first, format!("{} events of thread {:?} are of unknown kinds", calls.unknown, thread.name));
    }
    let (last_event, pause, dropped) = (calls.clock, calls.pause, calls.dropped);
    let open = calls.into_open().map(|(consumer, pending, call)| Open { consumer, pending, call });
    Ok(Replayed { open: open.collect(), last_event, pause, dropped, damage })
}
