//! Options that several commands share, and where they come from: command line, environment, `instrument.toml`.

pub(crate) mod cache;
pub(crate) mod command_line;
pub(crate) mod completing;
pub(crate) mod formats;
pub(crate) mod labels;
pub(crate) mod own;
pub(crate) mod schema;
pub(crate) mod session;
pub(crate) mod settings;
pub(crate) mod view;
