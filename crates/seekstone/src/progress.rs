//! Shows what is being measured: rows that are done and a bar on a terminal, a line for each stage
//! elsewhere.

use std::collections::VecDeque;
use std::io::IsTerminal as _;
use std::time::{Duration as StdDuration, Instant};

use host::interrupt::Wait;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use kinds::stage::Stage;
use lab::laboratory::Unanswered;
use study::StudyStage;
use units::{Duration, format_count, format_duration_ns, printable};

use crate::output;

/// Parts into which the bar divides the work.
const STEPS: u64 = 1000;
/// Rows that are shown above the bar.
const ROWS_MAX: usize = 16;
/// What may take longer ends when its work is done, and nobody knows when.
const LEFT_MAX: Duration = Duration::from_secs(86_400);
/// Columns of the bar.
const BAR_COLUMNS: usize = 24;

/// A line that is written anew each second, on a terminal.
pub fn status_line() -> Option<ProgressBar> {
    let style = ProgressStyle::with_template("{wide_msg}").ok()?;
    std::io::stderr()
        .is_terminal()
        .then(|| ProgressBar::new_spinner().with_style(style))
}

/// Shows stages to whoever looks.
pub struct Progress {
    form: ProgressForm,
    silence: SilenceLines,
}

enum ProgressForm {
    /// Nobody looks.
    Quiet,
    /// A terminal.
    Bar(Box<ProgressScreen>),
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
            return Self::of(ProgressForm::Quiet);
        }
        if !std::io::stderr().is_terminal() {
            return Self::lines(None);
        }
        Self::of(ProgressForm::Bar(Box::new(ProgressScreen::new())))
    }

    fn of(form: ProgressForm) -> Self {
        Self {
            form,
            silence: SilenceLines::default(),
        }
    }

    /// Lines, one of them each time so much has passed.
    pub fn lines(every: Option<Duration>) -> Self {
        Self::of(ProgressForm::Lines {
            last: String::new(),
            every: every.map(|every| (every, 0)),
        })
    }

    pub fn show(&mut self, stage: &Stage<'_>) {
        let unanswered = stage.glimpse.and_then(|glimpse| glimpse.unanswered);
        let silence = self.silence.line(unanswered);
        match &mut self.form {
            // Whoever wants the program to end hears why it does not.
            ProgressForm::Quiet => {
                let stopping = silence.filter(|_| unanswered.is_some_and(|it| it.is_stopping));
                stopping.iter().for_each(|line| output::complain(line));
            }
            ProgressForm::Bar(screen) => {
                let _wait = Wait::begin();
                screen.see(stage);
                let bar = &screen.bar;
                bar.set_position((stage.done.min(1.0) * STEPS as f64) as u64);
                let left = unanswered.map_or_else(|| screen.left(stage), |it| it.to_string());
                let taken = BAR_COLUMNS + left.len() + 3;
                bar.set_prefix(left);
                let reported = described_in(stage, output::columns_of_terminal(taken));
                bar.set_message(printable(&reported));
            }
            ProgressForm::Lines { last, every } => {
                let elapsed = whole_seconds(stage.elapsed);
                if last != stage.title {
                    stage.title.clone_into(last);
                    output::complain(&format!("[{elapsed:>6}] {}", stage.title));
                }
                if let Some(line) = silence {
                    output::complain(&format!("[{elapsed:>6}] {line}"));
                }
                if let Some((every, reported)) = every
                    && stage.elapsed >= *every * (*reported + 1)
                {
                    *reported = stage.elapsed.as_nanos() / every.as_nanos();
                    output::complain(&format!("[{elapsed:>6}] {}", describe(stage)));
                }
            }
        }
    }

    /// Show where a study is.
    pub fn show_study(&mut self, stage: &StudyStage) {
        match &mut self.form {
            ProgressForm::Quiet => {}
            ProgressForm::Bar(screen) => {
                let _wait = Wait::begin();
                let bar = &screen.bar;
                bar.set_position((stage.done * STEPS as f64) as u64);
                let left = stage.left.map(whole_seconds);
                bar.set_prefix(left.map_or(String::new(), |left| format!("about {left} left")));
                bar.set_message(printable(&stage.title));
            }
            ProgressForm::Lines { last, .. } => {
                if *last != stage.title {
                    stage.title.clone_into(last);
                    let elapsed = whole_seconds(stage.elapsed);
                    output::complain(&format!("[{elapsed:>6}] {}", stage.title));
                }
            }
        }
    }

    /// Show one of several steps whose length nobody knows before.
    #[cfg(feature = "vintage")]
    pub fn step(&mut self, title: &str, done: usize, all: usize) {
        match &self.form {
            ProgressForm::Quiet => {}
            ProgressForm::Bar(screen) => {
                let _wait = Wait::begin();
                let bar = &screen.bar;
                bar.set_position(STEPS * done as u64 / all.max(1) as u64);
                bar.set_prefix(format!("{} of {all}", done + 1));
                bar.set_message(printable(title));
            }
            ProgressForm::Lines { .. } => {
                output::complain(&format!("[{} of {all}] {title}", done + 1));
            }
        }
    }

    /// Take all of it away: the result is printed in its place.
    pub fn finish(&self) {
        if let ProgressForm::Bar(screen) = &self.form {
            let _wait = Wait::begin();
            screen.bar.finish_and_clear();
            // A terminal that is gone shows nothing to clear.
            let _ = screen.all.clear();
        }
    }
}

