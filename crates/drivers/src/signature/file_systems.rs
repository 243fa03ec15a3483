//! Marks of file systems and swap space, by their published on-disk formats.

use super::mark::{MarkPosition, SignatureBytes, at, each, end, mark};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

const EXT: &str = "an ext2, ext3 or ext4 file system or journal";
const EXT_SPARE: &str = "a spare superblock of an ext2, ext3 or ext4 file system";
const UFS: &str = "a UFS file system";
const MINIX: &str = "a Minix file system";
const SYSV: &str = "a System V file system";
const XENIX: &str = "a Xenix file system";
const SQUASHFS: &str = "a SquashFS file system";
const VXFS: &str = "a Veritas file system";
const SWAP: &str = "swap space";
const HIBERNATED: &str = "a hibernated system";

/// The end of the first page, whatever a page is: 4 to 64 KiB.
const PAGE_END: &[MarkPosition] = &[
    at(4 * KIB - 10),
    at(8 * KIB - 10),
    at(16 * KIB - 10),
    at(32 * KIB - 10),
    at(64 * KIB - 10),
];
/// The magic number of UFS in the superblocks at 0, 8, 64 and 256 KiB.
const UFS_PLACES: &[MarkPosition] = &[
    at(1372),
    at(8 * KIB + 1372),
    at(64 * KIB + 1372),
    at(256 * KIB + 1372),
];
/// The magic number of System V, in the superblock in the second sector of one of these blocks.
const SYSV_PLACES: &[MarkPosition] = &[
    at(512 + 504),
    at(KIB + 504),
    at(9 * KIB + 512 + 504),
    at(15 * KIB + 512 + 504),
    at(18 * KIB + 512 + 504),
];
const MINIX_PLACES: &[MarkPosition] = &[at(KIB + 16)];
/// Volume descriptors of optical media: of 2 KiB, or of the medium's larger blocks.
const DESCRIPTORS: &[MarkPosition] = &[
    each(&at(32 * KIB + 1), 2 * KIB, 16),
    each(&at(64 * KIB + 1), 4 * KIB, 8),
];
/// The anchor of UDF: block 256, of blocks of 512 bytes to 4 KiB.
const ANCHORS: &[MarkPosition] = &[at(128 * KIB), at(256 * KIB), at(512 * KIB), at(MIB)];

