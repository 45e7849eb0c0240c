//! Large traces for benchmarks.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use instrument_testing::{Script, Writer};
use instrument_trace::Event;

const BLOCK: usize = 1 << 20;
/// Events in a block: it has its own header, and that of its only region.
const EVENTS: usize = (BLOCK - 128) / 8;

/// Writes a trace of any length.
pub(crate) struct TraceFile {
    out: BufWriter<File>,
    piece: Vec<u8>,
    pieces: u64,
    clock: u64,
    start: u64,
    events: u64,
}

impl TraceFile {
    pub(crate) fn create(path: &Path) -> TraceFile {
        let mut writer = Writer::new();
        writer.property("record", "trace").trace("main", &Script::new(1000), 1);
        let mut out = BufWriter::new(File::create(path).expect("a file"));
        out.write_all(&writer.finish()).expect("room");
        // The empty piece of the script is number 1.
        TraceFile { out, piece: Vec::new(), pieces: 1, clock: 1000, start: 1000, events: 0 }
    }

    pub(crate) fn event(&mut self, event: Event) {
        let ns = 25 + (self.events & 15);
        self.piece.extend_from_slice(&event.encode(ns).expect("an event").to_le_bytes());
        self.clock += ns;
        self.events += 1;
        if self.piece.len() == 8 * EVENTS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.pieces += 1;
        let mut header = [0u64; 16];
        header[0] = u64::from(u32::from_le_bytes(*b"BLOK")) | 1 << 32;
        header[1] = BLOCK as u64;
        header[8] = 10 | 1 << 32;
        header[9] = BLOCK as u64 - 64;
        header[10] = self.pieces;
        header[11] = self.start;
        self.piece.resize(8 * EVENTS, 0);
        for word in header {
            self.out.write_all(&word.to_le_bytes()).expect("room");
        }
        self.out.write_all(&self.piece).expect("room");
        self.piece.clear();
        self.start = self.clock;
    }

    pub(crate) fn finish(mut self) -> u64 {
        self.flush();
        self.out.flush().expect("room");
        self.events
    }
}

/// A small random number generator (xorshift64*).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % end
    }
}

/// A call of a method.
pub(crate) fn call(trace: &mut TraceFile, id: u32, body: impl FnOnce(&mut TraceFile)) {
    trace.event(Event::Entry(id));
    body(trace);
    trace.event(Event::Exit(id));
}

/// Calls as programs have them: each method calls a few others, one of them often; some constructors, some exceptions. The
/// `rarer` the other ones, the fewer contexts.
pub(crate) fn program(trace: &mut TraceFile, methods: u32, rarer: u64, calls: u64) {
    let mut random = Random(1);
    let mut stack: Vec<u32> = Vec::new();
    let mut entered = 0;
    while entered < calls || !stack.is_empty() {
        let deeper = entered < calls && random.below(30) as usize >= stack.len() && random.below(5) > 1;
        let caller = stack.last().copied().unwrap_or(0);
        if stack.is_empty() || deeper {
            let choice = if random.below(rarer) == 0 { random.below(6) as u32 } else { 0 };
            let id = (caller.wrapping_mul(7).wrapping_add(choice + 1)) % methods;
            stack.push(id);
            entered += 1;
            if id % 16 == 3 {
                trace.event(Event::ConstructorEntry(id));
                trace.event(Event::SuperReturned(id));
            } else {
                trace.event(Event::Entry(id));
            }
        } else if random.below(200) == 0 {
            stack.pop();
            trace.event(Event::Unwind(caller));
            if let Some(&catcher) = stack.last() {
                trace.event(Event::Caught(catcher));
            }
        } else {
            stack.pop();
            trace.event(Event::Exit(caller));
        }
    }
}

/// The peak of this process's memory in MiB, where Linux tells.
pub(crate) fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? / 1024)
}

/// A file that is deleted in the end.
pub(crate) struct Temporary(pub(crate) PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
