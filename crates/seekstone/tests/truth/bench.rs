//! The comparison with fio and a bare loop runs, in a form so small that it proves nothing else.

use std::path::Path;
use std::process::Command;

use crate::support::skipped;

#[test]
fn the_comparison_prints_a_line_for_each_case() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let seekstone = Path::new(env!("CARGO_BIN_EXE_seekstone"));
    // Tests of the workspace build it; those of this package alone do not.
    let xtask = seekstone.with_file_name("xtask");
    if !xtask.exists() {
        let test = "the_comparison_prints_a_line_for_each_case";
        return skipped(test, "xtask is not built");
    }
    let output = Command::new(xtask)
        .current_dir(root)
        .args(["bench", "--tiny", "--seekstone"])
        .arg(seekstone)
        .arg("--folder")
        .arg(folder.path())
        .output()
        .expect("xtask");
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}\n{said}");
    assert!(
        printed.contains("tmpfs 4 KiB / bare pread loop"),
        "{printed}"
    );
    let has_fio = Command::new("fio").arg("--version").output().is_ok();
    if has_fio {
        assert!(
            printed.contains("direct 4 KiB random read, depth 32"),
            "{printed}"
        );
    } else {
        skipped(
            "the_comparison_prints_a_line_for_each_case",
            "fio is not installed",
        );
    }
}
