//! The calls of a method that took longest, as the recorder keeps them beside trees: each with what it did, and what all others did.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use instrument_trace::{Histogram, Profile, ThreadKind, TreeNode, WorstCall};

use super::contended;
use super::did::{Did, Meaning, is_timed};
use super::typical::{Drawn, Typical};
use crate::load::samples;
use crate::session::{Error, ProfileFile};

/// Worst calls that are kept of a method.
pub const MOST_WORST: usize = 10;
/// One of the worst calls.
#[derive(Debug, Clone)]
pub struct Bad {
    /// How long it took.
    pub ns: u64,
    /// ns after the start of its process's recording at which it ended.
    pub end: u64,
    /// It ended with an exception.
    pub has_failed: bool,
    /// Not all that it did is known.
    pub is_part: bool,
    /// The name of its thread; empty: it is not in the file any more.
    pub thread: String,
    /// What it did.
    pub did: Did,
}

/// The worst calls of a method, and the others.
#[derive(Debug)]
pub struct Worst {
    /// The name of the method.
    pub method: String,
    /// The longest first.
    pub calls: Vec<Bad>,
    /// None: too few calls were drawn at random, or there was no room for them, or several processes or several classes of that name have some.
    pub typical: Option<Typical>,
    /// What all other calls did, those that are open as well.
    pub rest: Did,
    /// Those of them that ended, and their ns.
    pub rest_ended: (u64, u64),
    /// The longest call of all; 0: unknown. Its tree may have found no room.
    pub longest: u64,
    /// What the worst calls and the rest did is all.
    pub is_exact: bool,
}

