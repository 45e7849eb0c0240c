//! The heap profiler's native side. What is made is seen by Java code (`HeapProxy`), which knows class, thread and context; here are
//! the things that only the virtual machine can tell: sizes, what it makes itself, collections, and which objects are gone.
//!
//! 1. [`claim`]: an environment of its own, with its capabilities and callbacks.
//! 2. [`register`]: at VM_INIT, before the recorder begins, the native methods of `HeapAgent`.
//! 3. [`begin`]: events are turned on, `java.lang.Object` is rewritten, and the early wrappers are told to pass their calls on.
//! 4. With `heap=objects` Java code hands every new object to [`made`], once, with primitives: it takes the next number, which is
//!    the object's tag and the place of its record (kind 14 of the profile). What the virtual machine makes by itself
//!    (VMObjectAlloc) goes the same way, over `Agent`; whatever is seen twice has its tag already.
//! 5. Frees and collections come where nothing may be called; they only write into records that are there.
//! 6. [`end`]: since 17 frees are posted late; to turn the event off brings those that are left.
//! 7. [`stop`]: where the program runs on, the environment goes, and all tags with it: the objects of another recording are new to it.
//!
//! | made by | `counts` | `objects` |
//! |---|---|---|
//! | `new`, constructors called by reflection or method handles, deserialisation, boxing, lambdas, records, strings | yes | yes |
//! | arrays, `clone()` and `Array.newInstance` in rewritten classes | yes | yes |
//! | the virtual machine itself: arrays and copies that reflection makes, stack traces, `Unsafe.allocateInstance` since 21 | no | what it tells: nothing of code that is compiled |
//! | arrays and copies in classes that are not rewritten: those of the JDK that are not included, hidden ones | no | as the line above |
//! | native code (JNI) without a constructor | no | no |
//! | start-up, before VM_INIT | with `early=on`: constructors, and arrays as above | the same, as made at VM_INIT |
//! | a thread of native code, until it has a name; a thread, to get its first state | no | no |
//!
//! With `heap-all=on` the virtual machine reports all of it: see [`every_allocation`]. Then no class is rewritten for the heap.

mod classes;
mod coverage;
mod events;
mod every_allocation;
mod natives;
mod records;
mod share;

use crate::events::environments;
use crate::jvmti::{
    Callbacks, Capability, Environment, Event, Global, Jni, Jvmti, JvmtiError, NativeMethod, StaticMethod,
    Value,
};
use crate::options;
use crate::recording::recorder;
use crate::talk::say;
pub(crate) use classes::Classes;
pub(crate) use coverage::Coverage;
use records::Records;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What has the native methods.
const CLASS: &str = "instrument/runtime/HeapAgent";

/// The class whose constructor every other one calls.
pub(crate) const OBJECT: &[u8] = b"java/lang/Object";

// Bits of what `made` gives, as `HeapAgent` has them.
const KNOWN: i32 = 1;
const NO_ROOM: i32 = 2;
const WANTS_OBJECTS: i32 = 4;
const WANTS_COLLECTIONS: i32 = 8;
// Kinds of regions.
const COLLECTIONS: i32 = 13;
const OBJECTS: i32 = 14;

struct Heap {
    jvmti: Jvmti<'static>,
    classes: Classes,
    biographies: bool,
    /// The virtual machine reports every object.
    all: bool,
    /// How long the search for holders may take.
    holders: Duration,
    objects: Records<4>,
    collections: Records<2>,
    /// Number of the collection that is under way; 0: there is no record of it.
    current: AtomicU64,
    /// Collections that have begun.
    begun: AtomicU64,
    /// Collections that have ended.
    ended: AtomicU64,
    java: OnceLock<Java>,
    /// The buffers of the records, whose memory stays as long as these do.
    bodies: Mutex<Vec<Global>>,
}

struct Java {
    begin: StaticMethod,
    /// Takes what the virtual machine has made.
    made: StaticMethod,
}

/// What is recorded, while it is. What it points to is never freed: an event that looked at it a moment ago may still do so. That is
/// some 12 KB a recording; the room for records is the profile's.
static HEAP: AtomicPtr<Heap> = AtomicPtr::new(null_mut());

/// Threads that may write to a record.
static WRITERS: AtomicUsize = AtomicUsize::new(0);

/// How long to wait for them at the end.
const TO_LEAVE: Duration = Duration::from_secs(1);

/// Held while the tags are used otherwise than by events and native methods, and while their environment goes.
static TAGS: Mutex<()> = Mutex::new(());

/// What it needs of the virtual machine.
fn capabilities(heap: &options::Heap) -> Vec<Capability> {
    let mut wanted = vec![Capability::GenerateGarbageCollectionEvents];
    if heap.biographies {
        wanted.extend([Capability::TagObjects, Capability::GenerateObjectFreeEvents]);
    }
    if heap.all {
        wanted.push(every_allocation::CAPABILITY);
    } else if heap.biographies {
        wanted.push(Capability::GenerateVmObjectAllocEvents);
    }
    wanted
}

