//! Transfer passes: the order of series, when a rate is precise, and comparisons between series.
//!
//! The rate of a series is its bytes over its time, with the interval of its passes' times.
//! `rounds` decides when there are enough passes.

use results::{
    Access, AloneTogether, TransferKind, TransferMode, TransferPass, TransferSeries, Warning,
    WarningCode,
};
use stats::{Estimate, RepeatsEnd, mean_of_repeats};
use units::{Bytes, Duration};
use workload::{AddressSpec, ClientSpec, Mix, MixSpec, Region};

use crate::checkup::MAIN_DIRECT;
use crate::repeats;
use crate::rounds::{Rounds, RoundsRule};
use crate::trial::Trial;

/// Size of the smallest of growing parts, bytes.
const PART_MIN: u64 = 1 << 20;
/// Page-cache share from which a part counts as read from memory.
const FROM_MEMORY: f64 = 0.5;
/// If page-cache shares of passes differ by more than this, they have no common rate.
const SHARE_SPREAD: f64 = 0.2;

/// Counts the passes of a series and decides when there are enough.
#[derive(Clone, Debug)]
pub struct PassCount {
    rounds: Rounds,
    seconds: Vec<f64>,
    bytes: u64,
}

impl PassCount {
    /// A series without passes.
    pub fn new(rule: RoundsRule) -> Self {
        Self {
            rounds: Rounds::new(rule),
            seconds: Vec::new(),
            bytes: 0,
        }
    }

    /// The number of the next pass; `None` when there are enough.
    pub fn next_pass(&mut self) -> Option<u32> {
        let done = self.seconds.len() as u32;
        let spent = Duration::from_secs_f64(self.seconds.iter().sum());
        let Self {
            rounds,
            seconds,
            bytes,
        } = self;
        let precision = rounds.rule().precision;
        let rate = || rate_over(*bytes, seconds, RepeatsEnd::LookedAt, None);
        let is_precise = || rate().relative_half_width() <= precision;
        match rounds.end(done, spent, is_precise) {
            Some(_) => None,
            None => Some(done + 1),
        }
    }

    /// Records a pass.
    pub fn record(&mut self, bytes: u64, elapsed: Duration) {
        self.bytes += bytes;
        self.seconds.push(elapsed.as_secs_f64());
    }

    /// Bytes per second over the passes; `within` is the interval of a single pass.
    pub fn rate(&self, within: Option<Estimate>) -> Estimate {
        rate_over(self.bytes, &self.seconds, self.rounds.rule().end(), within)
    }

    /// Whether the interval is as narrow as requested, or none was requested.
    pub fn is_precise(&self) -> bool {
        let rule = self.rounds.rule();
        rule.rounds.is_some() || self.rate(None).relative_half_width() <= rule.precision
    }
}

/// Bytes per second of passes that moved `bytes` in these `seconds`; `within` is the interval of a
/// single pass.
pub fn rate_over(
    bytes: u64,
    seconds: &[f64],
    end: RepeatsEnd,
    within: Option<Estimate>,
) -> Estimate {
    let count = seconds.len() as f64;
    let total: f64 = seconds.iter().sum();
    let value = bytes as f64 / total.max(1e-9);
    let Some(time) = mean_of_repeats(seconds, end) else {
        return within.map_or_else(
            || Estimate {
                low: 0.0,
                high: f64::INFINITY,
                ..Estimate::exact(value, count)
            },
            |within| within.scale(value / within.value),
        );
    };
    Estimate {
        low: value * time.value / time.high,
        high: if time.low > 0.0 {
            value * time.value / time.low
        } else {
            f64::INFINITY
        },
        ..Estimate::exact(value, count)
    }
}

/// What to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferShape {
    /// How data is accessed.
    pub mode: TransferMode,
    /// Block sizes, one series for each.
    pub blocks: Vec<u32>,
    /// Bytes per pass and stream.
    pub size: Bytes,
    /// Number of streams.
    pub streams: u32,
    /// Numbers of the streams that write their files before reading.
    pub writers: Vec<u32>,
    /// Whether each stream is also measured alone.
    pub alone: bool,
    /// When a series of reads ends.
    pub rule: RoundsRule,
}

/// One series, to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesPlan {
    /// Description.
    pub title: String,
    /// Direction.
    pub kind: TransferKind,
    /// Block size, bytes.
    pub block: u32,
    /// Bytes per pass and stream.
    pub size: u64,
    /// Numbers of the participating streams, from 1.
    pub streams: Vec<u32>,
    /// Whether the page cache is dropped before each pass.
    pub drops_cache: bool,
    /// When it ends.
    pub rule: RoundsRule,
}

