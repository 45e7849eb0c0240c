//! A recording is about to begin: everything that can be done, and refused, before the virtual machine is initialised. Or the program is
//! armed, for recordings that begin later.

use crate::classes::early::{self, Early};
use crate::classes::load_hook::LoadHook;
use crate::classes::native_methods;
use crate::classes::rules;
use crate::classes::runtime_classes;
use crate::classes::unrewritten;
#[cfg(target_os = "linux")]
use crate::ctl;
use crate::events::environments;
use crate::heap;
use crate::heap_dump::AtEnd;
use crate::jvmti::{Capability, Event, Jni, Jvmti, JvmtiError};
use crate::options::{self, Options, Requests};
use crate::recording::agent::AGENT;
use crate::recording::agent::Agent;
use crate::recording::armed::{self, Armed};
use crate::recording::beginning::Beginning;
use crate::recording::clock::{self, Pair};
use crate::recording::sessions;
#[cfg(target_os = "linux")]
use crate::sampling;
use crate::talk::say;
use instrument_control::latency::Kept;
use instrument_control::word::Clock;
use instrument_control::{RECORDING_JDK, selection};
use instrument_names::program;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Everything that can be done, and refused, before the virtual machine is initialised. Of an option string that says `armed`, [`arm`].
/// `jni`: none before the virtual machine has a thread.
pub(crate) fn start(
    jvmti: Jvmti<'static>,
    jni: Option<Jni<'_>>,
    options: &str,
    beginning: Beginning,
) -> Result<(), String> {
    let attached = beginning.is_late();
    if AGENT.get().is_some() {
        return Err("the agent is loaded already, and records".to_owned());
    }
    if let Some(home) = jvmti.system_property("java.home")
        && Path::new(&home).join(RECORDING_JDK).exists()
    {
        return Err(format!(
            "{home} was made by instrument jdk, and records its programs by itself: use the JDK that it was made from"
        ));
    }
    let told = options.to_owned();
    let mut options = Options::parse(options)?;
    if options.armed && beginning != Beginning::Request {
        return match beginning {
            Beginning::Attach => {
                Err("armed is about the start of a program, and this one runs already".to_owned())
            }
            _ => arm(jvmti, told, &options),
        };
    }
    if options.early && attached {
        return Err("early=on is about the start of a program, and this one runs already".to_owned());
    }
    if effective(jvmti, &options, "record").as_deref() == Some("off") {
        return Ok(());
    }
    let roots = jvmti.system_property("instrument.roots");
    if let Some(roots) = roots.or_else(|| std::env::var("INSTRUMENT_ROOTS").ok()) {
        options.roots = options::parse_roots(&roots)?;
    }
    if options.subgraph && options.roots.is_empty() {
        return Err("subgraph=on needs root=METHOD: it rewrites what the roots can call".to_owned());
    }
    let coverage = heap::Coverage::of(&options, attached);
    let settings = settings(jvmti, &options, coverage.as_ref());
    #[cfg(target_os = "linux")]
    if let Some((_, sampled)) = options.samples {
        sampling::stacks::check(environments::machine(), sampled)?;
    }
    #[cfg(not(target_os = "linux"))]
    if options.samples.is_some() {
        return Err("record=samples needs Linux, which has timers on the CPU time of threads".to_owned());
    }
    let admitted = sessions::admit(&options)?;
    if options.native {
        native_methods::prepare()?;
    }
    rules::set_version(jvmti.feature_version());
    let mut heap = options.heap.take();
    let wants_early = options.early;
    let capabilities: &[Capability] = if options.samples.is_some() {
        &[]
    } else {
        &[Capability::RetransformClasses, Capability::GetConstantPool]
    };
    let agent = agent((jvmti, jni), options, (told, settings), heap.as_ref(), coverage.as_ref())?;
    let early_events = agent.early.is_some();
    if !AGENT.set(agent) {
        return Err("the agent is loaded already, and records".to_owned());
    }
    #[cfg(target_os = "linux")]
    if AGENT.get().is_some_and(|agent| agent.ctl != Requests::Off) {
        ctl::prepare(jvmti);
    }
    let claimed = heap.take().map_or(Ok(()), |heap| heap::claim(heap, !wants_early && !attached));
    let hooked =
        claimed.and_then(|()| hook_up(jvmti, capabilities, early_events).map_err(|error| error.to_string()));
    if let Err(error) = hooked {
        if let Some(jni) = jni {
            sessions::stop(jvmti, jni, &AGENT);
        }
        return Err(error);
    }
    admitted.begins();
    Ok(())
}

/// Turns on the events of the start and the end.
fn hook_up(jvmti: Jvmti<'_>, capabilities: &[Capability], early_events: bool) -> Result<(), JvmtiError> {
    jvmti.add_capabilities(capabilities)?;
    if early_events {
        jvmti.enable(Event::VmStart)?;
        jvmti.enable(Event::ClassFileLoadHook)?;
    }
    jvmti.enable(Event::VmInit)?;
    jvmti.enable(Event::VmDeath)
}

/// What is set by a property of the virtual machine or, if that is not there, by an option.
fn effective(jvmti: Jvmti<'_>, options: &Options, key: &str) -> Option<String> {
    let given = options.recorder.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone());
    jvmti.system_property(&format!("instrument.{key}")).or(given)
}

