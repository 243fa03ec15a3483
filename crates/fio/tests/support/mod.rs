//! Surroundings that hold what a test puts into them.

use std::collections::BTreeMap;

use fio::Surroundings;

/// Files and variables by name.
#[allow(dead_code)]
#[derive(Default)]
pub struct Around {
    /// Texts of files.
    pub files: BTreeMap<String, String>,
    /// Variables.
    pub variables: BTreeMap<String, String>,
}

impl Surroundings for Around {
    fn include(&mut self, _: &str, path: &str) -> Result<String, String> {
        self.files.get(path).cloned().ok_or("no such file".into())
    }

    fn bytes(&mut self, path: &str) -> Result<Vec<u8>, String> {
        self.include("", path).map(String::into_bytes)
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn fact(&mut self, name: &str) -> Option<u64> {
        let facts = [("pagesize", 4096), ("mb_memory", 8192), ("ncpus", 4)];
        let found = facts.iter().find(|(fact, _)| *fact == name);
        found.map(|(_, value)| *value)
    }
}

/// Say that a test was not run, and why.
#[allow(dead_code, clippy::print_stderr)]
pub fn skipped(test: &str, why: &str) {
    eprintln!("skipped: {test}: {why}");
}
