//! Every kind of measurement in SQL: figures, and warnings with what to do about them.

use std::fs::{self, File};
use std::io::Read as _;

use archive::Archive;
use flate2::read::GzDecoder;
use results::{Run, Severity, Warning, WarningCode, from_json};
use rusqlite::Connection;

/// An invented run, and a recorded one of each kind.
fn runs() -> Vec<(String, Run)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/recorded");
    let recorded = fs::read_dir(folder).expect("the folder").map(|file| {
        let path = file.expect("a file").path();
        let mut text = String::new();
        let unpacked = GzDecoder::new(File::open(&path).expect("a file")).read_to_string(&mut text);
        unpacked.expect("gzip");
        (path.display().to_string(), from_json(&text).expect("a run"))
    });
    let invented = ("invented".to_owned(), sample::run());
    std::iter::once(invented).chain(recorded).collect()
}

#[test]
fn every_kind_has_its_figures_and_warnings_in_sql() {
    let top = tempfile::tempdir().expect("a directory");
    let path = top.path().join("archive.db");
    let mut archive = Archive::open(&path).expect("an archive");
    let connection = Connection::open(&path).expect("SQLite opens it");
    for (kind, mut run) in runs() {
        let advised = Warning::new(
            Severity::Info,
            WarningCode::VirtualDisk,
            "a disk of a guest",
        );
        run.warnings.push(advised.advise("look at the host"));
        run.id = None;
        let id = archive.save(&mut run).expect("saved");
        let count = |what: &str| -> usize {
            let of = format!("SELECT count(*) FROM {what} WHERE run_id = ?");
            let count = connection.query_row(&of, [id], |row| row.get::<_, i64>(0));
            count.expect("a number") as usize
        };
        let tables = run.tables();
        let rows = tables.iter().flat_map(|table| &table.rows);
        let figures: usize = rows.map(|row| row.figures.len()).sum();
        assert!(figures > 0, "{kind}");
        assert_eq!(count("figures"), figures, "{kind}");
        let mut statement = connection
            .prepare("SELECT text, advice FROM warnings WHERE run_id = ? ORDER BY position")
            .expect("a query");
        let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = statement.query_map([id], pair).expect("rows");
        let found: Vec<(String, String)> = found.map(|row| row.expect("a row")).collect();
        let expected = run.scoped_warnings();
        let expected = expected.map(|(_, it)| (it.cause.clone(), it.advice.clone()));
        assert_eq!(found, expected.collect::<Vec<_>>(), "{kind}");
        let own = (
            "a disk of a guest".to_owned(),
            "look at the host".to_owned(),
        );
        assert!(found.contains(&own), "{kind}");
    }
}
