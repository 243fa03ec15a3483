//! Command line `diskmbps MB PASSES [X [PATH]]`, and its errors.

use crate::fault::quoted;

/// The suffix when none is given.
const LETTER_DEFAULT: char = 'Z';
/// The most megabytes: what a file offset can hold.
const MEGABYTES_MAX: u64 = (i64::MAX as u64) >> 20;
/// The most read passes: three digits, the width of their column.
pub const PASSES_MAX: u32 = 999;

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskmbpsWork {
    /// A new file is written and read.
    Write {
        /// Its size.
        megabytes: u64,
        /// The directory for it; the current one if absent.
        directory: Option<String>,
    },
    /// An existing file is read.
    Read {
        /// Its path.
        file: String,
    },
}

/// A valid command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskmbpsArguments {
    /// What is measured.
    pub work: DiskmbpsWork,
    /// Number of read passes.
    pub passes: u32,
    /// Last letter of the file names.
    pub letter: char,
}

/// Parses `MB PASSES [X [PATH]]`.
///
/// # Errors
/// A description of the error, and what to do.
// fuzzed: arguments
pub fn typed(words: &[String]) -> Result<DiskmbpsArguments, String> {
    if let Some(extra) = words.get(4) {
        return Err(format!(
            "{} is one argument too many: say MB PASSES [X [PATH]], and put a path with blanks in \
             quotes",
            quoted(extra)
        ));
    }
    let [megabytes, passes, rest @ ..] = words else {
        return Err(
            "say MB PASSES [X [PATH]], such as 40 6; without any argument the program asks".into(),
        );
    };
    let (letter, path) = (rest.first(), rest.get(1));
    let megabytes = size_of(megabytes)?;
    let passes = passes_of(passes)?;
    let letter = letter.map_or(Ok(LETTER_DEFAULT), |text| letter_of(text))?;
    if path.is_some_and(|path| path.trim().is_empty()) {
        return Err("the path is empty. Leave it out for the current directory".into());
    }
    let work = match (megabytes, path) {
        (0, None) => {
            return Err("0 megabytes reads a file that exists: name it, as in 0 4 N PATH".into());
        }
        (0, Some(path)) => DiskmbpsWork::Read { file: path.clone() },
        (megabytes, path) => DiskmbpsWork::Write {
            megabytes,
            directory: path.cloned(),
        },
    };
    Ok(DiskmbpsArguments {
        work,
        passes,
        letter,
    })
}

/// A number of megabytes, of 1048576 bytes each.
///
/// # Errors
/// If it is invalid.
pub fn size_of(text: &str) -> Result<u64, String> {
    let text = text.trim();
    match text.parse::<u64>() {
        Ok(megabytes) if megabytes <= MEGABYTES_MAX => Ok(megabytes),
        Ok(_) => Err(format!(
            "{text} megabytes are more than a file can hold: {MEGABYTES_MAX} are the most"
        )),
        Err(_) => Err(format!(
            "{} is no file size: say a whole number of megabytes (of 1048576 bytes), or 0 to read \
             a file that exists",
            quoted(text)
        )),
    }
}

/// A number of read passes.
///
/// # Errors
/// If it is invalid.
pub fn passes_of(text: &str) -> Result<u32, String> {
    let text = text.trim();
    match text.parse::<u32>() {
        Ok(passes @ 1..=PASSES_MAX) => Ok(passes),
        _ => Err(format!(
            "{} is no number of read passes: say 1 to {PASSES_MAX}",
            quoted(text)
        )),
    }
}

/// The letter in the names of the files. Anything longer is a path, with the letter missing.
///
/// # Errors
///
/// If it is invalid.
pub fn letter_of(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(letter), None) if letter.is_ascii_alphanumeric() => Ok(letter.to_ascii_uppercase()),
        (Some(_), Some(_)) => Err(format!(
            "{} is no file letter: the third argument is one letter that ends the files' names, \
             and a path comes fourth, as in 20 8 Z PATH. The program of 1997 took the first \
             character of a path for the letter, and wrote into the current directory without a \
             word; so this is refused",
            quoted(text)
        )),
        _ => Err(format!(
            "{} is no file letter: say one letter or digit, such as A",
            quoted(text)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[track_caller]
    fn check(text: &str, work: DiskmbpsWork, passes: u32, letter: char) {
        let expected = DiskmbpsArguments {
            work,
            passes,
            letter,
        };
        assert_eq!(typed(&words(text)), Ok(expected), "{text}");
    }

    fn write(megabytes: u64, directory: Option<&str>) -> DiskmbpsWork {
        DiskmbpsWork::Write {
            megabytes,
            directory: directory.map(str::to_owned),
        }
    }

    #[test]
    fn the_documents_command_lines_are_read() {
        check("100 4", write(100, None), 4, 'Z');
        check("50 6 A", write(50, None), 6, 'A');
        check("40 5 B E:\\TEMP\\", write(40, Some("E:\\TEMP\\")), 5, 'B');
        let file = "D:\\funstuff\\videos\\weezer.avi".to_owned();
        check(
            "0 4 C D:\\funstuff\\videos\\weezer.avi",
            DiskmbpsWork::Read { file },
            4,
            'C',
        );
        check("8 1 q", write(8, None), 1, 'Q');
    }

    #[test]
    fn the_command_that_the_document_calls_wrong_is_refused() {
        let error = typed(&words("20 8 E:\\TEMP\\")).expect_err("a path without its letter");
        assert!(
            error.contains("a path comes fourth, as in 20 8 Z PATH"),
            "{error}"
        );
        assert!(error.contains("without a word"), "{error}");
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, expected: &str| {
            let error = typed(&words(text)).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("40", "MB PASSES [X [PATH]]");
        check("40 0", "\"0\" is no number of read passes");
        check("40 -1", "\"-1\" is no number of read passes");
        check("40 1000", "say 1 to 999");
        check("-4 2", "\"-4\" is no file size");
        check("4.5 2", "whole number of megabytes");
        check("99999999999999 2", "more than a file can hold");
        check("99999999999999999999999 2", "no file size");
        check("0 4", "name it, as in 0 4 N PATH");
        check("0 4 N", "name it");
        check("4 4 ?", "one letter or digit");
        check("4 4 /", "one letter or digit");
        check("4 4 A /data more", "one argument too many");
    }
}
