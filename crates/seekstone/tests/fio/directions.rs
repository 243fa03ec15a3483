//! Reads and writes of one job: each at its rate and of its sizes, reported apart or as one.

use serde_json::Value;

use crate::support::Scratch;

/// The only job of a document, in virtual time.
fn job(more: &[&str]) -> Value {
    let args = [
        "fio",
        "--no-save",
        "-q",
        "--output-format=json",
        "--name=a",
        "--filename=sim:nvme",
        "--rw=randrw",
    ];
    let ended = Scratch::new().check(&[&args[..], more].concat(), 0, "");
    ended.json()["jobs"][0].clone()
}

fn count(job: &Value, direction: &str) -> u64 {
    job[direction]["total_ios"].as_u64().expect("a count")
}

/// Bug: where the mix gave one direction fewer requests than its rate, it fell behind; in fio it
/// does not.
#[test]
fn each_direction_has_its_own_rate() {
    let timed = ["--size=1g", "--time_based", "--runtime=5"];
    let check = |more: &[&str], reads: u64, writes: u64| {
        let found = job(&[&timed[..], more].concat());
        let is_near = |direction: &str, wanted: u64| {
            let count = count(&found, direction);
            assert!(count.abs_diff(wanted) <= 1, "{more:?}: {count} {direction}");
        };
        is_near("read", reads);
        is_near("write", writes);
    };
    check(&["--rate_iops=1000,1000", "--rwmixread=90"], 5000, 5000);
    check(&["--rate_iops=100,200", "--bs=8k"], 500, 1000);
    check(&["--rate=400k,1200k", "--iodepth=4"], 500, 1500);
    // What has no rate fills the time between.
    let found = job(&[&timed[..], &["--rate=,400k"]].concat());
    assert!(count(&found, "write").abs_diff(500) <= 1, "{found}");
    assert!(count(&found, "read") > 10_000, "{found}");
}

/// Bug: blocks were cut to what was left of the map, which fio begins anew.
#[test]
fn sizes_stay_whole_in_a_timed_job() {
    for sizes in ["--bs=4k,16k", "--bs=64k,8k"] {
        let found = job(&["--size=16m", "--time_based", "--runtime=1", sizes]);
        for (direction, size) in ["read", "write"].iter().zip(sizes[5..].split(',')) {
            let size: u64 = size.trim_end_matches('k').parse().expect("a size");
            let bytes = found[direction]["io_bytes"].as_u64().expect("bytes");
            assert_eq!(bytes, count(&found, direction) * size * 1024, "{sizes}");
        }
    }
}

#[test]
fn directions_are_one_where_that_is_asked() {
    let both = job(&["--size=4m", "--unified_rw_reporting=both"]);
    let sum = count(&both, "read") + count(&both, "write");
    assert_eq!((count(&both, "mixed"), sum), (1024, 1024));
    assert_eq!(both["mixed"]["io_bytes"], 4 << 20);
    let one = job(&["--size=4m", "--unified_rw_reporting=1"]);
    assert_eq!(count(&one, "mixed"), 1024);
    for key in ["read", "write", "trim", "sync"] {
        assert!(one[key].is_null(), "{key}");
    }
    let fields = |more: &[&str]| {
        let args = [
            "fio",
            "--no-save",
            "-q",
            "--minimal",
            "--name=a",
            "--size=4m",
        ];
        let job = ["--ioengine=null", "--rw=randrw"];
        let all = [&args[..], &job, more].concat();
        let line = Scratch::new().check(&all, 0, "").stdout;
        line.trim_end().split(';').count()
    };
    // As fio 3.33 has it.
    let apart = fields(&[]);
    assert_eq!(fields(&["--unified_rw_reporting=mixed"]), apart - 41);
    assert_eq!(fields(&["--unified_rw_reporting=both"]), apart + 41);
}

#[test]
fn times_have_percentiles_where_they_are_asked_for() {
    let check = |more: &[&str], expected: [bool; 3]| {
        let job_of_all = ["--size=4m", "--iodepth=4", "--ioengine=libaio"];
        let asked = [&job_of_all[..], more].concat();
        let found = job(&asked);
        let has = ["slat_ns", "clat_ns", "lat_ns"].map(|times| {
            let percentiles = &found["read"][times]["percentile"];
            percentiles.is_object()
        });
        assert_eq!(has, expected, "{more:?}");
        found
    };
    check(&[], [false, true, false]);
    check(
        &["--lat_percentiles=1", "--clat_percentiles=0"],
        [false, false, true],
    );
    let all = check(
        &["--lat_percentiles=1", "--slat_percentiles=1"],
        [true, true, true],
    );
    let value = |times: &str| all["read"][times]["percentile"]["99.000000"].as_u64();
    assert!(value("lat_ns") >= value("clat_ns"), "{all}");
    assert_eq!(all["iodepth_submit"]["4"], 100.0);
}
