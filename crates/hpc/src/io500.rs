//! IO500: its configuration file, its phases, its score and its result files.
//!
//! The score is the geometric mean of the bandwidth score and the metadata score, each of which is
//! the geometric mean of its phases (GiB/s, and thousands of operations per second).

use std::fmt::Write as _;

use units::Duration;

use crate::HpcAnswer::{Differs, Same};
use crate::ior::put;
use crate::option::{HpcOption, read_named};
use crate::values::{number, posix, seconds, size};

/// Stonewall required by the rules.
pub const STONEWALL_BY_RULE: Duration = Duration::from_secs(300);
/// Transfer size of ior-hard, bytes.
pub const HARD_TRANSFER: u64 = 47_008;
/// File size of mdtest-hard, bytes.
pub const HARD_FILE: u64 = 3_901;

/// Content of a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Io500Config {
    /// Directory of the data.
    pub data: String,
    /// Directory of the result files.
    pub results: String,
    pub stonewall: Duration,
    /// Transfer size of ior-easy, bytes.
    pub easy_transfer: u64,
    /// Maximum bytes per rank in ior-easy.
    pub easy_block: u64,
    /// Whether each rank has its own file in ior-easy.
    pub easy_own_files: bool,
    /// Maximum transfers per rank in ior-hard.
    pub hard_segments: u64,
    /// Maximum files per rank in mdtest-easy.
    pub easy_files: u64,
    /// Maximum files per rank in mdtest-hard.
    pub hard_files: u64,
}

impl Default for Io500Config {
    fn default() -> Self {
        Self {
            data: "./datafiles".into(),
            results: "./results".into(),
            stonewall: STONEWALL_BY_RULE,
            easy_transfer: 2 << 20,
            easy_block: 9_920_000 << 20,
            easy_own_files: true,
            hard_segments: 10_000_000,
            easy_files: 1_000_000,
            hard_files: 1_000_000,
        }
    }
}

type Io500Option = HpcOption<Io500Config>;

const API: Io500Option = HpcOption::value("", "API", Differs("POSIX alone"), |_, it| posix(it));
const DIRECT: Io500Option = HpcOption::value(
    "",
    "posix.odirect",
    Differs("files go through the page cache. TRUE is refused"),
    |_, it| off("posix.odirect", it),
);
const HINTS: Io500Option = HpcOption::value(
    "",
    "hintsFileName",
    Differs("no MPI-IO: leave it empty"),
    |_, it| off("hintsFileName", it),
);
const RUN: Io500Option = HpcOption::value(
    "",
    "run",
    Differs("a score needs all phases: TRUE alone"),
    |_, it| match truth(it)? {
        true => Ok(()),
        false => Err(format!("{it}: all phases are run. Leave it out")),
    },
);
const NO_FIND: Io500Option = HpcOption::idle_value("", "nproc", "all ranks search");

