//! `hand-over`: which call handed a task to another thread.
//!
//! In front of the calls below, the task is replaced by what `HandOver.wrap` makes of it: an object of the same
//! functional interface that runs the task on behalf of the caller's context; of a collection of tasks, a list of such
//! objects.
//!
//! | methods of | names |
//! |---|---|
//! | Executor, ExecutorService and the JDK's classes and interfaces below them, CompletionService | `execute`, `submit`, `schedule`, `scheduleAtFixedRate`, `scheduleWithFixedDelay`, `invokeAll`, `invokeAny` |
//! | StructuredTaskScope | `fork` |
//! | any other class: methods with the names and parameters of the two rows above | the same, if the receiver is an Executor, a CompletionService or a StructuredTaskScope when the call is made |
//! | CompletableFuture, CompletionStage | the public ones with a functional interface: `supplyAsync`, `thenApply`, `thenApplyAsync`, .. |
//! | any other class: methods of a receiver with names and results as these | the same but those that end in `Async` only: `thenApply`, `handle`, `whenCompleteAsync`, .. |
//! | ForkJoinTask | `adapt`, `adaptInterruptible` |
//! | Thread | `startVirtualThread` |
//! | Thread.Builder and the two below it | `start(Runnable)` |
//!
//! The task is the last argument of a functional interface, or the collection. It is reached so:
//!
//! | arguments behind it | code around `wrap` |
//! |---|---|
//! | none | |
//! | an object; a TimeUnit and one or two longs | they are stored to new local variables; wrap; they are loaded again |
//!
//! Where the receiver decides, `dup2` copies receiver and task for the `wrap` that gets both.
//!
//! Tasks of fork and join and of timers are [given](super::given_tasks) as they are; [references](super::references) to
//! these methods and functions of parallel [streams](super::streams) are looked for as well. Not reached: calls by
//! reflection.
//!
//! The program can see the difference where it compares tasks, casts them back or prints the stack of one; so this
//! transform is there on request only.

use super::call_sites::{ALL, MEMBER};
use super::{MethodSite, Transform, Transforms};
use crate::class_file::ConstantPool;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::descriptor::field_slots;
use crate::class_file::opcode::{ALOAD, ASTORE, DUP2, LLOAD, LSTORE, POP, SWAP};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HandOvers;

/// How a task is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HandOver {
    /// The `wrap` for its interface.
    wrap: Hook,
    above: Above,
    /// The `wrap` gets the receiver too.
    by_receiver: bool,
}

/// What lies above the task on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    Nothing,
    /// An object.
    One,
    /// A long and a TimeUnit.
    Delay,
    /// Two longs and a TimeUnit.
    Delays,
}

impl Transform for HandOvers {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.hand_over && !site.calls_of(task_of).is_empty()
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.hand_over
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        task_of(method).map(|task| if task.by_receiver { MEMBER } else { ALL })
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        for (pc, HandOver { wrap, above, by_receiver }) in site.calls_of(task_of) {
            let local = site.code.max_locals.checked_add(edits.counter_slots()).ok_or(Reason::MaxLocals)?;
            // From the top of the stack down.
            let slots: &[(u8, u8, u16)] = match above {
                Above::Nothing => &[],
                Above::One => &[(ASTORE, ALOAD, 0)],
                Above::Delay => &[(ASTORE, ALOAD, 0), (LSTORE, LLOAD, 1)],
                Above::Delays => &[(ASTORE, ALOAD, 0), (LSTORE, LLOAD, 1), (LSTORE, LLOAD, 3)],
            };
            edits.need_locals(
                slots.last().map_or(0, |(store, _, at)| at + if *store == LSTORE { 2 } else { 1 }),
            );
            for (store, _, at) in slots {
                let index = local.checked_add(*at).ok_or(Reason::MaxLocals)?;
                edits.insert(pc, Place::Before, Snippet::default().with_local(*store, index));
            }
            let (before, behind): (&[u8], &[u8]) =
                if by_receiver { (&[DUP2], &[SWAP, POP]) } else { (&[], &[]) };
            let hook = site.call(wrap, Snippet::default().with(before))?;
            edits.insert(pc, Place::Before, hook.with(behind));
            for (_, load, at) in slots.iter().rev() {
                edits.insert(pc, Place::Before, Snippet::default().with_local(*load, local + at));
            }
            edits.need_stack(if by_receiver { 2 } else { 0 });
            edits.sites.hand_overs += 1;
        }
        Ok(())
    }
}

/// Classes whose methods are those of [`EXECUTOR_METHODS`] for sure.
const EXECUTORS: [&[u8]; 12] = [
    b"java/util/concurrent/Executor",
    b"java/util/concurrent/ExecutorService",
    b"java/util/concurrent/AbstractExecutorService",
    b"java/util/concurrent/ThreadPoolExecutor",
    b"java/util/concurrent/ForkJoinPool",
    b"java/util/concurrent/ScheduledExecutorService",
    b"java/util/concurrent/ScheduledThreadPoolExecutor",
    b"java/util/concurrent/CompletionService",
    b"java/util/concurrent/ExecutorCompletionService",
    b"java/util/concurrent/StructuredTaskScope",
    b"java/util/concurrent/StructuredTaskScope$ShutdownOnFailure",
    b"java/util/concurrent/StructuredTaskScope$ShutdownOnSuccess",
];
/// Their methods: name, descriptors of the task and of what follows it.
const EXECUTOR_METHODS: [(&[u8], &[Hook], &[Above]); 8] = [
    (b"execute", &[Hook::WrapRunnable], &[Above::Nothing]),
    (b"submit", &[Hook::WrapRunnable, Hook::WrapCallable], &[Above::Nothing, Above::One]),
    (b"schedule", &[Hook::WrapRunnable, Hook::WrapCallable], &[Above::Delay]),
    (b"scheduleAtFixedRate", &[Hook::WrapRunnable], &[Above::Delays]),
    (b"scheduleWithFixedDelay", &[Hook::WrapRunnable], &[Above::Delays]),
    (b"invokeAll", &[Hook::WrapTasks], &[Above::Nothing, Above::Delay]),
    (b"invokeAny", &[Hook::WrapTasks], &[Above::Nothing, Above::Delay]),
    (b"fork", &[Hook::WrapRunnable, Hook::WrapCallable], &[Above::Nothing]),
];
const FUTURES: [&[u8]; 2] =
    [b"java/util/concurrent/CompletableFuture", b"java/util/concurrent/CompletionStage"];