/// When a line says what the storage does not answer: once, then each time that twice as long has
/// passed, and when the run is to stop.
#[derive(Default)]
struct SilenceLines {
    reported: Option<Unanswered>,
}

impl SilenceLines {
    fn line(&mut self, unanswered: Option<Unanswered>) -> Option<String> {
        let Some(now) = unanswered else {
            self.reported = None;
            return None;
        };
        let is_due = self.reported.is_none_or(|reported| {
            now.span >= reported.span * 2 || now.is_stopping != reported.is_stopping
        });
        is_due.then(|| {
            self.reported = Some(now);
            now.to_string()
        })
    }
}

/// What a terminal shows while something is measured: the rows that are done, and a bar below them.
pub struct ProgressScreen {
    all: MultiProgress,
    bar: ProgressBar,
    rows: VecDeque<ProgressBar>,
    /// The stage that is shown, and its row once it has figures.
    last: Option<(String, Option<String>)>,
    /// When the stage was seen first, by the clock on the wall and by its own.
    begun: (Instant, Duration),
}

impl ProgressScreen {
    fn new() -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let bar = all.add(ProgressBar::new(STEPS));
        if let Ok(style) =
            ProgressStyle::with_template(&format!("{{bar:{BAR_COLUMNS}}} {{prefix}}  {{wide_msg}}"))
        {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(StdDuration::from_millis(250));
        Self {
            all,
            bar,
            rows: VecDeque::new(),
            last: None,
            begun: (Instant::now(), Duration::ZERO),
        }
    }

    /// How long it may still take, where that is known.
    fn left(&self, stage: &Stage<'_>) -> String {
        let left = self.time_left(stage);
        let left = left.map(|left| format!("at most {} left", whole_seconds(left)));
        left.unwrap_or_default()
    }

    /// Time left by the user's clock: that of a model runs at a pace of its own.
    fn time_left(&self, stage: &Stage<'_>) -> Option<Duration> {
        let left = stage.left.filter(|left| *left < LEFT_MAX)?;
        let (seen, elapsed) = self.begun;
        let own = stage.elapsed.saturating_sub(elapsed).as_secs_f64();
        let pace = seen.elapsed().as_secs_f64() / own.max(1e-9);
        // Storage runs by the clock on the wall.
        let is_own = own > 0.0 && !(0.5..2.0).contains(&pace);
        Some(match is_own {
            true => Duration::from_secs_f64(left.as_secs_f64() * pace),
            false => left,
        })
    }

