//! The page of a run: well formed, whole, true to the JSON, and safe whatever names it holds.

use std::collections::BTreeSet;

use crate::kinds::kinds;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use report::{ListRow, archive_html, comparison_html, html, not_compared_html, run_in_page};
use results::environment::TargetKind;
use results::{
    GoalVerdict, LimitVerdict, Role, Run, Trust, Unit, Warning, WarningCode, compare, json,
};
use scraper::{ElementRef, Html, Selector};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(super) fn parsed(page: &str) -> Html {
    let found = Html::parse_document(page);
    assert!(found.errors.is_empty(), "{:?}", found.errors);
    found
}

/// All that a page holds of a run.
fn without_histograms(mut run: Run) -> Run {
    for measurement in &mut run.measurements {
        measurement.intervals.clear();
        for kind in &mut measurement.kinds {
            kind.response_histogram.clear();
            kind.service_histogram.clear();
        }
    }
    run
}

pub(super) fn all<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).expect("a selector");
    page.select(&selector).collect()
}

pub(super) fn text(element: ElementRef<'_>) -> String {
    element.text().collect()
}

/// Every figure of the JSON's tables that is a number: value and unit, in the order of a page, on
/// which the details of a table follow the rest of it.
fn figures(run: &Value) -> Vec<(f64, String)> {
    let mut found = Vec::new();
    for table in run["tables"].as_array().expect("tables") {
        let rows = table["rows"].as_array().expect("rows");
        let figures = rows.iter().flat_map(|row| row["figures"].as_array());
        let mut metrics: Vec<(&Value, bool)> = Vec::new();
        for figure in figures.flatten() {
            if !metrics.iter().any(|(name, _)| *name == &figure["name"]) {
                metrics.push((&figure["name"], figure["role"] == "detail"));
            }
        }
        for is_detail in [false, true] {
            for row in rows {
                let shown = metrics.iter().filter(|(_, detail)| *detail == is_detail);
                for (name, _) in shown {
                    let mut figures = row["figures"].as_array().expect("figures").iter();
                    let figure = figures.find(|it| &it["name"] == *name);
                    let value = figure.and_then(|it| it["value"].as_f64());
                    let unit = figure.map(|it| it["unit"].as_str().expect("a unit").to_owned());
                    found.extend(value.zip(unit));
                }
            }
        }
    }
    found
}

/// What a printed number with its unit is in the unit of the JSON.
fn read_back(printed: &str, unit: &str) -> f64 {
    let printed = printed.trim_end_matches('?').trim_end_matches("/MiB");
    let number = |text: &str| -> f64 {
        let digits = text.replace(',', "");
        digits.parse().unwrap_or_else(|_| panic!("{printed}"))
    };
    let factor = |unit: &str| match unit {
        "ns" => 1e-9,
        "µs" => 1e-6,
        "ms" | "kB/s" => {
            if unit == "ms" {
                1e-3
            } else {
                1e3
            }
        }
        "s" | "B/s" | "B" | "" => 1.0,
        "min" => 60.0,
        "h" => 3_600.0,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "%" => 1e-2,
        other => panic!("{printed}: {other}"),
    };
    if ["per-second", "count", "ratio"].contains(&unit) {
        return number(printed.trim_end_matches("/s"));
    }
    let words: Vec<&str> = printed.split(' ').collect();
    words
        .chunks(2)
        .map(|pair| number(pair[0]) * factor(pair.get(1).unwrap_or(&"")))
        .sum()
}

/// A value that is not known equals none, and so runs are compared as they are printed.
#[track_caller]
fn assert_same(kind: &str, held: &Run, run: &Run) {
    assert!(
        format!("{held:?}") == format!("{run:?}"),
        "{kind}: another run"
    );
}

