//! What others have recorded of the same run, as further resources of the contexts of a profile.
//!
//! A stack of a sampler has more frames than a profile has contexts: libraries, and methods that were left out. It is walked from the outermost
//! frame in; a frame that the context has not called is passed over, so the sample stands with the nearest caller that was recorded. What is in no
//! method of the profile stands with the thread of that name, and what is in no such thread with the process: all figures add up.

use crate::hash::HashMap;
use crate::input::folded::TRUNCATED;
use crate::model::{Arcflow, Consumer, Kind, NodeId, Resource};
use crate::text::percent;
use instrument_names::glob::Glob;
use instrument_names::signature::readable;
use std::path::Path;

/// A profile's model with the resources of another file.
pub(crate) struct Beside {
    pub(crate) model: Arcflow,
    /// Whether the contexts are no longer those of the model before.
    pub(crate) is_regrouped: bool,
    /// How far the file meets the profile, in words.
    pub(crate) remarks: Vec<String>,
}

/// Adds what `other`, read from `file`, says of the contexts of `model`.
///
/// # Errors
/// In words, why the two are not of the same run.
pub(crate) fn add(model: &Arcflow, other: &Arcflow, file: &str) -> Result<Beside, String> {
    let has = |model: &Arcflow, kind| model.nodes().iter().any(|node| node.kind == kind);
    let mut remarks = Vec::new();
    let is_regrouped = has(model, Kind::Thread) && !has(other, Kind::Thread);
    let mut model = if is_regrouped { model.merged(Kind::Thread) } else { model.clone() };
    if is_regrouped {
        remarks.push(format!("{file}: it tells of no threads, so those of the profile are added up"));
    }
    let places = Places::new(&model, other);
    let sums: Vec<[f64; 4]> =
        (0..other.resources().len()).map(|resource| places.sums(&model, other, resource)).collect();
    let has_some = |sums: &&[f64; 4]| sums.iter().sum::<f64>() != 0.0;
    if sums.iter().any(|sums| has_some(&sums)) && sums.iter().filter(has_some).all(|sums| sums[0] == 0.0) {
        return Err(places.no_method(&model, other, file));
    }
    let told = other.resources().iter().zip(&sums).filter(|(_, sums)| has_some(sums));
    remarks.extend(told.map(|(resource, sums)| met(file, &resource.name, sums)));
    if places.ambiguous > 0 {
        remarks.push(format!(
            "{file}: contexts with several methods that a frame without parameters may be, whose samples stand with their caller: {}",
            places.ambiguous
        ));
    }
    let columns = columns(&mut model, other, file)?;
    for id in other.ids() {
        let base = model.base_mut(places.of[id.0 as usize]);
        for (&column, value) in columns.iter().zip(other.base(id)) {
            base[column] += value;
        }
    }
    Ok(Beside { model, is_regrouped, remarks })
}

/// How much of a resource of a file met the profile; see [`Places::sums`].
fn met(file: &str, resource: &str, sums: &[f64; 4]) -> String {
    let all = sums.iter().sum();
    let of = |sum: f64| percent(sum, all);
    let [met, in_threads, cut, elsewhere] = *sums;
    let mut text = format!("{file}: {} % of its {resource} stand in contexts of the profile", of(met));
    for (sum, what) in [
        (in_threads, "in its threads outside of methods that were recorded"),
        (cut, "with their threads: the outermost frames are missing"),
        (elsewhere, "with the process: in threads that it does not know"),
    ] {
        if sum > 0.0 {
            text += &format!(", {} % {what}", of(sum));
        }
    }
    text
}

/// Makes room for the resources of a file, which are named by it: one of the same name has another meaning in a profile.
fn columns(model: &mut Arcflow, other: &Arcflow, file: &str) -> Result<Vec<usize>, String> {
    let stem = Path::new(file).file_stem().map_or(file.into(), |stem| stem.to_string_lossy());
    let stem = stem.replace(|c: char| c == ',' || c.is_whitespace(), "-");
    let mut more = Vec::new();
    for Resource { name, unit } in other.resources() {
        let name = format!("{stem}-{name}");
        if model.resource(&name).is_some() {
            return Err(format!("{file}: another file has the same name; rename one of them"));
        }
        more.push(Resource { name, unit: unit.clone() });
    }
    let first = model.resources().len();
    model.widen(more);
    Ok((first..model.resources().len()).collect())
}

/// Where the contexts of a file are in the profile.
struct Places {
    of: Vec<NodeId>,
    /// Whether it is not known where in the profile a context belongs.
    is_unknown: Vec<bool>,
    ambiguous: u64,
}

