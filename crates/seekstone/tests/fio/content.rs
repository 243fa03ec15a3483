//! What fio's jobs write has the share of compressible bytes and of repeated blocks that they ask
//! for, as it lies in the file.

use std::collections::BTreeSet;
use std::io::Write as _;

use crate::support::Scratch;
use flate2::Compression;
use flate2::write::DeflateEncoder;

const BLOCK: usize = 4096;
const BYTES: usize = 4 << 20;

/// What lies in a file of [`BYTES`] after a job with those options has written all of it.
fn written(options: &[&str]) -> Vec<u8> {
    let scratch = Scratch::new();
    let file = scratch.path("data");
    std::fs::write(&file, vec![0x11; BYTES]).expect("a file");
    let size = format!("--size={BYTES}");
    let fixed = [
        "fio",
        "--no-save",
        "--overwrite",
        "--quiet",
        "--name=a",
        "--rw=randwrite",
        "--bs=4k",
        "--ioengine=libaio",
        "--iodepth=4",
        "--filename=data",
        &size,
    ];
    scratch.check(&[&fixed[..], options].concat(), 0, "WRITE: bw=");
    std::fs::read(file).expect("the file")
}

fn different_blocks(bytes: &[u8]) -> usize {
    bytes.chunks(BLOCK).collect::<BTreeSet<_>>().len()
}

/// What a compressor leaves of each block by itself, as a share.
fn compressed_share(bytes: &[u8]) -> f64 {
    let len = |block: &[u8]| {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(block).expect("a vector takes everything");
        encoder.finish().expect("a vector takes everything").len()
    };
    bytes.chunks(BLOCK).map(len).sum::<usize>() as f64 / bytes.len() as f64
}

/// The blocks differ, and compress to `share`; a compressor adds up to 3 % of a block.
fn check(options: &[&str], different: usize, share: f64) {
    let bytes = written(options);
    assert_eq!(different_blocks(&bytes), different, "{options:?}");
    let found = compressed_share(&bytes);
    assert!(
        (share..share + 0.03).contains(&found),
        "{options:?}: {found} for {share}"
    );
}

#[test]
fn compressible_and_repeated_shares_are_what_was_asked_for() {
    let blocks = BYTES / BLOCK;
    check(&[], blocks, 1.0);
    check(&["--refill_buffers"], blocks, 1.0);
    check(&["--buffer_compress_percentage=30"], blocks, 0.7);
    let chunks = [
        "--buffer_compress_percentage=75",
        "--buffer_compress_chunk=4k",
    ];
    check(&chunks, blocks, 0.25);
    check(&["--dedupe_percentage=25"], blocks * 3 / 4, 1.0);
    let both = ["--dedupe_percentage=50", "--buffer_compress_percentage=50"];
    check(&both, blocks / 2, 0.5);
    check(&["--scramble_buffers=0"], 1, 1.0);
    check(&["--zero_buffers"], 1, 0.0);
}

#[test]
fn patterns_are_written_as_they_are() {
    assert_eq!(written(&["--zero_buffers"]), vec![0; BYTES]);
    let pattern = written(&["--buffer_pattern=0xdeadface"]);
    assert!(pattern.chunks(4).all(|it| it == [0xde, 0xad, 0xfa, 0xce]));
    let half = ["--buffer_compress_percentage=50", "--buffer_pattern=\"ab\""];
    let half = written(&half);
    assert!(
        half.chunks(512)
            .all(|it| it[256..].chunks(2).all(|pair| pair == b"ab"))
    );
}
