//! Everything together: classes, alone or in archives, are filtered, numbered, rewritten, and accounted for.
//!
//! An [`Instrumenter`] is what the [`archive`](crate::archive) engine drives. It keeps the promise that every
//! class and every method is accounted for: each ends in a [`ClassRecord`], rewritten or with a reason.

use crate::archive::{ClassRewriter as ArchiveClassRewriter, Layout, Location, NewEntry};
use crate::class_file::{ClassFile, mutf8};
use crate::code::hooks::Reach;
use crate::code::module_info;
use crate::error::ClassError;
use crate::filter::{ClassVerdict, Filter};
use crate::library::{self, Boundary, Callee, Own};
use crate::region::{Region, RegionFault};
use crate::remote_methods::RemoteMethods;
use crate::rewrite::natives::{self, Natives};
use crate::rewrite::{
    Choice, ClassRewriter, LargeMethods, MethodEvent, MethodRef, MethodReport, Note, Outcome, Reason,
    RegionReport, Transforms,
};
use crate::survey::{MethodSurvey, Survey, SurveyBuffers};
use crate::transform::own_calls::InsertCalls;
use instrument_names::id_map::{self, IdMap};
use instrument_names::pattern::MethodQuery;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What the rewritten program finds at run time.
#[derive(Debug, Clone, Default)]
pub struct Runtime {
    /// The classes that injected code calls, as entries from the root of a class path. Empty: nothing is added.
    pub entries: Vec<NewEntry>,
    /// What happens to a module descriptor at the root of an archive.
    pub module: ModuleChange,
}

/// How a modular archive gets at the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModuleChange {
    /// Not at all.
    #[default]
    None,
    /// The runtime lies inside the archive: its package becomes one of the module's.
    AddPackage,
    /// The runtime is a module of its own: the module requires it.
    AddRequires,
}

/// What became of one method.
#[derive(Debug, Clone)]
pub struct MethodRecord {
    /// As in the class file, escaped for people.
    pub name: String,
    /// As in the class file, escaped for people.
    pub descriptor: String,
    /// Its id, if it was rewritten.
    pub id: Option<u32>,
    /// Why it was left as it is, if it was.
    pub skipped: Option<Reason>,
    /// What is worth knowing of a rewritten method.
    pub notes: Vec<Note>,
}

/// What became of one class.
#[derive(Debug, Clone)]
pub struct ClassRecord {
    /// The internal name, escaped for people; empty if the bytes are no class.
    pub name: String,
    /// Whether the class changed.
    pub rewritten: bool,
    /// Why the class as a whole was left as it is, if it was.
    pub skipped: Option<Reason>,
    /// More about that, if there is more to say.
    pub detail: Option<String>,
    /// All methods, in order.
    pub methods: Vec<MethodRecord>,
}

/// Totals over all classes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Classes looked at.
    pub classes: u64,
    /// Classes that changed.
    pub classes_rewritten: u64,
    /// Classes left as a whole, by reason.
    pub classes_skipped: BTreeMap<Reason, u64>,
    /// All methods.
    pub methods: u64,
    /// Methods that changed.
    pub methods_rewritten: u64,
    /// Methods left as they are in classes that were not left as a whole, by reason.
    pub methods_skipped: BTreeMap<Reason, u64>,
    /// Methods that changed into a wrapper, because they have no room for their probes.
    pub methods_wrapped: u64,
    /// Those of them whose code has no room for other transforms either.
    pub methods_wrapped_bare: u64,
}

/// What became of a code region in one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionRecord {
    /// Position in the list of regions.
    pub region: usize,
    /// Where the class is.
    pub at: String,
    /// Why it is not timed, if it is not.
    pub fault: Option<RegionFault>,
}

/// Takes the record of every class, in order.
pub type Observer<'a> = Box<dyn FnMut(&Location<'_>, &ClassRecord) + Send + 'a>;

