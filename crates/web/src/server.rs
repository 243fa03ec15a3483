//! A server on its own thread.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::HttpBody as _;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, oneshot, watch};

use futures_util::StreamExt as _;

use crate::admission::Admission;
use crate::connection_slots::{CONNECTION_SLOTS, ConnectionSlot, ConnectionSlots, SlottedStream};
use crate::feed::{Board, FeedReceiver};
use crate::unasked::{UnaskedConnection, UnaskedConnections};

/// Path of the feed.
const EVENTS: &str = "events";
/// Maximum number of feed listeners, which stay connected; the other slots are for pages.
const FOLLOWERS_MAX: usize = CONNECTION_SLOTS / 2;
/// Maximum size of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Time for slow readers to receive the last bytes.
const CLOSE_DELAY: Duration = Duration::from_secs(2);
/// How long idle connections may delay waiting ones.
const GIVE_WAY: Duration = Duration::from_millis(250);
/// Minimum time between two connections, which limits the CPU cost of repeated requests.
const ACCEPT_EVERY: Duration = Duration::from_millis(10);
/// Delay before retrying a failed accept.
const RETRY_DELAY: Duration = Duration::from_millis(100);
/// Icon of a page in the browser's tab.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\">\
    <rect width=\"16\" height=\"16\" rx=\"3\" fill=\"#0072b2\"/>\
    <path d=\"M2 12h5q4 0 6-9\" fill=\"none\" stroke=\"#fff\" stroke-width=\"2\"/></svg>";
/// Content security policy of every response. A page itself declares its scripts and styles.
const FORBIDDEN: &str = "base-uri 'none'; object-src 'none'; frame-ancestors 'none'";

/// Timeouts for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientPatience {
    /// From the start of a connection to a complete request.
    pub head: Duration,
    /// Without progress in sending the response.
    pub reading: Duration,
}

impl Default for ClientPatience {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(5),
            reading: Duration::from_secs(5),
        }
    }
}

/// Response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebAnswer {
    Page(String),
    Json(String),
    /// Text of another media type.
    Text {
        kind: &'static str,
        text: String,
    },
    /// There is no such page; the reason, as a sentence.
    Missing(String),
    /// The request is invalid; the reason, as a sentence.
    Mistake(String),
    /// The same as a page that says how to continue.
    MistakePage(String),
}

/// The pages of a server, by path without a leading slash, and query.
pub type Pages = Arc<dyn Fn(&str, &str) -> WebAnswer + Send + Sync>;

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is not available.
    #[error("cannot listen on {address} (port 0 is any free one)")]
    Listen {
        address: SocketAddr,
        /// The reason.
        source: io::Error,
    },
    /// No thread or no random bytes.
    #[error("a web server cannot be started: {0}")]
    System(#[from] io::Error),
}

