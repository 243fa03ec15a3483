//! The screen of random access, with invented figures.

use report::{Style, check_up, headline};
use results::Run;

use crate::kinds::judged;

/// A run that measured nothing but random access.
fn run() -> Run {
    let mut run = sample::run();
    run.settings.command = "random".into();
    run.measurements.truncate(1);
    run.measurements[0].name = "random-read-span-32768-block-4096-depth-1-round-1".into();
    run.findings.clear();
    run.warnings.clear();
    run.curve = None;
    run.random = Some(sample::random_access());
    judged(run)
}

/// A page whose lines fit into this file.
const NARROW: Style = Style {
    width: 92,
    color: false,
    unicode: true,
    all: false,
};

#[test]
fn a_table_for_each_sweep() {
    insta::assert_snapshot!(check_up(&run(), &NARROW), @r"
    random of .                                                                58.2 s, seed 8213
      ext4 on vda1 (virtio, non-rotational, scheduler none), 79 GiB free
      23 GiB RAM, 8 CPUs, Linux 6.12.1, KVM, test file 4 GiB
      Random 4 KiB reads within 1 GiB: mean service time 104 us (102 .. 106); random 4 KiB
      writes within 1 GiB: mean service time 95.0 us (93.1 .. 96.9).
      Trust: sound; 9 of 10 rows sound, 1 shaky; up to 2 % foreign I/O

      2 rounds, each cell until 5.0 % precise; number and text of each record are checked
      file written from its first byte to its last at 812 MB/s (796 .. 828)
                    read  95 % CI      p99    IOPS    write  95 % CI      p99    IOPS
    Against file size (4 KiB, depth 1)
      32 KiB     52.0 us   ±  2 %  130 us?  19,200  81.0 us   ±  2 %  202 us?  12,300
      2 MiB      53.0 us   ±  2 %  132 us?  18,900  82.0 us   ±  2 %  205 us?  12,200
      all 1 GiB   104 us   ±  2 %  260 us?   9,620  95.0 us   ±  2 %  238 us?  10,500
    Against block size (within all 1 GiB, depth 1)
      64 KiB      160 us   ±  2 %  400 us?   6,250  !230 us   ±  2 %  575 us?   4,350
    Against depth (4 KiB within all 1 GiB)
      depth 8     210 us   ±  2 %  525 us?  38,100  *300 us   ±  2 %  750 us?  26,700
      * rounds differ: the CI covers that; ! shaky: do not quote; ? too few samples beyond it to
      rely on; times are from issue to completion; the storage may still be busy with earlier
      writes while reads are measured

    Warnings
      doubt A doubt about one cell.
    ");
}

/// Bug: the same was said of six cells in twelve lines, and the screen had 51.
#[test]
fn what_is_said_of_several_cells_is_said_once() {
    let mut run = run();
    let cells = &mut run.random.as_mut().expect("random access").cells;
    for (cell, depth) in cells.iter_mut().zip([1, 2, 4]) {
        cell.depth = depth;
        let text = format!("read, depth {depth}: others were at work");
        cell.warnings = vec![results::Warning::void(
            results::WarningCode::ForeignIo,
            text,
        )];
    }
    let text = check_up(&run, &NARROW);
    assert_eq!(text.matches("others were at work").count(), 1, "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    let said = words.join(" ");
    assert!(said.contains("(Also: read 4 KiB within"), "{text}");
    assert!(said.contains("depth 4.)"), "{text}");
}

#[test]
fn intervals_and_rounds_where_all_is_wanted() {
    let all = Style {
        all: true,
        ..NARROW
    };
    let text = check_up(&run(), &all);
    for line in [
        "read 32 KiB      46.9 .. 51.9 us   74.1 .. 81.9 us  124 .. 136 us  18,800 .. 19,600 /s",
        "read 32 KiB           2  51.5 us  52.5 us      23,500       0",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn all_combinations_stand_in_one_table() {
    let mut run = run();
    let found = run.random.as_mut().expect("random access");
    found.is_crossed = true;
    found.cells.truncate(2);
    found.cells[1].block_bytes = 8192;
    let text = check_up(&run, &NARROW);
    assert!(text.contains("All combinations"), "{text}");
    assert!(text.contains("read 8 KiB in 2 MiB, depth 1"), "{text}");
}

#[test]
fn the_ends_of_the_spans_are_the_headline() {
    assert_eq!(
        headline(&run()),
        "random read 104 us within 1 GiB (52.0 us within 32 KiB), random write 95.0 us within \
         1 GiB (81.0 us within 32 KiB)"
    );
}
