//! fio's own tests, which come with the sources of its package, run against Seekstone as if it were
//! fio. None of them is kept here: `.ci/fio-source` fetches them, once.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{self, Scratch};

/// What fails here and passes with fio 3.33, and why that is so.
const FAILS_HERE: [(&str, &str); 6] = [
    (
        "job 3",
        "it is to fail where blocks are verified in another size than they were written in: here \
         each sector has its own header",
    ),
    (
        "job 9",
        "it verifies what the engine null holds, which is nothing: refused",
    ),
    (
        "job 23",
        "bsrange=512/25:1k:... is read by fio as 512-1k and refused here; later versions of the \
         test have bssplit, and pass",
    ),
    ("job 24", "the same"),
    (
        "strided.py",
        "it writes filesize=65536), which fio reads as 65536 and is refused here; later versions \
         have no parenthesis there, and pass",
    ),
    (
        "log_compression.py",
        "log_store_compressed is refused: logs are text; the test without it passes",
    ),
];
/// What passes by chance, or on a quiet machine.
const UNSETTLED: [(&str, &str); 4] = [
    (
        "job 8",
        "its mix is to have within 1 % as many writes as fio 3.16 drew; later versions allow 3 %",
    ),
    ("job 11", "rates of half a second"),
    ("job 12", "rates of a second"),
    ("job 14", "rates of a second"),
];
/// Those of the job tests that take a moment each.
const QUICK: [u32; 9] = [1, 5, 7, 15, 16, 19, 20, 21, 25];
/// All job tests of fio 3.33; it needs four processors for number 9.
const ALL: std::ops::RangeInclusive<u32> = 1..=26;

/// Seekstone as fio. A busy machine makes figures invalid, which standard error says; fio has no
/// such verdict, and its tests do not look at figures that time alone decides.
const AS_FIO: &str = r#"#!/bin/sh
said=$(mktemp)
PROGRAM fio --no-save --reserve 1GiB --keep-files "$@" 2>"$said"
code=$?
grep -v '^invalid: ' "$said" >&2
rm "$said"
exit $code
"#;

/// What became of each test, by its name.
type Verdicts = BTreeMap<String, String>;

/// fio's tests, copied to where they may write, and the two programs.
struct Suite {
    scratch: Scratch,
}

impl Suite {
    /// # Errors
    /// Why the tests cannot be had.
    fn new(how: &[&str]) -> Result<Self, String> {
        if !support::is_installed("python3") {
            return Err("python3 is missing".into());
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/fio-source");
        let asked = Command::new(script).args(how).output();
        let asked = asked.map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if !asked.status.success() {
            return Err(text(&asked.stderr));
        }
        let source = PathBuf::from(text(&asked.stdout));
        let suite = Self {
            scratch: Scratch::new(),
        };
        let copied = Command::new("cp")
            .arg("-r")
            .args(["t", "tools"].map(|it| source.join(it)))
            .arg(suite.scratch.path(""))
            .status();
        assert!(copied.is_ok_and(|status| status.success()), "it is copied");
        // Its tests look there for what this fio was built with.
        fs::write(suite.scratch.path("config-host.h"), "CONFIG_LIBAIO\n").expect("a file");
        let ours = suite.scratch.path("fio");
        fs::write(&ours, AS_FIO.replace("PROGRAM", support::PROGRAM)).expect("a script");
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o755)).expect("rights");
        Ok(suite)
    }

    fn ours(&self) -> String {
        self.scratch.path("fio").to_string_lossy().into_owned()
    }

    fn python(&self, script: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new("python3");
        self.scratch.settle(&mut command);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let script = self.scratch.path("t").join(script);
        command.arg(script).args(arguments);
        command.output().expect("python3 runs")
    }

    /// Its tests of job files, of these numbers.
    fn jobs(&self, fio: &str, name: &str, numbers: impl Iterator<Item = u32>) -> Verdicts {
        let numbers: Vec<String> = numbers.map(|it| it.to_string()).collect();
        let root = self.scratch.path("");
        let root = root.to_string_lossy();
        let fixed = ["-r", &root, "-f", fio, "-a", name, "-o"];
        let numbers = numbers.iter().map(String::as_str);
        let words: Vec<&str> = fixed.into_iter().chain(numbers).collect();
        verdicts("job", &self.python("run-fio-tests.py", &words))
    }

    /// Its tests of percentiles.
    fn percentiles(&self, fio: &str, name: &str) -> Verdicts {
        let words = ["-f", fio, "-a", name];
        verdicts(
            "percentiles",
            &self.python("latency_percentiles.py", &words),
        )
    }

    /// Its tests of one thing each, which end with 0 where all is well.
    fn scripts(&self, fio: &str) -> Verdicts {
        let flag = ["-f", fio];
        let scripts: [(&str, &[&str]); 4] = [
            ("readonly.py", &flag),
            ("strided.py", &flag[1..]),
            ("jsonplus2csv_test.py", &flag),
            ("log_compression.py", &flag),
        ];
        let one = |(script, words): (&str, &[&str])| {
            let ended = self.python(script, words);
            let verdict = match ended.status.success() {
                true => "PASSED".to_owned(),
                false => format!("FAILED {}", last_line(&ended)),
            };
            (script.to_owned(), verdict)
        };
        scripts.map(one).into()
    }
}

