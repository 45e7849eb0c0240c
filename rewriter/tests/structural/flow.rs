//! Which object does a constructor call initialise? Every path is run until nothing changes; stack map frames
//! are not asked, so that this is a second opinion on them, too.

use super::listing::{Insn, descriptor_slots, field, fixed_effect, op};
use super::model::{Pool, Row};

/// An initialised value of no interest.
pub(crate) const OTHER: u32 = 0;
/// `this` in front of `super()`.
pub(crate) const THIS: u32 = 1;

/// The object of the `new` at `pc`, not yet initialised.
pub(crate) fn fresh(pc: usize) -> u32 {
    2 * pc as u32 + 2
}

/// The object of the `new` at `pc` behind its constructor call.
pub(crate) fn done(pc: usize) -> u32 {
    fresh(pc) + 1
}

/// The pc of the `new` that made this not yet initialised object.
pub(crate) fn fresh_pc(token: u32) -> Option<usize> {
    (token >= 2 && token.is_multiple_of(2)).then(|| (token as usize - 2) / 2)
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) stack: Vec<u32>,
    locals: Vec<(u16, u32)>,
    /// `this` is not yet initialised.
    pub(crate) pending: bool,
}

pub(crate) struct Method<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) insns: &'a [Insn<'a>],
    /// Instruction at a pc; `usize::MAX` elsewhere.
    pub(crate) at_pc: &'a [usize],
    pub(crate) rows: &'a [Row],
    pub(crate) is_constructor: bool,
}

/// The state in front of every instruction; `None` if no path leads there.
pub(crate) fn run(method: &Method<'_>) -> Result<Vec<Option<State>>, String> {
    let mut states: Vec<Option<State>> = vec![None; method.insns.len()];
    let mut handlers: Vec<Vec<usize>> = vec![Vec::new(); method.insns.len()];
    for row in method.rows {
        for (insn, list) in method.insns.iter().zip(&mut handlers) {
            if (row.start..row.end).contains(&insn.pc) && !list.contains(&row.handler) {
                list.push(row.handler);
            }
        }
    }
    let locals = if method.is_constructor { vec![(0, THIS)] } else { Vec::new() };
    let mut pending = Vec::new();
    flow(&mut states, 0, State { stack: Vec::new(), locals, pending: method.is_constructor }, &mut pending)?;
    while let Some(index) = pending.pop() {
        let insn = &method.insns[index];
        let Some(mut state) = states[index].clone() else { continue };
        for handler in &handlers[index] {
            let thrown = State { stack: vec![OTHER], ..state.clone() };
            flow(&mut states, at(method, *handler as i64)?, thrown, &mut pending)?;
        }
        let before = insn.is_jsr().then(|| state.clone());
        state.step(method.pool, insn).map_err(|e| format!("pc {}: {e}", insn.pc))?;
        for target in insn.targets() {
            flow(&mut states, at(method, target)?, state.clone(), &mut pending)?;
        }
        if insn.falls_through() && index + 1 < method.insns.len() {
            flow(&mut states, index + 1, before.unwrap_or(state), &mut pending)?;
        }
    }
    Ok(states)
}

fn at(method: &Method<'_>, pc: i64) -> Result<usize, String> {
    let index = usize::try_from(pc).ok().and_then(|pc| method.at_pc.get(pc)).copied();
    index.filter(|index| *index < method.insns.len()).ok_or_else(|| format!("no instruction at {pc}"))
}

fn flow(
    states: &mut [Option<State>],
    index: usize,
    state: State,
    pending: &mut Vec<usize>,
) -> Result<(), String> {
    let Some(known) = &mut states[index] else {
        states[index] = Some(state);
        pending.push(index);
        return Ok(());
    };
    if known.stack.len() != state.stack.len() {
        return Err("stack depths differ".into());
    }
    let before = known.clone();
    for (mine, other) in known.stack.iter_mut().zip(&state.stack) {
        if mine != other {
            *mine = OTHER;
        }
    }
    known.locals.retain(|local| state.locals.contains(local));
    known.pending |= state.pending;
    if *known != before {
        pending.push(index);
    }
    Ok(())
}

