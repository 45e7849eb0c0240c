//! The agent: a thin JVMTI library that rewrites classes as they load.
//!
//! ```text
//! java -agentpath:libinstrument_agent.so=out=/tmp/,include=com.acme.** -jar app.jar
//! ```
//!
//! 1. [`Agent_OnLoad`] reads the [options], puts the Java runtime on the boot path (class data sharing stays on), and waits.
//! 2. When the virtual machine is initialised, the load hook is turned on, and classes of the JDK that are loaded already are sent
//!    through it again, if the user asked for them.
//! 3. Every class that the rules and the filter let through is numbered and rewritten as the static door does it: same
//!    class, same options, same ids, same bytes. The part of the id map that is new goes to the recorder before the class can run.
//!
//! With `early=on` classes are rewritten from the first one on: [`early`].
//!
//! Whatever is wrong is said on standard error, and the program runs on, as if there were no agent. The recorder is the Java one; what
//! else the virtual machine tells has modules beside [`load_hook`]: threads and their waits are [`monitors`]; requests of users to the
//! running program are `ctl`.

#![cfg(unix)]
#![deny(unsafe_op_in_unsafe_fn)]

mod boot_probes;
mod children;
mod class_loaders;
mod class_rules;
mod clock;
#[cfg(target_os = "linux")]
mod ctl;
mod early;
mod heap;
mod heap_dump;
mod jvmti;
mod load_hook;
mod method_ids;
mod monitors;
mod options;
mod recorder;
mod report;
mod runtime_jar;
mod sessions;
mod talk;
mod unrewritten;

use class_loaders::{ClassLoaders, Unreachable};
use class_rules::Origin;
use clock::Pair;
use early::{Early, Rewritten};
use heap_dump::AtEnd;
use instrument_control::selection;
use instrument_control::word::{Clock, Owners};
use instrument_names::program;
use instrument_rewriter::transform::hooks::Reach;
use jvmti::{Callbacks, Capability, Event, Jni, Jvmti, Object};
use load_hook::LoadHook;
use options::{Options, Requests};
use recorder::Recorder;
use serde_json::Value;
use sessions::{Current, InHook, LIVE};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;
use talk::{contained, say, say_once};

/// What lasts from the start on.
struct Agent {
    hook: LoadHook,
    /// Classes are rewritten before the virtual machine is initialised.
    early: Option<Early>,
    /// Threads and their waits are recorded.
    threads: Option<Owners>,
    /// Requests to the program are answered.
    ctl: Requests,
    /// What the user has told the agent.
    told: String,
    /// What the recorder is told: lines of KEY=VALUE.
    settings: String,
    /// What the recorder's own clock begins with; none: it takes the virtual machine's.
    clock: Option<Pair>,
    /// A dump of the heap that is to be written at the end.
    heap_dump: Option<AtEnd>,
    /// Set when the virtual machine is initialised.
    live: OnceLock<&'static Live>,
}

/// What can be had only of a virtual machine that is initialised.
struct Live {
    recorder: Recorder,
    loaders: ClassLoaders,
}

static AGENT: Current = Current::none();

static CALLBACKS: Callbacks = Callbacks {
    vm_init: Some(vm_init),
    vm_start: Some(vm_start),
    vm_death: Some(vm_death),
    class_file_load_hook: Some(class_file_load_hook),
    class_prepare: Some(class_prepare),
    garbage_collection_start: Some(heap::garbage_collection_start),
    garbage_collection_finish: Some(heap::garbage_collection_finish),
    object_free: Some(heap::object_free),
    vm_object_alloc: Some(heap::vm_object_alloc),
    sampled_object_alloc: Some(heap::sampled_object_alloc),
    ..Callbacks::NONE
};

