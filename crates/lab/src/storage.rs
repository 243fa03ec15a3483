//! Trials on real storage: a work directory of our own, or a target that the user named.

mod cache_share;
mod foreign;
mod hung;
mod misfit;
mod own;
mod part;
mod passes;
mod place;
mod plan;
mod purged;
mod remote_cache;
mod reserve;
mod several;
mod test_files;
mod unwritten;
mod verified;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivers::{
    AccessMode, BufferPages, Caching, DirectoryOwner, DriverKind, Notice, Payload, Seal, Target,
    TargetError, TargetOptions, TargetTable, VerificationLog, WorkDirectory, check_room,
    free_space, probe_polling,
};
use engine::{Clock as _, Follower, OnError};
use procedure::{Monitor, Preparation, Trial, TrialError};
use results::{Access, Measurement, Warning, WarningCode};
use sys::{MonotonicClock, drop_cached};
use units::{Duration, Instant};
use workload::{ClientSpec, FilesPhase};

use self::cache_share::cache_share;
pub use self::foreign::Neighbours;
use self::foreign::UnwrittenBytes;
pub(crate) use self::foreign::{Witness, judge};
use self::misfit::misfit;
pub use self::own::driver_name;
use self::own::{circumstances, generator, huge_pages, split_operations};
pub(crate) use self::part::PartialTrial;
use self::part::{outcome_of, summed};
use self::place::TargetLocation;
use self::reserve::{ReserveWatch, available};
pub use self::several::{FileToMake, WantedFile};
pub(crate) use self::verified::read_written;
pub use self::verified::{ReadBackPiece, wrong_data};
use crate::coordinator::{Alone, TrialCoordinator};
use crate::deal::share_of;
use crate::kept::StatelessTrials;
use crate::laboratory::{
    Glimpse, Laboratory, LaboratoryError, Outcome, Watch, cpu_cost, failure_of, monitor_of_share,
    trial_seed,
};
use host::inspect::FetchAccount;
use host::{counters::CountersDelta, hung::hung_threads};

use crate::workers::{WorkerResults, run_workers};

const MAIN_FILE: &str = "main";
/// What a small file takes beside its content, at most: an inode, a name, and a block cut short.
const SMALL_FILE_OVERHEAD: u64 = 4096 + 512;

/// How storage is worked on.
#[derive(Clone, Debug)]
pub struct StorageSettings {
    /// Seed of the run.
    pub seed: u64,
    pub driver: DriverKind,
    /// Requests handed to the kernel together at most; an eighth of a worker's depth where
    /// nobody says.
    pub batch: Option<usize>,
    /// The pages that buffers lie in.
    pub pages: BufferPages,
    /// Who notices that the device is done.
    pub notice: Notice,
    /// How many test files there are in a directory, one at least.
    pub test_files: u16,
    /// What a failed operation does to a trial.
    pub on_error: OnError,
    /// The most workers.
    pub workers: usize,
    /// Processors to bind workers to; none leaves them to the scheduler.
    pub processors: Vec<usize>,
    /// The device whose counters are read.
    pub device: Option<String>,
    /// Room on the file system that stays free, in bytes.
    pub reserve: u64,
    /// Whether the page cache takes part even where it could be passed by.
    pub caching: Caching,
    /// Bytes of the blocks of which every write is verified, where that is wanted.
    pub verify_unit: Option<u64>,
    /// A new file that keeps what was written where, and outlives a kill.
    pub verify_state: Option<PathBuf>,
    /// What becomes of a measurement that others disturbed.
    pub neighbours: Neighbours,
    /// How long a trial whose time is over waits for an answer of the storage.
    pub hang_limit: Duration,
}

