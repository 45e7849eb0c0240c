//! Regions of threads: the figures of each, its counts or tree, and its allocations.

use super::{LARGEST_DATA, Reader};
use crate::durations_region;
use crate::format::*;
use crate::method::{Closes, Method};
use crate::regions::Region;
use crate::thread::{Allocation, Frame, Thread, ThreadKind, TreeAllocation};
use crate::tree_region::{self, Numbers};
use std::collections::BTreeMap;

impl Reader<'_, '_> {
    pub(super) fn thread(&mut self, region: &Region) {
        let at = region.offset;
        if region.length < THREAD_REGION {
            return self.damage(at, "thread", "it is cut off");
        }
        let [figures, allocations, dropped, flags, extra, bytecodes] = self.bytes.words(at + 16);
        let kind = if region.kind == THREAD { ThreadKind::Thread } else { ThreadKind::Ended(extra) };
        let mut thread = Thread {
            dropped,
            stopped: flags & STOPPED != 0,
            in_transition: flags & REPAIRING != 0,
            ..Thread::new(region.copy, region.owner, kind)
        };
        let [start, end, link, pause] = self.bytes.words(at + THREAD_NAME + THREAD_NAME_ROOM);
        if region.kind == ENDED {
            thread.pause = pause;
            thread.name = self.bytes.text(at + ENDED_NAME, start.min(ENDED_NAME_ROOM));
            thread.link = u32::try_from(link).unwrap_or(0);
        } else if extra <= THREAD_NAME_ROOM {
            thread.name = self.bytes.text(at + THREAD_NAME, extra);
            (thread.start, thread.end, thread.pause) = (start, end, pause);
            thread.link = u32::try_from(link).unwrap_or(0);
        } else {
            thread.name = self.bytes.text(at + THREAD_NAME, extra.min(THREAD_NAME_ROOM_WITHOUT_CLOCK));
            if extra > LARGEST_DATA {
                self.damage(at, "thread", format!("its name has {extra} bytes"));
            }
        }
        let mut numbers = Numbers::Same;
        if let Some(region) = self.part(at, figures, &[COUNTS, TREE], "counts or tree") {
            if region.kind == TREE {
                let bytes = self.bytes;
                let pieces = tree_region::pieces(bytes, &region, |offset| {
                    self.part(at, offset, &[TREE_NODES], "nodes")
                });
                let (read, untimed) = tree_region::read(
                    bytes,
                    &region,
                    &pieces,
                    flags & FOLDING != 0,
                    &mut thread,
                    &mut self.methods,
                    &mut self.profile.damage,
                );
                numbers = read;
                self.durations(&region, &numbers, &mut thread);
                if !untimed.is_empty() {
                    self.untimed.insert((thread.copy, thread.ordinal), untimed);
                }
            } else {
                self.counts(&region, &mut thread);
            }
        }
        if let Some(region) = self.part(at, allocations, &[ALLOCATIONS, TREE_ALLOCATIONS], "allocations") {
            if region.kind == TREE_ALLOCATIONS {
                tree_region::read_allocations(self.bytes, &region, &numbers, &mut thread);
            } else {
                self.allocations(&region, &mut thread);
            }
        }
        if let Some(region) = self.part(at, bytecodes, &[BYTECODES], "bytecodes") {
            tree_region::read_bytecodes(self.bytes, &region, &numbers, &mut thread);
        }
        if thread.tree.is_some() {
            let stray_frames = std::mem::take(&mut thread.methods);
            thread.sum_up();
            for (id, method) in stray_frames {
                thread.methods.entry(id).or_default().add(&method);
            }
        }
        if numbers != Numbers::Same {
            self.numbers.insert((thread.copy, thread.ordinal), numbers);
        }
        if flags & FOLDING != 0 {
            let into = u32::try_from(self.bytes.u64(at + FOLDED_INTO)).unwrap_or(0);
            self.folding.push((thread, into));
        } else {
            self.profile.threads.push(thread);
        }
    }

    /// The durations that a tree region leads to.
    fn durations(&mut self, region: &Region, numbers: &Numbers, thread: &mut Thread) {
        let [first, left_out] = self.bytes.words(region.offset + TREE_DURATIONS);
        let Some(tree) = thread.tree.as_mut().filter(|_| first != 0 || left_out != 0) else { return };
        tree.durations_left_out = left_out;
        let bytes = self.bytes;
        let mut contexts = BTreeMap::new();
        for piece in durations_region::pieces(bytes, first, |offset| {
            self.part(region.offset, offset, &[DURATIONS], "durations")
        }) {
            if let Err(at) = durations_region::read(bytes, &piece, &mut contexts) {
                self.damage(at, "durations", "there is no such octave");
            }
        }
        for (number, durations) in contexts {
            match numbers.of(number) {
                0 => self.damage(region.offset, "durations", format!("there is no node {number}")),
                node => tree.durations.entry(node).or_default().merge(&durations),
            }
        }
    }

