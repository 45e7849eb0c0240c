//! The figures of a method: how often it was called, and how its calls ended.

/// How a method's frames were closed, and events that fitted none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Closes {
    /// Normal returns. Where a thread counts those of all its methods together, what the balance of a method leaves.
    pub exits: u64,
    /// Exceptions that left the method.
    pub unwinds: u64,
    /// Constructors whose super() or this() threw.
    pub aborted: u64,
    /// Frames whose end was not seen.
    pub unclosed: u64,
}

/// The counts of a method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Method {
    /// Calls.
    pub entries: u64,
    /// Ends of calls.
    pub closes: Closes,
    /// Events that fitted no frame; not part of the balance.
    pub unmatched: u64,
    /// Frames still open, counted on the shadow stack (and, for threads that ended, when they did), never derived from
    /// the other counts.
    pub open: u64,
    /// Instructions that the calls which have ended executed themselves, if that is recorded.
    pub bytecodes: u64,
    /// Samples that met it as the innermost recorded call, the processor not being in a probe.
    pub samples: u64,
}

impl Closes {
    /// All closed frames.
    pub fn total(&self) -> u64 {
        self.exits.saturating_add(self.unwinds).saturating_add(self.aborted).saturating_add(self.unclosed)
    }
}

impl Method {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Method) {
        let sum = |a: &mut u64, b: u64| *a = a.saturating_add(b);
        sum(&mut self.entries, other.entries);
        sum(&mut self.closes.exits, other.closes.exits);
        sum(&mut self.closes.unwinds, other.closes.unwinds);
        sum(&mut self.closes.aborted, other.closes.aborted);
        sum(&mut self.closes.unclosed, other.closes.unclosed);
        sum(&mut self.unmatched, other.unmatched);
        sum(&mut self.open, other.open);
        sum(&mut self.bytecodes, other.bytecodes);
        sum(&mut self.samples, other.samples);
    }

    /// Entries minus everything that an entry can have become; 0 if the counts balance.
    pub fn balance(&self) -> i128 {
        i128::from(self.entries) - i128::from(self.closes.total()) - i128::from(self.open)
    }
}
