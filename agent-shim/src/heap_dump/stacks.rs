//! Stack frames and traces: those of the threads, and those of the contexts in which objects were made.

use super::classes;
use super::output::Output;
use super::record::{self, Body, NO_TRACE, Texts};
use super::tags::{self, Tags};
use super::{MethodName, Tracked};
use crate::jvmti::heap::Place;
use crate::jvmti::{Jni, Jvmti, MethodId, Stack};
use std::collections::HashMap;

/// Frames of a thread that are written; what lies deeper is left out.
const MOST_FRAMES: usize = 4096;
/// Line of a native method.
const NATIVE: i32 = -3;
const UNKNOWN_LINE: i32 = -1;
/// "Frame number" of what is not in a frame that is known.
const NO_FRAME: u32 = u32::MAX;

#[derive(Debug)]
struct Thread {
    serial: u32,
    trace: u32,
    /// From the top.
    methods: Vec<MethodId>,
}

/// A class without an object in the dump: frames name it.
pub(super) fn write_absent_class(serial: u32, name: &[u8], texts: &mut Texts, output: &mut Output) {
    let id = u64::MAX / tags::ALIGNMENT * tags::ALIGNMENT - u64::from(serial) * tags::ALIGNMENT;
    let text = texts.id(name, output);
    output.record(record::LOAD_CLASS, &Body::default().u4(serial).u8(id).u4(NO_TRACE).u8(text).0);
}

/// The threads and traces that have numbers.
#[derive(Debug)]
pub(super) struct Stacks {
    threads: HashMap<u64, Thread>,
    /// By context: the number of its trace, or 0.
    contexts: Vec<u32>,
    last_frame: u64,
    last_trace: u32,
}

impl Stacks {
    /// Begins with the trace that has no frames.
    pub(super) fn new(output: &mut Output) -> Stacks {
        output.record(record::STACK_TRACE, &Body::default().u4(NO_TRACE).u4(0).u4(0).0);
        Stacks { threads: HashMap::new(), contexts: Vec::new(), last_frame: 0, last_trace: NO_TRACE }
    }

