//! Kinds whose load is a client of their own: it runs for a time on a test file in a directory, on
//! what the user names and lets be overwritten, or on a model.

use drivers::{Caching, DriverKind};
use engine::OnError;
use lab::bench::{
    Bench, BenchError, BenchRequest, HostReach, OpenedBench, default_settings, open_bench,
};
use lab::laboratory::Outcome;
use lab::storage::StorageSettings;
use lab::test_file::{fill_test_file, stop_of, stopped, whole_size, write_over};
use procedure::{MAIN_DIRECT, Trial};
use results::metric::{LATENCY, LATENCY_P50, LATENCY_P95, LATENCY_P99};
use results::{KnownMetric, Measurement, Reading, Setup};
use stats::Estimate;
use units::{Bytes, Duration};
use workload::{ClientSpec, OwnCounts, OwnSpec};

use super::Stop;
use super::kind::{Measured, Measuring};
use super::models::{open_part, refuse_larger, refuse_read_only};
use super::place::{ReplicateContext, Result};
use super::settings::Settings;
use super::targets::on_error;

/// Direct I/O moves whole blocks.
const DIRECT_UNIT: u32 = drivers::BLOCK_BYTES as u32;
/// Percentiles that are given.
const PERCENTILES: [(f64, KnownMetric); 3] =
    [(0.5, LATENCY_P50), (0.95, LATENCY_P95), (0.99, LATENCY_P99)];

/// How a load is run.
#[derive(Clone, Debug)]
pub(super) struct LoadRules {
    kind: &'static str,
    /// Bytes of the target that are used.
    pub len: u64,
    pub driver: DriverKind,
    caching: Caching,
    time: Duration,
    on_error: OnError,
    typed: Vec<(String, String)>,
}

/// A load of a kind, whose units of work are counted.
pub(super) trait ClientLoad: std::fmt::Debug + Send + Sync {
    fn rules(&self) -> &LoadRules;

    /// What is made on the target, for messages.
    fn what(&self) -> &'static str;

    /// Operations that are outstanding at a time, at most.
    fn depth(&self) -> u32 {
        1
    }

    /// The clients on that many bytes.
    fn clients(&self, len: u64) -> OwnSpec;

    /// What it found beside rates and latencies of its units.
    fn others(&self, found: &Measurement) -> Vec<Reading>;

    /// Units per second.
    fn rate(&self) -> KnownMetric;
}

impl LoadRules {
    /// By the settings `size`, `direct`, `time` and `errors` of a kind.
    pub fn of(settings: &Settings<'_>, driver: DriverKind) -> Self {
        Self {
            kind: settings.kind().name,
            len: settings.value::<Bytes>("size").0,
            driver,
            caching: settings.caching(),
            time: settings.value("time"),
            on_error: on_error(settings),
            typed: settings.all_typed(),
        }
    }

    /// Offsets and lengths are multiples of this, bytes.
    pub const fn unit(&self) -> u32 {
        match self.caching {
            Caching::Direct => DIRECT_UNIT,
            Caching::Buffered => 1,
        }
    }

    /// Clients that use that many bytes, and move at most `len_max` at once, each write durably.
    pub fn clients(&self, len: u64, len_max: u64) -> OwnSpec {
        OwnSpec {
            kind: self.kind.into(),
            settings: self.typed.clone(),
            target: MAIN_DIRECT,
            len,
            unit: self.unit(),
            len_max: len_max as u32,
            reads: false,
            writes: true,
            is_durable: true,
            counts: OwnCounts::Units,
            maker: None,
        }
    }

    fn request(&self, place: &ReplicateContext) -> BenchRequest {
        let setup = Setup::new(self.kind, place.seed);
        BenchRequest {
            ranks: place.ranks.clone(),
            size: Some(Bytes(self.len)),
            reserve: place.shared_reserve(),
            overwrite: place.permission.overwrite,
            confirmed: place.permission.confirmed.clone(),
            storage: StorageSettings {
                driver: self.driver,
                workers: 1,
                caching: self.caching,
                on_error: self.on_error,
                ..default_settings(place.seed)
            },
            ..BenchRequest::new(place.target.clone(), self.kind, setup)
        }
    }

