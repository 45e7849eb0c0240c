//! The floor under every jar rewriter: `floor [-jN] IN.jar OUT.jar` inflates every entry, deflates it again at
//! level 6 and writes the jar; STORED entries are copied. No rewriter that recompresses can be faster.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use libdeflater::{CompressionLvl, Compressor, Decompressor};

/// An entry as the central directory has it (APPNOTE 4.3.12).
struct Entry<'a> {
    central: &'a [u8],
    data: &'a [u8],
    method: u16,
    size: usize,
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    u16::from_le_bytes([bytes[at], bytes[at + 1]]) as usize
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

fn entries(jar: &[u8]) -> Vec<Entry<'_>> {
    let end =
        (0..=jar.len() - 22).rev().find(|&at| jar[at..].starts_with(b"PK\x05\x06")).expect("a zip file");
    let (count, mut at) = (u16_at(jar, end + 10), u32_at(jar, end + 16));
    assert!(count < 0xFFFF, "zip64 is not handled here");
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let length = 46 + u16_at(jar, at + 28) + u16_at(jar, at + 30) + u16_at(jar, at + 32);
        let central = &jar[at..at + length];
        let local = u32_at(central, 42);
        let start = local + 30 + u16_at(jar, local + 26) + u16_at(jar, local + 28);
        let data = &jar[start..start + u32_at(central, 20)];
        entries.push(Entry { central, data, method: u16_at(central, 10) as u16, size: u32_at(central, 24) });
        at += length;
    }
    entries
}

fn recompress(entry: &Entry, inflater: &mut Decompressor, deflater: &mut Compressor) -> Vec<u8> {
    if entry.method == 0 {
        return entry.data.to_vec();
    }
    let mut plain = vec![0; entry.size];
    inflater.deflate_decompress(entry.data, &mut plain).expect("sound deflate data");
    let mut packed = vec![0; deflater.deflate_compress_bound(plain.len())];
    let length = deflater.deflate_compress(&plain, &mut packed).expect("the bound suffices");
    packed.truncate(length);
    packed.shrink_to_fit();
    packed
}

fn main() -> std::io::Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = match arguments.first().and_then(|first| first.strip_prefix("-j")) {
        Some(count) => count.parse().expect("-jN"),
        None => 1,
    };
    arguments.retain(|argument| !argument.starts_with("-j"));
    let jar = std::fs::read(&arguments[0])?;
    let entries = entries(&jar);
    let next = AtomicUsize::new(0);
    let mut packed: Vec<(usize, Vec<u8>)> = std::thread::scope(|scope| {
        let work = || {
            let mut inflater = Decompressor::new();
            let mut deflater = Compressor::new(CompressionLvl::new(6).expect("a level"));
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(entry) = entries.get(index) else { break done };
                done.push((index, recompress(entry, &mut inflater, &mut deflater)));
            }
        };
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        all.extend(others.into_iter().flat_map(|thread| thread.join().expect("no panic")));
        all
    });
    packed.sort_unstable_by_key(|&(index, _)| index);
    write(&arguments[1], &entries, &packed)
}

fn write(path: &str, entries: &[Entry], packed: &[(usize, Vec<u8>)]) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    let (mut offset, mut directory) = (0usize, Vec::new());
    for (entry, (_, data)) in entries.iter().zip(packed) {
        let mut central = entry.central.to_vec();
        let name = 46 + u16_at(&central, 28);
        // No data descriptors: the sizes are known.
        central[8] &= !8;
        central[20..24].copy_from_slice(&(data.len() as u32).to_le_bytes());
        central[42..46].copy_from_slice(&(offset as u32).to_le_bytes());
        let mut local = b"PK\x03\x04".to_vec();
        local.extend_from_slice(&central[6..30]);
        local.extend_from_slice(&[0, 0]);
        local.extend_from_slice(&central[46..name]);
        out.write_all(&local)?;
        out.write_all(data)?;
        offset += local.len() + data.len();
        directory.extend_from_slice(&central);
    }
    out.write_all(&directory)?;
    let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
    end.extend_from_slice(&(entries.len() as u16).to_le_bytes());
    end.extend_from_slice(&(entries.len() as u16).to_le_bytes());
    end.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    end.extend_from_slice(&(offset as u32).to_le_bytes());
    end.extend_from_slice(&[0, 0]);
    out.write_all(&end)?;
    out.flush()
}
