//! Threads: what they are, what they do, and which monitors they have and want.

use super::answer::{java_name, reason};
use super::server::Asked;
use super::waits::{BLOCKED, IN_OBJECT_WAIT};
use crate::jvmti::{Frame, MethodId, Object, Stack};
use instrument_control::answer::{self, Monitor, Monitors, Thread, Threads};
use std::collections::HashMap;

/// The most frames of a stack.
const DEEPEST: usize = 2000;

// `JVMTI_THREAD_STATE_*`
const TERMINATED: u32 = 0x2;
const RUNNABLE: u32 = 0x4;
const WAITING: u32 = 0x80;
const WITH_TIMEOUT: u32 = 0x20;
const DETAILS: [(u32, &str); 6] = [
    (0x40, "sleeping"),
    (IN_OBJECT_WAIT, "in Object.wait"),
    (0x200, "parked"),
    (0x10_0000, "suspended"),
    (0x20_0000, "interrupted"),
    (0x40_0000, "in native code"),
];

/// As `Thread.State` has it.
fn java_state(state: u32) -> &'static str {
    match state {
        state if state & TERMINATED != 0 => "TERMINATED",
        state if state & RUNNABLE != 0 => "RUNNABLE",
        state if state & BLOCKED != 0 => "BLOCKED",
        state if state & WAITING != 0 && state & WITH_TIMEOUT != 0 => "TIMED_WAITING",
        state if state & WAITING != 0 => "WAITING",
        0 => "NEW",
        _ => "UNKNOWN",
    }
}

/// What a method is in a stack.
struct Known {
    class: String,
    method: String,
    file: Option<String>,
    lines: Vec<(i64, i32)>,
}

impl<'a> Asked<'a> {
    pub(super) fn threads(self, frames: usize) -> Result<Threads, String> {
        let stacks = self.jvmti.all_stacks(frames.clamp(1, DEEPEST), self.jni).map_err(reason)?;
        let waits_for = self.waited_for(&stacks);
        let mut methods = HashMap::new();
        let mut threads: Vec<Thread> = std::iter::zip(&stacks, waits_for.monitors)
            .map(|(stack, waits_for)| self.one_thread(stack, waits_for, frames > 0, &mut methods))
            .collect();
        threads.sort_by_key(|thread| thread.id);
        Ok(Threads { threads, waits_cut: waits_for.is_cut })
    }

    pub(super) fn thread(self, id: i64) -> Result<Thread, String> {
        let stacks = self.jvmti.all_stacks(DEEPEST, self.jni).map_err(reason)?;
        let stack = stacks.iter().find(|stack| self.thread_id(&stack.thread) == Some(id));
        let stack = stack.ok_or_else(|| format!("no platform thread has the id {id}; it may have ended"))?;
        Ok(self.with_stack(stack))
    }

    fn with_stack(self, stack: &Stack<'a>) -> Thread {
        let waits_for = self.waited_for(std::slice::from_ref(stack)).monitors.pop().flatten();
        self.one_thread(stack, waits_for, true, &mut HashMap::new())
    }

