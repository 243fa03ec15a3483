//! `--listen`: /metrics and /healthz. What is probed never waits for a reader.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use web::{ClientPatience, WebAnswer, WebServer};

use crate::output;

/// What OpenMetrics 1.0 calls itself.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A page that is older says that the watch stands still.
const FRESH: Duration = Duration::from_secs(10);

/// A server with what is known now.
pub struct MetricsPage {
    server: WebServer,
    page: Arc<Mutex<ShownPage>>,
}

/// A page, and when it was made.
struct ShownPage {
    text: String,
    at: Instant,
}

impl MetricsPage {
    /// Listen, and say where.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn start(address: SocketAddr) -> anyhow::Result<Self> {
        let page = Arc::new(Mutex::new(ShownPage {
            text: "# EOF\n".to_owned(),
            at: Instant::now(),
        }));
        let shown = Arc::clone(&page);
        let pages = move |asked: &str, _: &str| match asked {
            "metrics" => WebAnswer::Text {
                kind: OPENMETRICS,
                text: locked(&shown).text.clone(),
            },
            "healthz" if locked(&shown).at.elapsed() > FRESH => {
                WebAnswer::Missing("the watch does not go on".to_owned())
            }
            "healthz" => WebAnswer::Text {
                kind: "text/plain; charset=utf-8",
                text: "ok\n".to_owned(),
            },
            _ => WebAnswer::Missing("there are /metrics and /healthz".to_owned()),
        };
        let patience = ClientPatience::default();
        let server = WebServer::start(address, Arc::new(pages), None, patience)?;
        output::complain(&format!("metrics: {}metrics", server.url()));
        Ok(Self { server, page })
    }

    /// Show this from now on.
    pub fn show(&self, text: String) {
        *locked(&self.page) = ShownPage {
            text,
            at: Instant::now(),
        };
    }

    /// Take no more requests.
    pub fn stop(self) {
        self.server.stop();
    }
}

fn locked(page: &Mutex<ShownPage>) -> MutexGuard<'_, ShownPage> {
    page.lock().unwrap_or_else(PoisonError::into_inner)
}
