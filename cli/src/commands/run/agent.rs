//! The agent that `instrument run` and `instrument attach` bring into a program: its library, and the options that it is given.

use crate::commands::run::recording;
use crate::io::agent_library;
use crate::io::talk::Talk;
use crate::options::labels::{self, Label};
use crate::options::settings;
use anyhow::Result;
use instrument_artifacts::settings::{LargeMethods, Settings};
use instrument_control::keys;
use instrument_control::word::{LibraryCalls, Record, SampleRate, Timing, Transform, Values};
use instrument_messages::usage;
use instrument_names::word::Word;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a recording by the agent needs to know.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    /// Name of the process in reports and of the profile [default: the program's name]
    #[arg(long, value_name = "NAME", env = "INSTRUMENT_NAME", hide_env_values = true, value_parser = file_name)]
    name: Option<String>,

    /// What the process belongs to, such as service=shop or build=1.2, for export --format parquet; repeatable
    ///
    /// `run` takes what is not given from OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, then from the variables of CI services (the commit
    /// is the build).
    #[arg(hide_short_help = true, long, value_name = "KEY=VALUE", value_parser = labels::parse)]
    label: Vec<Label>,

    /// Exclude methods as the program runs, to keep what recording takes below 3%
    ///
    /// PERCENT is of the program's running time. Those methods are excluded first that are short and called often. All other counts stay exact; the profile says what was excluded, and since
    /// when. `instrument advise` says before what a budget excludes.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    budget: Option<f64>,

    /// Write the rewritten classes to this directory
    #[arg(hide_short_help = true, long, value_name = "DIRECTORY")]
    dump: Option<PathBuf>,

    /// Path of the agent's library, instead of the one that `instrument agent` prints
    #[arg(
        hide_short_help = true,
        long = "agent",
        value_name = "FILE",
        env = "INSTRUMENT_AGENT",
        hide_env_values = true
    )]
    library: Option<PathBuf>,

    #[command(flatten)]
    recording: recording::Opts,

    #[command(flatten)]
    settings: settings::Opts,
}

impl Opts {
    /// What was asked for, and the agent's library. `has_probes`: with calls of the user's own methods. `environment`: the variables that label the process.
    ///
    /// # Errors
    /// Options that contradict each other or are not for the agent, and a library that is not there.
    pub(crate) fn resolve(
        self,
        has_probes: bool,
        environment: impl Fn(&str) -> Option<String>,
        talk: &Talk,
    ) -> Result<Agent> {
        let settings = settings::resolve(self.settings, has_probes, talk)?;
        if settings.large_methods == LargeMethods::Wrap {
            return Err(usage(
                "--large-methods wrap adds methods to classes, and the JVM does not allow that once they are loaded (JVMTI \
                 RetransformClasses): instrument the archive with it, then start the result with java",
            ));
        }
        if settings.native && settings.transforms.contains(&Transform::Bytecodes) {
            return Err(usage(
                "--native and --transform bytecodes exclude each other under the agent: the wrappers' own instructions would count; rewritten \
                 archives can have both",
            ));
        }
        self.recording.check(&settings)?;
        let library = agent_library::find(self.library)?;
        let (name, dump) = (self.name, self.dump);
        let labels = labels::option(&self.label, environment);
        let agent = Agent {
            library,
            settings,
            recording: self.recording,
            name,
            labels,
            dump,
            budget: self.budget,
            subgraph: false,
            armed: false,
            probes: None,
            subclasses: None,
        };
        agent.check_budget()?;
        Ok(agent)
    }
}

/// The agent, as it is asked for.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Absolute.
    pub(crate) library: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) recording: recording::Opts,
    name: Option<String>,
    labels: Option<String>,
    dump: Option<PathBuf>,
    /// What recording may take, in percent of the running time.
    pub(crate) budget: Option<f64>,
    /// Only what the roots can call is rewritten.
    pub(crate) subgraph: bool,
    /// Nothing is recorded before somebody asks for it.
    pub(crate) armed: bool,
    /// Rules for calls of the user's own methods, prepared.
    pub(crate) probes: Option<PathBuf>,
    /// The classes below those of `--subclasses-of`, prepared.
    pub(crate) subclasses: Option<PathBuf>,
}

