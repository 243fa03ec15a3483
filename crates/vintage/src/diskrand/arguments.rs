//! Command line `diskrand Write|Read|Xread|Yread|Zread|Erase ...`, and its errors.

use units::TargetName;

use crate::fault::quoted;

/// Log name that stands for two files.
pub const TWO_LOGS: &str = "2logs";
/// The commands with their arguments, as the document lists them.
pub const COMMANDS: [&str; 6] = [
    "Write DF MB RS LF",
    "Read  DF UN NT LF IO TT [KM CP]",
    "Xread DF UN NT LF IO TT [KM CP]",
    "Yread DF UN NT LF IO TT [KM CP]",
    "Zread DF UN NT LF IO TT [KM CP]",
    "Erase DF",
];

/// Maximum megabytes: the range of a file offset.
const MEGABYTES_MAX: u64 = (i64::MAX as u64) >> 20;
/// Minimum seconds of reading: three passes of five.
const SECONDS_MIN: u64 = 15;
/// Maximum seconds of reading: a day.
const SECONDS_MAX: u64 = 86_400;
/// Maximum number of transactions per user.
const TRANSACTIONS_MAX: u64 = 1_000_000_000;
/// Maximum I/Os per transaction.
const IOS_MAX: u64 = 1_000_000;
/// Maximum mean think time: a week.
const THINK_MAX: u64 = 604_800;
/// Maximum kilobytes: the address range of a machine.
const KILOBYTES_MAX: u64 = (i64::MAX as u64) >> 10;
/// Maximum units of CPU work per transaction.
const UNITS_MAX: f64 = 1e6;

/// A valid command line.
#[derive(Clone, Debug, PartialEq)]
pub enum DiskrandArguments {
    /// A file is written, and read in three passes.
    Write(WriteArguments),
    /// A user performs transactions.
    Read(ReadArguments),
    /// A file is removed.
    Erase {
        /// Its path.
        file: TargetName,
    },
}

/// `Write DF MB RS LF`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteArguments {
    /// The data file.
    pub file: TargetName,
    /// Its size, in megabytes of 1048576 bytes.
    pub megabytes: u64,
    /// Seconds of reading, over the three passes.
    pub seconds: u64,
    /// Where results are logged.
    pub log: LogName,
}

/// `Read DF UN NT LF IO TT [KM CP]` and its three variants.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadArguments {
    /// Which variant.
    pub mode: ReadMode,
    /// The data file.
    pub file: TargetName,
    /// The user's number, which determines all random draws.
    pub user: u32,
    /// Number of the draw for the same user: 0 for the document's.
    pub draw: u64,
    /// Number of transactions.
    pub transactions: u64,
    /// Where results are logged.
    pub log: LogName,
    /// Mean I/Os per transaction.
    pub ios: u32,
    /// Average think time, seconds.
    pub think_s: u32,
    /// The user's own memory, kilobytes of 1024 bytes.
    pub memory_kb: u64,
    /// Mean units of CPU work per transaction.
    pub cpu_units: f64,
}

/// How records and loads are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// The same records each time, with equal transactions.
    Read,
    /// Different records each time.
    Xread,
    /// The same records; I/Os and CPU work vary.
    Yread,
    /// Different records, and varying loads.
    Zread,
}

impl ReadMode {
    /// Whether the time of day is part of the seed.
    pub const fn draws_new_records(self) -> bool {
        matches!(self, Self::Xread | Self::Zread)
    }

    /// Whether I/Os and CPU work are scaled by a random factor.
    pub const fn varies_loads(self) -> bool {
        matches!(self, Self::Yread | Self::Zread)
    }
}

/// Where results are logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogName {
    /// In one file.
    One(String),
    /// Profiles in one file, transactions in another.
    Two,
}

/// Whether passes may be shorter than the document allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassLength {
    /// At least five seconds per pass.
    AsDocumented,
    /// Any length, for a test; still 200 reads per pass.
    Short,
}

