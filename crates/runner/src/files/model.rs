//! A simulated file system under test, and which of the tests its volume holds.

use engine::{FileDriver as _, PlayEnd, play};
use results::environment::TargetKind;
use results::{FileSystemRole, TargetDescription, Warning};
use sim::{FileSystemSpec, Rt11};
use units::{Bytes, Instant};
use workload::{DecusTest, Errno, FileOp, FileOrder, FileScript, Spacing};

use super::subject::{Hand, Subject};
use super::{FileWork, FilesRequest};
use crate::bench::BenchError;
use crate::simulated::open_file_system;

/// The error number of a volume or a directory that is full: ENOSPC.
const NO_SPACE: Errno = Errno(28);

/// The model that a request names.
///
/// # Errors
/// When it does not exist or has no file system.
pub fn open_model(request: &FilesRequest) -> Result<Subject, BenchError> {
    let model = open_file_system(&request.target)?.build(request.seed, Instant::START);
    let description = TargetDescription {
        given: request.target.clone(),
        path: request.target.clone(),
        kind: TargetKind::Simulated,
        size_bytes: model.device_bytes(),
        allocated_bytes: None,
        file_system: None,
        devices: Vec::new(),
        memory_backed: false,
        remote: false,
        raid: None,
    };
    Ok(Subject::simulated(
        FileSystemRole::Target,
        description,
        Hand::Model(Box::new(model)),
    ))
}

/// The request without the tests that the model's volume does not hold, and a note that names
/// them. Time is virtual, so it is tried.
///
/// # Errors
/// When the model does not exist, or holds none of the tests.
pub fn fitting(request: &FilesRequest) -> Result<(FilesRequest, Option<Warning>), BenchError> {
    let spec = open_file_system(&request.target)?;
    let FileWork::Decus {
        tests,
        spacings,
        scales,
    } = &request.work
    else {
        return Ok((request.clone(), None));
    };
    let scale = scales.iter().copied().max().unwrap_or(1);
    let holds = |test: &DecusTest| {
        let maker = test.needs().unwrap_or(*test);
        is_held(&spec, vec![made_by(maker, scale)])
    };
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
    let bytes = spec.machine().size().saturating_sub(spec.machine().start);
    let volume = Bytes(bytes);
    if kept.is_empty() {
        let text = format!(
            "{}: a volume of {volume} does not hold the files of {names}: name a larger disk, as \
             in 'sim:rt11?disk=ra80'",
            request.target
        );
        return Err(BenchError::Usage(text));
    }
    let note = (!names.is_empty()).then(|| {
        let text =
            format!("Left out, since a volume of {volume} does not hold the files: {names}.");
        Warning::note("test-left-out", text)
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

/// The calls that make a test's files.
fn made_by(test: DecusTest, scale: u32) -> FileScript {
    let order = FileOrder {
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