impl Places {
    fn new(model: &Arcflow, other: &Arcflow) -> Places {
        let methods = Methods::new(model);
        let candidates: Vec<&[Consumer]> = other.names().map(|name| methods.named(name)).collect();
        let mut processes = model.ids().filter(|&id| model.node(id).kind == Kind::Process);
        let process = processes.next().unwrap_or(Arcflow::ROOT);
        let threads = Threads::new(model);
        let all = other.nodes().len();
        let mut places = Places { of: vec![process; all], is_unknown: vec![false; all], ambiguous: 0 };
        for (at, node) in other.nodes().iter().enumerate().skip(1) {
            let above = node.parent.0 as usize;
            let place = places.of[above];
            // Where the frames behind missing ones belong is not known.
            places.is_unknown[at] = places.is_unknown[above] || other.name(node.consumer) == TRUNCATED;
            let found = match node.kind {
                Kind::Thread => {
                    let thread = threads.find(other.name(node.consumer));
                    places.is_unknown[at] = thread.is_none();
                    thread
                }
                Kind::Method if !places.is_unknown[at] => {
                    let named = candidates[node.consumer.0 as usize].iter();
                    let mut called = named.filter_map(|&method| {
                        let of = |kind| model.existing_child(place, kind, method);
                        of(Kind::Method).or_else(|| of(Kind::Link))
                    });
                    let first = called.next();
                    let is_one = called.next().is_none();
                    places.ambiguous += u64::from(!is_one);
                    first.filter(|_| is_one)
                }
                _ => None,
            };
            places.of[at] = found.unwrap_or(place);
        }
        places
    }

    /// What stands in methods of the profile, in its threads outside of them, there without the outermost frames, and elsewhere.
    fn sums(&self, model: &Arcflow, other: &Arcflow, resource: usize) -> [f64; 4] {
        let mut sums = [0.0; 4];
        for id in other.ids() {
            let at = id.0 as usize;
            let place = match model.node(self.of[at]).kind {
                Kind::Root | Kind::Process => 3,
                Kind::Thread => 1 + usize::from(self.is_unknown[at]),
                Kind::Link | Kind::Deeper | Kind::Method => 0,
            };
            sums[place] += other.base(id)[resource];
        }
        sums
    }

    /// Says so with a method of each.
    fn no_method(&self, model: &Arcflow, other: &Arcflow, file: &str) -> String {
        let example = |model: &Arcflow| {
            let last = model.nodes().iter().rev().find(|node| node.kind == Kind::Method);
            last.map_or_else(
                || "nothing".to_owned(),
                |node| {
                    let name = model.name(node.consumer);
                    readable(name).unwrap_or_else(|| name.to_owned())
                },
            )
        };
        format!(
            "{file}: none of its stacks has a method of the profile in its place: it has {}, the profile {}; are both of the same run?",
            example(other),
            example(model)
        )
    }
}

/// The threads of a profile, by name; of pools there is one for all.
struct Threads<'m> {
    by_name: HashMap<&'m str, NodeId>,
    pools: Vec<(Glob, NodeId)>,
}

impl<'m> Threads<'m> {
    fn new(model: &'m Arcflow) -> Threads<'m> {
        let (mut by_name, mut pools) = (HashMap::default(), Vec::new());
        for id in model.ids().filter(|&id| model.node(id).kind == Kind::Thread) {
            let name = model.name(model.node(id).consumer);
            by_name.entry(name).or_insert(id);
            if name.contains('*') {
                pools.push((Glob::of_words(name), id));
            }
        }
        Threads { by_name, pools }
    }

    /// async-profiler writes the number of a thread behind its name.
    fn find(&self, name: &str) -> Option<NodeId> {
        let name = name.split(" tid=").next().unwrap_or(name);
        let pool = || self.pools.iter().find(|(glob, _)| glob.matches_text(name)).map(|(_, id)| *id);
        self.by_name.get(name).copied().or_else(pool)
    }
}

/// The methods of a profile, by the names that others give them.
struct Methods {
    by_name: HashMap<String, Vec<Consumer>>,
}

impl Methods {
    fn new(model: &Arcflow) -> Methods {
        let mut is_method = vec![false; model.names().count()];
        for node in model.nodes().iter().filter(|node| node.kind.is_looked_up()) {
            is_method[node.consumer.0 as usize] = true;
        }
        let mut by_name: HashMap<String, Vec<Consumer>> = HashMap::default();
        for (at, name) in model.names().enumerate().filter(|(at, _)| is_method[*at]) {
            let bare = name.split('(').next().unwrap_or(name).to_owned();
            let mut names = vec![name.to_owned(), bare];
            names.extend(readable(name));
            names.sort_unstable();
            names.dedup();
            for name in names {
                by_name.entry(name).or_default().push(Consumer(at as u32));
            }
        }
        Methods { by_name }
    }

