//! What changed, for people: methods, then contexts.

use std::io::Write;

use instrument_names::printable::printable;

use super::{Change, Changed, Diff, Part, Rest};
use crate::model::{Kind, Resource};
use crate::report::Error;
use crate::report::aligned::Aligned;
use crate::report::interval::{Certainty, Difference, Verdict};
use crate::report::labels::Labels;
use crate::text::below;
use crate::text::{JOINT, plural, quantity};

/// Frames of a context that are printed, the innermost ones.
const FRAMES: usize = 8;

impl Diff<'_> {
    /// What stands for it in a line: the name of a method, the innermost frames of a context or all of them.
    pub(super) fn words(&self, of: Changed, frames: usize, label: &dyn Fn(&str) -> String) -> String {
        match of {
            Changed::Method(_) => label(self.consumer(of).1),
            Changed::Context(id) => {
                let path = self.path(id);
                let first = path.len().saturating_sub(frames);
                let above = if first > 0 { format!("\u{2026}{JOINT}") } else { String::new() };
                let path: Vec<String> = path[first..].iter().map(|name| label(name)).collect();
                format!("{above}{}", path.join(JOINT))
            }
        }
    }

    pub(super) fn text(
        &self,
        out: &mut dyn Write,
        changes: [&[Change]; 2],
        rest: [Rest; 2],
    ) -> Result<(), Error> {
        if let Some(sampled) = self.differently {
            let all = self.runs.iter().sum::<usize>();
            writeln!(
                out,
                "running is CPU time by samples in {sampled} of {all} runs, and thread time less waits in the others"
            )?;
        }
        let total = &self.cum[..self.all.resources().len()];
        for &r in &self.shown {
            let resource = &self.resources[r];
            let part = if r == 0 { Part::Base } else { Part::Cum };
            let found = match self.sampling.as_ref().filter(|(sampling, _)| sampling.decides(r)) {
                _ if r == 0 => self.all_calls(),
                Some((sampling, [limit, _])) => {
                    sampling.difference(total, r, self.resources.len(), &limit.alone())
                }
                None => self.compare(total, part, r, Certainty::of(1)),
            };
            let figures = [found.before, found.after].map(|value| figure(value, &resource.unit));
            let change = relative(found.before, found.after);
            let mark = if found.verdict == Verdict::WithinErrors { ", within the errors" } else { "" };
            let name = printable(&resource.name);
            writeln!(out, "{name} {} -> {} ({change}{mark})", figures[0], figures[1])?;
        }
        let [before, after] = self.runs;
        if self.sampling.is_some() {
            writeln!(
                out,
                "means of {before} and {after} runs; +-: 95 % intervals of each row by its samples"
            )?;
        } else if before + after > 2 {
            writeln!(out, "means of {before} and {after} runs; +-: 95 % intervals for all rows at once")?;
        }
        let is_single = before + after == 2;
        for ((changes, rest), what) in changes.into_iter().zip(rest).zip(["method", "context"]) {
            let (shown, told) = (self.top(changes), changes.iter().filter(|change| change.differs).count());
            writeln!(out, "\n{} changed", plural(told, what))?;
            let Rest { not_told_apart: rest, in_calls } = rest;
            if in_calls > 0 {
                writeln!(out, "{in_calls} more differ in calls only; --resource calls lists them")?;
            }
            if let Some((sampling, _)) = self.sampling.as_ref().filter(|_| rest > 0) {
                let Resource { name, unit } = &self.resources[sampling.resource()];
                let measure = if unit == "ns" { "time" } else { name };
                let level = "1 in 20 of the listed rows is expected to be there by chance";
                writeln!(out, "{rest} differ in {measure} by no more than samples and runs do; {level}")?;
            } else if rest > 0 && is_single {
                let cure = "how much times vary is not known from one run of each: compare several (A1 A2 A3 -- B1 B2 B3)";
                writeln!(out, "{rest} differ in time only, marked ~; {cure}")?;
            } else if rest > 0 {
                writeln!(out, "{rest} differ by no more than runs do, marked ~")?;
            }
            if changes.is_empty() {
                continue;
            }
            self.lines(out, shown, what)?;
            if changes.len() > shown.len() {
                writeln!(out, "not shown: {} past the first {}", changes.len() - shown.len(), shown.len())?;
            }
        }
        Ok(())
    }

    /// The calls of all methods.
    fn all_calls(&self) -> Difference {
        let mut sums = vec![0.0; self.all.resources().len()];
        for id in self.arcs.ids().filter(|&id| self.arcs.function(id).kind == Kind::Method) {
            for (sum, value) in sums.iter_mut().zip(self.arcs.self_base(id)) {
                *sum += value;
            }
        }
        self.compare(&sums, Part::Base, 0, Certainty::of(1))
    }

    fn lines(&self, out: &mut dyn Write, changes: &[Change], what: &str) -> Result<(), Error> {
        let mut headers = Vec::new();
        let has_intervals = self.sampling.is_some() || self.runs.iter().sum::<usize>() > 2;
        let mut add = |words: &[&str], word: &str| {
            let words = words.iter().filter(|header| has_intervals || **header != "+-");
            headers.extend(words.map(|header| match *header {
                "%" | "+-" => (*header).to_owned(),
                header => format!("{word}{header}"),
            }));
        };
        if !self.shown.contains(&0) {
            add(&["calls", "after"], "");
        }
        for &r in &self.shown {
            let word = match &self.shown[..] {
                [_] => String::new(),
                _ => format!("{} ", printable(&self.resources[r].name)),
            };
            match r {
                0 => add(&["calls", "after", "change", "+-", "%"], ""),
                _ => add(&["base", "after", "change", "+-", "%", "cum change", "+-", "%"], &word),
            }
        }
        let mut table = Aligned::new(headers, what);
        let labels = Labels::new(&self.all, self.options);
        for change in changes {
            let mut cells = Vec::new();
            let sides = |found: &Difference, r: usize| {
                let unit = &self.resources[r].unit;
                let [before, after] = self.bounds(found, r);
                let text = |value, bound: Option<f64>| match bound {
                    Some(bound) => below(bound, unit),
                    None => figure(value, unit),
                };
                [text(found.before, before), text(found.after, after)]
            };
            if !self.shown.contains(&0) {
                cells.extend(sides(&self.difference(change.of, Part::Base, 0), 0));
            }
            for &r in &self.shown {
                let base = self.difference(change.of, Part::Base, r);
                cells.extend(sides(&base, r));
                cells.extend(self.changed(base, r, has_intervals));
                if r > 0 {
                    cells.extend(self.changed(self.difference(change.of, Part::Cum, r), r, has_intervals));
                }
            }
            table.row(cells, &self.words(change.of, FRAMES, &|name| labels.of(name).into_owned()));
        }
        Ok(table.print_as(out, self.options)?)
    }

    /// What the times of a difference are less than that no sample met.
    fn bounds(&self, found: &Difference, r: usize) -> [Option<f64>; 2] {
        self.sampling.as_ref().map_or([None; 2], |(sampling, _)| sampling.bounds(found, r))
    }

    /// The difference, its interval, and the percent of it, marked if it cannot be told from none.
    fn changed(&self, found: Difference, r: usize, has_intervals: bool) -> Vec<String> {
        if let [Some(_), Some(_)] = self.bounds(&found, r) {
            return vec!["-".to_owned(); if has_intervals { 3 } else { 2 }];
        }
        let unit = &self.resources[r].unit;
        let Difference { before, after, interval, verdict } = found;
        let mark = if matches!(verdict, Verdict::WithinErrors | Verdict::Unknown) { "~" } else { "" };
        let sign = if after > before { "+" } else { "" };
        let mut cells = vec![format!("{mark}{sign}{}", figure(after - before, unit))];
        if has_intervals {
            let interval = interval.filter(|interval| interval.is_finite());
            cells.push(interval.map_or_else(|| "-".to_owned(), |interval| figure(interval.round(), unit)));
        }
        cells.push(relative(before, after));
        cells
    }
}

/// A figure; means of counts have one digit more.
fn figure(value: f64, unit: &str) -> String {
    quantity(if unit.is_empty() { (value * 10.0).round() / 10.0 } else { value.round() }, unit)
}

/// A change in percent, or in a word.
fn relative(before: f64, after: f64) -> String {
    match (before == 0.0, after == 0.0) {
        _ if before == after => "-".into(),
        (true, false) => "new".into(),
        (false, true) => "gone".into(),
        _ => format!("{:+.1} %", 100.0 * (after - before) / before),
    }
}
