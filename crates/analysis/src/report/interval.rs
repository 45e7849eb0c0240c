//! Whether the figures of some runs differ from those of others: simultaneous confidence intervals.
//!
//! Counts that are the same in every run of a side are exact. Else the difference of the means has Welch's interval (unequal variances); where
//! one side has a single run, the spread of the other stands for it. So many figures are compared at once that the level is divided by their
//! number (Bonferroni): of two sides that do not differ, all figures together are found to differ once in 20 times. With one run on
//! each side it is not known how much a time varies from run to run, so no difference of times can be told.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// How often a difference may be seen where there is none.
const LEVEL: f64 = 0.05;

/// What is known of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All runs agree.
    Equal,
    /// The sides differ.
    Differs,
    /// They differ by no more than runs do.
    WithinErrors,
    /// There is one run on each side, and runs may differ.
    Unknown,
}

/// The figures of a row and column, on both sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Difference {
    /// Means.
    pub(crate) before: f64,
    pub(crate) after: f64,
    /// What the difference may be off by; none: not known.
    pub(crate) interval: Option<f64>,
    pub(crate) verdict: Verdict,
}

/// What a figure is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figure {
    /// It is measured, and not counted: it varies.
    pub(crate) is_measured: bool,
    /// What a difference of it is at least off by.
    pub(crate) least: f64,
}

/// How sure a difference has to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Certainty(f64);

impl Certainty {
    /// So many figures are compared at once.
    pub(crate) fn of(comparisons: usize) -> Certainty {
        Certainty(LEVEL / comparisons.max(1) as f64)
    }

    pub(crate) fn compare(self, before: &[f64], after: &[f64], figure: Figure) -> Difference {
        let (x, y) = (Sample::of(before), Sample::of(after));
        let found = |interval, verdict| Difference { before: x.mean, after: y.mean, interval, verdict };
        if x.is_constant && y.is_constant && x.mean == y.mean {
            return found(Some(0.0), Verdict::Equal);
        }
        if x.is_constant && y.is_constant && !figure.is_measured {
            return found(Some(0.0), Verdict::Differs);
        }
        let Some((error, freedom)) = standard_error(x, y) else { return found(None, Verdict::Unknown) };
        let quantile = StudentsT::new(0.0, 1.0, freedom).map(|t| t.inverse_cdf(1.0 - self.0 / 2.0));
        let interval = quantile.map_or(f64::INFINITY, |quantile| quantile * error) + figure.least;
        let differs = (y.mean - x.mean).abs() > interval;
        found(Some(interval), if differs { Verdict::Differs } else { Verdict::WithinErrors })
    }
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    n: f64,
    mean: f64,
    /// Of the values, not of the mean; 0 of a single one.
    variance: f64,
    is_constant: bool,
}

impl Sample {
    fn of(values: &[f64]) -> Sample {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let variance = if n > 1.0 { squares / (n - 1.0) } else { 0.0 };
        Sample { n, mean, variance, is_constant: values.iter().all(|value| *value == values[0]) }
    }
}

/// The standard error of the difference of two means, and its degrees of freedom.
fn standard_error(x: Sample, y: Sample) -> Option<(f64, f64)> {
    let (single, several) = if x.n < y.n { (x, y) } else { (y, x) };
    if several.n < 2.0 {
        return None;
    }
    if single.n < 2.0 {
        return Some(((several.variance * (1.0 + 1.0 / several.n)).sqrt(), several.n - 1.0));
    }
    let (a, b) = (x.variance / x.n, y.variance / y.n);
    let freedom = (a + b).powi(2) / (a * a / (x.n - 1.0) + b * b / (y.n - 1.0));
    // Without any spread it is 0 / 0.
    Some(((a + b).sqrt(), if freedom.is_finite() { freedom } else { x.n + y.n - 2.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Figure = Figure { is_measured: true, least: 0.0 };
    const COUNT: Figure = Figure { is_measured: false, least: 0.0 };

    fn verdict(before: &[f64], after: &[f64], figure: Figure) -> Verdict {
        Certainty::of(100).compare(before, after, figure).verdict
    }

    #[test]
    fn counts_are_exact_and_times_are_not() {
        assert_eq!(verdict(&[7.0], &[7.0], COUNT), Verdict::Equal);
        assert_eq!(verdict(&[7.0], &[8.0], COUNT), Verdict::Differs);
        assert_eq!(verdict(&[7.0], &[7.0], TIME), Verdict::Equal);
        assert_eq!(verdict(&[7.0], &[800.0], TIME), Verdict::Unknown);
        assert_eq!(verdict(&[7.0, 7.0], &[8.0], COUNT), Verdict::Differs);
        assert_eq!(verdict(&[7.0, 9.0, 8.0], &[9.0, 7.0, 10.0], COUNT), Verdict::WithinErrors);
        let before = [100.0, 101.0, 99.0, 100.5];
        assert_eq!(verdict(&before, &[100.2, 99.1, 101.5, 100.0], TIME), Verdict::WithinErrors);
        assert_eq!(verdict(&before, &[150.2, 149.1, 151.5, 150.0], TIME), Verdict::Differs);
        assert_eq!(verdict(&before, &[101.5], TIME), Verdict::WithinErrors);
        assert_eq!(verdict(&[300.0], &before, TIME), Verdict::Differs);
        let coarse = Figure { least: 60.0, ..TIME };
        assert_eq!(verdict(&before, &[150.2, 149.1, 151.5, 150.0], coarse), Verdict::WithinErrors);
    }

    /// Tables of Student's t: 2.306 for 95 % and 8 degrees of freedom.
    #[test]
    fn an_interval_is_that_of_the_tables() {
        let before = [1.0, 2.0, 3.0, 4.0, 5.0];
        let after = before.map(|value| value + 10.0);
        let found = Certainty::of(1).compare(&before, &after, TIME);
        assert_eq!((found.before, found.after, found.verdict), (3.0, 13.0, Verdict::Differs));
        // Each mean has a variance of 2.5 / 5.
        assert!((found.interval.unwrap() - 2.306).abs() < 1e-3, "{found:?}");
    }
}
