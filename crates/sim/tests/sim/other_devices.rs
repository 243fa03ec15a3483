//! Flash, CD-ROM and tape against their laws.

use crate::support::{MS, WRITE, command, finish, one_by_one, outstanding};
use random::{Purpose, Stream};
use sim::{
    Action, Cd, CdSpec, Cleaning, Command, Device, Flash, FlashContent, FlashSpec, Tape, TapeSpec,
    fifo_write_amplification,
};
use units::{Duration, Instant};

const SECOND: u64 = 1000 * MS;

pub(crate) fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found / expected - 1.0).abs() <= tolerance,
        "{what}: {found} and not {expected}"
    );
}

fn flash(spare: f64) -> FlashSpec {
    FlashSpec {
        channels: 2,
        dies: 2,
        blocks: 256,
        pages_per_block: 32,
        page: 4096,
        read: 75_000,
        program: 600_000,
        erase: 3_800_000,
        channel_rate: 333e6,
        spare,
        reserve: 1,
        cleaning: Cleaning::Fifo,
        write_buffer: 0,
        overhead: 0,
        content: FlashContent::Full,
    }
}

pub(crate) fn random_pages(
    action: Action,
    size: u64,
    page: u64,
    count: usize,
) -> impl Iterator<Item = Command> {
    let mut stream = Stream::new(11, 0, Purpose::Address);
    let place = move || stream.below(size / page) * page;
    let places = std::iter::repeat_with(place).take(count);
    places.map(move |offset| command(action, offset, page))
}

#[test]
fn flash_reads_stay_below_their_bound_and_come_near_it() {
    let spec = flash(0.2);
    for depth in [1_u32, 2, 8, 64] {
        let mut device = Flash::new(spec.clone());
        let count = 20_000;
        let reads = random_pages(Action::Read, spec.size(), 4096, count);
        let spent = outstanding(&mut device, depth as usize, reads);
        let found = count as f64 / spent.as_secs_f64();
        let bound = spec.read_bound(depth);
        assert!(
            found <= bound * 1.001,
            "depth {depth}: {found} is above {bound}"
        );
        let share = if depth == 1 { 0.999 } else { 0.55 };
        assert!(found >= bound * share, "depth {depth}: {found} of {bound}");
    }
}

/// Fresh, a page costs a program; after the spare pages are used once, cleaning makes it cost
/// W programs, W - 1 reads and W shares of an erase.
#[test]
fn the_write_cliff_is_as_deep_as_theory_says() {
    let spec = FlashSpec {
        channels: 1,
        dies: 1,
        ..flash(0.22)
    };
    let mut device = Flash::new(FlashSpec {
        content: FlashContent::Fresh,
        ..spec.clone()
    });
    let user = spec.user_pages() as usize;
    let mut rate = |count| {
        let writes = random_pages(WRITE, spec.size(), 4096, count);
        count as f64 / outstanding(&mut device, 4, writes).as_secs_f64()
    };
    let fresh = rate(user / 4);
    rate(8 * user);
    let steady = rate(4 * user);
    let w = fifo_write_amplification(spec.spare_factor());
    let (program, read, erase) = (spec.program as f64, spec.read as f64, spec.erase as f64);
    let cost = w * program + (w - 1.0) * read + w * erase / f64::from(spec.pages_per_block);
    close(steady / fresh, program / cost, 0.05, "the cliff");
    let [by_law_fresh, by_law] = spec.write_rates();
    close(by_law, 1e9 / cost, 1e-9, "the law of one die");
    close(fresh, by_law_fresh, 0.05, "fresh");
    close(steady, by_law, 0.05, "steady");
}

/// Bug: a read after a burst of writes waited until all of them were in flash, seconds later. Now
/// it waits for what its die and channel have begun; a flush still waits for all.
#[test]
fn a_read_does_not_wait_for_writes_that_were_answered_from_the_buffer() {
    let spec = FlashSpec {
        write_buffer: 16 << 20,
        content: FlashContent::Fresh,
        ..flash(0.2)
    };
    let writes = 2000_u64;
    let mut device = Flash::new(spec.clone());
    let burst = (0..writes).map(|page| command(WRITE, page * 4096, 4096));
    let answered = one_by_one(&mut device, Duration::ZERO, burst);
    let begun = answered[writes as usize - 1];
    assert_eq!(begun, Instant(MS), "the buffer takes them all");
    let read = finish(&mut device, begun, command(Action::Read, 0, 4096));
    let alone = spec.read + (4096.0 * 1e9 / spec.channel_rate).round() as u64;
    let transfer = (4096.0 * 1e9 / spec.channel_rate).round() as u64;
    let longest = spec.program + transfer + alone;
    let waited = read.since(begun).as_nanos();
    assert!((alone..=longest).contains(&waited), "{waited} ns");
    let flushed = finish(&mut device, read, command(Action::Flush, 0, 0));
    let all = writes * spec.program / u64::from(spec.die_count());
    close(
        flushed.since(begun).as_nanos() as f64,
        all as f64,
        0.02,
        "all programmed",
    );
}

