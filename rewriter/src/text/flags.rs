//! Access flags by name, for each place in which they stand (JVMS tables 4.1-B, 4.5-A, 4.6-A, 4.7.6-A,
//! 4.7.24, 4.7.25).

/// A table: the name of each bit, the lowest first; empty for a bit that has no meaning there.
pub(super) type Flags = [&'static str; 16];

/// Pairs of bit and name as a table.
const fn table(names: &[(u16, &'static str)]) -> Flags {
    let mut table = [""; 16];
    let mut at = 0;
    while at < names.len() {
        table[names[at].0.trailing_zeros() as usize] = names[at].1;
        at += 1;
    }
    table
}

pub(super) const CLASS: Flags = table(&[
    (0x0001, "public"),
    (0x0010, "final"),
    (0x0020, "super"),
    (0x0200, "interface"),
    (0x0400, "abstract"),
    (0x1000, "synthetic"),
    (0x2000, "annotation"),
    (0x4000, "enum"),
    (0x8000, "module"),
]);

pub(super) const INNER_CLASS: Flags = table(&[
    (0x0001, "public"),
    (0x0002, "private"),
    (0x0004, "protected"),
    (0x0008, "static"),
    (0x0010, "final"),
    (0x0200, "interface"),
    (0x0400, "abstract"),
    (0x1000, "synthetic"),
    (0x2000, "annotation"),
    (0x4000, "enum"),
]);

pub(super) const FIELD: Flags = table(&[
    (0x0001, "public"),
    (0x0002, "private"),
    (0x0004, "protected"),
    (0x0008, "static"),
    (0x0010, "final"),
    (0x0040, "volatile"),
    (0x0080, "transient"),
    (0x1000, "synthetic"),
    (0x4000, "enum"),
]);

pub(super) const METHOD: Flags = table(&[
    (0x0001, "public"),
    (0x0002, "private"),
    (0x0004, "protected"),
    (0x0008, "static"),
    (0x0010, "final"),
    (0x0020, "synchronized"),
    (0x0040, "bridge"),
    (0x0080, "varargs"),
    (0x0100, "native"),
    (0x0400, "abstract"),
    (0x0800, "strict"),
    (0x1000, "synthetic"),
]);

/// Of a method's parameter, and of `exports` and `opens`.
pub(super) const PARAMETER: Flags = table(&[(0x0010, "final"), (0x1000, "synthetic"), (0x8000, "mandated")]);

pub(super) const MODULE: Flags = table(&[(0x0020, "open"), (0x1000, "synthetic"), (0x8000, "mandated")]);

pub(super) const REQUIRES: Flags =
    table(&[(0x0020, "transitive"), (0x0040, "static_phase"), (0x1000, "synthetic"), (0x8000, "mandated")]);

/// `0x0021 public super`: the value shows the bits that have no name, too.
pub(super) fn text(value: u16, names: &Flags) -> String {
    let mut text = format!("{value:#06x}");
    for name in named(value, names) {
        text.push(' ');
        text.push_str(name);
    }
    text
}

fn named(value: u16, names: &Flags) -> impl Iterator<Item = &'static str> {
    let set = names.iter().enumerate().filter(move |(bit, _)| value & 1 << bit != 0).map(|(_, name)| *name);
    set.filter(|name| !name.is_empty())
}

/// Where access flags stand: the same bit has other names in other places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlagsOf {
    /// A class (JVMS table 4.1-B).
    Class,
    /// A row of InnerClasses (JVMS table 4.7.6-A).
    InnerClass,
    /// A field (JVMS table 4.5-A).
    Field,
    /// A method (JVMS table 4.6-A).
    Method,
}

/// The names of the access flags that are set, the lowest bit first: `public`, `static`, ..
pub fn flag_names(of: FlagsOf, flags: u16) -> impl Iterator<Item = &'static str> {
    let names = match of {
        FlagsOf::Class => &CLASS,
        FlagsOf::InnerClass => &INNER_CLASS,
        FlagsOf::Field => &FIELD,
        FlagsOf::Method => &METHOD,
    };
    named(flags, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_flags_by_their_place() {
        assert_eq!(text(0x0021, &CLASS), "0x0021 public super");
        assert_eq!(text(0x0021, &METHOD), "0x0021 public synchronized");
        assert_eq!(text(0x8002, &FIELD), "0x8002 private");
        assert_eq!(text(0, &CLASS), "0x0000");
        assert!(flag_names(FlagsOf::Method, 0x8029).eq(["public", "static", "synchronized"]));
    }
}
