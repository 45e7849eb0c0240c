//! The records of a zip archive as bytes (APPNOTE 4.3 and 4.5): reading single fields, and writing a record
//! again with other sizes or at another place while everything else in it stays as it was.

/// Fixed part of a local file header (APPNOTE 4.3.7).
pub(super) const LOCAL_LEN: usize = 30;
/// Fixed part of a central directory file header (APPNOTE 4.3.12).
pub(super) const CENTRAL_LEN: usize = 46;
/// Fixed part of the end of central directory record (APPNOTE 4.3.16).
pub(super) const END_LEN: usize = 22;
/// Fixed part of the zip64 end of central directory record (APPNOTE 4.3.14).
pub(super) const END64_LEN: usize = 56;
/// The zip64 end of central directory locator (APPNOTE 4.3.15).
pub(super) const LOCATOR_LEN: usize = 20;

pub(super) const LOCAL_SIGNATURE: [u8; 4] = *b"PK\x03\x04";
pub(super) const CENTRAL_SIGNATURE: [u8; 4] = *b"PK\x01\x02";
pub(super) const END_SIGNATURE: [u8; 4] = *b"PK\x05\x06";
pub(super) const END64_SIGNATURE: [u8; 4] = *b"PK\x06\x06";
pub(super) const LOCATOR_SIGNATURE: [u8; 4] = *b"PK\x06\x07";
pub(super) const DESCRIPTOR_SIGNATURE: [u8; 4] = *b"PK\x07\x08";

pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;

/// General purpose flag bit 3: sizes and CRC follow the data.
pub(super) const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// General purpose flag bit 11: the name is UTF-8.
pub(super) const FLAG_UTF8: u16 = 1 << 11;
/// Bits 0, 6 and 13: encrypted, strongly encrypted, header values masked.
pub(super) const FLAGS_ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;

/// Extra field: zip64 extended information (APPNOTE 4.5.3).
const EXTRA_ZIP64: u16 = 0x0001;
/// Extra field: alignment of the data as Android's tools write it.
const EXTRA_ALIGN_ANDROID: u16 = 0xD935;
/// Extra field: alignment of the data as Apache Commons Compress writes it; bit 15 is not part of the number.
const EXTRA_ALIGN_COMMONS: u16 = 0xA11E;

/// In a 32-bit field: the value is in the zip64 extra field.
const MAX32: u64 = 0xFFFF_FFFF;
/// In the entry count of the end record: the value is in the zip64 end record.
const MAX16: u64 = 0xFFFF;
/// Version needed to extract for zip64 (APPNOTE 4.4.3).
const VERSION_ZIP64: u16 = 45;

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]))
}

fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn put64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// A value for a 32-bit field, or the mark that it is in the zip64 field.
fn or_mark(value: u64) -> u32 {
    value.min(MAX32) as u32
}

/// Size and checksum of an entry's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) size: u64,
}

/// Splits an extra area into its fields, each with its four header bytes. What is left over and too short to
/// be a field (APK tools pad with such bytes) comes last, with no id.
fn extra_fields(extra: &[u8]) -> impl Iterator<Item = (Option<u16>, &[u8])> {
    let mut rest = extra;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let len = if rest.len() < 4 { usize::MAX } else { 4 + u16_at(rest, 2) as usize };
        if len > rest.len() {
            return Some((None, std::mem::take(&mut rest)));
        }
        let (field, tail) = rest.split_at(len);
        rest = tail;
        Some((Some(u16_at(field, 0)), field))
    })
}

fn alignment_of(id: Option<u16>, field: &[u8]) -> Option<u16> {
    match id {
        Some(EXTRA_ALIGN_ANDROID) if field.len() >= 6 => Some(u16_at(field, 4)),
        Some(EXTRA_ALIGN_COMMONS) if field.len() >= 6 => Some(u16_at(field, 4) & 0x7FFF),
        _ => None,
    }
}

