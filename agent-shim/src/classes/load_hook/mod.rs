//! A class on its way into the virtual machine: looked at ([`choice`]), numbered, rewritten. No JVMTI here.

mod changes;
mod choice;
mod fixed;
mod kept;
mod probes;
mod regions;
mod roots;
mod unmatched;

use crate::classes::account::Report;
use crate::classes::method_ids::MethodIds;
use crate::classes::rules::{self, Origin};
use crate::classes::subgraph::Subgraph;
use crate::classes::unrewritten;
use crate::heap;
use crate::options::{self, Options};
use crate::recording::children;
use crate::recording::recorder::News;
use crate::talk::say;
use changes::Changes;
use choice::OwnByName;
pub(crate) use choice::pool_of;
pub(crate) use fixed::MACHINE_CLASSES;
use fixed::{machine_work, rewrite_object, rewrite_with};
use instrument_control::word::LibraryCalls;
use instrument_names::id_map::{Entry, IdMap};
use instrument_rewriter::archive::{ClassRewriter, Location};
use instrument_rewriter::class_file::{ClassFile, mutf8};
use instrument_rewriter::filter::Filter;
use instrument_rewriter::instrumenter::{Instrumenter, Plan, Runtime};
use instrument_rewriter::library::jdk;
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::natives;
use instrument_rewriter::rewrite::{Reason, Transforms};
use instrument_rewriter::transform::hooks::Reach;
pub(crate) use kept::Added;
use kept::KeptMethods;
pub(crate) use probes::OwnProbes;
use regions::Regions;
use roots::Roots;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// Rewrites what is to be rewritten, from any number of threads.
pub(crate) struct LoadHook {
    filter: &'static Filter,
    /// For the JDK's classes, if any of those may be rewritten.
    jdk_filter: Option<Arc<Filter>>,
    dump: Option<PathBuf>,
    report: Option<Arc<Mutex<Report>>>,
    /// Remote calls are recorded: the JDK's own classes for them are rewritten, whatever the filters say.
    rmi: bool,
    /// One of them was not as expected, and that was said.
    rmi_differs: AtomicBool,
    /// The constructor of `java.lang.Object` is rewritten.
    object_init: bool,
    /// What classes of the program are rewritten for whatever the filter says of their methods: the arrays and copies that they make, the
    /// requests by HTTP that they make and serve.
    everywhere: Transforms,
    /// Native methods of the program have wrappers.
    native: bool,
    /// `LockSupport` tells who waits for what.
    parks: bool,
    /// Excludes the classes that are not rewritten at all.
    untouched: Filter,
    ids: MethodIds,
    /// Locked after `ids`, by whoever needs both.
    instrumenter: RwLock<Option<Instrumenter<'static>>>,
    /// The names of the classes that have new bytes.
    rewritten: Mutex<HashSet<Vec<u8>>>,
    /// Classes that are loaded have their own bytes until a pause is over.
    is_bare: AtomicBool,
    /// Something went wrong that the next class would meet as well: no class is rewritten any more.
    stopped: AtomicBool,
    roots: Roots,
    kept: KeptMethods,
    /// Methods are recorded.
    pub(crate) records_calls: bool,
    /// Only what the roots can call is rewritten.
    subgraph: Option<Subgraph>,
    /// Less the methods that were excluded since.
    changes: Changes,
    regions: Regions,
    /// Calls of the user's own methods are inserted.
    probes: Option<Arc<OwnProbes>>,
    /// Nothing but regions and calls of the user's own methods is asked for.
    only_regions: bool,
    /// What the virtual machine does in code of the JDK while a method waits for it; none if methods are not timed.
    machine_work: Arc<[Region]>,
    /// A class of the launcher of Spring Boot archives was left as it is.
    launcher_left: AtomicBool,
    /// Classes that were looked at to be rewritten, and the ns that it took, over all threads.
    looked_at: AtomicU64,
    ns: AtomicU64,
}

/// The ids of a recording that has ended, for the next one.
static KEPT: Mutex<Option<&'static mut IdMap>> = Mutex::new(None);

