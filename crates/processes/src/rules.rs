//! `run --probes`: rules are read and tried on the class path before the program starts, and handed to the agent in a file.

use crate::class_path::classes;
use crate::launch::temporary_file;
use anyhow::{Context, Result};
use instrument_artifacts::probes::{Probes, Subject};
use instrument_control::run::{Line, RuleOutcome};
use instrument_messages::Listener;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use tempfile::NamedTempFile;

/// The rules of a run.
pub struct RunProbes {
    probes: Probes<'static>,
    /// What the agent reads: nobody but the user can.
    prepared: NamedTempFile,
}

impl RunProbes {
    /// Reads the rules, looks for the methods that they name on the class path of the command and of `more`, and tries them on all classes
    /// there. `is_java`: the command is `java` itself. `beside`: where the
    /// agent's file may be if temporary ones can be nowhere.
    ///
    /// # Errors
    /// A wrong rule, and something that is passed and does not fit.
    pub fn prepare(
        rules: &Path,
        more: Option<&OsString>,
        command: &[OsString],
        is_java: bool,
        beside: &Path,
        listener: &dyn Listener,
    ) -> Result<RunProbes> {
        let skipped = "rules are not tried on what is there";
        let (class_path, jdk) = classes(command, is_java, more, (listener, skipped))?;
        let probes = Probes::open(rules, Subject::Program, &class_path, jdk)?;
        probes.try_out()?;
        let mut prepared = temporary_file(beside).context("a file for the rules of --probes")?;
        let bytes = probes.prepared().write().map_err(anyhow::Error::msg)?;
        prepared.write_all(&bytes).context("a file for the rules of --probes")?;
        Ok(RunProbes { probes, prepared })
    }

    /// The file for the agent.
    pub fn path(&self) -> &Path {
        self.prepared.path()
    }

    /// Says what became of the rules in all processes; returns warnings of those that fit nothing.
    ///
    /// # Errors
    /// A class of the class path that cannot be read any more.
    pub fn say(&self, processes: &Path, listener: &dyn Listener) -> Result<Vec<String>> {
        let (outcomes, silent) = outcomes(&fs::read_to_string(processes).unwrap_or_default());
        let mut warnings: Vec<String> = silent
            .iter()
            .map(|process| {
                format!("what became of the rules of --probes in process {process} is not known: it was killed, or ended before it could report")
            })
            .collect();
        let of_rule = |rule: &str| outcomes.get(rule).cloned().unwrap_or_default();
        let outcomes: Vec<RuleOutcome> = self.probes.rule_names().map(of_rule).collect();
        // Of a rule that fits nothing in the others nobody knows, either.
        let told = self.probes.say(&outcomes, listener)?;
        if silent.is_empty() {
            warnings.extend(told);
        }
        Ok(warnings)
    }
}

/// The outcomes of rules over all processes, by name; and the processes that said nothing of them before they ended.
fn outcomes(text: &str) -> (BTreeMap<String, RuleOutcome>, Vec<u32>) {
    let mut sums: BTreeMap<String, RuleOutcome> = BTreeMap::new();
    let (mut started, mut told) = (Vec::new(), HashSet::new());
    for line in text.lines().filter_map(Line::parse) {
        match line {
            Line::Started(process) => started.push(process),
            Line::Probe { process, outcome } => {
                let Ok(outcome) = serde_json::from_str::<RuleOutcome>(outcome) else { continue };
                told.insert(process);
                let sum = sums.entry(outcome.rule.clone()).or_default();
                sum.rule = outcome.rule;
                sum.chosen += outcome.chosen;
                sum.methods += outcome.methods;
                sum.places += outcome.places;
                for (reason, count) in outcome.left {
                    *sum.left.entry(reason).or_default() += count;
                }
            }
            _ => {}
        }
    }
    started.retain(|process| !told.contains(process));
    (sums, started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_summed_over_processes() {
        let outcome = |places: u64| {
            let left = BTreeMap::from([("static".to_owned(), 1)]);
            let rule = "a b".to_owned();
            serde_json::to_string(&RuleOutcome { rule, chosen: 3, methods: 2, places, left }).unwrap()
        };
        let text = format!("7\n8\n9\n7 probe {}\n7 ended\n8 probe {}\n8 ended\n", outcome(4), outcome(5));
        let (sums, silent) = outcomes(&text);
        assert_eq!(silent, [9]);
        let sum = &sums["a b"];
        assert_eq!((sum.places, sum.methods, sum.chosen, sum.left["static"]), (9, 4, 6, 2));
    }
}