/// What the recorder is told: lines of KEY=VALUE.
fn settings(jvmti: Jvmti<'_>, options: &Options, coverage: Option<&heap::Coverage>) -> String {
    let mut settings = String::new();
    if !options.roots.is_empty() {
        settings += &format!("roots={}\n", options.roots.join(","));
    }
    if !options.latency.is_empty() {
        let kept: Vec<String> = options.latency.iter().map(Kept::to_string).collect();
        settings += &format!("latency-of={}\n", kept.join(","));
    }
    settings += &format!("selection={}\n", selection::below(options.selection.clone(), &options.roots));
    for region in &options.regions {
        settings += &format!("region.{}={}\n", region.number, region.name);
    }
    for (key, value) in &options.recorder {
        settings += &format!("{key}={value}\n");
    }
    settings += &coverage.map(heap::Coverage::settings).unwrap_or_default();
    let command = || jvmti.system_property("sun.java.command");
    let environment = || std::env::var("INSTRUMENT_NAME").ok().filter(|name| !name.trim().is_empty());
    if let Some(name) = effective(jvmti, options, "name").or_else(environment) {
        settings += &format!("called={}\n", name.replace('\n', " "));
    } else if let Some(name) = command().as_deref().and_then(program_name) {
        // What the file is called; the process has no name.
        settings += &format!("name={name}\n");
    }
    settings
}

/// What the recording has, with the runtime where every loader finds it. `told` and `settings`: what the user and the recorder are told.
fn agent(
    (jvmti, jni): (Jvmti<'static>, Option<Jni<'_>>),
    mut options: Options,
    (told, settings): (String, String),
    heap: Option<&options::Heap>,
    coverage: Option<&heap::Coverage>,
) -> Result<Agent, String> {
    let is_later = sessions::is_later();
    let clock = match (is_later, armed::get().and_then(|armed| armed.clock)) {
        (true, _) => None,
        (false, Some(first)) if options.clock != Some(Clock::Monotonic) => Some(first),
        (false, _) => clock(options.clock),
    };
    let (threads, ctl, limits, wants_early) =
        (options.threads, options.ctl.clone(), options.limits, options.early);
    let heap_dump = options.heap_dump.take().map(AtEnd::new);
    #[cfg(target_os = "linux")]
    let stacks = options.samples.map(|(rate, sampled)| sampling::stacks::Wanted {
        rate,
        sampled,
        filter: options.filter.clone(),
    });
    let hook = LoadHook::new(options, heap)?;
    if let Some(coverage) = coverage {
        hook.account_line(&coverage.line());
    }
    unrewritten::renew();
    let early = if is_later { None } else { bring_runtime(jvmti, jni, wants_early)? };
    Ok(Agent {
        hook,
        early,
        threads,
        ctl,
        limits,
        told,
        settings,
        clock,
        #[cfg(target_os = "linux")]
        stacks,
        heap_dump,
        live: OnceLock::new(),
    })
}

/// Takes what can be had at the start only, and turns no event on but those of the start and the end of the virtual machine.
fn arm(jvmti: Jvmti<'static>, told: String, options: &Options) -> Result<(), String> {
    let refused = |error: JvmtiError| error.to_string();
    bring_runtime(jvmti, None, false)?;
    jvmti.add_capabilities(&[Capability::RetransformClasses]).map_err(refused)?;
    #[cfg(target_os = "linux")]
    ctl::prepare(jvmti);
    armed::set(Armed { options: told, ctl: options.ctl.clone(), clock: clock(options.clock) });
    jvmti.enable(Event::VmInit).map_err(refused)?;
    jvmti.enable(Event::VmDeath).map_err(refused)
}

/// Puts the recorder's classes where every loader finds them.
fn bring_runtime(jvmti: Jvmti<'_>, jni: Option<Jni<'_>>, wants_early: bool) -> Result<Option<Early>, String> {
    static BROUGHT: AtomicBool = AtomicBool::new(false);
    if BROUGHT.load(Relaxed) {
        return Ok(None);
    }
    let mut early = None;
    if let Some(jni) = jni {
        runtime_classes::define(jni)?;
    } else {
        let jar = runtime_classes::jar().map_err(|error| format!("the runtime: {error}"))?;
        early = if wants_early { early::claim(jvmti, &jar) } else { None };
        if early.is_none() {
            jvmti.add_to_boot_path(&jar).map_err(|error| format!("the runtime: {error}"))?;
        }
    }
    BROUGHT.store(true, Relaxed);
    Ok(early)
}

/// The first readings of the clock that the user wants.
fn clock(wanted: Option<Clock>) -> Option<Pair> {
    if wanted == Some(Clock::Monotonic) {
        return None;
    }
    match clock::begin() {
        Ok(pair) => Some(pair),
        Err(reason) => {
            if wanted == Some(Clock::Tsc) {
                say(format_args!("clock=tsc: {reason}; times are those of System.nanoTime()"));
            }
            None
        }
    }
}

/// `app` for `lib/app.jar --verbose`, `Main` for `com.acme.Main` and `m/com.acme.Main`.
fn program_name(command: &str) -> Option<String> {
    let directory = std::env::current_dir().unwrap_or_default();
    let word = program::word(command, directory.to_str().unwrap_or_default())?;
    let name = match word.strip_suffix(".jar").or_else(|| word.strip_suffix(".java")) {
        Some(path) => Path::new(path).file_name()?.to_str()?,
        None => word.rsplit(['.', '/']).next()?,
    };
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    (!plain.is_empty()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::program_name;

    #[test]
    fn a_program_is_called_after_its_jar_or_main_class() {
        for (command, name) in [
            ("lib/app-1.2.jar --verbose x", "app-1.2"),
            ("com.acme.Main a.b", "Main"),
            ("m.odule/com.acme.Main", "Main"),
            ("jdk.compiler/com.sun.tools.javac.launcher.Main src/Shop.java 3", "Shop"),
            ("a$b.Café", "Caf_"),
        ] {
            assert_eq!(program_name(command).as_deref(), Some(name));
        }
        assert_eq!(program_name(""), None);
    }
}
