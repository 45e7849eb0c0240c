//! What two runs of a program have in common, as the properties `twice.*` of their profile tell it.

use std::collections::HashSet;

use crate::hash::HashMap;
use crate::load::samples::worth;
use crate::session::ALIKE;
use instrument_trace::{Copy, Profile, ThreadSamples, Tree};

/// CPU time that two runs may be apart by, as a part of that of the run without probes, until times and counts no longer belong together.
const APART: f64 = 0.2;

/// Where counts and times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// From two runs of a program.
    Two,
    /// From parts of one.
    PartsOfOne,
}

/// How the two runs compare.
#[derive(Debug, Default)]
pub struct Account {
    /// CPU time of the threads that ran recorded methods, in the run without probes, ns.
    pub bare_ns: u64,
    /// The same of the recorded run, outside of probes.
    pub outside_ns: u64,
    /// CPU time of the recorded run in probes.
    pub probes_ns: u64,
    /// Both are parts of one run.
    pub are_parts: bool,
    /// Contexts that both runs had, that only the one with times had, and that only the recorded one had.
    pub contexts: [u64; 3],
    /// Paths of the contexts, over all threads.
    paths: Paths,
}

#[derive(Debug, Default)]
struct Paths {
    numbers: HashMap<(u32, u32), u32>,
    recorded: HashSet<u32>,
    sampled: HashSet<u32>,
}

/// Of a profile whose runs are parts of one.
const PARTS: &str = "twice.parts";

const KEYS: [&str; 6] = [
    "twice.bare.ns",
    "twice.outside.ns",
    "twice.probes.ns",
    "twice.contexts.both",
    "twice.contexts.times",
    "twice.contexts.counts",
];

impl Account {
    /// Of a profile; none: it is of one run.
    pub fn read(profile: &Profile) -> Option<Account> {
        let number = |key: &str| profile.copies.values().find_map(|copy: &Copy| copy.number(key));
        let [bare_ns, outside_ns, probes_ns, both, times, counts] = KEYS.map(number);
        Some(Account {
            bare_ns: bare_ns?,
            outside_ns: outside_ns?,
            probes_ns: probes_ns?,
            are_parts: profile.copies.values().any(|copy| copy.properties.contains_key(PARTS)),
            contexts: [both?, times?, counts?],
            paths: Paths::default(),
        })
    }

    /// Begins one with the recorded run.
    pub(super) fn of(recorded: &Profile, runs: Runs) -> Account {
        let mut account = Account { are_parts: runs == Runs::PartsOfOne, ..Account::default() };
        for thread in &recorded.threads {
            let Some(tree) = &thread.tree else { continue };
            account.paths.add(tree, |paths| &mut paths.recorded);
            let Some(samples) = thread.samples else { continue };
            let probes = (samples.in_probes as f64 * worth(thread, recorded)).min(samples.cpu_ns as f64);
            account.probes_ns += probes as u64;
            account.outside_ns += samples.cpu_ns - probes as u64;
        }
        account
    }

    /// Adds a thread of the other run.
    pub(super) fn add(&mut self, tree: &Tree, samples: &ThreadSamples) {
        self.paths.add(tree, |paths| &mut paths.sampled);
        // Collectors and compilers run no recorded method, and the recorded run has no such threads.
        if !tree.nodes.is_empty() {
            self.bare_ns += samples.cpu_ns;
        }
    }

    /// Compares the contexts, when all threads are there.
    pub(super) fn compare(&mut self) {
        let (sampled, recorded) = (&self.paths.sampled, &self.paths.recorded);
        let both = sampled.intersection(recorded).count() as u64;
        self.contexts = [both, sampled.len() as u64 - both, recorded.len() as u64 - both];
    }

    /// As a profile has it.
    pub(super) fn properties(&self) -> impl Iterator<Item = (String, String)> {
        let [both, times, counts] = self.contexts;
        let figures = [self.bare_ns, self.outside_ns, self.probes_ns, both, times, counts];
        let is_alike = (ALIKE.to_owned(), self.is_alike().to_string());
        let figures = KEYS.into_iter().zip(figures);
        let parts = self.are_parts.then(|| (PARTS.to_owned(), "true".to_owned()));
        figures.map(|(key, figure)| (key.to_owned(), figure.to_string())).chain([is_alike]).chain(parts)
    }

    /// Whether the program did about the same in both runs, so that times of one can be divided by counts of the other.
    pub fn is_alike(&self) -> bool {
        self.outside_ns.abs_diff(self.bare_ns) as f64 <= APART * self.bare_ns as f64
    }

    /// Parts of the recorded run's CPU time that recording took, in percent: in probes, and in the program beside what it takes without probes, which is
    /// less than 0 if that run was the longer one. None: there was none.
    pub fn percent(&self) -> Option<[f64; 2]> {
        let whole = (self.outside_ns + self.probes_ns) as f64;
        let hindered = self.outside_ns as f64 - self.bare_ns as f64;
        (whole > 0.0).then(|| [self.probes_ns as f64, hindered].map(|ns| 100.0 * ns / whole))
    }
}

impl Paths {
    /// Notes the contexts of a tree that were called or sampled.
    fn add(&mut self, tree: &Tree, of: fn(&mut Paths) -> &mut HashSet<u32>) {
        let mut numbers: Vec<u32> = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let caller = (node.parent as usize).checked_sub(1).map_or(0, |parent| numbers[parent]);
            // What runs on behalf of something else begins anew in stacks.
            let Some(id) = node.consumer.method() else {
                numbers.push(0);
                continue;
            };
            let next = self.numbers.len() as u32 + 1;
            let number = *self.numbers.entry((caller, id)).or_insert(next);
            numbers.push(number);
            of(self).insert(number);
        }
    }
}
