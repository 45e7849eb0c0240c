//! JSON for profiler.firefox.com: its processed profile format, version 55.
//!
//! The tables are those of the profiler's `types/profile.ts`. It has a weight of its own for traces: a sample for each
//! stretch of time in one stack, weighted with its length in ms. The crate that writes this format knows whole weights
//! only, which is why the tables are written here.

use super::timeline::{Axis, NS_PER_THING, Thread, Timeline};
use crate::origin::Origins;
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

const VERSION: u32 = 55;
const MAIN_PROCESS: u32 = 0;

/// Writes a timeline as a profile while it is fed, one thread after the other.
#[derive(Debug)]
pub struct Firefox<W: Write> {
    out: W,
    axis: Axis,
    threads: usize,
    current: Option<Current>,
    origins: Origins,
}

/// The thread that is being fed.
#[derive(Debug, Default)]
struct Current {
    name: String,
    process: usize,
    process_name: String,
    strings: Vec<String>,
    functions: HashMap<String, usize>,
    /// Caller and function of each stack.
    stacks: Vec<(Option<usize>, usize)>,
    stack_of: HashMap<(Option<usize>, usize), usize>,
    /// The stacks of the open frames.
    open: Vec<usize>,
    last: Option<u64>,
    stack: Vec<usize>,
    time: Vec<f64>,
    weight: Vec<f64>,
}

impl<W: Write> Firefox<W> {
    /// Writes to `out`; weights are what is on the axis.
    pub fn new(out: W, axis: Axis) -> Firefox<W> {
        Firefox { out, axis, threads: 0, current: None, origins: Origins::default() }
    }

    /// Functions have their source file and first line.
    #[must_use]
    pub fn with_origins(self, origins: Origins) -> Firefox<W> {
        Firefox { origins, ..self }
    }

    fn head(&mut self) -> io::Result<()> {
        let empty_extensions = json!({"length": 0, "baseURL": [], "id": [], "name": []});
        let meta = json!({
            "categories": [{"name": "Java", "color": "blue", "subcategories": ["Other"]}],
            "debug": false,
            "extensions": empty_extensions,
            "interval": 1,
            "markerSchema": [],
            "preprocessedProfileVersion": VERSION,
            "processType": MAIN_PROCESS,
            "product": "instrument",
            "startTime": 0,
            "stackwalk": 0,
            "symbolicated": true,
            "version": 24,
            "usesOnlyOneStackType": true,
            "sourceCodeIsNotOnSearchfox": true,
        });
        write!(self.out, "{{\"meta\":{meta},\"libs\":[],\"pages\":[],\"counters\":[],\"threads\":[")
    }

    /// What has passed since the last event belongs to the stack that is open.
    fn pass(&mut self, at: u64) {
        let Some(current) = &mut self.current else { return };
        let last = current.last.replace(at).unwrap_or(at);
        let Some(&stack) = current.open.last().filter(|_| at > last) else { return };
        current.stack.push(stack);
        current.time.push(last as f64 / 1e6);
        let length = (at - last) as f64;
        current.weight.push(if self.axis == Axis::Time { length / 1e6 } else { length / NS_PER_THING });
    }

    fn end_thread(&mut self) -> io::Result<()> {
        let Some(current) = self.current.take() else { return Ok(()) };
        writeln!(self.out, "{}", if self.threads > 0 { "," } else { "" })?;
        current.write(self.axis, self.threads, &self.origins, &mut self.out)?;
        self.threads += 1;
        Ok(())
    }
}

impl<W: Write> Timeline for Firefox<W> {
    fn thread(&mut self, thread: Thread<'_>) -> io::Result<()> {
        match self.current {
            Some(_) => self.end_thread()?,
            None => self.head()?,
        }
        self.current = Some(Current {
            name: thread.name.into(),
            process: thread.process,
            process_name: thread.process_name.into(),
            ..Current::default()
        });
        Ok(())
    }

    fn enter(&mut self, name: &str, at: u64) -> io::Result<()> {
        self.pass(at);
        if let Some(current) = &mut self.current {
            current.enter(name);
        }
        Ok(())
    }