    /// The load on what will be made, or on what is there.
    fn trial(&self, load: &dyn ClientLoad, opened: &OpenedBench) -> Result<Trial, BenchError> {
        let len = match opened.bench {
            Bench::Simulated(_) => self.len,
            _ => whole_size(Bytes(self.len))?.0,
        };
        let unit = u64::from(self.unit());
        let clients = load.clients(len / unit * unit);
        Ok(Trial {
            depth: load.depth(),
            duration_max: self.time,
            ..Trial::new(self.kind, ClientSpec::Own(clients), opened.facts.access)
        })
    }

    /// Make what the load runs on, and run it.
    fn run(
        &self,
        trial: &Trial,
        opened: &mut OpenedBench,
        stop: &Stop,
    ) -> Result<Outcome, BenchError> {
        let (bench, access) = (&mut opened.bench, opened.facts.access);
        let size = Bytes(self.len);
        if opened.facts.makes_files {
            fill_test_file(bench, size, access, None, stop, &mut |_, _| {})?;
        } else if !matches!(bench, Bench::Simulated(_)) {
            write_over(bench, size, access, stop)?;
        }
        bench.settle()?;
        let mut goes_on = |_: &_| stop.is_raised().is_none();
        let measured = bench.measure(trial, HostReach::Each, &mut goes_on);
        let outcome = measured.map_err(|error| stopped(stop).unwrap_or(error.into()))?;
        match outcome.failure {
            None if stop.is_raised().is_none() => Ok(outcome),
            failure => Err(stop_of(&trial.title, failure, stop)),
        }
    }
}

/// The rate of units of work.
pub(super) fn rate_of(rate: KnownMetric, found: &Measurement) -> Reading {
    let throughput = found.throughput;
    rate.reading(throughput.value).within(throughput)
}

/// The mean of their latencies, and those of the percentiles that are known.
pub(super) fn latencies(
    found: &Measurement,
    percentiles: &[(f64, KnownMetric)],
) -> impl Iterator<Item = Reading> {
    let seconds =
        |metric: KnownMetric, ns: Estimate| metric.reading(ns.value / 1e9).within(ns.scale(1e-9));
    let known = percentiles.iter().filter_map(move |(p, metric)| {
        let mut percentiles = found.response.percentiles.iter();
        let ns = percentiles.find(|it| it.p == *p)?.estimate?;
        Some(seconds(*metric, ns))
    });
    std::iter::once(seconds(LATENCY, found.response.mean)).chain(known)
}

impl<T: ClientLoad> Measuring for T {
    fn check(&self, place: &ReplicateContext) -> Result<()> {
        let rules = self.rules();
        match place.target.model() {
            Some(name) => {
                let spec = open_part(name)?;
                refuse_read_only(&spec)?;
                refuse_larger(self.what(), rules.len, &spec)
            }
            None if place.is_named() => place.refuse_unpermitted(rules.kind),
            None => Ok(()),
        }
    }

    fn measured(&self, place: &ReplicateContext, stop: &Stop) -> Result<Measured> {
        self.check(place)?;
        let rules = self.rules();
        let mut opened = open_bench(&rules.request(place))?;
        let trial = match rules.trial(self, &opened) {
            Ok(trial) => trial,
            Err(error) => return Err(opened.bench.abandon(error).into()),
        };
        let listed = std::slice::from_ref(&trial);
        opened.bench.serve_listed(listed, stop)?;
        let found = match rules.run(&trial, &mut opened, stop) {
            Ok(outcome) => outcome.measurement,
            Err(error) => return Err(opened.bench.abandon(error).into()),
        };
        let mut warnings = found.warnings.clone();
        if place.is_named() {
            warnings.extend(opened.bench.warnings(&[]));
        }
        warnings.extend(opened.bench.clean_up());
        let mut readings = vec![rate_of(self.rate(), &found)];
        readings.extend(latencies(&found, &PERCENTILES));
        readings.extend(self.others(&found));
        Ok(Measured { readings, warnings })
    }
}
