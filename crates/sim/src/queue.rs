//! `sim:NAME?key=value&...` of the queue models, whose true answers are known.

use std::collections::BTreeMap;
use std::str::FromStr;

use units::{Bytes, Duration, parse_percent};

use crate::burst::{BurstLimits, LIMITS, LimitKey, parse_left};
use crate::drive::DriveLaw;
use crate::faults::Faults;
use crate::pace::{ServiceTimeChange, ServiceTimeScaling};
use crate::spec::SimError;
use crate::station::ServiceLaw;

/// A model's name, its parameters with their defaults, and its meaning.
pub type Model = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

/// The models, with parameters, defaults and meaning: the source of the help text.
pub const MODELS: &[Model] = &[
    (
        "mm1",
        &[("mean", "100us")],
        "one server, exponential service times",
    ),
    (
        "mmc",
        &[("mean", "100us"), ("servers", "4")],
        "several servers, exponential service times",
    ),
    (
        "md1",
        &[("time", "100us"), ("servers", "1")],
        "constant service times",
    ),
    (
        "pareto",
        &[("mean", "100us"), ("shape", "1.5"), ("servers", "1")],
        "heavy tails: no variance up to a shape of 2, no mean at 1",
    ),
    (
        "delay",
        &[("time", "100us")],
        "a constant delay without a queue",
    ),
    (
        "cache",
        &[
            ("hit", "10us"),
            ("miss", "1ms"),
            ("hits", "80%"),
            ("run", "50"),
            ("servers", "1"),
        ],
        "hits and misses in runs, each exponential",
    ),
    (
        "drive",
        &[
            ("cache", "128KiB"),
            ("hit", "2.5ms"),
            ("miss", "9ms"),
            ("seek", "10ms"),
        ],
        "a head that moves (seek: from end to end) and a cache of what was touched last",
    ),
];

/// Parameters of every model, queue or machine.
pub const COMMON: &[(&str, &str)] = &[
    ("size", "64GiB"),
    ("cpus", "1"),
    ("stall", "none"),
    ("error", "none"),
    ("short", "none"),
];

/// Parameters of queues only: changes of service times.
const PACES: &[(&str, &str)] = &[("drift", "none"), ("warm-up", "none"), ("wave", "none")];

/// Parameters of limits, which devices have in their definitions.
const LIMITED: &[(&str, &str)] = &[("io-size", "none"), ("credits", "100%")];

/// Maximum drift and warm-up of service times, and maximum reduction by a wave.
const CHANGE_MAX: f64 = 100.0;
const WAVE_MAX: f64 = 0.9;
/// From this shape on, Pareto times are nearly constant.
const SHAPE_MAX: f64 = 100.0;

/// Specification of a station.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSpec {
    /// Law of service times.
    pub law: ServiceLaw,
    /// Number of servers; `None` for one per operation.
    pub servers: Option<usize>,
    /// Changes of service times.
    pub pace: ServiceTimeScaling,
    /// Limits, with credits.
    pub limits: BurstLimits,
}

impl QueueSpec {
    /// Parses the station of a model.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn read(values: &QueueParameters) -> Result<Self, SimError> {
        let law = match values.model.as_str() {
            "cache" => ServiceLaw::Cache {
                hit_ns: values.span("hit")?,
                miss_ns: values.span("miss")?,
                hit_share: values.share("hits")?,
                run_length: values.count("run")? as f64,
            },
            "pareto" => {
                let shape = values.shape("shape")?;
                ServiceLaw::Pareto {
                    least_ns: values.span("mean")? * (shape - 1.0) / shape,
                    shape,
                }
            }
            "drive" => ServiceLaw::Drive(DriveLaw {
                size: values.size("size")?.0,
                cache: values.cache("cache")?,
                hit_ns: values.span("hit")?,
                miss_ns: values.span("miss")?,
                seek_ns: values.span("seek")?,
            }),
            "md1" | "delay" => ServiceLaw::Constant {
                time_ns: values.span("time")?,
            },
            _ => ServiceLaw::Exponential {
                mean_ns: values.span("mean")?,
            },
        };
        let servers = match values.model.as_str() {
            "delay" => None,
            "mm1" | "drive" => Some(1),
            _ => Some(values.count("servers")?),
        };
        let pace = ServiceTimeScaling {
            drift: values.change("drift", CHANGE_MAX)?,
            warm_up: values.change("warm-up", CHANGE_MAX)?,
            wave: values.change("wave", WAVE_MAX)?,
        };
        Ok(Self {
            law,
            servers,
            pace,
            limits: values.limits()?,
        })
    }
}

