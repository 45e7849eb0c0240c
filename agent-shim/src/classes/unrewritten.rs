//! What would have been rewritten and runs as it is, counted in the profile and named in the account, each with its reason. Classes of the
//! program:
//!
//! - `hidden`: hidden classes (JEP 371) and the anonymous classes of `Unsafe` before them: the virtual machine shows their bytes to no agent;
//! - `native-loaded`: native methods, with `native=on`, of classes that were loaded before: those get no wrappers any more. The rest of the
//!   class is rewritten;
//! - `before-agent`: those that agents of `java.lang.instrument` brought before this one was called: they run while classes load, those of the recorder among
//!   them, and with probes they would need a class that is just being loaded.
//!
//! - `of-agent`: those of other agents of `java.lang.instrument`: they are not the program, unless somebody names them.
//!
//! And methods of the JDK that were requested: `intrinsic`, in whose place JIT compilers put code of their own.

use instrument_names::signature::readable;
use instrument_rewriter::class_file::mutf8;
use instrument_rewriter::reason::Reason;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Those that would have been rewritten.
#[derive(Debug, Default)]
struct Seen {
    /// How many classes; of [`INTRINSICS`] methods.
    count: u64,
    /// The name of the first one, for people.
    first: String,
}

static HIDDEN: Mutex<Seen> = Mutex::new(Seen { count: 0, first: String::new() });
static BEFORE_AGENT: Mutex<Seen> = Mutex::new(Seen { count: 0, first: String::new() });
static OF_AGENT: Mutex<Seen> = Mutex::new(Seen { count: 0, first: String::new() });
static OF_LOADED: Mutex<Seen> = Mutex::new(Seen { count: 0, first: String::new() });
static INTRINSICS: Mutex<Seen> = Mutex::new(Seen { count: 0, first: String::new() });
/// What [`OF_LOADED`], [`OF_AGENT`] and [`INTRINSICS`] count: sent through the hook again, it is the same class.
static COUNTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A class has native methods that are not recorded, because it was loaded before; its name as in the class file.
pub(crate) fn natives_of_loaded(class: &[u8]) {
    count_once(&OF_LOADED, mutf8::escape(class).replace('/', "."));
}

/// A method of the JDK that was requested is not recorded, because JIT compilers put code of their own in its place; names as in the class file.
pub(crate) fn intrinsic(class: &[u8], name: &[u8], descriptor: &[u8]) {
    let [class, name, descriptor] = [class, name, descriptor].map(mutf8::escape);
    let method = format!("{}.{name}{descriptor}", class.replace('/', "."));
    count_once(&INTRINSICS, readable(&method).unwrap_or(method));
}

/// Another recording begins.
pub(crate) fn renew() {
    for seen in [&HIDDEN, &BEFORE_AGENT, &OF_AGENT, &OF_LOADED, &INTRINSICS] {
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen::default();
    }
    COUNTED.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// A hidden class, by its name.
pub(crate) fn hidden(name: String) {
    count(&HIDDEN, name);
}

/// A class of the program, by its name, was loaded before this agent was called, by another one.
pub(crate) fn brought_by_an_agent(name: String) {
    count(&BEFORE_AGENT, name);
}

/// A class, by its name, is another agent's.
pub(crate) fn of_an_agent(name: String) {
    count_once(&OF_AGENT, name);
}

fn count_once(seen: &Mutex<Seen>, name: String) {
    if COUNTED.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone()) {
        count(seen, name);
    }
}

fn count(seen: &Mutex<Seen>, name: String) {
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.count == 0 {
        seen.first = name;
    }
    seen.count += 1;
}

/// What the profile says of them, as lines of KEY=VALUE; nothing, if there were none.
pub(crate) fn properties() -> String {
    let lines = |key: &str, what: &str, seen: &Mutex<Seen>| {
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.count {
            0 => String::new(),
            count => format!("{key}.{what}={count}\n{key}.first={}\n", seen.first),
        }
    };
    lines(Reason::Hidden.as_str(), "classes", &HIDDEN)
        + &lines(Reason::BeforeAgent.as_str(), "classes", &BEFORE_AGENT)
        + &lines(Reason::OfAgent.as_str(), "classes", &OF_AGENT)
        + &lines("native-loaded", "classes", &OF_LOADED)
        + &lines("intrinsic", "methods", &INTRINSICS)
}
