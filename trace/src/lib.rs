//! The profile file format (`.iprof`): its specification and a tolerant reader. The writer is the Java runtime
//! (`runtime-java/`); this page is what both are held to.
//!
//! A process writes one file, through memory mappings that its threads own. Nothing is flushed or closed at the end, so a
//! file may stop at any event: the process may have been killed between any two stores. A reader accepts any truncation.
//!
//! # Conventions
//! Little endian. A *word* is 8 bytes, stored by one instruction. Offsets are in bytes; *file offsets* count from the start
//! of the file. Bytes not named here are 0 and are to be ignored. Text is UTF-8.
//!
//! # Version
//! A reader accepts version 1 only. Anything that an old reader can ignore is added without a new version: new region
//! kinds, new header words, new property keys, new flag bits. Whatever changes the meaning of bytes named here is version 2.
//!
//! # File header, 4096 bytes
//! | offset | size | |
//! |---|---|---|
//! | 0 | 8 | magic: 89 `IPROF` 0D 0A; written last |
//! | 8 | 4 | version: 1 |
//! | 12 | 4 | length of this header: 4096 |
//! | 16 | 8 | nonce: a random number, so that two copies of the runtime know the file as theirs |
//! | 24 | 8 | process id, as the process saw it; 0: unknown |
//! | 32 | 8 | start, in ms since 1970-01-01 UTC |
//! | 40 | 8 | end: file offset at which the next block will begin |
//! | 48 | 8 | events dropped by threads that have no region (at least; threads write it without a lock) |
//! | 56 | 8 | copies of the runtime that write to this file |
//!
//! # Blocks
//! From offset 4096, one after another: the pieces by which the file grows. The zeros of a block are written before it is
//! mapped, its header after; so a zero where a block should begin ends the file.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | `BLOK` |
//! | 4 | 4 | copy of the runtime that owns it, from 1. Method ids and class numbers belong to a copy |
//! | 8 | 8 | length, a multiple of 4096, this header included |
//! | 64 | | regions, one after another; a region of length 0 ends the block |
//!
//! # Regions
//! Lengths are multiples of 64. A reader skips kinds that it does not know, and names them.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 4 | kind; 0: free, or not finished |
//! | 4 | 4 | owner: ordinal of a thread of this copy, from 1; 0: the copy itself |
//! | 8 | 8 | length, this header included |
//! | 16 | 48 | depends on the kind |
//! | 64 | | body |
//!
//! ## 1: thread, and 2: ended threads
//! Figures of a thread; kind 2 sums up threads that ended, whose regions were used again (at most one per copy). A counts
//! or allocations region that no thread points to is to be ignored: it is a new copy in the making, or an old one.
//!
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | file offset of the counts region |
//! | 24 | 8 | file offset of the allocations region; 0: none |
//! | 32 | 8 | events dropped |
//! | 40 | 8 | flags: 1 recording stopped early; 2 the shadow stack is being repaired; 4 it is being folded into the ended |
//! | 48 | 8 | kind 1: bytes of the name. Kind 2: number of threads folded |
//! | 64 | 192 | kind 1: name of the thread at its first event |
//! | 64 | 8 | kind 2: 1: the journal is valid |
//! | 72 | 24 | kind 2: journal: target, value, source |
//!
//! Folding moves one word at a time: *target* += *source*; *source* = 0. If the journal is valid the reader finishes the
//! move: the word at file offset *target* is *value*, the word at file offset *source* is 0.
//!
//! ## 3: counts
//! | offset | size | |
//! |---|---|---|
//! | 16 | 8 | n: words of the shadow stack |
//! | 64 | 8 n | shadow stack, outermost frame first, up to the first 0. Bit 63: pending; bits 32-62: id + 1; the rest is the writer's |
//! | 64 + 8 n | 64 each | records, up to the first that begins with 0: id + 1, entries, exits, unwinds, orphans, lost, stray, open |
//!
//! *open* is 0 but for ended threads: frames that were open when the thread ended. A method may have several records. An
//! entry writes its frame, then its count; a close writes its count, then clears its frame. So **the law**, for every
//! method and thread, `open` being counted on the shadow stack,
//!
//! ```text
//! entries = exits + unwinds + orphans + lost + open
//! ```
//!
//! holds, or the method is that of the topmost frame and `entries` is one less: that event was being written.
//!
//! ## 4: allocations
//! 16 bytes each, up to the first that begins with 0: class number (4 bytes), id + 1 of the method on top of the shadow
//! stack or 0 for none (4 bytes), objects or arrays made (8 bytes).
//!
//! ## 5: class names
//! Up to the first word that is 0: class number, from 1 (4 bytes), length n of the name (4 bytes), name as
//! `Class.getName()` gives it (n bytes, padded to words).
//!
//! ## 6: id map, and 7: properties
//! Offset 16: length of the data, which is at 64. An id map is a gzip file as the rewriter put it into the jar; there may
//! be several, and the same one twice. Properties are lines `KEY=VALUE`, with `\n`, `\r` and `\\` escaped.
//!
//! # Example
//! A thread `main` that is inside its method 5, having called it twice (words as hexadecimal numbers):
//!
//! ```text
//! 1000  BLOK, copy 1            | 10000
//! 1040  thread, owner 1: 1_00000001 | 100 | counts at 1140 | 0 | 0 | 0 | 4 bytes of name | 0 | "main"
//! 1140  counts,  owner 1: 1_00000003 | 800 | 38 words of stack | ...
//! 1180    6_00000068              frame: id 5, ready
//! 1188    0                       end of the stack
//! 1340    6 | 2 | 1 | 0 | 0 | 0 | 0 | 0     id 5: 2 entries, 1 exit
//! 1380    0                       end of the records
//! 1940  0 | 0                   end of the block
//! ```

mod bytes;
mod error;
mod format;
mod profile;
mod regions;

pub use error::{Damage, Error};
pub use profile::{Allocation, Closes, Copy, Frame, Imbalance, Method, Profile, Thread, ThreadKind};
