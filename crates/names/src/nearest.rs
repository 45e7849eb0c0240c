//! What a pattern that fits nothing may have been meant as.

use crate::signature;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Names that are suggested.
const MAX_SUGGESTIONS: usize = 3;
/// Names that are less alike than this are no help; 1: the same.
const MIN_SIMILARITY: f64 = 0.65;
/// Nor are those that are less alike than the best by more than this.
const MAX_DISTANCE_FROM_BEST: f64 = 0.1;

/// `; did you mean p.Shop.price(int)?`: the names that are most like `pattern`, as people read them; nothing, if none
/// is.
///
/// `names`: classes (`p.Shop`) and methods (`p.Shop.price(I)V`), of a report or of a program.
pub fn did_you_mean<S: AsRef<str>>(pattern: &str, names: impl IntoIterator<Item = S>) -> String {
    match &nearest(pattern, names)[..] {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [others @ .., last] => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

/// The names that are most like `pattern`, the most alike first.
pub fn nearest<S: AsRef<str>>(pattern: &str, names: impl IntoIterator<Item = S>) -> Vec<String> {
    let wanted = Parts::of(pattern);
    let mut found: BTreeSet<(Reverse<u32>, String)> = BTreeSet::new();
    for name in names {
        let name = name.as_ref();
        let similarity = wanted.similarity(&Parts::of(name));
        if similarity < MIN_SIMILARITY {
            continue;
        }
        let rank = Reverse(rank(similarity));
        if found.len() == MAX_SUGGESTIONS && found.last().is_some_and(|last| last.0 < rank) {
            continue;
        }
        found.insert((rank, signature::brief(name).unwrap_or_else(|| name.to_owned())));
        if found.len() > MAX_SUGGESTIONS {
            found.pop_last();
        }
    }
    let best = found.first().map_or(0, |best| best.0.0);
    found.retain(|(rank, _)| best - rank.0 <= self::rank(MAX_DISTANCE_FROM_BEST));
    found.into_iter().map(|(_, name)| name).collect()
}

/// A similarity that has an order.
fn rank(similarity: f64) -> u32 {
    (similarity * 1e6) as u32
}

/// A name without case, wildcards and parameters.
struct Parts {
    whole: String,
    /// Where the last part begins, and the one before it.
    last: usize,
    tail: usize,
}

impl Parts {
    fn of(name: &str) -> Parts {
        let head = name.split('(').next().unwrap_or_default();
        let words = head.split(['.', '/', '#', '$']).filter(|word| !word.trim_matches('*').is_empty());
        let whole = words.collect::<Vec<_>>().join(".").to_lowercase();
        let last = whole.rfind('.').map_or(0, |at| at + 1);
        let tail = whole[..last.saturating_sub(1)].rfind('.').map_or(0, |at| at + 1);
        Parts { whole, last, tail }
    }

    /// From 0 to 1. The method, or class, counts for itself; the class with the method for more; everything for most.
    fn similarity(&self, other: &Parts) -> f64 {
        let alike = strsim::normalized_damerau_levenshtein;
        let (last, tail) = (alike(self.last(), other.last()), alike(self.tail(), other.tail()));
        // A name of one part may be that of a class whose method the other is.
        let class = if self.last == 0 && other.last > 0 { alike(self.last(), other.class()) } else { 0.0 };
        let whole = alike(&self.whole, &other.whole);
        whole.max(0.97 * tail).max(0.9 * last).max(0.85 * class)
    }

    fn last(&self) -> &str {
        &self.whole[self.last..]
    }

    fn tail(&self) -> &str {
        &self.whole[self.tail..]
    }

    /// What stands before the last part.
    fn class(&self) -> &str {
        self.whole.get(self.tail..self.last.saturating_sub(1)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = [
        "com.acme.Shop.price(I)V",
        "com.acme.Shop.close()V",
        "com.acme.Till.open(Ljava/lang/String;)V",
        "com.acme.Till",
        "Main.main([Ljava/lang/String;)V",
        "org.other.Thing.work()V",
    ];

    #[test]
    fn near_names_are_suggested_as_people_read_them() {
        for (pattern, first) in [
            ("com.acme.Shop#prise", "com.acme.Shop.price(int)"),
            ("Shop.price(int)", "com.acme.Shop.price(int)"),
            ("Shop.price(long)", "com.acme.Shop.price(int)"),
            ("price", "com.acme.Shop.price(int)"),
            ("shop.CLOSE", "com.acme.Shop.close()"),
            ("c.a.Shop.close(..)", "com.acme.Shop.close()"),
            ("com.acme.Tell", "com.acme.Till"),
            ("Till#open", "com.acme.Till.open(String)"),
            ("org.other.Thing.wrok", "org.other.Thing.work()"),
        ] {
            assert_eq!(nearest(pattern, NAMES).first().map(String::as_str), Some(first), "{pattern}");
        }
        assert_eq!(nearest("zzz.Qqq#xxxx", NAMES), [""; 0]);
        assert_eq!(did_you_mean("zzz.Qqq", NAMES), "");
        assert_eq!(did_you_mean("Main.mian", NAMES), "; did you mean Main.main(String[])?");
    }
}
