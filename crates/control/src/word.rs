//! Options whose value is one of a few words. The command line, `instrument.toml` and the agent's option string take the same words.

use instrument_names::word::{Word, words};
use instrument_rewriter::rewrite::Transforms;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

words! {
    /// What is inserted.
    Transform {
        MethodEvents = "method-events": "Entry and exit of every method",
        Bytecodes = "bytecodes": "How many bytecode instructions each call executes, exactly (with method-events, and --record counts or tree)",
        Lines = "lines": "How often every line and branch is executed, exactly, for export --format lcov and jacoco",
        Allocation = "allocation": "Every allocation: each object that a rewritten class makes with `new`, arrays and copies",
        ArrayAllocation = "array-allocation": "Arrays and copies only",
        ObjectInit = "object-init": "Every object, by the constructor of java.lang.Object (for that class only)",
        ThreadLinks = "thread-links": "Which call started a thread",
        HandOver = "hand-over": "Which call handed a task to an executor, a completable future, fork and join or a timer",
        Rmi = "rmi": "Remote calls: of stubs and skeletons, and those that reach a method of a remote interface in the inputs; all of them with `instrument run`, with --launcher-agent, or with `instrument jdk-patch`",
        RemoteHttp = "remote-http": "Requests by HTTP as remote calls, made by HttpClient, HttpURLConnection, Apache HttpClient and OkHttp, and served by servlets and HttpServer; the same as --remote http",
        RemoteGrpc = "remote-grpc": "Calls by gRPC, made and served, streams included; the same as --remote grpc",
        RemoteJms = "remote-jms": "Messages by JMS, sent and received; the same as --remote jms",
        Jdbc = "jdbc": "Statements that are sent to databases by java.sql, each text as a call of its own, without its literals (with method-events)",
        Http = "http": "Requests by HTTP that are made and served, each address as a call of its own, without its literals (with method-events)",
        Files = "files": "Files that are opened, copied, moved and deleted, each path as a call of its own, without its numbers (with method-events)",
        Waits = "waits": "Calls of the JDK's methods that wait (sleep, wait, join, park, take, get, lock, accept, select, ..), so that reports can tell waiting from running time",
    }
}

impl Transform {
    /// Where the rewriter's set has it.
    fn flag(self, of: &mut Transforms) -> &mut bool {
        match self {
            Self::MethodEvents => &mut of.method_events,
            Self::Bytecodes => &mut of.bytecodes,
            Self::Lines => &mut of.lines,
            Self::Allocation => &mut of.allocation,
            Self::ArrayAllocation => &mut of.array_allocation,
            Self::ObjectInit => &mut of.object_init,
            Self::ThreadLinks => &mut of.thread_links,
            Self::Waits => &mut of.waits,
            Self::HandOver => &mut of.hand_over,
            Self::Jdbc => &mut of.jdbc,
            Self::Http => &mut of.http,
            Self::Files => &mut of.files,
            Self::Rmi => &mut of.rmi,
            Self::RemoteHttp => &mut of.remote_http,
            Self::RemoteGrpc => &mut of.remote_grpc,
            Self::RemoteJms => &mut of.remote_jms,
        }
    }

    /// These as the rewriter takes them.
    pub fn set(list: &[Transform]) -> Transforms {
        let mut set = Transforms::NONE;
        for transform in list {
            *transform.flag(&mut set) = true;
        }
        (set.given_tasks, set.streams) = (set.hand_over, set.hand_over);
        set.references = set.hand_over || set.thread_links;
        set
    }

    /// Those of a set, as far as they have a word.
    pub fn list(mut of: Transforms) -> Vec<Transform> {
        let all = Self::WORDS.iter().map(|(_, transform, _)| *transform);
        all.filter(|transform| *transform.flag(&mut of)).collect()
    }

    /// What is inserted if nobody says: nothing around a code region, whose time everything that is recorded would be part of; and
    /// without times there is no waiting time to tell apart.
    pub fn defaults(with_regions: bool, record: Record) -> &'static [Transform] {
        use Transform::{MethodEvents, ThreadLinks, Waits};
        match (with_regions, record) {
            (true, _) | (false, Record::Samples) => &[],
            (false, Record::Counts) => &[MethodEvents, ThreadLinks],
            (false, _) => &[MethodEvents, ThreadLinks, Waits],
        }
    }
}

