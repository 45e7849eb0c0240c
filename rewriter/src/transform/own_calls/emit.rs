//! The code of calls: values from the stack go into local variables of ours and back, so that they can be passed.

use super::call::{Argument, Call, Passed, Value};
use super::places::{Local, Operation, kind, width};
use crate::class_file::opcode;
use crate::code::Reason;
use crate::code::edits::{Edits, Place, RegionHandler, Snippet};
use crate::transform::MethodSite;
use std::collections::BTreeMap;

/// Instructions; a snippet is short.
#[derive(Debug, Default)]
struct Run(Vec<Snippet>);

impl Run {
    fn add(&mut self, snippet: Snippet) {
        match self.0.last_mut() {
            Some(last) if last.has_room(snippet.length()) => *last = last.then(snippet),
            _ => self.0.push(snippet),
        }
    }

    fn local(&mut self, opcode: u8, index: u16) {
        self.add(Snippet::default().with_local(opcode, index));
    }

    fn insert(self, pc: u32, place: Place, edits: &mut Edits) {
        self.0.into_iter().for_each(|snippet| edits.insert(pc, place, snippet));
    }
}

/// Local variables of ours that have values of the stack.
#[derive(Debug, Default)]
struct Saved {
    /// Opcode of the load, and index; by position among receiver and operands.
    operands: BTreeMap<usize, (u8, u16)>,
    /// Of what the instruction left, or of what was thrown.
    outcome: Option<(u8, u16)>,
    has_receiver: bool,
}

/// All calls of a method, each with its place.
pub(super) struct Emission<'e, 's, 'a> {
    pub(super) site: &'e mut MethodSite<'s>,
    pub(super) edits: &'e mut Edits,
    /// `this` and the arguments; empty if no call passes one.
    pub(super) locals: &'a [Local],
}

