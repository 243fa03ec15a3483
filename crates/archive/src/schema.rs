//! The tables, and the migration of older archives.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::rows;

/// Marks the file as ours: "Seek" in ASCII.
pub(crate) const APPLICATION_ID: i64 = 0x5365_656b;

/// Migration steps from each version to the next; the first one creates everything. Released steps
/// are never changed.
const STEPS: [&str; 7] = [
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
    include_str!("schema_7.sql"),
];

/// From this version on, each run has its verdict in the current wording.
const WITH_VERDICTS: i64 = 6;

/// The version that this program writes.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Kind of an opened file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenedFileKind {
    /// A current or older archive, or an empty file.
    Usable,
    /// An archive of a newer program.
    Newer(i64),
    /// Marked as ours, but with an invalid version.
    Unknown(i64),
    /// Another program's database.
    Foreign,
}

/// Examines the file, and migrates it if it is ours. Two programs may do so at once.
pub(crate) fn prepare(connection: &mut Connection) -> rusqlite::Result<OpenedFileKind> {
    let found = inspect(connection)?;
    if found != OpenedFileKind::Usable || version(connection)? == VERSION {
        return Ok(found);
    }
    // The lock is taken first, since another program may have been faster.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let before = version(&transaction)?;
    migrate(&transaction)?;
    if before < WITH_VERDICTS {
        rows::add_verdicts(&transaction)?;
    }
    transaction.commit()?;
    Ok(OpenedFileKind::Usable)
}

fn inspect(connection: &Connection) -> rusqlite::Result<OpenedFileKind> {
    let application: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let version = version(connection)?;
    let is_blank = tables == 0 && application == 0 && version == 0;
    Ok(match application {
        _ if is_blank => OpenedFileKind::Usable,
        APPLICATION_ID => of_version(version),
        _ => OpenedFileKind::Foreign,
    })
}

/// Kind of a file marked as ours.
pub(crate) fn of_version(version: i64) -> OpenedFileKind {
    match version {
        ..=0 => OpenedFileKind::Unknown(version),
        1..=VERSION => OpenedFileKind::Usable,
        _ => OpenedFileKind::Newer(version),
    }
}

/// The bytes of an empty archive.
pub(crate) fn blank() -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    prepare(&mut connection)?;
    Ok(connection.serialize("main")?.to_vec())
}

fn migrate(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let done = usize::try_from(version(transaction)?).unwrap_or(0);
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
