//! `hand-over` of the functions that parallel streams call.
//!
//! | where | code |
//! |---|---|
//! | in front of a call of a stream's own method with functions among its arguments | store them all, and the stream; load the stream, and each argument; behind each function: load the stream, `swap`, push the number of its interface; `StreamTasks.of`; `checkcast` the interface |
//!
//! Whether a stream is parallel the runtime asks it, when it gets the function. Not reached: functions that a stream
//! gets before it becomes parallel, static methods (`Stream.generate`), references to methods of streams, arrays
//! (`Arrays.parallelSetAll`).

use super::call_sites::MEMBER;
use super::{MethodSite, Transform, Transforms};
use crate::class_file::ConstantPool;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::descriptor::field_slots;
use crate::class_file::opcode::{
    ALOAD, ASTORE, CHECKCAST, DLOAD, DSTORE, ILOAD, ISTORE, LLOAD, LSTORE, SWAP,
};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streams;

const STREAMS: [&[u8]; 4] = [
    b"java/util/stream/Stream",
    b"java/util/stream/IntStream",
    b"java/util/stream/LongStream",
    b"java/util/stream/DoubleStream",
];
/// The interfaces in the order of the numbers that `StreamTasks.java` knows them by.
const FUNCTIONS: [&[u8]; 36] = [
    b"java/util/function/Function",
    b"java/util/function/Predicate",
    b"java/util/function/Consumer",
    b"java/util/function/BiConsumer",
    b"java/util/function/BiFunction",
    b"java/util/function/BinaryOperator",
    b"java/util/function/Supplier",
    b"java/util/Comparator",
    b"java/util/stream/Collector",
    b"java/util/function/ToIntFunction",
    b"java/util/function/ToLongFunction",
    b"java/util/function/ToDoubleFunction",
    b"java/util/function/IntFunction",
    b"java/util/function/IntUnaryOperator",
    b"java/util/function/IntPredicate",
    b"java/util/function/IntConsumer",
    b"java/util/function/IntBinaryOperator",
    b"java/util/function/IntToLongFunction",
    b"java/util/function/IntToDoubleFunction",
    b"java/util/function/ObjIntConsumer",
    b"java/util/function/LongFunction",
    b"java/util/function/LongUnaryOperator",
    b"java/util/function/LongPredicate",
    b"java/util/function/LongConsumer",
    b"java/util/function/LongBinaryOperator",
    b"java/util/function/LongToIntFunction",
    b"java/util/function/LongToDoubleFunction",
    b"java/util/function/ObjLongConsumer",
    b"java/util/function/DoubleFunction",
    b"java/util/function/DoubleUnaryOperator",
    b"java/util/function/DoublePredicate",
    b"java/util/function/DoubleConsumer",
    b"java/util/function/DoubleBinaryOperator",
    b"java/util/function/DoubleToIntFunction",
    b"java/util/function/DoubleToLongFunction",
    b"java/util/function/ObjDoubleConsumer",
];

/// An argument of a call.
#[derive(Debug, Clone, Copy)]
struct Argument {
    store: u8,
    load: u8,
    slots: u16,
    /// The number and the name of its interface.
    function: Option<(u32, &'static [u8])>,
}

/// The arguments of a stream's method that gets functions.
fn arguments(method: &MemberRef<'_>) -> Option<Vec<Argument>> {
    if !STREAMS.contains(&method.class) || method.name == b"toArray" {
        return None;
    }
    let mut rest = method.descriptor.strip_prefix(b"(")?;
    let mut arguments = Vec::new();
    while rest.first().is_some_and(|&first| first != b')') {
        let (slots, tail) = field_slots(rest)?;
        let parameter = &rest[..rest.len() - tail.len()];
        let (store, load) = match parameter[0] {
            b'J' => (LSTORE, LLOAD),
            b'D' => (DSTORE, DLOAD),
            b'L' | b'[' => (ASTORE, ALOAD),
            b'F' => return None,
            _ => (ISTORE, ILOAD),
        };
        let name = parameter.strip_prefix(b"L").and_then(|name| name.strip_suffix(b";"));
        let function = (0..).zip(FUNCTIONS).find(|&(_, function)| Some(function) == name);
        arguments.push(Argument { store, load, slots, function });
        rest = tail;
    }
    arguments.iter().any(|argument| argument.function.is_some()).then_some(arguments)
}

impl Transform for Streams {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.streams && !site.calls_of(arguments).is_empty()
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.streams
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        arguments(method).map(|_| MEMBER)
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        for (pc, arguments) in site.calls_of(arguments) {
            let stream = site.code.max_locals.checked_add(edits.counter_slots()).ok_or(Reason::MaxLocals)?;
            let slots: u16 = 1 + arguments.iter().map(|argument| argument.slots).sum::<u16>();
            stream.checked_add(slots).ok_or(Reason::MaxLocals)?;
            edits.need_locals(slots);
            edits.need_stack(2);
            let mut put = |snippet: Snippet| edits.insert(pc, Place::Before, snippet);
            let mut at = stream + slots;
            for argument in arguments.iter().rev() {
                at -= argument.slots;
                put(Snippet::default().with_local(argument.store, at));
            }
            put(Snippet::default().with_local(ASTORE, stream));
            put(Snippet::default().with_local(ALOAD, stream));
            for argument in &arguments {
                put(Snippet::default().with_local(argument.load, at));
                if let Some((number, interface)) = argument.function {
                    put(Snippet::default().with_local(ALOAD, stream).with(&[SWAP]));
                    let number = site.push(number)?;
                    let [high, low] = site.appender.class_named(site.pool, interface)?.to_be_bytes();
                    put(site.call(Hook::StreamTask, number)?.with(&[CHECKCAST, high, low]));
                }
                at += argument.slots;
            }
            edits.sites.hand_overs += 1;
        }
        Ok(())
    }
}
