//! Jobs that are written as a job file are read as what they were.

use crate::support::Around;
use fio::{Job, job_file_text, read_job_file, resolve};

fn jobs(text: &str) -> Vec<Job> {
    let found = resolve(&read_job_file("j.fio", text, &mut Around::default()), &[]);
    assert_eq!(found.faults, [], "{text}");
    found.jobs
}

/// What a job asks for, without where it stands and how that was written.
fn meant(mut job: Job) -> String {
    job.given.clear();
    job.place.line = 0;
    format!("{job:?}")
}

#[test]
fn what_is_written_is_read_as_what_it_was() {
    for text in [
        "[a]\nrw=randrw\nrwmixread=70\nbs=4k,16k\niodepth=8\nioengine=libaio\ndirect=1\nsize=1g\n\
         filename=/dev/a\nruntime=10\ntime_based\nrate_iops=700,300\nrate_process=poisson\n",
        "[b]\nrw=write\nbssplit=4k/60:64k/40\ndirectory=/d\nnrfiles=3\nfilesize=1m\n\
         file_service_type=sequential:4\npre_read=1\nfsync=32\nend_fsync=1\nio_size=5m\nloops=2\n",
        "[c]\nrw=randread\nnorandommap\nrandom_distribution=zipf:1.2\nsize=50%\nfilename=a\\:b\n\
         offset=1m\noffset_increment=2m\nnumjobs=4\nthinktime=5ms\nthinktime_blocks=3\n\
         thinktime_blocks_type=issue\nsync_file_range=wait_before,write:8\n\
         startdelay=2\nramp_time=1\npercentage_random=80\nnumber_ios=100\n",
        "[d]\nrw=read:8k\nsync=dsync\nrefill_buffers\nbuffer_compress_percentage=40\n\
         dedupe_percentage=20\nsize=1m\ngroup_reporting\nnew_group\n[e]\nstonewall\nrw=randwrite\n\
         buffer_pattern=0xdeadbeef\nsize=1m\nverify=crc32c\nrate=1m\nzero_buffers\n",
        "[f]\nrw=randrw\nsize=1m\nrandom_distribution=zoned:60/10:40/90,5/50:95/50\n\
         [g]\nwait_for=f\nrw=randread\nsize=1m\nrandom_distribution=zoned_abs:60/64k:40/128k\n",
    ] {
        let jobs = jobs(text);
        let written = job_file_text(&jobs);
        let again = self::jobs(&written);
        let both = [jobs, again].map(|jobs| jobs.into_iter().map(meant).collect::<Vec<_>>());
        assert_eq!(both[0], both[1], "{written}");
    }
}
