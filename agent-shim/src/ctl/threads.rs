//! Threads: what they are, what they do, and which monitors they have and want.

use super::answer::{Asked, java_name, reason};
use crate::jvmti::{Frame, MethodId, Object, Stack};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The most frames of a stack.
const DEEPEST: usize = 2000;

// `JVMTI_THREAD_STATE_*`
const TERMINATED: u32 = 0x2;
const RUNNABLE: u32 = 0x4;
const BLOCKED: u32 = 0x400;
const WAITING: u32 = 0x80;
const WITH_TIMEOUT: u32 = 0x20;
const DETAILS: [(u32, &str); 6] = [
    (0x40, "sleeping"),
    (0x100, "in Object.wait"),
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
    pub(super) fn threads(self, frames: usize) -> Result<Value, String> {
        let stacks = self.jvmti.all_stacks(frames.min(DEEPEST), self.jni).map_err(reason)?;
        let mut methods = HashMap::new();
        let mut threads: Vec<Value> =
            stacks.iter().map(|stack| self.one_thread(stack, frames > 0, &mut methods)).collect();
        threads.sort_by_key(|thread| thread["id"].as_i64());
        Ok(json!({ "threads": threads }))
    }

    pub(super) fn thread(self, id: i64) -> Result<Value, String> {
        let stacks = self.jvmti.all_stacks(DEEPEST, self.jni).map_err(reason)?;
        let stack = stacks.iter().find(|stack| self.thread_id(&stack.thread) == Some(id));
        let stack = stack.ok_or_else(|| format!("no platform thread has the id {id}; it may have ended"))?;
        Ok(self.one_thread(stack, true, &mut HashMap::new()))
    }

    /// The one thread of a name.
    pub(super) fn thread_by_name(self, name: &str) -> Result<Value, String> {
        let stacks = self.jvmti.all_stacks(DEEPEST, self.jni).map_err(reason)?;
        let has_name = |stack: &&Stack<'a>| {
            self.jvmti.thread_info(&stack.thread, self.jni).is_ok_and(|info| info.name == name)
        };
        match &stacks.iter().filter(has_name).collect::<Vec<_>>()[..] {
            [] => Err(format!("no platform thread is called `{name}`; `threads` lists them")),
            [stack] => Ok(self.one_thread(stack, true, &mut HashMap::new())),
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
        with_stack: bool,
        methods: &mut HashMap<MethodId, Known>,
    ) -> Value {
        let thread = &stack.thread;
        let mut all = Map::new();
        all.insert("id".into(), self.thread_id(thread).into());
        if let Ok(info) = self.jvmti.thread_info(thread, self.jni) {
            all.insert("name".into(), info.name.into());
            all.insert("group".into(), info.group.into());
            all.insert("daemon".into(), info.is_daemon.into());
            all.insert("priority".into(), info.priority.into());
        }
        all.insert("state".into(), java_state(stack.state).into());
        let details: Vec<&str> =
            DETAILS.iter().filter(|(bit, _)| stack.state & bit != 0).map(|(_, text)| *text).collect();
        if !details.is_empty() {
            all.insert("details".into(), details.into());
        }
        if let Some(ns) = self.jvmti.cpu_time(thread) {
            all.insert("cpu_ns".into(), ns.into());
        }
        if let Ok(Some(monitor)) = self.jvmti.contended_monitor(thread, self.jni) {
            all.insert("waits_for".into(), self.named(&monitor));
            self.jni.forget(monitor);
        }
        if let Ok(owned) = self.jvmti.owned_monitors(thread, self.jni) {
            let owned = owned.into_iter().map(|monitor| {
                let named = self.named(&monitor);
                self.jni.forget(monitor);
                named
            });
            all.insert("owns".into(), owned.collect());
        }
        if with_stack {
            let frames = stack.frames.iter().map(|frame| self.frame(frame, methods));
            all.insert("stack".into(), frames.collect());
        }
        all.into()
    }

    fn frame(self, frame: &Frame, methods: &mut HashMap<MethodId, Known>) -> Value {
        let known = methods.entry(frame.method).or_insert_with(|| self.known(frame.method));
        let line = known.lines.iter().filter(|(start, _)| *start <= frame.location).max();
        let mut all = Map::new();
        all.insert("class".into(), known.class.as_str().into());
        all.insert("method".into(), known.method.as_str().into());
        if frame.location < 0 {
            all.insert("native".into(), true.into());
        } else if let Some(file) = &known.file {
            all.insert("file".into(), file.as_str().into());
            if let Some((_, line)) = line {
                all.insert("line".into(), (*line).into());
            }
        }
        all.into()
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
    pub(super) fn monitors(self) -> Result<Value, String> {
        let stacks = self.jvmti.all_stacks(0, self.jni).map_err(reason)?;
        let mut found: Vec<(Option<i64>, Object<'a>)> = Vec::new();
        let mut all_told = true;
        for stack in &stacks {
            let owned = self.jvmti.owned_monitors(&stack.thread, self.jni);
            all_told &= owned.is_ok();
            let wanted = self.jvmti.contended_monitor(&stack.thread, self.jni).unwrap_or_default();
            for monitor in owned.unwrap_or_default().into_iter().chain(wanted) {
                let id = self.id(&monitor);
                if found.iter().any(|(known, _)| *known == id) {
                    self.jni.forget(monitor);
                } else {
                    found.push((id, monitor));
                }
            }
        }
        let monitors: Result<Vec<Value>, String> =
            found.iter().map(|(_, monitor)| self.one_monitor(monitor)).collect();
        Ok(json!({ "monitors": monitors?, "only_contended": !all_told }))
    }

    pub(super) fn monitor(self, id: i64) -> Result<Value, String> {
        self.one_monitor(&self.find(id)?)
    }

    pub(super) fn one_monitor(self, monitor: &Object<'a>) -> Result<Value, String> {
        let usage = self.jvmti.monitor_use(monitor, self.jni).map_err(reason)?;
        let named = |threads: Vec<Object<'a>>| {
            let one = |thread: Object<'a>| {
                let named = self.named_thread(&thread);
                self.jni.forget(thread);
                named
            };
            threads.into_iter().map(one).collect::<Vec<Value>>()
        };
        let (mut waiters, notify_waiters) = (named(usage.waiters), named(usage.notify_waiters));
        // Before 23 those that are to be notified are among them.
        waiters.retain(|thread| !notify_waiters.contains(thread));
        let mut all = json!({
            "id": self.id(monitor),
            "class": self.class_name_of(monitor),
            "entries": usage.entries,
            "waiters": waiters,
            "notify_waiters": notify_waiters,
        });
        if let Some(owner) = usage.owner {
            all["owner"] = self.named_thread(&owner);
            self.jni.forget(owner);
        }
        Ok(all)
    }
}
