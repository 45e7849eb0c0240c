//! The recorder's mappings of its profile. The virtual machine would keep its own until it collects garbage; ours go with the recording:
//!
//! 1. [`end`] puts zeros in the place of what was written, and unmaps the rest, which nobody was ever given. The file is free then. A
//!    probe that is on its way still writes into the zeros.
//! 2. When the buffer of a mapping has been collected, no probe can reach it any more, and [`sweep`] unmaps those zeros.

use crate::jvmti::{Environment, Jni, Object, Weak};
use crate::talk::contained;
use rustix::fs::{Mode, OFlags, open};
use std::ffi::{OsStr, c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

const CLASS: &str = "instrument/runtime/Mappings";
/// Where a profile says which one it is: the word `Format.NONCE`.
const NONCE_AT: u64 = 2 * 8;

static MAPPINGS: Mutex<Vec<Mapping>> = Mutex::new(Vec::new());

struct Mapping {
    memory: Memory,
    /// Offset of its beginning in the file.
    offset: u64,
    buffer: Weak,
    has_ended: bool,
}

/// Whole pages of ours.
struct Memory {
    address: usize,
    length: usize,
}

fn mappings() -> MutexGuard<'static, Vec<Mapping>> {
    MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The recorder maps by us from now on. False: it cannot.
pub(crate) fn register(jni: Jni<'_>) -> bool {
    let registered = || {
        jni.register_mappings(CLASS, map, end).then_some(())?;
        let registered = jni.static_method(CLASS, "registered", "([B)V")?;
        jni.call_with_bytes(&registered, &[]).then_some(())
    };
    registered().is_some()
}

/// `static native ByteBuffer instrument.runtime.Mappings.map(byte[] path, long nonce, long offset, int length)`. Null: it is not mapped.
///
/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn map(
    jni: Environment,
    _: *mut c_void,
    path: *mut c_void,
    nonce: i64,
    offset: i64,
    length: c_int,
) -> *mut c_void {
    let mapped = contained("a mapping", || {
        // SAFETY: the environment and the reference are valid during this call.
        let (jni, path) = unsafe { (Jni::new(jni), Object::new(path)) };
        sweep(jni);
        let (offset, length) = (u64::try_from(offset).ok()?, usize::try_from(length).ok()?);
        let file = opened(&jni.bytes(&path)?, nonce)?;
        let memory = Memory::of(&file, offset, length)?;
        // SAFETY: the memory is unmapped only when nobody has the buffer any more.
        let buffer = unsafe { jni.direct_buffer(memory.address, memory.length) };
        let weak = buffer.as_ref().and_then(|buffer| jni.weak(buffer));
        let (Some(buffer), Some(weak)) = (buffer, weak) else {
            memory.unmap();
            return None;
        };
        mappings().push(Mapping { memory, offset, buffer: weak, has_ended: false });
        Some(buffer.into_raw())
    });
    mapped.flatten().unwrap_or(null_mut())
}

/// `static native void instrument.runtime.Mappings.end(long)`: the recording is over, and its file is so long.
///
/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn end(jni: Environment, _: *mut c_void, length: i64) {
    contained("the end of mappings", || {
        for mapping in mappings().iter_mut().filter(|mapping| !mapping.has_ended) {
            let used = u64::try_from(length).unwrap_or(u64::MAX).saturating_sub(mapping.offset);
            mapping.has_ended = mapping.memory.forget_file(usize::try_from(used).unwrap_or(usize::MAX));
        }
        // SAFETY: the environment is valid during this call.
        sweep(unsafe { Jni::new(jni) });
    });
}

/// Unmaps what no probe can reach any more.
fn sweep(jni: Jni<'_>) {
    let mut mappings = mappings();
    for i in (0..mappings.len()).rev() {
        if mappings[i].has_ended && jni.is_collected(&mappings[i].buffer) {
            let Mapping { memory, buffer, .. } = mappings.swap_remove(i);
            memory.unmap();
            jni.forget_weak(buffer);
        }
    }
}

/// The file, if it is the profile that the recorder has open.
fn opened(path: &[u8], nonce: i64) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(open(OsStr::from_bytes(path), flags, Mode::empty()).ok()?);
    let mut word = [0; 8];
    file.read_exact_at(&mut word, NONCE_AT).ok()?;
    (i64::from_le_bytes(word) == nonce).then_some(file)
}

impl Memory {
    /// Maps a part of a file, which may lie behind its end.
    fn of(file: &File, offset: u64, length: usize) -> Option<Memory> {
        let offset = libc::off_t::try_from(offset).ok()?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, in a place that the system chooses.
        let address =
            unsafe { libc::mmap(null_mut(), length, protection, libc::MAP_SHARED, file.as_raw_fd(), offset) };
        (address != libc::MAP_FAILED).then(|| Memory { address: address.addr(), length })
    }

    /// Zeros in the place of so many bytes at its beginning; the others go. False: all stays as it was.
    fn forget_file(&mut self, used: usize) -> bool {
        let page = rustix::param::page_size();
        // At least one page: what is empty cannot be unmapped.
        let used =
            used.max(1).checked_next_multiple_of(page).map_or(self.length, |used| used.min(self.length));
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the range is ours. Who reads or writes it meanwhile finds the file or zeros.
        let zeros =
            unsafe { libc::mmap(without_provenance_mut(self.address), used, protection, flags, -1, 0) };
        if zeros == libc::MAP_FAILED {
            return false;
        }
        if used < self.length {
            Memory { address: self.address + used, length: self.length - used }.unmap();
            self.length = used;
        }
        true
    }

    fn unmap(self) {
        // SAFETY: the range is ours, and nobody has it any more.
        unsafe { libc::munmap(without_provenance_mut(self.address), self.length) };
    }
}
