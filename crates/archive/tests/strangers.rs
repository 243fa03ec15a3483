//! What somebody else put where an archive is to be, or beside it, stays as it is.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use archive::{Archive, ArchiveError, side_files};
use rusqlite::Connection;
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("archive.db");
    (directory, path)
}

#[track_caller]
fn refused(path: &Path) -> ArchiveError {
    let error = Archive::open(path).expect_err("it is refused");
    let existing = Archive::open_existing(path).expect_err("it is refused");
    if path.exists() {
        assert_eq!(error.to_string(), existing.to_string());
    }
    error
}

fn save(path: &Path) {
    let mut archive = Archive::open(path).expect("an archive");
    archive.save(&mut sample::run()).expect("saved");
}

/// SQLite deleted a user's file for having the name of a journal.
#[test]
fn files_with_names_that_sqlite_needs_are_kept_and_named() {
    for side in 0..3 {
        let (_directory, path) = place();
        let side = &side_files(&path)[side];
        for content in ["", "precious"] {
            fs::write(side, content).expect("a file");
            let error = refused(&path).to_string();
            let expected = format!("needs the names {} for itself", side.display());
            assert!(error.contains(&expected), "{error}");
            assert_eq!(fs::read_to_string(side).expect("there"), content);
            assert!(!path.exists(), "nothing was made");
        }
    }
}

/// SQLite opens its journal by name, long after the archive was opened, and removed it by name.
#[test]
fn a_file_that_takes_the_journals_name_while_the_archive_is_open_stays() {
    let (directory, path) = place();
    let mut archive = Archive::open(&path).expect("an archive");
    let journal = &side_files(&path)[0];
    fs::write(journal, "precious").expect("a file");
    let error = archive
        .save(&mut sample::run())
        .expect_err("it is in the way");
    assert!(matches!(error, ArchiveError::SideFiles { .. }), "{error}");
    assert_eq!(fs::read_to_string(journal).expect("there"), "precious");
    fs::remove_file(journal).expect("removed");
    assert_eq!(archive.save(&mut sample::run()).expect("saved"), 1);
    assert_eq!(archive.count().expect("counted"), 1);
    drop(archive);
    let names = fs::read_dir(directory.path()).expect("a list").count();
    assert_eq!(names, 1, "the archive alone");
}

#[test]
fn beside_an_archive_only_what_sqlite_writes_is_let_be() {
    let (_directory, path) = place();
    save(&path);
    let [journal, log, index] = side_files(&path);
    for side in [&journal, &log, &index] {
        fs::write(side, "precious").expect("a file");
        let error = refused(&path);
        assert!(matches!(error, ArchiveError::SideFiles { .. }), "{error}");
        assert_eq!(fs::read_to_string(side).expect("there"), "precious");
        fs::remove_file(side).expect("removed");
        symlink("elsewhere", side).expect("a link");
        let error = refused(&path);
        assert!(matches!(error, ArchiveError::SideFiles { .. }), "{error}");
        fs::remove_file(side).expect("removed");
    }
    // What a program that was killed may leave.
    fs::write(&journal, [0; 512]).expect("a journal without a header");
    save(&path);
    // A user may have chosen a write-ahead log.
    let user = Connection::open(&path).expect("SQLite opens it");
    let mode: String = user
        .query_row("PRAGMA journal_mode = wal", [], |row| row.get(0))
        .expect("a mode");
    assert_eq!(mode, "wal");
    user.execute_batch("UPDATE runs SET headline = 'another'")
        .expect("changed");
    assert!(log.exists() && index.exists());
    save(&path);
    let archive = Archive::open_existing(&path).expect("it opens");
    assert_eq!(archive.count().expect("countable"), 3);
}

/// An empty file of the user's became an archive.
#[test]
fn an_empty_file_is_no_archive() {
    let (_directory, path) = place();
    fs::write(&path, "").expect("a file");
    let error = refused(&path).to_string();
    assert!(error.contains("but an empty file"), "{error}");
    assert_eq!(fs::metadata(&path).expect("there").len(), 0);
}

/// SQLite finds the journal by the name: under a second name a hot one is not seen.
#[test]
fn an_archive_with_two_names_is_refused_and_a_link_is_followed() {
    let (directory, path) = place();
    save(&path);
    let link = directory.path().join("link");
    symlink(&path, &link).expect("a link");
    save(&link);
    assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 2);
    let second = directory.path().join("second");
    fs::hard_link(&path, &second).expect("a link");
    assert!(matches!(refused(&path), ArchiveError::Linked { .. }));
    fs::remove_file(&second).expect("removed");
    fs::remove_file(&path).expect("removed");
    // A link that leads nowhere is not made to lead somewhere.
    let error = Archive::open(&link).expect_err("it leads nowhere");
    assert!(matches!(error, ArchiveError::Examine { .. }), "{error}");
    assert!(!path.exists());
}

/// `user_version` of -5 or 0 was "at offset 98: SQL logic error".
#[test]
fn a_version_that_nobody_writes_is_named() {
    for version in [-5, 0] {
        let (_directory, path) = place();
        save(&path);
        let user = Connection::open(&path).expect("SQLite opens it");
        user.pragma_update(None, "user_version", version)
            .expect("set");
        drop(user);
        let error = refused(&path).to_string();
        let expected =
            format!("has schema version {version}, which no version of Seekstone writes");
        assert!(error.contains(&expected), "{error}");
    }
}

/// Host names, serial numbers and commands were readable by everybody.
#[test]
fn a_new_archive_is_for_its_owner_alone() {
    let (_directory, path) = place();
    save(&path);
    let mode = fs::metadata(&path).expect("there").mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// An archive that could not be filled stayed as an empty file.
#[test]
fn an_archive_that_cannot_be_made_leaves_nothing() {
    let (directory, _) = place();
    let path = directory.path().join("x".repeat(300));
    let error = Archive::open(&path).expect_err("no such name");
    assert!(matches!(error, ArchiveError::Examine { .. }), "{error}");
    assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 0);
}
