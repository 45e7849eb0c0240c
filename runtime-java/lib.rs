//! The Java classes that injected code calls, as bytes: both doors carry them, so that neither needs a JDK or a file of its own.

/// Entry name and bytes of every class of the runtime, from `runtime-java/classes`, in the order of the names.
pub static CLASSES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/runtime_classes.rs"));

/// The same of the launcher agent, which is not part of the runtime: the program's class loader loads it, whoever loads the runtime.
pub static LAUNCHER: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/launcher_classes.rs"));
