//! How the index of a trace is made: while the trace is replayed, with its tree.
//!
//! 1. Every event goes to the tree, whose contexts have numbers; then what it does to the calls of the thread, a
//!    [`Step`], is the same for all that comes.
//! 2. The account says whose time it is. A block ends at the first piece behind so many bytes of events; where all
//!    blocks together need more than the room that there is, two become one.
//! 3. A call that has ended goes into the levels of detail.
//!
//! Of a large trace a thread of its own does 2 and 3.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle};

use instrument_trace::{Error, Source, Thread, TreeConsumer};

use super::account::{Account, Open, joined};
use super::index::{Block, Index, Share, Spanning};
use super::levels::{Levels, Run};
use crate::replay::{Call, CallEnd, Key, Limits, Place, Replayed, TreeBuilder, Visitor, replay};

/// Times at which work on behalf of a link began, of a thread.
const MOST_LINKS: usize = 1 << 16;
/// Steps that the other thread is handed at once, and how many such parts may wait for it: 1 MiB.
const BATCH: usize = 4096;
const WAITING: usize = 16;

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
        let maker = Maker {
            account: Account::default(),
            blocks: Vec::new(),
            levels: Levels::new(share.boxes),
            block,
            sums: 0,
            room: share.sums,
            calls: 0,
            entered: Vec::new(),
        };
        thread::scope(|scope| {
            let steps = if is_large {
                let (sender, receiver) = sync_channel::<Vec<Step>>(WAITING);
                let maker = scope.spawn(move || {
                    let mut maker = maker;
                    for batch in receiver {
                        batch.into_iter().for_each(|step| maker.take(step));
                    }
                    maker
                });
                Steps::There { sender, batch: Vec::with_capacity(BATCH), maker }
            } else {
                Steps::Here(Box::new(maker))
            };
            let tree = TreeBuilder::new(&Limits::default());
            let mut reader = Reader { lengths, tree, steps, advance };
            let replayed = replay(source, thread, &mut reader)?;
            let Reader { mut tree, steps, .. } = reader;
            let maker = steps.finish(replayed.last_event);
            let made = tree.links_made(thread);
            let contexts = tree.take_contexts();
            let Maker { blocks, levels, calls, entered, .. } = maker;
            let end = replayed.last_event;
            Ok((Index { contexts, blocks, levels, end, calls, made, entered }, replayed, tree))
        })
    }
}

/// What an event does to the calls of a thread. There are two for each call, so it has 16 bytes.
enum Step {
    Enter { node: u32, is_deep: bool, at: u64 },
    Leave { depth: u32, at: u64 },
    Other(Box<Other>),
}

enum Other {
    Pause {
        ns: u64,
        at: u64,
    },
    /// Work on behalf of a link begins.
    Link {
        link: u32,
        at: u64,
    },
    /// A piece with so many bytes of events begins; what its open calls are closed by, outermost first.
    Piece {
        index: usize,
        at: u64,
        bytes: u64,
        open: Vec<Key>,
    },
}

const _: () = assert!(size_of::<Step>() == 16);

enum Steps<'scope> {
    Here(Box<Maker>),
    /// To another thread, some at once.
    There {
        sender: SyncSender<Vec<Step>>,
        batch: Vec<Step>,
        maker: ScopedJoinHandle<'scope, Maker>,
    },
}

impl Steps<'_> {
    #[inline(always)]
    fn take(&mut self, step: Step) {
        match self {
            Steps::Here(maker) => maker.take(step),
            Steps::There { batch, .. } => {
                batch.push(step);
                if batch.len() == BATCH {
                    self.send();
                }
            }
        }
    }

    #[inline(never)]
    fn send(&mut self) {
        if let Steps::There { sender, batch, .. } = self {
            // It takes all until there is no more; if it panicked, joining it tells.
            let _ = sender.send(std::mem::replace(batch, Vec::with_capacity(BATCH)));
        }
    }

    /// There is no more; the last event was at this moment.
    fn finish(self, end: u64) -> Maker {
        let mut maker = match self {
            Steps::Here(maker) => *maker,
            Steps::There { sender, batch, maker } => {
                let _ = sender.send(batch);
                drop(sender);
                maker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
        };
        maker.finish(end);
        maker
    }
}

