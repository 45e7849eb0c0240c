//! How often every instruction, line and branch of a method is executed: where counters have to stand so that this is
//! known exactly, and what each count is in terms of them.
//!
//! | where control comes to | its count |
//! |---|---|
//! | the start of a method, an exception handler, the target of a jump backwards or of `jsr` | has a counter |
//! | another instruction where ways meet | the sum of the ways, if all of them are known and the sum is short; or else a counter |
//! | what follows a conditional branch | has a counter |
//! | the target of a conditional branch, by that branch | that of the branch, less that of what follows it |
//! | the targets of a switch, by that switch | one of them is the rest, each other has a counter: in front of the target if nothing else leads there, or else on the way |
//! | the first instruction of a line, a branch or switch, behind one that may have thrown | has a counter |
//! | any other instruction | that of the one in front of it |
//!
//! So the counts of lines and branches are exact, also when an exception leaves a block in its middle. Of an
//! instruction in the middle of a line it is only known that it is executed as often as the one in front of it, unless
//! that throws: see [`Instruction::later`].

mod class;
mod count;

use crate::class_file::CodeAttribute;
use crate::class_file::ConstantPool;
use crate::class_file::Tag;
use crate::class_file::instruction::{Instructions, targets, u2};
use crate::class_file::opcode;
use crate::code::Reason;
use crate::code::code_scan::CodeScan;
pub(crate) use class::lines;
pub use class::{Class, Line, Method};
pub use count::Count;
use std::collections::BTreeMap;

/// Where a counter stands. Pcs are those of the original code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// At the entry of the method, in front of whatever branches to its first instruction.
    Entry,
    /// In front of this instruction, however it is reached.
    Before(u32),
    /// In front of this instruction, only where the conditional branch in front of it falls through.
    FallsInto(u32),
    /// On the way from this switch to this target.
    Arm {
        /// pc of the switch.
        switch: u32,
        /// Where it leads.
        target: u32,
    },
}

/// An instruction and its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// Where it is.
    pub pc: u32,
    /// Index of its count in [`Plan::counts`]; none: nothing leads here.
    pub count: Option<u32>,
    /// Something in front of it may have thrown: the next count in the same straight line, if there is one. What is 0
    /// there did not come this far for certain.
    pub later: Option<u32>,
}

/// A conditional branch or a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Where it is.
    pub pc: u32,
    /// Index of its own count.
    pub count: u32,
    /// Indexes of the counts of the ways that it can go: first falling through, then the jump; of a switch each target,
    /// ascending.
    pub ways: Vec<u32>,
}

/// The counters of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Where they stand, by their numbers.
    pub points: Vec<Point>,
    /// Sums of counters.
    pub counts: Vec<Count>,
    /// Index of the count of calls.
    pub calls: u32,
    /// The instructions, ascending.
    pub instructions: Vec<Instruction>,
    /// Branches and switches that can be reached, ascending.
    pub branches: Vec<Branch>,
}

/// The ways to an instruction but that from the one in front of it.
#[derive(Default)]
struct Ways {
    /// Branches and switches that lead here.
    branches: u32,
    /// One of them is not in front of it, or it is an exception handler, or the target of a `jsr`.
    unknown: bool,
    /// The counts of those that are known.
    known: Vec<u32>,
}

/// A count of more terms is worth a counter of its own.
const MOST_TERMS: usize = 8;

impl Plan {
    /// Plans the counters of a method. `starts`: the pcs at which a line starts, ascending.
    ///
    /// # Errors
    /// Code that cannot be decoded, or branches to elsewhere than an instruction.
    pub(crate) fn of(
        code: &CodeAttribute<'_>,
        pool: &ConstantPool<'_>,
        scan: &CodeScan,
        starts: &[u32],
    ) -> Result<Plan, Reason> {
        // Counters on the way to a target, and behind a branch, need an instruction there.
        for &pc in scan.branches.iter().chain(&scan.switches) {
            let at = |target: i64| usize::try_from(target).is_ok_and(|target| scan.is_instruction(target));
            let may_fall = opcode::is_conditional_branch(code.code[pc as usize]);
            if !targets(code.code, pc as usize).all(at) || (may_fall && !at(i64::from(pc) + 3)) {
                return Err(Reason::BadCode);
            }
        }
        let mut planner = Planner {
            scan,
            code: code.code,
            plan: Plan::default(),
            ways: ways(code, scan),
            current: None,
            threw: false,
            falls: false,
            doubtful: Vec::new(),
        };
        for instruction in Instructions::new(code.code) {
            let instruction = instruction.map_err(|_| Reason::BadCode)?;
            let pc = u32::try_from(instruction.pc).map_err(|_| Reason::BadCode)?;
            planner.arrive(pc);
            let starts_line = starts.binary_search(&pc).is_ok();
            planner.execute(pc, instruction.bytes, starts_line);
            planner.leave(pc, instruction.bytes, pool);
        }
        Ok(planner.plan)
    }

