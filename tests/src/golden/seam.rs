//! The two places where the golden tests touch the code under test: `rewrite` and `dump`.

use std::io::Write;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::jvm;

/// Which transforms to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transforms {
    /// `method-events`.
    pub method_events: bool,
    /// `allocation`.
    pub allocation: bool,
}

impl Transforms {
    /// The three combinations that every case is tried with, by the name of their printed diff.
    pub const ALL: [(&'static str, Transforms); 3] = [
        ("method-events", Transforms { method_events: true, allocation: false }),
        ("allocation", Transforms { method_events: false, allocation: true }),
        ("both", Transforms { method_events: true, allocation: true }),
    ];
}

/// What was left as it was, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skip {
    /// Name and descriptor (`m(I)V`); none for the whole class.
    pub method: Option<String>,
    /// A name of the closed list, such as `method-too-large`.
    pub reason: String,
}

/// A rewritten class.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The class file; the input's own bytes where nothing changed.
    pub bytes: Vec<u8>,
    /// What was left out.
    pub skips: Vec<Skip>,
}

/// Method ids of one case: the index is the id, the text is `Class.name(descriptor)` with `/` in the class name.
#[derive(Clone, Debug, Default)]
pub struct Ids(pub Vec<String>);

/// Rewrites one class; every method that gets an id is appended to `ids`.
///
/// # Errors
/// Never yet: an input that is no class is a skip of the whole class.
pub fn rewrite(class: &[u8], _transforms: Transforms, _ids: &mut Ids) -> Result<Outcome> {
    Ok(Outcome { bytes: class.to_vec(), skips: Vec::new() })
}

/// A class as readable, stable text.
///
/// # Errors
/// The class cannot be read.
pub fn dump(class: &[u8]) -> Result<String> {
    let mut file = tempfile::Builder::new().suffix(".class").tempfile()?;
    file.write_all(class)?;
    let jdks = jvm::jdks()?;
    let javap = jdks[jdks.len() - 1].tool("javap");
    let done = Command::new(javap).args(["-v", "-p"]).arg(file.path()).output()?;
    ensure!(done.status.success(), "javap: {}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8_lossy(&done.stdout);
    // The first lines name the temporary file, its time and its checksum.
    let body = text.lines().filter(|line| {
        !["Classfile ", "  Last modified ", "  SHA-256 ", "  MD5 "].iter().any(|head| line.starts_with(head))
    });
    Ok(body.map(|line| format!("{line}\n")).collect())
}
