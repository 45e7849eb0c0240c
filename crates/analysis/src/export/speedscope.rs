//! JSON for speedscope.app, as its `file-format-schema.json` has it: from a model a sampled profile of each thread,
//! whose weights are what each context consumed itself; from a timeline an evented profile of each thread.

use super::Figure;
use super::size;
use super::timeline::{Thread, Timeline};
use super::walk::{Step, Tree};
use crate::model::{Arcflow, Resource};
use crate::origin::Origins;
use std::collections::HashMap;
use std::io::{self, Write};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Writes one figure of each context.
///
/// # Errors
/// Those of `out`.
pub fn write(model: &Arcflow, figure: Figure, out: &mut dyn Write) -> io::Result<()> {
    let tree = Tree::new(model);
    let resource = figure.resource(model);
    let mut frames = Frames { origins: model.origins.clone(), ..Frames::default() };
    head(&mut *out)?;
    for (i, track) in tree.tracks().into_iter().enumerate() {
        let total: f64 = tree.nodes(track).map(|id| figure.of(model, id).max(0.0)).sum();
        write!(out, "{}\n{{\"type\":\"sampled\",\"name\":", if i > 0 { "," } else { "" })?;
        serde_json::to_writer(&mut *out, &full_name(track.process_name, track.name))?;
        write!(out, ",\"unit\":\"{}\",\"startValue\":0,\"endValue\":{total},\"samples\":[", unit(&resource))?;
        let mut stack = Vec::new();
        let mut separator = "";
        for step in tree.walk_track(track) {
            match step {
                Step::Enter(id) if id == track.root => {}
                Step::Leave(_) => drop(stack.pop()),
                Step::Enter(id) => {
                    stack.push(frames.index(tree.name(id)));
                    if figure.of(model, id) > 0.0 {
                        write!(out, "{separator}")?;
                        serde_json::to_writer(&mut *out, &stack)?;
                        separator = ",\n";
                    }
                }
            }
        }
        write!(out, "],\n\"weights\":[")?;
        let mut separator = "";
        for weight in tree.nodes(track).map(|id| figure.of(model, id)).filter(|weight| *weight > 0.0) {
            write!(out, "{separator}{weight}")?;
            separator = ",";
        }
        write!(out, "]}}")?;
    }
    frames.write_tail(out)
}

/// About how many bytes [`write`] writes.
pub fn size(model: &Arcflow, figure: Figure) -> u64 {
    let frame = size::consumers(model).ilog10() as usize + 2;
    size::stacks(model, |id| figure.of(model, id) > 0.0, |_| frame, size::FIGURE)
}

/// Writes a timeline while it is fed.
#[derive(Debug)]
pub struct Speedscope<W: Write> {
    out: W,
    frames: Frames,
    /// Frames of the current thread that are open.
    open: Vec<usize>,
    threads: usize,
    events: usize,
    start: u64,
    end: u64,
}

impl<W: Write> Speedscope<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Speedscope<W> {
        let frames = Frames::default();
        Speedscope { out, frames, open: Vec::new(), threads: 0, events: 0, start: 0, end: 0 }
    }

    /// Frames have the source file and first line of their methods.
    #[must_use]
    pub fn with_origins(mut self, origins: Origins) -> Speedscope<W> {
        self.frames.origins = origins;
        self
    }

    fn event(&mut self, kind: char, frame: usize, at: u64) -> io::Result<()> {
        let separator = if self.events == 0 { "" } else { ",\n" };
        if self.events == 0 {
            self.start = at;
        }
        self.events += 1;
        self.end = at;
        write!(self.out, "{separator}{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{at}}}")
    }

    fn end_thread(&mut self) -> io::Result<()> {
        if self.threads == 0 {
            return Ok(());
        }
        write!(self.out, "],\n\"startValue\":{},\"endValue\":{}}}", self.start, self.end)
    }
}