/// Rewrites classes with one filter, one id map and one account.
pub struct Instrumenter<'a> {
    transforms: Transforms,
    filter: &'a Filter,
    ids: &'a mut IdMap,
    runtime: Runtime,
    observer: Option<Mutex<Observer<'a>>>,
    /// What is not a library, if calls into those are recorded.
    own: Option<Arc<dyn Own>>,
    natives: Natives,
    /// The native methods that are there to be rewritten, if calls of them are recorded.
    own_natives: Option<Arc<dyn Own>>,
    /// See [`record_arrays_everywhere`](Self::record_arrays_everywhere).
    arrays_everywhere: bool,
    large_methods: LargeMethods,
    regions: Arc<[Region]>,
    remote_methods: Option<Arc<RemoteMethods>>,
    own_calls: Option<Arc<dyn InsertCalls>>,
    /// See [`insert_calls_everywhere`](Self::insert_calls_everywhere).
    calls_everywhere: bool,
    region_records: Vec<RegionRecord>,
    /// Patterns, and whether a method has matched.
    watched: Vec<(MethodQuery, bool)>,
    /// Ids of the methods that matched one.
    found: Vec<u32>,
    totals: Totals,
    /// Ids that the current output carries.
    used: Vec<u32>,
    /// Module descriptors at the root of archives.
    modules: u64,
    /// The first class that calls the runtime already.
    instrumented: Option<String>,
    rewriters: Mutex<Vec<ClassRewriter>>,
    buffers: Mutex<Vec<SurveyBuffers>>,
}

/// In place of an id: a filter left the method out, or there is no id left.
const LEFT: u32 = 0;
/// In place of an id: abstract or native.
const WITHOUT_CODE: u32 = u32::MAX;

/// What is known about a class on its way.
#[derive(Debug)]
pub struct Plan {
    survey: Result<Survey, ClassError>,
    verdict: Verdict,
    reach: Reach,
    /// Why a native method has no [wrapper](natives::wrap), if it has none.
    without_wrapper: Reason,
    /// Whether each surveyed method is wanted; none: as the filter says.
    chosen: Option<Vec<bool>>,
    /// One id per surveyed method; [`LEFT`], or [`WITHOUT_CODE`].
    ids: Vec<u32>,
    /// For each surveyed method that is left but for calls of one's own the id that these pass; empty, if there is none.
    calls: Vec<Option<u32>>,
    /// The methods whose calls are recorded where it makes them.
    library_calls: Vec<RecordedCall>,
    result: OnceLock<(Outcome, Vec<MethodReport>)>,
    regions: OnceLock<Vec<RegionReport>>,
    /// For the observer. Made while the bytes of the class are there; [`done`](ArchiveClassRewriter::done) has none.
    record: OnceLock<ClassRecord>,
}

/// A method whose calls are recorded where they are made.
#[derive(Debug, Clone, Copy)]
struct RecordedCall {
    /// In the constant pool.
    index: u16,
    /// See [`id_map::BLOCKING_CALL`].
    blocks: bool,
    /// [`LEFT`], until the class is admitted.
    id: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Rewrite,
    Module,
    Leave(Reason),
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // The guarded buffers hold nothing that a panic could leave half-done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Instrumenter<'a> {
    /// An instrumenter that takes ids from `ids`.
    pub fn new(transforms: Transforms, filter: &'a Filter, ids: &'a mut IdMap, runtime: Runtime) -> Self {
        Self {
            transforms,
            filter,
            ids,
            runtime,
            observer: None,
            own: None,
            natives: Natives::Leave,
            own_natives: None,
            arrays_everywhere: false,
            large_methods: LargeMethods::Leave,
            regions: Arc::default(),
            remote_methods: None,
            own_calls: None,
            calls_everywhere: false,
            region_records: Vec::new(),
            watched: Vec::new(),
            found: Vec::new(),
            totals: Totals::default(),
            used: Vec::new(),
            modules: 0,
            instrumented: None,
            rewriters: Mutex::default(),
            buffers: Mutex::default(),
        }
    }

    /// Records the arrays and copies that methods make which the filter leaves out: it chooses events, not what is seen of the heap. For
    /// transforms with `array_allocation`.
    pub fn record_arrays_everywhere(&mut self) {
        self.arrays_everywhere = true;
    }

    /// What becomes of methods that have no room for their probes. A wrapper adds a method to its class, which retransformation does not
    /// allow: this is for classes that are rewritten before they are loaded.
    pub fn set_large_methods(&mut self, large_methods: LargeMethods) {
        self.large_methods = large_methods;
    }

    /// Sends the record of every class to `observer`.
    pub fn observe(&mut self, observer: Observer<'a>) {
        self.observer = Some(Mutex::new(observer));
    }

    /// Times these code regions, in classes that are rewritten from now on. Another list has the regions of the one before at the same places, if
    /// only as those that are off: what is said of them has their place.
    pub fn time(&mut self, regions: Arc<[Region]>) {
        self.regions = regions;
        // They have the list from before.
        lock(&self.rewriters).clear();
    }

