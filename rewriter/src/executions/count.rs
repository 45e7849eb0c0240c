//! Sums of counters.

/// A sum of counters, each added or taken away so many times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Count(Vec<(u32, i32)>);

impl Count {
    /// What a counter says.
    pub(crate) fn of_counter(number: u32) -> Count {
        Count(vec![(number, 1)])
    }

    /// The number of counters.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The sum of both, the other one so many times.
    pub(crate) fn plus(&self, other: &Count, times: i32) -> Count {
        let mut terms = self.0.clone();
        for &(number, factor) in &other.0 {
            match terms.binary_search_by_key(&number, |term| term.0) {
                Ok(at) => terms[at].1 += factor * times,
                Err(at) => terms.insert(at, (number, factor * times)),
            }
        }
        terms.retain(|term| term.1 != 0);
        Count(terms)
    }

    /// Its value. Counters that are not there are 0; what threads counted while the values were read can make it no
    /// less than 0.
    pub fn value(&self, counters: &[u64]) -> u64 {
        let of = |number: u32| i128::from(counters.get(number as usize).copied().unwrap_or(0));
        let sum: i128 = self.0.iter().map(|&(number, factor)| of(number) * i128::from(factor)).sum();
        u64::try_from(sum.max(0)).unwrap_or(u64::MAX)
    }
}
