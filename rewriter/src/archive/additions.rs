//! Puts new entries where the outermost archive's class loaders find them.

use super::NewEntry;
use super::directory::Directory;
use super::error::ErrorKind;
use super::layout::Layout;
use super::manifest;
use super::options::Options;
use super::splice::{self, EMPTY, Splice};

/// The new entries under their final names; for an ear, the one jar that holds them. An error comes with the
/// name of the entry.
pub(super) fn place(
    mut entries: Vec<NewEntry>,
    layout: &Layout,
    directory: &Directory<'_>,
    options: &Options,
) -> Result<Vec<NewEntry>, (String, ErrorKind)> {
    if entries.is_empty() && options.root_entries.is_empty() {
        return Ok(entries);
    }
    match &layout.library {
        Some(name) => {
            let data = library(entries, directory, options).map_err(|kind| (name.clone(), kind))?;
            entries = vec![NewEntry { name: name.clone(), data, stored: true }];
        }
        None => entries.iter_mut().for_each(|entry| entry.name.insert_str(0, layout.prefix)),
    }
    entries.extend(options.root_entries.iter().cloned());
    match entries.iter().find(|new| directory.names().any(|name| name == new.name.as_bytes())) {
        Some(taken) => Err((taken.name.clone(), ErrorKind::NameTaken)),
        None => Ok(entries),
    }
}

/// A new jar of these entries, dated 1980-01-01.
pub fn create(entries: Vec<NewEntry>) -> Result<Vec<u8>, super::ArchiveError> {
    let fail = |kind| super::ArchiveError::new("new archive", kind);
    let empty = Directory::parse(&EMPTY, 0).map_err(fail)?;
    library(entries, &empty, &Options::default()).map_err(fail)
}

/// A jar of the new entries, dated like those that are added to `directory` itself.
fn library(
    mut entries: Vec<NewEntry>,
    directory: &Directory<'_>,
    options: &Options,
) -> Result<Vec<u8>, ErrorKind> {
    if !entries.iter().any(|entry| manifest::is_manifest(entry.name.as_bytes())) {
        let data = b"Manifest-Version: 1.0\r\n\r\n".to_vec();
        entries.insert(0, NewEntry { name: "META-INF/MANIFEST.MF".to_owned(), data, stored: false });
    }
    let (names, additions): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .map(|entry| (entry.name, splice::pack_addition(entry.data, entry.stored, options.level)))
        .unzip();
    let empty = Directory::parse(&EMPTY, 0)?;
    let mut jar = Vec::new();
    let named = names.iter().zip(&additions).map(|(name, addition)| (name.as_bytes(), addition));
    Splice::new(&empty, &mut jar).finish(named, splice::time_for_additions(directory))?;
    Ok(jar)
}
