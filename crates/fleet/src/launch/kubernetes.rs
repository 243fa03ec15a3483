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
const SCRIPT: &str = r#"hosts=$1 name=$2 slots=$3 keys=$4 port=$5
shift 5
mkdir -p /run/sshd "$HOME/.ssh"
cat >"$HOME/.ssh/config" <<END
Host *
  Port $port
  IdentityFile $keys/id_ed25519
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
END
chmod 600 "$HOME/.ssh/config"
serve() {
  /usr/sbin/sshd "$@" -e -p "$port" -o HostKey="$keys/id_ed25519" \
    -o AuthorizedKeysFile="$keys/id_ed25519.pub" -o StrictModes=no -o PidFile=none
}
if [ "$JOB_COMPLETION_INDEX" != 0 ]; then
  serve -D
  exit
fi
serve
index=0
while [ "$index" -lt "$hosts" ]; do
  host=$name-$index.$name
  until ssh "$host" true; do sleep 1; done
  echo "$host$slots"
  index=$((index + 1))
done >/tmp/hosts
exec "$@"
"#;

/// The MPIJob.
pub(super) fn mpi_job(launch: &Launch, pods: &Pods, ranks: u32) -> String {
    let Launch {
        name,
        hosts,
        ranks_per_host,
        ..
    } = launch;
    let image = text(&pods.image);
    let library = match pods.mpi {
        Mpi::OpenMpi => "OpenMPI",
        Mpi::Mpich => "MPICH",
    };
    let mut start = vec!["-n".to_owned(), ranks.to_string()];
    if pods.mpi == Mpi::Mpich {
        start.extend(["-ppn".to_owned(), ranks_per_host.to_string()]);
    }
    let start = list(&ranked(start, launch, pods.mpi));
    let time = launch.time.as_nanos().div_ceil(1_000_000_000);
    let root = root_is_welcome(pods.mpi, "            ");
    let (apart, mounted, volume) = (apart(name), mounted(pods), volume(pods));
    format!(
        "# kubectl create -f FILE; kubectl logs -f job/{name}-launcher\n\
         # The image holds seekstone, its shim (seekstone fleet shim), mpirun and sshd. The claim\n\
         # must be ReadWriteMany, as all hosts mount it.\n\
         apiVersion: kubeflow.org/v2beta1\n\
         kind: MPIJob\n\
         metadata:\n  name: {name}\n\
         spec:\n  \
           slotsPerWorker: {ranks_per_host}\n  \
           mpiImplementation: {library}\n  \
           runPolicy:\n    \
             cleanPodPolicy: Running\n    \
             backoffLimit: 0\n    \
             activeDeadlineSeconds: {time}\n  \
           mpiReplicaSpecs:\n    \
             Launcher:\n      \
               replicas: 1\n      \
               restartPolicy: Never\n      \
               template:\n        \
                 metadata:\n          \
                   annotations:\n            \
                     sidecar.istio.io/inject: \"false\"\n        \
                 spec:\n          \
                   containers:\n          \
                   - name: launcher\n            \
                     image: {image}\n            \
                     command: [\"mpirun\"]\n            \
                     args: {start}\n{root}    \
             Worker:\n      \
               replicas: {hosts}\n      \
               restartPolicy: Never\n      \
               template:\n        \
                 metadata:\n          \
                   labels:\n            \
                     app.kubernetes.io/instance: {name}\n          \
                   annotations:\n            \
                     sidecar.istio.io/inject: \"false\"\n        \
                 spec:\n{apart}          \
                   containers:\n          \
                   - name: worker\n            \
                     image: {image}\n{mounted}{volume}",
        apart = indented(&apart, 10),
        mounted = indented(&mounted, 12),
        volume = indented(&volume, 10),
    )
}

/// The service that gives each pod a name, before it is ready, too.
fn service(name: &str) -> String {
    format!(
        "apiVersion: v1\n\
         kind: Service\n\
         metadata:\n  name: {name}\n\
         spec:\n  \
           clusterIP: None\n  \
           publishNotReadyAddresses: true\n  \
           selector:\n    \
             app.kubernetes.io/instance: {name}\n  \
           ports:\n  \
           - name: ssh\n    \
             port: {SSH_PORT}\n\
         ---\n"
    )
}

