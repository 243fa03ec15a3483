//! fio's options that belong to no engine.

use crate::option::OptionSupport::{Done, NoEffect, Refused};
use crate::option::ValueKind::{
    Amount, Bool, Flag, Floats, Int, Ints, MaybeText, Micros, OneOf, Seconds, Size, Sizes, Text,
};
use crate::option::{FioOption, OptionSupport, ValueKind};

const MANY: i64 = i64::MAX;

const GENERATORS: ValueKind = OneOf(&["tausworthe", "lfsr", "tausworthe64"]);
const NUMA_POLICIES: ValueKind = OneOf(&["default", "prefer", "bind", "interleave", "local"]);
const MEMORY: ValueKind = OneOf(&[
    "malloc",
    "shm",
    "shmhuge",
    "mmap",
    "mmaphuge",
    "mmapshared",
    "cudamalloc",
]);
const FALLOCATE: ValueKind = OneOf(&["none", "native", "posix", "keep", "truncate", "0", "1"]);
const DONE: OptionSupport = Done("");
const GONE: &str = "deprecated, and fio ends with an error, too. Leave it out";
const MEASURED: &str =
    "every I/O is timed anyway, by one clock that is checked against the system's";
const FORM: &str = "it sets the form of a report. Ours always holds all of it";
const PLACING: &str =
    "workers are placed by the system, or with --cpus. CPUs that are not there are no error";
const OWN_PRIORITY: &str =
    "workers have the priority of the program. Start it with nice or ionice, or use cmdprio";
const STREAMED: &str = "log lines are written at once, not buffered";
const NO_LOG: &str = "every I/O is timed anyway. Its log is not written";
const FILETYPE: &str = "the file type is detected, not set";
const EXITALL: &str =
    "all jobs of the phase end with the first of them, when their I/O under way is done";
const EXIT_WHAT: &str = "those that run together, or all where no later jobs would run";
const GO_ON: &str = "of all jobs or of none: failed operations are counted, whatever kind is named";
const ERRORS: &str = "the first failed operation ends the run";
const ONLY_MADE: &str =
    "no I/O. Without --keep-files they are removed at the end, and the next run lays out its own";
const PRE_READ: &str = "before the job's phase. Its files are not dropped from the page cache";
const NO_LIST: &str =
    "no list of errors is kept, and continue_on_error=all counts and goes on with any";
const SOME_OPEN: &str =
    "the order of requests stays. A file is opened for its next request, and another one closed";
const FILES: &str = "files are laid out whole before any job starts, and nothing else is filled";
const FILLED: &str = "by writes in order: a new file up to the reserve of free space, devices to \
                      their end";
const SEQUENCER: &str = "separate offset sequences are not supported";
const REFILLED: &str = "the depth is filled again when that number is done, or left";
const NO_OVERLAP: &str = "of jobs that reach each block once: none of their requests overlap";
const OFFLOADED: &str = "a synchronous engine then has iodepth requests outstanding";
const ONE_LOOP: &str = "where size is done once: files of ours are removed at the end";
const DISTRIBUTIONS: &str = "random, zipf, pareto, normal, zoned and zoned_abs, without a centre";
const ADDRESSES: &str = "this way to choose offsets is not supported";
const NOT_IN_LOOPS: &str = "refused with loops, where fio counts anew in each";
const NO_BARRIER: &str = "no engine for files and devices sends any, in fio either";
const NO_NETWORK: &str = "it separates jobs of several hosts, and there is one here";
const NO_SPIN: &str = "a pause lasts as long, and takes no processor time";
const SEQ_RAND: &str = "of jobs that are all in order, or all at random";
const GROUPED: &str =
    "a job without it is a row of its own. fio adds it to the row of a later job that has it";
const SYNCS: &str =
    "this flush is not supported, but fsync, fdatasync, sync_file_range, sync and end_fsync are";
