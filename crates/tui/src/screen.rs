//! The display and its thread.
//!
//! The measuring side puts the latest value into a mailbox and takes keys from it. The lock is held
//! only for a move, never while drawing, so that neither side waits for the other.

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use results::live::{Live, LiveCommand};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::{stdin, stdout};
use rustix::termios::tcgetwinsize;

use crate::draw::draw;
use crate::keys::{KeyReader, ScreenKey};
use crate::terminal::{PictureWriter, TerminalGuard};
use crate::view::{Look, ViewState};
use crate::{curve, warnings};

/// Maximum frame rate: no faster than people read.
const PICTURE_EVERY: Duration = Duration::from_millis(100);
/// Maximum number of keys waiting for the program; later ones are dropped, except for quit.
const COMMANDS_MAX: usize = 16;

/// The full-screen display. Restores the terminal on drop.
#[derive(Debug)]
pub struct Screen {
    mailbox: Arc<Mailbox>,
    gate: TerminalGuard,
    /// Dropping it ends the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Takes over the terminal, and starts to draw and read keys. `title` is the program's name and
    /// version.
    ///
    /// # Errors
    /// Standard input or output is no terminal, or the terminal refuses.
    pub fn open(title: &str) -> io::Result<Self> {
        let (stop, stopped) = UnixStream::pair()?;
        let gate = TerminalGuard::open()?;
        let mailbox = Arc::new(Mailbox::default());
        let view = ViewState {
            title: title.to_owned(),
            look: Look::from_environment(),
            ..ViewState::default()
        };
        let display = Display::new(Arc::clone(&mailbox), gate.clone(), view);
        let thread = display.and_then(|display| {
            thread::Builder::new()
                .name("display".to_owned())
                .spawn(move || display.run(&stopped))
        });
        if thread.is_err() {
            gate.give_back();
        }
        Ok(Self {
            mailbox,
            gate,
            stop: Some(stop),
            thread: Some(thread?),
        })
    }

    /// Replaces what is shown. Never waits for drawing.
    pub fn show(&self, live: Live) {
        self.mailbox.put(live);
    }

    /// The next key's command, if any. A display that has lost its terminal returns quit.
    pub fn command(&self) -> Option<LiveCommand> {
        self.mailbox.take_command()
    }

    /// Restores the terminal and ends the thread. Waits for a frame being written.
    pub fn close(self) {
        drop(self);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.gate.give_back();
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the display was printed by the panic hook.
            let _ = thread.join();
        }
    }
}

/// State shared by the measuring side and the display.
#[derive(Debug, Default)]
struct Mailbox {
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    live: Option<Live>,
    commands: VecDeque<LiveCommand>,
    wants_quit: bool,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, live: Live) {
        let replaced = self.lock().live.replace(live);
        // Freed outside the lock.
        drop(replaced);
    }

    fn take(&self) -> Option<Live> {
        self.lock().live.take()
    }

    fn put_command(&self, command: LiveCommand) {
        let mut slots = self.lock();
        if command == LiveCommand::Quit {
            slots.wants_quit = true;
        } else if slots.commands.len() < COMMANDS_MAX {
            slots.commands.push_back(command);
        }
    }

    /// Quit has priority.
    fn take_command(&self) -> Option<LiveCommand> {
        let mut slots = self.lock();
        if std::mem::take(&mut slots.wants_quit) {
            return Some(LiveCommand::Quit);
        }
        slots.commands.pop_front()
    }

    /// The latest command not taken yet.
    fn waiting(&self) -> Option<LiveCommand> {
        let slots = self.lock();
        let quit = slots.wants_quit.then_some(LiveCommand::Quit);
        quit.or_else(|| slots.commands.back().copied())
    }
}

/// Why the thread woke up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    /// A timeout.
    Time,
    /// Keys are available.
    Input,
    /// The terminal has vanished, or the display is closing.
    End,
}

/// State of the thread.
struct Display {
    mailbox: Arc<Mailbox>,
    gate: TerminalGuard,
    terminal: Terminal<CrosstermBackend<PictureWriter>>,
    reader: KeyReader,
    view: ViewState,
    live: Live,
    size: Rect,
    /// Whether the display is out of date.
    is_stale: bool,
}

