//! The rows of a group as they are sorted: first by what is the same in many rows, then each of these parts by itself.

use std::cmp::Ordering;

use rayon::prelude::*;

/// Rows by the rank of what they are sorted by first.
pub(super) struct Buckets {
    pub(super) rows: Vec<u32>,
    /// Where each bucket ends.
    ends: Vec<u32>,
}

impl Buckets {
    pub(super) fn new(ranks: &[u32]) -> Buckets {
        let mut ends = vec![0u32; ranks.iter().max().map_or(0, |&most| most as usize + 1)];
        ranks.iter().for_each(|&rank| ends[rank as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut rows = vec![0; ranks.len()];
        for (row, &rank) in (0..).zip(ranks) {
            let place = &mut ends[rank as usize];
            rows[*place as usize] = row;
            *place += 1;
        }
        Buckets { rows, ends }
    }

    /// Sorts the rows of each bucket; those that are alike stay in their order.
    pub(super) fn par_sort(
        &mut self,
        begin: impl Fn(u32) -> u64 + Sync,
        compared: impl Fn(u32, u32) -> Ordering + Sync,
    ) {
        let (mut left, mut from) = (&mut self.rows[..], 0);
        let mut buckets = Vec::with_capacity(self.ends.len());
        for &end in &self.ends {
            let (bucket, others) = left.split_at_mut((end - from) as usize);
            (left, from) = (others, end);
            if bucket.len() > 1 {
                buckets.push(bucket);
            }
        }
        buckets.into_par_iter().for_each_init(Vec::new, |keyed, bucket| {
            keyed.clear();
            keyed.extend(bucket.iter().map(|&row| (begin(row), row)));
            keyed.sort_unstable_by(|&(begin_a, a), &(begin_b, b)| {
                begin_a.cmp(&begin_b).then_with(|| compared(a, b).then(a.cmp(&b)))
            });
            bucket.iter_mut().zip(&*keyed).for_each(|(place, &(_, row))| *place = row);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_alike_stay_in_their_order() {
        let ranks = [2, 0, 2, 1, 2, 0, 2];
        let (begins, rests) = ([5, 9, 5, 0, 4, 8, 5], [1, 0, 0, 0, 3, 0, 1]);
        let mut buckets = Buckets::new(&ranks);
        assert_eq!(buckets.rows, [1, 5, 3, 0, 2, 4, 6]);
        buckets.par_sort(|row| begins[row as usize], |a, b| rests[a as usize].cmp(&rests[b as usize]));
        assert_eq!(buckets.rows, [5, 1, 3, 4, 2, 0, 6]);
        assert!(Buckets::new(&[]).rows.is_empty());
    }
}
