//! IOR's options.

use units::Duration;

use crate::HpcAnswer::{Differs, Same};
use crate::option::{HpcOption, read, read_named};
use crate::values::{number, posix, seconds, size};

/// An IOR command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IorCommand {
    /// The named file; files are created in its directory.
    pub file: String,
    /// Transfer size, bytes.
    pub transfer: u64,
    /// Contiguous bytes per rank.
    pub block: u64,
    /// Blocks of each rank.
    pub segments: u64,
    /// Number of participating ranks; all if absent.
    pub tasks: Option<u32>,
    pub repetitions: u32,
    /// When writing stops.
    pub stonewall: Option<Duration>,
    /// Whether figures cover the whole phase, including what slower ranks write after the
    /// stonewall.
    pub is_worn_out: bool,
    /// Whether each rank has its own file.
    pub has_own_files: bool,
    pub writes: bool,
    pub reads: bool,
    /// Whether a rank reads what another one wrote.
    pub reorders: bool,
    /// Whether files are synced before they are closed.
    pub syncs: bool,
    /// Whether transfers are in random order.
    pub is_random: bool,
    /// Whether written data is read back and verified, outside the measured phases.
    pub verifies: bool,
    /// Whether every byte read is compared, rather than the first 512 of each call.
    pub compares: bool,
    /// Lustre stripe count of a file, and stripe size.
    pub stripe_count: Option<i32>,
    pub stripe_bytes: Option<u64>,
}

impl Default for IorCommand {
    fn default() -> Self {
        Self {
            file: "testFile".into(),
            transfer: 256 << 10,
            block: 1 << 20,
            segments: 1,
            tasks: None,
            repetitions: 1,
            stonewall: None,
            is_worn_out: false,
            has_own_files: false,
            writes: false,
            reads: false,
            reorders: false,
            syncs: false,
            is_random: false,
            verifies: false,
            compares: false,
            stripe_count: None,
            stripe_bytes: None,
        }
    }
}

const NO_MPI_IO: &str = "files are reached by POSIX calls alone, not by MPI-IO. Leave it out";
const NO_HDF5: &str = "files are reached by POSIX calls alone, not by HDF5. Leave it out";
const REMOVED: &str =
    "files are removed at the end. Write and read in one command, with -w -r, and leave it out";
const DIRECT: &str = "files go through the page cache. Use `seekstone transfer DIR --streams N` \
                      for direct I/O, or leave it out";
const NEXT_HOST: &str =
    "with several hosts the next host's rank of the same place is read, on one host the next rank";

