//! The verdict of a run: a rule for each kind, and the same words in every form.

use report::{Style, check_up, csv_figures, html, markdown, openmetrics};
use results::environment::TargetKind;
use results::{
    GoalVerdict, LimitVerdict, Resolution, RowWarning, Run, RunVerdict, Severity, Study, Table,
    Trust, Unit, Warning, WarningCode, json,
};
use stats::{Estimate, Verdict};

use crate::kinds::{judged, kinds};

/// The kinds that only studies and commands of their own measure: one combination of levels.
const STUDIED: [&str; 15] = [
    "command",
    "transfer",
    "copy",
    "positioning",
    "streams",
    "archive",
    "retrieve",
    "backup",
    "fill",
    "cache",
    "http",
    "ftp",
    "tcp",
    "wal",
    "mail",
];

/// A run of each kind, of each kind of studies, and a comparison of two targets.
fn all_kinds() -> Vec<(String, Run)> {
    let mut found: Vec<(String, Run)> = Vec::new();
    for (name, run, _) in kinds() {
        let with = |study: Study, command: &str| {
            let mut run = run.clone();
            run.tables.clear();
            run.findings.clear();
            run.note = None;
            run.settings.command = command.into();
            study.give_to(&mut run);
            judged(run)
        };
        for kind in STUDIED.iter().filter(|_| name == "study") {
            let mut study = sample::study();
            study.measurement = (*kind).into();
            study.cells.truncate(1);
            study.comparisons.clear();
            found.push(((*kind).into(), with(study, "study")));
        }
        if name == "study" {
            found.push(("compare".into(), with(sample::study(), "compare")));
        }
        found.push((name.into(), run));
    }
    found
}

/// The same with what spoils each in turn: a doubt about every row, a void, an early stop, a missed
/// goal.
fn spoiled(kind: &str, run: &Run) -> Vec<(String, Run)> {
    let with = |name: &str, spoil: &dyn Fn(&mut Run)| {
        let mut run = run.clone();
        spoil(&mut run);
        (format!("{kind}, {name}"), judged(run))
    };
    vec![
        with("unstable", &|run| {
            warn(run, &|| {
                let cause = "a trial: 69 % of the I/O on vda came from other processes (12 \
                    requests). Stop them and rerun.";
                Warning::warn(WarningCode::BackgroundIo, cause)
            });
            for it in &mut run.measurements {
                it.verdict = Verdict::NotStationary;
            }
        }),
        with("invalid", &|run| {
            warn(run, &|| {
                let cause = "Blocks were never written. Fill the file first.";
                Warning::invalid(WarningCode::SparseFile, cause)
            });
        }),
        with("partial", &|run| {
            let reason = "interrupted by Ctrl-C".into();
            run.status = results::Status::Partial { reason };
            run.measurements.clear();
        }),
        with("goal missed", &|run| {
            run.goals = vec![GoalVerdict {
                change_of: None,
                goal: "latency<1us".into(),
                figure: "latency".into(),
                unit: Unit::Seconds,
                value: None,
                verdict: LimitVerdict::Exceeded,
                why: None,
            }];
        }),
    ]
}

/// Every row of the run gets that warning.
fn warn(run: &mut Run, warning: &dyn Fn() -> Warning) {
    run.warnings.push(warning());
    run.measurements
        .iter_mut()
        .for_each(|it| it.warnings.push(warning()));
    run.curves
        .iter_mut()
        .for_each(|it| it.warnings.push(warning()));
    for row in run.tables.iter_mut().flat_map(|it| &mut it.rows) {
        let warning = warning();
        let trust = match warning.severity {
            Severity::Invalid => Trust::Invalid,
            Severity::Warning | Severity::Info => Trust::Unstable,
        };
        row.trust = row.trust.max(trust);
        row.warnings.push(warning.code.clone());
        let row = row.levels.join(" ");
        run.row_warnings.push(RowWarning { row, warning });
    }
}

fn everything() -> Vec<(String, Run)> {
    let mut found = Vec::new();
    for (kind, run) in all_kinds() {
        found.extend(spoiled(&kind, &run));
        found.push((kind, run));
    }
    found
}

