//! Exact steady-state results of queueing theory: Kleinrock, Queueing Systems I (1975), chapters
//! 3 and 5.

use crate::faults::Faults;
use crate::pace::ServiceTimeScaling;
use crate::queue::QueueSpec;
use crate::spec::SimSpec;
use crate::station::ServiceLaw;

/// The load on a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLoad {
    /// Poisson arrivals.
    Poisson {
        /// Arrivals per second over all clients.
        per_second: f64,
    },
    /// Equally spaced arrivals.
    Even {
        /// Arrivals per second.
        per_second: f64,
    },
    /// Closed-loop clients with exponential think times.
    Thinking {
        clients: u32,
        /// Mean think time, nanoseconds; zero to issue at once.
        think_ns: f64,
    },
}

/// Mean times and throughput in steady state.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueAnswer {
    /// Name of the law in Kendall's notation.
    pub name: String,
    /// Mean time in the queue, nanoseconds.
    pub wait_ns: f64,
    /// Mean service time, nanoseconds.
    pub service_ns: f64,
    /// Operations per second.
    pub per_second: f64,
}

impl SimSpec {
    /// The law for this model under `load`, if one applies.
    pub fn answer(&self, load: QueueLoad) -> Option<QueueAnswer> {
        let is_sound = self.faults == Faults::default();
        self.queue().filter(|_| is_sound)?.answer(load)
    }
}

impl QueueSpec {
    /// The law for this queue under `load`, if one applies.
    pub fn answer(&self, load: QueueLoad) -> Option<QueueAnswer> {
        if self.pace != ServiceTimeScaling::default() || !self.limits.is_none() {
            return None;
        }
        let service_ns = self.law.mean_ns()?;
        match load {
            QueueLoad::Poisson { per_second } => self.open(service_ns, per_second),
            QueueLoad::Even { per_second } => self.even(service_ns, per_second),
            QueueLoad::Thinking { clients, think_ns } => self.closed(service_ns, clients, think_ns),
        }
    }

    fn open(&self, service_ns: f64, per_second: f64) -> Option<QueueAnswer> {
        let offered = per_second * service_ns / 1e9;
        let (name, wait_ns) = match (self.law, self.servers) {
            (_, None) => ("M/G/inf".into(), 0.0),
            (_, Some(servers)) if offered >= servers as f64 => return None,
            (ServiceLaw::Exponential { .. }, Some(servers)) => {
                let relief = servers as f64 - offered;
                let wait = waits(servers, offered) / relief * service_ns;
                (format!("M/M/{servers}"), wait)
            }
            // Pollaczek and Khinchine.
            (law, Some(1)) => {
                let square = law.mean_square()?;
                let wait = per_second / 1e9 * square / (2.0 * (1.0 - offered));
                let is_constant = matches!(law, ServiceLaw::Constant { .. });
                let name = if is_constant { "M/D/1" } else { "M/G/1" };
                (name.into(), wait)
            }
            _ => return None,
        };
        Some(QueueAnswer {
            name,
            wait_ns,
            service_ns,
            per_second,
        })
    }

    /// D/M/1: the probability that an arrival finds the server busy is the root below 1 of `chance
    /// = exp((chance - 1) / offered)`.
    fn even(&self, service_ns: f64, per_second: f64) -> Option<QueueAnswer> {
        const STEPS: u32 = 10_000;
        let offered = per_second * service_ns / 1e9;
        let is_known = matches!(self.law, ServiceLaw::Exponential { .. });
        if !is_known || self.servers != Some(1) || offered >= 1.0 {
            return None;
        }
        let busy = (0..STEPS).fold(offered, |busy, _| ((busy - 1.0) / offered).exp());
        Some(QueueAnswer {
            name: "D/M/1".into(),
            wait_ns: busy / (1.0 - busy) * service_ns,
            service_ns,
            per_second,
        })
    }

    fn closed(&self, service_ns: f64, clients: u32, think_ns: f64) -> Option<QueueAnswer> {
        let all = f64::from(clients);
        let servers = self.servers.map_or(all, |servers| servers as f64);
        let (name, per_ns) = if servers >= all {
            (
                format!(
                    "{}, no queue",
                    units::format_counted(clients.into(), "client")
                ),
                all / (service_ns + think_ns),
            )
        } else if think_ns == 0.0 {
            let name = format!(
                "{}, {} always busy",
                units::format_counted(clients.into(), "client"),
                units::format_counted(servers as u64, "server")
            );
            (name, servers / service_ns)
        } else if matches!(self.law, ServiceLaw::Exponential { .. }) {
            let name = format!("M/M/{servers}//{clients} (machine repair)");
            (name, repair(servers, all, service_ns, think_ns))
        } else {
            return None;
        };
        Some(QueueAnswer {
            name,
            wait_ns: (all / per_ns - think_ns - service_ns).max(0.0),
            service_ns,
            per_second: per_ns * 1e9,
        })
    }
}

/// The probability that an arrival must wait (Erlang C), where `offered` servers are busy on
/// average.
fn waits(servers: usize, offered: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 0..servers {
        sum += term;
        term *= offered / (k + 1) as f64;
    }
    let waiting = term / (1.0 - offered / servers as f64);
    waiting / (sum + waiting)
}

