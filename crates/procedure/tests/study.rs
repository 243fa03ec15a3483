//! Studies: mistakes are told all at once with their lines, the order is random and repeatable, and
//! conclusions claim no more than the data bear.

use procedure::study::{
    Kinds, SettingMistake, StudyDefinition, StudyOverrides, StudyPlan, StudyShape, analyse,
    is_precise, read_study, rounds_needed,
};
use random::{Purpose, Stream};
use results::{Better, Reading, StudyComparison, StudyReplicate, StudyVerdict, Unit};

const STUDY: &str = r#"
title = "Block sizes"
environment = ["client: linux1"]
replicates = 6

[measurement]
kind = "transfer"
size = "64MiB"

[[factor]]
name = "block"
setting = "record"
levels = ["1KiB", "8KiB", "64KiB"]
against = "8KiB"

[[factor]]
name = "mount"
[[factor.level]]
name = "default"
setup = "true"
[[factor.level]]
name = "rsize 8k"
set = { dir = "mnt8" }
setup = "mkdir mnt8"
teardown = "rmdir mnt8"
"#;

/// A kind `transfer` with a few settings, and a kind `command`.
fn settings_of(kind: &str) -> Option<Vec<String>> {
    let names: &[&str] = match kind {
        "transfer" => &["size", "record", "dir"],
        "command" => &["command"],
        _ => return None,
    };
    Some(names.iter().map(|&name| name.to_owned()).collect())
}

fn check_settings(kind: &str, settings: &toml::Table) -> Result<(), SettingMistake> {
    let mistake = |key: Option<&String>, message: String| SettingMistake {
        key: key.cloned(),
        message,
    };
    let Some(known) = settings_of(kind) else {
        return Err(mistake(None, format!("there is no measurement {kind:?}")));
    };
    for (key, value) in settings {
        if !known.contains(key) {
            return Err(mistake(Some(key), format!("no setting {key:?}")));
        }
        if value.as_str().is_some_and(|text| text.contains("wrong")) {
            return Err(mistake(Some(key), format!("{key} = {value}: it is a size")));
        }
    }
    Ok(())
}

fn read_with(text: &str, overrides: &StudyOverrides) -> Result<StudyDefinition, String> {
    let kinds = Kinds {
        settings_of: &settings_of,
        check: &check_settings,
    };
    read_study("s.toml", text, overrides, &kinds).map_err(|error| error.to_string())
}

fn read(text: &str) -> Result<StudyDefinition, String> {
    read_with(text, &StudyOverrides::default())
}

#[test]
fn a_study_is_read() {
    let study = read(STUDY).expect("a study");
    assert_eq!(study.cells().len(), 6);
    assert_eq!((study.rounds_min, study.rounds_max), (6, 24));
    let cell = [2, 1];
    assert_eq!(study.describe(&cell), "block 64KiB, mount rsize 8k");
    let settings = study.settings_of(&cell);
    let text = |key: &str| settings[key].as_str().expect("a text");
    assert_eq!((text("record"), text("size")), ("64KiB", "64MiB"));
    assert_eq!(text("dir"), "mnt8");
    assert_eq!(
        study.factors[1].levels[1].setup.as_ref().unwrap().place,
        "s.toml:24"
    );
}

#[test]
fn combinations_are_left_out() {
    let text = STUDY.replacen(
        "replicates = 6",
        "exclude = [{ block = \"64KiB\", mount = \"default\" }, { block = \"1KiB\" }]",
        1,
    );
    let study = read(&text).expect("a study");
    assert_eq!(study.cells(), [vec![1, 0], vec![1, 1], vec![2, 1]]);
}

