//! The Java runtime that the binary carries, as entries of an output or as a jar of its own.

use anyhow::Result;
use instrument_rewriter::archive::{self, NewEntry};
use instrument_runtime::CLASSES;

/// The file that `--runtime classpath` writes.
pub const JAR_NAME: &str = "instrument-runtime.jar";
/// A jar with this line is a module when it lies on the module path.
const MANIFEST: &str = "Manifest-Version: 1.0\r\nAutomatic-Module-Name: instrument.runtime\r\n\r\n";

pub fn classes() -> Vec<NewEntry> {
    CLASSES.iter().map(entry).collect()
}

/// A class that the binary carries, by its name and its bytes.
pub fn entry((name, data): &(&str, &[u8])) -> NewEntry {
    NewEntry { name: (*name).to_owned(), data: data.to_vec(), stored: false }
}

/// The runtime as a jar.
///
/// # Errors
/// None that can be foreseen: the jar is made in memory.
pub fn jar() -> Result<Vec<u8>> {
    jar_with(Vec::new())
}

/// The same with more entries.
///
/// # Errors
/// As [`jar`].
pub fn jar_with(more: Vec<NewEntry>) -> Result<Vec<u8>> {
    let mut entries = vec![NewEntry {
        name: "META-INF/MANIFEST.MF".to_owned(),
        data: MANIFEST.as_bytes().to_vec(),
        stored: false,
    }];
    entries.extend(classes());
    entries.extend(more);
    Ok(archive::create(entries)?)
}
