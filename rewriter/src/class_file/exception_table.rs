//! The `exception_table` of the Code attribute (JVMS 4.7.3).

/// One row: exceptions of `catch_type` thrown in `start_pc..end_pc` go to `handler_pc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionEntry {
    /// First covered instruction.
    pub start_pc: u16,
    /// First instruction behind the range; may equal the code's length.
    pub end_pc: u16,
    /// The handler.
    pub handler_pc: u16,
    /// A Class entry, or 0 for any exception.
    pub catch_type: u16,
}

/// The rows in their order, which is the order of search.
#[derive(Debug, Clone, Copy)]
pub struct ExceptionTable<'a> {
    rows: &'a [u8],
}

impl<'a> ExceptionTable<'a> {
    pub(crate) fn new(rows: &'a [u8]) -> Self {
        Self { rows }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len() / 8
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ExceptionEntry> + use<'a> {
        self.rows.chunks_exact(8).map(|row| {
            let item = |at: usize| u16::from_be_bytes([row[at], row[at + 1]]);
            ExceptionEntry { start_pc: item(0), end_pc: item(2), handler_pc: item(4), catch_type: item(6) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_and_read_in_order() {
        let bytes: Vec<u8> = (0..24).collect();
        let table = ExceptionTable::new(&bytes);
        assert_eq!((table.len(), table.is_empty(), table.iter().len()), (3, false, 3));
        let row = ExceptionEntry { start_pc: 0x809, end_pc: 0xa0b, handler_pc: 0xc0d, catch_type: 0xe0f };
        assert_eq!(table.iter().nth(1), Some(row));
        assert!(ExceptionTable::new(&[]).is_empty());
    }
}
