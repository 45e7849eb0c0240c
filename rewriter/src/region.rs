//! Code regions: what a user may ask to have timed, and where it lies in a class.
//!
//! | written | the region |
//! |---|---|
//! | `com.acme.Foo.run(int)`, `com.acme.Foo#run`, `com.acme.Foo#run(I)V` | all code of the method, in every form that names one ([`instrument_names::pattern`]); its parameters tell overloads apart |
//! | `com.acme.Foo:12-17`, `com.acme.Foo:12` | the code from the first to the last instruction of these source lines, by LineNumberTable (JVMS 4.7.12) |

use crate::class_file::{ClassFile, CodeAttribute, mutf8};
use crate::reason::Reason;
use instrument_names::glob::Glob;
use instrument_names::pattern::{MethodPattern, class_and_method};
use std::fmt;

const ACC_SYNTHETIC: u16 = 0x1000;

/// A region as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The number that the probes get.
    pub number: u32,
    /// As it was written, with `.` in the class's name.
    pub name: String,
    class: Glob,
    class_name: String,
    place: Place,
    is_off: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Method(MethodPattern),
    Lines { first: u16, last: u16 },
}

/// Why a text names no region.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}; a region is CLASS#METHOD, CLASS.METHOD(TYPES), CLASS:LINE or CLASS:FIRST-LAST")]
pub struct BadRegion(String);

impl From<&str> for BadRegion {
    fn from(reason: &str) -> BadRegion {
        BadRegion(reason.to_owned())
    }
}

/// Why a region cannot be timed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegionFault {
    /// The class has no such method, or no code on these lines.
    NotFound,
    /// Several methods fit: their names and descriptors.
    Ambiguous(Vec<String>),
    /// The method was left as it is: excluded, or skipped with this reason.
    MethodLeft(Reason),
    /// Another region has instructions in common with it.
    Overlaps,
    /// Nothing leads to its first instruction from outside.
    NotEntered,
    /// A branch or an exception leads from outside to this pc in the middle of it.
    EnteredInTheMiddle(u32),
    /// A handler stands at this pc, where control enters or leaves, and other code leads there as well.
    SharedHandler(u32),
    /// The method has subroutines (`jsr`): where they return to is not in the code.
    Subroutines,
}

/// The instructions of a region: half-open.
pub(crate) type PcRange = (u32, u32);

impl Region {
    /// Reads what a user wrote. The number is made from the text, so that programs that are instrumented one by one
    /// agree on it.
    ///
    /// # Errors
    /// [`BadRegion`].
    pub fn parse(text: &str) -> Result<Self, BadRegion> {
        let text = text.trim();
        let (class, place) = if let Some((class, lines)) = lines(text) {
            let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
            let number = |text: &str| text.trim().parse::<u16>().ok().filter(|line| *line > 0);
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                return Err("lines are numbers from 1 to 65535".into());
            };
            if last < first {
                return Err("the last line lies in front of the first".into());
            }
            (class, Place::Lines { first, last })
        } else if let Some((class, method)) = class_and_method(text) {
            let method = MethodPattern::new(method).map_err(|error| BadRegion(error.reason))?;
            (class, Place::Method(method))
        } else {
            return Err("there is neither a method nor a line".into());
        };
        if class.is_empty() || class.contains(|c: char| "*?;[(<> \u{2026}".contains(c)) {
            return Err("it begins with the name of one class".into());
        }
        let name = text.replace('/', ".");
        let class_name = class.replace('/', ".");
        Ok(Self {
            number: number_of(&name),
            name,
            class: Glob::of_classes(class),
            class_name,
            place,
            is_off: false,
        })
    }

    /// Why it cannot be timed beside another one: both have the same number. None: they have not.
    pub fn clash(&self, other: &Region) -> Option<String> {
        let (name, other_name) = (&self.name, &other.name);
        match self.number == other.number {
            false => None,
            true if name == other_name => Some(format!("{name} is given twice")),
            true => Some(format!(
                "{other_name} and {name} have the same number; change the lines or the method of one"
            )),
        }
    }

    /// Whether it lies in the class of this internal name.
    pub fn is_in(&self, class: &[u8]) -> bool {
        !self.is_off && self.class.matches(class)
    }

    /// The same region, which lies in no class from now on: its place in a list of regions, by which they are known,
    /// stays taken.
    #[must_use]
    pub fn off(&self) -> Region {
        Region { is_off: true, ..self.clone() }
    }

    /// Whether it is [`off`](Self::off).
    pub fn is_off(&self) -> bool {
        self.is_off
    }

    /// Its class, as the user has written it, with `.` between packages.
    pub fn class_name(&self) -> &str {
        &self.class_name
    }

    /// The index of the method that holds the region, and its range there.
    pub(crate) fn locate(&self, class: &ClassFile<'_>) -> Result<(u16, PcRange), RegionFault> {
        let mut found: Vec<(u16, PcRange, bool, String)> = Vec::new();
        let mut walk = class.methods();
        let mut index = 0u16;
        // What cannot be read is not found; the rewriter says what is wrong with it.
        while let Ok(Some(method)) = walk.next() {
            let at = index;
            index = index.wrapping_add(1);
            let (Ok(name), Ok(descriptor)) = (method.name(&class.pool), method.descriptor(&class.pool))
            else {
                continue;
            };
            let Ok(Some(code)) = method.code(&class.pool) else { continue };
            let range = match &self.place {
                Place::Method(wanted) => {
                    wanted.matches(name, descriptor).then_some((0, code.code.len() as u32))
                }
                Place::Lines { first, last } => range_of_lines(&code, class, *first, *last),
            };
            if let Some(range) = range {
                let synthetic = method.access_flags & ACC_SYNTHETIC != 0;
                found.push((at, range, synthetic, mutf8::escape(name) + &mutf8::escape(descriptor)));
            }
        }
        // The body of a lambda has lines of the method around it, which is what the user sees.
        if found.iter().any(|method| !method.2) {
            found.retain(|method| !method.2);
        }
        match &found[..] {
            [] => Err(RegionFault::NotFound),
            [(index, range, ..)] => Ok((*index, *range)),
            _ => Err(RegionFault::Ambiguous(found.into_iter().map(|method| method.3).collect())),
        }
    }
}

