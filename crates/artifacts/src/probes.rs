//! `--probes`: the rules of a file, the methods that they call, and what became of them.

mod names;

use crate::class_path::Places;
use crate::engine::visit_classes;
use crate::source;
use crate::unit::Unit;
use anyhow::{Context, Result};
use instrument_control::probes::{self, Prepared, Probe};
use instrument_control::run::RuleOutcome;
use instrument_messages::Listener;
use instrument_messages::number;
use instrument_messages::usage;
use instrument_names::mutf8;
use instrument_names::nearest::did_you_mean;
use instrument_names::signature;
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, Transforms};
use instrument_rewriter::transform::own_calls::InsertCalls;
use instrument_rewriter::transform::own_calls::rules::{Hierarchy, Rule, Rules, Signature, Tally};
use instrument_verifier::hierarchy::{ClassPath, Summary, flags};
use instrument_verifier::jdk::Jdk;
use names::{Names, reasons};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Mismatches that are printed.
const PRINTED: usize = 20;

/// The classes that rules are for.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'u> {
    /// Those of inputs, which are rewritten before the program starts; more classes lie on the class path.
    Inputs(&'u [Unit]),
    /// Those of a program, which are rewritten as they load: all of the class path, and others that nobody knows yet.
    Program,
}

/// The rules of a file.
pub struct Probes<'u> {
    subject: Subject<'u>,
    class_path: Vec<String>,
    rules: Arc<Rules>,
    /// The file, as it was named.
    file: String,
    text: String,
    signatures: Vec<Vec<Signature>>,
    /// The classes of the methods that are called, as far as they were found; internal names.
    found: BTreeSet<String>,
    known: Arc<Known>,
}

