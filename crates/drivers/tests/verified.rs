//! Verified targets through every driver: headers are written, and what was changed behind a
//! driver's back is found by the read that meets it.

use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use drivers::{
    AccessMode, Caching, DriverKind, DriverOptions, MISMATCH, Target, TargetOptions, TargetTable,
    Verification, open_driver,
};
use engine::Driver;
use sys::MonotonicClock;
use verify::{Class, Ledger, new_words, words_needed};
use workload::{ClientId, Durability, Errno, Op, Request, TargetId};

const BLOCK: u32 = 8192;
const BLOCKS: u64 = 16;
const LEN: u64 = BLOCK as u64 * BLOCKS;
const TARGET: TargetId = TargetId(0);

/// Carry operations out one after the other.
fn run(driver: &mut dyn Driver, ops: &[Op]) -> Vec<Result<u32, Errno>> {
    let one = |op: &Op| {
        let request = Request::new(ClientId(0), driver.now(), *op);
        driver.submit(request).expect("submit");
        let mut done = Vec::new();
        while done.is_empty() {
            driver.wait(None, &mut done).expect("wait");
        }
        done[0].result
    };
    ops.iter().map(one).collect()
}

fn write(block: u64) -> Op {
    Op::Write {
        target: TARGET,
        offset: block * u64::from(BLOCK),
        len: BLOCK,
        durability: Durability::Volatile,
    }
}

fn read(block: u64) -> Op {
    Op::Read {
        target: TARGET,
        offset: block * u64::from(BLOCK),
        len: BLOCK,
    }
}

const FLUSH: Op = Op::Flush {
    target: TARGET,
    data_only: false,
};

/// Write all blocks twice, damage some of them, and read them all.
fn check(kind: DriverKind, depth: usize) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let path = directory.path().join("data");
    std::fs::write(&path, vec![7; LEN as usize]).expect("a file");
    let options = TargetOptions {
        access: AccessMode::Overwrite,
        caching: Caching::Buffered,
        signature_confirmed: None,
    };
    let target = Target::open(&path, &options).expect("the file");
    let table = Arc::new(TargetTable::new(vec![target]));
    let words = new_words(words_needed(4096, &[LEN]));
    let ledger = Ledger::new(9, 4096, &[LEN], words).expect("a ledger");
    let verification = Arc::new(Verification::new(ledger, Vec::new()));
    let mut settings = DriverOptions::new(depth, BLOCK as usize);
    settings.payload.headers = Some(Arc::clone(&verification));
    let opened = open_driver(kind, &table, MonotonicClock::start(), &settings);
    let mut driver = opened.expect("a driver").driver;
    let good = Ok(BLOCK);

    let unwritten = run(&mut driver, &[read(3)]);
    assert_eq!(unwritten, [good], "what was never written is not judged");
    let first: Vec<Op> = (0..BLOCKS).map(write).collect();
    assert!(run(&mut driver, &first).iter().all(|it| *it == good));
    let file = std::fs::File::options().read(true).write(true).open(&path);
    let file = file.expect("the file");
    let mut old = vec![0; BLOCK as usize];
    file.read_exact_at(&mut old, 4 * u64::from(BLOCK))
        .expect("a read");
    assert_eq!(
        run(&mut driver, &[write(4), write(5), FLUSH]),
        [good, good, Ok(0)]
    );

    let at = |block: u64| block * u64::from(BLOCK);
    let put = |offset: u64, bytes: &[u8]| file.write_all_at(bytes, offset).expect("a write");
    put(at(4), &old);
    put(at(6), &[0; BLOCK as usize]);
    put(at(7) + 512, &[0; 512]);
    put(at(8), &old);
    let mut byte = [0];
    file.read_exact_at(&mut byte, at(9) + 100).expect("a read");
    put(at(9) + 100, &[byte[0] ^ 0x10]);
    let all: Vec<Op> = (0..BLOCKS).map(read).collect();
    let found = run(&mut driver, &all);
    for (block, result) in found.iter().enumerate() {
        let expected = match block {
            4 | 6 | 7 | 8 | 9 => Err(MISMATCH),
            _ => good,
        };
        assert_eq!(*result, expected, "{kind:?} {depth}: block {block}");
    }
    let findings = verification.findings();
    let told = findings
        .first()
        .iter()
        .map(|it| (it.class, it.offset, it.bytes));
    let expected = [
        (Class::Stale, at(4), 8192),
        (Class::Lost, at(6), 8192),
        (Class::Torn, at(7) + 512, 512),
        (Class::Misplaced, at(8), 8192),
        (Class::Flipped, at(9), 512),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected, "{kind:?} {depth}");
}

#[test]
fn blocking_calls_verify() {
    check(DriverKind::Threads, 1);
    check(DriverKind::Threads, 4);
}

/// With threads where io_uring is refused.
#[test]
fn io_uring_verifies() {
    check(DriverKind::Auto, 4);
}
