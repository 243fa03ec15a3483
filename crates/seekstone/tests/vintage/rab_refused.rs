//! What `seekstone rab` cannot do is refused in words that hold the text, before anything is
//! touched.

use std::fs;

use crate::support::{Belongings, Scratch, finish, tables};

/// A workload that is right; each mistake below replaces one of its lines.
const RIGHT: &str = r#"
name = "mine"
access = "contiguous"
block = "64KiB"
shares = 5

[[threads]]
name = "one"
count = 2
io = "4KiB"
mix = "2:1"
space = "uniform"
time = "exponential:20/s"
"#;

/// Each is wrong usage in the measured directory, and nothing is made there.
#[track_caller]
fn check_usage(scratch: &Scratch, cases: &[(&[&str], &str)]) {
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    for (options, expected) in cases {
        let args = [&["rab", "target", "--size", "16MiB"][..], options].concat();
        let ended = finish(scratch.seekstone(&args));
        ended.check(&args, 2, expected);
        assert_eq!(ended.stdout, "", "{args:?}");
    }
    belongings.assert_untouched();
    scratch.assert_clean(&target);
    let made = fs::read_dir(&target).expect("the measured directory");
    assert_eq!(made.count(), 6, "something was made");
}

#[test]
fn values_without_meaning_are_wrong_usage() {
    let scratch = Scratch::new();
    let rates = "--iops-per-client";
    check_usage(
        &scratch,
        &[
            (&["--response-max", "0"], "must be above zero"),
            (&["--response-max", "5"], "a time needs a unit"),
            (&["--response-max", "-1ms"], "a time cannot be negative"),
            (&["--response-max", "25h"], "is longer than a day"),
            (&["--level", "0"], "must be above zero"),
            (&["--level", "-5ms"], "a time cannot be negative"),
            (&[rates, "0"], "must be above zero"),
            (&[rates, "-5"], "a rate cannot be negative"),
            (&[rates, "abc"], "\"abc\" is not a rate"),
            (&[rates, "1e9"], "exponents are not read (\"1e9\")"),
            (&["--clients-max", "0"], "0 is not in 1..=100000"),
            (&["--clients-max", "-1"], "-1 is not in 1..=100000"),
            (&["--runs", "-1"], "-1 is not in 1..=10000"),
            (&["--mode", "rebuild", "--for", "-5s"], "cannot be negative"),
            (&["--clients-max", "100001"], "100001 is not in 1..=100000"),
            (&["--precision", "0%"], "must be between 0.1% and 50%"),
            (&["--precision", "200%"], "must be between 0.1% and 50%"),
            (&["--budget", "0.1s"], "use at least 1s"),
            (&["--runs", "0"], "0 is not in 1..=10000"),
            (&["--mode", "nonsense"], "\"nonsense\" is not a mode"),
            (&["--mode", "nonsense"], "normal, continuous, reduced, rep"),
            (&["--mode", "nonsense"], "rebuild, exchange"),
            (&["--mode", "rebuild", "--for", "0"], "use at least 1s"),
        ],
    );
}

#[test]
fn options_that_contradict_each_other_are_wrong_usage() {
    let scratch = Scratch::new();
    check_usage(
        &scratch,
        &[
            (
                &["--response-min", "5ms", "--response-max", "5ms"],
                "--response-min 5.00 ms must be below --response-max 5.00 ms",
            ),
            (
                &["--response-min", "1s"],
                "--response-min 1.00 s must be below --response-max 50.0 ms",
            ),
            (
                &["--level", "5ms", "--response-max", "9ms"],
                "'--level <TIME[@pN]>' cannot be used with '--response-max",
            ),
            (
                &["--level", "5ms", "--response-min", "1ms"],
                "'--level <TIME[@pN]>' cannot be used with '--response-min",
            ),
            (&["--for", "3s"], "add --mode continuous, or use --repeat"),
            (&["--overwrite"], "applies to an existing file or device"),
        ],
    );
}

