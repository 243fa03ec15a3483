//! What job files mean: globals, order, units, defaults.

use crate::support::Around;
use fio::{
    Amount, Job, JobFile, SizeShare, answers, log_files, read_command_line, read_job_file, resolve,
    show_command, unknown_sections,
};
use units::Duration;

fn jobs(text: &str) -> Vec<Job> {
    let mut around = Around::default();
    around.variables.insert("SIZE".into(), "8m".into());
    around.files.insert("more.fio".into(), "iodepth=3\n".into());
    let found = resolve(&read_job_file("j.fio", text, &mut around), &[]);
    assert_eq!(found.faults, [], "{text}");
    found.jobs
}

#[test]
fn globals_hold_for_the_jobs_behind_them_and_later_values_win() {
    let found = jobs(
        "[global]\nbs=8k\nsize=${SIZE}\n[a]\nbs=4k\n[global]\nrw=randrw\nrwmixread=70\n[b]\n\
         rwmixwrite=40 ; wins\n# nothing\n[c]\ninclude more.fio\n",
    );
    let least: Vec<u64> = found.iter().map(|job| job.blocks[0].least()).collect();
    assert_eq!(least, [4096, 8192, 8192]);
    assert!(
        found
            .iter()
            .all(|job| job.size == Some(Amount::Bytes(8 << 20)))
    );
    assert!(!found[0].pattern.is_random);
    let percent: Vec<u32> = found.iter().map(|job| job.read_percent).collect();
    assert_eq!(percent, [50, 60, 70]);
    assert_eq!(found[2].depth, 3);
}

#[test]
fn triplets_reach_to_the_right_and_leave_out_what_is_left_out() {
    let sizes = |text: &str| {
        let job = &jobs(&format!("[a]\n{text}\n"))[0];
        [job.blocks[0].least(), job.blocks[1].least()]
    };
    assert_eq!(sizes("bs=8k"), [8192, 8192]);
    assert_eq!(sizes("bs=8k,16k"), [8192, 16384]);
    assert_eq!(sizes("bs=,16k"), [4096, 16384]);
    assert_eq!(sizes("bs=8k,"), [8192, 4096]);
}

#[test]
fn a_range_is_drawn_as_fio_draws_it_and_a_split_adds_up() {
    let sizes = |text: &str| jobs(&format!("[a]\n{text}\n"))[0].blocks[0].sizes.clone();
    let share = |bytes, weight| SizeShare { bytes, weight };
    assert_eq!(
        sizes("bsrange=4k-10k"),
        [share(4096, 4096), share(8192, 4096), share(10240, 2048)]
    );
    // A range or a split is not undone by a bs behind it: jobs had blocks of another size.
    assert_eq!(sizes("bsrange=8k-8k\nbs=4k"), [share(8192, 8192)]);
    assert_eq!(sizes("bssplit=8k/100\nbs=4k"), [share(8192, 100)]);
    // fio draws multiples of a first size that is no power of two, too.
    assert_eq!(
        sizes("bsrange=3k-10k"),
        [
            share(3072, 3072),
            share(6144, 3072),
            share(9216, 3072),
            share(10240, 1024)
        ]
    );
    let all = &jobs("[a]\nbs=4k-16k\n")[0].blocks;
    assert_eq!(
        all.each_ref().map(fio::BlockSizes::most),
        [4096, 16384, 16384]
    );
    assert_eq!(
        sizes("bssplit=4k/50:8k/:16k/"),
        [share(4096, 100), share(8192, 50), share(16384, 50)]
    );
    // As in fio, in multiples of the smallest.
    assert_eq!(
        sizes("bssplit=4k/50:10k/50"),
        [share(4096, 50), share(8192, 50)]
    );
}

#[test]
fn kb_base_holds_for_the_whole_job_wherever_it_stands() {
    let job = &jobs("[a]\nsize=1m\nkb_base=1000\n")[0];
    assert_eq!(job.size, Some(Amount::Bytes(1_000_000)));
}

#[test]
fn options_that_are_switched_off_are_no_refusal() {
    let job = &jobs("[a]\nverify=0\natomic=0\nzonemode=none\ncontinue_on_error=none\n")[0];
    assert_eq!(job.limits.runtime, Duration::ZERO);
}

/// fio 3.33 removes no file before a job of `time_based` ends.
#[test]
fn a_job_by_time_is_one_loop() {
    let job = &jobs("[a]\nrw=write\nsize=1m\nunlink_each_loop=1\ntime_based\nruntime=2\n")[0];
    assert!(job.limits.is_time_based);
}

