//! Markers of work directories and of scratch directories that killed runs left.
#![no_main]

use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use runner::study::LeftScratch;

static SCRATCH: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = fuzz::scratch("left");
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

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let work = SCRATCH.join(".seekstone-0123456789abcdef");
    let study = SCRATCH.join(".seekstone-study-0123456789abcdef");
    write(&work.join(drivers::MARKER_NAME), bytes);
    // A record is believed only in its own directory.
    let inode = study.metadata().expect("it was made").ino().to_string();
    let record = String::from_utf8_lossy(bytes).replace("INODE", &inode);
    write(&study.join(".seekstone-record"), record.as_bytes());
    let _ = drivers::find_stale(&SCRATCH);
    let _ = drivers::find_closed(&SCRATCH);
    let _ = LeftScratch::at(&study);
});
