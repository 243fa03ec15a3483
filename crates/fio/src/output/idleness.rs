//! Idleness of the processors, which fio reports with `--idle-prof`.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// How it was measured; fio uses threads of the lowest priority that count their work.
const SOURCE: &str = "idle and iowait in /proc/stat. No unit work was done";

/// Idle percentages of the processors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idleness {
    /// Of all together.
    pub system: f64,
    /// Of each in order, if requested.
    pub each: Option<Vec<f64>>,
}

impl Idleness {
    /// The end of fio's normal report.
    pub fn text(&self) -> String {
        let mut text = format!("\nCPU idleness:\n  system: {:.2}%\n", self.system);
        if let Some(each) = &self.each {
            let each: Vec<String> = each.iter().map(|it| format!("{it:.2}%")).collect();
            let _ = writeln!(text, "  percpu: {}", each.join(", "));
        }
        let _ = writeln!(text, "  measured by: {SOURCE}");
        text
    }

    /// fio's `cpu_idleness`.
    pub(super) fn json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("system".into(), self.system.into());
        for (number, share) in self.each.iter().flatten().enumerate() {
            fields.insert(format!("cpu-{number}"), (*share).into());
        }
        fields.insert("unit_mean".into(), 0.0.into());
        fields.insert("unit_stddev".into(), 0.0.into());
        fields.insert("seekstone".into(), SOURCE.into());
        Value::Object(fields)
    }
}
