//! What the textbooks say: exact answers for the queues that the simulated devices are.
//!
//! Kleinrock, Queueing Systems I (1975), chapters 3 and 5; for the M/D/1 waiting time, Erlang
//! (1909) in the form of Gross and Harris. Times and rates in any unit, the same for all.

/// An open queue with Poisson arrivals and exponential service.
#[derive(Clone, Copy, Debug)]
pub struct OpenQueue {
    pub servers: u32,
    /// Arrivals per unit of time.
    pub arrivals: f64,
    /// Services per unit of time and server.
    pub service: f64,
}

impl OpenQueue {
    /// The queue in which each of `servers` is busy for `load` of its time.
    pub fn at(servers: u32, load: f64, service_mean: f64) -> Self {
        let service = 1.0 / service_mean;
        Self {
            servers,
            arrivals: load * f64::from(servers) * service,
            service,
        }
    }

    /// The chance that an arrival must wait (Erlang's C).
    pub fn waits(&self) -> f64 {
        let offered = self.arrivals / self.service;
        let load = offered / f64::from(self.servers);
        let mut term = 1.0;
        let mut sum = 0.0;
        for k in 0..self.servers {
            sum += term;
            term *= offered / f64::from(k + 1);
        }
        let waiting = term / (1.0 - load);
        waiting / (sum + waiting)
    }

    /// The rate at which the wait of those who wait ends.
    fn relief(&self) -> f64 {
        f64::from(self.servers) * self.service - self.arrivals
    }

    pub fn response_mean(&self) -> f64 {
        self.waits() / self.relief() + 1.0 / self.service
    }

    /// The chance that a response takes longer than `t`: a service, after an exponential wait with
    /// probability C.
    pub fn response_exceeds(&self, t: f64) -> f64 {
        let (waits, relief, service) = (self.waits(), self.relief(), self.service);
        if self.servers == 1 {
            return (-relief * t).exp();
        }
        let both =
            (relief * (-service * t).exp() - service * (-relief * t).exp()) / (relief - service);
        (1.0 - waits) * (-service * t).exp() + waits * both
    }

    pub fn response_quantile(&self, p: f64) -> f64 {
        solve(|t| self.response_exceeds(t) < 1.0 - p)
    }
}

/// An open queue with Poisson arrivals, one server, and the constant service time 1.
#[derive(Clone, Copy, Debug)]
pub struct ConstantService {
    pub load: f64,
}

impl ConstantService {
    /// Pollaczek and Khinchine.
    pub fn response_mean(&self) -> f64 {
        1.0 + self.load / (2.0 * (1.0 - self.load))
    }

    /// Erlang's alternating series; its terms grow like e^(load t), so doubles serve up to t = 20.
    pub fn wait_within(&self, t: f64) -> f64 {
        let mut sum = 0.0;
        for k in 0..=t.floor() as u32 {
            let x = self.load * (t - f64::from(k));
            let factorial: f64 = (1..=k).map(f64::from).product();
            sum += (-x).powi(k as i32) / factorial * x.exp();
        }
        (1.0 - self.load) * sum
    }

    pub fn response_quantile(&self, p: f64) -> f64 {
        1.0 + solve(|t| self.wait_within(t) > p)
    }
}

/// `clients` that think and wait for one of `servers`: M/M/c//N.
#[derive(Clone, Copy, Debug)]
pub struct ClosedQueue {
    pub servers: u32,
    pub service_mean: f64,
    pub think_mean: f64,
}

impl ClosedQueue {
    /// Throughput and mean response time of `clients`, from the balance of births and deaths.
    pub fn at(&self, clients: u32) -> (f64, f64) {
        let mut weight = 1.0;
        let (mut total, mut rate_sum) = (0.0, 0.0);
        for busy in 0..=clients {
            let rate = f64::from(busy.min(self.servers)) / self.service_mean;
            total += weight;
            rate_sum += weight * rate;
            let arrivals = f64::from(clients - busy) / self.think_mean;
            weight *= arrivals / (f64::from((busy + 1).min(self.servers)) / self.service_mean);
            // Only the ratios count; without this the weights of many clients would overflow.
            if weight > 1e100 {
                (weight, total, rate_sum) = (weight / 1e100, total / 1e100, rate_sum / 1e100);
            }
        }
        let rate = rate_sum / total;
        (rate, f64::from(clients) / rate - self.think_mean)
    }

