//! The kinds of archives, which of their entries are looked into, and where new classes must go so that the
//! class loaders of that kind find them.

use super::codec;
use super::directory::{Directory, Entry};
use super::header::{DEFLATED, FLAGS_ENCRYPTED, STORED};

/// What kind of application an archive holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A plain jar: its root is on the class path.
    Jar,
    /// An executable Spring Boot jar (`BOOT-INF/`): the launcher's class loader, which sees the root, is the
    /// parent of the one that loads the application.
    SpringBoot,
    /// A web application (`WEB-INF/`): class path is `WEB-INF/classes/` and the jars in `WEB-INF/`.
    War,
    /// A module for jlink (`.jmod`): its classes and their resources lie in `classes/`, beside libraries and settings.
    Jmod,
    /// An enterprise application (`META-INF/application.xml`): modules are nested, shared jars in a library folder.
    Ear,
}

/// Where new entries go in the outermost archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The kind of the outermost archive.
    pub kind: Kind,
    /// What the engine puts before the name of every new entry: empty, `WEB-INF/classes/`, or `classes/`.
    pub prefix: &'static str,
    /// The nested jar the engine makes for the new entries, in an ear: `lib/instrument-runtime.jar`.
    pub library: Option<String>,
}

/// What the engine does with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Class,
    Archive,
    Other,
}

const APPLICATION_XML: &[u8] = b"META-INF/application.xml";
/// Where a `.jmod` has what a class loader sees.
pub(super) const MODULE_CLASSES: &str = "classes/";
const RUNTIME_JAR: &str = "instrument-runtime.jar";

fn has_suffix(name: &[u8], suffix: &[u8]) -> bool {
    name.len() > suffix.len() && name[name.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
}

impl Role {
    /// By name, as a class loader sees it. HotSpot also loads `X.class/` if it has data.
    pub(super) fn of(entry: &Entry<'_>) -> Role {
        let name = entry.name;
        if name.ends_with(b".class") || (name.ends_with(b".class/") && entry.sizes.size > 0) {
            Role::Class
        } else if entry.sizes.size > 0
            && [&b".jar"[..], b".war", b".ear", b".rar"].iter().any(|suffix| has_suffix(name, suffix))
        {
            Role::Archive
        } else {
            Role::Other
        }
    }
}

impl Kind {
    /// By the archive's own name if that is telling, or else by content.
    pub(super) fn of(name: &[u8], directory: &Directory<'_>) -> Kind {
        let has = |prefix: &[u8]| directory.names().any(|name| name.starts_with(prefix));
        if has_suffix(name, b".jmod") {
            Kind::Jmod
        } else if has_suffix(name, b".ear") {
            Kind::Ear
        } else if has_suffix(name, b".war") {
            Kind::War
        } else if has(b"BOOT-INF/") {
            Kind::SpringBoot
        } else if has(b"WEB-INF/") {
            Kind::War
        } else if directory.find(APPLICATION_XML).is_some() {
            Kind::Ear
        } else {
            Kind::Jar
        }
    }

    /// Whether a class loader of this kind of archive reaches a class or a nested archive, and from there the
    /// runtime. In a war, that is what lies in `WEB-INF/`: other classes are for download, or the launcher of
    /// an executable war, whose class loader sees nothing in `WEB-INF/`. In an ear, it is what is nested.
    pub(super) fn reaches(self, role: Role, name: &[u8]) -> bool {
        match (self, role) {
            (Kind::War, _) => name.starts_with(b"WEB-INF/"),
            (Kind::Jmod, Role::Class) => name.starts_with(MODULE_CLASSES.as_bytes()),
            // No class loader looks into an archive there.
            (Kind::Jmod, _) => false,
            (Kind::Ear, Role::Class) => false,
            _ => true,
        }
    }
}

impl Layout {
    pub(super) fn of(kind: Kind, directory: &Directory<'_>) -> Layout {
        match kind {
            Kind::Jar | Kind::SpringBoot => Layout { kind, prefix: "", library: None },
            Kind::Jmod => Layout { kind, prefix: MODULE_CLASSES, library: None },
            Kind::War => Layout { kind, prefix: "WEB-INF/classes/", library: None },
            Kind::Ear => {
                let folder = library_directory(directory).unwrap_or_else(|| "lib".to_owned());
                Layout { kind, prefix: "", library: Some(format!("{folder}/{RUNTIME_JAR}")) }
            }
        }
    }
}

/// `library-directory` of an ear's application.xml, if there is one that is a plain relative folder.
fn library_directory(directory: &Directory<'_>) -> Option<String> {
    const MAX_XML: u64 = 1 << 20;
    let entry = directory.find(APPLICATION_XML)?;
    let readable = (entry.method == STORED || entry.method == DEFLATED)
        && entry.flags & FLAGS_ENCRYPTED == 0
        && entry.sizes.size <= MAX_XML;
    let xml = readable.then(|| codec::content(directory, entry).ok())??;
    let xml = without_comments(std::str::from_utf8(&xml).ok()?);
    let (_, rest) = xml.split_once("<library-directory>")?;
    let (value, _) = rest.split_once("</library-directory>")?;
    let value = value.trim().trim_matches('/');
    let plain = !value.is_empty()
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c))
        && value.split('/').all(|part| !matches!(part, "" | "." | ".."));
    plain.then(|| value.to_owned())
}

fn without_comments(xml: &str) -> String {
    let mut kept = String::with_capacity(xml.len());
    let mut rest = xml;
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}
