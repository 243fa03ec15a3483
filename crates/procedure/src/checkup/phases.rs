//! The trials of the check-up.

use results::Access;
use stats::Goal;
use units::{Bytes, Duration, format_count};
use workload::{
    AddressSpec, ClientSpec, Durability, FilesPhase, FilesSpec, Gap, GapShape, Mix, MixSpec,
    Pacing, Partition, Region, TargetId,
};

use super::CheckUpFacts;
use crate::curve::PointPlan;
use crate::requirement::rated_name;
use crate::trial::{Preparation, Trial};

/// The test file or the named target, with direct I/O where possible.
pub const MAIN_DIRECT: TargetId = TargetId(0);
/// The same through the page cache.
pub const MAIN_BUFFERED: TargetId = TargetId(1);
/// A small file that stays in the page cache.
pub const CACHE_FILE: TargetId = TargetId(2);
/// The first of many small files.
pub const FIRST_SMALL_FILE: TargetId = TargetId(3);

/// Number of sources of random arrivals, and their maximum of outstanding requests.
const ARRIVAL_SOURCES: u32 = 256;
const ARRIVAL_DEPTH_MAX: u32 = 1024;

/// The row that goals can request at a rate.
pub const RANDOM_READ: &str = "random-read";
/// The name of the load curve's points.
const CURVE_ROW: &str = "random-read-curve";
/// What the load curve is about.
pub const CURVE_TITLE: &str = "random read 4 KiB";

/// Suffix of the name of a row that is measured again.
const AGAIN: &str = "-again";

/// Allows as many outstanding requests as a storage with this response time would have. One with
/// more does not sustain the load.
const RATED_LEVEL: Duration = Duration::from_millis(100);

const SEQUENTIAL_BLOCK: u32 = 1 << 20;
const SEQUENTIAL_CLIENTS: u32 = 4;
/// The test file is a multiple of this, so that all sequential clients write the same amount.
pub const SEQUENTIAL_UNIT: u64 = SEQUENTIAL_BLOCK as u64 * SEQUENTIAL_CLIENTS as u64;
const RANDOM_BLOCK: u32 = 4096;
const SMALL_FILE_LEN: u32 = 4096;
/// Maximum number of small files.
pub const SMALL_FILES_MAX: u32 = 50_000;
/// Maximum size for the page-cache trials.
const CACHED_PART_MAX: Bytes = Bytes::from_mib(128);

/// Size for the page-cache trials beside a test file of `size`, with `memory` for the cache.
pub fn cached_part(size: Bytes, memory: Bytes) -> Bytes {
    Bytes(size.0 / 2)
        .min(Bytes(memory.0 / 16))
        .min(CACHED_PART_MAX)
}

/// A phase of the check-up: one measurement, or one curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckUpPhase {
    SequentialWrite,
    SequentialRead,
    RandomRead,
    Curve,
    Arrivals,
    Rated,
    DurableWrite,
    FilesMake,
    FilesRead,
    FilesRemove,
    CachedWrite,
    CachedRead,
    SequentialAgain,
    RandomAgain,
}

impl CheckUpPhase {
    /// Weight in the time budget, roughly seconds by default.
    pub const fn weight(self) -> f64 {
        match self {
            Self::SequentialWrite => 14.0,
            Self::SequentialRead | Self::RandomRead | Self::DurableWrite => 10.5,
            Self::Curve => 34.0,
            Self::Arrivals | Self::Rated | Self::CachedWrite | Self::CachedRead => 10.0,
            // Fast storage creates and removes this many files within a second or two.
            Self::FilesMake => 2.0,
            Self::FilesRead => 4.0,
            Self::FilesRemove => 1.5,
            Self::SequentialAgain => 2.0,
            Self::RandomAgain => 3.0,
        }
    }

