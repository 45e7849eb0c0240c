//! What is told of classes, methods and regions.

use crate::archive::Location;
use crate::reason::Reason;
use crate::region::RegionFault;
use crate::rewrite::Note;
use std::collections::BTreeMap;

/// Outcome of one method.
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

/// Outcome of one class.
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

/// Outcome of a code region in one class.
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
