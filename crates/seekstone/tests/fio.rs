//! `seekstone fio`: job files are answered and shown; what cannot be done is refused with its line.

mod support;

use support::Scratch;

#[test]
fn every_option_has_its_answer() {
    let scratch = Scratch::new();
    let text =
        "[global]\nioengine=libaio\nthread\nverify=0\n[a]\nrw=randwrite\nsize=1m\nverify=md5\n";
    std::fs::write(scratch.path("jobs.fio"), text).expect("a job file");
    let args = ["fio", "jobs.fio", "--check"];
    let ended = support::finish(scratch.seekstone(args));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    for line in [
        "jobs.fio:2  ioengine=libaio  done",
        "jobs.fio:3  thread           no effect: a job is neither",
        "jobs.fio:4  verify=0         no effect: it is off by default",
        "jobs.fio:8  verify=md5       refused: ",
        "1 line is refused",
    ] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
}

#[test]
fn options_on_the_command_line_make_jobs() {
    let scratch = Scratch::new();
    let args = [
        "fio",
        "--showcmd",
        "--bs=8k",
        "--name=a",
        "--rw",
        "randread",
        "--time_based",
    ];
    let shown = "fio --bs=8k --name=a --rw=randread --time_based";
    scratch.check(&args, 0, shown);
}

#[test]
fn a_refusal_names_file_and_line() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("jobs.fio"), "[a]\nioengine=rbd\n").expect("a job file");
    let said = "error: jobs.fio:2: ioengine=rbd: the engine rbd";
    scratch.check(&["fio", "jobs.fio"], 2, said);
    scratch.check(&["fio"], 2, "name a job file");
}
