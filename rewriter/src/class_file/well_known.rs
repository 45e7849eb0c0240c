//! Utf8 entries that are looked for in every class: their indices are noted while the constant pool is walked, so that
//! whether an index names such a text is a comparison of two numbers.

use crate::runtime::{BOOT_PROBES, METHOD_EVENT, OBJECT_EVENT, RUNTIME_PACKAGE};

/// Texts that the rewriter would append or looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WellKnown {
    MethodEvent,
    StackMapTable,
    Throwable,
    ObjectEvent,
    Start,
    BootProbes,
    Code,
    LineNumberTable,
    LocalVariableTable,
    LocalVariableTypeTable,
    Exceptions,
    Signature,
    ConstantValue,
}

/// The texts, in the order of the enum.
const TEXTS: [&str; 13] = [
    METHOD_EVENT,
    "StackMapTable",
    "java/lang/Throwable",
    OBJECT_EVENT,
    "start",
    BOOT_PROBES,
    "Code",
    "LineNumberTable",
    "LocalVariableTable",
    "LocalVariableTypeTable",
    "Exceptions",
    "Signature",
    "ConstantValue",
];

/// By length, and below by first byte: bit n is set if the text n has that, and [`OF_RUNTIME`] if names of the runtime
/// may have it. A text that has no bit in both is none of them.
const BY_LENGTH: [u16; LONG + 1] = {
    let mut texts = [0; LONG + 1];
    let mut i = 0;
    while i < TEXTS.len() {
        texts[TEXTS[i].len()] |= 1 << i;
        i += 1;
    }
    let mut length = RUNTIME_PACKAGE.len() + 1;
    while length <= LONG {
        texts[length] |= OF_RUNTIME;
        length += 1;
    }
    texts
};
const BY_INITIAL: [u16; 256] = {
    let mut texts = [0; 256];
    let mut i = 0;
    while i < TEXTS.len() {
        texts[TEXTS[i].as_bytes()[0] as usize] |= 1 << i;
        i += 1;
    }
    texts[RUNTIME_PACKAGE.as_bytes()[0] as usize] |= OF_RUNTIME;
    texts
};
/// Stands for all lengths from here on; the well-known texts are shorter.
const LONG: usize = 63;
const OF_RUNTIME: u16 = 1 << TEXTS.len();

impl WellKnown {
    /// The text.
    pub(super) fn text(self) -> &'static [u8] {
        TEXTS[self as usize].as_bytes()
    }
}

/// Which of the texts one of this length that begins with this byte can be, for [`Noted::note`]; 0: none.
#[inline(always)]
pub(super) fn candidates(length: usize, initial: u8) -> u16 {
    BY_LENGTH[length.min(LONG)] & BY_INITIAL[usize::from(initial)]
}

/// What the walk over one pool has found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Noted {
    /// The last entry with each text, or 0.
    indices: [u16; TEXTS.len()],
    /// Two entries have the same of these texts.
    has_twins: bool,
    /// Some Utf8 entry begins as the names of the runtime's classes do.
    pub(super) mentions_runtime: bool,
}

impl Noted {
    /// Notes a text that can be one of these [`candidates`].
    pub(super) fn note(&mut self, text: &[u8], candidates: u16, index: u16) {
        let known = candidates & (OF_RUNTIME - 1);
        // No two have the same length and the same first byte.
        if known != 0 && TEXTS[known.trailing_zeros() as usize].as_bytes() == text {
            let which = known.trailing_zeros() as usize;
            self.has_twins |= self.indices[which] != 0;
            self.indices[which] = index;
        }
        self.mentions_runtime |=
            text.len() > RUNTIME_PACKAGE.len() && text.starts_with(RUNTIME_PACKAGE.as_bytes());
    }

    /// The index of an entry with this text, or 0.
    #[inline]
    pub(super) fn index(&self, which: WellKnown) -> u16 {
        self.indices[which as usize]
    }

    /// Whether the entry at `index` has this text; `None`: it must be looked at.
    #[inline(always)]
    pub(super) fn is(&self, index: u16, which: WellKnown) -> Option<bool> {
        let found = index != 0 && index == self.indices[which as usize];
        if found || !self.has_twins { Some(found) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_told_by_its_length_and_its_first_byte() {
        for (which, text) in TEXTS.iter().enumerate() {
            let candidates = candidates(text.len(), text.as_bytes()[0]);
            assert_eq!(candidates & (OF_RUNTIME - 1), 1 << which, "{text}");
        }
    }
}
