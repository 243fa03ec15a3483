//! Messages of control threads, their sums, and the calculations.
//!
//! Source: the RPT manual of 1995, "The log file". Its sample lines settle what the text leaves
//! open: the total is the time over which the main process collected, whatever the number of
//! threads; squares of seek and transfer are of single I/Os, squares of the total are of messages;
//! and the standard deviation divides by the number of samples less one.

use std::fmt;

use crate::number::general;

/// Report of a control thread after a fixed number of I/Os.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadMessage {
    /// Number of the control thread.
    pub thread: u32,
    /// Of this message only: the total is the time since the thread's previous message.
    pub sums: Sums,
}

/// Sums over messages. Interpolated ones need not be integers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Control threads that were active.
    pub threads: f64,
    pub messages: f64,
    /// KiB moved.
    pub kbytes: f64,
    /// I/Os done.
    pub nios: f64,
    /// Sum of seek times, seconds.
    pub seek: f64,
    /// Sum of seek and transfer times, seconds.
    pub xfer: f64,
    /// Time over which the messages were collected, seconds.
    pub total: f64,
    /// Sum of squares of seek times.
    pub seek_sq: f64,
    /// Sum of squares of seek and transfer times.
    pub xfer_sq: f64,
    /// Sum of squares of the messages' totals.
    pub total_sq: f64,
    /// Sum of the messages' totals; not in any file, and zero if unknown.
    pub message_total: f64,
}

/// The quantity that must be known within a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Converging {
    /// The mean response time: transaction workloads.
    Response,
    /// The mean total time of a message: batch workloads.
    Total,
}

/// Figures calculated from sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calculation {
    /// Response time, milliseconds.
    pub response_ms: f64,
    /// Load, I/Os per second.
    pub load: f64,
    /// `RABmark[r]`: load over response time.
    pub rabmark_r: f64,
    /// `RABmark[n]`: throughput, MiB/s.
    pub rabmark_n: f64,
}

impl Calculation {
    /// From response time, load and throughput.
    pub fn new(response_ms: f64, load: f64, throughput: f64) -> Self {
        Self {
            response_ms,
            load,
            rabmark_r: load / response_ms,
            rabmark_n: throughput,
        }
    }

    /// The interpolation at this part of the way from `before` to `now`.
    pub fn between(before: &Self, now: &Self, part: f64) -> Self {
        let mix = |from: f64, to: f64| from + part * (to - from);
        Self::new(
            mix(before.response_ms, now.response_ms),
            mix(before.load, now.load),
            mix(before.rabmark_n, now.rabmark_n),
        )
    }
}

/// The four numbers as logged.
impl fmt::Display for Calculation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = [self.response_ms, self.load, self.rabmark_r, self.rabmark_n];
        let [response, load, r, n] = figures.map(general);
        write!(f, "{response} {load}  {r} {n}")
    }
}

impl Sums {
    /// No messages of that many threads.
    pub fn of_threads(threads: u32) -> Self {
        Self {
            threads: f64::from(threads),
            ..Self::default()
        }
    }

    /// Adds a message; the total is independent of the messages' and stays unchanged.
    pub fn add(&mut self, message: &ThreadMessage) {
        let kept = (self.threads, self.total);
        for of in fields() {
            *of(self) += *of(&mut { message.sums });
        }
        (self.threads, self.total) = kept;
    }

    /// Response time, load and RABmarks.
    pub fn calculation(&self) -> Calculation {
        Calculation {
            response_ms: 1000.0 * self.xfer / self.nios,
            load: self.nios / self.total,
            rabmark_r: self.nios / self.total / (1000.0 * self.xfer / self.nios),
            rabmark_n: self.kbytes / (1024.0 * self.total),
        }
    }

    /// The factor within which the mean is known, at three standard errors; infinite for fewer than
    /// two samples.
    pub fn factor(&self, of: Converging) -> f64 {
        match of {
            Converging::Response => three_sigma(self.nios, self.xfer, self.xfer_sq),
            Converging::Total if self.message_total > 0.0 => {
                three_sigma(self.messages, self.message_total, self.total_sq)
            }
            // Each thread spent about the whole collection time on its messages.
            Converging::Total => {
                three_sigma(self.messages, self.total * self.threads, self.total_sq)
            }
        }
    }

