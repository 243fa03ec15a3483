//! Goals of well-known programs: what their makers, or those who run them for others, ask of
//! storage. docs/profiles.md explains them.

use crate::requirement::Requirement;

/// A goal with its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileGoal {
    /// As it would be typed.
    pub goal: &'static str,
    /// Where the limit is published.
    pub source: &'static str,
}

/// What a program needs of its storage, for the rows of a check-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramProfile {
    /// The name that is typed.
    pub name: &'static str,
    pub goals: &'static [ProfileGoal],
}

const RDS_GP3: &str = "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_PIOPS.gp3.html";
const INNODB_IO_CAPACITY: &str =
    "https://dev.mysql.com/doc/refman/8.4/en/innodb-configuring-io-capacity.html";
const OKD_ETCD: &str = "https://docs.okd.io/latest/etcd/etcd-practices.html";
const MSK_THROUGHPUT: &str = concat!(
    "https://docs.aws.amazon.com/msk/latest/developerguide/",
    "msk-provision-throughput-management.html"
);
const PRORES: &str = "Library of Congress, format description fdd000403, Apple ProRes 422 HQ";

const fn goal(goal: &'static str, source: &'static str) -> ProfileGoal {
    ProfileGoal { goal, source }
}

pub const PROFILES: [ProgramProfile; 5] = [
    ProgramProfile {
        name: "postgres",
        goals: &[
            goal("durable_write.p99 <= 10ms", RDS_GP3),
            goal("random_read.p99 <= 10ms", RDS_GP3),
        ],
    },
    ProgramProfile {
        name: "mysql",
        goals: &[
            goal("saturation.iops >= 10k/s", INNODB_IO_CAPACITY),
            goal("durable_write.p99 <= 10ms", RDS_GP3),
            goal("random_read.p99 <= 10ms", RDS_GP3),
        ],
    },
    ProgramProfile {
        name: "etcd",
        goals: &[
            goal("durable_write.p99 <= 10ms", OKD_ETCD),
            goal("durable_write.iops >= 500/s", OKD_ETCD),
        ],
    },
    ProgramProfile {
        name: "kafka",
        goals: &[
            goal("sequential_write.bandwidth >= 250MiB/s", MSK_THROUGHPUT),
            goal("sequential_read.bandwidth >= 250MiB/s", MSK_THROUGHPUT),
        ],
    },
    ProgramProfile {
        name: "video",
        goals: &[
            goal("sequential_read.bandwidth >= 110MB/s", PRORES),
            goal("sequential_write.bandwidth >= 110MB/s", PRORES),
        ],
    },
];

impl ProgramProfile {
    /// The goals, to be held against a run.
    ///
    /// # Panics
    /// Never: a test reads every goal.
    #[must_use]
    pub fn requirements(&self) -> Vec<Requirement> {
        let parsed = self.goals.iter().map(|it| it.goal.parse());
        parsed
            .map(|it| it.expect("a goal that a test reads"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/profiles.md");

    #[test]
    fn every_goal_is_one_and_stands_on_the_page_with_its_source() {
        for profile in PROFILES {
            assert_eq!(profile.requirements().len(), profile.goals.len());
            for ProfileGoal { goal, source } in profile.goals {
                let line = format!("| `{}` | `{goal}` |", profile.name);
                let line = PAGE.lines().find(|it| it.starts_with(&line));
                let line = line.unwrap_or_else(|| panic!("{}: {goal}", profile.name));
                assert!(line.contains(source), "{line}");
            }
        }
    }
}
