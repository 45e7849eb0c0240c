//! Stacks whose innermost frame is not complete: the processor was at the very beginning or end of a compiled method, or in a stub that has no frame. Then the
//! stack is walked from the caller on, which the return address tells. So it is with functions of the virtual machine that compiled code calls just so.

#[cfg(target_arch = "x86_64")]
use super::super::code::{self, Code};
use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

/// Where the virtual machine keeps compiled code, the interpreter and stubs.
static CODE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
/// A frame pointer that is farther from the stack pointer belongs to no stub.
#[cfg(target_arch = "x86_64")]
const LARGEST_STUB: usize = 512;
/// Bytes of the stack of functions of the virtual machine, and what may be their return addresses.
#[cfg(target_arch = "x86_64")]
const LARGEST_CALLED: usize = 2048;
#[cfg(target_arch = "x86_64")]
const MOST_CALLERS: usize = 4;

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

/// Whether an address is there. For the signal handler.
pub(super) fn is_code(address: usize) -> bool {
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
    let counter = before[0] as usize;
    let places = if code::at(counter) != Code::Other {
        // SAFETY: code has code around it.
        let near = unsafe { std::slice::from_raw_parts((counter - BEFORE) as *const u8, BEFORE + BEHIND) };
        let frame = incomplete(near, BEFORE);
        [frame.map(|frame| (stack + frame.bytes, frame.saved.then(|| word(stack + frame.bytes - 8)))), None]
    } else {
        // Of a stub: the return address is on top, or where the frame pointer says.
        let has_frame = (stack..stack + LARGEST_STUB).contains(&frame) && frame.is_multiple_of(8);
        [Some((stack, None)), has_frame.then(|| (frame + 8, Some(word(frame))))]
    };
    // Of a function of the virtual machine that compiled code has called just so: the next return addresses to compiled code.
    let called = (stack..stack + LARGEST_CALLED).step_by(8).filter(|at| code::at(word(*at)) != Code::Other);
    let called = called.take(if is_code(counter) { 0 } else { MOST_CALLERS }).map(|at| (at, None));
    let mut found = None;
    for (at, saved) in places.into_iter().flatten().chain(called) {
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

/// Bytes of code that are looked at, in front of the next instruction and from it on.
#[cfg(target_arch = "x86_64")]
const BEFORE: usize = 48;
#[cfg(target_arch = "x86_64")]
const BEHIND: usize = 16;

/// What a method has put on the stack so far, or not taken back yet.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, PartialEq, Eq)]
struct Incomplete {
    /// Below its return address.
    bytes: usize,
    /// The frame pointer of its caller is the last of these.
    saved: bool,
}

/// The frame of a compiled method at its beginning or end, as HotSpot's compilers make it: `push rbp`, `sub rsp`, a check whether the method may be entered; at the end `pop rbp`, a
/// poll of the safepoint, `ret`. `code`: some of it; `at`: the next instruction.
#[cfg(target_arch = "x86_64")]
fn incomplete(code: &[u8], at: usize) -> Option<Incomplete> {
    const PUSH: u8 = 0x55;
    const POP: u8 = 0x5d;
    const RET: u8 = 0xc3;
    /// cmp rsp, [r15 + ..], with 4 bytes for the distance, or (Java 25) 1.
    const POLLS: [[u8; 3]; 2] = [[0x49, 0x3b, 0xa7], [0x49, 0x3b, 0x67]];
    /// mov [rsp - ..], eax
    const BANG: [u8; 3] = [0x89, 0x84, 0x24];
    let none = Some(Incomplete { bytes: 0, saved: false });
    let next = code.get(at..)?;
    let is_popped = |back: usize| at.checked_sub(back).and_then(|pop| code.get(pop)) == Some(&POP);
    if next.starts_with(&[RET]) || next.starts_with(&[PUSH]) || next.starts_with(&BANG) {
        return none;
    }
    let is_poll = POLLS.iter().any(|poll| next.starts_with(poll)) && is_popped(1);
    // The jump behind it.
    if is_poll || next.starts_with(&[0x0f, 0x87]) && (is_popped(5) || is_popped(8)) {
        return none;
    }
    let saved = Some(Incomplete { bytes: 8, saved: true });
    if next.starts_with(&[POP]) {
        return saved;
    }
    let frame = |code: &[u8]| match *code {
        [0x48, 0x83, 0xec, bytes, ..] => Some((usize::from(bytes), 4)),
        [0x48, 0x81, 0xec, a, b, c, d, ..] => Some((u32::from_le_bytes([a, b, c, d]) as usize, 7)),
        _ => None,
    };
    // The nearest beginning of a method in front.
    let begin = (0..at).rev().find(|&push| code[push] == PUSH && frame(&code[push + 1..]).is_some())?;
    let (bytes, length) = frame(&code[begin + 1..])?;
    match at - begin {
        1 => saved,
        past if past > length => Some(Incomplete { bytes: bytes + 8, saved: true }),
        _ => None,
    }
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

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn instructions_tell_what_a_method_has_on_the_stack() {
        // mov [rsp - 0x14000], eax; push rbp; sub rsp, 0x20; cmp dword [r15 + 0x20], 1; .. add rsp, 0x20; pop rbp; cmp rsp, [r15 + 0x450]; ja; ret
        let code = [
            &[0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20][..],
            &[0x41, 0x81, 0x7f, 0x20, 0x01, 0x00, 0x00, 0x00],
            &[0x48, 0x83, 0xc4, 0x20, 0x5d, 0x49, 0x3b, 0xa7, 0x50, 0x04, 0x00, 0x00],
            &[0x0f, 0x87, 0x00, 0x00, 0x00, 0x00, 0xc3],
        ]
        .concat();
        let saved = |bytes| Some(Incomplete { bytes, saved: true });
        let nothing = Some(Incomplete { bytes: 0, saved: false });
        for (at, expected) in [
            (0, &nothing),
            (7, &nothing),
            (8, &saved(8)),
            (12, &saved(0x28)),
            (24, &saved(8)),
            (25, &nothing),
            (32, &nothing),
            (38, &nothing),
        ] {
            assert_eq!(incomplete(&code, at), *expected, "{at}");
        }
        // pop rbp; cmp rsp, [r15 + 0x28]; ja
        let short = [0x5d, 0x49, 0x3b, 0x67, 0x28, 0x0f, 0x87, 0x00, 0x00, 0x00, 0x00, 0xc3];
        assert!([1, 5, 11].into_iter().all(|at| incomplete(&short, at) == nothing));
        let large = [0x55, 0x48, 0x81, 0xec, 0x00, 0x01, 0x00, 0x00, 0x90];
        assert_eq!(incomplete(&large, 8), saved(0x108));
        assert_eq!(incomplete(&[0x90; 8], 4), None);
    }

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
