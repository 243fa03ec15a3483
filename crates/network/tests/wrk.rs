//! Beside wrk, on the same nginx with the same number of connections, in turns: ours, theirs,
//! theirs, ours, so that a machine that grows slower or faster favours nobody. The server has a
//! processor of its own, and both clients the other one: where the system would put them changes
//! rates by more than what is to be told. Processor time per request is told as well.
//!
//! Speeds are no matter for a test that everybody runs, so this one is called by name:
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

use network::Endpoint;
use network::http::{PagePlan, Reuse, Until, measure};
use network::processor::MeasuredProcess;
use network::url::Url;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Rounds of four measurements.
const ROUNDS: usize = 10;
const SPAN: Duration = Duration::from_secs(1);
const CONNECTIONS: usize = 16;

/// nginx with one worker, ended when dropped.
struct Nginx {
    child: Child,
    address: SocketAddr,
}

impl Nginx {
    fn start(folder: &Path, processor: Option<usize>) -> Self {
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
            "daemon off; user root; worker_processes 1; {place} pid {pid}; error_log {log};\n\
             events {{ worker_connections 256; }}\n\
             http {{ access_log off; sendfile on; keepalive_requests 1000000000; {paths}\n\
             server {{ listen {address}; root {root}; }} }}\n",
            place = processor.map_or_else(String::new, |it| {
                format!("worker_cpu_affinity 1{};", "0".repeat(it))
            }),
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

/// The server's processor and that of the clients, where there are two. The calling thread, and wrk
/// with it, stays on the second.
fn processors() -> Option<usize> {
    let allowed = sched_getaffinity(None).unwrap();
    let mut numbers = (0..CpuSet::MAX_CPU).filter(|number| allowed.is_set(*number));
    let (server, clients) = (numbers.next()?, numbers.next()?);
    let mut own = CpuSet::new();
    own.set(clients);
    sched_setaffinity(None, &own).unwrap();
    Some(server)
}

/// One measurement.
#[derive(Clone, Copy, Default)]
struct Load {
    per_second: f64,
    requests: f64,
    cpu: Duration,
}

impl Load {
    /// Two measurements as one.
    fn and(self, other: Self) -> Self {
        Self {
            per_second: f64::midpoint(self.per_second, other.per_second),
            requests: self.requests + other.requests,
            cpu: self.cpu + other.cpu,
        }
    }

    fn cpu_us(self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.requests
    }
}

/// With the processor time that this process and its children have used for it.
fn timed(work: impl FnOnce() -> Load) -> Load {
    let own = || {
        MeasuredProcess::Process(std::process::id())
            .processor_time()
            .unwrap()
    };
    let before = own();
    let load = work();
    Load {
        cpu: own().saturating_sub(before),
        ..load
    }
}

fn ours(address: SocketAddr) -> Load {
    let plan = PagePlan {
        page: Url::parse(&format!("http://{address}/1k")).unwrap(),
        objects: Vec::new(),
        clients: CONNECTIONS,
        connections: 1,
        reuse: Reuse::Kept,
        until: Until::Span(SPAN),
        timeout: Duration::from_secs(10),
    };
    let endpoint = Endpoint::of(&plan.page, None).unwrap();
    let outcome = measure(&plan, &endpoint, &|| false).unwrap();
    assert_eq!(outcome.faults.to_string(), "");
    Load {
        per_second: outcome.requests_counted as f64 / outcome.counted.as_secs_f64(),
        requests: outcome.requests as f64,
        ..Load::default()
    }
}

fn theirs(address: SocketAddr) -> Load {
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
    let per_second = line.expect("a rate").trim().parse().expect("a number");
    let line = said.lines().find(|line| line.contains(" requests in "));
    let count = line.expect("a count").split_whitespace().next();
    Load {
        per_second,
        requests: count.expect("a number").parse().expect("a number"),
        ..Load::default()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

#[test]
#[ignore = "measures speeds: run it by name, in release, on a quiet machine"]
fn requests_per_second_agree_with_wrk() {
    let folder = tempfile::tempdir().unwrap();
    let nginx = Nginx::start(folder.path(), processors());
    let ours = || timed(|| ours(nginx.address));
    let theirs = || timed(|| theirs(nginx.address));
    let (_, _) = (ours(), theirs());
    let mut ratios = Vec::new();
    let mut all = [Load::default(); 2];
    for _ in 0..ROUNDS {
        let begun = ours();
        let between = theirs().and(theirs());
        let around = begun.and(ours());
        let ratio = around.per_second / between.per_second;
        println!(
            "seekstone {:.0}/s, {:.2} us of processor each; wrk {:.0}/s, {:.2} us: {ratio:.3}",
            around.per_second,
            around.cpu_us(),
            between.per_second,
            between.cpu_us(),
        );
        ratios.push(ratio);
        all = [all[0].and(around), all[1].and(between)];
    }
    let ratio = median(ratios);
    let [own, other] = all.map(Load::cpu_us);
    println!(
        "median of {ROUNDS}: {ratio:.3}; processor time {:.3} of wrk's",
        own / other
    );
    assert!((0.95..=1.05).contains(&ratio), "{ratio}");
}
