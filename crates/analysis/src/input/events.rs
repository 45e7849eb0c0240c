//! Start and end events: who began and who ended to consume, and what the meters said.
//!
//! A text of lines, after figure 2 of seed 001:
//!
//! ```text
//! # Comments begin with # and a blank.
//! consumers: methods
//! occurrences: calls
//! metrics: cpu s, instructions
//! process: shop
//! @ main
//! 0 0 > Main
//! 0.5 812 > Main.price
//! 1.25 2001 < Main.price
//! 1.5 2500 @ worker
//! 1.5 2500 > Worker.run
//! ```
//!
//! | line | |
//! |---|---|
//! | `consumers: WORDS` | what a consumer is; `methods` if it is not said |
//! | `occurrences: WORDS` | what is counted when one begins; `calls` |
//! | `metrics: NAME UNIT, ..` | what the stamps measure; one metric `time` without a unit. These three come before all others |
//! | `process: NAME` | threads that are named from here on belong to it |
//! | `@ THREAD` | a switch: what follows happened in this thread |
//! | `STAMP.. @ THREAD` | the same, and meters that all threads share said so: the thread that ran until now consumed what they show, and the next begins there |
//! | `STAMP.. > NAME` | a consumer begins, called by the innermost open one of its thread |
//! | `STAMP.. < NAME` | it ends |
//!
//! There are as many stamps as metrics: decimal numbers that only grow, below 10^30. What lies between two stamps of a
//! thread was consumed by its innermost frame, or by the thread itself if none is open. Names go to the end of the line
//! and may hold blanks.
//!
//! An end whose consumer is open further out closes what lies above it (*unclosed*); one that is open nowhere is
//! ignored (*unmatched*); a stamp lower than the one before counts as equal to it (*backward*). All of these are
//! counted in [`Remarks`].

use super::lines::{self, Lines, shown};
use super::{Error, Remarks};
use crate::model::{Arcflow, Kind, NodeId, Resource};
use std::collections::HashMap;
use std::io::BufRead;

/// Whether an input whose first line is this one holds events.
pub(super) fn begins(line: &[u8]) -> bool {
    let mut stamps = Vec::new();
    key(line).is_some() || matches!(event(line, &mut stamps), Ok(Some(_)))
}

/// Reads events.
///
/// # Errors
/// The first line that cannot be understood.
pub fn read(reader: impl BufRead) -> Result<(Arcflow, Remarks), Error> {
    read_lines(Lines::new(reader))
}

pub(super) fn read_lines(mut lines: Lines<impl BufRead>) -> Result<(Arcflow, Remarks), Error> {
    let mut events = Events::new(head(&mut lines)?);
    let mut stamps = Vec::new();
    while let Some(line) = lines.next()? {
        if let Err(reason) = events.line(line, &mut stamps) {
            return Err(lines.error(reason));
        }
    }
    Ok(events.finish())
}

/// The labels, which come first.
fn head(lines: &mut Lines<impl BufRead>) -> Result<Arcflow, Error> {
    let (mut consumers, mut occurrences) = (None, None);
    let mut metrics = vec![Resource { name: "time".into(), unit: String::new() }];
    while let Some(line) = lines.next()? {
        match key(line) {
            Some(("consumers", text)) => consumers = Some(text.to_owned()),
            Some(("occurrences", text)) => occurrences = Some(text.to_owned()),
            Some(("metrics", text)) => match resources(text) {
                Some(resources) => metrics = resources,
                None => return Err(lines.error("not `metrics: NAME UNIT, NAME UNIT, ..`")),
            },
            _ => {
                lines.repeat();
                break;
            }
        }
    }
    let mut model = Arcflow::new(metrics);
    model.consumers = consumers.unwrap_or(model.consumers);
    model.occurrences = occurrences.unwrap_or(model.occurrences);
    Ok(model)
}

/// A line `KEY: TEXT` with one of the four keys.
fn key(line: &[u8]) -> Option<(&str, &str)> {
    let (key, text) = std::str::from_utf8(line).ok()?.split_once(": ")?;
    let known = matches!(key, "consumers" | "occurrences" | "metrics" | "process");
    known.then(|| (key, text.trim()))
}

fn resources(text: &str) -> Option<Vec<Resource>> {
    let resource = |part: &str| {
        let mut words = part.split_whitespace();
        let (name, unit) = (words.next()?, words.next().unwrap_or_default());
        words.next().is_none().then(|| Resource { name: name.into(), unit: unit.into() })
    };
    text.split(',').map(resource).collect()
}

