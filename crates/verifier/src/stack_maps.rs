//! The frames of a StackMapTable (JVMS 4.7.4), each as the whole type state that it stands for.

use crate::constants::Constants;
use crate::fault::{Check, Problem, Rule};
use crate::frame::{Frame, View};
use crate::hierarchy::Universe;
use crate::types::Type;
use instrument_rewriter::class_file::instruction::u2;
use instrument_rewriter::class_file::stack_map_table::{FrameKind, Frames, types, verification_type};
use instrument_rewriter::class_file::{ClassFile, CodeAttribute};

/// More types than any table needs that a compiler writes: 256 MB.
const MOST_TYPES: usize = 1 << 26;

/// What is known of each byte of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark(u32);

impl Mark {
    const START: u32 = 1;
    const NEW: u32 = 2;

    /// The first byte of an instruction, which may be a `new`.
    pub fn instruction(is_new: bool) -> Mark {
        Mark(Self::START | if is_new { Self::NEW } else { 0 })
    }

    /// Whether an instruction begins here.
    pub fn is_instruction(self) -> bool {
        self.0 & Self::START != 0
    }

    /// Whether it is a `new`.
    pub fn is_new(self) -> bool {
        self.0 & Self::NEW != 0
    }

    /// The number of the frame here.
    pub fn frame(self) -> Option<usize> {
        (self.0 >> 2).checked_sub(1).map(|index| index as usize)
    }

    fn with_frame(self, index: usize) -> Mark {
        Mark(self.0 | (index as u32 + 1) << 2)
    }
}

#[derive(Debug, Clone, Copy)]
struct Stored {
    pc: u32,
    locals: (u32, u32),
    stack: (u32, u32),
    this_uninitialized: bool,
}

/// The frames of one method, in the order of their places.
#[derive(Debug, Default)]
pub struct StackMaps {
    frames: Vec<Stored>,
    locals: Vec<Type>,
    stack: Vec<Type>,
}

impl StackMaps {
    /// Forgets all frames.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.locals.clear();
        self.stack.clear();
    }

    /// The place of a frame.
    pub fn pc(&self, index: usize) -> Option<usize> {
        self.frames.get(index).map(|frame| frame.pc as usize)
    }

    /// A frame.
    pub fn view(&self, index: usize) -> View<'_> {
        let frame = &self.frames[index];
        View {
            locals: &self.locals[frame.locals.0 as usize..frame.locals.1 as usize],
            stack: &self.stack[frame.stack.0 as usize..frame.stack.1 as usize],
            this_uninitialized: frame.this_uninitialized,
        }
    }

    /// Reads the table. `first`: the type state at the beginning of the method, with so many locals used; `marks`: of
    /// each byte of the code, which gets the number of the frame that stands there.
    pub fn read(
        &mut self,
        info: &[u8],
        code: &CodeAttribute<'_>,
        (first, used): (&Frame, usize),
        marks: &mut [Mark],
        names: &mut Names<'_, '_, '_>,
    ) -> Check {
        let broken = |index: u16| Problem::new(Rule::StackMapFormat, format!("frame {index} cannot be read"));
        let mut table = Frames::new(info).map_err(|error| broken(error.index))?;
        self.locals.extend_from_slice(&first.locals[..used]);
        let mut locals = (0u32, used as u32);
        let mut this_uninitialized = first.this_uninitialized;
        while let Some(frame) = table.next().map_err(|error| broken(error.index))? {
            let size = |why: &str| Problem::new(Rule::StackMapSize, format!("frame at {}: {why}", frame.pc));
            match frame.kind {
                FrameKind::Same | FrameKind::SameLocals1StackItem => {}
                FrameKind::Chop(count) => {
                    let kept = &self.locals[locals.0 as usize..locals.1 as usize];
                    let kept = without_last(kept, count)
                        .ok_or_else(|| size("it takes away more local variables than there are"))?;
                    locals.1 = locals.0 + kept.len() as u32;
                    this_uninitialized = kept.contains(&Type::UNINITIALIZED_THIS);
                }
                FrameKind::Append(_) => {
                    // Frames share the types in front, unless others were put behind them.
                    if locals.1 as usize != self.locals.len() {
                        let start = self.locals.len() as u32;
                        self.locals.extend_from_within(locals.0 as usize..locals.1 as usize);
                        locals.0 = start;
                    }
                    names.read(frame.pc, frame.locals, marks, &mut self.locals, &mut this_uninitialized)?;
                    locals.1 = self.locals.len() as u32;
                }
                FrameKind::Full => {
                    locals.0 = self.locals.len() as u32;
                    this_uninitialized = false;
                    names.read(frame.pc, frame.locals, marks, &mut self.locals, &mut this_uninitialized)?;
                    locals.1 = self.locals.len() as u32;
                }
            }
            let start = self.stack.len() as u32;
            names.read(frame.pc, frame.stack, marks, &mut self.stack, &mut false)?;
            let stack = (start, self.stack.len() as u32);
            if (locals.1 - locals.0) as usize > usize::from(code.max_locals) {
                return Err(size("it has more local variables than max_locals"));
            }
            if (stack.1 - stack.0) as usize > usize::from(code.max_stack) {
                return Err(size("its stack is deeper than max_stack"));
            }
            if self.locals.len() + self.stack.len() > MOST_TYPES {
                return Err(Problem::new(Rule::TooComplex, "too many types in the StackMapTable"));
            }
            match marks.get_mut(frame.pc) {
                Some(mark) if mark.is_instruction() => *mark = mark.with_frame(self.frames.len()),
                _ => return Err(size("no instruction begins there")),
            }
            self.frames.push(Stored { pc: frame.pc as u32, locals, stack, this_uninitialized });
        }
        Ok(())
    }
}

