//! `hand-over` of tasks that nothing can stand for, because whoever runs them knows the objects: those of fork and
//! join, and of timers.
//!
//! | where | code |
//! |---|---|
//! | in front of `fork()` of a ForkJoinTask; of `invoke`, `submit`, `execute`, `externalSubmit`, `lazySubmit` with one; of `invokeAll` with an array or a collection | `dup`; `TaskLinks.given` |
//! | in front of `invokeAll` with two | `dup2`; `TaskLinks.given`; the same |
//! | in front of `schedule`, `scheduleAtFixedRate` with a TimerTask | store what is above it; `dup`; `TaskLinks.given`; load that |
//! | first of all in a method of a task: `compute()`, `boolean exec()`, `void run()` of a class that extends another one | K = `TaskLinks.taskBegins(this)` |
//! | behind its exit, in front of every return | push K; `TaskLinks.taskEnds` |
//! | behind its unwinding, in front of `athrow` | push K; `TaskLinks.taskEnds` |
//!
//! Whether an object is such a task the runtime looks: a class file tells its superclass, and no more. K, a local
//! variable behind the method's own, is 0 where the task was not given, or the method is called by another one of it.

use super::call_sites::{ALL, MEMBER};
use super::method_events::cover;
use super::{MethodSite, Transform, Transforms};
use crate::class_file::ConstantPool;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{ALOAD, ALOAD_0, ASTORE, ATHROW, DUP, DUP2, ILOAD, ISTORE, LLOAD, LSTORE};
use crate::code::Reason;
use crate::code::edits::{Edits, Kept, Place, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenTasks;

/// How tasks are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// One, or an array or collection, below what is `true` for each long and `false` for each object.
    One(&'static [bool]),
    Two,
}

const NAMES: [&[u8]; 5] = [b"invoke", b"submit", b"execute", b"externalSubmit", b"lazySubmit"];
const SCHEDULES: [&[u8]; 2] = [b"schedule", b"scheduleAtFixedRate"];
/// Classes that no task has as its superclass, but many others.
const NO_TASKS: [&[u8]; 2] = [b"java/lang/Object", b"java/lang/Thread"];

/// How a call of `method` gives tasks, if it does, and by which instructions.
fn given_by(method: &MemberRef<'_>) -> Option<(Given, &'static [u8])> {
    let end = method.descriptor.iter().position(|&byte| byte == b')')?;
    let (parameters, result) = method.descriptor.split_at(end);
    let is_named = |names: &[&[u8]]| names.contains(&method.name);
    let below: &[bool] = match (parameters, result) {
        (b"(", b")Ljava/util/concurrent/ForkJoinTask;") if method.name == b"fork" => &[],
        (b"(Ljava/util/concurrent/ForkJoinTask;", _) if is_named(&NAMES) => &[],
        (b"(Ljava/util/TimerTask;J" | b"(Ljava/util/TimerTask;JJ", b")V") if is_named(&SCHEDULES) => {
            if parameters.ends_with(b"JJ") {
                &[true, true]
            } else {
                &[true]
            }
        }
        (b"(Ljava/util/TimerTask;Ljava/util/Date;", b")V") if is_named(&SCHEDULES) => &[false],
        (b"(Ljava/util/TimerTask;Ljava/util/Date;J", b")V") if is_named(&SCHEDULES) => &[false, true],
        (b"([Ljava/util/concurrent/ForkJoinTask;", b")V")
        | (b"(Ljava/util/Collection;", b")Ljava/util/Collection;")
            if method.name == b"invokeAll" =>
        {
            return Some((Given::One(&[]), ALL));
        }
        (b"(Ljava/util/concurrent/ForkJoinTask;Ljava/util/concurrent/ForkJoinTask;", b")V")
            if method.name == b"invokeAll" =>
        {
            return Some((Given::Two, ALL));
        }
        _ => return None,
    };
    Some((Given::One(below), MEMBER))
}

fn given(method: &MemberRef<'_>) -> Option<Given> {
    given_by(method).map(|(given, _)| given)
}

/// Whether the task is the last of the operands of a call.
pub(super) fn is_last(method: &MemberRef<'_>) -> bool {
    given(method) == Some(Given::One(&[]))
}

/// Whether a method may be that of a task.
fn may_run(site: &MethodSite<'_>) -> bool {
    let is_named = match site.name {
        b"compute" => site.descriptor.starts_with(b"()"),
        b"exec" => site.descriptor == b"()Z",
        b"run" => site.descriptor == b"()V",
        _ => false,
    };
    is_named
        && !site.is_static
        && site.file.pool.class_name(site.file.super_class).is_ok_and(|name| !NO_TASKS.contains(&name))
}

impl Transform for GivenTasks {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.given_tasks && (may_run(site) || !site.calls_of(given).is_empty())
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.given_tasks
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        given_by(method).map(|(_, by)| by)
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        if may_run(site) {
            runs(site, edits)?;
        }
        for (pc, given) in site.calls_of(given) {
            match given {
                Given::One(above) => one(site, edits, pc, above)?,
                Given::Two => {
                    edits.need_stack(2);
                    let first = site.call(Hook::Given, Snippet::default().with(&[DUP2]))?;
                    edits.insert(pc, Place::Before, site.call(Hook::Given, first)?);
                }
            }
            edits.sites.hand_overs += 1;
        }
        Ok(())
    }
}

/// A method that may be that of a task.
fn runs(site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
    let link = edits.keep(site.code.max_locals, Kept::Int)?.index;
    edits.need_stack(1);
    edits.least_stack = edits.least_stack.max(2);
    let begun = site.call(Hook::TaskBegins, Snippet::default().with(&[ALOAD_0]))?;
    edits.first.push(begun.with_local(ISTORE, link));
    let ended = site.call(Hook::TaskEnds, Snippet::default().with_local(ILOAD, link))?;
    site.scan.returns.iter().for_each(|&pc| edits.insert(pc, Place::Before, ended));
    // Without the event of the unwinding nothing is covered yet.
    if edits.unwind.pop().is_none() {
        cover(&site.scan.returns, 0, site.code.code.len() as u32, &mut edits.covered);
    }
    edits.unwind.push(ended);
    edits.unwind.push(Snippet::default().with(&[ATHROW]));
    Ok(())
}

/// A call with one task, or with an array or collection of them.
fn one(site: &mut MethodSite<'_>, edits: &mut Edits, pc: u32, above: &[bool]) -> Result<(), Reason> {
    let first = site.code.max_locals.checked_add(edits.counter_slots()).ok_or(Reason::MaxLocals)?;
    let mut slots = 0;
    let moves: Vec<(u16, bool)> = above
        .iter()
        .map(|&is_long| {
            let at = first + slots;
            slots += 1 + u16::from(is_long);
            (at, is_long)
        })
        .collect();
    first.checked_add(slots).ok_or(Reason::MaxLocals)?;
    edits.need_locals(slots);
    for &(at, is_long) in moves.iter().rev() {
        let store = if is_long { LSTORE } else { ASTORE };
        edits.insert(pc, Place::Before, Snippet::default().with_local(store, at));
    }
    edits.need_stack(1);
    edits.insert(pc, Place::Before, site.call(Hook::Given, Snippet::default().with(&[DUP]))?);
    for &(at, is_long) in &moves {
        let load = if is_long { LLOAD } else { ALOAD };
        edits.insert(pc, Place::Before, Snippet::default().with_local(load, at));
    }
    Ok(())
}
