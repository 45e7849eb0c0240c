//! What `thread-links` and `hand-over` insert in front of calls, from a list of the calls and not from rules.

use super::{MethodCheck, Part, ensure};
use crate::structural::listing::{Insn, op};
use crate::structural::model::Pool;

/// Classes of a group; names of methods; parameters; simple name of the wrapped interface and what lies over the task.
/// `+E` stands for a second form with an Executor behind.
const HANDED_OVER: &str = "
executor execute (Ljava/lang/Runnable;) Runnable top
executor submit (Ljava/lang/Runnable;) Runnable top
executor submit (Ljava/lang/Runnable;Ljava/lang/Object;) Runnable one
executor submit (Ljava/util/concurrent/Callable;) Callable top
executor scheduleAtFixedRate (Ljava/lang/Runnable;JJLjava/util/concurrent/TimeUnit;) Runnable five
executor scheduleWithFixedDelay (Ljava/lang/Runnable;JJLjava/util/concurrent/TimeUnit;) Runnable five
executor invokeAll (Ljava/util/Collection;) Collection top
executor invokeAll (Ljava/util/Collection;JLjava/util/concurrent/TimeUnit;) Collection three
executor invokeAny (Ljava/util/Collection;) Collection top
executor invokeAny (Ljava/util/Collection;JLjava/util/concurrent/TimeUnit;) Collection three
executor fork (Ljava/lang/Runnable;) Runnable top
executor fork (Ljava/util/concurrent/Callable;) Callable top
executor schedule (Ljava/lang/Runnable;JLjava/util/concurrent/TimeUnit;) Runnable three
executor schedule (Ljava/util/concurrent/Callable;JLjava/util/concurrent/TimeUnit;) Callable three
future runAsync (Ljava/lang/Runnable;+E) Runnable top
future supplyAsync (Ljava/util/function/Supplier;+E) Supplier top
future thenRunAsync (Ljava/lang/Runnable;+E) Runnable top
future thenRun (Ljava/lang/Runnable;) Runnable top
future thenApplyAsync (Ljava/util/function/Function;+E) Function top
future thenApply (Ljava/util/function/Function;) Function top
future thenAcceptAsync (Ljava/util/function/Consumer;+E) Consumer top
future thenAccept (Ljava/util/function/Consumer;) Consumer top
future thenComposeAsync (Ljava/util/function/Function;+E) Function top
future thenCompose (Ljava/util/function/Function;) Function top
future thenCombineAsync (Ljava/util/concurrent/CompletionStage;Ljava/util/function/BiFunction;+E) BiFunction top
future thenCombine (Ljava/util/concurrent/CompletionStage;Ljava/util/function/BiFunction;) BiFunction top
future thenAcceptBothAsync (Ljava/util/concurrent/CompletionStage;Ljava/util/function/BiConsumer;+E) BiConsumer top
future thenAcceptBoth (Ljava/util/concurrent/CompletionStage;Ljava/util/function/BiConsumer;) BiConsumer top
future runAfterBothAsync (Ljava/util/concurrent/CompletionStage;Ljava/lang/Runnable;+E) Runnable top
future runAfterBoth (Ljava/util/concurrent/CompletionStage;Ljava/lang/Runnable;) Runnable top
future runAfterEitherAsync (Ljava/util/concurrent/CompletionStage;Ljava/lang/Runnable;+E) Runnable top
future runAfterEither (Ljava/util/concurrent/CompletionStage;Ljava/lang/Runnable;) Runnable top
future applyToEitherAsync (Ljava/util/concurrent/CompletionStage;Ljava/util/function/Function;+E) Function top
future applyToEither (Ljava/util/concurrent/CompletionStage;Ljava/util/function/Function;) Function top
future acceptEitherAsync (Ljava/util/concurrent/CompletionStage;Ljava/util/function/Consumer;+E) Consumer top
future acceptEither (Ljava/util/concurrent/CompletionStage;Ljava/util/function/Consumer;) Consumer top
future handleAsync (Ljava/util/function/BiFunction;+E) BiFunction top
future handle (Ljava/util/function/BiFunction;) BiFunction top
future whenCompleteAsync (Ljava/util/function/BiConsumer;+E) BiConsumer top
future whenComplete (Ljava/util/function/BiConsumer;) BiConsumer top
future exceptionallyAsync (Ljava/util/function/Function;+E) Function top
future exceptionally (Ljava/util/function/Function;) Function top
future exceptionallyComposeAsync (Ljava/util/function/Function;+E) Function top
future exceptionallyCompose (Ljava/util/function/Function;) Function top
future completeAsync (Ljava/util/function/Supplier;+E) Supplier top
forks adapt (Ljava/lang/Runnable;) Runnable top
forks adapt (Ljava/lang/Runnable;Ljava/lang/Object;) Runnable one
forks adapt (Ljava/util/concurrent/Callable;) Callable top
forks adaptInterruptible (Ljava/lang/Runnable;) Runnable top
forks adaptInterruptible (Ljava/lang/Runnable;Ljava/lang/Object;) Runnable one
forks adaptInterruptible (Ljava/util/concurrent/Callable;) Callable top
thread startVirtualThread (Ljava/lang/Runnable;) Runnable top
builder start (Ljava/lang/Runnable;) Runnable top
";
const GROUPS: [(&str, &[&str]); 5] = [
    ("forks", &["java/util/concurrent/ForkJoinTask"]),
    (
        "executor",
        &[
            "java/util/concurrent/Executor",
            "java/util/concurrent/ExecutorService",
            "java/util/concurrent/AbstractExecutorService",
            "java/util/concurrent/ThreadPoolExecutor",
            "java/util/concurrent/ForkJoinPool",
            "java/util/concurrent/ScheduledExecutorService",
            "java/util/concurrent/ScheduledThreadPoolExecutor",
            "java/util/concurrent/CompletionService",
            "java/util/concurrent/ExecutorCompletionService",
            "java/util/concurrent/StructuredTaskScope",
            "java/util/concurrent/StructuredTaskScope$ShutdownOnFailure",
            "java/util/concurrent/StructuredTaskScope$ShutdownOnSuccess",
        ],
    ),
    ("future", &["java/util/concurrent/CompletableFuture", "java/util/concurrent/CompletionStage"]),
    ("thread", &["java/lang/Thread"]),
    (
        "builder",
        &[
            "java/lang/Thread$Builder",
            "java/lang/Thread$Builder$OfVirtual",
            "java/lang/Thread$Builder$OfPlatform",
        ],
    ),
];

