//! Block events of a loop device become requests, and requests a file that gives them again.

use std::io::Cursor;

use trace::{
    BlockEvent, BlockEventKind, Format, IoFlags, PageLayout, RecordedIo, RecordingEncoder,
    RecordingEnd, RecordingReader, RequestMatcher, TraceOp, TraceReader as _, open, recognise,
};

/// What Linux 6.18 says of its pages and events.
const LAYOUTS: &str = include_str!("data/block-events.txt");
/// A page of one processor: `dd` reads three blocks of 4 KiB at 20 KiB, then writes two of 8 KiB at
/// 40 KiB with O_DSYNC, each followed by a flush, and flushes behind each.
const PAGE: &[u8] = include_bytes!("data/block-events.page");
/// `loop0`: 7,0.
const LOOP: u32 = 7 << 20;

fn layout() -> PageLayout {
    let texts: Vec<&str> = LAYOUTS.split("%%\n").collect();
    let kinds = [
        BlockEventKind::Started,
        BlockEventKind::Issued,
        BlockEventKind::Completed,
    ];
    let events: Vec<(BlockEventKind, &str)> =
        kinds.into_iter().zip(texts[1..].iter().copied()).collect();
    PageLayout::parse(texts[0], &events).expect("a layout")
}

fn events() -> Vec<BlockEvent> {
    let mut events = Vec::new();
    let lost = layout().events(PAGE, &mut events);
    assert_eq!(lost, Ok(Some(0)));
    events
}

/// Kind, first byte, bytes.
fn shapes(requests: &[RecordedIo]) -> Vec<(TraceOp, u64, u64)> {
    let shape = |it: &RecordedIo| (it.op, it.offset, it.length);
    requests.iter().map(shape).collect()
}

fn matched(events: &[BlockEvent], wants: impl Fn(&BlockEvent) -> bool) -> Vec<RecordedIo> {
    let begin = events[0].time_ns;
    let mut matcher = RequestMatcher::new(begin, true);
    let mut found = Vec::new();
    for event in events {
        matcher.take(event, &mut |it| wants(it).then_some(it.thread));
        matcher.hand_out(event.time_ns, &mut found);
    }
    matcher.finish(&mut found);
    found
}

#[test]
fn a_page_of_the_kernel_has_its_events_with_times() {
    let events = events();
    let of = |kind| events.iter().filter(|it| it.kind == kind).count();
    assert_eq!(of(BlockEventKind::Started), 7);
    let first = events[0];
    assert_eq!(&first.thread_name[..3], b"dd\0");
    assert_eq!((first.device, first.sector, first.bytes), (LOOP, 40, 4096));
    assert_eq!(
        (first.op, first.flags),
        (Some(TraceOp::Read), IoFlags::SYNC)
    );
    assert!(events.is_sorted_by_key(|it| it.time_ns));
    // As the text form of the same trace said: 81606.935582 and 81607.012043.
    let micros = |number: usize| (events[number].time_ns + 500) / 1000;
    assert_eq!(micros(0), 81_606_935_582);
    assert_eq!(micros(2), 81_606_936_949);
}

#[test]
fn a_damaged_page_is_refused() {
    let layout = layout();
    for length in [0, 7, 15, 100] {
        assert!(
            layout.events(&PAGE[..length], &mut Vec::new()).is_err(),
            "{length}"
        );
    }
    let mut lost = PAGE.to_vec();
    // Bit 31 of the length: events were lost before it, and nobody counted them.
    lost[11] |= 0x80;
    assert_eq!(layout.events(&lost, &mut Vec::new()), Ok(None));
}

#[test]
fn events_become_the_requests_that_were_made() {
    use TraceOp::{Read, Sync, Write};
    let requests = matched(&events(), |_| true);
    let read = |block: u64| (Read, block * 4096, 4096);
    let write = |block: u64| (Write, block * 8192, 8192);
    let flush = (Sync, 0, 0);
    let expected = [
        read(5),
        read(6),
        read(7),
        write(5),
        flush,
        flush,
        write(6),
        flush,
        flush,
    ];
    assert_eq!(shapes(&requests), expected);
    assert!(requests.is_sorted_by_key(|it| it.at));
    assert!(
        requests
            .iter()
            .all(|it| it.took.is_some_and(|took| took > 0))
    );
    assert_eq!(requests[0].took.map(|it| it / 1000), Some(1367));
    // Flushes that a kernel thread issues are of the program that waits for them.
    let writers: Vec<u32> = requests[3..].iter().map(|it| it.process).collect();
    assert_eq!(writers, [writers[0]; 6]);
}

#[test]
fn of_one_process_only_its_requests_are_kept() {
    let events = events();
    let reader = events[0].thread;
    let requests = matched(&events, |it| it.thread == reader);
    assert_eq!(requests.len(), 3);
    let nobody = matched(&events, |it| it.thread == 1);
    assert_eq!(nobody, []);
}

fn event(time_ns: u64, kind: BlockEventKind, sector: u64, bytes: u64) -> BlockEvent {
    BlockEvent {
        time_ns,
        kind,
        thread: 9,
        thread_name: [0; 16],
        device: LOOP,
        sector,
        bytes,
        op: Some(TraceOp::Write),
        flags: IoFlags::default(),
    }
}

#[test]
fn merged_requests_are_one_from_when_the_first_was_asked_for() {
    use BlockEventKind::{Completed, Issued, Started};
    let requests = matched(
        &[
            event(100, Started, 8, 4096),
            event(110, Started, 16, 4096),
            event(120, Started, 80, 4096),
            event(200, Issued, 8, 8192),
            // The device was full, and is asked once more.
            event(210, Issued, 8, 8192),
            event(300, Completed, 8, 8192),
        ],
        |_| true,
    );
    assert_eq!(shapes(&requests), [(TraceOp::Write, 4096, 8192)]);
    assert_eq!((requests[0].at, requests[0].took), (0, Some(200)));
}

