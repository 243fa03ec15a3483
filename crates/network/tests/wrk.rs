//! Beside wrk, on the same nginx with the same number of connections, one after the other and
//! again. Speeds are no matter for a test that everybody runs, so this one is called by name:
//!
//! ```sh
//! cargo test --release -p network --test wrk -- --ignored --nocapture
//! ```

#![allow(
    clippy::print_stdout,
    reason = "cargo shows what a test says only if it is printed"
)]

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use network::http::{PagePlan, Reuse, Until, measure};
use network::url::Url;

const ROUNDS: usize = 10;
const SPAN: Duration = Duration::from_secs(1);
const CONNECTIONS: usize = 16;

/// nginx with one worker, ended when dropped.
struct Nginx {
    child: Child,
    address: SocketAddr,
}

impl Nginx {
    fn start(folder: &Path) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let inside = |name: &str| folder.join(name).display().to_string();
        fs::create_dir(folder.join("www")).unwrap();
        fs::write(folder.join("www/1k"), vec![b'x'; 1024]).unwrap();
        let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|it| format!("{it}_temp_path {};", inside(it)))
            .collect();
        let text = format!(
            "daemon off; user root; worker_processes 1; pid {pid}; error_log {log};\n\
             events {{ worker_connections 256; }}\n\
             http {{ access_log off; sendfile on; keepalive_requests 1000000000; {paths}\n\
             server {{ listen {address}; root {root}; }} }}\n",
            pid = inside("pid"),
            log = inside("log"),
            root = inside("www"),
        );
        fs::write(folder.join("conf"), text).unwrap();
        let child = Command::new("nginx")
            .args([
                "-p",
                &inside(""),
                "-c",
                &inside("conf"),
                "-e",
                &inside("log"),
            ])
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx");
        let server = Self { child, address };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(begun.elapsed().as_secs() < 20, "nginx does not answer");
            std::thread::yield_now();
        }
        server
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let master = rustix::process::Pid::from_child(&self.child);
        // The master ends its worker.
        let _ = rustix::process::kill_process(master, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

fn ours(address: SocketAddr) -> f64 {
    let plan = PagePlan {
        page: Url::parse(&format!("http://{address}/1k")).unwrap(),
        objects: Vec::new(),
        clients: CONNECTIONS,
        connections: 1,
        reuse: Reuse::Kept,
        until: Until::Span(SPAN),
        timeout: Duration::from_secs(10),
    };
    let outcome = measure(&plan, address, &|| false).unwrap();
    assert_eq!(outcome.faults.to_string(), "");
    outcome.requests_counted as f64 / outcome.counted.as_secs_f64()
}

fn theirs(address: SocketAddr) -> f64 {
    let output = Command::new("wrk")
        .args([
            "-t1",
            &format!("-c{CONNECTIONS}"),
            &format!("-d{}s", SPAN.as_secs()),
        ])
        .arg(format!("http://{address}/1k"))
        .output()
        .expect("wrk");
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("Requests/sec:"));
    line.expect("a rate").trim().parse().expect("a number")
}

#[test]
#[ignore = "measures speeds: run it by name, in release, on a quiet machine"]
fn requests_per_second_agree_with_wrk() {
    let folder = tempfile::tempdir().unwrap();
    let nginx = Nginx::start(folder.path());
    let (_, _) = (ours(nginx.address), theirs(nginx.address));
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|round| {
            let (first, second) = match round % 2 {
                0 => (ours(nginx.address), theirs(nginx.address)),
                _ => {
                    let theirs = theirs(nginx.address);
                    (ours(nginx.address), theirs)
                }
            };
            println!(
                "seekstone {first:.0}/s, wrk {second:.0}/s: {:.3}",
                first / second
            );
            first / second
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let median = f64::midpoint(ratios[ROUNDS / 2 - 1], ratios[ROUNDS / 2]);
    println!("median of {ROUNDS}: {median:.3}");
    assert!((0.95..=1.05).contains(&median), "{median}");
}