    /// The one thread of a name.
    pub(super) fn thread_by_name(self, name: &str) -> Result<Thread, String> {
        let stacks = self.jvmti.all_stacks(DEEPEST, self.jni).map_err(reason)?;
        let has_name = |stack: &&Stack<'a>| {
            self.jvmti.thread_info(&stack.thread, self.jni).is_ok_and(|info| info.name == name)
        };
        match &stacks.iter().filter(has_name).collect::<Vec<_>>()[..] {
            [] => Err(format!("no platform thread is called `{name}`; `threads` lists them")),
            [stack] => Ok(self.with_stack(stack)),
            several => {
                let ids = several.iter().filter_map(|stack| self.thread_id(&stack.thread));
                let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
                Err(format!("{} threads are called `{name}`: give an id: {}", several.len(), ids.join(", ")))
            }
        }
    }

    fn one_thread(
        self,
        stack: &Stack<'a>,
        waits_for: Option<Object<'a>>,
        with_stack: bool,
        methods: &mut HashMap<MethodId, Known>,
    ) -> Thread {
        let thread = &stack.thread;
        let named = |monitor: Object<'a>| {
            let named = self.named(&monitor);
            self.jni.forget(monitor);
            named
        };
        let details = DETAILS.iter().filter(|(bit, _)| stack.state & bit != 0);
        let owned = self.jvmti.owned_monitors(thread, self.jni).ok();
        let mut all = Thread {
            id: self.thread_id(thread),
            state: java_state(stack.state).to_owned(),
            details: details.map(|(_, text)| (*text).to_owned()).collect(),
            cpu_ns: self.jvmti.cpu_time(thread),
            waits_for: waits_for.map(named),
            owns: owned.map(|owned| owned.into_iter().map(named).collect()),
            stack: with_stack.then(|| stack.frames.iter().map(|frame| self.frame(frame, methods)).collect()),
            ..Thread::default()
        };
        if let Ok(info) = self.jvmti.thread_info(thread, self.jni) {
            all.name = Some(info.name);
            all.group = Some(info.group);
            all.daemon = Some(info.is_daemon);
            all.priority = Some(info.priority);
        }
        all
    }

    fn frame(self, frame: &Frame, methods: &mut HashMap<MethodId, Known>) -> answer::Frame {
        let known = methods.entry(frame.method).or_insert_with(|| self.known(frame.method));
        let (class, method) = (known.class.clone(), known.method.clone());
        if frame.location < 0 {
            return answer::Frame { class, method, native: true, ..answer::Frame::default() };
        }
        let line = known.lines.iter().filter(|(start, _)| *start <= frame.location).max();
        let line = line.filter(|_| known.file.is_some()).map(|(_, line)| *line);
        answer::Frame { class, method, native: false, file: known.file.clone(), line }
    }

    fn known(self, method: MethodId) -> Known {
        let class = self.jvmti.declaring_class(method, self.jni).ok();
        let signature = class.as_ref().and_then(|class| self.jvmti.signature(class));
        let file = class.as_ref().and_then(|class| self.jvmti.class_source(class));
        if let Some(class) = class {
            self.jni.forget(class);
        }
        Known {
            class: signature.map_or_else(|| "?".to_owned(), |signature| java_name(&signature)),
            method: self.jvmti.method(method).map_or_else(|_| "?".to_owned(), |(name, _, _)| name),
            file,
            lines: self.jvmti.lines(method),
        }
    }

    // ---- monitors ----

    /// Those that a thread has, or waits for.
    pub(super) fn monitors(self) -> Result<Monitors, String> {
        let stacks = self.jvmti.all_stacks(1, self.jni).map_err(reason)?;
        let waited_for = self.waited_for(&stacks);
        let mut found: Vec<(Option<i64>, Object<'a>)> = Vec::new();
        let mut all_told = true;
        for (stack, waited_for) in std::iter::zip(&stacks, waited_for.monitors) {
            let owned = self.jvmti.owned_monitors(&stack.thread, self.jni);
            all_told &= owned.is_ok();
            for monitor in owned.unwrap_or_default().into_iter().chain(waited_for) {
                let id = self.id(&monitor);
                if found.iter().any(|(known, _)| *known == id) {
                    self.jni.forget(monitor);
                } else {
                    found.push((id, monitor));
                }
            }
        }
        let monitors: Result<Vec<Monitor>, String> =
            found.iter().map(|(_, monitor)| self.one_monitor(monitor)).collect();
        Ok(Monitors { monitors: monitors?, only_contended: !all_told, waits_cut: waited_for.is_cut })
    }

    pub(super) fn monitor(self, id: i64) -> Result<Monitor, String> {
        self.one_monitor(&self.find(id)?)
    }

    pub(super) fn one_monitor(self, monitor: &Object<'a>) -> Result<Monitor, String> {
        let usage = self.jvmti.monitor_use(monitor, self.jni).map_err(reason)?;
        let named = |thread: Object<'a>| {
            let named = self.named_thread(&thread);
            self.jni.forget(thread);
            named
        };
        let notify_waiters: Vec<_> = usage.notify_waiters.into_iter().map(named).collect();
        let mut waiters: Vec<_> = usage.waiters.into_iter().map(named).collect();
        // Before 23 those that are to be notified are among them.
        waiters.retain(|thread| !notify_waiters.contains(thread));
        Ok(Monitor {
            object: self.named(monitor),
            owner: usage.owner.map(named),
            entries: usage.entries,
            waiters,
            notify_waiters,
        })
    }
}