/// Throughput of clients who think and wait for one of the servers, from balance equations:
/// M/M/c//N.
fn repair(servers: f64, clients: f64, service: f64, think: f64) -> f64 {
    let (mut weight, mut total, mut rates) = (1.0, 0.0, 0.0);
    let mut there = 0.0;
    while there <= clients {
        let rate = servers.min(there) / service;
        total += weight;
        rates += weight * rate;
        weight *= (clients - there) / think * service / servers.min(there + 1.0);
        there += 1.0;
        // Only the ratios count. Without this, the weights of many clients would overflow.
        if weight > 1e100 {
            (weight, total, rates) = (weight / 1e100, total / 1e100, rates / 1e100);
        }
    }
    rates / total
}

#[cfg(test)]
mod tests {
    use super::{QueueLoad, SimSpec};

    /// Times in microseconds, load per second.
    #[track_caller]
    fn check(model: &str, load: QueueLoad, expected: Option<(&str, f64, f64, f64)>) {
        let spec = SimSpec::parse(model).unwrap_or_else(|error| panic!("{model}: {error}"));
        let found = spec.answer(load);
        let Some((name, wait, service, per_second)) = expected else {
            return assert_eq!(found, None, "{model}");
        };
        let found = found.unwrap_or_else(|| panic!("{model}: a law holds"));
        assert_eq!(found.name, name);
        for (found, expected) in [
            (found.wait_ns / 1e3, wait),
            (found.service_ns / 1e3, service),
            (found.per_second, per_second),
        ] {
            let is_near = (found - expected).abs() <= 1e-4 * expected.max(1.0);
            assert!(is_near, "{model}: {found} and not {expected}");
        }
    }

    const fn poisson(per_second: f64) -> QueueLoad {
        QueueLoad::Poisson { per_second }
    }

    const fn thinking(clients: u32, think_ns: f64) -> QueueLoad {
        QueueLoad::Thinking { clients, think_ns }
    }

    #[test]
    fn arrivals_wait_as_the_textbook_says() {
        let mm1 = "sim:mm1?mean=100us";
        check(mm1, poisson(5000.0), Some(("M/M/1", 100.0, 100.0, 5000.0)));
        check(mm1, poisson(8000.0), Some(("M/M/1", 400.0, 100.0, 8000.0)));
        // Erlang C of four servers at 80 % is 0.59643.
        let mmc = "sim:mmc?mean=100us&servers=4";
        check(
            mmc,
            poisson(32_000.0),
            Some(("M/M/4", 74.554, 100.0, 32_000.0)),
        );
        check(
            "sim:md1?time=100us",
            poisson(8000.0),
            Some(("M/D/1", 200.0, 100.0, 8000.0)),
        );
        // Hits and misses of exponential times: 2 (.9 x 10^2 + .1 x 1000^2) us^2.
        check(
            "sim:cache?hit=10us&miss=1ms&hits=90%&run=1",
            poisson(5000.0),
            Some(("M/G/1", 1099.89, 109.0, 5000.0)),
        );
        let sticky = "sim:cache?hit=10us&miss=1ms&hits=90%&run=50";
        check(sticky, poisson(5000.0), None);
        // The mean square of a Pareto law is least^2 shape / (shape - 2): 4/3 mean^2 of shape 3.
        check(
            "sim:pareto?mean=100us&shape=3",
            poisson(5000.0),
            Some(("M/G/1", 66.667, 100.0, 5000.0)),
        );
        check("sim:pareto?mean=100us&shape=2", poisson(5000.0), None);
        // Gross and Harris: at half the load, 0.20319 of the arrivals find the server busy.
        let even = |per_second| QueueLoad::Even { per_second };
        check(mm1, even(5000.0), Some(("D/M/1", 25.5, 100.0, 5000.0)));
        check(mm1, even(10_000.0), None);
        check(
            "sim:delay?time=5ms",
            poisson(1e5),
            Some(("M/G/inf", 0.0, 5000.0, 1e5)),
        );
        check(mm1, poisson(10_000.0), None);
        check("sim:md1?time=100us&servers=2", poisson(8000.0), None);
        check("sim:cache", poisson(1000.0), None);
    }

    #[test]
    fn clients_that_wait_for_each_other_follow_the_balance_of_births_and_deaths() {
        // Two clients who think as long as service takes: weights 1 + 2 + 2, busy for 4 of 5.
        let two = Some(("M/M/1//2 (machine repair)", 50.0, 100.0, 8000.0));
        check("sim:mm1?mean=100us", thinking(2, 100e3), two);
        let busy = Some(("8 clients, 1 server always busy", 700.0, 100.0, 10_000.0));
        check("sim:md1?time=100us", thinking(8, 0.0), busy);
        let free = Some(("2 clients, no queue", 0.0, 100.0, 10_000.0));
        check("sim:mmc?mean=100us&servers=4", thinking(2, 100e3), free);
        check("sim:md1?time=100us", thinking(2, 100e3), None);
    }

    #[test]
    fn no_law_holds_of_a_queue_that_changes_or_fails() {
        let load = poisson(1000.0);
        for spoilt in [
            "drift=30%@60s",
            "wave=50%@1s",
            "stall=1s@5",
            "error=EIO@5",
            "short=1%",
        ] {
            check(&format!("sim:mm1?mean=100us&{spoilt}"), load, None);
        }
        check("sim:fireball", load, None);
    }
}
