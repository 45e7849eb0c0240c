//! Threads by the two numbers that they have: of the virtual machine, and of the recorder.

use std::collections::HashMap;

use instrument_trace::{Profile, ThreadKind};

/// A thread that can be referred to from its start to its end.
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) group: String,
    pub(super) parent: String,
    /// Clocks; 0: it was there before the recorder, or to the end.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Unknown,
    Started,
    Ended,
}

/// The threads of a copy of the runtime.
pub(super) struct Threads {
    pub(super) all: Vec<Thread>,
    by_number: HashMap<u32, usize>,
    by_ordinal: HashMap<u32, usize>,
}

impl Threads {
    pub(super) fn new(profile: &Profile, copy: u32, prefix: &str) -> Threads {
        let mut threads = Threads { all: Vec::new(), by_number: HashMap::new(), by_ordinal: HashMap::new() };
        for java in profile.java_threads.iter().filter(|thread| thread.copy == copy) {
            let at = threads.all.len();
            threads.by_number.insert(java.number, at);
            if java.ordinal != 0 {
                threads.by_ordinal.insert(java.ordinal, at);
            }
            threads.all.push(Thread {
                id: format!("{prefix}{}", java.number),
                name: java.name.clone(),
                group: java.group.clone(),
                parent: java.group_parent.clone(),
                start: java.start,
                end: java.end,
                state: State::Unknown,
            });
        }
        let recorded = profile.threads.iter();
        for thread in recorded.filter(|t| t.copy == copy && t.kind == ThreadKind::Thread) {
            if threads.by_ordinal.contains_key(&thread.ordinal) {
                continue;
            }
            threads.by_ordinal.insert(thread.ordinal, threads.all.len());
            threads.all.push(Thread {
                id: format!("{prefix}r{}", thread.ordinal),
                name: thread.name.clone(),
                group: String::new(),
                parent: String::new(),
                start: thread.start,
                end: thread.end,
                state: State::Unknown,
            });
        }
        threads
    }

    /// The index of the thread of this number.
    pub(super) fn numbered(&self, number: u32) -> Option<usize> {
        self.by_number.get(&number).copied()
    }

    /// The index of the thread whose region has this ordinal.
    pub(super) fn recorded(&self, ordinal: u32) -> Option<usize> {
        self.by_ordinal.get(&ordinal).copied()
    }
}
