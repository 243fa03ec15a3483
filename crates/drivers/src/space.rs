//! How much room a file system has, and how much of it is nobody's to take.

use std::path::Path;

use crate::target_error::TargetError;

/// The least that stays free whatever the size of the file system.
const RESERVE_BYTES_MIN: u64 = 1 << 30;

/// Room on a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSpace {
    /// Its whole size.
    pub total: u64,
    /// What an ordinary user may still take.
    pub available: u64,
    /// What stays free unless the user says otherwise: the larger of 5 % and 1 GiB.
    pub reserve: u64,
    /// Files that may still be made; `None` where the file system sets no number.
    pub files: Option<u64>,
}

/// The room on the file system that holds `path`.
///
/// # Errors
/// When the system does not tell.
pub fn free_space(path: &Path) -> Result<FreeSpace, TargetError> {
    let found = rustix::fs::statvfs(path)
        .map_err(|error| TargetError::io("find the free space of", path, error))?;
    let total = found.f_blocks.saturating_mul(found.f_frsize);
    let available = found.f_bavail.saturating_mul(found.f_frsize);
    Ok(FreeSpace {
        total,
        available,
        reserve: (total / 20).max(RESERVE_BYTES_MIN),
        files: (found.f_files > 0).then_some(found.f_favail),
    })
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

    #[test]
    fn the_last_bytes_are_not_given_away() {
        let path = std::env::temp_dir();
        let space = free_space(&path).unwrap();
        assert!(space.available <= space.total && space.reserve >= RESERVE_BYTES_MIN);
        assert!(check_room(&path, 0, 0).is_ok());
        for wanted in [space.total, u64::MAX] {
            let refused = check_room(&path, wanted, space.reserve)
                .unwrap_err()
                .to_string();
            assert!(refused.contains("has no room"), "{refused}");
        }
    }
}