    /// The category of its time in a plan.
    pub const fn sort(self) -> &'static str {
        match self {
            Self::SequentialWrite => "fill",
            Self::Curve | Self::Arrivals => "load curve",
            Self::FilesMake | Self::FilesRead | Self::FilesRemove => "small files",
            _ => "rows",
        }
    }

    /// The phase whose row is measured again, to detect changed storage.
    pub const fn repeats(self) -> Option<Self> {
        match self {
            Self::SequentialAgain => Some(Self::SequentialRead),
            Self::RandomAgain => Some(Self::RandomRead),
            _ => None,
        }
    }

    /// The name for skipping it if there is no time for a whole row; `None` for rows that are
    /// always measured.
    pub const fn left_out_as(self) -> Option<&'static str> {
        match self {
            Self::CachedWrite => Some("write into the page cache"),
            Self::CachedRead => Some("read from the page cache"),
            _ => None,
        }
    }

    /// The name of its row in the run; `None` for a curve, which has its own rows.
    pub const fn row_name(self) -> Option<&'static str> {
        Some(match self {
            Self::SequentialWrite => "sequential-write",
            Self::SequentialRead => "sequential-read",
            Self::RandomRead => RANDOM_READ,
            Self::DurableWrite => "durable-write",
            Self::FilesMake => "files-create",
            Self::FilesRead => "files-read",
            Self::FilesRemove => "files-remove",
            Self::CachedWrite => "cached-write",
            Self::CachedRead => "cached-read",
            Self::Curve
            | Self::Arrivals
            | Self::Rated
            | Self::SequentialAgain
            | Self::RandomAgain => return None,
        })
    }

    /// Whether the row is short: a number of files, in a few seconds.
    pub const fn is_short(self) -> bool {
        matches!(self, Self::FilesMake | Self::FilesRead | Self::FilesRemove)
    }
}

/// The phases that the target allows, plus one for each rate in the goals.
pub fn of(facts: &CheckUpFacts, rates: usize) -> Vec<CheckUpPhase> {
    let writes = facts.makes_files || facts.may_overwrite;
    let all = [
        (CheckUpPhase::SequentialWrite, writes),
        (CheckUpPhase::SequentialRead, true),
        (CheckUpPhase::RandomRead, true),
        (CheckUpPhase::Curve, true),
        (CheckUpPhase::Arrivals, true),
        (CheckUpPhase::DurableWrite, writes),
        (
            CheckUpPhase::CachedWrite,
            facts.has_page_cache && facts.makes_files,
        ),
        (CheckUpPhase::CachedRead, facts.has_page_cache),
        (
            CheckUpPhase::FilesMake,
            facts.makes_files && facts.access != Access::Simulated,
        ),
        (
            CheckUpPhase::FilesRead,
            facts.makes_files && facts.access != Access::Simulated,
        ),
        (
            CheckUpPhase::FilesRemove,
            facts.makes_files && facts.access != Access::Simulated,
        ),
        (
            CheckUpPhase::SequentialAgain,
            facts.access != Access::Buffered,
        ),
        (CheckUpPhase::RandomAgain, facts.access != Access::Buffered),
    ];
    let possible = all.into_iter().filter(|(_, is_possible)| *is_possible);
    let repeated = possible.flat_map(|(phase, _)| match phase {
        // Right after the curve, while the storage is in the same condition.
        CheckUpPhase::Arrivals => {
            std::iter::once(phase).chain(std::iter::repeat_n(CheckUpPhase::Rated, rates))
        }
        _ => std::iter::once(phase).chain(std::iter::repeat_n(CheckUpPhase::Rated, 0)),
    });
    repeated.collect()
}

/// Whether the number of clients is the result of a search. Several hosts then share that number.
pub fn deals(trial: &Trial) -> bool {
    trial.name == CURVE_ROW || trial.offered().is_some()
}

/// Whether a trial measures a row again, to be shown only if it differs.
pub fn is_second_look(trial: &Trial) -> bool {
    trial.name.ends_with(AGAIN)
}

/// The target of the trials.
pub struct CheckUpTarget<'a> {
    pub facts: &'a CheckUpFacts,
    pub size: Bytes,
    pub files_made: u32,
}

/// The trial of a phase, with `time` to run and at least `least`, even if precise earlier; `None`
/// if the target is too small.
pub fn trial(
    phase: CheckUpPhase,
    scene: &CheckUpTarget<'_>,
    time: Duration,
    least: Duration,
) -> Option<Trial> {
    let mut trial = match phase.repeats().unwrap_or(phase) {
        CheckUpPhase::SequentialWrite => sequential(scene, Mix::WRITE)?,
        CheckUpPhase::SequentialRead => sequential(scene, Mix::READ)?,
        CheckUpPhase::RandomRead => random_read(scene, 1)?,
        CheckUpPhase::DurableWrite => durable_write(scene)?,
        CheckUpPhase::CachedWrite => cached(scene, Mix::WRITE)?,
        CheckUpPhase::CachedRead => cached(scene, Mix::READ)?,
        CheckUpPhase::FilesMake => files(scene, FilesPhase::Make),
        CheckUpPhase::FilesRead => files(scene, FilesPhase::Read),
        CheckUpPhase::FilesRemove => files(scene, FilesPhase::Remove),
        CheckUpPhase::Curve
        | CheckUpPhase::Arrivals
        | CheckUpPhase::Rated
        | CheckUpPhase::SequentialAgain
        | CheckUpPhase::RandomAgain => return None,
    };
    if phase.repeats().is_some() {
        trial.name.push_str(AGAIN);
    }
    trial.duration_max = time;
    trial.salt = salt(phase, 0);
    if let Some(goal) = &mut trial.goal {
        goal.duration_min_ns = least.as_nanos();
    }
    Some(trial)
}

