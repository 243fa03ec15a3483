//! What the kernel says of the machine, in the files of `/proc` and `/sys`, and `smartctl` of a drive.

use std::path::PathBuf;
use std::sync::LazyLock;

use host::inspect::SystemRoots;

const FILES: [&str; 13] = [
    "proc/self/mountinfo",
    "proc/self/cgroup",
    "proc/meminfo",
    "proc/cpuinfo",
    "proc/loadavg",
    "proc/stat",
    "proc/pressure/io",
    "proc/mdstat",
    "proc/self/stat",
    "proc/self/io",
    "sys/class/block/sda/stat",
    "sys/devices/system/cpu/online",
    "sys/fs/cgroup/io.max",
];

static SCRATCH: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = super::super::kit::scratch("system");
    for file in FILES {
        let file = path.join(file);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("room in memory");
    }
    path
});

pub fn read(bytes: &[u8]) {
    host::readers::drive_report(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let pieces = super::super::kit::pieces(text);
    for (file, piece) in FILES
        .iter()
        .zip(pieces.iter().chain(std::iter::repeat(&"")))
    {
        std::fs::write(SCRATCH.join(file), piece).expect("room in memory");
    }
    let facts = SystemRoots {
        proc: SCRATCH.join("proc"),
        sys: SCRATCH.join("sys"),
    };
    let machine = host::environment::capture_from(&facts);
    let _ = host::inspect::machine_cautions(&machine);
    host::readers::system_text(&facts);
}