words! {
    /// Which calls are split by a value, so that each value is a call of its own.
    Values {
        Jdbc = "jdbc": "Statements of java.sql, by their texts without literals; the same as --transform jdbc",
        Http = "http": "Requests that HttpClient and HttpURLConnection make and servlets serve, by address without query and literals; the same as --transform http",
        Files = "files": "Files that are opened, copied, moved and deleted, by their paths without numbers; the same as --transform files",
    }
}

impl Values {
    /// What is inserted for it.
    pub fn transform(self) -> Transform {
        match self {
            Self::Jdbc => Transform::Jdbc,
            Self::Http => Transform::Http,
            Self::Files => Transform::Files,
        }
    }
}

words! {
    /// Which calls between processes are recorded at both ends, so that `merge` finds which is which.
    Remote {
        Rmi = "rmi": "Remote method invocation; the same as --transform rmi",
        Http = "http": "Requests by HTTP, by their traceparent headers; the same as --transform remote-http",
        Grpc = "grpc": "Calls by gRPC, by the same header in their metadata; the same as --transform remote-grpc",
        Jms = "jms": "Messages by JMS, by their ids; the same as --transform remote-jms",
    }
}

impl Remote {
    /// What is inserted for it.
    pub fn transform(self) -> Transform {
        match self {
            Self::Rmi => Transform::Rmi,
            Self::Http => Transform::RemoteHttp,
            Self::Grpc => Transform::RemoteGrpc,
            Self::Jms => Transform::RemoteJms,
        }
    }
}

words! {
    /// Which calls into libraries are recorded.
    LibraryCalls {
        None = "none": "None",
        TopLevel = "top-level": "Calls that instrumented methods make; not what happens beneath",
        All = "all": "Libraries are instrumented, too; calls of what cannot be",
    }
}

words! {
    /// What a run records.
    Record {
        Off = "off": "Nothing, in this run; the program runs as it is. For what is rewritten it is the same as tree",
        Counts = "counts": "Exact counts per method",
        Tree = "tree": "Each thread's calling context tree",
        Trace = "trace": "Every event",
        Samples = "samples": "Whole stacks, 100 times a second of CPU time (--sample-rate); nothing is rewritten and no call is counted: for run and attach",
    }
}

words! {
    /// What is recorded of objects.
    Heap {
        Counts = "counts": "How many, of which class, in which context",
        Objects = "objects": "Each with its birth and its end",
    }
}

words! {
    /// Whether the virtual machine is asked who has a monitor, which stops all threads.
    Owners {
        On = "on": "As long as that takes 2 % of the time or less",
        All = "all": "For every wait",
        Off = "off": "Never",
    }
}

words! {
    /// The clock of the probes.
    Clock {
        Tsc = "tsc": "The processor's time-stamp counter (TSC), if it is the clock source of Linux",
        Monotonic = "monotonic": "System.nanoTime()",
    }
}

/// How often stacks are sampled.
#[derive(Debug)]
pub struct SampleRate;

impl SampleRate {
    /// In a second of CPU time, unless somebody says otherwise.
    pub const USUAL: u32 = 100;
    /// The most.
    pub const MAX: u32 = 1000;
}

words! {
    /// What is sampled with `record=samples`.
    SampleEvent {
        Cpu = "cpu": "CPU time",
        Wall = "wall": "Time, whether threads run or wait",
        Cycles = "cycles": "Cycles of the processor",
        Instructions = "instructions": "Instructions of the processor",
        CacheMisses = "cache-misses": "Accesses to memory that no cache could serve",
        BranchMisses = "branch-misses": "Branches that the processor predicted wrongly",
        PageFaults = "page-faults": "Pages that the kernel had to bring in, as for memory that is used for the first time",
    }
}

impl SampleEvent {
    /// Whether it is time, of which [`SampleRate`] says how often it is sampled.
    pub fn is_time(self) -> bool {
        matches!(self, SampleEvent::Cpu | SampleEvent::Wall)
    }
}

/// A sampled event, as `EVENT` or `EVENT:N`: a sample each time it has occurred N times in a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampledEvent {
    /// What is counted.
    pub event: SampleEvent,
    period: Option<u64>,
}

