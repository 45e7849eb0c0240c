//! Where an entry lies: the path through nested archives.

use std::fmt::{self, Write as _};

/// The path to an archive or an entry, outermost archive first. Names are bytes, as zip has them.
///
/// Displays as `outer.jar!BOOT-INF/lib/x.jar!com/A.class`; bytes that are not UTF-8 and control characters
/// are escaped there, so that one location is always one line.
#[derive(Debug, Clone, Copy)]
pub struct Location<'a> {
    parent: Option<&'a Location<'a>>,
    name: &'a [u8],
    shadowed: bool,
}

impl<'a> Location<'a> {
    /// The outermost archive (or any other container) under the name it has outside.
    pub fn root(name: &'a str) -> Self {
        Location { parent: None, name: name.as_bytes(), shadowed: false }
    }

    /// An entry of the archive `self`.
    pub fn entry(&'a self, name: &'a [u8]) -> Self {
        Location { parent: Some(self), name, shadowed: false }
    }

    pub(super) fn shadowed(mut self, shadowed: bool) -> Self {
        self.shadowed = shadowed;
        self
    }

    /// Name of the entry, or of the outermost archive.
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// The archive that contains this entry.
    pub fn parent(&self) -> Option<&'a Location<'a>> {
        self.parent
    }

    /// Number of archives around this one: 0 for the outermost archive, 1 for its entries.
    pub fn depth(&self) -> usize {
        let mut depth = 0;
        let mut at = self.parent;
        while let Some(parent) = at {
            depth += 1;
            at = parent.parent;
        }
        depth
    }

    /// Whether a later entry of the same archive has the same name. The JVM loads the later one.
    pub fn is_shadowed(&self) -> bool {
        self.shadowed
    }
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}!")?;
        }
        for chunk in self.name.utf8_chunks() {
            for c in chunk.valid().chars() {
                if c.is_control() { write!(f, "{}", c.escape_default())? } else { f.write_char(c)? }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_as_one_line() {
        let root = Location::root("a.jar");
        let lib = root.entry(b"lib/b.jar");
        let class = lib.entry(b"x\n\xff\xc3\xa9.class");
        assert_eq!(class.to_string(), "a.jar!lib/b.jar!x\\n\\xffé.class");
        assert_eq!((root.depth(), lib.depth(), class.depth()), (0, 1, 2));
        assert_eq!((root.name(), lib.name()), (&b"a.jar"[..], &b"lib/b.jar"[..]));
        assert_eq!(class.parent().and_then(Location::parent).map(Location::name), Some(root.name()));
        assert!(root.parent().is_none());
    }
}
