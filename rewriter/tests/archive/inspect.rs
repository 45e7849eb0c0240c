//! Judges an archive: a second reader written here, the `zip` crate, and the tools on this machine.

use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// An entry as the central directory and its local header have it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) name: Vec<u8>,
    pub(crate) made_by: u16,
    pub(crate) flags: u16,
    pub(crate) local_flags: u16,
    pub(crate) method: u16,
    pub(crate) time: u32,
    pub(crate) comment: Vec<u8>,
    pub(crate) attributes: u32,
    pub(crate) central_extra: Vec<u8>,
    pub(crate) local_extra: Vec<u8>,
    pub(crate) start: usize,
    pub(crate) data: usize,
    pub(crate) content: Vec<u8>,
    pub(crate) local_sizes: (u32, u32, u32),
    pub(crate) central_sizes: (u32, u32, u32),
}

impl Seen {
    pub(crate) fn name(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

fn u16(b: &[u8], at: usize) -> usize {
    usize::from(b[at]) | usize::from(b[at + 1]) << 8
}
fn u32(b: &[u8], at: usize) -> u32 {
    (u16(b, at) | u16(b, at + 2) << 16) as u32
}
fn u64(b: &[u8], at: usize) -> u64 {
    u64::from(u32(b, at)) | u64::from(u32(b, at + 4)) << 32
}

fn zip64(extra: &[u8], nth: usize) -> u64 {
    let mut at = 0;
    while at + 4 <= extra.len() {
        if u16(extra, at) == 1 {
            return u64(extra, at + 4 + 8 * nth);
        }
        at += 4 + u16(extra, at + 2);
    }
    panic!("no zip64 field");
}

/// Reads like the JDK: the directory lies directly before the end records. CRCs are checked.
pub(crate) fn entries(bytes: &[u8]) -> Vec<Seen> {
    let end = (0..=bytes.len() - 22).rev().find(|&at| bytes[at..].starts_with(b"PK\x05\x06")).unwrap();
    let (mut len, mut offset, mut count, mut stop) =
        (u32(bytes, end + 12) as u64, u32(bytes, end + 16) as u64, u16(bytes, end + 10) as u64, end);
    if end >= 20 && bytes[end - 20..].starts_with(b"PK\x06\x07") {
        stop = u64(bytes, end - 12) as usize;
        assert!(bytes[stop..].starts_with(b"PK\x06\x06"));
        assert_eq!(u64(bytes, stop + 24), u64(bytes, stop + 32));
        (count, len, offset) = (u64(bytes, stop + 32), u64(bytes, stop + 40), u64(bytes, stop + 48));
    }
    let mut at = stop - len as usize;
    let base = at - offset as usize;
    let mut seen = Vec::new();
    while at < stop && bytes[at..].starts_with(b"PK\x01\x02") {
        let c = &bytes[at..];
        let (n, m, k) = (u16(c, 28), u16(c, 30), u16(c, 32));
        let extra = &c[46 + n..46 + n + m];
        let mut nth = 0;
        let mut wide = |field: usize| {
            if u32(c, field) != u32::MAX {
                return u64::from(u32(c, field));
            }
            nth += 1;
            zip64(extra, nth - 1)
        };
        let size = wide(24) as usize;
        let packed = wide(20) as usize;
        let start = base + wide(42) as usize;
        let l = &bytes[start..];
        assert!(l.starts_with(b"PK\x03\x04"), "no local header at {start}");
        let (ln, lm) = (u16(l, 26), u16(l, 28));
        let data = start + 30 + ln + lm;
        let raw = &bytes[data..data + packed];
        let method = u16(c, 10) as u16;
        let content = if method == 8 {
            let mut out = vec![0; size];
            let len = libdeflater::Decompressor::new().deflate_decompress(raw, &mut out).unwrap();
            assert_eq!(len, size);
            out
        } else {
            raw.to_vec()
        };
        assert_eq!(content.len(), size);
        if u16(c, 8) & 1 == 0 && matches!(method, 0 | 8) {
            assert_eq!(crc32fast::hash(&content), u32(c, 16));
        }
        seen.push(Seen {
            name: c[46..46 + n].to_vec(),
            made_by: u16(c, 4) as u16,
            flags: u16(c, 8) as u16,
            local_flags: u16(l, 6) as u16,
            method,
            time: u32(c, 12),
            comment: c[46 + n + m..46 + n + m + k].to_vec(),
            attributes: u32(c, 38),
            central_extra: extra.to_vec(),
            local_extra: l[30 + ln..30 + ln + lm].to_vec(),
            start,
            data,
            content,
            local_sizes: (u32(l, 14), u32(l, 18), u32(l, 22)),
            central_sizes: (u32(c, 16), u32(c, 20), u32(c, 24)),
        });
        assert_eq!(u32(l, 10), u32(c, 12), "time differs between the headers");
        at += 46 + n + m + k;
    }
    assert_eq!(seen.len() as u64, count);
    seen
}

pub(crate) fn find<'s>(seen: &'s [Seen], name: &str) -> &'s Seen {
    seen.iter().rev().find(|e| e.name == name.as_bytes()).unwrap_or_else(|| panic!("no {name}"))
}