impl Agent {
    /// Whether a budget can be kept: there must be times to calculate with, and somebody who answers requests.
    fn check_budget(&self) -> Result<()> {
        if self.budget.is_none() {
            return Ok(());
        }
        if self.settings.record != Record::Tree {
            return Err(usage(
                "--budget goes with --record tree: without times the cost of recording is not known",
            ));
        }
        if self.recording.ctl().is_some_and(|path| path == Path::new("off")) {
            return Err(usage(
                "--budget asks the program to exclude methods, and --ctl off turns requests off",
            ));
        }
        Ok(())
    }

    /// Whether there are roots whose calls can be followed, and nothing that the agent would refuse beside: a program that is started would run
    /// unrecorded.
    ///
    /// # Errors
    /// There are none; options that do not go with it.
    pub(crate) fn check_subgraph(&self) -> Result<()> {
        let settings = &self.settings;
        if !self.subgraph {
            return Ok(());
        }
        if settings.roots.is_empty() {
            return Err(usage("--subgraph rewrites what the roots can call: give --root METHOD"));
        }
        let others = [
            ("--record trace", settings.record == Record::Trace),
            ("--heap", self.recording.has_heap()),
            ("--transform rmi", settings.transforms.contains(&Transform::Rmi)),
            ("--transform remote-http", settings.transforms.contains(&Transform::RemoteHttp)),
            ("--transform remote-jms", settings.transforms.contains(&Transform::RemoteJms)),
            ("--transform remote-grpc", settings.transforms.contains(&Transform::RemoteGrpc)),
            ("--region", !settings.regions.is_empty()),
            ("--native", settings.native),
            ("--library-calls", settings.library_calls != LibraryCalls::None),
        ];
        match others.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(usage(format!(
                "--subgraph rewrites only what the roots can call: leave out {option}, or --subgraph"
            ))),
            None => Ok(()),
        }
    }

    /// What the agent would refuse of `--probes`, or could not do.
    ///
    /// # Errors
    /// Options that do not go with it.
    pub(crate) fn check_probes(&self) -> Result<()> {
        let reason = if self.recording.is_early() {
            "--early rewrites classes before your methods can be called; leave out --early"
        } else if self.armed {
            "--armed starts the program without any rewritten class; leave out --armed"
        } else if self.settings.record == Record::Off {
            "--record off leaves the program as it is; leave it out: with --probes nothing else is recorded unless --transform asks for it"
        } else {
            return Ok(());
        };
        Err(usage(format!("--probes: {reason}")))
    }

    /// What has the virtual machine load the library with these options.
    pub(crate) fn agentpath(&self, options: &str) -> OsString {
        let mut argument = OsString::from("-agentpath:");
        argument.push(&self.library);
        argument.push("=");
        argument.push(options);
        argument
    }

    /// All of it as the options of the library, with the file or directory of the profile. Paths are absolute.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub(crate) fn options(&self, out: Option<&Path>) -> Result<String> {
        let settings = &self.settings;
        let mut options = self.recording.options()?;
        options.extend(self.armed.then(|| (keys::ARMED, "on".to_owned())));
        options.extend(self.name.iter().map(|name| (keys::NAME, name.clone())));
        options.extend(self.labels.iter().map(|labels| (keys::LABELS, labels.clone())));
        let (include, exclude) = settings.patterns();
        options.extend(include.iter().map(|pattern| (keys::INCLUDE, pattern.clone())));
        options.extend(exclude.iter().map(|pattern| (keys::EXCLUDE, pattern.clone())));
        let names: Vec<&str> = settings.transforms.iter().map(|transform| transform.word()).collect();
        if !names.is_empty() {
            options.push((keys::TRANSFORM, names.join(":")));
        }
        if settings.library_calls != LibraryCalls::None {
            options.push((keys::LIBRARY_CALLS, settings.library_calls.word().to_owned()));
        }
        options.extend(settings.native.then(|| (keys::NATIVE, "on".to_owned())));
        options.extend(settings.propagate.then(|| (keys::PROPAGATE, "on".to_owned())));
        options.extend(settings.roots.iter().map(|root| (keys::ROOT, root.clone())));
        options.extend(settings.latency.iter().map(|kept| (keys::LATENCY, kept.to_string())));
        options.extend(self.subgraph.then(|| (keys::SUBGRAPH, "on".to_owned())));
        options.extend(settings.regions.iter().map(|region| (keys::REGION, region.name.clone())));
        // A script may change the folder; the slash of one that does not exist yet has to stay.
        let out = std::env::current_dir()?.join(out.unwrap_or(Path::new("")));
        let paths = [
            (keys::IDS, settings.ids.as_deref()),
            (keys::ACCOUNT, settings.report.as_deref()),
            (keys::PROBES, self.probes.as_deref()),
            (keys::SUBCLASSES, self.subclasses.as_deref()),
            (keys::OUT, Some(&*out)),
            (keys::DUMP, self.dump.as_deref()),
        ];
        for (key, path) in paths {
            let Some(path) = path else { continue };
            let path = std::env::current_dir()?.join(path);
            let text = passable(&path).map_err(usage)?;
            options.push((key, text.to_owned()));
        }
        options.push((keys::RECORD, settings.record.word().to_owned()));
        if let Some(timing) = settings.timing {
            options.push((keys::TIMING, timing.to_string()));
        }
        Ok(keys::join(&options))
    }
}

