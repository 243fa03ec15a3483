//! All metrics: name, unit, meaning, and the measurements whose goals and limits can use them.
//! Goals, options and documents read this list before a measurement; the tables of results are
//! built from it.

use stats::{Estimate, PercentileEstimate};

use crate::measurement::Times;
use crate::percentile::PERCENTILES;
use crate::reading::{Better, Reading, Unit};
use crate::table::{Figure, Role, percentile_name};

/// Nanoseconds in a second.
const NS: f64 = 1e-9;

/// A metric as known before any measurement.
#[derive(Clone, Copy, Debug)]
pub struct KnownMetric {
    /// Stable name in kebab case, except those of studies.
    pub name: &'static str,
    /// Times are in seconds, rates per second, shares from 0 to 1.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Commands and kinds whose goals can use it; none if it is only a detail.
    pub goals: &'static [&'static str],
    /// Commands and kinds whose goals can also use its percentiles, as in `latency-p99`.
    pub percentiles: &'static [&'static str],
    /// Its meaning, for documents.
    pub meaning: &'static str,
}

macro_rules! metrics {
    ($($id:ident = $name:literal $unit:ident $better:ident
       [$($goal:literal)*] $([$($percentile:literal)*])? $meaning:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $id: KnownMetric = KnownMetric {
            name: $name,
            unit: Unit::$unit,
            better: Better::$better,
            goals: &[$($goal),*],
            percentiles: &[$($($percentile),*)?],
            meaning: $meaning,
        };)*
        /// All metrics.
        pub const METRICS: &[KnownMetric] = &[$($id),*];
    };
}