/// Parses a command line.
///
/// # Errors
/// A description of the error, and what to do.
// fuzzed: arguments
pub fn typed(words: &[String], passes: PassLength) -> Result<DiskrandArguments, String> {
    let Some((command, rest)) = words.split_first() else {
        return Err("say Write, Read, Xread, Yread, Zread or Erase".into());
    };
    let mode = match command.to_ascii_lowercase().as_str() {
        "write" | "w" => return write(rest, passes),
        "erase" | "e" => return erase(rest),
        "read" | "r" => ReadMode::Read,
        "xread" | "x" => ReadMode::Xread,
        "yread" | "y" => ReadMode::Yread,
        "zread" | "z" => ReadMode::Zread,
        _ => {
            return Err(format!(
                "{} is no command: say Write, Read, Xread, Yread, Zread or Erase, or its first \
                 letter",
                quoted(command)
            ));
        }
    };
    read(mode, rest)
}

fn write(words: &[String], passes: PassLength) -> Result<DiskrandArguments, String> {
    let names = ["DF", "MB", "RS", "LF"];
    let example = "Write RandData.txt 40 15 LogFile.txt";
    let words = counted(words, &names, &[4], example)?;
    let least = match passes {
        PassLength::AsDocumented => SECONDS_MIN,
        PassLength::Short => 0,
    };
    let seconds = number(&words[2], "RS", "of seconds of reading", 0, SECONDS_MAX)?;
    if seconds < least {
        return Err(format!(
            "RS {seconds}: three passes of five seconds take {SECONDS_MIN} at least; --short \
             allows less, for a trial"
        ));
    }
    Ok(DiskrandArguments::Write(WriteArguments {
        file: path(&words[0], "DF", "data file")?.into(),
        megabytes: number(&words[1], "MB", "of megabytes", 1, MEGABYTES_MAX)?,
        seconds,
        log: log_name(&words[3])?,
    }))
}

fn erase(words: &[String]) -> Result<DiskrandArguments, String> {
    let words = counted(words, &["DF"], &[1], "Erase RandData.txt")?;
    let file = path(&words[0], "DF", "data file")?.into();
    Ok(DiskrandArguments::Erase { file })
}

fn read(mode: ReadMode, words: &[String]) -> Result<DiskrandArguments, String> {
    let names = ["DF", "UN", "NT", "LF", "IO", "TT", "KM", "CP"];
    let example = "Read RandData.txt 101 50 LogFile.txt 20 5, or with KM CP behind, as in 10 1";
    let words = counted(words, &names, &[6, 8], example)?;
    if words[4].trim() == "0" {
        return Err(
            "IO 0: a transaction reads one record at least; for processor work with nearly no I/O \
             say 1, as section 9.2 of the document does"
                .into(),
        );
    }
    let optional = |place: usize| words.get(place).map_or("0", String::as_str);
    let whole =
        |place: usize, what, low, high| number(&words[place], names[place], what, low, high);
    Ok(DiskrandArguments::Read(ReadArguments {
        mode,
        file: path(&words[0], "DF", "data file")?.into(),
        user: small(whole(1, "of a user", 0, u64::from(u32::MAX))?),
        draw: 0,
        transactions: whole(2, "of transactions", 1, TRANSACTIONS_MAX)?,
        log: log_name(&words[3])?,
        ios: small(whole(4, "of I/Os in a transaction", 1, IOS_MAX)?),
        think_s: small(whole(5, "of seconds to think", 0, THINK_MAX)?),
        memory_kb: number(optional(6), "KM", "of kilobytes", 0, KILOBYTES_MAX)?,
        cpu_units: units(optional(7))?,
    }))
}

/// Numbers already checked to fit.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// As many words as `counts` allows, or what is missing or superfluous.
fn counted<'a>(
    words: &'a [String],
    names: &[&str],
    counts: &[usize],
    example: &str,
) -> Result<&'a [String], String> {
    if counts.contains(&words.len()) {
        return Ok(words);
    }
    let most = names.len();
    if let Some(extra) = words.get(most) {
        return Err(format!(
            "{} is one argument too many: say {example}; put a path with blanks in quotes",
            quoted(extra)
        ));
    }
    let missing = counts.iter().find(|&&count| count > words.len());
    let missing = &names[words.len()..*missing.unwrap_or(&most)];
    let are = if missing.len() == 1 { "is" } else { "are" };
    Err(format!(
        "{} {are} missing: say {example}",
        missing.join(" and ")
    ))
}

