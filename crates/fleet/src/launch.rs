//! Files for the launchers of a cluster: each starts one command on many hosts under MPI.
//!
//! Fields of the MPIJob are those of `kubeflow.org/v2beta1` (kubeflow/mpi-operator,
//! `pkg/apis/kubeflow/v2beta1/types.go`); of the Indexed Job those of `batch/v1`, with
//! `successPolicy` of Kubernetes 1.31 and later; of the batch script those of sbatch(1) and
//! srun(1).

mod kubernetes;
mod slurm;

use units::Duration;

/// The longest name: what operators add to it must still be a label of DNS.
const NAME_LEN_MAX: usize = 40;
/// The longest label and the longest name of DNS.
const LABEL_LEN_MAX: usize = 63;
const DNS_LEN_MAX: usize = 253;

/// Which library's `mpirun` an image or a cluster has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    OpenMpi,
    Mpich,
}

/// What is started, and on how many hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Name of the job.
    pub name: String,
    pub hosts: u32,
    /// Processes on each.
    pub ranks_per_host: u32,
    /// When the scheduler ends it.
    pub time: Duration,
    /// The command line, without the program's name.
    pub command: Vec<String>,
}

/// Where a Kubernetes job finds program and storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pods {
    /// The image, with this program, `mpirun` and `sshd`.
    pub image: String,
    /// The claim of the volume that is measured.
    pub claim: String,
    /// Where it is mounted.
    pub mount: String,
    /// Whose `mpirun` the image has.
    pub mpi: Mpi,
}

/// What a batch script asks Slurm for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmBatch {
    /// The partition; the cluster's own choice when absent.
    pub partition: Option<String>,
    /// The plugin by which `srun` brings ranks together; the cluster's own choice when absent.
    pub plugin: Option<String>,
}

/// Why there is no such file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// A name that the scheduler would not take.
    #[error("{option} {value:?}: {rule}")]
    Word {
        option: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        rule: &'static str,
    },
    /// More ranks than can be counted.
    #[error("--hosts {hosts} with --ranks-per-host {ranks_per_host} are more ranks than there are")]
    Ranks { hosts: u32, ranks_per_host: u32 },
}

impl Launch {
    /// All processes.
    ///
    /// # Errors
    /// When there are none, or too many.
    pub fn ranks(&self) -> Result<u32, LaunchError> {
        let ranks = self.hosts.checked_mul(self.ranks_per_host);
        ranks
            .filter(|ranks| i32::try_from(*ranks).is_ok())
            .ok_or(LaunchError::Ranks {
                hosts: self.hosts,
                ranks_per_host: self.ranks_per_host,
            })
    }

    fn check(&self) -> Result<(), LaunchError> {
        let is_label = is_label(&self.name) && self.name.len() <= NAME_LEN_MAX;
        let is_named = is_label && self.name.starts_with(|it: char| it.is_ascii_lowercase());
        let rule =
            "a name has up to 40 small letters, digits and hyphens, and begins with a letter";
        refuse_unless(is_named, "--name", &self.name, rule)?;
        self.ranks().map(drop)
    }

    /// A Kubernetes MPIJob.
    ///
    /// # Errors
    /// When a value is none that Kubernetes takes.
    pub fn mpi_job(&self, pods: &Pods) -> Result<String, LaunchError> {
        self.check().and_then(|()| pods.check())?;
        Ok(kubernetes::mpi_job(self, pods, self.ranks()?))
    }

    /// A Kubernetes Job whose first pod starts the ranks, and the service by which it finds the
    /// others.
    ///
    /// # Errors
    /// When a value is none that Kubernetes takes.
    pub fn indexed_job(&self, pods: &Pods) -> Result<String, LaunchError> {
        self.check().and_then(|()| pods.check())?;
        Ok(kubernetes::indexed_job(self, pods, self.ranks()?))
    }

