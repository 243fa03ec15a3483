//! The screen of random access, of a recorded run: levels of a factor side by side.

use report::{Style, check_up, headline};
use results::Run;

use crate::found;
use crate::kinds::judged;

/// A run that measured nothing but random access.
fn run() -> Run {
    let mut run = sample::run();
    run.settings.command = "random".into();
    run.measurements.truncate(1);
    run.measurements[0].name = "random-read-span-32768-block-4096-depth-1-round-1".into();
    run.findings.clear();
    run.warnings.clear();
    run.curves.clear();
    take(&mut run, &found::random_access());
    judged(run)
}

fn take(run: &mut Run, found: &results::RandomAccess) {
    run.tables = found.tables();
    run.row_warnings = found.row_warnings();
}

/// A page whose lines fit into this file.
const NARROW: Style = Style {
    width: 92,
    color: false,
    unicode: true,
    all: false,
};

#[test]
fn reads_and_writes_stand_side_by_side() {
    insta::assert_snapshot!(check_up(&run(), &NARROW), @r"
    random of .                                                                58.2 s, seed 8213
      ext4 on vda1 (virtio, non-rotational), 23 GiB RAM, 8 CPUs, test file 4 GiB

    Service times
      span    block  depth    read 95 % CI      p99 IOPS    write 95 % CI      p99 IOPS
      32 KiB  4 KiB      1 2.50 ms         2.50 ms?  400  9.06 ms  ±  1 % 9.10 ms?  110
      2 MiB   4 KiB      1 9.36 ms  ± 11 % 9.83 ms?  107  9.48 ms  ±  1 % 9.83 ms?  107
      256 MiB 4 KiB      1 13.9 ms  ±  8 % 17.1 ms? 71.7  14.6 ms  ±  8 % 18.5 ms? 68.0
      256 MiB 4 KiB      8  114 ms  ±  4 %  122 ms? 67.7   113 ms  ±  7 %  126 ms? 67.7
      256 MiB 64 KiB     1 14.8 ms  ±  7 % 18.5 ms? 68.0 !14.0 ms  ±  6 % 18.2 ms? 71.7
      1 round, each cell until its mean is known to 5.0 %. Times are from issue to completion.
      Number and text of each record were checked.
      The file was written from its first byte to its last at 812 MB/s (796 .. 828).
      While reads are measured the storage may still be busy with earlier writes.
      ! unstable: do not quote; ? based on too few samples

    Warnings
      warning A doubt about one cell.

      Random 4 KiB reads within 256 MiB: mean service time 13.9 ms (12.8 .. 14.8). Random 4 KiB
      writes within 256 MiB: mean service time 14.6 ms (13.8 .. 15.8).
      RELIABLE 9 of 10 reliable, 1 unstable, up to 2 % background I/O
    ");
}

/// Bug: the same was said of six cells in twelve lines, and the screen had 51.
#[test]
fn what_is_said_of_several_cells_is_said_once() {
    let mut found = found::random_access();
    for (cell, depth) in found.cells.iter_mut().zip([1, 2, 4]) {
        cell.depth = depth;
        let text = format!("read, depth {depth}: others were at work");
        cell.warnings = vec![results::Warning::invalid(
            results::WarningCode::BackgroundIo,
            text,
        )];
    }
    let mut run = run();
    take(&mut run, &found);
    let check = |style: &Style, expected: [&str; 2]| {
        let text = check_up(&run, style);
        assert_eq!(text.matches("others were at work").count(), 1, "{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        let said = words.join(" ");
        assert!(expected.iter().all(|it| said.contains(it)), "{text}");
    };
    check(&Style::default(), ["(Also: read 4 KiB within", "depth 4.)"]);
    check(&NARROW, ["others were at work (Also:", "in 2 other rows.)"]);
}

/// What has no room stands in further tables below.
#[test]
fn every_figure_and_interval_where_all_is_wanted() {
    let all = Style {
        all: true,
        ..NARROW
    };
    let text = check_up(&run(), &all);
    let begin = text.find("Service times").expect("a heading");
    let end = text.find("1 round,").expect("a note");
    insta::assert_snapshot!(&text[begin..end], @r"
    Service times
      operation  span     block   depth  service time  95 % CI            p99
      read       32 KiB   4 KiB       1       2.50 ms                2.50 ms?
      read       2 MiB    4 KiB       1       9.36 ms  8.42 .. 9.54  9.83 ms?
      read       256 MiB  4 KiB       1       13.9 ms  12.8 .. 14.8  17.1 ms?
      read       256 MiB  4 KiB       8        114 ms  110 .. 118     122 ms?
      read       256 MiB  64 KiB      1       14.8 ms  13.8 .. 15.8  18.5 ms?
      write      32 KiB   4 KiB       1       9.06 ms  9.04 .. 9.06  9.10 ms?
      write      2 MiB    4 KiB       1       9.48 ms  9.41 .. 9.55  9.83 ms?
      write      256 MiB  4 KiB       1       14.6 ms  13.8 .. 15.8  18.5 ms?
      write      256 MiB  4 KiB       8        113 ms  107 .. 120     126 ms?
      write      256 MiB  64 KiB      1      !14.0 ms  13.4 .. 14.8  18.2 ms?

      operation  span     block   depth  IOPS  95 % CI            p50  95 % CI
      read       32 KiB   4 KiB       1   400  350 .. 409     2.50 ms
      read       2 MiB    4 KiB       1   107  100 .. 115     9.49 ms  9.42 .. 9.59
      read       256 MiB  4 KiB       1  71.7  65.5 .. 80.9  13.6 ms?  12.7 .. 16.1
      read       256 MiB  4 KiB       8  67.7  62.6 .. 96.0   114 ms?
      read       256 MiB  64 KiB      1  68.0  63.8 .. 79.9  14.9 ms?
      write      32 KiB   4 KiB       1   110  105 .. 115     9.05 ms  9.04 .. 9.07
      write      2 MiB    4 KiB       1   107  100 .. 115     9.47 ms  9.37 .. 9.65
      write      256 MiB  4 KiB       1  68.0  63.9 .. 80.3  13.9 ms?  13.1 .. 18.1
      write      256 MiB  4 KiB       8  67.7  63.4 .. 91.5   111 ms?
      write      256 MiB  64 KiB      1  71.7  65.1 .. 81.7   13.7 ms  13.1 .. 15.0

      operation  span     block   depth       p95  95 % CI              p99.9  operations
      read       32 KiB   4 KiB       1  2.50 ms?  at least 2.50 ms  2.50 ms?         228
      read       2 MiB    4 KiB       1  9.80 ms?                    9.84 ms?          66
      read       256 MiB  4 KiB       1  16.4 ms?                    17.1 ms?          44
      read       256 MiB  4 KiB       8   121 ms?                     122 ms?          42
      read       256 MiB  64 KiB      1  17.3 ms?                    18.6 ms?          42
      write      32 KiB   4 KiB       1  9.10 ms?                    9.10 ms?          68
      write      2 MiB    4 KiB       1  9.81 ms?                    9.84 ms?          65
      write      256 MiB  4 KiB       1  18.4 ms?                    18.5 ms?          41
      write      256 MiB  4 KiB       8   125 ms?                     126 ms?          42
      write      256 MiB  64 KiB      1  18.1 ms?                    18.3 ms?          44

      operation  span     block   depth  errors  rounds  CPU per I/O  page cache  state
      read       32 KiB   4 KiB       1       0       1      9.80 us       0.0 %
      read       2 MiB    4 KiB       1       0       1      9.80 us       0.0 %
      read       256 MiB  4 KiB       1       0       1      9.80 us       0.0 %
      read       256 MiB  4 KiB       8       0       1      9.80 us       0.0 %
      read       256 MiB  64 KiB      1       0       1      9.80 us       0.0 %
      write      32 KiB   4 KiB       1       0       1      9.80 us       0.0 %
      write      2 MiB    4 KiB       1       0       1      9.80 us       0.0 %
      write      256 MiB  4 KiB       1       0       1      9.80 us       0.0 %
      write      256 MiB  4 KiB       8       0       1      9.80 us       0.0 %  rounds differ
      write      256 MiB  64 KiB      1       0       1      9.80 us       0.0 %
    ");
}

#[test]
fn of_one_operation_a_line_has_the_whole_interval() {
    let mut found = found::random_access();
    found.cells.truncate(2);
    let mut run = run();
    take(&mut run, &found);
    let text = check_up(&run, &NARROW);
    assert!(text.contains("8.42 .. 9.54"), "{text}");
}

#[test]
fn the_ends_of_the_spans_are_the_headline() {
    assert_eq!(
        headline(&run()),
        "read 32 KiB 2.50 ms, read 256 MiB 13.9 ms, write 32 KiB 9.06 ms, write 256 MiB 14.6 ms"
    );
}