/// Bug: while a die cleaned a block, a read waited until all its pages were moved. Now it waits for
/// one page that is moved; after the last of them, for the erasure and the page that follow, too.
#[test]
fn a_read_waits_for_one_page_of_a_block_that_is_cleaned() {
    let spec = FlashSpec {
        write_buffer: 4 << 20,
        ..flash(0.1)
    };
    let mut device = Flash::new(spec.clone());
    // Until each die has no free block left.
    let writes = random_pages(WRITE, spec.size(), 4096, 40_000);
    let mut now = Instant(MS) + outstanding(&mut device, 64, writes);
    let transfer = (4096.0 * 1e9 / spec.channel_rate).round() as u64;
    let alone = spec.read + transfer;
    let last_move = spec.read + spec.program;
    let longest = last_move + spec.erase + spec.program + transfer + alone;
    let mut waits = Vec::new();
    for read in random_pages(Action::Read, spec.size(), 4096, 500) {
        let done = finish(&mut device, now, read);
        waits.push(done.since(now).as_nanos());
        now = done;
    }
    let worst = waits.iter().copied().max().unwrap_or(0);
    assert!(worst > alone, "some read met a die that cleans");
    assert!(worst <= longest, "{worst} ns of {longest}");
}

fn cd() -> CdSpec {
    CdSpec {
        rate: 1.2288e6,
        blocks: 333_000,
        turn_inner: 14_150_943,
        turn_outer: 37_500_000,
        seek_short: 112 * MS,
        seek_full: 675 * MS,
        near: 2000,
        buffer: 256 << 10,
        overhead: 0,
    }
}

#[test]
fn a_cd_reads_at_one_rate_and_turns_slower_outside() {
    let spec = cd();
    assert_eq!((spec.turn(0), spec.turn(333_000)), (14_150_943, 37_500_000));
    // Half of the area lies inside of the radius that is the root of the mean square.
    let half = (14.150_943_f64.powi(2) + 37.5_f64.powi(2)) / 2.0;
    close(
        spec.turn(166_500) as f64 / 1e6,
        half.sqrt(),
        1e-6,
        "a turn in the middle",
    );
    for start in [0, 300 << 20] {
        let mut cd = Cd::new(spec.clone());
        let reads = (0..200).map(|n| command(Action::Read, start + n * 65_536, 65_536));
        let ends = one_by_one(&mut cd, Duration::from_millis(5), reads);
        let rate = 199.0 * 65_536.0 / ends[199].since(ends[0]).as_secs_f64();
        close(rate, 1.2288e6, 1e-3, "the rate");
    }
    let mut cd = Cd::new(spec.clone());
    let first = finish(&mut cd, Instant(0), command(Action::Read, 0, 2048));
    let far = finish(
        &mut cd,
        first + Duration(SECOND),
        command(Action::Read, 600 << 20, 2048),
    );
    let seek = far.since(first + Duration(SECOND)).as_nanos() as f64 / 1e6;
    assert!((700.0..800.0).contains(&seek), "{seek}");
}

/// Bug: what was to be read ahead at one place was still believed in at another, so that a read in
/// between passed all that lies between both: two readers had a hundredth of what the drive gives.
#[test]
fn a_cd_that_two_programs_read_pays_a_seek_for_each_read() {
    let spec = cd();
    let reads = 40;
    let (near, far, bytes) = (0, 40 << 20, 65_536);
    let places = (0..reads).map(|n| [near, far][n % 2] + (n as u64 / 2) * bytes);
    let mut device = Cd::new(spec.clone());
    let commands = places.map(|offset| command(Action::Read, offset, bytes));
    let ends = one_by_one(&mut device, Duration::ZERO, commands);
    let block = |bytes: u64| bytes / 2048;
    let transfer = bytes as f64 / spec.rate * 1e9;
    let expected: f64 = (1..reads as u64)
        .map(|n| {
            let (here, there) = if n % 2 == 1 { (far, near) } else { (near, far) };
            let (to, from) = (here + n / 2 * bytes, there + (n - 1) / 2 * bytes + bytes);
            spec.overhead as f64 + spec.access(block(from), block(to)) as f64 + transfer
        })
        .sum();
    let found = ends[reads - 1].since(ends[0]).as_nanos() as f64;
    // The drive reads ahead while the next command comes, so that its way back is a little longer.
    close(found, expected, 0.01, "39 reads in turn");
}

fn tape() -> TapeSpec {
    TapeSpec {
        passes: 64,
        pass_bytes: 156_250_000,
        rate: 1.25e6,
        search: 92 * SECOND,
        locate: 0,
        track_change: 0,
        reposition: 3 * SECOND,
        buffer: 2 << 20,
        compression: 1.0,
        bus: 1e9,
        overhead: 0,
    }
}

