//! The JSON Schema that is shipped: every form is valid by it, and what is broken is not.

use crate::kinds::kinds;
use jsonschema::Validator;
use results::{Interval, Run, json};
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../docs/seekstone.schema.json");

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

fn written(run: &Run) -> Value {
    serde_json::from_str(&json(run)).expect("own output is JSON")
}

#[track_caller]
fn check(validator: &Validator, value: &Value, what: &str) {
    let faults = validator.iter_errors(value);
    let faults: Vec<String> = faults
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{what}: {faults:#?}");
}

#[test]
fn every_kind_is_valid() {
    let validator = validator();
    for (kind, mut run, _) in kinds() {
        check(&validator, &written(&run), kind);
        run.status = results::Status::Partial {
            reason: "interrupted".into(),
        };
        run.target = sample::rich_target();
        for measurement in &mut run.measurements {
            measurement.response.mean.high = f64::INFINITY;
            measurement.effective_depth = f64::NAN;
            measurement.intervals = vec![Interval::default()];
        }
        check(&validator, &written(&run), kind);
    }
}

/// A schema that takes anything would be valid, too.
#[test]
fn a_missing_key_and_another_type_are_faults() {
    let validator = validator();
    let (_, run, _) = &kinds()[0];
    let whole = written(run);
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut value = whole.clone();
        change(&mut value);
        assert_ne!(value, whole, "nothing was changed");
        assert!(!validator.is_valid(&value));
    };
    let removed = |key: &'static str| {
        move |value: &mut Value| {
            let object = value["measurements"][0].as_object_mut();
            object.expect("a measurement").remove(key);
        }
    };
    broken(&removed("throughput"));
    broken(&removed("warnings"));
    broken(&|value| value["schema"] = "3".into());
    broken(&|value| value["setup"]["seed"] = 3.into());
    broken(&|value| value["measurements"][0]["response"]["mean"]["value"] = "fast".into());
    broken(&|value| value["measurements"][0]["work"] = 1.into());
    broken(&|value| value["curves"][0]["levels"][0]["outcome"] = "missed".into());
    broken(&|value| value["environment"]["cpus_online"] = Value::Null);
    broken(&|value| value["tables"] = Value::Null);
}
