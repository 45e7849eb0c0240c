//! What threads wait for. Where the virtual machine does not say, since it was not asked to at its start, that is looked for on their stacks: who
//! waits for a monitor has it in one of the topmost frames, and the monitor knows who waits for it.

use super::server::Asked;
use crate::jvmti::heap::{HeapVisitor, Link, Next, PrimitiveType, Root, Target};
use crate::jvmti::{Capability, Jni, Jvmti, JvmtiError, Object, Stack};
use std::time::{Duration, Instant};

/// `Object.wait` may be three frames, the program's own is beneath.
const FRAMES: i32 = 4;
/// The virtual machine stands still for each monitor that is asked. No more are asked, and none after so long.
const MOST_ASKED: usize = 4096;
const LONGEST: Duration = Duration::from_millis(200);

// `JVMTI_THREAD_STATE_*`
pub(super) const BLOCKED: u32 = 0x400;
pub(super) const IN_OBJECT_WAIT: u32 = 0x100;

/// What threads wait for.
pub(super) struct WaitedFor<'a> {
    /// By thread.
    pub(super) monitors: Vec<Option<Object<'a>>>,
    /// The search ended before everything was asked: what is missing may be waited for nevertheless.
    pub(super) is_cut: bool,
}

/// Places of threads, each with the id of what it waits for, and whether the search was cut.
type Found = (Vec<(usize, i64)>, bool);

impl<'a> Asked<'a> {
    /// The monitor that each of these threads waits to enter, or waits in. Their stacks have at least one frame each.
    pub(super) fn waited_for(self, stacks: &[Stack<'a>]) -> WaitedFor<'a> {
        let told: Vec<_> =
            stacks.iter().map(|stack| self.jvmti.contended_monitor(&stack.thread, self.jni)).collect();
        let is_open = |(told, stack): &(&Result<_, _>, &Stack<'a>)| {
            told.is_err() && stack.state & (BLOCKED | IN_OBJECT_WAIT) != 0
        };
        let open: Vec<usize> =
            told.iter().zip(stacks).enumerate().filter(|(_, one)| is_open(one)).map(|(at, _)| at).collect();
        let mut all: Vec<_> = told.into_iter().map(Result::unwrap_or_default).collect();
        if open.is_empty() {
            return WaitedFor { monitors: all, is_cut: false };
        }
        let waiting: Vec<&Stack<'a>> = open.iter().map(|&at| &stacks[at]).collect();
        let found = self.jni.in_environment(|own, jni| self.look_for(own, jni, &waiting));
        let (found, is_cut) = found.and_then(|found| found).unwrap_or((Vec::new(), true));
        for (index, id) in found {
            all[open[index]] = self.find(id).ok();
        }
        WaitedFor { monitors: all, is_cut }
    }

    /// Looks for what the threads of the list wait for. The environment has no tags yet.
    fn look_for<'e>(self, own: Jvmti<'e>, jni: Jni<'e>, waiting: &[&Stack<'a>]) -> Result<Found, JvmtiError> {
        own.add_capabilities(&[Capability::TagObjects])?;
        for (tag, stack) in (1..).zip(waiting) {
            own.set_tag(&stack.thread, -tag)?;
        }
        let mut near = Near::default();
        for class in waiting.iter().filter_map(|stack| self.declaring_class(stack)) {
            // The monitor of a static method.
            if own.tag(&class)? == 0 {
                own.set_tag(&class, near.next())?;
            }
            self.jni.forget(class);
        }
        own.follow_references(None, &mut near)?;
        let (mut found, mut known) = (Vec::new(), vec![false; waiting.len()]);
        let (mut is_cut, begin) = (near.tags.len() >= MOST_ASKED, Instant::now());
        for tag in near.tags {
            if found.len() == waiting.len() {
                break;
            }
            if begin.elapsed() >= LONGEST {
                is_cut = true;
                break;
            }
            for object in own.objects_with_tag(tag, jni)? {
                for index in self.waiters_of(&object, waiting) {
                    if let Some(id) = self.id(&object).filter(|_| !known[index]) {
                        known[index] = true;
                        found.push((index, id));
                    }
                }
                jni.forget(object);
            }
        }
        is_cut &= found.len() < waiting.len();
        Ok((found, is_cut))
    }

    fn declaring_class(self, stack: &Stack<'a>) -> Option<Object<'a>> {
        self.jvmti.declaring_class(stack.frames.first()?.method, self.jni).ok()
    }

    /// Which of these threads wait for a monitor.
    fn waiters_of(self, monitor: &Object<'_>, waiting: &[&Stack<'a>]) -> Vec<usize> {
        let Ok(usage) = self.jvmti.monitor_use(monitor, self.jni) else { return Vec::new() };
        let mut all = Vec::new();
        for thread in usage.waiters.into_iter().chain(usage.notify_waiters) {
            all.extend(waiting.iter().position(|stack| self.jni.are_same(&stack.thread, &thread)));
            self.jni.forget(thread);
        }
        usage.owner.into_iter().for_each(|owner| self.jni.forget(owner));
        all
    }
}

/// Gives a tag to whatever is in the topmost frames of threads whose tags are negative.
#[derive(Default)]
struct Near {
    tags: Vec<i64>,
}

impl Near {
    fn next(&mut self) -> i64 {
        let tag = self.tags.len() as i64 + 1;
        self.tags.push(tag);
        tag
    }
}

impl HeapVisitor for Near {
    const VALUES: bool = false;

    fn root(&mut self, root: Root, target: Target<'_>) -> Next {
        if let Root::StackLocal(place) | Root::JniLocal(place) = root
            && place.thread < 0
            && place.depth < FRAMES
            && self.tags.len() < MOST_ASKED
        {
            match *target.tag {
                0 => *target.tag = self.next(),
                // One of the threads, which others may wait for.
                thread if thread < 0 && !self.tags.contains(&thread) => self.tags.push(thread),
                _ => {}
            }
        }
        Next::Pass
    }

    fn reference(&mut self, _: i64, _: Link, _: Target<'_>) -> Next {
        Next::Pass
    }

    fn primitive(&mut self, _: i64, _: bool, _: u32, _: &[u8]) -> Next {
        Next::Pass
    }

    fn array(&mut self, _: i64, _: PrimitiveType, _: &[u8]) -> Next {
        Next::Pass
    }
}
