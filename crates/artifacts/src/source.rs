//! Where classes are read from: class files, directories, archives, and archives in archives.
//!
//! An address names one of these: a path, then `!` and an entry's name for each archive that is gone
//! into: `app.jar!BOOT-INF/lib/x.jar!com/acme/Foo.class`. Entries are read one by one.

use anyhow::{Context, Result, bail, ensure};
use instrument_names::printable::printable_bytes;
use instrument_rewriter::archive::{Contents, ErrorKind, Limits};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Archives in archives are opened down to this depth.
const MAX_NESTING: usize = 4;
/// The largest entry that is read, in bytes.
const MAX_ENTRY: u64 = 1 << 30;

/// What an address names.
pub enum Input {
    /// A file, or an entry of an archive, that is no archive: its bytes.
    File(Vec<u8>),
    /// A directory or archive.
    Tree(Tree),
}

/// A directory or archive: its entries in order (a directory's: sorted).
pub struct Tree {
    entries: Vec<Entry>,
    zip: Option<Contents>,
}

/// A file in a [`Tree`].
pub struct Entry {
    /// Path within the tree; what could harm a terminal is escaped.
    pub name: String,
    /// How many entries of the same name stand in front of this one.
    pub duplicate: usize,
    place: Place,
}

enum Place {
    File(PathBuf),
    /// Its index in the archive.
    Zip(usize),
}

impl Input {
    /// Opens what `address` names.
    pub fn open(address: &str) -> Result<Self> {
        let (path, steps) =
            split(address).with_context(|| format!("{address}: no such file or directory"))?;
        let mut input = Self::open_path(path).with_context(|| path.display().to_string())?;
        for step in steps {
            let Self::Tree(tree) = &input else {
                bail!("{address}: {step} lies in something that is no archive")
            };
            let entry = (tree.entries.iter().rev().find(|entry| entry.name == step))
                .with_context(|| format!("{address}: no entry {step}"))?;
            let bytes = tree.read(entry).with_context(|| address.to_owned())?;
            input = match is_archive_name(&entry.name) {
                true => Self::Tree(Tree::of_archive(bytes).with_context(|| address.to_owned())?),
                false => Self::File(bytes),
            };
        }
        Ok(input)
    }

    fn open_path(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Tree::of_directory(path).map(Self::Tree);
        }
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        let mut bytes = Vec::new();
        (&file).take(4).read_to_end(&mut bytes)?;
        let is_class = bytes == [0xca, 0xfe, 0xba, 0xbe] || path.extension().is_some_and(|e| e == "class");
        ensure!(!is_class || length <= MAX_ENTRY, "too large for a class file: {length} bytes");
        file.read_to_end(&mut bytes)?;
        if is_class { Ok(Self::File(bytes)) } else { Tree::of_archive(bytes).map(Self::Tree) }
    }
}

/// Whether an argument names something that exists, rather than being a pattern.
pub fn is_address(argument: &str) -> bool {
    split(argument).is_some()
}

/// The path at the front of an address, and the names behind it.
fn split(address: &str) -> Option<(&Path, Vec<&str>)> {
    if Path::new(address).exists() {
        return Some((Path::new(address), Vec::new()));
    }
    let mut bangs = address.match_indices('!').map(|(at, _)| at);
    let at = bangs.find(|&at| Path::new(&address[..at]).is_file())?;
    Some((Path::new(&address[..at]), address[at + 1..].split('!').collect()))
}

impl Tree {
    fn of_directory(path: &Path) -> Result<Self> {
        let mut entries = Vec::new();
        for found in walkdir::WalkDir::new(path).sort_by_file_name() {
            let found = found?;
            if found.file_type().is_file() {
                let relative = found.path().strip_prefix(path)?;
                let name = printable_bytes(relative.as_os_str().as_encoded_bytes());
                entries.push(Entry { name, duplicate: 0, place: Place::File(found.into_path()) });
            }
        }
        Ok(Self { entries, zip: None })
    }

    /// Opens an archive that lies in memory.
    ///
    /// # Errors
    /// It is none, or one that is refused as an input.
    pub fn of_archive(bytes: Vec<u8>) -> Result<Self> {
        let zip = Contents::open(bytes, &Limits::default())
            .context("neither a class file nor a readable archive")?;
        let mut entries = Vec::new();
        let mut seen: HashMap<&[u8], usize> = HashMap::new();
        for (i, listed) in zip.entries().iter().enumerate() {
            // A directory's name ends with a slash; with data it is a file all the same.
            if listed.name.ends_with(b"/") && listed.size() == 0 {
                continue;
            }
            let duplicate = seen.entry(&listed.name).or_default();
            let name = printable_bytes(&listed.name);
            entries.push(Entry { name, duplicate: *duplicate, place: Place::Zip(i) });
            *duplicate += 1;
        }
        Ok(Self { entries, zip: Some(zip) })
    }

