//! `META-INF/INDEX.LIST`, the jar index (JAR File Specification, "JarIndex"): which packages are in which jar.
//! A class loader that trusts the index never finds a package that is missing there.

use super::manifest::lines;

pub(super) const NAME: &[u8] = b"META-INF/INDEX.LIST";

/// The index with the packages of the new entries `names` in its first jar's section, or `None` if it has
/// them all or has no section. Entries in `META-INF/` are listed by name, as the `jar` tool does it.
pub(super) fn with_packages<'n>(index: &[u8], names: impl Iterator<Item = &'n [u8]>) -> Option<Vec<u8>> {
    let mut wanted: Vec<&[u8]> = Vec::new();
    for name in names {
        let package = match name.iter().rposition(|&b| b == b'/') {
            _ if name.starts_with(b"META-INF/") => name,
            Some(slash) => &name[..slash],
            None => name,
        };
        if !wanted.contains(&package) {
            wanted.push(package);
        }
    }

    // The header section ends at a blank line; then the jar's name, its packages, and a blank line or the end.
    let mut at = 0;
    let mut blank_seen = false;
    let mut insert_at = None;
    let mut line_end: &[u8] = b"\n";
    for line in lines(index) {
        let text = line.trim_ascii_end();
        let in_section = insert_at.is_some();
        if text.is_empty() && in_section {
            break;
        }
        at += line.len();
        if text.is_empty() {
            blank_seen = true;
        } else if blank_seen {
            insert_at = Some(at);
            wanted.retain(|package| !in_section || *package != text);
            line_end = &line[text.len()..];
        }
    }
    let insert_at = insert_at?;
    if wanted.is_empty() {
        return None;
    }
    let mut with = index[..insert_at].to_vec();
    if line_end.is_empty() {
        line_end = b"\n";
        with.extend_from_slice(line_end);
    }
    for package in wanted {
        with.extend_from_slice(package);
        with.extend_from_slice(line_end);
    }
    with.extend_from_slice(&index[insert_at..]);
    Some(with)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> impl Iterator<Item = &'static [u8]> {
        [&b"r/a/A.class"[..], b"r/a/B.class", b"META-INF/ids"].into_iter()
    }

    #[test]
    fn adds_to_the_first_jar() {
        let with =
            with_packages(b"JarIndex-Version: 1.0\r\n\r\nm.jar\r\na/b\r\n\r\nlib.jar\r\nc\r\n\r\n", names());
        let expected =
            b"JarIndex-Version: 1.0\r\n\r\nm.jar\r\na/b\r\nr/a\r\nMETA-INF/ids\r\n\r\nlib.jar\r\nc\r\n\r\n";
        assert_eq!(with.as_deref(), Some(&expected[..]));
    }

    #[test]
    fn adds_at_the_end_and_only_what_is_missing() {
        let with = with_packages(b"JarIndex-Version: 1.0\n\nm.jar\nr/a", names());
        assert_eq!(with.as_deref(), Some(&b"JarIndex-Version: 1.0\n\nm.jar\nr/a\nMETA-INF/ids\n"[..]));
        assert_eq!(with_packages(b"JarIndex-Version: 1.0\n\nm.jar\nr/a\nMETA-INF/ids\n", names()), None);
        assert_eq!(with_packages(b"garbage", names()), None);
    }
}
