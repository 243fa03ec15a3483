//! The Debian package: installed into a root of its own, run there, and removed without a trace.
//! Skipped where there is no dpkg, or no program was built.
#![allow(clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program as the tests of the workspace build it.
fn program() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let found = own.with_file_name("seekstone");
    found.exists().then_some(found)
}

fn succeeded(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{told}");
    said
}

fn dpkg(root: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("dpkg");
    command
        .arg(format!("--root={}", root.display()))
        // The root holds no C library and nobody's path.
        .args(["--force-depends", "--force-not-root", "--force-bad-path"])
        .arg(format!("--log={}", root.join("dpkg.log").display()))
        .args(arguments);
    succeeded(&command.output().expect("dpkg"))
}

/// Files and links below a directory, without the package manager's own.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true if path.ends_with("var/lib/dpkg") => {}
            true => found.extend(files(&path)),
            false if path.ends_with("dpkg.log") => {}
            false => found.push(path),
        }
    }
    found.sort();
    found
}

#[test]
fn a_package_is_installed_and_removed() {
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let (Some(program), true) = (program(), is_there("dpkg") && is_there("dpkg-deb")) else {
        eprintln!("skipped: a_package_is_installed_and_removed: no dpkg, or no program was built");
        return;
    };
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (out, root) = (place.path().join("out"), place.path().join("root"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .args(["package", "--binary"])
        .arg(&program)
        .arg("--out")
        .arg(&out)
        // Packing a test build well would take half a minute; an old dpkg-deb does.
        .env("DPKG_DEB_COMPRESSOR_TYPE", "none");
    let said = succeeded(&command.output().expect("xtask"));
    let package = said
        .trim()
        .strip_prefix("wrote ")
        .expect("a package")
        .to_owned();
    assert!(package.ends_with(".deb"), "{package}");
    assert_eq!(files(&out), [PathBuf::from(&package)], "the stage is left");

    for part in ["info", "updates", "triggers"] {
        fs::create_dir_all(root.join("var/lib/dpkg").join(part)).expect("a directory");
    }
    fs::write(root.join("var/lib/dpkg/status"), "").expect("a file");
    dpkg(&root, &["--install", &package]);
    let installed = root.join("usr/bin/seekstone");
    let version = Command::new(&installed).arg("--version").output();
    let version = succeeded(&version.expect("the program"));
    let declared = dpkg(&root, &["--status", "seekstone"]);
    let declared = declared
        .lines()
        .find_map(|line| line.strip_prefix("Version: "));
    assert_eq!(version.trim().strip_prefix("seekstone "), declared);
    for name in [
        "usr/share/man/man1/seekstone.1.gz",
        "usr/share/man/man1/seekstone-run.1.gz",
        "usr/share/man/man1/seekstone-serve.1.gz",
        "usr/share/bash-completion/completions/seekstone",
        "usr/share/zsh/vendor-completions/_seekstone",
        "usr/share/fish/vendor_completions.d/seekstone.fish",
        "usr/share/doc/seekstone/copyright",
        "usr/share/doc/seekstone/changelog.gz",
        "usr/share/seekstone/seekstone.schema.json",
    ] {
        let file = root.join(name);
        assert!(file.metadata().is_ok_and(|it| it.len() > 0), "{name}");
    }
    dpkg(&root, &["--purge", "seekstone"]);
    assert_eq!(files(&root), Vec::<PathBuf>::new(), "left behind");
}

/// What a container is allowed: io_uring, and nothing that changes the host.
#[test]
fn the_seccomp_profile_allows_io_uring_alone_of_what_runtimes_refuse() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/seccomp.json");
    let text = fs::read_to_string(path).expect("the profile");
    let profile: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(profile["defaultAction"], "SCMP_ACT_ALLOW");
    let rules = profile["syscalls"].as_array().expect("rules");
    assert!(rules.iter().all(|rule| rule["action"] == "SCMP_ACT_ERRNO"));
    let names = rules.iter().flat_map(|rule| rule["names"].as_array());
    let names: Vec<&str> = names.flatten().filter_map(|name| name.as_str()).collect();
    assert!(names.iter().all(|name| !name.starts_with("io_uring")));
    for name in [
        "mount",
        "ptrace",
        "bpf",
        "init_module",
        "reboot",
        "setns",
        "unshare",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(names.is_sorted(), "{names:?}");
}