/// What the virtual machine calls.
static CALLBACKS: Callbacks = Callbacks {
    garbage_collection_start: Some(events::garbage_collection_start),
    garbage_collection_finish: Some(events::garbage_collection_finish),
    object_free: Some(events::object_free),
    vm_object_alloc: Some(events::vm_object_alloc),
    sampled_object_alloc: Some(every_allocation::sampled_object_alloc),
    ..Callbacks::NONE
};

/// Takes its options; called at the start of the agent. `from_start`: objects are recorded from the initialisation of the virtual machine on,
/// neither earlier nor later.
///
/// # Errors
/// The virtual machine has no such environment.
pub(crate) fn claim(heap: options::Heap, from_start: bool) -> Result<(), String> {
    let failed = |error: JvmtiError| error.to_string();
    let jvmti = environments::another()?;
    share::renew();
    every_allocation::renew();
    let prepared = || {
        jvmti.add_capabilities(&capabilities(&heap))?;
        jvmti.set_callbacks(&CALLBACKS)?;
        if heap.all {
            every_allocation::prepare(jvmti)?;
        } else if from_start {
            // Without it the report has one figure less.
            let _ = share::prepare(jvmti);
        }
        Ok(())
    };
    if let Err(error) = prepared() {
        // SAFETY: nobody else was given it.
        unsafe { jvmti.dispose() };
        return Err(failed(error));
    }
    let options::Heap { classes, biographies, all, holders, .. } = heap;
    let heap = Heap {
        jvmti,
        classes,
        biographies,
        all,
        holders,
        objects: Records::new(),
        collections: Records::new(),
        current: AtomicU64::new(0),
        begun: AtomicU64::new(0),
        ended: AtomicU64::new(0),
        java: OnceLock::new(),
        bodies: Mutex::default(),
    };
    HEAP.store(Box::leak(Box::new(heap)), SeqCst);
    Ok(())
}

/// Whether objects are recorded.
pub(crate) fn is_on() -> bool {
    heap().is_some()
}

/// What is recorded, while it is.
fn heap() -> Option<&'static Heap> {
    // SAFETY: null, or what `claim` has leaked.
    unsafe { HEAP.load(SeqCst).as_ref() }
}

/// The heap for one that writes to records: they stay until it is dropped.
struct Writer(&'static Heap);

impl Writer {
    /// None: nothing is recorded any more.
    fn enter() -> Option<Writer> {
        WRITERS.fetch_add(1, SeqCst);
        let heap = heap();
        if heap.is_none() {
            WRITERS.fetch_sub(1, SeqCst);
        }
        heap.map(Writer)
    }

    /// The same for an event of an environment, unless that is of a recording that is over.
    fn of(environment: Environment) -> Option<Writer> {
        Writer::enter().filter(|writer| writer.0.jvmti.is(environment))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        WRITERS.fetch_sub(1, SeqCst);
    }
}

/// Whether the constructor of `java.lang.Object` is rewritten to tell of objects.
pub(crate) fn wants_object_rewritten() -> bool {
    heap().is_some_and(|heap| !heap.all)
}

/// Whether the virtual machine reports every object.
fn reports_all() -> bool {
    heap().is_some_and(|heap| heap.all)
}

/// What the agent has to say of the heap at the end, as properties of the profile.
pub(crate) fn properties() -> String {
    let missed = match every_allocation::missed() {
        0 => String::new(),
        missed => format!("heap.missed={missed}\n"),
    };
    missed + &share::properties()
}

/// Class number, ordinal of the thread and context of an object that has a biography. The number is its tag.
pub(crate) fn object(number: i64) -> Option<(u32, u32, u32)> {
    let record = heap()?.objects.get(u64::try_from(number).ok()?)?;
    let (made, context) = (record[0].load(Relaxed), record[1].load(Relaxed));
    (made as u32 != 0).then_some((made as u32, (made >> 32) as u32, context as u32))
}

/// What is known of an object that has a biography.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Life {
    /// Number of its class.
    pub(crate) class: u32,
    pub(crate) context: u32,
    pub(crate) bytes: u64,
    /// Collections that had ended when it was made.
    pub(crate) born: u64,
}

/// The object with this number; none: there is no such one, or it is gone.
pub(crate) fn life(number: u64) -> Option<Life> {
    let record = heap()?.objects.get(number)?;
    let words = record.each_ref().map(|word| word.load(Relaxed));
    let is_there = words[0] as u32 != 0 && words[2] >> 32 == 0;
    is_there.then_some(Life {
        class: words[0] as u32,
        context: words[1] as u32,
        bytes: (words[2] & 0xffff_ffff) * 8,
        born: words[1] >> 32,
    })
}

/// How long the search for holders of leak suspects may take.
pub(crate) fn holders_limit() -> Duration {
    heap().map_or(Duration::ZERO, |heap| heap.holders)
}

