//! `run --subclasses-of`: the classes are found before the program starts, and handed to the agent in a file.

use crate::class_path::classes;
use crate::launch::temporary_file;
use anyhow::{Context, Result};
use instrument_artifacts::subclasses::below;
use instrument_control::subclasses::write;
use instrument_messages::{Listener, usage};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use tempfile::NamedTempFile;

/// Looks for the classes `above`, and what extends or implements them, on the class path of the command and of `more`. `is_java`: the command
/// is `java` itself. `beside`: where the agent's file may be if temporary ones can be nowhere.
///
/// # Errors
/// There are none; what cannot be read or written.
pub fn prepare(
    above: &[String],
    more: Option<&OsString>,
    command: &[OsString],
    is_java: bool,
    beside: &Path,
    listener: &dyn Listener,
) -> Result<NamedTempFile> {
    let skipped = "its classes are not looked at for --subclasses-of";
    let (class_path, jdk) = classes(command, is_java, more, (listener, skipped))?;
    let found = below(&class_path, jdk, above)?;
    if found.is_empty() {
        let names = above.join(", ");
        return Err(usage(format!(
            "--subclasses-of: no class of the class path is, extends or implements {names}; --class-path PATH names archives that the program \
             loads by itself"
        )));
    }
    let what = "a file for the classes of --subclasses-of";
    let mut file = temporary_file(beside).context(what)?;
    file.write_all(&write(above, found.iter().map(|class| &**class))).context(what)?;
    Ok(file)
}
