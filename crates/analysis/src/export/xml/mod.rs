//! The XML trace of heap and thread events, in the vocabulary of the JVMPI and TPTP profilers.
//!
//! `crates/analysis/schema/trace.xsd` is its schema. The root is `TRACE`. For each process, or each copy of the runtime
//! in it that recorded such events, `node`, `processCreate`, `agentCreate` and `traceStart` come first, then its events
//! in the order of time, then `traceEnd`. An element that defines an id comes before those that refer to it.
//!
//! | element | attributes | from |
//! |---|---|---|
//! | `threadStart` | `threadId threadName groupName? parentName? time` | Java threads (kind 17), else the threads that recorded |
//! | `threadEnd` | `threadIdRef time` | |
//! | `classDef` | `classId name time` | before its first use |
//! | `objAlloc` | `objId classIdRef threadIdRef? size isArray time` | objects (kind 14) |
//! | `objFree` | `objIdRef time` | the same: at the end of the collection that found it gone |
//! | `gcStart` | `time` | collections (kind 13) |
//! | `gcFinish` | `usedObjects usedObjSpace time` | what is left of the objects that were followed, and their bytes |
//! | `monContendedEnter` | `threadIdRef? monitorId? classIdRef? ownerThreadIdRef? time` | waits (kind 16) |
//! | `monContendedEntered` | `threadIdRef? monitorId? classIdRef? time` | |
//! | `monWait` | `threadIdRef? monitorId? classIdRef? timeout time` | `timeout`: ms that were requested; 0: for ever |
//! | `monWaited` | `threadIdRef? monitorId? classIdRef? timeout time` | `timeout`: ms that it took |
//!
//! Times are seconds since 1970-01-01 UTC with nine digits. Ids are the numbers of the profile; `r7` is the thread that
//! is 7th to record where the virtual machine's number for it is not known; from the second trace on they begin with
//! its number, `2.17`, for ids are those of the document. No id is used twice. What is not known is left out. An array
//! has the name that Java gives it, `int[]`. Text may be anything: what XML cannot hold, and what parsers change in
//! attributes (control characters, U+FFFE, U+FFFF), becomes `\uXXXX`, as in Java, and a backslash becomes two.

mod order;
mod phases;
mod process_writer;
mod text;
mod threads;

use std::collections::BTreeSet;
use std::io::Write;

use instrument_trace::{Profile, Source};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, Event};

use super::trace::Error;
use process_writer::ProcessWriter;

/// A profile to be written.
pub struct Process<'a, S> {
    pub source: &'a S,
    /// What is known of it.
    pub profile: &'a Profile,
    /// Name of the process.
    pub name: &'a str,
    /// The host it ran on, if that is known.
    pub host: Option<&'a str>,
    /// Names of classes by copy of the runtime and number, as `Class.getName()` gives them.
    pub classes: &'a dyn Fn(u32, u32) -> String,
}

/// Writes the events of processes, one process after the other.
///
/// # Errors
/// Those of the sources and of the output.
pub fn write<S: Source>(processes: &[Process<'_, S>], out: &mut dyn Write) -> Result<(), Error> {
    let mut writer = Writer::new(out);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.get_mut().write_all(b"\n")?;
    writer.write_event(Event::Start(BytesStart::new("TRACE")))?;
    writer.get_mut().write_all(b"\n")?;
    let mut number = 0;
    for process in processes {
        for copy in copies(process.profile) {
            number += 1;
            ProcessWriter::new(process, copy, number, &mut writer).write()?;
        }
    }
    writer.write_event(Event::End(BytesEnd::new("TRACE")))?;
    writer.get_mut().write_all(b"\n")?;
    Ok(())
}

/// The copies of the runtime that recorded such events; the first if none did.
fn copies(profile: &Profile) -> BTreeSet<u32> {
    let objects = profile.objects.iter().map(|piece| piece.copy);
    let waits = profile.waits.iter().map(|piece| piece.copy);
    let collections = profile.collections.iter().map(|collection| collection.copy);
    let threads = profile.java_threads.iter().map(|thread| thread.copy);
    let mut copies: BTreeSet<u32> = objects.chain(waits).chain(collections).chain(threads).collect();
    if copies.is_empty() {
        copies.extend(profile.threads.iter().map(|thread| thread.copy).min());
    }
    copies
}
