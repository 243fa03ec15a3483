//! Models fitted to load curves of simulated queues whose answers are known exactly: predictions at
//! loads that were held back, and the parameters.

#![allow(
    clippy::print_stdout,
    reason = "the tables are a product of these tests"
)]

use crate::support::Coverage;
use crate::support::curves::run_curve;
use crate::support::queues::ClosedQueue;
use crate::support::thinking;
use procedure::{
    Analysis, CurveOptions, Inquiry, Levels, QuestionError, SystemChange, WhatIfQuestion,
    curve_evidence,
};
use results::{Curve, Prediction};
use units::Duration;

type Seeds = std::ops::RangeInclusive<u64>;
const FEW: Seeds = 1..=10;
const MANY: Seeds = 1..=50;

/// A simulated device, with the truth about it in seconds.
struct Case {
    device: &'static str,
    think: Duration,
    levels_ms: [u64; 4],
    clients_max: u32,
    truth: fn(u32) -> (f64, f64),
}

impl Case {
    fn curve(&self, seed: u64) -> Curve {
        let levels = self.levels_ms.map(Duration::from_millis).to_vec();
        let options = CurveOptions {
            levels: Levels::Explicit(levels),
            clients_max: self.clients_max,
            budget: Some(Duration::from_secs(300)),
            ..CurveOptions::default()
        };
        run_curve(self.device, thinking(self.think), options, seed).curve
    }

    fn analysis(&self, seed: u64) -> Analysis {
        let think = self.think.as_nanos() as f64;
        let evidence = curve_evidence(&self.curve(seed), self.device, 1, Some(think));
        let evidence = evidence.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        Analysis::new(evidence, seed).unwrap_or_else(|| panic!("seed {seed}: too few points"))
    }

    /// How often predictions contain the truth, and how far parameters are off.
    fn check(&self, seeds: Seeds) -> Vec<Analysis> {
        let mut response = Coverage::of(format!("{}: response", self.device));
        let mut load = Coverage::of(format!("{}: load", self.device));
        let mut analyses = Vec::new();
        for seed in seeds {
            let analysis = self.analysis(seed);
            assert_eq!(analysis.refusal(), None, "{}: seed {seed}", self.device);
            for clients in held_back(&analysis) {
                let found = ask(&analysis, WhatIfQuestion::Clients(clients))
                    .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                let (truth_load, truth_response) = (self.truth)(clients);
                response.add(&found.response.scale(1e-9), truth_response, seed);
                load.add(&found.load, truth_load, seed);
            }
            analyses.push(analysis);
        }
        for coverage in [response, load] {
            println!("{coverage}");
            assert!(coverage.share() >= 0.9, "{coverage}");
        }
        analyses
    }
}

/// In the middle of the three widest gaps between the numbers of clients that were measured: loads
/// that no fit saw.
fn held_back(analysis: &Analysis) -> Vec<u32> {
    let points = &analysis.evidence.points;
    let mut gaps: Vec<(f64, u32)> = points
        .windows(2)
        .map(|pair| [pair[0].clients, pair[1].clients].map(f64::from))
        .map(|[low, high]| (high / low, (low * high).sqrt().round() as u32))
        .filter(|(_, middle)| points.iter().all(|point| point.clients != *middle))
        .collect();
    gaps.sort_by(|a, b| b.0.total_cmp(&a.0));
    gaps.iter().take(3).map(|(_, middle)| *middle).collect()
}

/// The number of servers is found to 10 % in nine of ten runs at least.
fn check_servers(analyses: &[Analysis], servers: f64) {
    let off = analyses.iter().map(|analysis| {
        let mut found = analysis.parameters.iter();
        let found = found.find(|it| it.name == "servers");
        (found.map_or(1.0, |it| it.value.value) / servers - 1.0).abs()
    });
    let mut off: Vec<f64> = off.collect();
    off.sort_by(f64::total_cmp);
    let within = off.iter().filter(|&&off| off <= 0.1).count();
    println!(
        "{servers} servers: within 10 % in {within} of {}",
        off.len()
    );
    assert!(within * 10 >= off.len() * 9, "{servers}: {off:.3?}");
}

