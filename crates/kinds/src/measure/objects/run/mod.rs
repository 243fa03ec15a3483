//! One replicate: a prefix of its own, objects in it, the load, and nothing left.

mod pool;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use host::counters::process_cpu_ns;
use host::limits::check_budget;
use lab::laboratory::{LaboratoryError, Outcome, measure_on};
use procedure::Trial;
use results::metric::{
    CLIENT_CPU, CONNECTIONS, DELETE_LATENCY, DELETE_P99, DELETES, FAILED_REQUESTS, FIRST_BYTE_P99,
    GET_LATENCY, GET_P99, GETS, HEAD_LATENCY, HEAD_P99, HEADS, LATENCY_P50, LATENCY_P95,
    LATENCY_P99, LATENCY_P999, LIST_LATENCY, LIST_P99, LISTS, OPERATION_RATE, PUT_LATENCY, PUT_P99,
    PUTS, THROTTLED_ANSWERS, THROUGHPUT, TIME_TO_FIRST_BYTE,
};
use results::{Access, KnownMetric, Reading, Warning, WarningCode};
use units::{Bytes, format_counted};
use workload::{ClientSpec, OwnCounts, OwnSpec, TargetId};

use super::load::{LoadSpec, ObjectOp};
use super::{KIND, OBJECT_MAX, ObjectsMeasurement};
use crate::measure::Stop;
use crate::measure::client_load::{latencies, rate_of};
use crate::measure::kind::Measured;
use crate::measure::place::{MeasureError, ReplicateContext, Result, go_on};
use crate::measure::records::RecordPattern;
use crate::measure::s3::{Backoff, KEYS_BEGIN, RunPrefix, S3Client, S3Fault, S3Options};
use engine::OnError;
use pool::{PoolDriver, PoolTally, Requester};

/// Bytes of a piece of an object that has a stamp of its own place.
const RECORD: Bytes = Bytes(64 << 10);
/// What is known of each operation: how many a second, mean and p99.
const OF_OPERATIONS: [(ObjectOp, [KnownMetric; 3]); 5] = [
    (ObjectOp::Get, [GETS, GET_LATENCY, GET_P99]),
    (ObjectOp::Put, [PUTS, PUT_LATENCY, PUT_P99]),
    (ObjectOp::Head, [HEADS, HEAD_LATENCY, HEAD_P99]),
    (ObjectOp::List, [LISTS, LIST_LATENCY, LIST_P99]),
    (ObjectOp::Delete, [DELETES, DELETE_LATENCY, DELETE_P99]),
];
const PERCENTILES: [(f64, KnownMetric); 4] = [
    (0.5, LATENCY_P50),
    (0.95, LATENCY_P95),
    (0.99, LATENCY_P99),
    (0.999, LATENCY_P999),
];

/// Ask for all that a run needs: a list, a put and a delete.
pub(super) fn check(objects: &ObjectsMeasurement, place: &ReplicateContext) -> Result<()> {
    let sockets = u64::from(objects.clients);
    check_budget(sockets, 0)
        .map_err(|error| MeasureError::Usage(format!("clients = {}: {error}", objects.clients)))?;
    let client = Arc::new(objects.client(place, &Stop::never())?);
    let refused = |fault: &S3Fault| MeasureError::Usage(format!("{}: {fault}", client.named));
    let listed = client.list_page(KEYS_BEGIN, None, Some(1), false);
    listed.map_err(|fault| refused(&fault))?;
    if client.keeps_versions() == Some(true) {
        return Err(MeasureError::Usage(format!(
            "{}: the bucket keeps versions, so what a run deletes would stay. Use a bucket \
             without versioning",
            client.named
        )));
    }
    RunPrefix::claim(Arc::clone(&client), place.seed)?.remove()
}

