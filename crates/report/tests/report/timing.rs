//! The screen of commands timed side by side, with invented figures.

use report::{Style, check_up, headline};
use results::Run;

use crate::found;
use crate::kinds::judged;

/// A run that did nothing but time commands.
fn run() -> Run {
    let mut run = sample::run();
    let found = found::timing();
    run.settings.command = "time".into();
    run.measurements.clear();
    run.warnings.clear();
    run.curves.clear();
    run.findings = found.findings();
    run.tables = found.tables();
    run.row_warnings = found.row_warnings();
    judged(run)
}

#[test]
fn means_comparison_and_outliers() {
    let narrow = Style {
        width: 92,
        color: false,
        unicode: true,
        all: false,
    };
    insta::assert_snapshot!(check_up(&run(), &narrow), @r"
    time of .                                                                  58.2 s, seed 8213
      ext4 on vda1 (virtio, non-rotational), 23 GiB RAM, 8 CPUs, test file 4 GiB

      command  elapsed  95 % CI       CPU user  CPU system  memory  runs
      gzip      1.58 s  1.43 .. 1.74    1.43 s     79.2 ms  50 MiB     5
      zstd      302 ms  272 .. 332      272 ms     15.1 ms  50 MiB     5
      5 rounds, as many as requested, in random order, every second one in reverse, warm caches.
      gzip: gzip -k -f data
      zstd: zstd -k -f data
      Far from the others, but counted: gzip: round 5 1.90 s.
      elapsed, CPU: geometric means over rounds, interval by Student's t. CPU time is that of
      the command and all that it waited for.
      memory: the most that one process held, where that is more than this program's own.
      The shell that starts the commands takes 900 us of each.

    Elapsed time over that of gzip
      command  ratio  95 % CI         pairs  verdict
      zstd     0.191  0.162 .. 0.220      5  faster
      Geometric mean over rounds, Student's t on the logarithms of pairs of one round. Claims
      are corrected for their number (Holm).

    Hosts
      rank  elapsed  first in  last in  runs  host
      0      1.52 s         5        0     5  node1
      1      1.58 s         0        5     5  node2
      elapsed: mean on that rank. first in, last in: runs in which it was done first, or last.
      The time of a command is from the first start to the last end. Its CPU times are sums over
      ranks.

    Warnings
      info    An invented doubt.

      zstd is 5.24 (4.55 .. 6.16) times as fast as gzip.
      RELIABLE both results
    ");
}

/// Everything: each run, too.
#[test]
fn each_run_of_a_command() {
    let all = Style {
        width: 120,
        all: true,
        ..Style::default()
    };
    let page = check_up(&run(), &all);
    let (_, runs) = page.split_once("\n  zstd\n").expect("a heading");
    let runs: Vec<&str> = runs.lines().take(2).collect();
    insta::assert_snapshot!(runs.join("\n"), @r"
    round  elapsed  CPU user  CPU system  bytes read  bytes written  exit status  memory
        1   300 ms    270 ms     15.0 ms         0 B          4 MiB            0
    ");
}

#[test]
fn the_list_names_the_means() {
    insta::assert_snapshot!(headline(&run()), @"gzip 1.58 s, zstd 302 ms");
}