impl State {
    fn pop(&mut self, slots: usize) -> Result<u32, String> {
        let length = self.stack.len().checked_sub(slots).ok_or("the stack is empty")?;
        let lowest = self.stack.get(length).copied().unwrap_or(OTHER);
        self.stack.truncate(length);
        Ok(lowest)
    }

    fn push(&mut self, slots: usize) {
        self.stack.resize(self.stack.len() + slots, OTHER);
    }

    fn store(&mut self, local: u16, value: u32) {
        self.locals.retain(|known| known.0 != local);
        if value != OTHER {
            self.locals.push((local, value));
            self.locals.sort_unstable();
        }
    }

    /// The receiver of the constructor call `insn`, which this state is in front of.
    pub(crate) fn receiver(&self, pool: &Pool, insn: &Insn<'_>) -> Result<u32, String> {
        let (slots, _) = descriptor_slots(pool.name_and_type(insn.index()).1)?;
        self.clone().pop(slots + 1)
    }

    fn step(&mut self, pool: &Pool, insn: &Insn<'_>) -> Result<(), String> {
        let (opcode, local) = match insn.bytes {
            [op::WIDE, opcode, a, b, ..] => (*opcode, u16::from_be_bytes([*a, *b])),
            [opcode, local, ..] => (*opcode, u16::from(*local)),
            [opcode] => (*opcode, 0),
            [] => return Err("empty".into()),
        };
        match opcode {
            0x19 | 0x2a..=0x2d => {
                let local = if opcode == 0x19 { local } else { u16::from(opcode - 0x2a) };
                let value = self.locals.iter().find(|known| known.0 == local).map_or(OTHER, |known| known.1);
                self.stack.push(value);
            }
            0x36..=0x4e => {
                let (slots, _) = fixed_effect(opcode);
                let local = if opcode < 0x3b { local } else { u16::from((opcode - 0x3b) % 4) };
                let value = self.pop(slots)?;
                for slot in 0..slots as u16 {
                    self.store(local + slot, OTHER);
                }
                if matches!(opcode, 0x3a | 0x4b..=0x4e) {
                    self.store(local, value);
                }
            }
            op::NEW => self.stack.push(fresh(insn.pc)),
            // dup, dup_x1, dup_x2, dup2, dup2_x1, dup2_x2
            0x59..=0x5e => {
                let (count, depth) =
                    [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4)][usize::from(opcode - 0x59)];
                let length = self.stack.len();
                if depth > length {
                    return Err("the stack is empty".into());
                }
                let copied = self.stack[length - count..].to_vec();
                self.stack.splice(length - depth..length - depth, copied);
            }
            0x5f => {
                let length = self.stack.len();
                if length < 2 {
                    return Err("the stack is empty".into());
                }
                self.stack.swap(length - 1, length - 2);
            }
            0xb2..=0xb5 => {
                let (width, _) = field(pool.name_and_type(insn.index()).1).ok_or("field descriptor")?;
                let (pops, pushes) =
                    [(0, width), (width, 0), (1, width), (width + 1, 0)][usize::from(opcode - 0xb2)];
                self.pop(pops)?;
                self.push(pushes);
            }
            0xb6..=0xba => {
                let (name, descriptor) = pool.name_and_type(insn.index());
                let (parameters, result) = descriptor_slots(descriptor)?;
                let receiver = usize::from(!matches!(opcode, op::INVOKESTATIC | op::INVOKEDYNAMIC));
                let lowest = self.pop(parameters + receiver)?;
                if opcode == op::INVOKESPECIAL && name == b"<init>" {
                    self.initialize(lowest);
                }
                self.push(result);
            }
            op::MULTIANEWARRAY => {
                self.pop(usize::from(insn.bytes[3]))?;
                self.push(1);
            }
            _ => {
                let (pops, pushes) = fixed_effect(opcode);
                self.pop(pops)?;
                self.push(pushes);
            }
        }
        Ok(())
    }

    fn initialize(&mut self, object: u32) {
        let initialized = match fresh_pc(object) {
            Some(pc) => done(pc),
            None => OTHER,
        };
        if object == THIS {
            self.pending = false;
        }
        if object == THIS || fresh_pc(object).is_some() {
            for slot in self.stack.iter_mut().chain(self.locals.iter_mut().map(|local| &mut local.1)) {
                if *slot == object {
                    *slot = initialized;
                }
            }
        }
    }
}
