//! What is known of traces after they were read once: their trees, and an index by which a window of time is answered
//! without reading them again; in memory, and kept in a folder.
//!
//! | module | |
//! |---|---|
//! | [`index`] | the index of one thread's trace: windows, pictures |
//! | [`build`] | how it is made |
//! | [`account`] | whose time it is |
//! | [`levels`] | calls at several levels of detail |
//! | [`key`] | by what a trace is recognised |
//! | [`cache`] | a folder of what is known, of bounded size |
//! | [`kept`], [`words`] | how it is written there |

pub(crate) mod account;
mod build;
mod cache;
pub(crate) mod index;
mod kept;
mod key;
pub(crate) mod levels;
mod words;

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

use instrument_trace::{Error, Profile};
use rayon::prelude::*;

pub use cache::Cache;
pub(crate) use index::Index;
pub use index::Share;

use crate::replay::{self, Limits};
use kept::Known;

/// What the indexes of all traces may take together: 96 MiB for sums, 56 MiB for each level of detail, of which a few
/// are full.
const TOTAL: Share = Share { sums: 3 << 20, boxes: 1 << 20 };
/// What each may take at least.
const LEAST: Share = Share { sums: 1 << 8, boxes: 1 << 6 };

/// The room that each of so many traces has.
pub(crate) fn share(traces: usize) -> Share {
    let traces = traces.max(1);
    Share { sums: (TOTAL.sums / traces).max(LEAST.sums), boxes: (TOTAL.boxes / traces).max(LEAST.boxes) }
}

/// How traces are read.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reading<'a> {
    /// Where it is looked for and kept what is known of them; none: only in memory.
    pub(crate) cache: Option<&'a Cache>,
    /// Their indexes are wanted, too; it is told the bytes that were read.
    pub(crate) index: Option<&'a (dyn Fn(u64) + Sync)>,
}

/// Indexes by copy and ordinal of their thread.
pub(crate) type Indexes = HashMap<(u32, u32), Arc<Index>>;

/// Replays the traces of a profile as [`replay::profile`] does, with an index of each if that is wanted; or takes what
/// is known from the cache. `profiles`: how many share the room. `is_live`: it may grow, and is not kept. The text says
/// why it was not kept, if that failed.
///
/// # Errors
/// When the source fails.
pub(crate) fn read(
    source: &File,
    profile: &mut Profile,
    profiles: usize,
    is_live: bool,
    reading: Reading<'_>,
) -> Result<(Indexes, Option<String>), Error> {
    let traces = profile.threads.iter().filter(|thread| replay::is_to_replay(thread)).count();
    if traces == 0 {
        return Ok((Indexes::new(), None));
    }
    let share = share(traces.saturating_mul(profiles));
    let cache = reading.cache.filter(|_| !is_live);
    let key = cache.and_then(|_| key::key(source, profile, share));
    if let (Some(cache), Some(key)) = (cache, &key)
        && let Some(known) = cache.read(key, profile, reading.index.is_some())
    {
        return Ok((take(profile, known), None));
    }
    let threads = profile.threads.par_iter_mut().filter(|thread| replay::is_to_replay(thread));
    let read = threads.map(|thread| {
        let (index, found) = match reading.index {
            Some(advance) => {
                let (index, found) = Index::with_tree(source, thread, share, advance)?;
                (Some(index), found)
            }
            None => (None, replay::thread(source, thread, &Limits::default())?),
        };
        Ok(((thread.copy, thread.ordinal), found, index))
    });
    let read = read.collect::<Result<Vec<_>, Error>>()?;
    let mut failed = None;
    if let (Some(cache), Some(key)) = (cache, key)
        && key::is_settled(source, profile)
        && key::key(source, profile, share).as_ref() == Some(&key)
    {
        let threads: HashMap<_, _> = profile.threads.iter().map(|t| ((t.copy, t.ordinal), t)).collect();
        let known =
            read.iter().filter_map(|(of, found, index)| Some((*threads.get(of)?, found, index.as_ref())));
        let written = cache.write(&key, &known.collect::<Vec<_>>());
        failed = written.err().map(|error| format!("{}: {error}", cache.folder().display()));
    }
    let (mut all, mut indexes) = (Vec::new(), Indexes::new());
    for (of, found, index) in read {
        all.push(found);
        indexes.extend(index.map(|index| (of, Arc::new(index))));
    }
    replay::add(profile, all);
    Ok((indexes, failed))
}

/// Gives a profile what is known of its traces.
fn take(profile: &mut Profile, known: Vec<Known>) -> Indexes {
    let (mut all, mut indexes) = (Vec::new(), Indexes::new());
    let threads = profile.threads.iter_mut().filter(|thread| replay::is_to_replay(thread));
    for (thread, known) in threads.zip(known) {
        let of = (thread.copy, thread.ordinal);
        indexes.extend(known.index.map(|index| (of, Arc::new(index))));
        *thread = known.thread;
        all.push(known.found);
    }
    replay::add(profile, all);
    indexes
}

#[cfg(test)]
mod tests;
