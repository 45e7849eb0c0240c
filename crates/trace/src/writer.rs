//! Writes profiles of sums: of threads that ended, of whatever processes. What records while a program runs is `runtime-java`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use crate::bytes::Bytes;
use crate::encode;
use crate::format::*;
use crate::regions::{Region, walk};
use crate::{Allocation, Link, Method, ThreadSamples, Tree, TreeAllocation};

/// What a profile says of itself in its header.
#[derive(Debug, Clone, Copy, Default)]
pub struct About {
    /// Tells the profile from those of other processes; not 0.
    pub nonce: u64,
    /// When recording began, in ms since 1970-01-01 UTC.
    pub start_ms: u64,
    /// Events that are in no figure.
    pub dropped: u64,
    /// The programs ended by themselves. Else readers take the profile for that of a program that was killed.
    pub has_ended: bool,
}

/// The figures of threads that ended.
#[derive(Debug, Clone, Copy)]
pub enum Sum<'a> {
    /// Contexts, callers before what they call, and what was made in them. Of nodes whose calls were not all timed
    /// ([`Tree::sampled`]) times are estimates. Of a tree with samples ([`Tree::has_samples`]) [`Writer::samples`] tells what they stand for.
    Tree(&'a Tree, &'a [TreeAllocation]),
    /// Counts by method id, and what methods made.
    Counts(&'a BTreeMap<u32, Method>, &'a [Allocation]),
}

/// Writes a profile, region by region: one copy of the runtime, one block. Nothing is kept in memory.
///
/// ```
/// use instrument_trace::{About, Profile, Sum, Tree, TreeConsumer, TreeNode, Writer};
///
/// let main = TreeNode { entries: 3, ns: 500, ..TreeNode::new(TreeConsumer::Method(1), 0) };
/// let tree = Tree { nodes: vec![main], ..Tree::default() };
/// let mut writer = Writer::new(std::io::Cursor::new(Vec::new()))?;
/// writer.sum("main", 3, Sum::Tree(&tree, &[]))?;
/// let about = About { nonce: 77, has_ended: true, ..About::default() };
/// let file = writer.finish(&about)?.into_inner();
/// let profile = Profile::parse(&file)?;
/// assert_eq!(profile.threads[0].tree.as_ref().map(|tree| tree.nodes[0].ns), Some(500));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// File offset of the block, and the copy of the runtime that owns it.
    block: u64,
    copy: u32,
    /// File offset of the next region.
    at: u64,
    sums: u32,
    /// Words that change when the block is there, by their file offsets.
    changes: Vec<(u64, u64)>,
}

/// The first number of a tree's nodes in the file.
const FIRST_NODE: u32 = NODE_UNITS;

/// The number in the file of a node of a tree.
fn number(node: u32) -> u32 {
    node.checked_sub(1).map_or(0, |index| FIRST_NODE + NODE_UNITS * index)
}

impl<W: Write + Seek> Writer<W> {
    /// The largest number of nodes that a tree can have in the file.
    pub const MOST_NODES: usize = (u32::MAX / NODE_UNITS) as usize - 1;