thread_local! {
    /// Set while this thread is inside the hook: what it loads there is none of the program's business.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside the load hook.
fn is_loading() -> bool {
    INSIDE.get()
}

/// The virtual machine starts with the agent (`-agentpath`).
///
/// # Safety
/// Called by the virtual machine, as the JVMTI specification says.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut c_void, options: *const c_char, _: *mut c_void) -> c_int {
    contained("the start of the agent", || {
        // SAFETY: these are what the virtual machine passed in.
        let options = unsafe { text(options) };
        // SAFETY: the virtual machine has one thread so far.
        unsafe { children::prepare() };
        if options == "help" {
            // As the agents of the JDK do: there is no program to run.
            let _ = std::io::Write::write_all(
                &mut std::io::stdout(),
                instrument_control::keys::help().as_bytes(),
            );
            std::process::exit(0);
        }
        if let Err(reason) = sessions::environment(vm).and_then(|jvmti| start(jvmti, &options, false)) {
            say(format_args!("{reason}; the program runs as it is"));
        }
    });
    0
}

/// The agent is loaded into a virtual machine that runs.
///
/// # Safety
/// Called by the virtual machine, as the JVMTI specification says.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut c_void,
    options: *const c_char,
    _: *mut c_void,
) -> c_int {
    contained("the start of the agent", || {
        // SAFETY: these are what the virtual machine passed in; the thread is attached for as long as this call lasts.
        let (jni, text) = unsafe { (Jni::of(vm), text(options)) };
        let attach = |options: &str| {
            let (jvmti, jni) = (sessions::environment(vm)?, jni.ok_or("no JNI")?);
            start(jvmti, options, true)?;
            let agent = AGENT.get().ok_or("the recording is switched off: record=off")?;
            let profile = go_live(agent, jvmti, jni, true).map(|()| profile(agent, jni));
            if profile.is_err() {
                sessions::stop(jvmti, jni, &AGENT);
            }
            let profile = profile?.ok_or("it did not begin")?;
            Ok(serde_json::json!({ "profile": profile, "unmatched": agent.hook.unfitted() }))
        };
        match instrument_control::attach::file_of(&text) {
            Some(file) => handed_over(file, attach),
            None => match attach(&text) {
                Ok(_) => 0,
                Err(reason) => {
                    say(format_args!("{reason}; the program runs on as it is"));
                    0
                }
            },
        }
    })
    .unwrap_or(REFUSED)
}

/// Where the profile is; none: there is none.
fn profile(agent: &Agent, jni: Jni<'_>) -> Option<String> {
    agent.live.get()?.recorder.profile(jni)
}

/// What `Agent_OnAttach` returns after a reason has been given: JNI_ERR.
const REFUSED: c_int = -1;

/// Attaches with the options that a file has, and writes into it what came of that.
fn handed_over(file: &Path, attach: impl FnOnce(&str) -> Result<Value, String>) -> c_int {
    let done =
        std::fs::read_to_string(file).map_err(|error| error.to_string()).and_then(|text| attach(&text));
    let code = if done.is_ok() { 0 } else { REFUSED };
    let answer = instrument_control::ctl::answer_line(done);
    if let Err(error) = std::fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file)
        .and_then(|mut file| std::io::Write::write_all(&mut file, answer.as_bytes()))
    {
        say(format_args!("{}: {error}", file.display()));
    }
    code
}

/// The library is about to go; nothing of it has to be given back.
///
/// # Safety
/// Called by the virtual machine, as the JVMTI specification says.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnUnload(_: *mut c_void) {}

/// # Safety
/// `options` is a C string or null.
unsafe fn text(options: *const c_char) -> String {
    if options.is_null() {
        return String::new();
    }
    // SAFETY: see above.
    unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned()
}

