//! Verification by type checking (JVMS 4.10.1), as HotSpot's ClassVerifier does it: one pass over the code of each
//! method.
//!
//! 1. The beginnings of instructions are marked ([`decode`]).
//! 2. The exception table and the local variable table have to name such places.
//! 3. The StackMapTable is read ([`StackMaps`]).
//! 4. Instruction by instruction, the type state changes ([`instructions`]); at every frame, branch and handler it has
//!    to fit.
//!
//! Class files from before version 50, and those of version 50 that fail, are verified by type inference
//! ([`inference`], JVMS 4.10.2).

mod calls;
mod fields;
mod inference;
mod instructions;
mod operands;
mod tables;

use crate::constants::{Constants, parameters};
use crate::fault::{Check, Problem, Rule};
use crate::format::Jvm;
use crate::frame::{Frame, View};
use crate::hierarchy::{Universe, flags, key, package_of};
use crate::stack_maps::{Mark, Names, StackMaps};
use crate::types::{NameId, Type};
use instrument_rewriter::class_file::instruction::{length_at, u2};
use instrument_rewriter::class_file::{ClassFile, CodeAttribute, Member, find_attribute, opcode};

/// Comparisons of types in one method; no method that a compiler writes needs a thousandth of it.
const MOST_WORK: u64 = 1 << 32;

/// A row of the exception table.
#[derive(Debug, Clone, Copy)]
struct Handler {
    start: usize,
    end: usize,
    target: usize,
    catches: Type,
    /// Version of the frame that was compared last.
    compared: u64,
}

/// Buffers that are used for one method after the other.
#[derive(Debug, Default)]
pub struct Buffers {
    frame: Frame,
    maps: StackMaps,
    marks: Vec<Mark>,
    handlers: Vec<Handler>,
    /// Handlers that cover the current instruction, and where that changes.
    active: Vec<usize>,
    active_until: usize,
    /// Version of the frame that was compared with all of them last.
    compared: u64,
    /// With inference: where the current instruction branches to.
    targets: Vec<usize>,
}

/// Marks the beginnings of the instructions.
pub fn decode(code: &[u8], marks: &mut Vec<Mark>) -> Check {
    marks.clear();
    marks.resize(code.len(), Mark::default());
    let mut pc = 0;
    while pc < code.len() {
        let length = match usize::from(opcode::LENGTHS[usize::from(code[pc])]) {
            0 => length_at(code, pc)
                .map_err(|error| Problem::new(Rule::BadInstruction, error.reason).at(pc as u32))?,
            length => length,
        };
        if pc + length > code.len() {
            return Err(Problem::new(Rule::BadInstruction, "it is cut off").at(pc as u32));
        }
        marks[pc] = Mark::instruction(code[pc] == opcode::NEW);
        pc += length;
    }
    Ok(())
}

/// The checker of one class.
pub struct Checker<'c, 'a, 'p> {
    class: &'c ClassFile<'a>,
    universe: &'c mut Universe<'p>,
    constants: Constants<'a>,
    this: NameId,
    above: Option<NameId>,
    interfaces: Vec<NameId>,
    /// The superclasses, nearest first, as far as they are known.
    supers: Vec<NameId>,
    buffers: &'c mut Buffers,
    code: &'a [u8],
    result: Type,
    is_constructor: bool,
    work: u64,
    jvm: Jvm,
    /// Types are inferred, not checked.
    infers: bool,
}

impl<'c, 'a, 'p> Checker<'c, 'a, 'p> {
    /// For a class that is the universe's current one.
    pub fn new(
        class: &'c ClassFile<'a>,
        this: NameId,
        jvm: Jvm,
        universe: &'c mut Universe<'p>,
        buffers: &'c mut Buffers,
    ) -> Self {
        let above = class.super_name().ok().flatten().map(|name| universe.names.id(name));
        let interfaces = class.interfaces().filter_map(|index| class.pool.class_name(index).ok());
        let interfaces = interfaces.map(|name| universe.names.id(name)).collect();
        let supers = universe.supers(this);
        Self {
            class,
            constants: Constants::new(&class.pool),
            this,
            above,
            interfaces,
            supers,
            universe,
            buffers,
            code: &[],
            result: Type::TOP,
            is_constructor: false,
            work: 0,
            jvm,
            infers: false,
        }
    }