    /// Begins a profile.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(mut out: W) -> io::Result<Writer<W>> {
        let at = FILE_HEADER + HEADER;
        out.write_all(&vec![0; at as usize])?;
        Ok(Writer { out, block: FILE_HEADER, copy: 1, at, sums: 0, changes: Vec::new() })
    }

    /// Adds properties: facts about the processes. Those of the same key replace earlier ones.
    ///
    /// # Errors
    /// Those of the output.
    pub fn properties(&mut self, properties: &BTreeMap<String, String>) -> io::Result<()> {
        let text = encode::properties(properties);
        self.region(PROPERTIES, 0, &[text.len() as u64], text.as_bytes()).map(drop)
    }

    /// Adds an id map: gzip data.
    ///
    /// # Errors
    /// Those of the output.
    pub fn id_map(&mut self, gzip: &[u8]) -> io::Result<()> {
        self.region(ID_MAP, 0, &[gzip.len() as u64], gzip).map(drop)
    }

    /// Adds class names by class number, as `Class.getName()` gives them.
    ///
    /// # Errors
    /// Those of the output.
    pub fn class_names<S: AsRef<str>>(&mut self, names: &[(u32, S)]) -> io::Result<()> {
        self.region(CLASS_NAMES, 0, &[], &encode::class_names(names)).map(drop)
    }

    /// Adds links. Their threads are ordinals that [`Writer::sum`] gave, their nodes those of the trees there.
    ///
    /// # Errors
    /// Those of the output.
    pub fn links(&mut self, links: &[Link]) -> io::Result<()> {
        let body = encode::links(links.iter().map(|link| Link { node: number(link.node), ..*link }));
        self.region(LINKS, 0, &[], &body).map(drop)
    }

    /// Adds the sum of `threads` threads, which readers show under one name. Gives its ordinal, from 1.
    ///
    /// # Errors
    /// Those of the output; a name of more than 96 bytes, a tree of more than [`Writer::MOST_NODES`].
    pub fn sum(&mut self, name: &str, threads: u64, sum: Sum<'_>) -> io::Result<u32> {
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
        if name.len() > ENDED_NAME_ROOM as usize {
            return Err(invalid("the name of a thread has more than 96 bytes"));
        }
        let owner = self.sums + 1;
        let (figures, allocations, bytecodes) = match sum {
            Sum::Tree(tree, _) if tree.nodes.len() > Self::MOST_NODES => {
                return Err(invalid("there are more contexts than a profile can have"));
            }
            Sum::Tree(tree, made) => self.tree(owner, tree, made)?,
            Sum::Counts(methods, made) => self.counts(owner, methods, made)?,
        };
        let mut body = vec![0; (THREAD_REGION - HEADER) as usize];
        let name_at = (ENDED_NAME - HEADER) as usize;
        body[name_at..name_at + name.len()].copy_from_slice(name.as_bytes());
        let length_at = (THREAD_NAME + THREAD_NAME_ROOM - HEADER) as usize;
        body[length_at..length_at + 8].copy_from_slice(&(name.len() as u64).to_le_bytes());
        self.region(ENDED, owner, &[figures, allocations, 0, 0, threads, bytecodes], &body)?;
        self.sums = owner;
        Ok(owner)
    }

    /// Adds the samples of a sum that its contexts do not have, by the ordinal that [`Writer::sum`] gave.
    ///
    /// # Errors
    /// Those of the output.
    pub fn samples(&mut self, ordinal: u32, samples: &ThreadSamples) -> io::Result<()> {
        let (header, body) = samples.encode();
        self.region(THREAD_SAMPLES, ordinal, &header, &encode::words(body.into_iter())).map(drop)
    }

    /// Ends the profile.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, about: &About) -> io::Result<W> {
        let end = self.end_block()?;
        let mut header = [0; 12];
        header[1] = u64::from(VERSION) | FILE_HEADER << 32;
        (header[2], header[4], header[5]) = (about.nonce, about.start_ms, end);
        (header[6], header[7]) = (about.dropped, 1);
        // There is no clock that all processes share: only that it was read tells that they ended.
        header[10] = about.has_ended.into();
        header[0] = u64::from_le_bytes(MAGIC);
        self.out.seek(SeekFrom::Start(0))?;
        self.words(&header)?;
        self.out.seek(SeekFrom::Start(end))?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Fills the block up and writes its header. Gives the file offset of the next one.
    fn end_block(&mut self) -> io::Result<u64> {
        let end = (self.at + HEADER).next_multiple_of(PAGE);
        self.out.write_all(&vec![0; (end - self.at) as usize])?;
        for (at, value) in std::mem::take(&mut self.changes) {
            self.out.seek(SeekFrom::Start(at))?;
            self.words(&[value])?;
        }
        self.out.seek(SeekFrom::Start(self.block))?;
        self.words(&[u64::from(BLOCK) | u64::from(self.copy) << 32, end - self.block])?;
        Ok(end)
    }

    /// Offsets of the regions of figures, allocations and executed instructions.
    fn tree(&mut self, owner: u32, tree: &Tree, made: &[TreeAllocation]) -> io::Result<(u64, u64, u64)> {
        let mut piece = 0;
        if !tree.nodes.is_empty() {
            let length = NODE * tree.nodes.len() as u64;
            piece = self.begin(TREE_NODES, owner, &[FIRST_NODE.into()], length)?;
            for node in &tree.nodes {
                let parent = number(node.parent);
                let node = crate::TreeNode { parent, ..*node };
                self.words(&encode::node(&node, node.open, tree.has_samples))?;
            }
            self.end(length)?;
        }
        let kept = tree.durations.iter();
        let kept: Vec<u8> = kept.flat_map(|(node, of)| encode::octaves(number(*node), of)).collect();
        let durations = if kept.is_empty() { 0 } else { self.region(DURATIONS, owner, &[], &kept)? };
        let flags = IN_PIECES | encode::tree_flags(tree);
        let header = [0, flags, piece, durations, tree.durations_left_out, tree.recursive];
        let figures = self.region(TREE, owner, &header, &[])?;
        let made = made.iter().map(|made| TreeAllocation { node: number(made.node), ..*made });
        let made = encode::tree_allocations(made);
        let allocations = if made.is_empty() { 0 } else { self.region(TREE_ALLOCATIONS, owner, &[], &made)? };
        let executed = tree.nodes.iter().zip(1..).filter(|(node, _)| node.bytecodes > 0);
        let executed = executed.map(|(node, index)| (number(index), node.bytecodes));
        Ok((figures, allocations, self.bytecodes(owner, executed)?))
    }

    fn counts(
        &mut self,
        owner: u32,
        methods: &BTreeMap<u32, Method>,
        made: &[Allocation],
    ) -> io::Result<(u64, u64, u64)> {
        let has_samples = methods.values().any(|of| of.samples > 0);
        let exits = methods.values().map(|of| of.closes.exits).fold(0, u64::saturating_add);
        let records = methods.iter().flat_map(|(&id, of)| {
            let closes = of.closes;
            let exits = if has_samples { of.samples } else { closes.exits };
            let ends = [exits, closes.unwinds, closes.aborted, closes.unclosed];
            [u64::from(id) + 1, of.entries].into_iter().chain(ends).chain([of.unmatched, of.open])
        });
        let header = if has_samples { [0, EXITS_OF_THREAD | SAMPLES_OF_METHODS, exits] } else { [0; 3] };
        let figures = self.region(COUNTS, owner, &header, &encode::words(records))?;
        let made = made.iter().flat_map(|made| {
            [made.method.map_or(0, |id| u64::from(id) + 1) << 32 | u64::from(made.class), made.count]
        });
        let made = encode::words(made);
        let allocations = if made.is_empty() { 0 } else { self.region(ALLOCATIONS, owner, &[], &made)? };
        let executed =
            methods.iter().filter(|(_, of)| of.bytecodes > 0).map(|(id, of)| (id + 1, of.bytecodes));
        Ok((figures, allocations, self.bytecodes(owner, executed)?))
    }

    fn bytecodes(&mut self, owner: u32, executed: impl Iterator<Item = (u32, u64)>) -> io::Result<u64> {
        let body = encode::words(executed.flat_map(|(key, count)| [key.into(), count]));
        if body.is_empty() { Ok(0) } else { self.region(BYTECODES, owner, &[], &body) }
    }

    /// Writes a region. Gives its file offset.
    fn region(&mut self, kind: u32, owner: u32, header: &[u64], body: &[u8]) -> io::Result<u64> {
        let offset = self.begin(kind, owner, header, body.len() as u64)?;
        self.out.write_all(body)?;
        self.end(body.len() as u64)?;
        Ok(offset)
    }

    /// Begins a region: words 16 to 64 of its header. Its body follows, of so many bytes.
    fn begin(&mut self, kind: u32, owner: u32, header: &[u64], length: u64) -> io::Result<u64> {
        let offset = self.at;
        let whole = (HEADER + length).next_multiple_of(HEADER);
        self.words(&[u64::from(owner) << 32 | u64::from(kind), whole])?;
        let mut words = [0; 6];
        words[..header.len()].copy_from_slice(header);
        self.words(&words)?;
        self.at += whole;
        Ok(offset)
    }

    /// Ends a region whose body has so many bytes.
    fn end(&mut self, length: u64) -> io::Result<()> {
        let rest = length.next_multiple_of(HEADER) - length;
        self.out.write_all(&[0; HEADER as usize][..rest as usize])
    }

    fn words(&mut self, words: &[u64]) -> io::Result<()> {
        words.iter().try_for_each(|word| self.out.write_all(&word.to_le_bytes()))
    }
}

