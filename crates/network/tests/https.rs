//! Encrypted pages, and servers that do not prove who they are.
#![cfg(feature = "tls")]

mod tls_front;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use network::Endpoint;
use network::http::{PageOutcome, PagePlan, Reuse, Until, load, measure};
use network::patience::Patience;
use network::url::Url;

use tls_front::{Farewell, TlsFront};

/// More than a record of TLS, and than what is read at once.
const BODY_BYTES: usize = 100_001;

/// A server in clear that closes a connection after `requests` of them.
fn plain_server(requests: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || drop(answer(&stream.unwrap(), requests)));
        }
    });
    address
}

fn answer(mut stream: &TcpStream, requests: usize) -> std::io::Result<()> {
    let lines = BufReader::new(stream.try_clone()?).lines();
    let ends = lines.map_while(Result::ok).filter(String::is_empty);
    for _ in ends.take(requests) {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
        )?;
        stream.write_all(&vec![b'x'; BODY_BYTES])?;
    }
    Ok(())
}

/// A server in clear that says so.
fn complaining_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .unwrap();
        }
    });
    address
}

fn plan(url: &str, reuse: Reuse) -> PagePlan {
    PagePlan {
        page: Url::parse(url).unwrap(),
        objects: vec!["/a".into(), "/b".into()],
        clients: 2,
        connections: 2,
        reuse,
        until: Until::Pages(6),
        timeout: Duration::from_secs(30),
    }
}

fn run(plan: &PagePlan, ca: Option<&Path>) -> PageOutcome {
    let endpoint = Endpoint::of(&plan.page, ca).unwrap();
    measure(plan, &endpoint, &|| false).unwrap()
}

#[track_caller]
fn check_whole(outcome: &PageOutcome) {
    assert_eq!(outcome.faults.to_string(), "");
    assert_eq!((outcome.pages, outcome.requests), (6, 18));
    assert_eq!(outcome.body_bytes, 18 * BODY_BYTES as u64);
}

#[test]
fn encrypted_pages_come_whole_on_connections_that_are_kept_or_not() {
    let front = TlsFront::start(plain_server(usize::MAX));
    let url = format!("https://{}/page", front.named());
    let kept = run(&plan(&url, Reuse::Kept), Some(front.ca.path()));
    check_whole(&kept);
    assert!(kept.connects <= 4, "{kept:?}");
    let cold = run(&plan(&url, Reuse::Cold), Some(front.ca.path()));
    check_whole(&cold);
    assert_eq!(cold.connects, 18);
}

#[test]
fn a_request_on_a_connection_that_was_closed_meanwhile_is_sent_once_more() {
    let front = TlsFront::start(plain_server(2));
    let url = format!("https://{}/page", front.named());
    let outcome = run(&plan(&url, Reuse::Kept), Some(front.ca.path()));
    check_whole(&outcome);
    assert!(outcome.connects >= 9, "{outcome:?}");
}

/// Story: the farewell came with the last bytes, was not looked at, and the server waited for the
/// client, which waited for the server until its time was out.
#[test]
fn a_body_that_ends_with_the_farewell_is_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let body = [b'x'; BODY_BYTES];
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let _ = stream.write_all(&body);
        }
    });
    let front = TlsFront::parting(address, Farewell::Said);
    let url = format!("https://{}/page", front.named());
    check_whole(&run(&plan(&url, Reuse::Cold), Some(front.ca.path())));
}

#[test]
fn a_server_that_does_not_prove_who_it_is_is_refused() {
    let plain = plain_server(usize::MAX);
    let front = TlsFront::start(plain);
    let other = TlsFront::start(plain);
    let check = |server: String, ca: Option<&Path>, expected: &str| {
        let url = format!("https://{server}/page");
        let page = Url::parse(&url).unwrap();
        let patience = Patience {
            timeout: Duration::from_secs(30),
            is_stopped: &|| false,
        };
        let endpoint = Endpoint::of(&page, ca).unwrap();
        let error = load(&page, &endpoint, &patience).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let outcome = run(&plan(&url, Reuse::Kept), ca);
        assert_eq!((outcome.pages, outcome.requests), (0, 0));
        let faults = outcome.faults.to_string();
        assert!(faults.contains(expected), "{faults}");
    };
    let ca = Some(front.ca.path());
    let by_number = front.address.to_string();
    check(
        front.named(),
        Some(other.ca.path()),
        "connect: invalid peer certificate",
    );
    check(by_number, ca, "not valid for name");
    let what = "connect: closed in mid-handshake. Does this port speak TLS?";
    check(plain.to_string(), ca, what);
    let what = "connect: received corrupt message of type InvalidContentType. Does this port";
    check(complaining_server().to_string(), ca, what);
}

#[test]
fn files_without_authorities_are_named() {
    let url = Url::parse("https://localhost/").unwrap();
    let check = |file: &str, expected: &str| {
        let error = Endpoint::of(&url, Some(Path::new(file))).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(file) && text.contains(expected), "{text}");
    };
    check("/nobody/has/this", "No such file");
    check("/dev/null", "no certificate in PEM form");
}
