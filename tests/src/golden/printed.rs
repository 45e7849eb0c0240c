//! The printed difference between a class and its rewritten form.

use anyhow::Result;
use similar::TextDiff;

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
    let diff = TextDiff::from_lines(&old, &new);
    Ok(diff
        .unified_diff()
        .context_radius(2)
        .header(&format!("{name} before"), &format!("{name} after"))
        .to_string())
}
