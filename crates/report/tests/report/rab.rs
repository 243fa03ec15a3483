//! The screen of the workloads of the RAID Performance Test, with invented figures.

use report::{Style, check_up, headline};
use results::Run;

use crate::kinds::judged;

/// A run that measured nothing but the workloads.
fn run() -> Run {
    let mut run = sample::run();
    run.settings.command = "rab".into();
    run.measurements.clear();
    run.findings.clear();
    run.warnings.clear();
    run.curve = None;
    run.rab = Some(sample::rab());
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
      ext4 on vda1 (virtio, non-rotational, scheduler none), 79 GiB free
      23 GiB RAM, 8 CPUs, Linux 6.12.1, KVM, test file 4 GiB
      Batch workloads average RABmark[r] 32,500 (31,900 .. 33,200).
      Trust: both rows sound

      levels up to 50 ms; 20/s for each client that waits; target precision 3 %
      mode normal from 0 s on: set by the user
      mode reduced from 3 min 4 s on: detected: btrfs raid1 of 2 members, 1 missing: degraded
                   (sysfs)

    1 Transaction: run 1, mode normal, 1 min 30 s, 3,100,000 operations
    Transaction: mean service time against IOPS
          1 ms ┤┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈●┈
               │                                                           ●
        250 us ┤┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈●┈●┈
        100 us ┤┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈○┈ ┈ ┈ ┈ ┈●┈ ┈ ┈┊┈
         40 us ┤┈ ● ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ● ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈┊┈
               └──────────────┬──────────────────┬───────────┬────────────┬───
                           30,000             50,000      70,000       100,000
                IOPS   ● measured   ○ scout   ┊ highest
      IOPS, closed loop, at a mean service time of
            40 us  no load: even one client waits 47.1 us
           100 us     87,300/s  85,600 .. 89,000
           250 us    101,000/s  97,000 .. 105,000
             1 ms  between 101,000/s and 104,000/s
            10 ms  more than 103,000/s: 128 clients wait only 1.25 ms
       saturation    103,000/s  102,000 .. 104,000 with 64 clients
      level             95 % interval  load by service  95 % interval     load by response
      no load  46.2 us  44.8 .. 47.5          21,200/s  20,800 .. 21,600     waits 47.1 us
      1/3      16.7 ms  16.4 .. 17.0          71,000/s  69,600 .. 72,400  70,100 to 71,400
      2/3      33.4 ms                        72,500/s  71,100 .. 74,000          71,900/s
      max      50.0 ms                      > 72,600/s  4,096 clients             72,000/s
      RABmark[r] at least 6,420 (levels not reached) RABmark[s] at least 284 (levels not
      reached)

      batch workload  run  mode     throughput  95 % interval  response  RABmark[r]  RABmark[s]
      4 Batch           1  normal     822 MB/s  806 .. 838       422 us      32,300         784
      4 Batch           2  reduced    493 MB/s  483 .. 503       422 us      11,600         470

      all runs          runs  mode    RABmark[r]  95 % interval     RABmark[s]  95 % interval
      Batch                3  normal      32,500  31,900 .. 33,200         786  770 .. 802
      average of batch     3  normal      32,500  31,900 .. 33,200         786  770 .. 802
      These intervals cover the variation from run to run.

      modes compared              figure      ratio  95 % interval   verdict
      batch: reduced over normal  RABmark[s]  0.600  0.576 .. 0.624  lower*
      * only one run in one of the modes: the interval does not include variation from run to
      run

      RABmark[r]: operations/s per ms of service time, summed over no load and the levels
      (transaction) or at the one load (batch); RABmark[s]: MiB/s at the highest level, or at
      the one load.
      By service time, from when a request is sent, as the document of 1995 defines it; by
      response time, from when it was due.
      Intervals are at 95 %. Batch clients began at new random places for each of the sets, and
      the interval covers that choice; the variation between runs takes --runs.

    Warnings
      doubt A doubt about one workload.
      1 more: --all shows everything
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
    assert_eq!(
        headline(&run()),
        "batch RABmark[r] 32,500, transaction RABmark[r] 6,420"
    );
}
