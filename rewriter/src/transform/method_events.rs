//! `method-events`: every entry and every exit, normal or by exception.
//!
//! | where | code |
//! |---|---|
//! | first instruction | push ID; `methodEntry`, in constructors `constructorEntry`: in front of `super()` |
//! | in front of every xRETURN | push ID; `methodExit` |
//! | behind every `super()`/`this()` of a constructor | push ID; `superReturned` |
//! | in front of every exception handler | push ID; `exceptionCaught`; only the exception table leads there. If the handler catches any, a `goto` in front of it leads what the probe throws past it |
//! | catch-any handler behind the code | push ID; `methodUnwind`; `athrow` |
//!
//! The catch-any ranges leave out the entry call, every exit call together with its xRETURN (a return can
//! throw IllegalMonitorStateException), and the handler itself. In a constructor they begin behind the
//! calls that initialise `this`: no handler may cover `super()` (JVMS 4.10.1.4), and dead code is left out.

use super::{MethodSite, Transform};
use crate::class_file::exception_table::ExceptionTable;
use crate::class_file::opcode;
use crate::code::Reason;
use crate::code::edits::{Edits, Executed, Place, Snippet};
use crate::code::hooks::Hook;
use crate::code::uninitialized::Origin;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MethodEvents;

impl Transform for MethodEvents {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.method_events
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let id = site.push_id()?;
        edits.need_stack(1);
        let entry = if site.is_constructor { Hook::ConstructorEntry } else { Hook::MethodEntry };
        let before = edits.entry.unwrap_or_default();
        edits.entry = Some(site.call(entry, before.then(id))?);

        if !site.scan.returns.is_empty() {
            let exit = ended(site, edits, [Hook::MethodExit, Hook::CountedExit, Hook::CountedExitLong])?;
            for &pc in &site.scan.returns {
                edits.insert(pc, Place::Before, exit);
            }
        }
        if !site.code.exception_table.is_empty() {
            let caught = site.call(Hook::ExceptionCaught, id)?;
            edits.least_stack = edits.least_stack.max(2);
            for (pc, catches_any) in handlers(&site.code.exception_table) {
                if catches_any {
                    edits.insert(pc, Place::Pad, Snippet::default());
                }
                edits.insert(pc, Place::Landing, caught);
            }
        }

        let end = site.code.code.len() as u32;
        if site.is_constructor {
            let (calls, initialized) = constructor_calls(site)?;
            if !calls.is_empty() {
                let returned = site.call(Hook::SuperReturned, id)?;
                for pc in calls {
                    edits.insert(pc + 3, Place::AfterPrevious, returned);
                }
            }
            for (start, end) in initialized {
                cover(&site.scan.returns, start, end, &mut edits.covered);
            }
        } else {
            cover(&site.scan.returns, 0, end, &mut edits.covered);
        }
        if !edits.covered.is_empty() {
            edits.least_stack = edits.least_stack.max(2);
            let unwind =
                ended(site, edits, [Hook::MethodUnwind, Hook::CountedUnwind, Hook::CountedUnwindLong])?;
            edits.unwind.extend([unwind, Snippet::default().with(&[opcode::ATHROW])]);
        }
        Ok(())
    }
}

/// The call that tells of an end: without a count, with an `int`, with a `long`.
fn ended(site: &mut MethodSite<'_>, edits: &Edits, hooks: [Hook; 3]) -> Result<Snippet, Reason> {
    let id = site.push_id()?;
    let (hook, snippet) = match edits.executed {
        None => (hooks[0], id),
        Some(Executed::Constant(count)) => (hooks[1], id.then(site.push(count)?)),
        Some(Executed::Counter(counter)) if counter.is_long() => {
            (hooks[2], id.with_local(opcode::LLOAD, counter.index))
        }
        Some(Executed::Counter(counter)) => (hooks[1], id.with_local(opcode::ILOAD, counter.index)),
    };
    site.call(hook, snippet)
}

/// The pc of every handler, ascending, and whether some row leads there whatever is thrown.
pub(super) fn handlers(table: &ExceptionTable<'_>) -> impl Iterator<Item = (u32, bool)> {
    let mut handlers: Vec<(u16, bool)> =
        table.iter().map(|row| (row.handler_pc, row.catch_type != 0)).collect();
    handlers.sort_unstable();
    handlers.dedup_by_key(|handler| handler.0);
    handlers.into_iter().map(|(pc, is_typed)| (u32::from(pc), !is_typed))
}

/// Adds `start..end` without the returns to `ranges`.
pub(super) fn cover(returns: &[u32], start: u32, end: u32, ranges: &mut Vec<PcRange>) {
    let mut from = start;
    let first = returns.partition_point(|&pc| pc < start);
    for &pc in returns[first..].iter().take_while(|&&pc| pc < end) {
        if from < pc {
            ranges.push((from, pc));
        }
        from = pc + 1;
    }
    if from < end {
        ranges.push((from, end));
    }
}

/// A half-open range of pcs.
pub(super) type PcRange = (u32, u32);

/// The pcs of the calls that initialise `this`, and the ranges that are reached with it initialised.
pub(super) fn constructor_calls(site: &mut MethodSite<'_>) -> Result<(Vec<u32>, Vec<PcRange>), Reason> {
    if let Some(pc) = only_call(site) {
        return Ok((vec![pc], vec![(pc + 3, site.code.code.len() as u32)]));
    }
    let flow = site.flow()?;
    let calls = flow.constructor_calls.iter().filter(|call| call.receiver == Origin::This);
    Ok((calls.map(|call| call.pc).collect(), flow.initialized.clone()))
}

/// The common constructor, recognised without following values: the first constructor call is in the
/// straight line from the start, with no `new` in front of it and no frame that speaks of an
/// uninitialised `this`. Its receiver can only be `this`, and everything behind it has `this` initialised.
fn only_call(site: &MethodSite<'_>) -> Option<u32> {
    const UNINITIALIZED_THIS: u8 = crate::class_file::stack_map_table::verification_type::UNINITIALIZED_THIS;
    let pc = site.scan.invoke_specials.iter().copied().find(|&pc| site.calls_constructor(pc))?;
    let behind = |list: &[u32]| list.first().is_none_or(|&first| first > pc);
    let scan = site.scan;
    let straight =
        [&scan.branches, &scan.switches, &scan.returns, &scan.news].iter().all(|list| behind(list));
    let throws = site.code.code[..pc as usize].contains(&opcode::ATHROW);
    // Class files without frames may even catch what super() throws.
    let catches = site.code.exception_table.iter().any(|row| u32::from(row.start_pc) <= pc);
    // A byte 6 in the table is a hint, not a proof: then the flow decides.
    let may_mention_this = site.frames.is_some_and(|info| info.contains(&UNINITIALIZED_THIS));
    (straight && !throws && !catches && !may_mention_this && !scan.subroutines).then_some(pc)
}