    /// A number that says which code it is for: counts are only worth something together with the class file they were
    /// taken for.
    pub fn check(&self, code: &[u8]) -> u32 {
        // FNV-1a.
        let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let hash = code.iter().copied().fold(0x811c_9dc5, add);
        let words = self.points.iter().flat_map(|point| match *point {
            Point::Entry => [0, 0, 0],
            Point::Before(pc) => [1, pc, 0],
            Point::FallsInto(pc) => [2, pc, 0],
            Point::Arm { switch, target } => [3, switch, target],
        });
        words.flat_map(u32::to_le_bytes).fold(hash, add)
    }
}

fn ways(code: &CodeAttribute<'_>, scan: &CodeScan) -> BTreeMap<u32, Ways> {
    let mut ways: BTreeMap<u32, Ways> = BTreeMap::new();
    for &from in scan.branches.iter().chain(&scan.switches) {
        let is_call = matches!(code.code[from as usize], opcode::JSR | opcode::JSR_W);
        for target in distinct_targets(code.code, from) {
            let way = ways.entry(target).or_default();
            way.branches += 1;
            way.unknown |= target <= from || is_call;
        }
    }
    for row in code.exception_table.iter() {
        ways.entry(u32::from(row.handler_pc)).or_default().unknown = true;
    }
    ways
}

