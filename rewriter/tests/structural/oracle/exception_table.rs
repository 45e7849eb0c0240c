//! The exception table: which new rows stand for which old ones, and what each of them may cover.

use super::{MethodCheck, Part, ensure};
use crate::structural::model::Row;
use std::collections::BTreeSet;

/// What the exception table must do with an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Covered,
    Uncovered,
    Either,
}

impl Want {
    fn covered(yes: bool) -> Self {
        if yes { Self::Covered } else { Self::Uncovered }
    }
}

impl MethodCheck<'_> {
    pub(super) fn check_exception_table(&mut self) -> Result<(), String> {
        let old_rows = &self.old.code.rows;
        let mut shielded = BTreeSet::new();
        let mut expected = Vec::new();
        for row in old_rows.iter().filter(|row| row.catch_type == 0 && self.form.method_events) {
            if shielded.insert(row.handler) {
                let h = self.old.index_or(row.handler, "handler")?;
                let (landing, target) = (self.layout.landing[h], self.layout.target[h]);
                let pad = self.layout.pad[h].ok_or("exception table: no pad in front of a landing")?;
                expected.push(Row { start: landing, end: target, handler: pad, catch_type: 0 });
            }
        }
        let new_rows = &self.new.code.rows;
        ensure!(
            new_rows.starts_with(&expected),
            "exception table: rows of the landings: {new_rows:?}, not {expected:?}"
        );
        let mut next = expected.len();
        let mut first_rows = Vec::new();
        for row in old_rows {
            first_rows.push(next);
            let h = self.old.index_or(row.handler, "handler")?;
            let range = self.old.index_or(row.start, "range")?..self.old.index_or(row.end, "range")?;
            let wants: Vec<Want> = self.parts.iter().map(|part| self.want_of_row(&range, h, *part)).collect();
            let handler = self.layout.landing[h];
            let taken =
                self.take_rows(next, &wants, |r| r.handler == handler && r.catch_type == row.catch_type)?;
            ensure!(taken > 0, "exception table: row {row:?} is missing");
            self.seen.split_rows += u64::from(taken > 1);
            next += taken;
        }
        let wants: Vec<Want> = self.parts.iter().map(|part| self.want_of_unwind(*part)).collect();
        let needed = wants.contains(&Want::Covered);
        let unwind = self.layout.insn[self.old.insns.len()];
        if self.has_unwind {
            let taken = self.take_rows(next, &wants, |r| r.handler == unwind && r.catch_type == 0)?;
            ensure!(taken > 0, "exception table: nothing leads to the unwind handler");
            next += taken;
        } else {
            ensure!(!needed, "unwind: the handler is missing");
        }
        ensure!(next == new_rows.len(), "exception table: {} rows too many", new_rows.len() - next);
        self.rows = first_rows;
        Ok(())
    }

    /// The number of rows from `from` on that together do what `wants` says.
    fn take_rows(
        &self,
        from: usize,
        wants: &[Want],
        belongs: impl Fn(&Row) -> bool,
    ) -> Result<usize, String> {
        let rows = &self.new.code.rows;
        let mut left = wants.iter().filter(|want| **want == Want::Covered).count();
        let mut next = from;
        let mut last_end = 0;
        // Rows that cover only what may be covered or not: dead code behind the rest.
        let optional = |row: &Row| {
            (row.start..row.end).filter_map(|pc| self.new.index(pc)).all(|index| wants[index] == Want::Either)
        };
        while let Some(row) = rows
            .get(next)
            .filter(|row| belongs(row) && (left > 0 || (row.start >= last_end && optional(row))))
        {
            let start = self.new.index_or(row.start, "exception table")?;
            let end = self.new.index_or(row.end, "exception table")?;
            ensure!(start < end && row.start >= last_end, "exception table: {row:?} is empty or overlaps");
            for (index, want) in wants.iter().enumerate().take(end).skip(start) {
                match want {
                    Want::Covered => left -= 1,
                    Want::Either => {}
                    Want::Uncovered => {
                        let part = self.parts[index];
                        return Err(format!("exception table: {row:?} covers {part:?}"));
                    }
                }
            }
            last_end = row.end;
            next += 1;
        }
        ensure!(left == 0, "exception table: {left} instructions are not covered from row {from} on");
        Ok(next - from)
    }

    /// Whether an old row over `range` with the handler `h` is to cover a new instruction. Gotos cannot throw,
    /// but their state must fit the handler's frame: it fits where the row covers the code that they belong to.
    fn want_of_row(&self, range: &std::ops::Range<usize>, h: usize, part: Part) -> Want {
        let inside = |i: usize| range.contains(&i);
        match part {
            Part::Original(i) | Part::Before(i) => Want::covered(inside(i)),
            Part::After(i) => Want::covered(inside(i - 1)),
            Part::Landing(i) => Want::covered(inside(i) && i != h),
            Part::Skip(i) if inside(i - 1) => Want::Either,
            Part::Pad(i) if inside(i) && i != h => Want::Either,
            Part::Trampoline(target) if inside(target) || self.serves_inside(target, range) => Want::Either,
            Part::Skip(_) | Part::Pad(_) | Part::Trampoline(_) | Part::Entry | Part::Unwind => {
                Want::Uncovered
            }
        }
    }

    /// Whether every conditional branch to `target` lies in `range`.
    fn serves_inside(&self, target: usize, range: &std::ops::Range<usize>) -> bool {
        let pc = self.old.pc(target) as i64;
        let mut branches =
            self.old.insns.iter().enumerate().filter(|(_, i)| i.is_conditional() && i.targets()[0] == pc);
        branches.all(|(index, _)| range.contains(&index))
    }

    fn want_of_unwind(&self, part: Part) -> Want {
        if !self.form.method_events {
            return Want::Uncovered;
        }
        let of = |i: usize| {
            if self.old.insns[i].is_return() {
                return Want::Uncovered;
            }
            match (&self.states, self.is_constructor) {
                (_, false) => Want::Covered,
                (None, true) => Want::Either,
                (Some(states), true) => match &states[i] {
                    None => Want::Either,
                    Some(state) => Want::covered(!state.pending),
                },
            }
        };
        match part {
            Part::Original(i) | Part::Landing(i) | Part::Before(i) => of(i),
            Part::After(i) => of(i - 1),
            Part::Skip(i) => match (of(i - 1), of(i)) {
                (Want::Uncovered, Want::Uncovered) => Want::Uncovered,
                _ => Want::Either,
            },
            Part::Pad(i) if of(i) == Want::Uncovered => Want::Uncovered,
            Part::Pad(_) => Want::Either,
            Part::Trampoline(target) => match (self.is_constructor, of(target)) {
                (true, Want::Uncovered) if !self.old.insns[target].is_return() => Want::Uncovered,
                _ => Want::Either,
            },
            Part::Entry | Part::Unwind => Want::Uncovered,
        }
    }
}
