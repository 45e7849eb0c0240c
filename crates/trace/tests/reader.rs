//! The reader over pinned profiles, and over what is left of them: cut anywhere, any bit flipped.

use std::path::Path;
use std::sync::OnceLock;

use instrument_trace::{Allocation, Closes, Error, Frame, Method, Profile, ThreadKind};
use proptest::prelude::*;

fn pinned(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles").join(name)).unwrap()
}

fn calls() -> &'static [u8] {
    static DATA: OnceLock<Vec<u8>> = OnceLock::new();
    DATA.get_or_init(|| pinned("v1-calls.iprof"))
}

fn method(entries: u64, exits: u64, unwinds: u64, aborted: u64) -> Method {
    Method { entries, closes: Closes { exits, unwinds, aborted, unclosed: 0 }, ..Method::default() }
}

#[test]
fn version_1_calls() {
    let profile = Profile::parse(calls()).unwrap();
    assert_eq!(profile.damage, []);
    assert_eq!(profile.dropped, 0);
    assert_ne!((profile.pid, profile.start_ms), (0, 0));
    assert_eq!(profile.copies.len(), 1);
    assert_eq!(profile.copies[&1].properties["record"], "counts");
    assert_eq!(profile.copies[&1].id_maps.len(), 1);
    assert_eq!(profile.copies[&1].id_maps[0][..2], [0x1f, 0x8b]);
    let [main] = &profile.threads[..] else { panic!("one thread") };
    assert_eq!((main.name.as_str(), main.ordinal, main.kind), ("main", 1, ThreadKind::Thread));
    let expected = [
        (1, method(1000, 1000, 0, 0)),
        (2, method(2000, 1000, 1000, 0)),
        (3, method(2000, 1000, 1000, 0)),
        (4, method(1000, 1000, 0, 0)),
        (5, method(1000, 0, 1000, 0)),
        (6, method(1, 1, 0, 0)),
    ];
    assert_eq!(main.methods, expected.into());
    assert_eq!((profile.imbalances(), profile.in_flight()), (vec![], 0));
}

/// The same program, of whose calls those that returned are counted for the thread.
#[test]
fn version_6_calls() {
    let profile = Profile::parse(&pinned("v6-calls.iprof")).unwrap();
    let of_version_1 = Profile::parse(calls()).unwrap();
    assert_eq!(profile.damage, []);
    assert_eq!(profile.threads[0].methods, of_version_1.threads[0].methods);
    assert_eq!((profile.imbalances(), profile.in_flight()), (vec![], 0));
}

/// A call that is counted twice, or not at all, is seen in the sums of its thread.
#[test]
fn calls_of_version_6_that_are_miscounted_are_a_violation() {
    let data = pinned("v6-calls.iprof");
    let whole = Profile::parse(&data).unwrap();
    // The record of id 4: [5, 1000 entries, 0 exits, ..].
    let record = [5u64, 1000, 0].map(u64::to_le_bytes).concat();
    let at = data.windows(record.len()).position(|bytes| bytes == record).unwrap();
    for entries in [999u64, 1001] {
        let mut data = data.clone();
        data[at + 8..at + 16].copy_from_slice(&entries.to_le_bytes());
        let profile = Profile::parse(&data).unwrap();
        assert_eq!(profile.threads[0].methods[&4].closes.exits, entries);
        assert_eq!(profile.threads[0].excess_exits, 1000 - i128::from(entries));
        assert_eq!((profile.imbalances().len(), profile.in_flight()), (1, 0));
    }
    assert_eq!(whole.threads[0].excess_exits, 0);
}

#[test]
fn version_1_constructors() {
    let profile = Profile::parse(&pinned("v1-constructors.iprof")).unwrap();
    let expected = [
        (10, method(1600, 1090, 0, 510)),
        (11, method(1600, 1090, 510, 0)),
        (12, method(1000, 500, 0, 500)),
        (13, method(100, 0, 90, 10)),
        (14, method(1, 1, 0, 0)),
    ];
    assert_eq!(profile.threads[0].methods, expected.into());
}

#[test]
fn version_1_misfits() {
    let profile = Profile::parse(&pinned("v1-misfits.iprof")).unwrap();
    let main = &profile.threads[0];
    assert_eq!(main.methods[&60], Method { unmatched: 1, ..Method::default() });
    let unclosed = Closes { unclosed: 1, ..Closes::default() };
    assert_eq!(main.methods[&62], Method { entries: 1, closes: unclosed, unmatched: 1, ..Method::default() });
    assert_eq!(main.methods[&63], Method { entries: 1, unmatched: 1, open: 1, ..Method::default() });
    assert_eq!(main.stack, [Frame { id: 63, ..Frame::default() }]);
    assert_eq!(profile.imbalances(), []);
}