metrics! {
    IOPS = "iops" PerSecond Higher
        ["run" "trial" "ssd" "curve" "rab" "random" "replay" "fio" "transfer"]
        "operations completed per second (for a load curve, at the level)";
    THROUGHPUT = "throughput" BytesPerSecond Higher
        ["run" "trial" "ssd" "rab" "replay" "fio" "transfer" "files" "ior" "mdtest" "io500"
         "objects"]
        "bytes moved per second";
    LATENCY = "latency" Seconds Lower
        ["run" "trial" "ssd" "replay" "transactions" "fio" "transfer" "wal" "mail" "objects"]
        ["run" "trial" "ssd" "replay" "transactions" "fio"]
        "mean response time, from when an operation was due, or the end of the think time, to its \
         end";
    LATENCY_P50 = "latency-p50" Seconds Lower ["wal" "mail" "objects"] "median response time";
    LATENCY_P95 = "latency-p95" Seconds Lower ["wal" "mail" "objects"]
        "time that 95 % of the operations took at most";
    LATENCY_P90 = "latency-p90" Seconds Lower ["transactions"]
        "time that 90 % of the transactions took at most";
    LATENCY_P99 = "latency-p99" Seconds Lower ["transfer" "wal" "mail" "objects"]
        "time that 99 % of the operations took at most";
    LATENCY_P999 = "latency-p99.9" Seconds Lower ["objects"]
        "time that 99.9 % of the operations took at most";
    LATENCY_MIN = "latency-min" Seconds Lower [] "shortest response time";
    LATENCY_MAX = "latency-max" Seconds Lower [] "longest response time";
    LATENCY_FROM_START = "latency-from-start" Seconds Lower []
        "mean time of a transaction from the issue of its first operation";
    LATENCY_FROM_START_MIN = "latency-from-start-min" Seconds Lower []
        "shortest time from the issue of the first operation";
    LATENCY_FROM_START_MAX = "latency-from-start-max" Seconds Lower []
        "longest time from the issue of the first operation";
    SERVICE_TIME = "service-time" Seconds Lower ["rab" "random" "replay" "fio"]
        ["rab" "random" "replay" "fio"] "mean time from the issue of an operation to its end";
    IOPS_OPEN = "iops-open" PerSecond Higher ["run" "curve"]
        "load of an open loop at which the level is kept";
    LATENCY_OPEN = "latency-open" Seconds Lower ["run" "curve"]
        "mean response time at that load of an open loop";
    LATENCY_ONE_CLIENT = "latency-one-client" Seconds Lower ["run" "curve"]
        "response time of one client alone, where that is above the level";
    LATENCY_THEORY = "latency-theory" Seconds Lower []
        "mean response time by the law of a simulated queue";
    QUEUE_WAIT = "queue-wait" Seconds Lower [] "mean wait in a simulated queue";
    SERVER_TIME = "server-time" Seconds Lower [] "mean service of a simulated queue";
    RABMARK_R = "rabmark-r" Ratio Higher ["rab"] "response mark of the RAID Performance Test";
    RABMARK_S = "rabmark-s" BytesPerSecond Higher ["rab"] "speed mark of the RAID Performance Test";
    IOPS_BY_LATENCY = "iops-by-latency" PerSecond Higher ["rab"]
        "operations per second where the response time, not the service time, is at the level";
    SERVICE_TIME_ONE_CLIENT = "service-time-one-client" Seconds Lower ["rab"]
        "service time of one client alone";
    TPS = "tps" PerSecond Higher ["transactions"]
        "transactions per second while all users are at work";
    TPS_WHOLE_RUN = "tps-whole-run" PerSecond Higher []
        "transactions per second over the whole run, stragglers included";
    ELAPSED = "elapsed" Seconds Lower ["files" "ior" "mdtest" "io500" "time"]
        "time from start to end";
    FILES_PER_SECOND = "files-per-second" PerSecond Higher ["files" "ior" "mdtest" "io500"]
        "files handled per second";
    CALLS_PER_SECOND = "calls-per-second" PerSecond Higher ["files" "ior" "mdtest"]
        "calls of the file system per second";
    STONEWALL_FILES_PER_SECOND = "stonewall-files-per-second" PerSecond Higher
        ["files" "ior" "mdtest" "io500"]
        "files per second until the first client was done";
    STONEWALL_BYTES_PER_SECOND = "stonewall-bytes-per-second" PerSecond Higher
        ["files" "ior" "mdtest" "io500"]
        "bytes per second until the first client was done";
    IO500_SCORE = "io500-score" Ratio Higher ["io500"]
        "score of IO500: GiB/s, thousands of operations per second, or the geometric mean of both";
    OVER_MEMORY = "over-memory" Ratio Lower ["files"]
        "elapsed time over that of the same test on the memory disk";
    GROWTH = "growth" Ratio Lower [] "time with more files over that with the fewest";
    CPU_USER = "cpu-user" Seconds Lower ["time"] "processor time of the program itself";
    CPU_SYSTEM = "cpu-system" Seconds Lower ["time"] "processor time of the kernel for the program";
    CPU = "cpu" Seconds Lower [] "processor time";
    CPU_PER_IO = "cpu-per-io" Seconds Lower [] "processor time for each operation";
    CPU_PER_MIB = "cpu-per-mib" SecondsPerMib Lower [] "processor time for each MiB";
    CPU_LIMIT = "cpu-limit" BytesPerSecond Higher []
        "rate at which the processor time for each MiB would fill one processor";
    CPU_USER_PER_MIB = "cpu-user-per-mib" SecondsPerMib Lower []
        "processor time of the program for each MiB";
    CPU_SYSTEM_PER_MIB = "cpu-system-per-mib" SecondsPerMib Lower []
        "processor time of the kernel for each MiB";
    CPU_PER_TRANSACTION = "cpu-per-transaction" Seconds Neither []
        "processor time for each transaction";
    CPU_ASKED = "cpu-asked" Seconds Neither []
        "processor time for each transaction that the profile asks for";
    CPU_BUSY = "cpu-busy" Share Neither [] "share of the time that processors were busy";
    CPUS = "cpus" Ratio Neither [] "processors used on average";
    PROCESSORS = "processors" Ratio Neither [] "processors used on average";
    DEVICE_TIME_READ = "device-time-read" Seconds Lower []
        "mean time of a read in the device, by the kernel's counters, warm-up included";
    DEVICE_TIME_WRITE = "device-time-write" Seconds Lower []
        "mean time of a write in the device, by the kernel's counters, warm-up included";
    DEVICE_BUSY = "device-busy" Share Neither [] "share of the time that the device was busy";
    DEVICE_QUEUE = "device-queue" Count Neither [] "mean number of requests in the device";
    DEVICE_READS = "device-reads" Count Lower [] "reads of the device, of a pass";
    DEVICE_WRITES = "device-writes" Count Lower [] "writes of the device, of a pass";
    DEVICE_READ_RATE = "device-reads" PerSecond Neither [] "reads of the device per second";
    DEVICE_WRITE_RATE = "device-writes" PerSecond Neither [] "writes of the device per second";
    DEVICE_THROUGHPUT = "device-throughput" BytesPerSecond Higher []
        "bytes that the device moved per second";
    READS = "reads" PerSecond Neither [] "reads per second";
    WRITES = "writes" PerSecond Neither [] "writes per second";
    MINOR_FAULTS = "minor-faults" PerSecond Neither [] "page faults per second without a read";
    MAJOR_FAULTS = "major-faults" PerSecond Neither [] "page faults per second with a read";
    FILE_CACHE = "file-cache" Bytes Neither [] "mean size of the file cache of a model";
    PAGE_CACHE_SHARE = "page-cache-share" Share Neither []
        "share of the bytes read that came from the page cache";
    QUEUE_DEPTH = "queue-depth" Count Neither [] "mean number of operations outstanding";
    CLIENTS = "clients" Count Neither [] "clients at work";
    USERS = "users" Count Neither [] "users at work";
    USERS_FOUND = "users" Count Higher [] "users that meet the limit";
    OPERATIONS = "operations" Count Neither [] "operations that count";
    ERRORS = "errors" Count Neither [] "operations that failed";
    DURATION = "duration" Seconds Neither [] "time that counts";
    OFFERED = "offered" PerSecond Neither [] "operations asked for per second";
    BYTES = "bytes" Bytes Neither [] "bytes moved";
    BYTES_PER_TRANSACTION = "bytes-per-transaction" Bytes Neither [] "bytes of each transaction";
    TRANSACTIONS = "transactions" Count Neither [] "transactions that count";
    SAMPLE_MEAN = "sample-mean" Seconds Lower [] "mean time of the transactions as a plain sample";
    SAMPLE_P95 = "sample-p95" Seconds Lower [] "95th percentile of the plain sample";
    THINK_TIME = "think-time" Seconds Neither [] "mean think time";
    RAMP = "ramp" PerSecond Neither [] "users that start in a second";
    SHARE = "share" Share Neither [] "share of the transactions that the limit is for";
    LIMIT = "limit" Seconds Neither [] "response time that is the limit";
    MEETS = "meets" Count Neither [] "users that clearly meet the limit";
    MISSES = "misses" Count Neither [] "users that clearly miss the limit";
    WITHIN_LIMIT = "within-limit" Share Higher [] "share of the transactions within the limit";
    PASSES = "passes" Count Neither [] "passes that count";
    ITEMS = "items" Count Neither [] "files, or blocks of a file, of a pass";
    CALLS = "calls" Count Neither [] "calls of the file system";
    CALL_COUNT = "count" Count Neither [] "calls of this kind";
    CALL_MEAN = "call-mean" Seconds Neither [] "mean time of the calls that take most of the test";
    CALL_P99 = "call-p99" Seconds Neither []
        "99th percentile of the calls that take most of the test";
    MEAN_TIME = "mean" Seconds Neither [] "mean time of a call";
    MEDIAN_TIME = "median" Seconds Neither [] "median time of a call";
    P99_TIME = "p99" Seconds Neither [] "time that 99 % of the calls took at most";
    LONGEST_TIME = "longest" Seconds Neither [] "longest time of a call";
    LEAST_OF_A_CLIENT = "least-of-a-client" Count Neither []
        "files of the slowest client when the first was done";
    MOST_OF_A_CLIENT = "most-of-a-client" Count Neither [] "files of the fastest client";
    STONEWALL_ELAPSED = "stonewall-elapsed" Seconds Neither []
        "time until the first client was done";
    STONEWALL_ITEMS = "stonewall-items" Count Neither [] "files handled by then";
    STONEWALL_BYTES = "stonewall-bytes" Bytes Neither [] "bytes moved by then";
    STONEWALL_LEAST = "stonewall-least" Count Neither [] "files of the slowest client by then";
    STONEWALL_MOST = "stonewall-most" Count Neither [] "files of the fastest client by then";
    FIRST_IN = "first-in" Count Neither [] "passes that this host was the first to finish";
    LAST_IN = "last-in" Count Neither [] "passes that this host was the last to finish";
    BUSY = "busy" Share Neither [] "share of the time that the host's clients were at work";
    OVERLAP_SHARE = "overlap-share" Share Neither []
        "share of a pass in which all streams were under way";
    RATIO = "ratio" Ratio Higher [] "one over the other";
    ALONE = "alone" BytesPerSecond Higher [] "rate of the stream alone";
    TOGETHER = "together" BytesPerSecond Higher [] "rate of the stream while the others run";
    TIME_RATIO = "ratio" Ratio Neither [] "time of the command over that of the first one";
    P_VALUE = "p-value" Share Neither [] "chance of such a difference where there is none";
    PAIRS = "pairs" Count Neither [] "rounds in which both commands ran";
    MEMORY = "memory" Bytes Neither [] "most memory of a run";
    STORAGE_READ = "bytes-read" Bytes Neither [] "bytes that a run read from storage";
    STORAGE_WRITTEN = "bytes-written" Bytes Neither [] "bytes that a run wrote to storage";
    EXIT_STATUS = "exit-status" Count Neither [] "exit status of a run";
    SHELL = "shell" Seconds Lower [] "time that the shell itself takes";
    RUNS = "runs" Count Neither [] "runs that count";
    VALUES = "values" Count Neither [] "repeats whose value is in the bin";
    ROUNDS = "rounds" Count Neither [] "rounds that count";
    TREND = "trend" Share Neither [] "change over the last half of the rounds, over their mean";
    PTS_RANGE = "pts-range" Share Neither [] "range of five rounds over their mean, by SSS PTS";
    PTS_EXCURSION = "pts-excursion" Share Neither []
        "change of the line through five rounds over their mean, by SSS PTS";
    IOPS_BY_LAW = "iops-by-law" PerSecond Neither [] "steady rate by the law of a model";
    STEADY_ROUND = "steady-round" Count Neither [] "round at which it was steady";
    PTS_ROUND = "pts-round" Count Neither [] "round at which the rule of SSS PTS was met";
    WRITTEN = "written" Bytes Neither [] "bytes written so far";
    CAPACITIES = "capacities" Ratio Neither [] "bytes written so far over the size";
    ROUND_END = "end" Seconds Neither [] "end of the round since the start";
    PRECONDITION = "precondition" Bytes Neither [] "bytes written before the first round";
    SIZE = "size" Bytes Neither [] "bytes that are written and read";
    PURGE_SAMPLED = "purge-sampled" Count Neither [] "blocks read back after the purge";
    PURGE_ZERO = "purge-zero" Count Neither [] "those that were zeroes";
    CELSIUS_BEFORE = "celsius-before" Count Neither []
        "temperature of the drive before the first round, degrees Celsius";
    CELSIUS_AFTER = "celsius-after" Count Neither [] "the same after the last round";
    WEAR_BEFORE = "wear-before" Share Neither []
        "share used of the writes that the maker promises, before the first round";
    WEAR_AFTER = "wear-after" Share Neither [] "the same after the last round";
    OVER_STEADY = "over-steady" Ratio Higher [] "IOPS over those of the steady state";
    BURSTS = "bursts" Count Neither [] "bursts that were measured";
    FIRST_BURST = "first" PerSecond Higher []
        "operations per second of the first burst, or bytes in a sequential test";
    LAST_BURST = "last" PerSecond Higher [] "the same of the last burst";
    ROUND_NUMBER = "number" Count Neither [] "number of the round";
    REQUESTS = "requests" Count Neither [] "requests that were replayed";
    RECORDED = "recorded" Count Neither [] "requests of the trace";
    FILES = "files" Count Neither [] "files or devices of the trace";
    EXTENT = "extent" Bytes Neither [] "bytes that the trace reaches to";
    MOVED = "moved" Count Neither [] "requests that were moved to fit the target";
    LEFT_OUT = "left-out" Count Neither [] "requests that were left out";
    TRACE_LENGTH = "trace-length" Seconds Neither [] "time that the trace lasts";
    STRETCH = "stretch" Share Lower [] "how much longer the replay took than its trace";
    BEHIND = "behind" Seconds Lower [] "mean time from when a request was due to its issue";
    BEHIND_P50 = "behind-p50" Seconds Lower [] "its median";
    BEHIND_P99 = "behind-p99" Seconds Lower [] "its 99th percentile";
    BEHIND_LONGEST = "behind-longest" Seconds Lower [] "its longest";
    LATE = "late" Share Lower [] "share of the requests that were issued late";
    WORKLOAD_NUMBER = "number" Count Neither [] "number of the workload";
    WORKLOADS = "workloads" Count Neither [] "workloads of the average";
    PLACE_SETS = "place-sets" Count Neither [] "sets of places that the workload was measured at";
    BEGUN = "begun" Seconds Neither [] "start since that of the run";
    GOALS_MET = "goals-met" Count Higher [] "1 where the goals are met, 0 where one is missed";
    MODE_FROM = "from" Seconds Neither [] "start of the mode since that of the run";

    // Of studies only, by the names in their tables.
    ARCHIVE_RATE = "archive rate" BytesPerSecond Higher ["archive"] "bytes put per second";
    ARCHIVE_CPU = "archive CPU" SecondsPerMib Lower ["archive"] "processor time for a MiB put";
    FILES_PUT = "files put" PerSecond Higher ["archive"] "files put per second";
    TIME_TO_PUT = "time to put" Seconds Lower ["archive"]
        "mean time of one file, until it is on stable storage, with the time of each";
    RETRIEVE_RATE = "retrieve rate" BytesPerSecond Higher ["retrieve"] "bytes got per second";
    RETRIEVE_CPU = "retrieve CPU" SecondsPerMib Lower ["retrieve"] "processor time for a MiB got";
    FILES_GOT = "files got" PerSecond Higher ["retrieve"] "files got per second";
    TIME_TO_GET = "time to get" Seconds Lower ["retrieve"]
        "mean time of one file, until it is written, with the time of each";
    SAVE_RATE = "save rate" BytesPerSecond Higher ["backup"]
        "bytes of the source saved per second, until the stream is synced";
    SAVE_CPU = "save CPU" SecondsPerMib Lower ["backup"] "processor time for a MiB saved";
    VERIFY_RATE = "verify rate" BytesPerSecond Higher ["backup"]
        "bytes of the source verified per second";
    VERIFY_CPU = "verify CPU" SecondsPerMib Lower ["backup"] "processor time for a MiB verified";
    RESTORE_RATE = "restore rate" BytesPerSecond Higher ["backup"]
        "bytes restored per second, until the files are synced";
    RESTORE_CPU = "restore CPU" SecondsPerMib Lower ["backup"] "processor time for a MiB restored";
    BACKUP_RATE = "backup rate" BytesPerSecond Higher ["backup"]
        "bytes of the source per second of saving and, if that is asked for, verifying";
    PROCESSOR_BUSY = "processor busy" Share Lower ["backup"] "between models: CPU utilisation";
    REPAIRED = "repaired" Count Lower ["backup"] "blocks that redundancy made up for";
    STREAM_SIZE = "stream size" Bytes Lower ["backup"] "bytes of the stream";
    OVERHEAD = "overhead" Share Lower ["backup"]
        "what the stream has beyond the source, as a share of the source";
    TAPE_STOPS = "tape stops" Count Neither ["backup" "copy" "fill" "streams"]
        "how often a simulated tape stopped streaming and backed up";
    HITS = "hits" Share Higher ["cache"] "hit ratio: share of reads answered from memory";
    BUFFER_HITS = "buffer hits" Share Higher ["cache"]
        "share answered by the program's own buffer";
    PAGE_CACHE_HITS = "page cache hits" Share Higher ["cache"]
        "share answered by the system's page cache";
    READ_TIME = "read time" Seconds Lower ["cache"]
        "mean time of a read, those from memory included";
    READS_PER_SECOND = "read rate" PerSecond Higher ["cache"]
        "reads per second (no upper bound where all come from the buffer of a model)";
    REAL = "real" Seconds Lower ["command"] "time from its start to its end";
    USER = "user" Seconds Lower ["command"] "processor time in programs";
    SYSTEM = "system" Seconds Lower ["command"] "processor time in the kernel";
    READ_CALLS = "reads" Count Neither ["command"]
        "its calls that read, of files and of all else that has a descriptor";
    BYTES_READ = "bytes read" Bytes Neither ["command"] "what they gave";
    FROM_STORAGE = "from storage" Bytes Lower ["command"]
        "bytes read from storage for them, mapped pages included";
    FROM_CACHE = "from the cache" Share Higher ["command"]
        "share of the bytes read that no storage gave. 0 where it read ahead more";
    COPY_TIME = "copy time" Seconds Lower ["copy"]
        "from the first read to the end of the last write, or sync";
    COPY_RATE = "copy rate" BytesPerSecond Higher ["copy"] "bytes copied per second";
    COPY_CPU = "copy CPU" SecondsPerMib Lower ["copy"] "processor time for a MiB copied";
    COPY_CALLS = "calls" Count Lower ["copy"] "reads and writes that this program asked for";
    COPY_ALLOCATIONS = "allocations" Count Neither ["copy"]
        "how often space was allocated for the copy";
    EXTENTS = "extents" Count Lower ["copy"]
        "pieces in which the copy lies, where the file system tells";
    COPY_DEVICE_READS = "device reads" Count Neither ["copy"]
        "reads that the device completed meanwhile, whoever asked for them";
    COPY_DEVICE_WRITES = "device writes" Count Neither ["copy"]
        "writes that the device completed meanwhile, whoever asked for them";
    CAPACITY = "capacity" Bytes Higher ["fill"] "bytes that fitted into the files";
    FILL_TIME = "fill time" Seconds Neither ["fill"] "from the first write to the last sync";
    FILL_RATE = "fill rate" BytesPerSecond Higher ["fill"]
        "bytes written per second, with the rate of each hundredth of the free space, or of each \
         larger record";
    FILL_CPU = "fill CPU" SecondsPerMib Lower ["fill"] "processor time for a MiB written";
    FILES_WRITTEN = "files" Count Neither ["fill"]
        "files that were written, the last one cut short";
    LEFT = "left" Bytes Lower ["fill"]
        "bytes that the file system still called free when it was full";
    FTP_RATE = "rate" BytesPerSecond Higher ["ftp"]
        "bytes per second of all transfers, from asking for the file to its end";
    RATE_EACH = "rate each" BytesPerSecond Higher ["ftp"]
        "bytes per second of one transfer, on average";
    FTP_TIME = "time" Seconds Lower ["ftp"] "from connecting to the end of everything";
    FTP_ROUND_TRIP = "round trip" Seconds Neither ["ftp"]
        "round-trip time of connecting, with small packets on an idle link";
    CLIENT_CPU_PER_MIB = "client CPU" SecondsPerMib Lower ["ftp"]
        "processor time of this program for a MiB";
    SERVER_CPU_PER_MIB = "server CPU" SecondsPerMib Lower ["ftp"]
        "processor time of the server for a MiB, when server is given";
    FTP_ALLOCATIONS = "allocations" Count Neither ["ftp"]
        "how often space was allocated for the local file, when extent is given";
    PAGE_TIME = "page time" Seconds Lower ["http"]
        "mean time of a whole page, from the start of its first request";
    PAGE_TIME_P95 = "page time 95 %" Seconds Lower ["http"]
        "p95 of the time of a whole page. Absent for few pages";
    REQUEST_TIME = "request time" Seconds Lower ["http"]
        "mean time of one request, with connecting where there was some";
    TIME_TO_FIRST_BYTE = "time to first byte" Seconds Lower ["http" "objects"]
        "mean time to the first byte of an answer, with connecting where there was some";
    REQUEST_RATE = "request rate" PerSecond Higher ["http"]
        "answers with a good status per second";
    BYTE_RATE = "byte rate" BytesPerSecond Higher ["http"] "bytes received per second, with heads";
    CLIENT_CPU = "client CPU" Seconds Lower ["http" "objects"]
        "processor time of this program for one request";
    SERVER_CPU = "server CPU" Seconds Lower ["http"]
        "processor time of the server for one request, when server is given";
    CONNECTIONS = "connections" Ratio Neither ["http" "objects"] "connections made for one request";
    FAILED_REQUESTS = "failed requests" Count Lower ["http" "objects"]
        "requests without a good answer, when they are counted";
    OPERATION_RATE = "operation rate" PerSecond Higher ["objects"]
        "puts, gets, heads, lists and deletes per second";
    FIRST_BYTE_P99 = "first-byte-p99" Seconds Lower ["objects"]
        "time to the first byte of the answer that 99 % of the gets took at most";
    GETS = "gets" PerSecond Higher ["objects"] "objects got per second";
    GET_LATENCY = "get latency" Seconds Lower ["objects"] "mean time of a get";
    GET_P99 = "get latency-p99" Seconds Lower ["objects"] "time that 99 % of the gets took at most";
    PUTS = "puts" PerSecond Higher ["objects"] "objects put per second";
    PUT_LATENCY = "put latency" Seconds Lower ["objects"] "mean time of a put, with all its parts";
    PUT_P99 = "put latency-p99" Seconds Lower ["objects"] "time that 99 % of the puts took at most";
    HEADS = "heads" PerSecond Higher ["objects"] "requests per second for the length of an object";
    HEAD_LATENCY = "head latency" Seconds Lower ["objects"] "mean time of such a request";
    HEAD_P99 = "head latency-p99" Seconds Lower ["objects"]
        "time that 99 % of them took at most";
    LISTS = "lists" PerSecond Higher ["objects"] "lists of all objects of the run per second";
    LIST_LATENCY = "list latency" Seconds Lower ["objects"]
        "mean time of a list, with all its pages";
    LIST_P99 = "list latency-p99" Seconds Lower ["objects"]
        "time that 99 % of the lists took at most";
    DELETES = "deletes" PerSecond Higher ["objects"] "objects deleted per second";
    DELETE_LATENCY = "delete latency" Seconds Lower ["objects"] "mean time of a delete";
    DELETE_P99 = "delete latency-p99" Seconds Lower ["objects"]
        "time that 99 % of the deletes took at most";
    THROTTLED_ANSWERS = "throttled answers" Count Lower ["objects"]
        "answers that asked for fewer requests (503, 429)";
    POSITIONING_MEAN = "mean time" Seconds Lower ["study positioning" "positioning"]
        "from the opening to the first record, with the time of each file";
    POSITIONING_MEDIAN = "median time" Seconds Lower ["study positioning"] "median time of a file";
    POSITIONING_LONGEST = "longest time" Seconds Lower ["study positioning" "positioning"]
        "that of the slowest file";
    ROUND_MEAN = "round-mean" Seconds Lower []
        "mean time of one round. Between its ends 95 % of the rounds lie";
    FILES_OF_ROUND = "files-of-round" Count Neither []
        "files of one round whose time is within the bin";
    BIN = "time-to-record" Seconds Neither [] "middle and ends of a bin of times";
    PUBLISHED_MEAN = "published-mean" Seconds Neither [] "mean time that a document states";
    PUBLISHED_FILES = "published-files" Count Neither []
        "files within the bin that a document states";
    PUBLISHED_RATIO = "over-published" Ratio Neither [] "simulated over published mean";
    TOTAL_RATE = "total rate" BytesPerSecond Higher ["streams"]
        "bytes of all streams over the time until the last one is done";
    STREAM_RATE = "stream rate" BytesPerSecond Higher ["streams"]
        "the mean of the streams' own rates, with each rate";
    FAIRNESS = "fairness" Share Higher ["streams"]
        "1 when all streams are equally fast, 1/N when one of N has all (R. Jain, 1984)";
    STREAMS_CPU = "streams CPU" SecondsPerMib Lower ["streams"]
        "processor time for a MiB, of all streams";
    TCP_RATE = "rate" BytesPerSecond Higher ["tcp"]
        "bytes per second, from connecting to the last byte at the receiver";
    IDLE_ROUND_TRIP = "idle round trip" Seconds Neither ["tcp"]
        "round-trip time of connecting, with small packets on an idle link";
    TCP_ROUND_TRIP = "round trip" Seconds Neither ["tcp"]
        "what the sender saw of it, on average";
    SENDER_CPU = "sender CPU" SecondsPerMib Lower ["tcp"] "processor time of the sender for a MiB";
    RECEIVER_CPU = "receiver CPU" SecondsPerMib Lower ["tcp"]
        "processor time of the receiver for a MiB";
    WRITE_RATE = "write rate" BytesPerSecond Higher ["study transfer"] "bytes per second written";
    WRITE_CPU = "write CPU" SecondsPerMib Lower ["study transfer"]
        "processor time for a MiB written";
    READ_RATE = "read rate" BytesPerSecond Higher ["study transfer"] "bytes per second read";
    READ_CPU = "read CPU" SecondsPerMib Lower ["study transfer"] "processor time for a MiB read";
    FROM_PAGE_CACHE = "from page cache" Share Neither ["study transfer"]
        "share of the bytes read that came from memory";
    DELIVERIES = "deliveries" PerSecond Higher ["mail"]
        "messages per second that are durable with their entry in the index";
    MESSAGE_SIZE = "message size" Bytes Neither ["mail"] "mean size of the messages delivered";
    MESSAGES_READ = "messages read" PerSecond Higher ["mail"] "messages read per second";
    MESSAGE_READ = "read latency" Seconds Lower ["mail"] "mean time to read a message";
    COMMITS = "commits" PerSecond Higher ["wal"] "records made durable per second";
    RECORDS_PER_APPEND = "records per append" Count Neither ["wal"]
        "mean number made durable together";
    DEVICE_BYTES_PER_BYTE = "device bytes per byte" Ratio Neither ["wal"]
        "bytes that the device wrote for each byte of a record, where it counts them";
}

