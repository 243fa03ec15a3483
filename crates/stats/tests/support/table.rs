//! Measured against allowed, one cell a line: the artefact of the acceptance test.

use std::fmt::Write;
use std::ops::RangeInclusive;

#[derive(Default)]
pub struct Table {
    text: String,
    failures: Vec<String>,
}

impl Table {
    pub fn new(title: &str) -> Self {
        Self {
            text: format!("\n{title}\n"),
            failures: Vec::new(),
        }
    }

    /// One number that must lie in `band`; `note` says what else was measured.
    pub fn cell(&mut self, name: &str, value: f64, band: RangeInclusive<f64>, note: &str) {
        let is_good = band.contains(&value);
        let mark = if is_good { "" } else { "   <-- OUTSIDE" };
        let (low, high) = (band.start(), band.end());
        let line = format!("{name:<42} {value:7.3}   [{low:.3}, {high:.3}]  {note}{mark}");
        let _ = writeln!(self.text, "{line}");
        if !is_good {
            self.failures.push(line);
        }
    }

    /// Prints the table and fails the test if a cell lies outside its band.
    #[allow(clippy::print_stdout, reason = "the table is the test's artefact")]
    pub fn finish(self) {
        println!("{}", self.text);
        assert!(
            self.failures.is_empty(),
            "seeds are hash(row name's process, replication 0..):\n{}",
            self.failures.join("\n")
        );
    }
}
