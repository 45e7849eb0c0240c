//! Everything together: classes, alone or in archives, are filtered, numbered, rewritten, and accounted for.
//!
//! An [`Instrumenter`] is what the [`archive`](crate::archive) engine drives. It keeps the promise that every
//! class and every method is accounted for: each ends in a [`ClassRecord`], rewritten or with a reason.

mod account;
mod outside;
mod plan;
mod record;
mod session;

use crate::archive::{ClassRewriter as ArchiveClassRewriter, Layout, Location, NewEntry};
use crate::class_file::Structure;
use crate::code::module_info;
use crate::filter::{ClassVerdict, Filter};
use crate::library::{Callee, Own};
use crate::reason::Reason;
use crate::region::Region;
use crate::remote_methods::RemoteMethods;
use crate::rewrite::natives::Natives;
use crate::rewrite::{Choice, ClassRewriter, LargeMethods, MethodEvent, MethodRef, Outcome, Transforms};
use crate::survey::{MethodSurvey, Survey};
use crate::transform::own_calls::InsertCalls;
use account::Account;
use instrument_names::id_map::{self, IdMap};
use instrument_names::pattern::MethodQuery;
use outside::Outside;
use plan::{LEFT, RecordedCall, Verdict, WITHOUT_CODE};
pub use plan::{Module, Plan};
use rayon::prelude::*;
pub use record::{ClassRecord, MethodRecord, Observer, RegionRecord, Totals};
use session::Session;
use std::sync::{Arc, Mutex, PoisonError};

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

