//! The directory by itself: where entries go, and which blocks are read and written.

use std::collections::BTreeMap;

use random::{Purpose, Stream};

use super::*;

const EXACT: Allocation = Allocation::Exact;

fn name(number: u32) -> FileName {
    FileName::new('d', number)
}

/// Invariants between calls.
fn check(directory: &Directory) {
    let order: Vec<usize> = directory.order().collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let all: Vec<usize> = (FIRST..=directory.segments.len()).collect();
    assert_eq!(sorted, all, "the list goes through every segment once");
    assert!(directory.segments.len() <= directory.segments_max);
    let mut at = segment_block(directory.segments_max + 1);
    for number in order {
        let segment = directory.at(number);
        assert_eq!(
            segment.start, at,
            "segment {number} goes on where the last one ended"
        );
        assert!(segment.entries.len() <= ENTRIES_MAX, "segment {number}");
        at += segment
            .entries
            .iter()
            .map(|entry| entry.blocks)
            .sum::<u64>();
        for pair in segment.entries.windows(2) {
            let both = pair.iter().all(|entry| entry.status == EntryStatus::Empty);
            assert!(
                !both,
                "empty areas side by side in segment {number}: {pair:?}"
            );
        }
        for (index, entry) in segment.entries.iter().enumerate() {
            if matches!(entry.status, EntryStatus::Tentative(_)) {
                let behind = segment.entries.get(index + 1);
                assert!(behind.is_some_and(|entry| entry.status == EntryStatus::Empty));
            }
        }
    }
    assert_eq!(at, directory.blocks, "every block is described");
}

/// Creates a file as a program does.
fn make(directory: &mut Directory, number: u32, blocks: u64) -> FileExtent {
    let place = directory.enter(name(number), blocks, EXACT).expect("room");
    check(directory);
    directory.close(name(number), &place, blocks);
    check(directory);
    place
}

/// A directory with files 1 to `count` of one block each.
fn filled(blocks: u64, segments: usize, count: u32) -> Directory {
    let mut directory = Directory::new(blocks, segments);
    for number in 1..=count {
        make(&mut directory, number, 1);
    }
    directory.take_steps();
    directory
}

fn sizes(directory: &Directory) -> Vec<usize> {
    let order = directory.order();
    order
        .map(|number| directory.at(number).entries.len())
        .collect()
}

#[test]
fn segments_by_size_of_the_volume() {
    let check = |blocks, expected| assert_eq!(default_segments(blocks), expected, "{blocks}");
    check(494, 1);
    check(988, 4);
    check(4800, 16);
    check(10_225, 16);
    check(20_460, 31);
    check(65_535, 31);
}

#[test]
fn a_file_is_made_in_front_of_the_empty_area() {
    let mut directory = Directory::new(1000, 4);
    let place = directory.enter(name(1), 5, EXACT).expect("room");
    let expected = FileExtent {
        segment: 1,
        start: 14,
        blocks: 5,
    };
    assert_eq!(place, expected, "blocks 6 to 13 are the directory");
    assert_eq!(
        directory.take_steps(),
        [
            DirectoryStep::Read(1),
            DirectoryStep::Search(1),
            DirectoryStep::Write(1)
        ]
    );
    assert_eq!(directory.lookup(name(1)), None, "it is tentative");
    directory.take_steps();
    directory.close(name(1), &place, 3);
    // It first looks for an older file of that name. The segment is in memory.
    let expected = [
        DirectoryStep::Search(2),
        DirectoryStep::Search(1),
        DirectoryStep::Write(1),
    ];
    assert_eq!(directory.take_steps(), expected);
    let found = directory.lookup(name(1)).expect("it is permanent");
    assert_eq!((found.start, found.blocks), (14, 3));
    assert_eq!(directory.take_steps(), [DirectoryStep::Search(1)]);
    check(&directory);
    assert_eq!(
        make(&mut directory, 2, 1).start,
        17,
        "what was not used came back"
    );
}

