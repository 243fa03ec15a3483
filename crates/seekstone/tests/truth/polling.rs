//! Polled completion is refused before anything is measured where there is nothing to poll.

use crate::support::Scratch;
use crate::support::storage::FileSystem;

fn check(scratch: &Scratch, args: &[&str], expected: &str) {
    let all = [args, &["--poll", "--no-save", "--quiet"]].concat();
    let ended = scratch.check(&all, 2, expected);
    assert_eq!(ended.stdout, "", "{args:?}");
}

#[test]
fn polling_a_device_without_queues_for_it_is_refused() {
    let test = "polling_a_device_without_queues_for_it_is_refused";
    let scratch = Scratch::new();
    let Some(made) = FileSystem::ext4(test, &scratch, 64, &[]) else {
        return;
    };
    let file = made.root.join("mine");
    std::fs::write(&file, vec![7; 4 << 20]).expect("a file");
    let file = file.to_str().expect("a plain path");
    for args in [
        &["trial", file][..],
        &["trial", made.path()],
        &["curve", made.path()],
    ] {
        check(&scratch, args, "has no poll queues");
    }
    scratch.assert_clean(&made.root);
}

#[test]
fn polling_what_is_no_device_is_refused() {
    let scratch = Scratch::new();
    check(&scratch, &["trial", "sim:mm1"], "a device with poll queues");
    check(&scratch, &["trial", "null:"], "no device to poll");
    check(&scratch, &["trial", "--buffered"], "cannot be used with");
    check(
        &scratch,
        &["curve", "--durable", "--writes=100%"],
        "cannot be used with",
    );
    check(&scratch, &["trial", "--driver=threads"], "needs io_uring");
    let test = "polling_what_is_no_device_is_refused";
    if let Some(memory) = FileSystem::tmpfs(test, &scratch, 64) {
        check(&scratch, &["trial", memory.path()], "not on a block device");
    }
}
