//! What part of a trial the page cache answered.

use procedure::Trial;
use results::Measurement;
use workload::ClientSpec;

use crate::counters::{CountersDelta, page_cache_share};

/// What part of the bytes moved was answered by the page cache, as the kernel counts it.
pub(super) fn cache_share(
    measurement: &Measurement,
    trial: &Trial,
    counters: &CountersDelta,
) -> Option<f64> {
    let (reads, writes) = match &trial.spec {
        ClientSpec::Mix(mix) => (mix.mix.read > 0, mix.mix.write > 0 || mix.mix.flush > 0),
        ClientSpec::Control(control) => (
            control.types.iter().any(|kind| kind.reads > 0),
            control.types.iter().any(|kind| kind.writes > 0),
        ),
        ClientSpec::Users(users) => (
            users.profiles().iter().any(|profile| profile.reads > 0),
            users.profiles().iter().any(|profile| profile.writes > 0),
        ),
        ClientSpec::Files(_) => return None,
    };
    if !writes {
        return page_cache_share(measurement.bytes_all, counters);
    }
    if reads || measurement.bytes_all == 0 {
        return None;
    }
    let written = counters.device.as_ref()?.written_bytes;
    Some((1.0 - written as f64 / measurement.bytes_all as f64).clamp(0.0, 1.0))
}