    /// A batch script for Slurm.
    ///
    /// # Errors
    /// When a value is none that Slurm takes.
    pub fn slurm(&self, batch: &SlurmBatch) -> Result<String, LaunchError> {
        self.check()?;
        let words = [("--partition", &batch.partition), ("--mpi", &batch.plugin)];
        for (option, word) in words {
            let is_word = |it: &String| {
                let is_known = |c: char| c.is_ascii_alphanumeric() || "._-,".contains(c);
                !it.is_empty() && it.chars().all(is_known)
            };
            if let Some(word) = word {
                let rule = "it has letters, digits, '.', ',', '_' and '-'";
                refuse_unless(is_word(word), option, word, rule)?;
            }
        }
        Ok(slurm::script(self, batch, self.ranks()?))
    }
}

impl Pods {
    fn check(&self) -> Result<(), LaunchError> {
        let is_image = !self.image.is_empty() && !self.image.contains(char::is_whitespace);
        let rule = "an image is a name without blanks, such as registry.example/seekstone:1";
        refuse_unless(is_image, "--image", &self.image, rule)?;
        let is_claim = self.claim.split('.').all(is_label) && self.claim.len() <= DNS_LEN_MAX;
        let rule = "the name of a PersistentVolumeClaim has small letters, digits, '-' and '.'";
        refuse_unless(is_claim, "--claim", &self.claim, rule)?;
        let is_mount = self.mount.starts_with('/')
            && self.mount.len() > 1
            && !self.mount.contains([':', '\n'])
            && !self.mount.split('/').any(|part| part == "..");
        let rule = "a volume is mounted at an absolute path without ':' and '..'";
        refuse_unless(is_mount, "--mount", &self.mount, rule)
    }
}

fn refuse_unless(
    is_right: bool,
    option: &'static str,
    value: &str,
    rule: &'static str,
) -> Result<(), LaunchError> {
    let value = value.to_owned();
    let error = LaunchError::Word {
        option,
        value,
        rule,
    };
    if is_right { Ok(()) } else { Err(error) }
}

/// Whether it is a label of DNS (RFC 1123).
fn is_label(text: &str) -> bool {
    let is_known = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    let bytes = text.as_bytes();
    (1..=LABEL_LEN_MAX).contains(&bytes.len())
        && bytes.iter().all(|it| is_known(*it))
        && bytes[0] != b'-'
        && bytes[bytes.len() - 1] != b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> Launch {
        Launch {
            name: "seekstone".into(),
            hosts: 4,
            ranks_per_host: 2,
            time: Duration::from_secs(3600),
            command: vec!["trial".into(), "/data".into()],
        }
    }

    fn pods() -> Pods {
        Pods {
            image: "registry.example/seekstone:1".into(),
            claim: "shared.claim-1".into(),
            mount: "/data".into(),
            mpi: Mpi::OpenMpi,
        }
    }

    #[track_caller]
    fn check_refused(launch: &Launch, pods: &Pods, expected: &str) {
        for made in [launch.mpi_job(pods), launch.indexed_job(pods)] {
            let error = made.expect_err("it is wrong").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn what_a_scheduler_would_not_take_is_refused_with_its_option() {
        for name in ["", "Seek", "-a", "a-", "1a", "a_b", &"a".repeat(41)] {
            let wrong = Launch {
                name: name.into(),
                ..launch()
            };
            check_refused(&wrong, &pods(), &format!("--name {name:?}: a name has"));
        }
        let many = Launch {
            hosts: u32::MAX,
            ..launch()
        };
        check_refused(&many, &pods(), "--hosts 4294967295 with --ranks-per-host 2");
        for claim in ["", "A", "a..b", "a b"] {
            let wrong = Pods {
                claim: claim.into(),
                ..pods()
            };
            check_refused(&launch(), &wrong, &format!("--claim {claim:?}"));
        }
        for mount in ["", "/", "data", "/a:b", "/a/../b"] {
            let wrong = Pods {
                mount: mount.into(),
                ..pods()
            };
            check_refused(&launch(), &wrong, &format!("--mount {mount:?}"));
        }
        let wrong = Pods {
            image: "a b".into(),
            ..pods()
        };
        check_refused(&launch(), &wrong, "--image \"a b\"");
        let partition = Some("a b; rm".into());
        let batch = SlurmBatch {
            partition,
            plugin: None,
        };
        let error = launch().slurm(&batch).expect_err("no partition");
        assert!(error.to_string().starts_with("--partition "), "{error}");
    }
}
