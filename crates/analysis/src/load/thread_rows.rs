//! Threads as rows. Each can be a row of its own; by default those of a pool are one, as
//! `http-nio-8080-exec-*`, and those without a name are one row for each method that started them, as virtual threads are.

use std::collections::BTreeMap;

use instrument_trace::{Profile, Thread, ThreadKind};

use super::MethodNames;
use crate::hash::HashMap;

/// Pools of one kind that are rows of their own, as `pool-1-thread-*` and `pool-2-thread-*`: where there are more, all are one.
const MOST_POOLS: usize = 16;

/// Names by which the threads of a profile can be told apart: those of one name by their ordinals.
pub(crate) fn single(profile: &Profile) -> Vec<String> {
    let names: Vec<_> = profile.threads.iter().map(plain).collect();
    let mut met = HashMap::default();
    // A sum of no thread has figures of those of its name.
    let is_thread = |thread: &Thread| thread.kind != ThreadKind::Ended(0);
    for (_, name) in profile.threads.iter().zip(&names).filter(|(thread, _)| is_thread(thread)) {
        *met.entry(*name).or_insert(0) += 1;
    }
    let unique = profile.threads.iter().zip(&names).map(|(thread, name)| {
        if !is_thread(thread) || met[name] == 1 {
            return (*name).to_owned();
        }
        let copy = if thread.copy > 1 { format!(" of copy {}", thread.copy) } else { String::new() };
        format!("{name} #{}{copy}", thread.ordinal)
    });
    unique.collect()
}

fn plain(thread: &Thread) -> &str {
    match thread.kind {
        ThreadKind::Ended(_) if thread.name.is_empty() => "(ended threads)",
        ThreadKind::Thread if thread.name.is_empty() => "(no name)",
        _ => &thread.name,
    }
}

