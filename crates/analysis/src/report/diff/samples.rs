//! Which rows differ where times are samples.
//!
//! The samples of a row are counts: of two sides with the same time, how many of all its samples the first one has is binomial. So one run on
//! each side is enough to tell. Runs differ by more than chance, as compilers and collectors do not work alike twice: by how much is seen from all
//! rows together, of which most have not changed (the median of the squared deviates, as in "genomic control", Devlin and Roeder 1999). Of the rows
//! that are told to differ one in 20 does not (Benjamini and Hochberg, 1995).

use statrs::distribution::{ContinuousCDF, Normal};

use super::{Changed, Diff, Part};
use crate::report::interval::{Difference, Verdict};
use crate::thread_time::RUNNING;
use crate::uncertainty::wilson;

/// The part of the rows told to differ that do not.
const FALSE_DISCOVERIES: f64 = 0.05;
/// The median of the square of a normal deviate.
const MEDIAN_SQUARE: f64 = 0.4549;
/// Samples that a row needs to say how much runs differ.
const ENOUGH: f64 = 20.0;
/// Such rows that are needed for it: of few, those that changed may be most.
const ROWS: usize = 20;
/// Normal deviate of a 95 % interval.
const DEVIATE: f64 = 1.96;

/// What is known of the samples of both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sampling {
    /// Indices of running time and samples, calls being the first.
    running: usize,
    samples: usize,
    /// ns that a sample stands for, on each side.
    worth: [f64; 2],
    /// Runs on each side.
    runs: [usize; 2],
    /// What a time is less than that no sample met, on each side.
    bounds: [f64; 2],
}

/// How sure a difference has to be, in a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// How much more runs differ than samples let expect, as a variance.
    spread: f64,
    /// The largest probability of a row that is told to differ.
    probability: f64,
}

impl Limit {
    /// Of the samples of rows, before and after, in all runs: their own, and those with callees, which say nothing that their own do not.
    pub(super) fn of(sampling: &Sampling, own: &[[f64; 2]], cum: &[[f64; 2]]) -> Limit {
        let rows: Vec<[f64; 2]> =
            own.iter().chain(cum).copied().filter(|[before, after]| before + after > 0.0).collect();
        let large = own.iter().filter(|[before, after]| before + after >= ENOUGH);
        let mut squares: Vec<f64> = large.map(|&row| sampling.deviate(row).powi(2)).collect();
        squares.sort_by(f64::total_cmp);
        let median = squares.get(squares.len() / 2).copied().filter(|_| squares.len() >= ROWS).unwrap_or(0.0);
        let spread = (median / MEDIAN_SQUARE).max(1.0);
        let mut all: Vec<f64> = rows.iter().map(|&row| sampling.probability(row, spread)).collect();
        all.sort_by(f64::total_cmp);
        let count = all.len() as f64;
        let found =
            all.iter().zip(1..).filter(|(p, rank)| **p <= FALSE_DISCOVERIES * f64::from(*rank) / count);
        Limit { spread, probability: found.last().map_or(-1.0, |(p, _)| *p) }
    }
}

impl Sampling {
    /// None: the runs have no samples.
    pub(super) fn of(diff: &Diff<'_>) -> Option<Sampling> {
        let position = |name: &str| diff.resources.iter().position(|resource| resource.name == name);
        let (running, samples) = (position(RUNNING)?, position("samples")?);
        let total = &diff.cum[..diff.all.resources().len()];
        let sums = |r| sums(total, r, diff.resources.len(), diff.runs[0]);
        let (time, count): ([f64; 2], [f64; 2]) = (sums(running), sums(samples));
        let worth = [0, 1].map(|side| time[side] / count[side]);
        let bounds = [0, 1].map(|side| time[side] / diff.runs[side] as f64 * wilson(0.0, count[side])[1]);
        let is_known = worth.iter().all(|worth| worth.is_finite() && *worth > 0.0);
        is_known.then_some(Sampling { running, samples, worth, runs: diff.runs, bounds })
    }

    /// Whether a resource is compared by samples.
    pub(super) fn decides(&self, r: usize) -> bool {
        r == self.running || r == self.samples
    }

    /// What a time is less than, on each side, if no sample met it.
    pub(super) fn bounds(&self, found: &Difference, r: usize) -> [Option<f64>; 2] {
        let is_unmet = [found.before, found.after].map(|time| r == self.running && time == 0.0);
        [0, 1].map(|side| is_unmet[side].then_some(self.bounds[side]))
    }

    /// The samples of a row, before and after, in all runs: `width` figures for each run.
    pub(super) fn samples(&self, figures: &[f64], width: usize) -> [f64; 2] {
        sums(figures, self.samples, width, self.runs[0])
    }

    /// By how much the side before has more samples than it would if both took the same time, as a normal deviate.
    fn deviate(&self, [before, after]: [f64; 2]) -> f64 {
        let part = |side: usize| self.runs[side] as f64 / self.worth[side];
        let share = part(0) / (part(0) + part(1));
        let all = before + after;
        let more = ((before - all * share).abs() - 0.5).max(0.0);
        more / (all * share * (1.0 - share)).sqrt()
    }

