//! The tables of a dataset and their columns: the one list, which the files, the queries and the book follow.
//!
//! It is only ever extended: no column is renamed, removed, or given another meaning or type. [`VERSION`] counts the
//! extensions.

use std::fmt::Write as _;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::schema::types::{Type, TypePtr};

/// The version of the schema: `instrument.schema` in the metadata of every file.
pub const VERSION: u32 = 4;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// 16 bytes: a key of a process, method or context.
    Key,
    /// UTF-8.
    Text,
    /// A number of things.
    Count,
    /// ns.
    Time,
    /// A moment, in ms since 1970-01-01 UTC.
    Moment,
    /// A number that need not be whole.
    Real,
    /// What a figure may be off by, rounded up to 10 bits.
    Error,
    /// Yes or no.
    Flag,
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub of: Of,
    /// There are rows without a value.
    pub optional: bool,
    /// What it means, in a line.
    pub help: &'static str,
}

/// A table: a folder of the dataset.
#[derive(Debug)]
pub struct Table {
    /// Its name, which is that of the folder.
    pub name: &'static str,
    /// What a row is, in a line.
    pub help: &'static str,
    pub columns: &'static [Column],
    /// What the rows of a group are sorted by; the others stay in the order in which they come.
    pub sorted_by: &'static [&'static str],
}

const fn column(name: &'static str, of: Of, optional: bool, help: &'static str) -> Column {
    Column { name, of, optional, help }
}

const BATCH: Column =
    column("batch", Of::Text, false, "The export that wrote the row: the name of its files");

macro_rules! columns {
    ($($name:ident: $of:ident $(or $null:ident)?, $help:literal;)+) => {
        &[BATCH, $(column(stringify!($name), Of::$of, columns!(@ $($null)?), $help),)+]
    };
    (more $($name:ident: $of:ident $(or $null:ident)?, $help:literal;)+) => {
        &[$(column(stringify!($name), Of::$of, columns!(@ $($null)?), $help),)+]
    };
    (@) => { false };
    (@ null) => { true };
}

/// Columns one after the other; `N`: all of them.
const fn joined<const N: usize>(parts: &[&[Column]]) -> [Column; N] {
    let mut all = [BATCH; N];
    let (mut part, mut from, mut at) = (0, 0, 0);
    while part < parts.len() {
        if from == parts[part].len() {
            (part, from) = (part + 1, 0);
        } else {
            all[at] = parts[part][from];
            (from, at) = (from + 1, at + 1);
        }
    }
    assert!(at == N);
    all
}

/// One row for each process.
pub static PROCESSES: Table = Table {
    name: "processes",
    help: "A process, whose profile was exported",
    sorted_by: &[],
    columns: columns! {
        process: Key, "The process, the same in every export of it";
        service_name: Text, "The label `service`, or what the program is called";
        build_name: Text or null, "The label `build`";
        labels: Text, "All labels, as a JSON object";
        program: Text, "What the program is called";
        command: Text or null, "The main class or jar and its arguments: the system property sun.java.command";
        host: Text or null, "The host";
        pid: Count, "The process id, as the process saw it; 0: unknown";
        start: Moment, "When recording began";
        java_version: Text or null, "`java.version`";
        record: Text or null, "What was recorded: counts, tree or trace";
        timing: Text or null, "Which calls were timed";
        clock: Text or null, "The clock";
        is_live: Flag, "The process was still writing: its figures are of that moment";
        is_whole: Flag, "Nothing of the profile is missing or damaged";
        threads: Count, "Threads that were recorded, ended ones included";
        dropped: Count, "Events that are in no figure";
        in_flight: Count, "Events that were being written when the process ended";
        calls: Count, "Calls of methods that began";
        exits: Count, "Calls that returned";
        unwinds: Count, "Calls that an exception left";
        aborted: Count, "Constructors whose super(..) or this(..) threw an exception";
        unclosed: Count, "Calls whose end was not seen";
        unmatched: Count, "Ends of calls that were not seen to begin";
        open: Count, "Calls that had not ended";
        balances: Flag or null, "Every method has calls = exits + unwinds + aborted + unclosed + open; null: not checked of a process that still writes";
        correction: Text, "Whether times are without the cost of the probes: applied, none (there are no times), or why not";
        correction_reason: Text or null, "The same in words, if they are not";
        probes_ns: Time or null, "What the probes cost, over all threads, if that is known";
        probe_inner_ns: Real or null, "The cost of one call's probes in its own time, as calibrated";
        probe_outer_ns: Real or null, "The cost of one call's probes in its caller's time, as calibrated";
        properties: Text, "What the recorder wrote about the process, as a JSON object";
        event: Text or null, "What `sampled` counts: page-faults, cycles, or another event than CPU time that was sampled";
        event_unit: Text or null, "Its unit; null: they are counted";
    },
};

