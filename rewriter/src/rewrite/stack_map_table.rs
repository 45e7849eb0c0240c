//! Rewrites the StackMapTable (JVMS 4.7.4): frames are shifted and extended, never recomputed.
//!
//! - a frame moves to where branches to its pc arrive;
//! - a pad, a landing and a detour get a copy of the frame of what they lead to, and that the short form that repeats
//!   it;
//! - the handlers behind the code get empty locals, but for the local variable of ours and those that they name, and a
//!   Throwable, which fits every state (JVMS 4.10.1.2);
//! - a trampoline gets a copy of its target's frame. Copies from elsewhere break the chain of deltas, so
//!   then every frame is written in full;
//! - a local variable of ours that lives in the whole method is added to every frame, which is written in full, too,
//!   unless it has the locals of the frame in front of it.

use super::Reason;
use super::relocation::{Moved, Relocation};
use crate::class_file::stack_map_table::{Frame, FrameKind, Frames, types, verification_type};
use crate::code::code_scan::CodeScan;
use crate::code::edits::{Counter, Kept, RegionHandler};

/// The frames of the handlers behind the code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AppendedFrames<'a> {
    /// New pcs, ascending.
    pub(crate) pcs: &'a [u32],
    /// The first of them, which may need local variables.
    pub(crate) handlers: &'a [RegionHandler],
    /// The Class entry of `java/lang/Throwable`.
    pub(crate) throwable: u16,
    /// Their local variables.
    pub(crate) extra: &'a [Counter],
}

/// Adds a local variable of ours, which is behind all others, to the locals of a frame.
fn add_to(locals: &mut Vec<u8>, extra: Counter) -> Result<(), Reason> {
    use verification_type::{DOUBLE, INTEGER, LONG, OBJECT, TOP};
    let slots: usize = types(locals).map(|item| 1 + usize::from(matches!(item[0], LONG | DOUBLE))).sum();
    let missing = usize::from(extra.index).checked_sub(slots).ok_or(Reason::BadStackMap)?;
    locals.resize(locals.len() + missing, TOP);
    match extra.kept {
        Kept::Int => locals.push(INTEGER),
        Kept::Long => locals.push(LONG),
        Kept::Array(class) => {
            let [high, low] = class.to_be_bytes();
            locals.extend_from_slice(&[OBJECT, high, low]);
        }
    }
    Ok(())
}

/// Appends the attribute's new `info`. `info` is the old one, `None` if there was none.
///
/// # Errors
/// [`Reason::BadStackMap`].
pub(crate) fn write(
    info: Option<&[u8]>,
    scan: &CodeScan,
    relocation: &Relocation,
    appended: Option<AppendedFrames<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let mut writer = Writer { scan, relocation, previous: -1, count: 0 };
    let count_at = out.len();
    out.extend_from_slice(&[0, 0]);
    if let Some(info) = info {
        let mut frames = Frames::new(info).map_err(|_| Reason::BadStackMap)?;
        while let Some(frame) = frames.next().map_err(|_| Reason::BadStackMap)? {
            if !scan.is_instruction(frame.pc) {
                return Err(Reason::BadStackMap);
            }
            let point = match relocation.moved(frame.pc) {
                Moved::Point(point) => point,
                // Detours stand at points.
                Moved::Shifted(target) => {
                    writer.frame(out, target, &frame)?;
                    continue;
                }
            };
            let (pad, landing, target) = (point.pad, point.landing, point.target);
            if landing != target && !is_handler_frame(&frame) {
                return Err(Reason::BadStackMap);
            }
            let mut next = frame;
            let [pad, landing] = [pad, landing].map(|position| (position != target).then_some(position));
            for position in pad.into_iter().chain(relocation.detours_at(frame.pc)).chain(landing) {
                writer.frame(out, position, &next)?;
                next = repeated(frame);
            }
            writer.frame(out, target, &next)?;
        }
    }
    writer.appended(out, appended)?;
    out[count_at..count_at + 2].copy_from_slice(&writer.count.to_be_bytes());
    Ok(())
}

/// A handler has the exception on its stack and nothing else.
fn is_handler_frame(frame: &Frame<'_>) -> bool {
    matches!(frame.kind, FrameKind::SameLocals1StackItem | FrameKind::Full) && frame.stack_count == 1
}

