//! Builds archives byte by byte, right or wrong as a test wants them.

/// One entry as it shall lie in the archive. Fields that are `None` are computed.
#[derive(Clone, Default)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) local_name: Option<Vec<u8>>,
    pub(crate) content: Vec<u8>,
    pub(crate) deflate: bool,
    pub(crate) method: Option<u16>,
    pub(crate) flags: u16,
    /// Data descriptor: with sizes of this many bytes each, and with its signature or not.
    pub(crate) descriptor: Option<(usize, bool)>,
    pub(crate) local_extra: Vec<u8>,
    pub(crate) central_extra: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) made_by: u16,
    pub(crate) attributes: u32,
    pub(crate) time: u32,
    pub(crate) crc: Option<u32>,
    pub(crate) size: Option<u32>,
    pub(crate) packed: Option<u32>,
    pub(crate) offset: Option<u32>,
    /// Zip64 fields in both headers although the numbers are small.
    pub zip64: bool,
    /// Bytes after the data that belong to no record.
    pub(crate) gap: Vec<u8>,
}

pub(crate) fn entry(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Entry {
    Entry {
        name: name.as_ref().to_vec(),
        content: content.as_ref().to_vec(),
        time: 0x5A21_6C3F,
        made_by: 0x031E,
        attributes: 0o100644 << 16,
        ..Entry::default()
    }
}

pub(crate) fn deflated(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Entry {
    Entry { deflate: true, ..entry(name, content) }
}

/// Something that starts like a class and compresses a little.
pub(crate) fn class_bytes(seed: u32, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52];
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    while bytes.len() < len {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes.push(b"abcdefghijklmnop"[(state >> 28) as usize]);
    }
    bytes
}

#[derive(Clone, Default)]
pub(crate) struct Zip {
    pub(crate) prefix: Vec<u8>,
    /// Offsets count the prefix.
    pub(crate) absolute: bool,
    pub(crate) entries: Vec<Entry>,
    /// Order of the central directory, if it is another.
    pub(crate) central_order: Option<Vec<usize>>,
    pub(crate) before_directory: Vec<u8>,
    /// Bytes behind the last central header that count as part of the directory.
    pub(crate) directory_signature: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub zip64_end: bool,
    pub(crate) trailing: Vec<u8>,
}

pub(crate) fn zip(entries: impl IntoIterator<Item = Entry>) -> Vec<u8> {
    Zip { entries: entries.into_iter().collect(), ..Zip::default() }.bytes()
}

pub(crate) fn extra(id: u16, data: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes()[..], &(data.len() as u16).to_le_bytes(), data].concat()
}

pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::new(9).unwrap());
    let mut out = vec![0; compressor.deflate_compress_bound(content.len())];
    let len = compressor.deflate_compress(content, &mut out).unwrap();
    out.truncate(len);
    out
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn u16(&mut self, value: u16) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }
    fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }
    fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }
    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

impl Zip {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Bytes(self.prefix.clone());
        let base = if self.absolute { 0 } else { self.prefix.len() };
        let mut central = Vec::new();
        for e in &self.entries {
            let offset = e.offset.unwrap_or((out.0.len() - base) as u32);
            let data = if e.deflate { deflate(&e.content) } else { e.content.clone() };
            let method = e.method.unwrap_or(if e.deflate { 8 } else { 0 });
            let crc = e.crc.unwrap_or_else(|| crc32fast::hash(&e.content));
            let size = e.size.unwrap_or(e.content.len() as u32);
            let packed = e.packed.unwrap_or(data.len() as u32);
            let flags = e.flags | if e.descriptor.is_some() { 8 } else { 0 };
            let name = e.local_name.as_ref().unwrap_or(&e.name);
            let needed = if e.zip64 { 45 } else { 20 };
            let mut local_extra = e.local_extra.clone();
            let mut central_extra = e.central_extra.clone();
            if e.zip64 {
                let sizes = [u64::from(size).to_le_bytes(), u64::from(packed).to_le_bytes()].concat();
                local_extra.splice(0..0, extra(1, &sizes));
                let all = [&sizes[..], &u64::from(offset).to_le_bytes()].concat();
                central_extra.splice(0..0, extra(1, &all));
            }
            out.raw(b"PK\x03\x04").u16(needed).u16(flags).u16(method).u32(e.time);
            match (&e.descriptor, e.zip64) {
                (Some(_), false) => out.u32(0).u32(0).u32(0),
                (None, false) => out.u32(crc).u32(packed).u32(size),
                (_, true) => out.u32(crc).u32(u32::MAX).u32(u32::MAX),
            };
            out.u16(name.len() as u16).u16(local_extra.len() as u16).raw(name).raw(&local_extra);
            out.raw(&data);
            if let Some((width, signature)) = e.descriptor {
                if signature {
                    out.raw(b"PK\x07\x08");
                }
                out.u32(crc);
                if width == 8 {
                    out.u64(u64::from(packed)).u64(u64::from(size));
                } else {
                    out.u32(packed).u32(size);
                }
            }
            out.raw(&e.gap);
            let mut c = Bytes(Vec::new());
            c.raw(b"PK\x01\x02").u16(e.made_by).u16(needed).u16(flags).u16(method).u32(e.time).u32(crc);
            if e.zip64 {
                c.u32(u32::MAX).u32(u32::MAX);
            } else {
                c.u32(packed).u32(size);
            }
            c.u16(e.name.len() as u16).u16(central_extra.len() as u16).u16(e.comment.len() as u16);
            c.u16(0).u16(0).u32(e.attributes).u32(if e.zip64 { u32::MAX } else { offset });
            c.raw(&e.name).raw(&central_extra).raw(&e.comment);
            central.push(c.0);
        }
        out.raw(&self.before_directory);
        let start = out.0.len();
        let order = self.central_order.clone().unwrap_or((0..central.len()).collect());
        for &index in &order {
            out.raw(&central[index]);
        }
        out.raw(&self.directory_signature);
        let len = out.0.len() - start;
        let (count, offset) = (order.len(), start - base);
        if self.zip64_end {
            let at = out.0.len() as u64;
            out.raw(b"PK\x06\x06").u64(44).u16(45).u16(45).u32(0).u32(0);
            out.u64(count as u64).u64(count as u64).u64(len as u64).u64(offset as u64);
            out.raw(b"PK\x06\x07").u32(0).u64(at).u32(1);
            out.raw(b"PK\x05\x06").u32(0).u16(u16::MAX).u16(u16::MAX).u32(u32::MAX).u32(u32::MAX);
        } else {
            out.raw(b"PK\x05\x06").u32(0).u16(count as u16).u16(count as u16);
            out.u32(len as u32).u32(offset as u32);
        }
        out.u16(self.comment.len() as u16).raw(&self.comment).raw(&self.trailing);
        out.0
    }
}
