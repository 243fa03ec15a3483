//! Tables of random access.

use units::{Bytes, format_counted, format_interval_rate};

use crate::metric::*;
use crate::random_access::{RandomAccess, RandomCell, RandomKind};
use crate::reading::Unit;
use crate::replicate::Replicate;
use crate::run::RowWarning;
use crate::saying::{KNOWN, Saying, known};
use crate::show::Show;
use crate::table::{Figure, Row, Table, Trust, filled};

const TABLE: &str = "random";
const FACTORS: [&str; 4] = ["operation", "span", "block", "depth"];

impl RandomAccess {
    /// The cells, and the rate at which their file was written.
    pub fn tables(&self) -> Vec<Table> {
        let rows = self.cells.iter().map(|cell| {
            let is_listed = self.is_end(cell);
            row(cell).listed(is_listed).saying(self.saying(cell))
        });
        let columns = match self.is_cached() {
            true => "service-time service-time-p99 iops page-cache-share",
            false => "service-time service-time-p99 iops",
        };
        let cells = Table::new(TABLE, &FACTORS, rows.collect())
            .of_trials()
            .titled("Service times")
            .noted(self.notes())
            .shown(Show::default().side_by_side("operation").columns(columns));
        let filling = self.fill_rate.map(|rate| {
            let levels = vec![Bytes(self.size_bytes).to_string()];
            Row::new(levels, [THROUGHPUT.of(rate)], "throughput", Trust::Reliable)
        });
        let filling = Table::new("random-fill", &["file"], Vec::from_iter(filling))
            .titled("The file, written from its first byte to its last")
            .shown(Show::detail());
        filled([cells, filling])
    }

    /// Warnings of each cell.
    pub fn row_warnings(&self) -> Vec<RowWarning> {
        RowWarning::of_rows(self.cells.iter().map(|it| (it.title(), &it.warnings)))
    }

    /// Whether the cell is the first or the last of those over growing spans.
    fn is_end(&self, cell: &RandomCell) -> bool {
        let spans = self.over_spans(cell.kind);
        let ends = [spans.first(), spans.last()];
        ends.into_iter()
            .flatten()
            .any(|end| std::ptr::eq(*end, cell))
    }

    /// A statement about the cell of the largest span whose time is known, or else of the largest
    /// span.
    fn saying(&self, cell: &RandomCell) -> Option<Saying> {
        let is_known = |it: &&&RandomCell| {
            let mean = it.service.mean;
            mean.relative_half_width() <= KNOWN && it.errors == 0 && it.is_citable
        };
        let spans = self.over_spans(cell.kind);
        let quoted = spans.iter().rfind(is_known).or(spans.last())?;
        let text = std::ptr::eq(*quoted, cell).then(|| {
            format!(
                "random {} {}s within {}: mean service time {}",
                Bytes(cell.block_bytes),
                cell.kind.name(),
                Bytes(cell.span_bytes),
                known(Unit::Seconds, cell.service.mean.scale(1e-9))
            )
        });
        text.map(Saying::quoting)
    }

    fn is_cached(&self) -> bool {
        let mut cells = self.cells.iter();
        cells.any(|cell| cell.page_cache_share.is_some_and(|share| share > 0.0))
    }

    fn notes(&self) -> Vec<String> {
        let durable = match self.durable {
            true => ", that of a write with its fsync",
            false => "",
        };
        let check = match self.check.as_str() {
            "record" => "Number and text of each record were checked.",
            _ => "Data were not checked.",
        };
        let mut notes = vec![format!(
            "{}, each cell until its mean is known to {:.1} %. Times are from issue to \
             completion{durable}. {check}",
            self.rounds_done(),
            self.precision * 100.0
        )];
        notes.extend(self.fill_rate.map(|rate| {
            let (value, interval) = format_interval_rate(rate.value, rate.low, rate.high);
            let interval = match rate.is_bounded() {
                true => format!(" ({interval})"),
                false => String::new(),
            };
            format!("The file was written from its first byte to its last at {value}{interval}.")
        }));
        notes.extend(self.parts_of_a_read());
        let has = |kind: RandomKind| self.cells.iter().any(|cell| cell.kind == kind);
        if has(RandomKind::Read) && has(RandomKind::Write) {
            let text =
                "While reads are measured the storage may still be busy with earlier writes.";
            notes.push(text.to_owned());
        }
        if self.is_cached() {
            let text = "page cache share: of the bytes, those that the page cache answered.";
            notes.push(text.to_owned());
        }
        notes
    }

