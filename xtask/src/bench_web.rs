//! `cargo xtask bench web`: what those who look at a run cost it. Trials with a page and with
//! clients of several kinds are interleaved with trials without; ratios are taken within a round,
//! then the median.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};
use serde_json::Value;

use crate::bench::{BenchDirectory, BenchPlan, median, number};

/// Connections that are opened and say nothing.
const IDLE: usize = 1000;
/// Clients that are slow, or hasty: as many as a listener has slots.
const SLOTS: usize = 16;
/// What a slow one takes of the kernel: most of its answer waits at the other side.
const SMALL_BUFFER: usize = 1 << 10;
/// Requests that a hasty one sends with each connection.
const ASKED: usize = 400;
/// The file in memory is no larger.
const FILE_MIB_MAX: u64 = 64;
/// How often a client looks whether the trial is over, or the page is there.
const LOOK: Duration = Duration::from_millis(20);

/// Who looks at a run.
#[derive(Clone, Copy, Debug)]
enum Audience {
    /// There is no page.
    None,
    /// A page, and nobody.
    Nobody,
    Idle,
    /// Those who ask for the page and its feed, and read a byte at a time.
    Slow,
    /// Those who ask, read nothing, and ask again.
    Hasty,
    /// One who follows the run, as a browser does.
    Follower,
}

impl Audience {
    const WITH_PAGE: [Self; 5] = [
        Self::Nobody,
        Self::Idle,
        Self::Slow,
        Self::Hasty,
        Self::Follower,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::None => "no page",
            Self::Nobody => "a page, no client",
            Self::Idle => "1,000 idle connections",
            Self::Slow => "16 slow readers",
            Self::Hasty => "16 ask without a pause",
            Self::Follower => "a page open",
        }
    }

    /// Look at the run that serves its page at `at`, until it is over.
    fn look(self, at: SocketAddr, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) && TcpStream::connect(at).is_err() {
            std::thread::sleep(LOOK);
        }
        match self {
            Self::None | Self::Nobody => {}
            Self::Idle => {
                let idle: Vec<_> = (0..IDLE).map_while(|_| begun(at).ok()).collect();
                wait_for(is_over);
                drop(idle);
            }
            Self::Slow => std::thread::scope(|scope| {
                for number in 0..SLOTS {
                    let path = ["/", "/events"][number % 2];
                    scope.spawn(move || read_slowly(at, path, is_over));
                }
            }),
            Self::Hasty => std::thread::scope(|scope| {
                for _ in 0..SLOTS {
                    scope.spawn(|| ask_and_read_nothing(at, is_over));
                }
            }),
            Self::Follower => follow(at, is_over),
        }
    }
}

/// The latency of a trial, nanoseconds, and its rate.
#[derive(Clone, Copy, Debug)]
struct WebFigure {
    median_ns: f64,
    p99_ns: f64,
    per_second: f64,
}

/// Measure, and print a table.
pub fn bench_web(options: &[&str]) -> Result<()> {
    let mut plan = BenchPlan::parse(options)?;
    plan.file_mib = plan.file_mib.min(FILE_MIB_MAX);
    std::fs::create_dir_all(&plan.folder)?;
    let scratch = BenchDirectory::new(&plan)?;
    let mut rounds: Vec<Vec<(WebFigure, WebFigure)>> = Vec::new();
    for round in 0..plan.rounds {
        let of_audience = Audience::WITH_PAGE.into_iter().map(|audience| {
            // Whoever goes second may find the machine warmer: take turns.
            let order = match round % 2 {
                0 => [Audience::None, audience],
                _ => [audience, Audience::None],
            };
            let [first, second] = order.map(|it| measured(&plan, &scratch, it));
            let (first, second) = (first?, second?);
            Ok(if round % 2 == 0 {
                (first, second)
            } else {
                (second, first)
            })
        });
        rounds.push(of_audience.collect::<Result<_>>()?);
    }
    println!(
        "{:24} {:>10} {:>7} {:>10} {:>7} {:>9} {:>7}",
        "who looks", "p50", "ratio", "p99", "ratio", "IOPS", "ratio"
    );
    for (number, audience) in Audience::WITH_PAGE.iter().enumerate() {
        let of = |pick: &dyn Fn(&(WebFigure, WebFigure)) -> f64| {
            median(rounds.iter().map(|round| pick(&round[number])).collect())
        };
        println!(
            "{:24} {:>7.0} ns {:>7.3} {:>7.0} ns {:>7.3} {:>9.0} {:>7.3}",
            audience.name(),
            of(&|it| it.1.median_ns),
            of(&|it| it.1.median_ns / it.0.median_ns),
            of(&|it| it.1.p99_ns),
            of(&|it| it.1.p99_ns / it.0.p99_ns),
            of(&|it| it.1.per_second),
            of(&|it| it.1.per_second / it.0.per_second),
        );
    }
    Ok(())
}

