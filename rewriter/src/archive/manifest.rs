//! Signatures (the JAR File Specification's "Signed JAR File") and what must go when they go: the digests in
//! the manifest. Attributes of its main section, read and added.

use super::error::ErrorKind;

const META_INF: &[u8] = b"META-INF/";

/// `META-INF/MANIFEST.MF`, in any case, as the JDK accepts it.
pub(super) fn is_manifest(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"META-INF/MANIFEST.MF")
}

/// Whether an entry is a signature file or block: `META-INF/` directly followed by `*.SF`, `*.RSA`, `*.DSA`,
/// `*.EC` or `SIG-*`, in any case.
pub(super) fn is_signature(name: &[u8]) -> bool {
    let Some((folder, file)) = name.split_at_checked(META_INF.len()) else { return false };
    if !folder.eq_ignore_ascii_case(META_INF) || file.contains(&b'/') {
        return false;
    }
    let file = file.to_ascii_uppercase();
    file.starts_with(b"SIG-")
        || [&b".SF"[..], b".RSA", b".DSA", b".EC"].iter().any(|suffix| file.ends_with(suffix))
}

/// The manifest without digests: attributes named `*-Digest`, `*-Digest-*` or `Magic` go, and with them the
/// sections that have nothing else to say. The main section stays. Every kept line keeps its bytes; a
/// continuation line (it begins with a space) belongs to the attribute before it.
pub(super) fn without_digests(manifest: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(manifest.len());
    let mut section = Section::default();
    let mut is_main = true;
    let mut attribute_goes = false;
    for line in lines(manifest) {
        let text = line.trim_ascii_end();
        if text.is_empty() && !line.starts_with(b" ") {
            section.lines.extend_from_slice(line);
            // Blank lines before the first attribute end nothing.
            if section.attributes > 0 {
                section.flush(is_main, &mut kept);
                is_main = false;
            }
            continue;
        }
        if !line.starts_with(b" ") {
            let name = &text[..text.iter().position(|&b| b == b':').unwrap_or(text.len())];
            attribute_goes = is_digest(name);
            section.attributes += 1;
            section.removed += usize::from(attribute_goes);
            section.names += usize::from(name.eq_ignore_ascii_case(b"Name"));
        }
        if !attribute_goes {
            section.lines.extend_from_slice(line);
        }
    }
    section.flush(is_main, &mut kept);
    kept
}

/// The value of an attribute of the main section, its continuation lines joined; names differ in more than case.
pub fn main_attribute(manifest: &[u8], name: &str) -> Option<String> {
    let mut value: Option<Vec<u8>> = None;
    for line in lines(manifest) {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        match (&mut value, text.strip_prefix(b" ")) {
            _ if text.is_empty() => break,
            (Some(value), Some(more)) => value.extend(more),
            (Some(_), None) => break,
            (None, _) => {
                let colon = text.iter().position(|&byte| byte == b':').unwrap_or(text.len());
                if text[..colon].eq_ignore_ascii_case(name.as_bytes()) {
                    let rest = text.get(colon + 1..).unwrap_or_default();
                    value = Some(rest.strip_prefix(b" ").unwrap_or(rest).to_vec());
                }
            }
        }
    }
    value.map(|value| String::from_utf8_lossy(&value).into_owned())
}

/// The manifest with more attributes at the end of its main section; every line of it keeps its bytes.
///
/// # Errors
/// One of them is there with another value.
pub(super) fn with_attributes(
    manifest: &[u8],
    attributes: &[(&'static str, &'static str)],
) -> Result<Vec<u8>, ErrorKind> {
    let mut end = 0;
    let mut line_end: &[u8] = b"\r\n";
    let mut is_ended = true;
    for line in lines(manifest) {
        let text = line.trim_ascii_end();
        if text.is_empty() && !line.starts_with(b" ") {
            break;
        }
        end += line.len();
        let length = line.iter().rev().take_while(|byte| b"\r\n".contains(byte)).count();
        is_ended = length > 0;
        if is_ended {
            line_end = &line[line.len() - length..];
        }
    }
    let mut new = manifest[..end].to_vec();
    if !is_ended {
        new.extend(line_end);
    }
    for &(name, value) in attributes {
        match main_attribute(manifest, name) {
            None => new.extend([name.as_bytes(), b": ", value.as_bytes(), line_end].concat()),
            Some(there) if there.eq_ignore_ascii_case(value) => {}
            Some(there) => return Err(ErrorKind::ManifestAttribute { name, value: there }),
        }
    }
    // A section ends with a blank line.
    let rest = &manifest[end..];
    new.extend(if rest.is_empty() { line_end } else { rest });
    Ok(new)
}

#[derive(Default)]
struct Section {
    /// The kept lines.
    lines: Vec<u8>,
    attributes: usize,
    removed: usize,
    /// How many attributes are the section's own name.
    names: usize,
}

