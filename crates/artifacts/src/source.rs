//! Where classes are read from: class files, directories, archives, and archives in archives.
//!
//! An address names one of these: a path, then `!` and an entry's name for each archive that is gone
//! into: `app.jar!BOOT-INF/lib/x.jar!com/acme/Foo.class`. Entries are read one by one.

use anyhow::{Context, Result, bail, ensure};
use instrument_names::printable::printable_bytes;
use rawzip::{CompressionMethod, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder, ZipLocator};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Archives in archives are opened down to this depth.
const MAX_NESTING: usize = 4;
/// The largest entry that is read, in bytes.
const MAX_ENTRY: u64 = 1 << 30;
/// No deflate stream grows by more than this factor: a larger claim is a lie.
const MAX_EXPANSION: u64 = 1032;

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
    zip: Option<ZipArchive<Box<dyn ReaderAt>>>,
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
    Zip { wayfinder: ZipArchiveEntryWayfinder, method: CompressionMethod, crc: u32 },
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
        let file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        let mut magic = Vec::new();
        (&file).take(4).read_to_end(&mut magic)?;
        if magic == [0xca, 0xfe, 0xba, 0xbe] || path.extension().is_some_and(|e| e == "class") {
            ensure!(length <= MAX_ENTRY, "too large for a class file: {length} bytes");
            return Ok(Self::File(std::fs::read(path)?));
        }
        Tree::of_zip(Box::new(rawzip::FileReader::from(file)), length).map(Self::Tree)
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
    pub fn of_archive(bytes: Vec<u8>) -> Result<Self> {
        let length = bytes.len() as u64;
        Self::of_zip(Box::new(bytes), length)
    }

    fn of_zip(reader: Box<dyn ReaderAt>, length: u64) -> Result<Self> {
        let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
        let zip = ZipLocator::new()
            .locate_in_reader(reader, &mut buffer, length)
            .map_err(|(_, error)| error)
            .context("neither a class file nor a readable archive")?;
        let mut entries = Vec::new();
        let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut records = zip.entries(&mut buffer);
        while let Some(record) = records.next_entry().context("broken central directory")? {
            // A directory's name ends with a slash; with data it is a file all the same.
            if record.is_dir() && record.uncompressed_size_hint() == 0 {
                continue;
            }
            let path = record.file_path();
            let name = path.as_bytes();
            let duplicate = seen.entry(name.to_vec()).or_default();
            let (method, crc) = (record.compression_method(), record.crc32());
            entries.push(Entry {
                name: printable_bytes(name),
                duplicate: *duplicate,
                place: Place::Zip { wayfinder: record.wayfinder(), method, crc },
            });
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
        let (zip, wayfinder, method, crc) = match (&entry.place, &self.zip) {
            (Place::Zip { wayfinder, method, crc }, Some(zip)) => (zip, *wayfinder, *method, *crc),
            (Place::File(path), _) => {
                let length = path.metadata()?.len();
                ensure!(length <= MAX_ENTRY, "too large: {length} bytes");
                return Ok(std::fs::read(path)?);
            }
            (Place::Zip { .. }, None) => bail!("the entry belongs to another archive"),
        };
        let size = wayfinder.uncompressed_size_hint();
        ensure!(size <= MAX_ENTRY, "too large: {size} bytes");
        let mut packed = Vec::new();
        zip.get_entry(wayfinder)?.reader().take(MAX_ENTRY).read_to_end(&mut packed)?;
        let bytes = match method {
            CompressionMethod::STORE => packed,
            CompressionMethod::DEFLATE => {
                ensure!(
                    size <= packed.len() as u64 * MAX_EXPANSION,
                    "claims {size} bytes, which it cannot hold"
                );
                let mut bytes = vec![0; size as usize];
                let length = libdeflater::Decompressor::new().deflate_decompress(&packed, &mut bytes)?;
                bytes.truncate(length);
                bytes
            }
            method => bail!("compression method {method} is not supported"),
        };
        ensure!(bytes.len() as u64 == size, "holds {} bytes instead of {size}", bytes.len());
        ensure!(rawzip::crc32(&bytes) == crc, "CRC does not match");
        Ok(bytes)
    }
}

/// A class that [`classes_of`] found.
pub struct Class<'c> {
    /// Its address.
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
        Input::Tree(tree) => classes_of_tree(address, &tree, 0, wanted, visit),
    }
}

fn classes_of_tree(
    address: &str,
    tree: &Tree,
    depth: usize,
    wanted: &dyn Fn(&str) -> bool,
    visit: &mut dyn FnMut(Class<'_>) -> Result<()>,
) -> Result<()> {
    for entry in tree.entries() {
        let inner = join(address, tree, &entry.name);
        if let Some(stem) = entry.name.strip_suffix(".class") {
            if wanted(class_path_name(stem)) {
                let bytes = tree.read(entry).with_context(|| address.to_owned())?;
                visit(Class { address: &inner, bytes: &bytes })?;
            }
        } else if is_archive_name(&entry.name) && depth < MAX_NESTING {
            let bytes = tree.read(entry).with_context(|| address.to_owned())?;
            // What only is named like an archive holds no classes.
            if let Ok(nested) = Tree::of_archive(bytes) {
                classes_of_tree(&inner, &nested, depth + 1, wanted, visit)?;
            }
        }
    }
    Ok(())
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
        assert_eq!(format!("{error:#}"), "a: CRC does not match");
    }

    #[test]
    fn names() {
        assert_eq!(class_path_name("BOOT-INF/classes/a/B"), "a/B");
        assert_eq!(class_path_name("META-INF/versions/11/a/B"), "a/B");
        assert_eq!(class_path_name("a/B"), "a/B");
        assert!(is_archive_name("x.JAR") && !is_archive_name("jar"));
    }
}
