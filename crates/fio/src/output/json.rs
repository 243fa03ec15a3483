//! fio's JSON.

use serde_json::{Map, Value, json as value};
use stats::Histogram;

use crate::steady::SteadyReport;

use super::{
    BATCH_CLASSES, DEPTH_CLASSES, DiskUse, Idleness, JobReport, PercentilesOf, PriorityTimes,
    SampleStatistics, Transfers, VERSION, batch_class, depth_class, percentile,
};

/// Data around the jobs.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Milliseconds since 1970.
    pub timestamp_ms: u64,
    /// The same as text.
    pub time: String,
    /// Options of `[global]`.
    pub global: Vec<(String, String)>,
    /// Whether to write histograms, as for `json+`.
    pub has_bins: bool,
    /// Disk activity.
    pub disks: Vec<DiskUse>,
    /// Idleness of processors, if requested.
    pub idleness: Option<Idleness>,
    /// Our additions, under their own key.
    pub own: Value,
}

/// The document of these jobs.
pub fn json(document: &Document, jobs: &[JobReport]) -> String {
    let is_of_clients = jobs.iter().any(|job| job.client.is_some());
    let key = if is_of_clients {
        "client_stats"
    } else {
        "jobs"
    };
    let jobs = jobs.iter().map(|job| job_object(job, document.has_bins));
    let mut whole = value!({
        "fio version": VERSION,
        "timestamp": document.timestamp_ms / 1000,
        "timestamp_ms": document.timestamp_ms,
        "time": document.time,
        "global options": options(&document.global),
        key: jobs.collect::<Vec<_>>(),
        "disk_util": document.disks.iter().map(disk).collect::<Vec<_>>(),
        "seekstone": document.own,
    });
    if let (Some(idleness), Some(fields)) = (&document.idleness, whole.as_object_mut()) {
        fields.insert("cpu_idleness".into(), idleness.json());
    }
    let text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    text + "\n"
}

fn options(given: &[(String, String)]) -> Value {
    let entries = given.iter();
    let entries = entries.map(|(name, text)| (name.clone(), Value::from(text.as_str())));
    Value::Object(entries.collect())
}

fn job_object(job: &JobReport, has_bins: bool) -> Value {
    let runtime = job.transfers.iter().map(Transfers::milliseconds);
    let runtime = runtime.max().unwrap_or(0);
    let [nanos, micros, millis] = job.classes();
    let described = job.options.iter().find(|(name, _)| name == "description");
    let mut object = value!({
        "jobname": job.name,
        "groupid": job.group,
        "error": job.error,
        "eta": 0,
        "elapsed": job.seconds_in_all + 1,
        "job options": options(&job.options),
        "job_runtime": runtime * u64::from(job.copies),
        "usr_cpu": job.usage.user_percent,
        "sys_cpu": job.usage.system_percent,
        "ctx": 0,
        "majf": job.usage.major_faults,
        "minf": job.usage.minor_faults,
        "iodepth_level": classed(job, &DEPTH_CLASSES, depth_class(job.in_flight)),
        "iodepth_submit": classed(job, &BATCH_CLASSES, batch_class(job.in_flight)),
        "iodepth_complete": classed(job, &BATCH_CLASSES, batch_class(job.in_flight)),
        "latency_ns": classes(&nanos),
        "latency_us": classes(&micros),
        "latency_ms": classes(&millis),
        "latency_depth": job.depth,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    });
    if let Some(object) = object.as_object_mut() {
        object.extend(described.map(|(_, text)| ("desc".to_owned(), text.clone().into())));
        for (name, moved) in job.parts() {
            object.insert(name.into(), direction(job, moved, has_bins));
        }
    }
    if let (true, Some(object)) = (job.is_apart(), object.as_object_mut()) {
        let times = with_percentiles(job, &job.flushes.service, has_bins);
        let sync = value!({ "total_ios": job.flushes.count(), "lat_ns": times });
        object.insert("sync".into(), sync);
    }
    if let (Some(found), Some(object)) = (&job.steady, object.as_object_mut()) {
        object.insert("steadystate".into(), steady(found));
    }
    if let (Some(client), Some(object)) = (&job.client, object.as_object_mut()) {
        object.insert("hostname".into(), client.name.clone().into());
        object.insert("port".into(), 0.into());
    }
    if let (Some(own), Some(object)) = (&job.own, object.as_object_mut()) {
        object.insert("seekstone".into(), own.clone());
    }
    object
}