impl Display {
    fn new(mailbox: Arc<Mailbox>, gate: TerminalGuard, view: ViewState) -> io::Result<Self> {
        let size = terminal_size()?;
        // A fixed viewport, because the library's own query of the size starts a process when the
        // terminal has vanished.
        let options = TerminalOptions {
            viewport: Viewport::Fixed(size),
        };
        let backend = CrosstermBackend::new(PictureWriter::new(gate.clone()));
        Ok(Self {
            mailbox,
            gate,
            terminal: Terminal::with_options(backend, options)?,
            reader: KeyReader::default(),
            view,
            live: Live::default(),
            size,
            is_stale: true,
        })
    }

    /// Draws and reads until the end, and then asks the program to quit, whatever the reason.
    fn run(mut self, stopped: &UnixStream) {
        let _quit = QuitAtEnd(Arc::clone(&self.mailbox));
        let _freeze = FreezeAtEnd(self.gate.clone());
        let mut drawn: Option<Instant> = None;
        // After a panic elsewhere the terminal is no longer ours, and its keys are not for us.
        while self.gate.is_ours() {
            let is_due = drawn.is_none_or(|drawn| drawn.elapsed() >= PICTURE_EVERY);
            if self.is_stale || (is_due && self.has_news()) {
                if self.picture().is_err() {
                    return;
                }
                drawn = Some(Instant::now());
            }
            let keys = match wait(stopped, PICTURE_EVERY) {
                Wake::End => return,
                Wake::Time => self.reader.pause().into_iter().collect(),
                Wake::Input => match self.read() {
                    Some(keys) => keys,
                    None => return,
                },
            };
            if self.press(&keys).and_then(|()| self.follow_size()).is_err() {
                return;
            }
        }
    }

    /// Redraws a terminal whose size changed.
    fn follow_size(&mut self) -> io::Result<()> {
        let size = terminal_size()?;
        if size != self.size {
            self.size = size;
            self.redraw()?;
        }
        Ok(())
    }

    fn redraw(&mut self) -> io::Result<()> {
        self.is_stale = true;
        self.terminal.resize(self.size)
    }

    /// Takes updates from the mailbox. Returns whether there are any.
    fn has_news(&mut self) -> bool {
        let mut is_new = false;
        if let Some(live) = self.mailbox.take() {
            is_new = live != self.live;
            self.live = live;
        }
        let asked = self.mailbox.waiting();
        is_new |= asked != self.view.asked;
        self.view.asked = asked;
        is_new
    }

    fn picture(&mut self) -> io::Result<()> {
        self.has_news();
        self.is_stale = false;
        let Self {
            terminal,
            live,
            view,
            ..
        } = self;
        terminal.draw(|frame| draw(frame, live, view)).map(drop)
    }

    /// Keys pressed; `None` at the end of the input.
    fn read(&mut self) -> Option<Vec<ScreenKey>> {
        let mut bytes = [0; 256];
        match rustix::io::read(stdin(), &mut bytes) {
            Ok(0) => None,
            Ok(count) => Some(self.reader.read(&bytes[..count])),
            Err(Errno::INTR | Errno::AGAIN) => Some(Vec::new()),
            Err(_) => None,
        }
    }

    /// Handles keys of the display itself, and forwards the others to the program.
    fn press(&mut self, keys: &[ScreenKey]) -> io::Result<()> {
        for key in keys {
            match key {
                ScreenKey::Program(command) => self.mailbox.put_command(*command),
                ScreenKey::Curve => self.view.shows_curve = !self.view.shows_curve,
                ScreenKey::PreviousCurve => self.turn_to(curve::before(&self.live, &self.view)),
                ScreenKey::NextCurve => self.turn_to(curve::after(&self.live, &self.view)),
                ScreenKey::Warnings => self.turn_page(),
                ScreenKey::Help => self.view.shows_help = !self.view.shows_help,
                ScreenKey::Escape => {
                    self.view.shows_help = false;
                    self.view.warnings_page = None;
                }
                ScreenKey::Redraw => self.redraw()?,
            }
        }
        self.is_stale |= !keys.is_empty();
        Ok(())
    }

    /// Shows the curve of that workload, or follows the current one.
    fn turn_to(&mut self, workload: usize) {
        self.view.curve_of = (workload != self.live.workload).then_some(workload);
        self.view.shows_curve = true;
    }

    /// Opens the warnings, shows their next page, or closes them after the last.
    fn turn_page(&mut self) {
        let next = self.view.warnings_page.map_or(0, |page| page + 1);
        let is_there = next < warnings::pages(&self.live, self.size);
        self.view.warnings_page = is_there.then_some(next);
    }
}

/// Asks the program to quit when the thread ends, also while unwinding, since it could not be
/// controlled without its display.
struct QuitAtEnd(Arc<Mailbox>);