/// Options of each section of a configuration file.
pub const IO500_SECTIONS: &[(&str, &[Io500Option])] = &[
    (
        "global",
        &[
            HpcOption::value("", "datadir", Same, |to, it| {
                put(&mut to.data, Ok(it.into()))
            }),
            HpcOption::value("", "resultdir", Same, |to, it| {
                put(&mut to.results, Ok(it.into()))
            }),
            HpcOption::idle_value(
                "",
                "timestamp-datadir",
                "a work directory is made in any case",
            ),
            HpcOption::idle_value(
                "",
                "timestamp-resultdir",
                "each run has a directory of its own in any case",
            ),
            API,
            HpcOption::value(
                "",
                "drop-caches",
                Differs("caches are left alone: FALSE alone"),
                |_, it| off("drop-caches", it),
            ),
            HpcOption::idle_value("", "drop-caches-cmd", "no effect"),
            HpcOption::idle_value("", "verbosity", "use --all for all details"),
            HpcOption::value(
                "",
                "io-buffers-on-gpu",
                Differs("buffers are in main memory: FALSE alone"),
                |_, it| off("io-buffers-on-gpu", it),
            ),
        ],
    ),
    (
        "debug",
        &[HpcOption::value("", "stonewall-time", Same, |to, it| {
            let time = seconds(it)?.ok_or_else(|| format!("{it}: must be above 0"))?;
            put(&mut to.stonewall, Ok(time))
        })],
    ),
    (
        "ior-easy",
        &[
            API,
            DIRECT,
            HINTS,
            RUN,
            HpcOption::value("", "transferSize", Same, |to, it| {
                put(&mut to.easy_transfer, size(it))
            }),
            HpcOption::value(
                "",
                "blockSize",
                Differs("no more than fits on the file system"),
                |to, it| put(&mut to.easy_block, size(it)),
            ),
            HpcOption::value("", "filePerProc", Same, |to, it| {
                put(&mut to.easy_own_files, truth(it))
            }),
            HpcOption::value("", "uniqueDir", Differs("ranks have their own"), |_, _| {
                Ok(())
            }),
            HpcOption::idle_value("", "verbosity", "no effect"),
        ],
    ),
    (
        "mdtest-easy",
        &[
            API,
            DIRECT,
            RUN,
            HpcOption::value(
                "",
                "n",
                Differs("no more than fit on the file system"),
                |to, it| put(&mut to.easy_files, number(it, 1).map(u64::from)),
            ),
        ],
    ),
    (
        "ior-hard",
        &[
            API,
            DIRECT,
            HINTS,
            RUN,
            HpcOption::value(
                "",
                "segmentCount",
                Differs("no more than fit on the file system"),
                |to, it| put(&mut to.hard_segments, number(it, 1).map(u64::from)),
            ),
            HpcOption::value(
                "",
                "collective",
                Differs("no MPI-IO: FALSE alone"),
                |_, it| off("collective", it),
            ),
            HpcOption::idle_value("", "verbosity", "no effect"),
        ],
    ),
    (
        "mdtest-hard",
        &[
            API,
            DIRECT,
            RUN,
            HpcOption::value(
                "",
                "n",
                Differs("no more than fit on the file system"),
                |to, it| put(&mut to.hard_files, number(it, 1).map(u64::from)),
            ),
            HpcOption::value(
                "",
                "files-per-dir",
                Differs("one directory: empty alone"),
                |_, it| off("files-per-dir", it),
            ),
        ],
    ),
    (
        "find",
        &[
            RUN,
            NO_FIND,
            HpcOption::value("", "external-script", Differs("empty alone"), |_, it| {
                off("external-script", it)
            }),
            HpcOption::idle_value("", "external-mpi-args", "no effect"),
            HpcOption::value("", "external-extra-args", Differs("no effect"), |_, _| {
                Ok(())
            }),
            HpcOption::idle_value("", "pfind-queue-length", "no effect"),
            HpcOption::idle_value("", "pfind-steal-next", "no effect"),
            HpcOption::idle_value(
                "",
                "pfind-parallelize-single-dir-access-using-hashing",
                "names of a directory of all ranks are always dealt by their hash",
            ),
        ],
    ),
];

/// Options in sections of phases: an API, and whether to run the phase.
const PHASE_SECTION: &[Io500Option] = &[API, RUN];

fn truth(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" => Ok(true),
        "false" | "0" | "no" | "" => Ok(false),
        _ => Err(format!("{text}: is neither TRUE nor FALSE")),
    }
}

/// Options that can only be off.
fn off(name: &str, text: &str) -> Result<(), String> {
    match truth(text) {
        Ok(false) => Ok(()),
        _ => Err(format!("{text}: {name} is not supported. Leave it out")),
    }
}

impl Io500Config {
    /// Parses a configuration file.
    ///
    /// # Errors
    /// The first unsupported line, with its number.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut config = Self::default();
        let mut options: Option<&[Io500Option]> = None;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split(['#', ';']).next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let at = |why: String| format!("line {number}: {why}");
            if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
                options = Some(section(name).ok_or_else(|| {
                    at(format!("[{name}] is no section of an IO500 configuration"))
                })?);
                continue;
            }
            let options =
                options.ok_or_else(|| at(format!("{line}: stands outside of a section")))?;
            // Empty values are treated as absent.
            let is_empty = line
                .split_once('=')
                .is_none_or(|(_, it)| it.trim().is_empty());
            let word = if is_empty { continue } else { line };
            read_named(options, word, &mut config).map_err(at)?;
        }
        let transfer = config.easy_transfer;
        if transfer == 0 || config.easy_block % transfer.max(1) > 0 || config.easy_block == 0 {
            return Err("[ior-easy] blockSize is a whole number of transferSize".into());
        }
        Ok(config)
    }
}

fn section(name: &str) -> Option<&'static [Io500Option]> {
    let mut all = IO500_SECTIONS.iter();
    let known = all.find_map(|(it, options)| (*it == name).then_some(*options));
    let is_phase = Io500Phase::ALL.iter().any(|it| it.name() == name) || name == "timestamp";
    known.or_else(|| is_phase.then_some(PHASE_SECTION))
}

