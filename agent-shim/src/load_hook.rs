//! A class on its way into the virtual machine: looked at, numbered, rewritten. No JVMTI here.

use crate::class_rules::{self, Origin};
use crate::heap;
use crate::method_ids::MethodIds;
use crate::options::Options;
use crate::recorder::News;
use crate::report::Report;
use crate::talk::say;
use instrument_control::keys;
use instrument_control::word::LibraryCalls;
use instrument_names::id_map::{Entry, IdMap};
use instrument_names::pattern::MethodQuery;
use instrument_rewriter::archive::{ClassRewriter, Location};
use instrument_rewriter::class_file::{ClassFile, mutf8};
use instrument_rewriter::filter::{ClassVerdict, Filter};
use instrument_rewriter::instrumenter::{Instrumenter, Plan, RegionRecord, Runtime};
use instrument_rewriter::library::{self, Own, Resolved};
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::{Choice, ClassRewriter as PlainRewriter, Outcome, SkipReason, Transforms};
use instrument_rewriter::transform::hooks::Reach;
use instrument_rewriter::transform::parks::LOCK_SUPPORT;
use instrument_rewriter::transform::rmi;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
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
    /// Classes of the program are rewritten for the arrays and copies that they make, whatever the filter says of their methods.
    arrays_everywhere: bool,
    /// `LockSupport` tells who waits for what.
    parks: bool,
    /// Excludes the classes that are not rewritten at all.
    untouched: Filter,
    ids: MethodIds,
    /// Locked after `ids`, by whoever needs both.
    instrumenter: RwLock<Option<Instrumenter<'static>>>,
    /// The names of the classes that have new bytes.
    rewritten: Mutex<HashSet<Vec<u8>>>,
    /// Something went wrong that the next class would meet as well: no class is rewritten any more.
    stopped: AtomicBool,
    roots: Vec<String>,
    regions: Arc<[Region]>,
    /// Whether the class of each region was met.
    regions_met: Vec<AtomicBool>,
    /// Nothing but regions is asked for.
    only_regions: bool,
    /// What the virtual machine does in code of the JDK while a method waits for it; none if methods are not timed.
    machine_work: Arc<[Region]>,
    /// A class of the launcher of Spring Boot archives was left as it is.
    launcher_left: AtomicBool,
    /// Classes that were looked at to be rewritten, and the ns that it took, over all threads.
    looked_at: AtomicU64,
    ns: AtomicU64,
}

/// Code of the JDK that the virtual machine runs in the middle of a method, and the number of what it does there (see `MachineWork` in
/// `runtime-java`): its time is no part of the method's own. The virtual machine calls `loadClass` for a class that is not there yet;
/// loaders that have one of their own come to `defineClass`, in which the load hook runs.
const MACHINE_WORK: [(&str, u32); 6] = [
    ("java.lang.ClassLoader#loadClass(Ljava/lang/String;)Ljava/lang/Class;", CLASS_LOADING),
    (
        "java.lang.ClassLoader#defineClass(Ljava/lang/String;[BIILjava/security/ProtectionDomain;)Ljava/lang/Class;",
        CLASS_LOADING,
    ),
    (
        "java.lang.ClassLoader#defineClass(Ljava/lang/String;Ljava/nio/ByteBuffer;Ljava/security/ProtectionDomain;)Ljava/lang/Class;",
        CLASS_LOADING,
    ),
    ("java.lang.invoke.MethodHandleNatives#linkCallSite", DYNAMIC_LINKING),
    ("java.lang.invoke.MethodHandleNatives#linkMethodHandleConstant", DYNAMIC_LINKING),
    ("java.lang.invoke.MethodHandleNatives#linkDynamicConstant", DYNAMIC_LINKING),
];
/// Regions that users name have numbers below this one.
const CLASS_LOADING: u32 = 1 << 31;
const DYNAMIC_LINKING: u32 = CLASS_LOADING + 1;
/// The classes of that code.
pub(crate) const MACHINE_CLASSES: [&str; 2] =
    ["java/lang/ClassLoader", "java/lang/invoke/MethodHandleNatives"];

/// As regions of code.
fn machine_work() -> Arc<[Region]> {
    let region = |&(method, number): &(&str, u32)| {
        let mut region = Region::parse(method).ok()?;
        region.number = number;
        Some(region)
    };
    MACHINE_WORK.iter().filter_map(region).collect()
}

