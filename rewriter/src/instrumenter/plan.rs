//! A class on its way: what is known of it, what is to become of it, what became of it.

use super::record::{ClassRecord, MethodRecord};
use crate::class_file::{Structure, mutf8};
use crate::code::hooks::Reach;
use crate::code::module_info::Hashes;
use crate::error::ClassError;
use crate::reason::Reason;
use crate::region::Region;
use crate::rewrite::{MethodEvent, MethodReport, Note, Outcome, RegionReport, natives};
use crate::survey::{MethodSurvey, Survey};
use std::sync::{Mutex, OnceLock};

/// In place of an id: a filter left the method out, or there is no id left.
pub(super) const LEFT: u32 = 0;
/// In place of an id: abstract or native.
pub(super) const WITHOUT_CODE: u32 = u32::MAX;

/// What is known about a class on its way.
#[derive(Debug)]
pub struct Plan {
    pub(super) survey: Result<Survey, ClassError>,
    pub(super) verdict: Verdict,
    /// What is known of the file of a class that is to be rewritten, until it is.
    pub(super) structure: Mutex<Option<Structure>>,
    /// What is known of a module whose descriptor it is.
    pub(super) module: Option<Module>,
    pub(super) reach: Reach,
    /// Why a native method has no [wrapper](natives::wrap), if it has none.
    pub(super) without_wrapper: Reason,
    /// Whether each surveyed method is wanted; none: as the filter says.
    pub(super) chosen: Option<Vec<bool>>,
    /// One id per surveyed method; [`LEFT`], or [`WITHOUT_CODE`].
    pub(super) ids: Vec<u32>,
    /// For each surveyed method that is left but for calls of one's own the id that these pass; empty, if there is
    /// none.
    pub(super) calls: Vec<Option<u32>>,
    /// The methods whose calls are recorded where it makes them.
    pub(super) library_calls: Vec<RecordedCall>,
    pub(super) result: OnceLock<(Outcome, Vec<MethodReport>)>,
    pub(super) regions: OnceLock<Vec<RegionReport>>,
    /// For the observer. Made while the bytes of the class are there; [`done`](ArchiveClassRewriter::done) has none.
    pub(super) record: OnceLock<ClassRecord>,
}

/// A method whose calls are recorded where they are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordedCall {
    /// In the constant pool.
    pub(super) index: u16,
    /// See [`id_map::BLOCKING_CALL`].
    pub(super) blocks: bool,
    /// [`LEFT`], until the class is admitted.
    pub(super) id: u32,
}

/// A module that was met.
#[derive(Debug, Clone)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// The hashes of other modules that it records.
    pub hashes: Option<Hashes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Rewrite,
    Module,
    Leave(Reason),
}

impl Plan {
    /// A class as it was found, before anybody has chosen anything.
    pub(super) fn new(survey: Result<Survey, ClassError>, verdict: Verdict) -> Self {
        Self {
            survey,
            verdict,
            structure: Mutex::default(),
            module: None,
            library_calls: Vec::new(),
            reach: Reach::Direct,
            without_wrapper: Reason::NoCode,
            chosen: None,
            ids: Vec::new(),
            calls: Vec::new(),
            result: OnceLock::new(),
            regions: OnceLock::new(),
            record: OnceLock::new(),
        }
    }

    /// How the class will call the runtime.
    pub fn call(&mut self, reach: Reach) {
        self.reach = reach;
    }

    /// Leaves the class as it is, for this reason.
    pub fn leave(&mut self, reason: Reason) {
        self.verdict = Verdict::Leave(reason);
    }

    /// Says why native methods of the class that `wanted` (name and descriptor) lets through have no
    /// [wrapper](natives::wrap). `reason` is asked if there are such methods.
    pub fn explain_natives(
        &mut self,
        class: &[u8],
        wanted: impl Fn(&[u8], &[u8]) -> bool,
        reason: impl FnOnce() -> Reason,
    ) {
        let Ok(survey) = &self.survey else { return };
        let is_bare = |method: &MethodSurvey| {
            let name = method.name(class);
            method.is_native() && !natives::is_wrapped(name) && wanted(name, method.descriptor(class))
        };
        if survey.methods.iter().any(is_bare) {
            self.without_wrapper = reason();
        }
    }

    /// Rewrites only methods that `wanted` (name and descriptor) lets through, as far as the filter does.
    pub fn choose(&mut self, class: &[u8], wanted: impl Fn(&[u8], &[u8]) -> bool) {
        let Ok(survey) = &self.survey else { return };
        let wanted = |method: &MethodSurvey| wanted(method.name(class), method.descriptor(class));
        self.chosen = Some(survey.methods.iter().map(wanted).collect());
    }

    /// Why the class as a whole was left as it is, if it was.
    pub(super) fn skipped(&self, rewritten: bool) -> Option<Reason> {
        match (&self.survey, self.verdict, self.result.get()) {
            (Err(_), ..) => Some(Reason::NotAClass),
            (_, Verdict::Leave(reason), _) => Some(reason),
            (_, Verdict::Module, _) if !rewritten => Some(Reason::NotCode),
            (_, _, Some((Outcome::Skipped(reason), _))) => Some(*reason),
            _ => None,
        }
    }

    /// What the rewriter said of the methods.
    pub(super) fn reports(&self) -> &[MethodReport] {
        self.result.get().map_or(&[], |(_, reports)| reports)
    }

    /// Everything about the class that people may want to know.
    pub(super) fn record(&self, class: &[u8], rewritten: bool, regions: &[Region]) -> ClassRecord {
        let skipped = self.skipped(rewritten);
        let detail = match (&self.survey, self.result.get()) {
            (Err(error), _) => Some(error.to_string()),
            (_, Some((Outcome::Skipped(reason), _))) => Some(reason.explanation().to_owned()),
            _ => None,
        };
        let surveyed = self.survey.as_ref().map_or(&[][..], |survey| &survey.methods[..]);
        let timed = |index: u16| {
            let reports = self.regions.get().map_or(&[][..], Vec::as_slice).iter();
            reports.filter(move |report| report.outcome == Ok(index)).map(|report| report.region)
        };
        let methods = surveyed.iter().enumerate().map(|(position, method)| {
            let id = self.ids.get(position).copied().filter(|id| ![LEFT, WITHOUT_CODE].contains(id));
            let left = if method.has_code { Reason::Excluded } else { Reason::NoCode };
            let mut record = MethodRecord {
                name: mutf8::escape(method.name(class)),
                descriptor: mutf8::escape(method.descriptor(class)),
                id,
                skipped: skipped.or((id.is_none()).then_some(left)),
                notes: Vec::new(),
            };
            for report in self.reports().iter().filter(|report| report.index == method.index) {
                match report.event {
                    MethodEvent::Skipped(reason) => record.skipped = Some(reason),
                    MethodEvent::Unchanged => record.skipped = Some(Reason::NothingToInsert),
                    MethodEvent::Rewritten(note) => record.notes.push(note),
                }
            }
            record.notes.extend(timed(method.index).map(|region| Note::Region(regions[region].number)));
            if record.skipped.is_some() {
                record.id = None;
            }
            record
        });
        ClassRecord {
            name: self.survey.as_ref().map_or_else(|_| String::new(), |s| mutf8::escape(s.name(class))),
            rewritten,
            skipped,
            detail,
            methods: methods.collect(),
        }
    }
}
