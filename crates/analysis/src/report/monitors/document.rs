//! The document: processes with their monitors, pairs of threads, and threads.

use std::io::Write;

use instrument_names::signature::java_class;
use instrument_trace::JavaThread;
use serde_json::{Value, json};

use super::{Pair, Process};
use crate::report::{Error, Options};
use crate::waits::{Both, Monitor, MonitorWaits, OTHERS, Sum};

/// Threads of a monitor that a page names.
const NAMED: usize = 20;

impl Process<'_> {
    /// The members of a document that are no lists.
    fn opening(&self) -> Value {
        json!({
            "process": self.name,
            "contended": value_of(&self.waits.all.contended),
            "waiting": value_of(&self.waits.all.waiting),
            "owners_known": self.waits.owned,
            "end": self.waits.end,
        })
    }

    pub(super) fn document(&self, out: &mut dyn Write, options: &Options<'_>) -> Result<(), Error> {
        let opening = self.opening().to_string();
        write!(out, "{},\"monitors\":[", &opening[..opening.len() - 1])?;
        for (i, (monitor, waits)) in self.monitors(options).0.into_iter().enumerate() {
            write!(out, "{}\n{}", if i > 0 { "," } else { "" }, self.monitor_value(monitor, waits))?;
        }
        write!(out, "\n],\"pairs\":[")?;
        for (i, pair) in self.pairs(options).0.into_iter().enumerate() {
            write!(out, "{}\n{}", if i > 0 { "," } else { "" }, pair_value(&pair))?;
        }
        write!(out, "\n],\"threads\":[")?;
        for (i, (thread, both)) in self.thread_list(options).0.into_iter().enumerate() {
            write!(out, "{}\n{}", if i > 0 { "," } else { "" }, self.thread_value(thread, &both))?;
        }
        write!(out, "\n]")?;
        let left = [self.monitors(options).1, self.pairs(options).1, self.thread_list(options).1];
        if left != [0; 3] {
            let [monitors, pairs, threads] = left;
            let left = json!({"monitors": monitors, "pairs": pairs, "threads": threads});
            write!(out, ",\"left_out\":{left}")?;
        }
        Ok(write!(out, "}}")?)
    }

    /// The same as a value, with how many rows are left out; of the threads of a monitor only the first.
    pub(super) fn value(&self, options: &Options<'_>) -> Value {
        let mut value = self.opening();
        let (monitors, no_monitors) = self.monitors(options);
        let (pairs, no_pairs) = self.pairs(options);
        let (threads, no_threads) = self.thread_list(options);
        let monitors = monitors.into_iter().map(|(monitor, waits)| {
            let mut row = self.monitor_value(monitor, waits);
            ["owners", "contended_by", "waited_by"].iter().for_each(|list| shorten(&mut row, list));
            row
        });
        value["monitors"] = monitors.collect();
        value["pairs"] = pairs.iter().map(pair_value).collect();
        value["threads"] =
            threads.into_iter().map(|(thread, both)| self.thread_value(thread, &both)).collect();
        value["left_out"] = json!({"monitors": no_monitors, "pairs": no_pairs, "threads": no_threads});
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