/// Real storage.
pub struct StorageLaboratory {
    place: TargetLocation,
    settings: StorageSettings,
    clock: MonotonicClock,
    table: Arc<TargetTable>,
    access: Access,
    payload: Payload,
    notes: Vec<String>,
    /// What one reading of the clock costs, nanoseconds.
    read_cost_ns: u64,
    driver_used: Option<DriverKind>,
    /// The last load, and which driver it had.
    last_load: Option<Box<(ClientSpec, DriverKind)>>,
    /// What direct I/O asks for in the directory.
    direct_unit: Option<u32>,
    /// What was written and has not reached the device.
    behind: UnwrittenBytes,
    follower: Option<Arc<dyn Follower>>,
    /// Small files that the last trial of that kind made: each of several hosts made its own
    /// number.
    small_files: Option<u32>,
    /// What the storage did not answer, and was given up.
    hung: Option<Warning>,
    /// Part of a device that was read, bytes.
    read_part: Option<Range<u64>>,
}

impl StorageLaboratory {
    /// A laboratory in a new work directory under `parent`.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn in_directory(
        parent: &Path,
        owner: &DirectoryOwner,
        settings: StorageSettings,
    ) -> Result<Self, LaboratoryError> {
        let directory = Arc::new(WorkDirectory::create(parent, owner)?);
        Ok(Self::new(
            TargetLocation::Directory { directory, size: 0 },
            settings,
        ))
    }

    /// A laboratory on an existing file or device.
    ///
    /// # Errors
    /// When the target cannot be opened that way.
    pub fn on_target(
        path: &Path,
        access: AccessMode,
        confirmed: Option<&str>,
        settings: StorageSettings,
    ) -> Result<Self, LaboratoryError> {
        let open = |caching| {
            let signature_confirmed = confirmed.map(str::to_owned);
            Target::open(
                path,
                &TargetOptions {
                    access,
                    caching,
                    signature_confirmed,
                },
            )
        };
        let mut this = Self::new(TargetLocation::Named, settings);
        let main = match open(this.settings.caching) {
            Err(TargetError::DirectUnsupported { .. }) => {
                this.fall_back_to_buffered(path);
                open(Caching::Buffered)?
            }
            other => other?,
        };
        let name = path.display();
        let unseen = main.unseen().iter();
        let unseen = unseen.map(|what| format!("{name} may be in use: {what}."));
        this.notes.extend(unseen);
        this.refuse_unpolled(path, Some(&main))?;
        let buffered = main.open_again(Caching::Buffered)?;
        this.table = Arc::new(TargetTable::new(vec![main, buffered]));
        Ok(this)
    }

    fn new(place: TargetLocation, settings: StorageSettings) -> Self {
        let access = match settings.caching {
            Caching::Direct => Access::Direct,
            Caching::Buffered => Access::Buffered,
        };
        let clock = MonotonicClock::start();
        let mut this = Self {
            place,
            settings,
            clock,
            read_cost_ns: clock.read_cost().as_nanos(),
            table: Arc::default(),
            access,
            payload: Payload {
                run: Seal::of_this_run().number(),
                ..Payload::default()
            },
            notes: Vec::new(),
            driver_used: None,
            last_load: None,
            direct_unit: None,
            behind: UnwrittenBytes::default(),
            follower: None,
            small_files: None,
            hung: None,
            read_part: None,
        };
        // What is written to fill files may reach the device while they are measured.
        this.look_behind();
        this
    }

    /// How the main target is reached.
    pub const fn access(&self) -> Access {
        self.access
    }

    /// What the report should say about how storage was reached, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What the storage did not answer, and was given up.
    pub const fn hung(&self) -> Option<&Warning> {
        self.hung.as_ref()
    }

    /// Bytes of the main target.
    pub fn size(&self) -> u64 {
        self.table.targets().first().map_or(0, Target::size)
    }

    /// Find out, with a file that is gone again at once, whether the page cache can be passed by.
    ///
    /// # Errors
    /// When not even an empty file can be made.
    pub fn probe_directory(&mut self) -> Result<(), LaboratoryError> {
        let TargetLocation::Directory { directory, .. } = &self.place else {
            return Ok(());
        };
        let directory = Arc::clone(directory);
        drop(directory.create_file("probe")?);
        let probed = directory.open_target("probe", Caching::Direct);
        directory.remove_file("probe")?;
        self.refuse_unpolled(directory.path(), probed.as_ref().ok())?;
        let probed = probed.map(|target| target.alignment().offset);
        match probed {
            Err(TargetError::DirectUnsupported { .. }) => {
                let path = directory.path().to_owned();
                self.fall_back_to_buffered(&path);
                Ok(())
            }
            Err(other) => Err(other.into()),
            Ok(unit) => {
                self.direct_unit = Some(unit);
                Ok(())
            }
        }
    }

    /// Where completions are to be polled for, see that the kernel does so. `target` is open past
    /// the page cache, if it can be.
    fn refuse_unpolled(&self, path: &Path, target: Option<&Target>) -> Result<(), LaboratoryError> {
        if self.settings.notice == Notice::Interrupt {
            return Ok(());
        }
        let polled = match target.filter(|_| self.access == Access::Direct) {
            Some(target) => probe_polling(target).map_err(|error| error.to_string()),
            None => Err("it does not support direct I/O".to_owned()),
        };
        polled.map_err(|reason| {
            LaboratoryError::Misfit(format!(
                "--poll on {}: the kernel refuses a polled read ({reason}). Leave --poll out",
                path.display()
            ))
        })
    }

    /// From now on every block that is read from the test file must be one that was written.
    pub fn verify_from_now(&mut self) {
        if matches!(self.place, TargetLocation::Directory { .. }) {
            self.payload.verification = Some(Arc::new(VerificationLog::default()));
        }
    }

    /// Remove what this laboratory made.
    ///
    /// # Errors
    /// When something is left; the message says where.
    pub fn clean_up(&mut self) -> Result<(), LaboratoryError> {
        let table = std::mem::take(&mut self.table);
        let place = std::mem::replace(&mut self.place, TargetLocation::Named);
        // Who works for us has come home, unless the storage keeps it.
        match self.hung.is_none() && hung_threads().is_empty() {
            true => Ok(place.clean_up(table)?),
            false => Ok(hung::clean_up_in_time(place, table)?),
        }
    }

    fn fall_back_to_buffered(&mut self, path: &Path) {
        self.settings.caching = Caching::Buffered;
        self.access = Access::Buffered;
        self.notes.push(format!(
            "{} does not support direct I/O: all I/O is buffered, and each \
             number states the page cache's share.",
            path.display()
        ));
    }

    /// Do to the page cache what a trial asks for.
    ///
    /// # Errors
    /// When its blocks do not fit the target, or the system refuses.
    pub(crate) fn prepare(&self, trial: &Trial, watch: Watch<'_>) -> Result<(), LaboratoryError> {
        if let ClientSpec::Jobs(jobs) = &trial.spec {
            return self.prepare_jobs(trial, jobs);
        }
        let (id, bytes) = match &trial.spec {
            ClientSpec::Mix(mix) => {
                let region = mix.addresses.region;
                (region.target, region.offset..region.offset + region.len)
            }
            ClientSpec::Control(control) => (control.target, 0..control.len),
            ClientSpec::Users(users) => (users.target, 0..users.len),
            ClientSpec::Own(own) => (own.target, 0..own.len),
            ClientSpec::Files(_) | ClientSpec::Jobs(_) => return Ok(()),
        };
        let Some(target) = self.table.targets().get(id.0 as usize) else {
            return Ok(());
        };
        let unit = target.alignment().offset;
        if let Some(bytes) = misfit(&trial.spec, unit) {
            return Err(match &trial.spec {
                ClientSpec::Control(_) => LaboratoryError::misaligned_threads(trial, bytes, unit),
                _ => LaboratoryError::misaligned(bytes, unit),
            });
        }
        let in_context = |error| TargetError::io("prepare the page cache of", target.path(), error);
        match trial.preparation {
            Preparation::None => {}
            Preparation::DropCache => {
                drop_cached(target.file()).map_err(in_context)?;
            }
            Preparation::FillCache => {
                read_through(target, bytes, watch).map_err(in_context)?;
            }
        }
        Ok(())
    }

    /// A trial that makes small files makes no more of them than there is room for.
    fn within_room(&self, trial: &Trial) -> Result<Trial, LaboratoryError> {
        let mut trial = trial.clone();
        let TargetLocation::Directory { directory, .. } = &self.place else {
            return Ok(trial);
        };
        if let (ClientSpec::Files(spec), Some(made)) = (&mut trial.spec, self.small_files)
            && spec.phase != FilesPhase::Make
        {
            spec.count = spec.count.min(made.max(1));
        }
        if let ClientSpec::Files(spec) = &mut trial.spec
            && spec.phase == FilesPhase::Make
        {
            let path = directory.path();
            let space = free_space(path)?;
            let each = u64::from(spec.len) + SMALL_FILE_OVERHEAD;
            check_room(path, each, self.settings.reserve)?;
            let room = space.available.saturating_sub(self.settings.reserve);
            let fitting = room / each;
            // Half of the names that are left: others want to make files, too.
            let names = space.files.map_or(u64::MAX, |files| files / 2);
            let fitting = u32::try_from(fitting.min(names)).unwrap_or(u32::MAX);
            spec.count = spec.count.min(fitting.max(1));
        }
        Ok(trial)
    }

    fn attach(
        &mut self,
        measurement: &mut Measurement,
        trial: &Trial,
        counters: CountersDelta,
        account: &FetchAccount,
        elapsed: Duration,
    ) {
        self.count_small_files(measurement, trial);
        measurement.cpu = cpu_cost(measurement, counters.cpu_ns, elapsed);
        measurement.page_cache_share = cache_share(measurement, trial, &counters, account);
        measurement.counters = Some(counters);
        let split = split_operations(measurement, trial);
        measurement.warnings.extend(split);
        let huge = huge_pages(measurement, trial);
        measurement.warnings.extend(huge);
        if let Some(wrong) = self
            .payload
            .verification
            .as_ref()
            .and_then(|log| log.first())
        {
            measurement.warnings.push(Warning::invalid(
                WarningCode::WrongData,
                format!(
                    "{}: {wrong}. The storage returned different data from what was written.",
                    measurement.title
                ),
            ));
        }
    }
}