    /// Number of messages that would reduce `factor` to `wanted`.
    pub fn messages_necessary(&self, factor: f64, wanted: f64) -> f64 {
        self.messages * (factor / wanted).powi(2)
    }

    /// The interpolation of every sum at this part of the way from `before` to `now`.
    pub fn between(before: &Self, now: &Self, part: f64) -> Self {
        let mut mixed = *now;
        for of in fields() {
            let from = *of(&mut { *before });
            let to = of(&mut mixed);
            if part != 1.0 {
                *to = from + part * (*to - from);
            }
        }
        mixed
    }
}

impl ThreadMessage {
    /// The message of a thread with the sums of its I/Os.
    pub fn of(thread: u32, sums: &Sums) -> Self {
        let sums = Sums {
            threads: 1.0,
            messages: 1.0,
            message_total: sums.total,
            ..*sums
        };
        Self { thread, sums }
    }
}

/// Each of the sums.
fn fields() -> impl Iterator<Item = fn(&mut Sums) -> &mut f64> {
    let message_total: fn(&mut Sums) -> &mut f64 = |it| &mut it.message_total;
    COLUMNS.map(|it| it.of).into_iter().chain([message_total])
}

/// A number in the log's line of sums.
pub(super) struct SumColumn {
    pub(super) of: fn(&mut Sums) -> &mut f64,
    /// Text before it.
    pub(super) gap: &'static str,
    /// The power of clock ticks that it is in.
    pub(super) ticks: i32,
}

const fn column(gap: &'static str, ticks: i32, of: fn(&mut Sums) -> &mut f64) -> SumColumn {
    SumColumn { of, gap, ticks }
}

/// Leading numbers of a line of sums that a message does not have.
pub(super) const OF_SUMS_ALONE: usize = 2;
/// The numbers of a line of sums, in order. A message has the last eight.
pub(super) const COLUMNS: [SumColumn; 10] = [
    column("  ", 0, |it| &mut it.threads),
    column(" ", 0, |it| &mut it.messages),
    column("  ", 0, |it| &mut it.kbytes),
    column(" ", 0, |it| &mut it.nios),
    column("  ", 1, |it| &mut it.seek),
    column(" ", 1, |it| &mut it.xfer),
    column(" ", 1, |it| &mut it.total),
    column("  ", 2, |it| &mut it.seek_sq),
    column(" ", 2, |it| &mut it.xfer_sq),
    column(" ", 2, |it| &mut it.total_sq),
];