/// IOR's options by letter; then those with only a name, after `-O` or two dashes.
pub const IOR_OPTIONS: &[HpcOption<IorCommand>] = &[
    HpcOption::value("-a", "api", Differs("POSIX alone"), |_, it| posix(it)),
    HpcOption::idle_value("-A", "refNum", "not printed"),
    HpcOption::value("-b", "blockSize", Same, |to, it| {
        put(&mut to.block, size(it))
    }),
    HpcOption::refused("-B", "useO_DIRECT", DIRECT),
    HpcOption::refused("-c", "collective", NO_MPI_IO),
    HpcOption::flag("-C", "reorderTasksConstant", Differs(NEXT_HOST), |to, _| {
        put(&mut to.reorders, Ok(true))
    }),
    HpcOption::refused_value(
        "-d",
        "interTestDelay",
        "repetitions follow each other at once. Use one command each, with a sleep in between",
    ),
    HpcOption::value(
        "-D",
        "deadlineForStonewalling",
        Differs(
            "stops writing only. Then all ranks write as much as the furthest, as with \
             `stoneWallingWearOut`, and reading reads all of it",
        ),
        |to, it| put(&mut to.stonewall, seconds(it)),
    ),
    HpcOption::flag(
        "-e",
        "fsync",
        Differs("a new file's directory is synced, too. In memory (tmpfs) nothing is"),
        |to, _| put(&mut to.syncs, Ok(true)),
    ),
    HpcOption::refused("-E", "useExistingTestFile", REMOVED),
    HpcOption::refused_value("-f", "scriptFile", "type the options of each test instead"),
    HpcOption::flag("-F", "filePerProc", Same, |to, _| {
        put(&mut to.has_own_files, Ok(true))
    }),
    HpcOption::idle(
        "-g",
        "intraTestBarriers",
        "ranks begin each phase together, and never wait between open, transfer and close",
    ),
    HpcOption::idle_value(
        "-G",
        "setTimeStampSignature",
        "every block says which file and place it is of, whatever is set",
    ),
    HpcOption::refused("-H", "showHints", NO_MPI_IO),
    HpcOption::value("-i", "repetitions", Same, |to, it| {
        put(&mut to.repetitions, number(it, 1))
    }),
    HpcOption::refused("-I", "individualDataSets", NO_HDF5),
    HpcOption::idle_value(
        "-j",
        "outlierThreshold",
        "the report always names the slowest rank",
    ),
    HpcOption::refused_value("-J", "setAlignment", NO_HDF5),
    HpcOption::refused("-k", "keepFile", REMOVED),
    HpcOption::idle(
        "-K",
        "keepFileWithError",
        "files are removed. With -W the report names what is wrong and where",
    ),
    HpcOption::value(
        "-l",
        "dataPacketType",
        Differs("`offset` and `timestamp`: blocks say which they are. `incompressible` is refused"),
        |_, it| packet(it),
    ),
    HpcOption::idle(
        "-m",
        "multiFile",
        "each repetition has new files in any case",
    ),
    HpcOption::refused_value(
        "-M",
        "memoryPerNode",
        "limit the page cache with a cgroup, as in `systemd-run --scope -p MemoryMax=2G`",
    ),
    HpcOption::refused("-n", "noFill", NO_HDF5),
    HpcOption::value(
        "-N",
        "numTasks",
        Differs("at least one a rank. Without a launcher, threads"),
        |to, it| {
            put(
                &mut to.tasks,
                number(it, 0).map(|it| (it > 0).then_some(it)),
            )
        },
    ),
    HpcOption::value(
        "-o",
        "testFile",
        Differs("names the directory. Files are made in a work directory within it"),
        |to, it| put(&mut to.file, Ok(it.to_owned())),
    ),
    HpcOption::value("-O", "", Differs("names of this table alone"), |to, it| {
        it.split(',')
            .try_for_each(|one| read_named(IOR_OPTIONS, one, to))
    }),
    HpcOption::refused("-p", "preallocate", NO_MPI_IO),
    HpcOption::refused("-P", "useSharedFilePointer", NO_MPI_IO),
    HpcOption::idle("-q", "quitOnError", "a wrong byte always ends the run"),
    HpcOption::value(
        "-Q",
        "taskPerNodeOffset",
        Differs("1 alone. See -C"),
        |_, it| match it {
            "1" => Ok(()),
            _ => Err(format!("{it}: ranks read the next host's files. Use -Q 1")),
        },
    ),
    HpcOption::flag(
        "-r",
        "readFile",
        Differs("with -w only: files are removed at the end"),
        |to, _| put(&mut to.reads, Ok(true)),
    ),
    HpcOption::flag(
        "-R",
        "checkRead",
        Differs(
            "every byte read is compared within the time of the phase. Without it the first 512 \
             of each call",
        ),
        |to, _| {
            (to.reads, to.compares) = (true, true);
            Ok(())
        },
    ),
    HpcOption::value("-s", "segmentCount", Same, |to, it| {
        put(&mut to.segments, size(it))
    }),
    HpcOption::refused("-S", "useStridedDatatype", NO_MPI_IO),
    HpcOption::value("-t", "transferSize", Same, |to, it| {
        put(&mut to.transfer, size(it))
    }),
    HpcOption::refused_value("-T", "maxTimeDuration", "use -D, in seconds"),
    HpcOption::idle("-u", "uniqueDir", "ranks with -F always have their own"),
    HpcOption::refused_value("-U", "hintsFileName", NO_MPI_IO),
    HpcOption::idle("-v", "verbose", "use --all for all details"),
    HpcOption::refused("-V", "useFileView", NO_MPI_IO),
    HpcOption::flag("-w", "writeFile", Same, |to, _| {
        put(&mut to.writes, Ok(true))
    }),
    HpcOption::flag(
        "-W",
        "checkWrite",
        Differs(
            "files are dropped from memory and read back. Transfers are whole 512-byte sectors",
        ),
        |to, _| put(&mut to.verifies, Ok(true)),
    ),
    HpcOption::refused(
        "-x",
        "singleXferAttempt",
        "a short transfer is always carried on",
    ),
    HpcOption::idle_value("-X", "reorderTasksRandomSeed", "no effect. See -Z"),
    HpcOption::refused(
        "-Y",
        "fsyncPerWrite",
        "use `seekstone trial DIR --writes 100% --durable --clients N`",
    ),
    HpcOption::flag("-z", "randomOffset", Same, |to, _| {
        put(&mut to.is_random, Ok(true))
    }),
    HpcOption::flag("-Z", "reorderTasksRandom", Differs("as -C"), |to, _| {
        put(&mut to.reorders, Ok(true))
    }),
    HpcOption::refused("", "posix.odirect", DIRECT),
    HpcOption::flag("", "stoneWallingWearOut", Same, |to, _| {
        put(&mut to.is_worn_out, Ok(true))
    }),
    HpcOption::idle_value(
        "",
        "stoneWallingStatusFile",
        "no file: reading in the same command knows what was written",
    ),
    HpcOption::value(
        "",
        "lustreStripeCount",
        Differs("set by `lfs setstripe`"),
        |to, it| {
            let count = it.parse().ok().filter(|it| *it >= -1);
            let count = count.ok_or_else(|| format!("{it}: is no number of stripes, -1 for all"));
            put(&mut to.stripe_count, count.map(Some))
        },
    ),
    HpcOption::value(
        "",
        "lustreStripeSize",
        Differs("set by `lfs setstripe`"),
        |to, it| put(&mut to.stripe_bytes, size(it).map(Some)),
    ),
    HpcOption::refused_value("", "summaryFormat", "use --json, --csv or --markdown"),
    HpcOption::refused_value("", "summaryFile", "use --json FILE or --csv FILE"),
];

