//! What is known of a thread's trace after it was read once, so that a window of it is answered without reading it
//! again.
//!
//! The trace is cut into blocks of some pieces. Of each there is what every context did within it, and the calls that
//! were open when it began. A window is the sum of the blocks that lie in it, and of two that lie in it in part: those
//! are replayed. Pictures come from levels of detail ([`super::levels`]); a window so narrow that these are too coarse
//! is replayed.
//!
//! Both have a bound on their memory ([`Share`]), whatever the length of the trace: where it is reached, blocks become
//! longer, and the finest level is given up.

use instrument_trace::{Error, Source, Thread, TreeConsumer};
use rayon::prelude::*;

use super::account::{Account, Open, Part, Sum, Total};
use super::levels::{DEEPEST, Level, Levels, Run};
use crate::replay::{
    self, CallEnd, Contexts, Finder, Found, Key, LinkMade, Place, Start, Visitor, replay_part,
};

/// Bytes of events that a block has at least.
const BLOCK: u64 = 1 << 19;
/// Bytes of events that are replayed for a picture at most; where there are more, it is coarser than asked for.
const MOST_REPLAYED: u64 = 1 << 25;
/// Boxes that are gathered for a picture before it is thinned out.
const MOST_BOXES: usize = 1 << 20;
/// Bytes of events from which on a thread of its own makes the index, beside the one that reads the trace.
const LARGE: u64 = 1 << 24;

/// What an index may take of memory.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Sums of contexts, and open calls, of all blocks: 24 and 32 bytes each.
    pub sums: usize,
    /// Boxes of a level of detail: 56 bytes each; several levels may be full.
    pub boxes: usize,
}

/// An index of a thread's trace.
pub(crate) struct Index {
    pub(super) contexts: Contexts,
    pub(super) blocks: Vec<Block>,
    pub(super) levels: Levels,
    /// The clock at the last event.
    pub(super) end: u64,
    /// Calls, and work on behalf of links.
    pub(crate) calls: u64,
    /// Links that it made, each where it did so first.
    pub(crate) made: Vec<LinkMade>,
    /// Links on whose behalf it worked, and when that began.
    pub(crate) entered: Vec<(u32, u64)>,
}

pub(super) struct Block {
    /// The index of its first piece.
    pub(super) piece: usize,
    /// The clock at its beginning.
    pub(super) clock: u64,
    /// The calls that are open there.
    pub(super) open: Vec<Spanning>,
    /// What happened in it.
    pub(super) sums: Vec<Sum>,
    /// Of its events.
    pub(super) bytes: u64,
}

/// A call that is open when a block begins.
#[derive(Clone, Copy)]
pub(super) struct Spanning {
    pub(super) key: Key,
    pub(super) place: Place,
    /// The clock when it began, and when it ended; 0: not known.
    pub(super) start: u64,
    pub(super) end: u64,
}

/// A picture of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Calls that are shorter than so many ns may be boxes of several.
    pub(crate) resolution: u64,
    /// By depth and time.
    pub(crate) boxes: Vec<Run>,
}

impl Index {
    /// Reads a trace once.
    ///
    /// # Errors
    /// When the source fails.
    pub(crate) fn new(source: &impl Source, thread: &Thread, share: Share) -> Result<Index, Error> {
        let (index, _, _) = Index::build(source, thread, share, (BLOCK, LARGE), &|_| ())?;
        Ok(index)
    }

    /// Reads a trace once, and gives the thread what [`replay::thread`] gives it. `advance` is told bytes that were
    /// read.
    ///
    /// # Errors
    /// When the source fails.
    pub(crate) fn with_tree(
        source: &impl Source,
        thread: &mut Thread,
        share: Share,
        advance: &dyn Fn(u64),
    ) -> Result<(Index, Found), Error> {
        let (index, replayed, tree) = Index::build(source, thread, share, (BLOCK, LARGE), advance)?;
        Ok((index, replay::fill(thread, replayed, tree)))
    }

