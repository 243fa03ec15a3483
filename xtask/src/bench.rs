//! `cargo xtask bench`: what an I/O costs us, beside fio and beside a bare loop, in one interleaved
//! run. Each figure is the median of the rounds; ratios are taken within a round, then the median.
//!
//! CPU time per I/O is what each tool states of itself: fio its job's user and system time, we the
//! CPU time of the process without the thread that watches. Neither counts its start-up.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

use crate::source::root;

/// What to run and how long.
pub struct BenchPlan {
    pub rounds: usize,
    pub seconds: f64,
    pub file_mib: u64,
    pub seekstone: PathBuf,
    pub folder: PathBuf,
}

/// One figure of one tool.
#[derive(Clone, Copy, Debug, Default)]
struct BenchFigure {
    per_second: f64,
    cpu_ns: f64,
}

/// Measure, and print a table.
pub fn bench(options: &[&str]) -> Result<()> {
    let plan = BenchPlan::parse(options)?;
    std::fs::create_dir_all(&plan.folder)?;
    let scratch = BenchDirectory::new(&plan)?;
    println!(
        "{:34} {:>12} {:>12} {:>7} {:>10} {:>10} {:>7}",
        "case", "ours IOPS", "other IOPS", "ratio", "ours CPU", "other CPU", "ratio"
    );
    let has_fio = Command::new("fio").arg("--version").output().is_ok();
    if !has_fio {
        println!("fio is not installed: its lines are left out (apt-get install fio)");
    }
    if has_fio {
        plan.compare(
            "null driver / fio null",
            || plan.ours_null(),
            || plan.fio(&["--ioengine=null", "--size=1G"]),
        )?;
        for depth in [1_u32, 32, 128] {
            let name = format!("direct 4 KiB random read, depth {depth}");
            plan.compare(
                &name,
                || plan.ours_disk(&scratch.disk, depth),
                || {
                    plan.fio(&[
                        "--ioengine=io_uring",
                        "--direct=1",
                        &format!("--iodepth={depth}"),
                        &format!("--filename={}", scratch.disk.display()),
                    ])
                },
            )?;
        }
    }
    if has_fio {
        plan.compare_sequential(&scratch.disk)?;
    }
    plan.compare(
        "tmpfs 4 KiB / bare pread loop",
        || plan.ours_tmpfs(&scratch.memory),
        || plan.bare_loop(&scratch.memory),
    )?;
    if has_fio {
        plan.compare(
            "tmpfs 4 KiB / fio psync",
            || plan.ours_tmpfs(&scratch.memory),
            || {
                plan.fio(&[
                    "--ioengine=psync",
                    &format!("--filename={}", scratch.memory.display()),
                ])
            },
        )?;
    }
    Ok(())
}

