//! What a page shows beside contexts: threads, the heap, monitors and remote calls, each as the document of the report that prints them, cut
//! to as many rows as a page has room for.

use serde::Serialize;
use serde_json::{Value, json};

use crate::heap::query::Query;
use crate::heap::table::{By, Filter};
use crate::merge::processes::{self, Processes, RemoteCalls};
use crate::merge::waterfalls::Bounds;
use crate::report::heap::{Section, View};
use crate::report::thread_list::Labelled;
use crate::report::{Format, Options, monitors, remote, thread_list};
use crate::session::{Error, ProfileFile, Request, Session, thread_filter};
use crate::timeline::{self, Timeline};

/// Rows of threads.
const THREADS: usize = 2000;
/// Rows of classes, and of sites, and leak suspects.
const OBJECTS: usize = 500;
/// Collections; of more only every second, third, .. one.
const COLLECTIONS: usize = 2000;
/// Rows of monitors, of pairs of threads, of threads that waited.
const MONITORS: usize = 300;
/// Methods that were called from elsewhere.
const SERVICES: usize = 500;
/// Single remote calls.
const CALLS: Bounds = Bounds { outermost: 50, within: 200 };

/// The sections of a page; null: nothing of it was recorded.
#[derive(Debug, Default, Serialize)]
pub struct Sections {
    /// `instrument threads --list`.
    threads: Value,
    /// `instrument heap`.
    heap: Value,
    /// `instrument monitors`.
    monitors: Value,
    /// `instrument merge --report services`, and `--report calls`.
    remote: Value,
    /// `instrument timeline`: an overview.
    timeline: Value,
}

impl Sections {
    /// Of profiles that were read as they are.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn of_session(
        session: &Session,
        request: &Request,
        timeline: &Timeline,
        room: timeline::Room,
    ) -> Result<Sections, Error> {
        let files = &session.profiles[..];
        let labels: Vec<_> = files.iter().map(ProfileFile::label).collect();
        let calls = if request.is_everything() { processes::remote(files, CALLS)? } else { None };
        let mut sections =
            Sections::new(session, request, files, &labels, request.split_threads, calls.as_ref())?;
        sections.add(timeline, files, room)?;
        Ok(sections)
    }

    /// Of a tree over processes that call each other; `clock`: whose clock the moments are of.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn of_processes(
        session: &Session,
        request: &Request,
        processes: &mut Processes,
        clock: Option<usize>,
        internals: bool,
    ) -> Result<Sections, Error> {
        let wanted = thread_filter(&request.threads);
        for file in &mut processes.files {
            file.gather_waits(&wanted)?;
        }
        let calls = processes.calls().remote(clock, internals, CALLS)?;
        let (files, labels) = (&processes.files[..], &processes.labels[..]);
        let mut sections = Sections::new(session, request, files, labels, true, Some(&calls))?;
        let timeline = Timeline::new(files, labels, Some(&calls.offsets), &wanted)?;
        sections.add(&timeline, files, timeline::Room::FILE)?;
        Ok(sections)
    }

    fn add(&mut self, timeline: &Timeline, files: &[ProfileFile], room: timeline::Room) -> Result<(), Error> {
        if !timeline.rows.is_empty() {
            self.timeline = timeline::document(timeline, files, room)?;
        }
        Ok(())
    }

    fn new(
        session: &Session,
        request: &Request,
        files: &[ProfileFile],
        labels: &[String],
        split: bool,
        calls: Option<&RemoteCalls>,
    ) -> Result<Sections, Error> {
        let labelled: Vec<Labelled<'_>> = labels.iter().map(String::as_str).zip(files).collect();
        Ok(Sections {
            threads: thread_list::value(&session.model, &labelled, split, THREADS),
            heap: heap(files, request)?,
            monitors: monitors::value(files, &thread_filter(&request.threads), MONITORS).unwrap_or_default(),
            timeline: Value::Null,
            remote: calls.map_or(Value::Null, |calls| {
                json!({"services": remote::services(calls, SERVICES), "calls": remote::waterfalls(calls)})
            }),
        })
    }

    /// What there was no room for, in words.
    pub fn left_out(&self) -> Vec<String> {
        let mut left = Vec::new();
        let mut say = |what: &str, all: Option<u64>, shown: usize| {
            let more = all.unwrap_or_default().saturating_sub(shown as u64);
            if more > 0 {
                left.push(format!("{more} {what}"));
            }
        };
        let length = |list: &Value| list.as_array().map_or(0, Vec::len);
        let mut list = |what: &str, of: &Value| say(what, of["all"].as_u64(), length(&of["rows"]));
        list("threads", &self.threads);
        list("classes", &self.heap["classes"]);
        list("sites of allocation", &self.heap["sites"]);
        list("remote methods", &self.remote["services"]);
        let every = self.heap["every"].as_u64().unwrap_or(1);
        let collections = &self.heap["collections"];
        say("collections", self.heap["all_collections"].as_u64().filter(|_| every > 1), length(collections));
        for (key, what) in [
            ("rows", "threads of the timeline"),
            ("waits", "waits of the timeline"),
            ("arrows", "arrows of the timeline"),
            ("collections", "collections of the timeline"),
        ] {
            say(what, self.timeline["left_out"][key].as_u64(), 0);
        }
        let calls = &self.remote["calls"];
        say("outermost remote calls", calls["outermost"].as_u64(), length(&calls["rows"]));
        for (key, what) in
            [("monitors", "monitors"), ("pairs", "pairs of threads"), ("threads", "threads that waited")]
        {
            let processes = self.monitors.as_array().into_iter().flatten();
            let more = processes.filter_map(|process| process["left_out"][key].as_u64()).sum();
            say(what, Some(more), 0);
        }
        left
    }
}

/// The summary of the heap; null: nothing was recorded of it.
fn heap(files: &[ProfileFile], request: &Request) -> Result<Value, Error> {
    let mut is_recorded = false;
    for file in files {
        let profile = &file.profile;
        let is_counted =
            profile.threads.iter().any(|of| !of.allocations.is_empty() || !of.tree_allocations.is_empty());
        is_recorded |= is_counted || !profile.collections.is_empty() || file.lifetimes()?.is_some();
    }
    if !is_recorded {
        return Ok(Value::Null);
    }
    let selection = Query { threads: request.threads.clone(), ..Query::default() }.select(files)?;
    let view = View { sections: &[Section::Summary], by: By::Class, filter: Filter::default() };
    let options = Options { format: Format::Json, top: Some(OBJECTS), ..Options::default() };
    let mut heap = selection.document(files, &view, &options)?;
    let collections = heap["collections"].as_array().cloned().unwrap_or_default();
    let every = collections.len().div_ceil(COLLECTIONS).max(1);
    heap["all_collections"] = json!(collections.len());
    heap["every"] = json!(every);
    heap["collections"] = collections.into_iter().step_by(every).collect();
    Ok(heap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_that_is_left_out_is_said() {
        let list = |all: u64, rows: usize| json!({"all": all, "rows": vec![0; rows]});
        let sections = |all| Sections { threads: list(all, 2), ..Sections::default() };
        assert_eq!(sections(2).left_out(), [""; 0]);
        assert_eq!(sections(3).left_out(), ["1 threads"]);
    }
}