/// The class and the lines of `CLASS:LINES`; a descriptor may hold a `:` in a place of its own.
fn lines(text: &str) -> Option<(&str, &str)> {
    if text.contains(['#', '(']) { None } else { text.rsplit_once(':') }
}

/// FNV-1a, from 1 to 2^31-1.
fn number_of(name: &str) -> u32 {
    let hash =
        name.bytes().fold(0x811c_9dc5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash & 0x7fff_ffff).max(1)
}

/// From the first to the last instruction whose line is one of `first..=last`.
fn range_of_lines(code: &CodeAttribute<'_>, class: &ClassFile<'_>, first: u16, last: u16) -> Option<PcRange> {
    let mut rows: Vec<(u32, u16)> = Vec::new();
    let mut attributes = code.attributes.clone();
    while let Ok(Some(attribute)) = attributes.next() {
        if class.pool.utf8_or_empty(attribute.name_index) == b"LineNumberTable" {
            let pairs = attribute.info.get(2..).unwrap_or_default().chunks_exact(4);
            rows.extend(pairs.map(|row| {
                (u32::from(u16::from_be_bytes([row[0], row[1]])), u16::from_be_bytes([row[2], row[3]]))
            }));
        }
    }
    rows.sort_by_key(|row| row.0);
    let ends = rows.iter().skip(1).map(|row| row.0).chain([code.code.len() as u32]);
    let ranges: Vec<PcRange> = (rows.iter().zip(ends))
        .filter(|((start, line), end)| (first..=last).contains(line) && start < end)
        .map(|((start, _), end)| (*start, end))
        .collect();
    Some((ranges.first()?.0, ranges.last()?.1))
}

impl fmt::Display for RegionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("there is no such code"),
            Self::Ambiguous(methods) => write!(f, "it may be in {}", methods.join(" or ")),
            Self::MethodLeft(reason) => write!(f, "its method was left as it is: {reason}"),
            Self::Overlaps => f.write_str("it overlaps with another region"),
            Self::NotEntered => f.write_str("nothing leads into it"),
            Self::EnteredInTheMiddle(pc) => {
                write!(
                    f,
                    "control enters it in the middle, too (pc {pc}); choose lines that hold a whole statement"
                )
            }
            Self::SharedHandler(pc) => {
                write!(f, "an exception handler at its border (pc {pc}) is reached by other ways, too")
            }
            Self::Subroutines => f.write_str("its method has subroutines (jsr)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        let region = Region::parse("com.acme.Foo$Bar:12-17").unwrap();
        assert!(region.is_in(b"com/acme/Foo$Bar") && !region.is_in(b"com/acme/Foo"));
        assert_eq!(region.place, Place::Lines { first: 12, last: 17 });
        assert_eq!(Region::parse("com/acme/Foo$Bar:12-17").unwrap(), region, "the name is the same");
        assert_eq!(Region::parse("Foo:7").unwrap().place, Place::Lines { first: 7, last: 7 });
        for text in [
            "Foo#run",
            "Foo.run",
            "Foo#run(int, b.Bar)",
            "Foo.run(ILb/Bar;)V",
            "Foo#run(ILb.Bar;)",
            "Foo.run(int, Bar)",
            "Foo.run:(ILb/Bar;)V",
        ] {
            let Region { place: Place::Method(method), class_name, .. } = Region::parse(text).unwrap() else {
                panic!("{text}")
            };
            assert!(
                method.matches(b"run", b"(ILb/Bar;)V") && !method.matches(b"runs", b"(ILb/Bar;)V"),
                "{text}"
            );
            assert_eq!(class_name, "Foo");
        }
        assert!(Region::parse("a.Outer.Inner#<init>()").unwrap().is_in(b"a/Outer$Inner"));
        for (text, part) in [
            ("Foo", "neither"),
            ("Foo#", "no method name"),
            ("Foo#(I)V", "no method name"),
            ("Foo#run(I", "lacks its `)`"),
            ("Foo:0", "numbers from 1"),
            ("Foo:a-b", "numbers from 1"),
            ("Foo:9-8", "in front of"),
            ("Foo:70000", "numbers from 1"),
            ("a.**#run", "one class"),
            ("#run", "one class"),
            (":1", "one class"),
        ] {
            let error = Region::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
