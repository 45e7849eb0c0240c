//! Classes that are loaded already go through the load hook once more.

use crate::class_rules::Origin;
use crate::jvmti::{Global, Jni, Jvmti, Object};
use crate::talk::say;
use crate::{Agent, Live, unrewritten};

/// Sends the classes through the hook that were loaded before it was there: what other agents and the system class loader have brought before
/// the virtual machine was initialised, or an attached program has; of the JDK what the user asked for.
pub(crate) fn retransform(agent: &Agent, jvmti: Jvmti<'_>, jni: Jni<'_>, attached: bool) {
    let Some(live) = agent.live.get() else { return };
    let classes = match jvmti.loaded_classes(jni) {
        Ok(classes) => classes,
        Err(error) => return say(format_args!("classes that are loaded stay as they are: {error}")),
    };
    // Of an agent of java.lang.instrument that was called before this one, every class that is not the JDK's is its own.
    let is_agent =
        |class| class_name(jvmti, class).is_some_and(|name| name == "sun/instrument/InstrumentationImpl");
    let by_agent = !attached && classes.iter().any(is_agent);
    let mut wanted = Vec::new();
    for class in classes {
        if let (Some(name), Ok(loader)) = (class_name(jvmti, &class), jvmti.loader(&class, jni)) {
            let origin = live.origin(jni, &loader, name.as_bytes());
            if agent.hook.may_want(origin, name.as_bytes())
                && !agent.early.as_ref().is_some_and(|early| early.has_rewritten(name.as_bytes()))
                && jvmti.is_modifiable(&class)
            {
                if by_agent && origin == Origin::Program {
                    unrewritten::brought_by_an_agent(agent, name.as_bytes());
                } else {
                    wanted.extend(jni.global(&class));
                }
            }
            jni.forget(loader);
        }
        jni.forget(class);
    }
    retransform_all(jvmti, jni, wanted);
}

/// Sends classes through the hook once more. One that the virtual machine refuses keeps no other back.
pub(crate) fn retransform_all(jvmti: Jvmti<'_>, jni: Jni<'_>, classes: Vec<Global>) {
    if !classes.is_empty() && jvmti.retransform(&classes).is_err() {
        let refused = classes.chunks(1).filter(|class| jvmti.retransform(class).is_err()).count();
        say(format_args!("{refused} of {} classes that were loaded stay as they are", classes.len()));
    }
    for class in classes {
        jni.forget_global(class);
    }
}

/// Sends a class of the boot loader through the hook once more.
pub(crate) fn send_again(jvmti: Jvmti<'_>, jni: Jni<'_>, class: &str) -> bool {
    jni.find_class(class).and_then(|class| jni.promote(class)).is_some_and(|class| {
        let done = jvmti.retransform(std::slice::from_ref(&class)).is_ok();
        jni.forget_global(class);
        done
    })
}

/// The classes that may be rewritten whose names `wanted` lets through.
pub(crate) fn loaded(
    agent: &Agent,
    live: &Live,
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Global> {
    let mut found = Vec::new();
    each_loaded(jvmti, jni, |class, name| {
        if wanted(name) && is_considered(agent, live, jvmti, jni, class, name) {
            found.extend(jni.global(class));
        }
    });
    found
}

fn is_considered(
    agent: &Agent,
    live: &Live,
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
    class: &Object<'_>,
    name: &str,
) -> bool {
    let Ok(loader) = jvmti.loader(class, jni) else { return false };
    let origin = live.origin(jni, &loader, name.as_bytes());
    jni.forget(loader);
    agent.hook.may_want(origin, name.as_bytes()) && jvmti.is_modifiable(class)
}

/// Every class that is loaded and has a name of its own.
pub(crate) fn each_loaded<'a>(jvmti: Jvmti<'a>, jni: Jni<'a>, mut visit: impl FnMut(&Object<'a>, &str)) {
    let classes = match jvmti.loaded_classes(jni) {
        Ok(classes) => classes,
        Err(error) => return say(format_args!("classes that are loaded stay as they are: {error}")),
    };
    for class in classes {
        if let Some(name) = class_name(jvmti, &class) {
            visit(&class, &name);
        }
        jni.forget(class);
    }
}

/// The name of a class as the class file has it; none for arrays and hidden classes, which have a dot in theirs.
pub(crate) fn class_name(jvmti: Jvmti<'_>, class: &Object<'_>) -> Option<String> {
    let signature = jvmti.signature(class)?;
    signature.strip_prefix('L')?.strip_suffix(';').filter(|name| !name.contains('.')).map(str::to_owned)
}
