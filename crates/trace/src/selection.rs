//! What was excluded or included, and which roots were added or removed, while the program ran.

/// What a change of the selection did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Methods lost their probes.
    Excluded,
    /// Methods that were excluded got their probes back.
    Included,
    /// More methods are roots.
    RootsAdded,
    /// Methods are roots no longer.
    RootsRemoved,
}

/// Methods were excluded from the recording, or included again, or roots were added or removed, while the program ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionChange {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// The clock in ns. Excluded, roots removed: from then on calls may be missing; included: from then on none is; roots added: before then
    /// nothing beneath them was recorded, unless another root could call it.
    pub clock: u64,
    /// What was done.
    pub change: Change,
    /// Ids of the methods that lost or got their probes, ascending; of roots those methods that are, or were, roots by the patterns.
    pub ids: Vec<u32>,
    /// The patterns that were given. They hold for classes that were loaded later, too.
    pub patterns: Vec<String>,
}

impl SelectionChange {
    /// Reads the data of a region. `Err`: it is cut off, or no data of this kind.
    pub(crate) fn decode(copy: u32, data: &[u8]) -> Result<SelectionChange, &'static str> {
        let word = |at: usize| Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?));
        let (Some(low), Some(high), Some(action), Some(count)) = (word(0), word(4), word(8), word(12)) else {
            return Err(CUT);
        };
        let change = match action {
            1 => Change::Excluded,
            2 => Change::Included,
            3 => Change::RootsAdded,
            4 => Change::RootsRemoved,
            _ => return Err("it neither excludes nor includes, and is not about roots"),
        };
        let (ids, text) = (count as usize)
            .checked_mul(4)
            .and_then(|length| data[16..].split_at_checked(length))
            .ok_or(CUT)?;
        let ids = ids.as_chunks().0.iter().map(|id| u32::from_le_bytes(*id)).collect();
        let patterns = String::from_utf8_lossy(text).lines().map(str::to_owned).collect();
        Ok(SelectionChange { copy, clock: u64::from(high) << 32 | u64::from(low), change, ids, patterns })
    }
}

const CUT: &str = "it is cut off";
