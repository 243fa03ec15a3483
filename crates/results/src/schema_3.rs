//! Runs of schema version 3, which had a key of its own for each kind of measurement.

use serde::Deserialize;

use crate::replay::Replay;
use crate::run::Run;
use crate::ssd::SsdTests;
use crate::table::Table;
use crate::timing::Timing;
use crate::transfer::Transfer;

/// What kinds found, each under its key.
#[derive(Deserialize)]
struct KindResults {
    #[serde(default)]
    ssd: Option<SsdTests>,
    #[serde(default)]
    replay: Option<Replay>,
    #[serde(default)]
    timing: Option<Timing>,
    #[serde(default)]
    transfer: Option<Transfer>,
}

/// Give a run of version 3 the tables of what its kind found.
// fuzzed: run_json
pub(crate) fn upgrade(run: &mut Run, text: &str) -> Result<(), serde_json::Error> {
    let found: KindResults = serde_json::from_str(text)?;
    if let Some(ssd) = &found.ssd {
        run.row_warnings.extend(ssd.row_warnings());
        replace(run, ssd.tables([]));
    }
    if let Some(replay) = &found.replay {
        replace(run, replay.tables());
    }
    if let Some(timing) = &found.timing {
        run.row_warnings.extend(timing.row_warnings());
        run.findings.extend(timing.findings());
        replace(run, timing.tables());
    }
    if let Some(transfer) = &found.transfer {
        run.row_warnings.extend(transfer.row_warnings());
        replace(run, transfer.tables());
    }
    Ok(())
}

/// The tables that version 3 wrote had no titles and no notes.
fn replace(run: &mut Run, tables: Vec<Table>) {
    run.tables
        .retain(|old| tables.iter().all(|new| new.name != old.name));
    run.tables.extend(tables);
}
