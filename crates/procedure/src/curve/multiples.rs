//! Loads that grow by several clients at once to keep a workload's proportions. The search counts
//! multiples, a curve reports clients.

use results::{Curve, CurveLevel, CurvePoint, LevelOutcome, Saturation};
use units::format_counted;

use super::LoadCurve;

impl LoadCurve {
    /// Number of clients for `multiple`.
    pub(super) const fn clients_of(&self, multiples: u32) -> u32 {
        multiples.saturating_mul(self.options.clients_each)
    }

    /// The number of clients, in words.
    pub(super) fn counted(&self, multiples: u32) -> String {
        format_counted(self.clients_of(multiples).into(), "client")
    }

    /// The curve in clients instead of multiples.
    pub(super) fn in_clients(&self, curve: Curve) -> Curve {
        let point = |it: CurvePoint| CurvePoint {
            clients: self.clients_of(it.clients),
            ..it
        };
        let level = |it: CurveLevel| CurveLevel {
            outcome: self.outcome_in_clients(it.outcome),
            ..it
        };
        let saturation = |it: Saturation| Saturation {
            clients: self.clients_of(it.clients),
            ..it
        };
        Curve {
            points: curve.points.into_iter().map(point).collect(),
            levels: curve.levels.into_iter().map(level).collect(),
            saturation: curve.saturation.map(saturation),
            ..curve
        }
    }

    fn outcome_in_clients(&self, outcome: LevelOutcome) -> LevelOutcome {
        match outcome {
            LevelOutcome::Reached {
                load,
                clients,
                is_precise,
            } => LevelOutcome::Reached {
                load,
                clients: clients * f64::from(self.options.clients_each),
                is_precise,
            },
            LevelOutcome::NotReached {
                clients,
                load,
                response,
            } => LevelOutcome::NotReached {
                clients: self.clients_of(clients),
                load,
                response,
            },
            LevelOutcome::Between { .. } | LevelOutcome::Exceeded { .. } => outcome,
        }
    }
}
