//! Ranks that a real launcher starts, with each MPI library that this system has.
//!
//! Each case runs in ranks of its own: this test program again, under `mpirun`, with one of the
//! cases below that are otherwise ignored. Rank 0 leaves what it found in a file.

// Cargo shows what a skipped test says only if it is printed.
#![allow(clippy::print_stderr)]

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use fleet::{ClockReading, FleetGroup};
use units::Duration;

/// A library as Debian's packages bring it.
struct Library {
    mpirun: &'static [&'static str],
    mpicc: &'static str,
    says: &'static str,
}

const MPICH: Library = Library {
    mpirun: &["mpirun.mpich"],
    mpicc: "mpicc.mpich",
    says: "MPICH",
};
const OPEN_MPI: Library = Library {
    mpirun: &["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    mpicc: "mpicc.openmpi",
    says: "Open MPI",
};

const FOUND: &str = "SEEKSTONE_TEST_FOUND";
const CACHE: &str = "SEEKSTONE_TEST_CACHE";

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|directory| directory.join(program).exists());
    if !is_there {
        eprintln!("skipped: {program} is not installed");
    }
    is_there
}

/// Run a case in `ranks` ranks; what rank 0 found, or `None` where the library is not installed.
fn launch(library: &Library, case: &str, ranks: u32, cache: &Path) -> Option<(String, Output)> {
    if !is_installed(library.mpirun[0]) || !is_installed(library.mpicc) {
        return None;
    }
    let found = cache.join("found");
    let output = Command::new(library.mpirun[0])
        .args(&library.mpirun[1..])
        .args(["-n", &ranks.to_string()])
        .arg(std::env::current_exe().expect("our own program"))
        .args(["--exact", case, "--ignored"])
        .env(FOUND, &found)
        .env(CACHE, cache)
        .output()
        .expect("a launcher");
    Some((fs::read_to_string(found).unwrap_or_default(), output))
}

#[track_caller]
fn check_rounds(library: &Library) {
    let cache = tempfile::tempdir().expect("a directory");
    if !is_installed(library.mpicc) {
        return;
    }
    let built = mpi::build(OsStr::new(library.mpicc), cache.path()).expect("a shim");
    assert!(built.version.starts_with(library.says), "{}", built.version);
    let Some((found, output)) = launch(library, "case_rounds", 2, cache.path()) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(
        found, "gathered 1 + 300000 bytes, sum 3, clock within 10 ms",
        "{said}"
    );
}

#[test]
fn ranks_under_mpich_talk_through_a_shim() {
    check_rounds(&MPICH);
}

#[test]
fn ranks_under_open_mpi_talk_through_a_shim() {
    check_rounds(&OPEN_MPI);
}

/// With the other library's shim each rank is a world of one: that would be as many runs of their
/// own, each of which takes itself for the whole.
#[test]
fn ranks_that_do_not_see_each_other_say_so() {
    let cache = tempfile::tempdir().expect("a directory");
    if !is_installed(OPEN_MPI.mpicc) {
        return;
    }
    mpi::build(OsStr::new(OPEN_MPI.mpicc), cache.path()).expect("a shim");
    let Some((found, output)) = launch(&MPICH, "case_lonely", 2, cache.path()) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        found.starts_with("a launcher with PMI (PMI_RANK) started 2 ranks, but Open MPI"),
        "{found}: {said}"
    );
    assert!(
        found.contains("sees 1: the launcher is not that library's"),
        "{found}"
    );
}

#[test]
fn a_shim_of_an_exchanged_library_is_not_used() {
    let cache = tempfile::tempdir().expect("a directory");
    let library = [MPICH, OPEN_MPI];
    let Some(library) = library.iter().find(|it| is_installed(it.mpicc)) else {
        return;
    };
    let built = mpi::build(OsStr::new(library.mpicc), cache.path()).expect("a shim");
    fs::write(built.path.with_extension("version"), "Old MPI 1.0").expect("a note");
    let error = mpi::open(&launched(), cache.path()).map(drop);
    let error = error.expect_err("another library").to_string();
    let expected = format!(
        "the MPI library is now `{}`, and the shim was built for `Old MPI 1.0`: run `seekstone \
         fleet shim` again",
        built.version
    );
    assert_eq!(error, expected);
}

