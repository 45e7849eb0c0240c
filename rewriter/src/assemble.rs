//! Classes that no compiler writes, put together: a constant pool in the making, static methods and fields.

use crate::class_file::Tag;

pub(crate) const OBJECT: &str = "java/lang/Object";
const MAGIC: u32 = 0xCAFE_BABE;
/// Java 8.
const MAJOR: u16 = 52;
pub(crate) const ACC_PUBLIC: u16 = 0x0001;
pub(crate) const ACC_PRIVATE: u16 = 0x0002;
pub(crate) const ACC_STATIC: u16 = 0x0008;
const ACC_FINAL: u16 = 0x0010;
const ACC_SUPER: u16 = 0x0020;
pub(crate) const ACC_SYNTHETIC: u16 = 0x1000;

/// A constant pool in the making; an entry that is there is used again.
#[derive(Default)]
pub(crate) struct Pool(Vec<Vec<u8>>);

impl Pool {
    fn entry(&mut self, tag: Tag, info: &[u8]) -> u16 {
        let entry = [&[tag as u8], info].concat();
        let known = self.0.iter().position(|known| *known == entry);
        (known.unwrap_or_else(|| {
            self.0.push(entry);
            self.0.len() - 1
        }) + 1) as u16
    }

    pub(crate) fn utf8(&mut self, text: &str) -> u16 {
        self.entry(Tag::Utf8, &[&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat())
    }

    pub(crate) fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.entry(Tag::Class, &name.to_be_bytes())
    }

    pub(crate) fn string(&mut self, text: &str) -> u16 {
        let text = self.utf8(text);
        self.entry(Tag::String, &text.to_be_bytes())
    }

    fn pair(&mut self, tag: Tag, first: u16, second: u16) -> u16 {
        self.entry(tag, &[first.to_be_bytes(), second.to_be_bytes()].concat())
    }

    pub(crate) fn member(&mut self, tag: Tag, class: &str, name: &str, descriptor: &str) -> u16 {
        let class = self.class(class);
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.pair(Tag::NameAndType, name, descriptor);
        self.pair(tag, class, name_and_type)
    }

    pub(crate) fn method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(Tag::Methodref, class, name, descriptor)
    }
}

/// A static method: one attribute, without exception table.
pub(crate) struct Method<'a> {
    pub(crate) access: u16,
    pub(crate) name: &'a str,
    pub(crate) descriptor: &'a str,
    pub(crate) code: &'a [u8],
    /// `max_stack` and `max_locals` (JVMS 4.7.3).
    pub(crate) stack: u16,
    pub(crate) locals: u16,
    /// The one entry of its StackMapTable.
    pub(crate) frame: Option<Vec<u8>>,
}

impl Method<'_> {
    /// As the class file has it.
    pub(crate) fn bytes(&self, pool: &mut Pool) -> Vec<u8> {
        let mut attributes = Vec::new();
        if let Some(frame) = &self.frame {
            words(&mut attributes, &[pool.utf8("StackMapTable"), 0, frame.len() as u16 + 2, 1]);
            attributes.extend(frame);
        }
        let mut out = Vec::new();
        words(&mut out, &[self.access | ACC_STATIC, pool.utf8(self.name), pool.utf8(self.descriptor)]);
        let length = (12 + self.code.len() + attributes.len()) as u16;
        let size = self.code.len() as u16;
        words(&mut out, &[1, pool.utf8("Code"), 0, length, self.stack, self.locals, 0, size]);
        out.extend(self.code);
        words(&mut out, &[0, u16::from(self.frame.is_some())]);
        out.extend(attributes);
        out
    }
}

/// A final class with these private static fields (name and descriptor) and methods. `pool`: what the methods name.
pub(crate) fn class(
    access: u16,
    name: &str,
    fields: &[(&str, &str)],
    methods: &[Vec<u8>],
    mut pool: Pool,
) -> Vec<u8> {
    let (this, object) = (pool.class(name), pool.class(OBJECT));
    let fields: Vec<[u16; 4]> = fields
        .iter()
        .map(|(name, descriptor)| {
            [ACC_PRIVATE | ACC_STATIC | ACC_SYNTHETIC, pool.utf8(name), pool.utf8(descriptor), 0]
        })
        .collect();
    let mut class = MAGIC.to_be_bytes().to_vec();
    words(&mut class, &[0, MAJOR, pool.0.len() as u16 + 1]);
    class.extend(pool.0.concat());
    // No interfaces.
    words(&mut class, &[access | ACC_FINAL | ACC_SUPER, this, object, 0]);
    words(&mut class, &[fields.len() as u16]);
    fields.iter().for_each(|field| words(&mut class, field));
    words(&mut class, &[methods.len() as u16]);
    class.extend(methods.concat());
    words(&mut class, &[0]);
    class
}

pub(crate) fn words(out: &mut Vec<u8>, words: &[u16]) {
    out.extend(words.iter().flat_map(|word| word.to_be_bytes()));
}
