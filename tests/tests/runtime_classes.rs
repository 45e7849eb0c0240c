//! The compiled runtime that the binary carries: made from its sources, and with every method that injected code calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::transform::hooks::Hook;
use instrument_tests::jvm::jdks;
use instrument_tests::machine::root;
use walkdir::WalkDir;

const ACC_PUBLIC_STATIC: u16 = 0x0009;

fn classes(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = WalkDir::new(directory).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
    files
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            (entry.path().strip_prefix(directory).unwrap().to_owned(), fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn every_hook_is_a_public_static_method_of_the_runtime() {
    for hook in Hook::ALL {
        let path = root().join("runtime-java/classes").join(hook.owner()).with_extension("class");
        let bytes = fs::read(&path).unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        let mut methods = class.methods();
        let mut found = false;
        while let Some(method) = methods.next().unwrap() {
            found |= method.name(&class.pool).unwrap() == hook.name().as_bytes()
                && method.descriptor(&class.pool).unwrap() == hook.descriptor().as_bytes()
                && method.access_flags & ACC_PUBLIC_STATIC == ACC_PUBLIC_STATIC;
        }
        assert!(found, "{}.{}{}", hook.owner(), hook.name(), hook.descriptor());
    }
}

/// Other compilers number constants in other ways, so only the one that made them can make them again.
#[test]
fn the_classes_are_made_from_the_sources() {
    let jdks = jdks().unwrap();
    let Some(jdk) = jdks.iter().find(|jdk| jdk.version == 17) else {
        println!("not checked: no JDK 17 among {jdks:?}");
        return;
    };
    let made = tempfile::tempdir().unwrap();
    let done = Command::new("sh")
        .arg(root().join("runtime-java/build.sh"))
        .arg(made.path())
        .env("JAVAC", jdk.tool("javac"))
        .status()
        .unwrap();
    assert!(done.success());
    let (made, committed) = (classes(made.path()), classes(&root().join("runtime-java/classes")));
    assert!(committed.len() > 10);
    let names =
        |classes: &[(PathBuf, Vec<u8>)]| classes.iter().map(|class| class.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&made), names(&committed));
    for ((name, made), (_, committed)) in made.iter().zip(&committed) {
        assert!(
            made == committed,
            "{} differs: run runtime-java/build.sh runtime-java/classes",
            name.display()
        );
    }
}