fn verdict(run: &Run) -> &RunVerdict {
    run.verdict.as_ref().expect("every run has one")
}

/// What a row that is not sound has been measured as, with its unit, as a sentence would quote it.
fn figures_of_marked_rows(tables: &[Table]) -> Vec<String> {
    let rows = tables.iter().flat_map(|table| &table.rows);
    let marked = rows.clone().filter(|row| row.trust != Trust::Reliable);
    let sound = rows.filter(|row| row.trust == Trust::Reliable);
    // What was asked for, and what happens to be the same figure of a sound row.
    let asked = [
        "clients", "offered", "rounds", "passes", "runs", "written", "limit", "share",
    ];
    let texts = |estimate: Estimate, unit: Unit| {
        let alone = unit.format(estimate.value);
        let (value, interval) = unit.format_interval(estimate);
        [alone, value, interval]
    };
    let sound: Vec<String> = sound
        .flat_map(|row| &row.figures)
        .flat_map(|it| texts(it.value, it.metric.unit))
        .collect();
    let figures = marked.flat_map(|row| &row.figures);
    let figures = figures.filter(|it| !asked.contains(&it.metric.name.as_str()));
    let figures = figures.flat_map(|it| texts(it.value, it.metric.unit));
    // A bare digit or two stands in many a name.
    let is_quotable = |text: &String| text.trim_end_matches("/s").len() > 2 && text != "n/a";
    figures
        .filter(is_quotable)
        .filter(|it| !sound.contains(it))
        .collect()
}

/// Whether the sentence has the figure as a word of its own.
fn quotes(sentence: &str, figure: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == ',';
    sentence.match_indices(figure).any(|(at, _)| {
        let before = sentence[..at].chars().next_back();
        let mut after = sentence[at + figure.len()..].chars();
        let end = after.next();
        // A full stop or a comma behind it ends no number.
        let goes_on = end.is_some_and(|c| {
            c.is_ascii_alphanumeric()
                || is_part(c) && after.next().is_some_and(|c| c.is_ascii_digit())
        });
        !before.is_some_and(is_part) && !goes_on
    })
}

#[test]
fn no_sentence_quotes_a_row_that_is_marked() {
    let mut checked = 0;
    for (kind, run) in everything() {
        let said = verdict(&run);
        for figure in figures_of_marked_rows(&run.tables()) {
            checked += 1;
            assert!(
                !quotes(&said.sentence, &figure),
                "{kind}: {figure} is of a marked row: {}",
                said.sentence
            );
        }
        let is_lowered = said.trust != Trust::Reliable;
        assert!(is_lowered || said.because.is_empty(), "{kind}: {said:?}");
    }
    assert!(checked > 500, "only {checked} figures were looked for");
}

#[test]
fn the_checker_finds_a_figure_that_is_quoted() {
    assert!(quotes("Delivers 4,010 IOPS (3,960 .. 4,070).", "4,010"));
    assert!(quotes("the mean latency is 59.4 us.", "59.4 us"));
    assert!(!quotes("Delivers 14,010 IOPS.", "4,010"));
    assert!(!quotes("Delivers 4,010.5 IOPS.", "4,010"));
    assert!(!quotes("within 100 ms", "100 m"));
}

#[test]
fn sentences_are_sentences() {
    for (kind, run) in everything() {
        let sentence = &verdict(&run).sentence;
        assert!(
            sentence.ends_with('.') && !sentence.ends_with(".."),
            "{kind}: {sentence}"
        );
        assert!(
            !sentence.contains("  ") && !sentence.contains("NaN"),
            "{kind}: {sentence}"
        );
    }
}

#[test]
fn what_spoils_a_run_is_in_its_verdict() {
    for (kind, run) in everything() {
        let said = verdict(&run);
        if kind.ends_with("invalid") && !run.tables().is_empty() {
            assert_eq!(said.trust, Trust::Invalid, "{kind}: {}", said.sentence);
            assert_eq!(said.because[0], WarningCode::SparseFile, "{kind}");
            assert!(
                said.sentence
                    .starts_with("Cannot tell: blocks were never written."),
                "{kind}"
            );
        }
        let goals = kind
            .ends_with("goal missed")
            .then_some(LimitVerdict::Exceeded);
        assert_eq!(said.goals, goals, "{kind}");
    }
}

