//! Classes of the program that would have been rewritten and run as they are, counted in the profile and named in the account, each with its
//! reason:
//!
//! - `hidden`: hidden classes (JEP 371) and the anonymous classes of `Unsafe` before them: the virtual machine shows their bytes to no agent;
//! - `native-loaded`: native methods, with `native=on`, of classes that were loaded before: those get no wrappers any more. The rest of the
//!   class is rewritten;
//! - `before-agent`: those that agents of `java.lang.instrument` brought before this one was called: they run while classes load, those of the recorder among
//!   them, and with probes they would need a class that is just being loaded.

use crate::class_rules::Origin;
use crate::jvmti::{Jni, Jvmti, Object};
use crate::{AGENT, Agent, is_loading};
use instrument_rewriter::class_file::mutf8;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Those that would have been rewritten.
#[derive(Debug, Default)]
struct Seen {
    classes: u64,
    /// The name of the first one, for people.
    first: String,
}

static HIDDEN: Mutex<Seen> = Mutex::new(Seen { classes: 0, first: String::new() });
static OF_AGENTS: Mutex<Seen> = Mutex::new(Seen { classes: 0, first: String::new() });
static OF_LOADED: Mutex<Seen> = Mutex::new(Seen { classes: 0, first: String::new() });
/// The classes that [`OF_LOADED`] counts.
static NATIVES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

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
        count(&HIDDEN, agent.hook.left_unreachable(name, "hidden"));
    }
}

/// A class has native methods that are not recorded, because it was loaded before; its name as in the class file.
pub(crate) fn natives_of_loaded(class: &[u8]) {
    let name = mutf8::escape(class).replace('/', ".");
    let mut names = NATIVES.lock().unwrap_or_else(PoisonError::into_inner);
    // Sent through the hook again, it is the same class.
    if names.insert(name.clone()) {
        count(&OF_LOADED, name);
    }
}

/// Another recording begins.
pub(crate) fn renew() {
    for seen in [&HIDDEN, &OF_AGENTS, &OF_LOADED] {
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen::default();
    }
    NATIVES.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// A class of the program was loaded before this agent was called, by another one.
pub(crate) fn brought_by_an_agent(agent: &Agent, class: &[u8]) {
    count(&OF_AGENTS, agent.hook.left_unreachable(class, "before-agent"));
}

fn count(seen: &Mutex<Seen>, name: String) {
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.classes == 0 {
        seen.first = name;
    }
    seen.classes += 1;
}

/// What the profile says of them, as lines of KEY=VALUE; nothing, if there were none.
pub(crate) fn properties() -> String {
    let lines = |key: &str, seen: &Mutex<Seen>| {
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.classes {
            0 => String::new(),
            classes => format!("{key}.classes={classes}\n{key}.first={}\n", seen.first),
        }
    };
    lines("hidden", &HIDDEN) + &lines("before-agent", &OF_AGENTS) + &lines("native-loaded", &OF_LOADED)
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
