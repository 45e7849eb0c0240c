//! Class bytes to class bytes, jar bytes to jar bytes: the bytecode rewriter of `instrument`, as a library.
//!
//! The crate reads no files and opens no sockets; bytes go in, bytes come out. There is no `unsafe` code, and no class
//! path is needed. `examples/` has three programs: `list_calls` reads classes, `insert_calls` rewrites one with calls
//! of its own, `java_versions` visits archives.
//!
//! # Reading a class
//!
//! [`ClassFile::parse`](class_file::ClassFile::parse) walks the whole file once and copies nothing: what it returns are
//! views on the bytes. Names stay the modified UTF-8 that they are; [`mutf8::escape`](class_file::mutf8::escape) makes
//! them safe to print.
//!
//! ```
//! use instrument_rewriter::class_file::{ClassFile, instruction::Instructions, mutf8, opcode};
//!
//! let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/Greeter.class"));
//! let class = ClassFile::parse(bytes)?;
//! assert_eq!(class.name()?, b"Greeter");
//! let mut throwing = Vec::new();
//! let mut methods = class.methods();
//! while let Some(method) = methods.next()? {
//!     // None: abstract or native.
//!     let Some(code) = method.code(&class.pool)? else { continue };
//!     for instruction in Instructions::new(code.code) {
//!         if instruction?.opcode == opcode::ATHROW {
//!             throwing.push(mutf8::escape(method.name(&class.pool)?));
//!         }
//!     }
//! }
//! assert_eq!(throwing, ["greet"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`text`] prints a class, and compares two of them method by method.
//!
//! # Rewriting a class
//!
//! A [`ClassRewriter`](rewrite::ClassRewriter) inserts what its [`Transforms`](rewrite::Transforms) say, and the calls
//! that an [`InsertCalls`](transform::own_calls::InsertCalls) of yours asks for, into the methods that you choose.
//! Everything that depends on the length of code moves with it: branches, switches, exception table, stack map frames,
//! debug tables.
//!
//! ```
//! use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodEvent, Outcome, Transforms};
//!
//! let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/Greeter.class"));
//! let mut rewriter = ClassRewriter::new(Transforms { method_events: true, ..Transforms::NONE });
//! // A class that the JVM refuses is left as it is, so that nothing is repaired by chance.
//! rewriter.leave_invalid();
//! let mut out = Vec::new();
//! let mut last_id = 0;
//! let outcome = rewriter.rewrite(
//!     bytes,
//!     |method| match method.name {
//!         b"<init>" => Choice::Leave,
//!         _ => {
//!             last_id += 1;
//!             Choice::Rewrite(last_id)
//!         }
//!     },
//!     &mut out,
//! )?;
//! assert_eq!((outcome, last_id), (Outcome::Rewritten, 2));
//! // A method that has to stay as it is says why; the rest of its class is rewritten.
//! for report in rewriter.reports() {
//!     if let MethodEvent::Skipped(reason) = report.event {
//!         println!("method {}: {}", report.index, reason.explanation());
//!     }
//! }
//! # Ok::<(), instrument_rewriter::ClassError>(())
//! ```
//!
//! `method_events` and the other transforms call the Java runtime of `instrument`, by the names in
//! [`transform::hooks`]. Calls of your own classes are in [`transform::own_calls`].
//!
//! # Archives
//!
//! [`archive::visit_classes`] reads every class of a jar and of the jars inside. [`archive::rewrite`] sends them
//! through an [`archive::ClassRewriter`] of yours, in parallel, and writes the archive anew. [`archive::create`] makes
//! a jar.
//!
//! ```
//! use instrument_rewriter::archive::{self, ClassRewriter, Layout, Location, NewEntry, Options};
//! use instrument_rewriter::rewrite::{self, Choice, Outcome, Transforms};
//! use instrument_rewriter::transform::own_calls::{Call, Calls, InsertCalls, Method};
//! use std::sync::Arc;
//!
//! #[derive(Debug)]
//! struct Entries(Call);
//!
//! impl InsertCalls for Entries {
//!     fn insert(&self, _: &Method<'_>, calls: &mut Calls<'_>) {
//!         // Nothing is passed, so nothing can be missing.
//!         let _ = calls.at_entry(self.0.clone());
//!     }
//! }
//!
//! /// Inserts the calls into every class of an archive.
//! struct Everywhere(Arc<Entries>);
//!
//! impl ClassRewriter for Everywhere {
//!     type Plan = ();
//!     fn plan(&self, _: &Location<'_>, _: &[u8]) {}
//!     fn admit(&mut self, _: &Location<'_>, _: &mut (), _: &[u8]) {}
//!     fn rewrite(&self, _: &Location<'_>, _: &(), class: &[u8], out: &mut Vec<u8>) -> bool {
//!         let mut rewriter = rewrite::ClassRewriter::new(Transforms::NONE);
//!         rewriter.insert_calls(Some(self.0.clone()));
//!         // Bytes that are no class are an error, and stay as they are.
//!         matches!(rewriter.rewrite(class, |_| Choice::Rewrite(1), out), Ok(Outcome::Rewritten))
//!     }
//!     fn done(&mut self, _: &Location<'_>, _: (), _: bool) {}
//!     fn extra_entries(&mut self, _: &Layout) -> Vec<NewEntry> {
//!         Vec::new()
//!     }
//! }
//!
//! let class = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/Greeter.class"));
//! let entry = NewEntry { name: "Greeter.class".into(), data: class.to_vec(), stored: false };
//! let jar = archive::create(vec![entry])?;
//! let mut everywhere = Everywhere(Arc::new(Entries(Call::new("com/acme/Hooks", "entered")?)));
//! let mut out = Vec::new();
//! let outcome = archive::rewrite("app.jar", &jar, &mut out, &mut everywhere, &Options::default())?;
//! assert_eq!((outcome.classes, outcome.rewritten), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! | what is wrong | what says it |
//! |---|---|
//! | the bytes are no class file | [`ClassError`]: the rule, the offset, the structure of JVMS chapter 4 |
//! | a method, or a class as a whole, cannot be rewritten | [`reason::Reason`] in the outcome and the reports; it stays as it is |
//! | the archive cannot be read, contradicts itself or reaches a limit | [`archive::ArchiveError`]: the entry and the reason |
//! | an entry of an archive cannot be looked into | [`archive::Unread`] in the outcome; it stays as it is |
//! | a call that no class file can hold | [`transform::own_calls::BadCall`] |
//!
//! # What is promised
//!
//! - A rewritten class is the input's own bytes around what changed. Without a transform the output is the input.
//!   Entries of the constant pool keep their index and their bytes. Stack map frames are shifted and extended, never
//!   recomputed.
//! - The same input and the same options give the same bytes, for any number of threads and on any machine. Entries of
//!   an archive that did not change keep their bytes.
//! - Nothing is left out silently: what is not rewritten has a reason from a closed list.
//! - No input makes these functions panic: class files, archives and patterns may be anything. A function that takes an
//!   index or an offset into code says so if it is the caller who has to check it. Memory is bounded by the length of
//!   the input and the [`Limits`](archive::Limits).
//! - Names: until version 1.0 a minor version may change what is public, and `CHANGELOG.md` says what. Enumerations
//!   that will grow are `#[non_exhaustive]`. Structures of options are made as `Transforms { rmi: true,
//!   ..Transforms::NONE }` and `Options { level: 9, ..Options::default() }`: they may get fields in any version.
//! - The minimum Rust version is the `rust-version` of the manifest; only a minor version raises it.
//!
//! | for whom | modules | |
//! |---|---|---|
//! | everybody | [`class_file`] | reading: spans and typed views of the structures of JVMS chapter 4 |
//! | | [`rewrite`] | one class: the transforms, the choice of methods, what became of them |
//! | | [`transform::own_calls`] | calls of your own |
//! | | [`archive`] | jars: every class goes through, everything else stays its own bytes |
//! | | [`text`] | classes printed for people, and compared |
//! | for those who record with `instrument`'s runtime | [`instrumenter`] | all of it together, with an account of every method |
//! | | [`transform`], [`region`] | what is injected: one file per transform |
//! | | [`filter`] | which methods |
//! | | [`call_graph`] | what root methods can call |
//! | | [`executions`] | where executions of lines and branches are counted |
//! | | [`library`] | which calls lead out of what is rewritten |
//! | | [`remote_methods`] | which methods can be called from other processes |
//! | | [`reason`] | why something is left as it is: a closed list |
//! | | [`survey`] | what a class is, before it is touched |
//! | | [`account`] | what became of every class and method, as JSON lines |
//!
//! The second part follows the needs of `instrument` itself: it may change in every version.
#![deny(missing_docs)]

pub mod account;
pub mod archive;
mod assemble;
pub mod call_graph;
pub mod class_file;
pub mod code;
pub mod error;
pub mod executions;
pub mod filter;
pub mod instrumenter;
pub mod library;
pub mod reason;
pub mod region;
pub mod remote_methods;
pub mod rewrite;
pub mod runtime;
pub mod survey;
pub mod text;
pub mod transform;
mod validity;

pub use error::{ClassError, ClassErrorKind};