/// `3 s / (sqrt(n) m)` with the sample's standard deviation.
fn three_sigma(n: f64, sum: f64, sum_sq: f64) -> f64 {
    if n < 2.0 || sum <= 0.0 {
        return f64::INFINITY;
    }
    let mean = sum / n;
    let variance = ((sum_sq - sum * mean) / (n - 1.0)).max(0.0);
    3.0 * (variance / n).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::general;

    /// A line of sums as the manual prints it.
    const fn line(counts: [f64; 4], times: [f64; 3], squares: [f64; 3]) -> Sums {
        Sums {
            threads: counts[0],
            messages: counts[1],
            kbytes: counts[2],
            nios: counts[3],
            seek: times[0],
            xfer: times[1],
            total: times[2],
            seek_sq: squares[0],
            xfer_sq: squares[1],
            total_sq: squares[2],
            message_total: 0.0,
        }
    }

    const FIRST: Sums = line(
        [1.0, 8.0, 3200.0, 800.0],
        [0.084_905, 15.6658, 46.88],
        [0.000_220_158, 0.711_372, 301.058],
    );
    const SECOND: Sums = line(
        [1.0, 16.0, 6400.0, 1600.0],
        [0.171_505, 30.9565, 85.21],
        [0.000_443_511, 1.724_18, 489.408],
    );
    const THIRD: Sums = line(
        [1.0, 32.0, 12_800.0, 3200.0],
        [0.421_868, 59.3275, 163.3],
        [0.001_706_09, 3.404_86, 879.616],
    );

    fn printed(sums: &Sums) -> [String; 5] {
        let found = sums.calculation();
        [
            general(found.response_ms),
            general(found.load),
            general(found.rabmark_r),
            general(found.rabmark_n),
            general(sums.factor(Converging::Response)),
        ]
    }

    #[test]
    fn the_manuals_third_sums_give_its_own_figures() {
        let expected = ["18.5398", "19.5958", "1.05696", "0.0765462", "0.0767826"];
        assert_eq!(printed(&THIRD), expected);
        let factor = THIRD.factor(Converging::Response);
        assert_eq!(general(THIRD.messages_necessary(factor, 0.03)), "209.62");
    }

    #[test]
    fn the_manuals_second_sums_give_its_own_figures() {
        let expected = ["19.3478", "18.7771", "0.970504", "0.0733482", "0.102832"];
        assert_eq!(printed(&SECOND), expected);
    }

    #[test]
    fn the_manuals_first_sums_give_its_own_figures_as_far_as_their_digits_go() {
        // 15.6658 s over 800 I/Os is 19.58225 ms; the manual, which had more digits, prints
        // 19.5823.
        let [response, load, rabmark_r, rabmark_n, factor] = printed(&FIRST);
        let response: f64 = response.parse().expect("a number");
        assert!((response - 19.5823).abs() <= 0.5e-4 / 800.0 * 1000.0 + 0.5e-4);
        assert_eq!(load, "17.0648");
        let rabmark_r: f64 = rabmark_r.parse().expect("a number");
        assert!((rabmark_r - 0.871_443).abs() < 4e-6, "{rabmark_r}");
        assert_eq!(rabmark_n, "0.0666596");
        // Likewise 0.121885 for sums within half a unit of the last digit.
        let fuller = Sums {
            xfer: 15.665_84,
            ..FIRST
        };
        assert_eq!(printed(&fuller)[4], "0.121885");
        assert_eq!(printed(&fuller)[0], "19.5823");
        assert_eq!(factor, "0.121886");
    }

    #[test]
    fn the_worked_example_holds() {
        let (n, sum, sum_sq) = (3200.0, 59.3275, 3.404_86_f64);
        // The text divides by n where the program divides by n - 1.
        let deviation_ms = (n * sum_sq - sum * sum).sqrt() * 1000.0 / n;
        assert!((deviation_ms - 26.8383).abs() < 1e-4, "{deviation_ms}");
        let relative = deviation_ms / (1000.0 * sum / n);
        assert!((relative - 1.4476).abs() < 5e-5, "{relative}");
        assert!(((100.0 * relative).powi(2) - 20_955.0).abs() < 1.0);
    }

    #[test]
    fn the_sample_reports_sum_agrees_with_its_rounded_lines() {
        let lines = [(19.0, 20.0), (29.0, 32.0), (40.0, 39.0), (50.0, 40.0)];
        let sum = |away: f64| -> f64 {
            let each = lines.map(|(ms, iops): (f64, f64)| (iops + away) / (ms - away));
            each.iter().sum()
        };
        assert!(sum(-0.5) < 3.959_126 && 3.959_126 < sum(0.5));
        // Its second figure is the last level's throughput, not a sum over the levels.
        let last = |iops: f64| iops * 4.0 / 1024.0;
        assert!(last(39.5) < 0.155_583 && 0.155_583 < last(40.5));
    }

    #[test]
    fn totals_converge_by_message() {
        let mut sums = Sums::of_threads(2);
        for total in [1.0, 1.1, 0.9, 1.0] {
            sums.add(&ThreadMessage::of(
                0,
                &Sums {
                    nios: 10.0,
                    total,
                    total_sq: total * total,
                    ..Sums::default()
                },
            ));
        }
        sums.total = 2.0;
        let factor = sums.factor(Converging::Total);
        let expected = 3.0 * (0.02_f64 / 3.0 / 4.0).sqrt();
        assert!((factor - expected).abs() < 1e-9, "{factor} {expected}");
        assert!(Sums::of_threads(1).factor(Converging::Total).is_infinite());
    }

    #[test]
    fn interpolation_keeps_the_last_sums_at_one_and_the_level_between() {
        assert_eq!(Sums::between(&FIRST, &THIRD, 1.0), THIRD);
        let (low, high) = (
            Calculation::new(20.0, 40.0, 0.1),
            Calculation::new(40.0, 60.0, 0.3),
        );
        let half = Calculation::between(&low, &high, 0.5);
        assert!((half.response_ms - 30.0).abs() < 1e-12 && (half.load - 50.0).abs() < 1e-12);
        assert!((half.rabmark_r - 50.0 / 30.0).abs() < 1e-12);
    }
}
