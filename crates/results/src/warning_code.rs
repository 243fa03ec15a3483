//! All warnings in one list: code, possible severities, and meaning.
//!
//! Everything that issues, shows, stores or counts warnings reads this list, and docs/warnings.md
//! is checked against it. Renamed codes can still be read, since archived runs contain them.

use std::fmt;

use serde::{Deserialize, Serialize};
use workload::AdviceCode;

use crate::warning::Severity;

/// Subject of a warning. Warnings of the same severity are shown in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarningScope {
    /// About what was requested, or an explanation of the warnings after it.
    Foremost,
    /// About a row or a curve.
    Row,
    /// About how the run was made.
    Run,
    /// About the target.
    Target,
    /// About the machine.
    Machine,
    /// About an interval, which more time or depth would change.
    Effort,
}

/// Codes of schema 4 and earlier, with the current ones.
const RENAMED: [(&str, &str); 5] = [
    ("foreign-io", "background-io"),
    ("void-replicates", "invalid-repeats"),
    ("not-citable", "too-few-samples"),
    ("load-not-carried", "load-not-sustained"),
    ("level-not-settled", "level-uncertain"),
];

/// Lines of `Variant "code" Scope [weights] "when it is issued, or what happened";`.
macro_rules! warning_codes {
    ($($name:ident $code:literal $scope:ident [$($weight:ident),+] $meaning:literal;)+) => {
        /// A warning code.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum WarningCode {
            $(#[doc = $meaning] $name,)+
            /// A code of another version of this program, which only reading can produce.
            Other(UnlistedCode),
        }

        impl WarningCode {
            /// All codes that this version issues.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Stable name in kebab case.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $code,)+
                    Self::Other(code) => &code.0,
                }
            }

            /// Possible severities, lightest first.
            pub const fn severities(&self) -> &'static [Severity] {
                match self {
                    $(Self::$name => &[$(Severity::$weight,)+],)+
                    Self::Other(_) => &[Severity::Info, Severity::Warning, Severity::Invalid],
                }
            }

            /// Subject of the warning.
            pub const fn scope(&self) -> WarningScope {
                match self {
                    $(Self::$name => WarningScope::$scope,)+
                    Self::Other(_) => WarningScope::Run,
                }
            }

            /// When it is issued, or what happened; `None` for a code of another version.
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
    // Derived from the data.
    Correlated "correlated" Effort [Info]
        "latency moved slowly during the trial, or by little. Its interval is widened for that";
    CurveDrift "curve-drift" Row [Warning]
        "response times moved while points of the curve were measured";
    Drift "drift" Row [Warning]
        "response time drifted over the trial (for `transfer`, from pass to pass)";
    Hung "hung" Foremost [Warning] "operations that the storage did not answer were given up";
    HeavyTail "heavy-tail" Row [Warning] "the mean depends on a few operations, or has no variance";
    KeptBack "kept-back" Row [Warning] "operations due but not completed would change the mean";
    LateGenerator "late-generator" Row [Warning] "Seekstone issued operations late";
    LevelChanged "level-changed" Foremost [Warning]
        "the first rows of a check-up did not come out again at its end";
    LevelsFall "levels-fall" Row [Warning]
        "a level of a curve sustains clearly less load than a shorter one";
    LoadFalls "load-falls" Row [Info] "throughput fell as clients were added";
    LoadNotSustained "load-not-sustained" Row [Warning]
        "the storage did not sustain the offered load";
    NotStationary "not-stationary" Row [Warning] "still changing at the end of its time";
    Oscillation "oscillation" Row [Info] "response times rise and fall periodically";
    OwnShare "own-share" Row [Warning]
        "over a tenth of a curve's latency is load-generator overhead";
    RareEpisodes "rare-episodes" Row [Info] "a few slow episodes make up much of the mean";
    Standstill "standstill" Foremost [Warning, Invalid]
        "Seekstone itself was stopped, or got no CPU";
    Stall "stall" Row [Warning] "nothing completed for a long time";
    Step "step" Row [Warning] "the latency changed abruptly";
    Swing "swing" Row [Warning] "the latency rose and fell slowly, fewer than four times";
    TimeUnaccounted "time-unaccounted" Row [Warning]
        "throughput times response and think time is not the number of clients";
    TwoModes "two-modes" Row [Info, Warning] "times have two peaks";
    WarmUp "warm-up" Row [Info, Warning] "a slow start";
    WarmUpDiffers "warm-up-differs" Row [Info, Warning]
        "the part left out at the start differs from the rest";
    WriteCliff "write-cliff" Row [Warning] "writes became slower abruptly, by half or more";
    BusyWorker "busy-worker" Row [Warning] "a worker thread was busy for 95 % of the trial";
    CacheChanges "cache-changes" Row [Warning]
        "the page cache answered more of one pass than of another";
    FirstRunDiffers "first-run-differs" Row [Warning]
        "the first run of a command is far from the others";
    BackgroundIo "background-io" Foremost [Warning, Invalid]
        "other processes did much of the device's I/O";
    LogIncomplete "log-incomplete" Row [Warning]
        "lines of fio's logs came faster than they could be written";
    IologIncomplete "iolog-incomplete" Row [Warning]
        "`trial --iolog`: operations came faster than their lines could be written";
    ReplayBehind "replay-behind" Row [Warning]
        "a replay took 0.1 % longer than its trace, or 1 % of its requests were over 1 ms behind";
    ReplayStarved "replay-starved" Row [Warning]
        "requests came from the trace's file after they were due";
    LawBroken "law-broken" Row [Warning] "Little's law does not hold for the users";
    NotFromDevice "not-from-device" Row [Warning, Invalid]
        "the device moved less than the direct I/O asked for";
    OwnLimit "own-limit" Row [Warning, Invalid]
        "the queue was full at --depth, and the rest waited in Seekstone";
    ProcessorsShared "processors-shared" Row [Warning] "other processes used a quarter of the CPUs";
    RoundsDiffer "rounds-differ" Row [Warning]
        "rounds of a cell differ by more than their noise";
    SameDevice "same-device" Target [Warning] "two compared file systems are on the same device";
    SlowClock "slow-clock" Machine [Warning] "reading the clock takes over 1 % of an operation";
    PtsNotMet "pts-not-met" Row [Info] "an SSD is steady, and the letter of SSS PTS is not met";
    PtsTooEarly "pts-too-early" Row [Warning]
        "the letter of SSS PTS was met, and the trend does not bear it out";
    SsdDrifting "ssd-drifting" Row [Warning] "the rounds of an SSD test are still changing";
    SsdPurgeUnproven "ssd-purge-unproven" Row [Warning]
        "blocks read back after a purge are not zero";
    SplitOperations "split-operations" Row [Info]
        "the kernel made several requests of each operation";
    // Too little time.
    DepthNotReached "depth-not-reached" Row [Warning]
        "the queue depth stayed below the one requested";
    LevelUncertain "level-uncertain" Effort [Warning] "a level of a curve lies between two loads";
    NoAnswer "no-answer" Row [Warning]
        "nothing was done in a trial, which was measured again for longer";
    NoOperation "no-operation" Row [Warning, Invalid]
        "nothing was done, and there was no time for more (a warning where other ranks did more)";
    TooFewSamples "too-few-samples" Row [Warning]
        "too few independent operations to quote the number";
    NotConverged "not-converged" Effort [Info, Warning] "the interval is wider than requested";
    NotFinished "not-finished" Row [Warning] "users had not made all their transactions";
    NotPrecise "not-precise" Effort [Info] "rows of `files` have wider intervals than requested";
    NotSaturated "not-saturated" Row [Info] "the curve had not stopped growing";
    PercentileNotReached "percentile-not-reached" Foremost [Info]
        "the percentile that was to end a trial is not as precise as requested";
    RowsLeftOut "rows-left-out" Run [Info] "no time was left for rows of a check-up";
    SearchNotFinished "search-not-finished" Row [Warning]
        "how many users meet a limit remains open";
    StonewallNotReached "stonewall-not-reached" Row [Warning]
        "a client of `files --stonewall` had no more to do before the time was up";
    SsdUndecided "ssd-undecided" Row [Warning]
        "the rounds of an SSD test do not tell whether it is steady";
    NotToldApart "not-told-apart" Effort [Info]
        "the targets of a comparison cannot be told apart by their first metric";
    StudyNotPrecise "study-not-precise" Effort [Warning]
        "results of a study have wider intervals than requested, or than a quarter of the value";
    StudyRoundsLeftOut "study-rounds-left-out" Run [Info]
        "the budget of a study ended before all its rounds";
    FewIos "few-ios" Effort [Info] "users made fewer I/Os than the DISKRAND document asks for";
    TestFileSmaller "test-file-smaller" Run [Info]
        "the test file is smaller than usual, so that the budget is kept";
    TooShort "too-short" Effort [Info] "too short to tell whether results are correlated";
    // Facts of a run.
    Access "access" Target [Info, Warning] "how the target had to be accessed";
    LevelsTooLow "levels-too-low" Row [Warning]
        "no level of a curve lies above the time of one client";
    Clock "clock" Machine [Invalid] "the CPU's counter and the system clock drifted apart";
    ClosedLoad "closed-load" Run [Info] "what the two answers of `whatif` mean";
    CoarseTimes "coarse-times" Run [Warning] "a log prints so few digits that a rate may be off";
    CurveCutShort "curve-cut-short" Row [Warning]
        "every operation of a load failed, and the curve ends there";
    DevicePartial "device-partial" Run [Warning] "a simulated device was stopped early in `whatif`";
    FailedOperations "failed-operations" Row [Warning, Invalid]
        "operations failed and were counted";
    FailedRuns "failed-runs" Row [Warning] "runs of a command ended with an error";
    Throttled "throttled" Row [Warning]
        "an object store asked for fewer requests, and clients paused";
    FlushByKernelThread "flush-by-kernel-thread" Machine [Info]
        "io_uring hands each flush to a thread of the kernel";
    Hosts "hosts" Run [Info]
        "several hosts measured together: who was done first and last, clock uncertainty, and how \
         targets differ";
    EngineFallback "engine-fallback" Row [Info] "the usual I/O engine could not be used";
    FileUnmarked "file-unmarked" Run [Warning]
        "`--keep-files` left a file that later runs cannot know as theirs";
    HugePages "huge-pages" Run [Info]
        "buffers of sequential I/O lie in huge pages, and those of other programs do not";
    Imported "imported" Run [Info] "the run comes from a log";
    LeftBehind "left-behind" Run [Warning] "some of Seekstone's files could not be removed";
    MostlyShell "mostly-shell" Row [Warning] "a command takes hardly longer than its start";
    MostlyStart "mostly-start" Row [Info] "a command takes hardly longer than its start";
    NamesStayCached "names-stay-cached" Run [Info] "the cache of names was not dropped";
    NoFigures "no-figures" Row [Invalid]
        "every repeat of a combination of levels failed, or was invalid";
    NoMemoryDisk "no-memory-disk" Run [Info] "there was no tmpfs to compare with";
    NotChecked "not-checked" Run [Info] "blocks that are not checked, or not used";
    PartLeftOut "part-left-out" Run [Info] "blocks that are not checked, or not used";
    NullTarget "null-target" Target [Info] "nothing was read or written";
    OtherDriver "other-driver" Run [Info] "a different I/O engine from the previous load's";
    PriorityIgnored "priority-ignored" Row [Warning]
        "requests have priorities, and the I/O engine tells the kernel of none";
    PartialRun "partial-run" Run [Info] "`whatif` fits a run that was stopped early";
    RampNotOver "ramp-not-over" Row [Warning] "not all users were active at once";
    UsersNotTogether "users-not-together" Row [Warning] "not all users were active at once";
    ReplayChanged "replay-changed" Run [Warning]
        "requests of a trace were moved to fit the target, or left out";
    ReplayReordered "replay-reordered" Run [Info] "times in a trace go backwards";
    ReplaySeveralFiles "replay-several-files" Run [Info]
        "files or devices of a trace are placed side by side on one target";
    ReplayWholeSeconds "replay-whole-seconds" Run [Warning]
        "times of a trace are whole seconds, and its requests were spread over each";
    Resumed "resumed" Run [Info] "the run was killed and resumed, or archived as far as it got";
    RivalModels "rival-models" Run [Info] "other models predict about as well";
    ShortOperations "short-operations" Row [Invalid] "operations moved fewer bytes than requested";
    SsdBlocksLeftOut "ssd-blocks-left-out" Run [Info]
        "loads of blocks that direct I/O cannot move here";
    SsdFailedOperations "ssd-failed-operations" Row [Invalid]
        "operations of an SSD test failed, and were counted";
    SsdNotPurged "ssd-not-purged" Run [Info] "earlier writes affect the first rounds";
    SsdPartOfDevice "ssd-part-of-device" Run [Warning]
        "the rest of the device was spare space for garbage collection";
    SsdQuick "ssd-quick" Run [Info] "rounds are shorter than those of SSS PTS";
    SsdScaledDown "ssd-scaled-down" Row [Info]
        "an SSD test has less time than by SSS PTS";
    SsdThroughFileSystem "ssd-through-file-system" Run [Warning]
        "a file system lies between the test and the SSD";
    StartedLate "started-late" Run [Warning] "the time to start together had passed";
    StateLeftOut "state-left-out" Run [Info] "what `files` could not measure here";
    TestLeftOut "test-left-out" Run [Info] "what `files` could not measure here";
    StillCached "still-cached" Row [Warning] "files that should have been cold were in memory";
    StudyJournal "study-journal" Run [Warning]
        "a study's journal could not be kept, or is from another machine";
    StudyMachines "study-machines" Run [Warning]
        "a study's journal could not be kept, or is from another machine";
    StudyOfAModel "study-of-a-model" Run [Warning] "the results are a model's, not a device's";
    InvalidRepeats "invalid-repeats" Row [Warning, Invalid]
        "repeats of a study are invalid (invalid where too few are left to show a difference)";
    Unwritten "unwritten" Foremost [Warning]
        "many of the blocks that were read from a device hold only zeroes";
    Verified "verified" Foremost [Info] "`--verify` read everything back, and found no errors";
    WarmUpLeftOut "warm-up-left-out" Run [Info] "what `--warm-up` left out";
    WritesLeftOut "writes-left-out" Run [Info] "an existing target was only read";
    WrongData "wrong-data" Row [Invalid]
        "the storage returned different data from what was written";
    // Properties of the target and the machine.
    Compression "compression" Target [Info] "what lies between a file and the device";
    CopyOnWrite "copy-on-write" Target [Info] "what lies between a file and the device";
    Encryption "encryption" Target [Info] "what lies between a file and the device";
    Fuse "fuse" Target [Info] "what lies between a file and the device";
    CacheShareUnknown "cache-share-unknown" Target [Info]
        "nothing counts what the page cache answered";
    Overlay "overlay" Target [Info] "what lies between a file and the device";
    RemoteFileSystem "remote-file-system" Target [Info] "what lies between a file and the device";
    CpuLimited "cpu-limited" Machine [Info] "what the machine has and gives";
    CpuStolen "cpu-stolen" Machine [Info] "what the machine has and gives";
    MemoryLimited "memory-limited" Machine [Info] "what the machine has and gives";
    SingleCpu "single-cpu" Machine [Info] "what the machine has and gives";
    DataJournalled "data-journalled" Target [Info] "what mount options do to writes";
    NoJournal "no-journal" Target [Info] "what the file system does after files were removed";
    DurabilityWeakened "durability-weakened" Target [Info] "what mount options do to writes";
    SynchronousMount "synchronous-mount" Target [Info] "what mount options do to writes";
    CouldNotLook "could-not-look" Target [Info, Warning]
        "what could not be checked, so that silence about it means nothing";
    DeviceInUse "device-in-use" Target [Info] "what others do on the device";
    IoThrottled "io-throttled" Target [Info] "what others do on the device";
    OtherIo "other-io" Target [Info] "what others do on the device";
    ShortSeeks "short-seeks" Target [Warning]
        "a small part of a hard disk was used, so seeks were short";
    SharedDevice "shared-device" Target [Info] "what others do on the device";
    DeviceReadOnly "device-read-only" Target [Info] "only reads can be measured";
    ReadOnly "read-only" Target [Info] "only reads can be measured";
    LoopBuffered "loop-buffered" Target [Info] "what the device is";
    MappedDevice "mapped-device" Target [Info] "what the device is";
    ThinProvisioned "thin-provisioned" Target [Info] "what the device is";
    VirtualDisk "virtual-disk" Target [Info] "what the device is";
    VolatileWriteCache "volatile-write-cache" Target [Info] "what the device is";
    MemoryBacked "memory-backed" Target [Info] "what the file or directory is";
    FewHoles "few-holes" Target [Info] "what the file or directory is";
    NearlyFull "nearly-full" Target [Info] "what the file or directory is";
    SmallFile "small-file" Target [Info] "what the file or directory is";
    SparseFile "sparse-file" Target [Info, Invalid] "what the file or directory is";
    RaidChecking "raid-checking" Target [Info] "what a RAID is doing";
    RaidDegraded "raid-degraded" Target [Info] "what a RAID is doing";
    RaidRebuilding "raid-rebuilding" Target [Info] "what a RAID is doing";
    RaidReplacing "raid-replacing" Target [Info] "what a RAID is doing";
    // Arithmetic of the documents.
    CachedRange "cached-range" Run [Info, Warning]
        "what a cache holds of the places a thread goes to";
    IndependentSamples "independent-samples" Run [Info, Warning]
        "what a cache holds of the places a thread goes to";
    RandomWalk "random-walk" Run [Info, Warning]
        "what a cache holds of the places a thread goes to";
    Contention "contention" Run [Warning] "how many threads have a share of the file of their own";
    Coverage "coverage" Run [Info, Warning]
        "how many threads have a share of the file of their own";
    DurationsDiffer "durations-differ" Run [Warning] "what a workload asks for";
    MixedTypes "mixed-types" Run [Warning] "what a workload asks for";
    LoadRange "load-range" Run [Info] "what a workload asks for";
    Saturation "saturation" Run [Info, Warning] "what a workload asks for";
    ClassicCache "classic-cache" Run [Info] "what a log of the old programs does not say";
    ClassicResponse "classic-response" Run [Info] "what a log of the old programs does not say";
    ClassicClock "classic-clock" Run [Warning] "what in a log of DISKRAND does not fit together";
    ClassicCount "classic-count" Run [Warning] "what in a log of DISKRAND does not fit together";
    ClassicNoProfile "classic-no-profile" Run [Warning]
        "what in a log of DISKRAND does not fit together";
    ClassicPercentile "classic-percentile" Run [Warning]
        "what in a log of DISKRAND does not fit together";
    ClassicRecords "classic-records" Run [Warning]
        "what in a log of DISKRAND does not fit together";
    ClassicShort "classic-short" Run [Warning] "what in a log of DISKRAND does not fit together";
    ClassicConvergence "classic-convergence" Run [Warning]
        "what a log of the RAID Performance Test says of itself, or says otherwise today";
    ClassicInterval "classic-interval" Run [Warning]
        "what a log of the RAID Performance Test says of itself, or says otherwise today";
    ClassicWarning "classic-warning" Run [Warning]
        "what a log of the RAID Performance Test says of itself, or says otherwise today";
}

/// A code that this version does not list. Its field is private, so no measurement can issue one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnlistedCode(String);

impl From<String> for WarningCode {
    fn from(code: String) -> Self {
        let renamed = RENAMED.iter().find(|(old, _)| *old == code);
        let name = renamed.map_or(code.as_str(), |(_, new)| new);
        let mut listed = Self::ALL.iter();
        let listed = listed.find(|it| it.as_str() == name);
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
        let text = r#"{"code":"bad-moon","severity":"invalid","text":"It rises."}"#;
        let read: crate::Warning = serde_json::from_str(text).expect("a warning");
        assert_eq!(read.code.as_str(), "bad-moon");
        assert_eq!(read.code.meaning(), None);
        assert_eq!(serde_json::to_string(&read).expect("text"), text);
    }
}
