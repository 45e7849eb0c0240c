//! Which classes are looked at, and why the others are not.

use super::{LoadHook, fixed::MACHINE_CLASSES, write};
use crate::classes::rules::{self, Origin};
use crate::heap;
use instrument_rewriter::class_file::mutf8;
use instrument_rewriter::filter::{ClassVerdict, Filter};
use instrument_rewriter::library::{self, Own, Resolved};
use instrument_rewriter::reason::Reason;
use instrument_rewriter::rewrite::Transforms;
use instrument_rewriter::transform::parks::LOCK_SUPPORT;
use instrument_rewriter::transform::rmi;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What the agent rewrites, as far as names tell: a class that is called need not be loaded yet.
pub(super) struct OwnByName {
    pub(super) filter: &'static Filter,
    pub(super) jdk_filter: Option<Arc<Filter>>,
}

impl Own for OwnByName {
    fn resolve(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Resolved {
        let origin = if library::jdk::has(class) { Origin::Jdk } else { Origin::Program };
        let included = |filter: &Filter| filter.method(class, name, descriptor).is_ok();
        let considered = origin == Origin::Program || self.jdk_filter.as_deref().is_some_and(included);
        if considered && left(self.filter, origin, class).is_none() {
            Resolved::Unknown
        } else {
            Resolved::Elsewhere
        }
    }
}

/// Why the rules leave a class as it is, if they do.
fn left(filter: &Filter, origin: Origin, class: &[u8]) -> Option<Reason> {
    if instrument_names::jdk::is_generated(class) {
        Some(Reason::Generated)
    } else if origin == Origin::Jdk
        && (library::jdk::is_needed_by_probes(class) || rules::runs_virtual_threads(class))
    {
        Some(Reason::NeededByProbes)
    } else if rules::is_launcher(class) && !filter.has_includes() {
        Some(Reason::ArchiveLauncher)
    } else {
        None
    }
}

/// The constant pool of a class file, and what is behind it.
pub(crate) fn pool_of(class: &[u8]) -> Option<&[u8]> {
    /// `magic` and the version.
    const IN_FRONT: usize = 8;
    class.get(IN_FRONT..)
}

impl LoadHook {
    /// Whether classes of the JDK may be rewritten.
    pub(crate) fn wants_jdk(&self) -> bool {
        self.jdk_filter.is_some()
    }

    /// Whether classes are recorded only if they are named.
    pub(crate) fn has_includes(&self) -> bool {
        self.filter.has_includes()
    }

    /// Whether native methods of the program get wrappers.
    pub(crate) fn wants_natives(&self) -> bool {
        self.native
    }

    /// Whether what the virtual machine does for a method is to be told apart from the method.
    pub(crate) fn wants_machine_work(&self) -> bool {
        !self.machine_work.is_empty()
    }

    pub(super) fn is_for_parks(&self, origin: Origin, class: &[u8]) -> bool {
        self.parks && origin == Origin::Jdk && class == LOCK_SUPPORT
    }

    pub(super) fn is_machine_work(&self, origin: Origin, class: &[u8]) -> bool {
        origin == Origin::Jdk
            && self.wants_machine_work()
            && MACHINE_CLASSES.iter().any(|known| known.as_bytes() == class)
    }

    /// Whether a class is to be looked at.
    pub(crate) fn may_want(&self, origin: Origin, class: &[u8]) -> bool {
        self.considers(origin, class) && self.left(origin, class).is_none()
    }

    /// Whether a class that is loaded may get new bytes, or is asked for by the account. No other one is retransformed. `pool`: as
    /// [`may_change`](Self::may_change) has it.
    pub(crate) fn may_rewrite<P: AsRef<[u8]>>(
        &self,
        origin: Origin,
        class: &[u8],
        pool: impl FnOnce() -> Option<P>,
    ) -> bool {
        self.may_want(origin, class)
            && (self.is_rmi_only(origin, class)
                || self.report.is_some()
                || self.probes.is_some()
                || self.roots.may_be_in(class)
                || self.may_change(class, pool))
    }

    /// As [`may_want`](Self::may_want); a class that the rules leave goes into the report.
    pub(crate) fn wants(&self, origin: Origin, class: &[u8]) -> bool {
        if self.object_init && origin == Origin::Jdk && class == heap::OBJECT
            || self.is_machine_work(origin, class)
            || self.is_for_parks(origin, class)
        {
            return true;
        }
        if !self.considers(origin, class) {
            return false;
        }
        let left = self.left(origin, class);
        if left == Some(Reason::ArchiveLauncher) {
            self.launcher_left.store(true, Relaxed);
        }
        if let (Some(reason), Some(report)) = (left, &self.report) {
            write(report, |report| report.left(&mutf8::escape(class), reason));
        }
        left.is_none()
    }

    /// As [`may_want`](Self::may_want), for a class that loads before the virtual machine is initialised.
    pub(crate) fn wants_early(&self, origin: Origin, class: &[u8], bytes: &[u8]) -> bool {
        let is_object = self.object_init && origin == Origin::Jdk && class == heap::OBJECT;
        is_object
            || (self.may_want(origin, class)
                && self.may_change(class, || pool_of(bytes))
                && !self.is_rmi_only(origin, class)
                && !library::jdk::is_waited_in(class))
    }

    /// Whether anything of it is recorded: its methods, by the filter, or its arrays or requests, as far as its constant pool tells. `pool`: that
    /// as [`Transforms::may_be_beside`] takes it, for which it is asked if the filter leaves the class; none is one that may name anything.
    pub(crate) fn may_change<P: AsRef<[u8]>>(&self, class: &[u8], pool: impl FnOnce() -> Option<P>) -> bool {
        !matches!(self.filter.class(class), ClassVerdict::Skip(_))
            || self.has_region(class)
            || (self.everywhere != Transforms::NONE
                && pool().is_none_or(|pool| self.everywhere.may_be_beside(pool.as_ref())))
    }

    /// Whether a region begins or ends in the class, whatever the filter says of it.
    pub(super) fn has_region(&self, class: &[u8]) -> bool {
        self.regions.all().iter().any(|region| region.is_in(class))
    }

    /// The class stays as it is because of its loader; its name for people.
    pub(crate) fn left_unreachable(&self, class: &[u8], reason: Reason) -> String {
        let class = mutf8::escape(class);
        if let Some(report) = &self.report {
            write(report, |report| report.left(&class, reason));
        }
        class.replace('/', ".")
    }

    /// Whether anybody asked for it: the program's classes are all asked for, until the filter says otherwise.
    fn considers(&self, origin: Origin, class: &[u8]) -> bool {
        let included = |filter: &Filter| !matches!(filter.class(class), ClassVerdict::Skip(_));
        !self.stopped.load(Relaxed)
            && (origin == Origin::Program
                || self.jdk_filter.as_deref().is_some_and(included)
                || self.is_rmi_only(origin, class))
    }

    /// Whether a class of the JDK is to tell of remote calls and of nothing else.
    pub(super) fn is_rmi_only(&self, origin: Origin, class: &[u8]) -> bool {
        let whole = |filter: &Filter| filter.class(class) == ClassVerdict::All;
        self.rmi
            && origin == Origin::Jdk
            && rmi::is_internal(class)
            && !self.jdk_filter.as_deref().is_some_and(whole)
    }

    /// Why a class stays as it is, if it does: by the user's `no-rewrite`, or by the rules.
    fn left(&self, origin: Origin, class: &[u8]) -> Option<Reason> {
        match self.untouched.class(class) {
            ClassVerdict::Skip(reason) => Some(reason),
            _ => left(self.filter, origin, class),
        }
    }
}
