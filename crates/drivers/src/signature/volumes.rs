//! Marks of RAID, volume managers, encryption and clustered storage, by their published formats.

use super::mark::{MarkPosition, SignatureBytes, at, each, end, mark};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const MD: &str = "a Linux RAID member";
const VENDOR: &str = "a vendor RAID member";
const LUKS: &str = "a LUKS volume";
const BITLOCKER: &str = "a BitLocker volume";
const LVM1: &str = "an LVM1 physical volume";
const ZFS: &str = "a ZFS member";
const DRBD: &str = "DRBD metadata";
const GEOM: &str = "a GEOM provider";

/// The end of a device in sectors of 512 bytes, so many sectors back.
const fn sectors_back(sectors: u64) -> MarkPosition {
    end(sectors * 512, 512)
}

/// The uberblocks of the four labels of a ZFS member: two at its start and two at its end. A slot
/// has 1 KiB, or as much as its sectors.
const UBERBLOCKS: &[MarkPosition] = &[
    each(&at(128 * KIB), KIB, 128),
    each(&at(384 * KIB), KIB, 128),
    each(&end(384 * KIB, 256 * KIB), KIB, 128),
    each(&end(128 * KIB, 256 * KIB), KIB, 128),
];
/// The checksum's own mark at the end of the configuration in each of them.
const LABEL_CHECKSUMS: &[MarkPosition] = &[
    at(128 * KIB - 40),
    at(384 * KIB - 40),
    end(384 * KIB + 40, 256 * KIB),
    end(128 * KIB + 40, 256 * KIB),
];
/// The last block; before version 8 the first of the last 128 MiB.
const DRBD_PLACES: &[MarkPosition] = &[
    end(4 * KIB - 60, 4 * KIB),
    end(4 * KIB - 28, 4 * KIB),
    end(128 * MIB - 28, 4 * KIB),
];
/// Where the controllers of Promise put their text.
const PROMISE_PLACES: &[MarkPosition] = &[
    sectors_back(16),
    sectors_back(63),
    sectors_back(255),
    sectors_back(256),
    sectors_back(399),
    sectors_back(591),
    sectors_back(675),
    sectors_back(735),
    sectors_back(911),
    sectors_back(951),
    sectors_back(974),
    sectors_back(991),
    sectors_back(3087),
];
const HPT45X_PLACES: &[MarkPosition] = &[sectors_back(11)];
const HPT37X_PLACES: &[MarkPosition] = &[at(9 * 512 + 32)];

