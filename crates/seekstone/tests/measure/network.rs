//! `seekstone wire` as a user runs it.

use crate::support::network::Link;
use crate::support::{Scratch, finish};

#[test]
fn a_link_is_there_until_it_is_told_to_end() {
    let scratch = Scratch::new();
    let Some(link) = Link::new("wire", &scratch, &["--delay", "1ms"]) else {
        return;
    };
    let (near, far) = (link.near.clone(), link.far.clone());
    assert_eq!(Link::is_there(&near, &far), [true, true]);
    let again = ["wire", &near, "10.90.0.1/24", "other", "10.90.0.2/24"];
    scratch.check(&again, 1, "exists already");
    assert_eq!(Link::is_there(&near, "other"), [true, false]);
    let pid = link
        .pid()
        .expect("its process")
        .as_raw_nonzero()
        .to_string();
    // The file with the number is foreign for the next one.
    let file = scratch.path("wire.pid").display().to_string();
    let taken = [
        "wire",
        "a",
        "10.91.0.1/24",
        "b",
        "10.91.0.2/24",
        "--background",
        "--pid-file",
    ];
    scratch.check(&[taken.as_slice(), &[&file]].concat(), 1, "cannot make");
    assert_eq!(
        std::fs::read_to_string(&file).expect("the number").trim(),
        pid
    );
    drop(link);
    assert_eq!(Link::is_there(&near, &far), [false, false]);
    assert!(!scratch.path("wire.pid").exists());
}

#[test]
fn mistakes_are_named_before_anything_is_made() {
    let scratch = Scratch::new();
    let check = |args: &[&str], expected: &str| {
        let all = [&["wire"], args].concat();
        finish(scratch.seekstone(&all)).check(&all, 2, expected);
    };
    check(
        &["a", "10.0.0.1", "b", "10.0.0.2/24"],
        "such as 10.90.0.1/24",
    );
    check(
        &["a b", "10.0.0.1/24", "c", "10.0.0.2/24"],
        "not a name for a network namespace",
    );
    check(
        &["a", "10.0.0.1/24", "a", "10.0.0.2/24"],
        "names and addresses of their own",
    );
    check(
        &["a", "10.0.0.1/24", "b", "10.1.0.2/24"],
        "lie in different networks",
    );
    let ends = ["a", "10.0.0.1/24", "b", "10.0.0.2/24"];
    check(
        &[&ends[..], &["--rate", "10MB/s"]].concat(),
        "such as 10Mbit/s",
    );
    check(
        &[&ends[..], &["--loss", "120%"]].concat(),
        "must be between 0% and 100%",
    );
    check(&[&ends[..], &["--delay", "-5ms"]].concat(), "'--delay");
    // Without a rate nothing waits, and without losses nothing is drawn.
    check(&[&ends[..], &["--queue", "1MiB"]].concat(), "--rate");
    check(&[&ends[..], &["--seed", "2"]].concat(), "--loss");
    check(&[&ends[..], &["--background"]].concat(), "--pid-file");
}
