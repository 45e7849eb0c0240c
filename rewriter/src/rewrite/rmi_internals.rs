//! Classes of the JDK that make and serve remote calls.

use super::{Choice, ClassRewriter, Outcome, Reason, Transforms};

/// The new bytes of one of [`internals`](crate::transform::rmi::internals), which tells of remote calls and of nothing
/// else: no method of it has an id.
///
/// # Errors
/// Why it stays as it is: it is not as expected, or not a class.
pub fn rewrite_internal(class: &[u8]) -> Result<Vec<u8>, Reason> {
    let mut out = Vec::new();
    let mut rewriter = ClassRewriter::new(Transforms { rmi: true, ..Transforms::NONE });
    match rewriter.rewrite(class, |_| Choice::Rewrite(0), &mut out) {
        Ok(Outcome::Rewritten) => Ok(out),
        Ok(Outcome::Skipped(reason)) => Err(reason),
        Ok(Outcome::Unchanged) | Err(_) => Err(Reason::UnknownInternals),
    }
}
