//! What is known of each file, looked up before each call on it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use workload::FileName;

/// What is known of files. Those of neighbouring numbers lie together in memory: programs use files
/// in the order of their numbers, and a place at random would be a cache miss for each.
pub(super) type FileMap<V> = HashMap<FileName, V, BuildHasherDefault<NeighbourHasher>>;

/// Hashes names for a [`FileMap`].
#[derive(Debug, Default)]
pub(super) struct NeighbourHasher(u64);

impl Hasher for NeighbourHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a name is hashed as one number")
    }

    /// The map finds a place by the lower bits, and tells names near it apart by the upper seven.
    fn write_u128(&mut self, name: u128) {
        const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
        let number = u64::from(name as u32);
        let whole = name as u64 ^ (name >> 64) as u64;
        self.0 = number | whole.wrapping_mul(GOLDEN_RATIO) & 0x7f << 57;
    }
}

#[cfg(test)]
mod tests {
    use workload::DirectoryNumber;

    use super::*;

    #[test]
    fn neighbours_of_any_directory_and_series_are_told_apart() {
        let mut files = FileMap::default();
        let names = || {
            let numbers = (0..1000).chain([u32::MAX]);
            let all =
                numbers.flat_map(|number| [('d', 0), ('r', 0), ('d', 7)].map(|it| (it, number)));
            all.map(|((series, directory), number)| FileName {
                directory: DirectoryNumber(directory),
                series,
                number,
            })
        };
        for (place, name) in names().enumerate() {
            assert_eq!(files.insert(name, place), None, "{name:?}");
        }
        for (place, name) in names().enumerate() {
            assert_eq!(files.remove(&name), Some(place), "{name:?}");
        }
        assert!(files.is_empty());
    }
}
