//! How sure a figure is: resources that accompany another and are summed up as it is, but never printed as columns.
//!
//! | resource | |
//! |---|---|
//! | `X noise` | what the base of X may be off by: the cost of its probes is not known better ([`crate::calibration::Doubt`]), and other programs may have interrupted it. Errors of one cause: they add up |
//! | `X cum noise` | the same for cum. What the probes of a call took in it is not in its caller: there is one error for both, not two |
//! | `X variance` | variance of the estimated base of X, where only some calls are timed; independent, so variances add up |
//! | `X cum variance` | the same for cum: a context's cum is measured as one, so its base here is its own variance less its callees' |
//!
//! Running time of samples ([`crate::load`]) has its error from the resource `samples`: the 95 % interval of Wilson of its own number of
//! samples among all, half as wide as that is, and `running noise` beside it. What no sample met is less than the bound of no sample.

use crate::model::{Arcflow, Resource};
use crate::thread_time::whole_of;

/// Suffixes of the accompanying resources' names.
const SUFFIXES: [&str; 4] = [" noise", " cum noise", " variance", " cum variance"];

/// Whether a resource accompanies another.
pub fn accompanies(resource: &Resource) -> bool {
    SUFFIXES.iter().any(|suffix| resource.name.ends_with(suffix))
}

/// The resources that accompany `name`, in the order of the page.
pub(crate) fn companions(name: &str, unit: &str) -> [Resource; 4] {
    let resource = |i: usize, unit: String| Resource { name: format!("{name}{}", SUFFIXES[i]), unit };
    let squared = format!("{unit}^2");
    [(0, unit), (1, unit), (2, &squared), (3, &squared)].map(|(i, unit)| resource(i, unit.to_owned()))
}

/// Where a resource's companions are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uncertainty {
    noise: Option<usize>,
    cum_noise: Option<usize>,
    base_variance: Option<usize>,
    cum_variance: Option<usize>,
    /// The resource, if it is a part of `wall`: nothing of it is nothing for sure.
    part: Option<usize>,
    /// The resource, if it is one of samples.
    samples: Option<Samples>,
}

/// What is known by samples.
#[derive(Debug, Clone, Copy)]
struct Samples {
    /// Index of what they measure.
    running: usize,
    /// Index of the numbers of samples.
    samples: usize,
    /// All samples, those in probes too.
    all: f64,
    /// What they stand for: ns of CPU time, or events.
    total: f64,
}

impl Samples {
    fn of(model: &Arcflow) -> Option<Samples> {
        let (running, samples) = (model.sampled_resource()?, model.resource("samples")?);
        let whole = model.sampled()?;
        Some(Samples { running, samples, all: whole.samples, total: whole.ns })
    }

    /// Half the width of the interval of a figure, of which `noise` is a part that no sample met.
    fn error(self, figures: &[f64], noise: f64) -> f64 {
        let (met, time) = (figures[self.samples], (figures[self.running] - noise).max(0.0));
        let [low, high] = wilson(met, self.all);
        if met > 0.0 { time * (high - low) / 2.0 * self.all / met } else { 0.0 }
    }
}

/// Normal deviate of an interval that holds the truth in 95 % of the cases.
const DEVIATE: f64 = 1.96;

/// The 95 % interval of a share of which `met` of `all` samples were (E. B. Wilson, 1927): unlike a standard error it is good for a few samples,
/// and for none.
pub fn wilson(met: f64, all: f64) -> [f64; 2] {
    if all <= 0.0 {
        return [0.0, 1.0];
    }
    let square = DEVIATE * DEVIATE;
    let share = met / all;
    let middle = share + square / (2.0 * all);
    let half = DEVIATE * (share * (1.0 - share) / all + square / (4.0 * all * all)).max(0.0).sqrt();
    let scale = 1.0 + square / all;
    let low = if met > 0.0 { (middle - half) / scale } else { 0.0 };
    [low.max(0.0), ((middle + half) / scale).min(1.0)]
}

/// What a figure may be off by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Error {
    /// By what is not known of the cost of the probes, and by interruptions: at most.
    pub noise: f64,
    /// By sampling: one standard error.
    pub standard: f64,
    /// There is something of it for sure, whatever it is off by.
    pub is_met: bool,
}

