//! What threads waited for, summed up: by monitor, by thread, by context. Memory is bounded by these, not by the number of waits; past
//! a limit monitors are told apart by their class only.

use instrument_trace::{Error, JavaThread, Profile, Source, ThreadKind, Wait, WaitKind};

use crate::hash::HashMap;

/// Monitors that are told apart.
const MOST_MONITORS: usize = 1 << 18;
/// Threads that are named, over all monitors, and pairs of threads.
const MOST_NAMED: usize = 1 << 20;
/// In the place of the number of a monitor: all past the limit.
pub const OTHERS: u32 = u32::MAX;

/// The name of a thread that is not in the file.
pub(crate) const UNKNOWN_THREAD: &str = "(unknown thread)";

/// Waits of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    pub times: u64,
    /// Their ns.
    pub ns: u64,
    /// The longest, ns.
    pub max: u64,
    /// Those that did not end; they count up to the last moment that is known.
    pub open: u64,
    /// Those whose timeout ran out.
    pub timed_out: u64,
}

/// Waits by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Both {
    /// To enter a monitor.
    pub contended: Sum,
    /// In `Object.wait`.
    pub waiting: Sum,
}

/// What was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monitor {
    /// Copy of the runtime.
    pub copy: u32,
    /// Its class number.
    pub class: u32,
    /// Its number; 0: unknown; [`OTHERS`]: all that are not told apart.
    pub number: u32,
}

/// The waits for a monitor.
#[derive(Debug, Clone, Default)]
pub struct MonitorWaits {
    pub all: Both,
    /// By number of the thread that waited; 0: those that are not named.
    pub threads: HashMap<u32, Both>,
    /// Contended ones by number of the thread that had it; 0: unknown, or not named.
    pub owners: HashMap<u32, Sum>,
    /// ns by context in which threads waited; 0: unknown, or not named.
    pub contexts: HashMap<u32, u64>,
}

/// The waits of a profile.
#[derive(Debug, Clone, Default)]
pub struct Waits {
    pub all: Both,
    /// By what was waited for.
    pub monitors: HashMap<Monitor, MonitorWaits>,
    /// By copy and number of the thread.
    pub threads: HashMap<(u32, u32), Both>,
    /// Contended ones by copy, number of the thread that waited, and number of the one that had the monitor; 0: unknown, or not named.
    pub pairs: HashMap<(u32, u32, u32), Sum>,
    /// By copy, number of the thread and context: ns contended and waiting.
    pub contexts: HashMap<(u32, u32, u32), (u64, u64)>,
    /// Contended waits of which it is known who had the monitor.
    pub owned: u64,
    /// Waits of kinds that are not known here.
    pub unknown: u64,
    /// The clock up to which waits count that did not end.
    pub end: u64,
    named: usize,
}

impl Sum {
    fn add(&mut self, wait: &Wait, ns: u64) {
        self.times += 1;
        self.ns = self.ns.saturating_add(ns);
        self.max = self.max.max(ns);
        self.open += u64::from(wait.end == 0);
        self.timed_out += u64::from(wait.timed_out);
    }

    /// ns of one; none if there is none.
    pub fn mean(&self) -> Option<f64> {
        (self.times > 0).then(|| self.ns as f64 / self.times as f64)
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Sum) {
        self.times += other.times;
        self.ns = self.ns.saturating_add(other.ns);
        self.max = self.max.max(other.max);
        self.open += other.open;
        self.timed_out += other.timed_out;
    }
}

impl Both {
    fn of(&mut self, kind: WaitKind) -> Option<&mut Sum> {
        match kind {
            WaitKind::Contended => Some(&mut self.contended),
            WaitKind::Waiting => Some(&mut self.waiting),
            WaitKind::Other(_) => None,
        }
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Both) {
        self.contended.merge(&other.contended);
        self.waiting.merge(&other.waiting);
    }

    /// ns of both.
    pub fn ns(&self) -> u64 {
        self.contended.ns.saturating_add(self.waiting.ns)
    }
}

