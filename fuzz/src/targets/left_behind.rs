//! Markers of work directories, of data files and of scratch directories that killed runs left.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use drivers::Identity;
use lab::data_marker::{DataMarker, marker_path};
use study::LeftScratch;

static SCRATCH: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = super::super::kit::scratch("left");
    for name in [
        ".seekstone-0123456789abcdef",
        ".seekstone-study-0123456789abcdef",
    ] {
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(path.join(name))
            .expect("a directory");
    }
    path
});

fn write(path: &Path, bytes: &[u8]) {
    let mut options = std::fs::OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path).expect("room in memory");
    std::io::Write::write_all(&mut file, bytes).expect("room in memory");
}

pub fn read(bytes: &[u8]) {
    let work = SCRATCH.join(".seekstone-0123456789abcdef");
    let study = SCRATCH.join(".seekstone-study-0123456789abcdef");
    write(&work.join(drivers::MARKER_NAME), bytes);
    let text = String::from_utf8_lossy(bytes);
    // A record is believed only in its own directory.
    let directory = File::open(&study)
        .and_then(Identity::of)
        .expect("it was made");
    let record = text.replace("DIRECTORY", &directory.text());
    write(&study.join(".seekstone-record"), record.as_bytes());
    let data = SCRATCH.join("data");
    write(&data, b"of a user");
    write(&marker_path(&data), checked(&text).as_bytes());
    let _ = drivers::find_stale(&SCRATCH);
    let _ = drivers::find_closed(&SCRATCH);
    let _ = LeftScratch::at(&study);
    let marker = DataMarker::read(&data).expect("it can be read");
    if let Some(marker) = marker {
        let file = File::open(&data).expect("it was made");
        assert!(
            !marker.proves(&file).expect("it can be read"),
            "a user's file passed for ours"
        );
    }
    let _ = lab::left_over::data_files(&SCRATCH);
}

/// The marker of a data file ends with a sum over all before, which no fuzzer finds.
fn checked(text: &str) -> String {
    match text.split_once("check SUM") {
        Some((said, rest)) => {
            let sum = crc32fast::hash(said.as_bytes());
            format!("{said}check {sum:08x}{rest}")
        }
        None => text.to_owned(),
    }
}
