//! The recipe of the container, carried out by hand where no container runtime is: its last stage
//! on an overlay of this system, as its user, under the seccomp profile that is shipped. What only
//! a runtime can show stays open: that the images exist, and that the first stage builds in one.
#![cfg(target_arch = "x86_64")]
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Ended, PROGRAM, Scratch, finish, seccomp, skipped, with_enough_time};
use rustix::thread::UnshareFlags;

/// The same for all that ranges over the sources.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// One load, whose driver is of interest.
const TRIAL: [&str; 8] = [
    "trial",
    "--duration",
    "1s",
    "--size",
    "4MiB",
    "--json",
    "-",
    ".",
];

macro_rules! numbers {
    ($($name:ident => $number:ident),* $(,)?) => {
        [$((stringify!($name), libc::$number)),*]
    };
}

/// System calls of the profile by number, and those of io_uring.
fn numbers() -> BTreeMap<&'static str, libc::c_long> {
    let numbers = numbers![
        acct => SYS_acct,
        add_key => SYS_add_key,
        bpf => SYS_bpf,
        clock_adjtime => SYS_clock_adjtime,
        clock_settime => SYS_clock_settime,
        delete_module => SYS_delete_module,
        fanotify_init => SYS_fanotify_init,
        finit_module => SYS_finit_module,
        fsconfig => SYS_fsconfig,
        fsmount => SYS_fsmount,
        fsopen => SYS_fsopen,
        fspick => SYS_fspick,
        get_mempolicy => SYS_get_mempolicy,
        init_module => SYS_init_module,
        ioperm => SYS_ioperm,
        iopl => SYS_iopl,
        kcmp => SYS_kcmp,
        kexec_file_load => SYS_kexec_file_load,
        kexec_load => SYS_kexec_load,
        keyctl => SYS_keyctl,
        lookup_dcookie => SYS_lookup_dcookie,
        mbind => SYS_mbind,
        migrate_pages => SYS_migrate_pages,
        mount => SYS_mount,
        mount_setattr => SYS_mount_setattr,
        move_mount => SYS_move_mount,
        move_pages => SYS_move_pages,
        name_to_handle_at => SYS_name_to_handle_at,
        nfsservctl => SYS_nfsservctl,
        open_by_handle_at => SYS_open_by_handle_at,
        open_tree => SYS_open_tree,
        perf_event_open => SYS_perf_event_open,
        pidfd_getfd => SYS_pidfd_getfd,
        pivot_root => SYS_pivot_root,
        process_vm_readv => SYS_process_vm_readv,
        process_vm_writev => SYS_process_vm_writev,
        ptrace => SYS_ptrace,
        quotactl => SYS_quotactl,
        quotactl_fd => SYS_quotactl_fd,
        reboot => SYS_reboot,
        request_key => SYS_request_key,
        set_mempolicy => SYS_set_mempolicy,
        setdomainname => SYS_setdomainname,
        sethostname => SYS_sethostname,
        setns => SYS_setns,
        settimeofday => SYS_settimeofday,
        swapoff => SYS_swapoff,
        swapon => SYS_swapon,
        sysfs => SYS_sysfs,
        umount2 => SYS_umount2,
        unshare => SYS_unshare,
        uselib => SYS_uselib,
        userfaultfd => SYS_userfaultfd,
        ustat => SYS_ustat,
        io_uring_setup => SYS_io_uring_setup,
        io_uring_enter => SYS_io_uring_enter,
        io_uring_register => SYS_io_uring_register,
    ];
    numbers.into()
}

/// Names of the profile that have no number here: calls of other processors and of old kernels.
const FOREIGN: [&str; 6] = [
    "create_module",
    "get_kernel_syms",
    "query_module",
    "umount",
    "vm86",
    "vm86old",
];

/// The calls that the profile refuses, by name.
fn refused() -> Vec<String> {
    let text = fs::read_to_string(format!("{SOURCES}/packaging/seccomp.json")).expect("a profile");
    let profile: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let rules = profile["syscalls"].as_array().expect("rules");
    let names = rules.iter().flat_map(|rule| rule["names"].as_array());
    let names = names.flatten().filter_map(|name| name.as_str());
    names.map(str::to_owned).collect()
}

