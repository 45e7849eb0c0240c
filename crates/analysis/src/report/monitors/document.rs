//! The document: processes with their monitors, pairs of threads, and threads.

use instrument_names::signature::java_class;
use instrument_trace::JavaThread;
use serde_json::{Value, json};

use super::{Pair, Process};
use crate::report::Options;
use crate::report::document::Document;
use crate::waits::{Both, Monitor, MonitorWaits, OTHERS, Sum};

/// Threads of a monitor that a page names.
const NAMED: usize = 20;

impl Process<'_> {
    pub(super) fn document(&self, options: &Options<'_>) -> Document<'_> {
        let mut document = Document::default();
        document.put("contended", value_of(&self.waits.all.contended));
        document.put("end", self.waits.end);
        document.put("owners_known", self.waits.owned);
        document.put("process", self.name);
        document.put("waiting", value_of(&self.waits.all.waiting));
        let (monitors, no_monitors) = self.monitors(options);
        let (pairs, no_pairs) = self.pairs(options);
        let (threads, no_threads) = self.thread_list(options);
        document.rows(
            "monitors",
            monitors.into_iter().map(|(monitor, waits)| self.monitor_value(monitor, waits)),
        );
        document.rows("pairs", pairs.into_iter().map(|pair| pair_value(&pair)));
        document.rows("threads", threads.into_iter().map(|(thread, both)| self.thread_value(thread, &both)));
        if [no_monitors, no_pairs, no_threads] != [0; 3] {
            let left = json!({"monitors": no_monitors, "pairs": no_pairs, "threads": no_threads});
            document.put("left_out", left);
        }
        document
    }

    /// The same for a page: of the threads of a monitor only the first.
    pub(super) fn value(&self, options: &Options<'_>) -> Value {
        let mut value = self.document(options).into_value();
        for row in value["monitors"].as_array_mut().into_iter().flatten() {
            ["owners", "contended_by", "waited_by"].iter().for_each(|list| shorten(row, list));
        }
        if value["left_out"].is_null() {
            value["left_out"] = json!({"monitors": 0, "pairs": 0, "threads": 0});
        }
        value
    }

    fn monitor_value(&self, monitor: &Monitor, waits: &MonitorWaits) -> Value {
        let number = Some(monitor.number).filter(|&number| number != 0 && number != OTHERS);
        let owners = waits.owners.iter().map(|(&number, sum)| (number, *sum));
        let threads = waits.threads.iter();
        let contended = threads.clone().map(|(&number, both)| (number, both.contended));
        let waiting = threads.map(|(&number, both)| (number, both.waiting));
        json!({
            "monitor": number,
            "class": java_class(&(self.class)(monitor.copy, monitor.class)),
            "contended": value_of(&waits.all.contended),
            "waiting": value_of(&waits.all.waiting),
            "owners": self.values(monitor.copy, owners),
            "contended_by": self.values(monitor.copy, contended),
            "waited_by": self.values(monitor.copy, waiting),
            "where": self.place(monitor, waits),
        })
    }

    fn thread_value(&self, thread: &JavaThread, both: &Both) -> Value {
        let known = |clock: u64| Some(clock).filter(|&clock| clock > 0);
        let starter = (thread.starter > 0).then(|| self.thread(thread.copy, thread.starter));
        json!({
            "number": thread.number,
            "thread": self.thread(thread.copy, thread.number),
            "name": thread.name,
            "group": thread.group,
            "group_parent": thread.group_parent,
            "daemon": thread.daemon,
            "virtual": thread.virtual_thread,
            "start": known(thread.start),
            "end": known(thread.end),
            "life_ns": self.life(thread),
            "started_by": starter,
            "contended": value_of(&both.contended),
            "waiting": value_of(&both.waiting),
        })
    }

    fn values(&self, copy: u32, sums: impl Iterator<Item = (u32, Sum)>) -> Value {
        let list = self.by_name(copy, sums).into_iter();
        list.map(|(name, sum, threads)| {
            let mut value = value_of(&sum);
            value["thread"] = json!(name);
            value["threads"] = json!(threads);
            value
        })
        .collect()
    }
}

/// Leaves the first of a list in a row, and how many more there were.
fn shorten(row: &mut Value, list: &str) {
    let more = row[list].as_array().map_or(0, |threads| threads.len().saturating_sub(NAMED));
    if more > 0 {
        row[list].as_array_mut().into_iter().for_each(|threads| threads.truncate(NAMED));
        row[format!("more_{list}")] = json!(more);
    }
}

fn value_of(sum: &Sum) -> Value {
    json!({"times": sum.times, "total": sum.ns, "mean": sum.mean().map(f64::round), "max": sum.max,
        "open": sum.open, "timed_out": sum.timed_out})
}

fn pair_value(((waiter, owner), sum): &(Pair<'_>, Sum)) -> Value {
    let mut value = value_of(sum);
    value["thread"] = json!(waiter);
    value["waited_for"] = json!(owner);
    value
}
