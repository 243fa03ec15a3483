//! `seekstone files`: programs that use files, repeated until their times are known.

use std::path::{Path, PathBuf};

use drivers::CacheDrop;
use kinds::files::{FileWork, FilesRequest, LustreStripes, MemoryDisk, measure_files, memory_disk};
use lab::bench::{BenchRequest, inspected};
use lab::hosts::TargetSharing;
use lab::simulated::keep_texts;
use procedure::{OnError, RoundsRule};
use results::{FileState, FileTransfers, MetadataTree, Setup};
use units::{Bytes, TargetName};
use verify::SECTOR_BYTES;
use workload::{BLOCK_BYTES, CHUNK_BYTES, DecusTest, DirectoryUse};

use crate::args::{FilesArgs, LayoutChoice, WorkloadChoice};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::seeded;
use crate::exit::UsageError;

/// The most passes of a test that does not become precise.
const PASSES_MAX: u32 = 1000;
/// Bytes of a file of mdtest's hard pattern, as the IO500 benchmark sets it.
const HARD_FILE_BYTES: u32 = 3901;
/// Bytes of a transfer in IOR's hard pattern, as the IO500 benchmark sets it ...
const HARD_TRANSFER_BYTES: u64 = 47_008;
/// ... and in its easy one.
const EASY_TRANSFER_BYTES: u64 = 2 << 20;
/// The longest transfer.
const TRANSFER_BYTES_MAX: u64 = 64 << 20;
/// The most transfers of a client.
const TRANSFERS_MAX: u64 = 1 << 30;
/// What a client writes, where nothing else is asked for.
const CLIENT_BYTES: u64 = 64 << 20;
/// Files, and directories in a directory, where nothing else is asked for.
const FILES: u32 = 10_000;
const FAN_OUT: u32 = 10;
/// Why one client cannot read in another order.
const NO_OTHER: &str = "--reorder reads what another client created: use at least two --clients";
/// The most bytes of a file.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// In the place of a directory: no memory disk.
pub const NO_MEMORY: &str = "none";

impl MeasuringCommand for FilesArgs {
    fn outline(&self) -> CommandOutline<'_> {
        let is_compared = |memory: &PathBuf| memory.as_path() != Path::new(NO_MEMORY);
        let has_memory = self.memory.as_ref().is_some_and(is_compared);
        CommandOutline::of(&self.common, [&self.target], TargetSharing::Never)
            .alone(has_memory, "--memory compares one host with its memory")
            .alone(self.device.is_some(), "--device works on one host")
            .dealt("--clients", "client", self.clients)
            .reads(self.device.clone())
    }

    fn ready(&self, setup: Setup) -> anyhow::Result<Ready<'_>> {
        let args = self;
        if !args.target.is_model() {
            // What is not there, or out of reach, is no file that only some tests could read.
            inspected(&args.target)?;
        }
        let request = request(args, setup)?;
        let memory = memory_place(&request);
        let mut ready = args.common.ready(request, |it| &it.bench, measure_files);
        ready.places.extend(memory);
        Ok(ready)
    }
}

/// What test 11 reads at a time, in whole blocks.
fn device_chunk(args: &FilesArgs) -> Result<u32, UsageError> {
    let Some(asked) = args.transfer_size.filter(|_| args.workload.is_none()) else {
        return Ok(CHUNK_BYTES);
    };
    let block = u64::from(BLOCK_BYTES);
    if asked.0 % block > 0 || !(block..=TRANSFER_BYTES_MAX).contains(&asked.0) {
        refuse!(
            "--transfer-size {asked}: test 11 reads between 1 block of {block} bytes and {}, in \
             whole blocks",
            Bytes(TRANSFER_BYTES_MAX)
        );
    }
    Ok(asked.0 as u32)
}

/// Where killed runs may have left something beside the target.
fn memory_place(request: &FilesRequest) -> Option<PathBuf> {
    let is_wanted = request.memory == MemoryDisk::Beside;
    let named = request.memory_directory.clone();
    is_wanted.then(|| named.or_else(memory_disk)).flatten()
}

