//! Is a rewritten class the original plus exactly what the transforms are to insert? What a JVM does not
//! verify is proven here: a lost exit, a branch around a probe, a table that was not moved.
//!
//! Nothing of the rewriter's own relocation is used. Steps, for every method that changed:
//! 1. Read both listings side by side and recognise, in front of every original instruction, what was inserted
//!    there; every new instruction gets a [`Part`]. What is neither an insertion where one belongs nor the next
//!    original instruction is a fault. Now every old pc has its new places ([`Layout`]).
//! 2. Compare branches, exception table, frames and the other tables under that map.

mod attributes;
mod calls;
mod exception_table;

use super::flow::{self, State};
use super::listing::{Insn, decode, op};
use super::model::{Class, Code, Pool};
use instrument_rewriter::rewrite::Transforms;
use std::collections::{BTreeMap, BTreeSet};

const PROFILER_RUNTIME: &[u8] = b"instrument/runtime/ProfilerRuntime";
const HEAP_PROXY: &[u8] = b"instrument/runtime/HeapProxy";

/// What was recognised; all zero would mean that nothing was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) methods: u64,
    pub(crate) exits: u64,
    pub(crate) supers: u64,
    pub(crate) landings: u64,
    pub(crate) unwinds: u64,
    pub(crate) arrays: u64,
    pub(crate) copies: u64,
    /// Constructors of java.lang.Object.
    pub(crate) roots: u64,
    pub(crate) objects: u64,
    pub(crate) thrown_away: u64,
    pub(crate) untracked: u64,
    pub(crate) starts: u64,
    pub(crate) hand_overs: u64,
    pub(crate) trampolines: u64,
    pub(crate) widened: u64,
    pub(crate) frames: u64,
    pub(crate) split_rows: u64,
    pub(crate) type_annotations: u64,
    /// Methods whose values could not be followed: there the constructor rules were not checked.
    pub(crate) unfollowed: u64,
    /// Debug entries that stand on no instruction, so that no place is right or wrong.
    pub(crate) off_boundary: u64,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, o: Self) {
        for (mine, other) in [
            (&mut self.methods, o.methods),
            (&mut self.exits, o.exits),
            (&mut self.supers, o.supers),
            (&mut self.landings, o.landings),
            (&mut self.unwinds, o.unwinds),
            (&mut self.arrays, o.arrays),
            (&mut self.copies, o.copies),
            (&mut self.roots, o.roots),
            (&mut self.objects, o.objects),
            (&mut self.thrown_away, o.thrown_away),
            (&mut self.untracked, o.untracked),
            (&mut self.starts, o.starts),
            (&mut self.hand_overs, o.hand_overs),
            (&mut self.trampolines, o.trampolines),
            (&mut self.widened, o.widened),
            (&mut self.frames, o.frames),
            (&mut self.split_rows, o.split_rows),
            (&mut self.type_annotations, o.type_annotations),
            (&mut self.unfollowed, o.unfollowed),
            (&mut self.off_boundary, o.off_boundary),
        ] {
            *mine += other;
        }
    }
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)*) => {
        if !$condition { return Err(format!($($message)*)); }
    };
}
use ensure;

