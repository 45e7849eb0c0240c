//! JVMS 4.7.4 The StackMapTable Attribute, and the StackMap attribute of CLDC: each frame at its place,
//! with all its locals.

use super::printer::Printer;
use crate::class_file::stack_map_table::{self, Frame, FrameKind, Frames, verification_type};
use crate::class_file::{Attribute, Attributes, Member, Reader, descriptor};
use crate::error::ClassError;

/// The names of the `verification_type_info` tags that have no operand.
const TYPES: [&str; 7] = ["top", "int", "float", "double", "long", "null", "uninitializedThis"];

#[derive(Clone, Copy)]
enum Type<'a> {
    /// A `verification_type_info` of the file.
    Info(&'a [u8]),
    /// Of the implicit first frame: a tag without operand.
    Simple(u8),
    /// Of the implicit first frame: this class.
    This,
    /// Of the implicit first frame: a class name or array descriptor.
    Named(&'a [u8]),
}

/// The frames that are still to print, and the locals of the frame before them.
pub(super) struct FrameTable<'a> {
    frames: std::vec::IntoIter<Frame<'a>>,
    locals: Vec<Type<'a>>,
    /// Tables that are malformed, with the reason, and tables behind the first one.
    faults: Vec<(Attribute<'a>, String)>,
}

impl<'a> FrameTable<'a> {
    /// Reads the frames of a Code attribute.
    pub(super) fn of(p: &Printer<'_, 'a>, mut attributes: Attributes<'a>, method: &Member<'a>) -> Self {
        let mut frames = Vec::new();
        let mut faults = Vec::new();
        let mut found = false;
        while let Ok(Some(attribute)) = attributes.next() {
            let name = p.class.pool.utf8_or_empty(attribute.name_index);
            let mut take = |outcome: Result<Vec<Frame<'a>>, String>| match outcome {
                _ if found => faults.push((attribute, "a second table".to_owned())),
                Ok(table) => frames = table,
                Err(reason) => faults.push((attribute, reason)),
            };
            match name {
                _ if !p.options.frames => {}
                b"StackMapTable" => {
                    take(stack_map_table(attribute.info));
                    found = true;
                }
                b"StackMap" => {
                    take(stack_map(attribute.info).map_err(|error| error.kind.to_string()));
                    found = true;
                }
                _ => {}
            }
        }
        frames.sort_by_key(|frame| frame.pc);
        Self { frames: frames.into_iter(), locals: first_locals(p, method), faults }
    }

    /// Prints the frames up to the instruction at `pc`.
    pub(super) fn print_until(&mut self, p: &mut Printer<'_, 'a>, pc: usize) {
        while let Some(&frame) = self.frames.as_slice().first()
            && frame.pc <= pc
        {
            self.frames.next();
            if p.is_full() {
                return;
            }
            self.print(p, &frame, pc);
        }
    }

    fn print(&mut self, p: &mut Printer<'_, 'a>, frame: &Frame<'a>, pc: usize) {
        p.start("frame ");
        if frame.pc != pc {
            p.put(format_args!("at {}(no-instruction) ", frame.pc));
        }
        if !p.options.canonical || p.options.raw {
            match frame.kind {
                FrameKind::Same => p.text("same"),
                FrameKind::SameLocals1StackItem => p.text("same_locals_1_stack_item"),
                FrameKind::Chop(count) => p.put(format_args!("chop {count}")),
                FrameKind::Append(count) => p.put(format_args!("append {count}")),
                FrameKind::Full => p.text("full"),
            }
            p.text(if frame.extended { " extended " } else { " " });
        }
        match frame.kind {
            FrameKind::Same | FrameKind::SameLocals1StackItem => {}
            FrameKind::Chop(count) => match self.locals.len().checked_sub(usize::from(count)) {
                Some(left) => self.locals.truncate(left),
                None => {
                    self.locals.clear();
                    p.text("<chops more locals than there are> ");
                }
            },
            FrameKind::Append(_) => self.locals.extend(stack_map_table::types(frame.locals).map(Type::Info)),
            FrameKind::Full => {
                self.locals.clear();
                self.locals.extend(stack_map_table::types(frame.locals).map(Type::Info));
            }
        }
        p.text("locals=[");
        for (at, local) in self.locals.iter().enumerate() {
            if p.is_full() {
                return;
            }
            p.text(if at == 0 { "" } else { ", " });
            print_type(p, *local);
        }
        p.text("] stack=[");
        for (at, item) in stack_map_table::types(frame.stack).enumerate() {
            p.text(if at == 0 { "" } else { ", " });
            print_type(p, Type::Info(item));
        }
        p.text("]");
        p.end();
    }

    /// Prints the tables that could not be printed in place.
    pub(super) fn faults(&self, p: &mut Printer<'_, 'a>) {
        for (attribute, reason) in &self.faults {
            p.start("attribute ");
            p.quoted_utf8(attribute.name_index);
            p.put(format_args!(" length {} <{reason}>", attribute.info.len()));
            p.end_at(attribute.offset);
            p.nested(|p| p.hex(attribute.info));
        }
    }
}