/// Stores a parsed value.
pub(crate) fn put<T>(place: &mut T, read: Result<T, String>) -> Result<(), String> {
    *place = read?;
    Ok(())
}

fn packet(kind: &str) -> Result<(), String> {
    match kind.to_ascii_lowercase().as_str() {
        "o" | "offset" | "t" | "timestamp" => Ok(()),
        "i" | "incompressible" => Err(format!(
            "{kind}: the data of file tests can be compressed in part. Use `seekstone transfer`"
        )),
        _ => Err(format!("{kind}: is neither offset nor timestamp")),
    }
}

impl IorCommand {
    /// Parses a command line.
    ///
    /// # Errors
    /// What is unknown, refused, or contradictory, in one sentence.
    pub fn read(words: &[String]) -> Result<Self, String> {
        let mut command = Self::default();
        read(IOR_OPTIONS, words, &mut command)?;
        let is_open = !command.writes && !command.reads && !command.verifies;
        if is_open {
            (command.writes, command.reads) = (true, true);
        }
        let Self {
            transfer, block, ..
        } = command;
        let problem = if transfer == 0 || block == 0 || command.segments == 0 {
            "-t, -b and -s are above 0".to_owned()
        } else if block % transfer > 0 {
            format!("-b {block}: a block is a whole number of transfers of {transfer} bytes (-t)")
        } else if command.is_random && command.verifies {
            "-W: what is written in random order is not read back. Use -R, or leave -z out".into()
        } else if !command.writes {
            "files are removed at the end, so reading needs -w in the same command".into()
        } else {
            return Ok(command);
        };
        Err(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &str) -> Result<IorCommand, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        IorCommand::read(&words)
    }

    #[test]
    fn options_are_read_as_users_type_them() {
        let typed = [
            "-a POSIX -t 2m -b 64m -F -C -e -g -w -r -i 3 -o /scratch/x/file -D 300",
            "-aPOSIX -t=2m -b64m -FCegwr -i=3 -o=/scratch/x/file -D300",
            "-O api=posix,transferSize=2m,blockSize=64m,filePerProc=1,reorderTasksConstant=1 \
             -O fsync=1,writeFile=1,readFile=1,repetitions=3,keepFile=0 -o /scratch/x/file -D 300",
        ];
        let expected = IorCommand {
            file: "/scratch/x/file".into(),
            transfer: 2 << 20,
            block: 64 << 20,
            repetitions: 3,
            stonewall: Some(Duration::from_secs(300)),
            has_own_files: true,
            writes: true,
            reads: true,
            reorders: true,
            syncs: true,
            ..IorCommand::default()
        };
        for line in typed {
            assert_eq!(read_line(line).as_ref(), Ok(&expected), "{line}");
        }
        let bare = read_line("-s 4").expect("defaults");
        assert!(bare.writes && bare.reads && bare.segments == 4);
    }

    #[test]
    fn what_cannot_be_done_is_one_sentence_that_says_what_to_use() {
        for (line, expected) in [
            ("-B", "Use `seekstone transfer DIR --streams N`"),
            ("-w -k", "Write and read in one command, with -w -r"),
            ("-r", "reading needs -w in the same command"),
            (
                "-a MPIIO",
                "-a MPIIO: files are reached by POSIX calls alone. Use -a POSIX",
            ),
            ("-t 3m -b 4m", "a whole number of transfers"),
            ("-5", "-5: is no option known here"),
            ("-t", "-t: needs a value"),
            ("-T", "use -D"),
            ("-O nonsense=1", "nonsense: is no option known here"),
            (
                "--posix.odirect",
                "posix.odirect: files go through the page cache",
            ),
            ("file", "file: is no option"),
            ("-t x", "-t x: is no size"),
        ] {
            let why = read_line(line).expect_err(line);
            assert!(why.contains(expected), "{line}: {why}");
            assert!(!why.contains('\n'), "{line}: {why}");
        }
    }
}
