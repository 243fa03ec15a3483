//! The screen of random access, with invented figures: levels of a factor side by side.

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
    run.curves.clear();
    take(&mut run, &sample::random_access());
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
      ext4 on vda1 (virtio, non-rotational, scheduler none), 79 GiB free
      23 GiB RAM, 8 CPUs, Linux 6.12.1, KVM, test file 4 GiB
      Random 4 KiB reads within 1 GiB: mean service time 104 us (102 .. 106); random 4 KiB
      writes within 1 GiB: mean service time 95.0 us (93.1 .. 96.9).
      Trust: sound; 9 of 10 rows sound, 1 shaky; up to 2 % foreign I/O

    Service times
      span   block  depth    read 95 % CI     p99   IOPS   write 95 % CI     p99   IOPS
      32 KiB 4 KiB      1 52.0 us  ±  2 % 130 us? 19,200 81.0 us  ±  2 % 203 us? 12,300
      2 MiB  4 KiB      1 53.0 us  ±  2 % 132 us? 18,900 82.0 us  ±  2 % 205 us? 12,200
      1 GiB  4 KiB      1  104 us  ±  2 % 260 us?  9,620 95.0 us  ±  2 % 238 us? 10,500
      1 GiB  4 KiB      8  210 us  ±  2 % 525 us? 38,100  300 us  ±  2 % 750 us? 26,700
      1 GiB  64 KiB     1  160 us  ±  2 % 400 us?  6,250 !230 us  ±  2 % 575 us?  4,350
      2 rounds, each cell until its mean is known to 5.0 %; times are from issue to completion.
      Number and text of each record were checked.
      The file was written from its first byte to its last at 812 MB/s (796 .. 828).
      While reads are measured the storage may still be busy with earlier writes.
      ! shaky: do not quote; ? too few samples beyond it to rely on

    Warnings
      doubt A doubt about one cell.
    ");
}

/// Bug: the same was said of six cells in twelve lines, and the screen had 51.
#[test]
fn what_is_said_of_several_cells_is_said_once() {
    let mut found = sample::random_access();
    for (cell, depth) in found.cells.iter_mut().zip([1, 2, 4]) {
        cell.depth = depth;
        let text = format!("read, depth {depth}: others were at work");
        cell.warnings = vec![results::Warning::void(
            results::WarningCode::ForeignIo,
            text,
        )];
    }
    let mut run = run();
    take(&mut run, &found);
    let text = check_up(&run, &NARROW);
    assert_eq!(text.matches("others were at work").count(), 1, "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    let said = words.join(" ");
    assert!(said.contains("(Also: read 4 KiB within"), "{text}");
    assert!(said.contains("depth 4.)"), "{text}");
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
    let end = text.find("2 rounds").expect("a note");
    insta::assert_snapshot!(&text[begin..end], @r"
    Service times
      operation  span    block   depth  service time  95 % CI           p99  95 % CI
      read       32 KiB  4 KiB       1       52.0 us  51.0 .. 53.0  130 us?  124 .. 136
      read       2 MiB   4 KiB       1       53.0 us  51.9 .. 54.1  132 us?  126 .. 139
      read       1 GiB   4 KiB       1        104 us  102 .. 106    260 us?  247 .. 273
      read       1 GiB   4 KiB       8        210 us  206 .. 214    525 us?  499 .. 551
      read       1 GiB   64 KiB      1        160 us  157 .. 163    400 us?  380 .. 420
      write      32 KiB  4 KiB       1       81.0 us  79.4 .. 82.6  203 us?  192 .. 213
      write      2 MiB   4 KiB       1       82.0 us  80.4 .. 83.6  205 us?  195 .. 215
      write      1 GiB   4 KiB       1       95.0 us  93.1 .. 96.9  238 us?  226 .. 249
      write      1 GiB   4 KiB       8        300 us  294 .. 306    750 us?  712 .. 788
      write      1 GiB   64 KiB      1       !230 us  225 .. 235    575 us?  546 .. 604

      operation  span    block   depth    IOPS  95 % CI               p50  95 % CI
      read       32 KiB  4 KiB       1  19,200  18,800 .. 19,600  49.4 us  46.9 .. 51.9
      read       2 MiB   4 KiB       1  18,900  18,500 .. 19,200  50.4 us  47.8 .. 52.9
      read       1 GiB   4 KiB       1   9,620  9,420 .. 9,810    98.8 us  93.9 .. 103.7
      read       1 GiB   4 KiB       8  38,100  37,300 .. 38,900   200 us  190 .. 209
      read       1 GiB   64 KiB      1   6,250  6,130 .. 6,380     152 us  144 .. 160
      write      32 KiB  4 KiB       1  12,300  12,100 .. 12,600  77.0 us  73.1 .. 80.8
      write      2 MiB   4 KiB       1  12,200  12,000 .. 12,400  77.9 us  74.0 .. 81.8
      write      1 GiB   4 KiB       1  10,500  10,300 .. 10,700  90.3 us  85.7 .. 94.8
      write      1 GiB   4 KiB       8  26,700  26,100 .. 27,200   285 us  271 .. 299
      write      1 GiB   64 KiB      1   4,350  4,260 .. 4,430     219 us  208 .. 229

      operation  span    block   depth      p95  95 % CI       operations  errors  rounds
      read       32 KiB  4 KiB       1  78.0 us  74.1 .. 81.9      23,500       0       2
      read       2 MiB   4 KiB       1  79.5 us  75.5 .. 83.5      23,500       0       2
      read       1 GiB   4 KiB       1   156 us  148 .. 164        23,500       0       2
      read       1 GiB   4 KiB       8   315 us  299 .. 331        23,500       0       2
      read       1 GiB   64 KiB      1   240 us  228 .. 252        23,500       0       2
      write      32 KiB  4 KiB       1   122 us  115 .. 128        23,500       0       2
      write      2 MiB   4 KiB       1   123 us  117 .. 129        23,500       0       2
      write      1 GiB   4 KiB       1   143 us  135 .. 150        23,500       0       2
      write      1 GiB   4 KiB       8   450 us  428 .. 473        23,500       0       2
      write      1 GiB   64 KiB      1   345 us  328 .. 362        23,500       0       2

      operation  span    block   depth  CPU per I/O  page cache  state
      read       32 KiB  4 KiB       1      9.80 us       0.0 %
      read       2 MiB   4 KiB       1      9.80 us       0.0 %
      read       1 GiB   4 KiB       1      9.80 us       0.0 %
      read       1 GiB   4 KiB       8      9.80 us       0.0 %
      read       1 GiB   64 KiB      1      9.80 us       0.0 %
      write      32 KiB  4 KiB       1      9.80 us       0.0 %
      write      2 MiB   4 KiB       1      9.80 us       0.0 %
      write      1 GiB   4 KiB       1      9.80 us       0.0 %
      write      1 GiB   4 KiB       8      9.80 us       0.0 %  rounds differ
      write      1 GiB   64 KiB      1      9.80 us       0.0 %
    ");
}

#[test]
fn of_one_operation_a_line_has_the_whole_interval() {
    let mut found = sample::random_access();
    found.cells.truncate(2);
    let mut run = run();
    take(&mut run, &found);
    let text = check_up(&run, &NARROW);
    assert!(text.contains("51.0 .. 53.0"), "{text}");
}

#[test]
fn the_ends_of_the_spans_are_the_headline() {
    assert_eq!(
        headline(&run()),
        "read 32 KiB 52.0 us, read 1 GiB 104 us, write 32 KiB 81.0 us, write 1 GiB 95.0 us"
    );
}
