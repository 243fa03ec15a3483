//! What all rounds amount to, as tables: a row for all files, and a histogram.

use procedure::{PositioningPlan, positioning_found};
use results::metric::{
    BIN, FILES_OF_ROUND, POSITIONING_LONGEST, POSITIONING_MEAN, PUBLISHED_FILES, PUBLISHED_MEAN,
    PUBLISHED_RATIO, ROUND_MEAN,
};
use results::{Figure, PlotOf, Role, Row, Saying, Show, Table, Trust, Unit};
use stats::Estimate;
use units::{Bytes, Duration, format_counted};

use super::kp3;
use super::rounds::Published;

const LEGEND: &str =
    "files of round: mean over rounds. Here the interval holds 95 % of the rounds.";

/// The tables of rounds, of which there is one at least.
pub(super) fn tables(
    plan: &PositioningPlan,
    rounds: &[Vec<Duration>],
    published: Published,
) -> Vec<Table> {
    let found = positioning_found(plan, rounds);
    let known = published == Published::Dlt2000;
    let mean = found.mean;
    let published_s = kp3::POSITIONING_MEAN_MS as f64 / 1e3;
    let compared = known.then(|| {
        [
            PUBLISHED_MEAN.exact(published_s),
            PUBLISHED_RATIO.of(mean.scale(1e-9 / published_s)),
        ]
    });
    let compared = compared.into_iter().flatten();
    let of_round = found
        .one_round
        .map(|it| ROUND_MEAN.of_ns(it).as_role(Role::Detail));
    let longest = found.longest.as_secs_f64();
    let figures = [
        POSITIONING_MEAN.of_ns(mean),
        POSITIONING_LONGEST.exact(longest),
    ];
    let figures = figures.into_iter().chain(compared);
    let figures = figures.map(|it| it.as_role(Role::Column)).chain(of_round);
    let (value, interval) = Unit::Seconds.format_interval(mean.scale(1e-9));
    let says = mean.is_bounded().then(|| {
        let text =
            format!("the first record of a file comes after {value} ({interval}) on average");
        Saying::quoting(text)
    });
    let trust = match mean.is_bounded() {
        true => Trust::Reliable,
        false => Trust::Unstable,
    };
    let files = format_counted(u64::from(plan.files), "file");
    let row = Row::new(vec![files], figures, POSITIONING_MEAN.name, trust).saying(says);
    let source = known.then(|| format!("published: {}.", kp3::POSITIONING_SOURCE));
    let one_round = found.one_round.map(|it| {
        let [low, high] = [it.low, it.high].map(|ns| Unit::Seconds.format(ns * 1e-9));
        format!("The mean of one round is {low} to {high} in 95 % of the rounds.")
    });
    let has_rounds = one_round.is_some();
    let notes = std::iter::once(how(plan, rounds.len()))
        .chain(one_round)
        .chain(source);
    let counted = known.then_some(kp3::POSITIONING_BINS.as_slice());
    vec![
        Table::new("positioning", &["files"], vec![row]).noted(notes),
        histogram(&found.bins, found.bin, counted, has_rounds),
    ]
}

fn how(plan: &PositioningPlan, rounds: usize) -> String {
    let size = Bytes(plan.file_bytes).decimal();
    let record = Bytes(u64::from(plan.record_bytes));
    let rounds = format_counted(rounds as u64, "round");
    format!(
        "Files of {size}, each opened once a round in random order, {record} read of it. {rounds} \
         in virtual time, each with the device at rest before."
    )
}

/// A row for each bin, from zero on.
fn histogram(
    bins: &[Estimate],
    width: Duration,
    published: Option<&[u32]>,
    has_rounds: bool,
) -> Table {
    let count = bins.len().max(published.map_or(0, <[u32]>::len));
    let rows = (0..count).map(|bin| {
        let ends = [bin, bin + 1].map(|end| end as f64 * width.as_secs_f64());
        let at = Estimate {
            low: ends[0],
            high: ends[1],
            ..Estimate::exact(f64::midpoint(ends[0], ends[1]), 1.0)
        };
        let files = bins.get(bin).copied();
        let files = FILES_OF_ROUND.of(files.unwrap_or_else(|| Estimate::exact(0.0, 1.0)));
        let document = published.map(|it| it.get(bin).copied().unwrap_or(0));
        let document = document.map(|it| PUBLISHED_FILES.exact(it).as_role(Role::Column));
        let figures: Vec<Figure> = [files].into_iter().chain(document).collect();
        let figures = figures
            .into_iter()
            .chain([BIN.of(at).as_role(Role::Detail)]);
        let levels = vec![name_of(bin as u64, width)];
        Row::new(levels, figures, FILES_OF_ROUND.name, Trust::Reliable)
    });
    let drawn = [Some(&FILES_OF_ROUND), published.map(|_| &PUBLISHED_FILES)];
    let plot = PlotOf {
        title: "Time to the first record".to_owned(),
        x: BIN.name.to_owned(),
        y: drawn
            .into_iter()
            .flatten()
            .map(|it| it.name.to_owned())
            .collect(),
        by: None,
    };
    Table::new("positioning-times", &["within"], rows.collect())
        .titled("Times to the first record")
        .of_steps()
        .shown(Show::default().bar(FILES_OF_ROUND.name).plot(plot))
        .noted(has_rounds.then(|| LEGEND.to_owned()))
}

/// From where to where a bin goes, in the unit of its width.
fn name_of(bin: u64, width: Duration) -> String {
    const UNITS: [(u64, &str); 4] = [
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1000, "us"),
        (1, "ns"),
    ];
    let ns = width.as_nanos();
    let fitting = UNITS.into_iter().find(|(unit, _)| ns.is_multiple_of(*unit));
    let (unit, name) = fitting.unwrap_or((1, "ns"));
    let width = ns / unit;
    format!("{} .. {} {name}", bin * width, (bin + 1) * width)
}
