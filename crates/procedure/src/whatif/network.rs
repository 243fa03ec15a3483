//! Closed networks of queues and their exact mean values.
//!
//! Clients think, then use a station whose rate grows with the requests present until all servers
//! are busy. A delay without a queue can be added. With exponential times the numbers at the
//! stations have a product form (J. Buzen, "Computational Algorithms for Closed Queueing Networks
//! with Exponential Servers", Comm. ACM 16(9), 1973; M. Reiser, S. Lavenberg, "Mean-Value Analysis
//! of Closed Multichain Queuing Networks", J. ACM 27(2), 1980). The number of servers need not be
//! an integer: fractions describe a partly parallel device.

/// Terms below this share of their sum are dropped.
const NEGLIGIBLE: f64 = 1e-17;

/// CPU demand of a transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorDemand {
    /// Processor time of a transaction, nanoseconds.
    pub demand: f64,
    /// Number of processors.
    pub count: f64,
}

/// Response law of the storage; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResponseLaw {
    /// Arrivals as from an infinite population: R = S / (1 - X S).
    Open,
    /// Exponential service times.
    Exponential,
    /// One server with this squared coefficient of variation.
    General(f64),
}

/// Storage: servers, and a delay without a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StorageModel {
    /// Distribution of service times, and of arrivals.
    pub law: ResponseLaw,
    /// Mean service time, nanoseconds.
    pub service: f64,
    /// Number of servers, at least one.
    pub servers: f64,
    /// Additional time per request, nanoseconds.
    pub delay: f64,
}

impl StorageModel {
    /// Mean response time with `clients` clients that think for `think`, nanoseconds.
    pub fn response(&self, clients: u32, think: f64, processors: Option<ProcessorDemand>) -> f64 {
        if let Some(processors) = processors {
            return self.with_processors(clients, think, processors);
        }
        match self.law {
            ResponseLaw::Open => open(clients, think, self.service),
            ResponseLaw::Exponential => self.exponential(clients, think),
            ResponseLaw::General(variation) => self.general(clients, think, variation),
        }
    }

    /// Mean response time, nanoseconds, with open Poisson arrivals of `load` per nanosecond;
    /// infinite if the storage cannot sustain it. For several servers, the distribution of the
    /// number present is summed (M/M/c). For one server with any service times, the
    /// Pollaczek-Khinchine formula is used (L. Kleinrock, "Queueing Systems I", 1975, chapters 3
    /// and 5).
    pub fn open_response(&self, load: f64) -> f64 {
        let busy = load * self.service;
        if busy >= self.servers {
            return f64::INFINITY;
        }
        let waiting = match self.law {
            ResponseLaw::Open => self.service * busy / (1.0 - busy),
            ResponseLaw::General(variation) => {
                self.service * busy * (1.0 + variation) / 2.0 / (1.0 - busy)
            }
            ResponseLaw::Exponential => {
                // Weights of 0, 1, 2 ... present. From the last server on they fall geometrically.
                let (mut weight, mut total, mut present) = (1.0, 1.0, 0.0);
                let mut sum = 0.0;
                while present < self.servers {
                    present += 1.0;
                    weight *= busy / present.min(self.servers);
                    total += weight;
                    sum += weight * present;
                }
                let ratio = busy / self.servers;
                let tail = weight * ratio / (1.0 - ratio);
                total += tail;
                sum += tail * (present + 1.0 / (1.0 - ratio));
                return sum / total / load + self.delay;
            }
        };
        self.service + waiting + self.delay
    }

