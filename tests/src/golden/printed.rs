//! The printed difference between a class and its rewritten form.

use anyhow::Result;
use instrument_rewriter::text;

use super::seam::dump;

/// A unified diff of the two dumps; empty when the bytes are equal.
///
/// # Errors
/// One of the two cannot be printed.
pub fn printed_diff(name: &str, before: &[u8], after: &[u8]) -> Result<String> {
    if before == after {
        return Ok(String::new());
    }
    let (old, new) = (dump(before)?, dump(after)?);
    // Labels of the code that was there keep their names, so that only what was inserted differs.
    let hunks: String = text::changes(&old, &new, 2).into_iter().map(|change| change.hunks).collect();
    Ok(format!("--- {name} before\n+++ {name} after\n{hunks}"))
}
