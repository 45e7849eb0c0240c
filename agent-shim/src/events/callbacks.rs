//! What the virtual machine calls (JVMTI, Event Index). Nothing of it may unwind into the virtual machine.

use crate::classes::early::Rewritten;
use crate::classes::hidden;
use crate::classes::in_hook::InHook;
use crate::classes::load_event::Loading;
use crate::classes::own_probes::Loaded;
use crate::classes::retransform;
use crate::classes::runtime_classes;
#[cfg(target_os = "linux")]
use crate::ctl;
use crate::jvmti::{Callbacks, Jni, Jvmti, Object};
use crate::recording::agent::AGENT;
use crate::recording::armed;
use crate::recording::attendance;
use crate::recording::beginning::Beginning;
use crate::recording::children;
use crate::recording::live::go_live;
use crate::recording::sessions::finish;
#[cfg(target_os = "linux")]
use crate::sampling;
use crate::talk::{contained, say};
use std::ffi::{c_char, c_int, c_void};
use std::time::Instant;

pub(crate) static CALLBACKS: Callbacks = Callbacks {
    vm_init: Some(vm_init),
    vm_start: Some(vm_start),
    vm_death: Some(vm_death),
    class_file_load_hook: Some(class_file_load_hook),
    class_prepare: Some(class_prepare),
    ..Callbacks::NONE
};

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
        if let Some(agent) = AGENT.get() {
            if let Err(reason) = go_live(agent, jvmti, jni, Beginning::Start, None).map(drop) {
                say(format_args!("{reason}; the program runs as it is"));
            }
            return;
        }
        #[cfg(target_os = "linux")]
        if let Some(armed) = armed::get() {
            ctl::start_for_good(jvmti, jni, &armed.ctl);
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
            finish(agent, live, jni, true);
            children::ended(&agent.hook.unmatched());
        } else if armed::get().is_some() {
            children::ended(&[]);
        }
        #[cfg(target_os = "linux")]
        sampling::finish();
        runtime_classes::remove();
    });
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
        jni.setting_thrown_aside(|| {
            hidden::prepared(jvmti, jni, &class);
            attendance::prepared(jvmti, jni, &class);
        });
    });
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn class_file_load_hook(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    redefined: *mut c_void,
    loader: *mut c_void,
    name: *const c_char,
    domain: *mut c_void,
    length: c_int,
    data: *const u8,
    new_length: *mut c_int,
    new_data: *mut *mut u8,
) {
    let _inside = InHook::enter();
    let Some(agent) = AGENT.get() else { return };
    let is_early = agent.live.get().is_none();
    // Before it runs code the virtual machine has no JNI.
    if is_early && agent.early.is_none() || jni.is_null() && !is_early {
        return;
    }
    let rewrite = |jvmti: Jvmti<'_>, env: Jni<'_>, loader: &Object<'_>, name: &[u8], class: &[u8]| {
        if let (true, Some(early)) = (is_early, &agent.early) {
            match early.rewrite(&agent.hook, jvmti, env, loader, name, class) {
                Rewritten::Live => {}
                Rewritten::Left => return None,
                Rewritten::Early(out) => {
                    agent.hook.note(name);
                    return Some(out);
                }
            }
        }
        let live = agent.live.get()?;
        let origin = live.origin(env, loader, name);
        if let Some(probes) = agent.hook.probes() {
            probes.see(origin, name, class);
        }
        if !agent.hook.wants(origin, name) {
            return None;
        }
        // SAFETY: a local reference of this call, or null.
        let domain = unsafe { Object::new(domain) };
        if live.leaves_to_agent(agent, env, &domain, origin, name) {
            return None;
        }
        let is_loaded = !redefined.is_null();
        if is_loaded && agent.hook.is_bare() {
            // It gets new bytes when the pause is over.
            agent.hook.note(name);
            return None;
        }
        let start = Instant::now();
        let reach = live.reach(agent, env, loader, name, class)?;
        if let Some(probes) = agent.hook.probes() {
            live.prepare_probes(probes, jvmti, env, loader, Loaded { name, class, origin, is_loaded });
        }
        let tell = |news| live.recorder.tell(env, news);
        let out = agent.hook.rewrite(origin, name, class, reach, is_loaded, tell);
        agent.hook.spent(start.elapsed());
        let out = out?;
        agent.hook.note(name);
        Some(out)
    };
    let loading = Loading { jvmti, jni, loader, name, length, data, new_length, new_data };
    // SAFETY: these are what the virtual machine passed in.
    let is_changed = unsafe { loading.offer(rewrite) };
    if !redefined.is_null() {
        retransform::seen(is_changed);
    }
}
