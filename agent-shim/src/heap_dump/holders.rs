//! Who holds objects that may leak: paths from what the collector starts at to a sample of them.
//!
//! [`search`], when the program ends and objects have biographies:
//!
//! 1. Groups: of the objects of one class, made in one context, those that were made in the later half of the collections and are still
//!    there. `instrument heap --leaks` looks for suspects among the same. The [`GROUPS`] with most bytes are taken, and of each a sample
//!    of at most [`SAMPLE`] objects that outlived a collection, spread evenly over the heap.
//! 2. One walk from the roots, during which the program stands still. Each object that it meets gets a number and keeps through which
//!    reference it was met with the fewest steps so far. A static field is a beginning of its own: that its class is there is no news.
//!    The referents of weak and phantom references are not followed.
//! 3. The tags are put back, and the paths of the sample are read backwards, written as names, and counted.
//!
//! Bounds: the walk ends at the deadline and after [`OBJECTS`] objects, 24 bytes each; then what it has not met is not known. Arrays
//! of primitive types take nothing.
//!
//! A step from an object to one of its own class (`HashMap$Node.next`, the branches of a tree) is left out of a path: where in a list
//! or tree the object is does not say who holds it, and with it no two paths would be the same. For the same reason the fields that
//! lead to the first object of such a class are one step: `LinkedList.first|last`.

use super::classes::{Classes, Kind};
use super::said;
use super::tags::{self, Tags};
use crate::heap::{self, Life};
use crate::jvmti::heap::{HeapVisitor, LeaveOut, Link, Next, Place, PrimitiveType, Root, Target};
use crate::jvmti::{Jni, Jvmti, JvmtiError, MethodId};
use instrument_rewriter::class_file::mutf8;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

/// The fewest collections after which there may be suspects; `instrument heap` needs as many.
const FEWEST_COLLECTIONS: u64 = 8;
/// Groups that are looked at.
const GROUPS: usize = 64;
/// Objects that are looked for of each.
const SAMPLE: u64 = 1000;
/// Objects that a walk meets at most.
const OBJECTS: usize = 8 << 20;
/// Different paths that are written for a group; the others are added up.
const PATHS: usize = 8;
/// Steps of a path that are written.
const STEPS: usize = 24;
/// Events between two looks at the time.
const BETWEEN_LOOKS: u32 = 4096;

// Flags of a path in the profile.
const NOT_MET: u32 = 1;
const OTHER_PATHS: u32 = 2;

/// Why a walk ended before its end, as the profile has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Time = 1,
    Objects = 2,
}

/// Objects of one class that were made in one context.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    class: u32,
    context: u32,
    /// Objects that outlived a collection.
    old: u64,
    /// Objects that were made in the later half of the collections, and their bytes.
    late: u64,
    late_bytes: u64,
    sampled: u32,
}

/// How the walk came from one object to another, or to the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    /// A field of an object of a class, by its index, and the class of what it refers to.
    Field(u32, u32, u32),
    Element,
    /// Any reference to an object of the same class.
    SameClass,
    /// What belongs to a class, beside its static fields.
    Part(&'static str),
    StaticField(u32, u32),
    /// Something of a class that is no static field.
    Class(u32, &'static str),
    /// By the number of the thread's object.
    Thread(u32),
    Local(u32, MethodId),
    JniLocal(u32),
    JniGlobal,
    Monitor,
    OtherRoot,
}

/// An object that was met.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// The tag that it had.
    tag: i64,
    /// Number of the object that refers to it; 0: the step is a beginning.
    parent: u32,
    step: u32,
    steps: u32,
}

