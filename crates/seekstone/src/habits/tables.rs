//! Words and options of other tools, and what does the same here.

/// Options of other tools, whose they are, and what does the same here.
pub const HABITS: [(&[&str], &str, &str); 34] = [
    (&["--bs", "--blocksize"], "fio", "--block 8KiB"),
    (&["--file-block-size"], "sysbench", "--block 8KiB"),
    (
        &["--iodepth", "--numjobs"],
        "fio",
        "--clients 32: each keeps one I/O outstanding",
    ),
    (&["--threads", "--num-threads"], "sysbench", "--clients 32"),
    (
        &["--write_iolog"],
        "fio",
        "--iolog FILE of trial: what it does, for replay",
    ),
    (
        &["--read_iolog"],
        "fio",
        "another command: seekstone replay FILE TARGET",
    ),
    (
        &["--rw", "--readwrite"],
        "fio",
        "--pattern sequential or uniform, with --writes 100% for writes",
    ),
    (
        &["--file-test-mode"],
        "sysbench",
        "--pattern sequential or uniform, with --writes 100% for writes",
    ),
    (
        &["--rwmixwrite", "--rwmixread"],
        "fio",
        "--writes 30%, the share of writes",
    ),
    (
        &["--runtime"],
        "fio",
        "--duration 60s of trial. Other commands stop when they are precise, or after --budget",
    ),
    (&["--time"], "sysbench", "--duration 60s of trial"),
    (
        &["--time_based"],
        "fio",
        "none: a measurement never stops at the end of the file",
    ),
    (&["--ramp_time"], "fio", "--warm-up 5s"),
    (
        &["--rate_iops", "--rate_process"],
        "fio",
        "--rate 2000/s, of Poisson arrivals",
    ),
    (&["--thinktime"], "fio", "--think 1ms"),
    (&["--filesize"], "fio", "--size 1GiB"),
    (&["--file-total-size"], "sysbench", "--size 1GiB"),
    (
        &["--filename", "--directory"],
        "fio",
        "the target, without an option: seekstone trial /data",
    ),
    (
        &["--direct"],
        "fio",
        "the default. --buffered goes through the page cache",
    ),
    (&["--ioengine"], "fio", "--driver uring or threads"),
    (
        &["--fsync", "--fdatasync", "--end_fsync"],
        "fio",
        "--durable: each write with its fsync",
    ),
    (
        &["--group_reporting", "--name"],
        "fio",
        "none: all clients are reported together",
    ),
    (
        &["--output-format", "--output"],
        "fio",
        "--json FILE or --csv FILE",
    ),
    (
        &["--bssplit", "--bsrange", "--blockalign"],
        "fio",
        "--block 8KiB, one size for all operations",
    ),
    (
        &["--offset"],
        "fio",
        "none: the target is used from its start, up to --size",
    ),
    (
        &["--loops"],
        "fio",
        "none: a measurement repeats until it is precise, or for --duration 60s",
    ),
    (
        &["--io_size", "--number_ios"],
        "fio",
        "none: set the time with --duration 60s, or --precision 3%",
    ),
    (&["--rate"], "fio", "--rate 2000/s, in operations"),
    (&["--randseed"], "fio", "--seed 7"),
    (
        &["--random_distribution"],
        "fio",
        "--pattern zipf:1.1, uniform, hyperbolic:1 or exponential:100",
    ),
    (
        &["--percentile_list"],
        "fio",
        "none: p50, p95, p99, p99.9 and p99.99 are always measured",
    ),
    (
        &["--verify"],
        "fio",
        "--verify of trial, without a method: each sector carries a CRC-32C",
    ),
    (
        &["--qd", "--queue-depth"],
        "other tools",
        "--clients 32: each keeps one I/O outstanding",
    ),
    (
        &["--iflag", "--oflag"],
        "dd",
        "direct I/O is the default. --buffered goes through the page cache",
    ),
];

/// Words that are typed as commands by habit, and what to type.
pub const COMMANDS: [(&[&str], &str); 11] = [
    (
        &["list", "ls", "history"],
        "`seekstone runs list` lists archived runs",
    ),
    (
        &["show", "report", "results"],
        "`seekstone runs show` prints an archived run",
    ),
    (
        &["export"],
        "`seekstone runs export latest -o x.html` exports an archived run",
    ),
    (
        &["import"],
        "`seekstone runs import FILE` imports a run or a log",
    ),
    (
        &["delete", "rm"],
        "`seekstone runs delete ID` deletes an archived run",
    ),
    (
        &["resume", "repeat"],
        "`seekstone runs resume` and `seekstone runs repeat` do",
    ),
    (
        &["bench", "benchmark", "test"],
        "`seekstone run` is the quick benchmark",
    ),
    (
        &["read", "write", "randread", "randwrite"],
        "`seekstone trial` runs one workload",
    ),
    (
        &["monitor"],
        "`seekstone watch` probes storage for days and reports when it was slow",
    ),
    (
        &["sim", "models"],
        "`seekstone devices list` lists simulated devices",
    ),
    (
        &["predict"],
        "`seekstone whatif` predicts other loads from archived runs",
    ),
];

/// What the operands of dd begin with that name what it works on.
pub const DD: [&str; 7] = ["if=", "of=", "bs=", "count=", "oflag=", "iflag=", "conv="];

/// Options of one command that people give to another: those it is not given to, and what to do
/// there. Without commands: all.
pub const ELSEWHERE: [(&[&str], &[&str], &str); 4] = [
    (
        &["run", "curve", "rab", "random", "ssd"],
        &["--duration"],
        "use --budget 60s, the time of the whole run. `seekstone trial` takes --duration",
    ),
    (
        &["random"],
        &["--depth", "--clients"],
        "use --depths 1,4,16",
    ),
    (&["random"], &["--block"], "use --blocks 4KiB,64KiB"),
    (
        &["run", "random", "rab"],
        &["--writes"],
        "it measures reads and writes by itself. `seekstone trial --writes 30%` mixes them",
    ),
];