#[test]
fn what_never_completes_keeps_others_for_ten_seconds() {
    use BlockEventKind::{Completed, Issued};
    let mut matcher = RequestMatcher::new(0, false);
    let mut found = Vec::new();
    for it in [
        event(1, Issued, 8, 4096),
        event(2, Issued, 80, 4096),
        event(3, Completed, 80, 4096),
    ] {
        matcher.take(&it, &mut |_| Some(0));
    }
    matcher.hand_out(10_000_000_000, &mut found);
    assert_eq!(found, []);
    matcher.hand_out(10_000_000_002, &mut found);
    let took: Vec<Option<u64>> = found.iter().map(|it| it.took).collect();
    assert_eq!(took, [None, Some(1)]);
    // It completes after all: nobody waits for it any more.
    matcher.take(&event(10_000_000_003, Completed, 8, 4096), &mut |_| Some(0));
    matcher.finish(&mut found);
    assert_eq!(found.len(), 2);
}

/// Requests of all kinds on two devices, at places near and far.
fn invented(count: u64) -> Vec<RecordedIo> {
    let mut random = fastrand::Rng::with_seed(5);
    let mut at = 0;
    let each = (0..count).map(|number| {
        at += random.u64(0..100_000);
        let op = [TraceOp::Read, TraceOp::Write, TraceOp::Trim, TraceOp::Sync];
        let op = op[random.usize(0..4)];
        let has_extent = op != TraceOp::Sync;
        let bits = random.u32(1..50);
        let sector = random.u64(0..1 << bits);
        RecordedIo {
            at,
            op,
            flags: IoFlags(random.u8(0..16)),
            device: random.u32(0..2),
            process: (number % 3) as u32,
            offset: if has_extent { sector * 512 } else { 0 },
            length: if has_extent {
                random.u64(1..2048) * 512
            } else {
                0
            },
            took: random.bool().then(|| random.u64(0..1 << 40)),
        }
    });
    each.collect()
}

fn written(requests: &[RecordedIo]) -> Vec<u8> {
    let mut encoder = RecordingEncoder::default();
    encoder.add_device("8,0".into());
    encoder.add_device("7,0".into());
    for name in ["", "postgres", ""] {
        encoder.add_process(name.into());
    }
    for request in requests {
        encoder.add(request);
    }
    encoder.finish(RecordingEnd {
        length_ns: 600_000_000_000,
        lost: 3,
        cpu_ns: 1,
        has_starts: true,
    });
    encoder.take()
}

#[test]
fn a_file_gives_the_same_requests_again() {
    let requests = invented(20_000);
    let bytes = written(&requests);
    assert_eq!(
        recognise(&bytes).map(|it| it.format),
        Some(Format::Recording)
    );
    let mut reader = RecordingReader::new("t", &bytes[..]);
    let mut found = Vec::new();
    while let Some(io) = reader.next_io().expect("whole") {
        found.push(io);
    }
    assert_eq!(found, requests);
    assert_eq!(reader.files(), ["8,0", "7,0"]);
    assert_eq!(reader.processes(), ["", "postgres", ""]);
    assert_eq!(reader.end().map(|it| it.lost), Some(3));
}

#[test]
fn a_durable_write_is_replayed_with_a_flush() {
    let mut request = invented(1)[0];
    (request.op, request.flags, request.length) = (TraceOp::Write, IoFlags::FUA, 512);
    let bytes = written(&[request]);
    let inputs = vec![("t".to_owned(), Cursor::new(bytes))];
    let mut reader = open(Format::Recording, inputs).expect("one file");
    let mut ops = Vec::new();
    while let Some(record) = reader.next_record().expect("whole") {
        ops.push((record.at, record.op));
    }
    assert_eq!(ops, [(0, TraceOp::Write), (0, TraceOp::Sync)]);
}

/// A recorder that was killed leaves a file without its last block.
#[test]
fn a_file_that_was_cut_off_keeps_its_whole_blocks() {
    let requests = invented(20_000);
    let bytes = written(&requests);
    let cut = &bytes[..bytes.len() - 100];
    let mut reader = RecordingReader::new("t", cut);
    let mut count = 0;
    while reader.next_record().expect("whole blocks").is_some() {
        count += 1;
    }
    assert!(count >= 16_384, "{count}");
    let skipped: Vec<&str> = reader.notes().skipped.iter().map(|it| it.0).collect();
    assert_eq!(
        skipped,
        [
            "a block that was cut off at the end",
            "the end of the recording, which was cut off"
        ]
    );
}

#[test]
fn a_damaged_file_is_refused_with_its_place() {
    let bytes = written(&invented(100));
    let refused = |bytes: &[u8]| {
        let mut reader = RecordingReader::new("t", bytes);
        loop {
            match reader.next_io() {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(error) => return Some(error.to_string()),
            }
        }
    };
    let mut damaged = bytes.clone();
    damaged[60] ^= 1;
    let text = refused(&damaged).expect("an error");
    assert!(text.contains("its checksum differs"), "{text}");
    assert!(text.starts_with("t, byte "), "{text}");
    let other = refused(b"seekstone trace 2\n").expect("an error");
    assert!(other.contains("the first line is not"), "{other}");
    assert_eq!(refused(b"seekstone trace 1\n"), None);
}