/// The hook behind a call that makes an array or a copy.
pub(super) fn maker(pool: &Pool, insn: &Insn<'_>) -> Option<&'static str> {
    let (10 | 11, entry) = pool.entry(insn.index()) else { return None };
    let class = pool.class(u16::from_be_bytes([entry[0], entry[1]]));
    let (name, descriptor) = pool.name_and_type(insn.index());
    let method = format!("{}.{}", String::from_utf8_lossy(name), String::from_utf8_lossy(descriptor));
    match (class, method.as_str(), insn.op()) {
        (array, "clone.()Ljava/lang/Object;", _) if array.first() == Some(&b'[') => Some("ArrayAlloc"),
        (b"java/lang/Object", "clone.()Ljava/lang/Object;", 0xb7) => Some("ObjectAlloc"),
        (b"java/lang/Object", "clone.()Ljava/lang/Object;", _) => Some("CloneAlloc"),
        (b"java/lang/reflect/Array", "newInstance.(Ljava/lang/Class;I)Ljava/lang/Object;", _) => {
            Some("ArrayAlloc")
        }
        (b"java/lang/reflect/Array", "newInstance.(Ljava/lang/Class;[I)Ljava/lang/Object;", _) => {
            Some("MultiArrayAlloc")
        }
        _ => None,
    }
}

/// What lies over the task, from the top down: opcodes that store it to a local variable and load it, and that
/// variable's place behind those of the method.
fn moved(over: &str) -> &'static [(u8, u8, u16)] {
    const OBJECT: (u8, u8, u16) = (0x3a, 0x19, 0);
    match over {
        "top" => &[],
        "one" => &[OBJECT],
        "three" => &[OBJECT, (0x37, 0x16, 1)],
        _ => &[OBJECT, (0x37, 0x16, 1), (0x37, 0x16, 3)],
    }
}

/// How a task is wrapped.
struct Wrapped {
    /// Descriptor of its interface.
    task: String,
    over: &'static str,
    by_receiver: bool,
}

/// How the task of the call `insn` is wrapped. The calls of executors count for every class that is on no list, if
/// there is a receiver.
fn handed_over(pool: &Pool, insn: &Insn<'_>) -> Option<Wrapped> {
    let (10 | 11, entry) = pool.entry(insn.index()) else { return None };
    let class = pool.class(u16::from_be_bytes([entry[0], entry[1]]));
    let group = GROUPS.iter().find(|group| group.1.iter().any(|name| name.as_bytes() == class));
    let named = handed_over_by(pool, insn, group.map_or("", |group| group.0));
    let (name, descriptor) = pool.name_and_type(insn.index());
    let is_receivers = insn.op() != op::INVOKESTATIC && !descriptor.ends_with(b")Ljava/util/Collection;");
    let anyones = || handed_over_by(pool, insn, "executor").filter(|_| is_receivers);
    let makes_stage =
        [&b")Ljava/util/concurrent/CompletableFuture;"[..], b")Ljava/util/concurrent/CompletionStage;"];
    let is_stages = makes_stage.iter().any(|end| descriptor.ends_with(end))
        && ![&b"runAsync"[..], b"supplyAsync", b"completeAsync"].contains(&name);
    let stages = || handed_over_by(pool, insn, "future").filter(|_| is_stages);
    let wrapped = |(task, over), by_receiver| Wrapped { task, over, by_receiver };
    let named = named.or_else(stages).map(|found| wrapped(found, false));
    named.or_else(|| Some(wrapped(anyones()?, true)))
}

