//! Class file versions (JVMS table 4.1-A).

/// The oldest version: JDK 1.0.2 and 1.1 wrote 45.3.
pub const OLDEST_MAJOR: u16 = 45;
/// The newest version whose format is known here: Java 26.
pub const NEWEST_MAJOR: u16 = 70;
/// From this version on the verifier by type checking needs StackMapTable frames (JVMS 4.10);
/// version 50 may fall back to the verifier by type inference.
pub const FIRST_WITH_FRAMES: u16 = 50;
/// From this version on `jsr`, `jsr_w` and `ret` are forbidden (JVMS 4.9.1).
pub const FIRST_WITHOUT_JSR: u16 = 51;
/// The minor version of a class that depends on preview features (JVMS 4.1).
pub const PREVIEW_MINOR: u16 = 65535;

/// Whether the format of this version is known. Classes that depend on preview features have the format of their
/// version: the preview features of the versions up to [`NEWEST_MAJOR`] have added attributes of classes at most, and
/// those do not move.
pub(crate) fn is_supported(major: u16, minor: u16) -> bool {
    (OLDEST_MAJOR..=NEWEST_MAJOR).contains(&major)
        // Before 45.3 the Code attribute had narrower items.
        && !(major == 45 && minor < 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_supported_from_45_3_on() {
        for (major, minor, expected) in [
            (44, 3, false),
            (45, 0, false),
            (45, 2, false),
            (45, 3, true),
            (45, 4, true),
            (46, 0, true),
            (NEWEST_MAJOR, PREVIEW_MINOR, true),
            (NEWEST_MAJOR + 1, 0, false),
        ] {
            assert_eq!(is_supported(major, minor), expected, "{major}.{minor}");
        }
    }
}
