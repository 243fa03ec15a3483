//! Pages as a reader sees them.

use report::{Style, check_up, curve_table, headline, inspection, measurement};
use results::{CurvePoint, Resolution, Run, Status, Warning};
use stats::Verdict;

const ASCII: Style = Style {
    width: 80,
    color: false,
    unicode: false,
    all: false,
};

#[test]
fn the_check_up_fits_one_screen() {
    let screen = check_up(&sample::run(), &Style::default());
    assert!(
        screen.lines().count() <= 45,
        "{} lines",
        screen.lines().count()
    );
    insta::assert_snapshot!(screen, @r"
check-up of .                                                                      58.2 s, seed 8213
  ext4 on vda1 (virtio, non-rotational, scheduler none), 79 GiB free
  23 GiB RAM, 8 CPUs, Linux 6.12.1, KVM, test file 4 GiB

                                          value  95 % interval        p99          CPU  page cache
  sequential write, 1 MiB direct      2.41 GB/s  2.36 .. 2.46              10.0 ms/GiB         0 %
  sequential read, 1 MiB direct       3.48 GB/s  3.41 .. 3.55              10.0 ms/GiB         0 %
  cached read, 1 MiB                  9.36 GB/s  9.18 .. 9.55              10.0 ms/GiB       100 %
  random read 4 KiB, one at a time      47.1 us  46.2 .. 48.0     70.7 us   9.80 us/op         0 %
  durable write 4 KiB, one at a time    1.24 ms  1.17 .. 1.31    1.86 ms?   9.80 us/op         0 %
  create files of 4 KiB, 806 us each    1,240/s  1,220 .. 1,270   1.21 ms   9.80 us/op         0 %
  ? too few independent observations lie beyond it to rely on it
  Nothing rarer than one in 1.90 s or 1,610 operations, or slower than 190 ms, shows in every row.

random reads of 4 KiB: mean response time against load
           │                                      ●   closed load at a mean response time of
      1 ms ┤┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┊         40 us  no load: even one client waits
           │                                      ●                47.1 us
    500 us ┤                                      ┊        100 us     87,300/s  85,600 .. 89,000
           │                                      ○        250 us   ~101,000/s  97,000 .. 105,000
    250 us ┤┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈●┊          1 ms  between 101,000/s and 104,000/s
           │                                     ●┊         10 ms  more than 103,000/s: 128 clients
           │                                      ┊                wait only 1.25 ms
    100 us ┤┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ● ┈ ┊    saturation    103,000/s  102,000 .. 104,000
           │                            ○         ┊                with 64 clients
           │ ●              ●                     ┊   ~ wider interval than was asked for
     40 us ┤┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┈ ┊
           └─────────┬───────────┬───────────────┬──
                  30,000      50,000         100,000
            operations/s   ● measured   ○ scout
            ┊ highest load

Findings
  - Random reads: one client waits 47 us; from about 60,000 per second on the response time grows
    faster than the load.
  - A durable write costs 26 times as much as a read: applications that wait for each write are
    bound by it.

Warnings
  doubt Data written less than 20 s ago may have been answered by the host's cache; ask for --soak
        to see past it.
  doubt durable write 4 KiB, one at a time: stopped by its time limit; the interval is right but
        wider than was asked for. Give it more time.
  note  This is a virtual machine: its host may cache.
  note  Points marked as scouts only showed the way and are never cited.
");
}

#[test]
fn a_narrow_ascii_terminal_gets_the_levels_below_the_chart() {
    let mut run = sample::run();
    run.status = Status::Partial {
        reason: "interrupted by the user".into(),
    };
    run.id = Some(12);
    let screen = check_up(&run, &ASCII);
    assert!(screen.is_ascii());
    insta::assert_snapshot!(screen, @r"
run 12: check-up of .                                          58.2 s, seed 8213
  partial: interrupted by the user. What had been measured by then is shown.
  ext4 on vda1 (virtio, non-rotational, scheduler none), 79 GiB free
  23 GiB RAM, 8 CPUs, Linux 6.12.1, KVM, test file 4 GiB

                                    value  95 % interval        p99          CPU
  sequential write, 1 MiB       2.41 GB/s  2.36 .. 2.46              10.0 ms/GiB
    direct
  sequential read, 1 MiB        3.48 GB/s  3.41 .. 3.55              10.0 ms/GiB
    direct
  cached read, 1 MiB            9.36 GB/s  9.18 .. 9.55              10.0 ms/GiB
  random read 4 KiB, one at       47.1 us  46.2 .. 48.0     70.7 us   9.80 us/op
    a time
  durable write 4 KiB, one        1.24 ms  1.17 .. 1.31    1.86 ms?   9.80 us/op
    at a time
  create files of 4 KiB, 806      1,240/s  1,220 .. 1,270   1.21 ms   9.80 us/op
    us each
  ? too few independent observations lie beyond it to rely on it
  Nothing rarer than one in 1.90 s or 1,610 operations, or slower than 190 ms,
  shows in every row.

random reads of 4 KiB: mean response time against load
           |                                                           *
      1 ms +. . . . . . . . . . . . . . . . . . . . . . . . . . . . . .:.
           |                                                           *
    500 us +                                                           :
           |                                                           o
    250 us +. . . . . . . . . . . . . . . . . . . . . . . . . . . . . .*.
           |                                                         * :
           |                                                           :
    100 us +. . . . . . . . . . . . . . . . . . . . . . . . . . .*. . .:.
           |                                           o               :
           |  *                     *                                  :
     40 us +. . . . . . . . . . . . . . . . . . . . . . . . . . . . . .:.
           +--------------+------------------+-----------+------------+---
                       30,000             50,000      70,000       100,000
            operations/s   * measured   o scout   : highest load
  closed load at a mean response time of
        40 us  no load: even one client waits 47.1 us
       100 us     87,300/s  85,600 .. 89,000
       250 us   ~101,000/s  97,000 .. 105,000
         1 ms  between 101,000/s and 104,000/s
        10 ms  more than 103,000/s: 128 clients wait only 1.25 ms
   saturation    103,000/s  102,000 .. 104,000 with 64 clients
  ~ wider interval than was asked for

Findings
  - Random reads: one client waits 47 us; from about 60,000 per second on the
    response time grows faster than the load.
  - A durable write costs 26 times as much as a read: applications that wait for
    each write are bound by it.

Warnings
  doubt Data written less than 20 s ago may have been answered by the host's
        cache; ask for --soak to see past it.
  doubt durable write 4 KiB, one at a time: stopped by its time limit; the
        interval is right but wider than was asked for. Give it more time.
  note  This is a virtual machine: its host may cache.
  note  Points marked as scouts only showed the way and are never cited.
");
}

#[test]
fn a_measurement_is_shown_in_full() {
    let run = sample::run();
    let page = measurement(&run.measurements[4], &Style::default());
    insta::assert_snapshot!(page, @r"
durable write 4 KiB, one at a time [durable-write]
  1 client, 1 worker, past the page cache, driver uring, seed 8213

                response time  95 % interval             service time  95 % interval
  shortest             992 us                                  962 us
  mean                1.24 ms  1.17 .. 1.31                   1.20 ms  1.18 .. 1.23
  50 % below          1.18 ms  1.13 .. 1.23                   1.14 ms  1.10 .. 1.19
  90 % below          1.49 ms  1.43 .. 1.55                   1.44 ms  1.39 .. 1.50
  99 % below         1.86 ms?  1.79 .. 1.93, indicative       1.80 ms  1.73 .. 1.88
  99.9 % below        too few                                 too few
  longest             37.2 ms                                 36.1 ms

  whole trial  operations     bytes  response: mean  99 % below  longest  service: mean  99 % below
  write             4,840  18.9 MiB         1.24 ms     1.86 ms  37.2 ms        1.20 ms     1.74 ms

  throughput         806/s (790 .. 823)
  bandwidth          3.30 MB/s (3.24 .. 3.37)
  verdict            stopped before the precision was reached; mean response time within 6.0 %,
                     1,230 independent samples
  steady part        5.70 s, after 300 ms of warm-up; 4,840 of 4,840 operations
  drift              steady: moved by +0.4 % over the trial, at most 1.4 %; SNIA's rule calls it
                     steady
  not looked for     changes slower than 190 ms, events rarer than one in 1,610 operations or 1.90 s
  depth              0.970 requests with the device on average, room for 1
  issued late by     410 ns on average, 99 % below 1.90 us, 71.0 us at most
  CPU                9.80 us/op, 0.21 cores busy
  page cache         answered 0 % of the bytes
  CPU time           47.4 ms in all, 14.5 ms in the program, 32.9 ms in the kernel, 12.0 ms given to
                     others by the hypervisor
  page faults        321 from memory, 0 from a device
  process            caused 18.9 MiB of reads and 0 B of writes
  device             vda: 4,840 reads, 18.9 MiB; 0 writes, 0 B; 0 flushes; busy for 5.60 s
  device time        1.17 ms per read on average, the block layer's queue included
  errors             3 write: no space left on device (no space, errno 28); response time 80.0 us on
                     average, 120 us at most; service time 60.0 us, 90.0 us

  doubt durable write 4 KiB, one at a time: stopped by its time limit; the interval is right but
        wider than was asked for. Give it more time.
");
}

#[test]
fn an_inspection_names_what_would_mislead() {
    let run = sample::run();
    let (target, cautions) = (sample::rich_target(), sample::cautions());
    let page = inspection(&target, &run.environment, &cautions, &ASCII);
    insta::assert_snapshot!(page, @r"
data.img: a file
  path               /srv/data/data.img
  size               8 GiB, of which 3 GiB are allocated
  file system        ext4 from /dev/vda1 at /; 79 GiB free of 100 GiB; room for
                     6,120,000 files
  mount options      rw, relatime, errors=remount-ro
  RAID               md raid5 of 4 members, 1 missing, rebuilding (38 % done)
                     (/proc/mdstat)

vda1 (254:1)
  device             vda1 (virtio, non-rotational, scheduler none, throttled)
  partition of       vda
  size               100 GiB
  write cache        write back
  blocks             logical 512 B, physical 4 KiB, smallest preferred 4 KiB
  queue              scheduler none, 256 requests, requests up to 1280 KiB,
                     read-ahead 128 KiB
  properties         accepts discards
  limits             reads 100 MB/s, 500 writes/s, by control group
                     /system.slice

storage-7 (Linux 6.12.1)
  processor          Example CPU 2.4 GHz, x86_64, 8 CPUs
  memory             23 GiB in all, 20 GiB available
  runs in            KVM
  clock              tsc
  busy               load 0.25, 0.50, 0.75 over 1, 5 and 15 minutes, some task
                     waited for I/O 1.5 % of 10 s, 1.2 % of CPU time given to
                     others since boot

What would mislead a reader of results
  - 5 GiB of the file were never written: reads of them touch no device. Write
    the file once before reading it. [sparse-file]
  - The RAID is rebuilding: wait. [raid-rebuilding]
");
}

#[test]
fn no_line_is_wider_than_the_page() {
    let mut run = sample::run();
    run.target.given = "/a/path/without/any/blank/".repeat(8);
    run.measurements[1].title = "a-title-of-a-future-trial-that-has-no-blank".repeat(4);
    let curve = run.curve.clone().expect("the sample has a curve");
    let target = sample::rich_target();
    for width in 40..=140 {
        for unicode in [false, true] {
            let style = Style {
                width,
                unicode,
                ..Style::default()
            };
            let pages = [
                check_up(&run, &style),
                measurement(&run.measurements[4], &style),
                curve_table(&curve, &style),
                inspection(&target, &run.environment, &sample::cautions(), &style),
            ];
            for line in pages.iter().flat_map(|page| page.lines()) {
                assert!(line.chars().count() <= width, "wider than {width}: {line}");
                assert_eq!(line, line.trim_end(), "trailing blanks at width {width}");
            }
        }
    }
    let _ = check_up(
        &run,
        &Style {
            width: 0,
            ..Style::default()
        },
    );
}

#[test]
fn colours_change_no_text() {
    let run = sample::run();
    let plain = check_up(&run, &Style::default());
    let coloured = check_up(
        &run,
        &Style {
            color: true,
            ..Style::default()
        },
    );
    assert!(coloured.contains("\x1b[33m"));
    let mut stripped = String::new();
    let mut parts = coloured.split('\x1b');
    stripped.push_str(parts.next().expect("split gives at least one part"));
    for part in parts {
        stripped.push_str(
            part.split_once('m')
                .expect("an escape sequence ends in m")
                .1,
        );
    }
    assert_eq!(stripped, plain);
}

#[test]
fn warnings_come_by_weight_and_once() {
    let mut run = empty();
    run.warnings.push(Warning::doubt("b", "a doubt"));
    for index in 0..5 {
        run.warnings
            .push(Warning::note("a", format!("note {index}")));
    }
    run.warnings.push(Warning::doubt("b", "a doubt"));
    run.warnings.push(Warning::void("c", "a void"));
    let warnings = |run: &Run, style: &Style| {
        let screen = check_up(run, style);
        screen[screen.find("Warnings").expect("there are warnings")..].to_owned()
    };
    insta::assert_snapshot!(warnings(&run, &ASCII), @r"
    Warnings
      VOID  a void
      doubt a doubt
      note  note 0
      note  note 1
      note  note 2
      2 more notes: --all shows them
    ");
    run.id = Some(7);
    assert!(warnings(&run, &ASCII).ends_with("2 more notes: seekstone runs show 7 --all\n"));
    let all = warnings(&run, &Style { all: true, ..ASCII });
    assert!(all.ends_with("note  note 4\n"), "{all}");
}

#[test]
fn numbers_that_must_not_be_used_are_marked() {
    let mut run = sample::run();
    run.measurements[0]
        .warnings
        .push(Warning::void("short-operations", "too short"));
    run.measurements[1].verdict = Verdict::NotStationary;
    let durable = run
        .measurements
        .iter_mut()
        .find(|it| it.name == "durable-write");
    durable.expect("a durable write").verdict = Verdict::Correlated;
    let screen = check_up(&run, &Style::default());
    for expected in [
        "x2.41 GB/s",
        "!3.48 GB/s",
        "~1.24 ms",
        "x void:",
        "! not settled:",
        "~ correlated results:",
    ] {
        assert!(
            screen.contains(expected),
            "{expected} is missing in\n{screen}"
        );
    }
}

#[test]
fn unknown_measurements_are_rendered_too() {
    let mut run = sample::run();
    let m = &mut run.measurements[3];
    m.name = "trial-17".into();
    m.clients = 32;
    m.response.percentiles.clear();
    m.bandwidth = None;
    m.cpu = None;
    m.page_cache_share = None;
    let screen = check_up(
        &run,
        &Style {
            width: 120,
            ..Style::default()
        },
    );
    assert!(
        screen.contains("random read 4 KiB, one at a time, 21,200/s"),
        "{screen}"
    );
}

#[test]
fn curves_of_all_shapes_are_drawn() {
    let whole = sample::curve();
    let point = |load: f64, response: f64| CurvePoint {
        offered: None,
        at_percentile: None,
        lateness_ns: 0.0,
        cores_busy: None,
        load: sample::estimate(load, 0.01),
        response: sample::estimate(response, 0.01),
        ..whole.points[0]
    };
    let shapes = [
        vec![],
        vec![point(100.0, 1e6)],
        vec![point(100.0, 1e6), point(100.0, 1e6)],
        vec![point(100.0, 1e6), point(200.0, 2e6)],
        vec![point(1e-9, 1e-3), point(1e15, 1e18)],
        vec![
            point(f64::MIN_POSITIVE, f64::MAX),
            point(f64::MAX, f64::MIN_POSITIVE),
        ],
        vec![
            point(f64::NAN, 1e6),
            point(100.0, f64::INFINITY),
            point(0.0, -1.0),
        ],
        vec![point(f64::NAN, 1e6), point(100.0, 1e6)],
    ];
    for points in shapes {
        for has_rest in [false, true] {
            let mut run = sample::run();
            let mut curve = whole.clone();
            let drawable = points.iter().filter(|point| {
                [point.load.value, point.response.value]
                    .iter()
                    .all(|v| v.is_finite() && *v > 0.0)
            });
            let is_empty = drawable.count() == 0;
            curve.points.clone_from(&points);
            if !has_rest {
                curve.levels.clear();
                curve.saturation = None;
            }
            let _ = curve_table(&curve, &ASCII);
            run.curve = Some(curve);
            let screen = check_up(&run, &ASCII);
            assert_eq!(
                screen.contains("no point of the curve was measured"),
                is_empty
            );
            assert_eq!(
                screen.contains("* measured"),
                !is_empty,
                "{points:?}\n{screen}"
            );
        }
    }
}

#[test]
fn numbers_that_are_none_are_said_in_words() {
    let mut run = sample::run();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0] {
        let m = &mut run.measurements[3];
        m.response.mean.value = value;
        m.response.mean.low = value;
        m.drift.bound = value;
        m.effective_depth = value;
        m.lateness.mean_ns = value;
        m.page_cache_share = Some(value);
        let _ = check_up(&run, &ASCII);
        let _ = measurement(&run.measurements[3], &ASCII);
    }
    let m = &mut run.measurements[3];
    m.response.mean = sample::estimate(47_100.0, 0.02);
    m.response.mean.high = f64::INFINITY;
    m.drift.bound = f64::INFINITY;
    assert!(check_up(&run, &ASCII).contains("at least 46.2"));
    assert!(measurement(&run.measurements[3], &ASCII).contains("steady: no bound"));
}

/// Runs imported from logs of `rpt` are curves and nothing else: lists said that nothing was
/// measured.
#[test]
fn a_curve_alone_is_told_in_a_list() {
    let mut run = empty();
    let mut curve = sample::curve();
    curve.saturation = None;
    curve.title = "BatchWorkload".into();
    run.curve = Some(curve);
    let told = headline(&run);
    assert!(told.starts_with("BatchWorkload, "), "{told}");
    assert!(told.contains(" at "), "{told}");
}

#[test]
fn a_run_without_anything_is_a_header() {
    let run = empty();
    assert_eq!(check_up(&run, &ASCII).lines().count(), 3);
    assert_eq!(headline(&run), "nothing measured");
    let whole = sample::run();
    assert_eq!(
        headline(&whole),
        "random-read 47.1 us, durable-write 1.24 ms, up to 103,000/s"
    );
}

fn empty() -> Run {
    let mut run = sample::run();
    run.measurements.clear();
    run.curve = None;
    run.findings.clear();
    run.warnings.clear();
    run
}

/// What points of a few seconds cannot show is said under the curve, and of longer ones nothing.
#[test]
fn a_curve_of_short_points_says_what_it_could_not_see() {
    let mut run = sample::run();
    let told = |run: &Run| check_up(run, &ASCII).contains("shows in every point");
    assert!(!told(&run));
    let curve = run.curve.as_mut().expect("a curve");
    curve.resolution = Some(Resolution::of(30_000, 3_000_000_000));
    assert!(told(&run));
}
