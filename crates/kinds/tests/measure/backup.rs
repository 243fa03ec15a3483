//! `backup`: trees, images and files of our own; damage that is seen, and made up for.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::{Path, PathBuf};

use backup_stream::{EntryKind, StreamLayout};
use drivers::WorkDirectory;
use host::interrupt::Interrupt;
use kinds::measure::MeasureError;
use kinds::measure::backup::{BackupItem, find_items, restore, save, verify};
use kinds::measure::place::owner;
use kinds::measure::records::Named;

use crate::support::{assert_empty, measured, names, place, reading, refused, try_measured};

const BLOCK: u64 = 4096;

#[test]
fn files_of_our_own_are_saved_verified_and_restored() {
    let (directory, place) = place();
    let readings = measured(
        "backup",
        "files = 5\nsize = 100000\nblock = \"8KiB\"",
        &place,
    );
    let expected = [
        "save rate",
        "save CPU",
        "verify rate",
        "verify CPU",
        "backup rate",
        "restore rate",
        "restore CPU",
        "repaired",
        "stream size",
        "overhead",
    ];
    assert_eq!(names(&readings), expected);
    // 500,000 bytes, 5 heads of 16 and names of 10, and the end of 16; in blocks of 8,152 these are
    // 62, with 7 of redundancy, a first and a last one.
    assert!(
        (reading(&readings, "stream size") - 71.0 * 8192.0).abs() < 1e-6,
        "{readings:?}"
    );
    assert!(reading(&readings, "repaired").abs() < 1e-9);
    let only = measured(
        "backup",
        "files = 1\nsize = 1\nverify = false\nrestore = false",
        &place,
    );
    assert_eq!(
        names(&only),
        [
            "save rate",
            "save CPU",
            "backup rate",
            "stream size",
            "overhead"
        ]
    );
    let rates = ["save rate", "backup rate"].map(|name| reading(&only, name));
    assert!((rates[0] / rates[1] - 1.0).abs() < 1e-9, "{rates:?}");
    assert_empty(&directory);
}

#[test]
fn the_layout_changes_the_size_and_not_the_content() {
    let (_directory, place) = place();
    let size = |settings: &str| {
        let all = format!("files = 3\nsize = 30000\nblock = \"1KiB\"\n{settings}");
        reading(&measured("backup", &all, &place), "stream size") / 1024.0
    };
    // 90,094 bytes of content in payloads of 984: 92 blocks.
    for (settings, expected) in [
        ("group = 0", 94.0),
        ("group = 0\ncrc = false", 94.0),
        ("group = 4", 117.0),
        ("group = 1000", 95.0),
    ] {
        assert!(
            (size(settings) - expected).abs() < 1e-9,
            "{settings}: {}",
            size(settings)
        );
    }
}

/// A tree with everything that may be in one.
fn tree(top: &Path) {
    fs::create_dir_all(top.join("a/b")).expect("directories");
    fs::write(top.join("a/b/long"), vec![7; 300_000]).expect("a file");
    fs::write(top.join("a/empty"), "").expect("a file");
    fs::write(top.join("z"), "last").expect("a file");
    symlink("a/b/long", top.join("link")).expect("a link");
    symlink("/no/such/place", top.join("dangling")).expect("a link");
    rustix::fs::mkfifoat(rustix::fs::CWD, top.join("pipe"), rustix::fs::Mode::RUSR)
        .expect("a pipe");
}