/// Everything that can be done, and refused, before the virtual machine is initialised.
fn start(jvmti: Jvmti<'static>, options: &str, attached: bool) -> Result<(), String> {
    if AGENT.get().is_some() {
        return Err("the agent is loaded already, and records".to_owned());
    }
    let told = options.to_owned();
    let mut options = Options::parse(options)?;
    let given = |key: &str| options.recorder.iter().find(|(name, _)| *name == key).map(|(_, v)| v.clone());
    let property = |key: &str| jvmti.system_property(&format!("instrument.{key}"));
    let effective = |key: &str| property(key).or_else(|| given(key));
    if effective("record").as_deref() == Some("off") {
        return Ok(());
    }
    if let Some(roots) = property("roots").or_else(|| std::env::var("INSTRUMENT_ROOTS").ok()) {
        options.roots = options::parse_roots(&roots)?;
    }
    let mut settings = String::new();
    if !options.roots.is_empty() {
        settings += &format!("roots={}\n", options.roots.join(","));
    }
    settings += &format!("selection={}\n", selection::below(options.selection.clone(), &options.roots));
    for region in &options.regions {
        settings += &format!("region.{}={}\n", region.number, region.name);
    }
    for (key, value) in &options.recorder {
        settings += &format!("{key}={}\n", value.replace('\n', " "));
    }
    let coverage = heap::Coverage::of(&options, attached);
    settings += &coverage.as_ref().map(heap::Coverage::settings).unwrap_or_default();
    let command = || jvmti.system_property("sun.java.command");
    let environment = || std::env::var("INSTRUMENT_NAME").ok().filter(|name| !name.trim().is_empty());
    if let Some(name) = effective("name").or_else(environment) {
        settings += &format!("called={}\n", name.replace('\n', " "));
    } else if let Some(name) = command().as_deref().and_then(program_name) {
        // What the file is called; the process has no name.
        settings += &format!("name={name}\n");
    }
    sessions::admit(&options)?;
    let is_later = sessions::is_later();
    let clock = if is_later { None } else { clock(options.clock) };
    let (threads, ctl) = (options.threads, options.ctl.clone());
    let mut capabilities = Vec::new();
    if let Some(heap) = options.heap.take() {
        capabilities = heap::capabilities(&heap);
        heap::claim(jvmti, heap);
    }
    let wants_early = options.early;
    let heap_dump = options.heap_dump.take().map(AtEnd::new);
    let hook = LoadHook::new(options)?;
    if let Some(coverage) = coverage {
        hook.account_line(&coverage.line());
    }
    unrewritten::renew();
    let early = if is_later { None } else { bring_runtime(jvmti, attached, wants_early)? };
    let early_events = early.is_some();
    if capabilities.is_empty() {
        capabilities.push(Capability::RetransformClasses);
    }
    let agent = Agent { hook, early, threads, ctl, told, settings, clock, heap_dump, live: OnceLock::new() };
    if !AGENT.set(agent) {
        return Err("the agent is loaded already, and records".to_owned());
    }
    #[cfg(target_os = "linux")]
    if AGENT.get().is_some_and(|agent| agent.ctl != Requests::Off) {
        ctl::prepare(jvmti);
    }
    let hook_up = || {
        jvmti.add_capabilities(&capabilities)?;
        heap::prepare(!wants_early && !attached)?;
        jvmti.set_callbacks(&CALLBACKS)?;
        if early_events {
            jvmti.enable(Event::VmStart)?;
            jvmti.enable(Event::ClassFileLoadHook)?;
        }
        jvmti.enable(Event::VmInit)?;
        jvmti.enable(Event::VmDeath)
    };
    hook_up().map_err(|error| error.to_string())
}

