//! Tables of a Code attribute in a form that can be compared: frames with all their locals, and type
//! annotations with their pcs replaced.

use super::listing::field;
use super::model::{Cursor, Pool};

/// A verification type (JVMS 4.7.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VerificationType<'a> {
    Simple(u8),
    Object(&'a [u8]),
    /// The offset of the `new`.
    Uninitialized(usize),
}

use VerificationType::{Object, Simple, Uninitialized};

/// A frame with everything that it inherits spelled out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) pc: usize,
    pub(crate) locals: Vec<VerificationType<'a>>,
    pub(crate) stack: Vec<VerificationType<'a>>,
}

/// The frame at entry (JVMS 4.10.1.6).
pub(crate) fn initial_locals<'a>(
    class: &'a [u8],
    descriptor: &'a [u8],
    is_static: bool,
    is_constructor: bool,
) -> Option<Vec<VerificationType<'a>>> {
    let mut locals = Vec::new();
    if is_constructor {
        locals.push(Simple(6));
    } else if !is_static {
        locals.push(Object(class));
    }
    let mut at = 1;
    while *descriptor.get(at)? != b')' {
        let (_, length) = field(&descriptor[at..])?;
        locals.push(match descriptor[at] {
            b'F' => Simple(2),
            b'D' => Simple(3),
            b'J' => Simple(4),
            b'L' => Object(&descriptor[at + 1..at + length - 1]),
            b'[' => Object(&descriptor[at..at + length]),
            _ => Simple(1),
        });
        at += length;
    }
    Some(locals)
}

fn types<'a>(c: &mut Cursor<'_>, pool: &'a Pool, count: usize) -> Result<Vec<VerificationType<'a>>, String> {
    (0..count)
        .map(|_| {
            Ok(match c.u1()? {
                tag @ 0..=6 => Simple(tag),
                7 => Object(pool.class(c.u2()?)),
                8 => Uninitialized(c.u2()?.into()),
                tag => return Err(format!("verification type {tag}")),
            })
        })
        .collect()
}

/// All frames of a StackMapTable.
pub(crate) fn frames<'a>(
    info: &[u8],
    pool: &'a Pool,
    initial: Vec<VerificationType<'a>>,
) -> Result<Vec<Frame<'a>>, String> {
    let mut c = Cursor::new(info);
    let mut locals = initial;
    let mut next = 0;
    let mut all = Vec::new();
    for _ in 0..c.u2()? {
        let tag = c.u1()?;
        let mut stack = Vec::new();
        let delta = match tag {
            0..=63 => usize::from(tag),
            64..=127 => {
                stack = types(&mut c, pool, 1)?;
                usize::from(tag) - 64
            }
            128..=246 => return Err(format!("frame type {tag}")),
            _ => usize::from(c.u2()?),
        };
        match tag {
            247 => stack = types(&mut c, pool, 1)?,
            248..=250 => {
                let kept = locals.len().checked_sub(251 - usize::from(tag)).ok_or("chops too much")?;
                locals.truncate(kept);
            }
            252..=254 => locals.extend(types(&mut c, pool, usize::from(tag) - 251)?),
            255 => {
                let count = c.u2()?.into();
                locals = types(&mut c, pool, count)?;
                let count = c.u2()?.into();
                stack = types(&mut c, pool, count)?;
            }
            _ => {}
        }
        all.push(Frame { pc: next + delta, locals: locals.clone(), stack });
        next += delta + 1;
    }
    if c.at == info.len() { Ok(all) } else { Err("bytes behind the frames".into()) }
}

/// How the pcs and rows in a type annotation's target change.
pub(crate) trait Moves {
    fn range(&self, start: usize, length: usize) -> (usize, usize);
    fn instruction(&self, pc: usize) -> usize;
    fn row(&self, row: usize) -> usize;
}

/// `info` of a Runtime(In)VisibleTypeAnnotations attribute of a Code attribute (JVMS 4.7.20) with its targets
/// moved.
pub(crate) fn move_type_annotations(info: &[u8], moves: &impl Moves) -> Result<Vec<u8>, String> {
    let mut out = info.to_vec();
    let mut c = Cursor::new(info);
    let put = |out: &mut Vec<u8>, at: usize, value: usize| {
        out[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
    };
    for _ in 0..c.u2()? {
        let kind = c.u1()?;
        match kind {
            0x40 | 0x41 => {
                for _ in 0..c.u2()? {
                    let at = c.at;
                    let (start, length) = moves.range(c.u2()?.into(), c.u2()?.into());
                    put(&mut out, at, start);
                    put(&mut out, at + 2, length);
                    c.u2()?;
                }
            }
            0x42 => {
                let at = c.at;
                let row = moves.row(c.u2()?.into());
                put(&mut out, at, row);
            }
            0x43..=0x4b => {
                let at = c.at;
                let pc = moves.instruction(c.u2()?.into());
                put(&mut out, at, pc);
                if kind >= 0x47 {
                    c.u1()?;
                }
            }
            _ => return Err(format!("target type {kind:#x} in code")),
        }
        let path = usize::from(c.u1()?) * 2;
        c.take(path)?;
        annotation(&mut c)?;
    }
    Ok(out)
}

fn annotation(c: &mut Cursor<'_>) -> Result<(), String> {
    c.u2()?;
    for _ in 0..c.u2()? {
        c.u2()?;
        element_value(c)?;
    }
    Ok(())
}

fn element_value(c: &mut Cursor<'_>) -> Result<(), String> {
    match c.u1()? {
        b'e' => c.take(4).map(|_| ()),
        b'@' => annotation(c),
        b'[' => (0..c.u2()?).try_for_each(|_| element_value(c)),
        _ => c.take(2).map(|_| ()),
    }
}
