//! A new module image: the resources of another one, some of them with new content, and more.
//!
//! What stays is copied as it is stored, in the order of the file. The strings of the other image stay where they are,
//! because compressed resources and packages name them by their place. Directories (`/modules/java.base/java/lang`, and
//! `/packages`) are resources, too: they list what is in them by the places of the locations, so they are written anew.
//! The tables are made anew, as `jdk.tools.jlink.internal.PerfectHashBuilder` does it: names whose first hash is the
//! same get a seed that leads each of them to a place of its own.

use super::{
    BASE, COMPRESSED, EXTENSION, HEADER, Image, KINDS, Location, MAGIC, MODULE, OFFSET, PARENT, SEED,
    UNCOMPRESSED, hash,
};
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek, Write};

/// The directory of all modules; those below it are called `/modules/java.base/java/lang`.
const MODULES: &str = "/modules";
/// The directory of all packages, `/packages/java.lang`.
const PACKAGES: &str = "/packages";
/// How many seeds are tried for names with the same first hash before the tables get one place more.
const TRIES: u32 = 1 << 20;

/// What a new image has that the other one has not.
#[derive(Debug, Default)]
pub struct Changes {
    /// Content by full name, `/java.base/java/lang/Object.class`; of a resource that is there, or of a new one.
    pub resources: BTreeMap<String, Vec<u8>>,
    /// New packages (`com.acme`) and the modules that they lie in.
    pub packages: Vec<(String, String)>,
}

/// A resource on its way.
struct Entry {
    name: String,
    location: Location,
    content: Content,
}

enum Content {
    /// As it lies in the other image.
    Stored(Location),
    New(Vec<u8>),
    /// A directory with these entries.
    Directory(Vec<usize>),
}

/// The strings of an image, and more behind them.
struct Strings {
    bytes: Vec<u8>,
    places: HashMap<Vec<u8>, u64>,
}

impl Strings {
    fn new(bytes: Vec<u8>) -> Strings {
        let mut places = HashMap::new();
        let mut at = 0;
        for text in bytes.split_inclusive(|&byte| byte == 0) {
            if let Some(text) = text.strip_suffix(&[0]) {
                places.entry(text.to_vec()).or_insert(at);
            }
            at += text.len() as u64;
        }
        Strings { bytes, places }
    }

    fn place(&mut self, text: &[u8]) -> u64 {
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = self.bytes.len() as u64;
        self.bytes.extend(text);
        self.bytes.push(0);
        self.places.insert(text.to_vec(), place);
        place
    }
}

impl<F: Read + Seek> Image<F> {
    /// The full names of all resources, `/java.base/java/lang/Object.class`, in the order of the file.
    ///
    /// # Errors
    /// The image is damaged.
    pub fn names(&self) -> Result<Vec<String>> {
        Ok(self.entries()?.0.into_iter().map(|entry| entry.name).collect())
    }