#[test]
fn every_kind_is_a_page_whose_values_are_those_of_the_json() {
    for (kind, run, _) in kinds() {
        let page = html(&run);
        let document = parsed(&page);
        let held = results::from_json(&run_in_page(&page).expect("a run")).expect("a run");
        assert_same(kind, &held, &without_histograms(run.clone()));
        let value: Value = serde_json::from_str(&json(&held)).expect("JSON");

        let mut ids = BTreeSet::new();
        for element in all(&document, "[id]") {
            let id = element.value().id().expect("an id").to_owned();
            assert!(ids.insert(id.clone()), "{kind}: {id} is given twice");
        }
        for link in all(&document, "a") {
            let target = link.attr("href").and_then(|it| it.strip_prefix('#'));
            assert!(
                target.is_some_and(|it| ids.contains(it)),
                "{kind}: {}",
                link.html()
            );
        }
        let shown: Vec<(f64, String)> = all(&document, "#figures data")
            .into_iter()
            .map(|it| {
                (
                    it.attr("value")
                        .and_then(|it| it.parse().ok())
                        .expect("a value"),
                    text(it),
                )
            })
            .collect();
        let expected = figures(&value);
        assert_eq!(shown.len(), expected.len(), "{kind}");
        for ((shown, printed), (value, unit)) in shown.iter().zip(&expected) {
            assert_eq!(shown, value, "{kind}: {printed}");
            let back = read_back(printed, unit);
            let off = (back - value).abs() / value.abs().max(1e-12);
            assert!(
                off < 6e-3 || (back - value).abs() < 6e-4,
                "{kind}: {printed} is {value} {unit}"
            );
        }
        let rows: usize = run.tables().iter().map(|table| table.rows.len()).sum();
        let words = all(
            &document,
            "#figures > .table > .wide tr > td:last-child > .t",
        );
        assert_eq!(words.len(), rows, "{kind}: a word of trust in each row");
    }
}

#[test]
fn the_verdict_comes_first() {
    let (_, run, _) = &kinds()[0];
    let page = html(run);
    let document = parsed(&page);
    let lead = text(all(&document, "header .lead")[0])
        .replace("\u{2060}\u{a0}", " ")
        .replace('\u{a0}', " ");
    assert!(
        lead.starts_with("Sustains 87,300 (85,600 – 89,000) random 4 KiB reads/s"),
        "{lead}"
    );
    let findings = text(all(&document, "#figures .findings")[0]);
    assert!(
        findings.starts_with("Random reads: one client waits 47 µs"),
        "{findings}"
    );
    assert!(page.find("class=\"lead\"") < page.find("<table "));
}