struct Walk<'a> {
    classes: &'a Classes,
    /// Group of the objects that are looked for, by their numbers.
    sample: &'a HashMap<u64, u32>,
    /// Numbered from 1.
    nodes: Vec<Node>,
    /// Numbers of the objects of the sample, with their groups.
    found: Vec<(u32, u32)>,
    steps: Vec<Step>,
    step_numbers: HashMap<Step, u32>,
    /// For classes of weak references: index of the field that is not followed. By class.
    weak: HashMap<u32, Option<u32>>,
    /// Classes with objects that refer to others of the same class.
    linked: HashSet<u32>,
    /// Class of the object whose references come.
    owner_class: Option<u32>,
    deadline: Instant,
    until_look: u32,
    stop: Option<Stop>,
}

/// What was found, as the profile has it (kind 22); none: there is nothing to look for.
///
/// # Errors
/// What the virtual machine refused. The tags are as they were before.
pub(crate) fn search<'a>(jvmti: Jvmti<'a>, jni: Jni<'a>, limit: Duration) -> Result<Option<Vec<u8>>, String> {
    let start = Instant::now();
    let collections = heap::collections();
    if limit.is_zero() || collections < FEWEST_COLLECTIONS {
        return Ok(None);
    }
    let mut groups = groups(jvmti, collections).map_err(said)?;
    if groups.is_empty() {
        return Ok(None);
    }
    let sample = sample(jvmti, &mut groups).map_err(said)?;
    let (mut classes, mut tags) = (Classes::default(), Tags::default());
    let described = classes.add_new(jvmti, jni, &mut tags);
    classes.lay_out();
    let mut walk = Walk::new(&classes, &sample, start + limit);
    let walked = described.and_then(|_| {
        let threads = walk.threads(jvmti, jni).map_err(said)?;
        match jvmti.follow_references(None, &mut walk).map_err(said)? {
            true => Ok(threads),
            false => Err("internal error in the walk through the heap".to_owned()),
        }
    });
    let nodes = std::mem::take(&mut walk.nodes);
    // Also where the walk failed.
    jvmti
        .iterate_heap(LeaveOut::Untagged, |_, tag| {
            *tag = match tags::walked(*tag) {
                Some(number) => nodes.get(number as usize - 1).map_or(0, |node| node.tag),
                None => tags::restored(*tag),
            }
        })
        .map_err(said)?;
    let mut names = Names { jvmti, jni, classes: &classes, threads: walked?, entries: HashMap::new() };
    Ok(Some(names.write(&groups, &nodes, &walk.end(), start.elapsed())))
}

/// The groups that may leak.
fn groups(jvmti: Jvmti<'_>, collections: u64) -> Result<Vec<Group>, JvmtiError> {
    let mut groups: HashMap<(u32, u32), Group> = HashMap::new();
    let mut bytes = 0u64;
    jvmti.iterate_heap(LeaveOut::Untagged, |_, tag| {
        let Some(life) = life(*tag) else { return };
        bytes += life.bytes;
        let key = (life.class, life.context);
        let group = groups.entry(key).or_insert(Group { class: key.0, context: key.1, ..Group::default() });
        group.old += u64::from(life.born < collections);
        if life.born >= collections / 2 {
            group.late += 1;
            group.late_bytes += life.bytes;
        }
    })?;
    // The conditions of the report that no later look can change.
    let mut groups: Vec<Group> =
        groups.into_values().filter(|group| group.late >= 3 && group.late_bytes >= bytes / 1000).collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.late_bytes), group.class, group.context));
    groups.truncate(GROUPS);
    Ok(groups)
}

/// Chooses objects of each group: their groups by their numbers.
fn sample(jvmti: Jvmti<'_>, groups: &mut [Group]) -> Result<HashMap<u64, u32>, JvmtiError> {
    let places: HashMap<(u32, u32), u32> =
        groups.iter().enumerate().map(|(i, group)| ((group.class, group.context), i as u32)).collect();
    let collections = heap::collections();
    let mut seen = vec![0u64; groups.len()];
    let mut sample = HashMap::new();
    jvmti.iterate_heap(LeaveOut::Untagged, |_, tag| {
        let Some(life) = life(*tag).filter(|life| life.born < collections) else { return };
        let Some(&place) = places.get(&(life.class, life.context)) else { return };
        let group = &mut groups[place as usize];
        let number = &mut seen[place as usize];
        if number.is_multiple_of(group.old.div_ceil(SAMPLE).max(1)) {
            sample.insert(super::number(*tag), place);
            group.sampled += 1;
        }
        *number += 1;
    })?;
    Ok(sample)
}

