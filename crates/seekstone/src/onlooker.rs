//! Who looks on while workloads are measured: a full screen with keys, or a line of progress.

use std::time::{Duration, Instant};

use host::interrupt::{Interrupt, Wait};
use kinds::check_up::Stage;
use kinds::rab::Desk;
use results::live::{Command, Live};
use tui::Screen;

use crate::progress::Progress;

/// The screen is given something new at most this often.
const SHOW_EVERY: Duration = Duration::from_millis(50);
/// How often keys are looked for once everything is done.
const LINGER: Duration = Duration::from_millis(50);

/// Who looks on.
pub enum Onlooker {
    /// A file, a pipe, or somebody who wants no more.
    Line(Progress),
    /// A terminal.
    Screen {
        /// The display.
        screen: Screen,
        /// When it was last given something new.
        shown: Option<Instant>,
        /// Whether somebody has quit, and wants no more of it.
        has_quit: bool,
    },
}

impl Onlooker {
    /// A full screen where there is a terminal and nobody says otherwise.
    pub fn new(title: &str, no_screen: bool, quiet: bool) -> Self {
        if !no_screen
            && !quiet
            && let Ok(screen) = Screen::open(title)
        {
            return Self::Screen {
                screen,
                shown: None,
                has_quit: false,
            };
        }
        Self::Line(Progress::new(quiet))
    }

    /// Let the screen stand until somebody quits.
    pub fn linger(&mut self, interrupt: &Interrupt) {
        let Self::Screen {
            screen, has_quit, ..
        } = self
        else {
            return;
        };
        if *has_quit {
            return;
        }
        while interrupt.is_raised().is_none() && screen.command() != Some(Command::Quit) {
            std::thread::sleep(LINGER);
        }
    }

    /// Give the terminal back.
    pub fn close(self) {
        // A terminal that is held up must not hold us.
        let _wait = Wait::begin();
        match self {
            Self::Line(progress) => progress.finish(),
            Self::Screen { screen, .. } => screen.close(),
        }
    }
}

impl Desk for Onlooker {
    fn show(&mut self, stage: &Stage<'_>, live: &mut dyn FnMut() -> Live) {
        match self {
            Self::Line(progress) => progress.show(stage),
            Self::Screen { screen, shown, .. } => {
                let is_last = stage.glimpse.is_none();
                if is_last || shown.is_none_or(|shown| shown.elapsed() >= SHOW_EVERY) {
                    screen.show(live());
                    *shown = Some(Instant::now());
                }
            }
        }
    }

    fn command(&mut self) -> Option<Command> {
        match self {
            Self::Line(_) => None,
            Self::Screen {
                screen, has_quit, ..
            } => {
                let command = screen.command();
                *has_quit |= command == Some(Command::Quit);
                command
            }
        }
    }
}
