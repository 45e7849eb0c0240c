//! Small numbers as Parquet packs them: runs of equal ones, and groups of eight of so many bits each (Encodings,
//! "RLE/bit-packing hybrid").

/// Equal numbers that are a run at least.
const RUN: usize = 8;

/// Bits that a number needs.
pub(super) fn bits(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Adds numbers of `width` bits each.
pub(super) fn pack(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    // Numbers from `apart` up to `at` are in no run.
    let (mut apart, mut at) = (0, 0);
    while at < numbers.len() {
        let first = numbers[at];
        let run = numbers[at..].iter().take_while(|&&number| number == first).count();
        // Groups are of eight: what the last one lacks comes from the run.
        let lacks = (at - apart).wrapping_neg() % 8;
        if run >= RUN + lacks {
            groups(&numbers[apart..at + lacks], width, out);
            self::run(first, run - lacks, width, out);
            apart = at + run;
        }
        at += run;
    }
    groups(&numbers[apart..], width, out);
}

/// Adds the same number so many times.
pub(super) fn run(number: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    variable((count as u64) << 1, out);
    out.extend_from_slice(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Adds numbers, each in its bits; the last group is filled with 0.
fn groups(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    variable((numbers.len().div_ceil(8) as u64) << 1 | 1, out);
    let mut chunks = numbers.chunks_exact(8);
    for chunk in &mut chunks {
        group(chunk, width, out);
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        group(&last, width, out);
    }
}

fn group(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let (mut word, mut filled) = (0u64, 0);
    for &number in numbers {
        word |= u64::from(number) << filled;
        filled += width;
        while filled >= 32 {
            out.extend_from_slice(&(word as u32).to_le_bytes());
            word >>= 32;
            filled -= 32;
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// Adds a number in as many bytes as it needs (ULEB128).
fn variable(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the format says of them, read by itself.
    fn unpacked(mut bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let (mut header, mut shift) = (0u64, 0);
            loop {
                let byte = bytes[0];
                bytes = &bytes[1..];
                header |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            if header & 1 == 0 {
                let (value, rest) = bytes.split_at(width.div_ceil(8) as usize);
                let value = value.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
                numbers.extend(std::iter::repeat_n(value, (header >> 1) as usize));
                bytes = rest;
            } else {
                let (packed, rest) = bytes.split_at((header >> 1) as usize * width as usize);
                let bit = |at: usize| u32::from(packed[at / 8] >> (at % 8) & 1);
                let number = |i: usize| (0..width as usize).map(|b| bit(i * width as usize + b) << b).sum();
                numbers.extend((0..(header >> 1) as usize * 8).map(number).collect::<Vec<u32>>());
                bytes = rest;
            }
        }
        assert!(bytes.is_empty());
        assert!(numbers[count..].iter().all(|&number| number == 0), "what fills the last group");
        numbers.truncate(count);
        numbers
    }

    #[test]
    fn few_bytes_for_runs() {
        let mut out = Vec::new();
        pack(&[5; 1000], 3, &mut out);
        // 1000 << 1 in two bytes, and the number.
        assert_eq!(out, [0xd0, 0x0f, 5]);
        out.clear();
        // Seven are no run; neither are those that a group before them needs.
        pack(&[1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4], 3, &mut out);
        assert_eq!(out.len(), 1 + 2 * 3);
    }

    proptest::proptest! {
        #[test]
        fn numbers_are_read_as_they_were_packed(
            width in 1u32..=32,
            runs in proptest::collection::vec((proptest::num::u32::ANY, 1usize..30), 0..40),
        ) {
            let mask = u32::MAX >> (32 - width);
            let numbers: Vec<u32> =
                runs.iter().flat_map(|&(number, run)| std::iter::repeat_n(number & mask, if run > 15 { run } else { 1 })).collect();
            let mut out = Vec::new();
            pack(&numbers, width, &mut out);
            proptest::prop_assert_eq!(unpacked(&out, width, numbers.len()), numbers);
        }
    }
}
