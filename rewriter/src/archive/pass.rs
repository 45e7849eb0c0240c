//! One archive on its way through the engine.

use std::io::Write;

use rayon::prelude::*;

use super::codec;
use super::directory::{Directory, Entry};
use super::error::{ArchiveError, ErrorKind};
use super::options::Options;
use super::splice::{Edit, Splice};
use super::{Location, index_list, manifest};

/// What is done with the entries of the archive, in the order of their local headers.
pub(super) struct Pass<'d, 'a, 'o> {
    pub(super) directory: &'d Directory<'a>,
    pub(super) at: &'d Location<'d>,
    pub(super) depth: u32,
    pub(super) splice: Splice<'d, 'a, 'o>,
    /// Edits that wait for the end, if the archive has entries whose fate is decided there.
    pub(super) held: Option<Vec<(usize, Edit)>>,
    /// Changed nested archives, to be packed several at a time; they come before any later edit.
    pub(super) unpacked: Vec<(usize, Vec<u8>)>,
    pub(super) unpacked_size: usize,
    pub(super) edited: bool,
    /// The manifest has got its new attributes.
    pub(super) extended: bool,
    /// Name of the first signature entry.
    pub(super) signature: Option<&'a [u8]>,
    pub(super) strip_signatures: bool,
}

impl<'d, 'a, 'o> Pass<'d, 'a, 'o> {
    pub(super) fn new(
        directory: &'d Directory<'a>,
        at: &'d Location<'d>,
        depth: u32,
        out: &'o mut dyn Write,
        options: &Options,
    ) -> Self {
        let signature = directory.names().find(|name| manifest::is_signature(name));
        let has_index = depth == 0 && directory.find(index_list::NAME).is_some();
        Pass {
            directory,
            at,
            depth,
            splice: Splice::new(directory, out),
            held: (signature.is_some() || has_index).then(Vec::new),
            unpacked: Vec::new(),
            unpacked_size: 0,
            edited: false,
            extended: false,
            signature,
            strip_signatures: options.strip_signatures,
        }
    }

    pub(super) fn entry(&self, place: usize) -> &'d Entry<'a> {
        &self.directory.entries[self.directory.order[place] as usize]
    }

    pub(super) fn refuse_signed(&self) -> Result<(), ArchiveError> {
        match self.signature {
            Some(name) if !self.strip_signatures => {
                let signature = String::from_utf8_lossy(name).into_owned();
                Err(ArchiveError::new(self.at, ErrorKind::Signed { signature }))
            }
            _ => Ok(()),
        }
    }

    /// Packs the nested archives that wait for it, in parallel, and writes them.
    pub(super) fn pack(&mut self, level: i32) -> Result<(), ArchiveError> {
        let (directory, unpacked) = (self.directory, std::mem::take(&mut self.unpacked));
        self.unpacked_size = 0;
        let packed: Vec<_> = unpacked
            .into_par_iter()
            .map(|(place, content)| {
                let entry = &directory.entries[directory.order[place] as usize];
                (place, codec::pack(content, entry.method, level))
            })
            .collect();
        packed.into_iter().try_for_each(|(place, packed)| self.edit(place, Edit::Replace(packed)))
    }

    /// Edits an entry. Places ascend, except once edits are held.
    pub(super) fn edit(&mut self, place: usize, edit: Edit) -> Result<(), ArchiveError> {
        self.refuse_signed()?;
        self.edited = true;
        match &mut self.held {
            Some(held) => held.push((place, edit)),
            None => {
                self.splice.edit(place, edit).map_err(|error| ArchiveError::new(self.at, error.into()))?
            }
        }
        Ok(())
    }
}
