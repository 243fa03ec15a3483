//! Commands that were timed.

use crate::reading::{Better, Unit};
use crate::table::{Figure, Replicate, Row, Table, Trust};
use crate::timing::{TimedCommand, TimedRun, Timing};
use crate::warning_code::WarningCode;

/// What says that the runs of a command have no one mean time.
const NO_ONE_MEAN: [WarningCode; 3] = [
    WarningCode::TwoModes,
    WarningCode::Drift,
    WarningCode::FailedRuns,
];

/// Each command.
pub(super) fn table(found: &Timing) -> Table {
    let rows = found.commands.iter().map(row);
    Table::new("commands", &["command"], rows.collect())
}

fn row(command: &TimedCommand) -> Row {
    let times = [
        ("elapsed", command.real_s),
        ("cpu-user", command.user_s),
        ("cpu-system", command.system_s),
    ];
    let figure = |(name, value): (&str, Option<_>)| {
        Some(Figure::new(name, Unit::Seconds, Better::Lower, value?))
    };
    let runs = Figure::exact("runs", Unit::Count, command.runs.len() as f64);
    let figures = times.into_iter().filter_map(figure).chain([runs]);
    let mut codes = command.warnings.iter().map(|it| &it.code);
    let trust = match codes.any(|code| NO_ONE_MEAN.contains(code)) {
        true => Trust::unless_void(&command.warnings).max(Trust::Shaky),
        false => Trust::unless_void(&command.warnings),
    };
    let levels = vec![command.name.clone()];
    Row::new(levels, figures, "elapsed", trust, &command.warnings)
        .with_replicates(command.runs.iter().map(replicate).collect())
}

fn replicate(run: &TimedRun) -> Replicate {
    let mut readings = vec![
        ("elapsed".to_owned(), Unit::Seconds, run.real_s),
        ("cpu-user".to_owned(), Unit::Seconds, run.user_s),
        ("cpu-system".to_owned(), Unit::Seconds, run.system_s),
        ("bytes-read".to_owned(), Unit::Bytes, run.read_bytes as f64),
        (
            "bytes-written".to_owned(),
            Unit::Bytes,
            run.written_bytes as f64,
        ),
        ("exit-status".to_owned(), Unit::Count, f64::from(run.exit)),
    ];
    let memory = run.memory_bytes.map(|bytes| bytes as f64);
    readings.extend(memory.map(|it| ("memory".to_owned(), Unit::Bytes, it)));
    Replicate {
        number: run.round,
        counts: true,
        readings,
    }
}