/// Splits `STAMP.. OP NAME` into its stamps, operation and name; none if it has no operation.
fn event<'l>(line: &'l [u8], stamps: &mut Vec<f64>) -> Result<Option<(u8, &'l [u8])>, String> {
    stamps.clear();
    let mut rest = line;
    loop {
        let end = memchr::memchr2(b' ', b'\t', rest).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let behind = behind.trim_ascii_start();
        match word {
            [op @ (b'>' | b'<' | b'@')] if !behind.is_empty() => return Ok(Some((*op, behind))),
            [b'>' | b'<' | b'@'] => return Err("a name is missing".into()),
            [b'0'..=b'9' | b'-' | b'+' | b'.', ..] => {
                let stamp = lines::number(word);
                stamps.push(stamp.ok_or_else(|| format!("`{}` is no number", shown(word)))?);
            }
            _ => return Ok(None),
        }
        rest = behind;
    }
}

/// A thread as far as it has been read.
struct Thread {
    node: NodeId,
    /// Its open frames, outermost first.
    open: Vec<NodeId>,
    /// The stamps of its last event; none before the first.
    last: Vec<f64>,
}

impl Thread {
    fn new(node: NodeId) -> Thread {
        Thread { node, open: Vec::new(), last: Vec::new() }
    }
}

struct Events {
    model: Arcflow,
    remarks: Remarks,
    process: NodeId,
    threads: Vec<Thread>,
    /// Places in `threads` by node.
    places: HashMap<NodeId, usize>,
    /// The thread that the events belong to.
    running: usize,
}

impl Events {
    fn new(model: Arcflow) -> Events {
        let unnamed = Thread::new(Arcflow::ROOT);
        Events {
            model,
            remarks: Remarks::default(),
            process: Arcflow::ROOT,
            threads: vec![unnamed],
            places: HashMap::from([(Arcflow::ROOT, 0)]),
            running: 0,
        }
    }

    fn line(&mut self, line: &[u8], stamps: &mut Vec<f64>) -> Result<(), String> {
        let Some((op, name)) = event(line, stamps)? else {
            return match key(line) {
                Some(("process", name)) => {
                    self.process = self.place(Arcflow::ROOT, Kind::Process, name);
                    self.run(self.process);
                    Ok(())
                }
                Some((key, _)) => Err(format!("`{key}:` comes before all events")),
                None => Err(format!("`{}` is no event", shown(line))),
            };
        };
        let metrics = self.model.resources().len();
        if stamps.len() != metrics && !(op == b'@' && stamps.is_empty()) {
            return Err(format!("stamps: {}, metrics: {metrics}", stamps.len()));
        }
        match op {
            b'>' => self.start(stamps, &String::from_utf8_lossy(name)),
            b'<' => self.end(stamps, &String::from_utf8_lossy(name)),
            _ => self.switch(stamps, &String::from_utf8_lossy(name)),
        }
        Ok(())
    }

    /// The child of a node; a new one has been met once.
    fn place(&mut self, parent: NodeId, kind: Kind, name: &str) -> NodeId {
        let known = self.model.nodes().len();
        let consumer = self.model.consumer(name);
        let node = self.model.child(parent, kind, consumer);
        if self.model.nodes().len() > known {
            self.model.meet(node, 1);
        }
        node
    }

    /// Makes the thread of a node the running one.
    fn run(&mut self, node: NodeId) {
        self.running = *self.places.entry(node).or_insert_with(|| {
            self.threads.push(Thread::new(node));
            self.threads.len() - 1
        });
    }

    fn switch(&mut self, stamps: &[f64], name: &str) {
        if !stamps.is_empty() {
            self.charge(stamps);
        }
        let node = self.place(self.process, Kind::Thread, name);
        self.run(node);
        if !stamps.is_empty() {
            self.threads[self.running].last = stamps.to_vec();
        }
    }

    /// What the meters show since the thread's last event was consumed by its innermost frame.
    fn charge(&mut self, stamps: &[f64]) {
        let thread = &mut self.threads[self.running];
        if thread.last.is_empty() {
            thread.last.extend(stamps);
            return;
        }
        let consumer = thread.open.last().copied().unwrap_or(thread.node);
        for ((base, last), &stamp) in
            self.model.base_mut(consumer).iter_mut().zip(&mut thread.last).zip(stamps)
        {
            if stamp < *last {
                self.remarks.backward += 1;
            } else {
                *base += stamp - *last;
                *last = stamp;
            }
        }
    }

    fn start(&mut self, stamps: &[f64], name: &str) {
        self.charge(stamps);
        let thread = &mut self.threads[self.running];
        let caller = thread.open.last().copied().unwrap_or(thread.node);
        let consumer = self.model.consumer(name);
        let node = self.model.child(caller, Kind::Method, consumer);
        self.model.meet(node, 1);
        thread.open.push(node);
    }

