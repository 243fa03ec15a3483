//! Upgrades runs of schema version 3, which had a key for each kind of measurement, and one curve.

use serde::Deserialize;

use crate::curve::Curve;
use crate::file_tests::FileTests;
use crate::rab::Rab;
use crate::random_access::RandomAccess;
use crate::replay::Replay;
use crate::run::Run;
use crate::saying::Saying;
use crate::ssd::SsdTests;
use crate::study::Study;
use crate::table::Table;
use crate::timing::Timing;
use crate::transactions::Transactions;
use crate::transfer::Transfer;

/// Results of each kind, under its key.
#[derive(Deserialize)]
struct KindResults {
    curve: Option<Curve>,
    ssd: Option<SsdTests>,
    rab: Option<Rab>,
    random: Option<RandomAccess>,
    replay: Option<Replay>,
    timing: Option<Timing>,
    transfer: Option<Transfer>,
    transactions: Option<Transactions>,
    files: Option<FileTests>,
    study: Option<Study>,
}

/// Fills in the results of the kind of a version 3 run, and returns its tables. Those written by
/// version 3 had no titles and no notes.
// fuzzed: run_json
pub(crate) fn upgrade(run: &mut Run, text: &str) -> Result<Vec<Table>, serde_json::Error> {
    let mut found: KindResults = serde_json::from_str(text)?;
    run.curves.extend(found.curve.take());
    let mut tables = Vec::new();
    if let Some(ssd) = &found.ssd {
        run.row_warnings.extend(ssd.row_warnings());
        tables.extend(ssd.tables([]));
    }
    if let Some(rab) = &found.rab {
        run.curves.extend(rab.curves());
        run.measurements.extend(rab.measurements());
        run.row_warnings.extend(rab.row_warnings());
        tables.extend(rab.tables());
    }
    if let Some(random) = &found.random {
        run.row_warnings.extend(random.row_warnings());
        tables.extend(random.tables());
    }
    if let Some(timing) = &found.timing {
        run.row_warnings.extend(timing.row_warnings());
        run.findings.extend(timing.findings());
        tables.extend(timing.tables());
    }
    if let Some(transfer) = &found.transfer {
        run.row_warnings.extend(transfer.row_warnings());
        tables.extend(transfer.tables());
    }
    if let Some(transactions) = &mut found.transactions {
        transactions.move_series(&mut run.measurements);
        tables.extend(transactions.tables(&run.measurements));
    }
    if let Some(files) = found.files {
        run.row_warnings.extend(files.row_warnings());
        let mut of_files = files.tables(run.target.kind);
        if let (Some(table), Some(finding)) = (of_files.first_mut(), run.findings.first()) {
            table.says = Some(Saying::quoting(finding.trim_end_matches('.')));
        }
        tables.extend(of_files);
        run.other_targets.extend(files.memory);
    }
    if let Some(study) = found.study {
        study.give_to(run);
        tables.append(&mut run.tables);
    }
    tables.extend(found.replay.iter().flat_map(Replay::tables));
    Ok(tables)
}
