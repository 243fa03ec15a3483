//! `seekstone wire`: a link with a known delay and rate between two network namespaces.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use host::interrupt::Interrupt;
use network::wire::{Ends, LaneSettings, LaneTally, LinkEnd, WireError, check_ends, relay};
use units::{Bytes, format_duration_ns};

use crate::args::WireArgs;
use crate::exit::{Exit, UsageError};
use crate::output;

/// What the background process says when others may go on.
const READY: &str = "the link is up: ";

/// Make a link, and carry its packets until a signal comes.
///
/// # Errors
/// When an end is there already, or the system refuses.
pub fn wire(args: &WireArgs) -> anyhow::Result<Exit> {
    let ends = [
        LinkEnd::parse(&args.near, &args.near_address),
        LinkEnd::parse(&args.far, &args.far_address),
    ];
    let [near, far] = ends.map(|end| end.map_err(|error| usage(&error)));
    let ends = [near?, far?];
    check_ends(&ends).map_err(|error| usage(&error))?;
    if args.background {
        return start_in_background();
    }
    let interrupt = Interrupt::install().context("signals")?;
    let pid_file = args.pid_file.as_deref().map(PidFile::create).transpose()?;
    let made = Ends::make(&ends)?;
    if let Some(file) = &pid_file {
        file.fill()?;
    }
    let [near, far] = &ends;
    output::print(&format!(
        "{READY}{} {} and {} {}",
        near.space, near.address, far.space, far.address
    ))?;
    let settings = LaneSettings {
        delay: args.delay.to_std(),
        bits_per_second: args.bits_per_second,
        loss: args.loss,
        queue_bytes: args.queue.0,
    };
    let is_stopped = || interrupt.is_raised().is_some();
    let tallies = relay(&made, &settings, args.seed, &is_stopped)?;
    drop(made);
    let there = summary(&near.space, &far.space, &tallies[0]);
    let back = summary(&far.space, &near.space, &tallies[1]);
    output::print(&format!("{there}\n{back}"))
}

fn usage(error: &WireError) -> anyhow::Error {
    UsageError(error.to_string()).into()
}

fn summary(from: &str, to: &str, tally: &LaneTally) -> String {
    let mut text = format!(
        "{from} to {to}: {} packets, {}, {} lost, {} dropped because the queue was full",
        tally.carried,
        Bytes(tally.bytes).decimal(),
        tally.lost,
        tally.dropped
    );
    if tally.arrived > 0 {
        let mean = tally.late.as_nanos() as f64 / tally.arrived as f64;
        let longest = tally.late_max.as_nanos() as f64;
        text += &format!(
            ", delivered {} late on average, at most {}",
            format_duration_ns(mean),
            format_duration_ns(longest)
        );
    }
    text
}

/// The same command once more, in a process group of its own, without this option. Its pipes end
/// with us, so that nobody who waits for our output waits for the link.
fn start_in_background() -> anyhow::Result<Exit> {
    let program = std::env::current_exe().context("our own program")?;
    let args = std::env::args_os()
        .skip(1)
        .filter(|it| it != "--background");
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .context("the background process")?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line)?;
    }
    if line.starts_with(READY) {
        return output::print(line.trim_end());
    }
    let mut output = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut output)?;
    }
    let _ = child.wait();
    let output = output.trim().trim_start_matches("error: ");
    anyhow::bail!("{output}");
}

/// A new file with the number of this process, removed at the end.
struct PidFile {
    file: File,
    path: PathBuf,
}

impl PidFile {
    fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::create_new(path);
        let file = file.with_context(|| format!("cannot make the pid file {}", path.display()))?;
        let path = path.to_owned();
        Ok(Self { file, path })
    }

    fn fill(&self) -> anyhow::Result<()> {
        let filled = writeln!(&self.file, "{}", std::process::id());
        filled.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let number = |found: std::fs::Metadata| (found.dev(), found.ino());
        let own = self.file.metadata().map(number).ok();
        let named = self.path.symlink_metadata().map(number).ok();
        // Somebody may have removed it, which was what we wanted, or made another.
        if own.is_some() && own == named {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
