//! Independent readers of the export formats: packages of npm and PyPI in pinned versions, fetched once into
//! `target/cache/readers`, and the scripts of `tests/readers` that put what they understood into one form.
//!
//! As with the corpus, a fetch that fails is a failure.

use crate::shared;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::machine::{self, Run};

/// The readers of exports, what reads datasets, and the client of the Model Context Protocol: one environment, since each takes seconds to make.
const PYTHON: [&str; 8] = [
    "duckdb==2.0.0",
    "jsonschema==4.25.1",
    "llnl-hatchet==2026.2.0",
    "mcp==2.3.0",
    "opentelemetry-proto==1.45.2",
    "perfetto==0.59.1",
    "protobuf==7.36.2",
    "pyarrow==26.0.1",
];
const NODE: [&str; 5] = [
    "@tracerbench/trace-model@8.0.0",
    "axe-core@4.14.1",
    "playwright-core@1.65.1",
    "pprof-format@2.3.2",
    "speedscope@1.25.0",
];
/// What `crates/fleet/spark` needs.
const SPARK: [&str; 2] = ["pyspark==4.3.0", "pyarrow==26.0.1"];
/// Schemas of the files of CI services, and what compares a file with one.
const CI: [&str; 1] = ["check-jsonschema==0.39.0"];
/// It has the schema of SARIF.
const SARIF: &str = "@microsoft/jest-sarif@1.0.0-beta.0";
const ATTEMPTS: u32 = 3;

/// What a reader understood: by `process/thread/frame/frame..` a context's figures.
pub type Rows = BTreeMap<String, Vec<f64>>;

/// Runs a script of `tests/readers` on a file or directory.
pub fn read(script: &str, input: &Path) -> Result<Rows> {
    read_with(script, input, &[])
}

/// The same, with additions to its environment.
pub fn read_with(script: &str, input: &Path, environment: &[(&str, &OsStr)]) -> Result<Rows> {
    let path = machine::root().join("tests/readers").join(script);
    let mut command = if script.ends_with(".py") {
        program(&python()?)
    } else {
        let mut node = Command::new("node");
        node.env("NODE_PATH", node_packages()?.join("node_modules"));
        node
    };
    let output = command.arg(path).arg(input).envs(environment.iter().copied()).run_quietly()?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("{script}: not the rows of a profile"))
}

/// speedscope's schema, as its package carries it.
pub fn speedscope_schema() -> Result<PathBuf> {
    Ok(node_packages()?.join("node_modules/speedscope/dist/release/file-format-schema.json"))
}

/// The schema of SARIF 2.1.0.
///
/// # Errors
/// It cannot be fetched.
pub fn sarif_schema() -> Result<PathBuf> {
    let packages = fetched("sarif", &[SARIF], npm)?;
    Ok(packages.join("node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"))
}

/// The content of a file that fits a schema, as check-jsonschema is given it.
///
/// # Errors
/// It does not fit.
pub fn fits(file: &Path, schema: &[&OsStr]) -> Result<Value> {
    let words = std::iter::once(file.as_os_str()).chain(schema.iter().copied());
    answer("ci_file.py", &python_with("ci", &CI)?, words, b"")
}

/// The rules of axe-core, as a script.
///
/// # Errors
/// It cannot be fetched.
pub fn axe_core() -> Result<PathBuf> {
    Ok(node_packages()?.join("node_modules/axe-core/axe.min.js"))
}

/// What a script of `tests/readers` prints of a dataset; `input` is what it reads.
///
/// # Errors
/// What it says on standard error.
pub fn of_dataset(script: &str, dataset: &Path, input: &[u8]) -> Result<Value> {
    answer(script, &python()?, [dataset.as_os_str()], input)
}

/// What `spark_answers.py` prints of a dataset; `input` is what it is asked.
///
/// # Errors
/// Spark cannot be fetched, or what it says on standard error.
pub fn ask_spark(dataset: &Path, input: &Value) -> Result<Value> {
    let environment = python_with("spark", &SPARK)?;
    answer("spark_answers.py", &environment, [dataset.as_os_str()], input.to_string().as_bytes())
}

/// What `instrument mcp FILES` said of itself and answered to these calls, each `[tool, arguments]`, to the client that the makers of the
/// protocol publish.
///
/// # Errors
/// The client cannot be fetched, or fails.
pub fn ask_mcp(program: &OsStr, files: &[PathBuf], calls: &Value) -> Result<Value> {
    let words = [program, OsStr::new("mcp")].into_iter().chain(files.iter().map(|path| path.as_os_str()));
    answer("mcp_client.py", &python()?, words, calls.to_string().as_bytes())
}

/// What a script of `tests/readers` prints, run by the Python of an environment; `input` is what it reads.
fn answer<'a>(
    script: &str,
    environment: &Path,
    words: impl IntoIterator<Item = &'a OsStr>,
    input: &[u8],
) -> Result<Value> {
    let path = machine::root().join("tests/readers").join(script);
    let mut child = program(environment)
        .arg(path)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    child.stdin.take().context("a pipe")?.write_all(input)?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).with_context(|| format!("{script}: no JSON"))
}

/// A Python that has DuckDB.
///
/// # Errors
/// It cannot be fetched.
pub fn python_with_duckdb() -> Result<PathBuf> {
    Ok(python()?.join("bin/python"))
}

/// The interpreter of an environment, which keeps what it compiles.
fn program(environment: &Path) -> Command {
    let mut python = Command::new(environment.join("bin/python"));
    python.env_remove("PYTHONDONTWRITEBYTECODE");
    python
}

fn python() -> Result<PathBuf> {
    python_with("python", &PYTHON)
}

fn python_with(name: &str, packages: &[&str]) -> Result<PathBuf> {
    fetched(name, packages, |directory, packages| {
        let needed = "Python 3 with its module venv is needed (on Debian: python3-venv)";
        Command::new("python3").args(["-m", "venv"]).arg(directory).run_quietly().context(needed)?;
        let mut pip = Command::new(directory.join("bin/python"));
        // Only what is imported is compiled, at its first import.
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]);
        pip.args(packages);
        pip.run_quietly().map(drop)
    })
}

/// The directory that has the packages of npm in `node_modules`.
///
/// # Errors
/// They cannot be fetched.
pub fn node_packages() -> Result<PathBuf> {
    fetched("node", &NODE, npm)
}

fn npm(directory: &Path, packages: &[&str]) -> Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join("package.json"), "{\"private\": true}\n")?;
    let mut npm = Command::new("npm");
    npm.current_dir(directory)
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
        .args(packages);
    npm.run_quietly().context("npm (Node.js) is needed").map(drop)
}

/// The directory with these packages, installed unless it is there already.
fn fetched(name: &str, packages: &[&str], install: impl Fn(&Path, &[&str]) -> Result<()>) -> Result<PathBuf> {
    // Tests run in parallel; only one of them may fetch.
    let _lock = shared::lock("readers")?;
    let directory = machine::cache().join("readers").join(name);
    let stamp = directory.join("installed");
    let wanted = packages.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(directory);
    }
    let mut said = String::new();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(Duration::from_secs(3 << attempt));
        }
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        match install(&directory, packages) {
            Ok(()) => {
                fs::write(stamp, wanted)?;
                return Ok(directory);
            }
            Err(error) => said = format!("{error:#}"),
        }
    }
    bail!("fetching {} failed {ATTEMPTS} times: {said}", packages.join(", "))
}
