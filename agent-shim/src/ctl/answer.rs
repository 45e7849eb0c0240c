//! Which request is answered by what; and how threads, objects and classes are named in answers.

use super::server::Asked;
use crate::events::environments;
use crate::heap;
use crate::jvmti::{JvmtiError, Object};
use crate::recording::agent::AGENT;
use crate::recording::agent::Agent;
use crate::recording::armed;
use crate::recording::beginning::Beginning;
use crate::recording::sessions;
use instrument_control::answer::{self, Answer, Attached, Collected, Status, Stopped, ThreadName};
use instrument_control::ctl::Request;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Tags above it are given here.
const FIRST_TAG: i64 = 1 << 40;

/// Why something is not known.
pub(super) fn reason(error: JvmtiError) -> String {
    match error.0 {
        99 => "this JVM does not support it".to_owned(),
        112 => "the program ends".to_owned(),
        _ => error.to_string(),
    }
}

/// Answers a request.
pub(crate) fn answer(asked: Asked<'_>, request: Request) -> Result<Answer, String> {
    asked.answer(request)
}

impl<'a> Asked<'a> {
    fn answer(self, request: Request) -> Result<Answer, String> {
        match request {
            Request::Status {} => self.status().map(Answer::Status),
            Request::Threads { stacks } => self.threads(stacks).map(Answer::Threads),
            Request::Thread { id: Some(id), name: None } => self.thread(id).map(Answer::Thread),
            Request::Thread { id: None, name: Some(name) } => self.thread_by_name(&name).map(Answer::Thread),
            Request::Thread { .. } => Err("a thread has an id or a name".to_owned()),
            Request::Classes { pattern, instances } => {
                self.classes(pattern.as_deref(), instances).map(Answer::Classes)
            }
            Request::Class { name: Some(name), id: None } => self.class_by_name(&name).map(Answer::Class),
            Request::Class { name: None, id: Some(id) } => self.class_by_id(id).map(Answer::Class),
            Request::Class { .. } => Err("a class has a name or an id".to_owned()),
            Request::Object { id } => self.object(id).map(Answer::Object),
            Request::Monitors {} => self.monitors().map(Answer::Monitors),
            Request::Monitor { id } => self.monitor(id).map(Answer::Monitor),
            Request::Snapshot { file } => self.snapshot(&file).map(Answer::Copied),
            Request::Reset {} => self.reset().map(Answer::Copied),
            Request::HeapDump { file } => self.heap_dump(&file).map(Answer::HeapDump),
            Request::Pause { bare } => self.pause(bare).map(Answer::Paused),
            Request::Resume {} => self.resume().map(Answer::Paused),
            Request::Exclude { methods } => self.select(true, &methods).map(Answer::Selected),
            Request::Include { methods } => self.select(false, &methods).map(Answer::Selected),
            Request::Root { methods } => self.add_roots(&methods).map(Answer::Rooted),
            Request::Remove { methods } => self.remove_roots(&methods).map(Answer::Rooted),
            Request::Region { regions, remove } => self.change_regions(!remove, &regions).map(Answer::Timed),
            Request::Latency { methods } => self.keep_durations(&methods).map(Answer::Kept),
            Request::Start { options } => self.start(options.as_deref()).map(Answer::Attached),
            Request::Stop {} => self.stop().map(Answer::Stopped),
            Request::Gc {} => self.gc().map(Answer::Collected),
        }
    }

