//! The module image of a JDK, with classes of it rewritten and the recorder in it.
//!
//! | resource of java.base | what it is for |
//! |---|---|
//! | `java/lang/InstrumentProbes.class` | what inserted code calls; it calls nobody until the virtual machine is initialised |
//! | `java/lang/System.class` | its last step of start-up, `initPhase3`, tells that class so |
//! | `instrument/runtime/*.class` | the recorder: every module reads java.base, which exports the package; the program's class loaders find it before any other copy |
//! | `module-info.class` | has and exports that package |
//! | `jdk/internal/module/Builder.class` | tells the next one of every descriptor that is made without reading it |
//! | `jdk/internal/module/InstrumentModules.class` | adds that package to the descriptor of java.base |
//! | `META-INF/instrument/*` | the id map, which the recorder copies into profiles; what was inserted |
//!
//! Nothing of it names a directory: the JDK can be moved.

use anyhow::{Context, Result, bail, ensure};
use instrument_messages::usage;
use instrument_names::id_map::{self, IdMap, gz};
use instrument_rewriter::account::Tally;
use instrument_rewriter::archive::{ClassRewriter as _, Location};
use instrument_rewriter::filter::{ClassVerdict, Filter};
use instrument_rewriter::instrumenter::{ClassRecord, Instrumenter, Plan, Runtime};
use instrument_rewriter::library::jdk;
use instrument_rewriter::reason::Reason;
use instrument_rewriter::rewrite::rmi_internals;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, Outcome, Transforms, module_info};
use instrument_rewriter::transform::hooks::{BOOT_PROBES, Reach};
use instrument_rewriter::transform::own_calls::{Call, Calls, InsertCalls, Method, Value};
use instrument_rewriter::transform::rmi;
use instrument_rewriter::transform::{boot_modules, boot_probes};
use instrument_runtime::CLASSES;
use instrument_verifier::image::Image;
use instrument_verifier::image::writer::Changes;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};

/// The module that all others read, and whose classes are there first.
const BASE: &str = "java.base";
/// The first id without a shared file. Below are those of archives that are rewritten without one, and those that the
/// agent gives.
pub const FIRST_ID: u32 = 3 << 19;
/// The method of `java.lang.System` that the virtual machine calls last of all before it is initialised.
const LAST_PHASE: (&str, &str) = ("initPhase3", "()V");
const PROPERTIES: &str = "META-INF/instrument/jdk-image.properties";
/// What is to be rewritten.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// Only these; empty: all.
    pub modules: &'a [String],
    /// Only the methods that it lets through.
    pub filter: &'a Filter,
    pub transforms: Transforms,
    /// The same in the words of profiles.
    pub selection: String,
}

/// Its outcome.
#[derive(Debug)]
pub struct Rewritten {
    /// The resources of the new image that differ.
    pub changes: Changes,
    /// What became of classes and methods.
    pub tally: Tally,
    /// Every class that the filter lets through, as `module/class`.
    pub records: Vec<(String, ClassRecord)>,
    /// The ids of the methods that were rewritten.
    pub ids: HashSet<u32>,
}

/// A class of the image.
struct Source {
    module: String,
    /// Its entry in the module: `java/util/List.class`.
    entry: String,
    bytes: Vec<u8>,
}

