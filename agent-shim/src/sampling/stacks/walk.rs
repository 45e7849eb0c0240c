//! What the signal handler does where stacks are sampled: it walks the interrupted thread's stack with HotSpot's `AsyncGetCallTrace`, which is
//! made for that. It allocates nothing and locks nothing.

use super::super::code::{self, Code};
use super::super::sampled::Sampled;
use super::super::timers;
use super::ring::{Frame, MOST_FRAMES, Ring};
use super::{anchor, callers};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};

/// `ASGCT_CallTrace`.
#[repr(C)]
struct Trace {
    jni: *mut c_void,
    count: c_int,
    frames: *mut Frame,
}

type AsyncGetCallTrace = unsafe extern "C" fn(*mut Trace, depth: c_int, context: *mut c_void);

const UNKNOWN_NOT_JAVA: c_int = -3;
const UNKNOWN_JAVA: c_int = -5;
const NOT_WALKABLE_JAVA: c_int = -6;
/// In the place of a number of frames: the thread is none of Java's.
pub(super) const NOT_JAVA: c_int = i32::MIN;
/// What [`Sampled::jni`] says of such a thread. No environment has this address.
const NONE: usize = 1;

static WALK: AtomicUsize = AtomicUsize::new(0);
static MACHINE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static RING: AtomicPtr<Ring> = AtomicPtr::new(null_mut());

/// Finds the function. `machine`: the `JavaVM*`.
///
/// # Errors
/// This virtual machine has none.
pub(super) fn prepare(machine: *mut c_void) -> Result<(), String> {
    let walk = find(c"AsyncGetCallTrace").ok_or(
        "record=samples walks stacks with AsyncGetCallTrace, and this virtual machine has no such function: use a JDK with HotSpot, or record=tree",
    )?;
    MACHINE.store(machine, SeqCst);
    WALK.store(walk, SeqCst);
    Ok(())
}

