//! Clients that behave badly. Connections that were only opened once ended a measurement, and half
//! a request from each of 1,142 connections once kept a server busy for as long as they were held.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use web::{ClientPatience, Pages, WebAnswer, WebServer, feed};

/// Connections of a listener.
const CONNECTION_SLOTS: usize = 16;
const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(600);

/// Pages one of which fills every buffer between here and there.
fn pages() -> Pages {
    Arc::new(|path, _| match path {
        "long" => WebAnswer::Page("x".repeat(16 << 20)),
        _ => WebAnswer::Page("<p>home</p>".into()),
    })
}

fn started(head: Duration, reading: Duration) -> (WebServer, SocketAddr) {
    let address = "127.0.0.1:0".parse().expect("an address");
    let patience = ClientPatience { head, reading };
    let server = WebServer::start(address, pages(), None, patience).expect("a server");
    let host = server.url().trim_start_matches("http://");
    let at = host.trim_end_matches('/').parse().expect("an address");
    (server, at)
}

fn connected(at: SocketAddr) -> TcpStream {
    TcpStream::connect(at).expect("a connection")
}

fn sent(at: SocketAddr, request: &str) -> TcpStream {
    let mut stream = connected(at);
    stream.write_all(request.as_bytes()).expect("sent");
    stream
}

fn get(at: SocketAddr, path: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {at}\r\n{more}\r\n")
}

/// The whole answer to a request after which the connection ends.
fn answer(at: SocketAddr, request: &str) -> String {
    let mut text = String::new();
    sent(at, request)
        .read_to_string(&mut text)
        .expect("an answer");
    text
}

fn is_served(at: SocketAddr) {
    let text = answer(at, &get(at, "/", "Connection: close\r\n"));
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
}

#[test]
fn those_who_never_finish_a_request_lose_their_slot() {
    let (server, at) = started(SHORT, LONG);
    let silent: Vec<TcpStream> = (0..2 * CONNECTION_SLOTS).map(|_| connected(at)).collect();
    let halves: Vec<TcpStream> = (0..2 * CONNECTION_SLOTS)
        .map(|_| sent(at, "GET / HTTP/1.1\r\nHost: a\r\nX-Half:"))
        .collect();
    is_served(at);
    let again = sent(at, &get(at, "/", ""));
    is_served(at);
    drop((silent, halves, again));
    server.stop();
}

/// While 1,142 connections held half a request each, the next one waited for over a minute.
#[test]
fn those_who_have_asked_for_nothing_give_way_to_those_who_ask() {
    let (server, at) = started(LONG, LONG);
    let silent: Vec<TcpStream> = (0..2 * CONNECTION_SLOTS).map(|_| connected(at)).collect();
    let halves: Vec<TcpStream> = (0..2 * CONNECTION_SLOTS)
        .map(|_| sent(at, "GET / HTTP/1.1\r\nHost: a\r\nX-Half:"))
        .collect();
    is_served(at);
    drop((silent, halves));
    server.stop();
}

#[test]
fn those_who_read_nothing_lose_their_slot() {
    let (server, at) = started(LONG, SHORT);
    let slow: Vec<TcpStream> = (0..CONNECTION_SLOTS)
        .map(|_| sent(at, &get(at, "/long", "")))
        .collect();
    is_served(at);
    drop(slow);
    server.stop();
}

/// One more than there are slots waits outside until one of those inside leaves.
#[test]
fn there_are_so_many_slots_and_no_more() {
    let (server, at) = started(LONG, LONG);
    let mut first = [0; 1];
    let mut held: Vec<TcpStream> = (0..CONNECTION_SLOTS)
        .map(|_| sent(at, &get(at, "/long", "")))
        .collect();
    for stream in &mut held {
        stream.read_exact(&mut first).expect("an answer");
    }
    let mut outside = sent(at, &get(at, "/", ""));
    outside.set_read_timeout(Some(SHORT)).expect("a limit");
    let kind = outside.read(&mut first).expect_err("no slot").kind();
    assert!(
        [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&kind),
        "{kind}"
    );
    drop(held.pop());
    outside.set_read_timeout(None).expect("no limit");
    outside.read_exact(&mut first).expect("an answer");
    server.stop();
}

#[test]
fn followers_leave_slots_for_those_who_ask_for_a_page() {
    let (_feed, source) = feed();
    let address = "127.0.0.1:0".parse().expect("an address");
    let patience = ClientPatience {
        head: LONG,
        reading: LONG,
    };
    let server = WebServer::start(address, pages(), Some(source), patience).expect("a server");
    let host = server.url().trim_start_matches("http://");
    let at: SocketAddr = host.trim_end_matches('/').parse().expect("an address");
    let mut followers: Vec<TcpStream> = Vec::new();
    for number in 0..CONNECTION_SLOTS / 2 + 1 {
        let mut stream = sent(at, &get(at, "/events", ""));
        let mut status = [0; 12];
        stream.read_exact(&mut status).expect("an answer");
        let expected = if number < CONNECTION_SLOTS / 2 {
            "HTTP/1.1 200"
        } else {
            "HTTP/1.1 503"
        };
        assert_eq!(String::from_utf8_lossy(&status), expected, "{number}");
        followers.push(stream);
    }
    is_served(at);
    drop(followers);
    server.stop();
}

#[test]
fn every_answer_says_what_a_browser_must_not_do() {
    let (server, at) = started(LONG, LONG);
    let close = "Connection: close\r\n";
    for (request, status) in [
        (get(at, "/", close), "200"),
        (
            get(at, "/", &format!("{close}Origin: http://{at}\r\n")),
            "200",
        ),
        (
            get(at, "/", &format!("{close}Origin: http://evil.example\r\n")),
            "403",
        ),
        (
            get(at, "/", close).replace(&at.to_string(), "evil.example"),
            "403",
        ),
        (get(at, "/", close).replace("GET", "POST"), "405"),
        (
            get(at, "/", &format!("{close}Content-Length: 9\r\n")),
            "413",
        ),
        (
            get(at, "/", &format!("{close}Transfer-Encoding: chunked\r\n")),
            "413",
        ),
    ] {
        let text = answer(at, &request);
        assert!(
            text.starts_with(&format!("HTTP/1.1 {status}")),
            "{request}: {text}"
        );
        for header in [
            "content-security-policy: base-uri 'none'; object-src 'none'; frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "x-frame-options: DENY",
            "cache-control: no-store",
        ] {
            assert!(text.contains(header), "{header}: {text}");
        }
    }
    // A head without an end, and one that is none.
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(64 << 10));
    let mut stream = sent(at, &long);
    let mut text = String::new();
    let read = stream.read_to_string(&mut text);
    assert!(read.is_err() || text.starts_with("HTTP/1.1 4"), "{text}");
    let text = answer(at, "\u{1}\u{2}\r\n\r\n");
    assert!(
        text.is_empty() || text.starts_with("HTTP/1.1 400"),
        "{text}"
    );
    is_served(at);
    server.stop();
}
