//! Whose time it is: from calls, in the order in which they were recorded, to what each context took itself between two
//! moments.

use crate::replay::Place;

/// What a context did between two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) node: u32,
    /// Calls that began.
    pub(crate) calls: u64,
    /// ns that it took itself, as measured.
    pub(crate) ns: u64,
}

/// What a thread did between two moments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Calls that were open at its beginning, by context.
    pub(crate) open: Vec<(u32, u64)>,
    /// By context; only what did something.
    pub(crate) sums: Vec<Sum>,
}

/// Adds sums up, of many parts.
pub(crate) struct Total {
    /// Calls and ns, by context.
    sums: Vec<(u64, u64)>,
}

impl Total {
    /// Of so many contexts.
    pub(crate) fn new(contexts: usize) -> Total {
        Total { sums: vec![(0, 0); contexts] }
    }

    pub(crate) fn add(&mut self, sums: &[Sum]) {
        for sum in sums {
            if let Some(all) = self.sums.get_mut(sum.node as usize) {
                *all = (all.0.saturating_add(sum.calls), all.1.saturating_add(sum.ns));
            }
        }
    }

    /// By context; only what did something.
    pub(crate) fn into_sums(self) -> Vec<Sum> {
        let all = (0..).zip(self.sums).filter(|(_, sum)| *sum != (0, 0));
        all.map(|(node, (calls, ns))| Sum { node, calls, ns }).collect()
    }
}

impl Part {
    /// Adds what happened right after it.
    #[cfg(test)]
    pub(crate) fn then(&mut self, sums: &[Sum]) {
        let before = std::mem::take(&mut self.sums);
        self.sums = joined(&before, sums);
    }
}

/// Sums of two parts; both are in the order of contexts.
pub(crate) fn joined(one: &[Sum], other: &[Sum]) -> Vec<Sum> {
    let mut all = Vec::with_capacity(one.len().max(other.len()));
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    loop {
        match (one.peek(), other.peek()) {
            (Some(a), Some(b)) if a.node == b.node => {
                let (calls, ns) = (a.calls.saturating_add(b.calls), a.ns.saturating_add(b.ns));
                all.push(Sum { node: a.node, calls, ns });
                one.next();
                other.next();
            }
            (Some(a), b) if b.is_none_or(|b| a.node < b.node) => all.extend(one.next()),
            (_, Some(_)) => all.extend(other.next()),
            (_, None) => return all,
        }
    }
}

/// A call that is open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    pub(crate) place: Place,
    /// Whose time its own is; 0: nobody's.
    charged: u32,
    /// The clock when it began.
    pub(crate) at: u64,
}

/// The open calls of a thread, and what contexts have taken since the last cut.
#[derive(Debug, Default)]
pub(crate) struct Account {
    open: Vec<Open>,
    /// Up to when time was given to somebody.
    last: u64,
    /// Calls and ns, by context.
    sums: Vec<(u64, u64)>,
    touched: Vec<u32>,
}

impl Account {
    /// From a moment on, with the calls that are open, outermost first: their contexts, and when they began.
    pub(crate) fn resumed(last: u64, open: impl Iterator<Item = (Place, u64)>) -> Account {
        let mut account = Account { last, ..Account::default() };
        open.for_each(|(place, at)| account.push(place, at));
        account
    }

    #[inline]
    fn add(&mut self, node: u32, calls: u64, ns: u64) {
        let at = node as usize;
        if at >= self.sums.len() {
            self.grow(at);
        }
        let sum = &mut self.sums[at];
        if *sum == (0, 0) {
            self.touched.push(node);
        }
        *sum = (sum.0.saturating_add(calls), sum.1.saturating_add(ns));
    }

    #[cold]
    fn grow(&mut self, at: usize) {
        self.sums.resize(at + 1, (0, 0));
    }

    #[inline]
    fn charge(&mut self, at: u64) {
        let ns = at.saturating_sub(self.last);
        if ns > 0 {
            self.last = at;
            if let Some(charged) = self.open.last().map(|top| top.charged).filter(|&charged| charged != 0) {
                self.add(charged, 0, ns);
            }
        }
    }

    /// A call begins, and nobody asks whose the time is.
    #[inline]
    pub(crate) fn push(&mut self, place: Place, at: u64) {
        let above = self.open.last().map_or(0, |top| top.charged);
        self.open.push(Open { place, charged: if place.is_deep { above } else { place.node }, at });
    }

    #[inline]
    pub(crate) fn enter(&mut self, place: Place, at: u64) {
        self.charge(at);
        self.add(place.node, 1, 0);
        self.push(place, at);
    }

    /// A call ends that has `depth` others beneath it.
    #[inline]
    pub(crate) fn leave(&mut self, depth: usize, at: u64) -> Option<Open> {
        self.charge(at);
        self.remove(depth)
    }

    /// The same where nobody asks whose the time is.
    #[inline]
    pub(crate) fn remove(&mut self, depth: usize) -> Option<Open> {
        if depth + 1 == self.open.len() {
            return self.open.pop();
        }
        (depth < self.open.len()).then(|| self.open.remove(depth))
    }

    /// `ns` up to now are nobody's.
    pub(crate) fn pause(&mut self, ns: u64, at: u64) {
        self.charge(at.saturating_sub(ns));
        self.last = self.last.max(at);
    }

    /// What happened since the last cut; in the order of contexts.
    pub(crate) fn cut(&mut self, at: u64) -> Vec<Sum> {
        self.charge(at);
        self.touched.sort_unstable();
        let sums = &mut self.sums;
        let take = |node: u32| {
            let (calls, ns) = std::mem::take(&mut sums[node as usize]);
            Sum { node, calls, ns }
        };
        self.touched.drain(..).map(take).collect()
    }

    /// The open calls, outermost first.
    pub(crate) fn open(&self) -> &[Open] {
        &self.open
    }

    /// How many calls of each context are open, in the order of contexts.
    pub(crate) fn open_counts(&self) -> Vec<(u32, u64)> {
        let mut nodes: Vec<_> = self.open.iter().map(|open| open.place.node).collect();
        nodes.sort_unstable();
        let mut counts: Vec<(u32, u64)> = Vec::new();
        for node in nodes {
            match counts.last_mut().filter(|(last, _)| *last == node) {
                Some((_, count)) => *count += 1,
                None => counts.push((node, 1)),
            }
        }
        counts
    }
}
