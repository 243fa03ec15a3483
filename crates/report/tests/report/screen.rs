//! Pages as a reader sees them.

use report::{Style, check_up, curve_table, headline, html, inspection, measurement};
use results::{Access, CurvePoint, Resolution, Run, Status, Warning, WarningCode};
use stats::Verdict;

use crate::kinds::{judged, kinds};

pub(super) const ASCII: Style = Style {
    width: 80,
    color: false,
    unicode: false,
    all: false,
};

/// Bug: a comparison of ext4 with XFS said "ext4 on vda1", and nothing of the other.
#[test]
fn each_target_is_described_once() {
    let mut run = sample::run();
    let mut other = run.target.clone();
    run.other_targets.push(other.clone());
    other.file_system.as_mut().expect("one").kind = "xfs".into();
    run.other_targets.push(other);
    let head =
        "  ext4 on vda1 (virtio, non-rotational), xfs on vda1 (virtio, non-rotational), 23 GiB";
    let screen = check_up(&run, &Style::default());
    assert_eq!(screen.matches(" on vda1").count(), 2, "{screen}");
    assert!(screen.contains(head), "{screen}");
    assert_eq!(html(&run).matches(": xfs on vda1").count(), 1);
}

#[test]
fn the_check_up_fits_one_screen() {
    let screen = check_up(&sample::run(), &Style::default());
    assert!(
        screen.lines().count() <= 40,
        "{} lines",
        screen.lines().count()
    );
    insta::assert_snapshot!(screen, @r"
Quick benchmark of .                                                               58.2 s, seed 8213
  ext4 on vda1 (virtio, non-rotational), 23 GiB RAM, 8 CPUs, test file 4 GiB

                                         ops/s   MB/s     mean          p99  95 % CI
  sequential write 1 MiB, QD4            2,300  2,410   435 us       652 us   ±  2 %
  sequential read 1 MiB, QD4             3,320  3,480   301 us       452 us   ±  2 %
  cached read, 1 MiB                     8,930  9,360   112 us       168 us   ±  2 %
  random read 4 KiB, QD1                21,200   87.0  47.1 us      70.7 us   ±  2 %
  durable write 4 KiB (fsync), threads     806   3.30  1.24 ms  p90 1.49 ms   ±  6 %
  4 KiB files: create                    1,240   5.08   806 us      1.21 ms   ±  2 %

random reads of 4 KiB: mean latency against IOPS
           │                                    ●⡄    IOPS, closed loop, at a mean latency of
      1 ms ┤· · · · · · · · · · · · · · · · · · ◆⡇·         40 us  none, even one client waits 47.1
           │                                    ◐⡇                 us
    250 us ┤· · · · · · · · · · · · · · · · · ·├●┤·        100 us     87,300  85,600 .. 89,000
           │                                   ●┊          250 us    101,000  97,000 .. 105,000
    100 us ┤· · · · · · · · · · · · · · · ·⣀⣀●⠊ ┊ ·          1 ms  between 101,000 and 104,000
           │   ●     ⢀⣀⣀⣀⣀⣀⣀●⣀⡠⠤⠤⠤⠔⠒⠒⠒⠒○⠉⠉⠉     ┊           10 ms  more than 103,000, where 128
     40 us ┤· ⠈⠉⠉⠉⠉⠉⠉⠁· · · · · · · · · · · · · ┊ ·                clients wait only 1.25 ms
           └─┬────────┬──────────┬──────┬───────┬───   saturation    103,000  102,000 .. 104,000
            20k      30k        50k    70k    100k                 with 64 clients
            IOPS  ● measured  ○ estimate
            ◐ wide interval  ◆ level  ┊ highest

Warnings (3 of 4, --all shows all)
  warning Data written less than 20 s ago may have been answered by the host's cache. Ask for --soak
          to see past it.
  warning durable write 4 KiB (fsync): ended before it was as precise as requested; the interval is
          valid but wider. Give it more time.
  info    Points marked as scouts only showed the way and are never cited.

  Random reads: one client waits 47 us; from about 60,000 per second on the response time grows
  faster than the load.
  RELIABLE all 6 results, up to 2 % background I/O
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
run 12: Quick benchmark of .                                   58.2 s, seed 8213
  ext4 on vda1 (virtio, non-rotational), 23 GiB RAM, 8 CPUs, test file 4 GiB

                                        ops/s  MB/s    mean         p99 95 % CI
  sequential write 1 MiB, QD4           2,300 2,410  435 us      652 us +-  2 %
  sequential read 1 MiB, QD4            3,320 3,480  301 us      452 us +-  2 %
  cached read, 1 MiB                    8,930 9,360  112 us      168 us +-  2 %
  random read 4 KiB, QD1               21,200  87.0 47.1 us     70.7 us +-  2 %
  durable write 4 KiB (fsync), threads    806  3.30 1.24 ms p90 1.49 ms +-  6 %
  4 KiB files: create                   1,240  5.08  806 us     1.21 ms +-  2 %

random reads of 4 KiB: mean latency against IOPS
      1 ms +- - - - - - - - - - - - - - - - - - - - - - - - - - - - +*+ -
    250 us +- - - - - - - - - - - - - - - - - - - - - - - - - - - -+*o+ -
    100 us +- - - - - - - - - - - - - - - - - - - - - - -.....+*+.+*+|- -
     40 us +- -+*+...................*................o.. - - - - - -|- -
           +--+-------------+----------------+----------+-----------+-----
             20k           30k              50k        70k        100k
            IOPS  * measured  o estimate  x wide interval  # level
            | highest
  IOPS, closed loop, at a mean latency of
        40 us  none, even one client waits 47.1 us
       100 us     87,300  85,600 .. 89,000
       250 us    101,000  97,000 .. 105,000
         1 ms  between 101,000 and 104,000
        10 ms  more than 103,000, where 128 clients wait only 1.25 ms
   saturation    103,000  102,000 .. 104,000 with 64 clients

Warnings (1 of 4, --all shows all)
  warning Data written less than 20 s ago may have been answered by the host's
          cache. Ask for --soak to see past it.

  PARTIAL interrupted by the user. Only what had been measured by then is shown.
  Random reads: one client waits 47 us; from about 60,000 per second on the
  response time grows faster than the load.
  SO FAR reliable, all 6 results, up to 2 % background I/O
");
}

#[test]
fn a_measurement_is_shown_in_full() {
    let run = sample::run();
    let page = measurement(&run.measurements[4], &Style::default());
    insta::assert_snapshot!(page, @r"
durable write 4 KiB (fsync) [durable-write]
  1 client, 1 worker, past the page cache, driver threads, seed 8213

             latency  95 % interval             service time  95 % interval
  shortest    992 us                                  962 us
  mean       1.24 ms  1.17 .. 1.31                   1.20 ms  1.18 .. 1.23
  p50        1.18 ms  1.13 .. 1.23                   1.14 ms  1.10 .. 1.19
  p90        1.49 ms  1.43 .. 1.55                   1.44 ms  1.39 .. 1.50
  p99       1.86 ms?  1.79 .. 1.93, indicative       1.80 ms  1.73 .. 1.88
  p99.9      too few                                 too few
  longest    37.2 ms                                 36.1 ms

  whole trial  operations     bytes  latency: mean      p99  longest  service: mean      p99
  write             4,840  18.9 MiB        1.24 ms  1.86 ms  37.2 ms        1.20 ms  1.74 ms

  throughput         806/s (790 .. 823)
  bandwidth          3.30 MB/s (3.24 .. 3.37)
  verdict            stopped before it reached the precision, mean latency within 6.0 %, 1,230
                     independent samples
  steady part        5.70 s, after 300 ms of warm-up, 4,840 of 4,840 operations
  drift              steady: moved by +0.4 % of its mean over the trial, at most 1.4 %, steady by
                     SNIA's rule
  not looked for     changes slower than 190 ms, events rarer than one in 1,610 operations or 1.90 s
  depth              0.970 outstanding requests on average, 1 at most
  issued late by     410 ns on average, p99 1.90 us, 71.0 us at most
  CPU                9.80 us/op, 0.21 cores busy
  page cache         answered 0 % of the bytes
  CPU time           47.4 ms in all, 14.5 ms in the program, 32.9 ms in the kernel, 12.0 ms given to
                     others by the hypervisor
  page faults        321 from memory, 0 from a device
  process            caused 18.9 MiB of reads and 0 B of writes
  device             vda: 4,840 reads, 18.9 MiB, 0 writes, 0 B, 0 flushes, busy for 5.60 s
  device time        1.17 ms per read on average, warm-up and block-layer queue included
  errors             3 write: no space left on device (no space, errno 28), latency 80.0 us on
                     average, 120 us at most, service time 60.0 us, 90.0 us
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
  file system        ext4 from /dev/vda1 at /, 79 GiB free of 100 GiB, space for
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
  busy               load 0.25, 0.50, 0.75 over 1, 5 and 15 minutes, I/O
                     pressure (some) 1.5 % over 10 s, 1.2 % steal since boot

Problems that can distort results
  - 5 GiB of the file were never written: reads of them touch no device. Write
    the file once before reading it [sparse-file]
  - the RAID is rebuilding. Wait until it is done [raid-rebuilding]
");
}

#[test]
fn no_line_is_wider_than_the_page() {
    let mut run = sample::run();
    run.target.given = "/a/path/without/any/blank/".repeat(8);
    run.measurements[1].title = "a-title-of-a-future-trial-that-has-no-blank".repeat(4);
    let curve = run.curves[0].clone();
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
fn numbers_that_must_not_be_used_are_marked() {
    let mut run = sample::run();
    run.measurements[0]
        .warnings
        .push(Warning::invalid(WarningCode::ShortOperations, "too short"));
    run.measurements[1].verdict = Verdict::NotStationary;
    let durable = run
        .measurements
        .iter_mut()
        .find(|it| it.name == "durable-write");
    durable.expect("a durable write").verdict = Verdict::Correlated;
    let screen = check_up(&run, &Style::default());
    for expected in [
        "\nx sequential write",
        "\n! sequential read",
        "\n  durable write",
        "4 of 6 reliable, 1 unstable, 1 invalid",
        "x invalid:",
        "! unstable:",
    ] {
        assert!(
            screen.contains(expected),
            "{expected} is missing in\n{screen}"
        );
    }
}

/// Bug: a check-up of a busy disk took 39 lines at 80 columns. The chart gives way, not the answer.
#[test]
fn a_check_up_where_much_went_wrong_fits_36_lines_of_80_columns() {
    let mut run = sample::run();
    run.measurements[0].verdict = Verdict::NotStationary;
    run.measurements[1].verdict = Verdict::NotStationary;
    let doubt = || Warning::warn(WarningCode::LevelChanged, "one of two levels");
    run.measurements[3].warnings.push(doubt());
    let change = "This storage slowed down, as burst credits do. ".repeat(4);
    run.findings.insert(0, change.trim().into());
    run.curves[0].warnings.push(doubt());
    let rows: Vec<_> = run.measurements.iter().take(3).cloned().collect();
    run.measurements.extend(rows);
    for all in [false, true] {
        let screen = check_up(&run, &Style { all, ..ASCII });
        assert_eq!(screen.lines().count() <= 36, !all, "{screen}");
        // Its levels stay.
        assert!(screen.contains("  100 us     87,300"), "{screen}");
        assert_eq!(screen.contains("* measured"), all, "{screen}");
    }
}

/// Bug: "all 3 rows sound" while the interval of one was unknown, and of another 0.0 .. 97.8 us;
/// and the page counted levels and saturation as rows, too.
#[test]
fn a_row_without_a_usable_interval_is_not_sound() {
    let mut run = sample::run();
    let durable = run.measurements.iter_mut();
    let mut durable = durable.filter(|it| it.name == "durable-write");
    let durable = durable.next().expect("a durable write");
    durable.response.mean.low = 0.0;
    let check = |run: &Run| {
        let screen = check_up(run, &Style::default());
        assert!(screen.contains("5 of 6 reliable, 1 unstable"), "{screen}");
        assert!(screen.contains("\n! durable write"), "{screen}");
        let page = html(run);
        assert!(page.contains("5 of 6 reliable, 1 unstable"), "{page}");
    };
    check(&run);
    let durable = run.measurements.iter_mut();
    let mut durable = durable.filter(|it| it.name == "durable-write");
    durable.next().expect("a durable write").response.mean.high = f64::INFINITY;
    check(&run);
}

/// Bug: the list of runs said "1 18.0 s, 2 11.7 s" of the tests 1 and 2.
#[test]
fn what_a_number_names_is_said_in_lists() {
    let mut run = kinds()
        .iter()
        .find(|it| it.0 == "files")
        .expect("files")
        .1
        .clone();
    let table = &mut run.tables[0];
    let count = table.rows[0].levels.len();
    for row in &mut table.rows {
        row.levels = vec![String::new(); count];
        row.levels[0] = "4A".into();
    }
    let factor = table.factors[0].clone();
    let said = headline(&run);
    assert!(said.starts_with(&format!("{factor} 4A ")), "{said}");
}

/// Who measures through the page cache, asked or not, reads so beside the rate and in the answer.
#[test]
fn what_the_page_cache_did_stands_beside_the_rate() {
    let shown = |access, share| {
        let mut run = sample::run();
        run.settings.command = "trial".into();
        run.curves.clear();
        run.measurements.truncate(1);
        let row = &mut run.measurements[0];
        (row.access, row.page_cache_share) = (access, share);
        check_up(&judged(run), &Style::default())
    };
    let cached = shown(Access::Buffered, Some(0.97));
    assert!(cached.contains("page cache\n"), "{cached}");
    assert!(cached.contains("(97 % page cache)"), "{cached}");
    let unknown = shown(Access::Buffered, None);
    assert!(unknown.contains("(through the page cache)"), "{unknown}");
    let direct = shown(Access::Direct, Some(0.0));
    assert!(!direct.contains("page cache"), "{direct}");
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
    assert!(screen.contains("random read 4 KiB, QD1"), "{screen}");
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
        ..whole.points[0].clone()
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
            run.curves = vec![curve];
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
    run.curves = vec![curve];
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

pub(super) fn empty() -> Run {
    let mut run = sample::run();
    run.measurements.clear();
    run.curves.clear();
    run.findings.clear();
    run.warnings.clear();
    run.verdict = None;
    run
}

/// What points of a few seconds cannot show is said of the whole run.
#[test]
fn a_curve_of_short_points_says_what_it_could_not_see() {
    let mut run = sample::run();
    let all = Style { all: true, ..ASCII };
    let told = |run: &Run, expected: &str| {
        let screen = check_up(run, &all);
        let words: Vec<&str> = screen.split_whitespace().collect();
        words.join(" ").contains(expected)
    };
    assert!(told(&run, "stalls rarer than one in 1.90"));
    let curve = &mut run.curves[0];
    curve.resolution = Some(Resolution::of(30_000, 3_000_000_000));
    assert!(told(&run, "stalls rarer than one in 1.00"));
}

/// A load curve alone had no row for what was measured, and theory stood on its page only.
#[test]
fn a_curve_alone_has_a_row_for_each_point() {
    let mut run = sample::run();
    run.measurements.clear();
    run.settings.command = "curve".into();
    let curve = &mut run.curves[0];
    for point in &mut curve.points {
        point.law = Some(results::QueueLaw {
            name: "M/M/1".into(),
            wait_mean_ns: 1e6,
            service_mean_ns: 1e6,
            response_mean_ns: 2e6,
            per_second: 500.0,
        });
    }
    let cited = report_rows(&check_up(&run, &Style::default()));
    assert_eq!(cited.len(), 7, "{cited:#?}");
    for row in &cited {
        assert!(
            row.ends_with("2.00 ms") || row.ends_with("wide interval"),
            "{row}"
        );
        assert!(row.contains(" .. "), "{row}");
    }
    let words: Vec<&str> = cited[0].split_whitespace().collect();
    let expected = "1 21,200 86.8 47.1 us 45.7 .. 48.5 75.4 us? 2.00 ms";
    assert_eq!(words.join(" "), expected);
    let mut many = run.clone();
    let curve = &mut many.curves[0];
    let one = curve.points[0].clone();
    curve.points = (1..=40)
        .map(|clients| CurvePoint {
            clients,
            ..one.clone()
        })
        .collect();
    let screen = check_up(&many, &Style::default());
    assert!(screen.lines().count() <= 40, "{screen}");
    assert!(
        screen.contains("31 more points: --all shows them"),
        "{screen}"
    );
}

/// The rows below the heading of a curve's points.
fn report_rows(screen: &str) -> Vec<String> {
    let lines = screen.lines().map(str::to_owned);
    let rows = lines.skip_while(|line| !line.trim_start().starts_with("clients  "));
    let rows = rows.skip(1).take_while(|line| !line.trim().is_empty());
    rows.filter(|line| {
        line.trim_start()
            .starts_with(|it: char| it.is_ascii_digit())
    })
    .collect()
}