impl Agent {
    /// What times of another run cannot be set beside, for `--twice`.
    ///
    /// # Errors
    /// Options that do not go with it.
    pub(crate) fn check_twice(&self) -> Result<()> {
        let settings = &self.settings;
        let has = |transform| settings.transforms.contains(&transform);
        let values = Values::WORDS.iter().any(|(_, values, _)| has(values.transform()));
        let others = [
            ("--record other than tree", settings.record != Record::Tree),
            ("--transform without method-events", !has(Transform::MethodEvents)),
            ("--timing other than samples", !matches!(settings.timing, None | Some(Timing::Samples))),
            ("--values", values),
            ("--root", !settings.roots.is_empty()),
            ("--latency", !settings.latency.is_empty()),
            ("--region", !settings.regions.is_empty()),
            ("--cpu", self.recording.has_cpu()),
            ("--burst", self.recording.has_bursts()),
        ];
        match others.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(usage(format!(
                "--twice takes the times from stacks of methods, sampled while nothing is rewritten: leave out {option}, or --twice"
            ))),
            None => Ok(()),
        }
    }

    /// The options for what `--twice` takes its times from. `directory`: for the profiles; `ctl`: where requests are answered, if not in the usual place.
    ///
    /// # Errors
    /// A path that the options cannot hold.
    pub(crate) fn stacks_alone(directory: &Path, ctl: Option<&str>) -> Result<String> {
        // The slash tells a folder.
        let out = format!("{}/", passable(directory).map_err(usage)?);
        let rate = SampleRate::MAX.to_string();
        let record = Record::Samples.word().to_owned();
        let mut options = vec![(keys::OUT, out), (keys::SAMPLE_RATE, rate), (keys::RECORD, record)];
        options.extend(ctl.map(|path| (keys::CTL, path.to_owned())));
        Ok(keys::join(&options))
    }
}

/// A path as the agent's options can hold it.
fn passable(path: &Path) -> Result<&str, String> {
    match path.to_str() {
        None => Err(format!("{}: not UTF-8", path.display())),
        Some(text) if text.contains(['\n', '\r']) => {
            let text = text.escape_debug();
            Err(format!("{text}: a path with a line break cannot be passed to the agent: choose another"))
        }
        Some(text) => Ok(text),
    }
}

/// A name that files may have.
fn file_name(name: &str) -> Result<String, &'static str> {
    if name.is_empty() || name.contains(['/', '\\', '\n']) {
        Err("no name for a file")
    } else {
        Ok(name.to_owned())
    }
}

/// Reads a budget: `3`, `3%`, `0.5%`.
fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>();
    number
        .ok()
        .filter(|percent| *percent > 0.0 && *percent < 1000.0)
        .ok_or("a budget is a part of the running time in percent, such as 3%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_line_break_is_refused() {
        assert_eq!(passable(Path::new("/tmp/a b")), Ok("/tmp/a b"));
        for path in ["/tmp/a\nb", "/tmp/a\r"] {
            let error = passable(Path::new(path)).unwrap_err();
            assert!(error.contains("line break") && !error.contains(['\n', '\r']), "{error}");
        }
    }

    #[test]
    fn a_budget_is_a_percentage() {
        for (text, budget) in [("3", 3.0), ("3%", 3.0), ("0.5 %", 0.5), (" 20% ", 20.0)] {
            assert_eq!(percent(text), Ok(budget), "{text}");
        }
        for text in ["", "%", "0", "-1%", "3%%x", "NaN", "inf", "5000"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }
}
