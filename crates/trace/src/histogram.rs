//! Durations by size: a base-2 exponential histogram of scale 6, as OpenTelemetry's data model and Prometheus' native histograms have it.
//!
//! Bucket `i` has the durations above 2^(i/64) ns and up to 2^((i+1)/64) ns, so the middle of a bucket is off by 0.55 % at most. Histograms of one
//! scale add up bucket by bucket: the sum over threads or processes is that of all calls, and no percentile is averaged.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Buckets of an octave: the scale is its binary logarithm.
pub(crate) const PER_OCTAVE: i32 = 64;
/// The largest octave of durations that 64 bits can hold.
pub(crate) const LAST_OCTAVE: i32 = 63;

/// The counts of an octave, by bucket.
pub(crate) type Counts = [u64; PER_OCTAVE as usize];

/// How many durations there are of each size. An octave takes room once it has a duration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    octaves: BTreeMap<i32, Box<Counts>>,
    /// Durations of 0 ns, which are in no bucket.
    zeros: u64,
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
}

/// The bucket of a duration in ns, which is not 0.
pub fn bucket(ns: u64) -> i32 {
    // Not by a logarithm, which rounds: 2^49 + 1 and 2^49 have the same.
    let zeros = ns.leading_zeros();
    let part = ns << zeros & (u64::MAX >> 1);
    let below = BOUNDS.partition_point(|bound| *bound < part);
    PER_OCTAVE * (63 - zeros as i32) - 1 + below as i32
}

/// By how much a duration has to exceed a power of two to be beyond so many buckets, in parts of 2^63 of that power.
static BOUNDS: LazyLock<[u64; PER_OCTAVE as usize]> = LazyLock::new(|| {
    std::array::from_fn(|at| (((at as f64 / f64::from(PER_OCTAVE)).exp2() - 1.0) * 2f64.powi(63)) as u64)
});

/// The middle of a bucket, in ns.
fn middle(bucket: i32) -> f64 {
    ((f64::from(bucket) + 0.5) / f64::from(PER_OCTAVE)).exp2()
}

impl Histogram {
    /// Adds a duration in ns.
    pub fn add(&mut self, ns: u64) {
        if ns == 0 {
            self.zeros += 1;
        } else {
            let bucket = bucket(ns);
            self.octave(bucket.div_euclid(PER_OCTAVE))[bucket.rem_euclid(PER_OCTAVE) as usize] += 1;
        }
        self.least = if self.count == 0 { ns } else { self.least.min(ns) };
        self.most = self.most.max(ns);
        self.count += 1;
        self.sum += u128::from(ns);
    }