    fn leave(&mut self, at: u64) -> io::Result<()> {
        self.pass(at);
        if let Some(current) = &mut self.current {
            current.open.pop();
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.current.is_none() {
            self.head()?;
        }
        self.end_thread()?;
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }
}

impl Current {
    fn enter(&mut self, name: &str) {
        let function = match self.functions.get(name) {
            Some(&known) => known,
            None => {
                self.functions.insert(name.to_owned(), self.strings.len());
                self.strings.push(name.to_owned());
                self.strings.len() - 1
            }
        };
        let key = (self.open.last().copied(), function);
        let next = self.stacks.len();
        let stack = *self.stack_of.entry(key).or_insert(next);
        if stack == next {
            self.stacks.push(key);
        }
        self.open.push(stack);
    }

    fn write(&self, axis: Axis, number: usize, origins: &Origins, out: &mut dyn Write) -> io::Result<()> {
        let functions = self.strings.len();
        // Files come behind the names of the functions.
        let mut strings: Vec<Cow<'_, str>> = self.strings.iter().map(Cow::from).collect();
        let mut files: HashMap<String, usize> = HashMap::new();
        let (mut file_name, mut line_number) = (Vec::new(), Vec::new());
        for name in &self.strings {
            let (file, line) = origins.path(name).unzip();
            file_name.push(file.map(|file| {
                *files.entry(file).or_insert_with_key(|file| {
                    strings.push(Cow::from(file.clone()));
                    strings.len() - 1
                })
            }));
            line_number.push(line.filter(|line| *line > 0));
        }
        // Each function has one string and one frame, all of the same number.
        let frames = FrameTable {
            length: functions,
            address: Same(-1, functions),
            inline_depth: Same(0, functions),
            category: Same(0, functions),
            subcategory: Same(0, functions),
            func: (0..functions).collect(),
            native_symbol: Same(None, functions),
            inner_window_id: Same(0, functions),
            line: line_number.clone(),
            column: Same(None, functions),
        };
        let thread = ThreadTables {
            name: &self.name,
            process_name: &self.process_name,
            process_type: "default",
            is_main_thread: number == 0,
            pid: (self.process + 1).to_string(),
            tid: (number + 1).to_string(),
            process_startup_time: 0.0,
            process_shutdown_time: None,
            register_time: 0.0,
            unregister_time: None,
            paused_ranges: [],
            show_markers_in_timeline: false,
            samples: Samples {
                length: self.stack.len(),
                weight_type: match axis {
                    Axis::Time => "tracing-ms",
                    Axis::Bytes => "bytes",
                    Axis::Count => "samples",
                },
                stack: &self.stack,
                time: &self.time,
                weight: &self.weight,
            },
            stack_table: StackTable {
                length: self.stacks.len(),
                prefix: self.stacks.iter().map(|stack| stack.0).collect(),
                frame: self.stacks.iter().map(|stack| stack.1).collect(),
            },
            frame_table: frames,
            func_table: FuncTable {
                length: functions,
                name: (0..functions).collect(),
                is_js: Same(false, functions),
                relevant_for_js: Same(false, functions),
                resource: Same(-1, functions),
                file_name,
                line_number,
                column_number: Same(None, functions),
            },
            string_array: &strings,
            markers: json!({"length": 0, "category": [], "data": [], "endTime": [], "name": [], "phase": [],
                "startTime": []}),
            native_symbols: json!({"length": 0, "address": [], "functionSize": [], "libIndex": [], "name": []}),
            resource_table: json!({"length": 0, "lib": [], "name": [], "host": [], "type": []}),
        };
        serde_json::to_writer(out, &thread)?;
        Ok(())
    }
}

/// A column that says the same everywhere.
struct Same<T>(T, usize);

impl<T: Serialize> Serialize for Same<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(std::iter::repeat_n(&self.0, self.1))
    }
}

type Nulls = Same<Option<u32>>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThreadTables<'a> {
    name: &'a str,
    process_name: &'a str,
    process_type: &'a str,
    is_main_thread: bool,
    pid: String,
    tid: String,
    process_startup_time: f64,
    process_shutdown_time: Option<f64>,
    register_time: f64,
    unregister_time: Option<f64>,
    paused_ranges: [u32; 0],
    show_markers_in_timeline: bool,
    samples: Samples<'a>,
    stack_table: StackTable,
    frame_table: FrameTable,
    func_table: FuncTable,
    string_array: &'a [Cow<'a, str>],
    markers: Value,
    native_symbols: Value,
    resource_table: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Samples<'a> {
    length: usize,
    weight_type: &'a str,
    stack: &'a [usize],
    time: &'a [f64],
    weight: &'a [f64],
}