/// The Job, and the service by which its first pod finds the others.
pub(super) fn indexed_job(launch: &Launch, pods: &Pods, ranks: u32) -> String {
    let Launch { name, hosts, .. } = launch;
    let image = text(&pods.image);
    let time = launch.time.as_nanos().div_ceil(1_000_000_000);
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
    let root = root_is_welcome(pods.mpi, "        ");
    let keys = format!("- name: ssh\n  mountPath: {KEYS}\n  readOnly: true\n");
    let secret =
        format!("- name: ssh\n  secret:\n    secretName: {name}-ssh\n    defaultMode: 0400\n");
    format!(
        "# ssh-keygen -q -t ed25519 -N '' -f id_ed25519\n\
         # kubectl create secret generic {name}-ssh --from-file=id_ed25519 \\\n\
         #   --from-file=id_ed25519.pub\n\
         # kubectl create -f FILE; kubectl logs -f -l batch.kubernetes.io/job-name={name},\\\n\
         #   batch.kubernetes.io/job-completion-index=0\n\
         # The image holds seekstone, its shim (seekstone fleet shim), mpirun, ssh and sshd. The\n\
         # claim must be ReadWriteMany, as all hosts mount it. Kubernetes 1.31 or later.\n\
         {service}apiVersion: batch/v1\n\
         kind: Job\n\
         metadata:\n  name: {name}\n\
         spec:\n  \
           completionMode: Indexed\n  \
           completions: {hosts}\n  \
           parallelism: {hosts}\n  \
           backoffLimit: 0\n  \
           activeDeadlineSeconds: {time}\n  \
           # The others wait to be asked; they end with the first.\n  \
           successPolicy:\n    \
             rules:\n    \
             - succeededIndexes: \"0\"\n  \
           template:\n    \
             metadata:\n      \
               labels:\n        \
                 app.kubernetes.io/instance: {name}\n      \
               annotations:\n        \
                 sidecar.istio.io/inject: \"false\"\n    \
             spec:\n      \
               subdomain: {name}\n      \
               restartPolicy: Never\n{apart}      \
               containers:\n      \
               - name: seekstone\n        \
                 image: {image}\n        \
                 command: [\"/bin/sh\", \"-ec\", {script}, \"seekstone\"]\n        \
                 args: {args}\n{root}{mounted}{keys}{volume}{secret}",
        service = service(name),
        script = text(SCRIPT),
        args = list(&args),
        apart = indented(&apart(name), 6),
        mounted = indented(&mounted(pods), 8),
        keys = indented(&keys, 8),
        volume = indented(&volume(pods), 6),
        secret = indented(&secret, 6),
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
            "{indent}env:\n\
             {indent}- name: OMPI_ALLOW_RUN_AS_ROOT\n{indent}  value: \"1\"\n\
             {indent}- name: OMPI_ALLOW_RUN_AS_ROOT_CONFIRM\n{indent}  value: \"1\"\n"
        ),
    }
}

/// One pod on each host: two on one would share its network card, and be taken for two hosts.
fn apart(name: &str) -> String {
    format!(
        "affinity:\n  \
           podAntiAffinity:\n    \
             requiredDuringSchedulingIgnoredDuringExecution:\n    \
             - topologyKey: kubernetes.io/hostname\n      \
               labelSelector:\n        \
                 matchLabels:\n          \
                   app.kubernetes.io/instance: {name}\n"
    )
}

fn mounted(pods: &Pods) -> String {
    let mount = text(&pods.mount);
    format!("workingDir: {mount}\nvolumeMounts:\n- name: storage\n  mountPath: {mount}\n")
}

fn volume(pods: &Pods) -> String {
    let claim = text(&pods.claim);
    format!("volumes:\n- name: storage\n  persistentVolumeClaim:\n    claimName: {claim}\n")
}

fn indented(lines: &str, by: usize) -> String {
    let each = lines.lines();
    each.map(|line| format!("{:by$}{line}\n", "")).collect()
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