/// The shortest frame that says again what `frame` says, right behind it.
fn repeated(frame: Frame<'_>) -> Frame<'_> {
    let kind = match (frame.kind, frame.stack_count) {
        (FrameKind::Full, 2..) => FrameKind::Full,
        (FrameKind::Full | FrameKind::SameLocals1StackItem, 1) => FrameKind::SameLocals1StackItem,
        _ => FrameKind::Same,
    };
    Frame { kind, extended: false, ..frame }
}

/// Most bytes that the locals of all frames may take when written in full: hostile frames inherit without end.
const MOST_BYTES: usize = 1 << 24;

/// As [`write`], for a method with trampolines, or with `extra`. `initial_locals` are the verification types of the
/// method's parameters.
///
/// # Errors
/// [`Reason::BadStackMap`], also if a trampoline's target has no frame.
pub(crate) fn write_in_full(
    info: &[u8],
    initial_locals: &[u8],
    scan: &CodeScan,
    relocation: &Relocation,
    extra: &[Counter],
    appended: Option<AppendedFrames<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let absolute = spelled_out(info, initial_locals, scan, extra)?;
    let placed = places(&absolute, relocation)?;
    let mut writer = Writer { scan, relocation, previous: -1, count: 0 };
    let count_at = out.len();
    out.extend_from_slice(&[0, 0]);
    let mut before: Option<&Vec<u8>> = None;
    for (position, index) in placed {
        let SpelledOut { locals, stack, .. } = &absolute[index];
        let stacked = types(stack).count();
        let kind = match stacked {
            0 if !extra.is_empty() && before == Some(locals) => FrameKind::Same,
            1 if !extra.is_empty() && before == Some(locals) => FrameKind::SameLocals1StackItem,
            _ => FrameKind::Full,
        };
        before = Some(locals);
        let frame = Frame {
            pc: 0,
            kind,
            extended: false,
            locals_count: types(locals).count() as u16,
            locals,
            stack_count: stacked as u16,
            stack,
        };
        writer.frame(out, position, &frame)?;
    }
    writer.appended(out, appended)?;
    out[count_at..count_at + 2].copy_from_slice(&writer.count.to_be_bytes());
    Ok(())
}

/// The verification types of a frame, all of them, whatever stands in front of it.
struct SpelledOut {
    pc: usize,
    locals: Vec<u8>,
    stack: Vec<u8>,
}

/// All frames of a table, with `extra` behind the locals of each.
fn spelled_out(
    info: &[u8],
    initial_locals: &[u8],
    scan: &CodeScan,
    extra: &[Counter],
) -> Result<Vec<SpelledOut>, Reason> {
    let bad = |_| Reason::BadStackMap;
    let mut frames = Frames::new(info).map_err(bad)?;
    let mut absolute = Vec::new();
    let mut locals = initial_locals.to_vec();
    let mut bytes = 0;
    while let Some(frame) = frames.next().map_err(bad)? {
        match frame.kind {
            FrameKind::Same | FrameKind::SameLocals1StackItem => {}
            FrameKind::Chop(count) => {
                let kept =
                    types(&locals).count().checked_sub(usize::from(count)).ok_or(Reason::BadStackMap)?;
                let length = types(&locals).take(kept).map(<[u8]>::len).sum();
                locals.truncate(length);
            }
            FrameKind::Append(_) => locals.extend_from_slice(frame.locals),
            FrameKind::Full => locals = frame.locals.to_vec(),
        }
        if !scan.is_instruction(frame.pc) {
            return Err(Reason::BadStackMap);
        }
        let mut all = locals.clone();
        for &extra in extra {
            add_to(&mut all, extra)?;
        }
        bytes += all.len();
        if bytes > MOST_BYTES {
            return Err(Reason::BadStackMap);
        }
        absolute.push(SpelledOut { pc: frame.pc, locals: all, stack: frame.stack.to_vec() });
    }
    Ok(absolute)
}

/// The positions in the new code that need a frame, in their order, and which of the old frames each has.
fn places(absolute: &[SpelledOut], relocation: &Relocation) -> Result<Vec<(u32, usize)>, Reason> {
    let mut placed: Vec<(u32, usize)> = Vec::new();
    for (index, &SpelledOut { pc, .. }) in absolute.iter().enumerate() {
        let target = relocation.target(pc);
        placed.push((target, index));
        let others = [relocation.pad(pc), relocation.landing(pc)];
        placed.extend(others.into_iter().filter(|other| *other != target).map(|other| (other, index)));
        placed.extend(relocation.detours_at(pc).map(|position| (position, index)));
    }
    for trampoline in relocation.trampolines() {
        let target = trampoline.target as usize;
        let index = absolute.iter().position(|frame| frame.pc == target).ok_or(Reason::BadStackMap)?;
        placed.push((trampoline.position, index));
    }
    placed.sort_unstable();
    Ok(placed)
}

struct Writer<'a> {
    scan: &'a CodeScan,
    relocation: &'a Relocation,
    /// New pc of the previous frame; -1 in front of the first.
    previous: i64,
    count: u16,
}