#[test]
fn workloads_that_nobody_knows_are_wrong_usage() {
    let scratch = Scratch::new();
    fs::write(scratch.path("binary.toml"), [0xff, 0, 0xfe, b'\n']).expect("a file");
    fs::write(scratch.path("empty.toml"), "").expect("a file");
    let garbage = "[x]\n= \"unended\n".repeat(80_000);
    fs::write(scratch.path("huge.toml"), &garbage).expect("a file");
    fs::write(scratch.path("large.toml"), &garbage[..100_000]).expect("a file");
    fs::write(scratch.path("small.toml"), &garbage[..1_000]).expect("a file");
    fs::write(
        scratch.path("deep.toml"),
        "a = ".to_owned() + &"[".repeat(60_000),
    )
    .expect("a file");
    fs::write(scratch.path("mine.toml"), RIGHT).expect("a file");
    let built_in = "use transaction, multiuser, database, batch, video, archive, scientific, a";
    let workload = |name: &'static str| ["--workload", name];
    for (name, expected) in [
        ("nosuch", "there is no workload \"nosuch\": use transaction"),
        ("nosuch", built_in),
        ("0", "there is no workload \"0\""),
        ("8", "a number from 1 to 7, or a TOML file"),
        ("", "there is no workload \"\""),
        ("archive,,", "there is no workload \"\""),
        ("archive,archive", "--workload names archive twice"),
        ("archive,6", "--workload names 6 twice"),
        ("mine.toml,mine.toml", "--workload names mine.toml twice"),
        ("target", "target is not a workload file"),
        ("/dev/zero", "/dev/zero is not a workload file"),
        ("binary.toml", "binary.toml is not text"),
        ("huge.toml", "huge.toml is larger than 1 MiB"),
        ("large.toml", "the file has 100000 bytes"),
        ("small.toml", "small.toml:2: not TOML: "),
        ("deep.toml", "deep.toml:1: not TOML: "),
        ("empty.toml", "the key \"name\" is missing"),
    ] {
        check_usage(&scratch, &[(&workload(name), expected)]);
    }
    let missing = ["rab", "target", "--workload", "missing.toml"];
    let unread = "error: cannot read missing.toml: No such file or directory";
    scratch.check(&missing, 1, unread);
    scratch.assert_clean(&scratch.target());
}

/// Mistakes in a definition: the line that is replaced, by what, and what is said of it.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    ("name = \"mine\"", "", &["the key \"name\" is missing"]),
    ("name = \"mine\"", "name = 3", &["mine.toml:2: name = 3"]),
    (
        "name = \"mine\"",
        "name = \"a\\nb\"",
        &["mine.toml:2: name = \"a\\nb\": name is what it is called"],
    ),
    (
        "access = \"contiguous\"",
        "acess = \"contiguous\"",
        &["mine.toml:3: unknown key \"acess\", did you mean \"access\""],
    ),
    (
        "access = \"contiguous\"",
        "access = \"random\"",
        &["access = \"random\"", "\"interleaved\" or \"contentious\""],
    ),
    ("shares = 5", "shares = 0", &["mine.toml:5: shares = 0"]),
    ("shares = 5", "shares = -1", &["mine.toml:5: shares = -1"]),
    (
        "block = \"64KiB\"",
        "block = 0",
        &["mine.toml:4: block = 0"],
    ),
    (
        "block = \"64KiB\"",
        "block = \"64QiB\"",
        &["mine.toml:4: block: ", "unknown unit \"QiB\""],
    ),
    (
        "block = \"64KiB\"",
        "block = \"8191P\"",
        &["2^63 - 1 at most", "5 shares"],
    ),
    ("count = 2", "count = 0", &["number of threads is 0, and"]),
    (
        "io = \"4KiB\"",
        "io = \"128KiB\"",
        &["131072 does not fit into the block of 65536 bytes"],
    ),
    (
        "io = \"4KiB\"",
        "io = \"24KiB\"",
        &["the block of 65536 bytes is no multiple of the I/O size 24576"],
    ),
    (
        "io = \"4KiB\"",
        "io = \"4KiB\"\nplace = \"61KiB\"",
        &[
            "I/O of 4096 bytes at offset 62464 ends beyond the block of 65536",
            "61440 or less",
        ],
    ),
    (
        "mix = \"2:1\"",
        "mix = \"2\"",
        &["mix = \"2\": mix is reads"],
    ),
    (
        "mix = \"2:1\"",
        "mix = \"-2:1\"",
        &["number of reads is -2"],
    ),
    (
        "space = \"uniform\"",
        "space = \"hyperbolic:0\"",
        &["alpha is 0, and must be above zero"],
    ),
    (
        "space = \"uniform\"",
        "space = \"sequential:0\"",
        &["sequential step is 0, and must be 1 or more"],
    ),
    (
        "space = \"uniform\"",
        "space = \"zigzag\"",
        &["space = \"zigzag\": space is \"sequential\""],
    ),
    (
        "time = \"exponential:20/s\"",
        "time = \"exponential:0/s\"",
        &["rate"],
    ),
    (
        "time = \"exponential:20/s\"",
        "time = \"exponential\"",
        &["time = \"exponential\": time is \"constant\""],
    ),
    (
        "time = \"exponential:20/s\"",
        "ios-per-message = 0",
        &["number of I/Os per message is 0, and must be 1 or more"],
    ),
    (
        "shares = 5",
        "shares = 5\ngroup = \"batch\"",
        &["mine.toml:6: a batch workload runs a fixed number of threads"],
    ),
    (
        "shares = 5",
        "shares = 5\ngroup = \"transaction\"\nthreads-fixed = 5",
        &["mine.toml:7: a transaction workload adds threads until"],
    ),
    ("[[threads]]", "[threads]", &["threads = {...}"]),
    (
        "[[threads]]",
        "[[thread]]",
        &["has no threads: add a table"],
    ),
    (
        "time = \"exponential:20/s\"",
        "shares = 7",
        &["mine.toml:13: the key \"shares\" belongs above the first"],
    ),
];

