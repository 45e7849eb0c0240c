//! How often values occurred, to an eighth of their size: exact up to 7, then four steps for each power of two.

/// A histogram. Most have few different values, and a profile has very many of them: only the buckets that are used
/// exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Bucket and occurrences, in order.
    buckets: Vec<(u16, u64)>,
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
}

/// The bucket of a value.
fn bucket(value: u64) -> u16 {
    if value < 4 {
        return value as u16;
    }
    let power = 63 - value.leading_zeros();
    (power as u16 - 1) * 4 + (value >> (power - 2) & 3) as u16
}

/// The least value of a bucket.
fn least(bucket: u16) -> u64 {
    if bucket < 4 {
        return bucket.into();
    }
    let power = bucket / 4 + 1;
    if power > 63 { u64::MAX } else { (4 + u64::from(bucket % 4)) << (power - 2) }
}

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.least = if self.count == 0 { value } else { self.least.min(value) };
        self.count += 1;
        self.sum += u128::from(value);
        self.most = self.most.max(value);
        let bucket = bucket(value);
        // There are few, and the next is mostly as the one before.
        match self.buckets.iter().rposition(|(known, _)| *known <= bucket) {
            Some(at) if self.buckets[at].0 == bucket => self.buckets[at].1 += 1,
            before => self.buckets.insert(before.map_or(0, |at| at + 1), (bucket, 1)),
        }
    }

    /// Adds another one.
    pub fn merge(&mut self, other: &Histogram) {
        for &(bucket, times) in &other.buckets {
            match self.buckets.binary_search_by_key(&bucket, |(known, _)| *known) {
                Ok(at) => self.buckets[at].1 += times,
                Err(at) => self.buckets.insert(at, (bucket, times)),
            }
        }
        self.least = match (self.count, other.count) {
            (0, _) => other.least,
            (_, 0) => self.least,
            _ => self.least.min(other.least),
        };
        self.count += other.count;
        self.sum += other.sum;
        self.most = self.most.max(other.most);
    }

    /// Values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The largest; 0 of nothing.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The value that this share of all, from 0 to 1, does not exceed: exact up to 7, else the middle of a bucket.
    /// `None` of nothing.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let (bucket, _) = self.buckets.iter().find(|(_, times)| {
            seen += times;
            seen >= rank
        })?;
        let (low, next) = (least(*bucket), least(bucket + 1));
        Some((low + (next - 1 - low) / 2).clamp(self.least, self.most))
    }

    /// How many values are at least `from` and below `to`, both of which must be least values of buckets, such as
    /// powers of two.
    pub fn between(&self, from: u64, to: u64) -> u64 {
        let range = bucket(from)..bucket(to);
        self.buckets.iter().filter(|(bucket, _)| range.contains(bucket)).map(|(_, times)| times).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_one_another() {
        for value in (0..5000).chain([u64::MAX / 2, u64::MAX - 1, u64::MAX]) {
            let bucket = bucket(value);
            assert!(least(bucket) <= value, "{value}");
            assert!(value < least(bucket + 1) || value == u64::MAX || bucket == 251, "{value}");
            assert!(value < 8 || value - least(bucket) <= value / 4, "{value}");
        }
        assert_eq!((0..8).map(bucket).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((bucket(8), least(8), bucket(u64::MAX), least(252)), (8, 8, 251, u64::MAX));
    }

    #[test]
    fn quantiles_are_exact_where_values_are_small() {
        let mut all = Histogram::default();
        assert_eq!((all.mean(), all.quantile(0.5), all.most()), (None, None, 0));
        for value in [5, 0, 0, 0, 1, 1, 2, 100, 0, 3] {
            all.add(value);
        }
        assert_eq!((all.count(), all.mean(), all.most()), (10, Some(11.2), 100));
        assert_eq!([0.0, 0.4, 0.41, 0.6, 0.8, 0.9].map(|q| all.quantile(q)), [0, 0, 1, 1, 3, 5].map(Some));
        // 100 is in the bucket from 96 to 111.
        assert_eq!(all.quantile(1.0), Some(100));
        assert_eq!(
            (all.between(0, 1), all.between(1, 2), all.between(2, 4), all.between(4, 1 << 40)),
            (4, 2, 2, 2)
        );
        let mut twice = all.clone();
        twice.merge(&all);
        let mut again = Histogram::default();
        [5, 0, 0, 0, 1, 1, 2, 100, 0, 3].repeat(2).into_iter().for_each(|value| again.add(value));
        assert_eq!(twice, again);
    }
}
