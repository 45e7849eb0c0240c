//! A strict reader of heap dumps (HPROF 1.0.2): every length has to fit, every number has to be known.
//!
//! It keeps an entry for each object; what it is for is small dumps.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// An object, array or class.
#[derive(Clone, Debug)]
pub struct Object {
    /// As the VM writes it, `com/acme/Foo` or `[I`; of a class, `class` and its name.
    pub class: String,
    /// Its stack trace: methods, the innermost first; empty if there is none.
    pub trace: u32,
    /// What it refers to, its class included; null is left out.
    pub references: Vec<u64>,
}

#[derive(Debug, Default)]
pub struct Dump {
    /// By id.
    pub objects: HashMap<u64, Object>,
    /// Kinds of roots and their objects.
    pub roots: Vec<(u8, u64)>,
    /// By serial number, `Class.method:line` each, the innermost first.
    pub traces: BTreeMap<u32, Vec<String>>,
    /// Bytes of each segment.
    pub segments: Vec<u32>,
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        ensure!(count <= self.0.len(), "a record ends {} bytes before its end", count - self.0.len());
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        Ok(taken)
    }

    fn u1(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn u2(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.take(2)?.try_into()?))
    }

    fn u4(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.take(4)?.try_into()?))
    }

    fn u8(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.take(8)?.try_into()?))
    }
}

/// A CLASS DUMP.
struct Class {
    superclass: u64,
    /// Types of its instance fields.
    fields: Vec<u8>,
    instance_size: u32,
}

fn size(kind: u8) -> Result<usize> {
    Ok(match kind {
        2 | 7 | 11 => 8,
        4 | 8 => 1,
        5 | 9 => 2,
        6 | 10 => 4,
        _ => bail!("there is no type {kind}"),
    })
}

#[derive(Default)]
struct Reader {
    dump: Dump,
    texts: HashMap<u64, String>,
    /// Names of classes, by id and by serial number.
    names: HashMap<u64, String>,
    serials: HashMap<u32, String>,
    frames: HashMap<u64, String>,
    classes: HashMap<u64, Class>,
    /// Instances: id, class, values; read when all classes are known.
    instances: Vec<(u64, u64, Vec<u8>)>,
}

/// Reads a dump.
pub fn read(path: &Path) -> Result<Dump> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let mut input = Input(bytes.strip_prefix(b"JAVA PROFILE 1.0.2\0").context("not a heap dump")?);
    ensure!(input.u4()? == 8, "ids of 8 bytes");
    input.u8()?;
    let mut reader = Reader::default();
    let mut ended = false;
    while !input.0.is_empty() {
        ensure!(!ended, "there is something after the end");
        let (tag, _, length) = (input.u1()?, input.u4()?, input.u4()?);
        let body = Input(input.take(length as usize)?);
        match tag {
            0x1C => {
                reader.dump.segments.push(length);
                reader.segment(body).with_context(|| format!("segment {}", reader.dump.segments.len()))?;
            }
            0x2C => ended = true,
            _ => reader.record(tag, body)?,
        }
    }
    ensure!(ended, "there is no end");
    reader.finish()
}

impl Reader {
    fn record(&mut self, tag: u8, mut body: Input<'_>) -> Result<()> {
        let text = |texts: &HashMap<u64, String>, id: u64| {
            texts.get(&id).cloned().with_context(|| format!("no text {id}"))
        };
        match tag {
            0x01 => {
                let id = body.u8()?;
                let text = String::from_utf8_lossy(body.take(body.0.len())?).into_owned();
                ensure!(self.texts.insert(id, text).is_none(), "text {id} twice");
            }
            0x02 => {
                let (serial, id) = (body.u4()?, body.u8()?);
                self.trace(body.u4()?)?;
                let name = text(&self.texts, body.u8()?)?;
                ensure!(self.serials.insert(serial, name.clone()).is_none(), "class {serial} twice");
                // HotSpot itself may give the id of a class twice, for one that it has not loaded to the end.
                self.names.insert(id, name);
            }
            0x04 => {
                let (id, name, descriptor, source) = (body.u8()?, body.u8()?, body.u8()?, body.u8()?);
                let (class, line) = (body.u4()?, body.u4()?.cast_signed());
                text(&self.texts, descriptor)?;
                if source != 0 {
                    text(&self.texts, source)?;
                }
                let class = self.serials.get(&class).with_context(|| format!("no class {class}"))?;
                let frame = format!("{class}.{}:{line}", text(&self.texts, name)?);
                ensure!(self.frames.insert(id, frame).is_none(), "frame {id} twice");
            }
            0x05 => {
                let (serial, _thread, count) = (body.u4()?, body.u4()?, body.u4()?);
                let mut frames = Vec::new();
                for _ in 0..count {
                    frames.push(self.frames.get(&body.u8()?).context("no such frame")?.clone());
                }
                ensure!(self.dump.traces.insert(serial, frames).is_none(), "trace {serial} twice");
            }
            _ => bail!("a record of kind {tag:#x}"),
        }
        ensure!(body.0.is_empty(), "record {tag:#x} is too long");
        Ok(())
    }

    fn trace(&self, serial: u32) -> Result<u32> {
        // A class is loaded before the first trace is written.
        ensure!(serial == 1 || self.dump.traces.contains_key(&serial), "no trace {serial}");
        Ok(serial)
    }

    fn add(&mut self, id: u64, class: String, trace: u32, references: Vec<u64>) -> Result<()> {
        let references = references.into_iter().filter(|id| *id != 0).collect();
        let known = self.dump.objects.insert(id, Object { class, trace, references });
        ensure!(known.is_none(), "object {id} twice: {known:?}");
        Ok(())
    }

