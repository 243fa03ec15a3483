//! Pages from a server of our own on loopback that counts what it is asked, and misbehaves on
//! demand.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use network::Endpoint;
use network::http::{PageOutcome, PagePlan, Reuse, Until, load, measure};
use network::patience::Patience;
use network::url::Url;

/// What the server does with a request.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Well,
    /// Says nothing.
    Silent,
    /// Ends the connection in mid-answer.
    Short,
    /// Takes so many requests on a connection, and closes it without a word.
    CloseAfter(usize),
    /// Answers in chunks.
    Chunked,
}

struct Server {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Lives as long as the test program.
    fn start(way: Way) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            connections: Arc::default(),
        };
        let (requests, connections) = (server.requests.clone(), server.connections.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                connections.fetch_add(1, Ordering::SeqCst);
                let requests = Arc::clone(&requests);
                // What a client does to its connection is no failure of the server.
                thread::spawn(move || drop(serve(&stream.unwrap(), way, &requests)));
            }
        });
        server
    }

    fn plan(&self, objects: usize) -> PagePlan {
        PagePlan {
            page: Url::parse(&format!("http://{}/page", self.address)).unwrap(),
            objects: (0..objects).map(|it| format!("/o{it}")).collect(),
            clients: 1,
            connections: 1,
            reuse: Reuse::Kept,
            until: Until::Pages(10),
            timeout: Duration::from_secs(30),
        }
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::of(&self.plan(0).page, None).unwrap()
    }

    fn counted(&self) -> (usize, usize) {
        let count = |it: &AtomicUsize| it.load(Ordering::SeqCst);
        (count(&self.requests), count(&self.connections))
    }
}

fn serve(stream: &TcpStream, way: Way, requests: &AtomicUsize) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let mut to = stream.try_clone()?;
    let mut served = 0;
    while let Some(first) = lines.next() {
        let first = first?;
        let mut is_last = false;
        for line in lines.by_ref() {
            let line = line?;
            is_last |= line == "Connection: close";
            if line.is_empty() {
                break;
            }
        }
        if way == Way::CloseAfter(served) {
            return Ok(());
        }
        requests.fetch_add(1, Ordering::SeqCst);
        served += 1;
        let status = if first.contains("/missing") {
            "404 Not Found"
        } else {
            "200 OK"
        };
        match way {
            Way::Silent => thread::park(),
            Way::Short => {
                to.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")?;
                return Ok(());
            }
            Way::Chunked => {
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
                let answer = format!("{head}3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
                to.write_all(answer.as_bytes())?;
            }
            Way::Well | Way::CloseAfter(_) => {
                let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 6\r\n\r\nonetwo");
                to.write_all(answer.as_bytes())?;
            }
        }
        if is_last {
            return Ok(());
        }
    }
    Ok(())
}

fn run(server: &Server, plan: &PagePlan) -> PageOutcome {
    measure(plan, &server.endpoint(), &|| false).unwrap()
}

#[track_caller]
fn check_whole(outcome: &PageOutcome, pages: u64, requests: u64) {
    assert_eq!(outcome.faults.to_string(), "");
    assert_eq!((outcome.pages, outcome.pages_broken), (pages, 0));
    assert_eq!(
        (outcome.requests, outcome.requests_counted),
        (requests, requests)
    );
    assert_eq!(outcome.body_bytes, requests * 6);
    assert_eq!(outcome.page_times.len(), pages);
    assert_eq!(outcome.request_times.len(), requests);
    assert_eq!(outcome.first_byte_times.len(), requests);
    let (first, whole) = (&outcome.first_byte_times, &outcome.request_times);
    assert!(first.mean() > 0.0 && first.mean() <= whole.mean());
}

#[test]
fn kept_connections_are_made_once_and_cold_ones_for_each_request() {
    let server = Server::start(Way::Well);
    let outcome = run(&server, &server.plan(4));
    check_whole(&outcome, 10, 50);
    assert_eq!((outcome.connects, server.counted()), (1, (50, 1)));

    let server = Server::start(Way::Well);
    let plan = PagePlan {
        reuse: Reuse::Cold,
        ..server.plan(4)
    };
    let outcome = run(&server, &plan);
    check_whole(&outcome, 10, 50);
    assert_eq!((outcome.connects, server.counted()), (50, (50, 50)));
}

