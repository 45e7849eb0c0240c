//! Method references to the methods that `thread-links` and `hand-over` look for: `tasks.forEach(executor::execute)`,
//! `threads.forEach(Thread::start)`.
//!
//! | where | code |
//! |---|---|
//! | behind the `invokedynamic` that makes one, an object of `Consumer`, `Function`, `BiConsumer` or `BiFunction` | push how the task is given; `References.of`; `checkcast` the interface |
//! | the same if the receiver decides, and is captured | in front `dup`; behind it the same with `References.ofReceiver` |
//!
//! The new object does with its last argument what the other transforms do in front of a call, and calls the old one.
//! Not reached: other interfaces, references that are serializable or have markers, and references with an argument
//! behind the task.

use super::call_sites::{Made, MakesReference};
use super::hand_over::{self, Task};
use super::{MethodSite, Transform, Transforms, given_tasks, thread_links};
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{CHECKCAST, DUP};
use crate::class_file::{ClassFile, Reader, Tag, find_attribute};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct References;

/// What `References.of` is told: how a task is given; and that the first argument has to be an executor.
const STARTS: u8 = 0;
const GIVEN: u8 = 1;
const RUNNABLE: u8 = 2;
const CALLABLE: u8 = 3;
const SUPPLIER: u8 = 4;
const BY_RECEIVER: u8 = 8;

/// The interfaces, and how many arguments their methods have.
const INTERFACES: [(&[u8], u16); 4] = [
    (b"java/util/function/Consumer", 1),
    (b"java/util/function/Function", 1),
    (b"java/util/function/BiConsumer", 2),
    (b"java/util/function/BiFunction", 2),
];
const REF_INVOKE_VIRTUAL: u8 = 5;
const REF_INVOKE_STATIC: u8 = 6;
const REF_INVOKE_INTERFACE: u8 = 9;

/// Whether one of the transforms is there whose calls are looked for.
fn is_asked(of: &Transforms) -> bool {
    of.references && (of.thread_links || of.hand_over)
}

/// How a method gets its task, and how many operands it has, with the receiver.
fn kind_of(method: &MemberRef<'_>, kind: u8, of: &Transforms) -> Option<(u8, u16)> {
    let receiver = u16::from(kind != REF_INVOKE_STATIC);
    if of.thread_links && receiver == 1 && thread_links::starts(method).is_some() {
        return Some((STARTS, 1));
    }
    if of.given_tasks && given_tasks::is_last(method) {
        return Some((GIVEN, receiver + u16::from(method.name != b"fork")));
    }
    let (task, by_receiver) = hand_over::last_task(method).filter(|_| of.hand_over)?;
    let given = match task {
        Task::Runnable => RUNNABLE,
        Task::Callable => CALLABLE,
        Task::Supplier => SUPPLIER,
    };
    (!by_receiver || receiver == 1)
        .then_some((given + if by_receiver { BY_RECEIVER } else { 0 }, receiver + 1))
}

/// The references that a class makes, by the index of their `invokedynamic` in the pool, ascending.
pub(crate) fn of(class: &ClassFile<'_>, of: &Transforms) -> Vec<(u16, MakesReference)> {
    if !may_make(class, of) {
        return Vec::new();
    }
    let pool = &class.pool;
    let mut methods = class.methods();
    while let Ok(Some(_)) = methods.next() {}
    let Ok(attributes) = class.attributes_behind(methods.position()) else { return Vec::new() };
    let Ok(Some(table)) = find_attribute(attributes, pool, b"BootstrapMethods") else { return Vec::new() };
    let rows = implementations(class, table.info_offset()).unwrap_or_default();
    let reference = |index: u16| {
        let (row, name_and_type) = pool.pair(index, Tag::InvokeDynamic).ok()?;
        let (kind, method) = pool.method_handle((*rows.get(usize::from(row))?)?).ok()?;
        if !matches!(kind, REF_INVOKE_VIRTUAL | REF_INVOKE_STATIC | REF_INVOKE_INTERFACE) {
            return None;
        }
        let (given, operands) = kind_of(&pool.member_ref(method).ok()?, kind, of)?;
        let (_, factory) = pool.name_and_type(name_and_type).ok()?;
        let (captured, made) =
            factory.strip_prefix(b"(")?.split_at(factory.iter().position(|&b| b == b')')? - 1);
        let made = made.strip_prefix(b")L")?.strip_suffix(b";")?;
        let at = INTERFACES.iter().position(|&(name, _)| name == made)?;
        // The receiver is all that a method reference captures.
        let captures = u16::from(!captured.is_empty());
        (captures + INTERFACES[at].1 == operands).then_some((
            index,
            MakesReference { given, interface: INTERFACES[at].0, captures: captures == 1 },
        ))
    };
    pool.indices()
        .filter(|&index| pool.tag(index) == Some(Tag::InvokeDynamic))
        .filter_map(reference)
        .collect()
}

/// Of each row of BootstrapMethods that is LambdaMetafactory's: its second argument, the method that is called.
fn implementations(class: &ClassFile<'_>, start: usize) -> Option<Vec<Option<u16>>> {
    let mut table = Reader::new(class.bytes, start, "BootstrapMethods");
    let mut rows = Vec::new();
    for _ in 0..table.u2().ok()? {
        let bootstrap = table.u2().ok()?;
        let mut arguments = Vec::new();
        for _ in 0..table.u2().ok()? {
            arguments.push(table.u2().ok()?);
        }
        let method =
            class.pool.method_handle(bootstrap).and_then(|(_, method)| class.pool.member_ref(method));
        let is_lambda = method.is_ok_and(|method| {
            method.class == b"java/lang/invoke/LambdaMetafactory" && method.name == b"metafactory"
        });
        rows.push(arguments.get(1).copied().filter(|_| is_lambda));
    }
    Some(rows)
}

impl Transform for References {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        is_asked(&site.request.transforms) && !site.references.is_empty()
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        for &Made { pc, made } in site.references {
            let MakesReference { given, interface, captures } = made;
            let decides = given & BY_RECEIVER != 0 && captures;
            let (given, hook) = match decides {
                true => (given - BY_RECEIVER, Hook::ReferenceOfReceiver),
                false => (given, Hook::Reference),
            };
            if decides {
                edits.insert(pc, Place::Before, Snippet::default().with(&[DUP]));
            }
            let kind = site.push(u32::from(given))?;
            let [high, low] = site.appender.class_named(site.pool, interface)?.to_be_bytes();
            let made = site.call(hook, kind)?.with(&[CHECKCAST, high, low]);
            // An `invokedynamic` takes five bytes.
            edits.insert(pc + 5, Place::AfterPrevious, made);
            edits.need_stack(2);
            edits.sites.hand_overs += u32::from(given != STARTS);
            edits.sites.starts += u32::from(given == STARTS);
        }
        Ok(())
    }
}

/// Whether a class with this pool may make such references, which its attributes tell.
fn may_make(class: &ClassFile<'_>, of: &Transforms) -> bool {
    let pool = &class.pool;
    is_asked(of)
        && pool.indices().any(|index| {
            let Ok((kind, method)) = pool.method_handle(index) else { return false };
            pool.member_ref(method).is_ok_and(|method| kind_of(&method, kind, of).is_some())
        })
}