impl TransferShape {
    /// All series, in order of measurement.
    pub fn series(&self) -> Vec<SeriesPlan> {
        let all: Vec<u32> = (1..=self.streams).collect();
        let mut plans = Vec::new();
        if !self.writers.is_empty() {
            let writers = self.writers.clone();
            plans.push(self.plan(TransferKind::Write, self.blocks[0], self.size.0, writers));
        }
        for &block in &self.blocks {
            if self.mode == TransferMode::SmallFile {
                self.growing(block, &all, &mut plans);
                continue;
            }
            if self.alone && self.streams > 1 {
                // Streams of a model are identical, so one represents all.
                let alone = match self.mode {
                    TransferMode::Simulated => &all[..1],
                    _ => &all[..],
                };
                for &stream in alone {
                    plans.push(self.plan(TransferKind::Read, block, self.size.0, vec![stream]));
                }
            }
            plans.push(self.plan(TransferKind::Read, block, self.size.0, all.clone()));
        }
        plans
    }

    /// Parts that double up to the whole file, each read from the device and then again.
    fn growing(&self, block: u32, all: &[u32], plans: &mut Vec<SeriesPlan>) {
        let unit = u64::from(block);
        let mut part = PART_MIN.max(unit).min(self.size.0);
        loop {
            let size = part / unit * unit;
            let mut first = self.plan(TransferKind::Read, block, size, all.to_vec());
            first.drops_cache = true;
            first.rule.rounds = Some(1);
            first.title = format!("{}, first", first.title);
            let mut again = self.plan(TransferKind::Read, block, size, all.to_vec());
            again.title = format!("{}, again", again.title);
            plans.extend([first, again]);
            if part >= self.size.0 {
                return;
            }
            part = (part * 2).min(self.size.0);
        }
    }

    fn plan(&self, kind: TransferKind, block: u32, size: u64, streams: Vec<u32>) -> SeriesPlan {
        let block_text = Bytes(u64::from(block));
        let what = match kind {
            TransferKind::Write => "write",
            TransferKind::Read => "read",
        };
        let who = match (streams.as_slice(), self.streams) {
            (_, 1) => String::new(),
            ([one], _) => format!(", stream {one} alone"),
            (many, _) => format!(", {} streams", many.len()),
        };
        let rule = match kind {
            TransferKind::Read => self.rule,
            TransferKind::Write => RoundsRule {
                rounds: Some(1),
                ..self.rule
            },
        };
        SeriesPlan {
            title: format!("{what} {} by {block_text}{who}", Bytes(size)),
            kind,
            block,
            size,
            streams,
            drops_cache: self.mode == TransferMode::Cold && kind == TransferKind::Read,
            rule,
        }
    }
}

impl SeriesPlan {
    /// One pass of one stream; on a model, of as many clients as there are streams. A partial block
    /// is left to [`SeriesPlan::rest`].
    pub fn trial(&self, access: Access, number: u32, clients: u32, left: Duration) -> Trial {
        let whole = self.size - self.size % u64::from(self.block);
        let title = format!("{}, pass {number}", self.title);
        let trial = self.part(title, (0, whole), self.block, clients);
        Trial {
            access,
            duration_max: left,
            salt: self.salt(number, self.block.into()),
            ..trial
        }
    }

    /// The partial block at the end of such a pass, in one operation.
    pub fn rest(&self, access: Access, number: u32, left: Duration) -> Option<Trial> {
        let rest = self.size % u64::from(self.block);
        let title = format!("{}, pass {number}, its end", self.title);
        let trial = self.part(title, (self.size - rest, rest), rest as u32, 1);
        (rest > 0).then(|| Trial {
            access,
            duration_max: left,
            salt: self.salt(number, rest),
            ..trial
        })
    }

    /// Salt of a pass. Writes and reads with equal draws would have equal errors on a model.
    fn salt(&self, number: u32, len: u64) -> u64 {
        let kind = match self.kind {
            TransferKind::Write => 0,
            TransferKind::Read => 1 << 62,
        };
        u64::from(number) | len << 16 | kind
    }

    /// `len` bytes from an offset, in operations of `block`.
    fn part(&self, title: String, (offset, len): (u64, u64), block: u32, clients: u32) -> Trial {
        let (name, mix) = match self.kind {
            TransferKind::Write => ("sequential-write", Mix::WRITE),
            TransferKind::Read => ("sequential-read", Mix::READ),
        };
        let region = Region {
            offset,
            ..Region::first(MAIN_DIRECT, len, block.into())
        };
        let mut spec = MixSpec::closed(AddressSpec::sequential(region), mix);
        spec.operations = Some(len / u64::from(block).max(1));
        Trial {
            title,
            clients,
            depth: clients,
            ..Trial::new(name, ClientSpec::Mix(spec), Access::Direct)
        }
    }
}