#[test]
fn a_client_spreads_its_objects_over_its_connections() {
    let server = Server::start(Way::Chunked);
    let plan = PagePlan {
        clients: 3,
        connections: 4,
        until: Until::Pages(30),
        ..server.plan(8)
    };
    let outcome = run(&server, &plan);
    check_whole(&outcome, 30, 270);
    assert_eq!(server.counted(), (270, 12));
}

#[test]
fn a_page_takes_as_long_as_its_parts_one_after_the_other() {
    let server = Server::start(Way::Well);
    let outcome = run(&server, &server.plan(9));
    let parts = outcome.request_times.mean() * 10.0;
    let page = outcome.page_times.mean();
    // What lies between the requests is the client's own work.
    assert!(page >= parts * 0.99, "{page} {parts}");
    assert!(outcome.elapsed.as_nanos() as f64 >= page * 9.9);
}

#[test]
fn with_a_span_only_what_came_within_it_counts_for_the_rate() {
    let server = Server::start(Way::Well);
    let span = Duration::from_millis(50);
    let plan = PagePlan {
        until: Until::Span(span),
        clients: 4,
        ..server.plan(0)
    };
    let outcome = run(&server, &plan);
    assert_eq!(outcome.counted, span);
    assert!(outcome.requests_counted > 0 && outcome.requests_counted <= outcome.requests);
    assert!(outcome.requests - outcome.requests_counted <= 4);
}

#[test]
fn a_connection_that_the_server_closed_meanwhile_is_made_again() {
    let server = Server::start(Way::CloseAfter(3));
    let outcome = run(&server, &server.plan(0));
    check_whole(&outcome, 10, 10);
    assert_eq!((outcome.connects, outcome.resent), (4, 3));
}

#[track_caller]
fn check_broken(server: &Server, plan: &PagePlan, faults: &str, requests: u64) {
    let outcome = run(server, plan);
    assert_eq!(outcome.faults.to_string(), faults);
    assert_eq!(outcome.requests, requests);
    assert_eq!(outcome.pages, 0);
    assert_eq!(outcome.page_times.len(), 0);
}

#[test]
fn what_fails_is_counted_by_its_cause() {
    let server = Server::start(Way::Well);
    let mut plan = server.plan(3);
    plan.objects[1] = "/missing".into();
    check_broken(&server, &plan, "10 x status 404", 30);
    plan.page = plan.page.with_path("/missing");
    check_broken(&server, &plan, "10 x status 404", 0);

    let server = Server::start(Way::Short);
    let cause = "10 x connection closed in mid-answer";
    check_broken(&server, &server.plan(0), cause, 0);

    let server = Server::start(Way::CloseAfter(0));
    let cause = "10 x connection closed without an answer";
    check_broken(&server, &server.plan(0), cause, 0);

    let server = Server::start(Way::Silent);
    let plan = PagePlan {
        until: Until::Pages(1),
        timeout: Duration::from_millis(150),
        ..server.plan(0)
    };
    check_broken(&server, &plan, "1 x no whole answer within 150ms", 0);
}

#[test]
fn a_server_that_is_gone_ends_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server {
        address: listener.local_addr().unwrap(),
        requests: Arc::default(),
        connections: Arc::default(),
    };
    drop(listener);
    let plan = PagePlan {
        until: Until::Span(Duration::from_secs(3600)),
        ..server.plan(0)
    };
    check_broken(&server, &plan, "1000 x connect: Connection refused", 0);
}

#[test]
fn somebody_who_wants_an_end_gets_it() {
    let server = Server::start(Way::Silent);
    let is_asked = AtomicBool::new(false);
    let is_stopped = || is_asked.swap(true, Ordering::SeqCst);
    let outcome = measure(&server.plan(0), &server.endpoint(), &is_stopped).unwrap();
    assert!(outcome.is_stopped);
}

#[test]
fn a_document_can_be_looked_at() {
    let server = Server::start(Way::Chunked);
    let patience = Patience {
        timeout: Duration::from_secs(30),
        is_stopped: &|| false,
    };
    let page = server.plan(0).page;
    assert_eq!(
        load(&page, &server.endpoint(), &patience).unwrap(),
        b"onetwo"
    );
    let server = Server::start(Way::Well);
    let page = server.plan(0).page.with_path("/missing");
    let error = load(&page, &server.endpoint(), &patience)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("/missing: status 404, not 200"), "{error}");
}
