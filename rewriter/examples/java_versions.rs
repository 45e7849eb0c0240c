//! A visitor of one's own over archives: which Java each jar needs, also of the jars inside, and what keeps it from
//! running on an older one.
//!
//! `cargo run -p instrument-rewriter --example java_versions -- app.jar ..`

use instrument_rewriter::archive::{ArchiveError, Limits, Skipped, visit_classes};
use instrument_rewriter::class_file::{ClassFile, mutf8};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::process::ExitCode;

/// The classes of one archive that need the same Java.
#[derive(Debug, PartialEq, Eq)]
struct Needs {
    classes: u64,
    /// The name of one of them.
    example: String,
}

/// Archives by their place, and in each the versions of Java with what needs them.
type Archives = BTreeMap<String, BTreeMap<u16, Needs>>;

/// The first release that loads classes of this `major_version` (JVMS table 4.1-A).
fn release(major_version: u16) -> u16 {
    major_version.saturating_sub(44).max(1)
}

fn needs(name: &str, bytes: &[u8]) -> Result<(Archives, Vec<Skipped>), ArchiveError> {
    let mut archives = Archives::new();
    let skipped = visit_classes(name, bytes, &Limits::default(), &mut |class| {
        // An entry may be called X.class and hold anything. What is in META-INF/versions is for those that can load it.
        if let Ok(file) = ClassFile::parse(class.bytes)
            && !class.at.name().starts_with(b"META-INF/versions/")
        {
            let archive = class.at.parent().map_or_else(|| name.to_owned(), ToString::to_string);
            let versions = archives.entry(archive).or_default();
            let example = || mutf8::escape(file.name().unwrap_or_default());
            let needs = versions.entry(release(file.major_version));
            needs.or_insert_with(|| Needs { classes: 0, example: example() }).classes += 1;
        }
        ControlFlow::Continue(())
    })?;
    Ok((archives, skipped))
}

/// One line for each archive: the Java that it needs, and what needs it.
fn lines(archives: &Archives) -> Vec<String> {
    let line = |(archive, versions): (&String, &BTreeMap<u16, Needs>)| {
        let (release, needs) = versions.last_key_value()?;
        let all: u64 = versions.values().map(|needs| needs.classes).sum();
        Some(format!(
            "{archive}: Java {release}, for {} of {all} classes, such as {}",
            needs.classes, needs.example
        ))
    };
    archives.iter().filter_map(line).collect()
}

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        let read = std::fs::read(&path).map_err(|error| format!("{path}: {error}"));
        match read.and_then(|bytes| needs(&path, &bytes).map_err(|error| error.to_string())) {
            Ok((archives, skipped)) => {
                lines(&archives).iter().for_each(|line| println!("{line}"));
                skipped.iter().for_each(|skipped| eprintln!("{}: not read: {}", skipped.at, skipped.reason));
            }
            Err(error) => {
                eprintln!("{error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_rewriter::archive::{NewEntry, create};

    /// The class for another version of Java.
    fn class(major_version: u16) -> Vec<u8> {
        let mut class = include_bytes!("Greeter.class").to_vec();
        class[6..8].copy_from_slice(&major_version.to_be_bytes());
        class
    }

    fn entry(name: &str, data: Vec<u8>) -> NewEntry {
        NewEntry { name: name.to_owned(), data, stored: false }
    }

    #[test]
    fn the_newest_class_decides() {
        let library = create(vec![entry("a/A.class", class(61)), entry("b/B.class", class(52))]).unwrap();
        let application = create(vec![
            entry("Main.class", class(52)),
            entry("META-INF/versions/21/Main.class", class(65)),
            entry("NoClass.class", b"something else".to_vec()),
            entry("lib/library.jar", library),
            entry("lib/none.jar", b"no archive".to_vec()),
        ])
        .unwrap();
        let (archives, skipped) = needs("app.jar", &application).unwrap();
        let expected = [
            "app.jar: Java 8, for 1 of 1 classes, such as Greeter",
            "app.jar!lib/library.jar: Java 17, for 1 of 2 classes, such as Greeter",
        ];
        assert_eq!(lines(&archives), expected);
        let skipped: Vec<_> = skipped.iter().map(|skipped| skipped.at.as_str()).collect();
        assert_eq!(skipped, ["app.jar!lib/none.jar"]);
    }

    #[test]
    fn what_is_no_archive_is_an_error() {
        let error = needs("x.jar", b"something else").unwrap_err();
        assert_eq!(error.kind.code(), "not-an-archive");
        assert!(error.to_string().starts_with("x.jar: not a zip archive"), "{error}");
    }
}
