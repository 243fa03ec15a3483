//! Tables of timed commands.

use stats::{Estimate, PAIRS_MIN};
use units::{format_counted, format_duration_ns};

use crate::metric::*;
use crate::rank_share::RankShare;
use crate::reading::Unit;
use crate::replicate::Replicate;
use crate::run::RowWarning;
use crate::saying::Saying;
use crate::show::Show;
use crate::table::{Role, Row, Table, Trust, filled};
use crate::timing::{CommandComparison, TimedCommand, TimedRun, Timing, TimingVerdict};
use crate::warning_code::WarningCode;

/// Warnings that a command has no single mean time.
const NO_ONE_MEAN: [WarningCode; 3] = [
    WarningCode::TwoModes,
    WarningCode::Drift,
    WarningCode::FailedRuns,
];
/// Maximum number of outliers named for each command.
const OUTLIERS_NAMED: usize = 10;
const LEGEND: &str = "elapsed: mean, interval by Student's t over runs. CPU: mean time of the \
                      command and all that it waited for.";
const LEGEND_OF_SEVERAL: &str = "elapsed, CPU: geometric means over rounds, interval by Student's \
                                 t. CPU time is that of the command and all that it waited for.";
const LEGEND_OF_MEMORY: &str = "memory: the most that one process held, where that is more than \
                                this program's own.";
const LEGEND_OF_RATIOS: &str = "Geometric mean over rounds, Student's t on the logarithms of pairs \
                                of one round. Claims are corrected for their number (Holm).";
const LEGEND_OF_HOSTS: &str = "elapsed: mean on that rank. first in, last in: runs in which it was \
                               done first, or last. The time of a command is from the first start \
                               to the last end. Its CPU times are sums over ranks.";

impl Timing {
    /// The commands, their times relative to the first, and the times of each rank.
    pub fn tables(&self) -> Vec<Table> {
        filled([self.of_commands(), self.of_comparisons(), self.of_hosts()])
    }

    /// Warnings of each command.
    pub fn row_warnings(&self) -> Vec<RowWarning> {
        RowWarning::of_rows(self.commands.iter().map(|it| (&it.name, &it.warnings)))
    }

    /// The result of each comparison, a sentence each.
    pub fn findings(&self) -> Vec<String> {
        let found = self.comparisons.iter();
        found.map(|it| sentence(it, self.margin)).collect()
    }

    fn of_commands(&self) -> Table {
        let rows = self.commands.iter().map(|it| self.of_command(it));
        let columns = "elapsed cpu-user cpu-system memory runs";
        let named = self.commands.iter().filter(|it| it.name != it.command);
        let named = named.map(|it| format!("{}: {}", it.name, it.command));
        let shell = self.shell_s.map(|shell| {
            let time = format_duration_ns(shell * 1e9);
            format!("The shell that starts the commands takes {time} of each.")
        });
        let mut runs = self.commands.iter().flat_map(|it| &it.runs);
        let memory = runs.any(|it| it.memory_bytes.is_some());
        let memory = memory.then(|| LEGEND_OF_MEMORY.to_owned());
        let notes = std::iter::once(self.how()).chain(named);
        let legend = match self.commands.len() {
            1 => LEGEND,
            _ => LEGEND_OF_SEVERAL,
        };
        let notes = notes.chain(self.outliers()).chain([legend.to_owned()]);
        Table::new("commands", &["command"], rows.collect())
            .shown(Show::default().columns(columns).each("round"))
            .noted(notes.chain(memory).chain(shell))
    }

    fn of_command(&self, command: &TimedCommand) -> Row {
        let times = [
            (ELAPSED, command.real_s),
            (CPU_USER, command.user_s),
            (CPU_SYSTEM, command.system_s),
        ];
        let memory = command.runs.iter().filter_map(|it| it.memory_bytes).max();
        let others = [
            memory.map(|it| MEMORY.count(it).as_role(Role::Column)),
            Some(RUNS.count(command.runs.len() as u64)),
            self.shell_s.map(|it| SHELL.bare(it)),
        ];
        let times = times.into_iter();
        let figures = times.filter_map(|(metric, value)| Some(metric.of(value?)));
        let figures = figures.chain(others.into_iter().flatten());
        let levels = vec![command.name.clone()];
        let is_alone = self.comparisons.is_empty();
        let time = command.real_s.filter(|it| is_alone && it.is_bounded());
        let says = time.map(|time| {
            let (value, interval) = Unit::Seconds.format_interval(time);
            Saying::quoting(format!("{} takes {value} ({interval})", command.name)).of_name()
        });
        let warnings = &command.warnings;
        Row::new(levels, figures, "elapsed", trust(command))
            .warned(warnings)
            .quoted_with_interval()
            .with_replicates(command.runs.iter().map(replicate).collect())
            .saying(says)
    }