/// fio's own names and units: bandwidth in bytes per second, unlike elsewhere.
fn steady(found: &SteadyReport) -> Value {
    let (criterion, unit) = found.criterion;
    let column = |at: usize| {
        let values = found.samples.iter().map(|sample| sample[at] as u64);
        values.collect::<Vec<u64>>()
    };
    let mean = |at: usize| found.mean(at) as u64;
    let [deviation, slope] = match found.is_slope {
        true => [0.0, criterion],
        false => [criterion, 0.0],
    };
    value!({
        "ss": found.rule,
        "duration": found.seconds,
        "attained": u8::from(found.is_attained),
        "criterion": format!("{criterion:.6}{unit}"),
        "max_deviation": deviation,
        "slope": slope,
        "data": {
            "bw_mean": mean(1),
            "iops_mean": mean(0),
            "lat_mean": mean(2),
            "iops": column(0),
            "bw": column(1),
            "lat_ns": column(2),
        },
    })
}

fn disk(disk: &DiskUse) -> Value {
    value!({
        "name": disk.name,
        "read_ios": disk.operations[0],
        "write_ios": disk.operations[1],
        "read_merges": disk.merges[0],
        "write_merges": disk.merges[1],
        "read_ticks": disk.ticks_ms[0],
        "write_ticks": disk.ticks_ms[1],
        "in_queue": disk.queue_ms,
        "util": disk.busy_percent,
    })
}

/// All requests in one class.
fn classed(job: &JobReport, classes: &[&str], class: usize) -> Value {
    let total: u64 = job.transfers.iter().map(Transfers::count).sum();
    let shares = classes.iter().enumerate().map(|(at, name)| {
        let share = if total > 0 && at == class { 100.0 } else { 0.0 };
        ((*name).to_owned(), Value::from(share))
    });
    Value::Object(shares.collect())
}

fn classes(shares: &[(String, f64)]) -> Value {
    let entries = shares.iter();
    Value::Object(
        entries
            .map(|(name, share)| (name.clone(), Value::from(*share)))
            .collect(),
    )
}

fn direction(job: &JobReport, moved: &Transfers, has_bins: bool) -> Value {
    let [iops, bw] = moved.windows();
    let PercentilesOf {
        submission,
        completion,
        whole,
    } = job.percentiles_of;
    let times = |times: &Histogram, has_percentiles: bool| match has_percentiles {
        true => with_percentiles(job, times, has_bins),
        false => spread(times),
    };
    let mut object = value!({
        "io_bytes": moved.bytes,
        "io_kbytes": moved.bytes >> 10,
        "bw_bytes": moved.bytes_per_second() as u64,
        "bw": (moved.bytes_per_second() / 1024.0) as u64,
        "iops": moved.iops(),
        "runtime": moved.milliseconds(),
        "total_ios": moved.count(),
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": times(&moved.submission, submission),
        "clat_ns": times(&moved.service, completion),
        "lat_ns": times(&moved.whole, whole),
        "bw_min": bw.least as u64,
        "bw_max": bw.most as u64,
        "bw_agg": moved.share_of_group(&bw),
        "bw_mean": bw.mean,
        "bw_dev": bw.deviation,
        "bw_samples": bw.count,
        "iops_min": iops.least as u64,
        "iops_max": iops.most as u64,
        "iops_mean": iops.mean,
        "iops_stddev": iops.deviation,
        "iops_samples": iops.count,
    });
    if let (false, Some(fields)) = (moved.priorities.is_empty(), object.as_object_mut()) {
        let entry = |it: &PriorityTimes| {
            // As in fio, those of lat precede those of clat.
            let (name, own, has_percentiles) = match whole {
                true => ("lat_ns", &it.whole, true),
                false => ("clat_ns", &it.service, completion),
            };
            let own = times(own, has_percentiles);
            value!({ "prioclass": it.class, "prio": it.level, name: own })
        };
        let all: Vec<Value> = moved.priorities.iter().map(entry).collect();
        fields.insert("prios".into(), all.into());
    }
    object
}

fn spread(times: &Histogram) -> Value {
    let times = SampleStatistics::of(times);
    value!({
        "min": times.least as u64,
        "max": times.most as u64,
        "mean": times.mean,
        "stddev": times.deviation,
        "N": times.count,
    })
}

/// With percentiles and, for `json+`, the count of each bucket by its middle.
fn with_percentiles(job: &JobReport, times: &Histogram, has_bins: bool) -> Value {
    let mut object = spread(times);
    let Some(fields) = object.as_object_mut().filter(|_| !times.is_empty()) else {
        return object;
    };
    let percentiles = job.percentiles().iter();
    let percentiles = percentiles.map(|percent| {
        let value = percentile(times, *percent);
        (format!("{percent:.6}"), Value::from(value))
    });
    fields.insert("percentile".into(), Value::Object(percentiles.collect()));
    if has_bins {
        let bins = times.iter_recorded().map(|bucket| {
            let middle = u64::midpoint(bucket.low, bucket.high);
            (middle.to_string(), Value::from(bucket.count))
        });
        fields.insert("bins".into(), Value::Object(bins.collect::<Map<_, _>>()));
    }
    object
}
