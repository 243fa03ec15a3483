//! A run that never was: what the display can show, with figures of no device.

use results::live::{
    Live, LiveConvergence, LiveLevel, LiveRow, LiveState, LiveWorkload, Verbosity,
};
use results::{Curve, CurveLevel, CurvePoint, LevelOutcome, Mode, Saturation};
use stats::{CONFIDENCE, Estimate};

const NAMES: [&str; 7] = [
    "Transaction",
    "Workstation",
    "Time-sharing",
    "Batch random",
    "Sequential read",
    "Sequential write",
    "Copy",
];

/// The most operations per second that the invented device does, and the clients that get half.
const LOAD_MAX: f64 = 18_600.0;
const CLIENTS_HALF: f64 = 14.0;

pub fn estimate(value: f64, share: f64) -> Estimate {
    Estimate {
        value,
        low: value * (1.0 - share),
        high: value * (1.0 + share),
        confidence: CONFIDENCE,
        samples: 40.0,
    }
}

/// A closed queue of the simplest kind: the load bends off, the response time rises.
pub fn point(clients: u32, is_scout: bool) -> CurvePoint {
    let load = LOAD_MAX * f64::from(clients) / (f64::from(clients) + CLIENTS_HALF);
    let response = f64::from(clients) * 1e9 / load;
    CurvePoint {
        offered: None,
        at_percentile: None,
        clients,
        load: estimate(load, if is_scout { 0.09 } else { 0.028 }),
        response: estimate(response, 0.03),
        service: estimate(response * 0.96, 0.03),
        response_p99: None,
        lateness_ns: 900.0,
        cores_busy: Some(0.4),
        device_time: None,
        bandwidth: None,
        server: None,
        law: None,
        is_scout,
        is_converged: !is_scout,
    }
}

fn workloads(done: usize) -> Vec<LiveWorkload> {
    let level = |index: usize, place: f64| {
        let response_ms = [0.8065, 2.667, 5.333, 8.0][index] * (1.0 + place / 9.0);
        LiveLevel {
            response_ms: Some(response_ms),
            iops: Some(load_at(response_ms) / (1.0 + place / 3.0)),
            relative_half_width: Some([0.008, 0.021, 0.029, 0.026][index]),
        }
    };
    let one = |(index, name): (usize, &&str)| {
        let place = index as f64;
        let has_levels = index < 4;
        let is_done = index < done;
        LiveWorkload {
            number: index as u32 + 1,
            name: (*name).to_owned(),
            has_levels,
            levels: if has_levels && is_done {
                [0, 1, 2, 3].map(|step| level(step, place))
            } else {
                Default::default()
            },
            rabmark_r: (has_levels && is_done).then_some(9_480.0 / (1.0 + place)),
            rabmark_s: is_done.then_some(66.2 * (1.0 + 1.7 * place)),
            curve: if has_levels && is_done {
                curve()
            } else {
                Curve::default()
            },
        }
    };
    NAMES.iter().enumerate().map(one).collect()
}

fn row(count: u64, threads: u64, response_ms: f64) -> LiveRow {
    let iops = threads as f64 / response_ms * 930.0;
    LiveRow {
        count: Some(count),
        threads: Some(threads),
        operations: Some(count * 1_250),
        kib: Some(count * 1_250 * 4),
        response_ms: Some(response_ms),
        iops: Some(iops),
        rabmark_r: Some(iops / response_ms),
        rabmark_s: Some(iops / 256.0),
    }
}

/// The load at which the invented device has this response time.
fn load_at(response_ms: f64) -> f64 {
    LOAD_MAX - CLIENTS_HALF * 1e3 / response_ms
}

fn levels() -> Vec<CurveLevel> {
    let reached = |level_ms: u32, share| CurveLevel {
        open: None,
        level_ns: u64::from(level_ms) * 1_000_000,
        outcome: LevelOutcome::Reached {
            load: estimate(load_at(level_ms.into()), share),
            clients: f64::from(level_ms) * LOAD_MAX / 1e3 - CLIENTS_HALF,
            is_precise: true,
        },
    };
    let last = point(256, true);
    let not_reached = LevelOutcome::NotReached {
        clients: 256,
        load: last.load,
        response: last.response,
    };
    vec![
        reached(2, 0.018),
        reached(5, 0.024),
        CurveLevel {
            open: None,
            level_ns: 20_000_000,
            outcome: not_reached,
        },
    ]
}

/// Before anything was measured.
pub fn before() -> Live {
    let names = [
        ("Target", "/srv/storage/array-7/volume-12/scratch"),
        ("Config File", "rpt.toml"),
        ("Param File", "default"),
        ("Report File", "rpt-2.json"),
    ];
    Live {
        state: LiveState::Stopped,
        run: 1,
        mode: Mode::Normal,
        configuration: names
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        workloads: workloads(0),
        activity: "press S to start".to_owned(),
        ..Live::default()
    }
}

fn curve() -> Curve {
    let scouts = [1, 2, 4, 8, 16, 32, 64, 128, 256].map(|clients| point(clients, true));
    let finals = [1, 6, 12, 26, 36, 80, 110, 190].map(|clients| point(clients, false));
    let mut points: Vec<CurvePoint> = scouts.into_iter().chain(finals).collect();
    points.sort_by_key(|point| point.clients);
    Curve {
        points,
        levels: levels(),
        saturation: Some(Saturation {
            load: estimate(17_640.0, 0.01),
            clients: 256,
            is_saturated: true,
            is_converged: true,
        }),
        ..Curve::default()
    }
}

/// In the middle of the second workload.
pub fn middle() -> Live {
    let mut workloads = workloads(1);
    workloads[1].curve = curve();
    let looks = (1..=34).map(|look| 0.21 / f64::from(look).sqrt()).collect();
    Live {
        state: LiveState::Execute,
        workload: 1,
        threads: 26,
        elapsed_ns: 4_217_000_000_000,
        workloads,
        verbosity: Verbosity::Summary,
        current_message: row(34, 26, 1.912),
        current_thread: row(128, 26, 1.874),
        last_thread: row(256, 12, 1.021),
        last_response: row(1, 30, 2.0),
        activity: "Workstation: 26 clients, the point below 2 ms".to_owned(),
        convergence: LiveConvergence {
            relative_half_widths: looks,
            goal: Some(0.03),
        },
        progress: Some(0.237),
        warnings: vec![
            "the processor's clock may change during the run: set the governor to performance"
                .to_owned(),
            "the response time drifted by 4.1 % within the trial of 12 clients".to_owned(),
        ],
        ..before()
    }
}

/// All done.
pub fn after() -> Live {
    Live {
        state: LiveState::Finished,
        workload: 6,
        threads: 0,
        elapsed_ns: 21_840_000_000_000,
        workloads: workloads(7),
        activity: "finished: the report is in rpt-2.json".to_owned(),
        progress: Some(1.0),
        ..middle()
    }
}
