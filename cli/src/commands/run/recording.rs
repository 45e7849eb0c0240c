//! What `instrument run` records beside calls: options that only the agent has.

use crate::options::settings::words;
use anyhow::Result;
use instrument_artifacts::settings::Settings;
use instrument_control::keys;
use instrument_control::word::{
    Burst, Clock, Heap, LibraryCalls, Owners, Record, SampleRate, SampledEvent, Timing, Transform,
};
use instrument_messages::usage;
use instrument_names::types::ObjectPatterns;
use instrument_names::word::Word;
use instrument_processes::perf_events::can_sample;
use instrument_rewriter::filter::Filter;
use std::path::{Path, PathBuf};

/// What else is recorded.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "What else is recorded")]
pub(crate) struct Opts {
    /// Record threads, and what they wait for: monitors, locks, Object.wait, parking
    ///
    /// Locks are those of java.util.concurrent. Without this option the wait to enter a monitor is running time.
    #[arg(long, env = "INSTRUMENT_MONITORS", hide_env_values = true)]
    monitors: bool,

    /// Record who owns a monitor that a thread waits for: on (while that takes at most 2 % of the time), all, off
    ///
    /// The JVM stops all threads to answer.
    #[arg(hide_short_help = true, long, value_name = "WHEN", value_parser = words::<Owners>(), default_value = "on", requires = "monitors")]
    owners: Owners,

    /// With --record samples: samples in a second of each thread's CPU time (with --sample-event wall, of its life), 1 to 1000 [default: 100]
    #[arg(hide_short_help = true, long, value_name = "N", env = "INSTRUMENT_SAMPLE_RATE", hide_env_values = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(SampleRate::MAX)))]
    sample_rate: Option<u32>,

    /// With --record samples: what is sampled, as EVENT or EVENT:N [default: cpu]
    ///
    /// cpu, wall, cycles, instructions, cache-misses, branch-misses, page-faults. wall is time, whether threads run or wait. Of those that
    /// follow a sample is taken each time the event has occurred N times in a thread, as the processor or the kernel counts it
    /// (perf_event_open).
    #[arg(
        hide_short_help = true,
        long,
        value_name = "EVENT",
        env = "INSTRUMENT_SAMPLE_EVENT",
        hide_env_values = true
    )]
    sample_event: Option<SampledEvent>,

    /// Record the CPU time of every call, too
    ///
    /// It goes with --record tree. A reading takes about 0.4 us, and there are two for a call.
    #[arg(long, env = "INSTRUMENT_CPU", hide_env_values = true)]
    cpu: bool,

    /// Record objects by class and context; with objects also when each was freed
    ///
    /// Arrays and clones made by classes of the JDK are not seen, unless --include names these classes, or --heap-all is given.
    #[arg(long, value_name = "LEVEL", value_parser = words::<Heap>(), env = "INSTRUMENT_HEAP", hide_env_values = true)]
    heap: Option<Heap>,

    /// Record only objects of these classes: com.acme.**, int[], com.acme.Foo[]; repeatable
    #[arg(hide_short_help = true, long, value_name = "PATTERN", requires = "heap")]
    heap_include: Vec<String>,

    /// Do not record objects of these classes; repeatable
    #[arg(hide_short_help = true, long, value_name = "PATTERN", requires = "heap")]
    heap_exclude: Vec<String>,

    /// Record every object and array that the JVM allocates, also those of the JDK, reflection and native code
    ///
    /// The JVM reports each (JVMTI SampledObjectAlloc), which takes about 0.4 us; no class is rewritten for it.
    #[arg(
        hide_short_help = true,
        long,
        requires = "heap",
        conflicts_with = "early",
        env = "INSTRUMENT_HEAP_ALL",
        hide_env_values = true
    )]
    heap_all: bool,

    /// Seconds for the search of what holds leak suspects, when the program ends; 0: no search [default: 10]
    ///
    /// It goes with --heap objects.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "SECONDS",
        requires = "heap",
        env = "INSTRUMENT_HEAP_HOLDERS",
        hide_env_values = true,
        value_parser = clap::value_parser!(u32).range(..=86_400)
    )]
    heap_holders: Option<u32>,

    /// Do not rewrite these classes at all, not even for --heap; repeatable
    ///
    /// --include and --exclude choose the methods whose calls are recorded; --heap sees the arrays of all classes of the program.
    #[arg(hide_short_help = true, long, value_name = "PATTERN")]
    no_rewrite: Vec<String>,

    /// Rewrite classes from the start of the JVM on; turns class data sharing off
    ///
    /// So the objects of start-up are recorded, too.
    #[arg(hide_short_help = true, long, env = "INSTRUMENT_EARLY", hide_env_values = true)]
    early: bool,

    /// Write a heap dump (HPROF) when the program ends; %p is the process id
    #[arg(long, value_name = "FILE")]
    heap_dump: Option<PathBuf>,

    /// Record in bursts: --burst 100ms/1s is on for 100 ms of every second, and paused otherwise
    ///
    /// Counts and times are of these bursts only; reports say so. A call that begins in a pause is not recorded.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "ON/PERIOD",
        env = "INSTRUMENT_BURST",
        hide_env_values = true
    )]
    burst: Option<Burst>,

    /// Largest size of the profile, such as 500m; or off [default for traces: 4g]
    ///
    /// Bytes, or a number with k, m or g. What is not recorded then is counted and reported.
    #[arg(long, value_name = "SIZE", env = "INSTRUMENT_LIMIT", hide_env_values = true, value_parser = size)]
    limit: Option<String>,

    /// Keep separate rows of up to N threads that have ended [default: 256]
    ///
    /// Of virtual threads 16 at most. The others are added up by pool, or by the method that started them. A trace has all.
    #[arg(hide_short_help = true, long, value_name = "N", env = "INSTRUMENT_KEEP_THREADS", hide_env_values = true, value_parser = clap::value_parser!(u32).range(..=1 << 20))]
    keep_threads: Option<u32>,

    /// Path of the socket for `instrument ctl`; or off
    #[arg(hide_short_help = true, long, value_name = "PATH", env = "INSTRUMENT_CTL", hide_env_values = true)]
    ctl: Option<PathBuf>,

    /// Clock of the probes: the processor's time-stamp counter (TSC), or System.nanoTime()
    #[arg(hide_short_help = true, long, value_name = "CLOCK", value_parser = words::<Clock>(), env = "INSTRUMENT_CLOCK", hide_env_values = true)]
    clock: Option<Clock>,
}

