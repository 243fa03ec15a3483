//! A file server and four clients, each in a network namespace of its own, on a bridge: one load
//! curve of the server, with the hosts named. Server: nfs-ganesha with NFS version 3; clients:
//! libnfs beneath FUSE, as in studies/nfs-linux.toml. Their mounts share no locks.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::ranks::{MPICH, json, launcher, rows, with_shim};
use crate::support::{PROGRAM, Scratch, finish, is_installed, skipped};
use serde_json::Value;

const CLIENTS: u32 = 4;

/// $1: what names begin with. The mounts end when the last process of a namespace is killed.
const UP: &str = r#"
set -e
ip netns add "$1s"
ip netns exec "$1s" ip link set lo up
ip netns exec "$1s" ip link add br0 type bridge
ip netns exec "$1s" ip addr add 10.97.1.254/24 dev br0
ip netns exec "$1s" ip link set br0 up
for i in 0 1 2 3; do
    ip netns add "$1$i"
    ip netns exec "$1$i" ip link set lo up
    ip link add "$1v$i" netns "$1s" type veth peer name eth0 netns "$1$i"
    ip netns exec "$1s" ip link set "$1v$i" master br0 up
    ip netns exec "$1$i" ip addr add "10.97.1.$((i + 1))/24" dev eth0
    ip netns exec "$1$i" ip link set eth0 up
done
mkdir export recovery shared
cat > ganesha.conf <<END
NFS_CORE_PARAM { Protocols = 3; Enable_NLM = false; Enable_RQUOTA = false;
    allow_set_io_flusher_fail = true; }
NFSv4 { Graceless = true; RecoveryRoot = $PWD/recovery; }
NFS_KRB5 { Active_krb5 = false; }
EXPORT { Export_Id = 1; Path = $PWD/export; Pseudo = /export; Access_Type = RW;
    Squash = No_Root_Squash; SecType = sys; Protocols = 3; Transports = TCP;
    FSAL { Name = VFS; } }
END
nsenter --net="/run/netns/$1s" unshare -m sh -c 'mount -t tmpfs none /run && rpcbind -w &&
    exec ganesha.nfsd -F -L ganesha.log -f ganesha.conf -p ganesha.pid' > server.log 2>&1 &
for i in 0 1 2 3; do
    mkdir "mnt$i"
    nsenter --net="/run/netns/$1$i" /usr/bin/python3 mount.py 10.97.1.254 "$PWD/export" "mnt$i" \
        131072 > "mount$i.log" 2>&1 &
done
for i in 0 1 2 3; do
    tries=600
    until mountpoint -q "mnt$i"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { cat server.log "mount$i.log"; exit 1; }
        sleep 0.1
    done
done
"#;

const DOWN: &str = r#"
for i in 0 1 2 3; do umount -l "mnt$i" 2> /dev/null; done
for end in s 0 1 2 3; do
    pids=$(ip netns pids "$1$end" 2> /dev/null)
    [ -z "$pids" ] || kill -KILL $pids
    ip netns del "$1$end" 2> /dev/null
done
"#;

/// A rank with a host name of its own, on the mount of its client.
const RANK: &str = r#"exec unshare -m -u sh -c 'hostname "client-$PMI_RANK" &&
    mount --bind "mnt$PMI_RANK" shared && exec "$0" "$@"' "$0" "$@""#;

/// Taken down when dropped.
struct Network<'a> {
    scratch: &'a Scratch,
    name: String,
}

impl<'a> Network<'a> {
    fn up(scratch: &'a Scratch) -> Self {
        let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/nfs-linux.toml");
        let study = fs::read_to_string(study).expect("the study");
        let (_, mount) = study
            .split_once("cat > mount.py <<'END'\n")
            .expect("its client");
        let (mount, _) = mount.split_once("\nEND\n").expect("its end");
        fs::write(scratch.path("mount.py"), mount).expect("a file");
        let network = Self {
            scratch,
            name: format!("sk{}", std::process::id() % 100_000),
        };
        let done = network.script(UP).wait();
        let log = fs::read_to_string(scratch.path("script.log")).unwrap_or_default();
        assert!(done.expect("a shell").success(), "{log}");
        network
    }

