//! What the binary was built from.

/// `--version`: the version, then a line for each fact. `build.rs` has them.
pub(crate) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit    ",
    env!("INSTRUMENT_COMMIT"),
    "\ntarget    ",
    env!("INSTRUMENT_TARGET"),
    "\nfeatures  ",
    env!("INSTRUMENT_FEATURES"),
    "\ncompiler  ",
    env!("INSTRUMENT_COMPILER"),
);
