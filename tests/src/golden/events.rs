//! The judge: reads the raw events of a run by the rules of the event contract, independently of the runtime.
//!
//! Each thread has a stack of frames. A frame opened by `constructorEntry` is pending until its `superReturned`; every
//! other one is ready at once. An event belongs to the topmost frame of its id that it fits: `methodExit` and
//! `methodUnwind` a ready one, `superReturned` a pending one, `exceptionCaught` any. Pending frames above it are aborted;
//! calls into libraries ended by an exception; anything else above it is unclosed. An event that fits no frame is unmatched.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use super::case::Counts;
use super::seam::{CALL, Ids};

/// What the events of one run say.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Counts of every method that was entered.
    pub methods: BTreeMap<String, Counts>,
    /// Events that fitted no frame, per method.
    pub unmatched: BTreeMap<String, u64>,
    /// Allocations seen, by class name.
    pub allocations: BTreeMap<String, u64>,
    /// Calls of `start()V`, by class of the receiver.
    pub starts: BTreeMap<String, u64>,
    /// Tasks handed over, by functional interface.
    pub tasks: BTreeMap<String, u64>,
    /// Calls by reflection, by the class of what names the target.
    pub reflected: BTreeMap<String, u64>,
    /// Events of remote calls, by hook.
    pub remote: BTreeMap<String, u64>,
    /// Passages of code regions, by number.
    pub regions: BTreeMap<u32, Region>,
    /// Number of events.
    pub events: u64,
}

/// The passages of a code region, over all threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Left over the end.
    pub ended: u64,
    /// Left by an exception.
    pub left: u64,
    /// Under way, by thread.
    pub open: BTreeMap<String, u64>,
    /// Ends without a beginning.
    pub unmatched: u64,
}

#[derive(Clone, Copy)]
struct Frame {
    id: usize,
    pending: bool,
}

/// Reads lines of `THREAD KIND ID` (the probe's name as kind), `new CLASS`, `start CLASS`, `task INTERFACE`,
/// `reflected CLASS`, `remote HOOK`,
/// and `region THREAD begin|end|left NUMBER`.
///
/// # Errors
/// A line that is none of these, or an id that was never given.
pub fn read_events(text: &str, ids: &Ids) -> Result<Reading> {
    let mut threads: BTreeMap<&str, Vec<Frame>> = BTreeMap::new();
    let mut counts = vec![Counts::default(); ids.0.len()];
    let mut reading = Reading::default();
    for line in text.lines() {
        reading.events += 1;
        let counted = match line.split_once(' ') {
            Some(("new", class)) => Some((&mut reading.allocations, class)),
            Some(("start", class)) => Some((&mut reading.starts, class)),
            Some(("task", interface)) => Some((&mut reading.tasks, interface)),
            Some(("reflected", class)) => Some((&mut reading.reflected, class)),
            Some(("remote", hook)) => Some((&mut reading.remote, hook)),
            _ => None,
        };
        if let Some((counts, name)) = counted {
            *counts.entry(name.to_owned()).or_default() += 1;
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        if let ["region", thread, kind, number] = words[..] {
            let region = reading.regions.entry(number.parse().with_context(|| line.to_owned())?).or_default();
            let open = region.open.entry(thread.to_owned()).or_default();
            match kind {
                "begin" => *open += 1,
                _ if *open == 0 => region.unmatched += 1,
                _ => {
                    *open -= 1;
                    *(if kind == "end" { &mut region.ended } else { &mut region.left }) += 1;
                }
            }
            continue;
        }
        let [thread, kind, id] = words[..] else { bail!("not an event: {line}") };
        let id: usize = id.parse().with_context(|| line.to_owned())?;
        let name = ids.0.get(id).with_context(|| format!("{line}: nobody gave this id"))?;
        let stack = threads.entry(thread).or_default();
        let fits = match kind {
            "methodEntry" | "constructorEntry" | "libraryEnter" => {
                stack.push(Frame { id, pending: kind == "constructorEntry" });
                counts[id].entries += 1;
                continue;
            }
            "methodExit" | "methodUnwind" | "libraryExit" => |frame: &Frame| !frame.pending,
            "superReturned" => |frame: &Frame| frame.pending,
            "exceptionCaught" => |_: &Frame| true,
            _ => bail!("no such event: {line}"),
        };
        let Some(at) = stack.iter().rposition(|frame| frame.id == id && fits(frame)) else {
            *reading.unmatched.entry(name.clone()).or_default() += 1;
            continue;
        };
        for above in stack.drain(at + 1..) {
            let count = &mut counts[above.id];
            let thrown = ids.0[above.id].starts_with(CALL);
            *(match (above.pending, thrown) {
                (true, _) => &mut count.aborted,
                (false, true) => &mut count.unwinds,
                (false, false) => &mut count.unclosed,
            }) += 1;
        }
        match kind {
            "superReturned" => stack[at].pending = false,
            "methodExit" | "libraryExit" => counts[id].exits += 1,
            "methodUnwind" => counts[id].unwinds += 1,
            _ => {}
        }
        if matches!(kind, "methodExit" | "methodUnwind" | "libraryExit") {
            stack.pop();
        }
    }
    threads.values().flatten().for_each(|frame| counts[frame.id].open += 1);
    reading.methods = ids.0.iter().cloned().zip(counts).filter(|(_, count)| count.entries > 0).collect();
    Ok(reading)
}

impl Counts {
    /// The balance of calls: every entry is accounted for exactly once.
    pub fn add_up(&self) -> bool {
        self.entries == self.exits + self.unwinds + self.aborted + self.unclosed + self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &str) -> Reading {
        let ids = Ids(["main", "<init>", "child.<init>"].map(String::from).to_vec());
        read_events(&events.replace(", ", "\n"), &ids).unwrap()
    }

    #[test]
    fn a_constructor_whose_super_throws_is_aborted() {
        let reading = read("1 methodEntry 0, 1 constructorEntry 1, 1 exceptionCaught 0, 1 methodExit 0");
        assert_eq!(reading.methods["<init>"], Counts { entries: 1, aborted: 1, ..Counts::default() });
        assert_eq!(reading.methods["main"], Counts { entries: 1, exits: 1, ..Counts::default() });
    }

    #[test]
    fn a_nested_constructor_of_the_same_id_closes_its_own_frame() {
        let reading = read(
            "1 methodEntry 0, 1 constructorEntry 1, 1 superReturned 1, 1 constructorEntry 1, 1 methodUnwind 1, \
             1 exceptionCaught 0, 1 methodExit 0",
        );
        assert_eq!(
            reading.methods["<init>"],
            Counts { entries: 2, unwinds: 1, aborted: 1, ..Counts::default() }
        );
    }

    #[test]
    fn frames_without_an_end_are_unclosed_and_events_without_a_frame_are_unmatched() {
        let reading =
            read("1 methodEntry 0, 1 methodEntry 1, 1 methodExit 0, 2 methodExit 0, 1 methodEntry 0");
        assert_eq!(reading.methods["<init>"].unclosed, 1);
        assert_eq!(reading.unmatched["main"], 1);
        assert_eq!(reading.methods["main"].open, 1);
        assert!(reading.methods.values().all(Counts::add_up));
    }
}
