//! `hand-over`: which call handed a task to another thread.
//!
//! In front of the calls below, the task is replaced by what `HandOver.wrap` makes of it: an object of the same functional
//! interface that runs the task on behalf of the caller's context.
//!
//! | methods of | names |
//! |---|---|
//! | Executor, ExecutorService and the JDK's classes and interfaces below them, CompletionService | `execute`, `submit`, `schedule` |
//! | CompletableFuture, CompletionStage | all whose names end in `Async` |
//! | Thread | `startVirtualThread` |
//! | Thread.Builder and the two below it | `start(Runnable)` |
//!
//! The task is the last argument of a functional interface. It is reached by `swap` and `dup`:
//!
//! | arguments behind it | code around `wrap` |
//! |---|---|
//! | none | |
//! | one of one slot | `swap`; wrap; `swap` |
//! | a long and one of one slot | `dup_x2 pop dup2_x2 pop2 swap`; wrap; `swap dup2_x2 pop2 dup2_x1 pop2` |
//!
//! Those of `scheduleAtFixedRate` and `scheduleWithFixedDelay` lie five slots deep, where no instruction reaches: these sites
//! are left as they are and counted. Collections of tasks (`invokeAll`, `invokeAny`) and classes of the program that extend an
//! executor are not looked at.
//!
//! The program can see the difference where it compares tasks, casts them back or prints the stack of one; so this transform
//! is there on request only.

use super::call_sites::Callee;
use super::hooks::Hook;
use super::{MethodSite, Transform};
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::descriptor::field_slots;
use crate::class_file::opcode::{DUP_X2, DUP2_X1, DUP2_X2, POP, POP2, SWAP};
use crate::rewrite::SkipReason;
use crate::rewrite::edits::{Edits, Place, Snippet};

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HandOvers;

/// How a task is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HandOver {
    /// The `wrap` for its interface.
    wrap: Hook,
    reach: Reach,
}

/// What lies over the task on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Top,
    UnderOne,
    UnderLongAndOne,
    /// More than the stack instructions can move.
    Out,
}

impl Transform for HandOvers {
    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), SkipReason> {
        let calls = site.calls;
        for &(pc, callee) in calls {
            let Callee::HandOver(HandOver { wrap, reach }) = callee else { continue };
            let (before, behind): (&[u8], &[u8]) = match reach {
                Reach::Top => (&[], &[]),
                Reach::UnderOne => (&[SWAP], &[SWAP]),
                Reach::UnderLongAndOne => {
                    edits.need_stack(2);
                    (&[DUP_X2, POP, DUP2_X2, POP2, SWAP], &[SWAP, DUP2_X2, POP2, DUP2_X1, POP2])
                }
                Reach::Out => {
                    edits.sites.unreached_hand_overs += 1;
                    continue;
                }
            };
            let hook = site.call(wrap, Snippet::default().with(before))?;
            edits.insert(pc, Place::Before, hook.with(behind));
            edits.sites.hand_overs += 1;
        }
        Ok(())
    }
}

const EXECUTORS: [&[u8]; 9] = [
    b"java/util/concurrent/Executor",
    b"java/util/concurrent/ExecutorService",
    b"java/util/concurrent/AbstractExecutorService",
    b"java/util/concurrent/ThreadPoolExecutor",
    b"java/util/concurrent/ForkJoinPool",
    b"java/util/concurrent/ScheduledExecutorService",
    b"java/util/concurrent/ScheduledThreadPoolExecutor",
    b"java/util/concurrent/CompletionService",
    b"java/util/concurrent/ExecutorCompletionService",
];
const EXECUTOR_METHODS: [&[u8]; 5] =
    [b"execute", b"submit", b"schedule", b"scheduleAtFixedRate", b"scheduleWithFixedDelay"];
const FUTURES: [&[u8]; 2] =
    [b"java/util/concurrent/CompletableFuture", b"java/util/concurrent/CompletionStage"];
const BUILDERS: [&[u8]; 3] = [
    b"java/lang/Thread$Builder",
    b"java/lang/Thread$Builder$OfVirtual",
    b"java/lang/Thread$Builder$OfPlatform",
];
const TASKS: [Hook; 7] = [
    Hook::WrapRunnable,
    Hook::WrapCallable,
    Hook::WrapSupplier,
    Hook::WrapFunction,
    Hook::WrapConsumer,
    Hook::WrapBiFunction,
    Hook::WrapBiConsumer,
];

/// How `method` gets its task, if it is on the list.
pub(crate) fn task_of(method: &MemberRef<'_>) -> Option<HandOver> {
    let listed = (EXECUTORS.contains(&method.class) && EXECUTOR_METHODS.contains(&method.name))
        || (FUTURES.contains(&method.class) && method.name.ends_with(b"Async"))
        || (BUILDERS.contains(&method.class) && method.name == b"start")
        || (method.class == b"java/lang/Thread" && method.name == b"startVirtualThread");
    if !listed {
        return None;
    }
    let mut rest = method.descriptor.strip_prefix(b"(")?;
    let mut wrap = None;
    // Slots of each argument behind the task.
    let mut over = Vec::new();
    while rest.first().is_some_and(|&first| first != b')') {
        let (slots, tail) = field_slots(rest)?;
        let parameter = &rest[..rest.len() - tail.len()];
        let interface = |hook: &&Hook| hook.descriptor().as_bytes()[1..].starts_with(parameter);
        match TASKS.iter().find(interface) {
            Some(task) => {
                wrap = Some(*task);
                over.clear();
            }
            None => over.push(slots),
        }
        rest = tail;
    }
    let reach = match over[..] {
        [] => Reach::Top,
        [1] => Reach::UnderOne,
        [2, 1] => Reach::UnderLongAndOne,
        _ => Reach::Out,
    };
    wrap.map(|wrap| HandOver { wrap, reach })
}