/// The ids of a recording that has ended, for the next one.
static KEPT: Mutex<Option<&'static mut IdMap>> = Mutex::new(None);

impl LoadHook {
    /// A class has new bytes.
    pub(crate) fn note(&self, name: &[u8]) {
        self.rewritten.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_vec());
    }

    /// Takes the names of the classes that have new bytes.
    pub(crate) fn take_rewritten(&self) -> HashSet<Vec<u8>> {
        std::mem::take(&mut *self.rewritten.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The recording is over: gives back what takes room. No class is rewritten any more.
    pub(crate) fn close(&self) {
        self.stopped.store(true, Relaxed);
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
    pub(crate) fn new(options: Options) -> Result<LoadHook, String> {
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
        let kept = if options.ids.is_none() {
            KEPT.lock().unwrap_or_else(PoisonError::into_inner).take()
        } else {
            None
        };
        let map = kept.unwrap_or_else(|| Box::leak(Box::new(map)));
        let mut instrumenter = Instrumenter::new(options.transforms, filter, map, Runtime::default());
        let roots: Result<Vec<_>, _> = options.roots.iter().map(|root| MethodQuery::new(root)).collect();
        instrumenter.watch(roots.map_err(|error| error.to_string())?);
        let regions: Arc<[Region]> = options.regions.into();
        instrumenter.time(regions.clone());
        let counts = |(key, value): &(_, String)| *key == "record" && value == "counts";
        let is_timed = options.transforms.method_events && !options.recorder.iter().any(counts);
        let jdk_filter = options.jdk_filter.map(Arc::new);
        let arrays_everywhere = heap::wants_object_rewritten();
        if arrays_everywhere {
            instrumenter.record_arrays_everywhere();
        }
        if options.library_calls != LibraryCalls::None {
            instrumenter.record_library_calls(Arc::new(OwnByName { filter, jdk_filter: jdk_filter.clone() }));
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
            object_init: arrays_everywhere,
            arrays_everywhere,
            parks: options.threads.is_some(),
            untouched: options.untouched,
            ids,
            instrumenter: RwLock::new(Some(instrumenter)),
            rewritten: Mutex::default(),
            stopped: AtomicBool::new(false),
            roots: options.roots,
            regions_met: regions.iter().map(|_| AtomicBool::new(false)).collect(),
            only_regions: options.transforms == Transforms::NONE,
            machine_work: if is_timed { machine_work() } else { Arc::new([]) },
            regions,
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
            text += &format!("rewriting.left={}\n", class_rules::LAUNCHER);
        }
        text
    }

    /// Whether classes of the JDK may be rewritten.
    pub(crate) fn wants_jdk(&self) -> bool {
        self.jdk_filter.is_some()
    }

    /// Whether what the virtual machine does for a method is to be told apart from the method.
    pub(crate) fn wants_machine_work(&self) -> bool {
        !self.machine_work.is_empty()
    }

    fn is_for_parks(&self, origin: Origin, class: &[u8]) -> bool {
        self.parks && origin == Origin::Jdk && class == LOCK_SUPPORT
    }

    fn is_machine_work(&self, origin: Origin, class: &[u8]) -> bool {
        origin == Origin::Jdk
            && self.wants_machine_work()
            && MACHINE_CLASSES.iter().any(|known| known.as_bytes() == class)
    }

    /// The new bytes of such a class. A method that this JDK does not have is none of the machine's.
    fn rewrite_machine_work(&self, class: &[u8], reach: Reach) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut rewriter = PlainRewriter::with_regions(Transforms::NONE, self.machine_work.clone());
        rewriter.call(reach);
        let outcome = rewriter.rewrite(class, |_| Choice::Rewrite(0), &mut out);
        matches!(outcome, Ok(Outcome::Rewritten)).then_some(out)
    }

    /// Whether a class is to be looked at.
    pub(crate) fn may_want(&self, origin: Origin, class: &[u8]) -> bool {
        self.considers(origin, class) && self.left(origin, class).is_none()
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
        if left == Some(LAUNCHER) {
            self.launcher_left.store(true, Relaxed);
        }
        if let (Some(reason), Some(report)) = (left, &self.report) {
            write(report, |report| report.left(&mutf8::escape(class), reason));
        }
        left.is_none()
    }

    /// As [`may_want`](Self::may_want), for a class that loads before the virtual machine is initialised.
    pub(crate) fn wants_early(&self, origin: Origin, class: &[u8]) -> bool {
        let is_object = self.object_init && origin == Origin::Jdk && class == heap::OBJECT;
        is_object
            || (self.may_want(origin, class)
                && self.may_change(class)
                && !self.is_rmi_only(origin, class)
                && !class_rules::is_waited_in(class))
    }

    /// Whether anything of it is recorded: its methods, by the filter, or its arrays.
    pub(crate) fn may_change(&self, class: &[u8]) -> bool {
        self.arrays_everywhere || !matches!(self.filter.class(class), ClassVerdict::Skip(_))
    }

    /// The class stays as it is because of its loader; its name for people.
    pub(crate) fn left_unreachable(&self, class: &[u8], reason: &'static str) -> String {
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
    fn is_rmi_only(&self, origin: Origin, class: &[u8]) -> bool {
        let whole = |filter: &Filter| filter.class(class) == ClassVerdict::All;
        self.rmi
            && origin == Origin::Jdk
            && rmi::is_internal(class)
            && !self.jdk_filter.as_deref().is_some_and(whole)
    }

    /// The new bytes of a class that is to tell of remote calls and of nothing else.
    fn rewrite_for_rmi(&self, name: &[u8], class: &[u8]) -> Option<Vec<u8>> {
        match rmi::rewrite_internal(class) {
            Ok(out) => Some(out),
            // It came so from `instrument jdk-patch`, with the same hooks.
            Err(SkipReason::AlreadyInstrumented) => None,
            Err(reason) => {
                self.rmi_differs(name, reason);
                None
            }
        }
    }

    fn rmi_differs(&self, name: &[u8], reason: SkipReason) {
        let name = mutf8::escape(name);
        if let Some(report) = &self.report {
            write(report, |report| report.left(&name, reason.as_str()));
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

    /// The new bytes of a class, if it is to have new ones. `tell` tells the recorder, before the class can run; it may call anything.
    pub(crate) fn rewrite(
        &self,
        origin: Origin,
        name: &[u8],
        class: &[u8],
        reach: Reach,
        tell: impl FnOnce(News),
    ) -> Option<Vec<u8>> {
        if self.object_init && name == heap::OBJECT {
            return rewrite_object(class, reach);
        }
        if self.is_for_parks(origin, name) {
            let out = rewrite_with(Transforms { parks: true, ..Transforms::NONE }, class, reach)?;
            self.dump(name, &out);
            return Some(out);
        }
        if self.is_machine_work(origin, name) {
            let out = self.rewrite_machine_work(class, reach)?;
            self.dump(name, &out);
            return Some(out);
        }
        if self.is_rmi_only(origin, name) {
            let out = self.rewrite_for_rmi(name, class)?;
            self.dump(name, &out);
            return Some(out);
        }
        if self.only_regions && !self.regions.iter().any(|region| region.is_in(name)) {
            return None;
        }
        let root = Location::root("");
        let at = root.entry(name);
        let mut plan = self.instrumenter.read().ok()?.as_ref()?.plan(&at, class);
        plan.call(reach);
        let news = match self.number(&at, &mut plan, class) {
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
        self.account(&regions);
        if !rewritten {
            return None;
        }
        self.dump(name, &out);
        Some(out)
    }

    /// Gives the methods of a class their ids. The state is not locked while the shared file of ids is waited for, read or written. None
    /// after an internal error.
    fn number(&self, at: &Location<'_>, plan: &mut Plan, class: &[u8]) -> io::Result<Option<News>> {
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
        Ok(Some(News { map: turn.finish(used, instrumenter.ids())?, roots }))
    }

    fn dump(&self, name: &[u8], class: &[u8]) {
        if let Some(directory) = &self.dump
            && let Err(error) = dump(directory, name, class)
        {
            say(format_args!("{}: {error}", directory.display()));
        }
    }
}

/// No method of `java.lang.Object` has an id: none tells when it is called.
fn rewrite_object(class: &[u8], reach: Reach) -> Option<Vec<u8>> {
    rewrite_with(Transforms { object_init: true, ..Transforms::NONE }, class, reach)
}

/// The new bytes of a class of the JDK whose methods have no ids.
fn rewrite_with(transforms: Transforms, class: &[u8], reach: Reach) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rewriter = PlainRewriter::new(transforms);
    rewriter.call(reach);
    let outcome = rewriter.rewrite(class, |_| Choice::Rewrite(0), &mut out);
    matches!(outcome, Ok(Outcome::Rewritten)).then_some(out)
}

impl LoadHook {
    /// Says of regions why they are not timed.
    fn account(&self, records: &[RegionRecord]) {
        for record in records {
            let met = self.regions_met[record.region].swap(true, Relaxed);
            if let (false, Some(fault)) = (met, &record.fault) {
                say(format_args!("region {} is not timed: {fault}", self.regions[record.region].name));
            }
        }
    }

    /// The patterns that no class and no method has fitted, each with its option.
    pub(crate) fn unmatched(&self) -> Vec<(&'static str, String)> {
        let (mut include, mut exclude) = self.filter.unmatched();
        if let Some((jdk_include, jdk_exclude)) = self.jdk_filter.as_deref().map(Filter::unmatched) {
            // An include pattern that begins with a wildcard is not about the JDK, and not in its filter.
            include.retain(|pattern| pattern.starts_with(['*', '?']) || jdk_include.contains(pattern));
            exclude.retain(|pattern| jdk_exclude.contains(pattern));
        }
        let include = include.into_iter().map(|pattern| (keys::INCLUDE, pattern.to_owned()));
        include.chain(exclude.into_iter().map(|pattern| (keys::EXCLUDE, pattern.to_owned()))).collect()
    }

    /// Says at the end which regions' classes were never loaded. The roots that no method has matched.
    pub(crate) fn missed(&self) -> Vec<String> {
        for (region, met) in self.regions.iter().zip(&self.regions_met) {
            if !met.load(Relaxed) {
                say(format_args!("region {} was not timed: its class was not loaded", region.name));
            }
        }
        self.missing_roots()
    }

    /// The patterns of every option that nothing has fitted so far, each with its option.
    pub(crate) fn unfitted(&self) -> Vec<(&'static str, String)> {
        let roots = self.missing_roots().into_iter().map(|root| (keys::ROOT, root));
        self.unmatched().into_iter().chain(roots).collect()
    }

    fn missing_roots(&self) -> Vec<String> {
        let Ok(instrumenter) = self.instrumenter.read() else { return Vec::new() };
        let Some(instrumenter) = instrumenter.as_ref() else { return Vec::new() };
        let seen = self.roots.iter().zip(instrumenter.seen());
        seen.filter(|(_, seen)| !seen).map(|(root, _)| root.clone()).collect()
    }
}

/// What the agent rewrites, as far as names tell: a class that is called need not be loaded yet.
struct OwnByName {
    filter: &'static Filter,
    jdk_filter: Option<Arc<Filter>>,
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

/// The reason for the launcher of Spring Boot archives.
const LAUNCHER: &str = "archive-launcher";

impl LoadHook {
    /// Why a class stays as it is, if it does: by the user's `no-rewrite`, or by the rules.
    fn left(&self, origin: Origin, class: &[u8]) -> Option<&'static str> {
        match self.untouched.class(class) {
            ClassVerdict::Skip(reason) => Some(reason.name()),
            _ => left(self.filter, origin, class),
        }
    }
}

/// Why the rules leave a class as it is, if they do.
fn left(filter: &Filter, origin: Origin, class: &[u8]) -> Option<&'static str> {
    if class_rules::is_generated(class) {
        Some("generated")
    } else if origin == Origin::Jdk && class_rules::is_needed_by_probes(class) {
        Some("needed-by-probes")
    } else if class_rules::is_launcher(class) && !filter.has_includes() {
        Some(LAUNCHER)
    } else {
        None
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
mod tests {
    use super::*;

    fn hook(options: &str) -> LoadHook {
        LoadHook::new(Options::parse(options).unwrap()).unwrap()
    }

    fn golden() -> Vec<(String, Vec<u8>)> {
        let mut classes = Vec::new();
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "class") {
                    classes.push((path.display().to_string(), fs::read(&path).unwrap()));
                }
            }
        }
        assert!(classes.len() > 100);
        classes
    }

    /// HotSpot lets native code have 80 KiB when Java code has used up its stack, and needs a part of them itself.
    #[test]
    fn little_stack_is_enough() {
        let classes = golden();
        let run = move || {
            let hook = hook("transform=method-events:allocation");
            let rewrite = |(name, class): &(String, Vec<u8>)| {
                hook.rewrite(Origin::Program, name.as_bytes(), class, Reach::Direct, |news| {
                    assert!(news.map.is_none_or(|map| !map.is_empty()))
                })
                .is_some()
            };
            classes.iter().filter(|class| rewrite(class)).count()
        };
        let thread = std::thread::Builder::new().stack_size(40 << 10).spawn(run).unwrap();
        assert!(thread.join().unwrap() > 100);
    }

    #[test]
    fn the_rules_come_before_the_filter() {
        let hook = hook("include=java.util.**:com.acme.**");
        for (origin, class, wanted) in [
            (Origin::Program, "com/acme/Foo", true),
            // Not for the rules to say.
            (Origin::Program, "org/Other", true),
            (Origin::Program, "com/acme/$Proxy1", false),
            (Origin::Jdk, "java/util/HashMap", true),
            (Origin::Jdk, "java/util/Objects", false),
            (Origin::Jdk, "javax/print/Doc", false),
        ] {
            assert_eq!(hook.may_want(origin, class.as_bytes()), wanted, "{class}");
        }
    }

    #[test]
    fn a_pattern_that_a_class_of_the_jdk_fits_is_not_unmatched() {
        let hook = hook("include=java.util.**:**Foo:com.acme.**,exclude=**Inflater:**#never");
        let unmatched = |hook: &LoadHook| {
            let patterns = hook.unmatched();
            patterns
                .iter()
                .map(|(option, pattern)| format!("{option} {pattern}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let nothing =
            "include java.util.**, include **Foo, include com.acme.**, exclude **Inflater, exclude **#never";
        assert_eq!(unmatched(&hook), nothing);
        for class in ["java/util/HashMap", "java/util/zip/Inflater"] {
            hook.may_want(Origin::Jdk, class.as_bytes());
        }
        assert_eq!(unmatched(&hook), "include **Foo, include com.acme.**, exclude **#never");
    }

    #[test]
    fn classes_of_remote_calls_are_rewritten_whatever_the_filters_say() {
        let class = b"sun/rmi/transport/Transport";
        for (options, wanted, alone) in [
            ("transform=method-events:rmi", true, true),
            ("transform=rmi,include=com.acme.**", true, true),
            ("transform=rmi,include=sun.rmi.**", true, false),
            ("transform=rmi,include=sun.rmi.**#run", true, true),
            ("transform=method-events", false, false),
        ] {
            let hook = hook(options);
            assert_eq!(hook.may_want(Origin::Jdk, class), wanted, "{options}");
            assert_eq!(hook.is_rmi_only(Origin::Jdk, class), alone, "{options}");
            assert!(!hook.is_rmi_only(Origin::Jdk, b"sun/rmi/transport/GC"), "{options}");
            assert!(!hook.is_rmi_only(Origin::Program, class), "{options}");
        }
    }

    #[test]
    fn a_class_of_remote_calls_that_is_not_as_expected_stays_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let report = directory.path().join("report");
        let hook = hook(&format!("transform=rmi,report={}", report.display()));
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/rmi-internals");
        for (name, expected) in [("ConnectionInputStream", true), ("ConnectionOutputStream", false)] {
            let name = format!("sun/rmi/transport/{name}");
            let class = fs::read(golden.join(format!("{name}.class"))).unwrap();
            let rewritten =
                hook.rewrite(Origin::Jdk, name.as_bytes(), &class, Reach::Direct, |_| panic!("no ids"));
            assert_eq!(rewritten.is_some(), expected, "{name}");
        }
        assert!(hook.rmi_differs.load(Relaxed));
        let report = fs::read_to_string(report).unwrap();
        assert!(
            report.contains("ConnectionOutputStream") && report.contains("unknown-internals"),
            "{report}"
        );
    }

    #[test]
    fn a_name_does_not_lead_out_of_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("inside");
        for name in ["../x", "a/../../x", "/x", "a//x", ".x"] {
            dump(&inside, name.as_bytes(), b"x").unwrap();
        }
        assert!(!inside.exists());
        dump(&inside, b"a/B", b"x").unwrap();
        assert_eq!(fs::read(inside.join("a/B.class")).unwrap(), b"x");
    }
}
