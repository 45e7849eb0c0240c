//! `--probes`: calls of the user's own methods, by rules that `instrument run` has prepared, in classes as they load.
//!
//! What is above a class is known from two sources: the classes that were seen as they loaded, and what the command line has found on the
//! class path and in the JDK. Where neither tells, or two loaders have different classes of one name, it is not known, and the place is left.

use crate::classes::rules::Origin;
use crate::talk::say;
use instrument_control::probes::Prepared;
use instrument_control::run::RuleOutcome;
use instrument_names::mutf8;
use instrument_names::pattern::{Fit, Pattern};
use instrument_rewriter::account::{self, ProbeRecord};
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::transform::own_calls::rules::{Hierarchy, Rules, Tally};
use instrument_rewriter::transform::own_calls::{Absent, Calls, InsertCalls, Method, Placed};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Places that do not fit and are named.
const SAID: usize = 20;

/// The rules, and what became of them.
#[derive(Debug)]
pub(crate) struct OwnProbes {
    /// The file of rules, as the user has named it.
    file: String,
    rules: Rules,
    known: Arc<Known>,
    /// Internal names of the classes whose methods are called.
    owners: BTreeSet<String>,
    /// Those that were found before the program started.
    found: BTreeSet<String>,
    /// Classes whose calls are counted: one that is sent through the hook again is the same class.
    counted: Mutex<HashSet<Vec<u8>>>,
    /// Mismatches that were said.
    said: Mutex<BTreeSet<String>>,
    /// For each rule the classes of the JDK that its patterns name.
    of_the_jdk: Mutex<Vec<BTreeSet<Vec<u8>>>>,
}

/// The class that this thread rewrites.
#[derive(Default)]
struct Current {
    name: Vec<u8>,
    is_of_the_jdk: bool,
    is_loaded: bool,
    /// For each class whose methods are called whether it finds it.
    answers: BTreeMap<String, Result<(), Absent>>,
}

thread_local! {
    static CURRENT: RefCell<Current> = RefCell::default();
}

impl OwnProbes {
    /// Reads what `instrument run` has prepared.
    ///
    /// # Errors
    /// What is wrong with which file.
    pub(super) fn open(path: &Path) -> Result<OwnProbes, String> {
        let named = |error: String| format!("probes={}: {error}", path.display());
        let bytes = std::fs::read(path).map_err(|error| named(error.to_string()))?;
        let prepared = Prepared::read(&bytes).map_err(named)?;
        let (rules, signatures) = prepared.rules()?;
        let owners = rules.iter().map(|rule| rule.owner.clone()).collect();
        let known = Arc::new(Known { prepared: prepared.supers, seen: Mutex::default() });
        Ok(OwnProbes {
            of_the_jdk: Mutex::new(vec![BTreeSet::new(); rules.len()]),
            file: prepared.file,
            rules: Rules::new(rules, signatures, known.clone()),
            known,
            owners,
            found: prepared.found,
            counted: Mutex::default(),
            said: Mutex::default(),
        })
    }

    /// A class loads: what is above it is known from here on.
    pub(crate) fn see(&self, origin: Origin, name: &[u8], class: &[u8]) {
        if origin == Origin::Jdk {
            self.see_jdk_class(name);
        }
        let Ok(class) = ClassFile::parse(class) else { return };
        let (Ok(name), Ok(above)) = (class.name(), class.super_name()) else { return };
        let interfaces = class.interfaces().filter_map(|index| class.pool.class_name(index).ok());
        let supers: Vec<String> = above.into_iter().chain(interfaces).map(mutf8::escape).collect();
        let mut seen = self.known.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.entry(mutf8::escape(name)).or_insert_with(|| Some(supers.clone()));
        if known.as_ref().is_some_and(|known| *known != supers) {
            *known = None;
        }
    }

    /// Notes a class of the JDK that the patterns of a rule name: no calls are inserted there. As for --include, a pattern that begins with `*`
    /// or `?` speaks of the program alone.
    pub(crate) fn see_jdk_class(&self, class: &[u8]) {
        for (number, rule) in self.rules.rules().iter().enumerate() {
            let names = |pattern: &Pattern| {
                !pattern.text().starts_with(['*', '?']) && pattern.class(class) != Fit::None
            };
            if rule.methods.iter().any(names) {
                let mut known = self.of_the_jdk.lock().unwrap_or_else(PoisonError::into_inner);
                known[number].insert(class.to_vec());
            }
        }
    }

    /// Whether a rule may concern a method of this class.
    pub(crate) fn concern_any(&self, class: &[u8]) -> bool {
        let Ok(class) = ClassFile::parse(class) else { return false };
        let Ok(name) = class.name() else { return false };
        let mut methods = class.methods();
        while let Ok(Some(method)) = methods.next() {
            if let (Ok(method), Ok(descriptor)) = (method.name(&class.pool), method.descriptor(&class.pool))
                && self.rules.concerns(name, method, descriptor)
            {
                return true;
            }
        }
        false
    }

