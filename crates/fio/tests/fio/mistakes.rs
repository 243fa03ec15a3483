//! Mistakes in job files: each is one sentence with file and line.

use crate::support::Around;
use fio::{read_job_file, resolve};

/// A job file, and what is said of it; an empty line stands for the end of what is looked at.
const MISTAKES: &[(&str, &str)] = &[
    (
        "[a]\nrw=randread\nnorandommap\nserialize_overlap=1\n",
        "j.fio:4: serialize_overlap=1 is refused: requests of this job may overlap",
    ),
    (
        "[a]\nloops=2\nunlink_each_loop=1\n",
        "j.fio:3: unlink_each_loop=1 is refused: files stay open until size is done",
    ),
    (
        "[a]\nwait_for=a\nstonewall\n",
        "j.fio:2: wait_for=a is refused: as in fio, that job must stand before this one",
    ),
    (
        "[a]\ncreate_only=1\n[b]\nexitall\n",
        "j.fio:2: create_only=1 is refused: it ends at once, and with exitall all jobs",
    ),
    (
        "[a]\nrw=randread\nba=0\n",
        "j.fio:3: ba=0: an alignment has at least one byte",
    ),
    (
        "[a]\nioengine=psync\nsqthread_poll=1\n",
        "j.fio:3: sqthread_poll=1 is refused: as in fio it goes with ioengine=io_uring",
    ),
    (
        "[a]\nioengine=libaio\nhipri\n",
        "j.fio:3: hipri is refused: as in fio it goes with ioengine=pvsync2 or io_uring",
    ),
    (
        "[a]\nmem=heap\n",
        "j.fio:2: mem=heap: \"heap\" is none of malloc, shm",
    ),
    (
        "[a]\nverify_interval=0\n",
        "j.fio:2: verify_interval=0: 0 is below 80",
    ),
    (
        "[a]\nlog_entries=10\n",
        "j.fio:2: log_entries=10: 10 is below 1024",
    ),
    (
        "[a]\nsteadystate=mood:1%\n",
        "j.fio:2: steadystate=mood:1%: \"mood\" is none of iops, bw, lat",
    ),
    (
        "[a]\nss=iops:1%\nss_dur=10\n[b]\nrw=write\n",
        "j.fio:3: steadystate_duration=10 is refused: of jobs side by side it is done where all",
    ),
    (
        "[a]\nrw=randread\nsize=1m\nbs=64k,4k\nbs_is_seq_rand=1\n",
        "j.fio:5: bs_is_seq_rand=1 is refused: fio's random jobs of such sizes end early",
    ),
    (
        "[a]\nsize=${NOPE}\n",
        "j.fio:2: size=: needs a value. The environment variable NOPE is not set",
    ),
    (
        "[a]\nrw=randread\npercentage_random=50\nbs_is_seq_rand=1\n",
        "j.fio:4: bs_is_seq_rand=1 is refused: some requests of this job are in order",
    ),
    (
        "[a]\nexitall\nexit_what=all\n[b]\nstonewall\n",
        "j.fio:3: exit_what=all is refused: later jobs run all the same",
    ),
    (
        "[a]\nfill_device=1\nrw=randwrite\nfilename=f\n",
        "j.fio:2: fill_device=1 is refused: a file system is filled by rw=write alone",
    ),
    (
        "[a]\nfilesize=2m-1m\n",
        "j.fio:2: filesize=2m-1m: the first size is above the second",
    ),
    (
        "[a]\nbuffer_pattern='gone'\n",
        "j.fio:2: buffer_pattern='gone': no such file",
    ),
    (
        "[a]\nioengine=libaio\ncmdprio_percentage=101\n",
        "j.fio:3: cmdprio_percentage=101: \"101\" is no number from 0 to 100",
    ),
    (
        "[a]\ncmdprio_percentage=10\n",
        "j.fio:2: cmdprio_percentage=10 is refused: as in fio it goes with ioengine=libaio",
    ),
    (
        "[a]\nrw=trimwrite\nbs=4k,4k,8k\n",
        "j.fio:2: rw=trimwrite is refused: trims and writes share one bs and one rate",
    ),
    (
        "[a]\nlatency_target=5ms\n",
        "j.fio:2: latency_target=5ms is refused: seekstone curve TARGET --level 5ms@p99.9 finds",
    ),
    (
        "[a]\nsize=1m\n[b]\ncontinue_on_error=all\n",
        "j.fio:4: continue_on_error=all is refused: it is done for all jobs or for none",
    ),
    (
        "rw=read\n",
        "j.fio:1: rw=read stands outside of a section. Begin one with [name]",
    ),
    ("[a\nrw=read\n", "j.fio:1: [a: a section is written [name]"),
    ("[]\n", "j.fio:1: []: a section needs a name"),
    (
        "[globalfoo]\nbs=4k\n",
        "j.fio:1: fio takes [globalfoo] for global options",
    ),
    (
        "[a]\nbss=4k\n",
        "j.fio:2: fio has no option \"bss\". Did you mean bs?",
    ),
    (
        "[a]\niodpth=4\n",
        "j.fio:2: fio has no option \"iodpth\". Did you mean iodepth?",
    ),
    (
        "[a]\nrw=red\n",
        "j.fio:2: rw=red: \"red\" is none of read, write",
    ),
    (
        "[a]\nrw=trimwrite\nbs=4k,4k,8k\n",
        "j.fio:2: rw=trimwrite is refused: trims and writes share one bs and one rate",
    ),
    (
        "[a]\nrw=randread:-4\n",
        "j.fio:2: rw=randread:-4: the number of requests must",
    ),
    (
        "[a]\nsize=1.5g\n",
        "j.fio:2: size=1.5g: fio has no fractions",
    ),
    (
        "[a]\nsize=1x\n",
        "j.fio:2: size=1x: fio does not know the suffix \"x\"",
    ),
    ("[a]\nsize=\n", "j.fio:2: size=: needs a value"),
    ("[a]\nsize\n", "j.fio:2: size: needs a value"),
    ("[a]\nsize=big\n", "j.fio:2: size=big: \"big\" is no number"),
    (
        "[a]\nsize=200%\n",
        "j.fio:2: size=200%: 200% is not between 0% and 100%",
    ),
    (
        "[a]\nsize=4z\n",
        "j.fio:2: size=4z: sizes in zones are not supported",
    ),
    ("[a]\nsize=(1+\n", "j.fio:2: size=(1+: a number is missing"),
    (
        "[a]\nsize=(1/0)\n",
        "j.fio:2: size=(1/0): a division by zero",
    ),
    (
        "[a]\nsize=2*1k\n",
        "j.fio:2: size=2*1k: fio does not know the suffix \"*1k\"",
    ),
    (
        "[a]\nruntime=10sec\n",
        "j.fio:2: runtime=10sec: fio reads the suffix \"sec\" as micro",
    ),
    (
        "[a]\nruntime=1min\n",
        "j.fio:2: runtime=1min: fio reads the suffix \"min\" as micro",
    ),
    (
        "[a]\nbs=4k-8k-16k\n",
        "j.fio:2: bs=4k-8k-16k: fio takes these sizes for reads, writes",
    ),
    (
        "[a]\nzonesize=1m\n",
        "j.fio:2: zonesize=1m is refused: as in fio it needs zonemode=strided",
    ),
    (
        "[a]\nzonemode=strided\n",
        "j.fio:2: zonemode=strided is refused: as in fio it needs zonesize",
    ),
    (
        "[a]\nbs=8k\nzonesize=12k\nzonemode=strided\n",
        "j.fio:4: zonemode=strided is refused: zones of whole blocks",
    ),
    (
        "[a]\nnrfiles=2\nzonesize=8k\nzonemode=strided\n",
        "j.fio:4: zonemode=strided is refused: zones need a single file",
    ),
    (
        "[a]\nrate=1m\nrate_min=2m\n",
        "j.fio:3: rate_min=2m is refused: it is above the rate",
    ),
    (
        "[a]\nrate_min=2m\nexitall_on_error\nruntime=9\ntime_based\n[b]\nruntime=9\ntime_based\n",
        "j.fio:3: exitall_on_error is refused: with rate_min each job ends for itself",
    ),
    (
        "[a]\nflow=1\n[b]\nstonewall\nflow=1\n",
        "j.fio:5: flow=1 is refused: jobs before stonewall have the same flow_id",
    ),
    (
        "[a]\nwrite_iolog=l\nnumjobs=2\n",
        "j.fio:2: write_iolog=l is refused: each job needs a log of its own",
    ),
    (
        "[a]\nwrite_iolog=l\n[b]\nwrite_iolog=l\n",
        "j.fio:4: write_iolog=l is refused: each job needs a log of its own",
    ),
    (
        "[a]\nbs=0\n",
        "j.fio:2: bs=0: a block has at least one byte",
    ),
    (
        "[a]\nbs=2g\n",
        "j.fio:2: bs=2g is refused: a read or write has 1g at most",
    ),
    (
        "[a]\nbs=1k,2k,3k,4k\n",
        "j.fio:2: bs=1k,2k,3k,4k: has more than three values",
    ),
    (
        "[a]\nbsrange=4k\n",
        "j.fio:2: bsrange=4k: a range is written 4k-16k",
    ),
    (
        "[a]\nbsrange=16k-4k\n",
        "j.fio:2: bsrange=16k-4k: the first size is above",
    ),
    (
        "[a]\nbssplit=4k/60:8k/60\n",
        "j.fio:2: bssplit=4k/60:8k/60: the percentages",
    ),
    (
        "[a]\nbssplit=4k:30,16k:60,64k:10\n",
        "j.fio:2: bssplit=4k:30,16k:60,64k:10: ",
    ),
    (
        "[a]\ndirect=yes\n",
        "j.fio:2: direct=yes: \"yes\" is neither 0 nor 1",
    ),
    (
        "[a]\ndirect=2\n",
        "j.fio:2: direct=2: \"2\" is neither 0 nor 1",
    ),
    ("[a]\niodepth=0\n", "j.fio:2: iodepth=0: 0 is below 1"),
    (
        "[a]\nrwmixread=101\n",
        "j.fio:2: rwmixread=101: 101 is not between 0 and 100",
    ),
    (
        "[a]\nioengine=rbd\n",
        "j.fio:2: ioengine=rbd: the engine rbd is not supported",
    ),
    (
        "[a]\nioengine=aio\n",
        "j.fio:2: ioengine=aio: fio has no engine \"aio\"",
    ),
    (
        "[a]\npool=p\n",
        "j.fio:2: pool=p is refused: it belongs to the engine",
    ),
    (
        "[a]\nverify=md6\n",
        "j.fio:2: verify=md6: \"md6\" is none of fio's methods",
    ),
    (
        "[a]\nnrfiles=2\nzonesize=8k\nzonemode=strided\n",
        "j.fio:4: zonemode=strided is refused: zones need a single file",
    ),
    (
        "[a]\nzonemode=zbd\n",
        "j.fio:2: zonemode=zbd: zoned devices are not supported",
    ),
    ("[a]\nread_iolog=x\n", "j.fio:2: read_iolog=x: no such file"),
    (
        "[a]\nrandom_distribution=zipf:1\n",
        "j.fio:2: random_distribution=zipf:1: zipf: fio refuses",
    ),
    (
        "[a]\nrandom_distribution=zipfy\n",
        "j.fio:2: random_distribution=zipfy: ",
    ),
    (
        "[a]\nwait_for=b\n[b]\n",
        "j.fio:2: wait_for=b is refused: as in fio, that job must stand before this one",
    ),
    (
        "[a]\n[b]\n[c]\nwait_for=a\n",
        "j.fio:4: wait_for=a is refused: other jobs run with that one, and stonewall waits for",
    ),
    (
        "[global]\ngroup_reporting\n[a]\n[b]\nwait_for=a\n",
        "j.fio:5: wait_for=a is refused: in fio group_reporting makes one row of both. Add new_g",
    ),
    (
        "[a]\n[b]\nwait_for=a\n[c]\n",
        "j.fio:4: [c]: in fio it starts before the job above it, which waits. Put it first",
    ),
    (
        "[a]\n[b]\nwait_for=a\n[c]\nwait_for=b\n[d]\nwait_for=a\n",
        "j.fio:7: wait_for=a is refused: in fio it starts before the job above it, which waits",
    ),
    (
        "[a]\nrandom_distribution=zoned\n",
        "j.fio:2: random_distribution=zoned: zoned needs its zones",
    ),
    (
        "[a]\nrandom_distribution=zoned:60/10:30/90\n",
        "j.fio:2: random_distribution=zoned:60/10:30/90: 60/10:30/90: the percentages of requests \
         add up to 90, not to 100",
    ),
    (
        "[a]\nrandom_distribution=zoned:60/10:40/91\n",
        "j.fio:2: random_distribution=zoned:60/10:40/91: 60/10:40/91: the zones are 101 % of the",
    ),
    (
        "[a]\nrandom_distribution=zoned:60/10:40\n",
        "j.fio:2: random_distribution=zoned:60/10:40: \"40\": zones are written 60/10:40/90",
    ),
    (
        "[a]\nrandom_distribution=zoned_abs:100/1x\n",
        "j.fio:2: random_distribution=zoned_abs:100/1x: \"100/1x\": zones are written 60/1g",
    ),
    (
        "[a]\nrate_process=linar\n",
        "j.fio:2: rate_process=linar: \"linar\" is none of linear, poi",
    ),
    (
        "[a]\nstartdelay=1-5\n",
        "j.fio:2: startdelay=1-5: a range of delays is not supported",
    ),
    (
        "[a]\ninclude x.fio\n",
        "j.fio:2: include x.fio: no such file",
    ),
    (
        "[a]\nfilename=${X\n",
        "j.fio:2: ${X: the closing brace of a variable is missing",
    ),
];

