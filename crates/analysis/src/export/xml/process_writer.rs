//! Writes what happened in a process: rare events, which are all in memory, between those of objects and waits, which
//! are not.

use std::io::{self, Write};

use instrument_trace::Source;
use quick_xml::Writer;
use quick_xml::events::{BytesStart, Event};

use super::order::{Event as Happened, Ordered, TimedEvent, Waited};
use super::phases::Moment;
use super::phases::Phases;
use super::text::{Calendar, value};
use super::threads::{State, Threads};
use super::{Error, Process};
use crate::hash::HashMap;
use instrument_names::signature::java_class;

/// Events of which there are few.
#[derive(Debug, Clone, Copy)]
enum Rare {
    ThreadStart(usize),
    ThreadEnd(usize),
    Collection,
    Collected,
}

/// Attributes with their values.
type Attributes<'a> = &'a [(&'a str, &'a str)];

pub(super) struct ProcessWriter<'a, 'b, S> {
    process: &'a Process<'a, S>,
    phases: Phases,
    calendar: Calendar,
    /// Of the trace, from 1.
    number: usize,
    /// Before each id.
    prefix: String,
    threads: Threads,
    /// Those that were defined: whether they are of arrays.
    classes: HashMap<u32, bool>,
    /// Objects that are there, and their bytes.
    used: (u64, u64),
    out: &'a mut Writer<&'b mut dyn Write>,
}

impl<'a, 'b, S: Source> ProcessWriter<'a, 'b, S> {
    pub(super) fn new(
        process: &'a Process<'a, S>,
        copy: u32,
        number: usize,
        out: &'a mut Writer<&'b mut dyn Write>,
    ) -> ProcessWriter<'a, 'b, S> {
        let prefix = if number > 1 { format!("{number}.") } else { String::new() };
        let profile = process.profile;
        ProcessWriter {
            process,
            phases: Phases::new(profile, copy),
            calendar: Calendar { start_ms: profile.start_ms, start_clock: profile.start_clock },
            number,
            threads: Threads::new(profile, copy, &prefix),
            prefix,
            classes: HashMap::default(),
            used: (0, 0),
            out,
        }
    }

    pub(super) fn write(mut self) -> Result<(), Error> {
        self.begin()?;
        let rare = self.rare();
        let mut rare = rare.into_iter().peekable();
        let phases = Phases::new(self.process.profile, self.phases.copy);
        let mut ordered = Ordered::new(self.process.source, self.process.profile, &phases)?;
        let mut last = 0;
        loop {
            let batch = ordered.next()?;
            if batch.is_empty() {
                break;
            }
            for event in batch {
                while let Some((moment, event)) = rare.next_if(|(moment, _)| *moment < event.moment) {
                    self.write_rare(moment, event)?;
                }
                self.write_recorded(&event)?;
                last = event.moment.clock;
            }
        }
        for (moment, event) in rare {
            self.write_rare(moment, event)?;
            last = last.max(moment.clock);
        }
        let time = self.calendar.time(last.max(self.phases.last));
        Ok(self.element("traceEnd", &[("traceIdRef", &format!("t{}", self.number)), ("time", &time)])?)
    }

    /// An element on a line of its own. Values are of known text, or went through [`value`].
    fn element(&mut self, name: &str, attributes: Attributes<'_>) -> io::Result<()> {
        // A class or thread may have no name; whatever else is empty is not known.
        let is_known =
            |(name, value): &(&str, &str)| !value.is_empty() || ["name", "threadName"].contains(name);
        let attributes = attributes.iter().copied().filter(is_known);
        self.out.write_event(Event::Empty(BytesStart::new(name).with_attributes(attributes)))?;
        self.out.get_mut().write_all(b"\n")
    }

