//! Which suspects are parts of one leak. What leaks is seldom a single object: an entry of a map leaks with its key,
//! its value and the array inside of that. Two suspects belong together if
//!
//! 1. the context of one leads to the context of the other, or both are the same: one call makes both;
//! 2. they grew by the same number of objects, or one by a small multiple of the other.

use super::leaks::{Found, Suspect};

/// Objects of one class for each of another, at most.
const MOST: u64 = 64;

impl Found {
    /// Puts suspects together that are parts of one leak: sorts them by leak, that which grew most first, and within it
    /// by context.
    pub fn group(&mut self) {
        number(&mut self.suspects);
    }
}

/// Numbers the leaks from 1: the one that grew by most bytes is the first. The suspects are sorted: by leak, and in a
/// leak first what the outermost call made, then by bytes.
fn number(suspects: &mut [Suspect]) {
    // A suspect's leak is that of the one it points to; the last points to itself.
    let mut parents: Vec<usize> = (0..suspects.len()).collect();
    fn find(parents: &[usize], mut at: usize) -> usize {
        while parents[at] != at {
            at = parents[at];
        }
        at
    }
    for a in 0..suspects.len() {
        for b in 0..a {
            if belong_together(&suspects[a], &suspects[b]) {
                let (a, b) = (find(&parents, a), find(&parents, b));
                parents[a.max(b)] = a.min(b);
            }
        }
    }
    let leaks: Vec<usize> = (0..suspects.len()).map(|at| find(&parents, at)).collect();
    let mut growth = vec![0u64; suspects.len()];
    for (suspect, &leak) in suspects.iter().zip(&leaks) {
        growth[leak] = growth[leak].saturating_add(suspect.growth());
    }
    let mut ranked: Vec<usize> = (0..suspects.len()).filter(|&at| leaks[at] == at).collect();
    ranked.sort_by_key(|&leak| std::cmp::Reverse(growth[leak]));
    for (suspect, leak) in suspects.iter_mut().zip(leaks) {
        suspect.leak = 1 + ranked.iter().position(|&ranked| ranked == leak).unwrap_or(0);
    }
    suspects.sort_by(|a, b| {
        let key =
            |suspect: &Suspect| (suspect.leak, suspect.context.len(), std::cmp::Reverse(suspect.growth()));
        key(a).cmp(&key(b)).then_with(|| a.class.cmp(&b.class))
    });
}

fn belong_together(a: &Suspect, b: &Suspect) -> bool {
    let grew = |suspect: &Suspect| suspect.after.0.saturating_sub(suspect.before.0);
    (a.context.ends_with(&b.context) || b.context.ends_with(&a.context)) && are_multiples(grew(a), grew(b))
}

/// Within 2 %: a collection may come between the makings of two parts.
fn are_multiples(a: u64, b: u64) -> bool {
    let (most, least) = (a.max(b), a.min(b).max(1));
    let times = (most + least / 2) / least;
    times <= MOST && most.abs_diff(times * least) <= (most / 50).max(times)
}
