//! `native=on`: native methods of the program get wrappers of their own name ([`natives`]) when their classes load, and the wrappers are
//! rewritten like other methods.
//!
//! It takes a second environment, which cannot retransform. The hook of such a one sees a class before that of an environment which can, and
//! what it returns is what the class is for good: retransformation begins with these bytes, and with none but these the virtual machine lets
//! the class have its methods (JVMTI, ClassFileLoadHook, RetransformClasses). So the wrappers stay when a recording ends, without probes.
//! The environment stays as well, because native methods may be called for the first time, and thus looked up, at any time.
//!
//! A class that another agent redefines gets the wrappers that it has.

use crate::classes::load_event::Loading;
use crate::events::environments;
use crate::jvmti::{Callbacks, Capability, Event, Jvmti, JvmtiError, Object};
use crate::recording::agent::AGENT;
use instrument_rewriter::rewrite::natives;
use std::collections::HashSet;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

static CALLBACKS: Callbacks =
    Callbacks { class_file_load_hook: Some(class_file_load_hook), ..Callbacks::NONE };

static ENVIRONMENT: OnceLock<Jvmti<'static>> = OnceLock::new();

/// Tells the virtual machine under which names native methods are.
///
/// # Errors
/// It does not let itself be told.
pub(crate) fn prepare() -> Result<(), String> {
    if ENVIRONMENT.get().is_some() {
        return Ok(());
    }
    let jvmti = environments::another()?;
    let tell = || {
        jvmti.add_capabilities(&[Capability::SetNativeMethodPrefix])?;
        jvmti.set_native_method_prefix(natives::PREFIX)?;
        jvmti.set_callbacks(&CALLBACKS)
    };
    tell().map_err(|error| {
        format!("native=on: this virtual machine lets no agent rename native methods ({error}); leave it out")
    })?;
    let _ = ENVIRONMENT.set(jvmti);
    Ok(())
}

/// Classes that load from here on get wrappers.
pub(crate) fn begin() -> Result<(), JvmtiError> {
    ENVIRONMENT.get().map_or(Ok(()), |jvmti| jvmti.enable(Event::ClassFileLoadHook))
}

/// Comes for every class, also between recordings: what is redefined then needs the wrappers that it has.
///
/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn class_file_load_hook(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    redefined: *mut c_void,
    loader: *mut c_void,
    name: *const c_char,
    _domain: *mut c_void,
    length: c_int,
    data: *const u8,
    new_length: *mut c_int,
    new_data: *mut *mut u8,
) {
    if jni.is_null() {
        return;
    }
    let loading = Loading { jvmti, jni, loader, name, length, data, new_length, new_data };
    if redefined.is_null() {
        let Some(agent) = AGENT.get() else { return };
        let Some(live) = agent.live.get() else { return };
        // SAFETY: these are what the virtual machine passed in.
        unsafe {
            loading.offer(|_, jni, loader, name, class| {
                agent.hook.wrap_natives(live.origin(jni, loader, name), name, class)
            });
        }
    } else {
        // SAFETY:
        // - These are what the virtual machine passed in.
        // - `redefined` is a class, and a local reference of this call.
        unsafe {
            let redefined = Object::new(redefined);
            loading.offer(|jvmti, _, _, _, class| wrap_again(jvmti, &redefined, class));
        }
    }
}

/// The bytes that a class is to have from here on, with wrappers of the methods that have some now.
fn wrap_again(jvmti: Jvmti<'_>, redefined: &Object<'_>, class: &[u8]) -> Option<Vec<u8>> {
    let methods = jvmti.class_methods(redefined).ok()?;
    let names = methods.into_iter().filter_map(|method| jvmti.method(method).ok());
    let wrapped: HashSet<(String, String)> = names
        .filter_map(|(name, descriptor, _)| {
            Some((name.strip_prefix(natives::PREFIX)?.to_owned(), descriptor))
        })
        .collect();
    if wrapped.is_empty() {
        return None;
    }
    let has_wrapper = |name: &[u8], descriptor: &[u8]| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        wrapped.contains(&(text(name), text(descriptor)))
    };
    let mut out = Vec::new();
    natives::wrap(class, has_wrapper, &mut out).is_ok_and(|count| count > 0).then_some(out)
}
