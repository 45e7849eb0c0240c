//! Threads and what they wait for: monitors that others have, and `Object.wait`. The Java side writes the records, for it knows the
//! stack of the thread; what it needs and does not know is found out here: numbers, and who has a monitor.
//!
//! Threads and monitors have numbers, from 1: halves of their tags in an environment of our own. A tag keeps no object alive, costs no
//! identity hash code, and goes with its object. A thread may be a monitor, too: the halves are apart.
//!
//! The thread that is called here may have monitors of the program, even of the JDK. So nothing here or on the Java side waits for another
//! thread; the one lock is held for two calls that do not wait for anybody. Who has a monitor is asked on a thread of the recorder.

use crate::jvmti::{
    Callbacks, Capability, Event, Field, Jni, Jvmti, NativeMethod, Object, StaticMethod, Value,
};
use crate::recording::recorder;
use crate::talk::{contained, say};
use instrument_control::word::Owners;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

/// As the recorder knows it.
fn number(owners: Owners) -> i32 {
    match owners {
        Owners::Off => 0,
        Owners::On => 1,
        Owners::All => 2,
    }
}

/// Kinds of waits, as in the file.
const CONTENDED: i32 = 1;
const WAITING: i32 = 2;

// In the place of a thread's number.
/// A thread of the recorder.
const OWN: u32 = u32::MAX;
/// A thread that has ended: what it waits for now is the virtual machine's business.
const ENDED: u32 = u32::MAX - 1;

/// Which half of a tag.
#[derive(Debug, Clone, Copy)]
enum Half {
    Thread,
    Monitor,
}

struct Monitors {
    jvmti: Jvmti<'static>,
    now: StaticMethod,
    start: StaticMethod,
    begin: StaticMethod,
    end: StaticMethod,
    existing: StaticMethod,
    started: StaticMethod,
    ended: StaticMethod,
    finish: StaticMethod,
    /// `AbstractOwnableSynchronizer.exclusiveOwnerThread`: who has a lock of java.util.concurrent.
    lock_owner: Option<Field>,
    /// Held while a number is given.
    numbering: Mutex<()>,
    last_thread: AtomicU32,
    last_monitor: AtomicU32,
    /// Waits that were not recorded because hardly any stack was left.
    missed: AtomicI32,
}

static MONITORS: OnceLock<Monitors> = OnceLock::new();

static CALLBACKS: Callbacks = Callbacks {
    vm_death: Some(vm_death),
    thread_start: Some(thread_start),
    thread_end: Some(thread_end),
    monitor_wait: Some(monitor_wait),
    monitor_waited: Some(monitor_waited),
    monitor_contended_enter: Some(monitor_contended_enter),
    monitor_contended_entered: Some(monitor_contended_entered),
    ..Callbacks::NONE
};

const EVENTS: [Event; 7] = [
    Event::VmDeath,
    Event::ThreadStart,
    Event::ThreadEnd,
    Event::MonitorWait,
    Event::MonitorWaited,
    Event::MonitorContendedEnter,
    Event::MonitorContendedEntered,
];