/// The alignment that the extra area of a local header asks for, in bytes; 1 if none.
pub(super) fn alignment(extra: &[u8]) -> u16 {
    extra_fields(extra).find_map(|(id, field)| alignment_of(id, field)).unwrap_or(1).max(1)
}

/// Writes a local header again.
///
/// `old` is header, name and extra area; `at` the offset in the output. With `new` sizes, these go into the
/// header, the data descriptor flag is cleared, and a zip64 field stays only if they need one. With
/// `aligned`, the padding of an alignment field is chosen so that the data begins at a multiple of it.
pub(super) fn local_header(old: &[u8], new: Option<&Sizes>, at: u64, aligned: bool, out: &mut Vec<u8>) {
    let start = out.len();
    let name_end = LOCAL_LEN + u16_at(old, 26) as usize;
    out.extend_from_slice(&old[..name_end]);
    let mut padding = None;
    for (id, field) in extra_fields(&old[name_end..]) {
        if new.is_some() && id == Some(EXTRA_ZIP64) {
            continue;
        }
        match alignment_of(id, field) {
            Some(align) if aligned && padding.is_none() => {
                out.extend_from_slice(&field[..6]);
                padding = Some((align.max(1), out.len(), field.len() - 6));
            }
            _ => out.extend_from_slice(field),
        }
    }
    if let Some(new) = new {
        let wide = new.size >= MAX32 || new.packed >= MAX32;
        if wide {
            out.extend_from_slice(&EXTRA_ZIP64.to_le_bytes());
            out.extend_from_slice(&16u16.to_le_bytes());
            out.extend_from_slice(&new.size.to_le_bytes());
            out.extend_from_slice(&new.packed.to_le_bytes());
        }
        let header = &mut out[start..];
        put16(header, 6, u16_at(header, 6) & !FLAG_DESCRIPTOR);
        put32(header, 14, new.crc);
        // APPNOTE 4.5.3: in a local header both sizes are in the zip64 field, or none.
        put32(header, 18, if wide { MAX32 as u32 } else { new.packed as u32 });
        put32(header, 22, if wide { MAX32 as u32 } else { new.size as u32 });
        if wide {
            put16(header, 4, u16_at(header, 4).max(VERSION_ZIP64));
        }
    }
    if let Some((align, pad_at, old_pad)) = padding {
        let unpadded = (out.len() - start) as u64;
        let align = u64::from(align);
        let mut pad = ((align - (at + unpadded) % align) % align) as usize;
        if unpadded as usize - name_end + pad > u16::MAX as usize {
            pad = old_pad;
        }
        out.splice(pad_at..pad_at, std::iter::repeat_n(0, pad));
        put16(out, pad_at - 4, (2 + pad) as u16);
    }
    let extra_len = out.len() - start - name_end;
    put16(&mut out[start..], 28, extra_len as u16);
}