    fn status(self) -> Result<Status, String> {
        let told = self.agent.map(|agent| agent.told.clone());
        let told = told.or_else(|| armed::get().map(|armed| armed.options.clone())).unwrap_or_default();
        // The recorder would tell of the one before.
        let mut recording = match self.agent {
            Some(_) => self.recording()?,
            None => HashMap::from([("recording".to_owned(), "off".to_owned())]),
        };
        let property = |key: &str| self.jvmti.system_property(key);
        let number = |key: &str| recording.get(key).and_then(|number| number.parse().ok());
        let (threads, pauses, paused_ns) = (number("threads"), number("pauses"), number("paused.ns"));
        let mut text = |key: &str| recording.remove(key);
        // The recorder knows those of the beginning.
        let followed = self.agent.filter(|agent| agent.hook.subgraph().is_some());
        let roots = text("roots");
        let roots = followed.map(|agent| agent.hook.roots().join(",")).or(roots);
        let profile = text("file");
        let bytes = profile.as_ref().and_then(|file| std::fs::metadata(file).ok());
        Ok(Status {
            pid: std::process::id(),
            agent: env!("CARGO_PKG_VERSION").to_owned(),
            command: text("command").or_else(|| property("sun.java.command")),
            java: property("java.vm.version").or_else(|| text("java.vm.version")),
            vm: property("java.vm.name"),
            options: told,
            recording: text("recording"),
            armed: armed::get().is_some(),
            record: text("record"),
            burst: text("burst"),
            timing: text("timing"),
            roots,
            limit_depth: text("limit.depth"),
            limit_contexts: text("limit.contexts"),
            profile,
            profile_bytes: bytes.map(|file| file.len()),
            threads,
            pauses,
            paused_ns,
        })
    }

    /// The recording that goes on.
    pub(super) fn recorded(self) -> Result<&'a Agent, String> {
        let pid = std::process::id();
        self.agent.ok_or_else(|| {
            format!("nothing is recorded: the program is armed, and `instrument ctl {pid} start` or `instrument attach {pid}` begins a recording")
        })
    }

    /// What the recorder says of itself.
    pub(super) fn recording(self) -> Result<HashMap<String, String>, String> {
        self.recorded()?;
        let lines = self.jni.call_for_bytes(&self.methods.status).ok_or("the recorder does not answer")?;
        let text = String::from_utf8_lossy(&lines);
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Ok(pairs.map(|(key, value)| (key.to_owned(), unescaped(value))).collect())
    }

    /// Begins a recording, with the options that the program was armed with if none are given.
    fn start(self, options: Option<&str>) -> Result<Attached, String> {
        let pid = std::process::id();
        let armed = armed::get().ok_or_else(|| {
            format!("the program is not armed: `instrument attach {pid}` begins a recording when this one has ended")
        })?;
        let jvmti = environments::known().ok_or("there is no environment for it")?;
        crate::recording::record(jvmti, self.jni, options.unwrap_or(&armed.options), Beginning::Request, None)
    }

    /// Ends the recording: nothing of it stays in the program.
    fn stop(self) -> Result<Stopped, String> {
        let _one_at_a_time = sessions::changing();
        let profile = self.recording()?.remove("file");
        // Before: it is forgotten with the recording.
        let unmatched = self.recorded()?.hook.unfitted();
        let removed = sessions::stop(self.jvmti, self.jni, &AGENT).ok_or("nothing is recorded")?;
        Ok(Stopped {
            profile,
            classes: removed.classes as u64,
            refused: removed.refused as u64,
            unmatched,
            ns: removed.time.as_nanos() as u64,
        })
    }

    fn gc(self) -> Result<Collected, String> {
        let start = std::time::Instant::now();
        self.jvmti.force_gc().map_err(reason)?;
        Ok(Collected { ns: start.elapsed().as_nanos() as u64 })
    }

    // ---- names ----

    /// The number of an object that has a biography; else its tag, which it gets if it has none.
    pub(super) fn id(self, object: &Object<'_>) -> Option<i64> {
        static NEXT: AtomicI64 = AtomicI64::new(FIRST_TAG + 1);
        let numbers = heap::Numbers::of_objects();
        if let Some(number @ 1..) = numbers.and_then(|numbers| numbers.jvmti.tag(object).ok()) {
            return Some(number);
        }
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
            FIRST_TAG.. => self.jvmti.objects_with_tag(id, self.jni).map_err(reason)?,
            number => match heap::Numbers::of_objects() {
                Some(numbers) => numbers.jvmti.objects_with_tag(number, self.jni).map_err(reason)?,
                None => Vec::new(),
            },
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
    pub(super) fn named(self, object: &Object<'_>) -> answer::Object {
        answer::Object { id: self.id(object), class: self.class_name_of(object) }
    }

    /// A thread as a part of an answer: its id and name.
    pub(super) fn named_thread(self, thread: &Object<'_>) -> ThreadName {
        let name = self.jvmti.thread_info(thread, self.jni).map(|info| info.name).unwrap_or_default();
        ThreadName { id: self.thread_id(thread), name }
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