    fn begin(&mut self) -> io::Result<()> {
        let profile = self.process.profile;
        let time = self.calendar.time(profile.start_clock);
        let [node, process, agent, trace] =
            ["n", "p", "a", "t"].map(|letter| format!("{letter}{}", self.number));
        let host = value(self.process.host.unwrap_or_default());
        self.element("node", &[("nodeId", &node), ("hostname", &host), ("time", &time)])?;
        let pid = profile.pid.to_string();
        let name = value(self.process.name);
        let attributes =
            [("processId", process.as_str()), ("nodeIdRef", &node), ("pid", &pid), ("name", &name)];
        self.element("processCreate", &[&attributes[..], &[("time", &time)]].concat())?;
        let attributes = [
            ("agentId", agent.as_str()),
            ("processIdRef", &process),
            ("agentName", "instrument"),
            ("agentType", "Profiler"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("time", &time),
        ];
        self.element("agentCreate", &attributes)?;
        self.element("traceStart", &[("traceId", &trace), ("agentIdRef", &agent), ("time", &time)])
    }

    /// Starts and ends of threads and collections, in order.
    fn rare(&self) -> Vec<(Moment, Rare)> {
        let (profile, phases) = (self.process.profile, &self.phases);
        let mut rare = Vec::new();
        for (at, thread) in self.threads.all.iter().enumerate() {
            let start = if thread.start == 0 { profile.start_clock } else { thread.start };
            let number = at as u64;
            rare.push((phases.moment(start, Phases::THREAD, number), Rare::ThreadStart(at)));
            if thread.end != 0 {
                let end = phases.moment(thread.end.max(start), Phases::THREAD_END, number);
                rare.push((end, Rare::ThreadEnd(at)));
            }
        }
        for collection in profile.collections_of(phases.copy) {
            let (begun, ended) = phases.collection(collection.number, collection.start);
            rare.push((begun, Rare::Collection));
            rare.extend(ended.map(|ended| (ended, Rare::Collected)));
        }
        rare.sort_by_key(|(moment, _)| *moment);
        rare
    }

    fn write_rare(&mut self, moment: Moment, event: Rare) -> io::Result<()> {
        let time = self.calendar.time(moment.clock);
        match event {
            Rare::ThreadStart(at) => self.start(at, &time),
            Rare::ThreadEnd(at) => {
                self.start(at, &time)?;
                self.threads.all[at].state = State::Ended;
                let id = self.threads.all[at].id.clone();
                self.element("threadEnd", &[("threadIdRef", &id), ("time", &time)])
            }
            Rare::Collection => self.element("gcStart", &[("time", &time)]),
            Rare::Collected => {
                let (objects, bytes) = (self.used.0.to_string(), self.used.1.to_string());
                let followed = !self.process.profile.objects.is_empty();
                let used = [("usedObjects", objects.as_str()), ("usedObjSpace", &bytes), ("time", &time)];
                self.element("gcFinish", if followed { &used } else { &used[2..] })
            }
        }
    }

    fn write_recorded(&mut self, event: &TimedEvent) -> io::Result<()> {
        let time = self.calendar.time(event.moment.clock);
        match event.event {
            Happened::Made { class, thread, bytes } => {
                self.used.0 += 1;
                self.used.1 = self.used.1.saturating_add(bytes);
                let thread = self.thread(self.threads.recorded(thread), &time)?;
                let (class, is_array) = self.class(class, &time)?;
                let object = format!("{}{}", self.prefix, event.moment.number);
                let attributes = [
                    ("objId", object.as_str()),
                    ("classIdRef", &class),
                    ("threadIdRef", &thread),
                    ("size", &bytes.to_string()),
                    ("isArray", if is_array { "true" } else { "false" }),
                    ("time", &time),
                ];
                self.element("objAlloc", &attributes)
            }
            Happened::Gone { bytes } => {
                self.used.0 = self.used.0.saturating_sub(1);
                self.used.1 = self.used.1.saturating_sub(bytes);
                let object = format!("{}{}", self.prefix, event.moment.number);
                self.element("objFree", &[("objIdRef", &object), ("time", &time)])
            }
            Happened::Wait(waited) => self.wait(&waited, false, &time),
            Happened::Waited(waited) => self.wait(&waited, true, &time),
        }
    }

    fn wait(&mut self, waited: &Waited, is_end: bool, time: &str) -> io::Result<()> {
        let thread = self.thread(self.threads.numbered(waited.thread), time)?;
        let owner = match (waited.contended, is_end) {
            (true, false) => self.thread(self.threads.numbered(waited.owner), time)?,
            _ => String::new(),
        };
        let class = if waited.class == 0 { String::new() } else { self.class(waited.class, time)?.0 };
        let monitor =
            if waited.monitor == 0 { String::new() } else { format!("{}{}", self.prefix, waited.monitor) };
        let timeout = match (waited.contended, is_end) {
            (true, _) => String::new(),
            (false, false) => waited.timeout.to_string(),
            (false, true) => format!("{}.{:06}", waited.timeout / 1_000_000, waited.timeout % 1_000_000),
        };
        let name = match (waited.contended, is_end) {
            (true, false) => "monContendedEnter",
            (true, true) => "monContendedEntered",
            (false, false) => "monWait",
            (false, true) => "monWaited",
        };
        let attributes = [
            ("threadIdRef", thread.as_str()),
            ("monitorId", &monitor),
            ("classIdRef", &class),
            ("ownerThreadIdRef", &owner),
            ("timeout", &timeout),
            ("time", time),
        ];
        self.element(name, &attributes)
    }

    /// Tells that a thread started, once.
    fn start(&mut self, at: usize, time: &str) -> io::Result<()> {
        let thread = &mut self.threads.all[at];
        if thread.state != State::Unknown {
            return Ok(());
        }
        thread.state = State::Started;
        let (id, name) = (thread.id.clone(), value(&thread.name).into_owned());
        let (group, parent) = (value(&thread.group).into_owned(), value(&thread.parent).into_owned());
        let attributes = [
            ("threadId", id.as_str()),
            ("threadName", &name),
            ("groupName", &group),
            ("parentName", &parent),
            ("time", time),
        ];
        self.element("threadStart", &attributes)
    }

    /// The id of a thread, which is told to have started if it was not; empty: it is not known, or not any more.
    fn thread(&mut self, at: Option<usize>, time: &str) -> io::Result<String> {
        let Some(at) = at else { return Ok(String::new()) };
        self.start(at, time)?;
        let thread = &self.threads.all[at];
        Ok(if thread.state == State::Ended { String::new() } else { thread.id.clone() })
    }

    /// The id of a class, which is defined if it was not; and whether it is one of arrays.
    fn class(&mut self, number: u32, time: &str) -> io::Result<(String, bool)> {
        let id = format!("{}{number}", self.prefix);
        if let Some(&is_array) = self.classes.get(&number) {
            return Ok((id, is_array));
        }
        let name = (self.process.classes)(self.phases.copy, number);
        let (shown, is_array) = (java_class(&name), name.starts_with('['));
        self.classes.insert(number, is_array);
        self.element("classDef", &[("classId", &id), ("name", &value(&shown)), ("time", time)])?;
        Ok((id, is_array))
    }
}
