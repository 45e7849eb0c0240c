//! `--host`: the words reach the other machine as they are, and its exit code comes back. A script stands for ssh, and runs what it is
//! given with a shell here, as sshd does there.

use crate::common::{Dir, Run, finish};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

const SSH: &str = "#!/bin/sh
printf '%s\\n' \"$@\" >ssh.log
for command; do :; done
exec env -i PATH=\"$THERE\" sh -c \"$command\"
";

const STACKS: &str = "main;a.X.f 3\nmain;b.Y.g 4\n";

fn there(dir: &Dir, arguments: &[&str]) -> Command {
    let script = dir.write("bin/ssh", SSH);
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = dir.path("there/instrument");
    if !program.exists() {
        std::fs::create_dir(dir.path("there")).unwrap();
        symlink(env!("CARGO_BIN_EXE_instrument"), program).unwrap();
    }
    let path = |first: &str| format!("{}:/usr/bin:/bin", dir.path(first).display());
    let mut command = dir.command(arguments);
    command.env("PATH", path("bin")).env("THERE", path("there"));
    command
}

fn run(dir: &Dir, arguments: &[&str]) -> Run {
    finish(there(dir, arguments).output().unwrap())
}

#[test]
fn a_command_prints_there_what_it_prints_here() {
    let dir = Dir::new();
    let name = "it's a; \"profile\" $HOME.folded";
    dir.write(name, STACKS);
    let here = dir.run(&["xprof", "--json", name]).expect(0);
    let far = run(&dir, &["--host", "me@far", "xprof", "--json", name]).expect(0);
    assert_eq!(far.stdout, here.stdout);
    assert_eq!(far.json()["rows"].as_array().map(Vec::len), here.json()["rows"].as_array().map(Vec::len));
    let log = dir.text("ssh.log");
    assert_eq!(log.lines().next(), Some("me@far"), "no terminal, no -t: {log}");
}

#[test]
fn exit_codes_and_errors_come_back() {
    let dir = Dir::new();
    dir.write("x.folded", STACKS);
    run(&dir, &["--host=far", "xprof", "missing.iprof"]).says(1, &["missing.iprof"]);
    run(&dir, &["--host=far", "xtree", "--focus", "no.Such#m", "x.folded"]).says(2, &["no.Such#m"]);
    std::fs::remove_file(dir.path("there/instrument")).unwrap();
    std::fs::remove_dir(dir.path("there")).unwrap();
    let mut command = there(&dir, &["--host", "far", "xprof", "x.folded"]);
    command.env("THERE", "/usr/bin:/bin");
    finish(command.output().unwrap()).says(127, &["instrument: not found"]);
    let mut command = there(&dir, &["--host", "far", "xprof", "x.folded"]);
    command.env("PATH", dir.path("empty"));
    finish(command.output().unwrap()).says(1, &["ssh is needed for --host"]);
}

#[test]
fn the_port_of_a_page_is_brought_here() {
    let dir = Dir::new();
    // The page would be served until somebody ends it; an input that is missing ends it at once.
    run(&dir, &["--host", "far", "view", "--port", "4711", "--no-open", "missing.iprof"])
        .says(1, &["missing.iprof"]);
    let log = dir.text("ssh.log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[..6], ["-tt", "-o", "ExitOnForwardFailure=yes", "-L", "4711:127.0.0.1:4711", "far"]);
    assert_eq!(lines[6], "instrument view --port 4711 --no-open missing.iprof --port=4711 --no-open");
    run(&dir, &["--host", "far", "view", "--html", "x.html", "missing.iprof"]).says(1, &["missing.iprof"]);
    assert!(!dir.text("ssh.log").contains("-L"));
}
