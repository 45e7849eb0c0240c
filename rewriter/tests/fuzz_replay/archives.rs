//! Mutants of archives: small ones of every kind, with sound and mutated classes, wrong fields and wrong bytes.

use super::build::{Entry, Zip, deflated, entry, extra};
use super::classes::{landmarks, mutate};
use super::common::jars::{repair, rewrite_jar};
use super::common::{self, Sample};
use super::replay::{INTERESTING, Random, replay};

const MANIFEST: &str = "Manifest-Version: 1.0\r\nMulti-Release: true\r\nMain-Class: Seed\r\n\r\n\
    Name: Seed.class\r\nSHA-256-Digest: AAAA\r\n BBBB\r\n\r\n";
const INDEX: &str = "JarIndex-Version: 1.0\n\nx.jar\na\n\n";
const EAR: &str = "<application><library-directory>/libs/</library-directory></application>";

/// Archives by the name of their kind; `class` gives their classes.
fn seeds(class: &mut dyn FnMut(&str) -> Vec<u8>) -> Vec<(&'static str, Zip)> {
    let zip = |entries: Vec<Entry>| Zip { entries, ..Zip::default() };
    let plain = vec![
        entry("META-INF/MANIFEST.MF", MANIFEST),
        entry("Seed.class", class("Seed$Mark")),
        entry("META-INF/versions/9/Seed.class", class("Seed$Color$1")),
        entry("readme", "text"),
    ];
    let packed = vec![
        deflated("Old.class", class("Old")),
        Entry { descriptor: Some((4, true)), ..deflated("Old$Inner.class", class("Old$Inner")) },
        Entry { descriptor: Some((8, false)), zip64: true, ..deflated("Point.class", class("Seed$Point")) },
    ];
    let nested =
        zip(vec![entry("a/Shape.class", class("Shape")), deflated("b/Old.class", class("Old"))]).bytes();
    let signed = vec![
        deflated("META-INF/MANIFEST.MF", MANIFEST),
        entry("META-INF/ME.SF", "Signature-Version: 1.0\r\n\r\n"),
        entry("META-INF/ME.RSA", [1, 2, 3]),
        entry("META-INF/INDEX.LIST", INDEX),
        entry("Seed.class", class("Old$Inner")),
    ];
    vec![
        ("plain", zip(plain)),
        (
            "odd",
            Zip {
                prefix: b"#!/bin/sh\nexec java -jar $0\n".to_vec(),
                comment: b"comment".to_vec(),
                zip64_end: true,
                central_order: Some(vec![2, 0, 1]),
                ..zip(packed)
            },
        ),
        ("signed", zip(signed)),
        (
            "module",
            zip(vec![
                entry("module-info.class", class("module-info")),
                Entry { local_extra: extra(0xCAFE, b""), ..entry("Shape.class", class("Shape$Round")) },
                entry("Shape.class", class("Shape")),
            ]),
        ),
        (
            "spring",
            zip(vec![
                entry("org/Launcher.class", class("Old")),
                deflated("BOOT-INF/classes/A.class", class("Old$Inner")),
                entry("BOOT-INF/lib/nested.jar", &nested),
            ]),
        ),
        (
            "war",
            zip(vec![
                entry("WEB-INF/classes/A.class", class("Seed$Mark")),
                deflated("WEB-INF/lib/nested.jar", &nested),
                entry("applet/B.class", class("Old")),
            ]),
        ),
        (
            "ear",
            zip(vec![
                entry("META-INF/application.xml", EAR),
                deflated("web.war", zip(vec![entry("WEB-INF/lib/n.jar", &nested)]).bytes()),
                entry("ejb.jar", &nested),
            ]),
        ),
    ]
}

struct Mutants {
    classes: Vec<Sample>,
    marks: Vec<Vec<usize>>,
}

impl Mutants {
    fn new() -> Self {
        let classes = common::seeds();
        let marks = classes.iter().map(|class| landmarks(&class.bytes)).collect();
        Self { classes, marks }
    }

    /// A seed class; now and then a mutant of it.
    fn class(&self, random: Option<&mut Random>, name: &str) -> Vec<u8> {
        let file = format!("/{name}.class");
        let index = self.classes.iter().position(|class| class.name.ends_with(&file)).expect("a seed");
        let mut bytes = self.classes[index].bytes.clone();
        if let Some(random) = random
            && random.below(4) == 0
        {
            let other = &self.classes[random.below(self.classes.len())].bytes;
            mutate(random, &mut bytes, &self.marks[index], other);
        }
        bytes
    }