/// One row for each method or other consumer, in each partition.
pub static METHODS: Table = Table {
    name: "methods",
    help: "A method that a profile knows, called or not, or another consumer that has contexts",
    sorted_by: &[],
    columns: columns! {
        method: Key, "The method: the key of the context that is this method alone, by its exact name";
        name: Text, "The exact name: class, method and descriptor";
        stable_name: Text, "The name without numbers that compilers and generators hand out: the same in every build";
        kind: Text, "method, link (work on behalf of another context), or deeper (past a limit of the recorder)";
        class: Text or null, "The class of a method";
        file: Text or null, "The path of the source file, if it is known";
        line: Count or null, "The lowest line of the method, if it is known";
        known: Count, "Processes of this file that have the method in their id map, called or not";
    },
};

/// One row for each context, in each partition.
pub static CONTEXTS: Table = Table {
    name: "contexts",
    help: "A context: a way from the outermost method to one of its callees",
    sorted_by: &[],
    columns: columns! {
        context: Key, "The context: the hash of its path of exact names";
        stable: Key or null, "The hash of its path of stable names, which other builds have as well; null: the same";
        parent: Key, "Who called it; 16 bytes of 0: nobody that was recorded";
        through: Key or null, "Of a method that is above itself: the context, called by the next one of its method above, that leads here";
        method: Key, "Whose context it is";
        depth: Count, "Methods on the path, itself included";
    },
};

const ENDS: &[Column] = columns! { more
    calls: Count, "Calls that began; in the row of a thread, threads";
    exits: Count, "Calls that returned";
    unwinds: Count, "Calls that an exception left";
    aborted: Count, "Constructors whose super(..) or this(..) threw an exception";
    unclosed: Count, "Calls whose end was not seen";
    unmatched: Count, "Ends of calls that were not seen to begin";
    open: Count, "Calls that had not ended";
};

/// What was consumed. Those that end in `_total` include callees.
const CONSUMED: &[Column] = columns! { more
    wall: Time or null, "Thread time of its own, without the cost of probes; null: that cost is not known";
    wall_total: Time or null, "The same with its callees";
    wall_raw: Time or null, "Thread time of its own, as measured";
    wall_raw_total: Time or null, "The same with its callees";
    running: Time or null, "The part of wall in which it ran, if waits are known; where times are samples, CPU time";
    running_total: Time or null, "The same with its callees";
    waiting: Time or null, "The part of wall in which it waited; where times are samples, time of its calls that block";
    waiting_total: Time or null, "The same with its callees";
    running_raw: Time or null, "As running, of wall_raw where there is no wall";
    running_raw_total: Time or null, "The same with its callees";
    waiting_raw: Time or null, "As waiting, of wall_raw where there is no wall";
    waiting_raw_total: Time or null, "The same with its callees";
    wall_noise: Error or null, "What wall may be off by, ns; errors of one cause: they add up";
    wall_noise_total: Error or null, "What wall_total may be off by, ns";
    wall_variance: Error or null, "Variance of wall (or wall_raw), ns², where only some calls were timed; they add up";
    wall_variance_total: Error or null, "Variance of wall_total (or wall_raw_total), ns²";
    cpu: Time or null, "CPU time of its own, without the cost of probes";
    cpu_total: Time or null, "The same with its callees";
    cpu_noise: Error or null, "What cpu may be off by, ns";
    cpu_noise_total: Error or null, "What cpu_total may be off by, ns";
    cpu_raw: Time or null, "CPU time of its own, as measured";
    cpu_raw_total: Time or null, "The same with its callees";
    allocations: Count, "Objects and arrays that it made itself";
    allocations_total: Count, "The same with its callees";
    bytes: Count or null, "Their size, if it was recorded";
    bytes_total: Count or null, "The same with its callees";
    bytecodes: Count or null, "Instructions that it executed itself, if they were counted";
    bytecodes_total: Count or null, "The same with its callees";
    live: Count or null, "Objects that it made and that were there to the end, if objects were followed";
    live_total: Count or null, "The same with its callees";
    live_bytes: Count or null, "Their size";
    live_bytes_total: Count or null, "The same with its callees";
    contended: Time or null, "Time in which it waited to enter monitors, if that was recorded";
    contended_total: Time or null, "The same with its callees";
    object_wait: Time or null, "Time in which it waited in Object.wait";
    object_wait_total: Time or null, "The same with its callees";
    samples: Count or null, "Where times are samples: those that met it, of which running is made";
    samples_total: Count or null, "The same with its callees";
    probes: Time or null, "Where times are samples: CPU time of the probes, in rows of threads";
    probes_total: Time or null, "The same with its callees";
    running_noise: Error or null, "Where times are samples: what running may be off by besides their chance, ns";
    running_noise_total: Error or null, "What running_total may be off by besides their chance, ns";
    sampled: Count or null, "Where another event than CPU time was sampled: such events of its own; of which, `processes` has in `event`. Those of different events make no sum";
    sampled_total: Count or null, "The same with its callees";
    sampled_noise: Error or null, "What sampled may be off by besides the chance of samples";
    sampled_noise_total: Error or null, "What sampled_total may be off by besides the chance of samples";
};

