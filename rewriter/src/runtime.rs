//! Names of the runtime of `instrument`: what tells classes of ours, and classes that were rewritten, from others.

/// Where the classes that the injected code calls live; always left out, whatever the patterns say.
pub const RUNTIME_PACKAGE: &str = "instrument/runtime/";
/// What programs call to name parts of themselves in the profile; left out as well, for its calls begin and end frames.
pub const API_PACKAGE: &str = "instrument/api/";

/// Internal name of a class that lies beside `java.lang.Object`, where an agent defines it or a rewritten module image
/// has it: a method for every hook, which calls the hook. Every class loader finds it, whatever it thinks of other
/// packages: `defineClass` makes it ask the boot loader for all of `java.*`.
pub const BOOT_PROBES: &str = "java/lang/InstrumentProbes";

/// Descriptor of the method and region events: the method id, or the number of the region.
pub const METHOD_EVENT: &str = "(I)V";
/// Descriptor of the events that get an object: one that was made, or a thread that is started.
pub const OBJECT_EVENT: &str = "(Ljava/lang/Object;)V";

/// Whether a class is our own.
pub fn is_own(class: &[u8]) -> bool {
    class.starts_with(RUNTIME_PACKAGE.as_bytes()) || class.starts_with(API_PACKAGE.as_bytes())
}

/// Whether a class that names this class was rewritten, by this version or any other: what injected code calls has
/// always been, and will always be, a class of the runtime's package or [`BOOT_PROBES`].
pub(crate) fn is_owner(class: &[u8]) -> bool {
    class.starts_with(RUNTIME_PACKAGE.as_bytes()) || class == BOOT_PROBES.as_bytes()
}
