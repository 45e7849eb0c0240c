//! The API of classes by their access flags: what other packages can use, how two versions of it differ, and what
//! breaks.
//!
//! A class belongs to it if it and the classes around it are public or protected, a member if it is public, or
//! protected in a class that can be extended. What compilers made (`synthetic`) does not.

mod class;
mod generics;
mod judge;
mod library;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use class::Class;
use instrument_rewriter::class_file::ClassFile;
use judge::{Pair, worst};
use library::{Library, Platform};
use serde_json::{Value, json};

/// Which of the two inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// What something in an API is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Class,
    Field,
    Method,
}

/// Whom a change breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// Nobody.
    Compatible,
    /// Sources that are compiled again.
    Source,
    /// Compiled code as well.
    Binary,
}

impl Verdict {
    /// Whether compiled code goes on to work, and whether sources can be compiled again.
    pub(super) fn json(self) -> Value {
        json!({"binary_compatible": self < Verdict::Binary, "source_compatible": self < Verdict::Source})
    }
}

/// Why a change breaks something, or what else is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    verdict: Verdict,
    /// As `is final`, or `throws` with a name behind it.
    pub(super) what: &'static str,
    /// A name or value of the program.
    pub(super) name: Option<String>,
    /// Another row says it: of the class that declares what is inherited.
    is_listed: bool,
}

impl Reason {
    fn new(verdict: Verdict, what: &'static str, name: Option<String>) -> Reason {
        Reason { verdict, what, name, is_listed: false }
    }

    fn text(&self) -> String {
        self.name.as_ref().map_or_else(|| self.what.to_owned(), |name| format!("{} {name}", self.what))
    }
}

/// A difference between two APIs: what it was and what it is; one of them is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The class, in internal form.
    pub(super) class: String,
    pub(super) kind: Kind,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) verdict: Verdict,
    pub(super) reasons: Vec<Reason>,
    /// The class as a whole came or went, and has a row of its own.
    pub(super) is_part: bool,
}

impl Change {
    fn new(
        kind: Kind,
        class: &Class,
        before: Option<String>,
        after: Option<String>,
        mut reasons: Vec<Reason>,
    ) -> Change {
        let verdict = worst(&reasons);
        reasons.retain(|reason| !reason.is_listed);
        Change { class: class.name.clone(), kind, before, after, verdict, reasons, is_part: false }
    }
}

impl Change {
    pub(super) fn json(&self) -> Value {
        let status = match (&self.before, &self.after) {
            (Some(_), None) => "removed",
            (None, _) => "added",
            _ => "changed",
        };
        let kind = match self.kind {
            Kind::Class => "class",
            Kind::Field => "field",
            Kind::Method => "method",
        };
        json!({"api": self.verdict.json(), "class": self.class.replace('/', "."), "kind": kind, "status": status,
            "before": self.before, "after": self.after,
            "reasons": self.reasons.iter().map(Reason::text).collect::<Vec<_>>()})
    }
}

/// How two APIs differ.
#[derive(Debug)]
pub(super) struct Judgement {
    /// In the order of classes, kinds and names.
    pub(super) changes: Vec<Change>,
    /// Whether the classes of a JDK were found. Without them, verdicts may be milder or stricter.
    pub(super) has_jdk: bool,
}

impl Judgement {
    /// The verdict over all.
    pub(super) fn json(&self) -> Value {
        let verdicts = self.changes.iter().map(|change| change.verdict);
        let mut json = verdicts.max().unwrap_or(Verdict::Compatible).json();
        json["jdk_classes_found"] = self.has_jdk.into();
        json
    }
}

/// The tree of all archives that only one side has: a new version of a library has another file name. It comes after
/// the others.
pub(super) const ONE_SIDED: usize = usize::MAX;

/// The classes of both sides.
#[derive(Debug, Default)]
pub(super) struct Sides {
    /// By the archive or folder that they lie in, and their name.
    classes: [BTreeMap<(usize, String), Rc<Class>>; 2],
}

impl Sides {
    /// A class of one side or of both. One that cannot be read has no API.
    pub(super) fn add(&mut self, sides: &[Side], tree: usize, class: &ClassFile<'_>) {
        let Ok(class) = Class::read(class).map(Rc::new) else { return };
        for side in sides {
            self.classes[*side as usize].entry((tree, class.name.clone())).or_insert_with(|| class.clone());
        }
    }

    /// What differs, judged with the classes of the JDK on the path.
    pub(super) fn judge(&self) -> Judgement {
        let platform = Platform::find_one();
        Judgement { changes: self.changes(&platform), has_jdk: platform.is_found() }
    }

    fn changes(&self, platform: &Platform) -> Vec<Change> {
        let [before, after] = self.classes.each_ref().map(|classes| Library::new(classes, platform));
        let [old, new] = &self.classes;
        let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        let mut changes = Vec::new();
        for (tree, name) in names {
            match (before.visible(*tree, name), after.visible(*tree, name)) {
                (Some(old), Some(new)) => {
                    let (tree, old_side, new_side) = (*tree, &before, &after);
                    changes.extend(Pair { tree, old_side, new_side, old, new }.changes());
                }
                (Some(class), None) => changes.extend(whole(&class, true)),
                (None, Some(class)) => changes.extend(whole(&class, false)),
                (None, None) => {}
            }
        }
        changes
    }
}

/// A class that other packages can no longer name, or can now, with its members.
fn whole(class: &Class, is_gone: bool) -> Vec<Change> {
    let row = |kind, text, reasons| match is_gone {
        true => Change::new(kind, class, Some(text), None, reasons),
        false => Change::new(kind, class, None, Some(text), Vec::new()),
    };
    let mut rows = vec![row(Kind::Class, class.text(), vec![Reason::new(Verdict::Binary, "is gone", None)])];
    for (key, member) in class.members.iter().filter(|(_, member)| class.offers(member)) {
        let gone = Reason::new(Verdict::Binary, "its class is gone", None);
        let row = row(key.kind, class.member_text(key, member), vec![gone]);
        rows.push(Change { is_part: true, ..row });
    }
    rows
}