/// What a target is for these tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilesTarget {
    /// A directory, in which files are made.
    Directory,
    /// A file or device, which is only read.
    Device,
    /// A simulated file system.
    Model,
}

impl FilesTarget {
    fn of(target: &TargetName) -> Self {
        match target.path() {
            _ if target.is_model() => Self::Model,
            Some(path) if path.is_dir() => Self::Directory,
            _ => Self::Device,
        }
    }

    /// The states that are measured where none is asked for.
    fn usual_states(self) -> Vec<FileState> {
        match self {
            Self::Model => vec![FileState::AsIs],
            Self::Directory | Self::Device => FileState::ALL.to_vec(),
        }
    }
}

fn request(args: &FilesArgs, mut setup: Setup) -> anyhow::Result<FilesRequest> {
    let target = FilesTarget::of(&args.target);
    let work = match args.workload {
        Some(WorkloadChoice::Metadata) => metadata(args)?,
        Some(WorkloadChoice::Bandwidth) => bandwidth(args)?,
        None => decus(args, target)?,
    };
    check_together(args, target)?;
    if args.verify {
        check_whole_sectors(&work)?;
    }
    let states = states(args, target)?;
    setup.resolve("clients", [args.clients().to_string()]);
    resolve(&mut setup, &work, &states);
    keep_texts(&args.target, &mut setup);
    let memory = args.memory.clone();
    let is_without = memory.as_deref() == Some(Path::new(NO_MEMORY));
    seeded(args.common.seed, &mut setup);
    let mut bench = BenchRequest {
        reserve: args.reserve,
        ranks: args.common.ranks.clone(),
        ..BenchRequest::new(args.target.clone(), "file tests", setup)
    };
    bench.storage.processors = args.cpus.clone().map_or_else(Vec::new, |it| it.0);
    Ok(FilesRequest {
        bench,
        work,
        phases: args
            .hpc
            .as_ref()
            .map_or_else(Vec::new, |it| it.phases.clone()),
        states,
        clients: args.clients(),
        stonewall: args.stonewall,
        stripes: (args.stripe_count.is_some() || args.stripe_size.is_some()).then_some(
            LustreStripes {
                count: args.stripe_count,
                bytes: args.stripe_size,
            },
        ),
        verify: args.verify,
        compare: args.compare,
        rule: RoundsRule {
            rounds: args.passes,
            precision: args.precision,
            rounds_min: 1,
            rounds_max: PASSES_MAX,
            budget: args.budget,
        },
        counts_first_pass: args.hpc.is_some(),
        device: args.device.clone(),
        device_chunk: device_chunk(args)?,
        cache_drop: if args.drop_caches {
            CacheDrop::Machine
        } else {
            CacheDrop::OwnFiles
        },
        memory: memory_beside(args, target),
        memory_directory: memory.filter(|_| !is_without),
    })
}

/// What several hosts do is compared with one another, not with their memory, and up to a stonewall
/// memory makes other files.
fn memory_beside(args: &FilesArgs, target: FilesTarget) -> MemoryDisk {
    let is_without = args.memory.as_deref() == Some(Path::new(NO_MEMORY));
    let is_other = args.common.ranks.is_some() || args.stonewall.is_some();
    if target != FilesTarget::Directory || is_without || is_other {
        return MemoryDisk::Without;
    }
    MemoryDisk::Beside
}