    /// Adds the durations of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        for (octave, more) in &other.octaves {
            let own = self.octave(*octave);
            own.iter_mut().zip(more.iter()).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
        }
        self.least = if self.count == 0 { other.least } else { self.least.min(other.least) };
        self.most = self.most.max(other.most);
        self.zeros = self.zeros.saturating_add(other.zeros);
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Adds an octave as a file has it: counts by bucket, of which those of octave -1 begin with the durations of 0 ns; their sum, the shortest and the longest.
    pub(crate) fn add_octave(
        &mut self,
        octave: i32,
        mut counts: Counts,
        sum: u64,
        (least, most): (u64, u64),
    ) {
        let zeros = if octave < 0 { std::mem::take(&mut counts[0]) } else { 0 };
        let buckets = counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
        let octaves =
            if buckets > 0 { BTreeMap::from([(octave, Box::new(counts))]) } else { BTreeMap::new() };
        let count = buckets.saturating_add(zeros);
        self.merge(&Histogram { octaves, zeros, count, sum: sum.into(), least: least.min(most), most });
    }

    /// The octaves, as a file has them: see [`Self::add_octave`]. Their sums are shares of the sum of all, and the range is that of all.
    pub(crate) fn file_octaves(&self) -> BTreeMap<i32, Counts> {
        let mut octaves: BTreeMap<i32, Counts> =
            self.octaves.iter().map(|(octave, counts)| (*octave, **counts)).collect();
        if self.zeros > 0 {
            octaves.entry(-1).or_insert([0; PER_OCTAVE as usize])[0] = self.zeros;
        }
        octaves
    }

    /// Takes away durations that are part of these. The shortest and the longest of those that stay are known as far as their buckets tell.
    pub fn subtract(&mut self, earlier: &Histogram) {
        for (octave, counts) in &earlier.octaves {
            let Some(own) = self.octaves.get_mut(octave) else { continue };
            own.iter_mut().zip(counts.iter()).for_each(|(count, less)| *count = count.saturating_sub(*less));
        }
        self.octaves.retain(|_, counts| counts.iter().any(|count| *count > 0));
        self.zeros = self.zeros.saturating_sub(earlier.zeros);
        self.count = self.buckets().map(|(_, count)| count).sum::<u64>() + self.zeros;
        self.sum = self.sum.saturating_sub(earlier.sum);
        let bound = |bucket: i32| (f64::from(bucket) / f64::from(PER_OCTAVE)).exp2() as u64;
        let (first, last) = (self.buckets().next(), self.buckets().next_back());
        let least = first.filter(|_| self.zeros == 0).map_or(0, |(bucket, _)| bound(bucket));
        self.least = self.least.max(least);
        self.most = self.most.min(last.map_or(0, |(bucket, _)| bound(bucket + 1)));
    }

    fn octave(&mut self, octave: i32) -> &mut Counts {
        self.octaves.entry(octave).or_insert_with(|| Box::new([0; PER_OCTAVE as usize]))
    }

    /// Durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum, in ns.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The shortest and the longest, in ns; none: there is no duration.
    pub fn range(&self) -> Option<(u64, u64)> {
        (self.count > 0).then_some((self.least, self.most))
    }

    /// The buckets that have durations, with how many, the shortest first; durations of 0 ns are not in them.
    pub fn buckets(&self) -> impl DoubleEndedIterator<Item = (i32, u64)> {
        self.octaves.iter().flat_map(|(octave, counts)| {
            let first = octave * PER_OCTAVE;
            counts
                .iter()
                .zip(first..first + PER_OCTAVE)
                .filter(|(count, _)| **count > 0)
                .map(|(&count, bucket)| (bucket, count))
        })
    }

    /// Durations of 0 ns.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// The bucket in which the share `q` of the durations ends, from 0 to 1, by nearest rank. None: fewer durations than `1 / (1 - q)`, of which
    /// the longest is all that could be said; or the share ends among durations of 0 ns.
    pub fn bucket_at(&self, q: f64) -> Option<i32> {
        let rank = self.rank(q)?;
        let mut below = self.zeros;
        let at = self.buckets().find(|(_, count)| {
            below += count;
            below >= rank
        });
        at.filter(|_| rank > self.zeros).map(|(bucket, _)| bucket)
    }

    /// The duration that the share `q` of all does not exceed, in ns, off by 0.55 % at most. None: as of [`Self::bucket_at`].
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = self.rank(q)?;
        if rank <= self.zeros {
            return Some(0.0);
        }
        self.bucket_at(q).map(|bucket| middle(bucket).clamp(self.least as f64, self.most as f64))
    }

    /// Between which durations the share `q` of calls like these ends, in ns, with 95 % confidence where calls do not depend on each other: by the binomial distribution of ranks,
    /// in whole buckets. None: as of [`Self::bucket_at`].
    pub fn interval(&self, q: f64) -> Option<(f64, f64)> {
        self.rank(q)?;
        let count = self.count as f64;
        let spread = 1.96 * (count * q * (1.0 - q)).sqrt();
        let bound = |rank: f64, end: i32| {
            let rank = (rank.max(1.0) as u64).min(self.count);
            let mut below = self.zeros;
            let at = self.buckets().find(|(_, in_it)| {
                below += in_it;
                below >= rank
            });
            let at = at.filter(|_| rank > self.zeros);
            at.map_or(0.0, |(bucket, _)| (f64::from(bucket + end) / f64::from(PER_OCTAVE)).exp2())
        };
        Some((bound((q * count - spread).floor(), 0), bound((q * count + spread).ceil() + 1.0, 1)))
    }

    fn rank(&self, q: f64) -> Option<u64> {
        let count = self.count as f64;
        // 0.99 of 100 leaves one, but for the rounding of 1 - 0.99.
        let is_known = count * (1.0 - q) > 1.0 - 1e-9;
        is_known.then(|| ((q * count - 1e-9).ceil() as u64).max(1))
    }

    /// What the slowest share of the durations (from 0 to 1; one at least) takes beyond `above`, in ns.
    pub fn tail(&self, share: f64, above: f64) -> f64 {
        let mut left = ((self.count as f64 * share) as u64).max(1).min(self.count);
        let mut sum = 0.0;
        for (bucket, count) in self.buckets().rev() {
            let taken = count.min(left);
            sum += (middle(bucket).min(self.most as f64) - above).max(0.0) * taken as f64;
            left -= taken;
            if left == 0 {
                break;
            }
        }
        sum
    }
}

impl FromIterator<u64> for Histogram {
    /// Of durations in ns.
    fn from_iter<T: IntoIterator<Item = u64>>(durations: T) -> Histogram {
        let mut histogram = Histogram::default();
        durations.into_iter().for_each(|ns| histogram.add(ns));
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations: impl IntoIterator<Item = u64>) -> Histogram {
        durations.into_iter().collect()
    }

