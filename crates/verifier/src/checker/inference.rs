//! Verification by type inference (JVMS 4.10.2), for class files from before StackMapTable.
//!
//! 1. The operands of all instructions are checked.
//! 2. From the beginning of the method, instructions are executed on types until none is left whose type state changed.
//!    A type state is kept where a way may join another one: at targets of branches, at handlers and behind `jsr`.
//! 3. Where ways join, types become the nearest that all are. Stacks have to be of one height.
//! 4. A subroutine (`jsr`) runs on the types of all its callers; behind it, a caller has its own types again but for
//!    the local variables that the subroutine set.

use super::tables::local_form;
use super::{Checker, MOST_WORK, decode};
use crate::fault::{Check, Problem, Rule};
use crate::frame::{Frame, View};
use crate::hierarchy::flags;
use crate::types::Type;
use instrument_rewriter::class_file::instruction::{Instructions, i2, i4, length_at, targets, u2};
use instrument_rewriter::class_file::{Member, opcode as op};
use std::collections::{BTreeMap, BTreeSet};

/// More types than the states of any method need that a compiler writes.
const MOST_TYPES: usize = 1 << 24;

/// A subroutine on the way to a place, and the local variables that were set since it was called.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Subroutine {
    entry: usize,
    set: BTreeSet<usize>,
}

/// The type state at a place, and the subroutines that are open there, outermost first.
#[derive(Debug, Clone)]
struct State {
    locals: Vec<Type>,
    stack: Vec<Type>,
    this_uninitialized: bool,
    open: Vec<Subroutine>,
}

/// What is known of the method so far.
#[derive(Debug, Default)]
struct Flow {
    states: BTreeMap<usize, State>,
    changed: BTreeSet<usize>,
    /// Where ways may join.
    leaders: BTreeSet<usize>,
    /// By the place of a `jsr`: the subroutine, where it goes on, and the state.
    calls: BTreeMap<usize, (usize, usize, State)>,
    /// By the entry of a subroutine: the place of its `ret`, and the state there.
    returns: BTreeMap<usize, (usize, State)>,
    types: usize,
}