/// Puts the recorder's classes where every loader finds them.
fn bring_runtime(jvmti: Jvmti<'_>, attached: bool, wants_early: bool) -> Result<Option<Early>, String> {
    static BROUGHT: AtomicBool = AtomicBool::new(false);
    if BROUGHT.load(Relaxed) {
        return Ok(None);
    }
    let jar = runtime_jar::create().map_err(|error| format!("the runtime: {error}"))?;
    let early = if wants_early { early::claim(jvmti, attached, &jar) } else { None };
    if early.is_none() {
        jvmti.add_to_boot_path(&jar).map_err(|error| format!("the runtime: {error}"))?;
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
    let word = program::word(command)?;
    let name = match word.strip_suffix(".jar").or_else(|| word.strip_suffix(".java")) {
        Some(path) => Path::new(path).file_name()?.to_str()?,
        None => word.rsplit(['.', '/']).next()?,
    };
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    (!plain.is_empty()).then_some(plain)
}

/// The virtual machine is initialised, or was when we came: turns the hook on.
///
/// # Errors
/// Why nothing is recorded.
fn go_live(agent: &Agent, jvmti: Jvmti<'_>, jni: Jni<'_>, attached: bool) -> Result<(), String> {
    if let Some(dump) = &agent.heap_dump {
        dump.begin();
    }
    let kept = agent.early.as_ref().and_then(|early| early.stop_keeping(jni));
    let live = || {
        if let Some(early) = &agent.early {
            early.append_runtime(jvmti).then_some(())?;
        }
        heap::register(jni).then_some(())?;
        let at_once = attached || agent.hook.wants_jdk() || agent.threads.is_some() || heap::is_on();
        export_memory(jvmti, jni);
        let live = match LIVE.get() {
            Some(live) => live,
            None => {
                let recorder = Recorder::find(jni, agent.clock)?;
                let loaders = ClassLoaders::new(jvmti, jni, agent.early.is_some())?;
                LIVE.get_or_init(|| Live { recorder, loaders })
            }
        };
        live.recorder.begin(jni, &agent.settings, at_once).then_some(live)
    };
    let Some(live) = live() else {
        if agent.early.is_some() {
            // Nobody would be told of what is rewritten from here on.
            let _ = jvmti.disable(Event::ClassFileLoadHook);
        }
        return Err("the runtime cannot be called".to_owned());
    };
    if attached && live.recorder.profile(jni).is_none() {
        return Err("the profile cannot be created; the program's standard error says why".to_owned());
    }
    if agent.live.set(live).is_err() {
        return Ok(());
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
    #[cfg(target_os = "linux")]
    ctl::start(jvmti, jni, &agent.ctl);
    if let (Some(early), Some(live)) = (&agent.early, agent.live.get())
        && !early.go_live(jni, &live.recorder)
    {
        say(format_args!("classes that were rewritten at start-up are not recorded: the runtime failed"));
    }
    // Hidden classes are named in the report; without this event they are not.
    let _ = jvmti.enable(Event::ClassPrepare);
    retransform(agent, jvmti, jni, attached);
    if agent.hook.wants_machine_work() {
        let refused =
            load_hook::MACHINE_CLASSES.iter().filter(|class| !send_again(jvmti, jni, class)).count();
        if refused > 0 {
            say(format_args!(
                "class loading is part of the methods that wait for it: the JDK's code cannot be rewritten"
            ));
        }
    }
    if heap::is_on() && !heap::wants_object_rewritten() {
        heap::begin(jni, None);
    } else if heap::is_on() {
        let early = agent.early.as_ref().is_some_and(|early| early.has_rewritten(heap::OBJECT));
        let rewritten = early || send_again(jvmti, jni, "java/lang/Object");
        match rewritten {
            true => heap::begin(jni, kept.as_ref()),
            false => say(format_args!("java.lang.Object cannot be rewritten: objects are not recorded")),
        }
    }
    if let Some(kept) = kept {
        jni.forget_global(kept);
    }
    Ok(())
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

/// Sends a class of the boot loader through the hook once more.
fn send_again(jvmti: Jvmti<'_>, jni: Jni<'_>, class: &str) -> bool {
    jni.find_class(class).and_then(|class| jni.promote(class)).is_some_and(|class| {
        let done = jvmti.retransform(std::slice::from_ref(&class)).is_ok();
        jni.forget_global(class);
        done
    })
}

/// Sends the classes through the hook that were loaded before it was there: what other agents and the system class loader have brought before
/// the virtual machine was initialised, or an attached program has; of the JDK what the user asked for. One that the virtual machine
/// refuses keeps no other back.
fn retransform(agent: &Agent, jvmti: Jvmti<'_>, jni: Jni<'_>, attached: bool) {
    let Some(live) = agent.live.get() else { return };
    let classes = match jvmti.loaded_classes(jni) {
        Ok(classes) => classes,
        Err(error) => return say(format_args!("classes that are loaded stay as they are: {error}")),
    };
    let name = |class: &Object<'_>| {
        let signature = jvmti.signature(class)?;
        // Hidden classes have a dot in theirs.
        signature.strip_prefix('L')?.strip_suffix(';').filter(|name| !name.contains('.')).map(str::to_owned)
    };
    // Of an agent of java.lang.instrument that was called before this one, every class that is not the JDK's is its own.
    let is_agent = |class| name(class).is_some_and(|name| name == "sun/instrument/InstrumentationImpl");
    let by_agent = !attached && classes.iter().any(is_agent);
    let mut wanted = Vec::new();
    for class in classes {
        if let (Some(name), Ok(loader)) = (name(&class), jvmti.loader(&class, jni)) {
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
    if !wanted.is_empty() && jvmti.retransform(&wanted).is_err() {
        let refused = wanted.chunks(1).filter(|class| jvmti.retransform(class).is_err()).count();
        say(format_args!("{refused} of {} classes that were loaded stay as they are", wanted.len()));
    }
    for class in wanted {
        jni.forget_global(class);
    }
}

impl Live {
    fn origin<'a>(&self, jni: Jni<'a>, loader: &Object<'a>, class: &[u8]) -> Origin {
        Origin::of(self.loaders.is_of_the_jdk(jni, loader), class)
    }

    /// How a class will reach the runtime, if it can. While its loader is asked, this thread is not inside the hook: what the loader does
    /// is the program's business.
    fn reach(&self, agent: &Agent, jni: Jni<'_>, loader: &Object<'_>, name: &[u8]) -> Option<Reach> {
        if !agent.hook.may_change(name) {
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

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn vm_init(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    _: *mut c_void,
) {
    contained("the start of the virtual machine", || {
        // SAFETY: the environments are valid during this call.
        let (jvmti, jni) = unsafe { (Jvmti::new(jvmti), Jni::new(jni)) };
        if let Some(agent) = AGENT.get()
            && let Err(reason) = go_live(agent, jvmti, jni, false)
        {
            say(format_args!("{reason}; the program runs as it is"));
        }
    });
}

/// The virtual machine runs its first code now (with `early=on` only).
///
/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn vm_start(_: *mut *const *const c_void, jni: *mut *const *const c_void) {
    contained("the first code of the virtual machine", || {
        // SAFETY: the environment is valid during this call.
        let jni = unsafe { Jni::new(jni) };
        if let Some(early) = AGENT.get().and_then(|agent| agent.early.as_ref()) {
            early.define(jni);
        }
    });
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn vm_death(_: *mut *const *const c_void, jni: *mut *const *const c_void) {
    contained("the end of the virtual machine", || {
        #[cfg(target_os = "linux")]
        ctl::stop();
        // SAFETY: the environment is valid during this call.
        let jni = unsafe { Jni::new(jni) };
        if let Some(agent) = AGENT.get()
            && let Some(live) = agent.live.get()
        {
            finish(agent, live, jni);
            children::ended(&agent.hook.unmatched());
        }
        runtime_jar::remove();
    });
}

/// The recording ends, with the virtual machine or before it: writes what is left.
fn finish(agent: &Agent, live: &Live, jni: Jni<'_>) {
    heap::end();
    if let Some(jvmti) = heap::numbers_in() {
        match heap_dump::search_holders(jvmti, jni, heap::holders_limit()) {
            Ok(Some(holders)) => live.recorder.holders(jni, &holders),
            Ok(None) => {}
            Err(reason) => say(format_args!("who holds leak suspects is not known: {reason}")),
        }
    }
    let properties = agent.hook.cost() + &unrewritten::properties() + &heap::properties();
    live.recorder.finish(jni, &agent.hook.missed(), &properties);
    // After the recorder: what is collected for it is not the program's doing.
    if let Some(dump) = &agent.heap_dump {
        dump.write(jni, &agent.hook);
    }
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn class_prepare(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    _: *mut c_void,
    class: *mut c_void,
) {
    contained("a class that is prepared", || {
        // SAFETY:
        // - The environments are valid during this call.
        // - `class` is a local reference of this call.
        let (jvmti, jni, class) = unsafe { (Jvmti::new(jvmti), Jni::new(jni), Object::new(class)) };
        unrewritten::prepared(jvmti, jni, &class);
    });
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn class_file_load_hook(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    _redefined: *mut c_void,
    loader: *mut c_void,
    name: *const c_char,
    _domain: *mut c_void,
    length: c_int,
    data: *const u8,
    new_length: *mut c_int,
    new_data: *mut *mut u8,
) {
    let _inside = InHook::enter();
    let Some(agent) = AGENT.get() else { return };
    let is_early = agent.live.get().is_none();
    if is_early && agent.early.is_none() {
        return;
    }
    // Before it runs code the virtual machine has no JNI.
    if data.is_null() || length <= 0 || (jni.is_null() && !is_early) || INSIDE.replace(true) {
        return;
    }
    // SAFETY:
    // - `data` points to `length` bytes, which nobody changes during this call.
    // - `jvmti` and `jni` are the environments of this call and this thread; JNI is used only once the virtual machine has it.
    // - `loader` is a local reference of this call, or null.
    let (jvmti, env, loader, class) = unsafe {
        let class = std::slice::from_raw_parts(data, length as usize);
        (Jvmti::new(jvmti), Jni::new(jni), Object::new(loader), class)
    };
    let name = if name.is_null() {
        // Whoever defines the class did not say: it is in the class itself.
        contained("a class", || load_hook::name_of(class)).flatten().unwrap_or_default()
    } else {
        // SAFETY: a C string.
        unsafe { CStr::from_ptr(name) }.to_bytes()
    };
    let rewrite = || {
        if let (true, Some(early)) = (is_early, &agent.early) {
            match early.rewrite(&agent.hook, jvmti, env, &loader, name, class) {
                Rewritten::Live => {}
                Rewritten::Left => return None,
                Rewritten::Early(out) => {
                    return Some((jvmti.allocate(&out).ok()?, c_int::try_from(out.len()).ok()?));
                }
            }
        }
        let live = agent.live.get()?;
        let origin = live.origin(env, &loader, name);
        if !agent.hook.wants(origin, name) {
            return None;
        }
        let start = Instant::now();
        let reach = live.reach(agent, env, &loader, name)?;
        let out = agent.hook.rewrite(origin, name, class, reach, |news| live.recorder.tell(env, news));
        agent.hook.spent(start.elapsed());
        let out = out?;
        Some((jvmti.allocate(&out).ok()?, c_int::try_from(out.len()).ok()?))
    };
    let contained = || contained(&String::from_utf8_lossy(name), rewrite);
    let rewritten = if jni.is_null() { contained() } else { env.setting_thrown_aside(contained) };
    if let Some((bytes, length)) = rewritten.flatten() {
        agent.hook.note(name);
        // SAFETY:
        // - Both point to places that the virtual machine lets be written to during this call.
        // - `bytes` came from Allocate, so that the virtual machine can free it.
        unsafe {
            *new_data = bytes;
            *new_length = length;
        }
    }
    INSIDE.set(false);
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