/// What is known of the object with this tag.
fn life(tag: i64) -> Option<Life> {
    heap::life(super::number(tag))
}

/// What is left of a walk.
struct End {
    found: Vec<(u32, u32)>,
    steps: Vec<Step>,
    linked: HashSet<u32>,
    stop: Option<Stop>,
}

impl<'a> Walk<'a> {
    fn new(classes: &'a Classes, sample: &'a HashMap<u64, u32>, deadline: Instant) -> Walk<'a> {
        Walk {
            classes,
            sample,
            nodes: Vec::new(),
            found: Vec::new(),
            steps: Vec::new(),
            step_numbers: HashMap::new(),
            weak: HashMap::new(),
            linked: HashSet::new(),
            owner_class: None,
            deadline,
            until_look: BETWEEN_LOOKS,
            stop: None,
        }
    }

    fn end(self) -> End {
        End { found: self.found, steps: self.steps, linked: self.linked, stop: self.stop }
    }

    /// Numbers the threads, whose names are needed; by number.
    fn threads<'j>(&mut self, jvmti: Jvmti<'j>, jni: Jni<'j>) -> Result<HashMap<u32, String>, JvmtiError> {
        let mut names = HashMap::new();
        for thread in jvmti.threads(jni)? {
            let tag = jvmti.tag(&thread).unwrap_or(0);
            let name = jvmti.thread_info(&thread, jni).map(|info| info.name).unwrap_or_default();
            let number = self.number(tag, u32::MAX, Step::OtherRoot, 0);
            jvmti.set_tag(&thread, tags::of_walked(number))?;
            jni.forget(thread);
            names.insert(number, name);
        }
        Ok(names)
    }

    /// Numbers an object that was not met before.
    fn number(&mut self, tag: i64, steps: u32, step: Step, parent: u32) -> u32 {
        let step = self.step(step);
        self.nodes.push(Node { tag, parent, step, steps });
        let number = self.nodes.len() as u32;
        if let Some(&group) = self.sample.get(&super::number(tag)) {
            self.found.push((number, group));
        }
        number
    }

    fn step(&mut self, step: Step) -> u32 {
        *self.step_numbers.entry(step).or_insert_with(|| {
            self.steps.push(step);
            self.steps.len() as u32 - 1
        })
    }

    /// An object is referred to: `parent` 0 is a beginning.
    fn meet(&mut self, target: Target<'_>, parent: u32, step: Step) -> Next {
        self.until_look -= 1;
        if self.until_look == 0 {
            self.until_look = BETWEEN_LOOKS;
            if Instant::now() > self.deadline {
                self.stop = Some(Stop::Time);
                return Next::Stop;
            }
        }
        if self.classes.is_class_class(target.class) {
            return Next::Visit;
        }
        let steps = match parent {
            0 => 0,
            parent => self.nodes[parent as usize - 1].steps.saturating_add(1),
        };
        if let Some(number) = tags::walked(*target.tag) {
            if steps < self.nodes[number as usize - 1].steps {
                let step = self.step(step);
                let node = &mut self.nodes[number as usize - 1];
                (node.parent, node.step, node.steps) = (parent, step, steps);
            }
            return Next::Visit;
        }
        let is_leaf = self.classes.of(target.class).is_some_and(|class| class.kind == Kind::PrimitiveArrays);
        if is_leaf && !self.sample.contains_key(&super::number(*target.tag)) {
            return Next::Pass;
        }
        if self.nodes.len() == OBJECTS {
            self.stop = Some(Stop::Objects);
            return Next::Stop;
        }
        let number = self.number(*target.tag, steps, step, parent);
        *target.tag = tags::of_walked(number);
        Next::Visit
    }

    /// Whether this is the field of a reference that does not keep what it refers to.
    fn is_weak(&mut self, class: u32, index: u32) -> bool {
        let classes = self.classes;
        let weak = self.weak.entry(class).or_insert_with(|| {
            let names = [&b"java/lang/ref/WeakReference"[..], b"java/lang/ref/PhantomReference"];
            let weak = classes.supers(class).any(|class| names.contains(&class.name().as_slice()));
            let is_referent =
                |index: &u32| classes.field(class, *index).is_some_and(|(_, name)| name == b"referent");
            if weak { (0..64).find(is_referent) } else { None }
        });
        *weak == Some(index)
    }
}

