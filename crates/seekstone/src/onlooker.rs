//! Who looks on while workloads are measured: a full screen with keys, or a line of progress; and a
//! page that follows the run, if one was asked for.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use host::interrupt::{Interrupt, Wait};
use kinds::rab::RabScreen;
use kinds::stage::Stage;
use results::live::{Live, LiveCommand};

use crate::commands::drive::{Onlooking, StageObserver};
use crate::output;
use crate::progress::Progress;
use crate::screen::Screen;

/// The screen is given something new at most this often.
const SHOW_EVERY: Duration = Duration::from_millis(50);
/// How often keys are looked for once everything is done.
const LINGER: Duration = Duration::from_millis(50);

/// Who looks on.
pub struct Onlooker<'a> {
    screen: Option<FullScreen>,
    watcher: StageObserver<'a>,
}

/// A terminal that shows everything.
struct FullScreen {
    screen: Screen,
    /// When it was last given something new, and what that was.
    shown: Option<(Instant, Live)>,
    /// Whether somebody has quit, and wants no more of it.
    has_quit: bool,
}

impl<'a> Onlooker<'a> {
    /// A full screen where there is a terminal and nobody says otherwise.
    pub fn new(title: &str, no_screen: bool, looking: &Onlooking<'a>) -> Self {
        let is_wanted = !no_screen && !looking.is_quiet;
        let screen = is_wanted.then(|| opened(title)).flatten();
        let progress = Progress::new(looking.is_quiet || screen.is_some());
        Self {
            screen: screen.map(|screen| FullScreen {
                screen,
                shown: None,
                has_quit: false,
            }),
            watcher: looking.watcher(progress),
        }
    }

    /// Let the screen stand until somebody quits.
    pub fn linger(&mut self, interrupt: &Interrupt) {
        let Some(full) = self.screen.as_mut().filter(|full| !full.has_quit) else {
            return;
        };
        while interrupt.is_raised().is_none() {
            match full.screen.command() {
                Some(LiveCommand::Quit) => return,
                Some(command) => full.answer(command),
                None => std::thread::sleep(LINGER),
            }
        }
    }

    /// Give the terminal back.
    pub fn close(self) {
        // A terminal that is held up must not hold us.
        let _wait = Wait::begin();
        self.watcher.finish();
        if let Some(full) = self.screen {
            full.screen.close();
        }
    }
}

impl FullScreen {
    fn show(&mut self, live: Live) {
        self.screen.show(live.clone());
        self.shown = Some((Instant::now(), live));
    }

    /// Does what a key asks for once everything is done, or says why not.
    fn answer(&mut self, command: LiveCommand) {
        let Some((_, mut live)) = self.shown.take() else {
            return;
        };
        match command.when_finished() {
            Some(text) => live.activity = text.to_owned(),
            None => live.verbosity = live.verbosity.next(),
        }
        self.show(live);
    }
}

impl RabScreen for Onlooker<'_> {
    fn show(&mut self, stage: &Stage<'_>, live: &mut dyn FnMut() -> Live) {
        self.watcher.show(stage);
        if let Some(full) = &mut self.screen {
            let is_last = stage.glimpse.is_none();
            let is_due = |(at, _): &(Instant, Live)| at.elapsed() >= SHOW_EVERY;
            if is_last || full.shown.as_ref().is_none_or(is_due) {
                full.show(live());
            }
        }
    }

    fn command(&mut self) -> Option<LiveCommand> {
        let full = self.screen.as_mut()?;
        let command = full.screen.command();
        full.has_quit |= command == Some(LiveCommand::Quit);
        command
    }
}

/// The screen, if there is a terminal; says so where this build lacks one.
fn opened(title: &str) -> Option<Screen> {
    match Screen::open(title) {
        Ok(screen) => Some(screen),
        Err(error) => {
            if error.kind() == ErrorKind::Unsupported {
                output::complain(&format!("{error}. Lines of progress follow"));
            }
            None
        }
    }
}
