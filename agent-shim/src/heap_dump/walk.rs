//! A walk through the heap that writes a record for each object it visits.
//!
//! There are two walks. The first begins at the roots, the second at what the first one did not meet although the collector keeps it.

use super::Tracked;
use super::classes::{Classes, Kind};
use super::output::Output;
use super::record::{self, Body, ID_SIZE};
use super::stacks::Stacks;
use super::tags::{self, Tags};
use crate::jvmti::heap::{HeapVisitor, Link, Next, PrimitiveType, Root, Target};

/// Why a walk ended before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The file cannot be written.
    Output,
    /// There are more objects than ids.
    Ids,
}

/// The record that is being written.
enum Open {
    Nothing,
    Instance {
        id: u64,
        class: i64,
        values: Vec<u8>,
    },
    /// An instance of a class whose fields are not known yet.
    Late(Late),
    /// `next`: elements that are written; `length`: that are to be written.
    Elements {
        next: u32,
        length: u32,
    },
    /// An array of a primitive type, whose elements come all at once.
    Primitives {
        id: u64,
    },
}

/// An instance as it was told: its fields by their indexes, values in memory's order, and whether that is an id.
struct Late {
    id: u64,
    class: i64,
    fields: Vec<(u32, Vec<u8>, bool)>,
}

/// What is known of the objects that the second walk began with.
struct LeftOver {
    /// Their ids are greater.
    after: u64,
    /// By id: whether another object refers to it.
    referred: Vec<bool>,
}

pub(super) struct Walk<'a> {
    pub(super) classes: &'a mut Classes,
    pub(super) tags: &'a mut Tags,
    pub(super) output: &'a mut Output,
    pub(super) stacks: &'a mut Stacks,
    pub(super) tracked: Option<&'a dyn Tracked>,
    pub(super) stop: Option<Stop>,
    /// Records of objects so far; classes are not among them.
    pub(super) objects: u64,
    /// Arrays that had to be cut.
    pub(super) cut: u64,
    /// Instances whose records cannot be made yet.
    late: Vec<Late>,
    open: Open,
    left_over: Option<LeftOver>,
    /// Spare memory for the next instance.
    spare: Vec<u8>,
}

