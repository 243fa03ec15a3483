//! What the disks beneath jobs did, as the kernel counts it for all processes: fio's `disk_util`.
//! Source of the fields: the kernel's `Documentation/block/stat.rst`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use fio::Job;
use fio::output::DiskUse;
use host::inspect;
use units::TargetName;

/// Disks, and what they had done when they were looked at.
pub struct Disks {
    looked: Instant,
    first: Vec<(String, Counts)>,
}

/// The fields of a disk's `stat`.
type Counts = [u64; 11];

impl Disks {
    /// Those beneath the files and directories of jobs; models have none.
    pub fn look(jobs: &[Job]) -> Self {
        let mut names: Vec<String> = Vec::new();
        for path in jobs.iter().flat_map(places) {
            let Ok((description, _)) = inspect::inspect(&path) else {
                continue;
            };
            // As in fio, what is beneath a loop device is not its own.
            let mut is_own = true;
            let own = description.devices.into_iter().take_while(|device| {
                let is_last = device.name.starts_with("loop");
                std::mem::replace(&mut is_own, !is_last)
            });
            for device in own {
                if !names.contains(&device.name) {
                    names.push(device.name);
                }
            }
        }
        let counted = names.into_iter();
        Self {
            first: counted
                .filter_map(|name| counts(&name).map(|it| (name, it)))
                .collect(),
            looked: Instant::now(),
        }
    }

    /// What they did since.
    pub fn done(&self) -> Vec<DiskUse> {
        let elapsed_ms = self.looked.elapsed().as_secs_f64() * 1000.0;
        let disk = |(name, first): &(String, Counts)| {
            Some(use_of(name, (first, &counts(name)?), elapsed_ms))
        };
        self.first.iter().filter_map(disk).collect()
    }
}

/// Where a job's files are, or will be.
fn places(job: &Job) -> Vec<PathBuf> {
    let files = &job.files;
    if job.engine.kind == fio::EngineKind::Null {
        return Vec::new();
    }
    if files.names.is_empty() {
        return match files.directories.as_slice() {
            [] => vec![PathBuf::from(".")],
            named => named.iter().map(PathBuf::from).collect(),
        };
    }
    let names = files.names.iter();
    let names = names.filter(|name| !TargetName::from(name.as_str()).is_model());
    let place = |name: &String| {
        let path = PathBuf::from(name);
        match (path.exists(), path.parent()) {
            (false, Some(parent)) if parent != Path::new("") => parent.to_owned(),
            (false, _) => PathBuf::from("."),
            (true, _) => path,
        }
    };
    names.map(place).collect()
}

fn counts(name: &str) -> Option<Counts> {
    let text = std::fs::read_to_string(format!("/sys/class/block/{name}/stat")).ok()?;
    let fields = text.split_whitespace().map_while(|it| it.parse().ok());
    let fields: Vec<u64> = fields.collect();
    fields.get(..11)?.try_into().ok()
}

fn use_of(name: &str, (first, last): (&Counts, &Counts), elapsed_ms: f64) -> DiskUse {
    let since = |field: usize| last[field].saturating_sub(first[field]);
    DiskUse {
        name: name.to_owned(),
        operations: [since(0), since(4)],
        merges: [since(1), since(5)],
        ticks_ms: [since(3), since(7)],
        queue_ms: since(10),
        busy_percent: (since(9) as f64 * 100.0 / elapsed_ms.max(1.0)).min(100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_s_use_is_the_difference_of_two_looks() {
        let first = [10, 1, 80, 5, 20, 2, 160, 6, 0, 100, 50];
        let last = [110, 4, 880, 25, 60, 7, 480, 36, 3, 350, 95];
        let expected = DiskUse {
            name: "sda".into(),
            operations: [100, 40],
            merges: [3, 5],
            ticks_ms: [20, 30],
            queue_ms: 45,
            busy_percent: 25.0,
        };
        assert_eq!(use_of("sda", (&first, &last), 1000.0), expected);
        assert_eq!(use_of("sda", (&first, &last), 100.0).busy_percent, 100.0);
    }
}
