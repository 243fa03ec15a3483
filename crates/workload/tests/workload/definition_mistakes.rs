//! Mistakes in a definition are told with file and line, what is wrong and what is allowed; and
//! whatever the text, the message is short and fit for a terminal.

use random::{Purpose, Stream};
use workload::{BUILT_IN_WORKLOADS, WorkloadDefinition};

const GOOD: &str = "name = \"x\"\nblock = \"64KiB\"\nshares = 50\n[[threads]]\nname = \"t\"\n";

fn message(text: &str) -> String {
    let error = WorkloadDefinition::parse(text, "my.toml").expect_err(text);
    error.to_string()
}

/// `text` has exactly these mistakes.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let told = message(text);
    assert_eq!(told.lines().collect::<Vec<_>>(), expected, "{text}");
}

/// A good definition with a line at its end, the sixth, has this mistake.
#[track_caller]
fn check_line(line: &str, expected: &str) {
    check(
        &format!("{GOOD}{line}"),
        &[&format!("my.toml:6: {expected}")],
    );
}

/// `threads-fixed = 4294967295` was read, and ended the program with 172 GB of memory refused.
#[test]
fn more_threads_than_can_be_held_are_refused_with_their_line() {
    let batch = GOOD.replace("shares = 50\n", "shares = 50\nthreads-fixed = 4294967295\n");
    check(
        &batch,
        &[
            "my.toml:4: threads-fixed = 4294967295: threads-fixed is a whole number up to 100000: \
             the threads of a batch workload, or 0 when threads are added",
        ],
    );
    // What is wrong with a type is told where the type begins.
    for (line, what, most) in [
        ("count = 100001", "threads is 100001", 100_000),
        (
            "ios-per-message = 4294967295",
            "I/Os per message is 4294967295",
            1_000_000,
        ),
    ] {
        let expected =
            format!("my.toml:4: type \"t\": the number of {what}, and must be {most} or less");
        check(&format!("{GOOD}{line}"), &[&expected]);
    }
}

#[test]
fn mistakes_of_content_are_told_with_their_lines() {
    let check = |line: &str, expected: &str| {
        let told = message(&format!("{GOOD}[content]\n{line}\n"));
        assert!(
            told.starts_with(&format!("my.toml:{expected}")),
            "{line}: {told}"
        );
    };
    check(
        "compressible = 101",
        "7: compressible = 101: compressible is a whole number from 0",
    );
    check(
        "duplicates = -1",
        "7: duplicates = -1: duplicates is a whole number from 0",
    );
    check("chunk = 0", "7: chunk = 0: chunk is the size");
    check("fill = \"ones\"", "7: fill = \"ones\": fill is \"noise\"");
    check(
        "fill = \"pattern:abc\"",
        "7: fill = \"pattern:abc\": fill is",
    );
    check(
        "compresible = 1",
        "7: unknown key \"compresible\", did you mean \"compressible\"",
    );
}

#[test]
fn an_unknown_key_names_the_nearest_one() {
    let allowed = "[[threads]] takes name, count, io, place, mix, space, time, ios-per-message";
    for (typed, nearest) in [
        ("ios_per_message", "ios-per-message"),
        ("ios-per-mesage", "ios-per-message"),
        ("cuont", "count"),
        ("placement", ""),
        ("spaces", "space"),
        ("Mix", "mix"),
        ("zzz", ""),
    ] {
        let question = match nearest {
            "" => String::new(),
            known => format!(", did you mean {known:?}?"),
        };
        check_line(
            &format!("{typed} = 1"),
            &format!("unknown key {typed:?}{question}: {allowed}"),
        );
    }
    check(
        &format!("blok = 1\n{GOOD}"),
        &[
            "my.toml:1: unknown key \"blok\", did you mean \"block\"?: a workload takes name, \
             title, group, threads-fixed, access, block, shares, content, threads",
        ],
    );
}

#[test]
fn a_key_on_the_wrong_side_of_the_threads_is_told_where_it_belongs() {
    check_line(
        "shares = 5",
        "the key \"shares\" belongs above the first [[threads]]",
    );
    check(
        &format!("io = \"4k\"\n{GOOD}"),
        &["my.toml:1: the key \"io\" belongs below [[threads]]"],
    );
}

