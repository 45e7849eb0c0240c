//! OpenTelemetry profiles: `ExportProfilesServiceRequest` of `opentelemetry.proto.profiles.v1development`, as protobuf.
//!
//! The signal is alpha, and its messages change: the name of the format has their version. Each process is a resource,
//! each figure a profile of its own (a profile has one type of value there), each context a stack; threads are the
//! attribute `thread.name`. Values are what contexts consumed themselves; times are whole nanoseconds. Tables are in
//! the dictionary of the message, and their first entries are empty.

use super::otlp_resource::{self, Value};
use super::pprof::{Figure, figures, period};
use super::size;
use super::strings::Strings;
use super::walk::{Step, Tree};
use crate::model::{Arcflow, Consumer};
use crate::session::ProfileFile;
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_profiles: Vec<ResourceProfiles>,
    #[prost(message, optional, tag = "2")]
    dictionary: Option<Dictionary>,
}

#[derive(Clone, PartialEq, Message)]
struct Dictionary {
    #[prost(message, repeated, tag = "1")]
    mapping_table: Vec<Empty>,
    #[prost(message, repeated, tag = "2")]
    location_table: Vec<Location>,
    #[prost(message, repeated, tag = "3")]
    function_table: Vec<Function>,
    #[prost(message, repeated, tag = "4")]
    link_table: Vec<Empty>,
    #[prost(string, repeated, tag = "5")]
    string_table: Vec<String>,
    #[prost(message, repeated, tag = "6")]
    attribute_table: Vec<Attribute>,
    #[prost(message, repeated, tag = "7")]
    stack_table: Vec<Stack>,
}

/// The entry that stands for none, of tables that have no others.
#[derive(Clone, PartialEq, Message)]
struct Empty {}

#[derive(Clone, PartialEq, Message)]
struct ResourceProfiles {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_profiles: Vec<ScopeProfiles>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    // One of several kinds of values there.
    #[prost(string, optional, tag = "1")]
    string_value: Option<String>,
    #[prost(int64, optional, tag = "3")]
    int_value: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeProfiles {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    profiles: Vec<Profile>,
}

#[derive(Clone, PartialEq, Message)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, optional, tag = "1")]
    sample_type: Option<ValueType>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(uint64, tag = "4")]
    duration_nano: u64,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int32, tag = "1")]
    type_strindex: i32,
    #[prost(int32, tag = "2")]
    unit_strindex: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(int32, tag = "1")]
    stack_index: i32,
    #[prost(int32, repeated, tag = "2")]
    attribute_indices: Vec<i32>,
    #[prost(int64, repeated, tag = "4")]
    values: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Stack {
    /// Innermost frame first.
    #[prost(int32, repeated, tag = "1")]
    location_indices: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(message, repeated, tag = "3")]
    lines: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(int32, tag = "1")]
    function_index: i32,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(int32, tag = "1")]
    name_strindex: i32,
    #[prost(int32, tag = "2")]
    system_name_strindex: i32,
    #[prost(int32, tag = "3")]
    filename_strindex: i32,
    #[prost(int64, tag = "4")]
    start_line: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(int32, tag = "1")]
    key_strindex: i32,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

/// Writes a whole model, which was made of these profiles.
///
/// Messages that are written one after the other are read as one: repeated fields are appended, those of the
/// dictionary, too. So stacks, which are most of it, are never in memory as a whole.
///
/// # Errors
/// Those of `out`; more entries of a table than its indices reach.
pub fn write(model: &Arcflow, processes: &[(String, &ProfileFile)], out: &mut dyn Write) -> io::Result<()> {
    let mut tables = Tables { strings: Strings::new(), functions: HashMap::new(), attributes: 1, stacks: 1 };
    let mut parts = Parts { out, bytes: Vec::new() };
    parts.table(Dictionary {
        mapping_table: vec![Empty {}],
        location_table: vec![Location::default()],
        function_table: vec![Function::default()],
        link_table: vec![Empty {}],
        attribute_table: vec![Attribute::default()],
        stack_table: vec![Stack::default()],
        ..Dictionary::default()
    })?;
    let figures = figures(model);
    let tree = Tree::new(model);
    let tracks = tree.tracks();
    let count = tracks.iter().map(|track| track.process + 1).max().unwrap_or(0);
    for process in 0..count {
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); figures.len()];
        let mut name = "";
        for track in tracks.iter().filter(|track| track.process == process) {
            name = track.process_name;
            let attribute = tables.thread(track.name, &mut parts)?;
            let mut stack = Vec::new();
            for step in tree.walk_track(*track) {
                let id = match step {
                    Step::Enter(id) if id == track.root => continue,
                    Step::Enter(id) => id,
                    Step::Leave(_) => {
                        stack.pop();
                        continue;
                    }
                };
                stack.push(tables.location(model, model.node(id).consumer, &mut parts)?);
                let values: Vec<i64> = figures.iter().map(|figure| figure.value(model, id)).collect();
                if values.iter().all(|&value| value == 0) {
                    continue;
                }
                let stack_index = tables.stack(&stack, &mut parts)?;
                for (samples, value) in samples.iter_mut().zip(values).filter(|(_, value)| *value != 0) {
                    let attribute_indices = vec![attribute];
                    samples.push(Sample { stack_index, attribute_indices, values: vec![value] });
                }
            }
        }
        // Without a name it is all of them.
        let files = processes.iter().filter(|(label, _)| name.is_empty() || label == name);
        let files: Vec<&ProfileFile> = files.map(|(_, file)| *file).collect();
        parts.resource(resource((name, &files), &figures, samples, &mut tables)?)?;
    }
    parts.table(Dictionary { string_table: tables.strings.all, ..Dictionary::default() })?;
    parts.out.flush()
}

