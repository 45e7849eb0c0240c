//! The seam between the command line and the rewriter: files in, new bytes and an account of them out.
//!
//! The engine reads the inputs itself, one at a time, so that memory holds the largest input and not all of them. It
//! hands out ids in the order of the units and their files, whatever the number of threads. It never writes a file.

use crate::launcher::Launcher;
use crate::settings::{Runtime as RuntimeOption, Settings};
use crate::unit::{FileKind, InputFile, Unit, UnitKind};
use crate::{properties, remarks, runtime};
use anyhow::{Context, Result, bail};
use instrument_analysis::session::lookup::{Given, nothing_fits};
use instrument_control::word::{LibraryCalls, Transform};
use instrument_messages::usage;
use instrument_names::id_map::IdMap;
use instrument_names::mutf8;
use instrument_names::pattern::MethodQuery;
use instrument_rewriter::account::{self, ClassRecord, Outcome, Tally};
use instrument_rewriter::archive::{self, Location};
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::code::module_info::Hashes;
use instrument_rewriter::filter::SubclassIndex;
use instrument_rewriter::instrumenter::{self, Instrumenter, ModuleChange, Runtime};
use instrument_rewriter::library::Inputs;
use instrument_rewriter::remote_methods::RemoteIndex;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// Who takes what the engine makes.
pub trait Sink {
    /// Whether [`record`](Self::record) is of any use.
    fn wants_records(&self) -> bool;