/// Rewrites what is wanted.
///
/// # Errors
/// The image is damaged, was rewritten before, or is not as that of a JDK that is supported.
pub fn rewrite(image: &mut Image<File>, wanted: &Wanted<'_>, ids: &mut IdMap) -> Result<Rewritten> {
    let probes = format!("{BOOT_PROBES}.class");
    if is_rewritten(image)? {
        bail!("this JDK was rewritten before: give --java-home the JDK that it was made from");
    }
    let sources = sources(image, wanted)?;
    let records = Arc::new(Mutex::new(Vec::new()));
    let mut rewritten = Rewritten {
        changes: Changes::default(),
        tally: Tally::default(),
        records: Vec::new(),
        ids: HashSet::new(),
    };
    let mut instrumenter = Instrumenter::new(wanted.transforms, wanted.filter, ids, Runtime::default());
    let observed = records.clone();
    instrumenter.observe(Box::new(move |at, record| {
        observed.lock().unwrap_or_else(PoisonError::into_inner).push((at.to_string(), record.clone()));
    }));
    let outputs = rewrite_all(&mut instrumenter, &sources);
    let used = instrumenter.take_used();
    rewritten.tally.add_totals(instrumenter.totals());
    let mut map = Vec::new();
    instrumenter.ids().write_part(used.iter().copied(), &mut map);
    drop(instrumenter);
    rewritten.ids.extend(used);
    rewritten.records = std::mem::take(&mut *records.lock().unwrap_or_else(PoisonError::into_inner));
    let resources = &mut rewritten.changes.resources;
    for (source, output) in sources.iter().zip(outputs) {
        if let Some(output) = output {
            resources.insert(format!("/{}/{}", source.module, source.entry), output);
        }
    }
    if wanted.transforms.rmi {
        remote_calls(image, wanted, resources)?;
    }
    let mut add = |path: &str, bytes: Vec<u8>| resources.insert(format!("/{BASE}/{path}"), bytes);
    add(&probes, boot_probes::image_class());
    for (name, bytes) in CLASSES {
        add(name, bytes.to_vec());
    }
    add(id_map::ENTRY_NAME, gz::compress(&map));
    add(PROPERTIES, crate::properties::of_image(&wanted.selection));
    add(&format!("{}.class", boot_modules::BOOT_MODULES), boot_modules::class());
    for inserted in [Inserted::at_the_end_of_start_up()?, Inserted::where_descriptors_are_made()?] {
        let (name, bytes) = of_base(image, inserted.class)?;
        add(&name, inserted.insert_into(&bytes)?);
    }
    let (name, descriptor) = of_base(image, "module-info")?;
    let mut exporting = Vec::new();
    ensure!(
        module_info::add_exported_package(&descriptor, &mut exporting),
        "the descriptor of {BASE} is not as expected; supported and tested are 11, 17, 21 and 25"
    );
    add(&name, exporting);
    let package = module_info::RUNTIME_PACKAGE.replace('/', ".");
    rewritten.changes.packages.push((package, BASE.to_owned()));
    Ok(rewritten)
}

/// Whether an image was rewritten before.
///
/// # Errors
/// The image is damaged.
pub fn is_rewritten(image: &mut Image<File>) -> Result<bool> {
    Ok(image.resource(BASE, &format!("{BOOT_PROBES}.class"))?.is_some())
}

/// The classes that the filter lets through.
fn sources(image: &mut Image<File>, wanted: &Wanted<'_>) -> Result<Vec<Source>> {
    let names = image.names()?;
    let known: BTreeSet<&str> =
        names.iter().filter_map(|name| name[1..].split_once('/')).map(|(module, _)| module).collect();
    if let Some(unknown) = wanted.modules.iter().find(|module| !known.contains(module.as_str())) {
        return Err(usage(format!("--modules {unknown}: this JDK has no such module")));
    }
    let mut found: Vec<(&str, &str)> = Vec::new();
    for name in &names {
        let Some((module, entry)) = name.strip_prefix('/').and_then(|name| name.split_once('/')) else {
            continue;
        };
        let Some(class) = entry.strip_suffix(".class").filter(|class| *class != "module-info") else {
            continue;
        };
        let is_wanted = wanted.modules.is_empty() || wanted.modules.iter().any(|of| of == module);
        let events = wanted.transforms != Transforms { rmi: true, ..Transforms::NONE };
        if events && is_wanted && !matches!(wanted.filter.class(class.as_bytes()), ClassVerdict::Skip(_)) {
            found.push((module, entry));
        }
    }
    // Ids do not depend on where in the file a class lies.
    found.sort_unstable();
    let read = |(module, entry): (&str, &str)| {
        let bytes = image.resource(module, entry)?.with_context(|| format!("no {entry} in {module}"))?;
        Ok(Source { module: module.to_owned(), entry: entry.to_owned(), bytes })
    };
    found.into_iter().map(read).collect()
}

/// Whether a class can have probes at all.
fn can_have_probes(class: &str) -> bool {
    let class = class.as_bytes();
    !jdk::is_needed_by_probes(class) && !jdk::is_waited_in(class) && !jdk::runs_virtual_threads(class)
}

