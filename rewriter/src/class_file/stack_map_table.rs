//! JVMS 4.7.4 The StackMapTable Attribute: frames as spans of the input.

/// `verification_type_info` tags (JVMS 4.7.4).
pub mod verification_type {
    /// `ITEM_Top`.
    pub const TOP: u8 = 0;
    /// `ITEM_Integer`.
    pub const INTEGER: u8 = 1;
    /// `ITEM_Float`.
    pub const FLOAT: u8 = 2;
    /// `ITEM_Object`: a Class index follows.
    pub const OBJECT: u8 = 7;
    /// `ITEM_Uninitialized`: the offset of the `new` instruction follows.
    pub const UNINITIALIZED: u8 = 8;
    /// `ITEM_UninitializedThis`.
    pub const UNINITIALIZED_THIS: u8 = 6;
    /// `ITEM_Double`.
    pub const DOUBLE: u8 = 3;
    /// `ITEM_Long`.
    pub const LONG: u8 = 4;
}

/// How a frame says what its locals and stack are (JVMS 4.7.4, `frame_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// `same_frame` or `same_frame_extended`: the previous locals, an empty stack.
    Same,
    /// `same_locals_1_stack_item_frame` or its extended form.
    SameLocals1StackItem,
    /// `chop_frame`: the last 1 to 3 locals are absent.
    Chop(u8),
    /// `append_frame`: 1 to 3 more locals.
    Append(u8),
    /// `full_frame`.
    Full,
}

/// One `stack_map_frame`; the verification types are spans.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The bytecode offset that the frame describes: resolved, not the delta.
    pub pc: usize,
    /// The kind.
    pub kind: FrameKind,
    /// Whether the form with an explicit two-byte delta was used although a one-byte form exists.
    pub extended: bool,
    /// `number_of_locals` of a full frame.
    pub locals_count: u16,
    /// The `verification_type_info`s of the locals that the frame states.
    pub locals: &'a [u8],
    /// `number_of_stack_items`.
    pub stack_count: u16,
    /// The `verification_type_info`s of the stack.
    pub stack: &'a [u8],
}

/// A StackMapTable that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed StackMapTable: frame {index}")]
pub struct StackMapError {
    /// The frame, counted from 0.
    pub index: u16,
}

/// Walks the frames of a StackMapTable attribute's `info`.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    rest: &'a [u8],
    left: u16,
    index: u16,
    /// One more than the previous frame's pc; 0 in front of the first.
    next_pc: usize,
}

impl<'a> Frames<'a> {
    /// Starts at the first frame.
    ///
    /// # Errors
    /// There is no room for the count.
    pub fn new(info: &'a [u8]) -> Result<Self, StackMapError> {
        match info {
            [a, b, rest @ ..] => Ok(Self { rest, left: u16::from_be_bytes([*a, *b]), index: 0, next_pc: 0 }),
            _ => Err(StackMapError { index: 0 }),
        }
    }

    /// The number of frames still to come.
    pub fn len(&self) -> usize {
        usize::from(self.left)
    }