/// Salt of the trial `number` of a phase. Rows with equal draws would have equal errors on a model.
pub const fn salt(phase: CheckUpPhase, number: u64) -> u64 {
    (1 + phase as u64) << 12 | number
}

/// The pass that writes a whole test file of `size`; `None` if that is too small.
pub fn fill_trial(size: Bytes, access: Access, duration_max: Duration) -> Option<Trial> {
    let facts = CheckUpFacts {
        makes_files: true,
        may_overwrite: true,
        existing: None,
        room: size,
        memory: Bytes(0),
        access,
        has_page_cache: true,
    };
    let scene = CheckUpTarget {
        facts: &facts,
        size,
        files_made: 0,
    };
    Some(Trial {
        title: format!("writing the test file, {size}"),
        ..layout(&scene, duration_max)?
    })
}

/// The pass that writes the whole test file once. The time limit only guards against a target that
/// nearly stops. `None` if the file is too small.
pub fn layout(scene: &CheckUpTarget<'_>, duration_max: Duration) -> Option<Trial> {
    let mut trial = sequential(scene, Mix::WRITE)?;
    if let ClientSpec::Mix(spec) = &mut trial.spec {
        spec.operations = Some(blocks_each(scene));
    }
    trial.goal = None;
    trial.duration_max = duration_max;
    Some(trial)
}

/// Blocks per sequential client in the whole file.
const fn blocks_each(scene: &CheckUpTarget<'_>) -> u64 {
    scene.size.0 / SEQUENTIAL_UNIT
}

/// The trial of a point of the load curve.
pub fn curve_point(scene: &CheckUpTarget<'_>, plan: &PointPlan) -> Trial {
    let spec = ClientSpec::Mix(random_spec(scene));
    let title = format!("random read 4 KiB, QD{}", plan.clients);
    Trial {
        goal: Some(plan.goal),
        duration_max: plan.duration_max,
        salt: salt(CheckUpPhase::Curve, plan.salt),
        ..base(CURVE_ROW, title, spec, plan.clients, scene.facts.access)
    }
}

/// Random arrivals at `rate` per second, with the operations of the load curve, from enough sources
/// to be independent; `level` is the allowed response time.
pub fn arrivals(scene: &CheckUpTarget<'_>, rate: f64, level: Duration, time: Duration) -> Trial {
    let mut spec = random_spec(scene);
    spec.pacing = Pacing::Open {
        gap: Gap {
            shape: GapShape::Exponential,
            mean_ns: 1e9 * f64::from(ARRIVAL_SOURCES) / rate,
        },
    };
    let title = format!("random read 4 KiB, {}/s offered", format_count(rate));
    let mut trial = base(
        "random-read-open",
        title,
        ClientSpec::Mix(spec),
        ARRIVAL_SOURCES,
        scene.facts.access,
    );
    // Several times the mean outstanding requests at the level, so that the limit does not create a
    // queue here.
    let outstanding = 4.0 * rate * level.as_secs_f64();
    trial.depth = (outstanding as u32).clamp(ARRIVAL_SOURCES, ARRIVAL_DEPTH_MAX);
    trial.goal = Some(Goal::result(0.05));
    trial.duration_max = time;
    trial
}

/// The random read at the rate of a goal, as precise as the row of one at a time.
pub fn rated(scene: &CheckUpTarget<'_>, rate: f64, time: Duration, least: Duration) -> Trial {
    let mut trial = arrivals(scene, rate, RATED_LEVEL, time);
    trial.name = rated_name(RANDOM_READ, rate);
    trial.goal = Some(Goal {
        duration_min_ns: least.as_nanos(),
        ..Goal::result(0.03)
    });
    trial
}

fn base(name: &str, title: String, spec: ClientSpec, clients: u32, access: Access) -> Trial {
    Trial {
        title,
        clients,
        depth: clients,
        goal: Some(Goal::result(0.03)),
        ..Trial::new(name, spec, access)
    }
}

fn region(target: TargetId, len: Bytes, block: u32) -> Option<Region> {
    let block = u64::from(block);
    (len.0 >= block).then_some(Region::first(target, len.0, block))
}

