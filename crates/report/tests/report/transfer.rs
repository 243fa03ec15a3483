//! The screen of transfer rates, with invented figures.

use report::{Style, check_up, headline};
use results::Run;

use crate::kinds::judged;

/// A run that measured nothing but transfer rates.
fn run() -> Run {
    let mut run = sample::run();
    run.settings.command = "transfer".into();
    run.measurements.clear();
    run.findings.clear();
    run.warnings.clear();
    run.curve = None;
    run.transfer = Some(sample::transfer());
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
fn series_costs_passes_and_streams() {
    insta::assert_snapshot!(check_up(&run(), &NARROW), @r"
    transfer of .                                                              58.2 s, seed 8213
      ext4 on vda1 (virtio, non-rotational, scheduler none), 79 GiB free
      23 GiB RAM, 8 CPUs, Linux 6.12.1, KVM, test file 4 GiB
      Write 1 GiB by 64 KiB, 2 streams at 400 MB/s (396 .. 404); read 1 GiB by 64 KiB, stream 1
      alone at 800 MB/s (792 .. 808); read 1 GiB by 64 KiB, stream 2 alone at 800 MB/s (792 ..
      808).
      Trust: all 4 rows sound

      direct; 2 read passes; the end of each block is checked; host gold
      stream 1: /data (vda)
      stream 2: /data (vda)

      series                   passes      rate  95 % CI       IOPS     mean     p99  page cache
      write 1 GiB by 64             1  400 MB/s  396 .. 404   6,100   328 us  500 us         0 %
        KiB, 2 streams
        stream 1                       200 MB/s  198 .. 202
        stream 2                       200 MB/s  198 .. 202
      read 1 GiB by 64 KiB,         2  800 MB/s  792 .. 808  12,200  81.9 us  125 us         0 %
        stream 1 alone
      read 1 GiB by 64 KiB,         2  800 MB/s  792 .. 808  12,200  81.9 us  125 us         0 %
        stream 2 alone
      read 1 GiB by 64 KiB,         2  900 MB/s  891 .. 909  13,700   146 us  222 us         0 %
        2 streams
        stream 1                       450 MB/s  446 .. 454
        stream 2                       450 MB/s  446 .. 454

    write 1 GiB by 64 KiB, 2 streams
               seconds      rate     CPU  cache    device  ended (UTC)   monotonic s
      write 1   5.3687  400 MB/s  210 ms    0 %  401 MB/s  12:00:10.250    86405.619

    read 1 GiB by 64 KiB, stream 1 alone
              seconds      rate  95 % within     CPU  cache    device  ended (UTC)   monotonic s
      read 1   1.3422  800 MB/s  784 .. 816   210 ms    0 %  802 MB/s  12:00:10.250    86401.592
      read 2   1.3422  800 MB/s  784 .. 816   210 ms    0 %  802 MB/s  12:00:10.250    86402.934

    read 1 GiB by 64 KiB, stream 2 alone
              seconds      rate  95 % within     CPU  cache    device  ended (UTC)   monotonic s
      read 1   1.3422  800 MB/s  784 .. 816   210 ms    0 %  802 MB/s  12:00:10.250    86401.592
      read 2   1.3422  800 MB/s  784 .. 816   210 ms    0 %  802 MB/s  12:00:10.250    86402.934

    read 1 GiB by 64 KiB, 2 streams
              seconds      rate     CPU  cache    device  ended (UTC)   monotonic s
      read 1   2.3861  900 MB/s  210 ms    0 %  902 MB/s  12:00:10.250    86402.636
      read 2   2.3861  900 MB/s  210 ms    0 %  902 MB/s  12:00:10.250    86405.022

      alone against together       alone  together  95 % interval  ratio  95 % interval
      stream 1, 64 KiB blocks   800 MB/s  450 MB/s  446 .. 454     0.562  0.554 .. 0.571
      stream 2, 64 KiB blocks   800 MB/s  450 MB/s  446 .. 454     0.562  0.554 .. 0.571
      all, 64 KiB blocks       1.60 GB/s  900 MB/s  891 .. 909     0.562  0.554 .. 0.571

    Warnings
      doubt A doubt about one series.
    ");
}

#[test]
fn the_last_series_is_the_headline() {
    assert_eq!(headline(&run()), "read 1 GiB by 64 KiB, 2 streams 900 MB/s");
}

/// The rate was bytes over time and the device's beside it the plain mean of passes: 392 MB/s
/// beside 713.
#[test]
fn the_device_is_stated_as_bytes_over_time_too() {
    let mut run = run();
    let series = &mut run.transfer.as_mut().expect("a transfer").series[3];
    let passes = &mut series.passes[..];
    for (pass, (seconds, rate)) in passes.iter_mut().zip([(1, 100e6), (9, 900e6)]) {
        pass.elapsed_ns = seconds * 1_000_000_000;
        pass.device_rate = Some(rate);
    }
    let wide = Style {
        width: 120,
        ..Style::default()
    };
    let text = check_up(&run, &wide);
    let row = text
        .lines()
        .find(|line| line.contains("read 1 GiB by 64 KiB, 2 streams"));
    assert!(row.is_some_and(|row| row.ends_with("820 MB/s")), "{text}");
}
