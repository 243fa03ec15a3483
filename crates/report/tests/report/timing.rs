//! The screen of commands timed side by side, with invented figures.

use report::{Style, check_up, headline};
use results::{Run, TimingVerdict};

use crate::kinds::judged;

/// A run that did nothing but time commands.
fn run() -> Run {
    let mut run = sample::run();
    run.settings.command = "time".into();
    run.measurements.clear();
    run.findings.clear();
    run.warnings.clear();
    run.curve = None;
    run.timing = Some(sample::timing());
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
fn means_comparison_and_outliers() {
    insta::assert_snapshot!(check_up(&run(), &NARROW), @r"
    time of .                                                                  58.2 s, seed 8213
      ext4 on vda1 (virtio, non-rotational, scheduler none), 79 GiB free
      23 GiB RAM, 8 CPUs, Linux 6.12.1, KVM, test file 4 GiB
      zstd is 5.24 (4.55 .. 6.16) times as fast as gzip.
      Trust: both rows sound

      5 rounds, as many as requested, in random order, every second one in reverse; warm caches
      gzip               gzip -k -f data
      zstd               zstd -k -f data

      command    real  95 % interval    user   system  memory  runs
      gzip     1.58 s  1.43 .. 1.74   1.43 s  79.2 ms  50 MiB     5
      zstd     302 ms  272 .. 332     272 ms  15.1 ms  50 MiB     5

    Comparison
      - zstd is 5.24 (4.55 .. 6.16) times as fast as gzip

      far from the others, but counted: gzip: round 5 1.90 s

      command  rank  host     real  first in  last in
      gzip        0  node1  1.52 s         5        0
      gzip        1  node2  1.58 s         0        5
      By rank: real is the mean time on that rank; first in, last in: runs in which it was done
      first, or last. Above, real is from the first start to the last end, and processor times
      are sums over ranks.

      real: mean elapsed time, interval by Student's t over runs; user and system: mean
      processor time of the command and all that it waited for; memory: the most that one
      process held, where that is more than this program's own. Ratios: geometric mean over
      rounds, Student's t on the logarithms of pairs of one round; claims are corrected for
      their number (Holm). The shell that starts the commands takes 900 us of each.

    Warnings
      note  An invented doubt.
    ");
}

#[test]
fn a_verdict_says_what_the_interval_says() {
    let said = |verdict| {
        let mut run = run();
        let timing = run.timing.as_mut().expect("set above");
        timing.comparisons[0].verdict = verdict;
        let page = check_up(&run, &NARROW);
        let (_, comparison) = page.split_once("Comparison").expect("a heading");
        let lines = comparison
            .lines()
            .skip(1)
            .take_while(|line| !line.is_empty());
        lines.map(str::trim).collect::<Vec<_>>().join(" ")
    };
    let ratio = "0.191 (0.162 .. 0.220) times as long";
    let as_fast = "- zstd is 5.24 (4.55 .. 6.16) times as fast as gzip";
    assert_eq!(said(TimingVerdict::Faster), as_fast);
    assert_eq!(
        said(TimingVerdict::Slower),
        format!("- zstd takes {ratio} as gzip")
    );
    let alike = format!("- zstd takes as long as gzip, within 2.0 %: {ratio}");
    assert_eq!(said(TimingVerdict::Equivalent), alike);
    let unknown = "- no difference of more than 2.0 % shown between zstd and gzip";
    assert_eq!(
        said(TimingVerdict::NotShown),
        format!("{unknown}: zstd takes {ratio}")
    );
    let few = "in 5 rounds: too few to claim a difference; that takes 5";
    assert_eq!(
        said(TimingVerdict::TooFew),
        format!("- zstd takes {ratio} as gzip {few}")
    );
}

#[test]
fn the_list_names_the_means() {
    insta::assert_snapshot!(headline(&run()), @"gzip 1.58 s, zstd 302 ms");
}