#[test]
fn each_mistake_is_one_sentence_with_file_and_line() {
    assert!(MISTAKES.len() >= 40);
    for (text, expected) in MISTAKES {
        let file = read_job_file("j.fio", text, &mut Around::default());
        let found = resolve(&file, &[]).faults;
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        let said = found[0].to_string();
        assert!(said.starts_with(expected), "{text}: {said}");
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_said_at_once_and_each_once() {
    let text = "[global]\nzonemode=zbd\nbs=x\n[a]\nrw=foo\n[b]\nsize=1.5g\n";
    let file = read_job_file("j.fio", text, &mut Around::default());
    let lines = resolve(&file, &[]).faults.into_iter();
    let lines: Vec<usize> = lines.map(|fault| fault.place.line).collect();
    assert_eq!(lines, [2, 3, 5, 7]);
}

/// No text makes the reader panic, loop, or say nothing of an option.
#[test]
fn arbitrary_text_never_panics() {
    let seed = 0x5eed_f10f;
    let mut random = fastrand::Rng::with_seed(seed);
    let names: Vec<&str> = fio::options().map(|it| it.name).collect();
    let values = [
        "",
        "1",
        "0",
        "4k",
        "-1",
        "1.5g",
        "(1+2)*4k",
        "50%",
        "a:b:c",
        "1,2,3",
        "1k-4k",
        "4k/50:",
        "zipf:1.2",
        "rw:8",
        "${X}",
        "$ncpus",
        "((((",
        "18446744073709551615",
        "10s",
        "z",
        "\u{e9}",
    ];
    for round in 0..20_000 {
        let mut text = String::new();
        for _ in 0..random.usize(1..6) {
            match random.u8(0..5) {
                0 => text.push_str("[a]\n"),
                1 => text.push_str("[global]\n"),
                2 => text.extend((0..random.usize(0..12)).map(|_| random.char(..))),
                _ => {
                    text.push_str(random.choice(&names).expect("names"));
                    text.push('=');
                    text.push_str(random.choice(values).expect("values"));
                    text.push('\n');
                }
            }
        }
        let file = read_job_file("j.fio", &text, &mut Around::default());
        let found = resolve(&file, &[]);
        let _ = (fio::answers(&file), fio::show_command(&file.sections, &[]));
        let _ = fio::lints(&found.jobs, &fio::MachineFacts::default());
        assert!(
            found.jobs.len() <= text.len(),
            "seed {seed:x}, round {round}"
        );
    }
}