thread_local! {
    /// Set while this thread is in here. No virtual thread leaves its carrier meanwhile.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Begins to record. The virtual machine is initialised and the recorder has begun.
pub(crate) fn start(jni: Jni<'_>, owners: Owners) {
    // The recorder's own locks are none of the program's.
    INSIDE.set(true);
    let begun = begin(jni, owners);
    INSIDE.set(false);
    if let Err(reason) = begun {
        say(format_args!("threads are not recorded: {reason}"));
    }
}

const MONITORS_CLASS: &str = "instrument/runtime/Monitors";

fn begin(jni: Jni<'_>, owners: Owners) -> Result<(), String> {
    // Another recording of the same program: threads and monitors keep their numbers.
    let monitors = match MONITORS.get() {
        Some(monitors) => monitors,
        None => {
            let monitors = Monitors::new(jni)?;
            MONITORS.get_or_init(|| monitors)
        }
    };
    monitors.missed.store(0, Relaxed);
    let jvmti = monitors.jvmti;
    let mut granted = owners;
    if owners != Owners::Off
        && (jvmti.add_capabilities(&[Capability::GetMonitorInfo]).is_err()
            || !jni.register_question("instrument/runtime/Owners", "owner", owner))
    {
        say(format_args!("this JVM does not say who owns a monitor: owners are not recorded"));
        granted = Owners::Off;
    }
    if jni.call_for_boolean(&monitors.start, &[Value::Int(number(granted))]) != Some(true) {
        return Err("the recorder did not begin".to_owned());
    }
    // A thread that begins meanwhile is met twice, and has one number.
    for event in EVENTS {
        jvmti.enable(event).map_err(|error| error.to_string())?;
    }
    for thread in jvmti.threads(jni).map_err(|error| error.to_string())? {
        monitors.thread(jvmti, jni, &thread, &monitors.existing);
        jni.forget(thread);
    }
    Ok(())
}

/// The recording ends before the virtual machine does: no event comes any more, and what was heard is written.
pub(crate) fn stop(jni: Jni<'_>) {
    let Some(monitors) = MONITORS.get() else { return };
    INSIDE.set(true);
    for event in EVENTS {
        let _ = monitors.jvmti.disable(event);
    }
    jni.call(&monitors.finish, &[Value::Int(monitors.missed.load(Relaxed))]);
    INSIDE.set(false);
}

impl Monitors {
    /// An environment of its own, with what it hears and calls. Nothing is heard yet.
    fn new(jni: Jni<'_>) -> Result<Monitors, String> {
        const THREADS_CLASS: &str = "instrument/runtime/JavaThreads";
        let method = |class: &str, name: &str, descriptor: &'static str| {
            jni.static_method(class, name, descriptor).ok_or_else(|| format!("no {class}.{name}"))
        };
        let jvmti = jni.new_environment().map_err(|error| error.to_string())?;
        let wanted = [Capability::TagObjects, Capability::GenerateMonitorEvents];
        jvmti.add_capabilities(&wanted).map_err(|error| error.to_string())?;
        jvmti.set_callbacks(&CALLBACKS).map_err(|error| error.to_string())?;
        // Before 21 there are none.
        let _ = jvmti.add_capabilities(&[Capability::SupportVirtualThreads]);
        let now = method(MONITORS_CLASS, "now", "()J")?;
        // SAFETY: each function takes and returns what the descriptor says.
        let natives = unsafe {
            [
                NativeMethod::new(
                    c"numbers",
                    c"(Ljava/lang/Thread;Ljava/lang/Object;)J",
                    numbers as *const c_void,
                ),
                NativeMethod::new(c"lockOwner", c"(Ljava/lang/Object;)I", lock_owner as *const c_void),
            ]
        };
        if !jni.register_natives(&now, &natives) {
            return Err("no natives of Monitors".to_owned());
        }
        Ok(Monitors {
            jvmti,
            lock_owner: owner_field(jvmti, jni),
            now,
            start: method(recorder::CLASS, "startMonitors", "(I)Z")?,
            begin: method(MONITORS_CLASS, "begin", "(ILjava/lang/Object;IIJJ)V")?,
            end: method(MONITORS_CLASS, "end", "(IZ)V")?,
            finish: method(MONITORS_CLASS, "finish", "(I)V")?,
            existing: method(THREADS_CLASS, "existing", "(Ljava/lang/Thread;I)Z")?,
            started: method(THREADS_CLASS, "started", "(Ljava/lang/Thread;I)Z")?,
            ended: method(THREADS_CLASS, "ended", "(I)V")?,
            numbering: Mutex::new(()),
            last_thread: AtomicU32::new(0),
            last_monitor: AtomicU32::new(0),
            missed: AtomicI32::new(0),
        })
    }

    /// The number of an object in one of its two roles, given now if it has none; 0: there are no more.
    fn number(&self, jvmti: Jvmti<'_>, object: &Object<'_>, half: Half) -> u32 {
        let (shift, last) = match half {
            Half::Thread => (32, &self.last_thread),
            Half::Monitor => (0, &self.last_monitor),
        };
        let known =
            || Some((jvmti.tag(object).ok()?, shift)).map(|(tag, shift)| (tag, (tag >> shift) as u32));
        let number = || {
            if let (_, number @ 1..) = known()? {
                return Some(number);
            }
            let _lock = self.numbering.lock().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have been faster.
            let (tag, number) = known()?;
            if number != 0 {
                return Some(number);
            }
            let next = last.load(Relaxed).checked_add(1).filter(|&next| next < ENDED)?;
            jvmti.set_tag(object, tag | i64::from(next) << shift).ok()?;
            last.store(next, Relaxed);
            Some(next)
        };
        number().unwrap_or(0)
    }

    /// Numbers a thread that was not seen before, and tells the Java side.
    fn thread(&self, jvmti: Jvmti<'_>, jni: Jni<'_>, thread: &Object<'_>, tell: &StaticMethod) {
        let number = self.number(jvmti, thread, Half::Thread);
        if !is_number(number) {
            return;
        }
        let values = [Value::Thread(thread), Value::Int(number as i32)];
        if jni.call_for_boolean(tell, &values) == Some(false) {
            self.mark(jvmti, thread, OWN);
        }
    }

    /// Puts something in the place of a thread's number.
    fn mark(&self, jvmti: Jvmti<'_>, thread: &Object<'_>, mark: u32) {
        let _lock = self.numbering.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(tag) = jvmti.tag(thread) {
            let _ = jvmti.set_tag(thread, tag & i64::from(u32::MAX) | i64::from(mark) << 32);
        }
    }

    fn begin(
        &self,
        jvmti: Jvmti<'_>,
        jni: Jni<'_>,
        thread: &Object<'_>,
        monitor: &Object<'_>,
        kind: i32,
        timeout: i64,
    ) {
        let Some(clock) = jni.call_for_long(&self.now, &[]) else { return };
        let thread = self.number(jvmti, thread, Half::Thread);
        if !is_number(thread) {
            return;
        }
        let number = self.number(jvmti, monitor, Half::Monitor);
        let values = [
            Value::Int(kind),
            Value::Object(monitor),
            Value::Int(number as i32),
            Value::Int(thread as i32),
            Value::Long(timeout),
            Value::Long(clock),
        ];
        jni.call(&self.begin, &values);
    }
}