    /// Records calls into libraries where they are made: of what is not among these classes, or left out by the filter.
    pub fn record_library_calls(&mut self, own: Arc<dyn Own>) {
        self.own = Some(own);
    }

    /// Records calls of native methods of these classes where they are made, by the classes that declare them.
    pub fn record_native_calls(&mut self, own: Arc<dyn Own>) {
        self.natives = Natives::AtCalls;
        self.own_natives = Some(own);
    }

    /// Classes come with [wrappers](natives::wrap) of their native methods: says of those that have none why.
    pub fn expect_wrappers(&mut self) {
        self.natives = Natives::Wrapped;
    }

    /// Lets `rmi` know which methods can be called from other processes.
    pub fn set_remote_methods(&mut self, remote_methods: RemoteMethods) {
        self.remote_methods = Some(Arc::new(remote_methods));
    }

    /// Inserts calls of one's own as well.
    pub fn insert_calls(&mut self, inserter: Arc<dyn InsertCalls>) {
        self.own_calls = Some(inserter);
    }

    /// Inserts them also into methods that the filter leaves out, or [`Plan::choose`]: those choose what is recorded then.
    pub fn insert_calls_everywhere(&mut self) {
        self.calls_everywhere = true;
    }

    /// What became of the code regions since this was called.
    pub fn take_region_records(&mut self) -> Vec<RegionRecord> {
        std::mem::take(&mut self.region_records)
    }

    /// What became of the code regions so far, wherever one of their classes was met.
    pub fn region_records(&self) -> &[RegionRecord] {
        &self.region_records
    }

    /// Looks out for methods that match each of these patterns.
    pub fn watch(&mut self, patterns: Vec<MethodQuery>) {
        self.watched = patterns.into_iter().map(|pattern| (pattern, false)).collect();
    }

    /// Looks out for methods that match one more pattern.
    pub fn watch_also(&mut self, pattern: MethodQuery) {
        self.watched.push((pattern, false));
    }

    /// Looks out no more for the pattern at this place; those behind it move up.
    pub fn forget_watched(&mut self, place: usize) {
        self.watched.remove(place);
    }

