//! `--probes` in the virtual machine: which classes find the class whose method is called.

use crate::classes::in_hook::INSIDE;
use crate::classes::load_hook::OwnProbes;
use crate::classes::rules::Origin;
use crate::jvmti::{Jni, Jvmti, Object};
use crate::recording::agent::Live;

/// A class on its way through the load hook.
#[derive(Clone, Copy)]
pub(crate) struct Loaded<'c> {
    pub(crate) name: &'c [u8],
    pub(crate) class: &'c [u8],
    pub(crate) origin: Origin,
    /// It was there before, and is sent through the hook again.
    pub(crate) is_loaded: bool,
}

impl Live {
    /// Finds out which of the classes whose methods rules call the class that is about to be rewritten finds. While its loader is asked,
    /// this thread is not inside the hook: what the loader does is the program's business.
    pub(crate) fn prepare_probes<'a>(
        &self,
        probes: &OwnProbes,
        jvmti: Jvmti<'a>,
        jni: Jni<'a>,
        loader: &Object<'a>,
        loaded: Loaded<'_>,
    ) {
        let Loaded { name, class, origin, is_loaded } = loaded;
        if !probes.concern_any(class) {
            return;
        }
        let answer = |owner: &String| {
            let may_ask = probes.may_be_asked_for(owner, name);
            INSIDE.set(false);
            let answer = self.loaders.finds(jvmti, jni, loader, name, owner, may_ask);
            INSIDE.set(true);
            (owner.clone(), answer)
        };
        let answers = match origin {
            Origin::Program => probes.owners().map(answer).collect(),
            Origin::Jdk => Default::default(),
        };
        probes.begin(loaded.name, origin, is_loaded, answers);
    }

    /// Notes those classes of the JDK that are there before the hook is.
    pub(crate) fn see_jdk_classes(&self, probes: &OwnProbes, jvmti: Jvmti<'_>, jni: Jni<'_>) {
        for class in jvmti.loaded_classes(jni).unwrap_or_default() {
            let is_of_the_jdk =
                jvmti.loader(&class, jni).is_ok_and(|loader| self.loaders.is_of_the_jdk(jni, &loader));
            if is_of_the_jdk
                && let Some(signature) = jvmti.raw_signature(&class)
                && let Some(name) = signature.strip_prefix(b"L").and_then(|of| of.strip_suffix(b";"))
            {
                probes.see_jdk_class(name);
            }
            jni.forget(class);
        }
    }
}
