//! The user's folder for what can be made anew.

use std::path::PathBuf;

/// `$XDG_CACHE_HOME/instrument`, or `~/.cache/instrument`; none: neither is known.
pub(crate) fn of_user() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    cache.map(|cache| cache.join("instrument"))
}
