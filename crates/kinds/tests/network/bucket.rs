//! Buckets: files that are archived into one, and object stores that are measured, in clear and
//! encrypted, on a server of our own and on real ones.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kinds::measure::s3::BucketLeftovers;
use results::WarningCode;

use super::s3_server::{Faults, S3Server, SECRET, TOKEN};
use super::tls_front::TlsFront;
use super::*;

/// A real S3 server, ended when dropped.
struct RealServer {
    child: Child,
    address: SocketAddr,
    /// What it keeps things in.
    _directory: TempDir,
}

impl RealServer {
    /// One in memory (PyPI's moto), which knows the bucket `bkt`. `None`, with a message, where it
    /// is not installed.
    fn moto() -> Option<Self> {
        let args = |port: u16| {
            [
                "-H".into(),
                "127.0.0.1".into(),
                "-p".into(),
                port.to_string(),
            ]
        };
        let server = Self::start("moto_server", args, |_| ())?;
        assert!(server.ask("PUT", "/bkt").contains(" 200 "), "a bucket");
        Some(server)
    }

    /// One that keeps objects in a directory, and checks signatures (crates.io's s3s-fs).
    fn s3s_fs() -> Option<Self> {
        Self::start(
            "s3s-fs",
            |port| {
                let words = [
                    "--host",
                    "127.0.0.1",
                    "--access-key",
                    "test",
                    "--secret-key",
                    SECRET,
                ];
                let port = ["--port".to_owned(), port.to_string(), ".".into()];
                words.into_iter().map(str::to_owned).chain(port)
            },
            |directory| std::fs::create_dir(directory.path().join("bkt")).expect("a bucket"),
        )
    }

    fn start<A: IntoIterator<Item = String>>(
        program: &str,
        args: impl Fn(u16) -> A,
        prepare: impl Fn(&TempDir),
    ) -> Option<Self> {
        let skipped = |why: &str| eprintln!("skipped: a bucket of a real server: {program} {why}");
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address");
        drop(free);
        let directory = tempfile::tempdir().expect("a directory");
        prepare(&directory);
        let started = Command::new(program)
            .args(args(address.port()))
            .current_dir(directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = match started {
            Ok(child) => child,
            Err(error) => {
                skipped(&error.to_string());
                return None;
            }
        };
        let mut server = Self {
            child,
            address,
            _directory: directory,
        };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = server.child.try_wait().expect("a child");
            if ended.is_some() || begun.elapsed() > Duration::from_secs(60) {
                skipped("does not start");
                return None;
            }
            thread::yield_now();
        }
        Some(server)
    }

    fn ask(&self, method: &str, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("the server");
        let head = "HTTP/1.1\r\nHost: s3\r\nConnection: close\r\nContent-Length: 0";
        let request = format!("{method} {path} {head}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        std::io::read_to_string(stream).expect("an answer")
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a measurement gave, in a process of its own: keys come from the environment.
struct Found {
    readings: BTreeMap<String, f64>,
    warnings: String,
    /// Empty where it went well.
    error: String,
}

/// The account of the servers of tests.
const KEYS: [(&str, &str); 3] = [
    ("AWS_ACCESS_KEY_ID", "test"),
    ("AWS_SECRET_ACCESS_KEY", SECRET),
    ("HOME", "/nonexistent"),
];

fn measured_as(kind: &str, target: &str, settings: &str, variables: &[(&str, &str)]) -> Found {
    let program = std::env::current_exe().expect("our own program");
    let ended = Command::new(program)
        .args(["--exact", "bucket::case", "--ignored", "--nocapture"])
        .env_clear()
        .envs(KEYS)
        .envs(variables.iter().copied())
        .envs([("KIND", kind), ("TARGET", target), ("SETTINGS", settings)])
        .output()
        .expect("a second process");
    let said = String::from_utf8_lossy(&ended.stdout);
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("1 passed"), "{said}{complaint}");
    assert!(!said.contains(SECRET), "a key is shown: {said}");
    let lines = |word: &'static str| said.lines().filter_map(move |it| it.strip_prefix(word));
    let reading = |line: &str| {
        let (name, value) = line.rsplit_once(' ').expect("a name and a value");
        (name.to_owned(), value.parse().expect("a number"))
    };
    Found {
        readings: lines("reading: ").map(reading).collect(),
        warnings: lines("warning: ").collect::<Vec<_>>().join("\n"),
        error: lines("error: ").collect(),
    }
}

#[test]
#[ignore = "reads its environment: run by other tests"]
#[allow(
    clippy::print_stdout,
    reason = "the test that starts it reads what it prints"
)]
fn case() {
    let variable = |name: &str| std::env::var(name).expect(name);
    let (_directory, mut place) = place();
    let target = variable("TARGET");
    if target.starts_with("s3:") {
        place.target = target.as_str().into();
    }
    let table = variable("SETTINGS").parse().expect("TOML");
    let measurement = measuring(&variable("KIND"), &table).expect("settings");
    let checked = measurement.check(&place);
    match checked.and_then(|()| measurement.measured(&place, &Interrupt::never())) {
        Ok(found) => {
            for it in found.readings {
                println!("reading: {} {}", it.name, it.value);
            }
            for it in found.warnings {
                println!("warning: {} {}", it.code, it.cause);
            }
        }
        Err(error) => println!("error: {error}"),
    }
}

