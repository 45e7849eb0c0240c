//! How sure a figure is: resources that accompany another and are summed up as it is, but never printed as columns.
//!
//! | resource | |
//! |---|---|
//! | `X noise` | what the base of X may be off by: the cost of its probes is not known better ([`crate::calibration::Doubt`]), and other programs may have interrupted it. Errors of one cause: they add up |
//! | `X cum noise` | the same for cum. What the probes of a call took in it is not in its caller: there is one error for both, not two |
//! | `X variance` | variance of the estimated base of X, where only some calls are timed; independent, so variances add up |
//! | `X cum variance` | the same for cum: a context's cum is measured as one, so its base here is its own variance less its callees' |

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
}

/// What a figure may be off by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Error {
    /// By what is not known of the cost of the probes, and by interruptions: at most.
    pub noise: f64,
    /// By sampling: one standard error.
    pub standard: f64,
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
        Error { noise: sum.0, standard: f64::sqrt(sum.1) }
    }

    /// Whether a figure cannot be told from nothing: it is within the noise and two standard errors.
    pub fn hides(self, value: f64) -> bool {
        let doubt = self.noise + 2.0 * self.standard;
        doubt > 0.0 && value.abs() <= doubt
    }
}

impl Uncertainty {
    /// Of a resource of the model.
    pub fn of(model: &Arcflow, resource: usize) -> Uncertainty {
        let name = model.resources()[resource].name.as_str();
        // Its parts are off by no more than the whole is.
        let whole = whole_of(name);
        let (part, name) = (whole.map(|_| resource), whole.unwrap_or(name));
        let [noise, cum_noise, base_variance, cum_variance] =
            SUFFIXES.map(|suffix| model.resource(&format!("{name}{suffix}")));
        Uncertainty { noise, cum_noise, base_variance, cum_variance, part }
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
        let standard = variance.map_or(0.0, |i| figures[i].max(0.0).sqrt());
        Some(Error { noise, standard })
    }
}
