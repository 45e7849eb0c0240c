//! The virtual machine is initialised: recording begins.

use crate::classes::in_hook::INSIDE;
use crate::classes::load_hook;
use crate::classes::loaders::{ClassLoaders, Unreachable};
use crate::classes::native_methods;
use crate::classes::other_agents::OtherAgents;
use crate::classes::retransform::{retransform, send_again};
use crate::classes::rules::Origin;
use crate::classes::subgraph::waves;
use crate::classes::unrewritten;
#[cfg(target_os = "linux")]
use crate::ctl;
use crate::events::environments;
use crate::events::monitors;
use crate::heap;
use crate::jvmti::{Event, Global, Jni, Jvmti, Object};
use crate::recording::agent::Agent;
use crate::recording::agent::Live;
use crate::recording::attended;
use crate::recording::beginning::Beginning;
use crate::recording::mappings;
use crate::recording::place_on_stack;
use crate::recording::recorder::{Recorder, has_stack};
use crate::recording::running::Open;
use crate::recording::sessions::{self, LIVE};
#[cfg(target_os = "linux")]
use crate::sampling;
use crate::talk::{say, say_once};
use instrument_control::answer::Standstill;
use instrument_rewriter::reason::Reason;
use instrument_rewriter::transform::hooks::Reach;
use std::fs::File;

/// The virtual machine is initialised, or was when we came: turns the hook on. How long the program stood still for that. `asked`: the file that
/// whoever asked for the recording keeps locked.
///
/// # Errors
/// Why nothing is recorded.
pub(crate) fn go_live(
    agent: &'static Agent,
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
    beginning: Beginning,
    asked: Option<&File>,
) -> Result<Standstill, String> {
    let attached = beginning.is_late();
    if let Some(dump) = &agent.heap_dump {
        dump.begin();
    }
    let kept = agent.early.as_ref().and_then(|early| early.stop_keeping(jni));
    let live = begin_recorder(agent, jvmti, jni, beginning)?;
    if agent.live.set(live).is_err() {
        return Ok(Standstill::default());
    }
    let attend = || {
        #[cfg(target_os = "linux")]
        ctl::start(jvmti, jni, &agent.ctl);
        if attached {
            attended::begin(agent, jvmti, jni, asked.and_then(|file| file.try_clone().ok()));
        }
    };
    #[cfg(target_os = "linux")]
    if let Some(wanted) = &agent.stacks {
        attend();
        let has_replaced = sessions::is_later();
        sampling::stacks::begin(wanted, &live.recorder, environments::another, has_replaced, jni)?;
        return Ok(Standstill::default());
    }
    see_classes(agent, jvmti, jni)?;
    attend();
    if let Some(early) = &agent.early
        && !early.go_live(jni, &live.recorder)
    {
        say(format_args!("classes that were rewritten at start-up are not recorded: the runtime failed"));
    }
    if let Some(probes) = agent.hook.probes() {
        live.see_jdk_classes(probes, jvmti, jni);
    }
    // Hidden classes are named in the report; without this event they are not.
    let _ = jvmti.enable(Event::ClassPrepare);
    let stood = rewrite_loaded(agent, live, jvmti, jni, attached)?;
    record_objects(agent, jvmti, jni, kept.as_ref());
    if let Some(kept) = kept {
        jni.forget_global(kept);
    }
    Ok(stood)
}

/// Has the Java recorder begin, which is found once in the life of a process.
fn begin_recorder(
    agent: &'static Agent,
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
    beginning: Beginning,
) -> Result<&'static Live, String> {
    let attached = beginning.is_late();
    let begun = || {
        if let Some(early) = &agent.early {
            early.append_runtime(jvmti).then_some(())?;
        }
        (heap::register(jni) && mappings::register(jni)).then_some(())?;
        let at_once = attached
            || agent.hook.wants_jdk()
            || agent.samples_stacks()
            || agent.hook.subgraph().is_some()
            || agent.threads.is_some()
            || heap::is_on();
        export_memory(jvmti, jni);
        let live = match LIVE.get() {
            Some(live) => live,
            None => {
                #[cfg(target_os = "linux")]
                let samples = sampling::prepare(jni, environments::another);
                #[cfg(not(target_os = "linux"))]
                let samples = None;
                let recorder = Recorder::find(jni, agent.clock, samples)?;
                let loaders = ClassLoaders::new(jvmti, jni, agent.early.is_some())?;
                let other_agents = OtherAgents::new(jvmti, jni);
                LIVE.get_or_init(|| Live { recorder, loaders, other_agents })
            }
        };
        // The thread that answers requests is there already.
        live.recorder.begin(jni, &agent.settings, at_once, beginning == Beginning::Request).then_some(live)
    };
    let Some(live) = begun() else {
        if agent.early.is_some() {
            // Nobody would be told of what is rewritten from here on.
            let _ = jvmti.disable(Event::ClassFileLoadHook);
        }
        return Err("the runtime cannot be called".to_owned());
    };
    if attached && live.recorder.profile(jni).is_none() {
        return Err(format!("the profile cannot be created: {}", live.recorder.refusal(jni)));
    }
    Ok(live)
}