/// Writes a central directory header again, for an entry at `offset` (as the archive counts offsets).
///
/// With `new` sizes, these are written, the data descriptor flag is cleared and a zip64 field holds what
/// needs it. Without, the record keeps its form, and a zip64 field grows only if the offset needs it.
pub(super) fn central_header(old: &[u8], new: Option<&Sizes>, offset: u64, out: &mut Vec<u8>) {
    let start = out.len();
    let name_end = CENTRAL_LEN + u16_at(old, 28) as usize;
    let extra_end = name_end + u16_at(old, 30) as usize;
    let extra = &old[name_end..extra_end];
    let marked = |at: usize| u64::from(u32_at(old, at)) == MAX32;

    // Fields 20 compressed, 24 uncompressed, 42 offset; the zip64 field has uncompressed, compressed, offset.
    let zip64 =
        extra_fields(extra).find(|(id, _)| *id == Some(EXTRA_ZIP64)).map_or(&[][..], |(_, f)| &f[4..]);
    let mut taken = 0;
    let mut take = |at: usize| {
        if !marked(at) {
            return (u64::from(u32_at(old, at)), false);
        }
        let value = zip64.get(taken..taken + 8).map(|bytes| u64_at(bytes, 0));
        taken += 8;
        (value.unwrap_or(MAX32), value.is_some())
    };
    let (mut size, mut size_wide) = take(24);
    let (mut packed, mut packed_wide) = take(20);
    let (_, offset_was_wide) = take(42);
    let rest = zip64.get(taken..).unwrap_or(&[]); // the disk number, if any
    if let Some(new) = new {
        (size, packed) = (new.size, new.packed);
        (size_wide, packed_wide) = (size >= MAX32, packed >= MAX32);
    }
    let offset_wide = offset >= MAX32 || (offset_was_wide && new.is_none());

    let mut wide = Vec::new();
    for (value, is_wide) in [(size, size_wide), (packed, packed_wide), (offset, offset_wide)] {
        if is_wide {
            wide.extend_from_slice(&u64::to_le_bytes(value));
        }
    }
    let disk_marked = u64::from(u16_at(old, 34)) == MAX16;
    if disk_marked || (new.is_none() && offset_wide == offset_was_wide) {
        wide.extend_from_slice(rest);
    }
    out.extend_from_slice(&old[..name_end]);
    extra_with_zip64(extra, &wide, out);
    let extra_len = out.len() - start - name_end;
    out.extend_from_slice(&old[extra_end..]);

    let record = &mut out[start..];
    put16(record, 30, extra_len as u16);
    if let Some(new) = new {
        put16(record, 8, u16_at(record, 8) & !FLAG_DESCRIPTOR);
        put32(record, 16, new.crc);
    }
    put32(record, 20, if packed_wide { MAX32 as u32 } else { or_mark(packed) });
    put32(record, 24, if size_wide { MAX32 as u32 } else { or_mark(size) });
    put32(record, 42, if offset_wide { MAX32 as u32 } else { or_mark(offset) });
    if size_wide || packed_wide || offset_wide {
        put16(record, 6, u16_at(record, 6).max(VERSION_ZIP64));
    }
}

/// Writes extra fields again with `wide` as the zip64 field, where that was, or at the end; without one if `wide` is
/// empty.
fn extra_with_zip64(extra: &[u8], wide: &[u8], out: &mut Vec<u8>) {
    let mut written = wide.is_empty();
    let mut write = |out: &mut Vec<u8>| {
        if !std::mem::replace(&mut written, true) {
            out.extend_from_slice(&EXTRA_ZIP64.to_le_bytes());
            out.extend_from_slice(&(wide.len() as u16).to_le_bytes());
            out.extend_from_slice(wide);
        }
    };
    for (id, bytes) in extra_fields(extra) {
        // What is no field must stay last, or nothing behind it could be read.
        if id.is_none() || id == Some(EXTRA_ZIP64) {
            write(out);
        }
        if id != Some(EXTRA_ZIP64) {
            out.extend_from_slice(bytes);
        }
    }
    write(out);
}

/// Length of the data descriptor (APPNOTE 4.3.9) at the start of `gap`, the bytes between an entry's data and
/// the next header; 0 if there is none that fits.
pub(super) fn descriptor_len(gap: &[u8], sizes: &Sizes) -> usize {
    for prefix in [4, 0] {
        for width in [4, 8] {
            let len = prefix + 4 + 2 * width;
            if gap.len() < len || (prefix == 4 && gap[..4] != DESCRIPTOR_SIGNATURE) {
                continue;
            }
            let value = |at| if width == 4 { u64::from(u32_at(gap, at)) } else { u64_at(gap, at) };
            let fits = u32_at(gap, prefix) == sizes.crc
                && value(prefix + 4) == sizes.packed
                && value(prefix + 4 + width) == sizes.size;
            if fits {
                return len;
            }
        }
    }
    0
}

/// What the end records say about the central directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirectoryExtent {
    /// Number of entries.
    pub(super) count: u64,
    /// Length in bytes.
    pub(super) len: u64,
    /// Offset as the archive counts offsets.
    pub(super) offset: u64,
}

