//! An event-driven M/M/c//N: N clients that think and wait for one of c exponential servers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use stats::{SlotAccumulator, SlotStore};

use super::Random;

/// A closed system; times in ms.
#[derive(Clone, Copy, Debug)]
pub struct ClosedLoop {
    pub name: &'static str,
    pub servers: u32,
    pub clients: u32,
    pub service_ms: f64,
    pub think_ms: f64,
}

/// A completion of the simulation, times in ns.
pub struct Done {
    pub client: u32,
    pub at_ns: u64,
    pub response_ns: u64,
    /// Time until the client's next request.
    pub think_ns: u64,
    /// Whether it was the client's second.
    pub is_second: bool,
}

enum Event {
    Arrive,
    Complete { arrived: u64 },
}

impl ClosedLoop {
    /// Exact throughput (1/s) and response time (ms) from the birth-death balance.
    pub fn truth(&self) -> (f64, f64) {
        let n = self.clients;
        let service_rate = |k: u32| f64::from(k.min(self.servers)) / self.service_ms;
        if self.think_ms == 0.0 {
            let rate = service_rate(n);
            return (rate * 1e3, f64::from(n) / rate);
        }
        // Logarithms, since the weights of 64 clients span many decades.
        let mut logs = vec![0.0];
        for k in 1..=n {
            let arrival_rate = f64::from(n - k + 1) / self.think_ms;
            logs.push(logs[k as usize - 1] + (arrival_rate / service_rate(k)).ln());
        }
        let top = logs.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        let rate = (0..=n)
            .map(|k| weights[k as usize] / total * service_rate(k))
            .sum::<f64>();
        (rate * 1e3, f64::from(n) / rate - self.think_ms)
    }

    /// Simulates until `on_completion` returns false.
    pub fn run(&self, replication: u64, mut on_completion: impl FnMut(&Done) -> bool) {
        let mut random = Random::new(self.name, replication);
        let think = |random: &mut Random| (random.exponential() * self.think_ms * 1e6) as u64;
        let serve = |random: &mut Random| (random.exponential() * self.service_ms * 1e6) as u64;
        let mut events = BinaryHeap::new();
        let mut kinds: Vec<Event> = Vec::new();
        for client in 0..self.clients {
            events.push(Reverse((think(&mut random), client)));
            kinds.push(Event::Arrive);
        }
        let mut queue: VecDeque<(u32, u64)> = VecDeque::new();
        let mut completed = vec![0u64; self.clients as usize];
        let mut idle = self.servers;
        // One event is pending per client at most: its kind is kept beside the heap.
        while let Some(Reverse((now, client))) = events.pop() {
            match kinds[client as usize] {
                Event::Arrive if idle > 0 => {
                    idle -= 1;
                    kinds[client as usize] = Event::Complete { arrived: now };
                    events.push(Reverse((now + serve(&mut random), client)));
                }
                Event::Arrive => queue.push_back((client, now)),
                Event::Complete { arrived } => {
                    completed[client as usize] += 1;
                    let done = Done {
                        client,
                        at_ns: now,
                        response_ns: now - arrived,
                        think_ns: think(&mut random),
                        is_second: completed[client as usize] == 2,
                    };
                    if let Some((next, arrived)) = queue.pop_front() {
                        kinds[next as usize] = Event::Complete { arrived };
                        events.push(Reverse((now + serve(&mut random), next)));
                    } else {
                        idle += 1;
                    }
                    kinds[client as usize] = Event::Arrive;
                    events.push(Reverse((now + done.think_ns, client)));
                    if !on_completion(&done) {
                        return;
                    }
                }
            }
        }
    }

    /// Feeds a store as a worker would, epoch by epoch; `on_look` says whether to go on.
    pub fn run_into_store(
        &self,
        replication: u64,
        width_ns: u64,
        mut on_look: impl FnMut(&SlotStore, u64) -> bool,
    ) {
        let mut store = SlotStore::new(width_ns, self.clients);
        let mut accumulator = SlotAccumulator::new();
        let mut epoch = 0;
        let mut completions = 0;
        self.run(replication, |done| {
            let current = done.at_ns / width_ns;
            let mut go_on = true;
            if current > epoch {
                store.push(accumulator.take(epoch));
                epoch = current;
                go_on = !store.look_due() || on_look(&store, completions);
            }
            completions += 1;
            accumulator.record(done.response_ns, done.response_ns, 0, 4096);
            accumulator.record_think(done.think_ns);
            if done.is_second {
                accumulator.record_warm();
            }
            go_on
        });
    }
}
