//! DISKRAND, 1997: sections 3, 7, 9, 10 and 11.

use super::{PublishedTable, compared, given, unreached};

const fn table(
    place: &'static str,
    figures: usize,
    parts: &'static [super::TablePart],
) -> PublishedTable {
    PublishedTable {
        document: "DISKRAND",
        place,
        figures,
        parts,
    }
}

const ELAPSED: &str = "the transactions over TPS";
const USERS: &str = "DISKRAND 10.3 and 11: six users over the LAN; the cache's share";

pub(super) const TABLES: &[PublishedTable] = &[
    table(
        "3, log of writing and reading",
        4,
        &[compared(
            4,
            "DISKRAND 3: reading after writing under Windows NT, file of 40 MB",
            &[],
        )],
    ),
    table(
        "3, logs of user 23",
        41,
        &[unreached(
            41,
            "40 responses, and the time to take 2000 KB",
            "single responses of users whose random numbers are not published; 10.1 has the like",
        )],
    ),
    table(
        "7, service times by file size",
        8,
        &[compared(
            8,
            "DISKRAND 7: random reads of 4 KiB under DOS, by the size of the file",
            &[],
        )],
    ),
    table(
        "7, logs of users 99 and 91",
        20,
        &[
            compared(
                10,
                "DISKRAND 7: Windows NT fills its file cache, 1000 reads of a file of 40 MB in \
                 each line",
                &[],
            ),
            compared(10, "DISKRAND 7: the same with a file of 100 MB", &[]),
        ],
    ),
    table(
        "9.1",
        6,
        &[compared(6, "DISKRAND 9.1: a file of 40 MB under DOS", &[])],
    ),
    table(
        "9.2",
        63,
        &[
            compared(
                18,
                "DISKRAND 9.2: 1, 2 and 4 tasks that compute, transactions per second",
                &[],
            ),
            compared(18, "DISKRAND 9.2 on the Pentium 100", &[]),
            compared(18, "DISKRAND 9.2 on the 486", &[]),
            given(9, "elapsed seconds", ELAPSED),
        ],
    ),
    table(
        "9.3",
        63,
        &[
            compared(
                18,
                "DISKRAND 9.3: 1, 2 and 4 tasks that read, transactions per second",
                &[],
            ),
            compared(36, "DISKRAND 9.3 under Windows 95", &[]),
            given(9, "elapsed seconds", ELAPSED),
        ],
    ),
    table(
        "9.4",
        70,
        &[
            compared(
                18,
                "DISKRAND 9.4: 1, 2 and 4 tasks that read and compute, transactions per second",
                &[],
            ),
            compared(36, "DISKRAND 9.4 under Windows 95", &[]),
            given(9, "elapsed seconds", ELAPSED),
            given(
                7,
                "the author's estimates of processor and I/O",
                "he made them of the tables before",
            ),
        ],
    ),
    table(
        "9.5",
        56,
        &[
            compared(
                48,
                "DISKRAND 9.5: 4 tasks, and ever more of a memory of 32 MB taken",
                &[],
            ),
            given(8, "elapsed seconds", ELAPSED),
        ],
    ),
    table(
        "10.1",
        77,
        &[
            compared(30, "DISKRAND 10.1: users who think", &[]),
            compared(36, "DISKRAND 10.1 under Windows 95", &[]),
            given(11, "elapsed seconds", ELAPSED),
        ],
    ),
    table(
        "10.2",
        13,
        &[
            compared(11, "DISKRAND 10.2: 30 light users and 2 heavy ones", &[]),
            given(2, "elapsed seconds", ELAPSED),
        ],
    ),
    table(
        "10.3",
        22,
        &[
            compared(
                6,
                USERS,
                &[
                    "P100, 6 tasks",
                    "P100, 6 tasks, mean response",
                    "P100, 6 tasks, processor",
                    "P100, 6 tasks, 95 % of responses",
                    "P100, 6 tasks, shortest response",
                    "P100, 6 tasks, longest response",
                ],
            ),
            compared(
                13,
                "DISKRAND 10.3: six users over the LAN, and 30 of the server",
                &[],
            ),
            given(3, "elapsed seconds", ELAPSED),
        ],
    ),
    table(
        "11, counters of Windows NT during 10.3",
        10,
        &[
            compared(1, USERS, &["reads of the disk, 107 by users"]),
            given(1, "processor", "it stands in 10.3"),
            unreached(
                3,
                "bytes, queue and time of the disk",
                "the queue counts what Windows NT holds back, and the bytes what it reads ahead",
            ),
            unreached(
                1,
                "share of the disk, 408 %",
                "the document itself calls it impossible",
            ),
            unreached(
                4,
                "the cache's bytes and faults, page faults",
                "how Windows NT counts them is not documented",
            ),
        ],
    ),
];