impl HeapVisitor for Walk<'_> {
    const VALUES: bool = false;

    fn root(&mut self, root: Root, target: Target<'_>) -> Next {
        let thread = |place: Place| tags::walked(place.thread).unwrap_or(0);
        let step = match root {
            Root::JniGlobal => Step::JniGlobal,
            Root::Monitor => Step::Monitor,
            Root::StackLocal(place) => Step::Local(thread(place), place.method),
            Root::JniLocal(place) => Step::JniLocal(thread(place)),
            Root::Thread => Step::Thread(tags::walked(*target.tag).unwrap_or(0)),
            Root::SystemClass | Root::Other => Step::OtherRoot,
        };
        self.meet(target, 0, step)
    }

    fn reference(&mut self, owner: i64, link: Link, target: Target<'_>) -> Next {
        if link == Link::Class {
            self.owner_class = tags::class_index(*target.tag).map(|class| class as u32);
            return Next::Visit;
        }
        let part = match link {
            Link::Loader => "class loader",
            Link::Signers => "signers",
            Link::ProtectionDomain => "protection domain",
            _ => "constant or reflection data",
        };
        let Some(number) = tags::walked(owner) else {
            // The owner is a class.
            let step = match (tags::class_index(owner), link) {
                (Some(class), Link::StaticField(index)) => Step::StaticField(class as u32, index),
                (Some(class), _) => Step::Class(class as u32, part),
                (None, _) => Step::OtherRoot,
            };
            return self.meet(target, 0, step);
        };
        let class = tags::class_index(target.class).map_or(u32::MAX, |class| class as u32);
        let step = match (link, self.owner_class) {
            (Link::Field(index), Some(owner)) if self.is_weak(owner, index) => return Next::Pass,
            (_, Some(owner)) if owner == class => {
                self.linked.insert(class);
                Step::SameClass
            }
            (Link::Field(index), Some(owner)) => Step::Field(owner, index, class),
            (Link::Element(_), _) => Step::Element,
            _ => Step::Part(part),
        };
        self.meet(target, number, step)
    }

    fn primitive(&mut self, _: i64, _: bool, _: u32, _: &[u8]) -> Next {
        Next::Visit
    }

    fn array(&mut self, _: i64, _: PrimitiveType, _: &[u8]) -> Next {
        Next::Visit
    }
}

/// Writes steps as names.
struct Names<'a, 'c> {
    jvmti: Jvmti<'a>,
    jni: Jni<'a>,
    classes: &'c Classes,
    threads: HashMap<u32, String>,
    /// Fields of one class that lead to objects of another, which are linked with each other.
    entries: HashMap<(u32, u32), BTreeSet<u32>>,
}