    fn of_comparisons(&self) -> Table {
        let rows = self.comparisons.iter().map(|it| {
            let row = of_comparison(it);
            // It is as reliable as both commands.
            let both = self.commands.iter();
            let both = both.filter(|command| [&it.name, &it.reference].contains(&&command.name));
            let trust = both.map(trust).fold(row.trust, Trust::max);
            let text = sentence(it, self.margin);
            let says = Saying::quoting(text.trim_end_matches('.')).of_name();
            Row { trust, ..row }.saying(Some(says))
        });
        let first = self.commands.first().map_or("", |it| it.name.as_str());
        Table::new("command-comparisons", &["command", "over"], rows.collect())
            .titled(format!("Elapsed time over that of {first}"))
            .noted([LEGEND_OF_RATIOS.to_owned()])
    }

    fn of_hosts(&self) -> Table {
        let rows = self.hosts.iter().map(of_host);
        Table::new("command-hosts", &["command", "rank"], rows.collect())
            .titled("Hosts")
            .of_steps()
            .noted([LEGEND_OF_HOSTS.to_owned()])
    }

    fn how(&self) -> String {
        let rounds = self.commands.iter().map(|it| it.runs.len()).max();
        let rounds = format_counted(rounds.unwrap_or_default() as u64, "round");
        let ended = match self.ended_by.as_str() {
            "precise" => "until precise",
            "budget" => "until time was up",
            "stopped" => "until stopped",
            _ => "as many as requested",
        };
        let order = match self.commands.len() {
            1 => "",
            _ => ", in random order, every second one in reverse",
        };
        let caches = match (self.is_cold, self.warm_ups) {
            (true, _) => "the system's caches dropped before each",
            (false, 0) => "no warm-up run",
            (false, _) => "warm caches",
        };
        format!("{rounds}, {ended}{order}, {caches}.")
    }

    fn outliers(&self) -> Option<String> {
        let commands = self.commands.iter();
        let named = commands.filter(|it| !it.outliers.is_empty());
        let named: Vec<String> = named.map(outliers).collect();
        let those = || format!("Far from the others, but counted: {}.", named.join("; "));
        (!named.is_empty()).then(those)
    }
}

/// How far the mean of a command can be used.
fn trust(command: &TimedCommand) -> Trust {
    let mut codes = command.warnings.iter().map(|it| &it.code);
    match codes.any(|code| NO_ONE_MEAN.contains(code)) {
        true => Trust::unless_invalid(&command.warnings).max(Trust::Unstable),
        false => Trust::unless_invalid(&command.warnings),
    }
}

/// The slowest of the outlier rounds.
fn outliers(command: &TimedCommand) -> String {
    let far = command.runs.iter();
    let far = far.filter(|run| command.outliers.contains(&run.round));
    let mut far: Vec<&TimedRun> = far.collect();
    far.sort_by(|a, b| b.real_s.total_cmp(&a.real_s));
    let named = far.iter().take(OUTLIERS_NAMED).map(|run| {
        let time = format_duration_ns(run.real_s * 1e9);
        format!("round {} {time}", run.round)
    });
    let named = named.collect::<Vec<_>>().join(", ");
    match far.len().saturating_sub(OUTLIERS_NAMED) {
        0 => format!("{}: {named}", command.name),
        more => format!("{}: {named} and {more} more", command.name),
    }
}

fn replicate(run: &TimedRun) -> Replicate {
    let mut readings = vec![
        ELAPSED.reading(run.real_s),
        CPU_USER.reading(run.user_s),
        CPU_SYSTEM.reading(run.system_s),
        STORAGE_READ.reading(run.read_bytes as f64),
        STORAGE_WRITTEN.reading(run.written_bytes as f64),
        EXIT_STATUS.reading(f64::from(run.exit)),
    ];
    let memory = run.memory_bytes.map(|bytes| bytes as f64);
    readings.extend(memory.map(|it| MEMORY.reading(it)));
    Replicate::new(run.round, true, readings)
}

