//! From events to calls: which frame an event belongs to, by the reading rules of the format.
//!
//! An event nearly always belongs to the topmost frame; that takes one comparison. Otherwise the stack is searched from
//! the top, and what lies above the frame that is found is closed. A search in vain closes nothing, so many of them on
//! a deep stack would be slow: once they have cost too much, open frames are counted by key, and a search is begun only
//! if it will find something.

use std::collections::HashMap;

use instrument_trace::{Event, TreeConsumer};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// It returned.
    Exit,
    /// By an exception.
    Unwind,
    /// Its super() threw.
    Aborted,
    /// Its end was not seen.
    Unclosed,
    /// Its super() threw, some time before; when is not known. It need not be the topmost call.
    Surplus,
}

/// Is told what a thread did. Clocks are those of the events.
pub trait Visitor {
    /// What the visitor wants to know again when a call ends.
    type Call;

    /// A call begins, or work on behalf of a link. `depth`: frames beneath it; the topmost of them is the caller.
    /// `pending`: it is a constructor that has not called super() yet.
    fn enter(
        &mut self,
        consumer: TreeConsumer,
        pending: bool,
        caller: Option<&Self::Call>,
        depth: usize,
        at: u64,
    ) -> Self::Call;

    /// A call ends. `depth`: frames beneath it. It is the topmost call, but for [`CallEnd::Surplus`]: frames above that
    /// stay, one lower.
    fn leave(&mut self, call: Self::Call, consumer: TreeConsumer, how: CallEnd, depth: usize, at: u64);

    /// A call goes on under another caller, since that of before has ended. `depth`: frames beneath it.
    fn moved(
        &mut self,
        _call: &mut Self::Call,
        _consumer: TreeConsumer,
        _caller: Option<&Self::Call>,
        _depth: usize,
    ) {
    }

    /// An event that fits no frame. `by`: the topmost call; `depth`: frames.
    fn unmatched(&mut self, _consumer: TreeConsumer, _by: Option<&Self::Call>, _depth: usize, _at: u64) {}

    /// An object or array is made; `bytes` 0: of unknown size.
    fn made(&mut self, _class: u32, _bytes: u64, _by: Option<&Self::Call>, _at: u64) {}

    /// A link is made.
    fn link_made(&mut self, _link: u32, _by: Option<&Self::Call>, _at: u64) {}

    /// The recorder took time for itself: that much of the open calls' time is not theirs. `at`: the clock thereafter.
    fn pause(&mut self, _ns: u64, _at: u64) {}

    /// A piece of the trace begins, by its index among those of the thread; `open`: the calls that are open, outermost
    /// first, as [`super::Start`] takes them.
    fn piece(&mut self, _index: usize, _at: u64, _open: &mut dyn Iterator<Item = (Key, &Self::Call)>) {}
}

/// Which events belong to an open call: its method or link, and whether it is a constructor that has not called super()
/// yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(u32);

impl Key {
    /// As a number, for [`Key::from_bits`].
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// The key of a number that [`Key::bits`] gave.
    pub(crate) fn from_bits(bits: u32) -> Key {
        Key(bits)
    }
}

const PENDING: u32 = 1 << 31;
const LINK: u32 = 1 << 30;

/// Searches in vain may visit this many frames before open frames are counted.
const PATIENCE: usize = 1 << 20;

/// Calls of a thread that are moved to other callers. Each may make a context, for which a hostile file needs next to
/// nothing.
const MOST_MOVES: usize = 1 << 14;

/// The shadow stack of a thread.
pub(super) struct Calls<'v, V: Visitor> {
    pub(super) visitor: &'v mut V,
    pub(super) clock: u64,
    frames: Vec<CallFrame<V::Call>>,
    /// Frames that `frames` may have.
    limit: usize,
    pending: usize,
    pub(super) pause: u64,
    pub(super) dropped: u64,
    /// Words of kinds that this reader does not know.
    pub(super) unknown: u64,
    in_vain: usize,
    /// Calls that may still be moved.
    moves: usize,
    /// Open frames by key, once searches in vain have cost too much.
    open: Option<HashMap<u32, usize>>,
}

