//! The walk from the roots: each object keeps through which reference it was met with the fewest steps.

use super::super::classes::{Classes, Kind};
use super::super::{self as heap_dump, tags};
use crate::jvmti::heap::{HeapVisitor, Link, Next, Place, PrimitiveType, Root, Target};
use crate::jvmti::{Jni, Jvmti, JvmtiError, MethodId};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// Objects that a walk meets at most.
const OBJECTS: usize = 8 << 20;

/// Events between two looks at the time.
pub(super) const BETWEEN_LOOKS: u32 = 4096;

/// Why a walk ended before its end, as the profile has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Time = 1,
    Objects = 2,
}

/// How the walk came from one object to another, or to the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Step {
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
pub(super) struct Node {
    /// The tag that it had.
    pub(super) tag: i64,
    /// Number of the object that refers to it; 0: the step is a beginning.
    pub(super) parent: u32,
    pub(super) step: u32,
    pub(super) steps: u32,
}

pub(super) struct Walk<'a> {
    classes: &'a Classes,
    /// Group of the objects that are looked for, by their numbers.
    sample: &'a HashMap<u64, u32>,
    /// Numbered from 1.
    pub(super) nodes: Vec<Node>,
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

/// What is left of a walk.
pub(super) struct End {
    pub(super) found: Vec<(u32, u32)>,
    pub(super) steps: Vec<Step>,
    pub(super) linked: HashSet<u32>,
    pub(super) stop: Option<Stop>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(classes: &'a Classes, sample: &'a HashMap<u64, u32>, deadline: Instant) -> Walk<'a> {
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

    pub(super) fn end(self) -> End {
        End { found: self.found, steps: self.steps, linked: self.linked, stop: self.stop }
    }

    /// Numbers the threads, whose names are needed; by number.
    pub(super) fn threads<'j>(
        &mut self,
        jvmti: Jvmti<'j>,
        jni: Jni<'j>,
    ) -> Result<HashMap<u32, String>, JvmtiError> {
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
        if let Some(&group) = self.sample.get(&heap_dump::number(tag)) {
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
    pub(super) fn visit(&mut self, target: Target<'_>, parent: u32, step: Step) -> Next {
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
        if is_leaf && !self.sample.contains_key(&heap_dump::number(*target.tag)) {
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
        self.visit(target, 0, step)
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
            return self.visit(target, 0, step);
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
        self.visit(target, number, step)
    }

    fn primitive(&mut self, _: i64, _: bool, _: u32, _: &[u8]) -> Next {
        Next::Visit
    }

    fn array(&mut self, _: i64, _: PrimitiveType, _: &[u8]) -> Next {
        Next::Visit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Of a class that is not known.
    fn target(tag: &mut i64) -> Target<'_> {
        Target { tag, class: 0, length: None }
    }

    #[test]
    fn an_object_keeps_the_way_with_the_fewest_steps() {
        let (classes, sample) = (Classes::default(), HashMap::from([(7, 1)]));
        let mut walk = Walk::new(&classes, &sample, Instant::now() + Duration::from_secs(600));
        let mut tags = [0i64, 0, 7];
        assert_eq!(walk.visit(target(&mut tags[0]), 0, Step::JniGlobal), Next::Visit);
        assert_eq!(walk.visit(target(&mut tags[1]), 1, Step::Field(1, 0, 2)), Next::Visit);
        assert_eq!(walk.visit(target(&mut tags[2]), 2, Step::Element), Next::Visit);
        assert_eq!((walk.nodes[2].parent, walk.nodes[2].steps, walk.nodes[2].tag), (2, 2, 7));
        walk.visit(target(&mut tags[2]), 1, Step::Field(1, 1, 3));
        assert_eq!((walk.nodes[2].parent, walk.nodes[2].steps, walk.nodes.len()), (1, 1, 3));
        // No fewer.
        walk.visit(target(&mut tags[2]), 1, Step::Element);
        assert_eq!(walk.steps[walk.nodes[2].step as usize], Step::Field(1, 1, 3));
        assert_eq!(walk.found, [(3, 1)]);
    }

    #[test]
    fn a_walk_ends_when_its_time_is_over() {
        let (classes, sample) = (Classes::default(), HashMap::new());
        let mut walk = Walk::new(&classes, &sample, Instant::now());
        let met = (0..2 * BETWEEN_LOOKS)
            .take_while(|_| walk.visit(target(&mut 0), 0, Step::JniGlobal) == Next::Visit)
            .count();
        assert_eq!((met as u32, walk.stop), (BETWEEN_LOOKS - 1, Some(Stop::Time)));
    }
}