fn ask(analysis: &Analysis, question: WhatIfQuestion) -> Result<Prediction, QuestionError> {
    analysis.predict(&Inquiry {
        question,
        change: SystemChange::default(),
        may_extrapolate: false,
    })
}

fn closed(servers: u32, clients: u32) -> (f64, f64) {
    let queue = ClosedQueue {
        servers,
        service_mean: 0.005,
        think_mean: 0.050,
    };
    queue.at(clients)
}

const fn mmc(device: &'static str, clients_max: u32, truth: fn(u32) -> (f64, f64)) -> Case {
    Case {
        device,
        think: Duration::from_millis(50),
        levels_ms: [6, 10, 20, 60],
        clients_max,
        truth,
    }
}

const ONE: Case = mmc("sim:mm1?mean=5ms", 32, |clients| closed(1, clients));
const TWO: Case = mmc("sim:mmc?servers=2&mean=5ms", 64, |clients| {
    closed(2, clients)
});
const FOUR: Case = mmc("sim:mmc?servers=4&mean=5ms", 128, |clients| {
    closed(4, clients)
});
const EIGHT: Case = mmc("sim:mmc?servers=8&mean=5ms", 256, |clients| {
    closed(8, clients)
});

const RESTLESS: Case = Case {
    device: "sim:mmc?servers=4&mean=5ms",
    think: Duration::ZERO,
    levels_ms: [6, 10, 20, 60],
    clients_max: 64,
    truth: |clients| {
        let load = f64::from(clients) / 0.005;
        let load = load.min(800.0);
        (load, f64::from(clients) / load)
    },
};
const CACHE: Case = Case {
    device: "sim:cache?hit=1ms&miss=9ms&hits=50%&run=5",
    think: Duration::ZERO,
    levels_ms: [11, 21, 42, 83],
    clients_max: 32,
    truth: |clients| (200.0, f64::from(clients) * 0.005),
};
/// No level is crossed: one client, and the most, are all that is measured for the result.
const DELAY: Case = Case {
    device: "sim:delay?time=5ms",
    think: Duration::from_millis(50),
    levels_ms: [1, 2, 3, 4],
    clients_max: 32,
    truth: |clients| (f64::from(clients) / 0.055, 0.005),
};

#[test]
fn one_server_with_thinking_clients() {
    check_servers(&ONE.check(FEW), 1.0);
}

#[test]
fn two_servers_with_thinking_clients() {
    check_servers(&TWO.check(FEW), 2.0);
}

#[test]
fn four_servers_with_thinking_clients() {
    check_servers(&FOUR.check(FEW), 4.0);
}

#[test]
#[ignore = "nightly: takes half a minute"]
fn eight_servers_with_thinking_clients() {
    check_servers(&EIGHT.check(FEW), 8.0);
}

#[test]
fn clients_that_never_think() {
    RESTLESS.check(FEW);
}

#[test]
fn a_cache_before_one_server() {
    CACHE.check(FEW);
}

#[test]
fn a_delay_without_a_queue() {
    let analyses = DELAY.check(FEW);
    assert_eq!(analyses[0].model_in_words(), "a delay without a queue");
}

#[test]
#[ignore = "nightly: takes a minute"]
fn predictions_hold_the_truth_in_fifty_curves_of_each_device() {
    for (case, servers) in [(&ONE, 1.0), (&TWO, 2.0), (&FOUR, 4.0), (&EIGHT, 8.0)] {
        check_servers(&case.check(MANY), servers);
    }
    for case in [&RESTLESS, &CACHE, &DELAY] {
        case.check(MANY);
    }
}

#[test]
fn scouts_alone_are_refused() {
    let mut curve = ONE.curve(1);
    curve
        .points
        .iter_mut()
        .for_each(|point| point.is_scout = true);
    let error = curve_evidence(&curve, ONE.device, 7, None).expect_err("scouts only");
    let text = error.to_string();
    assert!(
        text.starts_with("run 7 holds 0 points that were measured"),
        "{text}"
    );
}

#[test]
fn too_few_points_are_refused() {
    let mut curve = ONE.curve(1);
    curve.points.retain(|point| !point.is_scout);
    let mut clients: Vec<u32> = curve.points.iter().map(|point| point.clients).collect();
    clients.sort_unstable();
    clients.dedup();
    curve.points.retain(|point| point.clients <= clients[1]);
    let evidence = curve_evidence(&curve, ONE.device, 7, None).expect("points");
    assert!(Analysis::new(evidence, 1).is_none());
}

