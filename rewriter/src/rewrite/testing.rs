//! Methods that insertions have moved, for the tests of this folder.

use super::Reason;
use super::relocation::Relocation;
use crate::code::edits::{Edits, Snippet};
pub(crate) use crate::code::testing::Assembly;

/// The code of a snippet.
pub(crate) fn snippet(text: &str) -> Snippet {
    Snippet::default().with(&Assembly::of(text).code)
}

/// A method, and where everything went that is in it.
pub(crate) struct Moved {
    pub(crate) old: Assembly,
    pub(crate) edits: Edits,
    pub(crate) code: Vec<u8>,
    pub(crate) relocation: Relocation,
}

impl Moved {
    /// With frames at these labels, or of a class that has none.
    pub(crate) fn of(
        text: &str,
        frames: Option<&[&str]>,
        edit: impl FnOnce(&Assembly, &mut Edits),
    ) -> Result<Self, Reason> {
        let mut old = Assembly::of(text);
        let mut edits = Edits::default();
        edit(&old, &mut edits);
        edits.sort();
        let info = frames.map(|labels| {
            let frames: Vec<_> = labels.iter().map(|label| (*label, "same")).collect();
            old.frames(&frames)
        });
        let (mut relocation, mut code) = (Relocation::default(), b"before".to_vec());
        relocation.apply(&old.code, &old.scan(), &edits, frames.is_some(), info.as_deref(), &mut code)?;
        Ok(Self { old, edits, code: code.split_off(6), relocation })
    }

    /// What `expected` is put together to, which is what the code has become.
    pub(crate) fn check(&self, expected: &str) -> Assembly {
        let expected = Assembly::of(expected);
        let differs = (0..expected.code.len()).find(|&pc| self.code.get(pc) != expected.code.get(pc));
        assert_eq!(differs, None, "the code differs at this pc");
        assert_eq!(self.code.len(), expected.code.len());
        expected
    }
}
