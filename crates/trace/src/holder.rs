//! Who holds objects that may leak.

/// A search through the heap for the holders of a sample of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderSearch {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Whether it came to its end.
    pub end: SearchEnd,
    /// Objects that it met.
    pub objects: u32,
    /// How long it took, ns.
    pub ns: u64,
    /// What it found, by class and context, the path with most objects first.
    pub holders: Vec<Holder>,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEnd {
    /// It looked at all that can be reached.
    Whole,
    /// Its time was over.
    Time,
    /// It had met as many objects as it may.
    Objects,
}

/// Objects of one class, made in one context, that are held in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Number of the class in [`crate::Copy::class_names`].
    pub class: u32,
    /// Number of the context in [`crate::Copy::contexts`]; 0: none.
    pub context: u32,
    /// Objects of this class and context that were looked for.
    pub sampled: u32,
    /// Those that are held in this way.
    pub objects: u32,
    /// In which way.
    pub path: HolderPath,
}

/// The way from what the garbage collector starts at to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HolderPath {
    /// Static field, thread or other root first, then a field for each step, with its class; `[]` behind one whose elements are meant.
    Steps(Vec<String>),
    /// The search has not met them; where it came to its end, they are garbage that was not collected yet.
    NotMet,
    /// Several more ways, with fewer objects each.
    Others,
}
