//! Which methods of the JDK block their caller: the one table of them.
//!
//! A call of such a method is recorded where it is made (transform `waits`), and its id says that it is one
//! ([`BLOCKING_CALL`]): the time that the call itself takes is time in which the thread waited. What the method calls
//! back is beneath the call and counts for itself.
//!
//! A row matches by the class that the instruction names, the name, and the parameters. That class may also be
//!
//! - any class, for methods that are final where the JDK declares them, so that a subclass cannot mean another one;
//! - the class that makes the call, if it extends that of the row and does not declare the method.
//!
//! Not seen are methods that block or not depending on the object (`InputStream.read` of a socket or of `System.in`),
//! calls through the name of any other subclass, and what the JDK calls itself. In a channel that does not block,
//! `read` returns at once: it is short.
//!
//! [`BLOCKING_CALL`]: instrument_names::id_map::BLOCKING_CALL

use super::{Callee, called};
use crate::class_file::{ClassFile, Tag};
use crate::error::ClassError;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The class that declares a method.
#[derive(Debug, Clone, Copy)]
enum Owner {
    /// Whatever the instruction names: the method is final in the JDK.
    Any,
    /// This class.
    Class(&'static str),
    /// Every class whose internal name begins so.
    Below(&'static str),
}

/// Some methods: names, and the descriptors up to `)`; one that goes on behind it is a whole descriptor.
struct Row {
    owner: Owner,
    names: &'static [&'static str],
    descriptors: &'static [&'static str],
}

const fn row(owner: Owner, names: &'static [&'static str], descriptors: &'static [&'static str]) -> Row {
    Row { owner, names, descriptors }
}

/// `long, TimeUnit` at the end of the parameters.
const TIMED: &str = "JLjava/util/concurrent/TimeUnit;)";
const NOTHING: &str = "()";
const OBJECT: &str = "(Ljava/lang/Object;)";
const CONCURRENT: Owner = Owner::Below("java/util/concurrent/");
const LOCKS: Owner = Owner::Below("java/util/concurrent/locks/");
const SUPPORT: Owner = Owner::Class("java/util/concurrent/locks/LockSupport");
const CHANNELS: Owner = Owner::Below("java/nio/channels/");

/// Their atomics have methods of the same names, and never block.
const NOT_BLOCKING: &str = "java/util/concurrent/atomic/";

