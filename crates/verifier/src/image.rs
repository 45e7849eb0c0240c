//! The module image of a JDK (`lib/modules`, "jimage"), without a virtual machine: one resource of it, or a [new
//! image](writer) with others.
//!
//! The format is that of the JDK's `src/java.base/share/native/libjimage`: `imageFile.hpp` for the file,
//! `imageDecompressor.hpp` for compressed resources. All numbers of the header and of the tables are in the byte order
//! of the machine that the image is for.
//!
//! | part | content |
//! |---|---|
//! | header | magic `cafedada`, version (major, minor: u2), flags, number of resources, length of the tables, size of the locations, size of the strings |
//! | redirect table | by the hash of a name: < 0: -1 - the index of the name; > 0: hash again with this seed; 0: there is no such name |
//! | offset table | by index: where the location begins |
//! | locations | attributes: a byte (kind << 3, length - 1), then the value, most significant byte first; kind 0 ends them |
//! | strings | modified UTF-8, each ended by 0 |
//! | resources | as their locations say, from the end of the strings on |

pub mod writer;

use anyhow::{Context, Result, bail, ensure};
use std::io::{Read, Seek, SeekFrom};

const MAGIC: u32 = 0xcafe_dada;
const HEADER: usize = 28;
const SEED: u32 = 0x0100_0193;
/// Larger tables belong to no image: a whole JDK has 35,000 names and 2 MB of them.
const MOST_NAMES: u32 = 1 << 24;
const MOST_BYTES: u32 = 1 << 28;
/// Larger resources are no classes.
const LARGEST: u64 = 1 << 24;

const COMPRESSED_MAGIC: u32 = 0xcafe_fafa;
const COMPRESSED_HEADER: usize = 29;
/// `jlink` applies each of its two plug-ins once.
const MOST_LAYERS: usize = 4;

#[derive(Debug)]
pub struct Image<F> {
    file: F,
    length: u64,
    is_little: bool,
    /// Entries of the two tables.
    names: u32,
    /// Where the parts of [`index`](Self::index) begin.
    locations: usize,
    strings: usize,
    /// Everything in front of the resources.
    index: Vec<u8>,
}

/// Kinds of attributes of a location. The first four are strings.
const MODULE: usize = 1;
const PARENT: usize = 2;
const BASE: usize = 3;
const EXTENSION: usize = 4;
const OFFSET: usize = 5;
/// Bytes in the file; 0: it is not compressed.
const COMPRESSED: usize = 6;
const UNCOMPRESSED: usize = 7;
/// A kind has five bits. Newer images say more of a resource than is known here.
const KINDS: usize = 32;

/// Where a resource lies: the value of each kind, 0 if it has none.
type Location = [u64; KINDS];

impl<F: Read + Seek> Image<F> {
    /// Reads everything but the resources.
    ///
    /// # Errors
    /// The file is no image, of another version, or damaged.
    pub fn open(mut file: F) -> Result<Image<F>> {
        let length = file.seek(SeekFrom::End(0))?;
        let mut index = read(&mut file, length, 0, HEADER as u64).context("too short for a header")?;
        let is_little = match u32_at(&index, 0, true) {
            Some(MAGIC) => true,
            Some(magic) if magic.swap_bytes() == MAGIC => false,
            _ => bail!("it does not begin with the magic number of a module image"),
        };
        let word = |at| u32_at(&index, at, is_little).context("too short for a header");
        let version = word(4)?;
        ensure!(version >> 16 == 1, "version {}.{} is unknown", version >> 16, version & 0xffff);
        let (names, locations, strings) = (word(16)?, word(20)?, word(24)?);
        ensure!(
            names <= MOST_NAMES && locations <= MOST_BYTES && strings <= MOST_BYTES,
            "the sizes in its header are not sound"
        );
        let tables = HEADER as u64 + 8 * u64::from(names);
        let size = tables + u64::from(locations) + u64::from(strings);
        index = read(&mut file, length, 0, size).context("it ends within its tables")?;
        let locations_end = tables as usize + locations as usize;
        Ok(Image {
            file,
            length,
            is_little,
            names,
            locations: tables as usize,
            strings: locations_end,
            index,
        })
    }

