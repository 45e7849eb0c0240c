//! The paths as the profile has them: names, counted.

use super::super::classes::Classes;
use super::Group;
use super::walk::{End, Node, Step};
use crate::jvmti::{Jni, Jvmti, MethodId};
use instrument_rewriter::class_file::mutf8;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

// Flags of a path in the profile.
const NOT_MET: u32 = 1;
const OTHER_PATHS: u32 = 2;

/// Different paths that are written for a group; the others are added up.
const PATHS: usize = 8;

/// Steps of a path that are written.
const STEPS: usize = 24;

/// Writes steps as names.
pub(super) struct Names<'a, 'c> {
    pub(super) jvmti: Jvmti<'a>,
    pub(super) jni: Jni<'a>,
    pub(super) classes: &'c Classes,
    pub(super) threads: HashMap<u32, String>,
    /// Fields of one class that lead to objects of another, which are linked with each other.
    pub(super) entries: HashMap<(u32, u32), BTreeSet<u32>>,
}

impl Names<'_, '_> {
    /// The body of the region; see the specification of the profile.
    pub(super) fn write(&mut self, groups: &[Group], nodes: &[Node], end: &End, took: Duration) -> Vec<u8> {
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
