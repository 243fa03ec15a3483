//! The backup stream: what was put in comes out, and no damage goes unseen.

use backup_stream::{
    BLOCK_BYTES_MIN, BackupEntry, Decoder, Encoder, EntryFault, EntryKind, StreamLayout, Unpacked,
    Unpacker, Unreadable, What, packed,
};

const BLOCK: usize = BLOCK_BYTES_MIN as usize;

fn layout(group: u16, is_checked: bool) -> StreamLayout {
    StreamLayout {
        block: BLOCK_BYTES_MIN,
        group,
        is_checked,
        id: 0x0123_4567_89ab_cdef,
    }
}

/// Bytes that repeat nowhere.
fn content(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(next).collect()
}

fn encoded(layout: StreamLayout, content: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut sink = |block: &[u8]| {
        assert_eq!(block.len(), BLOCK);
        stream.extend_from_slice(block);
        Ok::<(), ()>(())
    };
    let mut encoder = Encoder::new(layout, &mut sink).unwrap();
    // Pieces of all lengths: where one ends must not matter.
    let mut rest = content;
    let mut len = 1;
    while !rest.is_empty() {
        let (piece, others) = rest.split_at(len.min(rest.len()));
        encoder.put(piece, &mut sink).unwrap();
        (rest, len) = (others, len * 3 % 1009 + 1);
    }
    encoder.finish(&mut sink).unwrap();
    stream
}

struct Decoded {
    content: Vec<u8>,
    whats: Vec<(u64, What, bool)>,
    is_whole: bool,
}

fn decoded(stream: &[u8]) -> Result<Decoded, Unreadable> {
    let mut decoder = Decoder::new(&stream[..stream.len().min(512)], stream.len() as u64)?;
    let mut content = Vec::new();
    let mut at = 0;
    while decoder.wanted() > 0 {
        let end = at + decoder.wanted();
        let mut blocks = stream[at..end].to_vec();
        let taken = decoder.take(&mut blocks, &mut |bytes: &[u8]| {
            content.extend_from_slice(bytes);
            Ok::<(), ()>(())
        });
        taken.unwrap();
        at = end;
    }
    let damages = decoder.damages().iter();
    Ok(Decoded {
        content,
        whats: damages
            .map(|it| (it.block, it.what, it.is_repaired))
            .collect(),
        is_whole: decoder.is_whole(),
    })
}

#[test]
fn what_was_put_in_comes_out() {
    let payload = layout(0, true).payload();
    for group in [0, 1, 3, 10] {
        for is_checked in [true, false] {
            for len in [
                0,
                1,
                payload - 1,
                payload,
                payload + 1,
                3 * payload,
                7777,
                20_000,
            ] {
                let content = content(len);
                let stream = encoded(layout(group, is_checked), &content);
                let out = decoded(&stream).unwrap();
                assert!(
                    out.is_whole && out.whats.is_empty(),
                    "{group} {len} {:?}",
                    out.whats
                );
                assert!(out.content == content, "group {group}, {len} bytes");
            }
        }
    }
}

#[test]
fn the_size_of_a_stream_is_known() {
    // Ten blocks of content in groups of four: one first, three of redundancy, one last.
    let payload = layout(4, true).payload();
    let stream = encoded(layout(4, true), &content(10 * payload));
    assert_eq!(stream.len(), (1 + 10 + 3 + 1) * BLOCK);
}

#[test]
fn no_flipped_bit_goes_unseen_and_redundancy_makes_up_for_it() {
    let content = content(5 * layout(2, true).payload() + 100);
    let stream = encoded(layout(2, true), &content);
    let (first, last) = (0, stream.len() / BLOCK - 1);
    for bit in 0..stream.len() * 8 {
        let mut damaged = stream.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let block = bit / 8 / BLOCK;
        match decoded(&damaged) {
            // The description is in the first block alone.
            Err(error) => assert!(block == first, "bit {bit}: {error}"),
            Ok(out) if block == first || block == last => assert!(!out.is_whole, "bit {bit}"),
            Ok(out) => {
                let seen = out.whats.as_slice();
                assert!(
                    matches!(seen, [(at, _, true)] if *at == block as u64),
                    "{bit} {seen:?}"
                );
                assert!(out.is_whole && out.content == content, "bit {bit}");
            }
        }
    }
}

#[test]
fn without_redundancy_a_flipped_bit_is_seen_and_nothing_more() {
    let content = content(3 * layout(0, true).payload());
    let stream = encoded(layout(0, true), &content);
    for bit in BLOCK * 8..(stream.len() - BLOCK) * 8 {
        let mut damaged = stream.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let out = decoded(&damaged).unwrap();
        let block = (bit / 8 / BLOCK) as u64;
        assert_eq!(out.whats, [(block, What::Changed, false)], "bit {bit}");
        assert!(!out.is_whole && out.content.len() < content.len());
    }
}

#[test]
fn without_crcs_redundancy_still_sees_a_flipped_bit_of_the_content() {
    let content = content(4 * layout(2, false).payload());
    let stream = encoded(layout(2, false), &content);
    for block in 1..stream.len() / BLOCK - 1 {
        for byte in 40..BLOCK {
            let mut damaged = stream.clone();
            damaged[block * BLOCK + byte] ^= 4;
            let out = decoded(&damaged).unwrap();
            assert!(!out.is_whole, "block {block}, byte {byte}");
        }
    }
}

