//! The search for the largest number of users, where the true answer is known.

use host::interrupt::Interrupt;
use kinds::transactions::{Ramp, TransactionsRequest, UsersQuestion, measure_transactions};
use lab::bench::{BenchRequest, default_settings};
use procedure::SearchOptions;
use results::{Setup, UserSearchResult};
use units::Duration;
use workload::{Gap, GapShape, LoadFactor, Records, UserProfile};

/// Service time and think time, both negative exponential, seconds.
const SERVICE: f64 = 0.01;
const THINK: f64 = 1.0;
/// What 95 % of the response times must not exceed, seconds.
const LIMIT: f64 = 0.1;
const SHARE: f64 = 0.95;
/// Searches of which so many may miss the truth: 5 %, and what chance adds to it.
const SEEDS: u64 = 60;
const MISSED_MAX: usize = 5;

/// The share of response times above `limit` among so many users. Who arrives sees the system as
/// it is with one user less (S. Lavenberg, M. Reiser, "Stationary State Probabilities at Arrival
/// Instants for Closed Queueing Networks", J. Appl. Prob. 17, 1980), and takes as many service
/// times more: the distribution behind the means of mean value analysis.
fn share_above(limit: f64, users: u32) -> f64 {
    let mut weight = 1.0;
    // The chance that a sum of k + 1 service times is above the limit, and its last term.
    let mut term = (-limit / SERVICE).exp();
    let mut above = term;
    let (mut all, mut sum) = (0.0, 0.0);
    for present in 0..users {
        all += weight;
        sum += weight * above;
        weight *= f64::from(users - 1 - present) * SERVICE / THINK;
        term *= limit / SERVICE / f64::from(present + 1);
        above += term;
    }
    sum / all
}

/// The most users whose response times meet the limit.
fn truth() -> u32 {
    let meets = |&users: &u32| share_above(LIMIT, users) <= 1.0 - SHARE;
    (1..1000).take_while(meets).last().unwrap_or(0)
}

fn search(seed: u64, budget: Duration) -> (UserSearchResult, Duration) {
    let request = TransactionsRequest {
        bench: BenchRequest {
            ranks: None,
            target: "sim:mm1?mean=10ms".into(),
            purpose: "transactions".into(),
            size: None,
            reserve: None,
            overwrite: false,
            confirmed: None,
            storage: default_settings(seed),
            setup: Setup::new("transactions", seed),
            cells: lab::cells::Cells::default(),
        },
        question: UsersQuestion::Search {
            profiles: vec![UserProfile {
                name: "user".into(),
                users: 1,
                ios: 1,
                io_size: 4096,
                reads: 1,
                writes: 0,
                think: Gap::new(GapShape::Exponential, Duration::from_secs(1)),
                cpu_ns: 0,
                memory: 0,
                load: LoadFactor::Constant,
                records: Records::New,
                transactions: None,
            }],
            options: SearchOptions {
                share: SHARE,
                limit_ns: (LIMIT * 1e9) as u64,
                users_first: 1,
                users_max: 100_000,
            },
            precision: 0.05,
        },
        ramp: Ramp::WithinASecond,
        depth: None,
        budget,
        warm_up: None,
        start_at: None,
        sample_every: None,
    };
    let run = measure_transactions(&request, &Interrupt::never(), &mut |_| {});
    let measured = run.expect("a model can be measured");
    let found = measured.found.search.clone();
    (
        found.expect("a search"),
        Duration::from_nanos(measured.into_run().elapsed_ns),
    )
}

#[test]
fn the_answer_holds_the_truth() {
    let truth = truth();
    let budget = Duration::from_secs(300);
    let mut missed = Vec::new();
    let mut open = 0;
    let mut widths = 0.0;
    for seed in 1..=SEEDS {
        let (found, took) = search(seed, budget);
        assert!(
            took <= budget + Duration::from_secs(1),
            "seed {seed}: {took}"
        );
        open += u32::from(found.meets == 0 || found.misses.is_none());
        let is_below = found.misses.is_none_or(|misses| truth < misses);
        if found.meets > truth || !is_below {
            missed.push((seed, found.meets, found.misses));
        }
        widths += f64::from(found.misses.unwrap_or(2 * truth) - found.meets) / f64::from(truth);
    }
    let width = widths / SEEDS as f64;
    assert!(missed.len() <= MISSED_MAX, "{truth} users: {missed:?}");
    assert!(open <= 3, "{open} of {SEEDS} answers have an open end");
    assert!(width < 0.7, "both ends lie {width} of the truth apart");
}
