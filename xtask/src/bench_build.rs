//! `cargo xtask bench build`: how long the program takes to build, from nothing and after a change;
//! and the two counts that decide it, which `cargo xtask tidy` holds to a limit.
//!
//! Everything is built in a folder of its own. A changed line is a comment that is taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

use crate::source::{cargo, root};

/// Crates of the first build, ours included, at most.
const CRATES_MAX: usize = 199;
/// Crates that wait for one another in the first build, at most.
const CHAIN_MAX: usize = 18;
/// Crates in which a line is changed: a form, and the one with every kind.
const CHANGED: [&str; 2] = ["report", "kinds"];

/// What the first build consists of.
#[derive(Debug, PartialEq, Eq)]
pub struct BuildPlan {
    /// Packages that are compiled.
    pub crates: usize,
    /// The longest chain of packages of which each waits for the one before.
    pub chain: Vec<String>,
}

/// Measure, and print a line each.
pub fn bench_build() -> Result<()> {
    let plan = first_build()?;
    println!("crates of the first build       {}", plan.crates);
    println!(
        "longest chain                   {}: {}",
        plan.chain.len(),
        plan.chain.join(" ")
    );
    carried_out(&["fetch", "--locked"])?;
    let folder = root().join("target/bench-build");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("the last build cannot be removed")?;
    }
    let target = folder.display().to_string();
    let release = ["build", "--release", "--locked", "--target-dir", &target];
    timed("first build", &release)?;
    for name in CHANGED {
        let _changed = ChangedFile::of(name)?;
        timed(&format!("a line of `{name}` changed"), &release)?;
    }
    let tests = [
        "test",
        "-p",
        "stats",
        "--lib",
        "--locked",
        "--target-dir",
        &target,
    ];
    timed("tests of `stats`, first", &tests)?;
    let _changed = ChangedFile::of("stats")?;
    timed("a line of `stats` changed", &tests)
}

/// Cargo with nothing on the screen, and the time it took.
fn timed(what: &str, arguments: &[&str]) -> Result<()> {
    let (begun, cpu) = (Instant::now(), children_seconds());
    carried_out(arguments)?;
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), children_seconds() - cpu);
    println!("{what:31} {wall:.1} s, {cpu:.1} s of CPU");
    Ok(())
}

fn carried_out(arguments: &[&str]) -> Result<()> {
    let mut cargo = cargo();
    let cargo = cargo.args(arguments);
    let status = cargo.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}

/// CPU time of all programs that this one has started and seen end, with those they started.
pub fn children_seconds() -> f64 {
    let own = clock_gettime(ClockId::ProcessCPUTime);
    let own = own.tv_sec as f64 + own.tv_nsec as f64 * 1e-9;
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = |at: usize| fields.get(at).and_then(|it| it.parse().ok()).unwrap_or(0.0);
    let hertz = rustix::param::clock_ticks_per_second() as f64;
    // cutime and cstime, fields 16 and 17 of proc(5), 14 and 15 after the name.
    own + (ticks(13) + ticks(14)) / hertz
}

/// A file with a comment behind it, until this is dropped.
struct ChangedFile {
    path: PathBuf,
    text: String,
}

impl ChangedFile {
    fn of(krate: &str) -> Result<Self> {
        let path = root().join(format!("crates/{krate}/src/lib.rs"));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        fs::write(&path, format!("{text}// A line.\n"))?;
        Ok(Self { path, text })
    }
}

impl Drop for ChangedFile {
    fn drop(&mut self) {
        let _ = fs::write(&self.path, &self.text);
    }
}

/// Counts that have grown past what a newcomer is asked to wait for.
pub fn check_first_build(faults: &mut Vec<String>) -> Result<()> {
    let plan = first_build()?;
    if plan.crates > CRATES_MAX {
        faults.push(format!(
            "the first build has {} crates, at most {CRATES_MAX}: put what is dear and rare behind \
             a feature (cargo tree -p seekstone)",
            plan.crates
        ));
    }
    if plan.chain.len() > CHAIN_MAX {
        faults.push(format!(
            "{} crates of the first build wait for one another, at most {CHAIN_MAX}: {}",
            plan.chain.len(),
            plan.chain.join(" ")
        ));
    }
    Ok(())
}

