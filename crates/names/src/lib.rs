//! Names of classes and methods: how they are spelled, shown, matched and suggested. One home for all commands, the
//! agent and the reports.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | [`pattern`] | the one pattern language: which classes and methods a user means |
//! | [`types`] | types in patterns: the parameters of methods, the classes of objects with their arrays |
//! | [`glob`] | wildcards over the names of class files |
//! | [`id_map`] | which number the injected code has for which method, and how a file keeps that |
//! | [`jdk`] | which classes are the JDK's |
//! | [`nearest`] | what a pattern that fits nothing may have been meant as |
//! | [`signature`] | names with descriptors as Java writes them |
//! | [`program`] | which program a process runs, from its command |
//! | [`selection`] | what of a program is recorded, as profiles say it |
//! | [`snapshot`] | how the file is called that a reset leaves beside a profile |
//! | [`printable`] | text of programs made safe for a terminal |
//! | [`markdown`] | the same in Markdown and its HTML |
//! | [`word`] | values that are written as one of a few words |
//! | [`mutf8`] | Modified UTF-8, the encoding of names in class files |
#![deny(missing_docs)]

mod error;
pub mod glob;
pub mod id_map;
pub mod jdk;
pub mod markdown;
pub mod mutf8;
pub mod nearest;
pub mod pattern;
pub mod printable;
pub mod program;
pub mod selection;
pub mod signature;
pub mod snapshot;
pub mod types;
pub mod word;
