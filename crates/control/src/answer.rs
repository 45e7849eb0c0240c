//! Answers to the requests of [`ctl`](crate::ctl), as both ends know them. What is not known is left out; members that a reader does not know
//! are skipped.

use crate::ctl::{Request, VERSION};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

/// What a request is answered by: see [`Answer::of`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    Status(Status),
    Threads(Threads),
    Thread(Thread),
    Classes(Classes),
    Class(ClassDetails),
    Object(ObjectDetails),
    Monitors(Monitors),
    Monitor(Monitor),
    Copied(Copied),
    HeapDump(HeapDump),
    Paused(Paused),
    Stopped(Stopped),
    Selected(Selected),
    Rooted(Rooted),
    Timed(Timed),
    Kept(Kept),
    Collected(Collected),
    Attached(Attached),
}

impl Answer {
    /// Reads the answer to a request.
    ///
    /// # Errors
    /// It is none to this request, and why.
    pub fn of(request: &Request, answer: Value) -> Result<Answer, String> {
        match request {
            Request::Status {} => read(answer).map(Answer::Status),
            Request::Threads { .. } => read(answer).map(Answer::Threads),
            Request::Thread { .. } => read(answer).map(Answer::Thread),
            Request::Classes { .. } => read(answer).map(Answer::Classes),
            Request::Class { .. } => read(answer).map(Answer::Class),
            Request::Object { .. } => read(answer).map(Answer::Object),
            Request::Monitors {} => read(answer).map(Answer::Monitors),
            Request::Monitor { .. } => read(answer).map(Answer::Monitor),
            Request::Snapshot { .. } | Request::Reset {} => read(answer).map(Answer::Copied),
            Request::HeapDump { .. } => read(answer).map(Answer::HeapDump),
            Request::Pause { .. } | Request::Resume {} => read(answer).map(Answer::Paused),
            Request::Exclude { .. } | Request::Include { .. } => read(answer).map(Answer::Selected),
            Request::Root { .. } | Request::Remove { .. } => read(answer).map(Answer::Rooted),
            Request::Region { .. } => read(answer).map(Answer::Timed),
            Request::Latency { .. } => read(answer).map(Answer::Kept),
            Request::Start { .. } => read(answer).map(Answer::Attached),
            Request::Stop {} => read(answer).map(Answer::Stopped),
            Request::Gc {} => read(answer).map(Answer::Collected),
        }
    }

    /// As it is sent.
    ///
    /// # Errors
    /// A path is not UTF-8.
    pub fn to_json(&self) -> Result<Value, String> {
        known(self)
    }
}

/// What is known of something, as JSON: members that are null are left out.
///
/// # Errors
/// A path is not UTF-8.
pub fn known(value: &impl Serialize) -> Result<Value, String> {
    let mut value = serde_json::to_value(value).map_err(|error| error.to_string())?;
    leave_out_unknown(&mut value);
    Ok(value)
}

/// Reads an answer of one kind.
///
/// # Errors
/// It is of another kind, and why.
pub fn read<T: DeserializeOwned>(answer: Value) -> Result<T, String> {
    serde_json::from_value(answer).map_err(|error| format!("the answer cannot be read: {error}"))
}

fn leave_out_unknown(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(leave_out_unknown);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_unknown),
        _ => {}
    }
}

/// The line of an answer, or of the reason why there is none, without its end.
pub fn answer_line(answer: Result<Answer, String>) -> String {
    match answer.and_then(|answer| answer.to_json()) {
        Ok(answer) => json!({ "v": VERSION, "ok": answer }),
        Err(reason) => json!({ "v": VERSION, "error": reason }),
    }
    .to_string()
}

/// Reads the line of an answer, which [`Answer::of`] or [`read`] takes.
///
/// # Errors
/// The reason of the program; or that the line is cut off, or of another version.
pub fn parse_answer(line: &[u8]) -> Result<Value, String> {
    let mut answer: Value =
        serde_json::from_slice(line).map_err(|error| format!("the answer is not complete: {error}"))?;
    if let Some(reason) = answer["error"].as_str() {
        return Err(reason.to_owned());
    }
    match answer["v"].as_u64() {
        Some(VERSION) => Ok(answer["ok"].take()),
        _ => Err("the agent of that program speaks another version of the protocol".to_owned()),
    }
}

