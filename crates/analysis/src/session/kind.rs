//! What a file is, from its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Whether a file begins as a profile does. What cannot be read does not.
pub fn is_profile(path: &Path) -> bool {
    File::open(path).is_ok_and(|mut file| instrument_trace::is_profile(&start(&mut file, 8)))
}

/// The first bytes of a file: `length`, or fewer where there are no more or they cannot be read.
pub(super) fn start(file: &mut File, length: usize) -> Vec<u8> {
    let mut start = Vec::new();
    let _ = file.take(length as u64).read_to_end(&mut start);
    start
}

/// What a file is that is no profile, and what to do about it.
pub fn not_a_profile(path: &Path) -> String {
    let name = path.display();
    let start = File::open(path).map(|mut file| start(&mut file, 4096)).unwrap_or_default();
    let what = match &start[..] {
        _ if path.is_dir() => "a directory; name the profiles in it (*.iprof)".to_owned(),
        [] => "an empty file; its program recorded nothing, or is not yet started".to_owned(),
        [b'P', b'K', 3 | 5, ..] => {
            format!("an archive; `instrument run -- java -jar {name}` runs it and writes a profile")
        }
        [0xca, 0xfe, 0xba, 0xbe, ..] => {
            "a class file; `instrument run -- java ..` runs its program and writes a profile".to_owned()
        }
        [b'F', b'L', b'R', 0, ..] => {
            "a recording of Java Flight Recorder; reports read it, if it is whole".to_owned()
        }
        [0x1f, 0x8b, ..] => format!(
            "packed by gzip; a profile of pprof is read so, anything else unpack first: gunzip {name}"
        ),
        start if start.starts_with(b"JAVA PROFILE ") => {
            "a dump of a heap; VisualVM and Eclipse MAT read it".to_owned()
        }
        start if start.starts_with(b"\x89IPR") || start.windows(6).take(16).any(|w| w == b"IPROF\n") => {
            "a profile that was damaged on its way, as by a transfer as text; copy it again as binary"
                .to_owned()
        }
        start if start.contains(&0) => {
            "neither a profile (*.iprof) nor a text that is read like one".to_owned()
        }
        _ => "no profile".to_owned(),
    };
    format!("{name}: {what}")
}