#[test]
fn the_command_line_makes_the_same_jobs() {
    let arguments = [
        "--bs=8k",
        "--name=a",
        "--rw",
        "randread",
        "--time_based",
        "--name=b",
    ];
    let arguments: Vec<String> = arguments.iter().map(|&text| text.into()).collect();
    let file = read_command_line(&arguments, &mut Around::default());
    assert_eq!(
        show_command(&file.sections, &[]),
        "fio --bs=8k --name=a --rw=randread --time_based --name=b "
    );
    let found = resolve(&file, &[]);
    assert_eq!(found.faults, []);
    assert!(found.jobs[0].pattern.is_random && found.jobs[0].limits.is_time_based);
}

#[test]
fn a_section_is_chosen_by_its_name() {
    let file = read_job_file("j.fio", "[a]\n[b]\n[c]\n", &mut Around::default());
    let found = resolve(&file, &["b".into(), "x".into()]);
    assert_eq!(found.jobs.len(), 1);
    let other = read_job_file("k.fio", "[x]\n", &mut Around::default());
    let unknown = |files: &[JobFile]| unknown_sections(files, &["b".into(), "x".into()]);
    let said = unknown(std::slice::from_ref(&file))[0].to_string();
    assert_eq!(said, "j.fio:1: --section x: there is no such section");
    assert_eq!(unknown(&[file, other]), []);
}

#[test]
fn what_writes_hold_and_how_they_are_verified() {
    let text = "[a]\nrefill_buffers\nzero_buffers=1\nscramble_buffers=0\n\
                buffer_pattern=0xdeadface\nbuffer_compress_percentage=40\n\
                buffer_compress_chunk=8k\ndedupe_percentage=30\n\
                verify=sha256\ndo_verify=0\nverify_fatal=1\nverify_pattern=\"ab\"\n";
    let job = &jobs(text)[0];
    let expected = fio::Buffers {
        are_zeroes: true,
        pattern: Some(vec![0xde, 0xad, 0xfa, 0xce]),
        are_refilled: true,
        are_scrambled: false,
        compress_percent: 40,
        compress_chunk: 8192,
        dedupe_percent: 30,
    };
    assert_eq!(job.buffers, expected);
    let expected = fio::Verify {
        is_on: true,
        reads_back: false,
        is_fatal: true,
        pattern: Some(b"ab".to_vec()),
    };
    assert_eq!(job.verify, expected);
    for off in ["0", "none", "null"] {
        assert!(
            !jobs(&format!("[a]\nverify={off}\n"))[0].verify.is_on,
            "{off}"
        );
    }
    let plain = &jobs("[a]\n")[0];
    assert!(plain.buffers == fio::Buffers::default() && plain.verify == fio::Verify::default());
}

#[test]
fn jobs_that_exit_together_end_with_the_first_of_their_phase() {
    let found = jobs(
        "[global]\ntime_based\nexitall\n[a]\nruntime=30\nstartdelay=5\n[b]\nruntime=10\n\
         ramp_time=5\n[c]\nstonewall\nruntime=20\n",
    );
    let runtimes: Vec<Duration> = found.iter().map(|job| job.limits.runtime).collect();
    assert_eq!(runtimes, [10, 10, 20].map(Duration::from_secs));
    assert!(
        found.iter().all(|job| !job.ends_all),
        "it is known when they end"
    );
    let one =
        jobs("[global]\ntime_based\n[a]\nruntime=9\n[b]\nexitall\nruntime=20\n[c]\nruntime=30\n");
    let runtimes: Vec<Duration> = one.iter().map(|job| job.limits.runtime).collect();
    assert_eq!(runtimes, [9; 3].map(Duration::from_secs));
    let open = jobs("[a]\nexitall\nruntime=5\n[b]\nsize=1m\n");
    assert!(open.iter().all(|job| job.ends_all), "whoever ends first");
}

#[test]
fn the_depth_is_filled_again_where_it_was_asked_for() {
    let refill = |text: &str| jobs(&format!("[a]\niodepth=16\n{text}\n"))[0].refill_at;
    assert_eq!(refill(""), None);
    assert_eq!(refill("iodepth_batch_complete_min=1"), None);
    assert_eq!(refill("iodepth_batch_complete_min=4"), Some(12));
    assert_eq!(refill("iodepth_low=8"), Some(8));
    assert_eq!(
        refill("iodepth_low=8\niodepth_batch_complete_min=12"),
        Some(4)
    );
}

#[test]
fn a_share_may_have_its_sign_twice() {
    assert_eq!(
        jobs("[a]\nsize=100%%\n")[0].size,
        Some(Amount::Percent(100))
    );
}

#[test]
fn offloaded_jobs_and_jobs_of_own_alignment_are_what_they_say() {
    let job = &jobs("[a]\nio_submit_mode=offload\nrw=randread\nbs=4k\nba=64k\n")[0];
    assert!(job.is_offloaded);
    assert_eq!(job.alignment_effective(), Some(64 << 10));
}

