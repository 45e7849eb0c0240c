//! Messages that several have received: each receiver is one more end of the call that has sent the message, in rows
//! behind those of the calls made.

use super::calls::Matching;
use crate::hash::HashMap;

pub(crate) struct Receivers<'a> {
    /// How many calls were made.
    made: u32,
    /// Rows of a call made and of what has received it, but for the first.
    others: &'a [(u32, u32)],
    by_made: HashMap<u32, Vec<u32>>,
    by_served: HashMap<u32, u32>,
}

impl<'a> Receivers<'a> {
    pub(crate) fn new(matching: &'a Matching) -> Receivers<'a> {
        let made = matching.made.len() as u32;
        let mut by_made: HashMap<u32, Vec<u32>> = HashMap::default();
        let mut by_served = HashMap::default();
        for (row, &(sent, received)) in (made..).zip(&matching.others) {
            by_made.entry(sent).or_default().push(row);
            by_served.insert(received, row);
        }
        Receivers { made, others: &matching.others, by_made, by_served }
    }

    /// The others of what is kept by calls made.
    pub(crate) fn add_to<T: Copy>(&self, of_made: &mut Vec<T>) {
        of_made.extend(self.others.iter().map(|&(made, _)| of_made[made as usize]).collect::<Vec<_>>());
    }

    /// The rows of a call made, its own first; and whether it is that.
    pub(crate) fn rows_of(&self, made: u32) -> impl Iterator<Item = (bool, u32)> {
        let others = self.by_made.get(&made).into_iter().flatten();
        std::iter::once((true, made)).chain(others.map(|&row| (false, row)))
    }

    /// The call made that a row is of.
    pub(crate) fn made(&self, row: u32) -> u32 {
        row.checked_sub(self.made).map_or(row, |other| self.others[other as usize].0)
    }

    /// The served call of a row.
    pub(crate) fn partner(&self, matching: &Matching, row: u32) -> Option<u32> {
        match row.checked_sub(self.made) {
            Some(other) => Some(self.others[other as usize].1),
            None => matching.made.partner(row),
        }
    }

    /// The row that has a served call.
    pub(crate) fn origin_of(&self, matching: &Matching, served: u32) -> Option<u32> {
        self.by_served.get(&served).copied().or_else(|| matching.served.partner(served))
    }
}
