//! The launcher agent of a rewritten jar (`Launcher-Agent-Class`): what the jar gets so that plain `java -jar` records
//! what the JDK's own classes for remote calls tell. The other half is `runtime-java/src/launcher`.
//!
//! The new bytes of the JDK's classes are made here, for the JDKs that the user names, and are known by the digest of
//! the old ones: under another JDK the agent changes nothing and says so.

use crate::jdk::Jdk;
use crate::runtime;
use anyhow::Result;
use instrument_messages::usage;
use instrument_rewriter::archive::{self, NewEntry};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

const ATTRIBUTE: &str = "Launcher-Agent-Class";
const ATTRIBUTES: [(&str, &str); 2] =
    [(ATTRIBUTE, "instrument.launcher.LauncherAgent"), ("Can-Redefine-Classes", "true")];
/// As in `LauncherAgent.java`.
const FOLDER: &str = "META-INF/instrument/launcher";

/// What a jar gets.
#[derive(Debug)]
pub struct Launcher {
    /// The versions of the JDKs that it is for.
    versions: Vec<String>,
    entries: Vec<NewEntry>,
}

impl serde::Serialize for Launcher {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.versions.serialize(serializer)
    }
}

impl Launcher {
    /// Reads the JDKs in these directories; none: there is no such agent.
    ///
    /// # Errors
    /// One of them is no JDK, or not one whose classes are as expected.
    pub fn of(homes: &[PathBuf]) -> Result<Option<Launcher>> {
        if homes.is_empty() {
            return Ok(None);
        }
        let mut versions = BTreeSet::new();
        let mut index = String::new();
        let (mut names, mut digests) = (BTreeSet::new(), BTreeSet::new());
        let mut entries = Vec::new();
        for home in homes {
            let jdk = Jdk::open(home)?;
            for class in jdk.classes {
                names.insert(class.name);
                // JDKs share what has not changed between them.
                if !digests.contains(&class.digest) {
                    let name = format!("{FOLDER}/{}", class.digest);
                    entries.push(NewEntry { name, data: class.bytes, stored: false });
                    digests.insert(class.digest);
                }
            }
            versions.insert(jdk.version);
        }
        let lines = versions.iter().map(|version| ("jdk", version.as_str()));
        for (key, value) in lines.chain(names.iter().map(|name| ("class", *name))) {
            // A string grows.
            let _ = writeln!(index, "{key} {value}");
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries
            .insert(0, NewEntry { name: format!("{FOLDER}/index"), data: index.into_bytes(), stored: false });
        let boot = NewEntry {
            name: format!("{FOLDER}/boot.jar"),
            data: runtime::jar_with(entries)?,
            // Its own entries are compressed.
            stored: true,
        };
        let agent = instrument_runtime::LAUNCHER.iter().map(runtime::entry);
        Ok(Some(Launcher {
            versions: versions.into_iter().collect(),
            entries: agent.chain([boot]).collect(),
        }))
    }

    /// Whether `java -jar` starts this archive, so that it can have a launcher agent.
    ///
    /// # Errors
    /// It has another launcher agent, or cannot be read.
    pub fn fits(name: &str, bytes: &[u8]) -> Result<bool> {
        let Some(manifest) = archive::read_manifest(name, bytes, &archive::Limits::default())? else {
            return Ok(false);
        };
        // One that has ours is instrumented already, which others say better.
        if let Some(class) = archive::main_attribute(&manifest, ATTRIBUTE)
            && class != ATTRIBUTES[0].1
        {
            return Err(usage(format!(
                "{name}: its manifest has {ATTRIBUTE}: {class}, and a jar can have only one; use instrument jdk-patch instead of --launcher-agent"
            )));
        }
        Ok(archive::main_attribute(&manifest, "Main-Class").is_some())
    }

    /// Lets an archive have it.
    pub fn add_to(&self, options: &mut archive::Options) {
        options.manifest_attributes = ATTRIBUTES.to_vec();
        options.root_entries.clone_from(&self.entries);
    }
}