    /// Writes a new image.
    ///
    /// # Errors
    /// This image is damaged, a package is there already, or `out` fails.
    pub fn write(&mut self, mut changes: Changes, out: &mut impl Write) -> Result<()> {
        let (entries, at_places) = self.entries()?;
        let mut strings = Strings::new(self.index[self.strings..].to_vec());
        let mut new = New { by_name: HashMap::new(), entries, has_directories: false };
        for (index, entry) in new.entries.iter_mut().enumerate() {
            new.by_name.insert(entry.name.clone(), index);
            if let Some(content) = changes.resources.remove(&entry.name) {
                entry.content = Content::New(content);
            } else if is_directory(&entry.name) {
                entry.content = Content::Directory(self.directory(entry.location, &at_places)?);
                new.has_directories |= entry.name == MODULES;
            }
        }
        for (package, module) in &changes.packages {
            let module = u32::try_from(strings.place(module.as_bytes()))?;
            // A package above one is listed, too, without classes unless it is known to have some.
            for (above, _) in package.match_indices('.').chain([(package.len(), "")]) {
                let is_above = above < package.len();
                let name = format!("{PACKAGES}/{}", &package[..above]);
                let is_there = new.by_name.contains_key(&name);
                ensure!(is_above || !is_there, "the image has a package {package} already");
                if !is_there {
                    let content = [self.bytes(u32::from(is_above)), self.bytes(module)].concat();
                    new.add(name, Content::New(content), &mut strings)?;
                }
            }
        }
        for (name, content) in changes.resources {
            new.add(name, Content::New(content), &mut strings)?;
        }
        let mut end = 0;
        for entry in &mut new.entries {
            let length = match &entry.content {
                Content::Stored(_) => None,
                Content::New(content) => Some(content.len()),
                Content::Directory(children) => Some(4 * children.len()),
            };
            if let Some(length) = length {
                entry.location[COMPRESSED] = 0;
                entry.location[UNCOMPRESSED] = length as u64;
            }
            entry.location[OFFSET] = end;
            end += match entry.location[COMPRESSED] {
                0 => entry.location[UNCOMPRESSED],
                compressed => compressed,
            };
        }
        let (tables, places) = self.tables(&new.entries, &strings.bytes)?;
        out.write_all(&tables)?;
        for entry in &new.entries {
            match &entry.content {
                Content::Stored(location) => out.write_all(&self.stored(*location)?)?,
                Content::New(content) => out.write_all(content)?,
                Content::Directory(children) => {
                    for &child in children {
                        out.write_all(&self.bytes(places[child]))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// All resources, in the order of the file, and which of them has its location at which place.
    fn entries(&self) -> Result<(Vec<Entry>, HashMap<u32, usize>)> {
        let mut entries = Vec::new();
        for index in 0..self.names {
            let place = self.word(HEADER + 4 * (self.names + index) as usize)?;
            let location = self.location(place as usize)?;
            // Tables may have more places than there are names.
            if location != [0; KINDS] {
                let name = self.name(&location).context("a name lies outside of the strings")?;
                let name = String::from_utf8(name).context("a name is no text")?;
                entries.push((place, Entry { name, location, content: Content::Stored(location) }));
            }
        }
        entries.sort_by_key(|(_, entry)| entry.location[OFFSET]);
        let places = entries.iter().enumerate().map(|(index, (place, _))| (*place, index)).collect();
        Ok((entries.into_iter().map(|(_, entry)| entry).collect(), places))
    }

    /// The entries of a directory.
    fn directory(&mut self, location: Location, at_places: &HashMap<u32, usize>) -> Result<Vec<usize>> {
        let content = self.read(location)?;
        let children = (0..content.len()).step_by(4).map(|at| {
            let child = super::u32_at(&content, at, self.is_little).and_then(|place| at_places.get(&place));
            child.copied().context("a directory lists what is not there")
        });
        children.collect()
    }

    /// Everything in front of the resources, and where the location of each lies.
    fn tables(&self, entries: &[Entry], strings: &[u8]) -> Result<(Vec<u8>, Vec<u32>)> {
        let names: Vec<&[u8]> = entries.iter().map(|entry| entry.name.as_bytes()).collect();
        let (redirect, slots) = perfect_hash(&names)?;
        // Where a slot is empty there is a location that says nothing.
        let mut locations = vec![0];
        let mut offsets = vec![0; redirect.len()];
        let mut places = Vec::with_capacity(entries.len());
        for (entry, slot) in entries.iter().zip(slots) {
            let place = u32::try_from(locations.len())?;
            offsets[slot] = place;
            places.push(place);
            for (kind, &value) in entry.location.iter().enumerate().filter(|(_, value)| **value > 0) {
                let bytes = value.to_be_bytes();
                let length = 8 - value.leading_zeros() as usize / 8;
                locations.push((kind << 3 | (length - 1)) as u8);
                locations.extend(&bytes[8 - length..]);
            }
            locations.push(0);
        }
        let mut out = Vec::new();
        let version_and_flags = [self.word(4)?, self.word(8)?];
        let sizes = [entries.len(), redirect.len(), locations.len(), strings.len()];
        for word in [MAGIC].into_iter().chain(version_and_flags) {
            out.extend(self.bytes(word));
        }
        for size in sizes {
            out.extend(self.bytes(u32::try_from(size)?));
        }
        redirect.iter().for_each(|value| out.extend(self.bytes(value.cast_unsigned())));
        offsets.iter().for_each(|value| out.extend(self.bytes(*value)));
        out.extend(locations);
        out.extend(strings);
        Ok((out, places))
    }

    fn bytes(&self, word: u32) -> [u8; 4] {
        if self.is_little { word.to_le_bytes() } else { word.to_be_bytes() }
    }
}

/// The entries of the new image.
struct New {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    /// It lists what is in its directories.
    has_directories: bool,
}

impl New {
    /// Adds a resource, also to its directory, which is made if there is none.
    fn add(&mut self, name: String, content: Content, strings: &mut Strings) -> Result<()> {
        let directory = match &content {
            _ if !self.has_directories || name == MODULES => None,
            Content::Directory(_) => name.rsplit_once('/').map(|(directory, _)| directory.to_owned()),
            _ if name.starts_with(PACKAGES) => Some(PACKAGES.to_owned()),
            _ => name.rsplit_once('/').map(|(directory, _)| format!("{MODULES}{directory}")),
        };
        let index = self.entries.len();
        let location = located(&name, strings)?;
        self.by_name.insert(name.clone(), index);
        self.entries.push(Entry { name, location, content });
        let Some(directory) = directory else { return Ok(()) };
        let Some(&above) = self.by_name.get(&directory) else {
            return self.add(directory, Content::Directory(vec![index]), strings);
        };
        match &mut self.entries[above].content {
            Content::Directory(children) => children.push(index),
            _ => bail!("{directory} is no directory"),
        }
        Ok(())
    }
}

fn is_directory(name: &str) -> bool {
    name == PACKAGES
        || name.strip_prefix(MODULES).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The location of a new resource, as far as its name says it: `/module/parent/base.extension`. Directories and
/// packages have no parts.
fn located(name: &str, strings: &mut Strings) -> Result<Location> {
    let path = name.strip_prefix('/').and_then(|name| name.split_once('/'));
    let (module, path) = path.with_context(|| format!("{name} is no name of a resource"))?;
    let is_whole = is_directory(name) || name.starts_with(PACKAGES);
    let (parent, file) = path.rsplit_once('/').filter(|_| !is_whole).unwrap_or(("", path));
    let (base, extension) = file.rsplit_once('.').filter(|_| !is_whole).unwrap_or((file, ""));
    let mut location = [0; KINDS];
    for (kind, part) in [(MODULE, module), (PARENT, parent), (BASE, base), (EXTENSION, extension)] {
        location[kind] = strings.place(part.as_bytes());
    }
    Ok(location)
}

/// The redirect table, and the slot of each name.
fn perfect_hash(names: &[&[u8]]) -> Result<(Vec<i32>, Vec<usize>)> {
    let mut count = u32::try_from(names.len())?;
    loop {
        if let Some(found) = perfect_hash_of(names, count) {
            return Ok(found);
        }
        // The same name twice never gets two places.
        ensure!(count < 2 * names.len() as u32 + 16, "two resources have the same name");
        count += 1;
    }
}

fn perfect_hash_of(names: &[&[u8]], count: u32) -> Option<(Vec<i32>, Vec<usize>)> {
    let mut buckets: Vec<Vec<usize>> = vec![Vec::new(); count as usize];
    for (index, name) in names.iter().enumerate() {
        buckets[(hash(name, SEED) % count) as usize].push(index);
    }
    let mut order: Vec<usize> = (0..buckets.len()).filter(|&bucket| !buckets[bucket].is_empty()).collect();
    // The largest first, while there is room.
    order.sort_by_key(|&bucket| std::cmp::Reverse(buckets[bucket].len()));
    let (mut redirect, mut places) = (vec![0; buckets.len()], vec![0; names.len()]);
    let mut taken = vec![false; buckets.len()];
    let mut free = 0;
    for bucket in order {
        let members = &buckets[bucket];
        if let [only] = members[..] {
            while taken[free] {
                free += 1;
            }
            taken[free] = true;
            places[only] = free;
            redirect[bucket] = -1 - i32::try_from(free).ok()?;
            continue;
        }
        let mut found = Vec::with_capacity(members.len());
        let seed = (1..TRIES).find(|&seed| {
            found.clear();
            members.iter().all(|&member| {
                let place = (hash(names[member], seed) % count) as usize;
                let is_free = !taken[place] && !found.contains(&place);
                found.push(place);
                is_free
            })
        })?;
        for (&member, &place) in members.iter().zip(&found) {
            taken[place] = true;
            places[member] = place;
        }
        redirect[bucket] = seed.cast_signed();
    }
    Some((redirect, places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::tests::{image, some};
    use std::io::Cursor;

    fn written(image: &mut Image<Cursor<Vec<u8>>>, changes: Changes) -> Image<Cursor<Vec<u8>>> {
        let mut out = Vec::new();
        image.write(changes, &mut out).unwrap();
        Image::open(Cursor::new(out)).unwrap()
    }

    fn read(image: &mut Image<Cursor<Vec<u8>>>, name: &str) -> Vec<u8> {
        let (module, path) = name[1..].split_once('/').unwrap();
        image.resource(module, path).unwrap().unwrap_or_else(|| panic!("no {name}"))
    }

    /// In either byte order: what is not changed is as it was, compressed or not, and everything is found by its name.
    #[test]
    fn every_resource_of_a_new_image_is_found() {
        for is_little in [true, false] {
            let resources = &some()[..if is_little { 3 } else { 2 }];
            let mut old = Image::open(Cursor::new(image(resources, is_little))).unwrap();
            let mut changes = Changes::default();
            changes
                .resources
                .insert("/java.base/java/lang/Object.class".into(), b"longer than before".to_vec());
            for n in 0..500 {
                changes
                    .resources
                    .insert(format!("/java.base/com/acme/p{}/C{n}.class", n % 7), vec![n as u8; n]);
            }
            changes.resources.insert("/java.base/META-INF/plain".into(), b"no extension".to_vec());
            changes.packages.push(("com.acme".into(), "java.base".into()));
            let before = old.names().unwrap();
            let mut new = written(&mut old, changes);
            // With the packages com and com.acme.
            let names = new.names().unwrap();
            assert_eq!(names.len(), before.len() + 501 + 2);
            assert!(before.iter().all(|name| names.contains(name)), "{names:?}");
            assert_eq!(read(&mut new, "/java.base/java/lang/Object.class"), b"longer than before");
            assert_eq!(read(&mut new, "/java.base/META-INF/plain"), b"no extension");
            for n in 0..500 {
                assert_eq!(
                    read(&mut new, &format!("/java.base/com/acme/p{}/C{n}.class", n % 7)),
                    vec![n as u8; n]
                );
            }
            for name in &before[1..] {
                assert_eq!(read(&mut new, name), read(&mut old, name), "{name}");
            }
            assert_eq!(new.class("com/acme/None").unwrap(), None);
            let mut again = written(
                &mut new,
                Changes {
                    resources: [("/java.base/com/acme/In.class".into(), b"in".to_vec())].into(),
                    packages: Vec::new(),
                },
            );
            assert_eq!(again.class("com/acme/In").unwrap().unwrap(), b"in");
        }
    }

    #[test]
    fn a_package_that_is_there_and_names_of_no_resource_are_refused() {
        let mut old = Image::open(Cursor::new(image(&some(), true))).unwrap();
        let package =
            || Changes { packages: vec![("com.acme".into(), "java.base".into())], ..Changes::default() };
        let mut new = written(&mut old, package());
        let error = new.write(package(), &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(error, "the image has a package com.acme already");
        let resources = [("java/lang/Object".to_owned(), Vec::new())].into();
        let changes = Changes { resources, packages: Vec::new() };
        let error = old.write(changes, &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(error, "java/lang/Object is no name of a resource");
    }

    #[test]
    fn names_that_begin_with_the_same_hash_get_places_of_their_own() {
        let names: Vec<String> = (0..3000).map(|n| format!("/m/p/Class{n}.class")).collect();
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let (redirect, places) = perfect_hash(&names).unwrap();
        let count = redirect.len() as u32;
        let mut seen = vec![false; redirect.len()];
        for (name, place) in names.iter().zip(places) {
            let found = match redirect[(hash(name, SEED) % count) as usize] {
                direct if direct < 0 => (-1 - direct) as usize,
                seed => (hash(name, seed as u32) % count) as usize,
            };
            assert_eq!(found, place);
            assert!(!std::mem::replace(&mut seen[place], true), "{place} is taken twice");
        }
        assert!(perfect_hash(&[b"/m/a", b"/m/a"]).is_err());
    }
}