    /// How often a row that did not change differs by so much.
    fn probability(&self, row: [f64; 2], spread: f64) -> f64 {
        let deviate = self.deviate(row) / spread.sqrt();
        Normal::new(0.0, 1.0).map_or(1.0, |normal| 2.0 * normal.cdf(-deviate))
    }

    /// The difference of a row: `figures` are those of all runs, `width` for each.
    pub(super) fn difference(&self, figures: &[f64], r: usize, width: usize, limit: &Limit) -> Difference {
        let samples = self.samples(figures, width);
        let sums = sums(figures, r, width, self.runs[0]);
        let mean = |side: usize| sums[side] / self.runs[side].max(1) as f64;
        let (before, after) = (mean(0), mean(1));
        let scale = |side: usize| {
            let each = if r == self.samples { 1.0 } else { self.worth[side] };
            let runs = self.runs[side].max(1) as f64;
            samples[side] * (each / runs).powi(2)
        };
        let interval = DEVIATE * (limit.spread * (scale(0) + scale(1))).sqrt();
        let is_known = samples.iter().sum::<f64>() > 0.0;
        let verdict = match before == after {
            true => Verdict::Equal,
            false if is_known && self.probability(samples, limit.spread) <= limit.probability => {
                Verdict::Differs
            }
            false => Verdict::WithinErrors,
        };
        Difference { before, after, interval: Some(interval), verdict }
    }
}

/// Sums of a resource over the runs before, and after.
fn sums(figures: &[f64], r: usize, width: usize, before: usize) -> [f64; 2] {
    let sum = |runs: &mut dyn Iterator<Item = &[f64]>| runs.map(|run| run[r]).sum::<f64>();
    [sum(&mut figures.chunks(width).take(before)), sum(&mut figures.chunks(width).skip(before))]
}

impl Diff<'_> {
    /// The limits of methods and of contexts, where times are samples.
    pub(super) fn limits(&self, sampling: &Sampling) -> [Limit; 2] {
        let rows = |all: &mut dyn Iterator<Item = Changed>| {
            let samples = |of, part| sampling.samples(self.figures(of, part), self.resources.len());
            let (own, cum): (Vec<_>, Vec<_>) =
                all.map(|of| (samples(of, Part::Base), samples(of, Part::Cum))).unzip();
            Limit::of(sampling, &own, &cum)
        };
        let nodes = 1..self.all.nodes().len() as u32;
        [
            rows(&mut self.arcs.ids().map(Changed::Method)),
            rows(&mut nodes.map(|node| Changed::Context(crate::model::NodeId(node)))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(worth: [f64; 2], runs: [usize; 2]) -> Sampling {
        Sampling { running: 1, samples: 2, worth, runs, bounds: [0.0; 2] }
    }

    #[test]
    fn a_row_is_compared_by_its_samples() {
        let same = sampling([1e6, 1e6], [1, 1]);
        // 60 and 40 of 100: off by 10 less a half, in units of 5.
        assert_eq!(same.deviate([60.0, 40.0]), 1.9);
        assert!((same.probability([60.0, 40.0], 1.0) - 0.0574).abs() < 1e-4);
        assert_eq!(same.deviate([50.0, 50.0]), 0.0);
        // A side whose samples stand for half the time has twice as many for the same.
        assert_eq!(sampling([1e6, 2e6], [1, 1]).deviate([100.0, 50.0]), 0.0);
        assert_eq!(sampling([1e6, 1e6], [3, 1]).deviate([150.0, 50.0]), 0.0);
    }

    #[test]
    fn what_differs_is_found_among_much_that_does_not() {
        let sampling = sampling([1e6, 1e6], [1, 1]);
        // Rows that differ as chance has them, both ways, and one that took twice as long.
        let noise = (0..200).map(|i| {
            let off = [0.0, 2.0, 5.0, 9.0, 14.0][i % 5];
            [100.0 + off, 100.0 - off]
        });
        let noise: Vec<[f64; 2]> = noise.collect();
        let limit = Limit::of(&sampling, &[&noise[..], &[[100.0, 200.0]]].concat(), &[]);
        assert!(limit.spread < 1.1, "{limit:?}");
        let verdict = |row: [f64; 2]| {
            let figures = [1.0, row[0] * 1e6, row[0], 1.0, row[1] * 1e6, row[1]];
            sampling.difference(&figures, 1, 3, &limit).verdict
        };
        assert_eq!(verdict([100.0, 200.0]), Verdict::Differs);
        assert_eq!(verdict([114.0, 86.0]), Verdict::WithinErrors);
        assert_eq!(verdict([70.0, 70.0]), Verdict::Equal);
        // Where all rows are off by five times as much, nothing is told from that.
        let wild = noise.iter().map(|&[a, b]| [a + 2.0 * (a - b), b - 2.0 * (a - b)]).collect::<Vec<_>>();
        let wild = Limit::of(&sampling, &wild, &[]);
        assert!(wild.spread > 5.0 && wild.probability < 0.0, "{wild:?}");
        // Of few rows the change of one is no noise.
        let few = Limit::of(&sampling, &[[10.0, 12.0], [300.0, 310.0], [100.0, 200.0]], &[[410.0, 522.0]]);
        assert!(few.spread == 1.0 && few.probability > 0.0, "{few:?}");
    }
}
