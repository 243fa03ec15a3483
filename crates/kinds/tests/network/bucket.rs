//! A bucket of a real server, in clear and encrypted.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::tls_front::TlsFront;
use super::{measured, place, reading};

/// An S3 server in memory, ended when dropped.
struct Moto {
    child: Child,
    address: SocketAddr,
}

impl Moto {
    /// `None`, with a message, where it is not installed.
    fn start() -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address");
        drop(free);
        let started = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", &address.port().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = match started {
            Ok(child) => child,
            Err(error) => {
                eprintln!("skipped: a bucket of a real server: moto_server: {error}");
                return None;
            }
        };
        let mut server = Self { child, address };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = server.child.try_wait().expect("a child");
            if ended.is_some() || begun.elapsed() > Duration::from_secs(60) {
                eprintln!("skipped: a bucket of a real server: moto_server does not start");
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

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The keys come from the environment, which belongs to a whole process: this test again, in one
/// of its own.
#[test]
fn files_are_put_into_a_bucket_and_got_back_and_removed() {
    let Some(server) = Moto::start() else {
        return;
    };
    assert!(server.ask("PUT", "/bkt").contains(" 200 "), "a bucket");
    let program = std::env::current_exe().expect("our own program");
    let front = TlsFront::start(server.address);
    let named = front.named();
    let ca = format!("ca = \"{}\"\n", front.ca.path().display());
    let ways = [
        (format!("s3://{}/bkt", server.address), String::new()),
        (format!("s3:https://{named}/bkt"), ca),
    ];
    for (store, ca) in ways {
        let ended = Command::new(&program)
            .args(["--exact", "bucket::case_bucket", "--ignored", "--nocapture"])
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("STORE", format!("store = \"{store}\"\n{ca}"))
            .output();
        let ended = ended.expect("a second process");
        let said = String::from_utf8_lossy(&ended.stdout);
        let complaint = String::from_utf8_lossy(&ended.stderr);
        assert!(
            ended.status.success() && said.contains("1 passed"),
            "{said}{complaint}"
        );
    }
    let listing = server.ask("GET", "/bkt?list-type=2");
    assert!(
        listing.contains(" 200 ") && !listing.contains("<Key>"),
        "{listing}"
    );
}

#[test]
#[ignore = "reads its environment: run by another test"]
fn case_bucket() {
    let (_directory, place) = place();
    let store = std::env::var("STORE").expect("an address");
    let settings = format!("{store}files = 5\nsize = \"100KiB\"\nat-once = 2");
    let put = measured("archive", &settings, &place).expect("readings");
    assert!(reading(&put, "archive rate") > 0.0);
    let got = measured("retrieve", &settings, &place).expect("readings");
    assert!(reading(&got, "retrieve rate") > 0.0);
    let missing = settings.replace("/bkt", "/nobody");
    let error = measured("archive", &missing, &place)
        .expect_err("no such bucket")
        .to_string();
    assert!(error.contains("status 404"), "{error}");
}

#[test]
fn a_server_that_does_not_prove_who_it_is_gets_no_request() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
    let front = TlsFront::start(nobody.local_addr().expect("an address"));
    let program = std::env::current_exe().expect("our own program");
    let ended = Command::new(program)
        .args([
            "--exact",
            "bucket::case_refused",
            "--ignored",
            "--nocapture",
        ])
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("STORE", front.address.to_string())
        .env("CA", front.ca.path())
        .output();
    let said = ended.expect("a second process").stdout;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "reads its environment: run by another test"]
fn case_refused() {
    let (_directory, place) = place();
    let variable = |name: &str| std::env::var(name).expect(name);
    let settings = format!(
        "store = \"s3:https://{}/bkt\"\nca = \"{}\"",
        variable("STORE"),
        variable("CA")
    );
    let error = measured("archive", &settings, &place).expect_err("another name");
    let text = error.to_string();
    assert!(
        text.contains("connect: ") && text.contains("not valid for name"),
        "{text}"
    );
}
