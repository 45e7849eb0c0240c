//! How the index of a trace is made: while the trace is replayed, with its tree.
//!
//! 1. Every event goes to the tree and to the account of whose time it is.
//! 2. A block ends at the first piece behind so many bytes of events; where all blocks together need more than the room that there is, two
//!    become one.
//! 3. A call that has ended goes into the levels of detail. Of a large trace a thread of its own makes these.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use instrument_trace::{Error, Source, Thread, TreeConsumer};

use super::account::{Account, Open, joined};
use super::index::{Block, Index, Share, Spanning};
use super::levels::{Levels, Run};
use crate::replay::{Call, How, Key, Limits, Replayed, TreeBuilder, Visitor, replay};

/// Times at which work on behalf of a link began, of a thread.
const MOST_LINKS: usize = 1 << 16;
/// Calls that the thread of the levels is handed at once, and how many such parts may wait for it.
const BATCH: usize = 1024;
const WAITING: usize = 64;

impl Index {
    /// The same with blocks of at least so many bytes of events, and of two threads from so many on.
    pub(super) fn build(
        source: &impl Source,
        thread: &Thread,
        share: Share,
        (block, large): (u64, u64),
        advance: &dyn Fn(u64),
    ) -> Result<(Index, Replayed<Call>, TreeBuilder), Error> {
        let lengths: Vec<_> = thread.pieces.iter().map(|piece| u64::from(piece.length)).collect();
        let is_large = lengths.iter().sum::<u64>() >= large;
        thread::scope(|scope| {
            let (runs, drawing) = if is_large {
                let (sender, receiver) = sync_channel::<Vec<Run>>(WAITING);
                let drawing = scope.spawn(move || {
                    let mut levels = Levels::new(share.boxes);
                    receiver.into_iter().flatten().for_each(|run| levels.take(run));
                    levels.finish();
                    levels
                });
                (Runs::There(sender, Vec::with_capacity(BATCH)), Some(drawing))
            } else {
                (Runs::Here(Levels::new(share.boxes)), None)
            };
            let mut building = Building {
                lengths,
                tree: TreeBuilder::new(&Limits::default()),
                account: Account::default(),
                blocks: Vec::new(),
                runs,
                block,
                sums: 0,
                room: share.sums,
                calls: 0,
                entered: Vec::new(),
                advance,
            };
            let replayed = replay(source, thread, &mut building)?;
            let end = replayed.last_event;
            building.end(end);
            let still: Vec<_> = building.account.open().iter().map(|open| open.at).collect();
            still.iter().enumerate().for_each(|(depth, &start)| building.ended(depth, start, end));
            let Building { mut tree, blocks, mut runs, account, calls, entered, .. } = building;
            for (depth, open) in account.open().iter().enumerate().rev() {
                runs.take(Run::call(depth, open.place.node, open.at, end));
            }
            let here = runs.finish();
            let levels = match drawing.map(thread::ScopedJoinHandle::join) {
                Some(Ok(levels)) => levels,
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                None => here.unwrap_or_else(|| Levels::new(0)),
            };
            let made = tree.links_made(thread);
            let contexts = tree.take_contexts();
            Ok((Index { contexts, blocks, levels, end, calls, made, entered }, replayed, tree))
        })
    }
}

/// Where calls go that have ended.
enum Runs {
    /// Into levels of detail.
    Here(Levels),
    /// To the thread that makes them, some at once.
    There(SyncSender<Vec<Run>>, Vec<Run>),
}

impl Runs {
    fn take(&mut self, run: Run) {
        match self {
            Runs::Here(levels) => levels.take(run),
            Runs::There(sender, batch) => {
                batch.push(run);
                if batch.len() == BATCH {
                    // It takes all until it is told that there is no more; if it panicked, joining it tells.
                    let _ = sender.send(std::mem::replace(batch, Vec::with_capacity(BATCH)));
                }
            }
        }
    }

    /// There is no more. The levels, if they were made here.
    fn finish(self) -> Option<Levels> {
        match self {
            Runs::Here(mut levels) => {
                levels.finish();
                Some(levels)
            }
            Runs::There(sender, batch) => {
                let _ = sender.send(batch);
                None
            }
        }
    }
}

