//! Runs named by number, range, `latest` or file: `3..7`, `12,15`, `latest:5`, `base.json`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::RunChoice;

/// One part of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPart {
    /// A run of the archive.
    Archived(RunChoice),
    /// The newest of the archive, this many.
    Latest(usize),
    /// Those of the archive from one number to another.
    Range(i64, i64),
    /// A run that was exported as JSON, or as a page.
    File(PathBuf),
}

/// Some runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSet(pub Vec<RunPart>);

impl RunPart {
    fn read(text: &str) -> Option<Self> {
        let ends = text.split_once("..");
        let ends = ends.map(|(first, last)| (first.parse(), last.parse()));
        if let Some((Ok(first), Ok(last))) = ends {
            return (first <= last).then_some(Self::Range(first, last));
        }
        if let Some(count) = text.strip_prefix("latest:") {
            let count = count.parse().ok().filter(|it| *it > 0);
            return count.map(Self::Latest);
        }
        if let Ok(choice) = text.parse() {
            return Some(Self::Archived(choice));
        }
        let path = PathBuf::from(text);
        let is_run = path
            .extension()
            .is_some_and(|it| it == "json" || it == "html");
        is_run.then_some(Self::File(path))
    }
}

impl FromStr for RunSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Option<Vec<RunPart>> = text.split(',').map(RunPart::read).collect();
        parts.map(Self).ok_or_else(|| {
            format!(
                "{text:?} names no run: use numbers, ranges as in 3..7, latest, latest:5, or \
                 JSON files"
            )
        })
    }
}

impl fmt::Display for RunSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.0.iter().map(|part| match part {
            RunPart::Archived(choice) => choice.to_string(),
            RunPart::Latest(count) => format!("latest:{count}"),
            RunPart::Range(first, last) => format!("{first}..{last}"),
            RunPart::File(path) => path.display().to_string(),
        });
        f.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_by_number_range_or_file() {
        for text in [
            "3",
            "latest",
            "latest:5",
            "3..7",
            "3..7,12,latest",
            "base.json,run.html",
            // Bug: taken for a range, and then for storage to be measured.
            "../base.json,/tmp/a/../run.html",
        ] {
            let set: RunSet = text.parse().expect(text);
            assert_eq!(set.to_string(), text);
        }
        for wrong in [
            "", "latest:0", "7..3", "sim:mm1", "/mnt/a", "..", "3..", "3,,4", "./12",
        ] {
            assert!(wrong.parse::<RunSet>().is_err(), "{wrong}");
        }
    }
}
