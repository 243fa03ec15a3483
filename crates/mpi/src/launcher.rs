//! Detects the launcher that started this process, from environment variables.

/// What a launcher tells about this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The variables that identify it, in words.
    pub by: &'static str,
    pub rank: u32,
    /// Number of ranks, if given.
    pub ranks: Option<u32>,
    /// Name prefixes of compatible libraries; the first is tried first.
    pub families: &'static [&'static str],
}

struct Launcher {
    by: &'static str,
    rank: &'static str,
    ranks: &'static str,
    /// A variable without which the others are meaningless.
    only_with: Option<&'static str>,
    families: &'static [&'static str],
}

const OPEN_MPI: &str = "Open MPI";
const MPICH: &str = "MPICH";

/// The first match is taken. A batch script of Slurm also has its variables, but is not a step
/// started by `srun`: there `SLURM_STEP_NUM_TASKS` is not set, or belongs to the script's own step.
const LAUNCHERS: [Launcher; 4] = [
    Launcher {
        by: "Open MPI's mpirun (OMPI_COMM_WORLD_RANK)",
        rank: "OMPI_COMM_WORLD_RANK",
        ranks: "OMPI_COMM_WORLD_SIZE",
        only_with: None,
        families: &[OPEN_MPI],
    },
    Launcher {
        by: "a launcher with PMI (PMI_RANK)",
        rank: "PMI_RANK",
        ranks: "PMI_SIZE",
        only_with: None,
        families: &[MPICH, "Intel", "MVAPICH", "CRAY"],
    },
    Launcher {
        by: "srun with PMIx (PMIX_RANK)",
        rank: "PMIX_RANK",
        ranks: "SLURM_NTASKS",
        only_with: None,
        families: &[OPEN_MPI, MPICH],
    },
    Launcher {
        by: "srun (SLURM_PROCID)",
        rank: "SLURM_PROCID",
        ranks: "SLURM_STEP_NUM_TASKS",
        only_with: Some("SLURM_STEP_NUM_TASKS"),
        families: &[MPICH, OPEN_MPI],
    },
];

/// Detects the launcher; `None` if no launcher started this process. `variable` looks up an
/// environment variable.
pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
    LAUNCHERS.iter().find_map(|it| {
        let rank = number(it.rank)?;
        it.only_with
            .is_none_or(|name| variable(name).is_some())
            .then(|| Launched {
                by: it.by,
                rank,
                ranks: number(it.ranks),
                families: it.families,
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(environment: &[(&str, &str)], expected: Option<(u32, Option<u32>, &str)>) {
        let variable = |name: &str| {
            let found = environment.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let found = detect(variable);
        let found = found.map(|it| (it.rank, it.ranks, it.families[0]));
        assert_eq!(found, expected, "{environment:?}");
    }

    #[test]
    fn a_launcher_is_known_by_what_it_sets() {
        check(&[], None);
        check(&[("PATH", "/bin"), ("SLURM_JOB_ID", "7")], None);
        check(
            &[("PMI_RANK", "1"), ("PMI_SIZE", "4")],
            Some((1, Some(4), MPICH)),
        );
        check(
            &[
                ("PMIX_RANK", "2"),
                ("OMPI_COMM_WORLD_RANK", "2"),
                ("OMPI_COMM_WORLD_SIZE", "8"),
            ],
            Some((2, Some(8), OPEN_MPI)),
        );
        check(
            &[
                ("PMIX_RANK", "3"),
                ("SLURM_NTASKS", "16"),
                ("SLURM_PROCID", "3"),
            ],
            Some((3, Some(16), OPEN_MPI)),
        );
        check(&[("PMIX_RANK", "0")], Some((0, None, OPEN_MPI)));
        check(&[("PMI_RANK", "first")], None);
    }

    /// In a batch script all of the job's Slurm variables are set, although nothing runs in
    /// parallel.
    #[test]
    fn a_batch_script_is_no_launcher_and_a_step_is() {
        let script = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "32")];
        check(&script, None);
        let step = [script[0], script[1], ("SLURM_STEP_NUM_TASKS", "32")];
        check(&step, Some((0, Some(32), MPICH)));
    }
}