impl Names<'_, '_> {
    /// The body of the region; see the specification of the profile.
    fn write(&mut self, groups: &[Group], nodes: &[Node], end: &End, took: Duration) -> Vec<u8> {
        // Steps from the object to the beginning, those within a class left out.
        let mut paths: BTreeMap<(u32, Vec<u32>), u32> = BTreeMap::new();
        for &(number, group) in &end.found {
            let mut path = Vec::new();
            let mut at = number;
            // A reference leads to an object with more steps: this ends. One that was numbered and not met has no steps at all.
            while let Some(node) = (at as usize).checked_sub(1).and_then(|index| nodes.get(index)) {
                if node.steps == u32::MAX {
                    path.clear();
                    break;
                }
                if end.steps[node.step as usize] != Step::SameClass {
                    path.push(node.step);
                }
                at = node.parent;
            }
            if !path.is_empty() {
                *paths.entry((group, path)).or_default() += 1;
            }
        }
        for (_, path) in paths.keys() {
            for step in path {
                if let Step::Field(owner, index, class) = end.steps[*step as usize]
                    && end.linked.contains(&class)
                {
                    self.entries.entry((owner, class)).or_default().insert(index);
                }
            }
        }
        let mut texts: BTreeMap<(u32, String), u32> = BTreeMap::new();
        for ((group, path), count) in paths {
            let steps = path.iter().rev().map(|step| end.steps[*step as usize]);
            *texts.entry((group, self.path(steps))).or_default() += count;
        }
        let mut out = Vec::new();
        let stopped = end.stop.map_or(0, |stop| stop as u32);
        out.extend(stopped.to_le_bytes());
        out.extend((nodes.len() as u32).to_le_bytes());
        out.extend((took.as_nanos() as u64).to_le_bytes());
        for (index, group) in groups.iter().enumerate() {
            let of_group = texts.range((index as u32, String::new())..(index as u32 + 1, String::new()));
            let mut held: Vec<(&str, u32)> =
                of_group.map(|((_, text), count)| (text.as_str(), *count)).collect();
            held.sort_by_key(|(text, count)| (std::cmp::Reverse(*count), *text));
            let met: u32 = held.iter().map(|(_, count)| count).sum();
            let others: u32 = held.iter().skip(PATHS).map(|(_, count)| count).sum();
            held.truncate(PATHS);
            let mut entry = |count: u32, flags: u32, text: &str| {
                if count > 0 {
                    let text = text.as_bytes();
                    for word in [group.class, group.context, group.sampled, count, flags, text.len() as u32] {
                        out.extend(word.to_le_bytes());
                    }
                    out.extend(text);
                    out.resize(out.len().next_multiple_of(8), 0);
                }
            };
            for (text, count) in held {
                entry(count, 0, text);
            }
            entry(others, OTHER_PATHS, "");
            entry(group.sampled.saturating_sub(met), NOT_MET, "");
        }
        out
    }

    /// A line for each step; of an element no line, but brackets behind the line before.
    fn path(&self, steps: impl Iterator<Item = Step>) -> String {
        let mut lines: Vec<String> = Vec::new();
        for step in steps {
            match (step, lines.last_mut()) {
                (Step::Element, Some(last)) if !last.ends_with("[]") => last.push_str("[]"),
                (Step::Element, Some(_)) => {}
                (step, _) => lines.push(self.step(step)),
            }
        }
        if lines.len() > STEPS {
            let left = lines.len() - STEPS;
            lines.splice(STEPS / 2..STEPS / 2 + left, [format!("({left} more steps)")]);
        }
        lines.join("\n")
    }

    fn step(&self, step: Step) -> String {
        match step {
            Step::Field(owner, index, class) => match self.entries.get(&(owner, class)) {
                None => self.field(owner, index),
                Some(fields) => {
                    let mut names = fields.iter().map(|index| self.field(owner, *index));
                    let first = names.next().unwrap_or_default();
                    let more = names.map(|name| format!("|{}", name.rsplit('.').next().unwrap_or_default()));
                    first + &more.collect::<String>()
                }
            },
            Step::StaticField(class, index) => format!("static {}", self.field(class, index)),
            Step::Element => "[]".to_owned(),
            Step::SameClass => String::new(),
            Step::Part(part) => format!("({part})"),
            Step::Class(class, part) => format!("class {} ({part})", self.class(class)),
            Step::Thread(thread) => format!("thread {}", self.thread(thread)),
            Step::Local(thread, method) => {
                format!("local variable of {} in thread {}", self.method(method), self.thread(thread))
            }
            Step::JniLocal(thread) => format!("JNI local reference in thread {}", self.thread(thread)),
            Step::JniGlobal => "JNI global reference".to_owned(),
            Step::Monitor => "monitor that a thread has".to_owned(),
            Step::OtherRoot => "the virtual machine".to_owned(),
        }
    }