#[rustfmt::skip]
const TABLE: &[Row] = &[
    // Object.wait, Thread.join, ForkJoinTask.join, AbstractQueuedSynchronizer
    row(Owner::Any, &["wait"], &["()V", "(J)V", "(JI)V"]),
    row(Owner::Any, &["join"], &["()V", "(J)V", "(JI)V", "(Ljava/time/Duration;)Z", "()Ljava/lang/Object;"]),
    row(Owner::Any, &["acquireInterruptibly", "acquireSharedInterruptibly"], &["(I)V"]),
    row(Owner::Any, &["tryAcquireNanos", "tryAcquireSharedNanos"], &["(IJ)Z"]),
    // Threads and processes
    row(Owner::Class("java/lang/Thread"), &["sleep"], &["(J)", "(JI)", "(Ljava/time/Duration;)"]),
    row(Owner::Class("java/lang/Process"), &["waitFor"], &[NOTHING, "(JLjava/util/concurrent/TimeUnit;)", "(Ljava/time/Duration;)"]),
    row(Owner::Class("java/lang/ref/ReferenceQueue"), &["remove"], &[NOTHING, "(J)"]),
    row(SUPPORT, &["park"], &[NOTHING, OBJECT]),
    row(SUPPORT, &["parkNanos", "parkUntil"], &["(J)", "(Ljava/lang/Object;J)"]),
    row(Owner::Class("sun/misc/Unsafe"), &["park"], &["(ZJ)"]),
    row(Owner::Class("jdk/internal/misc/Unsafe"), &["park"], &["(ZJ)"]),
    row(Owner::Class("java/util/concurrent/TimeUnit"), &["sleep"], &["(J)"]),
    row(Owner::Class("java/util/concurrent/TimeUnit"), &["timedJoin"], &["(Ljava/lang/Thread;J)"]),
    row(Owner::Class("java/util/concurrent/TimeUnit"), &["timedWait"], &["(Ljava/lang/Object;J)"]),
    // Queues
    row(CONCURRENT, &["take", "takeFirst", "takeLast"], &[NOTHING]),
    row(CONCURRENT, &["put", "putFirst", "putLast", "transfer"], &[OBJECT]),
    row(CONCURRENT, &["poll", "pollFirst", "pollLast"], &[TIMED]),
    row(CONCURRENT, &["offer", "offerFirst", "offerLast", "tryTransfer"], &[TIMED]),
    // Results and executors
    row(CONCURRENT, &["get"], &[NOTHING, TIMED]),
    row(CONCURRENT, &["quietlyJoin"], &[NOTHING, TIMED]),
    row(CONCURRENT, &["quietlyJoinUninterruptibly", "awaitQuiescence", "awaitTermination"], &[TIMED]),
    row(CONCURRENT, &["invokeAll", "invokeAny"], &["(Ljava/util/Collection;)", TIMED]),
    row(Owner::Class("java/util/concurrent/ForkJoinPool"), &["invoke"], &["(Ljava/util/concurrent/ForkJoinTask;)"]),
    row(CONCURRENT, &["invoke", "quietlyInvoke", "helpQuiesce"], &[NOTHING]),
    row(CONCURRENT, &["invokeAll"], &[
        "(Ljava/util/concurrent/ForkJoinTask;Ljava/util/concurrent/ForkJoinTask;)",
        "([Ljava/util/concurrent/ForkJoinTask;)",
    ]),
    row(CONCURRENT, &["close"], &[NOTHING]),
    // Synchronizers and locks
    row(CONCURRENT, &["await"], &[NOTHING, TIMED]),
    row(CONCURRENT, &["acquire", "acquireUninterruptibly"], &[NOTHING, "(I)"]),
    row(CONCURRENT, &["tryAcquire", "tryLock"], &[TIMED]),
    row(CONCURRENT, &["exchange"], &[OBJECT, TIMED]),
    row(Owner::Class("java/util/concurrent/Phaser"), &["arriveAndAwaitAdvance"], &[NOTHING]),
    row(Owner::Class("java/util/concurrent/Phaser"), &["awaitAdvance", "awaitAdvanceInterruptibly"], &["(I)", TIMED]),
    row(LOCKS, &["lock", "lockInterruptibly", "awaitUninterruptibly"], &[NOTHING]),
    row(LOCKS, &["awaitNanos", "awaitUntil"], &["(J)", "(Ljava/util/Date;)"]),
    row(LOCKS, &["acquireShared"], &["(I)"]),
    row(LOCKS, &["readLock", "writeLock", "readLockInterruptibly", "writeLockInterruptibly"], &["()J"]),
    row(LOCKS, &["tryReadLock", "tryWriteLock"], &[TIMED]),
    // Networks
    row(Owner::Below("java/net/"), &["accept"], &[NOTHING]),
    row(Owner::Below("java/net/"), &["connect"], &["(Ljava/net/SocketAddress;)", "(Ljava/net/SocketAddress;I)"]),
    row(Owner::Below("java/net/"), &["receive"], &["(Ljava/net/DatagramPacket;)"]),
    row(Owner::Class("java/net/http/HttpClient"), &["send"], &["(Ljava/net/http/HttpRequest;Ljava/net/http/HttpResponse$BodyHandler;)"]),
    row(Owner::Class("javax/net/ssl/SSLServerSocket"), &["accept"], &[NOTHING]),
    row(CHANNELS, &["accept"], &[NOTHING]),
    row(CHANNELS, &["connect"], &["(Ljava/net/SocketAddress;)"]),
    row(CHANNELS, &["receive"], &["(Ljava/nio/ByteBuffer;)"]),
    row(CHANNELS, &["select"], &[NOTHING, "(J)", "(Ljava/util/function/Consumer;)", "(Ljava/util/function/Consumer;J)"]),
    row(Owner::Class("java/nio/channels/SocketChannel"), &["read"], &BUFFERS),
    row(Owner::Class("java/nio/channels/DatagramChannel"), &["read"], &BUFFERS),
    row(Owner::Class("java/nio/channels/Pipe$SourceChannel"), &["read"], &BUFFERS),
    row(Owner::Class("java/nio/channels/FileChannel"), &["lock"], &[NOTHING, "(JJZ)"]),
    // The user
    row(Owner::Class("java/io/Console"), &["readLine", "readPassword"], &[NOTHING, "(Ljava/lang/String;[Ljava/lang/Object;)"]),
    row(Owner::Class("java/io/PipedInputStream"), &["read"], &[NOTHING, "([BII)"]),
    row(Owner::Class("java/io/PipedReader"), &["read"], &[NOTHING, "([CII)"]),
    row(Owner::Class("java/awt/EventQueue"), &["getNextEvent"], &[NOTHING]),
    row(Owner::Class("java/awt/EventQueue"), &["invokeAndWait"], &["(Ljava/lang/Runnable;)"]),
    row(Owner::Class("javax/swing/SwingUtilities"), &["invokeAndWait"], &["(Ljava/lang/Runnable;)"]),
];

const BUFFERS: [&str; 3] =
    ["(Ljava/nio/ByteBuffer;)", "([Ljava/nio/ByteBuffer;)", "([Ljava/nio/ByteBuffer;II)"];

impl Owner {
    fn is(self, class: &[u8]) -> bool {
        match self {
            Owner::Any => true,
            Owner::Class(name) => name.as_bytes() == class,
            Owner::Below(start) => {
                class.starts_with(start.as_bytes()) && !class.starts_with(NOT_BLOCKING.as_bytes())
            }
        }
    }
}

fn fits(descriptor: &[u8], known: &str) -> bool {
    let parameters =
        descriptor.iter().rposition(|&b| b == b')').map_or(descriptor, |end| &descriptor[..=end]);
    match known {
        TIMED => parameters.ends_with(TIMED.as_bytes()),
        _ if known.ends_with(')') => parameters == known.as_bytes(),
        _ => descriptor == known.as_bytes(),
    }
}

