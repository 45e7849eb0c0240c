//! Names of classes and methods: how they are spelled, shown, matched and suggested. One home for all commands, the agent and the reports.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | [`pattern`] | the one pattern language: which classes and methods a user means |
//! | [`types`] | types in patterns: the parameters of methods, the classes of objects with their arrays |
//! | [`glob`] | wildcards over the names of class files |
//! | [`nearest`] | what a pattern that fits nothing may have been meant as |
//! | [`signature`] | names with descriptors as Java writes them |
//! | [`printable`] | text of programs made safe for a terminal |
//! | [`mutf8`] | Modified UTF-8, the encoding of names in class files |

pub mod glob;
pub mod mutf8;
pub mod nearest;
pub mod pattern;
pub mod printable;
pub mod signature;
pub mod types;