impl Error {
    /// Both together.
    pub fn total(self) -> f64 {
        self.noise + self.standard
    }

    /// Of a sum or difference of figures that are off for different reasons.
    pub fn sum(errors: impl Iterator<Item = Error>) -> Error {
        let sum = errors.fold((0.0, 0.0), |(noise, variance), error| {
            (noise + error.noise, variance + error.standard * error.standard)
        });
        Error { noise: sum.0, standard: f64::sqrt(sum.1), is_met: false }
    }

    /// Whether a figure cannot be told from nothing: it is within the noise and two standard errors.
    pub fn hides(self, value: f64) -> bool {
        let doubt = self.noise + 2.0 * self.standard;
        !self.is_met && doubt > 0.0 && value.abs() <= doubt
    }
}

impl Uncertainty {
    /// Of a resource of the model.
    pub fn of(model: &Arcflow, resource: usize) -> Uncertainty {
        let name = model.resources()[resource].name.as_str();
        // Its parts are off by no more than the whole is.
        let whole = whole_of(model, name);
        let (part, name) = (whole.map(|_| resource), whole.unwrap_or(name));
        let [noise, cum_noise, base_variance, cum_variance] =
            SUFFIXES.map(|suffix| model.resource(&format!("{name}{suffix}")));
        let samples = if model.sampled_resource() == Some(resource) { Samples::of(model) } else { None };
        Uncertainty { noise, cum_noise, base_variance, cum_variance, part, samples }
    }

    /// Of what no sample met, where figures are samples: what it is less than. `figures` are bases or cums of all resources.
    pub fn bound(self, figures: &[f64]) -> Option<f64> {
        let samples = self.samples.filter(|samples| figures[samples.running] == 0.0)?;
        Some(samples.total * wilson(0.0, samples.all)[1])
    }

    /// Whether it is a figure of samples.
    pub fn is_of_samples(self) -> bool {
        self.samples.is_some()
    }

    /// Whether only some calls were timed.
    pub fn is_sampled(self) -> bool {
        self.base_variance.is_some()
    }

    /// Whether there is an error at all.
    pub fn is_known(self) -> bool {
        self.noise.is_some() || self.is_sampled()
    }

    /// Of a base; `figures` are the bases of all resources.
    pub fn base(self, figures: &[f64]) -> Option<Error> {
        self.error(figures, self.noise, self.base_variance)
    }

    /// Of a cum; `figures` are the cums of all resources.
    pub fn cum(self, figures: &[f64]) -> Option<Error> {
        self.error(figures, self.cum_noise, self.cum_variance)
    }

    fn error(self, figures: &[f64], noise: Option<usize>, variance: Option<usize>) -> Option<Error> {
        let is_nothing = self.part.is_some_and(|part| figures[part] == 0.0);
        if is_nothing || (noise.is_none() && variance.is_none()) {
            return None;
        }
        let noise = noise.map_or(0.0, |i| figures[i].max(0.0));
        if let Some(samples) = self.samples {
            let value = figures[samples.running];
            let error = Error { noise: noise + samples.error(figures, noise), standard: 0.0, is_met: true };
            return (value != 0.0).then_some(error);
        }
        let standard = variance.map_or(0.0, |i| figures[i].max(0.0).sqrt());
        Some(Error { noise, standard, is_met: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Agresti and Coull (1998) and tables of the interval.
    #[test]
    fn an_interval_of_wilson_is_that_of_the_books() {
        let rounded = |met, all| wilson(met, all).map(|share| (share * 1e4).round() / 1e4);
        assert_eq!(rounded(0.0, 10.0), [0.0, 0.2775]);
        assert_eq!(rounded(1.0, 10.0), [0.0179, 0.4042]);
        assert_eq!(rounded(5.0, 10.0), [0.2366, 0.7634]);
        assert_eq!(rounded(10.0, 10.0), [0.7225, 1.0]);
        assert_eq!(rounded(0.0, 0.0), [0.0, 1.0]);
        // Of many samples that of the normal distribution: 1.96 times the root of 100.
        let [low, high] = wilson(100.0, 1e9);
        assert!(((high - low) * 1e9 / 2.0 - 19.69).abs() < 0.01, "{low} {high}");
    }
}
