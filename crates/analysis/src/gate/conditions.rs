//! Under which conditions a run was recorded, and why a run cannot be judged.

/// Under which conditions figures are comparable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    /// `counts`, or `tree` for all that has contexts.
    pub record: String,
    /// The first number of the version of Java, such as 17.
    pub java: String,
    /// What was inserted where, if the profile says it.
    pub selection: String,
}

/// Why a run cannot be judged: a verdict would be false.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Its process still writes.
    #[error("its process is still running; check the profile when the program has ended")]
    Live,
    /// The virtual machine was not shut down.
    #[error(
        "the program did not shut down: it was killed, crashed, or called Runtime.halt; calls may be missing. Run it to its end"
    )]
    Killed,
    /// Events are missing.
    #[error("{0} events were dropped; give the profile more room (limit=SIZE), or record less")]
    Dropped(u64),
    /// A thread is not complete.
    #[error("recording of thread {0:?} stopped early; its figures are not complete")]
    Stopped(String),
    /// Part of the file is missing.
    #[error("the file is damaged or cut off ({0}); record it again")]
    Damaged(String),
    /// Recording paused, or figures were reset.
    #[error("it is of a part of the run ({0}); record a whole run")]
    Part(&'static str),
    /// Only stacks were sampled.
    #[error(
        "no calls are counted in it, only stacks sampled (record=samples); record it with record=counts or tree"
    )]
    NoCalls,
    /// The calls do not add up.
    #[error("its calls do not add up for {0} methods in a thread; record it again")]
    Unbalanced(usize),
    /// An id has no name.
    #[error(
        "method {0} has no name; instrument modules that run together with one --ids FILE, and record the program again"
    )]
    Unnamed(String),
    /// A part that was requested is not in it.
    #[error(
        "there is no {0} in it; parts of a program are in profiles with contexts (record=tree or trace) only"
    )]
    NoPart(String),
    /// Nothing is in it.
    #[error("no call of a method was recorded")]
    Empty,
    /// A budget limits what was not counted.
    #[error("{what} were not counted in it, and a budget limits them; {cure}")]
    NotCounted {
        /// The figures.
        what: &'static str,
        cure: &'static str,
    },
    /// Runs of different kinds.
    #[error("{what} differs: {this} here, {other} in {of}; {cure}")]
    Conditions {
        what: &'static str,
        /// In this run.
        this: String,
        other: String,
        /// What the other is.
        of: String,
        cure: &'static str,
    },
}

impl Conditions {
    /// Whether figures under these conditions compare with those of `other`, which is called `of`.
    ///
    /// # Errors
    /// The first difference.
    pub fn comparable(&self, other: &Conditions, of: &str) -> Result<(), Refusal> {
        let versions: Vec<&str> = other.java.split(' ').collect();
        let differing = if self.record != other.record {
            Some(("what is recorded (record=)", &self.record, &other.record, "record both in the same way"))
        } else if self.selection != other.selection {
            let cure = "instrument both with the same options, or learn the baseline again";
            Some(("what is instrumented", &self.selection, &other.selection, cure))
        } else if !self.java.split(' ').all(|version| versions.contains(&version)) {
            let cure = "learn a baseline from runs on this version, or one from runs on all versions";
            Some(("the version of Java", &self.java, &other.java, cure))
        } else {
            None
        };
        let or_nothing =
            |text: &str| if text.is_empty() { "(not recorded)".into() } else { format!("`{text}`") };
        differing.map_or(Ok(()), |(what, this, other, cure)| {
            let (this, other) = (or_nothing(this), or_nothing(other));
            Err(Refusal::Conditions { what, this, other, of: of.to_owned(), cure })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_another_kind_do_not_compare() {
        let same = Conditions { record: "tree".into(), java: "17".into(), selection: "a".into() };
        assert_eq!(same.comparable(&Conditions { java: "17 25".into(), ..same.clone() }, "b"), Ok(()));
        let both = Conditions { java: "17 25".into(), ..same.clone() };
        assert!(both.comparable(&same, "b").is_err(), "one of its versions was not learned");
        for other in [
            Conditions { record: "counts".into(), ..same.clone() },
            Conditions { java: "25".into(), ..same.clone() },
            Conditions { selection: "b".into(), ..same.clone() },
        ] {
            let refusal = same.comparable(&other, "app.gate").unwrap_err().to_string();
            assert!(refusal.contains("in app.gate"), "{refusal}");
        }
    }
}
