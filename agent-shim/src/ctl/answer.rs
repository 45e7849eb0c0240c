//! Which request is answered by what; and how threads, objects and classes are named in answers.

use super::methods::Methods;
use crate::jvmti::{Jni, Jvmti, JvmtiError, Object};
use crate::{AGENT, Agent, sessions};
use instrument_control::ctl::Request;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Tags above it are given here.
const FIRST_TAG: i64 = 1 << 40;

/// A request that is being answered, within one frame of local references.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) jvmti: Jvmti<'a>,
    pub(super) jni: Jni<'a>,
    pub(super) agent: &'a Agent,
    pub(super) methods: &'a Methods,
}

/// Why something is not known.
pub(super) fn reason(error: JvmtiError) -> String {
    match error.0 {
        99 => "this JVM does not support it".to_owned(),
        112 => "the program ends".to_owned(),
        _ => error.to_string(),
    }
}

impl<'a> Asked<'a> {
    pub(super) fn answer(self, request: Request) -> Result<Value, String> {
        match request {
            Request::Status {} => self.status(),
            Request::Threads { stacks } => self.threads(stacks),
            Request::Thread { id: Some(id), name: None } => self.thread(id),
            Request::Thread { id: None, name: Some(name) } => self.thread_by_name(&name),
            Request::Thread { .. } => Err("a thread has an id or a name".to_owned()),
            Request::Classes { pattern, instances } => self.classes(pattern.as_deref(), instances),
            Request::Class { name: Some(name), id: None } => self.class_by_name(&name),
            Request::Class { name: None, id: Some(id) } => self.class_by_id(id),
            Request::Class { .. } => Err("a class has a name or an id".to_owned()),
            Request::Object { id } => self.object(id),
            Request::Monitors {} => self.monitors(),
            Request::Monitor { id } => self.monitor(id),
            Request::Snapshot { file } => self.snapshot(&file),
            Request::Reset {} => self.reset(),
            Request::HeapDump { file } => self.heap_dump(&file),
            Request::Pause {} => self.pause(true),
            Request::Resume {} => self.pause(false),
            Request::Stop {} => self.stop(),
            Request::Gc {} => self.gc(),
        }
    }

    fn status(self) -> Result<Value, String> {
        let mut status = self.recording()?;
        let told = |key: &str| self.jvmti.system_property(key).map(Value::from);
        let mut all = Map::new();
        all.insert("pid".into(), std::process::id().into());
        all.insert("agent".into(), env!("CARGO_PKG_VERSION").into());
        all.insert("command".into(), status.remove("command").or(told("sun.java.command")).into());
        all.insert("java".into(), told("java.vm.version").or(status.remove("java.vm.version")).into());
        all.insert("vm".into(), told("java.vm.name").into());
        all.insert("options".into(), self.agent.told.as_str().into());
        for key in ["recording", "record", "timing", "roots", "limit.depth", "limit.contexts"] {
            all.insert(key.replace('.', "_"), status.remove(key).into());
        }
        let file = status.remove("file");
        let bytes = file.as_ref().and_then(|file| std::fs::metadata(file.as_str()?).ok());
        all.insert("profile".into(), file.into());
        all.insert("profile_bytes".into(), bytes.map(|file| file.len()).into());
        for (key, name) in [("threads", "threads"), ("pauses", "pauses"), ("paused.ns", "paused_ns")] {
            let number = status.get(key).and_then(|n| n.as_str()?.parse::<u64>().ok());
            all.insert(name.into(), number.into());
        }
        all.retain(|_, value| !value.is_null());
        Ok(all.into())
    }

    /// What the recorder says of itself: texts.
    pub(super) fn recording(self) -> Result<Map<String, Value>, String> {
        let lines = self.jni.call_for_bytes(&self.methods.status).ok_or("the recorder does not answer")?;
        let text = String::from_utf8_lossy(&lines);
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Ok(pairs.map(|(key, value)| (key.to_owned(), unescaped(value).into())).collect())
    }

    fn pause(self, on: bool) -> Result<Value, String> {
        let before = self.recording()?;
        let was_on = before.get("recording").is_some_and(|state| state == "paused");
        if !self.methods.pause(self.jni, on) {
            return Err("the recorder does not answer".to_owned());
        }
        let after = self.recording()?;
        let number = |key: &str| after.get(key).and_then(|n| n.as_str()?.parse::<u64>().ok());
        Ok(json!({
            "recording": after.get("recording"),
            "changed": was_on != on,
            "pauses": number("pauses"),
            "paused_ns": number("paused.ns"),
        }))
    }

