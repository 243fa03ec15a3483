//! `cargo xtask files-table`: the DECUS tests on this machine's disk, on ext4, xfs and btrfs over
//! loop devices, and on tmpfs, beside each other in docs/evidence/file-systems.md. Loop devices
//! need root; a file system that cannot be made here is left out, and named.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::source::{cargo, root};

const BEGIN: &str = "<!-- files-table begins: cargo xtask files-table -->\n";
const END: &str = "<!-- files-table ends -->";
/// Room for the tests on a loop device, and for the smallest xfs.
const IMAGE_BYTES: u64 = 512 << 20;
const KINDS: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// Measure, and put the table into the document.
pub fn files_table(options: &[&str]) -> Result<()> {
    let (mut budget, mut program) = ("60s", None);
    for option in options.chunks(2) {
        match option {
            ["--budget", time] => budget = time,
            ["--program", path] => program = Some(PathBuf::from(path)),
            _ => bail!("usage: cargo xtask files-table [--budget TIME] [--program PATH]"),
        }
    }
    let program = program.map_or_else(build, Ok)?;
    let scratch = FilesTableDirectory::new()?;
    let archive = scratch.0.join("archive.db");
    let disk = scratch.0.join("disk");
    std::fs::create_dir(&disk)?;
    let mut count = 0;
    let mut measure = |directory: &Path| -> Result<()> {
        println!("measuring {}", directory.display());
        let status = Command::new(&program)
            .args([
                "files",
                "--memory",
                "none",
                "--reserve",
                "0",
                "--yes",
                "--quiet",
            ])
            .args(["--budget", budget, "--archive"])
            .arg(&archive)
            .arg(directory)
            .stdout(Stdio::null())
            .status()?;
        // 3: a number is doubtful, which the table's intervals show.
        if !matches!(status.code(), Some(0 | 3)) {
            bail!("the tests failed in {}", directory.display());
        }
        count += 1;
        Ok(())
    };
    measure(&disk)?;
    for kind in KINDS {
        match Mounted::new(&scratch.0, kind) {
            Ok(mounted) => measure(&mounted.root)?,
            Err(error) => println!("{kind} is left out: {error:#}"),
        }
    }
    match Mounted::tmpfs(&scratch.0) {
        Ok(mounted) => measure(&mounted.root)?,
        Err(error) => println!("tmpfs is left out: {error:#}"),
    }
    let numbers: Vec<String> = (1..=count).map(|id: usize| id.to_string()).collect();
    let table = Command::new(&program)
        .args(["runs", "compare", "--table", "files", "--archive"])
        .arg(&archive)
        .args(&numbers)
        .output()?;
    if !table.status.success() {
        bail!("{}", String::from_utf8_lossy(&table.stderr));
    }
    let text = String::from_utf8(table.stdout)?;
    // Where the scratch directory lies is nobody's concern.
    let text = text.replace(&scratch.0.display().to_string(), "/scratch");
    put(&text)
}

fn build() -> Result<PathBuf> {
    let status = cargo()
        .args(["build", "--release", "--locked", "--package", "seekstone"])
        .status()?;
    if !status.success() {
        bail!("the program cannot be built");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/seekstone"))
}

fn put(table: &str) -> Result<()> {
    let path = root().join("docs/evidence/file-systems.md");
    let text = std::fs::read_to_string(&path)?;
    let (before, rest) = text.split_once(BEGIN).context("no place for the table")?;
    let (_, after) = rest.split_once(END).context("no end of the table")?;
    let table = table.trim_end();
    std::fs::write(
        &path,
        format!("{before}{BEGIN}\n```text\n{table}\n```\n\n{END}{after}"),
    )?;
    println!("{table}");
    Ok(())
}

/// A directory on the disk of the build, removed at the end.
struct FilesTableDirectory(PathBuf);

impl FilesTableDirectory {
    fn new() -> Result<Self> {
        let path = root().join(format!("target/files-table-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for FilesTableDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A mounted file system, and the loop device beneath it.
struct Mounted {
    root: PathBuf,
    device: Option<String>,
}

impl Mounted {
    fn new(scratch: &Path, kind: &str) -> Result<Self> {
        let image = scratch.join(format!("{kind}.image"));
        std::fs::File::create_new(&image)?.set_len(IMAGE_BYTES)?;
        let image = image.to_str().context("a plain path")?;
        let device = output_of("losetup", &["-f", "--show", image])?;
        let root = scratch.join(kind);
        std::fs::create_dir(&root)?;
        let mounted = Self {
            root,
            device: Some(device.clone()),
        };
        let make = format!("mkfs.{kind}");
        output_of(&make, &["-q", &device])?;
        output_of("mount", &[&device, mounted.path()?])?;
        Ok(mounted)
    }

    fn tmpfs(scratch: &Path) -> Result<Self> {
        let root = scratch.join("tmpfs");
        std::fs::create_dir(&root)?;
        let mounted = Self { root, device: None };
        output_of("mount", &["-t", "tmpfs", "seekstone", mounted.path()?])?;
        Ok(mounted)
    }

    fn path(&self) -> Result<&str> {
        self.root.to_str().context("a plain path")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Ok(path) = self.path() {
            let _ = output_of("umount", &[path]);
        }
        if let Some(device) = &self.device {
            let _ = output_of("losetup", &["-d", device]);
        }
    }
}

/// What a command prints; an error when it fails.
fn output_of(program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(args)
        .output()
        .with_context(|| format!("{program} cannot be run"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("{program}: {}", why.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
