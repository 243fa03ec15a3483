//! `cargo xtask suite --slowest N`: what each test costs when it runs by itself, and the dearest of
//! them, by processor time and by the time that they take.
//!
//! Processor time is that of a test and of all that it started, in ticks of the kernel's clock.
//! What tests of one program share, as a compiled shim, each pays for here.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Result;

use crate::bench_build::children_seconds;
use crate::suite::{TestProgram, built};

/// What a test costs, in seconds.
struct TestCost {
    /// Its program, and its own name.
    name: String,
    wall: f64,
    cpu: f64,
}

/// What tests are put in order by.
type Part = fn(&TestCost) -> f64;

/// Run every test by itself, one after the other, and print those that cost most.
pub fn slowest(count: usize) -> Result<()> {
    let mut costs = Vec::new();
    for program in built()? {
        let tests = tests(&program)?;
        let of_program = tests.iter().map(|test| cost(&program, test));
        let of_program = of_program.collect::<Result<Vec<_>>>()?;
        let sum = |part: Part| of_program.iter().map(part).sum::<f64>();
        let (cpu, wall) = (sum(|it| it.cpu), sum(|it| it.wall));
        println!(
            "{cpu:8.2} s of CPU {wall:8.2} s  {}: {} tests",
            program.name,
            tests.len()
        );
        costs.extend(of_program);
    }
    let orders: [(&str, Part); 2] = [("processor time", |it| it.cpu), ("time", |it| it.wall)];
    for (title, part) in orders {
        costs.sort_by(|a, b| part(b).total_cmp(&part(a)));
        println!("== the {count} tests of most {title}");
        for TestCost { name, wall, cpu } in costs.iter().take(count) {
            println!("{cpu:8.2} s of CPU {wall:8.2} s  {name}");
        }
    }
    Ok(())
}

/// The names of the tests of a program, without those that are ignored.
fn tests(program: &TestProgram) -> Result<Vec<String>> {
    let listed = |options: &[&str]| -> Result<Vec<String>> {
        let output = program.command().arg("--list").args(options).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = text.lines().filter_map(|it| it.strip_suffix(": test"));
        Ok(names.map(str::to_owned).collect())
    };
    let ignored = listed(&["--ignored"])?;
    let mut tests = listed(&[])?;
    tests.retain(|it| !ignored.contains(it));
    Ok(tests)
}

fn cost(program: &TestProgram, test: &str) -> Result<TestCost> {
    let name = format!("{} {test}", program.name);
    let mut command: Command = program.command();
    command.args(["--exact", test]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (begun, before) = (Instant::now(), children_seconds());
    let status = command.status()?;
    let cost = TestCost {
        wall: begun.elapsed().as_secs_f64(),
        cpu: children_seconds() - before,
        name,
    };
    if !status.success() {
        println!("failed: {}", cost.name);
    }
    Ok(cost)
}
