//! The option string as it was given: each key with its value, judged by itself.

use super::{Limits, MAX_PAUSE, Requests};
use instrument_control::keys::{self, For, KEYS};
use instrument_control::latency::Kept;
use instrument_control::word::{
    self, Burst, Clock, LibraryCalls, Owners, Record, SampleRate, SampledEvent, Transform,
};
use instrument_names::pattern::{Pattern, split_list};
use instrument_names::word::Word;
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::Transforms;
use std::path::PathBuf;
use std::time::Duration;

const MAX_HOLDERS_SECONDS: u64 = 86_400;

pub(super) struct Given {
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) untouched: Vec<String>,
    pub(super) transforms: Option<Transforms>,
    pub(super) roots: Vec<String>,
    pub(super) latency: Vec<Kept>,
    pub(super) regions: Vec<Region>,
    pub(super) library_calls: LibraryCalls,
    pub(super) native: bool,
    pub(super) limits: Limits,
    pub(super) ids: Option<PathBuf>,
    pub(super) probes: Option<PathBuf>,
    pub(super) subclasses: Option<PathBuf>,
    pub(super) report: Option<PathBuf>,
    pub(super) dump: Option<PathBuf>,
    pub(super) heap_dump: Option<PathBuf>,
    pub(super) ctl: Requests,
    pub(super) clock: Option<Clock>,
    pub(super) threads: bool,
    pub(super) owners: Owners,
    pub(super) subgraph: bool,
    pub(super) armed: bool,
    pub(super) early: bool,
    pub(super) record: Record,
    pub(super) sample_rate: Option<u32>,
    pub(super) sample_event: Option<SampledEvent>,
    pub(super) heap_all: bool,
    pub(super) heap_holders: Option<Duration>,
    pub(super) heap_include: Vec<String>,
    pub(super) heap_exclude: Vec<String>,
    /// Keys and values for the recorder, each key once.
    pub(super) recorder: Vec<(&'static str, String)>,
}

impl Given {
    fn nothing() -> Given {
        Given {
            include: Vec::new(),
            exclude: Vec::new(),
            untouched: Vec::new(),
            transforms: None,
            roots: Vec::new(),
            latency: Vec::new(),
            regions: Vec::new(),
            library_calls: LibraryCalls::None,
            native: false,
            limits: Limits { max_pause: MAX_PAUSE, lasts: None, is_tied: false },
            ids: None,
            probes: None,
            subclasses: None,
            report: None,
            dump: None,
            heap_dump: None,
            ctl: Requests::default(),
            clock: None,
            threads: false,
            owners: Owners::On,
            subgraph: false,
            armed: false,
            early: false,
            record: Record::Tree,
            sample_rate: None,
            sample_event: None,
            heap_all: false,
            heap_holders: None,
            heap_include: Vec::new(),
            heap_exclude: Vec::new(),
            recorder: Vec::new(),
        }
    }

    /// # Errors
    /// A key that does not exist, or what is wrong with its value.
    pub(super) fn read(text: &str) -> Result<Given, String> {
        let mut given = Given::nothing();
        for option in keys::split(text)? {
            let (key, value) = match option.split_once('=') {
                None if option == keys::ARMED => (keys::ARMED, "on"),
                pair => pair.ok_or_else(|| format!("option `{option}` is not KEY=VALUE"))?,
            };
            if value.is_empty() {
                return Err(format!("option `{key}` has no value"));
            }
            given.take(key, value)?;
        }
        Ok(given)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), String> {
        let path = || Some(PathBuf::from(value));
        match key {
            keys::INCLUDE => self.include.push(value.to_owned()),
            keys::EXCLUDE => self.exclude.push(value.to_owned()),
            keys::NO_REWRITE => self.untouched.push(value.to_owned()),
            keys::TRANSFORM => self.transforms = Some(transforms(value)?),
            keys::ROOT => self.roots.extend(roots(value)?),
            keys::LATENCY => {
                self.latency.extend(Kept::list(value).map_err(|error| format!("{key}={value}: {error}"))?);
            }
            keys::REGION => {
                let region = Region::parse(value).map_err(|error| format!("region={value}: {error}"))?;
                if let Some(clash) = self.regions.iter().find_map(|other| region.clash(other)) {
                    return Err(format!("region={value}: {clash}"));
                }
                self.regions.push(region);
            }
            keys::LIBRARY_CALLS => self.library_calls = word(key, value)?,
            keys::NATIVE => self.native = switch(key, value)?,
            keys::MAX_PAUSE => self.limits.max_pause = milliseconds(key, value)?,
            keys::LASTS => self.limits.lasts = Some(milliseconds(key, value)?),
            keys::TIED => self.limits.is_tied = switch(key, value)?,
            keys::IDS => self.ids = path(),
            keys::PROBES => self.probes = path(),
            keys::SUBCLASSES => self.subclasses = path(),
            // What it was called once.
            keys::ACCOUNT | "report" => self.report = path(),
            keys::DUMP => self.dump = path(),
            keys::HEAP_DUMP => self.heap_dump = path(),
            keys::CTL if value == "off" => self.ctl = Requests::Off,
            keys::CTL => self.ctl = Requests::At(PathBuf::from(value)),
            keys::CLOCK => self.clock = Some(word(key, value)?),
            keys::THREADS => self.threads = switch(key, value)?,
            keys::OWNERS => self.owners = word(key, value)?,
            keys::SUBGRAPH => self.subgraph = switch(key, value)?,
            keys::ARMED => self.armed = switch(key, value)?,
            keys::EARLY => self.early = switch(key, value)?,
            keys::SAMPLE_RATE => self.sample_rate = Some(sample_rate(value)?),
            keys::SAMPLE_EVENT => {
                let event = value.parse().map_err(|reason| format!("sample-event={value}: {reason}"))?;
                self.sample_event = Some(event);
            }
            keys::HEAP_ALL => self.heap_all = switch(key, value)?,
            keys::HEAP_HOLDERS => self.heap_holders = Some(holders(value)?),
            keys::HEAP_INCLUDE => self.heap_include.push(value.to_owned()),
            keys::HEAP_EXCLUDE => self.heap_exclude.push(value.to_owned()),
            _ => self.take_for_recorder(key, value)?,
        }
        Ok(())
    }

