//! fio's terse form, version 3: one line a job, fields between semicolons, times in microseconds.

use std::fmt::Write as _;

use super::{DiskUse, JobReport, SampleStatistics, Transfers, VERSION, depth_class, percentile};

/// Percentiles of a line, whatever a job asks for.
const PERCENTILES: usize = 20;

/// A line for each job; what the disks did stands at the end of each.
#[must_use]
pub fn terse(jobs: &[JobReport], disks: &[DiskUse]) -> String {
    let mut text = String::new();
    for job in jobs {
        let (title, group) = (job.title(), job.group);
        let _ = write!(text, "3;{VERSION};{title};{group};{}", job.error);
        // Version 3 has no trims.
        for (_, moved) in job.parts().iter().filter(|(name, _)| *name != "trim") {
            direction(&mut text, job, moved);
        }
        let usage = &job.usage;
        let _ = write!(
            text,
            ";{:.6}%;{:.6}%;0;{};{}",
            usage.user_percent, usage.system_percent, usage.major_faults, usage.minor_faults
        );
        let has_done = job.transfers.iter().any(|moved| moved.count() > 0);
        for class in 0..7 {
            let is_it = has_done && class == depth_class(job.depth);
            let _ = write!(text, ";{:.1}%", if is_it { 100.0 } else { 0.0 });
        }
        let [nanos, mut micros, millis] = job.classes();
        // What took less than a microsecond is filed under the first class.
        micros[0].1 += nanos.iter().map(|(_, share)| share).sum::<f64>();
        for (_, share) in micros.iter().chain(&millis) {
            let _ = write!(text, ";{share:.2}%");
        }
        for disk in disks {
            let [reads, writes] = disk.operations;
            let [read_merges, write_merges] = disk.merges;
            let [read_ms, write_ms] = disk.ticks_ms;
            let _ = write!(
                text,
                ";{};{reads};{writes};{read_merges};{write_merges};{read_ms};{write_ms};{};{:.2}%",
                disk.name, disk.queue_ms, disk.busy_percent
            );
        }
        text.push('\n');
    }
    text
}

fn direction(text: &mut String, job: &JobReport, moved: &Transfers) {
    let _ = write!(
        text,
        ";{};{};{};{}",
        moved.bytes >> 10,
        (moved.bytes_per_second() / 1024.0) as u64,
        moved.iops() as u64,
        moved.milliseconds()
    );
    let service = SampleStatistics::of(&moved.service);
    let submission = SampleStatistics::of(&moved.submission);
    times(text, &submission);
    times(text, &service);
    let percentiles = job.percentiles();
    for number in 0..PERCENTILES {
        let _ = match percentiles.get(number) {
            Some(percent) => {
                let value = percentile(&moved.service, *percent);
                write!(text, ";{percent:.6}%={}", value / 1000)
            }
            None => write!(text, ";0%=0"),
        };
    }
    times(text, &SampleStatistics::sum(&submission, &service));
    let [_, bw] = moved.windows();
    let share = if bw.count > 0 { 100.0 } else { 0.0 };
    let _ = write!(
        text,
        ";{};{};{share:.6}%;{:.6};{:.6}",
        bw.least as u64, bw.most as u64, bw.mean, bw.deviation
    );
}

fn times(text: &mut String, times: &SampleStatistics) {
    let _ = write!(
        text,
        ";{};{};{:.6};{:.6}",
        (times.least / 1000.0) as u64,
        (times.most / 1000.0) as u64,
        times.mean / 1000.0,
        times.deviation / 1000.0
    );
}