impl StorageLaboratory {
    /// Run this host's share of a trial. Among others it is they who say what others did.
    ///
    /// # Errors
    /// Those of [`Laboratory::measure`].
    pub(crate) fn measure_among(
        &mut self,
        whole: &Trial,
        coordinator: &mut dyn TrialCoordinator,
        watch: Watch<'_>,
    ) -> Result<PartialTrial, LaboratoryError> {
        let seed = trial_seed(self.settings.seed, whole.salt);
        self.prepare(whole, watch)?;
        let whole = &self.within_room(whole)?;
        let trial = &share_of(whole, coordinator.share());
        let plan = self.plan(whole, coordinator.share(), seed)?;
        let workers = plan.hands.len();
        let (uring, bound) = (plan.options.uring.clone(), plan.processors.clone());
        let nominal_depth = (plan.options.depth * workers).min(trial.depth as usize) as u32;
        let mut monitor = monitor_of_share(trial, workers, whole);
        let on_error = plan.on_error;
        let fail = |error: TrialError| LaboratoryError::of(trial, error);
        self.look_behind();
        let caches = self.look_at_caches(self.fetch_account());
        let mut reserves = self.reserve_watches(trial);
        let mut show = |monitor: &Monitor, elapsed, unanswered| {
            let glimpse = Glimpse::of(monitor, elapsed, unanswered);
            watch(&glimpse) && reserves_hold(&mut reserves, &glimpse)
        };
        let ran = run_workers(plan, &mut monitor, coordinator, &mut show);
        let collected = ran.map_err(|error| fail(error.into()))?;
        let circumstances = circumstances(&collected, (seed, nominal_depth), on_error);
        let WorkerResults {
            record,
            ending,
            given_up,
            elapsed,
            driver,
            obstacle,
            notes,
            counters,
            kernel_entries,
            own_work,
            cpu,
            clocks_apart_ns,
            started_at,
            ..
        } = collected;
        self.take_note_of(driver, notes);
        let no_room = || reserves.iter().find_map(|(_, it)| it.failure());
        let hung = self.note_hang(&trial.title, given_up.as_ref());
        let own_failure = || failure_of(&record, on_error);
        let failure = hung.or_else(own_failure).or_else(no_room);
        let summed = summed(trial, (&monitor, &record), &circumstances, coordinator);
        let mut measurement = summed.map_err(|it| fail(failure.clone().unwrap_or(it)))?;
        measurement.started_at = started_at;
        measurement.kernel_entries = (kernel_entries > 0).then_some(kernel_entries);
        measurement.generator = own_work.map(|own| generator(&own, &uring, bound, &cpu, obstacle));
        self.attach(&mut measurement, trial, counters, &caches.account, elapsed);
        self.correct_cache_share(&mut measurement, trial, &caches);
        let own = self.account(&measurement, trial);
        if coordinator.is_alone() {
            self.judge_alone(&mut measurement, trial, own, elapsed);
        }
        self.judge_ourselves(&mut measurement, trial, driver, (clocks_apart_ns, elapsed));
        let outcome = outcome_of(measurement, ending, elapsed, &monitor, &record, &caches);
        Ok(PartialTrial {
            outcome: Outcome { failure, ..outcome },
            record,
            own,
        })
    }

