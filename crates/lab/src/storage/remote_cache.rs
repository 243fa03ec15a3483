//! Caches that `/proc/self/io` knows nothing of: the page cache above NFS, and the ARC of ZFS.
//!
//! Sources: `/proc/self/mountstats` (the line `bytes:` of a mount, see nfs-utils' mountstats(8)),
//! and `/proc/spl/kstat/zfs/arcstats` of OpenZFS. The ARC serves the whole machine: reads of others
//! count, too.

use host::inspect::{FetchAccount, SystemRoots};

/// What was asked of a file system so far, and what of it the cache did not have: bytes of NFS,
/// blocks of ZFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RemoteCacheReads {
    asked: u64,
    fetched: u64,
}

impl RemoteCacheReads {
    /// Looks now; `None` where the account is neither that of NFS nor that of ZFS.
    pub(super) fn look(facts: &SystemRoots, account: &FetchAccount) -> Option<Self> {
        match account {
            FetchAccount::NfsMount(point) => {
                let text = facts.proc_text("self/mountstats")?;
                nfs_reads(&text, point.to_str()?)
            }
            FetchAccount::Arc => arc_reads(&facts.proc_text("spl/kstat/zfs/arcstats")?),
            FetchAccount::Process | FetchAccount::Nobody(_) => None,
        }
    }

    /// Share of what was asked for since `earlier` that the cache had, 0 to 1.
    pub(super) fn share_since(self, earlier: Self) -> Option<f64> {
        let asked = self.asked.saturating_sub(earlier.asked);
        let fetched = self.fetched.saturating_sub(earlier.fetched);
        (asked > 0).then(|| (1.0 - fetched as f64 / asked as f64).clamp(0.0, 1.0))
    }
}

/// Of the mount at `point`: bytes that programs read, normally and directly, and bytes that the
/// server sent.
fn nfs_reads(text: &str, point: &str) -> Option<RemoteCacheReads> {
    let device = format!(" mounted on {point} with fstype nfs");
    let mut lines = text.lines().skip_while(|line| !line.contains(&device));
    lines.next()?;
    let mut own = lines.take_while(|line| !line.starts_with("device "));
    let bytes = own.find_map(|line| line.trim_start().strip_prefix("bytes:"))?;
    let numbers: Vec<u64> = bytes
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let [normal, _, direct, _, server, ..] = numbers.as_slice() else {
        return None;
    };
    Some(RemoteCacheReads {
        asked: normal + direct,
        fetched: *server,
    })
}

fn arc_reads(text: &str) -> Option<RemoteCacheReads> {
    let value = |name: &str| {
        let mut rows = text.lines().map(str::split_whitespace);
        rows.find_map(|mut row| (row.next()? == name).then(|| row.nth(1)?.parse::<u64>().ok())?)
    };
    let (hits, misses) = (value("hits")?, value("misses")?);
    Some(RemoteCacheReads {
        asked: hits + misses,
        fetched: misses,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTSTATS: &str = "device proc mounted on /proc with fstype proc\n\
        device server:/a mounted on /mnt/a with fstype nfs4 statvers=1.1\n\
        \topts:\trw,vers=4.2,rsize=1048576\n\
        \tage:\t77\n\
        \tevents:\t12 3 0 4 5\n\
        \tbytes:\t1000 2000 300 400 650 2400 3 5\n\
        \tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\
        device server:/ab mounted on /mnt/ab with fstype nfs statvers=1.1\n\
        \tbytes:\t7 0 0 0 7 0 1 0\n";

    const ARCSTATS: &str = "13 1 0x01 147 39984 5270563 21871463\n\
        name                            type data\n\
        hits                            4    900\n\
        iohits                          4    5\n\
        misses                          4    100\n\
        demand_data_hits                4    400\n";

    const fn reads(asked: u64, fetched: u64) -> Option<RemoteCacheReads> {
        Some(RemoteCacheReads { asked, fetched })
    }

    #[test]
    fn nfs_counts_what_programs_read_and_what_the_server_sent() {
        assert_eq!(nfs_reads(MOUNTSTATS, "/mnt/a"), reads(1300, 650));
        assert_eq!(nfs_reads(MOUNTSTATS, "/mnt/ab"), reads(7, 7));
        for point in ["/proc", "/mnt", "/mnt/abc"] {
            assert_eq!(nfs_reads(MOUNTSTATS, point), None, "{point}");
        }
        let cut = &MOUNTSTATS[..MOUNTSTATS.find("300 400").expect("the line")];
        assert_eq!(nfs_reads(cut, "/mnt/a"), None);
    }

    #[test]
    fn the_arc_counts_hits_and_misses() {
        assert_eq!(arc_reads(ARCSTATS), reads(1000, 100));
        assert_eq!(arc_reads("name type data\nhits 4 900\n"), None);
        assert_eq!(arc_reads(""), None);
    }

    #[test]
    fn the_account_decides_where_to_look() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let facts = SystemRoots {
            proc: top.path().to_owned(),
            sys: top.path().to_owned(),
        };
        for (path, text) in [
            ("self/mountstats", MOUNTSTATS),
            ("spl/kstat/zfs/arcstats", ARCSTATS),
        ] {
            let path = top.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        let look = |account| RemoteCacheReads::look(&facts, &account);
        let nfs = |point: &str| FetchAccount::NfsMount(point.into());
        assert_eq!(look(nfs("/mnt/a")), reads(1300, 650));
        assert_eq!(look(nfs("/mnt/b")), None);
        assert_eq!(look(FetchAccount::Arc), reads(1000, 100));
        assert_eq!(look(FetchAccount::Process), None);
    }

    #[test]
    fn the_share_is_of_what_was_asked_for_meanwhile() {
        let [first, last] = [reads(100, 50), reads(500, 150)].map(|it| it.expect("reads"));
        assert_eq!(last.share_since(first), Some(0.75));
        assert_eq!(first.share_since(first), None);
        // Read-ahead fetched more than was asked for.
        let more = reads(200, 900).expect("reads");
        assert_eq!(more.share_since(first), Some(0.0));
    }
}
