//! `trial --verify`: an honest target has nothing wrong; one that is changed meanwhile is found
//! out.

mod support;

use support::Scratch;

const TRIAL: [&str; 10] = [
    "trial",
    "--verify",
    "--no-save",
    "--writes",
    "50%",
    "--clients",
    "4",
    "--duration",
    "300ms",
    "--quiet",
];

#[test]
fn an_honest_directory_and_an_honest_file_pass() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let directory = target.to_str().expect("text");
    let args = [&TRIAL[..], &["--size", "16MiB", directory]].concat();
    scratch.check(&args, 0, "random 50 % write 4 KiB");
    let file = scratch.path("data");
    std::fs::write(&file, vec![3; 8 << 20]).expect("a file");
    let name = file.to_str().expect("text");
    let args = [&TRIAL[..], &["--overwrite", name]].concat();
    scratch.check(&args, 0, "random 50 % write 4 KiB");
    let written = std::fs::read(&file).expect("the file");
    assert!(
        written
            .chunks(512)
            .any(|sector| sector.starts_with(b"SkVf"))
    );
}

/// A file whose sectors are zeroed while the trial goes on, again and again.
#[test]
fn a_file_that_loses_writes_is_found_out() {
    use std::os::unix::fs::FileExt as _;
    let scratch = Scratch::new();
    let file = scratch.path("data");
    std::fs::write(&file, vec![3; 1 << 20]).expect("a file");
    let name = file.to_str().expect("text");
    let args = [&TRIAL[..], &["--buffered", "--overwrite", name]].concat();
    let mut child = support::Running::start(scratch.seekstone(args));
    let open = std::fs::File::options()
        .write(true)
        .open(&file)
        .expect("the file");
    while child.is_running() {
        for block in 0..256 {
            open.write_all_at(&[0; 4096], block * 4096)
                .expect("a write");
        }
    }
    let ended = child.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("lost"), "{ended:?}");
}

#[test]
fn what_holds_no_data_is_refused() {
    let scratch = Scratch::new();
    let refused = |more: &[&str], said| scratch.check(&[&TRIAL[..], more].concat(), 2, said);
    refused(&["sim:nvme"], "--verify: sim:nvme holds no data");
    refused(&["null:"], "--verify: null: holds no data");
    refused(&["--block", "1000"], "whole sectors of 512 bytes");
}
