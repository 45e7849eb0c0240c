//! What the tests of the command line share: a directory to work in, the binary, and inputs for it.
// Each test file uses its part of this.
#![allow(dead_code)]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory of its own for each test.
pub(crate) struct Dir(tempfile::TempDir);

/// What a run of the binary came to.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Dir {
    pub(crate) fn new() -> Dir {
        Dir(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// A jar of these entries.
    pub(crate) fn jar(&self, name: &str, entries: &[(&str, &[u8])]) -> PathBuf {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (entry, bytes) in entries {
            zip.start_file(*entry, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        self.write(name, zip.finish().unwrap().into_inner())
    }

    /// Every file, directory and link below, sorted.
    pub(crate) fn list(&self) -> Vec<String> {
        let found = walkdir::WalkDir::new(self.0.path()).min_depth(1).sort_by_file_name();
        let name = |path: &Path| path.strip_prefix(self.0.path()).unwrap().to_str().unwrap().to_owned();
        found.into_iter().map(|entry| name(entry.unwrap().path())).collect()
    }

    /// The binary, to be run in this directory, with nothing of ours in the environment.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_instrument"));
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("INSTRUMENT_") {
                command.env_remove(name);
            }
        }
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"].iter().for_each(|name| _ = command.env_remove(name));
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Run {
        finish(self.command(arguments).output().unwrap())
    }

    /// Runs the arguments of a line without quotes.
    pub(crate) fn line(&self, line: &str) -> Run {
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }
}

pub(crate) fn finish(output: Output) -> Run {
    Run {
        code: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    /// Checks the exit code; 0 with nothing on stdout that was not requested.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Run {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Checks the exit code and that stderr holds all of these.
    #[track_caller]
    pub(crate) fn says(self, code: i32, parts: &[&str]) -> Run {
        let run = self.expect(code);
        for part in parts {
            assert!(run.stderr.contains(part), "`{part}` is not in: {}", run.stderr);
        }
        run
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// A class file without fields and methods (JVMS 4.1), so that no transform changes it.
pub(crate) fn empty_class(name: &str) -> Vec<u8> {
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 5];
    for utf8 in [name, "java/lang/Object"] {
        class.push(1);
        class.extend((utf8.len() as u16).to_be_bytes());
        class.extend(utf8.as_bytes());
    }
    class.extend([7, 0, 1, 7, 0, 2]);
    class.extend([0x06, 0x01, 0, 3, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
    class
}
