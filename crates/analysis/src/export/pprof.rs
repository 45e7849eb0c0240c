//! pprof profiles: gzip of the message of pprof's `proto/profile.proto`, as `go tool pprof` and many services read it.
//!
//! Each context is a sample with all of its figures: how often it was met, and every resource. Threads and processes
//! are labels (`-tagroot thread`). Figures are whole numbers there, so times become nanoseconds.

use super::size;
use super::strings::Strings;
use super::timeline::ns_per_unit;
use super::walk::{Step, Tree};
use crate::model::{Arcflow, Consumer, NodeId};
use crate::pprof::{Function, Label, Line, Location, Mapping, Profile, Sample, ValueType};
use crate::session::ProfileFile;
use flate2::{Compression, GzBuilder};
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};

/// Writes a whole model, which was made of these profiles.
///
/// Messages that are written one after the other are read as one: repeated fields are appended, so the profile is never
/// in memory as a whole.
///
/// # Errors
/// Those of `out`.
pub fn write(model: &Arcflow, processes: &[(String, &ProfileFile)], out: &mut dyn Write) -> io::Result<()> {
    let mut out = GzBuilder::new().mtime(0).write(out, Compression::default());
    let mut bytes = Vec::new();
    let mut part = |profile: Profile| {
        bytes.clear();
        profile.encode(&mut bytes)?;
        out.write_all(&bytes)
    };
    let mut strings = Texts(Strings::new());
    let period = period(processes.iter().map(|(_, file)| *file));
    let [time_nanos, duration_nanos] = <[u64; 2]>::from(period).map(|ns| i64::try_from(ns).unwrap_or(0));
    let mut head = Profile { time_nanos, duration_nanos, ..Profile::default() };
    let figures = figures(model);
    for figure in &figures {
        let (r#type, unit) = (strings.index(figure.name), strings.index(figure.unit));
        head.sample_type.push(ValueType { r#type, unit });
    }
    let shown = model.resources().first().map_or(&model.occurrences, |resource| &resource.name);
    head.default_sample_type = strings.index(shown);
    head.mapping.push(Mapping { id: 1, has_functions: true });
    part(head)?;

    let tree = Tree::new(model);
    let mut locations: HashMap<Consumer, u64> = HashMap::new();
    for track in tree.tracks() {
        let mut label = Vec::new();
        for (key, name) in [("process", track.process_name), ("thread", track.name)] {
            if !name.is_empty() {
                label.push(Label { key: strings.index(key), str: strings.index(name) });
            }
        }
        let mut stack = Vec::new();
        for step in tree.walk_track(track) {
            let id = match step {
                Step::Enter(id) if id == track.root => continue,
                Step::Enter(id) => id,
                Step::Leave(_) => {
                    stack.pop();
                    continue;
                }
            };
            let known = locations.len() as u64;
            let consumer = model.node(id).consumer;
            let location = *locations.entry(consumer).or_insert(known + 1);
            if location > known {
                let name = strings.index(model.name(consumer));
                let (file, start_line) = model.origins.path(model.name(consumer)).unwrap_or_default();
                let (filename, start_line) = (strings.index(&file), i64::from(start_line));
                let line = vec![Line { function_id: location, line: start_line }];
                part(Profile {
                    location: vec![Location { id: location, mapping_id: 1, line }],
                    function: vec![Function { id: location, name, system_name: name, filename, start_line }],
                    ..Profile::default()
                })?;
            }
            stack.push(location);
            let value: Vec<i64> = figures.iter().map(|figure| figure.value(model, id)).collect();
            if value.iter().any(|&value| value != 0) {
                let location_id = stack.iter().rev().copied().collect();
                let sample = vec![Sample { location_id, value, label: label.clone() }];
                part(Profile { sample, ..Profile::default() })?;
            }
        }
    }
    part(Profile { string_table: strings.0.all, ..Profile::default() })?;
    out.finish()?.flush()
}

/// About how many bytes [`write`] writes before they are packed, which is what readers unpack.
pub fn size(model: &Arcflow) -> u64 {
    // Tags and lengths of a sample and of its stack, and labels; a figure. Indices have seven bits a byte.
    const SAMPLE: u64 = 20;
    const FIGURE: u64 = 4;
    let figures = figures(model);
    let frame = size::consumers(model).ilog2() as usize / 7 + 1;
    let has_row = |id| figures.iter().any(|figure| figure.value(model, id) != 0);
    size::stacks(model, has_row, |_| frame, SAMPLE + FIGURE * figures.len() as u64)
}

/// When the first of them began, in ns since 1970, and how many ns it took until all had ended; 0: not known.
pub(super) fn period<'p>(files: impl Iterator<Item = &'p ProfileFile>) -> (u64, u64) {
    let ends = files.filter_map(ProfileFile::period).map(|(begin, ns)| (begin, begin.saturating_add(ns)));
    let all = ends.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    all.map_or((0, 0), |(begin, end)| (begin, end - begin))
}

/// With indices as they are written.
struct Texts(Strings);

impl Texts {
    fn index(&mut self, text: &str) -> i64 {
        self.0.index(text) as i64
    }
}

/// A figure of each context.
pub(super) struct Figure<'m> {
    pub(super) name: &'m str,
    pub(super) unit: &'m str,
    /// Its index among the resources, and how many of the unit make one of theirs; none: how often the context was met.
    of: Option<(usize, f64)>,
}

impl Figure<'_> {
    pub(super) fn value(&self, model: &Arcflow, id: NodeId) -> i64 {
        match self.of {
            None => i64::try_from(model.node(id).n).unwrap_or(i64::MAX),
            Some((index, scale)) => (model.base(id)[index] * scale).round() as i64,
        }
    }
}

