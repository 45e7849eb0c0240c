use super::*;
use crate::{Cli, Command};
use clap::Parser;
use instrument_artifacts::engine::Sink;
use instrument_artifacts::unit::Unit;
use instrument_names::id_map::IdMap;
use instrument_names::id_map::MethodInfo;
use instrument_rewriter::account::{ClassRecord, MethodRecord, Outcome};
use std::fs;
use std::path::Path;

/// Appends a byte to every file, gives every file one id, and skips a method.
fn fake(units: &[Unit], _: &Settings, ids: &mut IdMap, sink: &mut dyn Sink) -> Result<Tally> {
    let mut tally = Tally::default();
    for (unit_index, unit) in units.iter().enumerate() {
        for (index, file) in unit.files.iter().enumerate() {
            let mut bytes = fs::read(&file.path)?;
            let class = ids.begin_class(file.path.file_name().unwrap().as_encoded_bytes(), None)?;
            let run = MethodInfo { name: b"run", descriptor: b"()V", line: 0, flags: 1, fingerprint: 0 };
            let id = ids.assign(class, &run)?;
            let method = |name, outcome, id| MethodRecord {
                name,
                descriptor: "()V",
                outcome,
                reason: None,
                detail: None,
                id,
            };
            let methods =
                [method("run", Outcome::Rewritten, Some(id)), method("big", Outcome::Skipped, None)];
            sink.record(&ClassRecord {
                input: Some(&unit.label),
                entry: file.entry.as_deref(),
                class: Some("X"),
                outcome: Outcome::Rewritten,
                reason: None,
                detail: None,
                methods: &methods,
            })?;
            tally.methods.skipped += 1;
            bytes.push(b'!');
            sink.output(unit_index, index, Some(&bytes))?;
        }
        if unit.kind == UnitKind::Directory {
            sink.extra(unit_index, "extra/file", b"extra")?;
        }
    }
    Ok(tally)
}

fn fails_at_the_end(
    units: &[Unit],
    settings: &Settings,
    ids: &mut IdMap,
    sink: &mut dyn Sink,
) -> Result<Tally> {
    fake(units, settings, ids, sink)?;
    anyhow::bail!("the last class is bad")
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        for (name, text) in [("A.class", "\u{fe}"), ("tree/b/B.class", "B"), ("tree/other", "o")] {
            let path = place.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(place.0.path().join("A.class"), b"\xca\xfe\xba\xbe").unwrap();
        place
    }

    fn run(&self, line: &str, engine: Engine) -> Result<Exit> {
        let word = |word: &str| match word.strip_prefix('@') {
            Some(name) => self.0.path().join(name).into_os_string(),
            None => word.into(),
        };
        let cli = Cli::try_parse_from(
            ["instrument", "-q", "rewrite"].map(word).into_iter().chain(line.split(' ').map(word)),
        );
        let Ok(Cli { talk, command: Command::Rewrite(opts), .. }) = cli else { panic!("{line}") };
        run_with(*opts, &Talk::new(&talk), engine)
    }

    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let found =
            walkdir::WalkDir::new(self.0.path()).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
        let name = |path: &Path| path.strip_prefix(self.0.path()).unwrap().display().to_string();
        let read = |path: &Path| if path.is_file() { fs::read(path).unwrap() } else { Vec::new() };
        found.map(|entry| (name(entry.path()), read(entry.path()))).collect()
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.0.path().join(name)).unwrap()).into_owned()
    }
}

#[test]
fn new_bytes_ids_and_account_arrive_together() {
    let place = Place::new();
    let exit = place.run("@A.class @tree --ids @ids --account @report --strict", fake).unwrap();
    assert_eq!(exit, Exit::Partial, "a method was skipped");
    assert!(place.read("A-instrumented.class").ends_with('!'));
    assert_eq!(place.read("tree-instrumented/b/B.class"), "B!");
    assert_eq!(place.read("tree-instrumented/other"), "o");
    assert_eq!(place.read("tree-instrumented/extra/file"), "extra");
    assert_eq!(place.read("ids").lines().filter(|line| line.contains(" run ()V ")).count(), 2);
    let report = place.read("report");
    assert_eq!(report.lines().count(), 6);
    assert!(report.contains(r#""entry":"b/B.class","class":"X","outcome":"rewritten"}"#), "{report}");
    assert_eq!(place.run("@A.class", fake).unwrap(), Exit::Done, "not strict");
}

#[test]
fn a_second_run_gives_the_same_ids_and_appends_nothing() {
    let place = Place::new();
    place.run("@tree --ids @ids", fake).unwrap();
    let first = place.read("ids");
    fs::remove_dir_all(place.0.path().join("tree-instrumented")).unwrap();
    place.run("@tree --ids @ids", fake).unwrap();
    assert_eq!(place.read("ids"), first);
}

#[test]
fn in_place_rewrites_the_files_of_a_directory() {
    let place = Place::new();
    place.run("@tree @A.class --in-place", fake).unwrap();
    assert_eq!(place.read("tree/b/B.class"), "B!");
    assert_eq!(place.read("tree/other"), "o");
    assert_eq!(place.read("tree/extra/file"), "extra");
    assert_eq!(fs::read(place.0.path().join("A.class")).unwrap(), b"\xca\xfe\xba\xbe!");
}

#[test]
fn a_failed_run_leaves_everything_as_it_was() {
    let place = Place::new();
    let before = place.files();
    for line in [
        "@A.class @tree --ids @ids --account @report",
        "@A.class @tree --in-place --ids @ids",
        "@A.class @tree -o @new",
    ] {
        let error = place.run(line, fails_at_the_end).unwrap_err();
        assert_eq!(error.to_string(), "the last class is bad");
        assert_eq!(place.files(), before, "{line}");
    }
}