const VALUES_OWN: &[Column] = columns! {
    process: Key, "The process";
    thread: Text or null, "The name of the thread, or of its pool; null: it is the process's own row";
    context: Key, "The context; 16 bytes of 0: the row of the thread or process itself";
    method: Key or null, "Whose context it is; null in rows of threads and processes";
    nested: Flag, "A context of the same method is above: its totals are part of that one's";
};
const VALUES_TIMED: &[Column] = columns! { more
    timed: Count or null, "Calls that ended and were timed; null here and below: there are no times";
    min_ns: Time or null, "The shortest of them, as measured, callees included; null: there is none";
    max_ns: Time or null, "The longest of them";
    open_ns: Time or null, "Time of the calls that had not ended, so far; part of wall_raw_total";
    closed_ns: Time or null, "Time of the calls that ended, as measured; an estimate if not all were timed";
    sum_squares: Real or null, "The sum of the squares of their times, ns²";
};

/// One row for each context of each thread, or pool of threads.
pub static VALUES: Table = Table {
    name: "values",
    help: "What was recorded of a context in the threads of a name",
    sorted_by: &["method", "context", "process", "thread"],
    columns: &joined::<{ VALUES_OWN.len() + ENDS.len() + VALUES_TIMED.len() + CONSUMED.len() }>(&[
        VALUES_OWN,
        ENDS,
        VALUES_TIMED,
        CONSUMED,
    ]),
};

const METHOD_VALUES_OWN: &[Column] = columns! {
    process: Key, "The process";
    kind: Text, "method, link, deeper (as in `methods`), thread or process";
    method: Key or null, "The method; null in rows of threads and processes";
    thread: Text or null, "In the row of a thread or pool its name; null in all others";
    contexts: Count, "Rows of `values` that are added up";
};

/// One row for each method of each process: the sums of its rows of [`VALUES`].
pub static METHOD_VALUES: Table = Table {
    name: "method_values",
    help: "Sums of `values` by method and process, with rows of threads and processes; totals leave out what is `nested`",
    sorted_by: &["method", "process", "thread"],
    columns: &joined::<{ METHOD_VALUES_OWN.len() + ENDS.len() + CONSUMED.len() }>(&[
        METHOD_VALUES_OWN,
        ENDS,
        CONSUMED,
    ]),
};

/// One row for each class and method that made objects of it, in each process.
pub static ALLOCATIONS: Table = Table {
    name: "allocations",
    help: "The objects of a class that a method made",
    sorted_by: &[],
    columns: columns! {
        process: Key, "The process";
        class: Text, "The class, as Java writes it";
        method: Key or null, "The method that made them; null: unknown";
        objects: Count, "Objects and arrays";
        bytes: Count or null, "Their size, if it was recorded";
        live: Count or null, "Those that were there to the end, if objects were followed";
        live_bytes: Count or null, "Their size";
    },
};

/// One row for each size of calls of a method that ended in a way, in each process.
pub static DURATIONS: Table = Table {
    name: "durations",
    help: "Calls by how long they took (`--latency`): base-2 exponential histograms of scale 6, whose sums are histograms",
    sorted_by: &[],
    columns: columns! {
        process: Key, "The process";
        method: Key, "The method";
        failed: Flag, "An exception left them";
        bucket: Count or null, "They took more than 2^(bucket/64) ns, and 2^((bucket+1)/64) ns at most; -1 is 1 ns; null: they took 0 ns";
        calls: Count, "How many; calls within a call of the same method are part of it";
        min_ns: Time, "The shortest call of the method in the process that ended in this way, in whatever bucket";
        max_ns: Time, "The longest of them";
    },
};

