//! Which rows differ where times, or numbers of another event, are samples.
//!
//! The samples of a row are counts: of two sides with the same time, how many of all its samples the first one has is binomial. So one run on
//! each side is enough to tell. Runs differ by more than chance, as compilers and collectors do not work alike twice, nor do processors that others
//! use as well: each run multiplies a row's time by a factor of its own (counts with a common dispersion, Robinson and Smyth 2008). How far such
//! factors are apart is seen from all rows together, of which most have not changed. Of the rows that are told to differ one in 20 does not
//! (Benjamini and Hochberg, 1995).

use statrs::distribution::{ContinuousCDF, Normal};

use super::{Changed, Diff, Part};
use crate::report::interval::{Difference, Verdict};
use crate::uncertainty::wilson;

/// The part of the rows told to differ that do not.
const FALSE_DISCOVERIES: f64 = 0.05;
/// The part of the rows that are supposed not to have changed, and what the square of a normal deviate is below so often.
const UNCHANGED: (f64, f64) = (0.85, 2.0723);
/// What two runs of a Java program differ by at least, as a part of the time of each row: by how their processor was shared, if by nothing else.
const RUNS_DIFFER: f64 = 0.05;
/// Samples that a row needs to say how much runs differ.
const ENOUGH: f64 = 20.0;
/// Such rows that are needed for it: of few, those that changed may be most.
const ROWS: usize = 20;
/// Normal deviate of a 95 % interval.
const DEVIATE: f64 = 1.96;

/// What is known of the samples of both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sampling {
    /// Indices of what was sampled and of samples, calls being the first.
    running: usize,
    samples: usize,
    /// ns, or events, that a sample stands for, on each side.
    worth: [f64; 2],
    /// Runs on each side.
    runs: [usize; 2],
    /// What a time is less than that no sample met, on each side.
    bounds: [f64; 2],
}

/// How sure a difference has to be, in a table or by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Standard deviation of the factors of runs.
    factor: f64,
    /// The largest probability of a row that is told to differ.
    probability: f64,
}

impl Limit {
    /// The same where it is the only one.
    pub(super) fn alone(self) -> Limit {
        Limit { probability: FALSE_DISCOVERIES, ..self }
    }

    /// Of the samples of rows, before and after, in all runs: their own, and those with callees, which say nothing that their own do not.
    pub(super) fn of(sampling: &Sampling, own: &[[f64; 2]], cum: &[[f64; 2]]) -> Limit {
        let rows = own.iter().chain(cum).filter(|[before, after]| before + after > 0.0);
        let factor = sampling.factor(own);
        let mut all: Vec<f64> = rows.map(|&row| sampling.probability(row, factor)).collect();
        all.sort_by(f64::total_cmp);
        let count = all.len() as f64;
        let found =
            all.iter().zip(1..).filter(|(p, rank)| **p <= FALSE_DISCOVERIES * f64::from(*rank) / count);
        Limit { factor, probability: found.last().map_or(-1.0, |(p, _)| *p) }
    }
}

impl Sampling {
    /// None: the runs have no samples. `sampled`: what was sampled.
    pub(super) fn of(diff: &Diff<'_>, sampled: &str) -> Option<Sampling> {
        let position = |name: &str| diff.resources.iter().position(|resource| resource.name == name);
        let (running, samples) = (position(sampled)?, position("samples")?);
        let total = &diff.cum[..diff.all.resources().len()];
        let sums = |r| sums(total, r, diff.resources.len(), diff.runs[0]);
        let (time, count): ([f64; 2], [f64; 2]) = (sums(running), sums(samples));
        let worth = [0, 1].map(|side| time[side] / count[side]);
        let bounds = [0, 1].map(|side| time[side] / diff.runs[side] as f64 * wilson(0.0, count[side])[1]);
        let is_known = worth.iter().all(|worth| worth.is_finite() && *worth > 0.0);
        is_known.then_some(Sampling { running, samples, worth, runs: diff.runs, bounds })
    }