struct CallFrame<C> {
    /// Method id or number of a link, which have 26 bits; [`PENDING`], [`LINK`].
    key: u32,
    call: C,
}

/// Why events are not read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The piece has no more.
    End,
    /// The stack is too deep.
    TooDeep,
}

fn consumer(key: u32) -> TreeConsumer {
    if key & LINK != 0 {
        TreeConsumer::Link(key & !(LINK | PENDING))
    } else {
        TreeConsumer::Method(key & !PENDING)
    }
}

impl<'v, V: Visitor> Calls<'v, V> {
    pub(super) fn new(visitor: &'v mut V, limit: usize) -> Self {
        Calls {
            visitor,
            clock: 0,
            frames: Vec::new(),
            limit,
            pending: 0,
            pause: 0,
            dropped: 0,
            unknown: 0,
            in_vain: 0,
            moves: MOST_MOVES,
            open: None,
        }
    }

    /// Takes up calls that are open already, outermost first.
    pub(super) fn resume(&mut self, open: Vec<(Key, V::Call)>) {
        self.pending = open.iter().filter(|(Key(key), _)| key & PENDING != 0).count();
        self.frames = open.into_iter().map(|(Key(key), call)| CallFrame { key, call }).collect();
    }

    /// Tells that a piece begins.
    pub(super) fn begin_piece(&mut self, index: usize) {
        let mut open = self.frames.iter().map(|frame| (Key(frame.key), &frame.call));
        self.visitor.piece(index, self.clock, &mut open);
    }

    /// Reads events up to the first that is 0. `Ok`: all of them were there.
    pub(super) fn read(&mut self, events: &[u8]) -> Result<(), Stop> {
        for word in events.chunks_exact(8) {
            let word = word.try_into().map_or(0, u64::from_le_bytes);
            if word == 0 {
                return Err(Stop::End);
            }
            let (event, ns) = Event::decode(word);
            self.clock = self.clock.saturating_add(ns);
            match event {
                Event::Entry(id) => self.enter(id)?,
                Event::Exit(id) => self.end(id, CallEnd::Exit),
                Event::Unwind(id) => self.end(id, CallEnd::Unwind),
                Event::Caught(id) => self.caught(id),
                Event::ConstructorEntry(id) => {
                    self.enter(id | PENDING)?;
                    self.pending += 1;
                }
                Event::SuperReturned(id) => self.super_returned(id),
                Event::Made { class, bytes } => {
                    let by = self.frames.last().map(|frame| &frame.call);
                    self.visitor.made(class, bytes, by, self.clock);
                }
                Event::LinkEntered(link) => self.enter(link | LINK)?,
                Event::LinkLeft(link) => self.end(link | LINK, CallEnd::Exit),
                Event::LinkMade(link) => {
                    let by = self.frames.last().map(|frame| &frame.call);
                    self.visitor.link_made(link, by, self.clock);
                }
                Event::Surplus(frames, above) => self.surplus(frames, above as usize),
                Event::Pause(ns) => {
                    self.pause = self.pause.saturating_add(ns);
                    self.clock = self.clock.saturating_add(ns);
                    self.visitor.pause(ns, self.clock);
                }
                Event::Dropped(events) => self.dropped = self.dropped.saturating_add(events),
                Event::Gone(frames) => {
                    let left = self.frames.len().saturating_sub(frames as usize);
                    self.close_to(left);
                }
                Event::Later(ns) => self.clock = self.clock.saturating_add(ns),
                Event::Unknown(_) => self.unknown += 1,
            }
        }
        Ok(())
    }