    /// Writes the stacks of all threads, as they are now.
    pub(super) fn add_threads<'a>(
        &mut self,
        jvmti: Jvmti<'a>,
        jni: Jni<'a>,
        tags: &mut Tags,
        (texts, output): (&mut Texts, &mut Output),
    ) -> Result<(), crate::jvmti::JvmtiError> {
        let mut methods: HashMap<MethodId, [u64; 4]> = HashMap::new();
        let mut frames: HashMap<(MethodId, i64), u64> = HashMap::new();
        // Of classes that were loaded, or methods whose class was unloaded, since the classes were listed: no other numbers are so high.
        let mut absent = u32::MAX;
        let mut write_absent = |name: &[u8], texts: &mut Texts, output: &mut Output| {
            write_absent_class(absent, name, texts, output);
            absent -= 1;
            u64::from(absent + 1)
        };
        for Stack { thread, frames: stack, .. } in jvmti.all_stacks(MOST_FRAMES, jni)? {
            let mut tag = jvmti.tag(&thread).unwrap_or(0);
            if tags::id(tag) == 0 {
                tag = tags.number();
                jvmti.set_tag(&thread, tag)?;
            }
            jni.forget(thread);
            let mut ids = Vec::with_capacity(stack.len());
            for frame in &stack {
                let key = (frame.method, frame.location);
                if let Some(&id) = frames.get(&key) {
                    ids.push(id);
                    continue;
                }
                let texts_of = methods.entry(key.0).or_insert_with(|| {
                    let method = jvmti.method(key.0).ok();
                    let Some(((name, descriptor, _), class)) =
                        method.zip(jvmti.declaring_class(key.0, jni).ok())
                    else {
                        let text = texts.id(b"unknown", output);
                        return [text, text, 0, write_absent(b"unknown", texts, output)];
                    };
                    let source = jvmti.class_source(&class);
                    let source = source.map_or(0, |name| texts.id(name.as_bytes(), output));
                    let tag = jvmti.tag(&class).unwrap_or(0);
                    let serial = match tags::class_index(tag) {
                        Some(index) => index as u64 + 1,
                        None => {
                            let name = classes::name(&jvmti.raw_signature(&class).unwrap_or_default());
                            write_absent(&name, texts, output)
                        }
                    };
                    jni.forget(class);
                    [
                        texts.id(name.as_bytes(), output),
                        texts.id(descriptor.as_bytes(), output),
                        source,
                        serial,
                    ]
                });
                let line = match key.1 {
                    ..0 => NATIVE,
                    at => {
                        // Not sorted, and a line may come in several pieces.
                        let begun = jvmti.lines(key.0).into_iter().filter(|(start, _)| *start <= at);
                        begun.max_by_key(|(start, _)| *start).map_or(UNKNOWN_LINE, |(_, line)| line)
                    }
                };
                let id = self.write_frame(*texts_of, line, output);
                frames.insert(key, id);
                ids.push(id);
            }
            let serial = self.threads.len() as u32 + 1;
            let trace = self.write_trace(serial, &ids, output);
            let methods = stack.iter().map(|frame| frame.method).collect();
            self.threads.insert(tags::id(tag), Thread { serial, trace, methods });
        }
        Ok(())
    }

    /// Writes the traces of contexts.
    pub(super) fn add_contexts(
        &mut self,
        contexts: impl Iterator<Item = u32>,
        (tracked, jni): (&dyn Tracked, Jni<'_>),
        classes: &mut dyn FnMut(&[u8], &mut Texts, &mut Output) -> u32,
        (texts, output): (&mut Texts, &mut Output),
    ) {
        let mut frames: HashMap<u32, u64> = HashMap::new();
        for context in contexts {
            let mut ids = Vec::new();
            for id in tracked.chain(jni, context) {
                let known = frames.get(&id).copied();
                let frame = known.or_else(|| {
                    let MethodName { class, name, descriptor, source, line } = tracked.method(id)?;
                    let serial = classes(&class, texts, output);
                    let source = source.map_or(0, |source| texts.id(&source, output));
                    let name = texts.id(&name, output);
                    let texts_of = [name, texts.id(&descriptor, output), source, u64::from(serial)];
                    Some(self.write_frame(texts_of, line.unwrap_or(UNKNOWN_LINE), output))
                });
                if let Some(frame) = frame {
                    frames.insert(id, frame);
                    ids.push(frame);
                }
            }
            let trace = self.write_trace(0, &ids, output);
            if self.contexts.len() <= context as usize {
                self.contexts.resize(context as usize + 1, 0);
            }
            self.contexts[context as usize] = trace;
        }
    }

    /// The trace of a context.
    pub(super) fn trace_of(&self, context: u32) -> u32 {
        self.contexts.get(context as usize).copied().filter(|trace| *trace != 0).unwrap_or(NO_TRACE)
    }

    /// The serial and trace numbers of a thread; it gets new ones, if it has started just now.
    pub(super) fn thread(&mut self, id: u64) -> (u32, u32) {
        let serial = self.threads.len() as u32 + 1;
        let fresh = Thread { serial, trace: NO_TRACE, methods: Vec::new() };
        let thread = self.threads.entry(id).or_insert(fresh);
        (thread.serial, thread.trace)
    }

    /// The serial number of the thread, and that of the frame in its trace, if it is the same frame still.
    pub(super) fn place(&self, place: Place) -> (u32, u32) {
        let Some(thread) = self.threads.get(&tags::id(place.thread)) else { return (0, NO_FRAME) };
        let depth = usize::try_from(place.depth).unwrap_or(usize::MAX);
        let same = thread.methods.get(depth) == Some(&place.method);
        (thread.serial, if same { depth as u32 } else { NO_FRAME })
    }

    fn write_frame(
        &mut self,
        [name, descriptor, source, class]: [u64; 4],
        line: i32,
        output: &mut Output,
    ) -> u64 {
        self.last_frame += 1;
        let body = Body::default().u8(self.last_frame).u8(name).u8(descriptor).u8(source);
        output.record(record::STACK_FRAME, &body.u4(class as u32).u4(line as u32).0);
        self.last_frame
    }

    fn write_trace(&mut self, thread: u32, frames: &[u64], output: &mut Output) -> u32 {
        self.last_trace += 1;
        let body = Body::default().u4(self.last_trace).u4(thread).u4(frames.len() as u32);
        let body = frames.iter().fold(body, |body, frame| body.u8(*frame));
        output.record(record::STACK_TRACE, &body.0);
        self.last_trace
    }
}
