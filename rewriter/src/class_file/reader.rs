//! A cursor over the class file that knows which structure it is in.

use crate::error::{ClassError, ClassErrorKind};

#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    structure: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], position: usize, structure: &'static str) -> Self {
        Self { bytes, position, structure }
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    #[cold]
    pub(crate) fn error(&self, kind: ClassErrorKind) -> ClassError {
        ClassError::new(kind, self.position, self.structure)
    }

    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], ClassError> {
        match self.bytes.get(self.position..).and_then(|rest| rest.get(..length)) {
            Some(slice) => {
                self.position += length;
                Ok(slice)
            }
            None => Err(self.error(ClassErrorKind::Truncated)),
        }
    }

    #[inline]
    pub(crate) fn skip(&mut self, length: usize) -> Result<(), ClassError> {
        self.take(length).map(|_| ())
    }

    #[inline]
    pub(crate) fn u1(&mut self) -> Result<u8, ClassError> {
        Ok(self.take(1)?[0])
    }

    #[inline]
    pub(crate) fn u2(&mut self) -> Result<u16, ClassError> {
        let b = self.take(2)?;
        Ok(u16::from_be_bytes([b[0], b[1]]))
    }

    #[inline]
    pub(crate) fn u4(&mut self) -> Result<u32, ClassError> {
        let b = self.take(4)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }
}