const HEADERS: &str = "by our own header in each sector, with CRC-32C, whatever the method";
const EACH_SECTOR: &str = "each sector has its own header, at its beginning";
const AT_THE_END: &str = "what was written is read back when its jobs are done, not in between";
const IN_MEMORY: &str = "what was written is kept as it happens, and nothing is drawn anew";
const READ_IT: &str = "make it rw=read, which verifies what was written before";
const BEHIND: &str = "behind each header, to its sector's end. Texts, numbers and files";
const NO_DUMP: &str = "a finding tells offset, expected and found. No file is written";
const READERS_JUDGE: &str = "reads are verified where they are read";
const TRIM: &str = "this trim option is not supported, but rw=trim and rw=trimwrite are";
const LOGGED: &str = "version 3, one job a file, as `seekstone replay` reads it";
const ZONES: &str = "zoned devices are not supported, but zonemode=strided is";
const STRIDED: &str = "strided, of one file, in blocks of one size";
const ENDS_BELOW: &str = "the job ends with error 5 when it is below that rate over rate_cycle";
const IN_FLOW: &str = "of jobs that run together: each request takes a token, as in fio";
const NOT_ATOMIC: &str =
    "no write asks the kernel for RWF_ATOMIC here. Leave it out to write as usual";
const REPLAYED: &str =
    "version 2 or 3, at its own pace. `seekstone replay` takes more, and larger ones";
const MERGED: &str = "seekstone replay runs traces of blktrace";
const REPLAYED_WHOLE: &str = "a log is read before any job starts";
const REPLAYED_OTHERWISE: &str =
    "a log is replayed unchanged. `seekstone replay` has --scale and --fit";
const PLACEMENT: &str = "data placement is not supported";
const PACE: &str = "this pacing is not supported, but rate, rate_iops and thinktime are";
const TARGETS: &str = "seekstone curve TARGET --level 5ms@p99.9 finds the load at a latency";
const NO_LIMIT: &str = "no job ends at one latency. --goal 'JOB.p99 <= 10ms' judges them all";
const ARRIVALS: &str = "gaps are exact to the nanosecond. Those of fio are cut to microseconds";
const STEADY: &str = "of jobs that are one row of the report. By fio's rule, on exact rates";
const SYSTEM: &str = "jobs start no programs and change no system settings";
const ORDER: &str = "where the job waits for all jobs that run at the same time";
const LOCKS: &str = "locks between jobs are not supported";
const TOGETHER: &str = "what is ready enters the kernel together, whatever the number";
const AT_MOST: &str = "it is an upper bound. Completions are reaped together here too";
const NO_MAP: &str = "addresses without repeats come from a permutation that needs no map";
const ONE_NAME: &str = "copies that it gives no file of their own do nothing, as in fio";
const GENERATOR: &str =
    "lfsr reaches each block of one size once, also with norandommap. Random numbers are ours";
const LAID_OUT: &str =
    "files are laid out whole, one after the other, and synced before any job starts";
const BUFFERS: &str = "buffers are ours: aligned, in huge pages where the system has them";
const WITHOUT_TRIM: &str = "it needs trim_percentage, which is refused by itself";
const WITHOUT_TRACE: &str = "it needs merge_blktrace_file, which is refused by itself";
const SCHEDULER: &str = "the scheduler of a device is the system's. Set it before the run";
const WITHOUT_ENGINE: &str = "it needs an engine or a placement that is refused by itself";
const WITHOUT_TARGET: &str = "it needs latency_target, which is refused by itself";
const AS_SYNCED: &str =
    "dsync writes as with O_DSYNC. Otherwise an fsync follows each write, and both count as one";
const OURS_GO: &str =
    "files that this run made are removed at its end in any case, or with --keep-files as in fio";
const NO_PROCESS: &str =
    "a job is neither a process nor a thread here: a few workers drive all clients";
const EXACT: &str = "the share is kept exactly, not on average";
const UNSCRAMBLED: &str = "without it one buffer is sent again and again";
const SHARE_ALONE: &str = "it changes which block is repeated, and not how many are";
const WITHOUT_CGROUP: &str = "it needs cgroup, which is refused by itself";

