//! The screen of a model and its predictions, with invented figures.

use crate::support::assert_documented;
use report::{Style, what_if, what_if_json};
use results::{
    MeasuredRange, ModelParameter, ModelScore, Prediction, UnseenScore, Warning, WarningCode,
    WhatIf,
};
use stats::Estimate;

fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    Estimate {
        low,
        high,
        ..Estimate::exact(value, 18.0)
    }
}

fn score(model: &str, title: &str, parameters: u32, error: f64) -> ModelScore {
    ModelScore {
        model: model.into(),
        title: title.into(),
        parameters,
        held_out: 7,
        median_error: error,
        worst_error: 2.0 * error,
        rms_error: 1.2 * error,
        fit_error: 0.9 * error,
        is_chosen: model == "servers",
    }
}

fn parameter(name: &str, unit: &str, value: Estimate) -> ModelParameter {
    ModelParameter {
        name: name.into(),
        unit: unit.into(),
        value,
    }
}

fn prediction(question: &str, response: Estimate, load: Estimate, clients: f64) -> Prediction {
    Prediction {
        question: question.into(),
        response,
        load,
        clients,
        is_extrapolated: clients > 128.0,
    }
}

fn found() -> WhatIf {
    let asked = |value| Estimate::exact(value, 18.0);
    WhatIf {
        schema: 1,
        runs: vec![12],
        title: "random read 4 KiB, think 50.0 ms on /data".into(),
        clients_name: "clients".into(),
        points: 18,
        think: asked(5e7),
        range: MeasuredRange {
            clients_min: 4,
            clients_max: 128,
            load_min: 77.2,
            load_max: 818.0,
            response_min_ns: 4.9e6,
            response_max_ns: 1.1e8,
        },
        model: "several exponential servers".into(),
        parameters: vec![
            parameter("service time", "ns", estimate(5.1e6, 4.98e6, 5.3e6)),
            parameter("servers", "", estimate(4.1, 3.9, 4.3)),
        ],
        scores: vec![
            score("delay", "a delay without a queue", 1, 12.0),
            score("server", "one exponential server", 1, 0.31),
            score("servers", "several exponential servers", 2, 0.026),
        ],
        unseen: vec![UnseenScore {
            source: "run 13".into(),
            points: 9,
            median_error: 0.021,
            worst_error: 0.06,
            median_load_error: 0.012,
            met: 8,
        }],
        refusal: None,
        predictions: vec![
            prediction(
                "20 clients",
                estimate(5.37e6, 4.94e6, 5.82e6),
                estimate(361.0, 358.0, 364.0),
                20.0,
            ),
            prediction(
                "a response time of 20.0 ms",
                asked(2e7),
                estimate(796.0, 777.0, 816.0),
                55.7,
            ),
            prediction(
                "256 clients",
                estimate(2.7e8, 1.9e8, f64::INFINITY),
                estimate(800.0, 700.0, 920.0),
                256.0,
            ),
        ],
        device: None,
        device_rows: Vec::new(),
        warnings: vec![Warning::info(
            WarningCode::PartialRun,
            "run 12 was stopped early.",
        )],
    }
}

const NARROW: Style = Style {
    width: 92,
    color: false,
    unicode: true,
    all: true,
};

#[test]
fn model_scores_and_predictions() {
    insta::assert_snapshot!(what_if(&found(), &NARROW), @r#"
    what if? run 12: random read 4 KiB, think 50.0 ms on /data
      18 points: 4 to 128 clients, 77.2 to 818/s, 4.90 ms to 110 ms, think time 50.0 ms

    Model: several exponential servers
      parameter       value  95 % interval
      service time  5.10 ms  4.98 .. 5.30
      servers          4.10  3.90 .. 4.30

    How well each model predicts what it did not see
      model                        left out  median error     worst       rms      seen
      a delay without a queue             7      > 1000 %  > 1000 %  > 1000 %  > 1000 %
      one exponential server              7          31 %      62 %      37 %      28 %
      several exponential servers         7         2.6 %     5.2 %     3.1 %     2.3 %  used
      Errors of the mean response time at groups of neighbouring points that were left out of
      the fit in turn. "seen" is the error at the points of the fit itself. The model that is
      used is the smallest whose root mean square (rms) is close to the best.
      run 13             9 points that no fit saw: response time off by 2.1 % in the median and
                         6.0 % at worst. Load is off by 1.2 % in the median. 8 are within the
                         intervals

    Predictions
      question                  mean response  95 % interval   load  95 % interval
      20 clients                      5.37 ms  4.94 .. 5.82   361/s  358 .. 364     inside
      a response time of              20.0 ms  as asked       796/s  777 .. 816     inside
        20.0 ms
      256 clients                      270 ms  at least 190   800/s  700 .. 920     extrapolated

    Warnings
      info    run 12 was stopped early.
    "#);
}

#[test]
fn a_model_that_is_too_far_off_predicts_nothing() {
    let mut found = found();
    found.predictions.clear();
    found.refusal = Some("the best model is off by 40 %".into());
    let text = what_if(&found, &NARROW);
    assert!(
        text.contains("no prediction: the best model is off by 40 %"),
        "{text}"
    );
    assert!(!text.contains("Predictions"), "{text}");
}

#[test]
fn every_key_is_documented_and_read_back() {
    let text = what_if_json(&found());
    let back: WhatIf = serde_json::from_str(&text).expect("own output is readable");
    assert_eq!(back, found());
    assert_documented(&text);
}
