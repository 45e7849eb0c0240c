//! Pages in a real browser, used as a person would: `tests/viewer/drive.js` has the scenarios.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::machine::{Run, root, target};
use crate::readers;
use crate::subject;

/// Runs a scenario, and gives what it found.
///
/// # Errors
/// What does not hold there; no browser.
pub fn drive(scenario: &str, arguments: &[&Path]) -> Result<Value> {
    let mut node = Command::new("node");
    node.env("NODE_PATH", readers::node_packages()?.join("node_modules"));
    node.env("CHROMIUM", chromium()?);
    node.arg(root().join("tests/viewer/drive.js")).arg(scenario).args(arguments);
    let output = node.run_quietly().with_context(|| scenario.to_owned())?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Looks at every view of a page in Firefox, and gives what it found; none: there is no Firefox here.
///
/// # Errors
/// What does not hold there.
pub fn firefox(page: &Path) -> Result<Option<Value>> {
    let Some(firefox) = browser("FIREFOX", &["firefox-esr", "firefox"]) else { return Ok(None) };
    let mut node = Command::new("node");
    node.arg(root().join("tests/viewer/firefox.js")).args([&*firefox, page, &pictures()?]);
    let output = node.run_quietly().context("firefox")?;
    Ok(Some(serde_json::from_slice(&output.stdout)?))
}

/// The page of a profile, as one file.
///
/// # Errors
/// It cannot be made.
pub fn page(input: &Path, html: &Path) -> Result<PathBuf> {
    subject::call()?.args(["--quiet", "view", "--html"]).arg(html).arg(input).run_quietly()?;
    Ok(html.to_owned())
}

/// Where the pictures of a run are kept, to be looked at.
///
/// # Errors
/// The folder cannot be made.
pub fn pictures() -> Result<PathBuf> {
    let folder = target().join("viewer");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// `instrument view` of a file, or a process; ends when it is dropped.
pub struct Server {
    child: Child,
    /// Where its page is.
    pub address: PathBuf,
}

impl Server {
    /// Starts it.
    ///
    /// # Errors
    /// It cannot be started, or does not say where its page is.
    pub fn start(file: &Path) -> Result<Server> {
        Server::start_with(file, &[])
    }

    /// The same with more arguments.
    ///
    /// # Errors
    /// The same.
    pub fn start_with(file: &Path, arguments: &[&OsStr]) -> Result<Server> {
        let mut command = subject::call()?;
        command.args(["--quiet", "view", "--no-open"]).args(arguments).arg(file).stdout(Stdio::piped());
        let mut server = Server { child: command.spawn()?, address: PathBuf::new() };
        let mut address = String::new();
        BufReader::new(server.child.stdout.take().context("stdout")?).read_line(&mut address)?;
        server.address = PathBuf::from(address.trim_end());
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn chromium() -> Result<PathBuf> {
    browser("CHROMIUM", &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
        .context("no Chromium: install the package chromium, or set CHROMIUM")
}

/// A browser: that of the variable, or what the system has of these names.
fn browser(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        return Some(path.into());
    }
    let paths = std::env::var_os("PATH")?;
    let mut places =
        std::env::split_paths(&paths).flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    places.find(|path| path.is_file())
}