/// How the names of their methods begin, but for those that end in `Async`; the JDK's own code calls others.
const CONTINUATIONS: [&[u8]; 7] =
    [b"then", b"handle", b"whenComplete", b"exceptionally", b"runAfter", b"applyToEither", b"acceptEither"];
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

/// The interface of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Runnable,
    Callable,
    Supplier,
}

/// The task of a method that has it as its last parameter, and whether the receiver decides.
pub(super) fn last_task(method: &MemberRef<'_>) -> Option<(Task, bool)> {
    let HandOver { wrap, by_receiver, .. } = task_of(method).filter(|task| task.above == Above::Nothing)?;
    let task = match wrap {
        Hook::WrapRunnable | Hook::WrapRunnableFor => Task::Runnable,
        Hook::WrapCallable | Hook::WrapCallableFor => Task::Callable,
        Hook::WrapSupplier => Task::Supplier,
        _ => return None,
    };
    Some((task, by_receiver))
}

/// How `method` gets its task, if it is one of those above.
fn task_of(method: &MemberRef<'_>) -> Option<HandOver> {
    if let Some(hand_over) = executor_task(method) {
        return Some(hand_over);
    }
    let begins = CONTINUATIONS.iter().any(|beginning| method.name.starts_with(beginning));
    let own = begins && FUTURES.iter().any(|class| returns(method.descriptor, class));
    let listed = own
        || (FUTURES.contains(&method.class) && (begins || method.name.ends_with(b"Async")))
        || (method.class == b"java/util/concurrent/ForkJoinTask" && method.name.starts_with(b"adapt"))
        || (BUILDERS.contains(&method.class) && method.name == b"start")
        || (method.class == b"java/lang/Thread" && method.name == b"startVirtualThread");
    if !listed {
        return None;
    }
    let mut rest = method.descriptor.strip_prefix(b"(")?;
    let mut task = None;
    while rest.first().is_some_and(|&first| first != b')') {
        let (slots, tail) = field_slots(rest)?;
        let parameter = &rest[..rest.len() - tail.len()];
        task = match (TASKS.into_iter().find(|hook| parameter_of(*hook) == parameter), task) {
            (Some(wrap), _) => Some((wrap, Above::Nothing)),
            (None, Some((wrap, Above::Nothing))) if slots == 1 => Some((wrap, Above::One)),
            (None, None) => None,
            (None, Some(_)) => return None,
        };
        rest = tail;
    }
    task.map(|(wrap, above)| HandOver { wrap, above, by_receiver: false })
}

/// Whether a descriptor ends with this class.
fn returns(descriptor: &[u8], class: &[u8]) -> bool {
    let result = descriptor.rsplit(|&byte| byte == b')').next().and_then(|result| result.strip_prefix(b"L"));
    result.and_then(|result| result.strip_suffix(b";")) == Some(class)
}

/// The same for a method with name and parameters of an executor's.
fn executor_task(method: &MemberRef<'_>) -> Option<HandOver> {
    let (_, tasks, aboves) = EXECUTOR_METHODS.iter().find(|(name, ..)| *name == method.name)?;
    let parameters = method.descriptor.strip_prefix(b"(")?;
    let (wrap, rest) =
        tasks.iter().find_map(|task| Some((*task, parameters.strip_prefix(parameter_of(*task))?)))?;
    let end = rest.iter().position(|&byte| byte == b')')?;
    let above = match &rest[..end] {
        b"" => Above::Nothing,
        b"Ljava/lang/Object;" => Above::One,
        b"JLjava/util/concurrent/TimeUnit;" => Above::Delay,
        b"JJLjava/util/concurrent/TimeUnit;" => Above::Delays,
        _ => return None,
    };
    let by_receiver = !EXECUTORS.contains(&method.class);
    if by_receiver && method.descriptor.ends_with(b")Ljava/util/Collection;") {
        // That of ForkJoinTask, which is static.
        return None;
    }
    let wrap = match wrap {
        Hook::WrapRunnable if by_receiver => Hook::WrapRunnableFor,
        Hook::WrapCallable if by_receiver => Hook::WrapCallableFor,
        Hook::WrapTasks if by_receiver => Hook::WrapTasksFor,
        wrap => wrap,
    };
    aboves.contains(&above).then_some(HandOver { wrap, above, by_receiver })
}

/// Descriptor of the one parameter of a `wrap`.
fn parameter_of(wrap: Hook) -> &'static [u8] {
    let descriptor = wrap.descriptor().as_bytes();
    let end = descriptor.iter().position(|&byte| byte == b')').unwrap_or(descriptor.len());
    &descriptor[1..end]
}
