//! The code regions that are timed. `instrument ctl PID region` adds some and removes some while the recording goes on.

use super::LoadHook;
use crate::talk::say;
use instrument_rewriter::instrumenter::RegionRecord;
use instrument_rewriter::region::Region;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// A region keeps its place in the list for as long as the recording goes on; one that is removed is off.
pub(super) struct Regions {
    all: RwLock<Arc<[Region]>>,
    /// What became of those at the same places.
    outcomes: Mutex<Vec<Outcome>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    /// No class of its name was rewritten.
    NotMet,
    Timed,
    /// It is not timed, and why.
    Fault(String),
}

impl Regions {
    pub(super) fn new(all: Arc<[Region]>) -> Regions {
        let outcomes = vec![Outcome::NotMet; all.len()];
        Regions { all: RwLock::new(all), outcomes: Mutex::new(outcomes) }
    }

    pub(super) fn all(&self) -> Arc<[Region]> {
        self.all.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes down what became of regions; says why some are not timed, each once.
    pub(super) fn account(&self, records: &[RegionRecord]) {
        for record in records {
            let fault = record.fault.as_ref().map(ToString::to_string);
            let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(outcome) =
                outcomes.get_mut(record.region).filter(|outcome| **outcome == Outcome::NotMet)
            else {
                continue;
            };
            *outcome = fault.clone().map_or(Outcome::Timed, Outcome::Fault);
            drop(outcomes);
            if let (Some(fault), Some(region)) = (fault, self.all().get(record.region)) {
                say(format_args!("region {} is not timed: {fault}", region.name));
            }
        }
    }

    /// Says at the end which regions' classes were never loaded.
    pub(super) fn account_for_missed(&self) {
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        for (region, outcome) in self.all().iter().zip(&*outcomes) {
            if *outcome == Outcome::NotMet && !region.is_off() {
                say(format_args!("region {} was not timed: its class was not loaded", region.name));
            }
        }
    }

    /// The names of those that are timed.
    pub(super) fn names(&self) -> Vec<String> {
        self.all().iter().filter(|region| !region.is_off()).map(|region| region.name.clone()).collect()
    }

    /// Those of these that are not timed so far, each with the reason.
    pub(super) fn faults(&self, of: &[Region]) -> Vec<(String, String)> {
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.all();
        let with_outcome = of.iter().filter_map(|wanted| {
            let at = all.iter().position(|region| region.number == wanted.number)?;
            Some((wanted.name.clone(), outcomes.get(at)?))
        });
        with_outcome
            .filter_map(|(name, outcome)| match outcome {
                Outcome::Timed => None,
                Outcome::Fault(fault) => Some((name, fault.clone())),
                Outcome::NotMet => Some((
                    name,
                    "no class of this name that is recorded is loaded; it is timed when one loads".to_owned(),
                )),
            })
            .collect()
    }

    /// The list with these as well.
    fn with(&self, added: &[Region]) -> Result<Arc<[Region]>, String> {
        let mut all = self.all().to_vec();
        for region in added {
            match all.iter().position(|other| other.number == region.number) {
                Some(at) if all[at].name == region.name && all[at].is_off() => all[at] = region.clone(),
                Some(at) if all[at].name == region.name => {
                    return Err(format!("{} is timed already", region.name));
                }
                Some(at) => return Err(region.clash(&all[at]).unwrap_or_default()),
                None => all.push(region.clone()),
            }
        }
        Ok(all.into())
    }

    /// The list without these.
    fn without(&self, removed: &[Region]) -> Result<Arc<[Region]>, String> {
        let mut all = self.all().to_vec();
        for region in removed {
            let timed = all.iter_mut().find(|other| other.name == region.name && !other.is_off());
            let timed = timed.ok_or_else(|| {
                let names = self.names().join(", ");
                let names = if names.is_empty() { "none" } else { &names };
                format!("{} is not timed; these are: {names}", region.name)
            })?;
            *timed = timed.off();
        }
        Ok(all.into())
    }

    fn set(&self, all: Arc<[Region]>, changed: &[Region]) {
        let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.resize(all.len(), Outcome::NotMet);
        for (region, outcome) in all.iter().zip(outcomes.iter_mut()) {
            if changed.iter().any(|other| other.number == region.number) {
                *outcome = Outcome::NotMet;
            }
        }
        *self.all.write().unwrap_or_else(PoisonError::into_inner) = all;
    }
}

impl LoadHook {
    /// From now on these regions are timed, or not any more: in classes that go through the hook again.
    ///
    /// # Errors
    /// One is timed already, or is not.
    pub(crate) fn change_regions(&self, added: bool, changed: &[Region]) -> Result<(), String> {
        let mut instrumenter = self.instrumenter.write().unwrap_or_else(PoisonError::into_inner);
        let Some(instrumenter) = instrumenter.as_mut() else { return Err("nothing is recorded".to_owned()) };
        let all = if added { self.regions.with(changed) } else { self.regions.without(changed) }?;
        instrumenter.time(all.clone());
        self.regions.set(all, changed);
        Ok(())
    }

    /// The names of the regions that are timed.
    pub(crate) fn timed_regions(&self) -> Vec<String> {
        self.regions.names()
    }

    /// Those of these that are not timed so far, each with the reason.
    pub(crate) fn region_faults(&self, of: &[Region]) -> Vec<(String, String)> {
        self.regions.faults(of)
    }
}