    /// Outcome of a class; in the order of the inputs.
    fn record(&mut self, record: &ClassRecord<'_>) -> Result<()>;

    /// The new bytes of a file, or none if it stays as it is. This or [`archive`](Self::archive) is called once for
    /// every file.
    fn output(&mut self, unit: usize, file: usize, bytes: Option<&[u8]>) -> Result<()>;

    /// A file's new content, written by `write`.
    fn archive(&mut self, unit: usize, file: usize, write: WriteContent<'_>) -> Result<()>;

    /// A file to add to a directory: the runtime, the id map. `name` is relative, with `/`.
    fn extra(&mut self, unit: usize, name: &str, bytes: &[u8]) -> Result<()>;

    /// A file to put beside the output: the runtime as a jar.
    fn beside(&mut self, unit: usize, name: &str, bytes: &[u8]) -> Result<()>;

    /// `bytes` more of the input are done.
    fn advance(&mut self, bytes: u64, name: &str);

    /// Something the user should know.
    fn note(&self, message: std::fmt::Arguments<'_>);

    /// Something that may be a mistake of the user's.
    fn warn(&self, message: std::fmt::Arguments<'_>);
}

/// Writes a file's new content.
pub type WriteContent<'a> = &'a mut dyn FnMut(&mut (dyn Write + Send)) -> Result<()>;

/// Classes that lie in no archive are rewritten in batches of about this many bytes.
const BATCH: u64 = 16 << 20;

/// Finds the subclasses that `--subclasses-of` names, over all inputs, and restricts the filter to them.
///
/// # Errors
/// An input that cannot be read.
pub fn restrict_to_subclasses(units: &[Unit], settings: &mut Settings) -> Result<()> {
    if settings.subclasses_of.is_empty() {
        return Ok(());
    }
    let mut index = SubclassIndex::new();
    visit_classes(units, |class| {
        let (Ok(name), Ok(above)) = (class.name(), class.super_name()) else { return };
        let interfaces = class.interfaces().filter_map(|interface| class.pool.class_name(interface).ok());
        index.add(name, above, interfaces);
    })?;
    settings.filter.restrict_to(index.resolve(&settings.subclasses_of));
    Ok(())
}

/// Finds what can only be known of all inputs together: the methods that other processes can call, and what is no
/// library.
fn survey(units: &[Unit], settings: &Settings, instrumenter: &mut Instrumenter<'_>) -> Result<()> {
    let mut remote = settings.transforms.contains(&Transform::Rmi).then(RemoteIndex::default);
    let calls = settings.library_calls != LibraryCalls::None;
    let mut inputs = (calls || settings.native).then(Inputs::new);
    if remote.is_none() && inputs.is_none() {
        return Ok(());
    }
    visit_classes(units, |class| {
        if let Some(remote) = &mut remote {
            // What cannot be read is told of when it is rewritten.
            let _ = remote.add(class);
        }
        if let Some(inputs) = &mut inputs {
            inputs.add(class);
        }
    })?;
    if let Some(methods) = remote.and_then(RemoteIndex::resolve) {
        instrumenter.set_remote_methods(methods);
    }
    if let Some(inputs) = inputs.map(Arc::new) {
        if settings.native {
            instrumenter.record_native_calls(inputs.clone());
        }
        if calls {
            instrumenter.record_library_calls(inputs);
        }
    }
    Ok(())
}

/// Reads all classes of all inputs that are to be rewritten. What is no class is dealt with then.
pub fn visit_classes(units: &[Unit], mut visit: impl FnMut(&ClassFile<'_>)) -> Result<()> {
    let mut add = |bytes: &[u8]| {
        if let Ok(class) = ClassFile::parse(bytes) {
            visit(&class);
        }
    };
    for unit in units {
        for file in &unit.files {
            let bytes = read(file)?;
            match file.kind {
                FileKind::ClassFile => add(&bytes),
                FileKind::Archive => {
                    let limits = archive::Limits::default();
                    archive::visit_reached_classes(&unit.name_of(file), &bytes, &limits, &mut |class| {
                        add(class.bytes);
                        ControlFlow::Continue(())
                    })?;
                }
            }
        }
    }
    Ok(())
}

/// Rewrites all units.
///
/// # Errors
/// The first input that cannot be read or must be refused; the sink's own errors.
pub fn run(units: &[Unit], settings: &Settings, ids: &mut IdMap, sink: &mut dyn Sink) -> Result<Tally> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.jobs).build()?;
    let records = Records::default();
    let mut instrumenter = instrumenter(units, settings, ids)?;
    if sink.wants_records() {
        let records = records.clone();
        instrumenter.observe(Box::new(move |at, record| records.push(at.to_string(), record.clone())));
    }
    let mut engine = Engine {
        units,
        settings,
        pool,
        instrumenter,
        records,
        sink,
        modular: None,
        hashes: Vec::new(),
        changed_modules: HashSet::new(),
        launched: 0,
    };
    for unit in 0..units.len() {
        engine.unit(unit)?;
    }
    engine.refuse_hashes()?;
    if settings.launcher.is_some() && engine.launched == 0 {
        return Err(usage(
            "--launcher-agent: no input is a jar with a Main-Class, and only java -jar starts a launcher agent; \
             for other programs use instrument jdk-patch",
        ));
    }
    if settings.runtime == RuntimeOption::Classpath && !units.is_empty() && settings.records() {
        engine.sink.beside(0, runtime::JAR_NAME, &runtime::jar()?)?;
    }
    if remarks::links_nothing(Transform::set(&settings.transforms), settings.record) {
        engine.sink.warn(format_args!(
            "thread-links and hand-over link the contexts that method-events records, and it is not among the transforms"
        ));
    }
    if let Some(text) = remarks::wrapped(engine.instrumenter.totals()) {
        engine.sink.note(format_args!("{text}"));
    }
    if let Some(text) = remarks::wrapped_bare(engine.instrumenter.totals()) {
        engine.sink.warn(format_args!("{text}"));
    }
    remarks::check_regions(&settings.regions, engine.instrumenter.region_records())?;
    let mut tally = Tally { unmatched: engine.warn_of_unmatched()?, ..Tally::default() };
    tally.add_totals(engine.instrumenter.totals());
    Ok(tally)
}

/// The rewriter with all settings, and with what the inputs together tell it.
fn instrumenter<'a>(units: &[Unit], settings: &'a Settings, ids: &'a mut IdMap) -> Result<Instrumenter<'a>> {
    let transforms = Transform::set(&settings.transforms);
    let mut instrumenter = Instrumenter::new(transforms, &settings.filter, ids, Runtime::default());
    instrumenter.set_large_methods(settings.large_methods.into());
    instrumenter.time(settings.regions.iter().cloned().collect());
    survey(units, settings, &mut instrumenter)?;
    if settings.strip_signatures {
        instrumenter.strip_module_hashes();
    }
    let roots = settings.roots.iter().map(|root| MethodQuery::new(root));
    let watched = roots.chain(settings.latency.iter().map(|kept| Ok(kept.pattern.clone())));
    instrumenter.watch(watched.collect::<Result<_, _>>()?);
    if let Some(inserter) = &settings.own_calls {
        instrumenter.insert_calls(inserter.clone());
        instrumenter.insert_calls_everywhere();
    }
    Ok(instrumenter)
}

/// The names of a class and of its methods, as reports have them.
pub fn add_names(class: &ClassFile<'_>, names: &mut Vec<String>) {
    let Ok(name) = class.name() else { return };
    let name = mutf8::escape(name).replace('/', ".");
    let mut methods = class.methods();
    while let Ok(Some(method)) = methods.next() {
        if let (Ok(method), Ok(descriptor)) = (method.name(&class.pool), method.descriptor(&class.pool)) {
            names.push(format!("{name}.{}{}", mutf8::escape(method), mutf8::escape(descriptor)));
        }
    }
    names.push(name);
}

/// Records on their way from the rewriter to the sink.
#[derive(Clone, Default)]
struct Records(Arc<Mutex<Vec<(String, instrumenter::ClassRecord)>>>);

impl Records {
    fn push(&self, at: String, record: instrumenter::ClassRecord) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((at, record));
    }

    fn take(&self) -> Vec<(String, instrumenter::ClassRecord)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Engine<'a> {
    units: &'a [Unit],
    settings: &'a Settings,
    pool: rayon::ThreadPool,
    instrumenter: Instrumenter<'a>,
    records: Records,
    sink: &'a mut dyn Sink,
    /// The first modular archive that the runtime was embedded in.
    modular: Option<String>,
    /// The hashes of other modules that modules record.
    hashes: Vec<Hashes>,
    /// The modules whose archives have changed.
    changed_modules: HashSet<String>,
    /// How many archives have got a launcher agent.
    launched: usize,
}

impl<'a> Engine<'a> {
    fn unit(&mut self, index: usize) -> Result<()> {
        let unit = &self.units[index];
        let records = self.settings.records();
        let embed = self.settings.runtime == RuntimeOption::Embed && records;
        let launcher = self.launcher(unit)?;
        self.launched += usize::from(launcher.is_some());
        let mut entries = Vec::new();
        if records {
            entries.push(properties::properties(&unit.profile_name(), self.settings, launcher.is_some()));
        }
        if embed {
            entries.extend(runtime::classes());
        }
        let module = match self.settings.runtime {
            RuntimeOption::Embed => ModuleChange::AddPackage,
            RuntimeOption::Classpath => ModuleChange::AddRequires,
            RuntimeOption::None => ModuleChange::None,
        };
        let module = if records { module } else { ModuleChange::None };
        self.instrumenter.set_runtime(Runtime { entries, module });
        let mut loose = Vec::new();
        for (position, file) in unit.files.iter().enumerate() {
            match file.kind {
                FileKind::Archive => self.archive(index, position, launcher)?,
                FileKind::ClassFile => loose.push(position),
            }
        }
        self.loose(index, &loose)
    }

    /// Warns of each pattern that fits no class and no method, and counts them.
    fn warn_of_unmatched(&mut self) -> Result<u64> {
        let settings = self.settings;
        let roots = settings.roots.iter().map(|root| ("--root", &**root));
        let watched = roots.chain(settings.latency.iter().map(|kept| ("--latency", &*kept.text)));
        let unseen = watched.zip(self.instrumenter.seen()).filter(|(_, seen)| !seen);
        let mut unmatched: Vec<(&str, &str)> = unseen.map(|(given, _)| given).collect();
        let (include, exclude) = settings.filter.unmatched();
        unmatched.extend(include.into_iter().map(|pattern| ("--include", pattern)));
        unmatched.extend(exclude.into_iter().map(|pattern| ("--exclude", pattern)));
        if unmatched.is_empty() {
            return Ok(0);
        }
        let mut names = Vec::new();
        visit_classes(self.units, |class| add_names(class, &mut names))?;
        for (name, pattern) in &unmatched {
            let given = Given { name, what: "class and no method" };
            self.sink.warn(format_args!("{}", nothing_fits(given, pattern, &names)));
        }
        Ok(unmatched.len() as u64)
    }

    /// The launcher agent for a unit, if it is to have one and can have one.
    fn launcher(&self, unit: &Unit) -> Result<Option<&'a Launcher>> {
        let Some(launcher) = &self.settings.launcher else { return Ok(None) };
        match (unit.kind, &unit.files[..]) {
            (UnitKind::Archive, [file]) => {
                let fits = Launcher::fits(&unit.name_of(file), &read(file)?)?;
                Ok(fits.then_some(launcher))
            }
            _ => Ok(None),
        }
    }

    fn archive(&mut self, unit_index: usize, position: usize, launcher: Option<&Launcher>) -> Result<()> {
        let unit = &self.units[unit_index];
        let file = &unit.files[position];
        let name = unit.name_of(file);
        let bytes = read(file)?;
        let mut options = archive::Options {
            strip_signatures: self.settings.strip_signatures,
            level: self.settings.level.get().into(),
            ..archive::Options::default()
        };
        if let Some(launcher) = launcher {
            launcher.add_to(&mut options);
        }
        let modules = self.instrumenter.modules();
        let (pool, instrumenter) = (&self.pool, &mut self.instrumenter);
        let (mut skipped, mut changed) = (Vec::new(), false);
        self.sink.archive(unit_index, position, &mut |out| {
            let outcome = pool.install(|| archive::rewrite(&name, &bytes, out, instrumenter, &options))?;
            (skipped, changed) = (outcome.skipped, outcome.changed);
            Ok(())
        })?;
        for module in self.instrumenter.take_modules() {
            self.hashes.extend(module.hashes);
            self.changed_modules.extend(Some(module.name).filter(|_| changed));
        }
        if self.instrumenter.modules() > modules
            && self.settings.runtime == RuntimeOption::Embed
            && self.settings.records()
            && let Some(first) = self.modular.replace(name.clone())
        {
            return Err(usage(format!(
                "{first} and {name} are both modules, and only one of them can hold the runtime; \
                     use --runtime classpath and put {} on the module path",
                runtime::JAR_NAME
            )));
        }
        self.refuse_instrumented()?;
        self.pass_records_on(unit)?;
        for skipped in skipped {
            let entry = skipped.at.strip_prefix(&format!("{name}!")).unwrap_or(&skipped.at);
            let detail = skipped.reason.to_string();
            self.sink.record(&ClassRecord {
                input: Some(&unit.label),
                entry: Some(entry),
                class: None,
                outcome: Outcome::Skipped,
                reason: Some(skipped.reason.reason()),
                detail: Some(&detail),
                methods: &[],
            })?;
        }
        self.sink.advance(file.size, &unit.label);
        Ok(())
    }

    /// Rewrites the class files at `positions` and gives every root of a class path that they show what it needs.
    fn loose(&mut self, unit_index: usize, positions: &[usize]) -> Result<()> {
        if positions.is_empty() {
            return Ok(());
        }
        let unit = &self.units[unit_index];
        let mut roots = BTreeSet::new();
        let mut rest = positions;
        while !rest.is_empty() {
            let mut size = 0;
            let count = rest
                .iter()
                .take_while(|position| {
                    let fits = size < BATCH;
                    size += unit.files[**position].size;
                    fits
                })
                .count();
            let (batch, behind) = rest.split_at(count);
            rest = behind;
            let contents = batch.iter().map(|p| read(&unit.files[*p])).collect::<Result<Vec<_>>>()?;
            let entries: Vec<String> =
                batch.iter().map(|p| unit.files[*p].entry.clone().unwrap_or_default()).collect();
            let root = Location::root(&unit.label);
            let classes: Vec<(Location<'_>, &[u8])> = (entries.iter().zip(&contents))
                .map(|(entry, bytes)| {
                    (if entry.is_empty() { root } else { root.entry(entry.as_bytes()) }, &bytes[..])
                })
                .collect();
            let (pool, instrumenter) = (&self.pool, &mut self.instrumenter);
            let outputs = pool.install(|| instrumenter.rewrite_loose(&classes));
            self.refuse_instrumented()?;
            for (((&position, entry), bytes), output) in
                batch.iter().zip(&entries).zip(&contents).zip(outputs)
            {
                if output.is_some() {
                    roots.extend(class_path_root(entry, bytes));
                }
                self.sink.output(unit_index, position, output.as_deref())?;
                self.sink.advance(unit.files[position].size, &unit.label);
            }
            self.pass_records_on(unit)?;
        }
        let extras = self.instrumenter.output_entries();
        if unit.kind == UnitKind::ClassFile {
            let embeds = self.settings.runtime == RuntimeOption::Embed && self.settings.records();
            if !extras.is_empty() && embeds {
                self.sink.note(format_args!(
                    "{}: a class file cannot contain the runtime; --runtime classpath writes it as {}",
                    unit.label,
                    runtime::JAR_NAME
                ));
            }
            return Ok(());
        }
        // The root of a tree of class paths has the map for those who look it up there.
        if let Some(map) = extras.first().filter(|_| !roots.contains("")) {
            self.sink.extra(unit_index, &map.name, &map.data)?;
        }
        for root in roots {
            for entry in &extras {
                self.sink.extra(unit_index, &format!("{root}{}", entry.name), &entry.data)?;
            }
        }
        Ok(())
    }

    /// Refuses a class that was rewritten before: its ids are of another map, so its calls would count for other
    /// methods. The JVM starts with no module whose content has another hash than one that another module records. They
    /// are like signatures.
    fn refuse_hashes(&self) -> Result<()> {
        if self.settings.strip_signatures {
            return Ok(());
        }
        for hashes in &self.hashes {
            if let Some(module) = hashes.of.iter().find(|module| self.changed_modules.contains(*module)) {
                let by = &hashes.by;
                return Err(usage(format!(
                    "module {by} records the hash of module {module} (jar --hash-modules), which changes: the JVM would not \
                     start; --strip-signatures takes the hashes away"
                )));
            }
        }
        Ok(())
    }

    fn refuse_instrumented(&self) -> Result<()> {
        match self.instrumenter.instrumented() {
            Some(at) => bail!("{at}: already instrumented: it calls the instrument runtime"),
            None => Ok(()),
        }
    }

    fn pass_records_on(&mut self, unit: &Unit) -> Result<()> {
        for (at, record) in self.records.take() {
            let entry = at.split_once('!').map(|(_, entry)| entry);
            let (input, sink) = (Some(unit.label.as_str()), &mut *self.sink);
            account::with_record(input, entry, &record, |record| sink.record(record))?;
        }
        Ok(())
    }
}

fn read(file: &InputFile) -> Result<Vec<u8>> {
    fs::read(&file.path).with_context(|| file.path.display().to_string())
}

/// The root of the class path that the class file at `entry` lies in, with a final `/`: `classes/` for
/// `classes/com/acme/Foo.class`. None if its path is not the one that its name asks for.
fn class_path_root(entry: &str, class: &[u8]) -> Option<String> {
    let class = ClassFile::parse(class).ok()?;
    let name = std::str::from_utf8(class.name().ok()?).ok()?;
    let root = entry.strip_suffix(".class")?.strip_suffix(name)?;
    let root = match root.split_once("META-INF/versions/") {
        Some((root, _)) => root,
        None => root,
    };
    (root.is_empty() || root.ends_with('/')).then(|| root.to_owned())
}
