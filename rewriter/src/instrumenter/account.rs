//! The account of all classes that one instrumenter has seen.

use super::plan::{LEFT, Module, Plan, Verdict};
use super::record::{Observer, RegionRecord, Totals};
use crate::archive::Location;
use crate::reason::Reason;
use crate::rewrite::{MethodEvent, Note};
use std::sync::{Mutex, PoisonError};

/// Totals, and what is worth telling of single classes.
#[derive(Default)]
pub(super) struct Account<'a> {
    pub(super) totals: Totals,
    pub(super) region_records: Vec<RegionRecord>,
    /// Module descriptors at the root of archives.
    pub(super) modules: u64,
    /// Modules that were met and not told of yet.
    pub(super) met: Vec<Module>,
    /// The first class that calls the runtime already.
    pub(super) instrumented: Option<String>,
    pub(super) observer: Option<Mutex<Observer<'a>>>,
}

impl Account<'_> {
    /// Counts a class, and hands its record to the observer.
    pub(super) fn add(&mut self, at: &Location<'_>, mut plan: Plan, rewritten: bool) {
        let totals = &mut self.totals;
        totals.classes += 1;
        totals.classes_rewritten += u64::from(rewritten);
        let is_root = [&b"module-info.class"[..], b"classes/module-info.class"].contains(&at.name());
        self.modules += u64::from(plan.verdict == Verdict::Module && is_root);
        self.met.extend(plan.module.take());
        if self.instrumented.is_none() && plan.verdict == Verdict::Leave(Reason::AlreadyInstrumented) {
            self.instrumented = Some(at.to_string());
        }
        let reports = plan.regions.take().unwrap_or_default();
        self.region_records.extend(reports.into_iter().map(|report| RegionRecord {
            region: report.region,
            at: at.to_string(),
            fault: report.outcome.err(),
        }));
        let skipped = plan.skipped(rewritten);
        if let Some(reason) = skipped {
            *totals.classes_skipped.entry(reason).or_default() += 1;
        }
        totals.methods += plan.survey.as_ref().map_or(0, |survey| survey.methods.len() as u64);
        if skipped.is_none() {
            self.add_methods(&plan);
        }
        if let (Some(observer), Some(record)) = (&mut self.observer, plan.record.take()) {
            let observer = observer.get_mut().unwrap_or_else(PoisonError::into_inner);
            observer(at, &record);
        }
    }

    /// Counts the methods of a class that was not left as a whole.
    fn add_methods(&mut self, plan: &Plan) {
        let totals = &mut self.totals;
        let mut refused = 0;
        for report in plan.reports() {
            let reason = match report.event {
                MethodEvent::Skipped(reason) => reason,
                MethodEvent::Unchanged => Reason::NothingToInsert,
                MethodEvent::Rewritten(note) => {
                    totals.methods_wrapped += u64::from(matches!(note, Note::Wrapped | Note::WrappedBare));
                    totals.methods_wrapped_bare += u64::from(note == Note::WrappedBare);
                    continue;
                }
            };
            *totals.methods_skipped.entry(reason).or_default() += 1;
            refused += 1;
        }
        let left = plan.ids.iter().filter(|id| **id == LEFT).count();
        if left > 0 {
            *totals.methods_skipped.entry(Reason::Excluded).or_default() += left as u64;
        }
        // A method without code is reported as skipped, too.
        totals.methods_rewritten += (plan.ids.len() - left).saturating_sub(refused) as u64;
    }
}
