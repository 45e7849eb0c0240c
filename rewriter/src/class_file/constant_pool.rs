//! JVMS 4.4 The Constant Pool: the offset of every entry, and typed access.

use super::Reader;
use super::well_known::{Noted, WellKnown, candidates};
use crate::error::{ClassError, ClassErrorKind};
use crate::runtime::is_owner;

/// The tags of JVMS table 4.4-A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the JVMS's own")]
pub enum Tag {
    Utf8 = 1,
    Integer = 3,
    Float = 4,
    Long = 5,
    Double = 6,
    Class = 7,
    String = 8,
    Fieldref = 9,
    Methodref = 10,
    InterfaceMethodref = 11,
    NameAndType = 12,
    MethodHandle = 15,
    MethodType = 16,
    Dynamic = 17,
    InvokeDynamic = 18,
    Module = 19,
    Package = 20,
}

impl Tag {
    /// The tag with this value, if JVMS table 4.4-A lists it.
    pub fn from_u8(value: u8) -> Option<Self> {
        Some(match value {
            1 => Self::Utf8,
            3 => Self::Integer,
            4 => Self::Float,
            5 => Self::Long,
            6 => Self::Double,
            7 => Self::Class,
            8 => Self::String,
            9 => Self::Fieldref,
            10 => Self::Methodref,
            11 => Self::InterfaceMethodref,
            12 => Self::NameAndType,
            15 => Self::MethodHandle,
            16 => Self::MethodType,
            17 => Self::Dynamic,
            18 => Self::InvokeDynamic,
            19 => Self::Module,
            20 => Self::Package,
            _ => return None,
        })
    }

    /// The name in JVMS table 4.4-A without its `CONSTANT_`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "Utf8",
            Self::Integer => "Integer",
            Self::Float => "Float",
            Self::Long => "Long",
            Self::Double => "Double",
            Self::Class => "Class",
            Self::String => "String",
            Self::Fieldref => "Fieldref",
            Self::Methodref => "Methodref",
            Self::InterfaceMethodref => "InterfaceMethodref",
            Self::NameAndType => "NameAndType",
            Self::MethodHandle => "MethodHandle",
            Self::MethodType => "MethodType",
            Self::Dynamic => "Dynamic",
            Self::InvokeDynamic => "InvokeDynamic",
            Self::Module => "Module",
            Self::Package => "Package",
        }
    }
}

/// The bytes of an entry with this tag, the tag included, and [`UNCOMMON`]. Those of a Utf8 vary.
const SIZES: [u8; 256] = {
    let mut sizes = [UNCOMMON; 256];
    let mut tag = 3;
    while tag < 21 {
        sizes[tag] = match tag {
            3 | 4 | 9..=12 | 17 | 18 => 5,
            5 | 6 => 9 | UNCOMMON,
            7 | 8 | 16 | 19 | 20 => 3,
            15 => 4,
            _ => UNCOMMON,
        };
        tag += 1;
    }
    sizes
};
/// Marks Long and Double, which take two indices, and tags that do not exist, whose size is 0.
const UNCOMMON: u8 = 1 << 7;

/// Where the indices of other entries stand in the four bytes behind a tag: a shift and a mask that leave one of them
/// in each half. The index of a Dynamic or InvokeDynamic into BootstrapMethods is none.
const REFERENCES: [(u8, u32); 256] = {
    let mut references = [(0, 0); 256];
    let mut tag = 7;
    while tag < 21 {
        references[tag] = match tag {
            7 | 8 | 16 | 19 | 20 => (16, 0xffff),
            9..=12 => (0, 0xffff_ffff),
            15 => (8, 0xffff),
            17 | 18 => (0, 0xffff),
            _ => (0, 0),
        };
        tag += 1;
    }
    references
};

/// The constant pool as it stands in the input: entry offsets, nothing decoded.
#[derive(Debug, Clone)]
pub struct ConstantPool<'a> {
    bytes: &'a [u8],
    /// Offset of each entry's tag; 0 for index 0 and behind a Long or Double.
    offsets: Vec<u32>,
    start: usize,
    end: usize,
    noted: Noted,
    highest_reference: u16,
}