/// The process, its virtual machine, what is recorded and where.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Status {
    /// Its process id.
    pub pid: u32,
    /// Version of the agent.
    pub agent: String,
    /// Main class or jar, and its arguments.
    pub command: Option<String>,
    /// Version of the virtual machine.
    pub java: Option<String>,
    /// Name of the virtual machine.
    pub vm: Option<String>,
    /// The options of the agent.
    pub options: String,
    /// `on`, `paused` or `off`.
    pub recording: Option<String>,
    /// Recordings begin and end on request, as often as wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub armed: bool,
    /// Option `record`.
    pub record: Option<String>,
    /// Option `burst`: recording is on in the first part of every period, and paused otherwise.
    pub burst: Option<String>,
    /// Option `timing`.
    pub timing: Option<String>,
    /// Options `root`.
    pub roots: Option<String>,
    /// The deepest call that is a context of its own.
    pub limit_depth: Option<String>,
    /// The most contexts of a thread.
    pub limit_contexts: Option<String>,
    /// Path of the profile; none: there is none so far.
    pub profile: Option<String>,
    /// Its size.
    pub profile_bytes: Option<u64>,
    /// How many threads were recorded.
    pub threads: Option<u64>,
    /// How often recording was paused.
    pub pauses: Option<u64>,
    /// For how long in all.
    pub paused_ns: Option<u64>,
}

/// Platform threads, all at one moment.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Threads {
    /// By their ids.
    pub threads: Vec<Thread>,
    /// The search for what threads wait for ended before everything was asked.
    pub waits_cut: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Thread {
    /// Java's.
    pub id: Option<i64>,
    /// As Java has it.
    pub name: Option<String>,
    /// Of the thread group; empty: the thread has ended.
    pub group: Option<String>,
    /// Whether the program may end before it.
    pub daemon: Option<bool>,
    /// 1 to 10.
    pub priority: Option<i32>,
    /// As `Thread.State` has it.
    pub state: String,
    /// More about the state: `parked`, `in native code`, ..
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// CPU time so far.
    pub cpu_ns: Option<i64>,
    /// The monitor that it waits to enter, or waits in.
    pub waits_for: Option<Object>,
    /// The monitors that it has.
    pub owns: Option<Vec<Object>>,
    /// The innermost frame first; none: not asked for.
    pub stack: Option<Vec<Frame>>,
}

/// A frame of a stack.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Frame {
    /// As Java calls it.
    pub class: String,
    /// Its name.
    pub method: String,
    /// Whether it has no bytecode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub native: bool,
    /// The source file.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<i32>,
}

/// An object as a part of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Object {
    /// Its tag.
    pub id: Option<i64>,
    /// As Java calls it.
    pub class: String,
}

/// A thread as a part of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct ThreadName {
    /// Java's.
    pub id: Option<i64>,
    /// As Java has it.
    pub name: String,
}

/// Classes that are loaded.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Classes {
    /// Those whose objects take the most bytes first, if these were counted; else by name.
    pub classes: Vec<Class>,
}

/// A class in a list.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Class {
    /// As Java calls it.
    pub name: String,
    pub loader: Option<Loader>,
    /// Its objects, if they were counted.
    pub instances: Option<u64>,
    pub bytes: Option<u64>,
}

/// A class loader: an object, or the one of the virtual machine, which has only a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Loader {
    /// `boot`.
    pub name: Option<String>,
    /// Its tag.
    pub id: Option<i64>,
    /// As Java calls it.
    pub class: Option<String>,
}

/// All classes of one name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct ClassDetails {
    /// One for each loader.
    pub classes: Vec<OneClass>,
}