impl Writer<'_> {
    fn frame(&mut self, out: &mut Vec<u8>, pc: u32, frame: &Frame<'_>) -> Result<(), Reason> {
        let delta = u16::try_from(i64::from(pc) - self.previous - 1).map_err(|_| Reason::BadStackMap)?;
        let short = delta <= 63 && !frame.extended;
        let tag = match frame.kind {
            FrameKind::Same if short => delta as u8,
            FrameKind::Same => 251,
            FrameKind::SameLocals1StackItem if short => 64 + delta as u8,
            FrameKind::SameLocals1StackItem => 247,
            FrameKind::Chop(count) => 251 - count,
            FrameKind::Append(count) => 251 + count,
            FrameKind::Full => 255,
        };
        out.push(tag);
        if tag >= 247 {
            out.extend_from_slice(&delta.to_be_bytes());
        }
        match frame.kind {
            FrameKind::Full => {
                out.extend_from_slice(&frame.locals_count.to_be_bytes());
                self.types(out, frame.locals)?;
                out.extend_from_slice(&frame.stack_count.to_be_bytes());
                self.types(out, frame.stack)?;
            }
            FrameKind::Append(_) => self.types(out, frame.locals)?,
            FrameKind::SameLocals1StackItem => self.types(out, frame.stack)?,
            FrameKind::Same | FrameKind::Chop(_) => {}
        }
        self.previous = i64::from(pc);
        self.count = self.count.checked_add(1).ok_or(Reason::BadStackMap)?;
        Ok(())
    }

    /// Copies verification types; the offset of an Uninitialized follows its `new`.
    fn types(&self, out: &mut Vec<u8>, span: &[u8]) -> Result<(), Reason> {
        if !span.contains(&verification_type::UNINITIALIZED) {
            out.extend_from_slice(span);
            return Ok(());
        }
        for item in types(span) {
            match *item {
                [verification_type::UNINITIALIZED, a, b] => {
                    let pc = usize::from(u16::from_be_bytes([a, b]));
                    if !self.scan.is_instruction(pc) {
                        return Err(Reason::BadStackMap);
                    }
                    let moved = self.relocation.instruction(pc) as u16;
                    out.push(verification_type::UNINITIALIZED);
                    out.extend_from_slice(&moved.to_be_bytes());
                }
                _ => out.extend_from_slice(item),
            }
        }
        Ok(())
    }

    fn appended(&mut self, out: &mut Vec<u8>, frames: Option<AppendedFrames<'_>>) -> Result<(), Reason> {
        let Some(AppendedFrames { pcs, handlers, throwable, extra }) = frames else { return Ok(()) };
        let [a, b] = throwable.to_be_bytes();
        let stack = [verification_type::OBJECT, a, b];
        let mut before: Option<Vec<u8>> = None;
        for (position, &pc) in pcs.iter().enumerate() {
            let mut locals = handlers.get(position).map_or_else(Vec::new, |handler| handler.locals.clone());
            for &extra in extra {
                add_to(&mut locals, extra)?;
            }
            let frame = Frame {
                pc: 0,
                kind: FrameKind::Full,
                extended: false,
                locals_count: types(&locals).count() as u16,
                locals: &locals,
                stack_count: 1,
                stack: &stack,
            };
            let is_same = before.as_ref() == Some(&locals);
            self.frame(out, pc, &if is_same { repeated(frame) } else { frame })?;
            before = Some(locals);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