impl<'a> ConstantPool<'a> {
    /// Walks the pool whose `constant_pool_count` stands at `start`.
    pub(crate) fn parse(bytes: &'a [u8], start: usize, mut offsets: Vec<u32>) -> Result<Self, ClassError> {
        const STRUCTURE: &str = "constant_pool";
        let mut r = Reader::new(bytes, start, STRUCTURE);
        let count = usize::from(r.u2()?);
        let mut position = r.position();
        // Every entry takes at least three bytes, so a lying count cannot make this large.
        if count.saturating_sub(1).saturating_mul(3) > bytes.len() * 2 {
            return Err(r.error(ClassErrorKind::Truncated));
        }
        offsets.clear();
        offsets.resize(count.max(1), 0);
        let mut noted = Noted::default();
        // Of two indices in one entry the maximum of each is taken.
        let (mut highest_first, mut highest_second) = (0, 0);
        let mut index = 1;
        while index < count {
            // Whatever the entry, the class goes on for four bytes and more behind its tag.
            let Some(&[tag, a, b, initial, d]) = bytes.get(position..position + 5) else {
                return Err(ClassError::new(ClassErrorKind::Truncated, position, STRUCTURE));
            };
            offsets[index] = position as u32;
            // By itself: the next entry's place follows from the length alone then.
            if tag == Tag::Utf8 as u8 {
                let length = usize::from(u16::from_be_bytes([a, b]));
                let candidates = candidates(length, initial);
                if candidates != 0
                    && let Some(text) = bytes.get(position + 3..position + 3 + length)
                {
                    noted.note(text, candidates, index as u16);
                }
                position += 3 + length;
                index += 1;
                continue;
            }
            let (shift, mask) = REFERENCES[usize::from(tag)];
            let references = u32::from_be_bytes([a, b, initial, d]) >> shift & mask;
            highest_first = highest_first.max(references >> 16);
            highest_second = highest_second.max(references & 0xffff);
            let step = SIZES[usize::from(tag)];
            if step & UNCOMMON != 0 {
                if step == UNCOMMON {
                    return Err(ClassError::new(ClassErrorKind::BadConstantTag(tag), position, STRUCTURE));
                }
                index += 1;
            }
            position += usize::from(step & !UNCOMMON);
            index += 1;
        }
        if position > bytes.len() {
            return Err(ClassError::new(ClassErrorKind::Truncated, bytes.len(), STRUCTURE));
        }
        // JVMS 4.4.5: the index behind a Long or Double must exist, too; else it would be the next one appended.
        if index > count.max(1) {
            return Err(ClassError::new(ClassErrorKind::Malformed, position, STRUCTURE));
        }
        let highest_reference = highest_first.max(highest_second) as u16;
        Ok(Self { bytes, offsets, start, end: position, noted, highest_reference })
    }

    /// `constant_pool_count`: the number of indices, index 0 included.
    pub fn count(&self) -> u16 {
        let b = &self.bytes[self.start..];
        u16::from_be_bytes([b[0], b[1]])
    }

    /// Offset of `constant_pool_count` in the class file.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Offset of the first byte behind the pool.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The index of a Utf8 entry with this text, or 0.
    pub(crate) fn well_known(&self, which: WellKnown) -> u16 {
        self.noted.index(which)
    }

    /// Whether the Utf8 entry at `index` has this text.
    #[inline(always)]
    pub(crate) fn is(&self, index: u16, which: WellKnown) -> bool {
        self.noted.is(index, which).unwrap_or_else(|| self.utf8_or_empty(index) == which.text())
    }

    /// Whether a Class entry names what injected code calls.
    pub fn names_the_runtime(&self) -> bool {
        (self.noted.mentions_runtime || self.well_known(WellKnown::BootProbes) != 0)
            && self.indices().any(|index| self.class_name(index).is_ok_and(is_owner))
    }