    fn count_small_files(&mut self, measurement: &Measurement, trial: &Trial) {
        if matches!(&trial.spec, ClientSpec::Files(files) if files.phase == FilesPhase::Make) {
            self.small_files = u32::try_from(measurement.completions_all).ok();
        }
    }

    /// What becomes of a measurement that others disturbed.
    pub(crate) const fn neighbours(&self) -> Neighbours {
        self.settings.neighbours
    }

    /// What the report should say about a driver that was not used before.
    fn take_note_of(&mut self, driver: DriverKind, notes: Vec<String>) {
        if self.driver_used != Some(driver) {
            self.driver_used = Some(driver);
            let new = notes.into_iter().filter(|note| !self.notes.contains(note));
            let new: Vec<String> = new.collect();
            self.notes.extend(new);
        }
    }
}

impl Laboratory for StorageLaboratory {
    fn measure(&mut self, trial: &Trial, watch: Watch<'_>) -> Result<Outcome, LaboratoryError> {
        Ok(self.measure_among(trial, &mut Alone, watch)?.outcome)
    }

    fn follow(&mut self, follower: Option<Arc<dyn Follower>>) {
        self.follower = follower;
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl StatelessTrials for StorageLaboratory {
    /// What a trial writes into its file, the next may read as well as what was there before,
    /// unless it is held against what was written.
    fn is_stateless(&self) -> bool {
        self.settings.verify_unit.is_none()
    }

    fn skip(&mut self, took: Duration) -> Duration {
        took
    }
}

/// Whether enough stays free. Storage that does not answer has nothing to say of its space, either.
fn reserves_hold(reserves: &mut [(PathBuf, ReserveWatch)], glimpse: &Glimpse) -> bool {
    let mut reserves = reserves.iter_mut();
    glimpse.unanswered.is_some()
        || reserves.all(|(path, it)| it.holds(glimpse.elapsed, || available(path)))
}

/// Read all of it once, or until `watch` says stop: that can take a slow disk minutes.
fn read_through(target: &Target, bytes: Range<u64>, watch: Watch<'_>) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    let mut block = vec![0; 1 << 20];
    let mut at = bytes.start;
    while at < bytes.end && watch(&Glimpse::default()) {
        let wanted = block.len().min((bytes.end - at) as usize);
        let got = target.file().read_at(&mut block[..wanted], at)?;
        if got == 0 {
            break;
        }
        at += got as u64;
    }
    Ok(())
}