impl Opts {
    /// What the agent would refuse, or could not do, when the program has started.
    ///
    /// # Errors
    /// Options that contradict each other, and patterns that cannot be read: wrong usage.
    pub(crate) fn check(&self, settings: &Settings) -> Result<()> {
        let has = |transform| settings.transforms.contains(&transform);
        if has(Transform::ObjectInit) {
            return Err(usage(
                "--transform object-init is for rewritten archives; for a run --heap counts records every object",
            ));
        }
        if self.heap.is_some() && has(Transform::Allocation) {
            return Err(usage(
                "--heap records what --transform allocation records, and more: give one of them",
            ));
        }
        if self.heap_holders.is_some() && !matches!(self.heap, Some(Heap::Objects)) {
            return Err(usage("--heap-holders goes with --heap objects, which knows the objects one by one"));
        }
        for patterns in [&self.heap_include, &self.heap_exclude] {
            ObjectPatterns::new(patterns).map_err(|error| usage(error.to_string()))?;
        }
        if let Some(pattern) = self.no_rewrite.iter().find(|pattern| pattern.contains(['#', '('])) {
            return Err(usage(format!(
                "--no-rewrite {pattern}: it names a method, and whole classes are left"
            )));
        }
        Filter::new(&[], &self.no_rewrite).map_err(|error| usage(error.to_string()))?;
        self.check_samples(settings)?;
        if !self.cpu {
            return Ok(());
        }
        if ![Record::Tree, Record::Off].contains(&settings.record) {
            return Err(usage("--cpu: CPU time is recorded with --record tree, not with counts or trace"));
        }
        if let Some(timing @ (Timing::Every(_) | Timing::Samples | Timing::None)) = settings.timing {
            let how = if let Timing::Every(_) = timing { "every:N".to_owned() } else { timing.to_string() };
            return Err(usage(format!(
                "--cpu: CPU time is read at every call; leave out --timing {how}, or --cpu"
            )));
        }
        Ok(())
    }