    /// The index of what was sampled.
    pub(super) fn resource(&self) -> usize {
        self.running
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

    /// The part of a row's samples that the side before has, if both sides took the same time.
    fn share(&self) -> f64 {
        let part = |side: usize| self.runs[side] as f64 / self.worth[side];
        part(0) / (part(0) + part(1))
    }

    /// By how much the side before has more samples than it would if both took the same time, as a normal deviate of what samples differ by.
    fn deviate(&self, [before, after]: [f64; 2]) -> f64 {
        let (share, all) = (self.share(), before + after);
        let more = ((before - all * share).abs() - 0.5).max(0.0);
        more / (all * share * (1.0 - share)).sqrt()
    }

    /// How many times as far as samples the factors of runs let a row differ, as a variance: for factors with a standard deviation of 1.
    fn by_factors(&self, [before, after]: [f64; 2]) -> f64 {
        let (share, [first, second]) = (self.share(), self.runs.map(|runs| runs.max(1) as f64));
        (before + after) * share * (1.0 - share) * (first.recip() + second.recip())
    }

    /// The standard deviation of the factors of runs with which as many rows are as far apart as chance has them. Each row with enough samples
    /// asks for one of its own that would make it so.
    fn factor(&self, own: &[[f64; 2]]) -> f64 {
        let large = own.iter().filter(|[before, after]| before + after >= ENOUGH);
        let asked = large.map(|&row| (self.deviate(row).powi(2) / UNCHANGED.1 - 1.0) / self.by_factors(row));
        let mut asked: Vec<f64> = asked.collect();
        asked.sort_by(f64::total_cmp);
        let least = RUNS_DIFFER.powi(2);
        let at = (asked.len() as f64 * UNCHANGED.0) as usize;
        asked.get(at).filter(|_| asked.len() >= ROWS).map_or(least, |found| found.max(least)).sqrt()
    }

    /// How often a row that did not change differs by so much.
    fn probability(&self, row: [f64; 2], factor: f64) -> f64 {
        let deviate = self.deviate(row) / (1.0 + factor.powi(2) * self.by_factors(row)).sqrt();
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
            let by_factors = (limit.factor * samples[side]).powi(2) / runs;
            (samples[side] + by_factors) * (each / runs).powi(2)
        };
        let interval = DEVIATE * (scale(0) + scale(1)).sqrt();
        let is_known = samples.iter().sum::<f64>() > 0.0;
        let verdict = match before == after {
            true => Verdict::Equal,
            false if is_known && self.probability(samples, limit.factor) <= limit.probability => {
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
        assert!((same.probability([60.0, 40.0], 0.0) - 0.0574).abs() < 1e-4);
        // Where each run is off by a tenth: a variance of 0.01 x 100 / 4 x (1/1 + 1/1) more. Twice as many runs, half as much.
        let runs_differ = |by: &Sampling| (by.deviate([60.0, 40.0]), by.by_factors([60.0, 40.0]));
        assert_eq!(runs_differ(&same), (1.9, 50.0));
        assert_eq!(runs_differ(&sampling([1e6, 1e6], [2, 2])), (1.9, 25.0));
        assert!((same.probability([60.0, 40.0], 0.1) - 0.1208).abs() < 1e-4);
        assert_eq!(same.deviate([50.0, 50.0]), 0.0);
        // A side whose samples stand for half the time has twice as many for the same.
        assert_eq!(sampling([1e6, 2e6], [1, 1]).deviate([100.0, 50.0]), 0.0);
        assert_eq!(sampling([1e6, 1e6], [3, 1]).deviate([150.0, 50.0]), 0.0);
    }

    /// Rows that differ as chance has them, both ways, and by factors that are as far apart.
    fn equal_runs(samples: f64, factor: f64) -> Vec<[f64; 2]> {
        let deviates = [-1.64, -1.04, -0.67, -0.39, -0.13, 0.13, 0.39, 0.67, 1.04, 1.64];
        let rows = (0..200).map(|i| {
            let variance = samples / 2.0 + (factor * samples).powi(2) / 2.0;
            let off = deviates[i % 10] * variance.sqrt();
            [samples + off, samples - off]
        });
        rows.collect()
    }

    #[test]
    fn what_differs_is_found_among_much_that_does_not() {
        let sampling = sampling([1e6, 1e6], [1, 1]);
        let verdict = |row: [f64; 2], limit: &Limit| {
            let figures = [1.0, row[0] * 1e6, row[0], 1.0, row[1] * 1e6, row[1]];
            sampling.difference(&figures, 1, 3, limit)
        };
        let noise = equal_runs(100.0, 0.0);
        let limit = Limit::of(&sampling, &[&noise[..], &[[100.0, 250.0]]].concat(), &[]);
        assert_eq!(limit.factor, RUNS_DIFFER);
        let found = verdict([100.0, 250.0], &limit);
        // 350 samples, and a twentieth of each side.
        let interval = DEVIATE * 1e6 * (350.0_f64 + 5.0_f64.powi(2) + 12.5_f64.powi(2)).sqrt();
        assert!((found.interval.unwrap() - interval).abs() < 1.0, "{found:?}");
        assert_eq!(found.verdict, Verdict::Differs);
        assert_eq!(verdict([114.0, 86.0], &limit).verdict, Verdict::WithinErrors);
        assert_eq!(verdict([70.0, 70.0], &limit).verdict, Verdict::Equal);
        // Of few rows the change of one is no noise.
        let few = Limit::of(&sampling, &[[10.0, 12.0], [300.0, 310.0], [100.0, 200.0]], &[[410.0, 522.0]]);
        assert!(few.factor == RUNS_DIFFER && few.probability > 0.0, "{few:?}");
    }

    /// Compilers do not work alike twice: with many samples of each row nearly all differ by more than samples do.
    #[test]
    fn rows_with_many_samples_of_equal_runs_are_not_told_apart() {
        let sampling = sampling([1e6, 1e6], [1, 1]);
        for samples in [50.0, 1_000.0, 100_000.0] {
            let rows = equal_runs(samples, 0.2);
            let equal = Limit::of(&sampling, &rows, &[]);
            assert!(
                (equal.factor / 0.2 - 1.0).abs() < 0.15 && equal.probability < 0.0,
                "{samples}: {equal:?}"
            );
        }
        // What took five times as long differs all the same.
        let rows = [&equal_runs(1_000.0, 0.2)[..], &[[1_000.0, 5_000.0]]].concat();
        let limit = Limit::of(&sampling, &rows, &[]);
        assert!(sampling.probability([1_000.0, 5_000.0], limit.factor) <= limit.probability, "{limit:?}");
    }
}
