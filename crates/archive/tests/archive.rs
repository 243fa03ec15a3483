//! What an archive promises: nothing is lost, nothing is half there, and SQL may ask.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use archive::{Archive, ArchiveError};
use results::{Status, Warning, WarningCode};
use rusqlite::Connection;
use tempfile::TempDir;

/// A directory of its own, and the path of an archive in it that does not exist yet.
fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("deeper/still/archive.db");
    (directory, path)
}

fn open(path: &Path) -> Archive {
    Archive::open(path).expect("the archive opens")
}

fn save_sample(archive: &mut Archive) -> i64 {
    archive.save(&mut sample::run()).expect("the run is saved")
}

/// The error as the program prints it: with its causes.
fn in_full(error: &ArchiveError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}

#[test]
fn a_saved_run_is_read_back_as_it_was() {
    let (_directory, path) = place();
    let mut run = sample::run();
    let mut archive = open(&path);
    let id = archive.save(&mut run).expect("the run is saved");
    assert_eq!((id, run.id), (1, Some(1)));
    drop(archive);
    let archive = open(&path);
    assert_eq!(archive.load(1).expect("it is there"), run);
    assert_eq!(archive.latest().expect("it is there"), run);
    assert_eq!(archive.count().expect("countable"), 1);
}

#[test]
fn at_rest_the_archive_is_one_file() {
    let (_directory, path) = place();
    save_sample(&mut open(&path));
    let directory = path.parent().expect("it has one");
    let files: Vec<_> = fs::read_dir(directory).expect("readable").collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[test]
fn lists_begin_with_the_newest() {
    let (_directory, path) = place();
    let mut archive = open(&path);
    for _ in 0..3 {
        save_sample(&mut archive);
    }
    let mut run = sample::run();
    run.status = Status::Partial {
        reason: "interrupted".into(),
    };
    archive.save(&mut run).expect("saved");
    let list = archive.list(2).expect("readable");
    let ids: Vec<i64> = list.iter().map(|summary| summary.id).collect();
    assert_eq!(ids, [4, 3]);
    assert_eq!(list[0].status, "partial");
    assert!(!list[0].has_invalid_number);
    assert_eq!(archive.list(usize::MAX).expect("readable").len(), 4);
    let row = &list[1];
    assert_eq!(
        (row.id, row.command.as_str(), row.target.as_str()),
        (3, "run", "/srv/data")
    );
    assert!(
        row.headline.starts_with("random-read 47.1 us"),
        "{}",
        row.headline
    );
}

/// Bug: a list could not tell a void run from a sound one.
#[test]
fn a_list_tells_runs_with_a_void_number() {
    let (_directory, path) = place();
    let mut archive = open(&path);
    let mut run = sample::run();
    let void = Warning::invalid(WarningCode::NoOperation, "nobody looked");
    run.curves[0].warnings.push(void);
    archive.save(&mut run).expect("saved");
    let list = archive.list(1).expect("readable");
    assert!(list[0].has_invalid_number);
}

/// An archive of version 4 had no verdicts, nor had the documents in it.
#[test]
fn runs_of_an_older_archive_get_their_verdict() {
    let (_directory, path) = place();
    let mut run = sample::run();
    run.verdict = None;
    let mut archive = open(&path);
    let id = archive.save(&mut run).expect("saved");
    let said = run.verdict.clone().expect("it was given one");
    drop(archive);
    run.verdict = None;
    let user = Connection::open(&path).expect("a database");
    let document = serde_json::to_string(&run).expect("JSON");
    user.execute("UPDATE runs SET document = ?", [document])
        .expect("written");
    for column in ["verdict", "verdict_trust", "verdict_because", "goals"] {
        user.execute(&format!("ALTER TABLE runs DROP COLUMN {column}"), [])
            .expect("dropped");
    }
    user.execute_batch("DROP TABLE watch_windows; DROP TABLE watch_events")
        .expect("what version 4 had not");
    user.pragma_update(None, "user_version", 4)
        .expect("written");
    drop(user);
    let archive = open(&path);
    let row = archive.list(1).expect("readable").remove(0);
    assert_eq!(
        (row.verdict, row.trust),
        (said.sentence.clone(), said.trust.name().to_owned())
    );
    assert_eq!(archive.load(id).expect("readable").verdict, Some(said));
}

#[test]
fn unknown_runs_are_named_with_what_there_is() {
    let (_directory, path) = place();
    let mut archive = open(&path);
    let error = archive.load(5).expect_err("nothing is there");
    assert_eq!(error.to_string(), "the archive has no run 5: it is empty");
    assert!(matches!(archive.latest(), Err(ArchiveError::Empty { .. })));
    save_sample(&mut archive);
    let error = archive.load(5).expect_err("only one is there");
    assert_eq!(
        error.to_string(),
        "the archive has no run 5: it holds run 1 only"
    );
    save_sample(&mut archive);
    let error = archive.load(5).expect_err("only two are there");
    assert_eq!(
        error.to_string(),
        "the archive has no run 5: it holds runs between 1 and 2. `runs list` names them"
    );
}

#[test]
fn runs_are_deleted_together_or_not_at_all() {
    let (_directory, path) = place();
    let mut archive = open(&path);
    for _ in 0..3 {
        save_sample(&mut archive);
    }
    let error = archive.delete(&[1, 9, 2]).expect_err("there is no run 9");
    assert!(
        matches!(error, ArchiveError::UnknownRun { id: 9, .. }),
        "{error}"
    );
    assert_eq!(archive.count().expect("countable"), 3);
    archive.delete(&[3, 1, 3]).expect("both exist");
    assert_eq!(archive.count().expect("countable"), 1);
    // Rows of the other tables go with their run.
    let connection = Connection::open(&path).expect("SQLite opens it");
    for table in ["figures", "factors", "curve_points", "warnings"] {
        let query = format!("SELECT count(*) FROM {table} WHERE run_id <> 2");
        let rows: i64 = connection
            .query_row(&query, [], |row| row.get(0))
            .expect("a count");
        assert_eq!(rows, 0, "{table}");
    }
    // The number of a deleted run is not given to another.
    assert_eq!(save_sample(&mut archive), 4);
}

#[test]
fn many_may_save_at_once() {
    const SAVERS: usize = 4;
    const RUNS: usize = 10;
    let (_directory, path) = place();
    // Nobody has made the file yet: all of them try to.
    thread::scope(|scope| {
        for _ in 0..SAVERS {
            scope.spawn(|| {
                let mut archive = open(&path);
                for _ in 0..RUNS {
                    save_sample(&mut archive);
                }
            });
        }
    });
    let archive = open(&path);
    let ids: Vec<i64> = archive
        .list(usize::MAX)
        .expect("readable")
        .iter()
        .map(|s| s.id)
        .collect();
    let expected: Vec<i64> = (1..=(SAVERS * RUNS) as i64).rev().collect();
    assert_eq!(ids, expected);
    for id in expected {
        assert_eq!(archive.load(id).expect("whole").id, Some(id));
    }
}

/// A program killed while it saves leaves the file and a journal behind, perhaps with pages of the
/// unfinished transaction already in the file. The copies are what a killed program would leave.
#[test]
fn a_kill_while_saving_loses_only_the_unfinished_run() {
    let (directory, path) = place();
    let mut archive = open(&path);
    let saved = save_sample(&mut archive);
    drop(archive);

    let victim = Connection::open(&path).expect("SQLite opens it");
    // A cache of few pages forces changed pages into the file before the commit.
    victim
        .execute_batch("PRAGMA cache_size = 2; PRAGMA cache_spill = 1; BEGIN IMMEDIATE")
        .expect("the transaction begins");
    victim
        .execute_batch(
            "UPDATE runs SET headline = 'half done', document = 'half done';
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             INSERT INTO warnings SELECT 1, 1000 + i, 'run', 'code', 'note',
                 hex(zeroblob(500)), '' FROM n;",
        )
        .expect("the changes are made");
    let killed = directory.path().join("killed.db");
    let journal = |path: &Path| PathBuf::from(format!("{}-journal", path.display()));
    assert!(journal(&path).exists(), "the transaction has a journal");
    let size_before = fs::metadata(&path).expect("there").len();
    assert!(
        size_before > 1_000_000,
        "pages of the transaction are in the file: {size_before}"
    );
    fs::copy(&path, &killed).expect("copied");
    fs::copy(journal(&path), journal(&killed)).expect("copied");
    drop(victim);

    for path in [&killed, &path] {
        let mut archive = open(path);
        let mut expected = sample::run();
        expected.id = Some(saved);
        assert_eq!(archive.load(saved).expect("intact"), expected);
        let connection = Connection::open(path).expect("SQLite opens it");
        let check: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("an answer");
        assert_eq!(check, "ok");
        let notes: i64 = connection
            .query_row(
                "SELECT count(*) FROM warnings WHERE position >= 1000",
                [],
                |row| row.get(0),
            )
            .expect("a count");
        assert_eq!(notes, 0);
        assert_eq!(save_sample(&mut archive), saved + 1);
    }
}

#[test]
fn files_that_are_no_archives_are_refused_and_left_alone() {
    let (directory, _) = place();
    let text = directory.path().join("notes.txt");
    let content = "these are notes, long enough to be taken for a page of something\n".repeat(40);
    fs::write(&text, &content).expect("written");
    let error = Archive::open(&text).expect_err("it is a text");
    assert!(matches!(error, ArchiveError::Foreign { .. }), "{error}");
    assert!(
        error.to_string().contains("is not an archive of Seekstone"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&text).expect("readable"), content);

    let other = directory.path().join("other.db");
    let connection = Connection::open(&other).expect("SQLite opens it");
    connection
        .execute_batch("CREATE TABLE addresses (name TEXT)")
        .expect("made");
    drop(connection);
    let before = fs::read(&other).expect("readable");
    let error = Archive::open(&other).expect_err("it belongs to another program");
    assert!(matches!(error, ArchiveError::Foreign { .. }), "{error}");
    assert_eq!(fs::read(&other).expect("readable"), before);
}

#[test]
fn damage_is_reported_with_advice() {
    let (_directory, path) = place();
    let mut archive = open(&path);
    for _ in 0..5 {
        save_sample(&mut archive);
    }
    drop(archive);
    let mut bytes = fs::read(&path).expect("readable");
    // The header and the list of tables stay, everything else is overwritten.
    bytes[8_192..].fill(0xa5);
    fs::write(&path, &bytes).expect("written");
    let damaged = Archive::open(&path).and_then(|archive| archive.list(10).map(|_| ()));
    let error = damaged.expect_err("the pages of the table are gone");
    assert!(
        matches!(error, ArchiveError::Damaged { .. }),
        "{}",
        in_full(&error)
    );
    assert!(error.to_string().contains(".recover"), "{error}");
}

#[test]
fn newer_archives_are_refused_in_a_sentence() {
    let (_directory, path) = place();
    drop(open(&path));
    let connection = Connection::open(&path).expect("SQLite opens it");
    connection
        .pragma_update(None, "user_version", 99)
        .expect("set");
    drop(connection);
    let error = Archive::open(&path).expect_err("newer than this program");
    assert!(
        matches!(error, ArchiveError::NewerSchema { found: 99, .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("has schema version 99"),
        "{error}"
    );
}

#[test]
fn documents_of_other_schemas_are_listed_and_refused_in_a_sentence() {
    let (_directory, path) = place();
    let mut archive = open(&path);
    let id = save_sample(&mut archive);
    let connection = Connection::open(&path).expect("SQLite opens it");
    for schema in [1, 9] {
        connection
            .execute(
                "UPDATE runs SET document = json_set(document, '$.schema', ?)",
                [schema],
            )
            .expect("changed");
        let error = in_full(&archive.load(id).expect_err("another schema"));
        assert!(
            error.contains("run 1 of the archive cannot be read"),
            "{error}"
        );
        assert!(
            error.contains(&format!("schema version {schema}, ")),
            "{error}"
        );
        let listed = archive.list(10).expect("a list");
        assert_eq!(listed.len(), 1);
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let (directory, _) = place();
    let file = directory.path().join("file");
    fs::write(&file, "x").expect("written");
    let error = Archive::open(&file.join("sub/archive.db")).expect_err("a file is in the way");
    assert!(matches!(error, ArchiveError::Directory { .. }), "{error}");
    assert!(in_full(&error).contains("file/sub"), "{}", in_full(&error));
}

/// Root writes where it likes, so that this test says nothing when it runs as root.
#[test]
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn a_directory_without_permission_is_an_error_and_an_archive_in_it_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let (_directory, path) = place();
    save_sample(&mut open(&path));
    let parent = path.parent().expect("it has one").to_owned();
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions set");
    };
    set(&path, 0o444);
    set(&parent, 0o555);
    let can_write_anyway = fs::write(parent.join("probe"), "").is_ok();
    if can_write_anyway {
        eprintln!("skipped: this user may write into a directory without write permission");
    } else {
        let error = Archive::open(&parent.join("new.db")).expect_err("nothing can be made here");
        assert!(
            in_full(&error).starts_with("cannot open the archive"),
            "{}",
            in_full(&error)
        );
        let mut archive = open(&path);
        assert_eq!(archive.count().expect("readable"), 1);
        let mut run = sample::run();
        let error = archive
            .save(&mut run)
            .expect_err("nothing can be written here");
        assert!(
            in_full(&error).starts_with("cannot write the archive"),
            "{}",
            in_full(&error)
        );
        assert_eq!(run.id, None);
    }
    set(&parent, 0o755);
}

#[test]
fn users_can_ask_with_sql() {
    let (_directory, path) = place();
    let mut archive = open(&path);
    save_sample(&mut archive);
    let connection = Connection::open(&path).expect("SQLite opens it");
    let text = |query: &str| -> String {
        connection
            .query_row(query, [], |row| row.get(0))
            .expect(query)
    };
    assert_eq!(
        text(
            "SELECT printf('%s %s %.1f us', runs.id, file_system, value * 1e6)
             FROM runs JOIN figures ON run_id = runs.id
             WHERE row = 'random-read' AND metric = 'latency' AND trust = 'reliable'"
        ),
        "1 ext4 47.1 us"
    );
    assert_eq!(
        text(
            "SELECT group_concat(level || ' ' || metric, ', ')
             FROM factors JOIN figures USING (run_id, table_name, row)
             WHERE factor = 'level' AND role = 'headline'"
        ),
        "100us iops, 250us iops, 1ms iops, 10ms iops"
    );
    assert_eq!(
        text("SELECT group_concat(scope || ' ' || severity, ', ') FROM warnings"),
        "run info, run warning, durable-write warning, curve info"
    );
    assert_eq!(
        text("SELECT count(*) || '' FROM curve_points WHERE NOT scout"),
        "7"
    );
    assert_eq!(
        text("SELECT document ->> '$.environment.host_name' FROM runs"),
        "storage-7"
    );
    assert_eq!(
        text("SELECT seed || ' ' || (document ->> '$.id') FROM runs"),
        "8213 1"
    );
}