fn sequential(scene: &CheckUpTarget<'_>, mix: Mix) -> Option<Trial> {
    let is_write = mix.write > 0;
    let len = Bytes(blocks_each(scene) * SEQUENTIAL_UNIT);
    let addresses = AddressSpec {
        partition: Partition::Interleaved,
        ..AddressSpec::sequential(region(MAIN_DIRECT, len, SEQUENTIAL_BLOCK)?)
    };
    let spec = MixSpec::closed(addresses, mix);
    let (name, word) = if is_write {
        ("sequential-write", "write")
    } else {
        ("sequential-read", "read")
    };
    let title = format!(
        "sequential {word} 1 MiB, QD{SEQUENTIAL_CLIENTS}{}",
        cached_in_words(scene.facts.access)
    );
    let mut trial = base(
        name,
        title,
        ClientSpec::Mix(spec),
        SEQUENTIAL_CLIENTS,
        scene.facts.access,
    );
    if scene.facts.access == Access::Buffered {
        trial.preparation = Preparation::DropCache;
    }
    Some(trial)
}

/// Addition to a title if the page cache cannot be bypassed.
const fn cached_in_words(access: Access) -> &'static str {
    match access {
        Access::Buffered => ", buffered",
        Access::Direct | Access::Simulated | Access::Null => "",
    }
}

fn random_spec(scene: &CheckUpTarget<'_>) -> MixSpec {
    let len = scene.size.max(Bytes(u64::from(RANDOM_BLOCK)));
    let region = Region::first(MAIN_DIRECT, len.0, RANDOM_BLOCK.into());
    MixSpec::closed(AddressSpec::random(region), Mix::READ)
}

fn random_read(scene: &CheckUpTarget<'_>, clients: u32) -> Option<Trial> {
    region(MAIN_DIRECT, scene.size, RANDOM_BLOCK)?;
    let title = format!(
        "random read 4 KiB, QD1{}",
        cached_in_words(scene.facts.access)
    );
    let spec = ClientSpec::Mix(random_spec(scene));
    let mut trial = base("random-read", title, spec, clients, scene.facts.access);
    if scene.facts.access == Access::Buffered {
        trial.preparation = Preparation::DropCache;
    }
    Some(trial)
}

fn durable_write(scene: &CheckUpTarget<'_>) -> Option<Trial> {
    region(MAIN_BUFFERED, scene.size, RANDOM_BLOCK)?;
    let mut spec = random_spec(scene);
    spec.addresses.region.target = MAIN_BUFFERED;
    spec.mix = Mix::WRITE;
    spec.durability = Durability::Synced;
    let access = match scene.facts.access {
        Access::Direct | Access::Buffered => Access::Buffered,
        other => other,
    };
    let title = "durable write 4 KiB (fsync)".to_owned();
    let mut trial = base("durable-write", title, ClientSpec::Mix(spec), 1, access);
    trial.goal = Some(Goal::result(0.05));
    Some(trial)
}

fn cached(scene: &CheckUpTarget<'_>, mix: Mix) -> Option<Trial> {
    let is_write = mix.write > 0;
    let target = if scene.facts.makes_files {
        CACHE_FILE
    } else {
        MAIN_BUFFERED
    };
    let part = cached_part(scene.size, scene.facts.memory);
    let addresses = AddressSpec::sequential(region(target, part, SEQUENTIAL_BLOCK)?);
    let spec = ClientSpec::Mix(MixSpec::closed(addresses, mix));
    let (name, title) = if is_write {
        ("cached-write", "page cache write 1 MiB")
    } else {
        ("cached-read", "page cache read 1 MiB")
    };
    let mut trial = base(name, title.into(), spec, 1, Access::Buffered);
    trial.preparation = Preparation::FillCache;
    Some(trial)
}

fn files(scene: &CheckUpTarget<'_>, phase: FilesPhase) -> Trial {
    let count = match phase {
        FilesPhase::Make => SMALL_FILES_MAX,
        FilesPhase::Read | FilesPhase::Remove => scene.files_made,
    };
    let spec = FilesSpec {
        phase,
        first: FIRST_SMALL_FILE,
        count,
        len: SMALL_FILE_LEN,
    };
    let (name, title) = match phase {
        FilesPhase::Make => ("files-create", "4 KiB files: create"),
        FilesPhase::Read => ("files-read", "4 KiB files: open and read"),
        FilesPhase::Remove => ("files-remove", "4 KiB files: remove"),
    };
    let mut trial = base(
        name,
        title.into(),
        ClientSpec::Files(spec),
        1,
        Access::Buffered,
    );
    // All files must be removed, however soon the time of one is known.
    trial.goal = (phase != FilesPhase::Remove).then(|| Goal::result(0.05));
    trial
}
