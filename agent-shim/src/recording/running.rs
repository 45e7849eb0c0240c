//! Roots that run already: calls of them that are open when a recording begins.
//!
//! Their code is that from before, without probes, and they run out in it. The recorder is told where they are on the stacks, so that what they
//! call is recorded beneath them (`Running.java`). It asks for each such call whether they are there still ([`crate::recording::place_on_stack`]).
//!
//! Mostly only code that was replaced while it ran counts: the virtual machine takes it for a method of its own, and nothing new begins with it.
//! A call that began in new code has told the recorder itself.
//!
//! Where a class was sent through the hook and did not change, as `subgraph=on` sends them all at first, the virtual machine gives its old code,
//! once it was asked about it, the name of the new one, also after that is replaced in turn. So does a call that was there before its code was
//! replaced ([`Open`]) and is there behind that. Between the two it may have returned and been called again; the recorder notices that when the
//! call after that one enters it, as its place on the stack is the same.
//!
//! Virtual threads are not looked at: the virtual machine lists platform threads only.

use crate::jvmti::{Jni, Jvmti, MethodId, Named, Stack};
use crate::recording::agent::Agent;
use crate::recording::agent::Live;
use crate::recording::recorder::OpenCall;
use crate::talk::say;
use std::collections::{HashMap, HashSet};

/// The frames of a stack that are asked for at first. There is room for so many of each thread, so it is not more.
const FRAMES: usize = 1 << 12;
/// The most that are requested.
const MOST_FRAMES: usize = 1 << 18;
/// The most frames of one thread that callees are recorded beneath. What is called by those above them is recorded beneath the last.
const MOST: usize = 256;

/// What is on the stack of a thread from the outermost root on.
struct Beneath<'a> {
    stack: Stack<'a>,
    /// Methods and places from the bottom, outermost first.
    frames: Vec<(MethodId, usize)>,
}

/// What is open from roots on, before its code is replaced.
pub(crate) struct Open<'a>(Vec<Beneath<'a>>);

impl<'a> Open<'a> {
    /// As it is now.
    pub(crate) fn look(agent: &Agent, jvmti: Jvmti<'a>, jni: Jni<'a>) -> Open<'a> {
        Open(beneath(agent, jvmti, jni, &mut Methods::default()))
    }

    /// The methods that are open.
    pub(crate) fn methods(&self, jvmti: Jvmti<'_>, jni: Jni<'_>) -> HashSet<Named> {
        let mut methods = Methods::default();
        let frames = self.0.iter().flat_map(|thread| &thread.frames);
        frames.filter_map(|(method, _)| methods.name(*method, jvmti, jni)).collect()
    }

    /// Tells the recorder of the calls that are open, and have been since before their code was replaced.
    pub(crate) fn tell(self, agent: &Agent, live: &Live, jvmti: Jvmti<'a>, jni: Jni<'a>) {
        let mut methods = Methods::default();
        let now = Open(beneath(agent, jvmti, jni, &mut methods));
        let ids = agent.hook.ids_by_name(&now.methods(jvmti, jni));
        for thread in now.0 {
            let before =
                self.0.iter().find(|before| jni.are_same(&before.stack.thread, &thread.stack.thread));
            let mut before = before.map_or(&[][..], |before| &before.frames).iter();
            let (mut has_stayed, mut inside) = (true, false);
            let mut calls = Vec::new();
            for frame @ &(method, place) in &thread.frames {
                let apart = jvmti.is_obsolete(method);
                // What was replaced has another name than before.
                let same_place = before.next().filter(|(_, before)| *before == place);
                has_stayed &= same_place.is_some_and(|before| apart || before == frame);
                if !apart && !has_stayed {
                    continue;
                }
                let Some(name) = methods.name(method, jvmti, jni) else { continue };
                inside |= methods.is_root(agent, method, &name);
                if let (true, Some(&id)) = (inside && calls.len() < MOST, ids.get(&name)) {
                    calls.push(OpenCall { place, id, method, apart });
                }
            }
            if !calls.is_empty() {
                live.recorder.running(jni, &thread.stack.thread, &calls);
            }
            jni.forget(thread.stack.thread);
        }
        self.0.into_iter().for_each(|before| jni.forget(before.stack.thread));
    }
}

/// The threads with a root on their stacks.
fn beneath<'a>(agent: &Agent, jvmti: Jvmti<'a>, jni: Jni<'a>, methods: &mut Methods) -> Vec<Beneath<'a>> {
    if agent.hook.roots().is_empty() {
        return Vec::new();
    }
    let mut most = FRAMES;
    let stacks = loop {
        match jvmti.all_stacks(most, jni) {
            Ok(stacks) if most < MOST_FRAMES && stacks.iter().any(|stack| stack.frames.len() == most) => {
                stacks.into_iter().for_each(|stack| jni.forget(stack.thread));
                most *= 8;
            }
            Ok(stacks) => break stacks,
            Err(error) => {
                say(format_args!("roots that run already are recorded from their next call on: {error}"));
                return Vec::new();
            }
        }
    };
    let mut found = Vec::new();
    for stack in stacks {
        // Of a stack that is cut the places are not known.
        let count = if stack.frames.len() == most { 0 } else { stack.frames.len() };
        let outermost = (0..count).rev().find(|&index| {
            let method = stack.frames[index].method;
            methods.name(method, jvmti, jni).is_some_and(|name| methods.is_root(agent, method, &name))
        });
        match outermost {
            Some(outermost) => {
                let frames =
                    (0..=outermost).rev().map(|index| (stack.frames[index].method, count - 1 - index));
                found.push(Beneath { frames: frames.collect(), stack });
            }
            None => jni.forget(stack.thread),
        }
    }
    found
}

/// What was asked of methods.
#[derive(Default)]
struct Methods {
    names: HashMap<MethodId, Option<Named>>,
    roots: HashMap<MethodId, bool>,
}

impl Methods {
    fn name(&mut self, method: MethodId, jvmti: Jvmti<'_>, jni: Jni<'_>) -> Option<Named> {
        let ask = || {
            let (name, descriptor, _) = jvmti.method(method).ok()?;
            let class = jvmti.declaring_class(method, jni).ok()?;
            let signature = jvmti.raw_signature(&class);
            jni.forget(class);
            let class = signature?.strip_prefix(b"L")?.strip_suffix(b";")?.to_vec();
            Some((class, name.into_bytes(), descriptor.into_bytes()))
        };
        self.names.entry(method).or_insert_with(ask).clone()
    }

    fn is_root(&mut self, agent: &Agent, method: MethodId, (class, name, descriptor): &Named) -> bool {
        *self.roots.entry(method).or_insert_with(|| agent.hook.is_root(class, name, descriptor))
    }
}