/// Rewrites classes with one filter, one id map and one account.
pub struct Instrumenter<'a> {
    transforms: Transforms,
    filter: &'a Filter,
    session: Session<'a>,
    account: Account<'a>,
    outside: Outside,
    runtime: Runtime,
    /// See [`record_everywhere`](Self::record_everywhere).
    everywhere: bool,
    large_methods: LargeMethods,
    regions: Arc<[Region]>,
    remote_methods: Option<Arc<RemoteMethods>>,
    own_calls: Option<Arc<dyn InsertCalls>>,
    /// See [`insert_calls_everywhere`](Self::insert_calls_everywhere).
    calls_everywhere: bool,
    /// See [`strip_module_hashes`](Self::strip_module_hashes).
    strips_hashes: bool,
    rewriters: Mutex<Vec<ClassRewriter>>,
    /// Of [`Survey::parse`].
    buffers: Mutex<Vec<Vec<u64>>>,
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
            session: Session::new(ids),
            account: Account::default(),
            outside: Outside::default(),
            runtime,
            everywhere: false,
            large_methods: LargeMethods::Leave,
            regions: Arc::default(),
            remote_methods: None,
            own_calls: None,
            calls_everywhere: false,
            strips_hashes: false,
            rewriters: Mutex::default(),
            buffers: Mutex::default(),
        }
    }

    /// Records also what methods make and ask for which the filter leaves out: it chooses events, not what is seen of
    /// the heap and of the network. For transforms with `array_allocation` or one of `remote_http`, `remote_grpc`, `remote_jms`.
    pub fn record_everywhere(&mut self) {
        self.everywhere = true;
    }

    /// What becomes of methods that have no room for their probes. A wrapper adds a method to its class, which
    /// retransformation does not allow: this is for classes that are rewritten before they are loaded.
    pub fn set_large_methods(&mut self, large_methods: LargeMethods) {
        self.large_methods = large_methods;
    }

    /// Sends the record of every class to `observer`.
    pub fn observe(&mut self, observer: Observer<'a>) {
        self.account.observer = Some(Mutex::new(observer));
    }

    /// Times these code regions, in classes that are rewritten from now on. Another list has the regions of the one
    /// before at the same places, if only as those that are off: what is said of them has their place.
    pub fn time(&mut self, regions: Arc<[Region]>) {
        self.regions = regions;
        // They have the list from before.
        lock(&self.rewriters).clear();
    }

    /// Records calls into libraries where they are made: of what is not among these classes, or left out by the filter.
    pub fn record_library_calls(&mut self, own: Arc<dyn Own>) {
        self.outside.own = Some(own);
    }

    /// Records calls of native methods of these classes where they are made, by the classes that declare them.
    pub fn record_native_calls(&mut self, own: Arc<dyn Own>) {
        self.outside.natives = Natives::AtCalls;
        self.outside.own_natives = Some(own);
    }

    /// Classes come with [wrappers](natives::wrap) of their native methods: says of those that have none why.
    pub fn expect_wrappers(&mut self) {
        self.outside.natives = Natives::Wrapped;
    }

    /// Lets `rmi` know which methods can be called from other processes.
    pub fn set_remote_methods(&mut self, remote_methods: RemoteMethods) {
        self.remote_methods = Some(Arc::new(remote_methods));
    }

    /// Inserts calls of one's own as well.
    pub fn insert_calls(&mut self, inserter: Arc<dyn InsertCalls>) {
        self.own_calls = Some(inserter);
    }

    /// Inserts them also into methods that the filter leaves out, or [`Plan::choose`]: those choose what is recorded
    /// then.
    pub fn insert_calls_everywhere(&mut self) {
        self.calls_everywhere = true;
    }

    /// Outcome of the code regions since this was called.
    pub fn take_region_records(&mut self) -> Vec<RegionRecord> {
        std::mem::take(&mut self.account.region_records)
    }

    /// Outcome of the code regions so far, wherever one of their classes was met.
    pub fn region_records(&self) -> &[RegionRecord] {
        &self.account.region_records
    }

    /// Looks out for methods that match each of these patterns.
    pub fn watch(&mut self, patterns: Vec<MethodQuery>) {
        self.session.watched = patterns.into_iter().map(|pattern| (pattern, false)).collect();
    }

    /// Looks out for methods that match one more pattern.
    pub fn watch_also(&mut self, pattern: MethodQuery) {
        self.session.watched.push((pattern, false));
    }

    /// Looks out no more for the pattern at this place; those behind it move up.
    pub fn forget_watched(&mut self, place: usize) {
        self.session.watched.remove(place);
    }

    /// Whether a method that is instrumented matched, for each pattern.
    pub fn seen(&self) -> impl Iterator<Item = bool> + '_ {
        self.session.watched.iter().map(|watched| watched.1)
    }

    /// The ids of the methods that matched a pattern since this was called.
    pub fn take_found(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.session.found)
    }

    /// The totals so far.
    pub fn totals(&self) -> &Totals {
        &self.account.totals
    }

    /// Takes the hashes of other modules out of the descriptors of modules.
    pub fn strip_module_hashes(&mut self) {
        self.strips_hashes = true;
    }

    /// The modules that were met since this was called.
    pub fn take_modules(&mut self) -> Vec<Module> {
        std::mem::take(&mut self.account.met)
    }

    /// How many modular archives were met.
    pub fn modules(&self) -> u64 {
        self.account.modules
    }

    /// Where the first class was met that calls the runtime already. Its ids are of another map: next to ours they
    /// would count for other methods.
    pub fn instrumented(&self) -> Option<&str> {
        self.account.instrumented.as_deref()
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
            self.account.add(at, plan, output.is_some());
        }
        outputs
    }

    /// From now on, outputs get these entries.
    pub fn set_runtime(&mut self, runtime: Runtime) {
        self.runtime = runtime;
    }

    /// The map of ids, for another instrumenter.
    pub fn into_ids(self) -> &'a mut IdMap {
        self.session.ids
    }

    /// The map that ids are taken from.
    pub fn ids(&mut self) -> &mut IdMap {
        self.session.ids
    }

    /// The ids of the methods admitted since this or [`output_entries`](Self::output_entries) was called: sorted, each
    /// once.
    pub fn take_used(&mut self) -> Vec<u32> {
        self.session.take_used()
    }

    /// The entries that the current output needs: the runtime, and the part of the id map that it uses.
    pub fn output_entries(&mut self) -> Vec<NewEntry> {
        let used = self.take_used();
        if used.is_empty() {
            return Vec::new();
        }
        let mut text = Vec::new();
        self.session.ids.write_part(used, &mut text);
        let map =
            NewEntry { name: id_map::ENTRY_NAME.to_owned(), data: id_map::gz::compress(&text), stored: true };
        let mut entries = vec![map];
        entries.extend(self.runtime.entries.iter().cloned());
        entries
    }

    /// Whether a class that the filter leaves out for this reason is rewritten for what it makes and asks for.
    fn is_looked_into(&self, reason: Reason) -> bool {
        self.everywhere && reason != Reason::OwnRuntime
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
            true => self.session.ids.begin_class(survey.name(class), survey.source(class)).ok(),
            false => None,
        };
        for (method, wanted) in survey.methods.iter().zip(wanted) {
            let id = class_ids
                .filter(|_| wanted)
                .and_then(|of| self.session.ids.assign(of, &method.info(class)).ok());
            self.session.used.extend(id);
            plan.calls.push(wanted.then_some(id.unwrap_or(LEFT)));
        }
    }

    /// Changes the descriptor of a module; whether there was something to change.
    fn change_module(&self, class: &[u8], out: &mut Vec<u8>) -> bool {
        let mut stripped = Vec::new();
        let strips = self.strips_hashes && module_info::without_hashes(class, &mut stripped);
        let class = if strips { &stripped } else { class };
        let changed = match self.runtime.module {
            ModuleChange::None => false,
            ModuleChange::AddPackage => module_info::add_package(class, out),
            ModuleChange::AddRequires => module_info::add_requires(class, out),
        };
        if strips && !changed {
            out.extend_from_slice(class);
        }
        changed || strips
    }

    /// Rewrites the class as its plan says, and keeps the outcome there.
    fn apply(&self, plan: &Plan, class: &[u8], out: &mut Vec<u8>) -> bool {
        match plan.verdict {
            Verdict::Leave(_) => return false,
            Verdict::Module => return self.change_module(class, out),
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
        let left = if self.everywhere { Choice::Beside } else { Choice::Leave };
        let choose = |_: &MethodRef<'_>| match ids.next() {
            Some((&LEFT, Some(id))) => Choice::Calls(id),
            None | Some((&LEFT, None)) => left,
            Some((id, _)) => Choice::Rewrite(*id),
        };
        let structure = lock(&plan.structure).take();
        let outcome = match structure.and_then(|structure| structure.with(class)) {
            Some(file) => rewriter.rewrite_parsed(&file, choose, out),
            None => rewriter.rewrite(class, choose, out),
        };
        let mut reports = rewriter.reports().to_vec();
        for report in &mut reports {
            if report.event == MethodEvent::Skipped(Reason::NoCode) {
                report.event =
                    MethodEvent::Skipped(self.outside.without_code(self.filter, plan, class, report.index));
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

impl ArchiveClassRewriter for Instrumenter<'_> {
    type Plan = Plan;

    fn plan(&self, at: &Location<'_>, class: &[u8]) -> Plan {
        let mut buffer = lock(&self.buffers).pop().unwrap_or_default();
        let parsed = Survey::parse(class, Vec::new(), &mut buffer);
        lock(&self.buffers).push(buffer);
        let (survey, file) = match parsed {
            Err(error) => return Plan::new(Err(error), Verdict::Leave(Reason::NotAClass)),
            Ok(parsed) => parsed,
        };
        let name = survey.name(class);
        let verdict = match (self.filter.class(name), survey.refusal) {
            // Only the outermost archive can be on a module path. Include patterns speak of classes, so they do
            // not keep its descriptor from being extended; an exclude pattern that matches it does.
            (ClassVerdict::Skip(reason @ Reason::Excluded), Some(Reason::NotCode)) if at.depth() <= 1 => {
                Verdict::Leave(reason)
            }
            (_, Some(Reason::NotCode)) if at.depth() <= 1 => Verdict::Module,
            (ClassVerdict::Skip(reason), _)
                if !self.is_looked_into(reason) && !self.is_for_calls(reason, &survey, class) =>
            {
                Verdict::Leave(reason)
            }
            (_, Some(reason)) => Verdict::Leave(reason),
            _ => Verdict::Rewrite,
        };
        let mut plan = Plan::new(Ok(survey), verdict);
        if verdict == Verdict::Module {
            let hashes = module_info::hashes(&file);
            plan.module = module_info::name(&file).map(|name| Module { name, hashes });
        }
        if verdict == Verdict::Rewrite {
            if self.outside.records_calls(self.transforms.waits) {
                plan.library_calls = self.outside.recorded(self.filter, self.transforms.waits, &file);
            }
            plan.structure = Mutex::new(Some(Structure::of(file)));
        }
        plan
    }

    fn admit(&mut self, _: &Location<'_>, plan: &mut Plan, class: &[u8]) {
        let (Ok(survey), Verdict::Rewrite) = (&plan.survey, plan.verdict) else { return };
        let name = survey.name(class);
        let verdict = self.filter.class(name);
        if matches!(verdict, ClassVerdict::Skip(_)) {
            // Rewritten for what it makes and asks for, and for calls of one's own, alone.
            let id = |has_code: bool| if has_code { LEFT } else { WITHOUT_CODE };
            plan.ids = survey.methods.iter().map(|method| id(method.has_code)).collect();
            return self.admit_calls(plan, class);
        }
        let by_method = verdict == ClassVerdict::ByMethod || self.filter.looks_for_methods();
        let Ok(class_ids) = self.session.ids.begin_class(name, survey.source(class)) else { return };
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
                true => self.session.ids.assign(class_ids, &method.info(class)).unwrap_or(LEFT),
                false => LEFT,
            };
            self.session.use_id(id, name, name_of, descriptor);
            plan.ids.push(id);
        }
        self.admit_calls(plan, class);
        if plan.library_calls.is_empty() {
            return;
        }
        let structure = lock(&plan.structure).take();
        let Some(file) = structure.and_then(|structure| structure.with(class)) else { return };
        for RecordedCall { index, blocks, id } in &mut plan.library_calls {
            let Ok(callee) = Callee::at(&file.pool, *index) else { continue };
            let declaring =
                self.outside.native_methods(self.filter).and_then(|natives| natives.declares_native(&callee));
            let Callee { class, name, descriptor, .. } = callee;
            let class = declaring.as_deref().unwrap_or(class);
            *id = self.session.ids.assign_library_call(class, name, descriptor, *blocks).unwrap_or(LEFT);
            self.session.use_id(*id, class, name, descriptor);
        }
        plan.structure = Mutex::new(Some(Structure::of(file)));
    }

    fn rewrite(&self, _: &Location<'_>, plan: &Plan, class: &[u8], out: &mut Vec<u8>) -> bool {
        let rewritten = self.apply(plan, class, out);
        if self.account.observer.is_some() {
            let _ = plan.record.set(plan.record(class, rewritten, &self.regions));
        }
        rewritten
    }

    fn done(&mut self, at: &Location<'_>, plan: Plan, rewritten: bool) {
        self.account.add(at, plan, rewritten);
    }

    fn extra_entries(&mut self, _: &Layout) -> Vec<NewEntry> {
        self.output_entries()
    }
}
