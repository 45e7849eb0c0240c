//! Format checking (JVMS 4.8), as HotSpot's ClassFileParser does it when a class is defined.
//!
//! 1. The version.
//! 2. The constant pool ([`pool`]).
//! 3. Flags, this class, superclass, superinterfaces.
//! 4. Fields and methods ([`members`], [`code`]).
//! 5. Attributes of the class ([`attributes`]).
//!
//! The first broken rule ends it: what follows could not be trusted.

pub mod attributes;
pub mod code;
pub mod members;
pub mod names;
pub mod pool;

use crate::fault::{Check, Method, Problem, Rule};
use crate::hierarchy::flags;
use instrument_names::mutf8;
use instrument_rewriter::class_file::{ClassFile, ConstantPool, Tag, version};

/// What the JVM can do whose judgement is requested.
#[derive(Debug, Clone, Copy)]
pub struct Jvm {
    /// The newest major version that it loads.
    pub newest_major: u16,
    /// It runs with `--enable-preview`.
    pub preview: bool,
}

impl Default for Jvm {
    fn default() -> Self {
        Self { newest_major: version::NEWEST_MAJOR, preview: false }
    }
}

/// A problem, and the method that has it.
pub type Outcome = Result<(), (Option<Method>, Box<Problem>)>;

/// Buffers that are used for one class after the other.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Keys and access flags of the fields.
    pub fields: Vec<(u64, u16)>,
    /// Keys and access flags of the methods.
    pub methods: Vec<(u64, u16)>,
    sorted: Vec<u64>,
}

/// Checks a class whose structure is complete.
pub fn check(class: &ClassFile<'_>, jvm: Jvm, buffers: &mut Buffers) -> Outcome {
    let of_class = |problem| (None, problem);
    check_version(class, jvm).map_err(of_class)?;
    let most_bootstrap = pool::check(class).map_err(of_class)?;
    head(class).map_err(of_class)?;
    members::fields(class, buffers).map_err(of_class)?;
    members::methods(class, buffers)?;
    attributes::of_class(class, most_bootstrap).map_err(of_class)
}

/// JVMS 4.1, `minor_version, major_version`.
fn check_version(class: &ClassFile<'_>, jvm: Jvm) -> Check {
    let (major, minor) = (class.major_version, class.minor_version);
    let fault = |why: &str| Err(Problem::new(Rule::Version, format!("{major}.{minor}: {why}")));
    if major < version::OLDEST_MAJOR {
        return fault("there is no such version");
    }
    if major > jvm.newest_major {
        return fault(&format!("the newest is {}", jvm.newest_major));
    }
    if major == 45 && minor < 3 {
        return fault("classes from before JDK 1.0.2 are not judged");
    }
    match minor {
        _ if major < 56 => Ok(()),
        0 => Ok(()),
        version::PREVIEW_MINOR if major == jvm.newest_major && jvm.preview => Ok(()),
        version::PREVIEW_MINOR if major == jvm.newest_major => {
            fault("it depends on preview features, which need --enable-preview")
        }
        version::PREVIEW_MINOR => fault("it depends on preview features of another Java version"),
        _ => fault("the minor version has to be 0"),
    }
}

/// JVMS 4.1: `access_flags`, `this_class`, `super_class`, `interfaces`.
fn head(class: &ClassFile<'_>) -> Check {
    let pool = &class.pool;
    if class.major_version >= 53 && class.access_flags & flags::MODULE != 0 {
        return Err(Problem::new(Rule::ModuleFlag, ""));
    }
    class_flags(class.access_flags, class.major_version)?;
    let this = class_at(pool, class.this_class, "this_class")?;
    if this.first() == Some(&b'[') {
        return Err(Problem::new(Rule::Name, "the class is named like an array"));
    }
    if class.super_class == 0 {
        if this != b"java/lang/Object" {
            return Err(Problem::new(Rule::SuperClass, "only java.lang.Object has no superclass"));
        }
    } else if class_at(pool, class.super_class, "super_class")?.first() == Some(&b'[') {
        return Err(Problem::new(Rule::SuperClass, "the superclass is an array"));
    }
    if class.access_flags & flags::INTERFACE != 0 && class.super_name() != Ok(Some(b"java/lang/Object")) {
        return Err(Problem::new(Rule::SuperClass, "the superclass of an interface is java.lang.Object"));
    }
    let mut seen = Vec::new();
    for index in class.interfaces() {
        let name = class_at(pool, index, "interfaces")?;
        if name.first() == Some(&b'[') {
            return Err(Problem::new(Rule::Interfaces, "a superinterface is an array"));
        }
        seen.push(name);
    }
    seen.sort_unstable();
    if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Problem::new(Rule::Interfaces, format!("{} stands twice", mutf8::escape(twice[0]))));
    }
    Ok(())
}

/// Flags that a class file may have and a JVM looks at (JVMS table 4.1-B).
const RECOGNIZED: u16 = flags::PUBLIC
    | flags::FINAL
    | flags::SUPER
    | flags::INTERFACE
    | flags::ABSTRACT
    | flags::ANNOTATION
    | flags::ENUM
    | flags::SYNTHETIC;

/// The flags of a class, or of a row of InnerClasses.
fn class_flags(given: u16, major: u16) -> Check {
    let mut kept = given & RECOGNIZED;
    // Classes of JDK 1.5 and before lack the second flag.
    if kept & flags::INTERFACE != 0 && major < 50 {
        kept |= flags::ABSTRACT;
    }
    let has = |flag: u16| kept & flag != 0;
    let free = major >= 49;
    let is_illegal = has(flags::ABSTRACT) && has(flags::FINAL)
        || has(flags::INTERFACE) && !has(flags::ABSTRACT)
        || has(flags::INTERFACE) && free && (has(flags::SUPER) || has(flags::ENUM))
        || !has(flags::INTERFACE) && free && has(flags::ANNOTATION);
    if is_illegal { Err(Problem::new(Rule::ClassFlags, format!("{given:#06x}"))) } else { Ok(()) }
}

/// The name of a Class constant.
fn class_at<'a>(pool: &ConstantPool<'a>, index: u16, what: &str) -> Check<&'a [u8]> {
    pool.class_name(index).map_err(|_| bad_index(index, "Class", what))
}

/// The text of a Utf8 constant.
fn utf8_at<'a>(pool: &ConstantPool<'a>, index: u16, what: &str) -> Check<&'a [u8]> {
    pool.utf8(index).map_err(|_| bad_index(index, "Utf8", what))
}

/// An index that has to name a constant of this kind.
fn tag_at(pool: &ConstantPool<'_>, index: u16, tag: Tag, what: &str) -> Check {
    if pool.tag(index) == Some(tag) { Ok(()) } else { Err(bad_index(index, tag.name(), what)) }
}

#[cold]
fn bad_index(index: u16, kind: &str, what: &str) -> Box<Problem> {
    Problem::new(Rule::ConstantIndex, format!("{what}: #{index} is no {kind} constant"))
}

#[cold]
fn illegal(rule: Rule, text: &[u8]) -> Box<Problem> {
    Problem::new(rule, format!("\"{}\"", mutf8::escape(text)))
}
