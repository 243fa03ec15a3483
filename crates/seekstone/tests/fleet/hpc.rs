//! One client a rank where nothing else is asked for, as launchers of IOR and mdtest expect.

use crate::support::Scratch;
use crate::support::finish;
use crate::support::ranks::{Library, MPICH, OPEN_MPI, json, ranks, with_shim_in};
use crate::support::tables::{figure, readings, row, rows};
use serde_json::Value;

const RECORD: [&str; 6] = [
    "--quiet",
    "--no-save",
    "--json",
    "run.json",
    "--reserve",
    "0",
];

fn measured(scratch: &Scratch, library: &Library, line: &str) -> Value {
    let target = scratch.target();
    let args: Vec<&str> = line.split_whitespace().collect();
    let args = [&args[..], &RECORD].concat();
    let ended = finish(ranks(scratch, library, 2, &args));
    ended.check(&args, 0, "");
    scratch.assert_clean(&target);
    json(&scratch.path("run.json"))
}

#[test]
fn the_default_is_one_client_a_rank() {
    let test = "the_default_is_one_client_a_rank";
    let Some(scratch) = with_shim_in(test, &MPICH, Scratch::in_memory) else {
        return;
    };
    let files = "files target --workload metadata --files 20 --repeat 2 --state as-is";
    let run = measured(&scratch, &MPICH, files);
    assert_eq!(figure(rows(&run, "files")[0], "clients"), 2.0);
    let trial = "trial target --size 4MiB --duration 100ms";
    let run = measured(&scratch, &MPICH, trial);
    let settings = run["setup"]["settings"].as_array().expect("settings");
    let clients = settings.iter().find(|it| it["name"] == "clients");
    assert_eq!(clients.expect("how many")["values"][0], "2");
    let transfer = "transfer target --size 1MiB --repeat 2 --mode buffered";
    let run = measured(&scratch, &MPICH, transfer);
    let streams = rows(&run, "transfer")[0]["levels"][4].to_string();
    assert_eq!(streams, "\"streams 1+2\"");
}

fn check_programs(test: &str, library: &Library) {
    let Some(scratch) = with_shim_in(test, library, Scratch::in_memory) else {
        return;
    };
    let line = "ior -t 3000 -b 6000 -s 4 -C -R -w -i 2 -o target/file";
    let run = measured(&scratch, library, line);
    let read = row(&run, "files", &["read"]);
    assert_eq!(readings(read, "bytes"), [48_000.0; 2]);
    let line = "mdtest -F -n 30 -w 3901 -e 3901 -N 1 -X -d target";
    let run = measured(&scratch, library, line);
    let read = row(&run, "files", &["read"]);
    assert_eq!(readings(read, "bytes"), [234_060.0]);
    assert_eq!(rows(&run, "files").len(), 4);
}

#[test]
fn two_ranks_run_iors_and_mdtests_options_under_mpich() {
    check_programs("two_ranks_run_iors_and_mdtests_options_under_mpich", &MPICH);
}

#[test]
fn two_ranks_run_iors_and_mdtests_options_under_open_mpi() {
    let test = "two_ranks_run_iors_and_mdtests_options_under_open_mpi";
    check_programs(test, &OPEN_MPI);
}