impl BenchPlan {
    pub fn parse(options: &[&str]) -> Result<Self> {
        let mut plan = Self {
            rounds: 5,
            seconds: 4.0,
            file_mib: 1024,
            seekstone: root().join("target/release/seekstone"),
            folder: root().join("target/bench"),
        };
        let mut words = options.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .with_context(|| format!("{word} wants a value"))
            };
            match *word {
                "--tiny" => {
                    plan.rounds = 1;
                    plan.seconds = 0.3;
                    plan.file_mib = 16;
                }
                "--seconds" => plan.seconds = value()?.parse()?,
                "--rounds" => plan.rounds = value()?.parse()?,
                "--seekstone" => plan.seekstone = value()?.into(),
                "--folder" => plan.folder = value()?.into(),
                other => bail!("unknown option {other}"),
            }
        }
        if plan.rounds == 0 {
            bail!("--rounds must be at least 1");
        }
        if !plan.seekstone.exists() {
            bail!(
                "{} is missing: cargo build --release",
                plan.seekstone.display()
            );
        }
        Ok(plan)
    }

    fn compare(
        &self,
        name: &str,
        ours: impl Fn() -> Result<BenchFigure>,
        other: impl Fn() -> Result<BenchFigure>,
    ) -> Result<()> {
        let mut rows = Vec::new();
        for round in 0..self.rounds {
            // Whoever goes second may find the machine warmer: take turns.
            let (first, second) = if round % 2 == 0 {
                let first = ours()?;
                (first, other()?)
            } else {
                let second = other()?;
                (ours()?, second)
            };
            rows.push((first, second));
        }
        let of = |pick: &dyn Fn(&(BenchFigure, BenchFigure)) -> f64| {
            median(rows.iter().map(pick).collect())
        };
        println!(
            "{name:34} {:>12.0} {:>12.0} {:>7.3} {:>7.0} ns {:>7.0} ns {:>7.3}",
            of(&|row| row.0.per_second),
            of(&|row| row.1.per_second),
            of(&|row| row.0.per_second / row.1.per_second),
            of(&|row| row.0.cpu_ns),
            of(&|row| row.1.cpu_ns),
            of(&|row| row.0.cpu_ns / row.1.cpu_ns),
        );
        Ok(())
    }

    /// 1 MiB reads, four at a time; fio as it is, and with huge pages from the C library.
    fn compare_sequential(&self, file: &Path) -> Result<()> {
        const HUGE: &str = "glibc.malloc.hugetlb=1";
        let name = format!("--filename={}", file.display());
        for (case, tunables) in [("fio", ""), ("fio, huge pages", HUGE)] {
            self.compare(
                &format!("sequential 1 MiB x4 / {case}"),
                || self.ours_sequential(file),
                || {
                    let arguments = ["--rw=read", "--bs=1M", "--iodepth=4", "--direct=1", &name];
                    self.fio_tuned(tunables, "--ioengine=io_uring", &arguments)
                },
            )?;
        }
        Ok(())
    }

    fn ours(&self, arguments: &[&str]) -> Result<BenchFigure> {
        let duration = format!("{}ms", (self.seconds * 1000.0) as u64);
        let output = Command::new(&self.seekstone)
            .arg("trial")
            .args(arguments)
            .args([
                "--duration",
                &duration,
                "--json",
                "-",
                "--no-save",
                "--quiet",
                "--workers",
                "1",
            ])
            .output()
            .context("running seekstone")?;
        let document: Value = serde_json::from_slice(&output.stdout).with_context(|| {
            format!(
                "seekstone {arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            )
        })?;
        let measurement = &document["measurements"][0];
        Ok(BenchFigure {
            per_second: number(&measurement["throughput"]["value"])?,
            cpu_ns: number(&measurement["cpu"]["per_operation_ns"])?,
        })
    }

    fn ours_null(&self) -> Result<BenchFigure> {
        self.ours(&["null:"])
    }

    fn ours_disk(&self, file: &Path, depth: u32) -> Result<BenchFigure> {
        let file = file.display().to_string();
        self.ours(&[&file, "--clients", &depth.to_string(), "--driver", "uring"])
    }

    fn ours_sequential(&self, file: &Path) -> Result<BenchFigure> {
        let file = file.display().to_string();
        let load = [
            "--block",
            "1MiB",
            "--pattern",
            "sequential",
            "--clients",
            "4",
        ];
        let reach = ["--partition", "interleaved", "--driver", "uring"];
        self.ours(&[&[file.as_str()], &load[..], &reach].concat())
    }

    fn ours_tmpfs(&self, file: &Path) -> Result<BenchFigure> {
        let file = file.display().to_string();
        self.ours(&[&file, "--buffered", "--driver", "threads"])
    }

    fn fio(&self, arguments: &[&str]) -> Result<BenchFigure> {
        let (engine, others) = arguments.split_first().context("fio wants an engine")?;
        self.fio_tuned("", engine, others)
    }

    fn fio_tuned(&self, tunables: &str, engine: &str, arguments: &[&str]) -> Result<BenchFigure> {
        let output = Command::new("fio")
            .env("GLIBC_TUNABLES", tunables)
            .args([
                "--name=bench",
                "--rw=randread",
                "--bs=4k",
                "--time_based",
                "--thread",
            ])
            .arg(format!("--runtime={}ms", (self.seconds * 1000.0) as u64))
            .args(["--output-format=json", "--randrepeat=1", engine])
            .args(arguments)
            .output()
            .context("running fio")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let start = text
            .find('{')
            .with_context(|| format!("fio printed no JSON: {text}"))?;
        let document: Value = serde_json::from_str(&text[start..]).context("fio's JSON")?;
        let job = &document["jobs"][0];
        let operations = number(&job["read"]["total_ios"])?;
        let seconds = number(&job["job_runtime"])? / 1000.0;
        let busy = (number(&job["usr_cpu"])? + number(&job["sys_cpu"])?) / 100.0;
        Ok(BenchFigure {
            per_second: number(&job["read"]["iops"])?,
            cpu_ns: busy * seconds * 1e9 / operations,
        })
    }

    /// `pread` at random offsets into one page, and nothing else: the floor.
    fn bare_loop(&self, file: &Path) -> Result<BenchFigure> {
        let file = File::open(file)?;
        let blocks = self.file_mib * 256;
        let mut memory = vec![0_u8; 8192];
        let begin = memory.as_ptr().align_offset(4096);
        let block = &mut memory[begin..begin + 4096];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut done = 0_u64;
        let (begun, cpu_begun) = (nanos(ClockId::Monotonic), nanos(ClockId::ThreadCPUTime));
        while nanos(ClockId::Monotonic) - begun < self.seconds * 1e9 {
            for _ in 0..1024 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                file.read_exact_at(block, state % blocks * 4096)?;
            }
            done += 1024;
        }
        let (elapsed, cpu) = (
            nanos(ClockId::Monotonic) - begun,
            nanos(ClockId::ThreadCPUTime) - cpu_begun,
        );
        Ok(BenchFigure {
            per_second: done as f64 * 1e9 / elapsed,
            cpu_ns: cpu / done as f64,
        })
    }
}

/// Two files of incompressible data, removed at the end.
pub struct BenchDirectory {
    disk: PathBuf,
    pub memory: PathBuf,
}

impl BenchDirectory {
    pub fn new(plan: &BenchPlan) -> Result<Self> {
        let name = format!("seekstone-bench-{}", std::process::id());
        let scratch = Self {
            disk: plan.folder.join(&name),
            memory: Path::new("/dev/shm").join(&name),
        };
        for path in [&scratch.disk, &scratch.memory] {
            fill(path, plan.file_mib).with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(scratch)
    }
}

impl Drop for BenchDirectory {
    fn drop(&mut self) {
        for path in [&self.disk, &self.memory] {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn fill(path: &Path, mib: u64) -> Result<()> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    let mut state = 88_172_645_463_325_252_u64;
    let mut block = vec![0_u8; 1 << 20];
    for _ in 0..mib {
        for word in block.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block)?;
    }
    file.sync_all()?;
    Ok(())
}

fn nanos(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

pub fn number(value: &Value) -> Result<f64> {
    value
        .as_f64()
        .with_context(|| format!("a number was expected, not {value}"))
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