#[test]
fn levels_act_by_their_names() {
    let study = read(
        r#"
title = "Compilers"
[measurement]
kind = "command"
command = "cc -O{opt} ${HOME}"
[[factor]]
name = "opt"
levels = [0, 2]
[[factor]]
name = "node"
levels = ["linux1"]
"#,
    )
    .expect("a study");
    let commands: Vec<String> = study
        .cells()
        .iter()
        .map(|cell| {
            study.settings_of(cell)["command"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(commands, ["cc -O0 ${HOME}", "cc -O2 ${HOME}"]);
}

/// Every mistake of `text`, by line.
#[track_caller]
fn check_mistakes(text: &str, expected: &[&str]) {
    let told = read(text).expect_err(text);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{told}");
    for (line, expected) in lines.iter().zip(expected) {
        let (place, words) = expected.split_once(": ").expect("a place and words");
        assert!(
            line.starts_with(&format!("{place}: ")),
            "{line}\n{expected}"
        );
        assert!(line.contains(words), "{line}\n{expected}");
    }
}

#[test]
fn mistakes_are_told_with_their_lines() {
    check_mistakes("titel = 'x", &["s.toml:1: not TOML"]);
    check_mistakes(
        "",
        &[
            "s.toml:1: the key \"title\" is missing",
            "s.toml:1: the key \"measurement\" is missing",
        ],
    );
    check_mistakes(
        "title = \"x\"\n[measurement]\nkind = \"transfre\"\n",
        &["s.toml:3: there is no measurement \"transfre\""],
    );
    check_mistakes(
        "title = \"x\"\n[measurement]\nkind = \"transfer\"\nsize = \"wrong\"\n",
        &["s.toml:4: it is a size"],
    );
    check_mistakes(
        "title = \"x\"\n[measurement]\nkind = \"transfer\"\n[[factor]]\nname = \"block\"\n",
        &["s.toml:4: the factor \"block\" has no levels"],
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = r#"title = ""
replicates = 0
precision = 5
budget = "soon"
colour = "red"
exclude = [{ block = "9KiB" }, { bloc = "1KiB" }]
[measurement]
kind = "transfer"
size = "wrong"
[[factor]]
name = "block"
setting = "record"
levels = ["1KiB", "wrong", "1KiB"]
against = "2KiB"
[[factor]]
name = "host"
levels = ["a", "b"]
[[factor]]
name = "mount"
[[factor.level]]
setup = 7
"#;
    check_mistakes(
        text,
        &[
            "s.toml:1: title",
            "s.toml:2: replicates = 0: replicates is a whole number from 1",
            "s.toml:3: precision = 5",
            "s.toml:4: budget = \"soon\"",
            "s.toml:5: unknown key \"colour\"",
            "s.toml:6: block = \"9KiB\": the factor \"block\" has the levels 1KiB",
            "s.toml:6: there is no factor \"bloc\"",
            "s.toml:9: it is a size",
            "s.toml:10: two levels \"1KiB\"",
            "s.toml:13: it is a size",
            "s.toml:14: against = \"2KiB\"",
            "s.toml:15: the factor \"host\" changes nothing",
            "s.toml:18: the factor \"mount\" has no levels",
            "s.toml:20: the key \"name\" is missing",
            "s.toml:21: setup = 7",
        ],
    );
}

#[test]
fn the_command_line_overrides_the_file() {
    let overrides = StudyOverrides {
        set: vec![("size".into(), "1MiB".into())],
        only: vec![("block".into(), vec!["1KiB".into(), "64KiB".into()])],
        replicates: Some(2),
        target: Some("/elsewhere".into()),
        ..StudyOverrides::default()
    };
    let study = read_with(STUDY, &overrides).expect("a study");
    assert_eq!(study.cells().len(), 4);
    assert_eq!(study.settings["size"].as_str(), Some("1MiB"));
    assert_eq!((study.rounds_min, study.target.as_str()), (2, "/elsewhere"));
    let overrides = StudyOverrides {
        set: vec![("size".into(), "wrong".into())],
        only: vec![("block".into(), vec!["2KiB".into()])],
        ..StudyOverrides::default()
    };
    let told = read_with(STUDY, &overrides).expect_err("mistakes");
    assert!(
        told.contains("--set size=wrong: size = \"wrong\": it is a size"),
        "{told}"
    );
    assert!(
        told.contains("--only block=2KiB: no level \"2KiB\""),
        "{told}"
    );
}

#[test]
fn garbage_is_refused_without_a_panic() {
    let mut stream = Stream::new(7, 0, Purpose::Order);
    for _ in 0..2000 {
        let mut bytes = STUDY.as_bytes().to_vec();
        for _ in 0..1 + stream.below(4) {
            let at = stream.below(bytes.len() as u64) as usize;
            bytes[at] = b" []{}=\"'\n0a-."[stream.below(13) as usize];
        }
        let text = String::from_utf8(bytes).expect("ASCII");
        if let Err(told) = read(&text) {
            assert!(told.starts_with("s.toml:"), "{told}");
        }
    }
}

#[test]
fn how_often_is_no_part_of_the_meaning() {
    let study = read(STUDY).expect("a study");
    let more = read(&STUDY.replace("replicates = 6", "replicates = 9")).expect("a study");
    let other = read(&STUDY.replace("64MiB", "65MiB")).expect("a study");
    assert_eq!(study.meaning(), more.meaning());
    assert_ne!(study.meaning(), other.meaning());
}

#[test]
fn a_round_visits_every_cell_once_and_keeps_set_ups_together() {
    let study = read(STUDY).expect("a study");
    let plan = StudyPlan::new(&study);
    let mut orders = Vec::new();
    for round in 1..=50 {
        let groups = plan.round(1, round);
        assert_eq!(groups.len(), 2, "one for each mount");
        let order: Vec<usize> = groups
            .iter()
            .flat_map(|group| group.cells.clone())
            .collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..6).collect::<Vec<_>>());
        assert_eq!(groups, plan.round(1, round), "repeatable");
        orders.push(order);
    }
    orders.sort_unstable();
    orders.dedup();
    // Of 72 orders 50 draws hit about 36 different ones.
    assert!(orders.len() > 20, "{}", orders.len());
    let rehearsed = plan.rehearsal();
    assert_eq!(rehearsed.len(), 2);
}

/// A compiler is run for each combination of the factors that its command names.
#[test]
fn a_level_that_a_set_up_names_is_set_up_of_its_own() {
    let study = read(
        r#"
title = "Options"
[measurement]
kind = "command"
command = "./a.out"
[[factor]]
name = "source"
levels = ["one", "many"]
[[factor]]
name = "options"
[[factor.level]]
name = "-O2"
setup = "cc $SEEKSTONE_OPTIONS $SEEKSTONE_SOURCE.c"
[[factor.level]]
name = "-O0"
setup = "cc $SEEKSTONE_OPTIONS $SEEKSTONE_SOURCE.c"
"#,
    )
    .expect("a study");
    assert_eq!(StudyPlan::new(&study).round(1, 1).len(), 4);
}

/// What a measurement of one reading gives in each round and cell.
fn replicates(
    shape: &StudyShape,
    rounds: u32,
    mut value: impl FnMut(&[usize], u32) -> f64,
) -> Vec<StudyReplicate> {
    let mut made = Vec::new();
    for round in 1..=rounds {
        for cell in &shape.cells {
            let levels = cell.iter().zip(&shape.levels);
            let value = value(cell, round);
            made.push(StudyReplicate {
                number: made.len() as u32 + 1,
                round,
                levels: levels.map(|(&level, names)| names[level].clone()).collect(),
                started_at: "2027-01-31T12:00:00Z".into(),
                elapsed_ns: 1,
                readings: vec![
                    Reading::new("rate", Unit::BytesPerSecond, value, Better::Higher),
                    Reading::new("calls", Unit::Count, 3.0, Better::Neither),
                ],
            });
        }
    }
    made
}

fn lines(lines: &[&str]) -> String {
    lines.join("\n")
}

fn shape() -> StudyShape {
    StudyShape::of(&read(STUDY).expect("a study"))
}

/// Normal numbers (Box and Muller).
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * stream.open_unit().ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.unit()).cos()
}