/// The address of what the virtual machine exports under a name.
pub(super) fn find(name: &CStr) -> Option<usize> {
    // SAFETY: names are C strings; the library is there already, and is not unloaded while there is a virtual machine.
    let address = unsafe {
        let anywhere = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        if anywhere.is_null() {
            // Who started it may have kept its names to himself.
            let library = libc::dlopen(c"libjvm.so".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() { library } else { libc::dlsym(library, name.as_ptr()) }
        } else {
            anywhere
        }
    };
    (!address.is_null()).then_some(address as usize)
}

/// Samples go there from now on; none: nowhere. No handler that uses the ring before may run.
pub(super) fn set_ring(ring: Option<&'static Ring>) {
    RING.store(ring.map_or(null_mut(), |ring| std::ptr::from_ref(ring).cast_mut()), SeqCst);
}

/// Takes a sample of the current thread. `address`: of the next instruction.
///
/// # Safety
/// `context` is what the handler was given; the thread is marked as busy.
pub(in super::super) unsafe fn take(
    sampled: &'static Sampled,
    periods: u64,
    (address, in_machine): (usize, bool),
    context: *mut c_void,
) {
    let start = timers::cpu_time();
    // SAFETY: null, or a ring that is there as long as threads are busy.
    let Some(ring) = (unsafe { RING.load(SeqCst).as_ref() }) else { return };
    let periods = if sampled.event.load(SeqCst) < 0 && timers::go_to_event(sampled) {
        // What came before this signal, which is the only one of that time.
        let before = start - sampled.began.load(SeqCst);
        (before.max(0) as u64).div_ceil(timers::period()).max(1)
    } else {
        periods
    };
    let Some(taken) = ring.take() else {
        sampled.lost.fetch_add(periods, SeqCst);
        return;
    };
    timers::suspend(sampled, true);
    let slot = ring.at(taken);
    // SAFETY: the slot is ours until it is put.
    unsafe {
        (*slot).serial = sampled.serial.load(SeqCst);
        (*slot).periods = periods;
        (*slot).in_machine = in_machine;
        (*slot).innermost = 0;
        let frames = (&raw mut (*slot).frames).cast();
        (*slot).count = walk(sampled, address, frames, &mut (*slot).innermost, context);
        timers::vary(sampled);
        (*slot).handler = (timers::cpu_time() - start).max(0) as u64;
    }
    ring.put(taken);
    timers::suspend(sampled, false);
}

/// # Safety
/// There is room for [`MOST_FRAMES`].
unsafe fn walk(
    sampled: &Sampled,
    address: usize,
    frames: *mut Frame,
    innermost: &mut usize,
    context: *mut c_void,
) -> c_int {
    let jni = match sampled.jni.load(SeqCst) {
        0 => {
            let jni = environment();
            sampled.jni.store(jni, SeqCst);
            jni
        }
        jni => jni,
    };
    let function = WALK.load(SeqCst);
    if jni == NONE || function == 0 {
        return NOT_JAVA;
    }
    // SAFETY: this is the address of a function of this type.
    let function = unsafe { std::mem::transmute::<usize, AsyncGetCallTrace>(function) };
    let walk = |context: *mut c_void| {
        let mut trace = Trace { jni: jni as *mut c_void, count: 0, frames };
        // SAFETY: the environment is that of the current thread, and there is room for so many frames.
        unsafe { function(&mut trace, MOST_FRAMES as c_int, context) };
        trace.count.min(MOST_FRAMES as c_int)
    };
    let count = walk(context);
    if count == UNKNOWN_NOT_JAVA {
        // SAFETY: this is the environment of the current thread.
        return unsafe { anchor::walk(jni, || walk(context)) }.unwrap_or(count);
    }
    if !matches!(count, UNKNOWN_JAVA | NOT_WALKABLE_JAVA) {
        return count;
    }
    // SAFETY: as above.
    let registers = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    // SAFETY: the thread was in Java code, which has frames above.
    let found =
        unsafe { callers::walk(registers, |registers| walk(std::ptr::from_mut(registers).cast()).max(0)) };
    if found.is_some() && code::at(address) != Code::Other {
        *innermost = address;
    }
    found.unwrap_or(count)
}

/// The JNI environment of the current thread; [`NONE`]: it has none. HotSpot looks into the thread's own memory for it.
fn environment() -> usize {
    const JNI_VERSION_9: c_int = 0x0009_0000;
    type GetEnv = unsafe extern "system" fn(*mut c_void, *mut usize, c_int) -> c_int;
    let machine = MACHINE.load(SeqCst);
    let mut environment = 0;
    // SAFETY: the machine lasts as long as the process; entry 6 of JNIInvokeInterface_ is GetEnv.
    let result = unsafe {
        let function: GetEnv = std::mem::transmute(*(*machine.cast::<*const *const c_void>()).add(6));
        function(machine, &mut environment, JNI_VERSION_9)
    };
    if result == 0 && environment != 0 { environment } else { NONE }
}

/// What is said of a stack that could not be walked, by what the function gives in the place of a number of frames. None: there is no Java code
/// on it.
pub(super) fn failure(count: c_int) -> Option<&'static str> {
    Some(match count {
        0 | NOT_JAVA => return None,
        -1 => "no events of classes",
        -2 => "the collector runs",
        -3 => "unknown, outside of Java",
        -4 => "not walkable, outside of Java",
        -5 => "unknown, in Java",
        -6 => "not walkable, in Java",
        -7 => "unknown state of the thread",
        -8 => "the thread ends",
        -9 => "deoptimization",
        -10 => "safepoint",
        _ => "unknown reason",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_the_function_is_refused() {
        // There is no virtual machine in this process.
        let error = prepare(null_mut()).unwrap_err();
        assert!(error.contains("AsyncGetCallTrace") && error.contains("record=tree"), "{error}");
        assert!(find(c"malloc").is_some());
    }
}