/// The row of each thread; `None`: it is not wanted, neither by its own name nor by that of its pool.
pub(crate) fn rows(
    profile: &Profile,
    methods: MethodNames<'_>,
    split: bool,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<Option<String>> {
    let single = single(profile);
    let mut rows: Vec<_> = single.iter().map(|name| wanted(name).then(|| name.clone())).collect();
    if split {
        return rows;
    }
    let of_pools = pools(profile, methods);
    let is_wanted: Vec<_> =
        rows.iter().zip(&of_pools).map(|(row, pool)| row.is_some() || wanted(pool)).collect();
    // A pool of which one thread is wanted is that thread.
    let of_wanted = pooled(profile, methods, &is_wanted);
    for (i, row) in of_wanted.into_iter().enumerate() {
        rows[i] = is_wanted[i].then_some(row);
    }
    rows
}

/// The pool of each thread, or its own name if it is alone.
pub fn pools(profile: &Profile, methods: MethodNames<'_>) -> Vec<String> {
    pooled(profile, methods, &vec![true; profile.threads.len()])
}

fn pooled(profile: &Profile, methods: MethodNames<'_>, wanted: &[bool]) -> Vec<String> {
    let threads: Vec<_> = profile.threads.iter().collect();
    let names: Vec<_> = threads.iter().zip(wanted).map(|(t, &wanted)| wanted.then(|| plain(t))).collect();
    let mut rows = by_numbers(&names);
    let indices: HashMap<_, _> = threads.iter().enumerate().map(|(i, t)| ((t.copy, t.ordinal), i)).collect();
    let links: HashMap<_, _> = profile.links.iter().map(|link| ((link.copy, link.number), link)).collect();
    for (row, thread) in rows.iter_mut().zip(&threads).filter(|(_, thread)| thread.name.is_empty()) {
        let starter = links.get(&(thread.copy, thread.link)).and_then(|link| {
            let tree = threads[*indices.get(&(thread.copy, link.thread))?].tree.as_ref()?;
            Some(methods(thread.copy, tree.node(link.node)?.consumer.method()?))
        });
        if let Some(starter) = starter {
            let method = starter.split('(').next().unwrap_or_default();
            *row = format!("(threads started by {method})");
        }
    }
    rows
}

/// A name as the text around its numbers, and the numbers. A number that a letter follows is part of a word.
fn parts(name: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    let (mut from, mut at) = (0, 0);
    while let Some(found) = name[at..].find(|c: char| c.is_ascii_digit() || c == '*') {
        let start = at + found;
        let rest = name[start..].trim_start_matches(|c: char| c.is_ascii_digit());
        // What a recorder has folded already has a `*` in the place of the number.
        let end = if name[start..].starts_with('*') { start + 1 } else { name.len() - rest.len() };
        if !name[end..].starts_with(char::is_alphabetic) {
            texts.push(&name[from..start]);
            numbers.push(&name[start..end]);
            from = end;
        }
        at = end;
    }
    texts.push(&name[from..]);
    (texts, numbers)
}

/// Names of the same text with other numbers are those of a pool: what differs becomes `*`. Where several numbers differ
/// the last one counts the threads and the others the pools.
fn by_numbers(names: &[Option<&str>]) -> Vec<String> {
    let mut rows: Vec<_> = names.iter().map(|name| name.unwrap_or_default().to_owned()).collect();
    let mut kinds: BTreeMap<Vec<&str>, Vec<(usize, Vec<&str>)>> = BTreeMap::new();
    for (i, name) in names.iter().enumerate() {
        if let Some(name) = name {
            let (texts, numbers) = parts(name);
            kinds.entry(texts).or_default().push((i, numbers));
        }
    }
    for (texts, threads) in &kinds {
        let differs = |at: &usize| threads.iter().any(|(_, numbers)| numbers[*at] != threads[0].1[*at]);
        let differing: Vec<_> = (0..texts.len() - 1).filter(differs).collect();
        let Some((_, of_pool)) = differing.split_last() else { continue };
        let mut pools: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for (thread, (_, numbers)) in threads.iter().enumerate() {
            pools.entry(of_pool.iter().map(|&at| numbers[at]).collect()).or_default().push(thread);
        }
        let are_many = pools.len() > MOST_POOLS;
        let (single, whole): (Vec<_>, Vec<_>) =
            pools.into_values().partition(|pool| are_many || pool.len() == 1);
        let mut rename = |threads_of: &[usize], stars: &[usize]| {
            for &thread in threads_of {
                let (i, numbers) = &threads[thread];
                let mut row = texts[0].to_owned();
                for (at, text) in texts[1..].iter().enumerate() {
                    row += if stars.contains(&at) { "*" } else { numbers[at] };
                    row += text;
                }
                rows[*i] = row;
            }
        };
        whole.iter().for_each(|pool| rename(pool, &differing[differing.len() - 1..]));
        let single = single.concat();
        if single.len() > 1 {
            rename(&single, &differing);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, &str)]) {
        let names: Vec<_> = cases.iter().map(|(name, _)| Some(*name)).collect();
        let rows: Vec<_> = cases.iter().map(|(_, row)| (*row).to_owned()).collect();
        assert_eq!(by_numbers(&names), rows);
    }

    #[test]
    fn threads_of_a_pool_are_one_row() {
        check(&[
            ("main", "main"),
            ("http-nio-8080-exec-1", "http-nio-8080-exec-*"),
            ("http-nio-8080-exec-10", "http-nio-8080-exec-*"),
            ("http-nio-8080-Poller", "http-nio-8080-Poller"),
            ("HikariPool-1 housekeeper", "HikariPool-1 housekeeper"),
            ("RMI TCP Connection(3)-127.0.0.1", "RMI TCP Connection(*)-127.0.0.1"),
            ("RMI TCP Connection(12)-127.0.0.1", "RMI TCP Connection(*)-127.0.0.1"),
            ("Java2D Disposer", "Java2D Disposer"),
            ("Java3D Disposer", "Java3D Disposer"),
            ("ForkJoinPool.commonPool-worker-1", "ForkJoinPool.commonPool-worker-1"),
            ("worker", "worker"),
            ("worker", "worker"),
            ("größe 1ä 2", "größe 1ä *"),
            ("größe 1ä 3", "größe 1ä *"),
            ("", ""),
        ]);
    }

    #[test]
    fn pools_are_separate_unless_there_are_many() {
        check(&[
            ("pool-1-thread-1", "pool-1-thread-*"),
            ("pool-1-thread-2", "pool-1-thread-*"),
            ("pool-2-thread-1", "pool-2-thread-*"),
            ("pool-2-thread-2", "pool-2-thread-*"),
            ("pool-3-thread-1", "pool-3-thread-1"),
        ]);
        check(&[
            ("pool-1-thread-1", "pool-*-thread-1"),
            ("pool-2-thread-1", "pool-*-thread-1"),
            ("pool-3-thread-1", "pool-*-thread-1"),
        ]);
        let rows = |pools: usize| {
            let names =
                (0..2 * pools).map(|i| format!("pool-{}-thread-{}", i / 2, i % 2)).collect::<Vec<_>>();
            by_numbers(&names.iter().map(|name| Some(name.as_str())).collect::<Vec<_>>())
        };
        assert!(rows(MOST_POOLS + 1).iter().all(|row| row == "pool-*-thread-*"));
        let few = rows(MOST_POOLS);
        assert_eq!((few[1].as_str(), few[31].as_str()), ("pool-0-thread-*", "pool-15-thread-*"));
    }

    #[test]
    fn what_a_recorder_has_folded_joins_its_pool() {
        check(&[("exec-*", "exec-*"), ("exec-17", "exec-*"), ("other-*", "other-*")]);
    }
}