impl Emission<'_, '_, '_> {
    /// The calls at the entry, in front of everything.
    pub(super) fn entry(&mut self, calls: &[Call]) -> Result<(), Reason> {
        let mut run = Run::default();
        for call in calls {
            self.call(call, &Saved::default(), &mut run)?;
        }
        self.edits.first.extend(run.0);
        Ok(())
    }

    /// The calls in front of and behind the instruction at `pc`.
    pub(super) fn around(
        &mut self,
        pc: u32,
        behind: u32,
        operation: Option<&Operation>,
        before: &[Call],
        after: &[Call],
    ) -> Result<(), Reason> {
        let is_return = opcode::is_return(self.site.code.code[pc as usize]);
        let mut types: Vec<&[u8]> = Vec::new();
        let mut saved = Saved::default();
        if let Some(operation) = operation {
            saved.has_receiver = operation.receiver.is_some();
            types.extend(operation.receiver.iter().chain(&operation.operands).map(Vec::as_slice));
            types.extend(operation.result.iter().filter(|_| is_return).map(Vec::as_slice));
        }
        let wanted = |call: &Call, value: fn(&Value) -> bool| {
            call.arguments.iter().any(|one| matches!(&one.passed, Passed::Value(v) if value(v)))
        };
        let lowest = before.iter().chain(after).flat_map(|call| &call.arguments);
        let lowest = lowest.filter_map(|argument| saved.position(argument, is_return)).min();
        let mut next = self.first_local();
        if let Some(lowest) = lowest {
            let mut run = Run::default();
            for (position, of) in types.iter().enumerate().skip(lowest) {
                saved.operands.insert(position, (opcode::ILOAD + kind(of), next));
                next = next.checked_add(width(of)).ok_or(Reason::MaxLocals)?;
            }
            let locals = || saved.operands.values();
            for (load, index) in locals().rev() {
                run.local(load - opcode::ILOAD + opcode::ISTORE, *index);
            }
            locals().for_each(|(load, index)| run.local(*load, *index));
            run.insert(pc, Place::Before, self.edits);
        }
        let mut run = Run::default();
        for call in before {
            self.call(call, &saved, &mut run)?;
        }
        run.insert(pc, Place::Before, self.edits);

        let mut run = Run::default();
        if after.iter().any(|call| wanted(call, |value| *value == Value::Result)) {
            // Behind a constructor's call, the new object.
            let of = operation.and_then(|operation| operation.result.as_deref()).unwrap_or(b"[");
            let is_wide = width(of) == 2;
            run.add(Snippet::default().with(&[if is_wide { opcode::DUP2 } else { opcode::DUP }]));
            run.local(opcode::ISTORE + kind(of), next);
            saved.outcome = Some((opcode::ILOAD + kind(of), next));
            next = next.checked_add(width(of)).ok_or(Reason::MaxLocals)?;
            self.edits.need_stack(width(of));
        }
        for call in after {
            self.call(call, &saved, &mut run)?;
        }
        run.insert(behind, Place::AfterPrevious, self.edits);
        self.need_locals_up_to(next)
    }

    /// One handler for all calls where an exception leaves the method.
    pub(super) fn throw(&mut self, calls: &[Call], ranges: Vec<(u32, u32)>) -> Result<(), Reason> {
        let exception = self.first_local();
        let saved = Saved { outcome: Some((opcode::ALOAD, exception)), ..Saved::default() };
        let mut run = Run::default();
        run.local(opcode::ASTORE, exception);
        for call in calls {
            self.call(call, &saved, &mut run)?;
        }
        run.local(opcode::ALOAD, exception);
        run.add(Snippet::default().with(&[opcode::ATHROW]));
        let mut wanted: Vec<usize> = Vec::new();
        for argument in calls.iter().flat_map(|call| &call.arguments) {
            wanted.extend(local_of(argument, self.site.is_static));
        }
        let behind = exception.checked_add(1).ok_or(Reason::MaxLocals)?;
        self.need_locals_up_to(behind)?;
        let deepest = calls.iter().map(Call::slots).max().unwrap_or_default();
        self.edits.least_stack = self.edits.least_stack.max(deepest.max(1));
        let locals = self.kept_locals(&wanted)?;
        self.edits.region_handlers.push(RegionHandler { snippets: run.0, start: None, ranges, locals });
        Ok(())
    }

    /// The verification types of `this` and the arguments that the handler passes, up to the last one.
    fn kept_locals(&mut self, wanted: &[usize]) -> Result<Vec<u8>, Reason> {
        use crate::class_file::stack_map_table::verification_type::{
            DOUBLE, FLOAT, INTEGER, LONG, OBJECT, TOP,
        };
        let mut items = Vec::new();
        let Some(last) = wanted.iter().max() else { return Ok(items) };
        for (position, local) in self.locals.iter().enumerate().take(last + 1) {
            let descriptor = &local.descriptor[..];
            if !wanted.contains(&position) {
                items.extend(std::iter::repeat_n(TOP, usize::from(width(descriptor))));
                continue;
            }
            match (kind(descriptor), descriptor) {
                (4, [b'L', name @ .., b';'] | name) => {
                    let index = self.site.appender.class_named(self.site.pool, name)?;
                    items.push(OBJECT);
                    items.extend_from_slice(&index.to_be_bytes());
                }
                (1, _) => items.push(LONG),
                (2, _) => items.push(FLOAT),
                (3, _) => items.push(DOUBLE),
                _ => items.push(INTEGER),
            }
        }
        Ok(items)
    }

    fn first_local(&self) -> u16 {
        let taken = self.edits.counter_slots() + self.edits.held_locals;
        self.site.code.max_locals.saturating_add(taken)
    }

    fn need_locals_up_to(&mut self, next: u16) -> Result<(), Reason> {
        let extra = next.checked_sub(self.first_local()).ok_or(Reason::MaxLocals)?;
        if extra > 0 {
            self.edits.need_locals(self.edits.held_locals + extra);
        }
        Ok(())
    }

    /// Pushes what is passed, and calls.
    fn call(&mut self, call: &Call, saved: &Saved, run: &mut Run) -> Result<(), Reason> {
        for argument in &call.arguments {
            let snippet = self.push(argument, saved)?;
            run.add(snippet);
        }
        self.edits.need_stack(call.slots());
        let descriptor = call.encoded_descriptor();
        let [a, b] = self.site.appender.named_method(&call.owner, &call.name, &descriptor)?.to_be_bytes();
        run.add(Snippet::default().with(&[opcode::INVOKESTATIC, a, b]));
        Ok(())
    }

    fn push(&mut self, argument: &Argument, saved: &Saved) -> Result<Snippet, Reason> {
        let wide = |index: u16| {
            let [a, b] = index.to_be_bytes();
            Snippet::default().with(&[opcode::LDC2_W, a, b])
        };
        let site = &mut *self.site;
        match &argument.passed {
            Passed::Int(value) => site.push(*value as u32),
            Passed::Long(value) => {
                Ok(wide(site.appender.own_wide(crate::class_file::Tag::Long, *value as u64)?))
            }
            Passed::Double(value) => {
                Ok(wide(site.appender.own_wide(crate::class_file::Tag::Double, value.to_bits())?))
            }
            Passed::Text(text) => {
                let index = site.appender.own_string(text)?;
                Ok(site.push_constant(index))
            }
            Passed::Value(_) => {
                let local = match local_of(argument, site.is_static) {
                    Some(position) => {
                        let local = self.locals.get(position).ok_or(Reason::BadCode)?;
                        (opcode::ILOAD + kind(&local.descriptor), local.slot)
                    }
                    None => saved.of(argument).ok_or(Reason::BadCode)?,
                };
                Ok(Snippet::default().with_local(local.0, local.1))
            }
        }
    }
}

/// Which of `this` and the arguments is passed.
fn local_of(argument: &Argument, is_static: bool) -> Option<usize> {
    match argument.passed {
        Passed::Value(Value::This) => Some(0),
        Passed::Value(Value::Argument(number)) => Some(usize::from(number) + usize::from(!is_static)),
        _ => None,
    }
}

impl Saved {
    /// The position among receiver and operands of what is passed; that of a return is what is returned.
    fn position(&self, argument: &Argument, is_return: bool) -> Option<usize> {
        match argument.passed {
            Passed::Value(Value::Receiver) => Some(0),
            Passed::Value(Value::Operand(number)) => {
                Some(usize::from(number) + usize::from(self.has_receiver))
            }
            Passed::Value(Value::Result) if is_return => Some(0),
            _ => None,
        }
    }

    fn of(&self, argument: &Argument) -> Option<(u8, u16)> {
        match argument.passed {
            Passed::Value(Value::Exception) => self.outcome,
            // What a return returns is its only operand.
            Passed::Value(Value::Result) => self.outcome.or_else(|| self.operands.get(&0).copied()),
            _ => self.position(argument, false).and_then(|position| self.operands.get(&position).copied()),
        }
    }
}