    #[test]
    fn a_duration_is_in_the_bucket_that_its_logarithm_says() {
        // The upper bound belongs to a bucket, the lower one to that below.
        for (ns, expected) in [
            (1, -1),
            (2, 63),
            (3, 101),
            (4, 127),
            (1 << 20, 1279),
            ((1 << 20) + 1, 1280),
            ((1 << 49) + 1, 3136),
        ] {
            assert_eq!(bucket(ns), expected, "{ns}");
        }
        for ns in (1..2000).chain((1..60).map(|n| 3 << n)) {
            let (low, high) = (f64::from(bucket(ns)) / 64.0, f64::from(bucket(ns) + 1) / 64.0);
            let log = (ns as f64).log2();
            assert!(low < log + 1e-12 && log <= high + 1e-12, "{ns}");
            assert!((middle(bucket(ns)) / ns as f64 - 1.0).abs() < 0.0055, "{ns}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_durations() {
        // Neither sorted nor evenly spread: three octaves and a few outliers.
        let mut durations: Vec<u64> = (0..10_000u64).map(|n| 1000 + (n * 7919 % 10_000) * (n % 7)).collect();
        durations.extend([5_000_000, 80_000_000, 0]);
        let histogram = of(durations.iter().copied());
        durations.sort_unstable();
        for q in [0.01, 0.5, 0.9, 0.99, 0.999, 0.9999] {
            let exact = durations[(q * durations.len() as f64).ceil() as usize - 1] as f64;
            let found = histogram.quantile(q).unwrap();
            assert!((found / exact - 1.0).abs() < 0.0055, "{q}: {found} for {exact}");
        }
        assert_eq!(histogram.range(), Some((0, 80_000_000)));
        assert_eq!(histogram.sum(), durations.iter().map(|&ns| u128::from(ns)).sum());
    }

    #[test]
    fn what_too_few_calls_cannot_say_is_not_said() {
        assert_eq!(Histogram::default().quantile(0.5), None);
        let histogram = of(1..=100);
        assert_eq!(histogram.quantile(0.999), None);
        assert!((histogram.quantile(0.99).unwrap() - 99.0).abs() < 0.6);
        assert!((histogram.quantile(0.5).unwrap() - 50.0).abs() < 0.3);
        let zeros = of([0, 0, 0, 9]);
        assert_eq!(
            (zeros.quantile(0.5), zeros.bucket_at(0.5), zeros.quantile(0.75)),
            (Some(0.0), None, Some(0.0))
        );
    }

    #[test]
    fn a_sum_is_the_histogram_of_all() {
        let durations: Vec<u64> = (0..3000u64).map(|n| n * n * n % 1_000_003).collect();
        let mut sum = of(durations[..1000].iter().copied());
        sum.merge(&of(durations[1000..].iter().copied()));
        sum.merge(&Histogram::default());
        assert_eq!(sum, of(durations));
        let mut none = Histogram::default();
        none.merge(&sum);
        assert_eq!(none, sum);
    }

    #[test]
    fn an_interval_has_the_percentile_in_it_and_is_narrower_for_more_calls() {
        // Two samples of the same uneven durations, which differ by chance.
        let sample =
            |n: u64, seed: u64| of((0..n).map(|i| 1000 + ((i * 48_271 + seed) % 65_537).pow(2) % 90_000));
        for q in [0.5, 0.9, 0.99] {
            let (few, many) = (sample(2000, 1), sample(60_000, 7));
            let ((low, high), (closer, nearer)) = (few.interval(q).unwrap(), many.interval(q).unwrap());
            let known = many.quantile(q).unwrap();
            assert!(low <= known && known <= high, "{q}: {low} {known} {high}");
            assert!(nearer - closer < high - low, "{q}");
        }
        assert_eq!(of(1..10).interval(0.99), None);
    }

    #[test]
    fn what_stays_of_a_difference_is_the_histogram_of_what_came() {
        let (before, came) = ([0, 5, 700, 9_000_000], [0, 1, 650, 702, 80_000]);
        let mut left = of(before.iter().chain(&came).copied());
        left.subtract(&of(before));
        let expected = of(came);
        assert_eq!(left.buckets().collect::<Vec<_>>(), expected.buckets().collect::<Vec<_>>());
        assert_eq!((left.count(), left.sum(), left.zeros()), (5, expected.sum(), 1));
        let (least, most) = left.range().unwrap();
        assert!(least == 0 && (80_000..81_000).contains(&most), "{least} {most}");
        left.subtract(&expected);
        assert_eq!((left.range(), left.count()), (None, 0));
    }

    #[test]
    fn the_tail_is_what_the_slowest_take_beyond() {
        let histogram = of((0..198).map(|_| 1000).chain([50_000, 9000]));
        let tail = histogram.tail(0.01, 1000.0);
        assert!((tail / 57_000.0 - 1.0).abs() < 0.006, "{tail}");
        assert_eq!(of([7]).tail(0.01, 7.0), 0.0);
    }
}
