//! DISKMBPS, 1997: sections 3 and 7 to 12, and the logs of its appendices.

use super::{PublishedTable, TablePart, compared, given, unreached};

const fn table(place: &'static str, figures: usize, parts: &'static [TablePart]) -> PublishedTable {
    PublishedTable {
        document: "DISKMBPS",
        place,
        figures,
        parts,
    }
}

const DOS: &str = "DISKMBPS 9 and appendix 1: the Pentium Pro under DOS";
const OTHERS: &str = "DISKMBPS 9: the other machines under DOS";
const DISCS: &str = "DISKMBPS 9: CD-ROM, one reader";
const CACHES: &str = "DISKMBPS 8, 9 and appendices 1 to 3: through the file caches of Windows";
const LAN_PPRO: &str = "DISKMBPS 9 and appendix 4: a disk behind 10 Mbit/s Ethernet";
const LAN_P100: &str = "DISKMBPS 9 and appendix 4: the Pentium 100 as client";
const TWO: &str = "DISKMBPS appendix 4.5: two clients of one server";
const FOUR: &str = "DISKMBPS 10: programs that read a file each from one disk";
const TWO_ON_CD: &str = "DISKMBPS 11: two programs that read a file each from one CD-ROM";

const AHEAD: &str = "set by the read-ahead of Windows NT, whose size is not documented";
const BOX: &str = "how Windows serves DOS programs is not documented";
const NO_HOST: &str = "the model of a CD-ROM has no host, and what a host computes for it is not \
                       documented but by this figure";
const COST: &str = "processor over rate";
const LOOPS: &str = "\"all the software just loops around waiting\": 100 % whatever happens";
const PACKETS: &str = "how many bytes Windows puts into a packet is not documented";
const TWO_DRIVES: &str = "no machine here has two drives, and which of them Windows NT prefers is \
                          known by these figures alone";

