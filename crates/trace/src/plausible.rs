//! Figures that no recording can have: a profile without a checksum (see [`crate::seal`]) may be damaged as well.

use crate::error::Damage;
use crate::hash::HashMap;
use crate::profile::Profile;
use crate::thread::{Thread, ThreadKind};
use crate::tree::{NO_MIN, TreeConsumer, TreeNode};

/// Calls, objects, bytes: no program has so many, at one each ns for two years.
const MOST: u64 = 1 << 56;
/// ns by which a time may be more than the process lived: clocks differ, and the last beat may be long ago.
const DAY: u64 = 86_400_000_000_000;
/// 365 days in ns.
const YEAR: u64 = 365 * DAY;
/// Processes have fewer bits, whatever the system is.
const MOST_PID: u64 = u32::MAX as u64;
/// The year 2200, in ms.
const LAST_YEAR: u64 = 7_258_118_400_000;
/// No program has so many threads, one after the other.
const MOST_THREADS: u32 = 1 << 28;
/// Numbers are given one after the other. So far behind the last that is known none can be.
const GAP: u32 = 1 << 20;

impl Profile {
    /// What cannot be true: times that are longer than the process lived, counts that no program comes to, numbers of links and classes that
    /// were never given. Of a process that still writes, figures may be torn: it is not to be asked.
    pub fn implausible(&self) -> Vec<Damage> {
        let mut found = Vec::new();
        let mut say = |structure: &'static str, reason: String| {
            found.push(Damage { offset: 0, structure, reason });
        };
        let lived = self.lived();
        if let Err(reason) = lived {
            say("file header", reason.into());
        }
        // Of a process that was killed the last moment is not known, only the last one of which something was written.
        let slack = if self.shutdown_clock == 0 { YEAR } else { DAY };
        let lived = lived.unwrap_or_default().map(|ns| ns.saturating_mul(2).saturating_add(slack));
        if self.pid > MOST_PID || self.start_ms > LAST_YEAR || self.dropped >= MOST {
            say("file header", "its process, its date or its number of dropped events cannot be true".into());
        }
        if let Some(copy) = self.copies.keys().copied().chain(self.threads.iter().map(|of| of.copy)).max()
            && beyond(0, copy)
        {
            say("block", format!("there is no copy {copy} of the runtime"));
        }
        let ordinals = self.threads.iter().map(|thread| thread.ordinal);
        let ordinals = ordinals.chain(self.links.iter().map(|link| link.thread));
        if let Some(ordinal) = ordinals.max().filter(|&ordinal| ordinal >= MOST_THREADS) {
            say("thread", format!("there is no thread {ordinal}"));
        }
        let mut last: HashMap<u32, Last> = HashMap::default();
        for link in &self.links {
            let of_copy = last.entry(link.copy).or_default();
            of_copy.link = of_copy.link.max(link.number);
        }
        for (&copy, data) in &self.copies {
            last.entry(copy).or_default().class = data.class_names.keys().max().copied().unwrap_or(0);
        }
        for thread in &self.threads {
            let last = last.get(&thread.copy).copied().unwrap_or_default();
            if let Some(reason) = self.of_thread(thread, lived, last) {
                say("figures", format!("thread {:?}: {reason}", thread.name));
            }
        }
        let threads = self.threads.iter().map(most_threads).fold(0, u64::saturating_add);
        let longest = lived.map_or(u64::MAX, |ns| ns.saturating_mul(threads.max(1)));
        let is_wrong = |ns: u64| ns > longest;
        for region in &self.regions {
            let min = if region.min == NO_MIN { 0 } else { region.min };
            let times = [region.ns, min, region.max].into_iter().chain(region.last.iter().map(|one| one.ns));
            if times.into_iter().any(is_wrong)
                || region.number == u32::MAX
                || region.passages.max(region.left_otherwise) >= MOST
            {
                say("region timings", format!("those of region {} cannot be true", region.number));
            }
        }
        found
    }

    /// ns from the first moment to the last one; none: the profile has no clock.
    fn lived(&self) -> Result<Option<u64>, &'static str> {
        let of_threads = self.threads.iter().flat_map(|thread| [thread.start, thread.end, thread.last_event]);
        let of_java = self.java_threads.iter().flat_map(|thread| [thread.start, thread.end]);
        let moments = of_threads.chain(of_java).chain([self.beat_clock, self.shutdown_clock]);
        let Some(last) = moments.filter(|&at| at != 0).max().filter(|_| self.start_clock != 0) else {
            return Ok(None);
        };
        match last.checked_sub(self.start_clock) {
            Some(ns) if ns < MOST => Ok(Some(ns)),
            // A machine may have been asleep, and a thread may be a little older than the recording; but not by years.
            _ if self.start_clock - last.min(self.start_clock) < DAY && last < self.start_clock => {
                Ok(Some(0))
            }
            _ => Err("its moments are years apart"),
        }
    }

    /// The first figure of a thread that cannot be true.
    fn of_thread(&self, thread: &Thread, lived: Option<u64>, last: Last) -> Option<String> {
        // Where some calls were timed their times are estimates. How many threads of another run a sum has is not known.
        let is_bound =
            !thread.tree.as_ref().is_some_and(|tree| tree.sampled) && thread.kind != ThreadKind::Ended(0);
        let longest =
            lived.filter(|_| is_bound).map_or(MOST, |ns| ns.saturating_mul(most_threads(thread)).min(MOST));
        if most_threads(thread) > MOST_PID {
            return Some(format!("it is a sum of {} threads", most_threads(thread)));
        }
        let event = self.sampled_event().is_some();
        let too_long = |what: &str, ns: u64| {
            (ns > longest).then(|| format!("{what} takes {ns} ns, longer than the process lived"))
        };
        let too_many = |what: &str, count: u64| (count >= MOST).then(|| format!("there are {count} {what}"));
        let no_class = |class: u32| beyond(last.class, class).then(|| format!("there is no class {class}"));
        let no_link = |link: u32| beyond(last.link, link).then(|| format!("there is no link {link}"));
        let of_node = |node: &TreeNode| {
            let min = if node.min == NO_MIN { 0 } else { node.min };
            // What is the square of a time, as a time.
            let roots = [node.sum_squares, node.variance].map(|squares| squares.max(0.0).sqrt() as u64);
            [node.ns, node.open_ns, node.cpu_ns, min, node.max, roots[0], roots[1]]
                .into_iter()
                .find_map(|ns| too_long("a context", ns))
                .or_else(|| {
                    let counts = node.closes.total().max(node.entries).max(node.unmatched);
                    let others = node.open.max(node.timed).max(node.samples).max(node.bytecodes);
                    too_many("calls or samples in a context", counts.max(others))
                })
                .or_else(|| match node.consumer {
                    TreeConsumer::Link(link) => no_link(link),
                    _ => None,
                })
        };
        let of_tree = thread.tree.iter().find_map(|tree| {
            tree.nodes
                .iter()
                .find_map(of_node)
                .or_else(|| too_many("calls without a context", tree.recursive.max(tree.durations_left_out)))
        });
        let made = thread.allocations.iter().map(|made| (made.class, made.count));
        let made =
            made.chain(thread.tree_allocations.iter().map(|made| (made.class, made.count.max(made.bytes))));
        of_tree
            .or_else(|| {
                thread.methods.values().find_map(|of| {
                    let counts = of.closes.total().max(of.entries).max(of.unmatched).max(of.open);
                    too_many("calls of a method", counts.max(of.samples).max(of.bytecodes))
                })
            })
            .or_else(|| made.clone().find_map(|(_, count)| too_many("objects or bytes", count)))
            .or_else(|| made.clone().find_map(|(class, _)| no_class(class)))
            .or_else(|| {
                // Of a thread that is being folded, what is left may be of what has gone.
                let count = Some(thread.homeless).filter(|&count| count > 0 && !thread.in_transition)?;
                Some(format!("{count} of its figures are of contexts or methods that are not there"))
            })
            .or_else(|| too_many("events that were dropped", thread.dropped))
            .or_else(|| too_long("the recorder", thread.pause))
            .or_else(|| no_link(thread.link))
            .or_else(|| {
                let samples = thread.samples?;
                let counts = samples.outside().max(samples.in_vm).max(samples.period_ns);
                too_many("samples", counts)
                    .or_else(|| too_long("the sampler", samples.handler_ns))
                    .or_else(|| if event { None } else { too_long("the thread", samples.cpu_ns) })
            })
    }
}

/// The last numbers that were given in a copy of the runtime.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    link: u32,
    class: u32,
}

/// Threads that a thread's figures are of.
fn most_threads(thread: &Thread) -> u64 {
    match thread.kind {
        ThreadKind::Thread => 1,
        ThreadKind::Ended(threads) => threads.max(1),
    }
}

/// Whether a number is far behind the last that is known.
pub fn beyond(last: u32, number: u32) -> bool {
    number > last.saturating_add(GAP)
}
