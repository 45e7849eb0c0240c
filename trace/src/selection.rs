//! What was excluded or included while the program ran.

/// Methods were excluded from the recording, or included again, while the program ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionChange {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// The clock in ns. Excluded: from then on calls may be missing; included: from then on none is.
    pub clock: u64,
    /// Whether the methods were excluded; else they were included again.
    pub excluded: bool,
    /// Ids of the methods that lost or got their probes, ascending.
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
        let excluded = match action {
            1 => true,
            2 => false,
            _ => return Err("it neither excludes nor includes"),
        };
        let (ids, text) = (count as usize)
            .checked_mul(4)
            .and_then(|length| data[16..].split_at_checked(length))
            .ok_or(CUT)?;
        let ids = ids.as_chunks().0.iter().map(|id| u32::from_le_bytes(*id)).collect();
        let patterns = String::from_utf8_lossy(text).lines().map(str::to_owned).collect();
        Ok(SelectionChange { copy, clock: u64::from(high) << 32 | u64::from(low), excluded, ids, patterns })
    }
}

const CUT: &str = "it is cut off";