/// Warnings about a series.
pub fn transfer_doubts(title: &str, passes: &[TransferPass], is_precise: bool) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if !is_precise {
        warnings.push(
            Warning::warn(
                WarningCode::NotConverged,
                format!(
                    "{title}: ended before it was as precise as requested. The interval is wider."
                ),
            )
            .advise("Raise --budget, or relax --precision."),
        );
    }
    warnings.extend(drift(title, passes));
    let shares = || passes.iter().filter_map(|pass| pass.page_cache_share);
    let (low, high) = shares().fold((1.0_f64, 0.0_f64), |(low, high), share| {
        (low.min(share), high.max(share))
    });
    if high - low > SHARE_SPREAD {
        warnings.push(
            Warning::warn(
                WarningCode::CacheChanges,
                format!(
                    "{title}: the page cache served {:.0} % of one pass and {:.0} % of another. \
                 There is no single rate.",
                    low * 100.0,
                    high * 100.0
                ),
            )
            .advise(
                "Use --mode direct or cold for the device, or a file much smaller than \
                memory.",
            ),
        );
    }
    warnings
}

/// Passes whose later half differs significantly from the earlier one.
fn drift(title: &str, passes: &[TransferPass]) -> Option<Warning> {
    let seconds: Vec<f64> = passes.iter().map(|it| it.elapsed_ns as f64 / 1e9).collect();
    repeats::drift(&seconds).map(|change| {
        Warning::warn(
            WarningCode::Drift,
            format!(
                "{title}: the later half of the passes took {:+.0} % time compared with the \
                 earlier half. The rate is still changing, and its interval does not allow for \
                 that.",
                change * 100.0
            ),
        )
        .advise("Measure longer, or find out what else uses the storage.")
    })
}

/// Each stream alone against together, and their sum, for each block size.
pub fn alone_together(series: &[TransferSeries]) -> Vec<AloneTogether> {
    let reads = || series.iter().filter(|it| it.kind == TransferKind::Read);
    let mut found = Vec::new();
    for together in reads().filter(|it| it.streams.len() > 1) {
        let alone: Vec<&TransferSeries> = reads()
            .filter(|it| it.streams.len() == 1 && it.block_bytes == together.block_bytes)
            .collect();
        let count = together.streams.len();
        if alone.is_empty() {
            continue;
        }
        for one in &alone {
            let place = together.streams.iter().position(|it| *it == one.streams[0]);
            let rate = place.and_then(|place| together.stream_rates.get(place));
            if let Some(rate) = rate {
                let stream = Some(one.streams[0]);
                found.push(compared(stream, together.block_bytes, one.rate, *rate));
            }
        }
        // If one stream represents all, the sum is a multiple of its rate.
        let factor = count as f64 / alone.len() as f64;
        let sum = sum_of(&alone.iter().map(|it| it.rate).collect::<Vec<_>>()).scale(factor);
        found.push(compared(None, together.block_bytes, sum, together.rate));
    }
    found
}

/// The sum of independent estimates.
fn sum_of(estimates: &[Estimate]) -> Estimate {
    let value: f64 = estimates.iter().map(|it| it.value).sum();
    let root = |side: fn(&Estimate) -> f64| {
        let squares = estimates.iter().map(|it| side(it).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let samples = estimates.iter().map(|it| it.samples);
    Estimate {
        low: (value - root(|it| it.value - it.low)).max(0.0),
        high: value + root(|it| it.high - it.value),
        ..Estimate::exact(value, samples.fold(f64::INFINITY, f64::min))
    }
}

fn compared(
    stream: Option<u32>,
    block_bytes: u64,
    alone: Estimate,
    together: Estimate,
) -> AloneTogether {
    let width =
        (alone.relative_half_width().powi(2) + together.relative_half_width().powi(2)).sqrt();
    let value = together.value / alone.value;
    AloneTogether {
        stream,
        block_bytes,
        alone,
        together,
        ratio: Estimate {
            low: (value * (1.0 - width)).max(0.0),
            high: value * (1.0 + width),
            ..Estimate::exact(value, alone.samples.min(together.samples))
        },
    }
}

/// The largest part of a file that was served from memory when read again.
pub fn memory_up_to(series: &[TransferSeries]) -> Option<u64> {
    let again = series.iter().filter(|it| it.title.ends_with(", again"));
    again
        .filter(|it| {
            let shares: Vec<f64> = it
                .passes
                .iter()
                .filter_map(|pass| pass.page_cache_share)
                .collect();
            let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
            mean >= FROM_MEMORY
        })
        .map(|it| it.size_bytes)
        .max()
}
