//! Measurements over a network: settings, readings, and a bucket of a real server.

#![allow(
    clippy::print_stderr,
    reason = "cargo shows what a test says only if it is printed"
)]

#[cfg(feature = "s3")]
#[path = "network/bucket.rs"]
mod bucket;
#[cfg(feature = "s3")]
#[path = "network/s3_server.rs"]
mod s3_server;
#[cfg(feature = "tls")]
#[path = "../../network/tests/tls_front/mod.rs"]
mod tls_front;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use host::interrupt::Interrupt;
use kinds::measure::{MeasureError, ReplicateContext, measuring};
use results::Reading;
use tempfile::TempDir;
#[cfg(feature = "tls")]
use tls_front::TlsFront;
use units::Bytes;

fn place() -> (TempDir, ReplicateContext) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut place = ReplicateContext::new(directory.path().display().to_string(), 7);
    place.reserve = Some(Bytes::from_mib(64));
    (directory, place)
}

fn refused(kind: &str, settings: &str) -> String {
    let table = settings.parse().expect("TOML");
    let fault = measuring(kind, &table).expect_err("wrong settings");
    fault.message
}

fn measured(
    kind: &str,
    settings: &str,
    place: &ReplicateContext,
) -> Result<Vec<Reading>, MeasureError> {
    let table = settings.parse().expect("TOML");
    let measurement = measuring(kind, &table);
    let measurement = measurement.unwrap_or_else(|fault| panic!("{kind}: {fault}"));
    measurement.check(place)?;
    measurement.measure(place, &Interrupt::never())
}

#[track_caller]
fn reading(readings: &[Reading], name: &str) -> f64 {
    let found = readings.iter().find(|reading| reading.name == name);
    found
        .unwrap_or_else(|| panic!("no {name:?} in {readings:?}"))
        .value
}

/// A server of a page with two images, for as long as the test program runs.
fn web_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            // What a client does to its connection is no failure of the server.
            thread::spawn(move || drop(answer(stream.expect("a client"))));
        }
    });
    address
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while let Some(first) = lines.next().transpose()? {
        let _: Vec<String> = lines
            .by_ref()
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        let (status, body) = match first.split(' ').nth(1) {
            Some("/page") => ("200 OK", "<img src=a.gif><img src=b.gif>"),
            Some("/elsewhere") => ("200 OK", "<img src=http://127.0.0.9/a.gif>"),
            Some("/a.gif" | "/b.gif") => ("200 OK", "GIF"),
            _ => ("404 Not Found", ""),
        };
        let length = body.len();
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(text.as_bytes())?;
    }
    Ok(())
}

#[test]
fn mistakes_in_settings_are_named() {
    let check = |kind: &str, settings: &str, expected: &str| {
        let message = refused(kind, settings);
        assert!(message.contains(expected), "{message}");
    };
    check("http", "", "http needs url");
    if !cfg!(feature = "tls") {
        let expected = "no encrypted connections (https): install a package, or build with";
        check("http", "url = \"https://a/\"", expected);
    }
    let scheme = "does not begin with http:// or https://";
    check("http", "url = \"ftp://a/\"", scheme);
    let page = "url = \"http://a/\"\n";
    check(
        "http",
        &format!("{page}objects = \"all\""),
        "neither \"inlined\" nor \"none\"",
    );
    check(
        "http",
        &format!("{page}objects = [\"a b\"]"),
        "no path of a server",
    );
    check(
        "http",
        &format!("{page}pages = 1\ntime = \"1s\""),
        "exclude each other",
    );
    check(
        "http",
        &format!("{page}reuse = \"never\""),
        "\"cold\", \"kept\"",
    );
    check("http", &format!("{page}clients = 0"), "from 1 to 4096");
    check("ftp", "url = \"http://a/\"", "does not begin with ftp://");
    let store = "url = \"ftp://a/f\"\ndirection = \"store\"\n";
    check(
        "ftp",
        &format!("{store}extent = \"1MiB\""),
        "direction = \"retrieve\" only",
    );
    let nowhere = "url = \"ftp://a/f\"\nlocal = \"nowhere\"\n";
    for more in ["extent = \"1MiB\"", "synced = true"] {
        let settings = format!("{nowhere}{more}");
        check("ftp", &settings, "local = \"nowhere\" writes none");
    }
    let nothing = format!("{nowhere}extent = 0\nsynced = false")
        .parse()
        .expect("TOML");
    measuring("ftp", &nothing).expect("nothing that would be left out");
    check(
        "ftp",
        "url = \"ftp://a/f\"\ncongestion = \"reno\"",
        "congestion is how a sender adapts",
    );
    check("tcp", "address = \"localhost\"", "write it in numbers");
    check("tcp", "window = \"1k\"", "a size from 2 KiB");
    for nobody in ["0.0.0.0", "::", "224.0.0.1"] {
        check("tcp", &format!("address = \"{nobody}\""), "no host has it");
    }
    let (_directory, mut place) = place();
    let error = measured("tcp", "congestion = \"nope\"", &place).expect_err("no such thing");
    let text = error.to_string();
    assert!(text.contains("no algorithm of that name"), "{text}");
    place.target = "sim:mm1".into();
    let error = measured("tcp", "", &place).expect_err("a model");
    assert!(matches!(error, MeasureError::Usage(_)), "{error}");
}