impl Writer<BufWriter<File>> {
    /// Begins to replace the samples of a profile by those of another run, whose threads and contexts are those of `copy`, the copy of the runtime that
    /// recorded the profile. What is written comes in addition; of the samples that are there only those of probes stay when [`Writer::replace`] ends
    /// it, and no checksum does. Until then the profile is as it was. `worth`: the CPU time that a sample of a thread stands for, by copy and ordinal.
    ///
    /// # Errors
    /// Those of the file; a file that is no whole profile.
    pub fn replacing_samples(
        mut file: File,
        copy: u32,
        worth: impl Fn(u32, u32) -> f64,
    ) -> io::Result<Writer<BufWriter<File>>> {
        let bytes = Bytes::new(&file)?;
        let block = bytes.u64(40);
        if bytes.data(0, 8) != MAGIC || block > bytes.size() || block < FILE_HEADER {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no whole profile"));
        }
        let regions = walk(&bytes, block, &mut Vec::new()).regions;
        let ordinals = regions.iter().filter(|region| [THREAD, ENDED].contains(&region.kind));
        let sums = ordinals.filter(|region| region.copy == copy).map(|region| region.owner).max();
        let changes = regions
            .iter()
            .flat_map(|region| without_samples(&bytes, region, &|region| worth(region.copy, region.owner)));
        let changes = changes.chain([(SEAL, 0)]).collect();
        file.seek(SeekFrom::Start(block))?;
        let at = block + HEADER;
        let mut out = BufWriter::new(file);
        out.write_all(&[0; HEADER as usize])?;
        Ok(Writer { out, block, copy, at, sums: sums.unwrap_or(0), changes })
    }

