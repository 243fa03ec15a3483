//! Kubernetes: an MPIJob for the operator, or a Job of its own where there is none.

use serde_json::Value;

use super::{Launch, Mpi, Pods};

/// Where `sshd` of the pods of an Indexed Job listens.
const SSH_PORT: u16 = 2222;
/// Where their keys are mounted.
const KEYS: &str = "/etc/seekstone-ssh";
/// What the pods of an Indexed Job do: all let the first in, and the first starts the ranks once
/// all do. Placed before it: number of hosts, their name, what a host's line ends in, where keys
/// are, and the port.
const SCRIPT: &str = include_str!("templates/hosts.sh");

/// The MPIJob.
pub(super) fn mpi_job(launch: &Launch, pods: &Pods, ranks: u32) -> String {
    let library = match pods.mpi {
        Mpi::OpenMpi => "OpenMPI",
        Mpi::Mpich => "MPICH",
    };
    let mut start = vec!["-n".to_owned(), ranks.to_string()];
    if pods.mpi == Mpi::Mpich {
        start.extend(["-ppn".to_owned(), launch.ranks_per_host.to_string()]);
    }
    format!(
        include_str!("templates/mpi_job.yaml"),
        name = launch.name,
        hosts = launch.hosts,
        each = launch.ranks_per_host,
        library = library,
        time = launch.time.as_nanos().div_ceil(1_000_000_000),
        image = text(&pods.image),
        start = list(&ranked(start, launch, pods.mpi)),
        root = root_is_welcome(pods.mpi, "            "),
        mount = text(&pods.mount),
        claim = text(&pods.claim),
    )
}

/// The Job, and the service by which its first pod finds the others, before they are ready, too.
/// One pod is on each host: two on one would share its network card, and be taken for two hosts.
pub(super) fn indexed_job(launch: &Launch, pods: &Pods, ranks: u32) -> String {
    let Launch { name, hosts, .. } = launch;
    let each = launch.ranks_per_host;
    let (file, slots) = match pods.mpi {
        Mpi::OpenMpi => ("--hostfile", format!(" slots={each}")),
        Mpi::Mpich => ("-f", format!(":{each}")),
    };
    let start = ["mpirun", file, "/tmp/hosts", "-n", &ranks.to_string()].map(str::to_owned);
    let before = [
        &hosts.to_string(),
        name,
        &slots,
        KEYS,
        &SSH_PORT.to_string(),
    ];
    let mut args = before.map(str::to_owned).to_vec();
    args.extend(ranked(start.to_vec(), launch, pods.mpi));
    format!(
        include_str!("templates/indexed_job.yaml"),
        name = name,
        hosts = hosts,
        port = SSH_PORT,
        time = launch.time.as_nanos().div_ceil(1_000_000_000),
        image = text(&pods.image),
        script = text(SCRIPT),
        args = list(&args),
        root = root_is_welcome(pods.mpi, "        "),
        mount = text(&pods.mount),
        keys = KEYS,
        claim = text(&pods.claim),
    )
}

/// The words that start the ranks of all hosts, unbound: Open MPI binds each rank to a processor.
fn ranked(mut start: Vec<String>, launch: &Launch, mpi: Mpi) -> Vec<String> {
    let unbound = match mpi {
        Mpi::OpenMpi => ["--bind-to", "none"],
        Mpi::Mpich => ["-bind-to", "none"],
    };
    start.extend(unbound.map(str::to_owned));
    start.push("seekstone".into());
    start.extend(launch.command.iter().cloned());
    start
}

/// Containers run as root where their image does not say otherwise, which Open MPI refuses.
fn root_is_welcome(mpi: Mpi, indent: &str) -> String {
    match mpi {
        Mpi::Mpich => String::new(),
        Mpi::OpenMpi => format!(
            "\n{indent}env:\n\
             {indent}- name: OMPI_ALLOW_RUN_AS_ROOT\n{indent}  value: \"1\"\n\
             {indent}- name: OMPI_ALLOW_RUN_AS_ROOT_CONFIRM\n{indent}  value: \"1\""
        ),
    }
}

/// Text as YAML takes it: JSON is YAML.
fn text(it: &str) -> String {
    Value::from(it).to_string()
}

/// Arguments of a container: Kubernetes replaces `$(NAME)` in them, and reads `$$` as `$`.
fn list(words: &[String]) -> String {
    let words = words.iter().map(|word| text(&word.replace('$', "$$")));
    let words: Vec<String> = words.collect();
    format!("[{}]", words.join(", "))
}