/// Each form has the whole sentence, and the word of trust.
#[test]
fn every_form_has_the_verdict() {
    let squeezed = |text: &str| {
        let kept = text.chars().filter(|c| c.is_ascii_alphanumeric());
        kept.collect::<String>()
    };
    let style = Style {
        width: 10_000,
        ..Style::default()
    };
    for (kind, run) in everything() {
        let said = verdict(&run);
        let forms: [(&str, String); 6] = [
            ("screen", check_up(&run, &style)),
            (
                "page",
                html(&run)
                    .replace("<span>", "")
                    .replace("&#8288;", "")
                    .replace('µ', "u"),
            ),
            ("Markdown", markdown(&run)),
            ("JSON", json(&run)),
            ("CSV", csv_figures(&run)),
            ("OpenMetrics", openmetrics(&run)),
        ];
        for (form, text) in forms {
            // Markup within is left out: entities of the page alone have letters.
            let text = text
                .replace("</span>", "")
                .replace("&lt;", "")
                .replace("&gt;", "");
            let expected = said.sentence.replace(['<', '>'], "");
            let is_there = squeezed(&text).contains(&squeezed(&expected));
            assert!(is_there, "{kind}, {form}: {}\n{text}", said.sentence);
            assert!(
                text.to_lowercase().contains(said.trust.name()),
                "{kind}, {form}: {:?}",
                said.trust
            );
        }
        let metrics = openmetrics(&run);
        let trust = format!("seekstone_run_trust=\"{}\"}} 1\n", said.trust.name());
        assert!(metrics.contains(&trust), "{kind}:\n{metrics}");
    }
}

/// Story: a trial that was precise after 6 s told what a device "delivers" that changes in minutes.
#[test]
fn a_brief_measurement_of_real_storage_says_how_long_it_was() {
    let said = |kind: &str, change: &dyn Fn(&mut Run)| {
        let (_, mut run) = all_kinds()
            .into_iter()
            .find(|it| it.0 == kind)
            .expect("a kind");
        change(&mut run);
        verdict(&judged(run)).sentence.clone()
    };
    let trial_of = |seconds: f64| {
        said("trial", &|run| {
            run.measurements[0].duration_ns = (seconds * 1e9) as u64;
        })
    };
    let check = |sentence: String, end: &str| assert!(sentence.ends_with(end), "{sentence}");
    check(trial_of(5.7), ", over 6 s.");
    check(trial_of(0.4), ", over 400 ms.");
    check(trial_of(30.0), "us.");
    let curve_of = |seconds: u64| {
        said("curve", &|run| {
            let found = Resolution::of(1_000, seconds * 1_000_000_000);
            run.curves[0].resolution = Some(found);
        })
    };
    check(curve_of(12), "with 64 clients, over 12 s at each load.");
    check(curve_of(30), "with 64 clients.");
    for kind in ["trial", "curve", "run"] {
        let of_model = said(kind, &|run| run.target.kind = TargetKind::Simulated);
        assert!(!of_model.contains(", over "), "{of_model}");
    }
}