    /// The same pool over `bytes`, which must be those that it was parsed from.
    pub(super) fn over(self, bytes: &[u8]) -> ConstantPool<'_> {
        let Self { offsets, start, end, noted, highest_reference, .. } = self;
        ConstantPool { bytes, offsets, start, end, noted, highest_reference }
    }

    /// Gives the offset buffer back for the next class.
    pub fn into_buffer(self) -> Vec<u32> {
        self.offsets
    }

    #[cold]
    fn bad(&self, index: u16) -> ClassError {
        let offset = self.offsets.get(usize::from(index)).map_or(self.start, |o| *o as usize);
        ClassError::new(ClassErrorKind::BadConstantIndex(index), offset, "constant_pool")
    }

    /// The tag of an entry, or `None` for an index that holds no entry.
    pub fn tag(&self, index: u16) -> Option<Tag> {
        self.offset(index).and_then(|offset| Tag::from_u8(self.bytes[offset]))
    }

    /// The offset of an entry's tag in the class file.
    #[inline]
    pub fn offset(&self, index: u16) -> Option<usize> {
        match self.offsets.get(usize::from(index)) {
            Some(&offset) if offset != 0 => Some(offset as usize),
            _ => None,
        }
    }

    /// The bytes of an entry behind its tag: at least as many as its fixed part.
    #[inline]
    fn entry(&self, index: u16, tag: Tag) -> Result<&'a [u8], ClassError> {
        match self.offset(index) {
            Some(offset) if self.bytes[offset] == tag as u8 => Ok(&self.bytes[offset + 1..]),
            _ => Err(self.bad(index)),
        }
    }

    /// The modified UTF-8 bytes of a Utf8 entry (JVMS 4.4.7).
    ///
    /// # Errors
    /// The index names no Utf8 entry.
    #[inline]
    pub fn utf8(&self, index: u16) -> Result<&'a [u8], ClassError> {
        let b = self.entry(index, Tag::Utf8)?;
        let length = usize::from(u16::from_be_bytes([b[0], b[1]]));
        Ok(&b[2..2 + length])
    }

    /// As [`utf8`](Self::utf8), with the empty name for a bad index: an attribute that has no name is
    /// an unknown attribute.
    #[inline]
    pub fn utf8_or_empty(&self, index: u16) -> &'a [u8] {
        self.utf8(index).unwrap_or_default()
    }

    /// The one index inside a Class, String, MethodType, Module or Package entry.
    ///
    /// # Errors
    /// The index names no entry of this kind.
    pub fn single(&self, index: u16, tag: Tag) -> Result<u16, ClassError> {
        let b = self.entry(index, tag)?;
        Ok(u16::from_be_bytes([b[0], b[1]]))
    }

    /// The two indices inside a Fieldref, Methodref, InterfaceMethodref, NameAndType, Dynamic or
    /// InvokeDynamic entry.
    ///
    /// # Errors
    /// The index names no entry of this kind.
    pub fn pair(&self, index: u16, tag: Tag) -> Result<(u16, u16), ClassError> {
        let b = self.entry(index, tag)?;
        Ok((u16::from_be_bytes([b[0], b[1]]), u16::from_be_bytes([b[2], b[3]])))
    }

    /// The name inside a Class entry.
    ///
    /// # Errors
    /// The index names no Class entry, or that entry no Utf8.
    pub fn class_name(&self, index: u16) -> Result<&'a [u8], ClassError> {
        self.utf8(self.single(index, Tag::Class)?)
    }

    /// The value of an Integer or Float entry, as its four bytes.
    ///
    /// # Errors
    /// The index names no entry of this kind.
    pub fn four_bytes(&self, index: u16, tag: Tag) -> Result<u32, ClassError> {
        let b = self.entry(index, tag)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// The value of a Long or Double entry, as its eight bytes.
    ///
    /// # Errors
    /// The index names no entry of this kind.
    pub fn eight_bytes(&self, index: u16, tag: Tag) -> Result<u64, ClassError> {
        let b = self.entry(index, tag)?;
        Ok(u64::from_be_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
    }

    /// The kind and the reference of a MethodHandle entry (JVMS 4.4.8).
    ///
    /// # Errors
    /// The index names no MethodHandle.
    pub fn method_handle(&self, index: u16) -> Result<(u8, u16), ClassError> {
        let b = self.entry(index, Tag::MethodHandle)?;
        Ok((b[0], u16::from_be_bytes([b[1], b[2]])))
    }

    /// Class, name and descriptor of a Fieldref, Methodref or InterfaceMethodref.
    ///
    /// # Errors
    /// The index names no such entry, or one with broken parts.
    pub fn member_ref(&self, index: u16) -> Result<MemberRef<'a>, ClassError> {
        let tag = match self.tag(index) {
            Some(tag @ (Tag::Fieldref | Tag::Methodref | Tag::InterfaceMethodref)) => tag,
            _ => return Err(self.bad(index)),
        };
        let (class, name_and_type) = self.pair(index, tag)?;
        let (name, descriptor) = self.name_and_type(name_and_type)?;
        Ok(MemberRef { tag, class: self.class_name(class)?, name, descriptor })
    }

    /// Name and descriptor inside a NameAndType entry.
    ///
    /// # Errors
    /// The index names no such entry, or one with broken parts.
    pub fn name_and_type(&self, index: u16) -> Result<(&'a [u8], &'a [u8]), ClassError> {
        let (name, descriptor) = self.pair(index, Tag::NameAndType)?;
        Ok((self.utf8(name)?, self.utf8(descriptor)?))
    }

    /// Name and descriptor of any entry that an invoke or field instruction may name, Dynamic and
    /// InvokeDynamic included.
    ///
    /// # Errors
    /// The index names no such entry, or one with broken parts.
    pub fn referenced_name_and_type(&self, index: u16) -> Result<(&'a [u8], &'a [u8]), ClassError> {
        self.name_and_type(self.name_and_type_of(index)?)
    }

    /// The index of the descriptor of such an entry; `None`: there is none.
    #[inline]
    pub(crate) fn descriptor_of(&self, index: u16) -> Option<u16> {
        let item = |at: usize| u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]);
        let is = |at: &usize, tag: Tag| self.bytes[*at] == tag as u8;
        let member = self.offset(index).filter(|at| matches!(self.bytes[*at], 9..=11 | 17 | 18))?;
        let both = self.offset(item(member + 3)).filter(|at| is(at, Tag::NameAndType))?;
        self.offset(item(both + 1)).filter(|at| is(at, Tag::Utf8))?;
        Some(item(both + 3))
    }

    /// The index of the NameAndType of such an entry.
    fn name_and_type_of(&self, index: u16) -> Result<u16, ClassError> {
        match self.tag(index) {
            Some(
                tag @ (Tag::Fieldref
                | Tag::Methodref
                | Tag::InterfaceMethodref
                | Tag::Dynamic
                | Tag::InvokeDynamic),
            ) => self.pair(index, tag).map(|(_, name_and_type)| name_and_type),
            _ => Err(self.bad(index)),
        }
    }

    /// The highest index that an entry names (JVMS 4.4).
    pub(crate) fn highest_reference(&self) -> u16 {
        self.highest_reference
    }

    /// The indices that hold an entry, in order.
    pub fn indices(&self) -> impl Iterator<Item = u16> + '_ {
        self.offsets.iter().enumerate().filter(|(_, offset)| **offset != 0).map(|(index, _)| index as u16)
    }
}

