//! Calls by rules: at which places of which methods which static method is called with what.
//!
//! A rule chooses methods by patterns, annotations and supertypes, and places in them by a [`Kind`]. The method that it
//! calls is chosen at each place by the types of what is passed, among those of its name ([`Signature`]): types are
//! checked against it and never converted.
//!
//! - What is not there at a place, such as `this` in a static method, leaves the place as it is, for a reason
//!   ([`Absent`]) that is counted.
//! - What has the wrong type is a mismatch: [`Rules::mismatches`] has them all, and nothing of a program that has one
//!   should be used.
//! - The classes whose methods the rules call get no calls: they would call themselves.

mod find;
mod fit;
mod rule;

use super::absent::Absent;
use super::call::{BadCall, Call, Value};
use super::places::{At, parameters};
use super::{Calls, InsertCalls, Method, Placed};
use crate::class_file::mutf8;
pub use fit::Hierarchy;
use fit::{fits, java_type, java_types};
use instrument_names::glob::push_modified_utf8_str;
use instrument_names::pattern::{Fit, Pattern};
use instrument_names::signature;
pub use rule::{Given, Kind, Rule};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A static method that a rule may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Its descriptor, in modified UTF-8; its result is `V`.
    pub descriptor: Vec<u8>,
}

/// Outcome of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Methods that its patterns, annotations and supertypes chose.
    pub chosen: u64,
    /// Methods that got a call.
    pub methods: u64,
    /// Calls that were inserted.
    pub places: u64,
    /// Places that were left, by reason.
    pub left: BTreeMap<&'static str, u64>,
}

/// Rules, with what is known of the methods that they call.
pub struct Rules {
    rules: Vec<Rule>,
    /// By rule.
    signatures: Vec<Vec<Signature>>,
    hierarchy: Arc<dyn Hierarchy>,
    /// Internal names of the classes whose methods are called.
    owners: BTreeSet<Vec<u8>>,
    outcome: Mutex<Outcome>,
}

#[derive(Debug, Default)]
struct Outcome {
    tallies: Vec<Tally>,
    mismatches: BTreeSet<String>,
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// More mismatches are not kept.
const MOST_MISMATCHES: usize = 1000;

impl Rules {
    /// `signatures`: for each rule the methods that it may call; `hierarchy`: what is known of other classes.
    pub fn new(rules: Vec<Rule>, signatures: Vec<Vec<Signature>>, hierarchy: Arc<dyn Hierarchy>) -> Self {
        let owner = |rule: &Rule| {
            let mut name = Vec::new();
            push_modified_utf8_str(&rule.owner, &mut name);
            name
        };
        let owners = rules.iter().map(owner).collect();
        let tallies = vec![Tally::default(); rules.len()];
        let outcome = Mutex::new(Outcome { tallies, mismatches: BTreeSet::new() });
        Self { rules, signatures, hierarchy, owners, outcome }
    }

    /// The rules, in their order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Outcome of each rule in the classes so far.
    pub fn tallies(&self) -> Vec<Tally> {
        self.outcome().tallies.clone()
    }

