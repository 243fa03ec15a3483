//! Which of several targets saturates first, of those that a load curve loads at once.

use results::Measurement;
use units::{format_count, format_counted};

use super::workload_file::short_name;

/// A target whose load grows by less than this factor when its clients double is saturated.
const GROWTH_MIN: f64 = 1.05;
/// A target that does less than this part of the arrivals that are meant for it falls behind ...
const KEPT_UP: f64 = 0.995;
/// ... if chance does not explain it: in standard deviations of the number that arrives ...
const CHANCE: f64 = 4.0;
/// ... and what it does takes more than this many times what it takes alone.
const WAITS: f64 = 2.0;

/// What a target did at a point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TargetAt {
    /// Clients of all targets together, or sources of arrivals.
    of_all: u32,
    /// Its own clients.
    clients: u32,
    /// Operations per second.
    load: f64,
    completions: u64,
    /// Arrivals per second that are meant for it.
    offered: Option<f64>,
    is_behind: bool,
}

impl TargetAt {
    /// What one workload did on it; `idle_ns` is its mean response time with one operation at a
    /// time.
    pub(super) fn new(of_all: u32, row: &Measurement, idle_ns: Option<f64>) -> Self {
        let waits = idle_ns.is_some_and(|idle| row.response.mean.value > WAITS * idle);
        let load = row.throughput.value;
        let falls_short = row.offered.is_some_and(|offered| {
            let expected = offered * row.completions as f64 / load;
            (row.completions as f64) < KEPT_UP * expected - CHANCE * expected.sqrt()
        });
        Self {
            of_all,
            clients: row.clients,
            load,
            completions: row.completions,
            offered: row.offered,
            is_behind: waits && falls_short,
        }
    }

    /// The load of all at which it ends: a target that falls behind does its most.
    fn limit(&self) -> f64 {
        let kept = self.offered.map_or(1.0, |offered| self.load / offered);
        f64::from(self.of_all) * kept
    }

    fn add(&mut self, other: &Self) {
        self.clients += other.clients;
        self.load += other.load;
        self.completions += other.completions;
        self.offered = self.offered.zip(other.offered).map(|(a, b)| a + b);
        self.is_behind |= other.is_behind;
    }
}

/// What each target did at each point.
#[derive(Clone, Debug, Default)]
pub(super) struct TargetLoads {
    targets: Vec<(String, Vec<TargetAt>)>,
}

impl TargetLoads {
    /// Take in a point: what each workload did, with its target. Whether a target fell behind.
    pub(super) fn add(&mut self, rows: impl Iterator<Item = (String, TargetAt)>) -> bool {
        let mut point: Vec<(String, TargetAt)> = Vec::new();
        for (target, at) in rows {
            match point.iter_mut().find(|(known, _)| *known == target) {
                Some((_, sum)) => sum.add(&at),
                None => point.push((target, at)),
            }
        }
        let is_behind = point.iter().any(|(_, at)| at.is_behind);
        for (target, at) in point {
            match self.targets.iter_mut().find(|(known, _)| *known == target) {
                Some((_, points)) => points.push(at),
                None => self.targets.push((target, vec![at])),
            }
        }
        is_behind
    }

