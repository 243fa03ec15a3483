//! The screen of the workloads of the RAID Performance Test, with invented figures.

use report::{Style, check_up, headline};
use results::Run;

use crate::found;
use crate::kinds::judged;

/// A run that measured nothing but the workloads.
fn run() -> Run {
    let mut run = sample::run();
    run.settings.command = "rab".into();
    run.findings.clear();
    run.warnings.clear();
    let found = found::rab();
    run.curves = found.curves();
    run.measurements = found.measurements();
    run.tables = found.tables();
    run.row_warnings = found.row_warnings();
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
fn levels_rabmarks_averages_and_modes() {
    insta::assert_snapshot!(check_up(&run(), &NARROW), @r"
    rab of .                                                                   58.2 s, seed 8213
      ext4 on vda1 (virtio, non-rotational), 23 GiB RAM, 8 CPUs, test file 4 GiB

    Transaction: mean service time against IOPS
          1 ms ┤· · · · · · · · · · · · · · · · · · · · · · · · · · · · ├●┤ ·
        250 us ┤· · · · · · · · · · · · · · · · · · · · · · · · · · · ·├●○┤ ·
        100 us ┤· · · · · · · · · · · · · · · · · · · · · · ·⣀⣀⣀⣀⣀├●┤⠤├●┤┊· ·
         40 us ┤· ·├●┤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒●⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉○⠉⠉ · · · · · ·┊· ·
               └──┬─────────────┬────────────────┬──────────┬───────────┬─────
                 20k           30k              50k        70k        100k
                IOPS  ● measured  ○ estimate  ◐ wide interval  ◆ level
                ┊ highest
      IOPS, closed loop, at a mean service time of
            40 us  none, even one client waits 47.1 us
           100 us     87,300  85,600 .. 89,000
           250 us    101,000  97,000 .. 105,000
             1 ms  between 101,000 and 104,000
            10 ms  more than 103,000, where 128 clients wait only 1.25 ms
       saturation    103,000  102,000 .. 104,000 with 64 clients

    All runs
      workload       RABmark r  95 % CI           RABmark s  runs
      batch             32,500  31,900 .. 33,200   824 MB/s     3
      batch-average     32,500  31,900 .. 33,200   824 MB/s     3
      These intervals cover the variation from run to run.

    Workloads
      workload     mode     run  RABmark r  95 % CI           RABmark s  throughput  state
      transaction  normal     1      6,420  at least 6,290     298 MB/s              lower bound
      batch        normal     1     32,300  31,700 .. 32,900   822 MB/s    822 MB/s
      batch        reduced    2     11,600  11,400 .. 11,900   493 MB/s    493 MB/s
      Levels up to 50.0 ms. 20/s for each client that waits. Target precision 3 %.

    Levels
      level    service time    IOPS  95 % CI            outcome
      no load       46.2 us  21,200  20,800 .. 21,600
      1/3           16.7 ms  71,000  69,600 .. 72,400
      2/3           33.4 ms  72,500  71,100 .. 74,000
      max           50.0 ms  72,600  at least 71,900/s  not reached with 4,096 clients
      IOPS by service time, from when a request is sent, as the document of 1995 defines it.
      IOPS by latency, from when it was due.

    Mode reduced over normal
      workload  ratio  95 % CI         verdict  covers
      batch     0.600  0.576 .. 0.624  lower    one run
      Of one run in one of the modes the interval does not include the variation from run to
      run.

    Modes
      mode          from  known     why
      normal         0 s  given     set by the user
      reduced  3 min 4 s  detected  btrfs raid1 of 2 members, 1 missing: degraded (sysfs)

    Warnings
      warning A doubt about one workload.
      info    Points marked as scouts only showed the way and are never cited.

      Batch workloads average RABmark[r] 32,500 (31,900 .. 33,200).
      RELIABLE both results, up to 2 % background I/O
    ");
}

#[test]
fn no_line_runs_past_a_narrow_page() {
    for width in [40, 60, 80, 100, 120] {
        let style = Style {
            width,
            all: true,
            ..Style::default()
        };
        for line in check_up(&run(), &style).lines() {
            let columns = line.chars().count();
            assert!(columns <= width, "width {width}: {columns} columns: {line}");
        }
    }
}

#[test]
fn the_headline_of_a_list_names_a_rabmark() {
    assert_eq!(headline(&run()), "batch-average RABmark r 32,500");
}
