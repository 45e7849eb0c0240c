//! `early=on`: classes are rewritten from the first one on.
//!
//! 1. The virtual machine loads its first classes, `java.lang.Object` among them, while nothing may be called. They are rewritten; their
//!    probes call [`boot_probes`], which is not there yet. No code runs.
//! 2. VM_START, before the first code runs: [`boot_probes`] is defined, in the form that calls nobody. It keeps the objects that it is told
//!    of, if objects are recorded. (There is no class of ours to call: to append to the boot path before the virtual machine is
//!    initialised crashes it, and no other package can be defined.)
//! 3. VM_INIT: it keeps no more; the runtime goes onto the boot path, the recorder begins and is told which methods were rewritten so far.
//! 4. The probes of [`boot_probes`] pass their calls on, and the objects that were kept are recorded.
//!
//! Class data sharing is off with it: the virtual machine refuses what others may have changed.

use crate::classes::load_hook::LoadHook;
use crate::classes::loaders;
use crate::classes::rules::Origin;
use crate::heap;
use crate::jvmti::{Capability, Global, Jni, Jvmti, Object};
use crate::recording::recorder::News;
use crate::recording::recorder::Recorder;
use crate::talk::say;
use instrument_rewriter::transform::boot_probes;
use instrument_rewriter::transform::hooks::{BOOT_PROBES, Reach};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const CAPABILITIES: [Capability; 3] = [
    Capability::GenerateAllClassHookEvents,
    Capability::GenerateEarlyVmstart,
    Capability::GenerateEarlyClassHookEvents,
];

/// What is done before the virtual machine is initialised.
pub(crate) struct Early {
    /// The runtime's jar.
    jar: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The classes that were rewritten.
    rewritten: HashSet<Vec<u8>>,
    /// What the recorder has to know of them; none: it is told at once.
    news: Option<Vec<News>>,
}

/// What was made of a class.
pub(crate) enum Rewritten {
    /// These bytes.
    Early(Vec<u8>),
    /// It stays as it is.
    Left,
    /// The virtual machine is initialised by now.
    Live,
}

/// Takes what it needs of the virtual machine. None, and why is said: classes are rewritten later.
pub(crate) fn claim(jvmti: Jvmti<'_>, jar: &Path) -> Option<Early> {
    let refusal = if insists_on_sharing() {
        Some("-Xshare:on insists on class data sharing, which it turns off".to_owned())
    } else {
        jvmti.add_capabilities(&CAPABILITIES).err().map(|error| error.to_string())
    };
    if let Some(reason) = refusal {
        say(format_args!("early=on: {reason}; classes of start-up are rewritten when it is over"));
        return None;
    }
    say(format_args!("early=on: class data sharing is off; the program starts more slowly"));
    let state = State { news: Some(Vec::new()), ..State::default() };
    Some(Early { jar: jar.to_owned(), state: Mutex::new(state) })
}

/// Whether the user wants the virtual machine to end rather than to start without class data sharing. It would not say why.
fn insists_on_sharing() -> bool {
    const OPTION: &str = "-Xshare:on";
    const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];
    let arguments = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let mut words: Vec<String> =
        arguments.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    for variable in VARIABLES {
        let value = std::env::var(variable).unwrap_or_default();
        words.extend(value.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()));
    }
    // The last one counts.
    words.iter().rev().find(|word| word.starts_with("-Xshare:")).is_some_and(|word| word == OPTION)
}

impl Early {
    /// The first code is about to run: defines what rewritten classes call.
    pub(crate) fn define(&self, jni: Jni<'_>) {
        match jni.define_boot_class(BOOT_PROBES, &boot_probes::early_class(heap::is_on())) {
            Some(class) => jni.forget(class),
            None => say(format_args!(
                "early=on: {} cannot be defined, and the virtual machine may fail; start without it",
                BOOT_PROBES.replace('/', ".")
            )),
        }
    }

    /// Rewrites a class.
    pub(crate) fn rewrite(
        &self,
        hook: &LoadHook,
        jvmti: Jvmti<'_>,
        jni: Jni<'_>,
        loader: &Object<'_>,
        name: &[u8],
        class: &[u8],
    ) -> Rewritten {
        let jdk = match loader.is_null() {
            true => true,
            false => match loaders::is_of_the_jdk_by_name(jvmti, jni, loader) {
                Some(jdk) => jdk,
                None => return Rewritten::Left,
            },
        };
        let origin = Origin::of(jdk, name);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { rewritten, news: Some(waiting) } = &mut *state else { return Rewritten::Live };
        if !hook.wants_early(origin, name, class) {
            return Rewritten::Left;
        }
        match hook.rewrite(origin, name, class, Reach::Boot, false, |news| waiting.push(news)) {
            None => Rewritten::Left,
            Some(out) => {
                rewritten.insert(name.to_vec());
                Rewritten::Early(out)
            }
        }
    }

    /// Whether the class needs not be sent through the hook again.
    pub(crate) fn has_rewritten(&self, class: &[u8]) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).rewritten.contains(class)
    }

    /// The array of the objects that were kept; what is made from here on is not.
    pub(crate) fn stop_keeping(&self, jni: Jni<'_>) -> Option<Global> {
        if !heap::is_on() {
            return None;
        }
        let take = jni.static_method(BOOT_PROBES, boot_probes::TAKE, "()Ljava/lang/Object;")?;
        jni.call_for_object(&take)
    }

    /// Puts the runtime onto the boot path. False, and why is said: it cannot be called.
    pub(crate) fn append_runtime(&self, jvmti: Jvmti<'_>) -> bool {
        let result = jvmti.add_to_boot_path(&self.jar);
        if let Err(error) = &result {
            say(format_args!("the runtime: {error}"));
        }
        result.is_ok()
    }

    /// Tells the recorder what was rewritten so far, and lets the probes call it. False: they cannot.
    pub(crate) fn go_live(&self, jni: Jni<'_>, recorder: &Recorder) -> bool {
        // Taken out: what is called may load a class.
        let news = self.state.lock().unwrap_or_else(PoisonError::into_inner).news.take();
        for news in news.into_iter().flatten() {
            recorder.tell(jni, news);
        }
        let pass = jni.static_method(BOOT_PROBES, boot_probes::PASS, "([B)V");
        pass.is_some_and(|pass| jni.call_with_bytes(&pass, &[]))
    }
}