/// fio gives what holds one of its own words to `bc`. It was taken for a number with a suffix.
#[test]
fn arithmetic_with_words_of_fio_needs_no_parentheses() {
    let size = |text: &str| jobs(&format!("[a]\nsize={text}\n"))[0].size;
    assert_eq!(size("8*1024*$pagesize"), Some(Amount::Bytes(8 << 22)));
    assert_eq!(
        size("5*1024*1024*$mb_memory/8"),
        Some(Amount::Bytes(5 << 30))
    );
    let name = &jobs("[a]\nsize=1m\nfilename=/tmp/of-$pagesize\n")[0]
        .files
        .names;
    assert_eq!(name, &["/tmp/of-4096"]);
}

/// In fio 3.33 each `filename` adds files; here the last one alone counted, and half of what such a
/// job does was missing. Its directory is the first one that was named before it.
#[test]
fn every_filename_adds_files_as_in_fio() {
    let check = |text: &str, expected: &[&str]| {
        let found = jobs(text);
        assert_eq!(found[0].files.names, expected, "{text}");
    };
    check("[a]\nsize=1m\nfilename=f\nfilename=g:h\n", &["f", "g", "h"]);
    check(
        "[global]\nfilename=g\n[a]\nsize=1m\nfilename=f\n",
        &["g", "f"],
    );
    check(
        "[global]\nfilename=f\n[a]\nsize=1m\nfilename=f\n",
        &["f", "f"],
    );
    check(
        "[a]\nsize=1m\nfilename=f:g\ndirectory=d:e\n",
        &["d/f", "d/g"],
    );
    check("[global]\nfilename=f\n[a]\nsize=1m\ndirectory=d\n", &["f"]);
    check(
        "[global]\ndirectory=d\n[a]\nsize=1m\nfilename=/f\n",
        &["d//f"],
    );
    let typed = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        let file = read_command_line(&words, &mut Around::default());
        resolve(&file, &[]).jobs[0].files.names.clone()
    };
    // Words are read one by one, the lines of a section are not.
    assert_eq!(typed(&["--name=a", "--filename=f", "--directory=d"]), ["f"]);
    assert_eq!(
        typed(&["--name=a", "--directory=d", "--filename=f"]),
        ["d/f"]
    );
}

/// Both were refused wherever they stood; public job files of mmtests and fio-spdk have them.
#[test]
fn options_that_change_nothing_where_they_stand_are_no_refusal() {
    // No job runs later that would have to be left out.
    let found = jobs("[a]\nexitall\nexit_what=all\nsize=1m\n[b]\nsize=2m\n");
    assert!(found.iter().all(|job| job.ends_all));
    assert_eq!(
        jobs("[a]\nexit_what=all\nsize=1m\n[b]\nstonewall\n").len(),
        2
    );
    // In fio 3.33 a device is written to its end, or up to size, with it and without it.
    assert_eq!(
        jobs("[a]\nfill_device=1\nrw=write\nfilename=/dev/sdz\n").len(),
        1
    );
    let fills = |text: &str| jobs(text)[0].files.fill;
    assert!(fills("[a]\nfill_device=1\nrw=write\nfilename=f\n"));
    assert!(!fills("[a]\nfill_device=1\nrw=write\nfilename=/dev/sdz\n"));
    // With lfsr a block is drawn once, whatever norandommap says.
    let lfsr = "[a]\nrw=randread\nnorandommap\nrandom_generator=lfsr\n";
    assert!(!jobs(lfsr)[0].may_repeat);
    assert!(jobs(&format!("{lfsr}bsrange=4k-8k\n"))[0].may_repeat);
}

/// In fio 3.33 a `name` of `[global]` names nothing, and that of a section names its first copy and
/// the logs of that. Here a global name was that of all jobs, which then shared one file.
#[test]
fn jobs_are_named_after_their_sections_and_so_are_their_files() {
    let text = "[global]\nname=g\nsize=1m\nnumjobs=2\nwrite_iops_log\n[a]\n[b]\nname=c\n";
    let found = jobs(text);
    let names = found
        .iter()
        .flat_map(|job| [0, 1].map(|copy| job.name_of_copy(copy)));
    assert_eq!(names.collect::<Vec<_>>(), ["a", "a", "c", "b"]);
    let sections = found.iter().map(|job| job.section.as_str());
    assert_eq!(sections.collect::<Vec<_>>(), ["a", "b"]);
    let logs = log_files(&found).into_iter().map(|it| it.name);
    assert_eq!(
        logs.collect::<Vec<_>>(),
        [
            "a_iops.1.log",
            "a_iops.2.log",
            "c_iops.3.log",
            "b_iops.4.log"
        ]
    );
    let file = read_job_file("j.fio", text, &mut Around::default());
    let answered = answers(&file);
    assert_eq!(
        (answered[0].text.as_str(), answered[0].answer),
        ("name=g", "no effect")
    );
}
