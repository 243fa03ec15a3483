//! The models that are tried, from small to large.

use super::network::{Law, Processors, Storage};

/// Populations above this are not walked through client by client.
const GENERAL_CLIENTS_MAX: u32 = 2_000;
/// With processors, so many servers of storage at most.
const SERVERS_WITH_PROCESSORS: f64 = 64.0;

/// What is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Setting {
    /// Mean think time, nanoseconds.
    pub think: f64,
    /// What processors do, of transactions.
    pub processors: Option<Processors>,
    /// The most clients of any point.
    pub clients_max: u32,
}

/// A model: which of its parts there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    Delay,
    Open,
    Server,
    ServerDelay,
    Law,
    Servers,
    LawDelay,
    ServersDelay,
}

/// What a fitted number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Service,
    Servers,
    Delay,
    Variation,
}

impl Model {
    /// All of them, the smallest first; of two that do equally well, the first is taken.
    pub const ALL: [Self; 8] = [
        Self::Delay,
        Self::Server,
        Self::Open,
        Self::Servers,
        Self::ServerDelay,
        Self::Law,
        Self::ServersDelay,
        Self::LawDelay,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Open => "open",
            Self::Server => "server",
            Self::ServerDelay => "server-delay",
            Self::Law => "law",
            Self::Servers => "servers",
            Self::LawDelay => "law-delay",
            Self::ServersDelay => "servers-delay",
        }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Delay => "a delay without a queue",
            Self::Open => "one exponential server, unlimited clients",
            Self::Server => "one exponential server",
            Self::ServerDelay => "one exponential server, and a delay",
            Self::Law => "one server, times of any spread",
            Self::Servers => "several exponential servers",
            Self::LawDelay => "one server, times of any spread, and a delay",
            Self::ServersDelay => "several exponential servers, and a delay",
        }
    }

    pub const fn parts(self) -> &'static [Part] {
        match self {
            Self::Delay => &[Part::Delay],
            Self::Open | Self::Server => &[Part::Service],
            Self::ServerDelay => &[Part::Service, Part::Delay],
            Self::Law => &[Part::Service, Part::Variation],
            Self::Servers => &[Part::Service, Part::Servers],
            Self::LawDelay => &[Part::Service, Part::Delay, Part::Variation],
            Self::ServersDelay => &[Part::Service, Part::Servers, Part::Delay],
        }
    }

    /// Whether it can be used here at all.
    pub fn is_possible(self, setting: &Setting) -> bool {
        match self {
            Self::Open => setting.processors.is_none(),
            Self::Law | Self::LawDelay => {
                setting.processors.is_none() && setting.clients_max <= GENERAL_CLIENTS_MAX
            }
            _ => true,
        }
    }

    /// Storage with these logarithms of parameters, in the order of [`Model::parts`].
    pub fn storage(self, logs: &[f64]) -> Storage {
        let mut storage = Storage {
            law: match self {
                Self::Open => Law::Open,
                _ => Law::Exponential,
            },
            service: 1e-6,
            servers: 1.0,
            delay: 0.0,
        };
        for (part, log) in self.parts().iter().zip(logs) {
            let value = log.exp();
            match part {
                Part::Service => storage.service = value,
                Part::Servers => storage.servers = value,
                Part::Delay => storage.delay = value,
                Part::Variation => storage.law = Law::General(value),
            }
        }
        storage
    }

    /// Between which logarithms a parameter lies, where times of one client are about `time`.
    pub fn bounds(part: Part, time: f64, setting: &Setting) -> (f64, f64) {
        let servers_max = match setting.processors {
            Some(_) => SERVERS_WITH_PROCESSORS,
            None => 4.0 * f64::from(setting.clients_max),
        };
        let (low, high) = match part {
            Part::Service => (time * 1e-4, time * 1e2),
            Part::Servers => (1.0, servers_max.max(1.0)),
            Part::Delay => (time * 1e-4, time * 1e2),
            Part::Variation => (1e-3, 100.0),
        };
        (low.ln(), high.ln())
    }

    /// Places from which the search begins.
    pub fn starts(self, time: f64, setting: &Setting) -> Vec<Vec<f64>> {
        let mut starts = vec![Vec::new()];
        for &part in self.parts() {
            let values: Vec<f64> = match part {
                Part::Service if self == Self::Servers => vec![time],
                Part::Service => vec![time, 0.2 * time],
                Part::Delay if self == Self::Delay => vec![time],
                Part::Delay => vec![0.2 * time, 0.8 * time],
                Part::Variation => vec![0.3, 2.0],
                Part::Servers => {
                    let most = 2.0 * f64::from(setting.clients_max);
                    let doubled = (0..20).map(|power| 1.3 * 2.0_f64.powi(power));
                    doubled.take_while(|&servers| servers < most).collect()
                }
            };
            let values = if values.is_empty() { vec![1.3] } else { values };
            let (low, high) = Self::bounds(part, time, setting);
            starts = starts
                .iter()
                .flat_map(|start| values.iter().map(move |value| (start, value)))
                .map(|(start, value)| {
                    let mut start = start.clone();
                    start.push(value.ln().clamp(low, high));
                    start
                })
                .collect();
        }
        starts
    }
}