impl<'a> Checker<'_, 'a, '_> {
    /// Verifies a method; one without code is fine.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn infer(&mut self, method: &Member<'a>) -> Check {
        if method.access_flags & (flags::NATIVE | flags::ABSTRACT) != 0 {
            return Ok(());
        }
        let read = |error: instrument_rewriter::ClassError| Problem::new(Rule::Structure, error.to_string());
        let Some(code) = method.code(&self.class.pool).map_err(read)? else { return Ok(()) };
        (self.work, self.infers, self.code) = (0, true, code.code);
        self.first_frame(method, &code)?;
        decode(code.code, &mut self.buffers.marks)?;
        self.operands()?;
        self.handlers(&code)?;
        let mut flow = Flow { leaders: self.leaders(), ..Flow::default() };
        let first = State::of(&self.buffers.frame, &[]);
        self.join(&mut flow, 0, first)?;
        while let Some(pc) = flow.changed.pop_first() {
            self.block(&mut flow, pc)?;
        }
        Ok(())
    }

    fn leaders(&mut self) -> BTreeSet<usize> {
        let mut leaders: BTreeSet<usize> =
            self.buffers.handlers.iter().map(|handler| handler.target).collect();
        leaders.insert(0);
        for instruction in Instructions::new(self.code).map_while(Result::ok) {
            let (pc, opcode) = (instruction.pc, instruction.opcode);
            leaders.extend(targets(self.code, pc).filter_map(|target| usize::try_from(target).ok()));
            if matches!(opcode, op::JSR | op::JSR_W) {
                leaders.insert(pc + instruction.bytes.len());
            }
        }
        leaders
    }

    /// Executes from a leader on until the way ends or reaches another one.
    fn block(&mut self, flow: &mut Flow, start: usize) -> Check {
        let Some(state) = flow.states.get(&start) else { return Ok(()) };
        let State { locals, stack, this_uninitialized, mut open } = state.clone();
        self.buffers.frame.become_view(View { locals: &locals, stack: &stack, this_uninitialized });
        let mut pc = start;
        loop {
            if pc >= self.code.len() {
                return Err(Problem::new(Rule::FallsOffCode, ""));
            }
            let step = self.inferred(flow, &mut open, pc).map_err(|problem| problem.at(pc as u32))?;
            let Some(next) = step else { return Ok(()) };
            if flow.leaders.contains(&next) {
                let state = State::of(&self.buffers.frame, &open);
                return self.join(flow, next, state).map_err(|problem| problem.at(pc as u32));
            }
            pc = next;
        }
    }

    /// One instruction. Returns the next one, if it leads there.
    fn inferred(&mut self, flow: &mut Flow, open: &mut [Subroutine], pc: usize) -> Check<Option<usize>> {
        self.work += 1;
        let opcode = self.code[pc];
        let next = pc
            + length_at(self.code, pc).map_err(|error| Problem::new(Rule::BadInstruction, error.reason))?;
        // Whatever the instruction does, a handler sees what was in front of it.
        for at in 0..self.buffers.handlers.len() {
            let handler = self.buffers.handlers[at];
            self.work += 1;
            let version = self.buffers.frame.version;
            if handler.start <= pc && pc < handler.end && handler.compared != version {
                self.buffers.handlers[at].compared = version;
                let mut state = State::of(&self.buffers.frame, open);
                state.stack = vec![handler.catches];
                self.join(flow, handler.target, state)?;
            }
        }
        match opcode {
            op::JSR => return self.jsr(flow, open, pc, pc as i64 + i64::from(i2(self.code, pc + 1)), next),
            op::JSR_W => return self.jsr(flow, open, pc, pc as i64 + i64::from(i4(self.code, pc + 1)), next),
            op::RET => return self.ret(flow, open, pc, usize::from(self.code[pc + 1])),
            op::WIDE if self.code[pc + 1] == op::RET => {
                return self.ret(flow, open, pc, usize::from(u2(self.code, pc + 2)));
            }
            op::NEW => {
                let object = Type::uninitialized(pc as u32);
                if self.buffers.frame.stack.contains(&object) {
                    return Err(Problem::new(
                        Rule::StackType,
                        "an object of this new is on the stack already",
                    ));
                }
                self.buffers.frame.initialize(object, Type::TOP);
            }
            _ => {}
        }
        self.buffers.targets.clear();
        let flows = self.execute(pc)?;
        self.note_set(open, pc);
        for at in 0..self.buffers.targets.len() {
            let state = State::of(&self.buffers.frame, open);
            self.join(flow, self.buffers.targets[at], state)?;
        }
        Ok(flows.then_some(next))
    }

    /// Notes the local variables that a store sets in the subroutines that are open.
    fn note_set(&self, open: &mut [Subroutine], pc: usize) {
        let (opcode, wide) = match self.code[pc] {
            op::WIDE => (self.code[pc + 1], true),
            opcode => (opcode, false),
        };
        let (form, index) = match local_form(opcode) {
            Some((form, index)) if form >= op::ISTORE => (form, index),
            _ if opcode == op::IINC => (op::ISTORE, None),
            _ => return,
        };
        let index = index.unwrap_or_else(|| {
            if wide { usize::from(u2(self.code, pc + 2)) } else { usize::from(self.code[pc + 1]) }
        });
        for subroutine in open {
            subroutine.set.insert(index);
            if matches!(form, op::LSTORE | op::DSTORE) {
                subroutine.set.insert(index + 1);
            }
        }
    }

    fn jsr(
        &mut self,
        flow: &mut Flow,
        open: &[Subroutine],
        pc: usize,
        target: i64,
        next: usize,
    ) -> Check<Option<usize>> {
        let entry =
            usize::try_from(target).map_err(|_| Problem::new(Rule::BranchTarget, target.to_string()))?;
        if open.iter().any(|subroutine| subroutine.entry == entry) {
            return Err(Problem::new(Rule::Subroutine, format!("the subroutine at {entry} calls itself")));
        }
        let caller = State::of(&self.buffers.frame, open);
        self.buffers.frame.push(Type::return_address(entry as u32))?;
        let mut state = State::of(&self.buffers.frame, open);
        state.open.push(Subroutine { entry, set: BTreeSet::new() });
        flow.calls.insert(pc, (entry, next, caller));
        self.join(flow, entry, state)?;
        self.back(flow, pc)?;
        Ok(None)
    }

    fn ret(&mut self, flow: &mut Flow, open: &[Subroutine], pc: usize, index: usize) -> Check<Option<usize>> {
        let local = self.buffers.frame.locals.get(index).copied();
        let Some(entry) = local.and_then(Type::subroutine).map(|entry| entry as usize) else {
            let found = local.map_or(String::new(), |of| self.universe.names.words(of));
            return Err(Problem::new(Rule::Subroutine, format!("local variable {index}"))
                .instead("return address", found));
        };
        if !open.iter().any(|subroutine| subroutine.entry == entry) {
            return Err(Problem::new(
                Rule::Subroutine,
                format!("the subroutine at {entry} was left already"),
            ));
        }
        if flow.returns.get(&entry).is_some_and(|known| known.0 != pc) {
            return Err(Problem::new(
                Rule::Subroutine,
                format!("the subroutine at {entry} has two ret instructions"),
            ));
        }
        flow.returns.insert(entry, (pc, State::of(&self.buffers.frame, open)));
        let callers: Vec<usize> =
            flow.calls.iter().filter(|(_, call)| call.0 == entry).map(|(pc, _)| *pc).collect();
        callers.into_iter().try_for_each(|caller| self.back(flow, caller))?;
        Ok(None)
    }

    /// Goes on behind a `jsr`, if its subroutine returns.
    fn back(&mut self, flow: &mut Flow, caller: usize) -> Check {
        let Some((entry, next, call)) = flow.calls.get(&caller) else { return Ok(()) };
        let Some((_, end)) = flow.returns.get(entry) else { return Ok(()) };
        let Some(subroutine) = end.open.iter().find(|open| open.entry == *entry) else { return Ok(()) };
        let left = Type::return_address(*entry as u32);
        let clean = |of: Type| if of == left { Type::TOP } else { of };
        let locals = call.locals.iter().zip(&end.locals).enumerate();
        let mut open = call.open.clone();
        open.iter_mut().for_each(|open| open.set.extend(&subroutine.set));
        let state = State {
            locals: locals
                .map(|(index, (&before, &after))| {
                    clean(if subroutine.set.contains(&index) { after } else { before })
                })
                .collect(),
            stack: end.stack.iter().map(|&of| clean(of)).collect(),
            this_uninitialized: end.this_uninitialized,
            open,
        };
        let next = *next;
        self.join(flow, next, state)
    }

    /// A way with this state reaches a leader.
    fn join(&mut self, flow: &mut Flow, pc: usize, state: State) -> Check {
        self.work += (state.locals.len() + state.stack.len()) as u64;
        if self.work > MOST_WORK {
            return Err(Problem::new(Rule::TooComplex, "too many ways join"));
        }
        if state.stack.len() > self.buffers.frame.max_stack() {
            return Err(Problem::new(
                Rule::StackOverflow,
                format!("max_stack is {}", self.buffers.frame.max_stack()),
            ));
        }
        let Some(known) = flow.states.get_mut(&pc) else {
            flow.types += state.locals.len() + state.stack.len();
            if flow.types > MOST_TYPES {
                return Err(Problem::new(Rule::TooComplex, "too many types where ways join"));
            }
            flow.states.insert(pc, state);
            flow.changed.insert(pc);
            return Ok(());
        };
        if known.stack.len() != state.stack.len() {
            let height = |stack: &[Type]| format!("a stack of {} slots", stack.len());
            return Err(Problem::new(Rule::Merge, format!("at {pc}"))
                .instead(height(&known.stack), height(&state.stack)));
        }
        let mut is_changed = false;
        for (old, &new) in known.locals.iter_mut().zip(&state.locals) {
            if *old != new && *old != Type::TOP {
                let merged = self.universe.merge(*old, new);
                is_changed |= merged != *old;
                *old = merged;
            }
        }
        for (old, &new) in known.stack.iter_mut().zip(&state.stack) {
            let merged = self.universe.merge(*old, new);
            if merged == Type::TOP && *old != Type::TOP {
                let names = &self.universe.names;
                return Err(Problem::new(Rule::Merge, format!("the stack at {pc}"))
                    .instead(names.words(*old), names.words(new)));
            }
            is_changed |= merged != *old;
            *old = merged;
        }
        if state.this_uninitialized && !known.this_uninitialized {
            known.this_uninitialized = true;
            is_changed = true;
        }
        let before = known.open.len();
        known.open.retain(|open| state.open.iter().any(|other| other.entry == open.entry));
        is_changed |= before != known.open.len();
        for open in &mut known.open {
            for other in state.open.iter().filter(|other| other.entry == open.entry) {
                let before = open.set.len();
                open.set.extend(&other.set);
                is_changed |= before != open.set.len();
            }
        }
        if is_changed {
            flow.changed.insert(pc);
        }
        Ok(())
    }
}

impl State {
    fn of(frame: &Frame, open: &[Subroutine]) -> State {
        State {
            locals: frame.locals.clone(),
            stack: frame.stack.clone(),
            this_uninitialized: frame.this_uninitialized,
            open: open.to_vec(),
        }
    }
}
