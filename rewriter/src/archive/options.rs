//! What a caller can choose, and the limits against hostile input.

use super::NewEntry;

/// How [`rewrite`](super::rewrite) treats an archive.
#[derive(Debug, Clone)]
pub struct Options {
    /// Deflate level of what is written anew, 1 to 12 in libdeflate's terms; 6 matches `jar` and zlib.
    pub level: i32,
    /// Remove signatures from archives whose content changes, instead of refusing them.
    pub strip_signatures: bool,
    /// Copy ambiguous entries, and archives with an ambiguous structure, as they are and report them,
    /// instead of refusing the whole input.
    pub copy_ambiguous: bool,
    /// Name and value of what the main section of the outermost archive's manifest gets: at most 70 bytes together.
    /// Another value there, or no manifest, is an error.
    pub manifest_attributes: Vec<(&'static str, &'static str)>,
    /// Entries for the root of the outermost archive, whatever its [`Layout`](super::Layout).
    pub root_entries: Vec<NewEntry>,
    /// Uncompressed bytes of classes that are worked on at a time, at most; with few threads there are less, 1 MiB for
    /// each. It decides about memory and balance between threads, never about the output.
    pub batch: usize,
    /// Limits against hostile input.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: 6,
            strip_signatures: false,
            copy_ambiguous: false,
            manifest_attributes: Vec::new(),
            root_entries: Vec::new(),
            batch: 8 << 20,
            limits: Limits::default(),
        }
    }
}

/// What an archive may ask for. Reaching a limit is an error that names it, except for [`depth`](Self::depth).
///
/// Only classes and nested archives are inflated; other entries are copied whatever they claim to hold.
/// STORED content is used in place and needs no memory.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Nested archives are looked into down to this depth: 0 = only the outermost archive. Deeper ones are
    /// copied and reported.
    pub depth: u32,
    /// Entries per archive.
    pub entries: u64,
    /// Bytes that may be inflated at one time, on top of [`inflated_per_input_byte`](Self::inflated_per_input_byte)
    /// times the input's length: one class, or the nested archives that lie in each other.
    pub inflated: u64,
    /// See [`inflated`](Self::inflated).
    pub inflated_per_input_byte: u64,
    /// Bytes that may be inflated in all, on top of
    /// [`total_per_input_byte`](Self::total_per_input_byte) times the input's length.
    pub total: u64,
    /// See [`total`](Self::total).
    pub total_per_input_byte: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 3,
            entries: 4_000_000,
            inflated: 16 << 20,
            inflated_per_input_byte: 6,
            total: 1 << 30,
            total_per_input_byte: 100,
        }
    }
}

impl Limits {
    pub(super) fn budget(&self, input: usize) -> Budget {
        let scaled = |factor: u64| factor.saturating_mul(input as u64);
        Budget {
            held: self.inflated.saturating_add(scaled(self.inflated_per_input_byte)),
            max_total: self.total.saturating_add(scaled(self.total_per_input_byte)),
            total: 0,
        }
    }
}

/// What is left of the limits while an input is worked on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// Bytes that may still be inflated and held.
    pub(super) held: u64,
    max_total: u64,
    total: u64,
}

impl Budget {
    /// Accounts for an entry to inflate, by its claimed size (which is checked when it is inflated).
    pub(super) fn spend(&mut self, size: u64) -> Result<(), super::ErrorKind> {
        if size > self.held {
            let what = "uncompressed size";
            return Err(super::ErrorKind::Limit { what, value: size, limit: self.held });
        }
        self.total = self.total.saturating_add(size);
        if self.total > self.max_total {
            let what = "uncompressed size of all entries";
            return Err(super::ErrorKind::Limit { what, value: self.total, limit: self.max_total });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_to_the_last_byte() {
        let limits = Limits { inflated: 3, total: 5, total_per_input_byte: 2, ..Limits::default() };
        let mut budget = limits.budget(4);
        assert_eq!((budget.held, budget.max_total), (3 + 6 * 4, 5 + 2 * 4));
        budget.held = 8;
        let mut spend = |size| budget.spend(size).map_err(|kind| kind.to_string());
        assert_eq!(spend(9), Err("uncompressed size is 9, the limit is 8".to_owned()));
        assert_eq!((spend(8), spend(5)), (Ok(()), Ok(())));
        assert_eq!(spend(1), Err("uncompressed size of all entries is 14, the limit is 13".to_owned()));
    }
}