impl Section {
    fn flush(&mut self, is_main: bool, kept: &mut Vec<u8>) {
        let section = std::mem::take(self);
        let says_nothing = section.removed > 0 && section.attributes == section.removed + section.names;
        if is_main || !says_nothing {
            kept.extend_from_slice(&section.lines);
        }
    }
}

fn is_digest(attribute: &[u8]) -> bool {
    let name = attribute.to_ascii_lowercase();
    name == b"magic" || name.ends_with(b"-digest") || name.windows(8).any(|part| part == b"-digest-")
}

/// The lines with their ends: CR LF, LF or CR.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match rest.iter().position(|&b| b == b'\n' || b == b'\r') {
            Some(at) if rest[at] == b'\r' && rest.get(at + 1) == Some(&b'\n') => at + 2,
            Some(at) => at + 1,
            None if rest.is_empty() => return None,
            None => rest.len(),
        };
        let (line, tail) = rest.split_at(end);
        rest = tail;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_signatures() {
        for name in ["META-INF/A.SF", "meta-inf/a.rsa", "META-INF/B.DSA", "META-INF/B.EC", "META-INF/SIG-x"] {
            assert!(is_signature(name.as_bytes()), "{name}");
        }
        for name in ["META-INF/MANIFEST.MF", "META-INF/x/A.SF", "A.SF", "META-INF/A.SFX", "META-INF/"] {
            assert!(!is_signature(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn removes_digests_and_empty_sections() {
        let before = b"Manifest-Version: 1.0\r\nMain-Class: a.B\r\n\r\n\
            Name: a/B.class\r\nSHA-256-Digest: AAAA\r\n BBBB\r\n\r\n\
            Name: a/very/long\r\n /name.class\r\nSHA1-Digest: x\r\nMagic: m\r\nSealed: tr\r\n ue\r\n\r\n\
            Name: kept/\r\nSpec: 1\r\n\r\n\
            Name: last.class\r\nSHA-256-Digest-de: x\r\n\r\n";
        let after = b"Manifest-Version: 1.0\r\nMain-Class: a.B\r\n\r\n\
            Name: a/very/long\r\n /name.class\r\nSealed: tr\r\n ue\r\n\r\n\
            Name: kept/\r\nSpec: 1\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&without_digests(before)), String::from_utf8_lossy(after));
    }

    #[test]
    fn blank_lines_in_front_of_the_main_section_end_nothing() {
        let before = b"\r\n\r\nX-Digest: a\r\n\r\nName: b\r\nX-Digest: c\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&without_digests(before)), "\r\n\r\n\r\n");
    }

    #[test]
    fn attributes_of_the_main_section_are_found() {
        let manifest =
            b"Manifest-Version: 1.0\r\nmain-class: a.\r\n B\r\n C\r\nX:y\r\n\r\nName: a\r\nOther: no\r\n";
        for (name, value) in
            [("Main-Class", Some("a.BC")), ("X", Some("y")), ("Other", None), ("Main", None), ("Name", None)]
        {
            assert_eq!(main_attribute(manifest, name).as_deref(), value, "{name}");
        }
        assert_eq!(main_attribute(b"\nA: b\n", "A"), None);
        assert_eq!(main_attribute(b"A: b", "A").as_deref(), Some("b"));
    }

    #[test]
    fn attributes_are_added_behind_the_main_section() {
        let add = |text: &str| with_attributes(text.as_bytes(), &[("L", "x.Y"), ("Can", "true")]);
        for (before, after) in [
            ("A: b\r\n c\r\n\r\nName: d\r\n\r\n", "A: b\r\n c\r\nL: x.Y\r\nCan: true\r\n\r\nName: d\r\n\r\n"),
            ("A: b\n", "A: b\nL: x.Y\nCan: true\n\n"),
            ("A: b\nC: d", "A: b\nC: d\nL: x.Y\nCan: true\n\n"),
            ("A: b\r\ncan: TRUE\r\n\r\n", "A: b\r\ncan: TRUE\r\nL: x.Y\r\n\r\n"),
        ] {
            let added = add(before).unwrap();
            assert_eq!(String::from_utf8_lossy(&added), after);
            assert_eq!(main_attribute(&added, "L").as_deref(), Some("x.Y"));
        }
        for taken in ["A: b\nl: other\n", "Can: false\n"] {
            assert!(matches!(add(taken), Err(ErrorKind::ManifestAttribute { .. })), "{taken}");
        }
    }

    #[test]
    fn keeps_what_has_no_digest() {
        for text in
            ["", "\n", "A: b", "A: b\r\rName: c\r\r", "A: b\n\n\nName: x\n\nName: y\nZ: 1\n", "\r\n\r\n A"]
        {
            assert_eq!(without_digests(text.as_bytes()), text.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn main_section_stays_even_if_empty() {
        assert_eq!(without_digests(b"X-Digest: 1\n\nName: a\nX-Digest: 2\n\n"), b"\n");
    }
}