#[test]
fn version_1_allocations() {
    let profile = Profile::parse(&pinned("v1-allocations.iprof")).unwrap();
    let names = &profile.copies[&1].class_names;
    let made = profile.threads[0].allocations.iter();
    let made = made.map(|&Allocation { method, class, count }| (method, names[&class].as_str(), count));
    let expected = [
        (None, "java.lang.Object", 1),
        (Some(50), "java.util.ArrayList", 100),
        (Some(50), "[I", 100),
        (Some(50), "java.lang.Object", 1),
        (Some(50), "[[Ljava.lang.String;", 1),
    ];
    assert_eq!(made.collect::<Vec<_>>(), expected);
}

#[test]
fn foreign_files_are_refused() {
    assert_eq!(Profile::parse(b"").unwrap_err(), Error::NotAProfile);
    assert_eq!(Profile::parse(b"PK\x03\x04").unwrap_err(), Error::NotAProfile);
    assert_eq!(Profile::parse(&calls()[..100]).unwrap_err(), Error::NoHeader { length: 100 });
    let mut newer = calls().to_vec();
    newer[8] = 9;
    assert_eq!(Profile::parse(&newer).unwrap_err(), Error::Version { version: 9 });
}

/// Whatever is left of a file, its figures are never more than those of the whole.
#[test]
fn cut_at_every_byte() {
    let whole = &Profile::parse(calls()).unwrap().threads[0];
    let mut seen = 0;
    for length in 0..calls().len() {
        let Ok(profile) = Profile::parse(&calls()[..length]) else {
            assert!(length < 4096);
            continue;
        };
        for thread in &profile.threads {
            for (id, method) in &thread.methods {
                assert_eq!(method, &whole.methods[id], "cut at {length}");
                seen += 1;
            }
        }
        assert!(length < 4096 + 64 || !profile.damage.is_empty(), "cut at {length} unnoticed");
    }
    assert!(seen > 1000, "the cuts never left a method");
}

/// A file that was cut and made as long again, or copied without its blocks.
#[test]
fn a_hole_in_the_place_of_blocks_is_damage() {
    let mut bytes = calls().to_vec();
    let end = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
    bytes[4096..].fill(0);
    bytes.resize(bytes.len() + 8192, 0);
    let damage = &Profile::parse(&bytes).unwrap().damage[..];
    let [hole] = damage else { panic!("{damage:?}") };
    let reason = format!("{} bytes are missing here, or are a hole", end - 4096);
    assert_eq!((hole.offset, hole.structure, &*hole.reason), (4096, "block", &*reason));
}

#[test]
fn unknown_region_kinds_are_skipped_and_named() {
    let mut data = calls().to_vec();
    let whole = Profile::parse(&data).unwrap();
    // The properties region (kind 7, owner 0) becomes one that nobody knows.
    let at = (4096..data.len()).step_by(64).find(|&i| data[i..i + 8] == 7u64.to_le_bytes()).unwrap();
    data[at] = 99;
    let profile = Profile::parse(&data).unwrap();
    assert_eq!(profile.skipped, [(99, 1)].into());
    assert_eq!(profile.threads[0].methods, whole.threads[0].methods);
}

/// An entry writes its frame, then its count. A file that stops in between has one event in flight, and no violation; the
/// same difference in any other place is one.
#[test]
fn one_event_in_flight_is_no_violation() {
    let mut data = pinned("v1-misfits.iprof");
    let frame = 64u64 << 32;
    // Frame of id 63, then the end of the stack.
    let top = data.chunks(8).position(|w| u64::from_le_bytes(w.try_into().unwrap()) & !0xffff_ffff == frame);
    let top = 8 * top.unwrap();
    let offset = u64::from_le_bytes(data[top..top + 8].try_into().unwrap()) as u32;
    // The same method once more, not counted yet.
    data[top + 8..top + 16].copy_from_slice(&(frame | u64::from(offset)).to_le_bytes());
    let profile = Profile::parse(&data).unwrap();
    assert_eq!((profile.in_flight(), profile.imbalances().len()), (1, 0));
    // Twice: no single event can do that.
    data[top + 16..top + 24].copy_from_slice(&(frame | u64::from(offset)).to_le_bytes());
    let profile = Profile::parse(&data).unwrap();
    assert_eq!((profile.in_flight(), profile.imbalances().len()), (0, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn flipped_bits_never_panic(flips in prop::collection::vec((0..69_632usize, 0..8u32), 1..40), end in 0..69_632usize) {
        let mut data = calls().to_vec();
        for (at, bit) in flips {
            // Most of the file is zeros: flip where something is, too.
            let at = if at % 2 == 0 { 4096 + at % 8192 } else { at };
            data[at] ^= 1 << bit;
        }
        for data in [&data[..], &data[..end]] {
            if let Ok(profile) = Profile::parse(data) {
                let _ = (profile.imbalances(), profile.in_flight());
                let stack: usize = profile.threads.iter().map(|t| t.stack.len()).sum();
                prop_assert!(stack * 8 <= data.len());
            }
        }
    }
}