units::words! {
    /// The phases, in order of execution.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Io500Phase {
        IorEasyWrite = "ior-easy-write",
        MdtestEasyWrite = "mdtest-easy-write",
        IorHardWrite = "ior-hard-write",
        MdtestHardWrite = "mdtest-hard-write",
        Find = "find",
        IorEasyRead = "ior-easy-read",
        MdtestEasyStat = "mdtest-easy-stat",
        IorHardRead = "ior-hard-read",
        MdtestHardStat = "mdtest-hard-stat",
        MdtestEasyDelete = "mdtest-easy-delete",
        MdtestHardRead = "mdtest-hard-read",
        MdtestHardDelete = "mdtest-hard-delete",
    }
}

impl Io500Phase {
    /// Whether its score is in GiB/s rather than thousands of operations per second.
    pub const fn is_bandwidth(self) -> bool {
        matches!(
            self,
            Self::IorEasyWrite | Self::IorHardWrite | Self::IorEasyRead | Self::IorHardRead
        )
    }

    /// Whether it creates files until the stonewall.
    pub const fn has_stonewall(self) -> bool {
        matches!(
            self,
            Self::IorEasyWrite | Self::MdtestEasyWrite | Self::IorHardWrite | Self::MdtestHardWrite
        )
    }
}

/// Result of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Io500Result {
    pub phase: Io500Phase,
    /// GiB/s, or thousands of operations per second.
    pub score: f64,
    /// The score up to the stonewall, if it has one.
    pub at_stonewall: Option<f64>,
    pub seconds: f64,
    /// Seconds until the last rank stopped at the stonewall.
    pub stonewall_seconds: Option<f64>,
}

/// The scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Io500Score {
    /// GiB/s.
    pub bandwidth: f64,
    /// Thousands of operations a second.
    pub metadata: f64,
    pub total: f64,
}

impl Io500Score {
    /// The scores of all phases; NaN without phases of a kind.
    pub fn of(results: &[Io500Result]) -> Self {
        let mean = |is_bandwidth: bool| {
            let of_kind = results.iter();
            let logs: Vec<f64> = of_kind
                .filter(|it| it.phase.is_bandwidth() == is_bandwidth)
                .map(|it| it.score.ln())
                .collect();
            (logs.iter().sum::<f64>() / logs.len() as f64).exp()
        };
        let (bandwidth, metadata) = (mean(true), mean(false));
        Self {
            bandwidth,
            metadata,
            total: (bandwidth * metadata).sqrt(),
        }
    }
}

/// Why results are not a valid submission: the list only accepts those of its own program, with
/// further rules.
pub fn not_a_submission(config: &Io500Config, results: &[Io500Result]) -> Vec<String> {
    let mut reasons = vec!["the list takes results of the io500 program only".to_owned()];
    let wall = config.stonewall;
    if wall != STONEWALL_BY_RULE {
        reasons.push(format!("stonewall-time is {wall}, not {STONEWALL_BY_RULE}"));
    }
    let early = results.iter().filter(|it| {
        let reached = it.stonewall_seconds.unwrap_or(f64::INFINITY);
        it.phase.has_stonewall() && reached < wall.as_secs_f64()
    });
    reasons.extend(early.map(|it| {
        format!(
            "{} ended after {:.1} s, before the stonewall: it had nothing left to write",
            it.phase.name(),
            it.seconds
        )
    }));
    if results.len() < Io500Phase::ALL.len() {
        reasons.push("phases are missing".into());
    }
    reasons
}

fn unit(phase: Io500Phase) -> &'static str {
    if phase.is_bandwidth() {
        "GiB/s"
    } else {
        "kIOPS"
    }
}

/// The lines printed by a run, also in `result_summary.txt`.
pub fn io500_summary(results: &[Io500Result], reasons: &[String]) -> String {
    let mut text = String::new();
    for it in results {
        let _ = writeln!(
            text,
            "[RESULT] {:>20} {:>15.6} {} : time {:.3} seconds",
            it.phase.name(),
            it.score,
            unit(it.phase),
            it.seconds
        );
    }
    let score = Io500Score::of(results);
    let _ = writeln!(
        text,
        "[SCORE] Bandwidth {:.6} GiB/s : IOPS {:.6} kiops : TOTAL {:.6} [NOT A SUBMISSION]",
        score.bandwidth, score.metadata, score.total
    );
    for reason in reasons {
        let _ = writeln!(text, "not a submission: {reason}");
    }
    text
}

