#![allow(clippy::print_stdout, reason = "the table is a product of these tests")]

mod comparison;
use comparison::system::System;
use comparison::truth::{Effort, Truth};

#[test]
fn explore_truth() {
    let system = System::new();
    let t = std::time::Instant::now();
    let truth = Truth::of(&system, 30..=50, Effort { seeds: 4, warm_up_s: 200, seconds: 400 });
    println!("{:?}", t.elapsed());
    for p in truth.points() { println!("{p:?}"); }
}

#[test]
fn explore() {
    let system = System::new();
    for ms in [20, 50] {
        for seed in 1..=3 {
            let t = std::time::Instant::now();
            let c = comparison::classic::measure(ms, seed);
            println!("{ms} {seed} {:?} {c:?}", t.elapsed());
            let t = std::time::Instant::now();
            let m = comparison::modern::measure(&system, ms, seed);
            println!("  modern {:?} {} {} {} {:?} {:?} {:?} {}", t.elapsed(), m.operations, m.seconds, m.points, m.levels, m.rabmark, m.rabmark_interval, m.no_load_ms);
            for p in &m.parts { println!("    {p:?}"); }
        }
    }
}
