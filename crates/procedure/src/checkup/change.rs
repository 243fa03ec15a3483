//! Detects storage that changed during the check-up.
//!
//! Burst credits run out, heat throttles, neighbours come and go: a row from the first seconds then
//! contradicts the later curve. So rows of reads are measured again at the end, and compared with
//! the load curve's point of one client where it has one.

use results::{Curve, Measurement, Warning, WarningCode};
use stats::Estimate;
use units::{Duration, format_interval_count, format_interval_rate};

/// Levels count as different only if they reliably differ by this factor. On a machine with
/// background load, repeated rows of a virtual disk were 1.5 times as slow half a minute later.
const SURELY: f64 = 1.5;

/// Causes of slow rows other than the storage, which have their own warnings.
const DISTURBED: [WarningCode; 2] = [WarningCode::BackgroundIo, WarningCode::LateGenerator];

/// Whether a row shows the speed of the storage, undisturbed by background load.
pub(super) fn is_comparable(measurement: &Measurement) -> bool {
    let mut warnings = measurement.warnings.iter();
    !measurement.is_all_failed() && warnings.all(|it| !DISTURBED.contains(&it.code))
}

/// Where a row was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookedAt {
    /// In the row itself.
    Row,
    /// At the load curve's point of one client.
    Curve,
    /// In the second measurement, at the end.
    End,
}

/// A reading of a row at one time.
#[derive(Clone, Debug)]
pub(super) struct RowLook {
    /// The row's name and title.
    name: String,
    title: String,
    pub(super) place: LookedAt,
    /// Time from the start of the check-up.
    from: Duration,
    until: Duration,
    /// With several hosts, each has a client in a row, while the curve's point has one in total.
    clients: u32,
    /// Operations per second.
    load: Estimate,
    /// Bytes per operation.
    bytes_each: f64,
}

impl RowLook {
    /// A reading of the row `name`.
    pub(super) fn new(
        name: &str,
        place: LookedAt,
        measurement: &Measurement,
        (from, until): (Duration, Duration),
    ) -> Self {
        let completions = measurement.completions_all.max(1) as f64;
        Self {
            name: name.to_owned(),
            title: measurement.title.clone(),
            place,
            from,
            until,
            clients: measurement.clients,
            load: measurement.throughput,
            bytes_each: measurement.bytes_all as f64 / completions,
        }
    }

    /// Whether the levels reliably differ.
    fn differs_from(&self, other: &Self) -> bool {
        let (one, two) = (&self.load, &other.load);
        let is_known = one.is_bounded() && two.is_bounded();
        if !is_known || one.overlaps(two) || self.clients != other.clients {
            return false;
        }
        let ratio = one.over(two);
        ratio.low > SURELY || ratio.high < 1.0 / SURELY
    }

    /// The level in the units of its row: bytes for large blocks.
    fn level(&self) -> String {
        let is_large = self.bytes_each >= f64::from(1 << 16);
        let (value, interval) = match is_large {
            true => {
                let rate = self.load.scale(self.bytes_each);
                format_interval_rate(rate.value, rate.low, rate.high)
            }
            false => {
                let (value, interval) =
                    format_interval_count(self.load.value, self.load.low, self.load.high);
                (format!("{value} IOPS"), interval)
            }
        };
        format!("{value} ({interval})")
    }
}

/// A row whose level changed during the check-up.
#[derive(Clone, Debug)]
struct LevelChange {
    /// The row before the change, and the first and last readings that differ.
    before: RowLook,
    after: RowLook,
    last: RowLook,
    /// When the old level was last seen.
    seen_until: Duration,
    /// Where readings differ from the first level.
    places: Vec<LookedAt>,
}