impl SampledEvent {
    /// CPU time, sampled as often as [`SampleRate`] says.
    pub const CPU: SampledEvent = SampledEvent { event: SampleEvent::Cpu, period: None };

    /// Events between two samples of a thread. No power of ten, in which programs do things.
    pub fn period(self) -> u64 {
        self.period.unwrap_or(match self.event {
            SampleEvent::Cpu | SampleEvent::Wall => 0,
            SampleEvent::Cycles | SampleEvent::Instructions => 19_999_999,
            SampleEvent::CacheMisses | SampleEvent::BranchMisses => 49_999,
            SampleEvent::PageFaults => 97,
        })
    }

    /// With fewer a program would do little but be sampled.
    fn least(event: SampleEvent) -> u64 {
        match event {
            SampleEvent::Cpu | SampleEvent::Wall | SampleEvent::PageFaults => 1,
            SampleEvent::Cycles | SampleEvent::Instructions => 100_000,
            SampleEvent::CacheMisses | SampleEvent::BranchMisses => 1_000,
        }
    }
}

impl FromStr for SampledEvent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, number) = match text.split_once(':') {
            Some((word, number)) => (word, Some(number)),
            None => (text, None),
        };
        let event = SampleEvent::of(word)?;
        let Some(number) = number else { return Ok(SampledEvent { event, period: None }) };
        if event.is_time() {
            return Err("how often time is sampled is said by the sample rate".to_owned());
        }
        let least = Self::least(event);
        let period = number.parse().ok().filter(|period| (least..=1 << 40).contains(period));
        let period =
            period.ok_or_else(|| format!("`{number}` is not a number from {least} to {}", 1u64 << 40))?;
        Ok(SampledEvent { event, period: Some(period) })
    }
}

impl fmt::Display for SampledEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.event.word())?;
        self.period.map_or(Ok(()), |period| write!(f, ":{period}"))
    }
}

/// Where times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Timing {
    /// Samples of the threads' CPU time; calls of a tree that wait are timed.
    Samples,
    /// There are none: counts alone.
    None,
    /// As many calls are timed as their length allows: long ones all, short ones seldom.
    Auto,
    /// All calls are timed.
    All,
    /// One call in so many is timed, on average; at most [`Timing::MAX_EVERY`].
    Every(u32),
}

impl Timing {
    /// The runtime takes no larger number.
    pub const MAX_EVERY: u32 = 1 << 12;
}

impl FromStr for Timing {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "samples" => return Ok(Self::Samples),
            "none" => return Ok(Self::None),
            "auto" => return Ok(Self::Auto),
            "all" => return Ok(Self::All),
            _ => {}
        }
        let number = word.strip_prefix("every:").and_then(|number| number.parse().ok());
        let number = number.filter(|number| (1..=Self::MAX_EVERY).contains(number));
        number.map(Self::Every).ok_or_else(|| {
            format!(
                "`{word}` is not `samples`, `none`, `auto`, `all` or `every:N` with N from 1 to {}",
                Self::MAX_EVERY
            )
        })
    }
}

impl TryFrom<String> for Timing {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        word.parse()
    }
}

impl From<Timing> for String {
    fn from(timing: Timing) -> String {
        timing.to_string()
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Samples => f.write_str("samples"),
            Self::None => f.write_str("none"),
            Self::Auto => f.write_str("auto"),
            Self::All => f.write_str("all"),
            Self::Every(number) => write!(f, "every:{number}"),
        }
    }
}

/// Recording in bursts: it is on for the first part of every period, and paused otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// ms; less than the period.
    on: u32,
    /// ms.
    period: u32,
}

impl Burst {
    /// ms of the longest period.
    const LONGEST: u32 = 3_600_000;
}

