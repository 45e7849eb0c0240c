//! The dataset of Parquet files: its rows are the model's, and the same profiles give the same bytes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use instrument_analysis::arcs::Arcs;
use instrument_analysis::context_key::ContextKey;
use instrument_analysis::export::parquet::labels::{Labels, Sources};
use instrument_analysis::export::parquet::schema::{METHOD_VALUES, TABLES, Table, VALUES, VERSION};
use instrument_analysis::export::parquet::{self, Folder};
use instrument_analysis::fleet::{Chosen, write_profile};
use instrument_analysis::report::counts;
use instrument_analysis::session::{Request, Session};
use instrument_analysis::{Kind, NodeId};
use instrument_testing::{Script, Writer};
use instrument_trace::{Profile, ThreadSamples};

/// A row by the names of its columns, without what is null.
pub(crate) type Row = BTreeMap<String, Field>;

struct InFolder<'a>(&'a Path);

impl Folder for InFolder<'_> {
    type File = File;

    fn create(&mut self, path: &Path) -> io::Result<File> {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap())?;
        File::create_new(path)
    }

    fn finish(&mut self, _: &Path, _: File) -> io::Result<()> {
        Ok(())
    }
}

fn profiles() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/profiles");
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 9, "{paths:?}");
    paths
}

pub(crate) fn written(paths: &[PathBuf], labels: &[(&str, &str)], folder: &Path) -> parquet::Written {
    let labels: Labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let labels = Sources { given: labels, ..Sources::default() };
    parquet::write(paths, &labels, &mut InFolder(folder)).unwrap()
}

/// The files by their paths.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut all, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else {
            all.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(path).unwrap());
        }
    }
    all
}

/// The rows of a table.
pub(crate) fn rows(folder: &Path, table: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for path in files(folder).keys().filter(|path| path.starts_with(table)) {
        let reader = SerializedFileReader::new(File::open(folder.join(path)).unwrap()).unwrap();
        let about = reader.metadata().file_metadata().key_value_metadata().unwrap();
        assert!(
            about.iter().any(|of| of.key == "instrument.schema" && of.value == Some(VERSION.to_string()))
        );
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let cells = row.get_column_iter().filter(|(_, field)| **field != Field::Null);
            rows.push(cells.map(|(name, field)| (name.clone(), field.clone())).collect());
        }
    }
    rows
}

pub(crate) fn int(row: &Row, column: &str) -> Option<i64> {
    row.get(column).map(|field| match field {
        Field::Long(value) | Field::TimestampMillis(value) => *value,
        other => panic!("{column}: {other:?}"),
    })
}

fn text<'a>(row: &'a Row, column: &str) -> Option<&'a str> {
    row.get(column).map(|field| match field {
        Field::Str(text) => text.as_str(),
        other => panic!("{column}: {other:?}"),
    })
}

fn bytes(row: &Row, column: &str) -> Option<Vec<u8>> {
    row.get(column).map(|field| match field {
        Field::Bytes(bytes) => bytes.data().to_vec(),
        other => panic!("{column}: {other:?}"),
    })
}

fn is_nested(row: &Row) -> bool {
    row["nested"] == Field::Bool(true)
}

#[test]
fn the_same_profiles_give_the_same_bytes_in_any_order() {
    let [one, other] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut paths = profiles();
    let labels = [("service", "a/b"), ("build", "7"), ("team", "x\"y")];
    let first = written(&paths, &labels, one.path());
    assert_eq!(first.processes, paths.len());
    // Of many profiles each message names its own.
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    assert!(!first.messages.is_empty());
    for message in &first.messages {
        assert!(names.iter().any(|name| message.text.starts_with(&format!("{name}: "))), "{message:?}");
    }
    paths.reverse();
    // Twice the same file is once the same process.
    paths.push(paths[0].clone());
    let again = written(&paths, &labels, other.path());
    assert_eq!((again.processes, again.values), (first.processes, first.values));
    let said = |text: &str| again.messages.iter().any(|message| message.text.contains(text));
    assert!(said("of the same process as"), "{:?}", again.messages);
    let [one, other] = [files(one.path()), files(other.path())];
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    assert!(one == other, "bytes differ");
    for table in TABLES {
        let of_table: Vec<_> = one.keys().filter(|path| path.starts_with(table.name)).collect();
        assert!(!of_table.is_empty(), "{} has no file", table.name);
        let start = format!("{}/service=a%2Fb/build=7/day=", table.name);
        assert!(of_table.iter().all(|path| path.to_str().unwrap().starts_with(&start)), "{of_table:?}");
    }
}