impl LevelChange {
    /// The change, if any, in `looks` at one row, in order of time.
    fn of(looks: &[&RowLook]) -> Option<Self> {
        let differ = |one: usize, two: usize| looks[one].differs_from(looks[two]);
        let others = |one: usize| (0..looks.len()).filter(move |&two| differ(one, two));
        let first = (0..looks.len()).find(|&one| others(one).next().is_some())?;
        let (after, last) = (others(first).next()?, others(first).next_back()?);
        let places = (0..looks.len()).filter(|&one| others(one).next().is_some());
        Some(Self {
            before: looks[first].clone(),
            after: looks[after].clone(),
            last: looks[last].clone(),
            seen_until: looks[after - 1].until,
            places: places.map(|one| looks[one].place).collect(),
        })
    }

    const fn is_slower(&self) -> bool {
        self.last.load.value < self.before.load.value
    }

    /// Both levels, and when each was seen.
    fn levels(&self) -> String {
        format!(
            "{} until {} and {} from {} on",
            self.before.level(),
            self.seen_until,
            self.last.level(),
            self.after.from
        )
    }
}

/// The changes of all rows.
#[derive(Clone, Debug, Default)]
pub(super) struct LevelChanges(Vec<LevelChange>);

impl LevelChanges {
    /// The changes in `looks`, in order of time.
    pub(super) fn of(looks: &[RowLook]) -> Self {
        let mut names: Vec<&str> = looks.iter().map(|look| look.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let of_row = |name: &&str| {
            let looks: Vec<&RowLook> = looks.iter().filter(|look| look.name == **name).collect();
            LevelChange::of(&looks)
        };
        Self(names.iter().filter_map(of_row).collect())
    }

    fn verb(&self) -> &'static str {
        let slower = self.0.iter().filter(|change| change.is_slower()).count();
        match slower {
            0 => "sped up",
            all if all == self.0.len() => "slowed down",
            _ => "changed",
        }
    }

    /// Headline for a report of storage that changed.
    pub(super) fn headline(&self) -> Option<String> {
        let rows = self.0.iter().map(|change| {
            let title = &change.before.title;
            format!("{title} gave {}", change.levels())
        });
        let rows: Vec<String> = rows.collect();
        (!rows.is_empty()).then(|| {
            format!(
                "This storage {} during the test: {}. Results from before do not apply after that.",
                self.verb(),
                rows.join("; ")
            )
        })
    }

    /// The warning about the row `name` as measured there, if it differs.
    fn doubt(&self, name: &str, place: LookedAt) -> Option<Warning> {
        let change = self.0.iter().find(|it| it.before.name == name)?;
        change.places.contains(&place).then(|| {
            let subject = match place {
                LookedAt::Row => change.before.title.clone(),
                LookedAt::Curve => "load curve, at one client".to_owned(),
                LookedAt::End => at_end(&change.before.title),
            };
            Warning::warn(
                WarningCode::LevelChanged,
                format!(
                    "{subject}: one of two levels of this storage, {}.",
                    change.levels()
                ),
            )
            .advise(
                "Find out which one lasts (burst credits, throttling, other users). Run \
                 `seekstone trial --duration 10min`.",
            )
        })
    }

    /// Adds the warnings to the rows and the curve. `again` has the second measurements, which are
    /// shown if they differ.
    pub(super) fn mark(
        &self,
        rows: &mut Vec<Measurement>,
        again: &[(String, Measurement)],
        curve: Option<&mut Curve>,
    ) {
        for row in rows.iter_mut() {
            row.warnings.extend(self.doubt(&row.name, LookedAt::Row));
        }
        for (name, row) in again {
            if let Some(doubt) = self.doubt(name, LookedAt::End) {
                let mut row = row.clone();
                row.title = at_end(&row.title);
                row.warnings.push(doubt);
                rows.push(row);
            }
        }
        if let Some(curve) = curve {
            let names = self.0.iter().map(|change| &change.before.name);
            let doubts = names.filter_map(|name| self.doubt(name, LookedAt::Curve));
            curve.warnings.extend(doubts);
        }
    }
}