fn stack_map_table(info: &[u8]) -> Result<Vec<Frame<'_>>, String> {
    let mut table = Frames::new(info).map_err(|error| error.to_string())?;
    let mut frames = Vec::new();
    while let Some(frame) = table.next().map_err(|error| error.to_string())? {
        frames.push(frame);
    }
    Ok(frames)
}

/// The StackMap attribute of CLDC 1.1 (appendix 1, section 2.1): full frames with absolute offsets.
fn stack_map(info: &[u8]) -> Result<Vec<Frame<'_>>, ClassError> {
    let mut r = Reader::new(info, 0, "StackMap");
    let mut frames = Vec::new();
    for _ in 0..r.u2()? {
        let pc = usize::from(r.u2()?);
        let (locals_count, locals) = stack_map_types(info, &mut r)?;
        let (stack_count, stack) = stack_map_types(info, &mut r)?;
        let kind = FrameKind::Full;
        frames.push(Frame { pc, kind, extended: false, locals_count, locals, stack_count, stack });
    }
    match r.position() == info.len() {
        true => Ok(frames),
        false => Err(r.error(crate::error::ClassErrorKind::Malformed)),
    }
}

fn stack_map_types<'a>(info: &'a [u8], r: &mut Reader<'a>) -> Result<(u16, &'a [u8]), ClassError> {
    let count = r.u2()?;
    let start = r.position();
    for _ in 0..count {
        match r.u1()? {
            0..=6 => {}
            verification_type::OBJECT | verification_type::UNINITIALIZED => r.skip(2)?,
            _ => return Err(r.error(crate::error::ClassErrorKind::Malformed)),
        }
    }
    Ok((count, &info[start..r.position()]))
}

/// The locals of the implicit first frame, from the method's descriptor (JVMS 4.10.1.6).
fn first_locals<'a>(p: &Printer<'_, 'a>, method: &Member<'a>) -> Vec<Type<'a>> {
    const ACC_STATIC: u16 = 0x0008;
    let pool = &p.class.pool;
    let mut locals = Vec::new();
    if method.access_flags & ACC_STATIC == 0 {
        let is_constructor = method.name(pool).is_ok_and(|name| name == b"<init>")
            && p.class.name().is_ok_and(|name| name != b"java/lang/Object");
        locals.push(match is_constructor {
            true => Type::Simple(verification_type::UNINITIALIZED_THIS),
            false => Type::This,
        });
    }
    let mut rest = method.descriptor(pool).unwrap_or_default().strip_prefix(b"(").unwrap_or_default();
    while let Some((_, tail)) = descriptor::field_slots(rest) {
        let item = &rest[..rest.len() - tail.len()];
        locals.push(match item {
            [b'J'] => Type::Simple(verification_type::LONG),
            [b'D'] => Type::Simple(verification_type::DOUBLE),
            [b'F'] => Type::Simple(2),
            [b'L', name @ .., b';'] => Type::Named(name),
            [b'[', ..] => Type::Named(item),
            _ => Type::Simple(1),
        });
        rest = tail;
    }
    locals
}

fn print_type(p: &mut Printer<'_, '_>, kind: Type<'_>) {
    match kind {
        Type::This => p.class_name(p.class.this_class),
        Type::Named(name) => p.name(name),
        Type::Simple(tag) | Type::Info(&[tag]) => {
            p.text(TYPES.get(usize::from(tag)).copied().unwrap_or("<no type>"));
        }
        Type::Info(&[verification_type::OBJECT, a, b]) => p.class_name(u16::from_be_bytes([a, b])),
        Type::Info(&[_, a, b]) => {
            p.text("uninitialized(");
            p.position(usize::from(u16::from_be_bytes([a, b])));
            p.text(")");
        }
        Type::Info(_) => p.text("<no type>"),
    }
}
