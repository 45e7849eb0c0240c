//! Typical calls of a method: of those that were drawn at random the ones in the middle of all.

use std::collections::HashMap;

use instrument_trace::{Histogram, WorstCall, bucket};

use super::did::Did;
use crate::session::ProfileFile;

/// Calls that are drawn at random of a method, in a process.
const DRAWN: u64 = 50;
/// Between which shares of all calls one is typical.
const BAND: (f64, f64) = (0.4, 0.6);
/// Of fewer calls in that band nothing is typical.
const FEWEST: usize = 5;

/// Of the calls that were drawn at random those that took between p40 and p60 of all.
#[derive(Debug, Clone)]
pub struct Typical {
    /// What they did.
    pub did: Did,
    /// Their ns.
    pub ns: u64,
    /// The shortest and the longest of them, in ns.
    pub range: (u64, u64),
    /// How many were drawn at random.
    pub drawn: u64,
}

/// The calls of a method that were drawn at random, of one process.
#[derive(Default)]
pub(super) struct Drawn<'a> {
    /// How many there are.
    pub(super) count: u64,
    /// Number of the file, and those in the band. Not all is known of the others that are in it.
    pub(super) typical: Vec<(usize, &'a WorstCall)>,
}

impl<'a> Drawn<'a> {
    /// Those that are wanted of all of a method. `all`: how long the calls took that are wanted. Nothing, where the calls are no sample of these: several processes or several
    /// classes of that name have some, or there was no room.
    pub(super) fn of(
        files: &'a [ProfileFile],
        method: &str,
        mut of_method: Vec<(usize, &'a WorstCall)>,
        all: &Histogram,
        is_wanted: &dyn Fn(&ProfileFile, &WorstCall) -> bool,
    ) -> Drawn<'a> {
        let Some(&(first, WorstCall { copy, id, .. })) = of_method.first() else { return Drawn::default() };
        let file = &files[first];
        // The recorder draws so many of each id.
        let mut each = of_method.iter();
        let is_one = each.all(|(number, call)| (*number, call.copy, call.id) == (first, *copy, *id));
        // One that was killed may have had no time for the last one.
        let expected = DRAWN.min(ended(file, *copy, method)).saturating_sub(1);
        if !is_one || (of_method.len() as u64) < expected {
            return Drawn::default();
        }
        of_method.retain(|(_, call)| is_wanted(file, call));
        let count = of_method.len() as u64;
        let (Some(from), Some(to)) = (all.bucket_at(BAND.0), all.bucket_at(BAND.1)) else {
            return Drawn::default();
        };
        of_method.retain(|(_, call)| call.ns > 0 && !call.is_part && (from..=to).contains(&bucket(call.ns)));
        if of_method.len() < FEWEST { Drawn::default() } else { Drawn { count, typical: of_method } }
    }
}

/// Calls of the method whose durations a process has kept.
fn ended(file: &ProfileFile, copy: u32, method: &str) -> u64 {
    let threads = file.profile.threads.iter().filter(|thread| thread.copy == copy);
    let trees = threads.filter_map(|thread| thread.tree.as_ref());
    let counts = trees.flat_map(|tree| {
        tree.durations
            .iter()
            .filter_map(|(number, of)| Some((tree.node(*number)?.consumer.method()?, of.count())))
    });
    let mut is_it: HashMap<u32, bool> = HashMap::new();
    let of_method =
        counts.filter(|(id, _)| *is_it.entry(*id).or_insert_with(|| file.names.method(copy, *id) == method));
    of_method.map(|(_, count)| count).sum()
}
