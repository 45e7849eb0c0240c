//! Code regions: how long control stays between two points of a method (seed 002, section 5).
//!
//! | where | code |
//! |---|---|
//! | on every way into the region, over its first instruction | push N; `Regions.begin` |
//! | on every way out, to another instruction or by xRETURN | push N; `Regions.end` |
//! | in front of a handler outside, for exceptions from inside | push N; `Regions.left` |
//! | a catch-any handler behind the code, for exceptions that leave the method | push N; `Regions.left`; `athrow` |
//!
//! A way is an edge of the control flow; edges within the region tell nothing, so a loop whose back edge leads to the
//! region's first instruction is one passage. Steps:
//! 1. Refuse what cannot be timed exactly: see [`RegionFault`].
//! 2. For every instruction that some edge enters over a border, see which edges do. If all do in the same way, the
//!    call stands in front of the instruction; else each edge gets its own: behind the instruction that falls through,
//!    or in a [`Detour`] that only the branches concerned take.
//! 3. Returns, handlers, and the handler behind the code.

use super::{MethodSite, Transform};
use crate::class_file::instruction::targets;
use crate::class_file::opcode;
use crate::code::Reason;
use crate::code::edits::{Detour, Edits, Place, RegionHandler, Snippet, Way};
use crate::code::hooks::Hook;
use crate::region::{PcRange, RegionFault};
use std::collections::{BTreeMap, BTreeSet};

/// A region of the method in work: its number and its instructions.
pub(crate) type Located = (u32, PcRange);

/// The transform; its regions are in the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Regions;

/// The regions of one method, without common instructions.
struct Marked<'r>(&'r [Located]);

/// The ways to one instruction. Regions by position; `None`: outside of all.
#[derive(Default)]
struct Ways {
    fall: Option<Option<usize>>,
    /// Source -> pcs of the branches.
    jumps: BTreeMap<Option<usize>, BTreeSet<u32>>,
    /// Sources of exceptions, if it is a handler.
    thrown: BTreeSet<Option<usize>>,
}

/// What is wrong with each of `regions`, if something is.
fn faults(site: &MethodSite<'_>, regions: &[Located]) -> Vec<Option<RegionFault>> {
    let mut faults: Vec<Option<RegionFault>> = vec![None; regions.len()];
    for (index, &(_, (start, end))) in regions.iter().enumerate() {
        let sound =
            start < end && site.scan.is_instruction(start as usize) && site.scan.is_boundary(end as usize);
        let overlaps =
            regions.iter().enumerate().any(|(other, &(_, (s, e)))| other != index && s < end && start < e);
        faults[index] = if !sound {
            Some(RegionFault::NotFound)
        } else if site.scan.subroutines {
            Some(RegionFault::Subroutines)
        } else if overlaps {
            Some(RegionFault::Overlaps)
        } else {
            None
        };
    }
    if faults.iter().any(Option::is_some) {
        return faults;
    }
    let regions = Marked(regions);
    let ways = regions.ways(site);
    for (index, &(_, (start, _))) in regions.0.iter().enumerate() {
        let entered = ways.get(&start).is_some_and(|ways| ways.sources().any(|from| from != Some(index)));
        if !entered {
            faults[index] = Some(RegionFault::NotEntered);
        }
    }
    for (&pc, ways) in &ways {
        let to = regions.at(pc);
        let crosses = |from: &Option<usize>| *from != to;
        if let Some(index) = to
            && pc != regions.0[index].1.0
            && ways.sources().any(|from| crosses(&from))
        {
            faults[index] = Some(RegionFault::EnteredInTheMiddle(pc));
        }
        if ways.thrown.is_empty() {
            continue;
        }
        let jumped = ways.jumps.keys().copied().find(crosses);
        let begins = to.filter(|&index| pc == regions.0[index].1.0);
        let shared = match begins {
            // The call in front of it must be right for everyone.
            Some(index) => (ways.sources().any(|from| from.is_some())).then_some(index),
            None => jumped.and_then(|from| from.or(to)),
        };
        if let Some(index) = shared {
            faults[index] = Some(RegionFault::SharedHandler(pc));
        }
    }
    faults
}

impl Transform for Regions {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        !site.request.regions.is_empty()
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let regions = site.request.regions;
        let faults = faults(site, regions);
        let sound = regions.iter().zip(&faults).filter(|(_, fault)| fault.is_none());
        let sound: Vec<Located> = sound.map(|(region, _)| *region).collect();
        site.findings.region_faults = faults;
        plan(site, &sound, edits)
    }
}

