//! A Code attribute that is walked once for all who ask for its attributes.

use super::Reason;
use crate::class_file::well_known::WellKnown;
use crate::class_file::{Attribute, CodeAttribute, ConstantPool};

/// A Code attribute and its StackMapTable.
#[derive(Debug, Clone)]
pub(crate) struct MethodCode<'a> {
    pub(crate) code: CodeAttribute<'a>,
    /// The `info` of the first StackMapTable.
    pub(crate) frames: Option<&'a [u8]>,
    has_more_frames: bool,
}

impl<'a> MethodCode<'a> {
    /// Reads the attribute; `each` is told of every attribute in it. `None`: it cannot be read.
    #[inline]
    pub(crate) fn read(
        attribute: &Attribute<'a>,
        pool: &ConstantPool<'_>,
        mut each: impl FnMut(&Attribute<'a>),
    ) -> Option<Self> {
        let (mut frames, mut has_more_frames) = (None, false);
        let code = CodeAttribute::parse_with(attribute, |table| {
            if pool.is(table.name_index, WellKnown::StackMapTable) {
                has_more_frames = frames.is_some();
                frames = frames.or(Some(table.info));
            }
            each(table);
        });
        Some(Self { code: code.ok()?, frames, has_more_frames })
    }

    /// The `info` of the one StackMapTable.
    ///
    /// # Errors
    /// There is a second, which HotSpot refuses.
    pub(crate) fn only_frames(&self) -> Result<Option<&'a [u8]>, Reason> {
        if self.has_more_frames { Err(Reason::BadStackMap) } else { Ok(self.frames) }
    }
}