/// Compares `new`, the rewritten form, with `old`. `id` gives the method id by method index, `skipped` tells
/// which methods were reported as left alone.
pub(crate) fn check(
    old: &[u8],
    new: &[u8],
    form: Transforms,
    id: &dyn Fn(usize) -> u32,
    skipped: &dyn Fn(usize) -> bool,
) -> Result<Seen, String> {
    let (old, new) = (Class::parse(old)?, Class::parse(new).map_err(|e| format!("output: {e}"))?);
    ensure!((old.minor, old.major) == (new.minor, new.major), "the version changed");
    ensure!(new.pool.bytes.starts_with(&old.pool.bytes), "the old constant pool is not a prefix of the new");
    check_appended(&old.pool, &new.pool)?;
    ensure!(old.middle == new.middle, "something between the pool and the methods changed");
    ensure!(old.tail == new.tail, "the class attributes changed");
    ensure!(old.methods.len() == new.methods.len(), "the number of methods changed");
    let mut seen = Seen::default();
    for (index, (a, b)) in old.methods.iter().zip(&new.methods).enumerate() {
        let at = |e: String| format!("{}: {e}", old.method_name(index));
        ensure!((a.flags, a.name, a.descriptor) == (b.flags, b.name, b.descriptor), "method {index} changed");
        ensure!(a.attributes.len() == b.attributes.len(), "attributes of method {index} changed");
        let mut code_seen = false;
        for (a, b) in a.attributes.iter().zip(&b.attributes) {
            ensure!(a.name == b.name, "attributes of method {index} changed");
            if old.pool.utf8(a.name) != b"Code" || code_seen {
                ensure!(a.info == b.info, "an attribute of method {index} changed");
                continue;
            }
            code_seen = true;
            if skipped(index) {
                ensure!(a.info == b.info, "method {index} was reported as skipped and changed");
                continue;
            }
            let (a, b) = (Code::parse(&a.info).map_err(at)?, Code::parse(&b.info).map_err(at)?);
            let checked = MethodCheck::new(&old, &new, index, &a, &b, form, id(index));
            seen += checked.and_then(MethodCheck::run).map_err(at)?;
        }
    }
    Ok(seen)
}

/// Only what the hooks, the ids and the frames need, and nothing twice.
fn check_appended(old: &Pool, new: &Pool) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for index in old.count.max(1)..new.count {
        let (tag, rest) = new.entry(index);
        let size = match tag {
            1 => 2 + new.utf8(index).len(),
            3 | 10 | 12 => 4,
            7 => 2,
            _ => return Err(format!("constant {index} with tag {tag} was appended")),
        };
        ensure!(known.insert((tag, rest[..size].to_vec())), "constant {index} was appended twice");
    }
    Ok(())
}

/// What a new instruction is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Entry,
    /// The old instruction with this index.
    Original(usize),
    /// Belongs to the old instruction in front of this one.
    After(usize),
    /// The `goto` around a landing or trampolines in front of this one.
    Skip(usize),
    /// The `goto` to the handler at this one for exceptions of its landing.
    Pad(usize),
    /// On behalf of a conditional branch, which led to the old instruction with this index.
    Trampoline(usize),
    /// `exceptionCaught` of the handler at this one.
    Landing(usize),
    /// Belongs to this old instruction: `methodExit` of a return, what a call is told by.
    Before(usize),
    Unwind,
}

/// New places, as pcs, by old instruction; the end of the code counts as one.
#[derive(Default)]
struct Layout {
    /// End of the instruction in front, with what belongs to it.
    end: Vec<usize>,
    /// Only where a handler catches any.
    pad: Vec<Option<usize>>,
    landing: Vec<usize>,
    target: Vec<usize>,
    insn: Vec<usize>,
}

/// One of the two listings.
struct Side<'a> {
    pool: &'a Pool,
    code: &'a Code,
    insns: Vec<Insn<'a>>,
    /// Instruction at a pc; `usize::MAX` where none begins; the end of the code counts as one.
    at_pc: Vec<usize>,
}

impl<'a> Side<'a> {
    fn new(pool: &'a Pool, code: &'a Code) -> Result<Self, String> {
        let insns = decode(&code.code)?;
        let mut at_pc = vec![usize::MAX; code.code.len() + 1];
        for (index, insn) in insns.iter().enumerate() {
            at_pc[insn.pc] = index;
        }
        at_pc[code.code.len()] = insns.len();
        Ok(Self { pool, code, insns, at_pc })
    }

    fn index(&self, pc: usize) -> Option<usize> {
        self.at_pc.get(pc).copied().filter(|index| *index != usize::MAX)
    }

    fn index_or(&self, pc: usize, what: &str) -> Result<usize, String> {
        self.index(pc).ok_or_else(|| format!("{what}: no instruction at pc {pc}"))
    }