/// Descriptor of the task's interface, and what lies over it, for calls of this group.
fn handed_over_by(pool: &Pool, insn: &Insn<'_>, group: &str) -> Option<(String, &'static str)> {
    let (name, descriptor) = pool.name_and_type(insn.index());
    let parameters = std::str::from_utf8(descriptor).ok()?.split_inclusive(')').next()?;
    for line in HANDED_OVER.lines() {
        let [of, named, takes, interface, over] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        if of != group || named.as_bytes() != name {
            continue;
        }
        let over = if parameters == takes.replace("+E", "") {
            over
        } else if takes.contains("+E") && parameters == takes.replace("+E", "Ljava/util/concurrent/Executor;")
        {
            "one"
        } else {
            continue;
        };
        let package = match interface {
            "Runnable" => "java/lang",
            "Callable" => "java/util/concurrent",
            "Collection" => "java/util",
            _ => "java/util/function",
        };
        return Some((format!("L{package}/{interface};"), over));
    }
    None
}

impl MethodCheck<'_> {
    /// What stands in front of the call `insn`, the old instruction `i`.
    pub(super) fn call_probes(&mut self, i: usize, insn: &Insn<'_>) -> Result<(), String> {
        if !(0xb6..=0xb9).contains(&insn.op()) {
            return Ok(());
        }
        let starts = self.old.pool.name_and_type(insn.index()) == (b"start", b"()V");
        if self.form.thread_links && starts && insn.op() != op::INVOKESTATIC {
            self.opcodes(i, &[op::DUP])?;
            self.hook(i, "ThreadLinks", "starting", "(Ljava/lang/Object;)V")?;
            self.extra_stack = self.extra_stack.max(1);
            self.seen.starts += 1;
        }
        if self.form.hand_over
            && let Some(Wrapped { task, over, by_receiver }) = handed_over(self.old.pool, insn)
        {
            let moved = moved(over);
            for (store, _, at) in moved {
                self.local(i, *store, *at)?;
            }
            let (before, behind, name, receiver): (&[u8], &[u8], _, _) = match by_receiver {
                false => (&[], &[], "wrap", ""),
                true => (&[0x5c], &[0x5f, 0x57], "wrapFor", "Ljava/lang/Object;"),
            };
            self.opcodes(i, before)?;
            self.hook(i, "HandOver", name, &format!("({receiver}{task}){task}"))?;
            self.opcodes(i, behind)?;
            for (_, load, at) in moved.iter().rev() {
                self.local(i, *load, *at)?;
            }
            let locals = moved.iter().map(|(store, _, at)| at + if *store == 0x37 { 2 } else { 1 });
            self.extra_locals = self.extra_locals.max(locals.max().unwrap_or(0));
            self.extra_stack = self.extra_stack.max(if by_receiver { 2 } else { 0 });
            self.seen.hand_overs += 1;
        }
        Ok(())
    }

    fn opcodes(&mut self, i: usize, opcodes: &[u8]) -> Result<(), String> {
        for &opcode in opcodes {
            let found = self.peek(0);
            ensure!(found == Some(opcode), "{opcode:#x} expected at new pc {}: {found:x?}", self.position());
            self.parts.push(Part::Before(i));
        }
        Ok(())
    }

    /// A load or store of a local variable behind those of the method.
    fn local(&mut self, i: usize, opcode: u8, at: u16) -> Result<(), String> {
        let index = self.old.code.max_locals + at;
        let [high, low] = index.to_be_bytes();
        let right: &[u8] = if high == 0 { &[opcode, low] } else { &[op::WIDE, opcode, high, low] };
        let found = self.new.insns.get(self.parts.len()).map(|insn| insn.bytes);
        ensure!(found == Some(right), "{right:x?} expected at new pc {}: {found:x?}", self.position());
        self.parts.push(Part::Before(i));
        Ok(())
    }

    /// `invokestatic` of a method of the runtime.
    fn hook(&mut self, i: usize, class: &str, name: &str, descriptor: &str) -> Result<(), String> {
        let insn = self.new.insns.get(self.parts.len()).ok_or("the code ends")?;
        let right = insn.op() == op::INVOKESTATIC
            && self.new.pool.method_class(insn.index()) == format!("instrument/runtime/{class}").as_bytes()
            && self.new.pool.name_and_type(insn.index()) == (name.as_bytes(), descriptor.as_bytes());
        ensure!(right, "{class}.{name}{descriptor} expected at new pc {}", insn.pc);
        self.parts.push(Part::Before(i));
        Ok(())
    }
}