fn at_end(title: &str) -> String {
    format!("{title}, at the end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::of_mean;
    use random::{Purpose, Stream};

    /// A reading of a row with `load` operations of 4 KiB per second and a relative error.
    fn look(place: LookedAt, seconds: u64, load: f64, share: f64) -> RowLook {
        let mut row = of_mean(Estimate::exact(1e9 / load, 1000.0), 1000);
        row.title = "random read".into();
        row.throughput = Estimate {
            low: load * (1.0 - share),
            high: load * (1.0 + share),
            ..Estimate::exact(load, 1000.0)
        };
        (row.completions_all, row.bytes_all) = (1000, 4_096_000);
        let times = [seconds, seconds + 10].map(Duration::from_secs);
        RowLook::new("random-read", place, &row, times.into())
    }

    fn change_of(loads: [(f64, f64); 3]) -> Option<String> {
        let places = [LookedAt::Row, LookedAt::Curve, LookedAt::End];
        let looks = places.into_iter().zip([20, 40, 100]).zip(loads);
        let looks: Vec<RowLook> = looks
            .map(|((place, at), (load, share))| look(place, at, load, share))
            .collect();
        LevelChanges::of(&looks).headline()
    }

    #[test]
    fn both_levels_are_told_with_when_each_was_seen() {
        let slower = change_of([(1000.0, 0.01), (990.0, 0.05), (100.0, 0.02)]);
        assert_eq!(
            slower.as_deref(),
            Some(
                "This storage slowed down during the test: random read gave 1,000 IOPS (990 .. \
                 1,010) until 50.0 s and 100 IOPS (98 .. 102) from 1 min 40 s on. Results \
                 from before do not apply after that."
            )
        );
        let faster = change_of([(100.0, 0.01), (300.0, 0.05), (1000.0, 0.02)]).unwrap_or_default();
        assert!(faster.contains("sped up"), "{faster}");
        assert!(faster.contains("until 30.0 s and 1,000 IOPS"), "{faster}");
        assert!(faster.contains("from 40.0 s on"), "{faster}");
        // Credits recover by the end: the row and the curve differ.
        let dip = change_of([(1000.0, 0.01), (100.0, 0.05), (1000.0, 0.02)]).unwrap_or_default();
        assert!(dip.contains("slowed down"), "{dip}");
    }

    #[test]
    fn what_is_within_intervals_or_little_is_no_change() {
        for loads in [
            // A change of less than 1.5 times, however precise.
            [(1000.0, 0.001), (1000.0, 0.001), (1490.0, 0.001)],
            // A factor of 2, but imprecise.
            [(1000.0, 0.6), (1000.0, 0.6), (2000.0, 0.6)],
            // 1.75 times, but perhaps only 1.33 times.
            [(1000.0, 0.15), (1000.0, 0.15), (1750.0, 0.15)],
            [(1000.0, f64::INFINITY), (1000.0, 0.01), (1000.0, 0.01)],
        ] {
            assert_eq!(change_of(loads), None, "{loads:?}");
        }
    }

    #[test]
    fn a_row_that_others_disturbed_is_not_compared() {
        let mut row = of_mean(Estimate::exact(1e5, 1000.0), 1000);
        assert!(is_comparable(&row));
        for code in DISTURBED {
            row.warnings = vec![Warning::warn(code.clone(), "others")];
            assert!(!is_comparable(&row), "{code}");
        }
    }

    /// With no change and correct 95 % intervals, three readings of any precision are called a
    /// change in less than 2 of 100 check-ups.
    #[test]
    fn steady_storage_is_seldom_said_to_change() {
        const DRAWS: u32 = 20_000;
        let mut stream = Stream::new(7, 0, Purpose::Address);
        for share in [0.01, 0.1, 0.2, 0.3, 0.4] {
            let mut draw = || {
                // Irwin-Hall: the sum of twelve uniform numbers is nearly normal.
                let normal: f64 = (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
                let load = 1000.0 * (1.0 + share / 1.96 * normal);
                (load, share * 1000.0 / load)
            };
            let alarms = (0..DRAWS).filter(|_| change_of([draw(), draw(), draw()]).is_some());
            let alarms = alarms.count();
            assert!(alarms <= 2 * DRAWS as usize / 100, "{share}: {alarms}");
        }
    }
}
