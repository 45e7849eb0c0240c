//! Which compiled code is the recorder's: a map of the code cache that the signal handler reads without a lock.
//!
//! HotSpot compiles the probes of a tree as methods of their own (`TreeProbes`), with everything that they call inside. So the method that an
//! address was compiled for says what runs there. A byte of the map stands for [`GRAIN`] bytes of code.
//!
//! Probes that count become a part of the methods that have them ([`inlined`]): of such methods a second map has a bit for each byte of code.

use super::{inlined, is_ours};
use crate::jvmti::Environment;
use crate::talk::contained;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst,
};
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
/// A bit for each byte of code: it is a probe.
type Bits = [AtomicU32; LEAF];

/// In the place of a [`Code`]: the bits tell it.
const MIXED: u8 = 3;

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
    bits: [AtomicPtr<Bits>; LEAVES],
}

static MAP: Map = Map::new();
/// Probes may be parts of methods.
static HAS_INLINED: AtomicBool = AtomicBool::new(false);

/// Compiled code by address: its bytes, and its method; the machine tells only the address of one that goes.
static METHODS: Mutex<BTreeMap<usize, (usize, usize)>> = Mutex::new(BTreeMap::new());

impl Map {
    const fn new() -> Map {
        Map {
            base: AtomicUsize::new(0),
            leaves: [const { AtomicPtr::new(null_mut()) }; LEAVES],
            bits: [const { AtomicPtr::new(null_mut()) }; LEAVES],
        }
    }

    /// For the signal handler.
    fn at(&self, address: usize) -> Code {
        let base = self.base.load(Relaxed);
        let Some(offset) = address.checked_sub(base).filter(|_| base != 0) else { return Code::Other };
        let (leaf, place) = (offset >> LOG_LEAF, (offset >> LOG_GRAIN) & (LEAF - 1));
        match element(&self.leaves, leaf).map_or(0, |leaf| leaf[place].load(Relaxed)) {
            1 => Code::Program,
            2 => Code::Recorder,
            MIXED => {
                let bits = element(&self.bits, leaf).map_or(0, |leaf| leaf[place].load(Relaxed));
                if bits >> (offset % GRAIN) & 1 == 1 { Code::Recorder } else { Code::Program }
            }
            _ => Code::Other,
        }
    }

    /// Only one thread at a time. `probes`: what of it is the recorder's, if it is not as a whole.
    fn set(&self, start: usize, bytes: usize, code: Code, probes: &[Range<usize>]) {
        if self.base.load(SeqCst) == 0 {
            let before = (LEAVES / 2) << LOG_LEAF;
            self.base
                .store(((start >> LOG_LEAF) << LOG_LEAF).saturating_sub(before).max(1 << LOG_LEAF), SeqCst);
        }
        let base = self.base.load(SeqCst);
        let mut probes = probes;
        for address in (start..start + bytes).step_by(GRAIN) {
            let Some(offset) = address.checked_sub(base) else { continue };
            let (leaf, place) = (offset >> LOG_LEAF, (offset >> LOG_GRAIN) & (LEAF - 1));
            if leaf >= LEAVES {
                continue;
            }
            let at = address - start;
            while probes.first().is_some_and(|probe| probe.end <= at) {
                probes = &probes[1..];
            }
            let is_probe =
                |byte: &usize| probes.iter().take_while(|p| p.start <= *byte).any(|p| p.contains(byte));
            let bits = (at..at + GRAIN).filter(is_probe).fold(0u32, |bits, byte| bits | 1 << (byte - at));
            if bits != 0 {
                make(&self.bits[leaf], || Box::new([const { AtomicU32::new(0) }; LEAF]))[place]
                    .store(bits, SeqCst);
            }
            let leaf = make(&self.leaves[leaf], || Box::new([const { AtomicU8::new(0) }; LEAF]));
            leaf[place].store(if bits == 0 { code as u8 } else { MIXED }, SeqCst);
        }
    }
}

fn element<T>(leaves: &[AtomicPtr<T>; LEAVES], leaf: usize) -> Option<&T> {
    // SAFETY: null, or a leaf that is never freed.
    unsafe { leaves.get(leaf)?.load(Relaxed).as_ref() }
}

/// A leaf, which is made if it is not there. Only one thread at a time.
fn make<T>(leaf: &AtomicPtr<T>, new: impl FnOnce() -> Box<T>) -> &T {
    if leaf.load(SeqCst).is_null() {
        leaf.store(Box::into_raw(new()), SeqCst);
    }
    // SAFETY: it was made above or before, and is never freed.
    unsafe { &*leaf.load(SeqCst) }
}

/// Probes may become parts of methods that are compiled from now on.
pub(super) fn expect_inlined() {
    HAS_INLINED.store(true, SeqCst);
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
    info: *const c_void,
) {
    contained("compiled code", || {
        let code = if is_ours(jvmti, method) { Code::Recorder } else { Code::Program };
        let (start, bytes) = (address as usize, size.max(0) as usize);
        let probes = match code == Code::Program && HAS_INLINED.load(SeqCst) {
            // SAFETY: the information is about this event.
            true => unsafe { inlined::probes(jvmti, (start, bytes), info) },
            false => Vec::new(),
        };
        let mut methods = METHODS.lock().unwrap_or_else(PoisonError::into_inner);
        methods.insert(start, (bytes, method as usize));
        MAP.set(start, bytes, code, &probes);
    });
}

/// # Safety
/// Called by the virtual machine: `jvmtiEventCompiledMethodUnload`.
pub(super) unsafe extern "system" fn unloaded(_: Environment, _: *mut c_void, address: *const c_void) {
    contained("compiled code that goes", || {
        let mut methods = METHODS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((bytes, _)) = methods.remove(&(address as usize)) {
            MAP.set(address as usize, bytes, Code::Other, &[]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_known_from_its_first_byte_to_its_last() {
        static MAP: Map = Map::new();
        let start = 0x7f00_1234_5fe0;
        assert_eq!(MAP.at(start), Code::Other);
        // Across the border of two leaves.
        MAP.set(start, 3 << LOG_LEAF, Code::Recorder, &[]);
        MAP.set(start + (3 << LOG_LEAF), 33, Code::Program, &[]);
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
        MAP.set(start, GRAIN, Code::Program, &[]);
        MAP.set(usize::MAX - GRAIN, GRAIN, Code::Program, &[]);
        assert_eq!((MAP.at(start), MAP.at(start + GRAIN)), (Code::Program, Code::Recorder));
    }

    #[test]
    fn probes_within_a_method_are_known_by_the_byte() {
        static MAP: Map = Map::new();
        let start = 0x7f00_1234_0020;
        MAP.set(start, 200, Code::Program, &[3..5, 31..33, 100..200]);
        let probes: Vec<usize> = (0..224).filter(|at| MAP.at(start + at) == Code::Recorder).collect();
        let expected: Vec<usize> = (3..5).chain(31..33).chain(100..200).collect();
        assert_eq!(probes, expected);
        assert_eq!((MAP.at(start), MAP.at(start + 99)), (Code::Program, Code::Program));
        // Other code lies there now.
        MAP.set(start, 200, Code::Program, &[]);
        assert!((0..200).all(|at| MAP.at(start + at) == Code::Program));
    }
}