/// The packages that `cargo build --release` compiles on this machine, and their longest chain.
fn first_build() -> Result<BuildPlan> {
    let mut cargo = cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked", "--offline"]);
    cargo.args(["--filter-platform", &host()?]);
    let output = cargo
        .current_dir(root().join("crates/seekstone"))
        .output()?;
    let error = || String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "cargo metadata: {}", error());
    Ok(build_plan(
        &serde_json::from_slice(&output.stdout)?,
        &compiled()?,
    ))
}

/// What Cargo compiles for the program alone, each as `name version`. Its metadata are of the whole
/// workspace, whose tests ask for more of some crates.
fn compiled() -> Result<BTreeSet<String>> {
    let mut cargo = cargo();
    cargo.args(["tree", "--locked", "--offline", "-p", "seekstone"]);
    cargo.args(["-e", "normal,build", "--prefix", "none"]);
    let output = cargo.output()?;
    ensure!(output.status.success(), "cargo tree failed");
    let text = String::from_utf8(output.stdout)?;
    let packages = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        Some(format!("{name} {}", version.trim_start_matches('v')))
    });
    Ok(packages.collect())
}

/// The platform that Cargo builds for here.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

fn build_plan(metadata: &Value, compiled: &BTreeSet<String>) -> BuildPlan {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let names = packages.filter_map(|it| {
        let [id, name, version] = ["id", "name", "version"].map(|key| it[key].as_str());
        let (name, version) = (name?, version?);
        let is_compiled = compiled.contains(&format!("{name} {version}"));
        is_compiled.then_some((id?, name))
    });
    let names: BTreeMap<&str, &str> = names.collect();
    let mut needs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in metadata["resolve"]["nodes"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let id = node["id"].as_str().unwrap_or_default();
        let all = node["deps"].as_array().into_iter().flatten();
        let built = all.filter(|dep| {
            let mut kinds = dep["dep_kinds"].as_array().into_iter().flatten();
            kinds.any(|it| it["kind"] != "dev")
        });
        let built = built.filter_map(|dep| dep["pkg"].as_str());
        needs.insert(id, built.filter(|id| names.contains_key(id)).collect());
    }
    let program = names
        .iter()
        .find(|it| *it.1 == "seekstone")
        .map_or("", |it| it.0);
    let mut chains = BTreeMap::new();
    let chain = longest_chain(program, &needs, &mut chains);
    let name = |id: &str| (*names.get(id).unwrap_or(&id)).to_owned();
    BuildPlan {
        crates: chains.len(),
        chain: chain.into_iter().map(name).collect(),
    }
}

/// The longest chain that ends with `id`; `known` fills with those of all that it needs.
fn longest_chain<'a>(
    id: &'a str,
    needs: &BTreeMap<&'a str, Vec<&'a str>>,
    known: &mut BTreeMap<&'a str, Vec<&'a str>>,
) -> Vec<&'a str> {
    if let Some(chain) = known.get(id) {
        return chain.clone();
    }
    let below = needs.get(id).into_iter().flatten();
    let chains = below.map(|need| longest_chain(need, needs, known));
    let mut chain = chains.max_by_key(Vec::len).unwrap_or_default();
    chain.push(id);
    known.insert(id, chain.clone());
    chain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_tests_alone_need_is_not_in_the_first_build() {
        let dep = |to: &str, kind: Option<&str>| json!({"pkg": to, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [
                {"id": "s", "name": "seekstone", "version": "1"},
                {"id": "a", "name": "units", "version": "1"},
                {"id": "b", "name": "stats", "version": "1"},
                {"id": "t", "name": "insta", "version": "1"},
            ],
            "resolve": {"nodes": [
                {"id": "s", "deps": [dep("a", None), dep("b", None), dep("t", Some("dev"))]},
                {"id": "b", "deps": [dep("a", Some("build"))]},
                {"id": "a", "deps": []}, {"id": "t", "deps": []},
            ]},
        });
        let chain = ["units", "stats", "seekstone"].map(String::from).to_vec();
        let compiled = ["seekstone 1", "units 1", "stats 1"].map(String::from);
        let plan = build_plan(&metadata, &compiled.into());
        assert_eq!(plan, BuildPlan { crates: 3, chain });
    }
}
