//! One recording after another in the same virtual machine: the agent comes with [`Agent_OnAttach`](crate::exports::Agent_OnAttach), or a request to
//! an [armed](crate::recording::armed) program, [`stop`] takes everything back, and the next one may have other options.
//!
//! [`stop`] does, in this order:
//!
//! 1. The hook finds no recording any more, and changes no class.
//! 2. Every class that has new bytes is retransformed: with a hook that changes nothing it gets those that it was loaded with. One call
//!    for all of them; a second one for those that were on their way meanwhile.
//! 3. Events of the virtual machine come no more.
//! 4. The recorder completes the profile. Calls that are open run out in their old code: their events are not recorded.
//!
//! What stays is small: the library, the runtime's classes, one environment, and of each recording its filter.

use crate::classes::in_hook::InHook;
use crate::classes::retransform::send;
use crate::classes::subgraph::waves;
use crate::classes::unrewritten;
use crate::heap;
use crate::heap_dump;
use crate::jvmti::{Event, Global, Jni, Jvmti, Object};
use crate::options::Options;
use crate::recording::agent::Live;
use crate::recording::agent::{Agent, Current};
use crate::recording::attendance;
use crate::talk::say;
use instrument_control::answer::Standstill;
use instrument_control::keys;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The longest time that classes which are being rewritten are waited for.
pub(crate) const TO_LEAVE: Duration = Duration::from_secs(10);

/// Held by whoever begins a recording, or ends it before the virtual machine does.
pub(crate) fn changing() -> MutexGuard<'static, ()> {
    static CHANGING: Mutex<()> = Mutex::new(());
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What can be had only of a virtual machine that is initialised, from the first recording on.
pub(crate) static LIVE: OnceLock<Live> = OnceLock::new();

// ---- what one recording leaves to the next ----

/// What the recorder does as it did the first time.
#[derive(Debug, Default, Clone)]
struct History {
    /// Recordings that have begun.
    begun: u64,
    /// How calls were timed when a tree was recorded: timing, CPU time.
    tree: Option<[String; 2]>,
    clock: Option<String>,
}

static HISTORY: Mutex<Option<History>> = Mutex::new(None);

/// A recording that may begin. One that is dropped before it does leaves nothing to the next one.
#[must_use]
pub(crate) struct Admission {
    before: Option<History>,
}

impl Admission {
    /// It does begin.
    pub(crate) fn begins(mut self) {
        self.before = None;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            *HISTORY.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        }
    }
}

/// Whether a recording with these options can begin.
///
/// # Errors
/// What it cannot do again, and the cure.
pub(crate) fn admit(options: &Options) -> Result<Admission, String> {
    let mut history = HISTORY.lock().unwrap_or_else(PoisonError::into_inner);
    let history = history.get_or_insert_default();
    let before = Some(history.clone());
    let given =
        |key: &str| options.recorder.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
    let is_tree = given(keys::RECORD).is_none_or(|word| word == "tree");
    let tree =
        [given(keys::TIMING).unwrap_or("samples"), given(keys::CPU).unwrap_or("false")].map(str::to_owned);
    if let (true, Some(first)) = (is_tree, &history.tree)
        && *first != tree
    {
        return Err(format!(
            "the first recording of this program had timing={} and cpu={}, which the recorder keeps: give the same, or another way to record than tree",
            first[0], first[1]
        ));
    }
    let clock = options.clock.map(|clock| format!("{clock:?}"));
    if history.begun > 0 && clock.is_some() && clock != history.clock {
        return Err("clock: the recorder keeps the clock of the first recording of this program; leave the option out".to_owned());
    }
    if history.begun == 0 {
        history.clock = clock;
    }
    if is_tree {
        history.tree = Some(tree);
    }
    history.begun += 1;
    Ok(Admission { before })
}

/// Whether the recording that goes on is not the first one.
pub(crate) fn is_later() -> bool {
    HISTORY.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|history| history.begun > 1)
}

// ---- the end ----

/// What became of the classes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Removed {
    /// Those that have the bytes again that they were loaded with.
    pub(crate) classes: usize,
    /// Those that the virtual machine refused to change back.
    pub(crate) refused: usize,
    pub(crate) time: Duration,
}

