//! Reports on a terminal: colour, bars and tree lines; and that the text is the same without them.

use crate::common::{Dir, Run};
use std::path::Path;

/// The example of the arcflow paper, ten seconds in all.
fn dir() -> Dir {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/analysis/tests/data/AC_test.events");
    let dir = Dir::new();
    dir.write("a", std::fs::read(path).unwrap());
    dir
}

/// The text without the escape sequences that set a style; there are no others.
fn stripped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\x1b[") {
        out.push_str(before);
        let (style, behind) = behind.split_once('m').expect("a style");
        assert!(style.chars().all(|c| c.is_ascii_digit() || c == ';'), "{style:?}");
        rest = behind;
    }
    out + rest
}

/// Columns of a bar and the two in front of it.
const BAR: usize = 12;

/// Styles, bars and tree lines are all that colour adds.
#[track_caller]
fn is_the_same(plain: &str, coloured: &str) {
    let text = stripped(coloured);
    let header = plain.lines().find(|line| line.ends_with("  function")).expect("a header");
    let end = header.chars().count() - "  function".len();
    assert_eq!(plain.lines().count(), text.lines().count(), "{text}");
    for (plain, line) in plain.lines().zip(text.lines()) {
        let without_bar: String = line
            .chars()
            .enumerate()
            .filter(|(at, _)| !(end..end + BAR).contains(at))
            .map(|(_, c)| c)
            .collect();
        let without_lines = without_bar.replace(['\u{2502}', '\u{251c}', '\u{2514}'], " ");
        let is_rule = plain.starts_with("===") && line.starts_with("===");
        assert!(is_rule || plain == line || plain == without_lines, "{plain:?} is {line:?}\n{coloured}");
    }
}

#[test]
fn colour_adds_nothing_but_styles_bars_and_tree_lines() {
    let dir = dir();
    for line in
        ["xprof a", "xprof --sort cum a", "xtree a", "xtree --fold none a", "xtree --percent a", "xarc a"]
    {
        let plain = dir.line(line).expect(0);
        assert!(!plain.stdout.contains('\x1b'), "colour in a pipe");
        let always = dir.line(&format!("{line} --color always")).expect(0);
        assert_ne!(always.stdout, plain.stdout);
        is_the_same(&plain.stdout, &always.stdout);
        let never = dir.line(&format!("{line} --color never")).expect(0);
        assert_eq!(never.stdout, plain.stdout);
    }
    for line in ["xprof --json a", "xprof --csv a", "xtree --json a", "xtree --csv a", "report --json a"] {
        let plain = dir.line(line).expect(0);
        assert_eq!(dir.line(&format!("{line} --color always")).expect(0).stdout, plain.stdout, "{line}");
    }
    for line in ["report a", "stats a", "threads a"] {
        let always = dir.line(&format!("{line} --color always")).expect(0);
        assert!(always.stdout.contains('\x1b'), "{line}: {}", always.stdout);
    }
}

#[test]
fn a_tree_has_lines_and_bars() {
    let run = dir().line("xtree --color always --width 80 a").expect(0);
    insta::assert_snapshot!(run.stdout.replace('\x1b', "^"));
    let widest = stripped(&run.stdout).lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
}

#[test]
fn a_profile_has_bars_of_what_it_is_sorted_by() {
    let dir = dir();
    let run = |line: &str| dir.line(line).expect(0).stdout;
    let base = run("xprof --color always a");
    insta::assert_snapshot!(base.replace('\x1b', "^"));
    assert_ne!(stripped(&base), stripped(&run("xprof --sort cum --color always a")));
    // Where there is no room beside them, there are none.
    assert!(!run("xprof --color always --width 60 a").contains('\u{2588}'));
}

fn with(dir: &Dir, variables: &[(&str, &str)]) -> Run {
    let mut command = dir.command(&["xprof", "a"]);
    command.envs(variables.iter().copied());
    crate::common::finish(command.output().unwrap())
}

#[test]
fn variables_say_when() {
    let dir = dir();
    let is_coloured = |variables: &[(&str, &str)]| with(&dir, variables).expect(0).stdout.contains('\x1b');
    assert!(!is_coloured(&[]), "in a pipe");
    assert!(is_coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(is_coloured(&[("INSTRUMENT_COLOR", "always"), ("NO_COLOR", "1")]));
    assert!(!is_coloured(&[("INSTRUMENT_COLOR", "never"), ("CLICOLOR_FORCE", "1")]));
}
