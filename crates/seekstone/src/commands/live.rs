//! `--live`: a page that follows the run. What is measured never waits for it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kinds::stage::Stage;
use report::LiveGlimpse;
use results::Run;
use study::StudyStage;
use web::{ClientPatience, EventFeed, WebAnswer, WebServer, feed};

use crate::output;

/// A browser is told something new at most this often.
const SHOW_EVERY: Duration = Duration::from_millis(100);
const MICROSECOND: f64 = 1e3;

/// A server with the page of one run.
pub struct LivePage {
    server: WebServer,
    feed: EventFeed,
    shown: Option<(Instant, String)>,
}

impl LivePage {
    /// Listen, and say where.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn start(address: SocketAddr, name: &str) -> anyhow::Result<Self> {
        let (feed, source) = feed();
        let page = report::live_html(name);
        let pages = move |asked: &str, _: &str| match asked {
            "" => WebAnswer::Page(page.clone()),
            _ => WebAnswer::Missing(format!("there is no page {asked}")),
        };
        let server = WebServer::start(
            address,
            Arc::new(pages),
            Some(source),
            ClientPatience::default(),
        )?;
        output::complain(&format!("live: {}", server.url()));
        Ok(Self {
            server,
            feed,
            shown: None,
        })
    }

    /// Tell how far the run is.
    pub fn show(&mut self, stage: &Stage<'_>) {
        if stage.is_plan {
            return;
        }
        let response = stage.glimpse.and_then(|it| it.response);
        let mean_ns = stage.glimpse.and_then(|it| it.mean_ns);
        self.send(&LiveGlimpse {
            title: stage.activity(),
            done: stage.done,
            elapsed_s: stage.elapsed.as_secs_f64(),
            left_s: stage.left.map(|left| left.as_secs_f64()),
            operations: stage.glimpse.map_or(0, |it| it.operations),
            iops: stage.glimpse.and_then(|it| it.throughput),
            mean_us: mean_ns.map(|mean_ns| mean_ns / MICROSECOND),
            error: response.map(|(_, half_width)| half_width),
            p99_us: stage
                .glimpse
                .and_then(|it| it.p99_ns)
                .map(|ns| ns / MICROSECOND),
        });
    }

    /// Tell where a study is, whose replicates have figures of many kinds.
    pub fn show_study(&mut self, stage: &StudyStage) {
        self.send(&LiveGlimpse {
            title: stage.title.clone(),
            done: stage.done,
            elapsed_s: stage.elapsed.as_secs_f64(),
            ..LiveGlimpse::default()
        });
    }

    /// Tell it, unless something of the same was told a moment ago.
    fn send(&mut self, glimpse: &LiveGlimpse) {
        let is_shown =
            |(at, title): &(Instant, String)| at.elapsed() < SHOW_EVERY && *title == glimpse.title;
        if self.shown.as_ref().is_some_and(is_shown) {
            return;
        }
        self.shown = Some((Instant::now(), glimpse.title.clone()));
        self.feed.send(glimpse.json());
    }

    /// Show the page of the run, if there is one, to those who look; then stop.
    pub fn end(self, run: Option<&Run>) {
        self.feed.end(run.map_or_else(String::new, report::html));
        self.server.stop();
    }
}
