//! Walks through the heap: what the virtual machine reports of each object, as calls of safe functions.
//!
//! The program stands still during a walk. What is called then may use neither JVMTI nor JNI, and runs on a thread of the virtual
//! machine; so it is given no environment. A panic in it ends the walk.

use super::{Jvmti, JvmtiError, MethodId, Object, checked};
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

const VISIT_OBJECTS: c_int = 0x100;
pub(super) const VISIT_ABORT: c_int = 0x8000;

/// Which objects [`Jvmti::iterate_heap`] leaves out.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(crate) enum LeaveOut {
    Tagged = 0x4,
    Untagged = 0x8,
}

/// How a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Next {
    /// Into the object, if it was not visited before.
    Visit = VISIT_OBJECTS,
    /// Past it.
    Pass = 0,
    /// Not at all.
    Stop = VISIT_ABORT,
}

/// The object that a reference leads to.
pub(crate) struct Target<'a> {
    /// Its tag, 0 for none; may be set.
    pub(crate) tag: &'a mut i64,
    /// The tag of its class.
    pub(crate) class: i64,
    /// Of an array.
    pub(crate) length: Option<u32>,
}

/// Where a stack refers to an object from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Tag of the thread.
    pub(crate) thread: i64,
    /// Of the frame, from the top.
    pub(crate) depth: i32,
    pub(crate) method: MethodId,
}

/// What keeps an object, or refers to it (`jvmtiHeapReferenceKind`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Root {
    JniGlobal,
    SystemClass,
    Monitor,
    StackLocal(Place),
    JniLocal(Place),
    Thread,
    Other,
}

/// What of an object refers to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// Its class; comes once for each object that is not a class, before all others of it.
    Class,
    Field(u32),
    Element(u32),
    Loader,
    Signers,
    ProtectionDomain,
    StaticField(u32),
    /// An interface, a superclass, or a constant.
    Implied,
}

/// Who is told. All that is told of one object comes without anything of another in between.
pub(crate) trait HeapVisitor {
    /// Whether values of primitive types are told.
    const VALUES: bool = true;
    /// The object is kept by the virtual machine.
    fn root(&mut self, root: Root, target: Target<'_>) -> Next;
    /// The object is kept by another, whose tag is given. Null is not reported.
    fn reference(&mut self, owner: i64, link: Link, target: Target<'_>) -> Next;
    /// A field of a primitive type: its index, and its value in memory's order, as many bytes as it has.
    fn primitive(&mut self, owner: i64, is_static: bool, index: u32, value: &[u8]) -> Next;
    /// All of an array of a primitive type, in memory's order; `size`: bytes of an element.
    fn array(&mut self, owner: i64, kind: PrimitiveType, elements: &[u8]) -> Next;
}

/// `jvmtiPrimitiveType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrimitiveType {
    Boolean,
    Byte,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
}

impl PrimitiveType {
    /// By the letter of descriptors.
    pub(crate) fn of(letter: u8) -> Option<PrimitiveType> {
        Some(match letter {
            b'Z' => PrimitiveType::Boolean,
            b'B' => PrimitiveType::Byte,
            b'C' => PrimitiveType::Char,
            b'S' => PrimitiveType::Short,
            b'I' => PrimitiveType::Int,
            b'J' => PrimitiveType::Long,
            b'F' => PrimitiveType::Float,
            b'D' => PrimitiveType::Double,
            _ => return None,
        })
    }

    /// Bytes of a value.
    pub(crate) fn size(self) -> usize {
        match self {
            PrimitiveType::Boolean | PrimitiveType::Byte => 1,
            PrimitiveType::Char | PrimitiveType::Short => 2,
            PrimitiveType::Int | PrimitiveType::Float => 4,
            PrimitiveType::Long | PrimitiveType::Double => 8,
        }
    }
}

/// `jvmtiHeapReferenceInfoStackLocal`, and the beginning that `jvmtiHeapReferenceInfoJniLocal` shares with it.
#[repr(C)]
struct StackInfo {
    thread_tag: i64,
    thread_id: i64,
    depth: c_int,
    method: *mut c_void,
}

type IterationCallback = unsafe extern "system" fn(i64, i64, *mut i64, c_int, *mut c_void) -> c_int;
type ReferenceCallback = unsafe extern "system" fn(
    kind: c_int,
    info: *const c_void,
    class_tag: i64,
    referrer_class_tag: i64,
    size: i64,
    tag: *mut i64,
    referrer_tag: *mut i64,
    length: c_int,
    user: *mut c_void,
) -> c_int;
type PrimitiveCallback = unsafe extern "system" fn(
    kind: c_int,
    info: *const c_void,
    class_tag: i64,
    tag: *mut i64,
    value: u64,
    value_type: c_int,
    user: *mut c_void,
) -> c_int;
type ArrayCallback = unsafe extern "system" fn(
    class_tag: i64,
    size: i64,
    tag: *mut i64,
    count: c_int,
    element_type: c_int,
    elements: *const u8,
    user: *mut c_void,
) -> c_int;

/// `jvmtiHeapCallbacks`.
#[repr(C)]
pub(crate) struct HeapCallbacks {
    iteration: Option<IterationCallback>,
    reference: Option<ReferenceCallback>,
    primitive: Option<PrimitiveCallback>,
    array: Option<ArrayCallback>,
    unused: [usize; 12],
}

impl HeapCallbacks {
    const NONE: HeapCallbacks =
        HeapCallbacks { iteration: None, reference: None, primitive: None, array: None, unused: [0; 12] };

