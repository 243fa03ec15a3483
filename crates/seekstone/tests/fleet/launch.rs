//! What starts a command on a cluster: manifests have the fields of Kubernetes and no others, and
//! scripts pass the command on word for word.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::support::{Scratch, finish, is_installed, skipped};
use serde_json::{Value, json};
use yaml_rust2::{Yaml, YamlLoader};

const PODS: [&str; 8] = [
    "--hosts",
    "4",
    "--image",
    "registry.example/seekstone:1",
    "--claim",
    "shared",
    "--mount",
    "/data",
];
const TRIAL: [&str; 6] = [
    "--",
    "trial",
    "/data",
    "--clients",
    "64",
    "--goal=p99 <= 2ms",
];

fn manifest(more: &[&str]) -> Vec<Yaml> {
    let scratch = Scratch::new();
    let args = [&["fleet", "manifest"][..], &PODS, more, &TRIAL].concat();
    let ended = scratch.check(&args, 0, "apiVersion: ");
    YamlLoader::load_from_str(&ended.stdout).expect("YAML")
}

/// Every field must stand in `schema` and have its type; a list's schema is that of its items, and
/// `*` takes any name.
fn check_fields(path: &str, found: &Yaml, schema: &Value) {
    match (found, schema) {
        (Yaml::Hash(fields), Value::Object(known)) => {
            for (name, value) in fields {
                let name = name.as_str().expect("a name");
                let schema = known.get(name).or_else(|| known.get("*"));
                let schema = schema.unwrap_or_else(|| panic!("{path}.{name} is no field"));
                check_fields(&format!("{path}.{name}"), value, schema);
            }
        }
        (Yaml::Array(items), Value::Array(schema)) => {
            for item in items {
                check_fields(path, item, &schema[0]);
            }
        }
        (Yaml::String(_), Value::String(kind)) if kind == "text" => {}
        (Yaml::Integer(number), Value::String(kind)) if kind == "number" && *number >= 0 => {}
        (Yaml::Boolean(_), Value::String(kind)) if kind == "bool" => {}
        // YAML 1.1, which Kubernetes reads, has octal numbers that begin with 0.
        (Yaml::Integer(256) | Yaml::String(_), Value::String(kind)) if kind == "mode" => {}
        (Yaml::Integer(400), Value::String(kind)) if kind == "mode" => {}
        _ => panic!("{path}: {found:?} is no {schema}"),
    }
}

/// Of a pod's template, as far as manifests use it (core/v1).
fn template() -> Value {
    json!({
        "metadata": { "labels": { "*": "text" }, "annotations": { "*": "text" } },
        "spec": {
            "subdomain": "text",
            "restartPolicy": "text",
            "affinity": { "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{
                    "topologyKey": "text",
                    "labelSelector": { "matchLabels": { "*": "text" } },
                }],
            } },
            "containers": [{
                "name": "text",
                "image": "text",
                "command": ["text"],
                "args": ["text"],
                "env": [{ "name": "text", "value": "text" }],
                "workingDir": "text",
                "volumeMounts": [{ "name": "text", "mountPath": "text", "readOnly": "bool" }],
            }],
            "volumes": [{
                "name": "text",
                "persistentVolumeClaim": { "claimName": "text" },
                "secret": { "secretName": "text", "defaultMode": "mode" },
            }],
        },
    })
}

fn words(list: &Yaml) -> Vec<&str> {
    let list = list.as_vec().expect("a list");
    list.iter().map(|it| it.as_str().expect("a word")).collect()
}

