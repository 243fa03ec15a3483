//! fio's terse format: one line per job, fields separated by semicolons, times in microseconds.

use std::fmt::Write as _;

use stats::Histogram;

use super::{DiskUse, JobReport, SampleStatistics, Transfers, VERSION, depth_class, percentile};

/// Percentiles per line, whatever a job requests.
const PERCENTILES: usize = 20;

/// Version of the format, by fio's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerseVersion {
    /// With trims, without disks and fio's version; descriptions on separate lines.
    V2,
    /// No trims.
    #[default]
    V3,
    V4,
    /// Also has samples of rates.
    V5,
}

impl TerseVersion {
    /// fio's number.
    const fn number(self) -> u32 {
        self as u32 + 2
    }

    /// The version with that number.
    pub fn of(number: &str) -> Option<Self> {
        let all = [Self::V2, Self::V3, Self::V4, Self::V5];
        all.into_iter().find(|it| it.number().to_string() == number)
    }
}

/// A line for each job, each ending with the activity of the disks.
pub fn terse(jobs: &[JobReport], disks: &[DiskUse], version: TerseVersion) -> String {
    let mut text = String::new();
    for job in jobs {
        let _ = write!(text, "{};", version.number());
        if version > TerseVersion::V2 {
            let _ = write!(text, "{VERSION};");
        }
        let _ = write!(text, "{};{};{}", job.title(), job.group, job.error);
        for (name, moved) in job.parts() {
            if name != "trim" || version != TerseVersion::V3 {
                direction(&mut text, job, moved, version);
            }
        }
        usage_and_classes(&mut text, job);
        let disks = disks.iter().filter(|_| version > TerseVersion::V2);
        disks.for_each(|disk| used(&mut text, disk));
        let described = job.options.iter().find(|(name, _)| name == "description");
        if let Some((_, description)) = described {
            let begin = if version == TerseVersion::V2 {
                "\n"
            } else {
                ""
            };
            let _ = write!(text, "{begin};{description}");
        }
        text.push('\n');
    }
    text
}

/// CPU use, and percentages of requests by depth and latency.
fn usage_and_classes(text: &mut String, job: &JobReport) {
    let usage = &job.usage;
    let _ = write!(
        text,
        ";{:.6}%;{:.6}%;0;{};{}",
        usage.user_percent, usage.system_percent, usage.major_faults, usage.minor_faults
    );
    let has_done = job.transfers.iter().any(|moved| moved.count() > 0);
    for class in 0..7 {
        let is_it = has_done && class == depth_class(job.in_flight);
        let _ = write!(text, ";{:.1}%", if is_it { 100.0 } else { 0.0 });
    }
    let [nanos, mut micros, millis] = job.classes();
    // Latencies below a microsecond are in the first class.
    micros[0].1 += nanos.iter().map(|(_, share)| share).sum::<f64>();
    for (_, share) in micros.iter().chain(&millis) {
        let _ = write!(text, ";{share:.2}%");
    }
}

fn used(text: &mut String, disk: &DiskUse) {
    let [reads, writes] = disk.operations;
    let [read_merges, write_merges] = disk.merges;
    let [read_ms, write_ms] = disk.ticks_ms;
    let _ = write!(
        text,
        ";{};{reads};{writes};{read_merges};{write_merges};{read_ms};{write_ms};{};{:.2}%",
        disk.name, disk.queue_ms, disk.busy_percent
    );
}

fn direction(text: &mut String, job: &JobReport, moved: &Transfers, version: TerseVersion) {
    let _ = write!(
        text,
        ";{};{};{};{}",
        moved.bytes >> 10,
        (moved.bytes_per_second() / 1024.0) as u64,
        moved.iops() as u64,
        moved.milliseconds()
    );
    times(text, &moved.submission);
    times(text, &moved.service);
    // As in fio, those of lat precede those of clat.
    let of = job.percentiles_of;
    let (shown, is_any) = match of.whole {
        true => (&moved.whole, true),
        false => (&moved.service, of.completion),
    };
    let percentiles = job.percentiles();
    for number in 0..PERCENTILES {
        let _ = match percentiles.get(number).filter(|_| is_any) {
            Some(percent) => {
                let value = percentile(shown, *percent);
                write!(text, ";{percent:.6}%={}", value / 1000)
            }
            None => write!(text, ";0%=0"),
        };
    }
    times(text, &moved.whole);
    let [iops, bw] = moved.windows();
    let share = moved.share_of_group(&bw);
    let _ = write!(
        text,
        ";{};{};{share:.6}%;{:.6};{:.6}",
        bw.least as u64, bw.most as u64, bw.mean, bw.deviation
    );
    if version == TerseVersion::V5 {
        let _ = write!(
            text,
            ";{};{};{};{:.6};{:.6};{}",
            bw.count, iops.least as u64, iops.most as u64, iops.mean, iops.deviation, iops.count
        );
    }
}

fn times(text: &mut String, times: &Histogram) {
    let times = SampleStatistics::of(times);
    let _ = write!(
        text,
        ";{};{};{:.6};{:.6}",
        (times.least / 1000.0) as u64,
        (times.most / 1000.0) as u64,
        times.mean / 1000.0,
        times.deviation / 1000.0
    );
}