/// One replicate.
pub(super) fn measured(
    objects: &ObjectsMeasurement,
    place: &ReplicateContext,
    stop: &Stop,
) -> Result<Measured> {
    let client = Arc::new(objects.client(place, stop)?);
    let prefix = RunPrefix::claim(Arc::clone(&client), place.seed)?;
    let found = objects.measure_in(&client, &prefix, place.seed, stop);
    // Of two failures the first is told: what is removed is removed in any case.
    match found {
        Ok(measured) => prefix.remove().map(|()| measured),
        Err(error) => match prefix.remove() {
            Ok(()) => Err(error),
            Err(left) => Err(MeasureError::Failed(format!("{error}. {left}"))),
        },
    }
}

impl ObjectsMeasurement {
    fn client(&self, place: &ReplicateContext, stop: &Stop) -> Result<S3Client> {
        let named = place.target.as_str();
        if self.ca.is_some() && !named.contains("https:") && !named.starts_with("s3://") {
            let why = format!("ca checks a server at https://, and this is {named:?}");
            return Err(MeasureError::Usage(why));
        }
        let options = S3Options {
            ca: self.ca.clone(),
            is_in_host: self.is_in_host,
            timeout: self.timeout,
            backoff: Backoff::Tries(self.retries),
            part: self.part,
        };
        S3Client::new(named, options, stop)
    }

    fn measure_in(
        &self,
        client: &Arc<S3Client>,
        prefix: &RunPrefix,
        seed: u64,
        stop: &Stop,
    ) -> Result<Measured> {
        let there = LoadSpec::sizes_of(&self.sizes, self.objects, seed);
        let requester = Arc::new(Requester {
            client: Arc::clone(client),
            prefix: prefix.name().to_owned(),
            pattern: RecordPattern::new(RECORD, seed)?,
            page: self.page,
            is_ranged: self.range.is_some(),
            is_conditional: self.is_conditional,
            verifies: self.verifies,
        });
        self.prepare(&requester, &there, stop)?;
        let before = (client.opened(), client.throttled(), process_cpu_ns());
        let driver = PoolDriver::new(&requester, self.clients as usize)
            .map_err(|error| MeasureError::Failed(error.to_string()))?;
        let is_down = driver.is_down();
        let trial = self.trial(there);
        let run = measure_on(
            &trial,
            driver,
            KIND.name,
            (seed, self.on_error),
            &mut |_| stop.is_raised().is_none() && !is_down.load(Ordering::Relaxed),
        );
        let (outcome, driver) = run.map_err(|error| MeasureError::Failed(error.to_string()))?;
        let cpu_ns = process_cpu_ns() - before.2;
        let tally = driver.finish();
        go_on(stop)?;
        let outcome = self.whole(outcome, &tally, client)?;
        let (throttled, paused) = client.throttled();
        let throttled = throttled - before.1.0;
        let mut measured = Measured {
            readings: readings_of(&outcome, &tally),
            warnings: outcome.measurement.warnings.clone(),
        };
        let operations = outcome.measurement.completions_all.max(1) as f64;
        let opened = (client.opened() - before.0) as f64;
        measured.readings.extend([
            CONNECTIONS.reading(opened / operations),
            CLIENT_CPU.reading(cpu_ns as f64 * 1e-9 / operations),
            THROTTLED_ANSWERS.reading(throttled as f64),
        ]);
        if self.on_error == OnError::Count {
            let failed = tally.failures.total() as f64;
            measured.readings.push(FAILED_REQUESTS.reading(failed));
        }
        if throttled > 0 {
            let pause = (paused - before.1.1).as_secs_f64();
            measured
                .warnings
                .push(throttling(throttled, pause, self.clients));
        }
        measured.warnings.extend(counted(&tally));
        Ok(measured)
    }