#[test]
fn what_must_be_there_is_asked_for() {
    check(
        "# nothing\n",
        &[
            "my.toml:1: the key \"name\" is missing: what it is called, such as name = \"orders\"",
            "my.toml:1: the key \"block\" is missing: the size of a block of the file, such as \
             block = \"64KiB\"",
            "my.toml:1: the key \"shares\" is missing: a whole number from 1, the parts into \
             which the file is divided, such as shares = 50",
            "my.toml:1: the workload has no threads: add a table that begins with [[threads]]",
        ],
    );
    check(
        "name = \"x\"\nblock = 1\nshares = 1\nthreads = []\n",
        &["my.toml:4: the workload has no threads: add a table that begins with [[threads]]"],
    );
}

#[test]
fn a_number_of_threads_has_a_key_of_its_own() {
    check(
        "name = \"x\"\nblock = 1\nshares = 1\nthreads = 5\n",
        &[
            "my.toml:4: threads = 5: threads is a table that begins with [[threads]]. A fixed \
             number is written threads-fixed = 5",
        ],
    );
}

#[test]
fn values_say_what_they_may_be() {
    let space = "space is \"sequential\", \"sequential:STEP\", \"uniform\", \
                 \"hyperbolic:ALPHA\", \"exponential:MEAN\" or \"zipf:THETA\"";
    for typed in [
        "\"hyperbolic\"",
        "\"hyperbolic:inf\"",
        "\"uniform:3\"",
        "\"sequential:-1\"",
        "\"sequential:1.5\"",
        "\"random\"",
        "\"\"",
        "\"exponential:1e3\"",
        "7",
        "[...]",
    ] {
        let written = if typed == "[...]" { "[1]" } else { typed };
        check_line(
            &format!("space = {written}"),
            &format!("space = {typed}: {space}"),
        );
    }
    let time = "time is \"constant\" (no waiting), \"uniform:RATE\", \"exponential:RATE\" or \
                \"regular:RATE\", with a rate such as 20/s";
    for typed in [
        "\"exponential\"",
        "\"constant:5\"",
        "\"gauss:5/s\"",
        "20",
        "1.5",
        "true",
    ] {
        check_line(
            &format!("time = {typed}"),
            &format!("time = {typed}: {time}"),
        );
    }
    for typed in [
        "\"2\"",
        "\"2/1\"",
        "\"2:1:1\"",
        "\"a:b\"",
        "\"99999999999999999999:1\"",
        "2",
    ] {
        let mix = "mix is reads:writes, such as \"2:1\"";
        check_line(&format!("mix = {typed}"), &format!("mix = {typed}: {mix}"));
    }
    let place = "place is \"packed\", or a distance from the beginning of the block such as \
                 \"4KiB\"";
    for typed in ["\"paked\"", "-1", "true"] {
        check_line(
            &format!("place = {typed}"),
            &format!("place = {typed}: {place}"),
        );
    }
    check_line(
        "count = \"3\"",
        "count = \"3\": count is a whole number of threads",
    );
    check_line(
        "count = 99999999999999999999",
        "count = 99999999999999999999: count is a whole number of threads",
    );
}

#[test]
fn sizes_and_rates_explain_their_units() {
    check_line(
        "io = \"4 parsec\"",
        "io: unknown unit \"parsec\" in \"4 parsec\". Sizes take B, k, m, g, t, p or KiB to PiB \
         (1024-based), or kB to PB (1000-based)",
    );
    check_line(
        "time = \"exponential:\"",
        "time: a rate is missing. Rates take k, m or g (1000-based) and iops, /s, /min or \
         /h, as in 1000, 10k/s or 50k iops",
    );
    check_line("io = \"9000P\"", "io = \"9000P\": io is the size of an I/O");
}