/// How often contexts were met, and every resource.
pub(super) fn figures(model: &Arcflow) -> Vec<Figure<'_>> {
    let mut figures = vec![Figure { name: &model.occurrences, unit: "count", of: None }];
    for (index, resource) in model.resources().iter().enumerate() {
        let ns = ns_per_unit(&resource.unit);
        let unit = match resource.unit.as_str() {
            _ if ns.is_some() => "nanoseconds",
            "" => "count",
            unit => unit,
        };
        figures.push(Figure { name: &resource.name, unit, of: Some((index, ns.unwrap_or(1.0))) });
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input;
    use flate2::read::GzDecoder;
    use std::io::Read;

    fn write_text(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&input::read(text.as_bytes()).unwrap().model, &[], &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn parts_are_read_as_one_profile() {
        let text = "metrics: cpu s, bytes\nprocess: p\n@ t\n0 0 > a\n0.25 10 > b\n1.5 20 < b\n2 20 < a\n2 20 > a\n2 20 < a\n";
        let packed = write_text(text);
        assert_eq!(packed, write_text(text), "the same model gives the same bytes");
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        let profile = Profile::decode(&bytes[..]).unwrap();
        let text = |index: i64| profile.string_table[index as usize].as_str();
        let types: Vec<_> = profile.sample_type.iter().map(|t| (text(t.r#type), text(t.unit))).collect();
        assert_eq!(types, [("calls", "count"), ("cpu", "nanoseconds"), ("bytes", "count")]);
        assert_eq!(text(profile.default_sample_type), "cpu");
        let samples: Vec<_> =
            profile.sample.iter().map(|s| (s.location_id.clone(), s.value.clone())).collect();
        let expected = [(vec![1], vec![2, 750_000_000, 10]), (vec![2, 1], vec![1, 1_250_000_000, 10])];
        assert_eq!(samples, expected);
        assert_eq!(profile.function.iter().map(|f| text(f.name)).collect::<Vec<_>>(), ["a", "b"]);
        let labels: Vec<_> = profile.sample[1].label.iter().map(|l| (text(l.key), text(l.str))).collect();
        assert_eq!(labels, [("process", "p"), ("thread", "t")]);
        assert_eq!(text(0), "");
    }
}
