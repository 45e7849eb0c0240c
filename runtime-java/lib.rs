//! The Java classes that injected code calls, as bytes: both doors carry them, so that neither needs a JDK or a file of its own.

/// Entry name and bytes of every class, from `runtime-java/classes`, in the order of the names.
pub static CLASSES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/runtime_classes.rs"));