/// Parameters of every queue besides its own.
pub const PARAMETERS_OF_ALL: &str = "all queues take: size=64GiB, cpus=1 (for the work of \
transactions), stall=1s@5000 (one stall,\nafter 5000 operations), stall=1s@every:10s, \
error=EIO@100, short=1%, drift=30%@60s (slower by that share\nfrom then on), warm-up=200%@2s \
(slower by that share until then), wave=50%@1s (up and down with that period),\n\
iops=100..3000:5.4M (3,000 a second while a bucket of 5.4 million credits lasts, which fills at \
100 a\nsecond, then 100), riops and wiops (of reads or writes alone), \
bps=40MiB/s..250MiB/s:1TiB, rbps and wbps\n(in bytes), io-size=256KiB (what a credit of IOPS \
pays for), credits=5% (how full buckets are at the start)";

/// The formula of a queue model: for random arrivals, `rate` is their mean number per second.
/// Sources: Kleinrock, Queueing Systems I; `pareto` and `cache` have service times only.
pub fn formula(model: &str) -> Option<&'static str> {
    Some(match model {
        "mm1" => {
            "latency at a rate: mean / (1 - rate mean), exponentially distributed, with p99 4.61 \
             times the mean\nhighest rate: 1 / mean"
        }
        "mmc" => {
            "latency at a rate: mean + C mean / (servers - rate mean), with C from Erlang's C \
             formula\nhighest rate: servers / mean"
        }
        "md1" => {
            "latency at a rate, of one server: time + rate time^2 / (2 (1 - rate time)) \
             (Pollaczek-Khinchine)\nhighest rate: servers / time"
        }
        "delay" => "latency: time, at any rate",
        "pareto" => {
            "share of service times above x: (least / x)^shape, with least = mean (shape - 1) / \
             shape\nhighest rate: servers / mean"
        }
        "cache" => "mean service time: hits hit + (1 - hits) miss",
        _ => return None,
    })
}

/// Parameters as typed, or their defaults.
#[derive(Clone, Debug)]
pub struct QueueParameters {
    /// The model, for messages.
    pub model: String,
    values: BTreeMap<&'static str, String>,
}

impl QueueParameters {
    pub fn new(model: &str, defaults: &[(&'static str, &'static str)]) -> Self {
        let values = defaults
            .iter()
            .chain(COMMON)
            .map(|&(key, value)| (key, value.to_string()))
            .collect();
        Self {
            model: model.into(),
            values,
        }
    }

    /// Adds the parameters of queues only.
    #[must_use]
    pub fn of_queue(mut self) -> Self {
        let limits = LIMITS.iter().map(|limit| (limit.name, "none"));
        let more = PACES.iter().chain(LIMITED).copied().chain(limits);
        let more = more.map(|(key, value)| (key, value.to_string()));
        self.values.extend(more);
        self
    }

    /// Replaces a value. False if there is no such parameter.
    pub fn set(&mut self, key: &str, value: &str) -> bool {
        let slot = self.values.get_mut(key);
        let is_known = slot.is_some();
        if let Some(slot) = slot {
            *slot = value.into();
        }
        is_known
    }

    /// All parameters.
    pub fn known(&self) -> Vec<String> {
        self.values.keys().map(ToString::to_string).collect()
    }

    /// The error for an invalid value.
    pub fn refuse(&self, key: &str, reason: &(impl ToString + ?Sized)) -> SimError {
        let (model, value, reason) = (&self.model, &self.values[key], reason.to_string());
        SimError::Invalid(format!("sim:{model}, {key}={value}: {reason}"))
    }

