//! What threads waited for.

use crate::bytes::Bytes;
use crate::error::Error;
use crate::format::*;
use crate::java_thread::JavaThread;
use crate::profile::Profile;
use crate::regions::Region;
use crate::source::Source;

/// Why a thread could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitKind {
    /// To enter a monitor that another thread had.
    Contended,
    /// In `Object.wait`.
    Waiting,
    /// A kind that this reader does not know.
    Other(u32),
}

/// A time in which a thread could not go on because of a monitor. Numbers have a meaning only within their copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Why.
    pub kind: WaitKind,
    /// Number of the thread, see [`JavaThread`].
    pub thread: u32,
    /// Clock at its beginning.
    pub start: u64,
    /// Clock at its end; 0: it did not come.
    pub end: u64,
    /// Number of the monitor, the same for the same object; 0: unknown.
    pub monitor: u32,
    /// Class number of the monitor.
    pub class: u32,
    /// Number of the context in [`crate::Copy::contexts`]; 0: none.
    pub context: u32,
    /// Contended: number of the thread that had the monitor; 0: unknown.
    pub owner: u32,
    /// Waiting: the timeout that was requested, in ms; 0: none.
    pub timeout: u64,
    /// The timeout ran out.
    pub timed_out: bool,
}

/// Where waits are in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitPiece {
    /// Copy of the runtime that recorded them.
    pub copy: u32,
    /// File offset of the first one.
    pub offset: u64,
    /// Waits that there is room for.
    pub count: u64,
}

impl WaitPiece {
    pub(crate) fn new(region: &Region) -> WaitPiece {
        let count = (region.length - HEADER) / WAIT;
        WaitPiece { copy: region.copy, offset: region.offset + HEADER, count }
    }

    /// A part of it: `count` waits from index `from` on, as far as they are there.
    #[must_use]
    pub fn part(&self, from: u64, count: u64) -> WaitPiece {
        let from = from.min(self.count);
        WaitPiece { offset: self.offset + from * WAIT, count: count.min(self.count - from), ..*self }
    }

    /// Calls `visit` with every finished wait of this piece, in the order of the file.
    ///
    /// # Errors
    /// When the source fails.
    pub fn for_each(&self, source: &impl Source, visit: &mut impl FnMut(&Wait)) -> Result<(), Error> {
        let mut buffer = vec![0; (self.count.min(RECORDS_AT_ONCE) * WAIT) as usize];
        let mut done = 0;
        while done < self.count {
            let want = ((self.count - done).min(RECORDS_AT_ONCE) * WAIT) as usize;
            let read = source.fill_at(self.offset + done * WAIT, &mut buffer[..want])?;
            let records = buffer[..read].as_chunks::<{ WAIT as usize }>().0;
            records.iter().filter_map(|record| self.wait(record)).for_each(|wait| visit(&wait));
            if read < want {
                break;
            }
            done += RECORDS_AT_ONCE.min(self.count - done);
        }
        Ok(())
    }

    fn wait(&self, record: &[u8; WAIT as usize]) -> Option<Wait> {
        let u32_at =
            |at: usize| u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let kind = match u32_at(0) {
            0 => return None,
            1 => WaitKind::Contended,
            2 => WaitKind::Waiting,
            other => WaitKind::Other(other),
        };
        Some(Wait {
            copy: self.copy,
            kind,
            thread: u32_at(4),
            start: u64_at(8),
            end: u64_at(16),
            monitor: u32_at(24),
            class: u32_at(28),
            context: u32_at(32),
            owner: u32_at(36),
            timeout: u64_at(40),
            timed_out: u32_at(48) & TIMED_OUT != 0,
        })
    }
}

impl Profile {
    /// Calls `visit` with every wait, in the order of the file, which is about that of their beginnings. They are read anew each
    /// time, a little at once: there may be many millions.
    ///
    /// ```
    /// # use instrument_trace::{Profile, Wait, WaitKind};
    /// # use instrument_testing::Writer;
    /// # let mut writer = Writer::new();
    /// # let wait = Wait { copy: 1, kind: WaitKind::Contended, thread: 1, start: 5, end: 12, monitor: 1, class: 1, context: 0,
    /// #     owner: 0, timeout: 0, timed_out: false };
    /// # writer.waits(&[wait]);
    /// # let file = writer.finish();
    /// let profile = Profile::open(&file)?;
    /// let mut contended = 0;
    /// profile.for_each_wait(&file, |wait| contended += wait.end.saturating_sub(wait.start))?;
    /// # assert_eq!(contended, 7);
    /// # Ok::<(), instrument_trace::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the source fails.
    pub fn for_each_wait(&self, source: &impl Source, mut visit: impl FnMut(&Wait)) -> Result<(), Error> {
        self.waits.iter().try_for_each(|piece| piece.for_each(source, &mut visit))
    }

    /// The Java thread of a number.
    pub fn java_thread(&self, copy: u32, number: u32) -> Option<&JavaThread> {
        let at = self.java_threads.binary_search_by_key(&(copy, number), |t| (t.copy, t.number)).ok()?;
        self.java_threads.get(at)
    }
}

/// Reads a Java threads region.
pub(crate) fn read_java_threads(bytes: &Bytes<'_>, region: &Region, threads: &mut Vec<JavaThread>) {
    let mut at = region.offset + HEADER;
    while at + JAVA_THREAD <= region.end() {
        if let Some(thread) = JavaThread::read(bytes, region.copy, at) {
            threads.push(thread);
        }
        at += JAVA_THREAD;
    }
}
