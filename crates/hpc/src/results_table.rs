//! Result tables in the columns of IOR and mdtest.

use std::fmt::Write as _;

use crate::mdtest::MdtestCommand;

const MIB: f64 = (1 << 20) as f64;

/// One repetition of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HpcPass {
    pub seconds: f64,
    /// Bytes of all ranks.
    pub bytes: f64,
    /// Transfers, files or directories of all ranks.
    pub items: f64,
}

/// A phase with its repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct HpcPhase {
    /// Its name in the measurement `files`, such as `write`.
    pub name: String,
    pub passes: Vec<HpcPass>,
}

/// Largest, smallest, mean and standard deviation.
struct SampleSpread {
    most: f64,
    least: f64,
    mean: f64,
    deviation: f64,
}

impl SampleSpread {
    /// The deviation divides by the number of values minus `lost`: IOR uses their number, mdtest
    /// one less.
    fn of(values: &[f64], lost: usize) -> Self {
        let count = values.len().max(1);
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares = values.iter().map(|it| (it - mean).powi(2));
        Self {
            most: values.iter().copied().fold(f64::NAN, f64::max),
            least: values.iter().copied().fold(f64::NAN, f64::min),
            mean,
            deviation: (squares.sum::<f64>() / count.saturating_sub(lost).max(1) as f64).sqrt(),
        }
    }
}

impl HpcPhase {
    fn spread(&self, of: fn(&HpcPass) -> f64, lost: usize) -> SampleSpread {
        SampleSpread::of(&self.passes.iter().map(of).collect::<Vec<f64>>(), lost)
    }
}

fn mib_per_second(pass: &HpcPass) -> f64 {
    pass.bytes / pass.seconds / MIB
}

fn items_per_second(pass: &HpcPass) -> f64 {
    pass.items / pass.seconds
}

/// IOR's lines for each repetition, the highest rates, and its summary.
pub fn ior_table(phases: &[HpcPhase], (block, transfer): (u64, u64)) -> String {
    let mut text = String::from(
        "access    bw(MiB/s)  IOPS       block(KiB) xfer(KiB)  total(s)   iter\n\
         ------    ---------  ----       ---------- ---------  --------   ----\n",
    );
    let kib = |bytes: u64| bytes as f64 / 1024.0;
    let repetitions = phases.iter().map(|it| it.passes.len()).max().unwrap_or(0);
    for iteration in 0..repetitions {
        for phase in phases {
            let Some(pass) = phase.passes.get(iteration) else {
                continue;
            };
            let _ = writeln!(
                text,
                "{:<9} {:<10.2} {:<10.2} {:<10.2} {:<10.2} {:<10.6} {iteration}",
                phase.name,
                mib_per_second(pass),
                items_per_second(pass),
                kib(block),
                kib(transfer),
                pass.seconds
            );
        }
    }
    text.push('\n');
    for phase in phases {
        let most = phase.spread(mib_per_second, 0).most;
        let name = match phase.name.as_str() {
            "write" => "Write",
            _ => "Read ",
        };
        let decimal = most * MIB / 1e6;
        let _ = writeln!(text, "Max {name}: {most:.2} MiB/sec ({decimal:.2} MB/sec)");
    }
    text.push_str(
        "\nSummary of all tests:\n\
         Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs) \
         \x20   StdDev    Mean(s)\n",
    );
    for phase in phases {
        let _ = write!(text, "{:<9}", phase.name);
        for of in [mib_per_second, items_per_second] {
            let it = phase.spread(of, 0);
            for value in [it.most, it.least, it.mean, it.deviation] {
                let _ = write!(text, " {value:>10.2}");
            }
        }
        let _ = writeln!(text, " {:>10.5}", phase.spread(|it| it.seconds, 0).mean);
    }
    text
}

/// mdtest's summary of rates, times or both.
pub fn mdtest_table(phases: &[HpcPhase], command: &MdtestCommand) -> String {
    let mut text = String::new();
    let iterations = command.iterations;
    let mut summary = |what: &str, of: fn(&HpcPass) -> f64| {
        let _ = writeln!(
            text,
            "SUMMARY {what}: (of {iterations} iterations)\n   \
             {:<20} {:>14} {:>14} {:>14} {:>14}",
            "Operation", "Max", "Min", "Mean", "Std Dev"
        );
        for phase in phases {
            let it = phase.spread(of, 1);
            let _ = writeln!(
                text,
                "   {:<20} {:>14.3} {:>14.3} {:>14.3} {:>14.3}",
                operation(&phase.name),
                it.most,
                it.least,
                it.mean,
                it.deviation
            );
        }
    };
    if command.shows_rates {
        summary("rate (in ops/sec)", items_per_second);
    }
    if command.shows_times {
        summary("time (in sec)", |it| it.seconds);
    }
    text
}

/// mdtest's name of a phase.
fn operation(phase: &str) -> &str {
    match phase {
        "mkdir" => "Tree creation",
        "create" => "File creation",
        "stat" => "File stat",
        // For empty files, which are opened and closed.
        "read" | "open" => "File read",
        "remove" => "File removal",
        "rmdir" => "Tree removal",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two repetitions in each program, with the deviations that it prints.
    #[test]
    fn deviations_are_those_of_each_program() {
        let passes = |values: &[f64]| HpcPhase {
            name: "create".into(),
            passes: values
                .iter()
                .map(|value| HpcPass {
                    seconds: 1.0,
                    bytes: value * MIB,
                    items: *value,
                })
                .collect(),
        };
        let rates = passes(&[166_522.575, 118_966.760]);
        let deviation = rates.spread(items_per_second, 1).deviation;
        assert_eq!(format!("{deviation:.3}"), "33627.039");
        let rates = passes(&[1195.13, 1084.68]);
        let deviation = rates.spread(mib_per_second, 0).deviation;
        assert_eq!(format!("{deviation:.1}"), "55.2");
        let text = mdtest_table(&[rates], &MdtestCommand::default());
        assert!(text.contains("File creation"), "{text}");
    }
}