    pub(super) fn iterating(callback: IterationCallback) -> HeapCallbacks {
        HeapCallbacks { iteration: Some(callback), ..HeapCallbacks::NONE }
    }

    pub(super) fn following(callback: ReferenceCallback) -> HeapCallbacks {
        HeapCallbacks { reference: Some(callback), ..HeapCallbacks::NONE }
    }
}

/// What the callbacks are given back: who is told, and whether that went wrong.
struct Walk<'a, V> {
    visitor: &'a mut V,
    panicked: bool,
}

impl<V> Walk<'_, V> {
    fn visit(&mut self, visit: impl FnOnce(&mut V) -> Next) -> c_int {
        if self.panicked {
            return VISIT_ABORT;
        }
        catch_unwind(AssertUnwindSafe(|| visit(self.visitor))).unwrap_or_else(|_| {
            self.panicked = true;
            Next::Stop
        }) as c_int
    }
}

impl Jvmti<'_> {
    /// Walks from all roots, or from an object, to all that can be reached. False: the visitor panicked.
    pub(crate) fn follow_references<V: HeapVisitor>(
        &self,
        from: Option<&Object<'_>>,
        visitor: &mut V,
    ) -> Result<bool, JvmtiError> {
        let mut walk = Walk { visitor, panicked: false };
        let callbacks = HeapCallbacks {
            primitive: if V::VALUES { Some(on_primitive::<V>) } else { None },
            array: if V::VALUES { Some(on_array::<V>) } else { None },
            ..HeapCallbacks::following(on_reference::<V>)
        };
        let start = from.map_or(null_mut(), |object| object.reference);
        let user = (&raw mut walk).cast();
        // SAFETY:
        // - The callbacks are those of this type of walk, which outlives the call.
        // - Null means all classes, and all roots.
        checked(unsafe { self.raw_follow_references(0, null_mut(), start, &callbacks, user) })?;
        Ok(!walk.panicked)
    }

    /// Calls `seen` with the tag of its class and with its own, which may be set, for every object in the heap, dead ones included.
    /// False: it panicked.
    pub(crate) fn iterate_heap<F: FnMut(i64, &mut i64)>(
        &self,
        leave_out: LeaveOut,
        mut seen: F,
    ) -> Result<bool, JvmtiError> {
        let mut walk = Walk { visitor: &mut seen, panicked: false };
        let callbacks = HeapCallbacks::iterating(on_object::<F>);
        let user = (&raw mut walk).cast();
        // SAFETY: as above.
        checked(unsafe { self.raw_iterate_through_heap(leave_out as c_int, null_mut(), &callbacks, user) })?;
        Ok(!walk.panicked)
    }
}

/// # Safety
/// `user` is the walk; nobody else uses it during the call.
unsafe fn walk<'a, V>(user: *mut c_void) -> &'a mut Walk<'a, V> {
    // SAFETY: see above.
    unsafe { &mut *user.cast::<Walk<'a, V>>() }
}

/// # Safety
/// Called by the virtual machine, with a walk of this type.
unsafe extern "system" fn on_object<F: FnMut(i64, &mut i64)>(
    class: i64,
    _size: i64,
    tag: *mut i64,
    _length: c_int,
    user: *mut c_void,
) -> c_int {
    // SAFETY: what was passed in is valid during this call.
    let (walk, tag) = unsafe { (walk::<F>(user), &mut *tag) };
    let next = walk.visit(|seen| {
        seen(class, tag);
        Next::Visit
    });
    // Zero means: go on.
    next & VISIT_ABORT
}