    /// Put the objects that the load finds.
    fn prepare(&self, requester: &Arc<Requester>, sizes: &[u32], stop: &Stop) -> Result<()> {
        let next = AtomicUsize::new(0);
        let work = || loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(len) = sizes.get(number).filter(|_| stop.is_raised().is_none()) else {
                return Ok(());
            };
            let put = requester.put(number as u32, *len);
            if let Err(fault) = put {
                next.store(sizes.len(), Ordering::Relaxed);
                return Err(fault);
            }
        };
        let ends: Vec<Result<(), S3Fault>> = std::thread::scope(|scope| {
            let threads = (self.clients as usize).min(sizes.len());
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let ends = threads.into_iter().map(|it| it.join().expect("no panic"));
            ends.collect()
        });
        go_on(stop)?;
        let failed = ends.into_iter().find_map(Result::err);
        failed.map_or(Ok(()), |fault| Err(requester.client.failed(&fault)))
    }

    fn trial(&self, there: Arc<[u32]>) -> Trial {
        let load = LoadSpec {
            mix: self.mix.clone(),
            sizes: self.sizes.clone(),
            there,
            clients: self.clients,
            rate: self.rate,
            range: self.range,
        };
        let counts = match self.rate {
            None => OwnCounts::Units,
            Some(per_second) => OwnCounts::ScheduledUnits { per_second },
        };
        let clients = ClientSpec::Own(OwnSpec {
            kind: KIND.name.into(),
            settings: self.typed.clone(),
            target: TargetId(0),
            len: u64::MAX,
            unit: 1,
            len_max: OBJECT_MAX as u32,
            reads: true,
            writes: true,
            is_durable: true,
            counts,
            maker: Some(Arc::new(load)),
        });
        Trial {
            depth: self.clients,
            duration_max: self.time,
            ..Trial::new(KIND.name, clients, Access::Direct)
        }
    }

    /// The outcome, unless something failed that must not, with the server's own words.
    fn whole(
        &self,
        outcome: Result<Outcome, LaboratoryError>,
        tally: &PoolTally,
        client: &S3Client,
    ) -> Result<Outcome> {
        let failed = |why: &str| MeasureError::Failed(format!("{}: {why}", client.named));
        if let Some(wrong) = &tally.wrong {
            return Err(failed(wrong));
        }
        let ends = match self.on_error {
            OnError::Stop => tally.first.as_ref(),
            OnError::Count => tally.first.as_ref().filter(|_| tally.is_down),
        };
        if let Some(fault) = ends {
            let all = tally.failures.total();
            return Err(failed(&match all {
                1 => fault.to_string(),
                _ => format!("{fault} ({} failed)", format_counted(all, "request")),
            }));
        }
        outcome.map_err(|error| failed(&error.to_string()))
    }
}

fn readings_of(outcome: &Outcome, tally: &PoolTally) -> Vec<Reading> {
    let found = &outcome.measurement;
    let elapsed = outcome.elapsed.as_secs_f64().max(1e-9);
    let mut readings = vec![
        rate_of(OPERATION_RATE, found),
        THROUGHPUT.reading(found.bytes_all as f64 / elapsed),
    ];
    readings.extend(latencies(found, &PERCENTILES));
    let first = &tally.first_byte;
    if !first.is_empty() {
        readings.push(TIME_TO_FIRST_BYTE.reading(first.mean() / 1e9));
        let p99 = first.quantile(0.99);
        readings.extend(p99.map(|ns| FIRST_BYTE_P99.reading(ns as f64 / 1e9)));
    }
    for (op, [rate, mean, p99]) in OF_OPERATIONS {
        let Some(times) = outcome.units.get(&(op as u32)).map(|it| &it.response) else {
            continue;
        };
        readings.push(rate.reading(times.len() as f64 / elapsed));
        readings.push(mean.reading(times.mean() / 1e9));
        readings.extend(times.quantile(0.99).map(|ns| p99.reading(ns as f64 / 1e9)));
    }
    readings
}

fn throttling(answers: u64, pause: f64, clients: u32) -> Warning {
    let text = format!(
        "The store asked for fewer requests {} (503 or 429). Clients paused for {pause:.1} s in \
         sum, which is in their latency.",
        match answers {
            1 => "once".into(),
            _ => format!("{answers} times"),
        }
    );
    Warning::warn(WarningCode::Throttled, text).advise(format!(
        "Use fewer than {clients} clients, or a lower rate."
    ))
}

fn counted(tally: &PoolTally) -> Option<Warning> {
    let failures = &tally.failures;
    (failures.total() > 0).then(|| {
        let text = format!(
            "{} failed: {failures}. They are in no latency.",
            format_counted(failures.total(), "request")
        );
        Warning::warn(WarningCode::FailedOperations, text)
    })
}