#[test]
fn a_full_segment_is_split_and_half_of_it_moves() {
    // 71 files and the empty area fill the first segment; the 72nd file needs one more entry.
    let mut directory = filled(1000, 4, 71);
    assert_eq!(sizes(&directory), [72]);
    directory.enter(name(72), 1, EXACT).expect("room");
    assert_eq!(sizes(&directory), [36, 37]);
    let expected = [
        DirectoryStep::Search(72),
        DirectoryStep::Write(2),
        DirectoryStep::Write(1),
        // The search starts again.
        DirectoryStep::Search(36),
        DirectoryStep::Read(2),
        DirectoryStep::Search(36),
        DirectoryStep::Write(2),
    ];
    assert_eq!(directory.take_steps(), expected);
    check(&directory);
    // Later splits also update the first segment, which holds the number in use.
    let mut directory = filled(1000, 4, 71 + 36);
    assert_eq!(sizes(&directory), [36, 72]);
    directory.enter(name(200), 1, EXACT).expect("room");
    let writes = directory.take_steps().into_iter();
    let writes: Vec<DirectoryStep> = writes
        .filter(|step| matches!(step, DirectoryStep::Write(_)))
        .collect();
    assert_eq!(
        writes,
        [
            DirectoryStep::Write(3),
            DirectoryStep::Write(2),
            DirectoryStep::Write(1),
            DirectoryStep::Write(3)
        ]
    );
}

#[test]
fn files_made_in_order_leave_segments_half_full() {
    let directory = filled(5000, 31, 300);
    assert_eq!(sizes(&directory), [36, 36, 36, 36, 36, 36, 36, 49]);
}

#[test]
fn the_search_reads_every_segment_before_the_file_s() {
    let mut directory = filled(5000, 31, 300);
    directory.forget();
    assert_eq!(
        directory.lookup(name(80)).map(|place| place.segment),
        Some(3)
    );
    let expected = [
        DirectoryStep::Read(1),
        DirectoryStep::Search(36),
        DirectoryStep::Read(2),
        DirectoryStep::Search(36),
        DirectoryStep::Read(3),
        DirectoryStep::Search(8),
    ];
    assert_eq!(directory.take_steps(), expected);
    // Only the last used segment is in memory, and the search starts at the first.
    directory.lookup(name(80));
    assert_eq!(directory.take_steps(), expected);
    directory.lookup(name(1));
    directory.lookup(name(2));
    let expected = [
        DirectoryStep::Read(1),
        DirectoryStep::Search(1),
        DirectoryStep::Search(2),
    ];
    assert_eq!(directory.take_steps(), expected);
    assert_eq!(directory.lookup(name(301)), None);
    let reads = directory.take_steps().into_iter();
    let reads = reads
        .filter(|step| matches!(step, DirectoryStep::Read(_)))
        .count();
    assert_eq!(reads, 7, "all eight, the first of which was in memory");
}

#[test]
fn a_split_needs_a_segment_to_split_into() {
    let mut directory = filled(1000, 2, 71 + 36);
    assert_eq!(directory.enter(name(200), 1, EXACT), Err(Full::Directory));
    check(&directory);
    assert!(directory.delete(name(1)));
    // The hole in the first segment is found first, and there is a free entry.
    assert_eq!(make(&mut directory, 200, 1).segment, 1);
    assert_eq!(directory.enter(name(201), 1, EXACT), Err(Full::Directory));
    // Squeezing consolidates the entries: 107 and the empty area fit into 144.
    directory.squeeze();
    check(&directory);
    assert_eq!(sizes(&directory), [72, 36]);
    make(&mut directory, 201, 1);
}

#[test]
fn the_first_empty_area_that_is_large_enough_is_taken() {
    let mut directory = Directory::new(200, 1);
    for (number, blocks) in [(1, 4), (2, 9), (3, 4), (4, 20), (5, 4)] {
        make(&mut directory, number, blocks);
    }
    assert!(directory.delete(name(2)) && directory.delete(name(4)));
    check(&directory);
    assert_eq!(make(&mut directory, 6, 10).start, 8 + 4 + 9 + 4);
    assert_eq!(make(&mut directory, 7, 9).start, 8 + 4);
    assert_eq!(directory.enter(name(8), 200, EXACT), Err(Full::Volume));
}