fn distinct_targets(code: &[u8], pc: u32) -> Vec<u32> {
    let mut all: Vec<u32> =
        targets(code, pc as usize).filter_map(|target| u32::try_from(target).ok()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

struct Planner<'a> {
    scan: &'a CodeScan,
    code: &'a [u8],
    plan: Plan,
    ways: BTreeMap<u32, Ways>,
    /// The count of what runs straight on; none: nothing does.
    current: Option<u32>,
    /// Something may have thrown since it was counted.
    threw: bool,
    /// Whether the instruction in front may continue here.
    falls: bool,
    /// Indexes of instructions behind one that may have thrown, until the next count.
    doubtful: Vec<usize>,
}

impl Planner<'_> {
    fn count(&mut self, count: Count) -> u32 {
        self.plan.counts.push(count);
        self.plan.counts.len() as u32 - 1
    }

    /// The count of a new counter.
    fn counter(&mut self, point: Point) -> u32 {
        self.plan.points.push(point);
        self.count(Count::of_counter(self.plan.points.len() as u32 - 1))
    }

    /// Comes to an instruction.
    fn arrive(&mut self, pc: u32) {
        let is_target = self.ways.contains_key(&pc);
        if pc == 0 {
            let point = if is_target { Point::Entry } else { Point::Before(0) };
            self.plan.calls = self.counter(point);
            self.current = Some(self.plan.calls);
        }
        let Some(way) = self.ways.get(&pc) else {
            if !self.falls {
                self.current = self.current.filter(|_| pc == 0);
                self.counted();
            }
            return;
        };
        let falling = self.current.filter(|_| self.falls);
        // What falls in from nowhere comes never.
        let is_known = pc != 0
            && !way.unknown
            && way.known.len() == way.branches as usize
            && !(self.threw && falling.is_some());
        let terms = way.known.iter().chain(falling.iter());
        let sum = terms.fold(Count::default(), |sum, &term| sum.plus(&self.plan.counts[term as usize], 1));
        self.current = Some(match is_known && sum.len() <= MOST_TERMS {
            true => self.count(sum),
            false => self.counter(Point::Before(pc)),
        });
        self.counted();
    }

    /// What comes is counted anew.
    fn counted(&mut self) {
        self.threw = false;
        self.doubtful.clear();
    }

    fn execute(&mut self, pc: u32, bytes: &[u8], starts_line: bool) {
        let chooses = opcode::is_conditional_branch(bytes[0]) || is_switch(bytes[0]);
        if self.current.is_some() && self.threw && (starts_line || chooses) {
            let here = self.counter(Point::Before(pc));
            self.current = Some(here);
            for index in std::mem::take(&mut self.doubtful) {
                self.plan.instructions[index].later = Some(here);
            }
            self.threw = false;
        }
        if self.threw {
            self.doubtful.push(self.plan.instructions.len());
        }
        self.plan.instructions.push(Instruction { pc, count: self.current, later: None });
    }

    fn leave(&mut self, pc: u32, bytes: &[u8], pool: &ConstantPool<'_>) {
        let op = bytes[0];
        let next = pc + bytes.len() as u32;
        self.falls = self.scan.falls_into(next as usize);
        let Some(current) = self.current else { return };
        if opcode::is_conditional_branch(op) {
            let falls = self.counter(Point::FallsInto(next));
            let jumps = self.minus(current, falls);
            for target in distinct_targets(self.code, pc) {
                self.way(target, jumps);
            }
            self.plan.branches.push(Branch { pc, count: current, ways: vec![falls, jumps] });
            self.current = Some(falls);
            self.counted();
        } else if is_switch(op) {
            let ways = self.arms(pc, current);
            self.plan.branches.push(Branch { pc, count: current, ways });
        } else if matches!(op, opcode::GOTO | opcode::GOTO_W) {
            if !self.threw {
                for target in distinct_targets(self.code, pc) {
                    self.way(target, current);
                }
            }
        } else {
            self.threw |= may_leave(pool, bytes);
        }
    }

    fn minus(&mut self, of: u32, less: u32) -> u32 {
        let [of, less] = [of, less].map(|index| &self.plan.counts[index as usize]);
        let rest = of.plus(less, -1);
        self.count(rest)
    }

    /// A way to an instruction is known.
    fn way(&mut self, target: u32, count: u32) {
        if let Some(way) = self.ways.get_mut(&target) {
            way.known.push(count);
        }
    }

    /// The counts of the targets of a switch.
    fn arms(&mut self, pc: u32, current: u32) -> Vec<u32> {
        let targets = distinct_targets(self.code, pc);
        let is_only_way = |target: u32| {
            target > pc
                && !self.scan.falls_into(target as usize)
                && self.ways.get(&target).is_some_and(|way| way.branches == 1 && !way.unknown)
        };
        let only: Vec<bool> = targets.iter().map(|&target| is_only_way(target)).collect();
        // The one whose count is the rest: a counter on the way costs a jump.
        let rest = only.iter().position(|only| !only).unwrap_or(0);
        let mut counts = vec![0; targets.len()];
        let mut left = self.plan.counts[current as usize].clone();
        for (index, &target) in targets.iter().enumerate().filter(|(index, _)| *index != rest) {
            let point = match only[index] {
                true => Point::Before(target),
                false => Point::Arm { switch: pc, target },
            };
            counts[index] = self.counter(point);
            left = left.plus(&self.plan.counts[counts[index] as usize], -1);
        }
        if let Some(count) = counts.get_mut(rest) {
            self.plan.counts.push(left);
            *count = self.plan.counts.len() as u32 - 1;
        }
        for (&target, &count) in targets.iter().zip(&counts) {
            self.way(target, count);
        }
        counts
    }
}

fn is_switch(op: u8) -> bool {
    matches!(op, opcode::TABLESWITCH | opcode::LOOKUPSWITCH)
}

/// Whether the instruction can throw, or may continue elsewhere than behind it.
pub(crate) fn may_leave(pool: &ConstantPool<'_>, bytes: &[u8]) -> bool {
    use opcode::*;
    let is_number =
        |index: u16| matches!(pool.tag(index), Some(Tag::Integer | Tag::Float | Tag::Long | Tag::Double));
    match bytes[0] {
        LDC => !is_number(u16::from(bytes[1])),
        LDC_W | LDC2_W => !is_number(u2(bytes, 1)),
        WIDE => bytes[1] == RET,
        // It does nothing.
        INVOKESPECIAL => {
            let method = pool.member_ref(u2(bytes, 1));
            !method.is_ok_and(|method| method.class == b"java/lang/Object" && method.name == b"<init>")
        }
        NOP..=SIPUSH | ILOAD..=ALOAD_3 | ISTORE..=ASTORE_3 | POP..=SWAP => false,
        IDIV | LDIV | IREM | LREM => true,
        IADD..=DCMPG => false,
        _ => true,
    }
}
