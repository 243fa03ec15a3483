//! What each reader makes of texts and bytes, sound and broken.

use std::io::Cursor;

use trace::{
    Chosen, Format, IologWriter, Notes, TraceOp, TraceReader, TraceRecord, open, recognise,
};

type Read = Result<(Vec<TraceRecord>, Vec<String>, Notes), String>;

fn read_all(mut reader: impl TraceReader) -> Read {
    let mut records = Vec::new();
    loop {
        match reader.next_record() {
            Ok(Some(record)) => records.push(record),
            Ok(None) => return Ok((records, reader.files().to_vec(), reader.notes().clone())),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn read(format: Format, inputs: &[&[u8]]) -> Read {
    let inputs = inputs.iter().enumerate();
    let inputs = inputs.map(|(number, bytes)| (format!("t.{number}"), Cursor::new(bytes.to_vec())));
    read_all(open(format, inputs.collect()).expect("one input"))
}

fn text(format: Format, lines: &str) -> Read {
    read(format, &[lines.as_bytes()])
}

fn record(at: u64, op: TraceOp, offset: u64, length: u64) -> TraceRecord {
    TraceRecord {
        at,
        op,
        offset,
        length,
        file: 0,
    }
}

#[test]
fn version_3_has_microseconds_since_the_job_began() {
    let log = "fio version 3 iolog\n5 /a add\n7 /a open\n10 /a read 4096 512\n\
               1510 /a write 0 1024\n1600 /a sync 8192 0\n1700 /a trim 0 4096\n1800 /a close\n";
    let (records, files, notes) = text(Format::Iolog, log).expect("sound");
    let expected = [
        record(0, TraceOp::Read, 4096, 512),
        record(1_500_000, TraceOp::Write, 0, 1024),
        record(1_590_000, TraceOp::Sync, 0, 0),
        record(1_690_000, TraceOp::Trim, 0, 4096),
    ];
    assert_eq!(records, expected);
    assert_eq!(files, ["/a"]);
    assert_eq!(notes, Notes::default());
}

#[test]
fn waits_of_version_2_add_up() {
    let log = "fio version 2 iolog\n/a add\n/b add\n/a open\n/a wait 100\n/a read 0 512\n\
               /b wait 300 0\n/b read 512 512\n/a datasync\n/a close\n";
    let (records, files, _) = text(Format::Iolog, log).expect("sound");
    let instants: Vec<(u64, u32)> = records.iter().map(|it| (it.at, it.file)).collect();
    assert_eq!(instants, [(0, 0), (300_000, 1), (300_000, 0)]);
    assert_eq!(files, ["/a", "/b"]);
}

#[test]
fn each_mistake_of_a_log_is_one_sentence_with_its_line() {
    let check = |lines: &str, expected: &str| {
        let log = format!("fio version 3 iolog\n0 /a add\n{lines}\n");
        assert_eq!(text(Format::Iolog, &log).expect_err(lines), expected);
    };
    check(
        "x /a read 0 512",
        "t.0:3: the time stamp \"x\" is not a whole number",
    );
    check(
        "99999999999999999999 /a read 0 512",
        "t.0:3: the time stamp 99999999999999999999 does not fit into 64 bits",
    );
    check(
        "5",
        "t.0:3: a file and an action are missing behind the time stamp",
    );
    check("5 /a", "t.0:3: no action behind the file \"/a\"");
    check("5 /a read", "t.0:3: read needs an offset and a length");
    check("5 /a read 0", "t.0:3: read needs an offset and a length");
    check(
        "5 /a read -1 512",
        "t.0:3: the offset \"-1\" is not a whole number",
    );
    check("5 /a read 0 0", "t.0:3: read has the length 0");
    check("5 /a read 0 1 2", "t.0:3: \"2\" is one field too many");
    check(
        "5 /a read 18446744073709551615 2",
        "t.0:3: offset 18446744073709551615 and length 2 together do not fit into 64 bits",
    );
    check(
        "5 /b read 0 512",
        "t.0:3: file \"/b\" was not added: a line \"/b add\" must stand before",
    );
    check(
        "5 /a wait 100",
        "t.0:3: version 3 has no wait: each line has its time stamp",
    );
    check(
        "5 /a erase 0 512",
        "t.0:3: \"erase\" is not an action: use add, open, close, read, write, trim, sync, \
         datasync or \
         wait",
    );
    check("5 /a close 1", "t.0:3: close takes no offset and no length");
    let long = format!("5 /a read 0 {}", "1".repeat(70_000));
    check(
        &long,
        "t.0:3: the line is longer than 65536 bytes: this is not a text trace",
    );
}

#[test]
fn mistakes_of_other_beginnings_and_of_version_2_are_named() {
    let check = |format, bytes: &[u8], expected: &str| {
        assert_eq!(read(format, &[bytes]).expect_err(expected), expected);
    };
    let header = "t.0:1: the first line is neither \"fio version 2 iolog\" nor \"fio version 3 \
                  iolog\"";
    check(Format::Iolog, b"", header);
    check(Format::Iolog, b"fio version 1 iolog\n", header);
    check(
        Format::Iolog,
        b"fio version 2 iolog\n/a add\n/a wait\n",
        "t.0:3: wait has no time, in microseconds",
    );
    check(
        Format::Iolog,
        b"fio version 2 iolog\n/a wait 18446744073709551615\n/a wait 1\n",
        "t.0:3: the waits together do not fit into 64 bits",
    );
    check(
        Format::Iolog,
        b"fio version 2 iolog\n\xff\n",
        "t.0:2: the line is not text (UTF-8)",
    );
    check(
        Format::Msr,
        b"1,web,0,Erase,0,512,1\n",
        "t.0:1: \"Erase\" is neither a read nor a write (R or W)",
    );
    check(
        Format::Msr,
        b"1,web,0,Read\n",
        "t.0:1: 4 fields, and msr has 6: time, host, disk, Read or Write, offset, size, response \
         time",
    );
    check(
        Format::Tencent,
        b"1,0,8,0,7\n1,0,8,2,7\n",
        "t.0:2: \"2\" is neither 0 for a read nor 1 for a write",
    );
    check(
        Format::Tencent,
        b"1.5,0,8,1,7\n",
        "t.0:1: the time \"1.5\" is not a whole number of seconds",
    );
    check(
        Format::Spc,
        b"0,99999999999999999,8192,R,0.5\n",
        "t.0:1: the offset 99999999999999999 does not fit into 64 bits as bytes",
    );
    check(
        Format::Spc,
        b"0,1,8192,R,0.5x\n",
        "t.0:1: the time \"0.5x\" is no number",
    );
    check(
        Format::Vscsi,
        b"1,2,512,0x1ff\n",
        "t.0:1: \"0x1ff\" is not a SCSI operation code",
    );
}

#[test]
fn a_log_that_was_written_is_read_as_it_was() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut at = 0;
        let mut expected = Vec::new();
        for number in 0..random.usize(1..200) {
            if number > 0 {
                at += random.u64(0..5_000_000) / 1000 * 1000;
            }
            let op =
                [TraceOp::Read, TraceOp::Write, TraceOp::Trim, TraceOp::Sync][random.usize(0..4)];
            let (offset, length) = match op {
                TraceOp::Sync => (0, 0),
                _ => (random.u64(0..1 << 60), random.u64(1..1 << 30)),
            };
            expected.push(record(at, op, offset, length));
        }
        let mut writer = IologWriter::begin(Vec::new(), &["/dev/sda".into()]).expect("a vector");
        for record in &expected {
            writer.write(record).expect("a vector");
        }
        let bytes = writer.finish().expect("a vector");
        let found = recognise(&bytes).map(|it| (it.format, it.name));
        assert_eq!(found, Some((Format::Iolog, "fio iolog v3")), "seed {seed}");
        let (records, _, notes) = read(Format::Iolog, &[&bytes]).expect("sound");
        assert_eq!(records, expected, "seed {seed}");
        assert_eq!(notes, Notes::default(), "seed {seed}");
    }
}

#[test]
fn a_log_cannot_name_a_file_with_spaces() {
    let error = IologWriter::begin(Vec::new(), &["/my disk".into()]).expect_err("a space");
    let expected = "fio's log cannot name \"/my disk\": its names hold no spaces";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn stamps_that_go_back_are_simultaneous_and_counted() {
    let log = "fio version 3 iolog\n0 /a add\n10 /a read 0 512\n30 /a read 0 512\n\
               20 /a read 0 512\n5 /a read 0 512\n40 /a read 0 512\n";
    let (records, _, notes) = text(Format::Iolog, log).expect("sound");
    let instants: Vec<u64> = records.iter().map(|it| it.at).collect();
    assert_eq!(instants, [0, 20_000, 20_000, 20_000, 30_000]);
    assert_eq!(notes.reordered, 2);
}

#[test]
fn every_collection_is_recognised_and_read() {
    let check = |format, lines: &str, expected: &[TraceRecord], files: &[&str]| {
        let found = recognise(lines.as_bytes()).map(|it| it.format);
        assert_eq!(found, Some(format), "{lines}");
        let (records, names, _) = text(format, lines).expect(lines);
        assert_eq!(records, expected, "{format:?}");
        assert_eq!(names, files, "{format:?}");
    };
    check(
        Format::Msr,
        "128166372003061629,web,0,Read,4096,24576,41286\n\
         128166372016382155,web,0,Write,8192,512,1963\n",
        &[
            record(0, TraceOp::Read, 4096, 24_576),
            record(1_332_052_600, TraceOp::Write, 8192, 512),
        ],
        &["web.0"],
    );
    check(
        Format::Alibaba,
        "419,W,69632,4096,1577808144360767\n419,R,73728,4096,1577808144360800\n",
        &[
            record(0, TraceOp::Write, 69_632, 4096),
            record(33_000, TraceOp::Read, 73_728, 4096),
        ],
        &["419"],
    );
    check(
        Format::Spc,
        "0,8,8192,W,0.551706\r\n0,16,8192,r,1.5\r\n",
        &[
            record(0, TraceOp::Write, 4096, 8192),
            record(948_294_000, TraceOp::Read, 8192, 8192),
        ],
        &["0"],
    );
    check(
        Format::Vscsi,
        "1000,8,4096,40\n1500,16,8192,0x2A\n1600,0,0,0\n1700,0,0,0x35\n",
        &[
            record(0, TraceOp::Read, 4096, 4096),
            record(500_000, TraceOp::Write, 8192, 8192),
            record(700_000, TraceOp::Sync, 0, 0),
        ],
        &["disk"],
    );
    assert_eq!(recognise(b"hello, world\n"), None);
    assert_eq!(recognise(b""), None);
}

#[test]
fn requests_of_whole_seconds_are_spread_over_each() {
    let lines = "7,0,8,0,17\n7,8,8,0,17\n7,16,8,1,17\n7,24,8,1,17\n9,0,8,0,17\n9,0,8,0,17\n";
    assert_eq!(
        recognise(lines.as_bytes()).map(|it| it.format),
        Some(Format::Tencent)
    );
    let (records, _, notes) = text(Format::Tencent, lines).expect("sound");
    let instants: Vec<u64> = records.iter().map(|it| it.at / 1_000_000).collect();
    assert_eq!(instants, [0, 250, 500, 750, 2000, 2500]);
    assert!(notes.has_whole_seconds);
}

#[test]
fn chosen_devices_have_a_time_of_their_own() {
    let lines = "1,R,0,512,1000\n2,R,512,512,2000\n1,R,0,512,2500\n2,W,0,512,3000\n";
    let input = vec![("t".to_owned(), Cursor::new(lines.to_owned()))];
    let reader = open(Format::Alibaba, input).expect("one input");
    let (records, names, _) = read_all(Chosen::new(reader, vec!["2".into()])).expect("sound");
    let expected = [
        record(0, TraceOp::Read, 512, 512),
        record(1_000_000, TraceOp::Write, 0, 512),
    ];
    assert_eq!(records, expected);
    assert_eq!(names, ["2"]);
}

/// An event of blktrace with a payload of so many bytes.
struct Event {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    payload: u16,
}

const QUEUE: u32 = 1;
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const COMPLETE: u32 = 8;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

impl Event {
    fn new(time_ns: u64, sector: u64, bytes: u32, action: u32) -> Self {
        Self {
            time_ns,
            sector,
            bytes,
            action,
            payload: 0,
        }
    }

    fn bytes(&self, is_big: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |little: &[u8]| match is_big {
            true => bytes.extend(little.iter().rev()),
            false => bytes.extend(little),
        };
        put(&0x6561_7407_u32.to_le_bytes());
        put(&1_u32.to_le_bytes());
        put(&self.time_ns.to_le_bytes());
        put(&self.sector.to_le_bytes());
        put(&self.bytes.to_le_bytes());
        put(&self.action.to_le_bytes());
        put(&42_u32.to_le_bytes());
        put(&(8_u32 << 20 | 16).to_le_bytes());
        put(&0_u32.to_le_bytes());
        put(&0_u16.to_le_bytes());
        put(&self.payload.to_le_bytes());
        bytes.extend(vec![b'x'; usize::from(self.payload)]);
        bytes
    }
}

fn stream(events: &[Event], is_big: bool) -> Vec<u8> {
    events.iter().flat_map(|it| it.bytes(is_big)).collect()
}

#[test]
fn files_of_all_processors_are_merged_by_time_in_either_byte_order() {
    for is_big in [false, true] {
        let mut noted = Event::new(0, 0, 0, NOTIFY);
        noted.payload = 13;
        let one = stream(
            &[
                noted,
                Event::new(100, 8, 4096, QUEUE | READ),
                Event::new(300, 8, 4096, COMPLETE | READ),
                Event::new(400, 24, 512, QUEUE | WRITE | DISCARD),
            ],
            is_big,
        );
        let other = stream(
            &[
                Event::new(200, 16, 8192, QUEUE | WRITE),
                Event::new(500, 0, 0, QUEUE | WRITE | FLUSH),
            ],
            is_big,
        );
        assert_eq!(recognise(&one).map(|it| it.format), Some(Format::Blktrace));
        let (records, files, notes) = read(Format::Blktrace, &[&one, &other]).expect("sound");
        let expected = [
            record(0, TraceOp::Read, 4096, 4096),
            record(100, TraceOp::Write, 8192, 8192),
            record(300, TraceOp::Trim, 12_288, 512),
            record(400, TraceOp::Sync, 0, 0),
        ];
        assert_eq!(records, expected, "big: {is_big}");
        assert_eq!(files, ["8,16"]);
        assert_eq!(
            notes.skipped,
            [("notes of blktrace", 1), ("completions", 1)]
        );
    }
}

#[test]
fn mistakes_of_blktrace_have_their_byte() {
    let sound = stream(&[Event::new(100, 8, 4096, QUEUE | READ)], false);
    let check = |bytes: &[u8], expected: &str| {
        assert_eq!(
            read(Format::Blktrace, &[bytes]).expect_err(expected),
            expected
        );
    };
    check(
        &[&sound[..], &sound[..20]].concat(),
        "t.0, byte 48: the last record has 20 of 48 bytes. Cut it off with `truncate --size=48`",
    );
    check(
        &[&sound[..], &[0; 48]].concat(),
        "t.0, byte 48: no record of blktrace begins here (its magic number is missing)",
    );
    let mut other = sound.clone();
    other[0] = 8;
    check(
        &other,
        "t.0, byte 0: blktrace version 8 is not known, only 7 is",
    );
    let mut cut = Event::new(100, 8, 4096, QUEUE | READ);
    cut.payload = 10;
    let cut = stream(&[cut], false);
    check(
        &cut[..50],
        "t.0, byte 0: the payload of the last record has 2 of 10 bytes. Cut it off with \
         `truncate --size=0`",
    );
    let far = stream(&[Event::new(1, u64::MAX, 512, QUEUE | READ)], false);
    check(
        &far,
        "t.0, byte 48: an event before this has sector 18446744073709551615, which does not fit \
         into 64 bits as bytes",
    );
}

#[test]
fn only_blktrace_has_several_files() {
    let inputs = ["a", "b"].map(|it| (it.to_owned(), Cursor::new(Vec::new())));
    let error = open(Format::Iolog, inputs.into()).err().expect("two files");
    assert_eq!(
        error.to_string(),
        "a: only blktrace has several files. Name one"
    );
}
