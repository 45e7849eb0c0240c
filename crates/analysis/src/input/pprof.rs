//! pprof profiles: gzip of the message of pprof's `proto/profile.proto`, with all of its figures.
//!
//! A label `thread`, or `thread_name`, is the thread of a sample. How often a context was met is the first figure that counts something.

use super::Error;
use crate::hash::HashMap;
use crate::model::{Arcflow, Kind, NodeId, Resource};
use crate::pprof::{Label, Profile, Sample};
use flate2::read::MultiGzDecoder;
use prost::Message;
use std::io::{BufRead, Read};

/// A profile is read as a whole; a packed byte may stand for a thousand.
const LARGEST: u64 = 1 << 30;
const THREAD: [&str; 3] = ["thread", "thread_name", "thread name"];

/// Whether an input that begins so may be a profile.
pub(super) fn begins(start: &[u8]) -> bool {
    start.starts_with(&[0x1f, 0x8b])
}

/// Reads a profile.
///
/// # Errors
/// It cannot be read, or has no figures.
pub fn read(reader: impl BufRead) -> Result<Arcflow, Error> {
    let mut bytes = Vec::new();
    let wrong = |why: String| Error::Pprof(why);
    let unpacked = MultiGzDecoder::new(reader)
        .take(LARGEST)
        .read_to_end(&mut bytes)
        .map_err(|error| wrong(error.to_string()))?;
    if unpacked as u64 == LARGEST {
        return Err(wrong(format!("it has more than {LARGEST} bytes")));
    }
    let profile = Profile::decode(&bytes[..]).map_err(|error| wrong(error.to_string()))?;
    drop(bytes);
    let text = |index: i64| {
        usize::try_from(index).ok().and_then(|at| profile.string_table.get(at)).map_or("", String::as_str)
    };
    let resources: Vec<Resource> = profile
        .sample_type
        .iter()
        .map(|of| {
            let unit = match text(of.unit) {
                "count" => "",
                "nanoseconds" => "ns",
                unit => unit,
            };
            Resource { name: text(of.r#type).to_owned(), unit: unit.to_owned() }
        })
        .collect();
    if resources.is_empty() {
        return Err(wrong("it has no figures".to_owned()));
    }
    let counted = resources.iter().position(|resource| resource.unit.is_empty());
    let mut model = Arcflow::new(resources);
    (model.consumers, model.occurrences) =
        ("frames".into(), counted.map_or("samples", |at| text(profile.sample_type[at].r#type)).into());
    let functions: HashMap<u64, &str> = profile.function.iter().map(|of| (of.id, text(of.name))).collect();
    let locations: HashMap<u64, Vec<&str>> = profile
        .location
        .iter()
        .map(|of| {
            (
                of.id,
                of.line.iter().rev().filter_map(|line| functions.get(&line.function_id).copied()).collect(),
            )
        })
        .collect();
    for Sample { location_id, value, label } in &profile.sample {
        let thread = |label: &Label| Some(text(label.str)).filter(|_| THREAD.contains(&text(label.key)));
        let mut node = Arcflow::ROOT;
        if let Some(thread) = label.iter().find_map(thread) {
            node = child(&mut model, node, Kind::Thread, thread);
        }
        for location in location_id.iter().rev() {
            for name in locations.get(location).into_iter().flatten() {
                node = child(&mut model, node, Kind::Method, name);
            }
        }
        let n = counted.and_then(|at| value.get(at)).map_or(1, |&n| n.max(0) as u64);
        model.meet(node, n);
        for (sum, &value) in model.base_mut(node).iter_mut().zip(value) {
            *sum += value as f64;
        }
    }
    Ok(model)
}

fn child(model: &mut Arcflow, at: NodeId, kind: Kind, name: &str) -> NodeId {
    let consumer = model.consumer(if name.is_empty() { "[unknown]" } else { name });
    model.child(at, kind, consumer)
}

#[cfg(test)]
mod tests {
    use super::super::{Format, read};
    use crate::export::pprof::write;

    #[test]
    fn what_was_written_is_read() {
        let text = "metrics: cpu ns, bytes\n@ t\n0 0 > a\n25 10 > b\n150 20 < b\n200 20 < a\n200 20 > a\n200 20 < a\n";
        let model = read(text.as_bytes()).unwrap().model;
        let mut bytes = Vec::new();
        write(&model, &[], &mut bytes).unwrap();
        let again = read(&bytes[..]).unwrap();
        assert_eq!(again.format, Format::Pprof);
        let names: Vec<_> =
            again.model.resources().iter().map(|of| (of.name.as_str(), of.unit.as_str())).collect();
        assert_eq!(names, [("calls", ""), ("cpu", "ns"), ("bytes", "")]);
        let rows = again.model.ids().map(|id| {
            let node = again.model.node(id);
            (again.model.name(node.consumer), node.n, again.model.base(id).to_vec())
        });
        let expected = [
            ("(root)", 0, vec![0.0; 3]),
            ("t", 0, vec![0.0; 3]),
            ("a", 2, vec![2.0, 75.0, 10.0]),
            ("b", 1, vec![1.0, 125.0, 10.0]),
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        for length in (2..bytes.len()).step_by(7) {
            assert!(read(&bytes[..length]).unwrap_err().to_string().starts_with("pprof: "));
        }
    }
}
