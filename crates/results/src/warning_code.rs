//! Every kind of warning, in one list: its code, how much it may weigh, and what it tells.
//!
//! Whatever says, shows, keeps or counts warnings reads this list; docs/warnings.md is compared
//! with it. A code never changes, since archived runs carry it.

use std::fmt;

use serde::{Deserialize, Serialize};
use workload::AdviceCode;

use crate::warning::Severity;

/// What a warning is about: those of a weight are shown in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarningScope {
    /// What was asked for, or explains what comes behind it.
    Foremost,
    /// What was found out about a row or a curve.
    Row,
    /// How the run was made.
    Run,
    /// What is true of the target whoever measures it.
    Target,
    /// What is true of the machine.
    Machine,
    /// What an interval says by itself, and more time or depth would change.
    Effort,
}

impl WarningScope {
    /// Whether it was found out by measuring, and says something of the storage.
    #[must_use]
    pub fn is_finding(self) -> bool {
        self <= Self::Row
    }
}

/// Lines of `Variant "code" Scope [weights] "when it is said, or what happened";`.
macro_rules! warning_codes {
    ($($name:ident $code:literal $scope:ident [$($weight:ident),+] $meaning:literal;)+) => {
        /// What kind of warning it is.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum WarningCode {
            $(#[doc = $meaning] $name,)+
            /// The code of another version of this program: only reading makes one.
            Other(UnlistedCode),
        }

        impl WarningCode {
            /// Every code that this version says.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The stable name in kebab case.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $code,)+
                    Self::Other(code) => &code.0,
                }
            }

            /// What such a warning may weigh, lightest first.
            #[must_use]
            pub const fn severities(&self) -> &'static [Severity] {
                match self {
                    $(Self::$name => &[$(Severity::$weight,)+],)+
                    Self::Other(_) => &[Severity::Note, Severity::Doubt, Severity::Void],
                }
            }

            /// What such a warning is about.
            #[must_use]
            pub const fn scope(&self) -> WarningScope {
                match self {
                    $(Self::$name => WarningScope::$scope,)+
                    Self::Other(_) => WarningScope::Run,
                }
            }

            /// When it is said, or what happened; `None` of a code of another version.
            #[must_use]
            pub const fn meaning(&self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($meaning),)+
                    Self::Other(_) => None,
                }
            }
        }
    };
}