pub(super) const MARKS: &[SignatureBytes] = &[
    mark(
        MD,
        &["linux_raid_member"],
        &[0xfc, 0x4e, 0x2b, 0xa9],
        &[
            at(0),
            at(4 * KIB),
            end(64 * KIB, 64 * KIB),
            end(8 * KIB, 4 * KIB),
        ],
    ),
    // As a machine of the other byte order writes the oldest form.
    mark(
        MD,
        &["linux_raid_member"],
        &[0xa9, 0x2b, 0x4e, 0xfc],
        &[end(64 * KIB, 64 * KIB)],
    ),
    mark(
        VENDOR,
        &["ddf_raid_member"],
        &[0xde, 0x11, 0xde, 0x11],
        &[sectors_back(1), sectors_back(257)],
    ),
    mark(
        VENDOR,
        &["ddf_raid_member"],
        &[0x11, 0xde, 0x11, 0xde],
        &[sectors_back(1), sectors_back(257)],
    ),
    mark(
        VENDOR,
        &["isw_raid_member"],
        b"Intel Raid ISM Cfg Sig. ",
        &[sectors_back(2), end(8 * KIB, 4 * KIB)],
    ),
    mark(
        VENDOR,
        &["lsi_mega_raid_member"],
        b"$XIDE$",
        &[sectors_back(1)],
    ),
    mark(
        VENDOR,
        &["via_raid_member"],
        &[0x55, 0xaa, 0],
        &[sectors_back(1)],
    ),
    mark(
        VENDOR,
        &["via_raid_member"],
        &[0x55, 0xaa, 1],
        &[sectors_back(1)],
    ),
    mark(
        VENDOR,
        &["silicon_medley_raid_member"],
        &[0x00, 0x00, 0x00, 0x2f],
        &[end(512 - 0x60, 512)],
    ),
    mark(
        VENDOR,
        &["nvidia_raid_member"],
        b"NVIDIA",
        &[sectors_back(2)],
    ),
    mark(
        VENDOR,
        &["promise_fasttrack_raid_member"],
        b"Promise Technology, Inc.",
        PROMISE_PLACES,
    ),
    mark(
        VENDOR,
        &["hpt45x_raid_member"],
        &[0xf3, 0x16, 0x78, 0x5a],
        HPT45X_PLACES,
    ),
    mark(
        VENDOR,
        &["hpt45x_raid_member"],
        &[0xfd, 0x16, 0x78, 0x5a],
        HPT45X_PLACES,
    ),
    mark(
        VENDOR,
        &["hpt37x_raid_member"],
        &[0xf0, 0x16, 0x78, 0x5a],
        HPT37X_PLACES,
    ),
    mark(
        VENDOR,
        &["hpt37x_raid_member"],
        &[0xfd, 0x16, 0x78, 0x5a],
        HPT37X_PLACES,
    ),
    mark(
        VENDOR,
        &["adaptec_raid_member"],
        &[0x37, 0xfc, 0x4d, 0x1e],
        &[sectors_back(1)],
    ),
    mark(VENDOR, &["jmicron_raid_member"], b"JM", &[sectors_back(1)]),
    mark(
        GEOM,
        &[],
        b"GEOM::",
        &[sectors_back(1), end(4 * KIB, 4 * KIB)],
    ),
    mark(
        "a bcache member",
        &["bcache"],
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba,
            0x6d, 0x81,
        ],
        &[at(4 * KIB + 24)],
    ),
    mark(
        "a Ceph BlueStore device",
        &["ceph_bluestore"],
        b"bluestore block device",
        &[at(0)],
    ),
    mark(DRBD, &["drbd"], &[0x83, 0x74, 0x02, 0x6a], DRBD_PLACES),
    mark(DRBD, &["drbd"], &[0x83, 0x74, 0x02, 0x6b], DRBD_PLACES),
    mark(DRBD, &["drbd"], &[0x83, 0x74, 0x02, 0x6c], DRBD_PLACES),
    mark(DRBD, &["drbd"], &[0x83, 0x74, 0x02, 0x6d], DRBD_PLACES),
    mark(
        "a DRBD Manage control volume",
        &["drbdmanage_control_volume"],
        b"$DRBDmgr=q",
        &[at(0)],
    ),
    mark(
        "a DRBD Proxy data log",
        &["drbdproxy_datalog"],
        b"DRBDdlh*",
        &[at(0)],
    ),
    mark(
        "an LVM physical volume",
        &["LVM2_member"],
        b"LVM2 001",
        &[at(24), at(512 + 24), at(KIB + 24), at(KIB + 512 + 24)],
    ),
    mark(LVM1, &["LVM1_member"], b"HM\x01\0", &[at(0)]),
    mark(LVM1, &["LVM1_member"], b"HM\x02\0", &[at(0)]),
    mark(
        "a device-mapper snapshot",
        &["DM_snapshot_cow"],
        b"SnAp",
        &[at(0)],
    ),
    mark(
        "a dm-verity volume",
        &["DM_verity_hash"],
        b"verity\0\0",
        &[at(0)],
    ),
    mark(
        "a dm-integrity volume",
        &["DM_integrity"],
        b"integrt\0",
        &[at(0)],
    ),
    mark(
        "a dm-writecache volume",
        &[],
        &[0x21, 0x93, 0x48, 0x23],
        &[at(0)],
    ),
    mark("a dm-zoned volume", &[], b"DBZD", &[at(0)]),
    mark(LUKS, &["crypto_LUKS"], b"LUKS\xba\xbe", &[at(0)]),
    // The second header lies behind the first, which is as large as it was made.
    mark(
        LUKS,
        &["crypto_LUKS"],
        b"SKUL\xba\xbe",
        &[
            at(16 * KIB),
            at(32 * KIB),
            at(64 * KIB),
            at(128 * KIB),
            at(256 * KIB),
            at(512 * KIB),
            at(MIB),
            at(2 * MIB),
            at(4 * MIB),
        ],
    ),
    mark(BITLOCKER, &["BitLocker"], b"-FVE-FS-", &[at(3)]),
    mark(
        BITLOCKER,
        &["BitLocker"],
        &[
            0x3b, 0xd6, 0x67, 0x49, 0x29, 0x2e, 0xd8, 0x4a, 0x83, 0x99, 0xf6, 0xa3, 0x39, 0xe3,
            0xd0, 0x01,
        ],
        &[at(160), at(424)],
    ),
    mark("a FileVault volume", &["cs_fvault2"], b"CS", &[at(88)]),
    mark(
        "a VMFS volume",
        &["VMFS_volume_member"],
        &[0x0d, 0xd0, 0x01, 0xc0],
        &[at(MIB)],
    ),
    mark(
        "a VMFS file system",
        &["VMFS"],
        &[0x5e, 0xf1, 0xab, 0x2f],
        &[at(2 * MIB)],
    ),
    mark("an Oracle ASM disk", &["oracleasm"], b"ORCLDISK", &[at(32)]),
    mark("a UBI volume", &["ubi"], b"UBI#", &[at(0)]),
    mark("a VDO volume", &["vdo"], b"dmvdo001", &[at(0)]),
    mark(
        "a Stratis pool",
        &["stratis"],
        b"!Stra0tis\x86\xff\x02^\x41rh",
        &[at(512 + 4), at(9 * 512 + 4)],
    ),
    mark("an SPDK blobstore", &[], b"SPDKBLOB", &[at(0)]),
    mark(
        ZFS,
        &["zfs_member"],
        &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0],
        UBERBLOCKS,
    ),
    mark(
        ZFS,
        &["zfs_member"],
        &[0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c],
        UBERBLOCKS,
    ),
    mark(
        ZFS,
        &["zfs_member"],
        &[0x11, 0x7a, 0x0c, 0xb1, 0x7a, 0xda, 0x10, 0x02],
        LABEL_CHECKSUMS,
    ),
    mark(
        ZFS,
        &["zfs_member"],
        &[0x02, 0x10, 0xda, 0x7a, 0xb1, 0x0c, 0x7a, 0x11],
        LABEL_CHECKSUMS,
    ),
];