/// Bug: a page of a run with goals said nowhere whether they were met.
#[test]
fn goals_and_four_key_figures_stand_above_everything_else() {
    let (_, mut run, _) = kinds().swap_remove(1);
    run.goals = vec![GoalVerdict {
        change_of: None,
        goal: "p99 <= 200us".into(),
        figure: "latency-p99".into(),
        unit: Unit::Seconds,
        value: Some(sample::estimate(244e-6, 0.01)),
        verdict: LimitVerdict::Exceeded,
        why: None,
    }];
    run.verdict = Some(procedure::verdict(&run));
    let page = html(&run);
    let document = parsed(&page);
    assert_eq!(text(all(&document, ".standing b")[1]), "goals FAIL");
    let goal = text(all(&document, "header .goals li")[0]);
    assert_eq!(goal, "FAILp99 <= 200us 244 µs (242 – 246)");
    let figures = all(&document, "header .keyfigures li i").into_iter();
    assert_eq!(
        figures.map(text).collect::<Vec<String>>(),
        ["IOPS", "mean latency", "p99 latency", "max latency"]
    );
    let (_, run, _) = &kinds()[0];
    let page = html(run);
    let document = parsed(&page);
    let rows = all(&document, "header .keyfigures li > span:first-child").into_iter();
    insta::assert_snapshot!(rows.map(text).collect::<Vec<String>>().join("\n"), @r"
    random reads of 4 KiB at 250 µs mean
    random read 4 KiB, QD1
    durable write 4 KiB (fsync)
    sequential read 1 MiB, QD4
    ");
}

/// What is not reliable is no key figure where anything else is; what is invalid never is.
#[test]
fn marked_rows_are_no_key_figures() {
    for (kind, mut run, _) in kinds() {
        for measurement in &mut run.measurements {
            let warning = Warning::invalid(WarningCode::WrongData, "Do not use it.");
            measurement.warnings.push(warning);
        }
        for table in &mut run.tables {
            table
                .rows
                .iter_mut()
                .for_each(|row| row.trust = Trust::Invalid);
        }
        run.curves.clear();
        let page = html(&run);
        assert!(all(&parsed(&page), ".keyfigures li").is_empty(), "{kind}");
    }
}

/// Host, load and memory of this machine say nothing of a model in virtual time.
#[test]
fn a_page_of_a_model_does_not_name_the_machine() {
    let (_, mut run, _) = kinds().swap_remove(1);
    run.environment.host_name = "node17".into();
    assert!(html(&run).contains("node17"));
    run.target.kind = TargetKind::Simulated;
    let page = html(&run);
    assert!(!page.contains("node17") && !page.contains("RAM"), "{page}");
}

/// A page is sent to others: names in it must not become part of it.
#[test]
fn names_from_outside_are_never_markup() {
    let hostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\
                   \u{1b}[2J\u{fffd}\u{2028}<!--";
    for (kind, mut run, _) in kinds() {
        let before = parsed(&html(&run))
            .tree
            .nodes()
            .filter(|it| it.value().is_element())
            .count();
        let taint = |text: &mut String| *text = hostile.to_owned();
        taint(&mut run.target.given);
        taint(&mut run.environment.host_name);
        taint(&mut run.environment.kernel);
        for setting in &mut run.settings.settings {
            taint(&mut setting.name);
            setting.values = vec![hostile.to_owned()];
        }
        run.settings
            .files
            .iter_mut()
            .for_each(|it| taint(&mut it.text));
        run.findings.iter_mut().for_each(taint);
        for measurement in &mut run.measurements {
            taint(&mut measurement.title);
        }
        run.curves.iter_mut().for_each(|it| taint(&mut it.title));
        run.note.iter_mut().for_each(|it| taint(&mut it.title));
        let page = html(&run);
        let document = parsed(&page);
        let after = document
            .tree
            .nodes()
            .filter(|it| it.value().is_element())
            .count();
        // A path that differs from what was given is a fact more, and a finding that the verdict
        // does not say is a list more.
        assert!(
            after <= before + 6,
            "{kind}: {before} elements became {after}"
        );
        assert_eq!(all(&document, "script").len(), 2, "{kind}");
        for element in all(&document, "*") {
            let mut attributes = element.value().attrs();
            assert!(
                attributes.all(|(name, _)| !name.starts_with("on")),
                "{kind}"
            );
            assert_ne!(element.value().name(), "img", "{kind}");
        }
        let title = text(all(&document, "h1")[0]);
        assert!(
            title.contains("</script><script>alert(1)"),
            "{kind}: {title}"
        );
        assert!(!title.contains('\u{1b}'), "{kind}: {title}");
        let held = results::from_json(&run_in_page(&page).expect("a run")).expect("a run");
        assert_same(kind, &held, &without_histograms(run));
    }
}

#[test]
fn a_page_asks_for_nothing_from_elsewhere() {
    for (kind, run, _) in kinds() {
        let page = html(&run);
        let document = parsed(&page);
        for name in ["src", "srcset", "data", "action", "xlink:href"] {
            assert!(
                all(&document, "*").iter().all(|it| it.attr(name).is_none()),
                "{kind}"
            );
        }
        assert!(
            all(&document, "link, iframe, object, embed").is_empty(),
            "{kind}"
        );
        let style = text(all(&document, "style")[0]);
        let script = text(all(&document, "body > script:not([type])")[0]);
        for word in [
            "url(", "@import", "http:", "https:", "fetch(", "XMLHttp", "import(",
        ] {
            assert!(
                !style.contains(word) && !script.contains(word),
                "{kind}: {word}"
            );
        }
        // What the page lets itself do is its own style and script, to the byte.
        let policy = all(&document, "meta[http-equiv=Content-Security-Policy]")[0];
        let policy = policy.attr("content").expect("a policy");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        for (kind, text) in [("style", style), ("script", script)] {
            let digest = STANDARD.encode(Sha256::digest(text));
            assert!(
                policy.contains(&format!("{kind}-src 'sha256-{digest}'")),
                "{policy}"
            );
        }
    }
}

#[test]
fn a_curve_is_drawn_with_its_points_levels_and_highest_load() {
    let (_, run, _) = &kinds()[2];
    let page = html(run);
    let document = parsed(&page);
    let curve = &run.curves[0];
    let dots = all(&document, "#load .s0 circle");
    assert_eq!(dots.len(), curve.points.len());
    let estimates = curve.points.iter().filter(|point| point.is_scout).count();
    assert_eq!(all(&document, "#load .s0 circle.e").len(), estimates);
    let said: Vec<String> = dots.into_iter().map(text).collect();
    let of_result = "8 clients: 86,000/s (84,300 – 87,700), mean latency 93.0 µs (90.2 – 95.8)";
    assert!(said.iter().any(|it| it == of_result), "{said:?}");
    let labels: Vec<String> = all(&document, "#load .labels text")
        .into_iter()
        .map(text)
        .collect();
    assert_eq!(
        labels,
        [
            "highest 103,000/s, 64 clients",
            "40.0 µs mean",
            "100 µs mean",
            "250 µs mean",
            "1.00 ms mean",
            "idle 47.1 µs mean"
        ]
    );
    let found = all(&document, "#load .guide circle").into_iter().map(text);
    assert_eq!(
        found.collect::<Vec<String>>(),
        [
            "87,300/s (85,600 – 89,000) at 100 µs mean",
            "101,000/s (97,000 – 105,000) at 250 µs mean",
            "between 101,000 and 104,000/s at 1.00 ms mean"
        ]
    );
    let top = text(all(&document, "#load .range circle")[0]);
    assert!(
        top.starts_with("highest load: 103,000/s") && top.ends_with("64 clients"),
        "{top}"
    );
}

/// Bug: a disk that gives one client 57.5/s at 17.4 ms and two 56.0/s at 34.8 ms was said to take
/// 34.8 ms idle, the latency of the lowest load, and its line ran back and forth.
#[test]
fn idle_is_the_latency_of_the_fewest_clients() {
    let mut run = sample::run();
    let points = &mut run.curves[0].points;
    points[1].load = points[0].load.scale(0.9);
    let page = html(&run);
    assert!(page.contains("idle 47.1 µs mean"), "{page}");
}

#[test]
fn what_to_mind_is_ordered_by_weight_and_told_once() {
    let (_, mut run, _) = kinds().swap_remove(1);
    run.warnings = vec![
        Warning::info(WarningCode::SmallFile, "A note."),
        Warning::invalid(WarningCode::WrongData, "Do not use it."),
    ];
    for measurement in &mut run.measurements {
        measurement.warnings = vec![
            Warning::warn(WarningCode::Stall, "One."),
            Warning::warn(WarningCode::Stall, "Two."),
        ];
    }
    let page = html(&run);
    let document = parsed(&page);
    let words = all(&document, "#warnings > .warnings > li > .t")
        .into_iter()
        .map(text);
    assert_eq!(words.collect::<Vec<String>>(), ["invalid", "warning"]);
    let folded = all(&document, "#warnings > details > summary")
        .into_iter()
        .map(text);
    assert_eq!(folded.collect::<Vec<String>>(), ["1 more"]);
    let alike = text(all(&document, "#warnings .warnings details")[0]);
    assert_eq!(alike, "1 more resultTwo.");
}

/// Runs side by side: each ratio is the comparison's own, and all curves are in one chart.
#[test]
fn a_comparison_is_a_page_whose_ratios_are_those_of_the_comparison() {
    for (kind, base, _) in kinds() {
        let mut new = base.clone();
        new.id = Some(8);
        new.environment.kernel = "</dd><script>".into();
        for measurement in &mut new.measurements {
            measurement.response.mean = measurement.response.mean.scale(1.5);
        }
        let runs = [base.clone(), new.clone(), new.clone()];
        let page = comparison_html(&runs).expect("a comparison");
        let document = parsed(&page);
        let ids: Vec<&str> = all(&document, "[id]")
            .iter()
            .filter_map(|it| it.attr("id"))
            .collect();
        let unique: BTreeSet<&&str> = ids.iter().collect();
        assert_eq!(ids.len(), unique.len(), "{kind}: {ids:?}");
        assert_eq!(all(&document, "script").len(), 1, "{kind}");
        let found = compare(&base, &new);
        let (details, main): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|it| it.role == Role::Detail);
        let mut expected: Vec<String> = main
            .iter()
            .chain(&details)
            .map(|it| it.ratio.value.to_string())
            .collect();
        expected.extend(expected.clone());
        let shown = all(&document, "#figures td.h data").into_iter();
        let shown: Vec<String> = shown
            .filter_map(|it| it.attr("value").map(str::to_owned))
            .collect();
        assert_eq!(shown, expected, "{kind}");
        let drawn = all(&document, "#load .plot");
        assert_eq!(drawn.len(), base.curves.len(), "{kind}");
        for plot in drawn {
            let keys = Selector::parse(".keys button").expect("a selector");
            assert_eq!(
                plot.select(&keys).count(),
                3,
                "{kind}: a series for each run"
            );
        }
    }
    let (_, run, _) = kinds().swap_remove(1);
    let mut slower = run.clone();
    slower.measurements[0].response.mean = run.measurements[0].response.mean.scale(1.5);
    let page = comparison_html(&[run.clone(), slower]).expect("a comparison");
    let document = parsed(&page);
    assert_eq!(text(all(&document, "#figures .t.invalid")[0]), "worse");
    assert!(text(all(&document, ".lead")[0]).contains("1 is worse"));
    comparison_html(&[run]).expect_err("one run");
}

/// A check-up's page fits into a mail, its run and all charts included.
#[test]
fn a_page_is_small() {
    let (_, run, _) = &kinds()[0];
    let page = html(run);
    assert!(page.len() < 100_000, "{} bytes", page.len());
}

/// What was stopped early says so above everything else that it says of its figures.
#[test]
fn a_run_that_was_stopped_says_so() {
    let partial = |run: &mut Run| {
        run.status = results::Status::Partial {
            reason: "interrupted".into(),
        };
    };
    let (_, mut run, _) = kinds().swap_remove(1);
    partial(&mut run);
    let page = html(&run);
    let document = parsed(&page);
    let said = text(all(&document, "header .partial")[0]);
    assert_eq!(
        said,
        "Partial. interrupted. What had been measured by then is shown."
    );
}

/// Runs of one target stand together with the course of their p99; what is typed is never markup.
#[test]
fn an_archive_is_a_page_of_targets_with_their_runs() {
    let row = |id: i64, target: &str, host: &str| ListRow {
        id,
        target: target.into(),
        host: host.into(),
        command: "trial".into(),
        headline: "random read 4 KiB, 32 clients 117 us".into(),
        ..ListRow::default()
    };
    let rows = [
        row(5, "/data", "node1"),
        row(4, "sim:nvme", "node1"),
        row(3, "/data", "node2"),
        row(2, "/data", "node1"),
        row(1, "/data", "node1"),
        row(0, "<script>", "<script>"),
    ];
    let value = |run: i64, value: f64| (run, "trial".to_owned(), value);
    let p99 = [
        value(1, 1e-3),
        value(2, 2e-3),
        value(3, 9e-3),
        value(5, 4e-3),
    ];
    let page = archive_html(&rows, &p99, "runs.db");
    let document = parsed(&page);
    let groups = all(&document, ".runs .group").into_iter().map(text);
    assert_eq!(
        groups
            .map(|it| it.trim().to_owned())
            .collect::<Vec<String>>(),
        [
            "/data on node13 runsp99 of trial: 1.00 ms to 4.00 ms",
            "sim:nvme1 run",
            "/data on node21 run",
            "<script> on <script>1 run",
        ]
    );
    let links = all(&document, ".runs tbody:first-of-type a").into_iter();
    assert_eq!(links.map(text).collect::<Vec<String>>(), ["5", "2", "1"]);
    assert_eq!(all(&document, ".group svg").len(), 1);
}

/// Bug: whoever ticked runs of two commands got a line of text and no way back.
#[test]
fn unlike_runs_are_answered_with_what_differs_and_a_way_back() {
    let (_, one, _) = &kinds()[1];
    let (_, other, _) = &kinds()[3];
    let runs = [one.clone(), other.clone()];
    let why = comparison_html(&runs).expect_err("nothing in common");
    let page = not_compared_html(&runs, &why.to_string());
    let document = parsed(&page);
    assert!(text(all(&document, ".lead")[0]).contains("have no row in common"));
    assert_eq!(all(&document, "#runs dd").len(), 2);
    assert!(text(all(&document, "#setup")[0]).contains("was trial"));
    assert_eq!(all(&document, "#next a")[0].attr("href"), Some("."));
}