warning_codes! {
    // Judged from what was measured.
    Correlated "correlated" Effort [Note]
        "latency moved slowly during the trial, or by little; its interval is widened for that";
    CurveDrift "curve-drift" Row [Doubt]
        "response times moved while points of the curve were measured";
    Drift "drift" Row [Doubt]
        "response time drifted over the trial; for `transfer`, from pass to pass";
    Hung "hung" Foremost [Doubt] "operations that the storage did not answer were given up";
    HeavyTail "heavy-tail" Row [Doubt] "the mean depends on a few operations, or has no variance";
    KeptBack "kept-back" Row [Doubt] "operations due but not completed would change the mean";
    LateGenerator "late-generator" Row [Doubt] "Seekstone issued operations late";
    LevelChanged "level-changed" Foremost [Doubt]
        "the first rows of a check-up did not come out again at its end";
    LevelsFall "levels-fall" Row [Doubt]
        "a level of a curve carries surely less load than a shorter one";
    LoadFalls "load-falls" Row [Note] "throughput fell as clients were added";
    LoadNotCarried "load-not-carried" Row [Doubt]
        "the storage did not carry the offered load";
    NotStationary "not-stationary" Row [Doubt] "still changing at the end of its time";
    Oscillation "oscillation" Row [Note] "response times rise and fall periodically";
    OwnShare "own-share" Row [Doubt] "over a tenth of a curve's latency is load-generator overhead";
    RareEpisodes "rare-episodes" Row [Note] "a few slow episodes make up much of the mean";
    Standstill "standstill" Foremost [Doubt, Void]
        "Seekstone itself was stopped, or got no CPU";
    Stall "stall" Row [Doubt] "nothing completed for a long time";
    Step "step" Row [Doubt] "the latency changed abruptly";
    Swing "swing" Row [Doubt] "the latency rose and fell slowly, fewer than four times";
    TimeUnaccounted "time-unaccounted" Row [Doubt]
        "throughput times response and think time is not the number of clients";
    TwoModes "two-modes" Row [Note, Doubt] "times have two peaks";
    WarmUp "warm-up" Row [Note, Doubt] "a slow start";
    WarmUpDiffers "warm-up-differs" Row [Note, Doubt]
        "the part left out at the start differs from the rest";
    WriteCliff "write-cliff" Row [Doubt] "writes became slower abruptly";
    BusyWorker "busy-worker" Row [Doubt] "a worker thread was busy for 95 % of the trial";
    CacheChanges "cache-changes" Row [Doubt]
        "the page cache answered more of one pass than of another";
    FirstRunDiffers "first-run-differs" Row [Doubt]
        "the first run of a command is far from the others";
    ForeignIo "foreign-io" Foremost [Doubt, Void] "other processes did much of the device's I/O";
    LogIncomplete "log-incomplete" Row [Doubt]
        "lines of fio's logs came faster than they could be written";
    IologIncomplete "iolog-incomplete" Row [Doubt]
        "`trial --iolog`: operations came faster than their lines could be written";
    ReplayBehind "replay-behind" Row [Doubt]
        "a replay took 0.1 % longer than its trace, or 1 % of its requests were over 1 ms behind";
    ReplayStarved "replay-starved" Row [Doubt]
        "requests came from the trace's file after they were due";
    LawBroken "law-broken" Row [Doubt] "Little's law does not hold for the users";
    NotFromDevice "not-from-device" Row [Doubt, Void]
        "the device moved less than the direct I/O asked for";
    OwnLimit "own-limit" Row [Doubt, Void]
        "the queue was full at --depth, and the rest waited in Seekstone";
    ProcessorsShared "processors-shared" Row [Doubt] "other processes used a quarter of the CPUs";
    RoundsDiffer "rounds-differ" Row [Doubt]
        "rounds of a cell differ by more than their noise";
    SameDevice "same-device" Target [Doubt] "two compared file systems are on the same device";
    SlowClock "slow-clock" Machine [Doubt] "reading the clock takes over 1 % of an operation";
    PtsNotMet "pts-not-met" Row [Note] "an SSD is steady, and the letter of SSS PTS is not met";
    PtsTooEarly "pts-too-early" Row [Doubt]
        "the letter of SSS PTS was met, and the trend does not bear it out";
    SsdDrifting "ssd-drifting" Row [Doubt] "the rounds of an SSD test are still changing";
    SsdPurgeUnproven "ssd-purge-unproven" Row [Doubt]
        "blocks read back after a purge are not zero";
    SplitOperations "split-operations" Row [Note]
        "the kernel made several requests of each operation";
    // Too little time.
    DepthNotReached "depth-not-reached" Row [Doubt]
        "the queue depth stayed below the one requested";
    LevelNotSettled "level-not-settled" Effort [Doubt] "a level of a curve lies between two loads";
    NoAnswer "no-answer" Row [Doubt]
        "nothing was done in a trial, which was measured again for longer";
    NoOperation "no-operation" Row [Void] "nothing was done, and there was no time for more";
    NotCitable "not-citable" Row [Doubt] "too few independent operations to quote the number";
    NotConverged "not-converged" Effort [Note, Doubt] "the interval is wider than requested";
    NotFinished "not-finished" Row [Doubt] "users had not made all their transactions";
    NotPrecise "not-precise" Effort [Note] "rows of `files` have wider intervals than requested";
    NotSaturated "not-saturated" Row [Note] "the curve had not stopped growing";
    PercentileNotReached "percentile-not-reached" Foremost [Note]
        "the percentile that was to end a trial is not as precise as requested";
    RowsLeftOut "rows-left-out" Run [Note] "no time was left for rows of a check-up";
    SearchNotFinished "search-not-finished" Row [Doubt] "how many users meet a limit remains open";
    StonewallNotReached "stonewall-not-reached" Row [Doubt]
        "a client of `files --stonewall` had no more to do before the time was up";
    SsdUndecided "ssd-undecided" Row [Doubt]
        "the rounds of an SSD test do not tell whether it is steady";
    StudyNotPrecise "study-not-precise" Effort [Doubt]
        "figures of a study have wider intervals than \
        requested";
    TooShort "too-short" Effort [Note] "too short to tell whether results are correlated";
    // Facts of a run.
    Access "access" Target [Note, Doubt] "how the target had to be accessed";
    LevelsTooLow "levels-too-low" Row [Doubt]
        "no level of a curve lies above the time of one client";
    Clock "clock" Machine [Void] "the CPU's counter and the system clock drifted apart";
    ClosedLoad "closed-load" Run [Note] "what the two answers of `whatif` mean";
    CoarseTimes "coarse-times" Run [Doubt] "a log prints so few digits that a rate may be off";
    CurveCutShort "curve-cut-short" Row [Doubt]
        "every operation of a load failed, and the curve ends there";
    DevicePartial "device-partial" Run [Doubt] "a simulated device was stopped early in `whatif`";
    FailedOperations "failed-operations" Row [Doubt, Void] "operations failed and were counted";
    FailedRuns "failed-runs" Row [Doubt] "runs of a command ended with an error";
    FlushByKernelThread "flush-by-kernel-thread" Machine [Note]
        "io_uring hands each flush to a thread of the kernel";
    Hosts "hosts" Run [Note]
        "several hosts measured together: who was done first and last, how well their clocks are \
         known, and how their targets differ";
    EngineFallback "engine-fallback" Row [Note] "the usual I/O engine could not be used";
    HugePages "huge-pages" Run [Note]
        "buffers of sequential I/O lie in huge pages, and those of other programs do not";
    Imported "imported" Run [Note] "the run comes from a log";
    LeftBehind "left-behind" Run [Doubt] "some of Seekstone's files could not be removed";
    MostlyShell "mostly-shell" Row [Doubt] "a command takes hardly longer than its start";
    MostlyStart "mostly-start" Row [Note] "a command takes hardly longer than its start";
    NamesStayCached "names-stay-cached" Run [Note] "the cache of names was not dropped";
    NoFigures "no-figures" Row [Void]
        "every replicate of a combination of levels failed, or was void";
    NoMemoryDisk "no-memory-disk" Run [Note] "there was no tmpfs to compare with";
    NotChecked "not-checked" Run [Note] "blocks that are not checked, or not used";
    PartLeftOut "part-left-out" Run [Note] "blocks that are not checked, or not used";
    NullTarget "null-target" Target [Note] "nothing was read or written";
    OtherDriver "other-driver" Run [Note] "a different I/O engine from the previous load's";
    PartialRun "partial-run" Run [Note] "`whatif` fits a run that was stopped early";
    RampNotOver "ramp-not-over" Row [Doubt] "not all users were active at once";
    UsersNotTogether "users-not-together" Row [Doubt] "not all users were active at once";
    ReplayChanged "replay-changed" Run [Doubt]
        "requests of a trace were moved to fit the target, or left out";
    ReplayReordered "replay-reordered" Run [Note] "times in a trace go backwards";
    ReplaySeveralFiles "replay-several-files" Run [Note]
        "files or devices of a trace are placed side by side on one target";
    ReplayWholeSeconds "replay-whole-seconds" Run [Doubt]
        "times of a trace are whole seconds, and its requests were spread over each";
    Resumed "resumed" Run [Note] "the run was killed and resumed, or archived as far as it got";
    RivalModels "rival-models" Run [Note] "other models predict about as well";
    ShortOperations "short-operations" Row [Void] "operations moved fewer bytes than requested";
    SsdBlocksLeftOut "ssd-blocks-left-out" Run [Note]
        "loads of blocks that direct I/O cannot move here";
    SsdFailedOperations "ssd-failed-operations" Row [Void]
        "operations of an SSD test failed, and were counted";
    SsdNotPurged "ssd-not-purged" Run [Note] "earlier writes affect the first rounds";
    SsdPartOfDevice "ssd-part-of-device" Run [Doubt]
        "the rest of the device was spare space for garbage collection";
    SsdQuick "ssd-quick" Run [Note] "rounds are shorter than those of SSS PTS";
    SsdThroughFileSystem "ssd-through-file-system" Run [Doubt]
        "a file system lies between the test and the SSD";
    StartedLate "started-late" Run [Doubt] "the time to start together had passed";
    StateLeftOut "state-left-out" Run [Note] "what `files` could not measure here";
    TestLeftOut "test-left-out" Run [Note] "what `files` could not measure here";
    StillCached "still-cached" Row [Doubt] "files that should have been cold were in memory";
    StudyJournal "study-journal" Run [Doubt]
        "a study's journal could not be kept, or is from another machine";
    StudyMachines "study-machines" Run [Doubt]
        "a study's journal could not be kept, or is from another machine";
    StudyOfAModel "study-of-a-model" Run [Doubt] "the results are a model's, not a device's";
    VoidReplicates "void-replicates" Row [Doubt, Void]
        "replicates of a study are void; void where too few are left to show a difference";
    Verified "verified" Foremost [Note] "`--verify` read everything back, and found no errors";
    WarmUpLeftOut "warm-up-left-out" Run [Note] "what `--warm-up` left out";
    WritesLeftOut "writes-left-out" Run [Note] "an existing target was only read";
    WrongData "wrong-data" Row [Void] "the storage returned different data from what was written";
    // Known of the target and the machine.
    Compression "compression" Target [Note] "what lies between a file and the device";
    CopyOnWrite "copy-on-write" Target [Note] "what lies between a file and the device";
    Encryption "encryption" Target [Note] "what lies between a file and the device";
    Fuse "fuse" Target [Note] "what lies between a file and the device";
    CacheShareUnknown "cache-share-unknown" Target [Note]
        "nothing counts what the page cache answered";
    Overlay "overlay" Target [Note] "what lies between a file and the device";
    RemoteFileSystem "remote-file-system" Target [Note] "what lies between a file and the device";
    CpuLimited "cpu-limited" Machine [Note] "what the machine has and gives";
    CpuStolen "cpu-stolen" Machine [Note] "what the machine has and gives";
    MemoryLimited "memory-limited" Machine [Note] "what the machine has and gives";
    SingleCpu "single-cpu" Machine [Note] "what the machine has and gives";
    DataJournalled "data-journalled" Target [Note] "what mount options do to writes";
    NoJournal "no-journal" Target [Note] "what the file system does after files were removed";
    DurabilityWeakened "durability-weakened" Target [Note] "what mount options do to writes";
    SynchronousMount "synchronous-mount" Target [Note] "what mount options do to writes";
    CouldNotLook "could-not-look" Target [Note, Doubt]
        "what could not be checked, so that silence about it means nothing";
    DeviceInUse "device-in-use" Target [Note] "what others do on the device";
    IoThrottled "io-throttled" Target [Note] "what others do on the device";
    OtherIo "other-io" Target [Note] "what others do on the device";
    SharedDevice "shared-device" Target [Note] "what others do on the device";
    DeviceReadOnly "device-read-only" Target [Note] "only reads can be measured";
    ReadOnly "read-only" Target [Note] "only reads can be measured";
    LoopBuffered "loop-buffered" Target [Note] "what the device is";
    MappedDevice "mapped-device" Target [Note] "what the device is";
    ThinProvisioned "thin-provisioned" Target [Note] "what the device is";
    VirtualDisk "virtual-disk" Target [Note] "what the device is";
    VolatileWriteCache "volatile-write-cache" Target [Note] "what the device is";
    MemoryBacked "memory-backed" Target [Note] "what the file or directory is";
    FewHoles "few-holes" Target [Note] "what the file or directory is";
    NearlyFull "nearly-full" Target [Note] "what the file or directory is";
    SmallFile "small-file" Target [Note] "what the file or directory is";
    SparseFile "sparse-file" Target [Note, Void] "what the file or directory is";
    RaidChecking "raid-checking" Target [Note] "what a RAID is doing";
    RaidDegraded "raid-degraded" Target [Note] "what a RAID is doing";
    RaidRebuilding "raid-rebuilding" Target [Note] "what a RAID is doing";
    RaidReplacing "raid-replacing" Target [Note] "what a RAID is doing";
    // Arithmetic of the documents.
    CachedRange "cached-range" Run [Note, Doubt]
        "what a cache holds of the places a thread goes to";
    IndependentSamples "independent-samples" Run [Note, Doubt]
        "what a cache holds of the places a thread goes to";
    RandomWalk "random-walk" Run [Note, Doubt] "what a cache holds of the places a thread goes to";
    Contention "contention" Run [Doubt] "how many threads have a share of the file of their own";
    Coverage "coverage" Run [Note, Doubt] "how many threads have a share of the file of their own";
    DurationsDiffer "durations-differ" Run [Doubt] "what a workload asks for";
    MixedTypes "mixed-types" Run [Doubt] "what a workload asks for";
    LoadRange "load-range" Run [Note] "what a workload asks for";
    Saturation "saturation" Run [Note, Doubt] "what a workload asks for";
    ClassicCache "classic-cache" Run [Note] "what a log of the old programs does not say";
    ClassicResponse "classic-response" Run [Note] "what a log of the old programs does not say";
    ClassicClock "classic-clock" Run [Doubt] "what in a log of DISKRAND does not fit together";
    ClassicCount "classic-count" Run [Doubt] "what in a log of DISKRAND does not fit together";
    ClassicNoProfile "classic-no-profile" Run [Doubt]
        "what in a log of DISKRAND does not fit together";
    ClassicPercentile "classic-percentile" Run [Doubt]
        "what in a log of DISKRAND does not fit together";
    ClassicRecords "classic-records" Run [Doubt] "what in a log of DISKRAND does not fit together";
    ClassicShort "classic-short" Run [Doubt] "what in a log of DISKRAND does not fit together";
    ClassicConvergence "classic-convergence" Run [Doubt]
        "what a log of the RAID Performance Test says of itself, or says otherwise today";
    ClassicInterval "classic-interval" Run [Doubt]
        "what a log of the RAID Performance Test says of itself, or says otherwise today";
    ClassicWarning "classic-warning" Run [Doubt]
        "what a log of the RAID Performance Test says of itself, or says otherwise today";
}

