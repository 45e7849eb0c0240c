//! Which call a thread served at a moment.

use instrument_trace::RemoteCall;

use super::calls::NONE;
use crate::hash::HashMap;

/// When the threads of a party served what.
#[derive(Default)]
pub(super) struct Spans {
    /// Rows of calls that several threads serve, by copy and number.
    numbered: HashMap<(u32, u32), u32>,
    /// Copy, thread, begin, end, row.
    all: Vec<(u32, u32, u64, u64, u32)>,
}

impl Spans {
    pub(super) fn add(&mut self, call: &RemoteCall, row: u32) {
        let end = if call.end == 0 { u64::MAX } else { call.end };
        if call.is_of_threads() {
            self.numbered.insert((call.copy, call.number), row);
        } else {
            self.all.push((call.copy, call.thread, call.begin, end, row));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.numbered.is_empty()
    }

    pub(super) fn sort(&mut self) {
        self.all.sort_unstable();
    }

    /// The row of the call that the thread served then, or [`NONE`].
    pub(super) fn find(&self, call: &RemoteCall) -> u32 {
        if call.number != 0 {
            return self.numbered.get(&(call.copy, call.number)).copied().unwrap_or(NONE);
        }
        let after = self.all.partition_point(|&(copy, thread, begin, ..)| {
            (copy, thread, begin) <= (call.copy, call.thread, call.begin)
        });
        let before = after.checked_sub(1).map(|at| self.all[at]);
        let fits = |&(copy, thread, _, end, _): &(u32, u32, u64, u64, u32)| {
            call.thread != 0 && (copy, thread) == (call.copy, call.thread) && call.begin <= end
        };
        before.filter(fits).map_or(NONE, |(.., row)| row)
    }
}
