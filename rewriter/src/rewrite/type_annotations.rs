//! Runtime(In)VisibleTypeAnnotations of a Code attribute (JVMS 4.7.20): the targets hold pcs, ranges of
//! local variables, and indices of exception table rows.
//!
//! An attribute that cannot be read is copied as it was: HotSpot reads it only for reflection.

use super::debug_tables::write_range;
use super::relocation::Relocation;

/// Annotations nested deeper than this are not followed.
const MAX_DEPTH: usize = 64;

/// Appends the attribute's `info`; `moved_rows` maps old exception table rows to new ones.
pub(crate) fn write(info: &[u8], relocation: &Relocation, moved_rows: &[u16], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(info);
    let mut walk = Walk { bytes: &mut out[start..], at: 0, relocation, moved_rows };
    if walk.annotations().is_none() {
        out.truncate(start);
        out.extend_from_slice(info);
    }
}

struct Walk<'a> {
    bytes: &'a mut [u8],
    at: usize,
    relocation: &'a Relocation,
    moved_rows: &'a [u16],
}

impl Walk<'_> {
    fn annotations(&mut self) -> Option<()> {
        for _ in 0..self.u2()? {
            self.target()?;
            let path = usize::from(self.u1()?);
            self.skip(2 * path)?;
            self.annotation(0)?;
        }
        (self.at == self.bytes.len()).then_some(())
    }

    /// `target_info`: its shape depends on `target_type` (JVMS table 4.7.20.1).
    fn target(&mut self) -> Option<()> {
        match self.u1()? {
            0x40 | 0x41 => {
                for _ in 0..self.u2()? {
                    let row = self.bytes.get_mut(self.at..)?.first_chunk_mut::<6>()?;
                    write_range(row, self.relocation);
                    self.at += 6;
                }
                Some(())
            }
            0x42 => {
                let row = usize::from(self.peek_u2()?);
                let moved = *self.moved_rows.get(row)?;
                self.put_u2(moved)
            }
            target @ 0x43..=0x4b => {
                let pc = usize::from(self.peek_u2()?);
                let moved = self.relocation.instruction(pc) as u16;
                self.put_u2(moved)?;
                self.skip(usize::from(target >= 0x47))
            }
            0x00 | 0x01 | 0x16 => self.skip(1),
            0x10 | 0x11 | 0x12 | 0x17 => self.skip(2),
            0x13..=0x15 => Some(()),
            _ => None,
        }
    }

    /// `type_index` and the pairs: nothing in them moves.
    fn annotation(&mut self, depth: usize) -> Option<()> {
        self.skip(2)?;
        for _ in 0..self.u2()? {
            self.skip(2)?;
            self.element_value(depth + 1)?;
        }
        Some(())
    }

    fn element_value(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.u1()? {
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => self.skip(2),
            b'e' => self.skip(4),
            b'@' => self.annotation(depth),
            b'[' => {
                for _ in 0..self.u2()? {
                    self.element_value(depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn u1(&mut self) -> Option<u8> {
        let value = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(value)
    }

    fn peek_u2(&self) -> Option<u16> {
        Some(u16::from_be_bytes(self.bytes.get(self.at..self.at + 2)?.try_into().ok()?))
    }

    fn u2(&mut self) -> Option<u16> {
        let value = self.peek_u2()?;
        self.at += 2;
        Some(value)
    }

    fn put_u2(&mut self, value: u16) -> Option<()> {
        self.bytes.get_mut(self.at..self.at + 2)?.copy_from_slice(&value.to_be_bytes());
        self.at += 2;
        Some(())
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.at += length;
        (self.at <= self.bytes.len()).then_some(())
    }
}

#[cfg(test)]
mod tests;
