//! How much room a file system has, and how much of it is nobody's to take.

use std::path::Path;

use crate::target_error::TargetError;

/// The least that stays free, but for file systems of which that would be more than a quarter.
const RESERVE_BYTES_MIN: u64 = 1 << 30;
/// File systems that write a changed block to a new place, by the magic number of statfs(2):
/// btrfs, ZFS, bcachefs and F2FS.
const COPY_ON_WRITE: [u64; 4] = [0x9123_683e, 0x2fc1_2fc1, 0xca45_1a4e, 0xf2f5_2010];
/// What a file that is rewritten at random takes there, in times its size: an extent stays whole
/// until the last of its blocks was replaced.
const COPIES: u64 = 2;

/// Room on a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSpace {
    /// Its whole size.
    pub total: u64,
    /// What an ordinary user may still take.
    pub available: u64,
    /// What stays free unless the user says otherwise: the larger of 5 % and 1 GiB, at most a
    /// quarter.
    pub reserve: u64,
    /// Files that may still be made; `None` where the file system sets no number.
    pub files: Option<u64>,
    /// Whether a changed block is written to a new place, so that rewriting a file takes space.
    pub copies_on_write: bool,
}

impl FreeSpace {
    /// What a file takes that is written more than once, in times its size.
    pub const fn copies(&self) -> u64 {
        if self.copies_on_write { COPIES } else { 1 }
    }
}

/// What stays free of a file system of so many bytes.
const fn reserve_of(total: u64) -> u64 {
    let least = if RESERVE_BYTES_MIN < total / 4 {
        RESERVE_BYTES_MIN
    } else {
        total / 4
    };
    if least < total / 20 {
        total / 20
    } else {
        least
    }
}

/// The room on the file system that holds `path`.
///
/// # Errors
/// When the system does not tell.
pub fn free_space(path: &Path) -> Result<FreeSpace, TargetError> {
    let found = rustix::fs::statvfs(path)
        .map_err(|error| TargetError::io("find the free space of", path, error))?;
    let kind = rustix::fs::statfs(path)
        .map_err(|error| TargetError::io("find the file system of", path, error))?
        .f_type;
    let total = found.f_blocks.saturating_mul(found.f_frsize);
    let available = found.f_bavail.saturating_mul(found.f_frsize);
    Ok(FreeSpace {
        total,
        available,
        reserve: reserve_of(total),
        files: (found.f_files > 0).then_some(found.f_favail),
        copies_on_write: copies_on_write(kind as u64),
    })
}

/// By the magic number of a file system; some kernels widen it with the sign of 32 bits.
fn copies_on_write(kind: u64) -> bool {
    COPY_ON_WRITE.contains(&(kind & 0xffff_ffff))
}

/// Refuse to take `wanted` bytes from the file system that holds `path` if fewer than `reserve`
/// would stay free.
///
/// # Errors
/// When there is too little room, or the system does not tell.
pub fn check_room(path: &Path, wanted: u64, reserve: u64) -> Result<(), TargetError> {
    let available = free_space(path)?.available;
    if wanted
        .checked_add(reserve)
        .is_some_and(|needed| needed <= available)
    {
        return Ok(());
    }
    Err(TargetError::NoRoom {
        path: path.to_path_buf(),
        wanted,
        why: "",
        available,
        reserve,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// btrfs and F2FS, the latter also with its sign; ext4, XFS and tmpfs.
    #[test]
    fn file_systems_that_copy_on_write_are_known_by_number() {
        for kind in [0x9123_683e, 0xf2f5_2010, 0xffff_ffff_f2f5_2010] {
            assert!(copies_on_write(kind), "{kind:x}");
        }
        for kind in [0xef53, 0x5846_5342, 0x0102_1994] {
            assert!(!copies_on_write(kind), "{kind:x}");
        }
    }

    /// A file system of 64 MiB had no room for anything, and one of 100 GiB keeps its 5 %.
    #[test]
    fn small_file_systems_keep_a_quarter_and_large_ones_a_twentieth() {
        let gib = 1_u64 << 30;
        for (total, reserve) in [
            (64 << 20, 16 << 20),
            (2 * gib, gib / 2),
            (4 * gib, gib),
            (10 * gib, gib),
            (100 * gib, 5 * gib),
        ] {
            assert_eq!(reserve_of(total), reserve, "{total}");
        }
    }

    #[test]
    fn the_last_bytes_are_not_given_away() {
        let path = std::env::temp_dir();
        let space = free_space(&path).unwrap();
        assert!(space.available <= space.total && space.reserve == reserve_of(space.total));
        assert!(check_room(&path, 0, 0).is_ok());
        for wanted in [space.total, u64::MAX] {
            let refused = check_room(&path, wanted, space.reserve)
                .unwrap_err()
                .to_string();
            assert!(refused.contains("has no space"), "{refused}");
        }
    }
}