/// The rows of each name.
static BY_NAME: LazyLock<HashMap<&'static [u8], Vec<&'static Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<&[u8], Vec<&Row>> = HashMap::new();
    for row in TABLE {
        for name in row.names {
            rows.entry(name.as_bytes()).or_default().push(row);
        }
    }
    rows
});

/// Whether a method that an instruction names blocks its caller.
pub(crate) fn is_blocking(class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
    let rows = BY_NAME.get(name).map_or(&[][..], Vec::as_slice);
    rows.iter().any(|row| row.descriptors.iter().any(|known| fits(descriptor, known)) && row.owner.is(class))
}

/// The methods of the table that the methods of a class call, by ascending pool index. Methods that `wanted` (name and
/// descriptor) refuses are not looked at.
///
/// # Errors
/// The bytes are no complete class file.
pub(super) fn callees<'a>(
    class: &ClassFile<'a>,
    wanted: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<Vec<Callee<'a>>, ClassError> {
    let pool = &class.pool;
    // Most classes name none, and their code is not looked at.
    let blocks = |index: &u16| {
        matches!(pool.tag(*index), Some(Tag::Methodref | Tag::InterfaceMethodref))
            && pool.referenced_name_and_type(*index).is_ok_and(|(name, _)| BY_NAME.contains_key(name))
    };
    let mut named = pool.indices().filter(blocks).filter_map(|index| Callee::at(pool, index).ok());
    if !named.any(|callee| is_wait(class, &callee)) {
        return Ok(Vec::new());
    }
    Ok(called(class, wanted)?.filter(|callee| is_wait(class, callee)).collect())
}

/// Whether a class that calls this method waits.
pub(super) fn is_wait(class: &ClassFile<'_>, callee: &Callee<'_>) -> bool {
    let &Callee { class: owner, name, descriptor, .. } = callee;
    if class.name().is_ok_and(|this| this == owner) {
        return is_inherited(class, callee);
    }
    is_blocking(owner, name, descriptor)
}

/// Whether a class calls by its own name what it inherits from a class of the table.
fn is_inherited(class: &ClassFile<'_>, callee: &Callee<'_>) -> bool {
    let &Callee { class: owner, name, descriptor, .. } = callee;
    let above = class.super_name().ok().flatten().unwrap_or_default();
    class.name().is_ok_and(|this| this == owner)
        && is_blocking(above, name, descriptor)
        && !declares(class, name, descriptor).unwrap_or(true)
}

fn declares(class: &ClassFile<'_>, name: &[u8], descriptor: &[u8]) -> Result<bool, ClassError> {
    let mut methods = class.methods();
    while let Some(method) = methods.next()? {
        if method.name(&class.pool)? == name && method.descriptor(&class.pool)? == descriptor {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_of_one_name_are_distinguished() {
        let blocks = |text: &str| {
            let (class, method) = text.split_once('.').unwrap();
            let (name, descriptor) = method.split_at(method.find('(').unwrap());
            is_blocking(class.as_bytes(), name.as_bytes(), descriptor.as_bytes())
        };
        for method in [
            "java/lang/Object.wait(J)V",
            "com/acme/Worker.join()V",
            "java/util/concurrent/LinkedBlockingQueue.take()Ljava/lang/Object;",
            "java/util/concurrent/BlockingQueue.poll(JLjava/util/concurrent/TimeUnit;)Ljava/lang/Object;",
            "java/util/concurrent/Future.get()Ljava/lang/Object;",
            "java/util/concurrent/ThreadPoolExecutor.awaitTermination(JLjava/util/concurrent/TimeUnit;)Z",
            "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock.lock()V",
            "java/util/concurrent/locks/StampedLock.readLock()J",
            "java/net/ServerSocket.accept()Ljava/net/Socket;",
            "java/nio/channels/Selector.select(J)I",
        ] {
            assert!(blocks(method), "{method}");
        }
        for method in [
            "com/acme/Worker.sleep(J)V",
            "com/acme/Text.join()Ljava/lang/String;",
            "java/util/concurrent/ConcurrentHashMap.get(Ljava/lang/Object;)Ljava/lang/Object;",
            "java/util/concurrent/ConcurrentHashMap.put(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
            "java/util/concurrent/BlockingQueue.poll()Ljava/lang/Object;",
            "java/util/concurrent/atomic/AtomicReference.get()Ljava/lang/Object;",
            "java/util/concurrent/locks/ReentrantReadWriteLock.readLock()Ljava/util/concurrent/locks/ReentrantReadWriteLock$ReadLock;",
            "java/util/concurrent/ScheduledExecutorService.schedule(Ljava/lang/Runnable;JLjava/util/concurrent/TimeUnit;)Ljava/util/concurrent/ScheduledFuture;",
            "java/nio/channels/Selector.selectNow()I",
            "java/nio/channels/FileChannel.read(Ljava/nio/ByteBuffer;)I",
            "java/io/InputStream.read()I",
        ] {
            assert!(!blocks(method), "{method}");
        }
    }
}
