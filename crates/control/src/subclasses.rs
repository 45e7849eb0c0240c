//! The file of [`crate::keys::SUBCLASSES`]: which classes of a program are recorded, for an agent that sees one class after the other.

/// A file's content: what was asked for in the first line, then a class a line, by internal name in modified UTF-8.
pub fn write<'c>(above: &[String], classes: impl IntoIterator<Item = &'c [u8]>) -> Vec<u8> {
    let mut bytes = above.join(",").into_bytes();
    // No compiler writes a name with the end of a line in it.
    for class in classes.into_iter().filter(|class| !class.contains(&b'\n')) {
        bytes.push(b'\n');
        bytes.extend_from_slice(class);
    }
    bytes
}

/// What was asked for, and the classes.
pub fn read(bytes: &[u8]) -> (Vec<String>, Vec<&[u8]>) {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let above = String::from_utf8_lossy(lines.next().unwrap_or_default());
    (above.split(',').map(str::to_owned).collect(), lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let above = ["a.B".to_owned(), "java.lang.Thread".to_owned()];
        let classes: [&[u8]; 3] = [b"a/B", b"x\ny", b"c/\xc0\x80"];
        let bytes = write(&above, classes);
        assert_eq!(read(&bytes), (above.to_vec(), vec![classes[0], classes[2]]));
        assert_eq!(read(&write(&above, [])), (above.to_vec(), Vec::new()));
    }
}
