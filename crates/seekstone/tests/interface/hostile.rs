//! Names and texts of others in errors, notes and reports: a terminal shows them and obeys none.
//! Errors, progress and the lists of archives once printed the control characters of names.

use std::fs;

use crate::support::{Scratch, finish};

const HOSTILE: &str = "\u{1b}]0;T\u{7}\u{1b}[31m\u{202e}x";

#[test]
fn what_others_named_steers_no_terminal() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path(name).to_string_lossy().into_owned();
    let (file, directory) = (
        path(&format!("{HOSTILE}.file")),
        path(&format!("{HOSTILE}.dir")),
    );
    fs::create_dir(&directory).expect("a directory");
    fs::write(&file, [7_u8; 8192]).expect("a file");
    let job = path("job.fio");
    fs::write(
        &job,
        format!("[{HOSTILE}]\nrw={HOSTILE}read\n{HOSTILE}=1\n"),
    )
    .expect("a job");
    let workload = path("workload.toml");
    let text = format!("[[workload]]\nname = \"a\"\npattern = {HOSTILE:?}\n").replace("\\u{", "{");
    fs::write(&workload, text).expect("a workload");
    let missing = path(&format!("{HOSTILE}.none"));
    let model = format!("sim:{HOSTILE}");
    let commands: [&[&str]; 14] = [
        &["fio", &missing],
        &["fio", "--check", &job],
        &["inspect", &file],
        &["inspect", &directory],
        &["trial", &model],
        &["trial", &missing, "--duration", "20ms"],
        &[
            "trial",
            "sim:mm1",
            "--duration",
            "20ms",
            "--json",
            &directory,
        ],
        &[
            "trial",
            "sim:mm1",
            "--duration",
            "20ms",
            "--workload",
            &workload,
        ],
        &["trial", &file, "--duration", "20ms", "--level", HOSTILE],
        &["runs", "list", "--archive", &missing],
        &["runs", "import", &file],
        &["replay", &file, "sim:mm1"],
        &["study", &file],
        &["clean", &directory],
    ];
    for args in commands {
        let ended = finish(scratch.seekstone(args));
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!said.is_empty(), "{args:?} said nothing");
        let obeyed = said
            .chars()
            .find(|c| units::is_obeyed(*c) && !"\n\t\r".contains(*c));
        assert_eq!(obeyed, None, "{args:?}: {said:?}");
    }
}
