//! An id map to its text: all of it, a part of it, or what is new.

use super::{Class, Facts, HEADER, IdMap, Method, text};

impl IdMap {
    /// Appends the text of the whole map.
    pub fn write_all(&self, out: &mut Vec<u8>) {
        out.reserve(HEADER.len() + self.arena.len() + 48 * self.methods.len());
        out.extend(HEADER.as_bytes());
        self.write_lines(self.methods.iter(), out);
    }

    /// Appends the text of a map that holds only the methods with these ids (in ascending order, or the text cannot be
    /// read back): what one output carries of a map that it shares. Ids that are not in the map are left out.
    pub fn write_part(&self, ids: impl IntoIterator<Item = u32>, out: &mut Vec<u8>) {
        out.extend(HEADER.as_bytes());
        let indices = ids.into_iter().filter_map(|id| self.index_of(id));
        self.write_lines(indices.map(|index| &self.methods[index]), out);
    }

    /// Appends what has to follow the text that was parsed so that it says the same as this map: nothing, if nothing
    /// has changed.
    pub fn write_new(&self, out: &mut Vec<u8>) {
        if !self.parsed.header {
            out.extend(HEADER.as_bytes());
        }
        let changed =
            |(&index, facts): (&u32, &Facts)| (self.methods[index as usize].facts != *facts).then_some(index);
        let mut updated: Vec<u32> = self.parsed.facts.iter().filter_map(changed).collect();
        updated.sort_unstable();
        let updated = updated.iter().map(|&index| &self.methods[index as usize]);
        self.write_lines(updated.chain(&self.methods[self.parsed.methods as usize..]), out);
        let mut moved: Vec<u32> = self.parsed.sources.keys().copied().collect();
        moved.sort_unstable();
        for index in moved {
            let class = &self.classes[index as usize];
            if self.parsed.sources[&index].map(|s| self.bytes(s)) != class.source.map(|s| self.bytes(s)) {
                self.write_class(class, out);
            }
        }
    }

    fn write_lines<'a>(&self, methods: impl Iterator<Item = &'a Method>, out: &mut Vec<u8>) {
        let mut current = None;
        for method in methods {
            if current != Some(method.class) {
                current = Some(method.class);
                self.write_class(&self.classes[method.class as usize], out);
            }
            text::push_decimal(method.id, out);
            out.push(b' ');
            text::escape(self.bytes(method.name), out);
            out.push(b' ');
            text::escape(self.bytes(method.descriptor()), out);
            out.push(b' ');
            text::push_decimal(method.facts.line, out);
            out.push(b' ');
            text::push_hex(method.facts.flags.into(), 1, out);
            out.push(b' ');
            text::push_hex(method.facts.fingerprint, 16, out);
            out.push(b'\n');
        }
    }

    fn write_class(&self, class: &Class, out: &mut Vec<u8>) {
        out.extend(b"class ");
        text::escape(self.bytes(class.name), out);
        out.push(b' ');
        match class.source.map(|source| self.bytes(source)) {
            None => out.push(b'-'),
            Some(b"-") => out.extend(b"\\u002d"),
            Some(source) => text::escape(source, out),
        }
        out.push(b'\n');
    }
}
