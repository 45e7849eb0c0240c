//! Finds the methods of a class file and their code, just enough to tell whether each one was rewritten. Shares nothing
//! with the rewriter, and gives up (`None`) on anything that is not a plain class file.

use std::collections::BTreeMap;

/// Name and descriptor -> the Code attribute's body, where there is one (JVMS 4.6). Of methods that clash, the last.
pub fn methods(class: &[u8]) -> Option<BTreeMap<String, Option<Vec<u8>>>> {
    let mut reader = Reader(class);
    if reader.u4()? != 0xcafe_babe {
        return None;
    }
    reader.u4()?;
    let pool = reader.pool()?;
    reader.take(6)?;
    let interfaces = reader.u2()?;
    reader.take(2 * usize::from(interfaces))?;
    for _ in 0..reader.u2()? {
        reader.take(6)?;
        reader.attributes(&pool)?;
    }
    let mut out = BTreeMap::new();
    for _ in 0..reader.u2()? {
        reader.u2()?;
        let (name, descriptor) = (reader.u2()?, reader.u2()?);
        let name = [pool.get(&name)?, pool.get(&descriptor)?].map(|text| String::from_utf8_lossy(text));
        let code = reader.attributes(&pool)?;
        out.insert(name.concat(), code.map(<[u8]>::to_vec));
    }
    Some(out)
}

/// The entries of the constant pool, as bytes (JVMS 4.4).
pub fn constant_pool(class: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader(class);
    reader.take(8)?;
    reader.pool()?;
    Some(&class[10..class.len() - reader.0.len()])
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    fn u2(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u4(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn pool(&mut self) -> Option<BTreeMap<u16, &'a [u8]>> {
        let mut out = BTreeMap::new();
        let count = self.u2()?;
        let mut index = 1;
        while index < count {
            let size = match self.take(1)?[0] {
                1 => {
                    let length = self.u2()?;
                    out.insert(index, self.take(length.into())?);
                    0
                }
                7 | 8 | 16 | 19 | 20 => 2,
                15 => 3,
                3 | 4 | 9..=12 | 17 | 18 => 4,
                5 | 6 => {
                    index += 1;
                    8
                }
                _ => return None,
            };
            self.take(size)?;
            index += 1;
        }
        Some(out)
    }

    /// Reads an attribute table; the body of its Code attribute.
    fn attributes(&mut self, pool: &BTreeMap<u16, &'a [u8]>) -> Option<Option<&'a [u8]>> {
        let mut code = None;
        for _ in 0..self.u2()? {
            let name = self.u2()?;
            let length = self.u4()?;
            let body = self.take(length as usize)?;
            if pool.get(&name) == Some(&&b"Code"[..]) {
                code = Some(body);
            }
        }
        Some(code)
    }
}