impl<'u> Probes<'u> {
    /// Reads the file and finds the methods that it names.
    ///
    /// # Errors
    /// A file that cannot be read, something wrong in it, or a method that is not there or cannot be called.
    pub fn open(
        path: &Path,
        subject: Subject<'u>,
        class_path: &[String],
        jdk: Option<Arc<Jdk>>,
    ) -> Result<Probes<'u>> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| usage(format!("{file}: {error}")))?;
        let probes = probes::parse(&text, &file).map_err(usage)?;
        let owners: HashSet<&str> = probes.iter().map(|probe| probe.rule.owner.as_str()).collect();
        let mut places = Places::new(jdk);
        let mut found: BTreeMap<String, Owner> = BTreeMap::new();
        let mut add = |class: &ClassFile<'_>| {
            if let Some(summary) = Summary::of(class) {
                places.add(Arc::new(summary));
            }
            let name = class.name().map(mutf8::escape).unwrap_or_default();
            if owners.contains(name.as_str()) {
                // The first of a name counts, as in a class path.
                found.entry(name).or_insert_with(|| Owner::of(class));
            }
        };
        if let Subject::Inputs(units) = subject {
            visit_classes(units, &mut add)?;
        }
        visit_class_path(class_path, &mut add)?;
        let signatures = probes.iter().map(|probe| signatures(probe, found.get(&probe.rule.owner), subject));
        let signatures = signatures.collect::<Result<Vec<_>, String>>().map_err(usage)?;
        let rules = probes.into_iter().map(|probe| probe.rule).collect();
        let known = Arc::new(Known { places, asked: Mutex::default() });
        Ok(Probes {
            subject,
            class_path: class_path.to_vec(),
            rules: Arc::new(Rules::new(rules, signatures.clone(), known.clone())),
            file,
            text,
            signatures,
            found: found.into_keys().collect(),
            known,
        })
    }

    /// Tries the rules on all classes of the class path, and writes nothing.
    ///
    /// # Errors
    /// Something that is passed does not fit what takes it.
    pub fn try_out(&self) -> Result<()> {
        let mut rewriter = ClassRewriter::new(Transforms::NONE);
        rewriter.insert_calls(Some(self.rules()));
        let mut out = Vec::new();
        visit_class_path(&self.class_path, &mut |class| {
            out.clear();
            // What is no complete class, the virtual machine does not load either.
            let _ = rewriter.rewrite(class.bytes, |_| Choice::Rewrite(1), &mut out);
        })?;
        self.refuse_mismatches()
    }

    /// For the agent, with what is known of the classes of the class path.
    pub fn prepared(&self) -> Prepared {
        let descriptors = |of: &Vec<Signature>| of.iter().map(|one| one.descriptor.clone()).collect();
        Prepared {
            file: self.file.clone(),
            text: self.text.clone(),
            signatures: self.signatures.iter().map(descriptors).collect(),
            found: self.found.clone(),
            supers: self.known.supers(),
        }
    }

    /// For the rewriter.
    pub fn rules(&self) -> Arc<Rules> {
        self.rules.clone()
    }

    /// The names of the rules, in their order.
    pub fn rule_names(&self) -> impl Iterator<Item = &str> {
        self.rules.rules().iter().map(|rule| rule.name.as_str())
    }

    /// Whether some rule passes the ids of methods.
    pub fn pass_ids(&self) -> bool {
        self.rules.pass_ids()
    }

    /// The file, as it was named.
    pub fn file(&self) -> &str {
        &self.file
    }

    fn refuse_mismatches(&self) -> Result<()> {
        let mismatches = self.rules.mismatches();
        if !mismatches.is_empty() {
            let lines: Vec<String> = mismatches
                .iter()
                .take(PRINTED)
                .map(|mismatch| format!("{}: {mismatch}", self.file))
                .collect();
            let more = match mismatches.len() - lines.len() {
                0 => String::new(),
                more => format!("\nand {more} more"),
            };
            return Err(usage(lines.join("\n") + &more));
        }
        Ok(())
    }

    /// Outcome of each rule in the classes that were rewritten here.
    ///
    /// # Errors
    /// Something that is passed does not fit what takes it.
    pub fn outcomes(&self) -> Result<Vec<RuleOutcome>> {
        self.refuse_mismatches()?;
        let outcome = |(rule, tally): (&Rule, Tally)| RuleOutcome {
            rule: rule.name.clone(),
            chosen: tally.chosen,
            methods: tally.methods,
            places: tally.places,
            left: tally.left.into_iter().map(|(reason, count)| (reason.to_owned(), count)).collect(),
        };
        Ok(self.rules.rules().iter().zip(self.rules.tallies()).map(outcome).collect())
    }

    /// Says what became of the rules, in their order; returns warnings of those that fit nothing, with names that may
    /// have been meant.
    ///
    /// # Errors
    /// A class that cannot be read.
    pub fn say(&self, outcomes: &[RuleOutcome], listener: &dyn Listener) -> Result<Vec<String>> {
        let names = match outcomes.iter().any(|outcome| outcome.places == 0) {
            true => self.names()?,
            false => Names::default(),
        };
        let mut warnings = Vec::new();
        let tried = self.rules.tallies();
        for ((rule, outcome), tried) in self.rules.rules().iter().zip(outcomes).zip(tried) {
            let name = &rule.name;
            if outcome.places == 0 {
                let is_elsewhere = outcome.left.is_empty() && tried.places > 0;
                let why = match is_elsewhere {
                    true => vec![format!(
                        "it fits {} on the class path, and no class with one was loaded",
                        number(tried.places, "place")
                    )],
                    false => names.why(rule, outcome),
                };
                let why = why.iter().map(|why| format!("{}: rule '{name}' fits nothing: {why}", self.file));
                warnings.extend(why);
                continue;
            }
            let left =
                if outcome.left.is_empty() { String::new() } else { format!("; left: {}", reasons(outcome)) };
            let (places, methods) = (number(outcome.places, "place"), number(outcome.methods, "method"));
            listener.note(format_args!("probe '{name}': {places} in {methods}{left}"));
        }
        Ok(warnings)
    }

    fn names(&self) -> Result<Names> {
        let mut names = Names::default();
        let mut add = |class: &ClassFile<'_>| names.add(class);
        match self.subject {
            Subject::Inputs(units) => visit_classes(units, &mut add)?,
            Subject::Program => visit_class_path(&self.class_path, &mut add)?,
        }
        Ok(names)
    }
}

