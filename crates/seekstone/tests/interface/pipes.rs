//! A pipe, a device or a directory where a file is read: each reader refuses it at once, in a
//! sentence. `replay PIPE` once waited for ever for somebody to write, and a batch file did, too.

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{Scratch, finish};

#[test]
fn what_is_no_file_is_refused_at_once() {
    let scratch = Scratch::new();
    let pipe = scratch.path("pipe.toml");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
    let directory = scratch.path("directory");
    std::fs::create_dir(&directory).expect("a directory");
    let model = ["trial", "sim:mm1", "--no-save", "--duration", "20ms"];
    for file in [pipe.to_str(), directory.to_str(), Some("/dev/null")].map(Option::unwrap) {
        let workload = [&model[..], &["--workload", file]].concat();
        let readers: [&[&str]; 11] = [
            &["replay", file, "sim:mm1", "--no-save"],
            &["inspect", file, "--format", "iolog"],
            &["fio", "--check", file],
            &workload,
            &["study", file],
            &["runs", "import", file],
            &["runs", "list", "--archive", file],
            &["rpt", file],
            &["together", "--batch", file],
            &["transactions", "sim:mm1", "--profiles", file],
            &["verify", "--verify-state", file],
        ];
        for args in readers {
            let ended = finish(scratch.seekstone(args));
            assert!(
                [Some(1), Some(2)].contains(&ended.code),
                "{args:?}: {}",
                ended.stderr
            );
            assert_eq!(
                ended.error().lines().count(),
                1,
                "{args:?}: {}",
                ended.stderr
            );
        }
    }
    let args = [
        "replay",
        pipe.to_str().expect("text"),
        "sim:mm1",
        "--no-save",
    ];
    scratch.check(&args, 2, "A trace is read more than once");
}
