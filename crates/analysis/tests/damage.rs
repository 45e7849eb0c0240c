//! Profiles without a checksum, as killed programs leave them, in which the highest byte of a word has changed: what reports print is what it
//! was, or they say that the file is damaged.

use std::fs;
use std::path::{Path, PathBuf};

use crate::trace_cache::printed;
use instrument_analysis::report::counts;
use instrument_analysis::report::summary::Summary;
use instrument_analysis::session::{Request, Session};

/// Words of a file that are tried in a usual run.
const TRIED: usize = 100;

/// What is printed of a file, and whether something is said to be wrong; none: it is refused.
fn of(path: &Path) -> Option<(String, bool)> {
    let session = Session::read(&Request { files: vec![path.to_owned()], ..Request::default() }).ok()?;
    let summary = Summary::new(&session, &counts::Request::default(), &[]).unwrap();
    let profile = &session.profiles[0].profile;
    let is_said = profile.is_cut || !profile.damage.is_empty() || !session.profiles[0].remarks().is_empty();
    Some((printed(&session), is_said || !summary.holds()))
}

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/profiles").join(name)
}

#[test]
fn a_high_byte_that_changes_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.iprof");
    let is_full = std::env::var_os("INSTRUMENT_CORPUS_FULL").is_some();
    let mut unnoticed = Vec::new();
    for name in ["v1-allocations.iprof", "v1-tree.iprof", "v2-tree.iprof", "v6-calls.iprof"] {
        let data = fs::read(recorded(name)).unwrap();
        fs::write(&path, &data).unwrap();
        let (whole, is_said) = of(&path).unwrap();
        assert!(!is_said, "{name}");
        let end = u64::from_le_bytes(data[40..48].try_into().unwrap()) as usize;
        // Words that hold something: zeros between regions are nobody's.
        let words: Vec<usize> = (2..end / 8).filter(|word| data[8 * word..8 * word + 8] != [0; 8]).collect();
        let step = if is_full { 1 } else { words.len().div_ceil(TRIED) };
        for at in words.iter().step_by(step).map(|word| 8 * word + 7) {
            let mut changed = data.clone();
            changed[at] ^= 0x90;
            fs::write(&path, &changed).unwrap();
            if let Some((now, is_said)) = of(&path)
                && !is_said
                && now != whole
            {
                unnoticed.push(format!("{name}, {at:#x}: {now}"));
            }
        }
    }
    assert!(unnoticed.is_empty(), "{} of them: {}", unnoticed.len(), unnoticed.join("\n"));
}
