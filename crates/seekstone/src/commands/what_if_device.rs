//! The load of a measured run on a simulated device.

use anyhow::Context as _;
use host::interrupt::Interrupt;
use kinds::single_load::{LoadQuestion, LoadRequest, measure_load};
use lab::bench::{BenchRequest, default_settings};
use procedure::{Evidence, LoadPoint};
use results::{DeviceRow, Setup};
use sim::SimSpec;
use stats::Goal;
use units::{Duration, TargetName};
use workload::MixSpec;

use crate::args::WhatIfArgs;
use crate::exit::UsageError;
use crate::progress::Progress;

/// At most so many numbers of clients are run.
const ROWS_MAX: usize = 8;
/// How precise each of them is, and how much virtual time it may take.
const PRECISION: f64 = 0.03;
const DURATION_MAX: Duration = Duration::from_secs(120);
/// Requests that may be outstanding at once.
const DEPTH_MAX: u32 = 65_536;

/// Measured points beside those of the device, and whether it was stopped before the end.
///
/// # Errors
/// When the device does not exist, or the workload is not known.
pub fn same_load(
    device: &TargetName,
    evidence: &Evidence,
    workload: Option<&MixSpec>,
    args: &WhatIfArgs,
    seed: u64,
) -> anyhow::Result<(Vec<DeviceRow>, bool)> {
    let Some(model) = device.model() else {
        refuse!("--device {device}: only a simulated device, as in sim:mm1?mean=1ms");
    };
    SimSpec::parse(model).map_err(|error| UsageError(format!("--device: {error}")))?;
    let workload = workload.filter(|_| args.runs.len() == 1).ok_or_else(|| {
        UsageError(
            "--device takes a single run of `seekstone curve` or `run`, where \
             all clients do the same"
                .into(),
        )
    })?;
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let mut progress = Progress::new(args.quiet);
    let mut rows = Vec::new();
    for (index, point) in spread(&evidence.points).into_iter().enumerate() {
        let request = LoadRequest {
            bench: BenchRequest {
                storage: default_settings(seed.wrapping_add(index as u64)),
                ..BenchRequest::new(device.clone(), "what if", Setup::new("whatif", seed))
            },
            spec: workload.clone(),
            subject: String::new(),
            title: units::format_counted(point.clients.into(), "client"),
            question: LoadQuestion::Trial {
                clients: point.clients,
                depth: point.clients.min(DEPTH_MAX),
                goal: Some(Goal::result(PRECISION)),
                duration_max: DURATION_MAX,
                sample_every: None,
                warm_up: None,
            },
            goals: Vec::new(),
            follower: None,
        };
        let measured = measure_load(&request, &interrupt, &mut |stage| progress.show(stage));
        if interrupt.is_raised().is_some() {
            break;
        }
        let run = measured?;
        let measurement = run.measurements.first().context("nothing was measured")?;
        rows.push(DeviceRow {
            clients: point.clients,
            response: point.response,
            load: point.load,
            device_response: measurement.response.mean,
            device_load: measurement.throughput,
        });
    }
    progress.finish();
    Ok((rows, interrupt.is_raised().is_some()))
}

/// Points spread over all of them, each number of clients once, the most precise of its own.
fn spread(points: &[LoadPoint]) -> Vec<LoadPoint> {
    let mut once: Vec<LoadPoint> = Vec::new();
    for point in points {
        let width = |it: &LoadPoint| it.response.relative_half_width();
        match once.last_mut() {
            Some(last) if last.clients == point.clients => {
                if width(point) < width(last) {
                    *last = *point;
                }
            }
            _ => once.push(*point),
        }
    }
    let last = once.len() - 1;
    let rows = once.len().min(ROWS_MAX);
    if rows == 1 {
        return once;
    }
    (0..rows).map(|row| once[row * last / (rows - 1)]).collect()
}
