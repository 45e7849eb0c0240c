//! Stacks whose innermost frame is not complete: the processor was at the very beginning or end of a compiled method, or in a stub that has no frame. Then the
//! stack is walked from the caller on, which the return address tells.

use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

/// Where the virtual machine keeps compiled code, the interpreter and stubs.
static CODE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
/// A frame pointer that is farther from the stack pointer belongs to no stub.
#[cfg(target_arch = "x86_64")]
const LARGEST_STUB: usize = 512;

/// Finds the code.
pub(super) fn prepare() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    if let Some(code) = code(&maps) {
        CODE[0].store(code.start, SeqCst);
        CODE[1].store(code.end, SeqCst);
    }
}

/// The largest piece of memory without a file that is kept for code, and has some.
fn code(maps: &str) -> Option<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(rights)) = (words.next(), words.next()) else { continue };
        let is_code = rights == "rwxp";
        if words.nth(3).is_some() || !(is_code || rights == "---p") {
            continue;
        }
        let Some((start, end)) = range.split_once('-') else { continue };
        let (Ok(start), Ok(end)) = (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16)) else {
            continue;
        };
        match pieces.last_mut() {
            Some(piece) if piece.end == start => piece.end = end,
            _ if is_code => pieces.push(start..end),
            _ => {}
        }
    }
    pieces.into_iter().max_by_key(Range::len)
}

fn is_code(address: usize) -> bool {
    (CODE[0].load(Relaxed)..CODE[1].load(Relaxed)).contains(&address)
}

/// Calls `walk` with the registers of the caller, as they will be after the return, until it gives a number of frames. The registers are as before
/// afterwards. For the signal handler.
///
/// # Safety
/// The registers are those of the current thread where it was interrupted, in Java code.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn walk(
    registers: &mut libc::ucontext_t,
    walk: impl Fn(&mut libc::ucontext_t) -> c_int,
) -> Option<c_int> {
    use libc::{REG_RBP, REG_RIP, REG_RSP};
    let register = |registers: &libc::ucontext_t, at: c_int| registers.uc_mcontext.gregs[at as usize];
    let before = [REG_RIP, REG_RSP, REG_RBP].map(|at| register(registers, at));
    let [_, stack, frame] = before.map(|value| value as usize);
    // SAFETY: the stack of Java code has these words.
    let word = |at: usize| unsafe { (at as *const usize).read() };
    // The return address is on top; or below what the method has saved of its caller; or where the frame pointer says.
    let saved = Some(word(stack));
    let stub = (stack..stack + LARGEST_STUB).contains(&frame) && frame.is_multiple_of(8);
    let places =
        [Some((stack, None)), Some((stack + 8, saved)), stub.then(|| (frame + 8, Some(word(frame))))];
    let mut found = None;
    for (at, saved) in places.into_iter().flatten() {
        let caller = word(at);
        if !is_code(caller) {
            continue;
        }
        let gregs = &mut registers.uc_mcontext.gregs;
        gregs[REG_RIP as usize] = caller as i64;
        gregs[REG_RSP as usize] = at as i64 + 8;
        gregs[REG_RBP as usize] = saved.map_or(before[2], |saved| saved as i64);
        found = Some(walk(registers)).filter(|count| *count > 0);
        if found.is_some() {
            break;
        }
    }
    for (at, value) in [REG_RIP, REG_RSP, REG_RBP].into_iter().zip(before) {
        registers.uc_mcontext.gregs[at as usize] = value;
    }
    found
}

/// As above: the return address is in a register, as long as nobody else is called.
///
/// # Safety
/// As above.
#[cfg(target_arch = "aarch64")]
pub(super) unsafe fn walk(
    registers: &mut libc::ucontext_t,
    walk: impl Fn(&mut libc::ucontext_t) -> c_int,
) -> Option<c_int> {
    const LINK: usize = 30;
    let (before, caller) = (registers.uc_mcontext.pc, registers.uc_mcontext.regs[LINK]);
    if !is_code(caller as usize) {
        return None;
    }
    registers.uc_mcontext.pc = caller;
    let count = walk(registers);
    registers.uc_mcontext.pc = before;
    Some(count).filter(|count| *count > 0)
}

/// Not known there.
///
/// # Safety
/// None.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) unsafe fn walk(
    _: &mut libc::ucontext_t,
    _: impl Fn(&mut libc::ucontext_t) -> c_int,
) -> Option<c_int> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_the_virtual_machine_is_found_with_room_to_grow() {
        let maps = "7f10-7f20 ---p 00000000 00:00 0 \n\
            7f20-7f30 rwxp 00000000 00:00 0 \n\
            7f30-7f80 ---p 00000000 00:00 0 \n\
            7f80-7f90 rwxp 00000000 00:00 0 \n\
            7fa0-7fff ---p 00000000 00:00 0 \n\
            8000-8001 rwxp 00000000 00:00 0 \n\
            9000-9fff rwxp 00000000 fe:00 1 /lib/x.so\n";
        assert_eq!(code(maps), Some(0x7f20..0x7f90));
        assert_eq!(code(""), None);
    }
}