/// What a Fieldref, Methodref or InterfaceMethodref names (JVMS 4.4.2).
#[derive(Debug, Clone, Copy)]
pub struct MemberRef<'a> {
    /// Which of the three.
    pub tag: Tag,
    /// Internal name of the class, or an array descriptor.
    pub class: &'a [u8],
    /// Unqualified name.
    pub name: &'a [u8],
    /// Field or method descriptor.
    pub descriptor: &'a [u8],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf8(text: &str) -> Vec<u8> {
        [&[1], &(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()
    }

    /// Behind 8 bytes, as in a class file.
    fn bytes(count: u16, entries: &[Vec<u8>], behind: usize) -> Vec<u8> {
        [&[0; 8], &count.to_be_bytes()[..], &entries.concat(), &vec![0; behind]].concat()
    }

    #[test]
    fn an_index_without_an_entry_has_no_offset() {
        let entries = [utf8("a"), vec![5, 0, 0, 0, 0, 0, 0, 0, 9], utf8("b")];
        let bytes = bytes(5, &entries, 8);
        let pool = ConstantPool::parse(&bytes, 8, Vec::new()).unwrap();
        let offsets: Vec<_> = (0..6).map(|index| pool.offset(index)).collect();
        assert_eq!(offsets, [None, Some(10), Some(14), None, Some(23), None]);
        assert_eq!(pool.indices().collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!((pool.start(), pool.end(), pool.count()), (8, 27, 5));
    }

    #[test]
    fn the_runtime_is_named_by_a_class_and_by_no_other_text() {
        let names = |entries: &[Vec<u8>]| {
            let bytes = bytes(1 + entries.len() as u16, entries, 8);
            ConstantPool::parse(&bytes, 8, Vec::new()).unwrap().names_the_runtime()
        };
        for owner in ["instrument/runtime/HeapProxy", crate::runtime::BOOT_PROBES] {
            assert!(names(&[utf8(owner), vec![7, 0, 1]]), "{owner}");
            assert!(!names(&[utf8(owner), vec![8, 0, 1]]), "{owner}");
        }
        assert!(!names(&[utf8("instrument/runtime/HeapProxy"), utf8("other/A"), vec![7, 0, 2]]));
    }

    #[test]
    fn a_pool_that_is_cut_off_is_an_error_of_the_pool() {
        let text = utf8("0123456789");
        for (length, expected) in
            [(10 + 13, None), (10 + 12, Some(22)), (10 + 5, Some(15)), (10 + 4, Some(10))]
        {
            let bytes = &bytes(2, std::slice::from_ref(&text), 0)[..length];
            let found = ConstantPool::parse(bytes, 8, Vec::new()).map(|pool| pool.end());
            let error = found.as_ref().err().map(|error| (error.kind, error.offset));
            assert_eq!(error, expected.map(|offset| (ClassErrorKind::Truncated, offset)), "{length}");
        }
    }
}