#[test]
fn a_stream_that_was_cut_off_anywhere_is_seen() {
    for group in [0, 2] {
        let stream = encoded(layout(group, true), &content(5000));
        for len in 0..stream.len() {
            match decoded(&stream[..len]) {
                Ok(out) => assert!(!out.is_whole, "{len} of {} bytes", stream.len()),
                Err(error) => assert!(len < 2 * BLOCK, "{len}: {error}"),
            }
        }
        let out = decoded(&stream[..stream.len() - BLOCK]).unwrap();
        let last = out.whats.last().unwrap();
        assert_eq!((last.1, last.2), (What::CutOff, false), "{:?}", out.whats);
    }
}

#[test]
fn swapped_blocks_are_seen_wherever_they_are() {
    let content = content(7 * layout(3, true).payload());
    for group in [0, 3] {
        let stream = encoded(layout(group, true), &content);
        let blocks = stream.len() / BLOCK;
        for first in 0..blocks {
            for second in first + 1..blocks {
                let mut swapped = stream.clone();
                let (head, tail) = swapped.split_at_mut(second * BLOCK);
                head[first * BLOCK..][..BLOCK].swap_with_slice(&mut tail[..BLOCK]);
                let Ok(out) = decoded(&swapped) else {
                    assert_eq!(first, 0, "only the first block makes a stream unreadable");
                    continue;
                };
                assert!(!out.whats.is_empty(), "{first} and {second}");
                assert!(
                    !out.is_whole || out.content == content,
                    "{first} and {second}"
                );
            }
        }
    }
    let mut swapped = encoded(layout(0, true), &content);
    let (head, tail) = swapped.split_at_mut(2 * BLOCK);
    head[BLOCK..].swap_with_slice(&mut tail[..BLOCK]);
    let whats = decoded(&swapped).unwrap().whats;
    let misplaced = |block, found| (block, What::Misplaced { found }, false);
    assert_eq!(whats, [misplaced(1, 2), misplaced(2, 1)]);
}

#[test]
fn one_bad_block_of_each_group_is_made_up_for_and_two_are_not() {
    let content = content(9 * layout(3, true).payload());
    let stream = encoded(layout(3, true), &content);
    // Blocks 1 to 3 and their redundancy 4, 5 to 7 and 8, 9 to 11 and 12.
    let erase = |blocks: &[usize]| {
        let mut damaged = stream.clone();
        for block in blocks {
            damaged[block * BLOCK..][..BLOCK].fill(0);
        }
        decoded(&damaged).unwrap()
    };
    let out = erase(&[2, 8, 9]);
    assert!(out.is_whole && out.content == content);
    assert_eq!(out.whats.len(), 3);
    for lost in [[1, 2], [2, 4], [9, 11]] {
        let out = erase(&lost);
        assert!(!out.is_whole && out.whats.len() == 2, "{lost:?}");
    }
}

#[test]
fn blocks_of_another_stream_do_not_pass() {
    let stream = encoded(layout(0, true), &content(2000));
    let other = StreamLayout {
        id: 7,
        ..layout(0, true)
    };
    let other = encoded(other, &content(2000));
    let mut mixed = stream.clone();
    mixed[BLOCK..2 * BLOCK].copy_from_slice(&other[BLOCK..2 * BLOCK]);
    assert_eq!(decoded(&mixed).unwrap().whats, [(1, What::Foreign, false)]);
    assert_eq!(decoded(&[7; 4096]).err(), Some(Unreadable::NoBeginning));
    assert_eq!(decoded(&[]).err(), Some(Unreadable::NoBeginning));
}

fn entry(kind: EntryKind, size: u64, name: &str) -> BackupEntry {
    BackupEntry {
        kind,
        mode: 0o644,
        size,
        name: name.into(),
    }
}

type WithBytes = (BackupEntry, Vec<u8>);

fn unpacked(content: &[u8], step: usize) -> Result<(Vec<WithBytes>, bool), EntryFault> {
    let mut found: Vec<WithBytes> = Vec::new();
    let mut unpacker = Unpacker::default();
    for piece in content.chunks(step) {
        unpacker.take(piece, &mut |it| {
            match it {
                Unpacked::Entry(entry) => found.push((entry.clone(), Vec::new())),
                Unpacked::Bytes(bytes) => found.last_mut().unwrap().1.extend(bytes),
            }
            Ok::<(), EntryFault>(())
        })?;
    }
    Ok((found, unpacker.is_ended()))
}

#[test]
fn entries_come_out_as_they_were_wherever_the_content_is_cut() {
    let entries = [
        (entry(EntryKind::Directory, 0, "a"), vec![]),
        (entry(EntryKind::File, 5, "a/b"), b"hello".to_vec()),
        (entry(EntryKind::File, 0, "a/empty"), vec![]),
        (entry(EntryKind::Link, 1, "l"), b"a".to_vec()),
        (entry(EntryKind::End, 0, ""), vec![]),
    ];
    let mut content = Vec::new();
    for (entry, bytes) in &entries {
        content.extend(packed(entry));
        content.extend(bytes);
    }
    for step in 1..content.len() {
        let (found, is_ended) = unpacked(&content, step).unwrap();
        assert!(is_ended && found == entries, "step {step}");
    }
    content.push(b'F');
    let at = content.len() as u64 - 1;
    assert_eq!(unpacked(&content, 7), Err(EntryFault::BehindEnd { at }));
    assert_eq!(unpacked(&[9; 40], 3), Err(EntryFault::Unknown { at: 0 }));
}
