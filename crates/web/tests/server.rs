//! What a server answers, to whom, and what it tells those who listen.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use web::{ClientPatience, Pages, WebAnswer, WebServer, feed};

fn pages() -> Pages {
    Arc::new(|path, query| match path {
        "" => WebAnswer::Page("<p>home</p>".into()),
        "run/1" => WebAnswer::Json(format!("{{\"query\":\"{query}\"}}")),
        "odd" => WebAnswer::Mistake("odd".into()),
        "unlike" => WebAnswer::MistakePage("<p>unlike</p>".into()),
        _ => WebAnswer::Missing(format!("no {path}")),
    })
}

fn started(address: &str) -> (WebServer, SocketAddr, String) {
    let address = address.parse().expect("an address");
    let server =
        WebServer::start(address, pages(), None, ClientPatience::default()).expect("a server");
    let rest = server
        .url()
        .strip_prefix("http://")
        .expect("HTTP")
        .to_owned();
    let (host, path) = rest.split_once('/').expect("a path");
    (server, host.parse().expect("an address"), path.to_owned())
}

/// The whole answer to a request of one line, with that host.
fn asked(at: SocketAddr, line: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(at).expect("a connection");
    let request = format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn requests_are_answered_with_pages() {
    let (server, at, path) = started("127.0.0.1:0");
    assert_eq!(path, "");
    let host = at.to_string();
    let check = |line: &str, status: &str, part: &str| {
        let answer = asked(at, line, &host);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{line}: {answer}"
        );
        assert!(answer.contains(part), "{line}: {answer}");
    };
    check("GET /", "200", "<p>home</p>");
    check("GET /", "200", "cache-control: no-store");
    check("GET /run/1?a=2", "200", "{\"query\":\"a=2\"}");
    check("GET /other", "404", "no other");
    check("GET /odd", "400", "odd");
    check("GET /unlike", "400", "content-type: text/html");
    check("GET /favicon.ico", "200", "content-type: image/svg+xml");
    check("POST /", "405", "only read");
    check("GET /events", "404", "no events");
    server.stop();
    assert!(TcpStream::connect(at).is_err(), "it still listens");
}

/// A page of another site whose name leads to this machine must not read the archive.
#[test]
fn another_host_is_refused_on_loopback() {
    let (server, at, _) = started("127.0.0.1:0");
    let port = at.port();
    for host in ["evil.example", "evil.example:80", "127.0.0.1", "10.0.0.1:1"] {
        let host = host.replace(":1", &format!(":{port}"));
        let answer = asked(at, "GET /", &host);
        assert!(answer.starts_with("HTTP/1.1 403"), "{host}: {answer}");
    }
    let answer = asked(at, "GET /", &format!("localhost:{port}"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.stop();
}

#[test]
fn other_addresses_ask_for_a_token() {
    let (server, at, path) = started("0.0.0.0:0");
    let token = path.trim_end_matches('/').to_owned();
    assert_eq!(token.len(), 32, "{path}");
    let here = SocketAddr::from(([127, 0, 0, 1], at.port()));
    let status = |path: &str| {
        let answer = asked(here, &format!("GET {path}"), "anything");
        answer.lines().next().unwrap_or_default().to_owned()
    };
    assert!(status("/").contains("403"));
    assert!(status(&format!("/{}0/", &token[..31])).contains("403") || token.ends_with('0'));
    assert!(status(&format!("/{token}/")).contains("200"));
    assert!(status(&format!("/{token}/run/1")).contains("200"));
    let (other, _, second) = started("0.0.0.0:0");
    assert_ne!(path, second);
    server.stop();
    other.stop();
}

#[test]
fn an_address_in_use_is_an_error_that_names_it() {
    let (server, at, _) = started("127.0.0.1:0");
    let error = WebServer::start(at, pages(), None, ClientPatience::default()).expect_err("in use");
    assert!(error.to_string().contains(&at.to_string()), "{error}");
    server.stop();
}

/// Who comes late is told everything, and the stream ends when the feed does.
#[test]
fn a_feed_is_told_from_its_beginning_to_its_end() {
    let (feed, source) = feed();
    let address = "127.0.0.1:0".parse().expect("an address");
    let server = WebServer::start(address, pages(), Some(source), ClientPatience::default())
        .expect("a server");
    let host = server
        .url()
        .trim_start_matches("http://")
        .trim_end_matches('/');
    let at: SocketAddr = host.parse().expect("an address");
    feed.send("one".into());
    feed.send("two".into());
    feed.end("three\nlines".into());
    for _ in 0..2 {
        let answer = asked(at, "GET /events", host);
        let told: Vec<&str> = answer.lines().filter(|it| it.contains(':')).collect();
        let data: Vec<&&str> = told.iter().filter(|it| it.starts_with("data:")).collect();
        assert_eq!(
            data,
            [&"data: one", &"data: two", &"data: three", &"data: lines"],
            "{answer}"
        );
        assert!(told.contains(&"event: end"), "{answer}");
    }
    server.stop();
}

/// Nobody reads: whoever tells goes on all the same.
#[test]
fn telling_never_waits() {
    let (feed, source) = feed();
    (0..100_000).for_each(|number| feed.send(number.to_string()));
    drop(source);
    feed.send("into the void".into());
    feed.end("as well".into());
}