    /// What does not fit, so far: a sentence each, sorted; at most 1,000.
    pub fn mismatches(&self) -> Vec<String> {
        self.outcome().mismatches.iter().cloned().collect()
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        // Numbers and sentences: a panic leaves nothing half-done.
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mismatch(&self, rule: &Rule, method: &str, text: fmt::Arguments<'_>) {
        let mismatches = &mut self.outcome().mismatches;
        if mismatches.len() < MOST_MISMATCHES {
            mismatches.insert(format!("rule '{}': {method}: {text}", rule.name));
        }
    }

    /// One call at one place.
    fn place(&self, number: usize, method: &Method<'_>, calls: &mut Calls<'_>, at: At, target: &str) {
        let rule = &self.rules[number];
        let mut types = Vec::with_capacity(rule.with.len());
        for given in &rule.with {
            let found = match given {
                Given::Value(value) => calls.places.type_of(at, *value),
                Given::Id | Given::Int(_) => Ok(b"I".to_vec()),
                Given::Long(_) => Ok(b"J".to_vec()),
                Given::Double(_) => Ok(b"D".to_vec()),
                Given::Method | Given::Target | Given::Text(_) => Ok(b"Ljava/lang/String;".to_vec()),
            };
            match found {
                Ok(of) => types.push(of),
                Err(Absent::NoArgument) => {
                    let whose = match given {
                        Given::Value(Value::Operand(_)) => target,
                        _ => "it",
                    };
                    calls.leave(Absent::Mismatch);
                    return self.mismatch(rule, &name_of(method), format_args!(
                        "`{given}` is passed, and {whose} has no such argument; choose only methods that have it, such as CLASS.METHOD(TYPES)"
                    ));
                }
                Err(absent) => return calls.leave(absent),
            }
        }
        let Some(parameters) = self.choose(number, method, &types) else {
            return calls.leave(Absent::Mismatch);
        };
        let added = self.call(rule, method, target, parameters).and_then(|call| calls.add(at, call));
        match added {
            Ok(()) => {}
            Err(BadCall::Absent(absent)) => calls.leave(absent),
            // A row of the line number table may name no instruction.
            Err(BadCall::Pc(_)) => calls.leave(Absent::DeadCode),
            Err(other) => {
                calls.leave(Absent::Mismatch);
                self.mismatch(rule, &name_of(method), format_args!("{other}"));
            }
        }
    }

    fn call(
        &self,
        rule: &Rule,
        method: &Method<'_>,
        target: &str,
        parameters: Vec<&[u8]>,
    ) -> Result<Call, BadCall> {
        let mut call = Call::new(&rule.owner, &rule.method)?;
        for (given, parameter) in rule.with.iter().zip(parameters) {
            call = match given {
                Given::Value(value) => call.with_value(*value, parameter)?,
                Given::Id => call.with_int(method.id as i32),
                Given::Int(value) => call.with_int(*value),
                Given::Long(value) => call.with_long(*value),
                Given::Double(value) => call.with_double(*value),
                Given::Method => call.with_text(&name_of(method))?,
                Given::Target => call.with_text(target)?,
                Given::Text(text) => call.with_text(text)?,
            };
            call.retype(parameter);
        }
        Ok(call)
    }

    /// The parameters of the method that takes these types; none, and a mismatch, if there is none or not one.
    fn choose(&self, number: usize, method: &Method<'_>, types: &[Vec<u8>]) -> Option<Vec<&[u8]>> {
        let rule = &self.rules[number];
        let known = self.signatures[number].iter().filter_map(|one| parameters(&one.descriptor));
        let known: Vec<Vec<&[u8]>> = known.map(|(parameters, _)| parameters.collect()).collect();
        let takes = |parameters: &Vec<&[u8]>, types: &[Vec<u8>]| -> Option<bool> {
            if parameters.len() != types.len() {
                return Some(false);
            }
            let each: Vec<Option<bool>> = types
                .iter()
                .zip(parameters)
                .map(|(of, parameter)| fits(of, parameter, &*self.hierarchy))
                .collect();
            if each.contains(&Some(false)) {
                Some(false)
            } else {
                each.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
            }
        };
        let fitting: Vec<&Vec<&[u8]>> =
            known.iter().filter(|parameters| takes(parameters, types) == Some(true)).collect();
        let owned = |parameters: &[&[u8]]| parameters.iter().map(|one| one.to_vec()).collect::<Vec<_>>();
        // As the Java language does: the one whose parameters all others take, too.
        let narrowest = fitting.iter().find(|one| {
            let types = owned(one);
            fitting.iter().all(|other| takes(other, &types) == Some(true))
        });
        if let Some(narrowest) = narrowest {
            let position = known.iter().position(|parameters| std::ptr::eq(parameters, *narrowest));
            return position.and_then(|at| known.into_iter().nth(at));
        }
        let probe = format!("{}.{}", rule.owner.replace('/', "."), rule.method);
        let passed = || java_types(types.iter().map(Vec::as_slice));
        let name = name_of(method);
        let listed = || {
            let texts = known
                .iter()
                .map(|parameters| format!("{}{}", rule.method, java_types(parameters.iter().copied())));
            texts.collect::<Vec<_>>().join(", ")
        };
        if let [_, _, ..] = fitting[..] {
            self.mismatch(rule, &name, format_args!(
                "several methods {probe} take {}: {}; write the descriptor of one behind its name in `calls`", passed(), listed()
            ));
            return None;
        }
        if let Some(unknown) = known.iter().find(|parameters| takes(parameters, types).is_none()) {
            let pair = types
                .iter()
                .zip(unknown)
                .find(|(of, parameter)| fits(of, parameter, &*self.hierarchy).is_none());
            let (of, parameter) = pair.map_or((String::new(), String::new()), |(of, parameter)| {
                (java_type(of), java_type(parameter))
            });
            self.mismatch(rule, &name, format_args!(
                "whether {of} is a {parameter}, which {probe} takes, is not known: a class above it was not found; name where it lies with \
                 --class-path, or let {probe} take java.lang.Object"
            ));
            return None;
        }
        let one = (known.len() == 1).then(|| &known[0]).filter(|parameters| parameters.len() == types.len());
        let wrong = one.and_then(|parameters| {
            let mut pairs = types.iter().zip(parameters).enumerate();
            pairs.find(|(_, (of, parameter))| fits(of, parameter, &*self.hierarchy) == Some(false))
        });
        match wrong {
            Some((at, (of, parameter))) => self.mismatch(rule, &name, format_args!(
                "`{}` is {}, and parameter {} of {probe}{} is {}; choose other methods with `in`, or add a method {} to the class that takes {}",
                rule.with[at], java_type(of), at + 1, listed().trim_start_matches(&rule.method), java_type(parameter), rule.method, passed()
            )),
            None => self.mismatch(rule, &name, format_args!(
                "no method {probe} takes {}; there {} {}; choose other methods with `in`, or add one to the class that takes it",
                passed(), if known.len() == 1 { "is" } else { "are" }, listed()
            )),
        }
        None
    }

    /// Whether annotations and supertypes fit; patterns do. None: a super that matters is not known.
    fn chooses(&self, rule: &Rule, method: &Method<'_>) -> Option<bool> {
        let has = |patterns: &[Pattern], annotations: &dyn Fn() -> Vec<Vec<u8>>| {
            patterns.is_empty()
                || annotations().iter().any(|of| {
                    let class = of.strip_prefix(b"L").and_then(|of| of.strip_suffix(b";")).unwrap_or(of);
                    patterns.iter().any(|pattern| pattern.class(class) == Fit::All)
                })
        };
        if !has(&rule.annotated, &|| method.annotations())
            || !has(&rule.class_annotated, &|| method.class_annotations())
        {
            return Some(false);
        }
        let mut is_known = true;
        let mut is_below = |above: &String| {
            let mut name = Vec::new();
            push_modified_utf8_str(above, &mut name);
            let mut leads_there = |class: &Vec<u8>| {
                let answer =
                    if *class == name { Some(true) } else { self.hierarchy.is_subclass(class, &name) };
                is_known &= answer.is_some();
                answer == Some(true)
            };
            method.class == name || method.supers().iter().any(&mut leads_there)
        };
        match rule.subclasses_of.is_empty() || rule.subclasses_of.iter().any(&mut is_below) {
            true => Some(true),
            false => is_known.then_some(false),
        }
    }
}

impl InsertCalls for Rules {
    fn concerns(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        !self.owners.contains(class) && self.rules.iter().any(|rule| rule.fits(class, name, descriptor))
    }

