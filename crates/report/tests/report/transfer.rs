//! The screen of transfer rates, with invented figures.

use report::{Style, check_up, headline};
use results::{Run, Transfer};

use crate::found;
use crate::kinds::judged;

/// A run that measured nothing but transfer rates.
fn run(found: &Transfer) -> Run {
    let mut run = sample::run();
    run.settings.command = "transfer".into();
    run.measurements.clear();
    run.findings.clear();
    run.warnings.clear();
    run.curves.clear();
    run.tables = found.tables();
    run.row_warnings = found.row_warnings();
    judged(run)
}

fn screen(width: usize, all: bool) -> String {
    let style = Style {
        width,
        all,
        ..Style::default()
    };
    check_up(&run(&found::transfer()), &style)
}

#[test]
fn series_streams_and_how_they_compare() {
    insta::assert_snapshot!(screen(92, false), @r"
    transfer of .                                                              58.2 s, seed 8213
      ext4 on vda1 (virtio, non-rotational), 23 GiB RAM, 8 CPUs, test file 4 GiB

      operation streams     throughput 95 % CI    page cache   IOPS mean latency    p99 passes
      write     streams 1+2   400 MB/s 396 .. 404      0.0 %  6,100       328 us 500 us      1
      read      stream 1      800 MB/s 792 .. 808      0.0 % 12,200      81.9 us 125 us      2
      read      stream 2      800 MB/s 792 .. 808      0.0 % 12,200      81.9 us 125 us      2
      read      streams 1+2   900 MB/s 891 .. 909      0.0 % 13,700       146 us 222 us      2
      1 GiB by 64 KiB, direct, 2 read passes, the end of each block is checked, host gold.
      Intervals: variation between passes, or within a single pass.
      A pass of several streams lasts until the last one ends. In the worst pass all of them
      were under way 99.5 % of the time.

    Streams
      write 1 GiB by 64 KiB, 2 streams
      stream  throughput  95 % CI     target  device
      1         200 MB/s  198 .. 202  /data   vda
      2         200 MB/s  198 .. 202  /data   vda
      read 1 GiB by 64 KiB, 2 streams
      stream  throughput  95 % CI     target  device
      1         450 MB/s  446 .. 454  /data   vda
      2         450 MB/s  446 .. 454  /data   vda

    Together over alone
      stream  ratio  95 % CI             alone  together
      1       0.562  0.554 .. 0.571   800 MB/s  450 MB/s
      2       0.562  0.554 .. 0.571   800 MB/s  450 MB/s
      all     0.562  0.554 .. 0.571  1.60 GB/s  900 MB/s

    Warnings
      warning A doubt about one series.

      Write 1 GiB by 64 KiB, 2 streams at 400 MB/s (396 .. 404). Read 1 GiB by 64 KiB, stream 1
      alone at 800 MB/s (792 .. 808). Read 1 GiB by 64 KiB, stream 2 alone at 800 MB/s (792 ..
      808).
      RELIABLE all 4 results
    ");
}

#[test]
fn each_pass_of_a_series() {
    let page = screen(100, true);
    let (_, passes) = page.split_once("\nPasses\n").expect("a heading");
    let passes: Vec<&str> = passes.lines().take(6).collect();
    insta::assert_snapshot!(passes.join("\n"), @r"
    write 1 GiB by 64 KiB, 2 streams
    pass     throughput  elapsed  page cache     CPU  mean latency     p99  CPU user  CPU system
    write 1    400 MB/s   5.37 s       0.0 %  210 ms        328 us  500 us   50.0 ms      160 ms

    pass     device throughput  ended                      monotonic s
    write 1           401 MB/s  2027-01-31T12:00:10.250Z  86405.618709
    ");
}

#[test]
fn the_first_series_are_the_headline() {
    let told = "write streams 1+2 400 MB/s, read stream 1 800 MB/s";
    assert_eq!(headline(&run(&found::transfer())), told);
}

/// The rate was bytes over time and the device's beside it the plain mean of passes: 392 MB/s
/// beside 713.
#[test]
fn the_device_is_stated_as_bytes_over_time_too() {
    let mut found = found::transfer();
    let passes = &mut found.series[3].passes[..];
    for (pass, (seconds, rate)) in passes.iter_mut().zip([(1, 100e6), (9, 900e6)]) {
        pass.elapsed_ns = seconds * 1_000_000_000;
        pass.device_rate = Some(rate);
    }
    let tables = found.tables();
    let device = tables[0].rows[3].figure("device-throughput");
    let device = device.map(|it| it.value.value);
    assert!(
        device.is_some_and(|it| (it - 820e6).abs() < 1.0),
        "{device:?}"
    );
}
