//! The Java runtime that the binary carries, as entries of an output or as a jar of its own.

use crate::settings::{Record, Settings};
use anyhow::Result;
use instrument_rewriter::archive::{self, NewEntry};
use instrument_runtime::CLASSES;

/// The file that `--runtime classpath` writes.
pub(crate) const JAR_NAME: &str = "instrument-runtime.jar";
/// Where the runtime finds its settings.
const PROPERTIES: &str = "META-INF/instrument/runtime.properties";
/// A jar with this line is a module when it lies on the module path.
const MANIFEST: &str = "Manifest-Version: 1.0\r\nAutomatic-Module-Name: instrument.runtime\r\n\r\n";

/// The classes.
pub(crate) fn classes() -> Vec<NewEntry> {
    CLASSES.iter().map(entry).collect()
}

/// A class that the binary carries, by its name and its bytes.
pub(crate) fn entry((name, data): &(&str, &[u8])) -> NewEntry {
    NewEntry { name: (*name).to_owned(), data: data.to_vec(), stored: false }
}

/// What the program finds about itself at run time. `name` is what its profiles are called; `launcher`: it has a launcher agent.
pub(crate) fn properties(name: &str, settings: &Settings, launcher: bool) -> NewEntry {
    let record = match settings.record {
        Record::Off => "off",
        Record::Counts => "counts",
        Record::Tree => "tree",
        Record::Trace => "trace",
    };
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let mut text = format!("name={name}\nrecord={record}\ntiming={}\n", settings.timing);
    if launcher {
        text += "launcher=true\n";
    }
    if !settings.recorded_roots.is_empty() {
        text += &format!("roots={}\n", escape(&settings.recorded_roots.join(",")));
    }
    for region in &settings.regions {
        text += &format!("region.{}={}\n", region.number, escape(&region.name));
    }
    NewEntry { name: PROPERTIES.to_owned(), data: text.into_bytes(), stored: false }
}

/// A value as `java.util.Properties` reads it.
fn escape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for unit in value.encode_utf16() {
        match u8::try_from(unit).map(char::from) {
            Ok('\\') => text += "\\\\",
            Ok(c @ ' '..='~') => text.push(c),
            _ => text += &format!("\\u{unit:04x}"),
        }
    }
    text
}

/// The runtime as a jar.
///
/// # Errors
/// None that can be foreseen: the jar is made in memory.
pub(crate) fn jar() -> Result<Vec<u8>> {
    jar_with(Vec::new())
}

/// The same with more entries.
///
/// # Errors
/// As [`jar`].
pub(crate) fn jar_with(more: Vec<NewEntry>) -> Result<Vec<u8>> {
    let mut entries = vec![NewEntry {
        name: "META-INF/MANIFEST.MF".to_owned(),
        data: MANIFEST.as_bytes().to_vec(),
        stored: false,
    }];
    entries.extend(classes());
    entries.extend(more);
    Ok(archive::create(entries)?)
}