#[test]
fn conclusions_are_sentences_with_intervals_rounded_outwards() {
    let shape = shape();
    let mut stream = Stream::new(3, 0, Purpose::Order);
    let made = replicates(&shape, 10, |cell, _| {
        let rate = [7.8e6, 8e6, 1.4e6][cell[0]];
        rate * (0.01 * normal(&mut stream)).exp()
    });
    let found = analyse(&shape, &made);
    let told = found.conclusions.join("\n");
    assert_eq!(
        told,
        lines(&[
            "block 64KiB: rate 5.67 to 5.80 times lower than with 8KiB (averaged over mount).",
            "No difference of interest in rate shown between block 1KiB and 8KiB (averaged over \
         mount); what the data do not exclude: 3.5 % lower to 1.0 % lower.",
            "mount rsize 8k and default: rate is the same, 0.4 % lower to 1.2 % higher \
         (averaged over block).",
            "The intervals hold for all 10 comparisons together with 95 % (Bonferroni), and \
         differences are claimed by Holm's correction: at most one study in twenty makes \
         even one false claim; differences below 2 % count as none.",
        ])
    );
    assert_eq!(found.cells.len(), 6);
    assert_eq!(found.cells[0].figures.len(), 2);
}

#[test]
fn an_effect_that_differs_is_stated_for_each_level_of_the_other() {
    let shape = shape();
    let mut stream = Stream::new(4, 0, Purpose::Order);
    // Of the second mount, block size does not matter.
    let made = replicates(&shape, 10, |cell, _| {
        let rate = if cell[1] == 0 {
            [2e6, 8e6, 8e6][cell[0]]
        } else {
            4e6
        };
        rate * (0.01 * normal(&mut stream)).exp()
    });
    let told = analyse(&shape, &made).conclusions.join("\n");
    assert_eq!(
        told,
        lines(&[
            "The effect of block on rate differs with mount, and is stated for each:",
            "block 1KiB: rate 3.92 to 4.09 times lower than with 8KiB (mount default).",
            "No difference in rate shown between block 64KiB and 8KiB (mount default); what the \
         data do not exclude: 2.5 % lower to 2.6 % higher.",
            "No difference in rate shown between block 1KiB and 8KiB (mount rsize 8k); what the \
         data do not exclude: 2.2 % lower to 3.3 % higher.",
            "No difference in rate shown between block 64KiB and 8KiB (mount rsize 8k); what \
         the data do not exclude: 1.6 % lower to 2.9 % higher.",
            "The effect of mount on rate differs with block, and is stated for each:",
            "mount rsize 8k: rate 95 to 105 % higher than with default (block 1KiB).",
            "mount rsize 8k: rate 49.5 to 51.2 % lower than with default (block 8KiB).",
            "mount rsize 8k: rate 49.1 to 51.0 % lower than with default (block 64KiB).",
            "The intervals hold for all 10 comparisons together with 95 % (Bonferroni), and \
         differences are claimed by Holm's correction: at most one study in twenty makes \
         even one false claim; differences below 2 % count as none.",
        ])
    );
}