    /// Whether a method that is instrumented matched, for each pattern.
    pub fn seen(&self) -> impl Iterator<Item = bool> + '_ {
        self.watched.iter().map(|watched| watched.1)
    }

    /// The ids of the methods that matched a pattern since this was called.
    pub fn take_found(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.found)
    }

    /// The totals so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// How many modular archives were met.
    pub fn modules(&self) -> u64 {
        self.modules
    }

    /// Where the first class was met that calls the runtime already. Its ids are of another map: next to ours they would
    /// count for other methods.
    pub fn instrumented(&self) -> Option<&str> {
        self.instrumented.as_deref()
    }

    /// Rewrites classes that lie in no archive: in parallel, with ids in their order. `None`: unchanged.
    pub fn rewrite_loose(&mut self, classes: &[(Location<'_>, &[u8])]) -> Vec<Option<Vec<u8>>> {
        let this = &*self;
        let mut plans: Vec<Plan> = classes.par_iter().map(|(at, class)| this.plan(at, class)).collect();
        for ((at, class), plan) in classes.iter().zip(&mut plans) {
            self.admit(at, plan, class);
        }
        let this = &*self;
        let outputs: Vec<Option<Vec<u8>>> = classes
            .par_iter()
            .zip(&plans)
            .map(|((at, class), plan)| {
                let mut out = Vec::new();
                this.rewrite(at, plan, class, &mut out).then_some(out)
            })
            .collect();
        for (((at, _), plan), output) in classes.iter().zip(plans).zip(&outputs) {
            self.account(at, plan, output.is_some());
        }
        outputs
    }

    /// From now on, outputs get these entries.
    pub fn set_runtime(&mut self, runtime: Runtime) {
        self.runtime = runtime;
    }

    /// The map of ids, for another instrumenter.
    pub fn into_ids(self) -> &'a mut IdMap {
        self.ids
    }

    /// The map that ids are taken from.
    pub fn ids(&mut self) -> &mut IdMap {
        self.ids
    }

    /// The ids of the methods admitted since this or [`output_entries`](Self::output_entries) was called: sorted, each once.
    pub fn take_used(&mut self) -> Vec<u32> {
        let mut used = std::mem::take(&mut self.used);
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The entries that the current output needs: the runtime, and the part of the id map that it uses.
    pub fn output_entries(&mut self) -> Vec<NewEntry> {
        let used = self.take_used();
        if used.is_empty() {
            return Vec::new();
        }
        let mut text = Vec::new();
        self.ids.write_part(used, &mut text);
        let map =
            NewEntry { name: id_map::ENTRY_NAME.to_owned(), data: id_map::gz::compress(&text), stored: true };
        let mut entries = vec![map];
        entries.extend(self.runtime.entries.iter().cloned());
        entries
    }

    /// An output carries this id of a method, unless it is [`LEFT`].
    fn use_id(&mut self, id: u32, class: &[u8], name: &[u8], descriptor: &[u8]) {
        if id == LEFT {
            return;
        }
        self.used.push(id);
        let mut found = false;
        for watched in &mut self.watched {
            let matches = watched.0.matches(class, name, descriptor);
            watched.1 |= matches;
            found |= matches;
        }
        if found {
            self.found.push(id);
        }
    }

    /// What the methods of a class call which the filter lets through, as far as it is recorded there, without ids.
    fn library_calls(&self, class: &[u8]) -> Vec<RecordedCall> {
        let boundary = self.own.as_deref().map(|own| Boundary { own, filter: self.filter });
        let callees = ClassFile::parse(class).and_then(|file| {
            let name = file.name()?;
            let wanted =
                |method: &[u8], descriptor: &[u8]| self.filter.method(name, method, descriptor).is_ok();
            let mut callees =
                library::recorded_callees(&file, boundary.as_ref(), self.transforms.waits, wanted)?;
            if let Some(natives) = self.native_methods() {
                callees.extend(natives.native_callees(&file, wanted)?);
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
    fn native_methods(&self) -> Option<Boundary<'_>> {
        self.own_natives.as_deref().map(|own| Boundary { own, filter: self.filter })
    }

    /// Why a method without code stays as it is.
    fn without_code(&self, plan: &Plan, class: &[u8], index: u16) -> Reason {
        let Ok(survey) = &plan.survey else { return Reason::NoCode };
        let native = survey.methods.get(usize::from(index)).filter(|method| method.is_native());
        let (Some(method), true) = (native, self.natives != Natives::Leave) else {
            return Reason::NoCode;
        };
        let (name, descriptor) = (method.name(class), method.descriptor(class));
        if self.natives == Natives::Wrapped && natives::is_wrapped(name) {
            Reason::NativeWrapped
        } else if self.filter.method(survey.name(class), name, descriptor).is_err() {
            Reason::Excluded
        } else if self.natives == Natives::Wrapped {
            plan.without_wrapper
        } else {
            Reason::NativeAtCalls
        }
    }

    /// Whether a class that the filter leaves out for this reason is rewritten for the arrays that it makes.
    fn is_for_arrays(&self, reason: Reason) -> bool {
        self.arrays_everywhere && reason != Reason::OwnRuntime
    }

    /// Whether a class that the filter leaves out for this reason is rewritten for calls of one's own.
    fn is_for_calls(&self, reason: Reason, survey: &Survey, class: &[u8]) -> bool {
        reason != Reason::OwnRuntime
            && survey.methods.iter().any(|method| self.is_called_in(survey, method, class))
    }

    /// Whether a method may get calls of one's own even if it is left.
    fn is_called_in(&self, survey: &Survey, method: &MethodSurvey, class: &[u8]) -> bool {
        let inserter = self.own_calls.as_ref().filter(|_| self.calls_everywhere && method.has_code);
        inserter.is_some_and(|calls| {
            calls.concerns(survey.name(class), method.name(class), method.descriptor(class))
        })
    }

    /// Which methods that are left get calls of one's own, with the id that these pass, or none.
    fn admit_calls(&mut self, plan: &mut Plan, class: &[u8]) {
        let Ok(survey) = &plan.survey else { return };
        let methods = survey.methods.iter().zip(&plan.ids);
        let wanted: Vec<bool> =
            methods.map(|(method, id)| *id == LEFT && self.is_called_in(survey, method, class)).collect();
        if !wanted.contains(&true) {
            return;
        }
        let pass_ids = self.own_calls.as_ref().is_some_and(|calls| calls.pass_ids());
        let class_ids = match pass_ids {
            true => self.ids.begin_class(survey.name(class), survey.source(class)).ok(),
            false => None,
        };
        for (method, wanted) in survey.methods.iter().zip(wanted) {
            let id =
                class_ids.filter(|_| wanted).and_then(|of| self.ids.assign(of, &method.info(class)).ok());
            self.used.extend(id);
            plan.calls.push(wanted.then_some(id.unwrap_or(LEFT)));
        }
    }

    fn account(&mut self, at: &Location<'_>, mut plan: Plan, rewritten: bool) {
        let totals = &mut self.totals;
        totals.classes += 1;
        totals.classes_rewritten += u64::from(rewritten);
        self.modules += u64::from(plan.verdict == Verdict::Module && at.name() == b"module-info.class");
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
            let mut refused = 0;
            for report in plan.reports() {
                let reason = match report.event {
                    MethodEvent::Skipped(reason) => reason,
                    MethodEvent::Unchanged => Reason::NothingToInsert,
                    MethodEvent::Rewritten(note) => {
                        totals.methods_wrapped +=
                            u64::from(matches!(note, Note::Wrapped | Note::WrappedBare));
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
        if let (Some(observer), Some(record)) = (&mut self.observer, plan.record.take()) {
            let observer = observer.get_mut().unwrap_or_else(PoisonError::into_inner);
            observer(at, &record);
        }
    }

    /// Rewrites the class as its plan says, and keeps the outcome there.
    fn apply(&self, plan: &Plan, class: &[u8], out: &mut Vec<u8>) -> bool {
        match plan.verdict {
            Verdict::Leave(_) => return false,
            Verdict::Module => {
                return match self.runtime.module {
                    ModuleChange::None => false,
                    ModuleChange::AddPackage => module_info::add_package(class, out),
                    ModuleChange::AddRequires => module_info::add_requires(class, out),
                };
            }
            Verdict::Rewrite => {}
        }
        let mut rewriter = lock(&self.rewriters)
            .pop()
            .unwrap_or_else(|| ClassRewriter::with_regions(self.transforms, self.regions.clone()));
        rewriter.leave_invalid();
        rewriter.call(plan.reach);
        rewriter.set_large_methods(self.large_methods);
        rewriter.record_library_calls(
            plan.library_calls.iter().filter(|call| call.id != LEFT).map(|call| (call.index, call.id)),
        );
        rewriter.set_remote_methods(self.remote_methods.clone());
        rewriter.insert_calls(self.own_calls.clone());
        let calls = plan.calls.iter().copied().chain(std::iter::repeat(None));
        let mut ids = plan.ids.iter().zip(calls).filter(|(id, _)| **id != WITHOUT_CODE);
        let left = if self.arrays_everywhere { Choice::Arrays } else { Choice::Leave };
        let choose = |_: &MethodRef<'_>| match ids.next() {
            Some((&LEFT, Some(id))) => Choice::Calls(id),
            None | Some((&LEFT, None)) => left,
            Some((id, _)) => Choice::Rewrite(*id),
        };
        let outcome = rewriter.rewrite(class, choose, out);
        let mut reports = rewriter.reports().to_vec();
        for report in &mut reports {
            if report.event == MethodEvent::Skipped(Reason::NoCode) {
                report.event = MethodEvent::Skipped(self.without_code(plan, class, report.index));
            }
        }
        if !rewriter.region_reports().is_empty() {
            let _ = plan.regions.set(rewriter.region_reports().to_vec());
        }
        lock(&self.rewriters).push(rewriter);
        // The survey has read the same bytes without an error.
        let outcome = outcome.unwrap_or(Outcome::Skipped(Reason::NotAClass));
        let _ = plan.result.set((outcome, reports));
        outcome == Outcome::Rewritten
    }
}

impl Plan {
    /// How the class will call the runtime.
    pub fn call(&mut self, reach: Reach) {
        self.reach = reach;
    }

    /// Leaves the class as it is, for this reason.
    pub fn leave(&mut self, reason: Reason) {
        self.verdict = Verdict::Leave(reason);
    }

    /// Says why native methods of the class that `wanted` (name and descriptor) lets through have no [wrapper](natives::wrap). `reason` is
    /// asked if there are such methods.
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
    fn skipped(&self, rewritten: bool) -> Option<Reason> {
        match (&self.survey, self.verdict, self.result.get()) {
            (Err(_), ..) => Some(Reason::NotAClass),
            (_, Verdict::Leave(reason), _) => Some(reason),
            (_, Verdict::Module, _) if !rewritten => Some(Reason::NotCode),
            (_, _, Some((Outcome::Skipped(reason), _))) => Some(*reason),
            _ => None,
        }
    }

    /// What the rewriter said of the methods.
    fn reports(&self) -> &[MethodReport] {
        self.result.get().map_or(&[], |(_, reports)| reports)
    }

    /// Everything about the class that people may want to know.
    fn record(&self, class: &[u8], rewritten: bool, regions: &[Region]) -> ClassRecord {
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

impl ArchiveClassRewriter for Instrumenter<'_> {
    type Plan = Plan;

    fn plan(&self, at: &Location<'_>, class: &[u8]) -> Plan {
        let mut buffers = lock(&self.buffers).pop().unwrap_or_default();
        let survey = Survey::of(class, &mut buffers);
        lock(&self.buffers).push(buffers);
        let verdict = match &survey {
            Err(_) => Verdict::Leave(Reason::NotAClass),
            // Only the outermost archive can be on a module path. Include patterns speak of classes, so they do
            // not keep its descriptor from being extended; an exclude pattern that matches it does.
            Ok(survey) if survey.refusal == Some(Reason::NotCode) && at.depth() <= 1 => {
                match self.filter.class(survey.name(class)) {
                    ClassVerdict::Skip(reason @ Reason::Excluded) => Verdict::Leave(reason),
                    _ => Verdict::Module,
                }
            }
            Ok(survey) => match (self.filter.class(survey.name(class)), survey.refusal) {
                (ClassVerdict::Skip(reason), _)
                    if !self.is_for_arrays(reason) && !self.is_for_calls(reason, survey, class) =>
                {
                    Verdict::Leave(reason)
                }
                (_, Some(reason)) => Verdict::Leave(reason),
                _ => Verdict::Rewrite,
            },
        };
        let records_calls = self.own.is_some() || self.own_natives.is_some() || self.transforms.waits;
        let library_calls = match verdict {
            Verdict::Rewrite if records_calls => self.library_calls(class),
            _ => Vec::new(),
        };
        Plan {
            survey,
            verdict,
            library_calls,
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

    fn admit(&mut self, _: &Location<'_>, plan: &mut Plan, class: &[u8]) {
        let (Ok(survey), Verdict::Rewrite) = (&plan.survey, plan.verdict) else { return };
        let name = survey.name(class);
        let verdict = self.filter.class(name);
        if matches!(verdict, ClassVerdict::Skip(_)) {
            // Rewritten for its arrays and for calls of one's own alone.
            let id = |has_code: bool| if has_code { LEFT } else { WITHOUT_CODE };
            plan.ids = survey.methods.iter().map(|method| id(method.has_code)).collect();
            return self.admit_calls(plan, class);
        }
        let by_method = verdict == ClassVerdict::ByMethod || self.filter.looks_for_methods();
        let Ok(class_ids) = self.ids.begin_class(name, survey.source(class)) else { return };
        plan.ids.reserve(survey.methods.len());
        for (position, method) in survey.methods.iter().enumerate() {
            if !method.has_code {
                plan.ids.push(WITHOUT_CODE);
                continue;
            }
            let (name_of, descriptor) = (method.name(class), method.descriptor(class));
            let chosen = plan.chosen.as_ref().is_none_or(|chosen| chosen[position]);
            let wanted = chosen && (!by_method || self.filter.method(name, name_of, descriptor).is_ok());
            let id = match wanted {
                true => self.ids.assign(class_ids, &method.info(class)).unwrap_or(LEFT),
                false => LEFT,
            };
            self.use_id(id, name, name_of, descriptor);
            plan.ids.push(id);
        }
        self.admit_calls(plan, class);
        if plan.library_calls.is_empty() {
            return;
        }
        // The survey has read the same bytes without an error.
        let Ok(file) = ClassFile::parse(class) else { return };
        for RecordedCall { index, blocks, id } in &mut plan.library_calls {
            let Ok(callee) = Callee::at(&file.pool, *index) else { continue };
            let declaring = self.native_methods().and_then(|natives| natives.declares_native(&callee));
            let Callee { class, name, descriptor, .. } = callee;
            let class = declaring.as_deref().unwrap_or(class);
            *id = self.ids.assign_library_call(class, name, descriptor, *blocks).unwrap_or(LEFT);
            self.use_id(*id, class, name, descriptor);
        }
    }

    fn rewrite(&self, _: &Location<'_>, plan: &Plan, class: &[u8], out: &mut Vec<u8>) -> bool {
        let rewritten = self.apply(plan, class, out);
        if self.observer.is_some() {
            let _ = plan.record.set(plan.record(class, rewritten, &self.regions));
        }
        rewritten
    }

    fn done(&mut self, at: &Location<'_>, plan: Plan, rewritten: bool) {
        self.account(at, plan, rewritten);
    }

    fn extra_entries(&mut self, _: &Layout) -> Vec<NewEntry> {
        self.output_entries()
    }
}
