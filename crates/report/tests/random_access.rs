//! The screen of random access, with invented figures.

use report::{Style, check_up, headline};
use results::Run;

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
    run
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
      Trust: up to 2 % foreign I/O

      2 rounds, each cell until 5.0 % precise; number and text of each record are checked
      file written from its first byte to its last at 812 MB/s (796 .. 828)

    Against file size (4 KiB, depth 1)
                          mean  95 % interval      p50      p95      p99  cache
      read 32 KiB      52.0 us  51.0 .. 53.0   49.4 us  78.0 us  130 us?    0 %  ▇▇▇▇▇
      read 2 MiB       53.0 us  51.9 .. 54.1   50.4 us  79.5 us  132 us?    0 %  ▇▇▇▇▇
      read all 1 GiB    104 us  102 .. 106     98.8 us   156 us  260 us?    0 %  ▇▇▇▇▇▇▇▇▇▇
      write 32 KiB     81.0 us  79.4 .. 82.6   77.0 us   122 us  202 us?    0 %  ▇▇▇▇▇▇▇▇
      write 2 MiB      82.0 us  80.4 .. 83.6   77.9 us   123 us  205 us?    0 %  ▇▇▇▇▇▇▇▇
      write all 1 GiB  95.0 us  93.1 .. 96.9   90.2 us   142 us  238 us?    0 %  ▇▇▇▇▇▇▇▇▇

    Against block size (within all 1 GiB, depth 1)
                       mean  95 % interval      p50     p95      p99      I/Os   CPU/op  cache
      read 4 KiB     104 us  102 .. 106     98.8 us  156 us  260 us?   9,620/s  9.80 us    0 %
      read 64 KiB    160 us  157 .. 163      152 us  240 us  400 us?   6,250/s  9.80 us    0 %
      write 4 KiB   95.0 us  93.1 .. 96.9   90.2 us  142 us  238 us?  10,500/s  9.80 us    0 %
      write 64 KiB  !230 us  225 .. 235      218 us  345 us  575 us?   4,350/s  9.80 us    0 %

    Against depth (4 KiB within all 1 GiB)
                         mean  95 % interval      p50     p95      p99      I/Os   CPU/op  cache
      read, depth 1    104 us  102 .. 106     98.8 us  156 us  260 us?   9,620/s  9.80 us    0 %
      read, depth 8    210 us  206 .. 214      200 us  315 us  525 us?  38,100/s  9.80 us    0 %
      write, depth 1  95.0 us  93.1 .. 96.9   90.2 us  142 us  238 us?  10,500/s  9.80 us    0 %
      write, depth 8  *300 us  294 .. 306      285 us  450 us  750 us?  26,700/s  9.80 us    0 %

      * the rounds differ by more than their own intervals; the interval holds that
      ! not settled: do not quote, see the warnings
      ? too few samples beyond it to rely on it
      Times are from issue to completion. Intervals hold what the rounds differ by. Cache: share
      of the bytes that the page cache answered.

    Warnings
      doubt A doubt about one cell.
    ");
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