/// What a class is made of.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct OneClass {
    /// Tag of the `java.lang.Class`.
    pub id: Option<i64>,
    /// As Java calls it.
    pub name: String,
    pub loader: Option<Loader>,
    /// The source file.
    pub source: Option<String>,
    /// `verified`, `initialized`, ..
    pub status: Option<Vec<String>>,
    /// `public final`, ..
    pub modifiers: Option<String>,
    /// The class that it extends.
    pub superclass: Option<String>,
    /// Those that it implements itself.
    pub interfaces: Vec<String>,
    /// In the order of the class file.
    pub fields: Option<Vec<Field>>,
    /// In the order of the class file.
    pub methods: Option<Vec<Method>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Field {
    pub name: String,
    /// As Java calls it.
    pub r#type: String,
    /// `private static`, ..
    pub modifiers: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Method {
    pub name: String,
    /// JVMS 4.3.3.
    pub descriptor: String,
    /// `public synchronized`, ..
    pub modifiers: String,
    /// Its id in the profile, if it is recorded.
    pub id: Option<u32>,
    /// Length of its code as the virtual machine has it now, in bytes (JVMS 4.7.3).
    pub code_bytes: Option<usize>,
    /// CRC-32 of that code: two methods with another one have other code.
    pub code_crc32: Option<u32>,
}

/// What is known of an object.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct ObjectDetails {
    /// Its id and class.
    #[serde(flatten)]
    pub object: Object,
    /// Its size.
    pub bytes: i64,
    /// Who has its monitor, and who wants it.
    pub monitor: Monitor,
    /// Who made it, if `heap=objects` follows it.
    pub made: Option<Made>,
}

/// Where an object was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Made {
    /// Ordinal of the thread in the profile.
    pub thread: u32,
    /// Number of the context in the profile.
    pub context: u32,
    /// The methods of the context, the innermost first.
    pub stack: Vec<String>,
}

/// Monitors that a thread has or waits for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Monitors {
    /// In the order of the threads.
    pub monitors: Vec<Monitor>,
    /// The virtual machine does not say which monitors threads have.
    pub only_contended: bool,
    /// As of [`Threads`].
    pub waits_cut: bool,
}

/// Who has a monitor, and who wants it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Monitor {
    /// Whose monitor it is.
    #[serde(flatten)]
    pub object: Object,
    pub owner: Option<ThreadName>,
    /// How often the owner has entered it.
    pub entries: i32,
    /// Threads that wait to enter it.
    pub waiters: Vec<ThreadName>,
    /// Threads in `Object.wait`.
    pub notify_waiters: Vec<ThreadName>,
}

/// A copy of the profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Copied {
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// How long the program stood still for it.
    pub stopped_ns: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct HeapDump {
    pub file: PathBuf,
    /// Objects and arrays in it.
    pub objects: u64,
    pub classes: u64,
    /// Its size.
    pub bytes: u64,
    /// Arrays that are too long for the format.
    pub cut: u64,
}

/// Recording was paused or resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Paused {
    /// `on` or `paused`.
    pub recording: Option<String>,
    /// Whether it was not so before.
    pub changed: bool,
    /// How often recording was paused.
    pub pauses: Option<u64>,
    /// For how long in all.
    pub paused_ns: Option<u64>,
    /// Classes that have other bytes since: their own until recording resumes, or new ones again.
    pub classes: u64,
    /// Those that the virtual machine has refused to change.
    pub refused: u64,
    /// What that took.
    pub ns: u64,
}

/// Methods were excluded, or included again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Selected {
    /// Methods that lost or got their probes.
    pub methods: u64,
    pub classes: u64,
    /// Roots that fit; they stay as they are.
    pub roots: u64,
    /// What rewriting the classes took.
    pub ns: u64,
}

/// Roots were added or removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Rooted {
    /// The roots from now on, as they were given.
    pub roots: Vec<String>,
    /// What is rewritten for them.
    pub subgraph: Subgraph,
    /// How many classes have their own bytes again.
    pub restored: u64,
    /// Patterns that nothing fitted so far, each with its option.
    pub unmatched: Vec<(String, String)>,
    /// What rewriting the classes took, all at once.
    pub ns: u64,
}

/// Code regions were added or removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Timed {
    /// The regions that are timed from now on, as they were given.
    pub regions: Vec<String>,
    /// How many classes that are loaded were rewritten for the change.
    pub classes: u64,
    /// Regions of the request that are not timed so far, each with the reason.
    pub faults: Vec<(String, String)>,
    /// What rewriting the classes took, all at once.
    pub ns: u64,
}

/// Methods have their durations kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Kept {
    /// How many methods that are recorded so far fit the request.
    pub methods: u64,
    /// How many of them had their durations kept before, with another threshold, and keep that one.
    pub other_threshold: u64,
    /// All patterns from now on, with their thresholds.
    pub patterns: Vec<String>,
}

