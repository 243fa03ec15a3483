//! A server on a thread of its own.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use rustix::rand::{GetRandomFlags, getrandom};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::feed::{Board, Source};

/// Where the feed is.
const EVENTS: &str = "events";
const TOKEN_BYTES: usize = 16;
/// How long the last bytes may take to those who read slowly.
const CLOSE_DELAY: Duration = Duration::from_secs(2);

/// What a request is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Page(String),
    Json(String),
    /// There is no such page; why, in a sentence.
    Missing(String),
    /// The request makes no sense; why, in a sentence.
    Mistake(String),
}

/// The pages of a server: from the path, without a slash in front, and what stands behind the
/// question mark.
pub type Pages = Arc<dyn Fn(&str, &str) -> Answer + Send + Sync>;

/// Why a server was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be had.
    #[error("cannot listen on {address} (port 0 is any free one)")]
    Listen {
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The system refuses a thread, or random bytes.
    #[error("a web server cannot be started: {0}")]
    System(#[from] io::Error),
}

/// A server that goes on until it is stopped.
#[derive(Debug)]
pub struct Server {
    url: String,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// What all requests share.
struct Site {
    pages: Pages,
    board: Option<Board>,
    address: SocketAddr,
    /// What paths begin with on an address that others reach.
    token: Option<String>,
}

impl Server {
    /// Answer requests with `pages`, and those for `events` with the feed.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn start(
        address: SocketAddr,
        pages: Pages,
        source: Option<Source>,
    ) -> Result<Self, StartError> {
        let listen = |source| StartError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let token = (!address.ip().is_loopback()).then(token).transpose()?;
        let path = token
            .as_ref()
            .map_or_else(String::new, |it| format!("{it}/"));
        let (stop, stopped) = oneshot::channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let serve = async move {
            let (board, fill) = source.map(Board::of).unzip();
            if let Some(fill) = fill {
                tokio::spawn(fill);
            }
            let site = Arc::new(Site {
                pages,
                board,
                address,
                token,
            });
            let routes = Router::new().fallback(answered).with_state(site);
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                return;
            };
            let (last, farewell) = oneshot::channel::<()>();
            let serving = axum::serve(listener, routes).with_graceful_shutdown(async move {
                let _ = stopped.await;
                drop(last);
            });
            tokio::select! {
                _ = serving.into_future() => {}
                () = async {
                    let _ = farewell.await;
                    tokio::time::sleep(CLOSE_DELAY).await;
                } => {}
            }
        };
        let thread = std::thread::Builder::new().name("web".into());
        let thread = thread.spawn(move || runtime.block_on(serve))?;
        Ok(Self {
            url: format!("http://{address}/{path}"),
            stop,
            thread,
        })
    }

    /// Where the first page is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Take no more requests, and finish those that are under way, for two seconds at most.
    pub fn stop(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

/// What nobody guesses.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let got = getrandom(&mut bytes, GetRandomFlags::empty())?;
    if got < TOKEN_BYTES {
        return Err(io::Error::other("too few random bytes"));
    }
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a string");
    }
    Ok(text)
}

impl Site {
    /// The path of a request without the token; `None` where it is not for us.
    fn path<'a>(&self, request: &'a Request) -> Option<&'a str> {
        let path = request.uri().path().strip_prefix('/')?;
        match &self.token {
            Some(token) => path.strip_prefix(token.as_str())?.strip_prefix('/'),
            None => self.is_addressed(request).then_some(path),
        }
    }

    /// Whether a request is for this host: a page of another site that resolves its own name to
    /// this machine is not.
    fn is_addressed(&self, request: &Request) -> bool {
        let host = request.headers().get(HOST).and_then(|it| it.to_str().ok());
        let Some((name, port)) = host.and_then(|host| host.rsplit_once(':')) else {
            return false;
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = name.parse().is_ok_and(|it: IpAddr| it.is_loopback());
        (is_loopback || name == "localhost") && port == self.address.port().to_string()
    }
}

async fn answered(State(site): State<Arc<Site>>, request: Request) -> Response {
    let Some(path) = site.path(&request) else {
        return refused(
            StatusCode::FORBIDDEN,
            "this is not the address that was printed",
        );
    };
    if request.method() != Method::GET {
        return refused(StatusCode::METHOD_NOT_ALLOWED, "pages are only read");
    }
    if let (EVENTS, Some(board)) = (path, &site.board) {
        let keep = KeepAlive::default();
        return Sse::new(board.listen()).keep_alive(keep).into_response();
    }
    let query = request.uri().query().unwrap_or_default();
    match (site.pages)(path, query) {
        Answer::Page(page) => held("text/html; charset=utf-8", page),
        Answer::Json(text) => held("application/json", text),
        Answer::Missing(why) => refused(StatusCode::NOT_FOUND, &why),
        Answer::Mistake(why) => refused(StatusCode::BAD_REQUEST, &why),
    }
}

fn held(kind: &'static str, text: String) -> Response {
    let headers = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text).into_response()
}

fn refused(status: StatusCode, why: &str) -> Response {
    (status, format!("{why}\n")).into_response()
}