pub(super) const TABLES: &[PublishedTable] = &[
    table(
        "3, screen",
        5,
        &[unreached(5, "writing, four passes", AHEAD)],
    ),
    table(
        "7, three programs on two files",
        6,
        &[
            compared(
                2,
                DOS,
                &[
                    "reading 40 MB, middle of the disk",
                    "reading 4 MB, the first tracks",
                ],
            ),
            unreached(4, "under Windows NT", AHEAD),
        ],
    ),
    table(
        "8",
        12,
        &[given(
            12,
            "rate, processor, seconds for a MB",
            "each stands in section 9 again, or a definition was made of it",
        )],
    ),
    table(
        "9",
        57,
        &[
            given(3, "CoreTest", "definitions were made of them"),
            compared(1, DOS, &["reading 40 MB, middle of the disk"]),
            compared(
                2,
                OTHERS,
                &["Pentium 100, reading 20 MB", "486, reading 20 MB"],
            ),
            unreached(8, "DOS programs under Windows", BOX),
            compared(
                7,
                CACHES,
                &[
                    "PPro, reading 40 MB",
                    "PPro, reading 40 MB, processor",
                    "PPro, 10 MB from memory",
                    "P100, reading 20 MB",
                    "P100, 6 MB from memory",
                    "486, reading 25 MB",
                    "486, 8 MB from memory",
                ],
            ),
            given(3, "seconds for a MB", COST),
            unreached(2, "P100 and 486, processor", LOOPS),
            compared(2, DISCS, &["8-fold speed", "4-fold speed"]),
            unreached(4, "CD, processor and seconds for a MB", NO_HOST),
            compared(
                6,
                LAN_PPRO,
                &[
                    "Pentium Pro reads from the Pentium 100",
                    "8 MB from the server's memory",
                    "reading: Pentium Pro, processor",
                    "reading: Pentium 100, processor",
                ],
            ),
            compared(
                6,
                LAN_P100,
                &[
                    "Pentium 100 reads from the Pentium Pro",
                    "16 MB from the server's memory",
                    "reading: Pentium Pro, processor",
                    "reading: Pentium 100, processor",
                ],
            ),
            given(4, "the same, seconds for a MB", COST),
            compared(
                4,
                TWO,
                &[
                    "both read, all",
                    "both read, Pentium 100",
                    "both read, 486",
                    "both read: Pentium Pro, processor",
                ],
            ),
            unreached(2, "two clients, processors of both", LOOPS),
            given(3, "the same, seconds for a MB", COST),
        ],
    ),
    table(
        "10",
        9,
        &[
            compared(6, FOUR, &[]),
            given(
                3,
                "run times of two, three and four programs",
                "their MB over the rate of all",
            ),
        ],
    ),
    table(
        "11",
        4,
        &[
            compared(2, TWO_ON_CD, &[]),
            unreached(2, "processor, seconds for a MB", NO_HOST),
        ],
    ),
    table(
        "12",
        9,
        &[unreached(9, "a CD and a disk at once", TWO_DRIVES)],
    ),
    table(
        "A1.1",
        21,
        &[compared(
            21,
            CACHES,
            &["PPro, writing 10 MB", "PPro, 10 MB from memory"],
        )],
    ),
    table(
        "A1.2",
        8,
        &[compared(
            8,
            CACHES,
            &[
                "PPro, writing 40 MB",
                "PPro, reading 40 MB",
                "PPro, reading 40 MB, processor",
            ],
        )],
    ),
    table("A1.3", 21, &[unreached(21, "writing, twenty passes", BOX)]),
    table(
        "A1.4",
        8,
        &[unreached(8, "writing, six passes, processor", BOX)],
    ),
    table(
        "A1.5",
        5,
        &[
            compared(4, DISCS, &["8-fold speed"]),
            unreached(1, "processor", NO_HOST),
        ],
    ),
    table(
        "A1.6",
        5,
        &[
            compared(4, DISCS, &["8-fold speed, DOS version"]),
            unreached(1, "processor", NO_HOST),
        ],
    ),
    table(
        "A1.7",
        9,
        &[compared(
            9,
            DOS,
            &[
                "writing 8 MB, \"not as fast as could be\"",
                "reading 8 MB, \"not as fast as could be\"",
            ],
        )],
    ),
    table(
        "A1.8",
        9,
        &[compared(
            9,
            DOS,
            &["writing 8 MB, behind 30 MB", "reading 8 MB, behind 30 MB"],
        )],
    ),
    table(
        "A1.9",
        7,
        &[compared(
            7,
            DOS,
            &["writing 40 MB", "reading 40 MB, middle of the disk"],
        )],
    ),
    table(
        "A2.1",
        7,
        &[compared(
            7,
            CACHES,
            &["P100, writing 20 MB", "P100, reading 20 MB"],
        )],
    ),
    table(
        "A2.2",
        21,
        &[compared(
            21,
            CACHES,
            &["P100, writing 6 MB", "P100, 6 MB from memory"],
        )],
    ),
    table("A2.3", 7, &[unreached(7, "writing, six passes", BOX)]),
    table("A2.4", 21, &[unreached(21, "writing, twenty passes", BOX)]),
    table("A2.5", 2, &[compared(2, DISCS, &["4-fold speed"])]),
    table(
        "A2.6",
        2,
        &[compared(2, DISCS, &["4-fold speed, DOS version"])],
    ),
    table(
        "A2.7",
        7,
        &[compared(
            7,
            OTHERS,
            &["Pentium 100, writing 20 MB", "Pentium 100, reading 20 MB"],
        )],
    ),
    table(
        "A3.1",
        11,
        &[compared(
            11,
            CACHES,
            &["486, writing 8 MB", "486, 8 MB from memory"],
        )],
    ),
    table(
        "A3.2",
        7,
        &[compared(
            7,
            CACHES,
            &["486, writing 25 MB", "486, reading 25 MB"],
        )],
    ),
    table(
        "A3.3",
        7,
        &[compared(
            7,
            OTHERS,
            &["486, writing 20 MB", "486, reading 20 MB"],
        )],
    ),
    table(
        "A4.1",
        13,
        &[
            compared(
                11,
                LAN_PPRO,
                &[
                    "Pentium Pro reads from the Pentium 100",
                    "reading: Pentium Pro, processor",
                    "reading: Pentium 100, processor",
                    "writing 40 MB",
                    "writing: Pentium Pro, processor",
                    "writing: Pentium 100, processor",
                ],
            ),
            unreached(2, "packets in a second", PACKETS),
        ],
    ),
    table(
        "A4.2",
        14,
        &[
            compared(
                13,
                LAN_PPRO,
                &[
                    "8 MB from the server's memory",
                    "8 MB: Pentium Pro, processor",
                    "8 MB: Pentium 100, processor",
                    "writing 8 MB",
                ],
            ),
            unreached(1, "packets in a second", PACKETS),
        ],
    ),
    table(
        "A4.3",
        11,
        &[compared(
            11,
            LAN_P100,
            &[
                "Pentium 100 reads from the Pentium Pro",
                "reading: Pentium Pro, processor",
                "reading: Pentium 100, processor",
                "writing 40 MB",
                "writing: Pentium Pro, processor",
                "writing: Pentium 100, processor",
            ],
        )],
    ),
    table(
        "A4.4",
        13,
        &[compared(
            13,
            LAN_P100,
            &[
                "16 MB from the server's memory",
                "16 MB: Pentium Pro, processor",
                "16 MB: Pentium 100, processor",
                "writing 16 MB",
            ],
        )],
    ),
    table("A4.5", 19, &[compared(19, TWO, &[])]),
];