    /// Ends the recording: nothing of it stays in the program.
    fn stop(self) -> Result<Value, String> {
        let profile = self.recording()?.remove("file");
        // Before: it is forgotten with the recording.
        let unmatched = self.agent.hook.unfitted();
        let removed = sessions::stop(self.jvmti, self.jni, &AGENT).ok_or("nothing is recorded")?;
        Ok(json!({
            "profile": profile,
            "classes": removed.classes,
            "refused": removed.refused,
            "unmatched": unmatched,
            "ns": removed.time.as_nanos() as u64,
        }))
    }

    fn gc(self) -> Result<Value, String> {
        let start = std::time::Instant::now();
        self.jvmti.force_gc().map_err(reason)?;
        Ok(json!({ "ns": start.elapsed().as_nanos() as u64 }))
    }

    // ---- names ----

    /// The tag of an object, which gets one if it has none.
    pub(super) fn id(self, object: &Object<'_>) -> Option<i64> {
        static NEXT: AtomicI64 = AtomicI64::new(FIRST_TAG + 1);
        match self.jvmti.tag(object).ok()? {
            0 => {
                let tag = NEXT.fetch_add(1, Relaxed);
                self.jvmti.set_tag(object, tag).ok()?;
                Some(tag)
            }
            tag => Some(tag),
        }
    }

    /// The one object with a tag.
    pub(super) fn find(self, id: i64) -> Result<Object<'a>, String> {
        let found = match id {
            // All that have no tag.
            0 => Vec::new(),
            id => self.jvmti.objects_with_tag(id, self.jni).map_err(reason)?,
        };
        found.into_iter().next().ok_or_else(|| format!("no object has the id {id}; it may be gone"))
    }

    /// The name of the class of an object.
    pub(super) fn class_name_of(self, object: &Object<'_>) -> String {
        let class = self.jni.class_of(object);
        let name = self.name(&class);
        self.jni.forget(class);
        name
    }

    /// The name of a class.
    pub(super) fn name(self, class: &Object<'a>) -> String {
        self.jvmti.signature(class).map_or_else(|| "?".to_owned(), |signature| java_name(&signature))
    }

    /// An object as a part of an answer: its id and class.
    pub(super) fn named(self, object: &Object<'_>) -> Value {
        json!({ "id": self.id(object), "class": self.class_name_of(object) })
    }

    /// A thread as a part of an answer: its id and name.
    pub(super) fn named_thread(self, thread: &Object<'_>) -> Value {
        let name = self.jvmti.thread_info(thread, self.jni).map(|info| info.name).unwrap_or_default();
        json!({ "id": self.thread_id(thread), "name": name })
    }

    /// The number that Java gives a thread; read, and not asked for: that could be a method of the program.
    pub(super) fn thread_id(self, thread: &Object<'_>) -> Option<i64> {
        self.jni.long_field(thread, "java/lang/Thread", "tid")
    }
}

/// A line break or backslash in a property is escaped.
fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        match (c, c == '\\') {
            (_, true) => match characters.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some(other) => text.push(other),
                None => {}
            },
            (c, _) => text.push(c),
        }
    }
    text
}

/// `java.lang.String[]` for `[Ljava/lang/String;`.
pub(super) fn java_name(signature: &str) -> String {
    let element = signature.trim_start_matches('[');
    let dimensions = signature.len() - element.len();
    let name = match element {
        "Z" => "boolean".to_owned(),
        "B" => "byte".to_owned(),
        "C" => "char".to_owned(),
        "S" => "short".to_owned(),
        "I" => "int".to_owned(),
        "J" => "long".to_owned(),
        "F" => "float".to_owned(),
        "D" => "double".to_owned(),
        "V" => "void".to_owned(),
        _ => {
            let name = element.strip_prefix('L').and_then(|name| name.strip_suffix(';'));
            // Hidden classes have a dot in theirs, and a slash in their name.
            let swapped = |c| match c {
                '/' => '.',
                '.' => '/',
                c => c,
            };
            name.unwrap_or(element).chars().map(swapped).collect()
        }
    };
    name + &"[]".repeat(dimensions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_called_as_java_calls_them() {
        for (signature, name) in [
            ("Ljava/lang/String;", "java.lang.String"),
            ("[[I", "int[][]"),
            ("[La$b;", "a$b[]"),
            ("LHidden.0x12;", "Hidden/0x12"),
            ("Z", "boolean"),
        ] {
            assert_eq!(java_name(signature), name);
        }
    }

    #[test]
    fn properties_are_unescaped() {
        assert_eq!(unescaped(r"a\\n\nb\"), "a\\n\nb");
    }
}