    /// The region that a thread points to; 0: none.
    fn part(&mut self, thread: u64, offset: u64, kinds: &[u32], structure: &'static str) -> Option<Region> {
        if offset == 0 {
            return None;
        }
        let Some(&region) = self.places.get(&offset).filter(|r| kinds.contains(&r.kind)) else {
            self.damage(thread, structure, format!("there is no such region at {offset:#x}"));
            return None;
        };
        if !self.used.insert(offset) {
            self.damage(thread, structure, format!("the region at {offset:#x} has another owner"));
            return None;
        }
        Some(region)
    }

    fn counts(&mut self, region: &Region, thread: &mut Thread) {
        let words = self.bytes.u64(region.offset + 16);
        let body = region.offset + HEADER;
        if words > (region.length - HEADER) / 8 {
            return self.damage(region.offset, "counts", "the shadow stack is cut off");
        }
        for i in 0..words {
            let frame = self.bytes.u64(body + 8 * i);
            let id_plus_one = (frame >> 32) as u32 & 0x7fff_ffff;
            if id_plus_one == 0 {
                break;
            }
            let id = id_plus_one - 1;
            thread.stack.push(Frame { id, pending: frame >> 63 != 0, ..Frame::default() });
            thread.methods.entry(id).or_default().open += 1;
        }
        let flags = self.bytes.u64(region.offset + 24);
        let has_samples = flags & SAMPLES_OF_METHODS != 0;
        if flags & EXITS_OF_THREAD != 0 {
            thread.exits = Some(self.bytes.u64(region.offset + 32));
        }
        let mut at = body + 8 * words;
        while at + RECORD <= region.end() {
            let word: [u64; 8] = self.bytes.words(at);
            let id_plus_one = word[0];
            if id_plus_one == 0 {
                return;
            }
            let Some(id) = u32::try_from(id_plus_one - 1).ok().filter(|&id| id < 0x7fff_ffff) else {
                return self.damage(at, "record", format!("method id {}", id_plus_one - 1));
            };
            let (samples, exits) = if has_samples { (word[2], 0) } else { (0, word[2]) };
            let closes = Closes { exits, unwinds: word[3], aborted: word[4], unclosed: word[5] };
            let method =
                Method { entries: word[1], closes, unmatched: word[6], open: word[7], bytecodes: 0, samples };
            if method != Method::default() {
                thread.methods.entry(id).or_default().add(&method);
            }
            at += RECORD;
        }
        if at != region.end() {
            self.damage(at, "record", "it is cut off");
        }
    }

    fn allocations(&mut self, region: &Region, thread: &mut Thread) {
        let mut at = region.offset + HEADER;
        while at + 16 <= region.end() {
            let [class_method, count] = self.bytes.words(at);
            if class_method == 0 {
                break;
            }
            let method = ((class_method >> 32) as u32).checked_sub(1);
            thread.allocations.push(Allocation { method, class: class_method as u32, count });
            at += 16;
        }
    }
}

impl Thread {
    /// Adds the figures of a thread that ended. Returns the numbers here of its nodes, by their numbers there.
    pub(super) fn absorb(&mut self, other: &Thread) -> Vec<u32> {
        for (id, method) in &other.methods {
            self.methods.entry(*id).or_default().add(method);
        }
        if let Some(exits) = other.exits {
            self.exits = Some(self.exits.unwrap_or(0).saturating_add(exits));
        }
        self.allocations.extend(&other.allocations);
        self.dropped = self.dropped.saturating_add(other.dropped);
        self.pause = self.pause.saturating_add(other.pause);
        if let Some(samples) = &other.samples {
            self.samples.get_or_insert_default().add(samples);
        }
        let Some(tree) = &other.tree else { return Vec::new() };
        let numbers = self.tree.get_or_insert_default().absorb(tree);
        self.tree_allocations.extend(other.tree_allocations.iter().map(|made| {
            let node = numbers.get(made.node as usize).copied().unwrap_or(0);
            TreeAllocation { node, ..*made }
        }));
        numbers
    }
}