    /// The classes whose methods are called: internal names.
    pub(crate) fn owners(&self) -> impl Iterator<Item = &String> {
        self.owners.iter()
    }

    /// Whether the loader of `class` can be asked for `owner` while it defines `class`: it would define it twice if `owner` needed it.
    pub(crate) fn may_be_asked_for(&self, owner: &str, class: &[u8]) -> bool {
        self.found.contains(owner) && self.known.is_subclass(owner.as_bytes(), class) == Some(false)
    }

    /// This thread rewrites a class now, which finds these classes or not.
    pub(crate) fn begin(
        &self,
        name: &[u8],
        origin: Origin,
        is_loaded: bool,
        answers: BTreeMap<String, Result<(), Absent>>,
    ) {
        let is_of_the_jdk = origin == Origin::Jdk;
        CURRENT.set(Current { name: name.to_vec(), is_of_the_jdk, is_loaded, answers });
    }

    /// What became of each rule.
    fn tallies(&self) -> Vec<Tally> {
        let mut tallies = self.rules.tallies();
        let of_the_jdk = self.of_the_jdk.lock().unwrap_or_else(PoisonError::into_inner);
        for (tally, classes) in
            tallies.iter_mut().zip(&*of_the_jdk).filter(|(_, classes)| !classes.is_empty())
        {
            tally.left.insert(Absent::JdkClass.as_str(), classes.len() as u64);
        }
        tallies
    }

    /// The lines of the account.
    pub(super) fn account(&self) -> Vec<String> {
        let line = |outcome: &RuleOutcome| {
            let RuleOutcome { rule, methods, places, left, .. } = outcome;
            let record = ProbeRecord { file: &self.file, rule, places: *places, methods: *methods, left };
            let mut out = Vec::new();
            account::write_probe(&record, &mut out).ok()?;
            String::from_utf8(out).ok()
        };
        self.outcomes().iter().filter_map(line).collect()
    }

    /// What became of the rules, for `instrument run`.
    pub(super) fn outcomes(&self) -> Vec<RuleOutcome> {
        let outcome = |(rule, tally): (&str, Tally)| {
            let left = tally.left.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
            let (chosen, methods, places) = (tally.chosen, tally.methods, tally.places);
            RuleOutcome { rule: rule.to_owned(), chosen, methods, places, left }
        };
        let names = self.rules.rules().iter().map(|rule| rule.name.as_str());
        names.zip(self.tallies()).map(outcome).collect()
    }

    /// Says what does not fit, unless that was said.
    fn say_mismatches(&self) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        for mismatch in self.rules.mismatches() {
            if said.len() == SAID || !said.insert(mismatch.clone()) {
                continue;
            }
            say(format_args!("{}: {mismatch}; this call is left out", self.file));
            if said.len() == SAID {
                say(format_args!("{}: what else does not fit is only counted", self.file));
            }
        }
    }
}

impl InsertCalls for OwnProbes {
    fn concerns(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        self.rules.concerns(class, name, descriptor)
    }

    fn pass_ids(&self) -> bool {
        self.rules.pass_ids()
    }

    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
        if !CURRENT.with_borrow(|current| current.is_of_the_jdk) {
            self.rules.insert(method, calls);
        }
    }

    fn inserted(&self, placed: &[Placed]) {
        let is_new = CURRENT.with_borrow(|current| {
            let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
            counted.insert(current.name.clone()) || !current.is_loaded
        });
        if is_new {
            self.rules.inserted(placed);
        }
        if placed.iter().any(|one| one.absent == Some(Absent::Mismatch)) {
            self.say_mismatches();
        }
    }
}

/// What is above classes.
#[derive(Debug)]
struct Known {
    prepared: BTreeMap<String, Vec<String>>,
    /// Of the classes that have loaded; none: loaders have different ones of this name.
    seen: Mutex<HashMap<String, Option<Vec<String>>>>,
}

impl Hierarchy for Known {
    fn is_subclass(&self, class: &[u8], above: &[u8]) -> Option<bool> {
        let above = mutf8::escape(above);
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = vec![mutf8::escape(class)];
        let mut done: HashSet<String> = HashSet::new();
        let mut is_known = true;
        while let Some(name) = open.pop() {
            if name == above {
                return Some(true);
            }
            if !done.insert(name.clone()) {
                continue;
            }
            match seen.get(&name).map_or_else(|| self.prepared.get(&name), Option::as_ref) {
                Some(supers) => open.extend(supers.iter().cloned()),
                None => is_known = false,
            }
        }
        is_known.then_some(false)
    }

    fn finds(&self, owner: &str) -> Result<(), Absent> {
        CURRENT.with_borrow(|current| current.answers.get(owner).copied().unwrap_or(Err(Absent::NotAsked)))
    }
}
