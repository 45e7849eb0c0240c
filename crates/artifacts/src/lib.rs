//! Programs on disk: class files, archives, directories and whole JDKs, found, read, compared, judged and rewritten.
//! Nothing is left half-written.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | [`source`] | addresses of classes (`app.jar!lib/x.jar!com/acme/Foo.class`), and what lies there |
//! | [`sources`] | source files, by the package and the name that class files have |
//! | [`suggestions`] | how patterns of classes and methods go on that somebody has begun to type |
//! | [`class_path`] | classes by name: inputs, class path, JDK |
//! | [`mod@rewrite`] | inputs to outputs: the order of what follows |
//! | [`input`] | which input becomes which output, and what is refused before anything is read |
//! | [`config`], [`settings`] | `instrument.toml`; what to rewrite and how |
//! | [`engine`] | units of files through the rewriter, with ids and an account |
//! | [`staging`], [`outputs`] | outputs appear when all has succeeded, or not at all |
//! | `bound` | what lies beside archives and is bound to their bytes |
//! | [`id_file`] | the file of method ids that several builds share |
//! | [`probes`] | the rules of a `--probes` file against the classes that they are for |
//! | [`dump`], [`diff`], [`verify`], [`golden`] | classes printed, compared, judged, and kept as snapshots |
//! | [`coverage`] | the counters of profiles against the class files that they were taken from |
//! | [`jdk`], [`launcher`] | a JDK's module image, its classes for remote calls, the agent that a jar carries for them |

mod bound;
pub mod class_path;
pub mod config;
pub mod coverage;
pub mod diff;
pub mod dump;
pub mod engine;
pub mod golden;
pub mod id_file;
pub mod input;
pub mod jdk;
pub mod launcher;
pub mod outputs;
pub mod probes;
pub mod properties;
mod remarks;
pub mod rewrite;
pub mod runtime;
pub mod settings;
pub mod source;
pub mod sources;
pub mod staging;
pub mod subclasses;
pub mod suggestions;
pub mod tree;
pub mod unit;
pub mod verify;
