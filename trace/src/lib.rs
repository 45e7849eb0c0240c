//! The profile file format.
