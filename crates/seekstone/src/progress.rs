//! Shows what is being measured: a bar on a terminal, a line for each stage elsewhere.

use std::io::IsTerminal as _;
use std::time::Duration as StdDuration;

use host::interrupt::Wait;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kinds::check_up::Stage;
use study::StudyStage;
use units::{Duration, format_count, format_duration_ns};

use crate::output;

/// Parts into which the bar divides the work.
const STEPS: u64 = 1000;
/// What may take longer ends when its work is done, and nobody knows when.
const LEFT_MAX: Duration = Duration::from_secs(86_400);

/// Shows stages to whoever looks.
pub enum Progress {
    /// Nobody looks.
    Quiet,
    /// A terminal.
    Bar(ProgressBar),
    /// A file or a pipe.
    Lines {
        /// The stage announced last.
        last: String,
        /// How often there is a line about a stage, and how many there were.
        every: Option<(Duration, u64)>,
    },
}

impl Progress {
    /// For standard error.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Self::lines(None);
        }
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {prefix}  {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(StdDuration::from_millis(250));
        Self::Bar(bar)
    }

    /// Lines, one of them each time so much has passed.
    pub fn lines(every: Option<Duration>) -> Self {
        Self::Lines {
            last: String::new(),
            every: every.map(|every| (every, 0)),
        }
    }

    /// Show a stage.
    pub fn show(&mut self, stage: &Stage<'_>) {
        match self {
            Self::Quiet => {}
            Self::Bar(bar) => {
                let _wait = Wait::begin();
                bar.set_position((stage.done * STEPS as f64) as u64);
                let left = Some(stage.left).filter(|left| *left < LEFT_MAX);
                let left = left.map(|left| format!("at most {} left", whole_seconds(left)));
                bar.set_prefix(left.unwrap_or_default());
                bar.set_message(describe(stage));
            }
            Self::Lines { last, every } => {
                let elapsed = whole_seconds(stage.elapsed);
                if last != stage.title {
                    stage.title.clone_into(last);
                    output::complain(&format!("[{elapsed:>6}] {}", stage.title));
                }
                if let Some((every, told)) = every
                    && stage.elapsed >= *every * (*told + 1)
                {
                    *told = stage.elapsed.as_nanos() / every.as_nanos();
                    output::complain(&format!("[{elapsed:>6}] {}", describe(stage)));
                }
            }
        }
    }

    /// Show where a study is.
    pub fn show_study(&mut self, stage: &StudyStage) {
        match self {
            Self::Quiet => {}
            Self::Bar(bar) => {
                let _wait = Wait::begin();
                bar.set_position((stage.done * STEPS as f64) as u64);
                let left = stage.left.map(whole_seconds);
                bar.set_prefix(left.map_or(String::new(), |left| format!("about {left} left")));
                bar.set_message(stage.title.clone());
            }
            Self::Lines { last, .. } => {
                if *last != stage.title {
                    stage.title.clone_into(last);
                    let elapsed = whole_seconds(stage.elapsed);
                    output::complain(&format!("[{elapsed:>6}] {}", stage.title));
                }
            }
        }
    }

    /// Show one of several steps whose length nobody knows before.
    pub fn step(&mut self, title: &str, done: usize, all: usize) {
        match self {
            Self::Quiet => {}
            Self::Bar(bar) => {
                let _wait = Wait::begin();
                bar.set_position(STEPS * done as u64 / all.max(1) as u64);
                bar.set_prefix(format!("{} of {all}", done + 1));
                bar.set_message(title.to_owned());
            }
            Self::Lines { .. } => {
                output::complain(&format!("[{} of {all}] {title}", done + 1));
            }
        }
    }

    /// Take the bar away.
    pub fn finish(&self) {
        if let Self::Bar(bar) = self {
            let _wait = Wait::begin();
            bar.finish_and_clear();
        }
    }
}

fn whole_seconds(span: Duration) -> String {
    format!("{:.0} s", span.as_secs_f64())
}

fn describe(stage: &Stage<'_>) -> String {
    let Some(glimpse) = stage.glimpse else {
        return stage.title.to_owned();
    };
    let response = glimpse.response.map_or(String::new(), |(mean, precision)| {
        format!(
            "  {} +- {:.1} %",
            format_duration_ns(mean),
            precision * 100.0
        )
    });
    let throughput = glimpse
        .throughput
        .map_or(String::new(), |load| format!("  {}/s", format_count(load)));
    format!("{}{response}{throughput}", stage.title)
}
