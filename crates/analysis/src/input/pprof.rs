//! pprof profiles: gzip of the message of pprof's `proto/profile.proto`, with all of its figures.
//!
//! A label `thread`, or `thread_name`, is the thread of a sample. How often a context was met is the first figure that counts something.

use super::{Error, Remarks, UNKNOWN};
use crate::hash::HashMap;
use crate::model::{Arcflow, Kind, NodeId, Resource};
use crate::pprof::{Label, Profile, Sample};
use flate2::read::MultiGzDecoder;
use prost::Message;
use std::io::{BufRead, Read};

/// A profile is read as a whole; a packed byte may stand for a thousand.
const LARGEST: u64 = 1 << 28;
/// Messages and texts of a profile, each of which takes many times its bytes in memory.
const MOST: usize = 1 << 24;
/// Functions that were inlined at one place.
const INLINED: usize = 1 << 8;
const SAMPLE: usize = 2;
const LOCATION: usize = 4;
const THREAD: [&str; 3] = ["thread", "thread_name", "thread name"];

/// Whether an input that begins so may be a profile.
pub(super) fn begins(start: &[u8]) -> bool {
    start.starts_with(&[0x1f, 0x8b])
}

/// Reads a profile.
///
/// # Errors
/// It cannot be read, or has no figures.
pub fn read(reader: impl BufRead) -> Result<(Arcflow, Remarks), Error> {
    let mut bytes = Vec::new();
    let wrong = |why: String| Error::Pprof(why);
    let unpacked = MultiGzDecoder::new(reader)
        .take(LARGEST)
        .read_to_end(&mut bytes)
        .map_err(|error| wrong(error.to_string()))?;
    if unpacked as u64 == LARGEST {
        return Err(wrong(format!("it has more than {LARGEST} bytes")));
    }
    if bytes.starts_with(super::jfr::MAGIC) {
        return Err(wrong("a recording of JFR is packed in it; unpack it first".to_owned()));
    }
    if parts(&bytes, true).map_err(&wrong)? > MOST {
        return Err(wrong("it has too many parts".to_owned()));
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
    let mut locations: HashMap<u64, Vec<&str>> = HashMap::default();
    for of in &profile.location {
        if of.line.len() > INLINED {
            return Err(wrong(format!("a place has more than {INLINED} functions")));
        }
        let lines = of.line.iter().rev().map(|line| functions.get(&line.function_id).copied());
        locations.insert(of.id, lines.map(Option::unwrap_or_default).collect());
    }
    let mut remarks = Remarks::default();
    for Sample { location_id, value, label } in &profile.sample {
        let thread = |label: &Label| Some(text(label.str)).filter(|_| THREAD.contains(&text(label.key)));
        let mut node = Arcflow::ROOT;
        if let Some(thread) = label.iter().find_map(thread) {
            node = child(&mut model, node, Kind::Thread, thread);
        }
        for location in location_id.iter().rev() {
            let names = locations.get(location).filter(|names| !names.is_empty());
            for name in names.map_or(&[""][..], Vec::as_slice) {
                remarks.unknown += u64::from(name.is_empty());
                node = child(&mut model, node, Kind::Method, name);
            }
        }
        let n = counted.and_then(|at| value.get(at)).map_or(1, |&n| n.max(0) as u64);
        model.meet(node, n);
        for (sum, &value) in model.base_mut(node).iter_mut().zip(value) {
            *sum += value as f64;
        }
    }
    Ok((model, remarks))
}

/// How many messages and texts a message has, with those of its samples and locations.
fn parts(mut rest: &[u8], is_outer: bool) -> Result<usize, String> {
    let number = |rest: &mut &[u8]| prost::decode_length_delimiter(rest).map_err(|error| error.to_string());
    let mut parts = 0;
    while !rest.is_empty() {
        let key = number(&mut rest)?;
        let length = match key & 7 {
            0 => number(&mut rest).map(|_| 0)?,
            1 => 8,
            2 => number(&mut rest)?,
            5 => 4,
            _ => return Err("a value is written in a way that is not known".to_owned()),
        };
        let (part, behind) = rest.split_at_checked(length).ok_or("it ends in the middle of a value")?;
        rest = behind;
        parts += usize::from(key & 7 == 2);
        if is_outer && key & 7 == 2 && [SAMPLE, LOCATION].contains(&(key >> 3)) {
            parts += self::parts(part, false)?;
        }
    }
    Ok(parts)
}

fn child(model: &mut Arcflow, at: NodeId, kind: Kind, name: &str) -> NodeId {
    let consumer = model.consumer(if name.is_empty() { UNKNOWN } else { name });
    model.child(at, kind, consumer)
}

#[cfg(test)]
mod tests {
    use super::super::{Format, read};
    use crate::export::pprof::write;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    fn said(bytes: &[u8]) -> String {
        read(&packed(bytes)[..]).unwrap_err().to_string()
    }

    #[test]
    fn what_would_take_too_much_memory_is_refused() {
        assert_eq!(said(&[0x12, 0].repeat(super::MOST + 1)), "pprof: it has too many parts");
        // Labels of one sample.
        let labels = [0x1a, 0].repeat(super::MOST);
        let mut sample = vec![0x12];
        prost::encode_length_delimiter(labels.len(), &mut sample).unwrap();
        assert_eq!(said(&[sample, labels].concat()), "pprof: it has too many parts");
        assert_eq!(said(&[0x13, 0x14]), "pprof: a value is written in a way that is not known");
        let lines = [0x22, 0].repeat(super::INLINED + 1);
        let mut location = vec![0x0a, 0, 0x22];
        prost::encode_length_delimiter(lines.len(), &mut location).unwrap();
        assert_eq!(said(&[location, lines].concat()), "pprof: a place has more than 256 functions");
    }

    #[test]
    fn a_packed_recording_is_named() {
        assert_eq!(said(b"FLR\0and more"), "pprof: a recording of JFR is packed in it; unpack it first");
    }

    #[test]
    fn frames_without_a_function_are_unknown() {
        // One figure; samples of location 1, which has no line, and of 2, which is not there; locations from the innermost one.
        let bytes = [&[0x0a, 0][..], &[0x12, 7, 0x0a, 2, 1, 2, 0x12, 1, 3], &[0x22, 2, 8, 1]].concat();
        let read = read(&packed(&bytes)[..]).unwrap();
        assert_eq!(read.remarks.to_string(), "frames without a name, which are [unknown]: 2");
        let rows = read
            .model
            .ids()
            .map(|id| (read.model.name(read.model.node(id).consumer), read.model.base(id)[0]));
        assert_eq!(rows.collect::<Vec<_>>(), [("(root)", 0.0), ("[unknown]", 0.0), ("[unknown]", 3.0)]);
    }

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