    /// The contexts of the thread.
    pub(crate) fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    /// What happened from one moment on and before another.
    ///
    /// # Errors
    /// When the source fails.
    pub(crate) fn window(
        &self,
        source: &(impl Source + Sync),
        thread: &Thread,
        (from, to): (u64, u64),
    ) -> Result<Part, Error> {
        if to <= from || self.blocks.is_empty() {
            return Ok(Part::default());
        }
        let first = self.blocks.partition_point(|block| block.clock < from).saturating_sub(1);
        let last = self.blocks.partition_point(|block| block.clock < to).saturating_sub(1);
        if last <= first {
            return Ok(self.parts(source, thread, first..first + 1, &[from, to])?.swap_remove(1));
        }
        let (window, tail) = rayon::join(
            || self.parts(source, thread, first..first + 1, &[from]),
            || self.parts(source, thread, last..last + 1, &[to]),
        );
        let (mut window, tail) = (window?.swap_remove(1), tail?.swap_remove(0));
        let mut total = Total::new(self.contexts.len());
        total.add(&window.sums);
        self.blocks[first + 1..last].iter().for_each(|block| total.add(&block.sums));
        total.add(&tail.sums);
        window.sums = total.into_sums();
        Ok(window)
    }

    /// What happened between moments, each not before the one in front of it. The first part is what was before all,
    /// the last what was behind.
    ///
    /// # Errors
    /// When the source fails.
    pub(crate) fn all_parts(
        &self,
        source: &impl Source,
        thread: &Thread,
        bounds: &[u64],
    ) -> Result<Vec<Part>, Error> {
        self.parts(source, thread, 0..self.blocks.len(), bounds)
    }

    /// The same of some blocks.
    fn parts(
        &self,
        source: &impl Source,
        thread: &Thread,
        blocks: std::ops::Range<usize>,
        bounds: &[u64],
    ) -> Result<Vec<Part>, Error> {
        let mut reader = self.reader(blocks.start, bounds);
        self.read(source, thread, blocks, &mut reader)?;
        Ok(reader.parts)
    }

    fn reader(&self, block: usize, bounds: &[u64]) -> Reader<'_> {
        let (clock, open) = self.blocks.get(block).map_or((0, &[][..]), |block| (block.clock, &block.open));
        let account = Account::resumed(clock, open.iter().map(|open| (open.place, open.start)));
        let next = Part { open: account.open_counts(), sums: Vec::new() };
        let bounds = bounds.to_vec();
        Reader {
            contexts: Finder::new(&self.contexts),
            account,
            bounds,
            parts: Vec::new(),
            next,
            level: None,
            from: clock,
            is_last: true,
        }
    }

    fn read(
        &self,
        source: &impl Source,
        thread: &Thread,
        blocks: std::ops::Range<usize>,
        reader: &mut Reader<'_>,
    ) -> Result<(), Error> {
        let Some(block) = self.blocks.get(blocks.start) else {
            reader.end(0, &[]);
            return Ok(());
        };
        let behind = self.blocks.get(blocks.end);
        let pieces = block.piece..behind.map_or(thread.pieces.len(), |next| next.piece);
        let open = block.open.iter().map(|open| (open.key, open.place)).collect();
        replay_part(source, thread, Start { pieces, clock: block.clock, open }, reader)?;
        // What the thread recorded since the trace was indexed is not told.
        reader.end(behind.map_or(self.end, |next| next.clock), behind.map_or(&[], |next| &next.open));
        Ok(())
    }

    /// A picture of a window, in which a box of so many ns is still seen.
    ///
    /// # Errors
    /// When the source fails.
    pub(crate) fn picture(
        &self,
        source: &(impl Source + Sync),
        thread: &Thread,
        (from, to): (u64, u64),
        resolution: u64,
    ) -> Result<Picture, Error> {
        let resolution = resolution.max(1);
        let first = self.blocks.partition_point(|block| block.clock < from).saturating_sub(1);
        let behind = self.blocks.partition_point(|block| block.clock < to);
        let blocks = &self.blocks[first.min(behind)..behind];
        let bytes: u64 = blocks.iter().map(|block| block.bytes).sum();
        let is_fine = self.levels.finest().is_some_and(|finest| finest <= resolution);
        let mut level = Level::new(resolution);
        let mut kept = resolution;
        if is_fine || bytes > MOST_REPLAYED {
            let (of_level, boxes) = self.levels.within((from, to), resolution);
            kept = kept.max(of_level);
            boxes.for_each(|run| level.take(run, MOST_BOXES));
        } else {
            let drawn = (first..behind).into_par_iter().map(|block| {
                let mut reader = self.reader(block, &[]);
                reader.level = Some((Level::new(resolution), to));
                (reader.from, reader.is_last) = (from, block + 1 == behind);
                self.read(source, thread, block..block + 1, &mut reader)?;
                Ok(reader.level.and_then(|(level, _)| level.into_boxes(MOST_BOXES)).unwrap_or_default())
            });
            for boxes in drawn.collect::<Result<Vec<_>, Error>>()? {
                boxes.into_iter().for_each(|run| level.take(run, MOST_BOXES));
            }
        }
        let boxes = level.into_boxes(MOST_BOXES).unwrap_or_default();
        Ok(Picture { resolution: kept, boxes })
    }
}

