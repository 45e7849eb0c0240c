//! Which classes are the JDK's, and which of them can have no probes.

use std::collections::HashSet;

use crate::class_file::annotation::annotation_types;
use crate::class_file::{ClassFile, find_attribute};
pub use instrument_names::jdk::has;

/// What marks a method that HotSpot knows: since Java 16, and before.
const INTRINSIC: [&[u8]; 2] =
    [b"Ljdk/internal/vm/annotation/IntrinsicCandidate;", b"Ljdk/internal/HotSpotIntrinsicCandidate;"];
/// Classes of the JDK whose methods a probe calls before it can know that it is called by itself. Probes in them would
/// never end.
pub fn is_needed_by_probes(class: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 7] = [
        b"java/lang/",
        b"java/nio/",
        b"java/util/concurrent/atomic/",
        b"jdk/internal/",
        b"sun/misc/",
        b"sun/nio/",
        b"java/util/Objects",
    ];
    PREFIXES.iter().any(|prefix| class.starts_with(prefix))
}

/// Classes of the JDK whose methods the virtual machine's own threads may be in when the program begins: they wait
/// there for references to be cleared.
pub fn is_waited_in(class: &[u8]) -> bool {
    class.starts_with(b"java/util/concurrent/locks/")
}

/// Classes of the JDK that run virtual threads. A probe may wait for a lock which a virtual thread is to get next:
/// whoever lets that run must not wait, or nobody ever goes on.
pub fn runs_virtual_threads(class: &[u8]) -> bool {
    const PREFIXES: [&str; 12] = [
        "java/util/concurrent/ForkJoin",
        "java/util/concurrent/locks/LockSupport",
        "java/util/concurrent/DelayScheduler",
        "java/util/concurrent/ScheduledThreadPoolExecutor",
        "java/util/concurrent/ThreadPoolExecutor",
        "java/util/concurrent/AbstractExecutorService",
        "java/util/concurrent/ExecutorService",
        "java/util/concurrent/Executors",
        "java/util/concurrent/FutureTask",
        "java/util/concurrent/CountedCompleter",
        "java/util/concurrent/ThreadLocalRandom",
        "java/util/concurrent/TimeUnit",
    ];
    starts_with_any(class, &PREFIXES)
}

/// Names and descriptors of the methods of a class of the JDK in whose place the JIT compiler puts code of its own:
/// most calls never reach their probes. None: it cannot be read.
pub fn intrinsics(class: &[u8]) -> Option<HashSet<(Vec<u8>, Vec<u8>)>> {
    let class = ClassFile::parse(class).ok()?;
    let mut found = HashSet::new();
    let mut methods = class.methods();
    while let Some(method) = methods.next().ok()? {
        let annotations =
            find_attribute(method.attributes(), &class.pool, b"RuntimeVisibleAnnotations").ok()?;
        let types = annotations.map(|of| annotation_types(of.info)).transpose().ok()?.unwrap_or_default();
        if types.iter().any(|&of| class.pool.utf8(of).is_ok_and(|of| INTRINSIC.contains(&of))) {
            found.insert((
                method.name(&class.pool).ok()?.to_vec(),
                method.descriptor(&class.pool).ok()?.to_vec(),
            ));
        }
    }
    Some(found)
}

fn starts_with_any(class: &[u8], prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| class.starts_with(prefix.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_virtual_threads_is_known_and_collections_are_not_among_it() {
        for class in [
            "ForkJoinPool$WorkQueue",
            "ForkJoinTask",
            "DelayScheduler",
            "FutureTask$WaitNode",
            "locks/LockSupport",
        ] {
            assert!(runs_virtual_threads(format!("java/util/concurrent/{class}").as_bytes()), "{class}");
        }
        for class in ["concurrent/ConcurrentHashMap", "concurrent/CompletableFuture", "HashMap"] {
            assert!(!runs_virtual_threads(format!("java/util/{class}").as_bytes()), "{class}");
        }
    }
}