fn of_comparison(found: &CommandComparison) -> Row {
    let figures = [
        TIME_RATIO.of(found.ratio),
        P_VALUE.bare(found.p_value),
        PAIRS.exact(found.pairs).as_role(Role::Column),
    ];
    let (trust, verdict) = match found.verdict {
        TimingVerdict::Slower => (Trust::Reliable, "slower"),
        TimingVerdict::Faster => (Trust::Reliable, "faster"),
        TimingVerdict::Equivalent => (Trust::Reliable, "equivalent"),
        TimingVerdict::NotShown => (Trust::Reliable, "no difference shown"),
        TimingVerdict::TooFew => (Trust::Reliable, "too few rounds"),
        TimingVerdict::RunsFailed => (Trust::Unstable, "runs failed"),
    };
    let levels = vec![found.name.clone(), found.reference.clone()];
    Row::new(levels, figures, "ratio", trust).with_word("verdict", verdict)
}

fn of_host(host: &RankShare) -> Row {
    let figures = [
        ELAPSED.bare(host.mean_s),
        FIRST_IN.exact(host.first_in),
        LAST_IN.exact(host.last_in),
        RUNS.exact(host.rounds),
    ];
    host.row(figures.map(|it| it.as_role(Role::Column)), "elapsed")
}

fn sentence(found: &CommandComparison, margin: f64) -> String {
    let (name, first) = (&found.name, &found.reference);
    let margin = format!("{:.1} %", margin * 100.0);
    let times = factor(found.ratio);
    match found.verdict {
        TimingVerdict::Slower => format!("{name} takes {times} times as long as {first}."),
        TimingVerdict::Faster => {
            let inverse = Estimate {
                value: 1.0 / found.ratio.value,
                low: 1.0 / found.ratio.high,
                high: 1.0 / found.ratio.low,
                ..found.ratio
            };
            format!("{name} is {} times as fast as {first}.", factor(inverse))
        }
        TimingVerdict::Equivalent => {
            format!("{name} takes as long as {first}, within {margin}: {times} times as long.")
        }
        TimingVerdict::TooFew => format!(
            "{name} takes {times} times as long as {first} in {}: too few to claim a difference. \
             That takes {PAIRS_MIN}.",
            format_counted(found.pairs.into(), "round")
        ),
        TimingVerdict::RunsFailed => format!(
            "{name} takes {times} times as long as {first} where both succeeded: runs failed, so \
             no difference is concluded."
        ),
        TimingVerdict::NotShown => format!(
            "No difference of more than {margin} shown between {name} and {first}: {name} takes \
             {times} times as long."
        ),
    }
}

fn factor(ratio: Estimate) -> String {
    let digits = if ratio.value >= 2.0 { 2 } else { 3 };
    let [value, low, high] = [ratio.value, ratio.low, ratio.high].map(|x| format!("{x:.digits$}"));
    format!("{value} ({low} .. {high})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_the_interval_says() {
        let sentence = |verdict| {
            let found = CommandComparison {
                name: "zstd".into(),
                reference: "gzip".into(),
                ratio: Estimate {
                    low: 0.162,
                    high: 0.220,
                    ..Estimate::exact(0.191, 5.0)
                },
                p_value: 0.000_012,
                pairs: 5,
                verdict,
            };
            sentence(&found, 0.02)
        };
        let ratio = "0.191 (0.162 .. 0.220) times as long";
        let as_fast = "zstd is 5.24 (4.55 .. 6.17) times as fast as gzip.";
        assert_eq!(sentence(TimingVerdict::Faster), as_fast);
        assert_eq!(
            sentence(TimingVerdict::Slower),
            format!("zstd takes {ratio} as gzip.")
        );
        let alike = format!("zstd takes as long as gzip, within 2.0 %: {ratio}.");
        assert_eq!(sentence(TimingVerdict::Equivalent), alike);
        let unknown = "No difference of more than 2.0 % shown between zstd and gzip";
        assert_eq!(
            sentence(TimingVerdict::NotShown),
            format!("{unknown}: zstd takes {ratio}.")
        );
        let few = "in 5 rounds: too few to claim a difference. That takes 5.";
        assert_eq!(
            sentence(TimingVerdict::TooFew),
            format!("zstd takes {ratio} as gzip {few}")
        );
    }
}
