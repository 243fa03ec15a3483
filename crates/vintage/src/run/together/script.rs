//! Batch files of the documents: `start` starts a program and continues at once, `pause` waits for
//! the batches of the other hosts, `rem` is a comment.

use crate::diskmbps;
use crate::diskrand::{self, PassLength};

/// Names of the program in the documents and here.
const DISKRAND_NAMES: [&str; 4] = ["diskrand", "randnt95", "randdos", "randos2"];
const DISKMBPS_NAMES: [&str; 4] = ["diskmbps", "disknt95", "diskdos", "diskos2"];

/// A line of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptLine {
    /// Runs a program to its end.
    Run(ClassicProgram),
    /// Starts a program and continues.
    Start(ClassicProgram),
    /// Waits until the batches of all other hosts pause or have ended.
    Pause,
}

impl ScriptLine {
    /// Makes a user draw other records, loads and think times than its number alone gives; 0 for
    /// the document's.
    pub fn draw(&mut self, seed: u64) {
        if let Self::Run(program) | Self::Start(program) = self
            && let BatchProgram::DiskRand(diskrand::DiskrandArguments::Read(user)) =
                &mut program.what
        {
            user.draw = seed;
        }
    }
}

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassicProgram {
    /// The command line.
    pub words: String,
    pub(super) what: BatchProgram,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum BatchProgram {
    DiskMbps(diskmbps::DiskmbpsArguments),
    DiskRand(diskrand::DiskrandArguments),
}

impl ClassicProgram {
    /// Parses a command line, with the name first.
    ///
    /// # Errors
    /// A description of the error.
    pub fn typed(words: &[String]) -> Result<Self, String> {
        let Some((name, rest)) = words.split_first() else {
            return Err("no program is named: use diskrand or diskmbps".into());
        };
        let base = name.to_ascii_lowercase();
        let base = base.strip_suffix(".exe").unwrap_or(&base);
        let what = if DISKRAND_NAMES.contains(&base) {
            BatchProgram::DiskRand(diskrand::typed(rest, PassLength::AsDocumented)?)
        } else if DISKMBPS_NAMES.contains(&base) {
            BatchProgram::DiskMbps(diskmbps::typed(rest)?)
        } else {
            return Err(format!(
                "\"{name}\" is none of the programs that run together: use diskrand or diskmbps, \
                 or a document's name for them, such as randnt95 or disknt95"
            ));
        };
        let words = words.join(" ");
        Ok(Self { words, what })
    }
}

/// Parses a batch file.
///
/// # Errors
/// All errors, each with its line.
pub fn script_lines(name: &str, text: &str) -> Result<Vec<ScriptLine>, String> {
    let mut lines = Vec::new();
    let mut faults = Vec::new();
    // Some editors write a byte order mark first.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in text.lines().enumerate() {
        match script_line(line) {
            Ok(line) => lines.extend(line),
            Err(fault) => faults.push(format!("{name}:{}: {fault}", number + 1)),
        }
    }
    if faults.is_empty() && lines.is_empty() {
        faults.push(format!(
            "{name} runs nothing: it has no line with a program"
        ));
    }
    if faults.is_empty() {
        Ok(lines)
    } else {
        Err(faults.join("\n"))
    }
}

fn script_line(line: &str) -> Result<Option<ScriptLine>, String> {
    let words = words_of(line)?;
    let Some(first) = words.first() else {
        return Ok(None);
    };
    let first = first.to_ascii_lowercase();
    match first.as_str() {
        "rem" | "@echo" | "echo" => Ok(None),
        _ if first.starts_with("::") || first.starts_with('#') => Ok(None),
        "pause" => Ok(Some(ScriptLine::Pause)),
        "start" => Ok(Some(ScriptLine::Start(ClassicProgram::typed(&words[1..])?))),
        _ => Ok(Some(ScriptLine::Run(ClassicProgram::typed(&words)?))),
    }
}

/// Splits at blanks; quotes keep blanks.
fn words_of(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for (index, part) in line.split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    if line.matches('"').count() % 2 == 1 {
        return Err("a quote is not closed".into());
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_batch_files_are_read() {
        let text = "rem fill cache\r\n\
                    randnt95 Read f:\\test\\RandData.txt 199 5 Multi1.txt 1000 0\r\n\
                    pause\r\n\
                    start randnt95 YRead f:\\test\\RandData.txt 201 100 2logs 20 5 10 1\r\n\
                    Start DiskNT95 0 4 A J1.tmp\r\n";
        let lines = script_lines("p100.bat", text).expect("a batch");
        let kinds: Vec<&str> = lines
            .iter()
            .map(|line| match line {
                ScriptLine::Run(_) => "run",
                ScriptLine::Start(_) => "start",
                ScriptLine::Pause => "pause",
            })
            .collect();
        assert_eq!(kinds, ["run", "pause", "start", "start"]);
        let ScriptLine::Start(program) = &lines[3] else {
            panic!("a program that is started");
        };
        assert_eq!(program.words, "DiskNT95 0 4 A J1.tmp");
    }

    #[test]
    fn each_mistake_has_its_line() {
        let text = "randnt95 Read D 1 1 L 20\nstart notepad\nrandnt95 Read \"D 1\n";
        let faults = script_lines("b.bat", text).expect_err("three mistakes");
        assert_eq!(faults.lines().count(), 3, "{faults}");
        assert!(faults.starts_with("b.bat:1: "), "{faults}");
        assert!(
            faults.contains("b.bat:2: \"notepad\" is none of"),
            "{faults}"
        );
        assert!(
            faults.contains("b.bat:3: a quote is not closed"),
            "{faults}"
        );
        let nothing = script_lines("b.bat", "rem\n").expect_err("nothing to run");
        assert!(nothing.contains("runs nothing"), "{nothing}");
    }
}
