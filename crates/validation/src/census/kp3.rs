//! The KP3 notes, 1994 to 1999, from the newest to the oldest as they stand there.

use super::{PublishedTable, TablePart, compared, given, unreached};

const fn table(place: &'static str, figures: usize, parts: &'static [TablePart]) -> PublishedTable {
    PublishedTable {
        document: "KP3",
        place,
        figures,
        parts,
    }
}

const DEC_3000: &str = "KP3, April 1995: disks of a DEC 3000 Model 400, 16 MB in I/Os of 48 KiB";
const COPY: &str = "KP3, April 1995: COPY from tape to disk, with and without /extension";
const FULL: &str = "KP3, July 1994 and May 1995: a tape written full with copies of one file";
const FINDING: &str = "KP3, September 1995 and July 1994: finding files on a tape";

pub(super) const TABLES: &[PublishedTable] = &[
    table(
        "NFS on Linux, 1999",
        54,
        &[
            unreached(
                23,
                "rates but those of 64 KiB blocks",
                "set by NFS client and server in their kernels; the study nfs-linux has it",
            ),
            unreached(
                4,
                "reads and writes by 64 KiB blocks",
                "a mistake in the client",
            ),
            given(27, "seconds", "16 MB and less over the rate"),
        ],
    ),
    table(
        "adsmcli retrieve, 1998",
        40,
        &[unreached(
            40,
            "rates and processor time of five nodes",
            "the server's staging disks are not described; the study adsm-retrieve has it",
        )],
    ),
    table(
        "compilers, 1998",
        14,
        &[unreached(
            14,
            "real and processor time",
            "compilers, and no storage; the study compilers measures it",
        )],
    ),
    table(
        "NFS on AIX and Linux, 1998",
        32,
        &[
            unreached(
                15,
                "rates",
                "the cost of a synchronous write differs fourteenfold among the servers; the \
                 study nfs-aix-linux measures it",
            ),
            given(15, "seconds", "1 MB over the rate"),
            compared(1, "KP3, April 1998: writing a floppy", &[]),
            unreached(1, "a local disk, 6.1 MB/s", "the drive is not named"),
        ],
    ),
    table(
        "adsmcli archive, 1996",
        4,
        &[unreached(
            4,
            "seconds, GB, rate, processor",
            "a server that is not described; the study adsm-archive measures it",
        )],
    ),
    table(
        "positioning on DLT2000, 1995",
        11,
        &[
            compared(
                2,
                FINDING,
                &[
                    "skip of 31 marks, to the 10th file",
                    "search for a file, mean of 91",
                ],
            ),
            given(
                9,
                "histogram of 91 searches",
                "one sample of the mean that is compared; the study dlt2000-positioning draws its \
                 own",
            ),
        ],
    ),
    table(
        "TMSCP, 1995",
        12,
        &[
            compared(
                4,
                "KP3, September 1995: four tapes read at once over TMSCP",
                &[],
            ),
            given(4, "execution times", "10 Gbyte over the rate"),
            unreached(4, "processor times", "what the jobs compute is not said"),
        ],
    ),
    table(
        "BACKUP, 1995",
        28,
        &[
            compared(4, "KP3, May 1995: BACKUP of two disks to a tape", &[]),
            given(4, "times", "the volume over the rate"),
            given(12, "files, MB allocated and used", "what was saved"),
            unreached(
                8,
                "direct I/Os and processor times",
                "VMS's count of its requests, and BACKUP's own work, have no parameters",
            ),
        ],
    ),
    table(
        "PAW, 1995",
        18,
        &[unreached(
            18,
            "time and performance of nine machines",
            "processors, and no storage; the study paw measures it",
        )],
    ),
    table(
        "disk I/O, 1995",
        32,
        &[
            compared(8, DEC_3000, &[]),
            unreached(
                8,
                "1., 2., 5. and 7., disks at DSSI (RF72)",
                "a controller's limit without parameters",
            ),
            unreached(
                6,
                "4., 10. and 11., DSP5350S and DSP5200S",
                "no geometry of these drives was found",
            ),
            unreached(
                10,
                "12. to 16., disks of VAX stations",
                "limits of processor and controller without parameters",
            ),
        ],
    ),
    table(
        "COPY/EXTENSION, 1995",
        12,
        &[
            compared(2, COPY, &[]),
            given(2, "times", "the volume over the rate"),
            unreached(
                8,
                "I/Os, FCP rate and processor time",
                "VMS's counts of its own requests have no parameters",
            ),
        ],
    ),
    table(
        "VMS virtual I/O cache, 1994",
        12,
        &[unreached(
            12,
            "reads, hits, bypasses and seconds of a job",
            "the job's I/Os are not listed; the study virtual-io-cache-job measures such a job",
        )],
    ),
    table(
        "CERN httpd, 1994",
        8,
        &[unreached(
            8,
            "seconds for 40 images",
            "a name server that never answered explains much, the note says; the study cern-httpd \
             measures it",
        )],
    ),
    table(
        "Fortran, 1994",
        7,
        &[unreached(
            7,
            "seconds",
            "a compiler, and no storage; the study fortran-options measures it",
        )],
    ),
    table(
        "DLT2000, 1994 and 1995",
        21,
        &[
            compared(10, FULL, &[]),
            given(
                10,
                "files and volumes",
                "what was written until the tape was full",
            ),
            compared(1, FINDING, &["skip to the end of 7.9 GB"]),
        ],
    ),
    table(
        "FTP over FDDI, 1994",
        18,
        &[
            unreached(
                9,
                "rates",
                "the channel between the hosts is the bottleneck, and has no parameters; the \
                 study fddi-ftp measures it",
            ),
            given(9, "seconds", "19,644,416 bytes over the rate"),
        ],
    ),
];