/// About how many bytes [`write`] writes of contexts.
pub fn size(model: &Arcflow) -> u64 {
    // Indices have seven bits a byte; lengths and tags of a stack, and a sample of each figure.
    const STACK: u64 = 6;
    const SAMPLE: u64 = 14;
    let figures = figures(model);
    let frame = size::consumers(model).ilog2() as usize / 7 + 1;
    let has_row = |id| figures.iter().any(|figure| figure.value(model, id) != 0);
    size::stacks(model, has_row, |_| frame, STACK + SAMPLE * figures.len() as u64)
}

/// The profiles of a process, one for each figure that it has.
fn resource(
    (name, files): (&str, &[&ProfileFile]),
    figures: &[Figure<'_>],
    samples: Vec<Vec<Sample>>,
    tables: &mut Tables,
) -> io::Result<ResourceProfiles> {
    let (time_unix_nano, duration_nano) = period(files.iter().copied());
    let mut profiles = Vec::new();
    for (figure, samples) in figures.iter().zip(samples).filter(|(_, samples)| !samples.is_empty()) {
        let sample_type = Some(ValueType {
            type_strindex: tables.text(figure.name)?,
            unit_strindex: tables.text(figure.unit)?,
        });
        profiles.push(Profile { sample_type, samples, time_unix_nano, duration_nano });
    }
    let scope = Some(Scope { name: "instrument".into(), version: env!("CARGO_PKG_VERSION").into() });
    // Several are one process here where they have the same name and number, as in containers: what they have in
    // common.
    let all = files.iter().map(|file| otlp_resource::attributes(&file.profile, &file.program()));
    let common = all.reduce(|mut common, other| {
        common.retain(|attribute| other.contains(attribute));
        common
    });
    let named = || (!name.is_empty()).then(|| ("service.name", Value::Text(name.to_owned())));
    let attributes =
        common.unwrap_or_else(|| named().into_iter().collect()).into_iter().map(|(key, value)| {
            let value = match value {
                Value::Text(text) => text_value(&text),
                Value::Number(number) => {
                    AnyValue { int_value: Some(number.cast_signed()), ..AnyValue::default() }
                }
            };
            KeyValue { key: key.into(), value: Some(value) }
        });
    let attributes = attributes.collect();
    Ok(ResourceProfiles {
        resource: Some(Resource { attributes }),
        scope_profiles: vec![ScopeProfiles { scope, profiles }],
    })
}

fn text_value(text: &str) -> AnyValue {
    AnyValue { string_value: Some(text.to_owned()), ..AnyValue::default() }
}

/// What is in the tables of the dictionary.
struct Tables {
    strings: Strings,
    /// By the consumer, the index of the function, and of the location, which are the same.
    functions: HashMap<Consumer, i32>,
    /// Attributes and stacks so far.
    attributes: usize,
    stacks: usize,
}

impl Tables {
    fn text(&mut self, text: &str) -> io::Result<i32> {
        index(self.strings.index(text))
    }

    fn thread(&mut self, name: &str, parts: &mut Parts<'_>) -> io::Result<i32> {
        let key_strindex = self.text("thread.name")?;
        let attribute_table = vec![Attribute { key_strindex, value: Some(text_value(name)) }];
        parts.table(Dictionary { attribute_table, ..Dictionary::default() })?;
        self.attributes += 1;
        index(self.attributes - 1)
    }

    fn location(&mut self, model: &Arcflow, consumer: Consumer, parts: &mut Parts<'_>) -> io::Result<i32> {
        if let Some(&known) = self.functions.get(&consumer) {
            return Ok(known);
        }
        let new = index(self.functions.len() + 1)?;
        self.functions.insert(consumer, new);
        let name = model.name(consumer);
        let (file, start_line) = model.origins.path(name).unwrap_or_default();
        let (start_line, name_strindex) = (i64::from(start_line), self.text(name)?);
        let function = Function {
            name_strindex,
            system_name_strindex: name_strindex,
            filename_strindex: self.text(&file)?,
            start_line,
        };
        parts.table(Dictionary {
            location_table: vec![Location { lines: vec![Line { function_index: new, line: start_line }] }],
            function_table: vec![function],
            ..Dictionary::default()
        })?;
        Ok(new)
    }

    fn stack(&mut self, frames: &[i32], parts: &mut Parts<'_>) -> io::Result<i32> {
        let stack_table = vec![Stack { location_indices: frames.iter().rev().copied().collect() }];
        parts.table(Dictionary { stack_table, ..Dictionary::default() })?;
        self.stacks += 1;
        index(self.stacks - 1)
    }
}

/// An index of a table, which has 31 bits there.
fn index(index: usize) -> io::Result<i32> {
    i32::try_from(index).map_err(|_| io::Error::other("more entries than a table of OTLP profiles can have"))
}

/// The message, part by part.
struct Parts<'o> {
    out: &'o mut dyn Write,
    bytes: Vec<u8>,
}

