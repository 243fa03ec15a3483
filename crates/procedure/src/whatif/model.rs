//! The candidate models, from small to large.

use super::network::{ProcessorDemand, ResponseLaw, StorageModel};

/// Larger populations are not iterated client by client.
const GENERAL_CLIENTS_MAX: u32 = 2_000;
/// Maximum number of storage servers in models with processors.
const SERVERS_WITH_PROCESSORS: f64 = 64.0;

/// Known parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KnownParameters {
    /// Mean think time, nanoseconds.
    pub think: f64,
    /// CPU demand, for transactions.
    pub processors: Option<ProcessorDemand>,
    /// Maximum number of clients of any point.
    pub clients_max: u32,
}

units::words! {
    /// A model: which of its parts there are. The smallest comes first. Of two that do equally
    /// well, the first is taken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Model {
        Delay = "delay": "a delay without a queue",
        Server = "server": "one exponential server",
        Open = "open": "one exponential server, unlimited clients",
        Servers = "servers": "several exponential servers",
        ServerDelay = "server-delay": "one exponential server, and a delay",
        Law = "law": "one server, times of any spread",
        ServersDelay = "servers-delay": "several exponential servers, and a delay",
        LawDelay = "law-delay": "one server, times of any spread, and a delay",
    }
}

/// A fitted parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FittedParameter {
    Service,
    Servers,
    Delay,
    Variation,
}

impl Model {
    pub const fn parts(self) -> &'static [FittedParameter] {
        match self {
            Self::Delay => &[FittedParameter::Delay],
            Self::Open | Self::Server => &[FittedParameter::Service],
            Self::ServerDelay => &[FittedParameter::Service, FittedParameter::Delay],
            Self::Law => &[FittedParameter::Service, FittedParameter::Variation],
            Self::Servers => &[FittedParameter::Service, FittedParameter::Servers],
            Self::LawDelay => &[
                FittedParameter::Service,
                FittedParameter::Delay,
                FittedParameter::Variation,
            ],
            Self::ServersDelay => &[
                FittedParameter::Service,
                FittedParameter::Servers,
                FittedParameter::Delay,
            ],
        }
    }

    /// Whether it can be used with these known parameters.
    pub fn is_possible(self, setting: &KnownParameters) -> bool {
        match self {
            Self::Open => setting.processors.is_none(),
            Self::Law | Self::LawDelay => {
                setting.processors.is_none() && setting.clients_max <= GENERAL_CLIENTS_MAX
            }
            _ => true,
        }
    }

    /// Storage with these logarithmic parameters, in the order of [`Model::parts`].
    pub fn storage(self, logs: &[f64]) -> StorageModel {
        let mut storage = StorageModel {
            law: match self {
                Self::Open => ResponseLaw::Open,
                _ => ResponseLaw::Exponential,
            },
            service: 1e-6,
            servers: 1.0,
            delay: 0.0,
        };
        for (part, log) in self.parts().iter().zip(logs) {
            let value = log.exp();
            match part {
                FittedParameter::Service => storage.service = value,
                FittedParameter::Servers => storage.servers = value,
                FittedParameter::Delay => storage.delay = value,
                FittedParameter::Variation => storage.law = ResponseLaw::General(value),
            }
        }
        storage
    }

    /// Bounds of a parameter's logarithm, if the time of one client is about `time`.
    pub fn bounds(part: FittedParameter, time: f64, setting: &KnownParameters) -> (f64, f64) {
        let servers_max = match setting.processors {
            Some(_) => SERVERS_WITH_PROCESSORS,
            None => 4.0 * f64::from(setting.clients_max),
        };
        let (low, high) = match part {
            FittedParameter::Service => (time * 1e-4, time * 1e2),
            FittedParameter::Servers => (1.0, servers_max.max(1.0)),
            FittedParameter::Delay => (time * 1e-4, time * 1e2),
            FittedParameter::Variation => (1e-3, 100.0),
        };
        (low.ln(), high.ln())
    }

    /// Starting points of the search.
    pub fn starts(self, time: f64, setting: &KnownParameters) -> Vec<Vec<f64>> {
        let mut starts = vec![Vec::new()];
        for &part in self.parts() {
            let values: Vec<f64> = match part {
                FittedParameter::Service if self == Self::Servers => vec![time],
                FittedParameter::Service => vec![time, 0.2 * time],
                FittedParameter::Delay if self == Self::Delay => vec![time],
                FittedParameter::Delay => vec![0.2 * time, 0.8 * time],
                FittedParameter::Variation => vec![0.3, 2.0],
                FittedParameter::Servers => {
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
