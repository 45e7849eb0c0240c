//! Trace events as JSON, as chrome://tracing and ui.perfetto.dev read them: a begin and an end for each frame.

use super::timeline::{Details, Flow, Thread, Timeline};
use crate::origin::Origins;
use std::collections::HashSet;
use std::io::{self, Write};

/// Tids begin here, so that none is equal to a pid: that would mark a main thread.
const FIRST_TID: usize = 100_000;

/// Writes a timeline as trace events while it is fed.
#[derive(Debug)]
pub struct Chrome<W: Write> {
    out: W,
    first: bool,
    threads: usize,
    processes: HashSet<usize>,
    pid: usize,
    /// The time of day at 0.
    unix_ns: Option<u64>,
    origins: Origins,
}

impl<W: Write> Chrome<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Chrome<W> {
        let (processes, origins) = (HashSet::new(), Origins::default());
        Chrome { out, first: true, threads: 0, processes, pid: 0, unix_ns: None, origins }
    }

    /// Frames have the source file and first line of their methods among their arguments.
    #[must_use]
    pub fn with_origins(self, origins: Origins) -> Chrome<W> {
        Chrome { origins, ..self }
    }

    /// The beginning of an event, up to where its own members may follow.
    fn event(&mut self, phase: &str) -> io::Result<()> {
        let separator = if std::mem::replace(&mut self.first, false) { "" } else { "," };
        let (pid, tid) = (self.pid, FIRST_TID + self.threads - 1);
        let category = if phase == "M" { "__metadata" } else { "java" };
        write!(
            self.out,
            "{separator}\n{{\"ph\":\"{phase}\",\"cat\":\"{category}\",\"pid\":{pid},\"tid\":{tid}"
        )
    }

    fn name(&mut self, of: &str, name: &str) -> io::Result<()> {
        self.event("M")?;
        write!(self.out, ",\"ts\":0,\"name\":\"{of}\",\"args\":{{\"name\":")?;
        serde_json::to_writer(&mut self.out, name)?;
        write!(self.out, "}}}}")
    }

    /// The format's unit is µs.
    fn time(&mut self, at: u64) -> io::Result<()> {
        write!(self.out, ",\"ts\":{}.{:03}}}", at / 1000, at % 1000)
    }

    /// Arrows belong to the innermost frame at their time, which nothing else is.
    fn flows(&mut self, flows: &[Flow]) -> io::Result<()> {
        for flow in flows {
            self.event(if flow.is_start { "s" } else { "f" })?;
            let id = flow.id;
            write!(self.out, ",\"bp\":\"e\",\"id\":{id},\"name\":\"remote call\"")?;
            self.time(flow.at)?;
        }
        Ok(())
    }

    fn head(&mut self) -> io::Result<()> {
        write!(self.out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")
    }
}

impl<W: Write> Timeline for Chrome<W> {
    fn time_of_day(&mut self, unix_ns: u64) -> io::Result<()> {
        self.unix_ns = Some(unix_ns);
        Ok(())
    }

    fn thread(&mut self, thread: Thread<'_>) -> io::Result<()> {
        if self.threads == 0 {
            self.head()?;
        }
        self.threads += 1;
        self.pid = thread.process + 1;
        if self.processes.insert(thread.process) {
            self.name("process_name", thread.process_name)?;
        }
        self.name("thread_name", thread.name)
    }

    fn enter(&mut self, name: &str, at: u64) -> io::Result<()> {
        self.enter_with(name, at, &Details::default())
    }

    fn leave(&mut self, at: u64) -> io::Result<()> {
        self.event("E")?;
        self.time(at)
    }

    fn enter_with(&mut self, name: &str, at: u64, details: &Details<'_>) -> io::Result<()> {
        self.event("B")?;
        write!(self.out, ",\"name\":")?;
        serde_json::to_writer(&mut self.out, name)?;
        let mut separator = ",\"args\":{";
        for (name, value) in details.args {
            write!(self.out, "{separator}\"{name}\":")?;
            serde_json::to_writer(&mut self.out, value)?;
            separator = ",";
        }
        if let Some((file, line)) = self.origins.path(name) {
            write!(self.out, "{separator}\"file\":")?;
            serde_json::to_writer(&mut self.out, &file)?;
            write!(self.out, ",\"line\":{line}")?;
            separator = ",";
        }
        write!(self.out, "{}", if separator == "," { "}" } else { "" })?;
        self.time(at)?;
        self.flows(details.flows)
    }

    fn leave_with(&mut self, at: u64, flows: &[Flow]) -> io::Result<()> {
        self.flows(flows)?;
        self.leave(at)
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.threads == 0 {
            self.head()?;
        }
        write!(self.out, "\n]")?;
        if let Some(ns) = self.unix_ns {
            write!(self.out, ",\"otherData\":{{\"unix_ns_at_0\":\"{ns}\"}}")?;
        }
        writeln!(self.out, "}}")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::timeline::tests::{a_remote_call, two_threads};
    use serde_json::Value;

    #[test]
    fn begins_and_ends_are_written_by_thread() {
        let mut bytes = Vec::new();
        two_threads(&mut Chrome::new(&mut bytes)).unwrap();
        let json: Value = serde_json::from_slice(&bytes).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let said = |event: &Value| {
            let name = event["args"]["name"].as_str().or(event["name"].as_str()).unwrap_or_default();
            format!(
                "{} {}.{} {} {name}",
                event["ph"].as_str().unwrap(),
                event["pid"],
                event["tid"],
                event["ts"]
            )
        };
        let said: Vec<String> = events.iter().map(said).collect();
        let expected = [
            "M 1.100000 0 shop",
            "M 1.100000 0 main",
            "B 1.100000 1.0 a",
            "B 1.100000 1.5 b\"<",
            "E 1.100000 4.0 ",
            "B 1.100000 4.0 b\"<",
            "E 1.100000 4.001 ",
            "E 1.100000 9.0 ",
            "M 1.100001 0 worker",
            "B 1.100001 2.0 a",
            "E 1.100001 3000.0 ",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn arrows_lie_within_their_frames() {
        let mut bytes = Vec::new();
        a_remote_call(&mut Chrome::new(&mut bytes)).unwrap();
        let json: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(json["otherData"]["unix_ns_at_0"], "1700000000000000000");
        let events = json["traceEvents"].as_array().unwrap();
        let told = events.iter().filter(|event| event["ph"] != "M").map(|event| {
            let tid = event["tid"].as_u64().unwrap() - 100_000;
            format!("{} {tid} {} {}", event["ph"].as_str().unwrap(), event["ts"], event["id"])
        });
        let expected = [
            "B 0 1.0 null",
            "s 0 1.0 1",
            "f 0 8.5 2",
            "E 0 9.0 null",
            "B 1 3.0 null",
            "f 1 3.0 1",
            "s 1 6.5 2",
            "E 1 7.0 null",
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        let args = &events.iter().find(|event| event["ph"] == "B").unwrap()["args"];
        assert_eq!(args, &serde_json::json!({"object": "[1, 2]", "peer": "\"a\":1"}));
    }

    #[test]
    fn nothing_is_a_trace_too() {
        let mut bytes = Vec::new();
        Chrome::new(&mut bytes).finish().unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&bytes).unwrap()["traceEvents"].as_array().unwrap().len(),
            0
        );
    }
}