    fn pc(&self, index: usize) -> usize {
        self.insns.get(index).map_or(self.code.code.len(), |insn| insn.pc)
    }

    fn flow(&self, is_constructor: bool) -> Result<Vec<Option<State>>, String> {
        flow::run(&flow::Method {
            pool: self.pool,
            insns: &self.insns,
            at_pc: &self.at_pc,
            rows: &self.code.rows,
            is_constructor,
        })
    }
}

struct MethodCheck<'a> {
    class: &'a Class,
    method: usize,
    form: Transforms,
    id: u32,
    is_constructor: bool,
    /// That of java.lang.Object.
    is_root_constructor: bool,
    old: Side<'a>,
    new: Side<'a>,
    /// In front of every old instruction; `None` if the values could not be followed or need not.
    states: Option<Vec<Option<State>>>,
    /// New target of conditional branches -> where the same branches led.
    conditional: BTreeMap<usize, BTreeSet<usize>>,
    parts: Vec<Part>,
    layout: Layout,
    /// `new` instructions with a copy pushed by us.
    copied: BTreeSet<usize>,
    /// Old pcs of their `new`s and of the constructor calls behind which the copies are used.
    thrown_away: Vec<(usize, usize)>,
    /// Calls of `ObjectAlloc`: (new instruction, pc of the old `new`).
    object_probes: Vec<(usize, usize)>,
    /// First new row of every old row.
    rows: Vec<usize>,
    has_unwind: bool,
    /// Slots that the probes need on top of the method's own.
    extra_stack: u16,
    /// Local variables that the probes need behind the method's own.
    extra_locals: u16,
    seen: Seen,
}

