//! Findings from reading files back, by path.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::finding::{Findings, VerifyMismatch};

/// Findings in files, and the amount read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFindings {
    findings: Findings,
    /// Paths of the first findings, by the number in their headers.
    paths: BTreeMap<u32, String>,
    /// Bytes read and judged.
    bytes: u64,
}

/// Number of a file in its headers: the CRC-32C of its path.
pub fn number_of_file(path: &str) -> u32 {
    crc32c::crc32c(path.as_bytes())
}

impl FileFindings {
    /// Adds findings in `bytes` bytes of the file at `path`.
    pub fn note(&mut self, found: &[VerifyMismatch], path: &str, bytes: u64) {
        self.bytes += bytes;
        for finding in found {
            self.findings.note(*finding);
            if self.findings.first().last() == Some(finding) {
                self.paths.insert(finding.target, path.to_owned());
            }
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.findings.merge(&other.findings);
        self.bytes += other.bytes;
        for (number, path) in &other.paths {
            self.paths.entry(*number).or_insert_with(|| path.clone());
        }
    }

    /// Number of findings in each class.
    pub const fn counts(&self) -> &Findings {
        &self.findings
    }

    /// Bytes read and judged.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The first findings in words, with their paths.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let path =
            |finding: &VerifyMismatch| self.paths.get(&finding.target).map_or("?", String::as_str);
        let first = self.findings.first().iter();
        first.map(move |finding| format!("{}: {finding}", path(finding)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Class, Expected, SectorContent};

    fn lost(path: &str) -> VerifyMismatch {
        let expected = Expected {
            least: 2,
            most: Some(2),
        };
        VerifyMismatch {
            class: Class::Lost,
            target: number_of_file(path),
            offset: 4096,
            bytes: 512,
            expected,
            found: SectorContent::Zeroes,
        }
    }

    #[test]
    fn each_finding_names_its_file_and_hosts_add_up() {
        let mut all = FileFindings::default();
        all.note(&[lost("a/b1")], "/mnt/a/b1", 8192);
        all.note(&[], "/mnt/a/b2", 8192);
        let mut other = FileFindings::default();
        other.note(&[lost("a/b3")], "/mnt/a/b3", 4096);
        all.merge(&other);
        assert_eq!((all.bytes(), all.counts().count(Class::Lost)), (20_480, 2));
        let sentences: Vec<String> = all.sentences().collect();
        let text = "lost at offset 4096 (512 bytes): expected write 2, found zeroes";
        assert_eq!(
            sentences,
            [format!("/mnt/a/b1: {text}"), format!("/mnt/a/b3: {text}")]
        );
    }
}
