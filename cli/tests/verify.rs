//! `instrument verify` and `rewrite --verify`: exit codes, what is printed, what is left out.

use crate::common::Dir;
use std::fs;
use std::path::Path;

/// A class of `golden/`.
fn golden(path: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden").join(path)).unwrap()
}

#[test]
fn a_fault_has_its_place_and_the_original_excuses_it() {
    let dir = Dir::new();
    fs::write(dir.path("Two.class"), golden("bad-max-stack/Two.class")).unwrap();
    fs::create_dir(dir.path("good")).unwrap();
    fs::write(dir.path("good/Main.class"), golden("version-45-3/Main.class")).unwrap();

    let outcome = dir.line("verify Two.class").expect(1);
    assert!(outcome.stdout.contains("VerifyError at bytecode index"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("max_stack is"), "{}", outcome.stdout);
    let document: serde_json::Value =
        serde_json::from_str(&dir.line("verify Two.class --json").expect(1).stdout).unwrap();
    assert_eq!(document["faults"][0]["error"], "VerifyError");
    assert_eq!(document["faults"][0]["rule"], "stack-overflow");
    assert!(document["faults"][0]["pc"].is_number() && document["faults"][0]["method"]["name"].is_string());

    assert!(dir.line("verify Two.class --against Two.class").expect(0).stdout.contains("0 faults, and "));
    dir.line("verify Two.class --against good").expect(1);
    dir.line("verify good").expect(0);
    dir.line("verify").expect(2);
    dir.line("verify nothing.jar").expect(1);
}

#[test]
fn a_class_that_is_not_found_is_named() {
    let dir = Dir::new();
    fs::write(dir.path("Main.class"), golden("handler-over-super-49/Main.class")).unwrap();
    let outcome = dir.line("verify Main.class").expect(0);
    assert!(outcome.stdout.contains("not found") && outcome.stdout.contains("  Base "), "{}", outcome.stdout);
    dir.line("verify Main.class --strict").expect(3);
    fs::create_dir(dir.path("lib")).unwrap();
    fs::write(dir.path("lib/Base.class"), golden("handler-over-super-49/Base.class")).unwrap();
    let outcome = dir.line("verify Main.class --strict --class-path lib").expect(0);
    assert!(!outcome.stdout.contains("not found"), "{}", outcome.stdout);
}

#[test]
fn rewrite_checks_what_it_wrote() {
    let dir = Dir::new();
    fs::create_dir(dir.path("app")).unwrap();
    fs::write(dir.path("app/Main.class"), golden("version-45-3/Main.class")).unwrap();
    let outcome = dir.line("rewrite app -o out --verify").expect(0);
    assert!(outcome.stderr.contains("0 new faults"), "{}", outcome.stderr);
    dir.line("verify out --against app").expect(0);
}

#[test]
fn each_input_is_judged_with_its_own_classes() {
    let dir = Dir::new();
    let (main, base) =
        (golden("handler-over-super-49/Main.class"), golden("handler-over-super-49/Base.class"));
    let mut other = base.clone();
    let flags = instrument_rewriter::class_file::ClassFile::parse(&base).unwrap().pool.end();
    // ACC_FINAL: another version of the library, that Main does not fit.
    other[flags + 1] |= 0x10;
    dir.jar("one.jar", &[("Main.class", &main), ("Base.class", &base)]);
    dir.jar("other.jar", &[("Base.class", &other)]);
    for (inputs, code) in [("other.jar one.jar", 0), ("one.jar other.jar", 0), ("other.jar Main.class", 1)] {
        fs::write(dir.path("Main.class"), &main).unwrap();
        let outcome = dir.line(&format!("verify {inputs}")).expect(code);
        let is_named =
            outcome.stdout.contains("in more than one input") && outcome.stdout.contains("  Base (");
        assert_eq!(is_named, code == 0, "{inputs}: {}", outcome.stdout);
    }
    let document: serde_json::Value =
        serde_json::from_str(&dir.line("verify other.jar one.jar --json").expect(0).stdout).unwrap();
    assert_eq!(document["shared"][0]["class"], "Base");
    assert_eq!(document["shared"][0]["inputs"], serde_json::json!(["other.jar", "one.jar"]));
}
