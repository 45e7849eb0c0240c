//! Extends a constant pool (JVMS 4.4). Old entries keep index and bytes; new ones are appended.

use super::Reason;
use crate::class_file::well_known::WellKnown;
use crate::class_file::{ConstantPool, Tag};
use crate::code::hooks::{Hook, METHOD_EVENT, OBJECT_EVENT, Reach};
use std::collections::HashMap;

/// The highest `constant_pool_count` that fits its two bytes.
const MAX_COUNT: u32 = 65_535;
/// An index that no constant has: it lies behind every pool.
pub(crate) const NO_INDEX: u16 = u16::MAX;
const STACK_MAP_TABLE: &str = "StackMapTable";

/// Entries that exist once per class, by index; 0 where not yet known.
#[derive(Debug, Clone, Copy)]
struct Shared {
    hooks: [u16; Hook::ALL.len()],
    throwable: u16,
}

impl Default for Shared {
    fn default() -> Self {
        Self { hooks: [0; Hook::ALL.len()], throwable: 0 }
    }
}

/// A state to go back to when a method is given up half-way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    length: usize,
    next: u32,
}

/// The new tail of a class's constant pool.
#[derive(Debug, Default)]
pub(crate) struct ConstantPoolAppender {
    bytes: Vec<u8>,
    next: u32,
    reach: Reach,
    shared: Shared,
    /// Utf8 and Class entries for the runtime's names, by text: looked through once per hook and class.
    texts: Vec<(&'static str, u16)>,
    classes: Vec<(&'static str, u16)>,
    /// The pool's own Integer entries, by value; looked for when the first one is requested.
    integers: Option<Vec<(u32, u16)>>,
    /// What the calls of a user of this crate name, by [`key`].
    own: HashMap<Vec<u8>, u16>,
}

impl ConstantPoolAppender {
    /// Starts behind the last entry of `pool`; hooks will be called as `reach` says.
    pub(crate) fn reset(&mut self, pool: &ConstantPool<'_>, reach: Reach) {
        self.reach = reach;
        self.bytes.clear();
        self.integers = None;
        self.own.clear();
        self.next = u32::from(pool.count()).max(1);
        self.shared = Shared::default();
        self.classes.clear();
        self.texts.clear();
        let known = [
            (METHOD_EVENT, WellKnown::MethodEvent),
            (OBJECT_EVENT, WellKnown::ObjectEvent),
            (STACK_MAP_TABLE, WellKnown::StackMapTable),
        ];
        let known = known.map(|(text, which)| (text, pool.well_known(which)));
        self.texts.extend(known.iter().filter(|(_, index)| *index != 0));
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { length: self.bytes.len(), next: self.next }
    }

    pub(crate) fn roll_back(&mut self, mark: Mark) {
        self.bytes.truncate(mark.length);
        self.next = mark.next;
        let is_left = |index: u16| u32::from(index) < mark.next;
        let shared = self.shared.hooks.iter_mut().chain([&mut self.shared.throwable]);
        shared.filter(|index| !is_left(**index)).for_each(|index| *index = 0);
        self.texts.retain(|text| is_left(text.1));
        self.classes.retain(|class| is_left(class.1));
        self.own.retain(|_, index| is_left(*index));
    }

    /// The new `constant_pool_count`.
    pub(crate) fn count(&self) -> u16 {
        self.next as u16
    }

    /// The appended entries.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The Methodref of a runtime hook.
    pub(crate) fn hook(&mut self, hook: Hook) -> Result<u16, Reason> {
        let known = self.shared.hooks[hook as usize];
        if known != 0 {
            return Ok(known);
        }
        let class = self.class(hook.owner_by(self.reach))?;
        let name = self.utf8(hook.name())?;
        let descriptor = self.utf8(hook.descriptor())?;
        let name_and_type = self.pair(Tag::NameAndType, name, descriptor)?;
        let index = self.pair(Tag::Methodref, class, name_and_type)?;
        self.shared.hooks[hook as usize] = index;
        Ok(index)
    }

    /// The Class entry of `java/lang/Throwable`.
    pub(crate) fn throwable(&mut self, pool: &ConstantPool<'_>) -> Result<u16, Reason> {
        if self.shared.throwable == 0 {
            let utf8 = pool.well_known(WellKnown::Throwable);
            let existing = if utf8 == 0 {
                None
            } else {
                pool.indices().find(|&index| pool.single(index, Tag::Class) == Ok(utf8))
            };
            self.shared.throwable = match existing {
                Some(index) => index,
                None if utf8 != 0 => self.entry(Tag::Class, &utf8.to_be_bytes())?,
                None => self.class("java/lang/Throwable")?,
            };
        }
        Ok(self.shared.throwable)
    }

    /// The Utf8 entry `StackMapTable`.
    pub(crate) fn stack_map_table(&mut self) -> Result<u16, Reason> {
        self.utf8(STACK_MAP_TABLE)
    }

    /// An Integer entry: an existing one if the pool has it.
    pub(crate) fn integer(&mut self, pool: &ConstantPool<'_>, value: u32) -> Result<u16, Reason> {
        let integers = self.integers.get_or_insert_with(|| {
            let value = |index| pool.four_bytes(index, Tag::Integer).map(|value| (value, index));
            let mut found: Vec<(u32, u16)> = pool.indices().filter_map(|index| value(index).ok()).collect();
            found.sort_unstable();
            found
        });
        let at = integers.partition_point(|known| known.0 < value);
        match integers.get(at) {
            Some(&(known, index)) if known == value => Ok(index),
            _ => self.entry(Tag::Integer, &value.to_be_bytes()),
        }
    }

    /// A new String entry: these parts one after another, in modified UTF-8.
    pub(crate) fn string(&mut self, parts: &[&[u8]]) -> Result<u16, Reason> {
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        let length = u16::try_from(length).map_err(|_| Reason::ConstantPoolFull)?;
        let utf8 = self.entry(Tag::Utf8, &length.to_be_bytes())?;
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.entry(Tag::String, &utf8.to_be_bytes())
    }

    /// The Utf8 entry of a text: an existing one if the pool has it.
    pub(crate) fn text_named(&mut self, pool: &ConstantPool<'_>, text: &[u8]) -> Result<u16, Reason> {
        match pool.indices().find(|&index| pool.utf8(index) == Ok(text)) {
            Some(index) => Ok(index),
            None => self.own_text(text),
        }
    }

    /// A new method of the class itself: the entry of its name, and a new Methodref or InterfaceMethodref (`tag`).
    pub(crate) fn own_method(
        &mut self,
        tag: Tag,
        this_class: u16,
        name: &[u8],
        descriptor: u16,
    ) -> Result<(u16, u16), Reason> {
        let length = u16::try_from(name.len()).map_err(|_| Reason::ConstantPoolFull)?;
        let utf8 = self.entry(Tag::Utf8, &length.to_be_bytes())?;
        self.bytes.extend_from_slice(name);
        let name_and_type = self.pair(Tag::NameAndType, utf8, descriptor)?;
        Ok((utf8, self.pair(tag, this_class, name_and_type)?))
    }

    /// The Class entry with this name: an existing one if the pool has it.
    pub(crate) fn class_named(&mut self, pool: &ConstantPool<'_>, name: &[u8]) -> Result<u16, Reason> {
        if let Some(index) = pool.indices().find(|&index| pool.class_name(index) == Ok(name)) {
            return Ok(index);
        }
        let length = u16::try_from(name.len()).map_err(|_| Reason::BadCode)?;
        let utf8 = self.entry(Tag::Utf8, &length.to_be_bytes())?;
        self.bytes.extend_from_slice(name);
        self.entry(Tag::Class, &utf8.to_be_bytes())
    }

    /// The Methodref of a method that a user of this crate names.
    pub(crate) fn named_method(
        &mut self,
        owner: &[u8],
        name: &[u8],
        descriptor: &[u8],
    ) -> Result<u16, Reason> {
        self.own(Tag::Methodref, &[owner, name, descriptor], |this| {
            let class = this.own(Tag::Class, &[owner], |this| {
                let text = this.own_text(owner)?;
                this.entry(Tag::Class, &text.to_be_bytes())
            })?;
            let (name, descriptor) = (this.own_text(name)?, this.own_text(descriptor)?);
            let name_and_type = this.pair(Tag::NameAndType, name, descriptor)?;
            this.pair(Tag::Methodref, class, name_and_type)
        })
    }

    /// The String with this text of a user of this crate, in modified UTF-8.
    pub(crate) fn own_string(&mut self, text: &[u8]) -> Result<u16, Reason> {
        self.own(Tag::String, &[text], |this| {
            let text = this.own_text(text)?;
            this.entry(Tag::String, &text.to_be_bytes())
        })
    }

    /// The Long or Double (`tag`) with these bits of a user of this crate.
    pub(crate) fn own_wide(&mut self, tag: Tag, bits: u64) -> Result<u16, Reason> {
        // It takes two indices (JVMS 4.4.5).
        if self.next + 2 > MAX_COUNT {
            return Err(Reason::ConstantPoolFull);
        }
        // No byte is 0.
        let name: Vec<u8> =
            bits.to_be_bytes().iter().flat_map(|byte| [1 + (byte >> 4), 1 + (byte & 15)]).collect();
        self.own(tag, &[&name], |this| {
            let index = this.entry(tag, &bits.to_be_bytes())?;
            this.next += 1;
            Ok(index)
        })
    }

    fn own_text(&mut self, text: &[u8]) -> Result<u16, Reason> {
        self.own(Tag::Utf8, &[text], |this| {
            let length = u16::try_from(text.len()).map_err(|_| Reason::ConstantPoolFull)?;
            let index = this.entry(Tag::Utf8, &length.to_be_bytes())?;
            this.bytes.extend_from_slice(text);
            Ok(index)
        })
    }

    /// What was appended before under these names, or what `append` appends.
    fn own(
        &mut self,
        tag: Tag,
        names: &[&[u8]],
        append: impl FnOnce(&mut Self) -> Result<u16, Reason>,
    ) -> Result<u16, Reason> {
        let key = key(tag, names);
        match self.own.get(&key) {
            Some(index) => Ok(*index),
            None => {
                let index = append(self)?;
                self.own.insert(key, index);
                Ok(index)
            }
        }
    }

    fn class(&mut self, name: &'static str) -> Result<u16, Reason> {
        if let Some(known) = self.classes.iter().find(|known| known.0 == name) {
            return Ok(known.1);
        }
        let text = self.utf8(name)?;
        let index = self.entry(Tag::Class, &text.to_be_bytes())?;
        self.classes.push((name, index));
        Ok(index)
    }

    fn utf8(&mut self, text: &'static str) -> Result<u16, Reason> {
        if let Some(known) = self.texts.iter().find(|known| known.0 == text) {
            return Ok(known.1);
        }
        let index = self.entry(Tag::Utf8, &(text.len() as u16).to_be_bytes())?;
        self.bytes.extend_from_slice(text.as_bytes());
        self.texts.push((text, index));
        Ok(index)
    }

    fn pair(&mut self, tag: Tag, first: u16, second: u16) -> Result<u16, Reason> {
        let ([a, b], [c, d]) = (first.to_be_bytes(), second.to_be_bytes());
        self.entry(tag, &[a, b, c, d])
    }

    fn entry(&mut self, tag: Tag, info: &[u8]) -> Result<u16, Reason> {
        if self.next >= MAX_COUNT {
            return Err(Reason::ConstantPoolFull);
        }
        let index = self.next as u16;
        self.next += 1;
        self.bytes.push(tag as u8);
        self.bytes.extend_from_slice(info);
        Ok(index)
    }
}

/// Modified UTF-8 has no byte 0, which ends each name here.
fn key(tag: Tag, names: &[&[u8]]) -> Vec<u8> {
    let mut key = vec![tag as u8];
    for name in names {
        key.extend_from_slice(name);
        key.push(0);
    }
    key
}

#[cfg(test)]
mod tests;