    /// Frames that are open, outermost first: consumer, whether it is pending, call.
    pub(super) fn into_open(self) -> impl Iterator<Item = (TreeConsumer, bool, V::Call)> {
        self.frames.into_iter().map(|frame| (consumer(frame.key), frame.key & PENDING != 0, frame.call))
    }

    #[inline(always)]
    fn enter(&mut self, key: u32) -> Result<(), Stop> {
        let depth = self.frames.len();
        if depth == self.limit {
            return Err(Stop::TooDeep);
        }
        let caller = self.frames.last().map(|frame| &frame.call);
        let call = self.visitor.enter(consumer(key), key & PENDING != 0, caller, depth, self.clock);
        self.frames.push(CallFrame { key, call });
        if let Some(open) = &mut self.open {
            *open.entry(key).or_default() += 1;
        }
        Ok(())
    }

    #[inline(always)]
    fn end(&mut self, key: u32, how: CallEnd) {
        let is_top = self.frames.last().is_some_and(|top| top.key == key);
        if is_top || self.find(key, |found| found == key) {
            self.pop(how);
        }
    }

    #[inline(always)]
    fn pop(&mut self, how: CallEnd) {
        if let Some(CallFrame { key, call }) = self.frames.pop() {
            self.visitor.leave(call, consumer(key), how, self.frames.len(), self.clock);
            if let Some(open) = &mut self.open {
                *open.entry(key).or_default() -= 1;
            }
        }
    }

    fn caught(&mut self, id: u32) {
        let fits = |found: u32| found & !PENDING == id;
        if !self.frames.last().is_some_and(|top| fits(top.key)) {
            self.find(id, fits);
        }
    }

    fn super_returned(&mut self, id: u32) {
        let key = id | PENDING;
        let is_top = self.frames.last().is_some_and(|top| top.key == key);
        if (is_top || self.find(key, |found| found == key))
            && let Some(top) = self.frames.last_mut()
        {
            top.key = id;
            self.pending -= 1;
            if let Some(open) = &mut self.open {
                *open.entry(key).or_default() -= 1;
                *open.entry(id).or_default() += 1;
            }
        }
    }

    /// Closes all above the topmost frame that fits. False: none does, the event is unmatched.
    #[cold]
    fn find(&mut self, key: u32, fits: impl Fn(u32) -> bool) -> bool {
        let may_be = self.open.as_ref().is_none_or(|open| {
            let is_open = |key: u32| open.get(&key).is_some_and(|&frames| frames > 0);
            is_open(key) || (fits(key | PENDING) && is_open(key | PENDING))
        });
        let at = if may_be { self.frames.iter().rposition(|frame| fits(frame.key)) } else { None };
        debug_assert!(self.open.is_none() || at.is_some() == may_be, "counted, but not open");
        let Some(at) = at else {
            let by = self.frames.last().map(|frame| &frame.call);
            self.visitor.unmatched(consumer(key), by, self.frames.len(), self.clock);
            self.in_vain = self.in_vain.saturating_add(self.frames.len());
            if self.in_vain > PATIENCE && self.open.is_none() {
                let mut open = HashMap::new();
                for frame in &self.frames {
                    *open.entry(frame.key).or_default() += 1;
                }
                self.open = Some(open);
            }
            return false;
        };
        self.close_to(at + 1);
        true
    }

    /// Closes all frames but so many.
    #[cold]
    fn close_to(&mut self, frames: usize) {
        while self.frames.len() > frames {
            if self.frames.last().is_some_and(|top| top.key & PENDING != 0) {
                self.pending -= 1;
                self.pop(CallEnd::Aborted);
            } else {
                self.pop(CallEnd::Unclosed);
            }
        }
    }

