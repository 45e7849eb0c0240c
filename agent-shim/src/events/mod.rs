//! Events of the virtual machine, and the environments that they come from.

pub(crate) mod callbacks;
pub(crate) mod environments;
pub(crate) mod monitors;
