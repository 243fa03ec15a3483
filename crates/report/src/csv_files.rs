//! The rows of `files` as comma-separated values.

use results::{FileTest, Run};
use stats::Estimate;

use crate::csv::{line, number, optional};
use crate::files::pass_mean;

/// A column's name and what it holds.
type Column = (&'static str, fn(&FileTest) -> String);

const COLUMNS: [Column; 33] = [
    ("system", |it| it.system.name().to_owned()),
    ("test", |it| it.test.clone()),
    ("spacing", |it| it.spacing.clone()),
    ("state", |it| it.state.name().to_owned()),
    ("scale", |it| it.scale.to_string()),
    ("items", |it| it.items.to_string()),
    ("passes", |it| {
        let counted = it.passes.iter().filter(|pass| !pass.is_warm_up);
        counted.count().to_string()
    }),
    ("elapsed_s", |it| number(it.elapsed_seconds.value)),
    ("elapsed_low_s", |it| number(it.elapsed_seconds.low)),
    ("elapsed_high_s", |it| number(it.elapsed_seconds.high)),
    ("cpu_user_s", |it| optional(it.cpu_user_seconds)),
    ("cpu_user_low_s", |it| optional(user(it).map(|it| it.low))),
    ("cpu_user_high_s", |it| optional(user(it).map(|it| it.high))),
    ("cpu_system_s", |it| optional(it.cpu_system_seconds)),
    ("cpu_system_low_s", |it| {
        optional(system(it).map(|it| it.low))
    }),
    ("cpu_system_high_s", |it| {
        optional(system(it).map(|it| it.high))
    }),
    ("items_per_s", |it| number(it.items_per_second.value)),
    ("items_low_per_s", |it| number(it.items_per_second.low)),
    ("items_high_per_s", |it| number(it.items_per_second.high)),
    ("calls_per_s", |it| number(it.calls_per_second.value)),
    ("calls_low_per_s", |it| number(it.calls_per_second.low)),
    ("calls_high_per_s", |it| number(it.calls_per_second.high)),
    ("bytes_per_s", |it| {
        optional(it.bytes_per_second.map(|it| it.value))
    }),
    ("bytes_low_per_s", |it| {
        optional(it.bytes_per_second.map(|it| it.low))
    }),
    ("bytes_high_per_s", |it| {
        optional(it.bytes_per_second.map(|it| it.high))
    }),
    ("device_reads", |it| optional(it.device_reads)),
    ("device_reads_low", |it| {
        optional(reads(it).map(|it| it.low))
    }),
    ("device_reads_high", |it| {
        optional(reads(it).map(|it| it.high))
    }),
    ("device_writes", |it| optional(it.device_writes)),
    ("device_writes_low", |it| {
        optional(writes(it).map(|it| it.low))
    }),
    ("device_writes_high", |it| {
        optional(writes(it).map(|it| it.high))
    }),
    ("precise", |it| it.is_precise.to_string()),
    ("warnings", |it| {
        let codes = it.warnings.iter().map(|warning| warning.code.as_str());
        codes.collect::<Vec<_>>().join(" ")
    }),
];

fn user(test: &FileTest) -> Option<Estimate> {
    pass_mean(test, |pass| pass.cpu_user_ns, 1e-9)
}

fn system(test: &FileTest) -> Option<Estimate> {
    pass_mean(test, |pass| pass.cpu_system_ns, 1e-9)
}

fn reads(test: &FileTest) -> Option<Estimate> {
    pass_mean(test, |pass| pass.device_reads, 1.0)
}

fn writes(test: &FileTest) -> Option<Estimate> {
    pass_mean(test, |pass| pass.device_writes, 1.0)
}

/// One line for each test in each state, at each scale, of target and memory disk; `None` when the
/// run holds no file tests.
#[must_use]
pub fn csv_files(run: &Run) -> Option<String> {
    let found = run.files.as_ref()?;
    let mut text = String::new();
    line(
        &mut text,
        COLUMNS.iter().map(|(name, _)| (*name).to_owned()),
    );
    for test in &found.tests {
        line(&mut text, COLUMNS.iter().map(|(_, of)| of(test)));
    }
    Some(text)
}