fn owner_field(jvmti: Jvmti<'_>, jni: Jni<'_>) -> Option<Field> {
    let class = jni.find_class("java/util/concurrent/locks/AbstractOwnableSynchronizer")?;
    let fields = jvmti.declared_fields(&class).ok()?;
    jni.forget(class);
    fields.into_iter().find(|field| field.name == b"exclusiveOwnerThread").map(|field| field.id)
}

/// `static native long numbers(Thread thread, Object monitor)`: that of the thread in the upper half; 0: it is none of the program's.
///
/// # Safety
/// Called by the virtual machine, with objects that are not null.
unsafe extern "system" fn numbers(
    _: *mut *const *const c_void,
    _: *mut c_void,
    thread: *mut c_void,
    monitor: *mut c_void,
) -> i64 {
    let Some(monitors) = MONITORS.get() else { return 0 };
    let numbers = contained("a lock", || {
        // SAFETY: all of what was passed in is valid during this call.
        let (thread, monitor) = unsafe { (Object::new(thread), Object::new(monitor)) };
        let thread = monitors.number(monitors.jvmti, &thread, Half::Thread);
        let monitor = || monitors.number(monitors.jvmti, &monitor, Half::Monitor);
        if is_number(thread) { i64::from(thread) << 32 | i64::from(monitor()) } else { 0 }
    });
    numbers.unwrap_or(0)
}

/// `static native int lockOwner(Object synchronizer)`: the number of the thread that has an `AbstractOwnableSynchronizer`; 0: nobody has it.
///
/// # Safety
/// Called by the virtual machine, with an object of that class.
unsafe extern "system" fn lock_owner(
    jni: *mut *const *const c_void,
    _: *mut c_void,
    synchronizer: *mut c_void,
) -> c_int {
    let Some(monitors) = MONITORS.get() else { return 0 };
    let number = contained("who has a lock", || {
        // SAFETY: all of what was passed in is valid during this call.
        let (jni, synchronizer) = unsafe { (Jni::new(jni), Object::new(synchronizer)) };
        let owner = jni.object_field(&synchronizer, monitors.lock_owner?);
        (!owner.is_null()).then(|| monitors.number(monitors.jvmti, &owner, Half::Thread))
    });
    let number = number.flatten().unwrap_or(0);
    if is_number(number) { number as c_int } else { 0 }
}