    /// The bytes of a resource, `java/lang/Object.class` of `java.base`; none: there is none.
    ///
    /// # Errors
    /// The image is damaged, or compresses in a way that is not known here.
    pub fn resource(&mut self, module: &str, path: &str) -> Result<Option<Vec<u8>>> {
        let name = format!("/{module}/{path}");
        self.find(&name).and_then(|location| location.map(|at| self.read(at)).transpose()).context(name)
    }

    /// The bytes of a class, `java/lang/Object`, in whichever module it lies.
    ///
    /// # Errors
    /// As those of [`resource`](Self::resource).
    pub fn class(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let package = name.rsplit_once('/').map_or("", |(package, _)| package).replace('/', ".");
        // Pairs of u4: whether the package has no classes there, and the name of a module.
        let Some(modules) = self.resource("packages", &package)? else { return Ok(None) };
        for at in (4..modules.len()).step_by(8) {
            let module = u32_at(&modules, at, self.is_little).and_then(|at| self.text(u64::from(at)));
            let module = String::from_utf8_lossy(module.unwrap_or_default()).into_owned();
            if let Some(class) = self.resource(&module, &format!("{name}.class"))? {
                return Ok(Some(class));
            }
        }
        Ok(None)
    }

    fn find(&self, name: &str) -> Result<Option<Location>> {
        if self.names == 0 {
            return Ok(None);
        }
        let hash = |seed| hash(name.as_bytes(), seed) % self.names;
        let table = HEADER + 4 * hash(SEED) as usize;
        let index = match self.word(table)?.cast_signed() {
            0 => return Ok(None),
            seed @ 1.. => hash(seed.cast_unsigned()),
            direct => (-1 - direct).cast_unsigned(),
        };
        ensure!(index < self.names, "a hash leads out of the table");
        let start = self.word(HEADER + 4 * (self.names + index) as usize)?;
        let location = self.location(start as usize)?;
        // Every hash leads to some resource.
        let is_it = self.name(&location).is_some_and(|found| found == name.as_bytes());
        Ok(is_it.then_some(location))
    }

    fn word(&self, at: usize) -> Result<u32> {
        u32_at(&self.index, at, self.is_little).context("a table is cut off")
    }

    fn location(&self, start: usize) -> Result<Location> {
        let mut location = [0; KINDS];
        let locations = &self.index[self.locations..self.strings];
        let mut rest = locations.get(start..).context("a location lies outside of its table")?;
        while let Some((&head, behind)) = rest.split_first() {
            let (kind, length) = (head >> 3, usize::from(head & 7) + 1);
            if kind == 0 {
                return Ok(location);
            }
            let (value, behind) = behind.split_at_checked(length).context("a location is cut off")?;
            let value = value.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
            location[usize::from(kind)] = value;
            rest = behind;
        }
        bail!("a location is cut off")
    }