/// From here on classes go through the load hook.
fn see_classes(agent: &Agent, jvmti: Jvmti<'_>, jni: Jni<'_>) -> Result<(), String> {
    if agent.hook.wants_natives() {
        native_methods::begin().map_err(|error| format!("native methods cannot be recorded: {error}"))?;
    }
    (jvmti.enable(Event::ClassFileLoadHook))
        .map_err(|error| format!("classes cannot be seen as they load: {error}"))?;
    if let Some(owners) = agent.threads {
        monitors::start(jni, owners);
        if !send_again(jvmti, jni, "java/util/concurrent/locks/LockSupport") {
            say(format_args!(
                "locks of java.util.concurrent are not recorded: LockSupport cannot be rewritten"
            ));
        }
    }
    Ok(())
}

/// Rewrites what is loaded already, as far as it is wanted. How long the program stood still for that.
fn rewrite_loaded(
    agent: &'static Agent,
    live: &Live,
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
    attached: bool,
) -> Result<Standstill, String> {
    let looks_at_stacks = attached || agent.hook.subgraph().is_some();
    if looks_at_stacks && !agent.hook.roots().is_empty() && !place_on_stack::answer(jni) {
        return Err("the runtime cannot ask for places on stacks".to_owned());
    }
    let mut stood = Standstill::default();
    match agent.hook.subgraph() {
        Some(subgraph) => waves::begin(agent, subgraph, jvmti, jni),
        None => {
            let open = attached.then(|| Open::look(agent, jvmti, jni));
            stood = retransform(agent, jvmti, jni, attached.then_some(agent.limits.max_pause))?;
            if let Some(open) = open {
                open.tell(agent, live, jvmti, jni);
            }
        }
    }
    if agent.hook.wants_machine_work() {
        let refused =
            load_hook::MACHINE_CLASSES.iter().filter(|class| !send_again(jvmti, jni, class)).count();
        if refused > 0 {
            say(format_args!(
                "class loading is part of the methods that wait for it: the JDK's code cannot be rewritten"
            ));
        }
    }
    Ok(stood)
}

/// Begins to record objects, if that is wanted. `kept`: those that early classes have made.
fn record_objects(agent: &Agent, jvmti: Jvmti<'_>, jni: Jni<'_>, kept: Option<&Global>) {
    if heap::is_on() && !heap::wants_object_rewritten() {
        heap::begin(jni, None);
    } else if heap::is_on() {
        let early = agent.early.as_ref().is_some_and(|early| early.has_rewritten(heap::OBJECT));
        let rewritten = early || send_again(jvmti, jni, "java/lang/Object");
        match rewritten {
            true => heap::begin(jni, kept),
            false => say(format_args!("java.lang.Object cannot be rewritten: objects are not recorded")),
        }
    }
}

impl Agent {
    /// Whether stacks are sampled, and nothing is rewritten.
    pub(crate) fn samples_stacks(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.stacks.is_some();
        #[cfg(not(target_os = "linux"))]
        false
    }
}

/// Lets the recorder write to its mapping as the JDK does. Where that fails it goes a slower way.
fn export_memory(jvmti: Jvmti<'_>, jni: Jni<'_>) {
    let (object, runtime) = (jni.find_class("java/lang/Object"), jni.find_class("instrument/runtime/Agent"));
    if let (Some(object), Some(runtime)) = (&object, &runtime) {
        let _ = jvmti.add_exports(jni, object, "jdk.internal.misc", runtime);
    }
    for class in [object, runtime].into_iter().flatten() {
        jni.forget(class);
    }
}

impl Live {
    pub(crate) fn origin<'a>(&self, jni: Jni<'a>, loader: &Object<'a>, class: &[u8]) -> Origin {
        Origin::of(self.loaders.is_of_the_jdk(jni, loader), class)
    }

    /// Whether a class that nobody asked for by its name is one of another agent, which is counted then.
    pub(crate) fn leaves_to_agent(
        &self,
        agent: &Agent,
        jni: Jni<'_>,
        domain: &Object<'_>,
        origin: Origin,
        name: &[u8],
    ) -> bool {
        let asked = origin == Origin::Jdk || agent.hook.has_includes() || domain.is_null() || !has_stack();
        let is_left = !asked && self.other_agents.as_ref().is_some_and(|others| others.have(jni, domain));
        if is_left {
            unrewritten::of_an_agent(agent.hook.left_unreachable(name, Reason::OfAgent));
        }
        is_left
    }

    /// How a class will reach the runtime, if it can. While its loader is asked, this thread is not inside the hook: what the loader does
    /// is the program's business.
    pub(crate) fn reach(
        &self,
        agent: &Agent,
        jni: Jni<'_>,
        loader: &Object<'_>,
        name: &[u8],
        class: &[u8],
    ) -> Option<Reach> {
        if !agent.hook.may_change(name, || load_hook::pool_of(class)) {
            return Some(Reach::Direct);
        }
        INSIDE.set(false);
        let reach = self.loaders.reach(jni, loader);
        INSIDE.set(true);
        match reach {
            Ok(reach) => Some(reach),
            Err(unreachable) => {
                let name = agent.hook.left_unreachable(name, unreachable.reason());
                if unreachable == Unreachable::News {
                    say_once(format_args!(
                        "{name} is not instrumented: its class loader cannot see the runtime"
                    ));
                }
                None
            }
        }
    }
}