    /// What does not go with `--record samples`, and what goes only with it.
    fn check_samples(&self, settings: &Settings) -> Result<()> {
        if settings.record != Record::Samples {
            let others = [
                ("--sample-rate", self.sample_rate.is_some()),
                ("--sample-event", self.sample_event.is_some()),
            ];
            return match others.iter().find(|(_, is_given)| *is_given) {
                Some((option, _)) => Err(usage(format!("{option} goes with --record samples"))),
                None => Ok(()),
            };
        }
        if let (Some(_), Some(event)) = (self.sample_rate, self.sample_event.filter(|of| !of.event.is_time()))
        {
            let event = event.event.word();
            return Err(usage(format!(
                "--sample-rate is of time: write --sample-event {event}:N in its place"
            )));
        }
        let others = [
            ("--transform or --values", !settings.transforms.is_empty()),
            ("--library-calls", settings.library_calls != LibraryCalls::None),
            ("--native", settings.native),
            ("--root", !settings.roots.is_empty()),
            ("--region", !settings.regions.is_empty()),
            ("--ids", settings.ids.is_some()),
            ("--account", settings.report.is_some()),
            ("--heap", self.heap.is_some()),
            ("--no-rewrite", !self.no_rewrite.is_empty()),
            ("--early", self.early),
            ("--monitors", self.monitors),
        ];
        match others.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(usage(format!(
                "--record samples rewrites nothing and records nothing but samples of stacks: leave out {option}, or --record samples"
            ))),
            None => Ok(()),
        }
    }

    /// Whether this machine, on which the program is to start, has what is to be sampled. A program that runs is asked by its agent: it may be
    /// in a container that forbids more.
    ///
    /// # Errors
    /// Why it has not, and what to do: wrong usage.
    pub(crate) fn check_machine(&self) -> Result<()> {
        let Some(SampledEvent { event, .. }) = self.sample_event else { return Ok(()) };
        can_sample(event).map_err(|reason| usage(format!("--sample-event {}: {reason}", event.word())))
    }

    /// Where requests are answered, if that was said: a path, or `off`.
    #[cfg(target_os = "linux")]
    pub(crate) fn ctl(&self) -> Option<&Path> {
        self.ctl.as_deref()
    }

    /// Whether the CPU time of calls is to be recorded.
    pub(crate) fn has_cpu(&self) -> bool {
        self.cpu
    }

    /// Whether objects are to be recorded.
    pub(crate) fn has_heap(&self) -> bool {
        self.heap.is_some()
    }

    /// Whether recording is to pause now and then.
    pub(crate) fn has_bursts(&self) -> bool {
        self.burst.is_some()
    }

    /// Whether classes are to be rewritten from the start of the virtual machine on.
    pub(crate) fn is_early(&self) -> bool {
        self.early
    }

    /// As the agent takes them.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub(crate) fn options(&self) -> Result<Vec<(&'static str, String)>> {
        let mut options = Vec::new();
        if self.monitors {
            options.push((keys::THREADS, "on".to_owned()));
            options.push((keys::OWNERS, self.owners.word().to_owned()));
        }
        options.extend(self.sample_rate.map(|rate| (keys::SAMPLE_RATE, rate.to_string())));
        options.extend(self.sample_event.map(|event| (keys::SAMPLE_EVENT, event.to_string())));
        if self.cpu {
            options.push((keys::CPU, "true".to_owned()));
        }
        options.extend(self.heap.iter().map(|level| (keys::HEAP, level.word().to_owned())));
        options.extend(self.heap_include.iter().map(|pattern| (keys::HEAP_INCLUDE, pattern.clone())));
        options.extend(self.heap_exclude.iter().map(|pattern| (keys::HEAP_EXCLUDE, pattern.clone())));
        options.extend(self.no_rewrite.iter().map(|pattern| (keys::NO_REWRITE, pattern.clone())));
        if self.heap_all {
            options.push((keys::HEAP_ALL, "on".to_owned()));
        }
        options.extend(self.heap_holders.map(|seconds| (keys::HEAP_HOLDERS, seconds.to_string())));
        if self.early {
            options.push((keys::EARLY, "on".to_owned()));
        }
        for (key, path) in [(keys::HEAP_DUMP, &self.heap_dump), (keys::CTL, &self.ctl)] {
            let Some(path) = path else { continue };
            // A script may change the folder.
            let path = match key == keys::CTL && path == Path::new("off") {
                true => path.clone(),
                false => std::env::current_dir()?.join(path),
            };
            let text = path.to_str().ok_or_else(|| usage(format!("{}: not UTF-8", path.display())))?;
            options.push((key, text.to_owned()));
        }
        options.extend(self.burst.iter().map(|burst| (keys::BURST, burst.to_string())));
        options.extend(self.limit.iter().map(|size| (keys::LIMIT, size.clone())));
        options.extend(self.keep_threads.map(|threads| (keys::KEEP_THREADS, threads.to_string())));
        options.extend(self.clock.iter().map(|clock| (keys::CLOCK, clock.word().to_owned())));
        Ok(options)
    }
}

/// A size as the recorder reads it.
fn size(text: &str) -> Result<String, &'static str> {
    if text == "off" {
        return Ok(text.to_owned());
    }
    let number = text.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']).unwrap_or(text);
    // The recorder multiplies by 2^30 at most.
    match number.parse::<u64>() {
        Ok(number) if number <= (i64::MAX >> 30) as u64 => Ok(text.to_owned()),
        _ => Err("a size is a number of bytes, or a number with k, m or g: 500m; or off"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_recorder() {
        for text in ["0", "1048576", "500m", "2G", "off"] {
            assert_eq!(size(text).as_deref(), Ok(text));
        }
        for text in ["", "m", "5mb", "-1", "1.5g", "99999999999999g"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
