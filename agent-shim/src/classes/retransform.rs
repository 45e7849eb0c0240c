//! Classes that are loaded already go through the load hook once more.
//!
//! That makes the virtual machine stand still: how long, depends on how many classes are loaded, and hardly on how many are sent. So there
//! are few large batches.

use crate::classes::rules::Origin;
use crate::classes::unrewritten;
use crate::jvmti::{Global, Jni, Jvmti, JvmtiError, Object};
use crate::recording::agent::Agent;
use crate::recording::agent::Live;
use crate::recording::attendance;
use crate::talk::say;
use instrument_control::answer::Standstill;
use instrument_rewriter::reason::Reason;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How many batches there are at most, but for what is halved.
const BATCHES: usize = 8;
/// So many classes go together: between two batches some methods of a program tell of themselves, and others do not.
const LARGE: usize = 2000;
/// How often that is tried before the program is said to stand still for too long: the machine may have been busy.
const TRIES: usize = 3;

thread_local! {
    /// When the load hook has last seen a class that is loaded: what comes behind the last one is the standstill.
    static SEEN: Cell<Option<Instant>> = const { Cell::new(None) };
    /// How many of those that are being sent have new bytes.
    static CHANGED: Cell<usize> = const { Cell::new(0) };
}

/// The load hook is done with a class that is loaded; whether that has new bytes.
pub(crate) fn seen(is_changed: bool) {
    SEEN.set(Some(Instant::now()));
    CHANGED.set(CHANGED.get() + usize::from(is_changed));
}

/// Sends the classes through the hook that were loaded before it was there: what other agents and the system class loader have brought before
/// the virtual machine was initialised, or an attached program has; of the JDK what the user asked for. How long the program stood still.
///
/// # Errors
/// A program that runs would stand still for longer than `longest`.
pub(crate) fn retransform(
    agent: &Agent,
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
    longest: Option<Duration>,
) -> Result<Standstill, String> {
    let mut stood = Standstill::default();
    let Some(live) = agent.live.get() else { return Ok(stood) };
    let classes = match jvmti.loaded_classes(jni) {
        Ok(classes) => classes,
        Err(error) => {
            say(format_args!("classes that are loaded stay as they are: {error}"));
            return Ok(stood);
        }
    };
    // Of an agent of java.lang.instrument that was called before this one, every class that is not the JDK's is its own.
    let is_agent =
        |class| class_name(jvmti, class).is_some_and(|name| name == "sun/instrument/InstrumentationImpl");
    let by_agent = longest.is_none() && classes.iter().any(is_agent);
    let mut wanted = Vec::new();
    for class in classes {
        if let (Some(name), Ok(loader)) = (class_name(jvmti, &class), jvmti.loader(&class, jni)) {
            let origin = live.origin(jni, &loader, name.as_bytes());
            if agent.hook.may_rewrite(origin, name.as_bytes(), || jvmti.constant_pool(&class))
                && !agent.early.as_ref().is_some_and(|early| early.has_rewritten(name.as_bytes()))
                && jvmti.is_modifiable(&class)
            {
                if by_agent && origin == Origin::Program {
                    unrewritten::brought_by_an_agent(
                        agent.hook.left_unreachable(name.as_bytes(), Reason::BeforeAgent),
                    );
                } else if longest.is_some() && !is_taken_now(jvmti, &class, &name) {
                    stood.later += 1;
                } else {
                    wanted.extend(jni.global(&class));
                }
            }
            jni.forget(loader);
        }
        jni.forget(class);
    }
    let refusal = match longest {
        Some(longest) => in_batches(jvmti, jni, &wanted, longest, &mut stood),
        None => {
            send(jvmti, &wanted, &mut stood);
            say_refused(&stood, wanted.len());
            Ok(())
        }
    };
    for class in wanted {
        jni.forget_global(class);
    }
    refusal.map(|()| stood)
}

/// Whether a class is prepared; one that is not is expected to be.
fn is_taken_now(jvmti: Jvmti<'_>, class: &Object<'_>, name: &str) -> bool {
    if jvmti.is_prepared(class) {
        return true;
    }
    attendance::expect(name);
    jvmti.is_prepared(class)
}

/// Sends classes of a program that runs. One that nobody changes shows beforehand how long it stands still for that.
fn in_batches(
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
    classes: &[Global],
    longest: Duration,
    stood: &mut Standstill,
) -> Result<(), String> {
    let Some(unchanged) = jni.find_class("java/lang/Void").and_then(|class| jni.promote(class)) else {
        return Err("a class of the JDK is not found".to_owned());
    };
    let unchanged = [unchanged];
    let mut took = Duration::MAX;
    for _ in 0..TRIES {
        let before = stood.ns;
        send(jvmti, &unchanged, stood);
        took = took.min(Duration::from_nanos(stood.ns - before));
        if took <= longest {
            break;
        }
    }
    unchanged.into_iter().for_each(|class| jni.forget_global(class));
    if took > longest {
        return Err(format!(
            "it would stand still for {} ms for each batch of classes, and --max-pause is {} ms: give a longer one, or start the program \
             with `instrument run`",
            took.as_millis(),
            longest.as_millis()
        ));
    }
    stood.longest_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
    for batch in classes.chunks(classes.len().div_ceil(BATCHES).max(LARGE)) {
        if Duration::from_nanos(stood.longest_ns) > longest {
            stood.left_out += batch.len();
        } else {
            send(jvmti, batch, stood);
        }
    }
    say_refused(stood, classes.len());
    if stood.left_out > 0 {
        say(format_args!(
            "{} of {} classes that were loaded stay as they are: the program stood still for {} ms, and --max-pause is {} ms",
            stood.left_out,
            classes.len(),
            Duration::from_nanos(stood.longest_ns).as_millis(),
            longest.as_millis()
        ));
    }
    Ok(())
}

/// Sends classes through the hook once more. One that the virtual machine refuses keeps no other back.
pub(crate) fn retransform_all(jvmti: Jvmti<'_>, jni: Jni<'_>, classes: Vec<Global>) {
    let mut stood = Standstill::default();
    send(jvmti, &classes, &mut stood);
    say_refused(&stood, classes.len());
    for class in classes {
        jni.forget_global(class);
    }
}

fn say_refused(stood: &Standstill, all: usize) {
    if stood.refused > 0 {
        say(format_args!("{} of {all} classes that were loaded stay as they are", stood.refused));
    }
}

/// Sends classes through the hook once more, all at once; if the virtual machine refuses one of them, it refuses all, without a standstill: so
/// each half is tried by itself.
pub(crate) fn send(jvmti: Jvmti<'_>, classes: &[Global], stood: &mut Standstill) {
    /// Nothing can be done any more, or there is no memory.
    const HOPELESS: [JvmtiError; 2] = [JvmtiError(110), JvmtiError(112)];
    if classes.is_empty() {
        return;
    }
    let start = Instant::now();
    SEEN.set(None);
    CHANGED.set(0);
    match jvmti.retransform(classes) {
        Ok(()) => {
            let time = SEEN.get().unwrap_or(start).elapsed();
            let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            stood.stops += 1;
            stood.ns += ns;
            stood.longest_ns = stood.longest_ns.max(ns);
            stood.classes += CHANGED.get();
        }
        Err(error) if classes.len() == 1 || HOPELESS.contains(&error) => stood.refused += classes.len(),
        Err(_) => {
            let (one, other) = classes.split_at(classes.len() / 2);
            send(jvmti, one, stood);
            send(jvmti, other, stood);
        }
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
