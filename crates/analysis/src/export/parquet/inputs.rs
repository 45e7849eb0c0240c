//! Which profiles are exported: each process once, in an order that does not depend on that of the files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::labels::{Labels, Sources, unread};
use super::place::{Partition, hex};
use super::schema::VERSION;
use crate::merge::Party;
use crate::session::{Error, Message, ProfileFile, is_profile, not_a_profile};

/// The label that services are kept apart by.
pub(super) const SERVICE: &str = "service";
/// The label that builds are kept apart by.
pub(super) const BUILD: &str = "build";

/// A profile.
pub(super) struct Input {
    pub(super) path: PathBuf,
    /// The process.
    pub(super) key: [u8; 16],
    pub(super) labels: Labels,
    pub(super) partition: Partition,
    /// It made or served some.
    pub(super) has_remote_calls: bool,
    /// SHA-256 of its bytes.
    pub(super) content: [u8; 32],
}

/// All profiles.
pub(super) struct Inputs {
    /// By partition and key.
    pub(super) all: Vec<Input>,
    /// The name of the files: a hash of what goes into them.
    pub(super) batch: String,
    pub(super) messages: Vec<Message>,
}

impl Inputs {
    /// Reads every file once, and none of what its threads did, keeping none.
    pub(super) fn read(paths: &[PathBuf], labels: &Sources) -> Result<Inputs, Error> {
        let mut messages = Vec::new();
        let mut by_key: BTreeMap<[u8; 16], Vec<Input>> = BTreeMap::new();
        // As many are in memory at a time as there are processors.
        let read = paths.par_iter().map(|path| Input::read(path, labels)).collect::<Vec<_>>();
        for read in read {
            let (new, said) = read?;
            messages.extend(said);
            by_key.entry(new.key).or_default().push(new);
        }
        let mut all = Vec::new();
        for of_process in by_key.into_values() {
            all.push(fullest(of_process, &mut messages)?);
        }
        all.sort_by(|a, b| a.partition.cmp(&b.partition).then(a.key.cmp(&b.key)));
        let mut hash = Sha256::new_with_prefix(VERSION.to_le_bytes());
        for input in &all {
            for (key, value) in &input.labels {
                hash.update([key.as_bytes(), &[0], value.as_bytes(), &[0]].concat());
            }
            hash.update(input.content);
        }
        Ok(Inputs { all, batch: hex(&hash.finalize()[..8]), messages })
    }
}

/// Of the profiles of a process the fullest, and of equal ones the first. Only where there are several, they are read
/// for it.
fn fullest(of_process: Vec<Input>, messages: &mut Vec<Message>) -> Result<Input, Error> {
    let is_single = of_process.len() == 1;
    let mut best: Option<(Fullness, Input)> = None;
    for input in of_process {
        let new = (if is_single { Fullness::default() } else { input.fullness()? }, input);
        best = Some(match best {
            None => new,
            Some(known) => {
                let (more, less) = if new.0 > known.0 { (new, known) } else { (known, new) };
                let (name, fuller) = (less.1.path.display(), more.1.path.display());
                let text = format!("{name}: of the same process as {fuller}, which has no less; left out");
                messages.push(Message::warning(text));
                more
            }
        });
    }
    Ok(best.expect("a process has a profile").1)
}

/// How full a profile is ([`Party::fullness`]), and its bytes.
type Fullness = ((u64, bool, u64, u64), [u8; 32]);

impl Input {
    /// Reads a file; with what is to be said of it.
    fn read(path: &Path, labels: &Sources) -> Result<(Input, Vec<Message>), Error> {
        if !is_profile(path) {
            File::open(path).map_err(|error| Error::Open(path.to_owned(), error))?;
            return Err(Error::Request(format!("--format parquet: {}", not_a_profile(path))));
        }
        let file = ProfileFile::facts(path)?;
        let unread = unread(file.property("labels").unwrap_or_default()).map(|part| {
            let name = path.display();
            Message::warning(format!(
                "{name}: {part} in instrument.labels is no label and is left out; a label is written KEY=VALUE"
            ))
        });
        Ok((Input::of(&file, labels)?, unread.collect()))
    }

    fn fullness(&self) -> Result<Fullness, Error> {
        let file = ProfileFile::unnamed(&self.path)?;
        let party = Party { profile: &file.profile, source: file.source() };
        Ok((party.fullness().map_err(Error::profile(&self.path))?, self.content))
    }

    fn of(file: &ProfileFile, labels: &Sources) -> Result<Input, Error> {
        let (program, labels) = (file.program(), labels.of(file));
        let service = labels.get(SERVICE).unwrap_or(&program);
        let partition = Partition::new(service, labels.get(BUILD).map(String::as_str), file.profile.start_ms);
        let has_remote_calls = !file.profile.remote_calls.is_empty();
        let content = content(file)?;
        let key = key(file, &content);
        Ok(Input { path: file.path.clone(), key, labels, partition, has_remote_calls, content })
    }

    /// A figure of it is no whole number.
    pub(super) fn cannot_hold(&self, value: f64) -> Error {
        let name = self.path.display();
        Error::Request(format!(
            "{name}: a figure is {value}, which --format parquet cannot hold; please report it"
        ))
    }
}

/// A key of the process: of its random number, id and start, or of the file where the recorder gave it no number.
fn key(file: &ProfileFile, content: &[u8; 32]) -> [u8; 16] {
    let profile = &file.profile;
    let hash: [u8; 32] = match profile.nonce {
        0 => *content,
        nonce => Sha256::digest([nonce, profile.pid, profile.start_ms].map(u64::to_le_bytes).concat()).into(),
    };
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    key
}

/// SHA-256 of what was recorded: behind it a file may be as long as the mapping was.
fn content(file: &ProfileFile) -> Result<[u8; 32], Error> {
    let failed = |error| Error::Open(file.path.clone(), error);
    let source = File::open(&file.path).map_err(failed)?;
    let mut source = source.take(file.profile.length);
    let (mut hash, mut bytes) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match source.read(&mut bytes).map_err(failed)? {
            0 => return Ok(hash.finalize().into()),
            read => hash.update(&bytes[..read]),
        }
    }
}
