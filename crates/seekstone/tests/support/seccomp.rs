//! System calls that the kernel answers by an error, as in a sandbox.
#![cfg(target_arch = "x86_64")]
#![allow(unsafe_code)]

use std::io;

/// A program of the kernel's filter: this error for these calls, all others pass.
pub fn refusing(numbers: &[libc::c_long], errno: libc::c_int) -> Vec<libc::sock_filter> {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let step = |code, jt, k| libc::sock_filter { code, jt, jf: 0, k };
    let mut steps = vec![step(LOAD_NUMBER, 0, 0)];
    let mut left = u8::try_from(numbers.len()).expect("a short list");
    for number in numbers {
        let number = u32::try_from(*number).expect("a number");
        steps.push(step(JUMP_IF_EQUAL, left, number));
        left -= 1;
    }
    let errno = u32::try_from(errno).expect("a number");
    steps.push(step(RETURN, 0, libc::SECCOMP_RET_ALLOW));
    steps.push(step(RETURN, 0, libc::SECCOMP_RET_ERRNO | errno));
    steps
}

/// Put this process, and what it starts, under the filter. Makes system calls alone, as is needed
/// between fork and exec.
///
/// # Errors
/// When the kernel takes no filter.
pub fn enter(steps: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: u16::try_from(steps.len()).expect("a short list"),
        filter: steps.as_ptr().cast_mut(),
    };
    // SAFETY: the calls take numbers, and a list that is alive.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            ) == 0
    };
    match done {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}
