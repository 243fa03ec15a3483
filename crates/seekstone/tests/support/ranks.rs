//! The program in several ranks of this machine, under the libraries that Debian's packages bring.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use rustix::process::Pid;
use serde_json::Value;

use super::{PROGRAM, Scratch, finish, is_installed, skipped};

/// Where shims are kept, below a scratch: its `home` is the home directory.
const SHIMS: &str = "home/.cache/seekstone";

/// An MPI library.
pub struct Library {
    pub mpirun: &'static [&'static str],
    pub mpicc: &'static str,
    /// Name and content of each file of the shim's cache: it is compiled once for all tests.
    shim: OnceLock<Vec<(String, Vec<u8>)>>,
}

pub static MPICH: Library = Library {
    mpirun: &["mpirun.mpich"],
    mpicc: "mpicc.mpich",
    shim: OnceLock::new(),
};
pub static OPEN_MPI: Library = Library {
    mpirun: &["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    mpicc: "mpicc.openmpi",
    shim: OnceLock::new(),
};

/// A scratch with the library's shim in its cache; `None` where the library is not installed.
pub fn with_shim(test: &str, library: &Library) -> Option<Scratch> {
    with_shim_in(test, library, Scratch::new)
}

/// The same in a place of another kind.
pub fn with_shim_in(test: &str, library: &Library, place: fn() -> Scratch) -> Option<Scratch> {
    if !is_installed(library.mpirun[0]) || !is_installed(library.mpicc) {
        skipped(test, &format!("{} is missing", library.mpicc));
        return None;
    }
    let scratch = place();
    let cache = scratch.path(SHIMS);
    let mut maker = fs::DirBuilder::new();
    let made = maker.recursive(true).mode(0o700).create(&cache);
    made.expect("a directory");
    for (name, content) in library.shim.get_or_init(|| library.compiled()) {
        fs::write(cache.join(name), content).expect("a file");
    }
    Some(scratch)
}

impl Library {
    fn compiled(&self) -> Vec<(String, Vec<u8>)> {
        let scratch = Scratch::new();
        let mut shim = scratch.seekstone(["fleet", "shim", "--mpicc", self.mpicc]);
        shim.env_remove("XDG_CACHE_HOME");
        finish(shim).check(&["fleet", "shim"], 0, "Wrote ");
        let entries = fs::read_dir(scratch.path(SHIMS)).expect("the cache");
        let file = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().expect("a name");
            (name, fs::read(entry.path()).expect("a file"))
        };
        entries.map(|it| file(it.expect("an entry"))).collect()
    }
}

/// A launcher, with options of its own, that starts nothing yet.
pub fn launcher(scratch: &Scratch, library: &Library, options: &[&str]) -> Command {
    let mut command = Command::new(library.mpirun[0]);
    command.args(&library.mpirun[1..]).args(options);
    scratch.settle(&mut command);
    command.env_remove("XDG_CACHE_HOME");
    command
}

/// The program in so many ranks.
pub fn ranks(scratch: &Scratch, library: &Library, count: u32, args: &[&str]) -> Command {
    let mut command = launcher(scratch, library, &["-n", &count.to_string(), PROGRAM]);
    command.args(args);
    command
}

/// The process of a rank that was started in a scratch.
pub fn process_of(scratch: &Scratch, rank: u32) -> Pid {
    let here = fs::canonicalize(scratch.path("")).expect("a directory");
    let program = fs::canonicalize(PROGRAM).expect("the program");
    let names = ["PMI_RANK", "OMPI_COMM_WORLD_RANK"];
    let wanted: Vec<String> = names.iter().map(|it| format!("{it}={rank}")).collect();
    let is_it = |process: &Path| {
        let link = |name| fs::read_link(process.join(name)).ok();
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        link("cwd").as_ref() == Some(&here)
            && link("exe").as_ref() == Some(&program)
            && variables.any(|it| wanted.iter().any(|wanted| it == wanted.as_bytes()))
    };
    let processes = fs::read_dir("/proc").expect("processes");
    let mut processes = processes.filter_map(|entry| Some(entry.ok()?.path()));
    let found = processes.find(|it| is_it(it)).expect("the rank's process");
    let name = found
        .file_name()
        .and_then(|it| it.to_str())
        .expect("a name");
    let number = name.parse().expect("a process");
    Pid::from_raw(number).expect("a process")
}

/// The rank that an error names was given up after the eight seconds for which one may be silent.
/// On a busy machine that is found somewhat later.
#[track_caller]
pub fn assert_given_up(error: &str) {
    let (_, after) = error
        .split_once("has been silent for ")
        .unwrap_or_else(|| panic!("no rank was silent: {error}"));
    let (number, _) = after.split_once(" s").unwrap_or((after, ""));
    let seconds: f64 = number.parse().unwrap_or(0.0);
    assert!(seconds >= 8.0, "{error}");
}

/// What rank 0 wrote as JSON.
pub fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("what rank 0 wrote");
    serde_json::from_str(&text).expect("JSON")
}

/// The measurements of a run: the trial's, and one for each rank.
pub fn rows(run: &Value) -> &[Value] {
    run["measurements"].as_array().expect("measurements")
}