#[test]
fn a_tree_of_the_users_is_saved_whole_and_stays_as_it_was() {
    let (directory, place) = place();
    let source = tempfile::tempdir().expect("a directory");
    tree(source.path());
    let items = find_items(source.path(), &Interrupt::never()).expect("a tree");
    let listed: Vec<(String, EntryKind)> = items
        .iter()
        .map(|item| {
            (
                String::from_utf8_lossy(&item.entry.name).into_owned(),
                item.entry.kind,
            )
        })
        .collect();
    let expected = [
        ("a", EntryKind::Directory),
        ("dangling", EntryKind::Link),
        ("link", EntryKind::Link),
        ("z", EntryKind::File),
        ("a/b", EntryKind::Directory),
        ("a/empty", EntryKind::File),
        ("a/b/long", EntryKind::File),
    ];
    assert_eq!(listed, expected.map(|(name, kind)| (name.to_owned(), kind)));
    let readings = measured(
        "backup",
        &format!("source = {:?}", source.path().display()),
        &place,
    );
    assert!(reading(&readings, "save rate") > 0.0);
    assert_eq!(fs::read(source.path().join("z")).expect("a file"), b"last");
    assert_empty(&directory);
}

#[test]
fn a_tree_that_holds_the_target_leaves_our_own_directories_out() {
    let (directory, place) = place();
    fs::write(directory.path().join("mine"), "x").expect("a file");
    measured(
        "backup",
        &format!("source = {:?}", directory.path().display()),
        &place,
    );
    let left = fs::read_dir(directory.path()).expect("a directory").count();
    assert_eq!(left, 1);
}

/// Story: an empty directory gave a rate of zero and a stream 30,000 times as large as its source.
#[test]
fn a_source_without_a_byte_is_refused() {
    let (directory, place) = place();
    let source = tempfile::tempdir().expect("a directory");
    let check = |path: &Path| {
        let settings = format!("source = {:?}", path.display());
        let error = try_measured("backup", &settings, &place).expect_err("nothing there");
        assert!(matches!(error, MeasureError::Usage(_)), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("nothing to save"), "{text}");
        assert_empty(&directory);
    };
    check(source.path());
    let empty = source.path().join("empty");
    fs::write(&empty, "").expect("a file");
    check(&empty);
    check(source.path());
}

#[test]
fn an_image_is_saved_as_one_piece() {
    let (directory, place) = place();
    let image = directory.path().join("image");
    let content: Vec<u8> = (0..200_003_u32).map(|byte| (byte % 253) as u8).collect();
    fs::write(&image, &content).expect("an image");
    let items = find_items(&image, &Interrupt::never()).expect("an image");
    assert_eq!((items.len(), items[0].entry.kind), (1, EntryKind::Image));
    measured("backup", &format!("source = {:?}", image.display()), &place);
    assert_eq!(fs::read(&image).expect("an image"), content);
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    assert_eq!(
        refused("backup", "source = \"/x\"\nfiles = 3"),
        "files: files applies to files that are made. Leave it out with source"
    );
    assert_eq!(
        refused("backup", "block = 100"),
        "block: block = \"100\": it is a size from 512 B to 16 MiB"
    );
    let (_directory, place) = place();
    let error = try_measured("backup", "source = \"/dev/null\"", &place).expect_err("no storage");
    assert!(
        error
            .to_string()
            .contains("name a directory, a file, or a block device"),
        "{error}"
    );
}

/// A saved stream, and what was saved.
struct Saved {
    directory: tempfile::TempDir,
    items: Vec<BackupItem>,
    stream: PathBuf,
}