/// Makes an index.
struct Building<'a> {
    /// Room for events of each piece, bytes.
    lengths: Vec<u64>,
    tree: TreeBuilder,
    account: Account,
    blocks: Vec<Block>,
    runs: Runs,
    /// Bytes that a block has at least.
    block: u64,
    /// Sums and open calls of all blocks, and how many there may be.
    sums: usize,
    room: usize,
    calls: u64,
    entered: Vec<(u32, u64)>,
    /// Is told bytes that are read.
    advance: &'a dyn Fn(u64),
}

impl Building<'_> {
    /// A block ends.
    fn end(&mut self, at: u64) {
        let sums = self.account.cut(at);
        if let Some(block) = self.blocks.last_mut() {
            self.sums += sums.len() + block.open.len();
            block.sums = sums;
        }
        while self.sums > self.room && self.blocks.len() > 1 {
            self.halve();
        }
    }

    /// A call ends: the blocks that began while it was open get to know when.
    fn ended(&mut self, depth: usize, start: u64, at: u64) {
        for block in self.blocks.iter_mut().rev() {
            match block.open.get_mut(depth) {
                Some(open) if open.start == start && open.end == 0 => open.end = at,
                _ => return,
            }
        }
    }

    /// Makes one block of two.
    fn halve(&mut self) {
        let mut joined_blocks: Vec<Block> = Vec::with_capacity(self.blocks.len().div_ceil(2));
        for (number, block) in std::mem::take(&mut self.blocks).into_iter().enumerate() {
            match joined_blocks.last_mut().filter(|_| number % 2 == 1) {
                Some(before) => {
                    before.sums = joined(&before.sums, &block.sums);
                    before.bytes += block.bytes;
                }
                None => joined_blocks.push(block),
            }
        }
        self.sums = joined_blocks.iter().map(|block| block.sums.len() + block.open.len()).sum();
        self.blocks = joined_blocks;
        self.block = self.block.saturating_mul(2);
    }
}

impl Visitor for Building<'_> {
    type Call = <TreeBuilder as Visitor>::Call;

    fn enter(
        &mut self,
        consumer: TreeConsumer,
        pending: bool,
        caller: Option<&Self::Call>,
        depth: usize,
        at: u64,
    ) -> Self::Call {
        let call = self.tree.enter(consumer, pending, caller, depth, at);
        self.account.enter(call.place(), at);
        self.calls += 1;
        if let TreeConsumer::Link(link) = consumer
            && self.entered.len() < MOST_LINKS
        {
            self.entered.push((link, at));
        }
        call
    }

    fn leave(&mut self, call: Self::Call, consumer: TreeConsumer, how: How, depth: usize, at: u64) {
        if let Some(Open { place, at: start, .. }) = self.account.leave(depth, at) {
            self.runs.take(Run::call(depth, place.node, start, at));
            self.ended(depth, start, at);
        }
        self.tree.leave(call, consumer, how, depth, at);
    }

    fn unmatched(&mut self, consumer: TreeConsumer, by: Option<&Self::Call>, depth: usize, at: u64) {
        self.tree.unmatched(consumer, by, depth, at);
    }

    fn made(&mut self, class: u32, bytes: u64, by: Option<&Self::Call>, at: u64) {
        self.tree.made(class, bytes, by, at);
    }

    fn link_made(&mut self, link: u32, by: Option<&Self::Call>, at: u64) {
        self.tree.link_made(link, by, at);
    }

    fn pause(&mut self, ns: u64, at: u64) {
        self.tree.pause(ns, at);
        self.account.pause(ns, at);
    }

    fn piece(&mut self, index: usize, at: u64, open: &mut dyn Iterator<Item = (Key, &Self::Call)>) {
        let bytes = self.lengths.get(index).copied().unwrap_or(0);
        (self.advance)(bytes);
        if self.blocks.last().is_none_or(|block| block.bytes >= self.block) {
            self.end(at);
            let frames = open.zip(self.account.open());
            let spanning = |((key, _), open): ((Key, _), &Open)| Spanning {
                key,
                place: open.place,
                start: open.at,
                end: 0,
            };
            let open = frames.map(spanning).collect();
            self.blocks.push(Block { piece: index, clock: at, open, sums: Vec::new(), bytes: 0 });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.bytes += bytes;
        }
    }
}