/// What was left to the program.
fn resolve(setup: &mut Setup, work: &FileWork, states: &[FileState]) {
    if let FileWork::Decus { tests, .. } = work {
        setup.resolve("tests", tests.iter().map(|it| it.number().to_owned()));
    }
    if let FileWork::Metadata(tree) = work {
        setup.resolve("files", [tree.files.to_string()]);
        setup.resolve("layout", [layout_word(tree)]);
        setup.resolve("fan-out", [tree.fan_out.to_string()]);
        setup.resolve("depth", [tree.depth.to_string()]);
        setup.resolve("file-size", [Bytes(u64::from(tree.file_bytes)).to_string()]);
    }
    if let FileWork::Bandwidth(transfers) = work {
        let layout = match transfers.directories {
            DirectoryUse::Own => "easy",
            DirectoryUse::Shared => "hard",
        };
        setup.resolve("layout", [layout.to_owned()]);
        let bytes = u64::from(transfers.transfer_bytes);
        setup.resolve("transfer-size", [Bytes(bytes).to_string()]);
        setup.resolve("file-size", [Bytes(transfers.client_bytes).to_string()]);
    }
    setup.resolve("state", states.iter().map(|it| it.name().to_owned()));
}

/// An option that would do nothing is refused, not ignored.
fn check_together(args: &FilesArgs, target: FilesTarget) -> Result<(), UsageError> {
    use FilesTarget::{Device, Model};
    let idle: [(bool, &[FilesTarget], &str); 7] = [
        (
            args.state.contains(&FileState::Durable),
            &[Model],
            "--state durable: a simulated RT-11 writes nothing late, so every write is durable \
             anyway",
        ),
        (
            args.clients() > 1,
            &[Model],
            "--clients: a simulated file system serves a single program. Leave it out",
        ),
        (
            args.cpus.is_some(),
            &[Model],
            "--cpus pins threads of this machine. Leave it out for a simulated one",
        ),
        (
            args.drop_caches,
            &[Model],
            "--drop-caches applies to this machine's caches. Leave it out for a simulated one",
        ),
        (
            args.device.is_some(),
            &[Model, Device],
            "--device applies to a directory: elsewhere test 11 reads the target itself",
        ),
        (
            args.memory.is_some(),
            &[Model, Device],
            "--memory applies to a directory: no memory disk runs with other targets",
        ),
        (
            args.reserve.is_some(),
            &[Model, Device],
            "--reserve applies to a directory in which files are made",
        ),
    ];
    let is_idle =
        |(is_given, on, _): &&(bool, &[FilesTarget], &str)| *is_given && on.contains(&target);
    if let Some((.., why)) = idle.iter().find(is_idle) {
        return Err(UsageError((*why).into()));
    }
    let is_disk = |memory: &Path| memory != Path::new(NO_MEMORY);
    let has_cold = args.state.is_empty() || args.state.contains(&FileState::Cold);
    let problem = if args.errors == OnError::Count {
        "--errors count: a pass makes all of its calls, or there is none. Leave it out"
    } else if args
        .workers
        .is_some_and(|workers| workers != args.clients())
    {
        "--workers: each client has a thread of its own. Set --clients, and leave it out"
    } else if args.stonewall.is_some() && args.memory.as_deref().is_some_and(is_disk) {
        "--memory: with --stonewall, a memory disk would create different files from the target. \
         Leave it out"
    } else if args.drop_caches && !has_cold {
        "--drop-caches applies to the cold state: add cold to --state, or leave it out"
    } else {
        return Ok(());
    };
    Err(UsageError(problem.into()))
}

/// Headers stand in whole sectors.
fn check_whole_sectors(work: &FileWork) -> Result<(), UsageError> {
    let (option, bytes, what) = match work {
        FileWork::Metadata(tree) => ("--file-size", u64::from(tree.file_bytes), "files"),
        FileWork::Bandwidth(it) => ("--transfer-size", u64::from(it.transfer_bytes), "transfers"),
        FileWork::Decus { .. } => return Ok(()),
    };
    let sector = SECTOR_BYTES as u64;
    let problem = match bytes {
        0 => "these files are empty".to_owned(),
        odd if odd % sector > 0 => format!("these are of {odd} bytes"),
        _ => return Ok(()),
    };
    refuse!(
        "--verify needs {what} of whole {sector}-byte sectors, and {problem}: add {option} 4KiB, \
         for example"
    )
}

