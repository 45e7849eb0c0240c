//! `instrument.toml`: the same options as on the command line, for the whole project.
//!
//! ```toml
//! include = ["com.acme.**"]
//! exclude = ["com.acme.generated.**", "**#<clinit>"]
//! subclasses-of = ["com.acme.Service"]
//! transform = ["method-events", "allocation"]
//! values = ["jdbc"]
//! remote = ["http"]
//! propagate = true
//! library-calls = "top-level"
//! native = true
//! large-methods = "wrap"
//! ids = "instrument.ids"
//! runtime = "embed"
//! record = "tree"
//! timing = "every:64"
//! root = ["com.acme.Shop#sell"]
//! latency = ["com.acme.Shop#sell:50ms"]
//! region = ["com.acme.Shop:12-17"]
//! account = "target/instrument.jsonl"
//! strict = true
//! strip-signatures = false
//! jobs = 4
//! level = 6
//! ```
//!
//! Paths are relative to the file's directory. An unknown key or a bad value is an error with its line.
//!
//! A file that is found in the working directory, not named by `--config`, may be a stranger's: it came with the
//! sources. It is named on standard error, its paths must not lead out of its directory, and it cannot have signatures
//! removed.

use crate::settings::{LargeMethods, Level, Runtime};
use anyhow::{Context, Result};
use instrument_control::latency::Kept;
use instrument_control::place::place;
use instrument_control::word::{LibraryCalls, Record, Remote, Timing, Transform, Values};
use instrument_messages::{Listener, usage};
use instrument_rewriter::filter::Filter;
use instrument_rewriter::region::Region;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use toml::Spanned;
use toml::de::DeTable;

/// The file that is read when it is there and no other is named.
pub const DEFAULT: &str = "instrument.toml";

/// What a configuration file says; nothing, if there is none.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Config {
    include: Option<Vec<Spanned<String>>>,
    exclude: Option<Vec<Spanned<String>>>,
    pub subclasses_of: Option<Vec<String>>,
    pub transform: Option<Vec<Transform>>,
    pub values: Option<Vec<Values>>,
    pub remote: Option<Vec<Remote>>,
    pub propagate: Option<bool>,
    pub library_calls: Option<LibraryCalls>,
    pub native: Option<bool>,
    pub large_methods: Option<LargeMethods>,
    ids: Option<Spanned<PathBuf>>,
    pub runtime: Option<Runtime>,
    pub record: Option<Record>,
    pub timing: Option<Timing>,
    root: Option<Vec<Spanned<String>>>,
    latency: Option<Vec<Spanned<String>>>,
    region: Option<Vec<Spanned<String>>>,
    #[serde(rename = "account", alias = "report")]
    report: Option<Spanned<PathBuf>>,
    pub strict: Option<bool>,
    strip_signatures: Option<Spanned<bool>>,
    pub jobs: Option<NonZeroUsize>,
    pub level: Option<Level>,
    /// Where each key stands, with the name of the file.
    #[serde(skip)]
    places: BTreeMap<String, String>,
}