#[test]
fn few_replicates_bear_no_conclusion() {
    let shape = shape();
    let made = replicates(&shape, 2, |cell, _| [1.0, 50.0, 1000.0][cell[0]]);
    let found = analyse(&shape, &made);
    assert_eq!(found.conclusions.len(), 1);
    assert!(found.conclusions[0].contains("bear no conclusion"));
    assert!(
        found
            .comparisons
            .iter()
            .all(|it| it.verdict == StudyVerdict::NotShown)
    );
    let found = analyse(&shape, &[]);
    assert!(found.cells.iter().all(|cell| cell.figures.is_empty()));
}

#[test]
fn a_round_that_was_cut_off_counts_for_what_it_has() {
    let shape = shape();
    let mut stream = Stream::new(5, 0, Purpose::Order);
    let mut made = replicates(&shape, 7, |cell, _| {
        [1e6, 2e6, 4e6][cell[0]] * (0.01 * normal(&mut stream)).exp()
    });
    made.truncate(6 * 6 + 3);
    let found = analyse(&shape, &made);
    assert_eq!(found.cells[0].replicates, 7);
    assert_eq!(found.cells[5].replicates, 6);
    assert!(
        found
            .comparisons
            .iter()
            .any(|it| it.verdict == StudyVerdict::Lower)
    );
}

#[test]
fn rounds_go_on_until_every_cell_is_precise() {
    let shape = shape();
    let mut stream = Stream::new(6, 0, Purpose::Order);
    let made = replicates(&shape, 40, |_, _| 1e6 * (0.05 * normal(&mut stream)).exp());
    let upto = |rounds: usize| analyse(&shape, &made[..rounds * 6]).cells;
    let more = rounds_needed(&upto(5), 5, 0.02).expect("not yet precise");
    assert!((6..=10).contains(&more), "{more}");
    assert_eq!(rounds_needed(&upto(40), 40, 0.05), None);
    assert!(is_precise(&upto(40), 0.05));
    // One round says nothing about the next.
    assert_eq!(rounds_needed(&upto(1), 1, 0.05), Some(2));
}

/// Outcomes of many studies of which the truth is known.
struct Score {
    false_claims: u32,
    studies: u32,
    uncovered: u32,
    found: u32,
}