/// # Safety
/// Called by the virtual machine, with a walk of this type.
unsafe extern "system" fn on_reference<V: HeapVisitor>(
    kind: c_int,
    info: *const c_void,
    class: i64,
    _owner_class: i64,
    _size: i64,
    tag: *mut i64,
    owner_tag: *mut i64,
    length: c_int,
    user: *mut c_void,
) -> c_int {
    // SAFETY:
    // - The walk, and an info that is there for the kinds that have one.
    // - An object that refers to itself has its tag in one place.
    // - The owner's is read before the target's is borrowed.
    let (walk, owner, target) = unsafe {
        let owner = (!owner_tag.is_null()).then(|| *owner_tag);
        let length = u32::try_from(length).ok();
        (walk::<V>(user), owner, Target { tag: &mut *tag, class, length })
    };
    // SAFETY: only read for the kinds that have an index.
    let index = || unsafe { *info.cast::<c_int>() } as u32;
    // SAFETY: only read for the kinds that have a place.
    let place = || unsafe {
        let info = &*info.cast::<StackInfo>();
        Place { thread: info.thread_tag, depth: info.depth, method: MethodId(info.method) }
    };
    let link = match kind {
        1 => Link::Class,
        2 => Link::Field(index()),
        3 => Link::Element(index()),
        4 => Link::Loader,
        5 => Link::Signers,
        6 => Link::ProtectionDomain,
        8 => Link::StaticField(index()),
        7 | 9 | 10 => Link::Implied,
        _ => {
            let root = match kind {
                21 => Root::JniGlobal,
                22 => Root::SystemClass,
                23 => Root::Monitor,
                24 => Root::StackLocal(place()),
                25 => Root::JniLocal(place()),
                26 => Root::Thread,
                _ => Root::Other,
            };
            return walk.visit(|visitor| visitor.root(root, target));
        }
    };
    let Some(owner) = owner else { return walk.visit(|visitor| visitor.root(Root::Other, target)) };
    walk.visit(|visitor| visitor.reference(owner, link, target))
}

/// # Safety
/// Called by the virtual machine, with a walk of this type.
unsafe extern "system" fn on_primitive<V: HeapVisitor>(
    kind: c_int,
    info: *const c_void,
    _class: i64,
    tag: *mut i64,
    value: u64,
    value_type: c_int,
    user: *mut c_void,
) -> c_int {
    // SAFETY:
    // - Fields have an index.
    // - All of what was passed in is valid during this call.
    let (walk, index, tag) = unsafe { (walk::<V>(user), *info.cast::<c_int>() as u32, *tag) };
    let Some(kind_of_value) = PrimitiveType::of(value_type as u8) else { return VISIT_OBJECTS };
    // A union: its members begin where it begins.
    let bytes = value.to_ne_bytes();
    let is_static = kind == 8;
    walk.visit(|visitor| visitor.primitive(tag, is_static, index, &bytes[..kind_of_value.size()]))
}

/// # Safety
/// Called by the virtual machine, with a walk of this type.
unsafe extern "system" fn on_array<V: HeapVisitor>(
    _class: i64,
    _size: i64,
    tag: *mut i64,
    count: c_int,
    element_type: c_int,
    elements: *const u8,
    user: *mut c_void,
) -> c_int {
    let Some(kind) = PrimitiveType::of(element_type as u8) else { return VISIT_OBJECTS };
    // SAFETY:
    // - There are so many elements of this type, valid during this call.
    // - Of none, there may be no pointer either.
    let (walk, tag, elements) = unsafe {
        let bytes = count.max(0) as usize * kind.size();
        let elements = if bytes == 0 { &[] } else { std::slice::from_raw_parts(elements, bytes) };
        (walk::<V>(user), *tag, elements)
    };
    walk.visit(|visitor| visitor.array(tag, kind, elements))
}

/// The numbers that are written out above, and their names in the header.
#[cfg(test)]
pub(super) const KINDS: &[(c_int, &str)] = &[
    (1, "CLASS"),
    (2, "FIELD"),
    (3, "ARRAY_ELEMENT"),
    (4, "CLASS_LOADER"),
    (5, "SIGNERS"),
    (6, "PROTECTION_DOMAIN"),
    (7, "INTERFACE"),
    (8, "STATIC_FIELD"),
    (9, "CONSTANT_POOL"),
    (10, "SUPERCLASS"),
    (21, "JNI_GLOBAL"),
    (22, "SYSTEM_CLASS"),
    (23, "MONITOR"),
    (24, "STACK_LOCAL"),
    (25, "JNI_LOCAL"),
    (26, "THREAD"),
];
