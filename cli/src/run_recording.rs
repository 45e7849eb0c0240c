//! What `instrument run` records beside calls: options that only the agent has.

use crate::exit::usage;
use crate::settings::{Record, Settings, Timing, Transform};
use anyhow::Result;
use clap::ValueEnum;
use instrument_names::types::ObjectPatterns;
use instrument_rewriter::filter::Filter;
use std::path::{Path, PathBuf};

/// What else is recorded.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    /// Record threads, and what they wait for: monitors and java.util.concurrent locks that others have, Object.wait, and parking. Without it the wait to enter a monitor is running time
    #[arg(long, env = "INSTRUMENT_MONITORS", hide_env_values = true)]
    monitors: bool,

    /// Ask the virtual machine, which stops all threads to tell, who has a monitor: as long as that takes 2 % of the time, always, or never
    #[arg(long, value_name = "WHEN", value_enum, default_value = "on", requires = "monitors")]
    owners: Owners,

    /// Record CPU time of every call, too; goes with --record tree. A reading takes about 0.4 us, and there are two for a call
    #[arg(long, env = "INSTRUMENT_CPU", hide_env_values = true)]
    cpu: bool,

    /// Record objects by class and context; with objects also when each was gone. Not seen are arrays and clones made by classes of the
    /// JDK, unless --include names these, or --heap-all is given
    #[arg(long, value_name = "LEVEL", env = "INSTRUMENT_HEAP", hide_env_values = true)]
    heap: Option<Heap>,

    /// Of which classes objects are recorded: patterns as for --include, arrays as int[], com.acme.Foo[]; repeatable
    #[arg(long, value_name = "PATTERN", requires = "heap")]
    heap_include: Vec<String>,

    /// Of which they are not; repeatable
    #[arg(long, value_name = "PATTERN", requires = "heap")]
    heap_exclude: Vec<String>,

    /// Record every object and array that the JVM allocates, those made by classes of the JDK, reflection and native code included. The JVM
    /// reports each (JVMTI SampledObjectAlloc), which takes about 0.4 us; no class is rewritten for it
    #[arg(
        long,
        requires = "heap",
        conflicts_with = "early",
        env = "INSTRUMENT_HEAP_ALL",
        hide_env_values = true
    )]
    heap_all: bool,

    /// Classes that are not rewritten at all, not even for --heap; repeatable. (--include and --exclude choose the methods whose calls are
    /// recorded; --heap sees the arrays of all classes of the program)
    #[arg(long, value_name = "PATTERN")]
    no_rewrite: Vec<String>,

    /// Rewrite classes from the first one on: objects of start-up are seen, too, but class data sharing is off
    #[arg(long, env = "INSTRUMENT_EARLY", hide_env_values = true)]
    early: bool,

    /// Write what can be reached on the heap when the program ends, as HPROF; %p is the process id
    #[arg(long, value_name = "FILE")]
    heap_dump: Option<PathBuf>,

    /// The profile grows no larger than this: bytes, or a number with k, m or g. What is not recorded then is counted and reported
    #[arg(long, value_name = "SIZE", env = "INSTRUMENT_LIMIT", hide_env_values = true, value_parser = size)]
    limit: Option<String>,

    /// Up to this many threads keep rows of their own after they ended, of virtual ones 16 at most; the others are added up by
    /// pool, or by the method that started them. A trace has all [default: 256]
    #[arg(long, value_name = "N", env = "INSTRUMENT_KEEP_THREADS", hide_env_values = true, value_parser = clap::value_parser!(u32).range(..=1 << 20))]
    keep_threads: Option<u32>,

    /// Where `instrument ctl` finds the program: a path for its socket; or off
    #[arg(long, value_name = "PATH", env = "INSTRUMENT_CTL", hide_env_values = true)]
    ctl: Option<PathBuf>,

    /// The clock of the probes: the processor's counter, where the system tells the time by it, or System.nanoTime()
    #[arg(long, value_name = "CLOCK", env = "INSTRUMENT_CLOCK", hide_env_values = true)]
    clock: Option<Clock>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Owners {
    On,
    All,
    Off,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Heap {
    /// How many, of which class, in which context
    Counts,
    /// Each with its birth and its end
    Objects,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Clock {
    Tsc,
    Monotonic,
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
        for patterns in [&self.heap_include, &self.heap_exclude] {
            ObjectPatterns::new(patterns).map_err(|error| usage(error.to_string()))?;
        }
        if let Some(pattern) = self.no_rewrite.iter().find(|pattern| pattern.contains(['#', '('])) {
            return Err(usage(format!(
                "--no-rewrite {pattern}: it names a method, and whole classes are left"
            )));
        }
        Filter::new(&[], &self.no_rewrite).map_err(|error| usage(error.to_string()))?;
        if !self.cpu {
            return Ok(());
        }
        if ![Record::Tree, Record::Off].contains(&settings.record) {
            return Err(usage("--cpu: CPU time is recorded with --record tree, not with counts or trace"));
        }
        if matches!(settings.timing, Timing::Sampled(_)) {
            return Err(usage(
                "--cpu: CPU time is read at every call; leave out --timing sampled:N, or --cpu",
            ));
        }
        Ok(())
    }

    /// As the agent takes them.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub(crate) fn options(&self) -> Result<Vec<(&'static str, String)>> {
        let mut options = Vec::new();
        if self.monitors {
            options.push(("threads", "on".to_owned()));
            options.push(("owners", word(&self.owners)));
        }
        if self.cpu {
            options.push(("cpu", "true".to_owned()));
        }
        options.extend(self.heap.iter().map(|level| ("heap", word(level))));
        options.extend(self.heap_include.iter().map(|pattern| ("heap-include", pattern.clone())));
        options.extend(self.heap_exclude.iter().map(|pattern| ("heap-exclude", pattern.clone())));
        options.extend(self.no_rewrite.iter().map(|pattern| ("no-rewrite", pattern.clone())));
        if self.heap_all {
            options.push(("heap-all", "on".to_owned()));
        }
        if self.early {
            options.push(("early", "on".to_owned()));
        }
        for (key, path) in [("heap-dump", &self.heap_dump), ("ctl", &self.ctl)] {
            let Some(path) = path else { continue };
            // A script may change the folder.
            let path = match key == "ctl" && path == Path::new("off") {
                true => path.clone(),
                false => std::env::current_dir()?.join(path),
            };
            let text = path.to_str().ok_or_else(|| usage(format!("{}: not UTF-8", path.display())))?;
            options.push((key, text.to_owned()));
        }
        options.extend(self.limit.iter().map(|size| ("limit", size.clone())));
        options.extend(self.keep_threads.map(|threads| ("keep-threads", threads.to_string())));
        options.extend(self.clock.iter().map(|clock| ("clock", word(clock))));
        Ok(options)
    }
}

/// A value as it is written.
fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// A size as the recorder reads it.
fn size(text: &str) -> Result<String, &'static str> {
    let number = text.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']).unwrap_or(text);
    // The recorder multiplies by 2^30 at most.
    match number.parse::<u64>() {
        Ok(number) if number <= (i64::MAX >> 30) as u64 => Ok(text.to_owned()),
        _ => Err("a size is a number of bytes, or a number with k, m or g: 500m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_recorder() {
        for text in ["0", "1048576", "500m", "2G"] {
            assert_eq!(size(text).as_deref(), Ok(text));
        }
        for text in ["", "m", "5mb", "-1", "1.5g", "99999999999999g"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
