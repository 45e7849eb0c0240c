//! How the classes of each loader reach the runtime: directly, over [`boot_probes`], or not at all.
//!
//! 1. The virtual machine's own loaders ask the boot loader first: what they load calls the runtime itself.
//! 2. Every other loader is asked for the class of [`boot_probes`] before the first of its classes is rewritten. It has to hand the
//!    question on, as for `java.lang.Object`. The virtual machine remembers the answer and does not ask again when it links the class.
//! 3. A loader that refuses (it has a list of what may be seen of `java.lang`) keeps its classes as they are.

use crate::jvmti::{Answer, Global, Jni, Jvmti, Method, Object, StaticMethod, Weak};
use crate::recording::recorder::has_stack;
use instrument_rewriter::reason::Reason;
use instrument_rewriter::transform::boot_probes;
use instrument_rewriter::transform::hooks::{BOOT_PROBES, PROFILER_RUNTIME, Reach};
use instrument_rewriter::transform::own_calls::Absent;
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

const CLASS_LOADER: &str = "java/lang/ClassLoader";
/// The system loader, unless the user has another one.
const APP_LOADER: &str = "Ljdk/internal/loader/ClassLoaders$AppClassLoader;";

const PLATFORM_LOADER: &str = "Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;";

/// What is known of loaders.
pub(crate) struct ClassLoaders {
    platform: Global,
    /// The system loader, if it is the virtual machine's own.
    app: Option<Global>,
    /// What loaders are asked for, and what their classes call then.
    name: Global,
    reach: Reach,
    find_loaded: Method,
    unnamed_module: Method,
    for_name: StaticMethod,
    /// java.lang.VirtualMachineError: what a loader throws then is no refusal.
    fatal: Global,
    /// Some that have answered, the last ones: they need not be asked where there is little stack.
    answered: Mutex<Vec<Weak>>,
    refused: Mutex<Vec<Weak>>,
}

/// How many loaders are remembered by us beside the virtual machine.
const REMEMBERED: usize = 16;

/// Why a class stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreachable {
    /// Its loader refuses, as was found out just now.
    News,
    /// Its loader refuses.
    Known,
    /// It cannot be asked at this moment: there is little stack, or it is being asked.
    Unknown,
}

impl Unreachable {
    /// The reason in reports.
    pub(crate) fn reason(self) -> Reason {
        match self {
            Self::News | Self::Known => Reason::UnreachableRuntime,
            Self::Unknown => Reason::LoaderNotAsked,
        }
    }
}

thread_local! {
    /// Global references to the loaders that this thread is asking.
    static ASKING: RefCell<Vec<Global>> = const { RefCell::new(Vec::new()) };
}

impl ClassLoaders {
    /// Defines what loaders are asked for, unless that was done at start-up. None: the virtual machine has none of what this needs.
    pub(crate) fn new(jvmti: Jvmti<'_>, jni: Jni<'_>, defined: bool) -> Option<ClassLoaders> {
        let loader = |name| {
            let method = jni.static_method(CLASS_LOADER, name, "()Ljava/lang/ClassLoader;")?;
            jni.call_for_object(&method)
        };
        let class_loader = jni.find_class(CLASS_LOADER)?;
        let descriptor = "(Ljava/lang/String;)Ljava/lang/Class;";
        let find_loaded = jni.method(&class_loader, "findLoadedClass", descriptor)?;
        let unnamed_module = jni.method(&class_loader, "getUnnamedModule", "()Ljava/lang/Module;")?;
        jni.forget(class_loader);
        let descriptor = "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
        let for_name = jni.static_method("java/lang/Class", "forName", descriptor)?;
        let fatal = jni.find_class("java/lang/VirtualMachineError").and_then(|error| jni.promote(error))?;
        let app = loader("getSystemClassLoader").filter(|system| {
            let class = jni.class_of(&jni.object(system));
            jvmti.signature(&class).as_deref() == Some(APP_LOADER)
        });
        let (class, reach) = match define(jvmti, jni, defined) {
            true => (BOOT_PROBES, Reach::Boot),
            false => (PROFILER_RUNTIME, Reach::Direct),
        };
        Some(ClassLoaders {
            platform: loader("getPlatformClassLoader")?,
            app,
            name: jni.string(&class.replace('/', "."))?,
            reach,
            find_loaded,
            unnamed_module,
            for_name,
            fatal,
            answered: Mutex::default(),
            refused: Mutex::default(),
        })
    }

    /// Whether it is the boot loader or the platform loader.
    pub(crate) fn is_of_the_jdk(&self, jni: Jni<'_>, loader: &Object<'_>) -> bool {
        loader.is_null() || jni.is_same(loader, &self.platform)
    }

    /// How classes of this loader reach the runtime. May call the loader, and so anything.
    pub(crate) fn reach(&self, jni: Jni<'_>, loader: &Object<'_>) -> Result<Reach, Unreachable> {
        if self.is_of_the_jdk(jni, loader) || self.app.as_ref().is_some_and(|app| jni.is_same(loader, app)) {
            return Ok(Reach::Direct);
        }
        if is_among(jni, loader, &self.answered) {
            return Ok(self.reach);
        }
        if is_among(jni, loader, &self.refused) {
            return Err(Unreachable::Known);
        }
        if jni.finds(loader, &self.find_loaded, &self.name) {
            self.remember(jni, loader);
            return Ok(self.reach);
        }
        if self.is_being_asked(jni, loader) || !has_stack() {
            return Err(Unreachable::Unknown);
        }
        match self.ask(jni, loader, &self.name).ok_or(Unreachable::Unknown)? {
            Answer::Found => {
                self.remember(jni, loader);
                Ok(self.reach)
            }
            Answer::Failed => Err(Unreachable::Unknown),
            Answer::Refused => {
                self.refused.lock().unwrap_or_else(PoisonError::into_inner).extend(jni.weak(loader));
                Err(Unreachable::News)
            }
        }
    }

