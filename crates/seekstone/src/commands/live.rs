//! `--live`: a page that follows the run. What is measured never waits for it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kinds::check_up::Stage;
use report::LiveGlimpse;
use results::{Run, Setup};
use web::{Answer, Feed, Server, feed};

use crate::args::{Command, Common};
use crate::exit::UsageError;
use crate::output;

/// A browser is told something new at most this often.
const TELL_EVERY: Duration = Duration::from_millis(100);
const MICROSECOND: f64 = 1e3;

/// A server with the page of one run.
pub struct Live {
    server: Server,
    feed: Feed,
    told: Option<(Instant, String)>,
}

impl Live {
    /// Listen, and say where.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn start(address: SocketAddr, name: &str) -> anyhow::Result<Self> {
        let (feed, source) = feed();
        let page = report::live_html(name);
        let pages = move |asked: &str, _: &str| match asked {
            "" => Answer::Page(page.clone()),
            _ => Answer::Missing(format!("there is no page {asked}")),
        };
        let server = Server::start(address, Arc::new(pages), Some(source))?;
        output::complain(&format!("live: {}", server.url()));
        Ok(Self {
            server,
            feed,
            told: None,
        })
    }

    /// Tell how far the run is.
    pub fn show(&mut self, stage: &Stage<'_>) {
        let is_told =
            |(at, title): &(Instant, String)| at.elapsed() < TELL_EVERY && title == stage.title;
        if self.told.as_ref().is_some_and(is_told) {
            return;
        }
        self.told = Some((Instant::now(), stage.title.to_owned()));
        let response = stage.glimpse.and_then(|it| it.response);
        let glimpse = LiveGlimpse {
            title: stage.title.to_owned(),
            done: stage.done,
            elapsed_s: stage.elapsed.as_secs_f64(),
            iops: stage.glimpse.and_then(|it| it.throughput),
            mean_us: response.map(|(mean_ns, _)| mean_ns / MICROSECOND),
            error: response.map(|(_, half_width)| half_width),
        };
        self.feed.tell(glimpse.json());
    }

    /// Show the page of the run, if there is one, to those who look; then stop.
    pub fn end(self, run: Option<&Run>) {
        self.feed.end(run.map_or_else(String::new, report::html));
        self.server.stop();
    }
}

/// What a page that follows a run is titled.
pub fn name(setup: &Setup) -> String {
    let target = setup.value("target").unwrap_or_default();
    format!("{} {target}", setup.command).trim_end().to_owned()
}

/// Refuse `--live` where nobody would be told anything.
///
/// # Errors
/// When the command does not show how far it is in this way.
pub fn check(command: &Command) -> Result<(), UsageError> {
    let common: Option<&Common> = match command {
        Command::Rab(args) => Some(&args.common),
        Command::Compare(args) => Some(&args.common),
        Command::Study(args) => Some(&args.common),
        Command::Fio(args) => Some(&args.common),
        Command::Kind(args) => Some(&args.rules.common),
        _ => None,
    };
    match common.and_then(|common| common.live) {
        Some(_) => Err(UsageError(
            "--live follows `run`, `trial`, `curve`, `random`, `transfer`, `transactions`, \
             `files` and `time`; leave it out here"
                .into(),
        )),
        None => Ok(()),
    }
}