/// Ends the recording that goes on; the program runs on as it is. None: there is none.
pub(crate) fn stop(jvmti: Jvmti<'_>, jni: Jni<'_>, current: &Current) -> Option<Removed> {
    let agent = current.take()?;
    attendance::end(jni);
    if let Some(subgraph) = agent.hook.subgraph() {
        subgraph.end();
    }
    let _ = jvmti.disable(Event::ClassPrepare);
    InHook::wait_for_none(TO_LEAVE);
    let start = Instant::now();
    let mut removed = Removed::default();
    let names = agent.hook.take_rewritten();
    let mut done = HashMap::new();
    // Who was inside the hook a moment ago may not have defined the class yet.
    for _ in 0..2 {
        restore(jvmti, jni, &names, &mut done, &mut removed);
    }
    removed.time = start.elapsed();
    let _ = jvmti.disable(Event::ClassFileLoadHook);
    if agent.threads.is_some() {
        crate::events::monitors::stop(jni);
    }
    if let Some(live) = LIVE.get() {
        finish(agent, live, jni, false);
    }
    heap::stop(jni);
    if let Some(live) = LIVE.get() {
        live.recorder.stop(jni);
    }
    agent.hook.close();
    Some(removed)
}

/// Retransforms the loaded classes of these names. `done`: how many of each name there were the last time.
fn restore(
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
    names: &HashSet<Vec<u8>>,
    done: &mut HashMap<Vec<u8>, usize>,
    removed: &mut Removed,
) {
    let classes = match jvmti.loaded_classes(jni) {
        Ok(classes) => classes,
        Err(error) => return say(format_args!("classes stay as they were rewritten: {error}")),
    };
    let mut found: HashMap<Vec<u8>, Vec<Global>> = HashMap::new();
    for class in classes {
        if let Some(name) = name(jvmti, &class)
            && names.contains(&name)
            && jvmti.is_modifiable(&class)
        {
            found.entry(name).or_default().extend(jni.global(&class));
        }
        jni.forget(class);
    }
    let mut wanted = Vec::new();
    for (name, classes) in found {
        if done.insert(name, classes.len()).is_none_or(|before| before < classes.len()) {
            wanted.extend(classes);
        } else {
            classes.into_iter().for_each(|class| jni.forget_global(class));
        }
    }
    if wanted.is_empty() {
        return;
    }
    let mut stood = Standstill::default();
    send(jvmti, &wanted, &mut stood);
    removed.classes += wanted.len() - stood.refused;
    removed.refused += stood.refused;
    for class in wanted {
        jni.forget_global(class);
    }
}

/// The name of a class as the class file has it.
fn name(jvmti: Jvmti<'_>, class: &Object<'_>) -> Option<Vec<u8>> {
    let signature = jvmti.raw_signature(class)?;
    Some(signature.strip_prefix(b"L")?.strip_suffix(b";")?.to_vec())
}

/// The recording ends, with the virtual machine (`at_death`) or before it: writes what is left.
pub(crate) fn finish(agent: &Agent, live: &Live, jni: Jni<'_>, at_death: bool) {
    heap::end();
    if let Some(numbers) = heap::Numbers::of_objects() {
        match heap_dump::search_holders(numbers.jvmti, jni, heap::holders_limit()) {
            Ok(Some(holders)) => live.recorder.holders(jni, &holders),
            Ok(None) => {}
            Err(reason) => say(format_args!("who holds leak suspects is not known: {reason}")),
        }
    }
    agent.hook.account_for_probes();
    #[cfg(target_os = "linux")]
    crate::sampling::stacks::end(jni, at_death);
    let mut properties = match agent.samples_stacks() {
        // No class is rewritten, and none is missed.
        true => String::new(),
        false => agent.hook.cost() + &unrewritten::properties() + &heap::properties(),
    };
    if let Some(subgraph) = agent.hook.subgraph() {
        subgraph.end();
        waves::learn_entered(agent, live, subgraph, jni);
        properties += &subgraph.properties();
    }
    live.recorder.finish(jni, &agent.hook.missed(), &properties);
    // After the recorder: what is collected for it is not the program's doing.
    if let Some(dump) = &agent.heap_dump {
        dump.write(jni, &agent.hook);
    }
}