#[test]
fn mistakes_in_a_definition_are_named_with_their_lines() {
    let scratch = Scratch::new();
    for (line, replaced, expected) in MISTAKES {
        assert_eq!(RIGHT.matches(line).count(), 1, "{line}");
        let text = RIGHT.replace(line, replaced);
        fs::write(scratch.path("mine.toml"), text).expect("a file");
        for expected in *expected {
            check_usage(&scratch, &[(&["--workload", "mine.toml"], expected)]);
        }
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let scratch = Scratch::new();
    let text = RIGHT
        .replace("shares = 5", "shares = 0")
        .replace("mix =", "mux =");
    fs::write(scratch.path("mine.toml"), text).expect("a file");
    let workload = ["--workload", "mine.toml"];
    let expected = [
        "mine.toml:5: shares = 0",
        "\nmine.toml:11: unknown key \"mux\"",
    ];
    for expected in expected {
        check_usage(&scratch, &[(&workload, expected)]);
    }
}

#[test]
fn a_printed_workload_is_the_built_in_one() {
    let scratch = Scratch::new();
    let by_number = scratch.check(&["rab", "--print-workload", "2"], 0, "Multiuser");
    let by_name = scratch.check(&["rab", "--print-workload", "multiuser"], 0, "[[threads]]");
    assert_eq!(by_name.stdout, by_number.stdout);
    fs::write(scratch.path("copy.toml"), &by_name.stdout).expect("a file");
    fs::write(scratch.path("mine.toml"), RIGHT).expect("a file");
    let own = scratch.check(&["rab", "--print-workload", "mine.toml"], 0, "\"mine\"");
    fs::write(scratch.path("again.toml"), own.stdout).expect("a file");
    let again = scratch.check(&["rab", "--print-workload", "again.toml"], 0, "\"mine\"");
    let right = scratch.check(&["rab", "--print-workload", "mine.toml"], 0, "\"mine\"");
    assert_eq!(again.stdout, right.stdout);

    let other = RIGHT.replace("\"mine\"", "\"other\"");
    fs::write(scratch.path("other.toml"), other).expect("a file");
    let common = ["rab", "sim:mm1", "--seed=1", "--budget=4s", "--no-save"];
    let selected = "--workload=other.toml,copy.toml,archive,mine.toml";
    let args = [&common[..], &["--quiet", "--json", "-", selected]].concat();
    let run = scratch.check(&args, 0, "\"rab-workloads\"").json();
    let found = tables::rows(&run, "rab-workloads");
    let numbers: Vec<f64> = found
        .iter()
        .map(|it| tables::figure(it, "number"))
        .collect();
    assert_eq!(numbers, [8.0, 2.0, 6.0, 9.0]);
    assert_eq!(found[1]["levels"][0], "multiuser");

    let nosuch = ["rab", "--print-workload", "nosuch"];
    scratch.check(&nosuch, 2, "there is no workload \"nosuch\"");
}
