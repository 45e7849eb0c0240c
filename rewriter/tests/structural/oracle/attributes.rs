//! The attributes of the code: frames, line numbers, local variables, type annotations.

use super::{MethodCheck, Part, Seen, ensure};
use crate::structural::model::Attribute;
use crate::structural::tables::{
    Frame, Moves, VerificationType, frames, initial_locals, move_type_annotations,
};
use std::collections::BTreeMap;

impl<'a> MethodCheck<'a> {
    pub(super) fn check_attributes(&mut self) -> Result<(), String> {
        let (old, new) = (&self.old.code.attributes, &self.new.code.attributes);
        let typed = self.class.major >= 50;
        let is_frames =
            |attribute: &&Attribute| typed && self.new.pool.utf8(attribute.name) == b"StackMapTable";
        let old_frames = old.iter().find(is_frames);
        let added = usize::from(typed && self.has_unwind && old_frames.is_none());
        ensure!(new.len() == old.len() + added, "attributes of the code: {} became {}", old.len(), new.len());
        let mut seen = self.seen;
        self.check_frames(old_frames, new.iter().find(is_frames), &mut seen)?;
        for (a, b) in old.iter().zip(new) {
            ensure!(a.name == b.name, "attributes of the code changed their order");
            let name = self.old.pool.utf8(a.name);
            let right = match name {
                b"StackMapTable" if typed => continue,
                b"LineNumberTable" => self.move_lines(&a.info, &mut seen),
                b"LocalVariableTable" | b"LocalVariableTypeTable" => self.move_variables(&a.info, &mut seen),
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    seen.type_annotations += 1;
                    move_type_annotations(&a.info, self)?
                }
                _ => a.info.clone(),
            };
            ensure!(
                right == b.info,
                "{} differs: {:?}, not {right:?}",
                String::from_utf8_lossy(name),
                b.info
            );
        }
        self.seen = seen;
        Ok(())
    }

    fn check_frames(
        &self,
        old: Option<&Attribute>,
        new: Option<&Attribute>,
        seen: &mut Seen,
    ) -> Result<(), String> {
        if self.class.major < 50 {
            return Ok(());
        }
        let method = &self.class.methods[self.method];
        let initial = || {
            let name = self.old.pool.class(self.class.this_class());
            let descriptor = self.old.pool.utf8(method.descriptor);
            initial_locals(name, descriptor, method.flags & 8 != 0, self.is_constructor).ok_or("descriptor")
        };
        let old_frames = match old {
            Some(attribute) => frames(&attribute.info, self.old.pool, initial()?)?,
            None => Vec::new(),
        };
        seen.frames += old_frames.len() as u64;
        let mut expected = BTreeMap::new();
        let moved = |types: &[VerificationType<'a>]| -> Result<Vec<VerificationType<'a>>, String> {
            types
                .iter()
                .map(|item| match *item {
                    VerificationType::Uninitialized(pc) => {
                        let i = self.old.index_or(pc, "Uninitialized")?;
                        Ok(VerificationType::Uninitialized(self.layout.insn[i]))
                    }
                    other => Ok(other),
                })
                .collect()
        };
        for frame in &old_frames {
            let i = self.old.index_or(frame.pc, "frame")?;
            let (locals, stack) = (moved(&frame.locals)?, moved(&frame.stack)?);
            let places = [self.layout.landing[i], self.layout.target[i]];
            for pc in self.layout.pad[i].into_iter().chain(places) {
                expected.insert(pc, Frame { pc, locals: locals.clone(), stack: stack.clone() });
            }
        }
        for (insn, part) in self.new.insns.iter().zip(&self.parts) {
            if let Part::Trampoline(target) = *part {
                let copied = expected.get(&self.layout.target[target]).cloned();
                let copied = copied.ok_or("frame: a trampoline's target has none")?;
                expected.insert(insn.pc, Frame { pc: insn.pc, ..copied });
            }
        }
        if self.has_unwind {
            let pc = self.layout.insn[self.old.insns.len()];
            let stack = vec![VerificationType::Object(b"java/lang/Throwable")];
            expected.insert(pc, Frame { pc, locals: Vec::new(), stack });
        }
        let new_frames = match new {
            Some(attribute) => frames(&attribute.info, self.new.pool, initial()?)?,
            None => Vec::new(),
        };
        for (frame, right) in new_frames.iter().zip(expected.values()) {
            ensure!(frame == right, "frame: {frame:?}, not {right:?}");
        }
        ensure!(
            new_frames.len() == expected.len(),
            "frame: {} instead of {}",
            new_frames.len(),
            expected.len()
        );
        Ok(())
    }

    /// Where what the source says about `pc` begins: the first instruction keeps the whole start.
    fn source(&self, pc: usize) -> Option<usize> {
        let i = self.old.index(pc)?;
        Some(if pc == 0 { 0 } else { self.layout.landing[i] })
    }

    fn move_lines(&self, info: &[u8], seen: &mut Seen) -> Vec<u8> {
        let mut right = info.to_vec();
        for row in right[2..].chunks_exact_mut(4) {
            let pc = usize::from(u16::from_be_bytes([row[0], row[1]]));
            match self.source(pc) {
                Some(moved) => row[..2].copy_from_slice(&(moved as u16).to_be_bytes()),
                None => seen.off_boundary += 1,
            }
        }
        right
    }

    fn move_variables(&self, info: &[u8], seen: &mut Seen) -> Vec<u8> {
        let mut right = info.to_vec();
        for row in right[2..].chunks_exact_mut(10) {
            let item = |at: usize| usize::from(u16::from_be_bytes([row[at], row[at + 1]]));
            let (start, length) = (item(0), item(2));
            if self.old.index(start).is_none() || self.old.index(start + length).is_none() {
                seen.off_boundary += 1;
            }
            let (start, length) = self.range(start, length);
            row[..2].copy_from_slice(&(start as u16).to_be_bytes());
            row[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        }
        right
    }
}

impl Moves for MethodCheck<'_> {
    fn range(&self, start: usize, length: usize) -> (usize, usize) {
        let (Some(from), Some(to)) = (self.source(start), self.old.index(start + length)) else {
            return (start, length);
        };
        (from, if length == 0 { 0 } else { self.layout.end[to] - from })
    }

    fn instruction(&self, pc: usize) -> usize {
        self.old.index(pc).map_or(pc, |i| self.layout.insn[i])
    }

    fn row(&self, row: usize) -> usize {
        self.rows.get(row).copied().unwrap_or(row)
    }
}