fn number(text: &str, name: &str, what: &str, low: u64, high: u64) -> Result<u64, String> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(number) if is_number && (low..=high).contains(&number) => Ok(number),
        _ if is_number => Err(format!(
            "{name} {}: the number {what} must lie between {low} and {high}",
            quoted(text)
        )),
        _ => Err(format!(
            "{name} {} is no number {what}: say a whole number from {low} to {high}, without a \
             unit",
            quoted(text)
        )),
    }
}

fn units(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    match text.parse::<f64>() {
        Ok(units) if is_plain && (0.0..=UNITS_MAX).contains(&units) => Ok(units),
        _ => Err(format!(
            "CP {} is no CPU loading factor: say a number from 0 to {UNITS_MAX}, such as 1 or 0.5",
            quoted(text)
        )),
    }
}

fn path(text: &str, name: &str, what: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err(format!("{name} is empty: name the {what}"));
    }
    Ok(text.to_owned())
}

fn log_name(text: &str) -> Result<LogName, String> {
    if text.eq_ignore_ascii_case(TWO_LOGS) {
        return Ok(LogName::Two);
    }
    path(text, "LF", "log file").map(LogName::One)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<DiskrandArguments, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        typed(&words, PassLength::AsDocumented)
    }

    #[track_caller]
    fn check_write(text: &str, file: &str, megabytes: u64, seconds: u64, log: &str) {
        let expected = WriteArguments {
            file: file.into(),
            megabytes,
            seconds,
            log: LogName::One(log.into()),
        };
        assert_eq!(of(text), Ok(DiskrandArguments::Write(expected)), "{text}");
    }

    fn user(number: u32, transactions: u64, ios: u32, think_s: u32) -> ReadArguments {
        ReadArguments {
            mode: ReadMode::Read,
            file: "RandData.txt".into(),
            user: number,
            draw: 0,
            transactions,
            log: LogName::One("LogFile.txt".into()),
            ios,
            think_s,
            memory_kb: 0,
            cpu_units: 0.0,
        }
    }

    #[track_caller]
    fn check_read(text: &str, expected: ReadArguments) {
        assert_eq!(of(text), Ok(DiskrandArguments::Read(expected)), "{text}");
    }

    #[test]
    fn the_documents_command_lines_are_read() {
        check_write(
            "Write DataFile.txt 40 30 LogFile.txt",
            "DataFile.txt",
            40,
            30,
            "LogFile.txt",
        );
        check_write(
            "w DataFile.txt 60 30 Log.txt",
            "DataFile.txt",
            60,
            30,
            "Log.txt",
        );
        check_write(
            "write RandData.txt 40 15 DosLog.txt",
            "RandData.txt",
            40,
            15,
            "DosLog.txt",
        );
        check_read(
            "Read RandData.txt 23 20 LogFile.txt 50 1",
            user(23, 20, 50, 1),
        );
        check_read(
            "R RandData.txt 101 50 LogFile.txt 20 15",
            user(101, 50, 20, 15),
        );
        check_read(
            "XRead RandData.txt 102 100 LogFile.txt 30 0",
            ReadArguments {
                mode: ReadMode::Xread,
                ..user(102, 100, 30, 0)
            },
        );
        check_read(
            "YRead RandData.txt 101 100 2logs 20 5 10 1",
            ReadArguments {
                mode: ReadMode::Yread,
                log: LogName::Two,
                memory_kb: 10,
                cpu_units: 1.0,
                ..user(101, 100, 20, 5)
            },
        );
        check_read(
            "ZRead RandData.txt 23 20 LogFile.txt 50 1 2000 2",
            ReadArguments {
                mode: ReadMode::Zread,
                memory_kb: 2000,
                cpu_units: 2.0,
                ..user(23, 20, 50, 1)
            },
        );
        let file = "DataFile.txt".into();
        assert_eq!(
            of("Erase DataFile.txt"),
            Ok(DiskrandArguments::Erase { file })
        );
    }

    #[test]
    fn each_command_has_a_letter() {
        for (letter, mode) in [
            ("R", ReadMode::Read),
            ("x", ReadMode::Xread),
            ("Y", ReadMode::Yread),
            ("z", ReadMode::Zread),
        ] {
            let expected = ReadArguments {
                mode,
                ..user(1, 2, 3, 4)
            };
            check_read(
                &format!("{letter} RandData.txt 1 2 LogFile.txt 3 4"),
                expected,
            );
        }
        // The document's "Erase or R" is a mistake: R reads.
        let file = "RandData.txt".into();
        assert_eq!(of("E RandData.txt"), Ok(DiskrandArguments::Erase { file }));
        assert!(of("R RandData.txt").is_err());
        let modes = [
            ReadMode::Read,
            ReadMode::Xread,
            ReadMode::Yread,
            ReadMode::Zread,
        ];
        assert_eq!(
            modes.map(ReadMode::draws_new_records),
            [false, true, false, true]
        );
        assert_eq!(
            modes.map(ReadMode::varies_loads),
            [false, false, true, true]
        );
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, expected: &str| {
            let error = of(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("", "say Write, Read");
        check("Delete x", "\"Delete\" is no command");
        check("Write", "DF and MB and RS and LF are missing");
        check("Write D 40 15", "LF is missing: say Write RandData.txt");
        check("Write D 40 15 L x", "\"x\" is one argument too many");
        check("Write D 40MB 15 L", "MB \"40MB\" is no number of megabytes");
        check(
            "Write D 0 15 L",
            "MB \"0\": the number of megabytes must lie between 1",
        );
        check("Write D -1 15 L", "\"-1\" is no number");
        check("Write D 4.5 15 L", "without a unit");
        check("Write D 99999999999999 15 L", "must lie between");
        check("Write D 99999999999999999999999 15 L", "must lie between");
        check("Write D 40 14 L", "--short allows less");
        check("Write D 40 0 L", "--short allows less");
        check("Write D 40 15s L", "RS \"15s\" is no number of seconds");
        check("Write D 40 86401 L", "between 0 and 86400");
        check("Read D 1 2 L 3", "TT is missing");
        check("Read D 1 2 L 3 4 5", "CP is missing");
        check("Read D 1 2 L 3 4 5 6 7", "too many");
        check("Read D 101 0 L 20 0", "NT \"0\"");
        check("Read D 101 10 L 0 0", "one record at least");
        check("Read D abc 10 L 1 0", "UN \"abc\" is no number of a user");
        check("Read D 4294967296 10 L 1 0", "between 0 and 4294967295");
        check("Read D 1 9999999999 L 1 0", "NT \"9999999999\"");
        check("Read D 1 1 L 1000001 0", "IO \"1000001\"");
        check(
            "Read D 1 1 L 1 5s",
            "TT \"5s\" is no number of seconds to think",
        );
        check("Read D 1 1 L 1 0.5", "TT \"0.5\"");
        check("Read D 1 1 L 1 604801", "between 0 and 604800");
        check("Read D 1 1 L 1 0 10KB 1", "KM \"10KB\"");
        check(
            "Read D 1 1 L 1 0 10 1s",
            "CP \"1s\" is no CPU loading factor",
        );
        check("Read D 1 1 L 1 0 10 -1", "CP \"-1\"");
        check("Read D 1 1 L 1 0 10 inf", "CP \"inf\"");
        check("Read D 1 1 L 1 0 10 1000001", "CP \"1000001\"");
        check("Erase", "DF is missing");
        check("Erase a b", "too many");
    }

    #[test]
    fn a_trial_may_read_for_less() {
        let words = ["Write", "D", "1", "0", "L"].map(str::to_owned);
        let found = typed(&words, PassLength::Short).expect("short passes");
        assert!(matches!(found, DiskrandArguments::Write(it) if it.seconds == 0));
        let blank = ["Erase", " "].map(str::to_owned);
        assert!(typed(&blank, PassLength::Short).is_err());
    }
}