    /// The entries in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The bytes of an entry, checked against its CRC.
    pub fn read(&self, entry: &Entry) -> Result<Vec<u8>> {
        self.read_unnamed(entry).with_context(|| entry.name.clone())
    }

    fn read_unnamed(&self, entry: &Entry) -> Result<Vec<u8>> {
        let size = self.size(entry)?;
        ensure!(size <= MAX_ENTRY, "too large: {size} bytes");
        Ok(match (&entry.place, &self.zip) {
            (Place::File(path), _) => std::fs::read(path)?,
            (Place::Zip(i), Some(zip)) => zip.read(zip.entries().get(*i).context(FOREIGN)?)?,
            (Place::Zip(_), None) => bail!(FOREIGN),
        })
    }

    /// Bytes that an entry claims to have.
    fn size(&self, entry: &Entry) -> Result<u64> {
        Ok(match (&entry.place, &self.zip) {
            (Place::File(path), _) => path.metadata()?.len(),
            (Place::Zip(i), Some(zip)) => zip.entries().get(*i).context(FOREIGN)?.size(),
            (Place::Zip(_), None) => bail!(FOREIGN),
        })
    }
}

const FOREIGN: &str = "the entry belongs to another archive";

/// Bytes that may still be read of archives and what is nested in them: as many as [`Limits`] allow for their length.
struct Left(u64);

impl Left {
    /// A file on disk comes in.
    fn add(&mut self, length: u64) {
        let Limits { total, total_per_input_byte, .. } = Limits::default();
        self.0 = self.0.saturating_add(total).saturating_add(length.saturating_mul(total_per_input_byte));
    }

    /// Reads an entry.
    fn read(&mut self, tree: &Tree, entry: &Entry) -> Result<Vec<u8>> {
        let size = tree.size(entry).with_context(|| entry.name.clone())?;
        match &entry.place {
            Place::File(_) => self.add(size),
            Place::Zip(_) => {
                let left = self.0.checked_sub(size);
                self.0 = left.with_context(|| {
                    format!("{}: the uncompressed size of all entries is past what the length of the archive allows", entry.name)
                })?;
            }
        }
        tree.read(entry)
    }
}

/// A class that [`classes_of`] found.
pub struct Class<'c> {
    pub address: &'c str,
    /// The file's bytes.
    pub bytes: &'c [u8],
}

/// Calls `visit` for each class that `address` names and whose name (`com/acme/Foo`, by its path, without
/// `BOOT-INF/classes/` and the like) is wanted, also in nested archives. A single class file is visited
/// whatever its name.
pub fn classes_of(
    address: &str,
    wanted: &dyn Fn(&str) -> bool,
    visit: &mut dyn FnMut(Class<'_>) -> Result<()>,
) -> Result<()> {
    match Input::open(address)? {
        Input::File(bytes) => visit(Class { address, bytes: &bytes }),
        Input::Tree(tree) => {
            let mut left = Left(0);
            left.add(tree.zip.as_ref().map_or(0, Contents::length));
            classes_of_tree(address, &tree, 0, &mut left, wanted, visit)
        }
    }
}

fn classes_of_tree(
    address: &str,
    tree: &Tree,
    depth: usize,
    left: &mut Left,
    wanted: &dyn Fn(&str) -> bool,
    visit: &mut dyn FnMut(Class<'_>) -> Result<()>,
) -> Result<()> {
    for entry in tree.entries() {
        let inner = join(address, tree, &entry.name);
        if let Some(stem) = entry.name.strip_suffix(".class") {
            if wanted(class_path_name(stem)) {
                let bytes = left.read(tree, entry).with_context(|| address.to_owned())?;
                visit(Class { address: &inner, bytes: &bytes })?;
            }
        } else if is_archive_name(&entry.name) && depth < MAX_NESTING {
            let bytes = left.read(tree, entry).with_context(|| address.to_owned())?;
            match Tree::of_archive(bytes) {
                Ok(nested) => classes_of_tree(&inner, &nested, depth + 1, left, wanted, visit)?,
                // What only is named like an archive holds no classes.
                Err(error) if is_no_archive(&error) => {}
                Err(error) => return Err(error.context(inner)),
            }
        }
    }
    Ok(())
}

fn is_no_archive(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ErrorKind::NotAnArchive | ErrorKind::Malformed { .. }))
}

/// The address of an entry.
pub fn join(address: &str, tree: &Tree, name: &str) -> String {
    let separator = if tree.zip.is_some() { "!" } else { "/" };
    format!("{}{separator}{name}", address.trim_end_matches('/'))
}

