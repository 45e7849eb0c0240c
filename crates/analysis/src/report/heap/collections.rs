//! Collections, one by one: when, how long, what was made before and found gone after, what was left.

use std::io::{self, Write};

use instrument_trace::Collection;
use serde_json::{Value, json};

use super::Heap;
use crate::heap::Process;
use crate::report::aligned::Aligned;
use crate::report::machine::field;
use crate::report::{Error, Options};
use crate::text::quantity;
use instrument_names::printable::printable;

/// A collection with what is known of objects.
struct Line<'a> {
    process: &'a str,
    collection: Collection,
    /// ns since the recording began.
    at: u64,
    /// ns, if it ended.
    pause: Option<u64>,
    objects: Option<Objects>,
}

/// Objects and bytes.
#[derive(Clone, Copy)]
struct Objects {
    /// Made since the collection before.
    made: (u64, u64),
    /// Found to be gone when this one had ended, and before the next did.
    gone: (u64, u64),
    /// There after it.
    left: (u64, u64),
}

fn lines<'a>(heap: &Heap<'a>) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for (process, name) in heap.processes.iter().zip(heap.names) {
        of_process(process, name, &mut lines);
    }
    lines
}

fn of_process<'a>(process: &Process<'_>, name: &'a str, lines: &mut Vec<Line<'a>>) {
    let profile = process.profile;
    for of_copy in profile.collections.chunk_by(|a, b| a.copy == b.copy) {
        let epochs = process.biographies.and_then(|all| all.epochs.get(&of_copy[0].copy));
        let mut left = (0u64, 0u64);
        for collection in of_copy {
            let number = collection.number as usize;
            let objects = epochs.and_then(|epochs| {
                let (before, after) = (epochs.get(number - 1)?, epochs.get(number)?);
                // What was gone before anything could be is taken out as well.
                let early = if number == 1 { (before.gone, before.gone_bytes) } else { (0, 0) };
                let (made, gone) =
                    ((before.made, before.made_bytes), (after.gone + early.0, after.gone_bytes + early.1));
                left.0 = (left.0 + made.0).saturating_sub(gone.0);
                left.1 = (left.1 + made.1).saturating_sub(gone.1);
                Some(Objects { made, gone, left })
            });
            lines.push(Line {
                process: name,
                collection: *collection,
                at: collection.start.saturating_sub(profile.start_clock),
                pause: (collection.end != 0).then(|| collection.end.saturating_sub(collection.start)),
                objects,
            });
        }
    }
}

/// All of them in a line.
pub(super) fn line(out: &mut dyn Write, heap: &Heap<'_>) -> io::Result<()> {
    let lines = lines(heap);
    if lines.is_empty() {
        return Ok(());
    }
    let pauses = lines.iter().filter_map(|line| line.pause);
    let total: u64 = pauses.clone().fold(0, u64::saturating_add);
    let time = |ns: u64| quantity(ns as f64, "ns");
    let longest = pauses.max().unwrap_or(0);
    writeln!(out, "collections {}, {} in all, the longest {}", lines.len(), time(total), time(longest))
}

pub(super) fn text(out: &mut dyn Write, heap: &Heap<'_>, options: &Options<'_>) -> io::Result<()> {
    let lines = lines(heap);
    if lines.is_empty() {
        return writeln!(out, "no collections were recorded");
    }
    let followed = lines.iter().any(|line| line.objects.is_some());
    let several = heap.processes.len() > 1;
    let mut headers = vec!["number", "at", "took"];
    if followed {
        headers.extend(["made", "bytes", "gone", "bytes", "left", "bytes"]);
    }
    let mut aligned =
        Aligned::new(headers.into_iter().map(str::to_owned).collect(), if several { "process" } else { "" });
    let time = |ns: u64| quantity(ns as f64, "ns");
    for line in lines.iter().take(options.top.unwrap_or(usize::MAX)) {
        let took = line.pause.map_or_else(|| "-".to_owned(), time);
        let mut cells = vec![line.collection.number.to_string(), time(line.at), took];
        if followed {
            let known = line.objects.map(|objects| [objects.made, objects.gone, objects.left]);
            for i in 0..3 {
                match known {
                    Some(known) => {
                        cells.extend([known[i].0.to_string(), quantity(known[i].1 as f64, "bytes")])
                    }
                    None => cells.extend(["-".to_owned(), "-".to_owned()]),
                }
            }
        }
        aligned.row(cells, if several { line.process } else { "" });
    }
    aligned.print_as(out, options)?;
    let left = lines.len().saturating_sub(options.top.unwrap_or(usize::MAX));
    if left > 0 {
        writeln!(out, "not shown: {left}")?;
    }
    Ok(())
}

pub(super) fn json(heap: &Heap<'_>) -> Value {
    let lines = lines(heap).into_iter().map(|line| {
        let pair = |(objects, bytes): (u64, u64)| json!({"objects": objects, "bytes": bytes});
        json!({
            "process": printable(line.process),
            "number": line.collection.number,
            "at_ns": line.at,
            "pause_ns": line.pause,
            "made": line.objects.map(|o| pair(o.made)),
            "gone": line.objects.map(|o| pair(o.gone)),
            "left": line.objects.map(|o| pair(o.left)),
        })
    });
    lines.collect()
}

pub(super) fn csv(out: &mut dyn Write, heap: &Heap<'_>, options: &Options<'_>) -> Result<(), Error> {
    writeln!(
        out,
        "process,number,at_ns,pause_ns,made_objects,made_bytes,gone_objects,gone_bytes,left_objects,left_bytes"
    )?;
    for line in lines(heap).iter().take(options.top.unwrap_or(usize::MAX)) {
        let pause = line.pause.map_or_else(String::new, |ns| ns.to_string());
        let pair = |(objects, bytes): (u64, u64)| format!("{objects},{bytes}");
        let objects = match line.objects {
            Some(Objects { made, gone, left }) => [made, gone, left].map(pair).join(","),
            None => ",,,,,".to_owned(),
        };
        let (number, at) = (line.collection.number, line.at);
        writeln!(out, "{},{number},{at},{pause},{objects}", field(line.process))?;
    }
    Ok(())
}
