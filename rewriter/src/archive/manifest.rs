//! Signatures (the JAR File Specification's "Signed JAR File") and what must go when they go: the digests in
//! the manifest.

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
