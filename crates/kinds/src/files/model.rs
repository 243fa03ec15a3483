//! A simulated file system under test, and which of the tests its volume holds.

use engine::{FileDriver as _, PlayEnd, play};
use procedure::RoundOrder;
use results::{FileSystemRole, Setup, TargetDescription, Warning, WarningCode};
use sim::{FileSystemSpec, Rt11};
use units::{Bytes, Instant};
use workload::{DecusOrder, DecusTest, Errno, FileOp, FileScript, Spacing};

use super::run::{FileWork, FilesRequest};
use super::subject::{ClientFiles, ColdReach, TestedFileSystem};
use lab::bench::BenchError;
use lab::simulated::open_file_system;

/// The error number of a volume or a directory that is full: ENOSPC.
const NO_SPACE: Errno = Errno(28);
/// A disk of as many blocks as a volume can have.
const LARGER: &str = "sim:rt11?disk=ra80";

/// The model that a request names.
///
/// # Errors
/// When it does not exist or has no file system.
pub fn open_model(request: &FilesRequest) -> Result<TestedFileSystem, BenchError> {
    let spec = open_file_system(request.bench.target.as_str(), &request.bench.setup)?;
    let model = spec.build(request.bench.storage.seed, Instant::START);
    let target = request.bench.target.as_str();
    let description = TargetDescription::simulated(target, target, model.device_bytes());
    let system = spec.machine().file_system.as_ref();
    let has_cache = system.is_some_and(|system| system.cache > 0);
    let hands = vec![ClientFiles::Model(Box::new(model))];
    let role = FileSystemRole::Target;
    let mut subject = TestedFileSystem::new(role, description, hands, request.cache_drop);
    // Nothing happens to it by chance, and it begins as its definition says.
    subject.order = RoundOrder::Paper;
    // What passes do to it is in the memory of this process.
    subject.is_stateless = false;
    subject.cold = if has_cache {
        ColdReach::All
    } else {
        ColdReach::Nothing(
            "the system has no cache. Give it one, as in 'sim:rt11?system-cache=64KiB'",
        )
    };
    Ok(subject)
}

/// The request without the tests that the model's volume does not hold, and a note that names
/// them. Time is virtual, so it is tried.
///
/// # Errors
/// When the model does not exist, or holds none of the tests.
pub fn fitting(request: &FilesRequest) -> Result<(FilesRequest, Option<Warning>), BenchError> {
    let spec = open_file_system(request.bench.target.as_str(), &request.bench.setup)?;
    let FileWork::Decus {
        tests,
        spacings,
        scales,
    } = &request.work
    else {
        return Ok((request.clone(), None));
    };
    let scale = scales.iter().copied().max().unwrap_or(1);
    let holds = |test: &DecusTest| holds(&spec, *test, scale);
    let (kept, mut left): (Vec<_>, Vec<_>) = tests.iter().copied().partition(holds);
    let holds_spacing = |spacing: &Spacing| {
        let before = Spacing::ALL.into_iter().filter(|it| it <= spacing);
        let scripts = before.map(|it| it.script(scale));
        let first = made_by(DecusTest::Test3, scale);
        is_held(&spec, [first].into_iter().chain(scripts).collect())
    };
    let is_spaced = kept.iter().any(|test| test.is_spaced());
    let (kept_spacings, left_spacings): (Vec<_>, Vec<_>) = spacings
        .iter()
        .copied()
        .partition(|it| is_spaced && holds_spacing(it));
    left.sort_unstable();
    let names = left.iter().map(|test| format!("TEST{}", test.number()));
    let names = names.chain(left_spacings.iter().map(|it| it.name().to_owned()));
    let names = names.collect::<Vec<_>>().join(", ");
    let bytes = volume_bytes(&spec);
    let volume = Bytes(bytes);
    if kept.is_empty() {
        let text = format!(
            "{}: a volume of {volume} does not hold the files of {names}. {}",
            request.bench.target,
            advice(&left, scale, bytes, &request.bench.setup)?
        );
        return Err(BenchError::Usage(text));
    }
    let note = (!names.is_empty()).then(|| {
        let text =
            format!("Left out, since a volume of {volume} does not hold the files: {names}.");
        Warning::info(WarningCode::TestLeftOut, text)
    });
    let work = FileWork::Decus {
        tests: kept,
        spacings: kept_spacings,
        scales: scales.clone(),
    };
    let request = FilesRequest {
        work,
        ..request.clone()
    };
    Ok((request, note))
}

/// What to do about tests that a volume of `bytes` does not hold.
fn advice(
    tests: &[DecusTest],
    scale: u32,
    bytes: u64,
    setup: &Setup,
) -> Result<String, BenchError> {
    let larger = open_file_system(LARGER, setup)?;
    let is_larger = volume_bytes(&larger) > bytes;
    Ok(
        if is_larger && tests.iter().any(|test| holds(&larger, *test, scale)) {
            format!("Name a larger disk, as in '{LARGER}'")
        } else if scale > 1 {
            "Give a smaller --scale".into()
        } else {
            "Give it more directory-segments, or name other tests".into()
        },
    )
}

/// A volume may be smaller than its device.
fn volume_bytes(spec: &FileSystemSpec) -> u64 {
    spec.build(0, Instant::START).device_bytes().unwrap_or(0)
}

fn holds(spec: &FileSystemSpec, test: DecusTest, scale: u32) -> bool {
    let maker = test.needs().unwrap_or(test);
    is_held(spec, vec![made_by(maker, scale)])
}

/// The calls that make a test's files.
fn made_by(test: DecusTest, scale: u32) -> FileScript {
    let order = DecusOrder {
        seed: 0,
        client: 0,
        round: 0,
    };
    test.script(scale, 0, &order)
}

/// Whether a fresh volume has room for all that these scripts make.
fn is_held(spec: &FileSystemSpec, scripts: Vec<FileScript>) -> bool {
    let mut scratch: Rt11 = spec.build(0, Instant::START);
    let calls = scripts.into_iter().flatten();
    let makes = |op: &FileOp| !matches!(op, FileOp::Read { .. } | FileOp::ReadDevice { .. });
    let played = play(&mut scratch, calls.filter(makes), &mut || false);
    !matches!(
        played.end,
        PlayEnd::Failed {
            error: NO_SPACE,
            ..
        }
    )
}
