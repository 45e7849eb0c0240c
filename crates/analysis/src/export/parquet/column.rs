//! The values of a column, by row. As long as all rows have the same, it is kept once: of most columns a program has
//! nothing.

use std::ops::Range;

use super::chunk::Rows;

pub(super) struct Column<T> {
    rows: usize,
    /// What all rows have while there are no `values`.
    same: Option<T>,
    /// By row; where there is none, anything.
    values: Vec<T>,
    /// By row; empty: every row has a value.
    present: Vec<bool>,
    /// As many rows will come.
    expected: usize,
}

impl<T> Default for Column<T> {
    fn default() -> Column<T> {
        Column { rows: 0, same: None, values: Vec::new(), present: Vec::new(), expected: 0 }
    }
}

impl<T: Copy + Default + PartialEq> Column<T> {
    /// Forgets the rows, and keeps the memory.
    pub(super) fn clear(&mut self) {
        (self.rows, self.same) = (0, None);
        self.values.clear();
        self.present.clear();
    }

    /// There will be so many rows.
    pub(super) fn expect(&mut self, rows: usize) {
        self.expected = rows;
        if !self.values.is_empty() {
            self.values.reserve(rows.saturating_sub(self.values.len()));
        }
    }

    /// Up to so many rows, those that are not there have no value.
    pub(super) fn pad(&mut self, rows: usize) {
        if self.rows < rows {
            self.extend(std::iter::repeat_n(None, rows - self.rows));
        }
    }

    pub(super) fn push(&mut self, value: Option<T>) {
        self.extend(std::iter::once(value));
    }

    /// Adds the values of some rows.
    pub(super) fn fill(&mut self, rows: &Range<usize>, values: impl Iterator<Item = Option<T>>) {
        self.pad(rows.start);
        self.extend(values);
        assert_eq!(self.rows, rows.end, "values of the rows");
    }

    fn extend(&mut self, mut values: impl Iterator<Item = Option<T>>) {
        if self.values.is_empty() {
            let Some(first) = values.next() else { return };
            if self.rows == 0 {
                self.same = first;
            }
            let mut next = Some(first);
            while next == Some(self.same) {
                self.rows += 1;
                next = values.next();
            }
            let Some(other) = next else { return };
            self.values.reserve_exact(self.expected.max(self.rows + 1));
            self.values.resize(self.rows, self.same.unwrap_or_default());
            if self.same.is_none() {
                self.present.resize(self.rows, false);
            }
            self.add(other);
        }
        for value in values {
            match value {
                Some(value) if self.present.is_empty() => {
                    self.values.push(value);
                    self.rows += 1;
                }
                other => self.add(other),
            }
        }
    }

    fn add(&mut self, value: Option<T>) {
        if value.is_none() && self.present.is_empty() {
            self.present.resize(self.rows, true);
        }
        if value.is_none() || !self.present.is_empty() {
            self.present.push(value.is_some());
        }
        self.values.push(value.unwrap_or_default());
        self.rows += 1;
    }

    /// Whether every row has a value.
    pub(super) fn is_full(&self) -> bool {
        match &self.values[..] {
            [] => self.rows == 0 || self.same.is_some(),
            _ => !self.present.contains(&false),
        }
    }

    pub(super) fn get(&self, row: usize) -> Option<T> {
        match &self.values[..] {
            [] => self.same,
            values => Some(values[row]).filter(|_| self.present.is_empty() || self.present[row]),
        }
    }

    /// The rows in an order.
    pub(super) fn rows<'a>(&'a self, order: &'a [u32]) -> Rows<'a, T> {
        match &self.values[..] {
            [] => Rows::Same(self.rows, self.same),
            values => Rows::Each { order, values, present: &self.present },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_column_has_what_was_put_into_it(
            parts in proptest::collection::vec((0u32..3, 1usize..5, 0usize..3), 0..12),
        ) {
            let (mut column, mut expected) = (Column::default(), Vec::new());
            // What another group had is forgotten.
            column.fill(&(0..3), [Some(7), None, Some(8)].into_iter());
            column.clear();
            for (value, count, gap) in parts {
                expected.extend(vec![None; gap]);
                let begin = expected.len();
                expected.extend(vec![Some(value).filter(|&value| value > 0); count]);
                column.fill(&(begin..expected.len()), expected[begin..].iter().copied());
            }
            column.pad(expected.len());
            let rows: Vec<_> = (0..expected.len()).map(|row| column.get(row)).collect();
            proptest::prop_assert_eq!(&rows, &expected);
            proptest::prop_assert_eq!(column.is_full(), !expected.contains(&None));
            let is_same = expected.windows(2).all(|two| two[0] == two[1]);
            proptest::prop_assert_eq!(matches!(column.rows(&[]), Rows::Same(..)), is_same);
        }
    }
}
