//! What the virtual machine knows of its threads.

use crate::bytes::Bytes;
use crate::format::*;

/// A thread of the virtual machine, whether it recorded anything or not. Its number has a meaning only within its copy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JavaThread {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Its number, from 1.
    pub number: u32,
    /// [`crate::Thread::ordinal`] of its figures; 0: it recorded nothing.
    pub ordinal: u32,
    /// Clock at its start, of a virtual thread at its first wait; 0: it was there before the recorder.
    pub start: u64,
    /// Clock at its end; 0: it was there to the end, or is virtual.
    pub end: u64,
    /// Number of the thread that started it; 0: unknown.
    pub starter: u32,
    /// It does not keep the virtual machine from ending.
    pub daemon: bool,
    /// It is a virtual thread.
    pub virtual_thread: bool,
    /// Its name when it was started.
    pub name: String,
    /// The name of its group.
    pub group: String,
    /// The name of its group's parent.
    pub group_parent: String,
}

impl JavaThread {
    /// None: it was not finished.
    pub(crate) fn read(bytes: &Bytes<'_>, copy: u32, at: u64) -> Option<JavaThread> {
        let [number_ordinal, start, end, starter_flags, lengths] = bytes.words(at);
        let number = number_ordinal as u32;
        if number == 0 {
            return None;
        }
        let (mut from, until) = (at + JAVA_THREAD_TEXT, at + JAVA_THREAD);
        let [name, group, group_parent] = [0, 16, 32].map(|shift| {
            let length = (lengths >> shift & 0xffff).min(until - from);
            let text = bytes.text(from, length);
            from += length;
            text
        });
        let flags = (starter_flags >> 32) as u32;
        Some(JavaThread {
            copy,
            number,
            ordinal: (number_ordinal >> 32) as u32,
            start,
            end,
            starter: starter_flags as u32,
            daemon: flags & DAEMON != 0,
            virtual_thread: flags & VIRTUAL != 0,
            name,
            group,
            group_parent,
        })
    }
}
