//! Reads the regions that have the durations of calls.

use std::collections::BTreeMap;

use crate::bytes::Bytes;
use crate::durations::ContextDurations;
use crate::format::{DURATIONS_NEXT, HEADER, OCTAVE};
use crate::histogram::{Counts, LAST_OCTAVE};
use crate::regions::Region;

/// The pieces that a tree region leads to, in order; `part`: the region at an offset, if nobody else has claimed it.
pub(crate) fn pieces(
    bytes: &Bytes<'_>,
    first: u64,
    mut part: impl FnMut(u64) -> Option<Region>,
) -> Vec<Region> {
    let mut next = first;
    let mut pieces = Vec::new();
    while let Some(piece) = (next != 0).then(|| part(next)).flatten() {
        pieces.push(piece);
        next = bytes.u64(piece.offset + DURATIONS_NEXT);
    }
    pieces
}

/// Adds the octaves of a piece to the contexts, by number of the node as the file has it. An octave that makes no sense, and where it is.
pub(crate) fn read(
    bytes: &Bytes<'_>,
    piece: &Region,
    contexts: &mut BTreeMap<u32, ContextDurations>,
) -> Result<(), u64> {
    let mut at = piece.offset + HEADER;
    while at + OCTAVE <= piece.end() {
        let word: [u64; 8] = bytes.words(at);
        if word[0] == 0 {
            break;
        }
        let (node, octave) = (word[0] as u32, i32::from((word[0] >> 32) as u8) - 1);
        if octave > LAST_OCTAVE {
            return Err(at);
        }
        let mut counts: Counts = [0; 64];
        for (pair, offset) in counts.chunks_exact_mut(2).zip((at + HEADER..).step_by(8)) {
            let both = bytes.u64(offset);
            (pair[0], pair[1]) = (both & u64::from(u32::MAX), both >> 32);
        }
        let threshold = Some(word[5]).filter(|ns| *ns > 0);
        let mut some = ContextDurations { threshold, over: word[4], ..ContextDurations::default() };
        let has_failed = word[0] >> 40 & 1 != 0;
        let of = if has_failed { &mut some.failed } else { &mut some.returned };
        of.add_octave(octave, counts, word[1], (word[2], word[3]));
        contexts.entry(node).or_default().merge(&some);
        at += OCTAVE;
    }
    Ok(())
}
