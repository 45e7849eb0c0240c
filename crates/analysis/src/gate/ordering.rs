//! How many comparisons more the order of a table or of a sort explains.
//!
//! Hash codes differ from run to run, and so does the order in which the virtual machine lists the methods of a class.
//! Tables and sorts of such things compare a few times more or less in one run of many, so that five equal runs are no
//! proof. How far n comparisons are from what they are on average is about √n; so much, and what each of these
//! comparisons calls itself, is no finding. The variances of several contexts add up.

use std::collections::BTreeMap;

use super::figure::{Figure, Figures};
use super::run::Run;

/// What compares, as the interfaces of the JDK have it: name, and descriptor or the end of it.
const COMPARISONS: [(&str, &str); 3] =
    [(".equals(Ljava/lang/Object;", ")Z"), (".compareTo(", ")I"), (".compare(", ")I")];

/// Of the contexts of a run, how far their figures may be off.
pub(super) struct Ordering<'r> {
    run: &'r Run,
    /// Of each context, 1 / √n for those in or below a comparison that was made n times there, else 0.
    parts: Vec<f64>,
}

impl<'r> Ordering<'r> {
    pub(super) fn of(run: &'r Run) -> Ordering<'r> {
        let mut parts = vec![0.0; run.nodes.len()];
        for (i, node) in run.nodes.iter().enumerate().skip(1) {
            parts[i] = parts[node.parent];
            let calls = node.figures[Figure::Calls as usize];
            if parts[i] == 0.0 && calls > 0 && is_comparison(run.name(i)) {
                parts[i] = (calls as f64).sqrt().recip();
            }
        }
        Ordering { run, parts }
    }

    /// Of one context.
    pub(super) fn margin(&self, context: usize, figure: Figure) -> u64 {
        (self.run.nodes[context].figures[figure as usize] as f64 * self.parts[context]).ceil() as u64
    }

    /// Of the methods that have one, over the contexts that count.
    pub(super) fn margins(&self, counts: impl Fn(usize) -> bool) -> BTreeMap<&'r str, Figures> {
        let mut variances: BTreeMap<&str, [f64; Figure::ALL.len()]> = BTreeMap::new();
        for i in (1..self.parts.len()).filter(|&i| self.parts[i] > 0.0 && counts(i)) {
            let sum = variances.entry(self.run.name(i)).or_default();
            for (sum, figure) in sum.iter_mut().zip(self.run.nodes[i].figures) {
                *sum += (figure as f64 * self.parts[i]).powi(2);
            }
        }
        variances.into_iter().map(|(name, sum)| (name, sum.map(|v| v.sqrt().ceil() as u64))).collect()
    }
}

fn is_comparison(name: &str) -> bool {
    COMPARISONS.iter().any(|(method, result)| name.contains(method) && name.ends_with(result))
}

#[cfg(test)]
mod tests;
