//! A run of each kind of measurement.

use results::Run;

use crate::found;

/// A run of that command in which nothing was measured.
fn bare(command: &str) -> Run {
    let mut run = sample::run();
    run.id = Some(7);
    run.settings.command = command.into();
    run.measurements.clear();
    run.curves.clear();
    run.findings.clear();
    run
}

const OF_RAB: [&str; 6] = [
    "rab-over-runs",
    "rab-averages",
    "rab-workloads",
    "rab-levels",
    "rab-modes-compared",
    "rab-modes",
];
const OF_USERS: [&str; 5] = [
    "users-found",
    "transactions",
    "transactions-machine",
    "users-search",
    "standard-test",
];
const OF_FILES: [&str; 5] = [
    "files",
    "files-growth",
    "files-stonewall",
    "files-hosts",
    "files-calls",
];

const OF_STUDY: [&str; 3] = ["transfer", "comparisons", "distributions"];

/// A run of each kind, with invented figures. The tables that it must have.
pub fn kinds() -> Vec<(&'static str, Run, &'static [&'static str])> {
    let mut kinds = vec![(
        "run",
        judged(sample::run()),
        &["measurements", "levels", "saturation", "points"][..],
    )];
    let mut add = |name, tables, fill: &dyn Fn(&mut Run)| {
        let mut run = bare(name);
        fill(&mut run);
        kinds.push((name, judged(run), tables));
    };
    add("trial", &["measurements"], &|run| {
        run.measurements = sample::run().measurements;
        run.measurements.truncate(1);
    });
    add("curve", &["levels", "saturation", "points"], &|run| {
        run.curves = vec![sample::curve()];
    });
    add("rab", &OF_RAB, &rab);
    add("transactions", &OF_USERS, &|run| {
        run.tables = found::transactions().tables(&[]);
    });
    add("transfer", &["transfer"], &|run| {
        run.tables = found::transfer().tables();
        run.row_warnings = found::transfer().row_warnings();
    });
    add("random", &["random"], &|run| {
        run.tables = found::random_access().tables();
        run.row_warnings = found::random_access().row_warnings();
    });
    add("time", &["commands"], &|run| {
        run.tables = found::timing().tables();
        run.row_warnings = found::timing().row_warnings();
    });
    add("files", &OF_FILES, &|run| {
        run.tables = found::files().tables(run.target.kind);
        run.row_warnings = found::files().row_warnings();
        run.other_targets.extend(found::files().memory);
    });
    add("ssd", &["ssd", "ssd-loads", "ssd-rounds"], &|run| {
        let ssd = found::ssd();
        run.tables = ssd.tables(procedure::ssd_sayings(&ssd));
        run.row_warnings = ssd.row_warnings();
    });
    add("replay", &["replay"], &|run| {
        run.tables = found::replay().tables();
        run.findings = vec!["Replayed 60,000 requests in 5 min. The target kept up.".into()];
    });
    add("study", &OF_STUDY, &|run| sample::study().give_to(run));
    kinds
}

/// The run with its verdict.
pub fn judged(run: Run) -> Run {
    Run {
        verdict: Some(procedure::verdict(&run)),
        ..run
    }
}

fn rab(run: &mut Run) {
    let rab = found::rab();
    run.curves = rab.curves();
    run.measurements = rab.measurements();
    run.tables = rab.tables();
    run.row_warnings = rab.row_warnings();
}