    fn class(&self, class: u32) -> String {
        self.classes.at(class).map_or_else(|| "?".to_owned(), |class| java_name(&class.name()))
    }

    /// `com.acme.Cache.entries`, with the class that declares the field.
    fn field(&self, class: u32, index: u32) -> String {
        match self.classes.field(class, index) {
            Some((class, name)) => format!("{}.{}", java_name(&class.name()), mutf8::escape(name)),
            None => format!("{}.(field {index})", self.class(class)),
        }
    }

    fn method(&self, method: MethodId) -> String {
        let Ok((name, ..)) = self.jvmti.method(method) else { return "?".to_owned() };
        let Ok(class) = self.jvmti.declaring_class(method, self.jni) else { return name };
        let signature = self.jvmti.raw_signature(&class).unwrap_or_default();
        self.jni.forget(class);
        let class = signature.strip_prefix(b"L").and_then(|name| name.strip_suffix(b";"));
        class.map_or_else(|| name.clone(), |class| format!("{}.{name}", java_name(class)))
    }

    /// Numbers in the names of threads are left out, so that those of a pool are one.
    fn thread(&self, number: u32) -> String {
        let Some(name) = self.threads.get(&number) else { return "?".to_owned() };
        let mut text = String::from('"');
        for c in name.chars().map(|c| if c.is_ascii_digit() { '*' } else { c }) {
            if c != '*' || !text.ends_with('*') {
                // A line of the path is a step.
                text.push(if c.is_control() { '?' } else { c });
            }
        }
        text.push('"');
        text
    }
}

fn java_name(name: &[u8]) -> String {
    mutf8::escape(name).replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a class that is not known.
    fn target(tag: &mut i64) -> Target<'_> {
        Target { tag, class: 0, length: None }
    }

    #[test]
    fn an_object_keeps_the_way_with_the_fewest_steps() {
        let (classes, sample) = (Classes::default(), HashMap::from([(7, 1)]));
        let mut walk = Walk::new(&classes, &sample, Instant::now() + Duration::from_secs(600));
        let mut tags = [0i64, 0, 7];
        assert_eq!(walk.meet(target(&mut tags[0]), 0, Step::JniGlobal), Next::Visit);
        assert_eq!(walk.meet(target(&mut tags[1]), 1, Step::Field(1, 0, 2)), Next::Visit);
        assert_eq!(walk.meet(target(&mut tags[2]), 2, Step::Element), Next::Visit);
        assert_eq!((walk.nodes[2].parent, walk.nodes[2].steps, walk.nodes[2].tag), (2, 2, 7));
        walk.meet(target(&mut tags[2]), 1, Step::Field(1, 1, 3));
        assert_eq!((walk.nodes[2].parent, walk.nodes[2].steps, walk.nodes.len()), (1, 1, 3));
        // No fewer.
        walk.meet(target(&mut tags[2]), 1, Step::Element);
        assert_eq!(walk.steps[walk.nodes[2].step as usize], Step::Field(1, 1, 3));
        assert_eq!(walk.found, [(3, 1)]);
    }

    #[test]
    fn a_walk_ends_when_its_time_is_over() {
        let (classes, sample) = (Classes::default(), HashMap::new());
        let mut walk = Walk::new(&classes, &sample, Instant::now());
        let met = (0..2 * BETWEEN_LOOKS)
            .take_while(|_| walk.meet(target(&mut 0), 0, Step::JniGlobal) == Next::Visit)
            .count();
        assert_eq!((met as u32, walk.stop), (BETWEEN_LOOKS - 1, Some(Stop::Time)));
    }
}