    /// `/module/parent/base.extension`, of which some parts may be empty.
    fn name(&self, location: &Location) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        for (before, part, after) in [
            (&b"/"[..], location[MODULE], &b"/"[..]),
            (b"", location[PARENT], b"/"),
            (b"", location[BASE], b""),
            (b".", location[EXTENSION], b""),
        ] {
            let text = self.text(part)?;
            if !text.is_empty() {
                name.extend([before, text, after].concat());
            }
        }
        Some(name)
    }

    fn text(&self, at: u64) -> Option<&[u8]> {
        let text = self.index[self.strings..].get(usize::try_from(at).ok()?..)?;
        text.split(|&byte| byte == 0).next()
    }

    fn read(&mut self, location: Location) -> Result<Vec<u8>> {
        let (compressed, uncompressed) = (location[COMPRESSED], location[UNCOMPRESSED]);
        ensure!(compressed.max(uncompressed) <= LARGEST, "too large for a class");
        let mut bytes = self.stored(location)?;
        if compressed > 0 {
            for _ in 0..MOST_LAYERS {
                match self.unpack(&bytes)? {
                    Some(unpacked) => bytes = unpacked,
                    None => break,
                }
            }
        }
        ensure!(bytes.len() as u64 == uncompressed, "it has another size than its location says");
        Ok(bytes)
    }

    /// Its bytes as they lie in the file.
    fn stored(&mut self, location: Location) -> Result<Vec<u8>> {
        let size = if location[COMPRESSED] == 0 { location[UNCOMPRESSED] } else { location[COMPRESSED] };
        let start = (self.index.len() as u64).checked_add(location[OFFSET]).context("it lies nowhere")?;
        read(&mut self.file, self.length, start, size)
    }

    /// Takes one layer of compression off: u4 magic, u8 size, u8 uncompressed size, u4 name of the plug-in, u4 its
    /// options, u1.
    fn unpack(&self, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        if u32_at(bytes, 0, self.is_little) != Some(COMPRESSED_MAGIC) || bytes.len() < COMPRESSED_HEADER {
            return Ok(None);
        }
        let word = |at| u32_at(bytes, at, self.is_little).map(u64::from).unwrap_or_default();
        let long =
            |at| if self.is_little { word(at) | word(at + 4) << 32 } else { word(at) << 32 | word(at + 4) };
        let (size, uncompressed) = (long(4), long(12));
        let plugin = self.text(word(20)).unwrap_or_default();
        ensure!(
            plugin == b"zip",
            "jlink has compressed it with the plug-in {}, which is not supported: make the runtime with --compress=zip-6 (2 before Java 21), \
             or name the JDK that it was made from",
            String::from_utf8_lossy(plugin).escape_debug()
        );
        ensure!(uncompressed <= LARGEST, "too large for a class");
        let packed = usize::try_from(size).ok().and_then(|size| bytes[COMPRESSED_HEADER..].get(..size));
        let packed = packed.context("its compressed data is cut off")?;
        let mut unpacked = vec![0; uncompressed as usize];
        let length = libdeflater::Decompressor::new().zlib_decompress(packed, &mut unpacked);
        unpacked.truncate(length.context("its compressed data is damaged")?);
        Ok(Some(unpacked))
    }
}

/// Nothing is allocated that the file cannot fill.
fn read<F: Read + Seek>(file: &mut F, length: u64, start: u64, size: u64) -> Result<Vec<u8>> {
    ensure!(start.checked_add(size).is_some_and(|end| end <= length), "the file ends before it");
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = vec![0; usize::try_from(size)?];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn u32_at(bytes: &[u8], at: usize, is_little: bool) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk::<4>()?;
    Some(if is_little { u32::from_le_bytes(*word) } else { u32::from_be_bytes(*word) })
}