    fn mutant(&self, random: &mut Random, run: usize) -> Vec<u8> {
        let mut seeds = seeds(&mut |name| self.class(Some(random), name));
        let (_, mut zip) = seeds.swap_remove(run % seeds.len());
        for _ in 0..random.below(3) {
            change_field(random, &mut zip);
        }
        let mut bytes = zip.bytes();
        for _ in 0..random.below(3) {
            change_header(random, &mut bytes);
        }
        if random.below(4) > 0 {
            repair(&mut bytes);
        }
        bytes
    }
}

/// Changes one thing in what the archive is built from.
fn change_field(random: &mut Random, zip: &mut Zip) {
    let names: [&[u8]; 10] = [
        b"META-INF/A.SF",
        b"META-INF/instrument/ids.gz",
        b"X.class/",
        b"x.jar",
        b"x.war",
        b"../X.class",
        b"",
        b"META-INF/INDEX.LIST",
        b"WEB-INF/",
        b"instrument/runtime/Stand-In.class",
    ];
    let count = zip.entries.len();
    let at = random.below(count);
    let other = zip.entries[random.below(count)].clone();
    let edge = INTERESTING[random.below(INTERESTING.len())];
    let entry = &mut zip.entries[at];
    match random.below(16) {
        0 => entry.name = names[random.below(names.len())].to_vec(),
        1 => entry.name = other.name,
        2 => entry.local_name = Some(names[random.below(names.len())].to_vec()),
        3 => entry.method = Some([0, 8, 9, 12, 0xffff][random.below(5)]),
        4 => entry.flags = [1, 8, 0x40, 0x800, 0x2000, 0xffff][random.below(6)],
        5 => entry.crc = Some(edge),
        6 => entry.size = Some(edge),
        7 => entry.packed = Some(edge),
        8 => entry.offset = Some(edge),
        9 => entry.descriptor = [None, Some((4, false)), Some((8, true))][random.below(3)],
        10 => entry.zip64 = !entry.zip64,
        11 => entry.gap = vec![b'P'; random.below(9)],
        12 => entry.central_extra = extra(1, &[0xff; 28][..random.below(29)]),
        13 => {
            // Classes that are no classes, nested archives that are none, manifests that are classes.
            entry.content = other.content;
            entry.deflate = other.deflate;
        }
        14 => zip.entries.insert(at, other),
        _ => match random.below(6) {
            0 => zip.trailing = vec![0; random.below(40)],
            1 => zip.before_directory = b"PK\x03\x04"[..random.below(5)].to_vec(),
            2 => zip.directory_signature = b"PK\x05\x05\x01\x00x".to_vec(),
            3 => zip.comment = b"PK\x05\x06 and more than twenty-two bytes of a comment".to_vec(),
            4 => zip.absolute = !zip.absolute,
            _ => zip.prefix = b"PK\x03\x04PK\x01\x02".to_vec(),
        },
    }
}

/// Changes a byte or two in or near a header, or cuts the archive.
fn change_header(random: &mut Random, bytes: &mut Vec<u8>) {
    let headers: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"PK")).collect();
    if headers.is_empty() || random.below(20) == 0 {
        return bytes.truncate(random.below(bytes.len()));
    }
    let at = headers[random.below(headers.len())] + random.below(48);
    if let Some(place) = bytes.get_mut(at..at + 2) {
        let value = random.value(u16::from_le_bytes([place[0], place[1]]).into());
        match random.below(2) {
            0 => place[0] = value as u8,
            _ => place.copy_from_slice(&(value as u16).to_le_bytes()),
        }
    }
}

#[test]
fn mutants_are_instrumented() {
    let mutants = Mutants::new();
    replay("archive", 6_000, 4, |random, run| mutants.mutant(random, run), rewrite_jar);
}

#[test]
fn seeds_are_instrumented() {
    let mutants = Mutants::new();
    for (name, zip) in seeds(&mut |name| mutants.class(None, name)) {
        assert!(rewrite_jar(&zip.bytes()), "{name}");
    }
}

/// Writes the seeds of `fuzz/corpus`: `cargo test --test fuzz_replay write_the_seeds -- --ignored`.
#[test]
#[ignore = "writes into the source tree"]
fn write_the_seeds() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let mutants = Mutants::new();
    let mut files: Vec<(String, Vec<u8>)> = seeds(&mut |name| mutants.class(None, name))
        .into_iter()
        .map(|(name, zip)| (format!("jar_rewrite/{name}.jar"), zip.bytes()))
        .collect();
    let maps = super::id_maps::SEEDS.iter().enumerate();
    files.extend(maps.map(|(index, text)| (format!("id_map/{index}.ids"), text.as_bytes().to_vec())));
    for (name, bytes) in files {
        let path = corpus.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("makes the directory");
        std::fs::write(path, bytes).expect("writes the seed");
    }
}