/// Names and units of the metrics that goals of a command can use; empty if it has no goals.
pub fn metrics_of(command: &str) -> Vec<(String, Unit)> {
    let mut found = Vec::new();
    for metric in METRICS {
        if metric.goals.contains(&command) {
            found.push((metric.name.to_owned(), metric.unit));
        }
        if metric.percentiles.contains(&command) {
            let names = PERCENTILES.iter();
            let names = names.map(|it| format!("{}-{}", metric.name, it.name));
            found.extend(names.map(|name| (name, metric.unit)));
        }
    }
    found
}

/// Whether some command has figures of that name: a metric, one of its percentiles, or one derived
/// from it by the SSD tests.
pub fn is_metric(name: &str) -> bool {
    let name = name.strip_prefix("pts-").unwrap_or(name);
    let is_percentile = |rest: &str| {
        rest.strip_prefix("-p")
            .is_some_and(|it| it.parse::<f64>().is_ok())
    };
    let is_of = |metric: &KnownMetric| {
        let rest = name.strip_prefix(metric.name);
        rest.is_some_and(|rest| rest.is_empty() || is_percentile(rest))
    };
    name == PRECONDITION_RATE || METRICS.iter().any(is_of)
}

/// The rate at which an SSD was written full before its test.
pub(crate) const PRECONDITION_RATE: &str = "precondition-rate";