/// Collections that have ended.
pub(crate) fn collections() -> u64 {
    heap().map_or(0, |heap| heap.ended.load(Relaxed))
}

/// The environment in which the numbers are tags. It does not go while this is there.
pub(crate) struct Numbers {
    pub(crate) jvmti: Jvmti<'static>,
    _lock: MutexGuard<'static, ()>,
}

impl Numbers {
    /// None: objects have no biographies.
    pub(crate) fn of_objects() -> Option<Numbers> {
        let lock = TAGS.lock().unwrap_or_else(PoisonError::into_inner);
        let heap = heap().filter(|heap| heap.biographies)?;
        Some(Numbers { jvmti: heap.jvmti, _lock: lock })
    }
}

/// Gives the Java side its native methods. False: it cannot be called.
pub(crate) fn register(jni: Jni<'_>) -> bool {
    let Some(heap) = heap() else { return true };
    let java = || {
        let registered = jni.static_method(CLASS, "registered", "([B)V")?;
        // SAFETY: each function takes and returns what the descriptor says.
        let natives = unsafe {
            [
                NativeMethod::new(c"follows", c"(Ljava/lang/String;)Z", natives::follows as *const c_void),
                NativeMethod::new(c"size", c"(Ljava/lang/Object;)J", natives::size as *const c_void),
                NativeMethod::new(c"made", c"(Ljava/lang/Object;IIIIZ)I", natives::made as *const c_void),
                NativeMethod::new(c"room", c"(ILjava/nio/ByteBuffer;J)Z", natives::room as *const c_void),
            ]
        };
        jni.register_natives(&registered, &natives).then_some(())?;
        jni.call_with_bytes(&registered, &[]).then_some(())?;
        Some(Java {
            begin: jni.static_method(recorder::CLASS, "heapBegins", "([B)V")?,
            made: jni.static_method(recorder::CLASS, "made", "(Ljava/lang/Object;)V")?,
        })
    };
    java().is_some_and(|java| heap.java.set(java).is_ok())
}

/// From here on objects are recorded. The load hook is on and, where that is wanted, rewrites [`OBJECT`]. `kept`: an array of objects that were made before.
pub(crate) fn begin(jni: Jni<'_>, kept: Option<&Global>) {
    let Some((heap, java)) = heap().and_then(|heap| Some((heap, heap.java.get()?))) else { return };
    if !jni.call_with_bytes(&java.begin, &[]) {
        return say(format_args!("objects are not recorded: the runtime failed"));
    }
    if heap.all
        && let Err(reason) = every_allocation::begin(heap.jvmti, jni)
    {
        say(format_args!("heap-all=on: {reason}; objects are not recorded, or in part"));
    }
    if !heap.all {
        share::begin(heap.jvmti);
    }
    let mut events = vec![Event::GarbageCollectionStart, Event::GarbageCollectionFinish];
    if heap.biographies {
        events.push(Event::ObjectFree);
    }
    if heap.biographies && !heap.all {
        events.push(Event::VmObjectAlloc);
    }
    for event in events {
        if let Err(error) = heap.jvmti.enable(event) {
            say(format_args!("{event:?} events do not come: {error}"));
        }
    }
    if let Some(kept) = kept {
        let before = jni.static_method(recorder::CLASS, "madeBefore", "(Ljava/lang/Object;)V");
        if !before.is_some_and(|before| jni.call(&before, &[Value::Object(&jni.object(kept))])) {
            say(format_args!("objects of start-up are not recorded: the runtime failed"));
        }
    }
}

/// The virtual machine ends: what it has kept back of frees comes now.
pub(crate) fn end() {
    if let Some(heap) = heap()
        && heap.biographies
    {
        let _ = heap.jvmti.disable(Event::ObjectFree);
    }
}

/// The recording ends before the virtual machine does: no event comes any more, nobody writes to a record, and no object is followed.
pub(crate) fn stop(jni: Jni<'_>) {
    let Some(heap) = heap() else { return };
    for event in [
        Event::GarbageCollectionStart,
        Event::GarbageCollectionFinish,
        Event::ObjectFree,
        Event::VmObjectAlloc,
        Event::SampledObjectAlloc,
    ] {
        let _ = heap.jvmti.disable(event);
    }
    let _nobody_else = TAGS.lock().unwrap_or_else(PoisonError::into_inner);
    HEAP.store(null_mut(), SeqCst);
    let end = Instant::now() + TO_LEAVE;
    while WRITERS.load(SeqCst) > 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    // Somebody who is late finds the environment and the memory that were there: they stay as long as the process then.
    if WRITERS.load(SeqCst) == 0 {
        // SAFETY: no writer is there, `heap` gives it to nobody any more, and who has it otherwise holds the lock.
        unsafe { heap.jvmti.dispose() };
        let mut bodies = heap.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.drain(..).for_each(|body| jni.forget_global(body));
    }
}