#[test]
fn rows_are_the_figures_of_the_model() {
    for path in profiles() {
        let folder = tempfile::tempdir().unwrap();
        written(std::slice::from_ref(&path), &[], folder.path());
        let request = Request { files: vec![path.clone()], ..Request::default() };
        let session = Session::read(&request).unwrap();
        let (model, arcs) = (&session.model, Arcs::new(&session.model));
        let values = rows(folder.path(), "values");
        assert_eq!(values.len(), model.nodes().len() - 1, "{path:?}");
        let names: BTreeMap<Vec<u8>, String> = rows(folder.path(), "methods")
            .iter()
            .map(|row| {
                (
                    bytes(row, "method").unwrap(),
                    format!("{} {}", text(row, "kind").unwrap(), text(row, "name").unwrap()),
                )
            })
            .collect();
        // By method: calls; base and topmost cum of each resource.
        let resources = model.resources().iter().enumerate();
        let resources: Vec<_> = resources
            .filter(|(_, r)| !r.name.contains(' ') && r.name != "unwinds")
            .map(|(at, r)| (at, r.name.replace('-', "_")))
            .collect();
        let mut found: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for row in values.iter().filter(|row| row.contains_key("method")) {
            let sums = found
                .entry(&names[&bytes(row, "method").unwrap()])
                .or_insert_with(|| vec![0; 1 + 2 * resources.len()]);
            sums[0] += int(row, "calls").unwrap();
            for (i, (_, name)) in resources.iter().enumerate() {
                sums[1 + 2 * i] += int(row, name).unwrap();
                let total = int(row, &format!("{name}_total")).unwrap();
                sums[2 + 2 * i] += if is_nested(row) { 0 } else { total };
            }
        }
        let expected: BTreeMap<String, Vec<i64>> = arcs
            .ids()
            .filter(|&id| matches!(arcs.function(id).kind, Kind::Method | Kind::Link | Kind::Deeper))
            .map(|id| {
                let function = arcs.function(id);
                let mut sums = vec![function.calls as i64];
                sums.extend(
                    resources
                        .iter()
                        .flat_map(|(r, _)| [arcs.self_base(id)[*r] as i64, arcs.self_cum(id)[*r] as i64]),
                );
                (format!("{} {}", function.kind.word(), model.name(function.consumer)), sums)
            })
            .collect();
        let found: BTreeMap<String, Vec<i64>> =
            found.into_iter().map(|(name, sums)| (name.to_owned(), sums)).collect();
        assert_eq!(found, expected, "{path:?}");
        // The same as it was summed up when it was written.
        let summed = rows(folder.path(), "method_values");
        let of_methods = summed.iter().filter(|row| row.contains_key("method"));
        let found: BTreeMap<String, Vec<i64>> = of_methods
            .map(|row| {
                let name = names[&bytes(row, "method").unwrap()].clone();
                assert_eq!(text(row, "kind"), name.split(' ').next(), "{row:?}");
                let figures = resources.iter().flat_map(|(_, name)| [name.clone(), format!("{name}_total")]);
                let figures = ["calls".to_owned()].into_iter().chain(figures);
                (name, figures.map(|figure| int(row, &figure).unwrap()).collect())
            })
            .collect();
        assert_eq!(found, expected, "{path:?}");
        assert_sums(&summed, &values);
        assert_balance(&session, &rows(folder.path(), "processes"), &values, &names);
    }
}

/// Ends of calls in the row of the one process, and in those of its methods, are those of the report on counts.
fn assert_balance(session: &Session, processes: &[Row], values: &[Row], names: &BTreeMap<Vec<u8>, String>) {
    let sum = counts::gather(session, &counts::Request::default()).sum();
    assert_eq!(processes.len(), 1);
    let ends = ["calls", "exits", "unwinds", "aborted", "unclosed", "unmatched", "open"];
    let closes = sum.closes;
    let expected =
        [sum.entries, closes.exits, closes.unwinds, closes.aborted, closes.unclosed, sum.unmatched, sum.open];
    assert_eq!(ends.map(|end| int(&processes[0], end).unwrap() as u64), expected);
    let methods = |row: &&Row| bytes(row, "method").is_some_and(|key| names[&key].starts_with("method "));
    let of_values =
        ends.map(|end| values.iter().filter(methods).map(|row| int(row, end).unwrap() as u64).sum::<u64>());
    assert_eq!(of_values, expected);
}

