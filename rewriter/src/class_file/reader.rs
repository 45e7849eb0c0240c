//! A cursor over the class file that knows which structure it is in.

use crate::error::{ClassError, ClassErrorKind};

/// Reads items one by one; every error names the structure and the offset.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    structure: &'static str,
}

impl<'a> Reader<'a> {
    /// Starts at an offset of `bytes`; `structure` is named in errors.
    pub fn new(bytes: &'a [u8], position: usize, structure: &'static str) -> Self {
        Self { bytes, position, structure }
    }

    /// The offset of the next item.
    pub fn position(&self) -> usize {
        self.position
    }

    /// An error at the next item.
    #[cold]
    pub fn error(&self, kind: ClassErrorKind) -> ClassError {
        ClassError::new(kind, self.position, self.structure)
    }

    /// The next bytes.
    ///
    /// # Errors
    /// There are fewer.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], ClassError> {
        match self.bytes.get(self.position..).and_then(|rest| rest.get(..length)) {
            Some(slice) => {
                self.position += length;
                Ok(slice)
            }
            None => Err(self.error(ClassErrorKind::Truncated)),
        }
    }

    /// Steps over bytes.
    ///
    /// # Errors
    /// There are fewer.
    #[inline]
    pub fn skip(&mut self, length: usize) -> Result<(), ClassError> {
        self.take(length).map(|_| ())
    }

    /// The next byte.
    ///
    /// # Errors
    /// There is none.
    #[inline]
    pub fn u1(&mut self) -> Result<u8, ClassError> {
        Ok(self.take(1)?[0])
    }

    /// The next two bytes, the most significant first.
    ///
    /// # Errors
    /// There are fewer.
    #[inline]
    pub fn u2(&mut self) -> Result<u16, ClassError> {
        let b = self.take(2)?;
        Ok(u16::from_be_bytes([b[0], b[1]]))
    }

    /// The next four bytes, the most significant first.
    ///
    /// # Errors
    /// There are fewer.
    #[inline]
    pub fn u4(&mut self) -> Result<u32, ClassError> {
        let b = self.take(4)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }
}
