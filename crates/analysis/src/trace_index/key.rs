//! By what a trace is recognised.
//!
//! The key of a profile is a hash of the version of this program and the length and time of its file, so that no other
//! build takes what one has made, the room that the index had, the length of the file, the time at which it was
//! modified last, its first 4 KiB, where every piece of its traces lies with its clock, and 64 samples of 4 KiB each
//! from all over it.
//!
//! A recorder writes to a profile only while its process lives: it moves the clock of its beat in the first 4 KiB on,
//! and makes pieces. A profile that is replaced or edited has another time of modification. So a profile has the key of
//! what was kept only if nobody wrote to it, or somebody set its time back and missed all samples, on purpose. A time
//! of modification that lies less than 2 s back says too little, as clocks of file systems are coarse; nor does one
//! that lies less than a minute back, if the recording was killed, or goes on where it cannot be seen: the kernel
//! changes the time only when it writes down what is mapped. Such a profile is not kept yet.

use std::fs::File;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use instrument_trace::{Profile, Source};
use sha2::{Digest, Sha256};

use super::Share;

const SAMPLE: usize = 4096;
const SAMPLES: u64 = 64;
/// What the coarsest clock of a file system may be behind.
const SETTLED: Duration = Duration::from_secs(2);
/// What is mapped is written to the disk by then, and whoever writes to it again changes the time of modification: of a
/// profile of which it is not known that its recording has ended.
const WRITTEN: Duration = Duration::from_secs(60);

/// What is the same only for the same profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(pub(super) [u8; 32]);

impl Key {
    /// Half of its digits: enough for a name.
    pub(super) fn digits(&self) -> String {
        self.0[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The key of a profile, as its file is now; none: it cannot be told.
pub(super) fn key(source: &File, profile: &Profile, share: Share) -> Option<Key> {
    let about = source.metadata().ok()?;
    let modified = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut hash = Sha256::new();
    let mut number = |number: u64| hash.update(number.to_le_bytes());
    [share.sums as u64, share.boxes as u64, about.len()].into_iter().for_each(&mut number);
    [modified.as_secs(), u64::from(modified.subsec_nanos())].into_iter().for_each(&mut number);
    for thread in profile.threads.iter().filter(|thread| !thread.pieces.is_empty()) {
        [thread.copy.into(), thread.ordinal.into(), thread.pieces.len() as u64]
            .into_iter()
            .for_each(&mut number);
        for piece in &thread.pieces {
            [piece.offset, piece.clock, piece.number.into(), piece.length.into()]
                .into_iter()
                .for_each(&mut number);
        }
    }
    let mut sample = [0; SAMPLE];
    let last = about.len().saturating_sub(SAMPLE as u64);
    for at in (0..SAMPLES).map(|n| (u128::from(last) * u128::from(n) / u128::from(SAMPLES - 1)) as u64) {
        let length = source.fill_at(at, &mut sample).ok()?;
        hash.update(&sample[..length]);
    }
    let (length, built) = program()?;
    hash.update(length.to_le_bytes());
    hash.update(built.as_nanos().to_le_bytes());
    hash.update(env!("CARGO_PKG_VERSION"));
    Some(Key(hash.finalize().into()))
}

/// Length and time of modification of the file of this program.
fn program() -> Option<(u64, Duration)> {
    let about = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    Some((about.len(), about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?))
}

/// Whether the file was modified so long ago that whoever writes to it again changes the time of its modification.
pub(super) fn is_settled(source: &File, profile: &Profile) -> bool {
    let settled = if profile.shutdown_clock != 0 || profile.has_ended() { SETTLED } else { WRITTEN };
    let modified = source.metadata().and_then(|about| about.modified());
    modified
        .is_ok_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|since| since >= settled))
}