/// A trial on a file in memory, where every microsecond of others is seen.
fn measured(plan: &BenchPlan, scratch: &BenchDirectory, audience: Audience) -> Result<WebFigure> {
    let at = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let mut command = Command::new(&plan.seekstone);
    command.arg("trial").arg(&scratch.memory);
    command.args(["--buffered", "--driver", "threads", "--workers", "1"]);
    command.args(["--json", "-", "--no-save", "--quiet", "--duration"]);
    command.arg(format!("{}ms", (plan.seconds * 1000.0) as u64));
    if !matches!(audience, Audience::None) {
        command.arg(format!("--live={at}"));
    }
    let is_over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        scope.spawn(|| audience.look(at, &is_over));
        let output = command.output();
        is_over.store(true, Ordering::Relaxed);
        output
    });
    let output = output.context("running seekstone")?;
    let document: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let measurement = &document["measurements"][0];
    let percentiles = measurement["response"]["percentiles"].as_array();
    let percentile = |p: f64| {
        let mut all = percentiles.into_iter().flatten();
        let found = all.find(|it| it["p"].as_f64() == Some(p));
        number(&found.context("a percentile")?["estimate"]["value"])
    };
    Ok(WebFigure {
        median_ns: percentile(0.5)?,
        p99_ns: percentile(0.99)?,
        per_second: number(&measurement["throughput"]["value"])?,
    })
}

fn wait_for(is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
}

/// A connection that need not be taken by the other side yet.
fn begun(at: SocketAddr) -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let stream = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    match connect(&stream, &at) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(stream),
        Err(error) => Err(error),
    }
}

/// Ask for something, read a byte at a time, and ask again when the connection is dropped.
fn read_slowly(at: SocketAddr, path: &str, is_over: &AtomicBool) {
    let asked = || -> Result<TcpStream> {
        let stream = socket_with(
            AddressFamily::INET,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        set_socket_recv_buffer_size(&stream, SMALL_BUFFER)?;
        connect(&stream, &at)?;
        let mut stream = TcpStream::from(stream);
        stream.set_read_timeout(Some(LOOK))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {at}\r\n\r\n")?;
        Ok(stream)
    };
    while !is_over.load(Ordering::Relaxed) {
        let mut stream = asked().ok();
        while !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
            match stream.as_mut().map(|it| it.read(&mut [0])) {
                Some(Ok(1)) => {}
                Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => {}
                _ => break,
            }
        }
    }
}

/// Ask for pages, read nothing, and begin again at once.
fn ask_and_read_nothing(at: SocketAddr, is_over: &AtomicBool) {
    let request = format!("GET / HTTP/1.1\r\nHost: {at}\r\n\r\n");
    while !is_over.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(at) else {
            std::thread::sleep(LOOK);
            continue;
        };
        let _ = stream.set_write_timeout(Some(LOOK));
        let _ = (0..ASKED).try_for_each(|_| stream.write_all(request.as_bytes()));
    }
}

/// Read the page, and what it is told.
fn follow(at: SocketAddr, is_over: &AtomicBool) {
    let ask = |path: &str| -> std::io::Result<()> {
        let mut stream = TcpStream::connect(at)?;
        stream.set_read_timeout(Some(LOOK))?;
        let close = "Connection: close";
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {at}\r\n{close}\r\n\r\n"
        )?;
        let mut piece = [0; 4096];
        while !is_over.load(Ordering::Relaxed) {
            match stream.read(&mut piece) {
                Ok(0) => break,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => drop(read?),
            }
        }
        Ok(())
    };
    let _ = ask("/").and_then(|()| ask("/events"));
}