/// The number of the thread that has a monitor; 0: nobody has it, or none of the program's threads.
///
/// # Safety
/// Called by the virtual machine, with an object or null.
unsafe extern "system" fn owner(
    jni: *mut *const *const c_void,
    _: *mut c_void,
    monitor: *mut c_void,
) -> c_int {
    let Some(monitors) = MONITORS.get() else { return 0 };
    let number = contained("who has a monitor", || {
        // SAFETY: all of what was passed in is valid during this call.
        let (jni, monitor) = unsafe { (Jni::new(jni), Object::new(monitor)) };
        if monitor.is_null() {
            return None;
        }
        let jvmti: Jvmti<'_> = monitors.jvmti;
        let owner = jvmti.monitor_owner(&monitor, jni).ok()??;
        Some(monitors.number(jvmti, &owner, Half::Thread))
    });
    let number = number.flatten().unwrap_or(0);
    if is_number(number) { number as c_int } else { 0 }
}

fn is_number(number: u32) -> bool {
    (1..ENDED).contains(&number)
}

/// Calls `told` unless this thread is in here already, in the load hook, or has hardly any stack left. An exception of the program that is
/// pending stays pending.
///
/// # Safety
/// The environments are those of a callback, valid during this call.
unsafe fn hear(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    what: &str,
    told: impl FnOnce(&Monitors, Jvmti<'_>, Jni<'_>),
) {
    let Some(monitors) = MONITORS.get() else { return };
    if jni.is_null() || crate::classes::in_hook::is_loading() || INSIDE.replace(true) {
        return;
    }
    if recorder::has_stack() {
        contained(what, || {
            // SAFETY: see above.
            let (jvmti, jni) = unsafe { (Jvmti::new(jvmti), Jni::new(jni)) };
            jni.setting_thrown_aside(|| told(monitors, jvmti, jni));
        });
    } else {
        monitors.missed.fetch_add(1, Relaxed);
    }
    INSIDE.set(false);
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn thread_start(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    thread: *mut c_void,
) {
    // SAFETY: all of what was passed in is valid during this call.
    unsafe {
        let thread = Object::new(thread);
        hear(jvmti, jni, "the start of a thread", |monitors, jvmti, jni| {
            monitors.thread(jvmti, jni, &thread, &monitors.started);
        });
    }
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn thread_end(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    thread: *mut c_void,
) {
    // SAFETY: as above.
    unsafe {
        let thread = Object::new(thread);
        hear(jvmti, jni, "the end of a thread", |monitors, jvmti, jni| {
            let number = monitors.number(jvmti, &thread, Half::Thread);
            if is_number(number) {
                jni.call(&monitors.ended, &[Value::Int(number as i32)]);
                monitors.mark(jvmti, &thread, ENDED);
            }
        });
    }
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn monitor_contended_enter(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    thread: *mut c_void,
    monitor: *mut c_void,
) {
    // SAFETY: as above.
    unsafe {
        let (thread, monitor) = (Object::new(thread), Object::new(monitor));
        hear(jvmti, jni, "a contended monitor", |monitors, jvmti, jni| {
            monitors.begin(jvmti, jni, &thread, &monitor, CONTENDED, 0);
        });
    }
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn monitor_contended_entered(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    _: *mut c_void,
    _: *mut c_void,
) {
    // SAFETY: as above.
    unsafe {
        hear(jvmti, jni, "a contended monitor", |monitors, _, jni| {
            jni.call(&monitors.end, &[Value::Int(CONTENDED), Value::Boolean(false)]);
        });
    }
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn monitor_wait(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    thread: *mut c_void,
    monitor: *mut c_void,
    timeout: i64,
) {
    // SAFETY: as above.
    unsafe {
        let (thread, monitor) = (Object::new(thread), Object::new(monitor));
        hear(jvmti, jni, "a wait", |monitors, jvmti, jni| {
            monitors.begin(jvmti, jni, &thread, &monitor, WAITING, timeout);
        });
    }
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn monitor_waited(
    jvmti: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    _: *mut c_void,
    _: *mut c_void,
    timed_out: u8,
) {
    // SAFETY: as above.
    unsafe {
        hear(jvmti, jni, "a wait", |monitors, _, jni| {
            jni.call(&monitors.end, &[Value::Int(WAITING), Value::Boolean(timed_out != 0)]);
        });
    }
}

/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn vm_death(jvmti: *mut *const *const c_void, jni: *mut *const *const c_void) {
    // SAFETY: as above.
    unsafe {
        hear(jvmti, jni, "the end of the virtual machine", |monitors, _, jni| {
            jni.call(&monitors.finish, &[Value::Int(monitors.missed.load(Relaxed))]);
        });
    }
}