/// Sums up the waits of the threads that are wanted by name; none if nobody looked for any. Those that did not end count up to the end of their thread, or
/// to the last moment of the process that is known.
///
/// # Errors
/// When the source fails.
pub fn gather(
    source: &impl Source,
    profile: &Profile,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Option<Waits>, Error> {
    if profile.waits.is_empty() && profile.java_threads.is_empty() {
        return Ok(None);
    }
    let mut waits = Waits { end: end(source, profile)?, ..Waits::default() };
    let names = names(profile);
    let wanted = |number| wanted(names.get(&number).map_or(UNKNOWN_THREAD, String::as_str));
    let mut known: HashMap<(u32, u32), bool> = HashMap::default();
    profile.for_each_wait(source, |wait| {
        let number = (wait.copy, wait.thread);
        if *known.entry(number).or_insert_with(|| wanted(number)) {
            let end = until(profile, wait, waits.end);
            if profile.window_clock == 0 || end > profile.window_clock {
                waits.add(wait, end.saturating_sub(wait.start.max(profile.window_clock)));
            }
        }
    })?;
    Ok(Some(waits))
}

/// Names of the Java threads of a profile, by copy and number: those by which the threads that have recorded something can be told
/// apart, and for others the plain ones.
pub fn names(profile: &Profile) -> HashMap<(u32, u32), String> {
    let recorded = profile.threads.iter().zip(crate::load::thread_rows::single(profile));
    let recorded = recorded.filter(|(thread, _)| thread.kind == ThreadKind::Thread);
    let recorded: HashMap<_, _> =
        recorded.map(|(thread, name)| ((thread.copy, thread.ordinal), name)).collect();
    let name = |thread: &JavaThread| match recorded.get(&(thread.copy, thread.ordinal)) {
        Some(name) if thread.ordinal != 0 => name.clone(),
        _ => plain_name(thread).to_owned(),
    };
    profile.java_threads.iter().map(|thread| ((thread.copy, thread.number), name(thread))).collect()
}

/// A thread's own name, or words for it.
pub(crate) fn plain_name(thread: &JavaThread) -> &str {
    match thread.name.as_str() {
        "" if thread.virtual_thread => "(virtual threads)",
        "" => "(no name)",
        name => name,
    }
}

/// The clock at the end of a wait; `last`: of the process.
pub(crate) fn until(profile: &Profile, wait: &Wait, last: u64) -> u64 {
    if wait.end != 0 {
        return wait.end;
    }
    let thread = profile.java_thread(wait.copy, wait.thread).map_or(0, |thread| thread.end);
    if thread != 0 { thread } else { last }
}

/// The last moment of the process that is known.
pub(crate) fn end(source: &impl Source, profile: &Profile) -> Result<u64, Error> {
    let threads = profile.threads.iter().map(|thread| thread.last_event.max(thread.end));
    let known = threads.chain(profile.java_threads.iter().map(|thread| thread.start.max(thread.end)));
    let mut last = known.max().unwrap_or(0).max(profile.beat_clock).max(profile.shutdown_clock);
    profile.for_each_wait(source, |wait| last = last.max(wait.start).max(wait.end))?;
    Ok(last)
}

impl Waits {
    fn add(&mut self, wait: &Wait, ns: u64) {
        let Some(sum) = self.all.of(wait.kind) else {
            self.unknown += 1;
            return;
        };
        sum.add(wait, ns);
        let add = |both: &mut Both| both.of(wait.kind).into_iter().for_each(|sum| sum.add(wait, ns));
        add(self.threads.entry((wait.copy, wait.thread)).or_default());
        let context = self.contexts.entry((wait.copy, wait.thread, wait.context)).or_default();
        let ns_of = if wait.kind == WaitKind::Contended { &mut context.0 } else { &mut context.1 };
        *ns_of = ns_of.saturating_add(ns);
        self.owned += u64::from(wait.owner != 0);

        let mut monitor = Monitor { copy: wait.copy, class: wait.class, number: wait.monitor };
        if self.monitors.len() >= MOST_MONITORS && !self.monitors.contains_key(&monitor) {
            monitor.number = OTHERS;
        }
        let of = self.monitors.entry(monitor).or_default();
        add(&mut of.all);
        let mut name = |known: bool, number: u32| {
            let number = if known || self.named < MOST_NAMED { number } else { 0 };
            self.named += usize::from(!known && number != 0);
            number
        };
        let thread = name(of.threads.contains_key(&wait.thread), wait.thread);
        add(of.threads.entry(thread).or_default());
        let context = name(of.contexts.contains_key(&wait.context), wait.context);
        let ns_of = of.contexts.entry(context).or_default();
        *ns_of = ns_of.saturating_add(ns);
        if wait.kind == WaitKind::Contended {
            let owner = name(of.owners.contains_key(&wait.owner), wait.owner);
            of.owners.entry(owner).or_default().add(wait, ns);
            let mut pair = (wait.copy, wait.thread, wait.owner);
            if !self.pairs.contains_key(&pair) {
                if self.named >= MOST_NAMED {
                    pair = (wait.copy, 0, 0);
                } else {
                    self.named += 1;
                }
            }
            self.pairs.entry(pair).or_default().add(wait, ns);
        }
    }
}