/// Everything but data and offsets is as it was.
pub(crate) fn assert_same_header(before: &Seen, after: &Seen) {
    let header = |e: &Seen| {
        (e.name.clone(), e.made_by, e.method, e.time, e.comment.clone(), e.attributes, e.flags & !8)
    };
    assert_eq!(header(before), header(after));
}

/// Reads every entry with the `zip` crate, which checks CRCs.
pub(crate) fn zip_crate_reads(bytes: &[u8]) -> usize {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("the zip crate opens it");
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).expect("the zip crate finds the entry");
        let mut content = Vec::new();
        file.read_to_end(&mut content).expect("the zip crate reads the entry");
    }
    archive.len()
}

/// A file that is deleted in the end.
pub(crate) struct TempFile(PathBuf);

impl TempFile {
    pub(crate) fn new(suffix: &str, bytes: &[u8]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("archive-{}-{nth}{suffix}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        TempFile(path)
    }
}

impl TempFile {
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs a tool on the archive and returns what it printed, or `None` if the tool is not installed.
pub(crate) fn tool(bytes: &[u8], command: &[&str]) -> Option<(bool, String)> {
    let file = TempFile::new(".jar", bytes);
    let mut run = Command::new(command[0]);
    for arg in &command[1..] {
        run.arg(if *arg == "{}" { file.0.as_os_str() } else { arg.as_ref() });
    }
    match run.output() {
        Ok(done) => {
            let text = [done.stdout, done.stderr].concat();
            let text = String::from_utf8_lossy(&text).replace(file.0.to_str().unwrap(), "X.jar");
            Some((done.status.success(), text))
        }
        Err(_) => {
            eprintln!("skipped: {} is not installed", command[0]);
            None
        }
    }
}

/// No tool complains about `after` unless it complained about `before`.
pub(crate) fn tools_accept(before: &[u8], after: &[u8]) {
    const PYTHON: &str = "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip())";
    for command in [
        &["unzip", "-tqq", "{}"][..],
        &["zipinfo", "-v", "{}"],
        &["python3", "-c", PYTHON, "{}"],
        &["jar", "tf", "{}"],
    ] {
        let Some((true, _)) = tool(before, command) else { continue };
        let (good, text) = tool(after, command).expect("it ran before");
        assert!(good, "{command:?}: {text}");
        if command[0] == "unzip" {
            assert_eq!(text, "", "{command:?}");
        }
        if command[0] == "python3" {
            assert_eq!(text.trim(), "None");
        }
    }
}

/// A class has its old content and the mark; anything else has its old content and local extra field.
pub(crate) fn without_class_marks(before: &Seen, after: &Seen) {
    let is_class = before.name.ends_with(b".class") || before.name.ends_with(b".class/");
    if is_class {
        assert_eq!(before.content, crate::archive::fake::without_mark(&after.content), "{}", before.name());
        assert_eq!((after.flags | after.local_flags) & 8, 0, "{}", before.name());
        assert_eq!(after.local_sizes, after.central_sizes, "{}", before.name());
    } else {
        assert_eq!(before.content, after.content, "{}", before.name());
        assert_eq!(before.local_extra, after.local_extra, "{}", before.name());
        assert_eq!(before.local_flags, after.local_flags, "{}", before.name());
        assert_eq!(before.central_extra.len(), after.central_extra.len(), "{}", before.name());
    }
}
