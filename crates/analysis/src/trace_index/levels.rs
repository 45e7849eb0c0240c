//! Calls at several levels of detail: at each one calls that are at least as long as its resolution are there one by
//! one, and shorter ones beside each other are one box.
//!
//! At every depth of the stack a level has at most a few boxes for each resolution's worth of time, however many calls
//! there were. A level is made of the boxes of the finer one, so that all of them together cost little more than the
//! finest. What has more boxes than there is room for is given up, from the finest on; the next one takes the calls
//! themselves from then on.

use std::io::Write;

use super::words::{In, Out};

/// The finest resolution, ns.
const FINEST: u64 = 256;
/// How much coarser the next level is.
const STEP: u64 = 4;
/// Levels: the coarsest has a resolution of 75 hours.
const LEVELS: u32 = 21;
/// Frames beneath a call that is still kept.
pub(crate) const DEEPEST: usize = 4096;

/// A call, or several of one depth beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// Frames beneath.
    pub(crate) depth: u32,
    /// The context of the longest call.
    pub(crate) node: u32,
    /// Its time, ns.
    longest: u64,
    pub(crate) calls: u64,
    /// Clock at the beginning of the first and the end of the last.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// ns in one of the calls.
    pub(crate) busy: u64,
}

impl Run {
    /// A single call.
    pub(crate) fn call(depth: usize, node: u32, start: u64, end: u64) -> Run {
        let (depth, end) = (depth as u32, end.max(start));
        Run { depth, node, longest: end - start, calls: 1, start, end, busy: end - start }
    }

    fn length(&self) -> u64 {
        self.end - self.start
    }

    fn join(&mut self, next: &Run) {
        if next.longest > self.longest {
            (self.node, self.longest) = (next.node, next.longest);
        }
        self.calls = self.calls.saturating_add(next.calls);
        self.busy = self.busy.saturating_add(next.busy);
        self.end = self.end.max(next.end);
    }
}

impl Run {
    /// `end`: of what is before it at its depth.
    fn write<W: Write>(&self, out: &mut Out<W>, end: u64) {
        let length = self.length();
        let is_plain = self.calls == 1 && self.longest == length && self.busy == length;
        out.number(if is_plain { 0 } else { self.calls });
        out.number(self.node.into());
        out.number(self.start.wrapping_sub(end));
        out.number(length);
        if !is_plain {
            out.number(self.longest);
            out.number(self.busy);
        }
    }

    fn read(from: &mut In<'_>, depth: u32, end: u64) -> Option<Run> {
        let (calls, node) = (from.number()?, from.small()?);
        let start = end.wrapping_add(from.number()?);
        let length = from.number()?;
        let end = start.checked_add(length)?;
        let (longest, busy) = if calls == 0 { (length, length) } else { (from.number()?, from.number()?) };
        Some(Run { depth, node, longest, calls: calls.max(1), start, end, busy })
    }
}

/// One level of detail.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// ns.
    pub(crate) resolution: u64,
    /// What may still grow, by depth.
    open: Vec<Option<Run>>,
    /// Up to when there is something, by depth.
    ends: Vec<u64>,
    /// By depth and time, once it is finished; none: there was no room.
    boxes: Option<Vec<Run>>,
}

impl Level {
    pub(crate) fn new(resolution: u64) -> Level {
        Level { resolution, open: Vec::new(), ends: Vec::new(), boxes: Some(Vec::new()) }
    }

    /// Takes one more, behind all others of its depth; gives what cannot grow any more, which `done` is told.
    #[inline]
    fn add(&mut self, mut run: Run, mut done: impl FnMut(&mut Level, Run)) {
        let depth = run.depth as usize;
        if depth >= self.open.len() {
            self.open.resize(depth + 1, None);
            self.ends.resize(depth + 1, 0);
        }
        let (open, end) = (&mut self.open[depth], &mut self.ends[depth]);
        if run.start < *end {
            // What was closed late overlaps with what is above it.
            run.start = *end;
            run.end = run.end.max(run.start);
            run.busy = run.busy.min(run.length());
        }
        *end = run.end;
        if run.length() >= self.resolution {
            if let Some(before) = open.take() {
                done(self, before);
            }
            done(self, run);
            return;
        }
        match open {
            Some(before)
                if run.start - before.end <= self.resolution && before.length() < self.resolution =>
            {
                before.join(&run);
            }
            _ => {
                if let Some(before) = open.replace(run) {
                    done(self, before);
                }
            }
        }
    }