/// A program of the kernel's filter: EPERM for these calls, all others pass.
fn filter(names: &[String]) -> Vec<libc::sock_filter> {
    let known = numbers();
    let calls: Vec<libc::c_long> = names
        .iter()
        .filter(|name| !FOREIGN.contains(&name.as_str()))
        .map(|name| *known.get(name.as_str()).unwrap_or_else(|| panic!("{name}")))
        .collect();
    seccomp::refusing(&calls, libc::EPERM)
}

/// The last stage of the recipe.
#[derive(Default)]
struct Stage {
    copied: Vec<(String, String)>,
    run: Vec<String>,
    environment: Vec<(String, String)>,
    user: u32,
    directory: String,
    entry: Vec<String>,
    arguments: Vec<String>,
}

fn listed(text: &str) -> Vec<String> {
    serde_json::from_str(text).expect("a list")
}

/// Read the recipe, whose first stage has to build what the last one copies.
fn recipe() -> Stage {
    let path = format!("{SOURCES}/packaging/Containerfile");
    let text = fs::read_to_string(path).expect("the recipe");
    let manifest = fs::read_to_string(format!("{SOURCES}/Cargo.toml")).expect("the manifest");
    let mut stage = Stage::default();
    for line in text
        .lines()
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
    {
        let (word, rest) = line.split_once(' ').expect("an instruction");
        match word {
            "FROM" => {
                if let Some((image, name)) = rest.split_once(" AS ") {
                    let version = image.rsplit_once(":").expect("a version").1;
                    let version = version.split('-').next().expect("a number");
                    assert_eq!(name, "build");
                    assert!(manifest.contains(&format!("rust-version = \"{version}\"")));
                } else {
                    assert_eq!(
                        stage.run,
                        ["cargo build --profile dist --features all --locked -p seekstone"]
                    );
                    assert_eq!(stage.directory, "/src");
                    stage = Stage::default();
                }
            }
            "COPY" => {
                let (from, to) = rest.rsplit_once(' ').expect("two paths");
                stage.copied.push((from.to_owned(), to.to_owned()));
            }
            "RUN" => stage.run.push(rest.to_owned()),
            "ENV" => {
                let (name, value) = rest.split_once('=').expect("a variable");
                stage.environment.push((name.to_owned(), value.to_owned()));
            }
            "USER" => {
                let (user, group) = rest.split_once(':').expect("a user and a group");
                assert_eq!(user, group);
                stage.user = user.parse().expect("a number");
            }
            "WORKDIR" => rest.clone_into(&mut stage.directory),
            "ENTRYPOINT" => stage.entry = listed(rest),
            "CMD" => stage.arguments = listed(rest),
            "VOLUME" => assert!(rest.starts_with("/var/lib/")),
            other => panic!("{other}: what does it do?"),
        }
    }
    stage
}

/// A root with what the recipe puts there, in a mount namespace of this thread's own.
struct Root {
    path: PathBuf,
    stage: Stage,
}

impl Root {
    /// `None` where mounts are not allowed.
    fn of(scratch: &Scratch, stage: Stage) -> Option<Self> {
        // SAFETY: only the mounts of this thread become its own.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.ok()?;
        let path = scratch.path("root");
        let names = ["root", "upper", "work", "volume"].map(|name| scratch.path(name));
        names
            .iter()
            .for_each(|it| fs::create_dir(it).expect("a directory"));
        let [_, upper, work, volume] = &names;
        let layers = format!(
            "lowerdir=/,upperdir={},workdir={}",
            upper.display(),
            work.display()
        );
        let root = path.display().to_string();
        let there = |name: &str| format!("{root}{name}");
        mounted(&["--make-rprivate", "/"])
            .then(|| mounted(&["-t", "overlay", "overlay", "-o", &layers, &root]))
            .filter(|is_done| *is_done)?;
        for (name, kind) in [("/proc", "proc"), ("/sys", "sysfs")] {
            assert!(mounted(&["-t", kind, kind, &there(name)]), "{name}");
        }
        assert!(mounted(&["--bind", "/dev", &there("/dev")]));
        // The host's certificates are there already.
        let [(from, to), _certificates] = stage.copied.as_slice() else {
            panic!("{:?}", stage.copied);
        };
        assert_eq!(from, "--from=build /src/target/dist/seekstone");
        fs::copy(PROGRAM, there(to)).expect("a copy");
        for command in &stage.run {
            let mut chroot = Command::new("chroot");
            chroot.args([&root, "/bin/sh", "-c", command]);
            assert!(chroot.status().expect("chroot").success(), "{command}");
        }
        fs::create_dir_all(there(&stage.directory)).expect("a directory");
        let volume = volume.display().to_string();
        assert!(mounted(&["--bind", &volume, &there(&stage.directory)]));
        chown(&volume, Some(stage.user), Some(stage.user)).expect("an owner");
        Some(Self { path, stage })
    }