/// A running server.
#[derive(Debug)]
pub struct WebServer {
    url: String,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// State shared by all requests.
struct Site {
    pages: Pages,
    board: Option<Board>,
    followers: Arc<Semaphore>,
    admission: Admission,
}

impl WebServer {
    /// Answers requests with `pages`, and those for `events` with the feed.
    ///
    /// # Errors
    /// If the address is not available.
    pub fn start(
        address: SocketAddr,
        pages: Pages,
        source: Option<FeedReceiver>,
        patience: ClientPatience,
    ) -> Result<Self, StartError> {
        let listen = |source| StartError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true)?;
        let slots = ConnectionSlots::of(&listener)?;
        let admission = Admission::of(listener.local_addr()?)?;
        let url = admission.url();
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
                followers: Arc::new(Semaphore::new(FOLLOWERS_MAX)),
                admission,
            });
            let routes = Router::new().fallback(answered).with_state(site);
            if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                accepting(&listener, &slots, &routes, patience, stopped).await;
            }
            // Waits for connections in progress, each of which then has returned its slot.
            let all = (0..CONNECTION_SLOTS).map(|_| slots.slot());
            let _ = tokio::time::timeout(CLOSE_DELAY, futures_util::future::join_all(all)).await;
        };
        let thread = std::thread::Builder::new().name("web".into());
        let thread = thread.spawn(move || runtime.block_on(serve))?;
        Ok(Self { url, stop, thread })
    }

    /// URL of the first page.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Accepts no more requests, and finishes those in progress within two seconds.
    pub fn stop(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

/// Accepts connections as long as there are slots, until stopped.
async fn accepting(
    listener: &tokio::net::TcpListener,
    slots: &ConnectionSlots,
    routes: &Router,
    patience: ClientPatience,
    stopped: oneshot::Receiver<()>,
) {
    let (ending, _) = watch::channel(());
    let unasked = UnaskedConnections::default();
    tokio::pin!(stopped);
    loop {
        let next = async {
            let slot = slot_of(listener, slots, &unasked).await?;
            Some(slot.take(listener, patience.reading).await)
        };
        tokio::select! {
            // Dropping `ending` notifies connections in progress.
            _ = &mut stopped => return,
            Some(taken) = next => match taken {
                Ok(stream) => {
                    let ended = ending.subscribe();
                    let asking = (unasked.add(), patience.head);
                    tokio::spawn(held(stream, routes.clone(), asking, ended));
                    tokio::time::sleep(ACCEPT_EVERY).await;
                }
                // Descriptors or memory are short, because the measurement uses them.
                Err(_) => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    }
}

/// A slot, as soon as there is one. Idle connections give theirs to waiting ones.
async fn slot_of(
    listener: &tokio::net::TcpListener,
    slots: &ConnectionSlots,
    unasked: &UnaskedConnections,
) -> Option<ConnectionSlot> {
    loop {
        match tokio::time::timeout(GIVE_WAY, slots.slot()).await {
            Ok(slot) => return slot,
            Err(_) if is_somebody_waiting(listener) => unasked.give_way(),
            Err(_) => {}
        }
    }
}

fn is_somebody_waiting(listener: &tokio::net::TcpListener) -> bool {
    let mut listener = [PollFd::new(listener, PollFlags::IN)];
    poll(&mut listener, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Answers one request of a connection.
async fn held(
    stream: SlottedStream,
    routes: Router,
    (unasked, head): (UnaskedConnection, Duration),
    mut ended: watch::Receiver<()>,
) {
    let mut connection = http1::Builder::new();
    connection
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES_MAX);
    let routes = TowerToHyperService::new(routes);
    let service = service_fn(|request| {
        unasked.has_asked();
        routes.call(request)
    });
    let connection = connection.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => {}
        () = unasked.gives_way() => {}
        _ = ended.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    unasked.has_asked();
}

async fn answered(State(site): State<Arc<Site>>, request: Request) -> Response {
    let mut response = answer(&site, &request);
    let headers = response.headers_mut();
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (CONTENT_SECURITY_POLICY, FORBIDDEN),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn answer(site: &Site, request: &Request) -> Response {
    // Browsers request it on their own, outside the printed URL.
    if request.uri().path() == "/favicon.ico" && request.method() == Method::GET {
        return ([(CONTENT_TYPE, "image/svg+xml")], ICON).into_response();
    }
    let Some(path) = site
        .admission
        .admitted(request.uri().path(), request.headers())
    else {
        let why = "this is not the address that was printed";
        return refused(StatusCode::FORBIDDEN, why);
    };
    if request.method() != Method::GET {
        return refused(StatusCode::METHOD_NOT_ALLOWED, "pages are only read");
    }
    if !request.body().is_end_stream() {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, "a request has no body here");
    }
    if let (EVENTS, Some(board)) = (path, &site.board) {
        let Ok(follower) = Arc::clone(&site.followers).try_acquire_owned() else {
            let why = format!("{FOLLOWERS_MAX} others follow this run already");
            return refused(StatusCode::SERVICE_UNAVAILABLE, &why);
        };
        let events = board.listen().map(move |event| {
            let _ = &follower;
            event
        });
        return Sse::new(events)
            .keep_alive(KeepAlive::default())
            .into_response();
    }
    let query = request.uri().query().unwrap_or_default();
    match (site.pages)(path, query) {
        WebAnswer::Page(page) => html(StatusCode::OK, page),
        WebAnswer::MistakePage(page) => html(StatusCode::BAD_REQUEST, page),
        WebAnswer::Text { kind, text } => ([(CONTENT_TYPE, kind)], text).into_response(),
        WebAnswer::Json(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        WebAnswer::Missing(why) => refused(StatusCode::NOT_FOUND, &why),
        WebAnswer::Mistake(why) => refused(StatusCode::BAD_REQUEST, &why),
    }
}

fn html(status: StatusCode, page: String) -> Response {
    (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

fn refused(status: StatusCode, why: &str) -> Response {
    (status, format!("{why}\n")).into_response()
}