#[test]
fn a_figure_of_each_kind_is_in_its_sentence() {
    // Those of the kinds of studies are all alike.
    let all = all_kinds().into_iter();
    let all = all.filter(|(kind, _)| *kind == "wal" || !STUDIED.contains(&kind.as_str()));
    let told = all.chain([("transfer".to_owned(), kinds().swap_remove(5).1)]);
    let lines = told.map(|(kind, run)| {
        let said = verdict(&run);
        let mut lines = vec![format!("{kind}, {}\n ", said.trust.name())];
        for word in said.sentence.split(' ') {
            let line = lines.last_mut().expect("the first");
            match line.len() + word.len() < 80 {
                true => line.push_str(&format!(" {word}")),
                false => lines.push(format!("  {word}")),
            }
        }
        lines.join("\n")
    });
    let lines: Vec<String> = lines.collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    run, reliable
      Sustains 87,300 (85,600 .. 89,000) random 4 KiB reads/s at 100
      us mean latency, over 12 s at each load.
    trial, reliable
      Delivers 2.41 GB/s (2.36 .. 2.46) with 1 client, mean latency
      435 us (426 .. 444), p99 652 us, over 6 s.
    curve, reliable
      Sustains 87,300 (85,600 .. 89,000) IOPS at 100 us mean
      latency. Saturates at 103,000 IOPS (102,000 .. 104,000) with 64 clients, over
      12 s at each load.
    rab, reliable
      Batch workloads average RABmark[r] 32,500 (31,900 .. 33,200).
    transactions, reliable
      Serves 96 users with 95 % of the transactions within
      200 ms.
    random, reliable
      Random 4 KiB reads within 256 MiB: mean service time 13.9 ms
      (12.8 .. 14.8). Random 4 KiB writes within 256 MiB: mean service time 14.6 ms
      (13.8 .. 15.8).
    time, reliable
      zstd is 5.24 (4.55 .. 6.16) times as fast as gzip.
    files, reliable
      TEST3 as-is takes 12.5 ms (12.1 .. 12.9). TEST4 after SPACE2
      as-is takes 21.0 ms (20.4 .. 21.6). TEST3 durable takes 1.43 s (1.39 .. 1.47).
    ssd, unstable
      wsat: steady, IOPS 91,910/s (91,870 .. 91,950). lat: 3 rounds,
      too few to tell whether it is steady (8 at least).
    replay, reliable
      Replayed 60,000 requests in 5 min. The target kept up.
    wal, reliable
      Read rate 6.10 MB/s (5.49 .. 6.71); requests 18,400/s (16,600 ..
      20,200).
    compare, reliable
      64KiB against 1KiB: read rate 82 % lower (81 to 84 %). 1KiB
      against 1KiB: no difference is claimed from fewer than 5 complete rounds.
      64KiB against 1KiB: read rate 82 % lower (81 to 84 %).
    study, reliable
      read rate: block 64KiB is 0.175 (0.164 .. 0.186) times as fast
      as 1KiB (host linux1).
    transfer, reliable
      Write 1 GiB by 64 KiB, 2 streams at 400 MB/s (396 .. 404).
      Read 1 GiB by 64 KiB, stream 1 alone at 800 MB/s (792 .. 808). Read 1 GiB by
      64 KiB, stream 2 alone at 800 MB/s (792 .. 808).
    ");
}

#[test]
fn where_nothing_can_be_quoted_the_warning_says_why() {
    let check = |code: WarningCode, cause: &str, expected: &str| {
        let mut run = kinds().swap_remove(1).1;
        run.warnings.clear();
        let row = &mut run.measurements[0];
        row.verdict = Verdict::Budget { is_citable: false };
        row.warnings = vec![Warning::warn(code, format!("{}: {cause}", row.title))];
        let said = judged(run);
        assert_eq!(verdict(&said).sentence, expected);
        assert_eq!(verdict(&said).trust, Trust::Unstable);
    };
    check(
        WarningCode::LateGenerator,
        "Seekstone issued operations late, by 22 % of the latency. Use fewer clients",
        "Cannot tell: Seekstone issued operations late, by 22 % of the latency. p99 latency is at \
         most \
         679 us.",
    );
    check(
        WarningCode::KeptBack,
        "15 operations were still outstanding at the end, after 3.9 s on average. They count \
         in percentiles and maximum only. With them, mean latency is 7 s",
        "Cannot tell: 15 operations were still outstanding at the end, after 3.9 s on average.",
    );
    check(
        WarningCode::NotStationary,
        "never reached steady state (latency rose 12.0 %).",
        "Cannot tell: never reached steady state (latency rose 12.0 %).",
    );
    check(
        WarningCode::TooFewSamples,
        "only 12 independent samples, too few to quote.",
        "Cannot tell: only 12 independent samples, too few to quote.",
    );
}

/// A figure without an interval is no answer, though no warning says why.
#[test]
fn without_an_interval_there_is_no_answer() {
    let mut run = kinds().swap_remove(1).1;
    run.warnings.clear();
    let row = &mut run.measurements[0];
    row.warnings.clear();
    row.bandwidth = row.bandwidth.map(|it| it.without_interval());
    let said = judged(run);
    let expected = "Cannot tell: the result has no usable interval (repeat it, or run longer).";
    assert_eq!(verdict(&said).sentence, expected);
}