    fn segment(&mut self, mut body: Input<'_>) -> Result<()> {
        while !body.0.is_empty() {
            let kind = body.u1()?;
            match kind {
                0xFF | 0x05 | 0x07 => self.dump.roots.push((kind, body.u8()?)),
                0x01 => {
                    self.dump.roots.push((kind, body.u8()?));
                    body.u8()?;
                }
                0x02 | 0x03 => {
                    self.dump.roots.push((kind, body.u8()?));
                    body.u8()?;
                }
                0x08 => {
                    self.dump.roots.push((kind, body.u8()?));
                    body.u4()?;
                    self.trace(body.u4()?)?;
                }
                0x20 => self.class(&mut body)?,
                0x21 => {
                    let (id, trace, class, length) = (body.u8()?, body.u4()?, body.u8()?, body.u4()?);
                    let trace = self.trace(trace)?;
                    self.instances.push((id, class, body.take(length as usize)?.to_vec()));
                    self.add(id, String::new(), trace, Vec::new())?;
                }
                0x22 => {
                    let (id, trace, count, class) = (body.u8()?, body.u4()?, body.u4()?, body.u8()?);
                    let references = body
                        .take(8 * count as usize)?
                        .chunks(8)
                        .map(|c| u64::from_be_bytes(c.try_into().unwrap()));
                    let references = references.chain([class]).collect();
                    let class = self.names.get(&class).with_context(|| format!("no class {class}"))?.clone();
                    ensure!(class.starts_with('['), "an array of class {class}");
                    let trace = self.trace(trace)?;
                    self.add(id, class, trace, references)?;
                }
                0x23 => {
                    let (id, trace, count, kind) = (body.u8()?, body.u4()?, body.u4()?, body.u1()?);
                    body.take(count as usize * size(kind)?)?;
                    let letter = "????ZCFDBSIJ".chars().nth(kind.into()).context("a type")?;
                    let trace = self.trace(trace)?;
                    self.add(id, format!("[{letter}"), trace, Vec::new())?;
                }
                _ => bail!("a heap record of kind {kind:#x}"),
            }
        }
        Ok(())
    }

    fn class(&mut self, body: &mut Input<'_>) -> Result<()> {
        let (id, trace, superclass) = (body.u8()?, body.u4()?, body.u8()?);
        self.trace(trace)?;
        let mut references = vec![superclass];
        for _ in 0..5 {
            references.push(body.u8()?);
        }
        let instance_size = body.u4()?;
        ensure!(body.u2()? == 0, "constants");
        for _ in 0..body.u2()? {
            ensure!(self.texts.contains_key(&body.u8()?), "a static field without a name");
            let kind = body.u1()?;
            let value = body.take(size(kind)?)?;
            if kind == 2 {
                references.push(u64::from_be_bytes(value.try_into()?));
            }
        }
        let mut fields = Vec::new();
        for _ in 0..body.u2()? {
            ensure!(self.texts.contains_key(&body.u8()?), "a field without a name");
            fields.push(body.u1()?);
        }
        let name = self.names.get(&id).with_context(|| format!("class {id} is not loaded"))?;
        let name = format!("class {name}");
        self.classes.insert(id, Class { superclass, fields, instance_size });
        self.add(id, name, 1, references)
    }

    fn finish(mut self) -> Result<Dump> {
        for (id, class, values) in std::mem::take(&mut self.instances) {
            let name = self.names.get(&class).with_context(|| format!("no class {class}"))?.clone();
            let mut input = Input(&values);
            let mut references = vec![class];
            let (mut at, mut size_said) = (class, None);
            while at != 0 {
                let class = self.classes.get(&at).with_context(|| format!("{name}: no class {at}"))?;
                size_said.get_or_insert(class.instance_size);
                for kind in &class.fields {
                    let value = input.take(size(*kind)?)?;
                    if *kind == 2 {
                        references.push(u64::from_be_bytes(value.try_into()?));
                    }
                }
                at = class.superclass;
            }
            ensure!(input.0.is_empty(), "an instance of {name} is too long");
            ensure!(
                size_said == Some(u32::try_from(values.len())?),
                "{name}: not the size that its class says"
            );
            let object = self.dump.objects.get_mut(&id).context("it was added")?;
            (object.class, object.references) =
                (name, references.into_iter().filter(|id| *id != 0).collect());
        }
        Ok(self.dump)
    }
}

impl Dump {
    /// References and roots that lead to nothing.
    pub fn dangling(&self) -> Vec<String> {
        let missing = |id: &u64| !self.objects.contains_key(id);
        let references = self.objects.iter().flat_map(|(id, object)| {
            object
                .references
                .iter()
                .filter(|to| missing(to))
                .map(move |to| format!("{} {id} -> {to}", object.class))
        });
        let roots = self
            .roots
            .iter()
            .filter(|(_, id)| missing(id))
            .map(|(kind, id)| format!("root {kind:#x} -> {id}"));
        references.chain(roots).collect()
    }

    /// Objects that no root leads to.
    pub fn unreachable(&self) -> Vec<&Object> {
        let mut reached = HashSet::new();
        let mut open: Vec<u64> = self.roots.iter().map(|(_, id)| *id).collect();
        while let Some(id) = open.pop() {
            if reached.insert(id)
                && let Some(object) = self.objects.get(&id)
            {
                open.extend(&object.references);
            }
        }
        self.objects.iter().filter(|(id, _)| !reached.contains(id)).map(|(_, object)| object).collect()
    }

    /// Objects by class.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for object in self.objects.values() {
            *counts.entry(object.class.clone()).or_default() += 1;
        }
        counts
    }
}