/// Whether an entry of this name is an archive to go into.
pub fn is_archive_name(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["jar", "war", "ear", "rar", "zip", "jmod"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// An entry's name without the directory that a container starts its class path with.
fn class_path_name(stem: &str) -> &str {
    if let Some(versioned) = stem.strip_prefix("META-INF/versions/")
        && let Some((_, name)) = versioned.split_once('/')
    {
        return name;
    }
    let prefixes = ["BOOT-INF/classes/", "WEB-INF/classes/", "classes/"];
    prefixes.iter().find_map(|prefix| stem.strip_prefix(prefix)).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_testing::samples::{OLD, SEED, archive};

    #[test]
    fn reads_entries_through_archives_in_archives() {
        let inner = archive(&[("a/Old.class", OLD), ("notes.txt", b"x")]);
        let outer = archive(&[("BOOT-INF/lib/x.jar", &inner), ("BOOT-INF/classes/Seed.class", SEED)]);
        let directory = tempfile::tempdir().unwrap();
        let jar = directory.path().join("app.jar");
        std::fs::write(&jar, outer).unwrap();
        let jar = jar.to_str().unwrap();

        let mut found = Vec::new();
        let wanted = |name: &str| name == "Seed" || name == "a/Old";
        classes_of(jar, &wanted, &mut |class| {
            found.push((class.address.to_owned(), class.bytes.len()));
            Ok(())
        })
        .unwrap();
        let nested = format!("{jar}!BOOT-INF/lib/x.jar!a/Old.class");
        let direct = format!("{jar}!BOOT-INF/classes/Seed.class");
        assert_eq!(found, [(nested.clone(), OLD.len()), (direct, SEED.len())]);

        assert!(matches!(Input::open(&nested), Ok(Input::File(bytes)) if bytes == OLD));
        let error = Input::open(&format!("{jar}!none")).err().unwrap();
        assert!(format!("{error:#}").ends_with("app.jar!none: no entry none"), "{error:#}");
        assert!(!is_address("com.acme.Foo"));
    }

    #[test]
    fn refuses_what_is_no_archive_or_lies_about_itself() {
        assert!(Tree::of_archive(b"no archive".to_vec()).is_err());
        let mut bytes = archive(&[("a", b"0123456789")]);
        let at = bytes.windows(3).position(|window| window == b"012").unwrap();
        bytes[at] = b'x';
        let tree = Tree::of_archive(bytes).unwrap();
        let error = tree.read(&tree.entries()[0]).unwrap_err();
        assert!(format!("{error:#}").starts_with("a: "), "{error:#}");
        assert!(matches!(error.downcast_ref(), Some(ErrorKind::Crc { .. })), "{error:#}");
    }

    /// Two entries with the same data: it is inflated as often as it is named.
    fn overlapping() -> Vec<u8> {
        let mut bytes = archive(&[("a/A.class", &[0; 1000]), ("a/B.class", &[0; 1000])]);
        let headers: Vec<usize> =
            bytes.windows(4).enumerate().filter(|(_, w)| w == b"PK\x01\x02").map(|(at, _)| at).collect();
        // The place of the first one's local header, which is named as the second one then.
        bytes.copy_within(headers[0] + 42..headers[0] + 46, headers[1] + 42);
        bytes
    }

    #[test]
    fn refuses_what_a_rewriter_refuses_also_where_it_is_nested() {
        let directory = tempfile::tempdir().unwrap();
        let jar = directory.path().join("app.jar");
        let outer = archive(&[("lib/x.jar", &overlapping()), ("lib/y.jar", b"no archive")]);
        for (bytes, place) in [(overlapping(), ""), (outer, "!lib/x.jar")] {
            std::fs::write(&jar, bytes).unwrap();
            let address = jar.to_str().unwrap();
            let error = classes_of(address, &|_| true, &mut |_| Ok(())).unwrap_err();
            let (error, expected) = (format!("{error:#}"), format!("{address}{place}: "));
            assert!(error.starts_with(&expected) && error.ends_with("entries overlap"), "{error}");
        }
    }

    #[test]
    fn what_archives_hold_is_as_much_as_their_length_allows() {
        let tree = Tree::of_archive(archive(&[("a", b"0123456789")])).unwrap();
        let mut left = Left(19);
        let mut read = || left.read(&tree, &tree.entries()[0]).map_err(|error| error.to_string());
        assert!(read().is_ok());
        assert!(read().unwrap_err().starts_with("a: the uncompressed size of all entries"));
    }

    #[test]
    fn names() {
        assert_eq!(class_path_name("BOOT-INF/classes/a/B"), "a/B");
        assert_eq!(class_path_name("META-INF/versions/11/a/B"), "a/B");
        assert_eq!(class_path_name("a/B"), "a/B");
        assert!(is_archive_name("x.JAR") && !is_archive_name("jar"));
    }
}
