//! Stacks of threads that have called into the virtual machine without saying where: HotSpot notes the stack pointer of the last Java frame, and leaves it
//! to who walks the stack to find the return address below it. `AsyncGetCallTrace` does not. Where the words are is told by the tables that HotSpot
//! exports for debuggers.

use super::super::code::{self, Code};
use super::callers::is_code;
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

const WORD: usize = size_of::<usize>();
/// Words of the frame of a stub.
const LARGEST_STUB: usize = 64;
/// What may be the return address of a stub.
const MOST_CALLERS: usize = 3;

/// From a JNI environment to the words: stack pointer and program counter of the last Java frame. Zeros: they are not known.
static WORDS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Finds the words. `find`: addresses of what the virtual machine exports; `distance`: from one of its threads to its environment.
pub(super) fn prepare(find: impl Fn(&CStr) -> Option<usize>, distance: usize) {
    let fields = [
        (c"JavaThread", c"_anchor"),
        (c"JavaFrameAnchor", c"_last_Java_sp"),
        (c"JavaFrameAnchor", c"_last_Java_pc"),
    ];
    // SAFETY: `find` gives addresses of variables of the virtual machine, which has a table of this form.
    let offsets = fields.map(|(class, field)| unsafe { offset(&find, class, field) });
    if let [Some(anchor), Some(stack), Some(counter)] = offsets {
        for (word, at) in WORDS.iter().zip([stack, counter]) {
            word.store((anchor + at).wrapping_sub(distance), SeqCst);
        }
    }
}

/// The offset of a field, by `gHotSpotVMStructs`.
///
/// # Safety
/// `find` gives the addresses of HotSpot's variables.
pub(super) unsafe fn offset(
    find: impl Fn(&CStr) -> Option<usize>,
    class: &CStr,
    field: &CStr,
) -> Option<usize> {
    // SAFETY: each of these is a word.
    let word = |name: &CStr| find(name).map(|at| unsafe { (at as *const usize).read() });
    let mut entry = word(c"gHotSpotVMStructs")?;
    let stride = word(c"gHotSpotVMStructEntryArrayStride").filter(|stride| *stride > 0)?;
    let of_class = word(c"gHotSpotVMStructEntryTypeNameOffset")?;
    let of_field = word(c"gHotSpotVMStructEntryFieldNameOffset")?;
    let of_offset = word(c"gHotSpotVMStructEntryOffsetOffset")?;
    loop {
        // SAFETY: the table ends with an entry without a class; names are C strings.
        unsafe {
            let name = |at: usize| ((entry + at) as *const *const c_char).read();
            if name(of_class).is_null() {
                return None;
            }
            let is_field = !name(of_field).is_null() && CStr::from_ptr(name(of_field)) == field;
            if is_field && CStr::from_ptr(name(of_class)) == class {
                return Some(((entry + of_offset) as *const usize).read());
            }
        }
        entry += stride;
    }
}

/// Calls `walk` with the return address in its place. If that is in a stub whose frame HotSpot does not know (those that make objects, for example), with that
/// of the compiled method that has called the stub. For the signal handler.
///
/// # Safety
/// `jni` is the environment of the current thread, which was interrupted outside of Java code.
pub(super) unsafe fn walk(jni: usize, walk: impl Fn() -> c_int) -> Option<c_int> {
    let [stack, counter] = WORDS.each_ref().map(|word| word.load(Relaxed));
    if stack == 0 {
        return None;
    }
    let (stack, counter) = (jni.wrapping_add(stack) as *mut usize, jni.wrapping_add(counter) as *mut usize);
    // SAFETY:
    // - These are words of the thread, which nobody else reads while it is neither in native code nor at a safepoint.
    // - The word below the stack pointer of a frame that has called is the return address.
    // - Above are the frames of who called.
    unsafe {
        let before = stack.read();
        if before == 0 {
            // A compiler, for example: there is no Java code to be found.
            return Some(0);
        }
        if counter.read() != 0 {
            return None;
        }
        let word = |at: usize| (at as *const usize).read();
        let from = |top: usize| {
            stack.write_volatile(top);
            counter.write_volatile(word(top - WORD));
            Some(walk()).filter(|count| *count > 0)
        };
        let above = || (1..=LARGEST_STUB).map(|words| before + words * WORD);
        let callers = || above().filter(|top| code::at(word(top - WORD)) != Code::Other);
        let found = Some(before)
            .filter(|top| is_code(word(top - WORD)))
            .and_then(|top| from(top).or_else(|| callers().take(MOST_CALLERS).find_map(from)));
        stack.write_volatile(before);
        counter.write_volatile(0);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_in_the_tables_of_the_virtual_machine() {
        // Class, field and offset; the names of other columns are left out.
        let table: [[usize; 3]; 4] = [
            [c"Thread".as_ptr() as usize, c"_anchor".as_ptr() as usize, 1],
            [c"JavaThread".as_ptr() as usize, c"_state".as_ptr() as usize, 2],
            [c"JavaThread".as_ptr() as usize, c"_anchor".as_ptr() as usize, 640],
            [0, 0, 0],
        ];
        let words = [table.as_ptr() as usize, 24, 0, 8, 16];
        let names = ["gHotSpotVMStructs", "ArrayStride", "TypeNameOffset", "FieldNameOffset", "OffsetOffset"];
        let find = |name: &CStr| {
            let at = names.iter().position(|end| name.to_string_lossy().ends_with(end))?;
            Some(&raw const words[at] as usize)
        };
        // SAFETY: the table is of this form.
        let offset = |class, field| unsafe { offset(find, class, field) };
        assert_eq!(offset(c"JavaThread", c"_anchor"), Some(640));
        assert_eq!(offset(c"JavaThread", c"_other"), None);
    }
}
