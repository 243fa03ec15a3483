//! `sim:NAME?key=value&...`: a model named on the command line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use units::{Bytes, Duration, Instant, parse_percent};
use workload::Errno;

use crate::drive::DriveLaw;
use crate::driver::{Fault, FaultKind, SimDriver};
use crate::station::{ServiceLaw, Station};

/// What starts the name of a simulated target.
pub const SIM_PREFIX: &str = "sim:";

/// A model's name, its parameters with their defaults, and its meaning.
pub type Model = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

/// The models, with their parameters, defaults and meaning: the source of the help text.
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

/// Parameters that every model takes.
const COMMON: &[(&str, &str)] = &[
    ("size", "64GiB"),
    ("cpus", "1"),
    ("stall", "none"),
    ("error", "none"),
];

/// A model with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SimSpec {
    /// As it was typed.
    pub text: String,
    /// The model's name.
    pub model: String,
    /// How long a server takes.
    pub law: ServiceLaw,
    /// Number of servers; `None` for one per operation.
    pub servers: Option<usize>,
    /// Bytes that the device pretends to hold.
    pub size: Bytes,
    /// Processors that do the work of transactions.
    pub cpus: usize,
    /// What goes wrong, if anything.
    pub fault: Option<Fault>,
}

/// Why a `sim:` name cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// There is no such model.
    #[error("there is no simulated device \"{name}\"; there are:\n{models}")]
    UnknownModel {
        /// What was typed.
        name: String,
        /// What there is.
        models: String,
    },
    /// A parameter is not one of the model's.
    #[error("sim:{model} has no parameter \"{key}\"; it takes {known}")]
    UnknownParameter {
        /// The model.
        model: String,
        /// What was typed.
        key: String,
        /// What it takes.
        known: String,
    },
    /// A parameter's value cannot be read.
    #[error("sim:{model}: {key}={value}: {reason}")]
    Value {
        /// The model.
        model: String,
        /// The parameter.
        key: String,
        /// What was typed.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl SimSpec {
    /// Read what follows `sim:`.
    ///
    /// # Errors
    /// When the model or a parameter does not exist, or a value cannot be read.
    pub fn parse(text: &str) -> Result<Self, SimError> {
        let bare = text.strip_prefix(SIM_PREFIX).unwrap_or(text);
        let (name, query) = bare.split_once('?').unwrap_or((bare, ""));
        let Some((_, defaults, _)) = MODELS.iter().find(|(model, ..)| *model == name) else {
            return Err(SimError::UnknownModel {
                name: name.into(),
                models: list_models(),
            });
        };
        let mut values = Values::new(name, defaults);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            values.set(pair)?;
        }
        let law = match name {
            "cache" => ServiceLaw::Cache {
                hit_ns: values.span("hit")?,
                miss_ns: values.span("miss")?,
                hit_share: values.share("hits")?,
                run_length: values.count("run")? as f64,
            },
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
        let servers = match name {
            "delay" => None,
            "mm1" | "drive" => Some(1),
            _ => Some(values.count("servers")?),
        };
        Ok(Self {
            text: format!("{SIM_PREFIX}{bare}"),
            model: name.into(),
            law,
            servers,
            size: values.size("size")?,
            cpus: values.count("cpus")?,
            fault: values.fault()?,
        })
    }

    /// A driver on this model, at rest at `start`, with its random times drawn from `seed`.
    #[must_use]
    pub fn driver(&self, seed: u64, capacity: usize, start: Instant) -> SimDriver {
        let station = Station::new(self.law, self.servers, seed);
        SimDriver::new(station, capacity, start)
            .with_fault(self.fault)
            .with_processors(self.cpus)
    }
}

fn list_models() -> String {
    let mut text = String::new();
    for (name, parameters, meaning) in MODELS {
        let parameters: Vec<String> = parameters
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let _ = writeln!(text, "  sim:{name}?{}  {meaning}", parameters.join("&"));
    }
    text.push_str(
        "each with size=64GiB, cpus=1 (for the work of transactions), stall=SPAN@N (one stall \
         after N operations), error=EIO@N",
    );
    text
}

struct Values {
    model: String,
    values: BTreeMap<&'static str, String>,
}