    /// A value that is as `wanted` says.
    fn read<T: FromStr<Err: ToString>>(
        &self,
        key: &str,
        is_right: impl Fn(&T) -> bool,
        wanted: &str,
    ) -> Result<T, SimError> {
        let value = self.values[key].parse::<T>();
        let value = value.map_err(|error| self.refuse(key, &error))?;
        match is_right(&value) {
            true => Ok(value),
            false => Err(self.refuse(key, wanted)),
        }
    }

    fn span(&self, key: &'static str) -> Result<f64, SimError> {
        let is_above = |it: &Duration| *it != Duration::ZERO;
        let span = self.read(key, is_above, "a service time must be above zero")?;
        if span > Duration::from_secs(86_400) {
            return Err(self.refuse(key, "a service time is at most a day"));
        }
        Ok(span.as_nanos() as f64)
    }

    fn change(&self, key: &'static str, most: f64) -> Result<Option<ServiceTimeChange>, SimError> {
        ServiceTimeScaling::parse(&self.values[key], most)
            .map_err(|reason| self.refuse(key, &reason))
    }

    fn limits(&self) -> Result<BurstLimits, SimError> {
        let typed = LIMITS.iter().filter(|it| self.values[it.name] != "none");
        let read = |it: &'static LimitKey| match it.parse(&self.values[it.name]) {
            Ok(limit) => Ok((it, limit)),
            Err(reason) => Err(self.refuse(it.name, &reason)),
        };
        let limits: Vec<_> = typed.map(read).collect::<Result<_, _>>()?;
        let io_size = match self.values["io-size"].as_str() {
            "none" => None,
            _ => Some(self.size_from("io-size", Bytes(512))?.0),
        };
        let left = parse_left(&self.values["credits"]);
        let left = left.map_err(|reason| self.refuse("credits", &reason))?;
        match limits.is_empty() {
            true => Ok(BurstLimits::default()),
            false => Ok(BurstLimits::new(limits, io_size, left)),
        }
    }

    fn shape(&self, key: &'static str) -> Result<f64, SimError> {
        let wanted = "a shape lies above 1, where there is a mean, and up to 100";
        self.read(key, |it| *it > 1.0 && *it <= SHAPE_MAX, wanted)
    }

    fn share(&self, key: &'static str) -> Result<f64, SimError> {
        let share = parse_percent(&self.values[key]).map_err(|error| self.refuse(key, &error))?;
        if (0.0..=1.0).contains(&share) {
            Ok(share)
        } else {
            Err(self.refuse(key, "a share lies between 0% and 100%"))
        }
    }

    /// A whole number above zero.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn count(&self, key: &'static str) -> Result<usize, SimError> {
        let counts = 1..=65_536;
        self.read(
            key,
            |it| counts.contains(it),
            "a count lies between 1 and 65536",
        )
    }

    /// The simulated size of the target.
    ///
    /// # Errors
    /// If it is invalid or too small.
    pub fn size(&self, key: &'static str) -> Result<Bytes, SimError> {
        let size = self.size_from(key, Bytes::from_mib(1))?;
        if size.0 > 1 << 60 {
            return Err(self.refuse(key, "a simulated device holds at most 1,024 PiB"));
        }
        Ok(size)
    }

    fn size_from(&self, key: &'static str, least: Bytes) -> Result<Bytes, SimError> {
        self.read(key, |it| *it >= least, &format!("it is at least {least}"))
    }

    fn cache(&self, key: &'static str) -> Result<u64, SimError> {
        let most = Bytes::from_gib(1);
        let size: Bytes = self.read(
            key,
            |it| *it <= most,
            "a simulated cache holds at most 1 GiB",
        )?;
        Ok(size.0)
    }

    /// The injected faults.
    ///
    /// # Errors
    /// If they are invalid.
    pub fn faults(&self) -> Result<Faults, SimError> {
        let refuse = |key: &'static str| move |reason: String| self.refuse(key, &reason);
        let read = |key: &str| self.values[key].as_str();
        let error = Faults::parse_error(read("error")).map_err(refuse("error"))?;
        let stall = Faults::parse_stall(read("stall")).map_err(refuse("stall"))?;
        let short = Faults::parse_short(read("short")).map_err(refuse("short"))?;
        Ok(Faults {
            error,
            stall,
            short,
        })
    }
}