/// A short load on objects of the server, which has none left afterwards.
#[track_caller]
fn objects(server: &S3Server, settings: &str) -> Found {
    let target = format!("s3://{}/bkt", server.address);
    let usual = "time = \"500ms\"\nobjects = 20\nsize = \"10KiB\"\nclients = 4\n";
    let mut all: toml::Table = usual.parse().expect("TOML");
    all.extend(settings.parse::<toml::Table>().expect("TOML"));
    let found = measured_as("objects", &target, &all.to_string(), &[]);
    let held = server.held();
    let left: Vec<&String> = held.objects.keys().collect();
    assert!(left.is_empty() && held.uploads.is_empty(), "{left:?}");
    found
}

/// What refuses it.
#[track_caller]
fn refused(faults: Faults, variables: &[(&str, &str)], expected: &str) {
    let server = S3Server::start(faults);
    let target = format!("s3://{}/bkt", server.address);
    let error = measured_as("objects", &target, "", variables).error;
    assert!(error.contains(expected), "{error}");
    assert!(server.held().objects.is_empty());
}

#[test]
fn a_mix_of_all_operations_has_times_and_leaves_nothing() {
    let server = S3Server::start(Faults::default());
    let found = objects(
        &server,
        "mix = \"get:put:head:list:delete\"\nconditional = true",
    );
    assert_eq!(found.error, "");
    for name in [
        "operation rate",
        "throughput",
        "latency",
        "time to first byte",
        "gets",
        "get latency",
        "puts",
        "heads",
        "lists",
        "delete latency",
        "client CPU",
    ] {
        assert!(found.readings[name] > 0.0, "{name}: {:?}", found.readings);
    }
    assert_eq!(found.readings["throttled answers"], 0.0);
    // Connections stay open.
    assert!(found.readings["connections"] < 0.2, "{:?}", found.readings);
}

#[test]
fn large_objects_go_in_parts_and_lists_in_pages_and_gets_in_ranges() {
    let server = S3Server::start(Faults::default());
    let settings = "size = \"5121KiB\"\npart = \"5MiB\"\nobjects = 2\npage = 1\nclients = 1\n\
                    time = \"5s\"\nrange = \"1000\"\nmix = \"get:list:put\"\nconditional = true";
    let found = objects(&server, settings);
    assert_eq!(found.error, "");
    assert!(found.readings["puts"] > 0.0 && found.readings["lists"] > 0.0);
    let held = server.held();
    // Two parts, between the first request and the last.
    assert_eq!(held.asked["PUT part"], held.asked["POST"]);
}

#[test]
fn an_encrypted_server_is_asked_in_either_style_if_it_proves_who_it_is() {
    let server = S3Server::start(Faults::default());
    let front = TlsFront::start(server.address);
    let ca = format!("time = \"200ms\"\nobjects = 4\nca = {:?}", front.ca.path());
    let target = format!("s3:https://{}/bkt", front.named());
    let found = measured_as("objects", &target, &ca, &[]);
    assert_eq!(found.error, "");
    assert!(found.readings["operation rate"] > 0.0);
    // The same server by the variable of Amazon's tools.
    let named = format!("https://{}", front.named());
    let found = measured_as("objects", "s3://bkt", &ca, &[("AWS_ENDPOINT_URL", &named)]);
    assert_eq!(found.error, "");
    let found = measured_as("objects", &target, "time = \"200ms\"", &[]);
    assert!(found.error.contains("ca"), "{}", found.error);
    let wrong = format!("s3:https://{}/bkt", front.address);
    let found = measured_as("objects", &wrong, &ca, &[]);
    assert!(
        found.error.contains("not valid for name"),
        "{}",
        found.error
    );
}