    /// Without the marks of async-profiler, and classes with dots.
    fn named(&self, frame: &str) -> &[Consumer] {
        let frame =
            frame.strip_suffix(']').and_then(|rest| rest.rsplit_once("_[")).map_or(frame, |(name, _)| name);
        let (name, parameters) = frame.split_at(frame.find('(').unwrap_or(frame.len()));
        let name = name.replace('/', ".");
        self.by_name.get(&format!("{name}{parameters}")).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input;

    fn read(text: &str) -> Arcflow {
        input::read(text.as_bytes()).unwrap().model
    }

    /// `parent > name calls` and the figures of every context that has some of the last resource.
    fn rows(model: &Arcflow) -> Vec<String> {
        let last = model.resources().len() - 1;
        let row = |id: NodeId| {
            let node = model.node(id);
            let parent = model.name(model.node(node.parent).consumer);
            format!("{parent} > {} {} {:?}", model.name(node.consumer), node.n, model.base(id))
        };
        model.ids().filter(|&id| model.base(id)[last] != 0.0).map(row).collect()
    }

    const PROFILE: &str = "metrics: wall ms\nprocess: p\n@ main\n0 > a.M.main([Ljava/lang/String;)V\n1 > a.X.f(I)V\n\
        2 > a.X.f(J)V\n4 < a.X.f(J)V\n4 < a.X.f(I)V\n5 > a.X.f(J)V\n9 < a.X.f(J)V\n9 < a.M.main([Ljava/lang/String;)V\n\
        @ pool-*\n0 > a.X.f(I)V\n1 < a.X.f(I)V\n";

    #[test]
    fn samples_stand_with_the_nearest_caller_that_was_recorded() {
        let profile = read(PROFILE);
        let samples = read(
            "[main tid=7];java/lang/Thread.run;a/M.main_[j] 1\n\
             [main tid=7];a.M.main(java.lang.String[]);b/Lib.call;a.X.f(int);a/X.f(J)V_[0];b/Lib.g 2\n\
             [main tid=7];a/M.main;a/X.f 4\n[pool-12];a.X.f_[i];x 8\n[pool-12];x 16\n[other];a.X.f 32\n",
        );
        let beside = add(&profile, &samples, "dir/some, cpu.folded").unwrap();
        let expected = [
            "(root) > p 1 [0.0, 32.0]",
            "main > a.M.main([Ljava/lang/String;)V 1 [2.0, 5.0]",
            "a.X.f(I)V > a.X.f(J)V 1 [2.0, 2.0]",
            "p > pool-* 1 [0.0, 16.0]",
            "pool-* > a.X.f(I)V 1 [1.0, 8.0]",
        ];
        assert_eq!(rows(&beside.model), expected);
        assert_eq!(beside.model.beside, ["some--cpu-samples"]);
        assert_eq!(beside.model.cum()[..2], [10.0, 63.0]);
        let said = [
            "dir/some, cpu.folded: 23.8 % of its samples stand in contexts of the profile, 25.4 % in its threads outside of methods that were recorded, \
             50.8 % with the process: in threads that it does not know",
            "dir/some, cpu.folded: contexts with several methods that a frame without parameters may be, whose samples stand with their caller: 1",
        ];
        assert_eq!(beside.remarks, said);
        let again = add(&beside.model, &samples, "some, cpu.txt").err();
        assert_eq!(again.unwrap(), "some, cpu.txt: another file has the same name; rename one of them");
    }

    #[test]
    fn threads_are_added_up_beside_stacks_without_them() {
        let beside = add(&read(PROFILE), &read("x;a.X.f(int) 3\n"), "s").unwrap();
        assert!(beside.is_regrouped);
        assert_eq!(rows(&beside.model), ["p > a.X.f(I)V 1 [1.0, 3.0]"]);
    }

    #[test]
    fn each_figure_of_a_file_is_told_of() {
        let text = "metrics: lost ms, cpu ms, none ms\n@ main\n0 0 0 > [truncated]\n3 1 0 > x\n3 2 0 < x\n4 2 0 < [truncated]\n\
            4 2 0 > a.M.main\n4 4 0 < a.M.main\n";
        let beside = add(&read(PROFILE), &read(text), "s.events").unwrap();
        let said = [
            "s.events: 0.0 % of its lost stand in contexts of the profile, 100.0 % with their threads: the outermost frames are missing",
            "s.events: 50.0 % of its cpu stand in contexts of the profile, 50.0 % with their threads: the outermost frames are missing",
        ];
        assert_eq!(beside.remarks, said);
    }

    #[test]
    fn stacks_of_another_program_are_refused() {
        let refused = add(&read(PROFILE), &read("[main];b.Y.g(int) 3\n"), "s.folded").err().unwrap();
        let expected = "s.folded: none of its stacks has a method of the profile in its place: it has b.Y.g(int), the profile a.X.f(int); \
            are both of the same run?";
        assert_eq!(refused, expected);
    }
}