fn rewrite_all(instrumenter: &mut Instrumenter<'_>, sources: &[Source]) -> Vec<Option<Vec<u8>>> {
    let located = |source: &Source, visit: &mut dyn FnMut(&Location<'_>)| {
        let root = Location::root(&source.module);
        visit(&root.entry(source.entry.as_bytes()));
    };
    let this = &*instrumenter;
    let mut plans: Vec<Plan> = sources
        .par_iter()
        .map(|source| {
            let mut made = None;
            located(source, &mut |at| {
                let mut plan = this.plan(at, &source.bytes);
                plan.call(Reach::Boot);
                let class = source.entry.trim_end_matches(".class");
                let left = if can_have_probes(class) { jdk::intrinsics(&source.bytes) } else { None };
                match left {
                    None => plan.leave(Reason::NeededByProbes),
                    Some(left) => plan.choose(&source.bytes, |name, descriptor| {
                        !left.contains(&(name.to_vec(), descriptor.to_vec()))
                    }),
                }
                made = Some(plan);
            });
            made.expect("it was visited")
        })
        .collect();
    for (source, plan) in sources.iter().zip(&mut plans) {
        located(source, &mut |at| instrumenter.admit(at, plan, &source.bytes));
    }
    let this = &*instrumenter;
    let outputs: Vec<Option<Vec<u8>>> = sources
        .par_iter()
        .zip(&plans)
        .map(|(source, plan)| {
            let mut out = Vec::new();
            let mut rewritten = false;
            located(source, &mut |at| rewritten = this.rewrite(at, plan, &source.bytes, &mut out));
            rewritten.then_some(out)
        })
        .collect();
    for ((source, plan), output) in sources.iter().zip(plans).zip(&outputs) {
        let mut plan = Some(plan);
        located(source, &mut |at| {
            if let Some(plan) = plan.take() {
                instrumenter.done(at, plan, output.is_some());
            }
        });
    }
    outputs
}

/// Rewrites the classes for remote calls that have no method events.
fn remote_calls(
    image: &mut Image<File>,
    wanted: &Wanted<'_>,
    resources: &mut std::collections::BTreeMap<String, Vec<u8>>,
) -> Result<()> {
    for name in rmi::internals() {
        let path = format!("/{}/{name}.class", rmi::MODULE);
        let has_all = wanted.transforms.method_events
            && resources.contains_key(&path)
            && wanted.filter.class(name.as_bytes()) == ClassVerdict::All;
        if has_all {
            continue;
        }
        let class = image.resource(rmi::MODULE, &format!("{name}.class"))?;
        let class = class.with_context(|| {
            format!("there is no class {name} in a module {}: leave rmi out of --transform", rmi::MODULE)
        })?;
        let new = rmi_internals::rewrite_internal(&class).map_err(|reason| {
            anyhow::anyhow!("{} is not as expected ({})", name.replace('/', "."), reason.as_str())
        })?;
        resources.insert(path, new);
    }
    Ok(())
}

/// A class of java.base: its entry, and its bytes.
fn of_base(image: &mut Image<File>, class: &str) -> Result<(String, Vec<u8>)> {
    let entry = format!("{class}.class");
    let bytes = image.resource(BASE, &entry)?.with_context(|| format!("{BASE} has no {entry}"))?;
    Ok((entry, bytes))
}

/// A call that is inserted into a method of java.base.
#[derive(Debug, Clone)]
struct Inserted {
    class: &'static str,
    /// Name and descriptor.
    method: (&'static str, &'static str),
    call: Call,
    /// In front of its returns; else at its entry.
    at_returns: bool,
}

impl Inserted {
    fn at_the_end_of_start_up() -> Result<Inserted> {
        let call = Call::new(BOOT_PROBES, boot_probes::BOOTED)?;
        Ok(Inserted { class: "java/lang/System", method: LAST_PHASE, call, at_returns: true })
    }

    fn where_descriptors_are_made() -> Result<Inserted> {
        let builder = format!("L{};", boot_modules::BUILDER);
        let call = Call::new(boot_modules::BOOT_MODULES, boot_modules::COMPLETE)?
            .with_value(Value::This, builder.as_bytes())?;
        Ok(Inserted { class: boot_modules::BUILDER, method: boot_modules::BUILD, call, at_returns: false })
    }

    /// The class with the call.
    fn insert_into(self, class: &[u8]) -> Result<Vec<u8>> {
        let mut rewriter = ClassRewriter::new(Transforms::NONE);
        let (name, (method, descriptor)) = (self.class.replace('/', "."), self.method);
        rewriter.insert_calls(Some(Arc::new(self)));
        let mut out = Vec::new();
        let outcome = rewriter.rewrite(class, |_| Choice::Rewrite(0), &mut out);
        ensure!(
            matches!(outcome, Ok(Outcome::Rewritten)),
            "{name} has no method {method}{descriptor} as expected; supported and tested are 11, 17, 21 and 25"
        );
        Ok(out)
    }
}

impl InsertCalls for Inserted {
    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
        if method.name != self.method.0.as_bytes() || method.descriptor != self.method.1.as_bytes() {
            return;
        }
        // Where a call cannot be inserted, the class stays as it is, which is an error then.
        let _ = match self.at_returns {
            true => calls.before_returns(&self.call),
            false => calls.at_entry(self.call.clone()),
        };
    }
}