#[test]
fn a_store_that_asks_for_fewer_requests_is_left_alone_for_a_while() {
    let server = S3Server::start(Faults {
        throttled: Some(4),
        ..Faults::default()
    });
    let found = objects(&server, "");
    assert_eq!(found.error, "");
    assert!(found.readings["throttled answers"] > 0.0);
    let code = WarningCode::Throttled.to_string();
    assert!(found.warnings.contains(&code), "{}", found.warnings);
    let found = objects(&server, "retries = 0");
    let error = found.error;
    assert!(error.contains("status 503 SlowDown"), "{error}");
}

#[test]
fn failures_end_a_measurement_or_are_counted_by_what_the_server_says() {
    let broken = Faults {
        broken: Some(5),
        ..Faults::default()
    };
    let server = S3Server::start(broken);
    let found = objects(&server, "objects = 1\nmix = \"head\"");
    assert!(found.error.contains("HEAD: status 500"), "{}", found.error);
    let server = S3Server::start(broken);
    let found = objects(&server, "objects = 1\nmix = \"put\"\nerrors = \"count\"");
    assert_eq!(found.error, "");
    assert!(found.readings["failed requests"] > 0.0);
    assert!(
        found.warnings.contains("PUT: status 500 InternalError"),
        "{}",
        found.warnings
    );
}

#[test]
fn a_store_that_gives_other_bytes_back_is_not_trusted() {
    let server = S3Server::start(Faults {
        damages: true,
        ..Faults::default()
    });
    for errors in ["stop", "count"] {
        let error = objects(&server, &format!("errors = \"{errors}\"")).error;
        assert!(
            error.contains("other bytes than were put, from 0 on"),
            "{error}"
        );
    }
    assert_eq!(objects(&server, "verify = false").error, "");
}

#[test]
fn what_cannot_be_measured_is_refused_before_the_start_with_what_to_do() {
    let none = Faults::default();
    let with = |key, value| [(key, value)];
    refused(
        none,
        &with("AWS_SECRET_ACCESS_KEY", "wrong"),
        "SignatureDoesNotMatch",
    );
    refused(
        none,
        &with("AWS_ACCESS_KEY_ID", "wrong"),
        "Check AWS_ACCESS_KEY_ID",
    );
    refused(
        none,
        &with("AWS_ACCESS_KEY_ID", ""),
        "set AWS_ACCESS_KEY_ID and",
    );
    let skewed = Faults {
        is_skewed: true,
        ..none
    };
    refused(skewed, &[], "s ahead of the server's. Set it");
    let denying = Faults {
        denies: true,
        ..none
    };
    refused(denying, &[], "Allow s3:ListBucket");
    let versioned = Faults {
        keeps_versions: true,
        ..none
    };
    refused(versioned, &[], "the bucket keeps versions");
    let elsewhere = Faults {
        is_elsewhere: true,
        ..none
    };
    refused(elsewhere, &[], "Set AWS_REGION=mars-1");
    let wanting = Faults {
        wants_token: true,
        ..none
    };
    refused(wanting, &[], "AWS_SESSION_TOKEN");
    let server = S3Server::start(wanting);
    let target = format!("s3://{}/bkt", server.address);
    let settings = "time = \"200ms\"\nobjects = 2";
    let found = measured_as(
        "objects",
        &target,
        settings,
        &with("AWS_SESSION_TOKEN", TOKEN),
    );
    assert_eq!(found.error, "");
    let missing = format!("s3://{}/nobody", server.address);
    let error = measured_as(
        "objects",
        &missing,
        settings,
        &with("AWS_SESSION_TOKEN", TOKEN),
    )
    .error;
    assert!(
        error.contains("NoSuchBucket: no such bucket. Create it first"),
        "{error}"
    );
    let error = measured_as("objects", "s3://127.0.0.1:1/bkt", "", &[]).error;
    assert!(error.contains("connect: Connection refused"), "{error}");
}