impl LoadHook {
    /// A class has new bytes.
    pub(crate) fn note(&self, name: &[u8]) {
        self.rewritten.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_vec());
    }

    /// The names of the classes that have new bytes, or had them when a bare pause began.
    pub(crate) fn rewritten(&self) -> HashSet<Vec<u8>> {
        self.rewritten.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether classes that are loaded have their own bytes.
    pub(crate) fn is_bare(&self) -> bool {
        self.is_bare.load(SeqCst)
    }

    /// From now on classes that are loaded get their own bytes, or new ones again, when they are retransformed.
    pub(crate) fn be_bare(&self, on: bool) {
        self.is_bare.store(on, SeqCst);
    }

    /// Takes the names of the classes that have new bytes.
    pub(crate) fn take_rewritten(&self) -> HashSet<Vec<u8>> {
        std::mem::take(&mut *self.rewritten.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The recording is over: gives back what takes room. No class is rewritten any more.
    pub(crate) fn close(&self) {
        self.stopped.store(true, Relaxed);
        if let Some(subgraph) = &self.subgraph {
            subgraph.clear();
        }
        let Some(instrumenter) = self.instrumenter.write().ok().and_then(|mut place| place.take()) else {
            return;
        };
        if !self.ids.is_shared() {
            *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(instrumenter.into_ids());
        }
    }

    /// Opens the files that the options name.
    ///
    /// # Errors
    /// What is wrong with which file.
    pub(crate) fn new(options: Options, heap: Option<&options::Heap>) -> Result<LoadHook, String> {
        let named =
            |option: &str, path: &Path, error: io::Error| format!("{option}={}: {error}", path.display());
        let (ids, map) = MethodIds::open(options.ids.as_deref())
            .map_err(|error| named("ids", options.ids.as_deref().unwrap_or(Path::new("")), error))?;
        let report = match &options.report {
            None => None,
            Some(path) => {
                let report = Report::create(path).map_err(|error| named("account", path, error))?;
                Some(Arc::new(Mutex::new(report)))
            }
        };
        if let Some(directory) = &options.dump {
            fs::create_dir_all(directory).map_err(|error| named("dump", directory, error))?;
        }
        // The agent lasts as long as the process.
        let filter: &Filter = Box::leak(Box::new(options.filter));
        // A method has one id for as long as the process lives: a call that is open may still tell of it.
        let kept = options.ids.is_none().then(|| KEPT.lock().unwrap_or_else(PoisonError::into_inner).take());
        let map = kept.flatten().unwrap_or_else(|| Box::leak(Box::new(map)));
        let mut instrumenter = Instrumenter::new(options.transforms, filter, map, Runtime::default());
        let roots = Roots::new(&options.roots)?;
        let subgraph = options.subgraph.then(|| Subgraph::new(roots.patterns()));
        instrumenter.watch(roots.patterns());
        let regions: Arc<[Region]> = options.regions.into();
        instrumenter.time(regions.clone());
        let counts = |(key, value): &(_, String)| *key == "record" && value == "counts";
        let is_timed = options.transforms.method_events && !options.recorder.iter().any(counts);
        let jdk_filter = options.jdk_filter.map(Arc::new);
        let object_init = heap.is_some_and(options::Heap::rewrites_object);
        let everywhere = if object_init || options.transforms.has_requests() {
            instrumenter.record_everywhere();
            options.transforms.beside()
        } else {
            Transforms::NONE
        };
        if options.library_calls != LibraryCalls::None {
            instrumenter.record_library_calls(Arc::new(OwnByName { filter, jdk_filter: jdk_filter.clone() }));
        }
        if options.native {
            instrumenter.expect_wrappers();
        }
        let probes = options.probes.as_deref().map(|path| OwnProbes::open(path).map(Arc::new));
        let probes = probes.transpose()?;
        if let Some(probes) = &probes {
            instrumenter.insert_calls(probes.clone());
            instrumenter.insert_calls_everywhere();
        }
        if let Some(report) = report.clone() {
            instrumenter.observe(Box::new(move |_, record| {
                write(&report, |report| report.record(record));
            }));
        }
        Ok(LoadHook {
            filter,
            jdk_filter,
            dump: options.dump,
            report,
            rmi: options.transforms.rmi,
            rmi_differs: AtomicBool::new(false),
            object_init,
            everywhere,
            native: options.native,
            parks: options.threads.is_some(),
            untouched: options.untouched,
            ids,
            instrumenter: RwLock::new(Some(instrumenter)),
            rewritten: Mutex::default(),
            is_bare: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            roots,
            kept: KeptMethods::new(options.latency),
            records_calls: options.transforms.method_events,
            subgraph,
            changes: Changes::default(),
            probes,
            only_regions: options.transforms == Transforms::NONE,
            machine_work: if is_timed { machine_work() } else { Arc::new([]) },
            regions: Regions::new(regions),
            launcher_left: AtomicBool::new(false),
            looked_at: AtomicU64::new(0),
            ns: AtomicU64::new(0),
        })
    }

    /// Writes a line that is about no class into the account, if there is one.
    pub(crate) fn account_line(&self, line: &str) {
        if let Some(report) = &self.report {
            write(report, |report| report.line(line));
        }
    }

    /// Counts a class, and the time that the thread which loads it had to wait for us.
    pub(crate) fn spent(&self, time: Duration) {
        self.looked_at.fetch_add(1, Relaxed);
        self.ns.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    /// The same so far, and which of the program's classes the rules have left, as properties of the profile.
    pub(crate) fn cost(&self) -> String {
        let (classes, ns) = (self.looked_at.load(Relaxed), self.ns.load(Relaxed));
        let mut text = format!("rewriting.classes={classes}\nrewriting.ns={ns}\n");
        if self.launcher_left.load(Relaxed) {
            text += &format!("rewriting.left={}\n", rules::LAUNCHER);
        }
        text
    }

    /// The rules for calls of the user's own methods.
    pub(crate) fn probes(&self) -> Option<&OwnProbes> {
        self.probes.as_deref()
    }

    /// The recording ends: what became of the rules goes into the account, and to `instrument run`.
    pub(crate) fn account_for_probes(&self) {
        let Some(probes) = &self.probes else { return };
        for line in probes.account() {
            self.account_line(&line);
        }
        children::probes(&probes.outcomes());
    }

    /// What the roots can call, if only that is rewritten.
    pub(crate) fn subgraph(&self) -> Option<&Subgraph> {
        self.subgraph.as_ref()
    }

    fn rmi_differs(&self, name: &[u8], reason: Reason) {
        let name = mutf8::escape(name);
        if let Some(report) = &self.report {
            write(report, |report| report.left(&name, reason));
        }
        if !self.rmi_differs.swap(true, Relaxed) {
            say(format_args!(
                "{name} is not as expected ({reason}): remote calls are recorded in part, or not at all"
            ));
        }
    }

    /// The id of a method, if it was rewritten, in this run or in another that shares its ids.
    #[cfg(target_os = "linux")]
    pub(crate) fn method_id(&self, class: &str, name: &str, descriptor: &str) -> Option<u32> {
        let mut instrumenter = self.instrumenter.write().ok()?;
        instrumenter.as_mut()?.ids().find(class.as_bytes(), name.as_bytes(), descriptor.as_bytes())
    }

    /// Tells of the method with this id, if there is one.
    pub(crate) fn method<T>(&self, id: u32, tell: impl FnOnce(Entry<'_>) -> T) -> Option<T> {
        let mut instrumenter = self.instrumenter.write().ok()?;
        instrumenter.as_mut()?.ids().lookup(id).map(tell)
    }

    /// The class with wrappers of those native methods that are to be recorded, if there are any and it can have them. For a class that is
    /// being loaded.
    pub(crate) fn wrap_natives(&self, origin: Origin, name: &[u8], class: &[u8]) -> Option<Vec<u8>> {
        if !self.native || origin != Origin::Program || !self.may_want(origin, name) {
            return None;
        }
        let mut out = Vec::new();
        let wanted = |method: &[u8], descriptor: &[u8]| self.filter.method(name, method, descriptor).is_ok();
        natives::wrap(class, wanted, &mut out).is_ok_and(|wrapped| wrapped > 0).then_some(out)
    }

    /// Why native methods of a class have no wrapper, which those of others have.
    fn without_wrapper(&self, origin: Origin, name: &[u8], class: &[u8], is_loaded: bool) -> Reason {
        if origin == Origin::Jdk {
            return Reason::NativeOfJdk;
        }
        if is_loaded {
            unrewritten::natives_of_loaded(name);
            return Reason::NativeLoaded;
        }
        natives::wrap(class, |_, _| true, &mut Vec::new()).err().unwrap_or(Reason::NativeLoaded)
    }

    /// The new bytes of a class, if it is to have new ones. `is_loaded`: it has others already. `tell` tells the recorder, before the class can run; it may call anything.
    pub(crate) fn rewrite(
        &self,
        origin: Origin,
        name: &[u8],
        class: &[u8],
        reach: Reach,
        is_loaded: bool,
        tell: impl FnOnce(News),
    ) -> Option<Vec<u8>> {
        if self.object_init && name == heap::OBJECT {
            return rewrite_object(class, reach);
        }
        let special = if self.is_for_parks(origin, name) {
            Some(rewrite_with(Transforms { parks: true, ..Transforms::NONE }, class, reach))
        } else if self.is_machine_work(origin, name) {
            Some(self.rewrite_machine_work(class, reach))
        } else if self.is_rmi_only(origin, name) {
            Some(self.rewrite_for_rmi(name, class))
        } else {
            None
        };
        if let Some(out) = special {
            let out = out?;
            self.dump(name, &out);
            return Some(out);
        }
        if self.only_regions
            && !self.has_region(name)
            && !self.probes.as_ref().is_some_and(|probes| probes.concern_any(class))
        {
            return None;
        }
        let root = Location::root("");
        let at = root.entry(name);
        if self.subgraph.as_ref().is_some_and(|subgraph| !subgraph.wants(name, class)) {
            return None;
        }
        let mut plan = self.instrumenter.read().ok()?.as_ref()?.plan(&at, class);
        plan.call(reach);
        if self.native {
            let wanted =
                |method: &[u8], descriptor: &[u8]| self.filter.method(name, method, descriptor).is_ok();
            plan.explain_natives(class, wanted, || self.without_wrapper(origin, name, class, is_loaded));
        }
        self.choose(&mut plan, origin, name, class);
        let news = match self.number(&at, &mut plan, (name, class)) {
            Ok(news) => news?,
            Err(error) => {
                if !self.stopped.swap(true, Relaxed) {
                    say(format_args!("no class is rewritten from here on: {error}"));
                }
                return None;
            }
        };
        tell(news);
        let mut out = Vec::new();
        let rewritten = self.instrumenter.read().ok()?.as_ref()?.rewrite(&at, &plan, class, &mut out);
        let regions = {
            let mut instrumenter = self.instrumenter.write().ok()?;
            let instrumenter = instrumenter.as_mut()?;
            instrumenter.done(&at, plan, rewritten);
            instrumenter.take_region_records()
        };
        self.regions.account(&regions);
        if !rewritten {
            return None;
        }
        self.dump(name, &out);
        Some(out)
    }

    /// Leaves the methods that are not to be rewritten.
    fn choose(&self, plan: &mut Plan, origin: Origin, name: &[u8], class: &[u8]) {
        let intrinsics =
            if origin == Origin::Jdk { jdk::intrinsics(class).unwrap_or_default() } else { HashSet::new() };
        let mut left: Vec<_> = intrinsics.iter().collect();
        left.sort_unstable();
        for (method, descriptor) in left {
            if self.filter.method(name, method, descriptor).is_ok() {
                unrewritten::intrinsic(name, method, descriptor);
            }
        }
        if self.subgraph.is_some() || self.changes.concern(name) || !intrinsics.is_empty() {
            let selects = |method: &[u8], descriptor: &[u8]| {
                !intrinsics.contains(&(method.to_vec(), descriptor.to_vec()))
                    && self
                        .subgraph
                        .as_ref()
                        .is_none_or(|subgraph| subgraph.selects(name, method, descriptor))
                    && !self.changes.exclude(&self.roots, name, method, descriptor)
            };
            plan.choose(class, selects);
        }
    }

    /// Gives the methods of a class their ids. The state is not locked while the shared file of ids is waited for, read or written. None
    /// after an internal error.
    fn number(
        &self,
        at: &Location<'_>,
        plan: &mut Plan,
        (name, class): (&[u8], &[u8]),
    ) -> io::Result<Option<News>> {
        let mut turn = self.ids.turn()?;
        {
            let Ok(mut instrumenter) = self.instrumenter.write() else { return Ok(None) };
            let Some(instrumenter) = instrumenter.as_mut() else { return Ok(None) };
            turn.read(instrumenter.ids())?;
            instrumenter.admit(at, plan, class);
            turn.take(instrumenter.ids());
        }
        let appended = turn.append();
        let Ok(mut instrumenter) = self.instrumenter.write() else { return Ok(None) };
        let Some(instrumenter) = instrumenter.as_mut() else { return Ok(None) };
        let (used, roots) = (instrumenter.take_used(), instrumenter.take_found());
        appended?;
        let kept = self.kept.among(&used, instrumenter.ids());
        if !used.is_empty() {
            // Under the lock: a request meets the class, or the class has met what was asked for.
            self.note(name);
        }
        Ok(Some(News { map: turn.finish(used, instrumenter.ids())?, roots, kept }))
    }

    fn dump(&self, name: &[u8], class: &[u8]) {
        if let Some(directory) = &self.dump
            && let Err(error) = dump(directory, name, class)
        {
            say(format_args!("{}: {error}", directory.display()));
        }
    }
}

/// The internal name of a class, from its bytes.
pub(crate) fn name_of(class: &[u8]) -> Option<&[u8]> {
    ClassFile::parse(class).ok()?.name().ok()
}

fn write(report: &Mutex<Report>, write: impl FnOnce(&mut Report) -> io::Result<()>) {
    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = write(&mut report) {
        say(format_args!("report: {error}"));
    }
}

/// Writes `a/B.class` below the directory; not, if the name would lead out of it.
fn dump(directory: &Path, name: &[u8], class: &[u8]) -> io::Result<()> {
    let name = mutf8::escape(name);
    if name.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        return Ok(());
    }
    let path = directory.join(format!("{name}.class"));
    fs::create_dir_all(path.parent().unwrap_or(directory))?;
    fs::write(path, class)
}

#[cfg(test)]
mod tests;
