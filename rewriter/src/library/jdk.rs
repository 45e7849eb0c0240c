//! Which classes are the JDK's, by name: for the time when nobody knows yet who will load them.
//!
//! The packages of the modules of JDK 11 to 25. Others share some of their first names (`javax.servlet`, `com.sun.mail`), so the
//! lists name what is below those. And which of them can have no probes.

use std::collections::HashSet;

use crate::class_file::annotation::annotation_types;
use crate::class_file::{ClassFile, find_attribute};

/// What marks a method that HotSpot knows: since Java 16, and before.
const INTRINSIC: [&[u8]; 2] =
    [b"Ljdk/internal/vm/annotation/IntrinsicCandidate;", b"Ljdk/internal/HotSpotIntrinsicCandidate;"];
/// Below each of these everything is the JDK's.
const WHOLE: [&str; 8] = [
    "java/",
    "jdk/",
    "sun/",
    "org/ietf/jgss/",
    "org/w3c/dom/",
    "org/xml/sax/",
    "netscape/javascript/",
    "org/jcp/xml/dsig/internal/",
];
/// Below `javax/`.
const JAVAX: [&str; 27] = [
    "accessibility/",
    "annotation/processing/",
    "crypto/",
    "imageio/",
    "lang/model/",
    "management/",
    "naming/",
    "net/",
    "print/",
    "rmi/ssl/",
    "script/",
    "security/auth/",
    "security/cert/",
    "security/sasl/",
    "smartcardio/",
    "sound/midi/",
    "sound/sampled/",
    "sql/",
    "swing/",
    "tools/",
    "transaction/xa/",
    "xml/catalog/",
    "xml/crypto/",
    "xml/datatype/",
    "xml/namespace/",
    "xml/parsers/",
    "xml/stream/",
];
/// Also below `javax/xml/`.
const JAVAX_XML: [&str; 3] = ["transform/", "validation/", "xpath/"];
/// Below `com/sun/`.
const COM_SUN: [&str; 21] = [
    "beans/",
    "crypto/provider/",
    "imageio/",
    "jarsigner/",
    "java/",
    "java_cup/",
    "jdi/",
    "jmx/",
    "jndi/",
    "management/",
    "media/sound/",
    "naming/internal/",
    "net/httpserver/",
    "net/ssl/",
    "nio/",
    "org/apache/",
    "rowset/",
    "security/",
    "source/",
    "swing/",
    "tools/",
];

/// Whether a class (internal name) is one of the JDK's.
pub fn has(class: &[u8]) -> bool {
    let below = |first: &str, rest: &[&str]| {
        class.strip_prefix(first.as_bytes()).is_some_and(|class| starts_with_any(class, rest))
    };
    starts_with_any(class, &WHOLE)
        || below("javax/", &JAVAX)
        || below("javax/xml/", &JAVAX_XML)
        || class == b"javax/xml/XMLConstants"
        || below("com/sun/", &COM_SUN)
}

/// Classes of the JDK whose methods a probe calls before it can know that it is called by itself. Probes in them would never end.
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

/// Classes of the JDK whose methods the virtual machine's own threads may be in when the program begins: they wait there for
/// references to be cleared.
pub fn is_waited_in(class: &[u8]) -> bool {
    class.starts_with(b"java/util/concurrent/locks/")
}

/// Classes of the JDK that run virtual threads. A probe may wait for a lock which a virtual thread is to get next: whoever lets that run must not
/// wait, or nobody ever goes on.
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

/// Names and descriptors of the methods of a class of the JDK in whose place the JIT compiler puts code of its own: most calls never reach
/// their probes. None: it cannot be read.
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

    #[test]
    fn names_that_others_share_are_distinguished() {
        for class in [
            "java/lang/String",
            "javax/sql/DataSource",
            "javax/xml/transform/Source",
            "org/w3c/dom/Node",
            "com/sun/net/httpserver/HttpServer",
            "jdk/jfr/Event",
        ] {
            assert!(has(class.as_bytes()), "{class}");
        }
        for class in [
            "javax/servlet/Servlet",
            "javax/xml/bind/JAXB",
            "javax/annotation/Nullable",
            "javax/transaction/Transaction",
            "com/sun/mail/smtp/SMTPTransport",
            "com/sun/jna/Native",
            "org/xml/Other",
            "javas/Script",
        ] {
            assert!(!has(class.as_bytes()), "{class}");
        }
    }
}