/// The prefix of a run, and keys that look like it, in a bucket of somebody else.
#[test]
fn what_a_killed_run_left_is_found_and_removed_and_nothing_else_is() {
    let server = S3Server::start(Faults::default());
    let target = format!("s3://{}/bkt", server.address);
    let ours = format!("seekstone-{:032x}/", 7);
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let marker = format!("seekstone 1\nprefix {ours}\nhost {host}\nprocess 4194305\n");
    let others = [
        "seekstone-data/x".to_owned(),
        format!("seekstone-{:032x}/x", 8),
        "a".into(),
    ];
    {
        let mut held = server.held();
        let own = [".seekstone-run", "00000001", "00000002"];
        let own = own.iter().map(|it| format!("{ours}{it}"));
        for key in own.chain(others.clone()) {
            held.objects.insert(key, marker.clone().into_bytes());
        }
        let upload = (format!("{ours}00000003"), BTreeMap::new());
        held.uploads.insert("left".into(), upload);
        held.uploads
            .insert("other".into(), ("b".into(), BTreeMap::new()));
    }
    remove_left(&target, 1);
    let held = server.held();
    let mut left: Vec<&String> = held.objects.keys().collect();
    left.sort();
    let mut others: Vec<&String> = others.iter().collect();
    others.sort();
    assert_eq!(left, others);
    assert_eq!(held.uploads.keys().collect::<Vec<_>>(), ["other"]);
}

/// Remove so many prefixes of killed runs, in a process of its own.
#[track_caller]
fn remove_left(bucket: &str, count: usize) {
    let program = std::env::current_exe().expect("our own program");
    let ended = Command::new(program)
        .args(["--exact", "bucket::case_left", "--ignored", "--nocapture"])
        .env_clear()
        .envs(KEYS)
        .envs([("TARGET", bucket), ("COUNT", &count.to_string())])
        .output();
    let said = ended.expect("a second process").stdout;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "reads its environment: run by other tests"]
fn case_left() {
    let variable = |name: &str| std::env::var(name).expect(name);
    let left = BucketLeftovers::look(&variable("TARGET"), None).expect("a list");
    let found = &left.found;
    assert_eq!(found.len().to_string(), variable("COUNT"), "{found:?}");
    for one in found {
        assert_eq!((one.objects, &one.used_by), (3, &None));
        left.remove(one).expect("removed");
    }
}

/// The same on servers that others have written.
#[test]
fn real_servers_keep_what_is_put_and_are_left_empty() {
    let servers = [RealServer::moto(), RealServer::s3s_fs()];
    for server in servers.into_iter().flatten() {
        let front = TlsFront::start(server.address);
        let (clear, named) = (format!("s3://{}/bkt", server.address), front.named());
        let ca = format!("ca = {:?}\n", front.ca.path());
        for (bucket, ca) in [
            (clear, ""),
            (format!("s3:https://{named}/bkt"), ca.as_str()),
        ] {
            // A list of s3s-fs fails while another client deletes.
            for mix in ["get:put:head:delete", "get:list"] {
                let load = format!(
                    "{ca}mix = \"{mix}\"\nsize = \"1KiB/9:6MiB/1\"\npart = \"5MiB\"\n\
                     objects = 10\nclients = 2\ntime = \"1s\"\npage = 4"
                );
                let found = measured_as("objects", &bucket, &load, &[]);
                assert_eq!(found.error, "", "{bucket}");
                assert!(found.readings["operation rate"] > 0.0);
            }
            let files =
                format!("{ca}store = {bucket:?}\nfiles = 5\nsize = \"100KiB\"\nat-once = 2");
            for (kind, rate) in [("archive", "archive rate"), ("retrieve", "retrieve rate")] {
                let found = measured_as(kind, ".", &files, &[]);
                assert_eq!(found.error, "", "{bucket}");
                assert!(found.readings[rate] > 0.0);
            }
            let missing = bucket.replace("/bkt", "/nobody");
            let settings = format!("{ca}store = {missing:?}");
            let error = measured_as("archive", ".", &settings, &[]).error;
            assert!(error.contains("status 404 NoSuchBucket"), "{error}");
            if ca.is_empty() {
                remove_left(&bucket, 0);
            }
        }
    }
}