impl Values {
    fn new(model: &str, defaults: &[(&'static str, &'static str)]) -> Self {
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

    fn set(&mut self, pair: &str) -> Result<(), SimError> {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match self.values.get_mut(key) {
            Some(slot) => {
                *slot = value.into();
                Ok(())
            }
            None => Err(SimError::UnknownParameter {
                model: self.model.clone(),
                key: key.into(),
                known: self.values.keys().copied().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    fn refuse(&self, key: &str, reason: &(impl ToString + ?Sized)) -> SimError {
        SimError::Value {
            model: self.model.clone(),
            key: key.into(),
            value: self.values[key].clone(),
            reason: reason.to_string(),
        }
    }

    fn span(&self, key: &'static str) -> Result<f64, SimError> {
        let span: Duration = self.values[key]
            .parse()
            .map_err(|error| self.refuse(key, &error))?;
        if span == Duration::ZERO {
            return Err(self.refuse(key, "a service time must be above zero"));
        }
        Ok(span.as_nanos() as f64)
    }

    fn share(&self, key: &'static str) -> Result<f64, SimError> {
        let share = parse_percent(&self.values[key]).map_err(|error| self.refuse(key, &error))?;
        if (0.0..=1.0).contains(&share) {
            Ok(share)
        } else {
            Err(self.refuse(key, "a share lies between 0% and 100%"))
        }
    }

    fn count(&self, key: &'static str) -> Result<usize, SimError> {
        let count: usize = self.values[key]
            .parse()
            .map_err(|error| self.refuse(key, &error))?;
        if (1..=65_536).contains(&count) {
            Ok(count)
        } else {
            Err(self.refuse(key, "a count lies between 1 and 65536"))
        }
    }

    fn size(&self, key: &'static str) -> Result<Bytes, SimError> {
        let size: Bytes = self.values[key]
            .parse()
            .map_err(|error| self.refuse(key, &error))?;
        if size < Bytes::from_mib(1) {
            return Err(self.refuse(key, "a simulated device holds at least 1 MiB"));
        }
        Ok(size)
    }

    fn cache(&self, key: &'static str) -> Result<u64, SimError> {
        let size: Bytes = self.values[key]
            .parse()
            .map_err(|error| self.refuse(key, &error))?;
        if size > Bytes::from_gib(1) {
            return Err(self.refuse(key, "a simulated cache holds at most 1 GiB"));
        }
        Ok(size.0)
    }

    fn fault(&self) -> Result<Option<Fault>, SimError> {
        let part = |key: &'static str| -> Result<Option<(&str, u64)>, SimError> {
            let text = self.values[key].as_str();
            if text == "none" {
                return Ok(None);
            }
            let (what, after) = text
                .split_once('@')
                .ok_or_else(|| self.refuse(key, "say WHAT@N, as in 500ms@1000 or EIO@1000"))?;
            let after = after.parse().map_err(|error| self.refuse(key, &error))?;
            Ok(Some((what, after)))
        };
        if let Some((what, after)) = part("error")? {
            let errno = match what {
                "EIO" => 5,
                "ENOSPC" => 28,
                "EROFS" => 30,
                _ => return Err(self.refuse("error", "known errors are EIO, ENOSPC, EROFS")),
            };
            return Ok(Some(Fault {
                after,
                kind: FaultKind::Error(Errno(errno)),
            }));
        }
        if let Some((what, after)) = part("stall")? {
            let span: Duration = what.parse().map_err(|error| self.refuse("stall", &error))?;
            return Ok(Some(Fault {
                after,
                kind: FaultKind::Stall(span),
            }));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_overrides() {
        let spec = SimSpec::parse("sim:mmc?servers=8").expect("a valid name");
        assert_eq!(spec.servers, Some(8));
        assert_eq!(spec.law, ServiceLaw::Exponential { mean_ns: 100_000.0 });
        let spec = SimSpec::parse("sim:cache?hits=95%&miss=5ms").expect("a valid name");
        let ServiceLaw::Cache {
            hit_share, miss_ns, ..
        } = spec.law
        else {
            panic!("a cache was asked for: {spec:?}")
        };
        assert!((hit_share - 0.95).abs() < 1e-12 && miss_ns == 5e6);
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, expected: &str| {
            let error = SimSpec::parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("sim:floppy", "there is no simulated device \"floppy\"");
        check(
            "sim:mm1?speed=3",
            "no parameter \"speed\"; it takes cpus, error, mean, size, stall",
        );
        check("sim:mm1?mean=4x", "mean=4x");
        check("sim:mm1?mean=0", "above zero");
        check("sim:drive?cache=2GiB", "at most 1 GiB");
        check("sim:mmc?servers=0", "between 1 and 65536");
        check("sim:cache?hits=120%", "between 0% and 100%");
        check("sim:mm1?error=EWHAT@3", "known errors are");
        check("sim:mm1?stall=5ms", "WHAT@N");
    }
}
