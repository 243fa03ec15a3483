//! Programs that use files.

use stats::Estimate;

use crate::file_tests::{FilePass, FileTest, FileTests};
use crate::reading::{Better, Unit};
use crate::table::{Figure, Replicate, Role, Row, Table};

/// What a pass moved, among the readings of a repetition.
pub(crate) const BYTES: &str = "bytes";

/// Each test in each state on each file system.
pub(super) fn table(found: &FileTests) -> Table {
    let factors = ["test", "state", "place", "spacing", "scale"];
    let rows = found.tests.iter().map(|test| row(found, test));
    Table::new("files", &factors, rows.collect()).briefly_named()
}

fn row(found: &FileTests, test: &FileTest) -> Row {
    let levels = vec![
        test.test.clone(),
        test.state.name().to_owned(),
        test.system.name().to_owned(),
        test.spacing.clone(),
        test.scale.to_string(),
    ];
    let rate = |name, value| Figure::new(name, Unit::PerSecond, Better::Higher, value);
    let mut figures = vec![
        Figure::new(
            "elapsed",
            Unit::Seconds,
            Better::Lower,
            test.elapsed_seconds,
        ),
        rate("files-per-second", test.items_per_second),
        rate("calls-per-second", test.calls_per_second),
    ];
    figures.extend(test.bytes_per_second.map(Figure::throughput));
    if let Some(wall) = &test.stonewall {
        figures.push(rate("stonewall-files-per-second", wall.items_per_second));
        let bytes = wall.bytes_per_second;
        figures.extend(bytes.map(|it| rate("stonewall-bytes-per-second", it)));
    }
    let over_memory = found.over_memory(test);
    figures.extend(
        over_memory.map(|ratio| Figure::new("over-memory", Unit::Ratio, Better::Lower, ratio)),
    );
    let costs = [
        (
            "cpu-user",
            Unit::Seconds,
            test.pass_mean(|it| it.cpu_user_ns, 1e-9),
        ),
        (
            "cpu-system",
            Unit::Seconds,
            test.pass_mean(|it| it.cpu_system_ns, 1e-9),
        ),
        (
            "device-reads",
            Unit::Count,
            test.pass_mean(|it| it.device_reads, 1.0),
        ),
        (
            "device-writes",
            Unit::Count,
            test.pass_mean(|it| it.device_writes, 1.0),
        ),
    ];
    let cost = |(name, unit, mean): (&str, Unit, Option<Estimate>)| {
        Some(Figure::new(name, unit, Better::Lower, mean?).as_role(Role::Detail))
    };
    figures.extend(costs.into_iter().filter_map(cost));
    Row::new(levels, figures, "elapsed", test.trust(), &test.warnings)
        .with_replicates(test.passes.iter().map(replicate).collect())
}

fn replicate(pass: &FilePass) -> Replicate {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let counted = |name: &str, unit, value: Option<f64>| Some((name.to_owned(), unit, value?));
    let of_kernel = [
        counted("cpu-user", Unit::Seconds, pass.cpu_user_ns.map(seconds)),
        counted("cpu-system", Unit::Seconds, pass.cpu_system_ns.map(seconds)),
        counted(
            "device-reads",
            Unit::Count,
            pass.device_reads.map(|it| it as f64),
        ),
        counted(
            "device-writes",
            Unit::Count,
            pass.device_writes.map(|it| it as f64),
        ),
    ];
    let measured = [
        (
            "elapsed".to_owned(),
            Unit::Seconds,
            seconds(pass.elapsed_ns),
        ),
        ("calls".to_owned(), Unit::Count, pass.calls as f64),
        (BYTES.to_owned(), Unit::Bytes, pass.bytes as f64),
    ];
    Replicate {
        number: pass.number,
        counts: !pass.is_warm_up,
        readings: measured
            .into_iter()
            .chain(of_kernel.into_iter().flatten())
            .collect(),
    }
}