#[derive(Serialize)]
struct StackTable {
    length: usize,
    prefix: Vec<Option<usize>>,
    frame: Vec<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FrameTable {
    length: usize,
    address: Same<i32>,
    inline_depth: Same<u32>,
    category: Same<u32>,
    subcategory: Same<u32>,
    func: Vec<usize>,
    native_symbol: Nulls,
    #[serde(rename = "innerWindowID")]
    inner_window_id: Same<u32>,
    line: Vec<Option<u32>>,
    column: Nulls,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FuncTable {
    length: usize,
    name: Vec<usize>,
    #[serde(rename = "isJS")]
    is_js: Same<bool>,
    #[serde(rename = "relevantForJS")]
    relevant_for_js: Same<bool>,
    resource: Same<i32>,
    file_name: Vec<Option<usize>>,
    line_number: Vec<Option<u32>>,
    column_number: Nulls,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::timeline::tests::two_threads;
    use fxprof_processed_profile as oracle;

    fn written(axis: Axis) -> Value {
        let mut bytes = Vec::new();
        two_threads(&mut Firefox::new(&mut bytes, axis)).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_stretch_of_time_is_a_sample() {
        let json = written(Axis::Time);
        let main = &json["threads"][0];
        assert_eq!(
            (&main["name"], &main["processName"], &main["pid"]),
            (&json!("main"), &json!("shop"), &json!("1"))
        );
        assert_eq!(main["stringArray"], json!(["a", "b\"<"]));
        assert_eq!(main["stackTable"], json!({"length": 2, "prefix": [null, 0], "frame": [0, 1]}));
        let samples = json!({"length": 4, "weightType": "tracing-ms", "stack": [0, 1, 1, 0],
            "time": [0.001, 0.0015, 0.004, 0.004001], "weight": [0.0005, 0.0025, 0.000001, 0.004999]});
        assert_eq!(main["samples"], samples);
        assert_eq!(json["threads"][1]["samples"]["weight"], json!([2.998]));
        assert_eq!(written(Axis::Bytes)["threads"][0]["samples"]["weight"], json!([0.5, 2.5, 0.001, 4.999]));
    }

    /// Every member that the format's own library writes is here, and is of the same type.
    #[test]
    fn the_tables_are_those_of_the_library() {
        let start = oracle::ReferenceTimestamp::from_millis_since_unix_epoch(0.0);
        let mut profile = oracle::Profile::new("x", start, oracle::SamplingInterval::from_millis(1));
        let zero = oracle::Timestamp::from_millis_since_reference(0.0);
        let process = profile.add_process("shop", 1, zero);
        let thread = profile.add_thread(process, 1, zero, true);
        let name = profile.intern_string("a");
        let frame = oracle::FrameInfo {
            frame: oracle::Frame::Label(name),
            category_pair: oracle::CategoryHandle::OTHER.into(),
            flags: oracle::FrameFlags::empty(),
        };
        let frame = profile.intern_frame(thread, frame);
        let stack = profile.intern_stack(thread, None, frame);
        profile.add_sample(thread, zero, Some(stack), oracle::CpuDelta::ZERO, 1);
        let expected = serde_json::to_value(&profile).unwrap();
        let mut wrong = Vec::new();
        compare("", &expected, &written(Axis::Time), &mut wrong);
        // What is not recorded here, or said in another of the ways that profile.ts allows.
        let known = ["/meta/sampleUnits", "/meta/pausedRanges", "/profilerOverhead"];
        let known = known.iter().chain(&["/threads/samples/timeDeltas", "/threads/samples/threadCPUDelta"]);
        wrong.retain(|path| !known.clone().any(|known| known == path));
        assert_eq!(wrong, [""; 0]);
        assert_eq!(expected["meta"]["preprocessedProfileVersion"], VERSION);
    }

    fn compare(path: &str, expected: &Value, found: &Value, wrong: &mut Vec<String>) {
        match (expected, found) {
            (Value::Object(expected), Value::Object(found)) => {
                for (key, value) in expected {
                    compare(
                        &format!("{path}/{key}"),
                        value,
                        found.get(key).unwrap_or(&json!("missing")),
                        wrong,
                    );
                }
            }
            (Value::Array(expected), Value::Array(found)) => {
                if let (Some(expected), Some(found)) = (expected.first(), found.first()) {
                    compare(path, expected, found, wrong);
                }
            }
            _ if std::mem::discriminant(expected) == std::mem::discriminant(found) => {}
            _ => wrong.push(path.to_owned()),
        }
    }
}
