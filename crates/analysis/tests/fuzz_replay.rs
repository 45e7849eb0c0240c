//! A bounded replay of fuzzing: mutants of traces, always the same ones. `fuzz/run replay` looks longer.
//!
//! `FUZZ_REPLAY_RUNS` sets the number of mutants.

use crate::mutants::{Random, replay};
use instrument_testing::{Script, Writer};
use instrument_trace::Event;

/// Events of all kinds, in an order that makes some sense.
fn seed(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer::new();
    for _ in 0..1 + random.below(2) {
        let mut script = Script::new(1000);
        for _ in 0..random.below(200) {
            let id = random.below(5) as u32;
            let event = match random.below(20) {
                0..=6 => Event::Entry(id),
                7..=11 => Event::Exit(id),
                12 => Event::Unwind(id),
                13 => Event::ConstructorEntry(id),
                14 => Event::SuperReturned(id),
                15 => Event::Caught(id),
                16 => Event::Made { class: id, bytes: 16 },
                17 => Event::LinkEntered(id),
                18 => Event::LinkLeft(id),
                _ => Event::Surplus(u64::from(id), id % 3),
            };
            script = script.wait(random.below(100) as u64).event(event);
        }
        writer.trace("main", &script, 1 + random.below(90));
    }
    writer.finish()
}

fn mutant(random: &mut Random) -> Vec<u8> {
    let mut bytes = seed(random);
    let used = bytes.iter().rposition(|&byte| byte != 0).unwrap_or(0) + 1;
    for _ in 0..random.below(8) {
        // Behind the headers of file and block; most of that are events.
        let at = (4160 + random.below(used.saturating_sub(4160))) & !7;
        match random.below(6) {
            // Another kind, or another number.
            0 => bytes[at + 7] = random.next() as u8,
            1 => bytes[at + 4] ^= 1 << random.below(8),
            // Another time: near, far, as far as can be.
            2 => bytes[at..at + 4].copy_from_slice(&random.value(0).to_le_bytes()),
            3 => bytes[at..at + 8].copy_from_slice(&[0xff; 8]),
            4 => bytes[at + random.below(8)] = random.next() as u8,
            _ => bytes.truncate(at.max(4096)),
        }
        if bytes.len() < used {
            break;
        }
    }
    bytes
}

#[test]
fn mutants_are_replayed() {
    replay("trace", 10_000, 2, |random, _| mutant(random), crate::common::replaying::replay);
}