impl<W: Write> Timeline for Speedscope<W> {
    fn thread(&mut self, thread: Thread<'_>) -> io::Result<()> {
        if self.threads == 0 {
            head(&mut self.out)?;
        }
        self.end_thread()?;
        let separator = if self.threads == 0 { "" } else { "," };
        self.threads += 1;
        (self.events, self.start, self.end) = (0, 0, 0);
        write!(self.out, "{separator}\n{{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":")?;
        serde_json::to_writer(&mut self.out, &full_name(thread.process_name, thread.name))?;
        write!(self.out, ",\"events\":[")
    }

    fn enter(&mut self, name: &str, at: u64) -> io::Result<()> {
        let frame = self.frames.index(name);
        self.open.push(frame);
        self.event('O', frame, at)
    }

    fn leave(&mut self, at: u64) -> io::Result<()> {
        match self.open.pop() {
            Some(frame) => self.event('C', frame, at),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.threads == 0 {
            head(&mut self.out)?;
        }
        self.end_thread()?;
        self.frames.write_tail(&mut self.out)?;
        self.out.flush()
    }
}

fn head(out: &mut dyn Write) -> io::Result<()> {
    let exporter = concat!("instrument ", env!("CARGO_PKG_VERSION"));
    write!(out, "{{\"$schema\":\"{SCHEMA}\",\"exporter\":\"{exporter}\",\"profiles\":[")
}

fn full_name(process: &str, thread: &str) -> String {
    if process.is_empty() { thread.to_owned() } else { format!("{process}: {thread}") }
}

fn unit(resource: &Resource) -> &'static str {
    match resource.unit.as_str() {
        "ns" => "nanoseconds",
        "us" | "µs" => "microseconds",
        "ms" => "milliseconds",
        "s" => "seconds",
        "bytes" => "bytes",
        _ if resource.name == "bytes" => "bytes",
        _ => "none",
    }
}

/// The frames that profiles share, by name.
#[derive(Debug, Default)]
struct Frames {
    indexes: HashMap<String, usize>,
    names: Vec<String>,
    origins: Origins,
}

impl Frames {
    fn index(&mut self, name: &str) -> usize {
        if let Some(&index) = self.indexes.get(name) {
            return index;
        }
        let index = self.names.len();
        self.indexes.insert(name.to_owned(), index);
        self.names.push(name.to_owned());
        index
    }

    /// Ends the profiles, and writes the frames, which are known by then.
    fn write_tail(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "\n],\"shared\":{{\"frames\":[")?;
        for (i, name) in self.names.iter().enumerate() {
            write!(out, "{}\n{{\"name\":", if i > 0 { "," } else { "" })?;
            serde_json::to_writer(&mut *out, name)?;
            if let Some((file, line)) = self.origins.path(name) {
                write!(out, ",\"file\":")?;
                serde_json::to_writer(&mut *out, &file)?;
                if line > 0 {
                    write!(out, ",\"line\":{line}")?;
                }
            }
            write!(out, "}}")?;
        }
        writeln!(out, "\n]}}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::timeline::tests::two_threads;
    use crate::input;
    use serde_json::{Value, json};

    #[test]
    fn a_thread_is_a_sampled_profile() {
        let text = "[t 1];a;b 2\n[t 1];a 1\n[t 2];b;b 3\nc 4\n";
        let model = input::read(text.as_bytes()).unwrap().model;
        let mut bytes = Vec::new();
        write(&model, Figure::Base(0), &mut bytes).unwrap();
        let json: Value = serde_json::from_slice(&bytes).unwrap();
        let profile = |name, total, samples, weights| {
            json!({"type": "sampled", "name": name, "unit": "none", "startValue": 0, "endValue": total,
                   "samples": samples, "weights": weights})
        };
        let expected = json!([
            profile("(no thread)", 4, json!([[0]]), json!([4])),
            profile("t 1", 3, json!([[1], [1, 2]]), json!([1, 2])),
            profile("t 2", 3, json!([[2, 2]]), json!([3])),
        ]);
        assert_eq!(json["profiles"], expected);
        assert_eq!(json["shared"]["frames"], json!([{"name": "c"}, {"name": "a"}, {"name": "b"}]));
    }

    #[test]
    fn a_timeline_is_evented() {
        let mut bytes = Vec::new();
        two_threads(&mut Speedscope::new(&mut bytes)).unwrap();
        let json: Value = serde_json::from_slice(&bytes).unwrap();
        let worker = json!({"type": "evented", "unit": "nanoseconds", "name": "shop: worker",
            "startValue": 2000, "endValue": 3_000_000, "events": [
            {"type": "O", "frame": 0, "at": 2000}, {"type": "C", "frame": 0, "at": 3_000_000}]});
        assert_eq!(json["profiles"][1], worker);
        assert_eq!(json["profiles"][0]["events"].as_array().unwrap().len(), 6);
        assert_eq!(json["shared"]["frames"][1]["name"], "b\"<");
    }
}