fn last_line(ended: &Output) -> String {
    let text = String::from_utf8_lossy(&ended.stdout);
    text.lines().last().unwrap_or_default().to_owned()
}

/// What its programs say of each test: `Test 5 PASSED`, perhaps between asterisks.
fn verdicts(of: &str, ended: &Output) -> Verdicts {
    let text = String::from_utf8_lossy(&ended.stdout);
    let lines = text.lines().map(|line| line.trim_matches('*'));
    let verdict = |line: &str| {
        let (number, verdict) = line.strip_prefix("Test ")?.split_once(' ')?;
        let is_run = !verdict.starts_with("SKIPPED");
        is_run.then(|| (format!("{of} {number}"), verdict.to_owned()))
    };
    let found: Verdicts = lines.filter_map(verdict).collect();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(!found.is_empty(), "{of}: {text}{errors}");
    found
}

fn passes(verdicts: &Verdicts, name: &str) -> bool {
    verdicts
        .get(name)
        .is_some_and(|it| it.starts_with("PASSED"))
}

/// Skipped by name where the sources of fio were not fetched.
#[test]
fn quick_tests_of_fio_s_own_pass() {
    let suite = match Suite::new(&["--kept"]) {
        Ok(suite) => suite,
        Err(why) => return support::skipped("quick_tests_of_fio_s_own_pass", &why),
    };
    let found = suite.jobs(&suite.ours(), "ours", QUICK.into_iter());
    for number in QUICK {
        let name = format!("job {number}");
        assert!(passes(&found, &name), "{name}: {:?}", found.get(&name));
    }
}

/// Each test that fio passes passes here, or stands in a list with the reason; none stands there
/// that passes. Skipped by name where the sources of fio cannot be had.
#[test]
#[ignore = "nightly: fio's suite twice, ten minutes"]
fn fio_s_own_suite_passes_but_for_what_a_list_says() {
    let suite = match Suite::new(&[]) {
        Ok(suite) => suite,
        Err(why) => {
            let test = "fio_s_own_suite_passes_but_for_what_a_list_says";
            return support::skipped(test, &why);
        }
    };
    let run = |fio: &str, name: &str| {
        let mut all = suite.jobs(fio, name, ALL);
        all.extend(suite.percentiles(fio, &format!("{name}-percentiles")));
        all.extend(suite.scripts(fio));
        all
    };
    let (ours, theirs) = (run(&suite.ours(), "ours"), run("/usr/bin/fio", "theirs"));
    let mut wrong = Vec::new();
    for (name, verdict) in &theirs {
        let here = ours.get(name).map_or("not run", String::as_str);
        let _ = writeln!(std::io::stderr(), "{name}: fio {verdict}; here {here}");
        let listed = FAILS_HERE.iter().any(|(it, _)| it == name);
        let is_unsettled = UNSETTLED.iter().any(|(it, _)| it == name);
        match passes(&ours, name) {
            true if listed => wrong.push(format!("{name} passes: take it off the list")),
            false if verdict.starts_with("PASSED") && !listed && !is_unsettled => {
                wrong.push(format!("{name}: {here}"));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