impl<'a> MethodCheck<'a> {
    fn new(
        class: &'a Class,
        new_class: &'a Class,
        method: usize,
        old: &'a Code,
        new: &'a Code,
        form: Transforms,
        id: u32,
    ) -> Result<Self, String> {
        let (old, new) = (Side::new(&class.pool, old)?, Side::new(&new_class.pool, new)?);
        let named_init = class.pool.utf8(class.methods[method].name) == b"<init>";
        let is_constructor = named_init && class.has_super();
        let mut seen = Seen { methods: 1, ..Seen::default() };
        let creates = old.insns.iter().any(|insn| insn.op() == op::NEW);
        let states = match (form.method_events && is_constructor) || (form.allocation && creates) {
            false => None,
            true => match old.flow(is_constructor) {
                Ok(states) => Some(states),
                Err(_) => {
                    seen.unfollowed += 1;
                    None
                }
            },
        };
        let mut conditional: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let branches = |side: &Side<'a>| -> Vec<(u8, i64)> {
            let all = side.insns.iter().filter(|insn| insn.is_conditional());
            all.map(|insn| (insn.op(), insn.targets()[0])).collect()
        };
        let (a, b) = (branches(&old), branches(&new));
        ensure!(a.len() == b.len(), "conditional branches: {} became {}", a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            ensure!(a.0 == b.0, "conditional branches changed");
            conditional.entry(b.1 as usize).or_default().insert(a.1 as usize);
        }
        Ok(Self {
            class,
            method,
            form,
            id,
            is_constructor,
            is_root_constructor: named_init && !class.has_super(),
            old,
            new,
            states,
            conditional,
            parts: Vec::new(),
            layout: Layout::default(),
            copied: BTreeSet::new(),
            thrown_away: Vec::new(),
            object_probes: Vec::new(),
            rows: Vec::new(),
            has_unwind: false,
            extra_stack: 0,
            extra_locals: 0,
            seen,
        })
    }

    fn run(mut self) -> Result<Seen, String> {
        self.read_listings()?;
        self.check_branches()?;
        self.check_object_probes()?;
        self.check_exception_table()?;
        self.check_limits()?;
        self.check_attributes()?;
        Ok(self.seen)
    }

    // ---- step 1 ----

    fn read_listings(&mut self) -> Result<(), String> {
        if self.form.method_events {
            let entry = if self.is_constructor { "constructorEntry" } else { "methodEntry" };
            self.event(entry, Part::Entry)?;
        }
        if self.form.object_init && self.is_root_constructor {
            let right = self.peek(0) == Some(0x2a) && self.calls_heap_proxy(1, "EarlyObjectAlloc");
            ensure!(right, "no aload_0 and EarlyObjectAlloc at new pc {}", self.position());
            self.parts.extend([Part::Entry, Part::Entry]);
            self.extra_stack = self.extra_stack.max(1);
            self.seen.roots += 1;
        }
        let rows = self.old.code.rows.iter().filter(|_| self.form.method_events);
        let handlers: BTreeSet<(usize, bool)> = rows.map(|row| (row.handler, row.catch_type == 0)).collect();
        for i in 0..=self.old.insns.len() {
            self.insertions_behind(i)?;
            let position = self.position();
            self.layout.end.push(position);
            let [lands, pads] = [false, true].map(|any| handlers.contains(&(self.old.pc(i), any)));
            let inside = i < self.old.insns.len();
            self.detour(i, (lands || pads) && inside, pads && inside)?;
            let position = self.position();
            self.layout.target.push(position);
            let Some(&insn) = self.old.insns.get(i) else { break };
            if self.form.method_events && insn.is_return() {
                self.event("methodExit", Part::Before(i))?;
                self.seen.exits += 1;
            }
            self.call_probes(i, &insn)?;
            let position = self.position();
            self.layout.insn.push(position);
            self.original(i, &insn)?;
        }
        let position = self.position();
        self.layout.insn.push(position);
        self.has_unwind = self.parts.len() < self.new.insns.len();
        if self.has_unwind {
            ensure!(self.form.method_events, "code behind the code");
            self.event("methodUnwind", Part::Unwind)?;
            ensure!(self.peek(0) == Some(op::ATHROW), "unwind: no athrow behind methodUnwind");
            self.parts.push(Part::Unwind);
            self.seen.unwinds += 1;
        }
        ensure!(self.parts.len() == self.new.insns.len(), "unwind: instructions behind the athrow");
        Ok(())
    }

    /// Opcode of the instruction `ahead` of the one to be read next.
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.new.insns.get(self.parts.len() + ahead).map(Insn::op)
    }

    /// New pc of the instruction to be read next.
    fn position(&self) -> usize {
        self.new.pc(self.parts.len())
    }

    /// `push id; invokestatic ProfilerRuntime.name(I)V`.
    fn event(&mut self, name: &str, part: Part) -> Result<(), String> {
        let fault = |what: &str| format!("{name} expected, {what}");
        let at = self.parts.len();
        let (Some(push), Some(call)) = (self.new.insns.get(at), self.new.insns.get(at + 1)) else {
            return Err(fault("the code ends"));
        };
        let at = format!("at new pc {}: {:02x?} {:02x?}", push.pc, push.bytes, call.bytes);
        let id = self.id;
        let right = match (push.bytes, id) {
            (&[opcode], 0..=5) => u32::from(opcode) == 3 + id,
            (&[0x10, value], 6..=127) => u32::from(value) == id,
            (&[0x11, a, b], 128..=32_767) => u32::from(u16::from_be_bytes([a, b])) == id,
            (&[0x12, index], 32_768..) => self.new.pool.integer(index.into()) == Some(id),
            (&[0x13, a, b], 32_768..) => {
                a != 0 && self.new.pool.integer(u16::from_be_bytes([a, b])) == Some(id)
            }
            _ => false,
        };
        ensure!(call.op() == op::INVOKESTATIC, "{}", fault(&format!("no call {at}")));
        let (called, descriptor) = self.new.pool.name_and_type(call.index());
        let matches = self.new.pool.method_class(call.index()) == PROFILER_RUNTIME
            && called == name.as_bytes()
            && descriptor == b"(I)V";
        ensure!(matches, "{}", fault(&format!("other call {at}")));
        ensure!(right, "{}", fault(&format!("wrong id {at}")));
        self.extra_stack = self.extra_stack.max(1);
        self.parts.extend([part, part]);
        Ok(())
    }

    /// `dup; invokestatic HeapProxy.name(Object)V`, or without the `dup`.
    fn allocation(&mut self, name: &str, with_dup: bool, i: usize) -> Result<(), String> {
        if with_dup {
            ensure!(self.peek(0) == Some(op::DUP), "{name} expected at new pc {}, no dup", self.position());
            self.parts.push(Part::After(i));
        }
        ensure!(self.calls_heap_proxy(0, name), "{name} expected at new pc {}", self.position());
        self.extra_stack = self.extra_stack.max(1);
        self.parts.push(Part::After(i));
        Ok(())
    }

    fn calls_heap_proxy(&self, ahead: usize, name: &str) -> bool {
        self.new.insns.get(self.parts.len() + ahead).is_some_and(|call| {
            let pool = self.new.pool;
            call.op() == op::INVOKESTATIC
                && pool.method_class(call.index()) == HEAP_PROXY
                && pool.name_and_type(call.index()) == (name.as_bytes(), b"(Ljava/lang/Object;)V")
        })
    }

    /// What belongs to the old instruction in front of `i`.
    fn insertions_behind(&mut self, i: usize) -> Result<(), String> {
        let Some(&insn) = i.checked_sub(1).map(|before| &self.old.insns[before]) else { return Ok(()) };
        let (events, allocation) = (self.form.method_events, self.form.allocation);
        let arrays = allocation || self.form.array_allocation;
        match insn.op() {
            op::NEWARRAY | op::ANEWARRAY if arrays => {
                self.allocation("ArrayAlloc", true, i)?;
                self.seen.arrays += 1;
            }
            op::MULTIANEWARRAY if arrays => {
                self.allocation("MultiArrayAlloc", true, i)?;
                self.seen.arrays += 1;
            }
            0xb6..=0xb9 if arrays && calls::maker(self.old.pool, &insn).is_some() => {
                self.allocation(calls::maker(self.old.pool, &insn).unwrap_or_default(), true, i)?;
                self.seen.copies += 1;
            }
            op::NEW if allocation => {
                let original = self.old.insns.get(i).is_some_and(|next| next.op() == op::DUP);
                if !original && self.peek(0) == Some(op::DUP) {
                    self.parts.push(Part::After(i));
                    self.copied.insert(insn.pc);
                }
            }
            op::INVOKESPECIAL if self.old.pool.name_and_type(insn.index()).0 == b"<init>" => {
                let state = self.states.as_ref().and_then(|states| states[i - 1].as_ref());
                match state.map(|state| state.receiver(self.old.pool, &insn)).transpose()? {
                    Some(flow::THIS) if events => {
                        self.event("superReturned", Part::After(i))?;
                        self.seen.supers += 1;
                    }
                    Some(object) if allocation && flow::fresh_pc(object).is_some() => {
                        self.object_probe(i, object)?;
                    }
                    None => self.unreached_probe(i)?,
                    Some(_) => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn object_probe(&mut self, i: usize, object: u32) -> Result<(), String> {
        let new = flow::fresh_pc(object).unwrap_or_default();
        let insn = &self.old.insns[i - 1];
        let state = self.states.as_ref().and_then(|states| states[i - 1].as_ref());
        let depth = |state: &State| -> Result<bool, String> {
            let (slots, _) = super::listing::descriptor_slots(self.old.pool.name_and_type(insn.index()).1)?;
            let beneath = state.stack.len().checked_sub(slots + 2);
            Ok(beneath.is_some_and(|slot| state.stack[slot] == object))
        };
        let copy_beneath = state.map(depth).transpose()?.unwrap_or(false);
        if copy_beneath {
            self.allocation("ObjectAlloc", true, i)?;
        } else if self.copied.contains(&new) {
            let call = insn.pc;
            self.allocation("ObjectAlloc", false, i)?;
            self.thrown_away.push((new, call));
            self.seen.thrown_away += 1;
        } else {
            self.seen.untracked += 1;
            return Ok(());
        }
        self.object_probes.push((self.parts.len() - 1, new));
        self.seen.objects += 1;
        Ok(())
    }

    /// Behind a constructor call that no path reaches, or whose values cannot be followed: either way is right.
    fn unreached_probe(&mut self, i: usize) -> Result<(), String> {
        if self.form.allocation {
            for with_dup in [true, false] {
                if self.calls_heap_proxy(usize::from(with_dup), "ObjectAlloc") {
                    return self.allocation("ObjectAlloc", with_dup, i);
                }
            }
        }
        if self.form.method_events && self.event("superReturned", Part::After(i)).is_ok() {
            self.seen.supers += 1;
        }
        Ok(())
    }

    /// The `goto` around what only jumps and exceptions may reach, the pad, the trampolines, and the landing.
    fn detour(&mut self, i: usize, landing: bool, pad: bool) -> Result<(), String> {
        let falls = i > 0 && self.old.insns[i - 1].falls_through();
        // A goto_w is a trampoline if a conditional branch leads there that led elsewhere before.
        let bounces = |this: &Self, ahead: usize, i: usize| {
            let at = this.parts.len() + ahead;
            this.new.insns.get(at).is_some_and(|insn| {
                let served = this.conditional.get(&insn.pc);
                insn.op() == op::GOTO_W
                    && served.is_some_and(|old| old.iter().any(|pc| *pc != this.old.pc(i)))
            })
        };
        let jumps = self.peek(0) == Some(op::GOTO);
        // Is this goto inserted, or the old one with trampolines behind it? An inserted one leads right behind them.
        let leads_around = |this: &Self| {
            let at = this.parts.len();
            let run = this.new.insns[at + 1..].iter().take_while(|insn| insn.op() == op::GOTO_W).count();
            let around = this.new.insns[at].targets()[0] == this.new.pc(at + 1 + run) as i64;
            around && this.new.insns.get(at + 1 + run).is_some_and(Insn::is_goto)
        };
        let original_goto = self.old.insns.get(i).is_some_and(|insn| insn.op() == op::GOTO);
        let skip =
            falls && (landing || (jumps && bounces(self, 1, i) && (!original_goto || leads_around(self))));
        let skip_at = self.parts.len();
        if skip {
            ensure!(jumps, "no goto around the landing of old pc {}", self.old.pc(i));
            self.parts.push(Part::Skip(i));
        }
        let pad_at = pad.then_some(self.parts.len());
        let position = self.position();
        self.layout.pad.push(pad.then_some(position));
        if pad {
            ensure!(
                self.peek(0) == Some(op::GOTO),
                "no goto for what the landing of old pc {} throws",
                self.old.pc(i)
            );
            self.parts.push(Part::Pad(i));
        }
        while self.peek(0) == Some(op::GOTO_W) && (landing || bounces(self, 0, i)) {
            let position = self.position();
            let served = self.conditional.get(&position).filter(|served| served.len() == 1);
            let served = served.and_then(|served| served.first().copied());
            let target =
                served.ok_or_else(|| format!("branch: nothing leads to the goto_w at new pc {position}"))?;
            let target = self.old.index_or(target, "branch")?;
            self.parts.push(Part::Trampoline(target));
            self.seen.trampolines += 1;
        }
        let position = self.position();
        self.layout.landing.push(position);
        if landing {
            self.event("exceptionCaught", Part::Landing(i))?;
            self.seen.landings += 1;
        }
        for at in skip.then_some(skip_at).into_iter().chain(pad_at) {
            let leads = self.new.insns[at].targets()[0];
            ensure!(
                leads == self.position() as i64,
                "the goto around the landing of old pc {} leads to {leads}",
                self.old.pc(i)
            );
        }
        Ok(())
    }

    /// The old instruction itself; its branch targets are compared later.
    fn original(&mut self, i: usize, old: &Insn<'_>) -> Result<(), String> {
        let fault = |what: &str| format!("instruction at old pc {}: {what}", old.pc);
        let new = self.new.insns.get(self.parts.len()).ok_or_else(|| fault("missing"))?;
        let widened = match (old.op(), new.op()) {
            (op::GOTO, op::GOTO_W) | (op::JSR, op::JSR_W) => true,
            (a, b) if a == b => false,
            (a, b) => return Err(fault(&format!("opcode {a:#x} became {b:#x} at new pc {}", new.pc))),
        };
        if old.is_switch() {
            ensure!(old.switch_keys() == new.switch_keys(), "{}", fault("switch: keys changed"));
            ensure!(old.targets().len() == new.targets().len(), "{}", fault("switch: cases changed"));
        } else if !old.is_branch() {
            ensure!(old.bytes == new.bytes, "{}", fault("operands changed"));
        }
        self.seen.widened += u64::from(widened);
        self.parts.push(Part::Original(i));
        Ok(())
    }

    // ---- step 2 ----

    fn check_branches(&self) -> Result<(), String> {
        let target = |pc: i64| {
            let index = usize::try_from(pc).ok().and_then(|pc| self.old.index(pc));
            index.map(|index| self.layout.target[index]).ok_or_else(|| format!("branch to old pc {pc}"))
        };
        for (new, part) in self.new.insns.iter().zip(&self.parts) {
            match *part {
                Part::Original(i) => {
                    let old = &self.old.insns[i];
                    for (a, b) in old.targets().into_iter().zip(new.targets()) {
                        let right = target(a)?;
                        let via = self.new.index(b as usize).filter(|index| {
                            old.is_conditional()
                                && matches!(self.parts.get(*index), Some(Part::Trampoline(_)))
                        });
                        let what = if old.is_switch() { "switch" } else { "branch" };
                        ensure!(
                            b == right as i64 || via.is_some(),
                            "{what} at old pc {} leads to new pc {b} instead of {right}",
                            old.pc
                        );
                        if old.is_goto() && new.bytes.len() > old.bytes.len() {
                            let distance = (right as i64 - new.pc as i64).abs();
                            ensure!(
                                distance > 32_700,
                                "branch at old pc {} was widened for {distance}",
                                old.pc
                            );
                        }
                    }
                }
                Part::Trampoline(i) => {
                    let (leads, right) = (new.targets()[0], self.layout.target[i]);
                    ensure!(leads == right as i64, "branch: trampoline leads to {leads} instead of {right}");
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Every object probe gets the object whose constructor has just returned.
    fn check_object_probes(&self) -> Result<(), String> {
        if self.object_probes.is_empty() {
            return Ok(());
        }
        let states =
            self.new.flow(self.is_constructor).map_err(|e| format!("output cannot be followed: {e}"))?;
        for &(at, old_new) in &self.object_probes {
            let new = self.layout.insn[self.old.index_or(old_new, "new")?];
            let top = states[at].as_ref().and_then(|state| state.stack.last());
            ensure!(
                top == Some(&flow::done(new)),
                "ObjectAlloc at new pc {} does not get the object of the new at {new}",
                self.new.pc(at)
            );
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), String> {
        let (old, new) = (self.old.code, self.new.code);
        let locals = old.max_locals + self.extra_locals;
        ensure!(
            new.max_locals == locals,
            "max_locals {} became {}, not {locals}",
            old.max_locals,
            new.max_locals
        );
        // One copy per thrown-away object lies beneath the arguments of its constructor call.
        let calls = &self.thrown_away;
        let inside = |pc: usize| calls.iter().filter(|(new, call)| (*new..*call).contains(&pc)).count();
        let copies = calls.iter().map(|(new, _)| inside(*new)).max().unwrap_or(0) as u16;
        let least = if self.form.method_events && (self.has_unwind || !old.rows.is_empty()) { 2 } else { 0 };
        let extra = self.extra_stack.max(if copies > 0 { copies + 1 } else { 0 });
        let right = (old.max_stack + extra).max(least);
        ensure!(new.max_stack == right, "max_stack {} became {}, not {right}", old.max_stack, new.max_stack);
        Ok(())
    }
}
