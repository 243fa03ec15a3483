//! The RPT manual, 1995: its tables of advice, and its sample files.

use super::{PublishedTable, TablePart, compared, given, tested, unreached};

const fn table(place: &'static str, figures: usize, parts: &'static [TablePart]) -> PublishedTable {
    PublishedTable {
        document: "RPT",
        place,
        figures,
        parts,
    }
}

const ADVICE: &str = "crates/workload/tests/workload/document_tables.rs";
const LOG: &str = "RPT, the log file: figures from the third sums of the sample log";
const OWN: &str = "found on \"this system\", which the manual does not describe";

pub(super) const TABLES: &[PublishedTable] = &[
    table(
        "threads and messages by step",
        8,
        &[unreached(8, "suggested numbers", OWN)],
    ),
    table(
        "independent samples by file size",
        32,
        &[tested(32, "samples and cached shares", ADVICE)],
    ),
    table(
        "coverage",
        20,
        &[
            tested(10, "shares of the file", ADVICE),
            unreached(10, "numbers of threads that a run had", OWN),
        ],
    ),
    table(
        "hyperbolic distribution",
        21,
        &[tested(21, "medians, chances and counts of steps", ADVICE)],
    ),
    table(
        "I/Os of a message",
        7,
        &[
            tested(4, "of batch workloads", ADVICE),
            tested(
                3,
                "of transactions",
                "crates/vintage/src/rpt/session_tests.rs",
            ),
        ],
    ),
    table(
        "log file, sums and results",
        51,
        &[
            compared(
                6,
                LOG,
                &[
                    "response time",
                    "load",
                    "RABmark[r]",
                    "RABmark[n]",
                    "convergence factor",
                    "messages necessary",
                ],
            ),
            tested(
                10,
                "calculations and factors of the other sums",
                "crates/vintage/src/rpt/sums.rs",
            ),
            given(31, "three sums", "they are what is calculated with"),
            given(4, "result", "it repeats the third calculation"),
        ],
    ),
    table(
        "report file",
        10,
        &[
            compared(1, LOG, &["RABmark[s] of the sample report"]),
            compared(
                8,
                "RPT, the report file: shape of the curve of the transaction workload",
                &[],
            ),
            compared(0, "RPT, the report file: the same on another drive", &[]),
            given(
                1,
                "RABmark[r]",
                "the sum of load over response of the four levels",
            ),
        ],
    ),
    table(
        "standard deviation of one thread",
        1,
        &[unreached(
            1,
            "26.8 ms",
            "the drive is not named; so wide a spread needs bursts that the manual does not \
             describe",
        )],
    ),
];