impl Parts<'_> {
    fn table(&mut self, dictionary: Dictionary) -> io::Result<()> {
        self.write(&Request { dictionary: Some(dictionary), ..Request::default() })
    }

    fn resource(&mut self, profiles: ResourceProfiles) -> io::Result<()> {
        self.write(&Request { resource_profiles: vec![profiles], ..Request::default() })
    }

    fn write(&mut self, part: &Request) -> io::Result<()> {
        self.bytes.clear();
        part.encode(&mut self.bytes)?;
        self.out.write_all(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input;

    #[test]
    fn parts_are_read_as_one_request() {
        let text = "metrics: cpu s, bytes\nprocess: p\n@ t\n0 0 > a\n0.25 10 > b\n1.5 20 < b\n2 20 < a\n2 20 > a\n2 20 < a\nprocess: q\n@ u\n0 0 > b\n0 5 < b\n";
        let model = input::read(text.as_bytes()).unwrap().model;
        let mut bytes = Vec::new();
        write(&model, &[], &mut bytes).unwrap();
        let request = Request::decode(&bytes[..]).unwrap();
        let tables = request.dictionary.unwrap();
        let text = |index: i32| tables.string_table[index as usize].as_str();
        assert_eq!((text(0), tables.mapping_table.len(), tables.link_table.len()), ("", 1, 1));
        assert_eq!(tables.stack_table[0], Stack::default());
        let mut found = Vec::new();
        for resource in &request.resource_profiles {
            let name = resource.resource.as_ref().unwrap().attributes[0].value.clone();
            for profile in &resource.scope_profiles[0].profiles {
                let kind = profile.sample_type.as_ref().unwrap();
                for sample in &profile.samples {
                    let thread = &tables.attribute_table[sample.attribute_indices[0] as usize];
                    let frames = &tables.stack_table[sample.stack_index as usize].location_indices;
                    let frames = frames.iter().map(|&at| {
                        let line = &tables.location_table[at as usize].lines[0];
                        text(tables.function_table[line.function_index as usize].name_strindex)
                    });
                    let frames: Vec<_> = frames.collect();
                    let place =
                        [&name, &thread.value].map(|value| value.clone().unwrap().string_value.unwrap());
                    let figure = format!("{} {}", text(kind.type_strindex), text(kind.unit_strindex));
                    found.push(format!(
                        "{} {figure} {} {}",
                        place.join("/"),
                        frames.join("<"),
                        sample.values[0]
                    ));
                }
            }
        }
        assert_eq!(
            found,
            [
                "p/t calls count a 2",
                "p/t calls count b<a 1",
                "p/t cpu nanoseconds a 750000000",
                "p/t cpu nanoseconds b<a 1250000000",
                "p/t bytes count a 10",
                "p/t bytes count b<a 10",
                "q/u calls count b 1",
                "q/u bytes count b 5",
            ]
        );
    }
}