    /// Closes pending frames with so many frames beneath, oldest first.
    #[cold]
    fn surplus(&mut self, frames: u64, above: usize) {
        let pending = self.frames.iter().skip(above).filter(|frame| frame.key & PENDING != 0).count();
        let mut left = frames.min(pending as u64) as usize;
        if left == 0 {
            return;
        }
        self.pending -= left;
        let mut kept: Vec<CallFrame<V::Call>> = Vec::with_capacity(self.frames.len() - left);
        let mut moved = false;
        for (at, mut frame) in std::mem::take(&mut self.frames).into_iter().enumerate() {
            if frame.key & PENDING == 0 || left == 0 || at < above {
                if moved && self.moves > 0 {
                    self.moves -= 1;
                    let caller = kept.last().map(|frame| &frame.call);
                    self.visitor.moved(&mut frame.call, consumer(frame.key), caller, kept.len());
                }
                kept.push(frame);
                continue;
            }
            left -= 1;
            moved = true;
            self.visitor.leave(frame.call, consumer(frame.key), CallEnd::Surplus, kept.len(), self.clock);
            if let Some(open) = &mut self.open {
                *open.entry(frame.key).or_default() -= 1;
            }
        }
        debug_assert_eq!(left, 0, "counted as pending, but not open");
        self.frames = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Visitor for Nobody {
        type Call = ();

        fn enter(&mut self, _: TreeConsumer, _: bool, _: Option<&()>, _: usize, _: u64) {}

        fn leave(&mut self, (): (), _: TreeConsumer, _: CallEnd, _: usize, _: u64) {}
    }

    /// Open frames by key: as they were counted, and as they are.
    fn counted(calls: &Calls<'_, Nobody>) -> (HashMap<u32, usize>, HashMap<u32, usize>) {
        let mut frames = HashMap::new();
        for frame in &calls.frames {
            *frames.entry(frame.key).or_default() += 1;
        }
        let open = calls.open.iter().flatten().filter(|(_, frames)| **frames > 0);
        (open.map(|(&key, &frames)| (key, frames)).collect(), frames)
    }

    #[test]
    fn a_key_is_known_again_by_its_number() {
        for key in [Key(0), Key(5), Key(5 | PENDING), Key(5 | LINK)] {
            assert_eq!(Key::from_bits(key.bits()), key);
        }
    }

    #[test]
    fn open_frames_are_counted_once_patience_is_at_its_end() {
        let mut nobody = Nobody;
        let mut calls = Calls::new(&mut nobody, 100);
        let read = |calls: &mut Calls<'_, Nobody>, events: &[Event]| {
            let words = events.iter().flat_map(|event| event.encode(0).expect("no time").to_le_bytes());
            let words: Vec<u8> = words.collect();
            calls.read(&words).unwrap();
        };
        read(&mut calls, &[Event::Entry(1), Event::Entry(1), Event::ConstructorEntry(2)]);
        calls.in_vain = PATIENCE - 3;
        read(&mut calls, &[Event::Exit(9)]);
        assert_eq!((calls.in_vain, calls.open.is_some()), (PATIENCE, false));
        read(&mut calls, &[Event::Exit(9)]);
        assert_eq!((calls.in_vain, calls.open.is_some()), (PATIENCE + 3, true));
        // From now on whatever begins or ends is counted, and what is looked for is there.
        let events = [
            Event::Entry(3),
            Event::LinkEntered(1),
            Event::ConstructorEntry(2),
            Event::Exit(2),
            Event::SuperReturned(2),
            Event::SuperReturned(3),
            Event::ConstructorEntry(4),
            Event::Surplus(1, 0),
            Event::Caught(4),
            Event::Caught(5),
            Event::Surplus(1, 0),
            Event::Caught(4),
            Event::LinkLeft(1),
            Event::Exit(3),
            Event::Exit(3),
            Event::Unwind(1),
            Event::Exit(1),
            Event::Exit(1),
        ];
        for event in events {
            read(&mut calls, &[event]);
            let (open, frames) = counted(&calls);
            assert_eq!(open, frames, "{event:?}");
        }
        assert_eq!((calls.frames.len(), calls.pending), (0, 0));
    }
}