impl Drop for QuitAtEnd {
    fn drop(&mut self) {
        self.0.put_command(LiveCommand::Quit);
    }
}

/// Stops drawing when the thread ends, also while unwinding.
struct FreezeAtEnd(TerminalGuard);

impl Drop for FreezeAtEnd {
    fn drop(&mut self) {
        self.0.freeze();
    }
}

fn terminal_size() -> io::Result<Rect> {
    let size = tcgetwinsize(stdout())?;
    Ok(Rect::new(0, 0, size.ws_col, size.ws_row))
}

/// Waits for input, the end, or a timeout.
fn wait(stopped: &UnixStream, at_most: Duration) -> Wake {
    let mut watched = [
        PollFd::from_borrowed_fd(stdin(), PollFlags::IN),
        PollFd::new(stopped, PollFlags::IN),
    ];
    let time = Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(at_most.subsec_nanos()),
    };
    match poll(&mut watched, Some(&time)) {
        Ok(0) | Err(Errno::INTR) => return Wake::Time,
        Ok(_) => {}
        Err(_) => return Wake::End,
    }
    let [input, stop] = watched.map(|fd| fd.revents());
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if !stop.is_empty() || input.intersects(gone) {
        Wake::End
    } else {
        Wake::Input
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use ratatui::backend::TestBackend;

    use super::*;

    fn live(threads: u64) -> Live {
        Live {
            threads,
            ..Live::default()
        }
    }

    /// The display is held within a frame until the measuring side has shown two more values and
    /// taken a key: it would hang here if either had to wait.
    #[test]
    fn showing_does_not_wait_for_a_picture_that_is_being_drawn() {
        let mailbox = Arc::new(Mailbox::default());
        mailbox.put(live(1));
        mailbox.put_command(LiveCommand::NextMode);
        let (in_picture, until_in_picture) = mpsc::channel();
        let (shown, until_shown) = mpsc::channel();
        let of_display = Arc::clone(&mailbox);
        let display = thread::spawn(move || {
            let taken = of_display.take().expect("a value was put");
            let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a test terminal");
            let picture = terminal.draw(|frame| {
                in_picture.send(()).expect("the test waits");
                until_shown.recv().expect("the test goes on");
                draw(frame, &taken, &ViewState::default());
            });
            picture.map(drop).expect("a picture");
            taken.threads
        });
        until_in_picture.recv().expect("the display draws");
        mailbox.put(live(2));
        mailbox.put(live(3));
        assert_eq!(mailbox.take_command(), Some(LiveCommand::NextMode));
        shown.send(()).expect("the display waits");
        assert_eq!(display.join().expect("no panic"), 1);
        assert_eq!(mailbox.take(), Some(live(3)));
        assert_eq!(mailbox.take(), None);
    }

    #[test]
    fn commands_come_in_order_and_quitting_first() {
        let mailbox = Mailbox::default();
        for command in [
            LiveCommand::StartStop,
            LiveCommand::NextWorkload,
            LiveCommand::Quit,
        ] {
            mailbox.put_command(command);
        }
        assert_eq!(mailbox.waiting(), Some(LiveCommand::Quit));
        assert_eq!(mailbox.take_command(), Some(LiveCommand::Quit));
        assert_eq!(mailbox.waiting(), Some(LiveCommand::NextWorkload));
        assert_eq!(mailbox.take_command(), Some(LiveCommand::StartStop));
        assert_eq!(mailbox.take_command(), Some(LiveCommand::NextWorkload));
        assert_eq!((mailbox.take_command(), mailbox.waiting()), (None, None));
    }

    #[test]
    fn a_full_queue_still_lets_quitting_through() {
        let mailbox = Mailbox::default();
        for _ in 0..2 * COMMANDS_MAX {
            mailbox.put_command(LiveCommand::NextMode);
        }
        mailbox.put_command(LiveCommand::Quit);
        assert_eq!(mailbox.take_command(), Some(LiveCommand::Quit));
        let left = std::iter::from_fn(|| mailbox.take_command()).count();
        assert_eq!(left, COMMANDS_MAX);
    }

    #[test]
    fn a_display_that_panics_asks_to_quit() {
        let mailbox = Arc::new(Mailbox::default());
        let at_end = QuitAtEnd(Arc::clone(&mailbox));
        let display = thread::spawn(move || {
            let _at_end = at_end;
            panic!("for the test");
        });
        assert!(display.join().is_err());
        assert_eq!(mailbox.take_command(), Some(LiveCommand::Quit));
    }
}