fn visit_class_path(class_path: &[String], visit: &mut dyn FnMut(&ClassFile<'_>)) -> Result<()> {
    for address in class_path {
        source::classes_of(address, &|_| true, &mut |class| {
            if let Ok(class) = ClassFile::parse(class.bytes) {
                visit(&class);
            }
            Ok(())
        })
        .with_context(|| "--class-path".to_owned())?;
    }
    Ok(())
}

/// A class whose methods are called.
struct Owner {
    flags: u16,
    /// Name, descriptor (modified UTF-8) and flags.
    methods: Vec<(String, Vec<u8>, u16)>,
}

impl Owner {
    fn of(class: &ClassFile<'_>) -> Owner {
        let mut found = Vec::new();
        let mut methods = class.methods();
        while let Ok(Some(method)) = methods.next() {
            if let (Ok(name), Ok(descriptor)) = (method.name(&class.pool), method.descriptor(&class.pool)) {
                found.push((mutf8::escape(name), descriptor.to_vec(), method.access_flags));
            }
        }
        Owner { flags: class.access_flags, methods: found }
    }
}

/// The methods that a rule may call.
fn signatures(probe: &Probe, owner: Option<&Owner>, subject: Subject<'_>) -> Result<Vec<Signature>, String> {
    let Probe { rule, descriptor, place } = probe;
    let class = rule.owner.replace('/', ".");
    let name = format!("{class}.{}", rule.method);
    let wrong = |reason: String| Err(format!("{place}: rule '{}': {reason}", rule.name));
    let count = rule.with.len();
    let Some(owner) = owner else {
        return match descriptor {
            _ if matches!(subject, Subject::Program) => wrong(format!(
                "class {class} is not on the class path of the program, as far as its command tells; put it there, or name where it lies \
                 with --class-path"
            )),
            Some(descriptor) => Ok(vec![Signature { descriptor: descriptor.as_bytes().to_vec() }]),
            None => wrong(format!(
                "class {class} is not among the inputs; name where it lies with --class-path, or write the descriptor of the method: \
                 calls = \"{name}(..)V\""
            )),
        };
    };
    if owner.flags & flags::INTERFACE != 0 || owner.flags & flags::PUBLIC == 0 {
        return wrong(format!(
            "{class} is no public class; other classes cannot call its methods, or not in every version"
        ));
    }
    let named: Vec<_> = owner.methods.iter().filter(|method| method.0 == rule.method).collect();
    if named.is_empty() {
        let others = owner.methods.iter().map(|method| format!("{class}.{}", method.0));
        return wrong(format!("class {class} has no method {}{}", rule.method, did_you_mean(&name, others)));
    }
    let given = |method: &&(String, Vec<u8>, u16)| {
        descriptor.as_ref().is_none_or(|descriptor| descriptor.as_bytes() == method.1)
    };
    let named: Vec<_> = named.into_iter().filter(given).collect();
    let text = |method: &(String, Vec<u8>, u16)| {
        let text = format!("{}{}", method.0, mutf8::escape(&method.1));
        signature::readable(&text).unwrap_or(text)
    };
    let Some(first) = named.first() else {
        let descriptor = descriptor.as_deref().unwrap_or_default();
        return wrong(format!(
            "class {class} has no method {}{descriptor}; leave the descriptor out to choose by the types",
            rule.method
        ));
    };
    let is_callable = |method: &&&(String, Vec<u8>, u16)| {
        method.2 & flags::STATIC != 0 && method.2 & flags::PUBLIC != 0 && method.1.ends_with(b")V")
    };
    let callable: Vec<_> = named.iter().filter(is_callable).collect();
    if callable.is_empty() {
        let what = match first.2 {
            flags if flags & flags::STATIC == 0 => "is not static",
            flags if flags & flags::PUBLIC == 0 => "is not public",
            _ => "returns something",
        };
        return wrong(format!(
            "{class}.{} {what}; a rule calls a public static method that returns nothing",
            text(first)
        ));
    }
    let fits_count = |method: &&&&(String, Vec<u8>, u16)| {
        let inside = &method.1[1..method.1.len() - 2];
        count_types(inside) == count
    };
    if !callable.iter().any(|method| fits_count(&method)) {
        let all: Vec<String> = callable.iter().map(|method| text(method)).collect();
        let count = number(count as u64, "value");
        return wrong(format!("`with` passes {count}, and {class} has {}", all.join(", ")));
    }
    Ok(callable.into_iter().map(|method| Signature { descriptor: method.1.clone() }).collect())
}

/// How many parameters there are between the parentheses of a descriptor.
fn count_types(mut inside: &[u8]) -> usize {
    use instrument_rewriter::class_file::descriptor::field_slots;
    let mut count = 0;
    while let Some((_, rest)) = field_slots(inside) {
        (inside, count) = (rest, count + 1);
    }
    count
}

/// Classes and their supers.
struct Known {
    places: Places,
    /// Those that somebody asked about.
    asked: Mutex<BTreeSet<Box<[u8]>>>,
}

impl Known {
    /// The supers of all classes of the class path, of all that was asked about, and of their supers; as the agent
    /// takes them.
    fn supers(&self) -> BTreeMap<String, Vec<String>> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open: Vec<Box<[u8]>> = self.places.names().chain(&*asked).cloned().collect();
        let mut known = BTreeMap::new();
        while let Some(name) = open.pop() {
            let key = mutf8::escape(&name);
            if known.contains_key(&key) {
                continue;
            }
            let Some(class) = self.places.find(&name) else { continue };
            let above: Vec<&Box<[u8]>> = class.super_class.iter().chain(&class.interfaces).collect();
            known.insert(key, above.iter().map(|name| mutf8::escape(name)).collect());
            open.extend(above.into_iter().cloned());
        }
        known
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

impl Hierarchy for Known {
    fn is_subclass(&self, class: &[u8], above: &[u8]) -> Option<bool> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(class.into());
        let mut open: Vec<Box<[u8]>> = vec![class.into()];
        let mut seen: HashSet<Box<[u8]>> = HashSet::new();
        let mut is_known = true;
        while let Some(name) = open.pop() {
            if &*name == above {
                return Some(true);
            }
            if !seen.insert(name.clone()) {
                continue;
            }
            match self.places.find(&name) {
                Some(class) => open.extend(class.super_class.iter().chain(&class.interfaces).cloned()),
                None => is_known = false,
            }
        }
        is_known.then_some(false)
    }
}