/// Adds the insertions for `regions`, which have no [`faults`].
fn plan(site: &mut MethodSite<'_>, regions: &[Located], edits: &mut Edits) -> Result<(), Reason> {
    let regions = Marked(regions);
    if regions.0.is_empty() {
        return Ok(());
    }
    edits.need_stack(1);
    edits.least_stack = edits.least_stack.max(2);
    for (pc, ways) in regions.ways(site) {
        let to = regions.at(pc);
        let crosses = |from: Option<usize>| from != to;
        if !ways.sources().any(crosses) {
            continue;
        }
        let is_handler = !ways.thrown.is_empty();
        let sources: BTreeSet<Option<usize>> = ways.sources().collect();
        if sources.len() == 1 && (!is_handler || to.is_some()) {
            let snippet = regions.calls(site, sources.first().copied().flatten(), to)?;
            edits.insert(pc, Place::Before, snippet);
            continue;
        }
        if let Some(from) = ways.fall.filter(|from| crosses(*from)) {
            let snippet = regions.calls(site, from, to)?;
            edits.insert(pc, Place::AfterPrevious, snippet);
        }
        for (&from, branches) in ways.jumps.iter().filter(|way| crosses(*way.0)) {
            let snippet = regions.calls(site, from, to)?;
            let way = Way::Branches(branches.iter().copied().collect());
            edits.detours.push(Detour { pc, way, snippet });
        }
        for index in ways.thrown.iter().copied().filter(|from| crosses(*from)).flatten() {
            let (number, range) = regions.0[index];
            let snippet = call(site, Snippet::default(), Hook::RegionLeft, number)?;
            edits.detours.push(Detour { pc, way: Way::Exceptions(range), snippet });
            if site
                .code
                .exception_table
                .iter()
                .any(|row| row.catch_type == 0 && u32::from(row.handler_pc) == pc)
            {
                edits.insert(pc, Place::Pad, Snippet::default());
            }
        }
    }
    for &pc in &site.scan.returns {
        if let Some(from) = regions.at(pc) {
            let snippet = call(site, Snippet::default(), Hook::RegionEnd, regions.0[from].0)?;
            edits.insert(pc, Place::Before, snippet);
        }
    }
    for &(number, range) in regions.0 {
        let ranges = covered(site, range)?;
        if ranges.is_empty() {
            continue;
        }
        let snippet = call(site, Snippet::default(), Hook::RegionLeft, number)?.with(&[opcode::ATHROW]);
        edits.region_handlers.push(RegionHandler {
            snippets: vec![snippet],
            start: Some(range.0),
            ranges,
            locals: Vec::new(),
        });
    }
    Ok(())
}

/// `range` without the returns, which come behind the end, and without code that no handler may cover.
fn covered(site: &mut MethodSite<'_>, (start, end): PcRange) -> Result<Vec<PcRange>, Reason> {
    let within = if site.is_constructor { site.flow()?.initialized.clone() } else { vec![(start, end)] };
    let mut ranges = Vec::new();
    for (a, b) in within {
        let (first, to) = (a.max(start), b.min(end));
        let mut from = first;
        for &pc in site.scan.returns.iter().filter(|&&pc| (first..to).contains(&pc)) {
            if from < pc {
                ranges.push((from, pc));
            }
            from = pc + 1;
        }
        if from < to {
            ranges.push((from, to));
        }
    }
    Ok(ranges)
}

fn call(site: &mut MethodSite<'_>, snippet: Snippet, hook: Hook, number: u32) -> Result<Snippet, Reason> {
    let push = site.push(number)?;
    site.call(hook, snippet.then(push))
}

impl Marked<'_> {
    /// The region that the instruction at `pc` belongs to.
    fn at(&self, pc: u32) -> Option<usize> {
        self.0.iter().position(|&(_, (start, end))| (start..end).contains(&pc))
    }

    /// Leaves `from`, enters `to`.
    fn calls(
        &self,
        site: &mut MethodSite<'_>,
        from: Option<usize>,
        to: Option<usize>,
    ) -> Result<Snippet, Reason> {
        let mut snippet = Snippet::default();
        if let Some(from) = from {
            snippet = call(site, snippet, Hook::RegionEnd, self.0[from].0)?;
        }
        if let Some(to) = to {
            snippet = call(site, snippet, Hook::RegionBegin, self.0[to].0)?;
        }
        Ok(snippet)
    }

    /// The ways to every instruction that is not only fallen into from its own side.
    fn ways(&self, site: &MethodSite<'_>) -> BTreeMap<u32, Ways> {
        let (code, scan) = (site.code.code, site.scan);
        let mut all: BTreeMap<u32, Ways> = BTreeMap::new();
        for &(_, (start, end)) in self.0 {
            all.entry(start).or_default();
            if scan.is_instruction(end as usize) {
                all.entry(end).or_default();
            }
        }
        for &branch in scan.branches.iter().chain(&scan.switches) {
            // A branch to elsewhere than an instruction is refused when it is moved.
            let sound = |target: &u32| scan.is_instruction(*target as usize);
            for target in targets(code, branch as usize).filter_map(|t| u32::try_from(t).ok()).filter(sound) {
                let jumps = &mut all.entry(target).or_default().jumps;
                jumps.entry(self.at(branch)).or_default().insert(branch);
            }
        }
        for row in site.code.exception_table.iter() {
            let range = u32::from(row.start_pc)..u32::from(row.end_pc);
            let thrown = &mut all.entry(u32::from(row.handler_pc)).or_default().thrown;
            let mut inside = 0;
            for (index, &(_, (start, end))) in self.0.iter().enumerate() {
                let common = end.min(range.end).saturating_sub(start.max(range.start));
                if common > 0 {
                    thrown.insert(Some(index));
                    inside += common;
                }
            }
            if inside < range.end - range.start {
                thrown.insert(None);
            }
        }
        for (&pc, ways) in &mut all {
            if pc == 0 {
                ways.fall = Some(None);
            } else if scan.falls_into(pc as usize) {
                ways.fall = Some(self.at(pc - 1));
            }
        }
        all
    }
}

impl Ways {
    fn sources(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.fall.into_iter().chain(self.jumps.keys().copied()).chain(self.thrown.iter().copied())
    }
}