#[test]
fn of_unknown_size_is_half_of_the_largest_or_all_of_the_second_largest() {
    let mut directory = Directory::new(8 + 101, 1);
    let half = directory.enter(name(1), 1, Allocation::Half).expect("room");
    assert_eq!((half.start, half.blocks), (8, 51));
    directory.close(name(1), &half, 40);
    // Files of 40 and 1 blocks, and 60 empty ones: taking the first away leaves 40 and 60.
    make(&mut directory, 2, 1);
    assert!(directory.delete(name(1)));
    let second = directory.enter(name(3), 1, Allocation::Half).expect("room");
    assert_eq!((second.start, second.blocks), (8, 40));
    check(&directory);
    directory.close(name(3), &second, 40);
    let half = directory
        .enter(name(4), 30, Allocation::Half)
        .expect("room");
    assert_eq!(half.blocks, 30);
    check(&directory);
    directory.purge(name(4), &half);
    let over = directory.enter(name(4), 31, Allocation::Half);
    assert_eq!(over, Err(Full::Volume));
}

#[test]
fn closing_takes_the_place_of_an_older_file() {
    let mut directory = filled(100, 1, 3);
    let place = directory.enter(name(2), 2, EXACT).expect("room");
    directory.close(name(2), &place, 2);
    check(&directory);
    assert_eq!(
        directory.lookup(name(2)).map(|place| place.start),
        Some(8 + 3)
    );
    assert_eq!(directory.list(), 3);
    assert_eq!(
        make(&mut directory, 4, 1).start,
        8 + 1,
        "where the older one was"
    );
}

#[test]
fn a_file_that_is_given_up_leaves_nothing() {
    let mut directory = filled(100, 1, 3);
    let place = directory.enter(name(4), 20, EXACT).expect("room");
    directory.purge(name(4), &place);
    check(&directory);
    assert_eq!((directory.list(), sizes(&directory)), (3, vec![4]));
    assert_eq!(make(&mut directory, 5, 1).start, place.start);
}

#[test]
fn a_new_name_replaces_the_file_that_has_it() {
    let mut directory = filled(100, 1, 3);
    assert!(directory.rename(name(3), name(1)));
    check(&directory);
    assert_eq!(directory.list(), 2);
    assert_eq!(
        directory.lookup(name(1)).map(|place| place.start),
        Some(8 + 2)
    );
    assert!(
        !directory.rename(name(3), name(2)),
        "there is no such file any more"
    );
    assert!(
        directory.lookup(name(2)).is_some(),
        "and nothing was lost by that"
    );
}

#[test]
fn squeezing_moves_files_down_in_their_order() {
    let mut directory = Directory::new(100, 1);
    for (number, blocks) in [(1, 4), (2, 9), (3, 5), (4, 2)] {
        make(&mut directory, number, blocks);
    }
    directory.delete(name(2));
    directory.take_steps();
    directory.squeeze();
    check(&directory);
    let copy = |from, to, blocks| DirectoryStep::Copy { from, to, blocks };
    let expected = [
        DirectoryStep::Search(5),
        copy(21, 12, 5),
        copy(26, 17, 2),
        DirectoryStep::Write(1),
    ];
    assert_eq!(directory.take_steps(), expected);
    assert_eq!(sizes(&directory), [4], "three files and one empty area");
    let mut directory = Directory::new(50, 1);
    directory.squeeze();
    check(&directory);
    make(&mut directory, 1, 42);
    directory.squeeze();
    check(&directory);
    assert_eq!(sizes(&directory), [1]);
    assert_eq!(directory.enter(name(2), 1, EXACT), Err(Full::Volume));
}

/// A naive volume: the owner of each block.
struct Naive {
    owners: Vec<Option<FileName>>,
    files: BTreeMap<FileName, (u64, u64)>,
}