/// Large files, in IOR's patterns.
fn bandwidth(args: &FilesArgs) -> Result<FileWork, UsageError> {
    let (usual, directories) = match args.layout {
        Some(LayoutChoice::Hard) => (HARD_TRANSFER_BYTES, DirectoryUse::Shared),
        _ => (EASY_TRANSFER_BYTES, DirectoryUse::Own),
    };
    let transfer = args.transfer_size.map_or(usual, |size| size.0);
    let client_bytes = args.file_size.map_or(CLIENT_BYTES, |size| size.0);
    let transfers = client_bytes.checked_div(transfer).unwrap_or(0);
    let problem = if !Path::new(&args.target).is_dir() {
        format!("{}: --workload bandwidth needs a directory", args.target)
    } else if args.layout == Some(LayoutChoice::Tree) {
        "--layout tree: large files are not placed in a tree. Use easy or hard".into()
    } else if args.files.is_some() || args.depth.is_some() || args.fan_out.is_some() {
        "--files, --depth and --fan-out apply to --workload metadata: leave them out".into()
    } else if transfer > TRANSFER_BYTES_MAX {
        let (asked, most) = (Bytes(transfer), Bytes(TRANSFER_BYTES_MAX));
        format!("--transfer-size {asked}: a call reads or writes at most {most}")
    } else if !(1..=TRANSFERS_MAX).contains(&transfers) {
        format!(
            "--file-size {}: a client writes between 1 and {TRANSFERS_MAX} transfers of {}",
            Bytes(client_bytes),
            Bytes(transfer)
        )
    } else if args.reorders() && args.clients() == 1 {
        NO_OTHER.into()
    } else if let Some(uneven) = uneven(args) {
        uneven
    } else {
        return Ok(FileWork::Bandwidth(FileTransfers {
            client_bytes,
            transfer_bytes: transfer as u32,
            directories,
            is_reordered: args.reorders(),
            in_a_row: args.hpc.as_ref().map_or(1, |it| it.in_a_row),
            order: args
                .hpc
                .as_ref()
                .map_or_else(Default::default, |it| it.order),
        }));
    };
    Err(UsageError(problem))
}

/// Where the files of a tree lie, as `--layout` says it.
fn layout_word(tree: &MetadataTree) -> String {
    let word = match (tree.directories, tree.file_bytes, tree.depth) {
        (DirectoryUse::Shared, ..) => "hard",
        (DirectoryUse::Own, 0, 0) => "easy",
        (DirectoryUse::Own, ..) => "tree",
    };
    word.to_owned()
}

fn metadata(args: &FilesArgs) -> Result<FileWork, UsageError> {
    let layout = args.layout.unwrap_or(LayoutChoice::Tree);
    let files = match &args.hpc {
        Some(hpc) => hpc.files_each.saturating_mul(args.clients()),
        None => args.files.unwrap_or(FILES),
    };
    let (depth, file_bytes, directories) = match layout {
        LayoutChoice::Tree => (2, BLOCK_BYTES, DirectoryUse::Own),
        LayoutChoice::Easy => (0, 0, DirectoryUse::Own),
        LayoutChoice::Hard => (0, HARD_FILE_BYTES, DirectoryUse::Shared),
    };
    let file_bytes = args.file_size.map_or(u64::from(file_bytes), |size| size.0);
    let tree = MetadataTree {
        files,
        depth: args.depth.unwrap_or(depth),
        fan_out: args.fan_out.unwrap_or(FAN_OUT),
        file_bytes: file_bytes.min(FILE_BYTES_MAX) as u32,
        directories,
        is_reordered: args.reorders(),
    };
    let problem = if !Path::new(&args.target).is_dir() {
        format!("{}: --workload metadata needs a directory", args.target)
    } else if args.transfer_size.is_some() {
        "--transfer-size applies to --workload bandwidth. Leave it out".into()
    } else if files < args.clients() {
        format!(
            "--files {files}: {} clients need at least one file each",
            args.clients()
        )
    } else if file_bytes > FILE_BYTES_MAX {
        format!(
            "--file-size {}: files of this workload have at most {}. For larger files use \
             --workload bandwidth, trial or transfer",
            Bytes(file_bytes),
            Bytes(FILE_BYTES_MAX)
        )
    } else if directories == DirectoryUse::Shared && tree.depth > 0 {
        format!(
            "--depth {}: with --layout hard all files are in one directory. Leave --depth out",
            tree.depth
        )
    } else if tree.is_reordered && args.clients() == 1 {
        NO_OTHER.into()
    } else if let Some(uneven) = uneven(args) {
        uneven
    } else if tree.of_each(args.clients()).directories().is_none() {
        format!(
            "--depth {} with --fan-out {}: more than {} directories for each client",
            tree.depth,
            tree.fan_out,
            workload::DIRECTORIES_MAX
        )
    } else {
        return Ok(FileWork::Metadata(tree));
    };
    Err(UsageError(problem))
}

