//! Loop devices of a test's own.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use drivers::{AccessMode, Caching, Target, TargetError, TargetOptions};
use tempfile::TempDir;

pub const SIZE: u64 = 16 << 20;

/// A loop device on a file of its own; detached when dropped, also by a panic.
pub struct Loop {
    pub path: PathBuf,
    pub scratch: TempDir,
    /// Commands that undo what was done, the last first.
    undo: Vec<Vec<String>>,
}

impl Loop {
    /// `None`, with a message, where loop devices cannot be had.
    pub fn new(options: &[&str]) -> Option<Self> {
        Self::holding(&[], options)
    }

    /// The same with `head` as its first bytes.
    pub fn holding(head: &[u8], options: &[&str]) -> Option<Self> {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let image = scratch.path().join("image");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(SIZE).unwrap();
        file.write_all_at(head, 0).unwrap();
        let path = attach(&image, options);
        Some(Self {
            path: path?,
            scratch,
            undo: Vec::new(),
        })
    }

    pub fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    pub fn image(&self) -> PathBuf {
        self.scratch.path().join("image")
    }

    pub fn overwrite(&self, confirmed: Option<&str>) -> Result<Target, TargetError> {
        overwrite(&self.path, confirmed)
    }

    /// The partition of 8 MiB, 1 MiB from the start; `None`, with a message, where there is none.
    pub fn first_partition(&self) -> Option<PathBuf> {
        // Not every kernel reads this kind of table, but every kernel can be told. When it has read
        // the table this fails, because the partition is there.
        let _ = Command::new("addpart")
            .arg(&self.path)
            .args(["1", "2048", "16384"])
            .output();
        let node = PathBuf::from(format!("{}p1", self.path.display()));
        if !node.exists() {
            eprintln!("skipped: no partition of a loop device can be had");
            return None;
        }
        Some(node)
    }

    /// False, with a message, when the tool is missing.
    pub fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let done = Command::new(program)
            .args(arguments)
            .arg(&self.path)
            .output();
        let is_done = done.is_ok_and(|output| output.status.success());
        if !is_done {
            eprintln!("skipped: {program} is missing or failed");
        }
        is_done
    }

    pub fn mount(&mut self) -> bool {
        let device = self.path.clone();
        self.mount_this(&device)
    }

    /// Mount another device at `point` in the scratch directory.
    pub fn mount_this(&mut self, device: &Path) -> bool {
        let point = self.scratch.path().join("point");
        std::fs::create_dir(&point).unwrap();
        self.change(
            &["mount".as_ref(), device, &point],
            &["umount".as_ref(), &point],
        )
    }

    /// One more loop device, on `under`; `None`, with a message, where there is none.
    pub fn another(&mut self, under: &Path, options: &[&str]) -> Option<PathBuf> {
        let made = attach(under, options)?;
        let undo = ["losetup", "-d", made.to_str().unwrap()];
        self.undo.push(undo.map(str::to_owned).to_vec());
        Some(made)
    }

    /// Run a command whose effect is undone later; false, with a message, when it fails.
    pub fn change(&mut self, done: &[&Path], undo: &[&Path]) -> bool {
        let is_done = Command::new(done[0])
            .args(&done[1..])
            .output()
            .is_ok_and(|output| output.status.success());
        if is_done {
            let words = undo.iter().map(|word| word.to_str().unwrap().to_owned());
            self.undo.push(words.collect());
        } else {
            eprintln!("skipped: {} is missing or failed", done[0].display());
        }
        is_done
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        for command in self.undo.iter().rev() {
            let _ = Command::new(&command[0]).args(&command[1..]).status();
        }
        let _ = Command::new("losetup").arg("-d").arg(&self.path).status();
    }
}

/// Open what may be overwritten.
pub fn overwrite(path: &Path, confirmed: Option<&str>) -> Result<Target, TargetError> {
    let options = TargetOptions {
        access: AccessMode::Overwrite,
        caching: Caching::Direct,
        signature_confirmed: confirmed.map(str::to_owned),
    };
    Target::open(path, &options)
}

/// `None`, with a message, where there can be no loop device.
fn attach(image: &Path, options: &[&str]) -> Option<PathBuf> {
    let made = Command::new("losetup")
        .args(["-f", "--show"])
        .args(options)
        .arg(image)
        .output();
    let path = made
        .ok()
        .filter(|made| made.status.success())
        .map(|made| PathBuf::from(String::from_utf8_lossy(&made.stdout).trim()));
    if path.is_none() {
        eprintln!("skipped: losetup is missing or may not make loop devices");
    }
    path
}