/// Replays some blocks again.
struct Reader<'a> {
    contexts: Finder<'a>,
    account: Account,
    /// What is left of them, the next one first.
    bounds: Vec<u64>,
    parts: Vec<Part>,
    next: Part,
    /// Where calls are drawn that reach from `from` on and begin before this.
    level: Option<(Level, u64)>,
    from: u64,
    /// Calls that are still open in the end are drawn, too: no block comes in which they end.
    is_last: bool,
}

impl Reader<'_> {
    fn until(&mut self, at: u64) {
        while self.parts.len() < self.bounds.len() && self.bounds[self.parts.len()] <= at {
            self.cut(self.bounds[self.parts.len()]);
        }
    }

    fn cut(&mut self, at: u64) {
        let sums = self.account.cut(at);
        let next = Part { open: self.account.open_counts(), sums: Vec::new() };
        let part = std::mem::replace(&mut self.next, next);
        self.parts.push(Part { sums, ..part });
    }

    /// There is no more, and time has gone on up to a moment. `open`: what is known of the calls that are open then.
    fn end(&mut self, at: u64, open: &[Spanning]) {
        self.until(at);
        while self.parts.len() <= self.bounds.len() {
            self.cut(at);
        }
        let drawn = if self.is_last { self.account.open().len() } else { 0 };
        for depth in (0..drawn).rev() {
            let Open { place, at: start, .. } = self.account.open()[depth];
            let known = open.get(depth).filter(|known| known.start == start);
            self.draw(depth, place, start, known.map_or(at, |known| known.end.max(at)));
        }
    }

    fn draw(&mut self, depth: usize, place: Place, start: u64, end: u64) {
        if let Some((level, to)) = &mut self.level
            && depth < DEEPEST
            && end >= self.from
            && start < *to
        {
            level.take(Run::call(depth, place.node, start, end), MOST_BOXES);
        }
    }
}

impl Visitor for Reader<'_> {
    type Call = Place;

    fn enter(
        &mut self,
        consumer: TreeConsumer,
        _: bool,
        caller: Option<&Place>,
        depth: usize,
        at: u64,
    ) -> Place {
        self.until(at);
        let place = self.contexts.find(consumer, caller.copied(), depth);
        if self.level.is_some() {
            self.account.push(place, at);
        } else {
            self.account.enter(place, at);
        }
        place
    }

    fn leave(&mut self, _: Place, _: TreeConsumer, _: CallEnd, depth: usize, at: u64) {
        self.until(at);
        if self.level.is_none() {
            self.account.leave(depth, at);
        } else if let Some(Open { place, at: start, .. }) = self.account.remove(depth) {
            self.draw(depth, place, start, at);
        }
    }

    fn pause(&mut self, ns: u64, at: u64) {
        self.until(at.saturating_sub(ns));
        self.account.pause(ns, at);
    }
}

#[cfg(test)]
mod tests;
