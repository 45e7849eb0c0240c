//! Times that fit each other: what callees take together is no more than what their caller takes.

/// Which contexts a context called, in order.
pub(super) struct Callees {
    /// Where those of a context begin, and behind the last one where all end.
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Callees {
    /// `parents`: by context the number of its caller, from 1; 0: it has none.
    pub(super) fn new(parents: impl ExactSizeIterator<Item = u32> + Clone) -> Callees {
        let count = parents.len();
        let mut starts = vec![0u32; count + 1];
        let callers = parents.zip(0u32..).filter_map(|(parent, i)| Some((parent.checked_sub(1)?, i)));
        callers.clone().for_each(|(caller, _)| starts[caller as usize] += 1);
        // First the end of each, then, as they are filled from behind, the beginning.
        let mut sum = 0;
        for end in &mut starts {
            sum += *end;
            *end = sum;
        }
        let mut all = vec![0; sum as usize];
        let backwards: Vec<_> = callers.collect();
        for &(caller, i) in backwards.iter().rev() {
            let place = &mut starts[caller as usize];
            *place -= 1;
            all[*place as usize] = i;
        }
        Callees { starts, all }
    }

    pub(super) fn of(&self, context: usize) -> &[u32] {
        &self.all[self.starts[context] as usize..self.starts[context + 1] as usize]
    }
}

/// How well the times of contexts are known.
pub(super) struct Known<'a> {
    /// That of each figure by itself.
    pub(super) variance: Vec<f64>,
    /// The square of all that a figure may be off by: the correction errs in a caller and its callees alike, so it says nothing about which of
    /// them is better known.
    pub(super) doubt: Vec<f64>,
    /// All calls of these were timed, and others stand for calls that were not.
    pub(super) measured: &'a [bool],
    /// These take what their callees take.
    pub(super) silent: &'a [bool],
}

/// Whole ns that fit each other: callees together take no longer than their caller. Events that were being written, estimates
/// and the correction may have them do so. Then whichever is better known decides; where that is the caller, its callees give up
/// what is too much as they are in doubt, so what is known of long calls is not spoilt by what is not of short ones. No estimate is below
/// what was measured of its callees.
pub(super) struct Shares {
    pub(super) inclusive: Vec<f64>,
    pub(super) base: Vec<f64>,
    /// Contexts whose callees took longer than they, and by how much.
    pub(super) short: (u64, f64),
}

impl Shares {
    pub(super) fn of(callees: &Callees, mut inclusive: Vec<f64>, mut known: Known<'_>) -> Shares {
        let count = inclusive.len();
        let mut short = (0, 0.0);
        // What calls that were timed took in each context at least.
        let mut least = vec![0.0; count];
        for i in (0..count).rev() {
            let sum_of = |figures: &[f64]| callees.of(i).iter().map(|&c| figures[c as usize]).sum::<f64>();
            let sum = sum_of(&inclusive);
            least[i] = sum_of(&least);
            if known.silent[i] {
                inclusive[i] = sum;
                continue;
            }
            let missing = (sum - inclusive[i]).round();
            if missing > 0.0 {
                short.0 += 1;
                short.1 += missing;
                let variance = sum_of(&known.variance);
                if known.variance[i] > variance {
                    inclusive[i] = sum;
                    known.doubt[i] += variance - known.variance[i];
                    known.variance[i] = variance;
                }
            }
            if known.measured[i] {
                least[i] = inclusive[i].max(0.0).round();
            }
            inclusive[i] = inclusive[i].max(least[i]).max(0.0).round();
        }
        let mut base = inclusive.clone();
        for i in 0..count {
            let callees = callees.of(i);
            fit(callees, inclusive[i], &mut inclusive, &known.doubt, &least);
            base[i] = inclusive[i] - callees.iter().map(|&c| inclusive[c as usize]).sum::<f64>();
        }
        Shares { inclusive, base, short }
    }
}

