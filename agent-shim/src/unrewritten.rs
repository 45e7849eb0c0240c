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
//! And methods of the JDK that were asked for: `intrinsic`, in whose place JIT compilers put code of their own.

use crate::class_rules::Origin;
use crate::jvmti::{Jni, Jvmti, Object};
use crate::{AGENT, Agent, is_loading};
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

/// A class was prepared: it counts if it is a hidden one.
pub(crate) fn prepared(jvmti: Jvmti<'_>, jni: Jni<'_>, class: &Object<'_>) {
    let Some(signature) = jvmti.raw_signature(class) else { return };
    let Some(name) = written_name(&signature) else { return };
    let Some(agent) = AGENT.get() else { return };
    let Some(live) = agent.live.get() else { return };
    if is_loading() {
        return;
    }
    let Ok(loader) = jvmti.loader(class, jni) else { return };
    let origin = live.origin(jni, &loader, name);
    jni.forget(loader);
    if origin == Origin::Program && agent.hook.wants(origin, name) && agent.hook.may_change(name) {
        count(&HIDDEN, agent.hook.left_unreachable(name, Reason::Hidden));
    }
}

/// A class has native methods that are not recorded, because it was loaded before; its name as in the class file.
pub(crate) fn natives_of_loaded(class: &[u8]) {
    count_once(&OF_LOADED, mutf8::escape(class).replace('/', "."));
}

/// A method of the JDK that was asked for is not recorded, because JIT compilers put code of their own in its place; names as in the class file.
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

/// A class of the program was loaded before this agent was called, by another one.
pub(crate) fn brought_by_an_agent(agent: &Agent, class: &[u8]) {
    count(&BEFORE_AGENT, agent.hook.left_unreachable(class, Reason::BeforeAgent));
}

/// A class is another agent's.
pub(crate) fn of_an_agent(agent: &Agent, class: &[u8]) {
    count_once(&OF_AGENT, agent.hook.left_unreachable(class, Reason::OfAgent));
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

/// The name in the class file of a hidden class: `p/Foo` of `Lp/Foo.0x1234;`, and of `Lp/Foo/1234;` as Java 11 has it. None: it is not
/// hidden.
fn written_name(signature: &[u8]) -> Option<&[u8]> {
    let name = signature.strip_prefix(b"L")?.strip_suffix(b";")?;
    let at = name.iter().rposition(|byte| matches!(byte, b'.' | b'/'))?;
    let (written, suffix) = (&name[..at], &name[at + 1..]);
    let is_hidden = name[at] == b'.' || (!suffix.is_empty() && suffix.iter().all(u8::is_ascii_digit));
    is_hidden.then_some(written)
}

#[cfg(test)]
mod tests {
    use super::written_name;

    #[test]
    fn hidden_classes_are_known_by_their_signatures() {
        for (signature, name) in [
            (&b"Lp/Foo.0x00007f1;"[..], Some(&b"p/Foo"[..])),
            (b"LHidden$Body.0x12;", Some(b"Hidden$Body")),
            (b"Lp/Foo/1827364;", Some(b"p/Foo")),
            (b"Lp/Foo;", None),
            (b"LFoo;", None),
            (b"Lp/Foo1;", None),
            (b"[Lp/Foo.0x1;", None),
        ] {
            assert_eq!(written_name(signature), name, "{}", String::from_utf8_lossy(signature));
        }
    }
}
