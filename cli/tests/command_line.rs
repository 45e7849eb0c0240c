//! Help, typing errors, pipes, completions and manual pages.

mod common;

use common::{Dir, empty_class, finish};
use std::fs;
use std::io::Read;
use std::process::Stdio;

#[test]
fn help_and_version_go_to_stdout() {
    let dir = Dir::new();
    let help = dir.line("--help").expect(0);
    assert!(help.stdout.contains("instrument [OPTIONS] <INPUT>...") && help.stderr.is_empty());
    for command in ["", "rewrite "] {
        let help = dir.line(&format!("{command}--help")).expect(0).stdout;
        for code in ["0  done", "1  failed", "2  wrong usage", "3  done, but"] {
            assert!(help.contains(code), "{command}: {help}");
        }
    }
    assert!(dir.line("rewrite --help").expect(0).stdout.contains("--subclasses-of"));
    assert_eq!(dir.line("--version").expect(0).stdout, format!("instrument {}\n", env!("CARGO_PKG_VERSION")));
    let nothing = dir.run::<&str>(&[]).expect(2);
    assert!(nothing.stderr.contains("Usage:") && nothing.stdout.is_empty());
}

#[test]
fn a_mistyped_command_is_recognised() {
    let dir = Dir::new();
    dir.line("rewrit app.jar").says(2, &["`rewrit` is neither a file nor a command", "`rewrite`?"]);
    dir.line("idss x").says(2, &["`ids`?"]);
    dir.line("app.jar --inclde x").says(2, &["--include"]);
    // A file of that name is a file.
    dir.write("idss", empty_class("Foo"));
    dir.line("idss").expect(0);
    dir.line("rewrite").says(2, &["<INPUT>"]);
}

#[test]
fn colour_only_when_asked_for() {
    let dir = Dir::new();
    assert!(dir.line("--color always missing.jar").expect(1).stderr.starts_with("\x1b[1;31merror:\x1b[0m"));
    assert!(dir.line("missing.jar --color=never").expect(1).stderr.starts_with("error: "));
    assert!(dir.line("missing.jar").expect(1).stderr.starts_with("error: "));
    let forced = |name: &str| finish(dir.command(&["missing.jar"]).env(name, "1").output().unwrap()).stderr;
    assert!(forced("CLICOLOR_FORCE").starts_with("\x1b["));
    assert!(forced("NO_COLOR").starts_with("error: "));
    let by_environment = dir.command(&["missing.jar"]).env("INSTRUMENT_COLOR", "always").output().unwrap();
    assert!(finish(by_environment).stderr.starts_with("\x1b["));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let dir = Dir::new();
    let mut map = "instrument ids 1\nclass A -\n".to_owned();
    for id in 1..=50_000 {
        map.push_str(&format!("{id} m{id} ()V 0 0 0000000000000000\n"));
    }
    dir.write("ids", map);
    let mut child =
        dir.command(&["ids", "ids"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let run = finish(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = dir.line(&format!("completions {shell}")).expect(0).stdout;
        assert!(script.contains("rewrite") && script.contains("strip-signatures"), "{shell}");
    }
    let page = dir.line("man").expect(0).stdout;
    assert!(page.contains(".TH instrument 1") && page.contains("instrument\\-rewrite(1)"), "{page}");
    dir.line("man pages/man1").expect(0);
    let mut pages: Vec<_> = fs::read_dir(dir.path("pages/man1"))
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    for page in ["instrument.1", "instrument-rewrite.1", "instrument-ids.1", "instrument-man.1"] {
        assert!(pages.iter().any(|p| p == page), "{page} is not in {pages:?}");
    }
    assert!(dir.text("pages/man1/instrument-rewrite.1").contains("Exit codes"));
}