/// The think time need not be known: Little's law tells it.
#[test]
fn the_think_time_follows_from_the_points() {
    let evidence = curve_evidence(&FOUR.curve(1), FOUR.device, 1, None).expect("points");
    let think = evidence.think.value / 5e7;
    assert!((think - 1.0).abs() < 0.02, "{think}");
    let evidence = curve_evidence(&FOUR.curve(1), FOUR.device, 1, Some(9e7)).expect("points");
    assert!(
        (evidence.think.value / 5e7 - 1.0).abs() < 0.02,
        "a wrong one is not believed"
    );
}

#[test]
fn loads_and_levels_are_two_sides_of_one_curve() {
    let analysis = FOUR.analysis(3);
    let at = ask(&analysis, WhatIfQuestion::Clients(40)).expect("inside");
    let load = ask(&analysis, WhatIfQuestion::Load(at.load.value)).expect("inside");
    let level = ask(&analysis, WhatIfQuestion::Level(at.response.value)).expect("inside");
    for found in [&load, &level] {
        assert!((found.clients - 40.0).abs() < 0.01, "{found:?}");
        assert!((found.response.value / at.response.value - 1.0).abs() < 1e-3);
        assert!((found.load.value / at.load.value - 1.0).abs() < 1e-3);
    }
    assert!(load.response.low < at.response.value && at.response.value < load.response.high);
    assert!(level.load.low < at.load.value && at.load.value < level.load.high);
}

#[test]
fn beyond_the_range_is_refused_or_marked() {
    let analysis = FOUR.analysis(3);
    let most = analysis.range.clients_max;
    let beyond = |clients, may_extrapolate| {
        analysis.predict(&Inquiry {
            question: WhatIfQuestion::Clients(clients),
            change: SystemChange::default(),
            may_extrapolate,
        })
    };
    let error = beyond(2 * most, false).expect_err("outside").to_string();
    assert!(error.contains("is outside the measured range"), "{error}");
    let inside = beyond(most, false).expect("inside");
    let outside = beyond(2 * most, true).expect("a guess");
    assert!(outside.is_extrapolated && !inside.is_extrapolated);
    let width = |it: &Prediction| (it.response.high / it.response.low).ln();
    assert!(width(&outside) > 2.0 * width(&inside), "{outside:?}");
    assert!(beyond(11 * most, true).is_err(), "no model is asked there");
    let error = ask(&analysis, WhatIfQuestion::Load(1e9)).expect_err("too much");
    assert!(error.to_string().contains("ten times beyond"), "{error}");
}

#[test]
fn another_number_of_servers_is_always_an_extrapolation() {
    let analysis = FOUR.analysis(3);
    let found = analysis
        .predict(&Inquiry {
            question: WhatIfQuestion::Clients(60),
            change: SystemChange {
                servers: Some(8.0),
                service_factor: None,
            },
            may_extrapolate: false,
        })
        .expect("60 clients were within the range");
    assert!(found.is_extrapolated);
    let (_, truth) = closed(8, 60);
    assert!(
        found.response.scale(1e-9).contains(truth),
        "{found:?} {truth}"
    );
}

/// Points that no queue gives: the time falls, then rises, by turns.
#[test]
fn what_is_no_queue_is_not_predicted() {
    let mut curve = FOUR.curve(1);
    for (index, point) in curve.points.iter_mut().enumerate() {
        let factor = if index % 2 == 0 { 3.0 } else { 1.0 / 3.0 };
        point.response = point.response.scale(factor);
    }
    let evidence = curve_evidence(&curve, FOUR.device, 1, Some(5e7)).expect("points");
    let analysis = Analysis::new(evidence, 1).expect("points");
    let refusal = analysis.refusal().expect("no model fits");
    assert!(refusal.contains("is too much to predict from"), "{refusal}");
}

#[test]
fn the_same_seed_gives_the_same_intervals() {
    let [a, b] = [FOUR.analysis(5), FOUR.analysis(5)];
    let question = WhatIfQuestion::Clients(50);
    assert_eq!(ask(&a, question), ask(&b, question));
}