/// The rows of `method_values` are the sums of those of `values`, each in one of them; errors up to what they are rounded by.
fn assert_sums(sums: &[Row], values: &[Row]) {
    let key = |row: &Row| {
        let thread = text(row, "thread").filter(|_| !row.contains_key("method")).map(str::to_owned);
        (bytes(row, "method"), thread)
    };
    let of_key = |of: &Row| values.iter().filter(|row| key(row) == key(of)).collect::<Vec<_>>();
    let mut contexts = 0;
    for sum in sums {
        let rows = of_key(sum);
        contexts += rows.len();
        assert_eq!(int(sum, "contexts"), Some(rows.len() as i64), "{sum:?}");
        for (column, field) in sum {
            let counted = rows.iter().filter(|row| !column.ends_with("_total") || !is_nested(row));
            match field {
                Field::Long(found) if column != "contexts" => {
                    let expected: i64 = counted.map(|row| int(row, column).unwrap()).sum();
                    assert_eq!(*found, expected, "{column}: {sum:?}");
                }
                Field::Float(found) => {
                    let of = |row: &Row| match row[column] {
                        Field::Float(value) => f64::from(value),
                        ref other => panic!("{column}: {other:?}"),
                    };
                    let (found, rounded) = (f64::from(*found), counted.map(|row| of(row)).sum::<f64>());
                    let is_near = found <= rounded * 1.002 && found >= rounded / 1.002;
                    assert!(is_near || rounded == 0.0 && found == 0.0, "{column}: {found}, {rounded}");
                }
                _ => {
                    assert!(["batch", "process", "kind", "method", "thread", "contexts"].contains(&&**column))
                }
            }
        }
        // What has no sum has no figure.
        let figures = rows[0].keys().filter(|name| METHOD_VALUES.columns.iter().any(|of| of.name == **name));
        assert!(figures.into_iter().all(|name| name == "thread" || sum.contains_key(name)), "{sum:?}");
    }
    assert_eq!(contexts, values.len());
}

#[test]
fn sums_have_all_figures_of_contexts() {
    let columns = |table: &Table| {
        let columns = table.columns.iter().skip_while(|column| column.name != "wall");
        columns.map(|column| (column.name, column.of, column.optional)).collect::<Vec<_>>()
    };
    assert_eq!(columns(&METHOD_VALUES), columns(&VALUES));
    assert!(columns(&VALUES).len() > 30);
}

#[test]
fn contexts_have_the_stable_keys_and_their_callers() {
    for path in profiles() {
        let folder = tempfile::tempdir().unwrap();
        written(std::slice::from_ref(&path), &[], folder.path());
        let session = Session::read(&Request { files: vec![path.clone()], ..Request::default() }).unwrap();
        let model = &session.model;
        let stable = ContextKey::of_model(model);
        let exact = ContextKey::exact_of_model(model);
        let contexts: BTreeMap<Vec<u8>, Row> = rows(folder.path(), "contexts")
            .into_iter()
            .map(|row| (bytes(&row, "context").unwrap(), row))
            .collect();
        let mut met = 0;
        for (i, node) in model.nodes().iter().enumerate() {
            if !matches!(node.kind, Kind::Method | Kind::Link | Kind::Deeper) {
                continue;
            }
            met += 1;
            let row = &contexts[&exact[i][0].0.to_vec()];
            let key = bytes(row, "stable").unwrap_or_else(|| exact[i][0].0.to_vec());
            assert_eq!(key, stable[i].0, "{path:?}");
            assert_eq!(bytes(row, "parent").unwrap(), exact[node.parent.0 as usize][0].0);
            assert_eq!(
                bytes(row, "method").unwrap(),
                ContextKey::ROOT.exact_child(node.kind, model.name(node.consumer)).0
            );
            // The way from the next context of the same method above.
            let mut at = NodeId(i as u32);
            let mut through = None;
            while at.0 > 0 && through.is_none() {
                let above = model.node(at).parent;
                let of = model.node(above);
                through = ((of.kind, of.consumer) == (node.kind, node.consumer))
                    .then(|| exact[at.0 as usize][0].0.to_vec());
                at = above;
            }
            assert_eq!(bytes(row, "through"), through, "{path:?}");
        }
        assert!(met >= contexts.len());
    }
}

