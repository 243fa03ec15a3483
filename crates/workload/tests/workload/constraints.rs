//! Each constraint of a workload's threads is checked, all violations come at once and say what to
//! do; and whatever passes gives threads that stay in their share and their block.

use crate::support::{parameters, with};
use workload::{
    Gap, GapShape, IOS_PER_MESSAGE_MAX, Partition, Pattern, Placement, THREADS_MAX,
    ThreadParameters, ThreadType, check_threads,
};

fn messages(types: &[ThreadParameters], file: Option<u64>) -> Vec<String> {
    let errors = check_threads(types, file).expect_err("a constraint is violated");
    errors.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(change: impl FnOnce(&mut ThreadParameters), expected: &str) {
    assert_eq!(messages(&[with(change)], None), [expected]);
}

#[track_caller]
fn check_accepted(change: impl FnOnce(&mut ThreadParameters), file: Option<u64>) -> ThreadType {
    let mut types = check_threads(&[with(change)], file).expect("no constraint is violated");
    types.remove(0)
}

#[test]
fn numbers_have_a_smallest_value() {
    type Change = fn(&mut ThreadParameters, i64);
    let cases: [(&str, i64, Change); 8] = [
        ("number of threads", 1, |p, v| p.count = v),
        ("maximum of threads", 1, |p, v| p.threads_max = v),
        ("number of reads", 0, |p, v| p.reads = v),
        ("number of writes", 0, |p, v| p.writes = v),
        ("number of I/Os per message", 1, |p, v| {
            p.ios_per_message = v;
        }),
        ("block size", 1, |p, v| p.block_bytes = v),
        ("I/O size", 0, |p, v| p.io_bytes = v),
        ("control thread", 0, |p, v| p.control_thread = Some(v)),
    ];
    for (what, min, change) in cases {
        check_accepted(|p| change(p, min), None);
        for value in [min - 1, i64::MIN] {
            let expected =
                format!("type \"batch\": the {what} is {value}, and must be {min} or more");
            check(|p| change(p, value), &expected);
        }
    }
}

/// Four thousand million threads ended the program when a model was to hold them, and as many
/// I/Os in one message were a test that never told anything.
#[test]
fn numbers_that_are_counted_have_a_bound() {
    type Change = fn(&mut ThreadParameters, i64);
    let cases: [(&str, u32, Change); 5] = [
        ("number of threads", THREADS_MAX, |p, v| p.count = v),
        ("maximum of threads", u32::MAX, |p, v| p.threads_max = v),
        ("number of reads", u32::MAX, |p, v| p.reads = v),
        ("number of writes", u32::MAX, |p, v| p.writes = v),
        ("number of I/Os per message", IOS_PER_MESSAGE_MAX, |p, v| {
            p.ios_per_message = v;
        }),
    ];
    for (what, most, change) in cases {
        check_accepted(|p| change(p, i64::from(most)), None);
        for value in [i64::from(most) + 1, i64::from(u32::MAX) + 1] {
            let expected =
                format!("type \"batch\": the {what} is {value}, and must be {most} or less");
            check(|p| change(p, value), &expected);
        }
    }
}

#[test]
fn an_operation_fits_into_its_block() {
    check(
        |p| p.io_bytes = 8192,
        "type \"batch\": the I/O size 8192 does not fit into the block of 4096 bytes. Make the \
         block larger or the I/O smaller",
    );
    assert_eq!(check_accepted(|p| p.io_bytes = 4096, None).io_size, 4096);
    assert_eq!(check_accepted(|p| p.io_bytes = 0, None).io_size, 4096);
}

#[test]
fn an_operation_has_one_gib_at_most() {
    let gib = 1 << 30;
    let kind = check_accepted(|p| p.block_bytes = gib, None);
    assert_eq!(i64::from(kind.io_size), gib);
    check(
        |p| p.block_bytes = gib + 1,
        "type \"batch\": the I/O size is 1073741825, and must be 1073741824 or less",
    );
    check_accepted(|p| (p.block_bytes, p.io_bytes) = (64 * gib, 4096), None);
}

/// The document writes `ioOffset < blocksize - iosize`, which would forbid offset 0 for an
/// operation as large as its block.
#[test]
fn an_operation_may_end_with_its_block() {
    let kind = check_accepted(|p| (p.io_bytes, p.io_offset) = (1024, 3072), None);
    assert_eq!(kind.placement, Placement::Offset(3072));
    check(
        |p| (p.io_bytes, p.io_offset) = (1024, 3073),
        "type \"batch\": an I/O of 1024 bytes at offset 3073 ends beyond the block of 4096 bytes. \
         Make the offset 3072 or less, or the I/O smaller",
    );
    check(
        |p| p.io_offset = i64::MAX,
        "type \"batch\": an I/O of 4096 bytes at offset 9223372036854775807 ends beyond the block \
         of 4096 bytes. Make the offset 0 or less, or the I/O smaller",
    );
}

#[test]
fn packed_operations_fill_their_block() {
    let kind = check_accepted(|p| (p.io_bytes, p.io_offset) = (512, -1), None);
    assert_eq!(
        (kind.placement, kind.places_in_block()),
        (Placement::Packed, 8)
    );
    check_accepted(|p| p.io_offset = i64::MIN, None);
    check(
        |p| (p.io_bytes, p.io_offset) = (1000, -1),
        "type \"batch\": the block of 4096 bytes is no multiple of the I/O size 1000. I/Os cannot \
         be packed. Choose an I/O size that divides the block, or a fixed offset",
    );
    // With an offset, one operation in a block need not divide it.
    check_accepted(|p| p.io_bytes = 1000, None);
}

#[test]
fn each_share_has_a_block() {
    let need = 4096 * 50;
    check_accepted(|_| {}, Some(need));
    assert_eq!(
        messages(&[parameters()], Some(need - 1)),
        [
            "the file of 204799 bytes is too small: 50 shares with one block of 4096 bytes each \
             need 204800. Use a larger file, smaller blocks or fewer shares"
        ]
    );
    check_accepted(|p| p.partition = Partition::Contending, Some(4096));
    let contending = with(|p| p.partition = Partition::Contending);
    assert_eq!(messages(&[contending], Some(4095)).len(), 1);
    // Two types with the same numbers need the same file, which is said once.
    assert_eq!(messages(&[parameters(), parameters()], Some(0)).len(), 1);
}

#[test]
fn shares_can_be_addressed() {
    check(
        |p| (p.block_bytes, p.io_bytes, p.threads_max) = (1 << 62, 4096, 2),
        "2 shares with blocks of 4611686018427387904 bytes are 9223372036854775808 bytes. A file \
         has 2^63 - 1 at most. Use smaller blocks or fewer shares",
    );
    check_accepted(
        |p| (p.block_bytes, p.io_bytes, p.threads_max) = (i64::MAX, 4096, 1),
        None,
    );
}

#[test]
fn a_fixed_control_thread_is_one_of_the_shares() {
    check_accepted(|p| p.control_thread = Some(49), None);
    check(
        |p| p.control_thread = Some(50),
        "type \"batch\": control thread 50 does not exist when the file has 50 shares, counted \
         from 0. Choose a smaller number or a larger maximum of threads",
    );
}

/// The manual: contention "does not prevent there from being more threads".
#[test]
fn threads_that_contend_may_be_more_than_the_shares() {
    check_accepted(
        |p| {
            p.partition = Partition::Contending;
            (p.control_thread, p.threads_max) = (Some(2), 1);
        },
        None,
    );
}

#[test]
fn no_reads_and_no_writes_means_reads_only() {
    let mix = |reads, writes| {
        let kind = check_accepted(|p| (p.reads, p.writes) = (reads, writes), None);
        (kind.reads, kind.writes)
    };
    assert_eq!(mix(0, 0), (1, 0));
    assert_eq!(mix(0, 3), (0, 3));
    assert_eq!(mix(2, 0), (2, 0));
}

#[test]
fn patterns_have_bounds() {
    let (tiny, large) = (f64::MIN_POSITIVE, f64::MAX);
    for pattern in [
        Pattern::Uniform,
        Pattern::Sequential { step: 1 },
        Pattern::Sequential { step: u64::MAX },
        Pattern::Hyperbolic { alpha: tiny },
        Pattern::Hyperbolic { alpha: large },
        Pattern::Zipf { theta: 0.001 },
        Pattern::ExponentialSteps { mean: 1.0 },
        Pattern::ExponentialSteps { mean: large },
    ] {
        check_accepted(|p| p.pattern = pattern, Some(1 << 40));
    }
    let refuse = |pattern, expected: &str| {
        check(
            |p| p.pattern = pattern,
            &format!("type \"batch\": the {expected}"),
        );
    };
    let sequential = Pattern::Sequential { step: 0 };
    refuse(sequential, "sequential step is 0, and must be 1 or more");
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let end = format!("is {value}, and must be above zero and finite");
        refuse(
            Pattern::Hyperbolic { alpha: value },
            &format!("alpha {end}"),
        );
    }
    // Below fio's least, the law is uniform.
    for value in [1e-9, 0.0, -1.0, f64::NAN, f64::INFINITY] {
        let end = format!("is {value}, and must be 0.001 or more and finite");
        refuse(Pattern::Zipf { theta: value }, &format!("theta {end}"));
    }
    for value in [0.999, f64::NAN, f64::INFINITY] {
        let expected = format!("mean step is {value}, and must be 1 or more and finite");
        refuse(Pattern::ExponentialSteps { mean: value }, &expected);
    }
}