impl KnownMetric {
    /// A column with this metric.
    pub fn of(&self, value: Estimate) -> Figure {
        self.named(self.name, value)
    }

    /// A column with a more specific name.
    pub(crate) fn named(&self, name: impl Into<String>, value: Estimate) -> Figure {
        Figure::new(name, self.unit, self.better, value)
    }

    /// A time given in nanoseconds.
    pub fn of_ns(&self, value: Estimate) -> Figure {
        self.of(value.scale(NS))
    }

    /// A detail whose error is unknown.
    pub fn bare(&self, value: f64) -> Figure {
        let value = Estimate::exact(value, 1.0).without_interval();
        self.of(value).as_role(Role::Detail)
    }

    /// The same for nanoseconds.
    pub fn bare_ns(&self, ns: f64) -> Figure {
        self.bare(ns / 1e9)
    }

    /// A detail without error, such as a count, and without a better direction.
    pub fn exact(&self, value: impl Into<f64>) -> Figure {
        let value = Estimate::exact(value.into(), 1.0);
        Figure::new(self.name, self.unit, Better::Neither, value).as_role(Role::Detail)
    }

    /// A whole number.
    pub fn count(&self, value: u64) -> Figure {
        self.exact(value as f64)
    }

    /// The value of one repetition.
    pub fn reading(&self, value: f64) -> Reading {
        Reading::new(self.name, self.unit, value, self.better)
    }

    /// The mean and the percentiles of a time.
    pub fn of_times<'a>(&self, times: &'a Times) -> impl Iterator<Item = Figure> + use<'a> {
        let metric = *self;
        let percentile = move |it: &PercentileEstimate| {
            let name = format!("{}-{}", metric.name, percentile_name(it.p));
            let figure = Figure {
                is_indicative: it.is_indicative,
                ..metric.named(name, it.estimate?.scale(NS))
            };
            Some(match it.is_detail() {
                true => figure.as_role(Role::Detail),
                false => figure,
            })
        };
        let percentiles = times.percentiles.iter().filter_map(percentile);
        std::iter::once(metric.of_ns(times.mean)).chain(percentiles)
    }
}
