//! Application profiles: the I/O of each application, and its requirements. They are texts in
//! `profiles/`, explained in docs/profiles.md.

mod answer;
mod reader;

use units::{Bytes, Rate};

use crate::requirement::Requirement;

pub use answer::{APPLICATIONS, applications};
pub use reader::read_profile;

/// Names and texts of the built-in profiles, in the order of lists.
const PROFILES: [(&str, &str); 12] = units::named_texts![
    "../../../profiles/": "postgres" "mysql" "etcd" "kafka" "redis" "elasticsearch" "rocksdb"
    "video" "vm" "ci" "backup" "training"
];

/// The names of the built-in profiles.
pub fn profile_names() -> impl Iterator<Item = &'static str> {
    PROFILES.iter().map(|(name, _)| *name)
}

/// The text of a built-in profile.
pub fn profile_text(name: &str) -> Option<&'static str> {
    let found = PROFILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// The I/O of an application, and its requirements.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationProfile {
    /// The name to type.
    pub name: String,
    /// Name of the application in sentences.
    pub title: String,
    /// Steps, measured one after the other.
    pub steps: Vec<ProfileStep>,
}

/// One measured load.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileStep {
    /// Unique in its profile, in kebab case.
    pub name: String,
    pub title: String,
    /// What limits the application here, such as fsync.
    pub part: String,
    /// What the answer counts in this step, such as commits; `None` if it does not represent the
    /// application's throughput.
    pub supports: Option<String>,
    /// The measured load.
    pub load: ProfileLoad,
    /// Concurrent loads.
    pub beside: Vec<ProfileLoad>,
    pub limits: Vec<ProfileLimit>,
}

/// A group of equal clients.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileLoad {
    pub operation: LoadOperation,
    /// Bytes per operation, or per log record.
    pub io: Bytes,
    pub order: LoadOrder,
    /// Whether each write is followed by `fdatasync`.
    pub is_synced: bool,
    /// Whether the page cache is used.
    pub is_cached: bool,
    /// Number of clients, or of log writers.
    pub clients: PerMachine,
    /// Operations per second of all clients; `None` for a closed loop.
    pub rate: Option<PerMachine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadOperation {
    Read,
    Write,
    /// Records are appended to one log and made durable. Waiting ones are committed together.
    Log,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadOrder {
    Random,
    Sequential,
}

/// A number that may scale with the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerMachine {
    pub value: f64,
    /// Whether it is per core.
    pub is_per_core: bool,
}

/// A requirement on a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileLimit {
    /// A goal on the step, such as `p99 <= 10ms`.
    pub limit: String,
    /// Source.
    pub source: String,
    /// What the source states.
    pub reason: String,
}

impl PerMachine {
    /// The number on a machine with that many cores.
    pub fn on(self, cores: u32) -> f64 {
        match self.is_per_core {
            true => self.value * f64::from(cores.max(1)),
            false => self.value,
        }
    }

    /// Parses `16`, `2 per core`, `500/s` or `500/s per core`.
    fn parse(text: &str) -> Option<Self> {
        let (number, is_per_core) = match text.trim().strip_suffix("per core") {
            Some(number) => (number.trim(), true),
            None => (text.trim(), false),
        };
        let value = match number.contains('/') {
            true => number.parse::<Rate>().ok()?.per_second(),
            false => number.parse().ok()?,
        };
        (value > 0.0).then_some(Self { value, is_per_core })
    }
}

impl ApplicationProfile {
    /// The name of a step's measurement.
    pub fn measurement(&self, step: &ProfileStep) -> String {
        format!("{}-{}", self.name, step.name)
    }

    /// The limits of a step as goals of a run.
    ///
    /// # Panics
    /// Never: the reader refuses a limit that is no goal.
    pub fn requirements_of(&self, step: &ProfileStep) -> Vec<Requirement> {
        let name = self.measurement(step);
        let limits = step.limits.iter();
        limits
            .map(|it| {
                let goal = format!("{name}.{}", it.limit);
                goal.parse().expect("a limit that the reader has read")
            })
            .collect()
    }

    /// The limits of all steps.
    pub fn requirements(&self) -> Vec<Requirement> {
        let steps = self.steps.iter();
        steps.flat_map(|it| self.requirements_of(it)).collect()
    }

    /// Whether any step writes.
    pub fn writes(&self) -> bool {
        let mut loads = self
            .steps
            .iter()
            .flat_map(|it| it.beside.iter().chain([&it.load]));
        loads.any(|it| it.operation != LoadOperation::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/profiles.md");

    #[test]
    fn every_profile_is_one_and_its_limits_stand_on_the_page_with_their_sources() {
        for (name, text) in PROFILES {
            let profile = read_profile(name, text).unwrap_or_else(|faults| panic!("{faults}"));
            assert_eq!(profile.name, name);
            assert!(!profile.requirements().is_empty(), "{name}");
            for step in &profile.steps {
                for ProfileLimit { limit, source, .. } in &step.limits {
                    let begin = format!("| `{name}` | {} | `{limit}` |", step.title);
                    let line = PAGE.lines().find(|it| it.starts_with(&begin));
                    let line = line.unwrap_or_else(|| panic!("no line {begin}"));
                    assert!(line.contains(source.as_str()), "{line}");
                }
            }
        }
    }

    #[test]
    fn numbers_may_grow_with_the_cores() {
        let on_four = |text: &str| PerMachine::parse(text).map(|it| it.on(4));
        assert_eq!(on_four("16"), Some(16.0));
        assert_eq!(on_four("2 per core"), Some(8.0));
        assert_eq!(on_four("500/s"), Some(500.0));
        assert_eq!(on_four("1k/s per core"), Some(4000.0));
        assert_eq!(on_four("many"), None);
        assert_eq!(on_four("0"), None);
    }

    #[test]
    fn all_mistakes_of_a_profile_are_told_with_their_lines() {
        let text = "name = \"x\"\ntitle = \"X\"\n\n[[steps]]\nname = \"a\"\ntitle = \"A\"\n\
                    operation = \"erase\"\nio = \"4 KiB\"\nclients = \"many\"\ncolour = 1\n";
        let faults = read_profile("x.toml", text).expect_err("mistakes");
        let faults = faults.to_string();
        for told in [
            "x.toml:7",
            "\"part\" is missing",
            "\"erase\" is not one of read, write, log",
            "\"many\" is not a number",
            "colour",
        ] {
            assert!(faults.contains(told), "{told}: {faults}");
        }
    }
}
