//! Shows the display with an invented run: nothing is measured.
//!
//! `cargo run -p tui --example demo [panic]`. With `panic` the program fails after a second, to
//! show that the terminal is restored before the message is printed.

#[path = "../tests/invented/mod.rs"]
mod invented;

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use results::live::{Live, LiveCommand, LiveState};
use signal_hook::consts::{SIGHUP, SIGTERM};
use tui::Screen;

/// Values a second.
const PACE: u32 = 20;

fn main() -> io::Result<()> {
    let fails = std::env::args().any(|argument| argument == "panic");
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stopped))?;
    }
    let screen = Screen::open("Seekstone demo")?;
    let mut live = invented::before();
    let mut step = 0;
    while !stopped.load(Ordering::Relaxed) {
        assert!(
            !(fails && step > PACE as usize),
            "the demonstration fails, as was asked for"
        );
        screen.show(live.clone());
        match screen.command() {
            Some(LiveCommand::Quit) => break,
            Some(command) => obey(&mut live, command),
            None => {}
        }
        step += 1;
        advance(&mut live, step);
        thread::sleep(Duration::from_secs(1) / PACE);
    }
    screen.close();
    writeln!(io::stdout(), "the terminal is restored")
}

fn obey(live: &mut Live, command: LiveCommand) {
    match command {
        LiveCommand::StartStop if live.state == LiveState::Execute => {
            live.state = LiveState::Stopped;
        }
        LiveCommand::StartStop | LiveCommand::Restart => *live = invented::middle(),
        LiveCommand::NextMode => live.mode = live.mode.next(),
        LiveCommand::NextVerbosity => live.verbosity = live.verbosity.next(),
        LiveCommand::NextWorkload if live.workload + 1 < live.workloads.len() => live.workload += 1,
        LiveCommand::NextWorkload => *live = invented::after(),
        LiveCommand::Quit => {}
    }
}

/// Time passes, points come in, the interval tightens.
fn advance(live: &mut Live, step: usize) {
    if live.state != LiveState::Execute {
        return;
    }
    let whole = invented::middle();
    let step = step % 400;
    live.elapsed_ns += 50_000_000;
    let all = &whole.workloads[whole.workload].curve.points;
    let points = all[..all.len().min(1 + step / 10)].to_vec();
    live.workloads[live.workload].curve.points = points;
    let looks = 1 + step % 40;
    let widths = (1..=looks).map(|look| 0.21 / (look as f64).sqrt());
    live.convergence.relative_half_widths = widths.collect();
    live.progress = Some(step as f64 / 400.0);
}
