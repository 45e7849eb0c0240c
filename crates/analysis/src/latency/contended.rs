//! Where calls of a method waited to enter a monitor, where that was recorded.

use std::collections::HashMap;

use instrument_trace::{TreeConsumer, Wait, WaitKind};

use crate::session::{Error, ProfileFile};

/// Hands over the waits within calls of a method: the ordinal of their thread, the wait, and the names of what the outermost of these calls had called, the first one first.
pub(super) fn visit(
    file: &ProfileFile,
    method: &str,
    wants: &dyn Fn(&str) -> bool,
    mut visit: impl FnMut(u32, &Wait, &[String]),
) -> Result<(), Error> {
    let profile = &file.profile;
    let mut paths: HashMap<(u32, u32), Option<Vec<String>>> = HashMap::new();
    let read = profile.for_each_wait(file.source(), |wait| {
        let known = wait.kind == WaitKind::Contended && wait.end > profile.window_clock.max(wait.start);
        let Some(thread) = profile.java_thread(wait.copy, wait.thread).filter(|_| known) else { return };
        let path = paths.entry((wait.copy, wait.context)).or_insert_with(|| path(file, method, wait));
        if let Some(path) = path.as_ref().filter(|_| wants(&thread.name)) {
            visit(thread.ordinal, wait, path);
        }
    });
    read.map_err(Error::profile(&file.path))
}

/// What was called below the outermost call of the method; none: it was not called there.
fn path(file: &ProfileFile, method: &str, wait: &Wait) -> Option<Vec<String>> {
    let chain = file.profile.copies.get(&wait.copy)?.contexts.chain(wait.context);
    let names = chain.filter_map(TreeConsumer::method).map(|id| file.names.method(wait.copy, id));
    let mut names: Vec<String> = names.collect();
    names.truncate(names.iter().rposition(|name| name == method)?);
    names.reverse();
    Some(names)
}
