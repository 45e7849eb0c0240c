//! Help, typing errors, pipes, completions and manual pages.

use crate::common::{Dir, empty_class, finish};
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
    let nothing = dir.run::<&str>(&[]).expect(2);
    assert!(nothing.stderr.contains("Usage:") && nothing.stdout.is_empty());
}

/// The help of every command, as it is printed.
#[test]
fn help_is_as_it_was_read() {
    let dir = Dir::new();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/help");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for command in commands(&dir) {
        let help = wide(&dir, &[&command, "--help"]);
        settings.bind(|| insta::assert_snapshot!(command.as_str(), help));
    }
}

/// What the binary prints on a wide terminal.
fn wide(dir: &Dir, words: &[&str]) -> String {
    finish(dir.command(words).env("COLUMNS", "100").output().unwrap()).expect(0).stdout
}

/// The commands that `-h` lists.
fn commands(dir: &Dir) -> Vec<String> {
    let help = wide(dir, &["-h"]);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let named = lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

#[test]
fn short_help_fits_a_screen() {
    let dir = Dir::new();
    let mut count = 0;
    for command in commands(&dir) {
        let short = wide(&dir, &[&command, "-h"]);
        assert!(short.lines().count() <= 50, "{command}: {} lines\n{short}", short.lines().count());
        assert!(!short.contains("[env:"), "{command}: {short}");
        count += 1;
    }
    assert!(count > 15, "{count}");
    let long = wide(&dir, &["run", "--help"]);
    assert!(long.contains("--owners") && long.contains("[env: INSTRUMENT_OUT]"), "{long}");
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
    let output = child.wait_with_output().unwrap();
    // As by SIGPIPE, which other tools end by.
    assert!(!output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// What a shell is offered for the last of these words.
fn offered(dir: &Dir, words: &[&str]) -> Vec<String> {
    let mut command = dir.command(&["--"]);
    command.arg("instrument").args(words).env("INSTRUMENT_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    finish(command.output().unwrap()).expect(0).stdout.lines().map(str::to_owned).collect()
}

#[test]
fn shells_are_offered_commands_options_words_files_and_methods() {
    let dir = Dir::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = dir.line(&format!("completions {shell}")).expect(0).stdout;
        // In PowerShell nothing that is typed is run.
        let asks = if shell == "powershell" { "'instrument;xprof'" } else { "INSTRUMENT_COMPLETE" };
        assert!(script.contains(asks) && !script.contains("Invoke-Expression"), "{shell}: {script}");
    }
    assert_eq!(offered(&dir, &["xpr"]), ["xprof"]);
    assert!(offered(&dir, &["run", "--heap-"]).contains(&"--heap-dump".to_owned()));
    assert_eq!(offered(&dir, &["run", "--record", "tr"]), ["tree", "trace"]);
    assert_eq!(offered(&dir, &["gate", "check", "--format", "s"]), ["sarif"]);
    let class = instrument_testing::samples::SEED;
    dir.jar("shop.jar", &[("com/acme/Shop.class", class), ("com/acme/Cart.class", class)]);
    assert!(offered(&dir, &["verify", "sh"]).contains(&"shop.jar".to_owned()));
    // The default command, and the jar behind `--`.
    let both = ["com/acme/Cart", "com/acme/Shop"];
    assert_eq!(offered(&dir, &["shop.jar", "--include", "com"]), both);
    assert_eq!(offered(&dir, &["run", "--root", "com/acme/C", "--", "java", "-cp", "x:shop.jar"]).len(), 0);
    let methods = offered(&dir, &["rewrite", "shop.jar", "--latency=com/acme/Shop#"]);
    assert!(methods.len() > 1 && methods.iter().all(|name| name.starts_with("--latency=com/acme/Shop#")));
}

#[test]
fn manual_pages_know_every_command() {
    let dir = Dir::new();
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

#[test]
fn a_mistyped_command_is_answered_with_those_near_it() {
    let dir = Dir::new();
    dir.line("xproff --top 3 a.iprof")
        .says(2, &["`xproff` is neither a file nor a command; did you mean `xprof`?"]);
    dir.line("-q xrpof a.iprof").says(2, &["did you mean `xprof`?"]);
    dir.line("zzz --top 3")
        .says(2, &["`zzz` is neither a file nor a command; the commands are rewrite, ", "xtree"]);
    // What exists is a file, whatever its name.
    dir.write("xproff", "no class");
    dir.line("xproff").says(1, &["xproff: neither a class file nor an archive"]);
}

/// As `head` does, the reader goes away before everything is written.
#[test]
#[cfg(unix)]
fn a_broken_pipe_ends_silently() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    let dir = Dir::new();
    let stacks: String = (0..20_000).map(|n| format!("main;a{n};b{n} 7\n")).collect();
    dir.write("stacks", stacks);
    for line in [
        "xtree --prune 0",
        "xprof --prune 0",
        "xtree --json",
        "xprof --csv",
        "stats",
        "report --json",
        "export --to speedscope",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["stacks"]).collect();
        let mut child = dir.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
        let status = output.status;
        assert!(status.signal() == Some(13) || status.code() == Some(0), "{line}: {status}");
    }
    let mut child = dir.command(&["xtree", "--prune", "0", "stacks"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().signal(), Some(13), "as other tools end");
}

#[test]
fn a_file_that_is_no_profile_is_named_as_what_it_is() {
    let dir = Dir::new();
    dir.jar("app.jar", &[("a", b"1")]);
    dir.write("A.class", b"\xca\xfe\xba\xbe\0\0\0\x34");
    dir.write("p.gz", b"\x1f\x8b\x08\0");
    let mut newer = b"\x89IPROF\r\n".to_vec();
    newer.extend(9999u32.to_le_bytes());
    newer.resize(8192, 0);
    dir.write("newer.iprof", newer);
    dir.write("cut.iprof", b"\x89IPROF\r\n\0\0");
    dir.write("text.iprof", b"\x89IPROF\n\x01\0\0\0");
    for command in ["xprof", "xtree", "report"] {
        for (file, words) in [
            ("app.jar", &["app.jar: an archive; `instrument run -- java -jar app.jar` runs it"][..]),
            ("A.class", &["A.class: a class file; `instrument run"]),
            ("p.gz", &["packed by gzip"]),
            (
                "newer.iprof",
                &["newer.iprof; take the version of instrument that recorded it", "version 9999"],
            ),
            ("cut.iprof", &["cut.iprof: it was cut off", "copy it again"]),
            ("text.iprof", &["damaged on its way", "copy it again as binary"]),
        ] {
            dir.line(&format!("{command} {file}")).says(1, words);
        }
    }
    dir.line("heap app.jar").says(2, &["app.jar: an archive"]);
    dir.line("merge app.jar").says(2, &["app.jar: an archive"]);
}

#[test]
#[cfg(unix)]
fn a_command_that_is_not_there_is_named() {
    let dir = Dir::new();
    dir.write("agent.so", "");
    let run = |command: &str| dir.line(&format!("run --agent agent.so -- {command}"));
    run("jvaa Shop").says(2, &["there is no command jvaa in the directories of PATH"]);
    run("./jvaa Shop").says(2, &["there is no file ./jvaa"]);
}

#[test]
#[cfg(unix)]
fn option_conflicts_of_a_run_are_found_before_it() {
    let dir = Dir::new();
    for (options, reason) in [
        (
            "--heap counts --transform method-events,allocation",
            "--heap records what --transform allocation records",
        ),
        ("--transform object-init", "--heap counts records every object"),
        ("--heap counts --heap-include a..b", "bad pattern `a..b`"),
        ("--heap counts --heap-exclude a.B#c", "chosen by their classes"),
        ("--include a..b", "bad pattern `a..b`"),
    ] {
        let run = dir.line(&format!("run {options} -- touch started"));
        run.says(2, &[reason]);
        assert!(!dir.path("started").exists(), "{options}");
    }
}