    /// The components of a read, by section 7 of the DISKRAND document: half a rotation, the
    /// transfer at the rate of larger blocks, and head movement.
    fn parts_of_a_read(&self) -> Option<String> {
        let turn_ns = self.turn_ns?;
        let known = self.cells.iter().filter(|it| {
            (it.kind, it.span_bytes, it.depth) == (RandomKind::Read, self.span_bytes, 1)
                && it.service.mean.relative_half_width() <= KNOWN
        });
        let small = known.clone().min_by_key(|it| it.block_bytes)?;
        let large = known.max_by_key(|it| it.block_bytes)?;
        let bytes = large.block_bytes - small.block_bytes;
        let (small_ns, large_ns) = (small.service.mean.value, large.service.mean.value);
        let byte_ns = (bytes > 0).then(|| (large_ns - small_ns) / bytes as f64)?;
        let (latency_ns, transfer_ns) = (turn_ns as f64 / 2.0, byte_ns * small.block_bytes as f64);
        let seek_ns = small_ns - latency_ns - transfer_ns;
        (seek_ns > 0.0 && transfer_ns > 0.0).then(|| {
            let time = |ns: f64| Unit::Seconds.format(ns / 1e9);
            format!(
                "A read of {1} within {2} takes {0}. Half a turn is {3}, the transfer {4}, at {5} \
                 a KiB of larger blocks. Head movement with all else is {6}.",
                time(small_ns),
                Bytes(small.block_bytes),
                Bytes(small.span_bytes),
                time(latency_ns),
                time(transfer_ns),
                time(byte_ns * 1024.0),
                time(seek_ns)
            )
        })
    }

    /// Rounds of the cells. Imprecise cells get more than requested.
    fn rounds_done(&self) -> String {
        let done = self.cells.iter().map(|it| it.rounds.len());
        match done.max() {
            Some(most) if most > self.rounds as usize => {
                format!("{} to {most} rounds", self.rounds)
            }
            _ => format_counted(self.rounds.into(), "round"),
        }
    }
}

impl RandomCell {
    /// Its name in sentences.
    fn title(&self) -> String {
        let (block, span) = (Bytes(self.block_bytes), Bytes(self.span_bytes));
        let (kind, depth) = (self.kind.name(), self.depth);
        format!("{kind} {block} within {span}, depth {depth}")
    }

    /// What is wrong with it, apart from its trust.
    fn state(&self) -> &'static str {
        match self {
            _ if self.is_all_failed() => "all failed",
            _ if !self.rounds_agree => "rounds differ",
            _ => "",
        }
    }
}

fn row(cell: &RandomCell) -> Row {
    let levels = vec![
        cell.kind.name().to_owned(),
        Bytes(cell.span_bytes).to_string(),
        Bytes(cell.block_bytes).to_string(),
        cell.depth.to_string(),
    ];
    let mut figures: Vec<Figure> = Vec::new();
    if !cell.is_all_failed() {
        figures.extend(SERVICE_TIME.of_times(&cell.service));
    }
    figures.push(IOPS.of(cell.throughput));
    figures.push(OPERATIONS.count(cell.operations));
    figures.push(ERRORS.count(cell.errors));
    let done = cell.rounds.len() as f64;
    figures.push(ROUNDS.exact(done));
    let cpu = cell.cpu_per_operation_ns.map(|ns| ns / 1e9);
    figures.extend(cpu.map(|it| CPU_PER_IO.bare(it)));
    figures.extend(cell.page_cache_share.map(|it| PAGE_CACHE_SHARE.bare(it)));
    let settled = Trust::reliable_if(cell.is_citable);
    let trust = settled.max(Trust::unless_invalid(&cell.warnings));
    let rounds = cell.rounds.iter().zip(1..).map(|(mean, number)| {
        Replicate::new(number, true, [SERVICE_TIME.reading(mean.value / 1e9)])
    });
    let headline = match cell.is_all_failed() {
        true => "iops",
        false => "service-time",
    };
    let row = Row::new(levels, figures, headline, trust).warned(&cell.warnings);
    let row = match cell.state() {
        "" => row,
        state => row.with_word("state", state),
    };
    row.quoted_with_interval().with_replicates(rounds.collect())
}