#[test]
fn the_division_of_the_file_is_checked_on_its_own_lines() {
    check(
        "name = \"x\"\naccess = \"random\"\nblock = 0\nshares = 0\n[[threads]]\n",
        &[
            "my.toml:2: access = \"random\": access is \"contiguous\", \"interleaved\" or \
             \"contentious\"",
            "my.toml:3: block = 0: block is the size of a block of the file",
            "my.toml:4: shares = 0: shares is a whole number from 1, the parts into which the \
             file is divided",
        ],
    );
    check(
        "name = \"x\"\nblock = \"1G\"\nshares = 4294967296\n[[threads]]\n",
        &[
            "my.toml:3: shares = 4294967296: shares is a whole number from 1, the parts into \
             which the file is divided",
        ],
    );
    check(
        "name = \"x\"\nblock = \"1P\"\nshares = 4294967295\n[[threads]]\nio = 4096\n",
        &[
            "my.toml:3: 4294967295 shares with blocks of 1125899906842624 bytes are \
             4835703277332616791982080 bytes. A file has 2^63 - 1 at most. Use smaller blocks or \
             fewer shares",
        ],
    );
}

#[test]
fn group_and_number_of_threads_go_together() {
    let paced = "time = \"exponential:5/s\"\n";
    let adds = "a transaction workload adds threads until the response times are reached: leave \
                threads-fixed out, or write group = \"batch\"";
    check(
        &format!("group = \"batch\"\n{GOOD}"),
        &[
            "my.toml:1: a batch workload runs a fixed number of threads: add threads-fixed = 5, \
             or leave the group out",
        ],
    );
    let line_2 = format!("my.toml:2: {adds}");
    let explicit = format!("group = \"transaction\"\nthreads-fixed = 2\n{GOOD}");
    check(&explicit, &[&line_2]);
    check(&format!("\nthreads-fixed = 2\n{GOOD}{paced}"), &[&line_2]);
    // The second type may be one that never waits, and then all would be well.
    let unreadable = format!("threads-fixed = 2\n{GOOD}{paced}[[threads]]\nmix = 1\n");
    assert_eq!(message(&unreadable).lines().count(), 1);
    check(
        &format!("group = \"mixed\"\nthreads-fixed = -1\n{GOOD}"),
        &[
            "my.toml:1: group = \"mixed\": group is \"transaction\" (threads are added) or \
             \"batch\" (their number is fixed)",
            "my.toml:2: threads-fixed = -1: threads-fixed is a whole number up to 100000: the \
             threads of a batch workload, or 0 when threads are added",
        ],
    );
}

#[test]
fn constraints_are_told_at_the_type_that_violates_them() {
    let text = format!(
        "{GOOD}\n[[threads]]\nname = \"batch\"\nio = \"128k\"\ncount = 0\n\n[[threads]]\n\
         name = \"odd\"\nio = 1000\nspace = \"hyperbolic:0\"\ntime = \"exponential:0/s\"\n\
         ios-per-message = -3\n"
    );
    check(
        &text,
        &[
            "my.toml:7: type \"batch\": the number of threads is 0, and must be 1 or more",
            "my.toml:7: type \"batch\": the I/O size 131072 does not fit into the block of 65536 \
             bytes. Make the block larger or the I/O smaller",
            "my.toml:12: type \"odd\": the number of I/Os per message is -3, and must be 1 or \
             more",
            "my.toml:12: type \"odd\": the block of 65536 bytes is no multiple of the I/O size \
             1000. I/Os cannot be packed. Choose an I/O size that divides the block, or a fixed \
             offset",
            "my.toml:12: type \"odd\": the alpha is 0, and must be above zero and finite",
            "my.toml:12: type \"odd\": the rate of I/Os per second is 0, and must be above zero \
             and finite",
        ],
    );
}