/// Bug: "the result has no usable interval" stood below a table with the interval of the peak.
#[test]
fn a_peak_with_a_wide_interval_is_not_said_to_have_none() {
    let (_, mut run) = all_kinds()
        .into_iter()
        .find(|it| it.0 == "curve")
        .expect("a curve");
    run.warnings.clear();
    let curve = run.curves.first_mut().expect("a curve");
    curve.warnings.clear();
    curve.levels.clear();
    let peak = curve.saturation.as_mut().expect("a peak");
    peak.is_converged = false;
    (peak.load.low, peak.load.high) = (peak.load.value * 0.9, peak.load.value * 1.14);
    let said = judged(run);
    let expected =
        "Cannot tell: peak IOPS is only known to within ±12 % (repeat it, or run longer).";
    assert_eq!(verdict(&said).sentence, expected);
    assert_eq!(verdict(&said).trust, Trust::Unstable);
}

/// Bug: the word was RELIABLE where three rows were quoted and all others were unstable.
#[test]
fn a_run_of_mostly_unstable_rows_is_not_reliable() {
    let check = |marked: usize, expected: Trust, standing: &str| {
        let (_, mut run) = all_kinds()
            .into_iter()
            .find(|it| it.0 == "files")
            .expect("file tests");
        run.row_warnings.clear();
        let rows = run.tables[0].rows.iter_mut().rev();
        rows.take(marked)
            .for_each(|row| row.trust = Trust::Unstable);
        let run = judged(run);
        let said = verdict(&run);
        assert_eq!(said.trust, expected, "{marked}: {said:?}");
        assert!(said.sentence.starts_with("TEST3 as-is takes "), "{said:?}");
        let screen = check_up(&run, &Style::default());
        assert!(screen.contains(standing), "{standing}: {screen}");
        let text = markdown(&run);
        let share = standing.split_once(' ').expect("a word").1;
        assert!(text.contains(share), "{share}: {text}");
    };
    check(3, Trust::Unstable, "UNSTABLE 2 of 5 reliable, 3 unstable");
    check(2, Trust::Reliable, "RELIABLE 3 of 5 reliable, 2 unstable");
}

/// Latency of an overload says how long the trial was: it is not quoted.
#[test]
fn an_overload_is_an_answer() {
    let mut run = kinds().swap_remove(1).1;
    let row = &mut run.measurements[0];
    row.offered = Some(9_000.0);
    let warning = |code| Warning::warn(code, "the storage did not keep up");
    row.warnings = vec![warning(WarningCode::LoadNotSustained)];
    let sound = judged(run.clone());
    let text = &verdict(&sound).sentence;
    assert!(
        text.starts_with("Cannot sustain 9,000 IOPS, only "),
        "{text}"
    );
    run.measurements[0]
        .warnings
        .push(warning(WarningCode::KeptBack));
    let unstable = judged(run);
    assert_eq!(verdict(&unstable).sentence, "Cannot sustain 9,000 IOPS.");
    assert_eq!(verdict(&unstable).because, [WarningCode::KeptBack]);
}

/// Bug: what was measured before a change was told as what the storage does.
#[test]
fn storage_that_changed_has_no_answer() {
    let mut run = sample::run();
    let finding = "This storage slowed down during the test: read gave 100 IOPS, then 10.";
    run.findings.insert(0, finding.into());
    for row in &mut run.measurements {
        row.warnings = vec![Warning::warn(
            WarningCode::LevelChanged,
            "one of two levels",
        )];
    }
    let curve = run.curves.first_mut().expect("a curve");
    curve.warnings = vec![Warning::warn(
        WarningCode::LevelChanged,
        "one of two levels",
    )];
    let said = judged(run);
    let expected = "Cannot tell: this storage slowed down during the test.";
    assert_eq!(verdict(&said).sentence, expected);
    assert_eq!(verdict(&said).because, [WarningCode::LevelChanged]);
}