/// Each client reads what one of another rank made, so ranks need as many clients each.
fn uneven(args: &FilesArgs) -> Option<String> {
    let ranks = args.common.ranks.as_ref()?.share().ranks;
    let is_uneven = args.reorders() && !args.clients().is_multiple_of(ranks);
    is_uneven.then(|| {
        format!(
            "--clients {}: with --reorder all {ranks} ranks have the same number of clients. Use a \
             multiple of {ranks}",
            args.clients()
        )
    })
}

fn decus(args: &FilesArgs, target: FilesTarget) -> Result<FileWork, UsageError> {
    let is_only_read = target == FilesTarget::Device;
    let mut tests = if args.tests.is_empty() {
        DecusTest::ALL.to_vec()
    } else {
        args.tests.clone()
    };
    tests.sort_unstable();
    tests.dedup();
    if is_only_read && args.tests.is_empty() {
        tests = vec![DecusTest::Test11];
    }
    if is_only_read && tests != [DecusTest::Test11] {
        refuse!(
            "{}: on a file or device only test 11 can run, which reads it. Name a directory for \
                the other tests",
            args.target
        );
    }
    let mut spacings = args.space.clone();
    spacings.sort_unstable();
    spacings.dedup();
    if !spacings.is_empty() && !tests.iter().any(|test| test.is_spaced()) {
        refuse!("--space applies to tests 4, 4A, 4B, 5 and 5A: name one of them, or leave it out");
    }
    if args.device.is_some() && !tests.contains(&DecusTest::Test11) {
        refuse!("--device applies to test 11: add 11 to --tests, or leave it out");
    }
    if args.transfer_size.is_some() && !tests.contains(&DecusTest::Test11) {
        refuse!("--transfer-size applies to test 11: add 11 to --tests, or leave it out");
    }
    if args.scale[..] != [1] && tests == [DecusTest::Test11] {
        refuse!(
            "--scale multiplies the counts of tests 1 to 10, not of test 11. \
                    Name another test, or leave it out"
        );
    }
    let mut scales = args.scale.clone();
    // Growth needs something to grow from.
    if let [one] = scales.as_slice()
        && *one > 1
    {
        scales.push(1);
    }
    scales.sort_unstable();
    scales.dedup();
    Ok(FileWork::Decus {
        tests,
        spacings,
        scales,
    })
}

fn states(args: &FilesArgs, target: FilesTarget) -> anyhow::Result<Vec<FileState>> {
    if let Some(hpc) = &args.hpc {
        let syncs = hpc.syncs && !inspected(&args.target)?.1.memory_backed;
        return Ok(vec![if syncs {
            FileState::Durable
        } else {
            FileState::AsIs
        }]);
    }
    if args.state.is_empty() {
        return Ok(target.usual_states());
    }
    let mut states = args.state.clone();
    states.sort_unstable();
    states.dedup();
    Ok(states)
}