#[test]
fn constraints_are_checked_in_spite_of_other_mistakes() {
    let told = message(&format!(
        "{GOOD}mix = 1\n[[threads]]\ncount = 0\nspce = 1\n"
    ));
    assert_eq!(told.lines().count(), 3, "{told}");
    for part in [
        "my.toml:6: mix",
        "my.toml:7: type \"type 2\"",
        "my.toml:9: unknown key",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn names_fit_on_a_line() {
    for name in ["", "  ", "a\\nb", "a\\u001b[31m", &"x".repeat(61)] {
        let told = message(&GOOD.replace("\"x\"", &format!("\"{name}\"")));
        assert!(told.starts_with("my.toml:1: name = \""), "{told}");
        check_short(&told);
    }
}

#[test]
fn broken_toml_is_one_line() {
    let cases = [
        ("name = \"x\nblock = 1", 1),
        ("name = \"x\"\nname = \"y\"", 2),
        ("name = \"x\"\n\n[[threads]\n", 3),
        ("a = ", 1),
        ("\0\u{1}\u{2}", 1),
        ("\u{feff}\u{feff}", 1),
    ];
    for (text, line) in cases {
        let told = message(text);
        assert!(
            told.starts_with(&format!("my.toml:{line}: not TOML: ")),
            "{text:?}: {told}"
        );
        assert_eq!(told.lines().count(), 1, "{told}");
        check_short(&told);
    }
}

#[test]
fn a_file_that_is_no_definition_is_refused_at_once() {
    let told = message(&"x".repeat(1 << 20));
    let expected = "my.toml:1: the file has 1048576 bytes, and a workload definition has 65536 at \
                    most";
    assert_eq!(told, expected);
}

#[test]
fn many_mistakes_are_cut_short() {
    let many: String = (0..500).map(|n| format!("zzz{n} = 1\n")).collect();
    let told = message(&format!("{many}{GOOD}"));
    assert_eq!(told.lines().count(), 21);
    assert!(told.ends_with("and 480 more mistakes"), "{told}");
}

#[test]
fn the_name_of_the_file_cannot_steer_the_terminal() {
    let error =
        WorkloadDefinition::parse("", "a\u{1b}[2Jb\n.toml").expect_err("an empty definition");
    check_short(&error.to_string());
}

/// No line is long, and none holds a control character.
#[track_caller]
fn check_short(told: &str) {
    for line in told.lines() {
        assert!(
            line.chars().count() < 500,
            "{} characters: {line}",
            line.len()
        );
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}

/// Texts made by damaging good ones, and by chance alone, end in a definition or a short message.
#[test]
fn any_text_is_read_or_refused() {
    const SEED: u64 = 3;
    const CHARS: &[char] = &[
        '"', '\'', '=', '[', ']', '{', '}', '\n', '.', ',', '-', ':', '0', '9', 'a', 'k', '#',
        '\\', '\0', '\u{1b}', '\u{202e}', '\u{fffd}', ' ', '\t', '\r',
    ];
    let mut dice = Stream::new(SEED, 0, Purpose::Resample);
    for round in 0..6_000_usize {
        let (name, _) = BUILT_IN_WORKLOADS[round % BUILT_IN_WORKLOADS.len()];
        let good = WorkloadDefinition::built_in_text(name).expect("a built-in workload");
        let mut text: Vec<char> = if round % 5 == 0 {
            Vec::new()
        } else {
            good.lines()
                .filter(|line| !line.starts_with('#'))
                .collect::<String>()
                .chars()
                .collect()
        };
        if round % 2 == 0 {
            text = good.chars().filter(|_| round % 5 != 0).collect();
        }
        for _ in 0..=dice.below(12) {
            let at = dice.below(text.len() as u64 + 1) as usize;
            let c = CHARS[dice.below(CHARS.len() as u64) as usize];
            match dice.below(4) {
                0 if at < text.len() => drop(text.remove(at)),
                1 if at < text.len() => text[at] = c,
                2 => text.extend(std::iter::repeat_n(c, 1 + dice.below(2_000) as usize)),
                _ => text.insert(at, c),
            }
        }
        let text: String = text.into_iter().collect();
        match WorkloadDefinition::parse(&text, "my.toml") {
            Ok(definition) => {
                let again = WorkloadDefinition::parse(&definition.to_toml(), "again.toml");
                assert_eq!(again.as_ref(), Ok(&definition), "seed {SEED} round {round}");
            }
            Err(error) => check_short(&error.to_string()),
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    for opening in ["[", "{a=", "a.", "[["] {
        for prefix in ["", "a = "] {
            let told = message(&format!("{prefix}{}", opening.repeat(20_000)));
            check_short(&told);
        }
    }
}
