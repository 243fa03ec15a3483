//! What was tried and what came of it, a row a case, for the table that `make faults` ends with.

use std::fs::OpenOptions;
use std::io::Write as _;

/// A file that all test programs of the campaign append their rows to.
const TABLE: &str = "SEEKSTONE_FAULTS_TABLE";
/// Faults of a row that are told in full.
const TOLD: usize = 6;

/// The rows of one test. What went wrong fails it when all of its cases are done.
pub struct Table {
    section: &'static str,
    failed: Vec<String>,
}

impl Table {
    pub const fn new(section: &'static str) -> Self {
        Self {
            section,
            failed: Vec::new(),
        }
    }

    /// One case: what was tried how often, what else is to be told, and what went wrong.
    pub fn row(&mut self, case: &str, tried: &str, faults: &[String]) {
        let outcome = match faults.len() {
            0 => "ok".to_owned(),
            count => format!("FAILED: {count} of them, such as: {}", faults[0]),
        };
        let section = self.section;
        let row = format!("{section:<9} {case:<24} {tried:<40} {outcome}\n");
        eprint!("{row}");
        if let Some(path) = std::env::var_os(TABLE) {
            let file = OpenOptions::new().append(true).create(true).open(path);
            file.and_then(|mut file| file.write_all(row.as_bytes()))
                .expect("the table");
        }
        let told = faults.iter().take(TOLD);
        self.failed.extend(told.map(|it| format!("{case}: {it}")));
    }

    /// Fail the test when any of its cases failed.
    #[track_caller]
    pub fn finish(self) {
        assert!(
            self.failed.is_empty(),
            "seed {}:\n{}",
            super::seed(),
            self.failed.join("\n")
        );
    }
}