/// Writes the end records again: the zip64 end record and its locator if there were any (`old64`) or the
/// numbers need them, then the end record with its comment.
///
/// `at` is the output's position in the file. The locator counts from the start of the file even behind a
/// prefix: that is where the JDK looks.
pub(super) fn end_records(
    old: &[u8],
    old64: Option<&[u8]>,
    new: &DirectoryExtent,
    at: u64,
    out: &mut Vec<u8>,
) {
    let fits = new.count < MAX16 && new.len < MAX32 && new.offset < MAX32;
    if old64.is_some() || !fits {
        let start = out.len();
        match old64 {
            Some(record) => out.extend_from_slice(record),
            None => {
                out.resize(start + END64_LEN, 0);
                let record = &mut out[start..];
                record[..4].copy_from_slice(&END64_SIGNATURE);
                put64(record, 4, END64_LEN as u64 - 12);
                put16(record, 12, VERSION_ZIP64);
                put16(record, 14, VERSION_ZIP64);
            }
        }
        let record = &mut out[start..];
        put64(record, 24, new.count);
        put64(record, 32, new.count);
        put64(record, 40, new.len);
        put64(record, 48, new.offset);
        out.extend_from_slice(&LOCATOR_SIGNATURE);
        out.extend_from_slice(&0u32.to_le_bytes());
        out.extend_from_slice(&at.to_le_bytes());
        out.extend_from_slice(&1u32.to_le_bytes());
    }
    let start = out.len();
    out.extend_from_slice(old);
    let record = &mut out[start..];
    // A field that was marked as being in the zip64 record stays marked.
    let marked = |at: usize| old64.is_some() && u64::from(u32_at(old, at)) == MAX32;
    let count_marked = old64.is_some() && u64::from(u16_at(old, 10)) == MAX16;
    let count = if count_marked { MAX16 } else { new.count.min(MAX16) } as u16;
    put16(record, 8, count);
    put16(record, 10, count);
    put32(record, 12, if marked(12) { MAX32 as u32 } else { or_mark(new.len) });
    put32(record, 16, if marked(16) { MAX32 as u32 } else { or_mark(new.offset) });
}

/// A DOS date and time as the headers hold it: time in the low half, date in the high half.
pub(super) type DosTime = u32;
/// 1980-01-01 00:00, the first moment that DOS knows.
pub(super) const DOS_EPOCH: DosTime = 0x0021_0000;

/// Writes the local header of a new entry.
pub(super) fn new_local_header(name: &[u8], method: u16, time: DosTime, sizes: &Sizes, out: &mut Vec<u8>) {
    let mut header = [0; LOCAL_LEN];
    header[..4].copy_from_slice(&LOCAL_SIGNATURE);
    put16(&mut header, 4, 20);
    put16(&mut header, 6, if name.is_ascii() { 0 } else { FLAG_UTF8 });
    put16(&mut header, 8, method);
    put32(&mut header, 10, time);
    put16(&mut header, 26, name.len() as u16);
    let start = out.len();
    out.extend_from_slice(&header);
    out.extend_from_slice(name);
    let plain = out.split_off(start);
    local_header(&plain, Some(sizes), 0, false, out);
}

/// Writes the central directory header of a new entry.
pub(super) fn new_central_header(
    name: &[u8],
    method: u16,
    time: DosTime,
    sizes: &Sizes,
    offset: u64,
    out: &mut Vec<u8>,
) {
    let mut header = vec![0; CENTRAL_LEN];
    header[..4].copy_from_slice(&CENTRAL_SIGNATURE);
    put16(&mut header, 4, 20);
    put16(&mut header, 6, 20);
    put16(&mut header, 8, if name.is_ascii() { 0 } else { FLAG_UTF8 });
    put16(&mut header, 10, method);
    put32(&mut header, 12, time);
    put16(&mut header, 28, name.len() as u16);
    header.extend_from_slice(name);
    central_header(&header, Some(sizes), offset, out);
}

#[cfg(test)]
mod tests;
