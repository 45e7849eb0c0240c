//! Which compiled code is the recorder's: a map of the code cache that the signal handler reads without a lock.
//!
//! HotSpot compiles the probes of a tree as methods of their own (`TreeProbes`), with everything that they call inside. So the method that an
//! address was compiled for says what runs there. A byte of the map stands for [`GRAIN`] bytes of code.

use super::declaring_class;
use crate::jvmti::Environment;
use crate::talk::contained;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// HotSpot begins compiled code at multiples of this at least.
const LOG_GRAIN: usize = 5;
const GRAIN: usize = 1 << LOG_GRAIN;
/// Bytes of code that one leaf of the map is about.
const LOG_LEAF: usize = 20;
const LEAF: usize = 1 << (LOG_LEAF - LOG_GRAIN);
/// The map is about 4 GiB around the first compiled method: a code cache has 2 GiB at most.
const LEAVES: usize = 1 << 12;

type Leaf = [AtomicU8; LEAF];

/// What an address was compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Code {
    /// Not known: the interpreter, stubs, the virtual machine, native code, and what nobody has told of yet.
    Other = 0,
    Program = 1,
    Recorder = 2,
}

/// `jvmtiEventCompiledMethodLoad` in memory: address of the first leaf's code, and the leaves.
struct Map {
    /// 0: nothing is compiled.
    base: AtomicUsize,
    leaves: [AtomicPtr<Leaf>; LEAVES],
}

static MAP: Map = Map { base: AtomicUsize::new(0), leaves: [const { AtomicPtr::new(null_mut()) }; LEAVES] };

/// Compiled code by address: its bytes, and its method; the machine tells only the address of one that goes.
static METHODS: Mutex<BTreeMap<usize, (usize, usize)>> = Mutex::new(BTreeMap::new());

impl Map {
    /// For the signal handler.
    fn at(&self, address: usize) -> Code {
        let base = self.base.load(Relaxed);
        let Some(offset) = address.checked_sub(base).filter(|_| base != 0) else { return Code::Other };
        let Some(leaf) = self.leaves.get(offset >> LOG_LEAF) else { return Code::Other };
        // SAFETY: null, or a leaf that is never freed.
        let Some(leaf) = (unsafe { leaf.load(Relaxed).as_ref() }) else { return Code::Other };
        match leaf[(offset >> LOG_GRAIN) & (LEAF - 1)].load(Relaxed) {
            1 => Code::Program,
            2 => Code::Recorder,
            _ => Code::Other,
        }
    }

    /// Only one thread at a time.
    fn set(&self, start: usize, bytes: usize, code: Code) {
        if self.base.load(SeqCst) == 0 {
            let before = (LEAVES / 2) << LOG_LEAF;
            self.base
                .store(((start >> LOG_LEAF) << LOG_LEAF).saturating_sub(before).max(1 << LOG_LEAF), SeqCst);
        }
        let base = self.base.load(SeqCst);
        for address in (start..start + bytes).step_by(GRAIN) {
            let Some(offset) = address.checked_sub(base) else { continue };
            let Some(place) = self.leaves.get(offset >> LOG_LEAF) else { continue };
            if place.load(SeqCst).is_null() {
                let leaf: Box<Leaf> = Box::new([const { AtomicU8::new(0) }; LEAF]);
                place.store(Box::into_raw(leaf), SeqCst);
            }
            // SAFETY: it was made above or before, and is never freed.
            let leaf = unsafe { &*place.load(SeqCst) };
            leaf[(offset >> LOG_GRAIN) & (LEAF - 1)].store(code as u8, Relaxed);
        }
    }
}

/// What an address was compiled for. For the signal handler.
pub(super) fn at(address: usize) -> Code {
    MAP.at(address)
}

/// The method whose code is at an address now, as the virtual machine names it.
pub(super) fn method_at(address: usize) -> Option<usize> {
    let methods = METHODS.lock().unwrap_or_else(PoisonError::into_inner);
    let (start, (bytes, method)) = methods.range(..=address).next_back()?;
    (address - start < *bytes).then_some(*method)
}

/// # Safety
/// Called by the virtual machine: `jvmtiEventCompiledMethodLoad`.
pub(super) unsafe extern "system" fn loaded(
    jvmti: Environment,
    method: *mut c_void,
    size: c_int,
    address: *const c_void,
    _: c_int,
    _: *const c_void,
    _: *const c_void,
) {
    contained("compiled code", || {
        let is_ours =
            declaring_class(jvmti, method).is_some_and(|class| class.starts_with(b"Linstrument/runtime/"));
        let (start, bytes) = (address as usize, size.max(0) as usize);
        let mut methods = METHODS.lock().unwrap_or_else(PoisonError::into_inner);
        methods.insert(start, (bytes, method as usize));
        MAP.set(start, bytes, if is_ours { Code::Recorder } else { Code::Program });
    });
}

/// # Safety
/// Called by the virtual machine: `jvmtiEventCompiledMethodUnload`.
pub(super) unsafe extern "system" fn unloaded(_: Environment, _: *mut c_void, address: *const c_void) {
    contained("compiled code that goes", || {
        let mut methods = METHODS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((bytes, _)) = methods.remove(&(address as usize)) {
            MAP.set(address as usize, bytes, Code::Other);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_known_from_its_first_byte_to_its_last() {
        static MAP: Map =
            Map { base: AtomicUsize::new(0), leaves: [const { AtomicPtr::new(null_mut()) }; LEAVES] };
        let start = 0x7f00_1234_5fe0;
        assert_eq!(MAP.at(start), Code::Other);
        // Across the border of two leaves.
        MAP.set(start, 3 << LOG_LEAF, Code::Recorder);
        MAP.set(start + (3 << LOG_LEAF), 33, Code::Program);
        for (address, code) in [
            (start - 1, Code::Other),
            (start, Code::Recorder),
            (start + (3 << LOG_LEAF) - 1, Code::Recorder),
            (start + (3 << LOG_LEAF), Code::Program),
            (start + (3 << LOG_LEAF) + 32, Code::Program),
            (start + (3 << LOG_LEAF) + 64, Code::Other),
            (0, Code::Other),
            (usize::MAX, Code::Other),
        ] {
            assert_eq!(MAP.at(address), code, "{address:x}");
        }
        // Other code lies there now, and some beyond the map.
        MAP.set(start, GRAIN, Code::Program);
        MAP.set(usize::MAX - GRAIN, GRAIN, Code::Program);
        assert_eq!((MAP.at(start), MAP.at(start + GRAIN)), (Code::Program, Code::Recorder));
    }
}
