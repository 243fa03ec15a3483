//! Archives: a file of any bytes, or one of ours with a document of any text.

use std::path::PathBuf;
use std::sync::LazyLock;

use archive::Archive;
use rusqlite::Connection;

static SCRATCH: LazyLock<PathBuf> = LazyLock::new(|| super::super::kit::scratch("archive"));

/// An archive of one run.
static SOUND: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = SCRATCH.join("sound.db");
    let mut archive = Archive::open(&path).expect("a new archive");
    archive.save(&mut sample::run()).expect("room in memory");
    drop(archive);
    std::fs::read(path).expect("it was written")
});

pub fn read(bytes: &[u8]) {
    let path = SCRATCH.join("fuzz.db");
    for beside in ["fuzz.db-wal", "fuzz.db-shm", "fuzz.db-journal"] {
        let _ = std::fs::remove_file(SCRATCH.join(beside));
    }
    match bytes.strip_prefix(b"document:") {
        Some(document) => {
            std::fs::write(&path, &*SOUND).expect("room in memory");
            let text = String::from_utf8_lossy(document);
            let connection = Connection::open(&path).expect("a sound archive");
            connection
                .execute("UPDATE runs SET document = ?", [text])
                .expect("a sound archive");
        }
        None => std::fs::write(&path, bytes).expect("room in memory"),
    }
    let Ok(archive) = Archive::open_existing(&path) else {
        return;
    };
    let _ = (archive.count(), archive.list(10));
    if let Ok(run) = archive.latest() {
        super::super::kit::report(&run, &report::Style::default());
    }
}
