//! Hidden classes (JEP 371), and the anonymous classes of `Unsafe` before them: the virtual machine shows their bytes to no agent.

use super::in_hook::is_loading;
use super::rules::Origin;
use super::unrewritten;
use crate::jvmti::{Jni, Jvmti, Object};
use crate::recording::agent::AGENT;
use instrument_rewriter::reason::Reason;

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
    let may_change = || agent.hook.may_change(name, || jvmti.constant_pool(class));
    if origin == Origin::Program && agent.hook.wants(origin, name) && may_change() {
        unrewritten::hidden(agent.hook.left_unreachable(name, Reason::Hidden));
    }
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