    /// Ends what [`Writer::replacing_samples`] began.
    ///
    /// # Errors
    /// Those of the file.
    pub fn replace(mut self) -> io::Result<()> {
        let end = self.end_block()?;
        self.out.seek(SeekFrom::Start(40))?;
        self.words(&[end])?;
        self.out.flush()
    }
}

/// The words of a region, by their file offsets, that change when only the samples of probes stay.
fn without_samples(bytes: &Bytes<'_>, region: &Region, worth: &dyn Fn(&Region) -> f64) -> Vec<(u64, u64)> {
    match region.kind {
        THREAD_SAMPLES if region.length >= THREAD_SAMPLES_REGION => {
            let body = region.offset + HEADER;
            let samples = ThreadSamples::decode(bytes.words(region.offset + 16), bytes.words(body));
            let cpu_ns = (samples.in_probes as f64 * worth(region)).round() as u64;
            let left = ThreadSamples {
                cpu_ns,
                in_probes: samples.in_probes,
                handler_ns: samples.handler_ns,
                ..ThreadSamples::default()
            };
            (body..).step_by(8).zip(left.encode().1).collect()
        }
        TREE_NODES => {
            let nodes = (region.offset + HEADER..region.end()).step_by(NODE as usize);
            let words = nodes.map(|at| at + NODE_SAMPLES).take_while(|at| at + 8 <= region.end());
            words.filter(|at| bytes.u64(*at) != 0).map(|at| (at, 0)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