#[test]
fn without_a_library_or_a_compiler_the_package_is_named() {
    let cache = tempfile::tempdir().expect("a directory");
    let error = mpi::open(&launched(), cache.path()).map(drop);
    let error = error.expect_err("no library").to_string();
    assert!(
        error.starts_with("started by a test, but there is no libmpi_abi.so"),
        "{error}"
    );
    assert!(error.contains("libmpich-dev or libopenmpi-dev"), "{error}");
    let error = mpi::build(OsStr::new("no-such-mpicc"), cache.path());
    let error = error.expect_err("no compiler").to_string();
    assert!(
        error.starts_with("no-such-mpicc: the shim was not compiled (No such file"),
        "{error}"
    );
    let left: Vec<_> = fs::read_dir(cache.path()).expect("a directory").collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A library with the names of the standard ABI, a world of one, is taken without any shim.
#[test]
fn a_library_with_the_standard_abi_needs_no_shim() {
    let place = tempfile::tempdir().expect("a directory");
    if !is_installed("cc") {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/world_of_one.c");
    let library = place.path().join("libmpi_abi.so.1");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(made.expect("a compiler").success());
    let found = place.path().join("found");
    let output = Command::new(std::env::current_exe().expect("our own program"))
        .args(["--exact", "case_standard", "--ignored"])
        .env("LD_LIBRARY_PATH", place.path())
        .env(CACHE, place.path())
        .env(FOUND, &found)
        .output()
        .expect("a second process");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let found = fs::read_to_string(found).unwrap_or_default();
    assert_eq!(found, "World of one 5.0: rank 0 of 1, to itself: hello");
}

fn launched() -> mpi::Launched {
    mpi::Launched {
        by: "a test",
        rank: 0,
        ranks: Some(1),
        families: &[],
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn leave_found(text: &str) {
    fs::write(variable(FOUND).expect("where to"), text).expect("a file");
}

fn cache() -> std::path::PathBuf {
    variable(CACHE).expect("a cache").into()
}

#[test]
#[ignore = "runs under mpirun: started by another test"]
fn case_rounds() {
    let launched = mpi::detect(variable).expect("a launcher");
    let fleet = mpi::open(&launched, &cache()).expect("a fleet");
    let mut group = FleetGroup::new(Box::new(fleet), Duration::from_secs(60));
    let told = group.broadcast(b"as told by rank 0").expect("a round");
    assert_eq!(told, b"as told by rank 0");
    let own = if group.leads() {
        vec![1]
    } else {
        vec![7; 300_000]
    };
    let all = group.gather(&own).expect("a round");
    let rank = u64::from(launched.rank);
    let sum = group
        .all_reduce(rank + 1, |sum, more| sum + more)
        .expect("a round");
    if group.leads() {
        assert!(all[1].iter().all(|byte| *byte == 7));
        let burst = group.read_clock(1, 20).expect("the other rank answers");
        let is_close = ClockReading::best_of(&burst).is_some_and(|it| it.bound_ns < 10e6);
        let lens: Vec<String> = all.iter().map(|it| it.len().to_string()).collect();
        let clock = if is_close {
            "clock within 10 ms"
        } else {
            "clock unknown"
        };
        leave_found(&format!(
            "gathered {} bytes, sum {sum}, {clock}",
            lens.join(" + ")
        ));
    }
    group.barrier().expect("a round");
    group.leave().expect("no rank is missing");
}

#[test]
#[ignore = "runs under mpirun: started by another test"]
fn case_lonely() {
    let launched = mpi::detect(variable).expect("a launcher");
    let error = mpi::open(&launched, &cache()).map(drop);
    let error = error.expect_err("a world of one").to_string();
    if launched.rank == 0 {
        leave_found(&error);
    }
}

#[test]
#[ignore = "needs a library of its own: started by another test"]
fn case_standard() {
    use fleet::Fleet as _;
    let mut fleet = mpi::open(&launched(), &cache()).expect("a fleet");
    fleet.send(0, b"hello").expect("a message");
    let now = fleet.now();
    let message = fleet.receive(now).expect("a library").expect("a message");
    let text = String::from_utf8_lossy(&message.bytes).into_owned();
    let (rank, size) = (fleet.rank(), fleet.size());
    leave_found(&format!(
        "{}: rank {rank} of {size}, to itself: {text}",
        fleet.library()
    ));
    fleet.leave().expect("nothing is under way");
}