impl Saved {
    fn new(group: u16) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let source = directory.path().join("source");
        fs::create_dir(&source).expect("a directory");
        tree(&source);
        let items = find_items(&source, &Interrupt::never()).expect("a tree");
        let stream = directory.path().join("stream");
        let layout = StreamLayout {
            block: BLOCK as u32,
            group,
            is_checked: true,
            id: 11,
        };
        let file = File::create_new(&stream).expect("a file");
        let to = Named {
            file: &file,
            path: &stream,
        };
        save(&items, &layout, to, &Interrupt::never()).expect("a stream");
        Self {
            directory,
            items,
            stream,
        }
    }

    fn open(&self) -> File {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(&self.stream)
            .expect("the stream")
    }

    fn verify(&self) -> Result<(), MeasureError> {
        let file = self.open();
        let from = Named {
            file: &file,
            path: &self.stream,
        };
        verify(&self.items, from, &Interrupt::never()).map(drop)
    }

    fn restore(&self) -> Result<u64, MeasureError> {
        let file = self.open();
        let from = Named {
            file: &file,
            path: &self.stream,
        };
        let directory = WorkDirectory::create(self.directory.path(), &owner("test"))?;
        let restored = restore(from, &directory, &Interrupt::never())?;
        restored.compare(&self.items, &Interrupt::never())?;
        directory.remove()?;
        Ok(restored.repaired)
    }

    /// What is wrong, without the path.
    fn complaint(&self) -> String {
        let error = self.verify().expect_err("a damaged stream").to_string();
        let prefix = format!("{} is damaged: ", self.stream.display());
        error.strip_prefix(&prefix).unwrap_or(&error).to_owned()
    }

    fn flip(&self, byte: u64) {
        let file = self.open();
        let mut found = [0];
        file.read_exact_at(&mut found, byte).expect("a byte");
        file.write_all_at(&[found[0] ^ 0x10], byte).expect("a byte");
    }
}

#[test]
fn a_flipped_bit_is_seen_and_made_up_for() {
    let saved = Saved::new(4);
    saved.verify().expect("a sound stream");
    assert_eq!(saved.restore().expect("a sound stream"), 0);
    saved.flip(7 * BLOCK + 1234);
    assert_eq!(
        saved.complaint(),
        "block 7 does not hold what was written (made up for by redundancy)"
    );
    assert_eq!(saved.restore().expect("one bad block of a group"), 1);
    saved.flip(8 * BLOCK + 4095);
    assert_eq!(
        saved.complaint(),
        "block 7 does not hold what was written; block 8 does not hold what was written"
    );
    let error = saved.restore().expect_err("two bad blocks of a group");
    assert!(error.to_string().contains("is damaged: block 7"), "{error}");
}

#[test]
fn a_stream_that_was_cut_off_is_seen() {
    let saved = Saved::new(4);
    let len = saved.open().metadata().expect("a length").len();
    saved.open().set_len(len - BLOCK).expect("a shorter stream");
    let complaint = saved.complaint();
    assert!(
        complaint.contains("the stream was cut off: it ends with block"),
        "{complaint}"
    );
    saved.restore().expect_err("a stream that was cut off");
    saved
        .open()
        .set_len(len / 2 + 100)
        .expect("a shorter stream");
    assert!(saved.complaint().contains("the stream was cut off"));
    saved.open().set_len(10).expect("a shorter stream");
    assert!(
        saved
            .complaint()
            .contains("it does not begin with the first block")
    );
}

#[test]
fn swapped_blocks_are_seen() {
    let saved = Saved::new(0);
    let file = saved.open();
    let (mut third, mut ninth) = (vec![0; BLOCK as usize], vec![0; BLOCK as usize]);
    file.read_exact_at(&mut third, 3 * BLOCK).expect("a block");
    file.read_exact_at(&mut ninth, 9 * BLOCK).expect("a block");
    file.write_all_at(&third, 9 * BLOCK).expect("a block");
    file.write_all_at(&ninth, 3 * BLOCK).expect("a block");
    assert_eq!(
        saved.complaint(),
        "block 9 stands in the place of block 3; block 3 stands in the place of block 9"
    );
    saved.restore().expect_err("swapped blocks");
}

#[test]
fn a_source_that_was_changed_after_it_was_saved_is_seen() {
    let saved = Saved::new(4);
    let path = saved.directory.path().join("source/z");
    fs::write(&path, "lost").expect("a file");
    let error = saved.verify().expect_err("another content").to_string();
    assert!(
        error.contains("source/z differs from what was saved"),
        "{error}"
    );
    fs::write(&path, "").expect("a file");
    let error = saved.verify().expect_err("less content").to_string();
    assert!(
        error.contains("source/z was cut short while it was read"),
        "{error}"
    );
}