    /// Whether no frame is left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The next frame; `None` at the end, where no byte may be left.
    ///
    /// # Errors
    /// A frame is cut off, of a reserved type, or bytes follow the last one.
    #[allow(clippy::should_implement_trait, reason = "a `Result<Option>` reads better with `?`")]
    pub fn next(&mut self) -> Result<Option<Frame<'a>>, StackMapError> {
        if self.left == 0 {
            return if self.rest.is_empty() { Ok(None) } else { Err(StackMapError { index: self.index }) };
        }
        let frame = self.read().ok_or(StackMapError { index: self.index })?;
        self.left -= 1;
        self.index += 1;
        self.next_pc = frame.pc + 1;
        Ok(Some(frame))
    }

    fn read(&mut self) -> Option<Frame<'a>> {
        let frame_type = self.u1()?;
        let mut frame = Frame {
            pc: 0,
            kind: FrameKind::Same,
            extended: false,
            locals_count: 0,
            locals: &[],
            stack_count: 0,
            stack: &[],
        };
        let delta = match frame_type {
            0..=63 => usize::from(frame_type),
            64..=127 => {
                frame.kind = FrameKind::SameLocals1StackItem;
                frame.stack_count = 1;
                frame.stack = self.types(1)?;
                usize::from(frame_type - 64)
            }
            247 => {
                let delta = self.u2()?;
                frame.kind = FrameKind::SameLocals1StackItem;
                frame.extended = true;
                frame.stack_count = 1;
                frame.stack = self.types(1)?;
                usize::from(delta)
            }
            248..=250 => {
                frame.kind = FrameKind::Chop(251 - frame_type);
                usize::from(self.u2()?)
            }
            251 => {
                frame.extended = true;
                usize::from(self.u2()?)
            }
            252..=254 => {
                let delta = self.u2()?;
                let count = frame_type - 251;
                frame.kind = FrameKind::Append(count);
                frame.locals_count = u16::from(count);
                frame.locals = self.types(u16::from(count))?;
                usize::from(delta)
            }
            255 => {
                let delta = self.u2()?;
                frame.kind = FrameKind::Full;
                frame.locals_count = self.u2()?;
                frame.locals = self.types(frame.locals_count)?;
                frame.stack_count = self.u2()?;
                frame.stack = self.types(frame.stack_count)?;
                usize::from(delta)
            }
            128..=246 => return None,
        };
        frame.pc = self.next_pc + delta;
        Some(frame)
    }

    fn u1(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn u2(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes([self.u1()?, self.u1()?]))
    }

    fn types(&mut self, count: u16) -> Option<&'a [u8]> {
        let mut length = 0;
        for _ in 0..count {
            length += type_length(*self.rest.get(length)?)?;
        }
        let (types, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(types)
    }
}

/// Bytes of a `verification_type_info` with this tag.
fn type_length(tag: u8) -> Option<usize> {
    match tag {
        0..=6 => Some(1),
        verification_type::OBJECT | verification_type::UNINITIALIZED => Some(3),
        _ => None,
    }
}

/// The `verification_type_info`s of a span, one slice each.
pub fn types(mut span: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (item, rest) = span.split_at_checked(type_length(*span.first()?)?)?;
        span = rest;
        Some(item)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_frame() {
        let info = [
            0,
            6, // six frames
            3, // same, pc 3
            64 + 2,
            7,
            0,
            9, // one item, pc 6
            250,
            0,
            1, // chop 1, pc 8
            252,
            0,
            0,
            8,
            0,
            4, // append 1, pc 9
            255,
            0,
            9,
            0,
            1,
            4,
            0,
            2,
            6,
            1, // full, pc 19
            251,
            1,
            0, // same extended, pc 276
        ];
        let mut frames = Frames::new(&info).unwrap();
        assert_eq!((frames.len(), frames.is_empty()), (6, false));
        let mut seen = vec![];
        while let Some(frame) = frames.next().unwrap() {
            seen.push((frame.pc, frame.kind, frame.locals.len(), frame.stack.len()));
            assert_eq!(frames.len(), 6 - seen.len());
        }
        assert!(frames.is_empty());
        assert_eq!(
            seen,
            [
                (3, FrameKind::Same, 0, 0),
                (6, FrameKind::SameLocals1StackItem, 0, 3),
                (8, FrameKind::Chop(1), 0, 0),
                (9, FrameKind::Append(1), 3, 0),
                (19, FrameKind::Full, 1, 2),
                (276, FrameKind::Same, 0, 0),
            ]
        );
    }

    #[test]
    fn refuses_what_is_cut_off_or_too_long() {
        for info in [&[][..], &[0, 1], &[0, 1, 200], &[0, 1, 64, 7, 0], &[0, 1, 64, 9], &[0, 0, 0]] {
            let outcome = Frames::new(info).and_then(|mut frames| {
                while frames.next()?.is_some() {}
                Ok(())
            });
            assert!(outcome.is_err(), "{info:?}");
        }
    }
}
