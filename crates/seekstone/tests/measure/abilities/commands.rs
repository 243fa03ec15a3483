//! What shows that each command can do a thing, or why it cannot.

/// A cell: the command that shows it, or why it is empty.
#[derive(Clone, Copy)]
pub enum Cell {
    /// It runs.
    Runs(&'static str),
    /// It is refused with these words.
    Refused(&'static str, &'static str),
    /// There is nothing that could be asked for.
    Empty(&'static str),
}
pub use Cell::{Empty, Refused, Runs};

/// A command.
pub struct Commanded {
    pub name: &'static str,
    /// On a model, in a directory, on a file.
    pub on: [Cell; 3],
    /// What a study and a comparison set.
    pub set: &'static [(&'static str, &'static str)],
    /// A goal that is met.
    pub goal: Cell,
    /// What is killed and goes on.
    pub resume: Cell,
    /// What a signal ends after its first results.
    pub partial: Cell,
    /// What keeps so many seconds.
    pub budget: Result<(&'static str, u32), &'static str>,
    /// Why it is of one host, if it is.
    pub alone: Option<&'static str>,
}

const CURVE: &str = "curve sim:mmc?servers=4&mean=1ms --budget 20s";
const ONE_RESULT: &str = "it is one result, and nothing is kept of one that is under way";
const NO_BUDGET: &str = "its length is that of its work: a trace, or the jobs of a file";

/// The commands, in the order of the program's help.
pub const COMMANDS: [Commanded; 13] = [
    Commanded {
        name: "run",
        on: [
            Runs("run sim:nvme --budget 5s"),
            Runs("run . --budget 3s --size 16MiB --reserve 0"),
            Runs("run FILE --budget 3s"),
        ],
        set: &[("budget", "3s")],
        goal: Runs("run sim:nvme --budget 5s --goal random-read.iops>=1/s"),
        resume: Runs("run sim:mmc?servers=4&mean=1ms --budget 20s"),
        partial: Runs("run sim:mmc?servers=4&mean=1ms --budget 20s"),
        budget: Ok(("run TARGET", 40)),
        alone: None,
    },
    Commanded {
        name: "trial",
        on: [
            Runs("trial sim:nvme --duration 100ms"),
            Runs("trial . --duration 100ms --size 16MiB --reserve 0"),
            Runs("trial FILE --duration 100ms"),
        ],
        set: &[("duration", "100ms")],
        goal: Runs("trial sim:nvme --duration 100ms --goal iops>=1/s"),
        resume: Empty(ONE_RESULT),
        partial: Runs("trial sim:mm1?mean=1ms --duration 24h"),
        budget: Ok(("trial TARGET --precision 1%", 20)),
        alone: None,
    },
    Commanded {
        name: "curve",
        on: [
            Runs("curve sim:nvme --budget 3s"),
            Runs("curve . --budget 2s --size 16MiB --reserve 0"),
            Runs("curve FILE --budget 2s"),
        ],
        set: &[("budget", "2s")],
        goal: Runs("curve sim:nvme --budget 3s --goal saturation.iops>=1/s"),
        resume: Runs(CURVE),
        partial: Runs(CURVE),
        budget: Ok(("curve TARGET", 30)),
        alone: None,
    },
    Commanded {
        name: "random",
        on: [
            Runs("random sim:nvme --spans 1MiB --blocks 4KiB --depths 1 --rounds 2"),
            Runs(
                "random . --size 16MiB --spans 1MiB --blocks 4KiB --depths 1 --rounds 2 \
                  --budget 3s --reserve 0",
            ),
            Runs("random FILE --spans 1MiB --blocks 4KiB --depths 1 --rounds 2 --budget 3s"),
        ],
        set: &[
            ("spans", "1MiB"),
            ("blocks", "4KiB"),
            ("depths", "1"),
            ("budget", "3s"),
        ],
        goal: Runs(
            "random sim:nvme --spans 1MiB --blocks 4KiB --depths 1 --rounds 2 \
                    --goal iops>=1/s",
        ),
        resume: Runs("random sim:drive?size=64MiB --budget 9s --rounds 1"),
        partial: Runs("random sim:drive?size=64MiB --budget 9s --rounds 1"),
        budget: Ok(("random TARGET --rounds 2 --spans 16MiB", 60)),
        alone: None,
    },
    Commanded {
        name: "rab",
        on: [
            Runs("rab sim:nvme -w batch --budget 3s"),
            Runs("rab . -w batch --budget 2s --size 16MiB --reserve 0"),
            Runs("rab FILE -w batch --budget 2s --overwrite"),
        ],
        set: &[("workload", "batch"), ("budget", "2s")],
        goal: Runs("rab sim:nvme -w transaction --budget 3s --goal rabmark-r>=0.001"),
        resume: Runs("rab sim:mmc?servers=4&mean=5ms -w batch,archive --budget 20s"),
        partial: Runs("rab sim:mmc?servers=4&mean=5ms -w batch,archive --budget 20s"),
        budget: Ok(("rab TARGET", 60)),
        alone: None,
    },
    Commanded {
        name: "ssd",
        on: [
            Runs(
                "ssd sim:nvme?blocks=32&pages-per-block=32&channels=2&dies=2&spare=20% --quick \
                  --round 100ms --rounds 5 --test iops --depth 4",
            ),
            Runs(
                "ssd . --quick --size 16MiB --round 100ms --rounds 5 --test iops --depth 4 \
                 --reserve 0",
            ),
            Runs("ssd FILE --quick --round 100ms --rounds 5 --test iops --depth 4 --overwrite"),
        ],
        set: &[
            ("quick", "true"),
            ("round", "100ms"),
            ("rounds", "5"),
            ("test", "iops"),
            ("depth", "4"),
        ],
        goal: Runs(
            "ssd sim:nvme?blocks=32&pages-per-block=32&channels=2&dies=2&spare=20% \
                    --quick --round 100ms --rounds 5 --test iops --depth 4 --goal iops>=1/s",
        ),
        resume: Runs(
            "ssd sim:nvme?blocks=32&pages-per-block=32&channels=2&dies=2&spare=20% \
                      --quick --round 500ms --rounds 12",
        ),
        partial: Runs(
            "ssd sim:nvme?blocks=32&pages-per-block=32&channels=2&dies=2&spare=20% \
                       --quick --round 500ms --rounds 12",
        ),
        budget: Ok(("ssd TARGET --test iops --quick", 40)),
        alone: None,
    },
    Commanded {
        name: "transactions",
        on: [
            Runs("transactions sim:nvme --users 2 --think 1ms --duration 1s"),
            Runs("transactions . --users 2 --think 1ms --duration 200ms --size 16MiB --reserve 0"),
            Runs("transactions FILE --users 2 --think 1ms --duration 200ms"),
        ],
        set: &[("users", "2"), ("think", "1ms"), ("duration", "200ms")],
        goal: Runs("transactions sim:nvme --users 2 --think 1ms --duration 1s --goal tps>=0.001/s"),
        resume: Runs("transactions sim:mm1?mean=10ms --find-users --limit 80ms"),
        partial: Runs("transactions sim:mm1?mean=10ms --find-users --limit 80ms"),
        budget: Ok(("transactions TARGET --find-users --limit 200ms", 30)),
        alone: None,
    },
    Commanded {
        name: "transfer",
        on: [
            Runs("transfer sim:nvme --size 1MiB --repeat 2"),
            Runs("transfer . --size 1MiB --repeat 2 --reserve 0"),
            Runs("transfer FILE --repeat 2"),
        ],
        set: &[],
        goal: Runs("transfer sim:nvme --size 1MiB --repeat 12 --goal read.throughput>=1kB/s"),
        resume: Runs("transfer sim:md1?time=1ms&size=4MiB --passes 4"),
        partial: Runs("transfer sim:md1?time=1ms&size=4MiB --passes 4"),
        budget: Ok(("transfer TARGET --size 8MiB", 60)),
        alone: None,
    },
    Commanded {
        name: "files",
        on: [
            Runs("files sim:rt11 --tests 1 --repeat 2"),
            Runs("files . --tests 1 --state as-is --repeat 2 --memory none --reserve 0"),
            Runs("files FILE --state as-is --repeat 2"),
        ],
        set: &[("tests", "1"), ("repeat", "2")],
        goal: Runs("files sim:rt11 --tests 1 --repeat 12 --goal elapsed<=1h"),
        resume: Runs("files sim:rt11 --tests 1,2"),
        partial: Runs("files sim:rt11 --tests 1,2"),
        budget: Ok(("files sim:rt11 --tests 1,6", 400)),
        alone: None,
    },
    Commanded {
        name: "fio",
        on: [
            Runs("fio --name=a --filename=sim:nvme --rw=randread --size=1m"),
            Runs("fio --name=a --directory=. --rw=randread --size=1m"),
            Runs("fio --name=a --filename=FILE --rw=randread --size=1m"),
        ],
        set: &[("files", "job.fio")],
        goal: Runs("fio --name=a --filename=sim:nvme --rw=randread --size=4m --goal=iops>=1/s"),
        resume: Runs(
            "fio --filename=sim:mmc?servers=4&mean=1ms&size=64MiB --iodepth=4 \
                      --time_based --runtime=20 --name=first --rw=randread --name=second \
                      --stonewall --rw=randrw --name=third --stonewall --rw=read",
        ),
        partial: Runs(
            "fio --filename=sim:mmc?servers=4&mean=1ms&size=64MiB --iodepth=4 \
                       --time_based --runtime=20 --name=first --rw=randread --name=second \
                       --stonewall --rw=randrw --name=third --stonewall --rw=read",
        ),
        budget: Err(NO_BUDGET),
        alone: None,
    },
    Commanded {
        name: "replay",
        on: [
            Runs("replay trace sim:mm1?mean=1ms&size=8MiB"),
            Runs("replay trace . --reserve 0"),
            Runs("replay trace FILE"),
        ],
        set: &[("trace", "trace")],
        goal: Runs("replay trace sim:mm1?mean=1ms&size=8MiB --goal iops>=1/s"),
        resume: Empty(ONE_RESULT),
        partial: Runs("replay trace . --reserve 0 --scale 0.01x"),
        budget: Err(NO_BUDGET),
        alone: None,
    },
    Commanded {
        name: "positioning",
        on: [
            Runs("positioning sim:dlt2000 --files 5 --repeat 3"),
            Refused(
                "positioning .",
                "files are laid out on simulated devices only",
            ),
            Refused(
                "positioning FILE",
                "files are laid out on simulated devices only",
            ),
        ],
        set: &[],
        goal: Runs("positioning sim:dlt2000 --files 9 --repeat 9 --goal longest~time<=1h"),
        resume: Runs("positioning sim:dlt2000 --files 500 --repeat 1000"),
        partial: Runs("positioning sim:dlt2000 --files 500 --repeat 1000"),
        budget: Ok(("positioning sim:dlt2000 --files 9", 2000)),
        alone: Some("it times one device's positioning"),
    },
    Commanded {
        name: "time",
        on: [
            Empty("it runs programs, and none runs on a model"),
            Runs("time --repeat 2 true"),
            Empty("it runs programs in a directory, which may use any file or device"),
        ],
        set: &[("commands", "true"), ("repeat", "2")],
        goal: Runs("time --repeat 9 true --goal elapsed<=1h"),
        resume: Runs("time --repeat 1000 true"),
        partial: Runs("time --repeat 1000 true"),
        budget: Ok(("time --precision 0.1% TRUE", 2)),
        alone: None,
    },
];