#[test]
fn zipf_ranks_no_more_places_than_can_be_told_apart() {
    let zipf = |p: &mut ThreadParameters| {
        p.pattern = Pattern::Zipf { theta: 1.0 };
        (p.block_bytes, p.io_bytes, p.io_offset, p.threads_max) = (4096, 1, -1, 1);
    };
    check_accepted(zipf, Some(1 << 40));
    assert_eq!(
        messages(&[with(zipf)], Some((1 << 40) + 4096)),
        [
            "type \"batch\": the number of places that Zipf's law ranks is 1099511631872, and \
             must be 2^40 or less"
        ]
    );
}

#[test]
fn a_clock_has_a_rate() {
    let gap = |mean_ns| Gap {
        shape: GapShape::Exponential,
        mean_ns,
    };
    check_accepted(|p| p.clock = None, None);
    check_accepted(|p| p.clock = Some(gap(0.5)), None);
    check_accepted(|p| p.clock = Some(gap(1e300)), None);
    for mean_ns in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        let errors = messages(&[with(|p| p.clock = Some(gap(mean_ns)))], None);
        let [error] = errors.as_slice() else {
            panic!("{mean_ns}: {errors:?}");
        };
        let expected = "type \"batch\": the rate of I/Os per second is ";
        assert!(error.starts_with(expected), "{mean_ns}: {error}");
        assert!(
            error.ends_with("and must be above zero and finite"),
            "{error}"
        );
    }
}