    /// The chance that a response to one of `clients` takes longer than `t`: who arrives sees the
    /// others as if alone (Sevcik and Mitrani, "The distribution of queuing network states at input
    /// and output instants", JACM 28 (1981), 358-371), waits for as many departures as stand
    /// before it, and is served.
    fn response_exceeds(&self, clients: u32, t: f64) -> f64 {
        let (mu, servers) = (1.0 / self.service_mean, self.servers);
        let all = f64::from(servers) * mu;
        let (mut weight, mut total, mut sum) = (1.0, 0.0, 0.0);
        for others in 0..clients {
            let departures = (others + 1).saturating_sub(servers);
            total += weight;
            sum += weight * waits_longer(departures, all, mu, t);
            let arrivals = f64::from(clients - 1 - others) / self.think_mean;
            weight *= arrivals / (f64::from((others + 1).min(servers)) * mu);
        }
        sum / total
    }

    pub fn response_quantile(&self, clients: u32, p: f64) -> f64 {
        solve(|t| self.response_exceeds(clients, t) < 1.0 - p)
    }

    /// The load at which the percentile `p` is `level`, linear between neighbouring numbers of
    /// clients.
    pub fn load_at_percentile(&self, p: f64, level: f64, clients_max: u32) -> f64 {
        let low = (1..clients_max)
            .rfind(|&clients| self.response_quantile(clients, p) < level)
            .expect("one client is faster than the level");
        let at = |clients| (self.at(clients).0, self.response_quantile(clients, p));
        let ((x_low, q_low), (x_high, q_high)) = (at(low), at(low + 1));
        x_low + (level - q_low) / (q_high - q_low) * (x_high - x_low)
    }

    /// The load at which the mean response time is `level`, linear between neighbouring numbers of
    /// clients.
    pub fn load_at(&self, level: f64, clients_max: u32) -> f64 {
        let low = (1..clients_max)
            .rfind(|&clients| self.at(clients).1 < level)
            .expect("one client is faster than the level");
        let ((x_low, r_low), (x_high, r_high)) = (self.at(low), self.at(low + 1));
        x_low + (level - r_low) / (r_high - r_low) * (x_high - x_low)
    }
}

/// The least `t` for which `is_beyond` holds, if it holds from there on; between 0 and 2^60.
fn solve(is_beyond: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while !is_beyond(high) {
        high *= 2.0;
        assert!(high < 2.0_f64.powi(60), "no solution");
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if is_beyond(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// The chance that `departures` at rate `all` and then a service at rate `mu`, all exponential,
/// take longer than `t`: by Simpson's rule over the time of the departures, which is Erlang's.
fn waits_longer(departures: u32, all: f64, mu: f64, t: f64) -> f64 {
    if departures == 0 {
        return (-mu * t).exp();
    }
    // The chance of fewer Poisson events than departures, and the density of the last of them.
    let mut term = (-all * t).exp();
    let mut still_waits = 0.0;
    for k in 0..departures {
        still_waits += term;
        term *= all * t / f64::from(k + 1);
    }
    let log_factorial: f64 = (1..departures).map(|k| f64::from(k).ln()).sum();
    let density = |w: f64| {
        let power = f64::from(departures - 1) * (all * w).max(f64::MIN_POSITIVE).ln();
        all * (power - all * w - log_factorial).exp()
    };
    let steps = 200;
    let step = t / f64::from(steps);
    let part = |i: u32| {
        let w = f64::from(i) * step;
        let value = density(w) * (-mu * (t - w)).exp();
        match i {
            0 => value,
            _ if i == steps => value,
            _ if i % 2 == 1 => 4.0 * value,
            _ => 2.0 * value,
        }
    };
    still_waits + (0..=steps).map(part).sum::<f64>() * step / 3.0
}

/// Where `is_beyond` begins to hold between 0 and `most`.
pub fn load_where(most: f64, is_beyond: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if is_beyond(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}