    /// Start the container's program, or another, with these calls refused.
    fn start(&self, program: &[String], arguments: &[&str], refused: &[String]) -> Ended {
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]).args(arguments).env_clear();
        command.envs(self.stage.environment.iter().cloned());
        // Other tests use the same disk.
        command.env("SEEKSTONE_SHARED", "1");
        let steps = filter(refused);
        let (root, user) = (self.path.clone(), self.stage.user);
        let directory = self.stage.directory.clone();
        let enter = move || {
            rustix::process::chroot(&root)?;
            std::env::set_current_dir(Path::new(&directory))?;
            // SAFETY: the calls take numbers alone.
            let is_user = unsafe {
                libc::setgroups(0, std::ptr::null()) == 0
                    && libc::setresgid(user, user, user) == 0
                    && libc::setresuid(user, user, user) == 0
            };
            match is_user {
                true => seccomp::enter(&steps),
                false => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: between fork and exec only system calls are made.
        unsafe { command.pre_exec(enter) };
        finish(command)
    }
}

fn mounted(arguments: &[&str]) -> bool {
    let mount = Command::new("mount").args(arguments).output();
    mount.is_ok_and(|it| it.status.success())
}

fn driver(ended: &Ended) -> String {
    let measurement = &ended.json()["measurements"][0];
    measurement["driver"].as_str().expect("a name").to_owned()
}

/// In a thread, whose mount namespace goes with it.
fn contained(test: &str, check: impl FnOnce(&Root) + Send) {
    let scratch = Scratch::new();
    let is_root = rustix::process::geteuid().is_root();
    let done = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let root = is_root.then(|| Root::of(&scratch, recipe())).flatten();
            root.map(|root| check(&root))
        });
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    if done.is_none() {
        skipped(test, "needs root and overlay mounts");
    }
}

#[test]
fn the_image_measures_its_volume_as_nobody_and_keeps_the_run() {
    let test = "the_image_measures_its_volume_as_nobody_and_keeps_the_run";
    contained(test, |root| {
        let default: Vec<&str> = root.stage.arguments.iter().map(String::as_str).collect();
        let ended = with_enough_time(|budget| {
            let args = [&default[..], &["--budget", budget, "--size", "16MiB"]].concat();
            let ended = root.start(&root.stage.entry, &args, &refused());
            (!ended.error().contains("--budget")).then_some(ended)
        });
        ended.check(&default, 0, "Saved as run ");
        let archive = root.path.join("var/lib/seekstone/archive.db");
        let archive = fs::metadata(archive).expect("an archive");
        assert_eq!(std::os::unix::fs::MetadataExt::uid(&archive), 65_534);
    });
}

#[test]
fn the_profile_decides_between_io_uring_and_threads() {
    let test = "the_profile_decides_between_io_uring_and_threads";
    contained(test, |root| {
        let entry = &root.stage.entry;
        let free = root.start(entry, &TRIAL, &[]);
        free.check(&TRIAL, 0, "");
        if driver(&free) != "io_uring" {
            skipped(test, "io_uring is refused here without any profile");
            return;
        }
        let shipped = root.start(entry, &TRIAL, &refused());
        shipped.check(&TRIAL, 0, "");
        assert_eq!(driver(&shipped), "io_uring");
        let spy = ["/usr/bin/unshare".to_owned(), "--mount".to_owned()];
        let spied = root.start(&spy, &["true"], &refused());
        assert_eq!(spied.code, Some(1), "{}", spied.stderr);
        assert!(spied.stderr.contains("Operation not permitted"));

        // As the runtimes' own profiles do.
        let mut narrow = refused();
        narrow.extend(["setup", "enter", "register"].map(|it| format!("io_uring_{it}")));
        let ended = root.start(entry, &TRIAL, &narrow);
        let fell_back = "measured by blocking threads, since io_uring is refused here (a sandbox \
                         forbids the system call)";
        ended.check(&TRIAL, 0, fell_back);
        assert_eq!(driver(&ended), "threads");
    });
}