#[test]
fn authorities_are_refused_where_nothing_is_encrypted() {
    for (kind, settings) in [
        ("http", "url = \"http://a/\""),
        ("archive", ""),
        ("retrieve", "store = \"s3://a/b\""),
    ] {
        let message = refused(kind, &format!("{settings}\nca = \"a.pem\""));
        assert!(
            message.contains("ca checks a server at https://"),
            "{message}"
        );
    }
}

/// Story: each connection above the limit was a failed request, and the server was blamed.
#[test]
fn more_connections_than_the_system_allows_are_refused() {
    use rustix::process::{Resource, getrlimit};
    let (_directory, place) = place();
    let settings = "url = \"http://127.0.0.1:1/\"\nclients = 4096\nconnections = 64";
    let table = settings.parse().expect("TOML");
    let measurement = measuring("http", &table).expect("settings");
    let allowed = getrlimit(Resource::Nofile).maximum;
    let checked = measurement.check(&place);
    if allowed.is_some_and(|allowed| allowed < 4096 * 64) {
        let text = checked.expect_err("too many").to_string();
        assert!(
            text.contains("clients = 4096 with connections = 64: "),
            "{text}"
        );
    }
}

#[test]
fn a_page_is_loaded_with_its_images() {
    let (directory, place) = place();
    let server = web_server();
    let page = format!("url = \"http://{server}/page\"\npages = 7\n");
    let readings = measured("http", &page, &place).expect("readings");
    assert!((reading(&readings, "connections") - 1.0 / 21.0).abs() < 1e-9);
    let (page_time, rate) = (
        reading(&readings, "page time"),
        reading(&readings, "request rate"),
    );
    // Three requests a page, one page after the other: no page takes longer than all seven.
    assert!(
        page_time > 0.0 && page_time <= 21.0 / rate * 1.001,
        "{page_time} {rate}"
    );
    let cold = format!("{page}reuse = \"cold\"\nserver = {}", std::process::id());
    let readings = measured("http", &cold, &place).expect("readings");
    assert!((reading(&readings, "connections") - 1.0).abs() < 1e-9);
    assert!(reading(&readings, "server CPU") >= 0.0 && reading(&readings, "client CPU") > 0.0);
    assert_eq!(std::fs::read_dir(directory.path()).expect("it").count(), 0);
}

#[cfg(feature = "tls")]
#[test]
fn an_encrypted_page_is_loaded_from_a_server_that_proves_who_it_is() {
    let (_directory, place) = place();
    let server = TlsFront::start(web_server());
    let (named, ca) = (server.named(), server.ca.path().display());
    let page = format!("url = \"https://{named}/page\"\npages = 7\n");
    let known = format!("{page}ca = \"{ca}\"");
    let readings = measured("http", &known, &place).expect("readings");
    assert!((reading(&readings, "connections") - 1.0 / 21.0).abs() < 1e-9);
    let error = measured("http", &page, &place).expect_err("an unknown authority");
    let text = error.to_string();
    let advice = "UnknownIssuer. Name the file of its authority's certificate with ca";
    assert!(
        text.contains(advice) || text.contains("ca-certificates"),
        "{text}"
    );
}

#[test]
fn what_fails_is_an_error_or_counted() {
    let (_directory, place) = place();
    let server = web_server();
    let check = |settings: &str, expected: &str| {
        let error = measured("http", settings, &place)
            .expect_err("a failure")
            .to_string();
        assert!(error.contains(expected), "{error}");
    };
    let page = format!("url = \"http://{server}/page\"\npages = 2\n");
    let objects = format!("{page}objects = [\"/a.gif\", \"/no.gif\"]\n");
    check(&objects, "2 of 6 requests failed (2 x status 404");
    check(
        &format!("url = \"http://{server}/no\""),
        "status 404, not 200",
    );
    check(
        &format!("url = \"http://{server}/elsewhere\""),
        "lie on other servers",
    );
    check(
        &format!("{page}server = \"nobody-is-called-so\""),
        "no process",
    );
    check(
        &format!("{page}namespace = \"seekstone-nobody\""),
        "ip netns list",
    );
    let counted = format!("{objects}failures = \"counted\"");
    let readings = measured("http", &counted, &place).expect("readings");
    assert!((reading(&readings, "failed requests") - 2.0).abs() < 1e-9);
}

#[test]
fn a_stream_on_loopback_has_a_rate() {
    let (_directory, place) = place();
    let readings = measured("tcp", "size = \"1MiB\"", &place).expect("readings");
    for name in ["rate", "round trip", "sender CPU", "receiver CPU"] {
        assert!(reading(&readings, name) > 0.0, "{name}: {readings:?}");
    }
}

#[cfg(not(feature = "s3"))]
#[test]
fn a_build_without_buckets_says_how_to_get_them() {
    let (_directory, place) = place();
    let error = measured("archive", "store = \"s3://a/b\"", &place).expect_err("none");
    let expected = "this build has no S3 buckets: install a package, or build with";
    assert!(error.to_string().contains(expected), "{error}");
}