impl FromStr for Burst {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let ms = |text: &str| -> Option<u32> {
            match text.strip_suffix("ms") {
                Some(number) => number.parse().ok(),
                None => text.strip_suffix('s')?.parse::<u32>().ok()?.checked_mul(1000),
            }
        };
        let parts = word.split_once('/').and_then(|(on, period)| Some((ms(on)?, ms(period)?)));
        match parts {
            Some((on, period)) if 0 < on && on < period && period <= Self::LONGEST => Ok(Self { on, period }),
            Some(_) => Err(format!(
                "`{word}`: a burst takes at least 1ms and less than its period, which takes 3600s at most"
            )),
            None => {
                Err(format!("`{word}` is not ON/PERIOD, such as 100ms/1s: on for 100 ms of every second"))
            }
        }
    }
}

impl fmt::Display for Burst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms/{}ms", self.on, self.period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_a_number_between_samples() {
        for (text, event, period) in [
            ("cpu", SampleEvent::Cpu, 0),
            ("wall", SampleEvent::Wall, 0),
            ("cache-misses", SampleEvent::CacheMisses, 49_999),
            ("page-faults:1", SampleEvent::PageFaults, 1),
            ("cycles:100000", SampleEvent::Cycles, 100_000),
        ] {
            let parsed: SampledEvent = text.parse().unwrap();
            assert_eq!((parsed.event, parsed.period(), parsed.to_string()), (event, period, text.to_owned()));
        }
        for (text, reason) in [
            ("faults", "page-faults"),
            ("cpu:5", "sample rate"),
            ("wall:5", "sample rate"),
            ("cycles:99999", "from 100000"),
            ("page-faults:0", "from 1 "),
            ("page-faults:x", "`x` is not a number"),
            ("branch-misses:", "`` is not a number"),
        ] {
            let error = text.parse::<SampledEvent>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn bursts_are_shorter_than_their_periods() {
        for (text, written) in
            [("100ms/1s", "100ms/1000ms"), ("1ms/2ms", "1ms/2ms"), ("2s/3600s", "2000ms/3600000ms")]
        {
            assert_eq!(text.parse::<Burst>().unwrap().to_string(), written);
            assert_eq!(written.parse::<Burst>().unwrap().to_string(), written);
        }
        for text in [
            "",
            "100ms",
            "100/1000",
            "1s/1s",
            "0ms/1s",
            "2s/1s",
            "1s/3601s",
            "-1ms/1s",
            "1m/2m",
            "1s/9999999999s",
        ] {
            assert!(text.parse::<Burst>().is_err(), "{text}");
        }
    }

    fn both_ways<T: Word + fmt::Debug>() {
        for (word, value, help) in T::WORDS {
            assert_eq!((T::of(word), value.word()), (Ok(*value), *word));
            assert!(!help.is_empty() && !help.ends_with('.'), "{word}: {help}");
        }
        assert!(T::of("sundial").unwrap_err().starts_with("there are "));
    }

    #[test]
    fn every_word_is_read_as_it_is_written() {
        both_ways::<Transform>();
        both_ways::<LibraryCalls>();
        both_ways::<Values>();
        both_ways::<Record>();
        both_ways::<Heap>();
        both_ways::<Owners>();
        both_ways::<Clock>();
        for text in ["samples", "none", "auto", "all", "every:1", "every:4096"] {
            assert_eq!(text.parse::<Timing>().unwrap().to_string(), text);
        }
        for text in ["", "some", "every", "every:0", "every:4097", "sampled:8"] {
            assert!(text.parse::<Timing>().is_err(), "{text}");
        }
    }

    /// The recorder has the words in a list of its own: it is Java.
    #[test]
    fn the_recorder_knows_the_same_words() {
        let java = include_str!("../../../runtime-java/src/base/instrument/runtime/Settings.java");
        let list: Vec<String> = Record::WORDS.iter().map(|(word, ..)| format!("\"{word}\"")).collect();
        assert!(java.contains(&format!("RECORD = {{{}}};", list.join(", "))));
        assert!(java.contains(&format!("\"{}\".equals(find(\"heap\"))", Heap::Objects.word())));
    }

    #[test]
    fn a_list_of_transforms_sets_each_of_them() {
        for (word, transform, _) in Transform::WORDS {
            assert_ne!(Transform::set(&[*transform]), Transforms::NONE, "{word}");
        }
        let all: Vec<Transform> = Transform::WORDS.iter().map(|(_, transform, _)| *transform).collect();
        assert_eq!(Transform::set(&all), Transforms { parks: false, reflection: false, ..Transforms::ALL });
    }
}