/// Replays the trace.
struct Reader<'a, 'scope> {
    /// Room for events of each piece, bytes.
    lengths: Vec<u64>,
    tree: TreeBuilder,
    steps: Steps<'scope>,
    /// Is told bytes that are read.
    advance: &'a dyn Fn(u64),
}

/// Makes an index of steps.
struct Maker {
    account: Account,
    blocks: Vec<Block>,
    levels: Levels,
    /// Bytes that a block has at least.
    block: u64,
    /// Sums and open calls of all blocks, and how many there may be.
    sums: usize,
    room: usize,
    calls: u64,
    entered: Vec<(u32, u64)>,
}

impl Maker {
    #[inline(never)]
    fn take(&mut self, step: Step) {
        match step {
            Step::Enter { node, is_deep, at } => {
                self.account.enter(Place { node, is_deep }, at);
                self.calls += 1;
            }
            Step::Leave { depth, at } => {
                if let Some(Open { place, at: start, .. }) = self.account.leave(depth as usize, at) {
                    self.levels.take(Run::call(depth as usize, place.node, start, at));
                    self.ended(depth as usize, start, at);
                }
            }
            Step::Other(other) => match *other {
                Other::Pause { ns, at } => self.account.pause(ns, at),
                Other::Link { link, at } if self.entered.len() < MOST_LINKS => self.entered.push((link, at)),
                Other::Link { .. } => {}
                Other::Piece { index, at, bytes, open } => self.piece(index, at, bytes, &open),
            },
        }
    }

    fn piece(&mut self, index: usize, at: u64, bytes: u64, open: &[Key]) {
        if self.blocks.last().is_none_or(|block| block.bytes >= self.block) {
            self.end(at);
            let frames = open.iter().zip(self.account.open());
            let spanning =
                |(&key, open): (&Key, &Open)| Spanning { key, place: open.place, start: open.at, end: 0 };
            let open = frames.map(spanning).collect();
            self.blocks.push(Block { piece: index, clock: at, open, sums: Vec::new(), bytes: 0 });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.bytes += bytes;
        }
    }

    /// The last event was at this moment.
    fn finish(&mut self, end: u64) {
        self.end(end);
        let still: Vec<_> = self.account.open().iter().map(|open| (open.place.node, open.at)).collect();
        still.iter().enumerate().for_each(|(depth, &(_, start))| self.ended(depth, start, end));
        for (depth, &(node, start)) in still.iter().enumerate().rev() {
            self.levels.take(Run::call(depth, node, start, end));
        }
        self.levels.finish();
    }

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

impl Visitor for Reader<'_, '_> {
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
        if let TreeConsumer::Link(link) = consumer {
            self.steps.take(Step::Other(Box::new(Other::Link { link, at })));
        }
        let Place { node, is_deep } = call.place();
        self.steps.take(Step::Enter { node, is_deep, at });
        call
    }

    fn leave(&mut self, call: Self::Call, consumer: TreeConsumer, how: CallEnd, depth: usize, at: u64) {
        self.steps.take(Step::Leave { depth: depth as u32, at });
        self.tree.leave(call, consumer, how, depth, at);
    }

    fn moved(
        &mut self,
        call: &mut Self::Call,
        consumer: TreeConsumer,
        caller: Option<&Self::Call>,
        depth: usize,
    ) {
        self.tree.moved(call, consumer, caller, depth);
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
        self.steps.take(Step::Other(Box::new(Other::Pause { ns, at })));
    }

    fn piece(&mut self, index: usize, at: u64, open: &mut dyn Iterator<Item = (Key, &Self::Call)>) {
        let bytes = self.lengths.get(index).copied().unwrap_or(0);
        (self.advance)(bytes);
        let open = open.map(|(key, _)| key).collect();
        self.steps.take(Step::Other(Box::new(Other::Piece { index, at, bytes, open })));
    }
}