impl Worst {
    /// Of the methods whose durations were kept, by those threads whose names are wanted; by name.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn kept(files: &[ProfileFile], wants: &dyn Fn(&str) -> bool) -> Result<Vec<Worst>, Error> {
        let mut found: BTreeMap<String, Vec<(usize, &WorstCall, String)>> = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            let since = file.profile.window_clock;
            for call in file.profile.worst_calls.iter().filter(|call| call.end > since) {
                let thread = thread(&file.profile, call);
                if wants(&thread) {
                    let method = file.names.method(call.copy, call.id);
                    found.entry(method).or_default().push((number, call, thread));
                }
            }
        }
        let mut drawn: HashMap<String, Vec<(usize, &WorstCall)>> = HashMap::new();
        for (number, file) in files.iter().enumerate() {
            for call in &file.profile.drawn_calls {
                drawn.entry(file.names.method(call.copy, call.id)).or_default().push((number, call));
            }
        }
        let worst = found.into_iter().map(|(method, calls)| {
            let drawn = drawn.remove(&method).unwrap_or_default();
            Worst::of(files, method, calls, drawn, wants)
        });
        worst.collect()
    }

    /// The names of what its worst calls did.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().flat_map(|call| call.did.contexts()).map(|context| context.name.as_str())
    }

    fn of<'a>(
        files: &'a [ProfileFile],
        method: String,
        mut calls: Vec<(usize, &'a WorstCall, String)>,
        drawn: Vec<(usize, &'a WorstCall)>,
        wants: &dyn Fn(&str) -> bool,
    ) -> Result<Worst, Error> {
        calls.sort_by_key(|(file, call, _)| (Reverse(call.ns), *file, call.end));
        calls.truncate(MOST_WORST);
        let is_timed = files.iter().all(|file| is_timed(&file.profile));
        let (mut rest, mut all) = (Did::new(is_timed), Histogram::default());
        for file in files {
            for thread in file.profile.threads.iter().filter(|thread| wants(&thread.name)) {
                let Some(tree) = &thread.tree else { continue };
                let worth = samples::worth(thread, &file.profile);
                let meaning = Meaning { file, copy: thread.copy, worth };
                let is_it = |node: &TreeNode| {
                    node.consumer.method().is_some_and(|id| file.names.method(thread.copy, id) == method)
                };
                let tops: BTreeMap<u32, _> = (tree.durations.iter())
                    .filter(|(number, _)| tree.node(**number).is_some_and(is_it))
                    .map(|(number, of)| (*number, of))
                    .collect();
                if tops.is_empty() {
                    continue;
                }
                rest.add(tree, |index| tops.contains_key(&(index as u32 + 1)), &meaning);
                tops.values().flat_map(|of| [&of.returned, &of.failed]).for_each(|of| all.merge(of));
            }
        }
        let tell = |(number, call, thread): (usize, &'a WorstCall, String)| {
            let file = &files[number];
            let mut did = Did::new(is_timed);
            add(&mut did, file, call);
            let bad = Bad {
                ns: call.ns,
                end: call.end.saturating_sub(file.profile.start_clock),
                has_failed: call.has_failed,
                is_part: call.is_part,
                thread,
                did,
            };
            ((number, call), bad)
        };
        let mut told: Vec<_> = calls.into_iter().map(tell).collect();
        let is_wanted = |file: &ProfileFile, call: &WorstCall| {
            call.end > file.profile.window_clock && wants(&thread(&file.profile, call))
        };
        let drawn = Drawn::of(files, &method, drawn, &all, &is_wanted);
        let mut typical = Did::new(is_timed);
        drawn.typical.iter().for_each(|(number, call)| add(&mut typical, &files[*number], call));
        for (number, file) in files.iter().enumerate() {
            contended::visit(file, &method, wants, |thread, wait, path| {
                rest.wait(path, wait.end - wait.start);
                let is_in = |call: &WorstCall| {
                    (call.copy, call.thread) == (wait.copy, thread)
                        && wait.end > call.end.saturating_sub(call.ns)
                        && wait.start < call.end
                };
                if drawn.typical.iter().any(|(of, call)| *of == number && is_in(call)) {
                    typical.wait(path, wait.end - wait.start);
                }
                let call = told.iter_mut().find(|((of, call), _)| *of == number && is_in(call));
                if let Some((_, bad)) = call {
                    bad.did.wait(path, wait.end - wait.start);
                }
            })?;
        }
        let mut calls: Vec<Bad> = told.into_iter().map(|(_, bad)| bad).collect();
        let mut is_exact = true;
        let (mut ended, mut ns) = (all.count(), u64::try_from(all.sum()).unwrap_or(u64::MAX));
        for call in &calls {
            is_exact &= rest.subtract(&call.did);
            (ended, ns) = (ended.saturating_sub(1), ns.saturating_sub(call.ns));
        }
        // The rest has all samples of the others.
        calls.iter_mut().for_each(|call| call.did.limit_running(call.ns));
        let longest = all.range().map_or(0, |(_, most)| most);
        let took = || drawn.typical.iter().map(|(_, call)| call.ns);
        let range = took().min().zip(took().max());
        let typical =
            range.map(|range| Typical { did: typical, ns: took().sum(), range, drawn: drawn.count });
        Ok(Worst { method, calls, typical, rest, rest_ended: (ended, ns), longest, is_exact })
    }
}

/// Adds what a call did.
fn add(did: &mut Did, file: &ProfileFile, call: &WorstCall) {
    let threads = &file.profile.threads;
    let of = threads.iter().find(|of| (of.copy, of.ordinal) == (call.copy, call.thread));
    let worth = of.or(threads.first()).map_or(0.0, |of| samples::worth(of, &file.profile));
    did.add(&call.tree, |index| index == 0, &Meaning { file, copy: call.copy, worth });
}

/// The name of the thread of a call; of one whose figures are part of a sum that of the sum, or none.
fn thread(profile: &Profile, call: &WorstCall) -> String {
    let is_it = |ordinal: u32, copy: u32| (copy, ordinal) == (call.copy, call.thread);
    let own = profile.threads.iter().filter(|thread| thread.kind == ThreadKind::Thread);
    let own = own.map(|thread| (thread.copy, thread.ordinal, &thread.name));
    let java = profile.java_threads.iter().map(|thread| (thread.copy, thread.ordinal, &thread.name));
    let mut names = own.chain(java);
    names
        .find(|(copy, ordinal, _)| is_it(*ordinal, *copy))
        .map_or_else(String::new, |(.., name)| name.clone())
}
