//! A constant pool that is written as it grows, with no check of what is put in.

use std::collections::HashMap;

/// An index that no pool here has.
pub(super) const BEHIND: u16 = 60_000;

#[derive(Clone, Default)]
pub(super) struct Pool {
    bytes: Vec<u8>,
    entries: u16,
    known: HashMap<Vec<u8>, u16>,
}

impl Pool {
    /// The index of a constant of these bytes, tag first.
    pub(super) fn raw(&mut self, constant: Vec<u8>) -> u16 {
        if let Some(&index) = self.known.get(&constant) {
            return index;
        }
        let index = self.entries + 1;
        self.entries += if matches!(constant.first(), Some(5 | 6)) { 2 } else { 1 };
        self.bytes.extend(&constant);
        self.known.insert(constant, index);
        index
    }

    /// A constant of one or two indices.
    pub(super) fn of(&mut self, tag: u8, items: &[u16]) -> u16 {
        let mut constant = vec![tag];
        constant.extend(items.iter().flat_map(|item| item.to_be_bytes()));
        self.raw(constant)
    }

    pub(super) fn utf8(&mut self, text: impl AsRef<[u8]>) -> u16 {
        let text = text.as_ref();
        let mut constant = vec![1];
        constant.extend((text.len() as u16).to_be_bytes());
        constant.extend(text);
        self.raw(constant)
    }

    pub(super) fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.of(7, &[name])
    }

    pub(super) fn name_and_type(&mut self, name: impl AsRef<[u8]>, descriptor: &str) -> u16 {
        let items = [self.utf8(name), self.utf8(descriptor)];
        self.of(12, &items)
    }

    /// Fieldref (9), Methodref (10) or InterfaceMethodref (11).
    pub(super) fn member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> u16 {
        let items = [self.class(class), self.name_and_type(name, descriptor)];
        self.of(tag, &items)
    }

    pub(super) fn handle(&mut self, kind: u8, reference: u16) -> u16 {
        let [high, low] = reference.to_be_bytes();
        self.raw(vec![15, kind, high, low])
    }

    /// A constant that is of no other kind than Integer.
    pub(super) fn integer(&mut self) -> u16 {
        self.raw(vec![3, 0, 0, 0, 7])
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let mut all = (self.entries + 1).to_be_bytes().to_vec();
        all.extend(self.bytes);
        all
    }
}