/// The most elements of this size that a record can have.
fn most_elements(size: usize) -> u32 {
    (u32::MAX - 64) / size as u32
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        classes: &'a mut Classes,
        tags: &'a mut Tags,
        output: &'a mut Output,
        stacks: &'a mut Stacks,
        tracked: Option<&'a dyn Tracked>,
    ) -> Walk<'a> {
        Walk {
            classes,
            tags,
            output,
            stacks,
            tracked,
            stop: None,
            objects: 0,
            cut: 0,
            late: Vec::new(),
            open: Open::Nothing,
            left_over: None,
            spare: Vec::new(),
        }
    }

    /// Gets ready for the second walk.
    pub(super) fn begin_left_over(&mut self) {
        self.left_over = Some(LeftOver { after: self.tags.given(), referred: Vec::new() });
    }

    /// Notes that something refers to an object.
    pub(super) fn refer(&mut self, id: u64) {
        if let Some(left_over) = &mut self.left_over
            && let Some(beyond) = id.checked_sub(left_over.after + tags::ALIGNMENT)
        {
            let index = (beyond / tags::ALIGNMENT) as usize;
            if left_over.referred.len() <= index {
                left_over.referred.resize(index + 1, false);
            }
            left_over.referred[index] = true;
        }
    }

    /// Writes roots for what the second walk began with and nothing refers to.
    pub(super) fn write_left_over_roots(&mut self) {
        self.close();
        let Some(left_over) = self.left_over.take() else { return };
        for (id, referred) in (left_over.after + tags::ALIGNMENT..=self.tags.given())
            .step_by(tags::ALIGNMENT as usize)
            .zip(left_over.referred.into_iter().chain(std::iter::repeat(false)))
        {
            if !referred {
                self.write(Body::default().u1(record::ROOT_UNKNOWN).u8(id));
            }
        }
    }

    /// The id of an object, which gets one if it has none, and whether to visit it. No id: there are no more.
    fn visit(&mut self, target: &mut Target<'_>) -> (Option<u64>, Next) {
        let tag = *target.tag;
        if tags::is_met(tag) {
            let is_class = self.classes.is_class_class(target.class);
            let class = if is_class { self.classes.of_mut(tag) } else { None };
            let is_new = class.is_some_and(|class| !std::mem::replace(&mut class.visited, true));
            // What the first walk has met it has visited; the second need not do so again.
            let next = if is_new || self.left_over.is_none() { Next::Visit } else { Next::Pass };
            return (Some(tags::id(tag)), next);
        }
        let tag = match self.classes.is_class_class(target.class) {
            // Of a class that is not known.
            true => self.classes.visit(tag, self.tags),
            false => self.tags.visit(tag, target.length),
        };
        let Some(tag) = tag else { return (None, self.stop(Stop::Ids)) };
        *target.tag = tag;
        (Some(tags::id(tag)), Next::Visit)
    }

    fn stop(&mut self, stop: Stop) -> Next {
        self.stop = Some(stop);
        Next::Stop
    }

    /// Begins the record of an object; `class` is the tag of its class.
    fn begin(&mut self, owner: i64, class: i64) {
        self.close();
        let Some(known) = self.classes.of(class) else { return };
        let id = tags::id(owner);
        self.objects += 1;
        // An array's tag tells its length, and there is no class of arrays of a primitive type that comes late.
        let kind = match known.kind {
            Kind::Unprepared if tags::has_length(owner) => Kind::ObjectArrays,
            kind => kind,
        };
        match kind {
            Kind::Unprepared => self.open = Open::Late(Late { id, class, fields: Vec::new() }),
            Kind::Objects => {
                let mut values = std::mem::take(&mut self.spare);
                values.clear();
                values.resize(known.instance_size as usize, 0);
                self.open = Open::Instance { id, class, values };
            }
            Kind::ObjectArrays => {
                let (class, full) = (known.id, self.tags.length(owner));
                let length = full.min(most_elements(ID_SIZE));
                self.cut += u64::from(length < full);
                let trace = self.trace(id);
                let head =
                    Body::default().u1(record::OBJECT_ARRAY_DUMP).u8(id).u4(trace).u4(length).u8(class);
                self.output.begin_object(head.0.len() as u64 + ID_SIZE as u64 * u64::from(length));
                self.output.put(&head.0);
                self.open = Open::Elements { next: 0, length };
            }
            Kind::PrimitiveArrays => self.open = Open::Primitives { id },
        }
    }

    /// Ends the record that is being written.
    pub(super) fn close(&mut self) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing | Open::Primitives { .. } => {}
            Open::Late(late) => self.late.push(late),
            Open::Instance { id, class, values } => {
                let class = self.classes.of(class).map_or(0, |class| class.id);
                self.write_instance(id, class, &values);
                self.spare = values;
            }
            Open::Elements { next, length } => {
                self.output.put_zeros(ID_SIZE as u64 * u64::from(length - next))
            }
        }
    }

    /// Writes the instances that had to wait, now that their classes are known as far as they ever will be.
    pub(super) fn write_late(&mut self) {
        for Late { id, class, fields } in std::mem::take(&mut self.late) {
            let Some(known) = self.classes.of(class) else { continue };
            let mut values = vec![0; known.instance_size as usize];
            // What a field refers to for which there is no place is still to be found.
            let mut homeless = Vec::new();
            for (index, value, is_id) in &fields {
                let place = known.place(*index).and_then(|place| values.get_mut(place..place + value.len()));
                match place {
                    Some(to) => record::copy_value(value, to),
                    None if *is_id => homeless.extend(value.as_slice().try_into().map(u64::from_ne_bytes)),
                    None => {}
                }
            }
            // A class without a record is one that is gone; Object's have no fields.
            let (class, values) = match self.classes.id_of_written(class) {
                Some(class) => (class, values),
                None => (self.classes.object_id(), Vec::new()),
            };
            self.write_instance(id, class, &values);
            for id in homeless {
                self.write(Body::default().u1(record::ROOT_UNKNOWN).u8(id));
            }
        }
    }

    /// Writes the record of an instance.
    pub(super) fn write_instance(&mut self, id: u64, class: u64, values: &[u8]) {
        let head = Body::default().u1(record::INSTANCE_DUMP).u8(id).u4(self.trace(id)).u8(class);
        let head = head.u4(values.len() as u32);
        self.output.begin_object((head.0.len() + values.len()) as u64);
        self.output.put(&head.0);
        self.output.put(values);
    }

    /// The number of the trace of the context that made an object.
    fn trace(&self, id: u64) -> u32 {
        let context =
            self.tracked.zip(tags::tracked(id)).map_or(0, |(tracked, number)| tracked.context_of(number));
        self.stacks.trace_of(context)
    }

    fn write(&mut self, body: Body) {
        self.output.begin_object(body.0.len() as u64);
        self.output.put(&body.0);
    }

    fn go_on(&mut self, next: Next) -> Next {
        if self.output.has_failed() { self.stop(Stop::Output) } else { next }
    }
}

