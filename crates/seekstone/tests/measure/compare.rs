//! Targets side by side: ratios of known truth, and limits that fail a build.

use crate::support::tables::{estimate, row, rows, word};
use crate::support::{self, Belongings, Ended, Scratch};
use serde_json::Value;

const BASE: &str = "sim:mm1?mean=1ms";
const SLOWER: &str = "sim:mm1?mean=1.2ms";

fn compare(more: &[&str], code: i32, expected: &str) -> Ended {
    let args = ["compare", BASE, "--set", "duration=20s", "-q", "--no-save"];
    let ended = Scratch::new().check(&[&args[..], more].concat(), code, "");
    let told = format!("{}{}", ended.stdout, ended.stderr);
    assert!(
        on_one_line(&told).contains(expected),
        "{expected:?}: {told}"
    );
    ended
}

/// A page without its line breaks.
fn on_one_line(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn number(value: &Value) -> f64 {
    let found = value.as_f64();
    found.unwrap_or_else(|| panic!("a number was expected, not {value}"))
}

/// One client on M/M/1 waits for its own service alone: 1.2 times as long.
#[test]
fn a_slower_target_is_told_with_its_ratio() {
    let ended = compare(&[SLOWER, "--seed", "1", "--json", "-"], 0, "");
    let run = ended.json();
    for (reading, truth) in [("latency", 1.2), ("iops", 1.0 / 1.2)] {
        let found = row(&run, "comparisons", &[reading]);
        let ratio = estimate(found, "ratio").expect("a ratio");
        let [low, high] = ["low", "high"].map(|key| number(&ratio[key]));
        assert!(low < truth && truth < high, "{reading}: {low} .. {high}");
        assert!(high / low < 1.1, "{reading}: {low} .. {high} is wide");
        assert_eq!(word(found, "shown"), "worse");
    }
    let page = compare(&[SLOWER, "--seed", "1"], 0, " % fewer IOPS (").stdout;
    let [least, most] = fewer_iops(&page);
    let iops = row(&run, "comparisons", &["iops"]);
    let iops = estimate(iops, "ratio").expect("a ratio");
    let shown = |ratio: &Value| (1.0 - number(ratio)) * 100.0;
    assert!((least - shown(&iops["high"])).abs() <= 0.5, "{page}");
    assert!((most - shown(&iops["low"])).abs() <= 0.5, "{page}");
    assert!(on_one_line(&page).contains(" %), p99 2"), "{page}");
    // Of figures that move together two are enough.
    assert!(!on_one_line(&page).contains("%), worse in"), "{page}");
    assert!(page.lines().count() <= 40, "{page}");
    let title = format!("Comparison of {BASE} and {SLOWER}: random read 4 KiB, 1 client");
    assert!(page.starts_with(&title), "{page}");
    assert!(
        page.contains("sim:mm1?mean=1.2ms against sim:mm1?mean=1ms"),
        "{page}"
    );
}

/// By how many percent the IOPS are fewer, at least and at most.
fn fewer_iops(page: &str) -> [f64; 2] {
    let page = on_one_line(page);
    let (_, rest) = page.split_once("fewer IOPS (").expect("a difference");
    let (range, _) = rest.split_once(" %)").expect("its interval");
    let (least, most) = range.split_once(" to ").expect("two ends");
    [least, most].map(|it| it.parse().unwrap_or_else(|_| panic!("{range}")))
}

/// Of four targets two are the same, and the others differ.
#[test]
fn targets_are_ranked_and_those_that_are_alike_are_named() {
    let targets = [SLOWER, BASE, "sim:mm1?mean=1.5ms"];
    let ended = compare(
        &[&targets[..], &["--seed", "1"]].concat(),
        0,
        "Ranked by IOPS: ",
    );
    let page = on_one_line(&ended.stdout);
    let (_, ranked) = page.split_once("Ranked by IOPS: ").expect("a ranking");
    let place = |target: &str| {
        ranked
            .find(target)
            .unwrap_or_else(|| panic!("{target}: {page}"))
    };
    assert!(place(BASE) < place(SLOWER), "{page}");
    assert!(place(SLOWER) < place("sim:mm1?mean=1.5ms"), "{page}");
    let alike = [
        format!("{BASE} and {BASE} [3]"),
        format!("{BASE} [3] and {BASE}"),
    ];
    assert!(
        alike
            .iter()
            .any(|it| page.contains(&format!("{it} cannot be told apart."))),
        "{page}"
    );
}

/// Bug: targets with intervals of ±50 % were ranked, and none of them was shown to be better.
#[test]
fn targets_that_cannot_be_told_apart_are_not_ranked() {
    let check = |duration: &str, code: i32| {
        let args = [
            "compare", BASE, BASE, BASE, "--set", duration, "--seed", "1",
        ];
        let ended = Scratch::new().check(&[&args[..], &["-q", "--no-save"]].concat(), code, "");
        let page = on_one_line(&ended.stdout);
        assert!(page.contains("cannot be told apart by IOPS."), "{page}");
        assert!(!page.contains("Ranked by"), "{page}");
    };
    check("duration=500ms", 5);
    // Long enough to show that they are the same.
    check("duration=60s", 0);
}

/// One line a figure on the picture and on the page, and the same ratios as JSON.
#[test]
fn targets_are_drawn_around_no_change() {
    let scratch = Scratch::new();
    let args = [
        "compare",
        BASE,
        SLOWER,
        "--set",
        "duration=20s",
        "-q",
        "--seed",
        "1",
    ];
    let files = [
        "--svg",
        "ratios.svg",
        "--html",
        "page.html",
        "--json",
        "run.json",
    ];
    scratch.check(&[&args[..], &files].concat(), 0, "Saved as run 1");
    let read = |name: &str| std::fs::read_to_string(scratch.path(name)).expect(name);
    let (drawn, page) = (read("ratios.svg"), read("page.html"));
    let run: Value = serde_json::from_str(&read("run.json")).expect("JSON");
    let comparisons = rows(&run, "comparisons");
    let ratios = comparisons.iter();
    let ratios = ratios.filter_map(|it| Some((*it, estimate(it, "ratio")?)));
    let ratios: Vec<(&Value, &Value)> = ratios.collect();
    assert!(ratios.len() >= 3, "{comparisons:?}");
    assert_eq!(drawn.matches("<circle").count(), ratios.len(), "{drawn}");
    for (row, ratio) in ratios {
        let name = row["levels"][0].as_str().expect("a name");
        assert!(
            drawn.contains(&format!(">{name}</text>")),
            "{name}: {drawn}"
        );
        let value = format!("<data value=\"{}\">", number(&ratio["value"]));
        assert!(page.contains(&value), "{name}: {value}");
    }
    assert!(drawn.contains("worse</text>"), "{drawn}");
    assert!(page.contains("random read 4 KiB, 1 client"), "{page}");
    assert!(page.contains("fewer IOPS"), "{page}");

    // The same from the archive; and of two runs.
    let exported = scratch.check(&["runs", "export", "1", "--form", "svg"], 0, "");
    assert_eq!(exported.stdout, drawn);
    for target in [BASE, SLOWER] {
        let args = ["trial", target, "--duration", "20s", "-q", "--seed", "1"];
        scratch.check(&args, 0, "Saved as run");
    }
    let of_runs = scratch
        .check(&["compare", "2", "3", "--svg", "-"], 0, "")
        .stdout;
    assert!(
        of_runs.starts_with("<svg") && of_runs.contains("run 3 (trial"),
        "{of_runs}"
    );
    assert!(of_runs.contains("worse</text>"), "{of_runs}");
    // A picture of what has none is refused before anything is measured.
    let none = ["trial", BASE, "--svg", "x.svg"];
    scratch.check(&none, 2, "a trial is drawn over time: add --interval 1s");
}

#[test]
fn a_limit_is_kept_exceeded_or_undecided() {
    let cases: [(&[(&str, &str)], i32); 3] = [
        (&[("mean > +30%", "PASS"), ("iops < -30%", "PASS")], 0),
        (
            &[
                ("mean > +30%", "PASS"),
                ("mean > +10%", "FAIL"),
                ("iops < -10%", "FAIL"),
            ],
            4,
        ),
        (&[("mean > +20%", "UNDECIDED")], 5),
    ];
    for (limits, code) in cases {
        let fail = limits.iter().flat_map(|(limit, _)| ["--fail", limit]);
        let args: Vec<&str> = [SLOWER, "--seed", "1"].into_iter().chain(fail).collect();
        let text = on_one_line(&compare(&args, code, limits[0].1).stdout);
        for (limit, word) in limits {
            let change = match limit.starts_with("mean") {
                true => "% higher",
                false => "% fewer IOPS",
            };
            let (_, line) = text
                .split_once(&format!("{word} {limit}: "))
                .expect("a line");
            let (said, _) = line.split_once(" One-sided").expect("its end");
            assert!(said.contains(change), "{said}");
            assert!(
                said.ends_with(&format!("for {SLOWER} against {BASE}.")),
                "{said}"
            );
        }
    }
}

#[test]
fn too_few_rounds_never_pass_or_fail() {
    let few = [SLOWER, "--rounds", "4", "--fail", "mean > +1%"];
    compare(&few, 5, "About 5 rounds would tell (--repeat 5)");
}

#[test]
fn the_evidence_is_a_markdown_table() {
    let more = [
        SLOWER,
        "--seed",
        "1",
        "--fail",
        "mean > +10%",
        "--markdown",
        "-",
    ];
    let ended = compare(&more, 4, "| FAIL | mean > +10% | ");
    assert!(ended.stdout.contains("## Goals"), "{}", ended.stdout);
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_is_measured() {
    let cases: [(&[&str], i32, &str); 13] = [
        (
            &[SLOWER, "--fail", "p77 > +10%"],
            2,
            "--fail \"p77 > +10%\": trial gives no p77. It gives iops, throughput, latency,",
        ),
        (
            &[SLOWER, "--figures", "p99,p77"],
            2,
            "--figures p77: trial gives no p77",
        ),
        (&[SLOWER, "--goal", "p77 <= 2ms"], 2, "trial gives no p77"),
        (
            &[SLOWER, "--goal", "p99 <= 2ms"],
            2,
            "name the target, as in sim:mm1?mean=1ms.latency-p99",
        ),
        (
            &[SLOWER, "--fail", "p99 10%"],
            2,
            "is not a limit. Write a figure",
        ),
        (
            &[SLOWER, "--fail", "p99 > -5%"],
            2,
            "would fail where nothing changed",
        ),
        (&["sim:nothing"], 2, "sim:nothing"),
        (&["/no/such/place"], 2, "/no/such/place"),
        (
            &[SLOWER, "--measure", "command"],
            2,
            "--measure command: use run, trial, curve",
        ),
        (
            &[SLOWER, "--measure", "trail"],
            2,
            "--measure trail: use run, trial, curve",
        ),
        (
            &[SLOWER, "--set", "clinets=3"],
            2,
            "trial has no setting \"clinets\"",
        ),
        (
            &[SLOWER, "--set", "parquet=x.parquet"],
            2,
            "trial has no setting \"parquet\"",
        ),
        (
            &[SLOWER, "--set", "overwrite=true"],
            2,
            "a study never overwrites anything that was there before",
        ),
    ];
    for (more, code, expected) in cases {
        compare(more, code, expected);
    }
    Scratch::new().check(
        &["compare", BASE],
        2,
        "has nothing to compare with: name two or more targets",
    );
}

#[test]
fn a_directory_is_compared_with_itself_and_left_as_it_was() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let before = Belongings::of(&target);
    let place = target.display().to_string();
    let args = [
        "compare",
        &place,
        &place,
        "--set",
        "size=4MiB",
        "--set",
        "duration=50ms",
        "-q",
    ];
    let ended = scratch.check(
        &[&args[..], &["--rounds", "2"]].concat(),
        0,
        "too few rounds",
    );
    // Where repeats must not be quoted, since others used the disk or they were too short, that is
    // said instead.
    let said = on_one_line(&ended.stdout);
    let reasons = [
        "from other processes",
        "never reached steady state",
        "Do not quote the number",
    ];
    let is_disturbed = reasons.iter().any(|it| said.contains(it));
    let is_unstable = is_disturbed && said.contains("Cannot tell: in ");
    assert!(is_unstable || said.contains("[2] against"), "{said}");
    assert!(ended.stdout.contains("Saved as run 1"), "{}", ended.stdout);
    before.assert_untouched();
    scratch.assert_clean(&target);
    scratch.check(&["runs", "show"], 0, "too few rounds");
    // So few reads of a slow disk have no 99th percentile.
    scratch.check(&["runs", "export", "1", "--form", "csv"], 0, ",iops,");
}

/// At a true +20 % a limit of +10 % is caught in 95 of 100, at a true 0 % it is raised in none but
/// by chance: with 8 rounds of 20 s each, seeds 1 to 100.
#[test]
#[ignore = "two hundred comparisons: `make nightly`"]
fn a_limit_has_the_power_that_is_promised() {
    let failed = |target: &str| {
        let seeds = 1..=100;
        let caught = seeds.filter(|seed| {
            let seed = seed.to_string();
            let args = [
                "compare",
                BASE,
                target,
                "--set",
                "duration=20s",
                "-q",
                "--no-save",
            ];
            let more = ["--seed", &seed, "--fail", "mean > +10%"];
            let ended = support::finish(Scratch::new().seekstone([&args[..], &more].concat()));
            ended.code == Some(4)
        });
        caught.count()
    };
    let (caught, false_alarms) = (failed(SLOWER), failed(BASE));
    #[allow(clippy::print_stdout)]
    {
        println!("true +20 %: {caught} of 100 caught; true 0 %: {false_alarms} of 100 raised");
    }
    assert!(caught >= 95, "{caught}");
    assert!(false_alarms <= 5, "{false_alarms}");
}

/// Story: a target on which everything failed ended with 0, and its row was called sound.
#[test]
fn a_target_that_always_fails_voids_the_comparison() {
    let failing = "sim:delay?time=5ms&error=EIO@100%";
    let args = [
        "compare",
        failing,
        BASE,
        "--set",
        "errors=count",
        "--rounds",
        "3",
    ];
    let more = ["--set", "duration=200ms", "-q", "--no-save", "--json", "-"];
    let ended = Scratch::new().check(&[&args[..], &more].concat(), 3, "");
    let run = ended.json();
    assert_eq!(run["summary"]["trust"], "invalid", "{}", run["summary"]);
    assert!(on_one_line(&ended.stdout).contains("there is nothing to compare"));
}

/// Bug: with most replicates void, the page spoke of "one replicate" and "too few rounds" at best,
/// and the command ended with 0.
#[test]
fn rounds_that_count_are_counted_for_each_target() {
    let unstable = "sim:delay?time=1ms&error=EIO@3%";
    let args = [
        "compare",
        BASE,
        unstable,
        "--set=errors=count",
        "--rounds=8",
    ];
    let more = ["--set=duration=500ms", "-q", "--seed=1"];
    let scratch = Scratch::new();
    let ended = scratch.check(&[&args[..], &more].concat(), 3, "");
    let page = on_one_line(&ended.stdout);
    let run = scratch.check(&["runs", "export", "1"], 0, "").json();
    let usable = |target: &str| {
        let replicates = row(&run, "trial", &[target])["replicates"].as_array();
        let counted = replicates.expect("replicates").iter();
        counted.filter(|it| it["counts"] == true).count()
    };
    assert_eq!(usable(BASE), 8);
    let usable = usable(unstable);
    assert!(usable < 5, "{usable}");
    let counts = format!(
        "no difference is claimed from fewer than 5 complete rounds ({usable} of {unstable} \
         count). UNSTABLE"
    );
    assert!(page.contains(&counts), "{page}");
    let told = format!(
        "8 of 8 repeats of target {BASE} and {usable} of 8 repeats of target {unstable} are valid. \
         A difference needs 5 of each"
    );
    assert!(page.contains(&told), "{page}");
    let markdown = scratch.check(&["runs", "export", "1", "--form", "markdown"], 0, "");
    let markdown = on_one_line(&markdown.stdout);
    assert!(markdown.contains(&told), "{markdown}");
}

/// Bugs: "RELIABLE both results" stood below "11 of 24 repeats: too few to quote", and the advice
/// was `--budget`, which is the time of all rounds.
#[test]
fn short_repeats_make_up_for_each_other_where_there_are_enough() {
    let slow = ["sim:mm1?mean=20ms", "sim:mm1?mean=40ms"];
    let page = |rounds: &str| {
        let args = ["compare", slow[0], slow[1], "--set=budget=2s", "--seed=1"];
        let more = [rounds, "-q", "--no-save"];
        let ended = Scratch::new().check(&[&args[..], &more].concat(), 0, "");
        on_one_line(&ended.stdout)
    };
    let few = page("--repeat=3");
    assert!(
        few.contains("too few to quote. Allow more time with --set budget=TIME."),
        "{few}"
    );
    assert!(few.contains(" UNSTABLE "), "{few}");
    let enough = page("--repeat=8");
    assert!(!enough.contains("too few to quote"), "{enough}");
    assert!(enough.contains(" RELIABLE both results"), "{enough}");
}

/// Bug: a comparison of three targets took 24 minutes without saying so.
#[test]
fn a_comparison_says_first_how_long_it_may_take() {
    let scratch = Scratch::new();
    let args = ["compare", "a", "b", "--set=duration=50ms", "--rounds=2"];
    for name in ["a", "b"] {
        std::fs::create_dir(scratch.path(name)).expect("a directory");
    }
    let more = ["--no-save", "--set=size=4MiB"];
    let plan = "each up to 50.0 ms: up to 200 ms in all, and the time for test files. Shorten";
    let ended = scratch.check(&[&args[..], &more].concat(), 0, "");
    assert!(ended.stderr.contains(plan), "{}", ended.stderr);
    // Bug: each repeat of `files` had a minute, whatever `--budget` said.
    let files = ["compare", "a", "b", "--measure=files", "--rounds=2"];
    let ended = scratch.check(&[&files[..], &["--budget=2s", "--no-save"]].concat(), 2, "");
    let plan = "4 repeats of files, each up to 1.00 s: up to 4.00 s in all";
    assert!(ended.stderr.contains(plan), "{}", ended.stderr);
    let virtual_time = [BASE, SLOWER, "--set=duration=50ms", "--rounds=2"];
    let virtual_time = [&["compare", "--no-save"][..], &virtual_time].concat();
    let ended = scratch.check(&virtual_time, 0, "");
    assert!(!ended.stderr.contains("in all"), "{}", ended.stderr);
    // Bugs: the plan of what was then refused, and "were not provided:" without a name.
    let wrong = [&args[..], &["--measure=files", "--set=files=9"]].concat();
    let ended = scratch.check(&wrong, 2, "");
    let expected = "error: --set duration=50ms: files has no setting";
    assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
    let wrong = ["compare", "a", "b", "--measure=files", "--set=files=9"];
    let expected = "error: the following required arguments were not provided: --set workload=";
    let ended = scratch.check(&wrong, 2, "");
    assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
}

/// Bug: whatever `random`, `rab`, `transactions` and `files` do not give was refused after the
/// first replicate, which may take minutes.
#[test]
fn figures_of_every_command_are_known_before_anything_is_measured() {
    let scratch = Scratch::new();
    let check = |kind: &str, option: &[&str], expected: &str| {
        // Neither is measured: measuring a missing directory has another error.
        let of = ["compare", "gone", "lost", "--measure", kind];
        let ended = scratch.check(&[&of[..], option].concat(), 2, "");
        assert!(ended.error().contains(expected), "{}", ended.error());
    };
    let given = [
        ("random", "service-time, service-time-p50,"),
        ("rab", "rabmark-r, rabmark-s,"),
        ("transactions", "tps"),
        ("files", "elapsed, files-per-second, calls-per-second,"),
    ];
    for (kind, gives) in given {
        let refused = format!("{kind} gives no p77. It gives ");
        check(kind, &["--fail", "p77 > +10%"], &refused);
        check(kind, &["--fail", "p77 > +10%"], gives);
        check(
            kind,
            &["--goal", "gone.p77 <= 2ms"],
            &format!("{kind} gives no gone.p77"),
        );
        check(kind, &["--figures", "p77"], &refused);
    }
    check(
        "run",
        &["--fail", "p99 > +10%"],
        "Name the row, as in random-read.latency-p99",
    );
    check(
        "curve",
        &["--fail", "iops < -5%"],
        "Name the row, as in 1ms.iops",
    );
    check(
        "random",
        &["--fail", "service-time-p99 > +10%"],
        "there is nothing at `gone`",
    );
    check(
        "run",
        &["--fail", "random-read.p99 > +10%"],
        "there is nothing at `gone`",
    );
}

/// Bug: where the first replicate was void, a limit ended the comparison with "trial gives none of
/// the readings wanted (latency-p99). It gives ".
#[test]
fn a_limit_on_void_replicates_is_undecided_and_void() {
    let scratch = Scratch::new();
    for name in ["a", "b"] {
        let file = std::fs::File::create(scratch.path(name));
        let made = file.and_then(|file| file.set_len(16 << 20));
        made.expect("a file that is a hole");
    }
    let of = ["compare", "a", "b", "-q", "--no-save", "--rounds=2"];
    let more = ["--set=duration=200ms", "--fail=p99 > +10%"];
    let ended = scratch.check(&[&of[..], &more].concat(), 3, "every repeat of target a");
    let page = on_one_line(&ended.stdout);
    assert!(
        page.contains("UNDECIDED p99 > +10%: b and a have no two rounds with latency-p99 "),
        "{page}"
    );
    assert!(!page.contains("too close"), "{page}");
    let of_both = "every repeat of target a and every repeat of target b failed";
    assert!(page.contains(of_both), "{page}");
    // Where nothing varies, the sentence began with the colon that follows a name.
    let study =
        "title = \"Holes\"\nrepeats = 2\n[measurement]\nkind = \"trial\"\nduration = \"200ms\"";
    std::fs::write(scratch.path("holes.toml"), study).expect("a study");
    let study = ["study", "holes.toml", "--target=a", "-q", "--no-save"];
    scratch.check(
        &study,
        3,
        "Cannot tell: every repeat failed or was invalid.",
    );
}