    fn keep(&mut self, run: Run, room: usize) {
        if let Some(boxes) = &mut self.boxes {
            if boxes.len() < room {
                boxes.push(run);
            } else {
                self.boxes = None;
            }
        }
    }

    fn sort(&mut self) {
        if let Some(boxes) = &mut self.boxes {
            boxes.sort_unstable_by_key(|run| (run.depth, run.start));
            boxes.shrink_to_fit();
        }
    }

    /// Takes a call, in the order in which those of each depth ended; with nothing kept of what is coarser.
    pub(crate) fn take(&mut self, run: Run, room: usize) {
        self.add(run, |level, done| level.keep(done, room));
    }

    /// There is no more. The boxes by depth and time; none: there was no room.
    pub(crate) fn into_boxes(mut self, room: usize) -> Option<Vec<Run>> {
        for run in std::mem::take(&mut self.open).into_iter().flatten() {
            self.keep(run, room);
        }
        self.sort();
        self.boxes
    }
}

/// All levels, the finest first.
#[derive(Debug)]
pub(crate) struct Levels {
    levels: Vec<Level>,
    /// The finest one that is not given up.
    finest: usize,
    /// Boxes that a level may have.
    room: usize,
}

impl Levels {
    pub(crate) fn new(room: usize) -> Levels {
        let levels = (0..LEVELS).map(|level| Level::new(FINEST * STEP.pow(level))).collect();
        Levels { levels, finest: 0, room }
    }

    /// Takes a call, in the order in which those of each depth ended.
    #[inline]
    pub(crate) fn take(&mut self, run: Run) {
        if (run.depth as usize) < DEEPEST {
            take_from(&mut self.levels[self.finest..], run, self.room);
            if self.levels[self.finest].boxes.is_none() {
                self.give_up();
            }
        }
    }

    /// What a level that is given up still had goes to the next one, before what comes.
    #[cold]
    fn give_up(&mut self) {
        while self.finest + 1 < self.levels.len() && self.levels[self.finest].boxes.is_none() {
            for run in std::mem::take(&mut self.levels[self.finest].open).into_iter().flatten() {
                take_from(&mut self.levels[self.finest + 1..], run, self.room);
            }
            self.finest += 1;
        }
    }

    /// There is no more.
    pub(crate) fn finish(&mut self) {
        for level in 0..self.levels.len() {
            for run in std::mem::take(&mut self.levels[level].open).into_iter().flatten() {
                self.levels[level].keep(run, self.room);
                take_from(&mut self.levels[level + 1..], run, self.room);
            }
        }
        self.levels.iter_mut().for_each(Level::sort);
        // A coarse level that says no more than the finer one before it is not needed.
        let mut boxes = usize::MAX;
        self.levels.retain(|level| {
            let Some(kept) = &level.boxes else { return false };
            let is_smaller = kept.len() < boxes;
            boxes = kept.len();
            is_smaller
        });
    }

    /// Writes what is finished.
    pub(super) fn write<W: Write>(&self, out: &mut Out<W>) {
        out.number(self.room as u64);
        out.number(self.levels.len() as u64);
        for level in &self.levels {
            let boxes = level.boxes.as_deref().unwrap_or_default();
            out.number(level.resolution);
            out.number(boxes.chunk_by(|a, b| a.depth == b.depth).count() as u64);
            for row in boxes.chunk_by(|a, b| a.depth == b.depth) {
                out.number(row[0].depth.into());
                out.number(row.len() as u64);
                let mut end = 0;
                for run in row {
                    run.write(out, end);
                    end = run.end;
                }
            }
        }
    }

    /// Reads it again; none: that is not what was written.
    pub(super) fn read(from: &mut In<'_>) -> Option<Levels> {
        let room = usize::try_from(from.number()?).ok()?;
        let levels = from.all(|from| {
            let resolution = from.number()?;
            let mut boxes = Vec::new();
            for _ in 0..from.count()? {
                let depth = from.small()?;
                let mut end = 0;
                let count = from.count()?;
                boxes.reserve(count);
                for _ in 0..count {
                    let run = Run::read(from, depth, end)?;
                    end = run.end;
                    boxes.push(run);
                }
            }
            Some(Level { boxes: Some(boxes), ..Level::new(resolution) })
        })?;
        Some(Levels { levels, finest: 0, room })
    }