/// A code that this version does not list. Private inside: no measurement can say one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnlistedCode(String);

impl From<String> for WarningCode {
    fn from(code: String) -> Self {
        let mut listed = Self::ALL.iter();
        let listed = listed.find(|it| it.as_str() == code);
        listed.cloned().unwrap_or(Self::Other(UnlistedCode(code)))
    }
}

impl From<WarningCode> for String {
    fn from(code: WarningCode) -> Self {
        code.as_str().to_owned()
    }
}

impl From<AdviceCode> for WarningCode {
    fn from(code: AdviceCode) -> Self {
        match code {
            AdviceCode::CachedRange => Self::CachedRange,
            AdviceCode::Contention => Self::Contention,
            AdviceCode::Coverage => Self::Coverage,
            AdviceCode::DurationsDiffer => Self::DurationsDiffer,
            AdviceCode::IndependentSamples => Self::IndependentSamples,
            AdviceCode::LoadRange => Self::LoadRange,
            AdviceCode::MixedTypes => Self::MixedTypes,
            AdviceCode::RandomWalk => Self::RandomWalk,
            AdviceCode::Saturation => Self::Saturation,
        }
    }
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_is_its_variants_name_in_kebab_case_and_says_what_it_weighs() {
        let mut seen = BTreeSet::new();
        for code in WarningCode::ALL {
            let mut kebab = String::new();
            for letter in format!("{code:?}").chars() {
                if letter.is_ascii_uppercase() && !kebab.is_empty() {
                    kebab.push('-');
                }
                kebab.push(letter.to_ascii_lowercase());
            }
            assert_eq!(code.as_str(), kebab);
            assert!(seen.insert(code.as_str()), "{code} is listed twice");
            assert!(code.severities().is_sorted(), "{code}");
            assert!(code.meaning().is_some_and(|it| !it.is_empty()), "{code}");
        }
    }

    #[test]
    fn a_listed_code_is_read_as_itself_and_one_of_another_version_is_kept() {
        for code in WarningCode::ALL {
            assert_eq!(&WarningCode::from(code.to_string()), code);
        }
        let text = r#"{"code":"bad-moon","severity":"void","text":"It rises."}"#;
        let read: crate::Warning = serde_json::from_str(text).expect("a warning");
        assert_eq!(read.code.as_str(), "bad-moon");
        assert_eq!(read.code.meaning(), None);
        assert_eq!(serde_json::to_string(&read).expect("text"), text);
    }
}