#[test]
fn what_is_no_profile_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("a.folded");
    fs::write(&text, "a;b 3\n").unwrap();
    let error = parquet::write(&[text], &Sources::default(), &mut InFolder(folder.path())).unwrap_err();
    assert!(error.to_string().starts_with("--format parquet: "), "{error}");
    let error =
        parquet::write(&["none".into()], &Sources::default(), &mut InFolder(folder.path())).unwrap_err();
    assert!(error.to_string().contains("cannot read none"), "{error}");
}

/// A profile with 30 samples of an event: m1 met 10, m2 that it calls 20; each stands for 50 of the event.
fn of_event(folder: &Path, name: &str, event: Option<&str>) -> PathBuf {
    let program = Script::new(1000).enter(1).samples(10).call(2, |s| s.samples(20)).exit(1);
    let mut writer = Writer::new();
    let samples = ThreadSamples { period_ns: 50, cpu_ns: 1500, ..ThreadSamples::default() };
    writer.samples("main", &program, &[], &samples);
    if let Some(event) = event {
        writer.property("samples.event", event);
    }
    let path = folder.join(name);
    fs::write(&path, writer.finish()).unwrap();
    path
}

#[test]
fn events_that_were_sampled_have_columns_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let path = of_event(folder.path(), "a.iprof", Some("page-faults"));
    written(&[path], &[], &at("one"));
    let process = &rows(&at("one"), "processes")[0];
    assert_eq!((text(process, "event"), text(process, "event_unit")), (Some("page-faults"), None));
    assert!(!process.contains_key("probes_ns"));
    for table in ["values", "method_values"] {
        let mut found: Vec<_> = rows(&at("one"), table);
        found.retain(|row| row.contains_key("method"));
        assert!(found.iter().all(|row| !["running", "probes", "wall"].iter().any(|c| row.contains_key(*c))));
        let figures =
            |row: &Row| ["samples", "sampled", "sampled_total"].map(|column| int(row, column).unwrap());
        let mut figures: Vec<_> = found.iter().map(figures).collect();
        figures.sort_unstable();
        assert_eq!(figures, [[10, 500, 1500], [20, 1000, 1000]], "{table}");
        assert!(found.iter().all(|row| row.contains_key("sampled_noise_total")), "{table}: {found:?}");
    }
    // Time is one, too: not the thread time that calls have.
    let wall = of_event(folder.path(), "wall.iprof", Some("wall"));
    written(&[wall], &[], &at("wall"));
    let process = &rows(&at("wall"), "processes")[0];
    assert_eq!((text(process, "event"), text(process, "event_unit")), (Some("wall"), Some("ns")));
    for row in rows(&at("wall"), "values").iter().filter(|row| row.contains_key("method")) {
        assert!(
            row.contains_key("sampled_noise") && !row.keys().any(|column| column.starts_with("wall")),
            "{row:?}"
        );
    }
    // As one profile: of the same event the sum, of different ones none.
    let one_profile = |dataset: &Path| {
        let mut out = io::Cursor::new(Vec::new());
        let summed = write_profile(dataset, &Chosen::default(), &mut out);
        summed.map(|_| Profile::parse(&out.into_inner()).unwrap()).map_err(|error| error.to_string())
    };
    let profile = one_profile(&at("one")).unwrap();
    assert_eq!(profile.sampled_event(), Some("page-faults"));
    assert_eq!(profile.threads[0].samples.unwrap().cpu_ns, 1500);
    for other in [None, Some("cycles")] {
        let name = other.unwrap_or("time");
        let paths = [("a", Some("page-faults")), ("b", other)]
            .map(|(file, event)| of_event(folder.path(), file, event));
        written(&paths, &[], &at(name));
        let error = one_profile(&at(name)).unwrap_err();
        let parts = ["page-faults", other.unwrap_or("CPU time"), "recorded alike"];
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}
