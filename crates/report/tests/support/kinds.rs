//! A run of each kind of measurement.

use results::Run;

/// A run of each kind, with invented figures; the tables that it must have.
pub fn kinds() -> Vec<(&'static str, Run, &'static [&'static str])> {
    let bare = |command: &str| {
        let mut run = sample::run();
        run.id = Some(7);
        run.settings.command = command.into();
        run.measurements.clear();
        run.curve = None;
        run.findings.clear();
        run
    };
    let mut found = vec![(
        "run",
        judged(sample::run()),
        &["measurements", "levels", "saturation", "points"][..],
    )];
    let mut add = |name, tables, fill: &dyn Fn(&mut Run)| {
        let mut run = bare(name);
        fill(&mut run);
        found.push((name, judged(run), tables));
    };
    add("trial", &["measurements"], &|run| {
        run.measurements = sample::run().measurements;
        run.measurements.truncate(1);
    });
    add("curve", &["levels", "saturation", "points"], &|run| {
        run.curve = Some(sample::curve());
    });
    add(
        "rab",
        &[
            "rab-over-runs",
            "rab-averages",
            "rab-workloads",
            "rab-levels",
        ],
        &|run| {
            run.rab = Some(sample::rab());
        },
    );
    add("transactions", &["transactions"], &|run| {
        run.transactions = Some(sample::transactions());
    });
    add("transfer", &["transfer"], &|run| {
        run.tables = sample::transfer().tables();
        run.row_warnings = sample::transfer().row_warnings();
    });
    add("random", &["random"], &|run| {
        run.random = Some(sample::random_access());
    });
    add("time", &["commands"], &|run| {
        run.tables = sample::timing().tables();
        run.row_warnings = sample::timing().row_warnings();
    });
    add("files", &["files"], &|run| {
        run.files = Some(sample::files());
    });
    add("ssd", &["ssd", "ssd-loads", "ssd-rounds"], &|run| {
        let found = sample::ssd();
        run.tables = found.tables(procedure::ssd_sayings(&found));
        run.row_warnings = found.row_warnings();
    });
    add("replay", &["replay"], &|run| {
        run.tables = sample::replay().tables();
        run.findings = vec!["Replayed 60,000 requests in 5 min; the target kept up.".into()];
    });
    add("study", &["transfer"], &|run| {
        run.study = Some(sample::study());
    });
    found
}

/// The run with its verdict.
pub fn judged(run: Run) -> Run {
    Run {
        verdict: Some(procedure::verdict(&run)),
        ..run
    }
}