    fn pass_ids(&self) -> bool {
        self.rules.iter().any(|rule| rule.with.contains(&Given::Id))
    }

    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
        for (number, rule) in self.rules.iter().enumerate() {
            if !rule.fits(method.class, method.name, method.descriptor) {
                continue;
            }
            calls.under(number as u32);
            match self.chooses(rule, method) {
                Some(true) => self.outcome().tallies[number].chosen += 1,
                Some(false) => continue,
                None => {
                    let places = rule.places(method, calls).len();
                    (0..places).for_each(|_| calls.leave(Absent::UnknownSuper));
                    continue;
                }
            }
            for (at, target) in rule.places(method, calls) {
                match self.hierarchy.finds(&rule.owner) {
                    Ok(()) => self.place(number, method, calls, at, &target),
                    Err(absent) => calls.leave(absent),
                }
            }
        }
    }

    fn inserted(&self, placed: &[Placed]) {
        let tallies = &mut self.outcome().tallies;
        let mut methods: BTreeSet<(u32, u16)> = BTreeSet::new();
        for one in placed {
            let Some(tally) = tallies.get_mut(one.number as usize) else { continue };
            match one.absent {
                None => {
                    tally.places += 1;
                    tally.methods += u64::from(methods.insert((one.number, one.method)));
                }
                Some(absent) => *tally.left.entry(absent.as_str()).or_default() += 1,
            }
        }
    }
}

/// `com.acme.Shop.price(int)`.
fn name_of(method: &Method<'_>) -> String {
    let class = mutf8::escape(method.class).replace('/', ".");
    let text = format!("{class}.{}{}", mutf8::escape(method.name), mutf8::escape(method.descriptor));
    signature::brief(&text).unwrap_or(text)
}