/// Bytes per second of writes of 32 KiB with `gap` between them.
fn tape_rate(spec: &TapeSpec, gap: Duration) -> f64 {
    let mut tape = Tape::new(spec.clone());
    let writes = (0..20_000).map(|number| command(WRITE, number * 32_768, 32_768));
    let ends = one_by_one(&mut tape, gap, writes);
    // Without the first buffer-full, which costs nothing.
    let (from, to) = (2000, 19_999);
    (to - from) as f64 * 32_768.0 / ends[to].since(ends[from]).as_secs_f64()
}

#[test]
fn a_tape_streams_for_a_fast_host_and_stops_for_a_slow_one() {
    let spec = tape();
    close(tape_rate(&spec, Duration::ZERO), 1.25e6, 0.01, "streaming");
    let compressed = TapeSpec {
        compression: 1.6,
        ..spec.clone()
    };
    close(
        tape_rate(&compressed, Duration::ZERO),
        2e6,
        0.01,
        "compressed",
    );
    // A host of 1 MB/s fills the buffer in 2.1 s, and waits for the end of the repositioning, 3 s.
    let (h, r, b, p) = (1e6, 1.25e6, f64::from(2 << 20), 3.0);
    let gap = |rate: f64| Duration::from_secs_f64(32_768.0 / rate);
    let streaming = b / (r - h);
    let cycle = f64::max(p, b / h) + streaming;
    let expected = (b + h * streaming) / cycle;
    close(tape_rate(&spec, gap(h)), expected, 0.02, "stop and go");
    // A slower one fills it in 4.2 s, and loses nothing.
    close(tape_rate(&spec, gap(0.5e6)), 0.5e6, 0.01, "a slow host");
}

#[test]
fn locating_on_tape_follows_the_serpentine() {
    let spec = tape();
    // The end of the first pass is where the second begins.
    let end = spec.pass_bytes;
    assert!(spec.locate_ns(end - 1000, end + 1000) < SECOND / 100);
    close(
        spec.locate_ns(0, end - 1) as f64,
        92.0 * SECOND as f64,
        1e-6,
        "from end to end",
    );
    assert!(
        spec.locate_ns(0, 2 * end) < SECOND / 100,
        "two passes further is right here"
    );
    // 46 s on average from the beginning.
    let mean = (0..10_000)
        .map(|n| spec.locate_ns(0, n * 1_000_000) as f64)
        .sum::<f64>()
        / 1e4;
    close(mean, 46.0 * SECOND as f64, 0.01, "the mean");
}

/// To another track it takes the change, at whatever length of tape; a stream pays for each track.
#[test]
fn changing_tracks_takes_its_time() {
    let spec = TapeSpec {
        track_change: 5 * SECOND,
        ..tape()
    };
    let pass = spec.pass_bytes;
    assert_eq!(spec.locate_ns(0, 2 * pass), 5 * SECOND);
    assert_eq!(spec.locate_ns(0, pass / 2), spec.search / 2);
    // The third change comes with what is read there.
    let two_changes = 2 * 5 * SECOND;
    assert_eq!(spec.skip_ns(0, 3 * pass), 3 * spec.search + two_changes);
    let commands = || (0..(3 * pass) >> 20).map(|number| command(WRITE, number << 20, 1 << 20));
    let end = |spec: TapeSpec| {
        let ends = one_by_one(&mut Tape::new(spec), Duration::ZERO, commands());
        ends[ends.len() - 1]
    };
    let changes = end(spec).since(end(tape())).as_nanos() as f64 / SECOND as f64;
    close(changes, 10.0, 0.01, "two changes");
}

/// A locate takes the short way from pass to pass; a skip over marks sees every inch.
#[test]
fn skipping_file_marks_goes_along_the_whole_tape() {
    let spec = tape();
    let two_passes = 2 * spec.pass_bytes;
    assert!(spec.locate_ns(0, two_passes) < SECOND / 100);
    assert_eq!(spec.skip_ns(0, two_passes), 2 * 92 * SECOND);
    assert_eq!(spec.skip_ns(5000, 5000), 0);
    // Bytes over rate, times the speed of reading over that of searching: 110 to 150 inches.
    let seconds = spec.skip_ns(0, 1_000_000_000) as f64 / 1e9;
    let reading = 1e9 / spec.rate;
    close(seconds, reading * 110.0 / 150.0, 0.01, "a skip");
}

#[test]
fn a_tape_counts_how_often_it_stopped() {
    let stops = |gap: Duration| {
        let mut tape = Tape::new(tape());
        let writes = (0..5000).map(|number| command(WRITE, number * 32_768, 32_768));
        one_by_one(&mut tape, gap, writes);
        tape.tape_stops().expect("a tape")
    };
    assert_eq!(stops(Duration::ZERO), 0, "a fast host keeps it streaming");
    // A buffer of 2 MiB at 1 MB/s, emptied at 1.25 MB/s: one stop for each 10 MB.
    let found = stops(Duration::from_secs_f64(32_768.0 / 1e6));
    assert!((13..=17).contains(&found), "{found}");
}