pub const fn row(
    name: &'static str,
    alias: &'static str,
    value: ValueKind,
    answer: OptionSupport,
) -> FioOption {
    FioOption {
        name,
        alias,
        value,
        answer,
        rank: 0,
    }
}

impl FioOption {
    /// Applied before all others.
    const fn early(self) -> Self {
        Self { rank: 1, ..self }
    }

    /// Applied after all others.
    const fn late(self) -> Self {
        Self { rank: -1, ..self }
    }
}

/// In the order of fio's help.
#[rustfmt::skip]
pub const GENERIC: &[FioOption] = &[
    row("description", "", Text, NoEffect("saved with the run, without effect")),
    row("name", "", Text, DONE),
    row("wait_for", "", Text, Done(ORDER)),
    row("filename", "", Text, Done("a directory that is missing is an error")).late(),
    row("filetype", "", OneOf(&["none", "file", "block", "char"]), Refused(FILETYPE)),
    row("directory", "", Text, DONE),
    row("filename_format", "", Text, Done(ONE_NAME)).late(),
    row("unique_filename", "", Bool, NoEffect(NO_NETWORK)),
    row("lockfile", "", OneOf(&["none", "exclusive", "readwrite"]), Refused(LOCKS)).early(),
    row("opendir", "", Text, Refused(FILES)),
    row("rw", "readwrite", Text, DONE),
    row("rw_sequencer", "", OneOf(&["sequential", "identical"]), Refused(SEQUENCER)),
    row("ioengine", "", Text, DONE),
    row("iodepth", "", Int(1, MANY), Done("65536 at most")),
    row("iodepth_batch", "iodepth_batch_submit", Int(0, MANY), NoEffect(TOGETHER)),
    row("iodepth_batch_complete_min", "iodepth_batch_complete", Int(0, MANY), Done(REFILLED)),
    row("iodepth_batch_complete_max", "", Int(0, MANY), NoEffect(AT_MOST)),
    row("iodepth_low", "", Int(0, MANY), Done(REFILLED)),
    row("serialize_overlap", "", Bool, Done(NO_OVERLAP)),
    row("io_submit_mode", "", OneOf(&["inline", "offload"]), Done(OFFLOADED)),
    row("size", "", Amount, DONE),
    row("io_size", "io_limit", Amount, DONE),
    row("fill_device", "fill_fs", Bool, Done(FILLED)),
    row("filesize", "", Text, Done("of a range each file draws its own")),
    row("file_append", "", Bool, Refused(FILES)),
    row("offset", "fileoffset", Amount, DONE),
    row("offset_align", "", Int(0, MANY), Refused(ADDRESSES)),
    row("offset_increment", "", Amount, DONE),
    row("number_ios", "", Size, Done(NOT_IN_LOOPS)),
    row("num_range", "", Int(0, MANY), Refused(ADDRESSES)),
    row("bs", "blocksize", Sizes, DONE),
    row("ba", "blockalign", Sizes, Done("one for reads and writes")),
    row("bsrange", "blocksize_range", Text, DONE),
    row("bssplit", "", Text, DONE),
    row("bs_unaligned", "blocksize_unaligned", Flag, Refused(ADDRESSES)),
    row("bs_is_seq_rand", "", Bool, Done(SEQ_RAND)),
    row("randrepeat", "", Bool, NoEffect("random numbers come from the run's seed. Set --seed")),
    row("randseed", "", Text, NoEffect("random numbers come from the run's seed. Set --seed")),
    row("norandommap", "", Flag, DONE),
    row("softrandommap", "", Bool, NoEffect(NO_MAP)),
    row("sprandom", "", Bool, Refused(ADDRESSES)),
    row("spr_num_regions", "", Int(0, MANY), Refused(ADDRESSES)),
    row("spr_op", "", Floats, Refused(ADDRESSES)),
    row("spr_cs", "", Int(0, MANY), Refused(ADDRESSES)),
    row("random_generator", "", GENERATORS, Done(GENERATOR)),
    row("random_distribution", "", Text, Done(DISTRIBUTIONS)),
    row("random_sequence_stride", "", Bool, Refused(ADDRESSES)),
    row("percentage_random", "", Ints(0, 100), DONE),
    row("percentage_sequential", "", Text, Refused(GONE)),
    row("nrfiles", "nr_files", Int(1, MANY), DONE),
    row("openfiles", "", Int(0, MANY), Done(SOME_OPEN)),
    row("file_service_type", "", Text, Done("roundrobin, random and sequential, each with :N")),
    row("fallocate", "", FALLOCATE, NoEffect(LAID_OUT)),
    row("fadvise_hint", "", OneOf(&["0", "1", "random", "sequential"]), DONE),
    row("fsync", "", Int(0, MANY), DONE),
    row("fdatasync", "", Int(0, MANY), DONE),
    row("write_barrier", "", Int(0, MANY), NoEffect(NO_BARRIER)),
    row("sync_file_range", "", Text, DONE),
    row("direct", "", Bool, DONE),
    row("atomic", "", Bool, Refused(NOT_ATOMIC)),
    row("buffered", "", Bool, DONE),
    row("overwrite", "", Bool, NoEffect(LAID_OUT)),
    row("loops", "", Int(0, MANY), DONE),
    row("numjobs", "", Int(1, MANY), DONE),
    row("startdelay", "", Text, Done("one delay, and no range of them")),
    row("runtime", "timeout", Seconds, DONE),
    row("time_based", "", Flag, DONE),
    row("verify_only", "", Flag, Refused(READ_IT)),
    row("ramp_time", "", Seconds, DONE),
    row("ramp_size", "", Size, Refused(ADDRESSES)),
    row("clocksource", "", OneOf(&["gettimeofday", "clock_gettime", "cpu"]), NoEffect(MEASURED)),
    row("mem", "iomem", MEMORY, NoEffect(BUFFERS)),
    row("iomem_align", "mem_align", Int(0, MANY), NoEffect(BUFFERS)),
    row("verify", "", Text, Done(HEADERS)),
    row("do_verify", "", Bool, DONE),
    row("verify_policy", "", Text, NoEffect(AT_THE_END)),
    row("verifysort", "", Text, NoEffect("deprecated: fio ignores it")),
    row("verifysort_nr", "", Text, NoEffect("deprecated: fio ignores it")),
    row("verify_interval", "", Int(80, MANY), NoEffect(EACH_SECTOR)),
    row("verify_offset", "", Int(40, MANY), NoEffect(EACH_SECTOR)),
    row("verify_pattern", "", Text, Done(BEHIND)),
    row("verify_pattern_interval", "", Int(0, MANY), NoEffect(BEHIND)),
    row("verify_fatal", "", Bool, Done("reading back ends with the first finding")),
    row("verify_dump", "", Bool, NoEffect(NO_DUMP)),
    row("verify_async", "", Int(0, MANY), NoEffect(READERS_JUDGE)),
    row("verify_backlog", "", Size, NoEffect(AT_THE_END)),
    row("verify_backlog_batch", "", Int(0, MANY), NoEffect(AT_THE_END)),
    row("verify_async_cpus", "", Text, NoEffect(READERS_JUDGE)),
    row("experimental_verify", "", Bool, NoEffect(IN_MEMORY)),
    row("verify_state_load", "", Bool, Refused("fio's state file says nothing about our headers")),
    row("verify_state_save", "", Bool, NoEffect(IN_MEMORY)),
    row("verify_write_sequence", "", Bool, NoEffect(IN_MEMORY)),
    row("verify_header_seed", "", Bool, NoEffect(IN_MEMORY)),
    row("trim_percentage", "", Int(0, 100), Refused(TRIM)),
    row("trim_verify_zero", "", Bool, NoEffect(WITHOUT_TRIM)),
    row("trim_backlog", "", Size, NoEffect(WITHOUT_TRIM)),
    row("trim_backlog_batch", "", Int(0, MANY), NoEffect(WITHOUT_TRIM)),
    row("write_iolog", "", Text, Done(LOGGED)),
    row("read_iolog", "", Text, Done(REPLAYED)),
    row("read_iolog_chunked", "", Bool, NoEffect(REPLAYED_WHOLE)),
    row("replay_no_stall", "", Bool, DONE),
    row("replay_redirect", "", Text, DONE),
    row("replay_scale", "", Int(0, MANY), Refused(REPLAYED_OTHERWISE)),
    row("replay_align", "", Int(0, MANY), Refused(REPLAYED_OTHERWISE)),
    row("replay_time_scale", "", Int(1, MANY), Refused(REPLAYED_OTHERWISE)),
    row("replay_skip", "", Text, Refused(REPLAYED_OTHERWISE)),
    row("merge_blktrace_file", "", Text, Refused(MERGED)),
    row("merge_blktrace_scalars", "", Floats, NoEffect(WITHOUT_TRACE)),
    row("merge_blktrace_iters", "", Floats, NoEffect(WITHOUT_TRACE)),
    row("exec_prerun", "", Text, Refused(SYSTEM)),
    row("exec_postrun", "", Text, Refused(SYSTEM)),
    row("ioscheduler", "", Text, Refused(SCHEDULER)),
    row("zonemode", "", OneOf(&["none", "strided", "zbd"]), Done(STRIDED)),
    row("zonesize", "", Size, DONE),
    row("zonecapacity", "", Size, Refused(ZONES)),
    row("zonerange", "", Size, DONE),
    row("zoneskip", "", Amount, DONE),
    row("read_beyond_wp", "", Bool, Refused(ZONES)),
    row("max_open_zones", "", Int(0, MANY), Refused(ZONES)),
    row("job_max_open_zones", "", Int(0, MANY), Refused(ZONES)),
    row("ignore_zone_limits", "", Bool, Refused(ZONES)),
    row("zone_reset_threshold", "", Floats, Refused(ZONES)),
    row("zone_reset_frequency", "", Floats, Refused(ZONES)),
    row("recover_zbd_write_error", "", Bool, Refused(ZONES)),
    row("write_zone_remainder", "", Bool, Refused(ZONES)),
    row("fdp", "", Bool, Refused(PLACEMENT)),
    row("dataplacement", "data_placement", OneOf(&["none", "fdp", "streams"]), Refused(PLACEMENT)),
    row("plid_select", "fdp_pli_select", Text, NoEffect(WITHOUT_ENGINE)),
    row("plids", "fdp_pli", Text, NoEffect(WITHOUT_ENGINE)),
    row("dp_scheme", "", Text, NoEffect(WITHOUT_ENGINE)),
    row("lockmem", "", Size, NoEffect(BUFFERS)),
    row("rwmixread", "", Int(0, 100), DONE),
    row("rwmixwrite", "", Int(0, 100), DONE),
    row("rwmixcycle", "", Text, Refused(GONE)),
    row("comm", "", Text, NoEffect("saved with the run, without effect")),
    row("nice", "", Int(-20, 19), NoEffect(OWN_PRIORITY)),
    row("prio", "", Int(0, 7), NoEffect(OWN_PRIORITY)),
    row("prioclass", "", Int(0, 3), NoEffect(OWN_PRIORITY)),
    row("priohint", "", Int(0, 1023), NoEffect(OWN_PRIORITY)),
    row("thinktime", "", Micros, DONE),
    row("thinktime_spin", "", Micros, NoEffect(NO_SPIN)),
    row("thinkcycles", "", Int(0, MANY), Refused(PACE)),
    row("thinktime_blocks", "", Int(0, MANY), DONE),
    row("thinktime_blocks_type", "", OneOf(&["complete", "issue"]), DONE),
    row("thinktime_iotime", "", Micros, Refused(PACE)),
    row("rate", "", Sizes, DONE),
    row("rate_min", "ratemin", Sizes, Done(ENDS_BELOW)),
    row("rate_iops", "", Ints(0, MANY), DONE),
    row("rate_iops_min", "", Ints(0, MANY), Done(ENDS_BELOW)),
    row("rate_process", "", OneOf(&["linear", "poisson"]), Done(ARRIVALS)),
    row("rate_cycle", "ratecycle", Int(0, MANY), DONE),
    row("rate_ignore_thinktime", "", Bool, DONE),
    row("max_latency", "", Text, Refused(NO_LIMIT)),
    row("latency_target", "", Micros, Refused(TARGETS)),
    row("latency_window", "", Micros, NoEffect(WITHOUT_TARGET)),
    row("latency_percentile", "", Floats, NoEffect(WITHOUT_TARGET)),
    row("latency_run", "", Bool, NoEffect(WITHOUT_TARGET)),
    row("invalidate", "", Bool, DONE),
    row("sync", "", OneOf(&["none", "0", "sync", "1", "dsync"]), Done(AS_SYNCED)),
    row("write_hint", "", Text, Refused(SYNCS)),
    row("create_serialize", "", Bool, NoEffect(LAID_OUT)),
    row("create_fsync", "", Bool, NoEffect(LAID_OUT)),
    row("create_on_open", "", Bool, NoEffect(LAID_OUT)),
    row("create_only", "", Bool, Done(ONLY_MADE)),
    row("allow_file_create", "", Bool, DONE),
    row("allow_mounted_write", "", Bool, Refused(FILES)),
    row("pre_read", "", Bool, Done(PRE_READ)),
    row("cpumask", "", Text, NoEffect(PLACING)),
    row("cpus_allowed", "", Text, NoEffect(PLACING)),
    row("cpus_allowed_policy", "", OneOf(&["shared", "split"]), NoEffect(PLACING)).early(),
    row("numa_cpu_nodes", "", Text, NoEffect(PLACING)),
    row("numa_mem_policy", "", NUMA_POLICIES, NoEffect(PLACING)),
    row("gpu_dev_id", "", Int(0, MANY), NoEffect(WITHOUT_ENGINE)),
    row("end_fsync", "", Bool, DONE),
    row("fsync_on_close", "", Bool, Done("an fsync is sent when the job ends")),
    row("end_syncfs", "", Bool, Refused(SYNCS)),
    row("unlink", "", Bool, Done(OURS_GO)),
    row("unlink_each_loop", "", Bool, Done(ONE_LOOP)),
    row("exitall", "", Flag, Done(EXITALL)),
    row("exit_what", "", OneOf(&["group", "stonewall", "all"]), Done(EXIT_WHAT)),
    row("exitall_on_error", "", Flag, NoEffect(ERRORS)),
    row("stonewall", "wait_for_previous", Flag, DONE),
    row("new_group", "", Flag, DONE),
    row("thread", "", Flag, NoEffect(NO_PROCESS)),
    row("per_job_logs", "", Bool, DONE),
    row("write_bw_log", "", MaybeText, DONE),
    row("write_lat_log", "", MaybeText, DONE),
    row("write_iops_log", "", MaybeText, DONE),
    row("log_entries", "", Int(1024, MANY), NoEffect(STREAMED)),
    row("log_avg_msec", "", Int(0, MANY), Done("a window's rate counts exactly its operations")),
    row("log_hist_msec", "", Int(0, MANY), DONE),
    row("log_hist_coarseness", "", Int(0, 6), DONE),
    row("write_hist_log", "", MaybeText, DONE),
    row("log_window_value", "", OneOf(&["avg", "max", "both", "0", "1"]), DONE),
    row("log_offset", "", Bool, DONE),
    row("log_prio", "", Bool, DONE),
    row("log_issue_time", "", Bool, DONE),
    row("log_compression", "", Int(1024, MANY), NoEffect(STREAMED)),
    row("log_compression_cpus", "", Text, NoEffect(STREAMED)),
    row("log_store_compressed", "", Bool, Refused("logs are text here, and not compressed")),
    row("log_alternate_epoch", "", Bool, DONE),
    row("log_alternate_epoch_clock_id", "", Int(0, MANY), Refused("use log_unix_epoch")),
    row("block_error_percentiles", "", Bool, NoEffect(FORM)),
    row("bwavgtime", "", Int(0, MANY), NoEffect(FORM)),
    row("iopsavgtime", "", Int(0, MANY), NoEffect(FORM)),
    row("group_reporting", "", Flag, Done(GROUPED)),
    row("stats", "", Bool, NoEffect(MEASURED)),
    row("zero_buffers", "", Flag, DONE),
    row("refill_buffers", "", Flag, DONE),
    row("scramble_buffers", "", Bool, Done(UNSCRAMBLED)),
    row("buffer_pattern", "", Text, Done("texts, numbers, and files of 16 KiB at most")),
    row("buffer_compress_percentage", "", Int(0, 100), Done(EXACT)),
    row("buffer_compress_chunk", "", Int(0, MANY), DONE),
    row("dedupe_percentage", "", Int(0, 100), Done(EXACT)),
    row("dedupe_global", "", Bool, NoEffect(SHARE_ALONE)),
    row("dedupe_mode", "", OneOf(&["repeat", "working_set"]), NoEffect(SHARE_ALONE)),
    row("dedupe_working_set_percentage", "", Int(0, 100), NoEffect(SHARE_ALONE)),
    row("clat_percentiles", "", Bool, DONE),
    row("lat_percentiles", "", Bool, DONE),
    row("slat_percentiles", "", Bool, DONE),
    row("percentile_list", "", Floats, DONE),
    row("significant_figures", "", Int(1, 10), NoEffect(FORM)),
    row("disk_util", "", Bool, NoEffect(FORM)),
    row("gtod_reduce", "", Bool, Done(NO_LOG)),
    row("disable_lat", "", Bool, Done(NO_LOG)),
    row("disable_clat", "", Bool, Done(NO_LOG)),
    row("disable_slat", "", Bool, Done(NO_LOG)),
    row("disable_bw_measurement", "disable_bw", Bool, NoEffect(MEASURED)),
    row("gtod_cpu", "", Int(0, MANY), NoEffect(MEASURED)),
    row("job_start_clock_id", "", Int(0, MANY), NoEffect(FORM)),
    row("unified_rw_reporting", "", OneOf(&["none","mixed","both","0","1","2"]), DONE),
    row("continue_on_error", "", Text, Done(GO_ON)),
    row("ignore_error", "", Text, Refused(NO_LIST)),
    row("error_dump", "", Bool, NoEffect("the first error is always printed")),
    row("profile", "", Text, Refused(SYSTEM)),
    row("threads", "", Int(0, MANY), NoEffect("it belongs to the profile tiobench")),
    row("cgroup", "", Text, Refused(SYSTEM)),
    row("cgroup_nodelete", "", Bool, NoEffect(WITHOUT_CGROUP)),
    row("cgroup_weight", "", Int(100, 1000), NoEffect(WITHOUT_CGROUP)),
    row("uid", "", Int(0, MANY), Refused(SYSTEM)),
    row("gid", "", Int(0, MANY), Refused(SYSTEM)),
    row("kb_base", "", OneOf(&["1024", "1000"]), DONE).early(),
    row("unit_base", "", OneOf(&["0", "8", "1"]), NoEffect(FORM)).early(),
    row("hugepage-size", "", Int(0, MANY), NoEffect(BUFFERS)),
    row("flow_id", "", Int(0, MANY), DONE),
    row("flow", "", Int(0, 1000), Done(IN_FLOW)),
    row("flow_watermark", "", Text, NoEffect("deprecated: fio ignores it")),
    row("flow_sleep", "", Int(0, MANY), DONE),
    row("steadystate", "ss", Text, Done(STEADY)),
    row("steadystate_duration", "ss_dur", Seconds, DONE),
    row("steadystate_ramp_time", "ss_ramp", Seconds, DONE),
    row("steadystate_check_interval", "ss_interval", Seconds, DONE),
    row("allrandrepeat", "", Bool, NoEffect("random numbers come from the run's seed. Set --seed")),
    row("log_max_value", "", Bool, DONE),
    row("log_unix_epoch", "", Bool, DONE),
];
