//! The measured places of a study, each on different storage.

use results::{Caution, TargetDescription, Warning};
use serde::{Deserialize, Serialize};

use super::scratch::without_digits;

/// A measured place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenPlace {
    /// Index of the cell measured there.
    pub cell: usize,
    /// Its description, and the storage below it.
    pub description: TargetDescription,
    /// Its cautions.
    pub cautions: Vec<Caution>,
}

/// Targets on different storage.
#[derive(Clone, Debug, Default)]
pub struct SeenPlaces {
    /// The study's own target as named.
    target: String,
    seen: Vec<SeenPlace>,
}

impl SeenPlaces {
    /// Places of an earlier process, with the study's own target identified.
    pub fn new(target: &str, earlier: Vec<SeenPlace>) -> Self {
        let target = target.to_owned();
        Self {
            target,
            seen: earlier,
        }
    }

    /// Adds a place. Returns whether it is new.
    pub fn add(&mut self, place: SeenPlace) -> bool {
        let found = storage_of(&place.description);
        let mut seen = self.seen.iter_mut();
        let Some(known) = seen.find(|known| storage_of(&known.description) == found) else {
            self.seen.push(place);
            return true;
        };
        known.cell = known.cell.min(place.cell);
        let is_own = place.description.given == self.target;
        let is_better = is_own && known.description.given != self.target;
        if is_better {
            known.description = place.description;
        }
        is_better
    }

    /// The study's own target first, the others in the order of the cells; and what would mislead
    /// of each, by its name where there are several.
    pub fn merged(mut self) -> (Vec<TargetDescription>, Vec<Warning>) {
        let target = &self.target;
        self.seen
            .sort_by_key(|it| (it.description.given != *target, it.cell));
        let mut warnings: Vec<Warning> = Vec::new();
        for (at, place) in self.seen.iter().enumerate() {
            for caution in &place.cautions {
                // Cautions about the machine are repeated for each place.
                if self.seen[..at]
                    .iter()
                    .any(|it| it.cautions.contains(caution))
                {
                    continue;
                }
                let note = caution.as_warning(results::Severity::Info);
                warnings.push(match at {
                    0 => note,
                    _ => note.of(&place.description.given),
                });
            }
        }
        let places = self.seen.into_iter().map(|it| it.description);
        (places.collect(), warnings)
    }
}

/// Whether two places are on the same storage.
pub(super) fn is_same_storage(one: &TargetDescription, other: &TargetDescription) -> bool {
    storage_of(one) == storage_of(other)
}

/// The storage of a place, ignoring its name and how full it is.
fn storage_of(place: &TargetDescription) -> TargetDescription {
    let mut storage = TargetDescription {
        given: String::new(),
        path: String::new(),
        size_bytes: None,
        allocated_bytes: None,
        ..place.clone()
    };
    if place.file_system.is_none() && place.devices.is_empty() {
        // A model is identified by its name.
        storage.path.clone_from(&place.path);
    }
    if let Some(system) = &mut storage.file_system {
        // The scratch directory has another name when the study is resumed.
        system.mount_point = without_digits(&system.mount_point);
        (system.available_bytes, system.files_free) = (None, None);
    }
    storage
}

#[cfg(test)]
mod tests {
    use results::WarningCode;
    use results::environment::{FileSystem, TargetKind};

    use super::*;

    fn place(
        cell: usize,
        given: &str,
        mount_point: &str,
        free: u64,
        cautions: &[&str],
    ) -> SeenPlace {
        let caution = |text: &&str| Caution {
            code: WarningCode::VirtualDisk,
            cause: (*text).to_owned(),
            advice: String::new(),
        };
        SeenPlace {
            cell,
            description: TargetDescription {
                given: given.into(),
                path: format!("/real/{given}"),
                kind: TargetKind::Directory,
                size_bytes: None,
                allocated_bytes: None,
                file_system: Some(FileSystem {
                    kind: "ext4".into(),
                    source: "/dev/sda1".into(),
                    mount_point: mount_point.into(),
                    options: Vec::new(),
                    super_options: Vec::new(),
                    read_only: false,
                    size_bytes: Some(1 << 30),
                    available_bytes: Some(free),
                    files_free: Some(free),
                }),
                devices: Vec::new(),
                memory_backed: false,
                remote: false,
                raid: None,
            },
            cautions: cautions.iter().map(caution).collect(),
        }
    }

    #[test]
    fn targets_on_the_same_storage_are_one_and_the_own_one_comes_first() {
        let mut places = SeenPlaces::new(".", vec![place(3, "/mnt", "/mnt", 5, &["slow", "hot"])]);
        let scratch = |digits: &str| format!("/t/.seekstone-study-{digits}/mnt");
        assert!(places.add(place(
            2,
            "x",
            &scratch("0123456789abcdef"),
            9,
            &["hot", "odd"]
        )));
        assert!(!places.add(place(1, "y", &scratch("f123456789abcdef"), 8, &[])));
        assert!(places.add(place(7, "/", "/", 1, &["hot"])));
        assert!(places.add(place(8, ".", "/", 2, &["hot"])));
        assert!(!places.add(place(0, "/", "/", 3, &["hot"])));
        let (merged, warnings) = places.merged();
        let given: Vec<&str> = merged.iter().map(|it| it.given.as_str()).collect();
        assert_eq!(given, [".", "x", "/mnt"]);
        let texts: Vec<&str> = warnings.iter().map(|it| it.cause.as_str()).collect();
        assert_eq!(texts, ["hot", "x: odd", "/mnt: slow"]);
    }
}