/// `ImageStrings::hash_code`.
fn hash(name: &[u8], seed: u32) -> u32 {
    name.iter().fold(seed, |hash, &byte| hash.wrapping_mul(SEED) ^ u32::from(byte)) & 0x7fff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// What a test wants of a resource: its content, and what lies in the file instead if it is compressed.
    pub(super) struct Resource {
        name: [&'static str; 4],
        content: Vec<u8>,
        packed: Option<Vec<u8>>,
    }

    fn resource(name: [&'static str; 4], content: &[u8]) -> Resource {
        Resource { name, content: content.to_vec(), packed: None }
    }

    /// An image with these resources, the names hashed as the JDK does it. The first strings are empty and `zip`.
    pub(super) fn image(resources: &[Resource], is_little: bool) -> Vec<u8> {
        let word = |value: u32| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
        let count = resources.len() as u32;
        let full = |of: &Resource| format!("/{}/{}/{}.{}", of.name[0], of.name[1], of.name[2], of.name[3]);
        // All in the order given: only a seed that leads to the place can say so, or the place itself.
        let mut redirect = vec![0i32; resources.len()];
        for slot in 0..count {
            let here: Vec<usize> = (0..resources.len())
                .filter(|&at| hash(full(&resources[at]).as_bytes(), SEED) % count == slot)
                .collect();
            redirect[slot as usize] = match here[..] {
                [] => 0,
                [only] => -1 - only as i32,
                _ => (1..)
                    .find(|&seed| {
                        let place = |at: usize| hash(full(&resources[at]).as_bytes(), seed as u32) % count;
                        here.iter().all(|&at| place(at) == at as u32)
                    })
                    .unwrap(),
            };
        }
        let (mut strings, mut locations, mut offsets, mut data) =
            (b"\0zip\0".to_vec(), vec![], vec![], vec![]);
        for of in resources {
            offsets.push(locations.len() as u32);
            let mut attribute = |kind: u8, value: u64| {
                if value > 0 {
                    locations.push(kind << 3 | 7);
                    locations.extend(value.to_be_bytes());
                }
            };
            for (kind, part) in (1..).zip(of.name) {
                attribute(kind, strings.len() as u64);
                strings.extend(part.bytes().chain([0]));
            }
            attribute(5, data.len() as u64);
            attribute(6, of.packed.as_ref().map_or(0, |packed| packed.len() as u64));
            attribute(7, of.content.len() as u64);
            // A kind that nobody knows.
            attribute(8, 1);
            locations.push(0);
            data.extend(of.packed.as_ref().unwrap_or(&of.content));
        }
        let mut bytes = Vec::new();
        for value in [MAGIC, 1 << 16, 0, count, count, locations.len() as u32, strings.len() as u32] {
            bytes.extend(word(value));
        }
        redirect.iter().for_each(|&value| bytes.extend(word(value.cast_unsigned())));
        offsets.iter().for_each(|&value| bytes.extend(word(value)));
        [bytes, locations, strings, data].concat()
    }

    fn zipped(content: &[u8], plugin: u32) -> Vec<u8> {
        let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut packed = vec![0; compressor.zlib_compress_bound(content.len())];
        let length = compressor.zlib_compress(content, &mut packed).unwrap();
        let mut bytes = COMPRESSED_MAGIC.to_le_bytes().to_vec();
        bytes.extend((length as u64).to_le_bytes());
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(plugin.to_le_bytes());
        bytes.extend([0; 5]);
        bytes.extend(&packed[..length]);
        bytes
    }

    pub(super) fn some() -> Vec<Resource> {
        let content = b"class ".repeat(50);
        let packed = Some(zipped(&content, 1));
        vec![
            resource(["java.base", "java/lang", "Object", "class"], b"object"),
            resource(["java.rmi", "sun/rmi", "Transport", "class"], b""),
            Resource { name: ["java.rmi", "sun/rmi", "Zip", "class"], content, packed },
        ]
    }

    #[test]
    fn resources_are_found_by_name_in_either_byte_order() {
        for is_little in [true, false] {
            let resources = &some()[..if is_little { 3 } else { 2 }];
            let mut found = Image::open(Cursor::new(image(resources, is_little))).unwrap();
            for of in resources {
                let path = format!("{}/{}.{}", of.name[1], of.name[2], of.name[3]);
                assert_eq!(found.resource(of.name[0], &path).unwrap().unwrap(), of.content, "{path}");
                assert!(found.resource("java.other", &path).unwrap().is_none());
            }
            assert!(found.resource("java.rmi", "sun/rmi/None.class").unwrap().is_none());
        }
        let mut nothing = Image::open(Cursor::new(image(&[], true))).unwrap();
        assert!(nothing.resource("java.rmi", "A.class").unwrap().is_none());
    }

    #[test]
    fn another_compression_is_refused_by_its_name() {
        let packed = Some(zipped(b"abc", 2));
        let of = Resource { name: ["m", "p", "A", "class"], content: b"abc".to_vec(), packed };
        let mut found = Image::open(Cursor::new(image(&[of], true))).unwrap();
        let error = format!("{:#}", found.resource("m", "p/A.class").unwrap_err());
        assert!(error.starts_with("/m/p/A.class: ") && error.contains("the plug-in ip"), "{error}");
    }

    /// Whatever is cut off or changed: an answer or an error, and no more memory than the file has bytes.
    #[test]
    fn damaged_images_are_refused() {
        let whole = image(&some(), true);
        let ask = |bytes: Vec<u8>| -> Result<()> {
            let mut image = Image::open(Cursor::new(bytes))?;
            for path in ["sun/rmi/Zip.class", "sun/rmi/Transport.class"] {
                image.resource("java.rmi", path)?.context("not there")?;
            }
            Ok(())
        };
        ask(whole.clone()).unwrap();
        for end in 0..whole.len() {
            assert!(ask(whole[..end].to_vec()).is_err(), "{end}");
        }
        let mut refused = 0;
        for at in 0..whole.len() {
            for value in [0, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                refused += usize::from(ask(bytes).is_err());
            }
        }
        assert!(refused > whole.len(), "{refused}");
        for (at, value) in [(4, 2), (16, u32::MAX), (20, u32::MAX), (24, 1 << 27)] {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            assert!(Image::open(Cursor::new(bytes)).is_err(), "{at}");
        }
    }
}