impl Naive {
    fn longest_hole(&self) -> u64 {
        let mut longest = 0;
        let mut hole = 0;
        for owner in &self.owners {
            hole = if owner.is_none() { hole + 1 } else { 0 };
            longest = longest.max(hole);
        }
        longest
    }

    fn put(&mut self, name: FileName, start: u64, blocks: u64) {
        for block in start..start + blocks {
            let owner = &mut self.owners[block as usize];
            assert_eq!(*owner, None, "block {block} is {owner:?}'s");
            *owner = Some(name);
        }
        self.files.insert(name, (start, blocks));
    }

    fn take(&mut self, name: FileName) -> Option<(u64, u64)> {
        let (start, blocks) = self.files.remove(&name)?;
        self.owners[start as usize..(start + blocks) as usize].fill(None);
        Some((start, blocks))
    }

    fn agrees_with(&self, directory: &Directory) {
        let files = directory.files().into_iter();
        let files = files.map(|(name, place)| (name, (place.start, place.blocks)));
        assert_eq!(files.collect::<BTreeMap<_, _>>(), self.files);
    }

    fn squeeze(&mut self, first: u64) {
        let mut files: Vec<_> = self
            .files
            .iter()
            .map(|(&name, &place)| (place.0, name))
            .collect();
        files.sort_unstable();
        let lengths: Vec<_> = files
            .iter()
            .map(|&(_, name)| (name, self.files[&name].1))
            .collect();
        self.owners[first as usize..].fill(None);
        let mut at = first;
        for (name, blocks) in lengths {
            self.put(name, at, blocks);
            at += blocks;
        }
    }
}

/// A random program on one volume, compared with the naive one.
fn live(seed: u64, allocation: Allocation) -> usize {
    let mut draw = Stream::new(seed, 0, Purpose::Mix);
    let segments = 1 + draw.below(6) as usize;
    let blocks = 200 + draw.below(800);
    let first = segment_block(segments + 1);
    let mut directory = Directory::new(blocks, segments);
    let mut naive = Naive {
        owners: vec![None; blocks as usize],
        files: BTreeMap::new(),
    };
    naive.owners[..first as usize].fill(Some(FileName::new('x', 0)));
    let mut refused = 0;
    for _ in 0..600 {
        let (one, other) = (name(draw.below(300) as u32), name(draw.below(300) as u32));
        match draw.below(10) {
            0..=5 => {
                let wanted = 1 + draw.below(12);
                match directory.enter(one, wanted, allocation) {
                    Ok(place) => {
                        check(&directory);
                        let written = wanted.min(place.blocks);
                        directory.close(one, &place, written);
                        naive.take(one);
                        naive.put(one, place.start, written);
                    }
                    // Free areas on both sides of a segment boundary are separate.
                    Err(Full::Volume) if allocation == EXACT => {
                        assert!(naive.longest_hole() < wanted * (segments as u64 + 1));
                        refused += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
            6..=7 => assert_eq!(directory.delete(one), naive.take(one).is_some()),
            8 => {
                let moved = naive.files.contains_key(&one);
                assert_eq!(directory.rename(one, other), moved);
                if moved && one != other {
                    naive.take(other);
                    if let Some((start, blocks)) = naive.take(one) {
                        naive.put(other, start, blocks);
                    }
                }
            }
            _ if draw.below(8) == 0 => {
                directory.squeeze();
                naive.squeeze(first);
            }
            _ => {
                let found = directory
                    .lookup(one)
                    .map(|place| (place.start, place.blocks));
                assert_eq!(found.as_ref(), naive.files.get(&one));
            }
        }
        check(&directory);
        naive.agrees_with(&directory);
    }
    refused
}

#[test]
fn no_random_program_makes_it_disagree_with_a_map_of_blocks() {
    let mut refused = 0;
    for seed in 0..60 {
        for allocation in [EXACT, Allocation::Half] {
            let run = std::panic::catch_unwind(|| live(seed, allocation));
            refused += run.unwrap_or_else(|_| panic!("seed {seed}, {allocation:?}"));
        }
    }
    assert!(
        refused > 100,
        "full volumes and directories were met: {refused}"
    );
}