/// One row for each monitor, in each process.
pub static MONITORS: Table = Table {
    name: "monitors",
    help: "A monitor that threads waited for",
    sorted_by: &[],
    columns: columns! {
        process: Key, "The process";
        class: Text, "The class of its object, as `Class.getName()` gives it";
        number: Count or null, "The number of the monitor among those of its class in the process; null: unknown, or a row for all monitors of the class that have no number";
        contended: Count, "How often threads waited to enter it";
        contended_ns: Time, "For how long";
        contended_max_ns: Time, "The longest of these";
        contended_open: Count, "Those that did not end";
        waits: Count, "How often threads were in Object.wait";
        waits_ns: Time, "For how long";
        waits_max_ns: Time, "The longest of these";
        waits_open: Count, "Those that did not end";
        waits_timed_out: Count, "Those whose timeout ran out";
    },
};

/// One row for each client, server and remote method.
pub static REMOTE_CALLS: Table = Table {
    name: "remote_calls",
    help: "The calls of a remote method from one process to another, without those that the runtime makes for itself",
    sorted_by: &[],
    columns: columns! {
        client: Key or null, "The process that made them; null: not among the profiles of this export";
        client_address: Text or null, "Where it is, if only that is known";
        server: Key or null, "The process that served them; null: not among the profiles of this export";
        server_address: Text or null, "Where it is, if only that is known";
        method: Text, "The class of the remote object and the method with its descriptor, as far as it is known";
        made: Count, "Calls that the client recorded";
        served: Count, "Calls that the server recorded";
        matched: Count, "Calls that both did";
        failed: Count, "Calls that threw or failed";
        client_ns: Time, "Time of those that ended, by the clock of the client";
        client_max_ns: Time, "The longest of them";
        server_ns: Time, "Time of those that ended, by the clock of the server";
        server_max_ns: Time, "The longest of them";
    },
};

/// One row for each process, side, reason and peer of calls that were not matched.
pub static UNMATCHED: Table = Table {
    name: "unmatched",
    help: "Remote calls of which only one side was found, those of the runtime included",
    sorted_by: &[],
    columns: columns! {
        process: Key, "The process that recorded them";
        side: Text, "made or served";
        reason: Text, "Why the other side was not found: one of the words of `instrument merge`";
        peer: Key or null, "The process that should have the other side, if it is among the profiles";
        peer_address: Text or null, "Where the other side is, if only that is known";
        calls: Count, "How many";
    },
};

pub static TABLES: [&Table; 10] = [
    &PROCESSES,
    &METHODS,
    &CONTEXTS,
    &VALUES,
    &METHOD_VALUES,
    &ALLOCATIONS,
    &DURATIONS,
    &MONITORS,
    &REMOTE_CALLS,
    &UNMATCHED,
];

impl Table {
    /// Where a column is.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The schema of its files.
    pub(super) fn schema(&self) -> parquet::errors::Result<TypePtr> {
        let fields = self.columns.iter().map(|column| column.field().map(Arc::new));
        let fields = fields.collect::<Result<Vec<TypePtr>, _>>()?;
        Ok(Arc::new(Type::group_type_builder(self.name).with_fields(fields).build()?))
    }
}

impl Column {
    fn field(&self) -> parquet::errors::Result<Type> {
        let (physical, logical) = match self.of {
            Of::Key => (Physical::FIXED_LEN_BYTE_ARRAY, None),
            Of::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Of::Count | Of::Time => (Physical::INT64, None),
            Of::Moment => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
            Of::Real => (Physical::DOUBLE, None),
            Of::Error => (Physical::FLOAT, None),
            Of::Flag => (Physical::BOOLEAN, None),
        };
        let repetition = if self.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(self.name, physical)
            .with_length(if self.of == Of::Key { 16 } else { -1 })
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()
    }

    /// Its type, as the book calls it.
    fn word(&self) -> &'static str {
        match self.of {
            Of::Key => "16 bytes",
            Of::Text => "string",
            Of::Count | Of::Time => "int64",
            Of::Moment => "timestamp, ms UTC",
            Of::Real => "double",
            Of::Error => "float",
            Of::Flag => "boolean",
        }
    }
}

/// The schema as the book has it, in Markdown.
pub fn markdown() -> String {
    let mut text = String::new();
    for table in TABLES {
        let _ =
            writeln!(text, "### `{}`\n\n{}.\n\n| column | type | |\n|---|---|---|", table.name, table.help);
        for column in table.columns {
            let or_null = if column.optional { ", or null" } else { "" };
            let _ = writeln!(text, "| `{}` | {}{or_null} | {} |", column.name, column.word(), column.help);
        }
        text.push('\n');
    }
    text
}
