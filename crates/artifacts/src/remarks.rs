//! What has to be said of all inputs together, once they are rewritten.

use anyhow::{Result, bail};
use instrument_control::word::Record;
use instrument_messages::number;
use instrument_rewriter::instrumenter::{RegionRecord, Totals};
use instrument_rewriter::region::Region;
use instrument_rewriter::transform::Transforms;

/// A region that is timed nowhere is an error: whoever asked for it would wait for figures in vain.
pub(super) fn check_regions(regions: &[Region], records: &[RegionRecord]) -> Result<()> {
    for (position, region) in regions.iter().enumerate() {
        let met: Vec<&RegionRecord> = records.iter().filter(|record| record.region == position).collect();
        if met.iter().any(|record| record.fault.is_none()) {
            continue;
        }
        let Some(RegionRecord { at, fault: Some(fault), .. }) = met.first() else {
            bail!("region {}: there is no class {} that is instrumented", region.name, region.class_name())
        };
        bail!("{at}: region {}: {fault}", region.name)
    }
    Ok(())
}

/// Whether links are recorded whose contexts are not.
pub(super) fn links_nothing(transforms: Transforms, record: Record) -> bool {
    let links = transforms.thread_links || transforms.hand_over;
    links && !transforms.method_events && record != Record::Counts
}

/// Methods that got a wrapper, which changes their class more than anything else does.
pub(super) fn wrapped(totals: &Totals) -> Option<String> {
    let text = || {
        format!(
            "{} too large for what is inserted: a wrapper was put around each (--account FILE names them)",
            number(totals.methods_wrapped, "method")
        )
    };
    (totals.methods_wrapped > 0).then(text)
}

/// What is not recorded of them.
pub(super) fn wrapped_bare(totals: &Totals) -> Option<String> {
    let text = || {
        format!(
            "{} of them without what is recorded inside (allocation, calls into libraries, threads, regions): there is no room for it",
            totals.methods_wrapped_bare
        )
    };
    (totals.methods_wrapped_bare > 0).then(text)
}