#[test]
fn types_divide_one_file_alike() {
    type Change = fn(&mut ThreadParameters);
    let cases: [(&str, &str, &str, Change); 4] = [
        ("data file", "\"/b\"", "the default", |p| {
            p.data_file = Some("/b".to_owned());
        }),
        ("access mode", "interleaved", "contiguous", |p| {
            p.partition = Partition::Interleaved;
        }),
        ("block size", "8192", "4096", |p| p.block_bytes = 8192),
        ("maximum of threads", "5", "50", |p| p.threads_max = 5),
    ];
    for (what, value, first, change) in cases {
        let other = with(|p| {
            p.name = "other".to_owned();
            change(p);
        });
        assert_eq!(
            messages(&[parameters(), other], None),
            [format!(
                "type \"other\": the {what} {value} differs from the {first} of type \"batch\". \
                 All threads of a workload divide one file alike. Give both types the same {what}"
            )]
        );
    }
    // Everything else may differ.
    let other = with(|p| (p.io_bytes, p.io_offset, p.count, p.clock) = (512, -1, 7, None));
    check_threads(&[parameters(), other], None).expect("types that divide the file alike");
}

#[test]
fn all_types_together_can_be_counted() {
    let many = with(|p| p.count = i64::from(THREADS_MAX));
    check_threads(std::slice::from_ref(&many), None).expect("as many as can be counted");
    assert_eq!(
        messages(&[many, parameters()], None),
        ["all types together have 100001 threads, and 100000 is the most: use fewer"]
    );
}

#[test]
fn a_workload_has_a_thread() {
    let expected = "a workload without threads: define one type of thread at least";
    assert_eq!(messages(&[], None), [expected]);
}

#[test]
fn all_violations_come_at_once() {
    let first = with(|p| {
        (p.count, p.block_bytes, p.reads) = (0, 0, -1);
        p.pattern = Pattern::Hyperbolic { alpha: 0.0 };
    });
    let second = with(|p| (p.threads_max, p.io_bytes, p.ios_per_message) = (5, 9000, 0));
    let expected = [
        "number of threads is 0",
        "number of reads is -1",
        "block size is 0",
        "alpha is 0",
        "number of I/Os per message is 0",
        "I/O size 9000 does not fit",
        "block size 4096 differs from the 0",
        "maximum of threads 5 differs from the 50",
        "the file of 3 bytes is too small",
    ];
    let told = messages(&[first, second], Some(3));
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(expected), "{expected:?} is not in {told:?}");
    }
}

#[test]
fn a_long_name_or_a_control_character_does_not_reach_the_message() {
    let long = with(|p| (p.name, p.count) = ("\u{1b}[31m".repeat(10_000), 0));
    let told = messages(&[long], None).remove(0);
    assert!(
        told.len() < 400 && !told.contains(char::is_control),
        "{told}"
    );
}