    /// The finest resolution that there is; none: there is nothing.
    pub(crate) fn finest(&self) -> Option<u64> {
        self.levels.first().map(|level| level.resolution)
    }

    /// The boxes within a window at the coarsest level that is as fine as asked for, or else the finest, and what its
    /// resolution is.
    pub(crate) fn within(
        &self,
        (from, to): (u64, u64),
        resolution: u64,
    ) -> (u64, impl Iterator<Item = Run> + '_) {
        let level = self.levels.iter().rev().find(|level| level.resolution <= resolution);
        let level = level.or(self.levels.first());
        let boxes = level.and_then(|level| level.boxes.as_deref()).unwrap_or_default();
        (level.map_or(0, |level| level.resolution), within(boxes, from, to))
    }
}

/// The first of these levels takes a run, and each gives the next what cannot grow any more.
fn take_from(levels: &mut [Level], run: Run, room: usize) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    level.add(run, |level, done| {
        level.keep(done, room);
        take_from(coarser, done, room);
    });
}

/// Those of boxes by depth and time that reach into a window.
fn within(boxes: &[Run], from: u64, to: u64) -> impl Iterator<Item = Run> + '_ {
    boxes.chunk_by(|a, b| a.depth == b.depth).flat_map(move |row| {
        let first = row.partition_point(|run| run.end < from);
        row[first..].iter().take_while(move |run| run.start < to).copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of 100 ns each, 100 ns apart, and one of 10 µs behind them.
    fn calls(count: u64) -> impl Iterator<Item = Run> {
        let small = (0..count).map(|i| Run::call(0, 1, 200 * i, 200 * i + 100));
        small.chain([Run::call(0, 2, 200 * count, 200 * count + 10_000)])
    }

    fn levels(count: u64, room: usize) -> Levels {
        let mut levels = Levels::new(room);
        calls(count).for_each(|run| levels.take(run));
        levels.finish();
        levels
    }

    #[test]
    fn no_call_is_lost_at_any_level() {
        let levels = levels(10_000, 1 << 20);
        assert!(levels.levels.len() > 3);
        for level in &levels.levels {
            let boxes = level.boxes.as_ref().unwrap();
            assert_eq!(boxes.iter().map(|run| run.calls).sum::<u64>(), 10_001, "{}", level.resolution);
            assert_eq!(boxes.iter().map(|run| run.busy).sum::<u64>(), 1_010_000);
            assert!(boxes.windows(2).all(|pair| pair[0].end <= pair[1].start));
            // Few boxes for each resolution's worth of time.
            assert!(boxes.len() as u64 <= 2 + 3 * 2_010_000 / level.resolution, "{}", boxes.len());
        }
        // Single up to its length, and seen as what is longest beyond.
        let (resolution, boxes) = levels.within((1_999_000, 2_000_001), 5_000);
        assert_eq!(resolution, 4096);
        assert_eq!(boxes.last(), Some(Run::call(0, 2, 2_000_000, 2_010_000)));
    }

    #[test]
    fn what_has_no_room_is_given_up_from_the_finest_on() {
        let levels = levels(10_000, 1000);
        assert_eq!(levels.finest(), Some(4096));
        let (resolution, boxes) = levels.within((0, u64::MAX), 1);
        assert_eq!(resolution, 4096);
        assert_eq!(boxes.map(|run| run.calls).sum::<u64>(), 10_001);
    }

    #[test]
    fn calls_that_end_late_do_not_overlap() {
        let mut levels = Levels::new(100);
        for run in [Run::call(3, 1, 0, 1000), Run::call(3, 2, 500, 900), Run::call(3, 3, 900, 2000)] {
            levels.take(run);
        }
        levels.take(Run::call(DEEPEST, 1, 0, 1));
        levels.finish();
        let (_, boxes) = levels.within((0, u64::MAX), 1);
        let boxes: Vec<_> = boxes.map(|run| (run.node, run.start, run.end)).collect();
        assert!(boxes.windows(2).all(|pair| pair[0].2 <= pair[1].1), "{boxes:?}");
    }
}