    /// The stationary distribution of the number present, summed from its mode outwards.
    fn exponential(&self, clients: u32, think: f64) -> f64 {
        let away = think + self.delay;
        let all = f64::from(clients);
        let busy = |present: f64| present.min(self.servers);
        if away <= 0.0 {
            return all * self.service / busy(all);
        }
        // Ratio of the weights of one more and `present` at the station.
        let factor = |present: f64| (all - present) / away * self.service / busy(present + 1.0);
        let (mut low, mut high) = (0_u32, clients);
        while low < high {
            let middle = low + (high - low) / 2;
            if factor(f64::from(middle)) >= 1.0 {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mode = f64::from(low);
        let (mut total, mut rate) = (1.0, busy(mode));
        let (mut weight, mut present) = (1.0, mode);
        while present < all && weight > NEGLIGIBLE * total {
            weight *= factor(present);
            present += 1.0;
            total += weight;
            rate += weight * busy(present);
        }
        (weight, present) = (1.0, mode);
        while present > 0.0 && weight > NEGLIGIBLE * total {
            present -= 1.0;
            weight /= factor(present);
            total += weight;
            rate += weight * busy(present);
        }
        all * self.service * total / rate - think
    }

    /// Approximate mean value analysis of one server with any service times: an arrival meets the
    /// residual time of the request in service (M. Reiser, "A Queueing Network Analysis of
    /// Computer Communication Networks with Window Flow Control", IEEE Trans. Comm. 27(8), 1979).
    fn general(&self, clients: u32, think: f64, variation: f64) -> f64 {
        let away = think + self.delay;
        let (mut queue, mut busy, mut response) = (0.0, 0.0, self.service);
        for present in 1..=clients {
            let present = f64::from(present);
            let waiting = queue + 0.5 * busy * (variation - 1.0);
            response = self.service * (1.0 + waiting);
            // A server cannot exceed its rate.
            response = response.max(present * self.service - away);
            let load = present / (away + response);
            queue = load * response;
            busy = load * self.service;
        }
        response + self.delay
    }

    /// The convolution of thinking clients, processors and storage.
    fn with_processors(&self, clients: u32, think: f64, processors: ProcessorDemand) -> f64 {
        let all = clients as usize;
        let away = think + self.delay;
        let one = away + processors.demand + self.service;
        // The result does not depend on the scale. That of the load keeps terms near one.
        let scale = (f64::from(clients) / one)
            .min(processors.count / processors.demand)
            .min(self.servers / self.service);
        let mut terms = poisson(all, scale * away);
        terms = convolved(&terms, scale * processors.demand, processors.count);
        terms = convolved(&terms, scale * self.service, self.servers);
        let load = scale * terms[all - 1] / terms[all];
        f64::from(clients) / load - think
    }
}

/// R = S / (1 - X S) with X = N / (Z + R), solved for R.
fn open(clients: u32, think: f64, service: f64) -> f64 {
    let half = 0.5 * (think - f64::from(clients) * service - service);
    (half * half + service * think).sqrt() - half
}

/// Weights of 0..=n clients thinking.
fn poisson(n: usize, mean: f64) -> Vec<f64> {
    let mut log = -mean;
    let mut terms = Vec::with_capacity(n + 1);
    terms.push(if mean > 0.0 { log.exp() } else { 1.0 });
    for present in 1..=n {
        log += mean.ln() - (present as f64).ln();
        terms.push(if mean > 0.0 { log.exp() } else { 0.0 });
    }
    terms
}

/// Convolves the weights with a further station, which has `work` for `servers`. From the last
/// server on, its weights are a geometric series.
fn convolved(others: &[f64], work: f64, servers: f64) -> Vec<f64> {
    let first = servers.ceil().max(1.0) as usize;
    let mut own = vec![1.0];
    for present in 1..=first {
        own.push(own[present - 1] * work / (present as f64).min(servers));
    }
    let mut tail = 0.0;
    (0..others.len())
        .map(|n| {
            tail *= work / servers;
            if n >= first {
                tail += own[first] * others[n - first];
            }
            let few = (0..first.min(n + 1)).map(|present| own[present] * others[n - present]);
            tail + few.sum::<f64>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(servers: f64, delay: f64) -> StorageModel {
        StorageModel {
            law: ResponseLaw::Exponential,
            service: 5.0,
            servers,
            delay,
        }
    }

    /// Many clients with long think times approach open arrivals.
    #[test]
    fn an_open_load_is_that_of_a_crowd() {
        for (servers, load) in [(1.0, 0.1), (2.5, 0.3), (4.0, 0.78), (64.0, 10.0)] {
            let storage = storage(servers, 2.0);
            let open = storage.open_response(load);
            let crowd = 4_000_000;
            let closed = storage.response(crowd, f64::from(crowd) / load - open, None);
            assert!(
                (open / closed - 1.0).abs() < 1e-3,
                "{servers} {load}: {open} {closed}"
            );
        }
        // M/M/4 at 3,900 per second, service 1 ms: Erlang's formula gives 10.45 ms.
        let four = StorageModel {
            service: 1.0,
            ..storage(4.0, 0.0)
        };
        assert!((four.open_response(3.9) - 10.451_141_642).abs() < 1e-6);
        assert_eq!(four.open_response(4.0), f64::INFINITY);
        let one = StorageModel {
            law: ResponseLaw::General(0.0),
            ..storage(1.0, 0.0)
        };
        check(one.open_response(0.1), 7.5);
        let one = StorageModel {
            law: ResponseLaw::Open,
            ..one
        };
        check(one.open_response(0.1), 10.0);
    }

    /// Birth and death, written out: M/M/c//N.
    fn textbook(clients: u32, think: f64, servers: u32) -> f64 {
        let (mut weight, mut total, mut busy) = (1.0, 0.0, 0.0);
        for present in 0..=clients {
            total += weight;
            busy += weight * f64::from(present.min(servers));
            let arrivals = f64::from(clients - present) / think;
            weight *= arrivals * 5.0 / f64::from((present + 1).min(servers));
        }
        f64::from(clients) * 5.0 * total / busy - think
    }

    fn check(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn closed_queues_agree_with_the_textbook() {
        for servers in [1, 2, 4, 8] {
            for clients in [1, 2, 7, 30, 80] {
                let found = storage(f64::from(servers), 0.0).response(clients, 50.0, None);
                check(found, textbook(clients, 50.0, servers));
            }
        }
    }

    #[test]
    fn a_delay_is_thinking_that_counts() {
        let found = storage(4.0, 20.0).response(30, 30.0, None);
        check(found, textbook(30, 50.0, 4) + 20.0);
    }

    #[test]
    fn without_thinking_all_are_at_the_station() {
        check(storage(4.0, 0.0).response(3, 0.0, None), 5.0);
        check(storage(4.0, 0.0).response(20, 0.0, None), 25.0);
        check(storage(2.5, 0.0).response(20, 0.0, None), 40.0);
    }

    #[test]
    fn the_convolution_is_the_same_network() {
        for clients in [1, 5, 40, 900] {
            let no_work = ProcessorDemand {
                demand: 1e-9,
                count: 1.0,
            };
            let found = storage(3.5, 2.0).response(clients, 60.0, Some(no_work));
            check(found, storage(3.5, 2.0).response(clients, 60.0, None));
        }
    }

    /// Two equal stations without think time: X = N / (N + 1) / S.
    #[test]
    fn balanced_stations_have_a_short_formula() {
        let work = ProcessorDemand {
            demand: 5.0,
            count: 1.0,
        };
        check(storage(1.0, 0.0).response(9, 0.0, Some(work)), 50.0);
    }

    #[test]
    fn one_exponential_server_by_the_general_law_is_exact() {
        let general = StorageModel {
            law: ResponseLaw::General(1.0),
            ..storage(1.0, 3.0)
        };
        for clients in [1, 6, 40] {
            let expected = storage(1.0, 3.0).response(clients, 20.0, None);
            check(general.response(clients, 20.0, None), expected);
        }
    }

    #[test]
    fn huge_populations_stay_finite() {
        check(storage(4.0, 0.0).response(100_000, 50.0, None), 124_950.0);
        assert!(storage(4.0, 1.0).response(100_000, 1e9, None).is_finite());
    }
}