/// `result.txt`: the same as sections of a configuration file.
pub fn io500_result(version: &str, results: &[Io500Result], reasons: &[String]) -> String {
    let mut text = format!("version = seekstone {version}\n");
    for reason in reasons {
        let _ = writeln!(text, "; NOT A SUBMISSION {reason}");
    }
    for it in results {
        let _ = writeln!(text, "\n[{}]", it.phase.name());
        if let Some(rate) = it.at_stonewall {
            let name = match it.phase.is_bandwidth() {
                true => "throughput-stonewall",
                false => "rate-stonewall",
            };
            let _ = writeln!(text, "{name} = {rate:.6}");
        }
        let _ = writeln!(text, "score = {:.6}\nt_delta = {:.4}", it.score, it.seconds);
    }
    let score = Io500Score::of(results);
    let _ = writeln!(
        text,
        "\n[SCORE]\nMD = {:.6}\nBW = {:.6}\nSCORE = {:.6} [NOT A SUBMISSION]",
        score.metadata, score.bandwidth, score.total
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "[global]\ndatadir = /scratch # here\nresultdir = /tmp/out\n\
                         drop-caches = FALSE\n\n[debug]\nstonewall-time = 1\n\
                         [ior-easy]\ntransferSize = 1m\nblockSize = 64m\nfilePerProc = TRUE\n\
                         posix.odirect =\n[mdtest-easy]\nAPI = POSIX\nn = 500\n\
                         [ior-hard]\nsegmentCount = 100\n[mdtest-hard]\nn = 50\n\
                         [mdtest-easy-stat]\nrun = TRUE\n[find]\nnproc = 4\n";

    #[test]
    fn a_configuration_is_read_as_it_is_written() {
        let expected = Io500Config {
            data: "/scratch".into(),
            results: "/tmp/out".into(),
            stonewall: Duration::from_secs(1),
            easy_transfer: 1 << 20,
            easy_block: 64 << 20,
            easy_own_files: true,
            hard_segments: 100,
            easy_files: 500,
            hard_files: 50,
        };
        assert_eq!(Io500Config::read(SHORT), Ok(expected));
        assert_eq!(Io500Config::read(""), Ok(Io500Config::default()));
    }

    #[test]
    fn a_line_that_cannot_be_done_is_named() {
        for (text, expected) in [
            (
                "[global]\napi = DFS",
                "line 2: API DFS: files are reached by POSIX",
            ),
            (
                "[ior-easy]\nposix.odirect = TRUE",
                "line 2: posix.odirect TRUE",
            ),
            ("[debug]\nstonewall-time = 0", "must be above 0"),
            ("[nonsense]", "line 1: [nonsense] is no section"),
            ("[ior-hard-read]\nrun = FALSE", "all phases are run"),
            (
                "[global]\nnonsense = 1",
                "nonsense: is no option known here",
            ),
            ("datadir = /x", "stands outside of a section"),
            (
                "[ior-easy]\ntransferSize = 3m",
                "a whole number of transferSize",
            ),
        ] {
            let why = Io500Config::read(text).expect_err(text);
            assert!(why.contains(expected), "{text}: {why}");
        }
    }

    fn results(score: impl Fn(Io500Phase) -> f64) -> Vec<Io500Result> {
        let result = |phase| Io500Result {
            phase,
            score: score(phase),
            at_stonewall: None,
            seconds: 1.0,
            stonewall_seconds: None,
        };
        Io500Phase::ALL.into_iter().map(result).collect()
    }

    /// The metadata scores of the example in the program's public description give the mean stated
    /// there.
    #[test]
    fn the_score_is_that_of_the_rules() {
        let published = [
            103.300821,
            58.939081,
            1486.435084,
            839.392805,
            1212.558124,
            160.765642,
            275.011939,
            132.015851,
        ];
        let metadata = Io500Phase::ALL.into_iter().filter(|it| !it.is_bandwidth());
        let metadata: Vec<Io500Phase> = metadata.collect();
        let place = |phase| metadata.iter().position(|it| *it == phase);
        let found = results(|phase| place(phase).map_or(1.0, |at| published[at]));
        let score = Io500Score::of(&found);
        assert_eq!(format!("{:.6}", score.metadata), "292.625029");

        let results = results(|phase| if phase.is_bandwidth() { 4.0 } else { 9.0 });
        let score = Io500Score::of(&results);
        let texts = [score.bandwidth, score.metadata, score.total].map(|it| format!("{it:.6}"));
        assert_eq!(texts, ["4.000000", "9.000000", "6.000000"]);
        let reasons = not_a_submission(&Io500Config::default(), &results);
        assert_eq!(
            reasons,
            ["the list takes results of the io500 program only"]
        );
        let short = Io500Config::read(SHORT).expect("a configuration");
        assert_eq!(not_a_submission(&short, &results).len(), 2);
        let text = io500_summary(&results, &reasons);
        assert!(
            text.contains("[RESULT]       ior-easy-write        4.000000 GiB/s"),
            "{text}"
        );
        assert!(text.contains("TOTAL 6.000000 [NOT A SUBMISSION]"), "{text}");
        assert!(io500_result("1", &results, &reasons).contains("SCORE = 6.000000 [NOT"));
    }
}