    /// Its output goes into a file: what it leaves running would hold a pipe open.
    fn script(&self, script: &str) -> Child {
        let log = fs::File::create(self.scratch.path("script.log")).expect("a log");
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", &self.name]);
        self.scratch.settle(&mut command);
        command
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("a log"));
        command.stdout(log).spawn().expect("a shell")
    }
}

impl Drop for Network<'_> {
    fn drop(&mut self) {
        let _ = self.script(DOWN).wait();
    }
}

/// Why there can be no such network here.
fn missing() -> Option<&'static str> {
    let programs = [
        "ip",
        "nsenter",
        "unshare",
        "rpcbind",
        "ganesha.nfsd",
        "mountpoint",
    ];
    let program = programs.into_iter().find(|it| !is_installed(it));
    let runs = |program: &str, args: &[&str]| {
        let done = Command::new(program)
            .args(args)
            .stderr(Stdio::null())
            .status();
        done.is_ok_and(|it| it.success())
    };
    let python = "import ctypes, fusepy; ctypes.CDLL('libnfs.so.13')";
    program.or_else(|| match () {
        () if !rustix::process::getuid().is_root() => Some("root"),
        () if !runs("unshare", &["-n", "-u", "-m", "true"]) => Some("a right to namespaces"),
        () if !Path::new("/dev/fuse").exists() => Some("/dev/fuse"),
        () if !runs("/usr/bin/python3", &["-c", python]) => Some("fusepy or libnfs"),
        () => None,
    })
}

/// What four ranks measure on the server.
fn measured(scratch: &Scratch, args: &[&str]) -> Value {
    let ranks = CLIENTS.to_string();
    let mut command = launcher(scratch, &MPICH, &["-n", &ranks, "sh", "-c", RANK, PROGRAM]);
    command.args(args);
    command.args(["--size", "4MiB", "--reserve", "0", "--json", "run.json"]);
    let ended = finish(command);
    // Four ranks of 128 clients may stand still on two processors: that voids their rows, rightly.
    let is_void = ended.code == Some(3) && ended.stdout.contains("was paused for");
    ended.check(args, if is_void { 3 } else { 0 }, "Saved as run ");
    // Rank 0 sees the others' files, and cannot see that they are locked.
    assert!(!ended.stderr.contains("A killed run"), "{ended:?}");
    scratch.assert_clean(&scratch.path("export"));
    json(&scratch.path("run.json"))
}

fn titles(run: &Value) -> Vec<String> {
    let titles = rows(run).iter().filter_map(|it| it["title"].as_str());
    titles.map(ToOwned::to_owned).collect()
}

#[test]
fn a_curve_of_a_file_server_names_its_four_clients() {
    let test = "a_curve_of_a_file_server_names_its_four_clients";
    if let Some(what) = missing() {
        skipped(test, &format!("{what} is missing"));
        return;
    }
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let network = Network::up(&scratch);
    let curve = measured(&scratch, &["curve", "shared", "--budget", "10s"]);
    let found = titles(&curve);
    // At its highest throughput not all clients need to be at work.
    assert!(
        found.iter().any(|it| it.contains("rank 0 on client-0")),
        "{found:?}"
    );
    assert!(curve["curves"][0].is_object(), "a load curve");
    let said = curve["warnings"].to_string();
    assert!(said.contains("4 ranks"), "{said}");
    let trial = measured(
        &scratch,
        &["trial", "shared", "--clients", "8", "--duration", "1s"],
    );
    let expected: Vec<String> = (0..CLIENTS)
        .map(|client| format!("rank {client} on client-{client}"))
        .collect();
    assert_eq!(titles(&trial)[1..], expected);
    drop(network);
}