    /// Note a stage; the one before it becomes a row when another begins.
    fn see(&mut self, stage: &Stage<'_>) {
        if stage.is_plan {
            return self.add(stage.title.to_owned());
        }
        let row = stage
            .glimpse
            .is_some_and(|glimpse| glimpse.response.is_some())
            .then(|| described_in(stage, output::columns_of_terminal(0)));
        let is_other = |(title, _): &mut (String, Option<String>)| title != stage.title;
        if self
            .last
            .as_ref()
            .is_none_or(|(title, _)| title != stage.title)
        {
            self.begun = (Instant::now(), stage.elapsed);
        }
        if let Some((_, Some(done))) = self.last.take_if(is_other) {
            self.add(done);
        }
        match &mut self.last {
            Some((_, last)) => *last = row.or(last.take()),
            None => self.last = Some((stage.title.to_owned(), row)),
        }
    }

    /// Show a row above the bar, in the place of the oldest when there are many.
    fn add(&mut self, text: String) {
        if self.rows.len() >= ROWS_MAX
            && let Some(oldest) = self.rows.pop_front()
        {
            self.all.remove(&oldest);
        }
        let row = self.all.insert_before(&self.bar, ProgressBar::new(1));
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            row.set_style(style);
        }
        row.abandon_with_message(text);
        self.rows.push_back(row);
    }
}

fn whole_seconds(span: Duration) -> String {
    format!("{:.0} s", span.as_secs_f64())
}

/// The same, fitted to a number of columns: figures without room are left out whole, never cut.
fn described_in(stage: &Stage<'_>, columns: usize) -> String {
    let mut text = describe(stage);
    while text.chars().count() > columns
        && let Some((short, _)) = text.rsplit_once("  ")
    {
        text = short.to_owned();
    }
    text
}

fn describe(stage: &Stage<'_>) -> String {
    let Some(glimpse) = stage.glimpse else {
        return stage.title.to_owned();
    };
    let rate = |rate| format!("  {} ops/s", format_count(rate));
    let p99 = |p99_ns| format!("  p99 {}", format_duration_ns(p99_ns));
    let mean = |(mean_ns, precision): (f64, f64)| {
        let percent = precision * 100.0;
        format!("  mean {} +- {percent:.1} %", format_duration_ns(mean_ns))
    };
    let figures = [
        glimpse.throughput.map(rate),
        glimpse.p99_ns.map(p99),
        glimpse.response.map(mean),
    ];
    let figures: String = figures.into_iter().flatten().collect();
    format!("{}{figures}", stage.title)
}

#[cfg(test)]
mod tests {
    use lab::laboratory::Glimpse;

    use super::*;

    #[test]
    fn a_bar_tells_rate_and_p99_and_leaves_out_what_has_no_room() {
        let check = |columns: usize, expected: &str| {
            let glimpse = Glimpse {
                throughput: Some(702.0),
                p99_ns: Some(482e6),
                response: Some((40.2e6, 0.041)),
                ..Glimpse::default()
            };
            let stage = Stage {
                title: "random read",
                done: 0.5,
                elapsed: Duration::from_secs(30),
                left: Some(Duration::from_secs(30)),
                glimpse: Some(&glimpse),
                ..Stage::default()
            };
            assert_eq!(described_in(&stage, columns), expected);
        };
        check(
            80,
            "random read  702 ops/s  p99 482 ms  mean 40.2 ms +- 4.1 %",
        );
        check(40, "random read  702 ops/s  p99 482 ms");
        check(30, "random read  702 ops/s");
    }

    #[test]
    fn what_is_not_answered_is_told_at_growing_distance() {
        let mut lines = SilenceLines::default();
        let reported: Vec<(u64, String)> = (5..60)
            .filter_map(|second| {
                let line = lines.line(Some(Unanswered {
                    operations: 4,
                    span: Duration::from_secs(second),
                    is_stopping: second >= 23,
                }));
                Some((second, line?))
            })
            .collect();
        let seconds: Vec<u64> = reported.iter().map(|(second, _)| *second).collect();
        assert_eq!(seconds, [5, 10, 20, 23, 46]);
        assert_eq!(reported[1].1, "4 operations outstanding for 10 s");
        assert!(
            reported[3]
                .1
                .starts_with("Waiting for 4 operations, outstanding for 23 s.")
        );
        assert_eq!(lines.line(None), None);
        assert!(lines.reported.is_none());
    }
}