impl Config {
    /// Reads the file that was requested, or [`DEFAULT`] if there is one; that is said.
    pub fn read(asked_for: Option<&Path>, listener: &dyn Listener) -> Result<Config> {
        let path = asked_for.unwrap_or(Path::new(DEFAULT));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if asked_for.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Config::default());
            }
            Err(error) => return Err(usage(format!("{}: {error}", path.display()))),
        };
        let name = path.display().to_string();
        let mut config = Config::parse(&text, &name)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        if asked_for.is_none() {
            listener.note(format_args!("options are read from {DEFAULT}"));
            config.check_discovered(&text, &name)?;
        }
        for path in [&mut config.ids, &mut config.report].into_iter().flatten() {
            *path.as_mut() = directory.join(path.get_ref());
        }
        Ok(config)
    }

    /// What a file must not say that nobody named.
    fn check_discovered(&self, text: &str, name: &str) -> Result<()> {
        let refuse = |span: Range<usize>, reason: String| {
            let place = place(text, name, span);
            Err(usage(format!(
                "{place}: {reason}: {name} was found in the working directory and may be a stranger's; if you trust it, --config {name} \
                 reads it as it is"
            )))
        };
        for path in [&self.ids, &self.report].into_iter().flatten() {
            if !stays_inside(path.get_ref()) {
                let reason = format!("{} leads out of its directory", path.get_ref().display());
                return refuse(path.span(), reason);
            }
        }
        match &self.strip_signatures {
            Some(value) if *value.get_ref() => {
                refuse(value.span(), "strip-signatures removes the signatures of signed archives".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn parse(text: &str, name: &str) -> Result<Config> {
        let at = |span: Range<usize>| place(text, name, span);
        let unreadable = |error: toml::de::Error| {
            let place = error.span().map_or(name.to_owned(), &at);
            usage(format!("{place}: {}", error.message().trim_end().replace('\n', "; ")))
        };
        let mut config: Config = toml::from_str(text).map_err(unreadable)?;
        let keys = DeTable::parse(text).map_err(unreadable)?;
        let places = keys.get_ref().keys().map(|key| (key.get_ref().to_string(), at(key.span())));
        config.places = places.collect();
        for region in config.region.iter().flatten() {
            Region::parse(region.get_ref())
                .map_err(|error| usage(format!("`{}`: {error}", region.get_ref())))
                .with_context(|| at(region.span()))?;
        }
        for list in config.latency.iter().flatten() {
            Kept::list(list.get_ref()).map_err(usage).with_context(|| at(list.span()))?;
        }
        for pattern in [&config.include, &config.exclude, &config.root].into_iter().flatten().flatten() {
            Filter::new(&[pattern.get_ref()], &[])
                .map_err(|error| usage(error.to_string()))
                .with_context(|| at(pattern.span()))?;
        }
        Ok(config)
    }

    /// An error about options that do not go together, with the place of the first that it names and the file has.
    pub fn placed(&self, error: anyhow::Error) -> anyhow::Error {
        let message = error.to_string();
        let words = message.split("--").skip(1);
        let option =
            |text: &str| text.find(|c: char| c != '-' && !c.is_ascii_lowercase()).unwrap_or(text.len());
        let place = words.map(|text| &text[..option(text)]).find_map(|key| self.places.get(key)).cloned();
        match place {
            Some(place) => error.context(place),
            None => error,
        }
    }

    /// `ids`, from the working directory.
    pub fn ids(&self) -> Option<PathBuf> {
        self.ids.as_ref().map(|path| path.get_ref().clone())
    }

    /// `account`, from the working directory.
    pub fn report(&self) -> Option<PathBuf> {
        self.report.as_ref().map(|path| path.get_ref().clone())
    }

    pub fn strip_signatures(&self) -> Option<bool> {
        self.strip_signatures.as_ref().map(|value| *value.get_ref())
    }

    pub fn include(&self) -> Option<Vec<String>> {
        self.include.as_ref().map(|patterns| patterns.iter().map(|p| p.get_ref().clone()).collect())
    }

    pub fn roots(&self) -> Option<Vec<String>> {
        self.root.as_ref().map(|patterns| patterns.iter().map(|p| p.get_ref().clone()).collect())
    }

    pub fn latency(&self) -> Option<Vec<String>> {
        self.latency.as_ref().map(|patterns| patterns.iter().map(|p| p.get_ref().clone()).collect())
    }

    pub fn regions(&self) -> Option<Vec<Region>> {
        // They were tried when the file was read.
        let parse = |text: &Spanned<String>| Region::parse(text.get_ref()).ok();
        self.region.as_ref().map(|regions| regions.iter().filter_map(parse).collect())
    }

    pub fn exclude(&self) -> Option<Vec<String>> {
        self.exclude.as_ref().map(|patterns| patterns.iter().map(|p| p.get_ref().clone()).collect())
    }
}

/// Whether a path that is relative to the working directory stays in it, also when its links are followed.
fn stays_inside(path: &Path) -> bool {
    let inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    // What is not there yet has no links; a link that leads to nothing may lead anywhere.
    let is_there = |path: &&Path| path.as_os_str().is_empty() || path.symlink_metadata().is_ok();
    let Some(there) = path.ancestors().find(is_there) else { return false };
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    path.components().all(inside)
        && match (there.canonicalize(), Path::new(".").canonicalize()) {
            (Ok(there), Ok(here)) => there.starts_with(here),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file in the documentation of this module.
    fn example() -> String {
        let source = include_str!("config.rs");
        source
            .lines()
            .skip_while(|line| !line.contains("```toml"))
            .skip(1)
            .take_while(|line| !line.contains("```"))
            .map(|line| format!("{}\n", line.trim_start_matches("//! ")))
            .collect()
    }

    #[test]
    fn every_key_of_the_documentation_is_read() {
        let config = Config::parse(&example(), "x.toml").unwrap();
        assert_eq!(config.include().unwrap(), ["com.acme.**"]);
        assert_eq!(config.exclude().unwrap().len(), 2);
        assert_eq!(config.roots().unwrap(), ["com.acme.Shop#sell"]);
        assert_eq!(config.regions().unwrap()[0].name, "com.acme.Shop:12-17");
        assert_eq!(config.ids().unwrap(), Path::new("instrument.ids"));
        assert_eq!(config.report().unwrap(), Path::new("target/instrument.jsonl"));
        assert_eq!((config.strict, config.strip_signatures()), (Some(true), Some(false)));
        assert_eq!(config.subclasses_of.unwrap(), ["com.acme.Service"]);
        assert_eq!(config.transform.unwrap(), [Transform::MethodEvents, Transform::Allocation]);
        assert_eq!(config.values.unwrap(), [Values::Jdbc]);
        assert_eq!((config.remote.unwrap(), config.propagate), (vec![Remote::Http], Some(true)));
        assert_eq!(config.library_calls, Some(LibraryCalls::TopLevel));
        assert_eq!(config.native, Some(true));
        assert_eq!(config.large_methods, Some(LargeMethods::Wrap));
        assert_eq!((config.runtime, config.record), (Some(Runtime::Embed), Some(Record::Tree)));
        assert_eq!(config.timing, Some(Timing::Every(64)));
        assert_eq!((config.jobs, config.level), (NonZeroUsize::new(4), Some(Level::default())));
    }

    /// The Gradle plugin has the same keys, but for those that are no matter of one task.
    #[test]
    fn every_key_is_in_the_gradle_plugin() {
        let java = include_str!(
            "../../../plugins/gradle/src/main/java/io/github/instrument/gradle/InstrumentExtension.java"
        );
        let example = example();
        let keys = example.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key);
        for key in keys.filter(|key| !["ids", "account", "jobs"].contains(key)) {
            assert!(java.contains(&format!("\"--{key}\"")), "--{key}");
        }
    }

    #[test]
    fn errors_name_their_line() {
        for (text, place, reason) in [
            ("strict = true\nbogus = 1\n", "x.toml:2:1", "unknown field `bogus`"),
            ("strict = 1\n", "x.toml:1:10", "boolean"),
            ("\ninclude = [\n  \"a.B\",\n  \"a..B\",\n]\n", "x.toml:4:3", "bad pattern `a..B`"),
            ("transform = [\"method-event\"]\n", "x.toml:1:14", "method-events"),
            ("root = [\"a..B\"]\n", "x.toml:1:9", "bad pattern `a..B`"),
            ("region = [\"B\"]\n", "x.toml:1:11", "neither a method nor a line"),
            ("timing = \"some\"\n", "x.toml:1:10", "is not `samples`, `none`, `auto`, `all` or `every:N`"),
            ("jobs = 0\n", "x.toml:1:8", "nonzero"),
            ("level = 13\n", "x.toml:1:9", "1 to 12"),
            ("strict = \n", "x.toml:1:10", ""),
            ("strict = true\nstrict = true\n", "x.toml:2:1", "duplicate"),
        ] {
            let error = format!("{:#}", Config::parse(text, "x.toml").expect_err(text));
            assert!(error.starts_with(&format!("{place}: ")) && error.contains(reason), "{text:?}: {error}");
        }
    }

    proptest::proptest! {
        /// Whatever is in the file, it is read or refused with its name.
        #[test]
        fn any_text_is_read_or_refused(lines in proptest::collection::vec("(include|strict|ids|threads|\\[x\\]|\\PC{0,5}) ?=? ?(\\[?\"\\PC{0,8}\"\\]?|true|-?[0-9]{1,20}|\\PC{0,8})", 0..6)) {
            if let Err(error) = Config::parse(&lines.join("\n"), "x.toml") {
                let message = format!("{error:#}");
                proptest::prop_assert!(message.starts_with("x.toml:"), "{}", message);
            }
        }

        /// The example with pieces of it, or of TOML's grammar, put or cut anywhere.
        #[test]
        fn mutants_of_the_example_are_read_or_refused(
            edits in proptest::collection::vec((0.0..1.0f64, 0usize..12, 0usize..24, 0usize..40), 1..5),
        ) {
            const PIECES: [&str; 24] = [
                "[", "]", "[[", "{", "}", "\"", "\"\"\"", "'", "\\", "\\u00e9", "\\ud800", "#", "=", ".", ",", "\n", "\r",
                "\0", "**", "*?", "(I)V", "99999999999999999999", "1979-05-27T07:32:00Z", "\u{1f600}",
            ];
            let mut text = example();
            for (place, cut, piece, length) in edits {
                let at = text.floor_char_boundary((place * text.len() as f64) as usize);
                let end = text.floor_char_boundary(at + cut);
                let again = text[..text.floor_char_boundary(length)].to_owned();
                text.replace_range(at..end, if piece % 5 == 0 { &again } else { PIECES[piece] });
            }
            let start = std::time::Instant::now();
            if let Err(error) = Config::parse(&text, "x.toml") {
                let message = format!("{error:#}");
                proptest::prop_assert!(message.starts_with("x.toml:"), "{}", message);
            }
            proptest::prop_assert!(start.elapsed() < std::time::Duration::from_secs(1), "{text}");
        }
    }
}