pub(super) const MARKS: &[SignatureBytes] = &[
    mark(
        EXT,
        &["ext2", "ext3", "ext4", "ext4dev", "jbd"],
        &[0x53, 0xef],
        &[at(KIB + 56)],
    ),
    // The second and the third copy, of blocks of 1, 2 and 4 KiB.
    mark(
        EXT_SPARE,
        &[],
        &[0x53, 0xef],
        &[
            at(8193 * KIB + 56),
            at(24_577 * KIB + 56),
            at(32 * MIB + 56),
            at(96 * MIB + 56),
            at(128 * MIB + 56),
            at(384 * MIB + 56),
        ],
    ),
    mark(
        "a file system journal",
        &["jbd"],
        &[0xc0, 0x3b, 0x39, 0x98],
        &[at(0), at(2 * KIB), at(4 * KIB)],
    ),
    mark("an XFS file system", &["xfs"], b"XFSB", &[at(0)]),
    mark(
        "an XFS log",
        &["xfs_external_log"],
        &[0xfe, 0xed, 0xba, 0xbe],
        &[each(&at(0), 512, 512)],
    ),
    mark("an EXFS file system", &["exfs"], b"EXFS", &[at(0)]),
    mark(
        "a Btrfs file system",
        &["btrfs"],
        b"_BHRfS_M",
        &[
            at(64),
            at(64 * KIB + 64),
            at(64 * MIB + 64),
            at(256 * GIB + 64),
        ],
    ),
    mark(
        "a bcachefs file system",
        &["bcachefs"],
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d,
            0xf7, 0xef,
        ],
        &[at(3584), at(4 * KIB + 24), at(2 * MIB + 24)],
    ),
    mark(
        "a ReiserFS file system",
        &["reiserfs"],
        b"ReIsEr",
        &[
            at(8 * KIB + 20),
            at(8 * KIB + 52),
            at(64 * KIB + 20),
            at(64 * KIB + 52),
        ],
    ),
    mark(
        "a Reiser4 file system",
        &["reiser4"],
        b"ReIsEr4",
        &[at(64 * KIB)],
    ),
    mark(
        "a JFS file system",
        &["jfs"],
        b"JFS1",
        &[at(32 * KIB), at(60 * KIB)],
    ),
    mark(
        "a NILFS2 file system",
        &["nilfs2"],
        &[0x34, 0x34],
        &[at(KIB + 6), end(4 * KIB - 6, 4 * KIB)],
    ),
    mark(
        "an F2FS file system",
        &["f2fs"],
        &[0x10, 0x20, 0xf5, 0xf2],
        &[at(KIB), at(5 * KIB)],
    ),
    mark(
        "a GFS or GFS2 file system",
        &["gfs", "gfs2"],
        &[0x01, 0x16, 0x19, 0x70],
        &[at(64 * KIB)],
    ),
    mark(
        "an OCFS file system",
        &["ocfs"],
        b"OracleCFS",
        &[at(0), at(8 * KIB)],
    ),
    mark(
        "an OCFS2 file system",
        &["ocfs2"],
        b"OCFSV2",
        &[at(KIB), at(2 * KIB), at(4 * KIB), at(8 * KIB)],
    ),
    mark("an NTFS file system", &["ntfs"], b"NTFS    ", &[at(3)]),
    mark(
        "a spare boot sector of an NTFS file system",
        &[],
        b"NTFS    ",
        &[end(512 - 3, 512), end(4096 - 3, 4096)],
    ),
    mark("a ReFS file system", &["ReFS"], b"\0\0\0ReFS\0", &[at(0)]),
    mark(
        "an exFAT file system",
        &["exfat"],
        b"EXFAT   ",
        &[at(3), at(12 * 512 + 3)],
    ),
    mark("a FAT file system", &["vfat"], b"FAT1", &[at(54)]),
    mark("a FAT file system", &["vfat"], b"FAT     ", &[at(54)]),
    mark("a FAT file system", &["vfat"], b"FAT32   ", &[at(82)]),
    mark("a FAT file system", &["vfat"], b"MSWIN", &[at(3), at(82)]),
    mark("a FAT file system", &["vfat"], b"MSDOS", &[at(3), at(54)]),
    mark(
        "an HPFS file system",
        &["hpfs"],
        &[0x49, 0xe8, 0x95, 0xf9],
        &[at(8 * KIB)],
    ),
    mark("an HFS file system", &["hfs"], b"BD", &[at(KIB)]),
    mark("an HFS+ file system", &["hfsplus"], b"H+", &[at(KIB)]),
    mark("an HFS+ file system", &["hfsplus"], b"HX", &[at(KIB)]),
    mark("an APFS container", &["apfs"], b"NXSB", &[at(32)]),
    mark(UFS, &["ufs"], &[0x54, 0x19, 0x01, 0x00], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x00, 0x01, 0x19, 0x54], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x19, 0x01, 0x54, 0x19], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x19, 0x54, 0x01, 0x19], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x14, 0x50, 0x09, 0x00], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x00, 0x09, 0x50, 0x14], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x12, 0x56, 0x19, 0x00], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x00, 0x19, 0x56, 0x12], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x94, 0x19, 0x23, 0x05], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x05, 0x23, 0x19, 0x94], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x95, 0x21, 0x61, 0x00], UFS_PLACES),
    mark(UFS, &["ufs"], &[0x00, 0x61, 0x21, 0x95], UFS_PLACES),
    mark(
        "a HAMMER file system",
        &[],
        &[0x31, 0x30, 0x52, 0xc5, 0x4d, 0x4d, 0x41, 0xc8],
        &[at(0)],
    ),
    mark(
        "a HAMMER2 file system",
        &[],
        &[0x11, 0x20, 0x17, 0x05, 0x32, 0x4d, 0x41, 0x48],
        &[at(0)],
    ),
    mark(MINIX, &["minix"], &[0x7f, 0x13], MINIX_PLACES),
    mark(MINIX, &["minix"], &[0x13, 0x7f], MINIX_PLACES),
    mark(MINIX, &["minix"], &[0x8f, 0x13], MINIX_PLACES),
    mark(MINIX, &["minix"], &[0x13, 0x8f], MINIX_PLACES),
    mark(MINIX, &["minix"], &[0x68, 0x24], MINIX_PLACES),
    mark(MINIX, &["minix"], &[0x24, 0x68], MINIX_PLACES),
    mark(MINIX, &["minix"], &[0x78, 0x24], MINIX_PLACES),
    mark(MINIX, &["minix"], &[0x24, 0x78], MINIX_PLACES),
    mark(MINIX, &["minix"], &[0x5a, 0x4d], &[at(KIB + 24)]),
    mark(MINIX, &["minix"], &[0x4d, 0x5a], &[at(KIB + 24)]),
    mark(SYSV, &["sysv"], &[0x20, 0x7e, 0x18, 0xfd], SYSV_PLACES),
    mark(SYSV, &["sysv"], &[0xfd, 0x18, 0x7e, 0x20], SYSV_PLACES),
    mark(
        XENIX,
        &["xenix"],
        &[0x44, 0x55, 0x2b, 0x00],
        &[at(KIB + 1016)],
    ),
    mark(
        XENIX,
        &["xenix"],
        &[0x00, 0x2b, 0x55, 0x44],
        &[at(KIB + 1016)],
    ),
    mark(XENIX, &["xenix"], b"DU+", &[at(2 * KIB)]),
    mark(XENIX, &["xenix"], b"+UD", &[at(2 * KIB)]),
    mark(
        VXFS,
        &["vxfs"],
        &[0xf5, 0xfc, 0x01, 0xa5],
        &[at(KIB), at(8 * KIB)],
    ),
    mark(
        VXFS,
        &["vxfs"],
        &[0xa5, 0x01, 0xfc, 0xf5],
        &[at(KIB), at(8 * KIB)],
    ),
    mark(
        "a QNX6 file system",
        &[],
        &[0x22, 0x11, 0x19, 0x68],
        &[at(0), at(8 * KIB)],
    ),
    mark(
        "a BFS file system",
        &["bfs"],
        &[0xce, 0xfa, 0xad, 0x1b],
        &[at(0)],
    ),
    mark(
        "a BeOS file system",
        &["befs"],
        b"BFS1",
        &[at(32), at(512 + 32)],
    ),
    mark(
        "a BeOS file system",
        &["befs"],
        b"1SFB",
        &[at(32), at(512 + 32)],
    ),
    mark("an Amiga file system", &[], b"DOS\0", &[at(0)]),
    mark("an NSS pool", &["nss"], b"SPB5", &[at(4 * KIB)]),
    mark("an mpool", &["mpool"], b"mpoolDev", &[at(0), at(8 * KIB)]),
    mark("a zonefs file system", &["zonefs"], b"SFOZ", &[at(0)]),
    mark(
        "an EROFS file system",
        &["erofs"],
        &[0xe2, 0xe1, 0xf5, 0xe0],
        &[at(KIB)],
    ),
    mark(
        "a cramfs file system",
        &["cramfs"],
        &[0x45, 0x3d, 0xcd, 0x28],
        &[at(0), at(512)],
    ),
    mark(
        "a cramfs file system",
        &["cramfs"],
        &[0x28, 0xcd, 0x3d, 0x45],
        &[at(0), at(512)],
    ),
    mark("a romfs file system", &["romfs"], b"-rom1fs-", &[at(0)]),
    mark(SQUASHFS, &["squashfs", "squashfs3"], b"hsqs", &[at(0)]),
    mark(SQUASHFS, &["squashfs", "squashfs3"], b"sqsh", &[at(0)]),
    mark(SQUASHFS, &[], b"shsq", &[at(0)]),
    mark(SQUASHFS, &[], b"qshs", &[at(0)]),
    mark(
        "a UBIFS file system",
        &["ubifs"],
        &[0x31, 0x18, 0x10, 0x06],
        &[at(0)],
    ),
    mark(
        "an ISO 9660 file system",
        &["iso9660"],
        b"CD001",
        DESCRIPTORS,
    ),
    mark(
        "an ISO 9660 file system",
        &["iso9660"],
        b"CDROM",
        &[at(32 * KIB + 9)],
    ),
    mark("a UDF file system", &["udf"], b"BEA01", DESCRIPTORS),
    mark("a UDF file system", &["udf"], b"NSR0", DESCRIPTORS),
    mark("a UDF file system", &["udf"], b"BOOT2", DESCRIPTORS),
    mark("a UDF file system", &["udf"], b"TEA01", DESCRIPTORS),
    mark("a UDF file system", &["udf"], b"CDW02", DESCRIPTORS),
    mark("a UDF file system", &["udf"], &[2, 0, 2, 0], ANCHORS),
    mark("a UDF file system", &["udf"], &[2, 0, 3, 0], ANCHORS),
    mark(SWAP, &["swap"], b"SWAPSPACE2", PAGE_END),
    mark(SWAP, &["swap"], b"SWAP-SPACE", PAGE_END),
    mark(HIBERNATED, &["swsuspend"], b"S1SUSPEND", PAGE_END),
    mark(HIBERNATED, &["swsuspend"], b"S2SUSPEND", PAGE_END),
    mark(HIBERNATED, &["swsuspend"], b"ULSUSPEND", PAGE_END),
    mark(HIBERNATED, &["swsuspend"], b"LINHIB0001", PAGE_END),
    mark(
        HIBERNATED,
        &["swsuspend"],
        &[0xed, 0xc3, 0x02, 0xe9, 0x98, 0x56, 0xe5, 0x0c],
        &[at(0)],
    ),
    mark("a tar archive", &[], b"ustar", &[at(257)]),
    mark("a disk image of QEMU", &[], b"QFI\xfb", &[at(0)]),
    mark("a disk image of VMware", &[], b"KDMV", &[at(0)]),
    mark("a disk image of Hyper-V", &[], b"vhdxfile", &[at(0)]),
    mark(
        "a disk image of Hyper-V",
        &[],
        b"conectix",
        &[at(0), end(512, 512)],
    ),
];
