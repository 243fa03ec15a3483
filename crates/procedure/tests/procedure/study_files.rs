//! Study files: mistakes are told all at once with their lines, and the order of a study is random
//! and repeatable.

use crate::studies::{STUDY, read, read_with};
use procedure::study::{StudyOverrides, StudyPlan};
use random::{Purpose, Stream};

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

/// The examples of the document: one is whole, the others are parts of another.
#[test]
fn the_examples_of_the_document_are_read() {
    let document = include_str!("../../../../docs/study.md");
    let blocks: Vec<&str> = document
        .split("```toml\n")
        .skip(1)
        .filter_map(|block| block.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 4);
    assert_eq!(read(blocks[0]).expect(blocks[0]).cells().len(), 3);
    let measurement = "[measurement]\nkind = \"transfer\"\n";
    let whole = [blocks[1], measurement, blocks[2], blocks[3]].concat();
    let study = read(&whole).unwrap_or_else(|told| panic!("{told}"));
    // Three block sizes by two mounts, but for the one that is left out.
    assert_eq!(study.cells().len(), 5);
    assert_eq!((study.rounds_max, study.precision), (20, Some(0.05)));
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
        "title = \"x\"\n[measurement]\nkind = 5\n",
        &["s.toml:3: kind = 5: it is a text, in a table [measurement] with its kind"],
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
            "s.toml:6: exclude: block = \"9KiB\", but the factor \"block\" has the levels 1KiB",
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

/// Bug: 1KiB and 1024 were two levels, and their difference was told as an effect.
#[test]
fn one_size_as_two_levels_is_a_mistake() {
    let with = |levels: &str| {
        format!(
            "title = \"x\"\n[measurement]\nkind = \"transfer\"\n[[factor]]\nname = \"record\"\n\
             levels = [{levels}]\n"
        )
    };
    check_mistakes(
        &with("\"1KiB\", \"2KiB\", \"1024\""),
        &["s.toml:4: the factor \"record\" has one size as two levels, \"1KiB\" and \"1024\""],
    );
    read(&with("\"1KiB\", \"2KiB\"")).expect("two sizes");
}

/// A misspelt reading gave an empty table.
#[test]
fn readings_that_the_measurement_does_not_give_are_mistakes() {
    check_mistakes(
        "title = \"x\"\nreadings = [\n  \"rate\",\n  \"raet\", \"\",\n]\n[measurement]\n\
         kind = \"transfer\"\n",
        &[
            "s.toml:4: transfer gives no reading \"raet\". It gives rate, read rate, calls",
            "s.toml:4: transfer gives no reading \"\"",
        ],
    );
}

/// Two factors shared a variable, and others took that of the place.
#[test]
fn every_factor_has_a_variable_of_its_own() {
    let mut text = "title = \"x\"\n[measurement]\nkind = \"transfer\"\n".to_owned();
    for name in [
        "a b",
        "a-b",
        "Place",
        "study dir",
        "archive",
        "rounds",
        "größe",
        "grüße",
    ] {
        text += &format!("[[factor]]\nname = \"{name}\"\nlevels = [\"1\"]\n");
    }
    check_mistakes(
        &text,
        &[
            "s.toml:7: variable SEEKSTONE_A_B, and so would that of \"a b\"",
            "s.toml:10: variable SEEKSTONE_PLACE, which has another meaning",
            "s.toml:13: variable SEEKSTONE_STUDY_DIR, which has another meaning",
            "s.toml:16: variable SEEKSTONE_ARCHIVE, which has another meaning",
            "s.toml:25: variable SEEKSTONE_GR__E, and so would that of \"größe\"",
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
fn levels_with_commas_in_their_names_can_be_chosen() {
    let text = "title = \"x\"\n[measurement]\nkind = \"transfer\"\n[[factor]]\n\
                name = \"host\"\n\
                [[factor.level]]\nname = \"a\"\nset = { dir = \"1\" }\n\
                [[factor.level]]\nname = \"a, b\"\nset = { dir = \"2\" }\n\
                [[factor.level]]\nname = \"b,c\"\nset = { dir = \"3\" }\n";
    let check = |typed: &str, expected: Result<&[&str], &str>| {
        let levels = typed.split(',').map(str::to_owned).collect();
        let overrides = StudyOverrides {
            only: vec![("host".into(), levels)],
            ..StudyOverrides::default()
        };
        match (read_with(text, &overrides), expected) {
            (Ok(study), expected) => {
                let names = study.factors[0].levels.iter().map(|it| it.name.as_str());
                assert_eq!(names.collect::<Vec<_>>(), expected.expect(typed), "{typed}");
            }
            (Err(told), expected) => {
                let expected = expected.expect_err(&told);
                assert!(told.contains(expected), "{told}");
            }
        }
    };
    check("a", Ok(&["a"]));
    check("b,c, a, b", Ok(&["a, b", "b,c"]));
    check("b,c,a ,a", Ok(&["a", "b,c"]));
    check(
        "a,c",
        Err("no level \"c\": the factor \"host\" has the levels a, a, b, b,c"),
    );
    check("", Err("no level \"\""));
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
    assert_eq!(plan.groups().len(), 2);
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

/// A variable that no process finds is text: a level that changes only such text changes nothing.
#[test]
fn a_variable_is_a_use_only_where_a_process_finds_it() {
    let study = |kind: &str, settings: &str, more: &str| {
        format!(
            "title = \"x\"\n{more}\n[measurement]\nkind = \"{kind}\"\n{settings}\n\
             [[factor]]\nname = \"opt\"\nlevels = [\"a\", \"b\"]\n"
        )
    };
    let check = |text: String, is_use: bool| match read(&text) {
        Ok(_) => assert!(is_use, "{text}"),
        Err(told) => {
            let expected = "s.toml:6: the factor \"opt\" changes nothing";
            assert!(!is_use && told.contains(expected), "{text}{told}");
        }
    };
    let command = "command = \"cc $SEEKSTONE_OPT\"";
    check(study("command", command, ""), true);
    check(
        study("command", "command = \"cc $SEEKSTONE_OPTIONS\"", ""),
        false,
    );
    check(
        study(
            "command",
            "command = [\"sh\", \"-c\", \"cc $SEEKSTONE_OPT\"]",
            "",
        ),
        true,
    );
    check(
        study("command", "directory = \"$SEEKSTONE_OPT\"", ""),
        false,
    );
    check(study("transfer", "dir = \"$SEEKSTONE_OPT\"", ""), false);
    check(study("transfer", "dir = \"{opt}\"", ""), true);
    check(study("transfer", "dir = \"${opt}\"", ""), false);
    check(study("transfer", "", "target = \"$SEEKSTONE_OPT\""), false);
    check(study("transfer", "", "target = \"{opt}\""), true);
    check(
        study("transfer", "", "before = \"echo ${SEEKSTONE_OPT}\""),
        true,
    );
    check(study("transfer", "", "before = \"echo {opt}\""), false);
}

/// An empty variable measures the same at every level.
#[test]
fn variables_that_nothing_sets_are_mistakes() {
    let text = r#"title = "x"
setup = 'echo $SEEKSTONE_PLACE $SEEKSTONE_OPT'
before = 'echo $SEEKSTONE_ROUND ${SEEKSTONE_OTP} $SEEKSTONE_OTP'
after = 'SEEKSTONE_MINE=1; echo SEEKSTONE_WHAT $SEEKSTONE_MINE "$SEEKSTONE" $SEEKSTONE_ARCHIVE'
[measurement]
kind = "command"
command = "cc $SEEKSTONE_OPT $SEEKSTONE_OPTS"
[[factor]]
name = "opt"
[[factor.level]]
name = "a"
teardown = "echo $SEEKSTONE_ROUND"
"#;
    check_mistakes(
        text,
        &[
            "s.toml:2: nothing sets $SEEKSTONE_OPT here. There are SEEKSTONE_PLACE, ",
            "s.toml:3: nothing sets $SEEKSTONE_OTP here. There are SEEKSTONE_PLACE, ",
            "s.toml:7: nothing sets $SEEKSTONE_OPTS here",
            "s.toml:12: nothing sets $SEEKSTONE_ROUND here",
        ],
    );
}

/// `{fsnc}` beside a right `{bs}` was measured as it stands.
#[test]
fn a_misspelt_factor_in_braces_is_a_mistake_and_other_braces_are_the_shells() {
    let text = r#"title = "x"
[measurement]
kind = "command"
command = "dd bs={bs} conv={fsnc} ibs={sbs} of=${out} | awk '{print}'"
[[factor]]
name = "bs"
levels = ["4k"]
[[factor]]
name = "fsync"
levels = ["fsync", "notrunc"]
"#;
    check_mistakes(
        text,
        &[
            "s.toml:4: {fsnc} is no factor, did you mean {fsync}?",
            "s.toml:4: {sbs} is no factor, did you mean {bs}?",
            "s.toml:8: the factor \"fsync\" changes nothing",
        ],
    );
}

/// The last of them won, and the levels of the others measured the same.
#[test]
fn two_factors_do_not_act_on_the_same_thing() {
    let text = r#"title = "x"
repeats = 6
max-repeats = 3
exclude = [{}]
[measurement]
kind = "transfer"
[[factor]]
name = "record"
levels = ["1KiB", "8KiB"]
[[factor]]
name = "disk"
[[factor.level]]
name = "a"
target = "/a"
[[factor.level]]
name = "b"
target = "/b"
[[factor]]
name = "mode"
[[factor.level]]
name = "small"
set = { record = "2KiB" }
target = "/c"
[[factor.level]]
name = "plain"
"#;
    let (file, of_exclude) = (
        "s.toml:3: max-repeats = 3: there are 6 at least (repeats)",
        "s.toml:4: exclude: a table without a level would leave out everything",
    );
    check_mistakes(
        text,
        &[
            file,
            of_exclude,
            "s.toml:18: \"mode\" gives record a value, as \"record\" does",
            "s.toml:18: \"mode\" gives the target a value, as \"disk\" does",
        ],
    );
    let apart = text
        .replace("{}", "{ mode = \"small\" }")
        .replace("max-repeats = 3\n", "");
    read(&apart).expect("a study");
    let overrides = StudyOverrides {
        set: vec![("record".into(), "4KiB".into())],
        ..StudyOverrides::default()
    };
    let told = read_with(&apart, &overrides).expect_err("it changes nothing");
    assert!(
        told.starts_with("--set record=4KiB: each level of the factor \"record\""),
        "{told}"
    );
}