    /// Checks a method; one without code is fine.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn method(&mut self, method: &Member<'a>) -> Check {
        if method.access_flags & (flags::NATIVE | flags::ABSTRACT) != 0 {
            return Ok(());
        }
        let read = |error: instrument_rewriter::ClassError| Problem::new(Rule::Structure, error.to_string());
        let Some(code) = method.code(&self.class.pool).map_err(read)? else { return Ok(()) };
        self.code = code.code;
        (self.work, self.infers) = (0, false);
        let used = self.first_frame(method, &code)?;
        decode(code.code, &mut self.buffers.marks)?;
        self.handlers(&code)?;
        self.local_variable_table(&code)?;
        let Buffers { frame, maps, marks, .. } = &mut *self.buffers;
        maps.clear();
        let table =
            find_attribute(code.attributes.clone(), &self.class.pool, b"StackMapTable").map_err(read)?;
        // HotSpot takes an empty attribute for none, and in Java 25 one that begins with no frames.
        let is_none =
            |info: &[u8]| info.is_empty() || self.jvm.newest_major >= 69 && info.starts_with(&[0, 0]);
        if let Some(table) = table.filter(|table| !is_none(table.info)) {
            let first = (&*frame, used);
            let mut names =
                Names { class: self.class, constants: &mut self.constants, universe: self.universe };
            maps.read(table.info, &code, first, marks, &mut names)?;
        }
        self.pass()
    }

    /// JVMS 4.10.1.6: the type state at the beginning. Returns how many local variables are used.
    fn first_frame(&mut self, method: &Member<'a>, code: &CodeAttribute<'a>) -> Check<usize> {
        let pool = &self.class.pool;
        let (name, descriptor) =
            (pool.utf8_or_empty(method.name_index), pool.utf8_or_empty(method.descriptor_index));
        let mut parameter_types = Vec::new();
        let is_static = method.access_flags & flags::STATIC != 0 || name == b"<clinit>";
        self.is_constructor = name == b"<init>";
        let frame = &mut self.buffers.frame;
        frame.reset(code.max_locals, code.max_stack);
        if !is_static {
            let is_uninitialized = self.is_constructor && self.this != NameId::OBJECT;
            frame.this_uninitialized = is_uninitialized;
            parameter_types.push(if is_uninitialized {
                Type::UNINITIALIZED_THIS
            } else {
                self.this.object()
            });
        }
        self.result = parameters(descriptor, &mut self.universe.names, &mut parameter_types);
        let used = parameter_types.len();
        match frame.locals.get_mut(..used) {
            Some(locals) => locals.copy_from_slice(&parameter_types),
            None => {
                return Err(Problem::new(
                    Rule::Arguments,
                    "the parameters do not fit into the local variables",
                ));
            }
        }
        Ok(used)
    }

    /// The exception table has to name instructions and throwable classes.
    fn handlers(&mut self, code: &CodeAttribute<'a>) -> Check {
        let Buffers { handlers, marks, active, active_until, compared, .. } = &mut *self.buffers;
        handlers.clear();
        active.clear();
        (*active_until, *compared) = (0, 0);
        for row in code.exception_table.iter() {
            let is_place = |pc: u16| marks.get(usize::from(pc)).is_some_and(|mark| mark.is_instruction());
            let end = usize::from(row.end_pc);
            if !is_place(row.start_pc)
                || !is_place(row.handler_pc)
                || end != code.code.len() && !is_place(row.end_pc)
            {
                let row = format!("{}..{} to {}", row.start_pc, row.end_pc, row.handler_pc);
                return Err(Problem::new(
                    Rule::ExceptionTable,
                    format!("{row}: no instruction begins there"),
                ));
            }
            let catches = match row.catch_type {
                0 => NameId::THROWABLE.object(),
                index => self.constants.class(&self.class.pool, index, self.universe)?,
            };
            if !self.universe.is_assignable(NameId::THROWABLE.object(), catches, false) {
                return Err(Problem::new(Rule::CatchType, self.universe.names.words(catches))
                    .at(u32::from(row.handler_pc)));
            }
            let (start, target) = (usize::from(row.start_pc), usize::from(row.handler_pc));
            handlers.push(Handler { start, end, target, catches, compared: 0 });
        }
        Ok(())
    }

    /// JVMS 4.7.13: ranges are those of instructions.
    fn local_variable_table(&self, code: &CodeAttribute<'a>) -> Check {
        let marks = &self.buffers.marks;
        let mut attributes = code.attributes.clone();
        while let Ok(Some(attribute)) = attributes.next() {
            if self.class.pool.utf8_or_empty(attribute.name_index) != b"LocalVariableTable" {
                continue;
            }
            for row in attribute.info.get(2..).unwrap_or_default().chunks_exact(10) {
                let (start, end) =
                    (usize::from(u2(row, 0)), usize::from(u2(row, 0)) + usize::from(u2(row, 2)));
                let is_place = |pc: usize| marks.get(pc).is_some_and(|mark| mark.is_instruction());
                if !is_place(start) || end != marks.len() && !is_place(end) {
                    let why = format!("{start}..{end}: no instruction begins there");
                    return Err(Problem::new(Rule::LocalVariableTable, why));
                }
            }
        }
        Ok(())
    }

    /// Whether the current type state, or one that goes to a handler, fits the frame at `target`.
    fn fits(&mut self, target: usize, is_handler: Option<Type>, this_uninitialized: bool) -> Check {
        let frame = &self.buffers.frame;
        let Some(index) = self.buffers.marks.get(target).and_then(|mark| mark.frame()) else {
            let what = if is_handler.is_some() { "exception handler" } else { "branch target" };
            return Err(Problem::new(Rule::NoFrame, format!("{what} {target}")));
        };
        let view = self.buffers.maps.view(index);
        let handled;
        let stack = match &is_handler {
            Some(of) => {
                handled = [*of];
                &handled[..]
            }
            None => &frame.stack,
        };
        self.work += 1 + view.locals.len() as u64 + stack.len() as u64;
        if self.work > MOST_WORK {
            return Err(Problem::new(Rule::TooComplex, "too many comparisons of stack map frames"));
        }
        let universe = &mut *self.universe;
        let mut fit = |to: &[Type], from: &[Type]| {
            to.iter().zip(from).all(|(&to, &from)| to == from || universe.is_assignable(to, from, false))
        };
        if stack.len() == view.stack.len()
            && fit(view.locals, &frame.locals)
            && fit(view.stack, stack)
            && (view.this_uninitialized || !this_uninitialized)
        {
            return Ok(());
        }
        let found = View { locals: &frame.locals, stack, this_uninitialized };
        Err(Self::mismatch(target, is_handler.is_some(), view, found, &self.universe.names))
    }

    #[cold]
    fn mismatch(
        target: usize,
        is_handler: bool,
        expected: View<'_>,
        found: View<'_>,
        names: &crate::types::Names,
    ) -> Box<Problem> {
        let what = if is_handler { "of the exception handler" } else { "" };
        let mut detail = format!("the frame {what} at {target}").replace("  ", " ");
        if found.this_uninitialized && !expected.this_uninitialized {
            detail += ", which says that this is initialised";
        }
        Problem::new(Rule::FrameMismatch, detail).instead(expected.words(names), found.words(names))
    }

    /// A branch of the current instruction.
    fn branch(&mut self, pc: usize, distance: i32) -> Check {
        let flag = self.buffers.frame.this_uninitialized;
        match usize::try_from(pc as i64 + i64::from(distance)) {
            Ok(target) if self.infers => {
                self.buffers.targets.push(target);
                Ok(())
            }
            Ok(target) => self.fits(target, None, flag),
            Err(_) => Err(Problem::new(Rule::NoFrame, "a branch to a place in front of the code")),
        }
    }

    /// The type state has to fit the frames of all handlers that cover the instruction. `this_was_uninitialized`: it
    /// was so before.
    fn covered(&mut self, pc: usize, this_was_uninitialized: bool) -> Check {
        if self.infers {
            return Ok(());
        }
        let Buffers { frame, handlers, active, active_until, compared, .. } = &mut *self.buffers;
        if pc >= *active_until {
            active.clear();
            *active_until = usize::MAX;
            *compared = 0;
            for (index, handler) in handlers.iter().enumerate() {
                if pc < handler.start {
                    *active_until = (*active_until).min(handler.start);
                } else if pc < handler.end {
                    *active_until = (*active_until).min(handler.end);
                    active.push(index);
                }
            }
        }
        let version = frame.version;
        let always = this_was_uninitialized && !frame.this_uninitialized;
        if active.is_empty() || *compared == version && !always {
            return Ok(());
        }
        *compared = version;
        let (flag, has_room) =
            (frame.this_uninitialized || this_was_uninitialized, frame.has_room() || !frame.stack.is_empty());
        for at in 0..self.buffers.active.len() {
            let handler = &mut self.buffers.handlers[self.buffers.active[at]];
            if handler.compared == version && !always {
                continue;
            }
            handler.compared = version;
            let (target, catches) = (handler.target, handler.catches);
            if !has_room {
                return Err(Problem::new(Rule::StackOverflow, "an exception needs a place on the stack"));
            }
            self.fits(target, Some(catches), flag)?;
        }
        Ok(())
    }

    /// The flags of a member as it is found from a class upwards, if it is protected and of another package than the
    /// current class.
    fn is_protected_elsewhere(
        &mut self,
        from: NameId,
        name: &[u8],
        descriptor: &[u8],
        is_method: bool,
    ) -> bool {
        let key = key(name, descriptor);
        let package = package_of(self.universe.names.text(self.this)).to_vec();
        let mut at = Some(from);
        let mut steps = 0;
        while let Some(id) = at {
            steps += 1;
            let Some((class, above)) = self.universe.class(id) else {
                self.universe.assume(id);
                return false;
            };
            let found = if is_method { class.method(key) } else { class.field(key) };
            if let Some(found) = found {
                return found & flags::PROTECTED != 0 && class.package() != package;
            }
            let class = class.clone();
            if !is_method && self.is_field_of_interfaces(&class.interfaces, key, 0)
                || steps > self.supers.len() + 1
            {
                return false;
            }
            at = above;
        }
        false
    }

    /// Fields of interfaces are public, and hide those of superclasses.
    fn is_field_of_interfaces(&mut self, interfaces: &[Box<[u8]>], key: u64, depth: usize) -> bool {
        depth < 64
            && interfaces.iter().any(|name| {
                let id = self.universe.names.id(name);
                let Some(class) = self.universe.class(id).map(|(class, _)| class.clone()) else {
                    return false;
                };
                class.field(key).is_some() || self.is_field_of_interfaces(&class.interfaces, key, depth + 1)
            })
    }
}