/// What the types of a table are told by: the constants of its class, and the classes that they name.
pub struct Names<'r, 'a, 'u> {
    pub class: &'r ClassFile<'a>,
    pub constants: &'r mut Constants<'a>,
    /// All classes.
    pub universe: &'r mut Universe<'u>,
}

impl Names<'_, '_, '_> {
    /// Reads the types of a span of the frame at `pc` behind others; `has_this`: gets true where `this` is one that is
    /// not initialised.
    fn read(
        &mut self,
        pc: usize,
        span: &[u8],
        marks: &[Mark],
        into: &mut Vec<Type>,
        has_this: &mut bool,
    ) -> Check {
        let fault = |rule: Rule, why: &str| Problem::new(rule, format!("frame at {pc}: {why}"));
        for item in types(span) {
            let of = match item[0] {
                0 => Type::TOP,
                1 => Type::INT,
                2 => Type::FLOAT,
                verification_type::DOUBLE => Type::DOUBLE,
                verification_type::LONG => Type::LONG,
                5 => Type::NULL,
                verification_type::UNINITIALIZED_THIS => {
                    *has_this = true;
                    Type::UNINITIALIZED_THIS
                }
                verification_type::OBJECT => self
                    .constants
                    .class(&self.class.pool, u2(item, 1), self.universe)
                    .map_err(|_| fault(Rule::StackMapFormat, "an index names no Class constant"))?,
                _ => {
                    let new = u2(item, 1);
                    if !marks.get(usize::from(new)).is_some_and(|mark| mark.is_new()) {
                        let why = "an object that is not initialised has no new instruction";
                        return Err(fault(Rule::StackMapSize, why));
                    }
                    Type::uninitialized(u32::from(new))
                }
            };
            into.push(of);
            if of.is_category_2() {
                into.push(of.upper());
            }
        }
        Ok(())
    }
}

/// Local variables without the last `count`, of which one may be two words wide.
fn without_last(mut locals: &[Type], count: u8) -> Option<&[Type]> {
    for _ in 0..count {
        let width = if locals.len() > 1 && locals.last()?.is_category_2_upper() { 2 } else { 1 };
        locals = locals.get(..locals.len().checked_sub(width)?)?;
    }
    Some(locals)
}
