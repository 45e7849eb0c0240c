//! What lies outside of the program: libraries and the JDK's methods that wait, whose calls are recorded where they are
//! made, and native methods.

use super::plan::{LEFT, Plan, RecordedCall};
use crate::class_file::ClassFile;
use crate::filter::Filter;
use crate::library::{self, Boundary, Callee, Own};
use crate::reason::Reason;
use crate::rewrite::natives::{self, Natives};
use std::sync::Arc;

/// What is recorded of it.
#[derive(Default)]
pub(super) struct Outside {
    /// What is not a library, if calls into those are recorded.
    pub(super) own: Option<Arc<dyn Own>>,
    pub(super) natives: Natives,
    /// The native methods that are there to be rewritten, if calls of them are recorded.
    pub(super) own_natives: Option<Arc<dyn Own>>,
}

impl Outside {
    /// Whether calls are recorded where they are made.
    pub(super) fn records_calls(&self, waits: bool) -> bool {
        self.own.is_some() || self.own_natives.is_some() || waits
    }

    /// What the methods of a class call which the filter lets through, as far as it is recorded there, without ids.
    pub(super) fn recorded(&self, filter: &Filter, waits: bool, class: &ClassFile<'_>) -> Vec<RecordedCall> {
        let boundary = self.own.as_deref().map(|own| Boundary { own, filter });
        let callees = class.name().and_then(|name| {
            let wanted = |method: &[u8], descriptor: &[u8]| filter.method(name, method, descriptor).is_ok();
            let mut callees = library::recorded_callees(class, boundary.as_ref(), waits, wanted)?;
            if let Some(natives) = self.native_methods(filter) {
                callees.extend(natives.native_callees(class, wanted)?);
                callees.sort_by_key(|callee| callee.index);
                callees.dedup_by_key(|callee| callee.index);
            }
            Ok(callees)
        });
        let recorded =
            |callee: &Callee<'_>| RecordedCall { index: callee.index, blocks: callee.blocks, id: LEFT };
        callees.unwrap_or_default().iter().map(recorded).collect()
    }

    /// Tells which calls are of native methods whose calls are recorded.
    pub(super) fn native_methods<'f>(&'f self, filter: &'f Filter) -> Option<Boundary<'f>> {
        self.own_natives.as_deref().map(|own| Boundary { own, filter })
    }

    /// Why a method without code stays as it is.
    pub(super) fn without_code(&self, filter: &Filter, plan: &Plan, class: &[u8], index: u16) -> Reason {
        let Ok(survey) = &plan.survey else { return Reason::NoCode };
        let native = survey.methods.get(usize::from(index)).filter(|method| method.is_native());
        let (Some(method), true) = (native, self.natives != Natives::Leave) else {
            return Reason::NoCode;
        };
        let (name, descriptor) = (method.name(class), method.descriptor(class));
        if self.natives == Natives::Wrapped && natives::is_wrapped(name) {
            Reason::NativeWrapped
        } else if filter.method(survey.name(class), name, descriptor).is_err() {
            Reason::Excluded
        } else if self.natives == Natives::Wrapped {
            plan.without_wrapper
        } else {
            Reason::NativeAtCalls
        }
    }
}
