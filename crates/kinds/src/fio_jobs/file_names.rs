//! Which files a copy of a job has, and how large they are.

use std::path::{Path, PathBuf};

use fio::Job;
use random::{Purpose, Stream};

/// The files of a copy of a job.
pub(super) fn paths(job: &Job, copy: u32) -> Vec<PathBuf> {
    if !job.files.names.is_empty() {
        return job.files.names.iter().map(PathBuf::from).collect();
    }
    let directories = &job.files.directories;
    let directory = match directories.len() {
        0 => PathBuf::new(),
        count => PathBuf::from(&directories[copy as usize % count]),
    };
    let named = |file: u32| {
        let name = job.files.format.replace("$jobname", &job.section);
        let name = name.replace("$jobnum", &copy.to_string());
        directory.join(name.replace("$filenum", &file.to_string()))
    };
    let mut paths: Vec<PathBuf> = (0..job.files.count).map(named).collect();
    paths.dedup();
    paths
}

/// A size of a file, drawn by its name: the same in each run, and on each host. At least a block,
/// where the range allows it.
pub(super) fn size_between((least, most): (u64, u64), path: &Path, block: u64) -> u64 {
    let least = least.max(block.min(most));
    let name = path.as_os_str().as_encoded_bytes();
    let number = name.iter().fold(0_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
    });
    let mut stream = Stream::new(number, 0, Purpose::Size);
    let size = least + stream.below((most - least).saturating_add(1));
    // As in fio, whole blocks of what is drawn.
    match size / block {
        1.. if least < most => size - size % block,
        _ => size,
    }
}

/// Whether a copy has the files of an earlier one, which alone uses them in fio: none of
/// `filename`, and no number in the names that `filename_format` makes.
pub(super) fn shares_files(job: &Job, copy: u32) -> bool {
    let mut given = job.given.iter();
    let directories = job.files.directories.len().max(1) as u32;
    job.files.names.is_empty()
        && copy >= directories
        && given.any(|it| it.option.name == "filename_format")
        && !job.files.format.contains("$jobnum")
}