    fn end(&mut self, stamps: &[f64], name: &str) {
        self.charge(stamps);
        let open = &mut self.threads[self.running].open;
        let named = |node: &NodeId| self.model.name(self.model.node(*node).consumer) == name;
        match open.iter().rposition(named) {
            Some(at) => {
                self.remarks.unclosed += (open.len() - at - 1) as u64;
                open.truncate(at);
            }
            None => self.remarks.unmatched += 1,
        }
    }

    fn finish(mut self) -> (Arcflow, Remarks) {
        self.remarks.open = self.threads.iter().map(|thread| thread.open.len() as u64).sum();
        (self.model, self.remarks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Arcflow, Remarks) {
        read(text.as_bytes()).unwrap()
    }

    /// `path n base..` of every node but the root.
    fn rows(model: &Arcflow) -> Vec<String> {
        let mut paths = vec![String::new()];
        let mut rows = Vec::new();
        for (i, node) in model.nodes().iter().enumerate().skip(1) {
            let path = format!("{}/{}", paths[node.parent.0 as usize], model.name(node.consumer));
            rows.push(format!("{path} {} {:?}", node.n, model.base(NodeId(i as u32))));
            paths.push(path);
        }
        rows
    }

    #[test]
    fn threads_have_their_own_stacks_and_clocks() {
        let (model, remarks) = read_text(
            "metrics: wall ns, bytes\nprocess: p\n@ one\n10 0 > a\n@ two\n100 0 > a b\n@ one\n30 5 < a\n@ two\n101 7 < a b\n",
        );
        assert_eq!(remarks, Remarks::default());
        let expected = [
            "/p 1 [0.0, 0.0]",
            "/p/one 1 [0.0, 0.0]",
            "/p/one/a 1 [20.0, 5.0]",
            "/p/two 1 [0.0, 0.0]",
            "/p/two/a b 1 [1.0, 7.0]",
        ];
        assert_eq!(rows(&model), expected);
        assert_eq!(model.resources()[1], Resource { name: "bytes".into(), unit: String::new() });
    }

    #[test]
    fn a_switch_with_stamps_is_a_shared_clock() {
        let (model, _) = read_text("0 @ one\n0 > a\n5 @ two\n6 > b\n9 @ one\n10 < a\n12 @ two\n13 < b\n");
        let expected = ["/one 1 [2.0]", "/one/a 1 [6.0]", "/two 1 [1.0]", "/two/b 1 [4.0]"];
        assert_eq!(rows(&model), expected);
    }

    #[test]
    fn events_that_do_not_fit_are_counted() {
        let (model, remarks) = read_text("0 > a\n1 > b\n2 > c\n3 < x\n4 < a\n3 > d\n6 > e\n8 < d\n9 > f\n");
        assert_eq!(
            remarks,
            Remarks { open: 1, unclosed: 3, unmatched: 1, backward: 1, ..Remarks::default() }
        );
        let expected =
            ["/a 1 [1.0]", "/a/b 1 [1.0]", "/a/b/c 1 [2.0]", "/d 1 [2.0]", "/d/e 1 [2.0]", "/f 1 [0.0]"];
        assert_eq!(rows(&model), expected);
        let said = "frames still open at the end: 1, frames without an end of their own: 3, ends that fit no start: 1, stamps that went backward: 1";
        assert_eq!(remarks.to_string(), said);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, message) in [
            ("0 > a\n\n# fine\n1 < \n", "line 4: a name is missing"),
            ("0 > a\n1 ? b\n", "line 2: `1 ? b` is no event"),
            ("0 > a\n1.2.3 > b\n", "line 2: `1.2.3` is no number"),
            ("0 > a\n1 2 > b\n", "line 2: stamps: 2, metrics: 1"),
            ("@ t\n> b\n", "line 2: stamps: 0, metrics: 1"),
            ("1e999 > b\n", "line 1: `1e999` is no number"),
            ("@ t\nmetrics: wall ns\n", "line 2: `metrics:` comes before all events"),
            ("metrics: wall ns x\n", "line 1: not `metrics: NAME UNIT, NAME UNIT, ..`"),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn deep_recursion_takes_no_stack() {
        const DEPTH: usize = 100_000;
        let mut text = String::new();
        (0..DEPTH).for_each(|i| text.push_str(&format!("{i} > f\n")));
        (DEPTH..2 * DEPTH).for_each(|i| text.push_str(&format!("{i} < f\n")));
        let (model, remarks) = read_text(&text);
        assert_eq!(model.nodes().len(), DEPTH + 1);
        assert_eq!(model.cum()[0], (2 * DEPTH - 1) as f64);
        assert_eq!(remarks, Remarks::default());
    }
}
