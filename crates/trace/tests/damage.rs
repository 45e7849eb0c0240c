//! A profile with a checksum: whatever byte changes, it is said.

use std::fs::OpenOptions;
use std::path::Path;

use instrument_trace::{Error, Profile, seal};

/// A recorded profile as it is when its program has ended by itself.
fn ended(name: &str) -> Vec<u8> {
    let mut data =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles").join(name)).unwrap();
    data[80] = 1;
    data
}

fn sealed(data: &[u8]) -> (bool, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.iprof");
    std::fs::write(&path, data).unwrap();
    let is_sealed = seal(&OpenOptions::new().read(true).write(true).open(&path).unwrap()).unwrap();
    (is_sealed, std::fs::read(path).unwrap())
}

#[test]
fn any_byte_that_changes_is_noticed() {
    for name in ["v2-tree.iprof", "v6-calls.iprof", "v1-heap.iprof"] {
        let (is_sealed, mut data) = sealed(&ended(name));
        assert!(is_sealed && Profile::parse(&data).unwrap().damage.is_empty(), "{name}");
        let end = u64::from_le_bytes(data[40..48].try_into().unwrap()) as usize;
        assert!(end > 4096 && end <= data.len());
        // Every byte of the header that means something, and a prime step through the rest.
        for at in (0..104).chain((104..end).step_by(61)) {
            data[at] ^= 0xf0;
            match Profile::parse(&data) {
                Ok(profile) => {
                    assert!(profile.is_cut || !profile.damage.is_empty(), "{name}: {at} unnoticed")
                }
                Err(Error::NotAProfile) => assert!(at < 8),
                Err(Error::Version { .. }) => assert!((8..12).contains(&at)),
                Err(error) => panic!("{name}, {at}: {error}"),
            }
            data[at] ^= 0xf0;
        }
    }
}

/// Nobody knows of a program that was killed what it was writing; and what is no profile, or cut off, gets no checksum.
#[test]
fn only_what_has_ended_has_a_checksum() {
    let mut killed = ended("v2-tree.iprof");
    killed[80..88].fill(0);
    let cut = &ended("v2-tree.iprof")[..8192];
    for data in [&killed[..], cut, b"a text"] {
        assert_eq!(sealed(data), (false, data.to_vec()));
    }
    assert!(Profile::parse(cut).unwrap().is_cut);
}