    /// What the recorder obeys; some of it the agent has to know as well.
    fn take_for_recorder(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            keys::HEAP => _ = word::<word::Heap>(key, value)?,
            keys::RECORD => self.record = word(key, value)?,
            keys::BURST => _ = value.parse::<Burst>().map_err(|reason| format!("burst: {reason}"))?,
            _ => {}
        }
        let mut of_recorder = KEYS.iter().filter(|key| key.obeyed_by == For::Recorder).map(|key| key.name);
        let known = of_recorder.find(|known| *known == key).ok_or_else(|| {
            let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            format!("unknown option `{key}`; there are {}", keys.join(", "))
        })?;
        // Settings go to the recorder line by line.
        if value.contains(['\n', '\r']) {
            let value = value.escape_debug();
            return Err(format!("{key}={value}: a value with a line break cannot be passed on"));
        }
        self.recorder.retain(|(key, _)| *key != known);
        self.recorder.push((known, value.to_owned()));
        Ok(())
    }
}

/// What a word stands for.
fn word<T: Word>(key: &str, value: &str) -> Result<T, String> {
    T::of(value).map_err(|words| format!("{key}={value}: {words}"))
}

fn milliseconds(key: &str, value: &str) -> Result<Duration, String> {
    let ms = value.parse().map_err(|_| format!("{key}={value}: a number of milliseconds"))?;
    Ok(Duration::from_millis(ms))
}

fn switch(key: &str, value: &str) -> Result<bool, String> {
    match value {
        "off" => Ok(false),
        "on" => Ok(true),
        _ => Err(format!("{key}={value}: there are off, on")),
    }
}

fn sample_rate(value: &str) -> Result<u32, String> {
    let rate = value.parse().ok().filter(|rate| (1..=SampleRate::MAX).contains(rate));
    rate.ok_or_else(|| format!("sample-rate={value}: a number from 1 to {}", SampleRate::MAX))
}

fn holders(value: &str) -> Result<Duration, String> {
    let seconds = value.parse().ok().filter(|seconds| *seconds <= MAX_HOLDERS_SECONDS);
    let range = || format!("heap-holders={value}: a number of seconds, {MAX_HOLDERS_SECONDS} at most");
    seconds.map(Duration::from_secs).ok_or_else(range)
}

/// Patterns that are joined with `:`, or with `,` as the recorder's setting takes them.
pub(crate) fn roots(value: &str) -> Result<Vec<String>, String> {
    let pattern = |text: &str| Pattern::new(text).map(|_| text.trim().to_owned());
    let patterns: Result<Vec<String>, _> = split_list(value, &[':', ',']).into_iter().map(pattern).collect();
    patterns.map_err(|error| format!("root={value}: {error}"))
}

fn transforms(value: &str) -> Result<Transforms, String> {
    let words: Result<Vec<Transform>, String> =
        value.split(':').map(|name| word(keys::TRANSFORM, name)).collect();
    let list = words?;
    if list.contains(&Transform::ObjectInit) {
        return Err(format!(
            "transform={}: it is for rewritten archives; heap=counts records every object",
            Transform::ObjectInit.word()
        ));
    }
    Ok(Transform::set(&list))
}
