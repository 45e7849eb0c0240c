//! Calls between processes that begin and end within a method: the runtime gives each a number, which a local variable
//! keeps until the end is told by it. 0: no call is open.

use super::MethodSite;
use super::method_events::{PcRange, cover, handlers};
use crate::class_file::opcode::{ATHROW, DUP, ICONST_0, ILOAD, ISTORE};
use crate::code::Reason;
use crate::code::edits::{Edits, Kept, Place, RegionHandler, Snippet};
use crate::code::hooks::Hook;

/// A local variable for a number, which is 0 at first.
pub(super) fn number(site: &MethodSite<'_>, edits: &mut Edits) -> Result<u16, Reason> {
    let number = edits.keep(site.code.max_locals, Kept::Int)?.index;
    edits.first.push(Snippet::default().with(&[ICONST_0]).with_local(ISTORE, number));
    Ok(number)
}

/// What has begun goes on until the method ends: hooks for where it returns, and where an exception leaves it.
pub(super) fn until_its_end(
    site: &mut MethodSite<'_>,
    edits: &mut Edits,
    (returned, failed): (Hook, Hook),
    number: u16,
) -> Result<(), Reason> {
    let left = over(site, Snippet::default(), returned, number)?;
    site.scan.returns.iter().for_each(|&pc| edits.insert(pc, Place::Before, left));
    let mut covered: Vec<PcRange> = Vec::new();
    cover(&site.scan.returns, 0, site.code.code.len() as u32, &mut covered);
    uncaught(site, edits, covered, failed, number)
}

/// The call of a hook that tells of an end, which is the end of the number as well.
pub(super) fn over(
    site: &mut MethodSite<'_>,
    load: Snippet,
    hook: Hook,
    number: u16,
) -> Result<Snippet, Reason> {
    let ended = site.call(hook, load.with_local(ILOAD, number))?;
    Ok(ended.with(&[ICONST_0]).with_local(ISTORE, number))
}

/// In front of the handlers that what leaves one of the calls can come to.
pub(super) fn caught(
    site: &mut MethodSite<'_>,
    edits: &mut Edits,
    calls: &[PcRange],
    hook: Hook,
    number: u16,
) -> Result<(), Reason> {
    let covers = |handler: u32| {
        let rows = site.code.exception_table.iter().filter(|row| u32::from(row.handler_pc) == handler);
        rows.into_iter().any(|row| {
            calls.iter().any(|&(pc, _)| (u32::from(row.start_pc)..u32::from(row.end_pc)).contains(&pc))
        })
    };
    let wanted: Vec<_> =
        handlers(&site.code.exception_table).filter(|&(handler, _)| covers(handler)).collect();
    for (handler, catches_any) in wanted {
        if catches_any {
            edits.insert(handler, Place::Pad, Snippet::default());
        }
        let failed = over(site, Snippet::default().with(&[DUP]), hook, number)?;
        edits.insert(handler, Place::Landing, failed);
    }
    Ok(())
}

/// A handler for what nothing else in the method handles.
pub(super) fn uncaught(
    site: &mut MethodSite<'_>,
    edits: &mut Edits,
    ranges: Vec<PcRange>,
    hook: Hook,
    number: u16,
) -> Result<(), Reason> {
    if ranges.is_empty() {
        return Ok(());
    }
    let failed = site.call(hook, Snippet::default().with(&[DUP]).with_local(ILOAD, number))?;
    edits.region_handlers.push(RegionHandler {
        snippets: vec![failed.with(&[ATHROW])],
        start: None,
        ranges,
        locals: Vec::new(),
    });
    Ok(())
}