/// Takes from `callees` what they have together beyond `whole`: first as they are in doubt, then as they are large; what each has at `least`
/// only if nothing else is left.
fn fit(callees: &[u32], whole: f64, inclusive: &mut [f64], doubt: &[f64], least: &[f64]) {
    let sum = |figures: &[f64]| callees.iter().map(|&c| figures[c as usize]).sum::<f64>();
    let doubts = sum(doubt);
    for keeps in [1.0, 0.0] {
        let excess = sum(inclusive) - whole;
        if excess > 0.0 && doubts > 0.0 {
            for &c in callees {
                let c = c as usize;
                let room = (inclusive[c] - keeps * least[c]).max(0.0);
                inclusive[c] -= (excess * doubt[c] / doubts).round().min(room);
            }
        }
        let excess = sum(inclusive) - whole;
        let room = sum(inclusive) - keeps * sum(least);
        if excess > 0.0 && room > 0.0 {
            for &c in callees {
                let c = c as usize;
                let kept = (keeps * least[c]).min(inclusive[c]);
                inclusive[c] = kept + ((inclusive[c] - kept) * (1.0 - excess / room).max(0.0)).floor();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_doubt_gives_way() {
        let inclusive = || vec![1000.0, 300.0, 800.0, 500.0];
        let callees = Callees::new([0, 1, 1, 3].into_iter());
        assert_eq!((callees.of(0), callees.of(1), callees.of(2)), (&[1, 2][..], &[][..], &[3][..]));
        let of = |variance: &[f64]| {
            let (variance, doubt, none) = (variance.to_vec(), variance.to_vec(), [false; 4]);
            Shares::of(&callees, inclusive(), Known { variance, doubt, measured: &none, silent: &none })
        };
        let shares = of(&[0.0, 0.0, 900.0, 0.0]);
        assert_eq!(shares.inclusive, [1000.0, 300.0, 700.0, 500.0]);
        assert_eq!((shares.base, shares.short), (vec![0.0, 300.0, 200.0, 500.0], (1, 100.0)));
        let shares = of(&[9.0, 1.0, 1.0, 0.0]);
        assert_eq!(shares.inclusive, [1100.0, 300.0, 800.0, 500.0], "the caller is what is known least");
    }

    /// m1 calls m2, which calls m3, which calls m4.
    fn chain(inclusive: [f64; 4], variance: [f64; 4], measured: [bool; 4]) -> Shares {
        let callees = Callees::new([0, 1, 2, 3].into_iter());
        let (variance, doubt) = (variance.to_vec(), variance.to_vec());
        let known = Known { variance, doubt, measured: &measured, silent: &[false; 4] };
        Shares::of(&callees, inclusive.to_vec(), known)
    }

    #[test]
    fn a_caller_that_is_raised_is_as_sure_as_what_it_calls() {
        // m3 has the 500 of m4, which is known better; so it is known better than m2 as well.
        let shares = chain([1000.0, 20.0, 30.0, 500.0], [0.0, 50.0, 90.0, 4.0], [false; 4]);
        assert_eq!(shares.inclusive, [1000.0, 500.0, 500.0, 500.0]);
        assert_eq!(shares.base, [500.0, 0.0, 0.0, 500.0]);
    }

    #[test]
    fn an_estimate_is_not_below_what_was_measured_beneath_it() {
        // m2 calls m3 often, which seems to take little, and m4 once, for 500; that m2 varies little is chance.
        let callees = Callees::new([0, 1, 2, 2].into_iter());
        let of = |doubt: f64| {
            let variance = vec![0.0, 1.0, doubt, 0.0];
            let (measured, doubt) = ([true, false, false, true], variance.clone());
            let known = Known { variance, doubt, measured: &measured, silent: &[false; 4] };
            Shares::of(&callees, vec![1000.0, 20.0, 40.0, 500.0], known)
        };
        for doubt in [7.0, 1.0] {
            let shares = of(doubt);
            assert_eq!(shares.inclusive, [1000.0, 500.0, 0.0, 500.0], "what is left is for m3");
        }
        // Calls that were all timed decide, whatever they have called.
        let shares = chain([400.0, 20.0, 30.0, 500.0], [0.0; 4], [true, false, false, true]);
        assert_eq!(shares.inclusive, [400.0; 4]);
    }
}
