//! Class bytes to class bytes, jar bytes to jar bytes: the bytecode rewriter of `instrument`.
//!
//! The crate reads no files and opens no sockets; bytes go in, bytes come out.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | [`class_file`] | reading: spans and typed views of the structures of JVMS chapter 4 |
//! | [`rewrite`] | writing: the constant-pool appender, relocation of everything that depends on code length, the splice writer |
//! | [`archive`] | jars: every class goes through, everything else stays its own bytes |
//! | [`survey`] | what a class is, before it is touched |
//! | [`remote_methods`] | which methods can be called from other processes |
//! | [`account`] | what became of every class and method, as JSON lines |
//! | [`instrumenter`] | all of it together, with an account of every method |
//! | [`filter`] | which methods |
//! | [`call_graph`] | what root methods can call |
//! | [`library`] | which calls lead out of what is rewritten |
//! | [`text`] | classes printed for people, and compared |
//! | [`transform`] | what is injected: one file per transform |
//!
//! A rewritten class is the input's own bytes around what changed. Without a transform the output is the
//! input; constant-pool entries that were there keep their index and their bytes; stack map frames are
//! shifted and extended, never recomputed, so no class path is needed.

pub mod account;
pub mod archive;
pub mod call_graph;
pub mod class_file;
pub mod error;
pub mod filter;
pub mod instrumenter;
pub mod library;
pub mod region;
pub mod remote_methods;
pub mod rewrite;
pub mod survey;
pub mod text;
pub mod transform;
mod validity;

pub use error::{ClassError, ClassErrorKind};
