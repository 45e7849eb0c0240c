//! `lines`: how often every line and branch is executed, exactly.
//!
//! | where | code |
//! |---|---|
//! | entry, in front of everything | push ID, the number of counters, the check; `counters`; a local variable of ours, behind the method's own, gets the array |
//! | where [`Plan`] has a counter | the element of the array is increased by 1 |
//!
//! Each thread has arrays of its own, so nothing is lost between threads, and a counter counts at once: what ends the
//! method, and whether it ends at all, does not matter.

use super::{MethodSite, Transform};
use crate::class_file::opcode;
use crate::code::Reason;
use crate::code::edits::{Counter, Detour, Edits, Kept, Place, Snippet, Way};
use crate::code::hooks::Hook;
use crate::executions::{Plan, Point, lines};

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines;

impl Transform for Lines {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.lines
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let runs = lines(site.code, site.pool, site.scan);
        let starts: Vec<u32> = runs.iter().map(|run| run.start).collect();
        let plan = Plan::of(site.code, site.pool, site.scan, &starts)?;
        let check = plan.check(site.code.code);

        let array = site.appender.class_named(site.pool, b"[J")?;
        let counter = edits.keep(site.code.max_locals, Kept::Array(array))?;
        let id = site.push_id()?;
        let count = site.push(plan.points.len() as u32)?;
        let check = site.push(check)?;
        edits.first.push(id.then(count).then(check));
        let call = site.call(Hook::LineCounters, Snippet::default())?;
        edits.first.push(call.with_local(opcode::ASTORE, counter.index));
        edits.least_stack = edits.least_stack.max(3);
        // The array, the number and two of a long, once more each.
        edits.need_stack(6);
        for (point, number) in plan.points.iter().zip(0..) {
            let increase = increase(site, counter, number)?;
            match *point {
                // Nothing is in front of the first instruction: branches to it land behind.
                Point::Entry => edits.insert(0, Place::AfterPrevious, increase),
                Point::Before(pc) => edits.insert(pc, Place::Before, increase),
                Point::FallsInto(pc) => edits.insert(pc, Place::AfterPrevious, increase),
                Point::Arm { switch, target } => edits.detours.push(Detour {
                    pc: target,
                    way: Way::Branches(vec![switch]),
                    snippet: increase,
                }),
            }
        }
        Ok(())
    }
}

fn increase(site: &mut MethodSite<'_>, counter: Counter, number: u32) -> Result<Snippet, Reason> {
    let number = site.push(number)?;
    let element = Snippet::default().with_local(opcode::ALOAD, counter.index).then(number);
    Ok(element.with(&[opcode::DUP2, opcode::LALOAD, opcode::LCONST_1, opcode::LADD, opcode::LASTORE]))
}