    /// Where each target stops to grow, in the order in which they do.
    pub(super) fn finding(&self) -> Option<String> {
        let mut ends: Vec<(f64, String)> = Vec::new();
        let mut growing: Vec<String> = Vec::new();
        for (target, points) in &self.targets {
            let name = self.name(target);
            match behind(points).or_else(|| saturation(points)) {
                Some(at) => ends.push((at.limit(), end_of(&name, at))),
                None => growing.push(name),
            }
        }
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut parts = Vec::new();
        if let Some((_, first)) = ends.first() {
            parts.push(format!("Saturates first: {first}"));
        }
        if ends.len() > 1 {
            let then: Vec<&str> = ends[1..].iter().map(|it| it.1.as_str()).collect();
            parts.push(format!("then {}", then.join(", ")));
        }
        if !growing.is_empty() {
            let begin = if parts.is_empty() { "Not" } else { "not" };
            parts.push(format!("{begin} saturated: {}", growing.join(", ")));
        }
        (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
    }

    /// A short name where no other target has it.
    fn name(&self, target: &str) -> String {
        let short = short_name(target);
        let others = self.targets.iter().filter(|(other, _)| other != target);
        match others.map(|it| short_name(&it.0)).any(|it| it == short) {
            true => target.to_owned(),
            false => short,
        }
    }
}

fn end_of(name: &str, at: &TargetAt) -> String {
    let load = format_count(at.load);
    if let Some(offered) = at.offered {
        let offered = format_count(offered);
        return format!("{name}, which does {load} of {offered} IOPS offered");
    }
    let own = format_counted(at.clients.into(), "client");
    let all = format_count(at.of_all.into());
    format!("{name} at {own} of its own, {all} in all ({load} IOPS)")
}

/// The first point at which a target fell behind its arrivals; of several, the longest.
fn behind(points: &[TargetAt]) -> Option<&TargetAt> {
    let behind = points.iter().filter(|it| it.is_behind);
    behind.min_by_key(|it| (it.of_all, std::cmp::Reverse(it.completions)))
}

/// The point of least clients from which twice as many, or more, carry hardly more; of several with
/// the same clients, the longest counts.
fn saturation(points: &[TargetAt]) -> Option<&TargetAt> {
    if points.iter().any(|it| it.offered.is_some()) {
        return None;
    }
    let mut points: Vec<&TargetAt> = points.iter().collect();
    points.sort_by_key(|it| (it.clients, std::cmp::Reverse(it.completions)));
    points.dedup_by_key(|it| it.clients);
    let holds = |at: &&TargetAt| {
        let mut beyond = points
            .iter()
            .filter(|it| it.clients >= at.clients * 2)
            .peekable();
        beyond.peek().is_some() && beyond.all(|it| it.load < at.load * GROWTH_MIN)
    };
    points.iter().copied().find(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(clients: u32, load: f64) -> TargetAt {
        TargetAt {
            of_all: clients * 2,
            clients,
            load,
            completions: 1,
            offered: None,
            is_behind: false,
        }
    }

    #[test]
    fn a_target_is_saturated_where_more_clients_carry_no_more() {
        let check = |loads: &[(u32, f64)], expected: Option<u32>| {
            let points: Vec<TargetAt> = loads.iter().map(|it| at(it.0, it.1)).collect();
            let found = saturation(&points).map(|it| it.clients);
            assert_eq!(found, expected, "{loads:?}");
        };
        check(&[(1, 100.0), (2, 200.0), (4, 205.0), (8, 204.0)], Some(2));
        check(&[(1, 100.0), (2, 200.0), (4, 400.0)], None);
        check(&[(1, 100.0)], None);
        // A dip on the way is no end.
        check(&[(1, 100.0), (2, 101.0), (4, 200.0), (8, 201.0)], Some(4));
    }

    #[test]
    fn of_two_that_fall_behind_at_once_the_one_with_the_lower_limit_is_first() {
        let behind = |load, offered| TargetAt {
            offered: Some(offered),
            is_behind: true,
            ..at(1, load)
        };
        let mut loads = TargetLoads::default();
        let rows = [("a", behind(900.0, 1000.0)), ("b", behind(1000.0, 2000.0))];
        assert!(loads.add(rows.into_iter().map(|(name, at)| (name.to_owned(), at))));
        let expected = "Saturates first: b, which does 1,000 of 2,000 IOPS offered; \
                    then a, which does 900 of 1,000 IOPS offered.";
        assert_eq!(loads.finding().as_deref(), Some(expected));
    }

    #[test]
    fn workloads_of_a_target_add_up_and_the_first_end_is_named() {
        let mut loads = TargetLoads::default();
        for (clients, slow, fast) in [(1, 1e3, 1e3), (2, 1e3, 2e3), (4, 1e3, 4e3)] {
            let rows = [
                ("/mnt/slow", at(clients, slow)),
                ("/mnt/fast", at(clients, fast)),
                ("/mnt/fast", at(clients, fast)),
            ];
            loads.add(rows.into_iter().map(|(name, at)| (name.to_owned(), at)));
        }
        let expected = "Saturates first: slow at 1 client of its own, 2 in all (1,000 IOPS); \
                    not saturated: fast.";
        assert_eq!(loads.finding().as_deref(), Some(expected));
    }
}