/// A recording has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Stopped {
    /// Path of the complete profile.
    pub profile: Option<String>,
    /// How many classes have their own bytes again.
    pub classes: u64,
    /// How many the virtual machine refused to change back.
    pub refused: u64,
    /// Patterns that nothing fitted, each with its option.
    pub unmatched: Vec<(String, String)>,
    /// What changing back took.
    pub ns: u64,
}

/// Garbage was collected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Collected {
    pub ns: u64,
}

/// A recording has begun: what the agent writes into the file of [`attach`](crate::attach), and answers to `start`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Attached {
    /// Path of the profile.
    pub profile: String,
    /// Patterns that nothing fitted so far, each with its option.
    pub unmatched: Vec<(String, String)>,
    /// What is rewritten, if that is what the roots can call.
    pub subgraph: Option<Subgraph>,
    /// How long the program stood still for classes that were loaded.
    pub standstill: Standstill,
}

/// How long a program stood still while classes that were loaded got new bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Standstill {
    pub stops: u64,
    pub ns: u64,
    pub longest_ns: u64,
    /// Classes that have new bytes.
    pub classes: usize,
    /// Those that the virtual machine refused.
    pub refused: usize,
    /// Those that were left out, so that it stands still no longer.
    pub left_out: usize,
    /// Those that were not linked: they are taken when they are.
    pub later: usize,
}

/// What is rewritten with `subgraph=on`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Subgraph {
    /// Classes that were looked at.
    pub classes: usize,
    /// Those with methods that are rewritten.
    pub rewritten_classes: usize,
    /// Methods that are rewritten.
    pub methods: usize,
    /// Those of them that other code than the program's can call.
    pub callbacks: usize,
    /// Classes with methods that the roots can call, by the classes that are loaded, and with callbacks.
    pub hull_classes: usize,
    pub hull_methods: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_end_writes_the_other_reads() {
        let thread = Thread {
            id: Some(1),
            name: Some("main".to_owned()),
            state: "RUNNABLE".to_owned(),
            owns: Some(Vec::new()),
            stack: Some(vec![Frame { class: "A".to_owned(), native: true, ..Frame::default() }]),
            ..Thread::default()
        };
        let line = answer_line(Ok(Answer::Thread(thread.clone())));
        assert_eq!(
            line,
            r#"{"ok":{"id":1,"name":"main","owns":[],"stack":[{"class":"A","method":"","native":true}],"state":"RUNNABLE"},"v":1}"#
        );
        let answer = parse_answer(line.as_bytes()).unwrap();
        let request = Request::Thread { id: Some(1), name: None };
        assert_eq!(Answer::of(&request, answer), Ok(Answer::Thread(thread)));
    }

    #[test]
    fn the_id_and_class_of_a_monitor_are_its_own_members() {
        let object = Object { id: Some(7), class: "A".to_owned() };
        let monitor = Monitor { object: object.clone(), ..Monitor::default() };
        let all = Answer::Object(ObjectDetails { object, bytes: 16, monitor, made: None });
        let answer = all.to_json().unwrap();
        let monitor = json!({ "id": 7, "class": "A", "entries": 0, "waiters": [], "notify_waiters": [] });
        assert_eq!(answer, json!({ "id": 7, "class": "A", "bytes": 16, "monitor": monitor }));
        assert_eq!(Answer::of(&Request::Object { id: 7 }, answer), Ok(all));
    }

    #[test]
    fn members_of_a_newer_agent_are_skipped_and_other_kinds_are_refused() {
        let gc = Answer::of(&Request::Gc {}, json!({ "ns": 5, "collector": "G1" }));
        assert_eq!(gc, Ok(Answer::Collected(Collected { ns: 5 })));
        let error = Answer::of(&Request::Gc {}, json!({ "ns": "soon" })).unwrap_err();
        assert!(error.starts_with("the answer cannot be read: "), "{error}");
    }

    #[test]
    fn a_line_is_an_answer_or_a_reason() {
        assert_eq!(parse_answer(answer_line(Err("no".to_owned())).as_bytes()), Err("no".to_owned()));
        assert!(parse_answer(b"{\"v\":1,").unwrap_err().contains("not complete"));
        assert!(parse_answer(b"{\"v\":2,\"ok\":1}").unwrap_err().contains("another version"));
    }
}
