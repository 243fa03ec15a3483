//! The acceptance test of the stopping rule, commit tier: intervals must contain the truth about
//! as often as they claim, and the harness must be able to see rules whose intervals do not.
//!
//! Virtual time, fixed seeds: the same numbers on every machine. Bands: section 9 of the
//! statistics notes. `cargo test -p stats coverage:: -- --nocapture` prints the tables.

use std::ops::RangeInclusive;

use crate::support::acceptance::{Judge, closed_loop_cells, goal, run, thousands};
use crate::support::closed_loop::ClosedLoop;
use crate::support::processes::{Kind, Process};
use crate::support::table::Table;
use crate::support::{self, replicate, rivals, share, slot_of};
use stats::{Channel, Goal, SlotStore, evaluate};

const REPLICATIONS: u64 = 200;
const BAND: RangeInclusive<f64> = 0.905..=0.995;

const EXPONENTIAL: Process = Process::new("i.i.d. exponential", Kind::Exponential);
const AUTOREGRESSIVE: Process = Process::new("AR(1) .9", Kind::Autoregressive { rho: 0.9 });
const QUEUE: Process = Process::new("M/M/1 .8", Kind::Queue { load: 0.8 });
const FORTY: ClosedLoop = ClosedLoop {
    name: "M/M/4//40",
    servers: 4,
    clients: 40,
    service_ms: 5.0,
    think_ms: 50.0,
};

#[test]
fn intervals_cover() {
    let mut table = Table::new("coverage at r = .05, 200 replications");
    for process in [EXPONENTIAL, AUTOREGRESSIVE, QUEUE] {
        let outcomes = replicate(REPLICATIONS, |i| run(&process, &[0.05], Judge::Means, i));
        let coverage = share(outcomes.iter().map(|o| o.covered[0]));
        let thousand = thousands(outcomes.iter().map(|o| o.completions[0]));
        table.cell(
            process.name,
            coverage,
            BAND,
            &format!("{thousand:.1}k I/Os"),
        );
    }
    closed_loop_cells(&mut table, &FORTY, 0.05, REPLICATIONS, BAND);
    table.finish();
}

/// RPT assumes independent I/Os, and is right only where they are.
#[test]
fn the_rule_of_1995_is_seen_to_fail() {
    let mut table = Table::new("negative control: RPT's rule at r = .05 claims .997");
    for (process, band) in [
        (EXPONENTIAL, 0.98..=1.0),
        (AUTOREGRESSIVE, 0.0..=0.60),
        (QUEUE, 0.0..=0.40),
    ] {
        let covered = replicate(REPLICATIONS, |i| rivals::rpt_covers(&process, 0.05, i));
        table.cell(process.name, share(covered.into_iter()), band, "");
    }
    table.finish();
}

/// Messages of 100 I/Os of one client each, in order of arrival, overlap in time: the same seconds
/// are counted by many of them, and their correlation is spread too thin to be seen.
#[test]
fn messages_in_arrival_order_are_seen_to_fail() {
    // 64 messages hold as many I/Os as the 256 slots that the rule asks for.
    let goal = Goal {
        lag_factor: 10,
        slots_min: 64,
        ..goal(0.03)
    };
    let (_, response_ms) = FORTY.truth();
    let covered = replicate(REPLICATIONS, |replication| {
        let mut messages = vec![Vec::new(); FORTY.clients as usize];
        let mut store = SlotStore::with_grouping(1_000_000, 0, 1);
        let mut epoch = 0;
        let mut covers = false;
        FORTY.run(replication, |done| {
            let message = &mut messages[done.client as usize];
            message.push(done.response_ns as f64 / support::UNIT_NS);
            if message.len() < 100 {
                return true;
            }
            store.push(slot_of(epoch, message.drain(..)));
            epoch += 1;
            if !store.look_due() {
                return true;
            }
            let found = evaluate(&store, Channel::Response, &goal).expect("64 messages");
            covers = found.mean.contains(response_ms * 1e6);
            !found.is_converged
        });
        covers
    });
    let mut table = Table::new("negative control: per-client messages, r = .03, lag factor 10");
    table.cell(FORTY.name, share(covered.into_iter()), 0.0..=0.85, "");
    table.finish();
}