/// Studies with this true log rate for each cell, noise of this size, and a machine whose rounds
/// differ; `goal` adds rounds until a precision is reached.
fn score(seed: u64, rounds: u32, goal: Option<f64>, truth: impl Fn(&[usize]) -> f64) -> Score {
    let shape = shape();
    let mut score = Score {
        false_claims: 0,
        studies: 400,
        uncovered: 0,
        found: 0,
    };
    for study in 0..score.studies {
        let mut stream = Stream::new(seed, u64::from(study), Purpose::Order);
        let drift: Vec<f64> = (0..200).map(|_| 0.3 * normal(&mut stream)).collect();
        let made = replicates(&shape, 40, |cell, round| {
            // A cell may scatter more than another.
            let noise = if cell[0] == 0 { 0.1 } else { 0.02 };
            (truth(cell) + drift[round as usize] + noise * normal(&mut stream)).exp()
        });
        let mut upto = rounds;
        let mut found = analyse(&shape, &made[..upto as usize * 6]);
        while let Some(more) = goal.and_then(|goal| rounds_needed(&found.cells, upto, goal)) {
            if upto == 40 {
                break;
            }
            upto = more.min(40);
            found = analyse(&shape, &made[..upto as usize * 6]);
        }
        let stated: Vec<&StudyComparison> =
            found.comparisons.iter().filter(|it| it.is_stated).collect();
        let of = |it: &StudyComparison| true_ratio(&shape, it, &truth);
        let is_false = |it: &&&StudyComparison| match it.verdict {
            StudyVerdict::Higher => of(it) <= 1.02,
            StudyVerdict::Lower => of(it) >= 1.0 / 1.02,
            StudyVerdict::Same => !(1.0 / 1.02..=1.02).contains(&of(it)),
            StudyVerdict::NotShown => false,
        };
        score.false_claims += u32::from(stated.iter().any(|it| is_false(&it)));
        score.uncovered += u32::from(stated.iter().any(|it| !it.value.contains(of(it))));
        score.found += u32::from(stated.iter().any(|it| it.verdict == StudyVerdict::Lower));
    }
    score
}

fn true_ratio(shape: &StudyShape, it: &StudyComparison, truth: &impl Fn(&[usize]) -> f64) -> f64 {
    let factor = shape
        .factors
        .iter()
        .position(|name| *name == it.factor)
        .unwrap();
    let level = |name: &str| {
        shape.levels[factor]
            .iter()
            .position(|it| it == name)
            .unwrap()
    };
    let other = 1 - factor;
    let contexts = (0..shape.levels[other].len())
        .filter(|&at| it.context[other].is_empty() || it.context[other] == shape.levels[other][at]);
    let effect = |context: usize| {
        let mut cell = [0, 0];
        cell[other] = context;
        cell[factor] = level(&it.level);
        let value = truth(&cell);
        cell[factor] = level(&it.against);
        value - truth(&cell)
    };
    let effects: Vec<f64> = contexts.map(effect).collect();
    (effects.iter().sum::<f64>() / effects.len() as f64).exp()
}

/// The upper 99.9 % point of the number of studies out of 400 with a false claim at 5 %.
const FALSE_MAX: u32 = 35;

#[test]
fn without_effects_at_most_one_study_in_twenty_claims_one() {
    let score = score(11, 6, None, |_| 0.0);
    assert!(
        score.false_claims <= FALSE_MAX,
        "{} of 400",
        score.false_claims
    );
    assert!(score.uncovered <= FALSE_MAX, "{} of 400", score.uncovered);
}

#[test]
fn known_effects_are_found_and_their_intervals_cover() {
    let truth = |cell: &[usize]| [-1.7, 0.0, 0.05][cell[0]] + 0.02 * cell[1] as f64;
    let score = score(12, 8, None, truth);
    assert!(
        score.false_claims <= FALSE_MAX,
        "{} of 400",
        score.false_claims
    );
    assert!(score.uncovered <= FALSE_MAX, "{} of 400", score.uncovered);
    assert_eq!(
        score.found, score.studies,
        "an effect of 5.5 times is found"
    );
}

#[test]
fn effects_that_depend_on_each_other_are_covered_too() {
    let truth = |cell: &[usize]| if cell == [0, 1] { 0.0 } else { cell[0] as f64 };
    let score = score(13, 8, None, truth);
    assert!(
        score.false_claims <= FALSE_MAX,
        "{} of 400",
        score.false_claims
    );
    assert!(score.uncovered <= FALSE_MAX, "{} of 400", score.uncovered);
}

/// Looking again and again at the precision must not make claims of noise.
#[test]
fn a_goal_of_precision_makes_no_false_claims() {
    let score = score(14, 5, Some(0.12), |_| 0.0);
    assert!(
        score.false_claims <= FALSE_MAX,
        "{} of 400",
        score.false_claims
    );
    assert!(score.uncovered <= FALSE_MAX, "{} of 400", score.uncovered);
}