impl HeapVisitor for Walk<'_> {
    fn root(&mut self, root: Root, mut target: Target<'_>) -> Next {
        self.close();
        let (Some(id), next) = self.visit(&mut target) else { return Next::Stop };
        let plain = |kind| Body::default().u1(kind).u8(id);
        let body = match root {
            Root::JniGlobal => plain(record::ROOT_JNI_GLOBAL).u8(id),
            Root::SystemClass => plain(record::ROOT_STICKY_CLASS),
            Root::Monitor => plain(record::ROOT_MONITOR_USED),
            Root::StackLocal(place) | Root::JniLocal(place) => {
                let local = matches!(root, Root::StackLocal(_));
                let (thread, frame) = self.stacks.place(place);
                plain(if local { record::ROOT_JAVA_FRAME } else { record::ROOT_JNI_LOCAL })
                    .u4(thread)
                    .u4(frame)
            }
            Root::Thread => {
                let (serial, trace) = self.stacks.thread(id);
                plain(record::ROOT_THREAD_OBJECT).u4(serial).u4(trace)
            }
            Root::Other => plain(record::ROOT_UNKNOWN),
        };
        self.write(body);
        self.go_on(next)
    }

    fn reference(&mut self, owner: i64, link: Link, mut target: Target<'_>) -> Next {
        let is_start = owner == tags::START;
        if link == Link::Class {
            let (_, next) = self.visit(&mut target);
            if is_start {
                self.close();
            } else {
                self.begin(owner, *target.tag);
            }
            return self.go_on(next);
        }
        let (Some(id), next) = self.visit(&mut target) else { return Next::Stop };
        if is_start {
            return next;
        }
        self.refer(id);
        match (link, &mut self.open) {
            (Link::Field(index), Open::Instance { class, values, .. }) => {
                let place = self.classes.of(*class).and_then(|class| class.place(index));
                if let Some(to) = place.and_then(|place| values.get_mut(place..place + ID_SIZE)) {
                    to.copy_from_slice(&id.to_be_bytes());
                }
            }
            (Link::Field(index), Open::Late(late)) => {
                late.fields.push((index, id.to_ne_bytes().to_vec(), true))
            }
            (Link::Element(index), Open::Elements { next, length }) if (*next..*length).contains(&index) => {
                let gap = index - *next;
                *next = index + 1;
                if gap > 0 {
                    self.output.put_zeros(ID_SIZE as u64 * u64::from(gap));
                }
                self.output.put(&id.to_be_bytes());
            }
            (Link::StaticField(index), _) => self.classes.set_static(owner, index, &id.to_ne_bytes()),
            (Link::Signers, _) => self.classes.set_signers(owner, id),
            (Link::ProtectionDomain, _) => self.classes.set_protection_domain(owner, id),
            _ => {}
        }
        next
    }

    fn primitive(&mut self, owner: i64, is_static: bool, index: u32, value: &[u8]) -> Next {
        if is_static {
            self.classes.set_static(owner, index, value);
        } else if let Open::Instance { class, values, .. } = &mut self.open {
            let place = self.classes.of(*class).and_then(|class| class.place(index));
            if let Some(to) = place.and_then(|place| values.get_mut(place..place + value.len())) {
                record::copy_value(value, to);
            }
        } else if let Open::Late(late) = &mut self.open {
            late.fields.push((index, value.to_vec(), false));
        }
        Next::Visit
    }

    fn array(&mut self, _: i64, kind: PrimitiveType, elements: &[u8]) -> Next {
        let Open::Primitives { id } = std::mem::replace(&mut self.open, Open::Nothing) else {
            return Next::Visit;
        };
        let size = kind.size();
        let full = elements.len() / size;
        let length = full.min(most_elements(size) as usize);
        self.cut += u64::from(length < full);
        let head = Body::default().u1(record::PRIMITIVE_ARRAY_DUMP).u8(id).u4(self.trace(id));
        let head = head.u4(length as u32).u1(record::type_of(kind));
        self.output.begin_object((head.0.len() + length * size) as u64);
        self.output.put(&head.0);
        let elements = &elements[..length * size];
        if size == 1 || cfg!(target_endian = "big") {
            self.output.put(elements);
        } else {
            let mut turned = [0; 8 << 10];
            for piece in elements.chunks(turned.len()) {
                for (value, to) in piece.chunks_exact(size).zip(turned.chunks_exact_mut(size)) {
                    record::copy_value(value, to);
                }
                self.output.put(&turned[..piece.len()]);
            }
        }
        self.go_on(Next::Visit)
    }
}
