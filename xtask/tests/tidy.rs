//! The tree is in order, as `cargo xtask tidy` says it: here with the program that the tests of the
//! workspace have built anyway.

use std::path::Path;
use std::process::Command;

#[test]
fn the_tree_is_in_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut tidy = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let found = tidy.arg("tidy").current_dir(root).output();
    let found = found.expect("xtask");
    let told = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "{told}");
}
