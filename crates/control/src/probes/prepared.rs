//! Rules for the agent, which sees no class path: what `instrument run --probes` has found out before the program starts.

use super::{Probe, parse};
use instrument_rewriter::transform::own_calls::rules::{Rule, Signature};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The file of rules, and what is known of the classes that they name.
#[derive(Debug, Serialize, Deserialize)]
pub struct Prepared {
    /// The file of rules, as it was named.
    pub file: String,
    pub text: String,
    /// For each rule the descriptors of the methods that it may call.
    pub signatures: Vec<Vec<Vec<u8>>>,
    /// The classes of these methods that were found; internal names.
    pub found: BTreeSet<String>,
    /// The superclass and the interfaces of classes; internal names, as `instrument_names::mutf8::escape` writes them.
    pub supers: BTreeMap<String, Vec<String>>,
}

impl Prepared {
    /// As the agent reads it.
    ///
    /// # Errors
    /// Those of serialization.
    pub fn write(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec(self).map_err(|error| error.to_string())
    }

    /// Reads it.
    ///
    /// # Errors
    /// It is something else.
    pub fn read(bytes: &[u8]) -> Result<Prepared, String> {
        serde_json::from_slice(bytes).map_err(|_| {
            "rules that instrument run --probes has prepared are expected; start the program with it"
                .to_owned()
        })
    }

    /// The rules, and for each the methods that it may call.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn rules(&self) -> Result<(Vec<Rule>, Vec<Vec<Signature>>), String> {
        let probes: Vec<Probe> = parse(&self.text, &self.file)?;
        let signature = |descriptor: &Vec<u8>| Signature { descriptor: descriptor.clone() };
        let signatures = self.signatures.iter().map(|of| of.iter().map(signature).collect()).collect();
        Ok((probes.into_iter().map(|probe| probe.rule).collect(), signatures))
    }
}