    /// Whether a class of this loader (internal name), which need not be there yet, finds another class of the program and may call its
    /// public methods; its module is let read the other's. May call the loader, and so anything; not if it is not to be asked.
    ///
    /// # Errors
    /// It does not, or that is not known.
    pub(crate) fn finds<'a>(
        &self,
        jvmti: Jvmti<'a>,
        jni: Jni<'a>,
        loader: &Object<'a>,
        class: &[u8],
        other: &str,
        may_ask: bool,
    ) -> Result<(), Absent> {
        if self.is_of_the_jdk(jni, loader) {
            return Err(Absent::JdkClass);
        }
        // Elsewhere UTF-8 is not what JNI takes.
        let is_plain = other.chars().all(|one| one != '\0' && u32::from(one) < 0x1_0000);
        let name = Some(other.replace('/', ".")).filter(|_| is_plain).and_then(|name| jni.string(&name));
        let name = name.ok_or(Absent::NotAsked)?;
        let found = self.find(jni, loader, &name, may_ask);
        jni.forget_global(name);
        let found = found?;
        let package = |name: &[u8]| {
            let end = name.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
            name[..end].to_vec()
        };
        let (of_class, of_other) = (package(class), package(other.as_bytes()));
        let connected =
            jvmti.connect(jni, (loader, &self.unnamed_module, &of_class), (&found, &of_other)).is_ok();
        jni.forget(found);
        connected.then_some(()).ok_or(Absent::NotVisible)
    }

    fn find<'a>(
        &self,
        jni: Jni<'a>,
        loader: &Object<'a>,
        name: &Global,
        may_ask: bool,
    ) -> Result<Object<'a>, Absent> {
        if let Some(found) = jni.found(loader, &self.find_loaded, name) {
            return Ok(found);
        }
        if !may_ask || self.is_being_asked(jni, loader) || !has_stack() {
            return Err(Absent::NotAsked);
        }
        match self.ask(jni, loader, name) {
            // The virtual machine has noted who found it.
            Some(Answer::Found) => jni.found(loader, &self.find_loaded, name).ok_or(Absent::NotAsked),
            Some(Answer::Refused) => Err(Absent::NotVisible),
            Some(Answer::Failed) | None => Err(Absent::NotAsked),
        }
    }

    /// Whether this thread is asking the loader for a class.
    fn is_being_asked(&self, jni: Jni<'_>, loader: &Object<'_>) -> bool {
        ASKING.with_borrow(|asking| asking.iter().any(|asked| jni.is_same(loader, asked)))
    }

    /// Asks a loader for a class. None: it cannot be noted that it is being asked.
    fn ask(&self, jni: Jni<'_>, loader: &Object<'_>, name: &Global) -> Option<Answer> {
        let asked = jni.global(loader)?;
        ASKING.with_borrow_mut(|asking| asking.push(asked));
        let answer = jni.ask(&self.for_name, name, loader, &self.fatal);
        if let Some(asked) = ASKING.with_borrow_mut(Vec::pop) {
            jni.forget_global(asked);
        }
        Some(answer)
    }

    fn remember(&self, jni: Jni<'_>, loader: &Object<'_>) {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        if answered.len() == REMEMBERED {
            jni.forget_weak(answered.remove(0));
        }
        answered.extend(jni.weak(loader));
    }
}

/// Whether it is the platform loader, or the system loader's class (false); none: another. For the time when nothing can be called.
pub(crate) fn is_of_the_jdk_by_name(jvmti: Jvmti<'_>, jni: Jni<'_>, loader: &Object<'_>) -> Option<bool> {
    let class = jni.class_of(loader);
    let signature = jvmti.signature(&class);
    jni.forget(class);
    match signature.as_deref()? {
        PLATFORM_LOADER => Some(true),
        APP_LOADER => Some(false),
        _ => None,
    }
}

/// Whether it is one of these. Those that are gone are dropped on the way, so there are never more than loaders.
fn is_among(jni: Jni<'_>, loader: &Object<'_>, list: &Mutex<Vec<Weak>>) -> bool {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = false;
    for index in (0..list.len()).rev() {
        match jni.is_same_weak(loader, &list[index]) {
            None => jni.forget_weak(list.remove(index)),
            Some(same) => found |= same,
        }
    }
    found
}

/// Defines [`boot_probes`] in the module `java.base`, and lets that read the runtime's.
fn define(jvmti: Jvmti<'_>, jni: Jni<'_>, defined: bool) -> bool {
    let Some(runtime) = jni.find_class(PROFILER_RUNTIME) else { return false };
    let probes = match defined {
        true => jni.find_class(BOOT_PROBES),
        false => jni.define_boot_class(BOOT_PROBES, &boot_probes::class()),
    };
    let ready = probes.as_ref().is_some_and(|probes| jvmti.add_reads(jni, probes, &runtime).is_ok());
    for class in probes.into_iter().chain([runtime]) {
        jni.forget(class);
    }
    ready
}
