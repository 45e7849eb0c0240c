//! The keys of the agent's option string: `KEY=VALUE`, joined with commas, as in
//! `-agentpath:libinstrument_agent.so=out=/tmp/,include=com.acme.**`.
//!
//! A comma or backslash within a value is written with a backslash before it; the commas of `X.f(int,int)` need none. (`;` cannot separate
//! patterns: it is part of descriptors.) `instrument run` writes such a string with [`join`], the agent reads it with [`split`].

/// [`MAX_PAUSE`], unless it is given.
pub const DEFAULT_MAX_PAUSE_MS: u64 = 200;

/// Who obeys a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// The agent.
    Agent,
    /// The recorder: the agent passes it on as system property `instrument.KEY`, unless the program sets that itself.
    Recorder,
}

#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    pub obeyed_by: For,
    /// What its value is and does, for people.
    pub value: &'static str,
}

macro_rules! keys {
    ($($name:ident = $key:literal, $by:ident: $value:literal;)+) => {
        $(#[doc = $value] pub const $name: &str = $key;)+

        /// All keys, in the order of the help.
        pub const KEYS: &[Key] = &[$(Key { name: $key, obeyed_by: For::$by, value: $value },)+];
    };
}

keys! {
    OUT = "out", Recorder: "where the profile goes: a file, or a directory";
    NAME = "name", Recorder: "what reports call the process, and the first part of the profile's name";
    LABELS = "labels", Recorder: "what the process belongs to, for export --format parquet: service=shop,build=abc; a comma, an equals sign or a blank in a value is written as % and two hexadecimal digits";
    RECORD = "record", Recorder: "off, counts, tree (default), trace, or samples: whole stacks, from samples of the threads' CPU time; nothing is rewritten";
    SAMPLE_RATE = "sample-rate", Agent: "with record=samples: samples in a second of each thread's CPU time (100), 1 to 1000";
    SAMPLE_EVENT = "sample-event", Agent: "with record=samples: what is sampled: cpu (default), cycles, instructions, cache-misses, branch-misses, page-faults; EVENT:N takes a sample each time it has occurred N times in a thread";
    TIMING = "timing", Recorder: "where times come from: samples (default); of a tree, timed calls: auto, all, every:N; of counts, none";
    CPU = "cpu", Recorder: "true: CPU time of every call is recorded";
    LIMIT = "limit", Recorder: "the profile grows no larger than this: bytes, or a number with k, m or g; off";
    DEPTH = "depth", Recorder: "frames deeper than this are not contexts of their own (2000)";
    CONTEXTS = "contexts", Recorder: "contexts that a thread may have (1000000)";
    KEEP_THREADS = "keep-threads", Recorder: "up to this many threads keep rows of their own after they ended; the others are added up by pool (256); of virtual ones 16 at most";
    SIZES = "sizes", Recorder: "all: sizes of the objects of all classes are recorded, even if that loads the classes of their fields";
    MOST_VALUES = "most-values", Recorder: "how many different values of a kind, such as SQL statements, addresses of HTTP or paths of files, get a row of their own (1000); later ones are added up in one row, (others)";
    PROPAGATE = "propagate", Recorder: "on: with transform=remote-http, remote-grpc or remote-jms, a request or message that has no traceparent header gets one; off (default): none is changed";
    CALIBRATE = "calibrate", Recorder: "ms that measuring the cost of the probes may take (100); off: it is not measured";
    BURST = "burst", Recorder: "recording is on for the first part of every period, and paused otherwise: 100ms/1s; counts and times are of these bursts only";
    SNAPSHOT = "snapshot", Recorder: "seconds between two marks of the time in the profile (0: none)";
    INCLUDE = "include", Agent: "only what matches is recorded: patterns as the command line takes them, joined with `:`; may be repeated. The classes of the JDK are left alone unless a pattern begins with their name, as java.util.** does and ** does not";
    EXCLUDE = "exclude", Agent: "what matches is not recorded, even if it is included; patterns joined with `:`; may be repeated";
    NO_REWRITE = "no-rewrite", Agent: "classes that are not rewritten at all, patterns as for exclude; include and exclude choose methods whose calls are recorded";
    TRANSFORM = "transform", Agent: "what to insert: method-events, thread-links, waits, hand-over, allocation, rmi, remote-http, remote-grpc, remote-jms, jdbc, http, files, bytecodes, lines, joined with `:`; default: the first three";
    LIBRARY_CALLS = "library-calls", Agent: "top-level: calls of what is not rewritten are recorded where they are made; all: everything is rewritten but for exclude, the JDK's classes, too, and the rest recorded so; none (default)";
    NATIVE = "native", Agent: "on: the program's native methods are recorded; classes get wrappers as they load, which call the native methods under other names (JVMTI SetNativeMethodPrefix)";
    ROOT = "root", Agent: "records only what methods that match do, and the threads that they start; patterns joined with `:`; may be repeated";
    LATENCY = "latency", Agent: "keeps how long each call of the methods that match takes, as a histogram of each context: PATTERN or PATTERN:THRESHOLD, as Shop#sell:50ms, joined with `:`; calls beyond the threshold are counted; may be repeated";
    SUBGRAPH = "subgraph", Agent: "on: only what the roots can call is rewritten; needs root";
    REGION = "region", Agent: "times a code region, as --region does; may be repeated. Without transform nothing else is inserted";
    PROBES = "probes", Agent: "a file of rules that instrument run --probes has prepared: calls of static methods of the user are inserted";
    SUBCLASSES = "subclasses", Agent: "a file of classes that instrument run --subclasses-of has found: the methods of others are not recorded, whatever include says";
    IDS = "ids", Agent: "a file of method ids that several builds and runs share; without it ids are given in the order of loading";
    HEAP = "heap", Recorder: "counts: every object that is made, by class and context; objects: also when and by whom each was made, and when it was gone";
    HEAP_INCLUDE = "heap-include", Agent: "of which classes objects are recorded: patterns on their classes, arrays as int[], com.acme.Foo[] or com.acme.**";
    HEAP_EXCLUDE = "heap-exclude", Agent: "of which they are not";
    HEAP_ALL = "heap-all", Agent: "on: every object that the virtual machine makes is recorded, whoever makes it, arrays of JDK classes, reflection and native code included; the virtual machine reports them (JVMTI SampledObjectAlloc), which takes about 0.4 us each";
    HEAP_HOLDERS = "heap-holders", Agent: "with heap=objects: seconds that the search for what holds leak suspects may take when the program ends (10); 0: there is none";
    ARMED = "armed", Agent: "on, or the word armed alone: no class is rewritten and nothing is recorded before instrument attach, or instrument ctl PID start, which takes the other options";
    EARLY = "early", Agent: "on: classes are rewritten from the first one on, before the virtual machine is initialised, which turns class data sharing off";
    ACCOUNT = "account", Agent: "a file for the account of every class and method, as JSON lines";
    DUMP = "dump", Agent: "a directory for the classes as they were rewritten";
    HEAP_DUMP = "heap-dump", Agent: "a file for a dump of the heap, as it is when the program ends; %p is the process id";
    CTL = "ctl", Agent: "off: requests to the program are not answered; or a path for the socket, else one is in the user's own directory";
    CLOCK = "clock", Agent: "tsc (default): the processor's time-stamp counter, if it is the clock source of Linux, else System.nanoTime(); monotonic: System.nanoTime()";
    THREADS = "threads", Agent: "on: threads and their waits for monitors are recorded";
    MAX_PAUSE = "max-pause", Agent: "ms that the virtual machine may stand still for one batch of classes when a program that runs is recorded (200); if it takes longer, nothing is recorded, or the classes that are left stay as they are";
    LASTS = "lasts", Agent: "ms after which the recording of a program that runs ends by itself";
    TIED = "tied", Agent: "on: it ends when the command that began it is gone, which keeps the file with the options locked";
    OWNERS = "owners", Agent: "whether the virtual machine is asked who has a monitor: on (as long as that takes 2 % of the time or less), all, off";
}

/// What `-agentpath:..=help` prints: every key.
pub fn help() -> String {
    let mut text =
        String::from("Options of the agent: -agentpath:libinstrument_agent.so=KEY=VALUE,KEY=VALUE,..\n\n");
    for Key { name, value, .. } in KEYS {
        text += &format!("{name}\n        {}\n", value.replace('`', ""));
    }
    text + "\nA comma or backslash within a value is written with a backslash before it. The command instrument run --help explains the same options.\n"
}

/// The option string of keys and values.
pub fn join(options: &[(&str, String)]) -> String {
    let option =
        |(key, value): &(&str, String)| format!("{key}={}", value.replace('\\', "\\\\").replace(',', "\\,"));
    options.iter().map(option).collect::<Vec<_>>().join(",")
}

/// The options of a string, each `KEY=VALUE`: it ends at a comma that has no backslash before it and stands in no parentheses.
///
/// # Errors
/// A backslash before anything else.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut options = Vec::new();
    let mut option = String::new();
    let mut characters = text.chars();
    let mut is_in_parameters = false;
    while let Some(c) = characters.next() {
        match c {
            // A parenthesis in a path need not be closed.
            '(' => {
                is_in_parameters =
                    characters.as_str().split(['=', '(']).next().unwrap_or_default().contains(')');
                option.push(c);
            }
            ')' => {
                is_in_parameters = false;
                option.push(c);
            }
            ',' if is_in_parameters => option.push(c),
            '\\' => match characters.next() {
                Some(c @ (',' | '\\')) => option.push(c),
                _ => return Err("a backslash stands before a comma or another backslash only".to_owned()),
            },
            ',' => options.push(std::mem::take(&mut option)),
            _ => option.push(c),
        }
    }
    options.push(option);
    options.retain(|option| !option.is_empty());
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_there_once_and_has_a_help() {
        let help = help();
        for (at, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..at].iter().all(|other| other.name != key.name), "{}", key.name);
            assert!(help.contains(&format!("\n{}\n        ", key.name)), "{}", key.name);
        }
        assert!(!help.contains('`'), "{help}");
    }

    /// It is Java, and reads them by their names.
    #[test]
    fn the_recorder_reads_its_keys_and_no_other() {
        let java = include_str!("../../../runtime-java/src/base/instrument/runtime/Settings.java");
        let calls = ["find(\"", "readNumber(\"", "outside(\""];
        let read = |key: &str| calls.iter().any(|call| java.contains(&format!("{call}{key}\"")));
        for key in KEYS {
            // It takes what objects are recorded from the agent's transform, too; and roots arrive as ids.
            assert_eq!(read(key.name), key.obeyed_by == For::Recorder, "{}", key.name);
        }
    }

    proptest::proptest! {
        /// What `run` writes is what the agent reads, whatever is in a path or a pattern.
        #[test]
        fn options_are_split_as_they_were_joined(values in proptest::collection::vec("[a-z,\\\\=:.*# ]{1,12}", 1..6)) {
            let options: Vec<(&str, String)> = values.iter().map(|value| (OUT, value.clone())).collect();
            let expected: Vec<String> = values.iter().map(|value| format!("{OUT}={value}")).collect();
            proptest::prop_assert_eq!(split(&join(&options)).unwrap(), expected);
        }
    }

    #[test]
    fn commas_of_parameters_need_no_backslash() {
        let options = split(r"root=X.f(int,int),out=/a(b,,name=c\,d").unwrap();
        assert_eq!(options, ["root=X.f(int,int)", "out=/a(b", "name=c,d"]);
        assert!(split(r"out=a\b").is_err() && split(r"out=a\").is_err());
    }
}