/// Volumes that are mounted are there, and the claim is mounted at the target.
#[track_caller]
fn check_volumes(pod: &Yaml) {
    let container = &pod["containers"][0];
    let names = |list: &Yaml| -> BTreeSet<String> {
        let list = list.as_vec().expect("a list").iter();
        list.map(|it| it["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&container["volumeMounts"]), names(&pod["volumes"]));
    assert_eq!(
        container["volumeMounts"][0]["mountPath"].as_str(),
        Some("/data")
    );
    assert_eq!(container["workingDir"].as_str(), Some("/data"));
    let claim = &pod["volumes"][0]["persistentVolumeClaim"]["claimName"];
    assert_eq!(claim.as_str(), Some("shared"));
    assert_eq!(container["image"].as_str(), Some(PODS[3]));
}

#[test]
fn a_manifest_is_an_mpi_job_of_known_fields() {
    let replica = json!({ "replicas": "number", "restartPolicy": "text", "template": template() });
    let schema = json!({
        "apiVersion": "text",
        "kind": "text",
        "metadata": { "name": "text" },
        "spec": {
            "slotsPerWorker": "number",
            "mpiImplementation": "text",
            "runPolicy": {
                "cleanPodPolicy": "text",
                "backoffLimit": "number",
                "activeDeadlineSeconds": "number",
            },
            "mpiReplicaSpecs": { "Launcher": replica, "Worker": replica },
        },
    });
    let check = |more: &[&str], library: &str, start: &[&str], ranks_per_host: i64| {
        let documents = manifest(more);
        let [job] = documents.as_slice() else {
            panic!("{documents:?}");
        };
        check_fields("", job, &schema);
        assert_eq!(job["apiVersion"].as_str(), Some("kubeflow.org/v2beta1"));
        assert_eq!(job["kind"].as_str(), Some("MPIJob"));
        let spec = &job["spec"];
        assert_eq!(spec["slotsPerWorker"].as_i64(), Some(ranks_per_host));
        assert_eq!(spec["mpiImplementation"].as_str(), Some(library));
        let launcher = &spec["mpiReplicaSpecs"]["Launcher"];
        let container = &launcher["template"]["spec"]["containers"][0];
        assert_eq!(words(&container["command"]), ["mpirun"]);
        let expected = [start, &["seekstone"], &TRIAL[1..]].concat();
        assert_eq!(words(&container["args"]), expected);
        let worker = &spec["mpiReplicaSpecs"]["Worker"];
        assert_eq!(worker["replicas"].as_i64(), Some(4));
        check_volumes(&worker["template"]["spec"]);
    };
    check(&[], "OpenMPI", &["-n", "4", "--bind-to", "none"], 1);
    let start = ["-n", "12", "-ppn", "3", "-bind-to", "none"];
    check(
        &["--mpi", "mpich", "--ranks-per-host", "3"],
        "MPICH",
        &start,
        3,
    );
}

#[test]
fn an_indexed_job_is_a_service_and_a_job_of_known_fields() {
    let service = json!({
        "apiVersion": "text",
        "kind": "text",
        "metadata": { "name": "text" },
        "spec": {
            "clusterIP": "text",
            "publishNotReadyAddresses": "bool",
            "selector": { "*": "text" },
            "ports": [{ "name": "text", "port": "number" }],
        },
    });
    let schema = json!({
        "apiVersion": "text",
        "kind": "text",
        "metadata": { "name": "text" },
        "spec": {
            "completionMode": "text",
            "completions": "number",
            "parallelism": "number",
            "backoffLimit": "number",
            "activeDeadlineSeconds": "number",
            "successPolicy": { "rules": [{ "succeededIndexes": "text" }] },
            "template": template(),
        },
    });
    let documents = manifest(&["--indexed-job", "--name", "nfs", "--time", "20min"]);
    let [found, job] = documents.as_slice() else {
        panic!("{documents:?}");
    };
    check_fields("", found, &service);
    check_fields("", job, &schema);
    let labels = &job["spec"]["template"]["metadata"]["labels"];
    assert_eq!(&found["spec"]["selector"], labels, "who is found");
    let pod = &job["spec"]["template"]["spec"];
    assert_eq!(
        pod["subdomain"], found["metadata"]["name"],
        "how they are named"
    );
    assert_eq!(job["spec"]["completions"], job["spec"]["parallelism"]);
    assert_eq!(job["spec"]["activeDeadlineSeconds"].as_i64(), Some(1200));
    check_volumes(pod);

    let command = words(&pod["containers"][0]["command"]);
    assert_eq!([command[0], command[1]], ["/bin/sh", "-ec"]);
    let parsed = Command::new("sh").args(["-n", "-c", command[2]]).status();
    assert!(parsed.expect("a shell").success(), "{}", command[2]);
    let args = words(&pod["containers"][0]["args"]);
    assert_eq!(
        args[..5],
        ["4", "nfs", " slots=1", "/etc/seekstone-ssh", "2222"]
    );
    let start = [
        "mpirun",
        "--hostfile",
        "/tmp/hosts",
        "-n",
        "4",
        "--bind-to",
        "none",
    ];
    assert_eq!(
        args[5..],
        [&start[..], &["seekstone"], &TRIAL[1..]].concat()
    );
}

/// Started with another `srun`, the script passes the command on word for word.
#[test]
fn a_batch_script_is_bash_with_directives_that_sbatch_knows() {
    let test = "a_batch_script_is_bash_with_directives_that_sbatch_knows";
    if !is_installed("bash") {
        skipped(test, "bash is missing");
        return;
    }
    let scratch = Scratch::new();
    let start =
        "fleet slurm --hosts 16 --ranks-per-host 2 --time 90min --partition short --mpi pmi2";
    let start: Vec<&str> = start.split(' ').collect();
    let goal = ["--goal", "p99 <= 2ms"];
    let command = [&["--", "trial", "a b$HOME", "--clients", "64"][..], &goal].concat();
    let args = [&start[..], &command].concat();
    let script = scratch.check(&args, 0, "#!/bin/bash").stdout;
    let path = scratch.path("job.sbatch");
    fs::write(&path, &script).expect("a script");
    let parsed = Command::new("bash").arg("-n").arg(&path).status();
    assert!(parsed.expect("bash").success(), "{script}");

    let lines = script.lines();
    let first = lines.clone().position(|line| !line.starts_with('#'));
    let directives: Vec<(usize, &str)> = (0..)
        .zip(lines)
        .filter_map(|(at, line)| Some((at, line.strip_prefix("#SBATCH --")?)))
        .collect();
    let expected = [
        "job-name=seekstone",
        "nodes=16",
        "ntasks=32",
        "ntasks-per-node=2",
        "exclusive",
        "time=01:30:00",
        "output=seekstone-%j.out",
        "signal=INT@60",
        "partition=short",
    ];
    let found: Vec<&str> = directives.iter().map(|(_, it)| *it).collect();
    assert_eq!(found, expected);
    // sbatch reads none after the first command.
    assert!(directives.iter().all(|(at, _)| Some(*at) < first));

    let srun = scratch.path("srun");
    fs::write(&srun, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").expect("a program");
    fs::set_permissions(&srun, fs::Permissions::from_mode(0o755)).expect("its mode");
    let mut run = Command::new("bash");
    let path_there = format!("{}:/usr/bin:/bin", scratch.path("").display());
    run.arg(&path).env("PATH", path_there);
    let ended = finish(run);
    let passed: Vec<&str> = ended.stdout.lines().collect();
    let expected = [
        &["--mpi=pmi2", "--cpu-bind=none", "seekstone"],
        &command[1..],
    ]
    .concat();
    assert_eq!(passed, expected, "{ended:?}");
}

#[test]
fn what_no_cluster_could_run_is_one_sentence() {
    let scratch = Scratch::new();
    let check = |more: &[&str], command: &[&str], expected: &str| {
        let args = [&["fleet", "manifest"][..], &PODS, more, &["--"], command].concat();
        scratch.check(&args, 2, expected);
    };
    check(
        &[],
        &["verify", "/data"],
        "what follows --: use run, trial, curve, random, rab, ssd, transactions, transfer, files",
    );
    check(
        &[],
        &["trial", "/data", "--client", "4"],
        "what follows --: unexpected argument '--client' found",
    );
    check(
        &["--ranks-per-host", "2"],
        &["trial", "/data", "--clients", "7"],
        "--clients 7: each of 8 ranks needs at least one client",
    );
    check(
        &[],
        &["trial", "/tmp", "--clients", "4"],
        "/tmp is not on the volume, which is mounted at --mount /data",
    );
    check(
        &["--name", "My Job"],
        &["curve", "."],
        "--name \"My Job\": a name has up to 40 small letters",
    );
    let slurm = ["fleet", "slurm", "--hosts", "0", "--", "curve", "/scratch"];
    scratch.check(&slurm, 2, "invalid value '0' for '--hosts <N>'");
    let slurm = [
        "fleet",
        "slurm",
        "--hosts",
        "2",
        "--partition",
        "a b",
        "--",
        "curve",
        "/s",
    ];
    scratch.check(&slurm, 2, "--partition \"a b\": it has letters");
}
